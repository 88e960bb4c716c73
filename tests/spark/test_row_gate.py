"""`schema-core migrate upgrade --validate` with rows, as an author of migrations runs it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.catalogs import SqlCatalog
from schema_core.cli.app import application

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

START = """\
-- up
CREATE TABLE t (id INT, name STRING) WITH (
  'connector' = 'filesystem', 'path' = '{folder}/t', 'format' = 'json');
CREATE TABLE u (id INT, k INT) WITH (
  'connector' = 'filesystem', 'path' = '{folder}/u', 'format' = 'json');
-- down
DROP TABLE u;
DROP TABLE t;
"""
CHANGE = """\
-- up
ALTER TABLE t RENAME name TO label;
ALTER TABLE t MODIFY label VARCHAR(5) NOT NULL;
ALTER TABLE u RENAME TO w;
ALTER TABLE w MODIFY id INT NOT NULL;
ALTER TABLE w ADD PRIMARY KEY (id) NOT ENFORCED;
-- down
ALTER TABLE w DROP PRIMARY KEY;
ALTER TABLE w MODIFY id INT;
ALTER TABLE w RENAME TO u;
ALTER TABLE t MODIFY label STRING;
ALTER TABLE t RENAME label TO name;
"""


class Shell:
    """Runs `migrate` over a directory of migrations, of a catalog in a file."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark, self.folder, self.errors = spark, folder, ""
        (folder / "migrations").mkdir()
        self.url = f"sqlite:///{folder}/shop.db"
        self.write(
            "setup",
            f"CREATE CATALOG shop WITH ('type' = 'sql', 'url' = '{self.url}'); USE CATALOG shop;",
        )

    def write(self, name: str, text: str) -> None:
        (self.folder / "migrations" / f"{name}.sql").write_text(text)

    def run(self, *arguments: str, status: int = 0) -> str:
        directory = str(self.folder / "migrations")
        command = ["migrate", *arguments, "--directory", directory]
        result = CliRunner().invoke(application(), command)
        self.errors = result.stderr
        assert status == result.exit_code, result.output
        return result.stdout

    def execute(self, statement: str) -> None:
        settings = EnvironmentSettings.in_batch_mode()
        environment = TableEnvironment.create(settings, spark=self.spark)
        environment.register_catalog("shop", SqlCatalog("shop", self.url))
        environment.use_catalog("shop")
        environment.execute_sql(statement).wait()


@pytest.fixture
def shell(spark: SparkSession, tmp_path: Path) -> Shell:
    return Shell(spark, tmp_path)


def test_rows_that_do_not_fit_stop_a_migration_before_it_is_applied(shell: Shell) -> None:
    shell.write("0001_start", START.format(folder=shell.folder))
    shell.run("upgrade", "--validate")
    shell.write("0002_change", CHANGE)
    output = shell.run("upgrade", "--validate", "--dry-run")
    assert output.startswith("shop.default.t: 0 rows, 0 problems\n")  # there is no directory
    shell.execute("INSERT INTO t VALUES (1, 'a'), (2, 'too long'), (3, CAST(NULL AS STRING))")
    shell.execute("INSERT INTO u VALUES (1, 1), (1, 2)")

    for options in (("--dry-run",), ("--accept", "too-long")):
        output = shell.run("upgrade", "--validate", *options, status=1)
        assert "shop.default.t: 3 rows in " in output
        assert "  name: 1 row: longer than VARCHAR(5) NOT NULL [too-long]\n" in output
        assert "    such as 'too long' in " in output
        assert "  name: 1 row: NULL is not VARCHAR(5) NOT NULL [null-value]\n" in output
        assert "  id: 1 row: other rows have the same primary key [duplicate-key]\n" in output
        assert "error[rows-do-not-fit]: migration 0002_change is not applied" in shell.errors
        assert ("too-long" in shell.errors) == (options == ("--dry-run",))
        assert "pending" in shell.run("history").splitlines()[1]

    shell.execute("INSERT OVERWRITE t VALUES (1, 'a'), (2, 'too long')")
    shell.execute("INSERT OVERWRITE u VALUES (1, 1), (2, 2)")
    output = shell.run("upgrade", "--validate", "--accept", "too-long")
    assert "upgrade 0002_change: 5 statements" == output.splitlines()[-1]


@pytest.mark.parametrize("options", [("--accept", "too-long"), ("--validate", "--sql")])
def test_options_that_exclude_each_other(shell: Shell, options: tuple[str, ...]) -> None:
    shell.run("upgrade", *options, status=2)

    assert "invalid-argument" in shell.errors
