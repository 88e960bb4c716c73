"""Left-deep trees of thousands of operands can be compared, hashed, printed and pickled."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import pytest

from schema_core.base.left_deep import LeftDeepNode
from schema_core.expressions.type_checker import ColumnScope, infer
from schema_core.sql.parser import parse_expression
from schema_core.types import DataTypes

SCOPE = ColumnScope({"b": DataTypes.BOOLEAN(), "c": DataTypes.BOOLEAN()})


def tree(text: str) -> LeftDeepNode:
    result = parse_expression.__wrapped__(text)
    assert isinstance(result, LeftDeepNode)
    return result


def typed(text: str) -> LeftDeepNode:
    result = infer(SCOPE, parse_expression.__wrapped__(text))
    assert isinstance(result, LeftDeepNode)
    return result


LONG = " OR ".join(["b"] * 5_000)


@pytest.mark.parametrize("read", [tree, typed])
def test_equal_chains_are_equal(read: Callable[[str], LeftDeepNode]) -> None:
    one, other = read(LONG), read(LONG)

    assert one == other
    assert hash(one) == hash(other)
    assert one == pickle.loads(pickle.dumps(one))


@pytest.mark.parametrize("read", [tree, typed])
@pytest.mark.parametrize(
    "text",
    [f"c{LONG[1:]}", f"{LONG[:-1]}c", f"{LONG} OR b", LONG.replace("OR", "AND"), "b IS NULL"],
)
def test_chains_that_differ_anywhere_differ(read: Callable[[str], LeftDeepNode], text: str) -> None:
    assert read(LONG) != read(text)
    assert read(text) != read(LONG)


def test_a_chain_differs_from_other_objects() -> None:
    assert tree("b IS NULL") != "b IS NULL"
    assert tree("b IS NULL") != typed("b IS NULL")


def test_equality_ignores_spans() -> None:
    assert tree("b  OR c") == tree("b OR c")


@pytest.mark.parametrize("read", [tree, typed])
@pytest.mark.parametrize("count", [2, 3, 5_000])
def test_chains_are_printed_as_dataclasses_are(
    read: Callable[[str], LeftDeepNode], count: int
) -> None:
    node = read(" OR ".join(["b"] * count))
    inner = read("b OR b")

    assert repr(node).count("OR") == repr(inner).count("OR") * (count - 1)
    assert repr(node).endswith(repr(inner).partition("),")[2][-20:])


def test_one_and_several_arguments_are_printed_as_tuples() -> None:
    one, two = tree("UPPER(LOWER(c))"), tree("c || 'x' || b")

    assert "arguments=(Call(name='LOWER', arguments=(Name(parts=('c',)),)," in repr(one)
    assert repr(two).startswith("Call(name='||', arguments=(Call(name='||', arguments=(Name(")
