"""Encode tables, views, models and materialized tables as Flink's property maps, and decode them.

``decode_table(encode_table(table))`` is the same table, unresolved, whatever the order of the keys.
The format has no quoting, so it cannot represent some tables. By default they are refused with a
hint; ``on_loss="flink"`` writes what Flink writes, and ``on_loss="carry"`` adds sidecar keys
(`sidecar`), which Flink ignores. Decoding accepts and refuses what Flink does. Types and
expressions are decoded as strings, which a resolver parses later.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from types import NoneType
from typing import Literal, TypeAlias, assert_never, cast, get_args

from schema_core.base.arguments import require_instance
from schema_core.base.caching import cached
from schema_core.base.lazy import NamedTuple
from schema_core.base.text import is_blank
from schema_core.catalog import objects
from schema_core.catalog.own_options import require_no_own_options
from schema_core.catalog.temporary import ResolvedTable
from schema_core.errors import Diagnostic, SchemaError, UnsupportedError, choose_from, raise_all
from schema_core.properties import key_syntax as keys
from schema_core.properties import sidecar
from schema_core.properties.key_syntax import Properties, PropertyReader
from schema_core.properties.sidecar import VERSION, is_ambiguous, restore_schema
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
    UnresolvedImmutableColumns,
    UnresolvedIndex,
    UnresolvedMetadataColumn,
    UnresolvedPhysicalColumn,
    UnresolvedPrimaryKey,
    UnresolvedWatermarkSpec,
)

#: The prefix of the schema of a table.
SCHEMA = "schema"


def encode_column_kind(column: AnyColumn) -> Properties:
    """The keys of a column besides name, type and comment."""
    match column:
        case PhysicalColumn():
            return {}
        case ComputedColumn(expression=expression):
            return {"expr": expression.as_serializable_string()}
        case MetadataColumn(virtual=virtual):
            return {"metadata": column.key, "virtual": "true" if virtual else "false"}
        case _:
            assert_never(column)


def decode_column(row: PropertyReader) -> UnresolvedColumn:
    """Decode a column; a metadata key equal to the column's name is the same as none."""
    name, comment = row.require("name"), row.get("comment")
    sql, type_ = row.get("expr"), row.get("data-type")
    if sql is not None:  # its type is inferred when it is resolved
        return UnresolvedComputedColumn(name, SqlExpression(sql), comment)
    if type_ is None:
        type_ = row.require("data-type")
    if (key := row.get("metadata")) is None:
        return UnresolvedPhysicalColumn(name, type_, comment)
    virtual = row.require("virtual").lower() == "true"
    return UnresolvedMetadataColumn(name, type_, None if key == name else key, virtual, comment)


def encode_watermark(watermark: WatermarkSpec) -> Properties:
    """Encode a watermark."""
    expression = watermark.watermark_expression
    return {
        "rowtime": watermark.rowtime_attribute,
        "strategy.expr": expression.as_serializable_string(),
        "strategy.data-type": expression.type.as_serializable_string(),
    }


def decode_watermark(row: PropertyReader) -> tuple[str, str]:
    """The column and the expression of a watermark."""
    row.get("strategy.data-type")  # inferred when the expression is resolved
    return row.require("rowtime"), row.require("strategy.expr")


def encode_names(named: Constraint | Index) -> Properties:
    """Encode a key constraint or an index."""
    return {"name": named.name, "columns": keys.join_names(named.columns)}


def decode_names(row: PropertyReader) -> tuple[str, list[str]] | None:
    """The name and the columns of a key constraint or index; None without a name."""
    name = row.get("name")
    return None if name is None else (name, keys.split_names(row.require("columns")))


def encode_columns(schema: ResolvedSchema, prefix: str) -> Properties:
    """Encode only the columns of a schema, as in the map of a model."""
    properties: Properties = {}
    rows = enumerate(zip(schema.columns, keys.column_keys(prefix), strict=False))
    for number, (column, (name, type_, comment)) in rows:
        properties[name] = column.name
        properties[type_] = column.data_type.as_serializable_string()
        if not isinstance(column, PhysicalColumn):
            for key, value in encode_column_kind(column).items():
                properties[f"{prefix}.{number}.{key}"] = value
        if column.comment is not None:
            properties[comment] = column.comment
    return properties


@cached(keys.column_length, budget=600_000)
def computed_column(name: str, sql: str, comment: str | None) -> UnresolvedComputedColumn:
    """Cached as physical columns are."""
    return UnresolvedComputedColumn(name, SqlExpression(sql), comment)


@cached(keys.column_length, budget=200_000)
def watermark(column: str, sql: str) -> UnresolvedWatermarkSpec:
    """Cached as columns are."""
    return UnresolvedWatermarkSpec(column, SqlExpression(sql))


@cached(keys.column_length, budget=200_000)
def primary_key(name: str, columns: str) -> UnresolvedPrimaryKey:
    """The primary key on columns whose names are joined; cached as columns are."""
    key = (
        Schema.new_builder().primary_key_named(name, *keys.split_names(columns)).build().primary_key
    )
    return cast("UnresolvedPrimaryKey", key)


def immutable_columns(name: str, columns: str) -> UnresolvedImmutableColumns:
    """The constraint on columns whose names are joined."""
    builder = Schema.new_builder().immutable_columns_named(name, *keys.split_names(columns))
    return cast("UnresolvedImmutableColumns", builder.build().immutable_columns)


def read_columns(reader: PropertyReader, prefix: str) -> Sequence[UnresolvedColumn]:
    """Decode the columns under a prefix."""
    if prefix == SCHEMA and (common := _read_common_columns(reader)) is not None:
        return common
    properties = reader.properties
    get, physical = properties.get, []
    columns: list[UnresolvedColumn] = []
    for number in range(reader.count(prefix, "name")):
        row = f"{prefix}.{number}."
        name, type_ = get(row + "name"), get(row + "data-type")
        others = row + "expr" in properties or row + "metadata" in properties
        if name is None or type_ is None or others:
            columns.append(decode_column(reader.under(f"{prefix}.{number}")))
        else:
            physical.append(row)
            columns.append(UnresolvedPhysicalColumn(name, type_, get(row + "comment")))
    reader.mark_read(physical, keys.PHYSICAL_COLUMN_KEYS)
    return columns


def _read_common_columns(reader: PropertyReader) -> list[UnresolvedColumn] | None:
    """Decode columns that all have a name and a type, without gaps; None for any other map."""
    columns: list[UnresolvedColumn] = [*reader.first_columns]
    if not columns or (others := reader.non_physical_columns()) is None:
        return None
    for row in others:
        if (sql := reader.properties.get(f"{SCHEMA}.{row}.expr")) is None:
            columns[row] = decode_column(reader.under(f"{SCHEMA}.{row}"))
        else:
            reader.mark_read((f"{SCHEMA}.{row}.",), keys.COMPUTED_COLUMN_KEYS)
            column = reader.first_columns[row]
            columns[row] = computed_column(column.name, sql, column.comment)
    reader.mark_columns(len(columns), others)
    return columns


def decode_columns(reader: PropertyReader, prefix: str) -> Schema:
    """Decode a schema of the columns under a prefix and of their sidecar keys."""
    return restore_schema(reader, Schema(tuple(read_columns(reader, prefix))), prefix)


def encode_schema(schema: ResolvedSchema, prefix: str = SCHEMA) -> Properties:
    """Encode a schema under a prefix, exactly as Flink does."""
    key, immutable = schema.primary_key, schema.immutable_columns
    single = (("primary-key", key), ("immutable", immutable))
    constraints = {
        f"{prefix}.{part}.{name}": value
        for part, constraint in single
        if constraint is not None
        for name, value in encode_names(constraint).items()
    }
    return keys.merge(
        encode_columns(schema, prefix),
        keys.flatten(f"{prefix}.watermark", map(encode_watermark, schema.watermark_specs)),
        keys.flatten(f"{prefix}.index", map(encode_names, schema.indexes)),
        constraints,
    )


def decode_schema(reader: PropertyReader, prefix: str = SCHEMA) -> Schema:
    """Decode the schema under a prefix."""
    columns = tuple(read_columns(reader, prefix))
    if not reader.has_other(f"{prefix}."):
        return Schema(columns)
    part = reader.under(prefix)
    watermarks = [watermark(*decode_watermark(row)) for row in part.rows("watermark", "rowtime")]
    indexes: list[UnresolvedIndex] = []
    for row in part.rows("index", "name"):
        row.require("name")
        if index := decode_names(row):
            builder = Schema.new_builder().index_named(index[0], *index[1])
            indexes += builder.build().indexes
    key = _read_constraint(part, "primary-key")
    immutable = _read_constraint(part, "immutable")
    schema = Schema(
        columns,
        tuple(watermarks),
        None if key is None else primary_key(*key),
        tuple(indexes),
        None if immutable is None else immutable_columns(*immutable),
    )
    return restore_schema(reader, schema, prefix) if part.has_other(VERSION) else schema


def _read_constraint(part: PropertyReader, kind: str) -> tuple[str, str] | None:
    """The name and the joined columns of a key constraint; None without a name."""
    if not part.has_other(f"{kind}.") or (name := part.get(f"{kind}.name")) is None:
        return None
    return name, part.require(f"{kind}.columns")


# --- what the map cannot represent ----------------------------------------------------------------


def losses_of_schema(schema: ResolvedSchema) -> Iterator[UnsupportedError]:
    """Yield an error for everything that `decode_schema` would not restore."""
    single = (schema.primary_key, schema.immutable_columns)
    constraints = [constraint for constraint in single if constraint is not None]
    for constraint in constraints:
        if is_blank(constraint.name):
            yield UnsupportedError(
                f"the blank constraint name {constraint.name!r} is lost in a property map",
                code="lossy",
                hint="use a name that is not blank",
            )
    for named in (*constraints, *schema.indexes):
        if is_ambiguous(named):
            names = ", ".join(map(repr, named.columns))
            yield UnsupportedError(
                f"the columns {names} of {named.name!r} are ambiguous in a property map",
                code="lossy",
                hint='the map joins names with commas; rename the column or use on_loss="carry"',
            )


def losses_of_columns(schema: ResolvedSchema) -> Iterator[UnsupportedError]:
    """Yield an error for everything that `decode_columns` would not restore."""
    more = (schema.watermark_specs, schema.primary_key, schema.indexes, schema.immutable_columns)
    if any(more):
        yield UnsupportedError(
            "the property map of a model stores only columns, without watermarks, keys and indexes",
            code="lossy",
        )


#: For what Flink's keys cannot represent: refuse it, write what Flink writes, or add sidecar keys.
OnLoss: TypeAlias = Literal["refuse", "flink", "carry"]
POLICIES: tuple[OnLoss, ...] = get_args(OnLoss)

#: The prefixes of the two schemas of a model.
INPUT, OUTPUT = "input-schema", "output-schema"


# --- properties of tables -------------------------------------------------------------------------


def encode_comment(comment: str | None) -> Properties:
    """Encode the comment of an object; the map does not represent an empty one."""
    return {"comment": comment} if comment else {}


def encode_members(
    table: objects.ResolvedCatalogTable | objects.ResolvedCatalogMaterializedTable,
    schema: ResolvedSchema,
) -> Properties:
    """Encode a schema and the members of a table besides its options."""
    return keys.merge(
        encode_schema(schema),
        encode_comment(table.comment),
        {} if table.snapshot is None else {"snapshot": str(table.snapshot)},
        keys.flatten("partition.keys", ({"name": key} for key in table.partition_keys)),
        encode_distribution(table.distribution),
    )


def decode_partition_keys(reader: PropertyReader) -> tuple[str, ...]:
    """Decode the partition keys."""
    return tuple(row.require("name") for row in reader.rows("partition.keys", "name"))


def encode_distribution(distribution: objects.TableDistribution | None) -> Properties:
    """Encode how rows are distributed into buckets."""
    if distribution is None:
        return {}
    properties = {"distribution.kind": distribution.kind.value}
    if distribution.bucket_count is not None:
        properties["distribution.buckets"] = str(distribution.bucket_count)
    rows = ({"name": key} for key in distribution.bucket_keys)
    return properties | keys.flatten("distribution.keys", rows)


def decode_distribution(reader: PropertyReader) -> objects.TableDistribution | None:
    """Decode a distribution; None without a kind. Keys after a missing number are ignored."""
    if not reader.has_other("distribution."):
        return None
    part = reader.under("distribution")
    if part.get("kind") is None:
        return None
    kind, buckets = part.member("kind", objects.DistributionKind), part.integer("buckets", 32)
    columns: list[str] = []
    while (column := part.get(f"keys.{len(columns)}.name")) is not None:
        columns.append(column)
    return objects.TableDistribution.of(kind, buckets, columns)


# --- tables ---------------------------------------------------------------------------------------


def encode_table(table: objects.ResolvedCatalogTable, on_loss: OnLoss = "refuse") -> Properties:
    """Encode a table as Flink 2.3 does.

    Raises:
        SchemaError: with code `invalid-argument` for anything but a resolved table.
        UnsupportedError: for a type or an expression without SQL form; and, if `on_loss` is
            "refuse", for everything that would not be restored: code `lossy`.
    """
    require_instance(table, objects.ResolvedCatalogTable, "table")
    refuse(losses_of_table(table), on_loss)
    encoded = encoded_parts(table.resolved_schema, table.options, table.comment, on_loss)
    properties = keys.merge(
        encode_members(table, encoded.schema), encoded.options, encoded.sidecar_keys
    )
    properties.pop(keys.IS_GENERIC, None)
    return properties


def decode_table(
    properties: Mapping[str, str], fallback: str | None = None
) -> objects.CatalogTable:
    """Decode a table; without columns, they are looked up under the prefix `fallback`.

    Raises:
        SchemaError: with code `malformed-property` for an incomplete map,
            `version-not-supported` for keys of a later version of this library,
            `reserved-option` for an option that only this library sets, in its catalogs.

    >>> decode_table({"schema.0.name": "a", "schema.0.data-type": "INT", "k": "v"}).options
    {'k': 'v'}
    """
    table = read_table(sidecar.open_reader(properties), fallback)
    require_no_own_options([*properties, *table.options])
    return table


def ignored_keys(
    properties: Mapping[str, str], fallback: str | None = None
) -> tuple[Diagnostic, ...]:
    """The keys that `decode_table` drops, as Flink does silently; errors as `decode_table`.

    >>> print(*ignored_keys({"schema.registry": "http://r"}))
    this key has no meaning and is dropped
      in schema.registry
    """
    reader = sidecar.open_reader(properties)
    read_table(reader, fallback)
    return reader.ignored()


def read_table(reader: PropertyReader, fallback: str | None = None) -> objects.CatalogTable:
    """Decode a table from a reader."""
    prefix = SCHEMA
    require_instance(fallback, (str, NoneType), "fallback")
    if fallback is not None and not reader.count(prefix, "name"):
        prefix = fallback
    return objects.CatalogTable(
        decode_schema(reader, prefix),
        comment=sidecar.restore_comment(reader),
        snapshot=reader.integer("snapshot", 64),
        partition_keys=decode_partition_keys(reader),
        options=sidecar.restore_options(reader),
        distribution=decode_distribution(reader),
    )


def losses_of_table(
    table: objects.ResolvedCatalogTable
    | objects.ResolvedCatalogView
    | objects.ResolvedCatalogMaterializedTable,
    removed: tuple[str, ...] = (keys.IS_GENERIC,),
) -> Iterator[UnsupportedError]:
    """Yield an error for what decoding would not restore; Flink removes the options `removed`."""
    yield from losses_of_schema(table.resolved_schema)
    yield from losses_of_comment(table.comment)
    yield from losses_of_options(table.options, removed)


# --- views ----------------------------------------------------------------------------------------


def encode_view(view: objects.ResolvedCatalogView, on_loss: OnLoss = "refuse") -> Properties:
    """Encode a view without its queries, which the catalog stores separately.

    Raises:
        UnsupportedError: as `encode_table`.
    """
    require_instance(view, objects.ResolvedCatalogView, "view")
    refuse(losses_of_table(view), on_loss)
    encoded = encoded_parts(view.resolved_schema, view.options, view.comment, on_loss)
    properties = keys.merge(
        encode_schema(encoded.schema),
        encode_comment(view.comment),
        encoded.options,
        encoded.sidecar_keys,
    )
    properties.pop(keys.IS_GENERIC, None)
    return properties


def decode_view(
    properties: Mapping[str, str], original_query: str, expanded_query: str
) -> objects.CatalogView:
    """Decode a view from its map and its queries; errors as `decode_table`."""
    view = read_view(sidecar.open_reader(properties), original_query, expanded_query)
    require_no_own_options([*properties, *view.options])
    return view


def read_view(
    reader: PropertyReader, original_query: str, expanded_query: str
) -> objects.CatalogView:
    """Decode a view from a reader."""
    return objects.CatalogView(
        decode_schema(reader),
        original_query,
        expanded_query,
        comment=sidecar.restore_comment(reader),
        options=sidecar.restore_options(reader),
    )


# --- models ---------------------------------------------------------------------------------------


def encode_model(model: objects.ResolvedCatalogModel, on_loss: OnLoss = "refuse") -> Properties:
    """Encode a model: the columns of both schemas, and its options.

    Raises:
        UnsupportedError: as `encode_table`, or with code `lossy` for more than columns.
    """
    require_instance(model, objects.ResolvedCatalogModel, "model")
    refuse(losses_of_model(model), on_loss)
    inputs, outputs = model.resolved_input_schema, model.resolved_output_schema
    encoded = encoded_parts(ResolvedSchema(), model.options, model.comment, on_loss, removed=())
    sidecar_keys = encoded.sidecar_keys
    if on_loss == "carry":
        sidecar_keys |= sidecar.non_column_keys(inputs, INPUT)
        sidecar_keys |= sidecar.non_column_keys(outputs, OUTPUT)
    return keys.merge(
        encode_columns(inputs, INPUT),
        encode_columns(outputs, OUTPUT),
        encode_comment(model.comment),
        encoded.options,
        sidecar_keys,
    )


def decode_model(properties: Mapping[str, str]) -> objects.CatalogModel:
    """Decode a model; an absent schema is empty. Errors as `decode_table`."""
    model = read_model(sidecar.open_reader(properties))
    require_no_own_options([*properties, *model.options])
    return model


def read_model(reader: PropertyReader) -> objects.CatalogModel:
    """Decode a model from a reader."""
    return objects.CatalogModel(
        decode_columns(reader, INPUT),
        decode_columns(reader, OUTPUT),
        comment=sidecar.restore_comment(reader),
        options=sidecar.restore_options(reader),
    )


def losses_of_model(model: objects.ResolvedCatalogModel) -> Iterator[UnsupportedError]:
    """Yield an error for everything that `decode_model` would not restore."""
    yield from losses_of_columns(model.resolved_input_schema)
    yield from losses_of_columns(model.resolved_output_schema)
    yield from losses_of_comment(model.comment)
    yield from losses_of_options(model.options, ())


# --- sidecar keys ---------------------------------------------------------------------------------


class EncodedParts(NamedTuple):
    """What Flink's keys represent of an object, and sidecar keys for the rest."""

    schema: ResolvedSchema
    options: Properties
    sidecar_keys: Properties


def encoded_parts(
    schema: ResolvedSchema,
    options: Mapping[str, str],
    comment: str | None,
    on_loss: OnLoss,
    removed: tuple[str, ...] = (keys.IS_GENERIC,),
) -> EncodedParts:
    """Split an object; without sidecar keys unless `on_loss` is "carry"."""
    if on_loss != "carry":
        return EncodedParts(schema, dict(options), {})
    schema, sidecar_keys = sidecar.split_schema(schema, SCHEMA)
    representable, lost = sidecar.split_options(options, removed)
    return EncodedParts(schema, representable, sidecar_keys | lost | sidecar.comment_key(comment))


# --- losses ---------------------------------------------------------------------------------------


def losses_of_comment(comment: str | None) -> Iterator[UnsupportedError]:
    """Yield an error for an empty comment, which is decoded as absent."""
    if comment == "":
        yield UnsupportedError(
            "an empty comment is lost in a property map",
            code="lossy",
            hint='omit the comment or use on_loss="carry"',
        )


def losses_of_options(
    options: Mapping[str, str], removed: tuple[str, ...]
) -> Iterator[UnsupportedError]:
    """Yield an error for options with reserved keys, or that Flink removes."""
    for key in options:
        if sidecar.is_lost(key, removed):
            yield UnsupportedError(
                f"the option {key!r} is lost in a property map",
                code="lossy",
                hint='the key is reserved; rename the option or use on_loss="carry"',
            )


def refuse(losses: Iterator[UnsupportedError], on_loss: OnLoss) -> None:
    """Raise all losses at once, if `on_loss` is "refuse".

    Raises:
        UnsupportedError: one for each loss.
        SchemaError: with code `invalid-argument`.
    """
    if on_loss not in POLICIES:
        hint = choose_from(on_loss, POLICIES)
        raise SchemaError(f"unknown policy {on_loss!r}", code="invalid-argument", hint=hint)
    if on_loss == "refuse":
        raise_all(losses)


def encode_materialized_table(
    table: objects.ResolvedCatalogMaterializedTable, on_loss: OnLoss = "refuse"
) -> Properties:
    """Encode a materialized table as Flink 2.3 does, without its start mode.

    Its own keys override options of the same name.

    Raises:
        UnsupportedError: as `encode_table`.
    """
    require_instance(table, objects.ResolvedCatalogMaterializedTable, "table")
    refuse(losses_of_materialized_table(table), on_loss)
    encoded = encoded_parts(
        table.resolved_schema, table.options, table.comment, on_loss, removed=()
    )
    if on_loss == "carry":
        encoded.sidecar_keys.update(sidecar.handler_key(table.refresh_handler))
    return keys.merge(
        encode_members(table, encoded.schema),
        encoded.options,
        encode_refresh(table),
        encoded.sidecar_keys,
    )


def decode_materialized_table(properties: Mapping[str, str]) -> objects.CatalogMaterializedTable:
    """Decode a materialized table; errors as `decode_table`."""
    table = read_materialized_table(sidecar.open_reader(properties))
    require_no_own_options([*properties, *table.options])
    return table


def read_materialized_table(reader: PropertyReader) -> objects.CatalogMaterializedTable:
    """Decode a materialized table from a reader."""
    handler = decode_handler(reader.get("refresh-handler-bytes"))
    unit = reader.member("freshness-unit", objects.FreshnessUnit)
    return objects.CatalogMaterializedTable(
        decode_schema(reader),
        reader.require("original-query"),
        reader.require("expanded-query"),
        freshness=objects.Freshness.of(reader.require("freshness-interval"), unit),
        logical_refresh_mode=reader.member("logical-refresh-mode", objects.LogicalRefreshMode),
        refresh_mode=reader.member("refresh-mode", objects.RefreshMode),
        refresh_status=reader.member("refresh-status", objects.RefreshStatus),
        refresh_handler_description=reader.get("refresh-handler-desc"),
        refresh_handler=sidecar.restore_handler(reader, handler),
        comment=sidecar.restore_comment(reader),
        snapshot=reader.integer("snapshot", 64),
        partition_keys=decode_partition_keys(reader),
        options=sidecar.restore_options(reader),
        distribution=decode_distribution(reader),
    )


def encode_refresh(table: objects.ResolvedCatalogMaterializedTable) -> Properties:
    """Encode the keys that only materialized tables have."""
    refresh = {
        "original-query": table.original_query,
        "expanded-query": table.expanded_query,
        "freshness-interval": str(table.freshness.interval) if table.freshness else None,
        "freshness-unit": table.freshness.unit.name if table.freshness else None,
        "logical-refresh-mode": table.logical_refresh_mode.value,
        "refresh-mode": table.refresh_mode.value if table.refresh_mode else None,
        "refresh-status": table.refresh_status.value,
        "refresh-handler-desc": table.refresh_handler_description,
        "refresh-handler-bytes": encode_handler(table.refresh_handler),
    }
    return {key: value for key, value in refresh.items() if value is not None}


def encode_handler(handler: bytes | None) -> str | None:
    """Encode the refresh handler as base64; empty bytes are not represented."""
    return base64.b64encode(handler).decode() if handler else None


def decode_handler(text: str | None) -> bytes | None:
    """Decode base64, with or without padding; a blank string is None."""
    if text is None or is_blank(text):
        return None
    padding = "" if "=" in text else "=" * (-len(text) % 4)
    try:
        return base64.b64decode(text + padding, validate=True)
    except (binascii.Error, ValueError):
        key = "refresh-handler-bytes"
        raise keys.malformed_key(key, f"the key {key!r} must be base64") from None


def losses_of_materialized_table(
    table: objects.ResolvedCatalogMaterializedTable,
) -> Iterator[UnsupportedError]:
    """Yield an error for everything that `decode_materialized_table` would not restore."""
    yield from losses_of_table(table, removed=())
    if table.refresh_handler == b"":
        yield UnsupportedError("an empty refresh handler is lost in a property map", code="lossy")


# --- objects of any kind --------------------------------------------------------------------------

#: The keys of the queries of views and materialized tables.
ORIGINAL, EXPANDED = "original-query", "expanded-query"


def encode_object(table: ResolvedTable) -> Properties:
    """The property map of a table, view or materialized table, which loses nothing.

    >>> from schema_core.testing.catalog_cases import VIEW, with_derived_schema
    >>> encode_object(with_derived_schema(VIEW))["schema.0.data-type"]
    'BIGINT NOT NULL'
    """
    require_instance(table, get_args(ResolvedTable), "table")
    match table:
        case objects.ResolvedCatalogTable():
            return encode_table(table, "carry")
        case objects.ResolvedCatalogView(original_query=original, expanded_query=expanded):
            return encode_view(table, "carry") | {ORIGINAL: original, EXPANDED: expanded}
        case objects.ResolvedCatalogMaterializedTable():
            return encode_materialized_table(table, "carry")
        case _:
            assert_never(table)


def decode_object(
    kind: objects.TableKind, properties: Mapping[str, str]
) -> objects.CatalogBaseTable:
    """The unresolved table, view or materialized table that a catalog has stored."""
    require_instance(kind, objects.TableKind, "kind")
    reader = sidecar.open_reader(properties)
    match kind:
        case objects.TableKind.TABLE:
            return read_table(reader)
        case objects.TableKind.VIEW:
            for key in (ORIGINAL, EXPANDED):
                if key not in properties:
                    raise keys.malformed_key(key, f"the key {key!r} is missing")
            return read_view(reader, properties[ORIGINAL], properties[EXPANDED])
        case objects.TableKind.MATERIALIZED_TABLE:
            return read_materialized_table(reader)
        case _:
            assert_never(kind)
