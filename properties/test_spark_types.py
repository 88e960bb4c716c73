"""Invariants of Spark types: restored with metadata; JSON and DDL survive a round trip."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st
from pyspark.sql.types import StructType

from schema_core.errors import ParseError, SchemaCoreError
from schema_core.mappings.arrow.spark import to_schema, to_struct_type
from schema_core.mappings.exact_types import DEFINITIONS_KEY, TYPE_KEY, type_metadata
from schema_core.mappings.loss import losses, physical_equivalent
from schema_core.mappings.spark.ddl import parse_ddl, print_ddl
from schema_core.mappings.spark.pyspark_types import from_struct_field, to_struct_field
from schema_core.mappings.spark.schemas import parse_json, print_json
from schema_core.mappings.spark.types import from_field_tree, to_field_tree
from schema_core.testing.strategies import comments, names, nest_types, types, user_defined_types
from schema_core.types import DataType, RowField


def held(target: str) -> st.SearchStrategy[DataType]:
    """Types that the target can store."""
    return types().filter(lambda type_: physical_equivalent(type_, target) is not None)


@given(names(), held("spark:4.3"), comments())
def test_spark_preserves_every_type(name: str, type_: DataType, comment: str | None) -> None:
    field = to_struct_field(name, type_, comment, on_loss="note")

    assert type_ == from_struct_field(field)
    assert (name, type_.is_nullable) == (field.name, field.nullable)
    assert comment == field.metadata.get("comment")


@given(user_defined_types(nest_types(user_defined_types(types(max_leaves=2)))))
def test_user_defined_types_are_restored_with_their_paths(type_: DataType) -> None:
    assume(physical_equivalent(type_, "spark:4.3") is not None)
    assume(DEFINITIONS_KEY in type_metadata(type_))  # a path identifies one type
    field = to_struct_field("f", type_, on_loss="note")
    bare = to_struct_field("f", type_, on_loss="accept")

    assert type_ == from_struct_field(field)
    assert physical_equivalent(type_, "spark:4.3") == from_struct_field(bare)


@given(held("spark:4.3"))
def test_json_equals_that_of_pyspark(type_: DataType) -> None:
    """PySpark's own reader and writer are the reference."""
    tree = {"type": "struct", "fields": [to_field_tree(RowField("f", type_), on_loss="note")]}

    assert tree == parse_json(print_json(tree))
    assert print_json(tree) == StructType.fromJson(json.loads(print_json(tree))).json()


def forgetful(tree: Any) -> Any:
    """The tree as Spark reads it from a file: everything is nullable."""
    if isinstance(tree, list):
        return [forgetful(child) for child in tree]
    if not isinstance(tree, dict):
        return tree
    forgotten = ("nullable", "containsNull", "valueContainsNull")
    return {key: True if key in forgotten else forgetful(value) for key, value in tree.items()}


@given(held("spark:4.3"))
def test_metadata_matches_without_not_null(type_: DataType) -> None:
    tree = to_field_tree(RowField("f", type_), on_loss="note")

    assert type_ == from_field_tree({**forgetful(tree), "metadata": tree["metadata"]}).data_type


@given(held("spark:4.3"))
def test_without_metadata_the_physical_equivalent_is_read(type_: DataType) -> None:
    tree = to_field_tree(RowField("f", type_), on_loss="accept")

    assert TYPE_KEY not in json.dumps(tree)
    assert physical_equivalent(type_, "spark:4.3") == from_field_tree(tree).data_type
    assert (not losses(type_, "spark:4.3")) == (type_ == from_field_tree(tree).data_type)


@given(st.lists(st.tuples(names(), held("spark-ddl:4.3"), comments()), max_size=3))
def test_ddl_has_the_physical_equivalents(columns: list[tuple[str, DataType, str | None]]) -> None:
    fields = [RowField(*column) for column in columns]
    tree = {
        "type": "struct",
        "fields": [to_field_tree(field, on_loss="accept") for field in fields],
    }
    back = [from_field_tree(item) for item in parse_ddl(print_ddl(tree))["fields"]]

    assert [(field.name, field.description) for field in fields] == [
        (item.name, item.description) for item in back
    ]
    assert [physical_equivalent(field.data_type, "spark-ddl:4.3") for field in fields] == [
        field.data_type for field in back
    ]


PIECES = st.sampled_from(
    ["a", "`b`", "INT", "ARRAY<", "MAP<", "STRUCT<", "STRUCT<>", ">", ",", ":", "NOT NULL", "'x'",
     "COMMENT", "DECIMAL(", ")", "3", "--", "/*", "*/", "\\", "'", '"', "`", "TIMESTAMP",
     "INTERVAL"]
)  # fmt: skip


@given(st.text() | st.lists(PIECES | st.text(max_size=2), max_size=10).map(" ".join))
def test_any_string_is_ddl_or_a_parse_error(text: str) -> None:
    try:
        tree = parse_ddl(text)
    except ParseError as error:
        assert error.span is not None  # noqa: PT017
        assert 0 <= error.span.start <= error.span.stop <= len(text) + 1  # noqa: PT017
    else:
        assert tree == parse_ddl(print_ddl(tree))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(("long", "struct", "array", "x")),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(("type", "fields", "name", "nullable", "elementType", "metadata")),
            inner,
            max_size=5,
        )
    ),
)


@given(JSON | st.lists(JSON, max_size=2).map(lambda found: {"type": "struct", "fields": found}))
def test_any_json_is_a_struct_or_refused(found: Any) -> None:
    try:
        tree = parse_json(json.dumps(found))
    except SchemaCoreError as error:
        assert error.code in {"invalid-document", "limit-exceeded"}  # noqa: PT017
    else:
        assert tree == parse_json(print_json(tree))


def is_kept_by_both(type_: DataType) -> bool:
    """Whether Spark and Arrow preserve the values of the type."""
    changes = any(loss.changes_values for loss in losses(type_, "spark:4.3"))
    return not changes and physical_equivalent(type_, "arrow") is not None


@given(st.lists(held("spark:4.3").filter(is_kept_by_both), max_size=3))
def test_spark_to_arrow_and_back(found: list[DataType]) -> None:
    """Types within Spark's precision are restored from Arrow, with and without layouts."""
    struct = StructType([to_struct_field(f"c{index}", item) for index, item in enumerate(found)])

    for layouts in (False, True):
        back = to_struct_type(to_schema(struct, layouts=layouts))
        assert found == [from_struct_field(field) for field in back.fields]
