"""Windows of rows, and collections of subqueries, return the rows that Flink 2.3 returned."""

from __future__ import annotations

from typing import Any

import pytest

from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import UnsupportedError
from tests.spark.test_query_results import environment_of, row_of

pytestmark = pytest.mark.spark

ROWS = (
    "(VALUES (1, 1, 'a'), (2, 1, 'a'), (3, 2, 'b'), (4, CAST(NULL AS INT), CAST(NULL AS STRING)),"
    " (5, 2, 'c'), (6, 3, 'a')) AS t (k, x, s)"
)
NULLS = "(VALUES (1), (2), (CAST(NULL AS INT)), (CAST(NULL AS INT)), (4)) AS t (d)"
TIMES = (
    "(VALUES (TIME '10:00:00', 1), (TIME '10:30:00', 2), (TIME '11:00:00', 3),"
    " (TIME '23:30:00', 4), (TIME '00:10:00', 5), (CAST(NULL AS TIME), 6)) AS t (c, k)"
)
LAST_3 = "ORDER BY k ROWS BETWEEN 2 PRECEDING AND CURRENT ROW"


@pytest.fixture(scope="module")
def environment(session: Any) -> TableEnvironment:
    return environment_of(session)


def rows(environment: TableEnvironment, query: str) -> str:
    """Return the sorted rows of a query as Java prints them, without their kind."""
    result = environment.execute_sql(query)
    types = [column.data_type for column in result.get_resolved_schema().columns]
    return " ".join(sorted(row_of(tuple(row), types)[2:] for row in result.collect()))


@pytest.mark.parametrize(
    ("items", "source", "expected"),
    [
        # DISTINCT: Flink runs it in streaming mode
        (f"k, SUM(DISTINCT x) OVER ({LAST_3})", ROWS, "[1, 1] [2, 1] [3, 3] [4, 3] [5, 2] [6, 5]"),
        ("k, COUNT(DISTINCT x) OVER (ORDER BY k)", ROWS,
         "[1, 1] [2, 1] [3, 2] [4, 2] [5, 2] [6, 3]"),
        ("k, AVG(DISTINCT x) OVER (PARTITION BY s)", ROWS,
         "[1, 2] [2, 2] [3, 2] [4, null] [5, 2] [6, 2]"),
        ("k, SUM(DISTINCT CAST(x AS DECIMAL(5, 2))) OVER (ORDER BY k)", ROWS,
         "[1, 1.00] [2, 1.00] [3, 3.00] [4, 3.00] [5, 3.00] [6, 6.00]"),
        ("k, LISTAGG(DISTINCT s, '-') OVER (ORDER BY k)", ROWS,
         "[1, a] [2, a] [3, a-b] [4, a-b] [5, a-b-c] [6, a-b-c]"),
        ("k, MAX(DISTINCT x) OVER (ORDER BY k)", ROWS,
         "[1, 1] [2, 1] [3, 2] [4, 2] [5, 2] [6, 3]"),
        # rows that are NULL, in frames before or after them
        ("d, COUNT(*) OVER (ORDER BY d RANGE BETWEEN 1 FOLLOWING AND 2 FOLLOWING)", NULLS,
         "[1, 1] [2, 1] [4, 0] [null, 0] [null, 0]"),
        ("d, COUNT(*) OVER (ORDER BY d DESC RANGE BETWEEN 2 PRECEDING AND 1 PRECEDING)", NULLS,
         "[1, 1] [2, 1] [4, 0] [null, 0] [null, 0]"),
        ("d, SUM(d) OVER (ORDER BY d RANGE BETWEEN 1 FOLLOWING AND 2 FOLLOWING)", NULLS,
         "[1, 2] [2, 4] [4, null] [null, null] [null, null]"),
        ("d, COUNT(*) OVER (ORDER BY d RANGE BETWEEN 0 PRECEDING AND 0 FOLLOWING)", NULLS,
         "[1, 1] [2, 1] [4, 1] [null, 2] [null, 2]"),
        ("d, COUNT(*) OVER (ORDER BY d RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)", NULLS,
         "[1, 1] [2, 2] [4, 1] [null, 2] [null, 2]"),
        # more rows than Spark counts
        ("k, SUM(x) OVER (ORDER BY k ROWS BETWEEN CURRENT ROW AND 2147483648 FOLLOWING)", ROWS,
         "[1, 9] [2, 8] [3, 7] [4, 5] [5, 5] [6, 3]"),
        ("k, SUM(x) OVER (ORDER BY k ROWS BETWEEN 4294967297 PRECEDING AND 1 PRECEDING)", ROWS,
         "[1, null] [2, 1] [3, 2] [4, 4] [5, 4] [6, 6]"),
        ("k, SUM(x) OVER (ORDER BY k ROWS BETWEEN 2147483648 FOLLOWING AND UNBOUNDED FOLLOWING)",
         ROWS, "[1, null] [2, null] [3, null] [4, null] [5, null] [6, null]"),
        # intervals over a TIME
        (("k, COUNT(*) OVER (ORDER BY c RANGE BETWEEN INTERVAL '1' HOUR PRECEDING"
         " AND INTERVAL '30' MINUTE FOLLOWING)"), TIMES,
         "[1, 2] [2, 3] [3, 3] [4, 1] [5, 1] [6, 1]"),
        (("k, COUNT(*) OVER (ORDER BY c DESC RANGE BETWEEN CURRENT ROW"
         " AND INTERVAL '23' HOUR FOLLOWING)"), TIMES, "[1, 2] [2, 3] [3, 4] [4, 4] [5, 1] [6, 1]"),
        (("k, COUNT(*) OVER (ORDER BY c RANGE BETWEEN INTERVAL '0.5' SECOND PRECEDING"
         " AND CURRENT ROW)"), TIMES, "[1, 1] [2, 1] [3, 1] [4, 1] [5, 1] [6, 1]"),
        # offsets that differ by row
        ("k, LAG(k, x) OVER (ORDER BY k)", ROWS,
         "[1, null] [2, 1] [3, 1] [4, null] [5, 3] [6, 3]"),
        ("k, LEAD(k, x) OVER (ORDER BY k)", ROWS,
         "[1, 2] [2, 3] [3, 5] [4, null] [5, null] [6, null]"),
    ],
)  # fmt: skip
def test_over(environment: TableEnvironment, items: str, source: str, expected: str) -> None:
    assert expected == rows(environment, f"SELECT {items} AS r FROM {source}")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT e FROM UNNEST((SELECT ARRAY[1, 2])) AS u (e)", "[1] [2]"),
        (
            "SELECT e FROM UNNEST((SELECT COLLECT(x) FROM (VALUES (1), (1)) AS s (x))) AS u (e)",
            "[1] [1]",
        ),
        (
            "SELECT k, e FROM UNNEST((SELECT MAP['a', MAX(x)] FROM (VALUES 1, 2) s (x))) u (k, e)",
            "[a, 2]",
        ),
        (
            (
                "SELECT k, e FROM (VALUES (1)) AS t (k),"
                " UNNEST(CASE WHEN EXISTS (SELECT 1) THEN ARRAY[1] ELSE ARRAY[2] END) AS u (e)"
            ),
            "[1, 1]",
        ),
        (
            (
                "SELECT k, e, o FROM (VALUES (1)) AS t (k), UNNEST(CASE WHEN k IN (SELECT j FROM"
                " (VALUES (1)) AS q (j)) THEN ARRAY[5] ELSE ARRAY[2] END) WITH ORDINALITY"
                " AS u (e, o)"
            ),
            "[1, 5, 1]",
        ),
        (
            (
                "SELECT m = NULL, m <> NULL, m IN (m)"
                " FROM (SELECT COLLECT(k) AS m FROM (VALUES 1) AS v (k))"
            ),
            "[null, null, true]",
        ),
        (
            (
                "SELECT MAP['a', k] IS NOT DISTINCT FROM NULL, MAP['a', k] < NULL"
                " FROM (VALUES 1) AS v (k)"
            ),
            "[false, null]",
        ),
    ],
)
def test_queries(environment: TableEnvironment, query: str, expected: str) -> None:
    assert expected == rows(environment, query)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT k, e FROM (VALUES (1)) AS t (k), UNNEST((SELECT ARRAY[k, 2])) AS u (e)",
        f"SELECT SUM(DISTINCT CAST(x AS DECIMAL(38, 10))) OVER (ORDER BY k) FROM {ROWS}",
        f"SELECT STDDEV_POP(DISTINCT x) OVER (ORDER BY k) FROM {ROWS}",
        (
            "SELECT COLLECT(d) OVER (ORDER BY d RANGE BETWEEN 1 FOLLOWING AND 2 FOLLOWING)"
            f" FROM {NULLS}"
        ),
    ],
)
def test_what_spark_cannot_compute_is_refused_before_the_job(
    environment: TableEnvironment, query: str
) -> None:
    with pytest.raises(UnsupportedError) as caught:
        environment.execute_sql(query)
    assert caught.value.code == "not-executable"
