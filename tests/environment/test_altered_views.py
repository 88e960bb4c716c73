"""A view whose tables are altered: the answers of Flink 2.3, the same in every catalog.

A view keeps the types that it was created with; its rows are cast to them. A view of a dropped
column can be described, but not queried.
"""

from __future__ import annotations

import pytest

from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.catalog.stores.catalog_store import CatalogDescriptor
from schema_core.errors import SchemaCoreError

VIEWS = {
    "v": "VIEW v AS SELECT a, b FROM base",
    "s": "VIEW s AS SELECT * FROM base",
    "tv": "TEMPORARY VIEW tv AS SELECT a, b FROM base",
    "e": "VIEW e (x, y) AS SELECT a + 1, b FROM base",
    "over": "VIEW over_v AS SELECT a, b FROM v",
}
NAMES = ["v", "s", "tv", "e", "over_v"]

#: The description of each view, independent of changes of the table.
DESCRIBED = {
    "v": ["a INT", "b STRING"],
    "s": ["a INT", "b STRING", "c BIGINT"],
    "tv": ["a INT", "b STRING"],
    "e": ["x INT", "y STRING"],
    "over_v": ["a INT", "b STRING"],
}

#: A change of the table -> the code with which each view is refused in a query.
CHANGES: dict[str, dict[str, str]] = {
    "MODIFY a BIGINT": {},
    "MODIFY a STRING": {"e": "invalid-function-call"},
    "MODIFY a DOUBLE": {},
    "MODIFY a INT NOT NULL": {},
    "MODIFY b INT": {},
    "DROP b": dict.fromkeys(NAMES, "unknown-column"),
    "ADD d INT": {},
    "ADD d INT FIRST": {},
    "RENAME b TO bb": dict.fromkeys(NAMES, "unknown-column"),
    "MODIFY a INT AFTER b": {},
    "RENAME TO base2": dict.fromkeys(NAMES, "table-not-found"),
    "MODIFY a ARRAY<INT>": dict.fromkeys(["v", "s", "tv", "over_v"], "stale-view")
    | {"e": "invalid-function-call"},
    "MODIFY b ROW<x INT>": {},
    "MODIFY b BYTES": {},
    "MODIFY a DATE": dict.fromkeys(["v", "s", "tv", "over_v"], "stale-view")
    | {"e": "invalid-function-call"},
}

CATALOGS = ["generic_in_memory", "sql"]


def made(catalog: str, table: str = "a INT, b STRING, c BIGINT") -> TableEnvironment:
    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    options = {"type": catalog} | ({"url": "sqlite://"} if catalog == "sql" else {})
    environment.create_catalog("c", CatalogDescriptor.of("c", options))
    environment.use_catalog("c")
    environment.execute_sql(f"CREATE TABLE base ({table})")
    return environment


def shown(name: str, type_: str, *, nullable: bool) -> str:
    return f"{name} {type_}" + ("" if nullable else " NOT NULL")


def described(environment: TableEnvironment, name: str) -> list[str]:
    rows = environment.execute_sql(f"DESCRIBE {name}").collect()
    return [shown(row[0], row[1], nullable=row[2]) for row in rows]


def queried(environment: TableEnvironment, name: str) -> list[str] | str:
    """Return the columns of a query over the view as passed to planners, or the error code."""
    try:
        table = environment.sql_query(f"SELECT * FROM {name}")
        run = environment._session.executable(table.relation)
    except SchemaCoreError as error:
        return error.code
    assert [column.type for column in run.columns] == [
        column.type for column in table.relation.columns
    ]
    return [
        shown(name, type_.nullable().as_summary_string(), nullable=type_.is_nullable)
        for name, type_ in table.relation.columns
    ]


@pytest.mark.parametrize("catalog", CATALOGS)
@pytest.mark.parametrize("change", [None, *CHANGES])
def test_a_view_keeps_its_types_when_its_table_changes(change: str | None, catalog: str) -> None:
    environment = made(catalog)
    for view in VIEWS.values():
        environment.execute_sql(f"CREATE {view}")
    if change:
        environment.execute_sql(f"ALTER TABLE base {change}")

    refused = CHANGES.get(change or "", {})
    assert DESCRIBED == {name: described(environment, name) for name in NAMES}
    assert {name: refused.get(name, DESCRIBED[name]) for name in NAMES} == {
        name: queried(environment, name) for name in NAMES
    }
    for name in NAMES:
        temporary = "TEMPORARY " if name == "tv" else ""
        shown = environment.execute_sql(f"SHOW CREATE VIEW {name}").collect()
        assert next(iter(shown))[0].startswith(f"CREATE {temporary}VIEW ")


@pytest.mark.parametrize("catalog", CATALOGS)
def test_views_of_a_dropped_table_can_be_described_and_dropped(catalog: str) -> None:
    environment = made(catalog)
    for view in VIEWS.values():
        environment.execute_sql(f"CREATE {view}")
    environment.execute_sql("DROP TABLE base")

    assert DESCRIBED == {name: described(environment, name) for name in NAMES}
    environment.execute_sql("ALTER VIEW v RENAME TO w")
    environment.execute_sql("DROP VIEW w")
    assert environment.drop_view("s")
    assert environment.drop_temporary_view("tv")


@pytest.mark.parametrize("catalog", CATALOGS)
@pytest.mark.parametrize("change", ["INT", "BIGINT"])
def test_a_not_null_column_remains_not_null(change: str, catalog: str) -> None:
    environment = made(catalog, "a INT NOT NULL")
    environment.execute_sql("CREATE VIEW v AS SELECT a FROM base")
    environment.execute_sql(f"ALTER TABLE base MODIFY a {change}")

    assert ["a INT NOT NULL"] == described(environment, "v") == queried(environment, "v")


@pytest.mark.parametrize("catalog", CATALOGS)
def test_a_view_of_an_altered_view(catalog: str) -> None:
    environment = made(catalog, "a INT NOT NULL, b STRING")
    environment.execute_sql("CREATE VIEW w AS SELECT a, b FROM base")
    environment.execute_sql("CREATE VIEW v AS SELECT * FROM w")
    both = ["a INT NOT NULL", "b STRING"]

    environment.execute_sql("ALTER VIEW w AS SELECT b, a FROM base")
    assert both == described(environment, "v") == queried(environment, "v")
    environment.execute_sql("ALTER VIEW w AS SELECT CAST(a AS BIGINT) AS a, b FROM base")
    assert both == described(environment, "v") == queried(environment, "v")
    environment.execute_sql("ALTER VIEW w AS SELECT a FROM base")
    assert both == described(environment, "v")
    assert "unknown-column" == queried(environment, "v")


@pytest.mark.parametrize("catalog", CATALOGS)
def test_time_attributes_are_those_of_the_query(catalog: str) -> None:
    environment = made(catalog, "a INT, ts TIMESTAMP(3), p AS PROCTIME(), WATERMARK FOR ts AS ts")
    environment.execute_sql("CREATE VIEW v AS SELECT ts, p FROM base")
    attributes = ["ts TIMESTAMP(3) *ROWTIME*", "p TIMESTAMP_LTZ(3) *PROCTIME* NOT NULL"]

    assert attributes == described(environment, "v") == queried(environment, "v")
    environment.execute_sql("ALTER TABLE base DROP WATERMARK")
    plain = ["ts TIMESTAMP(3)", attributes[1]]
    assert plain == described(environment, "v") == queried(environment, "v")
    environment.execute_sql("DROP TABLE base")
    assert ["ts TIMESTAMP(3)", "p TIMESTAMP_LTZ(3) NOT NULL"] == described(environment, "v")
