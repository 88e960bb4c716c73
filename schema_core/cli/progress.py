"""The progress of jobs on stderr: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from schema_core.base.text import escaped
from schema_core.environment.jobs.client import JobClient
from schema_core.errors import ExternalError

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Do not show the progress of jobs.")]

#: Seconds between updates of a bar.
UPDATE = 0.2
#: Seconds between lines.
LINES = 10.0


NAME = TextColumn("{task.description}", markup=False)


def follow(client: JobClient | None, quiet: bool = False, console: Console | None = None) -> None:
    """Show the progress of a job on stderr until it ends; Ctrl-C cancels it.

    With `quiet`, or without a job, do nothing.

    Raises:
        SchemaCoreError: the error of the job.
    """
    if client is None or quiet:
        return
    console = console or Console(stderr=True, highlight=False)
    name, start = escaped(client.get_job_name()), time.monotonic()
    if not console.is_terminal:
        while not _has_ended(client, LINES):
            progress = client.get_progress()
            tasks = "running" if progress is None else f"{progress[0]} of {progress[1]} tasks"
            _line(console, f"{name}: {tasks} after {time.monotonic() - start:.0f} s")
        _line(console, f"{name}: finished in {time.monotonic() - start:.1f} s")
        return
    columns = (NAME, BarColumn(), TextColumn("{task.fields[tasks]}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(name, total=None, tasks="")
        while not _has_ended(client, UPDATE):
            if (progress := client.get_progress()) is not None:
                done, total = progress
                # further tasks may follow: a task that looks complete stops the clock
                most = max(total, done + 1)
                bar.update(task, completed=done, total=most, tasks=f"{done}/{total} tasks")


@contextmanager
def show_elapsed_time(name: str, console: Console | None = None) -> Iterator[None]:
    """Show for how long a block without a job runs."""
    console = console or Console(stderr=True, highlight=False)
    if console.is_terminal:
        columns = (SpinnerColumn(), NAME, TimeElapsedColumn())
        with Progress(*columns, console=console, transient=True) as bar:
            bar.add_task(escaped(name), total=None)
            yield
        return
    start, ended = time.monotonic(), threading.Event()

    def print_lines() -> None:
        while not ended.wait(LINES):
            _line(console, f"{escaped(name)}: running after {time.monotonic() - start:.0f} s")

    thread = threading.Thread(target=print_lines, name="schema-core progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _line(console: Console, text: str) -> None:
    console.print(f"schema-core: {text}", markup=False, soft_wrap=True)


def _has_ended(client: JobClient, seconds: float) -> bool:
    """Wait; return whether the job has ended, or raise its error."""
    try:
        client.wait(round(seconds * 1000))
    except ExternalError as error:
        if error.code != "wait-timeout":
            raise
        return False
    return True
