"""Invariants of Arrow: types are restored with metadata; without it, losses are reported."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from schema_core.errors import SchemaCoreError, UnsupportedError
from schema_core.mappings.arrow.schemas import from_field, layout_of, read_schema, to_field
from schema_core.mappings.arrow.types import ARROW_KINDS, from_layout
from schema_core.mappings.exact_types import (
    COMMENT_KEY,
    DEFINITIONS_KEY,
    LAYOUT_KEY,
    TYPE_KEY,
    type_metadata,
)
from schema_core.mappings.loss import LossKind, losses, physical_equivalent
from schema_core.testing.strategies import atomic_types, comments, names, types, user_defined_types
from schema_core.testing.strategies import nest_types as nested_types
from schema_core.types import DataType, IntType, RowField, RowType, supports_implicit_cast


def held(type_: DataType) -> bool:
    """Whether Arrow has a type for it; another test covers types that it does not have."""
    return physical_equivalent(type_, "arrow") is not None


arrow_types_of_ours = types().filter(held)


def stripped(field: pa.Field) -> pa.Field:
    """The field without exact-type metadata at every level, as other programs see it."""
    kept = {
        key: value
        for key, value in (field.metadata or {}).items()
        if key not in (TYPE_KEY.encode(), DEFINITIONS_KEY.encode(), LAYOUT_KEY.encode())
    }
    return pa.field(field.name, stripped_type(field.type), field.nullable, kept or None)


def stripped_type(arrow: pa.DataType) -> pa.DataType:
    if pa.types.is_map(arrow):
        return pa.map_(stripped(arrow.key_field), stripped(arrow.item_field))
    if pa.types.is_list(arrow):
        return pa.list_(stripped(arrow.value_field))
    if pa.types.is_struct(arrow):
        return pa.struct([stripped(field) for field in arrow.fields])
    return arrow


# --- Flink types ----------------------------------------------------------------------------------


@given(names(), arrow_types_of_ours, comments())
def test_arrow_preserves_every_type(name: str, type_: DataType, comment: str | None) -> None:
    field = to_field(name, type_, comment)

    assert type_ == from_field(field)
    assert (name, type_.is_nullable) == (field.name, field.nullable)
    assert layout_of(field) is None
    assert comment == (None if comment is None else field.metadata[COMMENT_KEY.encode()].decode())


@given(user_defined_types(nested_types(user_defined_types(types(max_leaves=2)))).filter(held))
def test_user_defined_types_are_restored_with_their_paths(type_: DataType) -> None:
    """Readers of a file may not have the catalog of its types."""
    assume(DEFINITIONS_KEY in type_metadata(type_))  # a path identifies one type
    field = to_field("f", type_)

    assert type_ == from_field(field)
    assert physical_equivalent(type_, "arrow") == from_field(stripped(field))


@given(arrow_types_of_ours)
def test_a_stream_preserves_every_type(type_: DataType) -> None:
    schema = pa.schema([to_field("f", type_)])

    assert type_ == from_field(pa.ipc.read_schema(schema.serialize())[0])


@given(arrow_types_of_ours)
def test_without_metadata_the_physical_equivalent_is_read(type_: DataType) -> None:
    assert physical_equivalent(type_, "arrow") == from_field(stripped(to_field("f", type_)))
    assert physical_equivalent(type_, "arrow") == from_field(to_field("f", type_, on_loss="accept"))


@given(arrow_types_of_ours)
def test_a_type_without_losses_needs_no_metadata(type_: DataType) -> None:
    """A type with losses needs metadata, unless only values that would be refused are lost."""
    result = {loss.kind for loss in losses(type_, "arrow")} - {LossKind.RANGE}

    assert (not result) == (type_ == from_field(stripped(to_field("f", type_))))


#: Kinds of loss that preserve the type with respect to casts.
SAME_VALUES = {LossKind.LENGTH, LossKind.PRECISION, LossKind.RANGE}


def keeps_values(type_: DataType) -> bool:
    return held(type_) and {loss.kind for loss in losses(type_, "arrow")} <= SAME_VALUES


@given(st.recursive(atomic_types().filter(keeps_values), nested_types, max_leaves=2))
def test_the_physical_equivalent_accepts_every_value(type_: DataType) -> None:
    """Flink's implicit casts are the reference."""
    assume(keeps_values(type_))
    bare = from_field(stripped(to_field("f", type_)))

    assert supports_implicit_cast(type_, bare)


@given(
    st.lists(
        types().filter(lambda item: physical_equivalent(item, "parquet") is not None), max_size=3
    )
)
def test_parquet_without_arrow_schema_has_the_physical_equivalents(found: list[DataType]) -> None:
    """With `store_schema=False` the file contains what any Parquet reader sees."""
    schema = pa.schema([to_field(f"c{index}", type_) for index, type_ in enumerate(found)])
    sink = io.BytesIO()
    with pyarrow.parquet.ParquetWriter(sink, schema, store_schema=False) as writer:
        writer.write_table(schema.empty_table())
    back = pyarrow.parquet.read_schema(io.BytesIO(sink.getvalue()))

    assert [without_comments(physical_equivalent(item, "parquet")) for item in found] == [
        from_field(field) for field in back
    ]


def without_comments(type_: DataType | None) -> DataType:
    """Field comments are metadata of Arrow, which such a file does not contain."""
    assert type_ is not None
    whole = type_.rebuild(tuple(without_comments(child) for child in type_.children()))
    if isinstance(whole, RowType):
        return RowType(
            [RowField(field.name, field.data_type) for field in whole.fields], whole.is_nullable
        )
    return whole


@given(types())
def test_unsupported_types_are_refused_and_reported(type_: DataType) -> None:
    refused = any(loss.kind is LossKind.REFUSED for loss in losses(type_, "arrow"))

    assert refused == (physical_equivalent(type_, "arrow") is None)
    if refused:
        with pytest.raises(UnsupportedError) as caught:
            to_field("f", type_)
        assert "type-not-supported" == caught.value.code
    else:
        assert type_ == from_field(to_field("f", type_))


@given(arrow_types_of_ours, arrow_types_of_ours)
def test_metadata_never_hides_another_physical_type(recorded: DataType, physical: DataType) -> None:
    """A field of one type with the metadata of another is read as a type that its values fit."""
    field = stripped(to_field("f", physical))
    mismatched = field.with_metadata(
        {**(field.metadata or {}), TYPE_KEY.encode(): str(recorded).encode()}
    )
    result = from_field(mismatched)

    if result != from_field(field):
        assert result == recorded.with_nullability(field.nullable)
        assert to_field("f", result).type == field.type or layout_of(mismatched) is not None


# --- Arrow's types --------------------------------------------------------------------------------

#: Kinds without children, with parameters over their whole domains.
UNITS = st.sampled_from(("s", "ms", "us", "ns"))
ZONES = st.none() | st.sampled_from(("UTC", "Europe/Amsterdam", "+05:30"))
LEAVES = st.one_of(
    st.sampled_from([kind.word for kind in ARROW_KINDS if not kind.attributes]).map(
        lambda word: [word]
    ),
    st.tuples(st.just("timestamp"), UNITS, ZONES).map(list),
    st.tuples(st.just("duration"), UNITS).map(list),
    st.tuples(st.just("time32"), st.sampled_from(("s", "ms"))).map(list),
    st.tuples(st.just("time64"), st.sampled_from(("us", "ns"))).map(list),
    st.tuples(st.just("fixed_size_binary"), st.integers(0, 20)).map(list),
    st.tuples(st.just("decimal32"), st.integers(1, 9), st.integers(-9, 9)).map(list),
    st.tuples(st.just("decimal64"), st.integers(1, 18), st.integers(-18, 18)).map(list),
    st.tuples(st.just("decimal128"), st.integers(1, 38), st.integers(0, 38)).map(list),
    st.tuples(st.just("decimal256"), st.integers(1, 38), st.integers(0, 38)).map(list),
)


def nested(nodes: st.SearchStrategy[list[Any]]) -> st.SearchStrategy[list[Any]]:
    """Arrow types one level above the given ones."""
    item = st.tuples(names(), st.booleans(), nodes).map(nullable_null)
    key = st.tuples(st.just("key"), st.just(False), nodes.filter(lambda node: not is_null(node)))
    value = st.tuples(st.just("value"), st.booleans(), nodes).map(nullable_null)
    fields = st.lists(item, max_size=3, unique_by=lambda item: item[0])
    lists = st.sampled_from(("list", "large_list", "list_view", "large_list_view"))
    return st.one_of(
        st.tuples(lists, item).map(list),
        st.tuples(st.just("fixed_size_list"), item, st.integers(0, 9)).map(list),
        st.tuples(st.just("map"), key.map(list), value, st.booleans()).map(list),
        st.tuples(st.just("struct"), fields).map(list),
        st.tuples(st.just("dictionary"), st.just(["int8"]), nodes, st.booleans()).map(list),
        st.tuples(st.just("run_end_encoded"), st.just(["int32"]), nodes).map(list),
    )


def is_null(node: list[Any]) -> bool:
    """Whether all values are NULL, perhaps encoded."""
    encoded = node[0] in ("dictionary", "run_end_encoded")
    return node == ["null"] or (encoded and is_null(node[2]))


def nullable_null(field: tuple[str, bool, list[Any]]) -> list[Any]:
    """Arrow refuses a field of the type null that is not nullable."""
    name, nullable, node = field
    return [name, nullable or node == ["null"], node]


@given(st.recursive(LEAVES, nested, max_leaves=6))
def test_no_arrow_type_changes_silently(node: list[Any]) -> None:
    arrow = from_layout(node)
    field = pa.field("f", arrow)
    type_, layout = from_field(field), layout_of(field)

    assert arrow == to_field("f", type_, layout=layout).type
    assert type_ == from_field(to_field("f", type_, layout=layout))
    assert bool(layout) == bool(read_schema(pa.schema([field])).losses)


@given(st.text() | st.lists(st.sampled_from('[]",1e:{}null ') | st.just('"int8"')).map("".join))
def test_any_string_is_a_layout_or_refused(text: str) -> None:
    try:
        field = to_field("f", IntType(), layout=text)
    except SchemaCoreError as error:
        assert error.code in {"invalid-type", "limit-exceeded"}  # noqa: PT017
    else:
        assert IntType() == from_field(field)
