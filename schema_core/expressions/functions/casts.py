"""Type conversion: CAST and TRY_CAST; and TYPEOF."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schema_core.expressions.coercion import UNICODE, charset, sql_cast_type, supports_sql_cast
from schema_core.expressions.signatures import (
    ANY,
    BOOLEAN,
    NUMERIC,
    always,
    bridged,
    exactly,
    literal,
    operation,
)
from schema_core.expressions.typed import (
    ArgumentTypes,
    Constant,
    Function,
    FunctionCall,
    Parameter,
    TypeArgument,
)
from schema_core.types import DataType, TypeFamily, TypeRoot
from schema_core.types import DataTypes as T
from schema_core.types.casts import CastMode, why_not

if TYPE_CHECKING:
    pass


def _castable(args: ArgumentTypes, i: int) -> DataType | None:
    """The target of a cast that SQL types; a number casts only to single-field intervals."""
    target, tree = args.types[i], args.trees[i]
    if not isinstance(tree, TypeArgument) or target.root is TypeRoot.RAW:
        return None
    interval = tree.written.interval
    if interval and interval.to and args.types[0].is_(TypeFamily.NUMERIC):
        return None
    if target.is_(TypeFamily.CHARACTER_STRING) and charset(args.trees[0]) != UNICODE:
        return None
    return target if supports_sql_cast(args.types[0], target) else None


def _castable_unless_array_of_literal(args: ArgumentTypes, i: int) -> DataType | None:
    """The same, but None for a string literal to an array."""
    tree = args.trees[0]
    while isinstance(tree, FunctionCall) and tree.function.name == "CAST":
        tree = tree.arguments[0]
    is_literal = isinstance(tree, Constant) and tree.type.is_(TypeFamily.CHARACTER_STRING)
    return None if is_literal and args.types[i].root is TypeRoot.ARRAY else _castable(args, i)


def cast(args: ArgumentTypes) -> DataType:
    """The target type, nullable if the argument is."""
    return sql_cast_type(*args.types)


def _interval(args: ArgumentTypes, i: int) -> DataType | None:
    """The interval type that a number is cast to; Flink does not retype such a cast."""
    return _castable(args, i) if args.types[i].is_(TypeFamily.INTERVAL) else None


def _mismatch(args: ArgumentTypes, i: int) -> str:
    """Why SQL has no cast to the target."""
    source, target = args.types[0], args.types[i]
    reason = why_not(source, target, CastMode.EXPLICIT)
    types = f"{source.as_summary_string()} to {target.as_summary_string()}"
    return str(reason) if reason else f"SQL has no CAST from {types}"


INTERVAL = Parameter("<TYPE>", _interval, _mismatch)
TARGET = Parameter("<TYPE>", _castable, _mismatch)
CAST_TARGET = Parameter("<TYPE>", _castable_unless_array_of_literal, _mismatch)

FUNCTIONS = (
    # name, parameters, return type
    Function("CAST",      (NUMERIC, INTERVAL), cast, nullability=None),
    operation("CAST",     (ANY, CAST_TARGET),  cast, nullability=None),
    operation("TRY_CAST", (ANY, TARGET),       cast, nullability=always),
    bridged("TYPEOF",            (ANY, literal(BOOLEAN)), exactly(T.STRING()),
            optional=1, nullability=always),
)  # fmt: skip
