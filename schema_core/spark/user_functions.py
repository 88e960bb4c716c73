"""Calls of user-defined Python functions, which Spark's workers evaluate while a query runs."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from schema_core.errors import UnsupportedError
from schema_core.expressions.signatures import Kind
from schema_core.expressions.user_functions import (
    PythonImplementation,
    ScalarFunction,
    UserDefinedFunction,
)
from schema_core.spark.compiler.expression import user_call
from schema_core.spark.compiler.functions import datetimes
from schema_core.spark.compiler.tree import Node, PythonUdf
from schema_core.spark.compiler.value_types import MAX_PRECISION, sql_type
from schema_core.spark.session import TemporaryNames
from schema_core.text import show
from schema_core.types import (
    AnyTimestampType,
    DataType,
    LocalZonedTimestampType,
    MultisetType,
    TypeFamily,
    VariantType,
)
from schema_core.types.values import lossless

if TYPE_CHECKING:
    from schema_core.expressions.typed import FunctionCall


@dataclass(frozen=True, slots=True)
class UserCalls:
    """Compiles calls of user-defined functions, and registers those of Python under `names`.

    An instant is passed as the local datetime of the session time zone, as in PyFlink.
    """

    names: TemporaryNames
    zone: str = "UTC"

    def __call__(self, apply: FunctionCall, arguments: Sequence[Node]) -> Node:
        """Return the node of a call.

        Raises:
            UnsupportedError: with code `not-executable` for functions of many rows, and for types
                that Spark passes to Python otherwise than Flink does.
        """
        function = apply.function
        if not isinstance(function.spark, PythonImplementation):
            return user_call(apply, arguments)
        if function.kind is not Kind.SCALAR or function.spark.implementation is None:
            problem = (
                f"the Python {function.kind.value} function {function.name} cannot be run on Spark"
            )
            raise UnsupportedError(problem, code="not-executable")
        for type_ in (apply.type, *(argument.type for argument in apply.arguments)):
            _require_handed(type_)
        _require_returned(apply.type)
        instant = isinstance(apply.type, LocalZonedTimestampType)
        gives = "TIMESTAMP_NTZ" if instant else sql_type(apply.type)
        implementation = called(function.spark.implementation)
        checked = checked_result(implementation, function.name, apply.type, self.zone)
        name = self.names.function(checked, gives)
        values = tuple(
            datetimes.clock(node, argument.type, self.zone)
            if isinstance(argument.type, LocalZonedTimestampType)
            else node
            for node, argument in zip(arguments, apply.arguments, strict=True)
        )
        result = PythonUdf(name, values, function.deterministic, total=False)
        return datetimes.instant(result, self.zone) if instant else result


def _require_handed(type_: DataType) -> None:
    """Refuse arguments that Python would receive as other values."""
    for part in type_.walk():
        fine = isinstance(part, AnyTimestampType) and part.precision > MAX_PRECISION
        nested = isinstance(part, LocalZonedTimestampType) and part is not type_
        if fine or nested or isinstance(part, MultisetType) or part.is_(TypeFamily.INTERVAL):
            raise UnsupportedError(
                f"a value of type {part.as_summary_string()} cannot be passed to Python",
                code="not-executable",
                hint="cast it to a string or a number",
            )


def _require_returned(type_: DataType) -> None:
    """Refuse results that Spark does not accept from Python unchanged."""
    for part in type_.walk():
        if isinstance(part, VariantType):
            raise UnsupportedError(
                f"a value of type {part.as_summary_string()} cannot be returned from Python",
                code="not-executable",
                hint="return a string of JSON and parse it with PARSE_JSON",
            )


class FunctionResultError(ValueError):
    """A user-defined function returned a value that its declared type cannot hold."""


def checked_result(
    function: Callable[..., Any], name: str, type_: DataType, zone: str
) -> Callable[..., Any]:
    """Return the function with its results converted to its declared type, without loss.

    The result raises `FunctionResultError`, with the name of the function, the value and the type,
    for a value that cannot be converted so.
    """

    def checked(*arguments: Any) -> Any:
        value = function(*arguments)
        converted, reason = lossless(type_, _local(value, type_, zone))
        if reason is None:
            return converted
        raise FunctionResultError(
            f"function {name} returned {show(value)}, but its result type is"
            f" {type_.as_summary_string()}: {reason}"
        )

    return checked


def _local(value: Any, type_: DataType, zone: str) -> Any:
    """Convert an aware datetime to the local datetime of the session time zone.

    One in the hour that a clock change repeats is returned unchanged: its local time is ambiguous.
    """
    aware = isinstance(value, dt.datetime) and value.tzinfo is not None
    if not aware or not isinstance(type_, LocalZonedTimestampType):
        return value
    clock = value.astimezone(ZoneInfo(zone)).replace(tzinfo=None, fold=0)
    return clock if clock.replace(tzinfo=ZoneInfo(zone)) == value else value


def called(implementation: object) -> Callable[..., Any]:
    """Return the callable for the workers: of an object its `eval`, opened before the first row."""
    if not isinstance(implementation, UserDefinedFunction):
        assert callable(implementation)  # noqa: S101 - declared functions are one or the other
        return implementation
    assert isinstance(implementation, ScalarFunction)  # noqa: S101 - the only kind that is run
    opened: list[bool] = []

    def evaluated(*arguments: Any) -> Any:
        if not opened:
            implementation.open(None)
            opened.append(True)
        return implementation.eval(*arguments)

    return evaluated
