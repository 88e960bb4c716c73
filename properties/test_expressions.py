"""Laws of typing: spelling does not matter, what is printed means the same, nothing else breaks."""

from __future__ import annotations

from contextlib import suppress
from decimal import Decimal
from typing import TypeAlias

from hypothesis import assume, example, given
from hypothesis import strategies as st

from schema_core.errors import SchemaError, UnsupportedError
from schema_core.expressions import Expression, col
from schema_core.expressions.functions import BUILT_IN
from schema_core.expressions.scope import ColumnScope
from schema_core.expressions.to_sql import to_sql
from schema_core.expressions.type_checker import check, infer
from schema_core.expressions.typed import FunctionCall, Typed, walk
from schema_core.sql import syntax
from schema_core.sql.parser import parse_expression
from schema_core.sql.printer import print_expression
from schema_core.sql.syntax import Call, Name
from schema_core.sql.tokens import sql_tokens
from schema_core.testing.strategies import types
from schema_core.types import DataType, parse_type

Outcome: TypeAlias = DataType | str

COLUMNS = {
    name: parse_type(text)
    for name, text in {
        "i": "INT",
        "l": "BIGINT NOT NULL",
        "d": "DECIMAL(10, 2)",
        "x": "DOUBLE",
        "s": "STRING",
        "c": "CHAR(3) NOT NULL",
        "b": "BOOLEAN",
        "day": "DATE",
        "ts": "TIMESTAMP(3)",
        "ltz": "TIMESTAMP_LTZ(6)",
        "arr": "ARRAY<INT>",
        "m": "MAP<STRING, INT NOT NULL>",
        "r": "ROW<x INT NOT NULL, y STRING>",
    }.items()
}
SCOPE = ColumnScope(COLUMNS)

Tree: TypeAlias = syntax.Expression
Trees: TypeAlias = st.SearchStrategy[syntax.Expression]


def columns(*names: str) -> Trees:
    return st.sampled_from(names).map(lambda name: Name((name,)))


def literals(*strings: str) -> Trees:
    return st.sampled_from(strings).map(parse_expression)


def call(names: str, *arguments: Trees) -> Trees:
    """A call of one of these functions."""
    return st.builds(
        Call,
        st.sampled_from(names.split(", ")),
        st.tuples(*arguments),
    )


numbers: Trees = st.deferred(
    lambda: st.one_of(
        columns("i", "l", "d", "x"),
        literals("0", "1", "2.50", "99999999999", "1e0"),
        call("+, -, *, /, COALESCE, GREATEST, NULLIF, IFNULL", numbers, numbers),
        call("ABS, -x, CEIL, SIGN, SUM, AVG", numbers),
        call("CHAR_LENGTH, ASCII", strings),
        call("CASE, IF", truths, numbers, numbers),
        call("[]", columns("arr"), literals("1")),
        columns("r").map(lambda row: Call(".", (row, Name(("x",))))),
    )
)
strings: Trees = st.deferred(
    lambda: st.one_of(
        columns("s", "c"),
        literals("''", "'a'", "'2020-01-01'"),
        call("||, CONCAT, COALESCE", strings, strings),
        call("UPPER, REVERSE, MD5, MAX", strings),
        call("SUBSTRING, REPEAT", strings, literals("1", "2")),
        call("CASE", truths, strings, strings),
        call("DATE_FORMAT", datetimes, literals("'yyyy'")),
    )
)
datetimes: Trees = st.deferred(
    lambda: st.one_of(
        columns("ts", "ltz"),
        literals("TIMESTAMP '2020-01-01 00:00:00.5'", "CURRENT_TIMESTAMP"),
        call("+, -", datetimes, literals("INTERVAL '5' SECOND", "INTERVAL '1' MONTH")),
        call("COALESCE", datetimes, datetimes),
    )
)
truths: Trees = st.deferred(
    lambda: st.one_of(
        columns("b"),
        literals("TRUE", "UNKNOWN"),
        call("=, <>, <, >=", numbers, numbers) | call("=, <", datetimes, datetimes),
        call("=, LIKE", strings, strings),
        call("AND, OR", truths, truths),
        call("NOT, IS TRUE, IS NULL", truths),
        call("IN, NOT IN", numbers, numbers, numbers),
    )
)
scalars = numbers | strings | datetimes | truths
expressions: Trees = st.one_of(
    scalars,
    call("ARRAY, MAP", numbers, numbers) | call("ARRAY", strings, strings, strings),
    call("ARRAY_CONCAT, ARRAY_UNION", columns("arr"), call("ARRAY", numbers)),
    call("ROW", scalars, scalars),
    call("COALESCE, =, +, ARRAY, GREATEST", scalars, scalars),
)
#: Functions that are written as calls.
CALLED = sorted(name for name in BUILT_IN if name.replace("_", "").isalnum())


def outcome(text: str) -> Outcome:
    """The type of an expression, or the code with which it is refused."""
    try:
        return infer(SCOPE, parse_expression(text)).type
    except SchemaError as error:
        return error.code


def typed(tree: Tree) -> Typed | None:
    """What the text of a tree means: its signs before numbers belong to these."""
    try:
        return infer(SCOPE, parse_expression(print_expression(tree)))
    except SchemaError:
        return None


def respelled(text: str) -> str:
    """The same tokens in small letters, with blanks and comments between them."""
    parts = [text[token.span.start : token.span.stop] for token in sql_tokens(text)]
    return " /* */ ".join(part if part[:1] in {"`", "'"} else part.lower() for part in parts)


@given(expressions)
def test_case_whitespace_and_comments_are_insignificant(tree: Tree) -> None:
    text = print_expression(tree)

    assert outcome(text) == outcome(respelled(text))


@given(expressions)
def test_redundant_parentheses_are_insignificant(tree: Tree) -> None:
    text = print_expression(tree)

    assert outcome(text) == outcome(f"(({text}))")


@given(expressions)
def test_printed_expression_has_the_same_typed_tree(tree: Tree) -> None:
    """But for the casts that SQL puts in: Flink prints these without NOT NULL."""
    result = typed(tree)
    assume(result is not None and not any(map(_is_implicit, walk(result))))
    assert result is not None

    text = to_sql(result)

    assert outcome(text) == result.type
    assert to_sql(infer(SCOPE, parse_expression(text))) == text


def _is_implicit(found: Typed) -> bool:
    return isinstance(found, FunctionCall) and found.implicit


@given(expressions)
def test_printed_expression_can_be_parsed(tree: Tree) -> None:
    result = typed(tree)
    if result is not None:
        assert isinstance(outcome(to_sql(result)), DataType)


@given(expressions, types())
def test_checked_expression_has_the_expected_type(tree: Tree, expected: DataType) -> None:
    try:
        result = check(SCOPE, tree, expected)
    except SchemaError:
        return
    assert result.type.nullable() == expected.nullable() or result.type.root is expected.root


@given(st.sampled_from(CALLED), st.lists(types(), max_size=4))
@example("GREATEST", [])
def test_any_function_accepts_or_refuses_any_argument_types(
    name: str, given_types: list[DataType]
) -> None:
    columns = {f"c{index}": item for index, item in enumerate(given_types)}
    call = Call(name, tuple(Name((column,)) for column in columns))

    with suppress(SchemaError, UnsupportedError):
        assert to_sql(infer(ColumnScope(columns), call))


@given(expressions)
def test_fluent_expression_equals_the_sql_expression(tree: Tree) -> None:
    assert str(Expression(tree)) == print_expression(tree)
    assert (Expression(tree) + col("i")).syntax == Call("+", (tree, Name(("i",))))


# --- what is stored has the same type when it is read -----------------------------------------

SIGNS = st.sampled_from(["", "-", "+", "- -", "-+"])
NUMBERS = st.from_regex(
    r"([0-9]{1,6}\.?[0-9]{0,12}|\.[0-9]{1,18})([eE][+-]?[0-9]{1,3})?", fullmatch=True
)
QUOTED = st.text(st.characters(codec=None, exclude_characters="\0"), max_size=6).map(
    lambda text: "'" + text.replace("'", "''") + "'"
)
ESCAPED = st.lists(st.integers(0, 0xFFFF), max_size=4).map(
    lambda units: "u&'" + "".join(f"\\{unit:04x}" for unit in units) + "'"
)
CLOCKS = st.from_regex(r"[01][0-9]:[0-5][0-9]:[0-5][0-9](\.[0-9]{0,10})?", fullmatch=True)
INTERVALS = st.sampled_from(
    [
        "'1' DAY",
        "'1-2' YEAR TO MONTH",
        "'1 2:3:4.5' DAY TO SECOND(6)",
        "'4.5' SECOND(2, 3)",
        "'9' WEEK",
    ]
)
LITERALS = st.one_of(
    st.builds(str.__add__, SIGNS, NUMBERS),
    st.from_regex(r"DECIMAL '[-+]?[0-9]{0,4}\.?[0-9]{1,6}(e-?[0-9])?'", fullmatch=True),
    QUOTED,
    ESCAPED,
    st.lists(QUOTED, min_size=2, max_size=3).map("\n".join),
    st.sampled_from(["_UTF16", "_UTF8", "_LATIN1", "N"]).flatmap(
        lambda prefix: QUOTED.map(lambda quoted: prefix + quoted)
    ),
    st.from_regex("x'([0-9a-fA-F]{2}){0,4}'", fullmatch=True),
    CLOCKS.map(lambda clock: f"TIME '{clock}'"),
    CLOCKS.map(lambda clock: f"TIMESTAMP '2020-02-29 {clock}'"),
    INTERVALS.map(lambda interval: f"INTERVAL -{interval}"),
    types().map(lambda type_: f"CAST(NULL AS {type_.nullable()})"),
)
PLACES = st.sampled_from(
    ["{}", "i + {}", "-({})", "ARRAY[{}]", "MAP['k', {}]", "ROW({}, i)", "COALESCE({}, {})",
     "d * {}",
     "s || {}", "i IN ({}, 1)", "{} BETWEEN {} AND {}", "ROUND({}, 1)", "CASE WHEN b THEN {} END"]
)  # fmt: skip


def type_and_texts(text: str) -> tuple[DataType, str, str] | None:
    """The type of an expression and its two printed forms, None for what is refused."""
    try:
        tree = parse_expression(text)
        result = infer(SCOPE, tree)
        return result.type, to_sql(result), print_expression(tree)
    except (SchemaError, UnsupportedError):
        return None


@given(LITERALS, PLACES)
@example(".5", "{}")
@example("-00.50", "d * {}")
@example("u&'\\d800'", "{}")
@example("'a'\n'\t'", "{}")
@example("CAST(NULL AS MAP<INT NOT NULL, INT NOT NULL>)", "{}")
def test_printed_literal_has_the_same_type(literal: str, place: str) -> None:
    known = type_and_texts(place.replace("{}", literal))
    assume(known is not None)
    assert known is not None
    type_, *printed = known

    assert [type_, type_] == [infer(SCOPE, parse_expression(text)).type for text in printed]


@given(SIGNS, NUMBERS)
@example("", "1.234567890123456789012345678901e0")
@example("", "9007199254740993.00000000000000001e0")
def test_a_printed_number_is_the_same_number(sign: str, number: str) -> None:
    known = type_and_texts(sign + number)
    assume(known is not None)
    assert known is not None
    _, *printed = known
    written = parse_expression(sign + number)
    read = [parse_expression(text) for text in printed]

    assert isinstance(written, syntax.Literal)
    kind = Decimal if written.kind is syntax.LiteralKind.EXACT else float
    assert [kind(written.text)] * 2 == [
        kind(column.text) for column in read if isinstance(column, syntax.Literal)
    ]
