"""Which Python values are values of a type, and why others are not.

The classes are those that PyFlink takes for each type, never their subclasses: ``True`` is no INT.
What PyFlink leaves to the JVM is said here already: the range of a BIGINT, the digits of a DECIMAL.
"""

from __future__ import annotations

import datetime as dt
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

from schema_core.text import MAX_DEPTH, show
from schema_core.types import atomic, temporal
from schema_core.types.base import MAX_LENGTH, DataType
from schema_core.types.defined import DistinctType, StructuredType
from schema_core.types.nested import (
    ArrayType,
    MapType,
    MultisetType,
    RowField,
    RowType,
    require_type,
)
from schema_core.types.pyflink import UserDefinedType
from schema_core.types.row_value import Row


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why a value is none of a type, and the way down to the part that is to blame.

    >>> from schema_core.types import parse_type
    >>> found = reject_reason(parse_type("ROW<a ARRAY<TINYINT>>"), {"a": [1, 200]})
    >>> found.path, found.problem
    (("field 'a'", 'element 1'), '200 is outside -128..127')
    >>> print(found)
    field 'a', element 1: 200 is outside -128..127
    """

    problem: str
    path: tuple[str, ...] = ()

    def under(self, step: str) -> Rejection:
        """The same, seen from one level above."""
        return replace(self, path=(step, *self.path))

    def __str__(self) -> str:
        return f"{', '.join(self.path)}: {self.problem}" if self.path else self.problem


Check: TypeAlias = Callable[[Any, Any], "Rejection | None"]


def accepts(type_: DataType, value: object) -> bool:
    """Whether the value is one of the type, as it is.

    >>> from schema_core.types import DataTypes as T
    >>> accepts(T.DECIMAL(3, 1), Decimal("12.5")), accepts(T.DECIMAL(3, 1), Decimal("12.55"))
    (True, False)
    """
    return reject_reason(type_, value) is None


def reject_reason(type_: DataType, value: object) -> Rejection | None:
    """Why the value is none of the type, or None where it is one.

    >>> from schema_core.types import DataTypes as T
    >>> print(reject_reason(T.INT(nullable=False), None))
    INT NOT NULL takes no None
    >>> print(reject_reason(T.INT(), True))
    INT takes int, not bool
    """
    require_type(type_, "the type")
    if value is None:
        return None if type_.is_nullable else _refusal(type_, "no None")
    if isinstance(type_, UserDefinedType):
        return _user_defined(type_, value)
    classes, check = TAKES.get(type(type_), NOTHING)
    if type(value) not in classes and object not in classes:
        names = " or ".join(one.__name__ for one in classes) or "no value of Python"
        return _refusal(type_, f"{names}, not {type(value).__name__}")
    return check(type_, value)


def _refusal(type_: DataType, wanted: str) -> Rejection:
    return Rejection(f"{type_.as_summary_string()} takes {wanted}")


# --- without children ----------------------------------------------------------------------------


def _whole(type_: DataType, value: object) -> Rejection | None:
    """Every value of the right class is one."""
    return None


def _between(low: int, high: int) -> Check:
    def check(type_: DataType, value: int) -> Rejection | None:
        if low <= value <= high:
            return None
        return Rejection(f"{show(value)} is outside {low}..{high}")

    return check


def _bytes_wide(size: int) -> Check:
    """A signed number of so many bytes."""
    return _between(-(1 << 8 * size - 1), (1 << 8 * size - 1) - 1)


def _exactly_as_long(type_: atomic.LengthType, value: str | bytes) -> Rejection | None:
    if len(value) == type_.length:
        return None
    return Rejection(f"{len(value)} long, which {type_.as_summary_string()} is not")


def _at_most_as_long(type_: atomic.LengthType, value: str | bytes) -> Rejection | None:
    if len(value) <= type_.length:
        return None
    return Rejection(f"{len(value)} long, which is more than {type_.as_summary_string()} holds")


def _digits(type_: atomic.DecimalType, value: Decimal) -> Rejection | None:
    """Neither digits before the point nor behind it may be lost."""
    if not value.is_finite():
        return Rejection(f"{value} is no number of digits")
    if not value or abs(value.adjusted()) < DIGITS:
        unscaled = Fraction(value) * 10**type_.scale
        if unscaled.denominator == 1 and abs(unscaled) < 10**type_.precision:
            return None
    return Rejection(f"{value} has more digits than {type_.as_summary_string()}")


# --- with children -------------------------------------------------------------------------------


def _first(found: Iterable[tuple[str, DataType, object]]) -> Rejection | None:
    """The first part that is no value of its type."""
    for step, type_, value in found:
        if reason := reject_reason(type_, value):
            return reason.under(step)
    return None


def _elements(type_: ArrayType, value: Iterable[object]) -> Rejection | None:
    element = type_.element_type
    return _first((f"element {index}", element, one) for index, one in enumerate(value))


def _entries(type_: MapType, value: Mapping[object, object]) -> Rejection | None:
    keys = ((f"key {key!r}", type_.key_type, key) for key in value)
    return _first(keys) or _first(
        (f"value of {key!r}", type_.value_type, one) for key, one in value.items()
    )


def _counts(type_: MultisetType, value: Mapping[object, object]) -> Rejection | None:
    return _first((f"element {key!r}", type_.element_type, key) for key in value) or _first(
        (f"count of {key!r}", atomic.IntType(nullable=False), one) for key, one in value.items()
    )


def _fields(type_: RowType | StructuredType, value: object) -> Rejection | None:
    """Values by position, or by name where the value has names; a name it lacks stands for None."""
    named = named_values(value)
    if named is None and isinstance(value, tuple | list | Row):
        if len(value) != len(type_.fields):
            return Rejection(f"{len(value)} values for {len(type_.fields)} fields")
        return _first(_pairs(type_.fields, value))
    if named is None:
        return _refusal(type_, f"a row, not {type(value).__name__}")
    return _first(_pairs(type_.fields, [named.get(one.name) for one in type_.fields]))


def _pairs(
    declared: Iterable[RowField], values: Iterable[object]
) -> Iterator[tuple[str, DataType, object]]:
    for one, value in zip(declared, values, strict=True):
        yield f"field {one.name!r}", one.data_type, value


def named_values(value: object) -> Mapping[str, object] | None:
    """The values by name where it has names that count: those of a tuple do not, it has places."""
    match value:
        case dict():
            return value
        case Row():
            return value.as_dict() if value.is_named else None
        case tuple() | list():
            return None
        case _ if is_dataclass(value):
            return {one.name: getattr(value, one.name) for one in fields(value)}
        case _:
            return getattr(value, "__dict__", None)


def _source(type_: DistinctType, value: object) -> Rejection | None:
    return reject_reason(type_.source_type, value)


def _variant(type_: DataType, value: object) -> Rejection | None:
    """Scalars, and lists and dictionaries of them, as in JSON."""
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
            return _refusal(type_, f"no {type(value).__name__}")


def _is_too_deep(value: object) -> bool:
    """Whether lists and dictionaries lie in one another without end, or nearly so."""
    level = {id(value): value}
    for _ in range(MAX_DEPTH):
        inner = (part for one in level.values() for part in _parts(one))
        level = {id(part): part for part in inner if isinstance(part, list | dict)}
    return bool(level)


def _parts(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _user_defined(type_: UserDefinedType, value: object) -> Rejection | None:
    """An object says by ``__UDT__`` what it is; what it is stored as must fit, too."""
    if getattr(value, "__UDT__", None) != type_:
        return Rejection(f"{show(value)} is no {type(type_).__name__}")
    return reject_reason(type_.sql_type(), type_.serialize(value))


TEXT = atomic.VarCharType(MAX_LENGTH, nullable=False)
#: A decimal that begins or ends farther from its point than this has no type.
DIGITS = atomic.DecimalType.limits["precision"].stop

#: What a VARIANT holds beside lists and dictionaries.
SCALARS = frozenset({bool, int, float, str, bytes, Decimal, dt.date, dt.datetime})

#: The longest interval of years and months: 9999 years and 11 months.
MONTHS = 9999 * 12 + 11

ANYTHING = (object,)
BYTES = (bytes, bytearray)
MOMENT = (dt.datetime,)
Takes: TypeAlias = tuple[tuple[type, ...], Check]
NOTHING: Takes = ((), _whole)

#: Type -> the classes of its values, and what else is asked of them. Types without a row have none.
TAKES: dict[type[DataType], Takes] = {
    # type                             classes                          and also
    atomic.BooleanType:                ((bool,),                        _whole),
    atomic.TinyIntType:                ((int,),                         _bytes_wide(1)),
    atomic.SmallIntType:               ((int,),                         _bytes_wide(2)),
    atomic.IntType:                    ((int,),                         _bytes_wide(4)),
    atomic.BigIntType:                 ((int,),                         _bytes_wide(8)),
    atomic.FloatType:                  ((float,),                       _whole),
    atomic.DoubleType:                 ((float,),                       _whole),
    atomic.DecimalType:                ((Decimal,),                     _digits),
    atomic.CharType:                   ((str,),                         _exactly_as_long),
    atomic.VarCharType:                ((str,),                         _at_most_as_long),
    atomic.BinaryType:                 (BYTES,                          _exactly_as_long),
    atomic.VarBinaryType:              (BYTES,                          _at_most_as_long),
    atomic.VariantType:                (ANYTHING,                       _variant),
    temporal.DateType:                 ((dt.date, *MOMENT),             _whole),
    temporal.TimeType:                 ((dt.time,),                     _whole),
    temporal.TimestampType:            (MOMENT,                         _whole),
    temporal.ZonedTimestampType:       (MOMENT,                         _whole),
    temporal.LocalZonedTimestampType:  (MOMENT,                         _whole),
    temporal.DayTimeIntervalType:      ((dt.timedelta,),                _whole),
    temporal.YearMonthIntervalType:    ((int,),                         _between(-MONTHS, MONTHS)),
    ArrayType:                         ((list, tuple, array),           _elements),
    MapType:                           ((dict,),                        _entries),
    MultisetType:                      ((dict, Counter),                _counts),
    RowType:                           (ANYTHING,                       _fields),
    StructuredType:                    (ANYTHING,                       _fields),
    DistinctType:                      (ANYTHING,                       _source),
}  # fmt: skip
