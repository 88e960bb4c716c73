"""Python UDFs return the recorded results of Flink: udfs.cases, without Spark."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from schema_core.spark.compiler.printer import to_sql
from schema_core.spark.compiler.translation import call_udf
from schema_core.spark.compiler.tree import Column, Fact, call, function
from schema_core.spark.compiler.udfs import UDFS
from schema_core.spark.compiler.udfs.errors import UdfError
from schema_core.spark.udf_registration import evaluate
from tests.support import cases


@pytest.mark.parametrize(("call", "expected"), cases("udfs"))
def test_udf_returns_the_result_of_flink(call: str, expected: str) -> None:
    name, *arguments = json.loads(call)
    wanted = json.loads(expected)

    if wanted == "!":
        with pytest.raises(UdfError):
            UDFS[name].function(*arguments)
        return

    columns = [pa.array([one]) for one in arguments]
    (found,) = evaluate(name, columns).to_pylist()

    assert wanted == (found["value"] if UDFS[name].fails else found)


@pytest.mark.parametrize("name", UDFS)
def test_null_arguments_return_null(name: str) -> None:
    count = UDFS[name].function.__code__.co_argcount
    (found,) = evaluate(name, [pa.nulls(1)] * count).to_pylist()

    assert found in ({"value": None, "problem": None}, None, False, -1)


def test_an_error_is_raised_where_the_value_is_used() -> None:
    node = call_udf("from_base64", Column("a"))

    assert "raise_error" in to_sql(node)
    assert not node.facts & Fact.UDF_IN_LAMBDA


def test_udf_within_a_lambda_is_detected() -> None:
    in_lambda = call("transform", Column("a"), function(lambda v: call_udf("inet_ntoa", v)))
    beside = call("transform", call_udf("split_units", Column("a")), function(lambda v: v))

    assert in_lambda.facts & Fact.UDF_IN_LAMBDA
    assert not beside.facts & Fact.UDF_IN_LAMBDA
