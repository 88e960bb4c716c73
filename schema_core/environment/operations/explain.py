"""EXPLAIN: typed plans, those of the engine and details, of queries and statements that write."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from schema_core.environment.operations.create_table_as import TableCreation, table_creation
from schema_core.environment.operations.data import (
    Writing,
    checked_insert,
    persisted,
    require_fit,
    writing_of,
)
from schema_core.environment.operations.plan_ctas import plan_creation
from schema_core.environment.planner import BoundTable
from schema_core.environment.plans.explain_detail import ExplainDetail
from schema_core.environment.plans.plan_tree import sink_node
from schema_core.environment.result import PrintStyle, TableResult, string_result
from schema_core.environment.session import Session, at_span
from schema_core.errors import UnsupportedError
from schema_core.query.relation import Relation
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
    """Return the plans as one row: the typed one, that of the engine, and the details."""
    with at_span(statement.span):
        details = [ExplainDetail[detail] for detail in statement.details]
        plan = explained_text(session, statement.statement, text, details)
    return replace(string_result(["result"], [(plan,)]), style=PrintStyle.RAW)


def explained_text(
    session: Session, statement: Statement, text: str, details: Sequence[ExplainDetail] = ()
) -> str:
    """Return the typed plan of a statement and the plan of the engine, with details.

    Raises:
        UnsupportedError: with code `not-explainable` for a statement without a query.
    """
    match statement:
        case Execute(inner):
            return explained_text(session, inner, text, details)
        case StatementSet(inserts):
            return "\n\n".join(explained_text(session, insert, text, details) for insert in inserts)
        case SelectStatement(query):
            return session.explain(session.query(query, text), details)
        case Insert():
            relation, target = checked_insert(session, statement, text)
            return explained_write(session, relation, target, writing_of(statement), details)
        case CreateTable(query=query) if query is not None:
            relation = session.query(query, text)
            creation = table_creation(session, statement, relation, text)
            session.check_definition(creation.table)
            return explained_creation(session, creation, details)
        case _:
            raise UnsupportedError(
                "EXPLAIN supports only queries, INSERT, statement sets and CREATE TABLE AS",
                code="not-explainable",
            )


def explained_write(
    session: Session,
    relation: Relation,
    target: BoundTable,
    how: Writing,
    details: Iterable[ExplainDetail] = (),
) -> str:
    """Return the plans of a query that is written into a table."""
    chosen = [*require_fit(relation, target, how), *_partition(how)]
    attributes = [
        ("overwrite", "true" if how.overwrite else ""),
        ("partition", ", ".join(f"{key}={value}" for key, value in _partition(how).items())),
        ("onConflict", how.on_conflict or ""),
    ]
    more = [each for each in attributes if each[1]]
    path = target.identifier.as_summary_string()
    return session.explain(relation, details, lambda query: sink_node(path, chosen, query, *more))


def _partition(how: Writing) -> dict[str, str | None]:
    """Return the values of a PARTITION clause."""
    return dict(how.partition.values) if how.partition is not None else {}


def explained_creation(
    session: Session, creation: TableCreation, details: Iterable[ExplainDetail] = ()
) -> str:
    """Return the plan of CREATE TABLE AS, and that of the engine for its query.

    As in Flink it does not matter whether the table exists already: the plan reports it.
    """
    plan = f"== Create table ==\n{plan_creation(session, creation)}"
    path = creation.identifier.as_summary_string()
    columns = persisted(creation.table.resolved_schema)
    return f"{plan}\n\n" + session.explain(
        creation.relation, details, lambda query: sink_node(path, columns, query)
    )
