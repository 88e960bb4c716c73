"""The normal form of definitions, in which they are compared: types are values, SQL is printed."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar, assert_never

from schema_core.base.arguments import require_instance
from schema_core.catalog.objects import CatalogMaterializedTable, CatalogTable
from schema_core.catalog.resolve import origin
from schema_core.errors import SchemaCoreError, SchemaError
from schema_core.schema import columns as schema_columns
from schema_core.schema.resolved import ResolvedSchema
from schema_core.schema.unresolved import Schema, unresolve
from schema_core.sql.parser import parse_expression
from schema_core.sql.printer import print_expression
from schema_core.sql.syntax import Call, walk
from schema_core.types import (
    ArrayType,
    DataType,
    DistinctType,
    MapType,
    MultisetType,
    RowType,
    StructuredType,
    parse_type,
)

T = TypeVar("T")
Table = TypeVar("Table", Schema, CatalogTable)


def normal_type(written: schema_columns.WrittenType) -> schema_columns.WrittenType:
    """Return a type as a value, user-defined types by name; a string that is not a type stays.

    >>> print(normal_type("string NOT NULL"))
    VARCHAR(2147483647) NOT NULL
    """
    try:
        if isinstance(written, str):
            return schema_columns.plain(parse_type(written))
        if not isinstance(written, DataType):
            return written
        if any(isinstance(node, DistinctType | StructuredType) for node in written.walk()):
            return parse_type(written.as_serializable_string())
    except SchemaCoreError:
        return written
    return schema_columns.plain(written)


def normal_expression(written: schema_columns.Written) -> schema_columns.Written:
    """Return an expression in the printer's SQL; SQL that does not parse stays.

    >>> print(normal_expression(schema_columns.SqlExpression("price*2")))
    [`price` * 2]
    """
    if isinstance(written, schema_columns.ResolvedExpression):
        written = schema_columns.SqlExpression(written.as_serializable_string())
    try:
        tree = written.syntax or parse_expression(written.text)
        if any(isinstance(node, Call) and node.inline is not None for node in walk(tree)):
            return written
        return schema_columns.SqlExpression(print_expression(tree))
    except SchemaCoreError:
        return schema_columns.SqlExpression(written.text)


def normal_column(column: schema_columns.UnresolvedColumn) -> schema_columns.UnresolvedColumn:
    """Return a column with its type and expression in normal form.

    A metadata key that repeats the column's name is left out.
    """
    match column:
        case schema_columns.UnresolvedPhysicalColumn(name, type_, comment):
            return schema_columns.UnresolvedPhysicalColumn(name, normal_type(type_), comment)
        case schema_columns.UnresolvedComputedColumn(name, expression, comment):
            return schema_columns.UnresolvedComputedColumn(
                name, normal_expression(expression), comment
            )
        case schema_columns.UnresolvedMetadataColumn(name, type_, key, virtual, comment):
            key = None if key == name else key
            return schema_columns.UnresolvedMetadataColumn(
                name, normal_type(type_), key, virtual, comment
            )
        case _:
            assert_never(column)


def normal_part(part: T) -> T:
    """Return a watermark with its expression in normal form; other parts have one form only."""
    if isinstance(part, schema_columns.UnresolvedWatermarkSpec):
        return replace(part, watermark_expression=normal_expression(part.watermark_expression))
    return part


def normalize(table: Table) -> Table:
    """Return a schema or table in the normal form in which definitions are compared.

    Types are values, not strings; expressions are in the printer's SQL. A resolved table becomes
    unresolved, with full names of types.

    Raises:
        UnsupportedError: for an expression of a resolved schema that has no SQL.
        SchemaError: with code `invalid-argument` for anything else.

    >>> schema = Schema.new_builder().column("a", "string").column_by_expression("b", "a||'!'")
    >>> print(normalize(schema.build()))
    (
      `a` STRING,
      `b` AS [`a` || '!']
    )
    """
    if isinstance(table, Schema):
        return replace(
            table,
            columns=tuple(map(normal_column, table.columns)),
            watermark_specs=tuple(map(normal_part, table.watermark_specs)),
        )
    require_instance(table, CatalogTable, "the table", "a schema or a table")
    written = origin(table)
    return replace(written, schema=normalize(written.schema))


def as_table(definition: Schema | ResolvedSchema | CatalogTable) -> CatalogTable:
    """Return a table, for a schema one without options (`invalid-argument` for anything else)."""
    if isinstance(definition, CatalogTable):
        return definition
    if isinstance(definition, ResolvedSchema):
        return CatalogTable(unresolve(definition))
    kinds = (Schema, ResolvedSchema, CatalogTable)
    require_instance(definition, kinds, "the definition", "a schema or a table")
    return CatalogTable(definition)


def as_written(table: CatalogTable | CatalogMaterializedTable) -> CatalogTable:
    """Return the unresolved definition of a table, with names of types as written.

    That of a materialized table is the definition of its stored rows.
    """
    return CatalogTable(
        table.schema,
        table.partition_keys,
        options=table.options,
        comment=table.comment,
        distribution=table.distribution,
        snapshot=table.snapshot,
    )


def stale_change(problem: str, hint: str | None = None) -> SchemaError:
    """Return the error of a change that was made for another state."""
    hint = hint or "compare the current definition with the new one again"
    return SchemaError(problem, code="change-does-not-fit", hint=hint)


#: type -> the names of its children in paths; a row has its fields
STEPS: dict[type[DataType], tuple[str, ...]] = {
    ArrayType: ("element",),
    MultisetType: ("element",),
    MapType: ("key", "value"),
}


def steps_of(type_: DataType) -> list[str]:
    """Return the names of the children of a type in paths, if it has any.

    >>> steps_of(MapType(RowType(), RowType()))
    ['key', 'value']
    """
    if isinstance(type_, RowType):
        return type_.field_names()
    return list(STEPS.get(type(type_), ()))
