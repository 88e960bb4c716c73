"""Laws of the floors: they only rise, and what was just written down holds."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from properties.agreement import Floors, Score, fallen, raised

CASES = 20
counts = st.integers(0, CASES)
figures = st.fixed_dictionaries({"meaning": counts, "exact": counts, "accepted": counts})


def score(count: dict[str, int]) -> Score:
    return Score("casts", count=Counter({**count, "cases": CASES, "answered": 1}))


def floors(count: dict[str, int]) -> Floors:
    return {"casts": {**count, "cases": CASES}}


@given(figures)
def test_a_score_holds_its_own_floor(count: dict[str, int]) -> None:
    assert [] == fallen([score(count)], raised([score(count)], {}))


@given(figures, figures)
def test_a_floor_never_falls(old: dict[str, int], new: dict[str, int]) -> None:
    after = raised([score(new)], floors(old))["casts"]

    assert after["meaning"] >= old["meaning"]
    assert after["exact"] >= old["exact"]
    assert after["accepted"] <= old["accepted"]


@given(figures, figures)
def test_whoever_held_the_new_floor_held_the_old_one(
    old: dict[str, int], new: dict[str, int]
) -> None:
    higher = raised([score(new)], floors(old))

    assert not fallen([score(higher["casts"])], floors(old))


@given(figures, figures)
def test_falling_is_noticed(old: dict[str, int], new: dict[str, int]) -> None:
    worse = (
        new["meaning"] < old["meaning"]
        or new["exact"] < old["exact"]
        or new["accepted"] > old["accepted"]
    )

    assert worse == bool(fallen([score(new)], floors(old)))


def test_what_is_refused_as_a_whole_gets_no_floor() -> None:
    refused = Score("casts", count=Counter(cases=CASES, meaning=5))

    assert {} == raised([refused], {})
    assert [] == fallen([refused], {})
