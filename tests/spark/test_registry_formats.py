"""Messages of the formats `avro`, `avro-confluent` and `debezium-avro-confluent`.

The registry is one of this process on the loopback interface; the topic is that of `test_kafka`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from threading import Event, Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pytest

from schema_core import Row
from schema_core.connectors.kafka.schema_registry import SchemaRegistry
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import ExternalError, SchemaCoreError
from tests.spark.test_kafka import BASE, Topic, code, create, rows, topic

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

fastavro = pytest.importorskip("fastavro", reason="the extra `avro` is not installed")

__all__ = ["topic"]


class Registry:
    """A registry of schemas: the paths of Confluent's that the client uses."""

    def __init__(self) -> None:
        self.schemas: list[dict[str, Any]] = []
        self.subjects: dict[str, list[int]] = {}
        self.requests: list[tuple[str, str, str | None]] = []
        #: Path -> the status, headers and body of its answers.
        self.answers: dict[str, tuple[int, dict[str, str], bytes]] = {}
        registry = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer(b"")

            def do_POST(self) -> None:
                self._answer(self.rfile.read(int(self.headers["Content-Length"])))

            def _answer(self, body: bytes) -> None:
                authorization = self.headers.get("Authorization")
                registry.requests.append((self.command, self.path, authorization))
                status, headers, text = registry.answer(self.path, body)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"

    def answer(self, path: str, body: bytes) -> tuple[int, dict[str, str], bytes]:
        if path in self.answers:
            return self.answers[path]
        parts = [unquote(part) for part in path.strip("/").split("/")]
        match parts:
            case ["schemas", "ids", number] if int(number) <= len(self.schemas):
                result: Any = self.schemas[int(number) - 1]
            case ["subjects", subject, "versions", version]:
                result = self.schemas[self.subjects[subject][int(version) - 1] - 1]
            case ["subjects", subject, "versions"]:
                result = {"id": self.add(subject, json.loads(body)["schema"])}
            case _:
                missing = {"error_code": 40403, "message": "Schema not found"}
                return 404, {}, json.dumps(missing).encode()
        return 200, {}, json.dumps(result).encode()

    def add(self, subject: str, schema: Any, **others: Any) -> int:
        text = schema if isinstance(schema, str) else json.dumps(schema)
        item = {"schema": text, **others}
        if item not in self.schemas:
            self.schemas.append(item)
        schema_id = self.schemas.index(item) + 1
        self.subjects.setdefault(subject, []).append(schema_id)
        return schema_id

    def message(self, schema: Any, record: Any) -> bytes:
        """Return a message with the id of a schema."""
        schema_id = self.add("s", schema)
        datum = BytesIO()
        fastavro.schemaless_writer(datum, schema, record)
        return b"\0" + schema_id.to_bytes(4, "big") + datum.getvalue()


@pytest.fixture
def registry() -> Iterator[Registry]:
    result = Registry()
    yield result
    result.server.shutdown()
    result.server.server_close()


def record(name: str, /, **fields: Any) -> dict[str, Any]:
    own = [{"name": field, "type": type_} for field, type_ in fields.items()]
    return {"type": "record", "name": name, "fields": own}


COLUMNS = (
    "a INT NOT NULL, s STRING, d DECIMAL(30, 2), t TIMESTAMP(3), `date` DATE, `time` TIME(3),"
    " small SMALLINT, b BYTES, f FLOAT, r ROW<x INT, y ARRAY<STRING>>, m MAP<STRING, DECIMAL(4, 1)>"
)
VALUES = (
    "(1, 'ä', CAST('12345678901234567890.12' AS DECIMAL(30, 2)),"
    " TIMESTAMP '1969-12-31 23:59:59.999', DATE '2024-02-29',"
    " TIME '01:02:03', CAST(-5 AS SMALLINT), X'00ff', CAST(1.5 AS FLOAT), ROW(7, ARRAY['p', 'q']),"
    " MAP['k', CAST(-1.5 AS DECIMAL(4, 1))])"
)


def written_and_read(environment: TableEnvironment, topic: Topic) -> list[tuple[Any, ...]]:
    """Write rows, and return what is read of the messages and of the rows."""
    for target in (f"t VALUES {VALUES}", "t (a) VALUES (2)"):
        environment.execute_sql(f"INSERT INTO {target}").wait()
        topic.messages += [(None, message["value"]) for message in topic.sent]
    return rows(environment, "SELECT * FROM t ORDER BY a")


@pytest.mark.parametrize("form", ["binary", "json", "avro-confluent"])
def test_rows_are_read_as_they_were_written(
    environment: TableEnvironment, topic: Topic, registry: Registry, form: str
) -> None:
    options = {"format": "avro", "avro__encoding": form}
    if form == "avro-confluent":
        options = {"format": form, "avro-confluent.url": registry.url}
    create(environment, COLUMNS, **options)

    full, nulls = written_and_read(environment, topic)

    expected = rows(environment, f"SELECT * FROM (VALUES {VALUES})")[0]
    assert [*map(str, full)] == [*map(str, expected)]
    assert nulls == (2, *[None] * 10)
    if form == "avro-confluent":
        assert list(registry.subjects) == ["t-value"]
        schema = json.loads(registry.schemas[0]["schema"])
        assert schema["namespace"] == "org.apache.flink.avro.generated"
        assert [message[:5] for _, message in topic.messages if message] == [b"\0\0\0\0\1"] * 2
        fetched = [path for method, path, _ in registry.requests if method == "GET"]
        assert set(fetched) <= {"/schemas/ids/1"}


def test_timestamps_without_the_legacy_mapping(environment: TableEnvironment, topic: Topic) -> None:
    options = {**BASE, "format": "avro", "avro.timestamp_mapping.legacy": "false"}
    given = ", ".join(f"'{key}' = '{value}'" for key, value in options.items())
    environment.execute_sql(f"CREATE TABLE t (t TIMESTAMP(6), z TIMESTAMP_LTZ(3)) WITH ({given})")
    values = "TIMESTAMP '2024-01-01 00:00:00.123456', TO_TIMESTAMP_LTZ(-1, 3)"
    environment.execute_sql(f"INSERT INTO t VALUES ({values})").wait()
    topic.messages = [(None, topic.sent[0]["value"])]

    datum = BytesIO(topic.sent[0]["value"])
    schema = record("x", t=["null", "long"], z=["null", "long"])
    assert fastavro.schemaless_reader(datum, schema, None) == {"t": 1704067200123456, "z": -1}
    assert rows(environment) == rows(environment, f"SELECT {values}")


def test_messages_are_resolved_with_the_schema_that_wrote_them(
    environment: TableEnvironment, topic: Topic, registry: Registry
) -> None:
    create(
        environment, "n BIGINT, missing STRING, r ROW<y STRING, x DOUBLE>, rs ARRAY<ROW<x INT>>",
        format="avro-confluent", **{"avro-confluent.url": registry.url},
    )  # fmt: skip
    point = record("Point", x="float", extra="string", y={"type": "string", "doc": "x"})
    first = record("First", n="int", r=point, rs={"type": "array", "items": record("P", x="int")})
    second = ["null", record("Second", r=["null", record("Q", x="int", y="string")], n="long")]
    topic.messages = [
        (None, registry.message(
            first, {"n": 1, "r": {"x": 1.5, "extra": "", "y": "a"}, "rs": [{"x": 3}]})),
        (None, registry.message(second, {"n": 2**40, "r": {"x": 4, "y": "b"}})),
        (None, registry.message(second, {"n": 3, "r": None})),
    ]  # fmt: skip

    assert rows(environment) == [
        (1, None, Row("a", 1.5), [Row(3)]),
        (2**40, None, Row("b", 4.0), None),
        (3, None, None, None),
    ]
    paths = [path for _, path, _ in registry.requests]
    assert len(paths) == len(set(paths)) or len(set(paths)) == 2


def test_schemas_that_refer_to_others(
    environment: TableEnvironment, topic: Topic, registry: Registry
) -> None:
    create(
        environment, "r ROW<x INT>",
        format="avro-confluent", **{"avro-confluent.url": registry.url},
    )  # fmt: skip
    point = {**record("Point", x="int"), "namespace": "n"}
    registry.add("point", point)
    main = record("Main", r="n.Point")
    schema_id = registry.add(
        "main", main, references=[{"name": "n.Point", "subject": "point", "version": 1}]
    )
    topic.messages = [(None, b"\0" + schema_id.to_bytes(4, "big") + b"\x0e")]

    assert rows(environment) == [(Row(7),)]


@pytest.mark.parametrize(
    ("references", "problem"),
    [
        ([{"subject": "main", "version": 1}], None),
        ([{"subject": "main"}], "its references are not those of a registry"),
        (7, "its references are not those of a registry"),
    ],
)
def test_references_of_a_registry_are_bounded(
    registry: Registry, references: Any, problem: str | None
) -> None:
    schema_id = registry.add("main", record("Main", a="int"), references=references)
    client = SchemaRegistry.of("avro-confluent", {"avro-confluent.url": registry.url})

    if problem is None:
        assert 1 == len(client.schema(schema_id).references)
        assert 2 == len(registry.requests)
        return
    with pytest.raises(ExternalError, match=problem) as caught:
        client.schema(schema_id)
    assert "external-failure" == caught.value.code


def test_a_slow_answer_does_not_delay_other_schemas(registry: Registry) -> None:
    slow, fast = (registry.add(name, record(name, a="int")) for name in ("Slow", "Fast"))
    client = SchemaRegistry.of("avro-confluent", {"avro-confluent.url": registry.url})
    is_fetched = Event()
    answer = registry.answer

    def answer_when_fetched(path: str, body: bytes) -> tuple[int, dict[str, str], bytes]:
        if path == f"/schemas/ids/{slow}":
            assert is_fetched.wait(5)
        return answer(path, body)

    registry.answer = answer_when_fetched  # type: ignore[method-assign]
    with ThreadPoolExecutor() as threads:
        slow_schemas = [threads.submit(client.schema, slow) for _ in range(3)]
        assert "Fast" in client.schema(fast).schema
        is_fetched.set()
        assert 1 == len({future.result().schema for future in slow_schemas})

    assert 1 == sum(path == f"/schemas/ids/{slow}" for _, path, _ in registry.requests)


def test_keys_and_values_have_their_subjects(
    environment: TableEnvironment, topic: Topic, registry: Registry
) -> None:
    create(
        environment, "id INT NOT NULL, s STRING, PRIMARY KEY (id) NOT ENFORCED",
        connector="upsert-kafka", scan__startup__mode="",
        **{"key.format": "avro-confluent", "key.avro-confluent.url": registry.url,
           "value.format": "avro-confluent",
           "value.avro-confluent.schema-registry.url": registry.url,
           "value.avro-confluent.subject": "own"},
    )  # fmt: skip
    environment.execute_sql("INSERT INTO t VALUES (1, 'a'), (2, 'b'), (1, 'c')").wait()
    topic.messages = [(message["key"], message["value"]) for message in topic.sent]
    topic.messages.append((topic.messages[0][0], None))

    assert sorted(registry.subjects) == ["own", "t-key"]
    assert len(topic.sent) == 2
    assert len(rows(environment)) == 1


SECRETS = {
    "basic": {
        "avro-confluent.basic-auth.credentials-source": "USER_INFO",
        "avro-confluent.basic-auth.user-info": "ann:letmein9",
    },
    "property": {
        "avro-confluent.properties.basic.auth.credentials.source": "USER_INFO",
        "avro-confluent.properties.basic.auth.user.info": "ann:letmein9",
    },
    "bearer": {
        "avro-confluent.bearer-auth.credentials-source": "STATIC_TOKEN",
        "avro-confluent.bearer-auth.token": "letmein9",
    },
}


@pytest.mark.parametrize("kind", SECRETS)
def test_credentials_are_sent_and_masked(
    environment: TableEnvironment, topic: Topic, registry: Registry, kind: str
) -> None:
    options = {"avro-confluent.url": registry.url, **SECRETS[kind]}
    create(environment, "a INT", format="avro-confluent", **options)
    topic.messages = [(None, b"\0\0\0\0\x63\0")]

    problem = code(environment, "SELECT * FROM t")
    shown = str(rows(environment, "SHOW CREATE TABLE t"))
    client = SchemaRegistry.of("avro-confluent", options)

    headers = {authorization for _, _, authorization in registry.requests}
    assert headers == ({"Bearer letmein9"} if kind == "bearer" else {"Basic YW5uOmxldG1laW45"})
    assert "letmein9" not in f"{problem}{shown}{client!r}"
    assert problem[0] == "job-failed"
    assert "cannot read the schema with the id 99: HTTP status 404 Schema not found" in problem[1]
    assert "t partition 0, offset 0" in problem[1]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "conflicting-options"),
        ({"url": "file:///etc/passwd"}, "conflicting-options"),
        ({"url": "ftp://h"}, "conflicting-options"),
        ({"url": "http://h:99999"}, "conflicting-options"),
        ({"url": "http://h", "basic-auth.user-info": "a:b"}, "conflicting-options"),
        ({"url": "http://h", "bearer-auth.token": "a"}, "conflicting-options"),
        ({"url": "http://h", "schema": "{"}, "conflicting-options"),
        ({"url": "http://h", "schema": '"int"'}, "conflicting-options"),
        ({"url": "http://h", "ssl.truststore.location": "/no/file"}, "conflicting-options"),
        (
            {"url": "http://h", "basic-auth.credentials-source": "SASL_INHERIT"},
            "option-not-supported",
        ),
        ({"url": "http://h", "properties.x": "y"}, "option-not-supported"),
        ({"url": "http://h", "uri": "y"}, "unknown-option"),
    ],
)
def test_options_that_are_refused(
    environment: TableEnvironment, topic: Topic, options: dict[str, str], expected: str
) -> None:
    own = {f"avro-confluent.{key}": value for key, value in options.items()}
    create(environment, "a INT", format="avro-confluent", **own)

    assert code(environment, "SELECT * FROM t")[0] == expected


@pytest.mark.parametrize("type_", ["TIMESTAMP(6)", "MAP<INT, INT>", "TIMESTAMP_LTZ(3)"])
@pytest.mark.parametrize("form", ["avro", "avro-confluent", "debezium-avro-confluent"])
def test_types_that_are_refused(
    environment: TableEnvironment, topic: Topic, form: str, type_: str
) -> None:
    url = {} if form == "avro" else {f"{form}.url": "http://127.0.0.1:9"}
    create(environment, f"a {type_}", format=form, **url)

    assert code(environment, "SELECT * FROM t")[0] == "type-not-supported"


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        (b"\0\0\0", "it has 3 bytes"),
        (b"\x01\0\0\0\x01\x02", "its first byte is 1"),
        (b"\0\0\0\0\x01", "schema id 1: EOFError"),
        (b"", "it has 0 bytes"),
    ],
)
def test_messages_that_cannot_be_read(
    environment: TableEnvironment,
    topic: Topic,
    registry: Registry,
    message: bytes,
    problem: str,
) -> None:
    registry.add("s", record("A", a="int"))
    create(environment, "a INT", format="avro-confluent", **{"avro-confluent.url": registry.url})
    topic.messages = [(None, message)]

    result = code(environment, "SELECT * FROM t")

    assert result[0] == "job-failed"
    assert problem in result[1]


# --- the client -----------------------------------------------------------------------------------


def client(registry: Registry, **others: str) -> SchemaRegistry:
    return SchemaRegistry.of("avro-confluent", {"avro-confluent.url": registry.url, **others})


def failed(registry: Registry, schema_id: int) -> str:
    with pytest.raises(SchemaCoreError) as caught:
        client(registry).schema(schema_id)
    assert caught.value.code == "external-failure"
    return caught.value.problem


def test_a_schema_is_fetched_once(registry: Registry) -> None:
    registry.add("s", '"int"')

    assert {client(registry).schema(1).schema for _ in range(5)} == {'"int"'}
    assert len(registry.requests) == 1


def test_answers_are_bounded(registry: Registry) -> None:
    registry.answers = {
        "/schemas/ids/1": (200, {}, b'{"schema": "' + b"x" * (5 << 20)),
        "/schemas/ids/2": (200, {}, b"[" * 100_000),
        "/schemas/ids/3": (302, {"Location": "/schemas/ids/3"}, b""),
        "/schemas/ids/4": (302, {"Location": "file:///etc/passwd"}, b""),
        "/schemas/ids/5": (200, {}, b'{"schema": "x", "schemaType": "PROTOBUF"}'),
    }

    assert "more than 4 MiB" in failed(registry, 1)
    assert "not a JSON object" in failed(registry, 2)
    assert "HTTP status 302" in failed(registry, 3)
    assert "HTTP status 302" in failed(registry, 4)
    assert "'PROTOBUF'" in failed(registry, 5)


def test_a_redirect_to_another_server_has_no_credentials(registry: Registry) -> None:
    other = Registry()
    other.add("s", '"int"')
    registry.answers = {"/schemas/ids/1": (307, {"Location": f"{other.url}/schemas/ids/1"}, b"")}
    options = {"avro-confluent.url": registry.url.replace("//", "//ann:letmein9@")}

    assert SchemaRegistry.of("avro-confluent", options).schema(1).schema == '"int"'
    assert [header is None for _, _, header in registry.requests] == [False]
    assert [header for _, _, header in other.requests] == [None]
    other.server.shutdown()
    other.server.server_close()


def test_another_server_answers_if_one_does_not(registry: Registry) -> None:
    registry.add("s", '"int"')
    options = {"avro-confluent.url": f"http://127.0.0.1:9,{registry.url}"}

    assert SchemaRegistry.of("avro-confluent", options).schema(1).schema == '"int"'


def test_a_registration_that_the_registry_refuses(registry: Registry) -> None:
    body = b'{"error_code": 409, "message": "incompatible"}'
    registry.answers = {"/subjects/a%2Fb/versions": (409, {}, body)}

    with pytest.raises(SchemaCoreError, match=r"subject 'a/b': HTTP status 409 incompatible"):
        client(registry).register("a/b", '"int"')
    assert len(registry.requests) == 1


# --- changes --------------------------------------------------------------------------------------


ROW = record("Value", id="int", name=["null", "string"])
SOURCE = record("Source", db="string", schema=["null", "string"], table="string", ts_ms="long")
ENVELOPE = record(
    "Envelope",
    before=["null", ROW], after=["null", "Value"], source=SOURCE, op="string",
    ts_ms=["null", "long"],
)  # fmt: skip
CHANGES: list[tuple[str, Any, Any]] = [
    ("c", None, (1, "a")),
    ("r", None, (2, "b")),
    ("u", (1, "a"), (1, "c")),
    ("d", (2, "b"), None),
]


def change(registry: Registry, op: str, before: Any, after: Any) -> bytes:
    def row(values: Any) -> Any:
        return None if values is None else dict(zip(("id", "name"), values, strict=True))

    source = {"db": "shop", "schema": None, "table": "orders", "ts_ms": 1}
    content = {"op": op, "before": row(before), "after": row(after), "source": source, "ts_ms": 2}
    return registry.message(ENVELOPE, content)


def create_changes(environment: TableEnvironment, registry: Registry, columns: str) -> None:
    url = {"debezium-avro-confluent.url": registry.url}
    create(environment, columns, format="debezium-avro-confluent", **url)


def test_changes_of_debezium(
    environment: TableEnvironment, session: SparkSession, topic: Topic, registry: Registry
) -> None:
    streaming = TableEnvironment.create(EnvironmentSettings.in_streaming_mode(), spark=session)
    topic.messages = [(None, change(registry, *parts)) for parts in CHANGES] + [(None, None)]
    columns = (
        "id INT, name STRING, db STRING METADATA FROM 'value.source.database' VIRTUAL,"
        " moment TIMESTAMP_LTZ(3) METADATA FROM 'value.ingestion-timestamp' VIRTUAL,"
        " src MAP<STRING, STRING> METADATA FROM 'value.source.properties' VIRTUAL"
    )
    create_changes(environment, registry, columns)
    create_changes(streaming, registry, "id INT, name STRING")

    result = streaming.execute_sql("SELECT * FROM t").collect()
    state = rows(environment, "SELECT id, name, db, src, moment FROM t")

    assert [(str(row.get_row_kind()), *row) for row in result] == [
        ("+I", 1, "a"), ("+I", 2, "b"), ("-U", 1, "a"), ("+U", 1, "c"), ("-D", 2, "b"),
    ]  # fmt: skip
    source = {"db": "shop", "schema": None, "table": "orders", "ts_ms": "1"}
    assert [row[:4] for row in state] == [(1, "c", "shop", source)]
    assert state[0][4].timestamp() == 0.002


@pytest.mark.parametrize(
    ("parts", "problem"),
    [
        (("u", None, (1, "a")), "the field before of the UPDATE is missing"),
        (("d", None, None), "the field before of the DELETE is missing"),
        (("c", None, None), "the field after of the INSERT is missing"),
        (("x", None, None), "unknown op value 'x'"),
    ],
)
def test_corrupt_changes(
    environment: TableEnvironment,
    topic: Topic,
    registry: Registry,
    parts: tuple[str, Any, Any],
    problem: str,
) -> None:
    topic.messages = [(None, change(registry, *parts))]
    create_changes(environment, registry, "id INT, name STRING")

    result = code(environment, "SELECT * FROM t")

    assert problem in result[1]
    assert ("REPLICA IDENTITY FULL" in result[1]) == ("before" in problem)


def test_changes_are_written(session: SparkSession, topic: Topic, registry: Registry) -> None:
    streaming = TableEnvironment.create(EnvironmentSettings.in_streaming_mode(), spark=session)
    topic.messages = [(None, change(registry, *parts)) for parts in CHANGES]
    create_changes(streaming, registry, "id INT, name STRING")
    streaming.execute_sql(
        "CREATE TABLE w WITH ('topic' = 'w', 'debezium-avro-confluent.subject' = 'written') LIKE t"
        " (OVERWRITING OPTIONS)"
    )

    streaming.execute_sql("INSERT INTO w SELECT * FROM t").wait()

    schema_id = registry.subjects["written"][0]
    schema = json.loads(registry.schemas[schema_id - 1]["schema"])
    assert schema[0] == "null"
    assert [field["name"] for field in schema[1]["fields"]] == ["before", "after", "op"]
    one, two, three = ({"id": i, "name": n} for i, n in [(1, "a"), (2, "b"), (1, "c")])
    written = [
        fastavro.schemaless_reader(BytesIO(message["value"][5:]), schema, None)
        for message in topic.sent
    ]
    assert [(item["op"], item["before"], item["after"]) for item in written] == [
        ("c", None, one), ("c", None, two), ("d", one, None), ("c", None, three), ("d", two, None),
    ]  # fmt: skip
