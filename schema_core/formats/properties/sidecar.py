"""What Flink's map loses, carried in the map under keys of our own that Flink skips.

The keys begin with ``schema.``, which every Flink since 1.13 keeps out of the options, then name
this library and the version of what is written; no Flink counts them among its columns. Whatever
the map cannot say truly is left out of Flink's own keys: a key constraint on a column ``a,b`` would
be one on two columns there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from schema_core.errors import SchemaError
from schema_core.formats.properties.keys import (
    IS_GENERIC,
    Properties,
    PropertyReader,
    is_reserved,
    join_names,
    malformed_key,
    require_strings,
    split_names,
)
from schema_core.schema.columns import AnyColumn, Constraint, Index, MetadataColumn, WatermarkSpec
from schema_core.schema.resolved import ResolvedSchema
from schema_core.schema.unresolved import (
    Schema,
    SqlExpression,
    UnresolvedColumn,
    UnresolvedImmutableColumns,
    UnresolvedIndex,
    UnresolvedMetadataColumn,
    UnresolvedPrimaryKey,
    UnresolvedWatermarkSpec,
)
from schema_core.text import is_blank

#: Ours, in every version, and what this version writes.
PREFIX = "schema-core-"
VERSION = f"{PREFIX}1"

#: Sub-keys of the schema part, and those of the object itself.
PRIMARY_KEY, IMMUTABLE, INDEXES, WATERMARKS = "primary-key", "immutable", "indexes", "watermarks"
METADATA_KEYS = "metadata-keys"
OPTIONS, COMMENT, HANDLER = "options", "comment", "refresh-handler"


def to_json(value: object) -> str:
    """A value as the JSON that is written, always the same for the same value."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def sidecar_key(part: str, prefix: str = "schema") -> str:
    """The whole key of a part.

    >>> sidecar_key("options")
    'schema.schema-core-1.options'
    """
    return f"{prefix}.{VERSION}.{part}"


# --- what is lossy -------------------------------------------------------------------------------


def is_ambiguous(named: Constraint | Index) -> bool:
    """Whether the names of the columns, joined by commas, are read as others."""
    return tuple(split_names(join_names(named.columns))) != named.columns


def is_lossy(constraint: Constraint) -> bool:
    """Whether a key cannot be read back from Flink's keys."""
    return is_blank(constraint.name) or is_ambiguous(constraint)


def is_lost(option: str, removed: tuple[str, ...]) -> bool:
    """Whether an option is lost when the map is read: the map needs its key, or takes it out."""
    return is_reserved(option) or option in removed


def is_read_by_older_flink(option: str) -> bool:
    """Whether a lost option harms nobody where it stands: Flink up to 2.1 reads it there.

    >>> is_read_by_older_flink("schema-registry.url"), is_read_by_older_flink("schema.0.name")
    (True, False)
    """
    return option.startswith("schema") and not option.startswith("schema.")


# --- writing -------------------------------------------------------------------------------------


def split_schema(schema: ResolvedSchema, prefix: str) -> tuple[ResolvedSchema, Properties]:
    """The schema that Flink's keys can tell, and under our own keys what they cannot."""
    key, immutable, indexes = schema.primary_key, schema.immutable_columns, schema.indexes
    key_is_lost = key is not None and is_lossy(key)
    immutable_is_lost = immutable is not None and (key_is_lost or is_lossy(immutable))
    indexes_are_lost = any(map(is_ambiguous, indexes))
    told = ResolvedSchema(
        schema.columns,
        schema.watermark_specs,
        None if key_is_lost else key,
        () if indexes_are_lost else indexes,
        None if immutable_is_lost else immutable,
    )
    own = schema_keys(
        prefix,
        schema.columns,
        primary_key=key if key_is_lost else None,
        immutable=immutable if immutable_is_lost else None,
        indexes=indexes if indexes_are_lost else (),
    )
    return told, own


def non_column_keys(schema: ResolvedSchema, prefix: str) -> Properties:
    """Everything but columns, for a schema of which Flink's map keeps columns alone."""
    return schema_keys(
        prefix,
        schema.columns,
        primary_key=schema.primary_key,
        immutable=schema.immutable_columns,
        indexes=schema.indexes,
        watermarks=schema.watermark_specs,
    )


def schema_keys(
    prefix: str,
    columns: Iterable[AnyColumn],
    *,
    primary_key: Constraint | None = None,
    immutable: Constraint | None = None,
    indexes: Iterable[Index] = (),
    watermarks: Iterable[WatermarkSpec] = (),
) -> Properties:
    """Our own keys for these members of a schema; what is not there has none."""
    members = {
        PRIMARY_KEY: [] if primary_key is None else [primary_key.name, *primary_key.columns],
        IMMUTABLE: [] if immutable is None else [immutable.name, *immutable.columns],
        INDEXES: [[one.name, *one.columns] for one in indexes],
        WATERMARKS: [
            [one.rowtime_attribute, one.watermark_expression.as_serializable_string()]
            for one in watermarks
        ],
        METADATA_KEYS: [column.name for column in columns if has_explicit_default_key(column)],
    }
    return {sidecar_key(part, prefix): to_json(value) for part, value in members.items() if value}


def has_explicit_default_key(column: AnyColumn) -> bool:
    """Whether a metadata column has a key, which is its name: Flink reads it as without one."""
    return isinstance(column, MetadataColumn) and column.metadata_key == column.name


def split_options(
    options: Mapping[str, str], removed: tuple[str, ...] = (IS_GENERIC,)
) -> tuple[Properties, Properties]:
    """The options that can stand in the map, and under our own key those that would be lost."""
    lost = {key: value for key, value in options.items() if is_lost(key, removed)}
    if not lost:
        return dict(options), {}
    told = {
        key: value
        for key, value in options.items()
        if key not in lost or is_read_by_older_flink(key)
    }
    return told, {sidecar_key(OPTIONS): to_json(lost)}


def comment_key(comment: str | None) -> Properties:
    """An empty comment, for which the map has no place."""
    return {sidecar_key(COMMENT): ""} if comment == "" else {}


def handler_key(handler: bytes | None) -> Properties:
    """An empty refresh handler, which is none in the map."""
    return {sidecar_key(HANDLER): ""} if handler == b"" else {}


# --- reading -------------------------------------------------------------------------------------


def check_version(reader: PropertyReader) -> None:
    """Refuse what a later version of this library has written: half of it would be lost.

    Raises:
        SchemaError: with code `unsupported-sidecar-version`.
    """
    ours, known = f"schema.{PREFIX}", f"schema.{VERSION}."
    if not reader.has(ours):
        return
    for key in reader.properties:
        if key.startswith(ours) and not key.startswith(known):
            problem = f"a later version of schema_core wrote {key!r}"
            raise malformed_key(key, problem, "unsupported-sidecar-version")


def open_reader(properties: Mapping[str, str]) -> PropertyReader:
    """A reader of a map, once it is sure that it can be read.

    Raises:
        SchemaError: with code `invalid-key-value` for what is no text, or as `check_version`.
    """
    require_strings(properties)
    reader = PropertyReader(properties)
    check_version(reader)
    return reader


def restore_schema(reader: PropertyReader, schema: Schema, prefix: str) -> Schema:
    """The schema with what our own keys say besides."""
    part = reader.under(f"{prefix}.{VERSION}")
    changes: dict[str, Any] = {}
    if key := _read_list(part, PRIMARY_KEY):
        changes["primary_key"] = UnresolvedPrimaryKey(key[0], key[1:])
    if immutable := _read_list(part, IMMUTABLE):
        changes["immutable_columns"] = UnresolvedImmutableColumns(immutable[0], immutable[1:])
    if indexes := _read_lists(part, INDEXES):
        changes["indexes"] = tuple(UnresolvedIndex(one[0], one[1:]) for one in indexes)
    if watermarks := _read_lists(part, WATERMARKS):
        changes["watermark_specs"] = tuple(
            UnresolvedWatermarkSpec(one[0], SqlExpression(one[1])) for one in watermarks
        )
    if same := _read_list(part, METADATA_KEYS):
        changes["columns"] = tuple(_with_explicit_key(column, same) for column in schema.columns)
    return replace(schema, **changes) if changes else schema


def _with_explicit_key(column: UnresolvedColumn, same: tuple[str, ...]) -> UnresolvedColumn:
    """The column with its name as its key, unless Flink's key says another one."""
    if not isinstance(column, UnresolvedMetadataColumn) or column.metadata_key is not None:
        return column
    return replace(column, metadata_key=column.name) if column.name in same else column


def restore_options(reader: PropertyReader) -> Properties:
    """All options, those under our own key too."""
    options = reader.options()
    if (text := reader.get(sidecar_key(OPTIONS))) is None:
        return options
    carried = read_string_map(sidecar_key(OPTIONS), text)
    for key in carried:
        if is_read_by_older_flink(key):
            reader.get(key)
    return options | carried


def restore_comment(reader: PropertyReader) -> str | None:
    """The comment of an object, which may be empty."""
    own, told = reader.get(sidecar_key(COMMENT)), reader.get("comment")
    return own if told is None else told


def restore_handler(reader: PropertyReader, handler: bytes | None) -> bytes | None:
    """The refresh handler, which may be empty."""
    return b"" if reader.get(sidecar_key(HANDLER)) is not None and handler is None else handler


def _read_list(part: PropertyReader, key: str) -> tuple[str, ...]:
    """A list of texts, or nothing."""
    text = part.get(key)
    return () if text is None else _string_list(read_json(key, text), key)


def _read_lists(part: PropertyReader, key: str) -> tuple[tuple[str, ...], ...]:
    """A list of lists of texts, or nothing."""
    text = part.get(key)
    if text is None:
        return ()
    found = read_json(key, text)
    if not isinstance(found, list):
        raise _malformed(key)
    return tuple(_string_list(one, key, least=2) for one in found)


def _string_list(found: object, key: str, least: int = 1) -> tuple[str, ...]:
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise _malformed(key)
    if len(found) < least:
        raise _malformed(key)
    return tuple(found)


def read_string_map(key: str, text: str) -> Properties:
    """A map of texts that `to_json` wrote.

    Raises:
        SchemaError: with code `invalid-key-value` for any other text.
    """
    found = read_json(key, text)
    if not isinstance(found, dict) or not all(isinstance(one, str) for one in found.values()):
        raise _malformed(key)
    return found


def read_json(key: str, text: str) -> object:
    """The value of a text that `to_json` wrote.

    Raises:
        SchemaError: with code `invalid-key-value` for any other text.
    """
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):
        raise _malformed(key) from None
    return found


def _malformed(key: str) -> SchemaError:
    return malformed_key(key, f"the key {key!r} does not hold what schema_core writes there")
