"""Expressions of NOT NULL types never return NULL on Spark, at any depth.

The expressions are those with recorded results of Flink, and generated ones over the same tables.
An expression that fails the job has no value and is skipped.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import pytest

from fuzz.drawing import Drawing
from properties import recorded
from properties.answers import fixtures, values
from schema_core.errors import ExternalError, SchemaCoreError
from schema_core.expressions.signatures import EQUAL, ORDERED
from schema_core.expressions.type_checker import ColumnScope, infer
from schema_core.expressions.typed import FunctionCall, FunctionKind, Typed, walk
from schema_core.query.relation import Column
from schema_core.spark.compiler.expression import compile_expression
from schema_core.spark.compiler.tree import to_sql
from schema_core.spark.reading.results import python_rows
from schema_core.sql.parser import parse_expression
from schema_core.types import (
    ArrayType,
    DataType,
    DataTypes,
    MapType,
    MultisetType,
    RowType,
    TypeFamily,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: How many expressions are computed in one job, and how many are drawn over a table.
TOGETHER = 25
DRAWN = 20


@pytest.fixture(scope="module", params=["T1", "T2", "T3"])
def table(request: pytest.FixtureRequest, session: SparkSession) -> str:
    assert session is not None
    fixtures.TABLES.update(recorded.document("tables"))
    name: str = request.param
    return name


def typed(table: str, text: str) -> Typed:
    return infer(ColumnScope(values.columns(table), streaming=False), parse_expression(text))


def contains_not_null(type_: DataType) -> bool:
    return any(not node.is_nullable for node in type_.walk())


def recorded_expressions(table: str) -> Iterator[str]:
    """Yield every third recorded expression over the table."""
    pairs = recorded.records("values")
    result = (asked["expr"] for asked, answer in pairs if answer["ok"] and asked["table"] == table)
    yield from islice(result, 0, None, 3)


def drawn_expressions(table: str) -> Iterator[str]:
    """Yield generated expressions over columns of the table."""
    columns = values.columns(table)
    source = Drawing(random.Random(f"{table}8"))
    source.columns = {f"`{name}`": str(type_) for name, type_ in columns.items()}
    source.scope = ColumnScope(columns, streaming=False)
    source.grow((*source.columns, "1", "2.5", "'a'", "'2020-01-31'", "TRUE", "NULL"))
    for item in islice(source.over_these(), 80 * DRAWN):
        yield item.text


def computable(table: str, expressions: Iterator[str]) -> Iterator[tuple[str, Typed, str]]:
    """The expressions that are NOT NULL somewhere and that Spark can compute."""
    for text in expressions:
        try:
            result = typed(table, text)
            if contains_not_null(result.type) and not any(map(is_exempt, walk(result))):
                yield text, result, to_sql(compile_expression(result))
        except SchemaCoreError:
            continue


def is_exempt(found: Typed) -> bool:
    """Aggregates return one row for many; Flink types some values as NOT NULL that may be NULL.

    A string compared with a number is cast to one, and NULL if it is not a number. In SQL the
    elements of a value cast to an array are NOT NULL, even if they were nullable.
    """
    if not isinstance(found, FunctionCall):
        return False
    if found.function.name in ("CAST", "TRY_CAST") and found.type.children():
        return any(map(contains_not_null, found.type.children()))
    are_strings = {argument.type.is_(TypeFamily.CHARACTER_STRING) for argument in found.arguments}
    compares = found.function.parameters[:1] in ((EQUAL,), (ORDERED,)) or found.function.many_rows
    return found.function.kind is FunctionKind.AGGREGATE or (compares and len(are_strings) > 1)


def rows(session: SparkSession, table: str, expressions: Sequence[str]) -> list[list[Any]]:
    """The values of expressions by column; empty if one of them fails the job."""
    names = ", ".join(f"{expression} AS c{place}" for place, expression in enumerate(expressions))
    try:
        view = values.view(table)
        result = values.SESSION.get().sql(f"SELECT {names} FROM {view}").toArrow()
    except Exception:  # noqa: BLE001 - whatever ends a job, there are no values
        return []
    return [values.fetched(column) for column in result.columns]


def breaks(value: Any, type_: DataType) -> bool:
    """Return whether a value is NULL where its type is NOT NULL."""
    if value is None:
        return not type_.is_nullable
    match type_:
        case ArrayType(element_type=element):
            return any(breaks(item, element) for item in value)
        case MapType(key_type=key, value_type=entry):
            return any(
                breaks(k, key) or breaks(v, entry)
                for k, v in (value.items() if isinstance(value, dict) else value)
            )
        case MultisetType(element_type=element):
            return any(breaks(item, element) for item in dict(value))
        case RowType(fields=fields):
            pairs = zip(value.values(), fields, strict=True)
            return any(breaks(item, field.data_type) for item, field in pairs)
        case _:
            return False


def broken(session: SparkSession, table: str, found: list[tuple[str, Typed, str]]) -> list[str]:
    """Return the expressions with a forbidden NULL; if the job fails, each is run separately."""
    columns = rows(session, table, [sql for _, _, sql in found])
    if columns:
        pairs = zip(found, columns, strict=True)
        return [
            text
            for (text, tree, _), column in pairs
            if any(breaks(value, tree.type) for value in column)
        ]
    if len(found) == 1:
        return []
    half = len(found) // 2
    return [
        *broken(session, table, found[:half]),
        *broken(session, table, found[half:]),
    ]


@pytest.mark.parametrize("expressions", [recorded_expressions, drawn_expressions])
def test_expressions_typed_not_null_return_no_null(
    session: SparkSession, table: str, expressions: Any
) -> None:
    result = list(computable(table, expressions(table)))
    if expressions is drawn_expressions:
        result = result[:: max(1, len(result) // DRAWN)]

    assert len(result) > 20
    for start in range(0, len(result), TOGETHER):
        assert [] == broken(session, table, result[start : start + TOGETHER])


def test_the_check_detects_an_incorrect_nullability(session: SparkSession, table: str) -> None:
    """A NULL at any depth is detected."""
    row = typed(table, "ROW(1, ARRAY['a'])").type
    value = {"EXPR$0": 1, "EXPR$1": ["a", None]}

    assert breaks(None, row)
    assert breaks(value, row)
    assert not breaks({**value, "EXPR$1": ["a"]}, row)
    assert ["1"] == broken_by_hand(session, table)


def broken_by_hand(session: SparkSession, table: str) -> list[str]:
    return broken(session, table, [("1", typed(table, "1"), "CAST(NULL AS INT)")])


@pytest.mark.parametrize(
    "sql", ["SELECT CAST(NULL AS INT) AS a", "SELECT nullif(id, 1) AS a FROM range(3)"]
)
def test_null_in_a_result_column_that_is_not_null_fails_the_job(
    session: SparkSession, sql: str
) -> None:
    columns = (Column("b", DataTypes.INT()), Column("a", DataTypes.BIGINT(nullable=False)))
    frame = session.sql(f"SELECT CAST(NULL AS INT) AS b, CAST(a AS BIGINT) AS a FROM ({sql})")

    with pytest.raises(ExternalError, match="column 'a' is NOT NULL but received NULL"):
        list(python_rows(frame, columns))
