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


def hooks() -> dict[str, dict[str, str]]:
    """Return the hooks by their id; all values in the file are plain."""
    items = HOOKS.read_text().removeprefix("- ").split("\n- ")
    pairs = [dict(re.findall(r"(?m)^ *(\w+): (.+)$", item)) for item in items]
    assert sum(map(len, pairs)) == len(HOOKS.read_text().splitlines())
    return {pair["id"]: pair for pair in pairs}


def steps() -> dict[str, str]:
    """Return the commands of the action by the names of their steps."""
    return dict(re.findall(r"(?ms)^    - name: (.+?)\n.*?^      run: (.+?)$", ACTION.read_text()))


def extras(requirement: str) -> set[str]:
    match = re.search(r"\[([\w,]+)\]", requirement)
    assert match
    return set(match[1].split(","))


def known_extras() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    return set(project["project"]["optional-dependencies"])


def test_the_hook_of_pre_commit(project: Path) -> None:
    hook = hooks()["schema-core-check"]
    assert "python" == hook["language"]
    assert extras(hook["additional_dependencies"].strip('[]"') + "]") <= known_extras()
    assert re.search(hook["files"], "tables/a.sql")
    assert not re.search(hook["files"], "tables/a.sql.py")
    assert re.search(hook["exclude"], "migrations/0001_start.sql")
    assert not re.search(hook["exclude"], "tables/a.sql")

    done = shell(project, f"{hook['entry']} tables/a.sql tables/b.sql")
    assert 1 == done.returncode, done.stderr
    assert "tables/b.sql:1:30: error[factory-not-found]" in done.stdout
    assert 0 == shell(project, f"{hook['entry']} tables/a.sql").returncode


def test_the_hook_for_migrations(project: Path) -> None:
    hook = hooks()["schema-core-migrate-lint"]
    assert "false" == hook["pass_filenames"]
    assert extras(hook["additional_dependencies"].strip('[]"') + "]") <= known_extras()
    for name in ("0001_start.sql", "setup.sql", "migrations.sum"):
        assert re.search(hook["files"], f"a/migrations/{name}")
    assert not re.search(hook["files"], "tables/a.sql")

    (project / "migrations").mkdir()
    file = project / "migrations" / "0001_start.sql"
    file.write_text(f"-- up\n{GOOD}-- down\nDROP TABLE t;\n")
    assert 0 == shell(project, hook["entry"]).returncode
    file.write_text(f"-- up\n{GOOD}-- down\n")
    done = shell(project, hook["entry"])
    assert 1 == done.returncode, done.stderr
    assert "migrations/0001_start.sql:3:1: error[not-restored]" in done.stdout


def test_the_action_of_github(project: Path) -> None:
    text = ACTION.read_text()
    install = steps()["Install"].replace("python -m pip install --quiet", "echo")
    path = {"GITHUB_ACTION_PATH": "/actions/schema-core"}
    default = shell(project, install, REQUIREMENT="", **path).stdout.strip()
    assert default.startswith("/actions/schema-core[")
    assert extras(default) <= known_extras()
    assert "./wheel[cli]" == shell(project, install, REQUIREMENT="./wheel[cli]").stdout.strip()
    for name in re.findall(r"\$\{\{ inputs\.(\w+) \}\}|if: inputs\.(\w+)", text):
        assert re.search(rf"(?m)^  {''.join(name)}:$", text)

    check = steps()["Check"]
    done = shell(project, check, FILES="tables/*.sql", ARGUMENTS="--batch")
    assert 1 == done.returncode, done.stderr
    (line,) = done.stdout.splitlines()
    assert line.startswith("::error file=tables/b.sql,line=1,col=30,title=factory-not-found::")
    assert 0 == shell(project, check, FILES="tables/a.sql", ARGUMENTS="").returncode


def test_the_action_lints_migrations_and_adds_a_summary(project: Path) -> None:
    (project / "my migrations").mkdir()
    for name, down in (("0001_a", ""), ("0002_b", "DROP TABLE t;")):
        text = f"-- up\n{GOOD if name == '0001_a' else ''}-- down\n{down}\n"
        (project / "my migrations" / f"{name}.sql").write_text(text)
    summary = project / "summary.md"
    given = {"MIGRATIONS": "my migrations", "SINCE": "", "GITHUB_STEP_SUMMARY": str(summary)}

    assert 0 == shell(project, steps()["Summarize the migrations"], **given).returncode
    assert summary.read_text().startswith("**schema-core migrate lint**: 2 errors")
    done = shell(project, steps()["Lint the migrations"], **given)
    assert 1 == done.returncode, done.stderr
    assert "::error file=my migrations/0001_a.sql,line=3,col=1,title=not-restored::" in done.stdout
    done = shell(project, steps()["Lint the migrations"], **{**given, "SINCE": "1"})
    assert "0001_a" not in done.stdout
    assert "0002_b" in done.stdout


def test_a_new_project_passes_its_own_workflow(project: Path) -> None:
    new = project / "new"
    assert 0 == CliRunner().invoke(application(), ["init", str(new)]).exit_code
    assert {new / name for name in FILES} == {path for path in new.rglob("*") if path.is_file()}
    commands = re.findall(r"run: (schema-core .+)", FILES[".github/workflows/schemas.yml"])
    assert 2 == len(commands)
    for command in commands:
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
