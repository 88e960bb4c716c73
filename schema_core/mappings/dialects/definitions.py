"""Conversion of the syntax of definitions to schemas, options and distributions, with spans."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from sys import intern
from typing import Any

from schema_core.catalog.objects import CatalogTable, DistributionKind, TableDistribution
from schema_core.catalog.own_options import require_no_own_options
from schema_core.errors import Gathering, ParseError, SchemaError, at, similar
from schema_core.schema import columns as schema_columns
from schema_core.schema.rules import WRONG
from schema_core.schema.unresolved import Schema
from schema_core.sql import statement_syntax, syntax
from schema_core.sql.printer import print_expression
from schema_core.sql.type_name import data_type


def store_expression(expression: syntax.Expression, text: str) -> schema_columns.SqlExpression:
    """Return an expression of the statement as schemas store it.

    Raises:
        ParseError: with code `feature-not-supported`.
    """
    for part in parts_of(expression):
        if isinstance(part, syntax.Subquery):
            raise ParseError(
                "a column cannot be computed by a query",
                code="feature-not-supported",
                span=part.span,
            )
    return schema_columns.SqlExpression(print_expression(expression), expression, text)


def column_of(column: statement_syntax.Column, text: str) -> schema_columns.UnresolvedColumn:
    """Return a column of a statement as schemas store it."""
    match column:
        case statement_syntax.PhysicalColumn(name, type_, comment, span):
            return schema_columns.UnresolvedPhysicalColumn(
                intern(name), data_type(type_, as_cast=False), comment, span
            )
        case statement_syntax.ComputedColumn(name, expression, comment, span):
            return schema_columns.UnresolvedComputedColumn(
                name, store_expression(expression, text), comment, span
            )
        case statement_syntax.MetadataColumn(name, type_, key, virtual, comment, span):
            type_of = data_type(type_, as_cast=False)
            return schema_columns.UnresolvedMetadataColumn(
                name, type_of, key, virtual, comment, span
            )


def watermark_of(
    watermark: statement_syntax.Watermark, text: str
) -> schema_columns.UnresolvedWatermarkSpec:
    """Return a watermark of a statement as schemas store it.

    Raises:
        SchemaError: with code `unknown-column` for a nested field, as in Flink.
    """
    column = watermark.column
    name = ".".join(column.parts)
    if len(column.parts) > 1:
        raise SchemaError(f"there is no column {name!r}", code="unknown-column", span=column.span)
    return schema_columns.UnresolvedWatermarkSpec(
        name, store_expression(watermark.expression, text), watermark.span
    )


def primary_key_of(constraint: statement_syntax.Constraint) -> schema_columns.UnresolvedPrimaryKey:
    """Return a primary key; the default name is ``PK_`` followed by its columns."""
    columns = tuple(".".join(column.parts) for column in constraint.columns)
    name = constraint.name or "_".join(("PK", *columns))
    return schema_columns.UnresolvedPrimaryKey(name, columns, constraint.span)


def schema_of(elements: statement_syntax.Elements, text: str) -> Schema:
    """Return the schema that the parentheses after a table's name declare.

    Raises:
        SchemaError: for all invalid types at once.
    """
    errors = Gathering()
    schema = read_schema(elements, text, errors)
    errors.raise_all()
    return schema


def read_schema(elements: statement_syntax.Elements, text: str, errors: Gathering) -> Schema:
    """Return the schema and gather errors; a column with an invalid type has the type `WRONG`."""
    columns: list[schema_columns.UnresolvedColumn] = []
    for column in elements.columns:
        columns.append(
            schema_columns.UnresolvedPhysicalColumn(column.name, WRONG, span=column.span)
        )
        with errors.catching(), at(f"column {column.name!r}", column.span):
            columns[-1] = column_of(column, text)
    watermark = elements.watermark
    keys = [primary_key_of(constraint) for constraint in elements.constraints]
    return Schema(
        tuple(columns),
        (watermark_of(watermark, text),) if watermark else (),
        keys[0] if keys else None,
    )


def with_key_not_null(
    columns: Iterable[schema_columns.UnresolvedColumn], names: Collection[str]
) -> tuple[schema_columns.UnresolvedColumn, ...]:
    """Return the columns; those of the primary key become NOT NULL, as SQL requires."""
    return tuple(
        make_not_null(column)
        if isinstance(column, schema_columns.UnresolvedPhysicalColumn) and column.name in names
        else column
        for column in columns
    )


def make_not_null(
    column: schema_columns.UnresolvedPhysicalColumn,
) -> schema_columns.UnresolvedPhysicalColumn:
    """Return the column as NOT NULL, with a nullable declared type recorded."""
    type_ = column.data_type
    if isinstance(type_, str) or type_ == type_.not_null():
        return column
    return replace(column, data_type=type_.not_null(), declared=type_)


def check_sight(
    columns: Iterable[schema_columns.UnresolvedColumn], hidden: Collection[str] = ()
) -> None:
    """Refuse a computed column that reads a column which it cannot see.

    It sees all physical columns, but only the metadata columns before it, and of a LIKE source only
    the physical columns (`hidden` names the others).

    Raises:
        SchemaError: with code `unknown-column`.
    """
    declared = list(columns)
    visible = {
        other.name
        for other in declared
        if isinstance(other, schema_columns.UnresolvedPhysicalColumn)
    }
    every = {other.name for other in declared} | set(hidden)
    for column in declared:
        if (
            isinstance(column, schema_columns.UnresolvedMetadataColumn)
            and column.name not in hidden
        ):
            visible.add(column.name)
        if isinstance(column, schema_columns.UnresolvedComputedColumn) and (
            unseen := every - visible
        ):
            check_names(column, unseen)


def check_names(column: schema_columns.UnresolvedComputedColumn, unseen: Collection[str]) -> None:
    """Refuse a computed column that reads one of these columns.

    Raises:
        SchemaError: with code `unknown-column`.
    """
    if (
        not isinstance(column.expression, schema_columns.SqlExpression)
        or column.expression.syntax is None
    ):
        return
    for name in names_in(column.expression.syntax):
        if name.parts[0] in unseen:
            raise SchemaError(
                f"column {column.name!r} cannot refer to column {name.parts[0]!r}",
                code="unknown-column",
                span=name.span,
                text=column.expression.source,
                hint="refer to physical columns, or to metadata columns declared before it",
            )


def names_in(node: Any) -> Iterator[syntax.Name]:
    """Yield every column name in an expression.

    >>> from schema_core.sql.parser import parse_expression
    >>> [name.parts for name in names_in(parse_expression("a + UPPER(b.c)"))]
    [('a',), ('b', 'c')]
    """
    return (part for part in parts_of(node) if isinstance(part, syntax.Name))


def parts_of(node: Any) -> Iterator[Any]:
    """Yield an expression and its descendants from left to right, but not into queries."""
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, tuple):
            waiting += reversed(part)
        elif names := _fields(part.__class__):
            yield part
            if not isinstance(part, syntax.Subquery):
                waiting += [getattr(part, name) for name in names]


@lru_cache(maxsize=256)
def _fields(kind: Any) -> tuple[str, ...]:
    """Return the fields of a node from the last to the first; none for what is not a node."""
    return tuple(field.name for field in reversed(fields(kind))) if is_dataclass(kind) else ()


def options_of(options: Iterable[statement_syntax.Option]) -> dict[str, str]:
    """Return options by key; the last value of a key counts.

    Raises:
        SchemaError: with code `reserved-option`.
    """
    result = {}
    for option in options:
        require_no_own_options([option.key], span=option.span)
        result[option.key] = option.value
    return result


def distribution_of(distribution: statement_syntax.Distribution | None) -> TableDistribution | None:
    """Return a distribution as catalogs store it."""
    if distribution is None:
        return None
    keys = (".".join(key.parts) for key in distribution.keys)
    kind = DistributionKind[distribution.kind]
    return TableDistribution.of(kind, distribution.buckets, keys)


def table_with(statement: statement_syntax.CreateTable, schema: Schema) -> CatalogTable:
    """Return the table of a statement with this schema and its other clauses."""
    return CatalogTable(
        schema,
        keys_of(statement.partition_keys),
        options=options_of(statement.options),
        comment=statement.comment,
        distribution=distribution_of(statement.distribution),
    )


def table_of(statement: statement_syntax.CreateTable, schema: Schema) -> CatalogTable:
    """Return the table of a statement; columns of the key become NOT NULL."""
    key = schema.primary_key.column_names if schema.primary_key else ()
    columns = with_key_not_null(schema.columns, key)
    return table_with(statement, replace(schema, columns=columns))


def keys_of(names: Iterable[syntax.Name]) -> tuple[str, ...]:
    """Return names of columns."""
    return tuple(".".join(name.parts) for name in names)


def require(names: Iterable[syntax.Name], allowed: Collection[str], what: str) -> None:
    """Refuse names that are not allowed.

    Raises:
        SchemaError: with code `unknown-column`.
    """
    for name in names:
        if ".".join(name.parts) not in allowed:
            raise SchemaError(
                f"{what} {'.'.join(name.parts)!r} is not a column of the table",
                code="unknown-column",
                span=name.span,
                hint=similar(".".join(name.parts), allowed),
            )
