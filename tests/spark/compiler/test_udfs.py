"""Python UDFs return the recorded results of Flink: udfs.cases, without Spark."""

from __future__ import annotations

import json
import random
from itertools import product

import pyarrow as pa
import pytest

from schema_core.spark.compiler.translation import call_udf
from schema_core.spark.compiler.tree import Column, Fact, call, function, to_sql
from schema_core.spark.compiler.udfs import UdfError
from schema_core.spark.compiler.udfs import json as json_udfs
from schema_core.spark.compiler.udfs.registry import REFERENCES, UDFS
from schema_core.spark.python.udf_registration import evaluate
from tests.support import cases


@pytest.mark.parametrize(("call", "expected"), cases("udfs"))
def test_udf_returns_the_result_of_flink(call: str, expected: str) -> None:
    name, *arguments = json.loads(call)
    wanted = json.loads(expected)
    function = {**UDFS, **REFERENCES}[name].function

    if wanted == "!":
        with pytest.raises(UdfError):
            function(*arguments)
        return
    if name in REFERENCES:
        assert wanted == function(*arguments)
        return

    columns = [pa.array([argument]) for argument in arguments]
    (results,) = evaluate(name, columns).to_pylist()

    assert wanted == (results["value"] if UDFS[name].fails else results)


@pytest.mark.parametrize("name", UDFS)
def test_null_arguments_return_null(name: str) -> None:
    count = UDFS[name].function.__code__.co_argcount
    (results,) = evaluate(name, [pa.nulls(1)] * count).to_pylist()

    assert results in ({"value": None, "problem": None}, None, False, -1)


def test_an_error_is_raised_where_the_value_is_used() -> None:
    node = call_udf("decode", Column("a"), "UTF-16")

    assert "raise_error" in to_sql(node)
    assert not node.facts & Fact.UDF_IN_LAMBDA


def test_udf_within_a_lambda_is_detected() -> None:
    in_lambda = call("transform", Column("a"), function(lambda v: call_udf("convert_tz", v)))
    beside = call("transform", call_udf("split_units", Column("a")), function(lambda v: v))

    assert in_lambda.facts & Fact.UDF_IN_LAMBDA
    assert not beside.facts & Fact.UDF_IN_LAMBDA


#: Pieces of JSON, of which documents are made, most of them damaged.
JSON_PIECES = (
    "{", "}", "[", "]", ",", ":", '"a"', '"b"', '"a":', '"b":', "1", "-0", "1.50", "1e3", "null",
    "true", '"é"', '"\\u001b"', '"\\ud800"', '"\\\\u00"', " ", "x", "NaN", '"',
    "12345678901234567890",
)  # fmt: skip
JSON_DOCUMENTS = (
    '{"a": {"b": [1.50, {"c": null}]}}', '{"a": 1, "a": {"b": "\\n"}}', '[{"a": 1}, [2]]',
    '{"a":[]} x', "1e999999999999999999999",
    '{"a":{"b":"\\u000b\\\\u0b"}}', "1 2", "true", "null", "", "[1", "2]", "1],[2",
)  # fmt: skip
JSON_PATHS = (
    "$",
    "$.a",
    "$.a.b",
    "$[0].a",
    "$['a'][-1]",
    "lax $.a",
    "$.*",
    "$..b",
    "no path",
    None,
)
#: Arguments after the path.
JSON_CLAUSES: dict[str, list[tuple[str | None, ...]]] = {
    "json_query": [
        *(("WITHOUT", "NULL", item) for item in ("NULL", "EMPTY ARRAY", "EMPTY OBJECT", "ERROR")),
        ("CONDITIONAL", "NULL", "NULL"),
    ],
    "json_value": [
        ("STRING", "NULL", None, "DEFAULT", "d"),
        ("STRING", "DEFAULT", "e", "NULL", None),
        ("INTEGER", "NULL", None, "NULL", None),
        ("STRING", "NULL", None, "ERROR", None),
    ],
    "json_exists": [("TRUE",), ("FALSE",), ("UNKNOWN",), ("ERROR",)],
}


def documents(count: int) -> list[str | None]:
    chance = random.Random(5)
    made = ["".join(chance.choices(JSON_PIECES, k=chance.randrange(9))) for _ in range(count)]
    return [None, *made, *JSON_DOCUMENTS, *chance.choices(JSON_DOCUMENTS, k=count)]


def result(name: str, *arguments: object) -> object:
    try:
        return UDFS[name].function(*arguments)
    except UdfError:
        return "failed"


@pytest.mark.parametrize("name", JSON_CLAUSES)
def test_json_of_a_batch_is_that_of_each_document(name: str) -> None:
    texts, batch = documents(300), UDFS[name].batch
    assert batch is not None
    computed = 0

    for path, clauses in product(JSON_PATHS, JSON_CLAUSES[name]):
        results = batch(texts, path, *clauses)
        if results is not None:
            computed += 1
            assert results == [result(name, text, path, *clauses) for text in texts]

    assert computed >= 10


def test_is_json_of_a_batch_is_that_of_each_document() -> None:
    texts, batch = documents(300), UDFS["is_json"].batch
    assert batch is not None

    for kind in ("VALUE", "OBJECT", "ARRAY", "SCALAR"):
        assert batch(texts, kind) == [json_udfs.is_json(text, kind) for text in texts]


def test_errors_of_a_batch_are_those_of_its_rows() -> None:
    columns = [pa.array([item] * 3) for item in ("$.a", "WITHOUT", "NULL", "ERROR")]
    results = evaluate("json_query", [pa.array(['{"a": [1]}', "{}", None]), *columns]).to_pylist()

    assert [item["value"] for item in results] == ["[1]", None, None]
    assert [item["problem"] is None for item in results] == [True, False, True]


def test_json_keeps_digits_and_order_and_writes_the_fewest_escapes() -> None:
    value = json_udfs.parse(
        '{"b": 1.50, "a": ["\\u001b\\\\u001b\\u00e9/", 1E+400, {"b": -0}], "b": 2}'
    )

    assert json_udfs.serialize(value) == '{"b":2,"a":["\\u001B\\\\u001bé/",1E+400,{"b":0}]}'


def test_json_that_is_nested_too_deeply_for_python_fails_the_row_only() -> None:
    deep = "[" * 900 + "]" * 900
    (short, *_), (results, *_) = (
        evaluate("json_query", [pa.array(["[1]", text]), *_constants(2)]).to_pylist()
        for text in ("[2]", deep)
    )

    assert short == results == {"value": "[1]", "problem": None}


def _constants(size: int) -> list[pa.Array]:
    return [pa.array([item] * size) for item in ("$", "WITHOUT", "NULL", "NULL")]
