"""Methods of tables: names and types of their results, as in Flink's Table API.

The expected columns were recorded from Flink 2.3, by the same calls in Java. Where Flink keeps NOT
NULL for the side of an outer join without a match, ours are nullable, as in its SQL.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import pytest

from schema_core import DataTypes, EnvironmentSettings, Schema, Table, TableDescriptor
from schema_core.environment.table_api.relational import block
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import SchemaCoreError
from schema_core.expressions import (
    array,
    call,
    call_sql,
    coalesce,
    col,
    concat,
    lit,
    null_of,
    range_,
    row,
    with_all_columns,
    with_columns,
    without_columns,
)
from schema_core.expressions.user_functions import udtf
from schema_core.pyflink.table.window import Over
from schema_core.sql.syntax import Ordered

TABLES = """
CREATE TABLE t (a INT NOT NULL, b STRING, c ROW<x INT, y ROW<z STRING>>, d ARRAY<INT>, e DATE);
CREATE TABLE u (a2 BIGINT, b2 STRING, e DOUBLE);
CREATE TABLE u1 (a BIGINT, b STRING, e DOUBLE);
CREATE TABLE v (a INT NOT NULL, b STRING);
CREATE TABLE w (a BIGINT, b STRING);
CREATE TABLE z (a STRING, b INT);
CREATE TABLE n (k INT, m VARCHAR(10))
"""

A, B = col("a"), col("b")
W = Over.order_by(A).alias("w")


@udtf(result_types=["STRING", "INT"])
def split(text: str | None) -> Any:
    yield text, len(text or "")


@pytest.fixture(scope="module")
def tables() -> dict[str, Table]:
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    for text in TABLES.split(";"):
        environment.execute_sql(text)
    environment.create_temporary_system_function("split", split)
    return {name: environment.from_path(name) for name in environment.list_tables()}


def columns(table: Table) -> list[str]:
    return [column.as_summary_string() for column in table.get_resolved_schema().columns]


Use = Callable[[dict[str, Table]], Table]


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        # select
        (lambda t: t["t"].select(A + 1, B, B.upper_case),
         ["`_c0` INT NOT NULL", "`b` STRING", "`_c2` STRING"]),
        (lambda t: t["t"].select(A.cast(DataTypes.BIGINT()), (A + 1).cast(DataTypes.STRING())),
         ["`a-BIGINT` BIGINT NOT NULL", "`_c1` STRING NOT NULL"]),
        (lambda t: t["v"].select(A.cast(DataTypes.DECIMAL(10, 2)), A.try_cast(DataTypes.BIGINT())),
         ["`a-DECIMAL(10, 2)` DECIMAL(10, 2) NOT NULL", "`_c1` BIGINT"]),
        (lambda t: t["t"].select(col("c").x, col("c").get("y").get("z"), col("d").at(1)),  # type: ignore[attr-defined]
         ["`c$x` INT", "`c$y$z` STRING", "`_c2` INT"]),
        (lambda t: t["t"].select(lit(1), lit("x"), null_of(DataTypes.INT())),
         ["`_c0` INT NOT NULL", "`_c1` CHAR(1) NOT NULL", "`_c2` INT"]),
        (lambda t: t["v"].select(col("*"), (A + 1).alias("k")),
         ["`a` INT NOT NULL", "`b` STRING", "`k` INT NOT NULL"]),
        (lambda t: t["v"].select(A.sum, A.count.alias("n"), lit(1).count),
         ["`EXPR$0` INT", "`n` BIGINT NOT NULL", "`EXPR$2` BIGINT NOT NULL"]),
        (lambda t: t["v"].select(A.sum + 1, A.count, A.sum),
         ["`_c0` INT", "`EXPR$1` BIGINT NOT NULL", "`EXPR$0` INT"]),
        (lambda t: t["v"].select(A.sum, A.sum.alias("q"), A.max),
         ["`EXPR$0` INT", "`q` INT", "`EXPR$1` INT"]),
        (lambda t: t["v"].select(A.alias("x").alias("y")), ["`y` INT NOT NULL"]),
        (lambda t: t["t"].select(with_columns(range_(1, 2)), with_columns(col("e"))),
         ["`a` INT NOT NULL", "`b` STRING", "`e` DATE"]),
        (lambda t: t["t"].select(without_columns(col("c"), col("d"))),
         ["`a` INT NOT NULL", "`b` STRING", "`e` DATE"]),
        (lambda t: t["v"].select(with_all_columns()), ["`a` INT NOT NULL", "`b` STRING"]),
        (lambda t: t["v"].select(concat(with_columns(B), "x", (A + 1).cast(DataTypes.STRING()))),
         ["`_c0` STRING"]),
        (lambda t: t["v"].filter(coalesce(without_columns(B), 1) == 1)
         .add_columns(coalesce(with_columns(range_(1, 1)), lit(5)).alias("n")),
         ["`a` INT NOT NULL", "`b` STRING", "`n` INT NOT NULL"]),
        (lambda t: t["v"].select(call("isNull", B), call("plus", B, B), call("charLength", B)),
         ["`_c0` BOOLEAN NOT NULL", "`_c1` STRING", "`_c2` INT"]),
        (lambda t: t["v"].group_by(B).select(call("sum0", A), call("ifThenElse", B == "x", 1, 2)),
         ["`EXPR$0` INT NOT NULL", "`_c1` INT NOT NULL"]),
        (lambda t: t["v"].select(row(A, B), array(A)),
         ["`_c0` ROW<`f0` INT NOT NULL, `f1` STRING> NOT NULL",
          "`_c1` ARRAY<INT NOT NULL> NOT NULL"]),
        (lambda t: t["v"].select(call_sql("ROW(a)"), call("row", row(A))),
         ["`_c0` ROW<`EXPR$0` INT NOT NULL> NOT NULL",
          "`_c1` ROW<`f0` ROW<`f0` INT NOT NULL> NOT NULL> NOT NULL"]),
        (lambda t: t["v"].select(row(A, B).alias("r")).select(col("r").get("f1")),
         ["`r$f1` STRING"]),
        (lambda t: t["v"].select(row(A.sum, A.count)),
         ["`_c0` ROW<`f0` INT, `f1` BIGINT NOT NULL> NOT NULL"]),
        (lambda t: t["v"].over_window(W).select(row(A.sum.over(col("w")))),
         ["`_c0` ROW<`f0` INT NOT NULL> NOT NULL"]),
        (lambda t: t["v"].select(row(A, B).cast(DataTypes.of("ROW<x BIGINT, y STRING>"))),
         ["`_c0` ROW<`x` BIGINT, `y` STRING> NOT NULL"]),
        # names
        (lambda t: t["v"].alias("x"), ["`x` INT NOT NULL", "`b` STRING"]),
        (lambda t: t["v"].alias("x", "y"), ["`x` INT NOT NULL", "`y` STRING"]),
        (lambda t: t["v"].add_columns(A + 1, B.upper_case.alias("B")),
         ["`a` INT NOT NULL", "`b` STRING", "`_c2` INT NOT NULL", "`B` STRING"]),
        (lambda t: t["v"].add_or_replace_columns((A + 1).alias("a"), lit("x").alias("n")),
         ["`a` INT NOT NULL", "`b` STRING", "`n` CHAR(1) NOT NULL"]),
        (lambda t: t["v"].add_or_replace_columns(B, A + 1),
         ["`a` INT NOT NULL", "`b` STRING", "`_c3` INT NOT NULL"]),
        (lambda t: t["v"].rename_columns(A.alias("x")), ["`x` INT NOT NULL", "`b` STRING"]),
        (lambda t: t["v"].rename_columns(A.alias("b"), B.alias("a")),
         ["`b` INT NOT NULL", "`a` STRING"]),
        (lambda t: t["v"].drop_columns(A), ["`b` STRING"]),
        (lambda t: t["v"].drop_columns(A, A), ["`b` STRING"]),
        (lambda t: t["t"].drop_columns(with_columns(range_("a", "c"))),
         ["`d` ARRAY<INT>", "`e` DATE"]),
        # rows and groups
        (lambda t: t["v"].filter(A > 1), ["`a` INT NOT NULL", "`b` STRING"]),
        (lambda t: t["v"].distinct(), ["`a` INT NOT NULL", "`b` STRING"]),
        (lambda t: t["v"].group_by(B).select(B, A.sum),
         ["`b` STRING", "`EXPR$0` INT NOT NULL"]),
        (lambda t: t["v"].group_by((A + 1).alias("k")).select(col("k"), A.sum.alias("s")),
         ["`k` INT NOT NULL", "`s` INT NOT NULL"]),
        (lambda t: t["v"].group_by().select(A.sum), ["`EXPR$0` INT"]),
        (lambda t: t["v"].group_by(B).select(col("*")), ["`b` STRING"]),
        (lambda t: t["v"].where(A > 1).select(A.alias("x")).where(col("x") < 10)
         .group_by(col("x")).select(col("x"), col("x").count.alias("n"))
         .order_by(col("n")).limit(3),
         ["`x` INT NOT NULL", "`n` BIGINT NOT NULL"]),
        # several tables
        (lambda t: t["v"].join(t["u"]),
         ["`a` INT NOT NULL", "`b` STRING", "`a2` BIGINT", "`b2` STRING", "`e` DOUBLE"]),
        (lambda t: t["v"].join(t["u"]).where(A == col("a2")),
         ["`a` INT NOT NULL", "`b` STRING", "`a2` BIGINT", "`b2` STRING", "`e` DOUBLE"]),
        (lambda t: t["v"].left_outer_join(t["u"], A == col("a2")),
         ["`a` INT NOT NULL", "`b` STRING", "`a2` BIGINT", "`b2` STRING", "`e` DOUBLE"]),
        (lambda t: t["v"].left_outer_join(t["u"]),
         ["`a` INT NOT NULL", "`b` STRING", "`a2` BIGINT", "`b2` STRING", "`e` DOUBLE"]),
        (lambda t: t["v"].right_outer_join(t["u"], A == col("a2")),
         ["`a` INT", "`b` STRING", "`a2` BIGINT", "`b2` STRING", "`e` DOUBLE"]),
        (lambda t: t["v"].full_outer_join(t["u"], A == col("a2")),
         ["`a` INT", "`b` STRING", "`a2` BIGINT", "`b2` STRING", "`e` DOUBLE"]),
        (lambda t: t["v"].alias("a1", "b1").join(t["v"], col("a1") == A).select(col("a1"), B),
         ["`a1` INT NOT NULL", "`b` STRING"]),
        (lambda t: t["v"].join_lateral(call("split", B).alias("word", "len")),
         ["`a` INT NOT NULL", "`b` STRING", "`word` STRING", "`len` INT"]),
        (lambda t: t["v"].left_outer_join_lateral(call("split", B).alias("word", "len")),
         ["`a` INT NOT NULL", "`b` STRING", "`word` STRING", "`len` INT"]),
        (lambda t: t["v"].union_all(t["w"]), ["`a` BIGINT", "`b` STRING"]),
        (lambda t: t["v"].union(t["n"]), ["`a` INT", "`b` STRING"]),
        (lambda t: t["v"].intersect(t["w"]), ["`a` BIGINT", "`b` STRING"]),
        (lambda t: t["v"].intersect_all(t["n"]), ["`a` INT", "`b` STRING"]),
        (lambda t: t["v"].minus(t["w"]), ["`a` BIGINT", "`b` STRING"]),
        (lambda t: t["v"].minus_all(t["n"]), ["`a` INT", "`b` STRING"]),
        # order
        (lambda t: t["v"].order_by(A.desc, B.asc), ["`a` INT NOT NULL", "`b` STRING"]),
        (lambda t: t["v"].order_by(A + 1), ["`a` INT NOT NULL", "`b` STRING"]),
        (lambda t: t["v"].order_by(A).offset(1).fetch(2), ["`a` INT NOT NULL", "`b` STRING"]),
        (lambda t: t["v"].limit(3).select(A).limit(1), ["`a` INT NOT NULL"]),
        (lambda t: t["v"].offset(1).order_by(A), ["`a` INT NOT NULL", "`b` STRING"]),
    ],
)  # fmt: skip
def test_columns_of(tables: dict[str, Table], use: Use, expected: list[str]) -> None:
    assert expected == columns(use(tables))


@pytest.mark.parametrize(
    ("use", "code"),
    [
        (lambda t: t["t"].select(A, A), "duplicate-column"),
        (lambda t: t["t"].select(A, B.alias("a")), "duplicate-column"),
        (lambda t: t["v"].select(A.cast(DataTypes.BIGINT()), A.cast(DataTypes.BIGINT())),
         "duplicate-column"),
        (lambda t: t["v"].select(A.sum, B), "invalid-grouping"),
        (lambda t: t["v"].select(), "missing-columns"),
        (lambda t: t["v"].select("a"), "invalid-argument"),
        (lambda t: t["v"].select(with_columns(range_("a", "q"))), "unknown-column"),
        (lambda t: t["v"].select(with_columns(range_(1, 9))), "unknown-column"),
        (lambda t: t["v"].select(coalesce(with_columns(range_("a", "q")))), "unknown-column"),
        (lambda t: t["v"].alias("x", "y", "z"), "column-count-mismatch"),
        (lambda t: t["v"].alias("x", "x"), "duplicate-column"),
        (lambda t: t["v"].filter(A + 1), "type-mismatch"),
        (lambda t: t["v"].filter(col("zz") > 1), "unknown-column"),
        (lambda t: t["v"].filter("a > 1"), "invalid-argument"),
        (lambda t: t["v"].select(call("charLength", A, B)), "function-not-found"),
        (lambda t: t["v"].select(call_sql("charLength(b)")), "function-not-found"),
        (lambda t: t["v"].group_by(B).select(A), "invalid-grouping"),
        (lambda t: t["v"].add_columns((A + 1).alias("b")), "duplicate-column"),
        (lambda t: t["v"].rename_columns(col("z").alias("x")), "unknown-column"),
        (lambda t: t["v"].rename_columns((A + 1).alias("x")), "invalid-argument"),
        (lambda t: t["v"].rename_columns(A), "invalid-argument"),
        (lambda t: t["v"].rename_columns(A.alias("b")), "duplicate-column"),
        (lambda t: t["v"].drop_columns(col("z")), "unknown-column"),
        (lambda t: t["v"].drop_columns(A, B), "missing-columns"),
        (lambda t: t["v"].join(t["u1"]), "ambiguous-column"),
        (lambda t: t["v"].join(t["v"]), "ambiguous-column"),
        (lambda t: t["v"].join("u"), "invalid-argument"),
        (lambda t: t["v"].union(t["z"]), "type-mismatch"),
        (lambda t: t["v"].union(t["u"]), "column-count-mismatch"),
        (lambda t: t["v"].order_by(col("zz")), "unknown-column"),
        (lambda t: t["v"].order_by(A).fetch(1).offset(2), "invalid-query"),
        (lambda t: t["v"].order_by(A).fetch(1).fetch(2), "invalid-query"),
        (lambda t: t["v"].order_by(A).offset(1).offset(2), "invalid-query"),
        (lambda t: t["v"].limit(-1), "invalid-query"),
        (lambda t: t["v"].offset(-1), "invalid-query"),
        (lambda t: t["v"].offset("x"), "invalid-query"),
    ],
)  # fmt: skip
def test_refused_calls(tables: dict[str, Table], use: Use, code: str) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        use(tables)

    assert code == caught.value.code


def test_a_table_is_printed_as_equivalent_sql(tables: dict[str, Table]) -> None:
    made = (
        tables["v"]
        .where(A > 1)
        .where(B == "x")
        .group_by(B)
        .select(B, A.max.alias("m"))
        .order_by(col("m").desc)
        .limit(3, 1)
    )
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    environment.execute_sql("CREATE TABLE v (a INT NOT NULL, b STRING)")

    again = environment.sql_query(made.as_sql())

    assert columns(made) == columns(again)
    assert made.as_sql() == again.of_query(made.query).as_sql()


def test_order_by_sorts_null_as_the_highest_value(tables: dict[str, Table]) -> None:
    """As in Flink's Table API; in SQL it is the lowest value."""
    table = next(iter(tables.values()))
    first = col(table.column_names()[0])

    keys = table.order_by(first, first.asc, first.desc).as_sql().partition("ORDER BY")[2]

    nulls = [part.split()[-2:] for part in keys.split(",")]
    assert [["NULLS", "LAST"], ["NULLS", "LAST"], ["NULLS", "FIRST"]] == nulls


def test_a_query_keeps_its_meaning_when_the_session_changes() -> None:
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    environment.execute_sql("CREATE TABLE v (a INT NOT NULL, b STRING)")
    used, result = (environment.sql_query("SELECT * FROM v") for _ in range(2))
    expected = used.as_sql()

    environment.execute_sql("ALTER TABLE v ADD c INT")
    environment.execute_sql("CREATE DATABASE other")
    environment.execute_sql("USE other")
    environment.execute_sql("CREATE TABLE v (x INT)")

    assert expected == result.as_sql()
    assert ["`b` STRING"] == columns(result.select(B))


def test_in_takes_a_table_of_one_column(tables: dict[str, Table]) -> None:
    result = tables["v"].where(A.in_(tables["u"].select(col("a2"))) & B.in_("x", "y"))
    assert columns(result) == ["`a` INT NOT NULL", "`b` STRING"]
    assert "`v`.`a` IN (SELECT `u`.`a2`\n" in result.as_sql()
    with pytest.raises(SchemaCoreError) as caught:
        A.in_(tables["u"], 1)
    assert "invalid-argument" == caught.value.code


def test_a_column_of_a_table_is_an_attribute(tables: dict[str, Table]) -> None:
    assert ["`a` INT NOT NULL"] == columns(tables["v"].select(tables["v"].a))
    with pytest.raises(AttributeError) as caught:
        _ = tables["v"].aa
    assert "did you mean 'a'?" in str(caught.value)


def test_long_method_chains_succeed_or_are_refused(tables: dict[str, Table]) -> None:
    filtered = tables["v"]
    for number in range(100):
        filtered = filtered.where(A > number)
    assert ["`a` INT NOT NULL", "`b` STRING"] == columns(filtered)

    added = tables["v"]
    for number in range(100):
        added = added.add_columns((A + number).alias(f"c{number}"))
    assert 102 == len(columns(added))

    with pytest.raises(SchemaCoreError) as caught:
        deep(tables["v"])
    assert "limit-exceeded" == caught.value.code


def deep(table: Table) -> Table:
    """Return a table derived by very many method calls."""
    return table.of_query(
        reduce(lambda query, _: Ordered(block(Ordered(query))), range(200), table.query)
    )


def test_a_table_of_a_descriptor_can_be_queried(tables: dict[str, Table]) -> None:
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    schema = Schema.new_builder().column("a", "INT").build()
    table = environment.from_descriptor(TableDescriptor.for_connector("x").schema(schema).build())

    assert ["`a` INT"] == columns(table.where(A > 1))
    with pytest.raises(SchemaCoreError) as caught:
        table.where(A > 1).as_sql()
    assert "not-in-sql" == caught.value.code


#: Uses of a table of another environment, where its query would find other tables.
FOREIGN: dict[str, Callable[[TableEnvironment, Table, Table], object]] = {
    "union": lambda env, own, other: own.union_all(other),
    "join": lambda env, own, other: own.join(other),
    "view": lambda env, own, other: env.create_temporary_view("copy", other),
    "create": lambda env, own, other: env.create_table("made", {"connector": "blackhole"}, other),
    "insert": lambda env, own, other: env.create_statement_set().add_insert("w", other),
    "add": lambda env, own, other: env.create_statement_set().add(other.insert_into("w")),
    "save": lambda env, own, other: env.create_statement_set().add(other.save_as("x").create()),
}


@pytest.mark.parametrize("use", FOREIGN)
def test_a_table_belongs_to_its_environment(use: str) -> None:
    first, second = (TableEnvironment.create(EnvironmentSettings.in_batch_mode()) for _ in range(2))
    for side in (first, second):
        side.execute_sql("CREATE TABLE w (a BIGINT, b STRING)")
    with pytest.raises(SchemaCoreError, match="belongs to another environment") as caught:
        FOREIGN[use](first, first.from_path("w"), second.from_path("w"))

    assert "invalid-argument" == caught.value.code
    assert ["w"] == first.list_tables()
