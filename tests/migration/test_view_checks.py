"""Migrations that break views are refused; views that did not work before are not reported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from schema_core import EnvironmentSettings, Schema, TableEnvironment
from schema_core.base.paths import ObjectIdentifier
from schema_core.catalog.stores.memory import InMemoryCatalog
from schema_core.catalogs import SqlCatalog
from schema_core.errors import ExternalError, SchemaCoreError
from schema_core.migration import (
    MigrationDirectory,
    MigrationFile,
    Migrator,
    ValidationReport,
    rewrite_table,
)
from schema_core.migration.gates.view_checks import find_dependents
from schema_core.pyflink.table.udf import udf

TABLES = """
CREATE TABLE t (id INT NOT NULL, name STRING, price DECIMAL(10, 2)) WITH ('connector' = 'print');
CREATE TABLE u (id INT) WITH ('connector' = 'print');
CREATE VIEW v AS SELECT id, UPPER(name) AS label FROM t;
CREATE VIEW above AS SELECT label FROM v;
CREATE VIEW typed AS SELECT price FROM t;
CREATE VIEW other AS SELECT id FROM u;
"""


@udf(result_type="INT")
def doubled(number: int) -> int:
    return 2 * number


@pytest.fixture(params=["memory", "sqlite"])
def environment(request: pytest.FixtureRequest, tmp_path: Path) -> TableEnvironment:
    result = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    if request.param == "sqlite":
        result.register_catalog("shop", SqlCatalog("shop", f"sqlite:///{tmp_path}/shop.db"))
        result.use_catalog("shop")
    return result


def migrator(environment: TableEnvironment, *texts: str, **variables: str) -> Migrator:
    """Return a migrator of `TABLES` and further migrations, each ``up`` and perhaps ``down``."""
    files = [
        MigrationFile.parse(f"{number:04}_m", f"-- up\n{text}")
        for number, text in enumerate([TABLES, *texts], 1)
    ]
    return Migrator(environment, MigrationDirectory.of(Path("m"), files), variables=variables)


def broken(environment: TableEnvironment, text: str) -> list[str]:
    """Return the names of the views that a migration would break; the catalog stays as it is."""
    migrator(environment).upgrade()
    before = environment.read_view_states()
    tables = environment.list_tables()
    with pytest.raises(SchemaCoreError) as caught:
        migrator(environment, text).upgrade()
    errors = [caught.value, *caught.value.others]
    assert {"migration-breaks-view"} == {error.code for error in errors}
    assert tables == environment.list_tables()
    assert before == environment.read_view_states()
    assert ["applied", "pending"] == [
        status.state.value for status in migrator(environment, text).history()
    ]
    return [error.problem.split()[1].rpartition(".")[2] for error in errors]


@pytest.mark.parametrize(
    ("statements", "views"),
    [
        ("ALTER TABLE t DROP name;", ["above", "v"]),
        ("ALTER TABLE t RENAME name TO title;", ["above", "v"]),
        ("ALTER TABLE t RENAME TO s;", ["above", "typed", "v"]),
        ("DROP TABLE t;", ["above", "typed", "v"]),
        ("DROP VIEW v;", ["above"]),
        ("ALTER TABLE t MODIFY name ARRAY<INT>;", ["above", "v"]),
        ("ALTER TABLE t MODIFY price DECIMAL(12, 2);", ["typed"]),
        ("ALTER TABLE t MODIFY id INT;", ["v"]),
        ("ALTER VIEW v AS SELECT id FROM t;", ["above"]),
        ("ALTER VIEW v RENAME TO w;", ["above"]),
        # the view is created, and broken, by the migration
        ("CREATE VIEW n AS SELECT id AS i FROM u; ALTER TABLE u RENAME id TO j;", ["n", "other"]),
    ],
)
def test_a_migration_that_breaks_views_is_refused(
    environment: TableEnvironment, statements: str, views: list[str]
) -> None:
    assert views == sorted(broken(environment, statements))


@pytest.mark.parametrize(
    "statements",
    [
        "ALTER TABLE t ADD more INT;",
        "ALTER TABLE u MODIFY id BIGINT; DROP VIEW other;",
        "ALTER TABLE t MODIFY price DECIMAL(12, 2); ALTER VIEW typed AS SELECT price FROM t;",
        "DROP VIEW v; DROP VIEW above; ALTER TABLE t DROP name;",
        (
            "ALTER TABLE t RENAME name TO title;"
            "ALTER VIEW v AS SELECT id, UPPER(title) AS label FROM t;"
        ),
        "ALTER TABLE t MODIFY id INT NOT NULL COMMENT 'the number';",
    ],
)
def test_a_migration_that_keeps_views_working_is_applied(
    environment: TableEnvironment, statements: str
) -> None:
    changed = migrator(environment, statements)

    assert 2 == len(changed.upgrade())
    assert {None} == {state.problem for state in environment.read_view_states().values()}


def test_a_view_that_did_not_work_before_is_not_reported(environment: TableEnvironment) -> None:
    migrator(environment).upgrade()
    environment.execute_sql("ALTER TABLE t RENAME name TO title")

    changed = migrator(environment, "ALTER TABLE t DROP title; ALTER VIEW v RENAME TO w;")
    assert 1 == len(changed.upgrade())

    with pytest.raises(SchemaCoreError) as caught:
        migrator(
            environment,
            "ALTER TABLE t DROP title; ALTER VIEW v RENAME TO w;",
            "ALTER TABLE t DROP price;",
        ).upgrade()
    assert ["typed"] == [
        error.problem.split()[1].rpartition(".")[2]
        for error in [caught.value, *caught.value.others]
    ]


@pytest.mark.parametrize(
    ("statement", "view"),
    [("DROP DATABASE d CASCADE;", "of_table"), ("DROP FUNCTION doubled;", "of_function")],
)
def test_views_of_dropped_databases_and_functions_are_checked(
    environment: TableEnvironment, statement: str, view: str
) -> None:
    migrator(environment).upgrade()
    environment.execute_sql("CREATE DATABASE d")
    environment.execute_sql("CREATE TABLE d.x (a INT) WITH ('connector' = 'print')")
    environment.allow_python_modules(__name__)
    environment.execute_sql(f"CREATE FUNCTION doubled AS '{__name__}.doubled' LANGUAGE PYTHON")
    environment.execute_sql("CREATE VIEW of_table AS SELECT a FROM d.x")
    environment.execute_sql("CREATE VIEW of_function AS SELECT Doubled(id) AS s FROM u")

    with pytest.raises(SchemaCoreError) as caught:
        migrator(environment, statement).upgrade()

    assert ("migration-breaks-view", 0) == (caught.value.code, len(caught.value.others))
    assert f".{view} does not work" in caught.value.problem


def test_downgrade_refuses_to_break_views(environment: TableEnvironment) -> None:
    changed = migrator(
        environment, "ALTER TABLE t ADD more INT;\n-- down\nALTER TABLE t DROP more;"
    )
    changed.upgrade()
    environment.execute_sql("CREATE VIEW late AS SELECT more FROM t")

    with pytest.raises(SchemaCoreError) as caught:
        changed.downgrade("-1")

    assert "migration-breaks-view" == caught.value.code
    assert ("migration 0002_m, down",) == caught.value.path


def test_the_statement_is_located_in_the_file(environment: TableEnvironment) -> None:
    text = "ALTER TABLE t ADD more ${type};\nALTER TABLE t DROP\n  name;\nALTER TABLE t ADD z INT;"
    migrator(environment).upgrade()

    with pytest.raises(SchemaCoreError) as caught:
        migrator(environment, text, type="DECIMAL(38, 18)").upgrade()

    first = caught.value.diagnostics[0]
    # the last statement that alters what the view reads
    assert (str(Path("m", "0002_m.sql")), 5, 1) == (first.file, first.line, first.column)


def test_materialized_tables_are_checked() -> None:
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    environment.execute_sql("CREATE TABLE t (a INT, b INT) WITH ('connector' = 'print')")
    environment.execute_sql(
        "CREATE MATERIALIZED TABLE m FRESHNESS = INTERVAL '1' MINUTE AS SELECT a FROM t"
    )
    file = MigrationFile.parse("0001_m", "-- up\nALTER TABLE t DROP a;")

    with pytest.raises(SchemaCoreError, match=r"materialized table default_database\.m") as caught:
        Migrator(environment, MigrationDirectory.of(Path("m"), [file])).upgrade()

    assert "migration-breaks-view" == caught.value.code


def test_dependents_are_found_through_views(environment: TableEnvironment) -> None:
    migrator(environment).upgrade()
    catalog = environment.get_current_catalog() or ""
    database = environment.get_current_database() or ""
    table = ObjectIdentifier.of(catalog, database, "t")

    dependents = find_dependents(environment.read_view_states(), [table])

    assert ["above", "typed", "v"] == sorted(state.identifier.object_name for state in dependents)


def test_drift_reports_the_views_that_it_breaks(environment: TableEnvironment) -> None:
    changed = migrator(environment)
    changed.upgrade()
    assert () == changed.find_broken_views()

    environment.execute_sql("ALTER TABLE t DROP name")

    assert {"above", "v"} == {state.identifier.object_name for state in changed.find_broken_views()}
    assert ["t"] == [change.path.object_name for change in changed.drift()]  # type: ignore[attr-defined]


def test_drift_of_a_stamped_catalog_reports_only_views_that_worked(
    environment: TableEnvironment,
) -> None:
    for statement in TABLES.strip().split(";\n"):
        environment.execute_sql(statement.rstrip(";"))
    environment.execute_sql("DROP TABLE u")
    changed = migrator(environment)
    changed.stamp("1")
    assert () == changed.find_broken_views()

    environment.execute_sql("ALTER TABLE t DROP name")

    assert {"above", "v"} == {state.identifier.object_name for state in changed.find_broken_views()}


@pytest.mark.parametrize("place", ["statement", "file"])
def test_a_broken_view_is_accepted(environment: TableEnvironment, place: str) -> None:
    migrator(environment).upgrade()
    comment = "-- lint: accept migration-breaks-view: nobody reads it\n"
    up = "-- up\nALTER TABLE u ADD x INT;\n"
    text = {
        "statement": f"{up}{comment}ALTER TABLE t DROP price;\n",
        "file": f"{comment}{up}ALTER TABLE t DROP price;\n",
    }[place]
    files = [MigrationFile.parse("0001_m", f"-- up\n{TABLES}"), MigrationFile.parse("0002_m", text)]
    accepting = Migrator(environment, MigrationDirectory.of(Path("m"), files))

    accepting.upgrade()

    states = environment.read_view_states(["typed"]).values()
    assert ["unknown-column"] == [state.problem.code for state in states if state.problem]
    assert () == accepting.find_broken_views()


def test_an_acceptance_is_of_its_statement(environment: TableEnvironment) -> None:
    comment = "-- lint: accept migration-breaks-view: nobody reads it\n"
    text = f"{comment}ALTER TABLE u ADD x INT;\nALTER TABLE t DROP price;"

    assert ["typed"] == broken(environment, text)


def test_views_of_other_catalogs_are_checked(environment: TableEnvironment) -> None:
    migrator(environment).upgrade()
    path = f"{environment.get_current_catalog()}.`{environment.get_current_database()}`.t"
    environment.register_catalog("reports", InMemoryCatalog("reports", "d"))
    environment.execute_sql(f"CREATE VIEW reports.d.totals AS SELECT SUM(id) AS s FROM {path}")

    with pytest.raises(SchemaCoreError, match=r"view reports\.d\.totals does not work") as caught:
        migrator(environment, "DROP VIEW above; DROP VIEW v; ALTER TABLE t DROP id;").upgrade()

    assert ("migration-breaks-view", 0) == (caught.value.code, len(caught.value.others))


def test_a_catalog_that_cannot_be_read_is_reported(environment: TableEnvironment) -> None:
    class Unreadable(InMemoryCatalog):
        def list_databases(self) -> list[str]:
            raise ExternalError("the server does not answer", code="catalog-store-failed")

    migrator(environment).upgrade()
    environment.register_catalog("reports", Unreadable("reports", "d"))
    comment = "-- lint: accept migration-breaks-view: reports has no views\n"

    with pytest.raises(SchemaCoreError, match="the server does not answer") as caught:
        migrator(environment, "ALTER TABLE u ADD x INT;").upgrade()
    assert "views of the catalog reports" in caught.value.path
    assert "u" in environment.list_tables()
    migrator(environment, f"{comment}ALTER TABLE u ADD x INT;").upgrade()


def test_a_rewrite_that_breaks_views_is_refused(
    environment: TableEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    def validated(environment: TableEnvironment, path: str, *_: Any, **__: Any) -> ValidationReport:
        return ValidationReport(path, 1, 1, (), ())

    monkeypatch.setattr("schema_core.migration.rows.data_rewrite.validate_rows", validated)
    migrator(environment).upgrade()
    definition = Schema.new_builder().column("id", "INT NOT NULL").column("name", "STRING")
    wanted = definition.column("price", "DECIMAL(12, 2)").build()
    before = environment.read_view_states()

    with pytest.raises(SchemaCoreError, match="typed does not work") as caught:
        rewrite_table(environment, "t", wanted)

    assert "migration-breaks-view" == caught.value.code
    assert "drop the view" in (caught.value.hint or "")
    assert before == environment.read_view_states()
