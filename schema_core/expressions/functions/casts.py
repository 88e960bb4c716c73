"""CAST and TRY_CAST."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schema_core.expressions.charsets import UNICODE, charset
from schema_core.expressions.conversions import sql_cast_type, sql_casts
from schema_core.expressions.signature_dsl import ANY, NUMERIC, always, operation
from schema_core.expressions.signatures import Arg, Function, Given
from schema_core.expressions.typed import Constant, FunctionCall, TypeArgument
from schema_core.types import DataType, TypeFamily, TypeRoot

if TYPE_CHECKING:
    from schema_core.expressions.typed import Typed


def _castable(given: Given, i: int) -> DataType | None:
    """A type into which SQL casts the value; numbers into intervals of one field alone."""
    target, tree = given.types[i], given.trees[i]
    if not isinstance(tree, TypeArgument) or target.root is TypeRoot.RAW:
        return None
    interval = tree.written.interval
    if interval and interval.to and given.types[0].is_(TypeFamily.NUMERIC):
        return None
    if target.is_(TypeFamily.CHARACTER_STRING) and charset(given.trees[0]) != UNICODE:
        return None
    return target if sql_casts(given.types[0], target) else None


def _castable_at_once(given: Given, i: int) -> DataType | None:
    """The same; a string that is written out becomes no array."""
    if given.types[i].root is TypeRoot.ARRAY and _is_written_out(given.trees[0]):
        return None
    return _castable(given, i)


def _is_written_out(tree: Typed) -> bool:
    """Whether it is a string, maybe behind casts into strings."""
    while isinstance(tree, FunctionCall) and tree.function.name == "CAST":
        tree = tree.arguments[0]
    return isinstance(tree, Constant) and tree.type.is_(TypeFamily.CHARACTER_STRING)


def cast(given: Given) -> DataType:
    """The target, nullable where the value is."""
    return sql_cast_type(*given.types)


def _interval(given: Given, i: int) -> DataType | None:
    """An interval for a number; Flink does not type such a cast anew."""
    return _castable(given, i) if given.types[i].is_(TypeFamily.INTERVAL) else None


INTERVAL = Arg("<TYPE>", _interval)
TARGET = Arg("<TYPE>", _castable)
AT_ONCE = Arg("<TYPE>", _castable_at_once)

FUNCTIONS = (
    #        name        takes           gives
    Function("CAST",      (NUMERIC, INTERVAL), cast, nulls=None),
    operation("CAST",     (ANY, AT_ONCE), cast, nulls=None),
    operation("TRY_CAST", (ANY, TARGET),  cast, nulls=always),
)  # fmt: skip
