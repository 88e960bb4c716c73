"""The connectors `kafka` and `upsert-kafka`: options, messages, keys, metadata.

There is no broker and no package of Spark for Kafka here: the frame of Spark's source is replaced,
and so is the sink. What Spark is asked for is compared with the names of its options.
"""

from __future__ import annotations

import datetime as dt
import json
import sys
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from schema_core import Row
from schema_core.base.plugins import install_command
from schema_core.connectors.kafka import connector as connector_module
from schema_core.connectors.kafka.connector import KafkaConnector, source_of
from schema_core.connectors.kafka.message_formats import csv_record
from schema_core.connectors.kafka.options import client_settings, scan_settings, stream_settings
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import SchemaCoreError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

BASE = {
    "connector": "kafka",
    "topic": "t",
    "properties.bootstrap.servers": "h:9092",
    "scan.startup.mode": "earliest-offset",
    "scan.bounded.mode": "latest-offset",
}
RECORD = (
    "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP,"
    " timestampType INT, headers ARRAY<STRUCT<key: STRING, value: BINARY>>"
)
START = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)


class Topic:
    """The messages of a topic, and what was asked of Spark."""

    def __init__(self) -> None:
        self.messages: list[tuple[bytes | None, bytes | None]] = []
        self.settings: dict[str, str] = {}
        self.sent: list[dict[str, Any]] = []

    def records(self, session: SparkSession, settings: Mapping[str, str]) -> DataFrame:
        self.settings = dict(settings)
        rows = [
            (key, value, "t", 0, at, START + dt.timedelta(seconds=at), at % 2, [("h", b"x")])
            for at, (key, value) in enumerate(self.messages)
        ]
        return session.createDataFrame(rows, RECORD)

    def send(self, messages: DataFrame, settings: Mapping[str, str]) -> None:
        self.settings = dict(settings)
        self.sent = [row.asDict() for row in messages.collect()]


@pytest.fixture
def topic(monkeypatch: pytest.MonkeyPatch) -> Topic:
    result = Topic()
    monkeypatch.setattr(KafkaConnector, "records", lambda _, *given: result.records(*given))
    monkeypatch.setattr(KafkaConnector, "send", lambda _, *given: result.send(*given))
    return result


def create(environment: TableEnvironment, columns: str, **options: str) -> None:
    given = {key.replace("__", ".").replace("_", "-"): option for key, option in options.items()}
    every = {key: value for key, value in (BASE | given).items() if value}
    shown = ", ".join(f"'{key}' = '{value}'" for key, value in every.items())
    environment.execute_sql(f"CREATE TABLE t ({columns}) WITH ({shown})")


def rows(environment: TableEnvironment, query: str = "SELECT * FROM t") -> list[tuple[Any, ...]]:
    return list(map(tuple, environment.execute_sql(query).collect()))


def code(environment: TableEnvironment, statement: str) -> tuple[str, str]:
    with pytest.raises(SchemaCoreError) as caught:
        list(environment.execute_sql(statement).collect())
    return caught.value.code, str(caught.value)


# --- options -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, {"startingOffsets": "earliest", "endingOffsets": "latest", "subscribe": "t"}),
        ({"topic": "a; b"}, {"subscribe": "a,b"}),
        ({"topic": None, "topic-pattern": "t.*"}, {"subscribePattern": "t.*"}),
        (
            {"scan.startup.mode": "timestamp", "scan.startup.timestamp-millis": "5"},
            {"startingTimestamp": "5", "startingOffsetsByTimestampStrategy": "latest"},
        ),
        (
            {"scan.bounded.mode": "timestamp", "scan.bounded.timestamp-millis": "9"},
            {"endingTimestamp": "9"},
        ),
        (
            {
                "scan.startup.mode": "specific-offsets",
                "scan.startup.specific-offsets": "partition:0,offset:42;partition:1,offset:7",
            },
            {"startingOffsets": '{"t": {"0": 42, "1": 7}}'},
        ),
        ({"properties.sasl.jaas.config": "x"}, {"kafka.sasl.jaas.config": "x"}),
    ],
)
def test_options_of_scans(options: dict[str, str | None], expected: dict[str, str]) -> None:
    given = {key: value for key, value in {**BASE, **options}.items() if value is not None}

    result = scan_settings(given, "t")
    assert expected.items() <= result.items()
    assert result["kafka.bootstrap.servers"] == "h:9092"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"scan.bounded.mode": "unbounded"}, "unbounded-table"),
        ({"scan.bounded.mode": "group-offsets"}, "conflicting-options"),
        ({"scan.startup.mode": "group-offsets"}, "conflicting-options"),
        (
            {"scan.startup.mode": "group-offsets", "properties.auto.offset.reset": "first"},
            "conflicting-options",
        ),
        ({"scan.startup.mode": "timestamp"}, "conflicting-options"),
        ({"scan.bounded.mode": "specific-offsets"}, "conflicting-options"),
        ({"topic-pattern": "t.*"}, "conflicting-options"),
        (
            {
                "topic": "a;b", "scan.startup.mode": "specific-offsets",
                "scan.startup.specific-offsets": "partition:0,offset:42",
            },
            "conflicting-options",
        ),
        (
            {
                "scan.startup.mode": "specific-offsets",
                "scan.startup.specific-offsets": "0:42",
            },
            "invalid-option-value",
        ),
    ],
)  # fmt: skip
def test_scans_that_are_refused(options: dict[str, str], expected: str) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        scan_settings({**BASE, **options}, "t")
    assert caught.value.code == expected


@pytest.mark.parametrize(
    ("options", "is_stream"),
    [
        ({"scan.startup.mode": "group-offsets", "properties.group.id": "g"}, True),
        ({"scan.startup.mode": "group-offsets", "properties.group.id": "g"}, False),
        ({"scan.startup.mode": "latest-offset"}, False),
        ({"scan.bounded.mode": "group-offsets", "properties.group.id": "g"}, False),
    ],
)
def test_scans_that_sparks_source_cannot_do(
    session: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
    options: dict[str, str],
    is_stream: bool,
) -> None:
    monkeypatch.setattr(connector_module, "_has_kafka", lambda _: True)
    monkeypatch.setitem(sys.modules, "confluent_kafka", None)
    every = {**BASE, **options}
    settings = stream_settings(every) if is_stream else scan_settings(every, "t")
    with pytest.raises(SchemaCoreError) as caught:
        source_of(session, settings, is_stream=is_stream)
    assert caught.value.code == "option-not-supported"
    assert install_command("kafka") in str(caught.value)
    assert source_of(session, scan_settings(BASE, "t"))[0] == "kafka"


def test_properties_that_are_not_passed_on() -> None:
    options = {"properties.auto.offset.reset": "earliest", "properties.group.id": "g"}

    assert client_settings(options) == {"kafka.group.id": "g"}


@pytest.mark.parametrize(
    ("columns", "options", "expected"),
    [
        ("a INT", {"format": ""}, "conflicting-options"),
        ("a INT", {"value__format": "json"}, "conflicting-options"),
        ("a INT", {"format": "thrift"}, "factory-not-found"),
        ("a INT", {"key__format": "json"}, "conflicting-options"),
        ("a INT", {"key__fields": "a"}, "conflicting-options"),
        ("a INT", {"key__format": "raw", "key__fields": "b"}, "conflicting-options"),
        (
            "k_a INT",
            {"key__format": "raw", "key__fields": "k_a", "key__fields_prefix": "k_"},
            "conflicting-options",
        ),
        ("a INT, PRIMARY KEY (a) NOT ENFORCED", {}, "conflicting-options"),
        ("a ARRAY<ARRAY<INT>>", {"format": "csv"}, "type-not-supported"),
        ("a MAP<INT, INT>", {"format": "json"}, "type-not-supported"),
        ("a INT, b INT", {"format": "raw"}, "type-not-supported"),
        ("a INT", {"sink__delivery_guarantee": "exactly-once"}, "option-not-supported"),
        ("a INT", {"sink__partitioner": "fixed"}, "option-not-supported"),
        ("a INT", {"json__level": "1"}, "unknown-option"),
        ("a INT", {"connector": "upsert-kafka", "scan__startup__mode": ""}, "unknown-option"),
    ],
)
def test_tables_that_are_refused(
    environment: TableEnvironment,
    topic: Topic,
    columns: str,
    options: dict[str, str],
    expected: str,
) -> None:
    create(environment, columns, **({"format": "json"} | options))

    assert code(environment, "SELECT * FROM t")[0] == expected


FORMAT_METADATA = [
    ("debezium-json", "source.database", "STRING"),
    ("debezium-json", "source.properties", "MAP<STRING, STRING>"),
    ("debezium-avro-confluent", "source.timestamp", "TIMESTAMP_LTZ(3)"),
    ("canal-json", "database", "STRING"),
    ("canal-json", "sql-type", "MAP<STRING, INT>"),
    ("canal-json", "pk-names", "ARRAY<STRING>"),
    ("maxwell-json", "primary-key-columns", "ARRAY<STRING>"),
    ("ogg-json", "event-timestamp", "TIMESTAMP_LTZ(6)"),
]


@pytest.mark.parametrize("option", ["format", "value.format"])
@pytest.mark.parametrize(("form", "key", "type_"), FORMAT_METADATA)
def test_tables_are_declared_with_the_metadata_of_formats(
    session: SparkSession, form: str, key: str, type_: str, option: str
) -> None:
    """Flink's connector forwards it."""
    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode(), spark=session)
    declare = (
        "CREATE TABLE t (id INT, m {} METADATA FROM 'value.{}' VIRTUAL) WITH"
        f" ('connector' = 'kafka', '{option}' = '{form}', 'topic' = 'a',"
        " 'properties.bootstrap.servers' = 'b:1')"
    )
    with pytest.raises(SchemaCoreError) as unknown:
        environment.execute_sql(declare.format(type_, "nothing"))
    if "TIMESTAMP" in type_ or "<" in type_:
        with pytest.raises(SchemaCoreError) as wrong:
            environment.execute_sql(declare.format("BOOLEAN", key))
        assert "invalid-metadata-column" == wrong.value.code
    environment.execute_sql(declare.format(type_, key))
    with pytest.raises(SchemaCoreError) as read:
        environment.execute_sql("SELECT m FROM t")

    assert "invalid-metadata-column" == unknown.value.code
    assert f"value.{key}" in str(unknown.value)
    assert "conflicting-options" == read.value.code


def test_metadata_of_formats_belongs_to_their_tables() -> None:
    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    with pytest.raises(SchemaCoreError) as caught:
        environment.execute_sql(
            "CREATE TABLE t (id INT, m STRING METADATA FROM 'value.database' VIRTUAL) WITH"
            " ('connector' = 'kafka', 'format' = 'json')"
        )

    assert "invalid-metadata-column" == caught.value.code


def test_the_packages_that_are_missing_are_named(
    environment: TableEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "confluent_kafka", None)
    create(environment, "a INT", format="json", properties__sasl__jaas__config="made-up-secret")

    for statement in ("SELECT * FROM t", "INSERT INTO t VALUES (1)"):
        result, message = code(environment, statement)
        assert result == "missing-dependency"
        assert "org.apache.spark:spark-sql-kafka-0-10_2.13:4." in message
        assert install_command("kafka") in message
        assert "made-up-secret" not in message


# --- messages ------------------------------------------------------------------------------------

COLUMNS = "i INT, s STRING, n DECIMAL(10, 2), b BYTES, d DATE, ts TIMESTAMP(3), f BOOLEAN"
VALUES = "1, 'x, y', 1.50, X'00ff', DATE '2024-02-29', TIMESTAMP '2024-02-29 01:02:03.4', TRUE"
ROW = (1, "x, y", 1.5, b"\x00\xff", dt.date(2024, 2, 29),
       dt.datetime.fromisoformat("2024-02-29 01:02:03.4"), True)  # fmt: skip


@pytest.mark.parametrize(
    ("form", "options"), [("json", {}), ("csv", {"csv__field_delimiter": ";"})]
)
def test_messages_come_back(
    environment: TableEnvironment, topic: Topic, form: str, options: dict[str, str]
) -> None:
    nested = ", r ROW<a INT, m MAP<STRING, INT>>" if form == "json" else ""
    create(environment, COLUMNS + nested, format=form, **options)

    more = ", ROW(1, MAP['k', 2])" if nested else ""
    environment.execute_sql(f"INSERT INTO t SELECT {VALUES}{more}").wait()
    assert topic.settings == {"kafka.bootstrap.servers": "h:9092", "topic": "t"}
    assert [list(item) for item in topic.sent] == [["value"]]
    if form == "json":
        assert json.loads(topic.sent[0]["value"])["ts"].startswith("2024-02-29 01:02:03.4")
    topic.messages = [(None, bytes(topic.sent[0]["value"])), (None, None)]
    (result,) = rows(environment)
    assert result[:7] == ROW


@pytest.mark.parametrize("is_lenient", ["false", "true"])
def test_decimals_of_json_messages_keep_their_digits(
    environment: TableEnvironment, topic: Topic, is_lenient: str
) -> None:
    columns = "d DECIMAL(38, 9), t STRING, r ROW<m MAP<STRING, DECIMAL(20, 2)>, t STRING>"
    create(environment, columns, format="json", json__ignore_parse_errors=is_lenient)
    topic.messages = [
        (None, b'{"d": 12345678901234567890.123456789, "t": 1, "r": {"m": {"k": 1e3}, "t": "x"}}'),
        (None, b'{"d": "123456789012345678901", "r": {"m": {"k": 123456789012345678.126}}}'),
    ]

    exact = Decimal("12345678901234567890.123456789")
    assert rows(environment) == [
        (exact, "1", Row({"k": Decimal("1000.00")}, "x")),
        (Decimal(123456789012345678901), None, Row({"k": Decimal("123456789012345678.13")}, None)),
    ]


def test_messages_that_cannot_be_read(environment: TableEnvironment, topic: Topic) -> None:
    create(environment, "i INT, s STRING", format="json")
    topic.messages = [(None, b'{"i": "x"}')]
    assert "column 'i': cannot read as INT: \"x\"" in code(environment, "SELECT * FROM t")[1]
    topic.messages = [(None, b"{")]
    assert code(environment, "SELECT * FROM t")[0] == "job-failed"
    environment.execute_sql("DROP TABLE t")
    lenient = {"value__csv__ignore_parse_errors": "true"}
    create(environment, "i INT, s STRING", value__format="csv", **lenient)
    topic.messages = [(None, b"1,x"), (None, b"x,y"), (None, b'1,"x'), (None, b"2,\xc3\xa4,z")]
    assert rows(environment) == [(1, "x"), (None, "y")]


def test_a_message_is_one_record() -> None:
    from schema_core.connectors.files.csv_files import CsvDialect, UnreadableRecordError

    dialect = CsvDialect(("a", "b"))
    assert csv_record(b'1,"x\ny"\n', dialect) == ["1", "x\ny"]
    assert csv_record(None, dialect) is None
    for wrong in (b"1,2\n3,4", b'1,"x', b"1,2,3"):
        with pytest.raises(UnreadableRecordError):
            csv_record(wrong, dialect)


def test_raw_values_keys_and_headers(environment: TableEnvironment, topic: Topic) -> None:
    create(
        environment,
        "k BYTES, v STRING, h MAP<STRING, BYTES> METADATA FROM 'headers'",
        value__format="raw", key__format="raw", key__fields="k", value__fields_include="EXCEPT_KEY",
    )  # fmt: skip

    environment.execute_sql("INSERT INTO t SELECT X'01', 'ä', MAP['a', X'02']").wait()
    assert topic.sent == [
        {"key": b"\x01", "value": "ä".encode(), "headers": [("a", bytearray(b"\x02"))]}
    ]
    topic.messages = [(b"\x01", "ä".encode())]
    assert rows(environment) == [(b"\x01", "ä", {"h": b"x"})]
    assert topic.settings["includeHeaders"] == "true"


def test_keys_with_a_prefix_and_metadata(environment: TableEnvironment, topic: Topic) -> None:
    create(
        environment,
        "k_id INT, v STRING, p INT METADATA FROM 'partition' VIRTUAL, `offset` BIGINT METADATA"
        " VIRTUAL, topic STRING METADATA VIRTUAL, `at` TIMESTAMP_LTZ(3) METADATA FROM 'timestamp'"
        " VIRTUAL, kind STRING METADATA FROM 'timestamp-type' VIRTUAL, twice AS k_id * 2",
        value__format="json", key__format="json", key__fields="k_id", key__fields_prefix="k_",
        value__fields_include="EXCEPT_KEY",
    )  # fmt: skip

    environment.execute_sql("INSERT INTO t VALUES (1, 'x')").wait()
    assert topic.sent == [{"key": b'{"id":1}', "value": b'{"v":"x"}'}]
    topic.messages = [(b'{"id":1}', b'{"v":"x"}'), (b'{"id":2}', b'{"v":null}')]
    assert rows(environment) == [
        (1, "x", 0, 0, "t", START, "CreateTime", 2),
        (2, None, 0, 1, "t", START + dt.timedelta(seconds=1), "LogAppendTime", 4),
    ]


def test_metadata_that_is_only_read(environment: TableEnvironment, topic: Topic) -> None:
    create(environment, "a INT, `at` TIMESTAMP_LTZ(3) METADATA FROM 'timestamp'", format="json")

    statement = "INSERT INTO t SELECT 1, TO_TIMESTAMP_LTZ(0, 3)"
    assert code(environment, statement)[0] == "invalid-metadata-column"


def test_decimals_of_csv_have_all_their_digits(environment: TableEnvironment, topic: Topic) -> None:
    """Unlike those of files: see `csv.write-bigdecimal-in-scientific-notation`."""
    create(environment, "d DECIMAL(10, 8), a ARRAY<DECIMAL(3, 0)>", format="csv")
    environment.execute_sql("INSERT INTO t VALUES (0.00000010, ARRAY[120, 7])").wait()
    assert [b"0.00000010,120;7"] == [item["value"] for item in topic.sent]


def test_upserts(environment: TableEnvironment, topic: Topic) -> None:
    create(
        environment, "id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED", connector="upsert-kafka",
        scan__startup__mode="", key__format="json", value__format="json",
    )  # fmt: skip

    environment.execute_sql("INSERT INTO t VALUES (1, 'a'), (1, 'b'), (2, 'c')").wait()
    assert sorted((item["key"], item["value"]) for item in topic.sent) == [
        (b'{"id":1}', b'{"id":1,"v":"b"}'),
        (b'{"id":2}', b'{"id":2,"v":"c"}'),
    ]
    one, two = b'{"id":1}', b'{"id":2}'
    topic.messages = [
        (one, b'{"id":1,"v":"a"}'), (two, b'{"id":2,"v":"b"}'), (one, b'{"id":1,"v":"c"}'),
        (two, None),
    ]  # fmt: skip
    assert rows(environment) == [(1, "c")]
    assert topic.settings["startingOffsets"] == "earliest"
    environment.execute_sql("DROP TABLE t")
    create(environment, "a INT", connector="upsert-kafka", scan__startup__mode="",
           key__format="json", value__format="json")  # fmt: skip
    assert "requires a PRIMARY KEY" in code(environment, "SELECT * FROM t")[1]


def test_upserts_are_ordered_by_offset(environment: TableEnvironment, topic: Topic) -> None:
    """Keys are compared as rows: blanks in their JSON do not matter, nor do timestamps."""
    create(
        environment, "id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED", connector="upsert-kafka",
        scan__startup__mode="", key__format="json", value__format="json",
        value__fields_include="EXCEPT_KEY",
    )  # fmt: skip
    topic.messages = [
        (b'{"id":1}', b'{"v":"a"}'), (b'{"id": 1}', b'{"v":"b"}'), (b'{"id":2}', b'{"v":"c"}'),
        (b'{ "id":2}', None), (b'{"id":3}', None), (b'{"id":3}', b"{}"),
    ]  # fmt: skip

    assert sorted(rows(environment)) == [(1, "b"), (3, None)]


# --- changes -------------------------------------------------------------------------------------

UPDATE = {"before": {"id": 1, "v": "a"}, "after": {"id": 1, "v": "b"}, "op": "u", "ts_ms": 1000}
SOURCE = {"db": "d", "schema": "s", "table": "x", "ts_ms": 2500, "snapshot": True, "gtid": None}


def test_messages_of_changes_with_metadata(environment: TableEnvironment, topic: Topic) -> None:
    create(
        environment,
        "id INT, v STRING, ing TIMESTAMP_LTZ(3) METADATA FROM 'value.ingestion-timestamp' VIRTUAL,"
        " st TIMESTAMP_LTZ(3) METADATA FROM 'value.source.timestamp' VIRTUAL,"
        " db STRING METADATA FROM 'value.source.database' VIRTUAL,"
        " p MAP<STRING, STRING> METADATA FROM 'value.source.properties' VIRTUAL,"
        " sc STRING METADATA FROM 'value.schema' VIRTUAL,"
        " `offset` BIGINT METADATA VIRTUAL, PRIMARY KEY (id) NOT ENFORCED",
        format="debezium-json",
    )  # fmt: skip
    insert = {"after": {"id": 2, "v": "x"}, "op": "c"}
    topic.messages = [
        (None, json.dumps(insert).encode()), (None, None), (None, b""),
        (None, json.dumps({**UPDATE, "source": SOURCE}).encode()),
    ]  # fmt: skip
    properties = {"db": "d", "schema": "s", "table": "x", "ts_ms": "2500", "snapshot": "true",
                  "gtid": None}  # fmt: skip
    start = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)

    assert sorted(rows(environment), key=str) == [
        (1, "b", start + dt.timedelta(seconds=1), start + dt.timedelta(seconds=2.5), "d",
         properties, None, 3),
        (2, "x", None, None, None, None, None, 0),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("form", "message", "metadata", "expected"),
    [
        (
            "canal-json",
            {"data": [{"id": 1}], "type": "INSERT", "database": "d", "table": "x", "ts": 5,
             "sqlType": {"id": 4}, "pkNames": ["id"], "es": 6},
            {"database": "STRING", "table": "STRING", "sql-type": "MAP<STRING, INT>",
             "pk-names": "ARRAY<STRING>", "ingestion-timestamp": "TIMESTAMP_LTZ(3)",
             "event-timestamp": "TIMESTAMP_LTZ(3)"},
            ("d", "x", {"id": 4}, ["id"], 0.005, 0.006),
        ),
        (
            "maxwell-json",
            {"data": {"id": 1}, "type": "insert", "database": "d", "table": "x", "ts": 7,
             "primary_key_columns": ["id"]},
            {"database": "STRING", "table": "STRING", "primary-key-columns": "ARRAY<STRING>",
             "ingestion-timestamp": "TIMESTAMP_LTZ(3)"},
            ("d", "x", ["id"], 0.007),
        ),
        (
            "ogg-json",
            {"after": {"id": 1}, "op_type": "I", "table": "x", "primary_keys": ["id"],
             "current_ts": "1970-01-01T00:00:01.250000", "op_ts": "1970-01-01 00:00:02.000001"},
            {"table": "STRING", "primary-keys": "ARRAY<STRING>",
             "ingestion-timestamp": "TIMESTAMP_LTZ(6)", "event-timestamp": "TIMESTAMP_LTZ(6)"},
            ("x", ["id"], 1.25, 2.000001),
        ),
    ],
)  # fmt: skip
def test_metadata_of_changes(
    environment: TableEnvironment,
    topic: Topic,
    form: str,
    message: dict[str, Any],
    metadata: dict[str, str],
    expected: tuple[Any, ...],
) -> None:
    columns = "".join(
        f", `{key}` {type_} METADATA FROM 'value.{key}' VIRTUAL" for key, type_ in metadata.items()
    )
    create(environment, f"id INT{columns}", value__format=form)
    topic.messages = [(None, json.dumps(message).encode())]
    start = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    times = [start + dt.timedelta(seconds=v) if isinstance(v, float) else v for v in expected]

    assert rows(environment) == [(1, *times)]


@pytest.mark.parametrize(
    ("columns", "options"),
    [
        ("id INT, v STRING", {"key__format": "debezium-json", "key__fields": "id",
                              "value__format": "json"}),
        ("id INT, PRIMARY KEY (id) NOT ENFORCED", {"connector": "upsert-kafka",
         "scan__startup__mode": "", "key__format": "json", "value__format": "debezium-json"}),
    ],
)  # fmt: skip
def test_changes_that_are_refused(
    environment: TableEnvironment, topic: Topic, columns: str, options: dict[str, str]
) -> None:
    create(environment, columns, **options)

    result, message = code(environment, "SELECT * FROM t")
    assert "conflicting-options" == result
    assert "'debezium-json' is of changes" in message


def test_changes_are_written_to_topics(session: SparkSession, topic: Topic, tmp_path: Path) -> None:
    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode(), spark=session)
    (tmp_path / "rows").write_text(
        '{"after": {"id": 1, "v": "a"}, "op": "c"}\n{"after": {"id": 2, "v": "b"}, "op": "c"}\n'
        + json.dumps(UPDATE)
        + '\n{"before": {"id": 2, "v": "b"}, "op": "d"}\n'
    )
    columns = "id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED"
    environment.execute_sql(
        f"CREATE TABLE s ({columns}) WITH ('connector' = 'filesystem', 'format' = 'debezium-json',"
        f" 'path' = '{tmp_path}')"
    )
    create(environment, columns, format="maxwell-json")
    environment.execute_sql("INSERT INTO t SELECT * FROM s").wait()
    messages = [json.loads(item["value"]) for item in topic.sent]
    assert [(item["type"], item["data"]["id"], item["data"]["v"]) for item in messages] == [
        ("insert", 1, "a"), ("insert", 2, "b"), ("delete", 1, "a"), ("insert", 1, "b"),
        ("delete", 2, "b"),
    ]  # fmt: skip
    environment.execute_sql("DROP TABLE t")
    create(environment, columns, connector="upsert-kafka", scan__startup__mode="",
           key__format="json", value__format="json")  # fmt: skip
    environment.execute_sql("INSERT INTO t SELECT * FROM s").wait()
    assert sorted((item["key"], item["value"]) for item in topic.sent) == [
        (b'{"id":1}', b'{"id":1,"v":"b"}'), (b'{"id":2}', None),
    ]  # fmt: skip
