"""Functions of Python run where a query runs."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

import pytest

from schema_core.errors import ExternalError, UnsupportedError
from schema_core.expressions.user_functions import AggregateFunction, ScalarFunction, udf

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


def test_instants_are_what_the_clock_of_the_zone_shows(environment: TableEnvironment) -> None:
    environment.execute_sql("SET 'table.local-time-zone' = 'America/New_York'")
    hour = udf(lambda moment: moment.hour, ["TIMESTAMP_LTZ(3)"], "INT")
    later = udf(
        lambda moment: moment + dt.timedelta(hours=1), ["TIMESTAMP_LTZ(3)"], "TIMESTAMP_LTZ(3)"
    )
    environment.create_temporary_function("hour_of", hour)
    environment.create_temporary_function("later", later)
    epoch = "TO_TIMESTAMP_LTZ(0, 3)"
    query = f"SELECT hour_of({epoch}), CAST(later({epoch}) AS STRING)"

    assert [(19, "1969-12-31 20:00:00.000")] == rows(environment, query)


def test_what_a_function_raises_ends_the_job(environment: TableEnvironment) -> None:
    environment.create_temporary_function("bad", udf(lambda a: 1 // a, ["BIGINT"], "BIGINT"))

    with pytest.raises(ExternalError, match="division"):
        rows(environment, "SELECT bad(CAST(0 AS BIGINT))")


def test_aggregates_of_python_are_refused(environment: TableEnvironment) -> None:
    class Total(AggregateFunction[int, list[int]]):
        def create_accumulator(self) -> list[int]:
            return [0]

        def accumulate(self, accumulator: list[int], value: int) -> None:
            accumulator[0] += value

        def get_value(self, accumulator: list[int]) -> int:
            return accumulator[0]

    environment.create_temporary_function("total", Total)

    with pytest.raises(UnsupportedError) as caught:
        rows(environment, "SELECT total(a) FROM (VALUES (CAST(1 AS BIGINT))) AS t(a)")

    assert "not-executable" == caught.value.code
