"""Every fuzz target takes its seeds, and mutations of them, at every test run."""

from __future__ import annotations

import random
from importlib import import_module
from itertools import islice
from pathlib import Path

import pytest

from fuzz import driver
from fuzz.type_questions import Drawing
from properties.answer import answer
from schema_core.errors import SchemaCoreError

FUZZ = Path(__file__).parent.parent / "fuzz"
TARGETS = sorted(path.stem.removeprefix("fuzz_") for path in FUZZ.glob("fuzz_*.py"))
TEXTS = 2_000

#: Slow targets -> the number of inputs that are tried in addition to the seeds.
FEWER = {"completion": 12, "fluent": 300, "names": 60, "resolve": 100, "configuration": 300}


@pytest.mark.parametrize("name", TARGETS)
def test_target_survives_its_texts(name: str) -> None:
    target = import_module(f"fuzz.fuzz_{name}").target
    count = len(driver.seeds(name)) + FEWER[name] if name in FEWER else TEXTS
    tried = [(text, driver.find(target, text)) for text in islice(driver.inputs(name, 0), count)]

    assert [] == [(text[:200], problem) for text, problem in tried if problem]


def test_every_file_of_seeds_has_its_target() -> None:
    assert TARGETS == sorted(path.stem for path in driver.SEEDS.glob("*.txt"))


def test_a_find_is_any_error_but_ours() -> None:
    def broken(text: str) -> None:
        if "x" in text:
            raise ValueError(text)
        raise SchemaCoreError(text, code="refused")

    assert driver.find(broken, "y") is None
    assert driver.find(broken, "yyxy") == "ValueError: yyxy"
    assert driver.shortened(broken, "yyxy") == "x"


def test_drawn_questions_about_types_are_answered_or_refused() -> None:
    """That Flink answers the same takes a Flink: see fuzz/type_questions.py."""
    drawn = islice(Drawing(random.Random(0)).questions(), TEXTS)
    errors = {one.get("error") for one in map(answer, drawn)}

    assert {None, "ParseError"} <= errors <= {None, "ParseError", "UnsupportedError"}
