"""Masking of excerpts of statements, and its time."""

from __future__ import annotations

import pytest

from schema_core.base.secrets import mask_text
from schema_core.environment.options import ConfigOption
from schema_core.errors import SchemaCoreError
from schema_core.mappings.dialects.api import read_tables
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
        "WITH ('connector' = 'kafka', 'topic' = 'a b', 'key.fields' = 'id') AS SELECT 'c'",
        "SET 'table.exec.state.ttl' = '1 h'; SET 'a' = 'b'",
        "OPTIONS('path' = 'abfss://data@account.dfs.core.windows.net/x') */ WHERE b = 'c",
        "CREATE FUNCTION f AS $$ it's $$ LANGUAGE x; CREATE TABLE t (token STRING, pass_rate INT)",
        "SELECT `passed`, compass, bypass FROM t WHERE passed = 'b' AND compass = 'c",
        "-- the token of the table is 'x\nSELECT 'a' 'b'",
        "SELECT tokens FROM t -- it's a comment: with options\nWHERE a = 'b'",
    ],
)
def test_other_literals_are_not_masked_in_an_excerpt(text: str) -> None:
    assert text == mask_text(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "WITH ('a' = 'b', 'pw' = 'b') AS SELECT 'c'",
            "WITH ('a' = 'b', 'pw' = ***) AS SELECT 'c'",
        ),
        ("OPTIONS('pw'='b') */ WHERE c = 'd'", "OPTIONS('pw'=***) */ WHERE c = 'd'"),
        ("SET 'pw' = 'b'; SELECT 'c'", "SET **** = ***; SELECT 'c'"),
        ("SET a.pw = c d; SELECT 'c'", "SET **** = * *; SELECT 'c'"),
        ("SET a.b = c d; SELECT 'c'", "SET *** = * *; SELECT 'c'"),
        ("WITH ('pw' 'b') AS SELECT 'c'", "WITH (**** ***) ** ****** ***"),
        ("WITH (pw = 'b'); SELECT 'c'", "WITH (** = ***); SELECT 'c'"),
        ("WITH ('pw' = ; 'b'); 'c' = 'd'", "WITH (**** = ; ***); *** = ***"),
        ("WITH ('pw' = 'b'), 'c' = 'd'", "WITH (**** = ***), *** = ***"),
        ("WITH ('a' = 'b', = 'c', 'd' = 'e')", "WITH ('a' = 'b', = ***, 'd' = 'e')"),
        ("WITH ('a' = 'b' 'c' = 'd')", "WITH ('a' = 'b' 'c' = 'd')"),
        ("WITH ('a' = 'b', 'pw' 'c' = 'd')", "WITH ('a' = 'b', **** *** = ***)"),
        ("WITH ('passw' 'ord' = 'b')", "WITH (******* ***** = ***)"),
        ("WITH (U&'p!0077' UESCAPE '!' = 'b')", "WITH (********** ******* *** = ***)"),
        ("WITH ('pw' = 'b\nc')", "WITH ('pw' = **\n**)"),
        ("WITH ('a' = 'https://a:b@c')", "WITH ('a' = ***************)"),
        ("SELECT 'a' WHERE token = 'b' AND c = 'd'", "SELECT 'a' WHERE token = *** AND c = 'd'"),
        ("SELECT 'a' WHERE token = t.b AND c = 'd'", "SELECT 'a' WHERE token = *** AND c = 'd'"),
        ("CALL p(pw => 'b', c => 'd')", "CALL p(pw => ***, c => 'd')"),
        ("IDENTIFIED BY 'b' c", "IDENTIFIED BY *** c"),
        ("-- the password bcde of c\nSELECT 1", "-- the password **** of c\nSELECT 1"),
        ("-- pw: b c\nSELECT 1", "-- *******\nSELECT 1"),
        ("t ('password' = 'b')", "t ('password' = ***)"),
        ("IDENTIFIED BY PASSWORD 'b'", "IDENTIFIED BY PASSWORD ***"),
        ("ADD JAR 'https://a:b@c/d.jar'", "ADD JAR *********************"),
        ("SELECT 'a' WITH ('pw' = 'b", "SELECT 'a' WITH (*********"),
        ("SELECT 'a' $$ 'pw' = b' $$; SELECT 'c'", "SELECT 'a' $$ '*************SELECT 'c'"),
    ],
)
def test_option_values_are_masked_in_an_excerpt(text: str, shown: str) -> None:
    assert shown == mask_text(text)


def test_a_key_that_an_option_declares_secret_is_masked_in_every_excerpt() -> None:
    text = "CREATE TABLE t (a INT) WITH ('rare-number' = '12', 'number' = '12')"

    assert text == mask_text(text)

    ConfigOption("Rare-Number", str, secret=True)

    assert text.replace("'12'", "****", 1) == mask_text(text)


def test_a_script_with_dollar_quotes_and_an_odd_quote_after_the_error_is_shown() -> None:
    script = """CREATE CAST ("s"."part" AS text) WITH FUNCTION "s"."f"("s"."part") AS IMPLICIT;
    AS $$
    $$ LANGUAGE plpgsql VOLATILE;
    AS $function$
        'CREATE FUNCTION history.%I(timestamp with time zone)
    $function$ LANGUAGE sql STABLE;
    """

    assert script == mask_text(script)
    with pytest.raises(SchemaCoreError) as caught:
        read_tables(script, "postgres", strict=True)
    assert "hidden value" not in str(caught.value)
    assert "***" not in str(caught.value)


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
