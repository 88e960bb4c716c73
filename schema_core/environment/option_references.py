"""Options that name a secret elsewhere: ``${env:NAME}`` and ``${file:PATH}``.

A table, catalog or connection stores the reference. It is resolved where an engine reads or writes
the table, or where the catalog is opened, and only if the program has allowed it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from re import Match

from schema_core.base.arguments import require_instance, require_sequence
from schema_core.base.lazy import regex
from schema_core.base.secrets import SecretString
from schema_core.base.text import show
from schema_core.errors import NotFoundError, SchemaError, UnsupportedError, at

_REFERENCE = regex(r"(\$?)\$\{(env|file):([^{}]*)\}")

#: The largest file that a reference may name, in bytes.
MAX_FILE = 64 * 1024


class OptionReferences:
    """The references that a program allows: by default none, or those of other references."""

    def __init__(self, other: OptionReferences | None = None) -> None:
        self._variables: frozenset[str] = frozenset()
        self._directories: tuple[Path, ...] = ()
        if other is not None:
            self.allow_all(other)

    def allow(
        self, variables: Iterable[str], directories: Iterable[str | os.PathLike[str]]
    ) -> None:
        """Allow variables of the process, by exact names, and files below absolute directories.

        Raises:
            SchemaError: with code `invalid-argument` for anything else.
        """
        names = require_sequence(variables, "environment_variables")
        for name in names:
            require_instance(name, str, "the name of a variable")
        paths = []
        for directory in require_sequence(directories, "directories"):
            require_instance(directory, (str, os.PathLike), "a directory")
            path = Path(directory)
            if not path.is_absolute():
                raise SchemaError(
                    f"the directory {show(str(directory))} must be an absolute path",
                    code="invalid-argument",
                )
            paths.append(path.resolve())
        self._variables |= frozenset(names)
        self._directories += tuple(paths)

    def allow_all(self, other: OptionReferences) -> None:
        """Allow what other references allow."""
        self._variables |= other._variables
        self._directories += other._directories

    def resolve(self, options: Mapping[str, str]) -> dict[str, str]:
        """Return options with the values of their references, which are masked in all output.

        ``$${env:NAME}`` is the text ``${env:NAME}``.

        Raises:
            UnsupportedError: with code `not-allowed`.
            NotFoundError: with code `variable-not-found` for a variable or file that does
                not exist, or cannot be read.
        """
        return {key: self._resolve_value(key, value) for key, value in options.items()}

    def _resolve_value(self, key: str, value: str) -> str:
        if "${" not in value or _REFERENCE.search(value) is None:
            return value
        secrets: list[str] = []

        def replace(match: Match[str]) -> str:
            escape, kind, name = match.groups()
            if escape:
                return match[0][1:]
            secrets.append(self._variable(name) if kind == "env" else self._file(name))
            return secrets[-1]

        with at(f"option {key!r}"):
            text = _REFERENCE.sub(replace, value)
        return SecretString(text, secrets) if secrets else text

    def _variable(self, name: str) -> str:
        if name not in self._variables:
            raise UnsupportedError(
                f"the variable {show(name)} of the process is not allowed in options",
                code="not-allowed",
                hint=f"if scripts may read it, call allow_option_references([{name!r}]) of the "
                f"environment, or run schema-core --allow-env {show(name)}",
            )
        if name not in os.environ:
            raise NotFoundError(
                f"there is no variable {show(name)} of the process",
                code="variable-not-found",
                hint="set it before the program starts",
            )
        return os.environ[name]

    def _file(self, name: str) -> str:
        path = Path(name)
        # links are resolved before the comparison: one may lead out of the directory
        target = Path(os.path.realpath(path))
        if not path.is_absolute() or not any(map(target.is_relative_to, self._directories)):
            raise UnsupportedError(
                f"the file {show(name)} is not in a directory that is allowed in options",
                code="not-allowed",
                hint="if scripts may read its directory, call allow_option_references("
                "directories=[...]) of the environment, or run schema-core --allow-files DIRECTORY",
            )
        try:
            with target.open("rb") as file:
                content = file.read(MAX_FILE + 1)
            text = content.decode("utf-8")
        except (OSError, ValueError) as error:
            raise NotFoundError(
                f"the file {show(name)} cannot be read: {type(error).__name__}",
                code="variable-not-found",
            ) from None
        if len(content) > MAX_FILE:
            raise NotFoundError(
                f"the file {show(name)} is larger than {MAX_FILE:,} bytes",
                code="variable-not-found",
            )
        return text.removesuffix("\n").removesuffix("\r")


class UnresolvedReferences(OptionReferences):
    """References that stay as they are, for a session that opens no connectors."""

    def resolve(self, options: Mapping[str, str]) -> dict[str, str]:
        return dict(options)
