"""The function tables have every function of Flink, and no duplicates."""

from __future__ import annotations

from collections import Counter
from itertools import chain

import pytest

from schema_core.catalog.functions import DEFINITIONS as LISTED
from schema_core.expressions.functions import BUILT_IN, FAMILIES, aggregates, declare
from schema_core.expressions.typed import Function, FunctionKind, Rules
from schema_core.types import DataTypes
from tests.support import cases

ROWS = [row for family in FAMILIES for row in family.FUNCTIONS]
CASES = cases("functions")


def test_all_definitions_of_flink_are_listed() -> None:
    assert len(dict(CASES)) == 256


@pytest.mark.parametrize(("definition", "name"), CASES)
def test_every_definition_is_implemented(definition: str, name: str) -> None:
    assert name.startswith("(") or name in BUILT_IN


def test_listed_functions_are_the_public_definitions() -> None:
    internal = {name for name in dict(CASES) if name.startswith("$")}

    assert set(dict(CASES)) - internal == set(LISTED)
    assert 5 == len(internal)


def test_signatures_are_unique() -> None:
    counted = Counter((name, str(row)) for row in ROWS for name in (row.name, *row.aliases))

    assert [value for value, count in counted.items() if count > 1] == []


def test_overloads_of_one_name_have_the_same_kind() -> None:
    """The kind of a call must be known before its arguments are typed."""
    known = {
        name: {(row.kind, row.bare_names, row.many_rows, row.rewrite is not None) for row in rows}
        for name, rows in BUILT_IN.items()
    }

    assert {name: kinds for name, kinds in known.items() if len(kinds) > 1} == {}


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_overloads_are_formatted(row: Function) -> None:
    """Each overload accepts its own number of arguments and prints the labels of its parameters."""
    assert row.name == row.name.upper() or row.name.endswith("x")
    assert 0 <= row.optional <= len(row.parameters)
    assert row.repeats <= len(row.parameters)
    for overload in row.overloads:
        assert row.expand(overload, len(overload)) == overload
        assert all(parameter.label in row.format(overload) for parameter in overload)


def test_repeated_parameters_are_expanded() -> None:
    (map_of,) = BUILT_IN["MAP"]

    assert [map_of.expand(map_of.parameters, count) is not None for count in range(1, 7)] == [
        count % 2 == 0 for count in range(1, 7)
    ]


def test_aggregates_are_in_one_table() -> None:
    assert {row.kind for row in aggregates.FUNCTIONS} == {FunctionKind.AGGREGATE}
    elsewhere = chain.from_iterable(
        family.FUNCTIONS for family in FAMILIES if family is not aggregates
    )
    assert {row.name for row in elsewhere if row.kind is FunctionKind.AGGREGATE} == {
        name for name in BUILT_IN if name.startswith("BITMAP_") and name.endswith("_AGG")
    }


def test_declared_functions_have_the_rules_of_the_table_api() -> None:
    rows = declare("f", [([], DataTypes.INT()), ([DataTypes.INT()], DataTypes.INT())])

    assert [str(row) for row in rows] == ["f()", "f(INT)"]
    assert {(row.rules, row.quoted, row.path) for row in rows} == {(Rules.TABLE_API, True, ("f",))}
