"""Masking of excerpts of statements, and its time."""

from __future__ import annotations

import pytest

from schema_core.masking import mask_text
from tests.support import processor_time


@pytest.mark.parametrize(
    "text",
    [
        "WITH x AS (SELECT 1 AS a) SELECT * FROM x WHERE a = 'b'",
        "UPDATE t SET a = 'x', b = 'y' WHERE c = 'z'",
        "EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT 'x'; END",
        "CREATE TABLE t (a CHAR(3) CHARACTER SET latin1 COMMENT 'x', token STRING)",
        "CREATE TABLE l LIKE t (EXCLUDING OPTIONS INCLUDING WATERMARKS)",
        "SELECT 'it''s', `with`, TIME '12:30:00', a % 2 FROM t WHERE (b = 'c')",
        "SELECT tokens FROM t -- it's a comment: with options\nWHERE a = 'b'",
    ],
)
def test_other_literals_are_not_masked_in_an_excerpt(text: str) -> None:
    assert text == mask_text(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("WITH ('a' = 'b') AS SELECT 'c'", "WITH ('a' = ***) AS SELECT 'c'"),
        ("OPTIONS('a'='b') */ WHERE c = 'd'", "OPTIONS('a'=***) */ WHERE c = 'd'"),
        ("SET 'a' = 'b'; SELECT 'c'", "SET 'a' = ***; SELECT 'c'"),
        ("SET a.b = c d; SELECT 'c'", "SET *** = * *; SELECT 'c'"),
        ("WITH ('a' 'b') AS SELECT 'c'", "WITH (*** ***) ** ****** ***"),
        ("WITH (a = 'b'); SELECT 'c'", "WITH (* = ***); SELECT 'c'"),
        ("WITH ('a' = ; 'b'); 'c' = 'd'", "WITH (*** = ; ***); *** = ***"),
        ("WITH ('a' = 'b'), 'c' = 'd'", "WITH (*** = ***), *** = ***"),
        ("WITH ('a' = 'b\nc')", "WITH ('a' = **\n**)"),
        ("t ('password' = 'b')", "t ('password' = ***)"),
        ("IDENTIFIED BY PASSWORD 'b'", "IDENTIFIED BY PASSWORD ***"),
        ("ADD JAR 'https://a:b@c/d.jar'", "ADD JAR *********************"),
        ("SELECT 'a' WITH ('b", "SELECT *** **** ***"),
    ],
)
def test_option_values_are_masked_in_an_excerpt(text: str, shown: str) -> None:
    assert shown == mask_text(text)


@pytest.mark.parametrize(
    "unit",
    [
        "WITH ('a' = 'b') ", "WITH (", "SET ", "( 'k' = ", "'", "''", '"', "`", "/*", "/* */",
        "--\n", "=", "a.", "a = ", "password", "a://", "://", "@", "%3D", " ", "e'\\' ", "-", ";",
        "U&'",
    ],
)  # fmt: skip
def test_masking_an_excerpt_is_linear(unit: str) -> None:
    text = (unit * 100_000)[:100_000]

    assert processor_time(lambda: mask_text(text), 3) < 3
