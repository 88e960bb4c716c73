"""``schema-core compat``, ``diff`` and ``plan``: the tables of a script and of an older one."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date
from enum import Enum
from pathlib import Path
from shlex import quote
from typing import Annotated, Any, TypeAlias

import typer
from rich.text import Text

from schema_core.base.lazy import NamedTuple
from schema_core.base.paths import ObjectIdentifier, join_names, split_names
from schema_core.base.text import escaped, position
from schema_core.catalog.changes.table_changes import TableChange, describe
from schema_core.catalog.managed import ManagedStorage
from schema_core.catalog.objects import ResolvedCatalogTable
from schema_core.catalog.statistics import CatalogTableStatistics
from schema_core.cli import UNREADABLE, script
from schema_core.cli.findings import (
    VERSION,
    FindingReport,
    Format,
    Level,
    Output,
    ReportedFinding,
    finish,
)
from schema_core.errors import SchemaError, choose_from, similar
from schema_core.mappings.stored_types import RULE_SETS
from schema_core.migration import plans as migration_plans
from schema_core.migration.compatibility import (
    Acceptance,
    CompatibilityMode,
    CompatibilityReport,
    Finding,
    Severity,
    can_read_old_data,
    check_compatibility,
)
from schema_core.migration.differences import diff, likely_renames
from schema_core.migration.plans import MigrationPlan
from schema_core.migration.targets.rewrites import HARMLESS
from schema_core.migration.targets.target_statements import TARGETS
from schema_core.report.catalog_diagrams import draw_differences
from schema_core.report.changes import plan_html, side_by_side
from schema_core.report.markup import scroll, section
from schema_core.report.schemas import schema_parts

Tables: TypeAlias = dict[ObjectIdentifier, ResolvedCatalogTable]
Renames: TypeAlias = dict[ObjectIdentifier, dict[tuple[str, ...], str]]

Old = Annotated[Path, typer.Argument(help="SQL statements with the tables until now.")]
New = Annotated[Path, typer.Argument(help="SQL statements with the new tables.")]
Rename = Annotated[
    list[str] | None,
    typer.Option(help="TABLE.COLUMN=NEW: a renamed column, or TABLE.COLUMN.FIELD=NEW."),
]


# --- compat --------------------------------------------------------------------------------------

#: Characters of a file of acceptances.
MAX_ACCEPTANCES = 1_000_000

#: Modes in which a removed table is not an error.
READS_OLD = {
    CompatibilityMode.NONE,
    CompatibilityMode.BACKWARD,
    CompatibilityMode.BACKWARD_TRANSITIVE,
}


class ComparedTable(NamedTuple):
    """A table of both scripts: its quoted path, new definition, and verdict."""

    path: str
    new: ResolvedCatalogTable
    report: CompatibilityReport

    def position(self, finding: Finding, text: str) -> tuple[int, int]:
        """Return line and column of the finding's column in the new script, or zeros."""
        for column in self.new.resolved_schema.get_columns():
            if finding.path[:1] == (column.name,) and column.written and column.written.span:
                return position(text, column.written.span.start)
        return 0, 0


def compat(
    old: Old,
    new: New,
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
    rename: Rename = None,
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
    with script.exit_on_error(new, UNREADABLE):
        levels, accepted = read_severities(severity or []), read_acceptances(accept)
        before = script.tables(old).tables
        after, storages, text = script.tables(new)
        renames = script.renames(rename or [], after)
        tables = [
            ComparedTable(
                join_names(path.to_list()),
                table,
                check_compatibility(
                    [before[path]] if path in before else [],
                    table,
                    mode,
                    rules,
                    renames=renames[path],
                    severities=levels,
                    accepted=accepted.get(tuple(path.to_list()), accepted[()]),
                    storage=storages[path],
                ),
            )
            for path, table in after.items()
        ]
    # an acceptance for all tables is unused only if no table needs it
    used = {rule for rule in accepted[()] if any(rule not in t.report.unused for t in tables)}
    for number, table in enumerate(tables):
        unused = tuple(rule for rule in table.report.unused if rule not in used)
        tables[number] = table._replace(report=replace(table.report, unused=unused))
    gone = () if mode in READS_OLD else before.keys() - after.keys()
    removed = sorted(join_names(path.to_list()) for path in gone)
    finish(compat_report(tables, removed, new, text), output)


def read_severities(options: list[str]) -> dict[str, Severity]:
    """Return severities by kind."""
    severities = {severity.value: severity for severity in Severity}
    pairs = {}
    for option in options:
        kind, _, level = option.partition("=")
        if level not in severities:
            raise SchemaError(
                f"--severity requires KIND=LEVEL, got {option!r}",
                code="invalid-argument",
                hint=choose_from(level, severities),
            )
        pairs[kind] = severities[level]
    return pairs


def read_acceptances(file: Path | None) -> dict[tuple[str, ...], list[Acceptance]]:
    """Return acceptances by the names of their table; `()` has those for all tables."""
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
    acceptances = [_acceptance(row) for row in rows]
    everywhere = [each for row, each in zip(rows, acceptances, strict=True) if "table" not in row]
    by_table: dict[tuple[str, ...], list[Acceptance]] = {(): everywhere}
    for row, acceptance in zip(rows, acceptances, strict=True):
        if "table" in row:
            by_table.setdefault(split_names(row["table"]), [*everywhere]).append(acceptance)
    return by_table


#: Key of an acceptance -> its class, and whether it is required.
KEYS: Mapping[str, tuple[type, bool]] = {
    "kind": (str, True),
    "reason": (str, True),
    "until": (date, True),
    "path": (str, False),
    "table": (str, False),
}


def _acceptance(row: Any) -> Acceptance:
    if not isinstance(row, dict):
        raise SchemaError("an acceptance must be a TOML table", code="invalid-argument")
    for key in row.keys() - KEYS.keys():
        raise SchemaError(
            f"unknown key {key!r} of an acceptance",
            code="invalid-argument",
            hint=similar(key, KEYS),
        )
    for key, (kind, required) in KEYS.items():
        if (required or key in row) and not isinstance(row.get(key), kind):
            raise SchemaError(
                f"an acceptance requires a {kind.__name__} {key!r}, got {row.get(key)!r}",
                code="invalid-argument",
            )
    path = split_names(row["path"]) if row.get("path") else ()
    return Acceptance(row["kind"], path, row["reason"], row["until"])


#: Severity of a finding that is not accepted -> its level in reports.
LEVELS = {Severity.ERROR: Level.ERROR, Severity.WARN: Level.WARNING, Severity.ALLOW: Level.NOTE}


def compat_report(
    tables: list[ComparedTable], removed: list[str], file: Path, text: str
) -> FindingReport:
    """Return the report of all tables; `text` is the new script."""
    findings, lines, documents = [], [], {}
    for table in tables:
        rows = []
        for finding in table.report.findings:
            place = table.position(finding, text)
            rows.append(
                {
                    "question": finding.question.value,
                    "kind": finding.kind,
                    "path": list(finding.path),
                    "severity": finding.severity.value,
                    "reason": finding.reason,
                    "accepted": finding.accepted,
                    "line": place[0],
                }
            )
            level, accepted = LEVELS[finding.severity], ""
            if finding.accepted is not None:
                level, accepted = Level.NOTE, f" (accepted: {finding.accepted})"
            findings.append(
                ReportedFinding(
                    level, finding.kind, f"{finding.reason}{accepted}", str(file), *place,
                    subject=table.path, path=(join_names(finding.path),) if finding.path else (),
                )
            )  # fmt: skip
        documents[table.path] = {"compatible": table.report.is_compatible, "findings": rows}
        lines += [
            escaped(line if line.startswith(" ") else f"{table.path}: {line}")
            for line in str(table.report).splitlines()
        ]
    for path in removed:
        message = "the table was removed"
        findings.append(
            ReportedFinding(Level.ERROR, "table-removed", message, str(file), subject=path)
        )
        lines.append(escaped(f"{path}: incompatible: {message}"))
    document = {
        "version": VERSION,
        "compatible": not removed and all(table.report.is_compatible for table in tables),
        "tables": documents,
        "gone": removed,
    }
    subjects = [*(table.path for table in tables), *removed]
    return FindingReport("compat", findings, subjects, text=lines, document=document)


# --- diff ----------------------------------------------------------------------------------------


class TableDifference(NamedTuple):
    """How a table differs; `status` is added, dropped or changed.

    `renames` are likely ones, which `diff` does not assume. `risks` are findings of `compat` about
    reading old rows.
    """

    identifier: ObjectIdentifier
    status: str
    changes: tuple[TableChange, ...] = ()
    renames: tuple[str, ...] = ()
    risks: tuple[Finding, ...] = ()

    @property
    def path(self) -> str:
        return join_names(self.identifier.to_list())

    @property
    def hints(self) -> list[str]:
        return [f"pass --rename {quote(rename)} if it is a rename" for rename in self.renames]


def diff_tables(old: Old, new: New, rename: Rename = None, output: Format = Output.TEXT) -> None:
    """Print the changes between the tables that two scripts leave, by path, and data at risk.

    As HTML, definitions are side by side. Values of secret options are masked. Exits with 0 if
    there are no changes, with 1 if there are, with 2 if a script cannot be read or resolved.
    """
    with script.exit_on_error(new, UNREADABLE):
        before = script.tables(old).tables
        after, storages, _ = script.tables(new)
        renames = script.renames(rename or [], [path for path in after if path in before])
        differences = list(iterate_differences(before, after, renames, storages))
    report = diff_report(differences, new, [*after])
    former = {path: script.former_names(names) for path, names in renames.items()}
    paths = [table.identifier for table in differences]

    def html() -> Iterator[str]:
        if paths:
            yield scroll(draw_differences(before, after, former, paths).to_svg())
        yield from (_difference_html(table, before, after, renames) for table in differences)

    finish(replace(report, html=html), output)


def iterate_differences(
    before: Tables,
    after: Tables,
    renames: Renames,
    storages: Mapping[ObjectIdentifier, ManagedStorage | None],
) -> Iterator[TableDifference]:
    """Yield the tables that differ: dropped ones, then in the order of the new script."""
    yield from (TableDifference(path, "dropped") for path in before if path not in after)
    for path, table in after.items():
        if path not in before:
            yield TableDifference(path, "added")
        elif changes := diff(before[path], table, renames=renames[path]):
            shortest = script.shortest_path(path, renames)
            options = (
                f"{join_names((*shortest, *column))}={join_names((to,))}"
                for column, to in likely_renames(before[path], table).items()
                if column not in renames[path]
            )
            findings = can_read_old_data(
                before[path], table, renames=renames[path], storage=storages[path]
            )
            risks = tuple(
                finding
                for finding in findings
                if finding.kind not in {*HARMLESS, "field-renamed-by-mapping", "likely-rename"}
            )
            yield TableDifference(path, "changed", changes, tuple(options), risks)


def diff_report(
    differences: list[TableDifference], file: Path, tables: list[ObjectIdentifier]
) -> FindingReport:
    """Return the report, an error for each change; in JSON, changes have Flink's class names."""
    findings, lines, documents = [], [], {}
    for table in differences:
        changes = [(type(change).__name__, describe(change)) for change in table.changes]
        rows = [("table-changed", text) for _, text in changes]
        if table.status != "changed":
            rows = [(f"table-{table.status}", f"the table is {table.status}")]
        hint = "; ".join(table.hints) or None
        findings += [
            ReportedFinding(Level.ERROR, code, text, str(file), hint=hint, subject=table.path)
            for code, text in rows
        ]
        findings += [
            ReportedFinding(
                Level.WARNING, risk.kind, f"data at risk: {risk.reason}", str(file),
                subject=table.path, path=(join_names(risk.path),) if risk.path else (),
            )
            for risk in table.risks
        ]  # fmt: skip
        lines.append(f"{table.path}: {table.status}")
        lines += [f"  {text}" for _, text in changes]
        risks = [
            f"{join_names(risk.path) or 'the table'}: {risk.reason} [{risk.kind}]"
            for risk in table.risks
        ]
        lines += [f"  data at risk: {risk}" for risk in risks]
        lines += [f"  hint: {hint}" for hint in table.hints]
        documents[table.path] = {
            "status": table.status,
            "changes": [{"change": name, "description": text} for name, text in changes],
            "likely_renames": list(table.renames),
            "at_risk": [
                {"path": list(risk.path), "kind": risk.kind, "reason": risk.reason}
                for risk in table.risks
            ],
        }
    subjects = dict.fromkeys([*tables, *(table.identifier for table in differences)])
    return FindingReport(
        "diff",
        findings,
        [join_names(identifier.to_list()) for identifier in subjects],
        text=map(escaped, lines),
        document={"version": VERSION, "tables": documents},
    )


def _difference_html(
    table: TableDifference, before: Tables, after: Tables, renames: Renames
) -> str:
    path = table.identifier
    if table.status == "changed":
        former = script.former_names(renames[path])
        content = [side_by_side(before[path], after[path], former)]
    else:
        tables = before if table.status == "dropped" else after
        content = list(schema_parts(tables[path].resolved_schema))
    return section(f"{table.path}: {table.status}", *content)


# --- plan ----------------------------------------------------------------------------------------

Plans: TypeAlias = dict[ObjectIdentifier, MigrationPlan]

#: The formats of plans: those of findings, and a script.
PlanOutput = Enum("PlanOutput", {"SQL": "sql"} | {member.name: member.value for member in Output})  # type: ignore[misc]
PlanTarget = Enum("PlanTarget", {name: name for name in TARGETS})  # type: ignore[misc]


def plan_tables(
    old: Old,
    new: New,
    target: Annotated[
        PlanTarget, typer.Option(help="Where the tables are altered.")
    ] = PlanTarget.flink,  # type: ignore[attr-defined]
    rename: Rename = None,
    rows: Annotated[
        list[str] | None, typer.Option(help="TABLE=COUNT: how many rows a table has.")
    ] = None,
    accept: Annotated[
        list[str] | None,
        typer.Option(help="To accept: value-changed, too-long or value-dropped."),
    ] = None,
    output: Annotated[
        PlanOutput, typer.Option("--format", help="The format of the output.")
    ] = PlanOutput.TEXT,  # type: ignore[attr-defined]
) -> None:
    """Plan the migration of the tables that both scripts have, by path.

    Tables that only one script has are reported, not created or dropped. A statement that converts
    rows keeps their values or fails, unless `--accept` allows a change. With `--rows` the plan has
    the number of rows that a step reads or writes. Exits with 1 if a change is
    unsupported, with 2 if a script cannot be read or resolved.
    """
    with script.exit_on_error(new, UNREADABLE):
        before = script.tables(old).tables
        after, storages, _ = script.tables(new)
        renames = script.renames(rename or [], [path for path in after if path in before])
        counts = script.row_counts(rows or [], renames)
        plans: Plans = {}
        for path, hints in renames.items():
            names = tuple(path.to_list())
            plans[path] = migration_plans.plan(
                before[path],
                after[path],
                str(target.value),
                renames=hints,
                path=names if target.value == "flink" else names[-1],
                statistics=CatalogTableStatistics(counts[path]) if path in counts else None,
                storage=storages[path],
                accept=accept or (),
            )
    for path in sorted(before.keys() ^ after.keys(), key=ObjectIdentifier.to_list):
        where, shown = "old" if path in before else "new", join_names(path.to_list())
        script.print_error(Text(escaped(f"{shown}: only in the {where} script")))
    report = plan_report(plans, new)
    if output.value == "sql":
        finish(replace(report, text=iterate_sql(plans)), Output.TEXT)
        return
    pages = (
        section(
            join_names(path.to_list()),
            scroll(plan_html(plan, None)),
            side_by_side(before[path], after[path], script.former_names(renames[path])),
        )
        for path, plan in plans.items()
    )
    finish(replace(report, html=lambda: pages), Output(output.value))


def plan_report(plans: Plans, file: Path) -> FindingReport:
    """Return the report: data at risk is a warning, an unsupported change an error."""
    by_path = {join_names(path.to_list()): plan for path, plan in plans.items()}
    findings = []
    for subject, plan in by_path.items():
        findings += [
            ReportedFinding(
                Level.WARNING, risk.kind, f"data at risk: {risk.reason}", str(file),
                subject=subject, path=(join_names(risk.path),) if risk.path else (),
            )
            for step in plan.steps
            for risk in step.risks
        ]  # fmt: skip
        findings += [
            ReportedFinding(
                Level.ERROR, "not-reached", f"unsupported: {loss}", str(file), subject=subject
            )
            for loss in plan.losses
        ]
    documents = {path: json.loads(plan.to_json()) for path, plan in by_path.items()}
    return FindingReport(
        "plan",
        findings,
        list(by_path),
        text=[escaped(line) for plan in plans.values() for line in str(plan).splitlines()],
        document={"version": VERSION, "plans": documents},
    )


def iterate_sql(plans: Plans) -> Iterator[str]:
    """Yield a script, with risks and losses as comments of one line."""
    for plan in plans.values():
        for step in plan.steps:
            for risk in step.format_risks():
                yield escaped(f"-- at risk: {risk}")
            for text in step.statements:
                yield f"{text};"
        for loss in plan.losses:
            yield escaped(f"-- unsupported: {loss}")
