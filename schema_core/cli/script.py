"""SQL scripts as arguments: reading, `--define`, names of tables, and printing of errors."""

from __future__ import annotations

import io
import re
import signal
import sys
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from schema_core.base.lazy import NamedTuple
from schema_core.base.paths import ObjectIdentifier, join_names, split_names
from schema_core.base.text import MAX_TEXT, is_blank
from schema_core.catalog.managed import ManagedStorage
from schema_core.catalog.objects import ResolvedCatalogTable
from schema_core.cli import INTERRUPTED, TERMINATED, UNREADABLE, WRONG
from schema_core.cli.config import ALLOWED
from schema_core.cli.findings import DASH, STDIN, diagnostic_findings, print_lines, text_lines
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.plans.dry_run import dry_run_session, dry_run_statement
from schema_core.errors import Diagnostic, ExternalError, SchemaCoreError, SchemaError, similar
from schema_core.migration.files.variables import FilledScript, keep_variables, list_variables
from schema_core.sql.parser import parse_statements
from schema_core.sql.statement_syntax import Alter, CreateTable, ObjectKind, RenameTo

if TYPE_CHECKING:
    from rich.text import Text

File = Annotated[
    Path, typer.Argument(help="SQL statements, separated by semicolons; - reads them from stdin.")
]
Define = Annotated[
    list[str] | None,
    typer.Option("--define", "-D", help="NAME=VALUE: the value of ${NAME} in the file."),
]


def settings(*, batch: bool = True) -> EnvironmentSettings:
    """Return the settings of batch or streaming mode, with the references that are allowed."""
    of_mode = EnvironmentSettings.in_batch_mode if batch else EnvironmentSettings.in_streaming_mode
    return replace(of_mode(), option_references=ALLOWED.get())


def read(path: Path, definitions: list[str] | None = None, *, warns: bool = True) -> FilledScript:
    """Return a script with the values of its variables, as `read_text` and `fill`."""
    return replace(fill(read_text(path), definitions or [], warns=warns), file=path_name(path))


def read_text(path: Path, limit: int = MAX_TEXT) -> str:
    """Return a file's text, up to one character beyond the limit.

    Exits with 2 if the file cannot be read or is empty.
    """
    with open_binary(path) as file:
        content = file.read(4 * limit + 8)
        if content.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise unreadable_exit(path, "it is UTF-16 text; save it as UTF-8")
        text = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig").read(limit + 1)
    if is_blank(text):
        raise unreadable_exit(path, EMPTY)
    return text


@contextmanager
def open_binary(path: Path) -> Iterator[BinaryIO]:
    """Open a file or stdin; exits with 2 if it cannot be opened or read."""
    try:
        if not is_stdin(path):
            with path.open("rb") as file:
                yield file
        elif sys.stdin is None:
            raise unreadable_exit(path, "it is closed")
        else:
            yield sys.stdin.buffer
    except UnicodeDecodeError:
        raise unreadable_exit(path, "it is not UTF-8 text") from None
    except ExternalError as error:
        raise unreadable_exit(path, error.problem) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise unreadable_exit(path, reason or str(error)) from None


#: Why a file without statements is refused.
EMPTY = "it is empty"


class ScriptTables(NamedTuple):
    """The tables that a script creates and leaves, the storages of their catalogs, and its text."""

    tables: dict[ObjectIdentifier, ResolvedCatalogTable]
    storages: dict[ObjectIdentifier, ManagedStorage | None]
    text: str


def tables(file: Path) -> ScriptTables:
    """Return the tables that a script creates and leaves."""
    script = read(file)
    text = script.text
    wanted = settings(batch=False)
    with script.locating(), dry_run_session(wanted, checks_connectors=False) as session:
        paths = []
        for statement in parse_statements(text):
            dry_run_statement(session, statement, text)
            match statement:
                case CreateTable(path=path):
                    paths.append(session.look_up(path).identifier)
                case Alter(kind=ObjectKind.TABLE, path=path, change=RenameTo() as change):
                    old = session.identifier(path)
                    new = replace(old, object_name=change.path.parts[-1])
                    paths += [new] if old in paths else []
        left, storages = {}, {}
        for identifier in dict.fromkeys(paths):
            entry = session.tables.find(identifier)
            if entry is not None and isinstance(entry.table, ResolvedCatalogTable):
                left[identifier] = entry.table
                storages[identifier] = session.tables.get_storage(identifier)
        return ScriptTables(left, storages, text)


def renames(
    options: list[str], paths: Iterable[ObjectIdentifier]
) -> dict[ObjectIdentifier, dict[tuple[str, ...], str]]:
    """Return the renames of columns by table, as `diff` takes them.

    Args:
        options: TABLE.COLUMN=NEW; `tables_named` defines TABLE.
        paths: The full paths of the tables.

    Raises:
        SchemaError: with code `invalid-argument` for another form, or an unknown table.
    """
    renamed: dict[ObjectIdentifier, dict[tuple[str, ...], str]] = {path: {} for path in paths}
    for option in options:
        names, name = rename_of(option)
        if len(names) < 2 or not all(names) or not name:
            raise SchemaError(
                f"--rename requires TABLE.COLUMN=NEW, got {option!r}", code="invalid-argument"
            )
        tables, count = tables_named(names, renamed, "--rename", below=1)
        for table in tables:
            renamed[table][names[count:]] = name
    return renamed


def rename_of(option: str) -> tuple[tuple[str, ...], str]:
    """Return the names before the first ``=`` of an option, and the name after it.

    Backticks quote names with dots, backticks or ``=``.

    >>> rename_of("`a.b`.`c=d`=`e``f`")
    (('a.b', 'c=d'), 'e`f')
    """
    path, name = _assignment(option)
    unquoted = split_names(name)
    return split_names(path), unquoted[0] if len(unquoted) == 1 else name


def _assignment(option: str) -> tuple[str, str]:
    """Split an option at its first ``=`` outside backticks."""
    match = re.match(r"(?:`(?:[^`]|``)*`|[^=`])*(?==|\Z)", option)
    end = match.end() if match else option.find("=") % (len(option) + 1)
    return option[:end], option[end + 1 :]


def former_names(renames: Mapping[tuple[str, ...], str]) -> dict[str, str]:
    """Return new -> old name of renamed columns, without fields of rows.

    >>> former_names({("tag",): "label", ("place", "x"): "longitude"})
    {'label': 'tag'}
    """
    return {name: column for (column, *fields), name in renames.items() if not fields}


def row_counts(
    options: list[str], paths: Collection[ObjectIdentifier]
) -> dict[ObjectIdentifier, int]:
    """Return the numbers of rows by table.

    Args:
        options: TABLE=COUNT; `tables_named` defines TABLE.
        paths: The full paths of the tables.

    Raises:
        SchemaError: with code `invalid-argument` for another form, or an unknown table.
    """
    counts: dict[ObjectIdentifier, int] = {}
    for option in options:
        table, count = _assignment(option)
        if not (table and re.fullmatch("[0-9]{1,18}", count)):
            raise SchemaError(
                f"--rows requires TABLE=COUNT, got {option!r}", code="invalid-argument"
            )
        tables, _ = tables_named(split_names(table), paths, "--rows")
        counts |= dict.fromkeys(tables, int(count))
    return counts


def tables_named(
    names: tuple[str, ...], paths: Collection[ObjectIdentifier], option: str, below: int = 0
) -> tuple[list[ObjectIdentifier], int]:
    """Return the tables that the first names denote, and how many names these are.

    The first name is that of a table in any database; else the first two are a database and a
    table, or the first three a full path.

    Args:
        names: The names of an argument.
        paths: The full paths of the tables.
        option: The option, for the error.
        below: The number of names that must follow.

    Raises:
        SchemaError: with code `invalid-argument` if there is no such table.
    """
    for count in range(1, min(3, len(names) - below) + 1):
        if tables := [path for path in paths if tuple(path.to_list()[-count:]) == names[:count]]:
            return tables, count
    problem = f"{option}: there is no table {names[0]!r}"
    known = {join_names([path.object_name]) for path in paths}
    raise SchemaError(problem, code="invalid-argument", hint=similar(join_names(names[:1]), known))


def shortest_path(table: ObjectIdentifier, paths: Collection[ObjectIdentifier]) -> tuple[str, ...]:
    """Return the fewest names that denote only this table."""
    names = tuple(table.to_list())
    suffixes = (names[-count:] for count in (1, 2, 3))
    return next(
        (suffix for suffix in suffixes if tables_named(suffix, paths, "")[0] == [table]), names
    )


def is_stdin(path: Path) -> bool:
    """Return whether a path denotes stdin."""
    return str(path) == DASH


def path_name(path: Path) -> str:
    """Return a path for messages."""
    return STDIN if is_stdin(path) else str(path)


def unreadable_exit(path: Path, reason: str) -> typer.Exit:
    """Report that a script cannot be read; return the exit to raise."""
    print(f"schema-core: cannot read {path_name(path)}: {reason}", file=sys.stderr)
    return typer.Exit(UNREADABLE)


#: Codes of errors about the arguments, not the input.
ARGUMENTS = frozenset({"invalid-argument", "unknown-dialect", "invalid-configuration"})


def report_unable(reason: str, hint: str | None = None) -> typer.Exit:
    """Report why the command cannot run; return the exit to raise."""
    print(f"schema-core: {reason}", file=sys.stderr)
    if hint:
        print(f"  hint: {hint}", file=sys.stderr)
    return typer.Exit(UNREADABLE)


@contextmanager
def exit_on_error(path: Path, code: int | None = WRONG) -> Iterator[None]:
    """Print an error of a block on stderr, and end the command; after Ctrl-C or SIGTERM, too.

    Args:
        path: The file that the block reads.
        code: The exit code; None is 2 for an error about the arguments, else 1.
    """
    try:
        yield
    except SchemaCoreError as error:
        show(path, error.diagnostics)
        if code is None:
            code = UNREADABLE if error.code in ARGUMENTS else WRONG
        raise typer.Exit(code) from None
    except KeyboardInterrupt as interrupt:
        raise interrupt_exit(interrupt) from None


def interrupt_exit(interrupt: KeyboardInterrupt) -> typer.Exit:
    """Report Ctrl-C or SIGTERM; return the exit to raise.

    The error's notes state whether the rows of a job are committed nevertheless.
    """
    is_term = isinstance(interrupt, Terminated)
    what = "schema-core: terminated" if is_term else "schema-core: interrupted"
    print_error(": ".join([what, *getattr(interrupt, "__notes__", ())]))
    return typer.Exit(TERMINATED if is_term else INTERRUPTED)


class Terminated(KeyboardInterrupt):
    """SIGTERM: it ends a command as Ctrl-C does, with the exit code of `TERMINATED`."""


@contextmanager
def handle_signal(number: int, handler: Callable[[int, object], None]) -> Iterator[None]:
    """Handle a signal by a function within the block, which is on the main thread."""
    previous = signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, previous)


@contextmanager
def sigterm_as_interrupt() -> Iterator[None]:
    """Raise `Terminated` at SIGTERM within the block, which is on the main thread."""

    def terminate(number: int, frame: object) -> None:
        raise Terminated

    with handle_signal(signal.SIGTERM, terminate):
        yield


def keep_jobs_at_interrupt() -> None:
    """Let Ctrl-C only raise: PySpark's handler also cancels the Spark jobs of all running jobs."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def cancel_jobs_at_interrupt() -> Iterator[None]:
    """Let Ctrl-C cancel all Spark jobs within the block, and raise.

    PySpark's handler cancels them on this thread, which may wait for another answer of the JVM:
    both calls fail then.
    """

    def cancel(number: int, frame: object) -> None:
        from schema_core.spark.jobs import cancel_all_jobs

        threading.Thread(target=cancel_all_jobs, daemon=True).start()
        raise KeyboardInterrupt

    with handle_signal(signal.SIGINT, cancel):
        yield


def fill(text: str, definitions: list[str], *, warns: bool = True) -> FilledScript:
    """Replace variables by values; one without a definition stays, with a warning on stderr.

    >>> fill("'${directory}/a' ${other}", ["directory=it's"], warns=False).text
    "'it''s/a' ${other}"
    """
    pairs = values(definitions)
    for name in dict.fromkeys(list_variables(text)):
        if warns and name not in pairs:
            problem = f"${{{name}}} is not defined: add --define {name}=VALUE"
            print(f"schema-core: warning: {problem}", file=sys.stderr)
    return FilledScript.fill(text, keep_variables([text], pairs), "the script")


def values(definitions: list[str]) -> dict[str, str]:
    """Return ``--define`` as a dictionary; exit with 2 if malformed or defined twice."""
    pairs = dict(definition.split("=", 1) for definition in definitions if "=" in definition)
    if len(pairs) < len(definitions):
        print("schema-core: --define requires NAME=VALUE, each name once", file=sys.stderr)
        raise typer.Exit(UNREADABLE)
    return pairs


def show(path: Path, diagnostics: Iterable[Diagnostic]) -> None:
    """Print diagnostics on stderr as compilers do."""
    print_error(*text_lines(diagnostic_findings(path, diagnostics)))


def print_error(*lines: str | Text) -> None:
    """Print lines on stderr."""
    print_lines(lines, error=True)
