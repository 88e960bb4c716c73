"""CREATE TABLE; with LIKE or AS, `create_table_like` and `create_table_as` derive the table."""

from __future__ import annotations

from schema_core.catalog.objects import CatalogTable
from schema_core.environment.jobs.pending import PendingTable
from schema_core.environment.result import OK, TableResult
from schema_core.environment.session import Session
from schema_core.errors import AlreadyExistsError, Gathering
from schema_core.mappings.dialects.definitions import check_sight, read_schema, table_of
from schema_core.sql.statement_syntax import CreateTable


def create_table(session: Session, statement: CreateTable, text: str) -> TableResult:
    """Create a table; CREATE TABLE AS also writes the query into it."""
    identifier = session.identifier(statement.path)
    if statement.query is not None:
        from schema_core.environment.operations import create_table_as  # imports all about jobs

        relation = session.query(statement.query, text)
        creation = create_table_as.derive_creation(session, statement, relation, text)
        return create_table_as.create_table_as(session, creation)
    history = None
    if statement.like is not None:
        from schema_core.environment.operations import create_table_like

        table = create_table_like.create_table_like(session, statement, statement.like, text)
        history = create_table_like.source_history(session, statement.like, table)
    else:
        table = read_table(session, statement, text)
    if statement.temporary:
        session.tables.create_temporary(identifier, table, statement.if_not_exists, history)
    else:
        if PendingTable(session.tables, identifier).job() is not None:
            from schema_core.environment.jobs import recovery  # few tables have a pending job

            recovery.finish(session, identifier)
        try:
            session.tables.create(identifier, table, statement.if_not_exists, history)
        except AlreadyExistsError as error:
            if statement.or_replace and error.hint is None:
                error.hint = (
                    "OR REPLACE replaces a table only in CREATE OR REPLACE TABLE ... AS SELECT; "
                    "drop the table first"
                )
            raise
    return OK


def read_table(session: Session, statement: CreateTable, text: str) -> CatalogTable:
    """Return the table that the statement describes without LIKE and AS.

    Invalid types and columns out of sight are raised with all other errors in the schema.
    """
    problems = Gathering()
    schema = read_schema(statement.elements, text, problems)
    with problems.catching():
        check_sight(schema.columns)
    table = table_of(statement, schema)
    if problems.errors:
        with problems.catching():
            session.resolve(table)
        problems.raise_all()
    return table
