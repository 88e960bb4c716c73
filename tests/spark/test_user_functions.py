"""Python functions in jobs on Spark."""

from __future__ import annotations

import datetime as dt
import time
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from schema_core.errors import ExternalError
from schema_core.expressions import col
from schema_core.expressions.data_views import MapView
from schema_core.expressions.user_functions import AggregateFunction, ScalarFunction, udaf, udf
from schema_core.types import DataTypes, Row, parse_type

if TYPE_CHECKING:
    from schema_core.environment.table_environment import TableEnvironment


def rows(environment: TableEnvironment, query: str) -> list[tuple[object, ...]]:
    return [tuple(row) for row in environment.execute_sql(query).collect()]


def test_a_class_is_called_row_by_row(environment: TableEnvironment) -> None:
    class Repeat(ScalarFunction):
        def open(self, function_context: object) -> None:
            self.mark = "!"

        def eval(self, text: str | None, times: int) -> str | None:
            return None if text is None else text * times + self.mark

    environment.create_temporary_function("repeat_it", Repeat)
    query = (
        "SELECT repeat_it(a, 2), UPPER(repeat_it(a, 1)), SPLIT(repeat_it(a, 1), '') "
        "FROM (VALUES ('x'), (CAST(NULL AS STRING))) AS t(a)"
    )

    assert [("xx!", "X!", ["x", "!"]), (None, None, None)] == rows(environment, query)


def test_instants_are_local_datetimes_of_the_session_time_zone(
    environment: TableEnvironment,
) -> None:
    environment.execute_sql("SET 'table.local-time-zone' = 'America/New_York'")
    hour = udf(lambda at: at.hour, ["TIMESTAMP_LTZ(3)"], "INT")
    later = udf(lambda at: at + dt.timedelta(hours=1), ["TIMESTAMP_LTZ(3)"], "TIMESTAMP_LTZ(3)")
    environment.create_temporary_function("hour_of", hour)
    environment.create_temporary_function("later", later)
    epoch = "TO_TIMESTAMP_LTZ(0, 3)"
    query = f"SELECT hour_of({epoch}), CAST(later({epoch}) AS STRING)"

    assert [(19, "1969-12-31 20:00:00.000")] == rows(environment, query)


def test_an_error_of_a_function_fails_the_job(environment: TableEnvironment) -> None:
    environment.create_temporary_function("bad", udf(lambda a: 1 // a, ["BIGINT"], "BIGINT"))

    with pytest.raises(ExternalError, match="division"):
        rows(environment, "SELECT bad(CAST(0 AS BIGINT))")


DATETIME = dt.datetime.fromisoformat("2020-02-29 01:00:00.000001")

#: Result type, what the function returns, and the value in the row.
RESULTS = [
    ("BOOLEAN", True, True),
    ("TINYINT", -128, -128),
    ("INT", 2**31 - 1, 2**31 - 1),
    ("BIGINT", 2**62, 2**62),
    ("FLOAT", 1, 1.0),
    ("DOUBLE", 1, 1.0),
    ("DECIMAL(5, 2)", 3, Decimal("3.00")),
    ("DECIMAL(5, 2)", Decimal("1.556"), Decimal("1.56")),
    ("DECIMAL(38, 18)", Decimal("1.5"), Decimal("1.500000000000000000")),
    ("CHAR(3)", "äöü", "äöü"),
    ("STRING", "a\0'${x}", "a\0'${x}"),
    ("BYTES", bytearray(b"a\0"), b"a\0"),
    ("DATE", DATETIME.replace(hour=0, microsecond=0), dt.date(2020, 2, 29)),
    ("TIME(3)", dt.time(1, 2, 3, 4000), dt.time(1, 2, 3, 4000)),
    ("TIMESTAMP(6)", DATETIME, DATETIME),
    (
        "TIMESTAMP_LTZ(3)",
        dt.datetime(2020, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=2))),
        dt.datetime(2019, 12, 31, 22, tzinfo=dt.UTC),
    ),
    ("ARRAY<DOUBLE>", (1, None), [1.0, None]),
    ("MAP<STRING, DECIMAL(3, 1)>", {"a": 1}, {"a": Decimal("1.0")}),
    ("ROW<x INT, y ROW<z DOUBLE>>", {"y": {"z": 2}, "x": 1}, Row(1, Row(2.0))),
]


def test_results_are_converted_without_loss(environment: TableEnvironment) -> None:
    calls = []
    for index, (type_, value, _) in enumerate(RESULTS):
        function = udf(lambda _, value=value: value, ["INT"], type_)
        environment.create_temporary_function(f"result_{index}", function)
        environment.create_temporary_function(f"none_{index}", udf(lambda _: None, ["INT"], type_))
        calls += [f"result_{index}(1)", f"none_{index}(1)"]

    (row,) = rows(environment, f"SELECT {', '.join(calls)}")

    expected = [item for _, _, value in RESULTS for item in (value, None)]
    assert expected == list(row)
    assert [type(item) for item in expected] == [type(cell) for cell in row]


@pytest.mark.parametrize(
    ("type_", "value", "problem"),
    [
        ("INT", 2**40, "1099511627776 is outside -2147483648..2147483647"),
        ("BOOLEAN", 1, "BOOLEAN requires bool, got int"),
        ("DOUBLE", "1", "DOUBLE requires float, got str"),
        ("DECIMAL(5, 2)", 1.5, "DECIMAL(5, 2) requires Decimal, got float"),
        ("INT NOT NULL", None, "INT NOT NULL does not accept None"),
        ("ROW<x ARRAY<TINYINT>>", ([1, 200],), "field 'x', element 1: 200 is outside -128..127"),
    ],
)
def test_a_result_of_another_type_fails_the_job(
    environment: TableEnvironment, type_: str, value: object, problem: str
) -> None:
    environment.create_temporary_function("wrong", udf(lambda _: value, ["INT"], type_))

    with pytest.raises(ExternalError) as caught:
        rows(environment, "SELECT wrong(a) FROM (VALUES (1), (2)) AS t(a)")

    assert "job-failed" == caught.value.code
    name = "`default_catalog`.`default_database`.`wrong`"
    shown = parse_type(type_).as_summary_string()
    assert caught.value.problem.replace(name, "wrong") == (
        f"the job failed: function wrong returned {value!r}, but its result type is {shown}:"
        f" {problem}"
    )


def test_a_python_function_within_other_functions(environment: TableEnvironment) -> None:
    environment.create_temporary_function("half", udf(lambda a: a / 2, ["INT"], "DOUBLE"))
    query = (
        "SELECT CAST(half(a) AS INT), CASE WHEN half(a) > 1 THEN CAST(half(a) AS STRING) END, "
        "half(a) BETWEEN half(1) AND half(9) FROM (VALUES (3)) AS t(a)"
    )

    assert [(1, "1.5", True)] == rows(environment, query)


class Noted(ScalarFunction):
    """Notes in a file when it is opened, called and closed."""

    def __init__(self, file: str) -> None:
        self.file = Path(file)

    def note(self, what: str) -> None:
        with self.file.open("a") as notes:
            notes.write(what)

    def open(self, function_context: object) -> None:
        self.note("(")

    def eval(self, a: int) -> int:
        self.note(".")
        return a

    def close(self) -> None:
        self.note(")")


def test_a_function_is_closed_at_the_end_of_each_task(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    environment.create_temporary_function("noted", Noted(str(tmp_path / "notes")))
    frame = environment.sql_query("SELECT * FROM (VALUES (1), (2), (3)) AS t(a)").to_spark()
    environment.create_temporary_view("whole", environment.from_spark(frame.coalesce(1)))
    for _ in range(2):
        assert [(1,), (2,), (3,)] == rows(environment, "SELECT noted(a) FROM whole")

    ends = time.monotonic() + 10  # a worker drops the function after its last row
    while (text := (tmp_path / "notes").read_text()) != "(...)(...)" and time.monotonic() < ends:
        time.sleep(0.05)
    assert text == "(...)(...)"


class Largest(AggregateFunction[int, list[int]]):
    """The largest value of several series of pandas."""

    def create_accumulator(self) -> list[int]:
        return []

    def accumulate(self, accumulator: list[int], *args: Any) -> None:
        accumulator.append(sum(series.max() for series in args))

    def get_value(self, accumulator: list[int]) -> int:
        return accumulator[0]


class Distinct(AggregateFunction[int, Row]):
    """The number of distinct values, in a map that is used as a dictionary."""

    def create_accumulator(self) -> Row:
        return Row(MapView())

    def accumulate(self, accumulator: Row, *args: Any) -> None:
        accumulator[0][args[0]] = accumulator[0].get(args[0]) or 1
        accumulator[0]["removed"] = 1
        del accumulator[0]["removed"]

    def get_value(self, accumulator: Row) -> int:
        return len(list(accumulator[0].keys()))


def test_aggregates_of_series_and_of_maps(environment: TableEnvironment) -> None:
    pytest.importorskip("pandas")
    largest = udaf(Largest(), result_type="BIGINT", func_type="pandas")
    distinct = udaf(Distinct(), result_type="BIGINT")
    values = environment.from_elements([(1, 4), (3, 2), (3, 1)], ["a", "b"])

    nothing = values.where(col("a") < 0).select(col("a").sum0.alias("z"))
    table = values.select(
        largest(col("a"), col("b")), distinct(col("a")), col("a").sum0.alias("s")
    ).join(nothing)

    assert [(7, 2, 7, 0)] == [tuple(row) for row in table.execute().collect()]


@pytest.mark.parametrize("func_type", ["general", "pandas"])
def test_a_function_groups_rows_and_is_selected(
    environment: TableEnvironment, func_type: Any
) -> None:
    """Equal calls are one function of Spark, so that SELECT repeats the key. FLOAT is 1.1."""
    pytest.importorskip("pandas")
    same = udf(lambda value: value, result_type=DataTypes.FLOAT(), func_type=func_type)
    environment.create_temporary_function("same", same)
    rows = "(VALUES (CAST(1.1 AS FLOAT)), (CAST(2.5 AS FLOAT)), (CAST(1.1 AS FLOAT))) AS t(x)"
    query = f"SELECT same(x), COUNT(*), ARRAY[same(x)] FROM {rows} GROUP BY same(x)"

    with environment.execute_sql(query).collect() as result:
        assert [(1.1, 2, [1.1]), (2.5, 1, [2.5])] == sorted(map(tuple, result))


def test_series_of_pandas_have_times_and_exact_types(environment: TableEnvironment) -> None:
    pytest.importorskip("pandas")
    environment.execute_sql("SET 'table.local-time-zone' = 'Europe/Berlin'")
    instant = dt.datetime(2021, 10, 31, 0, 30, tzinfo=dt.UTC)  # 02:30, the first of two
    values = environment.from_elements(
        [(instant, dt.time(1, 2, 3), "ab")], "ROW<i TIMESTAMP_LTZ(3), t TIME(0), s STRING>"
    )
    same = udf(lambda series: series, result_type="TIMESTAMP_LTZ(3)", func_type="pandas")
    naive = udf(
        lambda series: series.dt.tz_localize(None) + dt.timedelta(days=1),
        result_type="TIMESTAMP(3)",
        func_type="pandas",
    )
    time_of = udf(lambda series: series, result_type="TIME(0)", func_type="pandas")
    short = udf(lambda series: series, result_type="CHAR(2) NOT NULL", func_type="pandas")
    called = [same(col("i")), naive(col("i")), time_of(col("t")), short(col("s"))]

    rows = [tuple(row) for row in values.select(*called).execute().collect()]

    clock = dt.datetime(2021, 11, 1, 2, 30)  # noqa: DTZ001
    assert [(instant, clock, dt.time(1, 2, 3), "ab")] == rows
    longer = udf(lambda series: series + "c", result_type="CHAR(2)", func_type="pandas")
    with pytest.raises(ExternalError, match="another length"):
        list(values.select(longer(col("s"))).execute().collect())
