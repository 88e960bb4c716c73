"""``schema-core plan``: the statements that lead the tables of a script to those of another."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import Annotated, TypeAlias

import typer
from rich.console import Console
from rich.text import Text

from schema_core.base.paths import ObjectIdentifier, join_names
from schema_core.base.text import escaped
from schema_core.catalog.objects import ResolvedCatalogTable
from schema_core.catalog.statistics import CatalogTableStatistics
from schema_core.cli import UNREADABLE, script
from schema_core.cli.findings import FindingReport, Level, Output, ReportedFinding, finish
from schema_core.errors import SchemaCoreError
from schema_core.migration import plans as migration_plans
from schema_core.migration.plans import MigrationPlan
from schema_core.migration.targets import TARGETS
from schema_core.report.changes import plan_html, side_by_side
from schema_core.report.markup import scroll, section

#: The version of the output in JSON.
VERSION = 1

Plans: TypeAlias = dict[ObjectIdentifier, MigrationPlan]


#: The formats of plans: those of findings, and a script.
PlanOutput = Enum("PlanOutput", {"SQL": "sql"} | {member.name: member.value for member in Output})  # type: ignore[misc]
PlanTarget = Enum("PlanTarget", {name: name for name in TARGETS})  # type: ignore[misc]


def plan_tables(
    old: Annotated[Path, typer.Argument(help="SQL statements with the tables until now.")],
    new: Annotated[Path, typer.Argument(help="SQL statements with the new tables.")],
    target: Annotated[
        PlanTarget, typer.Option(help="Where the tables are altered.")
    ] = PlanTarget.flink,  # type: ignore[attr-defined]
    rename: Annotated[
        list[str] | None, typer.Option(help="TABLE.COLUMN=NEW: a column or field that is renamed.")
    ] = None,
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
    errors = Console(stderr=True, highlight=False)
    try:
        before, _ = script.tables(old)
        after, _ = script.tables(new)
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
                accept=accept or (),
            )
    except SchemaCoreError as error:
        script.show(errors, new, error.diagnostics)
        raise typer.Exit(UNREADABLE) from None
    for path in sorted(before.keys() ^ after.keys(), key=ObjectIdentifier.to_list):
        where, shown = "old" if path in before else "new", join_names(path.to_list())
        errors.print(Text(escaped(f"{shown}: only in the {where} script")), soft_wrap=True)
    report = replace(report_of(plans, new), html=lambda: as_html(plans, before, after, renames))
    if output.value == "sql":
        finish(replace(report, text=as_sql(plans)), Output.TEXT)
    else:
        finish(report, Output(output.value))


# --- output --------------------------------------------------------------------------------------


def report_of(plans: Plans, file: Path) -> FindingReport:
    """Return the report of plans: data at risk is a warning, an unsupported change an error."""
    by_path = {join_names(path.to_list()): plan for path, plan in plans.items()}
    findings = [
        finding for path, plan in by_path.items() for finding in _findings(path, plan, file)
    ]
    documents = {path: json.loads(plan.to_json()) for path, plan in by_path.items()}
    return FindingReport(
        "plan",
        findings,
        list(by_path),
        text=[escaped(line) for plan in plans.values() for line in str(plan).splitlines()],
        document={"version": VERSION, "plans": documents},
    )


def _findings(path: str, plan: MigrationPlan, file: Path) -> Iterator[ReportedFinding]:
    for step in plan.steps:
        for risk in step.risks:
            yield ReportedFinding(
                Level.WARNING, risk.kind, f"data at risk: {risk.reason}", str(file), subject=path,
                path=(join_names(risk.path),),
            )  # fmt: skip
    for loss in plan.losses:
        message = f"unsupported: {loss}"
        yield ReportedFinding(Level.ERROR, "not-reached", message, str(file), subject=path)


def as_html(
    plans: Plans,
    before: dict[ObjectIdentifier, ResolvedCatalogTable],
    after: dict[ObjectIdentifier, ResolvedCatalogTable],
    renames: dict[ObjectIdentifier, dict[tuple[str, ...], str]],
) -> Iterator[str]:
    """Yield the steps of each plan, and the definitions side by side."""
    for path, plan in plans.items():
        sides = side_by_side(before[path], after[path], script.former_names(renames[path]))
        yield section(join_names(path.to_list()), scroll(plan_html(plan)), sides)


def as_sql(plans: Plans) -> Iterator[str]:
    """Yield a script: the statements as they are, risks and losses as comments of one line."""
    for plan in plans.values():
        for step in plan.steps:
            for risk in step.risks:
                yield escaped(f"-- at risk: {join_names(risk.path)}: {risk.reason} [{risk.kind}]")
            for text in step.statements:
                yield f"{text};"
        for loss in plan.losses:
            yield escaped(f"-- unsupported: {loss}")
