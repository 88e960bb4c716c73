"""Caches evict the least recently used results and never exceed their budget."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from schema_core.caching import MAX_CACHED, cached, cached_by_identity
from schema_core.errors import SchemaError
from schema_core.sql.parser import parse_expression, parse_query
from schema_core.types import parse_type


def test_a_used_result_is_cached() -> None:
    computed = []

    @cached(budget=300)
    def found(text: str) -> str:
        computed.append(text)
        return text.upper()

    for number in range(100):
        assert found("often") == "OFTEN"
        found(f"other {number}")

    assert computed.count("often") == 1


def test_an_unused_result_is_evicted() -> None:
    computed = []

    @cached(budget=300)
    def found(text: str) -> None:
        computed.append(text)

    for text in ("old", *map(str, range(100)), "old", "old"):
        found(text)

    assert computed.count("old") == 2


def test_results_beyond_the_budget_are_not_cached() -> None:
    computed = []

    @cached(budget=100)
    def found(text: str) -> None:
        computed.append(text)

    found("x" * 100)
    found("x" * 100)

    assert len(computed) == 2


def test_errors_are_not_cached() -> None:
    @cached()
    def found(text: str) -> None:
        raise SchemaError(text)

    with pytest.raises(SchemaError) as first:
        found("a")
    with pytest.raises(SchemaError) as second:
        found("a")

    assert first.value is not second.value


def test_a_cache_can_be_cleared() -> None:
    computed = []

    @cached()
    def found(text: str) -> None:
        computed.append(text)

    found("a")
    found.cache_clear()
    found("a")

    assert computed == ["a", "a"]


@pytest.mark.parametrize("parse", [parse_type, parse_expression, parse_query])
def test_only_short_strings_are_cached(parse: Callable[[str], object]) -> None:
    name = "x" * (MAX_CACHED // 2)
    templates = {parse_type: "ROW<`{}` INT>", parse_expression: "`{}`", parse_query: "SELECT `{}`"}
    short, long = (templates[parse].format(one) for one in ("x", name))

    assert parse(short) is parse(short)
    assert parse(long) is not parse(long)


def test_results_by_identity_are_computed_once_and_bounded() -> None:
    computed = []

    @cached_by_identity(maximum=2)
    def found(value: list[int]) -> int:
        computed.append(value)
        return len(value)

    one, two, three = [1], [1], [1]

    assert [1] * 4 == [found(value) for value in (one, one, two, one)]
    assert [one, two] == computed
    found(three)
    found(one)
    assert 4 == len(computed)
