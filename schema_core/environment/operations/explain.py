"""EXPLAIN: the plan of the engine for queries, INSERT, statement sets and CREATE TABLE AS."""

from __future__ import annotations

from dataclasses import replace

from schema_core.environment.operations.create_table_as import TableCreation, table_creation
from schema_core.environment.operations.data import checked_insert
from schema_core.environment.operations.plan_ctas import plan_creation
from schema_core.environment.result import PrintStyle, TableResult, string_result
from schema_core.environment.session import Session, at_span
from schema_core.errors import UnsupportedError
from schema_core.sql.statement_syntax import (
    CreateTable,
    Execute,
    Explain,
    Insert,
    SelectStatement,
    Statement,
    StatementSet,
)


def explain(session: Session, statement: Explain, text: str) -> TableResult:
    """Return the plan of the engine as one row."""
    with at_span(statement.span):
        plan = explained_text(session, statement.statement, text)
    return replace(string_result(["result"], [(plan,)]), style=PrintStyle.RAW)


def explained_text(session: Session, statement: Statement, text: str) -> str:
    """Return the plan of the engine for a statement.

    Raises:
        UnsupportedError: with code `not-explainable` for a statement without a query.
    """
    match statement:
        case Execute(inner):
            return explained_text(session, inner, text)
        case StatementSet(inserts):
            return "\n\n".join(explained_text(session, one, text) for one in inserts)
        case SelectStatement(query):
            return session.explain(session.query(query, text))
        case Insert():
            return session.explain(checked_insert(session, statement, text)[0])
        case CreateTable(query=query) if query is not None:
            relation = session.query(query, text)
            creation = table_creation(session, statement, relation, text)
            session.check_definition(creation.table)
            return explained_creation(session, creation)
        case _:
            raise UnsupportedError(
                "EXPLAIN supports only queries, INSERT, statement sets and CREATE TABLE AS",
                code="not-explainable",
            )


def explained_creation(session: Session, creation: TableCreation) -> str:
    """Return the plan of CREATE TABLE AS, and that of the engine for its query.

    As in Flink it does not matter whether the table exists already: the plan reports it.
    """
    plan = f"== Create table ==\n{plan_creation(session, creation)}"
    return f"{plan}\n\n{session.explain(creation.relation)}"
