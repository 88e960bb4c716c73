"""Laws of Python values: what a type draws it accepts; what is inferred of a value accepts it."""

from __future__ import annotations

import copy
import pickle
from typing import Any

from hypothesis import assume, event, given
from hypothesis import strategies as st

from schema_core.errors import SchemaError
from schema_core.testing.strategies import DRAWN, has_values, types, values
from schema_core.types import (
    DataType,
    DataTypes,
    MapType,
    MultisetType,
    Row,
    UserDefinedType,
    infer_type,
    reject_reason,
)
from schema_core.types.base import TAKES


@st.composite
def typed_values(draw: st.DrawFn) -> tuple[DataType, Any]:
    """A type and a value of it; keys that Python cannot hash are left out."""
    type_ = draw(types(max_leaves=5).filter(has_values))
    assume(not any(has_keys_of_rows(node) for node in type_.walk()))
    return type_, draw(values(type_))


def has_keys_of_rows(type_: DataType) -> bool:
    """Whether keys are of a type whose values are lists or dictionaries."""
    return isinstance(type_, MapType | MultisetType) and bool(type_.children()[0].children())


def test_every_type_with_python_values_is_generated() -> None:
    """A user-defined type accepts only objects of its own class, which a strategy cannot know."""
    assert set(DRAWN) == set(TAKES) - {UserDefinedType}


@given(typed_values())
def test_a_value_of_a_type_is_accepted(drawn: tuple[DataType, Any]) -> None:
    type_, value = drawn

    assert reject_reason(type_, value) is None


@given(typed_values())
def test_only_nullable_types_accept_none(drawn: tuple[DataType, Any]) -> None:
    type_, _ = drawn

    assert type_.is_nullable == type_.accepts(None)


@given(st.lists(typed_values(), max_size=3))
def test_fields_by_name_equal_fields_by_position(drawn: list[tuple[DataType, Any]]) -> None:
    named = {f"f{place}": value for place, (_, value) in enumerate(drawn)}
    type_ = DataTypes.ROW([item for item, _ in drawn])

    assert type_.accepts(named)
    assert type_.accepts(tuple(named.values()))
    assert type_.accepts(Row(**named))


@given(typed_values())
def test_an_inferred_type_accepts_its_value(drawn: tuple[DataType, Any]) -> None:
    """Where one can be inferred: nothing holds the digits beyond DECIMAL(38, 18)."""
    _, value = drawn
    try:
        result = infer_type(value)
    except SchemaError:
        event("no type")
        return
    assert result.accepts(value)


@given(types())
def test_types_can_be_copied_and_pickled(type_: DataType) -> None:
    twins = (pickle.loads(pickle.dumps(type_)), copy.copy(type_), copy.deepcopy(type_))

    assert [type_] * 3 == list(twins)
    assert [repr(type_)] * 3 == list(map(repr, twins))
