"""Queries and values that `test_planner` tries, with their results."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any, NamedTuple


class QueryCase(NamedTuple):
    """A query without tables, the names of its columns and its rows.

    The order of the rows counts if `ordered`.
    """

    sql: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    ordered: bool = False


class ValueCase(NamedTuple):
    """An expression, its value in Python, and the string of Flink's cast to STRING."""

    sql: str
    value: Any
    shown: str | None


#: Three rows with NULL in both columns.
V = "(VALUES (1, 'x'), (2, CAST(NULL AS STRING)), (CAST(NULL AS INT), 'z')) AS v (a, b)"

#: Rows of which some are equal.
W = "(VALUES (1), (2), (2), (3)) AS w (a)"

#: Name -> the query.
QUERIES: Mapping[str, QueryCase] = {
    "literals": QueryCase("SELECT 1 AS a, 'x' AS b", ("a", "b"), ((1, "x"),)),
    "names that are generated": QueryCase("SELECT 1, 'x'", ("EXPR$0", "EXPR$1"), ((1, "x"),)),
    "names that are repeated": QueryCase("SELECT 1 AS a, 2 AS a", ("a", "a0"), ((1, 2),)),
    "VALUES": QueryCase(
        "VALUES (1, 'a'), (2, 'bcd')", ("EXPR$0", "EXPR$1"), ((1, "a"), (2, "bcd"))
    ),
    "projection": QueryCase(
        f"SELECT b, a FROM {V}", ("b", "a"), (("x", 1), (None, 2), ("z", None))
    ),
    "comparison": QueryCase(f"SELECT a FROM {V} WHERE a > 1", ("a",), ((2,),)),
    "comparison of strings": QueryCase(f"SELECT a FROM {V} WHERE b <> 'x'", ("a",), ((None,),)),
    "NOT": QueryCase(f"SELECT a FROM {V} WHERE NOT a > 1", ("a",), ((1,),)),
    "IS NULL": QueryCase(f"SELECT b FROM {V} WHERE a IS NULL", ("b",), (("z",),)),
    "IS NOT NULL": QueryCase(f"SELECT b FROM {V} WHERE a IS NOT NULL", ("b",), (("x",), (None,))),
    "AND": QueryCase(f"SELECT a FROM {V} WHERE a > 0 AND b = 'x'", ("a",), ((1,),)),
    "OR": QueryCase(
        f"SELECT a, b FROM {V} WHERE a > 1 OR b = 'z'", ("a", "b"), ((2, None), (None, "z"))
    ),
    "truth values": QueryCase(
        f"SELECT a > 1 AND b = 'x' AS p, a > 1 OR b = 'x' AS q FROM {V}",
        ("p", "q"),
        ((False, True), (None, True), (False, None)),
    ),
    "derived table": QueryCase(
        f"SELECT c FROM (SELECT a AS c, b FROM {V} WHERE a > 0) AS q WHERE b IS NULL",
        ("c",),
        ((2,),),
    ),
    "LIMIT": QueryCase(
        "SELECT a FROM (VALUES (1), (1), (1)) AS v (a) LIMIT 2", ("a",), ((1,),) * 2
    ),
    "LIMIT 0": QueryCase(f"SELECT a FROM {W} LIMIT 0", ("a",), ()),
    "OFFSET": QueryCase(
        "SELECT a FROM (VALUES (1), (1), (1)) AS v (a) LIMIT 2 OFFSET 2", ("a",), ((1,),)
    ),
    "ORDER BY": QueryCase(
        f"SELECT a FROM {V} ORDER BY a", ("a",), ((None,), (1,), (2,)), ordered=True
    ),
    "ORDER BY DESC": QueryCase(
        f"SELECT a FROM {V} ORDER BY a DESC", ("a",), ((2,), (1,), (None,)), ordered=True
    ),
    "NULLS LAST": QueryCase(
        f"SELECT a FROM {V} ORDER BY a NULLS LAST", ("a",), ((1,), (2,), (None,)), ordered=True
    ),
    "ORDER BY another column": QueryCase(
        f"SELECT a FROM {V} ORDER BY b DESC LIMIT 1", ("a",), ((None,),), ordered=True
    ),
    "DISTINCT": QueryCase(f"SELECT DISTINCT a FROM {W}", ("a",), ((1,), (2,), (3,))),
    "UNION ALL": QueryCase("SELECT 1 AS a UNION ALL SELECT 1", ("a",), ((1,), (1,))),
    "UNION": QueryCase("SELECT 1 AS a UNION SELECT 1", ("a",), ((1,),)),
    "INTERSECT": QueryCase(f"SELECT a FROM {W} INTERSECT SELECT 2", ("a",), ((2,),)),
    "EXCEPT": QueryCase(f"SELECT a FROM {W} EXCEPT SELECT 2", ("a",), ((1,), (3,))),
    "WITH": QueryCase(
        f"WITH q AS (SELECT a FROM {W}) SELECT a FROM q WHERE a = 3", ("a",), ((3,),)
    ),
    "arithmetic": QueryCase(f"SELECT a * 2 + 1 AS c FROM {V}", ("c",), ((3,), (5,), (None,))),
    "functions": QueryCase("SELECT UPPER('ab') || 'c' AS c", ("c",), (("ABc",),)),
    "CASE": QueryCase(
        f"SELECT CASE WHEN a > 1 THEN 'big' ELSE 'other' END AS c FROM {V} WHERE a IS NOT NULL",
        ("c",),
        (("big",), ("other",)),
    ),
    "CAST": QueryCase(
        "SELECT CAST('12' AS INT) AS a, CAST(7 AS STRING) AS b", ("a", "b"), ((12, "7"),)
    ),
    "COUNT": QueryCase(f"SELECT COUNT(*) AS n, COUNT(a) AS m FROM {V}", ("n", "m"), ((3, 2),)),
    "aggregates of no rows": QueryCase(
        f"SELECT COUNT(*) AS n, MAX(a) AS m FROM {V} WHERE a > 9", ("n", "m"), ((0, None),)
    ),
    "GROUP BY": QueryCase(
        f"SELECT a, COUNT(*) AS n FROM {W} GROUP BY a", ("a", "n"), ((1, 1), (2, 2), (3, 1))
    ),
    "HAVING": QueryCase(f"SELECT a FROM {W} GROUP BY a HAVING COUNT(*) > 1", ("a",), ((2,),)),
    "join": QueryCase(
        f"SELECT v.a, w.a AS c FROM {V} JOIN {W} ON v.a = w.a", ("a", "c"), ((1, 1), (2, 2), (2, 2))
    ),
    "LEFT JOIN": QueryCase(
        f"SELECT b, w.a FROM {V} LEFT JOIN {W} ON v.a = w.a AND w.a < 2",
        ("b", "a"),
        (("x", 1), (None, None), ("z", None)),
    ),
    "CROSS JOIN": QueryCase(
        f"SELECT w.a FROM {V} CROSS JOIN {W} WHERE w.a = 3", ("a",), ((3,),) * 3
    ),
    "IN": QueryCase(
        f"SELECT a FROM {V} WHERE a IN (SELECT a FROM {W} WHERE a > 1)", ("a",), ((2,),)
    ),
    "scalar subquery": QueryCase(f"SELECT (SELECT MAX(a) FROM {W}) AS c", ("c",), ((3,),)),
    "OVER": QueryCase(
        f"SELECT a, ROW_NUMBER() OVER (ORDER BY a DESC) AS n FROM {V} WHERE a > 0",
        ("a", "n"),
        ((2, 1), (1, 2)),
    ),
    "UNNEST": QueryCase(
        "SELECT e FROM (VALUES (ARRAY[1, 2])) AS v (c) CROSS JOIN UNNEST(c) AS u (e)",
        ("e",),
        ((1,), (2,)),
    ),
}

#: Name -> the value.
VALUES: Mapping[str, ValueCase] = {
    "boolean": ValueCase("TRUE", True, "TRUE"),
    "int": ValueCase("2147483647", 2147483647, "2147483647"),
    "bigint": ValueCase("9223372036854775807", 9223372036854775807, "9223372036854775807"),
    "tinyint": ValueCase("CAST(-128 AS TINYINT)", -128, "-128"),
    "string": ValueCase("'it''s ü, 注文 😀'", "it's ü, 注文 😀", "it's ü, 注文 😀"),
    "empty string": ValueCase("''", "", ""),
    "date": ValueCase("DATE '2024-02-29'", date(2024, 2, 29), "2024-02-29"),
    "NULL": ValueCase("CAST(NULL AS INT)", None, None),
    "NULL string": ValueCase("CAST(NULL AS STRING)", None, None),
    "decimal": ValueCase("1.50", Decimal("1.50"), "1.50"),
    "double": ValueCase("1.5E3", 1500.0, "1500.0"),
    "bytes": ValueCase("x'4142'", b"AB", "x'4142'"),
    "time": ValueCase("TIME '23:59:59'", time(23, 59, 59), "23:59:59"),
    "timestamp": ValueCase(
        "TIMESTAMP '2024-02-29 12:00:00.123'",
        datetime(2024, 2, 29, 12, 0, 0, 123000),  # noqa: DTZ001 - a TIMESTAMP has no zone
        "2024-02-29 12:00:00.123",
    ),
    "timestamp_ltz": ValueCase(
        "CAST(TIMESTAMP '2024-02-29 12:00:00.123' AS TIMESTAMP_LTZ(3))",
        datetime(2024, 2, 29, 12, 0, 0, 123000, UTC),
        "2024-02-29 12:00:00.123",
    ),
    "array": ValueCase("ARRAY[1, 2]", [1, 2], "[1, 2]"),
    "map": ValueCase("MAP['a', 1]", {"a": 1}, "{a=1}"),
    "row": ValueCase("ROW(1, 'x')", (1, "x"), "(1, x)"),
}
