"""Comparisons, membership, patterns: all give a truth value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schema_core.expressions.comparable import sql_comparable
from schema_core.expressions.signature_dsl import (
    ALIKE,
    ANY,
    CHARACTER,
    COMPARABLE,
    EQUAL,
    ORDERED,
    bridged,
    commonly,
    exactly,
    never,
    of_one_charset,
    operation,
)
from schema_core.expressions.signatures import Arg, Function, Given
from schema_core.expressions.typed import FunctionCall, walk
from schema_core.types import DataType, RowType, StructuredType, TypeRoot
from schema_core.types import DataTypes as T
from schema_core.types.least_restrictive import least_restrictive

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schema_core.expressions.typed import Typed

TRUTH = exactly(T.BOOLEAN())


def _of_list(given: Given) -> DataType | None:
    """The type that SQL finds for the whole list, if it compares with the value before it.

    A list with a multiset that is written out in it is none: Flink takes both for tables.
    """
    value, *items = _compared(given.types)
    if any(_is_multiset(part) for tree in given.trees[1:] for part in walk(tree)):
        return None
    item = least_restrictive(items)
    return item if item and sql_comparable(value.nullable(), item.nullable()) else None


def _compared(types: Sequence[DataType]) -> list[DataType]:
    """The types as a list compares them: a row of one field beside no row counts as that field."""
    value, *items = types
    rows = {isinstance(item, RowType) for item in items if item.root is not TypeRoot.NULL}
    if rows == {not isinstance(value, RowType)}:
        return [_alone(value), *map(_alone, items)]
    return [*types]


def _alone(type_: DataType) -> DataType:
    match type_:
        case RowType(fields=(field,)):
            return field.data_type
        case _:
            return type_


def _is_multiset(tree: Typed) -> bool:
    return isinstance(tree, FunctionCall) and tree.function.name == "MULTISET"


def _upper(given: Given, i: int) -> DataType | None:
    """The upper bound: what compares with nothing else does not with the value either."""
    value, _, upper = given.types
    alike = value.root is upper.root or TypeRoot.NULL in (value.root, upper.root)
    alone = ALONE & {value.root, upper.root}
    return None if alone and not alike else ORDERED.accepts(given, i)


#: What compares with its own kind only, even where NULL stands between.
ALONE = frozenset({TypeRoot.BITMAP, TypeRoot.VARIANT})


def _member(given: Given, i: int) -> DataType | None:
    """One of a list that is compared with the value before it."""
    return given.types[i] if given.once(_of_list) else None


def membership(given: Given) -> DataType:
    """A truth value, unknown where the value or one of the list may be NULL; of rows, a field."""
    return T.BOOLEAN(any(map(_may_be_null, _compared(given.types))))


def _may_be_null(type_: DataType) -> bool:
    if isinstance(type_, RowType | StructuredType):
        return any(field.is_nullable for field in type_.children())
    return type_.is_nullable


MEMBER = Arg("<COMPARABLE_TYPE>", _member)

PAIR = (EQUAL, of_one_charset(EQUAL))
RANGE = (ORDERED, of_one_charset(ORDERED))
BETWEEN = (ORDERED, ORDERED, Arg("<COMPARABLE_TYPE>", _upper))
PATTERN = (CHARACTER, ALIKE, ALIKE)
LIST = (ANY, MEMBER)

FUNCTIONS = (
    #        name                    takes    gives
    operation("=",                    PAIR,    TRUTH),
    operation("<>",                   PAIR,    TRUTH),
    operation("<",                    RANGE,   TRUTH),
    operation("<=",                   RANGE,   TRUTH),
    operation(">",                    RANGE,   TRUTH),
    operation(">=",                   RANGE,   TRUTH),
    operation("IS DISTINCT FROM",     PAIR,    TRUTH, nulls=never),
    operation("IS NOT DISTINCT FROM", PAIR,    TRUTH, nulls=never),
    operation("IS NULL",              (ANY,),  TRUTH, nulls=never),
    operation("IS NOT NULL",          (ANY,),  TRUTH, nulls=never),
    operation("BETWEEN",              BETWEEN, TRUTH),
    operation("NOT BETWEEN",          BETWEEN, TRUTH),
    operation("LIKE",                 PATTERN, TRUTH, optional=1),
    operation("NOT LIKE",             PATTERN, TRUTH, optional=1),
    operation("SIMILAR TO",           PATTERN, TRUTH, optional=1),
    operation("NOT SIMILAR TO",       PATTERN, TRUTH, optional=1),
    Function("IN",                   LIST,    membership, repeats=1, nulls=None, many_rows=True),
    Function("NOT IN",               LIST,    membership, repeats=1, nulls=None, many_rows=True),
    *(
        Function(f"{operator} {quantifier}", LIST, membership,
                 repeats=1, nulls=None, many_rows=True)
        for operator in ("=", "<>", "<", "<=", ">", ">=")
        for quantifier in ("SOME", "ALL")
    ),
    # --- the Table API's rules -----------------------------------------------------------------
    bridged("GREATEST",              (COMPARABLE,), commonly(), repeats=1),
    bridged("LEAST",                 (COMPARABLE,), commonly(), repeats=1),
)  # fmt: skip
