"""``schema-core compat``: whether the tables of a script are compatible with those of another."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from schema_core.base.lazy import dataclass
from schema_core.base.paths import ObjectIdentifier, join_names, split_names
from schema_core.base.text import escaped, position
from schema_core.catalog.objects import ResolvedCatalogTable
from schema_core.cli import UNREADABLE, script
from schema_core.cli.findings import FindingReport, Format, Level, Output, ReportedFinding, finish
from schema_core.errors import SchemaCoreError, SchemaError, similar
from schema_core.mappings.stored_types import RULE_SETS
from schema_core.migration.compatibility import (
    Acceptance,
    CompatibilityMode,
    CompatibilityReport,
    Finding,
    Severity,
    check_compatibility,
)

#: The version of the output in JSON.
VERSION = 1
#: Characters of a file of acceptances.
MAX_ACCEPTANCES = 1_000_000


@dataclass(frozen=True, slots=True)
class Compared:
    """One table of both scripts: its path, its new definition, and the verdict."""

    identifier: ObjectIdentifier
    new: ResolvedCatalogTable
    report: CompatibilityReport

    @property
    def path(self) -> str:
        """The full path, with names quoted where they need it."""
        return join_names(self.identifier.to_list())

    def position(self, finding: Finding, text: str) -> tuple[int, int]:
        """Return line and column of what a finding is about in the new script, or zeros."""
        names = {column.name: column for column in self.new.resolved_schema.get_columns()}
        column = names.get(finding.path[0]) if finding.path else None
        if column is None or column.written is None or column.written.span is None:
            return 0, 0
        return position(text, column.written.span.start)


def compat(
    old: Annotated[Path, typer.Argument(help="SQL statements with the tables until now.")],
    new: Annotated[Path, typer.Argument(help="SQL statements with the new tables.")],
    mode: Annotated[
        CompatibilityMode, typer.Option(help="What must be kept.")
    ] = CompatibilityMode.BACKWARD,
    rules: Annotated[
        str | None,
        typer.Option(
            help=f"The rules of a format or engine: {', '.join(RULE_SETS)}; "
            "by default those of the format of each table."
        ),
    ] = None,
    rename: Annotated[
        list[str] | None,
        typer.Option(help="TABLE.COLUMN=NEW: a renamed column, or TABLE.COLUMN.FIELD=NEW."),
    ] = None,
    severity: Annotated[
        list[str] | None, typer.Option(help="KIND=LEVEL, a level of allow, warn and error.")
    ] = None,
    accept: Annotated[
        Path | None,
        typer.Option(help="A TOML file of intended breaks, an array of tables `accept`."),
    ] = None,
    output: Format = Output.TEXT,
) -> None:
    """Compare the tables of a script with those of an older one, by path.

    A table that was removed is an error unless the mode is NONE, BACKWARD or BACKWARD_TRANSITIVE.
    Exits with 1 if tables are incompatible, with 2 if a script cannot be read or resolved.
    """
    try:
        levels, accepted = _levels(severity or []), _acceptances(accept)
        before, _ = script.tables(old)
        after, text = script.tables(new)
        renames = script.renames(rename or [], after)
        compared = [
            Compared(
                path,
                table,
                check_compatibility(
                    [before[path]] if path in before else [],
                    table,
                    mode,
                    rules,
                    renames=renames[path],
                    severities=levels,
                    accepted=accepted.get(tuple(path.to_list()), accepted[()]),
                ),
            )
            for path, table in after.items()
        ]
        compared = _without_needed(compared, accepted[()])
    except SchemaCoreError as error:
        script.show(Console(stderr=True, highlight=False), new, error.diagnostics)
        raise typer.Exit(UNREADABLE) from None
    reads_old = mode in {
        CompatibilityMode.NONE,
        CompatibilityMode.BACKWARD,
        CompatibilityMode.BACKWARD_TRANSITIVE,
    }
    gone = () if reads_old else before.keys() - after.keys()
    removed = sorted(join_names(path.to_list()) for path in gone)
    finish(report_of(compared, removed, new, text), output)


def _without_needed(compared: list[Compared], common: list[Acceptance]) -> list[Compared]:
    """Report an acceptance of all tables as not needed only if no table needs it."""
    needed = {rule for rule in common if any(rule not in each.report.unused for each in compared)}
    return [
        replace(
            each,
            report=replace(
                each.report, unused=tuple(rule for rule in each.report.unused if rule not in needed)
            ),
        )
        for each in compared
    ]


def _levels(options: list[str]) -> dict[str, Severity]:
    """Return severities by kind."""
    levels = {}
    for option in options:
        kind, _, level = option.partition("=")
        known = {severity.value: severity for severity in Severity}
        if level not in known:
            raise SchemaError(
                f"--severity requires KIND=LEVEL, got {option!r}",
                code="wrong-argument",
                hint=similar(level, known) or f"use one of {', '.join(known)}",
            )
        levels[kind] = known[level]
    return levels


def _acceptances(file: Path | None) -> dict[tuple[str, ...], list[Acceptance]]:
    """Return acceptances by the names of their table; those without names are of all tables."""
    if file is None:
        return {(): []}
    text = script.read_text(file, MAX_ACCEPTANCES)
    if len(text) > MAX_ACCEPTANCES:
        raise script.unreadable_exit(file, f"it has more than {MAX_ACCEPTANCES:,} characters")
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise script.unreadable_exit(file, f"it is not TOML: {error}") from None
    rows = document.get("accept")
    if document.keys() != {"accept"} or not isinstance(rows, list):
        raise script.unreadable_exit(file, "it must consist of tables [[accept]]")
    accepted = [_acceptance(row) for row in rows]
    everywhere = [entry for row, entry in zip(rows, accepted, strict=True) if "table" not in row]
    found: dict[tuple[str, ...], list[Acceptance]] = {(): everywhere}
    for row, entry in zip(rows, accepted, strict=True):
        if "table" in row:
            found.setdefault(split_names(row["table"]), [*everywhere]).append(entry)
    return found


#: Key of an acceptance -> the class of its value, and whether it is required.
KEYS: Mapping[str, tuple[type, bool]] = {
    "kind": (str, True),
    "reason": (str, True),
    "until": (date, True),
    "path": (str, False),
    "table": (str, False),
}


def _acceptance(row: Any) -> Acceptance:
    """Return an acceptance from a table of TOML."""
    if not isinstance(row, dict):
        raise SchemaError("an acceptance must be a TOML table", code="wrong-argument")
    for key in row.keys() - KEYS.keys():
        raise SchemaError(
            f"unknown key {key!r} of an acceptance", code="wrong-argument", hint=similar(key, KEYS)
        )
    for key, (kind, required) in KEYS.items():
        if (required or key in row) and not isinstance(row.get(key), kind):
            raise SchemaError(
                f"an acceptance requires a {kind.__name__} {key!r}, got {row.get(key)!r}",
                code="wrong-argument",
            )
    path = split_names(row["path"]) if row.get("path") else ()
    return Acceptance(row["kind"], path, row["reason"], row["until"])


# --- output --------------------------------------------------------------------------------------

#: Severity of a finding -> its level in reports; one that is accepted is a note.
LEVELS = {Severity.ERROR: Level.ERROR, Severity.WARN: Level.WARNING, Severity.ALLOW: Level.NOTE}


def report_of(compared: list[Compared], removed: list[str], file: Path, text: str) -> FindingReport:
    """Return the report of all tables."""
    findings = [
        _to_reported_finding(table, found, file, text)
        for table in compared
        for found in table.report.findings
    ]
    findings += [
        ReportedFinding(
            Level.ERROR, "table-removed", "the table was removed", str(file), subject=path
        )
        for path in removed
    ]
    return FindingReport(
        "compat",
        findings,
        [*(table.path for table in compared), *removed],
        text=as_text(compared, removed),
        document=as_document(compared, removed, text),
    )


def _to_reported_finding(table: Compared, found: Finding, file: Path, text: str) -> ReportedFinding:
    accepted = "" if found.accepted is None else f" (accepted: {found.accepted})"
    return ReportedFinding(
        Level.NOTE if found.accepted is not None else LEVELS[found.severity],
        found.kind,
        f"{found.reason}{accepted}",
        str(file),
        *table.position(found, text),
        subject=table.path,
        path=(join_names(found.path),) if found.path else (),
    )


def as_text(compared: list[Compared], removed: list[str]) -> Iterator[str]:
    """Yield the verdict and the findings of every table."""
    for table in compared:
        for line in str(table.report).splitlines():
            yield escaped(line if line.startswith(" ") else f"{table.path}: {line}")
    for path in removed:
        yield escaped(f"{path}: incompatible: the table was removed")


def as_document(compared: list[Compared], removed: list[str], text: str) -> dict[str, Any]:
    """Return JSON values with all findings by table."""
    tables = {
        table.path: {
            "compatible": table.report.is_compatible,
            "findings": [
                {
                    "question": found.question.value,
                    "kind": found.kind,
                    "path": list(found.path),
                    "severity": found.severity.value,
                    "reason": found.reason,
                    "accepted": found.accepted,
                    "line": table.position(found, text)[0],
                }
                for found in table.report.findings
            ],
        }
        for table in compared
    }
    compatible = not removed and all(table.report.is_compatible for table in compared)
    return {"version": VERSION, "compatible": compatible, "tables": tables, "gone": removed}
