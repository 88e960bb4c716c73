"""MATCH_RECOGNIZE returns the rows of Flink 2.3.0, and is refused where Flink refuses it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fuzz.oracle.matches import TABLES, create, sql_of
from properties.answers.values import canonical
from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.errors import ExternalError, SchemaCoreError, UnsupportedError
from schema_core.expressions.user_functions import AggregateFunction, udaf, udf
from schema_core.spark.matching.row_terms import (
    BOOLEAN,
    Apply,
    At,
    Fold,
    Kind,
    Place,
    Rows,
    condition,
)
from schema_core.types import DataTypes
from tests.slow_tests import draw_cases, keywords
from tests.support import CASES, cases

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.usefixtures("one_task")

#: Query -> Flink's answer.
RECORDED = {
    line["query"]: line
    for line in map(
        json.loads, (CASES / "match_results.jsonl").read_text(encoding="utf-8").splitlines()
    )
}
QUERIES = cases("match_queries")


@pytest.fixture(scope="module")
def env(session: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> TableEnvironment:
    """An environment in batch mode with the recorded tables."""
    return environment(session, tmp_path_factory.mktemp("matches"), streaming=False)


def environment(session: SparkSession, folder: Path, *, streaming: bool) -> TableEnvironment:
    settings = EnvironmentSettings
    mode = settings.in_streaming_mode() if streaming else settings.in_batch_mode()
    env = TableEnvironment.create(mode, spark=session)
    env.execute_sql("SET 'table.local-time-zone' = 'UTC'")
    for name in TABLES:
        env.execute_sql(create(name, folder))
    return env


def rows(env: TableEnvironment, sql: str) -> tuple[list[str], list[list[Any]]]:
    """Return the types and rows of a query as recorded."""
    result = env.execute_sql(sql)
    types = [column.data_type for column in result.get_resolved_schema().columns]
    with result.collect() as results:
        found = [
            [canonical(item, type_) for item, type_ in zip(row, types, strict=True)]
            for row in results
        ]
    return [type_.as_summary_string() for type_ in types], sorted(found, key=json.dumps)


def of_kind(kind: str) -> list[str]:
    return [query for query, expected in QUERIES if expected == kind]


def test_the_recording_has_the_expected_kinds() -> None:
    """What Flink refuses is refused before the query runs, so both are errors of the recording."""
    kinds = {"rows": True, "only here": True, "fails": False, "refused": False}
    wrong = [query for query, kind in QUERIES if ("rows" in RECORDED[query]) != kinds[kind]]

    assert [] == wrong
    assert list(RECORDED) == [query for query, _ in QUERIES]


#: The words of MATCH_RECOGNIZE besides those that each query has.
WORDS = keywords(
    "AFTER AVG CLASSIFIER COUNT FINAL FIRST LAST MATCH_PROCTIME MATCH_ROWTIME MAX MIN NEXT"
    " PARTITION PAST PER PREV RUNNING SUBSET SUM TO UNION WITHIN"
)


def clauses(query: str) -> list[str]:
    """Return the words of a query's clauses, and the quantifiers of its pattern."""
    pattern = query.partition("PATTERN (")[2].partition(" DEFINE")[0]
    return [*(WORDS & keywords(query)), *re.findall(r"[)\w]([*+?{][^\s()\w]*)", pattern)]


@pytest.mark.parametrize("query", draw_cases(of_kind("rows"), clauses))
def test_rows_are_those_of_flink(env: TableEnvironment, query: str) -> None:
    answer = RECORDED[query]
    types, found = rows(env, sql_of(query))

    assert answer["rows"] == found
    assert answer["types"] == types


@pytest.mark.parametrize("query", [*of_kind("refused"), *of_kind("only here")])
def test_what_is_refused(env: TableEnvironment, query: str) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        env.execute_sql(sql_of(query))
    assert caught.value.code


@pytest.mark.parametrize("query", draw_cases(of_kind("fails"), keywords))
def test_what_fails_as_it_runs(env: TableEnvironment, query: str) -> None:
    with (
        pytest.raises(ExternalError, match=r"could not skip to|is NOT NULL"),
        env.execute_sql(sql_of(query)).collect() as results,
    ):
        list(results)


def test_bounded_tables_of_a_streaming_session(session: SparkSession, tmp_path: Path) -> None:
    """A stream is ordered by a time attribute; bounded rows are complete, so none is late."""
    env = environment(session, tmp_path, streaming=True)
    clauses = "MEASURES A.id AS a, B.id AS b PATTERN (A B) DEFINE B AS price > 10"
    query = f"t: PARTITION BY symbol ORDER BY ts {clauses}"

    assert RECORDED[query]["rows"] == rows(env, sql_of(query))[1]
    with pytest.raises(UnsupportedError, match="must be a time attribute"):
        env.execute_sql(sql_of(f"n: PARTITION BY symbol ORDER BY ts {clauses}"))


#: A decimal of 38 digits, and the column with it.
NINES = "9" * 38
DECIMAL = Kind("decimal", 38)
VALUE = At(Place(None, own=True), 0, None, DECIMAL)


@pytest.mark.parametrize("number", ["10001", "9" * 900, "0,2000000000"])
def test_the_repetitions_of_a_variable_are_bounded(env: TableEnvironment, number: str) -> None:
    pattern = f"A{{{number}}} B" if "," not in number else f"A{{{number}}}? B"
    with pytest.raises(UnsupportedError, match="more than 10000 repetitions"):
        rows(
            env, sql_of(f"t: ORDER BY ts MEASURES B.id AS b PATTERN ({pattern}) DEFINE A AS id > 0")
        )


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        (Apply("MINUS", (VALUE,), DECIMAL), "-" + NINES),
        (Apply("ABS", (Apply("MINUS", (VALUE,), DECIMAL),), DECIMAL), NINES),
        (Apply("COALESCE", (VALUE,), DECIMAL), NINES),
        (Apply("+", (VALUE, VALUE), DECIMAL), None),
        (Fold("SUM", Place(None, own=True), 0, DECIMAL, DECIMAL), NINES),
    ],
)
def test_decimals_of_conditions_keep_all_digits(term: Apply | Fold, expected: str | None) -> None:
    expecting = Rows([[Decimal(NINES)], [None if expected is None else Decimal(expected)]])
    is_same = Apply("IS NOT DISTINCT FROM", (term, replace(VALUE, column=1)), BOOLEAN)
    assert condition(is_same, expecting)((), 0)


class WeightedAverage(AggregateFunction[int | None, list[int]]):
    """The average of integers, each with a weight; NULL without any."""

    def create_accumulator(self) -> list[int]:
        return [0, 0]

    def accumulate(self, accumulator: list[int], value: int | None, weight: int | None) -> None:
        if value is not None and weight is not None:
            accumulator[0] += value * weight
            accumulator[1] += weight

    def get_value(self, accumulator: list[int]) -> int | None:
        return accumulator[0] // accumulator[1] if accumulator[1] else None


def test_functions_of_users_in_conditions_and_measures(env: TableEnvironment) -> None:
    """They read one row or several, and aggregates the rows of a variable."""
    average = udaf(
        WeightedAverage(),
        input_types=[DataTypes.INT(), DataTypes.INT()],
        result_type=DataTypes.INT(),
        name="weighted_average",
    )
    difference = udf(
        lambda left, right: None if left is None or right is None else left - right,
        input_types=[DataTypes.INT(), DataTypes.INT()],
        result_type=DataTypes.INT(),
    )
    env.create_temporary_system_function("weighted_average", average)
    env.create_temporary_system_function("difference", difference)
    query = (
        "t: PARTITION BY symbol ORDER BY ts MEASURES COUNT(A.id) AS n, {average} AS w, {last} AS d"
        " AFTER MATCH SKIP PAST LAST ROW PATTERN (A+? B)"
        " DEFINE A AS {all} < 16, B AS {step} > 0"
    )
    of_user = query.format(
        average="weighted_average(A.price, A.tax)",
        last="difference(B.price, LAST(A.price))",
        all="weighted_average(price, tax)",
        step="difference(B.price, A.price)",
    )
    built_in = query.format(
        average="SUM(A.price * A.tax) / SUM(A.tax)",
        last="B.price - LAST(A.price)",
        all="SUM(price * tax) / SUM(tax)",
        step="B.price - A.price",
    )
    expected = rows(env, sql_of(built_in))[1]

    assert len(expected) > 2
    assert expected == rows(env, sql_of(of_user))[1]
