"""Defaults of options: from a configuration file, and from variables of the environment.

Options of the command line come first, then variables, then the section of the command in the file,
then the common keys of the file. Secrets are not in the file: it names variables that have them.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from schema_core.errors import ExternalError, NotFoundError, SchemaError, at, similar
from schema_core.lazy_dataclass import dataclass
from schema_core.secrets import is_secret, mask_credentials

#: The names of files that are searched for, in the working directory and those above it.
FILE, PROJECT = "schema-core.toml", "pyproject.toml"
#: The table of `PROJECT` below ``tool``.
TOOL = "schema-core"
#: Bytes of a configuration file.
MAX_FILE = 1_000_000
#: Prefix of variables: SCHEMA_CORE_CHECK_FORMAT is `--format` of `check`, SCHEMA_CORE_FORMAT is for
#: all commands, as the options of `COMMON` are. Values of repeated options are split at spaces.
PREFIX = "SCHEMA_CORE"
#: Keys outside of sections: they are options of several commands.
COMMON = ("format", "batch", "quiet", "define", "setup", "directory", "username")

#: Commands with those of their options that have the name of a key of `COMMON` and another meaning.
OWN = frozenset({("new", "directory")})


@dataclass(frozen=True, slots=True)
class CliConfiguration:
    """The content of a configuration file; empty without one."""

    path: Path | None = None
    content: Mapping[str, Any] = field(default_factory=dict)

    def defaults(self, command: str, options: Mapping[str, tuple[str, bool]]) -> dict[str, Any]:
        """Return the defaults of a command by the names of its parameters.

        Args:
            command: The name of the command; of one in a group with that of the group before it.
            options: Option without dashes -> the name of its parameter, and whether it may be
                repeated.

        Raises:
            SchemaError: with code `invalid-configuration` for an unknown key or a value of another
                type, `secret-in-configuration` for a secret.
            NotFoundError: with code `missing-secret` for a variable that is not set.
        """
        section: Any = self.content
        for name in command.split():
            section = section.get(name, {})
            if not isinstance(section, Mapping):
                raise _invalid(f"{name!r} must be a table")
        _require_known(section, options)
        common = {key: one for key, one in self.content.items() if _is_common(command, key)}
        given = {key: one for key, one in {**common, **section}.items() if key in options}
        found = {options[key][0]: _value(key, one, options[key][1]) for key, one in given.items()}
        for key, (name, repeated) in options.items():
            if (variable := _variable(command, key)) is not None:
                found[name] = variable.split() if repeated else variable
        return found


def _is_common(command: str, option: str) -> bool:
    return option in COMMON and (command, option) not in OWN


def _variable(command: str, option: str) -> str | None:
    """Return the value of the variable for an option: that of the command, else that of all."""
    names = [[PREFIX, command, option]]
    names += [[PREFIX, option]] if _is_common(command, option) else []
    variables = ("_".join(one).upper().replace("-", "_").replace(" ", "_") for one in names)
    return next((os.environ[one] for one in variables if os.environ.get(one)), None)


def load(path: Path | None, commands: Iterable[str]) -> CliConfiguration:
    """Return the configuration in a file, or in the nearest one above the working directory.

    Args:
        path: The file, or None to search for one.
        commands: The names of all commands, which are the names of sections.

    Raises:
        ExternalError: with code `file-system-failed` for a file that cannot be read.
        SchemaError: with code `invalid-configuration` for a file that is not TOML, or an unknown
            key or section.
    """
    found = _read(path) if path is not None else _nearest()
    if found is None:
        return CliConfiguration()
    with at(f"file {found.path}"):
        known = [*COMMON, *commands]
        for key in found.content:
            if key not in known:
                raise _unknown(key, known)
    return found


def _nearest() -> CliConfiguration | None:
    directory = Path.cwd()
    for one in (directory, *directory.parents):
        for name in (FILE, PROJECT):
            path = one / name
            if path.is_file() and (found := _read(path)) is not None:
                return found
    return None


def _read(path: Path) -> CliConfiguration | None:
    """Return the configuration in a file; None for a project's file without one."""
    with at(f"file {path}"):
        try:
            with path.open("rb") as file:
                content = file.read(MAX_FILE + 1)
        except OSError as error:
            raise ExternalError(
                f"cannot read the configuration: {error.strerror}", code="file-system-failed"
            ) from None
        if len(content) > MAX_FILE:
            raise _invalid(f"the file has more than {MAX_FILE:,} bytes")
        try:
            document = tomllib.loads(content.decode())
        except (ValueError, RecursionError) as error:
            raise _invalid(f"the file is not TOML: {error}") from None
    if path.name != PROJECT:
        return CliConfiguration(path, document)
    tool = document.get("tool", {}).get(TOOL)
    return None if tool is None else CliConfiguration(path, tool)


def _require_known(section: Mapping[str, Any], options: Mapping[str, object]) -> None:
    for key, one in section.items():
        is_section = section.get(key) is one and isinstance(one, Mapping) and key != "define"
        if key not in options and key not in COMMON and not is_section:
            raise _unknown(key, options)


def _value(key: str, value: Any, repeated: bool) -> Any:
    """Return the default of an option from its value in the file."""
    match value:
        case bool() if not repeated:
            return value
        case str() | int() | {"env": _} if not repeated:
            return _text(key, value)
        case list() if repeated:
            return [_text(key, one) for one in value]
        case dict() if repeated:
            return [f"{name}={_text(name, one)}" for name, one in value.items()]
    expected = "a list of strings or a table" if repeated else "a string, an integer or a boolean"
    raise _invalid(f"{key!r} must be {expected}, got {type(value).__name__}")


def _text(key: str, value: Any) -> str:
    """Return a string, or the value of the variable that ``{ env = "NAME" }`` names."""
    match value:
        case {"env": str(name), **rest} if not rest:
            if name not in os.environ:
                raise NotFoundError(
                    f"{key!r}: the environment variable {name!r} is not set",
                    code="missing-secret",
                    hint=f"set {name}",
                )
            return os.environ[name]
        case str() | int() if not isinstance(value, bool):
            text = str(value)
            if is_secret(key) or mask_credentials(text) != text:
                raise SchemaError(
                    f"{key!r} must not contain a secret",
                    code="secret-in-configuration",
                    hint=f'read it from an environment variable: {key} = {{ env = "NAME" }}',
                )
            return text
    raise _invalid(f'{key!r} must be a string or {{ env = "NAME" }}, got {type(value).__name__}')


def _unknown(key: str, known: Iterable[str]) -> SchemaError:
    names = [*known]
    hint = similar(key, names) or f"known keys: {', '.join(names)}"
    return SchemaError(f"unknown key {key!r}", code="invalid-configuration", hint=hint)


def _invalid(problem: str) -> SchemaError:
    return SchemaError(problem, code="invalid-configuration")
