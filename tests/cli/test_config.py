"""Defaults of options: their order, unknown keys, and secrets by reference."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from schema_core.cli.app import application
from schema_core.cli.config import COMMON, REPOSITORY, load

GOOD = "CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '${p}')"

#: Defines the variable of `GOOD`, so that there is no warning on stderr.
DEFINED = ("--define", "p=x")


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "below").mkdir()
    (tmp_path / "good.sql").write_text(GOOD)
    monkeypatch.chdir(tmp_path / "below")
    return tmp_path


def check(*options: str, command: str = "check", **variables: str) -> Result:
    return CliRunner().invoke(application(), [command, *options, "../good.sql"], env=variables)


def test_the_command_line_comes_first_then_variables_then_the_file(project: Path) -> None:
    file = project / "schema-core.toml"
    assert "" == check().stdout
    file.write_text('format = "json"\n')
    assert "check" == json.loads(check().stdout)["command"]
    file.write_text('format = "json"\n[check]\nformat = "html"\n')
    assert check().stdout.startswith("<!DOCTYPE html>")
    assert "check" == json.loads(check(SCHEMA_CORE_FORMAT="json").stdout)["command"]
    assert "" == check(SCHEMA_CORE_FORMAT="json", SCHEMA_CORE_CHECK_FORMAT="github").stdout
    assert '"findings"' in check("--format", "json", SCHEMA_CORE_CHECK_FORMAT="github").stdout


def test_a_project_has_a_table_in_its_own_file(project: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.schema-core]\nformat = "json"\n')
    assert check().stdout.startswith("{")
    (project / "below" / "pyproject.toml").write_text('[tool.other]\nformat = "html"\n')
    assert check().stdout.startswith("{")
    other = project / "other.toml"
    other.write_text('[check]\nformat = "html"\n')
    given = ["--config", str(other), "check", "../good.sql"]
    assert CliRunner().invoke(application(), given).stdout.startswith("<!DOCTYPE")
    assert check(SCHEMA_CORE_CONFIG=str(other)).stdout.startswith("<!DOCTYPE")


def test_options_of_a_command_in_a_group(project: Path) -> None:
    (project / "schema-core.toml").write_text(
        'directory = "../there"\n[migrate.history]\nformat = "json"\n[migrate.new]\n'
    )
    done = CliRunner().invoke(application(), ["migrate", "new", "first"])

    assert 0 == done.exit_code, done.output
    assert "../there/0001_first.sql\n" == done.stdout


def test_definitions_are_a_table_or_a_list(project: Path) -> None:
    file, script = project / "schema-core.toml", project / "good.sql"
    file.write_text('[define]\np = { env = "PLACE" }\n')
    assert "path' = '/here'" in check("--format", "sql", command="show", PLACE="/here").stdout
    file.write_text('define = ["p=/there"]\n')
    assert "path' = '/there'" in check("--format", "sql", command="show").stdout
    assert script.read_text() == GOOD


@pytest.mark.parametrize(
    ("text", "problem", "hint"),
    [
        ("[chek]", "unknown key 'chek'", "did you mean 'check'?"),
        ("[check]\nformt = 'json'", "unknown key 'formt'", "did you mean 'format'?"),
        ("fromat = 'json'", "unknown key 'fromat'", "did you mean 'format'?"),
        ("check = 1", "'check' must be a table", ""),
        ("[check]\ndefine = 'a=b'", "'define' must be a list of strings or a table, got str", ""),
        ("[check]\nformat = ['json']", "'format' must be a string, an integer or a boolean", ""),
        ("[check]\nformat = {file = 'a'}", "'format' must be a string", ""),
        ("[define]\np = 1.5", "'p' must be a string or { env = \"NAME\" }, got float", ""),
        ("[define]\np = {env = 'NOT_SET'}", "variable 'NOT_SET' is not set", "set NOT_SET"),
        (
            "[define]\npassword = 'hunter2'",
            "'password' must not contain a secret",
            '{ env = "NAME" }',
        ),
        (
            "[define]\nurl = 'https://ann:hunter2@host'",
            "'url' must not contain a secret",
            '{ env = "NAME" }',
        ),
        ("= 1", "the file is not TOML", ""),
        ("#" * 1_000_001, "more than 1,000,000 bytes", ""),
    ],
)
def test_invalid_configurations_end_with_2(
    project: Path, text: str, problem: str, hint: str
) -> None:
    (project / "schema-core.toml").write_text(text)
    done = check()

    assert 2 == done.exit_code, done.output
    assert problem in done.stderr
    assert hint in done.stderr
    assert "hunter2" not in done.output
    assert "" == done.stdout


def test_a_value_that_the_option_refuses_ends_with_2(project: Path) -> None:
    (project / "schema-core.toml").write_text('format = "jsn"')
    done = check()

    assert 2 == done.exit_code
    assert "'jsn' is not one of" in done.stderr


def test_a_missing_configuration_ends_with_2() -> None:
    done = CliRunner().invoke(application(), ["--config", "absent.toml", "doctor"])

    assert 2 == done.exit_code
    assert "absent.toml" in done.stderr


def test_there_is_nothing_without_a_file() -> None:
    assert {} == load(None, COMMON).content


@pytest.mark.parametrize("entry", REPOSITORY)
@pytest.mark.parametrize("kind", ["directory", "file"])
def test_the_search_ends_at_the_root_of_a_repository(project: Path, entry: str, kind: str) -> None:
    (project / "schema-core.toml").write_text('format = "json"\n')
    marker = project / "below" / entry
    marker.mkdir() if kind == "directory" else marker.write_text("gitdir: elsewhere")

    assert load(None, COMMON).path is None

    (project / "below" / "schema-core.toml").write_text('format = "html"\n')

    assert project / "below" / "schema-core.toml" == load(None, COMMON).path


def test_the_search_ends_at_the_home_directory(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "schema-core.toml").write_text('format = "json"\n')
    (project / "link").symlink_to(project / "below")
    (project / "below" / "deeper").mkdir()
    monkeypatch.chdir(project / "below" / "deeper")
    monkeypatch.setenv("HOME", str(project / "link"))

    assert load(None, COMMON).path is None

    (project / "below" / "schema-core.toml").write_text('format = "html"\n')

    assert project / "below" / "schema-core.toml" == load(None, COMMON).path


def test_a_file_above_the_working_directory_is_named_on_stderr(project: Path) -> None:
    file = project / "schema-core.toml"
    file.write_text('format = "json"\n')

    assert f"schema-core: the configuration is {file}\n" == check(*DEFINED).stderr
    assert "" == check(*DEFINED, SCHEMA_CORE_CONFIG=str(file)).stderr

    (project / "below" / "schema-core.toml").write_text('format = "json"\n')

    assert "" == check(*DEFINED).stderr


def foreign_owner(file: Path) -> None:
    os.chown(file, 12345, -1)


def foreign_link(file: Path) -> None:
    file.rename(file.with_suffix(".target"))
    file.symlink_to(file.with_suffix(".target"))
    os.chown(file, 12345, -1, follow_symlinks=False)


def world_writable(file: Path) -> None:
    file.chmod(0o646)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no owners and modes of this kind")
@pytest.mark.parametrize("expose", [foreign_owner, foreign_link, world_writable])
@pytest.mark.parametrize("name", ["schema-core.toml", "pyproject.toml"])
@pytest.mark.parametrize("place", [".", "below"])
def test_a_file_that_others_may_have_written_is_refused(
    project: Path, expose: Callable[[Path], None], name: str, place: str
) -> None:
    file = project / place / name
    file.write_text('[tool.schema-core]\nformat = "json"\n' if "py" in name else 'format = "json"')
    try:
        expose(file)
    except PermissionError:
        pytest.skip("only root may change the owner of a file")
    refused = check(*DEFINED)

    assert 2 == refused.exit_code
    assert "error[not-allowed]" in refused.stderr
    assert str(file) in refused.stderr

    named = check(*DEFINED, SCHEMA_CORE_CONFIG=str(file))

    assert (0, "") == (named.exit_code, named.stderr)


def test_a_project_file_without_a_table_may_belong_to_anybody(project: Path) -> None:
    file = project / "below" / "pyproject.toml"
    file.write_text("[tool.other]\n")
    file.chmod(0o666)

    assert (0, "") == (check(*DEFINED).exit_code, check(*DEFINED).output)


@pytest.mark.parametrize("text", ["tool = 1", "[tool]\nschema-core = 1"])
def test_a_project_file_with_another_value_is_no_crash(project: Path, text: str) -> None:
    (project / "pyproject.toml").write_text(text)

    assert check(*DEFINED).exit_code == (0 if text == "tool = 1" else 2)
    assert "Traceback" not in check(*DEFINED).output


REFERENCE = "CREATE CATALOG c WITH ('type' = 'generic_in_memory', 'default-database' = '{}');"


def run_reference(*arguments: str, **variables: str) -> Result:
    variables = {"SHOP_USER": "annabel"} | variables
    return CliRunner().invoke(application(), [*arguments, "run", "refers.sql"], env=variables)


def test_references_are_allowed_by_the_command_line_variables_and_the_file(project: Path) -> None:
    script, directory = project / "below" / "refers.sql", project / "secrets"
    directory.mkdir()
    (directory / "user").write_text("annabel")
    script.write_text(REFERENCE.format("${env:SHOP_USER}"))
    refused = run_reference()
    assert 1 == refused.exit_code
    assert "run schema-core --allow-env 'SHOP_USER'" in refused.stderr

    assert 0 == run_reference("--allow-env", "SHOP_USER").exit_code
    assert 0 == run_reference(SCHEMA_CORE_ALLOW_ENV="OTHER SHOP_USER").exit_code
    assert 1 == run_reference("--allow-files", str(directory)).exit_code
    (project / "below" / "schema-core.toml").write_text('allow-env = ["SHOP_USER"]\n')
    assert 0 == run_reference().exit_code
    assert 1 == run_reference("--allow-env", "OTHER").exit_code
    script.write_text(REFERENCE.format(f"${{file:{directory}/user}}"))
    assert 0 == run_reference("--allow-files", "../secrets").exit_code
    (project / "below" / "schema-core.toml").write_text('allow-env = "SHOP_USER"\n')
    assert 2 == run_reference().exit_code
