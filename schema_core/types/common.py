"""The type that holds the values of several: Flink's rules for functions and the Table API.

They depend on the order of the types where Flink's do. SQL's own rule, for CASE, UNION and VALUES,
is in `least_restrictive`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schema_core.errors import SchemaError
from schema_core.types.atomic import DoubleType, LengthType, VarBinaryType, VarCharType
from schema_core.types.casts import supports_implicit_cast
from schema_core.types.decimals import as_decimal, common_decimal
from schema_core.types.defined import LegacyType
from schema_core.types.families import MEMBERS, TypeFamily, TypeRoot
from schema_core.types.nested import require_types
from schema_core.types.temporal import (
    AnyTimestampType,
    DayTimeIntervalType,
    DayTimeResolution,
    LocalZonedTimestampType,
    TimeType,
    YearMonthIntervalType,
    YearMonthResolution,
    ZonedTimestampType,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from schema_core.types.base import DataType

    Merge: TypeAlias = Callable[[Any, Any], DataType]

R, F = TypeRoot, TypeFamily


def common_type(types: Sequence[DataType]) -> DataType | None:
    """The type that all of these become where they meet, or None where there is none.

    It is nullable when one of them is. Flink's LogicalTypeMerging, of which ``COALESCE``, ``IF``
    and all functions with arguments of one type are made.

    >>> from schema_core.types import DataTypes as T
    >>> print(common_type([T.INT(nullable=False), T.DECIMAL(5, 2)]))
    DECIMAL(12, 2)
    >>> print(common_type([T.DATE(), T.TIMESTAMP(3)]))
    DATE
    >>> common_type([T.INT(), T.STRING()]) is None
    True

    Raises:
        SchemaError: with code `invalid-legacy-type` for a type of before Flink 1.9 beside another
            one of its kind.
    """
    require_types(types)
    if not types:
        return None
    nullable = any(type_.is_nullable for type_ in types)
    plain = [type_.nullable() for type_ in types]
    found = _by_pattern(plain)
    if found is None:
        found = by_cast(plain)
    return None if found is None or found.root is R.NULL else found.with_nullability(nullable)


def by_cast(types: Sequence[DataType]) -> DataType | None:
    """The last type into which those before it cast."""
    result = types[0]
    for type_ in types:
        if type_.root is R.NULL:
            continue
        if supports_implicit_cast(result, type_):
            result = type_
        elif not supports_implicit_cast(type_, result):
            return None
    return result


def _by_pattern(types: Sequence[DataType]) -> DataType | None:
    """The type that the kinds of the types agree upon, from the first to the last."""
    if any(type_.root is R.RAW for type_ in types):
        return types[0] if all(type_ == types[0] for type_ in types) else None
    result: DataType | None = None
    for type_ in types:
        if type_.root is R.NULL:
            continue
        before = type_ if result is None else result
        result = _moment(before, type_)
        if result is None and type_.is_(F.CONSTRUCTED):
            return _child_by_child(types)
        if result is None:
            result = merge(before, type_)
        if result is None:
            return None
    return result


def _moment(left: DataType, right: DataType) -> DataType | None:
    """A date or timestamp beside what may be added to it: intervals and, but for TIME, numbers."""
    for one, other in ((left, right), (right, left)):
        if one.is_(F.DATETIME) and other.is_(F.INTERVAL):
            return one
        if one.is_(F.TIMESTAMP, R.DATE) and other.is_(F.EXACT_NUMERIC):
            return one
    return None


def _child_by_child(types: Sequence[DataType]) -> DataType | None:
    """The first type with the common types of the children; names are those of the first."""
    first, *others = types
    count = len(first.children())
    if any(type_.root is not first.root or len(type_.children()) != count for type_ in others):
        return None
    children = [common_type(column) for column in zip(*(t.children() for t in types), strict=True)]
    found = tuple(child for child in children if child is not None)
    return first.rebuild(found) if len(found) == count else None


# --- two types of one kind -----------------------------------------------------------------------


def merge(left: DataType, right: DataType) -> DataType | None:
    """What two types of one kind have in common, or None for types of different kinds."""
    for roots, of_kind in MERGES:
        if left.root in roots and right.root in roots:
            _require_parameters(left, right)
            return left if isinstance(left, LegacyType) else of_kind(left, right)
    return None


def _require_parameters(left: DataType, right: DataType) -> None:
    """Refuse types of before Flink 1.9, which have no length or precision to compare."""
    if not isinstance(left, LegacyType) and not isinstance(right, LegacyType):
        return
    if left != right or left.is_(F.CHARACTER_STRING, F.BINARY_STRING):
        raise SchemaError(f"{left} and {right} cannot be compared", code="invalid-legacy-type")


def _strings(left: LengthType, right: LengthType) -> DataType:
    """The longer length; of two fixed lengths that differ, a variable one."""
    length = max(left.length, right.length)
    if isinstance(left, VarCharType | VarBinaryType):
        return left.with_length(length)
    if left.length != right.length:
        varying = VarCharType() if left.is_(F.CHARACTER_STRING) else VarBinaryType()
        return varying.with_length(length)
    return right


def _numbers(left: DataType, right: DataType) -> DataType:
    """Exact numbers keep their digits; which approximate number wins depends on the order."""
    match left.is_(F.EXACT_NUMERIC), right.is_(F.EXACT_NUMERIC):
        case True, True:
            return _exact(left, right)
        case True, False:
            return right
        case False, True:
            return DoubleType() if right.root is R.DECIMAL else left
        case _:
            return right if right.root is R.DOUBLE else left


def _exact(left: DataType, right: DataType) -> DataType:
    one, other = as_decimal(left), as_decimal(right)
    if R.DECIMAL in (left.root, right.root):
        return common_decimal(one, other).nullable()
    return right if other.precision > one.precision else left


def _times(left: TimeType, right: TimeType) -> DataType:
    return TimeType(max(left.precision, right.precision))


def _timestamps(left: AnyTimestampType, right: AnyTimestampType) -> DataType:
    """One with a zone wins over a local one, which wins over one without."""
    if left == right:
        return left  # with its time attribute
    kind: type[AnyTimestampType] = type(left)
    if left.root is not right.root:
        zoned = ZonedTimestampType in (type(left), type(right))
        kind = ZonedTimestampType if zoned else LocalZonedTimestampType
    return kind(max(left.precision, right.precision))


def _day_time(left: DayTimeIntervalType, right: DayTimeIntervalType) -> DataType:
    return DayTimeIntervalType(
        DayTimeResolution(_span(left.resolution.value, right.resolution.value)),
        max(left.day_precision, right.day_precision),
        max(left.fractional_precision, right.fractional_precision),
    )


def _year_month(left: YearMonthIntervalType, right: YearMonthIntervalType) -> DataType:
    return YearMonthIntervalType(
        YearMonthResolution(_span(left.resolution.value, right.resolution.value)),
        max(left.precision, right.precision),
    )


#: The fields of intervals, from coarse to fine.
FIELDS = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")


def _span(left: str, right: str) -> str:
    """From the coarsest to the finest field of two resolutions.

    >>> _span("DAY TO HOUR", "SECOND")
    'DAY TO SECOND'
    """
    fields = sorted(f"{left} TO {right}".split(" TO "), key=FIELDS.index)
    first, last = fields[0], fields[-1]
    return first if first == last else f"{first} TO {last}"


#: Kind -> what two of that kind become. Kinds without a row have nothing in common but a cast.
MERGES: tuple[tuple[frozenset[TypeRoot], Merge], ...] = (
    (MEMBERS[F.CHARACTER_STRING],          _strings),
    (MEMBERS[F.BINARY_STRING],             _strings),
    (MEMBERS[F.NUMERIC],                   _numbers),
    (frozenset({R.DATE}),                  lambda left, _: left),
    (MEMBERS[F.TIME],                      _times),
    (MEMBERS[F.TIMESTAMP],                 _timestamps),
    (frozenset({R.INTERVAL_DAY_TIME}),     _day_time),
    (frozenset({R.INTERVAL_YEAR_MONTH}),   _year_month),
)  # fmt: skip
