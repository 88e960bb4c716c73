"""Choices between values, and what stands in for NULL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schema_core.errors import SchemaError
from schema_core.expressions.signature_dsl import (
    BINARY,
    BOOLEAN,
    CHARACTER,
    DATE,
    NUMERIC,
    TIME,
    TIMESTAMP,
    bridged,
    common,
    commonly,
    found,
    like,
    operation,
)
from schema_core.expressions.signatures import Arg, Function, Given, Rules
from schema_core.expressions.typed import FunctionCall
from schema_core.sql import syntax
from schema_core.sql.expression import MAX_COPIES
from schema_core.types import DataType, TypeFamily, TypeRoot
from schema_core.types.common import common_type
from schema_core.types.least_restrictive import least_restrictive

if TYPE_CHECKING:
    from schema_core.expressions.typed import Typed

F = TypeFamily


def unless_equal(call: syntax.Call) -> syntax.Expression:
    """``NULLIF(a, b)`` is ``CASE WHEN a = b THEN NULL ELSE a END``.

    Raises:
        SchemaError: with code `too-deep` where NULLIFs within the first argument of one another,
            each of which says its value twice, come to more than `MAX_COPIES` nodes.
    """
    value, other = call.arguments
    if _written_out(value) > MAX_COPIES:
        raise SchemaError(
            "NULLIF repeats its value too often",
            code="too-deep",
            hint="name the value in a column of its own",
            span=value.span,
        )
    equal = syntax.Call("=", (value, other), span=call.span)
    null = syntax.Literal(syntax.LiteralKind.NULL, "NULL", span=call.span)
    return syntax.Call("CASE", (equal, null, value), span=call.span)


def _written_out(value: syntax.Expression) -> int:
    """How many nodes a tree has when its NULLIFs are rewritten; beyond the limit it stops."""
    waiting, count = [value], 0
    while waiting and count <= MAX_COPIES:
        one = waiting.pop()
        count += 1
        if isinstance(one, syntax.Call):
            waiting += one.arguments
            waiting += one.arguments[:1] if one.name == "NULLIF" else ()
    return count


def branches(given: Given) -> tuple[DataType, ...]:
    """The types of a CASE's values: every second argument, and the last one.

    What was asked for is there: ``WHEN a IS NOT NULL THEN a`` is never NULL.
    """
    branch = zip(given.trees[::2], given.trees[1::2], given.types[1::2], strict=False)
    then = (type_.not_null() if _is_there(when, value) else type_ for when, value, type_ in branch)
    return (*then, given.types[-1])


def _is_there(condition: Typed, value: Typed) -> bool:
    """Whether the condition asks whether just this value is not NULL."""
    return (
        isinstance(condition, FunctionCall)
        and condition.function.name == "IS NOT NULL"
        and condition.arguments[0] == value
    )


def choice(given: Given) -> DataType:
    """What IF gives: of numbers and texts the type that SQL finds, else that of the first."""
    one, other = given.types[1:]
    if one.is_(F.NUMERIC) or one.is_(F.CHARACTER_STRING):
        return found(least_restrictive((one, other)))
    return one


def unless_null(given: Given) -> DataType:
    """What IFNULL gives: the first type where it is never NULL, else a type for both."""
    value, other = given.types
    if not value.is_nullable:
        return value
    return found(common_type(given.types)).with_nullability(other.is_nullable)


def _of_branches(given: Given) -> DataType | None:
    return least_restrictive(branches(given))


def _value(given: Given, i: int) -> DataType | None:
    """The value of a branch, if SQL finds a type for all of them."""
    return given.types[i] if given.once(_of_branches) else None


VALUE = Arg("<ANY>", _value)
COMMON = common()


def _condition(given: Given, i: int) -> DataType | None:
    """Conditions and values in turn, and at last the value for all else."""
    type_ = given.types[i]
    if i % 2 or i == len(given.types) - 1:
        return _value(given, i)
    return type_ if type_.root is TypeRoot.BOOLEAN else None


def chosen(given: Given) -> DataType:
    """What CASE gives: the type that SQL finds for all values, nullable where one of them is."""
    return found(least_restrictive(branches(given)))


BRANCH = Arg("<BOOLEAN> or <ANY>", _condition)

FUNCTIONS = (
    # --- SQL's rules: name, takes, gives ----------------------------------------------------------
    Function("IF",       (BOOLEAN, NUMERIC, NUMERIC),    choice,
             also=(
                 (BOOLEAN, CHARACTER, CHARACTER), (BOOLEAN, BOOLEAN, BOOLEAN),
                 (BOOLEAN, BINARY, BINARY), (BOOLEAN, DATE, DATE), (BOOLEAN, TIME, TIME),
                 (BOOLEAN, TIMESTAMP, TIMESTAMP),
             )),
    operation("CASE",     (BRANCH, BRANCH, BRANCH),       chosen, repeats=2, nulls=None),
    Function("NULLIF",   (VALUE, VALUE),                 like(0), rewrite=unless_equal),
    # --- the Table API's rules: no type for all of them NULL --------------------------------------
    Function("COALESCE", (COMMON,),                      commonly(),
             repeats=1, nulls=all, rules=Rules.TABLE_API),
    bridged("IFNULL",    (COMMON, COMMON),               unless_null, nulls=None),
)  # fmt: skip
