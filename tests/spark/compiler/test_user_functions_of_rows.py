"""Calls of Python functions of many rows, compiled without a Spark session."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from schema_core import DataTypes
from schema_core.errors import UnsupportedError
from schema_core.expressions import col
from schema_core.expressions.scope import ColumnScope
from schema_core.expressions.type_checker import infer
from schema_core.expressions.typed import FunctionCall
from schema_core.pyflink.table.udf import udaf, udtf
from schema_core.spark.compiler.translation import TranslatedCall
from schema_core.spark.compiler.tree import Column
from schema_core.spark.python.user_functions import UserCalls


class Registered:
    """Keeps the functions that a session would register."""

    session = None

    def __init__(self) -> None:
        self.functions: list[Callable[..., Any]] = []

    def function(self, function: Callable[..., Any], result: str) -> str:
        self.functions.append(function)
        return "name"


def compiled(function: Any, count: int) -> tuple[UserCalls, Registered, TranslatedCall]:
    names = [f"c{place}" for place in range(count)]
    scope = ColumnScope(dict.fromkeys(names, DataTypes.INT()))
    typed = infer(scope, function(*map(col, names)).syntax)
    assert isinstance(typed, FunctionCall)
    registered = Registered()
    calls = UserCalls(registered, "Europe/Berlin")  # type: ignore[arg-type]
    return calls, registered, TranslatedCall(typed, tuple(map(Column, names)), "Europe/Berlin")


@pytest.mark.parametrize(
    ("function", "count", "rows", "result"),
    [
        (len, 1, [], 0),
        (lambda s: int(s.sum()), 1, [(1,), (2,)], 3),
        (lambda s, t: int((s * t).sum()), 2, [(1, 2), (3, 4)], 14),
        (lambda s, t: len(s) + len(t), 2, [], 0),
        (lambda: 7, 0, [1, 1], 7),
    ],
)
def test_aggregates_of_series(function: Any, count: int, rows: list[Any], result: int) -> None:
    pytest.importorskip("pandas")
    aggregate = udaf(function, ["INT"] * count, "BIGINT", func_type="pandas")
    calls, registered, called = compiled(aggregate, count)
    calls(called)
    assert result == registered.functions[0](rows)


def test_table_functions_of_local_times_are_refused() -> None:
    times = udtf(lambda a: [a], ["INT"], "TIMESTAMP_LTZ(3)")
    calls, registered, called = compiled(times, 1)
    with pytest.raises(UnsupportedError) as caught:
        calls.rows(called)
    assert "not-executable" == caught.value.code
    assert not registered.functions
