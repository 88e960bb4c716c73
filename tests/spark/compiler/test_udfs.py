"""Functions computed in Python give what Flink gave: the table of computed.cases, without Spark."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from schema_core.spark.compiler.sql_builder import bind_all, computed, is_hidden
from schema_core.spark.compiler.udfs import COMPUTED
from schema_core.spark.compiler.udfs.errors import ComputedError
from schema_core.spark.udf_registration import computed_column
from tests.support import cases


@pytest.mark.parametrize(("call", "expected"), cases("computed"))
def test_a_function_gives_what_flink_gives(call: str, expected: str) -> None:
    name, *arguments = json.loads(call)
    wanted = json.loads(expected)

    if wanted == "!":
        with pytest.raises(ComputedError):
            COMPUTED[name].function(*arguments)
        return

    columns = [pa.array([one]) for one in arguments]
    (found,) = computed_column(name, columns).to_pylist()

    assert wanted == (found["value"] if COMPUTED[name].fails else found)


@pytest.mark.parametrize("name", COMPUTED)
def test_nothing_comes_of_nothing(name: str) -> None:
    count = COMPUTED[name].function.__code__.co_argcount
    (found,) = computed_column(name, [pa.nulls(1)] * count).to_pylist()

    assert found in ({"value": None, "problem": None}, None, False, -1)


def test_a_failure_is_a_value_until_it_is_looked_at() -> None:
    said = computed("from_base64", "a")

    assert "raise_error" in said
    assert not is_hidden(said)


def test_what_stands_in_a_lambda_is_hidden() -> None:
    assert is_hidden(bind_all(["f(a)"], lambda a: computed("inet_ntoa", a)))
    assert not is_hidden(bind_all([computed("inet_ntoa", "a")], lambda a: f"{a} || {a}"))
