"""Expression trees, the templates that build them, and the SQL that is printed of them."""

from __future__ import annotations

import pytest

from schema_core.errors import UnsupportedError
from schema_core.spark.compiler.template import inline, sql, template
from schema_core.spark.compiler.tree import (
    ALWAYS,
    IF_TOTAL,
    MAX_SQL_LENGTH,
    NEVER,
    Aggregate,
    Column,
    Fact,
    Lifting,
    Literal,
    Node,
    Projection,
    PythonUdf,
    Subquery,
    UserSql,
    call,
    function,
    is_simple,
    let,
    let_all,
    operator,
    same,
    to_sql,
)

A, B = Column("a"), Column("b")

#: A value that is too long to be repeated and cannot fail; one that may fail; a UDF.
LONG = call("concat", A, "a string that is much longer than what is repeated")
FAILING = call("from_json", LONG, "a INT")
UDF = PythonUdf("f", (A,))


def lifting_to(mode: int = ALWAYS) -> tuple[Projection, Lifting]:
    lifted = Projection()
    return lifted, Lifting(mode, own=(lifted,))


def twice(value: Node) -> Node:
    return let(value, lambda v: operator("=", v, v))


@pytest.mark.parametrize(
    "text",
    [
        "`a` + `b` * 2",
        "(`a` + `b`) * 2",
        "`a` - (`b` - 1)",
        "`a` - `b` - 1",
        "- (`a` + 1)",
        "NOT `a` = `b` AND (`a` OR `b`)",
        "(`a` AND `b`) IS NULL",
        "NOT (`a` OR `b`) IS NOT TRUE",
        "`a` IN (1, 2) AND `b` NOT BETWEEN 1 AND 1 + 2",
        "(`a` = `b`) IN (TRUE)",
        "CASE WHEN `a` THEN 1 ELSE 2L END + 4e18",
        "CAST(`a` AS DECIMAL(38, 0)) DIV try_cast(`b` AS INTERVAL MONTH)",
        "filter(`a`, the_x1 -> exists(`b`, (the_x2, the_x3) -> the_x2 = the_x1)).`f`[0]",
        "TIMESTAMP'2020-01-01 00:00:00' <=> NULL",
        "- -1",
    ],
)
def test_a_template_is_printed_unchanged(text: str) -> None:
    assert text == to_sql(template(text)({}))


@pytest.mark.parametrize("text", ["f(", "{a} +", "a + 1", "{a} ? {b}", "CASE {a} END", "x -> y"])
def test_an_invalid_template_raises_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"template|found"):
        template.__wrapped__(text)


def test_operands_are_parenthesized_by_precedence() -> None:
    either = operator("OR", A, B)

    assert "(`a` OR `b`) AND `a`" == to_sql(operator("AND", either, A))
    assert "(`a` OR `b`).`f`" == to_sql(sql("{v}.`f`", v=either))
    assert "(-1)[0]" == to_sql(sql("{v}[0]", v=-1))
    assert "`a` * (x + 1)" == to_sql(operator("*", A, UserSql(("x + 1",))))


def test_an_argument_used_twice_becomes_a_let() -> None:
    assert "`a` + `a`" == to_sql(sql("{v} + {v}", v=A))
    assert "`a` * 2 + `a` * 2" == to_sql(sql("{v} + {v}", v=operator("*", A, 2)))
    assert 1 == to_sql(sql("{v} = {v}", v=LONG)).count("concat")
    assert 2 == to_sql(inline("{v} = {v}", v=LONG)).count("concat")


def test_lambdas_within_lambdas_have_variables_of_their_own() -> None:
    inner = function(lambda y: operator("=", y, 1))
    outer = function(lambda x: call("exists", x, inner))

    assert "filter(`a`, the_x1 -> exists(the_x1, the_x2 -> the_x2 = 1))" == to_sql(
        call("filter", A, outer)
    )


# --- let ---------------------------------------------------------------------------------------


def test_always_evaluated_values_are_lifted() -> None:
    lifted, lifting = lifting_to()

    assert "`the_let_1` = `the_let_1`" == to_sql(twice(FAILING), lifting)
    assert f" JOIN LATERAL (SELECT {to_sql(FAILING)} AS `the_let_1`) AS `the_let_1_of`" == (
        lifted.laterals()
    )


def test_equal_values_share_a_column() -> None:
    lifted, lifting = lifting_to()

    assert to_sql(twice(LONG), lifting) == to_sql(twice(LONG), lifting)
    assert 1 == len(lifted.columns)


def test_dependent_values_are_lifted_in_order() -> None:
    lifted, lifting = lifting_to()
    outer = let(twice(LONG), lambda v: call("if", v, call("concat", "x" * 60, v), v))
    to_sql(let(outer, lambda v: operator("=", v, v)), lifting)

    first, second = lifted.columns
    assert "`the_let_1`" in second
    assert "concat" in first


@pytest.mark.parametrize(
    ("value", "mode", "lifted"),
    [
        (LONG, ALWAYS, True),
        (LONG, IF_TOTAL, True),
        (LONG, NEVER, False),
        (FAILING, ALWAYS, True),
        (FAILING, IF_TOTAL, False),
        (UDF, IF_TOTAL, True),
        (PythonUdf("f", (A,), total=False), IF_TOTAL, False),
        (PythonUdf("f", (A,), deterministic=False), ALWAYS, False),
        (Subquery("(SELECT 1)"), ALWAYS, False),
        (Aggregate("sum", (LONG,)), ALWAYS, False),
    ],
)
def test_lifting_by_mode(value: Node, mode: int, lifted: bool) -> None:
    columns, lifting = lifting_to(mode)
    to_sql(twice(value), lifting)

    assert lifted == bool(columns.columns)


@pytest.mark.parametrize(
    "branch",
    [
        call("if", A, twice(FAILING), 1),
        call("coalesce", A, twice(FAILING)),
        operator("AND", A, twice(FAILING)),
        template("CASE WHEN {a} THEN {v} END")({"a": A, "v": twice(FAILING)}),
        template("CASE WHEN {a} THEN 1 WHEN {v} THEN 2 END")({"a": A, "v": twice(FAILING)}),
    ],
)
def test_values_that_may_fail_are_not_lifted_out_of_a_branch(branch: Node) -> None:
    lifted, lifting = lifting_to()

    assert "transform(array(" in to_sql(branch, lifting)
    assert not lifted.columns


def test_the_first_condition_is_always_evaluated() -> None:
    lifted, lifting = lifting_to()
    to_sql(call("if", twice(FAILING), 1, 2), lifting)

    assert 1 == len(lifted.columns)


def test_nothing_is_lifted_out_of_a_lambda() -> None:
    lifted, lifting = lifting_to()
    node = call("transform", A, function(lambda x: twice(call("concat", x, LONG))))

    assert "the_x1 -> transform(array(" in to_sql(node, lifting)
    assert not lifted.columns


def test_several_values_are_fields_of_one_lambda() -> None:
    node = let_all([LONG, FAILING], lambda x, y: operator("OR", x, y, x, y))

    assert 1 == to_sql(node).count("->")
    assert "the_x1.`0` OR the_x1.`1`" in to_sql(node)


@pytest.mark.parametrize("part", [UDF, Subquery("(SELECT 1)"), Aggregate("sum", (A,))])
def test_udfs_and_subqueries_are_not_put_in_lambdas(part: Node) -> None:
    node = let(LONG, lambda v: call("concat", v, part, v))

    assert "->" not in to_sql(node)


def test_nondeterministic_values_are_computed_once() -> None:
    value = PythonUdf("f", (A,), deterministic=False)

    assert 1 == to_sql(twice(value)).count("f(")


# --- facts and bounds ----------------------------------------------------------------------------


def test_facts_are_inherited_from_children() -> None:
    node = operator("+", call("abs", UDF), Subquery("(SELECT 1)"))

    assert node.facts & Fact.UDF
    assert node.facts & Fact.SUBQUERY
    assert not call("abs", A).facts & Fact.RAISES
    assert call("rlike", A, "x").facts & Fact.RAISES == 0
    assert call("rlike", A, B).facts & Fact.RAISES


def test_subquery_outside_of_a_lambda_has_no_fact_of_lambdas() -> None:
    query = Subquery("(SELECT 1)")
    is_one = function(lambda x: operator("=", x, 1))

    assert call("filter", query, is_one).facts & Fact.SUBQUERY_IN_LAMBDA
    assert not operator("=", call("filter", A, is_one), query).facts & Fact.SUBQUERY_IN_LAMBDA


def test_columns_and_constants_are_simple() -> None:
    simple = [A, Literal(1), sql("{v}.`f`", v=A), sql("CAST(1 AS BIGINT)")]

    assert all(map(is_simple, simple))
    assert not is_simple(sql("CAST({v} AS BIGINT)", v=A))


def test_nodes_with_equal_sql_are_the_same() -> None:
    assert same(operator("+", A, B), operator("+", Column("a"), B))
    assert not same(operator("+", A, B), operator("+", B, A))


def test_a_deep_tree_is_printed_without_recursion() -> None:
    node: Node = A
    for _ in range(5_000):
        node = call("concat", node, B)

    assert to_sql(node).endswith("`b`)")


def test_values_are_repeated_up_to_the_bound() -> None:
    node: Node = UDF
    for _ in range(40):
        node = let(node, lambda v: call("concat", v, UDF, v))
    with pytest.raises(UnsupportedError) as caught:
        to_sql(node)

    assert "not-executable" == caught.value.code
    assert node.size < MAX_SQL_LENGTH
