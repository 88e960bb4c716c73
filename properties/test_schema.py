"""Laws of schemas: resolution is stable, modes differ in rowtime alone, values are values."""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schema_core.errors import SchemaCoreError
from schema_core.errors.codes import codes
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.resolved import ResolvedSchema
from schema_core.schema.unresolved import Schema, unresolve
from schema_core.testing.strategies import schemas
from schema_core.types import AnyTimestampType, TimestampKind

resolvers = st.sampled_from([SchemaResolver(), SchemaResolver(streaming=False)])


@given(schemas(), resolvers)
def test_resolution_is_stable(schema: Schema, resolver: SchemaResolver) -> None:
    resolved = resolver.resolve(schema)
    again = resolver.resolve(unresolve(resolved))

    assert resolved == again
    assert str(resolved) == str(again)


@given(schemas(), resolvers)
def test_check_reports_no_errors_for_a_valid_schema(
    schema: Schema, resolver: SchemaResolver
) -> None:
    assert () == resolver.check(schema)


def rowtimes(schema: ResolvedSchema) -> list[str]:
    return [
        column.name
        for column in schema.columns
        if isinstance(column.data_type, AnyTimestampType)
        and column.data_type.kind is TimestampKind.ROWTIME
    ]


@given(schemas())
def test_modes_differ_in_rowtime_only(schema: Schema) -> None:
    stream = SchemaResolver().resolve(schema)
    batch = SchemaResolver(streaming=False).resolve(schema)

    assert stream == batch  # equality of types does not look at time attributes
    assert [] == rowtimes(batch)
    assert [spec.rowtime_attribute for spec in stream.watermark_specs] == rowtimes(stream)


@given(schemas())
def test_columns_keep_their_order_names_and_comments(schema: Schema) -> None:
    resolved = SchemaResolver().resolve(schema)

    assert [(column.name, column.comment) for column in schema.columns] == [
        (column.name, column.comment) for column in resolved.columns
    ]


@given(schemas())
def test_row_types_match_the_columns(schema: Schema) -> None:
    resolved = SchemaResolver().resolve(schema)
    source, sink = resolved.to_source_row_data_type(), resolved.to_sink_row_data_type()
    physical = set(resolved.to_physical_row_data_type().field_names())

    assert resolved.get_column_data_types() == source.field_types()
    assert physical <= set(sink.field_names()) <= set(source.field_names())
    assert resolved.get_primary_key_indexes() == [
        resolved.to_physical_row_data_type().field_names().index(name)
        for name in (resolved.primary_key.columns if resolved.primary_key else ())
    ]


@given(schemas())
def test_equal_schemas_have_equal_hashes(schema: Schema) -> None:
    resolved = SchemaResolver().resolve(schema)

    assert schema == copy.deepcopy(schema) == pickle.loads(pickle.dumps(schema))
    assert hash(schema) == hash(copy.deepcopy(schema))
    assert resolved == copy.deepcopy(resolved)
    assert hash(resolved) == hash(copy.deepcopy(resolved))


#: What a column may be -> its code, or None for a right one. `{0}` is its number.
MEMBERS: dict[str, tuple[str, str | None]] = {
    "INT NOT NULL": ("column", None),
    "ROW<a INT, b STRING>": ("column", None),
    "NOPE{0}": ("column", "type-not-found"),
    "DECIMAL(39, {0})": ("column", "invalid-type"),
    "ARRAY<INT": ("column", "syntax"),
    "1 + {0}": ("computed", None),
    "nope{0} + 1": ("computed", "unknown-column"),
    "NOPE{0}(1)": ("computed", "function-not-found"),
    "SQRT(1, {0})": ("computed", "invalid-function-call"),
    "1 +": ("computed", "syntax"),
}


@given(st.lists(st.sampled_from(sorted(MEMBERS)), max_size=12), resolvers)
def test_exactly_the_expected_errors_are_reported(
    members: list[str], resolver: SchemaResolver
) -> None:
    builder = Schema.new_builder()
    for number, text in enumerate(members):
        add = builder.column if MEMBERS[text][0] == "column" else builder.column_by_expression
        add(f"c{number}", text.format(number))
    schema = builder.build()
    result = resolver.check(schema)
    # Flink looks at stored columns first, then at computed ones, each in their order.
    ordered = sorted(enumerate(members), key=lambda pair: MEMBERS[pair[1]][0] != "column")

    assert [
        (code, f"column 'c{number}'") for number, text in ordered if (code := MEMBERS[text][1])
    ] == [(diagnostic.code, diagnostic.path[0]) for diagnostic in result]
    assert all(diagnostic.message and diagnostic.code in codes() for diagnostic in result)
    if result:
        with pytest.raises(SchemaCoreError) as caught:
            resolver.resolve(schema)
        assert result == caught.value.diagnostics
