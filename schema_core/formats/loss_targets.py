"""What becomes of each kind of type in a foreign format, as rows: one table a target.

A row says under which condition a type is carried as another one, and which kind of loss that is,
for a reader who knows nothing of our notes. The laws compare these rows with what pyarrow, Parquet
files and Spark give back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple
from unicodedata import category

from schema_core.types import (
    MAX_LENGTH,
    AnyTimestampType,
    ArrayType,
    BigIntType,
    BinaryType,
    BitmapType,
    CharType,
    DataType,
    DayTimeIntervalType,
    DayTimeResolution,
    DescriptorType,
    DistinctType,
    IntType,
    LegacyType,
    LengthType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    NullType,
    RawType,
    RowField,
    RowType,
    SmallIntType,
    StructuredType,
    SymbolType,
    TimestampType,
    TimeType,
    UnresolvedType,
    VarBinaryType,
    VarCharType,
    VariantType,
    YearMonthIntervalType,
    YearMonthResolution,
    ZonedTimestampType,
)


class LossKind(Enum):
    """What is lost: a word, what it means, and whether values change without anybody noticing."""

    LENGTH = ("length", "the length of a string is forgotten", False)
    PRECISION = ("precision", "room for more digits than the type has", False)
    TYPE = ("type", "another type with the same values", False)
    NULL_KEYS = ("null-keys", "a key that is NULL is refused when it is written", False)
    RANGE = ("range", "a value outside the range is refused when it is written", False)
    NULLABILITY = ("nullability", "NOT NULL is forgotten", False)
    LAYOUT = ("layout", "another physical layout of the same values", False)
    ZONE = ("zone", "the same instants, shown in another time zone", False)
    COLLATION = ("collation", "the same texts, compared in another way", False)
    MEMBER = ("member", "a part of the schema that has no place there", False)
    DIGITS = ("digits", "values lose the last digits of a second", True)
    ROUNDED = ("rounded", "numbers lose their last digits", True)
    EMPTIED = ("emptied", "NULL becomes an empty value", True)
    REFUSED = ("refused", "nothing there holds the values", False)

    def __init__(self, word: str, meaning: str, changes_values: bool) -> None:
        self.word = word
        self.meaning = meaning
        self.changes_values = changes_values


class Row(NamedTuple):
    """What a kind of type becomes, when, and which loss that is; None: nothing holds it."""

    kind: LossKind
    becomes: Callable[[Any], DataType] | None
    when: Callable[[Any], bool] = lambda _: True
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Target:
    """A foreign format: its rows by class of type, and what is so for all of them.

    `notes`: it has room for our notes. `folds_case`: columns that differ in case alone are one.
    """

    name: str
    rows: Mapping[type[DataType], tuple[Row, ...]]
    notes: bool = True
    forgets_not_null: bool = False
    folds_case: bool = False


STRING = VarCharType(MAX_LENGTH)
BYTES = VarBinaryType(MAX_LENGTH)
MICROSECONDS = 6
NANOSECONDS = 9


def _bounded(type_: LengthType) -> bool:
    return type_.length != MAX_LENGTH


#: Readers of Arrow's messages refuse wide values of fixed size; a mebibyte is far from that.
MAX_FIXED_BYTES = 1 << 20


def has_fixed_size(length: int) -> bool:
    """Whether values of so many bytes are held as values of fixed size in Arrow."""
    return 0 < length <= MAX_FIXED_BYTES


def _has_no_fixed_size(type_: LengthType) -> bool:
    return not has_fixed_size(type_.length)


def _is(type_: DataType) -> Callable[[DataType], DataType]:
    return lambda _: type_


def arrow_digits(precision: int) -> int:
    """The digits of the coarsest unit that holds them and that Spark reads, too."""
    return MICROSECONDS if precision <= MICROSECONDS else NANOSECONDS


def _timestamp(digits: Callable[[int], int]) -> Callable[[AnyTimestampType], DataType]:
    return lambda type_: type(type_)(digits(type_.precision))


def _spark_digits(precision: int) -> int:
    return MICROSECONDS


def widest_days(digits: int) -> DayTimeIntervalType:
    """The interval of days and times that holds every other one."""
    return DayTimeIntervalType(DayTimeResolution.DAY_TO_SECOND, 6, digits)


WIDEST_YEARS = YearMonthIntervalType(YearMonthResolution.YEAR_TO_MONTH, 4)


def _arrow_days(type_: DayTimeIntervalType) -> DataType:
    return widest_days(arrow_digits(type_.fractional_precision))


def without_null(type_: DataType) -> DataType:
    """NOT NULL, where the type can be: one that is distinct from NULL cannot either."""
    return type_ if is_null(type_) else type_.not_null()


def _not_null_key(type_: MapType) -> DataType:
    return MapType(without_null(type_.key_type), type_.value_type)


def _not_null_element(type_: MultisetType) -> DataType:
    return MultisetType(without_null(type_.element_type))


def _counted(type_: MultisetType) -> DataType:
    return MapType(without_null(type_.element_type), IntType(nullable=False))


def _row(type_: StructuredType) -> DataType:
    return RowType(type_.fields)


def _with_offset(type_: ZonedTimestampType) -> DataType:
    instant = LocalZonedTimestampType(type_.precision, nullable=False)
    offset = SmallIntType(nullable=False)
    return RowType([RowField("timestamp", instant), RowField("offset_minutes", offset)])


def _parts(_: VariantType) -> DataType:
    return RowType([RowField(name, BYTES.not_null()) for name in ("metadata", "value")])


def _has_null_keys(type_: MapType) -> bool:
    return type_.key_type.is_nullable and not isinstance(type_.key_type, NullType)


def _has_null_elements(type_: MultisetType) -> bool:
    return type_.element_type.is_nullable and not is_null(type_.element_type)


def is_null(type_: DataType) -> bool:
    """Whether it is NULL, perhaps under another name."""
    return is_null(type_.source_type) if isinstance(type_, DistinctType) else type_ == NullType()


def _is_beyond(digits: int) -> Callable[[Any], bool]:
    return lambda type_: type_.precision > digits


_REFUSED = (Row(LossKind.REFUSED, None),)
_ROW_OF_CLASS = (Row(LossKind.TYPE, _row),)
_IN_64_BITS = Row(
    LossKind.RANGE, lambda type_: type_, _is_beyond(MICROSECONDS), " of the years 1677 to 2262"
)

#: What every target does alike: types of Flink alone, whose values have a plain form.
COMMON: dict[type[DataType], tuple[Row, ...]] = {
    CharType:       (Row(LossKind.LENGTH, _is(STRING)),),
    VarCharType:    (Row(LossKind.LENGTH, _is(STRING), _bounded),),
    VarBinaryType:  (Row(LossKind.LENGTH, _is(BYTES), _bounded),),
    MapType:        (Row(LossKind.NULL_KEYS, _not_null_key, _has_null_keys),),
    MultisetType:   (Row(LossKind.NULL_KEYS, _not_null_element, _has_null_elements),
                     Row(LossKind.TYPE, _counted)),
    StructuredType: _ROW_OF_CLASS,
    DistinctType:   (Row(LossKind.TYPE, lambda type_: type_.source_type),),
    RawType:        (Row(LossKind.TYPE, _is(BYTES)),),
    BitmapType:     (Row(LossKind.TYPE, _is(BYTES)),),
    SymbolType:     _REFUSED,
    DescriptorType: _REFUSED,
    LegacyType:     _REFUSED,
    UnresolvedType: _REFUSED,
}  # fmt: skip

_ARROW_TIMESTAMP = (
    Row(
        LossKind.PRECISION,
        _timestamp(arrow_digits),
        lambda type_: type_.precision not in (MICROSECONDS, NANOSECONDS),
    ),
    _IN_64_BITS,
)

#: Arrow in memory, IPC and Feather: nanoseconds at most, 64 bits of them; keys are never NULL.
ARROW: dict[type[DataType], tuple[Row, ...]] = {
    **COMMON,
    BinaryType: (Row(LossKind.LENGTH, _is(BYTES), _has_no_fixed_size),),
    TimeType: (
        Row(
            LossKind.PRECISION,
            lambda type_: TimeType(arrow_digits(type_.precision)),
            lambda type_: type_.precision not in (MICROSECONDS, NANOSECONDS),
        ),
    ),
    TimestampType: _ARROW_TIMESTAMP,
    LocalZonedTimestampType: _ARROW_TIMESTAMP,
    ZonedTimestampType: _ARROW_TIMESTAMP,
    YearMonthIntervalType: (Row(LossKind.TYPE, _is(IntType())),),
    DayTimeIntervalType: (
        Row(LossKind.PRECISION, _arrow_days, lambda type_: _arrow_days(type_) != type_.nullable()),
    ),
    MapType: (Row(LossKind.REFUSED, None, lambda type_: is_null(type_.key_type)),
              *COMMON[MapType]),
    MultisetType: (Row(LossKind.REFUSED, None, lambda type_: is_null(type_.element_type)),
                   *COMMON[MultisetType]),
}  # fmt: skip

#: A Parquet file for readers that know Parquet's types alone.
PARQUET: dict[type[DataType], tuple[Row, ...]] = {
    **ARROW,
    ZonedTimestampType: (*_ARROW_TIMESTAMP, Row(LossKind.TYPE, _with_offset)),
    VariantType: (Row(LossKind.TYPE, _parts),),
    DayTimeIntervalType: (Row(LossKind.TYPE, _is(BigIntType())),),
    RowType: (Row(LossKind.REFUSED, None, lambda type_: not type_.fields),),
    StructuredType: (Row(LossKind.REFUSED, None, lambda type_: not type_.fields), *_ROW_OF_CLASS),
}  # fmt: skip

_SPARK_TIMESTAMP = (
    Row(LossKind.DIGITS, _timestamp(_spark_digits), _is_beyond(MICROSECONDS)),
    Row(
        LossKind.PRECISION,
        _timestamp(_spark_digits),
        lambda type_: type_.precision < MICROSECONDS,
    ),
)


def _spark_days(_: DataType) -> DataType:
    return widest_days(MICROSECONDS)


#: Spark's types in memory and in StructType JSON: microseconds; no lengths of strings.
SPARK: dict[type[DataType], tuple[Row, ...]] = {
    **COMMON,
    BinaryType: (Row(LossKind.LENGTH, _is(BYTES)),),
    TimestampType: _SPARK_TIMESTAMP,
    LocalZonedTimestampType: _SPARK_TIMESTAMP,
    ZonedTimestampType: (*_SPARK_TIMESTAMP, Row(LossKind.TYPE, _with_offset)),
    YearMonthIntervalType: (
        Row(LossKind.PRECISION, _is(WIDEST_YEARS), lambda one: one.nullable() != WIDEST_YEARS),
    ),
    DayTimeIntervalType: (
        Row(LossKind.DIGITS, _spark_days, lambda one: one.fractional_precision > MICROSECONDS),
        Row(
            LossKind.PRECISION,
            _spark_days,
            lambda one: (
                one.fractional_precision <= MICROSECONDS and one.nullable() != _spark_days(one)
            ),
        ),
    ),
}

#: Spark's DDL text says NOT NULL of columns and fields alone, and has no room for notes.
SPARK_DDL: dict[type[DataType], tuple[Row, ...]] = {
    **SPARK,
    ArrayType: (
        Row(
            LossKind.NULLABILITY,
            lambda type_: ArrayType(type_.element_type.nullable()),
            lambda type_: not type_.element_type.is_nullable,
        ),
    ),
    MapType: (
        *SPARK[MapType],
        Row(
            LossKind.NULLABILITY,
            lambda type_: MapType(type_.key_type, type_.value_type.nullable()),
            lambda type_: not type_.value_type.is_nullable,
        ),
    ),
    MultisetType: (
        *SPARK[MultisetType],
        Row(LossKind.NULLABILITY, lambda counted: MapType(counted.key_type, IntType())),
    ),
}

#: What a name within a type is made of in Hive, beside the letters and digits of Java: ``_ .$``.
_OF_A_NAME = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Nd"})


def is_hive_name(name: str) -> bool:
    """Whether the parser of Hive's type texts reads it as the name of a field.

    >>> is_hive_name("Größe 1"), is_hive_name("a-b"), is_hive_name("m²")
    (True, False, False)
    """
    return all(one in "_ .$" or (category(one) in _OF_A_NAME and one <= "\uffff") for one in name)


def _has_no_hive_names(type_: RowType | StructuredType) -> bool:
    """Hive has no field without a fitting name, and takes ``a`` and ``A`` for one."""
    names = [one.name for one in type_.fields]
    return not (
        names and all(map(is_hive_name, names)) and len(set(map(str.lower, names))) == len(names)
    )


#: A table of Hive's own serde (`STORED AS parquet`) written by Spark.
HIVE: dict[type[DataType], tuple[Row, ...]] = {
    **SPARK,
    **dict.fromkeys(
        (TimeType, TimestampType, VariantType, NullType, YearMonthIntervalType,
         DayTimeIntervalType),
        _REFUSED,
    ),
    RowType: (Row(LossKind.REFUSED, None, _has_no_hive_names),),
    StructuredType: (Row(LossKind.REFUSED, None, _has_no_hive_names), *_ROW_OF_CLASS),
}  # fmt: skip

TARGETS: dict[str, Target] = {
    one.name: one
    for one in (
        Target("arrow", ARROW),
        Target("parquet", PARQUET),
        Target("spark:4.3", SPARK),
        Target("spark-ddl:4.3", SPARK_DDL, notes=False),
        Target("hive", HIVE, forgets_not_null=True, folds_case=True),
    )
}


def steps(type_: DataType) -> tuple[str, ...]:
    """The names of a type's children, as a path says them."""
    match type_:
        case RowType() | StructuredType():
            return tuple(one.name for one in type_.fields)
        case MapType():
            return ("key", "value")
        case _:
            return ("element",) * len(type_.children())
