"""SHOW CREATE: the statement that creates an object, with its secrets masked.

Flink does not mask them; `TableEnvironment.get_create_statement` returns the full statement.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import assert_never

from schema_core.base.paths import ObjectIdentifier
from schema_core.base.secrets import mask
from schema_core.base.text import quote_identifier, quote_string
from schema_core.catalog import objects
from schema_core.catalog.managers import FoundTable
from schema_core.catalog.registry import masked_configuration
from schema_core.environment.connector import secret_keys
from schema_core.environment.operations.connections import connection_statement
from schema_core.environment.result import TableResult, string_result
from schema_core.environment.session import Session, at_span
from schema_core.environment.views import QueryView, find_tables
from schema_core.errors import SchemaCoreError, SchemaError, UnsupportedError
from schema_core.mappings.dialects.printer import (
    IN_FULL,
    Masking,
    beyond_sql,
    block,
    column_line,
    comment_clause,
    schema_lines,
    stored_columns,
    stored_line,
    table_clauses,
    with_clause,
)
from schema_core.schema.resolved import ResolvedSchema
from schema_core.sql.parser import parse_query
from schema_core.sql.statement_syntax import ObjectKind, ShowCreate


def show_create(session: Session, statement: ShowCreate, text: str) -> TableResult:
    """Return the statement as one row (`wrong-object-type` for an object of another kind)."""
    with at_span(statement.path.span):
        text = _write_statement(session, statement)
    return string_result(["result"], [(text,)])


def _write_statement(session: Session, statement: ShowCreate) -> str:
    match statement.kind:
        case ObjectKind.TABLE | ObjectKind.VIEW | ObjectKind.MATERIALIZED_TABLE:
            return _table(session, statement)
        case ObjectKind.CATALOG:
            return catalog_statement(session, statement.path.parts[-1])
        case ObjectKind.MODEL:
            return model_statement(session, statement)
        case ObjectKind.CONNECTION:
            return connection_statement(session, statement.path)
        case ObjectKind.DATABASE | ObjectKind.FUNCTION:
            raise SchemaError(f"SHOW CREATE {statement.kind.value} is not supported", code="syntax")
        case _:
            assert_never(statement.kind)


def _table(session: Session, statement: ShowCreate) -> str:
    identifier = session.identifier(statement.path)

    def require_kind(found: objects.TableKind) -> None:
        right = found.value.replace("_", " ")
        if right != statement.kind.value:
            raise SchemaError(
                f"{identifier.as_summary_string()!r} is a {right.lower()}",
                code="wrong-object-type",
                hint=f"write SHOW CREATE {right}",
            )

    text = create_statement(session, identifier, require_kind=require_kind)
    return f"CREATE OR ALTER{text.removeprefix('CREATE')}" if statement.or_alter else text


# --- tables and views ----------------------------------------------------------------------


def create_statement(
    session: Session,
    identifier: ObjectIdentifier,
    *,
    with_secrets: bool = False,
    require_kind: Callable[[objects.TableKind], None] = lambda kind: None,
) -> str:
    """Return the statement of a table or view, from its stored text if it no longer resolves.

    `with_secrets` shows secrets, for programs; `require_kind` is called with the kind of the object
    and raises for an unwanted one. Other errors: `table-not-found`, and those of `table_statement`.
    """
    try:
        found = session.tables.get(identifier)
    except SchemaCoreError:
        stored = session.tables.find_stored(identifier)
        if stored is None:
            raise
        require_kind(stored.get_table_kind())
        masking = IN_FULL if with_secrets else _masking(session, stored)
        return stored_statement(identifier, stored, masking)
    require_kind(found.kind)
    return table_statement(found, IN_FULL if with_secrets else _masking(session, found.table))


def _masking(session: Session, table: objects.CatalogBaseTable) -> Masking:
    """Return a table's masking: the secret keys of its connector and of hinted tables."""
    declared = secret_keys(table.get_options())
    query = getattr(table, "expanded_query", "")
    if "/*+" in query:
        with suppress(SchemaCoreError):  # the query may no longer resolve
            for identifier in find_tables(session.query(parse_query(query), query)):
                declared |= secret_keys(session.tables.get(identifier).table.get_options())
    return Masking(declared)


def table_statement(found: FoundTable, masking: Masking) -> str:
    """Return the statement that creates a table, a view or a materialized table.

    Flink's SQL has no syntax for indexes and immutable columns. With options masked, for people, a
    comment names them, so that their loss shows; a program is refused a statement that would lose
    them (`not-in-sql`), and that of a temporary view without text.
    """
    temporary = "TEMPORARY " if found.is_temporary else ""
    path = found.identifier.as_serializable_string()
    match found.table:
        case objects.ResolvedCatalogTable() as table:
            head = f"CREATE {temporary}TABLE {path} "
            clauses = [
                *_resolved_columns(table.resolved_schema, masking),
                *table_clauses(table, masking),
            ]
        case QueryView(expanded_query=""):
            raise UnsupportedError(
                f"{found.identifier.as_summary_string()} was created from a Table that SQL "
                "cannot express",
                code="not-in-sql",
                hint="read its columns with DESCRIBE",
            )
        case objects.ResolvedCatalogView() as view:
            head = f"CREATE {temporary}VIEW {path} "
            names = [quote_identifier(name) for name in view.resolved_schema.get_column_names()]
            query = masking.query(view.expanded_query)
            clauses = [block(names), *comment_clause(view.comment), f"AS {query}"]
        case objects.ResolvedCatalogMaterializedTable() as materialized:
            head = f"CREATE MATERIALIZED TABLE {path} "
            clauses = [
                *_resolved_columns(materialized.resolved_schema, masking),
                *_materialized_parts(materialized, masking),
                f"AS {masking.query(materialized.expanded_query)}",
            ]
        case _:
            assert_never(found.table)
    return head + "\n".join(clauses) + "\n"


def _resolved_columns(schema: ResolvedSchema, masking: Masking) -> list[str]:
    return [block(schema_lines(schema)), *beyond_sql(schema, masking)]


def _materialized_parts(table: objects.CatalogMaterializedTable, masking: Masking) -> list[str]:
    return [
        *table_clauses(table, masking),
        *([f"START_MODE = {table.start_mode.value}"] if table.start_mode else []),
        *([f"FRESHNESS = {table.freshness}"] if table.freshness else []),
        *([f"REFRESH_MODE = {table.refresh_mode.value}"] if table.refresh_mode else []),
    ]


def stored_statement(
    identifier: ObjectIdentifier, stored: objects.CatalogBaseTable, masking: Masking
) -> str:
    """Return the statement of a permanent table or view whose functions or types are missing.

    Errors are those of `table_statement`.
    """
    path = identifier.as_serializable_string()
    match stored:
        case objects.CatalogTable():
            head = f"CREATE TABLE {path} "
            clauses = [*stored_columns(stored.schema, masking), *table_clauses(stored, masking)]
        case objects.CatalogView():
            head = f"CREATE VIEW {path} "
            names = [quote_identifier(column.name) for column in stored.schema.columns]
            query = masking.query(stored.expanded_query)
            clauses = [block(names), *comment_clause(stored.comment), f"AS {query}"]
        case objects.CatalogMaterializedTable():
            head = f"CREATE MATERIALIZED TABLE {path} "
            clauses = [
                *stored_columns(stored.schema, masking),
                *_materialized_parts(stored, masking),
                f"AS {masking.query(stored.expanded_query)}",
            ]
        case _:
            raise UnsupportedError(
                f"a catalog returned a {type(stored).__name__}", code="wrong-object-type"
            )
    return head + "\n".join(clauses) + "\n"


# --- catalogs and models -------------------------------------------------------------------


def catalog_statement(session: Session, name: str) -> str:
    """Return the statement that creates a catalog."""
    descriptor = session.registry.descriptor(name)
    comment = descriptor.comment
    noted = [] if comment is None else [f"COMMENT {quote_string(comment)}"]
    clauses = [*noted, *with_clause(masked_configuration(descriptor))]
    return "\n".join([f"CREATE CATALOG {quote_identifier(name)}", *clauses]) + "\n"


def model_statement(session: Session, statement: ShowCreate) -> str:
    """Return the statement that creates a model, as stored if the model no longer resolves."""
    identifier = session.identifier(statement.path)
    temporary = "TEMPORARY " if session.models.is_temporary(identifier) else ""
    model: objects.CatalogModel
    try:
        model = resolved = session.models.get(identifier)
        taken = [*map(column_line, resolved.resolved_input_schema.columns)]
        given = [*map(column_line, resolved.resolved_output_schema.columns)]
    except SchemaCoreError:
        stored = session.models.stored(identifier)
        if stored is None:
            raise
        model = stored
        taken = [*map(stored_line, stored.input_schema.columns)]
        given = [*map(stored_line, stored.output_schema.columns)]
    sides = [
        f"{word} ({', '.join(lines)})"
        for word, lines in (("INPUT", taken), ("OUTPUT", given))
        if lines
    ]
    clauses = [*sides, *comment_clause(model.comment), *with_clause(mask(model.options))]
    head = f"CREATE {temporary}MODEL {identifier.as_serializable_string()}"
    return "\n".join([head, *clauses]) + "\n"
