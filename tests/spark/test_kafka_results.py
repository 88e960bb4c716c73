"""Messages are read and written as by Flink 2.3.0: see fuzz/oracle/messages.py.

Without a broker and a registry, those of `test_kafka` and `test_registry_formats` stand for them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fuzz import kafka_server
from fuzz.kafka_server import Servers
from fuzz.oracle.messages import Place
from fuzz.stream_kills import add_messages, create_topic
from schema_core.connectors.kafka.connector import KafkaConnector
from tests.slow_tests import draw_cases
from tests.spark.kafka_cases import (
    BROKER,
    answer,
    difference,
    forms,
    is_unbounded,
    messages_of,
    recorded_cases,
    why_different,
)
from tests.spark.test_kafka import RECORD, START
from tests.spark.test_registry_formats import Registry, registry
from tests.support import CASES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.usefixtures("one_task")

pytest.importorskip("fastavro", reason="the extra `avro` is not installed")
pytest.importorskip("google.protobuf", reason="the extra `protobuf` is not installed")

__all__ = ["registry"]

RECORDED = recorded_cases()


class Topics:
    """The messages of topics, in place of a broker."""

    def __init__(self) -> None:
        self.messages: dict[str, list[tuple[bytes | None, bytes | None]]] = {}

    def records(self, session: SparkSession, settings: Mapping[str, str]) -> DataFrame:
        topic = settings["subscribe"]
        rows = [
            (key, value, topic, 0, offset, START, 0, None)
            for offset, (key, value) in enumerate(self.messages.get(topic, []))
        ]
        return session.createDataFrame(rows, RECORD)

    def stream(self, place: Path, session: SparkSession, settings: Mapping[str, str]) -> DataFrame:
        rows = self.records(session, settings).coalesce(1).sortWithinPartitions("offset")
        rows.write.option("maxRecordsPerFile", "2").parquet(str(place / settings["subscribe"]))
        for number, path in enumerate(sorted((place / settings["subscribe"]).glob("part-*"))):
            os.utime(path, (1_700_000_000 + number,) * 2)
        reader = session.readStream.schema(RECORD).option("maxFilesPerTrigger", "1")
        return reader.parquet(str(place / settings["subscribe"]))

    def send(self, messages: DataFrame, settings: Mapping[str, str]) -> None:
        rows = (row.asDict() for row in messages.collect())
        pairs = [(row.get("key"), row["value"]) for row in rows]
        self.messages.setdefault(settings["topic"], []).extend(pairs)


@pytest.fixture
def topics(monkeypatch: pytest.MonkeyPatch) -> Topics:
    result = Topics()
    monkeypatch.setattr(KafkaConnector, "records", lambda _, *given: result.records(*given))
    monkeypatch.setattr(KafkaConnector, "send", lambda _, *given: result.send(*given))
    return result


@pytest.mark.parametrize("case", draw_cases(RECORDED, forms), ids=map(str, range(len(RECORDED))))
def test_messages_are_those_of_flink(
    session: SparkSession, topics: Topics, registry: Registry, case: dict[str, Any]
) -> None:
    place = Place(Servers("h:9092", registry.url), "", CASES)
    topics.messages = messages_of(case, registry.url, "")

    problem = difference(case, answer(session, case, place))
    if (reason := why_different(case)) is not None:
        assert problem is not None, f"now as Flink: {reason}"
    else:
        assert problem is None


ARRIVING = list(filter(is_unbounded, RECORDED))


@pytest.mark.parametrize("case", draw_cases(ARRIVING, forms), ids=map(str, range(len(ARRIVING))))
@pytest.mark.usefixtures("one_file_at_a_time")
def test_messages_that_arrive(
    session: SparkSession,
    topics: Topics,
    registry: Registry,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    case: dict[str, Any],
) -> None:
    """Two messages arrive in each micro-batch."""
    place = Place(Servers("h:9092", registry.url), "", CASES, is_bounded=False)
    topics.messages = messages_of(case, registry.url, "")
    monkeypatch.setattr(KafkaConnector, "stream", lambda _, *given: topics.stream(tmp_path, *given))

    assert difference(case, answer(session, case, place), is_bounded=False) is None


@pytest.mark.slow
@pytest.mark.parametrize("source", ["spark", "confluent-kafka"])
def test_messages_of_a_broker_are_those_of_flink(source: str) -> None:
    if (reason := kafka_server.why_not()) is not None:
        pytest.skip(reason)
    jars = [",".join(map(str, kafka_server.spark_jars()))] if source == "spark" else []
    with kafka_server.servers() as started:
        program = [sys.executable, "-m", "tests.spark.kafka_cases"]
        ran = subprocess.run(
            [*program, started.brokers, started.registry, *jars],
            capture_output=True, text=True, cwd=CASES.parent.parent, check=False,
        )  # fmt: skip
    assert ran.returncode == 0, ran.stderr[-2000:]
    answers = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
    bounded, arriving = answers[: -len(ARRIVING)], answers[-len(ARRIVING) :]
    differences = [
        difference(case, own)
        for case, own in zip(RECORDED[::BROKER], bounded, strict=True)
        if why_different(case) is None
    ]
    differences += (
        difference(case, own, is_bounded=False)
        for case, own in zip(ARRIVING, arriving, strict=True)
    )

    assert [text for text in differences if text is not None] == []


#: A job that copies a topic into files until they have a number of rows.
COPY = """
import sys, time
from pathlib import Path
from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.spark.session.session import start

brokers, folder, rows, jars = sys.argv[1:]
settings = {"spark.jars": jars} if jars else {}
settings["spark.sql.shuffle.partitions"] = "1"
environment = TableEnvironment.create(
    EnvironmentSettings.in_streaming_mode(), spark=start(settings)
)
environment.execute_sql(f"SET 'execution.checkpointing.dir' = '{folder}/checkpoints'")
environment.execute_sql(
    "CREATE TABLE source (v STRING) WITH ('connector' = 'kafka', 'topic' = 'source',"
    "'format' = 'raw', 'scan.startup.mode' = 'earliest-offset',"
    f"'properties.bootstrap.servers' = '{brokers}')"
)
environment.execute_sql(
    "CREATE TABLE sink (v STRING) WITH ('connector' = 'filesystem', 'format' = 'csv',"
    f"'path' = '{folder}/sink')"
)
job = environment.execute_sql("INSERT INTO sink SELECT v FROM source").get_job_client()
end = time.monotonic() + 120
while time.monotonic() < end:
    written = [line for file in Path(folder, "sink").glob("part-*") for line in file.open()]
    if len(written) >= int(rows):
        break
    time.sleep(0.3)
time.sleep(1)
job.cancel().result()
"""


@pytest.mark.slow
def test_each_source_continues_the_checkpoints_of_the_other(tmp_path: Path) -> None:
    if (reason := kafka_server.why_not()) is not None:
        pytest.skip(reason)
    jars = ",".join(map(str, kafka_server.spark_jars()))
    with kafka_server.broker() as broker:
        create_topic(broker.address)
        for turn, source in enumerate((jars, "", jars, "")):
            lines = [f"v{number}" for number in range(10 * turn, 10 * turn + 10)]
            add_messages(broker.address, "", lines)
            ran = subprocess.run(
                [sys.executable, "-c", COPY, broker.address, tmp_path, str(10 * turn + 10), source],
                capture_output=True, text=True, check=False,
            )  # fmt: skip
            assert ran.returncode == 0, ran.stderr[-2000:]
    rows = [row for file in (tmp_path / "sink").glob("part-*") for row in file.read_text().split()]

    assert sorted(rows) == sorted(f"v{number}" for number in range(40))
