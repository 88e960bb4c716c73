"""DROP: what is forgotten."""

from __future__ import annotations

from typing import assert_never

from schema_core.catalog.objects import TableKind
from schema_core.environment.result import OK, TableResult
from schema_core.environment.session import Session, placed
from schema_core.sql.statement_syntax import Drop, ObjectKind

#: Kinds of statement -> kinds of table.
TABLES = {
    ObjectKind.TABLE: TableKind.TABLE,
    ObjectKind.VIEW: TableKind.VIEW,
    ObjectKind.MATERIALIZED_TABLE: TableKind.MATERIALIZED_TABLE,
}


def drop(session: Session, statement: Drop, text: str) -> TableResult:
    """Forget an object."""
    with placed(statement.path.span):
        match statement.kind:
            case ObjectKind.TABLE | ObjectKind.VIEW | ObjectKind.MATERIALIZED_TABLE:
                _table(session, statement)
            case ObjectKind.CATALOG:
                session.registry.drop(statement.path.parts[-1], statement.if_exists)
            case ObjectKind.DATABASE:
                _database(session, statement)
            case ObjectKind.FUNCTION:
                _function(session, statement)
            case ObjectKind.MODEL:
                _model(session, statement)
            case _:
                assert_never(statement.kind)
    return OK


def _table(session: Session, statement: Drop) -> None:
    kind, identifier = TABLES[statement.kind], session.identifier(statement.path)
    drop_it = session.tables.drop_temporary if statement.temporary else session.tables.drop
    drop_it(kind, identifier, statement.if_exists)


def _database(session: Session, statement: Drop) -> None:
    catalog, name = session.database(statement.path)
    session.tables.drop_database(catalog, name, statement.if_exists, statement.cascade)


def _function(session: Session, statement: Drop) -> None:
    functions = session.functions
    if statement.system:
        functions.system.drop(statement.path.parts[-1], statement.if_exists)
        return
    identifier = session.identifier(statement.path)
    if statement.temporary:
        functions.temporary.drop(identifier, statement.if_exists)
    else:
        functions.drop(identifier, statement.if_exists)


def _model(session: Session, statement: Drop) -> None:
    identifier = session.identifier(statement.path)
    if statement.temporary:
        session.models.drop_temporary(identifier, statement.if_exists)
    else:
        session.models.drop(identifier, statement.if_exists)
