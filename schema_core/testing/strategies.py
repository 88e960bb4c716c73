"""Hypothesis strategies for names, types and paths, and for the Python values of types."""

from __future__ import annotations

import base64
from collections.abc import Callable
from decimal import Context, Decimal
from typing import Any

from hypothesis import strategies as st

from schema_core import types as declared
from schema_core.errors import UnsupportedError
from schema_core.paths import MAX_NAME, UnresolvedPath
from schema_core.text import is_blank
from schema_core.types import (
    ArrayType,
    AtomicType,
    DataType,
    DayTimeIntervalType,
    DayTimeResolution,
    DecimalType,
    DistinctType,
    LengthType,
    MapType,
    MultisetType,
    NullType,
    RawType,
    RowField,
    RowType,
    StructuredType,
    SymbolType,
    YearMonthIntervalType,
    YearMonthResolution,
    atomic,
    temporal,
)
from schema_core.types.values import MONTHS

_CHARACTERS = st.characters(exclude_categories=["Cs"])


#: Types without children that a type string can express; new public ones are included.
ATOMIC: tuple[type[AtomicType], ...] = tuple(
    kind
    for kind in (getattr(declared, name) for name in declared.__all__)
    if isinstance(kind, type) and issubclass(kind, AtomicType) and hasattr(kind, "root")
    if kind is not SymbolType
)


def names() -> st.SearchStrategy[str]:
    """Any name of a field or column: all characters but lone surrogates, not only white space."""
    return st.text(_CHARACTERS, min_size=1, max_size=20).filter(lambda name: not is_blank(name))


def comments() -> st.SearchStrategy[str | None]:
    """Any comment, the empty one included, or none."""
    return st.none() | st.text(_CHARACTERS, max_size=20)


@st.composite
def atomic_types(draw: st.DrawFn) -> DataType:
    """Any type without children, with parameters from their whole ranges, limits included."""
    kind = draw(st.sampled_from(ATOMIC))
    if kind is NullType:
        return NullType()
    values: dict[str, Any] = {
        name: draw(st.sampled_from((limit[0], limit[-1])) | st.sampled_from(limit))
        for name, limit in kind.limits.items()
    }
    if kind is DecimalType:
        values["scale"] = min(values["scale"], values["precision"])
    if kind is YearMonthIntervalType:
        values = draw(_year_month(values["precision"]))
    if kind is DayTimeIntervalType:
        values = draw(_day_time(**values))
    return kind(**values, nullable=draw(st.booleans()))


@st.composite
def _year_month(draw: st.DrawFn, precision: int) -> dict[str, Any]:
    resolution = draw(st.sampled_from(YearMonthResolution))
    if resolution is YearMonthResolution.MONTH:
        return {"resolution": resolution}
    return {"resolution": resolution, "precision": precision}


@st.composite
def _day_time(draw: st.DrawFn, day_precision: int, fractional_precision: int) -> dict[str, Any]:
    """Only intervals with days have a precision of days, only those with seconds one of these."""
    resolution = draw(st.sampled_from(DayTimeResolution))
    values: dict[str, Any] = {"resolution": resolution}
    if resolution.value.startswith("DAY"):
        values["day_precision"] = day_precision
    if resolution.value.endswith("SECOND"):
        values["fractional_precision"] = fractional_precision
    return values


def class_names() -> st.SearchStrategy[str]:
    """Names of Java classes."""
    return st.sampled_from(("com.acme.User", "com.acme.Order$Line", "User", "A1"))


@st.composite
def raw_types(draw: st.DrawFn) -> DataType:
    """Opaque types, with a well-formed but meaningless snapshot."""
    class_name = draw(class_names())
    serializer = draw(class_names()).encode()
    snapshot = len(serializer).to_bytes(2) + serializer + draw(st.binary(max_size=8))
    return RawType(class_name, base64.b64encode(snapshot).decode(), draw(st.booleans()))


def fields(
    data_types: st.SearchStrategy[DataType], max_size: int = 4
) -> st.SearchStrategy[list[RowField]]:
    """Fields of rows and structured types: names differ from each other."""
    return st.lists(
        st.builds(RowField, names(), data_types, comments()),
        max_size=max_size,
        unique_by=lambda field: field.name,
    )


def nested(data_types: st.SearchStrategy[DataType]) -> st.SearchStrategy[DataType]:
    """Types one level above the given ones."""
    return st.one_of(
        st.builds(ArrayType, data_types, st.booleans()),
        st.builds(MultisetType, data_types, st.booleans()),
        st.builds(MapType, data_types, data_types, st.booleans()),
        st.builds(RowType, fields(data_types), st.booleans()),
        st.builds(StructuredType, class_names(), fields(data_types), st.booleans()),
    )


def types(max_leaves: int = 8) -> st.SearchStrategy[DataType]:
    """Any type that a type string can express, with about `max_leaves` atomic types at most."""
    return st.recursive(atomic_types() | raw_types(), nested, max_leaves=max_leaves)


def user_defined_types(data_types: st.SearchStrategy[DataType]) -> st.SearchStrategy[DataType]:
    """Types that a catalog stores: distinct and structured types with a path."""
    identifiers = st.tuples(names(), names(), names())
    return st.one_of(
        st.builds(DistinctType, identifiers, data_types, description=comments()),
        st.builds(
            StructuredType,
            st.none() | class_names(),
            fields(data_types),
            st.booleans(),
            path=identifiers,
            description=comments(),
        ),
    )


def paths() -> st.SearchStrategy[UnresolvedPath]:
    """Any path that SQL can express: one to three names without line breaks."""
    characters = st.characters(exclude_categories=["Cs"], exclude_characters="\n\r")
    parts = st.text(characters, min_size=1, max_size=MAX_NAME // 2)
    visible = parts.filter(lambda name: not is_blank(name))
    return st.builds(UnresolvedPath, st.lists(visible, min_size=1, max_size=3))


# --- values ---------------------------------------------------------------------------------------


#: The longest variable-length strings, and the longest fixed-length types that are generated.
SHORT, LONGEST = 8, 1_000

_ENOUGH_DIGITS = Context(prec=100)


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
