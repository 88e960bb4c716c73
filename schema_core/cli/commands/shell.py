"""``schema-core sql``: a shell for SQL; only this module imports prompt_toolkit."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from schema_core.base.lazy import NamedTuple
from schema_core.base.paths import join_names, split_names
from schema_core.base.plugins import installed_version, needs
from schema_core.base.secrets import mask_text
from schema_core.base.text import escaped, is_blank
from schema_core.cli import WRONG, script
from schema_core.cli.findings import DASH
from schema_core.cli.progress import Streaming, follow, follow_endless, show_elapsed_time
from schema_core.cli.results import show_result
from schema_core.environment.completion import open_string
from schema_core.environment.jobs.client import JobClient
from schema_core.environment.options import RESULT_MODE
from schema_core.environment.result import string_result
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import SchemaCoreError
from schema_core.migration.files.variables import FilledScript
from schema_core.sql.parser import parse_statements, read_statements
from schema_core.sql.statement_syntax import DescribeJob, Statement
from schema_core.sql.tokens import cursor_over

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession

#: The prompt of a statement's first line.
PROMPT = "sql> "
#: What an open token begins with -> the prompt of the lines within it; '' is that of other lines.
CONTINUED = {"'": "'..> ", "`": "`..> ", '"': '"..> ', "/*": "*..> ", "": "...> "}
#: The file in errors of statements of the option --command.
COMMAND = Path("<command>")


def sql(
    file: Annotated[
        Path | None,
        typer.Option("--file", "-f", help="A script that is run instead of a prompt."),
    ] = None,
    command: Annotated[
        str | None,
        typer.Option("--command", "-c", help="Statements that are run instead of a prompt."),
    ] = None,
    setup: Annotated[
        Path | None, typer.Option(help="A script that is run first, such as CREATE CATALOG.")
    ] = None,
    define: script.Define = None,
    history: Annotated[
        Path | None, typer.Option(help="The file of the history; by default in the home directory.")
    ] = None,
    streaming: Streaming = False,
) -> None:
    """Run statements one by one: from a prompt, or from stdin if it is not a terminal.

    The prompt completes names and keywords. Statements with secrets are not stored in the history.
    From a pipe, --file and --command, exits with 1 at the first statement that fails. Exits with 2
    if the setup cannot be read or fails.

    In streaming mode, a SELECT shows the rows of its result, which are updated until Ctrl-C if the
    table is unbounded. A job of unbounded tables runs while further statements are run: SHOW JOBS
    lists it, DESCRIBE JOB also prints the rows of its operators, and STOP JOB stops it. The shell
    ends when all jobs have ended; Ctrl-C stops them.
    """
    if file is not None and command is not None:
        raise script.report_unable("--file and --command exclude each other")
    shell = Shell(
        TableEnvironment.create(script.settings(batch=not streaming)),
        Console(width=None if os.environ.get("TERM") != "dumb" else terminal_width()),
        define or [],
    )
    if setup is not None:
        preceding = script.read(setup, define)
        try:
            with preceding.locating():
                for statement in parse_statements(preceding.text):
                    shell.environment.execute_statement(statement, preceding.text).wait()
        except SchemaCoreError as error:
            script.show(setup, error.diagnostics)
            raise script.report_unable("the setup failed") from None
    if file is None and command is None and is_interactive():
        try:
            session = prompt_session(shell.environment, history or history_file())
        except SchemaCoreError as error:
            raise script.report_unable(error.problem, error.hint) from None
        shell.has_prompt = True
        shell.console.print(greeting(streaming=streaming), markup=False, highlight=False)
        interact(shell, session)
    elif not run_script(shell, file or Path(DASH), command):
        raise typer.Exit(WRONG)
    wait_for_jobs(shell.environment)


def run_script(shell: Shell, file: Path, command: str | None) -> bool:
    """Run a script, or the statements of `command`; return whether all succeeded."""
    if command is not None:
        file = COMMAND
        filled = replace(script.fill(command, shell.definitions), file=str(COMMAND))
    else:
        filled = script.read(file, shell.definitions)
    return run_text(shell, filled.text, file, filled)


def terminal_width() -> int:
    """Return the width of the terminal, which rich does not read if TERM is dumb."""
    from shutil import get_terminal_size

    return get_terminal_size().columns


def is_interactive() -> bool:
    """Return whether stdin is a terminal."""
    return sys.stdin is not None and sys.stdin.isatty()


def endless_jobs(environment: TableEnvironment) -> list[JobClient]:
    """Return the running jobs without an end."""
    return [
        JobClient(run)
        for run in environment.jobs.runs()
        if not run.has_end and not run.status.is_globally_terminal_state()
    ]


def wait_for_jobs(environment: TableEnvironment) -> None:
    """Wait for the jobs without an end; Ctrl-C stops them."""
    if running := endless_jobs(environment):
        names = ", ".join(job.get_job_name() for job in running)
        script.print_error(escaped(f"schema-core: Ctrl-C stops the running jobs: {names}"))
        with script.exit_on_error(Path(DASH)):
            follow_endless(running, shows=False)


def run_text(
    shell: Shell, text: str, file: Path = Path(DASH), filled: FilledScript | None = None
) -> bool:
    """Run statements up to the first that fails; return whether all succeeded."""
    try:
        with nullcontext() if filled is None else filled.locating():
            for statement in read_statements(text):
                if isinstance(statement, SchemaCoreError):
                    raise statement
                begin = time.monotonic()
                run_statement(shell, statement, text)
                if shell.has_timing:
                    print(f"Time: {time.monotonic() - begin:.3f} s")
    except SchemaCoreError as error:
        script.show(file, error.diagnostics)
        return False
    except KeyboardInterrupt as interrupt:
        if not shell.has_prompt:
            raise script.interrupt_exit(interrupt) from None
        script.print_error("cancelled")
        return False
    return True


def run_statement(shell: Shell, statement: Statement, text: str) -> None:
    """Run a statement, wait for its job unless it has no end, and print its result."""
    environment, console = shell.environment, shell.console
    if has_other_jobs := bool(endless_jobs(environment)):
        script.keep_jobs_at_interrupt()
    with nullcontext() if has_other_jobs else script.cancel_jobs_at_interrupt():
        with show_elapsed_time("running") if console.is_terminal else nullcontext():
            result = environment.execute_statement(statement, text)
        if result.job is not None and not result.job.run.has_end:
            print(f"Job ID: {result.job.get_job_id()}")
            return
        follow(result.job)
        is_changelog = RESULT_MODE.of(environment.get_config().get_configuration()) != "TABLE"
        show_result(result, console, is_expanded=shell.is_expanded, is_changelog=is_changelog)
    if isinstance(statement, DescribeJob):
        show_metrics(shell, statement.job_id)


#: The columns of the metrics of a job.
METRICS = ("operator", "rows in", "rows out", "state rows", "late rows", "watermark", "sink")


def show_metrics(shell: Shell, job_id: str) -> None:
    """Print the metrics of a job's operators, if it is a streaming job."""
    if (metrics := shell.environment.jobs.get(job_id).metrics()) is None:
        return
    rows = [
        (
            item.name,
            *(
                None if count is None else f"{count:,}"
                for count in (item.rows_in, item.rows_out, item.state_rows, item.late_rows)
            ),
            item.watermark and item.watermark.isoformat(" ", "milliseconds"),
            item.sink,
        )
        for item in metrics.operators
    ]
    show_result(string_result(METRICS, rows), shell.console, is_expanded=shell.is_expanded)


# --- commands of the shell ------------------------------------------------------------------------


@dataclass(slots=True)
class Shell:
    """The state of a shell: its environment, its terminal, and how results are shown."""

    environment: TableEnvironment
    console: Console
    definitions: list[str] = field(default_factory=list)
    has_prompt: bool = False
    is_expanded: bool = False
    has_timing: bool = False


class ShellCommand(NamedTuple):
    """A command that is not SQL: a statement for short, or a function.

    In a statement, {} is the argument: a path, which is quoted. A function returns True to end the
    shell.
    """

    usage: str
    effect: str
    action: str | Callable[[Shell, str], bool | None]

    @property
    def has_argument(self) -> bool:
        return " " in self.usage


def toggle_timing(shell: Shell, _: str) -> None:
    """Turn on or off that the time of statements is printed."""
    shell.has_timing = not shell.has_timing
    print(f"timing is {'on' if shell.has_timing else 'off'}")


def toggle_x(shell: Shell, _: str) -> None:
    """Turn on or off that rows are printed as blocks of lines."""
    shell.is_expanded = not shell.is_expanded
    print(f"expanded display is {'on' if shell.is_expanded else 'off'}")


def run_file(shell: Shell, name: str) -> None:
    """Run the statements of a file, up to the first that fails."""
    file = Path(name)
    with suppress(RuntimeError):  # there is no such user
        file = file.expanduser()
    if script.is_stdin(file):
        script.print_error(r"usage: \i FILE")
        return
    with suppress(typer.Exit):  # the file cannot be read, which is reported
        run_script(shell, file, None)


def print_help(shell: Shell, _: str) -> None:
    """Print the commands, and the keys."""
    shown = [(command.usage, command.effect) for command in COMMANDS] + [*KEYS.items()]
    width = max(len(usage) for usage, _ in shown)
    lines = [f"  {usage:{width}}  {effect}" for usage, effect in shown]
    shell.console.print("\n".join([HELP, *lines]), markup=False, highlight=False)


HELP = "A statement ends with a semicolon, and may have several lines. A command is one line:"

COMMANDS = (
    ShellCommand(r"\?", "print this help; also: help", print_help),
    ShellCommand(r"\q", "end the shell; also: exit, quit, Ctrl-D", lambda *_: True),
    ShellCommand(r"\d", r"list the tables and views; also: \dt", "SHOW TABLES"),
    ShellCommand(r"\d NAME", "list the columns of a table or view", "DESCRIBE {}"),
    ShellCommand(r"\dv", "list the views", "SHOW VIEWS"),
    ShellCommand(r"\df", "list the functions", "SHOW FUNCTIONS"),
    ShellCommand(r"\dn", "list the databases", "SHOW DATABASES"),
    ShellCommand(r"\l", "list the catalogs", "SHOW CATALOGS"),
    ShellCommand(r"\c NAME", "use a database", "USE {}"),
    ShellCommand(r"\i FILE", "run the statements of a file", run_file),
    ShellCommand(r"\x", "turn on or off blocks with a line for each column", toggle_x),
    ShellCommand(r"\timing", "turn on or off the time of statements", toggle_timing),
    ShellCommand("clear", "clear the screen; also: Ctrl-L", lambda shell, _: shell.console.clear()),
)

#: Other name of a command -> its name.
ALIASES = {"help": r"\?", r"\h": r"\?", "exit": r"\q", "quit": r"\q", r"\dt": r"\d"}

KEYS = {
    "Tab": "complete names, keywords and options",
    "Ctrl-C": "cancel the statement or its job",
    "Ctrl-R": "search the history; Up and Down walk it",
    "Ctrl-X Ctrl-E": "edit the statement in the editor, by EDITOR",
}


def split_command(text: str) -> tuple[str, str] | None:
    r"""Return the name of a command of the shell and its argument, or None for SQL.

    >>> split_command(r"\d orders;"), split_command("QUIT"), split_command("SELECT 1;")
    (('\\d', 'orders'), ('\\q', ''), None)
    """
    name, argument = [*text.strip().rstrip("; ").split(maxsplit=1), "", ""][:2]
    name = ALIASES.get(name.lower(), name)
    is_word = name.lower() in {command.usage for command in COMMANDS} and not argument
    return (name, argument) if is_word or name.startswith("\\") else None


def run_command(shell: Shell, name: str, argument: str) -> bool | None:
    """Run a command; return whether the shell ends."""
    usages = [command for command in COMMANDS if command.usage.split()[0] == name.lower()]
    for command in usages:
        if command.has_argument is bool(argument) and "\n" not in argument:
            if not isinstance(command.action, str):
                return command.action(shell, argument)
            run_text(shell, command.action.format(join_names(split_names(argument))))
            return None
    usage = " or ".join(command.usage for command in usages)
    problem = f"usage: {usage}" if usages else f"unknown command {name}: \\? lists the commands"
    script.print_error(escaped(problem))
    return None


# --- the prompt ----------------------------------------------------------------------------------


def greeting(*, streaming: bool) -> str:
    """Return the first line of a shell."""
    version = installed_version("schema-core") or ""
    mode = "streaming" if streaming else "batch"
    return f"schema-core {version}, {mode} mode. End statements with ; or type help."


def interact(shell: Shell, session: PromptSession[str]) -> None:
    """Read and run statements until the end of the input."""
    while True:
        try:
            text = session.prompt(PROMPT)
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        command = split_command(text)
        try:
            if command is None:
                if not is_blank(text):
                    run_text(shell, text)
            elif run_command(shell, *command):
                return
        except KeyboardInterrupt:  # outside of a statement, as while a file is opened
            script.print_error("cancelled")


def is_finished(text: str) -> bool:
    r"""Return whether an input is to be run: a command, or statements up to a semicolon.

    >>> inputs = "SELECT 1", "SELECT 1;", "SELECT 1; SELECT", "SELECT 'a;", "exit", r"\d"
    >>> [is_finished(text) for text in inputs]
    [False, True, False, False, True, True]
    """
    if is_blank(text) or split_command(text) is not None:
        return True
    try:
        tokens = cursor_over(text).tokens
    except SchemaCoreError:
        return text.rstrip().endswith(";")
    return len(tokens) > 1 and tokens[-2].key == ";"


def continued_prompt(before: str) -> str:
    """Return the prompt of the line after others, which shows an open quote or comment.

    >>> continued_prompt("SELECT 1,"), continued_prompt("SELECT 'a;")
    ('...> ', "'..> ")
    """
    try:
        tokens = cursor_over(before).tokens
    except SchemaCoreError:
        return CONTINUED[""]
    bad = tokens[-2].value if len(tokens) > 1 and tokens[-2].kind == "bad" else ""
    return next(prompt for start, prompt in CONTINUED.items() if bad.startswith(start))


def history_file() -> Path:
    """Return the file in the user's state directory (XDG)."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "schema-core" / "history"


def open_history(file: Path) -> Any:
    """Return the history of a file, or one in memory if the file cannot be written."""
    from prompt_toolkit.history import FileHistory, InMemoryHistory

    class WithoutSecrets(FileHistory):  # type: ignore[misc] # without types
        """A history that does not store statements with secrets."""

        def store_string(self, string: str) -> None:
            """Store an input unless it has a secret."""
            if mask_text(string) == string:
                super().store_string(string)

    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(mode=0o600)
    except OSError:
        return InMemoryHistory()
    return WithoutSecrets(str(file))


@needs("prompt_toolkit", "pygments")
def prompt_session(
    environment: TableEnvironment, history: Path, **devices: Any
) -> PromptSession[str]:
    """Return the prompt, which completes statements and has the history.

    Args:
        environment: The environment whose names are completed.
        history: The file of the history, which is in memory if the file cannot be written.
        devices: The input and output, by default the terminal.
    """
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import Completer, Completion
    from prompt_toolkit.filters import Condition
    from prompt_toolkit.key_binding import KeyBindings
    from prompt_toolkit.lexers import PygmentsLexer
    from prompt_toolkit.output import ColorDepth
    from pygments.lexers.sql import SqlLexer

    class Names(Completer):  # type: ignore[misc] # without types
        """Completes by `TableEnvironment.complete_statement`."""

        def get_completions(self, document: Any, _: object) -> Iterator[Any]:
            """Yield the completions of the word before the cursor."""
            for text, length in completions(environment, document.text, document.cursor_position):
                yield Completion(text, start_position=-length)

    bindings = KeyBindings()

    def accept(event: Any) -> None:
        event.current_buffer.validate_and_handle()

    finished = Condition(lambda: is_finished(session.default_buffer.text))
    bindings.add("enter", filter=finished)(accept)

    def continuation(width: int, line: int, wraps: int) -> str:
        if wraps:  # a long line that the terminal wraps
            return " " * width
        lines = session.default_buffer.text.split("\n")
        return continued_prompt("\n".join(lines[:line]))

    session: PromptSession[str] = PromptSession(
        multiline=True,
        prompt_continuation=continuation,
        lexer=PygmentsLexer(SqlLexer),
        color_depth=ColorDepth.DEPTH_1_BIT if os.environ.get("NO_COLOR") else None,
        completer=Names(),
        complete_while_typing=False,
        history=open_history(history),
        key_bindings=bindings,
        enable_open_in_editor=True,
        **devices,
    )
    return session


def start_of_statement(before: str) -> int:
    """Return where the last of some statements starts.

    >>> start_of_statement("SELECT 1; SELECT ';"), start_of_statement("SELECT ';")
    (9, 0)
    """
    try:
        tokens = cursor_over(before).tokens
    except SchemaCoreError:
        return before.rfind(";") + 1
    return next((token.start + 1 for token in reversed(tokens) if token.key == ";"), 0)


def completions(
    environment: TableEnvironment, text: str, position: int
) -> Iterable[tuple[str, int]]:
    """Return completions, each with the length of the word that it replaces.

    >>> from schema_core import EnvironmentSettings
    >>> environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    >>> _ = environment.execute_sql("CREATE TABLE orders (id INT)")
    >>> [*completions(environment, "SELECT 1; SELECT * FROM ord", 27)]
    [('orders', 3)]
    >>> [*completions(environment, "CREATE TABLE t (a INT) WITH ('conn", 34)]
    [('connector', 4)]
    """
    start = start_of_statement(text[:position])
    before = text[start:position]
    opened = open_string(before)
    if opened is not None:
        word = len(before) - opened - 1
    else:
        word = len(before) - len(before.rstrip("".join(set(before) - set(" \t\r\n.,()=<>+-*/"))))
    try:
        names = environment.complete_statement(text[start:], position - start)
    except SchemaCoreError:
        return []
    return [(name, word) for name in names]
