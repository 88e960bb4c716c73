"""ALTER VIEW."""

from __future__ import annotations

from dataclasses import replace

from schema_core.catalog import objects
from schema_core.environment.operations.alter_table import rename_table
from schema_core.environment.operations.create_view import view_of
from schema_core.environment.result import OK, TableResult
from schema_core.environment.session import Session, at_span
from schema_core.errors import UnsupportedError
from schema_core.mappings.dialects.definitions import options_of
from schema_core.sql.statement_syntax import Alter, RenameTo, SetOptions, SetQuery


def alter_view(session: Session, statement: Alter, text: str) -> TableResult:
    """Rename a view or replace its query."""
    identifier = session.identifier(statement.path)
    with at_span(statement.path.span):
        old = session.tables.find_alterable(objects.TableKind.VIEW, identifier, statement.if_exists)
    if not isinstance(old, objects.CatalogView):
        return OK
    match statement.change:
        case RenameTo(path):
            rename_table(session, identifier, path)
        case SetQuery(query):
            with session.keep_tables():
                view = view_of(session, query, text)
                changed = replace(view, options=old.options, comment=old.comment)
                session.tables.alter(identifier, changed, expected=old)
        case SetOptions(options):
            merged = {**old.options, **options_of(options)}
            session.tables.alter(identifier, session.read(old).copy(merged), expected=old)
        case _:
            raise UnsupportedError(
                f"ALTER VIEW does not support {type(statement.change).__name__}",
                code="feature-not-supported",
            )
    return OK
