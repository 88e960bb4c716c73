"""What an argument becomes where the Table API asks for a kind of type rather than for a type.

SQL never converts arguments of its own functions; those that Flink brought over from the Table
API convert as here, which is why ``INTERVAL MONTH`` passes for a number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from schema_core.types import (
    AnyTimestampType,
    BigIntType,
    BinaryType,
    BooleanType,
    CharType,
    DateType,
    DayTimeIntervalType,
    DayTimeResolution,
    DecimalType,
    DoubleType,
    FloatType,
    IntType,
    LengthType,
    LocalZonedTimestampType,
    NullType,
    RowType,
    SmallIntType,
    StructuredType,
    TimestampKind,
    TimestampType,
    TimeType,
    TinyIntType,
    TypeFamily,
    TypeRoot,
    VarBinaryType,
    VarCharType,
    YearMonthIntervalType,
    YearMonthResolution,
    ZonedTimestampType,
)
from schema_core.types.casts import supports_implicit_cast
from schema_core.types.decimals import DIGITS

if TYPE_CHECKING:
    from collections.abc import Callable

    from schema_core.types import DataType

R, F = TypeRoot, TypeFamily


def _decimal(actual: DataType) -> DataType:
    match actual:
        case DecimalType():
            return actual
        case FloatType():
            return DecimalType(14, 7)
        case DoubleType():
            return DecimalType(30, 15)
        case _:
            return DecimalType(DIGITS.get(actual.root, 1), 0)


def _text(actual: DataType) -> DataType:
    return VarCharType().with_length(actual.length if isinstance(actual, CharType) else 1)


def _bytes(actual: DataType) -> DataType:
    return VarBinaryType().with_length(actual.length if isinstance(actual, BinaryType) else 1)


def _time(actual: DataType) -> DataType:
    return TimeType(actual.precision if isinstance(actual, TimestampType) else 0)


#: Root that is asked for -> the type that an argument of another root is cast to. Roots without a
#: row take nothing else, not even NULL.
BUILT: dict[TypeRoot, Callable[[DataType], DataType]] = {
    R.CHAR:                            lambda _: CharType(1),
    R.VARCHAR:                         _text,
    R.BOOLEAN:                         lambda _: BooleanType(),
    R.BINARY:                          lambda _: BinaryType(1),
    R.VARBINARY:                       _bytes,
    R.DECIMAL:                         _decimal,
    R.TINYINT:                         lambda _: TinyIntType(),
    R.SMALLINT:                        lambda _: SmallIntType(),
    R.INTEGER:                         lambda _: IntType(),
    R.BIGINT:                          lambda _: BigIntType(),
    R.FLOAT:                           lambda _: FloatType(),
    R.DOUBLE:                          lambda _: DoubleType(),
    R.DATE:                            lambda _: DateType(),
    R.TIME_WITHOUT_TIME_ZONE:          _time,
    R.TIMESTAMP_WITHOUT_TIME_ZONE:     lambda _: TimestampType(6),
    R.TIMESTAMP_WITH_TIME_ZONE:        lambda _: ZonedTimestampType(6),
    R.TIMESTAMP_WITH_LOCAL_TIME_ZONE:  lambda _: LocalZonedTimestampType(6),
    R.INTERVAL_YEAR_MONTH:             lambda _: YearMonthIntervalType(YearMonthResolution.MONTH),
    R.INTERVAL_DAY_TIME:               lambda _: DayTimeIntervalType(DayTimeResolution.SECOND),
    R.NULL:                            lambda _: NullType(),
}  # fmt: skip

#: Family that is asked for -> the root that an argument of no member of it is cast to.
FALLBACK: dict[TypeFamily, TypeRoot] = {
    F.NUMERIC: R.TINYINT,
    F.INTEGER_NUMERIC: R.TINYINT,
    F.EXACT_NUMERIC: R.TINYINT,
    F.APPROXIMATE_NUMERIC: R.DOUBLE,
    F.CHARACTER_STRING: R.VARCHAR,
    F.BINARY_STRING: R.VARBINARY,
    F.TIME: R.TIME_WITHOUT_TIME_ZONE,
    F.TIMESTAMP: R.TIMESTAMP_WITHOUT_TIME_ZONE,
}


def as_kind(actual: DataType, kind: TypeRoot | TypeFamily) -> DataType | None:
    """The type under which an argument passes for a root or family, or None.

    >>> from schema_core.types import DataTypes as T
    >>> print(as_kind(T.CHAR(3), TypeFamily.CHARACTER_STRING), as_kind(T.TINYINT(), R.INTEGER))
    CHAR(3) INT
    >>> as_kind(T.BIGINT(), R.INTEGER) is None
    True
    """
    if actual.is_(kind):
        return actual
    root = FALLBACK.get(kind) if isinstance(kind, TypeFamily) else kind
    build = BUILT.get(root) if root else None
    return as_type(actual, build(actual)) if build else None


def as_type(actual: DataType, target: DataType) -> DataType | None:
    """The target, nullable where the argument is, if the argument casts into it by itself.

    >>> from schema_core.types import DataTypes as T
    >>> print(as_type(T.INT(nullable=False), T.BIGINT()))
    BIGINT NOT NULL
    """
    if actual.root is R.NULL:
        return target.nullable()
    wanted = target.with_nullability(actual.is_nullable)
    return wanted if supports_implicit_cast(actual, wanted) else None


def holds_null(type_: DataType) -> bool:
    """Whether a value may be NULL or, for a row, one of its fields: what SQL's operators ask.

    >>> from schema_core.types import parse_type
    >>> holds_null(parse_type("ROW<a INT> NOT NULL"))
    True
    """
    if type_.is_nullable:
        return True
    return isinstance(type_, RowType | StructuredType) and any(map(holds_null, type_.children()))


def time_attribute(type_: DataType) -> TimestampKind:
    """Which time attribute a type is; types that differ in it alone are equal."""
    return type_.kind if isinstance(type_, AnyTimestampType) else TimestampKind.REGULAR


def varying(type_: LengthType) -> LengthType:
    """The string type of at most as many characters or bytes."""
    kind = VarCharType if type_.is_(F.CHARACTER_STRING) else VarBinaryType
    return kind().with_length(type_.length).with_nullability(type_.is_nullable)
