from __future__ import annotations

import pytest

from schema_core.errors import ParseError
from schema_core.sql.parser import parse_query
from schema_core.sql.printer import print_query
from schema_core.sql.syntax import Join, JoinKind, Name, Ordered, Select, SetOperation
from tests.support import cases


@pytest.mark.parametrize(("sql", "expected"), cases("printed_queries"))
def test_printed(sql: str, expected: str) -> None:
    assert expected == print_query(parse_query(sql)).replace("\n", " ")


@pytest.mark.parametrize("sql", [given for given, _ in cases("printed_queries")])
def test_printed_queries_parse_to_the_same_tree(sql: str) -> None:
    query = parse_query(sql)

    assert query == parse_query(print_query(query))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT",
        "SELECT FROM t",
        "SELECT a, FROM t",
        "SELECT a FROM",
        "SELECT 1 WHERE TRUE",
        "SELECT a FROM t WHERE",
        "SELECT a FROM t GROUP a",
        "SELECT a FROM t HAVING b GROUP BY a",
        "SELECT a FROM t ORDER",
        "SELECT a FROM t LIMIT -1",
        "SELECT a FROM t LIMIT x",
        "SELECT a FROM t LIMIT 1, 2",
        "SELECT a FROM t OFFSET 1 LIMIT 2",
        "SELECT a FROM t FETCH FIRST ROW ONLY",
        "SELECT a FROM t ORDER BY a UNION SELECT b FROM t",
        "SELECT a FROM t MINUS SELECT b FROM t",
        "SELECT a AS 'x' FROM t",
        "SELECT TOP 3 a FROM t",
        "SELECT * EXCEPT (a) FROM t",
        "SELECT (t.r).* FROM t",
        "SELECT a FROM t LEFT SEMI JOIN u ON TRUE",
        "SELECT a FROM t JOIN u USING k",
        "SELECT a FROM (t)",
        "SELECT a FROM ((SELECT 1) AS x)",
        "SELECT a FROM t AS x TABLESAMPLE SYSTEM(1) AS y",
        "SELECT a FROM t AS x FOR SYSTEM_TIME AS OF x.ts",
        "SELECT a FROM UNNEST(SELECT 1)",
        "SELECT a FROM TABLE(t)",
        "SELECT /*+ */ a FROM t",
        "SELECT /*+ A B */ a FROM t",
        "VALUES ()",
        "WITH x AS SELECT 1 SELECT 2",
        "WITH x () AS (SELECT 1) SELECT 2",
        "SELECT 1; SELECT 2",
        "INSERT INTO t SELECT 1",
        "SELECT 'open",
    ],
)
def test_refused(sql: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_query(sql)

    assert caught.value.span is not None


def test_intersect_binds_more_tightly_than_union() -> None:
    query = parse_query("SELECT 1 UNION SELECT 2 INTERSECT SELECT 3 EXCEPT SELECT 4")

    assert isinstance(query, SetOperation)
    assert "EXCEPT" == query.operator
    assert isinstance(query.left, SetOperation)
    assert "UNION" == query.left.operator
    assert isinstance(query.left.right, SetOperation)
    assert "INTERSECT" == query.left.right.operator


def test_commas_bind_more_loosely_than_joins() -> None:
    query = parse_query("SELECT 1 FROM a JOIN b ON TRUE, c")

    assert isinstance(query, Select)
    assert isinstance(query.source, Join)
    assert query.source.kind is JoinKind.COMMA
    assert isinstance(query.source.left, Join)


def test_spans_are_offsets_into_the_text() -> None:
    text = "SELECT a,\n  t.b c FROM t ORDER BY 1"
    query = parse_query(text)

    assert isinstance(query, Ordered)
    assert isinstance(query.query, Select)
    item = query.query.items[1]
    assert "t.b c" == text[item.span.start : item.span.stop]
    assert isinstance(item.expression, Name)
    assert "t.b" == text[item.expression.span.start : item.expression.span.stop]
    assert text == text[query.span.start : query.span.stop]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM " + "(" * 5_000 + "SELECT 1" + ")" * 5_000,
        "(" * 5_000 + "SELECT 1" + ")" * 5_000,
        "SELECT 1 FROM t GROUP BY " + "GROUPING SETS (" * 5_000,
        "WITH x AS (" * 5_000,
    ],
)
def test_deep_nesting_is_refused(text: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_query(text)

    assert caught.value.code == "limit-exceeded"


def test_long_chains_are_not_nested() -> None:
    unions = " UNION ALL ".join(["SELECT 1"] * 3_000)
    joins = "SELECT 1 FROM a" + " JOIN b ON TRUE" * 3_000

    for text in (unions, joins):
        query = parse_query(text)
        assert parse_query(print_query(query)).__class__ is query.__class__
