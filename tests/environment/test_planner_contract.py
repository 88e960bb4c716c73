"""The contract of planners itself: it rejects every incorrect planner.

Each is the planner of `schema-core new` with one change of its source.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from schema_core.cli.commands.new import Kit, write_package

ROOT = Path(__file__).parents[2]


class Mutant(NamedTuple):
    """A change of a file of the planner."""

    file: str
    old: str
    new: str


PLANNER, EXPRESSIONS = "planner.py", "expressions.py"

#: What the planner does wrong -> the change.
MUTANTS: dict[str, Mutant] = {
    "nothing": Mutant(PLANNER, "A planner", "A planner"),
    "ignores DISTINCT": Mutant(PLANNER, "qualify=None, distinct=False, hints", "hints"),
    "ignores HAVING": Mutant(PLANNER, "grouping=None, having=None, qualify", "qualify"),
    "ignores ORDER BY": Mutant(PLANNER, "keys=(), offset", "offset"),
    "ignores OFFSET": Mutant(PLANNER, "offset or 0", "0"),
    "keeps rows of NULL": Mutant(PLANNER, "if condition(row)", "if condition(row) is not False"),
    "compares NULL": Mutant(
        EXPRESSIONS, "None if one is None or other is None else operation", "operation"
    ),
    "has two truth values": Mutant(
        EXPRESSIONS, "return None if None in values else not deciding", "return not deciding"
    ),
    "repeats names": Mutant(
        PLANNER,
        "in result_columns(query)),\n            plan",
        "in query.columns),\n            plan",
    ),
    "shows values of Python": Mutant(
        EXPRESSIONS, "str(value).upper() if isinstance(value, bool) else str(value)", "str(value)"
    ),
    "ignores hints": Mutant(
        PLANNER, "self._context.source(scan)", "self._context.table(scan.table.identifier)"
    ),
    "ignores options": Mutant(PLANNER, 'set(options) - {"connector", "path"}', "()"),
    "reads tables of all connectors": Mutant(
        PLANNER, 'if options.get("connector") != self.identifier:', "if False:"
    ),
    "stores computed columns": Mutant(
        PLANNER, "if not isinstance(column, PhysicalColumn):", "if False:"
    ),
    "appends instead of OVERWRITE": Mutant(PLANNER, "if overwrite or partition:", "if partition:"),
    "ignores the list of columns": Mutant(
        PLANNER, "list(types) if columns is None else list(columns)", "list(types)"
    ),
    "stores NULL": Mutant(
        PLANNER, "if value is None and not types[name].is_nullable:", "if False:"
    ),
    "writes at once": Mutant(
        PLANNER, 'name = f"insert', "job.run(''); job.commit()\n        name = f\"insert"
    ),
    "shows rows before the commit": Mutant(PLANNER, ".hex}.new", ".hex}.jsonl"),
    "commits when it is aborted": Mutant(
        PLANNER, "self._file.unlink(missing_ok=True)", "self._file.exists() and self.commit()"
    ),
    "is not cancelled": Mutant(PLANNER, "self._canceled.set()", "pass"),
    "does not undo": Mutant(PLANNER, "self._registration.undo()", "pass"),
    "creates no table": Mutant(PLANNER, "self._registration.create()", "pass"),
    "has no sinks": Mutant(PLANNER, "(name, job, [target.identifier])", "(name, job)"),
    "raises errors of Python": Mutant(EXPRESSIONS, "return UnsupportedError(", "return dict("),
}

#: Runs the tests of each package until its first failed test, and prints that test.
RUN = """
import json, sys, pytest

class Noted:
    failed = ""
    def pytest_runtest_logreport(self, report):
        if report.failed: self.failed = report.nodeid.rsplit("::", 1)[1]

for package in json.loads(sys.argv[1]):
    sys.path.insert(0, f"{package}/src")
    noted = Noted()
    options = ["-x", "-q", "--no-header", "--no-summary", "-p", "no:cacheprovider"]
    options += ["-k", "TestLocalPlanner", "--rootdir", package, package]
    pytest.main(options, plugins=[noted])
    print(f"\\nnoticed {package} {noted.failed}")
    for name in [one for one in sys.modules if one.split(".")[0] in ("tests", "test_planner")]:
        del sys.modules[name]
"""


@pytest.fixture(scope="module")
def noticed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What a planner does wrong -> the first test that it failed."""
    folder = tmp_path_factory.mktemp("planners")
    packages = {}
    for number, (name, mutant) in enumerate(MUTANTS.items()):
        package = folder / f"planner-{number}"
        write_package(Kit.PLANNER, package.name, package)
        file = package / "src" / f"planner_{number}" / mutant.file
        text = file.read_text("utf-8")
        assert mutant.old in text, name
        file.write_text(text.replace(mutant.old, mutant.new), "utf-8")
        packages[str(package)] = name
    command = [sys.executable, "-c", RUN, json.dumps(list(packages))]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    lines = [line.split(" ") for line in done.stdout.splitlines() if line.startswith("noticed ")]
    assert len(lines) == len(packages), done.stdout + done.stderr
    return {packages[path]: " ".join(test) for _, path, *test in lines}


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTANTS)
def test_the_contract_fails_for_an_incorrect_planner(noticed: dict[str, str], name: str) -> None:
    assert noticed[name].startswith("test_") == (name != "nothing")
