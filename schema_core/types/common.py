"""Common types, and the types of decimal arithmetic (Flink's LogicalTypeMerging).

Functions and the Table API have Flink's own rule (`common_type`). SQL's CASE, UNION, VALUES and
ARRAY[...] have Calcite's (`least_restrictive`). Both depend on the order of the types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schema_core.errors import SchemaError
from schema_core.types import temporal
from schema_core.types.atomic import DecimalType, DoubleType, LengthType, VarBinaryType, VarCharType
from schema_core.types.casts import supports_implicit_cast
from schema_core.types.families import MEMBERS, TypeFamily, TypeRoot
from schema_core.types.nested import RowType, require_types
from schema_core.types.user_defined import LegacyType, StructuredType

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from schema_core.types.base import DataType

    Merge: TypeAlias = Callable[[Any, Any], DataType]
    from collections.abc import Callable

    from schema_core.types.base import DataType

    #: Precision and scale of two decimals -> those of the result, which may exceed the maximum.
    Formula: TypeAlias = Callable[[int, int, int, int], tuple[int, int]]

R, F = TypeRoot, TypeFamily


def common_type(types: Sequence[DataType]) -> DataType | None:
    """The common type of several, nullable if one of them is; None if they have none.

    It types ``COALESCE``, ``IF`` and all functions whose arguments share one type.

    >>> from schema_core.types import DataTypes as T
    >>> print(common_type([T.INT(nullable=False), T.DECIMAL(5, 2)]))
    DECIMAL(12, 2)
    >>> common_type([T.INT(), T.STRING()]) is None
    True

    Raises:
        SchemaError: with code `invalid-type` for a legacy type beside another type of the
            same family.
    """
    require_types(types)
    if not types:
        return None
    nullable = any(type_.is_nullable for type_ in types)
    plain = [type_.nullable() for type_ in types]
    common = _by_pattern(plain)
    if common is None:
        common = widest_by_cast(plain)
    return None if common is None or common.root is R.NULL else common.with_nullability(nullable)


def widest_by_cast(types: Sequence[DataType]) -> DataType | None:
    """Fold the types to the wider of two, where one casts implicitly to the other."""
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
    """Fold the types by family, from the first to the last."""
    if any(type_.root is R.RAW for type_ in types):
        return types[0] if all(type_ == types[0] for type_ in types) else None
    result: DataType | None = None
    for type_ in types:
        if type_.root is R.NULL:
            continue
        before = type_ if result is None else result
        result = _datetime(before, type_)
        if result is None and type_.is_(F.CONSTRUCTED):
            return _merge_children(types)
        if result is None:
            result = merge(before, type_)
        if result is None:
            return None
    return result


def _datetime(left: DataType, right: DataType) -> DataType | None:
    """The datetime of a datetime and an interval or, except for TIME, an exact number."""
    for first, second in ((left, right), (right, left)):
        if first.is_(F.DATETIME) and second.is_(F.INTERVAL):
            return first
        if first.is_(F.TIMESTAMP, R.DATE) and second.is_(F.EXACT_NUMERIC):
            return first
    return None


def _merge_children(types: Sequence[DataType]) -> DataType | None:
    """The first type with the common types of the children; it keeps its field names."""
    first, *others = types
    count = len(first.children())
    if any(type_.root is not first.root or len(type_.children()) != count for type_ in others):
        return None
    children = [common_type(column) for column in zip(*(t.children() for t in types), strict=True)]
    merged = tuple(child for child in children if child is not None)
    return first.rebuild(merged) if len(merged) == count else None


# --- two types of one family ---------------------------------------------------------------------


def merge(left: DataType, right: DataType) -> DataType | None:
    """The common type of two types of one family; None for different families."""
    for roots, of_kind in MERGES:
        if left.root in roots and right.root in roots:
            if not isinstance(left, LegacyType) and not isinstance(right, LegacyType):
                return of_kind(left, right)
            if left == right and not left.is_(F.CHARACTER_STRING, F.BINARY_STRING):
                return left
            # legacy types have no length or precision to compare
            raise SchemaError(f"{left} and {right} cannot be compared", code="invalid-type")
    return None


def _strings(left: LengthType, right: LengthType) -> DataType:
    """The longer string type; different fixed lengths become variable."""
    length = max(left.length, right.length)
    if isinstance(left, VarCharType | VarBinaryType):
        return left.with_length(length)
    if left.length != right.length:
        varying = VarCharType() if left.is_(F.CHARACTER_STRING) else VarBinaryType()
        return varying.with_length(length)
    return right


def _numbers(left: DataType, right: DataType) -> DataType:
    """The numeric type, which depends on the order for approximate numbers."""
    match left.is_(F.EXACT_NUMERIC), right.is_(F.EXACT_NUMERIC):
        case True, True:
            first, second = as_decimal(left), as_decimal(right)
            if R.DECIMAL in (left.root, right.root):
                return common_decimal(first, second).nullable()
            return right if second.precision > first.precision else left
        case True, False:
            return right
        case False, True:
            return DoubleType() if right.root is R.DECIMAL else left
        case _:
            return right if right.root is R.DOUBLE else left


def _times(left: temporal.TimeType, right: temporal.TimeType) -> DataType:
    return temporal.TimeType(max(left.precision, right.precision))


def _timestamps(left: temporal.AnyTimestampType, right: temporal.AnyTimestampType) -> DataType:
    """Prefer WITH TIME ZONE to WITH LOCAL TIME ZONE to a timestamp without time zone."""
    if left == right:
        return left  # with its time attribute
    kind: type[temporal.AnyTimestampType] = type(left)
    if left.root is not right.root:
        zoned = temporal.ZonedTimestampType in (type(left), type(right))
        kind = temporal.ZonedTimestampType if zoned else temporal.LocalZonedTimestampType
    return kind(max(left.precision, right.precision))


def _day_time(left: temporal.DayTimeIntervalType, right: temporal.DayTimeIntervalType) -> DataType:
    return temporal.DayTimeIntervalType(
        temporal.DayTimeResolution(_span(left.resolution.value, right.resolution.value)),
        max(left.day_precision, right.day_precision),
        max(left.fractional_precision, right.fractional_precision),
    )


def _year_month(
    left: temporal.YearMonthIntervalType, right: temporal.YearMonthIntervalType
) -> DataType:
    return temporal.YearMonthIntervalType(
        temporal.YearMonthResolution(_span(left.resolution.value, right.resolution.value)),
        max(left.precision, right.precision),
    )


#: From coarse to fine.
FIELDS = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")


def _span(left: str, right: str) -> str:
    """The resolution from the coarsest to the finest field."""
    fields = sorted(f"{left} TO {right}".split(" TO "), key=FIELDS.index)
    first, last = fields[0], fields[-1]
    return first if first == last else f"{first} TO {last}"


#: Family -> the rule for two of its types. Others only have a common type by implicit cast.
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


# --- in SQL --------------------------------------------------------------------------------------


def least_restrictive(types: Sequence[DataType]) -> DataType | None:
    """The common type of several expressions in SQL; None if they have none.

    It is nullable if one of them is.

    >>> from schema_core.types import DataTypes as T
    >>> print(least_restrictive([T.FLOAT(), T.DOUBLE()]))
    FLOAT
    >>> least_restrictive([T.DATE(), T.TIMESTAMP(3)]) is None
    True
    """
    require_types(types)
    nullable = any(type_.is_nullable for type_ in types)
    plain = [type_.nullable() for type_ in types]
    typed = [type_ for type_ in plain if type_.root is not R.NULL]
    if not typed:
        return None
    first = typed[0]
    if isinstance(first, StructuredType) and types[0].root is R.NULL:
        return None  # SQL accepts an untyped NULL only after a structured type, not before it
    if all(type_ == first for type_ in typed):
        common: DataType | None = first
    elif not first.is_(F.CONSTRUCTED):
        common = _calcite_fold(plain)
    elif len(typed) == len(types):
        common = _calcite_children(typed)
    else:
        common = widest_by_cast(typed)
    if common is None and all(type_.root is R.MAP for type_ in typed):
        common = typed[-1]  # Calcite has no common type of maps and takes the last
    match common:
        case None:
            return None
        case temporal.YearMonthIntervalType():  # intervals have two types in SQL
            common = temporal.YearMonthIntervalType(temporal.YearMonthResolution.MONTH)
        case temporal.DayTimeIntervalType():
            common = temporal.DayTimeIntervalType(
                temporal.DayTimeResolution.SECOND, fractional_precision=3
            )
    return common.with_nullability(nullable)


def _calcite_fold(types: Sequence[DataType]) -> DataType | None:
    """Fold the types by family, up to a datetime."""
    result: DataType | None = None
    for type_, following in zip(types, (*types[1:], None), strict=True):
        if type_.root is R.NULL:
            continue
        result = type_ if result is None else _calcite_merge(result, type_)
        if result is None:
            return None
        if following is not None and (merged := _calcite_datetime(result, type_, following)):
            return merged
    return result


def _calcite_datetime(result: DataType, type_: DataType, following: DataType) -> DataType | None:
    """The datetime of a datetime and an interval or number, which ends the fold."""
    if type_.is_(F.DATETIME) and following.is_(F.INTERVAL, F.INTEGER_NUMERIC):
        return type_
    if result.is_(F.INTERVAL, F.EXACT_NUMERIC) and following.is_(F.DATETIME):
        return following
    return None


def _calcite_merge(left: DataType, right: DataType) -> DataType | None:
    """The common type of two types of one family in SQL."""
    if left.is_(F.APPROXIMATE_NUMERIC) and right.is_(F.APPROXIMATE_NUMERIC):
        return left  # both have a precision of 15 in Flink's SQL, so the first wins
    if left.root is R.DECIMAL and right.is_(F.APPROXIMATE_NUMERIC):
        return DoubleType()
    if isinstance(left, temporal.AnyTimestampType) and isinstance(right, temporal.AnyTimestampType):
        if left.precision == right.precision:
            return left
        return type(right)(max(left.precision, right.precision))
    return merge(left, right)


def _calcite_children(types: Sequence[DataType]) -> DataType | None:
    """The first type with the common types of the children; structured types are rows."""
    first = types[0]
    if isinstance(first, RowType):
        alike = all(
            isinstance(type_, RowType | StructuredType) and len(type_.fields) == len(first)
            for type_ in types
        )
    else:
        is_collection = first.is_(F.COLLECTION)
        alike = all(
            type_.root is first.root or (is_collection and type_.is_(F.COLLECTION))
            for type_ in types
        )
    if not alike:
        return None
    columns = zip(*(type_.children() for type_ in types), strict=True)
    children = [least_restrictive(column) for column in columns]
    merged = tuple(child for child in children if child is not None)
    return first.rebuild(merged) if len(merged) == len(children) else None


# --- decimals: the results of arithmetic, SUM, AVG and ROUND --------------------------------------

#: Maximum precision, and the least scale that a result of it keeps.
MAX_PRECISION = 38
KEPT_SCALE = 6

#: Integer root -> the precision of the decimal of all its values.
DIGITS = {
    R.TINYINT: 3,
    R.SMALLINT: 5,
    R.INTEGER: 10,
    R.BIGINT: 19,
}


def as_decimal(type_: DataType) -> DecimalType:
    """The NOT NULL decimal of the values of a decimal or integer type.

    >>> from schema_core.types import IntType
    >>> print(as_decimal(IntType()))
    DECIMAL(10, 0) NOT NULL
    """
    if isinstance(type_, DecimalType):
        return type_.not_null()
    return DecimalType(DIGITS[type_.root], 0, nullable=False)


def reduce_scale(precision: int, scale: int) -> DecimalType:
    """The decimal of a precision and scale; the scale is reduced beyond 38 digits.

    >>> print(reduce_scale(77, 20))
    DECIMAL(38, 6) NOT NULL
    """
    if precision > MAX_PRECISION:
        whole = precision - scale
        scale = max(MAX_PRECISION - whole, min(scale, KEPT_SCALE))
        precision = MAX_PRECISION
    return DecimalType(precision, scale, nullable=False)


def _sum_digits(p1: int, s1: int, p2: int, s2: int) -> tuple[int, int]:
    scale = max(s1, s2)
    return max(p1 - s1, p2 - s2) + scale + 1, scale


def _product_digits(p1: int, s1: int, p2: int, s2: int) -> tuple[int, int]:
    """One digit more than Calcite: Flink follows SQL Server."""
    return p1 + p2 + 1, s1 + s2


def _quotient_digits(p1: int, s1: int, p2: int, s2: int) -> tuple[int, int]:
    scale = max(KEPT_SCALE, s1 + p2 + 1)
    return p1 - s1 + s2 + scale, scale


def _remainder_digits(p1: int, s1: int, p2: int, s2: int) -> tuple[int, int]:
    scale = max(s1, s2)
    return min(p1 - s1, p2 - s2) + scale, scale


#: Operator -> precision and scale of its result.
FORMULAS: dict[str, Formula] = {
    "+": _sum_digits,
    "-": _sum_digits,
    "*": _product_digits,
    "/": _quotient_digits,
    "%": _remainder_digits,
}


def decimal_result(operator: str, left: DecimalType, right: DecimalType) -> DecimalType:
    """The result type of ``+ - * / %``.

    >>> print(decimal_result("/", DecimalType(10, 2), DecimalType(5, 3)))
    DECIMAL(19, 8) NOT NULL
    """
    return reduce_scale(
        *FORMULAS[operator](left.precision, left.scale, right.precision, right.scale)
    )


def decimal_sum(type_: DecimalType) -> DecimalType:
    """The type of SUM."""
    return DecimalType(MAX_PRECISION, type_.scale, nullable=False)


def decimal_average(type_: DecimalType) -> DecimalType:
    """The type of AVG: the sum divided by a count of 20 digits."""
    return decimal_result("/", decimal_sum(type_), DecimalType(20, 0))


def decimal_round(type_: DecimalType, digits: int) -> DecimalType:
    """The type of ROUND and TRUNCATE to constant decimal places.

    >>> print(decimal_round(DecimalType(10, 3), 1))
    DECIMAL(9, 1) NOT NULL
    """
    if digits >= type_.scale:
        return type_.not_null()
    whole = 1 + type_.precision - type_.scale
    if digits < 0:
        return DecimalType(min(MAX_PRECISION, whole), 0, nullable=False)
    return DecimalType(whole + digits, digits, nullable=False)


def common_decimal(left: DecimalType, right: DecimalType) -> DecimalType:
    """The common decimal of two; its scale is reduced beyond 38 digits.

    >>> print(common_decimal(DecimalType(19, 0), DecimalType(38, 20)))
    DECIMAL(38, 19) NOT NULL
    """
    whole = max(left.precision - left.scale, right.precision - right.scale)
    scale = min(max(left.scale, right.scale), MAX_PRECISION - whole)
    return DecimalType(whole + scale, scale, nullable=False)
