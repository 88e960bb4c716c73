"""Trees of expressions, syntax errors and their spans, and limits of nesting."""

from __future__ import annotations

import pytest

from schema_core.base.text import MAX_DEPTH, Span
from schema_core.errors import ParseError
from schema_core.sql.expression import INFIX, KINDS, PREFIX
from schema_core.sql.parser import parse_expression
from schema_core.sql.printer import print_expression
from schema_core.sql.syntax import (
    Call,
    Interval,
    Literal,
    LiteralKind,
    Name,
    Named,
    Star,
    Symbol,
    TypeName,
)
from schema_core.sql.tokens import sql_tokens
from tests.support import cases

A, B, C = Name(("a",)), Name(("b",)), Name(("c",))
DAY = Interval("", "DAY")
NULL = Literal(LiteralKind.NULL, "NULL")


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a.`b c`",          Name(("a", "b c"))),
        ("- 1",              Literal(LiteralKind.EXACT, "-1")),
        ("- a",              Call("-x", (A,))),
        ("a - b",            Call("-", (A, B))),
        ("(a - b) DAY",      Call("(-)", (A, B, TypeName("INTERVAL", interval=DAY)))),
        ("a IS NOT TRUE",    Call("IS NOT TRUE", (A,))),
        ("a IN (b, c)",      Call("IN", (A, B, C))),
        ("a < ANY (b)",      Call("< SOME", (A, B))),
        ("a BETWEEN b AND c", Call("BETWEEN", (A, B, C), symbol="ASYMMETRIC")),
        ("a[b]",             Call("[]", (A, B))),
        ("f(a).b",           Call(".", (Call("F", (A,), ("f",)), B))),
        ("(a, b)",           Call("ROW", (A, B))),
        ("CASE WHEN a THEN b END", Call("CASE", (A, B, NULL))),
        ("CASE a WHEN b THEN c END", Call("CASE", (Call("=", (A, B)), C, NULL))),
        ("UPPER(a)",         Call("UPPER", (A,))),
        ("upper(a)",         Call("UPPER", (A,))),
        ("TypeOf(a)",        Call("TYPEOF", (A,), ("TypeOf",))),
        ("`x`.f(a)",         Call("F", (A,), ("x", "f"))),
        ("COUNT(*)",         Call("COUNT", (Star(),))),
        ("COUNT(DISTINCT a)", Call("COUNT", (A,), symbol="DISTINCT")),
        ("F(p => a)",        Call("F", (Named("p", A),))),
        ("CURRENT_DATE",     Call("CURRENT_DATE", symbol="BARE")),
        ("CURRENT_DATE()",   Call("CURRENT_DATE")),
        ("FLOOR(a TO DAY)",  Call("FLOOR", (A, Symbol("DAY")))),
        ("CAST(a AS INT)",   Call("CAST", (A, TypeName("INTEGER")))),
        ("INTERVAL -'5' DAY", Interval("5", "DAY", negative=True)),
    ],
)  # fmt: skip
def test_tree(text: str, tree: object) -> None:
    assert tree == parse_expression(text)


@pytest.mark.parametrize(("text", "refusal"), cases("refused"))
def test_refused_at_the_first_token_that_does_not_fit(text: str, refusal: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_expression(text)

    assert caught.value.span is not None
    assert refusal == f"! {caught.value.span.start}"


def test_every_kind_of_token_has_an_operand_parser() -> None:
    operands = [
        "a",
        "order",
        "`a`",
        "'a'",
        "N'a'",
        "U&'a'",
        "E'a'",
        "x''",
        "1",
        "1.",
        "1e1",
        "+",
        "#",
        "",
    ]

    assert set(KINDS) == {sql_tokens(text)[0].kind for text in operands}


def test_operators_are_left_or_right_associative() -> None:
    powers = {(operator.left, operator.right) for operator in INFIX.values()}

    assert all(abs(left - right) <= 1 for left, right in powers)
    assert all(right % 2 for _, right in PREFIX.values())


def test_spans_include_parentheses() -> None:
    tree = parse_expression(" (a + b) * -c")

    assert isinstance(tree, Call)
    assert Span(1, 13) == tree.span
    assert [Span(2, 7), Span(11, 13)] == [argument.span for argument in tree.arguments]


#: Opening and closing text of one level of nesting.
LEVELS = [
    ("(", ")"),
    ("(1 + ", ")"),
    ("F(", ")"),
    ("UPPER(", ")"),
    ("CAST(", " AS INT)"),
    ("CASE WHEN b THEN ", " END"),
    ("NOT ", ""),
    ("- ", ""),
    ("a LIKE ", ""),
    ("ARRAY[", "]"),
    ("a[", "]"),
    ("a IN (", ")"),
    ("JSON_OBJECT('a' VALUE ", ")"),
    ("F(a) OVER (ORDER BY ", ")"),
    ("F(p => ", ")"),
]


@pytest.mark.parametrize(("opening", "closing"), LEVELS)
def test_nesting_up_to_the_limit_round_trips(opening: str, closing: str) -> None:
    levels = MAX_DEPTH // 2

    tree = parse_expression(opening * levels + "a" + closing * levels)

    assert tree == parse_expression(print_expression(tree))


@pytest.mark.parametrize(("opening", "closing"), LEVELS)
@pytest.mark.parametrize("levels", [MAX_DEPTH + 1, 10_000])
def test_deeper_nesting_is_refused(opening: str, closing: str, levels: int) -> None:
    with pytest.raises(ParseError) as caught:
        parse_expression(opening * levels + "a" + closing * levels)

    assert "limit-exceeded" == caught.value.code


def test_parentheses_up_to_the_limit() -> None:
    assert A == parse_expression("(" * MAX_DEPTH + "a" + ")" * MAX_DEPTH)


@pytest.mark.parametrize(
    "operator",
    [" OR ", " + ", " = ", " || "],
)
def test_chain_of_thousands_of_operators_is_not_nested(operator: str) -> None:
    text = operator.join(["`a`"] * 5_000)

    assert text == print_expression(parse_expression(text))


@pytest.mark.parametrize("suffix", ["[1]", " IS NULL", " IN (1)", " BETWEEN 1 AND 2"])
def test_chain_of_postfix_operators_is_not_nested(suffix: str) -> None:
    tree = parse_expression("a" + suffix * 3_000)

    assert print_expression(tree).startswith(("`a`", "("))


def test_size_of_the_value_of_a_simple_case_is_bounded() -> None:
    text = "CASE " * 20 + "a" + " WHEN 1 THEN 1 WHEN 2 THEN 2 END" * 20
    with pytest.raises(ParseError) as caught:
        parse_expression(text)

    assert (
        "the value of a simple CASE is too large for its number of branches" == caught.value.problem
    )


def test_equal_expressions_are_parsed_once() -> None:
    assert parse_expression("a + 1") is parse_expression("a + 1")


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("a IN (SELECT 1)", "`a` IN (SELECT 1)"),
        ("a = ALL ((SELECT 1) UNION SELECT 2)", "`a` = ALL (SELECT 1\nUNION\nSELECT 2)"),
        ("((SELECT 1) EXCEPT (SELECT 2)) + 1", "(SELECT 1\nEXCEPT\nSELECT 2) + 1"),
        ("((SELECT 1))", "SELECT 1"),
        ("a IN ((SELECT 1), 2)", "`a` IN ((SELECT 1), 2)"),
        ("EXISTS (VALUES 1)", "EXISTS (VALUES ROW(1))"),
    ],
)
def test_sub_queries(text: str, printed: str) -> None:
    assert printed == print_expression(parse_expression(text))
