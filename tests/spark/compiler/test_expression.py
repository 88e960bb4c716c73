"""Compilation of expressions to Spark SQL: shared operands, refusals, escaping."""

from __future__ import annotations

import pytest

from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import UnsupportedError
from schema_core.expressions.functions import BUILT_IN
from schema_core.expressions.type_checker import ColumnScope, infer
from schema_core.spark.compiler.expression import (
    TranslationContext,
    compile_expression,
    from_physical,
    to_physical,
)
from schema_core.spark.compiler.functions.rules import FAMILIES, RULES
from schema_core.spark.compiler.query import query_text
from schema_core.spark.compiler.translation import Translation
from schema_core.spark.compiler.tree import Column, string, to_sql
from schema_core.sql.parser import parse_expression
from schema_core.types import DataTypes as T
from schema_core.types import parse_type

SCOPE = ColumnScope(
    {
        "i": T.INT(),
        "j": T.INT(),
        "d": T.DOUBLE(),
        "s": T.STRING(),
        "a``b": T.INT(),
        "ts9": T.TIMESTAMP(9),
        "m": T.MAP(T.STRING(), T.INT()),
    },
    streaming=False,
)


def compiled(expression: str, zone: str = "UTC") -> str:
    typed = infer(SCOPE, parse_expression(expression))
    return to_sql(compile_expression(typed, TranslationContext(zone)))


def test_every_rule_belongs_to_a_function() -> None:
    made = {"CEILING", "LCASE", "UCASE", "REINTERPRET_CAST", "EXISTS"}  # aliases

    assert set() == set(RULES) - set(BUILT_IN) - made - SPECIAL


def test_every_function_has_a_rule() -> None:
    assert set() == set(BUILT_IN) - set(RULES)


def test_a_refusal_has_a_reason() -> None:
    refused = {name for name, rule in RULES.items() if rule.kind is Translation.REFUSED}

    assert refused == {name for name, rule in RULES.items() if rule.reason}


#: Rules of calls that are made outside of the function tables.
SPECIAL = {
    "ARRAY", "CASE", "CAST", "TRY_CAST", "MAP", "ROW", "[]", "(-)", "-x", "+x", "INTERVAL",
    "ITEM", "= SOME", "<> ALL", "$ARRIVAL", "$KIND",
}  # fmt: skip


def test_no_function_has_two_rules() -> None:
    names = [name for family in FAMILIES for name in family.RULES]

    assert len(names) == len(set(names))


def test_names_are_quoted_and_strings_escaped() -> None:
    assert "`a````b`" == compiled("`a````b`")
    assert "'it\\'s a \\\\ \\n'" == string("it's a \\ \n")


def test_an_operand_that_is_used_twice_is_computed_once() -> None:
    assert compiled("CHAR_LENGTH(s || s || s || s || s || s) / (j + 1)").count("char_length") == 1
    assert compiled("i / j").count("transform") == 0


def test_nesting_does_not_double_the_sql() -> None:
    deep = "i"
    for _ in range(12):
        deep = f"j / ({deep} + 1)"

    assert len(compiled(deep)) < 4_000


@pytest.mark.parametrize(
    "expression",
    [
        "JSON_VALUE(s, '$.a[?(@.b)]')",
        "ENCODE(s, 'EBCDIC')",
        "'7' = i",
        "ROW(i, NULL)",
    ],
)
def test_expressions_with_other_results_on_spark_are_refused(expression: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        compiled(expression)

    assert "not-executable" == caught.value.code


def test_errors_name_the_enclosing_function() -> None:
    with pytest.raises(UnsupportedError) as caught:
        compiled("i + CHAR_LENGTH(JSON_VALUE(s, '$..a()'))")

    assert ("+", "JSON_VALUE") == caught.value.path


def test_functions_of_dates_accept_nanosecond_timestamps() -> None:
    assert "unix_millis" in compiled("YEAR(ts9)")


def test_the_time_zone_is_explicit_in_the_sql() -> None:
    assert "'America/New_York'" in compiled(
        "CAST(CAST(s AS TIMESTAMP_LTZ(3)) AS STRING)", "America/New_York"
    )
    assert "'UTC'" not in compiled("CAST(CAST(s AS TIMESTAMP_LTZ(3)) AS STRING)")


def test_a_left_deep_tree_is_compiled_without_recursion() -> None:
    assert 3_000 == compiled(" OR ".join(["i = 1"] * 3_000)).count("=")


def test_an_expression_beyond_the_size_limit_is_refused() -> None:
    chain = " || ".join(["CAST(d AS STRING)"] * 9_000)
    with pytest.raises(UnsupportedError) as caught:
        compiled(chain)

    assert "not-executable" == caught.value.code


@pytest.mark.parametrize("type_", ["INTERVAL YEAR TO MONTH", "INTERVAL DAY TO SECOND(3)", "INT"])
def test_intervals_are_converted_to_their_physical_type(type_: str) -> None:
    kind = parse_type(type_)
    x = Column("x")

    assert ("INT" == type_) == (to_physical(x, kind) is x is from_physical(x, kind))


@pytest.mark.parametrize(
    ("expression", "sql"),
    [
        ("i IN (1, 2, 3)", "`i` IN (1, 2, 3)"),
        ("i NOT IN (1, 2)", "NOT `i` IN (1, 2)"),
        ("u IN (1, 2.5)", "`u` IN (CAST(1 AS DECIMAL(5, 0)), CAST(2.5 AS DECIMAL(2, 1)))"),
        ("s IN ('a', 'bc', NULL)", "`s` IN ('a', 'bc', CAST(NULL AS VOID))"),
        ("d IN (DATE '2020-01-01', e)", "`d` IN (DATE'2020-01-01', `e`)"),
        # each pair has its own type: one for all would not hold every digit
        ("w > v", "`w` > floor(`v`, 0)"),
        ("v >= w", "`w` <= floor(`v`, 0)"),
        ("u IN (w, v)", "`u` = `w` OR `u` = `v`"),
        ("x IN (1e0, x)", "`x` = CAST('1e0' AS DOUBLE) OR `x` = `x`"),
        # the second is computed only where the first is not equal
        ("i IN (1, 1 / i)", "`i` = 1 OR `i` ="),
        ("x > 0.5", "`x` > CAST(CAST(0.5 AS DECIMAL(2, 1)) AS DOUBLE)"),
        ("x <= 1", "`x` <= CAST(1 AS DOUBLE)"),
        ("1e0 < x", "CAST('1e0' AS DOUBLE) < `x` AND NOT isnan(`x`)"),
        ("x > CAST(NULL AS DOUBLE)", "if(isnan(`x`), "),
    ],
)
def test_predicates_are_those_that_spark_pushes_down(expression: str, sql: str) -> None:
    columns = {
        "i": T.INT(), "s": T.STRING(), "d": T.DATE(), "e": T.DATE(), "x": T.DOUBLE(),
        "u": T.DECIMAL(5, 0), "v": T.DECIMAL(30, 30), "w": T.DECIMAL(38, 0),
    }  # fmt: skip
    typed = infer(ColumnScope(columns, streaming=False), parse_expression(expression))

    assert to_sql(compile_expression(typed)).startswith(sql)


def test_a_comma_is_an_inner_join() -> None:
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    query = environment.sql_query("SELECT 1 FROM (VALUES 1) AS a (x), (VALUES 1) AS b (x)")

    assert ") AS `a`(`x`) INNER JOIN (" in query_text(query.relation, lambda scan: "t")
