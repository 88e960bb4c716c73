"""How expressions are said to Spark: what is bound, what is refused, what must not be confused."""

from __future__ import annotations

import re

import pytest

from schema_core.errors import UnsupportedError
from schema_core.expressions.functions import BUILT_IN
from schema_core.expressions.type_checker import ColumnScope, infer
from schema_core.spark.compiler.expression import Speaker, from_physical, to_physical, to_spark
from schema_core.spark.compiler.functions import FAMILIES, FORMS
from schema_core.spark.compiler.sql_builder import bind, string
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


def said(expression: str, zone: str = "UTC") -> str:
    return to_spark(infer(SCOPE, parse_expression(expression)), Speaker(zone))


def test_every_form_belongs_to_a_function() -> None:
    made = {"CEILING", "LCASE", "UCASE", "REINTERPRET_CAST", "EXISTS"}  # other spellings

    assert set() == set(FORMS) - set(BUILT_IN) - made - SPECIAL


#: Forms of calls that the typing treats apart from the tables.
SPECIAL = {
    "ARRAY", "CASE", "CAST", "TRY_CAST", "MAP", "ROW", "[]", "(-)", "-x", "+x", "INTERVAL",
    "ITEM", "= SOME", "<> ALL",
}  # fmt: skip


def test_no_function_has_two_forms() -> None:
    assert len(FORMS) == sum(len(family.FORMS) for family in FAMILIES)


def test_names_are_quoted_and_texts_escaped() -> None:
    assert "`a````b`" == said("`a````b`")
    assert "'it\\'s a \\\\ \\n'" == string("it's a \\ \n")


def test_what_is_said_twice_is_computed_once() -> None:
    assert said("(i + 1) / (j + 1)").count("(`j` + 1)") == 1
    assert said("i / j").count("transform") == 0


def test_nesting_does_not_double_the_text() -> None:
    deep = "i"
    for _ in range(12):
        deep = f"j / ({deep} + 1)"

    assert len(said(deep)) < 4_000


def test_bound_names_differ_where_what_they_stand_for_differs() -> None:
    inner = bind("f(a)", lambda v: f"g({v}, {bind('f(b)', lambda w: f'{w} + {w}')})")

    assert 2 == len(set(re.findall(r"v[0-9a-f]{8}", inner)))


@pytest.mark.parametrize(
    "expression",
    [
        "JSON_VALUE(s, '$.a[?(@.b)]')",
        "ENCODE(s, 'EBCDIC')",
        "ts9",
        "CAST(s AS TIMESTAMP(9))",
        "'7' = i",
        "ROW(i, NULL)",
        "s SIMILAR TO s",
        "DATE_FORMAT(ts9, s)",
    ],
)
def test_what_spark_would_compute_otherwise_is_refused(expression: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        said(expression)

    assert "not-executable" == caught.value.code


def test_a_refusal_names_the_function_it_is_in() -> None:
    with pytest.raises(UnsupportedError) as caught:
        said("i + CHAR_LENGTH(JSON_VALUE(s, '$..a()'))")

    assert ("+", "JSON_VALUE") == caught.value.path


def test_functions_of_days_may_read_finer_timestamps() -> None:
    assert "unix_millis" in said("YEAR(ts9)")


def test_the_zone_is_written_out() -> None:
    assert "'America/New_York'" in said(
        "CAST(CAST(s AS TIMESTAMP_LTZ(3)) AS STRING)", "America/New_York"
    )
    assert "'UTC'" not in said("CAST(CAST(s AS TIMESTAMP_LTZ(3)) AS STRING)")


def test_a_long_chain_is_no_deep_one() -> None:
    assert 3_000 == said(" OR ".join(["i = 1"] * 3_000)).count("=")


def test_an_expression_may_be_too_large() -> None:
    chain = " || ".join(["CAST(d AS STRING)"] * 9_000)
    with pytest.raises(UnsupportedError) as caught:
        said(chain)

    assert "not-executable" == caught.value.code


@pytest.mark.parametrize("type_", ["INTERVAL YEAR TO MONTH", "INTERVAL DAY TO SECOND(3)", "INT"])
def test_intervals_are_stored_apart(type_: str) -> None:
    kind = parse_type(type_)

    assert ("INT" == type_) == (to_physical("x", kind) == "x" == from_physical("x", kind))
