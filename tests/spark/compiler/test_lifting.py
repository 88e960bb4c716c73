"""Values that an expression uses more than once are columns of a query, in every place of one.

Each query is run with an expression and with a column that holds the values of the expression.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from schema_core.expressions.type_checker import ColumnScope, infer
from schema_core.spark.compiler.expression import compile_expression
from schema_core.spark.compiler.query import query_text
from schema_core.spark.compiler.tree import to_sql
from schema_core.spark.reading import reader
from schema_core.sql.parser import parse_expression
from schema_core.types import DataTypes as T

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from schema_core.environment.table_environment import TableEnvironment

#: Expressions that use a value more than once, and the columns of `r` that hold their values: two
#: fail for other strings or numbers, one of them in a Python UDF, and one never fails.
EXPRESSIONS = {
    "100 / CAST({0}.digits AS INT)": "number",
    "LPAD({0}.digits, 2 + 2, '-')": "padded",
    "CAST({0}.stamp + INTERVAL '0' SECOND AS TIMESTAMP(0))": "stamp",
}

#: Place -> a query of it; ``{0}`` is the value over the table or alias `x`, ``{y}`` over `y`.
PLACES = {
    "items": "SELECT {x} FROM r AS x",
    "twice": "SELECT {x}, id FROM r AS x WHERE {x} IS NOT NULL",
    "above WHERE": "SELECT {x} FROM r AS x WHERE id > 1",
    "above WHERE of a join": (
        "SELECT {x}, {y} FROM r AS x JOIN r AS y ON x.id = y.id WHERE x.id > 1"
    ),
    "above WHERE of a subquery": (
        "SELECT {x} FROM r AS x WHERE EXISTS (SELECT 1 FROM r AS y WHERE y.id = x.id + 1)"
    ),
    "WHERE": "SELECT id FROM r AS x WHERE {x} IS NULL",
    "ON": "SELECT x.id, y.id FROM r AS x JOIN r AS y ON {x} = {y}",
    "ON of LEFT": "SELECT x.id, y.id FROM r AS x LEFT JOIN r AS y ON {x} > {y}",
    "ON of RIGHT": "SELECT x.id, y.id FROM r AS x RIGHT JOIN r AS y ON {x} > {y}",
    "ON of FULL": "SELECT x.id, y.id FROM r AS x FULL JOIN r AS y ON {x} < {y}",
    "ON of three": (
        "SELECT x.id, y.id, z.id FROM r AS x JOIN r AS z ON z.id = x.id LEFT JOIN r AS y"
        " ON {x} < {y}"
    ),
    "ON in parentheses": (
        "SELECT z.id, {x} FROM r AS z LEFT JOIN (r AS x JOIN r AS y ON {x} = {y}) ON z.id = x.id"
    ),
    "GROUP BY": "SELECT {x}, COUNT(*) FROM r AS x GROUP BY {x}",
    "GROUP BY over the key": "SELECT COALESCE({x}, {x}), MAX(id) FROM r AS x GROUP BY {x}, id",
    "GROUP BY above WHERE": "SELECT {x}, COUNT(*) FROM r AS x WHERE id > 1 GROUP BY {x}",
    "GROUP BY of a join": (
        "SELECT {x}, COUNT(*) FROM r AS x JOIN r AS y ON {x} = {y} WHERE y.id > 1 GROUP BY {x}"
    ),
    "GROUPING SETS": "SELECT {x}, COUNT({x}) FROM r AS x GROUP BY GROUPING SETS (({x}), ())",
    "HAVING": "SELECT {x} FROM r AS x GROUP BY {x} HAVING MAX({x}) IS NOT NULL AND COUNT(*) = 1",
    "aggregates": (
        "SELECT MAX({x}), MIN(id) FILTER (WHERE {x} IS NOT NULL) FROM r AS x WHERE id > 1"
    ),
    "DISTINCT": "SELECT DISTINCT {x} FROM r AS x",
    "ORDER BY": "SELECT id FROM r AS x ORDER BY {x}, id",
    "ORDER BY of DISTINCT": "SELECT DISTINCT {x} AS v FROM r AS x ORDER BY {x} LIMIT 2",
    "PARTITION BY": "SELECT id, COUNT(*) OVER (PARTITION BY {x}) FROM r AS x",
    "OVER": "SELECT id, MAX({x}) OVER (PARTITION BY {x} ORDER BY {x}, id) FROM r AS x WHERE id > 0",
    "QUALIFY": "SELECT id FROM r AS x QUALIFY ROW_NUMBER() OVER (ORDER BY {x}, id) < 3",
    "a subquery": "SELECT id FROM r AS z WHERE id IN (SELECT x.id FROM r AS x WHERE {x} IS NULL)",
    "EXISTS": (
        "SELECT id FROM r AS y WHERE EXISTS (SELECT 1 FROM r AS x WHERE {x} = {y} AND x.id <> y.id)"
    ),
    "a value of a subquery": (
        "SELECT id, (SELECT MAX({x}) FROM r AS x WHERE x.id > 1 AND x.id <= y.id) FROM r AS y"
    ),
    "IN a correlated subquery": (
        "SELECT id FROM r AS y WHERE {y} IN (SELECT {x} FROM r AS x WHERE x.id <= y.id)"
    ),
    "a join in a subquery": (
        "SELECT id FROM r AS z WHERE EXISTS"
        " (SELECT 1 FROM r AS x JOIN r AS y ON {x} = {y} WHERE x.id <> z.id)"
    ),
    "the outer column in a subquery": (
        "SELECT id FROM r AS x WHERE EXISTS (SELECT 1 FROM r AS y WHERE {x} IS NULL AND y.id > 1)"
    ),
    "LATERAL": (
        "SELECT y.id, l.v FROM r AS y, LATERAL (SELECT {x} AS v FROM r AS x WHERE x.id = y.id) AS l"
    ),
    "the outer column in LATERAL": (
        "SELECT x.id, l.v FROM r AS x, LATERAL (SELECT {x} AS v FROM r AS y WHERE y.id = x.id) AS l"
    ),
    "UNNEST": "SELECT x.id, u.v FROM r AS x CROSS JOIN UNNEST(ARRAY[{x}, {x}]) AS u(v)",
    "UNION": "SELECT {x} FROM r AS x WHERE id > 1 UNION SELECT {x} FROM r AS x WHERE id = 1",
    "WITH": "WITH w AS (SELECT {x} AS v FROM r AS x) SELECT v FROM w WHERE v IS NOT NULL",
    "TUMBLE": (
        "SELECT {x}, window_start"
        " FROM TABLE(TUMBLE(TABLE r, DESCRIPTOR(bought), INTERVAL '1' HOUR)) AS x WHERE id > 0"
    ),
}

ROWS = """CREATE TEMPORARY VIEW r AS SELECT
    id, digits, CAST(many AS DECIMAL(38, 2)) AS many, written, bought, number,
    padded, CAST(stamp AS TIMESTAMP(3)) AS stamp
FROM (VALUES
    (1, '10', 1.50, '2020-01-02 03:04:05', TIMESTAMP '2020-01-01 00:00:00.000', 10, '--10',
     TIMESTAMP '2020-01-02 03:04:05'),
    (2, '20', 2.00, '2021-11-30 00:00:00', TIMESTAMP '2020-01-01 00:30:00.000', 5, '--20',
     TIMESTAMP '2021-11-30 00:00:00'),
    (3, '20', 2.00, '2021-11-30 00:00:00', TIMESTAMP '2020-01-01 01:00:00.000', 5, '--20',
     TIMESTAMP '2021-11-30 00:00:00'),
    (4, CAST(NULL AS STRING), CAST(NULL AS DECIMAL(3, 2)), CAST(NULL AS STRING),
     TIMESTAMP '2020-01-01 02:00:00.000', CAST(NULL AS INT), CAST(NULL AS STRING),
     CAST(NULL AS TIMESTAMP(0)))
) AS v(id, digits, many, written, bought, number, padded, stamp)"""


@pytest.fixture
def written(environment: TableEnvironment, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The Spark SQL of the queries that were run."""
    texts: list[str] = []

    def recorded(*arguments: Any, **more: Any) -> str:
        texts.append(query_text(*arguments, **more))
        return texts[-1]

    monkeypatch.setattr(reader, "query_text", recorded)
    environment.execute_sql(ROWS)
    return texts


def rows(environment: TableEnvironment, query: str) -> list[Any]:
    return sorted((tuple(row) for row in environment.execute_sql(query).collect()), key=str)


@pytest.mark.parametrize("place", PLACES)
def test_values_are_computed_without_a_lambda(
    environment: TableEnvironment, written: list[str], place: str
) -> None:
    """All expressions are planned in all places; each place compares the rows of one of them."""
    compared = [*PLACES].index(place) % len(EXPRESSIONS)
    for number, (expression, column) in enumerate(EXPRESSIONS.items()):
        query = PLACES[place].format(x=expression.format("x"), y=expression.format("y"))
        if number == compared:
            expected = PLACES[place].format(x=f"x.{column}", y=f"y.{column}")
            assert rows(environment, expected) == rows(environment, query)
        else:
            environment.explain_sql(query)
    assert len(EXPRESSIONS) < len(written)
    assert not [text for text in written if "->" in text]


@pytest.mark.parametrize("form", ["csv", "json"])
def test_connectors_convert_without_a_lambda(
    environment: TableEnvironment,
    session: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    form: str,
) -> None:
    texts: list[str] = []
    frames = type(session.range(1))
    select = frames.selectExpr

    def recorded(frame: DataFrame, *columns: Any) -> DataFrame:
        texts.extend(columns)
        return select(frame, *columns)

    monkeypatch.setattr(frames, "selectExpr", recorded)
    environment.execute_sql(
        "CREATE TABLE t (d DATE, n DOUBLE, s STRING, t TIMESTAMP(3) NOT NULL, b BYTES, p DATE,"
        " c AS 100 / CAST(s AS INT)) PARTITIONED BY (p)"
        f" WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/t', 'format' = '{form}')"
    )
    row = (
        "DATE '2020-02-29', 1.5E0, '20', TIMESTAMP '2020-01-01 00:00:00.500', X'0A',"
        " DATE '2020-01-02'"
    )
    environment.execute_sql(f"INSERT INTO t VALUES ({row})").wait()

    assert rows(environment, f"SELECT {row}, 5") == rows(environment, "SELECT * FROM t")
    assert any("the_let_" in text for text in texts)
    usual = [text.partition(", NULL, transform(array(")[0] for text in texts]
    assert not [text for text in usual if "->" in text]  # strings of unusual shapes have one


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_the_expressions_use_a_value_more_than_once(expression: str) -> None:
    columns = {"digits": T.STRING(), "written": T.STRING(), "stamp": T.TIMESTAMP(3)}
    parsed = parse_expression(expression.replace("{0}.", ""))

    assert "->" in to_sql(compile_expression(infer(ColumnScope(columns, streaming=False), parsed)))


#: Queries that use values of aggregates and of functions over windows, with equal ones that
#: compute these in a derived table.
AGGREGATES = {
    "SELECT SUM(many) % 0.7 FROM r": "SELECT v % 0.7 FROM (SELECT SUM(many) AS v FROM r)",
    "SELECT digits, SUM(many) % 0.7 FROM r WHERE id > 1 GROUP BY digits": (
        "SELECT digits, v % 0.7"
        " FROM (SELECT digits, SUM(many) AS v FROM r WHERE id > 1 GROUP BY digits)"
    ),
    "SELECT SUM(many) FROM r GROUP BY digits HAVING SUM(many) % 0.7 > 0.2": (
        "SELECT v FROM (SELECT SUM(many) AS v FROM r GROUP BY digits) WHERE v % 0.7 > 0.2"
    ),
    "SELECT 100 / CAST(digits AS INT) + 1, SUM(many) % 0.7 FROM r"
    " GROUP BY GROUPING SETS ((100 / CAST(digits AS INT)), ())": (
        "SELECT d + 1, v % 0.7 FROM (SELECT d, SUM(many) AS v FROM"
        " (SELECT number AS d, many FROM r) GROUP BY GROUPING SETS ((d), ()))"
    ),
    "SELECT id, SUM(many) OVER (ORDER BY id) % 0.7 FROM r WHERE id < 4": (
        "SELECT id, v % 0.7 FROM (SELECT id, SUM(many) OVER (ORDER BY id) AS v FROM r WHERE id < 4)"
    ),
    "SELECT x.id, SUM(y.many) OVER (ORDER BY y.id) % 0.7 FROM r AS x JOIN r AS y ON x.id = y.id"
    " QUALIFY SUM(y.many) OVER (ORDER BY y.id) % 0.7 > 0.2": (
        "SELECT id, v % 0.7 FROM (SELECT id, SUM(many) OVER (ORDER BY id) AS v FROM r)"
        " WHERE v % 0.7 > 0.2"
    ),
    "SELECT digits, SUM(many) % 0.7, SUM(SUM(many) % 0.7) OVER (ORDER BY digits) % 0.7 FROM r"
    " GROUP BY digits HAVING COUNT(*) > 0": (
        "SELECT digits, v, SUM(v) OVER (ORDER BY digits) % 0.7 FROM"
        " (SELECT digits, SUM(many) % 0.7 AS v FROM r GROUP BY digits)"
    ),
    "SELECT DISTINCT SUM(many) % 0.7 FROM r GROUP BY id": (
        "SELECT DISTINCT v % 0.7 FROM (SELECT SUM(many) AS v FROM r GROUP BY id)"
    ),
    "SELECT id FROM r AS x WHERE EXISTS"
    " (SELECT SUM(many) % 0.7 FROM r AS y WHERE y.id = x.id HAVING SUM(many) % 0.7 > 0.2)": (
        "SELECT id FROM r WHERE many % 0.7 > 0.2"
    ),
}


@pytest.mark.parametrize("query", AGGREGATES)
def test_values_of_aggregates_are_computed_above_them(
    environment: TableEnvironment, written: list[str], query: str
) -> None:
    assert rows(environment, AGGREGATES[query]) == rows(environment, query)
    assert not [text for text in written if "->" in text]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT {} FROM f AS x WHERE ok",
        "SELECT {} FROM f AS x JOIN f AS y ON x.ok = y.ok WHERE x.ok",
        "SELECT {} FROM f AS x WHERE ok GROUP BY {}",
        "SELECT {} FROM f AS x JOIN f AS y ON x.ok = y.ok WHERE x.ok GROUP BY {}",
        "SELECT MAX({}) FROM f AS x WHERE ok",
        "SELECT MAX({}) OVER (PARTITION BY {}) FROM f AS x WHERE ok",
        "SELECT MAX({}) FILTER (WHERE ok) FROM f AS x",
        "SELECT CASE WHEN ok THEN {} END FROM f AS x",
        "SELECT 100 / CAST(MAX(s) AS INT) * SUM(n) / 0.7 FROM f GROUP BY ok HAVING ok",
        (
            "SELECT SUM(MAX(n)) OVER (ORDER BY ok) / 0.7, 100 / CAST(MAX(s) AS INT) FROM f"
            " GROUP BY ok HAVING ok"
        ),
        "SELECT x.ok FROM f AS x JOIN f AS y ON x.ok AND {} = 100",
        "SELECT (SELECT MAX({}) FROM f AS x WHERE x.ok AND x.ok = y.ok) FROM f AS y",
        "SELECT ok FROM f AS y WHERE EXISTS (SELECT {} FROM f AS x WHERE x.ok AND x.ok = y.ok)",
        "SELECT ok FROM f AS y WHERE 100 IN (SELECT {} FROM f AS x WHERE x.ok AND x.ok = y.ok)",
    ],
)
def test_a_value_is_not_computed_for_rows_that_do_not_need_it(
    environment: TableEnvironment, query: str
) -> None:
    environment.execute_sql(
        "CREATE TEMPORARY VIEW f AS SELECT * FROM"
        " (VALUES ('1', CAST(1 AS DECIMAL(38, 2)), TRUE),"
        " ('x', CAST(2 AS DECIMAL(38, 2)), FALSE)) AS v(s, n, ok)"
    )

    assert rows(environment, query.replace("{}", "100 / CAST(x.s AS INT)"))


V = "(VALUES (1, '10'), (2, '20'), (3, '20'), (4, CAST(NULL AS STRING))) AS r (id, s)"


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        # the value of a variable that is repeated has an aggregate
        (
            (
                "SELECT id, FLOOR(MAX(TIMESTAMP '2020-02-05 04:05:06') OVER (PARTITION BY id)"
                f" TO WEEK) = TIMESTAMP '2020-02-02 00:00:00' FROM {V}"
            ),
            [(1, True), (2, True), (3, True), (4, True)],
        ),
        (
            (
                "SELECT id, TO_TIMESTAMP(LAG(CONCAT('20', s, '-01-01 00:00:00')) OVER"
                f" (ORDER BY id)) > TIMESTAMP '2015-01-01 00:00:00' FROM {V}"
            ),
            [(1, None), (2, False), (3, True), (4, True)],
        ),
        # groups without keys are one row, and so is each set without keys
        (f"SELECT 'a' FROM {V} GROUP BY ()", [("a",)]),
        (f"SELECT 'a' FROM {V} WHERE FALSE GROUP BY ()", [("a",)]),
        (f"SELECT 'a' FROM {V} GROUP BY GROUPING SETS (())", [("a",)]),
        (f"SELECT ROW_NUMBER() OVER (ORDER BY 1) FROM {V} GROUP BY ()", [(1,)]),
        (f"SELECT LPAD('a', 2, '-') FROM {V} GROUP BY ()", [("-a",)]),
    ],
)
def test_values_above_groups_and_windows(
    environment: TableEnvironment, sql: str, expected: list[tuple[object, ...]]
) -> None:
    rows = environment.execute_sql(sql).collect()

    assert expected == sorted(map(tuple, rows), key=repr)


def test_a_value_over_an_alias_of_the_subquery_is_not_lifted_to_the_enclosing_query(
    environment: TableEnvironment,
) -> None:
    environment.execute_sql(f"CREATE TEMPORARY VIEW r AS SELECT * FROM {V}")
    rows = environment.execute_sql(
        "SELECT x.id FROM r AS x JOIN r AS y ON x.id = y.id WHERE EXISTS ("
        "SELECT 1 FROM r AS x WHERE TRY_CAST(CONCAT('20', x.s, '-01-', y.s) AS TIMESTAMP(3))"
        " = TIMESTAMP '2010-01-20 00:00:00')"
    ).collect()

    assert [(2,), (3,)] == sorted(map(tuple, rows))
