"""Hypothesis strategies for names, types and paths.

Types are generated from their declarations, so a new type is included with all its limits.
"""

from __future__ import annotations

import base64
from typing import Any

from hypothesis import strategies as st

from schema_core import types as declared
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
)

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
