"""Strings of csv and values of json are read as Flink 2.3 reads them: see the cases."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from typing import TYPE_CHECKING

import pytest

from schema_core.connectors.files.field_values import (
    TEXT,
    Syntax,
    is_value,
    read_value,
    reader_type,
    token_as_text,
)
from schema_core.connectors.files.file_formats import JSON
from schema_core.spark.compiler.functions.casts import convert
from schema_core.spark.compiler.template import inline
from schema_core.spark.compiler.tree import Case, Column, Field, Node, call
from schema_core.spark.session.frames import select
from schema_core.types import (
    BinaryType,
    BooleanType,
    DataType,
    DoubleType,
    FloatType,
    VarBinaryType,
    VariantType,
    parse_type,
)
from tests.support import cases

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SYNTAX = {"csv": Syntax.CSV, "json": Syntax.JSON, "json-iso": Syntax.JSON_ISO}
CASES = [(*given.split(" | ", 1), expected) for given, expected in cases("field_values")]
GROUPS = sorted({group for group, _, _ in CASES})


def as_text(value: Node, type_: DataType) -> Node:
    if isinstance(type_, BinaryType | VarBinaryType):
        return call("concat", "0x", call("lower", call("hex", value)))
    if isinstance(type_, BooleanType | FloatType | DoubleType):
        return inline("upper(CAST({v} AS STRING))", v=value)
    return convert(value, type_, TEXT)


def outcome(group: str) -> Node:
    """What is read of the column `text` or `token`, NULL or error."""
    name, type_name = group.split(" ", 1)
    syntax, type_ = SYNTAX[name], parse_type(type_name)
    token: Node = Column("text")
    if syntax is not Syntax.CSV:
        is_variant = isinstance(reader_type(type_, syntax), VariantType)
        token = Field(Column("variants" if is_variant else "strings"), "a")
    return inline(
        "coalesce({value}, if({text} IS NULL OR {known}, 'NULL', 'error'))",
        value=as_text(read_value(token, type_, syntax), type_),
        text=token_as_text(token, type_, syntax),
        known=is_value(token, type_, syntax),
    )


@pytest.fixture(scope="module")
def outcomes(session: SparkSession) -> dict[tuple[str, str], str]:
    """The outcomes of all cases, in one job."""
    from pyspark.sql import functions

    rows = []
    for group, text, _ in CASES:
        line = f'{{"a":{text}}}'
        rows.append((group, text, json.loads(text) if group.startswith("csv") else None, line))
    frame = session.createDataFrame(rows, "kind STRING, case STRING, text STRING, line STRING")
    options = JSON.reading({})
    for name, type_ in {"strings": "a STRING", "variants": "a VARIANT"}.items():
        frame = frame.withColumn(name, functions.from_json("line", type_, options))
    branches = tuple(
        (inline("{kind} = {group}", kind=Column("kind"), group=group), outcome(group))
        for group in GROUPS
    )
    result = select(
        frame, [(Column("kind"), "kind"), (Column("case"), "case"), (Case(branches), "outcome")]
    )
    return {(row[0], row[1]): row[2] for row in result.collect()}


def same(expected: str, actual: str, group: str) -> bool:
    if expected.lower() == actual.lower():
        return True
    if not group.endswith((" FLOAT", " DOUBLE")) or {expected, actual} & {"error", "NULL"}:
        return False
    return math.isclose(float(expected), float(actual), rel_tol=1e-6)


@pytest.mark.parametrize("group", GROUPS)
def test_values_are_those_of_flink(outcomes: dict[tuple[str, str], str], group: str) -> None:
    expected: dict[str, str] = defaultdict(str)
    for kind, text, value in CASES:
        if kind == group:
            expected[text] = value.partition(",")[0]
    actual = {text: value for (kind, text), value in outcomes.items() if kind == group}
    differences = {
        text: (value, actual[text])
        for text, value in expected.items()
        if not same(value, actual[text], group)
    }

    assert not differences
