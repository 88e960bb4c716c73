"""The commands of the tutorials print what the pages show."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from shlex import quote
from tempfile import mkdtemp

import pytest

from tests.test_docs import ROOT

pytestmark = pytest.mark.slow

TUTORIALS = ROOT / "docs" / "tutorials"

#: The name of the file of a block, and its first line, in the paragraph before the block.
_FILE = re.compile(r"(?:Save this as|such as|such as in) `(\w+\.\w+)`(?:, after\s+`([^`]+)`)?")
#: What Java and Spark print on standard error when they start, and the progress of a command.
_PROGRESS = re.compile(
    "WARNING: Using incubator modules|Setting default log level|To adjust logging level"
    r"|schema-core: .*: (running after|finished in|[0-9]+ of [0-9]+ tasks after) [0-9.]+ s"
)
#: What differs between two runs: durations and points in time.
_VARYING = re.compile(
    r"(?<=in )\d+\.\d+s(?: \([0-9:]+\))?|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+\d\d:\d\d"
    r"(?: +[0-9.]+ m?s +)?"
)


def blocks_of(page: str) -> Iterator[tuple[str, str, str]]:
    """Yield the paragraph before each block of a page, the language of the block, and its text."""
    text = (TUTORIALS / page).read_text("utf-8")
    for block in re.finditer(r"(?ms)^```(\w*)\n(.*?)^```", text):
        before = text[: block.start()].rstrip().rpartition("\n\n")[2]
        yield before.replace("\n", " "), block[1], block[2]


def write_files(page: str, folder: Path) -> None:
    """Write the files of a page."""
    for before, _, text in blocks_of(page):
        if named := _FILE.search(before):
            first = f"{named[2]}\n\n" if named[2] else ""
            (folder / named[1]).write_text(first + text, "utf-8")


def commands(session: str) -> Iterator[tuple[str, str]]:
    r"""Yield the commands of a session in a shell, with their here-documents, and their outputs.

    >>> list(commands("$ cat <<'E'\na\nE\na\n$ true\n"))
    [("cat <<'E'\na\nE", 'a\n'), ('true', '')]
    """
    lines = iter(session.splitlines(keepends=True))
    command, output = "", ""
    for line in lines:
        if not line.startswith("$ "):
            output += line
            continue
        if command:
            yield command, output
        command, output = line[2:].rstrip(), ""
        if end := re.search(r"<<'(\w+)'", command):
            for inner in lines:
                command += f"\n{inner.rstrip()}"
                if inner.rstrip() == end[1]:
                    break
    yield command, output


@cache
def programs() -> str:
    """Return a directory with a program `schema-core` that runs this one, installed or not."""
    program = Path(mkdtemp()) / "schema-core"
    start = "import sys; from schema_core.cli.main import main; sys.argv[0] = 'schema-core'; main()"
    program.write_text(f'#!/bin/sh\nexec {quote(sys.executable)} -c {quote(start)} "$@"\n')
    program.chmod(0o755)
    return str(program.parent)


def run(command: str, folder: Path) -> str:
    """Run a command in a directory with the programs of this environment; return its output."""
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([programs(), str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}",
        "COLUMNS": "80",
        "PYTEST_ADDOPTS": "-p no:randomly",  # which only this project installs
    }
    done = subprocess.run(
        ["bash", "-c", command],
        check=False, cwd=folder, env=environment, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    messages = [line for line in done.stderr.splitlines(keepends=True) if not _PROGRESS.match(line)]
    return done.stdout + "".join(messages)


def comparable(output: str, folder: Path) -> str:
    """Return an output without what differs between two runs."""
    return _VARYING.sub("…", output.replace(str(folder), "/data"))


def assert_prints(command: str, shown: str, folder: Path) -> None:
    """Require that a command prints what is shown; of tests the page may show only the end."""
    expected, printed = (comparable(item, folder) for item in (shown, run(command, folder)))
    if command.startswith("pytest "):
        printed = "".join(printed.splitlines(keepends=True)[-len(expected.splitlines()) :])
    assert expected == printed, command


def sessions(page: str) -> Iterator[tuple[str, str]]:
    """Yield all commands of a page with their outputs."""
    for _, language, text in blocks_of(page):
        if not language and text.startswith("$ "):
            yield from commands(text)


@pytest.fixture(scope="module")
def connector(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with the files of the tutorial; its package counts as installed."""
    folder = tmp_path_factory.mktemp("connector")
    write_files("connector.md", folder)
    [project] = [text for _, language, text in blocks_of("connector.md") if language == "toml"]
    parsed = tomllib.loads(project)["project"]
    installed = folder / "json_lines-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {parsed['name']}\nVersion: {parsed['version']}\n", "utf-8"
    )
    groups = [
        f"[{group}]\n" + "".join(f"{name} = {target}\n" for name, target in entries.items())
        for group, entries in parsed["entry-points"].items()
    ]
    (installed / "entry_points.txt").write_text("".join(groups), "utf-8")
    return folder


@pytest.mark.parametrize(("command", "shown"), list(sessions("connector.md")))
def test_the_commands_of_the_connector_print_what_is_shown(
    connector: Path, command: str, shown: str
) -> None:
    assert_prints(command, shown, connector)


@pytest.mark.parametrize(("command", "shown"), list(sessions("catalog.md")))
def test_the_commands_of_the_catalog_print_what_is_shown(
    tmp_path: Path, command: str, shown: str
) -> None:
    write_files("catalog.md", tmp_path)

    assert_prints(command, shown, tmp_path)


#: The start of a command of the migrations -> the changes of tables.sql before it, as in the page.
CHANGES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "schema-core migrate validate": (
        ("distance INT", "distance BIGINT"),
        ("dest STRING", "destination STRING"),
        ("time_hour STRING", "time_hour STRING, km AS distance * 1.609"),
        (" dep_time INT", " dep_time INT NOT NULL"),
    ),
    "schema-core migrate autogenerate": ((" dep_time INT NOT NULL", " dep_time INT"),),
    "schema-core migrate rewrite": (("carrier STRING", "carrier CHAR(2) NOT NULL"),),
}


def prepare(page: str, folder: Path) -> None:
    """Run the commands of a page whose output it does not show."""
    [prepared] = [
        text for _, language, text in blocks_of(page) if not language and not text.startswith("$ ")
    ]
    first, _, others = prepared.partition("\n")
    assert first.startswith("pip install ")
    run(f"set -e\n{others}", folder)


def test_the_commands_of_the_existing_catalog_print_what_is_shown(tmp_path: Path) -> None:
    prepare("existing-catalog.md", tmp_path)

    for command, shown in sessions("existing-catalog.md"):
        assert_prints(command, shown, tmp_path)


def test_the_commands_of_the_migrations_print_what_is_shown(tmp_path: Path) -> None:
    prepare("migrations.md", tmp_path)

    for command, shown in sessions("migrations.md"):
        tables = (tmp_path / "tables.sql").read_text("utf-8")
        for start, changes in CHANGES.items():
            for old, new in changes if command.startswith(start) else ():
                assert 1 == tables.count(old), old
                tables = tables.replace(old, new)
        (tmp_path / "tables.sql").write_text(tables, "utf-8")
        assert_prints(command, shown, tmp_path)
