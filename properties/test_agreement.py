"""Laws of the floors, which only rise, and of crashes, which agree with nothing."""

from __future__ import annotations

import json
import subprocess
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from properties import agreement as program
from properties import recorded
from properties.agreement import PROGRAM, ROOT, Floors, Score, fallen, judge, raised, verdict
from properties.answers.attempt import UNSUPPORTED, attempt
from properties.recorded import Answer, Question
from properties.scoring import MISSING, agreement, crashes
from schema_core.errors import NotFoundError, ParseError, SchemaError

CASES = 20
counts = st.integers(0, CASES)
figures = st.fixed_dictionaries(
    {"meaning": counts, "exact": counts, "reasons": counts, "accepted": counts}
)


def score(count: dict[str, int]) -> Score:
    return Score("casts", count=Counter({**count, "cases": CASES, "answered": 1}))


def floors(count: dict[str, int]) -> Floors:
    return {"casts": {**count, "cases": CASES}}


@given(figures)
def test_a_score_reaches_its_own_floor(count: dict[str, int]) -> None:
    assert [] == fallen([score(count)], raised([score(count)], {}))


@given(figures, figures)
def test_a_floor_never_decreases(old: dict[str, int], new: dict[str, int]) -> None:
    after = raised([score(new)], floors(old))["casts"]

    assert after["meaning"] >= old["meaning"]
    assert after["exact"] >= old["exact"]
    assert after["reasons"] >= old["reasons"]
    assert after["accepted"] <= old["accepted"]


@given(figures, figures)
def test_reaching_a_new_floor_implies_reaching_the_old_one(
    old: dict[str, int], new: dict[str, int]
) -> None:
    higher = raised([score(new)], floors(old))

    assert not fallen([score(higher["casts"])], floors(old))


@given(figures, figures)
def test_a_score_below_its_floor_is_detected(old: dict[str, int], new: dict[str, int]) -> None:
    worse = (
        new["meaning"] < old["meaning"]
        or new["exact"] < old["exact"]
        or new["reasons"] < old["reasons"]
        or new["accepted"] > old["accepted"]
    )

    assert worse == bool(fallen([score(new)], floors(old)))


def test_a_completely_refused_family_has_no_floor() -> None:
    refused = Score("casts", count=Counter(cases=CASES, meaning=5))

    assert {} == raised([refused], {})
    assert [] == fallen([refused], {})


# --- crashes -------------------------------------------------------------------------------------

REFUSED: Answer = {"ok": False, "error": "ValidationException"}
TAKEN: Answer = {"ok": True, "root": "INTEGER"}


def raising(error: BaseException) -> Answer:
    def operation(question: Question) -> Answer:
        raise error

    return attempt(operation, {"op": "type"})


CRASHES = [
    *map(raising, (ValueError(), KeyError("in"), RecursionError(), MemoryError())),
    UNSUPPORTED,
    MISSING,
]


@pytest.mark.parametrize("crash", CRASHES, ids=str)
@pytest.mark.parametrize("expected", [REFUSED, TAKEN], ids=["refused", "taken"])
def test_a_crash_agrees_with_no_answer(crash: Answer, expected: Answer) -> None:
    assert crashes(crash) == 1
    assert agreement({"op": "type"}, expected, crash) == (False, False)


def test_a_crash_is_not_counted_as_a_refusal() -> None:
    for expected in (REFUSED, TAKEN):
        figures, agrees = judge({"op": "type"}, expected, raising(ValueError()))

        assert not agrees
        assert figures["crashes"] == 1
        assert not figures["refusals"]
        assert not figures["refused"]


def test_a_crash_of_one_statement_is_a_crash_of_the_script() -> None:
    assert crashes({"ok": True, "results": [TAKEN, raising(ValueError()), REFUSED]}) == 1


def test_crashes_fail_whatever_the_floors_are(monkeypatch: pytest.MonkeyPatch) -> None:
    crashed = Score("casts", count=Counter(cases=CASES, answered=1, meaning=CASES, crashes=1))

    assert "casts: 1 crashes, floor 0" in fallen([crashed], {})
    monkeypatch.setattr(program, "save_floors", lambda floors: pytest.fail("floors were saved"))
    assert verdict([crashed], raise_floors=True) == 1


def test_the_program_continues_after_a_crash_and_exits_with_1() -> None:
    questions = [{"op": "type"}, {"op": "weather"}, {"op": "type", "in": "INT"}]
    process = subprocess.run(
        PROGRAM, input="".join(json.dumps(question) + "\n" for question in questions), cwd=ROOT,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    first, second, third = map(json.loads, process.stdout.splitlines())

    assert (crashes(first), crashes(second), crashes(third)) == (1, 1, 0)
    assert third["ok"]
    assert process.returncode == 1
    assert "Traceback" in process.stderr


def test_a_crashing_program_is_scored_as_a_crash(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A whole file of refusals, answered by a program that only crashes."""
    monkeypatch.setattr(recorded, "preamble", lambda corpus: [])
    monkeypatch.setattr(
        recorded, "records", lambda name, corpus: iter([({"op": "weather"}, REFUSED)] * 3)
    )
    result = program.score("casts", recorded.CORPUS, 60)

    assert (result.count["crashes"], result.count["meaning"], result.count["exact"]) == (3, 0, 0)


# --- reasons of refusals -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flink", "ours", "exactly"),
    [
        ("SqlParserException", ParseError("p"), True),
        ("SqlParserException", SchemaError("p"), False),
        ("CalciteContextException", ParseError("p"), False),
        ("CalciteContextException", NotFoundError("p"), True),
        ("NoSuchElementException", SchemaError("p"), False),
        ("ValidationException", ParseError("p"), True),
    ],
)
def test_refusals_agree_exactly_unless_the_kinds_of_reason_differ(
    flink: str, ours: Exception, exactly: bool
) -> None:
    expected = {"ok": False, "error": flink}

    assert agreement({"op": "type"}, expected, raising(ours)) == (True, exactly)
