"""Comparison, membership, pattern matching, and three-valued logic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schema_core.expressions.coercion import sql_comparable
from schema_core.expressions.signatures import (
    ALIKE,
    ANY,
    BOOLEAN,
    CHARACTER,
    COMPARABLE,
    EQUAL,
    ORDERED,
    bridged,
    commonly,
    exactly,
    never,
    no_common_type,
    of_one_charset,
    operation,
)
from schema_core.expressions.typed import ArgumentTypes, Function, FunctionCall, Parameter, walk
from schema_core.types import DataType, RowType, TypeRoot
from schema_core.types import DataTypes as T
from schema_core.types.casts import RECORDS
from schema_core.types.common import least_restrictive

if TYPE_CHECKING:
    from collections.abc import Sequence


TRUTH = exactly(T.BOOLEAN())


def _of_list(args: ArgumentTypes) -> DataType | None:
    """The least restrictive type of the list if SQL compares it with the left operand.

    A list with a MULTISET constructor has none: Flink treats both as tables.
    """
    value, *items = _comparison_types(args.types)
    parts = (part for tree in args.trees[1:] for part in walk(tree))
    if any(isinstance(part, FunctionCall) and part.function.name == "MULTISET" for part in parts):
        return None
    common = least_restrictive(items)
    return common if common and sql_comparable(value.nullable(), common.nullable()) else None


def _comparison_types(types: Sequence[DataType]) -> list[DataType]:
    """The compared types: a row of one field is its field if the other side has no rows."""
    value, *items = types
    rows = {isinstance(type_, RowType) for type_ in items if type_.root is not TypeRoot.NULL}
    if rows == {not isinstance(value, RowType)}:
        return [_unwrap_row(value), *map(_unwrap_row, items)]
    return [*types]


def _unwrap_row(type_: DataType) -> DataType:
    match type_:
        case RowType(fields=(field,)):
            return field.data_type
        case _:
            return type_


def _upper(args: ArgumentTypes, i: int) -> DataType | None:
    """The type of an upper bound that is comparable with the value and the lower bound."""
    value, _, upper = args.types
    is_same = value.root is upper.root or TypeRoot.NULL in (value.root, upper.root)
    is_self_only = SELF_COMPARABLE & {value.root, upper.root}
    return None if is_self_only and not is_same else ORDERED.accepts(args, i)


#: Comparable only with the same root, even if the lower bound is NULL.
SELF_COMPARABLE = frozenset({TypeRoot.BITMAP, TypeRoot.VARIANT})


def membership(args: ArgumentTypes) -> DataType:
    """BOOLEAN, nullable if an operand, or for rows a field of one, is nullable."""
    return T.BOOLEAN(
        any(
            part.is_nullable
            for type_ in _comparison_types(args.types)
            for part in (type_.children() if type_.root in RECORDS else (type_,))
        )
    )


def _member_mismatch(args: ArgumentTypes, i: int) -> str | None:
    value, *items = _comparison_types(args.types)
    common = least_restrictive(items)
    if common is None:
        return no_common_type(items)
    if sql_comparable(value.nullable(), common.nullable()):
        return None
    return f"{value.as_summary_string()} and {common.as_summary_string()} are not comparable"


MEMBER = Parameter(
    "<COMPARABLE_TYPE>",
    lambda args, i: args.types[i] if args.evaluate_once(_of_list) else None,
    _member_mismatch,
)

PAIR = (EQUAL, of_one_charset(EQUAL))
RANGE = (ORDERED, of_one_charset(ORDERED))
BETWEEN = (ORDERED, ORDERED, Parameter("<COMPARABLE_TYPE>", _upper))
PATTERN = (CHARACTER, ALIKE, ALIKE)
LIST = (ANY, MEMBER)

FUNCTIONS = (
    # name, parameters, return type
    operation("=",                    PAIR,    TRUTH),
    operation("<>",                   PAIR,    TRUTH),
    operation("<",                    RANGE,   TRUTH),
    operation("<=",                   RANGE,   TRUTH),
    operation(">",                    RANGE,   TRUTH),
    operation(">=",                   RANGE,   TRUTH),
    operation("IS DISTINCT FROM",     PAIR,    TRUTH, nullability=never),
    operation("IS NOT DISTINCT FROM", PAIR,    TRUTH, nullability=never),
    operation("IS NULL",              (ANY,),  TRUTH, nullability=never),
    operation("IS NOT NULL",          (ANY,),  TRUTH, nullability=never),
    operation("BETWEEN",              BETWEEN, TRUTH),
    operation("NOT BETWEEN",          BETWEEN, TRUTH),
    operation("LIKE",                 PATTERN, TRUTH, optional=1),
    operation("NOT LIKE",             PATTERN, TRUTH, optional=1),
    operation("SIMILAR TO",           PATTERN, TRUTH, optional=1),
    operation("NOT SIMILAR TO",       PATTERN, TRUTH, optional=1),
    Function("IN",                    LIST,    membership,
             repeats=1, nullability=None, many_rows=True),
    Function("NOT IN",                LIST,    membership,
             repeats=1, nullability=None, many_rows=True),
    *(
        Function(f"{operator} {quantifier}", LIST, membership,
                 repeats=1, nullability=None, many_rows=True)
        for operator in ("=", "<>", "<", "<=", ">", ">=")
        for quantifier in ("SOME", "ALL")
    ),
    # --- three-valued logic -----------------------------------------------------------------------
    operation("AND",            (BOOLEAN, BOOLEAN), TRUTH, repeats=1),
    operation("OR",             (BOOLEAN, BOOLEAN), TRUTH, repeats=1),
    operation("NOT",            (BOOLEAN,),         TRUTH),
    operation("IS TRUE",        (BOOLEAN,),         TRUTH, nullability=never),
    operation("IS NOT TRUE",    (BOOLEAN,),         TRUTH, nullability=never),
    operation("IS FALSE",       (BOOLEAN,),         TRUTH, nullability=never),
    operation("IS NOT FALSE",   (BOOLEAN,),         TRUTH, nullability=never),
    operation("IS UNKNOWN",     (BOOLEAN,),         TRUTH, nullability=never),
    operation("IS NOT UNKNOWN", (BOOLEAN,),         TRUTH, nullability=never),
    # --- rules of the Table API -------------------------------------------------------------------
    bridged("GREATEST", (COMPARABLE,), commonly(), repeats=1),
    bridged("LEAST",    (COMPARABLE,), commonly(), repeats=1),
)  # fmt: skip
