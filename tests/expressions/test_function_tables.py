"""The generated tables of docs/functions.md have one line for each function."""

from __future__ import annotations

import pytest

from docs import function_tables
from schema_core.expressions.functions import FAMILIES
from schema_core.expressions.typed import Function

ROWS = [row for family in FAMILIES for row in family.FUNCTIONS]
LINES = [line for line in function_tables.tables().split("\n") if line.startswith("| `")]


def test_tables_have_exactly_one_line_per_row() -> None:
    assert sorted(map(function_tables.line, ROWS)) == sorted(LINES)


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_every_line_describes_the_result(row: Function) -> None:
    assert function_tables.result(row)
    assert 8 == function_tables.line(row).replace("\\|", "").count("|")


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("UPPER", ["`UPPER(<CHARACTER>)`", "the type of the first argument",
                   "if any argument", "", "native", ""]),
        ("URL_DECODE", ["`URL_DECODE(<CHARACTER_STRING>)`", "`STRING`",
                        "always", "cast", "rewritten", ""]),
        ("UUID", ["`UUID()`", "`CHAR(36)`", "never", "",
                  "native", "not deterministic"]),
    ],
)  # fmt: skip
def test_cells_of_a_line(name: str, cells: list[str]) -> None:
    (row,) = (row for row in ROWS if row.name == name)

    cells.insert(5, function_tables.speed(row))
    assert f"| {' | '.join(cells)} |" == function_tables.line(row)


def test_speeds_are_those_of_functions() -> None:
    assert set(function_tables.SPEEDS) <= {row.name for row in ROWS}
    assert all(1000 < speed for speed in function_tables.SPEEDS.values())
