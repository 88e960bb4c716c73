"""The program of benchmarks: every task runs, and slower commits are found."""

from __future__ import annotations

import argparse

import pytest

from tests.benchmarks import __main__ as program
from tests.benchmarks import core
from tests.benchmarks.measuring import Candidate, Figure, Task, measured, table


@pytest.mark.parametrize("task", core.tasks(None), ids=lambda item: item.name)
def test_every_task_runs(task: Task) -> None:
    shortest, median = task.candidates[0].turn(0)

    assert 0 < shortest <= median


def test_candidates_take_turns_and_the_first_turn_warms_up() -> None:
    turns: list[str] = []

    def candidate(name: str, times: list[float]) -> Candidate:
        def turn(seconds: float) -> tuple[float, float]:
            turns.append(name)
            time = times.pop(0)
            return time, 2 * time

        return Candidate(name, turn)

    task = Task("parse", [candidate("ours", [9, 1, 3]), candidate("theirs", [9, 8, 4])])

    figures = measured("core", [task], 2, 0.1)

    assert ["ours", "theirs"] * 3 == turns
    assert figures == [
        Figure("core", "parse", "ours", 1, 4),
        Figure("core", "parse", "theirs", 4, 12),
    ]
    assert table(figures).splitlines()[2:] == [
        "| parse | ours | 1.0 us | 4.0 us |  |",
        "|  | theirs | 4.0 us | 12.0 us | 0.33 |",
    ]


def test_growth_is_measured_for_each_size() -> None:
    assert [[10], [1, 10]] == [
        [size for size, _ in points] for points in core.growth(10, 0).values()
    ]


@pytest.mark.parametrize(("after", "code"), [(11.9, 0), (12.1, 1)])
def test_a_slower_commit_is_found(
    after: float, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Times of other programs add to some runs: the shortest are compared."""
    times = iter([10, 90, 99, after])
    monkeypatch.setattr(program, "_once_in", lambda *_: {"parse": next(times)})
    options = argparse.Namespace(first=None, second=None, rounds=2, seconds=0)

    assert code == program.compare(options)
    assert f"| parse | 10.0 us | {after} us | {after / 10:.2f} |" in capsys.readouterr().out


@pytest.mark.skipif(not (program.ROOT / ".git").exists(), reason="not a clone of the repository")
def test_a_commit_is_checked_out() -> None:
    with program.checked_out("HEAD") as folder:
        assert (folder / "schema_core" / "__init__.py").is_file()
        assert folder != program.ROOT
