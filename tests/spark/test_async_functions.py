"""Asynchronous Python functions in jobs on Spark."""

from __future__ import annotations

import asyncio
import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from schema_core.errors import ExternalError, SchemaError
from schema_core.expressions import col
from schema_core.expressions.user_functions import AsyncScalarFunction, FunctionContext, udf
from schema_core.types import Row

if TYPE_CHECKING:
    from schema_core.environment.table_environment import TableEnvironment

PREFIX = "table.exec.async-scalar"


def rows(environment: TableEnvironment, query: str) -> list[tuple[object, ...]]:
    return [tuple(row) for row in environment.execute_sql(query).collect()]


def numbers(count: int) -> str:
    return f"(VALUES {', '.join(f'({index})' for index in range(count))}) AS t(a)"


class Waiting(AsyncScalarFunction):
    """Returns the most calls that ran at once; earlier rows wait longer."""

    def open(self, function_context: FunctionContext) -> None:
        self.running = self.most = 0
        self.unit = float(function_context.get_job_parameter("unit", "0"))

    async def eval(self, number: int) -> str:
        self.running += 1
        self.most = max(self.most, self.running)
        await asyncio.sleep(self.unit * (10 - number))
        self.running -= 1
        return f"{number} {self.most}"


def test_calls_of_a_batch_overlap_up_to_the_limit_and_keep_their_order(
    environment: TableEnvironment,
) -> None:
    environment.execute_sql(f"SET '{PREFIX}.max-concurrent-operations' = '4'")
    environment.execute_sql("SET 'pipeline.global-job-parameters' = 'unit:0.01'")
    environment.create_temporary_function("waiting", Waiting)
    result = rows(environment, f"SELECT a, waiting(a) FROM {numbers(10)}")

    texts = {number: str(text).split() for number, text in result}
    assert texts.keys() == set(range(10))
    assert all(text[0] == str(number) for number, text in texts.items())
    assert max(int(most) for _, most in texts.values()) <= 4


def test_many_calls_run_at_once_in_one_batch(environment: TableEnvironment) -> None:
    environment.create_temporary_function("waiting", Waiting)
    environment.execute_sql("SET 'pipeline.global-job-parameters' = 'unit:0.01'")
    table = environment.from_elements([(index,) for index in range(8)], "ROW<a BIGINT>")
    frame = table.to_spark().coalesce(1)
    environment.create_temporary_view("one_batch", environment.from_spark(frame))
    result = rows(environment, "SELECT waiting(a) FROM one_batch")

    assert [f"{index} " for index in range(8)] == [str(text)[:2] for (text,) in result]
    assert max(int(str(text)[2:]) for (text,) in result) == 8


def test_values_of_all_types_pass_through(environment: TableEnvironment) -> None:
    environment.execute_sql("SET 'table.local-time-zone' = 'America/New_York'")
    values: list[tuple[str, str, Any]] = [
        ("INT", "1", 1),
        ("STRING", "'a'", "a"),
        ("BYTES", "x'61'", b"a"),
        ("DECIMAL(5, 2)", "1.5", Decimal("1.50")),
        ("DATE", "DATE '2020-02-29'", dt.date(2020, 2, 29)),
        ("TIME(3)", "TIME '01:02:03.004'", dt.time(1, 2, 3, 4000)),
        (
            "TIMESTAMP(6)",
            "TIMESTAMP '2020-02-29 01:00:00'",
            dt.datetime.fromisoformat("2020-02-29 01:00"),
        ),
        ("TIMESTAMP_LTZ(3)", "TO_TIMESTAMP_LTZ(0, 3)", dt.datetime(1970, 1, 1, tzinfo=dt.UTC)),
        ("ARRAY<DOUBLE>", "ARRAY[1E0, CAST(NULL AS DOUBLE)]", [1.0, None]),
        ("MAP<STRING, INT>", "MAP['a', 1]", {"a": 1}),
        ("ROW<x INT, y ROW<z STRING>>", "ROW(1, ROW('z'))", Row(1, Row("z"))),
    ]

    async def same(value: Any) -> Any:
        return value

    for place, (type_, _, _) in enumerate(values):
        environment.create_temporary_function(f"same_{place}", udf(same, [type_], type_))
    calls = [
        f"same_{place}({text}), same_{place}(CAST(NULL AS {type_}))"
        for place, (type_, text, _) in enumerate(values)
    ]
    (row,) = rows(environment, f"SELECT {', '.join(calls)}")

    assert [item for *_, value in values for item in (value, None)] == list(row)


def test_coroutine_functions_and_lambdas_of_the_table_api(environment: TableEnvironment) -> None:
    @udf
    async def twice(number: int) -> int:
        return number * 2

    @udf(result_type="STRING")
    async def constant() -> str:
        return "x"

    table = environment.from_elements([(1,), (2,)], ["a"])
    result = table.select(twice(twice(col("a"))), constant()).execute().collect()
    assert [(4, "x"), (8, "x")] == [tuple(row) for row in result]


def failing(file: Path, failures: int) -> Any:
    """Return a function that fails at its first calls, which it counts in a file."""

    def called() -> int:
        with file.open("a") as calls:
            calls.write(".")
            return calls.tell()

    @udf(input_types=["BIGINT"], result_type="BIGINT")
    async def flaky(number: int) -> int:
        if called() <= failures:
            raise ValueError("not yet")
        return number

    return flaky


@pytest.mark.parametrize(
    ("strategy", "failures", "calls", "works"),
    [("FIXED_DELAY", 3, 4, True), ("FIXED_DELAY", 9, 4, False), ("NO_RETRY", 9, 1, False)],
)
def test_failed_calls_are_repeated(
    environment: TableEnvironment,
    tmp_path: Path,
    strategy: str,
    failures: int,
    calls: int,
    works: bool,
) -> None:
    """PyFlink calls a function that fails once, and `max-attempts` times again."""
    environment.execute_sql(f"SET '{PREFIX}.retry-strategy' = '{strategy}'")
    environment.execute_sql(f"SET '{PREFIX}.retry-delay' = '1 ms'")
    environment.create_temporary_function("flaky", failing(tmp_path / "calls", failures))
    query = "SELECT flaky(CAST(a AS BIGINT)) FROM (VALUES (7)) AS t(a)"
    if works:
        assert [(7,)] == rows(environment, query)
    else:
        with pytest.raises(ExternalError, match="not yet"):
            rows(environment, query)
    assert calls == len((tmp_path / "calls").read_text())


def test_a_call_that_takes_too_long_fails_the_job(environment: TableEnvironment) -> None:
    @udf(result_type="INT")
    async def slow(number: int) -> int:
        await asyncio.sleep(60)
        return number

    environment.execute_sql(f"SET '{PREFIX}.timeout' = '50 ms'")
    environment.create_temporary_function("slow", slow)
    with pytest.raises(ExternalError, match=r"function slow took longer than 0.05 s for \(1,\)"):
        rows(environment, "SELECT slow(a) FROM (VALUES (1)) AS t(a)")


def test_a_result_of_another_type_fails_the_job(environment: TableEnvironment) -> None:
    @udf(result_type="INT")
    async def wrong(number: int) -> str:
        return "x"

    environment.create_temporary_function("wrong", wrong)
    with pytest.raises(ExternalError, match="INT requires int, got str"):
        rows(environment, "SELECT wrong(a) FROM (VALUES (1)) AS t(a)")


def test_asynchronous_functions_of_series_are_refused() -> None:
    async def plus(number: int) -> int:
        return number + 1

    with pytest.raises(SchemaError) as caught:
        udf(plus, result_type="BIGINT", func_type="pandas")
    assert caught.value.code == "invalid-argument"
