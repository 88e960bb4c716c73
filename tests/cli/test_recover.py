"""``schema-core recover``: tables of a SQL catalog that a killed process left."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner, Result

from schema_core.catalog.own_options import PENDING_JOB
from schema_core.catalogs.sql.catalog import SqlCatalog
from schema_core.cli import GOOD, UNREADABLE, WRONG
from schema_core.cli.app import application
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.jobs.pending import Owner, PendingJob
from schema_core.environment.table_environment import TableEnvironment
from tests.support import store_options


def invoke(*arguments: str, given: str | None = None) -> Result:
    return CliRunner().invoke(application(), ["recover", *arguments], input=given)


def test_unfinished_tables_are_dropped_once(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'c.db'}"
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    environment.register_catalog("c", SqlCatalog("c", url))
    environment.use_catalog("c")
    mark = PendingJob(2, "0" * 32, Owner(Owner.this().host, 2**22 + 1, 1))
    for name in ("left", "other"):
        environment.execute_sql(f"CREATE TABLE `{name}` (a INT) WITH ('connector' = 'print')")
        store_options(environment, f"`{name}`", {PENDING_JOB: str(mark)})
    environment.execute_sql("CREATE TABLE fine (a INT) WITH ('connector' = 'print')")
    script = tmp_path / "job.sql"
    script.write_text(
        f"CREATE CATALOG c WITH ('type' = 'sql', 'url' = '{url}'); USE CATALOG c;"
        " INSERT INTO nowhere VALUES (1);"
    )

    result = invoke(str(script), "--table", "`other`")
    assert (GOOD, "c.default.other: undone\n1 table\n") == (result.exit_code, result.output)
    result = invoke(str(script))
    assert GOOD == result.exit_code
    assert "c.default.left: undone\n" in result.output
    assert (GOOD, "1 table\n") == (invoke(str(script)).exit_code, invoke(str(script)).output)
    assert ["fine"] == environment.list_tables()


def test_errors_have_codes(tmp_path: Path) -> None:
    script = tmp_path / "job.sql"
    script.write_text("USE CATALOG nowhere")

    assert WRONG == invoke(str(script)).exit_code
    assert UNREADABLE == invoke(str(tmp_path / "missing.sql")).exit_code
    assert WRONG == invoke("-", "--table", "nowhere", given="SET 'a' = 'b'").exit_code
