"""The progress of jobs on stderr: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from schema_core.base.text import escaped
from schema_core.environment.jobs.client import JobClient
from schema_core.errors import ExternalError

#: The option of commands that show progress.
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Do not show the progress of jobs.")]

#: After how many seconds a bar is updated.
UPDATE = 0.2
#: After how many seconds a line follows another one.
LINES = 10.0


def follow(client: JobClient, console: Console) -> None:
    """Wait for a job and show its progress; Ctrl-C cancels it.

    Raises:
        SchemaCoreError: the error of the job.
    """
    if console.is_terminal:
        _with_bar(client, console)
    else:
        _with_lines(client, console)


@contextmanager
def show_elapsed_time(name: str, console: Console) -> Iterator[None]:
    """Show that work without a job goes on, and for how long: a clock on a terminal, else lines."""
    if console.is_terminal:
        text = TextColumn("{task.description}", markup=False)
        columns = (SpinnerColumn(), text, TimeElapsedColumn())
        with Progress(*columns, console=console, transient=True) as bar:
            bar.add_task(escaped(name), total=None)
            yield
        return
    start, ended = time.monotonic(), threading.Event()

    def tell() -> None:
        while not ended.wait(LINES):
            _line(console, f"{escaped(name)}: running after {time.monotonic() - start:.0f} s")

    thread = threading.Thread(target=tell, name="schema-core progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _with_bar(client: JobClient, console: Console) -> None:
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[tasks]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(escaped(client.get_job_name()), total=None, tasks="")
        while not _has_ended(client, UPDATE):
            _update(bar, task, client)


def _update(bar: Progress, task: TaskID, client: JobClient) -> None:
    if (found := client.get_progress()) is not None:
        done, total = found
        # further tasks may follow: a task that looks complete stops the clock
        most = max(total, done + 1)
        bar.update(task, completed=done, total=most, tasks=f"{done}/{total} tasks")


def _with_lines(client: JobClient, console: Console) -> None:
    name, start = escaped(client.get_job_name()), time.monotonic()
    while not _has_ended(client, LINES):
        found = client.get_progress()
        tasks = "running" if found is None else f"{found[0]} of {found[1]} tasks"
        _line(console, f"{name}: {tasks} after {time.monotonic() - start:.0f} s")
    _line(console, f"{name}: finished in {time.monotonic() - start:.1f} s")


def _line(console: Console, text: str) -> None:
    console.print(f"schema-core: {text}", markup=False, soft_wrap=True)


def _has_ended(client: JobClient, seconds: float) -> bool:
    """Wait for a time; return whether the job has ended, or raise its error."""
    try:
        client.wait(round(seconds * 1000))
    except ExternalError as error:
        if error.code != "wait-timeout":
            raise
        return False
    return True
