"""Conditional functions and replacements for NULL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schema_core.errors import SchemaError
from schema_core.expressions.signatures import (
    BINARY,
    BOOLEAN,
    CHARACTER,
    DATE,
    NUMERIC,
    TIME,
    TIMESTAMP,
    bridged,
    common,
    common_argument_type,
    commonly,
    like,
    no_common_type,
    operation,
)
from schema_core.expressions.typed import ArgumentTypes, Function, FunctionCall, Parameter, Rules
from schema_core.sql import syntax
from schema_core.sql.expression import MAX_COPIES
from schema_core.types import DataType, TypeFamily, TypeRoot
from schema_core.types.common import common_type, least_restrictive

if TYPE_CHECKING:
    from schema_core.expressions.typed import Typed

F = TypeFamily


def nullif_as_case(call: syntax.Call) -> syntax.Expression:
    """Rewrite ``NULLIF(a, b)`` to ``CASE WHEN a = b THEN NULL ELSE a END``.

    Raises:
        SchemaError: with code `limit-exceeded` if nested NULLIFs, each of which repeats its first
            argument, would have more than `MAX_COPIES` nodes.
    """
    value, other = call.arguments
    if _rewritten_size(value) > MAX_COPIES:
        raise SchemaError(
            f"nested NULLIF expands to more than {MAX_COPIES:,} nodes",
            code="limit-exceeded",
            hint="compute the first argument in a separate column",
            span=value.span,
        )
    equal = syntax.Call("=", (value, other), span=call.span)
    null = syntax.Literal(syntax.LiteralKind.NULL, "NULL", span=call.span)
    return syntax.Call("CASE", (equal, null, value), span=call.span)


def _rewritten_size(value: syntax.Expression) -> int:
    """The number of nodes after NULLIFs are rewritten, counted up to the limit."""
    waiting, count = [value], 0
    while waiting and count <= MAX_COPIES:
        node = waiting.pop()
        count += 1
        if isinstance(node, syntax.Call):
            waiting += node.arguments
            waiting += node.arguments[:1] if node.name == "NULLIF" else ()
    return count


def branches(args: ArgumentTypes) -> tuple[DataType, ...]:
    """The types of the values of a CASE.

    In ``WHEN a IS NOT NULL THEN a`` the value is NOT NULL.
    """
    branch = zip(args.trees[::2], args.trees[1::2], args.types[1::2], strict=False)
    then = (
        type_.not_null() if _is_not_null(when, value) else type_ for when, value, type_ in branch
    )
    return (*then, args.types[-1])


def _is_not_null(condition: Typed, value: Typed) -> bool:
    """Whether the condition is ``value IS NOT NULL`` for exactly this value."""
    return (
        isinstance(condition, FunctionCall)
        and condition.function.name == "IS NOT NULL"
        and condition.arguments[0] == value
    )


def choice(args: ArgumentTypes) -> DataType:
    """The least restrictive type of numbers or strings, else the type of the first value."""
    first, second = args.types[1:]
    if first.is_(F.NUMERIC, F.CHARACTER_STRING):
        return common_argument_type(least_restrictive((first, second)))
    return first


def unless_null(args: ArgumentTypes) -> DataType:
    """The first type if it is NOT NULL, else the common type of both."""
    value, other = args.types
    if not value.is_nullable:
        return value
    return common_argument_type(common_type(args.types)).with_nullability(other.is_nullable)


def _of_branches(args: ArgumentTypes) -> DataType | None:
    return least_restrictive(branches(args))


def _value(args: ArgumentTypes, i: int) -> DataType | None:
    """The type of a value if all values have a least restrictive type."""
    return args.types[i] if args.evaluate_once(_of_branches) else None


def _mismatch(args: ArgumentTypes, i: int) -> str | None:
    return None if args.evaluate_once(_of_branches) else no_common_type(branches(args))


VALUE = Parameter("<ANY>", _value, _mismatch)
COMMON = common()


def _condition(args: ArgumentTypes, i: int) -> DataType | None:
    """The type of a condition or value: they alternate, followed by the ELSE value."""
    type_ = args.types[i]
    if i % 2 or i == len(args.types) - 1:
        return _value(args, i)
    return type_ if type_.root is TypeRoot.BOOLEAN else None


def least_restrictive_type(args: ArgumentTypes) -> DataType:
    """The least restrictive type of the values, nullable if one of them is."""
    return common_argument_type(least_restrictive(branches(args)))


def _branch_mismatch(args: ArgumentTypes, i: int) -> str | None:
    if i % 2 or i == len(args.types) - 1:
        return _mismatch(args, i)
    return f"WHEN requires a BOOLEAN, got {args.types[i].as_summary_string()}"


BRANCH = Parameter("<BOOLEAN> or <ANY>", _condition, _branch_mismatch)

FUNCTIONS = (
    # --- rules of SQL: name, parameters, return type ----------------------------------------------
    Function("IF",     (BOOLEAN, NUMERIC, NUMERIC), choice,
             alternatives=tuple(
                 (BOOLEAN, value, value)
                 for value in (CHARACTER, BOOLEAN, BINARY, DATE, TIME, TIMESTAMP)
             )),
    operation("CASE",  (BRANCH, BRANCH, BRANCH), least_restrictive_type, repeats=2,
              nullability=None),
    Function("NULLIF", (VALUE, VALUE),           like(0), rewrite=nullif_as_case),
    # --- rules of the Table API: untyped NULLs have no common type --------------------------------
    Function("COALESCE", (COMMON,),        commonly(),
             repeats=1, nullability=all, rules=Rules.TABLE_API),
    bridged("IFNULL",    (COMMON, COMMON), unless_null, nullability=None),
)  # fmt: skip
