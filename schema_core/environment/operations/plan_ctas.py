"""The plan of CREATE TABLE AS: target schema, level, visibility, losses and problems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from schema_core.base.lazy import dataclass
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
    derive_creation,
    find_replaced,
    place_table,
)
from schema_core.environment.operations.data import check_assignment
from schema_core.environment.options import mask_options
from schema_core.environment.planner import BoundTable
from schema_core.environment.session import Session
from schema_core.environment.unbounded import find_unbounded_table
from schema_core.errors import Diagnostic, Gathering, SchemaCoreError, UnsupportedError
from schema_core.query.relation import result_columns
from schema_core.sql.parser import parse_statement
from schema_core.sql.statement_syntax import CreateTable, Explain

if TYPE_CHECKING:
    from schema_core.base.paths import ObjectIdentifier
    from schema_core.catalog.objects import CatalogTable
    from schema_core.environment.planner import BoundTable
    from schema_core.errors import Diagnostic
    from schema_core.query.relation import Relation
    from schema_core.schema.resolved import ResolvedSchema

#: Level -> what remains of a failed, cancelled or killed job.
GUARANTEES: Mapping[AtomicityLevel, str] = {
    AtomicityLevel.CREATED_FIRST: "the table is created before the job and stays if the job fails",
    AtomicityLevel.ROLLED_BACK: "the table is created before the job and dropped if the job fails",
    AtomicityLevel.ISOLATED: "neither the table nor a row is visible before the job has finished",
}

#: Visibility -> what a reader sees while the job runs.
READERS: Mapping[Visibility, str] = {
    Visibility.WRITE_VISIBLE: "rows are visible as they are written, also those of a failed job",
    Visibility.INCREMENTAL: "rows become visible a part at a time, also those of a failed job",
    Visibility.FINAL: "rows become visible when the job has finished, or never",
}


@dataclass(frozen=True, slots=True)
class SinkLoss:
    """What a table does not keep of the rows or the schema of the query.

    Attributes:
        path: The names of the column and its nested fields, or of a part of the schema.
        source: What the query or the statement has.
        target: What is stored instead, or an empty string.
        meaning: The effect on the rows or on readers.
        changes_values: Whether values are changed without an error.
    """

    path: tuple[str, ...]
    source: str
    target: str
    meaning: str
    changes_values: bool = False

    def __str__(self) -> str:
        becomes = f" becomes {self.target}" if self.target else ""
        return f"{'.'.join(self.path)}: {self.source}{becomes} ({self.meaning})"


@runtime_checkable
class SupportsSinkCheck(Protocol):
    """A planner that reports on a write before it runs."""

    def sink_problems(
        self, query: Relation, target: BoundTable, replaced: CatalogTable | None
    ) -> Sequence[Diagnostic]:
        """Return why CREATE or REPLACE TABLE AS would be refused; nothing is run."""

    def sink_losses(self, query: Relation, target: BoundTable) -> Sequence[SinkLoss]:
        """Return what the table would not keep of the rows of a query."""


@dataclass(frozen=True, slots=True)
class CtasPlan:
    """The effects, guarantees and losses of a CREATE or REPLACE TABLE AS (FLIP-218).

    `TableEnvironment.plan_ctas` and `TablePipeline.plan_ctas` return it; nothing was run.

    Attributes:
        identifier: The path of the table.
        action: ``create``, ``replace``, or ``insert`` for IF NOT EXISTS on a table that exists.
        schema: The schema of the table afterwards.
        partition_keys: Its partition keys.
        options: Its options, secrets masked.
        exists: Whether the path is taken already.
        level: What remains of a job that fails.
        reasons: Why the level is not higher, one reason for each unmet condition.
        visibility: When readers see the rows; None if the connector is unknown.
        losses: What the table does not keep.
        problems: Why the statement would be refused now; empty if it would run.
    """

    identifier: ObjectIdentifier
    action: str
    schema: ResolvedSchema
    partition_keys: tuple[str, ...]
    options: Mapping[str, str] = field(repr=False)
    exists: bool
    level: AtomicityLevel
    reasons: tuple[str, ...] = ()
    visibility: Visibility | None = None
    losses: tuple[SinkLoss, ...] = ()
    problems: tuple[Diagnostic, ...] = ()

    @property
    def is_executable(self) -> bool:
        """Whether the statement would run."""
        return not self.problems

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        there = "exists" if self.exists else "does not exist"
        yield f"{self.action} {self.identifier.as_summary_string()}, which {there}"
        yield str(self.schema)
        if self.partition_keys:
            yield f"partitioned by: {', '.join(self.partition_keys)}"
        shown = ", ".join(f"'{key}' = '{value}'" for key, value in sorted(self.options.items()))
        yield f"options: {shown or 'none'}"
        yield f"level: {self.level}: {GUARANTEES[self.level]}"
        yield from (f"  not higher: {reason}" for reason in self.reasons)
        if self.visibility is None:
            yield "visibility: unknown"
        else:
            yield f"visibility: {self.visibility.value}: {READERS[self.visibility]}"
        yield f"losses: {len(self.losses) or 'none'}"
        yield from (f"  {loss}" for loss in self.losses)
        yield f"problems: {len(self.problems) or 'none'}"
        for problem in self.problems:
            place = f"{', '.join(problem.path)}: " if problem.path else ""
            yield f"  {place}{problem.message} [{problem.code}]"
            if problem.hint:
                yield f"    hint: {problem.hint}"


# --- planning --------------------------------------------------------------------------------

#: The loss with a connector that cannot clean up after a failed job.
ROWS_STAY = SinkLoss(
    ("failed jobs",),
    "rows that were written",
    "",
    "the table is dropped, but the connector cannot remove them",
)
#: The reason for the level of IF NOT EXISTS on an existing table.
INSERTS = "IF NOT EXISTS writes into the table that exists: what is written is an INSERT"


def plan_statement(session: Session, text: str) -> CtasPlan:
    """Return the plan of a CREATE or REPLACE TABLE AS (else `feature-not-supported`).

    Errors of parsing and of resolving the query and the schema are raised, not planned.
    """
    statement = parse_statement(text)
    if isinstance(statement, Explain):
        statement = statement.statement
    if not isinstance(statement, CreateTable) or statement.query is None:
        raise UnsupportedError(
            "only CREATE TABLE AS and REPLACE TABLE AS have such a plan",
            code="feature-not-supported",
            hint="use explain_sql for queries and INSERT",
        )
    relation = session.query(statement.query, text)
    return plan_creation(session, derive_creation(session, statement, relation, text))


def plan_creation(session: Session, creation: TableCreation) -> CtasPlan:
    """Return the plan of a statement whose query and schema are resolved."""
    identifier, statement = creation.identifier, creation.statement
    options = session.config.get_configuration()
    old = session.tables.read_or_stored(identifier)
    result = Gathering()
    with result.catching():
        check_existing(session, statement, identifier, old)
    atomic = False
    with result.catching():
        atomic = is_atomic(options)
    table, action = creation.table, "create"
    if old is not None and statement.if_not_exists and isinstance(old, ResolvedCatalogTable):
        table, action = old, "insert"
        with result.catching():
            check_assignment(result_columns(creation.relation), old.resolved_schema)
    elif old is not None and (statement.or_replace or not statement.create):
        action = "replace"
    target = session.bind_table(identifier, table)
    if action == "insert" and isinstance(old, ResolvedCatalogTable):
        target = session.bind(identifier)
    replaced = None
    with result.catching():
        if action == "replace":
            replaced = find_replaced(session, identifier, old)
        if action != "insert":
            target = session.bind_table(identifier, place_table(session, identifier, table)[1])
    with result.catching():
        session.check_definition(table, old if action == "replace" else None)
    connector = _checked_connector(target, result)
    replaces, creates = action == "replace", action != "insert"
    unbounded = find_unbounded_table(session, creation.relation)
    chosen = choose_level(
        connector, target.table.options, atomic=atomic, replaces=replaces, unbounded=unbounded
    )
    level, reasons = chosen.level, chosen.reasons
    if action == "insert":
        level, reasons = AtomicityLevel.CREATED_FIRST, (INSERTS,)
    problems, losses = _checked_by_planner(session, creation, target, replaced, connector)
    if level is AtomicityLevel.ROLLED_BACK and not hasattr(connector, "clean_up"):
        losses = (*losses, ROWS_STAY)
    visibility = None
    if connector is not None:
        is_stream = unbounded is not None
        visibility = visibility_of(
            connector, target.table.options, creates=creates, streams=is_stream
        )
    return CtasPlan(
        identifier=identifier,
        action=action,
        schema=table.resolved_schema,
        partition_keys=tuple(table.partition_keys),
        options=mask_options(table.options, secret_keys(table.options)),
        exists=old is not None,
        level=level,
        reasons=reasons,
        visibility=visibility,
        losses=losses,
        problems=_merge_problems(result.errors, problems),
    )


def _merge_problems(
    errors: Sequence[SchemaCoreError], problems: Sequence[Diagnostic]
) -> tuple[Diagnostic, ...]:
    """Return the problems of errors, and then the others."""
    known = {(error.code, error.problem) for error in errors}
    others = (problem for problem in problems if (problem.code, problem.message) not in known)
    return (*(error.diagnostics[0] for error in errors), *others)


def _checked_connector(target: BoundTable, found: Gathering) -> Connector | None:
    """Return the installed connector of a table, or None; collect all errors of its options."""
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
                    code="unsupported-ability",
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
    """Return the planner's report on the write; nothing without a connector."""
    try:
        planner = session.planner
    except SchemaCoreError as error:  # no such planner is installed
        return error.diagnostics, ()
    if connector is None or not isinstance(planner, SupportsSinkCheck):
        return (), ()
    problems = planner.sink_problems(creation.relation, target, replaced)
    return tuple(problems), tuple(planner.sink_losses(creation.relation, target))
