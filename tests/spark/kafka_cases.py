"""Runs the cases of tests/cases/kafka_results.jsonl: what Flink reads from topics, and writes.

As a program, ``python -m tests.spark.kafka_cases BROKERS REGISTRY [JARS]`` runs all of them with a
broker and a registry, and prints an answer a line: the changes, or the error. Without JARS, the
package of Spark for Kafka, topics are read and written through `confluent-kafka`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from fuzz.kafka_server import Servers
from fuzz.oracle.messages import Place, raw_table, register, to_bytes, without_ids
from fuzz.oracle.streams import folded
from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.connectors.kafka.connector import KafkaConnector
from schema_core.errors import SchemaCoreError
from schema_core.spark.streaming.micro_batches import MicroBatches
from tests.spark.recorded_changes import changes_until_stopped
from tests.support import CASES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Case = Mapping[str, Any]

#: One of so many cases is run with a broker.
BROKER = 8
#: The option of Spark's source that limits the messages of a micro-batch.
PACE = {"maxOffsetsPerTrigger": "2"}


#: Parts of a case's setup and messages -> why the answer is another one than Flink's.
DIFFERENT: Mapping[tuple[str, ...], str] = {
    ("MAP[CAST(NULL AS", "@proto"): "maps of Spark have no NULL keys: refused",
    ("map-null-key.mode", "MAP[CAST(NULL AS"): "maps of Spark have no NULL keys: refused",
    ("(size BIGINT,",): "Flink's task fails for an enumeration in a BIGINT",
    ("(size SMALLINT)",): "Flink's task fails for an enumeration in a SMALLINT",
    ("b TIMESTAMP_LTZ(3), c TIMESTAMP(6)",): "Flink writes milliseconds as microseconds",
    ("8089818283898506", "TIMESTAMP(3)"): "a timestamp after the year 9999: refused",
    ("(kid INT, n STRING,",): "Flink's jar of the connector lacks a method for this option",
    ("'value.source.database'", "'debezium-avro-confluent'"): "metadata, which Flink cannot read",
    ("'UTF-16", "61c3a4"): "bytes that are not of the charset: refused",
    ("'UTF-16", "616263"): "bytes that are not of the charset: refused",
    ("'US-ASCII'", "61c3a4"): "bytes that are not of the charset: refused",
    ("'US-ASCII'", "61e4"): "bytes that are not of the charset: refused",
    ("'US-ASCII'", "fffe"): "bytes that are not of the charset: refused",
    ("'US-ASCII'", "20ac"): "a character that the charset does not have: refused",
    ("'ISO-8859-1'", "20ac"): "a character that the charset does not have: refused",
    ("d TIMESTAMP(9)", "INSERT"): "nanoseconds, which Spark does not store: refused",
    ("(s STRING)", "json-parser.enabled' = 'true'"): "a number in a STRING is that of a DOUBLE",
    ("(s STRING, d DECIMAL(10, 2))", "1e5"): "a number in a STRING is that of a DOUBLE",
    ("(n DOUBLE, a ARRAY<DOUBLE>)", ": -0,"): "the integer -0 in a DOUBLE is 0.0",
    ("(n DOUBLE)", "'json'", ": -0}"): "the integer -0 in a DOUBLE is 0.0",
    ("(n FLOAT)", "'json'", ": -0}"): "the integer -0 in a FLOAT is 0.0",
    ("(n DECIMAL(10, 2), a", "1E400"): "a number beyond DOUBLE in a DECIMAL: refused",
    ("(n DECIMAL(10, 2))", "debezium-json", " 12 "): "blanks around a DECIMAL are skipped",
}


def why_different(case: Case) -> str | None:
    """Return why the answer to a case is known to be another one than Flink's."""
    text = " ".join([*case["setup"], *(str(part) for part in case["topics"].values())])
    return next(
        (reason for parts, reason in DIFFERENT.items() if all(part in text for part in parts)), None
    )


def recorded_cases() -> list[dict[str, Any]]:
    with (CASES / "kafka_results.jsonl").open(encoding="utf-8") as lines:
        return [*map(json.loads, lines)]


def is_unbounded(case: Case) -> bool:
    """Return whether a case reads changes that others have written: the topic may be unbounded.

    Of rows by key, Flink returns the former metadata of some.
    """
    formats = ("@upsert", *(f"{name}-" for name in ("debezium", "canal", "maxwell", "ogg")))
    return (
        "changes" in case
        and any(form in case["setup"][0] for form in formats)
        and not any("INSERT" in statement for statement in case["setup"])
        and not ("@upsert" in case["setup"][0] and "METADATA" in case["setup"][0])
        and why_different(case) is None
    )


def forms(case: Case) -> set[str]:
    """Return the formats and options of a case, whether it writes, and whether Flink fails."""
    text = " ".join([*case["setup"], case["sql"]])
    formats = re.findall(r"'(?:key\.|value\.)?format' = '[\w-]+'", text)
    others = re.findall(r"@proto|@upsert|METADATA|INSERT|'[a-z][\w.-]+' = ", text)
    return {*formats, *others, *(key for key in ("error", "has_ids") if key in case)}


def messages_of(case: Case, registry: str, prefix: str) -> dict[str, list[tuple[Any, Any]]]:
    """Return the messages of a case by topic; its schemas are registered."""
    ids = register(registry, case["schemas"], f"{prefix}schema")
    return {
        f"{prefix}{topic}": [(to_bytes(key, ids), to_bytes(value, ids)) for key, value in messages]
        for topic, messages in case["topics"].items()
    }


def answer(session: SparkSession, case: Case, place: Place) -> dict[str, Any]:
    """Return what this library answers to a case whose messages are in their topics."""
    settings = EnvironmentSettings.in_streaming_mode()
    environment = TableEnvironment.create(settings, spark=session)
    for key, value in {
        "table.local-time-zone": "UTC",
        "table.dml-sync": "true",
        **case.get("config", {}),
    }.items():
        environment.execute_sql(f"SET '{key}' = '{value}'")
    try:
        for topic in case["topics"]:  # as Flink, whose messages were written by this table
            environment.execute_sql(place.expand(raw_table(topic)))
        for sql in case["setup"]:
            environment.execute_sql(place.expand(sql))
        changes = changes_until_stopped(environment.execute_sql(place.expand(case["sql"])))
    except SchemaCoreError as error:
        return {"error": error.code, "message": str(error)}
    return {"changes": without_ids(changes) if case.get("has_ids") else changes}


def difference(case: Case, result: Mapping[str, Any], *, is_bounded: bool = True) -> str | None:
    """Return how an answer differs from Flink's, None if it does not.

    Of unbounded tables, the rows that the changes leave are compared.
    """
    if "changes" not in case or "changes" not in result:
        return None if ("changes" in case) == ("changes" in result) else f"{case} {result}"
    expected, changes = case["changes"], result["changes"]
    if not is_bounded and not (keeps_changes(case) and "@upsert" not in case["setup"][0]):
        expected, changes = folded(expected), folded(changes)
    elif "raw_" in case["sql"]:
        expected, changes = with_equal_numbers(expected), with_equal_numbers(changes)
    elif not keeps_changes(case):
        expected, changes = folded(expected), folded(changes)
    return None if expected == changes else f"expected {expected}, got {changes}"


def keeps_changes(case: Case) -> bool:
    """Return whether each change that is read is returned, and each one that is written."""
    statements = [case["sql"], *case["setup"]]
    words = ("COUNT", "COLLECT", "GROUP BY", "INSERT INTO u")
    return not any(word in sql for sql in statements for word in words)


def with_equal_numbers(changes: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Return changes with messages of json whose equal numbers are equal.

    Flink writes 100.00 as ``1E+2``, Spark with the digits of its type.
    """

    def plain_number(text: str) -> str:
        return format(Decimal(text).normalize(), "f")

    def with_plain_numbers(item: Any) -> Any:
        try:
            message = bytes.fromhex(item.removeprefix("0x")).decode()
            parsed = json.loads(
                message,
                parse_float=plain_number,
                parse_int=plain_number,
                object_pairs_hook=list,
            )
        except (AttributeError, ValueError):
            return item
        return [parsed, message.count(" ")]

    return [[kind, *map(with_plain_numbers, row)] for kind, *row in changes]


def main() -> None:
    brokers, registry, *jars = sys.argv[1:]
    from schema_core.spark.session.session import start

    packages = {"spark.jars": jars[0]} if jars else {}
    session = start({**packages, "spark.sql.shuffle.partitions": "1"})
    servers = Servers(brokers, registry)
    for number, case in enumerate(recorded_cases()[::BROKER]):
        place = Place(servers, f"own{number}-", CASES)
        send(session, brokers, messages_of(case, registry, place.prefix))
        print(json.dumps(answer(session, case, place)), flush=True)
    options = KafkaConnector.stream_options
    setattr(KafkaConnector, "stream_options", lambda *given: options(*given) | PACE)  # noqa: B010
    setattr(MicroBatches, "_add_trigger", lambda _, one: one.trigger(availableNow=True))  # noqa: B010
    for number, case in enumerate(filter(is_unbounded, recorded_cases())):
        place = Place(servers, f"arriving{number}-", CASES, is_bounded=False)
        send(session, brokers, messages_of(case, registry, place.prefix))
        print(json.dumps(answer(session, case, place)), flush=True)
    session.stop()


def send(session: SparkSession, brokers: str, messages: Mapping[str, Sequence[Any]]) -> None:
    """Write the messages of topics in their order."""
    for topic, pairs in messages.items():
        frame = session.createDataFrame(pairs, "key BINARY, value BINARY").coalesce(1)
        KafkaConnector().send(frame, {"kafka.bootstrap.servers": brokers, "topic": topic})


if __name__ == "__main__":
    main()
