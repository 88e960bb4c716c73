"""Sidecar keys: keys of this library in a property map, for what Flink's keys cannot represent.

They start with ``schema.``, which every Flink since 1.13 excludes from the options, and the name of
this library and the version of the format; Flink does not count them as columns. Flink's own keys
omit what they would misrepresent: a primary key on a column ``a,b`` would be one on two columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from schema_core.base.json_codec import (
    STRING,
    Codec,
    JsonError,
    mapping,
    parse_json,
    sequence,
    write_json,
)
from schema_core.base.text import is_blank
from schema_core.properties.key_syntax import (
    IS_GENERIC,
    Properties,
    PropertyReader,
    is_reserved,
    join_names,
    malformed_key,
    split_names,
)
from schema_core.schema.columns import AnyColumn, Constraint, Index, MetadataColumn, WatermarkSpec
from schema_core.schema.resolved import ResolvedSchema
from schema_core.schema.unresolved import (
    Schema,
    SqlExpression,
    UnresolvedImmutableColumns,
    UnresolvedIndex,
    UnresolvedMetadataColumn,
    UnresolvedPrimaryKey,
    UnresolvedWatermarkSpec,
)

#: The prefix of all versions, and the version that is written.
PREFIX = "schema-core-"
VERSION = f"{PREFIX}1"

#: Sub-keys of the schema, and those of the object itself.
PRIMARY_KEY, IMMUTABLE, INDEXES, WATERMARKS = "primary-key", "immutable", "indexes", "watermarks"
METADATA_KEYS = "metadata-keys"
OPTIONS, COMMENT, HANDLER = "options", "comment", "refresh-handler"


def sidecar_key(part: str, prefix: str = "schema") -> str:
    """The complete key of a part.

    >>> sidecar_key("options")
    'schema.schema-core-1.options'
    """
    return f"{prefix}.{VERSION}.{part}"


#: The keys that every decoded table is searched for.
OPTIONS_KEY, COMMENT_KEY = sidecar_key(OPTIONS), sidecar_key(COMMENT)

# --- what Flink's keys cannot represent -----------------------------------------------------------


def is_ambiguous(named: Constraint | Index) -> bool:
    """Whether the column names, joined with commas, are split differently."""
    return tuple(split_names(join_names(named.columns))) != named.columns


def is_lossy(constraint: Constraint) -> bool:
    """Whether a key constraint cannot be decoded from Flink's keys."""
    return is_blank(constraint.name) or is_ambiguous(constraint)


def is_lost(option: str, removed: tuple[str, ...]) -> bool:
    """Whether an option is lost on decoding: its key is reserved, or Flink removes it."""
    return is_reserved(option) or option in removed


def is_read_by_older_flink(option: str) -> bool:
    """Whether a lost option may stay in the map, since Flink up to 2.1 reads it there.

    >>> is_read_by_older_flink("schema-registry.url"), is_read_by_older_flink("schema.0.name")
    (True, False)
    """
    return option.startswith("schema") and not option.startswith("schema.")


# --- encoding -------------------------------------------------------------------------------------


def split_schema(schema: ResolvedSchema, prefix: str) -> tuple[ResolvedSchema, Properties]:
    """Split a schema into what Flink's keys can represent and sidecar keys."""
    key, immutable, indexes = schema.primary_key, schema.immutable_columns, schema.indexes
    key_is_lost = key is not None and is_lossy(key)
    immutable_is_lost = immutable is not None and (key_is_lost or is_lossy(immutable))
    indexes_are_lost = any(map(is_ambiguous, indexes))
    representable = ResolvedSchema(
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
    return representable, own


def non_column_keys(schema: ResolvedSchema, prefix: str) -> Properties:
    """Sidecar keys for everything but columns, for maps of models."""
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
    """The sidecar keys of these members of a schema."""
    members = {
        PRIMARY_KEY: [] if primary_key is None else [primary_key.name, *primary_key.columns],
        IMMUTABLE: [] if immutable is None else [immutable.name, *immutable.columns],
        INDEXES: [[index.name, *index.columns] for index in indexes],
        WATERMARKS: [
            [watermark.rowtime_attribute, watermark.watermark_expression.as_serializable_string()]
            for watermark in watermarks
        ],
        METADATA_KEYS: [column.name for column in columns if has_explicit_default_key(column)],
    }
    return {
        sidecar_key(part, prefix): write_json(value, sort_keys=True)
        for part, value in members.items()
        if value
    }


def has_explicit_default_key(column: AnyColumn) -> bool:
    """Whether a metadata column has its own name as key; Flink decodes it as absent."""
    return isinstance(column, MetadataColumn) and column.metadata_key == column.name


def split_options(
    options: Mapping[str, str], removed: tuple[str, ...] = (IS_GENERIC,)
) -> tuple[Properties, Properties]:
    """Split options into those that the map can represent and sidecar keys."""
    lost = {key: value for key, value in options.items() if is_lost(key, removed)}
    if not lost:
        return dict(options), {}
    representable = {
        key: value
        for key, value in options.items()
        if key not in lost or is_read_by_older_flink(key)
    }
    return representable, {OPTIONS_KEY: write_json(lost, sort_keys=True)}


def comment_key(comment: str | None) -> Properties:
    """The sidecar key of an empty comment."""
    return {COMMENT_KEY: ""} if comment == "" else {}


def handler_key(handler: bytes | None) -> Properties:
    """The sidecar key of an empty refresh handler."""
    return {sidecar_key(HANDLER): ""} if handler == b"" else {}


# --- decoding -------------------------------------------------------------------------------------


def check_version(reader: PropertyReader) -> None:
    """Refuse keys of a later version of this library, which would be lost."""
    all_versions, this_version = f"schema.{PREFIX}", f"schema.{VERSION}."
    if not reader.has_other(all_versions):
        return
    for key in reader.properties:
        if key.startswith(all_versions) and not key.startswith(this_version):
            problem = f"{key!r} was written by a later version of schema_core"
            raise malformed_key(key, problem, "version-not-supported")


def open_reader(properties: Mapping[str, str]) -> PropertyReader:
    """A reader of a map of strings in this version."""
    reader = PropertyReader(properties)
    check_version(reader)
    return reader


def restore_schema(reader: PropertyReader, schema: Schema, prefix: str) -> Schema:
    """The schema with the parts that sidecar keys contain."""
    part = reader.under(f"{prefix}.{VERSION}")
    changes: dict[str, Any] = {}
    if key := _read(part, PRIMARY_KEY, NAMED_COLUMNS):
        changes["primary_key"] = UnresolvedPrimaryKey(key[0], key[1:])
    if immutable := _read(part, IMMUTABLE, NAMED_COLUMNS):
        changes["immutable_columns"] = UnresolvedImmutableColumns(immutable[0], immutable[1:])
    if indexes := _read(part, INDEXES, NAMED_LISTS):
        changes["indexes"] = tuple(UnresolvedIndex(index[0], index[1:]) for index in indexes)
    if watermarks := _read(part, WATERMARKS, NAMED_LISTS):
        changes["watermark_specs"] = tuple(
            UnresolvedWatermarkSpec(watermark[0], SqlExpression(watermark[1]))
            for watermark in watermarks
        )
    if same := _read(part, METADATA_KEYS, NAMED_COLUMNS):
        changes["columns"] = tuple(
            replace(column, metadata_key=column.name)
            if isinstance(column, UnresolvedMetadataColumn)
            and column.metadata_key is None
            and column.name in same
            else column
            for column in schema.columns
        )
    return replace(schema, **changes) if changes else schema


def restore_options(reader: PropertyReader) -> Properties:
    """All options, those of the sidecar key included."""
    options = reader.options()
    if (text := reader.get(OPTIONS_KEY)) is None:
        return options
    lost = read_string_map(OPTIONS_KEY, text)
    for key in filter(is_read_by_older_flink, lost):
        reader.get(key)
    return options | lost


def restore_comment(reader: PropertyReader) -> str | None:
    """The comment of an object, which may be empty."""
    own, representable = reader.get(COMMENT_KEY), reader.get("comment")
    return own if representable is None else representable


def restore_handler(reader: PropertyReader, handler: bytes | None) -> bytes | None:
    """The refresh handler, which may be empty."""
    return b"" if reader.get(sidecar_key(HANDLER)) is not None and handler is None else handler


#: A named list of columns: the name, and the columns.
NAMED_COLUMNS: Final = sequence(STRING, least=1)
#: Lists of indexes and of watermarks.
NAMED_LISTS: Final = sequence(sequence(STRING, least=2))


def _read(part: PropertyReader, key: str, codec: Codec) -> tuple[Any, ...]:
    """Parse the value of a key; empty without it."""
    text = part.get(key)
    value: tuple[Any, ...] = () if text is None else read_json(key, text, codec)
    return value


def read_string_map(key: str, text: str) -> Properties:
    """Parse a JSON object of strings."""
    properties: Properties = read_json(key, text, mapping(STRING))
    return properties


def read_json(key: str, text: str, codec: Codec) -> Any:
    """Parse JSON that a codec has written."""
    try:
        return codec.decode(parse_json(text))
    except JsonError as error:
        problem = f"the key {key!r} is not in the format that schema_core writes: {error}"
        raise malformed_key(key, problem) from None
