"""CREATE TABLE: columns of its own, those of another table (LIKE), or those of a query (AS)."""

from __future__ import annotations

from schema_core.catalog.objects import CatalogTable
from schema_core.environment.operations.ctas import create_table_as
from schema_core.environment.operations.definitions import (
    check_sight,
    distribution_of,
    keys_of,
    options_of,
    read_schema,
    with_key_not_null,
)
from schema_core.environment.operations.like import create_table_like
from schema_core.environment.result import OK, TableResult
from schema_core.environment.session import Session
from schema_core.errors import Gathering
from schema_core.schema.unresolved import Schema
from schema_core.sql.statement_syntax import CreateTable


def create_table(session: Session, statement: CreateTable, text: str) -> TableResult:
    """Keep a new table; CREATE TABLE AS also runs the query into it."""
    identifier = session.identifier(statement.path)
    if statement.query is not None:
        return create_table_as(session, statement, statement.query, text)
    if statement.like is not None:
        table = create_table_like(session, statement, statement.like, text)
    else:
        table = plain_table(session, statement, text)
    if statement.temporary:
        session.tables.create_temporary(identifier, table, statement.if_not_exists)
    else:
        session.tables.create(identifier, table, statement.if_not_exists)
    return OK


def plain_table(session: Session, statement: CreateTable, text: str) -> CatalogTable:
    """The table that the statement describes by itself.

    Raises:
        SchemaError: for types that cannot be and columns that are not seen, with what else is wrong
            in the schema behind them.
    """
    found = Gathering()
    schema = read_schema(statement.elements, text, found)
    with found.catching():
        check_sight(schema.columns)
    table = table_of(statement, schema)
    if found.errors:
        with found.catching():
            session.resolve(table)
        found.raise_all()
    return table


def table_of(statement: CreateTable, schema: Schema) -> CatalogTable:
    """A table of the schema, with all else that the statement says."""
    key = schema.primary_key.column_names if schema.primary_key else ()
    return CatalogTable(
        Schema(with_key_not_null(schema.columns, key), schema.watermark_specs, schema.primary_key),
        keys_of(statement.partition_keys),
        options=options_of(statement.options),
        comment=statement.comment,
        distribution=distribution_of(statement.distribution),
    )
