"""Regular expressions that are compiled when they are first used."""

from __future__ import annotations

import copy
import pickle
import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

import schema_core
from schema_core.base.lazy import regex

WORD: Any = regex(r"(?P<word>[a-z]+)", re.IGNORECASE)
COMPILED = re.compile(r"(?P<word>[a-z]+)", re.IGNORECASE)


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The expressions that are compiled during a test."""
    result: list[str] = []
    original = re.compile

    def compile_(pattern: str, flags: int = 0) -> re.Pattern[str]:
        result.append(pattern)
        return original(pattern, flags)

    monkeypatch.setattr(re, "compile", compile_)
    return result


def test_an_expression_is_compiled_at_its_first_use(compiled: list[str]) -> None:
    one = regex("a+b")
    before = list(compiled)

    matched = [one.fullmatch(text) is not None for text in ("aab", "b")]

    assert [True, False] == matched
    assert ([], ["a+b"]) == (before, compiled)


@pytest.mark.parametrize("name", sorted(item for item in dir(COMPILED) if not item.startswith("_")))
def test_it_has_the_attributes_of_a_compiled_expression(name: str) -> None:
    expected = getattr(COMPILED, name)

    if callable(expected):
        arguments = ("x", "Ab 1 cd") if name in {"sub", "subn"} else ("Ab 1 cd",)
        assert str(expected(*arguments))[:30] == str(getattr(WORD, name)(*arguments))[:30]
    else:
        assert expected == getattr(WORD, name)


def test_an_attribute_that_expressions_do_not_have_is_an_error() -> None:
    with pytest.raises(AttributeError, match="other"):
        _ = WORD.other


def test_it_is_copied_pickled_and_printed() -> None:
    for item in (copy.deepcopy(WORD), pickle.loads(pickle.dumps(WORD))):
        assert "Ab" == item.search("1 Ab")["word"]
    assert repr(COMPILED) == repr(WORD)


def declared() -> Iterator[Any]:
    """The expressions of all modules, also within their tables."""
    for module in pkgutil.walk_packages(schema_core.__path__, "schema_core."):
        if not module.name.endswith("__main__"):
            waiting = list(vars(import_module(module.name)).values())
            while waiting:
                one = waiting.pop()
                if type(one) is type(WORD):
                    yield one
                elif isinstance(one, tuple | list):
                    waiting += one
                elif isinstance(one, dict):
                    waiting += one.values()


def test_every_expression_of_a_module_is_valid() -> None:
    patterns = [item.pattern for item in declared()]

    assert 100 < len(patterns)
