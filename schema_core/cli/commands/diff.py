"""``schema-core diff``: the changes between the tables of two scripts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from enum import Enum
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer
from rich.console import Console

from schema_core.base.lazy_dataclass import dataclass
from schema_core.base.paths import ObjectIdentifier, join_names
from schema_core.base.text import escaped
from schema_core.catalog.changes.table_changes import TableChange
from schema_core.catalog.objects import ResolvedCatalogTable
from schema_core.cli import UNREADABLE, script
from schema_core.cli.findings import FindingReport, Format, Level, Output, ReportedFinding, finish
from schema_core.errors import SchemaCoreError
from schema_core.migration.descriptions import describe
from schema_core.migration.differences import diff, likely_renames
from schema_core.migration.rendering import side_by_side
from schema_core.report.markup import section
from schema_core.schema.rendering import schema_parts

#: The version of the output in JSON.
VERSION = 1


class Status(Enum):
    """Which scripts have a table, and whether it changed."""

    ADDED = "added"
    DROPPED = "dropped"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class TableDifference:
    """How a table differs: its changes, and renames that `diff` does not assume, as options."""

    identifier: ObjectIdentifier
    status: Status
    changes: tuple[TableChange, ...] = ()
    renames: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """The full path, with names quoted where they need it."""
        return join_names(self.identifier.to_list())


def diff_tables(
    old: Annotated[Path, typer.Argument(help="SQL statements with the tables until now.")],
    new: Annotated[Path, typer.Argument(help="SQL statements with the new tables.")],
    rename: Annotated[
        list[str] | None,
        typer.Option(help="TABLE.COLUMN=NEW: a renamed column, or TABLE.COLUMN.FIELD=NEW."),
    ] = None,
    output: Format = Output.TEXT,
) -> None:
    """Print the changes between the tables that two scripts leave, by path.

    As HTML, definitions are side by side. Values of secret options are masked. Exits with 0 if
    there are no changes, with 1 if there are, with 2 if a script cannot be read or resolved.
    """
    try:
        before, _ = script.tables(old)
        after, _ = script.tables(new)
        renames = script.renames(rename or [], [one for one in after if one in before])
        found = list(differences(before, after, renames))
    except SchemaCoreError as error:
        script.show(Console(stderr=True, highlight=False), new, error.diagnostics)
        raise typer.Exit(UNREADABLE) from None
    report = report_of(found, new, after)
    finish(replace(report, html=lambda: as_html(found, before, after, renames)), output)


def differences(
    before: dict[ObjectIdentifier, ResolvedCatalogTable],
    after: dict[ObjectIdentifier, ResolvedCatalogTable],
    renames: dict[ObjectIdentifier, dict[tuple[str, ...], str]],
) -> Iterator[TableDifference]:
    """Yield the tables that differ, in the order of the new script; those that are gone first."""
    yield from (TableDifference(path, Status.DROPPED) for path in before if path not in after)
    for path, table in after.items():
        if path not in before:
            yield TableDifference(path, Status.ADDED)
        elif changes := diff(before[path], table, renames=renames[path]):
            shortest = script.shortest_path(path, renames)
            options = (
                f"{join_names((*shortest, *column))}={join_names((to,))}"
                for column, to in likely_renames(before[path], table).items()
                if column not in renames[path]
            )
            yield TableDifference(path, Status.CHANGED, changes, tuple(options))


# --- output --------------------------------------------------------------------------------------


def report_of(
    found: list[TableDifference], file: Path, tables: Iterable[ObjectIdentifier]
) -> FindingReport:
    """Return the report of differences: an error for each change."""
    return FindingReport(
        "diff",
        [finding for one in found for finding in _findings(one, str(file))],
        [
            join_names(one.to_list())
            for one in dict.fromkeys([*tables, *(one.identifier for one in found)])
        ],
        text=as_text(found),
        document=as_document(found),
    )


def _findings(one: TableDifference, file: str) -> Iterator[ReportedFinding]:
    if one.status is not Status.CHANGED:
        code, message = f"table-{one.status.value}", f"the table is {one.status.value}"
        yield ReportedFinding(Level.ERROR, code, message, file, subject=one.path)
    hint = "; ".join(f"pass --rename {quote(it)} if it is a rename" for it in one.renames) or None
    for change in one.changes:
        yield ReportedFinding(
            Level.ERROR, "table-changed", describe(change), file, hint=hint, subject=one.path
        )


def as_text(found: list[TableDifference]) -> Iterator[str]:
    """Yield a line for each table, and one for each of its changes."""
    for one in found:
        yield escaped(f"{one.path}: {one.status.value}")
        yield from (escaped(f"  {describe(change)}") for change in one.changes)
        yield from (
            escaped(f"  hint: pass --rename {quote(it)} if it is a rename") for it in one.renames
        )


def as_html(
    found: list[TableDifference],
    before: dict[ObjectIdentifier, ResolvedCatalogTable],
    after: dict[ObjectIdentifier, ResolvedCatalogTable],
    renames: dict[ObjectIdentifier, dict[tuple[str, ...], str]],
) -> Iterator[str]:
    """Yield the definitions of each changed table side by side, and the schemas of the others."""
    for one in found:
        if one.status is Status.CHANGED:
            former = script.former_names(renames[one.identifier])
            content = [side_by_side(before[one.identifier], after[one.identifier], former)]
        else:
            tables = before if one.status is Status.DROPPED else after
            content = list(schema_parts(tables[one.identifier].resolved_schema))
        yield section(f"{one.path}: {one.status.value}", *content)


def as_document(found: list[TableDifference]) -> dict[str, Any]:
    """Return JSON values: the kind of each change has the name of its class in Flink."""
    tables = {
        one.path: {
            "status": one.status.value,
            "changes": [
                {"change": type(change).__name__, "description": describe(change)}
                for change in one.changes
            ],
            "likely_renames": list(one.renames),
        }
        for one in found
    }
    return {"version": VERSION, "tables": tables}
