"""Plans for SQLite and DuckDB, executed; plans for MySQL, Snowflake and Trino, parsed."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterator
from random import Random

import pytest

from fuzz.conversion_matrix import Case, is_kept
from fuzz.embedded_databases import (
    Database,
    SQLite,
    checks,
    connect,
    missing,
    run_plan,
    value_cases,
)
from fuzz.migration_plans import drawn_pair
from schema_core import Schema
from schema_core.catalog.objects import CatalogTable
from schema_core.mappings.dialects import to_ddl
from schema_core.migration import plan
from schema_core.migration.targets.target_statements import TARGETS
from schema_core.types import parse_type

EMBEDDED = ("sqlite", "duckdb")
PARSED = ("mysql", "snowflake", "trino")
#: Statements of the documentation of an engine for which sqlglot has no tree.
NOT_PARSED = {
    "snowflake": re.compile(r'ALTER TABLE "\w+" DROP PRIMARY KEY'),
    "trino": re.compile(r'COMMENT ON (COLUMN|TABLE) "\w+"(\."[\w ]+")? IS NULL'),
}


def schema(*columns: tuple[str, str], key: tuple[str, ...] = ()) -> Schema:
    builder = Schema.new_builder()
    for name, type_ in columns:
        builder.column(name, type_)
    return builder.primary_key(*key).build() if key else builder.build()


@pytest.fixture(params=EMBEDDED)
def database(request: pytest.FixtureRequest) -> Database:
    if reason := missing(request.param):
        pytest.skip(reason)
    return connect(request.param)


def execute(database: Database, old: CatalogTable | Schema, new: CatalogTable | Schema) -> None:
    """Execute the plan of a table `t`."""
    for statement in plan(old, new, database.name, path="t").statements:
        database.execute(statement)


# --- executed ------------------------------------------------------------------------------------


def test_statements_lead_to_the_new_table_and_back(database: Database) -> None:
    outcomes = Counter(checks(database.name, 60, 0))

    assert 60 == sum(outcomes.values())
    assert min(outcomes["in place, kept"], outcomes["rewrite, kept"]) >= 10
    assert sum(count for how, count in outcomes.items() if how.endswith("refused")) >= 15


def test_conversions_keep_the_value_or_fail(database: Database) -> None:
    run, kept = run_plan(database), 0
    for number, case in enumerate(value_cases(database.name)):
        if number % 11 == 0:
            result = run(case)
            assert result is None or is_kept(case, result), f"{case}: {result!r}"
            kept += result is not None

    assert kept >= 60


@pytest.mark.parametrize(
    ("old", "value", "new", "sqlite", "duckdb"),
    [
        ("STRING", "now", "TIMESTAMP(3)", None, None),
        ("STRING", "2020-02-30", "DATE", None, None),
        ("STRING", "24:00:00", "TIME(0)", None, None),
        ("STRING", "abc", "INT", None, None),
        ("STRING", "12abc", "INT", None, None),
        ("STRING", " 12 ", "INT", "12", "12"),
        ("STRING", "+12", "INT", None, "12"),
        ("STRING", "1.50", "DECIMAL(5, 2)", "1.5", "1.50"),
        ("STRING", "1.555", "DECIMAL(5, 2)", None, None),
        ("STRING", "yes", "BOOLEAN", "true", "true"),
        ("STRING", "2020-01-02 03:04:05.500", "TIMESTAMP(3)", "2020-01-02 03:04:05.500",
         "2020-01-02 03:04:05.5"),
        ("STRING", "2020-01-02 03:04:05.5001", "TIMESTAMP(3)", None, None),
        ("STRING", "é", "BYTES", "c3a9", "c3a9"),
        ("BIGINT", "5000000000", "INT", None, None),
        ("BIGINT", "9007199254740993", "DOUBLE", None, None),
        ("DOUBLE", "0.30000000000000004", "STRING", None, "0.30000000000000004"),
        ("DOUBLE", "0.5", "INT", None, None),
        ("DOUBLE", "0.5", "DECIMAL(5, 2)", "0.5", "0.50"),
        ("DOUBLE", "0.125", "DECIMAL(5, 2)", None, None),
        ("DECIMAL(5, 2)", "1.50", "DECIMAL(4, 1)", "1.5", "1.5"),
        ("DECIMAL(5, 2)", "1.55", "DECIMAL(4, 1)", None, None),
        ("INT", "2", "BOOLEAN", None, None),
        ("BOOLEAN", "true", "STRING", "true", "true"),
        ("DATE", "2020-01-02", "TIMESTAMP(0)", "2020-01-02 00:00:00", "2020-01-02 00:00:00"),
        ("TIMESTAMP(3)", "2020-01-02 03:04:05", "DATE", None, None),
        ("DATE", "2020-01-02", "INT", None, None),
    ],
)  # fmt: skip
def test_values(
    database: Database, old: str, value: str, new: str, sqlite: str | None, duckdb: str | None
) -> None:
    result = run_plan(database)(Case(parse_type(old), parse_type(new), value))

    assert (sqlite if database.name == "sqlite" else duckdb) == result


def test_null_is_converted_to_every_type(database: Database) -> None:
    for old, new in (("DATE", "INT"), ("ROW<a INT>", "INT"), ("STRING", "TIMESTAMP_LTZ(3)")):
        database.execute("DROP TABLE IF EXISTS t")
        database.execute("DROP TABLE IF EXISTS t__old")
        before, after = schema(("c", old)), schema(("c", new))
        database.execute(to_ddl(before, database.name, "t", on_loss="accept"))
        database.execute("INSERT INTO t VALUES (NULL)")
        execute(database, before, after)

        assert [(None,)] == database.execute("SELECT c FROM t")


def test_views_still_read_the_table() -> None:
    database = SQLite()
    database.execute("CREATE TABLE t (id int, name text)")
    database.execute("INSERT INTO t VALUES (1, '2')")
    database.execute("CREATE VIEW v AS SELECT name FROM t")
    old = schema(("id", "INT"), ("name", "STRING"))
    execute(database, old, schema(("id", "INT"), ("name", "BIGINT")))

    assert [(2,)] == database.execute("SELECT name FROM v")
    assert [("2",)] == database.execute("SELECT name FROM t__old")


def test_values_that_sqlite_stores_in_another_type_are_kept_or_refused() -> None:
    database = SQLite()
    database.execute("CREATE TABLE t (a int, b int)")
    database.execute("INSERT INTO t VALUES ('abc', 'abc')")
    old = schema(("a", "INT"), ("b", "INT"))
    with pytest.raises(database.errors):
        execute(database, old, schema(("a", "SMALLINT"), ("b", "INT")))
    database.execute("DROP TABLE t__new")
    execute(database, old, schema(("a", "BIGINT"), ("b", "INT")))

    assert [("abc", "abc")] == database.execute("SELECT a, b FROM t")


def test_duckdb_moves_the_values_of_renamed_fields() -> None:
    if reason := missing("duckdb"):
        pytest.skip(reason)
    database = connect("duckdb")
    database.execute("CREATE TABLE t (r struct(a int, b varchar))")
    database.execute("INSERT INTO t VALUES ({'a': 1, 'b': 'x'})")
    old, new = schema(("r", "ROW<a INT, b STRING>")), schema(("r", "ROW<c BIGINT, b STRING>"))
    renames: dict[str | tuple[str, ...], str] = {("r", "a"): "c"}
    for statement in plan(old, new, "duckdb", renames=renames, path="t").statements:
        database.execute(statement)

    assert [({"c": 1, "b": "x"},)] == database.execute("SELECT r FROM t")


# --- parsed --------------------------------------------------------------------------------------


@pytest.fixture
def quiet() -> Iterator[None]:
    logging.disable(logging.WARNING)  # sqlglot warns before it falls back to a Command
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("target", PARSED)
def test_statements_are_those_of_the_engines_grammar(target: str, quiet: None) -> None:
    sqlglot = pytest.importorskip("sqlglot")
    how: Counter[bool] = Counter()
    for seed in range(60):
        old, new, renames = drawn_pair(Random(seed), for_flink=False)
        result = plan(old, new, target, renames=renames, path="t")
        how[result.rewrite is None] += 1
        undo = (statement for step in result.steps for statement in step.undo or ())
        for statement in (*result.statements, *undo):
            if target in NOT_PARSED and NOT_PARSED[target].fullmatch(statement):
                continue
            tree = sqlglot.parse_one(statement, read=target)
            assert not list(tree.find_all(sqlglot.exp.Command)), statement

    assert min(how[True], how[False]) >= 10


OLD = schema(("id", "BIGINT NOT NULL"), ("name", "VARCHAR(10)"), key=("id",))


@pytest.mark.parametrize(
    ("target", "new", "statements"),
    [
        ("mysql", schema(("id", "BIGINT NOT NULL"), ("x", "INT NOT NULL"), ("name", "VARCHAR(10)"),
                         key=("id",)),
         ["ALTER TABLE `t` ADD COLUMN `x` int AFTER `id`",
          "SET SESSION sql_mode = 'STRICT_ALL_TABLES'",
          "ALTER TABLE `t` MODIFY COLUMN `x` int NOT NULL"]),
        ("mysql", schema(("id", "BIGINT NOT NULL"), ("name", "VARCHAR(20)"), key=("id",)),
         ["SET SESSION sql_mode = 'STRICT_ALL_TABLES'",
          "ALTER TABLE `t` MODIFY COLUMN `name` varchar(20)"]),
        ("snowflake", schema(("id", "BIGINT NOT NULL"), ("name", "VARCHAR(20) NOT NULL")),
         ['ALTER TABLE "t" DROP PRIMARY KEY',
          'ALTER TABLE "t" ALTER COLUMN "name" SET DATA TYPE varchar(20)',
          'ALTER TABLE "t" ALTER COLUMN "name" SET NOT NULL']),
        ("trino", schema(("id", "BIGINT"), ("name", "STRING"), ("x", "INT")),
         ['ALTER TABLE "t" ALTER COLUMN "id" DROP NOT NULL',
          'ALTER TABLE "t" ALTER COLUMN "name" SET DATA TYPE varchar',
          'ALTER TABLE "t" ADD COLUMN "x" integer']),
        ("sqlite", schema(("id", "BIGINT NOT NULL"), ("label", "VARCHAR(10)"), key=("id",)),
         ['ALTER TABLE "t" ADD COLUMN "label" varchar(10)', 'ALTER TABLE "t" DROP COLUMN "name"']),
    ],
)  # fmt: skip
def test_changes_in_place(target: str, new: Schema, statements: list[str]) -> None:
    result = plan(OLD, new, target)

    assert result.rewrite is None
    assert sorted(statements) == sorted(result.statements)


@pytest.mark.parametrize(
    ("target", "type_", "reason"),
    [
        ("sqlite", "VARCHAR(20)", "SQLite has no statement to change the type"),
        ("mysql", "VARCHAR(5)", "MySQL does not convert VARCHAR(10) to VARCHAR(5)"),
        ("snowflake", "INT", "Snowflake does not convert VARCHAR(10) to INT"),
        ("trino", "VARCHAR(10) NOT NULL", "Trino does not set NOT NULL"),
    ],
)
def test_other_changes_are_rewrites_that_keep_the_old_table(
    target: str, type_: str, reason: str
) -> None:
    result = plan(OLD, schema(("id", "BIGINT NOT NULL"), ("name", type_), key=("id",)), target)

    assert (result.rewrite or "").startswith(reason)
    assert any("__old" in statement for statement in result.statements)
    assert ["attributes-dropped"] == [risk.kind for risk in result.steps[2].risks]
    assert () == result.losses or target in {"snowflake", "trino"}


def test_snowflake_swaps_both_tables_at_once() -> None:
    result = plan(OLD, schema(("id", "INT"), ("name", "VARCHAR(10)")), "snowflake", path=("d", "t"))

    assert (
        'ALTER TABLE "d"."t__new" SWAP WITH "d"."t"',
        'ALTER TABLE "d"."t__new" RENAME TO "d"."t__old"',
    ) == result.statements[-2:]


def test_mysql_reports_what_modify_removes() -> None:
    new = schema(("id", "BIGINT NOT NULL"), ("name", "VARCHAR(10) NOT NULL"), key=("id",))
    (step,) = plan(OLD, new, "mysql").steps

    assert ("attributes-dropped", ("name",)) in {risk[:2] for risk in step.risks}
    assert (
        "SET SESSION sql_mode = 'STRICT_ALL_TABLES'",
        "ALTER TABLE `t` MODIFY COLUMN `name` varchar(10)",
    ) == step.undo


def test_every_target_has_a_dialect_and_conversions() -> None:
    for target in TARGETS.values():
        assert (target.engine is None) == (target.name == "flink")
        functions = target.functions
        assert functions.fail
        assert (functions.canonical is None) == bool(functions.safe_cast)
