"""Functions are pickled by name, so that typed trees can be sent to other processes."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

from schema_core.base.text import Span
from schema_core.expressions.functions import FAMILIES, declare
from schema_core.expressions.typed import Function, FunctionKind
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.resolved import ResolvedSchema
from schema_core.schema.unresolved import Schema
from schema_core.types import DataTypes

ROWS = [row for family in FAMILIES for row in family.FUNCTIONS]


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_built_in_functions_are_unpickled_as_themselves(row: Function) -> None:
    assert row is pickle.loads(pickle.dumps(row))


def test_declared_functions_are_unpickled_equal() -> None:
    signature = ([DataTypes.INT(), DataTypes.STRING(False)], DataTypes.DOUBLE())
    (row,) = declare("f", [signature], kind=FunctionKind.AGGREGATE, path=("c", "d", "f"))
    (other,) = declare("f", [([DataTypes.INT()], DataTypes.DOUBLE())], path=("c", "d", "f"))

    assert row == pickle.loads(pickle.dumps(row))
    assert row != other


def schema() -> ResolvedSchema:
    def functions(path: tuple[str, ...], span: Span) -> tuple[Function, ...] | None:
        known = declare("plus", [([DataTypes.INT()], DataTypes.INT())], path=("c", "d", "plus"))
        return known if path == ("plus",) else None

    written = (
        Schema.new_builder()
        .column("a", "INT NOT NULL")
        .column("ts", "TIMESTAMP(3)")
        .column_by_expression("b", "CASE WHEN a > 1 THEN COALESCE(a, 0) ELSE plus(a) END")
        .column_by_expression("c", " OR ".join(["a = 1"] * 2_000))
        .watermark("ts", "ts - INTERVAL '5' SECOND")
        .primary_key("a")
        .build()
    )
    return SchemaResolver(functions=functions).resolve(written)


def test_resolved_schema_is_pickled() -> None:
    before = schema()
    after = pickle.loads(pickle.dumps(before))

    assert before == after
    assert str(before) == str(after)


READ = """
import pickle, sys
schema = pickle.load(sys.stdin.buffer)
print(schema.get_column("b").expression.as_serializable_string())
"""


def test_another_process_unpickles_a_schema() -> None:
    given = pickle.dumps(schema())
    command = [sys.executable, "-c", READ]
    read = subprocess.run(command, input=given, capture_output=True, check=True).stdout.decode()

    expected = "CASE WHEN `a` > 1 THEN COALESCE(`a`, 0) ELSE `c`.`d`.`plus`(`a`) END"
    assert expected == read.strip()
