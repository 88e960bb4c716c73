"""Migrations are tried on a copy of the catalog: real rows are read, and nothing real changes."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.catalogs import SqlCatalog
from schema_core.cli.app import application
from schema_core.errors import SchemaCoreError
from schema_core.migration import (
    MigrationDirectory,
    MigrationFile,
    MigrationState,
    Migrator,
    diff_catalogs,
    read_catalog,
    try_migrations,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def files_in(folder: Path) -> dict[str, str]:
    """Return the digests of all files, by path."""
    return {
        str(path.relative_to(folder)): sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".db"
    }


def directory(*texts: str) -> MigrationDirectory:
    files = [MigrationFile.parse(f"{n:04}_m", f"-- up\n{text}") for n, text in enumerate(texts, 1)]
    return MigrationDirectory.of(Path("migrations"), files)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("trial")


@pytest.fixture(scope="module")
def shop(spark: SparkSession, folder: Path) -> TableEnvironment:
    """An environment with a managed table, a table at a path, and a view of both, with rows."""
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode(), spark=spark)
    url = f"sqlite:///{folder}/shop.db"
    environment.register_catalog("shop", SqlCatalog("shop", url, warehouse=f"{folder}/managed"))
    environment.use_catalog("shop")
    environment.execute_sql("CREATE TABLE orders (id BIGINT, amount INT)")
    environment.execute_sql(
        "CREATE TABLE notes (id BIGINT, note STRING) WITH ('connector' = 'filesystem',"
        f" 'path' = '{folder}/notes', 'format' = 'json')"
    )
    environment.execute_sql("CREATE VIEW totals AS SELECT SUM(amount) AS total FROM orders")
    environment.execute_sql(
        "INSERT INTO orders VALUES (1, 10), (2, 20), (3, CAST(NULL AS INT))"
    ).wait()
    environment.execute_sql("INSERT INTO notes VALUES (1, 'a')").wait()
    return environment


@pytest.fixture
def unchanged(shop: TableEnvironment, folder: Path) -> Iterator[None]:
    """Require that the catalog, its files and the environment are as before the test."""
    catalog = shop.get_catalog("shop")
    before, files = read_catalog(catalog), files_in(folder)
    yield
    assert shop.get_catalog("shop") is catalog
    assert () == diff_catalogs(before, catalog)
    assert files == files_in(folder)
    assert {"default_catalog", "shop"} == set(shop.list_catalogs())
    assert [] == catalog.list_migrations()


def rows(environment: TableEnvironment, query: str) -> list[tuple[object, ...]]:
    with environment.execute_sql(query).collect() as found:
        return sorted((tuple(row) for row in found), key=repr)


RENAME = (
    "ALTER TABLE orders RENAME amount TO cents;\nCREATE VIEW ids AS SELECT id, cents FROM orders;"
)
FILL = (
    "ALTER TABLE notes ADD length INT;\nUPDATE notes SET length = CHAR_LENGTH(note) WHERE id = 1;"
)


@pytest.mark.usefixtures("unchanged")
def test_the_copy_reads_the_real_rows(shop: TableEnvironment) -> None:
    pending = directory("DROP VIEW totals;", RENAME)
    with try_migrations(shop, pending) as trial:
        assert ["0001_m", "0002_m"] == [result.name for result in trial.results]
        assert [(1, 10), (2, 20), (3, None)] == rows(shop, "SELECT * FROM ids")
        assert [(30,)] == rows(shop, "SELECT SUM(cents) FROM shop.`default`.orders")
        diff = trial.diff("orders", on=["id"], renames={"amount": "cents"})
        assert (3, True) == (diff.equal, diff.has_equal_rows)
        assert ["rename column `amount` to `cents`"] == list(diff.summarize())
        with pytest.raises(SchemaCoreError) as caught:
            trial.diff("ids")
        assert "wrong-object-type" == caught.value.code
        states = [status.state for status in Migrator(shop, pending).history()]
        assert [MigrationState.APPLIED] * 2 == states
    assert [(1, 10), (2, 20), (3, None)] == rows(shop, "SELECT * FROM orders")


@pytest.mark.usefixtures("unchanged")
def test_data_steps_write_copied_rows_only(shop: TableEnvironment) -> None:
    with pytest.raises(SchemaCoreError) as caught, try_migrations(shop, directory(FILL)):
        pass
    assert "not-allowed" == caught.value.code

    with try_migrations(shop, directory(FILL), copy=["notes"]) as trial:
        assert [(1, "a", 1)] == rows(shop, "SELECT * FROM notes")
        assert [(1, "a")] == rows(shop, f"SELECT * FROM `{trial.before}`.`default`.notes")
        shop.execute_sql("INSERT INTO notes VALUES (2, 'bc', 2)").wait()
        assert (1, 1) == (trial.diff("notes", on=["id"]).equal, trial.diff("notes").only_right)


@pytest.mark.usefixtures("unchanged")
def test_new_tables_are_written_in_the_scratch_directory(shop: TableEnvironment) -> None:
    fill = "CREATE TABLE big (id BIGINT);\nINSERT INTO big SELECT id FROM orders WHERE amount > 10;"

    with try_migrations(shop, directory(fill)):
        assert [(2,)] == rows(shop, "SELECT * FROM big")
        shop.execute_sql("REPLACE TABLE orders AS SELECT id FROM orders").wait()
        assert [(1,), (2,), (3,)] == rows(shop, "SELECT * FROM orders")


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO orders VALUES (4, 40)",
        "INSERT OVERWRITE notes VALUES (4, 'x')",
        """CREATE TABLE copy_ WITH ('connector' = 'filesystem', 'path' = '{folder}/copy',
        'format' = 'json') AS SELECT * FROM notes""",
        "INSERT INTO `{before}`.`default`.orders VALUES (4, 40)",
        "INSERT INTO escape_ VALUES (1)",
    ],
)
def test_other_jobs_are_refused(shop: TableEnvironment, folder: Path, statement: str) -> None:
    with try_migrations(shop, directory()) as trial:
        shop.execute_sql(
            "CREATE TABLE escape_ (id INT) WITH ('connector' = 'filesystem', 'format' = 'json',"
            f" 'path' = '{folder}/managed/../escape')"
        )
        text = statement.replace("{folder}", str(folder)).replace("{before}", trial.before)
        with pytest.raises(SchemaCoreError) as caught:
            shop.execute_sql(text).wait()
        assert "not-allowed" == caught.value.code


@pytest.mark.usefixtures("unchanged")
def test_a_failing_migration_leaves_the_environment_as_it_was(shop: TableEnvironment) -> None:
    failing = directory("DROP TABLE notes;", "ALTER TABLE absent ADD x INT;")
    with pytest.raises(SchemaCoreError) as caught, try_migrations(shop, failing):
        pass
    assert "table-not-found" == caught.value.code
    with (
        pytest.raises(SchemaCoreError, match="cannot be copied"),
        try_migrations(shop, directory(), copy=["totals"]),
    ):
        pass


@pytest.mark.usefixtures("shop")
def test_the_command(folder: Path, tmp_path: Path) -> None:
    migrations = tmp_path / "migrations"
    migrations.mkdir()
    (migrations / "setup.sql").write_text(
        f"CREATE CATALOG shop WITH ('type' = 'sql', 'url' = 'sqlite:///{folder}/shop.db',"
        f" 'warehouse' = '{folder}/managed'); USE CATALOG shop;"
    )
    (migrations / "0001_fill.sql").write_text(f"-- up\n{FILL}")
    (tmp_path / "query.sql").write_text("SELECT length FROM notes;")
    arguments = ["migrate", "try", "--directory", str(migrations), "--run"]
    arguments += [str(tmp_path / "query.sql"), "--diff", "notes", "--on", "id"]
    before = files_in(folder)

    refused = CliRunner().invoke(application(), arguments)
    tried = CliRunner().invoke(application(), [*arguments, "--copy", "notes"])

    assert (1, 0) == (refused.exit_code, tried.exit_code), tried.output
    assert "not-allowed" in refused.stderr
    assert "tried 0001_fill: 2 statements\n" in tried.stdout
    assert "by id: different" in tried.stdout
    assert "length" in tried.stdout.rpartition("+--")[0]
    assert before == files_in(folder)
