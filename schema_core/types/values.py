"""Python values of data types: validation, and lossless conversion.

Validation accepts PyFlink's classes for each type, never their subclasses: ``True`` is not an INT.
It also checks what PyFlink leaves to the JVM: the range of a BIGINT, the digits of a DECIMAL.
Conversion accepts more: an integer for a DOUBLE that represents it exactly, a DECIMAL with fewer
digits, scalars of NumPy.
"""

from __future__ import annotations

import datetime as dt
import math
import struct
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import Any, TypeAlias

from schema_core.base.text import MAX_DEPTH, show
from schema_core.types import atomic, temporal
from schema_core.types.base import (
    MAX_LENGTH,
    TAKES,
    Check,
    DataType,
    Rejection,
    reject_class,
    rejection,
    wrong_class,
)
from schema_core.types.nested import (
    ArrayType,
    MapType,
    MultisetType,
    RowField,
    RowType,
    require_type,
)
from schema_core.types.row_value import Row
from schema_core.types.user_defined import DistinctType, StructuredType, UserDefinedType


def accepts(type_: DataType, value: object) -> bool:
    """Whether a value has a type without conversion.

    >>> from schema_core.types import DataTypes as T
    >>> accepts(T.DECIMAL(3, 1), Decimal("12.5")), accepts(T.DECIMAL(3, 1), Decimal("12.55"))
    (True, False)
    """
    return reject_reason(type_, value) is None


def reject_reason(type_: DataType, value: object) -> Rejection | None:
    """Why a value does not have a type; None if it does.

    >>> from schema_core.types import DataTypes as T
    >>> print(reject_reason(T.INT(), True))
    INT requires int, got bool
    """
    return rejection(require_type(type_, "the type"), value)


# --- without children ----------------------------------------------------------------------------


def _any_value(type_: DataType, value: object) -> Rejection | None:
    """Accept every value of the class."""
    return None


def _range_check(low: int, high: int) -> Check:
    def check(type_: DataType, value: int) -> Rejection | None:
        if low <= value <= high:
            return None
        return Rejection(f"{show(value)} is outside {low}..{high}")

    return check


def _signed_integer_of(size: int) -> Check:
    """Check the range of a signed integer of some bytes."""
    return _range_check(-(1 << 8 * size - 1), (1 << 8 * size - 1) - 1)


def _exactly_as_long(type_: atomic.LengthType, value: str | bytes) -> Rejection | None:
    if len(value) == type_.length:
        return None
    return Rejection(f"length {len(value)} differs from {type_.as_summary_string()}")


def _at_most_as_long(type_: atomic.LengthType, value: str | bytes) -> Rejection | None:
    if len(value) <= type_.length:
        return None
    return Rejection(f"length {len(value)} exceeds {type_.as_summary_string()}")


def _digits(type_: atomic.DecimalType, value: Decimal) -> Rejection | None:
    """Check that no digit of a decimal is lost."""
    if not value.is_finite():
        return Rejection(f"{value} is not a finite number")
    if not value or abs(value.adjusted()) < DIGITS:
        from fractions import Fraction

        unscaled = Fraction(value) * 10**type_.scale
        if unscaled.denominator == 1 and abs(unscaled) < 10**type_.precision:
            return None
    return Rejection(f"{value} has more digits than {type_.as_summary_string()}")


# --- with children -------------------------------------------------------------------------------


def _first(parts: Iterable[tuple[str, DataType, object]]) -> Rejection | None:
    """The rejection of the first part that does not have its type."""
    for step, type_, value in parts:
        if reason := reject_reason(type_, value):
            return reason.under(step)
    return None


def _elements(type_: ArrayType, value: Iterable[object]) -> Rejection | None:
    element = type_.element_type
    return _first((f"element {index}", element, part) for index, part in enumerate(value))


def _entries(type_: MapType, entries: Mapping[object, object]) -> Rejection | None:
    return _first((f"key {key!r}", type_.key_type, key) for key in entries) or _first(
        (f"value of {key!r}", type_.value_type, value) for key, value in entries.items()
    )


def _counts(type_: MultisetType, counts: Mapping[object, object]) -> Rejection | None:
    return _first((f"element {key!r}", type_.element_type, key) for key in counts) or _first(
        (f"count of {key!r}", COUNT, count) for key, count in counts.items()
    )


def _fields(type_: RowType | StructuredType, value: object) -> Rejection | None:
    """Check fields by position, or by name; missing names are None."""
    named = named_values(value)
    if named is None and isinstance(value, tuple | list | Row):
        if len(value) != len(type_.fields):
            return Rejection(f"{len(value)} values for {len(type_.fields)} fields")
        return _first(_pairs(type_.fields, value))
    if named is None:
        return wrong_class(type_, "a row", value)
    return _first(_pairs(type_.fields, [named.get(field.name) for field in type_.fields]))


def _pairs(
    declared: Iterable[RowField], values: Iterable[object]
) -> Iterator[tuple[str, DataType, object]]:
    for field, value in zip(declared, values, strict=True):
        yield f"field {field.name!r}", field.data_type, value


def named_values(value: object) -> Mapping[str, object] | None:
    """The values by name; None for positional values such as tuples."""
    match value:
        case dict():
            return value
        case Row():
            return value.as_dict() if value.is_named else None
        case tuple() | list():
            return None
        case _ if is_dataclass(value):
            return {field.name: getattr(value, field.name) for field in fields(value)}
        case _:
            return getattr(value, "__dict__", None)


def _source(type_: DistinctType, value: object) -> Rejection | None:
    return reject_reason(type_.source_type, value)


def _variant(type_: DataType, value: object) -> Rejection | None:
    """Check scalars, and lists and dictionaries of them, as in JSON."""
    inner = type_.nullable()
    if _is_too_deep(value):
        return Rejection(f"nested more than {MAX_DEPTH} levels deep")
    match value:
        case list():
            return _elements(ArrayType(inner), value)
        case dict():
            return _entries(MapType(TEXT, inner), value)
        case _ if type(value) in SCALARS:
            return None
        case _:
            return reject_class(type_, value)


def _is_too_deep(value: object) -> bool:
    """Whether nested lists and dictionaries are too deep, or contain themselves."""
    level = {id(value): value} if isinstance(value, list | dict) else {}
    for _ in range(MAX_DEPTH):
        level = {
            id(part): part
            for child in level.values()
            for part in (child.values() if isinstance(child, dict) else child)
            if isinstance(part, list | dict)
        }
    return bool(level)


def _user_defined(type_: UserDefinedType, value: object) -> Rejection | None:
    """Check the attribute ``__UDT__`` of an object, and its serialized value."""
    if getattr(value, "__UDT__", None) != type_:
        return Rejection(f"expected a {type(type_).__name__}, got {show(value)}")
    return reject_reason(type_.sql_type(), type_.serialize(value))


COUNT = atomic.IntType(nullable=False)
TEXT = atomic.VarCharType(MAX_LENGTH, nullable=False)
#: Decimals of at least this exponent exceed every type.
DIGITS = atomic.DecimalType.limits["precision"].stop

#: Scalars of a VARIANT.
SCALARS = frozenset({bool, int, float, str, bytes, Decimal, dt.date, dt.datetime})

#: The longest interval: 9999 years and 11 months.
MONTHS = 9999 * 12 + 11

ANYTHING = (object,)
BYTES = (bytes, bytearray)
DATETIME = (dt.datetime,)

#: Type -> the classes of its values, and a check of the value.
TAKES |= {
    # type                             classes                          check
    atomic.BooleanType:                ((bool,),                        _any_value),
    atomic.TinyIntType:                ((int,),                         _signed_integer_of(1)),
    atomic.SmallIntType:               ((int,),                         _signed_integer_of(2)),
    atomic.IntType:                    ((int,),                         _signed_integer_of(4)),
    atomic.BigIntType:                 ((int,),                         _signed_integer_of(8)),
    atomic.FloatType:                  ((float,),                       _any_value),
    atomic.DoubleType:                 ((float,),                       _any_value),
    atomic.DecimalType:                ((Decimal,),                     _digits),
    atomic.CharType:                   ((str,),                         _exactly_as_long),
    atomic.VarCharType:                ((str,),                         _at_most_as_long),
    atomic.BinaryType:                 (BYTES,                          _exactly_as_long),
    atomic.VarBinaryType:              (BYTES,                          _at_most_as_long),
    atomic.VariantType:                (ANYTHING,                       _variant),
    temporal.DateType:                 ((dt.date, *DATETIME),             _any_value),
    temporal.TimeType:                 ((dt.time,),                     _any_value),
    temporal.TimestampType:            (DATETIME,                         _any_value),
    temporal.ZonedTimestampType:       (DATETIME,                         _any_value),
    temporal.LocalZonedTimestampType:  (DATETIME,                         _any_value),
    temporal.DayTimeIntervalType:      ((dt.timedelta,),                _any_value),
    temporal.YearMonthIntervalType:    ((int,),                      _range_check(-MONTHS, MONTHS)),
    ArrayType:                         ((list, tuple, array),           _elements),
    MapType:                           ((dict,),                        _entries),
    MultisetType:                      ((dict, Counter),                _counts),
    RowType:                           (ANYTHING,                       _fields),
    StructuredType:                    (ANYTHING,                       _fields),
    DistinctType:                      (ANYTHING,                       _source),
    UserDefinedType:                   (ANYTHING,                       _user_defined),
}  # fmt: skip


#: The converted value, and why it cannot be converted.
Converted: TypeAlias = tuple[Any, "Rejection | None"]
#: Converts the values of a type; the value is never None.
Converter: TypeAlias = Callable[[Any, Any], Converted]

#: A context with more digits than any DECIMAL.
_EXACT = Context(prec=100)
_MICROS = 6


def convert_losslessly(type_: DataType, value: object) -> Converted:
    """Convert a value to the type, with its elements, entries and fields.

    Only digits after the scale of a DECIMAL are lost: it is rounded, as in PyFlink.

    Returns:
        The value as in PyFlink (rows as tuples, arrays as lists) and None, or None and why it
        cannot be converted without loss.

    >>> from schema_core.types import DataTypes as T
    >>> print(convert_losslessly(T.DOUBLE(), 2**53 + 1)[1])
    DOUBLE cannot represent 9007199254740993 exactly
    >>> convert_losslessly(T.ARRAY(T.DECIMAL(5, 2)), (1, Decimal("2.5")))
    ([Decimal('1.00'), Decimal('2.50')], None)
    """
    if value is not None:
        value = _python_value(value)
        converter = CONVERTERS.get(type(type_))
        if converter is not None:
            return converter(type_, value)
    return _convert_unchanged(type_, value)


def _python_value(value: object) -> object:
    """Convert NumPy scalars and arrays and pandas timestamps to Python values."""
    module = type(value).__module__.partition(".")[0]
    if module == "numpy":
        return value.tolist() if hasattr(value, "tolist") else value
    if module == "pandas" and getattr(value, "nanosecond", None) == 0:
        return value.to_pydatetime()  # type: ignore[attr-defined]
    return value


def _refuse(problem: str) -> Converted:
    return None, Rejection(problem)


def _convert_unchanged(type_: DataType, value: object) -> Converted:
    """Refuse a value that does not have the type."""
    reason = reject_reason(type_, value)
    return (None, reason) if reason else (value, None)


# --- without children ----------------------------------------------------------------------------


def _to_double(type_: DataType, value: object) -> Converted:
    if type(value) is int:
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if math.isfinite(number) and int(number) == value:
            return number, None
        return _refuse(f"{type_.as_summary_string()} cannot represent {value} exactly")
    return _convert_unchanged(type_, value)


def _to_float(type_: DataType, value: object) -> Converted:
    """Convert to FLOAT, which rounds; integers must be exact, and overflow is refused."""
    number, reason = _to_double(type_, value)
    if reason:
        return None, reason
    try:
        (single,) = struct.unpack("<f", struct.pack("<f", number))
    except OverflowError:
        return _refuse(f"{value} is too large for {type_.as_summary_string()}")
    if type(value) is int and single != value:
        return _refuse(f"{type_.as_summary_string()} cannot represent {value} exactly")
    return number, None


def shortest_float(value: float) -> float:
    """Return the DOUBLE with the digits of a FLOAT, as Java's: the fewest, but two, that are it.

    >>> import struct
    >>> shortest_float(*struct.unpack("<f", struct.pack("<f", 1.1)))
    1.1
    """
    packed = struct.pack("<f", value)
    digits = (float(f"{value:.{count}g}") for count in range(2, 10))
    return next((number for number in digits if _is_float(number, packed)), value)


def _is_float(number: float, packed: bytes) -> bool:
    """Return whether a number is a FLOAT; one with few digits may be beyond the largest."""
    try:
        return struct.pack("<f", number) == packed
    except OverflowError:
        return False


def round_decimal(type_: atomic.DecimalType, value: Decimal, rounding: str) -> Decimal:
    """Return a decimal with the scale of a type; one that exceeds every type is unchanged.

    >>> round_decimal(atomic.DecimalType(3, 1), Decimal("1.25"), "ROUND_HALF_UP")
    Decimal('1.3')
    """
    if not value.is_finite() or value.adjusted() >= DIGITS:
        return value
    return value.quantize(Decimal(1).scaleb(-type_.scale), rounding, _EXACT)


def _to_decimal(type_: atomic.DecimalType, value: object) -> Converted:
    """Round to the scale, as PyFlink's workers do."""
    number = Decimal(value) if type(value) is int else value
    if isinstance(number, Decimal):
        number = round_decimal(type_, number, ROUND_HALF_EVEN)
    return _convert_unchanged(type_, number)


def _to_text(type_: DataType, value: object) -> Converted:
    if isinstance(value, str) and not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            return _refuse(f"{value!r} has a lone surrogate, which UTF-8 cannot encode")
    return _convert_unchanged(type_, value)


def _to_bytes(type_: DataType, value: object) -> Converted:
    return _convert_unchanged(
        type_, bytes(value) if isinstance(value, bytearray | memoryview) else value
    )


def _to_date(type_: DataType, value: object) -> Converted:
    """Convert a datetime only if it is midnight without a time zone."""
    if type(value) is not dt.datetime:
        return _convert_unchanged(type_, value)
    if value.tzinfo is not None or value.time() != dt.time():
        return _refuse(f"{value.isoformat(' ')} has a time of day, which DATE cannot represent")
    return value.date(), None


def _to_clock(
    type_: temporal.TimeType | temporal.AnyTimestampType, value: dt.time | dt.datetime
) -> Converted:
    """Check the time zone and the fraction of a second."""
    clock, reason = _convert_unchanged(type_, value)
    if reason:
        return None, reason
    name = type_.as_summary_string()
    if value.tzinfo is not None:
        return _refuse(f"{value.isoformat()} has a time zone, which {name} cannot represent")
    if value.microsecond % 10 ** max(0, _MICROS - type_.precision):
        return _refuse(f"{value.isoformat()} has more digits of a second than {name}")
    return clock, None


# --- with children -------------------------------------------------------------------------------


def _convert_all(
    parts: Iterable[tuple[str, DataType, object]],
) -> tuple[list[Any], Rejection | None]:
    """Convert all parts, or return the first reason why one cannot be converted."""
    results = []
    for step, type_, value in parts:
        converted, reason = convert_losslessly(type_, value)
        if reason:
            return [], reason.under(step)
        results.append(converted)
    return results, None


def _to_array(type_: ArrayType, value: object) -> Converted:
    if not isinstance(value, list | tuple | array):
        return _convert_unchanged(type_, value)
    element = type_.element_type
    converted, reason = _convert_all(
        (f"element {index}", element, part) for index, part in enumerate(value)
    )
    return (None, reason) if reason else (converted, None)


def _to_map(type_: MapType | MultisetType, value: object) -> Converted:
    if not isinstance(value, dict):
        return _convert_unchanged(type_, value)
    if isinstance(type_, MapType):
        key_type, value_type = type_.key_type, type_.value_type
    else:
        key_type, value_type = type_.element_type, COUNT
    keys, reason = _convert_all((f"key {key!r}", key_type, key) for key in value)
    if reason:
        return None, reason
    values, reason = _convert_all(
        (f"value of {key!r}", value_type, entry) for key, entry in value.items()
    )
    return (None, reason) if reason else (dict(zip(keys, values, strict=True)), None)


def _to_row(type_: RowType | StructuredType, value: object) -> Converted:
    """Convert a row by position, or by name; unknown names are refused."""
    named = named_values(value)
    if named is not None:
        return _to_named_row(type_, value, named)
    if not isinstance(value, tuple | list | Row):
        return _convert_unchanged(type_, value)
    if len(value) != len(type_.fields):
        return _refuse(f"{len(value)} values for {len(type_.fields)} fields")
    return _to_fields(type_, value)


def _to_named_row(
    type_: RowType | StructuredType, value: object, named: Mapping[str, object]
) -> Converted:
    names = [field.name for field in type_.fields]
    unknown = [name for name in named if name not in names]
    if unknown and isinstance(value, dict | Row):
        return _refuse(f"{type_.as_summary_string()} has no field {unknown[0]!r}")
    if not any(name in named for name in names):
        return _refuse(str(wrong_class(type_, "a row", value)))
    return _to_fields(type_, [named.get(name) for name in names])


def _to_fields(type_: RowType | StructuredType, values: Iterable[object]) -> Converted:
    parts = (
        (f"field {field.name!r}", field.data_type, value)
        for field, value in zip(type_.fields, values, strict=True)
    )
    converted, reason = _convert_all(parts)
    return (None, reason) if reason else (tuple(converted), None)


#: Type -> converter of its values; values of other types are only validated.
CONVERTERS: dict[type[DataType], Converter] = {
    atomic.FloatType: _to_float,
    atomic.DoubleType: _to_double,
    atomic.DecimalType: _to_decimal,
    atomic.CharType: _to_text,
    atomic.VarCharType: _to_text,
    atomic.BinaryType: _to_bytes,
    atomic.VarBinaryType: _to_bytes,
    temporal.DateType: _to_date,
    temporal.TimeType: _to_clock,
    temporal.TimestampType: _to_clock,
    temporal.LocalZonedTimestampType: _to_clock,
    ArrayType: _to_array,
    MapType: _to_map,
    MultisetType: _to_map,
    RowType: _to_row,
    StructuredType: _to_row,
    DistinctType: lambda type_, value: convert_losslessly(type_.source_type, value),
}
