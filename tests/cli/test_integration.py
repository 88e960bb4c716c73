"""What pre-commit and the GitHub Action run, and what ``init`` writes for CI, is run here."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from schema_core.cli.app import application
from schema_core.cli.commands.new import FILES

ROOT = Path(__file__).parent.parent.parent
HOOKS = ROOT / ".pre-commit-hooks.yaml"
ACTION = ROOT / "action.yml"
GOOD = "CREATE TABLE t (a INT) WITH ('connector' = 'blackhole');\n"
BAD = "CREATE TABLE t (a INT) WITH ('connector' = 'blackhol');\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A directory with two scripts, in a shell in which `schema-core` is this one."""
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "a.sql").write_text(GOOD)
    (tmp_path / "tables" / "b.sql").write_text(BAD)
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "schema-core"
    program = (
        "import sys; from schema_core.cli.main import main; sys.argv[0] = 'schema-core'; main()"
    )
    start = f"{shlex.quote(sys.executable)} -c {shlex.quote(program)}"
    command.write_text(f'#!/bin/sh\nexec {start} "$@"\n')
    command.chmod(0o755)
    return tmp_path


def shell(project: Path, command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    path = f"{project / 'bin'}{os.pathsep}{os.environ['PATH']}"
    packages = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PATH": path, "PYTHONPATH": packages, **variables}
    return subprocess.run(
        ["bash", "-e", "-c", command],
        cwd=project, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


def values(text: str) -> dict[str, str]:
    """Return the pairs of one mapping in YAML whose values are plain."""
    pairs = re.findall(r"(?m)^(?:- | +)(\w+): (.+)$", text)
    assert len(pairs) == len(text.strip().splitlines()), "the file has only plain values"
    return dict(pairs)


def extras(requirement: str) -> set[str]:
    match = re.search(r"\[([\w,]+)\]", requirement)
    assert match
    return set(match[1].split(","))


def known_extras() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    return set(project["project"]["optional-dependencies"])


def test_the_hook_of_pre_commit(project: Path) -> None:
    hook = values(HOOKS.read_text())
    assert ("schema-core-check", "python") == (hook["id"], hook["language"])
    assert extras(hook["additional_dependencies"].strip('[]"') + "]") <= known_extras()
    assert re.search(hook["files"], "tables/a.sql")
    assert not re.search(hook["files"], "tables/a.sql.py")

    done = shell(project, f"{hook['entry']} tables/a.sql tables/b.sql")
    assert 1 == done.returncode, done.stderr
    assert "tables/b.sql:1:30: error[not-discovered]" in done.stdout
    assert 0 == shell(project, f"{hook['entry']} tables/a.sql").returncode


def test_the_action_of_github(project: Path) -> None:
    text = ACTION.read_text()
    install, check = re.findall(r"(?m)^      run: (.+)$", text)
    default = re.search(r"default: (schema-core.+)", text)
    assert default
    assert extras(default[1]) <= known_extras()
    assert 'python -m pip install --quiet "$REQUIREMENT"' == install
    for name in re.findall(r"\$\{\{ inputs\.(\w+) \}\}", text):
        assert re.search(rf"(?m)^  {name}:$", text)

    done = shell(project, check, FILES="tables/*.sql", ARGUMENTS="--batch")
    assert 1 == done.returncode, done.stderr
    (line,) = done.stdout.splitlines()
    assert line.startswith("::error file=tables/b.sql,line=1,col=30,title=not-discovered::")
    assert 0 == shell(project, check, FILES="tables/a.sql", ARGUMENTS="").returncode


def test_a_new_project_passes_its_own_workflow(project: Path) -> None:
    new = project / "new"
    assert 0 == CliRunner().invoke(application(), ["init", str(new)]).exit_code
    assert {new / name for name in FILES} == {path for path in new.rglob("*") if path.is_file()}
    (command,) = re.findall(r"run: (schema-core .+)", FILES[".github/workflows/schemas.yml"])

    done = shell(project, f"cd new && {command}")
    assert (0, "", "") == (done.returncode, done.stdout, done.stderr)
    migrate = "schema-core migrate autogenerate first --from tables && schema-core migrate upgrade"
    done = shell(project, f"cd new && {migrate} && schema-core drift")
    assert 0 == done.returncode, done.stderr


def test_colours_are_only_for_terminals(project: Path) -> None:
    """`FORCE_COLOR` stands for a terminal."""
    command = "schema-core check tables/b.sql"
    assert "\x1b" not in shell(project, command).stdout
    assert "\x1b[1;31m" in shell(project, command, FORCE_COLOR="1").stdout
    done = shell(project, command, FORCE_COLOR="1", NO_COLOR="1")
    assert "\x1b[1;31m" not in done.stdout


def test_options_are_completed(project: Path) -> None:
    words = {"COMP_WORDS": "schema-core check --fo", "COMP_CWORD": "2"}
    done = shell(project, "schema-core", _SCHEMA_CORE_COMPLETE="complete_bash", **words)

    assert "--format" in done.stdout.split()


@pytest.mark.parametrize("arguments", ["--help", "check {file}", "check --help"])
def test_pyspark_is_not_imported(project: Path, arguments: str) -> None:
    given = arguments.format(file=project / "tables" / "a.sql")
    program = (
        f"import sys; sys.argv = ['schema-core', *{given.split()!r}]\n"
        "from schema_core.cli.main import main\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        "assert not {'pyspark', 'pyarrow', 'pandas'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
