"""Spark's DDL and JSON without a JVM; tests/spark compares the same inputs with a live session."""

from __future__ import annotations

import json
from typing import Any

import pytest

from schema_core.base.text import MAX_DEPTH
from schema_core.errors import ParseError, SchemaCoreError, SchemaError, UnsupportedError
from schema_core.mappings.spark.ddl import parse_ddl, parse_spark_type, print_ddl
from schema_core.mappings.spark.schemas import from_ddl, from_json, parse_json, to_ddl, to_json
from schema_core.schema.resolved import PhysicalColumn, ResolvedSchema
from schema_core.types import parse_type
from tests.support import cases


@pytest.mark.parametrize(("text", "tree"), cases("spark_ddl"))
def test_ddl(text: str, tree: str) -> None:
    """Each line was also given to Spark, see tests/spark/test_spark_types.py."""
    text = text.encode().decode("unicode_escape")
    if tree == "refused":
        with pytest.raises(ParseError) as caught:
            parse_ddl(text)
        assert caught.value.span is not None
        return
    result = parse_ddl(text)

    assert tree == brief(result)
    assert result == parse_ddl(print_ddl(result))


def brief(tree: Any) -> str:
    """A tree as one short line."""
    if isinstance(tree, str):
        return tree
    match tree["type"]:
        case "struct":
            return f"({', '.join(map(field, tree['fields']))})"
        case "array":
            return f"[{brief(tree['elementType'])}]"
        case _:
            return f"{{{brief(tree['keyType'])}: {brief(tree['valueType'])}}}"


def field(tree: dict[str, Any]) -> str:
    metadata = json.dumps(tree["metadata"]) if tree["metadata"] else ""
    return f"{tree['name']} {brief(tree['type'])}{'' if tree['nullable'] else '!'}{metadata}"


def test_the_meaning_of_a_bare_timestamp_is_an_option() -> None:
    assert "timestamp" == parse_spark_type("timestamp")
    assert "timestamp_ntz" == parse_spark_type("timestamp", timestamp="timestamp_ntz")
    assert "t TIMESTAMP_LTZ" == print_ddl(parse_ddl("t timestamp"))


@pytest.mark.parametrize("opening", ["array<", "struct<a:", "map<int,"])
def test_depth_is_limited(opening: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_spark_type(opening * 100_000)
    assert "limit-exceeded" == caught.value.code

    levels = MAX_DEPTH - 1
    assert isinstance(parse_spark_type(opening * levels + "int" + ">" * levels), dict)


def test_a_schema_as_ddl() -> None:
    resolved = ResolvedSchema.of(
        [
            PhysicalColumn("a b", parse_type("BIGINT NOT NULL"), comment="it's\\n"),
            PhysicalColumn("r", parse_type("ROW<x TIMESTAMP(3) NOT NULL 'in', y ARRAY<INT>>")),
        ]
    )
    text = to_ddl(resolved)

    assert (
        "`a b` BIGINT NOT NULL COMMENT 'it\\'s\\\\n', "
        "r STRUCT<x: TIMESTAMP_NTZ NOT NULL COMMENT 'in', y: ARRAY<INT>>"
    ) == text
    assert ["a b", "r"] == [column.name for column in from_ddl(text).schema.columns]
    with pytest.raises(UnsupportedError) as caught:
        to_ddl(ResolvedSchema.physical(["t"], [parse_type("TIMESTAMP(9)")]))
    assert "lossy" == caught.value.code
    nanos = ResolvedSchema.physical(["t"], [parse_type("TIMESTAMP(9)")])
    assert "t TIMESTAMP_NTZ" == to_ddl(nanos, on_loss="accept")


def test_ddl_columns_without_a_flink_type() -> None:
    result = from_ddl("a INT, b INTERVAL, c STRING COLLATE UNICODE_CI, d GEOMETRY(4326), e CHAR(0)")

    assert ["`a` INT", "`c` STRING"] == [str(column) for column in result.schema.columns]
    assert ["type-not-supported", "type-not-supported", "invalid-type"] == [
        diagnostic.code for diagnostic in result.refused
    ]
    assert [("c",)] == [loss.path for loss in result.losses]


def test_json_preserves_the_schema() -> None:
    resolved = ResolvedSchema.of(
        [PhysicalColumn("a", parse_type("MAP<INT, CHAR(3) NOT NULL>"), comment="x"),
         PhysicalColumn("b", parse_type("ROW<c VARCHAR(7) NOT NULL 'y'> NOT NULL"))]
    )  # fmt: skip
    result = from_json(to_json(resolved))

    assert ((), ()) == (result.refused, result.losses)
    assert [str(column) for column in resolved.columns] == [
        str(column) for column in result.schema.columns
    ]


FIELD = '{"name": "a", "type": "long", "nullable": true, "metadata": {}}'


@pytest.mark.parametrize(
    ("text", "code", "path"),
    [
        ("",                                                 "syntax",     ()),
        ('{"type": "struct"',                                "syntax",     ()),
        ("[]",                                             "invalid-document", ()),
        ('"long"',                                         "invalid-document", ()),
        ('{"type": "struct"}',                             "invalid-document", ()),
        ('{"type": "struct", "fields": {}}',               "invalid-document", ()),
        ('{"type": "struct", "fields": [1]}',              "invalid-document", ()),
        ('{"type": "struct", "fields": [], "x": 1}',       "invalid-document", ()),
        (FIELD.replace('"long"', "1"),                     "invalid-document", ("field 'a'",)),
        (FIELD.replace('"long"', '{"type": "list"}'),      "invalid-document", ("field 'a'",)),
        (FIELD.replace("true", '"yes"'),                   "invalid-document", ("field 'a'",)),
        (FIELD.replace('"nullable"', '"null"'),            "invalid-document", ("field 'a'",)),
        (FIELD.replace("{}", "[1]"),                       "invalid-document", ("field 'a'",)),
        (FIELD.replace('"a"', "7"),                        "invalid-document", ("field 7",)),
        (FIELD.replace('"long"', '{"type": "array", "elementType": 1, "containsNull": true}'),
         "invalid-document", ("field 'a'", "element")),
    ],
)  # fmt: skip
def test_json_other_than_a_struct_is_refused(text: str, code: str, path: tuple[str, ...]) -> None:
    if text.startswith('{"name"') or "field" in str(path):
        text = f'{{"type": "struct", "fields": [{text}]}}'
    with pytest.raises(SchemaError) as caught:
        parse_json(text)

    assert (code, path) == (caught.value.code, caught.value.path)


def test_depth_of_json_is_limited() -> None:
    array = '{"type": "array", "containsNull": true, "elementType": '
    for levels in (MAX_DEPTH, 100_000):
        deep = FIELD.replace('"long"', array * levels + '"long"' + "}" * levels)
        with pytest.raises(SchemaCoreError) as caught:
            parse_json(f'{{"type": "struct", "fields": [{deep}]}}')
        assert "limit-exceeded" == caught.value.code


def test_classes_named_in_json_are_not_imported() -> None:
    udt = {"type": "udt", "class": None, "pyClass": "os.x", "serializedClass": "gASV"}
    field = json.loads(FIELD) | {"type": {**udt, "sqlType": "long"}}
    result = from_json(json.dumps({"type": "struct", "fields": [field]}))

    assert ["type-not-supported"] == [diagnostic.code for diagnostic in result.refused]
