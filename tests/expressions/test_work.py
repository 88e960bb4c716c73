"""Long expressions: time is linear in their length; exponential growth raises an error."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from schema_core.errors import SchemaError
from schema_core.expressions.to_sql import to_sql
from schema_core.expressions.type_checker import ColumnScope, infer
from schema_core.sql.parser import parse_expression
from schema_core.types import DataType, parse_type
from tests.support import count_calls

SCOPE = ColumnScope(
    {
        name: parse_type(text)
        for name, text in {
            "i": "INT",
            "l": "BIGINT",
            "d": "DECIMAL(10, 2)",
            "s": "STRING",
            "b": "BOOLEAN",
        }.items()
    }
)


def listed(opening: str, item: str, closing: str) -> Callable[[int], str]:
    """Return a form with `count` items; `{}` in an item is replaced by its number."""
    return lambda count: opening + ", ".join(item.format(k) for k in range(count)) + closing


def chained(operand: str, operator: str) -> Callable[[int], str]:
    return lambda count: operator.join(operand.format(k) for k in range(count))


def branched(opening: str, branch: str) -> Callable[[int], str]:
    return lambda count: f"{opening} {' '.join(branch.format(k) for k in range(count))} END"


#: Kind of long expression -> its SQL for a number of items.
LONG: dict[str, Callable[[int], str]] = {
    "CASE": branched("CASE", "WHEN i = {0} THEN {0}"),
    "simple CASE": branched("CASE i", "WHEN {0} THEN l WHEN -{0} THEN d"),
    "IN": listed("i IN (", "{0}", ")"),
    "IN of strings": listed("s IN (", "'{0}', 'x{0}'", ")"),
    "SOME": listed("i = SOME (", "{0}", ")"),
    "COALESCE": listed("COALESCE(", "i, l", ")"),
    "GREATEST": listed("GREATEST(", "i, d", ")"),
    "CONCAT": listed("CONCAT(", "s", ")"),
    "ELT": listed("ELT(i, ", "s", ")"),
    "PRINTF": listed("PRINTF(", "s", ")"),
    "ARRAY": listed("ARRAY[", "i, l, d", "]"),
    "MAP": listed("MAP[", "{0}, s", "]"),
    "MULTISET": listed("MULTISET[", "{0}", "]"),
    "ROW": listed("ROW(", "i", ")"),
    "JSON_OBJECT": listed("JSON_OBJECT(", "'k{0}' VALUE i", ")"),
    "JSON_ARRAY": listed("JSON_ARRAY(", "i", ")"),
    "||": chained("s", " || "),
    "+": chained("i", " + "),
    "AND": chained("b", " AND "),
    "OR": chained("i = {0}", " OR "),
    "IS NULL": lambda count: "i" + " IS NULL" * count,
    "a row type": listed("CAST(NULL AS ROW<", "f{0} INT", ">)"),
}


def typed_and_printed(text: str) -> tuple[DataType, str]:
    typed = infer(SCOPE, parse_expression.__wrapped__(text))
    return typed.type, to_sql(typed)


def work(text: str) -> int:
    """Count the function calls to parse, type and print an expression."""
    return count_calls(lambda: typed_and_printed(text))


@pytest.mark.parametrize("form", LONG)
def test_work_is_linear(form: str) -> None:
    """Four times the items need at most five times the calls; quadratic time would need sixteen."""
    text = LONG[form]
    work(text(5))  # what is looked up once is looked up here

    assert work(text(200)) <= 5 * work(text(50))


@pytest.mark.parametrize(
    ("form", "count"),
    [
        ("CASE", 20_000),
        ("IN", 100_000),
        ("COALESCE", 5_000),
        ("GREATEST", 5_000),
        ("CONCAT", 20_000),
        ("ARRAY", 20_000),
        ("MAP", 20_000),
        ("ROW", 10_000),
        ("||", 20_000),
        ("OR", 20_000),
    ],
)
def test_long_forms_are_typed_and_printed(form: str, count: int) -> None:
    type_, text = typed_and_printed(LONG[form](count))

    assert type_.as_summary_string()
    assert len(text) > count


@pytest.mark.parametrize("depth", [20, 60])
def test_exponential_rewrites_raise(depth: int) -> None:
    """NULLIF repeats its first argument, and so do nested NULLIFs."""
    with pytest.raises(SchemaError) as caught:
        typed_and_printed("NULLIF(" * depth + "i" + ", 0)" * depth)

    assert "limit-exceeded" == caught.value.code
