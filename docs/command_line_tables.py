"""The tables of docs/command-line.md, printed from the commands."""

from __future__ import annotations

from collections.abc import Callable

from docs.mapping_tables import code, table
from schema_core.cli.commands import COMMANDS, EXIT_CODES, summary
from schema_core.cli.config import COMMON
from schema_core.cli.findings import Output
from schema_core.cli.installation import PURPOSES


def commands() -> str:
    """The commands with their summaries."""
    rows = [(code(name), summary(name)) for name in COMMANDS]
    return table(("command", "effect"), rows) + "\n"


def extras() -> str:
    """The extras, and what they add."""
    rows = [(code(name), purpose) for name, purpose in PURPOSES.items()]
    return table(("extra", "adds"), rows) + "\n"


def exit_codes() -> str:
    """The commands that exit with 1, by what it means."""
    commands: dict[str, list[str]] = {}
    for name, meaning in EXIT_CODES.items():
        if meaning[1]:
            commands.setdefault(meaning[1], []).append(code(name))
    rows = [(meaning, ", ".join(names)) for meaning, names in commands.items()]
    return table(("exit code 1", "of"), rows) + "\n"


def formats() -> str:
    """The names of the formats."""
    return ", ".join(code(item.value) for item in Output) + "\n"


def common() -> str:
    """The keys outside of sections."""
    return ", ".join(map(code, COMMON)) + "\n"


#: Name of a part -> what writes it.
PARTS: dict[str, Callable[[], str]] = {
    "commands": commands,
    "extras": extras,
    "exit_codes": exit_codes,
    "finding_formats": formats,
    "common_keys": common,
}
