"""EXPLAIN: typed plans, the engine's plans and details, of queries and writing statements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

from schema_core.base.paths import ObjectIdentifier
from schema_core.base.secrets import mask_urls, without_secrets
from schema_core.catalog.api import Capability
from schema_core.environment.connector import secret_keys
from schema_core.environment.operations.conflicts import conflict_action
from schema_core.environment.operations.create_table_as import TableCreation, derive_creation
from schema_core.environment.operations.data import (
    Writing,
    check_insert,
    persisted_columns,
    require_fit,
)
from schema_core.environment.operations.plan_ctas import plan_creation
from schema_core.environment.operations.streaming_sinks import require_consumed_updates
from schema_core.environment.planner import BoundTable, SupportsChangelogs
from schema_core.environment.plans.changelog_mode import ChangelogMode
from schema_core.environment.plans.explain_detail import ExplainDetail
from schema_core.environment.plans.plan_text import PlanText, join_plans
from schema_core.environment.plans.plan_tree import (
    ChangesOf,
    PlanNode,
    plan_node,
    sink_node,
    tree_json,
    tree_text,
)
from schema_core.environment.result import PrintStyle, TableResult, string_result
from schema_core.environment.session import Session, at_span
from schema_core.environment.views import find_tables
from schema_core.errors import NotFoundError, UnsupportedError
from schema_core.query.relation import Relation
from schema_core.sql import statement_syntax


def explain_query(
    session: Session,
    relation: Relation,
    details: Iterable[ExplainDetail] = (),
    sink: Callable[[PlanNode], PlanNode] = lambda query: query,
    on_conflict: str | None = None,
) -> PlanText:
    """Return the typed plan of a query and the engine's, with secrets of tables masked.

    `details` are explained beside the plans; `sink` returns the plan of the sink, which resolves
    conflicts by the action `on_conflict`.
    """
    executable, planner = session.executable(relation), session.planner
    tables = find_tables(executable)
    wanted, plan = set(details), planner.explain(executable, on_conflict=on_conflict)
    changes: ChangesOf | None = None
    if ExplainDetail.CHANGELOG_MODE in wanted and isinstance(planner, SupportsChangelogs):
        changes = planner.changelog_modes(executable)
    elif ExplainDetail.CHANGELOG_MODE in wanted:
        changes = _insert_only
    root = sink(plan_node(executable, changes))
    parts = [f"== Abstract Syntax Tree ==\n{tree_text(root)}", plan]
    if ExplainDetail.ESTIMATED_COST in wanted:
        costs = [_describe_cost(session, identifier) for identifier in sorted(tables, key=str)]
        parts.append("== Estimated Cost ==\n" + ("\n".join(costs) or "no tables are read"))
    if ExplainDetail.PLAN_ADVICE in wanted:
        parts.append("== Plan Advice ==\nNo available advice.")
    if ExplainDetail.JSON_EXECUTION_PLAN in wanted:
        parts.append(f"== Physical Execution Plan ==\n{tree_json(root)}")
    text = "\n\n".join(parts)
    for identifier in tables:
        options = session.get_table(identifier).table.get_options()
        text = without_secrets(text, options, secret_keys(options))
    return PlanText(mask_urls(text))


def _insert_only(_: Relation) -> ChangelogMode:
    return ChangelogMode.insert_only()


def _describe_cost(session: Session, identifier: ObjectIdentifier) -> str:
    """Return a table's number of rows, if its catalog has statistics."""
    rows = "no statistics"
    catalog = session.registry.find(identifier.catalog_name)
    is_permanent = identifier not in session.temporary.tables
    if catalog and is_permanent and Capability.STATISTICS in catalog.capabilities:
        with suppress(NotFoundError):
            statistics = catalog.get_table_statistics(identifier.to_object_path())
            if statistics.row_count >= 0:
                rows = f"{statistics.row_count:,} rows"
    return f"{identifier.as_summary_string()}: {rows}"


def explain(session: Session, statement: statement_syntax.Explain, text: str) -> TableResult:
    """Return the plans as one row: the typed one, the engine's, and the details."""
    with at_span(statement.span):
        details = [ExplainDetail[detail] for detail in statement.details]
        plan = explain_statement(session, statement.statement, text, details)
    return replace(string_result(["result"], [(plan,)]), style=PrintStyle.RAW)


def explain_statement(
    session: Session,
    statement: statement_syntax.Statement,
    text: str,
    details: Sequence[ExplainDetail] = (),
) -> PlanText:
    """Return the typed plan of a statement and the engine's (else `feature-not-supported`)."""
    match statement:
        case statement_syntax.Execute(inner):
            return explain_statement(session, inner, text, details)
        case statement_syntax.StatementSet(inserts):
            return join_plans(
                explain_statement(session, insert, text, details) for insert in inserts
            )
        case statement_syntax.SelectStatement(query):
            return explain_query(session, session.query(query, text), details)
        case statement_syntax.Insert():
            relation, target = check_insert(session, statement, text)
            return explain_write(session, relation, target, Writing.of(statement), details)
        case statement_syntax.CreateTable(query=query) if query is not None:
            relation = session.query(query, text)
            creation = derive_creation(session, statement, relation, text)
            session.check_definition(creation.table)
            return explain_creation(session, creation, details)
        case _:
            raise UnsupportedError(
                "EXPLAIN supports only queries, INSERT, statement sets and CREATE TABLE AS",
                code="feature-not-supported",
            )


def explain_write(
    session: Session,
    relation: Relation,
    target: BoundTable,
    how: Writing,
    details: Iterable[ExplainDetail] = (),
) -> PlanText:
    """Return the plans of a query that is written into a table."""
    names = require_fit(relation, target, how)
    action = conflict_action(session, relation, target, names, how.on_conflict)
    chosen = [*names, *_partition(how)]
    attributes = [
        ("overwrite", "true" if how.overwrite else ""),
        ("partition", ", ".join(f"{key}={value}" for key, value in _partition(how).items())),
        ("onConflict", how.on_conflict or ""),
    ]
    more = [each for each in attributes if each[1]]
    path = target.identifier.as_summary_string()
    return explain_query(
        session, relation, details, lambda query: sink_node(path, chosen, query, *more), action
    )


def _partition(how: Writing) -> dict[str, str | None]:
    return dict(how.partition.values) if how.partition is not None else {}


def explain_creation(
    session: Session, creation: TableCreation, details: Iterable[ExplainDetail] = ()
) -> PlanText:
    """Return the plan of CREATE TABLE AS, and the engine's plan of its query.

    As in Flink an existing table is not an error: the plan reports it.
    """
    require_consumed_updates(
        session, creation.relation, session.bind_table(creation.identifier, creation.table)
    )
    plan = f"== Create table ==\n{plan_creation(session, creation)}"
    path = creation.identifier.as_summary_string()
    columns = persisted_columns(creation.table.resolved_schema)
    query_plan = explain_query(
        session, creation.relation, details, lambda query: sink_node(path, columns, query)
    )
    return join_plans((plan, query_plan))
