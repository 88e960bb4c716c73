"""Hypothesis strategies for Python values of types, which the types accept."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Context, Decimal
from typing import Any

from hypothesis import strategies as st

from schema_core.errors import UnsupportedError
from schema_core.types import (
    ArrayType,
    DataType,
    DecimalType,
    DistinctType,
    LengthType,
    MapType,
    MultisetType,
    RowType,
    StructuredType,
    atomic,
    temporal,
)
from schema_core.types.values import MONTHS

#: The longest variable-length strings, and the longest fixed-length types that are generated.
SHORT, LONGEST = 8, 1_000

_ENOUGH_DIGITS = Context(prec=100)
_CHARACTERS = st.characters(exclude_categories=["Cs"])


def values(type_: DataType) -> st.SearchStrategy[Any]:
    """Any value of the type, including None if it is nullable.

    Raises:
        UnsupportedError: with code `missing-strategy` for a type without a strategy.
    """
    row = DRAWN.get(type(type_))
    if row is None and type_.is_nullable:
        return st.none()
    if row is None or not has_values(type_):
        raise UnsupportedError(
            f"there is no strategy for values of {type_}", code="missing-strategy"
        )
    found = row(type_)
    return st.none() | found if type_.is_nullable else found


def has_values(type_: DataType) -> bool:
    """Return whether there is a strategy: Python has values, and fixed lengths are not too long."""
    return all(
        (type(one) in DRAWN or one.is_nullable)
        and not (isinstance(one, atomic.CharType | atomic.BinaryType) and one.length > LONGEST)
        for one in type_.walk()
    )


def _integers(size: int) -> Callable[[DataType], st.SearchStrategy[Any]]:
    bound = 1 << 8 * size - 1
    return lambda _: st.integers(-bound, bound - 1)


def _decimal(type_: DecimalType) -> st.SearchStrategy[Decimal]:
    bound = 10**type_.precision - 1
    digits = st.integers(-bound, bound)
    return digits.map(lambda one: Decimal(one).scaleb(-type_.scale, _ENOUGH_DIGITS))


def _least(type_: LengthType) -> int:
    """Return the minimum length of a value: the length of its type if that is fixed."""
    return type_.length if isinstance(type_, atomic.CharType | atomic.BinaryType) else 0


def _text(type_: LengthType) -> st.SearchStrategy[str]:
    least = _least(type_)
    most = least or min(type_.length, SHORT)
    return st.text(_CHARACTERS, min_size=least, max_size=most)


def _bytes(type_: LengthType) -> st.SearchStrategy[bytes]:
    least = _least(type_)
    return st.binary(min_size=least, max_size=least or min(type_.length, SHORT))


def _array(type_: ArrayType) -> st.SearchStrategy[list[Any]]:
    return st.lists(values(type_.element_type), max_size=3)


def _row(type_: RowType | StructuredType) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.tuples(*(values(one.data_type) for one in type_.fields))


def _hashable(type_: DataType) -> st.SearchStrategy[Any]:
    """Hashable values, for keys; maps as keys have only None."""
    return values(type_).filter(_is_hashable)


def _is_hashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _map(type_: MapType) -> st.SearchStrategy[dict[Any, Any]]:
    return st.dictionaries(_hashable(type_.key_type), values(type_.value_type), max_size=3)


def _multiset(type_: MultisetType) -> st.SearchStrategy[dict[Any, int]]:
    return st.dictionaries(_hashable(type_.element_type), st.integers(0, 9), max_size=3)


def _scalars() -> st.SearchStrategy[Any]:
    return st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=SHORT)


def _variant(_: DataType) -> st.SearchStrategy[Any]:
    return st.recursive(
        _scalars(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=4,
    )


#: Type -> the strategy of its values. Types without a row only have NULL.
DRAWN: dict[type[DataType], Callable[[Any], st.SearchStrategy[Any]]] = {
    atomic.BooleanType:               lambda _: st.booleans(),
    atomic.TinyIntType:               _integers(1),
    atomic.SmallIntType:              _integers(2),
    atomic.IntType:                   _integers(4),
    atomic.BigIntType:                _integers(8),
    atomic.FloatType:                 lambda _: st.floats(width=32),
    atomic.DoubleType:                lambda _: st.floats(),
    DecimalType:                      _decimal,
    atomic.CharType:                  _text,
    atomic.VarCharType:               _text,
    atomic.BinaryType:                _bytes,
    atomic.VarBinaryType:             _bytes,
    atomic.VariantType:               _variant,
    temporal.DateType:                lambda _: st.dates(),
    temporal.TimeType:                lambda _: st.times(),
    temporal.TimestampType:           lambda _: st.datetimes(),
    temporal.ZonedTimestampType:      lambda _: st.datetimes(timezones=st.timezones()),
    temporal.LocalZonedTimestampType: lambda _: st.datetimes(timezones=st.timezones()),
    temporal.DayTimeIntervalType:     lambda _: st.timedeltas(),
    temporal.YearMonthIntervalType:   lambda _: st.integers(-MONTHS, MONTHS),
    ArrayType:                        _array,
    MapType:                          _map,
    MultisetType:                     _multiset,
    RowType:                          _row,
    StructuredType:                   _row,
    DistinctType:                     lambda type_: values(type_.source_type),
}  # fmt: skip
