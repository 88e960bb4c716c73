"""Every fuzz target is run on its seeds and on mutations of them."""

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
def test_target_has_no_findings_on_mutated_seeds(name: str) -> None:
    target = import_module(f"fuzz.fuzz_{name}").target
    count = len(driver.seeds(name)) + FEWER[name] if name in FEWER else TEXTS
    tried = [(text, driver.find(target, text)) for text in islice(driver.inputs(name, 0), count)]

    assert [] == [(text[:200], problem) for text, problem in tried if problem]


def test_every_seed_file_has_a_target() -> None:
    assert TARGETS == sorted(path.stem for path in driver.SEEDS.glob("*.txt"))


def test_errors_of_other_classes_are_findings() -> None:
    def broken(text: str) -> None:
        if "x" in text:
            raise ValueError(text)
        raise SchemaCoreError(text, code="refused")

    assert driver.find(broken, "y") is None
    assert driver.find(broken, "yyxy") == "ValueError: yyxy"
    assert driver.shortened(broken, "yyxy") == "x"


def test_generated_type_questions_are_answered_or_refused() -> None:
    """fuzz/type_questions.py compares the answers with Flink."""
    drawn = islice(Drawing(random.Random(0)).questions(), TEXTS)
    errors = {item.get("error") for item in map(answer, drawn)}

    assert {None, "ParseError"} <= errors <= {None, "ParseError", "UnsupportedError"}
