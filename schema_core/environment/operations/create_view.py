"""CREATE VIEW."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from schema_core.base.paths import ObjectIdentifier
from schema_core.catalog import objects
from schema_core.environment.result import OK, TableResult
from schema_core.environment.session import Session, at_span
from schema_core.errors import AlreadyExistsError, SchemaError
from schema_core.mappings.dialects.definitions import options_of
from schema_core.query.relation import Columns
from schema_core.schema.resolved import ResolvedSchema
from schema_core.schema.unresolved import unresolve
from schema_core.sql.printer import print_query
from schema_core.sql.statement_syntax import CreateView
from schema_core.sql.syntax import Name, Query


def create_view(session: Session, statement: CreateView, text: str) -> TableResult:
    """Create a view (`table-exists`); OR REPLACE replaces nothing, as in Flink."""
    identifier = session.identifier(statement.path)
    with session.keep_tables():
        return _create_view(session, identifier, statement, text)


def _create_view(
    session: Session, identifier: ObjectIdentifier, statement: CreateView, text: str
) -> TableResult:
    view = view_of(session, statement.query, text, statement.columns)
    view = replace(view, comment=statement.comment, options=options_of(statement.options))
    with at_span(statement.path.span):
        create = session.tables.create_temporary if statement.temporary else session.tables.create
        try:
            create(identifier, view, statement.if_not_exists)
        except AlreadyExistsError as error:
            error.hint = error.hint or "to give a view another query write ALTER VIEW ... AS"
            raise
    return OK


def view_of(
    session: Session, query: Query, text: str | None, names: Sequence[Name] = ()
) -> objects.ResolvedCatalogView:
    """Return the view of a query with the given column names.

    Codes: `column-count-mismatch`, `duplicate-column`.
    """
    relation, expand = session.resolve_expandable(query, text)
    schema = _name_columns(relation.columns, names)
    return objects.ResolvedCatalogView(
        unresolve(schema),
        print_query(query),
        print_query(expand()),
        resolved_schema=schema,
    )


def _name_columns(columns: Columns, names: Sequence[Name]) -> ResolvedSchema:
    chosen = [".".join(name.parts) for name in names] or [column.name for column in columns]
    if len(chosen) != len(columns):
        raise SchemaError(
            f"the query returns {len(columns)} columns, but {len(chosen)} are named",
            code="column-count-mismatch",
            span=names[0].span.to(names[-1].span),
        )
    seen: set[str] = set()
    for position, name in enumerate(chosen):
        if name in seen:
            raise SchemaError(
                f"duplicate column {name!r} of the view",
                code="duplicate-column",
                span=names[position].span if names else None,
                hint="name the columns after the name of the view, or in the query with AS",
            )
        seen.add(name)
    return ResolvedSchema.physical(chosen, [column.type for column in columns])
