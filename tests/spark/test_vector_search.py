"""VECTOR_SEARCH returns the rows of Flink 2.3.0 with the same measure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fuzz.oracle.vectors import RECORDING, TABLES, create
from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.connectors import ConfigOption, ConnectorBase, ReadContext, VectorQuery
from schema_core.environment import connector
from schema_core.environment.connector import Connector
from schema_core.errors import ExternalError, SchemaCoreError, UnsupportedError
from schema_core.spark.reading import reader
from tests.slow_tests import draw_cases, keywords
from tests.spark.test_matches import rows
from tests.support import cases

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

RECORDED = {
    line["query"]: line
    for line in map(json.loads, RECORDING.read_text(encoding="utf-8").splitlines())
}
QUERIES = cases("vector_queries")


class VectorFile(ConnectorBase):
    """The rows of a file, searched by the measure of the table, as by the connector in Flink."""

    identifier = "oracle-vectors"
    options = (
        ConfigOption("path", str, None, "the file", required=True),
        ConfigOption("metric", str, None, "the measure", required=True),
    )

    def read(self, context: ReadContext) -> DataFrame:
        raise AssertionError(context)

    def vector_search(
        self, query: VectorQuery, context: ReadContext
    ) -> Callable[[list[float]], list[tuple[Any, ...]]]:
        lines = Path(context.options["path"]).read_text(encoding="utf-8").splitlines()
        metric, place = context.options["metric"], [*context.physical_columns].index(query.column)
        parts = [line.split(",") for line in lines]
        stored: list[tuple[Any, ...]] = [
            (int(number), text, [float(item) for item in vector.split()] or None)
            for number, text, vector in parts
        ]

        def dot(left: list[float], right: list[float]) -> float:
            return sum((a * b for a, b in zip(left, right, strict=True)), 0.0)

        def score(left: list[float], right: list[float]) -> float:
            if metric == "DOT_PRODUCT":
                return dot(left, right)
            if metric == "COSINE":
                return dot(left, right) / (sqrt(dot(left, left)) * sqrt(dot(right, right)))
            differences = [a - b for a, b in zip(left, right, strict=True)]
            return sqrt(dot(differences, differences))

        def nearest(vector: list[float]) -> list[tuple[Any, ...]]:
            rows = [(*row, score(row[place], vector)) for row in stored if row[place]]
            return sorted(rows, key=lambda row: row[-1], reverse=metric != "EUCLIDEAN")

        return nearest


@pytest.fixture
def searched(session: SparkSession, tmp_path: Path) -> Iterator[TableEnvironment]:
    """The tables of a connector that answers VECTOR_SEARCH."""
    find = connector.find_connector

    def found(options: Mapping[str, str]) -> Connector:
        return VectorFile() if options.get("connector") == "oracle-vectors" else find(options)

    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode(), spark=session)
    with pytest.MonkeyPatch.context() as patch:
        for module in (connector, reader):
            patch.setattr(module, "find_connector", found)
        for name in TABLES:
            env.execute_sql(create(name, tmp_path, here=name.startswith("q")))
        yield env


#: Queries in which FROM searches a table, not a view or a query.
OF_TABLES = [
    query
    for query, expected in QUERIES
    if expected == "rows" and not re.search(r"SEARCH\((?!TABLE v[dnspe]?\b)|\bvw\b", query)
]


@pytest.mark.parametrize("query", draw_cases(OF_TABLES, keywords))
def test_a_connector_answers_a_search(searched: TableEnvironment, query: str) -> None:
    answer = RECORDED[query]

    assert (answer["types"], answer["rows"]) == rows(searched, query)


def test_a_connector_decides_how_near_vectors_are(searched: TableEnvironment) -> None:
    query = "SELECT id FROM VECTOR_SEARCH(TABLE ve, DESCRIPTOR(vec), ARRAY[5e0, 12e0, 13e0], 2)"

    assert [(3,), (5,)] == sorted(map(tuple, searched.execute_sql(query).collect()))


def test_a_search_in_an_expression_is_refused(searched: TableEnvironment) -> None:
    query = (
        "SELECT qid FROM qd WHERE EXISTS (SELECT 1 FROM VECTOR_SEARCH("
        "TABLE vd, DESCRIPTOR(vec), ARRAY[1e0, 1e0, 0e0], 1))"
    )

    with pytest.raises(UnsupportedError, match="in a subquery of an expression"):
        searched.execute_sql(query)


def of_kind(*kinds: str) -> list[str]:
    return [query for query, expected in QUERIES if expected in kinds]


@pytest.fixture(scope="module")
def env(session: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> TableEnvironment:
    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode(), spark=session)
    folder = tmp_path_factory.mktemp("vectors")
    for name in TABLES:
        env.execute_sql(create(name, folder, here=True))
    env.execute_sql("CREATE TEMPORARY VIEW vw AS SELECT id, topic, vec FROM v")
    return env


def test_the_recording_has_the_expected_kinds() -> None:
    wrong = [
        query for query in RECORDED if ("rows" in RECORDED[query]) != (query in of_kind("rows"))
    ]

    assert [] == wrong
    assert list(RECORDED) == [query for query, _ in QUERIES]


@pytest.mark.parametrize("query", draw_cases(of_kind("rows"), keywords))
def test_rows_are_those_of_flink(env: TableEnvironment, query: str) -> None:
    answer = RECORDED[query]

    assert (answer["types"], answer["rows"]) == rows(env, query)


@pytest.mark.parametrize("query", of_kind("refused"))
def test_what_is_refused(env: TableEnvironment, query: str) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        env.execute_sql(query)
    assert caught.value.code


def search(table: str, vector: str, config: str = "", limit: int = 2) -> str:
    return f"SELECT * FROM VECTOR_SEARCH({table}, DESCRIPTOR(vec), {vector}, {limit}{config})"


COSINE = ", MAP['metric', 'cosine']"


def test_the_measure_must_be_declared(env: TableEnvironment) -> None:
    with pytest.raises(UnsupportedError, match="requires the measure") as caught:
        env.execute_sql(search("TABLE v", "ARRAY[1, 2, 3]"))
    assert "MAP['metric', 'COSINE']" in (caught.value.hint or "")
    with pytest.raises(SchemaCoreError) as unknown:
        env.execute_sql(search("TABLE v", "ARRAY[1, 2, 3]", ", MAP['measure', 'COSINE']"))
    assert "unknown-option" == unknown.value.code


@pytest.mark.parametrize(
    ("vector", "problem"),
    [
        ("ARRAY[1, 2]", "vectors of equal length, got 2 and 3 numbers"),
        ("ARRAY[1, 2, CAST(NULL AS INT)]", "vectors without NULL"),
    ],
)
def test_vectors_that_cannot_be_compared_fail_the_job(
    env: TableEnvironment, vector: str, problem: str
) -> None:
    with pytest.raises(ExternalError, match=problem):
        rows(env, search("TABLE v", vector, COSINE))


def found(env: TableEnvironment, sql: str) -> list[list[Any]]:
    with env.execute_sql(sql).collect() as results:
        return [list(row) for row in results]


def test_rows_of_equal_scores_are_sorted_by_their_columns(env: TableEnvironment) -> None:
    """Of rows without a direction, whose cosine is NaN, all others are nearer."""
    table = (
        "(VALUES (3, ARRAY[1E0, 0]), (2, ARRAY[2E0, 0]), (1, ARRAY[0E0, 0]), (4, ARRAY[0E0, 1]))"
    )
    sql = search(f"(SELECT * FROM {table} AS t (id, vec))", "ARRAY[1E0, 0]", COSINE, 4)
    result = found(env, f"SELECT id, score FROM ({sql})")

    assert [[2, 1.0], [3, 1.0], [4, 0.0]] == sorted(result)[1:]
    assert [1] == [id_ for id_, score in result if score != score]  # noqa: PLR0124 - NaN


def test_any_query_is_searched_by_any_vector(env: TableEnvironment) -> None:
    """Flink cannot plan filters, expressions and common types of these forms."""
    table = "(SELECT id, vec FROM v WHERE id < 4)"
    vector = "ARRAY[CAST(q.qid AS FLOAT), 1, 1]"
    call = search(table, vector, COSINE, 1).removeprefix("SELECT * FROM ")
    result = found(env, f"SELECT qid, id FROM q, LATERAL TABLE({call})")

    assert [[1, 3], [2, 1], [3, 1], [4, 1]] == sorted(result)
