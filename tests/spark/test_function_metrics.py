"""Metrics of Python functions, which Spark's accumulators collect and the driver logs."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import pytest

from schema_core.errors import ExternalError
from schema_core.expressions.user_functions import (
    AggregateFunction,
    AsyncScalarFunction,
    FunctionContext,
    ScalarFunction,
    TableFunction,
)

if TYPE_CHECKING:
    from schema_core.environment.table_environment import TableEnvironment

FOUR = "(VALUES (1), (2), (3), (4)) AS t(a)"


def rows(environment: TableEnvironment, query: str) -> list[tuple[object, ...]]:
    return [tuple(row) for row in environment.execute_sql(query).collect()]


class Counted:
    """What the functions of these tests count."""

    def open(self, function_context: FunctionContext) -> None:
        group = function_context.get_metric_group().add_group("kind", "test")
        self.calls = group.counter("calls")
        self.events = group.meter("events", 10)
        self.values = group.distribution("values")
        self.seen = 0
        group.gauge("seen", lambda: self.seen)
        self.task = function_context.get_index_of_this_subtask()
        assert function_context.get_attempt_number() == 0

    def count(self, value: int) -> None:
        self.calls.inc(2)
        self.calls.dec()
        self.events.mark_event(3)
        self.values.update(value)
        self.seen = 7


class CountedScalar(Counted, ScalarFunction):
    def eval(self, a: int) -> int:
        self.count(a)
        return self.task


class CountedAsync(Counted, AsyncScalarFunction):
    async def eval(self, a: int) -> int:
        self.count(a)
        return self.task


class CountedTable(Counted, TableFunction):
    def eval(self, a: int) -> Any:
        self.count(a)
        return [self.task]

    def get_result_type(self) -> str:
        return "BIGINT"

    def is_deterministic(self) -> bool:
        """Spark calls a function that is, once more, to filter rows without results."""
        return False


class CountedAggregate(Counted, AggregateFunction[int, list[int]]):
    def create_accumulator(self) -> list[int]:
        return []

    def accumulate(self, accumulator: list[int], a: int) -> None:
        self.count(a)

    def get_value(self, accumulator: list[int]) -> int:
        return self.task


def last_logged(log: pytest.LogCaptureFixture) -> dict[str, str]:
    """Return the last value of each metric."""
    result = {}
    for record in log.records:
        name, _, value = record.getMessage().partition(": ")
        result[name] = value
    return result


@pytest.mark.usefixtures("classic")
@pytest.mark.parametrize(
    ("function", "query"),
    [
        (CountedScalar, f"SELECT f(a) FROM {FOUR}"),
        (CountedAsync, f"SELECT f(a) FROM {FOUR}"),
        (CountedTable, f"SELECT x FROM {FOUR}, LATERAL TABLE(f(a)) AS r(x)"),
        (CountedAggregate, f"SELECT f(a) FROM {FOUR}"),
    ],
)
def test_metrics_of_all_tasks_are_logged_by_the_driver(
    environment: TableEnvironment, caplog: pytest.LogCaptureFixture, function: Any, query: str
) -> None:
    environment.create_temporary_function("f", function)
    with caplog.at_level(logging.INFO, "schema_core.metrics"):
        tasks = {task for (task,) in rows(environment, query)}

    assert tasks
    assert last_logged(caplog) == {
        "f.kind.test.calls": "4",
        "f.kind.test.events": "12",
        "f.kind.test.values": "count 4, sum 10, min 1, max 4",
        "f.kind.test.seen": "7",
    }


def test_metrics_that_are_disabled_are_refused(environment: TableEnvironment) -> None:
    environment.execute_sql("SET 'python.metric.enabled' = 'false'")
    environment.create_temporary_function("f", CountedScalar)
    with pytest.raises(ExternalError, match="metrics are not collected"):
        rows(environment, f"SELECT f(a) FROM {FOUR}")
