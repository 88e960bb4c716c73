"""The columns of a table as a Hive metastore lists them, and which of two lists is believed.

Spark keeps the columns of its tables a second time among their properties, with the case of their
names and types that Hive does not have. They are believed as Spark believes them: where they still
say what Hive's own list says, or where that list is not meant to be read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from schema_core.catalogs.hive.metastore import HiveColumn, HiveTable
from schema_core.catalogs.hive.types import from_hive, to_hive
from schema_core.errors import Gathering, SchemaCoreError, UnsupportedError, at
from schema_core.formats.spark import schemas
from schema_core.formats.spark.ddl import parse_spark_type
from schema_core.formats.spark.table_properties import (
    PROVIDER,
    has_spark_schema,
    stored_schema_json,
)
from schema_core.schema.resolved import Column, PhysicalColumn, ResolvedSchema
from schema_core.schema.unresolved import Schema
from schema_core.types import DataType

#: The provider of a table whose files Spark reads and writes as Hive does.
HIVE = "hive"


# --- to Hive -------------------------------------------------------------------------------------


def columns_of(columns: Iterable[Column]) -> tuple[HiveColumn, ...]:
    """The columns of a table that is Hive's own.

    Raises:
        UnsupportedError: with code `not-in-hive` for every column that Hive cannot hold as it is.
    """
    found = Gathering()
    told: list[HiveColumn] = []
    for column in columns:
        with found.catching(), at(f"column {column.name!r}"):
            told.append(_told(column))
    found.raise_all()
    return tuple(told)


def _told(column: Column) -> HiveColumn:
    if not isinstance(column, PhysicalColumn):
        raise UnsupportedError("Hive has physical columns only", code="not-in-hive")
    if column.name != column.name.lower():
        raise UnsupportedError(
            "Hive keeps the names of columns in small letters",
            code="name-case-not-preserved",
            hint="write it in small letters, or leave 'connector' = 'hive' away",
        )
    return HiveColumn(column.name, to_hive(column.data_type), column.comment)


def columns_if_possible(schema: ResolvedSchema) -> tuple[HiveColumn, ...]:
    """Columns that other engines may look at, though the properties alone count; or none at all."""
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


# --- from Hive -----------------------------------------------------------------------------------


def schema_of(columns: Iterable[HiveColumn]) -> Schema:
    """The schema that Hive's own list tells.

    Raises:
        UnsupportedError: with code `type-not-in-flink` for every type that Flink does not have.
    """
    found = Gathering()
    builder = Schema.new_builder()
    for column in columns:
        with found.catching(), at(f"column {column.name!r}"):
            builder.column(column.name, from_hive(column.type))
            if column.comment is not None:
                builder.with_comment(column.comment)
    found.raise_all()
    return builder.build()


def is_source_of_spark(table: HiveTable) -> bool:
    """Whether Spark reads the files of a table itself, so that Hive's list is not meant for it."""
    return table.parameters.get(PROVIDER, HIVE) != HIVE


def is_told_by_spark(table: HiveTable) -> bool:
    """Whether the columns among the properties are the ones to believe."""
    properties = table.parameters
    if not has_spark_schema(properties):
        return False
    if is_source_of_spark(table) or table.original_query is not None:
        return True
    try:
        fields = schemas.parse_json(stored_schema_json(properties))["fields"]
        listed = [_shape(_field(one)) for one in (*table.columns, *table.partition_columns)]
        told = [_shape(one) for one in fields]
    except (SchemaCoreError, KeyError, ValueError):
        return False
    return sorted(listed, key=repr) == sorted(told, key=repr)


def _field(column: HiveColumn) -> Mapping[str, Any]:
    return {"name": column.name, "type": parse_spark_type(column.type)}


def _shape(tree: Any) -> Any:
    """A type or a field as both lists tell it: without case, NOT NULL, or lengths of texts."""
    if isinstance(tree, str):
        return "string" if tree.startswith(("char(", "varchar(")) else tree
    if "name" in tree:
        return tree["name"].lower(), _shape(tree["type"])
    if tree["type"] == "struct":
        return "struct", tuple(map(_shape, tree["fields"]))
    return tuple(
        _shape(tree[key]) for key in ("type", "elementType", "keyType", "valueType") if key in tree
    )
