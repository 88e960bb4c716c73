"""Types of expressions and their errors; tests/cases has a file for each family of functions."""

from __future__ import annotations

import re
from itertools import count

import pytest

from schema_core.base.text import Span
from schema_core.errors import SchemaError
from schema_core.expressions.functions import declare
from schema_core.expressions.scope import ColumnScope
from schema_core.expressions.to_sql import to_sql
from schema_core.expressions.type_checker import check, infer
from schema_core.expressions.typed import Function, FunctionCall, FunctionKind, Typed
from schema_core.sql.parser import parse_expression
from schema_core.types import (
    AnyTimestampType,
    DataType,
    DataTypes,
    LocalZonedTimestampType,
    TimestampKind,
    TimestampType,
    parse_type,
)
from tests.support import cases

FAMILIES = (
    "aggregates",
    "collections",
    "comparison",
    "conditional",
    "conversions",
    "json",
    "numbers",
    "operators",
    "strings",
    "temporal",
)


def typed(text: str) -> Typed:
    """Type an expression in which ``{INT NOT NULL}`` is a column of that type."""
    columns: dict[str, DataType] = {}
    names = count()

    def column(match: re.Match[str]) -> str:
        name = f"c{next(names)}"
        columns[name] = parse_type(match[1])
        return name

    plain = re.sub(r"\{(.*?)\}", column, text)
    return infer(ColumnScope(columns), parse_expression(plain))


@pytest.mark.parametrize(
    ("text", "expected"), [case for family in FAMILIES for case in cases(family)]
)
def test_type(text: str, expected: str) -> None:
    if expected.startswith("!"):
        with pytest.raises(SchemaError) as caught:
            typed(text)
        assert f"! {caught.value.problem}" == expected
    else:
        assert typed(text).type == parse_type(expected)


# --- errors --------------------------------------------------------------------------------------

COLUMNS = {"price": DataTypes.DECIMAL(10, 2), "qty": DataTypes.INT(), "r": parse_type("ROW<x INT>")}


@pytest.mark.parametrize(
    ("text", "code", "shown", "hint"),
    [
        ("1 + prize", "unknown-column", "prize", "did you mean 'price'?"),
        ("qty + r.y", "unknown-field", "r.y", None),
        ("UPER('a')", "function-not-found", "UPER('a')", "did you mean 'UPPER'?"),
        ("SQRT(1, 2)", "invalid-function-call", "SQRT(1, 2)", None),
        ("LEFT('a', 'b')", "invalid-function-call", "'b'", None),
        ("1 + LN(NULL)", "invalid-function-call", "NULL", "write CAST(NULL AS ...)"),
        ("COALESCE(qty, 99999999999999999999)", "invalid-literal", "9" * 20, None),
        ("GREATEST(NULL, NULL)", "type-mismatch", "GREATEST(NULL, NULL)", "add a CAST"),
    ],
)
def test_error(text: str, code: str, shown: str, hint: str | None) -> None:
    with pytest.raises(SchemaError) as caught:
        infer(ColumnScope(COLUMNS), parse_expression(text))

    error = caught.value
    assert error.code == code
    assert error.span is not None
    assert text[error.span.start : error.span.stop] == shown
    if hint:
        assert error.hint == hint


def test_error_names_the_argument() -> None:
    with pytest.raises(SchemaError) as caught:
        typed("SUBSTRING({STRING}, {STRING})")

    assert caught.value.path == ("argument 2 of SUBSTRING(<CHARACTER>, <INTEGER>)",)


def test_left_deep_tree_of_thousands_of_operands() -> None:
    """Left-deep trees are typed and printed without recursion."""
    text = " OR ".join(["b"] * 5000)
    scope = ColumnScope({"b": DataTypes.BOOLEAN()})

    result = infer(scope, parse_expression(text))

    assert result.type == DataTypes.BOOLEAN()
    assert to_sql(result) == text.replace("b", "`b`")


# --- columns -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "type_",
    [
        "ROW<x TIMESTAMP(3) WITH TIME ZONE>",
        "STRUCTURED<'C', x TIMESTAMP(3) WITH TIME ZONE>",
        "STRUCTURED<'C', x STRUCTURED<'D', y ARRAY<TIMESTAMP(3) WITH TIME ZONE>>>",
        "STRUCTURED<'C', x ROW<y NULL>>",
    ],
)
def test_columns_of_unsupported_types_raise(type_: str) -> None:
    with pytest.raises(SchemaError) as caught:
        ColumnScope({"a": parse_type(type_)})

    assert caught.value.code == "type-not-supported"


def test_an_attribute_of_a_structured_type_may_have_type_null() -> None:
    type_ = parse_type("STRUCTURED<'C', x NULL>")

    assert ColumnScope({"a": type_}).columns == {"a": type_}


# --- time attributes -----------------------------------------------------------------------------

ROWTIME = TimestampType(3, kind=TimestampKind.ROWTIME)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("ts", TimestampKind.ROWTIME),
        ("ts - INTERVAL '5' SECOND", TimestampKind.ROWTIME),
        ("FLOOR(ts TO HOUR)", TimestampKind.ROWTIME),
        ("COALESCE(ts, ts)", TimestampKind.ROWTIME),
        ("CASE WHEN ts IS NULL THEN ts ELSE ts END", TimestampKind.ROWTIME),
        ("ROW(ts).EXPR$0", TimestampKind.ROWTIME),
        ("MAX(ts)", TimestampKind.ROWTIME),
        ("TIMESTAMPADD(DAY, 1, ts)", TimestampKind.ROWTIME),
        ("TIMESTAMPADD(HOUR, 1, ts)", TimestampKind.REGULAR),
        ("CAST(ts AS TIMESTAMP(3))", TimestampKind.REGULAR),
        ("CURRENT_WATERMARK(ts)", TimestampKind.REGULAR),
        ("PROCTIME()", TimestampKind.PROCTIME),
        ("IFNULL(PROCTIME(), NOW())", TimestampKind.PROCTIME),
        ("IFNULL(NOW(), PROCTIME())", TimestampKind.REGULAR),
        ("ARRAY[NOW(), PROCTIME()][1]", TimestampKind.REGULAR),
    ],
)
def test_time_attribute(text: str, kind: TimestampKind) -> None:
    result = infer(ColumnScope({"ts": ROWTIME}), parse_expression(text)).type

    assert isinstance(result, AnyTimestampType)
    assert result.kind is kind


# --- check ---------------------------------------------------------------------------------------


def test_check_inserts_an_implicit_cast() -> None:
    scope = ColumnScope(COLUMNS)

    result = check(scope, parse_expression("qty"), DataTypes.BIGINT())

    assert isinstance(result, FunctionCall)
    assert result.implicit
    assert result.type == DataTypes.BIGINT()
    assert check(scope, parse_expression("qty"), DataTypes.INT()).type == DataTypes.INT()


def test_check_raises_without_an_implicit_cast() -> None:
    with pytest.raises(SchemaError) as caught:
        check(ColumnScope(COLUMNS), parse_expression("price"), DataTypes.INT())

    assert caught.value.problem == "expected INT, got DECIMAL(10, 2)"


# --- user-defined functions ----------------------------------------------------------------------

SHOUT = declare(
    "Shout",
    [
        ([DataTypes.STRING()], DataTypes.STRING(nullable=False)),
        ([DataTypes.BIGINT(nullable=False)], DataTypes.INT()),
    ],
    path=("cat", "db", "Shout"),
)


def shout(path: tuple[str, ...], _: Span) -> tuple[Function, ...] | None:
    return SHOUT if path[-1].lower() == "shout" else None


@pytest.mark.parametrize(
    ("text", "type_", "sql"),
    [
        ("shout('a')", "STRING NOT NULL", "`cat`.`db`.`Shout`('a')"),
        ("shout(1)", "INT", "`cat`.`db`.`Shout`(CAST(1 AS BIGINT))"),
    ],
)
def test_declared_function(text: str, type_: str, sql: str) -> None:
    result = infer(ColumnScope({}, functions=shout), parse_expression(text))

    assert result.type == parse_type(type_)
    assert to_sql(result) == sql


def test_parameter_not_null_rejects_nullable_argument() -> None:
    scope = ColumnScope({"a": DataTypes.BIGINT()}, functions=shout)

    with pytest.raises(SchemaError) as caught:
        infer(scope, parse_expression("shout(a)"))

    assert caught.value.problem == "expected STRING or BIGINT NOT NULL, got BIGINT"


def test_declared_aggregate_over_a_window() -> None:
    counts = declare(
        "my_count", [([DataTypes.INT()], DataTypes.BIGINT())], kind=FunctionKind.AGGREGATE
    )
    scope = ColumnScope({"a": DataTypes.INT()}, functions=lambda path, span: counts)

    result = infer(scope, parse_expression("my_count(a) OVER (ORDER BY a)"))

    assert isinstance(result, FunctionCall)
    assert result.over is not None
    assert result.over.order_by[0].value.type == DataTypes.INT()


def test_proctime_is_not_null() -> None:
    expected = LocalZonedTimestampType(3, nullable=False)

    assert infer(ColumnScope({}), parse_expression("PROCTIME()")).type == expected
