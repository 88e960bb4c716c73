"""Laws of queries and statements: what is printed is read again; what is refused has a place."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from schema_core.errors import ParseError
from schema_core.sql.parser import parse_query, parse_statement, parse_statements
from schema_core.sql.printer import print_query

#: Words and signs to make noise of.
WORDS = (
    "SELECT", "FROM", "WHERE", "GROUP", "BY", "HAVING", "ORDER", "LIMIT", "UNION", "ALL", "JOIN",
    "LEFT", "ON", "USING", "AS", "WITH", "VALUES", "TABLE", "CREATE", "DROP", "ALTER", "SHOW",
    "USE", "INSERT", "INTO", "SET", "LIKE", "END", "PRIMARY", "KEY", "WATERMARK", "FOR", "NOT",
    "NULL", "INT", "a", "b", "t", "1", "'x'", "`q`", "(", ")", ",", ";", ".", "*", "=", "/*+", "*/",
)  # fmt: skip

names = st.sampled_from(["a", "b", "`c d`", "t.a", "t.r.x", "`select`"])
values = st.sampled_from(["1", "1.5", "'it''s'", "NULL", "TRUE", "DATE '2020-01-01'", "COUNT(*)"])
aliases = st.sampled_from(["", " AS x", " y"])


def binary(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    operator = st.sampled_from(["+", "*", "||", "=", "<>", "AND", "OR", "IS DISTINCT FROM"])
    return st.builds("({} {} {})".format, inner, operator, inner)


expressions = st.recursive(names | values, binary, max_leaves=3)


def items(draw: st.DrawFn) -> str:
    one = st.builds("{}{}".format, expressions, aliases) | st.sampled_from(["*", "t.*"])
    return ", ".join(draw(st.lists(one, min_size=1, max_size=3)))


@st.composite
def blocks(draw: st.DrawFn, inner: st.SearchStrategy[str]) -> str:
    """A SELECT block over tables and queries."""
    join = st.sampled_from([", ", " JOIN ", " CROSS JOIN ", " NATURAL LEFT JOIN "])
    source = st.builds("({}) AS q".format, inner) | st.sampled_from(
        ["t", "c.d.t AS u", "UNNEST(a) AS v (w)", "LATERAL TABLE(f(a)) AS g"]
    )
    text = f"SELECT {draw(st.sampled_from(['', 'DISTINCT ']))}{items(draw)} FROM {draw(source)}"
    for _ in range(draw(st.integers(0, 2))):
        text += draw(join) + draw(source)
    for clause in ("WHERE", "GROUP BY", "HAVING"):
        if draw(st.booleans()):
            text += f" {clause} {draw(expressions)}"
    return text


@st.composite
def larger(draw: st.DrawFn, inner: st.SearchStrategy[str]) -> str:
    """A query made of others."""
    form = draw(
        st.sampled_from(
            [
                "({}) UNION ALL {}",
                "({}) EXCEPT ({})",
                "WITH x AS ({}) ({})",
                "({}) INTERSECT ({}) ORDER BY 1 DESC LIMIT 3",
                "SELECT a FROM t WHERE a IN ({}) OR EXISTS ({})",
            ]
        )
    )
    simple = blocks(st.just("VALUES (1, 'a'), (2, 'b')"))
    return form.format(draw(inner), draw(simple))


queries = st.recursive(
    st.just("VALUES (1), (2)") | blocks(st.just("SELECT 1")),
    lambda inner: blocks(inner) | larger(inner),
    max_leaves=3,
)


@given(queries)
def test_parsing_inverts_printing(text: str) -> None:
    query = parse_query(text)

    assert query == parse_query(print_query(query))


@given(queries)
def test_a_view_is_restored_from_its_expanded_query(text: str) -> None:
    statement = parse_statement(f"CREATE VIEW v AS {text}")

    assert parse_query(text) == getattr(statement, "query", None)


@given(st.text() | st.lists(st.sampled_from(WORDS)).map(" ".join))
def test_a_query_is_parsed_or_refused_with_a_position(text: str) -> None:
    try:
        parse_statements(text)
    except ParseError as error:
        assert all(diagnostic.line > 0 for diagnostic in error.diagnostics)  # noqa: PT017


@given(st.lists(queries, max_size=3), st.lists(st.sampled_from(WORDS)).map(" ".join))
def test_an_error_does_not_hide_other_errors(statements: list[str], noise: str) -> None:
    broken = f"SHOW {noise.replace(';', '')} NOPE"
    script = ";\n".join([broken, *statements, broken])

    try:
        parse_statements(script)
    except ParseError as error:
        assert len(error.diagnostics) == 2  # noqa: PT017
    else:
        raise AssertionError(script)
