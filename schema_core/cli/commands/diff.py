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

from schema_core.base.lazy import dataclass
from schema_core.base.paths import ObjectIdentifier, join_names
from schema_core.base.text import escaped
from schema_core.catalog.changes.table_changes import TableChange, describe
from schema_core.catalog.objects import ResolvedCatalogTable
from schema_core.cli import UNREADABLE, script
from schema_core.cli.findings import FindingReport, Format, Level, Output, ReportedFinding, finish
from schema_core.errors import SchemaCoreError
from schema_core.migration.differences import diff, likely_renames
from schema_core.report.changes import side_by_side
from schema_core.report.markup import section
from schema_core.report.schemas import schema_parts

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
        renames = script.renames(rename or [], [path for path in after if path in before])
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
        [finding for table in found for finding in _findings(table, str(file))],
        [
            join_names(identifier.to_list())
            for identifier in dict.fromkeys([*tables, *(table.identifier for table in found)])
        ],
        text=as_text(found),
        document=as_document(found),
    )


def _findings(table: TableDifference, file: str) -> Iterator[ReportedFinding]:
    if table.status is not Status.CHANGED:
        code, message = f"table-{table.status.value}", f"the table is {table.status.value}"
        yield ReportedFinding(Level.ERROR, code, message, file, subject=table.path)
    hint = "; ".join(f"pass --rename {quote(it)} if it is a rename" for it in table.renames) or None
    for change in table.changes:
        yield ReportedFinding(
            Level.ERROR, "table-changed", describe(change), file, hint=hint, subject=table.path
        )


def as_text(found: list[TableDifference]) -> Iterator[str]:
    """Yield a line for each table, and one for each of its changes."""
    for table in found:
        yield escaped(f"{table.path}: {table.status.value}")
        yield from (escaped(f"  {describe(change)}") for change in table.changes)
        yield from (
            escaped(f"  hint: pass --rename {quote(it)} if it is a rename") for it in table.renames
        )


def as_html(
    found: list[TableDifference],
    before: dict[ObjectIdentifier, ResolvedCatalogTable],
    after: dict[ObjectIdentifier, ResolvedCatalogTable],
    renames: dict[ObjectIdentifier, dict[tuple[str, ...], str]],
) -> Iterator[str]:
    """Yield the definitions of each changed table side by side, and the schemas of the others."""
    for table in found:
        if table.status is Status.CHANGED:
            former = script.former_names(renames[table.identifier])
            content = [side_by_side(before[table.identifier], after[table.identifier], former)]
        else:
            tables = before if table.status is Status.DROPPED else after
            content = list(schema_parts(tables[table.identifier].resolved_schema))
        yield section(f"{table.path}: {table.status.value}", *content)


def as_document(found: list[TableDifference]) -> dict[str, Any]:
    """Return JSON values: the kind of each change has the name of its class in Flink."""
    tables = {
        table.path: {
            "status": table.status.value,
            "changes": [
                {"change": type(change).__name__, "description": describe(change)}
                for change in table.changes
            ],
            "likely_renames": list(table.renames),
        }
        for table in found
    }
    return {"version": VERSION, "tables": tables}
