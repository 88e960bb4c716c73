"""Caches evict the least recently used results and never exceed their budget."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from schema_core import DataTypes, Schema, SchemaResolver
from schema_core.base.caching import (
    MAX_CACHED,
    CacheUsage,
    cache_usage,
    cached,
    cached_by_identity,
    clear_caches,
)
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


@pytest.mark.parametrize(("times", "share"), [(1.1, 0.4), (1.5, 0.3), (3, 0.15)])
def test_a_share_of_keys_that_are_read_cyclically_is_cached(times: float, share: float) -> None:
    """The keys exceed the budget `times`; `share` of them is not computed again."""
    computed = []

    @cached(lambda _: 1, budget=1000)
    def compute(number: int) -> None:
        computed.append(number)

    for number in range(count := round(1000 * times)):
        compute(number)
    for number in [*range(count)] * 10:
        compute(number)

    assert len(computed) - count < 10 * count * (1 - share)


def test_keys_that_are_read_after_cyclic_ones_are_cached() -> None:
    computed = []

    @cached(lambda _: 1, budget=1000)
    def compute(number: int) -> None:
        computed.append(number)

    for number in [*range(3000)] * 4 + [*range(4000, 4300)] * 20:
        compute(number)

    assert all(computed.count(number) <= 2 for number in range(4000, 4300))


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
    short, long = (templates[parse].format(item) for item in ("x", name))

    assert parse(short) is parse(short)
    assert parse(long) is not parse(long)


def test_results_by_identity_are_computed_once_and_bounded() -> None:
    computed = []

    @cached_by_identity(len, budget=2, unit="elements")
    def found(value: list[int]) -> int:
        computed.append(value)
        return len(value)

    one, two, three = [1], [1], [1]

    assert [1] * 4 == [found(value) for value in (one, one, two, one)]
    assert [one, two] == computed
    found(three)
    found(one)
    assert 4 == len(computed)


def test_a_result_by_identity_that_exceeds_the_budget_is_not_kept() -> None:
    computed = []

    @cached_by_identity(len, budget=2, unit="elements")
    def found(value: list[int]) -> int:
        computed.append(value)
        return len(value)

    small, large = [1], [1, 2, 3]

    assert [1, 3, 3, 1] == [found(value) for value in (small, large, large, small)]
    assert [small, large, large] == computed


def test_usage_counts_what_both_generations_hold() -> None:
    @cached(budget=100)
    def counted(text: str) -> str:
        return text

    def usage() -> CacheUsage:
        [result] = [item for item in cache_usage() if item.name == f"{__name__}.counted"]
        return result

    assert CacheUsage(f"{__name__}.counted", 0, 0, 100, "characters") == usage()
    for text in ("a", "b", "c"):  # 17 characters each with the constant overhead: two generations
        counted(text)
    assert (3, 51) == usage()[1:3]
    for number in range(1000):
        counted(str(number))
        assert usage().size <= 100
    clear_caches()
    assert (0, 0) == usage()[1:3]


SCHEMAS = [
    Schema.new_builder().column("a", "ROW<b INT, c ARRAY<INT>>").column("d", "INT").build(),
    Schema.new_builder().column("a", DataTypes.INT()).column_by_expression("b", "a + 1").build(),
]


@pytest.mark.parametrize("schema", SCHEMAS, ids=["types", "expressions"])
def test_resolving_is_counted_and_the_same_after_clearing(schema: Schema) -> None:
    clear_caches()
    before = SchemaResolver().resolve(schema)
    kept = {item.name.removeprefix("schema_core."): item for item in cache_usage() if item.entries}

    assert {"schema.resolve.ResolvedColumns", "schema.resolve.resolve_cached"} & set(kept)
    assert all(0 < item.size <= item.budget for item in kept.values())
    clear_caches()
    assert before == SchemaResolver().resolve(schema)


def test_resolved_columns_are_bounded_by_their_types() -> None:
    def columns() -> CacheUsage:
        [result] = [item for item in cache_usage() if item.name.endswith(".ResolvedColumns")]
        return result

    clear_caches()
    wide = DataTypes.ROW([DataTypes.FIELD(f"f{place}", DataTypes.INT()) for place in range(9_999)])
    for number in range(7):
        one = Schema.new_builder().column(f"c{number}", wide).build()
        SchemaResolver().resolve(one)
        assert columns().size <= columns().budget

    assert columns().entries < 7
