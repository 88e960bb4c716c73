"""Regressions: expressions that fuzz/differential.py found to be typed differently from Flink."""

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
from schema_core.spark.compiler.expression import compile_expression
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
def test_regression(given: str, expected: str) -> None:
    assert expected == answered(given)


# --- the fuzzer itself, without Flink ------------------------------------------------------------


def test_drawn_expressions_are_reproducible_and_mostly_valid() -> None:
    def drawn() -> list[str]:
        source = Drawing(random.Random(1)).expressions()
        return [line(next(source), {"ok": False}) for _ in range(400)]

    first = drawn()
    taken = [item for item in first if answered(item.removesuffix(" -> !")) != "!"]

    assert first == drawn()
    assert 150 < len(taken) < 400


def test_drawn_expressions_compile_to_spark_or_raise() -> None:
    """Typed expressions raise only errors of the library."""
    source = Drawing(random.Random(2))
    compiled = 0
    for expression in islice(source.expressions(), 2_000):
        with suppress(SchemaCoreError):
            compiled += bool(
                compile_expression(infer(source.scope, parse_expression(expression.text)))
            )

    assert compiled > 500


def test_a_difference_is_reduced_to_its_parts() -> None:
    text = "ABS(i + 1) > 2"

    result = shorter(text)

    assert {"ABS(i + 1)", "i > 2", "ABS(i) > 2", "NULL > 2"} <= result
    assert all(len(item) < len(text) for item in result)


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
