"""The plan of CREATE TABLE AS: target schema, level, visibility, losses and problems."""

from __future__ import annotations

from schema_core.catalog.objects import CatalogTable, ResolvedCatalogTable
from schema_core.environment.connector import (
    Connector,
    DynamicTableFactory,
    Visibility,
    check_metadata,
    find_connector,
    secret_keys,
    using,
    validate,
)
from schema_core.environment.jobs.atomicity import (
    AtomicityLevel,
    choose_level,
    is_atomic,
    visibility_of,
)
from schema_core.environment.operations.create_table_as import (
    TableCreation,
    check_existing,
    placed,
    table_creation,
)
from schema_core.environment.operations.data import check_assignment
from schema_core.environment.options import masked
from schema_core.environment.planner import BoundTable
from schema_core.environment.plans.ctas_plan import CtasPlan, SinkLoss, SupportsSinkCheck
from schema_core.environment.session import Session
from schema_core.errors import Diagnostic, Gathering, SchemaCoreError, UnsupportedError
from schema_core.query.relation import result_columns
from schema_core.sql.parser import parse_statement
from schema_core.sql.statement_syntax import CreateTable, Explain

#: The loss if the connector cannot clean up after a failed job.
ROWS_STAY = SinkLoss(
    ("failed jobs",),
    "rows that were written",
    "",
    "the table is dropped, but the connector cannot remove them",
)
#: The reason for the level of IF NOT EXISTS on a table that exists.
INSERTS = "IF NOT EXISTS writes into the table that exists: what is written is an INSERT"


def plan_statement(session: Session, text: str) -> CtasPlan:
    """Return the plan of a CREATE TABLE AS or REPLACE TABLE AS.

    Raises:
        ParseError: for a string outside the grammar.
        UnsupportedError: with code `not-explainable` for another statement.
        SchemaError: for a query or a schema that does not resolve.
    """
    statement = parse_statement(text)
    if isinstance(statement, Explain):
        statement = statement.statement
    if not isinstance(statement, CreateTable) or statement.query is None:
        raise UnsupportedError(
            "only CREATE TABLE AS and REPLACE TABLE AS have such a plan",
            code="not-explainable",
            hint="use explain_sql for queries and INSERT",
        )
    relation = session.query(statement.query, text)
    return plan_creation(session, table_creation(session, statement, relation, text))


def plan_creation(session: Session, creation: TableCreation) -> CtasPlan:
    """Return the plan of a statement whose query and schema are resolved."""
    identifier, statement = creation.identifier, creation.statement
    options = session.config.get_configuration()
    old = session.tables.read_or_stored(identifier)
    found = Gathering()
    with found.catching():
        check_existing(session, statement, identifier, old)
    atomic = False
    with found.catching():
        atomic = is_atomic(options)
    table, action = creation.table, "create"
    if old is not None and statement.if_not_exists and isinstance(old, ResolvedCatalogTable):
        table, action = old, "insert"
        with found.catching():
            check_assignment(result_columns(creation.relation), old.resolved_schema)
    elif old is not None and (statement.or_replace or not statement.create):
        action = "replace"
    target = BoundTable(identifier, table)
    if action == "insert" and isinstance(old, ResolvedCatalogTable):
        target = session.bound(identifier)
    with found.catching():
        if action != "insert":
            target = BoundTable(identifier, placed(session, identifier, table)[1])
    with found.catching():
        session.check_definition(table, old if action == "replace" else None)
    connector = _checked_connector(target, found)
    replaces, creates = action == "replace", action != "insert"
    unbounded = session.unbounded(creation.relation)
    chosen = choose_level(
        connector, target.table.options, atomic=atomic, replaces=replaces, unbounded=unbounded
    )
    level, reasons = chosen.level, chosen.reasons
    if action == "insert":
        level, reasons = AtomicityLevel.CREATED_FIRST, (INSERTS,)
    replaced = old if replaces and isinstance(old, CatalogTable) else None
    problems, losses = _checked_by_planner(session, creation, target, replaced, connector)
    if level is AtomicityLevel.ROLLED_BACK and not hasattr(connector, "clean_up"):
        losses = (*losses, ROWS_STAY)
    known = {(error.code, error.problem) for error in found.errors}
    return CtasPlan(
        identifier=identifier,
        action=action,
        schema=table.resolved_schema,
        partition_keys=tuple(table.partition_keys),
        options=masked(table.options, secret_keys(table.options)),
        exists=old is not None,
        level=level,
        reasons=reasons,
        visibility=_visibility(connector, target, creates=creates, streams=unbounded is not None),
        losses=losses,
        problems=(
            *(error.diagnostics[0] for error in found.errors),
            *(problem for problem in problems if (problem.code, problem.message) not in known),
        ),
    )


def _visibility(
    connector: Connector | None, target: BoundTable, *, creates: bool, streams: bool
) -> Visibility | None:
    """Return when rows become visible, None for a connector that is not installed."""
    if connector is None:
        return None
    return visibility_of(connector, target.table.options, creates=creates, streams=streams)


def _checked_connector(target: BoundTable, found: Gathering) -> Connector | None:
    """Return the connector of a table, if it is installed; collect all errors of its options."""
    options = target.table.options
    try:
        with using(target.identifier, options, "write"):
            connector = find_connector(options)
    except SchemaCoreError as error:
        found.add(error)
        return None
    own = Gathering()
    with found.catching(), using(target.identifier, options, "write"):
        with own.catching():
            validate(connector, options)
        if not connector.can_write:
            own.add(
                UnsupportedError(
                    f"the connector {connector.identifier!r} cannot write tables",
                    code="unsupported-direction",
                )
            )
        if not isinstance(connector, DynamicTableFactory):
            with own.catching():
                check_metadata(connector, target.table, "write")
        own.raise_all()
    return connector


def _checked_by_planner(
    session: Session,
    creation: TableCreation,
    target: BoundTable,
    replaced: CatalogTable | None,
    connector: Connector | None,
) -> tuple[tuple[Diagnostic, ...], tuple[SinkLoss, ...]]:
    """Return what the planner reports on the write; nothing without a connector."""
    try:
        planner = session.planner
    except SchemaCoreError as error:  # no such planner is installed
        return error.diagnostics, ()
    if connector is None or not isinstance(planner, SupportsSinkCheck):
        return (), ()
    problems = planner.sink_problems(creation.relation, target, replaced)
    return tuple(problems), tuple(planner.sink_losses(creation.relation, target))
