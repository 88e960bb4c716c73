"""Table functions, aggregates and functions of series in Python, in jobs on Spark."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from schema_core import DataTypes, Row, Table, TableEnvironment
from schema_core.errors import SchemaCoreError
from schema_core.expressions import call, col, lit
from schema_core.pyflink.table.data_view import ListView, MapView
from schema_core.pyflink.table.udf import (
    AggregateFunction,
    FunctionContext,
    ScalarFunction,
    TableAggregateFunction,
    TableFunction,
    udaf,
    udf,
    udtaf,
    udtf,
)

pytestmark = pytest.mark.spark

STRING, BIGINT, INT = DataTypes.STRING(), DataTypes.BIGINT(), DataTypes.INT()


@pytest.fixture
def words(environment: TableEnvironment) -> Table:
    lines = [(1, "to be or not", Decimal("1.50")), (2, "to be", Decimal("2.25")), (3, None, None)]
    types = [INT, STRING, DataTypes.DECIMAL(5, 2)]
    names = ("id", "line", "cost")
    fields = [DataTypes.FIELD(name, type_) for name, type_ in zip(names, types, strict=True)]
    return environment.from_elements(lines, DataTypes.ROW(fields))


def rows(table: Table) -> list[tuple[Any, ...]]:
    with table.execute().collect() as result:
        return sorted((tuple(item) for item in result), key=repr)


@udtf(result_types=[STRING, INT])
def split(line):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    for word in (line or "").split():
        yield word, len(word)


class Repeat(TableFunction):
    def eval(self, *arguments: Any, **_: Any) -> Iterator[int]:
        number, times = arguments
        for _time in range(times):
            yield number


class Median(AggregateFunction[float | None, ListView[int]]):
    """With a list in its accumulator, a type of its own, and a parameter of the job."""

    def open(self, function_context: FunctionContext) -> None:
        self.start = int(function_context.get_job_parameter("start", "0"))

    def create_accumulator(self) -> ListView[int]:
        return ListView()

    def accumulate(self, accumulator: ListView[int], *arguments: Any, **_: Any) -> None:
        (number,) = arguments
        if number is not None:
            accumulator.add(number + self.start)

    def get_value(self, accumulator: ListView[int]) -> float | None:
        ordered = sorted(accumulator)
        return float(ordered[len(ordered) // 2]) if ordered else None

    def get_result_type(self) -> Any:
        return "DOUBLE"


class TopWords(TableAggregateFunction[Row, MapView[str, int]]):
    def create_accumulator(self) -> MapView[str, int]:
        return MapView()

    def accumulate(self, accumulator: MapView[str, int], *arguments: Any, **_: Any) -> None:
        (word,) = arguments
        accumulator.put(word, (accumulator.get(word) or 0) + 1)

    def emit_value(self, accumulator: MapView[str, int]) -> Iterator[Row]:
        for word, count in sorted(accumulator.items(), key=lambda item: (-item[1], item[0]))[:2]:
            yield Row(word, count)


top = udtaf(
    TopWords(),
    result_type=DataTypes.ROW([DataTypes.FIELD("word", STRING), DataTypes.FIELD("n", BIGINT)]),
    accumulator_type=DataTypes.MAP(STRING, BIGINT),
)


def test_table_functions(environment: TableEnvironment, words: Table) -> None:
    joined = words.join_lateral(split(col("line")).alias("word", "length"))
    assert rows(joined.select(col("id"), col("word"), col("length"))) == [
        (1, "be", 2), (1, "not", 3), (1, "or", 2), (1, "to", 2), (2, "be", 2), (2, "to", 2),
    ]  # fmt: skip
    outer = words.left_outer_join_lateral(split(col("line")).alias("word", "length"))
    assert (3, None) in rows(outer.select(col("id"), col("word")))
    assert rows(words.flat_map(split(col("line"))).select(col("f1").sum)) == [(13,)]

    environment.create_temporary_view("words", words)
    environment.create_temporary_function("repeat_it", udtf(Repeat(), result_types=INT))
    query = "SELECT id, n FROM words, LATERAL TABLE(repeat_it(id, id - 1)) AS r (n) WHERE id < 4"
    assert rows(environment.sql_query(query)) == [(2, 2), (3, 3), (3, 3)]
    twice = words.join_lateral(call("repeat_it", col("id"), 2).alias("n"))
    assert rows(twice.select(col("n"))) == [
        (1,), (1,), (2,), (2,), (3,), (3,),
    ]  # fmt: skip


def test_aggregates(environment: TableEnvironment, words: Table) -> None:
    environment.get_config().set("pipeline.global-job-parameters", "start:100")
    median = udaf(Median())
    result = words.group_by(col("line").is_null).select(median(col("id")), col("id").count)
    assert rows(result) == [(102.0, 2), (103.0, 1)]
    assert rows(words.where(col("id") > 5).select(median(col("id")))) == [(None,)]

    environment.create_temporary_function("median_of", median)
    environment.create_temporary_view("w", words)
    sql = (
        "SELECT median_of(id) FILTER (WHERE id > 1), median_of(DISTINCT id / id), COUNT(*) FROM w"
        " HAVING median_of(id) = 102"
    )
    assert rows(environment.sql_query(sql)) == [(103.0, 101.0, 3)]
    over = "SELECT id, median_of(id) OVER (ORDER BY id ROWS 1 PRECEDING) FROM w"
    assert rows(environment.sql_query(over)) == [(1, 101.0), (2, 102.0), (3, 103.0)]


def test_table_aggregates(words: Table) -> None:
    each = words.flat_map(split(col("line"))).alias("word", "length")
    result = each.group_by(col("length")).flat_aggregate(top(col("word")))
    assert rows(result.select(col("*"))) == [(2, "be", 2), (2, "to", 2), (3, "not", 1)]
    named = each.flat_aggregate(top(col("word")).alias("w", "times"))
    assert rows(named.select(col("times"), col("w"))) == [(2, "be"), (2, "to")]


def test_functions_without_types_of_arguments(environment: TableEnvironment, words: Table) -> None:
    class Add:
        def __call__(self, a: int, b: int = 10) -> int:
            return a + b

    class Describe(ScalarFunction):
        def eval(self, *arguments: Any, **_: Any) -> str:
            return ",".join(type(argument).__name__ for argument in arguments)

    plus = udf(lambda i: i + 1, result_type=DataTypes.BIGINT())
    add = udf(Add(), result_type=BIGINT)
    cut = udf(partial(lambda size, text: text and text[:size], 2), result_type=STRING)
    describe = udf(Describe(), result_type="STRING")
    up = udf(lambda text: text.upper() if text else "-", result_type=STRING)
    result = words.select(
        plus(col("id")), add(col("id")), add(col("id"), 1), cut(col("line")), up(col("line"))
    )
    assert rows(result) == [
        (2, 11, 2, "to", "TO BE OR NOT"), (3, 12, 3, "to", "TO BE"), (4, 13, 4, None, "-"),
    ]  # fmt: skip
    kinds = words.select(describe(col("id"), col("cost"), lit("x"), lit(dt.date(2024, 1, 1))))
    assert rows(kinds.where(col("_c0").like("int,Dec%"))) == 2 * [("int,Decimal,str,date",)]
    assert rows(words.map(lambda_of_row)) == [("1:to be or not",), ("2:to be",), ("3:None",)]

    environment.create_temporary_function("plus", plus)
    assert rows(environment.sql_query("SELECT plus(CAST(1 AS TINYINT)), plus(2)")) == [(2, 3)]


lambda_of_row = udf(lambda row: f"{row.id}:{row[1]}", result_type=STRING)


def test_functions_of_whole_rows(words: Table) -> None:
    """They receive `Row` objects, or pandas DataFrames, and their aliases name columns."""
    pd = pytest.importorskip("pandas")

    @udtf(result_types=[INT, STRING])
    def parts(row: Row) -> Iterator[tuple[int, str]]:
        for word in (row.line or "").split()[:2]:
            yield row.as_dict()["id"], word

    class First(TableAggregateFunction[Row, list[Row]]):
        def create_accumulator(self) -> list[Any]:
            return []

        def accumulate(self, accumulator: list[Any], *arguments: Any, **_: Any) -> None:
            accumulator += arguments

        def emit_value(self, accumulator: list[Any]) -> Iterator[Row]:
            yield max(accumulator, key=lambda row: row.id)

        def get_result_type(self) -> str:
            return "ROW<id INT, line STRING, cost DECIMAL(5, 2)>"

    def doubled(numbers):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        return numbers * 2

    doubled.__annotations__ = {"numbers": pd.Series, "return": pd.Series}
    double = udf(doubled, result_type=INT, func_type="pandas")
    assert rows(words.select(double(col("id")))) == [(2,), (4,), (6,)]
    lateral = words.join_lateral(parts.alias("key", "word")).select(col("key"), col("word"))
    expected = [(1, "be"), (1, "to"), (2, "be"), (2, "to")]
    assert rows(lateral) == rows(words.flat_map(parts)) == expected
    outer = words.left_outer_join_lateral(parts.alias("key", "word"))
    assert rows(outer.where(col("word").is_null).select(col("id"))) == [(3,)]
    extremes = udaf(
        lambda frame: (frame.id.mean(), frame.line.count()),
        result_type="ROW<a DOUBLE, b BIGINT>",
        func_type="pandas",
    )
    result = words.aggregate(extremes.alias("mean", "count"))
    assert rows(result.select(col("count"), col("mean"))) == [(2, 2.0)]
    last = words.flat_aggregate(udtaf(First()).alias("x", "y", "z"))
    assert rows(last.select(col("x"), col("z"))) == [(3, None)]


def test_functions_of_series(environment: TableEnvironment, words: Table) -> None:
    pd = pytest.importorskip("pandas")
    double = udf(lambda s: s * 2, result_type=BIGINT, func_type="pandas")
    longest = udaf(lambda s: s.fillna("").str.len().max(), result_type=BIGINT, func_type="pandas")

    class Check(ScalarFunction):
        def eval(self, *arguments: Any, **_: Any) -> Any:
            assert all(isinstance(argument, pd.Series) for argument in arguments)
            return arguments[0].astype(str) + arguments[1].fillna("?")

    check = udf(Check(), result_type=STRING, func_type="pandas")
    result = words.select(double(col("id")), check(col("id"), col("line")))
    assert rows(result) == [(2, "1to be or not"), (4, "2to be"), (6, "3?")]
    assert rows(words.select(longest(col("line")))) == [(12,)]


def test_aggregates_of_series_get_the_types_of_columns(environment: TableEnvironment) -> None:
    """FLOAT is `float32`, so that the mean has the digits of Flink's."""
    pytest.importorskip("pandas")
    prices = environment.from_elements(
        [(30.2, 1, [1]), (53.1, 2, [2]), (3.1, 3, None)], "ROW<f FLOAT, i SMALLINT, l ARRAY<INT>>"
    )
    mean = udaf(lambda s: s.mean(), result_type="FLOAT", func_type="pandas")
    types = udaf(
        lambda *series: [str(s.dtype) for s in series] + [type(series[2][0]).__name__],
        result_type="ARRAY<STRING>",
        func_type="pandas",
    )
    result = prices.select(mean(col("f")), types(col("f"), col("i"), col("l")))
    assert rows(result) == [(28.800001, ["float32", "int16", "object", "ndarray"])]


def test_aggregates_of_series_get_instants_of_the_session(environment: TableEnvironment) -> None:
    """Of the two hours between 2 and 3 of that day, the first is meant; NULL is kept."""
    pytest.importorskip("pandas")
    environment.get_config().set("table.local-time-zone", "Europe/Berlin")
    shown = udaf(lambda s: f"{s.dt.tz} {s.max()}", result_type=STRING, func_type="pandas")
    environment.create_temporary_function("shown", shown)
    query = "SELECT shown(t), shown(n) FROM (VALUES (TO_TIMESTAMP_LTZ({}, 0), {})) AS x (t, n)"
    null = "CAST(NULL AS TIMESTAMP_LTZ(3))"
    assert rows(environment.sql_query(query.format(1792886400, null))) == [
        (
            "Europe/Berlin 2026-10-25 02:00:00+02:00",
            "Europe/Berlin NaT",
        )
    ]


@pytest.mark.parametrize(
    ("build", "code"),
    [
        (lambda t: t.select(split(col("line"))), "not-executable"),
        (lambda t: t.select(top(col("line"))), "not-executable"),
        (lambda t: t.flat_aggregate(udaf(Median())(col("id"))), "invalid-argument"),
        (lambda t: t.select(udf(lambda a: a, result_type=INT)(1, 2)), "invalid-function-call"),
        (lambda t: t.select(udf(len, result_type=INT)(col("id"))), "job-failed"),
        (
            lambda t: t.select(
                udf(lambda s: s, result_type="TIMESTAMP_LTZ(3)", func_type="pandas")(col("id"))
            ),
            "job-failed",
        ),
        (
            lambda t: t.select(
                udf(lambda s: s, result_type="VARCHAR(2)", func_type="pandas")(col("line"))
            ),
            "job-failed",
        ),
        (lambda t: udf(len, result_type=INT, func_type="arrow"), "invalid-argument"),
        (lambda t: t.flat_map(split.alias("word", "length")), "invalid-argument"),
    ],
)
def test_what_is_refused(words: Table, build: Any, code: str) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        rows(build(words))

    assert code == caught.value.code


def test_counter_is_an_accumulator(words: Table) -> None:
    """Any object is: it never leaves the worker."""

    class Count(AggregateFunction[str, Counter[str]]):
        def create_accumulator(self) -> Counter[str]:
            return Counter()

        def accumulate(self, accumulator: Counter[str], *arguments: Any, **_: Any) -> None:
            accumulator.update((arguments[0] or "").split())

        def get_value(self, accumulator: Counter[str]) -> str:
            return ",".join(f"{word}{count}" for word, count in sorted(accumulator.items()))

    assert rows(words.select(udaf(Count(), result_type=STRING)(col("line")))) == [
        ("be2,not1,or1,to2",)
    ]
