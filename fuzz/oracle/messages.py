"""Records what Flink reads from topics of Kafka, and what it writes into them.

    python -m fuzz.oracle.messages [--oracle .oracle]

It needs Maven, from whose jars `fuzz.kafka_server` starts a broker and a schema registry. The
recording is tests/cases/kafka_results.jsonl: a line for each case, with its topics, and the changes
of its query in streaming mode, or the error.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias
from urllib.request import Request, urlopen

from fuzz.kafka_server import Servers, servers
from fuzz.oracle.asking import ask
from tests.support import CASES

RECORDING = CASES / "kafka_results.jsonl"

#: A case: the `schemas` that are registered, the `topics` with their messages, the statements of
#: `setup`, and the query `sql`. A message is a pair of a key and a value, each None, text, or a
#: mapping with `hex`, bytes, and `schema`, the place of the schema whose id precedes them.
#: `has_ids`: whether the bytes that the query returns begin with the ids of schemas.
Case: TypeAlias = dict[str, Any]
Message: TypeAlias = tuple[Any, Any]


@dataclass(frozen=True, slots=True)
class Place:
    """Where the topics of a case are.

    Attributes:
        servers: The broker and the registry.
        prefix: The start of the names of topics.
        descriptors: The directory of the files of descriptors, None for Flink.
        is_bounded: Whether tables are read up to the present end of their topics.
    """

    servers: Servers
    prefix: str
    descriptors: Path | None = None
    is_bounded: bool = True

    def expand(self, sql: str) -> str:
        """Return a statement with the options for which its placeholders stand.

        The placeholders are ``@kafka(topic)``, ``@upsert(topic)``, ``@registry``, and
        ``@proto(file.Message)``.
        """
        sql = re.sub(r"@(kafka|upsert)\((\w+)\)", self._connector, sql)
        sql = re.sub(r"@proto\((\w+)\.(\w+)\)", self._message, sql)
        return sql.replace("@registry", self.servers.registry)

    def _connector(self, match: re.Match[str]) -> str:
        options = {
            "connector": {"kafka": "kafka", "upsert": "upsert-kafka"}[match[1]],
            "topic": f"{self.prefix}{match[2]}",
            "properties.bootstrap.servers": self.servers.brokers,
            "scan.bounded.mode": "latest-offset" if self.is_bounded else "unbounded",
            "sink.parallelism": "1",
        }
        if match[1] == "kafka":
            options["scan.startup.mode"] = "earliest-offset"
        return ", ".join(f"'{key}' = '{value}'" for key, value in options.items())

    def _message(self, match: re.Match[str]) -> str:
        file, name = match.groups()
        is_outer = file != "wares3"  # which has the option java_multiple_files
        outer = f"{file.capitalize()}$" if is_outer else ""
        options = {"format": "protobuf", "protobuf.message-class-name": f"com.{file}.{outer}{name}"}
        if self.descriptors is not None:
            options["protobuf.descriptor-file"] = str(self.descriptors / f"{file}.desc")
        return ", ".join(f"'{key}' = '{value}'" for key, value in options.items())


def raw_table(topic: str) -> str:
    """Return the statement that creates a table of the bytes of a topic."""
    return (
        f"CREATE TABLE raw_{topic} (k BYTES, v BYTES) WITH (@kafka({topic}), 'key.format' = 'raw',"
        " 'key.fields' = 'k', 'value.format' = 'raw', 'value.fields-include' = 'EXCEPT_KEY')"
    )


def register(registry: str, schemas: Sequence[Any], prefix: str) -> list[int]:
    """Return the ids of schemas, which are registered."""
    ids = []
    for number, schema in enumerate(schemas):
        body = json.dumps({"schema": json.dumps(schema)}).encode()
        headers = {"Content-Type": "application/vnd.schemaregistry.v1+json"}
        url = f"{registry}/subjects/{prefix}{number}/versions"
        with urlopen(Request(url, body, headers), timeout=30) as response:
            ids.append(int(json.load(response)["id"]))
    return ids


def to_bytes(part: Any, ids: Sequence[int]) -> bytes | None:
    """Return a part of a message; `ids` are those of the case's schemas."""
    if part is None:
        return None
    if isinstance(part, str):
        return part.encode()
    data = bytes.fromhex(part["hex"])
    return b"\0" + ids[part["schema"]].to_bytes(4, "big") + data if "schema" in part else data


def without_ids(changes: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Return changes whose bytes lack the id of a schema: each registry has its own ids.

    >>> without_ids([["+I", None, "0x000000000702"]])
    [['+I', None, '0x02']]
    """
    return [
        [kind, *(f"0x{item[12:]}" if isinstance(item, str) else item for item in row)]
        for kind, *row in changes
    ]


# --- Flink ----------------------------------------------------------------------------------------


def questions(cases: Sequence[Case], servers: Servers) -> Iterator[dict[str, Any]]:
    """Yield what Flink is asked."""
    for number, case in enumerate(cases):
        place = Place(servers, f"case{number}-")
        ids = register(servers.registry, case["schemas"], f"schema{number}-")
        setup = []
        for topic, messages in case["topics"].items():
            values = (
                ", ".join(
                    f"X'{data.hex()}'" if data is not None else "CAST(NULL AS BYTES)"
                    for data in (to_bytes(part, ids) for part in message)
                )
                for message in messages
            )
            setup += [raw_table(topic), f"INSERT INTO raw_{topic} VALUES ({'), ('.join(values)})"]
        yield {
            "setup": [place.expand(sql) for sql in (*setup, *case["setup"])],
            "sql": place.expand(case["sql"]),
            "config": {"table.dml-sync": "true", **case.get("config", {})},
        }


def main() -> None:
    from fuzz.oracle.message_cases import CASES_OF_MESSAGES

    parser = argparse.ArgumentParser(description="Record what Flink reads and writes in Kafka.")
    parser.add_argument("--oracle", default=".oracle", help="the directory that setup.sh filled")
    options = parser.parse_args()
    with servers() as started:
        answers = ask(options.oracle, questions(CASES_OF_MESSAGES, started), "Streams")
    with RECORDING.open("w", encoding="utf-8") as file:
        for case, answer in zip(CASES_OF_MESSAGES, answers, strict=True):
            recorded: dict[str, Any] = {
                "error": answer.get("error"),
                "message": answer.get("message"),
            }
            if answer["ok"]:
                changes = answer["changes"]
                recorded = {"changes": without_ids(changes) if case.get("has_ids") else changes}
            file.write(json.dumps({**case, **recorded}, ensure_ascii=False) + "\n")
    print(f"{len(answers)} cases were recorded")


if __name__ == "__main__":
    main()
