"""Laws of schemas: resolution is stable, modes differ in rowtime alone, values are values."""

from __future__ import annotations

import copy
import pickle

from hypothesis import given
from hypothesis import strategies as st

from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.resolved import ResolvedSchema
from schema_core.schema.unresolved import Schema, unresolve
from schema_core.testing.schemas import schemas
from schema_core.types import AnyTimestampType, TimestampKind

resolvers = st.sampled_from([SchemaResolver(), SchemaResolver(streaming=False)])


@given(schemas(), resolvers)
def test_resolution_is_stable(schema: Schema, resolver: SchemaResolver) -> None:
    resolved = resolver.resolve(schema)
    again = resolver.resolve(unresolve(resolved))

    assert resolved == again
    assert str(resolved) == str(again)


@given(schemas(), resolvers)
def test_checking_finds_nothing_in_what_resolves(schema: Schema, resolver: SchemaResolver) -> None:
    assert () == resolver.check(schema)


def rowtimes(schema: ResolvedSchema) -> list[str]:
    return [
        column.name
        for column in schema.columns
        if isinstance(column.data_type, AnyTimestampType)
        and column.data_type.kind is TimestampKind.ROWTIME
    ]


@given(schemas())
def test_modes_differ_in_rowtime_alone(schema: Schema) -> None:
    stream = SchemaResolver().resolve(schema)
    batch = SchemaResolver(streaming=False).resolve(schema)

    assert stream == batch  # equality of types does not look at time attributes
    assert [] == rowtimes(batch)
    assert [one.rowtime_attribute for one in stream.watermark_specs] == rowtimes(stream)


@given(schemas())
def test_columns_keep_their_order_names_and_comments(schema: Schema) -> None:
    resolved = SchemaResolver().resolve(schema)

    assert [(one.name, one.comment) for one in schema.columns] == [
        (one.name, one.comment) for one in resolved.columns
    ]


@given(schemas())
def test_rows_hold_what_columns_say(schema: Schema) -> None:
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
def test_schemas_are_values(schema: Schema) -> None:
    resolved = SchemaResolver().resolve(schema)

    assert schema == copy.deepcopy(schema) == pickle.loads(pickle.dumps(schema))
    assert hash(schema) == hash(copy.deepcopy(schema))
    assert resolved == copy.deepcopy(resolved)
    assert hash(resolved) == hash(copy.deepcopy(resolved))
