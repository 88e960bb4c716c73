"""Defaults of options, from environment variables and a configuration file.

The command line overrides variables, which override the command's section of the file, which
overrides the file's common keys. The file names variables for secrets and contains none.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schema_core.base.lazy import dataclass
from schema_core.base.secrets import is_secret, mask_credentials
from schema_core.errors import ExternalError, NotFoundError, SchemaError, at, similar

if TYPE_CHECKING:
    from schema_core.environment.option_references import OptionReferences

#: The files that are searched for.
FILE, PROJECT = "schema-core.toml", "pyproject.toml"
#: Entries of a repository's root, where the search ends.
REPOSITORY = (".git", ".hg", ".jj", ".svn")
#: The table of `PROJECT` below ``tool``.
TOOL = "schema-core"
#: Bytes of a configuration file.
MAX_FILE = 1_000_000
#: Prefix of variables: SCHEMA_CORE_CHECK_FORMAT is `--format` of `check`; SCHEMA_CORE_FORMAT and
#: other keys of `COMMON` are for all commands. Values of repeated options are split at spaces.
PREFIX = "SCHEMA_CORE"
#: Options of several commands, allowed outside of sections.
COMMON = ("format", "batch", "quiet", "define", "setup", "directory", "username")

#: Keys of the file, and options before the command: which references options may have.
REFERENCES = ("allow-env", "allow-files")

#: The references that the running command allows.
ALLOWED: ContextVar[OptionReferences | None] = ContextVar("allowed references", default=None)

#: Commands, and their options that only have the name of a key of `COMMON`.
OWN = frozenset({("new", "directory")})


@dataclass(frozen=True, slots=True)
class CliConfiguration:
    """The content of a configuration file; empty without one."""

    path: Path | None = None
    content: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_inherited(self) -> bool:
        """Whether the file is above the working directory."""
        return self.path is not None and self.path.parent in Path.cwd().parents

    def strings(self, key: str) -> list[str]:
        """Return a list of strings outside of sections; `SchemaError` for another value."""
        value: Any = _value(key, self.content.get(key, []), repeated=True)
        return [str(item) for item in value]

    def defaults(self, command: str, options: Mapping[str, tuple[str, bool]]) -> dict[str, Any]:
        """Return the defaults of a command by parameter.

        Args:
            command: The name of the command, after that of its group.
            options: Option without dashes -> the name of its parameter, and whether it may be
                repeated.

        Raises:
            SchemaError: with code `invalid-configuration` for an unknown key or a value of another
                type, `exposed-secret` for a secret.
            NotFoundError: with code `variable-not-found` for a variable that is not set.
        """
        section: Any = self.content
        for name in command.split():
            section = section.get(name, {})
            if not isinstance(section, Mapping):
                raise _invalid(f"{name!r} must be a table")
        _require_known(section, options)
        common = {key: value for key, value in self.content.items() if _is_common(command, key)}
        given = {key: value for key, value in {**common, **section}.items() if key in options}
        found = {
            options[key][0]: _value(key, value, options[key][1]) for key, value in given.items()
        }
        for key, (name, repeated) in options.items():
            if (variable := _variable(command, key)) is not None:
                found[name] = variable.split() if repeated else variable
        return found


def _is_common(command: str, option: str) -> bool:
    return option in COMMON and (command, option) not in OWN


def _variable(command: str, option: str) -> str | None:
    """Return the variable of the command for an option, else that of all commands."""
    names = [[PREFIX, command, option]]
    names += [[PREFIX, option]] if _is_common(command, option) else []
    variables = ("_".join(name).upper().replace("-", "_").replace(" ", "_") for name in names)
    return next((os.environ[variable] for variable in variables if os.environ.get(variable)), None)


def load(path: Path | None, commands: Iterable[str]) -> CliConfiguration:
    """Return the configuration in a file, or in the nearest one at or above the working directory.

    The search ends at the root of a repository and at the home directory. A file that was searched
    for must belong to the user or root, and only they may write it.

    Args:
        path: The file, or None to search for one.
        commands: The names of sections.

    Raises:
        ExternalError: with code `file-system-failed` for a file that cannot be read.
        SchemaError: with code `invalid-configuration` for a file that is not TOML, or an unknown
            key or section, `not-allowed` for a file that others may have written.
    """
    configuration = _read(path) if path is not None else _nearest()
    if configuration is None:
        return CliConfiguration()
    with at(f"file {configuration.path}"):
        known = [*COMMON, *REFERENCES, *commands]
        for key in configuration.content:
            if key not in known:
                raise _unknown(key, known)
    return configuration


def _nearest() -> CliConfiguration | None:
    for directory in _searched_directories():
        for name in (FILE, PROJECT):
            path = directory / name
            if path.is_file() and (configuration := _read(path, is_named=False)) is not None:
                return configuration
    return None


def _searched_directories() -> Iterator[Path]:
    directory = Path.cwd()
    home = Path(os.path.expanduser("~")).resolve()  # noqa: PTH111 - Path.home() may raise
    for searched in (directory, *directory.parents):
        yield searched
        if searched == home or any((searched / entry).exists() for entry in REPOSITORY):
            return


def _require_trusted(path: Path, status: os.stat_result) -> None:
    """Refuse a file, or a symbolic link to it, that another user may have written."""
    if not hasattr(os, "getuid"):  # Windows has no owners and modes of this kind
        return
    if not {path.lstat().st_uid, status.st_uid} <= {0, os.getuid()}:
        reason = "the file belongs to another user"
    elif status.st_mode & stat.S_IWOTH:
        reason = "all users may write the file"
    else:
        return
    raise SchemaError(
        f"{reason}, who could decide which SQL is run",
        code="not-allowed",
        hint="if you trust the file, name it with --config, or change its owner and mode",
    )


def _read(path: Path, is_named: bool = True) -> CliConfiguration | None:
    """Return the configuration in a file; None for a pyproject.toml without one."""
    with at(f"file {path}"):
        try:
            with path.open("rb") as file:
                status = os.fstat(file.fileno())
                content = file.read(MAX_FILE + 1)
        except OSError as error:
            raise ExternalError(
                f"cannot read the configuration: {error.strerror}", code="file-system-failed"
            ) from None
        if len(content) > MAX_FILE:
            raise _invalid(f"the file has more than {MAX_FILE:,} bytes")
        import tomllib  # slow to import, and most projects have no configuration

        try:
            document: Any = tomllib.loads(content.decode())
        except (ValueError, RecursionError) as error:
            raise _invalid(f"the file is not TOML: {error}") from None
        if path.name == PROJECT:
            tools = document.get("tool")
            document = tools.get(TOOL) if isinstance(tools, dict) else None
            if document is None:
                return None
            if not isinstance(document, dict):
                raise _invalid(f"'tool.{TOOL}' must be a table")
        if not is_named:
            _require_trusted(path, status)
    return CliConfiguration(path, document)


def _require_known(section: Mapping[str, Any], options: Mapping[str, object]) -> None:
    for key, entry in section.items():
        is_section = section.get(key) is entry and isinstance(entry, Mapping) and key != "define"
        if key not in options and key not in COMMON and not is_section:
            raise _unknown(key, options)


def _value(key: str, value: Any, repeated: bool) -> Any:
    match value:
        case bool() if not repeated:
            return value
        case str() | int() | {"env": _} if not repeated:
            return _text(key, value)
        case list() if repeated:
            return [_text(key, item) for item in value]
        case dict() if repeated:
            return [f"{name}={_text(name, item)}" for name, item in value.items()]
    expected = "a list of strings or a table" if repeated else "a string, an integer or a boolean"
    raise _invalid(f"{key!r} must be {expected}, got {type(value).__name__}")


def _text(key: str, value: Any) -> str:
    """Return a string, or the variable that ``{ env = "NAME" }`` names."""
    match value:
        case {"env": str(name), **rest} if not rest:
            if name not in os.environ:
                raise NotFoundError(
                    f"{key!r}: the environment variable {name!r} is not set",
                    code="variable-not-found",
                    hint=f"set {name}",
                )
            return os.environ[name]
        case str() | int() if not isinstance(value, bool):
            text = str(value)
            if is_secret(key) or mask_credentials(text) != text:
                raise SchemaError(
                    f"{key!r} must not contain a secret",
                    code="exposed-secret",
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
