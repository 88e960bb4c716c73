"""Types and columns of Hive, read and written as Flink's HiveCatalog maps them.

The types are the exact rows of `schema_core.mappings.dialects.type_rows.HIVE`, in arrays, maps and
structs. NOT NULL, other precisions of timestamps and lengths of binary strings are not supported.
Law: ``from_hive(to_hive(type_)) == type_``.

Spark stores columns a second time in the table properties, with the case of names and with types
that Hive lacks. As in Spark, they take precedence if they agree with Hive's columns or if those are
a placeholder.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from schema_core.base.lazy import regex
from schema_core.catalogs.hive.metastore import HiveColumn, HiveTable
from schema_core.errors import Gathering, SchemaCoreError, SchemaError, UnsupportedError, at
from schema_core.mappings.dialects.engines import Engine, engine
from schema_core.mappings.dialects.types import find_exact_text, find_exact_type
from schema_core.mappings.spark import schemas
from schema_core.mappings.spark.ddl import Tree, parse_spark_type
from schema_core.properties.spark_table_properties import (
    PROVIDER,
    has_spark_schema,
    stored_schema_json,
)
from schema_core.schema.resolved import Column, PhysicalColumn, ResolvedSchema
from schema_core.schema.unresolved import Schema
from schema_core.types import (
    ArrayType,
    DataType,
    LocalZonedTimestampType,
    MapType,
    NullType,
    RowField,
    RowType,
)

# --- types ---------------------------------------------------------------------------------------

_HIVE: Engine = engine("hive")

#: Name of a timestamp in Spark's JSON -> name in Hive, if ``timestamp`` is parsed as TIMESTAMP_NTZ.
_TIMESTAMPS = {"timestamp_ntz": "timestamp", "timestamp": "timestamp with local time zone"}

#: Types of Hive that no column of a table can have.
_NOT_READ = (NullType,)
#: TIMESTAMP_LTZ requires Hive 3 and is only read.
_NOT_WRITTEN = (*_NOT_READ, LocalZonedTimestampType)

#: Hive's name of TIMESTAMP_LTZ; Spark's parser reads ``timestamp_ltz``.
_LOCAL_TIME_ZONE = regex(r"timestamp with local time zone", re.IGNORECASE)

_FIELD_NAME = regex(r"[A-Za-z0-9_]+")


def to_hive(type_: DataType) -> str:
    """Return the Hive type that represents a type exactly (`not-representable`).

    >>> from schema_core.types import parse_type
    >>> to_hive(parse_type("MAP<STRING, ROW<a DECIMAL(5, 2), b ARRAY<TIMESTAMP(9)>>>"))
    'map<string,struct<a:decimal(5,2),b:array<timestamp>>>'
    """
    if not type_.is_nullable:
        raise _not_in_hive(type_, "cannot be NOT NULL")
    match type_:
        case ArrayType(element_type=element):
            return f"array<{to_hive(element)}>"
        case MapType(key_type=key, value_type=value):
            return f"map<{to_hive(key)},{to_hive(value)}>"
        case RowType(fields=fields) if fields:
            return f"struct<{','.join(map(_field, fields))}>"
    text = None if isinstance(type_, _NOT_WRITTEN) else find_exact_text(type_, _HIVE)
    if text is not None:
        return text.replace(" ", "")
    raise _not_in_hive(type_, "cannot have this type")


def _field(field: RowField) -> str:
    with at(f"field {field.name!r}"):
        if not _FIELD_NAME.fullmatch(field.name) or field.name != field.name.lower():
            problem = f"struct field {field.name!r} must consist of a-z, 0-9 and _ in Hive"
            raise UnsupportedError(problem, code="not-representable")
        if field.description is not None:
            raise UnsupportedError(
                "fields of Hive structs cannot have comments", code="not-representable"
            )
        return f"{field.name}:{to_hive(field.data_type)}"


def _not_in_hive(type_: DataType, why: str) -> UnsupportedError:
    return UnsupportedError(
        f"a Hive column {why}: {type_}",
        code="not-representable",
        hint="omit 'connector' = 'hive' to store the column in a property",
    )


def from_hive(text: str) -> DataType:
    """Return the nullable Flink type of a Hive type (`type-not-supported`).

    >>> print(from_hive("struct<a:timestamp,b:array<varchar(5)>>"))
    ROW<`a` TIMESTAMP(9), `b` ARRAY<VARCHAR(5)>>
    """
    zoned = _LOCAL_TIME_ZONE.sub("timestamp_ltz", text)
    try:
        return _type(parse_spark_type(zoned, timestamp="timestamp_ntz"))
    except SchemaError as error:
        raise _not_in_flink(text) from error


def _type(tree: Tree) -> DataType:
    if isinstance(tree, str):
        return _atomic_type(tree)
    match tree["type"]:
        case "array":
            return ArrayType(_type(tree["elementType"]))
        case "map":
            return MapType(_type(tree["keyType"]), _type(tree["valueType"]))
        case _:
            fields = (RowField(field["name"], _type(field["type"])) for field in tree["fields"])
            return RowType(tuple(fields))


def _atomic_type(word: str) -> DataType:
    type_ = find_exact_type(_TIMESTAMPS.get(word, word).replace(",", ", "), _HIVE)
    if type_ is None or isinstance(type_, _NOT_READ):
        raise _not_in_flink(word)
    return type_


def _not_in_flink(text: str) -> UnsupportedError:
    return UnsupportedError(
        f"Flink has no type for the Hive type {text[:60]!r}", code="type-not-supported"
    )


#: The provider of a table whose files Spark accesses with Hive's classes.
HIVE = "hive"


# --- columns to Hive -----------------------------------------------------------------------------


def hive_columns(columns: Iterable[Column]) -> tuple[HiveColumn, ...]:
    """Return the columns of a table with ``'connector' = 'hive'``.

    Errors, for each column: `not-representable` if it is not exact, `name-not-supported`.
    """
    errors = Gathering()
    encoded: list[HiveColumn] = []
    for column in columns:
        with errors.catching(), at(f"column {column.name!r}"):
            encoded.append(_hive_column(column))
    errors.raise_all()
    return tuple(encoded)


def _hive_column(column: Column) -> HiveColumn:
    if not isinstance(column, PhysicalColumn):
        raise UnsupportedError("Hive supports physical columns only", code="not-representable")
    if column.name != column.name.lower():
        raise UnsupportedError(
            f"column name {column.name!r} must be lower case in Hive",
            code="name-not-supported",
            hint="write it in lower case, or omit 'connector' = 'hive'",
        )
    return HiveColumn(column.name, to_hive(column.data_type), column.comment)


def generic_columns(schema: ResolvedSchema) -> tuple[HiveColumn, ...]:
    """Return columns of a generic table, which its property map defines, for other engines to show.

    There are none if Hive lacks a type or if names differ in case only.
    """
    names = [column.name.lower() for column in schema.columns]
    if len(set(names)) < len(names):
        return ()
    try:
        types = [to_hive(_nullable(column.data_type)) for column in schema.columns]
    except UnsupportedError:
        return ()
    return tuple(map(HiveColumn, names, types))


def _nullable(type_: DataType) -> DataType:
    return type_.rebuild(tuple(map(_nullable, type_.children()))).nullable()


# --- columns from Hive ---------------------------------------------------------------------------


def schema_of(columns: Iterable[HiveColumn]) -> Schema:
    """Return the schema of Hive's columns (`type-not-supported` for each column)."""
    errors = Gathering()
    builder = Schema.new_builder()
    for column in columns:
        with errors.catching(), at(f"column {column.name!r}"):
            builder.column(column.name, from_hive(column.type))
            if column.comment is not None:
                builder.with_comment(column.comment)
    errors.raise_all()
    return builder.build()


def is_spark_source(table: HiveTable) -> bool:
    """Return whether Spark reads the files of a table itself, ignoring Hive's columns."""
    return table.parameters.get(PROVIDER, HIVE) != HIVE


def prefers_spark_schema(table: HiveTable) -> bool:
    """Return whether the columns in Spark's properties take precedence over Hive's."""
    properties = table.parameters
    if not has_spark_schema(properties):
        return False
    if is_spark_source(table) or table.original_query is not None:
        return True
    try:
        fields = schemas.parse_json(stored_schema_json(properties))["fields"]
        listed = [
            _shape({"name": column.name, "type": parse_spark_type(column.type)})
            for column in (*table.columns, *table.partition_columns)
        ]
        encoded = [_shape(field) for field in fields]
    except (SchemaCoreError, KeyError, ValueError):
        return False
    return sorted(listed, key=repr) == sorted(encoded, key=repr)


def _shape(tree: Any) -> Any:
    """Return what both lists have of a type or field: without case, NOT NULL and lengths."""
    if isinstance(tree, str):
        return "string" if tree.startswith(("char(", "varchar(")) else tree
    if "name" in tree:
        return tree["name"].lower(), _shape(tree["type"])
    if tree["type"] == "struct":
        return "struct", tuple(map(_shape, tree["fields"]))
    return tuple(
        _shape(tree[key]) for key in ("type", "elementType", "keyType", "valueType") if key in tree
    )
