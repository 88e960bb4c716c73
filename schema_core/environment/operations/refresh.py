"""The refresh of materialized tables: a batch job that replaces their rows, and its state.

The state is stored in the fields of the catalog object that Flink has for it: the status, and the
refresh handler with its description.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, cast
from uuid import uuid4
from zoneinfo import ZoneInfo

from schema_core.base.lazy import dataclass
from schema_core.base.paths import ObjectIdentifier
from schema_core.base.secrets import is_secret
from schema_core.base.text import quote_identifier, quote_string
from schema_core.catalog import objects
from schema_core.catalog.own_options import require_no_own_options
from schema_core.catalog.resolve import resolve_materialized_table
from schema_core.environment.connector import Ability, installed_connector, require_abilities
from schema_core.environment.jobs.pending import Owner, PendingJob
from schema_core.environment.operations.data import Writing, check_partition, prepare_write, run_job
from schema_core.environment.operations.jobs import stop_job
from schema_core.environment.planner import BoundTable, SupportsRefresh
from schema_core.environment.result import OK, TableResult
from schema_core.environment.session import Session
from schema_core.environment.unbounded import find_unbounded_table
from schema_core.errors import ConflictError, SchemaError, UnsupportedError
from schema_core.query.relation import result_columns
from schema_core.sql.parser import parse_query
from schema_core.sql.statement_syntax import Partition, StopJob
from schema_core.sql.syntax import NOWHERE, Name
from schema_core.types import CharType, VarCharType

if TYPE_CHECKING:
    from schema_core.environment.jobs.graph import JobGraph
    from schema_core.query.relation import Relation

#: The longest handler that is parsed.
MAX_HANDLER = 100_000
#: How often a change of the state is repeated if the table changes meanwhile.
ATTEMPTS = 5


# --- state ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RefreshState:
    """What the refresh handler of a materialized table holds.

    Attributes:
        refreshed: When the last complete refresh was due, or started.
        running: The process of a refresh that has not ended.
        job: The id of a streaming job that fills the table.
        options: The options of RESUME, for the connector.
    """

    refreshed: datetime | None = None
    running: PendingJob | None = None
    job: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, table: objects.CatalogMaterializedTable) -> RefreshState:
        """Read the handler of a table; `lock-not-available` for the handler of another program."""
        if table.refresh_handler is None:
            return cls()
        try:
            return cls._parse(table.refresh_handler)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise ConflictError(
                "the materialized table is refreshed by another program: "
                f"{table.refresh_handler_description or 'its refresh handler is unknown'}",
                code="lock-not-available",
                hint="refresh it with that program, or drop and create the table",
            ) from None

    @classmethod
    def _parse(cls, handler: bytes) -> RefreshState:
        """Parse a handler; one of another program raises any of several errors."""
        if len(handler) > MAX_HANDLER:
            raise ValueError(len(handler))
        parts = json.loads(handler)["schema_core"]
        refreshed, running = parts.get("refreshed"), parts.get("running")
        options = parts.get("options", {})
        if not all(isinstance(text, str) for pair in options.items() for text in pair):
            raise TypeError(options)
        return cls(
            None if refreshed is None else datetime.fromisoformat(refreshed).astimezone(UTC),
            None if running is None else PendingJob.parse(running),
            None if parts.get("job") is None else str(parts["job"]),
            options,
        )

    def to_handler(self) -> bytes:
        """Return the handler, as JSON."""
        parts = {
            "refreshed": None if self.refreshed is None else self.refreshed.isoformat(),
            "running": None if self.running is None else str(self.running),
            "job": self.job,
            "options": dict(self.options),
        }
        set_parts = {key: value for key, value in parts.items() if value}
        return json.dumps({"schema_core": set_parts}).encode()

    def describe(self, table: objects.ResolvedCatalogMaterializedTable) -> str:
        """Return the description of the handler."""
        parts = []
        if table.refresh_mode is objects.RefreshMode.FULL and table.freshness is not None:
            parts.append(f"cron {table.freshness.to_cron()}")
        if self.job is not None:
            parts.append(f"streaming job {self.job}")
        if self.refreshed is not None:
            parts.append(f"refreshed {self.refreshed.isoformat(timespec='seconds')}")
        return "schema_core: " + (", ".join(parts) or "not refreshed")


def find_materialized_table(
    session: Session, identifier: ObjectIdentifier
) -> objects.CatalogMaterializedTable:
    """Return a permanent materialized table as stored (`table-not-found`)."""
    kind = objects.TableKind.MATERIALIZED_TABLE
    old = session.tables.find_alterable(kind, identifier, if_exists=False)
    return cast("objects.CatalogMaterializedTable", old)  # of this kind, or it raises


def _update(
    session: Session,
    identifier: ObjectIdentifier,
    change: Callable[[RefreshState], RefreshState],
    status: objects.RefreshStatus | None = None,
) -> None:
    """Change the state of a table, repeated if others change the table meanwhile."""
    for attempt in range(ATTEMPTS):
        old = find_materialized_table(session, identifier)
        state = change(RefreshState.of(old))
        resolved = resolve_materialized_table(old, session.resolver)
        new = replace(
            old,
            refresh_status=status or old.refresh_status,
            refresh_handler=state.to_handler(),
            refresh_handler_description=state.describe(resolved),
        )
        try:
            session.tables.alter(identifier, new, expected=old)
        except ConflictError:
            if attempt + 1 == ATTEMPTS:
                raise
        else:
            return


class RefreshHook:
    """Records a job in the state of its table: one job at a time, and when it was complete."""

    def __init__(
        self,
        session: Session,
        identifier: ObjectIdentifier,
        scheduled: datetime | None,
        *,
        force: bool = False,
        streams: bool = False,
    ) -> None:
        self._session, self._identifier = session, identifier
        self._scheduled = (scheduled or datetime.now(UTC)).astimezone(UTC)
        self._force, self.streams = force, streams
        self._claim = PendingJob(3, uuid4().hex, Owner.this())
        self._is_claimed = False

    def on_created(self, job_id: str) -> None:
        """Claim the table (`lock-not-available`)."""

        def claim(state: RefreshState) -> RefreshState:
            running = state.running
            if running is not None and not running.is_abandoned() and not self._force:
                raise ConflictError(
                    f"the materialized table {self._identifier.as_summary_string()} is being "
                    f"refreshed by process {running.owner.pid} on the host {running.owner.host!r}",
                    code="lock-not-available",
                    hint="wait for it; if the process has ended, use schema-core refresh --force",
                )
            return replace(state, running=self._claim, job=job_id if self.streams else None)

        self._claim.begin()
        try:
            status = objects.RefreshStatus.ACTIVATED if self.streams else None
            _update(self._session, self._identifier, claim, status)
        except BaseException:
            self._claim.end()
            raise
        self._is_claimed = True

    def on_finished(self, job_id: str) -> None:
        if self.streams:
            self._release()
            return
        old = find_materialized_table(self._session, self._identifier)
        suspended = old.refresh_status is objects.RefreshStatus.SUSPENDED
        self._release(self._scheduled, None if suspended else objects.RefreshStatus.ACTIVATED)

    def on_failed(self, job_id: str, error: BaseException) -> None:
        self._release()

    def on_canceled(self, job_id: str) -> None:
        self._release()

    def _release(
        self, refreshed: datetime | None = None, status: objects.RefreshStatus | None = None
    ) -> None:
        if not self._is_claimed:
            return

        def release(state: RefreshState) -> RefreshState:
            done = replace(state, refreshed=refreshed or state.refreshed)
            return replace(done, running=None, job=None) if state.running == self._claim else done

        try:
            _update(self._session, self._identifier, release, status)
        finally:
            self._claim.end()


# --- statements -----------------------------------------------------------------------------------


def require_refreshing_planner(session: Session) -> None:
    """Require a planner that refreshes tables; Flink's environment refuses these statements."""
    if not isinstance(session.planner, SupportsRefresh):
        raise UnsupportedError(
            f"the planner {session.planner.identifier!r} does not refresh materialized tables",
            code="feature-not-supported",
            hint="set 'table.planner' to 'spark'",
        )


def suspend(session: Session, identifier: ObjectIdentifier) -> None:
    """Stop the refresh: a streaming job of this session, and scheduled ones.

    A streaming job of another process is `not-found`.
    """
    state = RefreshState.of(find_materialized_table(session, identifier))
    if state.job is not None and state.running is not None and not state.running.is_abandoned():
        stop_job(session, StopJob(state.job), "")
    _update(session, identifier, lambda state: state, objects.RefreshStatus.SUSPENDED)


def resume(
    session: Session, identifier: ObjectIdentifier, options: Mapping[str, str]
) -> TableResult:
    """Continue the refresh, with options for the connector.

    A continuous table of unbounded tables gets a streaming job in streaming mode; others are
    refreshed by `schema-core refresh --due`. Codes: `reserved-option`, `exposed-secret`.
    """
    require_no_own_options(options)
    for key in options:
        if is_secret(key):
            raise UnsupportedError(
                f"option {key!r} is secret and would be stored with the refresh",
                code="exposed-secret",
                hint="set it in the WITH clause: CREATE OR ALTER MATERIALIZED TABLE",
            )
    table, relation = _resolved(session, identifier), _query(session, identifier, None)
    if table.refresh_mode is objects.RefreshMode.CONTINUOUS and (
        find_unbounded_table(session, relation) is not None
    ):
        state = replace(RefreshState.of(table), options=options)
        hook = RefreshHook(session, identifier, None, streams=True)
        _update(session, identifier, lambda state: replace(state, options=options))
        return run_job(session, [partial(_prepare, session, identifier, None, state, hook)])
    _update(
        session,
        identifier,
        lambda state: replace(state, options=options),
        objects.RefreshStatus.ACTIVATED,
    )
    return OK


def refresh(
    session: Session,
    identifier: ObjectIdentifier,
    partition: Partition | None = None,
    *,
    scheduled: datetime | None = None,
    force: bool = False,
) -> TableResult:
    """Submit the job that replaces the rows of a table, or of a partition, by those of its query.

    As INSERT OVERWRITE in Flink's SQL gateway: the rows are the old ones until the commit, and
    partitions without new rows keep theirs, except the one that is named in full.

    Args:
        session: The session.
        identifier: A materialized table.
        partition: The values of all or some partition keys.
        scheduled: When the refresh was due; by default now.
        force: Whether to ignore that another process refreshes the table.

    Codes: `unsupported-ability` for a connector that cannot replace rows atomically;
    `lock-not-available`; those of INSERT.
    """
    state = RefreshState.of(_resolved(session, identifier))
    hook = RefreshHook(session, identifier, scheduled, force=force)
    return run_job(session, [partial(_prepare, session, identifier, partition, state, hook)])


def _resolved(
    session: Session, identifier: ObjectIdentifier
) -> objects.ResolvedCatalogMaterializedTable:
    found = session.tables.get(identifier).table
    if not isinstance(found, objects.ResolvedCatalogMaterializedTable):
        raise SchemaError(
            f"{identifier.as_summary_string()!r} is not a materialized table",
            code="table-not-found",
        )
    return found


def _query(session: Session, identifier: ObjectIdentifier, partition: Partition | None) -> Relation:
    """Return the query of a refresh; that of a partition lacks its columns."""
    table = _resolved(session, identifier)
    if partition is None:
        return session.view_relation(table)
    types = {column.name: column.data_type for column in table.resolved_schema.columns}
    conditions = []
    check_partition(session.bind(identifier), partition)
    for key, value in partition.values:
        literal = quote_string(value or "")
        if not isinstance(types[key], CharType | VarCharType):
            literal = f"CAST({literal} AS {types[key].nullable()})"
        conditions.append(f"{quote_identifier(key)} = {literal}")
    fixed = dict(partition.values)
    names = [column.name for column in result_columns(session.view_relation(table))]
    listed = ", ".join(quote_identifier(name) for name in names if name not in fixed)
    text = f"SELECT {listed} FROM ({table.expanded_query}) WHERE {' AND '.join(conditions)}"
    return session.query(parse_query(text), text)


def _prepare(
    session: Session,
    identifier: ObjectIdentifier,
    partition: Partition | None,
    state: RefreshState,
    hook: RefreshHook,
) -> JobGraph:
    relation = _query(session, identifier, partition)
    bound = session.bind(identifier)
    target = replace(bound, table=bound.table.copy({**bound.table.options, **state.options}))
    if not hook.streams:
        _require_atomic(target)
    names = tuple(Name((column.name,), NOWHERE) for column in result_columns(relation))
    how = Writing(columns=names, partition=partition, overwrite=not hook.streams)
    graph = prepare_write(session, relation, target, how)
    graph.register_job_status_hook(hook)
    return graph


def _require_atomic(target: BoundTable) -> None:
    """Require a connector that replaces all rows at the commit (`unsupported-ability`)."""
    connector = installed_connector(target.table.options)
    if connector is not None:
        require_abilities(connector, {Ability.OVERWRITE, Ability.STAGING})


# --- schedules ------------------------------------------------------------------------------------


def is_due(
    table: objects.ResolvedCatalogMaterializedTable, scheduled: datetime, zone: ZoneInfo
) -> bool:
    """Return whether a refresh is due: a tick of its freshness has passed since the last one.

    Ticks are those of its cron expression, by the clock of the zone: a cron job that starts a
    second early or late does not skip one. A suspended table is never due.
    """
    if table.refresh_status is objects.RefreshStatus.SUSPENDED or table.freshness is None:
        return False
    state, seconds = RefreshState.of(table), table.freshness.seconds
    if state.job is not None and state.running is not None and not state.running.is_abandoned():
        return False
    if state.refreshed is None:
        return True
    return _tick(state.refreshed, seconds, zone) < _tick(scheduled, seconds, zone)


def _tick(time: datetime, seconds: int, zone: ZoneInfo) -> int:
    local = time.astimezone(zone).replace(tzinfo=UTC)
    return int(local.timestamp()) // seconds
