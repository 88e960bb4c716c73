"""The application: its help imports no command, and shows what they say of themselves."""

from __future__ import annotations

import inspect
import subprocess
import sys
from enum import Enum

import pytest
import typer
from typer.testing import CliRunner

from schema_core.cli.app import application, load_command
from schema_core.cli.commands import COMMANDS, summary


@pytest.mark.parametrize("name", COMMANDS)
def test_summaries_are_the_first_paragraphs_of_the_help(name: str) -> None:
    text = inspect.cleandoc(load_command(name).help)

    assert summary(name) == text.partition("\n\n")[0].replace("\n", " ")


@pytest.mark.parametrize("name", COMMANDS)
def test_defaults_are_texts_as_on_the_command_line(name: str) -> None:
    """With click 8.1, members of enumerations are none of the choices."""
    command = load_command(name)
    for each in (command, *getattr(command, "commands", {}).values()):
        context = each.make_context(name, [], resilient_parsing=True)
        parameters = each.get_params(context)

        assert not [option.name for option in parameters if isinstance(option.default, Enum)]


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["unknown"]])
def test_no_command_is_imported_before_it_runs(arguments: list[str]) -> None:
    program = (
        f"import sys; sys.argv = ['schema-core', *{arguments!r}]\n"
        "from schema_core.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(*(one for one in sys.modules if one.startswith('schema_core.')), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    result = done.stderr.splitlines()[-1].split()
    assert "schema_core.cli.app" in result
    assert not [
        item for item in result if item.split(".")[1] in ("catalog", "environment", "spark")
    ]


def test_the_help_of_a_command_is_its_own() -> None:
    done = CliRunner().invoke(application(), ["migrate", "history", "--help"])

    assert 0 == done.exit_code
    assert "Show the migrations that were applied" in done.stdout


def test_a_similar_command_is_named() -> None:
    done = CliRunner().invoke(application(), ["chek"])

    assert 2 == done.exit_code
    if "suggest_commands" in inspect.signature(typer.Typer).parameters:  # since typer 0.20
        assert "'check'" in done.output
