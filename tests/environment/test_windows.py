"""Windows, functions of rows and `flatten` of the Table API: schemas as PyFlink 2.3 has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from schema_core import DataTypes, EnvironmentSettings, Row, Table, TableEnvironment
from schema_core.errors import SchemaCoreError, SchemaError
from schema_core.expressions import (
    CURRENT_RANGE,
    UNBOUNDED_RANGE,
    UNBOUNDED_ROW,
    Expression,
    call,
    col,
    lag,
    lead,
    lit,
    row,
    row_interval,
)
from schema_core.pyflink.table.udf import AggregateFunction, udaf, udf, udtf
from schema_core.pyflink.table.window import Over, Session, Slide, Tumble

INT, STRING = DataTypes.INT(), DataTypes.STRING()
PAIR = DataTypes.ROW([DataTypes.FIELD("p", INT), DataTypes.FIELD("q", STRING)])

MINUTE = Tumble.over(lit(1).minutes).on(col("ts")).alias("w")
HOUR = Slide.over(lit(1).hours).every(lit(10).minutes).on(col("ts")).alias("w")
ROWS = Tumble.over(row_interval(2)).on(col("ts")).alias("w")
LAST = Over.partition_by(col("k")).order_by(col("ts"))

pair = udf(lambda x: Row(x, "a"), [INT], result_type=PAIR)
same = udf(lambda x: x, [INT], result_type=INT)
pairs = udtf(lambda x: [(x, "a")], [INT], result_types=[INT, STRING])
each = udtf(lambda x: [x], [INT], result_types=INT)


class Both(AggregateFunction[Row, list[int]]):
    def create_accumulator(self) -> list[int]:
        return []

    def accumulate(self, accumulator: list[int], *arguments: Any, **_: Any) -> None:
        accumulator += arguments

    def get_value(self, accumulator: list[int]) -> Row:
        return Row(len(accumulator), "b")


both = udaf(Both(), [INT], PAIR)


@pytest.fixture
def table() -> Table:
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    environment.execute_sql(
        "CREATE TABLE t (id INT, ts TIMESTAMP(3), k STRING, r ROW<x INT, y ROW<z STRING>>)"
    )
    return environment.from_path("t")


@pytest.mark.parametrize(
    ("build", "names"),
    [
        (
            lambda t: (
                t.window(MINUTE)
                .group_by(col("w"), col("k"))
                .select(col("w").start, col("w").end, col("k"), col("id").sum)
            ),
            "EXPR$0 EXPR$1 k EXPR$2",
        ),
        (
            lambda t: (
                t.window(HOUR)
                .group_by(col("k"), col("w"))
                .select(col("id").sum + 1, col("w").end, col("w").end.cast(STRING))
            ),
            "_c0 EXPR$1 EXPR$1-STRING",
        ),
        (
            lambda t: (
                t.window(MINUTE)
                .group_by(col("w"), (col("id") + 1).alias("g"))
                .select(col("g"), col("w").start)
            ),
            "g EXPR$0",
        ),
        (
            lambda t: (
                t.window(MINUTE)
                .group_by(col("w"))
                .aggregate(both(col("id")).alias("a", "b"))
                .select(col("a"), col("w").start)
            ),
            "a EXPR$0",
        ),
        (
            lambda t: t.over_window(LAST.alias("w")).select(
                lead(col("id"), 2).over(col("w")), lag(col("id")).over(col("w")).alias("l")
            ),
            "_c0 l",
        ),
        (lambda t: t.map(pair(col("id"))), "p q"),
        (lambda t: t.map(same(col("id"))), "f0"),
        (lambda t: t.flat_map(pairs(col("id"))), "f0 f1"),
        (lambda t: t.flat_map(each(col("id"))), "f0"),
        (lambda t: t.aggregate(both(col("id")).alias("a", "b")).select(col("b")), "b"),
        (
            lambda t: t.group_by(col("k")).aggregate(both(col("id"))).select(col("*")),
            "k TMP_0$p TMP_0$q",
        ),
        (
            lambda t: (
                t.group_by(col("k")).aggregate(col("id").sum.alias("s")).select(col("s"), col("k"))
            ),
            "s k",
        ),
        (lambda t: t.select(pair(col("id")).flatten), "_c0 _c1"),
        (
            lambda t: t.select(col("id"), pair(col("id")).flatten, same(col("id")).flatten),
            "id _c1 _c2 _c3",
        ),
        (
            lambda t: t.select(col("r").flatten, col("r").get("y").flatten, row(1, 2).flatten),
            "r$x r$y r$y$z _c3 _c4",
        ),
        (
            lambda t: t.group_by(col("k")).select(col("r").first_value.flatten),
            "EXPR$0$x EXPR$0$y",
        ),
        (lambda t: t.add_columns(col("r").flatten), "id ts k r r$x r$y"),
        (lambda t: t.select(both(col("id"))), "EXPR$0"),
        (
            lambda t: t.select(col("id").sum.cast(STRING), col("id").max.cast(INT)),
            "EXPR$0-STRING EXPR$1-INT",
        ),
        (lambda t: t.join_lateral(pairs(col("id")).alias("a", "b")), "id ts k r a b"),
    ],
)
def test_names_of_columns(table: Table, build: Callable[[Table], Table], names: str) -> None:
    assert names.split() == build(table).column_names()


@pytest.mark.parametrize(
    ("bounds", "frame"),
    [
        (LAST, ""),
        (LAST.preceding(row_interval(2)), " ROWS BETWEEN 2 PRECEDING AND CURRENT ROW"),
        (
            LAST.preceding(row_interval(2)).following(row_interval(1)),
            " ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING",
        ),
        (
            LAST.preceding(lit(2).minutes).following(CURRENT_RANGE),
            " RANGE BETWEEN INTERVAL '2' MINUTE PRECEDING AND CURRENT ROW",
        ),
        (
            LAST.preceding(UNBOUNDED_ROW).following(UNBOUNDED_ROW),
            " ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
        ),
    ],
)
def test_frames(table: Table, bounds: Any, frame: str) -> None:
    result = table.over_window(bounds.alias("w")).select(col("id").sum.over(col("w")))

    assert f"(PARTITION BY `t`.`k` ORDER BY `t`.`ts`{frame})" in result.as_sql()


@pytest.mark.parametrize(
    ("build", "code"),
    [
        (lambda t: t.window(MINUTE).group_by(col("k")), "invalid-grouping"),
        (lambda t: t.window(MINUTE).group_by(col("w"), col("w")), "invalid-grouping"),
        (
            lambda t: t.window(MINUTE).group_by(col("w")).select(col("v").start),
            "unknown-column",
        ),
        (lambda t: t.window(MINUTE).group_by(col("w")).select(col("w")), "unknown-column"),
        (lambda t: t.window(MINUTE).group_by(col("w")).select(col("id")), "invalid-grouping"),
        (lambda t: t.window(Tumble.over(lit(1).minutes)), "invalid-argument"),
        (lambda t: t.window(ROWS).group_by(col("w")), "streaming-not-supported"),
        (lambda _: Tumble.over(row_interval(0)).on(col("p")).alias("w"), "invalid-argument"),
        (lambda _: Session.with_gap(row_interval(2)).on(col("p")).alias("w"), "invalid-argument"),
        (
            lambda _: Slide.over(row_interval(2)).every(lit(1).minutes).on(col("p")).alias("w"),
            "invalid-argument",
        ),
        (
            lambda _: Slide.over(row_interval(9999)).every(row_interval(1)).on(col("p")).alias("w"),
            "invalid-argument",
        ),
        (lambda t: t.select(col("w").start), "invalid-argument"),
        (lambda t: t.select(row_interval(1)), "invalid-argument"),
        (lambda t: t.select(col("r").flatten + 1), "invalid-argument"),
        (lambda t: t.select(col("r").flatten.alias("a", "b")), "invalid-argument"),
        (lambda t: t.over_window(), "invalid-argument"),
        (lambda t: t.over_window(LAST), "invalid-argument"),
        (lambda t: t.over_window(LAST.alias("w"), LAST.alias("w")), "invalid-argument"),
        (
            lambda t: LAST.preceding(UNBOUNDED_RANGE).following(row_interval(1)),
            "invalid-argument",
        ),
        (
            lambda t: t.over_window(LAST.preceding(row_interval(1)).alias("w")).select(
                lag(col("id")).over(col("w"))
            ),
            "invalid-window",
        ),
        (lambda t: t.select(col("id").sum.over(col("w"))), "invalid-window"),
        (lambda t: t.map(pairs(col("id"))), "invalid-argument"),
        (lambda t: t.map(same(col("id")).alias("a")), "invalid-argument"),
        (lambda t: t.map(col("id").sum), "invalid-argument"),
        (lambda t: t.map(col("id")), "invalid-argument"),
        (lambda t: t.map(call("nothing")), "function-not-found"),
        (lambda t: t.flat_map(same(col("id"))), "invalid-argument"),
        (lambda t: t.aggregate(same(col("id"))), "invalid-argument"),
        (lambda t: t.aggregate(both(col("id")).alias("a")).select(), "column-count-mismatch"),
        (lambda t: t.aggregate(both(col("id"))).select(col("p")), "unknown-column"),
    ],
)
def test_wrong_calls_raise(table: Table, build: Callable[[Table], object], code: str) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        build(table)

    assert code == caught.value.code


def test_a_session_is_a_window_that_ends_with_a_gap(table: Table) -> None:
    gap = Session.with_gap(lit(5).minutes).on(col("ts")).alias("w")
    result = table.window(gap).group_by(col("w")).select(col("w").start, col("id").count)

    assert "GROUP BY SESSION(`t`.`ts`, INTERVAL '5' MINUTE)" in result.as_sql()


def test_a_name_of_a_window_is_a_string(table: Table) -> None:
    name: Any = col("w")
    with pytest.raises(SchemaError):
        LAST.alias(name)
    assert isinstance(CURRENT_RANGE, Expression)
