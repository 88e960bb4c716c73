"""Report every malformed key of a stored property map.

A map without malformed keys is decoded and encoded again unchanged. Keys of older versions are not
malformed; `legacy` reads them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from types import NoneType

from schema_core.base.arguments import validate_arguments
from schema_core.base.json_codec import ANY, write_json
from schema_core.base.lazy import NamedTuple, regex
from schema_core.catalog.objects import (
    CatalogTable,
    FreshnessUnit,
    LogicalRefreshMode,
    RefreshMode,
    RefreshStatus,
)
from schema_core.catalog.resolve import resolve_table
from schema_core.errors import Diagnostic, Gathering, SchemaCoreError, similar
from schema_core.properties import sidecar
from schema_core.properties.key_syntax import (
    IS_GENERIC,
    RESERVED_KEYS,
    Properties,
    PropertyReader,
    is_reserved,
    join_names,
    require_strings,
    split_names,
)
from schema_core.properties.legacy import (
    GENERIC_PREFIX,
    has_hive_prefix,
    modernize_keys,
    strip_hive_prefix,
)
from schema_core.properties.parts import join_parts, malformed_parts
from schema_core.properties.property_map import (
    EXPANDED,
    ORIGINAL,
    decode_column,
    decode_distribution,
    decode_handler,
    decode_names,
    decode_watermark,
    encode_handler,
    read_table,
)
from schema_core.properties.spark_table_properties import SCHEMA as SPARK_SCHEMA
from schema_core.properties.spark_table_properties import (
    has_spark_schema,
    read_spark_table,
    unknown_columns,
)
from schema_core.properties.stored import (
    MAP_FORMATS,
    MapKind,
    ResolvedStoredObject,
    StoredObject,
    kind_of,
    stale_types,
)
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.unresolved import Schema

#: Numbered rows: the prefix, and the field that every row has.
ROWS: tuple[tuple[str, str], ...] = (
    ("schema",           "name"),
    ("schema.watermark", "rowtime"),
    ("schema.index",     "name"),
    ("partition.keys",   "name"),
    ("distribution.keys", "name"),
    ("input-schema",     "name"),
    ("output-schema",    "name"),
)  # fmt: skip

#: The prefix of any schema.
_ANY = r"(?:(?:in|out)put-)?schema\."

#: The number of missing rows that are reported individually.
MAX_REPORTED_GAPS = 8


# --- rows and their numbers -----------------------------------------------------------------------


def numbers_of(properties: Mapping[str, str], prefix: str) -> set[str]:
    """The numbers of the rows under a prefix, as written."""
    pattern = re.compile(rf"{re.escape(prefix)}\.([0-9]+)\.")
    return {row[1] for key in properties if (row := pattern.match(key))}


def malformed_numbers(properties: Properties) -> Iterator[Diagnostic]:
    """Yield numbers in non-canonical form, of which two can denote the same row."""
    for prefix, _ in ROWS:
        numbers = numbers_of(properties, prefix)
        for number in sorted(numbers):
            plain = number.lstrip("0") or "0"
            twice = plain != number and plain in numbers
            if plain != number or len(number) > 10:
                problem = f"the number {number[:20]} is not canonical"
                if twice:
                    problem = f"the numbers {number[:20]} and {plain} denote the same row"
                place = f"{prefix}.{number}"
                yield Diagnostic("malformed-property", problem, path=(place,))


def incomplete_rows(properties: Properties) -> Iterator[Diagnostic]:
    """Yield rows that are missing below the highest one, or that have no name."""
    for prefix, field in ROWS:
        numbers = {int(row) for row in numbers_of(properties, prefix) if len(row) <= 10}
        missing = list(islice(gaps(numbers), MAX_REPORTED_GAPS))
        for number in missing:
            yield _missing_key(f"{prefix}.{number}.{field}")
        highest = max(numbers, default=-1)
        if (rest := highest + 1 - len(numbers) - len(missing)) > 0:
            problem = f"{rest:,} further rows before this one are missing"
            yield Diagnostic("malformed-property", problem, path=(f"{prefix}.{highest}.{field}",))
        for number in sorted(numbers):
            if f"{prefix}.{number}.{field}" not in properties:
                yield _missing_key(f"{prefix}.{number}.{field}")
    yield from missing_types(properties)


def gaps(numbers: set[int]) -> Iterator[int]:
    """Yield the missing numbers below the highest one.

    >>> list(gaps({1, 4}))
    [0, 2, 3]
    """
    expected = 0
    for number in sorted(numbers):
        yield from range(expected, number)
        expected = number + 1


def missing_types(properties: Properties) -> Iterator[Diagnostic]:
    """Yield expressions without their type, which is written but never read."""
    for key in properties:
        if re.fullmatch(_ANY + r"(?:\d+|watermark\.\d+\.strategy)\.expr", key):
            row = key.removesuffix("expr")
            if row + "data-type" not in properties and row + "type" not in properties:
                yield _missing_key(row + "data-type")


def _missing_key(key: str) -> Diagnostic:
    return Diagnostic("malformed-property", f"the key {key!r} is missing", path=(key,))


# --- keys and values ------------------------------------------------------------------------------


def unknown_keys(
    reader: PropertyReader, properties: Properties, *, broken: bool
) -> Iterator[Diagnostic]:
    """Yield reserved keys that were not requested.

    In a map with unreadable parts, keys without numbers may not have been requested yet.
    """
    for diagnostic in reader.ignored():
        (key,) = diagnostic.path
        if key in properties and not (broken and key in RESERVED_KEYS):
            row = key.rpartition(".")[0]
            requested = sorted(name for name in reader.requested if name.rpartition(".")[0] == row)
            hint = similar(key, requested)
            yield Diagnostic("unknown-key", "this key has no meaning", path=(key,), hint=hint)


#: Sidecar keys -> Flink's key for the same value.
FLINK_EQUIVALENTS = {
    sidecar.PRIMARY_KEY: "schema.primary-key.name",
    sidecar.IMMUTABLE: "schema.immutable.name",
    sidecar.INDEXES: "schema.index.0.name",
    sidecar.COMMENT: "comment",
    sidecar.HANDLER: "refresh-handler-bytes",
}


def conflicting_sidecar_keys(properties: Properties) -> Iterator[Diagnostic]:
    """Yield keys that repeat a sidecar key; of options, only those with another value."""
    for part, key in FLINK_EQUIVALENTS.items():
        if key in properties and sidecar.sidecar_key(part) in properties:
            problem = f"conflicts with the key {sidecar.sidecar_key(part)!r}"
            yield Diagnostic("malformed-property", problem, path=(key,))
    text = properties.get(sidecar.sidecar_key(sidecar.OPTIONS))
    if text is None:
        return
    try:
        options = sidecar.read_string_map(sidecar.sidecar_key(sidecar.OPTIONS), text)
    except SchemaCoreError:
        return  # reported by the decoder
    for key, value in options.items():
        if sidecar.is_read_by_older_flink(key) and properties.get(key) != value:
            problem = f"the option is {value[:60]!r} in the sidecar key"
            yield Diagnostic("malformed-property", problem, path=(key,))


def _flag(text: str) -> str:
    return "true" if text.lower() == "true" else "false"


def _names(text: str) -> str:
    return join_names(split_names(text))


#: Pattern of keys -> the canonical form of a value.
CANONICAL: tuple[tuple[str, Callable[[str], str]], ...] = (
    (_ANY + r"\d+\.virtual",                                    _flag),
    (r"schema\.(?:primary-key|immutable|index\.\d+)\.columns",  _names),
    (r"distribution\.buckets|snapshot|freshness-interval",
     lambda text: str(int(text)) if re.fullmatch(r"[+-]?\d{1,30}", text) else text),
    (r"refresh-handler-bytes",     lambda text: encode_handler(decode_handler(text)) or ""),
    (_ANY + re.escape(sidecar.VERSION) + r"\.(?:primary-key|immutable|indexes|watermarks|"
     r"metadata-keys|options)",
     lambda text: write_json(sidecar.read_json("", text, ANY), sort_keys=True)),
    (_ANY + re.escape(sidecar.VERSION) + r"\.(?:comment|refresh-handler)", lambda _: ""),
)  # fmt: skip


def noncanonical_values(properties: Properties) -> Iterator[Diagnostic]:
    """Yield values that can be decoded but that Flink does not write."""
    for key, value in properties.items():
        if not is_reserved(key):
            continue
        for pattern, canonical in CANONICAL:
            if re.fullmatch(pattern, key):
                yield from _noncanonical_value(key, value, canonical)


def noncanonical_marker(stored: Mapping[str, str]) -> Iterator[Diagnostic]:
    """Yield the marker of Flink's tables in a metastore, unless it is as Flink writes it."""
    if IS_GENERIC in stored:
        yield from _noncanonical_value(IS_GENERIC, stored[IS_GENERIC], _flag)


def _noncanonical_value(
    key: str, value: str, canonical: Callable[[str], str]
) -> Iterator[Diagnostic]:
    try:
        expected = canonical(value)
    except SchemaCoreError:
        return  # reported by the decoder
    if expected != value:
        problem = f"{value[:60]!r} is decoded as {expected[:60]!r}, which is what Flink writes"
        yield Diagnostic("noncanonical", problem, path=(key,))


@validate_arguments(resolver=(SchemaResolver, NoneType), kind=(MapKind, NoneType))
def verify(
    stored: Mapping[str, str],
    resolver: SchemaResolver | None = None,
    kind: MapKind | None = None,
) -> tuple[Diagnostic, ...]:
    """A diagnostic for each malformed key of a map, whichever Flink or store wrote it.

    Codes: those of `parts.malformed_parts`; `malformed-property`, `unknown-key`;
    `version-dependent` for an option that Flink does not read; `noncanonical` for a value that
    Flink would write differently; `stale-type` for a computed column whose type is different today;
    and those of a schema that `resolver` refuses.

    >>> for malformed in verify({"schema.0.name": "a", "schema.0.typ": "INT"}):
    ...     print(malformed.code, *malformed.path)
    malformed-property schema.0.data-type
    unknown-key schema.0.typ
    """
    return examine(stored, resolver, kind).diagnostics


class Examined(NamedTuple):
    """The object that a stored map resolves to, or None, and its diagnostics."""

    resolved: ResolvedStoredObject | None
    diagnostics: tuple[Diagnostic, ...]


def examine(
    stored: Mapping[str, str],
    resolver: SchemaResolver | None = None,
    kind: MapKind | None = None,
) -> Examined:
    """Verify and resolve a stored map: the diagnostics are those of `verify`.

    >>> print(examine({"schema.0.name": "a", "schema.0.data-type": "INT"}).resolved.resolved_schema)
    (
      `a` INT
    )
    """
    try:
        require_strings(stored)
    except SchemaCoreError as error:
        return Examined(None, error.diagnostics)
    if kind in (None, MapKind.TABLE) and (table := read_ordinary_table(stored)) is not None:
        return _resolve(stored, MapKind.TABLE, table, resolver)
    return examine_every_key(stored, resolver, kind)


def examine_every_key(
    stored: Mapping[str, str], resolver: SchemaResolver | None, kind: MapKind | None
) -> Examined:
    """Verify and resolve a map of strings, with the checks of every key."""
    try:
        if has_spark_schema(stored) and not has_hive_prefix(stored):
            return examine_spark_table(stored, resolver)
        properties = strip_hive_prefix(stored) if has_hive_prefix(stored) else dict(stored)
        mark = noncanonical_marker(stored) if has_hive_prefix(stored) else ()
    except SchemaCoreError as error:
        return Examined(None, error.diagnostics)
    if malformed := malformed_parts(properties):
        return Examined(None, malformed)
    properties = join_parts(properties)
    diagnostics = distinct(mark, *(check(properties) for check in CHECKS))
    try:
        modern = modernize_keys(properties)
    except SchemaCoreError as error:
        return Examined(None, distinct(diagnostics, error.diagnostics))
    reader, kind = PropertyReader(modern.properties), kind or kind_of(modern.properties)
    assumed = (note for note in modern.notes if note.code == REPORTED_NOTE)
    broken = unreadable_parts(reader, kind)
    diagnostics = distinct(
        diagnostics, assumed, broken, unknown_keys(reader, properties, broken=bool(broken))
    )
    if broken:
        return Examined(None, diagnostics)
    decoded = MAP_FORMATS[kind].read(PropertyReader(modern.properties))
    resolved, errors = _resolve(modern.properties, kind, decoded, resolver)
    return Examined(resolved, distinct(diagnostics, errors))


def examine_spark_table(stored: Mapping[str, str], resolver: SchemaResolver | None) -> Examined:
    """Verify and resolve a table whose schema Spark stored."""
    try:
        table, _ = read_spark_table(stored)
    except SchemaCoreError as error:
        return Examined(None, error.diagnostics)
    unknown = tuple(unknown_columns(stored, table.schema))
    try:
        return Examined(resolve_table(table, resolver or SchemaResolver()), unknown)
    except SchemaCoreError as error:
        # those above have keys, unlike the resolver's
        reported = {diagnostic.code for diagnostic in unknown}
        others = (diagnostic for diagnostic in error.diagnostics if diagnostic.code not in reported)
        return Examined(None, (*unknown, *others))


# --- maps without anything to report --------------------------------------------------------------

#: Reserved keys of a table besides those that all columns have, which the decoder validates.
ORDINARY = regex(
    r"comment|partition\.keys\.(?:0|[1-9][0-9]{0,3})\.name|schema\.primary-key\.(?:name|columns)|"
    r"schema\.watermark\.0\.(?:rowtime|strategy\.(?:expr|data-type))|"
    r"schema\.(?:0|[1-9][0-9]{0,2})\.(?:expr|metadata|virtual)"
)
#: Keys that exist together.
TOGETHER = (
    ("schema.primary-key.name", "schema.primary-key.columns"),
    tuple(f"schema.watermark.0.{part}" for part in ("rowtime", "strategy.expr",
                                                    "strategy.data-type")),
)  # fmt: skip
#: Prefixes of options that older versions of Flink, or Spark, read as a definition.
NOT_ORDINARY = (SPARK_SCHEMA, f"{GENERIC_PREFIX}.", "definition-query")
#: The parts of columns besides the comment, and those of columns that are not physical.
COLUMN_PARTS = ("name", "data-type", "expr", "metadata", "virtual")
ORDINARY_PARTS = (
    {"name", "data-type", "expr"},
    {"name", "data-type", "metadata", "virtual"},
)


def read_ordinary_table(properties: Mapping[str, str]) -> CatalogTable | None:
    """Decode a table from a map that is as Flink 2.3 writes it; None for any other map.

    Invariant: no check reports anything of such a map, except those of the resolved schema.
    """
    reader = PropertyReader(properties)
    for key in reader.other_keys:
        is_ordinary = (
            ORDINARY.fullmatch(key) if is_reserved(key) else not key.startswith(NOT_ORDINARY)
        )
        if not is_ordinary:
            return None
    if any(len({key in properties for key in keys}) > 1 for keys in TOGETHER):
        return None
    try:
        table = read_table(reader)
    except SchemaCoreError:
        return None
    key_columns = properties.get("schema.primary-key.columns", "")
    if reader.other_columns is None or _names(key_columns) != key_columns:
        return None
    for row in reader.other_columns:
        parts = {part for part in COLUMN_PARTS if f"schema.{row}.{part}" in properties}
        virtual = properties.get(f"schema.{row}.virtual", "true")
        if parts not in ORDINARY_PARTS or virtual not in ("true", "false"):
            return None
    return table


#: Checks that do not decode the map.
CHECKS: tuple[Callable[[Properties], Iterator[Diagnostic]], ...] = (
    malformed_numbers,
    incomplete_rows,
    noncanonical_values,
    conflicting_sidecar_keys,
)

#: The notes of `legacy` on what no version writes, or what today's versions do not read.
REPORTED_NOTE = "version-dependent"


def distinct(*parts: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The diagnostics of all parts, each problem once for each key."""
    seen: dict[tuple[str, str, tuple[str, ...]], Diagnostic] = {}
    for part in parts:
        for diagnostic in part:
            seen.setdefault((diagnostic.code, diagnostic.message, diagnostic.path), diagnostic)
    return tuple(seen.values())


# --- unreadable parts -----------------------------------------------------------------------------


def unreadable_parts(reader: PropertyReader, kind: MapKind) -> tuple[Diagnostic, ...]:
    """Decode every part of a map separately and return the errors."""
    errors = Gathering()
    with errors.catching():
        sidecar.check_version(reader)
    for prefix, _ in ROWS:
        for number in sorted(numbers_of(reader.properties, prefix)):
            with errors.catching():
                READ_ROW[prefix](reader.under(f"{prefix}.{number}"))
    for part in (*SINGLE, *BY_KIND[kind]):
        with errors.catching():
            part(reader)
    if not errors.errors:
        with errors.catching():
            MAP_FORMATS[kind].read(reader)
    return tuple(diagnostic for error in errors.errors for diagnostic in error.diagnostics)


def _read_index(row: PropertyReader) -> None:
    row.require("name")
    decode_names(row)


def _read_key(name: str) -> Callable[[PropertyReader], None]:
    """A decoder of a key constraint, which has a name and columns, or neither."""

    def read(reader: PropertyReader) -> None:
        part = reader.under(f"schema.{name}")
        if part.get("columns") is not None:
            part.require("name")
        decode_names(part)

    return read


def _read_distribution(reader: PropertyReader) -> None:
    part = reader.under("distribution")
    if any(key.startswith("distribution.") for key in reader.properties):
        part.require("kind")
    decode_distribution(reader)


def _read_name(row: PropertyReader) -> None:
    row.require("name")


#: Prefix -> the decoder of a row.
READ_ROW: dict[str, Callable[[PropertyReader], object]] = {
    "schema":           decode_column,
    "schema.watermark": decode_watermark,
    "schema.index":     _read_index,
    "partition.keys":   _read_name,
    "distribution.keys": _read_name,
    "input-schema":     decode_column,
    "output-schema":    decode_column,
}  # fmt: skip

#: Decoders of the parts that exist once.
SINGLE: tuple[Callable[[PropertyReader], object], ...] = (
    _read_key("primary-key"),
    _read_key("immutable"),
    _read_distribution,
    lambda reader: reader.integer("snapshot", 64),
    lambda reader: decode_handler(reader.get("refresh-handler-bytes")),
    sidecar.restore_options,
    sidecar.restore_comment,
    lambda reader: sidecar.restore_schema(reader, Schema(), "schema"),
)

#: Decoders of further parts, by kind of map.
QUERIES: tuple[Callable[[PropertyReader], object], ...] = (
    lambda reader: reader.require(ORIGINAL),
    lambda reader: reader.require(EXPANDED),
)
BY_KIND: dict[MapKind, tuple[Callable[[PropertyReader], object], ...]] = {
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


# --- errors of resolution -------------------------------------------------------------------------


def _resolve(
    properties: Mapping[str, str],
    kind: MapKind,
    decoded: StoredObject,
    resolver: SchemaResolver | None,
) -> Examined:
    """Resolve a decoded map; report why it cannot be, or resolves to other types than stored."""
    try:
        resolved = MAP_FORMATS[kind].resolve(decoded, resolver or SchemaResolver())
    except SchemaCoreError as error:
        places = keys_by_location(properties)
        located = (
            replace(diagnostic, path=(places[diagnostic.path[0]], *diagnostic.path))
            if diagnostic.path and diagnostic.path[0] in places
            else diagnostic
            for diagnostic in error.diagnostics
        )
        return Examined(None, distinct(located))
    return Examined(resolved, distinct(stale_types(properties, resolved)))


def keys_by_location(properties: Mapping[str, str]) -> dict[str, str]:
    """The locations that a resolver reports -> the keys of the map."""
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
