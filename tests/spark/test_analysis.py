"""Spark's analyser accepts the generated SQL of everything that is not refused."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import pytest

from properties.analysis import analyse, query_sql, questions
from schema_core.errors import UnsupportedError
from schema_core.testing.expression_trees import COLUMNS, NAMES, fitting

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from schema_core.environment.table_environment import TableEnvironment


@pytest.mark.parametrize(("name", "every"), [("query", 8), ("expr", 60), ("values", 60)])
def test_recorded_sql_is_analysed(session: SparkSession, name: str, every: int) -> None:
    """A sample; `python -m properties.analysis` takes all."""
    report = analyse(session, islice(questions([name]), 0, None, every))

    assert [] == report.failures
    assert report.analysed > report.refused


TABLES = {
    "t": ", ".join(f"`{name}` {type_}" for name, type_ in COLUMNS.items() if name != "a_bitmap"),
    "u": "id INT NOT NULL, s STRING, d DECIMAL(10, 2), arr ARRAY<INT>, dt DATE, ts TIMESTAMP(3)",
}
#: The subquery that replaces columns of each type in an expression.
SUBQUERIES = {
    "an_int": "(SELECT MAX(id) FROM u)",
    "a_decimal": "(SELECT MAX(u.d) FROM u WHERE u.id = t.an_int)",
    "a_string": "(SELECT s FROM u)",
    "a_date": "(SELECT MAX(dt) FROM u)",
    "a_timestamp": "(SELECT ts FROM u WHERE id = 1)",
    "an_array": "(SELECT arr FROM u WHERE u.id = t.an_int)",
}


def asked(sql: str) -> dict[str, Any]:
    return {"op": "query", "tables": TABLES, "sql": sql, "mode": "batch"}


def with_subqueries(name: str) -> list[dict[str, Any]]:
    """Calls of a function over subqueries in the place of columns."""
    from schema_core.sql.printer import print_expression

    columns = tuple((value, type_) for value, type_ in COLUMNS.items() if value in SUBQUERIES)
    result = []
    for call in fitting(name, columns)[:1]:
        text = print_expression(call)
        for column, subquery in SUBQUERIES.items():
            text = text.replace(f"`{column}`", subquery)
        result.append(asked(f"SELECT {text} AS x FROM t"))
    return result


def test_functions_of_subqueries_are_analysed_or_refused(session: SparkSession) -> None:
    """A subquery bound to a variable of a lambda was refused by Spark in the middle of a job."""
    report = analyse(
        session, [subquery for name in NAMES[::2] for subquery in with_subqueries(name)]
    )

    assert [] == report.failures
    assert report.analysed > max(30, 2 * report.refused)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT an_int FROM t GROUP BY 1, an_int HAVING SUM(a_decimal) > (SELECT MAX(d) FROM u)",
        "SELECT SUM(a_decimal) / (SELECT COUNT(*) FROM u) FROM t",
        "SELECT (SELECT SUM(d) FROM u) / SUM(a_decimal) FROM t",
        "SELECT an_int FROM t WHERE (an_int, a_string) IN (SELECT id, s FROM u)",
        "SELECT an_int IN (1, (SELECT MAX(id) FROM u)), (SELECT MAX(id) FROM u) IN (1, 2) FROM t",
        "SELECT COUNT(*) OVER (ORDER BY a_timestamp RANGE INTERVAL '1' HOUR PRECEDING) FROM t",
        "SELECT COUNT(*) OVER (ORDER BY a_timestamp RANGE INTERVAL '2' MONTH PRECEDING) FROM t",
        "SELECT ROW_NUMBER() OVER () FROM t",
        "SELECT an_int FROM t ORDER BY (SELECT MAX(d) FROM u WHERE u.id = t.an_int)",
        (
            "SELECT an_int FROM t GROUP BY an_int"
            " ORDER BY EXISTS (SELECT 1 FROM u WHERE u.id = t.an_int)"
        ),
        "SELECT an_int, (SELECT MAX(s) FROM u WHERE u.id = t.an_int) FROM t GROUP BY an_int",
        (
            "SELECT an_int + 1 FROM t GROUP BY an_int + 1"
            " HAVING (SELECT MAX(id) FROM u WHERE u.id = t.an_int + 1) > 1"
        ),
        (
            "SELECT ROW_NUMBER() OVER (ORDER BY (SELECT MAX(id) FROM u WHERE u.id = t.an_int))"
            " FROM t GROUP BY an_int"
        ),
        "SELECT SUM((SELECT MAX(id) FROM u WHERE u.s = t.a_string)) FROM t GROUP BY an_int",
        (
            "SELECT EXISTS (SELECT 1 FROM u WHERE u.s = t.a_string) FROM t"
            " GROUP BY EXISTS (SELECT 1 FROM u WHERE u.s = t.a_string)"
        ),
        (
            "SELECT MAX(an_int) FROM t GROUP BY ROLLUP (a_string) "
            " HAVING EXISTS (SELECT 1 FROM u AS t WHERE t.id = 1)"
        ),
        "SELECT 1 FROM t WHERE EXISTS (SELECT id FROM u GROUP BY id HAVING MAX(d) > t.a_decimal)",
        "SELECT an_int FROM t WHERE EXISTS (SELECT 1 FROM UNNEST(t.an_array) AS e (x) WHERE x = 1)",
        "SELECT an_int FROM t, LATERAL (SELECT s FROM u WHERE u.id = t.an_int)",
    ],
)
def test_analysed(session: SparkSession, sql: str) -> None:
    report = analyse(session, [asked(sql)])

    assert (1, []) == (report.analysed, report.failures)


@pytest.mark.parametrize(
    "expression",
    [
        "ROUND(a_decimal, an_int)",
        "a_string LIKE 'a' ESCAPE a_string",
        "ELEMENT(CAST(NULL AS MULTISET<INT>))",
        "FLOOR(TIME '10:00:00' TO YEAR)",
        "MAX(a_map)",
        "ARRAY['a'] = ARRAY[1.5]",
        "ARRAY_CONTAINS(some_texts, (SELECT MAX(s) FROM u)) OR CARDINALITY(an_array) > 1",
    ],
)
def test_refused_before_the_job(session: SparkSession, expression: str) -> None:
    report = analyse(session, [asked(f"SELECT {expression} FROM t")])

    assert (0, 1, []) == (report.analysed, report.refused, report.failures)


@pytest.mark.parametrize(
    ("sql", "problem"),
    [
        *(
            (sql.format("EXISTS (SELECT 1 FROM u WHERE u.s = t.a_string)"), "neither grouped")
            for sql in (
                "SELECT an_int FROM t GROUP BY an_int ORDER BY {}",
                "SELECT an_int FROM t GROUP BY an_int ORDER BY NOT {}, an_int",
                "SELECT an_int FROM t GROUP BY an_int HAVING {}",
                "SELECT an_int, {} FROM t GROUP BY an_int",
                "SELECT MAX(an_int) FROM t HAVING {}",
                "SELECT MAX(an_int), CASE WHEN {} THEN 1 END FROM t",
            )
        ),
        (
            (
                "SELECT an_int + 1 FROM t GROUP BY an_int + 1"
                " ORDER BY (SELECT MAX(id) FROM u WHERE u.id = t.an_int)"
            ),
            "neither grouped",
        ),
        (
            (
                "SELECT an_int FROM t GROUP BY an_int"
                " HAVING an_int IN (SELECT CHAR_LENGTH(t.a_string) FROM u)"
            ),
            "neither grouped",
        ),
        (
            (
                "SELECT an_int FROM t GROUP BY an_int ORDER BY EXISTS ("
                "SELECT 1 FROM u WHERE EXISTS (SELECT 1 FROM u AS w WHERE w.s = t.a_string))"
            ),
            "neither grouped",
        ),
        (
            (
                "SELECT an_int + 1 FROM t GROUP BY an_int + 1"
                " ORDER BY EXISTS (SELECT 1 FROM u WHERE u.id = t.an_int + 1)"
            ),
            "not a column",
        ),
        (
            (
                "SELECT an_int FROM t GROUP BY ROLLUP (an_int)"
                " HAVING EXISTS (SELECT 1 FROM u WHERE u.id = t.an_int)"
            ),
            "several grouping sets",
        ),
        (
            (
                "SELECT an_int FROM t GROUP BY an_int QUALIFY ROW_NUMBER() OVER ("
                "ORDER BY (SELECT MAX(id) FROM u WHERE u.id = t.an_int)) = 1"
            ),
            "QUALIFY",
        ),
        (
            (
                "SELECT an_int FROM t WHERE EXISTS ("
                "SELECT 1 FROM u CROSS JOIN UNNEST(t.an_array) AS e (x) WHERE x = u.id)"
            ),
            "two levels",
        ),
        ("SELECT (SELECT MAX(t.an_int) FROM u) FROM t", "outside of WHERE"),
        (
            "SELECT an_int FROM t WHERE EXISTS (SELECT id FROM u GROUP BY id, t.an_int)",
            "outside of WHERE",
        ),
        (
            "SELECT an_int FROM t WHERE an_int IN (SELECT SUM(id) OVER (ORDER BY t.an_int) FROM u)",
            "outside of WHERE",
        ),
    ],
)
def test_a_correlated_subquery_is_refused_before_the_job(
    session: SparkSession, sql: str, problem: str
) -> None:
    """Flink's validator accepts them; most fail when Flink plans them."""
    report = analyse(session, [asked(sql)])
    with pytest.raises(UnsupportedError, match=problem) as caught:
        query_sql(asked(sql))

    assert "not-executable" == caught.value.code
    assert (0, 1, []) == (report.analysed, report.refused, report.failures)


def test_a_correlated_subquery_is_computed_for_each_group(environment: TableEnvironment) -> None:
    rows = "(VALUES (1, 20), (2, 10), (3, 20), (4, 30)) AS t (id, g)"
    other = "(VALUES (1, 3), (2, 2), (4, 1)) AS u (id, w)"
    largest = f"(SELECT MAX(w) FROM {other} WHERE u.id * 10 = t.g)"
    queries = {
        f"SELECT g, {largest} + SUM(id) FROM {rows} GROUP BY g ORDER BY g": [
            (10, 5),
            (20, 6),
            (30, None),
        ],
        f"SELECT g, COUNT(*) FROM {rows} GROUP BY g HAVING {largest} < 3": [(20, 2)],
        f"SELECT g, SUM(id) IN (SELECT w * 2 FROM {other} WHERE u.id * 10 = t.g) FROM {rows}"
        " GROUP BY g ORDER BY g": [(10, False), (20, True), (30, False)],
    }
    for query, expected in queries.items():
        assert expected == [tuple(row) for row in environment.execute_sql(query).collect()]


def test_a_compared_scalar_subquery_is_evaluated(environment: TableEnvironment) -> None:
    values = "(VALUES (1, 2.50), (1, 1.00), (2, 0.25)) AS t (k, d)"
    query = (
        f"SELECT k, SUM(d) FROM {values} GROUP BY k"
        f" HAVING SUM(d) > (SELECT SUM(d) * 0.5 FROM {values}) ORDER BY k"
    )
    listed = (
        f"SELECT k IN (9, (SELECT MAX(k) FROM {values})), (SELECT MIN(k) FROM {values}) IN (k, 7)"
        f" FROM {values} ORDER BY d"
    )

    assert [1] == [row[0] for row in environment.execute_sql(query).collect()]
    assert [(True, False), (False, True), (False, True)] == [
        tuple(row) for row in environment.execute_sql(listed).collect()
    ]
