"""What the tests of a contract test: a failure names the ability, the rule and the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

import pytest

from schema_core.base.lazy import NamedTuple


class Rule(NamedTuple):
    """What a test tests: an ability or capability by its name, and the page that describes it."""

    ability: str
    page: str


def state_rules(contract: type, rules: Mapping[str, Rule]) -> None:
    """Let each test of a contract that fails name its ability, its rule and its page.

    The rule is the first sentence of the test's docstring, or its name in words.
    """
    for name, rule in rules.items():
        setattr(contract, name, _state(getattr(contract, name), rule))


def _state(test: Callable[..., None], rule: Rule) -> Callable[..., None]:
    sentence = " ".join((test.__doc__ or "").partition(".\n")[0].split()).removesuffix(".")
    words = test.__name__.removeprefix("test_").replace("_", " ")
    text = f"{words}: {sentence}" if sentence else words
    note = f"ability: {rule.ability}\nrule: {text}\npage: docs/{rule.page}"

    @wraps(test)
    def stated(*args: Any, **kwargs: Any) -> None:
        try:
            test(*args, **kwargs)
        except (Exception, pytest.fail.Exception) as error:
            case = {name: value for name, value in kwargs.items() if isinstance(value, str)}
            listed = ", ".join(f"{name} {value!r}" for name, value in case.items())
            error.add_note(f"{note}\ncase: {listed}" if case else note)
            raise

    return stated
