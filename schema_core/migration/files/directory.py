"""Directories of migration files: format, checksums, and order of application.

A file ``0002_add_channel.sql`` has statements after a line ``-- up``, and those that undo them
after ``-- down``. It follows the migration with the next lower number, or those of a line ``--
parents: 0001_create_orders``. Two with the same parent are branches until another one has both as
parents. If there is a file `CHECKSUMS`, its checksums are those of the files.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from graphlib import CycleError, TopologicalSorter
from itertools import takewhile
from pathlib import Path
from tempfile import NamedTemporaryFile
from types import NoneType
from typing import Final

from schema_core.base.arguments import require_instance, require_names, require_sequence
from schema_core.base.lazy import dataclass, regex
from schema_core.base.text import MAX_TEXT, Span, is_blank, position
from schema_core.errors import (
    AlreadyExistsError,
    ExternalError,
    NotFoundError,
    SchemaError,
    at,
    similar,
    within,
)
from schema_core.migration.files.acceptances import kinds_accepted_in
from schema_core.migration.files.checksums import (
    CHECKSUMS,
    ChecksumMismatch,
    checksum_of,
    find_mismatches,
    format_checksums,
)
from schema_core.migration.files.script_steps import DIRECTIVE_LINE, parse_steps
from schema_core.migration.files.variables import FilledScript, keep_variables
from schema_core.sql.parser import parse_statements
from schema_core.sql.statement_syntax import Statement

#: The script that sets the environment up; not a migration.
SETUP: Final = "setup.sql"
#: The largest number of files of a directory.
MAX_FILES: Final = 100_000
#: Characters of a checksum file: a line has up to 200.
MAX_CHECKSUMS: Final = 200 * (MAX_FILES + 1)
#: Begins the note of a generated migration without ``down``.
IRREVERSIBLE: Final = "-- cannot be undone"

_NAME = regex(r"(?P<number>[0-9]{4,9})_[a-z0-9_]{1,100}")
_MARKER = regex(r"[ \t]*--[ \t]*(up|down)[ \t]*", re.IGNORECASE)
_PARENTS = regex(r"[ \t]*--[ \t]*parents:(.*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class MigrationFile:
    r"""A migration: its name without the suffix, its text, and the parents that the text names.

    >>> file = MigrationFile.parse("0001_create_t", "-- up\nCREATE TABLE t (a INT);\n")
    >>> file.number, file.declared_parents, len(file.statements("up")), file.has_down
    (1, None, 1, False)
    """

    name: str
    text: str
    declared_parents: tuple[str, ...] | None

    @property
    def number(self) -> int:
        """The number at the start of the name."""
        return int(self.name.partition("_")[0])

    @property
    def checksum(self) -> str:
        """The SHA-256 of the text, independent of line ends."""
        return checksum_of(self.text)

    @property
    def has_down(self) -> bool:
        """Whether the migration can be undone."""
        return "down" in sections(self.text)

    @property
    def head(self) -> list[str]:
        """The lines before the first section."""
        return _head(self.text)

    @property
    def accepted_kinds(self) -> frozenset[str]:
        """The kinds of findings that the file accepts for all statements."""
        return kinds_accepted_in(self.head)

    def section_line(self, section: str) -> int:
        """Return the number of the line ``-- up`` or ``-- down``, from 1; 0 without it."""
        markers = map(_MARKER.fullmatch, _lines(self.text))
        return next(
            (
                line
                for line, marker in enumerate(markers, 1)
                if marker and marker[1].lower() == section
            ),
            0,
        )

    def script(self, section: str, variables: Mapping[str, str] | None = None) -> str:
        """Return the statements of ``up`` or ``down``, on the lines of the file.

        With `variables`, ``${NAME}`` is replaced.

        Raises:
            SchemaError: with code `migration-irreversible` without the section ``down``,
                `variable-not-found` for a name without a value.
        """
        script = sections(self.text).get(section)
        if script is None:
            notes = (line for line in _lines(self.text) if line.startswith(IRREVERSIBLE))
            why = "".join(f": {line.removeprefix('-- ')}" for line in notes)
            raise SchemaError(
                f"migration {self.name} has no section '-- {section}'{why}",
                code="migration-irreversible",
                hint="a migration without it cannot be undone; write another one that corrects it",
            )
        return script if variables is None else self._fill(script, variables).text

    def fill_script(self, section: str, variables: Mapping[str, str]) -> FilledScript:
        """Return the statements of ``up`` or ``down`` with the values of variables.

        Raises:
            SchemaError: as `script`.
        """
        return self._fill(self.script(section), variables)

    def _fill(self, text: str, variables: Mapping[str, str]) -> FilledScript:
        return FilledScript.fill(text, variables, f"migration {self.name}")

    def statements(
        self, section: str, variables: Mapping[str, str] | None = None
    ) -> tuple[Statement, ...]:
        """Return the parsed statements of ``up`` or ``down``.

        Raises:
            SchemaError: as `script`.
            ParseError: as `parse_statements`.
        """
        with at(f"migration {self.name}, {section}"):
            return parse_statements(self.script(section, variables), is_migration=True)

    def step_lines(self, section: str, variables: Mapping[str, str]) -> tuple[int, ...]:
        """Return the lines on which the steps of ``up`` or ``down`` start, without directives.

        Raises:
            SchemaError: as `script`.
            ParseError: as `parse_statements`.
        """
        script = self.fill_script(section, variables)
        spans = (script.locate(step.span) for step in parse_steps(script.text))
        return tuple(position(script.source, span.start)[0] for span in spans)

    @staticmethod
    def parse(name: str, text: str) -> MigrationFile:
        """Return the migration of a text.

        Raises:
            SchemaError: with code `invalid-migration-file` for another name than
                ``NNNN_lower_case``, and a text without a line ``-- up``, with a section twice, with
                statements before the first one, or longer than `MAX_TEXT`.
        """
        require_instance(name, str, "the name")
        require_instance(text, str, "the text")
        if not _NAME.fullmatch(name):
            raise _invalid(
                f"{name!r} is not the name of a migration",
                "name it like 0001_create_orders: four digits or more, lower-case letters",
            )
        with at(f"migration {name}"):
            if len(text) > MAX_TEXT:
                raise _invalid(f"the migration is longer than {MAX_TEXT:,} characters")
            if "up" not in sections(text):
                error = _invalid("there is no line '-- up'", "write it before the statements")
                error.span = Span(0, len(_lines(text)[0]))
                raise error
            return MigrationFile(name, text, _declared_parents(text))


def _invalid(problem: str, hint: str | None = None) -> SchemaError:
    return SchemaError(problem, code="invalid-migration-file", hint=hint)


def _invalid_line(
    lines: Sequence[str], index: int, problem: str, hint: str | None = None
) -> SchemaError:
    error = _invalid(f"line {index + 1}: {problem}", hint)
    start = sum(len(line) + 1 for line in lines[:index])
    error.text, error.span = "\n".join(lines), Span(start, start + max(1, len(lines[index])))
    return error


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").split("\n")


def _head(text: str) -> list[str]:
    """Return the lines before the first section."""
    return [*takewhile(lambda line: not _MARKER.fullmatch(line), _lines(text))]


def sections(text: str) -> dict[str, str]:
    """Return the statements of each section, on the lines of the file.

    Raises:
        SchemaError: with code `invalid-migration-file`.
    """
    lines_by_section: dict[str, list[str]] = {}
    current: list[str] | None = None
    lines = _lines(text)
    for index, line in enumerate(lines):
        if (marker := _MARKER.fullmatch(line)) is not None:
            name = marker[1].lower()
            if name in lines_by_section:
                raise _invalid_line(lines, index, f"there are two lines '-- {name}'")
            current = lines_by_section[name] = [""] * (index + 1)
        elif current is not None:
            current.append(line)
        elif DIRECTIVE_LINE.match(line):
            problem = "a directive before the line '-- up' has no effect"
            raise _invalid_line(lines, index, problem, "write it before its statement")
        elif not is_blank(line) and not line.lstrip().startswith("--"):
            problem = "there is a statement before the line '-- up'"
            raise _invalid_line(lines, index, problem, "write '-- up' before it")
    return {name: "\n".join(lines) for name, lines in lines_by_section.items()}


def _declared_parents(text: str) -> tuple[str, ...] | None:
    """Return the names of the line ``-- parents:``, None without one."""
    lines = _lines(text)
    matches = [
        (index, match)
        for index, line in enumerate(_head(text))
        if (match := _PARENTS.fullmatch(line)) is not None
    ]
    if not matches:
        return None
    if len(matches) > 1:
        problem = "there are two lines '-- parents:'"
        raise _invalid_line(lines, matches[1][0], problem, "separate the names by commas")
    index, match = matches[0]
    names = tuple(name for part in match[1].split(",") if (name := part.strip()))
    if len({*names}) < len(names):
        raise _invalid_line(lines, index, "a migration is named twice in '-- parents:'")
    return names


# --- directories ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MigrationDirectory:
    """The migrations of a directory in their order: parents first, else lower numbers.

    `checksums` is the content of the file `CHECKSUMS`, None without one.
    """

    path: Path
    migrations: tuple[MigrationFile, ...]
    parents: Mapping[str, tuple[str, ...]]
    checksums: str | None = None

    @staticmethod
    def read(path: str | os.PathLike[str]) -> MigrationDirectory:
        """Read the migrations of a directory.

        Raises:
            NotFoundError: with code `migration-not-found` without such a directory.
            SchemaError: with code `invalid-migration-file` for a file that is not a migration, an
                unknown parent or a cycle.
            ExternalError: with code `file-system-failed`.
        """
        directory = Path(require_instance(path, (str, os.PathLike), "path"))
        if not directory.is_dir():
            raise NotFoundError(
                f"there is no directory {str(directory)!r}",
                code="migration-not-found",
                hint="create it with: schema-core migrate new NAME",
            )
        with at(f"directory {directory}"):
            files = map(read_file, list_files(directory))
            return MigrationDirectory.of(directory, files, checksums=_read_checksums(directory))

    @staticmethod
    def of(
        path: Path, files: Iterable[MigrationFile], *, checksums: str | None = None
    ) -> MigrationDirectory:
        """Return the directory of migrations that are already read.

        Args:
            path: The directory.
            files: The migrations.
            checksums: The content of the file `CHECKSUMS`.

        Raises:
            SchemaError: as `read`.
        """
        require_instance(path, (str, os.PathLike), "path")
        require_instance(checksums, (str, NoneType), "the checksums")
        migrations = require_sequence(files, "the files")
        for file in migrations:
            require_instance(file, MigrationFile, "a file")
        by_name = {
            file.name: file
            for file in sorted(migrations, key=lambda file: (file.number, file.name))
        }
        parents = {}
        for file in by_name.values():
            with within("\n".join(_lines(file.text)), str(Path(path) / f"{file.name}.sql")):
                parents[file.name] = _parents(file, by_name)
        order = _sort_files(by_name, parents)
        ordered = tuple(by_name[name] for name in order)
        return MigrationDirectory(Path(path), ordered, parents, checksums)

    @property
    def heads(self) -> tuple[str, ...]:
        """The migrations that no other one follows; more than one are branches."""
        followed = {name for names in self.parents.values() for name in names}
        return tuple(
            migration.name for migration in self.migrations if migration.name not in followed
        )

    def require_single_head(self) -> str | None:
        """Return the last migration, None for an empty directory.

        Raises:
            SchemaError: with code `migration-branches`.
        """
        heads = self.heads
        if len(heads) > 1:
            raise SchemaError(
                f"the migrations have {len(heads)} branches: {', '.join(heads)}",
                code="migration-branches",
                hint="add a migration that follows all of them: schema-core migrate merge",
            )
        return heads[0] if heads else None

    @property
    def mismatches(self) -> tuple[ChecksumMismatch, ...]:
        """The differences between the checksum file and the migrations; none without the file."""
        if self.checksums is None:
            return ()
        return tuple(find_mismatches(self.checksums, self._file_checksums()))

    def _file_checksums(self) -> dict[str, str]:
        return {migration.name: migration.checksum for migration in self.migrations}

    def require_checksums(self) -> None:
        """Require that the migrations are those of the checksum file, if there is one.

        Raises:
            SchemaError: with code `migration-checksum-mismatch`.
        """
        if mismatches := self.mismatches:
            more = f", and {len(mismatches) - 1} more" if len(mismatches) > 1 else ""
            raise SchemaError(
                f"the migrations are not those of {CHECKSUMS}: {mismatches[0]}{more}",
                code="migration-checksum-mismatch",
                hint="review the files, then write their checksums: schema-core migrate hash",
            )

    def write_checksums(self) -> Path:
        """Write the checksum file for the migrations, and return its path.

        Raises:
            ExternalError: with code `file-system-failed`.
        """
        return _write_checksums(self.path, self._file_checksums())

    def get(self, name: str) -> MigrationFile | None:
        """Return the migration of a name, or None."""
        return next((migration for migration in self.migrations if migration.name == name), None)

    def find(self, target: str) -> MigrationFile:
        """Return the migration with a name or number.

        Raises:
            NotFoundError: with code `migration-not-found`, also for an ambiguous number.
        """
        names = [migration.name for migration in self.migrations]
        matches = [migration for migration in self.migrations if is_target(target, migration.name)]
        if len(matches) == 1:
            return matches[0]
        problem = f"there is no migration {target!r}"
        if matches:
            problem = f"several migrations have the number {target}"
        raise NotFoundError(
            problem,
            code="migration-not-found",
            hint=", ".join(migration.name for migration in matches) or similar(target, names),
        )

    def find_hidden_values(self, variables: Mapping[str, str]) -> dict[str, str]:
        """Return the values that stand in string literals of the files, with their variables.

        Args:
            variables: The values of variables; others are not replaced.
        """
        values = keep_variables((file.text for file in self.migrations), variables)
        return {
            value: name
            for file in self.migrations
            for section in sections(file.text)
            for value, name in file.fill_script(section, values).hidden.items()
        }

    def closure(self, name: str) -> frozenset[str]:
        """Return a migration and all that it follows, directly or not."""
        return closure_of(name, self.parents)

    def create(self, slug: str, content: str, parents: Iterable[str] | None = None) -> Path:
        """Create the file of the next migration and return its path.

        If there is a checksum file, it is written with the new migration.

        Args:
            slug: The name after the number: lower-case letters, digits and underscores.
            content: The sections; a line with the parents is added before them.
            parents: The names of the parents; by default the last migration.

        Raises:
            SchemaError: with code `migration-branches` without `parents` if there are branches,
                `invalid-migration-file` for another slug; as `require_checksums`.
            AlreadyExistsError: with code `migration-exists` if another process was faster.
        """
        require_instance(slug, str, "the name")
        self.require_checksums()
        if parents is None:
            head = self.require_single_head()
            parents = () if head is None else (head,)
        names = require_names(parents, "the parents")
        number = max((migration.number for migration in self.migrations), default=0) + 1
        text = f"-- parents: {', '.join(names)}".rstrip() + "\n" + content
        file = MigrationFile.parse(f"{number:04}_{slug}", text)
        target = self.path / f"{file.name}.sql"
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            with target.open("x", encoding="utf-8", newline="\n") as opened:
                opened.write(text)
        except FileExistsError:
            raise AlreadyExistsError(
                f"there is already a file {target.name!r}", code="migration-exists"
            ) from None
        except OSError as error:
            raise ExternalError(
                f"cannot write {str(target)!r}: {error.strerror}", code="file-system-failed"
            ) from error
        if self.checksums is not None:
            _write_checksums(self.path, self._file_checksums() | {file.name: file.checksum})
        return target


def closure_of(name: str, parents: Mapping[str, tuple[str, ...]]) -> frozenset[str]:
    """Return a migration and all that it follows, directly or not.

    >>> sorted(closure_of("c", {"c": ("b",), "b": ("a",), "d": ("a",)}))
    ['a', 'b', 'c']
    """
    reached, waiting = {name}, [name]
    while waiting:
        new = [item for item in parents.get(waiting.pop(), ()) if item not in reached]
        reached.update(new)
        waiting += new
    return frozenset(reached)


def is_target(target: str, name: str) -> bool:
    """Return whether a target is the name or number of a migration.

    >>> is_target("2", "0002_add_channel"), is_target("2", "0020_add_price")
    (True, False)
    """
    if target.isascii() and target.isdigit() and len(target) < 10:
        return int(target) == int(name.partition("_")[0])
    return target == name


def list_files(directory: Path) -> list[Path]:
    """Return the files of a directory but the setup, the checksums and hidden files, sorted.

    Raises:
        SchemaError: with code `invalid-migration-file` for more than `MAX_FILES`.
        ExternalError: with code `file-system-failed`.
    """
    with _reading(directory):
        paths = sorted(path for path in directory.iterdir() if not path.name.startswith("."))
    if len(paths) > MAX_FILES:
        raise _invalid(f"the directory has more than {MAX_FILES:,} files")
    return [path for path in paths if path.name not in (SETUP, CHECKSUMS)]


def read_file(path: Path) -> MigrationFile:
    """Return the migration in a file.

    Raises:
        SchemaError: with code `invalid-migration-file` for a file that is not a migration.
        ExternalError: with code `file-system-failed`.
    """
    if path.suffix != ".sql" or not path.is_file():
        raise _invalid(
            f"{path.name!r} is not a migration",
            f"keep only files like 0001_create_orders.sql here, {SETUP} and {CHECKSUMS}",
        )
    with _reading(path), path.open(encoding="utf-8-sig", newline="") as opened:
        text = opened.read(MAX_TEXT + 1)
    with within("\n".join(_lines(text)), str(path)):
        return MigrationFile.parse(path.stem, text)


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Report an error of the file system (`file-system-failed`)."""
    try:
        yield
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ExternalError(
            f"cannot read {str(path)!r}: {reason}", code="file-system-failed"
        ) from error


def _read_checksums(directory: Path) -> str | None:
    file = directory / CHECKSUMS
    if not file.exists():
        return None
    with _reading(file), file.open(encoding="utf-8", newline="") as opened:
        return opened.read(MAX_CHECKSUMS)


def _write_checksums(directory: Path, checksums: Mapping[str, str]) -> Path:
    """Replace the checksum file atomically."""
    target = directory / CHECKSUMS
    try:
        with NamedTemporaryFile(
            "w", encoding="utf-8", newline="\n", dir=directory, prefix=".sum-", delete=False
        ) as opened:
            opened.write(format_checksums(checksums))
        staged = Path(opened.name)
        staged.chmod(target.stat().st_mode if target.exists() else 0o644)
        staged.replace(target)
    except OSError as error:
        raise ExternalError(
            f"cannot write {str(target)!r}: {error.strerror}", code="file-system-failed"
        ) from error
    return target


def _parents(file: MigrationFile, files: Mapping[str, MigrationFile]) -> tuple[str, ...]:
    """Return the declared parents, else the migrations with the next lower number."""
    if file.declared_parents is None:
        before = [item for item in files.values() if item.number < file.number]
        if not before:
            return ()
        nearest = max(file.number for file in before)
        names = tuple(file.name for file in before if file.number == nearest)
        if len(names) > 1:
            raise SchemaError(
                f"migration {file.name} follows several with the number {nearest}: "
                f"{', '.join(names)}",
                code="migration-branches",
                hint="name those that it follows in a line '-- parents: ...'",
            )
        return names
    for name in file.declared_parents:
        if name not in files:
            raise SchemaError(
                f"migration {file.name} follows {name!r}, which does not exist",
                code="invalid-migration-file",
                hint=similar(name, files),
            )
    return file.declared_parents


def _sort_files(
    files: Mapping[str, MigrationFile], parents: Mapping[str, tuple[str, ...]]
) -> Iterator[str]:
    """Yield the names, parents first, else by number and name."""
    sorter = TopologicalSorter(parents)
    try:
        sorter.prepare()
    except CycleError as error:
        cycle = " -> ".join(error.args[1])
        raise SchemaError(
            f"migrations follow each other in a cycle: {cycle}", code="invalid-migration-file"
        ) from None
    ready: list[str] = []
    while sorter.is_active():
        ready = sorted([*ready, *sorter.get_ready()], key=lambda item: (files[item].number, item))
        name = ready.pop(0)
        yield name
        sorter.done(name)
