"""``schema-core compat``: whether the tables of a script are compatible with those of another."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from datetime import date
from enum import Enum
from pathlib import Path
from typing import Annotated, Any
from xml.etree.ElementTree import Element, SubElement, tostring

import typer
from rich.console import Console
from rich.text import Text

from schema_core.catalog.objects import ResolvedCatalogTable
from schema_core.cli import UNREADABLE, WRONG, script
from schema_core.errors import SchemaCoreError, SchemaError, similar
from schema_core.lazy_dataclass import dataclass
from schema_core.migration.compatibility import (
    Acceptance,
    CompatibilityMode,
    CompatibilityReport,
    Finding,
    Severity,
    check_compatibility,
)
from schema_core.migration.rules import RULE_SETS
from schema_core.text import escaped, position

#: The version of the output in JSON.
VERSION = 1
#: Characters of a file of acceptances.
MAX_ACCEPTANCES = 1_000_000


class Output(Enum):
    """The format of the findings."""

    TEXT = "text"
    JSON = "json"
    GITHUB = "github"
    JUNIT = "junit"


@dataclass(frozen=True, slots=True)
class Compared:
    """One table of both scripts: its path, its new definition, and the verdict."""

    path: str
    new: ResolvedCatalogTable
    report: CompatibilityReport

    def line(self, finding: Finding, text: str) -> int:
        """Return the line of the column of a finding in the new script, or 0 without one."""
        names = {one.name: one for one in self.new.resolved_schema.get_columns()}
        column = names.get(finding.path[0]) if finding.path else None
        if column is None or column.written is None or column.written.span is None:
            return 0
        return position(text, column.written.span.start)[0]


def compat(
    old: Annotated[Path, typer.Argument(help="SQL statements with the tables until now.")],
    new: Annotated[Path, typer.Argument(help="SQL statements with the new tables.")],
    mode: Annotated[
        CompatibilityMode, typer.Option(help="What must be kept.")
    ] = CompatibilityMode.BACKWARD,
    rules: Annotated[
        str, typer.Option(help=f"The rules of a format or engine: {', '.join(RULE_SETS)}.")
    ] = "flink",
    rename: Annotated[
        list[str] | None,
        typer.Option(help="TABLE.COLUMN=NEW: a renamed column, or TABLE.COLUMN.FIELD=NEW."),
    ] = None,
    severity: Annotated[
        list[str] | None, typer.Option(help="KIND=LEVEL, a level of allow, warn and error.")
    ] = None,
    accept: Annotated[
        Path | None, typer.Option(help="A TOML file of intended breaks: [[accept]].")
    ] = None,
    output: Annotated[Output, typer.Option("--format", help="The output.")] = Output.TEXT,
) -> None:
    """Compare the tables of a script with those of an older one, by path.

    A table that is no longer there is an error unless the mode is NONE or BACKWARD. Exits with 1
    if tables are incompatible, with 2 if a script cannot be read or resolved.
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
                    accepted=accepted.get(path, accepted[""]),
                ),
            )
            for path, table in after.items()
        ]
    except SchemaCoreError as error:
        script.show(Console(stderr=True, highlight=False), new, error.diagnostics)
        raise typer.Exit(UNREADABLE) from None
    reads_old = mode in {CompatibilityMode.NONE, CompatibilityMode.BACKWARD}
    gone = [] if reads_old else sorted(before.keys() - after.keys())
    for line in FORMATS[output](compared, gone, new, text):
        Console(highlight=False, markup=False).print(Text(line), soft_wrap=True)
    if gone or not all(one.report.is_compatible for one in compared):
        raise typer.Exit(WRONG)


def _levels(options: list[str]) -> dict[str, Severity]:
    """Return severities by kind."""
    levels = {}
    for option in options:
        kind, _, level = option.partition("=")
        known = {one.value: one for one in Severity}
        if level not in known:
            raise SchemaError(
                f"--severity requires KIND=LEVEL, got {option!r}",
                code="wrong-argument",
                hint=similar(level, known) or f"a level is one of {', '.join(known)}",
            )
        levels[kind] = known[level]
    return levels


def _acceptances(file: Path | None) -> dict[str, list[Acceptance]]:
    """Return acceptances by the path of their table; those under "" are of all tables."""
    if file is None:
        return {"": []}
    text = script.read_text(file, MAX_ACCEPTANCES)
    if len(text) > MAX_ACCEPTANCES:
        raise script.refused(file, f"it has more than {MAX_ACCEPTANCES:,} characters")
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise script.refused(file, f"it is not TOML: {error}") from None
    rows = document.get("accept")
    if document.keys() != {"accept"} or not isinstance(rows, list):
        raise script.refused(file, "it must consist of tables [[accept]]")
    accepted = [_acceptance(row) for row in rows]
    everywhere = [one for row, one in zip(rows, accepted, strict=True) if "table" not in row]
    found = {"": everywhere}
    for row, one in zip(rows, accepted, strict=True):
        if "table" in row:
            found.setdefault(row["table"], [*everywhere]).append(one)
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
        raise SchemaError("an acceptance must be a table of TOML", code="wrong-argument")
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
    path = tuple(row["path"].split(".")) if row.get("path") else ()
    return Acceptance(row["kind"], path, row["reason"], row["until"])


# --- output --------------------------------------------------------------------------------------


def as_text(compared: list[Compared], gone: list[str], file: Path, text: str) -> Iterator[str]:
    """Yield the verdict and the findings of every table."""
    for one in compared:
        for line in str(one.report).splitlines():
            yield escaped(line if line.startswith(" ") else f"{one.path}: {line}")
    for path in gone:
        yield escaped(f"{path}: incompatible: the table is gone")


def as_json(compared: list[Compared], gone: list[str], file: Path, text: str) -> Iterator[str]:
    """Yield one document with all findings."""
    tables = {
        one.path: {
            "compatible": one.report.is_compatible,
            "findings": [
                {
                    "question": found.question.value,
                    "kind": found.kind,
                    "path": list(found.path),
                    "severity": found.severity.value,
                    "reason": found.reason,
                    "accepted": found.accepted,
                    "line": one.line(found, text),
                }
                for found in one.report.findings
            ],
        }
        for one in compared
    }
    compatible = not gone and all(one.report.is_compatible for one in compared)
    document = {"version": VERSION, "compatible": compatible, "tables": tables, "gone": gone}
    yield json.dumps(document, indent=2)


#: Severity -> the command of a workflow of GitHub.
COMMANDS = {Severity.ERROR: "error", Severity.WARN: "warning"}


def as_commands(compared: list[Compared], gone: list[str], file: Path, text: str) -> Iterator[str]:
    """Yield commands of GitHub's workflows, which annotate the lines of the new script."""
    for one in compared:
        for found in one.report.findings:
            if found.severity in COMMANDS and found.accepted is None:
                line = one.line(found, text)
                place = f"file={file},line={line}" if line else f"file={file}"
                message = f"{one.path}: {found}".replace("%", "%25").replace("\n", "%0A")
                yield f"::{COMMANDS[found.severity]} {place},title={found.kind}::{message}"
    for path in gone:
        yield f"::error file={file},title=table-gone::{path}: the table is gone"


def as_junit(compared: list[Compared], gone: list[str], file: Path, text: str) -> Iterator[str]:
    """Yield a report in the format of JUnit: a case for each table, its report as output."""
    failed = len(gone) + sum(not one.report.is_compatible for one in compared)
    cases = str(len(compared) + len(gone))
    suite = Element("testsuite", name="schema-core compat", tests=cases, failures=str(failed))
    for one in compared:
        case = SubElement(suite, "testcase", classname=str(file), name=escaped(one.path))
        for found in one.report.errors:
            SubElement(case, "failure", type=found.kind, message=escaped(str(found)))
        lines = map(escaped, str(one.report).splitlines())
        SubElement(case, "system-out").text = "\n".join(lines)
    for path in gone:
        case = SubElement(suite, "testcase", classname=str(file), name=escaped(path))
        SubElement(case, "failure", type="table-gone", message="the table is gone")
    yield tostring(suite, encoding="unicode", xml_declaration=True)


FORMATS = {
    Output.TEXT: as_text,
    Output.JSON: as_json,
    Output.GITHUB: as_commands,
    Output.JUNIT: as_junit,
}
