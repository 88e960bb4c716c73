"""Expressions that were once typed otherwise than by Flink, found by fuzz/differential.py."""

from __future__ import annotations

import random
from contextlib import suppress
from itertools import islice

import pytest

from fuzz.differential import difference, line, shorter
from fuzz.drawing import Drawing
from properties.answers.expressions import shown
from schema_core.errors import SchemaCoreError
from schema_core.expressions.scope import ColumnScope
from schema_core.expressions.to_sql import to_sql
from schema_core.expressions.type_checker import infer
from schema_core.spark.compiler.expression import to_spark
from schema_core.sql.parser import parse_expression
from schema_core.types import RowType, parse_type
from tests.support import cases

FINDS = cases("differential")


def answered(given: str) -> str:
    mode, columns, text = given.split(" | ", 2)
    row = parse_type(columns)
    assert isinstance(row, RowType)
    types = {field.name: field.data_type for field in row.fields}
    try:
        typed = infer(ColumnScope(types, streaming=mode == "streaming"), parse_expression(text))
        return f"{shown(typed.type)} | {to_sql(typed)}"
    except SchemaCoreError:
        return "!"


@pytest.mark.parametrize(("given", "expected"), FINDS)
def test_find_stays_mended(given: str, expected: str) -> None:
    assert expected == answered(given)


# --- the fuzzer itself, without Flink ------------------------------------------------------------


def test_drawn_expressions_repeat_and_are_mostly_typed() -> None:
    def drawn() -> list[str]:
        source = Drawing(random.Random(1)).expressions()
        return [line(next(source), {"ok": False}) for _ in range(400)]

    first = drawn()
    taken = [one for one in first if answered(one.removesuffix(" -> !")) != "!"]

    assert first == drawn()
    assert 150 < len(taken) < 400


def test_drawn_expressions_are_said_to_spark_or_refused() -> None:
    """Whatever is typed: no other errors than the library's own."""
    source = Drawing(random.Random(2))
    said = 0
    for one in islice(source.expressions(), 2_000):
        with suppress(SchemaCoreError):
            said += bool(to_spark(infer(source.scope, parse_expression(one.text))))

    assert said > 500


def test_a_find_is_cut_down_to_parts_of_itself() -> None:
    text = "ABS(i + 1) > 2"

    found = shorter(text)

    assert {"ABS(i + 1)", "i > 2", "ABS(i) > 2", "NULL > 2"} <= found
    assert all(len(one) < len(text) for one in found)


@pytest.mark.parametrize(
    ("theirs", "ours", "kind"),
    [
        ({"ok": True, "type": "INT", "sql": "1"}, {"ok": True, "type": "INT", "sql": "1"}, ""),
        ({"ok": True, "type": "INT", "sql": "1"}, {"ok": True, "type": "INT", "sql": "2"}, "sql"),
        ({"ok": True, "type": "INT"}, {"ok": True, "type": "BIGINT"}, "type"),
        ({"ok": False, "error": "ValidationException"}, {"ok": True}, "taken wrongly"),
        ({"ok": True, "type": "INT"}, {"ok": False}, "refused wrongly"),
        ({"ok": False, "error": "ValidationException"}, {"ok": False}, ""),
        ({"ok": False, "error": "NullPointerException"}, {"ok": True}, "crash of Flink"),
    ],
)
def test_differences_have_names(
    theirs: dict[str, object], ours: dict[str, object], kind: str
) -> None:
    assert kind == difference({"op": "expr"}, theirs, ours)
