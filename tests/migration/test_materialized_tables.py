"""Materialized tables in migrations: generated, restored, compared, and checked as views are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from schema_core import TableEnvironment
from schema_core.base.paths import ObjectPath
from schema_core.catalog.objects import CatalogMaterializedTable, RefreshStatus
from schema_core.errors import SchemaCoreError
from schema_core.migration import (
    GeneratedMigration,
    LintFinding,
    MigrationDirectory,
    MigrationFile,
    Migrator,
    autogenerate,
    diff_catalogs,
    lint_migrations,
    read_definitions,
    write_baseline,
)

TABLE = "CREATE TABLE t (id INT NOT NULL, city STRING, price DECIMAL(10, 2));\n"
#: A definition with each clause, which reads a view and is read by another one.
FULL = """CREATE VIEW sold AS SELECT id, city, price FROM t WHERE price > 0;
CREATE MATERIALIZED TABLE m (
  id INT NOT NULL COMMENT 'the ''key''', city STRING, price DECIMAL(10, 2), twice AS price * 2,
  CONSTRAINT k PRIMARY KEY (id) NOT ENFORCED
) COMMENT 'prices' PARTITIONED BY (city)
WITH ('format' = 'parquet', 'partition.fields.city.date-formatter' = 'yyyy-MM-dd')
FRESHNESS = INTERVAL '2' HOUR REFRESH_MODE = FULL
AS SELECT id, city, price FROM sold;
CREATE VIEW names AS SELECT id, twice FROM m;
CREATE MATERIALIZED TABLE above AS SELECT MAX(twice) AS top FROM m;
"""
PLAIN = "CREATE MATERIALIZED TABLE m WITH ('format' = 'json') AS SELECT id, city FROM t;\n"


def migrator(environment: TableEnvironment, folder: Path) -> Migrator:
    (folder / "migrations").mkdir(exist_ok=True)
    return Migrator(environment, folder / "migrations")


def generate(environment: TableEnvironment, folder: Path, wanted: str) -> GeneratedMigration:
    (folder / "tables.sql").write_text(wanted)
    definitions = read_definitions(environment, folder / "tables.sql")
    return autogenerate(migrator(environment, folder), definitions, "change")


def lint(environment: TableEnvironment, folder: Path) -> tuple[LintFinding, ...]:
    name = environment.get_current_catalog()
    setup = f"CREATE CATALOG {name} WITH ('type' = 'sql', 'warehouse' = 'x'); USE CATALOG {name};"
    return lint_migrations(folder / "migrations", setup=setup if name == "shop" else None)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (TABLE, TABLE + FULL, "\nCREATE MATERIALIZED TABLE "),
        (TABLE + FULL, TABLE, "\nDROP MATERIALIZED TABLE "),
        (TABLE, TABLE + PLAIN, "\nCREATE MATERIALIZED TABLE "),
        # with its rows
        (TABLE + PLAIN, TABLE + PLAIN.replace("json", "csv"), "\nCREATE OR ALTER "),
        (TABLE + PLAIN, TABLE + PLAIN.replace("FROM t", "FROM t WHERE id > 1"),
         "\nCREATE OR ALTER "),
        (TABLE + PLAIN, TABLE + PLAIN.replace("city FROM", "city, price FROM"),
         "\nCREATE OR ALTER "),
        (TABLE + FULL, TABLE + FULL.replace("CONSTRAINT k", "CONSTRAINT l"), "\nCREATE OR ALTER "),
        # without them
        (TABLE + FULL, TABLE + FULL.replace("'2' HOUR", "'3' HOUR"), "\nDROP MATERIALIZED "),
        (TABLE + FULL, TABLE + FULL.replace("'prices'", "'x'"), "\nDROP MATERIALIZED TABLE "),
        (TABLE + FULL, TABLE + FULL.replace("PARTITIONED BY (city)", "")
         .replace(", 'partition.fields.city.date-formatter' = 'yyyy-MM-dd'", ""),
         "\nDROP MATERIALIZED TABLE "),
        (TABLE + FULL, TABLE + FULL.replace("price * 2", "price * 3"), "\nDROP MATERIALIZED "),
        (TABLE + PLAIN, TABLE + PLAIN.replace("id, city", "city, id"), "\nDROP MATERIALIZED "),
        (TABLE + PLAIN, TABLE.replace("INT NOT NULL", "INT") + PLAIN, "\nDROP MATERIALIZED "),
    ],
)  # fmt: skip
def test_generated_migrations_lead_to_the_definitions_and_back(
    environment: TableEnvironment, tmp_path: Path, old: str, new: str, expected: str
) -> None:
    generate(environment, tmp_path, old)
    migrator(environment, tmp_path).upgrade()
    before = migrator(environment, tmp_path).content()

    result = generate(environment, tmp_path, new)

    assert result.path is not None
    text = result.path.read_text()
    assert expected in text.partition("-- up")[2].partition("-- down")[0]
    assert "-- unsupported" not in text
    assert "-- not restored" not in text
    assert () == result.broken
    migrator(environment, tmp_path).upgrade()
    assert None is generate(environment, tmp_path, new).path
    assert () == migrator(environment, tmp_path).drift()
    states = environment.read_view_states().values()
    assert [] == [state.problem for state in states if state.problem is not None]
    migrator(environment, tmp_path).downgrade("-1")
    assert () == diff_catalogs(migrator(environment, tmp_path).content(), before)
    problems = {"not-restored", "migration-breaks-view", "not-checked"}
    assert not problems & {finding.kind for finding in lint(environment, tmp_path)}


def test_a_dropped_materialized_table_is_at_risk(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    generate(environment, tmp_path, TABLE + PLAIN)
    migrator(environment, tmp_path).upgrade()

    path = generate(environment, tmp_path, TABLE + PLAIN.replace("id, city", "city, id")).path

    assert path is not None
    database = environment.get_current_database()
    risk = f"{database}.m: the materialized table is dropped, and has no rows until it is refreshed"
    assert f"-- at risk: {risk}\n" in path.read_text()
    assert "view-dropped" in {finding.kind for finding in lint(environment, tmp_path)}


def test_a_refresh_is_not_a_change(environment: TableEnvironment, tmp_path: Path) -> None:
    generate(environment, tmp_path, TABLE + PLAIN)
    migrator(environment, tmp_path).upgrade()
    catalog = migrator(environment, tmp_path).catalog
    path = ObjectPath(environment.get_current_database() or "", "m")
    table = catalog.get_table(path)
    assert isinstance(table, CatalogMaterializedTable)
    status = RefreshStatus.SUSPENDED
    catalog.alter_table(path, replace(table, refresh_status=status, refresh_handler=b"x"), False)

    assert () == migrator(environment, tmp_path).drift()
    assert None is generate(environment, tmp_path, TABLE + PLAIN).path
    generate(environment, tmp_path, TABLE + PLAIN.replace("json", "csv"))
    migrator(environment, tmp_path).upgrade()
    altered = catalog.get_table(path)
    assert isinstance(altered, CatalogMaterializedTable)
    assert (status, b"x") == (altered.refresh_status, altered.refresh_handler)


def test_a_baseline_creates_materialized_tables(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    for statement in filter(str.strip, (TABLE + FULL).split(";\n")):
        environment.execute_sql(statement)

    path = write_baseline(migrator(environment, tmp_path)).path

    assert path is not None
    text = path.read_text()
    assert "-- unsupported" not in text
    assert "-- not created" not in text
    assert ["t", "sold", "m"] == [
        name for name in ("t", "sold", "m") if f".{name}" in text.partition("-- down")[0]
    ]
    assert () == lint(environment, tmp_path)


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER MATERIALIZED TABLE m REFRESH",
        "ALTER MATERIALIZED TABLE m SUSPEND",
        "ALTER MATERIALIZED TABLE m RESUME",
    ],
)
def test_a_migration_does_not_refresh(environment: TableEnvironment, statement: str) -> None:
    texts = (f"-- up\n{TABLE}{PLAIN}", f"-- up\n{statement};")
    files = [MigrationFile.parse(f"000{number}_m", text) for number, text in enumerate(texts, 1)]
    directory = MigrationDirectory.of(Path("m"), files)

    with pytest.raises(SchemaCoreError) as caught:
        Migrator(environment, directory).upgrade()

    assert "invalid-migration-file" == caught.value.code
    assert "schema-core refresh" in (caught.value.hint or "")


@pytest.mark.parametrize(
    "statement",
    ["ALTER TABLE t DROP city", "ALTER TABLE t MODIFY id BIGINT NOT NULL", "DROP TABLE t"],
)
def test_a_change_that_breaks_a_materialized_table_is_found(
    environment: TableEnvironment, statement: str
) -> None:
    texts = (f"-- up\n{TABLE}{PLAIN}", f"-- up\n{statement};")
    files = [MigrationFile.parse(f"000{number}_m", text) for number, text in enumerate(texts, 1)]
    directory = MigrationDirectory.of(Path("m"), files)

    with pytest.raises(SchemaCoreError, match=r"materialized table .*m does not work") as caught:
        Migrator(environment, directory).upgrade()

    assert "migration-breaks-view" == caught.value.code
    assert "CREATE OR ALTER MATERIALIZED TABLE" in (caught.value.hint or "")
    assert ["applied", "pending"] == [
        status.state.value for status in Migrator(environment, directory).history()
    ]
    kinds = [finding.kind for finding in lint_migrations(directory)]
    assert "migration-breaks-view" in kinds
    environment.execute_sql(statement)
    assert ["m"] == [
        state.identifier.object_name
        for state in Migrator(environment, directory).find_broken_views()
    ]
