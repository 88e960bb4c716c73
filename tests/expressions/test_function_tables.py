"""The page of functions has a line for every row, in words."""

from __future__ import annotations

import pytest

from docs import function_tables
from schema_core.expressions.functions import FAMILIES
from schema_core.expressions.signatures import Function

ROWS = [row for family in FAMILIES for row in family.FUNCTIONS]
LINES = [line for line in function_tables.tables().split("\n") if line.startswith("| `")]


def test_every_row_has_its_line_and_there_are_no_others() -> None:
    assert sorted(map(function_tables.line, ROWS)) == sorted(LINES)


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_every_row_says_what_it_gives(row: Function) -> None:
    assert function_tables.result(row)
    assert 7 == function_tables.line(row).replace("\\|", "").count("|")


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("UPPER", ["`UPPER(<CHARACTER>)`", "the type of the first argument",
                   "where an argument may be", "as they are", "yes", ""]),
        ("URL_DECODE", ["`URL_DECODE(<CHARACTER_STRING>)`", "`STRING`",
                        "always", "cast", "yes", ""]),
        ("UUID", ["`UUID()`", "`CHAR(36)`", "never", "as they are", "no",
                  "gives something else every time"]),
    ],
)  # fmt: skip
def test_a_line_in_full(name: str, cells: list[str]) -> None:
    (row,) = (row for row in ROWS if row.name == name)

    assert f"| {' | '.join(cells)} |" == function_tables.line(row)
