"""EXPLAIN: the plan of the engine for a query, an INSERT or CREATE TABLE AS."""

from __future__ import annotations

from schema_core.environment.operations.create_table_as import table_creation
from schema_core.environment.operations.data import checked_insert
from schema_core.environment.result import TableResult, string_result
from schema_core.environment.session import Session, at_span
from schema_core.errors import UnsupportedError
from schema_core.query.relation import Relation
from schema_core.sql.statement_syntax import (
    CreateTable,
    Explain,
    Insert,
    SelectStatement,
    Statement,
)


def explain(session: Session, statement: Explain, text: str) -> TableResult:
    """Return the plan of the engine as one row."""
    with at_span(statement.span):
        return string_result(["result"], [(explained_text(session, statement.statement, text),)])


def explained_text(session: Session, statement: Statement, text: str) -> str:
    """Return the plan of the engine for a statement.

    Raises:
        UnsupportedError: with code `not-explainable` for a statement without a query.
    """
    return session.explain(query_in(session, statement, text))


def query_in(session: Session, statement: Statement, text: str) -> Relation:
    """Return the query of a statement to explain; that of an INSERT is checked against its target.

    The table of CREATE TABLE AS is checked, but as in Flink not whether it exists already.

    Raises:
        UnsupportedError: with code `not-explainable` for a statement without one.
    """
    match statement:
        case SelectStatement(query):
            return session.query(query, text)
        case Insert():
            return checked_insert(session, statement, text)[0]
        case CreateTable(query=query) if query is not None:
            relation = session.query(query, text)
            session.check_definition(table_creation(session, statement, relation, text).table)
            return relation
        case _:
            raise UnsupportedError(
                "EXPLAIN supports only queries, INSERT and CREATE TABLE AS", code="not-explainable"
            )
