"""Messages in Avro and Protocol Buffers are those of Flink 2.3.0.

The recorded messages of protobuf are those of its PbRowDataSerializationSchema, with the rows that
its deserialization returns; those in Avro were written by its connector `filesystem`, whose rows
may be NULL: `avro-confluent` has a union with `null` there, which it does not have in Kafka.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from schema_core import Row
from schema_core.environment.table_environment import TableEnvironment
from tests.spark.test_kafka import BASE, Topic, code, rows, topic
from tests.spark.test_registry_formats import Registry, registry
from tests.support import CASES

pytest.importorskip("fastavro", reason="the extra `avro` is not installed")
pytest.importorskip("google.protobuf", reason="the extra `protobuf` is not installed")

__all__ = ["registry", "topic"]

RECORDED = [
    json.loads(line)
    for line in (CASES / "message_results.jsonl").read_text(encoding="utf-8").splitlines()
]


def group_of(case: Mapping[str, Any]) -> str:
    return " ".join([case["format"], *case["options"].values()])


GROUPS = {name: list(cases) for name, cases in groupby(RECORDED, group_of)}


def create_table(environment: TableEnvironment, case: Mapping[str, Any], url: str) -> None:
    options = {**BASE, "format": case["format"], **case["options"]}
    if case["format"] == "protobuf":
        version = "2" if "shop2" in case["options"]["protobuf.message-class-name"] else "3"
        options["protobuf.descriptor-file"] = str(CASES / f"shop{version}.desc")
    if "confluent" in case["format"]:
        options[f"{case['format']}.url"] = url
    given = ", ".join(f"'{key}' = '{value}'" for key, value in options.items())
    environment.execute_sql(f"CREATE TABLE t ({case['columns']}) WITH ({given})")


def printed(value: Any) -> str:
    """Return a value as Flink prints it."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case bytes():
            return str([byte - 256 if byte > 127 else byte for byte in value])
        case dt.datetime() | dt.time():
            text = value.isoformat(timespec="milliseconds")
            return text.removesuffix(".000")
        case Row() | tuple():
            return f"+I[{', '.join(map(printed, value))}]"
        case list():
            return f"[{', '.join(map(printed, value))}]"
        case dict():
            return f"{{{', '.join(f'{printed(k)}={printed(v)}' for k, v in value.items())}}}"
        case _:
            return str(value)


@pytest.mark.parametrize("name", [name for name in GROUPS if "avro" not in name])
def test_messages_of_flink_are_read(
    environment: TableEnvironment, topic: Topic, registry: Registry, name: str
) -> None:
    cases = GROUPS[name]
    create_table(environment, cases[0], registry.url)
    topic.messages = [(None, bytes.fromhex(case["message"])) for case in cases]

    assert [*map(printed, rows(environment))] == [case["rows"][0] for case in cases]


@pytest.mark.parametrize("name", GROUPS)
def test_messages_are_written_as_by_flink(
    environment: TableEnvironment, topic: Topic, registry: Registry, name: str
) -> None:
    cases = GROUPS[name]
    create_table(environment, cases[0], registry.url)
    queries = " UNION ALL ".join(case["query"] for case in cases)
    environment.execute_sql(f"INSERT INTO t {queries}").wait()

    written = [item["value"] for item in topic.sent]
    recorded = [bytes.fromhex(case["message"]) for case in cases]
    if "confluent" in name:  # the ids of schemas are those of two registries
        union = 1 if name.startswith("avro") else 0
        written = [message[5:] for message in written]
        recorded = [message[5 + union :] for message in recorded]
    assert written == recorded


# --- protobuf -------------------------------------------------------------------------------------


def protobuf(**options: str) -> dict[str, Any]:
    given = {
        "protobuf.message-class-name": "com.shop3.Shop3$Order",
        "protobuf.descriptor-file": str(CASES / "shop3.desc"),
        **{f"protobuf.{key.replace('_', '-')}": value for key, value in options.items()},
    }
    return {"format": "proto", "options": {key: value for key, value in given.items() if value}}


def create_protobuf(environment: TableEnvironment, columns: str, **options: str) -> None:
    given = {**BASE, **protobuf(**options)["options"], "format": "protobuf"}
    shown = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
    environment.execute_sql(f"CREATE TABLE t ({columns}) WITH ({shown})")


@pytest.fixture
def not_descriptors(tmp_path: Path) -> str:
    path = tmp_path / "x.desc"
    path.write_bytes(b"\xff" * 10)
    return str(path)


@pytest.mark.parametrize(
    ("columns", "options", "expected"),
    [
        ("i BIGINT", {}, "type-not-supported"),
        ("nothing INT", {}, "type-not-supported"),
        ("r ROW<nothing INT>", {}, "type-not-supported"),
        ("ss STRING", {}, "type-not-supported"),
        ("m ARRAY<STRING>", {}, "type-not-supported"),
        ("e DOUBLE", {}, "type-not-supported"),
        ("b STRING", {}, "type-not-supported"),
        ("i INT", {"descriptor_file": ""}, "conflicting-options"),
        ("i INT", {"descriptor_file": "/no/file"}, "conflicting-options"),
        ("i INT", {"message_class_name": "com.shop3.Order"}, "conflicting-options"),
        ("i INT", {"ignore_parse_errors": "maybe"}, "invalid-option-value"),
    ],
)
def test_tables_of_protobuf_that_are_refused(
    environment: TableEnvironment,
    topic: Topic,
    columns: str,
    options: dict[str, str],
    expected: str,
) -> None:
    create_protobuf(environment, columns, **options)

    assert code(environment, "SELECT * FROM t")[0] == expected


def test_a_file_that_has_no_descriptors(
    environment: TableEnvironment, topic: Topic, not_descriptors: str
) -> None:
    create_protobuf(environment, "i INT", descriptor_file=not_descriptors)

    assert "conflicting-options" == code(environment, "SELECT * FROM t")[0]


def test_messages_of_protobuf_that_cannot_be_read(
    environment: TableEnvironment, topic: Topic
) -> None:
    topic.messages = [(None, b"\x10\x01"), (None, b"\xff\xff"), (None, b"\x10\x02")]
    create_protobuf(environment, "i INT", message_class_name="shop3.Order")
    assert "t partition 0, offset 1" in code(environment, "SELECT * FROM t")[1]
    environment.execute_sql("DROP TABLE t")
    create_protobuf(environment, "i INT", ignore_parse_errors="true")
    assert rows(environment) == [(1,), (2,)]


def test_an_unknown_value_of_an_enumeration(environment: TableEnvironment, topic: Topic) -> None:
    topic.messages = [(None, b"\x40\x09")]
    create_protobuf(environment, "e STRING")
    assert rows(environment) == [("UNRECOGNIZED",)]
    environment.execute_sql("DROP TABLE t")
    create_protobuf(environment, "e INT")
    assert "no value with the number 9" in code(environment, "SELECT * FROM t")[1]
