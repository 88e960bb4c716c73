"""CREATE TABLE AS: the table of events is total, and its rows do what FLIP-218 says."""

from __future__ import annotations

from itertools import product

import pytest

from schema_core.environment.planner import Registration
from schema_core.pipeline.ctas import ACTIONS, CreateTableAs, Event, Mode, mode_of


class Recorder:
    """A stage and a catalog that write down what is asked of them."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def commit(self) -> None:
        self.calls.append("commit")

    def abort(self) -> None:
        self.calls.append("abort")

    def registration(self, *, atomic: bool = False) -> Registration:
        return Registration(
            lambda: self.calls.append("create"), lambda: self.calls.append("drop"), atomic
        )


def test_every_event_of_every_mode_has_its_actions() -> None:
    assert set(product(Mode, Event)) == set(ACTIONS)


@pytest.mark.parametrize(
    ("mode", "ending", "calls"),
    [
        (Mode.PLAIN, "finished", ["create", "commit"]),
        (Mode.PLAIN, "failed", ["create", "abort"]),
        (Mode.PLAIN, "canceled", ["create", "abort"]),
        (Mode.DROPPED, "finished", ["create", "commit"]),
        (Mode.DROPPED, "failed", ["create", "abort", "drop"]),
        (Mode.DROPPED, "canceled", ["create", "abort", "drop"]),
        (Mode.STAGED, "finished", ["commit", "create"]),
        (Mode.STAGED, "failed", ["abort"]),
        (Mode.STAGED, "canceled", ["abort"]),
    ],
)
def test_what_is_done_from_start_to_end(mode: Mode, ending: str, calls: list[str]) -> None:
    recorder = Recorder()
    hook = CreateTableAs(mode, recorder, recorder.registration())
    hook.on_created("job")
    match ending:
        case "finished":
            hook.on_finished("job")
        case "failed":
            hook.on_failed("job", ValueError())
        case _:
            hook.on_canceled("job")

    assert calls == recorder.calls


@pytest.mark.parametrize(
    ("atomic", "can_stage", "mode"),
    [
        (False, True, Mode.PLAIN),
        (False, False, Mode.PLAIN),
        (True, True, Mode.STAGED),
        (True, False, Mode.DROPPED),
    ],
)
def test_the_mode_follows_the_option_and_the_connector(
    atomic: bool, can_stage: bool, mode: Mode
) -> None:
    assert mode is mode_of(Recorder().registration(atomic=atomic), can_stage=can_stage)
