"""The type that holds the values of several where SQL itself asks: CASE, UNION, VALUES, ARRAY[...].

It is Calcite's rule and differs from `common_type`, which Flink's own functions follow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from schema_core.types.atomic import DoubleType
from schema_core.types.common import by_cast, merge
from schema_core.types.defined import StructuredType
from schema_core.types.families import TypeFamily, TypeRoot
from schema_core.types.nested import RowType, require_types
from schema_core.types.temporal import (
    AnyTimestampType,
    DayTimeIntervalType,
    DayTimeResolution,
    YearMonthIntervalType,
    YearMonthResolution,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schema_core.types.base import DataType

R, F = TypeRoot, TypeFamily


def least_restrictive(types: Sequence[DataType]) -> DataType | None:
    """The type that SQL gives to several expressions in one place, or None where it refuses.

    It is nullable when one of them is.

    >>> from schema_core.types import DataTypes as T
    >>> print(least_restrictive([T.FLOAT(), T.DOUBLE()]))
    FLOAT
    >>> least_restrictive([T.DATE(), T.TIMESTAMP(3)]) is None
    True
    """
    require_types(types)
    nullable = any(type_.is_nullable for type_ in types)
    plain = [type_.nullable() for type_ in types]
    known = [type_ for type_ in plain if type_.root is not R.NULL]
    if not known:
        return None
    first = known[0]
    if isinstance(first, StructuredType) and types[0].root is R.NULL:
        return None  # an untyped NULL comes to nothing before a structured type, only behind it
    if all(type_ == first for type_ in known):
        found: DataType | None = first
    elif not first.is_(F.CONSTRUCTED):
        found = _by_kind(plain)
    elif len(known) == len(types):
        found = _child_by_child(known)
    else:
        found = by_cast(known)
    return None if found is None else _as_sql(found).with_nullability(nullable)


def _by_kind(types: Sequence[DataType]) -> DataType | None:
    """What the kinds agree upon from the first to the last, unless one is a date or a time."""
    result: DataType | None = None
    for type_, following in zip(types, (*types[1:], None), strict=True):
        if type_.root is R.NULL:
            continue
        result = type_ if result is None else _merged(result, type_)
        if result is None:
            return None
        if following is not None and (moment := _moment(result, type_, following)):
            return moment
    return result


def _moment(result: DataType, type_: DataType, following: DataType) -> DataType | None:
    """A date or time beside what may be added to it: it wins over all else at once."""
    if type_.is_(F.DATETIME) and following.is_(F.INTERVAL, F.INTEGER_NUMERIC):
        return type_
    if result.is_(F.INTERVAL, F.EXACT_NUMERIC) and following.is_(F.DATETIME):
        return following
    return None


def _merged(left: DataType, right: DataType) -> DataType | None:
    """What two types of one kind become."""
    if left.is_(F.APPROXIMATE_NUMERIC) and right.is_(F.APPROXIMATE_NUMERIC):
        return left  # both have 15 digits in Flink's SQL, so the first wins
    if left.root is R.DECIMAL and right.is_(F.APPROXIMATE_NUMERIC):
        return DoubleType()
    if isinstance(left, AnyTimestampType) and isinstance(right, AnyTimestampType):
        if left.precision == right.precision:
            return left
        return type(right)(max(left.precision, right.precision))
    return merge(left, right)


def _child_by_child(types: Sequence[DataType]) -> DataType | None:
    """The first type with what its children become: a structured type counts as a row."""
    first = types[0]
    if not all(_alike(first, type_) for type_ in types):
        return None
    columns = zip(*(type_.children() for type_ in types), strict=True)
    children = [least_restrictive(column) for column in columns]
    found = tuple(child for child in children if child is not None)
    return first.rebuild(found) if len(found) == len(children) else None


def _alike(first: DataType, other: DataType) -> bool:
    if isinstance(first, RowType):
        return isinstance(other, RowType | StructuredType) and len(other.fields) == len(first)
    return first.root is other.root or (first.is_(F.COLLECTION) and other.is_(F.COLLECTION))


def _as_sql(type_: DataType) -> DataType:
    """Intervals lose their fields in SQL: months and milliseconds are all there is."""
    match type_:
        case YearMonthIntervalType():
            return YearMonthIntervalType(YearMonthResolution.MONTH)
        case DayTimeIntervalType():
            return DayTimeIntervalType(DayTimeResolution.SECOND, fractional_precision=3)
        case _:
            return type_
