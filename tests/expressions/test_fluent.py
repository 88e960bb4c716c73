"""Python expressions have the syntax trees of the equivalent SQL."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import pytest

from schema_core.errors import ParseError, SchemaError
from schema_core.expressions import (
    Expression,
    and_,
    array,
    call,
    call_sql,
    col,
    if_then_else,
    lit,
    map_,
    not_,
    null_of,
    or_,
)
from schema_core.sql.parser import parse_expression
from schema_core.types import DataTypes

a, b, s, ts = col("a"), col("b"), col("s"), col("ts")

SAME = [
    (a + 1 - b * 2 / a % 3, "a + 1 - b * 2 / a % 3"),
    ((a + b) * 2, "(a + b) * 2"),
    (1 - a, "1 - a"),
    (-a, "-a"),
    (a**2, "POWER(a, 2)"),
    (abs(a), "ABS(a)"),
    ((a > 1) & (b <= 2) | (s == "x"), "a > 1 AND b <= 2 OR s = 'x'"),
    (a != 1, "a <> 1"),
    (~(a < 1), "(a < 1) IS NOT TRUE"),
    (not_(a >= 1), "NOT a >= 1"),
    (and_(a, b, s), "a AND b AND s"),
    (or_(a, b, s), "a OR b OR s"),
    (a.is_null, "a IS NULL"),
    (a.between(1, 2), "a BETWEEN 1 AND 2"),
    (a.not_between(1, 2), "a NOT BETWEEN 1 AND 2"),
    (a.in_(1, 2), "a IN (1, 2)"),
    (a.is_null.then(1, 2), "CASE WHEN a IS NULL THEN 1 ELSE 2 END"),
    (if_then_else(a == 1, a, b), "CASE WHEN a = 1 THEN a ELSE b END"),
    (a.cast(DataTypes.DECIMAL(10, 2)), "CAST(a AS DECIMAL(10, 2))"),
    (a.try_cast(DataTypes.STRING()), "TRY_CAST(a AS VARCHAR(2147483647))"),
    (null_of(DataTypes.INT()), "CAST(NULL AS INT)"),
    (s.upper_case.lower_case, "LOWER(UPPER(s))"),
    (s.substring(1, 2), "SUBSTRING(s, 1, 2)"),
    (s.like("a%"), "s LIKE 'a%'"),
    (s.trim(), "TRIM(s)"),
    (s.position(col("t")), "POSITION(s IN t)"),
    (s.locate("x", 2), "LOCATE(s, 'x', 2)"),
    (a.log(), "LOG(a)"),
    (a.log(2), "LOG(2, a)"),
    (a.round(2), "ROUND(a, 2)"),
    (ts.extract("YEAR"), "EXTRACT(YEAR FROM ts)"),
    (ts.floor("HOUR"), "FLOOR(ts TO HOUR)"),
    (a.ceil(), "CEIL(a)"),
    (ts - lit(5).seconds, "ts - INTERVAL '5' SECOND"),
    (ts + lit(100).days, "ts + INTERVAL '100' DAY(3)"),
    (ts + a.days, "ts + INTERVAL a DAY"),
    (col("r").x.y, "r.x.y"),  # type: ignore[attr-defined]
    (col("r").get("x"), "r.x"),
    (col("r").get("EXPR$0"), "r.EXPR$0"),
    (col("m")["k"], "m['k']"),
    (col("m").at(1), "m[1]"),
    (array(1, 2).cardinality, "CARDINALITY(ARRAY[1, 2])"),
    (map_("k", a), "MAP['k', a]"),
    (a.count.distinct, "COUNT(DISTINCT a)"),
    (a.if_null(0), "IFNULL(a, 0)"),
    (a.if_null(None), "IFNULL(a, NULL)"),
    (s.parse_url("HOST", None), "PARSE_URL(s, 'HOST')"),
    (call("Upper", s), "UPPER(s)"),
    (call("cat.db.f", s), "cat.db.f(s)"),
    (call("cat.`d.b`.f", s), "cat.`d.b`.f(s)"),
    (call_sql("a + 1") * 2, "(a + 1) * 2"),
    (lit([1, None]), "ARRAY[1, NULL]"),
    (lit({"k": 1}), "MAP['k', 1]"),
]


@pytest.mark.parametrize(("expression", "text"), SAME, ids=[text for _, text in SAME])
def test_expression_has_the_tree_of_its_sql(expression: Expression, text: str) -> None:
    assert expression.syntax == parse_expression(text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "NULL"),
        (True, "TRUE"),
        (-5, "-5"),
        (1.5, "1.5E0"),
        (-1e300, "-1E300"),
        (Decimal("1.50"), "1.50"),
        ("it's", "'it''s'"),
        ("ä", "'ä'"),
        (b"\xab", "X'AB'"),
        (date(2020, 1, 2), "DATE '2020-01-02'"),
        (time(1, 2, 3), "TIME '01:02:03'"),
        (datetime.fromisoformat("2020-01-02T03:04:05.6"), "TIMESTAMP '2020-01-02 03:04:05.600000'"),
        (timedelta(days=1, seconds=3661), "INTERVAL '1 01:01:01' DAY TO SECOND"),
        (timedelta(days=-100), "INTERVAL -'100 00:00:00' DAY(3) TO SECOND"),
    ],
)
def test_literals_of_python_values(value: Any, text: str) -> None:
    assert lit(value).syntax == parse_expression(text)


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), Decimal("NaN"), object(), datetime.now(UTC)]
)
def test_values_without_a_literal_raise(value: Any) -> None:
    with pytest.raises(SchemaError) as caught:
        lit(value)

    assert caught.value.code == "not-in-sql"


def test_an_expression_has_no_truth_value() -> None:
    """Otherwise ``0 < col("a") < 9`` would silently drop its first comparison."""
    with pytest.raises(TypeError, match=re.escape("use & | ~")):
        _ = 0 < a < 9


def test_repr_is_the_sql() -> None:
    assert repr(a + 1) == "<Expression `a` + 1>"


def test_invalid_sql_raises() -> None:
    with pytest.raises(ParseError):
        call_sql("a +")


def test_an_expression_is_not_iterable() -> None:
    with pytest.raises(TypeError, match="not iterable"):
        list(col("a"))
