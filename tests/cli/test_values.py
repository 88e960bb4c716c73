"""No command prints the value of a variable, which may be secret, in errors and dry runs."""

from __future__ import annotations

from enum import Enum
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperGroup
from typer.testing import CliRunner

from schema_core.cli import GOOD
from schema_core.cli.app import application, load_command
from schema_core.cli.commands import EXIT_CODES
from schema_core.cli.commands.migrate import MigrationOutput
from schema_core.cli.commands.run import create_table_as
from schema_core.cli.commands.tables import DiagramOutput
from schema_core.cli.findings import Output

#: With an apostrophe, which is doubled in SQL, and without.
SECRETS = ("it's-hunter2", "letmein99")
DEFINED = [f"--define={name}={value}" for name, value in zip("pq", SECRETS, strict=True)]

#: The excerpt of the error shows `p`, its message `q`.
BAD = (
    "CREATE TABLE t (a INT) WITH ('connector' = 'blackhole');\n"
    "CREATE CATALOG c WITH ('property-version' = '${p}', 'type' = '${q}');\n"
)
FILES = {
    "bad.sql": BAD,
    "late.sql": "CREATE TABLE t (a INT) WITH ('connector' = 'x'); SELECT '${p}', nope('${q}');",
    "query.sql": "SELECT '${p}' || nope('${q}') AS a",
    "good.sql": "CREATE TABLE s (a INT, b AS '${p}' || '${q}') WITH ('connector' = 'datagen');",
    "migrations/setup.sql": BAD,
    "migrations/0001_a.sql": "-- up\nCREATE TABLE t (a INT);\n-- down\nDROP TABLE t;\n",
    "tried/setup.sql": "CREATE CATALOG c WITH ('type' = 'sql', 'url' = 'sqlite:///c.db');"
    "USE CATALOG c;",
    "tried/0001_a.sql": "-- up\nCREATE TABLE u (a INT) COMMENT '${p} ${q}';\n",
}
MIGRATIONS = "--directory migrations"

#: Command -> its arguments, each of an error or a dry run.
CASES = {
    "run": ["bad.sql", "--no-check bad.sql", "late.sql"],
    "sql": ["--setup bad.sql"],
    "compile-plan": ["bad.sql -o plan.json"],
    "ctas": [
        "t query.sql",
        "t good.sql",
        "t late.sql --setup bad.sql",
        "t select.sql --setup good.sql -o connector=blackhole --dry-run",
    ],
    "recover": ["bad.sql"],
    "refresh": ["bad.sql"],
    "resolve": ["bad.sql", "late.sql", "good.sql"],
    "check": ["bad.sql", "late.sql", "good.sql --setup bad.sql"],
    "show": ["bad.sql"],
    "snapshot": ["bad.sql -o out"],
    "diagram": ["bad.sql"],
    "validate": [f"t --from good.sql {MIGRATIONS}"],
    "drift": [MIGRATIONS],
    "table-diff": [f"t t {MIGRATIONS}"],
    "migrate upgrade": [
        MIGRATIONS,
        f"{MIGRATIONS} --dry-run",
        "--directory tried --dry-run",
    ],
    "migrate downgrade": [f"{MIGRATIONS} base"],
    "migrate history": [MIGRATIONS],
    "migrate stamp": [f"{MIGRATIONS} 1"],
    "migrate drift": [MIGRATIONS],
    "migrate baseline": [MIGRATIONS],
    "migrate autogenerate": [f"b --from good.sql {MIGRATIONS}"],
    "migrate lint": ["--directory tried --setup late.sql", "--directory tried"],
    "migrate check": [f"--from good.sql {MIGRATIONS} --setup late.sql"],
    "migrate validate": [f"t --from good.sql {MIGRATIONS}"],
    "migrate try": [MIGRATIONS, "--directory tried --run late.sql"],
    "migrate table-diff": [f"t t {MIGRATIONS}"],
    "migrate rewrite": [f"t --from good.sql {MIGRATIONS}"],
}


#: Command -> its formats, if they are not those of findings.
FORMATS: dict[str, type[Enum]] = {"diagram": DiagramOutput, "migrate history": MigrationOutput}


def parameters_of(name: str) -> dict[str, Any]:
    first, _, second = name.partition(" ")
    command: Any = load_command(first)
    if second:
        assert isinstance(command, TyperGroup)
        command = command.commands[second]
    return {parameter.name: parameter for parameter in command.params}


def test_all_commands_with_variables_are_tested() -> None:
    assert {name for name in EXIT_CODES if "define" in parameters_of(name)} == CASES.keys()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in {**FILES, "select.sql": "SELECT '${p}${q}' AS a FROM s"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", CASES)
def test_values_are_not_printed(name: str) -> None:
    formats: list[tuple[str, ...]] = [()]
    if "--format" in getattr(parameters_of(name).get("output"), "opts", ()):
        formats = [("--format", each.value) for each in FORMATS.get(name, Output)]
    shows_variables = False
    for arguments, form in ((case, form) for case in CASES[name] for form in formats):
        given = [*name.split(), *arguments.split(), *form, *DEFINED]
        result = CliRunner().invoke(application(), given, input="")
        printed = result.stdout + result.stderr
        assert "Traceback" not in printed
        assert result.exception is None or isinstance(result.exception, SystemExit), given
        for value in chain(SECRETS, ("hunter2",)):
            assert value not in printed, (given, printed)
        shows_variables |= "${p}" in printed
        if "bad.sql" in arguments or MIGRATIONS in arguments:
            assert result.exit_code != GOOD, (given, printed)
    assert shows_variables


def test_variables_in_options_of_ctas_are_text() -> None:
    assert create_table_as("t", "SELECT ${q}", ["a=${p}"]) == (
        "CREATE TABLE `t`\nWITH ('a' = '$${p}')\nAS SELECT ${q}"
    )


def test_values_are_as_in_migrations(folder: Path) -> None:
    (folder / "s.sql").write_text("SELECT '${p}', '$${p}', '${r}';  -- ${r}")
    result = CliRunner().invoke(application(), ["resolve", "s.sql", "--define=p=it's"])

    assert GOOD == result.exit_code, result.output
    assert 1 == result.stderr.count("${r} is not defined")
    assert "${p}" not in result.stderr
