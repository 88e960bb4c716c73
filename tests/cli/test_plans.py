"""``schema-core compile-plan`` and ``run-plan``: files, errors and exit codes, without Spark."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from schema_core.cli import GOOD, UNREADABLE, WRONG
from schema_core.cli.app import application

SCRIPT = """
CREATE TEMPORARY TABLE source (a INT) WITH ('connector' = 'datagen', 'password' = 'hunter2');
CREATE TABLE sink (a INT) WITH ('connector' = 'blackhole');
INSERT INTO sink SELECT a FROM source
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "script.sql"
    path.write_text(SCRIPT, encoding="utf-8")
    return path


def called(*arguments: object) -> Result:
    return CliRunner().invoke(application(), list(map(str, arguments)))


def test_the_last_statement_is_compiled(script: Path, tmp_path: Path) -> None:
    output = tmp_path / "plan.json"
    done = called("compile-plan", script, "-o", output)
    assert (done.exit_code, done.stdout) == (GOOD, "")
    assert "SCHEMA_CORE_SECRET_DEFAULT_CATALOG_DEFAULT_DATABASE_SOURCE_PASSWORD" in done.stderr
    text = output.read_text(encoding="utf-8")
    assert "hunter2" not in text
    assert json.loads(text)["jobs"][0]["sink"][-1] == "sink"
    again = called("compile-plan", script, "-o", output)
    assert again.exit_code == WRONG
    assert "error[already-exists]" in again.stderr
    assert called("compile-plan", script, "-o", output, "--replace").exit_code == GOOD


def test_errors_of_compile_plan(script: Path, tmp_path: Path) -> None:
    output = tmp_path / "plan.json"
    script.write_text(SCRIPT.replace("SELECT a", "SELECT b"), encoding="utf-8")
    done = called("compile-plan", script, "-o", output)
    assert done.exit_code == WRONG
    assert f"{script}:4:25: error[unknown-column]" in done.stderr
    assert called("compile-plan", tmp_path / "missing.sql", "-o", output).exit_code == UNREADABLE
    assert not output.exists()


@pytest.mark.parametrize(
    ("text", "exit_code", "error"),
    [
        ("{}", WRONG, "error[invalid-plan]"),
        ("", UNREADABLE, "it is empty"),
        ("\x00", WRONG, "error[invalid-plan]"),
    ],
)
def test_errors_of_run_plan(tmp_path: Path, text: str, exit_code: int, error: str) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text(text, encoding="utf-8")
    done = called("run-plan", plan)
    assert done.exit_code == exit_code
    assert error in done.stderr


def test_a_plan_needs_its_secrets(script: Path, tmp_path: Path) -> None:
    output = tmp_path / "plan.json"
    called("compile-plan", script, "-o", output)
    done = called("run-plan", output)
    assert done.exit_code == WRONG
    assert "error[variable-not-found]" in done.stderr
