"""Statements about jobs: SHOW JOBS, DESCRIBE JOB, STOP JOB, BEGIN STATEMENT SET and END."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from functools import partial
from threading import Event
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from schema_core.environment.jobs.client import no_savepoints
from schema_core.environment.operations.data import (
    Writing,
    check_insert,
    finish_target,
    prepare_write,
    run_job,
)
from schema_core.environment.result import OK, PrintStyle, TableResult
from schema_core.environment.session import Session, at_span
from schema_core.errors import SchemaError, within
from schema_core.schema.resolved import ResolvedSchema
from schema_core.sql import statement_syntax
from schema_core.types import AtomicType, DataTypes

if TYPE_CHECKING:
    from schema_core.environment.jobs.graph import JobGraph
    from schema_core.environment.jobs.run import JobRun
    from schema_core.environment.planner import BoundTable
    from schema_core.query.relation import Relation

#: The columns of a job, as Flink's SQL gateway names them.
COLUMNS: dict[str, AtomicType] = {
    "job id": DataTypes.STRING(),
    "job name": DataTypes.STRING(),
    "status": DataTypes.STRING(),
    "start time": DataTypes.TIMESTAMP_LTZ(3),
}


def _list_jobs(session: Session, runs: Iterable[JobRun]) -> TableResult:
    rows = [(str(run.id), run.name, run.status.name, _start_of(run)) for run in runs]
    schema = ResolvedSchema.physical(list(COLUMNS), list(COLUMNS.values()))
    zone = ZoneInfo(session.config.get_local_timezone())

    def format_rows() -> list[tuple[str | None, ...]]:
        times = (row[3].astimezone(zone).replace(tzinfo=None) for row in rows)
        return [
            (*row[:3], time.isoformat(" ", "milliseconds"))
            for row, time in zip(rows, times, strict=True)
        ]

    return TableResult(schema, rows, row_formatter=format_rows, style=PrintStyle.LISTING)


def _start_of(run: JobRun) -> datetime:
    started = run.started_at
    return started.replace(microsecond=started.microsecond // 1000 * 1000)


def show_jobs(session: Session, statement: statement_syntax.Show) -> TableResult:
    """Return this session's jobs: the running ones and the last that ended."""
    return _list_jobs(session, session.jobs.runs())


def describe_job(
    session: Session, statement: statement_syntax.DescribeJob, text: str
) -> TableResult:
    """Return one job of this session as SHOW JOBS does (`not-found`)."""
    with at_span(statement.span):
        return _list_jobs(session, [session.jobs.get(statement.job_id)])


def stop_job(session: Session, statement: statement_syntax.StopJob, text: str) -> TableResult:
    """Cancel a job and wait for its end; do nothing if it has ended.

    The rows of a batch job are removed; those of a streaming job, and its checkpoint, stay.

    Codes: `not-found`, `invalid-state` in a hook of the job, `feature-not-supported`.
    """
    with at_span(statement.span):
        run = session.jobs.get(statement.job_id)
        if statement.with_savepoint:
            raise no_savepoints("omit WITH SAVEPOINT")
        run.require_waitable()
        ended = Event()
        run.cancel()
        run.at_end(lambda _: ended.set())
        ended.wait()
        run.take()
    return OK


# --- statement sets of several statements ----------------------------------------------------


def begin_statement_set(
    session: Session, statement: statement_syntax.BeginStatementSet, text: str
) -> TableResult:
    """Collect the INSERT statements that follow, until END."""
    session.statement_set = []
    return OK


def end_statement_set(
    session: Session, statement: statement_syntax.EndStatementSet, text: str
) -> TableResult:
    """Submit one job for the INSERT statements since BEGIN STATEMENT SET.

    As in Flink the set is closed also if this raises: `invalid-state` without BEGIN, or
    errors of any of the statements before the job starts.
    """
    collected, session.statement_set = session.statement_set, None
    if collected is None:
        raise SchemaError(
            "END without BEGIN STATEMENT SET",
            code="invalid-state",
            span=statement.span,
            hint="begin the set with BEGIN STATEMENT SET;",
        )
    if not collected:
        return OK
    for insert, written in collected:
        with within(written):
            finish_target(session, insert)
    jobs = []
    for insert, written in collected:
        with within(written):
            relation, target = check_insert(session, insert, written)
        jobs.append(partial(_prepare_insert, session, relation, target, insert, written))
    return run_job(session, jobs)


def _prepare_insert(
    session: Session,
    relation: Relation,
    target: BoundTable,
    insert: statement_syntax.Insert,
    written: str,
) -> JobGraph:
    """Prepare the job of one INSERT; its errors quote the text of the statement."""
    with within(written), at_span(insert.span):
        return prepare_write(session, relation, target, Writing.of(insert))


def add_to_statement_set(
    session: Session, statement: statement_syntax.Statement, text: str
) -> TableResult:
    """Add a checked INSERT to the open statement set.

    The set stays open after an invalid INSERT or another statement (`invalid-state`).
    """
    if not isinstance(statement, statement_syntax.Insert):
        raise SchemaError(
            "a statement set accepts only INSERT",
            code="invalid-state",
            span=statement.span,
            hint="submit the statement set with END; first",
        )
    check_insert(session, statement, text)
    if session.statement_set is not None:  # it is open, else the statement would not be collected
        session.statement_set.append((statement, text))
    return OK
