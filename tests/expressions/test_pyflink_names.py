"""Expressions have every name of PyFlink, with the same parameters and the same SQL."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from schema_core import expressions
from schema_core.errors import SchemaError
from schema_core.expressions import (
    Expression,
    JsonExistsOnError,
    JsonOnNull,
    JsonQueryOnEmptyOrError,
    JsonQueryWrapper,
    JsonType,
    JsonValueOnEmptyOrError,
    TimeIntervalUnit,
    TimePointUnit,
    call,
    col,
    json_object,
    lit,
    log,
    rand_integer,
    row_interval,
    temporal_overlaps,
    timestamp_diff,
)
from schema_core.sql.parser import parse_expression
from schema_core.types import DataTypes
from tests.support import cases

RECORDED = cases("pyflink_expressions")
#: Bounds of windows, which are constants.
BOUNDS = {"CURRENT_RANGE", "CURRENT_ROW", "UNBOUNDED_RANGE", "UNBOUNDED_ROW"}
a, s = col("a"), col("s")


def format_parameters(function: Any) -> str:
    """Format parameters as in the file of cases."""
    result = []
    for parameter in inspect.signature(function).parameters.values():
        star = "*" if parameter.kind is parameter.VAR_POSITIONAL else ""
        optional = "" if star or parameter.default is parameter.empty else "="
        result.append(f"{star}{parameter.name}{optional}")
    return f"({', '.join(item for item in result if item != 'self')})"


@pytest.mark.parametrize(
    ("name", "recorded"), [pair for pair in RECORDED if not pair[0].startswith("Expression.")]
)
def test_every_function_exists(name: str, recorded: str) -> None:
    if name in BOUNDS:
        assert isinstance(getattr(expressions, name), Expression)
        return

    assert recorded == format_parameters(getattr(expressions, name))


@pytest.mark.parametrize(
    ("name", "recorded"), [pair for pair in RECORDED if pair[0].startswith("Expression.")]
)
def test_every_method_exists(name: str, recorded: str) -> None:
    result = inspect.getattr_static(Expression, name.removeprefix("Expression."))

    assert recorded == ("property" if isinstance(result, property) else format_parameters(result))


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (s.to_date, "CAST(s AS DATE)"),
        (s.to_time, "CAST(s AS TIME(0))"),
        (s.to_timestamp, "CAST(s AS TIMESTAMP(3))"),
        (lit(5).millis, "INTERVAL '0.005' SECOND"),
        (lit(250_000).milli, "INTERVAL '250.000' SECOND(3)"),
        (s.trim_leading(), "TRIM(LEADING ' ' FROM s)"),
        (s.trim_trailing("x"), "TRIM(TRAILING 'x' FROM s)"),
        (a.truncate(), "TRUNCATE(a, 0)"),
        (s.list_agg(), "LISTAGG(s, ',')"),
        (s.substring(begin_index=2), "SUBSTRING(s, 2)"),
        (a.array_concat(a, a), "ARRAY_CONCAT(a, a, a)"),
        (s.is_json(), "s IS JSON VALUE"),
        (s.is_json(JsonType.ARRAY), "s IS JSON ARRAY"),
        (s.json_exists("$.a", JsonExistsOnError.TRUE), "JSON_EXISTS(s, '$.a' TRUE ON ERROR)"),
        (
            s.json_value("$.a", DataTypes.INT(), JsonValueOnEmptyOrError.DEFAULT, 0),
            "JSON_VALUE(s, '$.a' RETURNING INT DEFAULT 0 ON EMPTY NULL ON ERROR)",
        ),
        (
            s.json_query(
                "$.a",
                JsonQueryWrapper.CONDITIONAL_ARRAY,
                on_error=JsonQueryOnEmptyOrError.EMPTY_ARRAY,
            ),
            "JSON_QUERY(s, '$.a' WITH CONDITIONAL WRAPPER NULL ON EMPTY EMPTY ARRAY ON ERROR)",
        ),
        (json_object(JsonOnNull.ABSENT, "k", a), "JSON_OBJECT('k' VALUE a ABSENT ON NULL)"),
        (a.floor(TimeIntervalUnit.DAY), "FLOOR(a TO DAY)"),
        (a.extract(TimeIntervalUnit.DAY), "EXTRACT(DAY FROM a)"),
        (timestamp_diff(TimePointUnit.DAY, a, s), "TIMESTAMPDIFF(DAY, a, s)"),
        (temporal_overlaps(a, s, a, s), "(a, s) OVERLAPS (a, s)"),
        (rand_integer(5, 1), "RAND_INTEGER(1, 5)"),
        (log(a, 2), "LOG(2, a)"),
        (a.sum.over("w"), "SUM(a) OVER w"),
        (a.bitmap_build_agg(), "BITMAP_BUILD_AGG(a)"),
        (call("f", lit(1).as_argument("x")), "f(x => 1)"),
    ],
)  # fmt: skip
def test_sql_is_that_of_pyflink(expression: Expression, text: str) -> None:
    assert str(Expression(parse_expression(text))).replace("`f`", "F") == str(expression)


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (lambda: col(5), "invalid-argument"),  # type: ignore[arg-type]
        (lambda: a.cast("STRING"), "invalid-argument"),  # type: ignore[arg-type]
        (lambda: call(5), "invalid-argument"),  # type: ignore[arg-type]
        (lambda: expressions.call_sql(5), "invalid-argument"),  # type: ignore[arg-type]
        (lambda: a.millis, "invalid-argument"),
        (a.uper_case, "invalid-argument"),  # type: ignore[attr-defined]
        (lambda: row_interval(-5), "invalid-argument"),
        (lambda: a.distinct, "invalid-function-call"),
        (lambda: a.over("w"), "invalid-function-call"),
    ],
)
def test_wrong_calls_raise(wrong: Any, code: str) -> None:
    with pytest.raises(SchemaError) as caught:
        wrong()

    assert code == caught.value.code


def test_a_misspelt_method_is_reported() -> None:
    with pytest.raises(SchemaError, match="have no method 'uper_case'") as caught:
        a.uper_case()  # type: ignore[attr-defined]

    assert caught.value.hint == "did you mean 'upper_case'?"


def test_public_names_are_those_of_pyflink_and_expression() -> None:
    functions = {name for name, _ in RECORDED if not name.startswith("Expression.")}
    classes = {name for name in expressions.__all__ if name[0].isupper()} - BOUNDS

    new = {"with_all_columns", "lag", "lead", "coalesce", "map_from_arrays", "object_of"}
    assert functions | classes | new == set(expressions.__all__)
    assert all(isinstance(getattr(expressions, name), type) for name in classes)
