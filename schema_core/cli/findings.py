"""Findings of commands, and the formats in which they are printed.

Text and JSON may be documents of a command's own. Only errors end a command with 1. rich is
imported only if there is something to print.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from schema_core.base.lazy import dataclass
from schema_core.base.text import escaped
from schema_core.cli import WRONG
from schema_core.errors import Diagnostic, caret, cut

if TYPE_CHECKING:
    from rich.text import Text

#: The version of the output in JSON.
VERSION = 1
STDIN, DASH = "<stdin>", "-"


class Level(Enum):
    """The severity of a finding; only errors end a command with 1."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Output(Enum):
    """The format of findings."""

    TEXT = "text"
    JSON = "json"
    GITHUB = "github"
    HTML = "html"
    MARKDOWN = "markdown"
    JUNIT = "junit"


Format = Annotated[Output, typer.Option("--format", help="The format of the output.")]


@dataclass(frozen=True, slots=True)
class ReportedFinding:
    """A finding: its severity, what is wrong, and where.

    `rule` is an error code or the kind of the finding. `file` is `-` for stdin. `line` and `column`
    start at 1; 0 is unknown. `subject` is, for example, the path of a table, and `path` the
    location within it. `excerpt` is the line of the file and a line with carets.
    """

    level: Level
    rule: str
    message: str
    file: str = ""
    line: int = 0
    column: int = 0
    hint: str | None = None
    subject: str = ""
    path: tuple[str, ...] = ()
    excerpt: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """The file with line and column, else the subject."""
        file = STDIN if self.file == DASH else self.file
        numbers = [str(number) for number in (self.line, self.column) if number]
        return ":".join([file or self.subject, *numbers])

    @property
    def statement(self) -> str:
        """The message after the subject, if the place is a file."""
        return f"{self.subject}: {self.message}" if self.subject and self.file else self.message

    @property
    def description(self) -> str:
        """The statement with the location in its subject."""
        return f"{self.statement} (in {', '.join(self.path)})" if self.path else self.statement


@dataclass(frozen=True, slots=True)
class FindingReport:
    """The findings of a command.

    Args:
        command: The name of the command.
        findings: The findings.
        subjects: The files or paths of tables that were checked, also those without findings.
        text: Lines instead of the findings as compilers print them.
        document: JSON values, or JSON, instead of a list of the findings.
        html: Returns parts of a page after the table of findings.
    """

    command: str
    findings: Sequence[ReportedFinding]
    subjects: Sequence[str] = ()
    text: Iterable[str | Text] | None = None
    document: Mapping[str, Any] | str | None = None
    html: Callable[[], Iterable[str]] = tuple

    def count(self, level: Level) -> int:
        return sum(finding.level is level for finding in self.findings)


def diagnostic_findings(
    path: Path, diagnostics: Iterable[Diagnostic], level: Level = Level.ERROR
) -> list[ReportedFinding]:
    """Return diagnostics as findings in the file that they name, else in another one.

    Those about a directory have no position: they may be about a statement of no file.
    """
    is_directory = path.is_dir()
    return [
        ReportedFinding(
            level,
            diagnostic.code,
            diagnostic.message,
            diagnostic.file or str(path),
            0 if is_directory and not diagnostic.file else diagnostic.line,
            0 if is_directory and not diagnostic.file else diagnostic.column,
            diagnostic.hint,
            path=diagnostic.path,
            excerpt=tuple(caret(diagnostic.text, diagnostic.span))
            if diagnostic.text and diagnostic.span
            else (),
        )
        for diagnostic in diagnostics
    ]


def finish(report: FindingReport, output: Output) -> None:
    """Print a report on stdout; exit with 1 if it has errors."""
    if output is Output.TEXT:
        print_lines(as_text(report) if report.text is None else report.text)
    elif printed := FORMATS[output](report):
        sys.stdout.write(f"{printed}\n")
    if report.count(Level.ERROR):
        raise typer.Exit(WRONG)


# --- text ----------------------------------------------------------------------------------------


def print_lines(lines: Iterable[str | Text], *, error: bool = False) -> None:
    """Print lines on stdout or stderr."""
    console = None
    for line in lines:
        if console is None:
            from rich.console import Console
            from rich.text import Text

            console = Console(stderr=error, highlight=False, markup=False)
        console.print(Text(line) if isinstance(line, str) else line, soft_wrap=True)


#: Level -> the style of its name on terminals.
STYLES = {Level.ERROR: "bold red", Level.WARNING: "bold yellow", Level.NOTE: "bold cyan"}


def as_text(report: FindingReport) -> Iterator[Text]:
    """Yield the findings as compilers print them, and their number."""
    if numbers := counts(report):
        from rich.text import Text

        yield from text_lines(report.findings)
        yield Text(numbers)


def counts(report: FindingReport) -> str:
    """Return the number of findings of each level that has some.

    >>> counts(FindingReport("check", [ReportedFinding(Level.NOTE, "a", "b")] * 2))
    '2 notes'
    """
    numbers = {level.value: report.count(level) for level in Level}
    return ", ".join(f"{n} {name}{'s' if n > 1 else ''}" for name, n in numbers.items() if n)


def text_lines(findings: Iterable[ReportedFinding]) -> Iterator[Text]:
    """Yield findings as compilers print them, and the command that explains their codes."""
    from rich.text import Text

    from schema_core.errors.codes import codes as pages

    codes: dict[str, None] = {}
    explained = frozenset(pages())
    for finding in findings:
        if finding.rule in explained:
            codes[finding.rule] = None
        label = (f"{finding.level.value}[{finding.rule}]", STYLES[finding.level])
        yield Text.assemble(
            (escaped(finding.place), "bold"), ": ", label, ": ", escaped(finding.statement)
        )
        if finding.path:
            yield Text(f"  in {escaped(', '.join(finding.path))}")
        if finding.excerpt:
            line, marks = finding.excerpt
            yield Text(f"    {printable(line)}")
            yield Text(f"    {marks}", "red")
        if finding.hint:
            yield Text.assemble(("  hint: ", "cyan"), escaped(finding.hint))
    if codes:
        code = next(iter(codes)) if len(codes) == 1 else "CODE"
        yield Text(f"run: schema-core explain {code}", "dim")


def printable(line: str) -> str:
    """Replace control characters."""
    return "".join(
        character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in line
    )


# --- other formats -------------------------------------------------------------------------------


def as_json(report: FindingReport) -> str:
    """Return the command's own document, or one with all findings."""
    if isinstance(report.document, str):
        return report.document
    if report.document is not None:
        return json.dumps(report.document, indent=2)
    rows = [
        {
            "severity": finding.level.value,
            "code": finding.rule,
            "message": finding.message,
            "hint": finding.hint,
            "file": finding.file or None,
            "line": finding.line or None,
            "column": finding.column or None,
            "subject": finding.subject or None,
            "path": list(finding.path),
        }
        for finding in report.findings
    ]
    about = (finding.subject or finding.file or report.command for finding in report.findings)
    document = {
        "version": VERSION,
        "command": report.command,
        "findings": rows,
        "subjects": list(dict.fromkeys([*report.subjects, *about])),
    }
    return json.dumps(document, indent=2)


#: Level -> the command of a workflow of GitHub.
COMMANDS = {Level.ERROR: "error", Level.WARNING: "warning", Level.NOTE: "notice"}
#: What GitHub requires to be escaped in messages, and in properties.
MESSAGE = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
PROPERTY = MESSAGE | str.maketrans({":": "%3A", ",": "%2C"})


def as_commands(report: FindingReport) -> str:
    """Return commands of GitHub's workflows, which annotate lines of files."""
    lines = []
    for finding in report.findings:
        file = "" if finding.file == DASH else finding.file
        places = (("file", file), ("line", finding.line), ("col", finding.column))
        properties = ",".join(
            f"{name}={str(value).translate(PROPERTY)}"
            for name, value in (*places, ("title", finding.rule))
            if value
        )
        about = "" if finding.file or not finding.subject else f"{finding.subject}: "
        hint = f"\nhint: {finding.hint}" if finding.hint else ""
        text = "\n".join(map(escaped, f"{about}{finding.description}{hint}".split("\n")))
        lines.append(f"::{COMMANDS[finding.level]} {properties}::{text.translate(MESSAGE)}")
    return "\n".join(lines)


def as_html(report: FindingReport) -> str:
    """Return a self-contained page: the findings, and the command's own parts."""
    from schema_core.report import markup

    rows = []
    for finding in report.findings:
        cells = map(
            markup.text,
            (finding.place, finding.rule, finding.description, finding.hint or ""),
        )
        rows.append((markup.mark(finding.level.value), *cells))
    heads = ("severity", "place", "code", "message", "hint")
    parts = [markup.scroll(markup.table(heads, rows))] if rows else []
    title = f"schema-core {report.command}: {counts(report) or 'no findings'}"
    page = markup.page(title, *parts, *report.html())
    return page.encode("ascii", "xmlcharrefreplace").decode("ascii")


#: Rows and characters of a comment's table, and characters of its details: GitHub accepts comments
#: of 65,536 characters.
MAX_ROWS, MAX_TABLE, MAX_DETAILS = 50, 40_000, 20_000
#: Characters that Markdown, or a site that renders it, may interpret -> references to them. A word
#: joiner ends a mention of a user or an issue.
MARKDOWN = str.maketrans(
    {mark: f"&#{ord(mark)};" for mark in "\\`*_[]()~|<>&!:"}
    | {mark: f"&#{ord(mark)};&#8288;" for mark in "@#"}
)


def markdown_text(text: str, width: int = 300) -> str:
    """Escape a text for a cell of a table in Markdown, truncated.

    >>> markdown_text("a | b")
    'a &#124; b'
    """
    return escaped(cut(text, width)).translate(MARKDOWN)


def as_markdown(report: FindingReport) -> str:
    """Return a comment for a pull request: a table of the findings, errors first, and details."""
    title = f"**schema-core {report.command}**: {counts(report) or 'no findings'}"
    order = [*Level]
    findings = sorted(report.findings, key=lambda finding: order.index(finding.level))
    if not findings:
        return title
    rows = [_markdown_row(finding) for finding in findings[:MAX_ROWS]]
    sizes = accumulate(len(row) + 1 for row in rows)
    rows = [row for row, size in zip(rows, sizes, strict=True) if size <= MAX_TABLE]
    if more := len(findings) - len(rows):
        rows.append(f"| | | | and {more:,} more |")
    lines = text_lines(report.findings) if report.text is None else report.text
    text = cut("\n".join(str(line) for line in lines), MAX_DETAILS)
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    table = ["| severity | place | code | message |", "|---|---|---|---|", *rows]
    summary = "<details><summary>Details</summary>"
    return "\n".join([title, "", *table, "", summary, "", fence, text, fence, "", "</details>"])


def _markdown_row(finding: ReportedFinding) -> str:
    texts = (finding.place, finding.rule, finding.description)
    place, rule, message = map(markdown_text, texts)
    return f"| {finding.level.value} | {place} | <code>{rule}</code> | {message} |"


def as_junit(report: FindingReport) -> str:
    """Return a report of tests in JUnit's XML: an error is a failure, a subject without one passes.

    GitLab, Jenkins and Azure Pipelines show it in merge requests and builds.
    """
    suite = f"schema-core {report.command}"
    cases = []
    for finding in report.findings:
        where = finding.file or finding.subject
        hint = f"\nhint: {finding.hint}" if finding.hint else ""
        about = f"{finding.place}: {finding.description}{hint}"
        content = f"<system-out>{_xml(about)}</system-out>"
        if finding.level is Level.ERROR:
            message = f'message="{_xml(finding.description)}" type="{_xml(finding.rule)}"'
            content = f"<failure {message}>{_xml(about)}</failure>"
        cases.append(_junit_case(where or suite, f"{finding.rule} {finding.place}", content))
    failing = {name for finding in report.findings for name in (finding.file, finding.subject)}
    good = [subject for subject in report.subjects if subject not in failing]
    cases += [_junit_case(subject, "no findings", "") for subject in good]
    numbers = f'tests="{len(cases)}" failures="{report.count(Level.ERROR)}"'
    open_suite = f'<testsuite name="{_xml(suite)}" {numbers} errors="0" skipped="0">'
    lines = [f"<testsuites {numbers}>", open_suite, *cases, "</testsuite>", "</testsuites>"]
    body = "\n".join(lines).encode("ascii", "xmlcharrefreplace").decode("ascii")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}'


def _junit_case(place: str, name: str, content: str) -> str:
    return f'<testcase classname="{_xml(place)}" name="{_xml(name)}">{content}</testcase>'


def _xml(text: str) -> str:
    """Escape a text for XML, which has no references to control characters."""
    from schema_core.report import markup

    return "\n".join(map(markup.text, text.split("\n")))


#: Format -> its writer; text is printed with styles.
FORMATS: dict[Output, Callable[[FindingReport], str]] = {
    Output.JSON: as_json,
    Output.GITHUB: as_commands,
    Output.HTML: as_html,
    Output.MARKDOWN: as_markdown,
    Output.JUNIT: as_junit,
}
