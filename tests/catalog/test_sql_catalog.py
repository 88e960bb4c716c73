"""The SQL catalog: compare-and-set, atomic changes, masked secrets."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from fuzz.postgres_server import Server, client
from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.base.paths import ObjectPath
from schema_core.catalog.api import names_starting_with
from schema_core.catalog.objects import (
    CatalogBaseTable,
    CatalogDatabase,
    CatalogPartitionSpec,
    TableKind,
)
from schema_core.catalog.registry import CatalogRegistry
from schema_core.catalog.stores.catalog_store import CatalogDescriptor
from schema_core.catalog.stores.memory import InMemoryCatalog
from schema_core.catalog.stores.stored_catalog import database_key
from schema_core.catalogs.sql.catalog import SqlCatalog
from schema_core.errors import (
    AlreadyExistsError,
    ConflictError,
    ExternalError,
    NotFoundError,
    SchemaError,
    UnsupportedError,
)
from schema_core.properties.property_map import decode_object
from schema_core.testing.catalog_cases import PARTITION, PLAIN
from tests.catalog.postgresql import postgres_catalog

T = ObjectPath("default", "t")
PLAIN_TABLE: CatalogBaseTable = PLAIN


def opened(file: Path) -> SqlCatalog:
    catalog = SqlCatalog("mine", f"sqlite:///{file}")
    catalog.open()
    return catalog


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "catalog.db"


def test_lists_are_in_insertion_order(file: Path) -> None:
    catalog = opened(file)
    for name in ("z", "a", "m"):
        catalog.create_table(ObjectPath("default", name), PLAIN, False)

    assert ["z", "a", "m"] == catalog.list_tables("default")


#: Names whose letters databases fold in different ways, or that have a meaning in patterns.
ODD_NAMES: tuple[str, ...] = (
    "kind", "KIND", "\u212aind", "ind", "\u0130nd", "\xdcber", "\xfcber", "a_b", "aXb", "A%b",
    "a\\b", "`a`", "``", "a`b", "n" * 600 + "x", "N" * 600 + "y", "~", "/", "day_1", "Day_2",
    "\U0010ffff",
)  # fmt: skip


def check_names_by_prefix(catalog: SqlCatalog, names: Sequence[str]) -> None:
    catalog.open()
    for name in names:
        catalog.create_table(ObjectPath("default", name), PLAIN, False)

    prefixes = {name[:length].strip("`") for name in names for length in (0, 1, 2, 3, 550, 601)}
    for prefix in {*prefixes, *map(str.upper, prefixes), *map(str.lower, prefixes)}:
        expected = names_starting_with(prefix, names)
        assert sorted(expected) == sorted(catalog.find_table_names("default", prefix)), prefix
        assert len(expected[:2]) == len(catalog.find_table_names("default", prefix, 2)), prefix


def test_names_are_found_by_their_start_in_any_case(file: Path) -> None:
    check_names_by_prefix(opened(file), ODD_NAMES)


@pytest.mark.parametrize(
    ("encoding", "locale"),
    [
        ("UTF8",   "LOCALE 'C'"),
        ("UTF8",   "LOCALE 'C' LOCALE_PROVIDER icu ICU_LOCALE 'en'"),
        ("LATIN1", "LOCALE 'C'"),
    ],
)  # fmt: skip
def test_names_are_found_in_databases_of_any_collation(
    postgres: Server, encoding: str, locale: str
) -> None:
    """That of ICU sorts `_` before letters, and ignores the case at first."""
    name = f"names_{len(encoding)}_{len(locale)}"
    made = f"CREATE DATABASE {name} TEMPLATE template0 ENCODING '{encoding}' {locale}"
    client(postgres, "psql", "-q", "-c", made)
    url = f"{postgres.url.rpartition('/')[0]}/{name}"
    catalog = SqlCatalog("c", url, username=postgres.username, password=postgres.password)
    names = ODD_NAMES
    if encoding == "LATIN1":
        names = tuple(odd_name for odd_name in ODD_NAMES if max(odd_name) <= "\xff")

    check_names_by_prefix(catalog, names)
    catalog.close()
    client(postgres, "psql", "-q", "-c", f"DROP DATABASE {name}")


def test_a_store_of_version_2_on_postgresql_is_upgraded(postgres: Server, tmp_path: Path) -> None:
    """Its keys have the collation of the database."""
    catalog = postgres_catalog(postgres, tmp_path)
    check_names_by_prefix(catalog, ODD_NAMES)
    with catalog.entries.transaction(writing=True) as entries:
        execute = entries.connection.exec_driver_sql
        execute('ALTER TABLE schema_core_entry ALTER COLUMN key TYPE text COLLATE "en-x-icu"')
        execute("DELETE FROM schema_core_migration WHERE version = 3")
    catalog.close()

    again = postgres_catalog(postgres, tmp_path)
    again.open()
    assert ODD_NAMES == tuple(again.list_tables("default"))
    assert ["a_b"] == again.find_table_names("default", "a_")
    with again.entries.transaction() as entries:
        collation = (
            "SELECT collation_name FROM information_schema.columns WHERE column_name = 'key' AND "
            "table_name = 'schema_core_entry' AND table_schema = current_schema()"
        )
        assert "C" == entries.connection.exec_driver_sql(collation).scalar()


def test_prefixes_on_postgresql_are_ranges_of_an_index(postgres: Server, tmp_path: Path) -> None:
    """The time does not depend on the number of other objects."""
    catalog = postgres_catalog(postgres, tmp_path)
    catalog.open()
    queries: list[Any] = []
    with catalog.entries.transaction() as entries:
        connection = entries.connection
        sa.event.listen(
            connection,
            "before_execute",
            lambda _, query, __, values, ___: queries.append(query.params(values)),
        )
        entries.some_names(1, "table", "kind", None)
        (query,) = (query for query in queries if "UNION ALL" in str(query))
        text = query.compile(connection, compile_kwargs={"literal_binds": True})
        connection.exec_driver_sql("SET LOCAL enable_seqscan = off")
        plan = connection.exec_driver_sql(f"EXPLAIN {text}").scalars().all()

    conditions = [line for line in plan if "Index Cond" in line]
    assert conditions
    assert all("key >= 'k" in line.lower() for line in conditions), plan


# --- many at once --------------------------------------------------------------------------------


def waits(one: SqlCatalog, other: SqlCatalog) -> str:
    """Return the error of a writer while another transaction is open."""
    one.open()
    other.open()
    with one.store.transaction(writing=True) as transaction:
        assert transaction.get(database_key("default"), lock=True)
        with pytest.raises(ExternalError) as caught:
            other.create_table(T, PLAIN, False)
    other.create_table(T, PLAIN, False)
    assert caught.value.code == "catalog-store-failed"
    return caught.value.problem


def test_a_blocked_writer_times_out(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schema_core.catalogs.sql.entries.TIMEOUT", 0.3)
    one, other = (SqlCatalog("c", f"sqlite:///{file}") for _ in range(2))

    assert "database is locked" in waits(one, other)


def test_a_blocked_writer_on_postgresql_times_out(
    postgres: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("schema_core.catalogs.sql.entries.TIMEOUT", 0.3)
    one, other = (postgres_catalog(postgres, tmp_path) for _ in range(2))

    assert "lock timeout" in waits(one, other)


def test_a_lost_connection_is_reopened(postgres: Server, tmp_path: Path) -> None:
    """A restart of the server is simulated."""
    catalog = postgres_catalog(postgres, tmp_path)
    catalog.open()
    with catalog.entries.transaction() as entries:
        number = entries.connection.scalar(sa.select(sa.func.pg_backend_pid()))
    with postgres_catalog(postgres, tmp_path).entries.transaction() as entries:
        entries.connection.execute(sa.select(sa.func.pg_terminate_backend(number)))

    assert ["default"] == catalog.list_databases()


def test_create_catalog_on_postgresql(postgres: Server) -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    env.execute_sql(
        f"CREATE CATALOG shop WITH ('type' = 'sql', 'url' = '{postgres.url}',"
        f" 'username' = '{postgres.username}', 'password' = '{postgres.password}')"
    )
    env.execute_sql("CREATE TABLE shop.`default`.t (a INT, b AS a + 1) WITH ('connector' = 'x')")
    shown = str(list(env.execute_sql("SHOW CREATE CATALOG shop").collect()))

    assert "'username' = 'ann'" in shown.replace("\\'", "'")
    assert postgres.password not in shown
    env.execute_sql("DROP TABLE shop.`default`.t")


# --- the store -----------------------------------------------------------------------------------


def test_a_store_of_a_later_version_is_refused(file: Path) -> None:
    opened(file).close()
    with sqlite3.connect(file) as connection:
        connection.execute("INSERT INTO schema_core_migration VALUES (99)")

    with pytest.raises(UnsupportedError) as caught:
        opened(file)

    assert caught.value.code == "version-not-supported"


def test_a_store_of_an_earlier_version_is_upgraded(file: Path) -> None:
    """Version 1 stored long keys unchanged."""
    script = (Path(__file__).parent / "store_version_1.sql").read_text(encoding="utf-8")
    with sqlite3.connect(file) as connection:
        connection.executescript(script)
    catalog = opened(file)

    assert ["orders", "注文" * 300, "p"] == catalog.list_tables("default")
    assert {"k": "long"} == catalog.get_table(ObjectPath("default", "注文" * 300)).get_options()
    path, spec = ObjectPath("default", "p"), CatalogPartitionSpec({"c": "1", "b": "x" * 600})
    assert catalog.partition_exists(path, spec)
    assert PARTITION == catalog.get_partition(path, spec)
    assert catalog.function_exists(ObjectPath("default", "f"))
    with pytest.raises(AlreadyExistsError):
        catalog.create_table(ObjectPath("default", "注文" * 300), PLAIN, False)
    opened(file).close()
    with sqlite3.connect(file) as connection:
        done = connection.execute("SELECT version FROM schema_core_migration").fetchall()
    assert [(1,), (2,), (3,)] == sorted(done)


def test_lookups_and_lists_use_the_index(file: Path) -> None:
    """Their time does not depend on the number of other objects."""
    opened(file)
    with sqlite3.connect(file) as connection:
        plans = [
            connection.execute(f"EXPLAIN QUERY PLAN {query}").fetchall()
            for query in (
                "SELECT id FROM schema_core_entry WHERE parent = 1 AND kind = 'table'",
                "SELECT id FROM schema_core_entry WHERE parent = 1 AND kind = 't' AND key = 'x'",
                "SELECT id FROM schema_core_entry WHERE parent = 1 LIMIT 1",
            )
        ]

    assert all("SEARCH" in plan[0][3] and "INDEX" in plan[0][3] for plan in plans)


def test_names_are_listed_by_the_index_when_statistics_are_there(file: Path) -> None:
    catalog = opened(file)
    with catalog.transaction() as changed:
        for number in range(300):
            changed.create_database(f"d{number}", CatalogDatabase(), False)
    with sqlite3.connect(file) as connection:
        connection.execute("ANALYZE")
    executed: list[tuple[str, Any]] = []

    @sa.event.listens_for(sa.Engine, "before_cursor_execute")
    def keep(_: object, __: object, statement: str, values: Any, *___: object) -> None:
        executed.append((statement, values))

    try:
        assert [] == opened(file).list_tables("d7")
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", keep)
    with sqlite3.connect(file) as connection:
        plans = [
            str(connection.execute(f"EXPLAIN QUERY PLAN {query}", values).fetchall())
            for query, values in executed
            if query.startswith("SELECT") and "ORDER BY" in query
        ]

    assert plans
    assert all("SEARCH schema_core_entry USING" in plan for plan in plans)


def test_a_file_that_is_not_a_database_is_reported(file: Path) -> None:
    file.write_text("no database, however long the text may be " * 100)

    with pytest.raises(ExternalError) as caught:
        opened(file)

    assert caught.value.code == "catalog-store-failed"


def test_a_malformed_entry_is_reported_by_name(file: Path) -> None:
    catalog = opened(file)
    catalog.create_table(T, PLAIN, False)
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE schema_core_entry SET content = '[1' WHERE kind = 'table'")

    with pytest.raises(ExternalError) as caught:
        catalog.get_table(T)

    assert ("corrupt-entry", ("table 't'",)) == (caught.value.code, caught.value.path)
    assert ["t"] == catalog.list_tables("default")


# --- made by options -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({}, "missing-option"),
        ({"url": "sqlite:///x.db", "file": "y"}, "unknown-option"),
        ({"url": "no url"}, "invalid-option-value"),
        ({"url": "nosuch://host/db"}, "invalid-option-value"),
        ({"url": "postgresql://ann:canary@host/db"}, "exposed-secret"),
        ({"url": "sqlite:///x.db", "default-database": " "}, "invalid-name"),
    ],
)
def test_invalid_options_are_refused(options: dict[str, str], code: str) -> None:
    registry = CatalogRegistry("c", InMemoryCatalog("c"))

    with pytest.raises(SchemaError) as caught:
        registry.create(CatalogDescriptor.of("shop", {"type": "sql", **options}), False)

    assert code == caught.value.code
    assert "canary" not in str(caught.value)
    assert ["c"] == registry.names()


def test_a_created_catalog_exists_in_the_next_environment(file: Path) -> None:
    create = f"CREATE CATALOG shop WITH ('type' = 'sql', 'url' = 'sqlite:///{file}')"
    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    env.execute_sql(create)
    env.execute_sql("USE CATALOG shop")
    env.execute_sql("CREATE TABLE t (a INT, b AS a + 1) WITH ('connector' = 'filesystem')")
    env.execute_sql("CREATE VIEW v AS SELECT a, b FROM t")

    again = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    again.execute_sql(create)
    again.execute_sql("USE CATALOG shop")

    assert ["t", "v"] == again.list_tables()
    assert str(env.from_path("v").get_resolved_schema()) == str(
        again.from_path("v").get_resolved_schema()
    )


def test_the_later_of_two_concurrent_alters_raises_a_conflict(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another session alters the table between the read and the write of the first."""
    env, other = (TableEnvironment.create(EnvironmentSettings.in_batch_mode()) for _ in range(2))
    for item in (env, other):
        item.execute_sql(f"CREATE CATALOG shop WITH ('type' = 'sql', 'url' = 'sqlite:///{file}')")
        item.execute_sql("USE CATALOG shop")
    env.execute_sql("CREATE TABLE t (a INT, b AS a + 1) WITH ('connector' = 'x')")
    alter = SqlCatalog.alter_table

    def slowly(*args: Any, **more: Any) -> None:
        monkeypatch.undo()
        other.execute_sql("ALTER TABLE t ADD c STRING")
        alter(*args, **more)

    monkeypatch.setattr(SqlCatalog, "alter_table", slowly)
    with pytest.raises(ConflictError) as caught:
        env.execute_sql("ALTER TABLE t ADD d STRING")
    env.execute_sql("ALTER TABLE t ADD d STRING")

    assert "t has changed since it was read" in caught.value.problem
    assert ["a", "b", "c", "d"] == env.from_path("t").get_resolved_schema().get_column_names()


# --- views, which come out without types ---------------------------------------------------------


def test_cyclic_views_are_reported(file: Path) -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    env.execute_sql(f"CREATE CATALOG shop WITH ('type' = 'sql', 'url' = 'sqlite:///{file}')")
    for statement in (
        "USE CATALOG shop",
        "CREATE VIEW v AS SELECT 1 AS a",
        "CREATE VIEW w AS SELECT * FROM v",
        "ALTER VIEW v AS SELECT * FROM w",
    ):
        env.execute_sql(statement)

    with pytest.raises(SchemaError) as caught:
        env.sql_query("SELECT * FROM v")

    assert caught.value.code == "recursive-view"
    assert caught.value.path == (
        "view shop.default.v",
        "view shop.default.w",
        "view shop.default.v",
    )
    assert [("a", "INT NOT NULL")] == [
        (row[0], "INT" if row[2] else "INT NOT NULL")
        for row in env.execute_sql("DESCRIBE v").collect()
    ]


def test_nested_views_are_read_once_each(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each view reads the previous one twice; the missing table is looked up once for each."""
    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    env.execute_sql(f"CREATE CATALOG shop WITH ('type' = 'sql', 'url' = 'sqlite:///{file}')")
    env.execute_sql("USE CATALOG shop")
    env.execute_sql("CREATE TABLE v0 (a INT) WITH ('connector' = 'x')")
    for number in range(1, 8):
        source = f"FROM v{number - 1} AS x JOIN v{number - 1} AS y ON x.a = y.a"
        env.execute_sql(f"CREATE VIEW v{number} AS SELECT x.a {source}")
    env.execute_sql("DROP TABLE v0")
    read: list[ObjectPath] = []
    get_table = SqlCatalog.get_table

    def counted(catalog: SqlCatalog, path: ObjectPath) -> Any:
        read.append(path)
        return get_table(catalog, path)

    monkeypatch.setattr(SqlCatalog, "get_table", counted)
    with pytest.raises(NotFoundError) as caught:
        env.sql_query("SELECT * FROM v7")

    assert caught.value.code == "table-not-found"
    assert len(caught.value.path) == 7
    assert len(read) < 60


@pytest.mark.parametrize(
    "url", ["sqlite://", "sqlite:///:memory:", "sqlite:///file:x?mode=memory&uri=true"]
)
def test_all_threads_share_a_database_in_memory(url: str) -> None:
    """Jobs change catalogs on threads of their own."""
    catalog = SqlCatalog("c", url)
    catalog.open()

    def create(number: int) -> list[str]:
        path = ObjectPath("default", f"t{number}")
        catalog.create_table(path, PLAIN, ignore_if_exists=False)
        return catalog.list_tables("default")

    with ThreadPoolExecutor(4) as pool:
        result = list(pool.map(create, range(8)))

    assert all(f"t{number}" in tables for number, tables in enumerate(result))
    assert [f"t{number}" for number in range(8)] == sorted(catalog.list_tables("default"))
    catalog.close()


def test_a_statement_decodes_a_definition_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ALTER reads the definition several times; a table may have thousands of columns."""
    decoded: list[int] = []

    def counted(kind: TableKind, properties: Mapping[str, str]) -> CatalogBaseTable:
        decoded.append(len(properties))
        return decode_object(kind, properties)

    monkeypatch.setattr("schema_core.catalogs.sql.catalog.decode_object", counted)
    environment = TableEnvironment.create()
    environment.register_catalog("c", SqlCatalog("c", f"sqlite:///{tmp_path}/c.db"))
    environment.execute_sql("USE CATALOG c")
    environment.execute_sql("CREATE TABLE t (c0 INT) WITH ('connector' = 'blackhole')")
    for number in range(1, 21):
        environment.execute_sql(f"ALTER TABLE t ADD c{number} INT")

    assert 20 == len(decoded) == len(set(decoded))
