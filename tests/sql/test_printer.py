"""Expressions as Flink prints them."""

from __future__ import annotations

import pytest

from schema_core.sql.parser import parse_expression
from schema_core.sql.printer import (
    FORMS,
    LEADING,
    LITERALS,
    POWERS,
    PREFIX,
    TRANSPARENT,
    print_expression,
    print_string,
)
from schema_core.sql.syntax import Call, LiteralKind, Name
from tests.support import cases

A, B, C = Name(("a",)), Name(("b",)), Name(("c",))


@pytest.mark.parametrize(("text", "printed"), cases("expressions"))
def test_printed(text: str, printed: str) -> None:
    assert printed == print_expression(parse_expression(text))


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        (".5",        ".5"),
        ("-.50",      "-.50"),
        ("00.5",      "00.5"),
        ("-.0",       ".0"),
        ("1.",        "1"),
        ("0000012",   "12"),
        ("1.50",      "1.50"),
        ("0.00",      "0.00"),
        ("-0.0",      "0.0"),
        ("0.00000000000000000001", "0.00000000000000000001"),
        ("1e0",       "1E0"),
        ("100e0",     "1E2"),
        ("1.0E2",     "1.0E2"),
        ("1.50e10",   "1.50E10"),
        ("0.1e-3",    "1E-4"),
        (".5e1",      "5E0"),
        ("1E+10",     "1E10"),
        ("0e0",       "0E0"),
        ("-0e0",      "0E0"),
        ("1e-400",    "1E-400"),
        ("12345678901234567890123456789012345678e0", "1.234567890123456789E37"),
        ("DECIMAL '-1.5'", "-01.5"),
        ("x'0aFf'",   "X'0AFF'"),
        ("x'00'\n'11'", "X'00'\n'11'"),
        ("'a'\n'é'",  "u&'a\\00e9'"),
        ("u&'\\d800'", "u&'\\d800'"),
        ("N'a'\n'b'", "_ISO-8859-1'a'\n'b'"),
        ("_utf8'é'",  "_UTF8'é'"),
        ("U&'\\+01F600'", "_UTF16'\x1f600'"),
    ],
)  # fmt: skip
def test_literals(text: str, printed: str) -> None:
    assert printed == print_expression(parse_expression(text))


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("",         "''"),
        ("it's",     "'it''s'"),
        ("a\nb",     "'a\nb'"),
        ("a\tb",     "u&'a\\0009b'"),
        ("é",        "u&'\\00e9'"),
        ("é\n",      "u&'\\00e9\\000a'"),
        ("é'\\x",    "u&'\\00e9''\\\\x'"),
        ("😀",       "u&'\\d83d\\de00'"),
        ("\x7f",     "'\x7f'"),
        ("\x80",     "u&'\\0080'"),
    ],
)  # fmt: skip
def test_strings(text: str, printed: str) -> None:
    assert printed == print_string(text)


def test_function_names_as_written_are_quoted() -> None:
    assert "`ifNull`(`a`, `b`)" == print_expression(Call("IFNULL", (A, B), ("ifNull",)))
    assert "IFNULL(`a`, `b`)" == print_expression(Call("IFNULL", (A, B)))
    assert "`x`.`f`() + `a`" == print_expression(Call("+", (Call("F", (), ("x", "f")), A)))


def test_functions_without_parentheses() -> None:
    assert "CURRENT_DATE" == print_expression(Call("CURRENT_DATE"))
    assert "PI" == print_expression(Call("PI", symbol="BARE"))
    assert "PI()" == print_expression(Call("PI"))


def test_each_call_has_one_printer() -> None:
    assert set() == set(LEADING) & set(FORMS)
    assert set(FORMS) >= TRANSPARENT
    assert set() == set(PREFIX) & (set(FORMS) | set(POWERS))


def test_every_kind_of_literal_is_printed() -> None:
    assert set(LiteralKind) == set(LITERALS)
