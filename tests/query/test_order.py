"""The scope of ORDER BY, by recorded answers of Flink, and its expansion."""

from __future__ import annotations

import pytest

from properties.answers.query import QuestionTables
from schema_core.errors import SchemaCoreError
from schema_core.query.expand import expand_query
from schema_core.query.relation import Relation, Sort, result_columns
from schema_core.query.resolve import resolve_query
from schema_core.sql.parser import parse_query
from schema_core.sql.printer import print_query
from tests.support import cases

TABLES = QuestionTables(
    {
        "tables": {
            "t": "id INT NOT NULL, v STRING, n DECIMAL(7, 2), r ROW<x INT, y STRING>, g INT",
            "u": "id INT NOT NULL, w STRING, g INT",
        }
    },
    streaming=False,
)


def resolved(sql: str) -> Relation:
    return resolve_query(parse_query(sql), TABLES, streaming=False)


def answer(sql: str) -> str:
    """The names of the columns, or ! for a refused query."""
    try:
        return ", ".join(name for name, _ in result_columns(resolved(sql)))
    except SchemaCoreError:
        return "!"


@pytest.mark.parametrize(("given", "expected"), cases("order_by"))
def test_sort_keys_resolve_as_in_flink(given: str, expected: str) -> None:
    query, _, keys = given.partition(" | ")
    answers = {key: answer(f"{query} ORDER BY {key}") for key in keys.split(" ; ")}

    assert dict.fromkeys(answers, expected) == answers


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SELECT id FROM t ORDER BY 2", "invalid-query"),
        ("SELECT id FROM t ORDER BY 0", "invalid-query"),
        ("SELECT id FROM t ORDER BY 2.5", "invalid-query"),
        ("SELECT id, v AS id FROM t ORDER BY id", "ambiguous-column"),
        ("SELECT id AS a, v AS a FROM t ORDER BY a || 'x'", "ambiguous-column"),
        ("SELECT id + 1 FROM t ORDER BY EXPR$0", "unknown-column"),
        ("SELECT id FROM t UNION SELECT id FROM u ORDER BY t.id", "unknown-column"),
        ("SELECT id FROM t UNION SELECT id FROM u ORDER BY MAX(id)", "invalid-grouping"),
        ("SELECT id FROM t ORDER BY MAX(id)", "invalid-grouping"),
        ("SELECT DISTINCT g, COUNT(*) FROM t GROUP BY g ORDER BY MAX(id)", "invalid-grouping"),
        ("SELECT DISTINCT UPPER(v) FROM t ORDER BY v", "invalid-grouping"),
        ("SELECT COUNT(*) FROM t GROUP BY g ORDER BY id", "invalid-grouping"),
    ],
)
def test_codes_of_refused_sort_keys(sql: str, code: str) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        resolved(sql)

    assert code == caught.value.code


@pytest.mark.parametrize(
    ("keys", "names"),
    [
        ("n", ["a", "a1", "b", "a3"]),
        ("1, n", ["a", "a1", "b", "a3"]),
        ("v", ["a", "a0", "b", "a1"]),
        ("1", ["a", "a0", "b", "a1"]),
    ],
)
def test_repeated_names_are_numbered_as_in_flink(keys: str, names: list[str]) -> None:
    relation = resolved(f"SELECT id AS a, v AS a, g AS b, g AS a FROM t ORDER BY {keys}")

    assert names == [name for name, _ in result_columns(relation)]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id FROM t GROUP BY id ORDER BY EXISTS (SELECT 1 FROM u WHERE u.w = t.v)",
        "SELECT id FROM t GROUP BY id ORDER BY (SELECT MAX(w) FROM u WHERE u.w = v)",
        "SELECT id FROM t GROUP BY id ORDER BY id IN (SELECT g FROM u WHERE u.w = t.v)",
    ],
)
def test_columns_within_a_subquery_are_not_checked_as_in_flink(sql: str) -> None:
    """A view of such a query can be created; it is refused when it is run."""
    assert ["id"] == [name for name, _ in result_columns(resolved(sql))]
    with pytest.raises(SchemaCoreError) as caught:
        resolved(sql.replace("ORDER BY ", "ORDER BY v IN (SELECT w FROM u), "))
    assert "invalid-grouping" == caught.value.code


def keys_of(sql: str) -> list[object]:
    relation = resolved(sql)
    assert isinstance(relation, Sort)
    return [key.expression for key in relation.keys]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id + 1 AS id, v FROM t ORDER BY id * 2",
        "SELECT id + 1 AS id, v FROM t ORDER BY t.id * 2",
        "SELECT id AS v, v AS id FROM t ORDER BY -v, UPPER(id)",
        "SELECT g AS k, COUNT(*) AS g FROM t GROUP BY g ORDER BY g + 1, t.g",
        "SELECT id AS k FROM t JOIN u USING (id) ORDER BY v, k",
        "SELECT COALESCE(v, 'x') AS w FROM t JOIN u USING (id) ORDER BY id, t.v",
    ],
)
def test_expanded_query_has_the_same_sort_keys(sql: str) -> None:
    spelled_out = print_query(expand_query(parse_query(sql), TABLES, streaming=False))

    assert keys_of(sql) == keys_of(spelled_out)
