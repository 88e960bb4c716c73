"""``schema-core sql``: a shell for SQL; only this module imports prompt_toolkit."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from schema_core.base.plugins import needs
from schema_core.base.secrets import mask_text
from schema_core.base.text import escaped, is_blank
from schema_core.cli import WRONG, script
from schema_core.cli.findings import DASH
from schema_core.cli.progress import Streaming, follow, follow_endless
from schema_core.environment.jobs.client import JobClient
from schema_core.environment.result import PrintStyle, TableResult, printed_rows, string_result
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import SchemaCoreError
from schema_core.sql.parser import parse_statements, read_statements
from schema_core.sql.statement_syntax import DescribeJob
from schema_core.sql.tokens import cursor_over

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession

#: Rows of a result that the shell shows.
MAX_ROWS = 1_000
#: The prompts of a statement's first line and of the others.
PROMPT, CONTINUED = "sql> ", "...> "
#: Words that are not SQL -> whether they end the shell.
WORDS = {"exit": True, "quit": True, "help": False}
HELP = """\
A statement ends with a semicolon, and may have several lines. Tab completes names and keywords.
exit or Ctrl-D ends the shell, Ctrl-C cancels the statement or its job.
Up and down walk the history. SHOW TABLES; lists tables, DESCRIBE t; shows the columns of one."""


def sql(
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
    From a pipe, exits with 1 at the first statement that fails. Exits with 2 if the setup cannot be
    read or fails.

    In streaming mode, a SELECT of an unbounded table prints rows as they arrive, until Ctrl-C. A
    job of unbounded tables runs while further statements are run: SHOW JOBS lists it, DESCRIBE JOB
    also prints the rows of its operators, and STOP JOB stops it. The shell ends when all jobs have
    ended; Ctrl-C stops them.
    """
    environment = TableEnvironment.create(script.settings(batch=not streaming))
    if setup is not None:
        preceding = script.read(setup, define)
        try:
            with preceding.locating():
                for statement in parse_statements(preceding.text):
                    environment.execute_statement(statement, preceding.text).wait()
        except SchemaCoreError as error:
            script.show(setup, error.diagnostics)
            raise script.report_unable("the setup failed") from None
    if is_interactive():
        try:
            session = prompt_session(environment, history or history_file())
        except SchemaCoreError as error:
            raise script.report_unable(error.problem, error.hint) from None
        interact(environment, session, Console())
        wait_for_jobs(environment)
    elif not run_text(environment, script.read_text(Path(DASH)), Console()):
        raise typer.Exit(WRONG)
    else:
        wait_for_jobs(environment)


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


def run_text(environment: TableEnvironment, text: str, output: Console) -> bool:
    """Run statements up to the first that fails; return whether all succeeded."""
    try:
        for statement in read_statements(text):
            if isinstance(statement, SchemaCoreError):
                raise statement
            result = environment.execute_statement(statement, text)
            if result.job is not None and not result.job.run.has_end:
                print(f"Job ID: {result.job.get_job_id()}")
                continue
            if endless_jobs(environment):
                script.keep_jobs_at_interrupt()
            follow(result.job)
            show(result, output)
            if isinstance(statement, DescribeJob):
                show_metrics(environment, statement.job_id, output)
    except SchemaCoreError as error:
        script.show(Path(DASH), error.diagnostics)
        return False
    except KeyboardInterrupt as interrupt:
        if not output.is_terminal:
            raise script.interrupt_exit(interrupt) from None
        script.print_error("cancelled")
        return False
    return True


# --- results -------------------------------------------------------------------------------------


def show(result: TableResult, console: Console) -> None:
    """Print a result: as a table that fits the terminal, elsewhere as Flink does."""
    if not console.is_terminal or result.style is PrintStyle.RAW or result.has_kinds:
        result.print()
        return
    names, printed = printed_rows(result)
    rows = iter(printed)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in names:
        table.add_column(Text(escaped(name)), no_wrap=True, overflow="ellipsis")
    number = 0
    for row in islice(rows, MAX_ROWS):
        number += 1
        table.add_row(
            *(Text("<NULL>", "dim") if value is None else escaped(value) for value in row)
        )
    console.print(table)
    more = f" or more; the first {MAX_ROWS:,} are shown" if next(rows, None) is not None else ""
    console.print(Text(f"{number:,} row{'' if number == 1 else 's'}{more}", "dim"))


#: The columns of the metrics of a job.
METRICS = ("operator", "rows in", "rows out", "state rows", "late rows", "watermark", "sink")


def show_metrics(environment: TableEnvironment, job_id: str, console: Console) -> None:
    """Print the metrics of a job's operators, if it is a streaming job."""
    if (metrics := environment.jobs.get(job_id).metrics()) is None:
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
    show(string_result(METRICS, rows), console)


# --- the prompt ----------------------------------------------------------------------------------


def interact(environment: TableEnvironment, session: PromptSession[str], console: Console) -> None:
    """Read and run statements until the end of the input."""
    while True:
        try:
            text = session.prompt(PROMPT)
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        word = text.strip().rstrip(";").strip().lower()
        if word in WORDS:
            if WORDS[word]:
                return
            console.print(HELP, markup=False)
        elif not is_blank(text):
            run_text(environment, text, console)


def is_finished(text: str) -> bool:
    """Return whether an input is to be run: a word of the shell, or statements up to a semicolon.

    >>> [is_finished(text) for text in ("SELECT 1", "SELECT 1;", "SELECT 1; SELECT", "exit")]
    [False, True, False, True]
    """
    if is_blank(text) or text.strip().lower() in WORDS:
        return True
    try:
        tokens = cursor_over(text).tokens
    except SchemaCoreError:
        return text.rstrip().endswith(";")
    return len(tokens) > 1 and tokens[-2].key == ";"


def history_file() -> Path:
    """Return the file in the user's state directory (XDG)."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "schema-core" / "history"


@needs("prompt_toolkit")
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
    from prompt_toolkit.history import FileHistory, InMemoryHistory
    from prompt_toolkit.key_binding import KeyBindings

    class Names(Completer):  # type: ignore[misc] # without types
        """Completes by `TableEnvironment.complete_statement`."""

        def get_completions(self, document: Any, _: object) -> Iterator[Any]:
            """Yield the completions of the word before the cursor."""
            for text, length in completions(environment, document.text, document.cursor_position):
                yield Completion(text, start_position=-length)

    class WithoutSecrets(FileHistory):  # type: ignore[misc] # without types
        """A history that does not store statements with secrets."""

        def store_string(self, string: str) -> None:
            """Store an input unless it has a secret."""
            if mask_text(string) == string:
                super().store_string(string)

    bindings = KeyBindings()

    def accept(event: Any) -> None:
        event.current_buffer.validate_and_handle()

    finished = Condition(lambda: is_finished(session.default_buffer.text))
    bindings.add("enter", filter=finished)(accept)
    try:
        history.parent.mkdir(parents=True, exist_ok=True)
        history.touch(mode=0o600)
        stored = WithoutSecrets(str(history))
    except OSError:
        stored = InMemoryHistory()
    session: PromptSession[str] = PromptSession(
        multiline=True,
        prompt_continuation=CONTINUED,
        completer=Names(),
        complete_while_typing=False,
        history=stored,
        key_bindings=bindings,
        enable_open_in_editor=True,
        **devices,
    )
    return session


def completions(
    environment: TableEnvironment, text: str, position: int
) -> Iterable[tuple[str, int]]:
    """Return completions, each with the length of the word that it replaces.

    >>> from schema_core import EnvironmentSettings
    >>> environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    >>> _ = environment.execute_sql("CREATE TABLE orders (id INT)")
    >>> [*completions(environment, "SELECT 1; SELECT * FROM ord", 27)]
    [('orders', 3)]
    """
    start = text.rfind(";", 0, position) + 1
    before = text[start:position]
    word = len(before) - len(before.rstrip("".join(set(before) - set(" \t\r\n.,()=<>+-*/"))))
    try:
        names = environment.complete_statement(text[start:], position - start)
    except SchemaCoreError:
        return []
    return [(name, word) for name in names]
