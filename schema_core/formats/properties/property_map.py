"""Encode tables, views, models and materialized tables as Flink's property maps, and decode them.

``decode_table(encode_table(table))`` is the same table, unresolved, whatever the order of the
keys. The format has no quoting, so it cannot represent some tables. By default they are refused
with a hint; ``on_loss="flink"`` writes what Flink writes, and ``on_loss="carry"`` adds sidecar keys
(`sidecar`), which Flink ignores. Decoding accepts and refuses what Flink does; `ignored_keys`
reports the keys that it drops. Types and expressions are decoded as strings, which a resolver
parses later.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, NamedTuple, TypeAlias, assert_never, get_args

from schema_core.arguments import require_instance
from schema_core.caching import cached
from schema_core.catalog.materialized import (
    CatalogMaterializedTable,
    Freshness,
    FreshnessUnit,
    LogicalRefreshMode,
    RefreshMode,
    RefreshStatus,
    ResolvedCatalogMaterializedTable,
)
from schema_core.catalog.objects import (
    CatalogModel,
    CatalogTable,
    CatalogView,
    DistributionKind,
    ResolvedCatalogModel,
    ResolvedCatalogTable,
    ResolvedCatalogView,
    TableDistribution,
)
from schema_core.errors import Diagnostic, Gathering, SchemaError, UnsupportedError
from schema_core.formats.properties import sidecar
from schema_core.formats.properties.keys import (
    IS_GENERIC,
    Properties,
    PropertyReader,
    flatten,
    join_names,
    malformed_key,
    merge,
    split_names,
)
from schema_core.formats.properties.sidecar import is_ambiguous, restore_schema
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
PHYSICAL_COLUMN_KEYS = ("name", "data-type", "expr", "metadata", "comment")


@cached(node_count)
def type_string(type_: DataType) -> str:
    """The text of a type; most tables use few of them.

    Raises:
        UnsupportedError: with code `type-not-serializable`.
    """
    return type_.as_serializable_string()


def encode_column_kind(column: AnyColumn) -> Properties:
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


def decode_column(row: PropertyReader) -> UnresolvedColumn:
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


def decode_watermark(row: PropertyReader) -> tuple[str, str]:
    """The column and the expression of a watermark's row."""
    row.get("strategy.data-type")  # found again when the expression is resolved
    return row.require("rowtime"), row.require("strategy.expr")


def encode_names(named: Constraint | Index) -> Properties:
    """A key or an index as a row of the map."""
    return {"name": named.name, "columns": join_names(named.columns)}


def decode_names(row: PropertyReader) -> tuple[str, list[str]] | None:
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
            text = texts[id(type_)] = type_string(type_)
        found[row + "name"] = column.name
        found[row + "data-type"] = text
        if not isinstance(column, PhysicalColumn):
            for key, value in encode_column_kind(column).items():
                found[row + key] = value
        if column.comment is not None:
            found[row + "comment"] = column.comment
    return found


def read_columns(reader: PropertyReader, prefix: str) -> Iterator[UnresolvedColumn]:
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
    reader.took(physical, PHYSICAL_COLUMN_KEYS)


def decode_columns(reader: PropertyReader, prefix: str) -> Schema:
    """A schema of the columns under a prefix, and of what is carried beside them."""
    return restore_schema(reader, Schema(tuple(read_columns(reader, prefix))), prefix)


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
    return merge(
        encode_columns(schema, prefix),
        flatten(f"{prefix}.watermark", map(encode_watermark, schema.watermark_specs)),
        flatten(f"{prefix}.index", map(encode_names, schema.indexes)),
        constraints,
    )


def decode_schema(reader: PropertyReader, prefix: str = SCHEMA) -> Schema:
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
    return restore_schema(reader, builder.build(), prefix)


# --- what the map cannot carry -------------------------------------------------------------------


def losses_of_schema(schema: ResolvedSchema) -> Iterator[UnsupportedError]:
    """What `decode_schema` would not give back of what `encode_schema` writes."""
    single = (schema.primary_key, schema.immutable_columns)
    constraints = [constraint for constraint in single if constraint is not None]
    yield from (_blank_name(one) for one in constraints if is_blank(one.name))
    for named in (*constraints, *schema.indexes):
        if is_ambiguous(named):
            yield UnsupportedError(
                f"the columns {_quoted(named.columns)} of {named.name!r} cannot be told apart "
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


def _blank_name(constraint: Constraint) -> UnsupportedError:
    return UnsupportedError(
        f"the name {constraint.name!r} of a key cannot be read back from a property map",
        code="lossy-names",
        hint="give it a name with a visible character",
    )


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))


#: What to do with what Flink's keys cannot tell: refuse, write as Flink does, or add our own keys.
OnLoss: TypeAlias = Literal["refuse", "flink", "carry"]
POLICIES: tuple[OnLoss, ...] = get_args(OnLoss)

#: The prefixes of the two schemas of a model.
INPUT, OUTPUT = "input-schema", "output-schema"


# --- parts ---------------------------------------------------------------------------------------


def encode_comment(comment: str | None) -> Properties:
    """The comment of an object; the map has no empty one."""
    return {"comment": comment} if comment else {}


def encode_snapshot(snapshot: int | None) -> Properties:
    """The point in time that a table speaks of."""
    return {} if snapshot is None else {"snapshot": str(snapshot)}


def encode_partition_keys(keys: tuple[str, ...]) -> Properties:
    """The partition keys."""
    return flatten("partition.keys", ({"name": key} for key in keys))


def decode_partition_keys(reader: PropertyReader) -> tuple[str, ...]:
    """The partition keys."""
    return tuple(row.require("name") for row in reader.rows("partition.keys", "name"))


def encode_distribution(distribution: TableDistribution | None) -> Properties:
    """How rows find their bucket."""
    if distribution is None:
        return {}
    properties = {"distribution.kind": distribution.kind.value}
    if distribution.bucket_count is not None:
        properties["distribution.buckets"] = str(distribution.bucket_count)
    keys = ({"name": key} for key in distribution.bucket_keys)
    return properties | flatten("distribution.keys", keys)


def decode_distribution(reader: PropertyReader) -> TableDistribution | None:
    """How rows find their bucket; nothing without a kind, and keys up to the first gap."""
    part = reader.under("distribution")
    if part.get("kind") is None:
        return None
    kind, buckets = part.member("kind", DistributionKind), part.integer("buckets", 32)
    keys: list[str] = []
    while (key := part.get(f"keys.{len(keys)}.name")) is not None:
        keys.append(key)
    return TableDistribution.of(kind, buckets, keys)


# --- tables --------------------------------------------------------------------------------------


def encode_table(table: ResolvedCatalogTable, on_loss: OnLoss = "refuse") -> Properties:
    """The map of a table, as Flink 2.3 writes it.

    Raises:
        SchemaError: with code `wrong-argument` for something that is not a resolved table.
        UnsupportedError: for a type or an expression without text; and, where `on_loss` is
            "refuse", for everything that could not be read back: codes `lossy-names`,
            `lossy-option`, `lossy-comment`.
    """
    require_instance(table, ResolvedCatalogTable, "table")
    refuse(losses_of_table(table), on_loss)
    told = encoded_parts(table.resolved_schema, table.options, table.comment, on_loss)
    properties = merge(
        encode_schema(told.schema),
        encode_comment(table.comment),
        encode_snapshot(table.snapshot),
        encode_partition_keys(table.partition_keys),
        encode_distribution(table.distribution),
        told.options,
        told.own,
    )
    properties.pop(IS_GENERIC, None)
    return properties


def decode_table(properties: Mapping[str, str], fallback: str | None = None) -> CatalogTable:
    """The table of a map; where it has no columns, they are looked for under `fallback`.

    Raises:
        SchemaError: with code `missing-key` or `invalid-key-value` for a map that is not complete,
            `unsupported-sidecar-version` for keys that a later version of this library added.

    >>> decode_table({"schema.0.name": "a", "schema.0.data-type": "INT", "k": "v"}).options
    {'k': 'v'}
    """
    return read_table(sidecar.open_reader(properties), fallback)


def ignored_keys(
    properties: Mapping[str, str], fallback: str | None = None
) -> tuple[Diagnostic, ...]:
    """The keys that `decode_table` drops, as Flink does without a word; none should be there.

    Raises:
        SchemaError: as `decode_table`.

    >>> print(*ignored_keys({"schema.registry": "http://r"}))
    a key without meaning here is dropped
      in schema.registry
    """
    reader = sidecar.open_reader(properties)
    read_table(reader, fallback)
    return reader.ignored()


def read_table(reader: PropertyReader, fallback: str | None = None) -> CatalogTable:
    """The table of a map whose keys are counted."""
    prefix = SCHEMA
    if fallback is not None and not reader.count(prefix, "name"):
        prefix = fallback
    return CatalogTable(
        decode_schema(reader, prefix),
        comment=sidecar.restore_comment(reader),
        snapshot=reader.integer("snapshot", 64),
        partition_keys=decode_partition_keys(reader),
        options=sidecar.restore_options(reader),
        distribution=decode_distribution(reader),
    )


def losses_of_table(table: ResolvedCatalogTable) -> Iterator[UnsupportedError]:
    """What `decode_table` would not give back."""
    yield from losses_of_schema(table.resolved_schema)
    yield from losses_of_comment(table.comment)
    yield from losses_of_options(table.options, (IS_GENERIC,))


# --- views ---------------------------------------------------------------------------------------


def encode_view(view: ResolvedCatalogView, on_loss: OnLoss = "refuse") -> Properties:
    """The map of a view. It does not hold the queries: the catalog keeps those beside it.

    Raises:
        UnsupportedError: as `encode_table`.
    """
    require_instance(view, ResolvedCatalogView, "view")
    refuse(losses_of_view(view), on_loss)
    told = encoded_parts(view.resolved_schema, view.options, view.comment, on_loss)
    properties = merge(
        encode_schema(told.schema),
        encode_comment(view.comment),
        told.options,
        told.own,
    )
    properties.pop(IS_GENERIC, None)
    return properties


def decode_view(
    properties: Mapping[str, str], original_query: str, expanded_query: str
) -> CatalogView:
    """The view of a map and of its queries.

    Raises:
        SchemaError: as `decode_table`.
    """
    return read_view(sidecar.open_reader(properties), original_query, expanded_query)


def read_view(reader: PropertyReader, original_query: str, expanded_query: str) -> CatalogView:
    """The view of a map whose keys are counted."""
    return CatalogView(
        decode_schema(reader),
        original_query,
        expanded_query,
        comment=sidecar.restore_comment(reader),
        options=sidecar.restore_options(reader),
    )


def losses_of_view(view: ResolvedCatalogView) -> Iterator[UnsupportedError]:
    """What `decode_view` would not give back."""
    yield from losses_of_schema(view.resolved_schema)
    yield from losses_of_comment(view.comment)
    yield from losses_of_options(view.options, (IS_GENERIC,))


# --- models --------------------------------------------------------------------------------------


def encode_model(model: ResolvedCatalogModel, on_loss: OnLoss = "refuse") -> Properties:
    """The map of a model: the columns of both schemas, and its options.

    Raises:
        UnsupportedError: as `encode_table`, and with code `lossy-model-schema` for a schema that
            has more than columns.
    """
    require_instance(model, ResolvedCatalogModel, "model")
    refuse(losses_of_model(model), on_loss)
    taken, given = model.resolved_input_schema, model.resolved_output_schema
    told = encoded_parts(ResolvedSchema(), model.options, model.comment, on_loss, removed=())
    own = told.own
    if on_loss == "carry":
        own |= sidecar.non_column_keys(taken, INPUT)
        own |= sidecar.non_column_keys(given, OUTPUT)
    return merge(
        encode_columns(taken, INPUT),
        encode_columns(given, OUTPUT),
        encode_comment(model.comment),
        told.options,
        own,
    )


def decode_model(properties: Mapping[str, str]) -> CatalogModel:
    """The model of a map; a schema that is not there is empty.

    Raises:
        SchemaError: as `decode_table`.
    """
    return read_model(sidecar.open_reader(properties))


def read_model(reader: PropertyReader) -> CatalogModel:
    """The model of a map whose keys are counted."""
    return CatalogModel(
        decode_columns(reader, INPUT),
        decode_columns(reader, OUTPUT),
        comment=sidecar.restore_comment(reader),
        options=sidecar.restore_options(reader),
    )


def losses_of_model(model: ResolvedCatalogModel) -> Iterator[UnsupportedError]:
    """What `decode_model` would not give back."""
    yield from losses_of_columns(model.resolved_input_schema)
    yield from losses_of_columns(model.resolved_output_schema)
    yield from losses_of_comment(model.comment)
    yield from losses_of_options(model.options, ())


# --- what is told, and what is carried ------------------------------------------------------------


class EncodedParts(NamedTuple):
    """What Flink's keys tell of an object, and our own keys with the rest."""

    schema: ResolvedSchema
    options: Properties
    own: Properties


def encoded_parts(
    schema: ResolvedSchema,
    options: Mapping[str, str],
    comment: str | None,
    on_loss: OnLoss,
    removed: tuple[str, ...] = (IS_GENERIC,),
) -> EncodedParts:
    """All of it as it is, unless what would be lost is to be carried."""
    if on_loss != "carry":
        return EncodedParts(schema, dict(options), {})
    schema, own = sidecar.split_schema(schema, SCHEMA)
    stated, lost = sidecar.split_options(options, removed)
    return EncodedParts(schema, stated, own | lost | sidecar.comment_key(comment))


# --- losses --------------------------------------------------------------------------------------


def losses_of_comment(comment: str | None) -> Iterator[UnsupportedError]:
    """An empty comment is read back as none."""
    if comment == "":
        yield UnsupportedError(
            "an empty comment is lost in a property map",
            code="lossy-comment",
            hint='leave the comment away, or on_loss="carry"',
        )


def losses_of_options(
    options: Mapping[str, str], removed: tuple[str, ...]
) -> Iterator[UnsupportedError]:
    """Options whose keys belong to the map, or that Flink takes out of it."""
    for key in options:
        if sidecar.is_lost(key, removed):
            yield UnsupportedError(
                f"the option {key!r} is lost in a property map",
                code="lossy-option",
                hint='the map needs this key: give the option another name, or on_loss="carry"',
            )


def refuse(losses: Iterator[UnsupportedError], on_loss: OnLoss) -> None:
    """Raise the losses, all at once, if there are any and nothing else is asked for.

    Raises:
        UnsupportedError: the losses.
        SchemaError: with code `unknown-policy` for an `on_loss` that there is not.
    """
    if on_loss not in POLICIES:
        hint = f"one of {', '.join(POLICIES)}"
        raise SchemaError(f"there is no policy {on_loss!r}", code="unknown-policy", hint=hint)
    if on_loss != "refuse":
        return
    found = Gathering()
    found.errors += losses
    found.raise_all()


def encode_materialized_table(
    table: ResolvedCatalogMaterializedTable, on_loss: OnLoss = "refuse"
) -> Properties:
    """The map of a materialized table, as Flink 2.3 writes it.

    Raises:
        UnsupportedError: as `property_map.encode_table`.
    """
    refuse(losses_of_materialized_table(table), on_loss)
    told = encoded_parts(table.resolved_schema, table.options, table.comment, on_loss, removed=())
    if on_loss == "carry":
        told.own.update(sidecar.handler_key(table.refresh_handler))
    return merge(
        encode_schema(told.schema),
        encode_comment(table.comment),
        encode_snapshot(table.snapshot),
        encode_partition_keys(table.partition_keys),
        encode_distribution(table.distribution),
        told.options,
        encode_refresh(table),
        told.own,
    )


def decode_materialized_table(properties: Mapping[str, str]) -> CatalogMaterializedTable:
    """The materialized table of a map.

    Raises:
        SchemaError: with code `missing-key` or `invalid-key-value` for a map that is not complete.
    """
    return read_materialized_table(sidecar.open_reader(properties))


def read_materialized_table(reader: PropertyReader) -> CatalogMaterializedTable:
    """The materialized table of a map whose keys are counted."""
    handler = decode_handler(reader.get("refresh-handler-bytes"))
    unit = reader.member("freshness-unit", FreshnessUnit)
    return CatalogMaterializedTable(
        decode_schema(reader),
        reader.require("original-query"),
        reader.require("expanded-query"),
        freshness=Freshness.of(reader.require("freshness-interval"), unit),
        logical_refresh_mode=reader.member("logical-refresh-mode", LogicalRefreshMode),
        refresh_mode=reader.member("refresh-mode", RefreshMode),
        refresh_status=reader.member("refresh-status", RefreshStatus),
        refresh_handler_description=reader.get("refresh-handler-desc"),
        refresh_handler=sidecar.restore_handler(reader, handler),
        comment=sidecar.restore_comment(reader),
        snapshot=reader.integer("snapshot", 64),
        partition_keys=decode_partition_keys(reader),
        options=sidecar.restore_options(reader),
        distribution=decode_distribution(reader),
    )


def encode_refresh(table: ResolvedCatalogMaterializedTable) -> Properties:
    """The keys that materialized tables alone have; a resolved one knows freshness and mode."""
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
    """What the refresh needs to find its job, as base64; empty bytes are none."""
    return base64.b64encode(handler).decode() if handler else None


def decode_handler(text: str | None) -> bytes | None:
    """The bytes of base64 text, with or without padding; blank text is none.

    Raises:
        SchemaError: with code `invalid-key-value` for text that is no base64.
    """
    if text is None or is_blank(text):
        return None
    padding = "" if "=" in text else "=" * (-len(text) % 4)
    try:
        return base64.b64decode(text + padding, validate=True)
    except (binascii.Error, ValueError):
        key = "refresh-handler-bytes"
        raise malformed_key(key, f"the key {key!r} is no base64") from None


def losses_of_materialized_table(
    table: ResolvedCatalogMaterializedTable,
) -> Iterator[UnsupportedError]:
    """What `decode_materialized_table` would not give back."""
    yield from losses_of_schema(table.resolved_schema)
    yield from losses_of_comment(table.comment)
    yield from losses_of_options(table.options, ())
    if table.refresh_handler == b"":
        yield UnsupportedError(
            "an empty refresh handler is lost in a property map", code="lossy-handler"
        )
