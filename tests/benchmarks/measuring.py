"""Candidates that do the same work, measured by turns in one run, and their ratios.

Figures depend on the machine and on what else runs there; ratios of candidates that take turns do
much less. Processor time is measured, since other programs may use the processors as well.
"""

from __future__ import annotations

import gc
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

#: Processor seconds of a turn of one candidate.
TURN = 0.3
#: A run that takes less is repeated within one measurement.
LEAST = 100e-6


class Figure(NamedTuple):
    """What a candidate took for a task in all rounds, in microseconds of processor time."""

    group: str
    task: str
    candidate: str
    shortest: float
    median: float


class Candidate(NamedTuple):
    """One who does the work of a task.

    Attributes:
        name: The name, as in the report.
        turn: Works for some seconds; returns the shortest and the median time of a run, in
            microseconds.
    """

    name: str
    turn: Callable[[float], tuple[float, float]]


class Task(NamedTuple):
    """Work that candidates do. The first candidate is ours."""

    name: str
    candidates: list[Candidate]


def python(
    name: str, work: Callable[[], object], prepare: Callable[[], object] | None = None
) -> Candidate:
    """Return a candidate in this process; `prepare` is called before each run and not measured."""

    def turn(seconds: float) -> tuple[float, float]:
        took: list[float] = []
        count, until = 1, time.process_time() + seconds
        while time.process_time() < until or not took:
            if prepare is not None:
                prepare()
            started = time.process_time()
            for _ in range(count):
                work()
            passed = time.process_time() - started
            took.append(passed / count * 1e6)
            if prepare is None and passed < LEAST:
                count *= 2
        return min(took), statistics.median(took)

    return Candidate(name, turn)


@contextmanager
def without_garbage() -> Iterator[None]:
    """Keep what exists out of garbage collections, which would visit it in some runs."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def measured(group: str, tasks: Iterable[Task], rounds: int, seconds: float) -> list[Figure]:
    """Measure all candidates by turns, in so many rounds, after one turn to warm up."""
    chosen = list(tasks)
    taken: dict[tuple[str, str], list[tuple[float, float]]] = {}
    with without_garbage():
        for number in range(rounds + 1):
            for task in chosen:
                for candidate in task.candidates:
                    result = candidate.turn(seconds)
                    if number:
                        taken.setdefault((task.name, candidate.name), []).append(result)
    return [
        Figure(
            group,
            task,
            candidate,
            min(shortest for shortest, _ in result),
            statistics.median(median for _, median in result),
        )
        for (task, candidate), result in taken.items()
    ]


def machine() -> dict[str, Any]:
    """Return what the figures depend on."""
    return {
        "python": platform.python_version(),
        "processors": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
    }


def table(figures: Iterable[Figure]) -> str:
    """Return figures as a table in Markdown, with the ratio of ours to each other candidate."""
    lines = ["| task | candidate | shortest | median | ours to it |", "|---|---|---:|---:|---:|"]
    ours: dict[str, Figure] = {}
    for figure in figures:
        base = ours.setdefault(figure.task, figure)
        ratio = "" if base is figure else f"{base.median / figure.median:.2f}"
        times = f"{figure.shortest:,.1f} us | {figure.median:,.1f} us"
        lines.append(
            f"| {figure.task if base is figure else ''} | {figure.candidate} | {times} | {ratio} |"
        )
    return "\n".join(lines)
