"""A schema in Flink's property map: each `encode` is followed by the `decode` that mirrors it.

What is read is unresolved: types and expressions stay text until a resolver looks at them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from schema_core.caching import cached
from schema_core.errors import UnsupportedError
from schema_core.formats.properties.keys import (
    Properties,
    Reader,
    flatten,
    join_names,
    split_names,
    together,
)
from schema_core.formats.properties.sidecar import is_ambiguous, restored_schema
from schema_core.schema.resolved import (
    AnyColumn,
    ComputedColumn,
    Constraint,
    Index,
    MetadataColumn,
    PhysicalColumn,
    ResolvedSchema,
    WatermarkSpec,
)
from schema_core.schema.unresolved import (
    Schema,
    SqlExpression,
    UnresolvedColumn,
    UnresolvedComputedColumn,
    UnresolvedMetadataColumn,
    UnresolvedPhysicalColumn,
)
from schema_core.text import is_blank
from schema_core.types import DataType
from schema_core.types.base import node_count

#: The prefix under which the schema of a table stands.
SCHEMA = "schema"

#: The keys that are looked for where a column turns out to be physical.
OF_PHYSICAL = ("name", "data-type", "expr", "metadata", "comment")


@cached(node_count)
def type_text(type_: DataType) -> str:
    """The text of a type; most tables use few of them.

    Raises:
        UnsupportedError: with code `type-not-serializable`.
    """
    return type_.as_serializable_string()


def encode_extras(column: AnyColumn) -> Properties:
    """What the row of a column has besides its name, its type and its comment."""
    match column:
        case PhysicalColumn():
            return {}
        case ComputedColumn(expression=expression):
            return {"expr": expression.as_serializable_string()}
        case MetadataColumn(virtual=virtual):
            return {"metadata": column.key, "virtual": "true" if virtual else "false"}
        case _:
            assert_never(column)


def decode_column(row: Reader) -> UnresolvedColumn:
    """The column of a row; a key equal to the column's name is the same as none."""
    name, comment = row.require("name"), row.get("comment")
    sql, type_ = row.get("expr"), row.get("data-type")
    if sql is not None:  # its type is found again when it is resolved
        return UnresolvedComputedColumn(name, SqlExpression(sql), comment)
    if type_ is None:
        type_ = row.require("data-type")
    if (key := row.get("metadata")) is None:
        return UnresolvedPhysicalColumn(name, type_, comment)
    virtual = row.require("virtual").lower() == "true"
    return UnresolvedMetadataColumn(name, type_, None if key == name else key, virtual, comment)


def encode_watermark(watermark: WatermarkSpec) -> Properties:
    """A watermark as a row of the map."""
    expression = watermark.watermark_expression
    return {
        "rowtime": watermark.rowtime_attribute,
        "strategy.expr": expression.as_serializable_string(),
        "strategy.data-type": expression.type.as_serializable_string(),
    }


def decode_watermark(row: Reader) -> tuple[str, str]:
    """The column and the expression of a watermark's row."""
    row.get("strategy.data-type")  # found again when the expression is resolved
    return row.require("rowtime"), row.require("strategy.expr")


def encode_names(named: Constraint | Index) -> Properties:
    """A key or an index as a row of the map."""
    return {"name": named.name, "columns": join_names(named.columns)}


def decode_names(row: Reader) -> tuple[str, list[str]] | None:
    """The name and the columns of a key or an index; None where it has no name."""
    name = row.get("name")
    return None if name is None else (name, split_names(row.require("columns")))


def encode_columns(schema: ResolvedSchema, prefix: str) -> Properties:
    """The columns alone: all that the map of a model keeps of a schema."""
    found: Properties = {}
    texts: dict[int, str] = {}  # by identity: to hash a nested type takes longer than the rest
    for number, column in enumerate(schema.columns):
        row, type_ = f"{prefix}.{number}.", column.data_type
        if (text := texts.get(id(type_))) is None:
            text = texts[id(type_)] = type_text(type_)
        found[row + "name"] = column.name
        found[row + "data-type"] = text
        if not isinstance(column, PhysicalColumn):
            for key, value in encode_extras(column).items():
                found[row + key] = value
        if column.comment is not None:
            found[row + "comment"] = column.comment
    return found


def read_columns(reader: Reader, prefix: str) -> Iterator[UnresolvedColumn]:
    """The columns under a prefix; of physical ones, which most are, no more keys are looked up."""
    properties = reader.properties
    get, physical = properties.get, []
    for number in range(reader.count(prefix, "name")):
        row = f"{prefix}.{number}."
        name, type_ = get(row + "name"), get(row + "data-type")
        others = row + "expr" in properties or row + "metadata" in properties
        if name is None or type_ is None or others:
            yield decode_column(reader.under(f"{prefix}.{number}"))
        else:
            physical.append(row)
            yield UnresolvedPhysicalColumn(name, type_, get(row + "comment"))
    reader.took(physical, OF_PHYSICAL)


def decode_columns(reader: Reader, prefix: str) -> Schema:
    """A schema of the columns under a prefix, and of what is carried beside them."""
    return restored_schema(reader, Schema(tuple(read_columns(reader, prefix))), prefix)


def encode_schema(schema: ResolvedSchema, prefix: str = SCHEMA) -> Properties:
    """A schema under a prefix, exactly as Flink writes it.

    Raises:
        UnsupportedError: with code `type-not-serializable` or that of an expression without SQL.
    """
    key, immutable = schema.primary_key, schema.immutable_columns
    single = (("primary-key", key), ("immutable", immutable))
    constraints = {
        f"{prefix}.{part}.{name}": value
        for part, constraint in single
        if constraint is not None
        for name, value in encode_names(constraint).items()
    }
    return together(
        encode_columns(schema, prefix),
        flatten(f"{prefix}.watermark", map(encode_watermark, schema.watermark_specs)),
        flatten(f"{prefix}.index", map(encode_names, schema.indexes)),
        constraints,
    )


def decode_schema(reader: Reader, prefix: str = SCHEMA) -> Schema:
    """The schema under a prefix.

    Raises:
        SchemaError: with code `missing-key` or `invalid-key-value`, or those of the schema's
            builder.
    """
    builder = Schema.new_builder().from_columns(read_columns(reader, prefix))
    part = reader.under(prefix)
    for row in part.rows("watermark", "rowtime"):
        builder.watermark(*decode_watermark(row))
    if key := decode_names(part.under("primary-key")):
        builder.primary_key_named(key[0], *key[1])
    if immutable := decode_names(part.under("immutable")):
        builder.immutable_columns_named(immutable[0], *immutable[1])
    for row in part.rows("index", "name"):
        row.require("name")
        if index := decode_names(row):
            builder.index_named(index[0], *index[1])
    return restored_schema(reader, builder.build(), prefix)


# --- what the map cannot carry -------------------------------------------------------------------


def losses(schema: ResolvedSchema) -> Iterator[UnsupportedError]:
    """What `decode_schema` would not give back of what `encode_schema` writes."""
    single = (schema.primary_key, schema.immutable_columns)
    constraints = [constraint for constraint in single if constraint is not None]
    yield from (_blank(one) for one in constraints if is_blank(one.name))
    for named in (*constraints, *schema.indexes):
        if is_ambiguous(named):
            yield UnsupportedError(
                f"the columns {_shown(named.columns)} of {named.name!r} cannot be told apart "
                "in a property map",
                code="lossy-names",
                hint='the map joins names by commas: rename the column, or on_loss="carry"',
            )


def losses_of_columns(schema: ResolvedSchema) -> Iterator[UnsupportedError]:
    """What `decode_columns` would not give back of what `encode_columns` writes."""
    more = (schema.watermark_specs, schema.primary_key, schema.indexes, schema.immutable_columns)
    if any(more):
        yield UnsupportedError(
            "the property map of a model keeps columns alone, no watermark, key or index",
            code="lossy-model-schema",
        )


def _blank(constraint: Constraint) -> UnsupportedError:
    return UnsupportedError(
        f"the name {constraint.name!r} of a key cannot be read back from a property map",
        code="lossy-names",
        hint="give it a name with a visible character",
    )


def _shown(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))
