"""Every damage of a stored map at once, each with its key.

A map without damage is read and written again as it was. What older versions of Flink wrote is no
damage; what is known of them is in `legacy_map`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from schema_core.catalog.materialized import (
    FreshnessUnit,
    LogicalRefreshMode,
    RefreshMode,
    RefreshStatus,
)
from schema_core.errors import Diagnostic, Gathering, SchemaCoreError
from schema_core.formats.properties import sidecar as carry
from schema_core.formats.properties.keys import Properties, Reader, require_texts
from schema_core.formats.properties.legacy import from_hive, is_of_hive, with_keys_of_today
from schema_core.formats.properties.malformed_keys import (
    ROWS,
    carried_twice,
    number_damage,
    numbers_of,
    odd_mark,
    odd_values,
    row_damage,
    unknown_keys,
)
from schema_core.formats.properties.materialized import decode_handler
from schema_core.formats.properties.parts import damage, joined
from schema_core.formats.properties.schema import decode_column, decode_names, decode_watermark
from schema_core.formats.properties.stored import (
    EXPANDED,
    ORIGINAL,
    SHAPES,
    MapKind,
    kind_of,
    stale_types,
)
from schema_core.formats.properties.tables import decode_distribution
from schema_core.formats.spark.table_properties import (
    is_of_spark,
    read_spark_table,
    unknown_columns,
)
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.unresolved import Schema


def verify(
    stored: Mapping[str, str],
    resolver: SchemaResolver | None = None,
    kind: MapKind | None = None,
) -> tuple[Diagnostic, ...]:
    """Every damage of a map, whichever Flink or store it comes from; none for a sound one.

    Codes: those of `parts.damage`; `missing-key`, `invalid-key-value`, `invalid-key-number`,
        `duplicate-key`,
    `unknown-key`; `option-kept` for an option that Flink does not read; `noncanonical-value` for a
    value that means something but that nobody writes; `stale-type` for a computed column that gives
    another type today; and those of a schema that `resolver` refuses.

    >>> for one in verify({"schema.0.name": "a", "schema.2.name": "c", "schema.0.typ": "INT"}):
    ...     print(one.code, *one.path)
    missing-key schema.1.name
    missing-key schema.0.data-type
    missing-key schema.2.data-type
    unknown-key schema.0.typ
    """
    try:
        require_texts(stored)
        if is_of_spark(stored) and not is_of_hive(stored):
            return verify_spark_table(stored)
        properties = from_hive(stored) if is_of_hive(stored) else dict(stored)
        mark = odd_mark(stored) if is_of_hive(stored) else ()
    except SchemaCoreError as error:
        return error.diagnostics
    if found := damage(properties):
        return found
    properties = joined(properties)
    found = merged(mark, *(check(properties) for check in CHECKS))
    try:
        modern = with_keys_of_today(properties)
    except SchemaCoreError as error:
        return merged(found, error.diagnostics)
    reader, kind = Reader(modern.properties), kind or kind_of(modern.properties)
    assumed = (one for one in modern.notes if one.code in TOLD)
    broken = broken_parts(reader, kind)
    found = merged(found, assumed, broken, unknown_keys(reader, properties, broken=bool(broken)))
    return found if broken else merged(found, meaning_damage(modern.properties, kind, resolver))


def verify_spark_table(stored: Mapping[str, str]) -> tuple[Diagnostic, ...]:
    """Every damage of the properties by which Spark keeps a schema."""
    try:
        table, _ = read_spark_table(stored)
    except SchemaCoreError as error:
        return error.diagnostics
    return tuple(unknown_columns(stored, table.schema))


#: What can be seen without reading the map.
CHECKS: tuple[Callable[[Properties], Iterator[Diagnostic]], ...] = (
    number_damage,
    row_damage,
    odd_values,
    carried_twice,
)

#: What `legacy_map` makes the best of: what no version writes, and what those of today do not read.
TOLD = ("mixed-versions", "duplicate-type", "virtual-assumed", "option-kept")


def merged(*parts: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The diagnostics of all parts, each code once for each key."""
    seen: dict[tuple[str, tuple[str, ...]], Diagnostic] = {}
    for part in parts:
        for one in part:
            seen.setdefault((one.code, one.path), one)
    return tuple(seen.values())


# --- parts ---------------------------------------------------------------------------------------


def broken_parts(reader: Reader, kind: MapKind) -> tuple[Diagnostic, ...]:
    """What keeps a map from being read: every part of it is tried."""
    found = Gathering()
    with found.catching():
        carry.check_version(reader)
    for prefix, _ in ROWS:
        for number in sorted(numbers_of(reader.properties, prefix)):
            with found.catching():
                READ_ROW[prefix](reader.under(f"{prefix}.{number}"))
    for part in (*SINGLE, *BY_KIND[kind]):
        with found.catching():
            part(reader)
    if not found.errors:
        with found.catching():
            SHAPES[kind].read(reader)
    return tuple(one for error in found.errors for one in error.diagnostics)


def _read_index(row: Reader) -> None:
    row.require("name")
    decode_names(row)


def _read_key(name: str) -> Callable[[Reader], None]:
    """A key constraint has a name and columns, or neither."""

    def read(reader: Reader) -> None:
        part = reader.under(f"schema.{name}")
        if part.get("columns") is not None:
            part.require("name")
        decode_names(part)

    return read


def _read_distribution(reader: Reader) -> None:
    part = reader.under("distribution")
    if any(key.startswith("distribution.") for key in reader.properties):
        part.require("kind")
    decode_distribution(reader)


def _read_name(row: Reader) -> None:
    row.require("name")


#: Prefix -> how a row is read.
READ_ROW: dict[str, Callable[[Reader], object]] = {
    "schema":           decode_column,
    "schema.watermark": decode_watermark,
    "schema.index":     _read_index,
    "partition.keys":   _read_name,
    "distribution.keys": _read_name,
    "input-schema":     decode_column,
    "output-schema":    decode_column,
}  # fmt: skip

#: How the parts are read that are there once.
SINGLE: tuple[Callable[[Reader], object], ...] = (
    _read_key("primary-key"),
    _read_key("immutable"),
    _read_distribution,
    lambda reader: reader.integer("snapshot", 64),
    lambda reader: decode_handler(reader.get("refresh-handler-bytes")),
    carry.restored_options,
    carry.restored_comment,
    lambda reader: carry.restored_schema(reader, Schema(), "schema"),
)

#: What maps have besides, by their kind.
QUERIES: tuple[Callable[[Reader], object], ...] = (
    lambda reader: reader.require(ORIGINAL),
    lambda reader: reader.require(EXPANDED),
)
BY_KIND: dict[MapKind, tuple[Callable[[Reader], object], ...]] = {
    MapKind.TABLE: (),
    MapKind.VIEW: QUERIES,
    MapKind.MODEL: (),
    MapKind.MATERIALIZED_TABLE: (
        *QUERIES,
        lambda reader: reader.require("freshness-interval"),
        lambda reader: reader.member("freshness-unit", FreshnessUnit),
        lambda reader: reader.member("logical-refresh-mode", LogicalRefreshMode),
        lambda reader: reader.member("refresh-mode", RefreshMode),
        lambda reader: reader.member("refresh-status", RefreshStatus),
    ),
}


# --- meaning -------------------------------------------------------------------------------------


def meaning_damage(
    properties: Mapping[str, str], kind: MapKind, resolver: SchemaResolver | None
) -> Iterator[Diagnostic]:
    """Why a map that can be read means nothing, or something else than when it was written."""
    shape = SHAPES[kind]
    try:
        resolved = shape.resolve(shape.read(Reader(properties)), resolver or SchemaResolver())
    except SchemaCoreError as error:
        places = places_of(properties)
        for one in error.diagnostics:
            key = places.get(one.path[0]) if one.path else None
            yield one if key is None else replace(one, path=(key, *one.path))
        return
    yield from stale_types(properties, resolved)


def places_of(properties: Mapping[str, str]) -> dict[str, str]:
    """What the errors of a resolver name, and the key where it stands."""
    places = {
        f"column {properties[f'schema.{number}.name']!r}": f"schema.{number}"
        for number in numbers_of(properties, "schema")
    }
    return places | {
        f"watermark of {properties[f'schema.watermark.{number}.rowtime']!r}": (
            f"schema.watermark.{number}"
        )
        for number in numbers_of(properties, "schema.watermark")
    }
