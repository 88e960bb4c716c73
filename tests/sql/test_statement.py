from __future__ import annotations

import pytest

from schema_core.base.text import Span
from schema_core.errors import ParseError
from schema_core.sql import statement_syntax as parts
from schema_core.sql.parser import parse_query, parse_statement, parse_statements
from schema_core.sql.printer import print_query
from schema_core.sql.statement_syntax import (
    Alter,
    CreateTable,
    CreateView,
    Insert,
    SetOption,
    Show,
    UseDatabase,
)
from tests.support import cases


@pytest.mark.parametrize(("text", "expected"), cases("statements"))
def test_statement(text: str, expected: str) -> None:
    if expected.startswith("! "):
        with pytest.raises(ParseError) as caught:
            parse_statement(text)
        assert expected == f"! {caught.value.code}"
        assert caught.value.span is not None
        assert text == caught.value.text
    else:
        assert expected == type(parse_statement(text)).__name__


def table(text: str) -> CreateTable:
    statement = parse_statement(text)
    assert isinstance(statement, CreateTable)
    return statement


def change(text: str) -> parts.Change:
    statement = parse_statement(text)
    assert isinstance(statement, Alter)
    return statement.change


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("'a' 'b'", "ab"),
        ("'a'\n'b'", "ab"),
        ("'a' /* x */ 'b' -- y\n 'c'", "abc"),
        (r"U&'\0061' 'x\0062'", "axb"),
        ("U&'#0061' '#0062' UESCAPE '#'", "ab"),
        (r"e'a\tb'", "a\tb"),
        ("_UTF16'a' 'b'", "ab"),
        ("N'a'", "a"),
    ],
)
def test_strings_of_properties_and_plan_paths(written: str, expected: str) -> None:
    """Flink validates only strings of queries: others may continue on the same line."""
    (option,) = table(f"CREATE TABLE t (a INT) WITH ({written} = {written})").options
    assert (expected, expected) == (option.key, option.value)
    plan = parse_statement(f"COMPILE PLAN {written} FOR INSERT INTO t SELECT 1")
    assert isinstance(plan, parts.CompilePlan)
    executed = parse_statement(f"EXECUTE PLAN {written}")
    assert isinstance(executed, parts.ExecutePlan)
    assert (expected, expected) == (plan.path, executed.path)
    assigned = parse_statement(f"SET {written} = {written}")
    assert isinstance(assigned, SetOption)
    assert (expected, expected) == (assigned.key, assigned.value)


@pytest.mark.parametrize(
    "text",
    [
        "CREATE TABLE t (a INT) WITH ('k' = e'a' 'b')",
        "CREATE TABLE t (a INT) WITH ('k' = 'a' U&'b')",
        "CREATE TABLE t (a INT) WITH ('k' = 'a' UESCAPE '#')",
        "CREATE TABLE t (a INT COMMENT 'a' 'b')",
        "SHOW TABLES LIKE 'a' 'b'",
        "SELECT e'a'\n'b'",
        "SELECT U&'#0061' UESCAPE '#'\n'b'",
        "SELECT U&'\\0061' 'b'",
    ],
)
def test_strings_that_do_not_continue(text: str) -> None:
    with pytest.raises(ParseError):
        parse_statement(text)


def test_keys_of_any_kind_are_reset_and_hinted() -> None:
    reset = change(r"ALTER TABLE t RESET (U&'\006b', e'l')")
    assert isinstance(reset, parts.ResetOptions)
    assert ("k", "l") == reset.keys
    hinted = parse_query(r"SELECT * FROM t /*+ OPTIONS(U&'\006b' = N'v') */")
    assert "('k' = 'v')" in print_query(hinted)


def test_every_piece_of_a_string_with_escapes_is_decoded() -> None:
    read = parse_query("SELECT U&'#0061'\n'#0062' UESCAPE '#' FROM t")
    assert "SELECT _UTF16'a'\n'b'" in print_query(read)


def test_all_clauses_of_create_table() -> None:
    statement = table(
        "CREATE TABLE c.d.t (a INT NOT NULL COMMENT 'x', b AS a + 1,"
        " m INT METADATA FROM 'k' VIRTUAL,"
        " WATERMARK FOR ts AS ts, PRIMARY KEY (a) NOT ENFORCED) COMMENT 'about'"
        " DISTRIBUTED BY RANGE(a) INTO 4 BUCKETS PARTITIONED BY (a, b) WITH ('k' = 'v', 'k' = 'w')"
    )

    a, b, m = statement.elements.columns
    assert isinstance(a, parts.PhysicalColumn)
    assert ("INTEGER", False, "x") == (a.type.keyword, a.type.nullable, a.comment)
    assert isinstance(b, parts.ComputedColumn)
    assert isinstance(m, parts.MetadataColumn)
    assert ("k", True) == (m.metadata_key, m.is_virtual)
    assert statement.elements.watermark is not None
    assert ["PRIMARY KEY"] == [constraint.kind for constraint in statement.elements.constraints]
    assert ("c", "d", "t") == statement.path.parts
    assert "about" == statement.comment
    assert statement.distribution is not None
    assert ("RANGE", 4) == (statement.distribution.kind, statement.distribution.buckets)
    assert ["a", "b"] == [name.parts[0] for name in statement.partition_keys]
    assert [("k", "v"), ("k", "w")] == [(option.key, option.value) for option in statement.options]


def test_primary_key_of_a_column_is_a_constraint_of_the_table() -> None:
    (constraint,) = table(
        "CREATE TABLE t (a INT, b INT PRIMARY KEY NOT ENFORCED)"
    ).elements.constraints

    assert ("PRIMARY KEY", None, ["b"]) == (
        constraint.kind,
        constraint.name,
        [name.parts[0] for name in constraint.columns],
    )


def test_positions_of_added_columns() -> None:
    added = change("ALTER TABLE t ADD (a INT FIRST, r.x INT AFTER r.y, c INT)")

    assert isinstance(added, parts.AddElements)
    assert [(("a",), True, None), (("r", "x"), False, ("r", "y")), (("c",), False, None)] == [
        (column.name.parts, column.first, column.after.parts if column.after else None)
        for column in added.columns
    ]


def test_show_with_path_and_pattern() -> None:
    statement = parse_statement("SHOW DATABASES IN c NOT ILIKE 'x_%'")

    assert isinstance(statement, Show)
    assert ("DATABASES", "IN", ("c",)) == (
        statement.subject,
        statement.preposition,
        statement.path.parts if statement.path else None,
    )
    assert statement.pattern is not None
    assert ("x_%", True, True) == (
        statement.pattern.text,
        statement.pattern.ignore_case,
        statement.pattern.negated,
    )


def test_session_options_without_quotes() -> None:
    assert SetOption("a.b-c", "x.y") == parse_statement("SET a.b-c = x.y;")


def test_span_of_the_query_of_a_view() -> None:
    text = "CREATE VIEW v AS  SELECT a -- why\n FROM t ;"
    statement = parse_statement(text)

    assert isinstance(statement, CreateView)
    span = statement.query.span
    assert "SELECT a -- why\n FROM t" == text[span.start : span.stop]


def test_spans_in_a_script() -> None:
    text = "USE a;\n;INSERT INTO t SELECT 1;\nUSE b"
    first, insert, last = parse_statements(text)

    assert isinstance(insert, Insert)
    assert isinstance(last, UseDatabase)
    assert ["USE a", "INSERT INTO t SELECT 1", "USE b"] == [
        text[item.span.start : item.span.stop] for item in (first, insert, last)
    ]
    assert Span(text.rindex("b"), len(text)) == last.path.span


def test_all_errors_of_a_script_are_reported() -> None:
    text = "USE 1;\nSELECT a FROM;\nSHOW TABLES;\nCREATE TABLE t (a INT, PRIMARY KEY (a));\nDROP 'x"

    with pytest.raises(ParseError) as caught:
        parse_statements(text)

    result = caught.value.diagnostics
    assert [(1, 5), (2, 14), (4, 24), (5, 6)] == [(item.line, item.column) for item in result]
    assert ["syntax", "syntax", "invalid-constraint", "syntax"] == [
        diagnostic.code for diagnostic in result
    ]


def test_error_within_a_statement_set_ends_the_set() -> None:
    with pytest.raises(ParseError) as caught:
        parse_statements("EXECUTE STATEMENT SET BEGIN INSERT INTO t SELEC 1; END; USE a")

    assert "syntax" == caught.value.code


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "CREATE TABLE t (a INT NOT NULL) WITH ('k' = 'v', 'token' = 'x')",
            (
                "CREATE TABLE: (path: [`t`], elements: [ELEMENTS: (columns: [PHYSICAL COLUMN: "
                "(name: [a], type: [INTEGER NOT NULL])])], options: [k=v, token=******])"
            ),
        ),
        (
            "SHOW TABLES FROM d LIKE 'x%'",
            "SHOW TABLES: (path: [`d`], preposition: [FROM], pattern: [PATTERN: (text: [x%])])",
        ),
        ("SET 'my.password' = 'x'", "SET OPTION: (key: [my.password], value: [******])"),
        (
            "INSERT INTO t /*+ OPTIONS('password' = 'x') */ SELECT 1",
            "INSERT: (path: [`t`], query: [SELECT 1], hints: [OPTIONS(password=******)])",
        ),
        ("EXPLAIN SELECT 1", "EXPLAIN: (statement: [SELECT STATEMENT: (query: [SELECT 1])])"),
        ("USE CATALOG c", "USE CATALOG: (path: [`c`])"),
        ("DESCRIBE EXTENDED t", "DESCRIBE TABLE: (path: [`t`], extended: [true])"),
    ],
)
def test_summary_of_a_statement(text: str, expected: str) -> None:
    assert expected == parse_statement(text).as_summary_string()
