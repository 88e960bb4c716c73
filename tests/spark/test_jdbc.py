"""The connector `jdbc` on PostgreSQL and SQLite: types, push-down, upserts, atomicity, errors."""

from __future__ import annotations

import datetime as dt
import json
import re
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from fuzz.postgres_server import Server, server, why_not
from schema_core.connectors.jdbc import connector, dialects
from schema_core.connectors.jdbc.connector import (
    JdbcConnector,
    JdbcStage,
    RowStatements,
    check_options,
    partition_ranges,
)
from schema_core.connectors.jdbc.database import (
    Connection,
    Database,
    DatabaseError,
    client_connection,
    has_mark,
    is_transient,
    postgresql_parameters,
)
from schema_core.connectors.jdbc.dialects import (
    DIALECTS,
    MYSQL,
    ORACLE,
    POSTGRESQL,
    SQL_SERVER,
    SQLITE,
    DatabaseColumn,
    JdbcDialect,
    Merge,
    dialect_of,
    type_name,
)
from schema_core.connectors.jdbc.tables import StageName
from schema_core.environment.jobs.atomicity import ACTIONS, AtomicityLevel, Event
from schema_core.environment.jobs.pending import Owner, PendingTable
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import SchemaCoreError
from schema_core.mappings.stored_types import Reading, RuleSet, rules_of
from schema_core.pyflink.common import JobStatus
from schema_core.spark.connector import LookupKeys, ReadContext
from schema_core.spark.reading import lookups
from schema_core.types import ArrayType, parse_type
from tests.conftest import DRIVERS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PASSWORD = "made-up-secret"
MERGE = Merge('"t"', ['"k"', '"v"'], ['"k"'], 'SELECT "k", "v" FROM "s"')


class Tables:
    """An environment with tables of one database, and a connection of Python's own driver."""

    def __init__(
        self, environment: TableEnvironment, options: Mapping[str, str], run: Callable[[str], Any]
    ) -> None:
        self.environment = environment
        self.options = {"connector": "jdbc", **options}
        self.run = run

    def create(self, name: str, columns: str, table: str, **options: str) -> None:
        given = {
            key.replace("__", ".").replace("_", "-"): option for key, option in options.items()
        }
        every = {**self.options, "table-name": table, **given}
        shown = ", ".join(f"'{key}' = '{value}'" for key, value in every.items())
        self.environment.execute_sql(f"CREATE TEMPORARY TABLE {name} ({columns}) WITH ({shown})")

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        return sorted(map(tuple, self.environment.execute_sql(query).collect()), key=repr)

    def insert(self, statement: str) -> None:
        self.environment.execute_sql(statement).wait()

    def pushed(self, query: str) -> str:
        plan = self.environment.explain_sql(query)
        return str(re.findall(r"PushedFilters: \[(.*?)\], ", plan)[-1])

    def scans(self, query: str) -> str:
        return self.environment.explain_sql(query).partition("== Scans ==")[2].partition("==")[0]

    def code(self, statement: str) -> tuple[str, str]:
        with pytest.raises(SchemaCoreError) as caught:
            list(self.environment.execute_sql(statement).collect())
        return caught.value.code, str(caught.value)


@pytest.fixture(scope="module")
def postgresql() -> Iterator[Server]:
    if reason := why_not():
        pytest.skip(reason)
    if "postgresql" not in DRIVERS:
        pytest.skip("no JDBC driver: apt-get install libpostgresql-jdbc-java")
    with server() as running:
        yield running


def test_a_catalog_shows_the_tables_of_a_server(pg: Tables) -> None:
    pg.run(
        "CREATE SCHEMA IF NOT EXISTS web; CREATE TABLE web.orders (id int PRIMARY KEY,"
        " price numeric(8, 2), at timestamptz(3), tags text[], code char(3), note varchar(5))"
    )
    pg.run("INSERT INTO web.orders VALUES (1, 2.5, '2020-01-01 00:00:00Z', '{a}', 'abc', 'x')")
    pg.run("CREATE TABLE plain (a int); CREATE TABLE odd (a interval)")
    base, _, database = pg.options["url"].partition("?")[0].rpartition("/")
    environment = pg.environment
    environment.execute_sql(
        f"CREATE CATALOG pg WITH ('type' = 'jdbc', 'base-url' = '{base}', 'default-database' ="
        f" '{database}', 'username' = '{pg.options['username']}',"
        f" 'password' = '{pg.options['password']}')"
    )
    try:
        catalog = environment.get_catalog("pg")
        assert catalog is not None
        names = catalog.list_tables(database)
        assert ["public.odd", "public.plain", "web.orders"] == names
        assert [] == catalog.list_views(database)
        assert database in catalog.list_databases()
        rows = pg.rows(f"SELECT * FROM pg.{database}.`web.orders`")
        moment = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
        assert [(1, Decimal("2.50"), moment, ["a"], "abc", "x")] == rows
        assert [] == pg.rows(f"SELECT * FROM pg.{database}.plain")
        pg.insert(f"INSERT INTO pg.{database}.plain VALUES (5)")
        assert [(5,)] == pg.run("SELECT a FROM plain")
        assert "type-not-supported" == pg.code(f"SELECT * FROM pg.{database}.odd")[0]
        shown = "".join(map(str, pg.rows(f"SHOW CREATE TABLE pg.{database}.`web.orders`")))
        assert str(pg.options["password"]) not in shown
    finally:
        environment.execute_sql("DROP CATALOG pg")
        pg.run("DROP SCHEMA web CASCADE")


@pytest.fixture
def pg(environment: TableEnvironment, postgresql: Server) -> Iterator[Tables]:
    import psycopg

    address = postgresql.url.partition("://")[2]
    url = f"postgresql://{postgresql.username}:{postgresql.password}@{address}"
    options = {
        "url": f"jdbc:postgresql://{address}",
        "username": postgresql.username,
        "password": postgresql.password,
    }
    with psycopg.connect(url, autocommit=True) as connection:

        def run(statement: str) -> list[Any] | None:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else None

        run("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        yield Tables(environment, options, run)
        stages = "SELECT count(*) FROM pg_class WHERE relname LIKE 'schema_core%'"
        assert run(stages) == [(0,)]


@pytest.fixture
def lite(environment: TableEnvironment, tmp_path: Path) -> Iterator[Tables]:
    if "sqlite-jdbc" not in DRIVERS:
        pytest.skip("no JDBC driver: apt-get install libxerial-sqlite-jdbc-java")
    with closing(
        sqlite3.connect(tmp_path / "x.db", isolation_level=None, check_same_thread=False)
    ) as connection:
        options = {"url": f"jdbc:sqlite:{tmp_path / 'x.db'}"}
        yield Tables(environment, options, lambda text: connection.execute(text).fetchall())
        names = "SELECT name FROM sqlite_master WHERE name LIKE 'schema_core%'"
        assert connection.execute(names).fetchall() == []


def local(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text)


@contextmanager
def jvm_zone(session: SparkSession, zone: str) -> Iterator[None]:
    java = session._jvm.java.util.TimeZone
    before = java.getDefault()
    java.setDefault(java.getTimeZone(zone))
    try:
        yield
    finally:
        java.setDefault(before)


# --- types ---------------------------------------------------------------------------------------

POSTGRESQL_TABLE = """
CREATE TYPE "My Mood" AS ENUM ('sad', 'ok');
CREATE TABLE types (id int PRIMARY KEY, big int8, sm int2, ti int2, b bool, f real, d float8,
  n numeric(20, 4), unbounded numeric, s text, c char(4), v varchar(3), bin bytea, day date,
  tm time,
  ts timestamp, ts3 timestamp(3), tz timestamptz, a int[], st text[], at timestamp[], u uuid,
  j jsonb, m "My Mood")
"""
POSTGRESQL_COLUMNS = """
id INT, big BIGINT, sm SMALLINT, ti TINYINT, b BOOLEAN, f FLOAT, d DOUBLE, n DECIMAL(20, 4),
unbounded DECIMAL(38, 10), s STRING, c CHAR(4), v VARCHAR(3), bin BYTES, `day` DATE, tm TIME(3),
ts TIMESTAMP(6), ts3 TIMESTAMP(3), tz TIMESTAMP_LTZ(6), a ARRAY<INT>, st ARRAY<STRING>,
`at` ARRAY<TIMESTAMP(3)>, u STRING, j STRING, m STRING, PRIMARY KEY (id) NOT ENFORCED
"""
VALUES = """
INSERT INTO types SELECT 1, 9223372036854775807, CAST(-32768 AS SMALLINT), CAST(-128 AS TINYINT),
TRUE, CAST(1.5 AS FLOAT), 1e300, CAST('1234567890123456.7891' AS DECIMAL(20, 4)),
CAST('0.0000000001' AS DECIMAL(38, 10)),
'x''y', CAST('ab' AS CHAR(4)),
'abc', X'00ff', DATE '1500-03-01', TIME '10:11:12.123', TIMESTAMP '2024-03-31 02:30:00.123456',
TIMESTAMP '0001-01-01 00:00:00.001', TO_TIMESTAMP_LTZ(1, 3), ARRAY[1, CAST(NULL AS INT)],
ARRAY['q"\\,{}', 'NULL'], ARRAY[TIMESTAMP '2024-03-31 02:30:00.100'],
'00000000-0000-0000-0000-000000000001', '{"a": 1}', 'ok'
"""


def test_every_type_of_postgresql_is_written_and_read_exactly(
    pg: Tables, session: SparkSession
) -> None:
    pg.run(POSTGRESQL_TABLE)
    pg.create("types", POSTGRESQL_COLUMNS, "types")
    expected = (
        1, 9223372036854775807, -32768, -128, True, 1.5, 1e300, Decimal("1234567890123456.7891"),
        Decimal("0.0000000001"), "x'y", "ab  ", "abc", b"\x00\xff", dt.date(1500, 3, 1),
        dt.time(10, 11, 12, 123000), local("2024-03-31 02:30:00.123456"),
        local("0001-01-01 00:00:00.001"), dt.datetime(1970, 1, 1, 0, 0, 0, 1000, dt.UTC),
        [1, None], ['q"\\,{}', "NULL"], [local("2024-03-31 02:30:00.1")],
        "00000000-0000-0000-0000-000000000001", '{"a": 1}', "ok",
    )  # fmt: skip

    # This time of day does not exist in Berlin: a java.sql.Timestamp cannot hold it there.
    with jvm_zone(session, "Europe/Berlin"):
        pg.insert(VALUES)
        assert pg.run("SELECT ts::text, at[1]::text, tz = to_timestamp(0.001) FROM types") == [
            ("2024-03-31 02:30:00.123456", "2024-03-31 02:30:00.1", True)
        ]
        code, message = pg.code("SELECT * FROM types")
        assert "column 'ts': the time zone of the JVM has no such time of day" in message
        assert code == "job-failed"
    assert pg.rows("SELECT * FROM types") == [expected]
    pg.insert("INSERT INTO types (id, s) VALUES (1, 'other')")
    assert pg.rows("SELECT * FROM types") == [(1, *[None] * 8, "other", *[None] * 14)]


def test_values_that_a_column_cannot_hold_are_refused(pg: Tables) -> None:
    pg.run("CREATE TABLE t (i int8, n numeric, d date, u text)")
    pg.create("t", "i INT, n DECIMAL(4, 2), d DATE", "t")

    for values, part in (
        ("(3000000000, 1, NULL)", "Bad value for type int"),
        ("(1, 1.234, NULL)", "column 'n': a value is not a valid DECIMAL(4, 2)"),
        ("(1, 123, NULL)", "cannot be represented as Decimal(4, 2)"),
        ("(1, 'NaN', NULL)", "NaN"),
        ("(1, 1, 'infinity')", "column 'd': a value is not a valid DATE"),
    ):
        pg.run(f"DELETE FROM t; INSERT INTO t VALUES {values}")
        assert part in pg.code("SELECT * FROM t")[1]


def test_types_and_columns_that_the_database_does_not_have(pg: Tables) -> None:
    pg.run("CREATE TABLE t (a int, z timestamptz)")

    for position, (column, code, part) in enumerate(
        (
            ("a BINARY(2)", "type-not-supported", "column 'a'"),
            ("a TIMESTAMP(9)", "type-not-supported", "a precision of at most 6"),
            ("a MAP<INT, INT>", "type-not-supported", "MAP<INT, INT>"),
            ("a ARRAY<ARRAY<INT>>", "type-not-supported", "ARRAY<INT>"),
            ("a DOUBLE", "schema-mismatch", "cannot read PostgreSQL's int4 as DOUBLE"),
            ("z TIMESTAMP(6)", "schema-mismatch", "timestamptz"),
            ("b INT", "schema-mismatch", "column 'b'"),
        )
    ):
        pg.create(f"t{position}", column, "t")
        result, message = pg.code(f"SELECT * FROM t{position}")
        assert (column, result, part in message) == (column, code, True)


def test_values_that_the_database_would_round_are_not_written(pg: Tables) -> None:
    pg.run("CREATE TABLE t (n numeric(10, 1), ts timestamp(0))")
    pg.create("t", "n DECIMAL(10, 2)", "t")
    pg.create("t2", "ts TIMESTAMP(3)", "t")

    assert pg.code("INSERT INTO t VALUES (1.25)")[0] == "schema-mismatch"
    assert pg.code("INSERT INTO t2 VALUES (TIMESTAMP '2024-01-01 00:00:00.999')")[0] == (
        "schema-mismatch"
    )


@pytest.mark.usefixtures("classic")
def test_sqlite_checks_the_type_of_each_value(lite: Tables) -> None:
    lite.run("CREATE TABLE t (id INTEGER PRIMARY KEY, b BIGINT, r REAL, s TEXT, bl BLOB,"
             " bo BOOLEAN, dc DECIMAL(10, 2), d DATE, ts TIMESTAMP, tm TIME)")  # fmt: skip
    lite.create(
        "t",
        "id INT, b BIGINT, r DOUBLE, s STRING, bl BYTES, bo BOOLEAN, dc DECIMAL(10, 2), d DATE,"
        " ts TIMESTAMP(6), tm TIME(0), PRIMARY KEY (id) NOT ENFORCED",
        "t",
    )
    lite.insert(
        "INSERT INTO t VALUES (1, 3000000000, 1.5e0, '5', X'00ff', TRUE, 2.25, DATE '0005-05-05',"
        " TIMESTAMP '2024-03-31 02:30:00.123456', TIME '01:02:03')"
    )
    lite.insert("INSERT INTO t (id) VALUES (2)")
    row = (
        1, 3000000000, 1.5, "5", b"\x00\xff", True, Decimal("2.25"), dt.date(5, 5, 5),
        local("2024-03-31 02:30:00.123456"), dt.time(1, 2, 3),
    )  # fmt: skip

    assert lite.rows("SELECT * FROM t") == [row, (2, *[None] * 9)]
    assert "GreaterThan(id,1)" in lite.pushed("SELECT id FROM t WHERE id > 1 AND s = 'x'")
    scans = lite.scans("SELECT id FROM t WHERE id > 1 AND s = 'x' AND d > DATE '2020-01-01'")
    assert "filter for the connector: `id` > 1" in scans
    assert "filter for the connector: `s` = 'x'" in scans
    assert "filter for Spark (SQLite compares strings such as 's' by other rules): " in lite.scans(
        "SELECT id FROM t WHERE s LIKE 'x'"
    )
    assert "filter for Spark ('d' is read from SQLite as a string): " in scans
    for update, problem in (
        ("id = 5000000000", "column 'id': a value is not a valid INT"),
        ("b = 'abc'", "column 'b': a value is not a valid BIGINT"),
        ("dc = 1.005", "column 'dc': a value is not a valid DECIMAL(10, 2)"),
        ("bo = 7", "column 'bo': a value is not a valid BOOLEAN"),
        ("ts = 'soon'", "column 'ts': cannot read as TIMESTAMP(6): soon"),
    ):
        lite.run("BEGIN")
        lite.run(f"UPDATE t SET {update} WHERE id = 2")
        lite.run("COMMIT")
        assert problem in lite.code("SELECT * FROM t")[1]
        lite.run("DELETE FROM t WHERE id <> 1")
        lite.run("INSERT INTO t (id) VALUES (2)")
    lite.create("f", "r FLOAT", "t")
    assert lite.code("SELECT * FROM f")[0] == "type-not-supported"


def test_sqlite_compares_strings_as_flink_and_refuses_nan(lite: Tables) -> None:
    lite.run("CREATE TABLE t (s TEXT COLLATE NOCASE, c CHAR(2), r REAL)")
    lite.run("INSERT INTO t VALUES ('ab', 'ab', 1), ('AB', 'AB', 2), (NULL, NULL, 3)")
    lite.run("CREATE VIEW v AS SELECT * FROM t WHERE c LIKE 'A%'")
    lite.create("t", "s STRING, c CHAR(2), r DOUBLE", "t")
    lite.create("v", "s STRING", "v")

    for predicate, expected in (
        ("s LIKE 'A%'", [(2.0,)]),
        ("c NOT LIKE '%b'", [(2.0,)]),
        ("s = 'ab' AND r < 3", [(1.0,)]),
    ):
        assert lite.rows(f"SELECT r FROM t WHERE {predicate}") == expected
    assert lite.rows("SELECT s FROM v") == [("AB",), ("ab",)]
    code, message = lite.code(
        "INSERT INTO t VALUES ('x', 'xy', 1e0), ('y', 'xy', CAST('NaN' AS DOUBLE))"
    )
    assert (code, "column 'r': SQLite cannot store NaN" in message) == ("job-failed", True)
    lite.insert("INSERT INTO t VALUES ('x', 'xy', CAST('Infinity' AS DOUBLE))")
    lite.insert("INSERT INTO t (s, c) VALUES ('y', 'xy')")
    assert lite.rows("SELECT r FROM t WHERE c = 'xy'") == [(None,), (float("inf"),)]


# --- rules of compatibility ----------------------------------------------------------------------

#: Type -> a value.
SAMPLES = {
    "BOOLEAN": "TRUE", "TINYINT": "-128", "SMALLINT": "300", "INT": "70000",
    "BIGINT": "5000000000", "FLOAT": "1.5", "DOUBLE": "1.25", "DECIMAL(5, 0)": "123",
    "DECIMAL(10, 2)": "1.25", "STRING": "'x'", "VARCHAR(3)": "'abc'", "BYTES": "X'00ff'",
    "DATE": "DATE '2024-01-02'", "TIME(3)": "TIME '01:02:03.123'",
    "TIMESTAMP(3)": "TIMESTAMP '2024-01-02 03:04:05.123'",
    "TIMESTAMP(6)": "TIMESTAMP '2024-01-02 03:04:05.123456'",
    "TIMESTAMP_LTZ(3)": "TO_TIMESTAMP_LTZ(1, 3)", "ARRAY<INT>": "ARRAY[1]",
    "ARRAY<BIGINT>": "ARRAY[CAST(1 AS BIGINT)]", "ARRAY<STRING>": "ARRAY['x']",
}  # fmt: skip
#: Changes after which the value of `SAMPLES` is refused.
REFUSED = {
    "pg": {
        "BIGINT": "INT", "SMALLINT": "TINYINT", "DECIMAL(10, 2)": "DECIMAL(5, 0)",
    },
    "lite": {
        "BIGINT": "INT", "TINYINT": "BOOLEAN", "DECIMAL(10, 2)": "INT", "DOUBLE": "BIGINT",
        "STRING": "DATE", "BOOLEAN": "STRING", "TIME(3)": "DATE", "BYTES": "STRING",
        "DATE": "DOUBLE",
    },
}  # fmt: skip


@pytest.mark.usefixtures("classic")
@pytest.mark.parametrize("database", ["pg", "lite"])
def test_types_are_read_as_the_rules_of_compatibility_say(
    database: str, request: pytest.FixtureRequest
) -> None:
    tables = request.getfixturevalue(database)
    rules = rules_of(tables.options)
    columns = {
        name: f"c{position}" for position, name in enumerate(SAMPLES) if is_stored(rules, name)
    }
    shown = ", ".join(f"'{key}' = '{value}'" for key, value in tables.options.items())
    values = ", ".join(f"CAST({SAMPLES[name]} AS {name}) {columns[name]}" for name in columns)
    create = f"CREATE TABLE source WITH ({shown}, 'table-name' = 'w') AS SELECT {values}"
    tables.environment.execute_sql(create).wait()
    pairs = [(old, new) for old in columns for new in SAMPLES if old != new]
    readings = {(old, new): rules.reading(*map(parse_type, (old, new))) for old, new in pairs}

    # what is exact is read as the value that a CAST returns
    exact = [pair for pair in pairs if readings[pair] is Reading.EXACT]
    selected = ", ".join(f"{columns[old]} AS e{place}" for place, (old, _) in enumerate(exact))
    tables.run(f"CREATE VIEW v AS SELECT {selected} FROM w")
    declared = ", ".join(f"e{place} {new}" for place, (_, new) in enumerate(exact))
    tables.create("v", declared, "v")
    casts = ", ".join(f"CAST(CAST({SAMPLES[old]} AS {old}) AS {new})" for old, new in exact)
    assert len(exact) > 15
    assert tables.rows("SELECT * FROM v") == tables.rows(f"SELECT {casts}")

    # what is not read is refused before the job, or for the value
    refused = REFUSED[database]
    for place, (old, new) in enumerate(pairs):
        is_refused = readings[old, new] is Reading.NOT
        if refused.get(old) == new or (is_refused and database == "pg" and place % 6 == 0):
            tables.create(f"r{place}", f"{columns[old]} {new}", "w")
            code, _ = tables.code(f"SELECT {columns[old]} FROM r{place}")
            expected = {"schema-mismatch"} if database == "pg" and is_refused else {"job-failed"}
            assert (old, new, code in expected) == (old, new, True)
    assert {readings[pair] for pair in refused.items()} >= {Reading.AT_RISK}


def is_stored(rules: RuleSet, name: str) -> bool:
    """Return whether the database has a type."""
    type_ = parse_type(name)
    if isinstance(type_, ArrayType):
        return bool(rules.elements)
    return rules.physical_type(type_) is not None


# --- reading -------------------------------------------------------------------------------------


@pytest.mark.usefixtures("classic")
def test_predicates_are_pushed_down(pg: Tables) -> None:
    pg.run("CREATE TABLE t (id int, s text, n numeric(10, 2), d date, ts timestamp, b bool)")
    pg.run("INSERT INTO t VALUES (1, 'x', 1.5, '2024-01-01', '2024-01-01 00:00:00', true),"
           " (2, 'y', 2.5, '2025-01-01', '2025-01-01 00:00:00', false)")  # fmt: skip
    pg.run("INSERT INTO t (id) VALUES (NULL)")
    pg.create("t", "id INT, s STRING, n DECIMAL(10, 2), d DATE, ts TIMESTAMP(6), b BOOLEAN", "t")

    predicates = {
        "id > 1": "GreaterThan(id,1)",
        "id IN (2, 3)": "In(id, [2,3])",
        "id BETWEEN 2 AND 5": "LessThanOrEqual(id,5)",
        "s = 'y'": "EqualTo(s,y)",
        "s LIKE 'y%'": "StringStartsWith(s,y)",
        "n > 1.5": "GreaterThan(n,1.50)",
        "d > DATE '2024-06-01'": "GreaterThan(d,2024-06-01)",
        "ts > TIMESTAMP '2024-06-01 00:00:00'": "GreaterThan(ts,2024-06-01T00:00)",
        "NOT b": "Not(EqualTo(b,true))",
    }
    for predicate, pushed in predicates.items():
        assert pushed in pg.pushed(f"SELECT id FROM t WHERE {predicate}")
    scans = pg.scans(
        "SELECT d FROM t WHERE id IN (2, 3) AND s LIKE 'y%' AND n < id AND id IS NOT NULL"
    )
    assert "filter for the connector: `id` IN (2, 3)" in scans
    assert "filter for the database as StringStartsWith(s,y): `s` LIKE 'y%'" in scans
    assert "filter for the connector: `id` IS NOT NULL" in scans
    assert "filter for Spark (its JDBC source has no such condition): `n` < `id`" in scans
    each = (f"SELECT {i}, id FROM t WHERE {item}" for i, item in enumerate(predicates))
    assert pg.rows(" UNION ALL ".join(each)) == [(i, 2) for i in range(len(predicates))]
    assert "LIMIT 2" in pg.environment.explain_sql("SELECT s FROM t LIMIT 2")
    assert len(pg.rows("SELECT s FROM t LIMIT 2")) == 2
    pg.create("k", "id INT NOT NULL, s STRING", "t")
    assert "GreaterThan(id,1)" in pg.pushed("SELECT s FROM k WHERE id > 1")
    assert "column 'id' is NOT NULL but received NULL" in pg.code("SELECT * FROM k")[1]


def test_partitioned_scans_select_the_rows_within_the_bounds(pg: Tables) -> None:
    pg.run("CREATE TABLE t AS SELECT i AS id, 'n' || i AS s FROM generate_series(1, 100) i")
    pg.run("INSERT INTO t VALUES (NULL, 'none')")
    bounds = {"scan__partition__num": "4", "scan__partition__lower_bound": "11",
              "scan__partition__upper_bound": "60"}  # fmt: skip
    pg.create("t", "id INT, s STRING", "t", scan__partition__column="id", **bounds)
    pg.create("s", "s STRING", "t", scan__partition__column="s", **bounds)

    assert pg.rows("SELECT COUNT(*), MIN(id), MAX(id) FROM t") == [(50, 11, 60)]
    assert "numPartitions=4" in pg.environment.explain_sql("SELECT s FROM t")
    assert pg.rows("SELECT s FROM t WHERE id = 60") == [("n60",)]
    assert pg.code("SELECT * FROM s")[0] == "schema-mismatch"


LOOKUP = "SELECT l.id, r.s FROM l LEFT JOIN {} FOR SYSTEM_TIME AS OF l.pt AS r ON l.id = r.id"


@pytest.fixture
def looked_up(lite: Tables) -> Tables:
    """Rows of `l`, and of the table `r` and the view `v`, of which a scan reads two."""
    lite.run("CREATE TABLE t (id INT, s TEXT)")
    lite.run("INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    lite.create("l", "id INT, pt AS PROCTIME()", "t")
    bounds = {"scan__partition__num": "2", "scan__partition__lower_bound": "2",
              "scan__partition__upper_bound": "9"}  # fmt: skip
    lite.create("r", "id INT, s STRING", "t", scan__partition__column="id", **bounds)
    lite.environment.execute_sql("CREATE TEMPORARY VIEW v AS SELECT s, id FROM r")
    return lite


def test_lookups_find_rows_out_of_the_bounds_of_scans(looked_up: Tables) -> None:
    assert [(2, "b"), (3, "c")] == looked_up.rows("SELECT * FROM r")
    assert [(1, "a"), (2, "b"), (3, "c")] == looked_up.rows(LOOKUP.format("r"))
    filtered = f"{LOOKUP.format('v')} AND r.s <> 'b'"
    assert [(1, "a"), (2, None), (3, "c")] == looked_up.rows(filtered)
    both = f"SELECT x.id, x.s, y.s FROM ({LOOKUP.format('r')}) AS x LEFT JOIN r AS y ON x.id = y.id"
    assert [(1, "a", None), (2, "b", "b"), (3, "c", "c")] == looked_up.rows(both)


@pytest.mark.parametrize(
    ("state", "retries", "waits"), [("08006", 3, [1, 2]), ("08006", 1, [1]), ("28000", 3, [])]
)
def test_lookups_are_retried(
    looked_up: Tables,
    monkeypatch: pytest.MonkeyPatch,
    state: str,
    retries: int,
    waits: list[int],
) -> None:
    """The first two connections fail; only transient errors are retried."""
    slept: list[int] = []
    connect, failures = Database.connect, iter(range(2))

    def fail_twice(database: Database) -> Connection:
        if next(failures, None) is None:
            return connect(database)
        error = DatabaseError("the database failed to connect")
        error.sql_state = state
        raise error

    query = LOOKUP.format(f"r /*+ OPTIONS('lookup.max-retries' = '{retries}') */")
    query = query.replace("FROM l ", "FROM (SELECT 1 AS id, PROCTIME() AS pt) AS l ")
    monkeypatch.setattr(connector, "time", SimpleNamespace(sleep=slept.append))
    monkeypatch.setattr(Database, "connect", fail_twice)
    if retries >= 2 and waits:
        assert [(1, "a")] == looked_up.rows(query)
    else:
        assert "external-failure" == looked_up.code(query)[0]
    assert waits == slept


SIDE = (
    "(SELECT *, PROCTIME() AS pt FROM (VALUES (1, 'a'), (1, 'a'), (3, 'it''s'), (8, 'none'),"
    " (CAST(NULL AS INT), 'a')) AS x (id, s)) AS l"
)
LEFT_JOIN = f"SELECT l.id, r.s, r.w FROM {SIDE} LEFT JOIN r {{}} FOR SYSTEM_TIME AS OF l.pt AS r ON"
WHOLE = "/*+ OPTIONS('lookup.max-keys' = '1') */"


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> list[LookupKeys | None]:
    """The keys of each lookup, the latest last."""
    result: list[LookupKeys | None] = []
    look_up = JdbcConnector.look_up

    def record_keys(self: JdbcConnector, context: ReadContext) -> Any:
        result.append(context.keys)
        return look_up(self, context)

    monkeypatch.setattr(JdbcConnector, "look_up", record_keys)
    return result


@pytest.fixture(params=["pg", "lite"])
def with_keys(request: pytest.FixtureRequest) -> Tables:
    tables: Tables = request.getfixturevalue(request.param)
    tables.run("CREATE TABLE t (id INT, s TEXT, w TEXT)")
    tables.run("INSERT INTO t VALUES (1, 'a', 'x'), (1, 'b', 'y'), (2, 'a', 'z'),"
               " (3, 'it''s', 'q'), (4, NULL, 'n'), (NULL, 'a', 'n')")  # fmt: skip
    tables.create("r", "id INT, s STRING, w STRING", "t")
    return tables


@pytest.mark.parametrize(
    ("condition", "columns", "count"),
    [
        ("l.id = r.id", ("id",), 3),
        ("r.s = l.s", ("s",), 3),
        ("l.id = r.id AND l.s = r.s AND r.w <> 'z'", ("id", "s"), 3),
        ("l.id + 1 = r.id", ("id",), 3),
        ("l.id = r.id AND l.id > 1", ("id",), 3),
        ("l.id = r.id AND r.s = 'b'", ("id",), 3),
        ("CAST(l.id AS STRING) = r.s", ("s",), 3),
        ("l.id = r.id WHERE l.s = 'a' AND l.id IS NOT NULL", ("id",), 1),
    ],
)
def test_lookups_send_the_keys_of_the_other_side(
    with_keys: Tables,
    keys: list[LookupKeys | None],
    condition: str,
    columns: tuple[str, ...],
    count: int,
) -> None:
    """The rows are those of a join with all rows of the table."""
    query = f"{LEFT_JOIN} {condition}"
    rows = with_keys.rows(query.format(""))
    (sent,) = keys
    assert columns == (sent and sent.columns)
    assert count == (sent and len(sent.rows))
    if count != 1:
        assert rows == with_keys.rows(query.format(WHOLE))
        assert keys[-1] is None


def test_lookups_read_only_rows_with_the_keys(
    lite: Tables, monkeypatch: pytest.MonkeyPatch, keys: list[LookupKeys | None]
) -> None:
    """The other row cannot be read: its value is not a string."""
    lite.run("CREATE TABLE t (id INT, s TEXT, w TEXT)")
    lite.run("INSERT INTO t VALUES (1, 'a', 'x'), (8, 'b', 'y'), (9, 'c', x'00')")
    lite.create("r", "id INT, s STRING, w STRING", "t")
    monkeypatch.setattr(connector, "KEYS_OF_QUERY", 2)
    query = f"{LEFT_JOIN} l.id = r.id WHERE r.w IS NOT NULL"
    assert [(1, "a", "x"), (1, "a", "x"), (8, "b", "y")] == lite.rows(query.format(""))
    assert "a value is not a valid VARCHAR" in lite.code(query.format(WHOLE))[1]
    chained = (
        f"SELECT l.id, q.w FROM {SIDE} LEFT JOIN r FOR SYSTEM_TIME AS OF l.pt AS r ON l.id = r.id"
        " JOIN r FOR SYSTEM_TIME AS OF l.pt AS q ON l.id = q.id"
    )
    assert [(1, "x"), (1, "x"), (8, "y")] == lite.rows(chained)
    slash = query.replace("'it''s'", "'it\\s'").replace("l.id = r.id", "l.s = r.s")
    assert "a value is not a valid VARCHAR" in lite.code(slash.format(""))[1]


HINT = (
    "SELECT /*+ LOOKUP('table' = 'r', 'retry-predicate' = 'lookup_miss', 'retry-strategy' ="
    " 'fixed_delay', 'fixed-delay' = '2 s', 'max-attempts' = '3') */"
)


def test_a_missing_key_is_looked_up_again(
    lite: Tables, monkeypatch: pytest.MonkeyPatch, keys: list[LookupKeys | None]
) -> None:
    lite.run("CREATE TABLE t (id INT, s TEXT, w TEXT)")
    lite.run("INSERT INTO t VALUES (1, 'a', 'x'), (3, 'a', 'y')")
    lite.create("r", "id INT, s STRING, w STRING", "t")
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 2:
            lite.run("INSERT INTO t VALUES (8, 'b', 'late')")

    monkeypatch.setattr(lookups, "time", SimpleNamespace(sleep=wait))
    query = f"{LEFT_JOIN} l.id = r.id".replace("SELECT", HINT, 1)
    rows = lite.rows(query.format("") + " WHERE r.w = 'late'")
    assert [(8, "b", "late")] == rows
    assert [2.0, 2.0] == waits
    lite.run("DELETE FROM t WHERE id = 8")
    waits.extend([0.0, 0.0])
    assert [] == lite.rows(query.format("") + " WHERE r.w = 'late'")
    assert [2.0, 2.0, 2.0] == waits[-3:]
    code, message = lite.code(query.format(WHOLE))
    assert "not-executable" == code
    assert "retries keys that are not found" in message
    assert "jdbc" in lite.environment.explain_sql(query.format(WHOLE))


@pytest.mark.parametrize("count", [1, 3, 7, 50])
def test_ranges_cover_the_bounds_once(count: int) -> None:
    ranges = partition_ranges(-5, 20, count)

    assert [index for first, last in ranges for index in range(first, last + 1)] == list(
        range(-5, 21)
    )
    assert len(ranges) == min(count, 26)


def test_names_are_quoted_and_folded_as_the_database_does(pg: Tables) -> None:
    pg.run('CREATE SCHEMA "S"; CREATE TABLE "S"."we""ird.t" ("a""b" int, "x;y" text)')
    pg.run("CREATE TABLE plain (userid int)")
    pg.create("w", '`a"b` INT, `x;y` STRING', '"S"."we""ird.t"')
    pg.create("p", "`userId` INT", "public.Plain")

    pg.insert("INSERT INTO w VALUES (1, 'it''s; DROP TABLE plain --')")
    pg.insert("INSERT INTO p VALUES (7)")
    assert pg.rows("SELECT `a\"b` FROM w WHERE `x;y` = 'it''s; DROP TABLE plain --'") == [(1,)]
    assert pg.rows("SELECT * FROM p") == [(7,)]
    pg.create("bad", "a INT", 't" (a) VALUES (1); --')
    assert pg.code("SELECT * FROM bad")[0] == "invalid-option-value"


# --- DELETE and UPDATE ---------------------------------------------------------------------------


@pytest.mark.parametrize("database", ["pg", "lite"])
def test_rows_are_changed_by_filters_or_by_key(
    database: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables: Tables = request.getfixturevalue(database)
    tables.run("CREATE TABLE t (a int, b varchar(5), v text, n int, PRIMARY KEY (a, b))")
    tables.create("t", "a INT, b STRING, v STRING, n INT, PRIMARY KEY (a, b) NOT ENFORCED", "t")
    tables.insert(
        "INSERT INTO t VALUES (1, 'x', 'one', 1), (1, 'y', 'two', CAST(NULL AS INT)),"
        " (2, 'x', 'three', 3), (3, 'z', 'four', 4)"
    )
    statements: list[str] = []
    execute = RowStatements.execute

    def record(self: RowStatements, text: str) -> None:
        statements.append(text)
        execute(self, text)

    monkeypatch.setattr(RowStatements, "execute", record)

    tables.insert("UPDATE t SET n = 7 WHERE a = 1 AND n IS NULL")
    tables.insert("DELETE FROM t WHERE a IN (3, 4)")
    assert ['UPDATE "t" SET "n" = 7', 'DELETE FROM "t" WHERE "a" IN (3, 4)'] == [
        text.partition(" WHERE")[0] if "UPDATE" in text else text for text in statements
    ]
    tables.insert("UPDATE t SET v = UPPER(v), n = n + a WHERE MOD(n, 2) = 1")
    tables.insert("DELETE FROM t WHERE CHAR_LENGTH(v) = 3 AND b = 'x'")

    assert 2 == len(statements)
    assert [(1, "y", "TWO", 8), (2, "x", "THREE", 5)] == tables.rows("SELECT * FROM t")
    code, message = tables.code("UPDATE t SET a = a + 1 WHERE MOD(n, 2) = 0")
    assert ("unsupported-ability", True) == (code, "'a'" in message)
    tables.insert("UPDATE t SET a = 5 WHERE a = 2")
    assert [(1, "y", "TWO", 8), (5, "x", "THREE", 5)] == tables.rows("SELECT * FROM t")
    tables.environment.execute_sql("TRUNCATE TABLE t")
    assert [] == tables.rows("SELECT * FROM t")


def test_a_string_with_a_backslash_is_not_part_of_a_statement(pg: Tables) -> None:
    pg.run("CREATE TABLE t (a int PRIMARY KEY, v text)")
    pg.run("INSERT INTO t VALUES (1, 'one')")
    pg.create("t", "a INT, v STRING", "t")

    assert "unsupported-ability" == pg.code(r"UPDATE t SET v = '\\' WHERE a = 1")[0]
    assert "unsupported-ability" == pg.code(r"DELETE FROM t WHERE v = '\\'")[0]
    pg.insert("UPDATE t SET v = 'it''s' WHERE v = 'one'")
    assert [(1, "it's")] == pg.rows("SELECT * FROM t")


def test_without_a_key_only_filters_change_rows(lite: Tables) -> None:
    lite.run("CREATE TABLE t (a int, v text)")
    lite.run("INSERT INTO t VALUES (1, 'one'), (2, 'ONE')")
    lite.create("t", "a INT, v STRING", "t")

    assert "unsupported-ability" == lite.code("DELETE FROM t WHERE v = 'one'")[0]
    lite.insert("DELETE FROM t WHERE a > 1")
    assert [(1, "one")] == lite.rows("SELECT * FROM t")
    lite.insert("DELETE FROM t")
    assert [] == lite.rows("SELECT * FROM t")


def test_a_string_that_does_not_fit_is_not_sent_to_the_database(lite: Tables) -> None:
    lite.run("CREATE TABLE t (a int PRIMARY KEY, s varchar(3), b tinyint)")
    lite.run("INSERT INTO t VALUES (1, 'x', 5)")
    lite.create("t", "a INT, s VARCHAR(3), b TINYINT, PRIMARY KEY (a) NOT ENFORCED", "t")

    lite.insert("UPDATE t SET s = 'long' WHERE a = 1")

    assert [(1, "lon", 5)] == lite.rows("SELECT * FROM t")


# --- writing -------------------------------------------------------------------------------------


@pytest.mark.parametrize("database", ["pg", "lite"])
def test_rows_are_upserted_by_key_and_the_last_one_is_kept(
    database: str, request: pytest.FixtureRequest
) -> None:
    tables: Tables = request.getfixturevalue(database)
    tables.run("CREATE TABLE t (a int, b varchar(5), v text, PRIMARY KEY (a, b))")
    tables.run("CREATE TABLE k (a int PRIMARY KEY)")
    tables.create("t", "a INT, b STRING, v STRING, PRIMARY KEY (a, b) NOT ENFORCED", "t")
    tables.create("k", "a INT, PRIMARY KEY (a) NOT ENFORCED", "k")

    tables.insert("INSERT INTO t VALUES (1, 'x', 'one'), (1, 'y', 'two'), (1, 'x', 'three')")
    tables.insert("INSERT INTO t SELECT a, b, v || '!' FROM t UNION ALL SELECT 2, 'z', 'four'")
    assert tables.rows("SELECT * FROM t") == [
        (1, "x", "three!"), (1, "y", "two!"), (2, "z", "four"),
    ]  # fmt: skip
    tables.insert("INSERT INTO k VALUES (1), (1), (2)")
    tables.insert("INSERT INTO k VALUES (2), (3)")
    assert tables.rows("SELECT * FROM k") == [(1,), (2,), (3,)]
    code, message = tables.code("INSERT OVERWRITE t VALUES (1, 'x', 'y')")
    assert (code, "overwrite" in message) == ("unsupported-ability", True)


@pytest.mark.parametrize("database", ["pg", "lite"])
def test_changes_are_applied_in_one_transaction(
    database: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    tables: Tables = request.getfixturevalue(database)
    tables.run("CREATE TABLE t (a int PRIMARY KEY, v text)")
    tables.run("INSERT INTO t VALUES (1, 'old'), (2, 'old'), (9, 'untouched')")
    messages: list[tuple[str, Any, Any]] = [
        ("d", {"a": 1, "v": "old"}, None),
        ("c", None, {"a": 3, "v": "new"}),
        ("c", None, {"a": 4, "v": "short"}),
        ("u", {"a": 3, "v": "new"}, {"a": 3, "v": None}),
        ("d", {"a": 4, "v": "short"}, None),
        ("c", None, {"a": 4, "v": "again"}),
        ("u", {"a": 2, "v": "old"}, {"a": 5, "v": "moved"}),
    ]
    (tmp_path / "changes").mkdir()
    (tmp_path / "changes" / "rows").write_text(
        "".join(json.dumps({"op": op, "before": b, "after": a}) + "\n" for op, b, a in messages)
    )
    key = "PRIMARY KEY (a) NOT ENFORCED"
    source = f"'connector' = 'filesystem', 'path' = '{tmp_path / 'changes'}'"
    tables.environment.execute_sql("SET 'execution.runtime-mode' = 'streaming'")
    for name, columns in (("s", f"a INT, v STRING, {key}"), ("unkeyed", "a INT, v STRING")):
        tables.environment.execute_sql(
            f"CREATE TEMPORARY TABLE {name} ({columns}) WITH ({source}, 'format' = 'debezium-json')"
        )
    tables.create("t", f"a INT, v STRING, {key}", "t")
    tables.create("plain", "a INT, v STRING", "t")

    tables.insert("INSERT INTO t SELECT a, UPPER(v) FROM s")

    expected = [(3, None), (4, "AGAIN"), (5, "MOVED"), (9, "untouched")]
    assert expected == [*map(tuple, tables.run("SELECT a, v FROM t ORDER BY a"))]
    tables.insert("INSERT INTO t SELECT a, v FROM s WHERE a BETWEEN 3 AND 3")
    assert expected == [*map(tuple, tables.run("SELECT a, v FROM t ORDER BY a"))]
    for statement in (
        "INSERT INTO plain SELECT * FROM s",
        "INSERT INTO t SELECT * FROM unkeyed ON CONFLICT DO DEDUPLICATE",
    ):
        assert "streaming-not-supported" == tables.code(statement)[0]


def test_a_job_that_fails_writes_nothing(pg: Tables) -> None:
    pg.run("CREATE TABLE t (a int PRIMARY KEY CHECK (a < 10), v varchar(3))")
    pg.create("t", "a INT, v STRING", "t")
    pg.create("u", "a INT, v STRING, PRIMARY KEY (v) NOT ENFORCED", "t")
    pg.insert("INSERT INTO t VALUES (1, 'one')")

    for rows, part in (
        ("(2, 'x'), (3 / (a - a), 'y')", "division by zero"),
        ("(2, 'x'), (12, 'y')", "t_a_check"),
        ("(2, 'x'), (1, 'y')", "t_pkey"),
        ("(2, 'x'), (3, 'long')", "character varying(3)"),
    ):
        values = rows.replace("3 / (a - a)", "3 / (SELECT a - a FROM t)")
        assert part in pg.code(f"INSERT INTO t VALUES {values}")[1]
        assert pg.rows("SELECT * FROM t") == [(1, "one")]
    assert "no unique or exclusion constraint" in pg.code("INSERT INTO u VALUES (1, 'x')")[1]
    options = ", ".join(f"'{key}' = '{value}'" for key, value in pg.options.items())
    create = f"CREATE TABLE made WITH ({options}, 'table-name' = 't') AS SELECT 2 AS a, 'x' AS v"
    assert pg.code(create)[0] == "target-not-empty"


ISOLATED = "SET 'table.ctas.atomicity-enabled' = 'true'"


@pytest.mark.parametrize("database", ["pg", "lite"])
def test_tables_are_created_and_replaced_together_with_their_rows(
    database: str, request: pytest.FixtureRequest
) -> None:
    tables: Tables = request.getfixturevalue(database)
    environment = tables.environment
    options = ", ".join(f"'{key}' = '{value}'" for key, value in tables.options.items())
    given = f"WITH ({options}, 'table-name' = 'T1')"
    name = "t1" if database == "pg" else "T1"
    environment.execute_sql(ISOLATED)
    key = "(PRIMARY KEY (a) NOT ENFORCED)"
    create = f"CREATE TABLE t {key} {given} AS SELECT * FROM (VALUES (1, 'x'), (1, 'y')) AS v(a, b)"
    plan = environment.plan_ctas(create)
    assert (plan.level.value, plan.reasons, plan.problems) == (3, (), ())

    failing = "SELECT CAST(s AS INT) AS a FROM (VALUES ('1'), ('x')) AS v(s)"
    assert tables.code(f"CREATE TABLE t {given} AS {failing}")[0] == "job-failed"
    with pytest.raises(Exception, match=r"t1|T1"):
        tables.run(f"SELECT * FROM {name}")
    assert environment.list_tables() == []

    tables.insert(create)
    assert [tuple(item) for item in tables.run(f"SELECT a, b FROM {name}")] == [(1, "y")]
    assert tables.code(create.replace("TABLE t ", "TABLE u "))[0] == "target-not-empty"
    tables.run(f"CREATE INDEX own ON {name} (b)")
    replace = create.replace("CREATE", "REPLACE")
    tables.insert(replace.replace("'x'", "'z'").replace("1, 'y'", "2, 'y'"))
    assert tables.rows("SELECT a, b FROM t") == [(1, "z"), (2, "y")]
    tables.run("DROP INDEX own")  # the table kept its columns, so it was not created anew

    for query in (failing, "SELECT 5 AS a, 'q' AS b FROM t WHERE 1 / (a - 1) > 0"):
        assert tables.code(f"REPLACE TABLE t {given} AS {query}")[0] == "job-failed"
        assert tables.rows("SELECT * FROM t") == [(1, "z"), (2, "y")]
    tables.insert(f"REPLACE TABLE t {given} AS SELECT b, a + 1 AS n FROM t")
    assert tables.rows("SELECT n, b FROM t") == [(2, "z"), (3, "y")]
    assert sorted(map(tuple, tables.run(f"SELECT n, b FROM {name}"))) == [(2, "z"), (3, "y")]
    tables.insert("INSERT INTO t VALUES ('w', 2)")  # the key is gone
    assert len(tables.rows("SELECT n, b FROM t")) == 3


CREATED = {
    "BOOLEAN": "TRUE", "SMALLINT": "-1", "BIGINT": "9223372036854775807", "DOUBLE": "1.5E0",
    "DECIMAL(12, 2)": "1234567890.25", "CHAR(3)": "'x'", "VARCHAR(4)": "'wxyz'", "STRING": "'é'",
    "BYTES": "x'00ff'", "DATE": "DATE '2024-02-29'", "TIME(0)": "TIME '23:59:59'",
    "TIMESTAMP(3)": "TIMESTAMP '2024-01-02 03:04:05.678'",
}  # fmt: skip


@pytest.mark.parametrize("database", ["pg", "lite"])
def test_created_tables_keep_every_type(database: str, request: pytest.FixtureRequest) -> None:
    tables: Tables = request.getfixturevalue(database)
    types = dict(CREATED)
    if database == "pg":
        types |= {"FLOAT": "2.5", "ARRAY<INT>": "ARRAY[1, 2]"}
    options = ", ".join(f"'{key}' = '{value}'" for key, value in tables.options.items())
    items = [f"CAST({value} AS {type_}) AS c{i}" for i, (type_, value) in enumerate(types.items())]
    nulls = [f"CAST(NULL AS {type_})" for type_ in types]
    query = f"SELECT {', '.join(items)} UNION ALL SELECT {', '.join(nulls)}"
    tables.insert(f"CREATE TABLE t WITH ({options}, 'table-name' = 'types') AS {query}")

    assert list(map(repr, tables.rows("SELECT * FROM t"))) == list(map(repr, tables.rows(query)))


def test_stages_of_ended_processes_are_dropped(lite: Tables) -> None:
    lite.run("CREATE TABLE t (a int)")
    lite.create("t", "a INT", "t")
    target, path = '"t"', "default_catalog.default_database.t"
    ended = replace(StageName.new(target, path), pid=2**22 + 1)
    elsewhere = replace(ended, host="000000")
    other = replace(StageName.new('"o"', path), pid=2**22 + 1)
    alive = StageName.new(target, path)
    creation = replace(StageName.new(target, path, "0" * 32), pid=2**22 + 1)
    in_other_catalog = replace(creation, path=StageName.new(target, "c.d.t").path)
    for item in (ended, elsewhere, other, alive, creation, in_other_catalog):
        assert StageName.parse(str(item)) == item
        lite.run(f'CREATE TABLE "{item}" (a)')
    lite.insert("INSERT INTO t VALUES (1)")

    names = {item for (item,) in lite.run("SELECT name FROM sqlite_master WHERE name <> 't'")}
    kept = {str(elsewhere), str(other), str(alive), str(in_other_catalog)}
    assert names == {*kept, str(creation)}
    # an INSERT leaves it to what has looked for a mark in the catalog before
    environment = lite.environment
    environment.execute_sql("DROP TEMPORARY TABLE t")
    options = ", ".join(f"'{key}' = '{value}'" for key, value in lite.options.items())
    table = f"WITH ({options}, 'table-name' = 't')"
    environment.execute_sql(f"CREATE TABLE t (a INT) {table}")
    environment.recover("t")
    names = {item for (item,) in lite.run("SELECT name FROM sqlite_master WHERE name <> 't'")}
    assert names == kept
    lite.run(f'CREATE TABLE "{creation}" (a)')
    for statement in ("REPLACE", "CREATE"):
        lite.insert(f"{statement} TABLE t {table} AS SELECT 1 AS a")
        names = {item for (item,) in lite.run("SELECT name FROM sqlite_master WHERE name <> 't'")}
        assert names == kept
        environment.execute_sql("DROP TABLE t")
        lite.run("DROP TABLE t")
        lite.run(f'CREATE TABLE "{creation}" (a)')
    for name in (*kept, str(creation)):
        lite.run(f'DROP TABLE "{name}"')
    assert StageName.parse("schema_core_t") is None


@pytest.mark.parametrize("is_committed", [False, True])
def test_a_table_of_a_killed_process_is_finished_or_undone(
    lite: Tables, monkeypatch: pytest.MonkeyPatch, is_committed: bool
) -> None:
    """The process ends between the entry of the catalog and the commit, or just after that."""
    options = ", ".join(f"'{key}' = '{value}'" for key, value in lite.options.items())
    environment = lite.environment
    environment.execute_sql(ISOLATED)

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    def end(transaction: Any) -> None:
        transaction._stage._connection.close()  # as the end of the process does

    create = f"CREATE TABLE t WITH ({options}, 'table-name' = 't') AS SELECT 1 AS a"
    with monkeypatch.context() as killed:
        dead = replace(Owner.this(), pid=2**22 + 1)
        killed.setattr(Owner, "this", lambda: dead)
        killed.setitem(ACTIONS, (AtomicityLevel.ISOLATED, Event.ABORT), (end,))
        if is_committed:
            killed.setattr(PendingTable, "replace_job", die)
        else:
            killed.setattr(JdbcStage, "commit", die)
        with pytest.raises(KeyboardInterrupt):
            environment.execute_sql(create).wait()
    assert environment.list_tables() == ["t"]

    (result,) = environment.recover()
    if is_committed:
        assert result.action.value == "finished"
        assert lite.rows("SELECT * FROM t") == [(1,)]
    else:
        assert result.action.value == "undone"
        assert environment.list_tables() == []
        assert lite.run("SELECT name FROM sqlite_master") == []
    assert [item.action.value for item in environment.recover()] == ["checked"] * is_committed


def test_a_replaced_table_of_a_killed_process_keeps_definition_and_rows(
    lite: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ", ".join(f"'{key}' = '{value}'" for key, value in lite.options.items())
    environment = lite.environment
    given = f"WITH ({options}, 'table-name' = 't')"
    lite.insert(f"CREATE TABLE t (PRIMARY KEY (a) NOT ENFORCED) {given} AS SELECT 1 AS a, 'x' AS b")
    before = environment.get_create_statement("t")

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    def end(transaction: Any) -> None:
        transaction._stage._connection.close()

    with monkeypatch.context() as killed:
        dead = replace(Owner.this(), pid=2**22 + 1)
        killed.setattr(Owner, "this", lambda: dead)
        killed.setitem(ACTIONS, (AtomicityLevel.ISOLATED, Event.ABORT), (end,))
        killed.setattr(JdbcStage, "commit", die)
        with pytest.raises(KeyboardInterrupt):
            environment.execute_sql(f"REPLACE TABLE t {given} AS SELECT 2 AS z").wait()
    assert "`z` INT" in environment.get_create_statement("t")
    # a writer that knows the table of the database by another name keeps the stage of the job
    environment.execute_sql(f"CREATE TABLE same (a INT NOT NULL, b STRING) {given}")
    lite.insert("INSERT INTO same VALUES (2, 'y')")
    environment.recover("same")
    lite.run("DELETE FROM t WHERE a = 2")
    environment.execute_sql("DROP TABLE same")

    assert [item.action.value for item in environment.recover("t")] == ["undone"]
    assert environment.get_create_statement("t") == before
    assert lite.rows("SELECT * FROM t") == [(1, "x")]
    assert [item.action.value for item in environment.recover("t")] == ["checked"]
    lite.insert(f"REPLACE TABLE t {given} AS SELECT 2 AS z")
    assert lite.rows("SELECT * FROM t") == [(2,)]


def test_the_commit_that_is_second_creates_nothing(
    lite: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ", ".join(f"'{key}' = '{value}'" for key, value in lite.options.items())
    write = JdbcStage.write

    def meanwhile(stage: JdbcStage, frame: Any) -> None:
        write(stage, frame)
        file = lite.options["url"].removeprefix("jdbc:sqlite:")
        with closing(sqlite3.connect(file)) as other:  # the job has a thread of its own
            other.execute("CREATE TABLE t (a int)")

    monkeypatch.setattr(JdbcStage, "write", meanwhile)
    create = f"CREATE TABLE t WITH ({options}, 'table-name' = 't') AS SELECT 1 AS a"
    lite.environment.execute_sql(ISOLATED)
    assert lite.code(create)[0] == "table-exists"
    assert lite.environment.list_tables() == []
    assert lite.run("SELECT * FROM t") == []


SLOW = """
CREATE FUNCTION wait() RETURNS trigger AS 'BEGIN PERFORM pg_sleep(20); RETURN NEW; END'
  LANGUAGE plpgsql;
CREATE TRIGGER t BEFORE INSERT ON slow FOR EACH ROW EXECUTE FUNCTION wait()
"""
LOCKED = "BEGIN; INSERT INTO slow VALUES (1)"
#: The statements of merges that run or wait for a lock.
MERGING = """
SELECT count(*) FROM pg_stat_activity
WHERE query LIKE 'INSERT INTO%ROW_NUMBER%' AND state = 'active'
"""


@pytest.mark.parametrize("before", [SLOW, LOCKED], ids=["slow", "locked"])
def test_a_merge_in_the_database_is_cancelled(pg: Tables, before: str) -> None:
    pg.environment.get_config().set("table.dml-sync", "false")
    pg.run("CREATE TABLE slow (a int PRIMARY KEY)")
    pg.run(before)
    # a cancelled statement must not be repeated as one that failed for a while
    pg.create("slow", "a INT, PRIMARY KEY (a) NOT ENFORCED", "slow", sink__max_retries="3")
    client = pg.environment.execute_sql("INSERT INTO slow VALUES (1)").get_job_client()
    assert client is not None
    deadline = time.monotonic() + 60
    while pg.run(MERGING) != [(1,)]:
        assert time.monotonic() < deadline
        assert not client.get_job_status().result().is_terminal_state()
        pg.run("SELECT pg_stat_clear_snapshot()")
        time.sleep(0.02)
    begun = time.monotonic()
    client.cancel().result(timeout=60)

    assert time.monotonic() - begun < 5
    assert client.get_job_status().result() is JobStatus.CANCELED
    pg.run("ROLLBACK")
    assert pg.run("SELECT * FROM slow") == []


def test_a_task_that_runs_twice_adds_no_rows(pg: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    pg.run("CREATE TABLE t (a int, v text)")
    pg.create("t", "a INT, v STRING", "t", sink__parallelism="2", sink__max_retries="0")
    write = JdbcStage.write

    def twice(stage: JdbcStage, frame: Any) -> None:
        write(stage, frame)
        write(stage, frame)

    monkeypatch.setattr(JdbcStage, "write", twice)
    pg.insert("INSERT INTO t VALUES (1, 'x'), (1, 'x'), (2, 'y')")
    assert pg.rows("SELECT * FROM t") == [(1, "x"), (1, "x"), (2, "y")]


@pytest.mark.parametrize(
    ("state", "expected"), [("40001", True), ("08006", True), ("23505", False), ("", False)]
)
def test_only_transient_errors_are_repeated(state: str, expected: bool) -> None:
    error = DatabaseError("x")
    error.sql_state = state

    assert is_transient(error) is expected


# --- options and errors --------------------------------------------------------------------------


def test_passwords_are_not_shown(pg: Tables) -> None:
    address = pg.options["url"]
    pg.options |= {"password": PASSWORD}
    pg.create("t", "a INT", "t")
    pg.options |= {"url": f"{address}?password={PASSWORD}&user=ann"}
    del pg.options["password"], pg.options["username"]
    pg.create("u", "a INT", "t")

    for statement in ("SELECT * FROM t", "INSERT INTO t VALUES (1)", "SELECT * FROM u"):
        code, message = pg.code(statement)
        assert (code, PASSWORD in message) == ("external-failure", False)


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"username": "ann"}, "password"),
        ({"scan.partition.column": "a", "scan.partition.num": "2"}, "scan.partition.lower-bound"),
        (
            {
                "scan.partition.column": "a", "scan.partition.num": "2",
                "scan.partition.lower-bound": "5", "scan.partition.upper-bound": "4",
            },
            "must not be larger",
        ),
        ({"lookup.cache.max-rows": "9"}, "must be set together with lookup.cache.ttl"),
    ],
)  # fmt: skip
def test_options_that_belong_together(options: dict[str, str], part: str) -> None:
    with pytest.raises(SchemaCoreError, match=re.escape(part)):
        check_options(options)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("sink.max-retries", "-1"),
        ("scan.partition.num", "0"),
        ("scan.fetch-size", "many"),
        ("connection.max-retry-timeout", "10 ms"),
        ("lookup.cache", "SOME"),
    ],
)
def test_options_are_validated(environment: TableEnvironment, option: str, value: str) -> None:
    tables = Tables(environment, {"url": "jdbc:postgresql://h/d"}, lambda _: None)
    tables.options[option] = value
    tables.create("t", "a INT", "t")

    code, message = tables.code("SELECT * FROM t")
    assert (code, option in message) == ("invalid-option-value", True)


# --- dialects ------------------------------------------------------------------------------------


def test_upserts_of_each_dialect() -> None:
    insert = 'INSERT INTO "t" ("k", "v") SELECT "k", "v" FROM "s"'
    conflict = f'{insert} ON CONFLICT ("k") DO UPDATE SET "v" = EXCLUDED."v"'
    merge = (
        'MERGE INTO "t" t USING (SELECT "k", "v" FROM "s") s ON (t."k" = s."k")'
        ' WHEN MATCHED THEN UPDATE SET t."v" = s."v"'
        ' WHEN NOT MATCHED THEN INSERT ("k", "v") VALUES (s."k", s."v")'
    )

    assert [POSTGRESQL.upsert(MERGE), SQLITE.upsert(MERGE)] == [conflict, conflict]
    assert MYSQL.upsert(MERGE) == f'{insert} ON DUPLICATE KEY UPDATE "v" = VALUES("v")'
    assert (ORACLE.upsert(MERGE), SQL_SERVER.upsert(MERGE)) == (merge, f"{merge};")


@pytest.mark.parametrize(
    ("url", "name", "quoted"),
    [
        ("jdbc:mysql://h/d", "MySQL", "`a``b`"),
        ("jdbc:sqlserver://h;databaseName=d", "SQL Server", "[a`b]"),
        ("jdbc:oracle:thin:@h:1521:d", "Oracle", '"a`b"'),
        ("jdbc:db2://h/d", "Db2", '"a`b"'),
        ("JDBC:PostgreSQL://h/d", "PostgreSQL", '"a`b"'),
    ],
)
def test_dialect_of_a_url(url: str, name: str, quoted: str) -> None:
    assert (dialect_of(url).name, dialect_of(url).quote("a`b")) == (name, quoted)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda item: item.name)
def test_types_and_names_of_each_dialect(dialect: Any) -> None:
    for prefix in dialect.prefixes:
        assert rules_of({"connector": "jdbc", "url": f"{prefix.upper()}x"}) is dialect.rules
    for text in ("INT", "STRING", "DECIMAL(10, 2)", "TIMESTAMP(3)", "BYTES", "BOOLEAN", "DATE"):
        dialect.check_type(parse_type(text))
    for text in ("MULTISET<INT>", "ROW<a INT>", "TIMESTAMP(9)"):
        with pytest.raises(SchemaCoreError) as caught:
            dialect.check_type(parse_type(text))
        assert caught.value.code == "type-not-supported"
    for wrong in ("", "a.", ".a", "a..b"):
        with pytest.raises(SchemaCoreError):
            dialect.path(wrong)
    assert type_name(dialect, "int4") == "int4"


def test_a_committed_table_stays_where_ddl_is_not_transactional(
    lite: Tables, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process ends after the commit, before it drops the stage of the job."""
    options = ", ".join(f"'{key}' = '{value}'" for key, value in lite.options.items())
    environment = lite.environment
    environment.execute_sql(ISOLATED)

    def plain(url: str) -> JdbcDialect:
        return replace(dialect_of(url), transactional_ddl=False)

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    def end(transaction: Any) -> None:
        transaction._stage._connection.close()

    monkeypatch.setattr(dialects, "dialect_of", plain)
    for name, when, action in (("t", "_drop", "finished"), ("u", "commit", "undone")):
        lite.run(f"CREATE TABLE {name} (a INTEGER)")
        create = f"CREATE TABLE {name} WITH ({options}, 'table-name' = '{name}') AS SELECT 1 AS a"
        with monkeypatch.context() as killed:
            dead = replace(Owner.this(), pid=2**22 + 1)
            killed.setattr(Owner, "this", lambda dead=dead: dead)
            killed.setitem(ACTIONS, (AtomicityLevel.ISOLATED, Event.ABORT), (end,))
            killed.setattr(JdbcStage, when, die)
            with pytest.raises(KeyboardInterrupt):
                environment.execute_sql(create).wait()
        assert [action] == [item.action.value for item in environment.recover(name)]
    assert ["t"] == environment.list_tables()
    assert lite.rows("SELECT * FROM t") == [(1,)]


def test_catalog_and_data_may_be_in_one_file(lite: Tables) -> None:
    options = ", ".join(f"'{key}' = '{value}'" for key, value in lite.options.items())
    environment, file = lite.environment, lite.options["url"].removeprefix("jdbc:sqlite:")
    before = environment.get_current_catalog()
    environment.execute_sql(ISOLATED)
    environment.execute_sql(f"CREATE CATALOG o WITH ('type' = 'sql', 'url' = 'sqlite:///{file}')")
    environment.use_catalog("o")
    try:
        given = f"WITH ({options}, 'table-name' = 't')"
        environment.execute_sql(f"CREATE TABLE t {given} AS SELECT 1 AS a").wait()
        assert lite.rows("SELECT * FROM t") == [(1,)]
        environment.execute_sql(f"REPLACE TABLE t {given} AS SELECT 2 AS b").wait()
        assert lite.rows("SELECT b FROM t") == [(2,)]
    finally:
        environment.use_catalog(before)
        environment.execute_sql("DROP CATALOG o")
        for (name,) in lite.run("SELECT name FROM sqlite_master WHERE name LIKE 'schema_core_%'"):
            lite.run(f"DROP TABLE IF EXISTS {name}")


# --- connections by Python's drivers, over Spark Connect -----------------------------------------

EVERY_TYPE = """
CREATE TYPE mood AS ENUM ('good', 'bad');
CREATE DOMAIN positive AS integer CHECK (VALUE > 0);
CREATE SCHEMA "other one";
CREATE TYPE "other one".mood AS ENUM ('fine');
CREATE TABLE every_type (
  a smallint NOT NULL, b integer, c bigint, d numeric, e numeric(10, 3) NOT NULL, f real,
  g double precision, h boolean, i char(3), j varchar(7), k varchar, l text, m bytea, n date,
  o time, p time(3), q timestamp(0), r timestamptz(3), s uuid, t json, u mood, v positive,
  w integer[], x numeric(5, 2)[], y timestamp(3)[], z "other one".mood, aa xml, ab money,
  PRIMARY KEY (a)
)
"""


def both_connections(
    session: SparkSession, tables: Tables, dialect: JdbcDialect
) -> list[Connection]:
    """Connect by the JDBC driver and by the driver of Python."""
    options = tables.options
    settings = {"url": options["url"], "driver": dialect.driver}
    if "username" in options:
        settings |= {"user": options["username"], "password": options["password"]}
    java = Database(session, dialect, settings).connect()
    return [java, client_connection(dialect, settings, 60)]


def test_python_describes_columns_as_the_jdbc_driver_does(
    session: SparkSession, pg: Tables
) -> None:
    for statement in EVERY_TYPE.split(";"):
        pg.run(statement)
    java, python = both_connections(session, pg, POSTGRESQL)
    try:
        expected, result = java.columns('"every_type"'), python.columns('"every_type"')
    finally:
        java.close()
        python.close()
        pg.run('DROP SCHEMA "other one" CASCADE')

    # the precision of other types is never used
    sized = ("numeric", "varchar", "bpchar", "int", "float")

    def comparable(one: DatabaseColumn) -> DatabaseColumn:
        return one if one.type_name.startswith(sized) else replace(one, precision=0)

    assert 28 == len(result)
    assert list(map(comparable, expected)) == list(map(comparable, result))


@pytest.mark.parametrize("database", ["pg", "lite"])
def test_a_connection_of_python_is_one_of_jdbc(
    session: SparkSession, database: str, request: pytest.FixtureRequest
) -> None:
    tables = request.getfixturevalue(database)
    dialect = POSTGRESQL if database == "pg" else SQLITE
    tables.run("CREATE TABLE t (a INTEGER NOT NULL)")
    tables.run("CREATE TABLE t_x (a INTEGER)")
    for each in both_connections(session, tables, dialect):
        with closing(each):
            assert ["t_x"] == each.table_names(None, "t_")
            assert each.is_empty("t")
            each.begin()
            each.execute("INSERT INTO t VALUES (1)")
            each.rollback()
            assert each.is_empty("t")
            each.begin()
            each.execute("INSERT INTO t VALUES (1)")
            each.commit()
            each.rollback()
            assert not each.is_empty("t")
            each.execute("DELETE FROM t")
            assert [("a", False)] == [
                (column.name, column.is_nullable) for column in each.columns("t")
            ]
            for fails in (each.execute, each.is_empty, each.columns):
                with pytest.raises(DatabaseError) as caught:
                    fails("nowhere" if fails != each.execute else "SELECT * FROM nowhere")
                assert has_mark(caught.value, dialect.missing)
    tables.run("DROP TABLE t_x")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("//h/d", {"host": "h", "port": "5432", "dbname": "d"}),
        ("//h:1,[::1]:2/d%20e", {"host": "h,::1", "port": "1,2", "dbname": "d e"}),
        ("d", {"host": "localhost", "port": "5432", "dbname": "d"}),
        ("//h/", {"host": "h", "port": "5432", "dbname": "ann", "user": "ann"}),
        (
            "//h/d?sslmode=require&currentSchema=a b&loginTimeout=3&options=-c x=1",
            {
                "host": "h", "port": "5432", "dbname": "d", "sslmode": "require",
                "options": r"-c x=1 -c search_path=a\ b", "connect_timeout": "3",
            },
        ),
    ],
)  # fmt: skip
def test_parameters_of_postgresql(url: str, expected: dict[str, str]) -> None:
    settings = {"url": f"jdbc:postgresql:{url}", "driver": "org.postgresql.Driver"}
    if "user" in expected:
        settings["user"] = expected["user"]

    assert {"connect_timeout": "60", **expected} == postgresql_parameters(settings, 60)


@pytest.mark.parametrize(
    ("dialect", "settings", "expected"),
    [
        (POSTGRESQL, {"url": "jdbc:postgresql://h/d?tcpKeepAlive=true"}, "'tcpKeepAlive'"),
        (POSTGRESQL, {"url": "jdbc:postgresql://h/d", "ssl": "true"}, "'ssl'"),
        (SQLITE, {"url": "jdbc:sqlite:x.db?mode=ro"}, "mode=ro"),
        (SQLITE, {"url": "jdbc:sqlite:x.db", "date_class": "TEXT"}, "date_class"),
        (MYSQL, {"url": "jdbc:mysql://h/d"}, "MySQL"),
    ],
)
def test_what_python_cannot_do_as_declared_is_refused(
    dialect: JdbcDialect, settings: dict[str, str], expected: str
) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        client_connection(dialect, settings, 60)

    assert "not-over-connect" == caught.value.code
    assert expected in caught.value.problem


@pytest.mark.parametrize("url", ["jdbc:sqlite:", "jdbc:sqlite::memory:"])
def test_a_database_in_memory_is_not_that_of_the_server(url: str) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        client_connection(SQLITE, {"url": url}, 60)

    assert "invalid-option-value" == caught.value.code


# --- aggregates ----------------------------------------------------------------------------------

#: Queries of aggregates -> whether SQLite and PostgreSQL compute them. `i` wraps, `n` has NULL.
AGGREGATES: Mapping[str, tuple[bool, bool]] = {
    "COUNT(*), COUNT(n), COUNT(1), MIN(i), MAX(i)": (True, True),
    "SUM(i), SUM(ti), SUM(n)": (True, True),
    "SUM(b)": (False, True),
    "MIN(n), SUM(p), MIN(p), MAX(p)": (False, True),
    "MIN(d), MAX(t)": (False, True),
    "MIN(s)": (False, False),
    "SUM(f)": (False, False),
    "COUNT(s), COUNT(f), COUNT(o)": (True, True),
    "COUNT(DISTINCT n)": (False, False),
    "COUNT(*) FILTER (WHERE n > 1)": (False, False),
    "AVG(n)": (False, False),
    "n, COUNT(*), MAX(b) + 1 FROM a GROUP BY n": (True, True),
    "o, COUNT(*) FROM a GROUP BY o": (False, True),
    "s, COUNT(*) FROM a GROUP BY s": (False, True),
    "f, COUNT(*) FROM a GROUP BY f": (False, False),
    "n, COUNT(*) AS c FROM a GROUP BY n HAVING COUNT(*) > 1 AND MIN(i) < 5": (True, True),
    "n FROM a GROUP BY n ORDER BY COUNT(*) DESC, n LIMIT 2": (True, True),
    "COUNT(*), MIN(n) FROM a WHERE n > 1 AND i IS NOT NULL": (True, True),
    "COUNT(*), SUM(i) FROM a WHERE n > 1000": (True, True),
    "n, COUNT(*) FROM a WHERE n > 1000 GROUP BY n": (True, True),
    "COUNT(*) FROM a WHERE s > 'a'": (False, False),
    "COUNT(*) FROM a WHERE f > 1": (False, False),
    "COUNT(*) FROM a WHERE n + 1 > 1": (False, False),
    "n + 1, COUNT(*) FROM a GROUP BY n + 1": (False, False),
    "m, x.c FROM (SELECT n AS m, COUNT(*) AS c FROM a GROUP BY n) x WHERE m > 1": (True, True),
    "y.k, COUNT(*), MAX(w) FROM (SELECT n, i FROM a) AS y (k, w) GROUP BY k": (False, False),
    "y.k, MAX(w) FROM a AS y (k, w, a1, a2, a3, a4, a5, a6, a7, a8) GROUP BY k": (True, True),
    "COUNT(*) FROM a AS l JOIN a AS r ON l.n = r.n": (False, False),
    "n, RANK() OVER (ORDER BY COUNT(*)) FROM a GROUP BY n": (True, True),
    "COUNT(*) FROM a GROUP BY GROUPING SETS ((n), ())": (False, False),
}
#: Queries of first rows, without rows of equal keys -> the same.
FIRST_ROWS: Mapping[str, tuple[bool, bool]] = {
    "n, s FROM a ORDER BY i LIMIT 2": (True, True),
    "n FROM a ORDER BY d DESC LIMIT 2": (False, True),
    "i FROM a ORDER BY s LIMIT 2": (False, False),
    "s FROM a ORDER BY b DESC NULLS FIRST LIMIT 1 OFFSET 1": (True, True),
    "i FROM a ORDER BY f DESC LIMIT 2": (False, False),
    "i FROM a ORDER BY p NULLS LAST LIMIT 2": (False, True),
    "s, d FROM a WHERE n > 0 AND i IS NOT NULL ORDER BY n DESC, i LIMIT 3": (True, True),
    "n, i FROM a WHERE s > 'a' ORDER BY i LIMIT 1": (False, False),
    "n FROM a ORDER BY t LIMIT 3": (False, True),
    "x FROM (SELECT i AS x, n FROM a WHERE n < 5) AS q ORDER BY x LIMIT 2": (True, True),
    "i FROM a ORDER BY n + 1, i LIMIT 2": (False, False),
}
AGGREGATED = "n INT, i INT, ti TINYINT, b BIGINT, p DECIMAL(9, 2), d DATE, t TIMESTAMP(6), \
s STRING, f DOUBLE, o BOOLEAN"
AGGREGATED_ROWS = """
(1, 2147483647, 127, 9223372036854775807, 1.25, '2020-01-01', '2020-01-01 00:00:00.5', 'b', 1.5,
  true),
(1, 5, 3, 4, -2.5, '1999-12-31', NULL, 'B', 2, false),
(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
(2, -7, -128, 9, 0, '2020-01-02', '1969-12-31 23:59:59.999999', 'a', 0, true),
(5, 2, 1, 2, 3, NULL, '2020-01-01 00:00:00', '', 3, false)
"""


@pytest.mark.parametrize("database", ["lite", pytest.param("pg", marks=pytest.mark.slow)])
def test_the_database_computes_aggregates_as_spark_does(
    request: pytest.FixtureRequest, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables: Tables = request.getfixturevalue(database)
    is_pg = database == "pg"
    times = ("date", "timestamp(6)") if is_pg else ("text", "text")
    tables.run(
        f"CREATE TABLE a (n int, i int, ti smallint, b bigint, p decimal(9, 2), d {times[0]},"
        f" t {times[1]}, s text, f double precision, o boolean)"
    )
    tables.create("a", AGGREGATED, "a")
    empty = "SELECT COUNT(*), COUNT(n), MIN(n), SUM(n) FROM a"
    assert [(0, 0, None, None)] == tables.rows(empty)
    assert [] == tables.rows(f"{empty} GROUP BY n")
    tables.run(f"INSERT INTO a VALUES {AGGREGATED_ROWS}")
    for method, queries in (("apply_aggregates", AGGREGATES), ("apply_top_n", FIRST_ROWS)):
        apply, accepted = getattr(JdbcConnector, method), list[bool]()

        def record(*arguments: Any, apply: Any = apply, accepted: Any = accepted) -> bool:
            accepted.append(apply(*arguments))
            return bool(accepted[-1])

        for place, (query, expected) in enumerate(queries.items()):
            if not is_pg and place % 3:  # a few of them on SQLite
                continue
            statement = f"SELECT {query}" if "FROM" in query else f"SELECT {query} FROM a"
            accepted.clear()
            monkeypatch.setattr(JdbcConnector, method, record)
            pushed = tables.rows(statement)
            monkeypatch.setattr(JdbcConnector, method, lambda *_: False)

            assert (tables.rows(statement), expected[is_pg]) == (pushed, any(accepted)), statement
        monkeypatch.setattr(JdbcConnector, method, apply)
    scans = tables.scans("SELECT s FROM a WHERE n > 1 ORDER BY n DESC, i NULLS LAST LIMIT 2")
    assert "  filter for the connector: `n` > 1\n" in scans
    assert "  first rows: 2 by n DESC, i NULLS LAST" in scans
    scans = tables.scans("SELECT COUNT(*), MIN(n) FROM a WHERE n > 1 AND i IS NOT NULL")
    assert "  aggregates: COUNT(*), MIN(n)\n  filter for the connector: `n` > 1\n" in scans
    assert [(-2147483642, -125)] == tables.rows("SELECT SUM(i), SUM(ti) FROM a WHERE i > -5")


def test_sqlite_reads_decimals_of_any_place(lite: Tables) -> None:
    """Its driver fails for a row that begins with a DECIMAL that is NULL."""
    lite.run("CREATE TABLE a (n int, dn numeric(9, 2), m numeric(15, 15))")
    lite.create("a", "n INT, dn DECIMAL(9, 2), m DECIMAL(15, 15)", "a")
    lite.run("INSERT INTO a VALUES (1, NULL, 0.1), (2, 1.25, 1e-15), (3, 7, NULL)")

    values = [(Decimal("1.25"),), (Decimal(7),), (None,)]
    assert values == lite.rows("SELECT dn FROM a") == lite.rows("SELECT dn FROM a GROUP BY dn")
    assert {(Decimal("0.1"),), (Decimal("1e-15"),), (None,)} == set(
        lite.rows("SELECT m FROM a WHERE dn > 1 OR dn IS NULL")
    )
    assert [(Decimal(7), 2)] == lite.rows("SELECT MAX(dn), COUNT(dn) FROM a")


def test_a_collation_does_not_change_groups_and_conditions(pg: Tables) -> None:
    pg.run(
        "CREATE COLLATION ignores_case (provider = icu, locale = 'und-u-ks-level2',"
        " deterministic = false)"
    )
    pg.run("CREATE TABLE t (n int, s text COLLATE ignores_case)")
    pg.run("INSERT INTO t VALUES (1, 'a'), (2, 'A'), (3, 'b')")
    pg.create("t", "n INT, s STRING", "t")

    groups = pg.rows("SELECT s, COUNT(*) FROM t GROUP BY s")
    assert [("A", 1), ("a", 1), ("b", 1)] == groups
    assert [(1,)] == pg.rows("SELECT COUNT(*) FROM t WHERE s = 'a'")
    assert [(2,)] == pg.rows("SELECT COUNT(*) FROM t WHERE s <> 'a'")
    assert [(2,)] == pg.rows("SELECT n FROM t WHERE s < 'a'")
    assert [(1,), (2,)] == pg.rows("SELECT n FROM t WHERE s < 'b' ORDER BY n LIMIT 2")
    assert [(3,)] == pg.rows("SELECT n FROM t WHERE s IN ('b', 'c') LIMIT 2")
    assert """("s" = 'a' AND "s" COLLATE "C" = 'a')""".strip("()") in pg.environment.explain_sql(
        "SELECT n FROM t WHERE s = 'a'"
    )
    pg.insert("DELETE FROM t WHERE s IN ('a', 'c')")
    assert [(2,), (3,)] == pg.rows("SELECT n FROM t")


def test_rows_that_cannot_be_read_fail_an_aggregate(lite: Tables) -> None:
    lite.run("CREATE TABLE a (n int, i int)")
    lite.run("INSERT INTO a VALUES (1, 'x'), (2, 1)")
    lite.create("a", "n INT, i INT NOT NULL", "a")

    assert [(2,)] == lite.rows("SELECT COUNT(*) FROM a")
    assert "is not a valid INT" in lite.code("SELECT MAX(i) FROM a")[1]
    assert "is not a valid INT" in lite.code("SELECT n, COUNT(i) FROM a GROUP BY n")[1]
    assert [(1,)] == lite.rows("SELECT MAX(i) FROM a WHERE n = 2")


def test_a_divided_scan_computes_no_aggregates(lite: Tables) -> None:
    lite.run("CREATE TABLE a (n int)")
    lite.run("INSERT INTO a VALUES (1), (2), (3)")
    bounds = {"lower_bound": "1", "upper_bound": "2", "num": "2", "column": "n"}
    given = {f"scan__partition__{key}": value for key, value in bounds.items()}
    lite.create("a", "n INT", "a", **given)

    assert [(2,)] == lite.rows("SELECT COUNT(*) FROM a")


def test_a_collation_of_sqlite_does_not_change_conditions(lite: Tables) -> None:
    """Equality by any collation selects all equal strings, and Spark compares them again."""
    lite.run("CREATE TABLE t (n int, s text COLLATE NOCASE)")
    lite.run("INSERT INTO t VALUES (1, 'a'), (2, 'A'), (3, 'b'), (4, NULL)")
    lite.create("t", "n INT, s STRING", "t")
    conditions = {"s = 'a'": {1}, "s IN ('A', 'b')": {2, 3}, "s <> 'a'": {2, 3}, "s < 'b'": {1, 2},
                  "s LIKE 'A%'": {2}, "s IS NULL": {4}, "s = 'a' AND n > 1": set()}  # fmt: skip
    rows = lite.rows(
        " UNION ALL ".join(
            f"SELECT {place}, n FROM t WHERE {condition}"
            for place, condition in enumerate(conditions)
        )
    )

    expected = [(place, n) for place, every in enumerate(conditions.values()) for n in every]
    assert sorted(expected) == sorted(rows)
    assert """WHERE "s" IN ('a')""" in lite.environment.explain_sql("SELECT n FROM t WHERE s = 'a'")
    assert [(1,)] == lite.rows("SELECT n FROM t WHERE s = 'a' LIMIT 1")
