"""Expressions return the results of Flink on Spark: the table of running.cases, in one job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pytest

from schema_core.errors import ExternalError, UnsupportedError
from schema_core.expressions.type_checker import ColumnScope, infer
from schema_core.spark.compiler.expression import TranslationContext, compile_expression
from schema_core.spark.compiler.functions.casts import cast_to_string
from schema_core.spark.compiler.tree import to_sql
from schema_core.spark.jobs import spark_errors
from schema_core.sql.parser import parse_expression
from schema_core.types import DataTypes
from tests.support import cases

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CASES = cases("running")


def sql_of(expression: str, zone: str = "UTC") -> str:
    typed = infer(ColumnScope({}, streaming=False), parse_expression(expression))
    return to_sql(
        cast_to_string(compile_expression(typed, TranslationContext(zone)), typed.type, zone)
    )


@pytest.fixture(scope="module")
def computed(session: SparkSession) -> Mapping[str, str]:
    expressions = [expression for expression, _ in CASES]
    columns = ", ".join(f"coalesce({sql_of(expression)}, 'NULL')" for expression in expressions)
    (row,) = session.sql(f"SELECT {columns}").collect()
    return dict(zip(expressions, row, strict=True))


@pytest.mark.parametrize(("expression", "expected"), CASES)
def test_expression_returns_the_result_of_flink(
    computed: Mapping[str, str], expression: str, expected: str
) -> None:
    assert expected == computed[expression]


@pytest.mark.parametrize(
    "expression",
    ["1 / 0", "1 % 0", "CAST('x' AS INT)", "CAST('2021-13-01' AS DATE)", "1.0 / 0.0"],
)
def test_expression_fails_the_job_as_in_flink(session: SparkSession, expression: str) -> None:
    with pytest.raises(ExternalError), spark_errors():
        session.sql(f"SELECT {sql_of(expression)}").collect()


@pytest.mark.parametrize(
    "expression",
    [
        "JSON('[1]')",
        "UPPER(JSON('[1]'))",
        "JSON_OBJECT(KEY JSON('[1]') VALUE 1)",
        "'a' LIKE '_' ESCAPE ''",
        "'a' LIKE 'a' ESCAPE 'ab'",
        "'a' SIMILAR TO 'a' ESCAPE ''",
        "PRINTF('%h', 'a')",
        "PRINTF('%c', 1)",
        "PRINTF('%tY', CAST(1 AS BIGINT))",
        "PRINTF('%s', ARRAY[1])",
        "MAP[CAST(NULL AS INT), 3]",
    ],
)
def test_expression_is_refused_before_the_job(expression: str) -> None:
    with pytest.raises(UnsupportedError):
        sql_of(expression)


NEW_YORK = {
    "CAST(TIMESTAMP '2020-03-08 02:30:00' AS TIMESTAMP_LTZ(3))": "2020-03-08 03:30:00.000",
    "CAST(TO_TIMESTAMP_LTZ(0, 0) AS DATE)": "1969-12-31",
    "CAST(TO_TIMESTAMP_LTZ(0, 0) AS STRING)": "1969-12-31 19:00:00.000",
    "DATE_FORMAT(TO_TIMESTAMP_LTZ(1594000000, 0), 'HH')": "21",
    "DATE_FORMAT(TO_TIMESTAMP_LTZ(-62135596800, 0), 'yyyy-MM-dd')": "0001-12-31",
    "DATE_FORMAT(TO_TIMESTAMP_LTZ(-62135596800, 0), 'yy M d ''y''')": "01 12 31 y",
    "FLOOR(TO_TIMESTAMP_LTZ(1594000000, 0) TO DAY)": "2020-07-05 00:00:00.000",
    "TIMESTAMPDIFF(MONTH, TO_TIMESTAMP_LTZ(1612117800, 0), TO_TIMESTAMP_LTZ(1582934400, 0))": "-12",
}


@pytest.mark.parametrize(("expression", "expected"), NEW_YORK.items())
def test_instants_are_local_times_of_the_session_time_zone(
    session: SparkSession, expression: str, expected: str
) -> None:
    (row,) = session.sql(f"SELECT {sql_of(expression, 'America/New_York')}").collect()

    assert expected == row[0]


#: Comparisons of the columns of one row, as recorded from Flink, which folds constants otherwise.
COLUMNS = {
    "f = d": True,  # as FLOAT, the type on the left
    "d = f": False,
    "i = g": True,
    "NULLIF(i, g) IS NULL": True,
    "a = b": True,  # as DECIMAL(38, 7)
    "a <> b": False,
    "a > b": True,
    "CASE a WHEN b THEN TRUE ELSE FALSE END": True,
    "a IS DISTINCT FROM b": True,
    "a IN (b, 5)": False,
    "ARRAY[a] = ARRAY[b]": True,
    "ROW(f, 1) = ROW(d, 1)": False,
    "f BETWEEN d AND d": False,
    "i IN (d)": False,
}


def test_equality_casts_columns_to_a_common_type(session: SparkSession) -> None:
    names = {"f": "FLOAT", "d": "DOUBLE", "i": "INT", "g": "FLOAT"}
    names |= {"a": "DECIMAL(38, 18)", "b": "DECIMAL(38, 7)"}
    scope = ColumnScope({name: DataTypes.of(text) for name, text in names.items()}, streaming=False)
    nodes = [compile_expression(infer(scope, parse_expression(column))) for column in COLUMNS]
    row = "CAST(0.1 AS FLOAT) f, 0.1D d, 16777217 i, CAST(16777216 AS FLOAT) g"
    row += ", CAST(1e-18 AS DECIMAL(38, 18)) a, CAST(0 AS DECIMAL(38, 7)) b"

    rows = session.sql(f"SELECT {', '.join(map(to_sql, nodes))} FROM (SELECT {row})").collect()

    assert list(COLUMNS.values()) == list(rows[0])


#: Comparisons of x DECIMAL(38, 38) = 0.99…9, l BIGINT = 1 and timestamps one nanosecond apart.
PRECISE = {
    "x < l": True,
    "x >= l": False,
    "x = l": True,  # as DECIMAL(38, 19)
    "x IS DISTINCT FROM l": True,
    "x BETWEEN -1 AND 1": True,
    "t9 IS DISTINCT FROM t6": True,
    "t6 IS NOT DISTINCT FROM t9": False,
    "CAST('2020-01-02 03:04:05.123456789' AS TIMESTAMP_LTZ(9)) IS NULL": False,
}


def test_comparisons_keep_the_last_digit(session: SparkSession) -> None:
    names = {"x": "DECIMAL(38, 38)", "l": "BIGINT", "t9": "TIMESTAMP(9)", "t6": "TIMESTAMP(6)"}
    scope = ColumnScope({name: DataTypes.of(text) for name, text in names.items()}, streaming=False)
    nodes = [compile_expression(infer(scope, parse_expression(item))) for item in PRECISE]
    noon = "TIMESTAMP_NTZ'2020-01-01 12:00:00'"
    row = f"CAST(0.{'9' * 38} AS DECIMAL(38, 38)) x, 1L l, {noon} t6"
    row += f", named_struct('micros', {noon}, 'nanos', 1S) t9"

    rows = session.sql(f"SELECT {', '.join(map(to_sql, nodes))} FROM (SELECT {row})").collect()

    assert list(PRECISE.values()) == list(rows[0])
