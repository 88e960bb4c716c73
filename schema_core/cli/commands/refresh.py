"""``schema-core refresh``: refresh materialized tables, for the cron line of a scheduler."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from datetime import UTC, datetime
from typing import Annotated, Any
from zoneinfo import ZoneInfo

import typer

from schema_core.base.lazy import dataclass
from schema_core.base.paths import ObjectIdentifier, parse_path
from schema_core.catalog.objects import DATE_FORMATTER, ResolvedCatalogMaterializedTable
from schema_core.cli import script
from schema_core.cli.commands.run import SETTING_UP
from schema_core.cli.findings import (
    FindingReport,
    Format,
    Output,
    ReportedFinding,
    diagnostic_findings,
    finish,
)
from schema_core.cli.progress import follow
from schema_core.environment.jobs.recovery import list_identifiers
from schema_core.environment.operations.dispatch import run as run_statement
from schema_core.environment.operations.refresh import is_due, refresh
from schema_core.environment.session import Session
from schema_core.errors import SchemaCoreError, SchemaError
from schema_core.spark.compiler.udfs import UdfError
from schema_core.spark.compiler.udfs.java_dates import date_format
from schema_core.sql.parser import parse_statements
from schema_core.sql.statement_syntax import Partition


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was done about one table."""

    path: str
    status: str
    partition: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        of = ", ".join(f"{key}={value}" for key, value in self.partition.items())
        return f"{self.path}{f' ({of})' if of else ''}: {self.status}"

    def to_json(self) -> dict[str, Any]:
        """Return the outcome as JSON values."""
        return {"table": self.path, "status": self.status, "partition": dict(self.partition)}


def refresh_tables(
    file: script.File,
    table: Annotated[
        list[str] | None,
        typer.Option("--table", "-t", help="A table; by default all of the current catalog."),
    ] = None,
    due: Annotated[
        bool, typer.Option("--due", help="Only tables whose freshness requires a refresh.")
    ] = False,
    force: Annotated[
        bool,
        typer.Option("--force", help="Also tables that another process seems to refresh."),
    ] = False,
    partition: Annotated[
        list[str] | None,
        typer.Option("--partition", help="KEY=VALUE: refresh only rows with this partition key."),
    ] = None,
    scheduled_time: Annotated[
        str | None,
        typer.Option(
            "--scheduled-time",
            metavar="TIME",
            help="When the refresh was due, such as 2026-03-01T12:00:00; by default now.",
        ),
    ] = None,
    list_only: Annotated[
        bool, typer.Option("--list", help="Print the status and the last refresh of each table.")
    ] = False,
    define: script.Define = None,
    output: Format = Output.TEXT,
) -> None:
    """Refresh materialized tables: replace their rows by those of their queries.

    Of the script only the statements that set a session up are executed, such as CREATE CATALOG,
    USE and SET. With `--due` a table is refreshed if a tick of its freshness has passed since the
    last refresh, and suspended tables are not. With `--due` or `--scheduled-time` only the
    partition of the scheduled time is refreshed where the option
    `partition.fields.KEY.date-formatter` is set. Exits with 1 if a refresh fails, after the
    others, with 2 if the file cannot be read or an argument is invalid, with 130 after Ctrl-C.
    """
    filled = script.read(file, define)
    outcomes: list[Outcome] = []
    findings: list[ReportedFinding] = []
    with script.exit_on_error(file, None), filled.locating():
        chosen = _partition_of(partition or [])
        session = Session(script.settings())
        for statement in parse_statements(filled.text):
            if isinstance(statement, SETTING_UP):
                run_statement(session, statement, filled.text)
        scheduled = _time_of(scheduled_time, ZoneInfo(session.config.get_local_timezone()))
        by_schedule = due or scheduled_time is not None
        run = RefreshRun(session, scheduled, due, force, by_schedule, chosen)
        for identifier, found in list(_tables(session, table or [])):
            path = identifier.as_summary_string()
            try:
                status = describe_refresh(found) if list_only else None
                done = Outcome(path, status) if status else run.refresh(identifier, found)
                outcomes.append(done)
            except SchemaCoreError as error:
                outcomes.append(Outcome(path, "failed"))
                findings += diagnostic_findings(file, error.diagnostics)
    _print(outcomes, findings, output)


@dataclass(frozen=True, slots=True)
class RefreshRun:
    """What the command does with each table."""

    session: Session
    scheduled: datetime
    only_due: bool
    force: bool
    by_schedule: bool
    partition: Mapping[str, str]

    def refresh(
        self, identifier: ObjectIdentifier, table: ResolvedCatalogMaterializedTable
    ) -> Outcome:
        """Refresh a table unless it is not due; errors as those of `refresh`."""
        path = identifier.as_summary_string()
        zone = ZoneInfo(self.session.config.get_local_timezone())
        if self.only_due and not is_due(table, self.scheduled, zone):
            return Outcome(path, "not due")
        values = self.partition
        if not values and self.by_schedule:
            values = scheduled_partition(table, self.scheduled, zone)
        given = Partition(tuple(values.items())) if values else None
        result = refresh(
            self.session, identifier, given, scheduled=self.scheduled, force=self.force
        )
        follow(result.job)
        result.wait()
        return Outcome(path, "refreshed", values)


def _print(outcomes: list[Outcome], findings: list[ReportedFinding], output: Output) -> None:
    """Print what was done, and the errors; exit with 1 if there are some."""
    if output is Output.TEXT:
        for outcome in outcomes:
            print(outcome)
    if findings or output is not Output.TEXT:
        document = {
            "tables": [outcome.to_json() for outcome in outcomes],
            "findings": [finding.message for finding in findings],
        }
        subjects = [outcome.path for outcome in outcomes]
        finish(FindingReport("refresh", findings, subjects, document=document), output)


def describe_refresh(table: ResolvedCatalogMaterializedTable) -> str:
    """Return the status of a table's refresh, its mode, freshness and last refresh."""
    mode = "" if table.refresh_mode is None else f" {table.refresh_mode.value.lower()}"
    parts = [f"{table.refresh_status.value.lower()}{mode}", f"freshness {table.freshness}"]
    parts.append(table.refresh_handler_description or "not refreshed")
    return ", ".join(parts)


def _partition_of(options: list[str]) -> dict[str, str]:
    """Return the values of `--partition` (`invalid-argument`)."""
    values: dict[str, str] = {}
    for option in options:
        key, sign, value = option.partition("=")
        if not key or not sign or key in values:
            problem = f"--partition requires KEY=VALUE once for each key, got {option!r}"
            raise SchemaError(problem, code="invalid-argument")
        values[key] = value
    return values


def _time_of(text: str | None, zone: ZoneInfo) -> datetime:
    """Return the scheduled time; without an offset it is one of the zone (`invalid-argument`)."""
    if text is None:
        return datetime.now(UTC)
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        problem = f"--scheduled-time requires a time such as 2026-03-01T12:00:00, got {text!r}"
        raise SchemaError(problem, code="invalid-argument") from None
    return time if time.tzinfo is not None else time.replace(tzinfo=zone)


def _tables(
    session: Session, names: list[str]
) -> Iterator[tuple[ObjectIdentifier, ResolvedCatalogMaterializedTable]]:
    """Yield the named materialized tables, or all of the current catalog."""
    catalog = session.registry.current_catalog
    if names:
        for name in names:
            identifier = session.registry.qualify(parse_path(name))
            found = session.tables.get(identifier).table
            if not isinstance(found, ResolvedCatalogMaterializedTable):
                raise SchemaError(
                    f"{identifier.as_summary_string()!r} is not a materialized table",
                    code="table-not-found",
                )
            yield identifier, found
        return
    for identifier in () if catalog is None else list_identifiers(session, catalog):
        stored = session.tables.find_permanent(identifier)
        if stored is not None and isinstance(stored.table, ResolvedCatalogMaterializedTable):
            yield identifier, stored.table


def scheduled_partition(
    table: ResolvedCatalogMaterializedTable, scheduled: datetime, zone: ZoneInfo
) -> dict[str, str]:
    """Return the partition that a scheduled refresh fills: that of one freshness before, as Flink.

    Empty without the option ``partition.fields.KEY.date-formatter``.
    """
    if table.freshness is None:
        return {}
    local = scheduled.astimezone(zone).replace(tzinfo=UTC)
    seconds = int(local.timestamp()) - table.freshness.seconds
    values: dict[str, str] = {}
    for key, pattern in table.options.items():
        if (match := DATE_FORMATTER.fullmatch(key)) is not None:
            try:
                values[match[1]] = date_format(seconds, 0, pattern) or ""
            except UdfError as error:
                raise SchemaError(f"option {key!r}: {error}", code="invalid-option-value") from None
    return values
