"""Lossless conversion of Python values to a type; all other values are refused.

`values` lists PyFlink's own class for each type; this module converts what may be given instead:
an integer for a DOUBLE that holds it exactly, a DECIMAL with fewer digits, scalars of NumPy.
"""

from __future__ import annotations

import datetime as dt
import math
import struct
from array import array
from collections.abc import Callable, Iterable, Mapping
from decimal import Context, Decimal
from typing import Any, TypeAlias

from schema_core.types import atomic, temporal
from schema_core.types.base import DataType
from schema_core.types.defined import DistinctType, StructuredType
from schema_core.types.nested import ArrayType, MapType, MultisetType, RowType
from schema_core.types.row_value import Row
from schema_core.types.values import Rejection, named_values, reject_reason

#: A converted value, or why there is none.
Converted: TypeAlias = tuple[Any, "Rejection | None"]
#: What converts the values of a type; the value is never None.
Converter: TypeAlias = Callable[[Any, Any], Converted]

#: More digits than any DECIMAL has.
_EXACT = Context(prec=100)
_MICROS = 6


def lossless(type_: DataType, value: object) -> Converted:
    """Convert a value to the type, with its elements, entries and fields.

    Args:
        type_: The type that the value is to have.
        value: Any object, None included.

    Returns:
        The value as PyFlink has it for that type (rows as tuples, arrays as lists) and None, or
        None and the reason why it cannot be converted without loss.

    >>> from schema_core.types import DataTypes as T
    >>> lossless(T.DOUBLE(), 1)
    (1.0, None)
    >>> print(lossless(T.DOUBLE(), 2**53 + 1)[1])
    DOUBLE does not hold 9007199254740993 exactly
    >>> lossless(T.ARRAY(T.DECIMAL(5, 2)), (1, Decimal("2.5")))
    ([Decimal('1.00'), Decimal('2.50')], None)
    """
    if value is not None:
        value = _plain(value)
        converter = CONVERTERS.get(type(type_))
        if converter is not None:
            return converter(type_, value)
    reason = reject_reason(type_, value)
    return (None, reason) if reason else (value, None)


def _plain(value: object) -> object:
    """A scalar or an array of NumPy or a timestamp of pandas as a value of Python's own."""
    module = type(value).__module__.partition(".")[0]
    if module == "numpy":
        return value.tolist() if hasattr(value, "tolist") else value
    if module == "pandas" and getattr(value, "nanosecond", None) == 0:
        return value.to_pydatetime()  # type: ignore[attr-defined]
    return value


def _refused(problem: str) -> Converted:
    return None, Rejection(problem)


def _checked(type_: DataType, value: object) -> Converted:
    """A value of the right class already, or a refusal."""
    reason = reject_reason(type_, value)
    return (None, reason) if reason else (value, None)


# --- without children ----------------------------------------------------------------------------


def _double(type_: DataType, value: object) -> Converted:
    if type(value) is int:
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if math.isfinite(number) and int(number) == value:
            return number, None
        return _refused(f"{type_.as_summary_string()} does not hold {value} exactly")
    return _checked(type_, value)


def _float(type_: DataType, value: object) -> Converted:
    """A FLOAT rounds to 24 bits, as all its values are; an integer must fit, and none overflows."""
    number, reason = _double(type_, value)
    if reason:
        return None, reason
    try:
        (single,) = struct.unpack("<f", struct.pack("<f", number))
    except OverflowError:
        return _refused(f"{value} is too large for {type_.as_summary_string()}")
    if type(value) is int and single != value:
        return _refused(f"{type_.as_summary_string()} does not hold {value} exactly")
    return number, None


def _decimal(type_: atomic.DecimalType, value: object) -> Converted:
    number = Decimal(value) if type(value) is int else value
    reason = reject_reason(type_, number)
    if reason or not isinstance(number, Decimal):
        return None, reason
    return number.quantize(Decimal(1).scaleb(-type_.scale), context=_EXACT), None


def _text(type_: DataType, value: object) -> Converted:
    if isinstance(value, str) and not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            return _refused(f"{value!r} has a lone surrogate, which UTF-8 cannot encode")
    return _checked(type_, value)


def _bytes(type_: DataType, value: object) -> Converted:
    return _checked(type_, bytes(value) if isinstance(value, bytearray | memoryview) else value)


def _date(type_: DataType, value: object) -> Converted:
    """A datetime is a date only at midnight of no time zone."""
    if type(value) is not dt.datetime:
        return _checked(type_, value)
    if value.tzinfo is not None or value.time() != dt.time():
        return _refused(f"{value.isoformat(' ')} has a time of day, which DATE does not hold")
    return value.date(), None


def _clock(
    type_: temporal.TimeType | temporal.AnyTimestampType, value: dt.time | dt.datetime
) -> Converted:
    """A time or datetime of no time zone with no more digits of a second than the type has."""
    found, reason = _checked(type_, value)
    if reason:
        return None, reason
    name = type_.as_summary_string()
    if value.tzinfo is not None:
        return _refused(f"{value.isoformat()} has a time zone, which {name} does not hold")
    if value.microsecond % 10 ** max(0, _MICROS - type_.precision):
        return _refused(f"{value.isoformat()} has more digits of a second than {name}")
    return found, None


# --- with children -------------------------------------------------------------------------------


def _all(parts: Iterable[tuple[str, DataType, object]]) -> tuple[list[Any], Rejection | None]:
    """All parts converted, or the first reason why one is not."""
    found = []
    for step, type_, value in parts:
        converted, reason = lossless(type_, value)
        if reason:
            return [], reason.under(step)
        found.append(converted)
    return found, None


def _array(type_: ArrayType, value: object) -> Converted:
    if not isinstance(value, list | tuple | array):
        return _checked(type_, value)
    element = type_.element_type
    found, reason = _all((f"element {index}", element, one) for index, one in enumerate(value))
    return (None, reason) if reason else (found, None)


def _map(type_: MapType | MultisetType, value: object) -> Converted:
    if not isinstance(value, dict):
        return _checked(type_, value)
    if isinstance(type_, MapType):
        key_type, value_type = type_.key_type, type_.value_type
    else:
        key_type, value_type = type_.element_type, atomic.IntType(nullable=False)
    keys, reason = _all((f"key {key!r}", key_type, key) for key in value)
    if reason:
        return None, reason
    values, reason = _all((f"value of {key!r}", value_type, one) for key, one in value.items())
    return (None, reason) if reason else (dict(zip(keys, values, strict=True)), None)


def _row(type_: RowType | StructuredType, value: object) -> Converted:
    """A row by position, or by name; a name that the type does not have is refused."""
    named = named_values(value)
    if named is not None:
        return _named_row(type_, value, named)
    if not isinstance(value, tuple | list | Row):
        return _checked(type_, value)
    if len(value) != len(type_.fields):
        return _refused(f"{len(value)} values for {len(type_.fields)} fields")
    return _fields(type_, value)


def _named_row(
    type_: RowType | StructuredType, value: object, named: Mapping[str, object]
) -> Converted:
    names = [one.name for one in type_.fields]
    unknown = [name for name in named if name not in names]
    if unknown and isinstance(value, dict | Row):
        return _refused(f"{type_.as_summary_string()} has no field {unknown[0]!r}")
    if not any(name in named for name in names):
        return _refused(f"{type_.as_summary_string()} takes a row, not {type(value).__name__}")
    return _fields(type_, [named.get(name) for name in names])


def _fields(type_: RowType | StructuredType, values: Iterable[object]) -> Converted:
    parts = (
        (f"field {one.name!r}", one.data_type, value)
        for one, value in zip(type_.fields, values, strict=True)
    )
    found, reason = _all(parts)
    return (None, reason) if reason else (tuple(found), None)


def _distinct(type_: DistinctType, value: object) -> Converted:
    return lossless(type_.source_type, value)


#: Type -> what converts its values; values of the other types are taken as `values` has them.
CONVERTERS: dict[type[DataType], Converter] = {
    atomic.FloatType: _float,
    atomic.DoubleType: _double,
    atomic.DecimalType: _decimal,
    atomic.CharType: _text,
    atomic.VarCharType: _text,
    atomic.BinaryType: _bytes,
    atomic.VarBinaryType: _bytes,
    temporal.DateType: _date,
    temporal.TimeType: _clock,
    temporal.TimestampType: _clock,
    temporal.LocalZonedTimestampType: _clock,
    ArrayType: _array,
    MapType: _map,
    MultisetType: _map,
    RowType: _row,
    StructuredType: _row,
    DistinctType: _distinct,
}
