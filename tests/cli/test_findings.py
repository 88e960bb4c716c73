"""Formats of findings: each is read by a parser of its kind."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import typer
from typer.testing import CliRunner

from schema_core.cli import WRONG
from schema_core.cli.app import application
from schema_core.cli.findings import (
    FORMATS,
    FindingReport,
    Level,
    Output,
    ReportedFinding,
    as_text,
    finish,
)
from tests.test_pages import read_page

NASTY = 'a <b> & "c", 100% | `d`\nsecond line: ::error::x\x1b[31m'
FINDINGS = [
    ReportedFinding(Level.ERROR, "type-not-found", NASTY, "my dir/a,b.sql", 3, 7, "use `INT`"),
    ReportedFinding(Level.WARNING, "slow", "too slow", "-", 1, 1),
    ReportedFinding(Level.NOTE, "old", "an é", subject="c.d.t", path=("x.y",)),
]
REPORT = FindingReport("check", FINDINGS, ["my dir/a,b.sql", "good.sql"])
EMPTY = FindingReport("check", [], ["good.sql"])


def test_every_format_has_a_writer_in_ascii() -> None:
    assert set(Output) - {Output.TEXT} == set(FORMATS)
    for write in FORMATS.values():
        assert "\x1b" not in write(REPORT)
    for output in (Output.HTML, Output.JSON, Output.JUNIT):
        assert FORMATS[output](REPORT).isascii()


def test_text() -> None:
    lines = [line.plain for line in as_text(REPORT)]

    assert lines[0].startswith("my dir/a,b.sql:3:7: error[type-not-found]: a <b>")
    assert lines[1:3] == ["  hint: use `INT`", "<stdin>:1:1: warning[slow]: too slow"]
    assert lines[-1] == "1 error, 1 warning, 1 note"
    assert [] == list(as_text(EMPTY))


def test_json() -> None:
    document = json.loads(FORMATS[Output.JSON](REPORT))

    assert (1, "check") == (document["version"], document["command"])
    assert ["my dir/a,b.sql", "good.sql", "-", "c.d.t"] == document["subjects"]
    first, _, last = document["findings"]
    assert {
        "severity": "error",
        "code": "type-not-found",
        "message": NASTY,
        "hint": "use `INT`",
        "file": "my dir/a,b.sql",
        "line": 3,
        "column": 7,
        "subject": None,
        "path": [],
    } == first
    assert ("c.d.t", ["x.y"], None, None) == (
        last["subject"], last["path"], last["file"], last["line"],
    )  # fmt: skip


def commands(text: str) -> list[tuple[str, dict[str, str], str]]:
    """Read commands of workflows as GitHub's runner does."""
    result = []
    for line in text.splitlines():
        assert line.startswith("::")
        head, _, message = line[2:].partition("::")
        name, _, places = head.partition(" ")
        pairs = dict(part.split("=", 1) for part in places.split(","))
        for code, char in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%")):
            pairs = {key: value.replace(code, char) for key, value in pairs.items()}
            if code not in ("%3A", "%2C"):
                message = message.replace(code, char)
        result.append((name, pairs, message))
    return result


def test_commands_of_github_are_escaped() -> None:
    error, warning, notice = commands(FORMATS[Output.GITHUB](REPORT))

    places = {"file": "my dir/a,b.sql", "line": "3", "col": "7", "title": "type-not-found"}
    shown = NASTY.replace("\x1b", "\\x1b")
    assert ("error", places, f"{shown}\nhint: use `INT`") == error
    assert ("warning", {"line": "1", "col": "1", "title": "slow"}, "too slow") == warning
    assert ("notice", {"title": "old"}, "c.d.t: an é (in x.y)") == notice
    assert "" == FORMATS[Output.GITHUB](EMPTY)


def test_html_is_escaped_and_loads_nothing() -> None:
    result = read_page(FORMATS[Output.HTML](REPORT))

    assert "b" not in result.tags
    assert len(FINDINGS) + 1 == result.tags.count("tr")
    assert "my dir/a,b.sql:3:7" in result.cells
    assert any(cell.startswith('a <b> & "c"') for cell in result.cells)
    assert "table" not in read_page(FORMATS[Output.HTML](EMPTY)).tags


def comment(text: str) -> tuple[list[list[str]], str]:
    """Return the rows of a comment's table, as a reader of Markdown sees them, and its details."""
    table, _, details = text.partition("\n<details>")
    rows = []
    for line in table.splitlines():
        if line.startswith("|"):
            cells = line.strip("|").split("|")  # a bar in a cell is a reference
            rows.append([html.unescape(re.sub("</?code>", "", cell)).strip() for cell in cells])
    return rows, details


def test_a_comment_in_markdown() -> None:
    text = FORMATS[Output.MARKDOWN](REPORT)
    head, _, *rows = comment(text)[0]

    assert text.startswith("**schema-core check**: 1 error, 1 warning, 1 note\n")
    assert ["severity", "place", "code", "message"] == head
    shown = NASTY.replace("\x1b", "\\x1b").replace("\n", "\\n")
    assert ["error", "my dir/a,b.sql:3:7", "type-not-found", shown] == rows[0]
    assert ["note", "c.d.t", "old", "an é (in x.y)"] == rows[2]
    assert "hint: use `INT`" in comment(text)[1]
    assert "**schema-core check**: no findings" == FORMATS[Output.MARKDOWN](EMPTY)


def test_a_comment_has_errors_first_and_a_bounded_length() -> None:
    notes = [ReportedFinding(Level.NOTE, "a", "x" * 1_000, "f.sql", n) for n in range(500)]
    text = FORMATS[Output.MARKDOWN](FindingReport("check", [*notes, FINDINGS[0]]))
    rows, _ = comment(text)

    assert len(text) < 65_536
    assert ("error", "and 451 more") == (rows[2][0], rows[-1][-1])
    mentions = [ReportedFinding(Level.NOTE, "a", "@" * 1_000) for _ in range(500)]
    assert len(FORMATS[Output.MARKDOWN](FindingReport("check", mentions))) < 65_536


def test_a_comment_mentions_nobody_and_has_no_markup_of_a_finding() -> None:
    message = "@ann fixes #12 ``` <img src=x> [a](b) **bold** | cell"
    finding = ReportedFinding(Level.ERROR, "a", message, hint="```\n</details>")
    text = FORMATS[Output.MARKDOWN](FindingReport("check", [finding]))
    table, _, details = text.partition("<details>")

    for markup in ("@a", "fixes #", "```", "<img", "[a]", "**bold", "| cell"):
        assert markup not in table
    assert "fixes &#35;&#8288;12" in table
    (fence,) = re.findall(r"(?m)^(`{3,})$", details)[:1]
    assert "````" == fence
    assert 2 == len(re.findall(rf"(?m)^{fence}$", details))


def test_junit() -> None:
    (suite,) = ET.fromstring(FORMATS[Output.JUNIT](REPORT))
    cases = [(case.get("classname"), case.get("name")) for case in suite]
    (failure,) = suite.iter("failure")

    assert {"name": "schema-core check", "tests": "4", "failures": "1",
            "errors": "0", "skipped": "0"} == suite.attrib  # fmt: skip
    assert ("my dir/a,b.sql", "type-not-found my dir/a,b.sql:3:7") == cases[0]
    assert ("good.sql", "no findings") == cases[-1]
    assert "type-not-found" == failure.get("type")
    assert str(failure.text).endswith("hint: use `INT`")
    assert "0" == ET.fromstring(FORMATS[Output.JUNIT](EMPTY)).get("failures")


@pytest.mark.parametrize("output", Output)
def test_errors_end_with_1_in_every_format(output: Output) -> None:
    with pytest.raises(typer.Exit) as caught:
        finish(REPORT, output)
    assert WRONG == caught.value.exit_code
    finish(EMPTY, output)
    finish(FindingReport("check", FINDINGS[1:]), output)


#: The commands that print findings -> arguments for which they have some.
COMMANDS: dict[str, tuple[str, ...]] = {
    "check": ("{old}",),
    "resolve": ("{bad}",),
    "compat": ("{old}", "{new}"),
    "diff": ("{old}", "{new}"),
    "plan": ("{old}", "{new}", "--target", "postgres"),
}

OLD = "CREATE TABLE t (a BIGINT NOT NULL, m MAP<STRING, INT>) WITH ('connector' = 'x');\n"
NEW = "CREATE TABLE t (a INT NOT NULL, c STRING) WITH ('connector' = 'x');\n"


def parse(output: Output, text: str) -> Any:
    match output:
        case Output.JSON:
            return json.loads(text)
        case Output.GITHUB:
            return commands(text)
        case Output.HTML:
            return read_page(text).tags
        case Output.MARKDOWN:
            return comment(text)[0]
        case Output.JUNIT:
            return [*ET.fromstring(text)]
        case _:
            return text


@pytest.mark.parametrize("output", Output)
@pytest.mark.parametrize("command", COMMANDS)
def test_standard_output_has_the_document_only(
    tmp_path: Path, command: str, output: Output
) -> None:
    files = {"old": OLD, "new": NEW, "bad": "SELECT nope FROM t;"}
    for name, text in files.items():
        (tmp_path / f"{name}.sql").write_text(text)
    paths = {name: tmp_path / f"{name}.sql" for name in files}
    arguments = [item.format(**paths) for item in COMMANDS[command]]
    done = CliRunner().invoke(application(), [command, *arguments, "--format", output.value])

    assert done.exit_code in (0, 1), done.output
    assert parse(output, done.stdout)
    assert "" == done.stderr
