"""Which columns of enclosing queries a subquery reads."""

from __future__ import annotations

import pytest

from properties.answers.query import QuestionTables
from schema_core.query.relation import Select, columns_of, columns_read, is_own, outer_columns
from schema_core.query.resolve import resolve_query
from schema_core.sql.parser import parse_query

TABLES = QuestionTables(
    {"tables": {"t": "a INT, b INT, c ARRAY<INT>", "s": "x INT, y INT"}}, streaming=False
)


def block(sql: str) -> Select:
    result = resolve_query(parse_query(sql), TABLES, streaming=False)
    assert isinstance(result, Select)
    return result


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT x FROM s", []),
        ("SELECT x FROM s AS t WHERE t.x = 1", []),
        ("SELECT x FROM s WHERE x = t.a OR y = b", ["a", "b"]),
        ("SELECT t.b FROM s", ["b"]),
        ("SELECT x FROM s GROUP BY x, t.a HAVING MAX(y) > t.b", ["a", "b"]),
        ("SELECT SUM(x) FILTER (WHERE y > t.a) FROM s", ["a"]),
        ("SELECT SUM(x) OVER (PARTITION BY t.a ORDER BY y) FROM s", ["a"]),
        ("SELECT x FROM (SELECT x FROM s WHERE y = t.a) AS q", ["a"]),
        ("SELECT 1 FROM s JOIN s AS q ON s.x = q.x AND q.y = t.a", ["a"]),
        ("SELECT x FROM s UNION ALL SELECT t.a UNION ALL VALUES (b)", ["a", "b"]),
        ("SELECT x FROM s ORDER BY y + t.a", ["a"]),
        ("SELECT z FROM UNNEST(t.c) AS u (z)", ["c"]),
        (
            "SELECT x FROM s WHERE EXISTS (SELECT 1 FROM s AS q WHERE q.x = s.x AND q.y = t.a)",
            ["a"],
        ),
        ("WITH q AS (SELECT x FROM s WHERE y = t.a) SELECT x FROM q", ["a"]),
    ],
)
def test_columns_of_the_enclosing_query(query: str, expected: list[str]) -> None:
    result = block(f"SELECT 1 FROM t WHERE EXISTS ({query})")
    assert result.where is not None
    read = list(columns_read(result.where))

    assert expected == sorted({column.name for column in read})
    assert all(is_own(column, columns_of(result.source)) for column in read)
    assert [] == list(outer_columns(result))


def test_grouping_keys_are_not_correlated_columns() -> None:
    result = block("SELECT 1 FROM t GROUP BY a + 1 HAVING EXISTS (SELECT 1 FROM s WHERE x = a + 1)")
    assert result.having is not None
    assert result.grouping is not None

    assert ["a"] == [column.name for column in columns_read(result.having)]
    assert [] == list(columns_read(result.having, result.grouping.keys))


def test_long_chains_are_read_without_recursion() -> None:
    chain = " UNION ALL ".join(["SELECT x FROM s"] * 2_000)
    result = block(f"SELECT 1 FROM t WHERE EXISTS ({chain} UNION ALL SELECT t.a)")
    assert result.where is not None

    assert ["a"] == [column.name for column in columns_read(result.where)]
