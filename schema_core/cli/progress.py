"""The progress of jobs on stderr: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from schema_core.base.text import escaped
from schema_core.environment.jobs.client import JobClient
from schema_core.environment.jobs.progress import thread_beside
from schema_core.errors import ExternalError

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Do not show the progress of jobs.")]
Streaming = Annotated[bool, typer.Option("--streaming", help="Use streaming mode.")]

#: Seconds between updates of a bar.
UPDATE = 0.2
#: Seconds between lines.
LINES = 10.0
#: Seconds until the time of a block is shown on a terminal.
DELAY = 0.5


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


def follow_endless(
    clients: Sequence[JobClient], *, shows: bool = True, console: Console | None = None
) -> None:
    """Wait for jobs without an end, and show their metrics in lines on stderr.

    The first job that fails, Ctrl-C and SIGTERM stop all; then the error is raised.

    Raises:
        SchemaCoreError: the error of the job.
    """
    console = console or Console(stderr=True, highlight=False)
    start = shown = time.monotonic()
    running = [*clients]
    try:
        while running:
            running = [client for client in running if not _has_ended(client, UPDATE)]
            if shows and time.monotonic() >= shown + LINES:
                shown = time.monotonic()
                for client in running:
                    metrics = client.get_metrics()
                    state = "running" if metrics is None else metrics.summary()
                    text = f"{state} after {shown - start:.0f} s"
                    _line(console, f"{escaped(client.get_job_name())}: {text}")
    except BaseException as error:
        stop_jobs(clients, error)
        raise


def stop_jobs(clients: Sequence[JobClient], error: BaseException) -> None:
    """Cancel jobs and wait until they have ended; add the errors of those that have failed."""
    stopping = [client.cancel() for client in clients]
    for client, stopped in zip(clients, stopping, strict=True):
        stopped.result()
        if client.run.error is not error:
            client.run.add_outcome(error)


@contextmanager
def show_elapsed_time(name: str, console: Console | None = None) -> Iterator[None]:
    """Show for how long a block without a job runs, unless it ends soon."""
    console = console or Console(stderr=True, highlight=False)
    if console.is_terminal:
        columns = (SpinnerColumn(), NAME, TimeElapsedColumn())
        bar = Progress(*columns, console=console, transient=True)
        bar.add_task(escaped(name), total=None)
        delayed = threading.Timer(DELAY, bar.start)
        delayed.start()
        try:
            yield
        finally:
            delayed.cancel()
            delayed.join()
            bar.stop()
        return
    start = time.monotonic()

    def print_lines(ended: threading.Event) -> None:
        while not ended.wait(LINES):
            _line(console, f"{escaped(name)}: running after {time.monotonic() - start:.0f} s")

    with thread_beside(print_lines):
        yield


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
