from __future__ import annotations

import pytest

from schema_core.errors import SchemaCoreError, within
from schema_core.query import relation as relational
from schema_core.query.expand import expand_query
from schema_core.query.relation import Relation, result_columns
from schema_core.query.resolve import resolve_query
from schema_core.sql.parser import parse_query
from schema_core.sql.printer import print_query
from schema_core.types import parse_type
from tests.query.tables import ExampleTables
from tests.support import cases


def resolved(sql: str) -> Relation:
    return resolve_query(parse_query(sql), ExampleTables())


def shown(sql: str) -> list[str]:
    return [f"{name} {type_.as_summary_string()}" for name, type_ in result_columns(resolved(sql))]


def expected_columns(text: str) -> list[str]:
    """Expected columns with their full types."""
    result = []
    for column in text.split("; "):
        name, _, spelled = column.partition(" ")
        plain, star, kind = spelled.partition(" *")
        result.append(f"{name} {parse_type(plain).as_summary_string()}{star}{kind}")
    return result


@pytest.mark.parametrize(("sql", "expected"), cases("queries"))
def test_columns(sql: str, expected: str) -> None:
    if expected.startswith("! "):
        with pytest.raises(SchemaCoreError) as caught:
            resolved(sql)
        assert expected == f"! {caught.value.code}"
    else:
        assert expected_columns(expected) == shown(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 FROM dept" + "".join(f" LEFT JOIN dept AS d{i} ON TRUE" for i in range(256)),
        "SELECT 1" + " UNION ALL SELECT 1" * 256,
    ],
    ids=["joins", "unions"],
)
def test_longest_chains_are_resolved_and_expanded(sql: str) -> None:
    query = parse_query(sql)

    assert 1 == len(list(result_columns(resolve_query(query, ExampleTables()))))
    assert print_query(expand_query(query, ExampleTables()))


@pytest.mark.parametrize("join", [" CROSS JOIN dept", ", dept", " LEFT JOIN dept ON TRUE"])
def test_longer_chains_of_joins_are_refused(join: str) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        resolved("SELECT 1 FROM dept" + join * 5_000)

    assert "limit-exceeded" == caught.value.code


def test_error_has_the_span_of_its_cause() -> None:
    sql = "SELECT ename,\n  salary FROM emp"

    with pytest.raises(SchemaCoreError) as caught, within(sql):
        resolved(sql)

    (diagnostic,) = caught.value.diagnostics
    assert (2, 3) == (diagnostic.line, diagnostic.column)
    assert "did you mean 'sal'?" == diagnostic.hint
    assert ("column 'salary'",) == diagnostic.path


def test_columns_refer_to_the_alias_of_their_source() -> None:
    relation = resolved("SELECT loc, n FROM dept, (SELECT 1 AS n)")

    assert isinstance(relation, relational.Select)
    (loc, n) = [item.expression for item in relation.items]
    assert isinstance(relation.source, relational.Join)
    left, right = relation.source.left, relation.source.right
    assert isinstance(left, relational.Named)
    assert isinstance(right, relational.Named)
    assert (left.alias, right.alias) == (
        getattr(loc, "relation", None),
        getattr(n, "relation", None),
    )


def test_using_becomes_an_equation() -> None:
    relation = resolved("SELECT 1 FROM emp JOIN dept USING (deptno)")

    assert isinstance(relation, relational.Select)
    assert isinstance(relation.source, relational.Join)
    condition = relation.source.condition
    assert condition is not None
    assert "BOOLEAN NOT NULL" == str(condition.type)


def test_grouping_sets_are_positions_among_the_keys() -> None:
    relation = resolved("SELECT 1 FROM emp GROUP BY deptno, ROLLUP (ename, (empno, sal))")

    assert isinstance(relation, relational.Select)
    assert relation.grouping is not None
    assert 4 == len(relation.grouping.keys)
    assert ((0, 1, 2, 3), (0, 1), (0,)) == relation.grouping.sets


def test_sort_keys_are_result_columns_or_expressions() -> None:
    relation = resolved("SELECT loc AS l FROM dept ORDER BY l DESC, deptno NULLS LAST LIMIT 2")

    assert isinstance(relation, relational.Sort)
    output, below = relation.keys
    assert (None, True, None) == (
        getattr(output.expression, "relation", ""),
        output.descending,
        output.nulls_last,
    )
    assert ("dept", True) == (getattr(below.expression, "relation", ""), below.nulls_last)
    assert 2 == relation.fetch


def test_long_chain_of_unions_needs_no_recursion() -> None:
    chain = " UNION ALL ".join(["SELECT 1"] * 2_000)

    assert ["EXPR$0 INT NOT NULL"] == shown(chain)


def test_proctime_is_a_time_attribute_in_batch_mode() -> None:
    query = parse_query("SELECT PROCTIME() AS p")

    shown_types = {
        result_columns(resolve_query(query, ExampleTables(), streaming=streaming))[
            0
        ].type.as_summary_string()
        for streaming in (True, False)
    }

    assert {"TIMESTAMP_LTZ(3) NOT NULL *PROCTIME*"} == shown_types
