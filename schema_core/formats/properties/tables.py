"""Tables, views and models as Flink's property map: what a catalog of strings keeps of them.

``decode_table(encode_table(table))`` is the table again, unresolved, whatever the order of the
keys. The map itself knows no quoting, so some tables do not fit: by default they are refused
with a hint; ``on_loss="flink"`` writes what Flink writes, and ``on_loss="carry"`` adds keys of our
own (`property_carry`) that Flink skips. Reading accepts and refuses what Flink does; `ignored_keys`
tells what it drops on the way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple, TypeAlias, get_args

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
from schema_core.formats.arguments import require
from schema_core.formats.properties import schema as property_schema
from schema_core.formats.properties import sidecar as carry
from schema_core.formats.properties.keys import IS_GENERIC, Properties, Reader, flatten, together
from schema_core.schema.resolved import ResolvedSchema

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


def decode_partition_keys(reader: Reader) -> tuple[str, ...]:
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


def decode_distribution(reader: Reader) -> TableDistribution | None:
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
    require(table, ResolvedCatalogTable, "a resolved table")
    refuse(losses_of_table(table), on_loss)
    told = told_of(table.resolved_schema, table.options, table.comment, on_loss)
    properties = together(
        property_schema.encode_schema(told.schema),
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
    return read_table(carry.opened(properties), fallback)


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
    reader = carry.opened(properties)
    read_table(reader, fallback)
    return reader.ignored()


def read_table(reader: Reader, fallback: str | None = None) -> CatalogTable:
    """The table of a map whose keys are counted."""
    prefix = property_schema.SCHEMA
    if fallback is not None and not reader.count(prefix, "name"):
        prefix = fallback
    return CatalogTable(
        property_schema.decode_schema(reader, prefix),
        comment=carry.restored_comment(reader),
        snapshot=reader.integer("snapshot", 64),
        partition_keys=decode_partition_keys(reader),
        options=carry.restored_options(reader),
        distribution=decode_distribution(reader),
    )


def losses_of_table(table: ResolvedCatalogTable) -> Iterator[UnsupportedError]:
    """What `decode_table` would not give back."""
    yield from property_schema.losses(table.resolved_schema)
    yield from losses_of_comment(table.comment)
    yield from losses_of_options(table.options, (IS_GENERIC,))


# --- views ---------------------------------------------------------------------------------------


def encode_view(view: ResolvedCatalogView, on_loss: OnLoss = "refuse") -> Properties:
    """The map of a view. It does not hold the queries: the catalog keeps those beside it.

    Raises:
        UnsupportedError: as `encode_table`.
    """
    require(view, ResolvedCatalogView, "a resolved view")
    refuse(losses_of_view(view), on_loss)
    told = told_of(view.resolved_schema, view.options, view.comment, on_loss)
    properties = together(
        property_schema.encode_schema(told.schema),
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
    return read_view(carry.opened(properties), original_query, expanded_query)


def read_view(reader: Reader, original_query: str, expanded_query: str) -> CatalogView:
    """The view of a map whose keys are counted."""
    return CatalogView(
        property_schema.decode_schema(reader),
        original_query,
        expanded_query,
        comment=carry.restored_comment(reader),
        options=carry.restored_options(reader),
    )


def losses_of_view(view: ResolvedCatalogView) -> Iterator[UnsupportedError]:
    """What `decode_view` would not give back."""
    yield from property_schema.losses(view.resolved_schema)
    yield from losses_of_comment(view.comment)
    yield from losses_of_options(view.options, (IS_GENERIC,))


# --- models --------------------------------------------------------------------------------------


def encode_model(model: ResolvedCatalogModel, on_loss: OnLoss = "refuse") -> Properties:
    """The map of a model: the columns of both schemas, and its options.

    Raises:
        UnsupportedError: as `encode_table`, and with code `lossy-model-schema` for a schema that
            has more than columns.
    """
    require(model, ResolvedCatalogModel, "a resolved model")
    refuse(losses_of_model(model), on_loss)
    taken, given = model.resolved_input_schema, model.resolved_output_schema
    told = told_of(ResolvedSchema(), model.options, model.comment, on_loss, removed=())
    own = told.own
    if on_loss == "carry":
        own |= carry.carried_beside_columns(taken, INPUT)
        own |= carry.carried_beside_columns(given, OUTPUT)
    return together(
        property_schema.encode_columns(taken, INPUT),
        property_schema.encode_columns(given, OUTPUT),
        encode_comment(model.comment),
        told.options,
        own,
    )


def decode_model(properties: Mapping[str, str]) -> CatalogModel:
    """The model of a map; a schema that is not there is empty.

    Raises:
        SchemaError: as `decode_table`.
    """
    return read_model(carry.opened(properties))


def read_model(reader: Reader) -> CatalogModel:
    """The model of a map whose keys are counted."""
    return CatalogModel(
        property_schema.decode_columns(reader, INPUT),
        property_schema.decode_columns(reader, OUTPUT),
        comment=carry.restored_comment(reader),
        options=carry.restored_options(reader),
    )


def losses_of_model(model: ResolvedCatalogModel) -> Iterator[UnsupportedError]:
    """What `decode_model` would not give back."""
    yield from property_schema.losses_of_columns(model.resolved_input_schema)
    yield from property_schema.losses_of_columns(model.resolved_output_schema)
    yield from losses_of_comment(model.comment)
    yield from losses_of_options(model.options, ())


# --- what is told, and what is carried ------------------------------------------------------------


class Told(NamedTuple):
    """What Flink's keys tell of an object, and our own keys with the rest."""

    schema: ResolvedSchema
    options: Properties
    own: Properties


def told_of(
    schema: ResolvedSchema,
    options: Mapping[str, str],
    comment: str | None,
    on_loss: OnLoss,
    removed: tuple[str, ...] = (IS_GENERIC,),
) -> Told:
    """All of it as it is, unless what would be lost is to be carried."""
    if on_loss != "carry":
        return Told(schema, dict(options), {})
    schema, own = carry.carried_schema(schema, property_schema.SCHEMA)
    stated, lost = carry.carried_options(options, removed)
    return Told(schema, stated, own | lost | carry.carried_comment(comment))


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
        if carry.is_lost(key, removed):
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
