"""The commands of docs/how-to/ci.md are run as a reader runs them, in a shell."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "how-to" / "ci.md").read_text(encoding="utf-8")
WALK = PAGE.partition("## A change from the table to the catalog")[2].partition("## GitHub")[0]
PROGRAM = "import sys; from schema_core.cli.main import main; sys.argv[0] = 'schema-core'; main()"


class Shell:
    """A shell in an empty directory, in which `schema-core` is this one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "project"
        self.folder.mkdir()
        (folder / "bin").mkdir()
        command = folder / "bin" / "schema-core"
        start = f"{shlex.quote(sys.executable)} -c {shlex.quote(PROGRAM)}"
        command.write_text(f'#!/bin/sh\nexec {start} "$@"\n')
        command.chmod(0o755)
        identity = {
            f"GIT_{role}_{key}": value
            for role in ("AUTHOR", "COMMITTER")
            for key, value in (("NAME", "a"), ("EMAIL", "a@example.org"))
        }
        self.environment = {
            **os.environ,
            **identity,
            "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
        }

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-e", "-c", command],
            cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False,
        )  # fmt: skip


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def commands(block: str) -> list[tuple[str, int]]:
    """Return the commands of a block, with the exit code that a comment states, else 0."""
    result: list[tuple[str, int]] = []
    waiting: list[str] = []
    for line in block.splitlines():
        waiting.append(line)
        text = "\n".join(waiting)
        if line.endswith("\\") or text.count("<<'SQL'") > len(re.findall(r"(?m)^SQL$", text)):
            continue
        status = re.search(r"# exits with ([0-9])", line)
        result.append((text, int(status[1]) if status else 0))
        waiting = []
    assert not waiting
    return result


def test_the_commands_of_the_page(shell: Shell) -> None:
    """The walk, and the reports of the workflows once the migration has a finding."""
    output = ""
    *start, lint, accept = re.findall(r"(?ms)^```sh\n(.*?)^```", WALK)
    assert 2 == len(start)
    reports = re.findall(r"(?m)^ *(?:- )?(schema-core migrate lint .* > .*)$", PAGE)
    assert 2 == len(reports)
    written = "\n".join(f"{line} || true" for line in reports).replace("origin/main", "main")
    for command, status in [
        *(pair for block in (*start, lint) for pair in commands(block)),
        (written, 0),
        *commands(accept),
    ]:
        done = shell.run(command)
        assert status == done.returncode, (command, done.stdout, done.stderr)
        output += done.stdout

    shown = WALK.partition("```\nmigrations/")[2].partition("```")[0]
    assert f"migrations/{shown}" in output
    assert "default.orders: the migrations do not: drop column `note`" in output
    assert "(accepted: the notes are in the archive)" in output
    report = (shell.folder / "lint.md").read_text()
    assert report.startswith("**schema-core migrate lint**: 1 error\n")
    assert 'type="column-dropped"' in (shell.folder / "lint.xml").read_text()
