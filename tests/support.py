"""Shared by several tests: tables of cases in files, hooks, and profiles of hypothesis."""

from __future__ import annotations

import gc
import math
import os
import sys
import time
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings

from schema_core.base.paths import parse_path
from schema_core.environment.table_environment import TableEnvironment

CASES = Path(__file__).parent / "cases"
#: Runs a statement; returns the rows of a query as tuples.
Run = Callable[[str], list[tuple[Any, ...]]]


def run_in_catalog(environment: TableEnvironment, options: Mapping[str, str]) -> Run:
    """Create a catalog, use it, and return what runs statements in it."""

    def run(sql: str) -> list[tuple[Any, ...]]:
        result = environment.execute_sql(sql)
        if sql.startswith("SELECT"):
            with result.collect() as rows:
                return [tuple(row) for row in rows]
        result.wait()
        return []

    listed = ", ".join(f"'{key}' = '{value}'" for key, value in options.items())
    run(f"CREATE CATALOG lake WITH ({listed})")
    run("USE CATALOG lake")
    return run


def cases(name: str) -> list[tuple[str, str]]:
    """Return the cases of ``tests/cases/<name>.cases``: lines of the form ``input -> expected``.

    Empty lines and lines that start with ``#`` are ignored.
    """
    lines = (CASES / f"{name}.cases").read_text(encoding="utf-8").split("\n")
    pairs = (line.rpartition(" -> ") for line in lines if line.strip() and line[0] != "#")
    return [(given.strip(), expected.strip()) for given, _, expected in pairs]


def listed(text: str) -> list[str]:
    """Return the parts of a cell, separated by bars."""
    return [part.strip() for part in text.split(" | ")]


class RecordingHook:
    """A job status hook that records its events; `called` is to be overridden."""

    def __init__(self) -> None:
        self.events: list[str] = []

    def called(self, event: str, error: BaseException | None = None) -> None:
        """Record one event, with the error of a job that failed."""
        self.events.append(event)

    def on_created(self, job_id: str) -> None:
        self.called("created")

    def on_finished(self, job_id: str) -> None:
        self.called("finished")

    def on_failed(self, job_id: str, error: BaseException) -> None:
        self.called("failed", error)

    def on_canceled(self, job_id: str) -> None:
        self.called("canceled")


def load_profile() -> None:
    """Load the profile HYPOTHESIS_PROFILE; `ci` runs HYPOTHESIS_EXAMPLES examples.

    Without that variable `ci` is deterministic, so that unchanged code never fails; `dev` is
    random.
    """
    # Deadlines would depend on the load of the machine.
    settings.register_profile("dev", deadline=None)
    settings.register_profile(
        "ci",
        deadline=None,
        derandomize="HYPOTHESIS_EXAMPLES" not in os.environ,
        max_examples=int(os.environ.get("HYPOTHESIS_EXAMPLES", "30")),
        suppress_health_check=[HealthCheck.too_slow],
        print_blob=True,
    )
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


def processor_time(work: Callable[[], object], enough: float) -> float:
    """The seconds of processor time that a call takes, the least of up to three.

    A loaded machine adds to the processor time of whatever runs on it, and the collector may run
    through what other tests have left. The call is repeated only while it takes `enough` or longer.
    """
    least = math.inf
    for _ in range(3):
        started = time.thread_time()
        work()
        least = min(least, time.thread_time() - started)
        if least < enough:
            break
        gc.collect()
    return least


def count_calls(work: Callable[[], object], events: Collection[str] = ("call", "c_call")) -> int:
    """Count the calls of functions; ``call`` are those of functions in Python."""
    count = 0

    def count_event(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in events

    before = sys.getprofile()
    sys.setprofile(count_event)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def store_options(environment: TableEnvironment, name: str, options: Mapping[str, str]) -> None:
    """Store options of the library with a table, as jobs of the library and other programs do."""
    tables = environment._session.tables
    identifier = environment._session.registry.qualify(parse_path(name))
    table = tables.find_raw(identifier)
    assert table is not None
    tables.alter(identifier, table.copy({**table.options, **options}), expected=table)
