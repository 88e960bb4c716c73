"""Topics of a broker through `confluent-kafka`: librdkafka's mock cluster, on loopback.

Offsets by time are only tested with a broker (`test_kafka_results`): the mock has none.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("confluent_kafka", reason="the extra `kafka` is not installed")

import pyarrow as pa
from confluent_kafka import Producer
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows

from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.connectors.kafka.client_properties import commits_offsets, to_client_properties
from schema_core.connectors.kafka.client_source import (
    MessageRange,
    TopicError,
    TopicReader,
    Topics,
    TopicStreamReader,
    TopicWriter,
    read_messages,
)
from schema_core.errors import SchemaCoreError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PARTITIONS = 4
NUMBERS = itertools.count()
#: Seconds until a streaming job has read what was sent.
TIMEOUT = 90


@pytest.fixture(scope="module")
def broker() -> Iterator[str]:
    """The address of a cluster, which lives as long as its producer."""
    settings = {"test.mock.num.brokers": 1, "bootstrap.servers": "unused:1", "log_level": 2}
    producer = Producer(settings)
    brokers = producer.list_topics(timeout=30).brokers.values()
    yield ",".join(f"{broker.host}:{broker.port}" for broker in brokers)
    del producer


@pytest.fixture
def topic(broker: str) -> str:
    """A topic with the messages 0 to 9, in partitions by number."""
    name = f"t{next(NUMBERS)}"
    send(broker, name, range(10))
    return name


def send(broker: str, topic: str, numbers: Any) -> None:
    producer = Producer({"bootstrap.servers": broker})
    for number in numbers:
        producer.produce(topic, b"v%d" % number, b"k%d" % number, number % PARTITIONS,
                         timestamp=1000 + number, headers=[("h", b"x"), ("n", None)])  # fmt: skip
    assert not producer.flush(30)


def options(broker: str, topic: str, **others: str) -> dict[str, str]:
    given = {key.replace("__", "."): value for key, value in others.items()}
    return {"kafka.bootstrap.servers": broker, "subscribe": topic, **given}


def values(broker: str, topic: str, **others: str) -> list[str]:
    """Return the values of the messages that a scan reads."""
    reader = TopicReader(Topics(options(broker, topic, **others)))
    rows = [row for part in reader.partitions() for batch in reader.read(part)
            for row in batch.to_pylist()]  # fmt: skip
    return sorted(row["value"].decode() for row in rows)


# --- the data source ------------------------------------------------------------------------------


def test_messages_have_the_columns_of_sparks_source(broker: str, topic: str) -> None:
    (batch,) = read_messages({"bootstrap.servers": broker}, MessageRange(topic, 1, 1, 2))

    assert batch.schema.names == [
        "key", "value", "topic", "partition", "offset", "timestamp", "timestampType", "headers",
        "leaderEpoch",
    ]  # fmt: skip
    (row,) = batch.to_pylist()
    assert row.pop("timestamp").timestamp() == 1.005
    assert row == {
        "key": b"k5", "value": b"v5", "topic": topic, "partition": 1, "offset": 1,
        "timestampType": 0, "leaderEpoch": 0,
        "headers": [{"key": "h", "value": b"x"}, {"key": "n", "value": None}],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ({"startingOffsets": "earliest"}, "0123456789"),
        ({"startingOffsets": "latest"}, ""),
        ({"startingOffsets": '{"@": {"0": 2, "1": 3}}'}, "2 3 6 7 8"),
        ({"startingOffsets": "earliest", "endingOffsets": '{"@": {"2": 1, "3": 2}}'}, "2 3 7"),
        ({"startingOffsets": "group", "startingOffsetsWithoutGroup": "earliest"}, "0123456789"),
        ({"startingOffsets": "group", "startingOffsetsWithoutGroup": "latest"}, ""),
    ],
)
def test_scans_start_and_end_at_offsets(
    broker: str, topic: str, bounds: Mapping[str, str], expected: str
) -> None:
    given = {key: value.replace("@", topic) for key, value in bounds.items()}

    assert values(broker, topic, **given) == [f"v{n}" for n in expected.replace(" ", "")]


def test_scans_of_patterns_and_several_topics(broker: str, topic: str) -> None:
    other = f"{topic}-other"
    send(broker, other, [20])
    pattern = {"kafka.bootstrap.servers": broker, "subscribePattern": f"{topic}.*"}

    assert len(values(broker, f"{topic},{other}", startingOffsets="earliest")) == 11
    with closing(Topics(pattern)) as topics:
        assert {place.topic for place in topics.partitions()} == {topic, other}


def test_scans_start_at_the_offsets_that_a_group_has_committed(broker: str, topic: str) -> None:
    group = f"g-{topic}"
    given = options(broker, topic, kafka__group__id=group, commitOffsets="true")
    stream = TopicStreamReader(Topics(given))
    stream.commit({topic: {"0": 2, "1": 1}})
    stream.stop()

    bounds = {"startingOffsets": "group", "kafka.group.id": group}
    assert values(broker, topic, **bounds, startingOffsetsWithoutGroup="latest") == [
        "v5", "v8", "v9",
    ]  # fmt: skip
    with pytest.raises(TopicError, match=r"group 'g-.*' has no offset of partition 2 of topic"):
        values(broker, topic, **bounds)
    ends = {"endingOffsets": "group", "startingOffsets": "earliest", "kafka.group.id": group}
    with pytest.raises(TopicError, match="has no offset of partition 2"):
        values(broker, topic, **ends)


def test_a_stream_continues_at_its_offsets(broker: str, topic: str) -> None:
    stream = TopicStreamReader(Topics(options(broker, topic, startingOffsets="earliest")))
    start = stream.initialOffset()
    end = stream.latestOffset(start, ReadAllAvailable())
    send(broker, topic, [12, 17])
    later = stream.latestOffset(end, ReadAllAvailable())

    assert start == {topic: dict.fromkeys("0123", 0)}
    assert end == {topic: {"0": 3, "1": 3, "2": 2, "3": 2}}
    assert later == {topic: {"0": 4, "1": 4, "2": 2, "3": 2}}
    assert [(one.partition, one.start, one.end) for one in stream.partitions(end, later)] == [
        (0, 3, 4), (1, 3, 4),
    ]  # fmt: skip
    assert [] == stream.partitions(later, later)
    stream.prepareForTriggerAvailableNow()
    send(broker, topic, [16])
    assert stream.latestOffset(later, ReadAllAvailable()) == later
    with pytest.raises(TopicError, match="the topic was deleted"):
        stream.latestOffset({topic: {"0": 99}}, ReadAllAvailable())
    stream.stop()


@pytest.mark.parametrize("limit", range(1, 11))
def test_a_limit_of_messages_is_reached_and_kept(broker: str, topic: str, limit: int) -> None:
    stream = TopicStreamReader(
        Topics(options(broker, topic, startingOffsets="earliest", maxOffsetsPerTrigger=str(limit)))
    )
    assert ReadMaxRows(limit) == stream.getDefaultReadLimit()
    place, sizes = stream.initialOffset(), []
    while True:
        following = stream.latestOffset(place, ReadMaxRows(limit))
        parts = stream.partitions(place, following)
        if not parts:
            break
        sizes.append(sum(part.end - part.start for part in parts))
        place = following
    stream.stop()

    assert max(sizes) <= limit
    assert sum(sizes) == 10


def test_new_partitions_are_read_from_their_first_message(broker: str, topic: str) -> None:
    stream = TopicStreamReader(Topics(options(broker, topic)))

    parts = stream.partitions({topic: {"0": 3}}, {topic: {"0": 3, "1": 2}})
    assert [(part.partition, part.start, part.end) for part in parts] == [(1, 0, 2)]
    stream.stop()


def test_messages_that_cannot_be_read(
    broker: str, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(TopicError, match="topic 'no-such-topic' does not exist"):
        values(broker, "no-such-topic", startingOffsets="earliest")
    for bound in ("startingOffsets", "endingOffsets"):
        with pytest.raises(TopicError, match=r"partition 9 of topic '.*' does not exist"):
            values(broker, topic, **{bound: f'{{"{topic}": {{"9": 1}}}}'})
    with pytest.raises(TopicError, match="has no message 99 any more"):
        list(read_messages({"bootstrap.servers": broker}, MessageRange(topic, 0, 99, 100)))
    monkeypatch.setattr("schema_core.connectors.kafka.client_source.REQUEST", 0.5)
    with pytest.raises(TopicError, match=r"the brokers '127.0.0.1:9'"):
        values("127.0.0.1:9", topic)


def test_a_time_that_a_timestamp_cannot_hold_is_absent(broker: str) -> None:
    topic = f"t{next(NUMBERS)}"
    producer = Producer({"bootstrap.servers": broker})
    for millis in (9_999_999_999_999_999, 5):
        producer.produce(topic, b"v", partition=0, timestamp=millis)
    producer.flush(30)

    (batch,) = read_messages({"bootstrap.servers": broker}, MessageRange(topic, 0, 0, 2))
    assert batch["timestamp"].is_null().to_pylist() == [True, False]


def test_keys_go_to_the_partitions_of_javas_producer(broker: str) -> None:
    """Partitions by murmur2 of the key, as Java's clients (and so Flink and Spark) compute them."""
    topic = f"t{next(NUMBERS)}"
    keys = [b"21", b"foobar", b"a-little-bit-long-string", b"a-little-bit-longer-string",
            b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", b"abc"]  # fmt: skip
    hashes = [-973932308, -790332482, -985981536, -1486304829, -58897971, 479470107]
    batch = pa.record_batch({"value": [None] * len(keys), "key": pa.array(keys, pa.binary())})
    TopicWriter(topic, {"bootstrap.servers": broker}).write(iter([batch]))

    topics = Topics(options(broker, topic, startingOffsets="earliest"))
    reader = TopicReader(topics)
    places = {row["key"]: row["partition"] for part in reader.partitions()
              for batch in reader.read(part) for row in batch.to_pylist()}  # fmt: skip
    assert places == {
        key: (number & 0x7FFFFFFF) % PARTITIONS for key, number in zip(keys, hashes, strict=True)
    }


def test_messages_that_cannot_be_written(broker: str) -> None:
    batch = pa.record_batch({"value": pa.array([b"x" * 3000], pa.binary())})
    properties = {"bootstrap.servers": broker, "message.max.bytes": "2000"}
    with pytest.raises(TopicError, match=r"topic 'big': .*too large"):
        TopicWriter("big", properties).write(iter([batch]))
    closed = {"bootstrap.servers": "127.0.0.1:9", "delivery.timeout.ms": "500"}
    with pytest.raises(TopicError, match=r"topic 'big': .*timed out"):
        TopicWriter("big", closed).write(iter([batch]))


# --- properties -----------------------------------------------------------------------------------

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ({"acks": "1", "fetch.max.wait.ms": "5"}, {"acks": "1", "fetch.wait.max.ms": "5"}),
        ({"max.poll.records": "5", "commit.offsets.on.checkpoint": "false"}, {}),
        ({"ssl.endpoint.identification.algorithm": ""},
         {"ssl.endpoint.identification.algorithm": "none"}),
        ({"sasl.jaas.config": f'{PLAIN} username="u" password="a\\"b;";'},
         {"sasl.username": "u", "sasl.password": 'a"b;'}),
        ({"sasl.jaas.config": f"{PLAIN} username='u' password=pw ;"},
         {"sasl.username": "u", "sasl.password": "pw"}),
        ({"sasl.jaas.config": "x.Krb5LoginModule required useKeyTab=true keyTab='/k'"
          " principal='p@R';"},
         {"sasl.kerberos.keytab": "/k", "sasl.kerberos.principal": "p@R"}),
        ({"ssl.truststore.location": "/c", "ssl.truststore.type": "pem"},
         {"ssl.ca.location": "/c"}),
        ({"ssl.keystore.location": "/c", "ssl.keystore.type": "PEM", "ssl.key.password": "p"},
         {"ssl.certificate.location": "/c", "ssl.key.location": "/c", "ssl.key.password": "p"}),
        ({"ssl.keystore.location": "/c", "ssl.keystore.type": "PKCS12"},
         {"ssl.keystore.location": "/c"}),
        ({"ssl.truststore.location": "/c"}, None),
        ({"test.mock.num.brokers": "1"}, None),
        ({"ssl.keystore.location": "/c", "ssl.keystore.type": "JKS"}, None),
        ({"sasl.jaas.config": "OAuthBearerLoginModule required made-up-secret"}, None),
        ({"sasl.jaas.config": f"{PLAIN} user='made-up-secret';"}, None),
    ],
)  # fmt: skip
def test_properties_of_java(
    properties: Mapping[str, str], expected: Mapping[str, str] | None
) -> None:
    if expected is not None:
        assert to_client_properties(properties) == expected
        return
    with pytest.raises(SchemaCoreError) as caught:
        to_client_properties(properties)
    assert caught.value.code == "option-not-supported"
    assert "made-up-secret" not in str(caught.value)


def test_offsets_are_committed_for_groups_that_are_named() -> None:
    assert commits_offsets({"group.id": "g"})
    assert not commits_offsets({})
    assert not commits_offsets({"group.id": "g", "commit.offsets.on.checkpoint": "false"})


# --- tables ---------------------------------------------------------------------------------------


def create(
    environment: TableEnvironment, name: str, columns: str, broker: str, topic: str, **more: str
) -> None:
    every = {"connector": "kafka", "topic": topic, "properties.bootstrap.servers": broker}
    every |= {key.replace("__", ".").replace("_", "-"): value for key, value in more.items()}
    shown = ", ".join(f"'{key}' = '{value}'" for key, value in every.items() if value)
    environment.execute_sql(f"CREATE TABLE {name} ({columns}) WITH ({shown})")


def rows(environment: TableEnvironment, query: str) -> list[tuple[Any, ...]]:
    return sorted(map(tuple, environment.execute_sql(query).collect()))


def test_rows_that_are_written_are_read(environment: TableEnvironment, broker: str) -> None:
    topic = f"t{next(NUMBERS)}"
    create(
        environment, "t", "id INT, v STRING, h MAP<STRING, BYTES> METADATA FROM 'headers', e INT"
        " METADATA FROM 'leader-epoch' VIRTUAL", broker, topic, value__format="json",
        key__format="json", key__fields="id", value__fields_include="EXCEPT_KEY",
        scan__startup__mode="earliest-offset", scan__bounded__mode="latest-offset",
    )  # fmt: skip
    environment.execute_sql(
        "INSERT INTO t VALUES (1, 'a', MAP['k', X'01']), (2, 'b', MAP['k', CAST(NULL AS BYTES)])"
    ).wait()

    assert rows(environment, "SELECT * FROM t") == [
        (1, "a", {"k": b"\x01"}, 0), (2, "b", {"k": None}, 0),
    ]  # fmt: skip
    create(
        environment, "u", "id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED", broker, f"{topic}u",
        connector="upsert-kafka", key__format="json", value__format="json",
        scan__bounded__mode="latest-offset",
    )  # fmt: skip
    environment.execute_sql("INSERT INTO u VALUES (1, 'a'), (1, 'b'), (2, 'c')").wait()
    assert rows(environment, "SELECT * FROM u") == [(1, "b"), (2, "c")]


@pytest.mark.parametrize(
    ("hint", "code", "part"),
    [
        ("'properties.made.up' = '1'", "option-not-supported", "properties.made.up"),
        ("'properties.sasl.jaas.config' = 'x'", "option-not-supported", "PlainLoginModule"),
        ("'properties.acks' = 'maybe'", "option-not-supported", "acks"),
        ("'scan.startup.mode' = 'group-offsets'", "conflicting-options", "properties.group.id"),
        ("'properties.group.id' = ' '", "conflicting-options", "must not be blank"),
        ("'properties.max.request.size' = '-5'", "option-not-supported", "max.request.size"),
        (
            "'properties.ssl.ca.location' = '/no', 'properties.security.protocol' = 'SSL'",
            "option-not-supported",
            "'properties.*': ",
        ),
        ("'topic' = 'no-such-topic'", "job-failed", "topic 'no-such-topic' does not exist"),
    ],
)
def test_scans_that_fail(
    environment: TableEnvironment, broker: str, topic: str, hint: str, code: str, part: str
) -> None:
    create_bounded(environment, broker, topic)
    with pytest.raises(SchemaCoreError) as caught:
        rows(environment, f"SELECT * FROM t /*+ OPTIONS({hint}) */")

    assert caught.value.code == code
    assert part in str(caught.value)


@pytest.mark.parametrize(
    "hint", ["'scan.startup.mode' = 'latest-offset'", "'topic-pattern' = 'no-such-.*'"]
)
def test_scans_without_messages(
    environment: TableEnvironment, broker: str, topic: str, hint: str
) -> None:
    create_bounded(environment, broker, topic if "pattern" not in hint else "")

    assert [] == rows(environment, f"SELECT * FROM t /*+ OPTIONS({hint}) */")


def create_bounded(environment: TableEnvironment, broker: str, topic: str) -> None:
    create(
        environment, "t", "v STRING", broker, topic, format="raw",
        scan__startup__mode="earliest-offset", scan__bounded__mode="latest-offset",
    )  # fmt: skip


def test_a_streaming_job_continues_and_commits_its_offsets(
    session: SparkSession, broker: str, topic: str, tmp_path: Path
) -> None:
    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode(), spark=session)
    environment.execute_sql(f"SET 'execution.checkpointing.dir' = '{tmp_path / 'checkpoints'}'")
    create(
        environment, "s", "v STRING", broker, topic, format="raw", properties__group__id="own",
        properties__auto__offset__reset="earliest",
    )  # fmt: skip
    create(environment, "t", "v STRING", broker, f"{topic}-out", format="raw")
    for numbers in ((), (10, 11), (12, 13)):
        send(broker, topic, numbers)
        job = environment.execute_sql("INSERT INTO t SELECT UPPER(v) FROM s").get_job_client()
        assert job is not None
        last = f"V{max(numbers, default=9)}"
        deadline = time.monotonic() + TIMEOUT
        while last not in written(broker, f"{topic}-out") and time.monotonic() < deadline:
            time.sleep(0.2)
        job.cancel().result()

    # at least once: a job that is stopped before its micro-batch is recorded writes it again
    assert {f"V{number}" for number in range(14)} == {
        *values(broker, f"{topic}-out", startingOffsets="earliest")
    }
    with closing(Topics(options(broker, topic, startingOffsets="group", kafka__group__id="own",
                                startingOffsetsWithoutGroup="earliest"))) as topics:  # fmt: skip
        assert sum(topics.start()[topic].values()) >= 10


def written(broker: str, topic: str) -> list[str]:
    """Return the values of a topic, none before the first."""
    try:
        return values(broker, topic, startingOffsets="earliest")
    except TopicError:
        return []
