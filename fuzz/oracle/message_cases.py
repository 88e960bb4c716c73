"""The cases of `fuzz.oracle.messages`: messages as protobuf, Avro and JSON, and their tables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from typing import Any

import fastavro
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format

from fuzz.oracle.messages import Case, Message, raw_table
from tests.support import CASES

READ = "SELECT * FROM t"


def case(
    sql: str,
    *setup: str,
    topics: Mapping[str, Sequence[Message]] | None = None,
    schemas: Sequence[Any] = (),
    **others: Any,
) -> Case:
    return {
        "schemas": list(schemas),
        "topics": topics or {},
        "setup": list(setup),
        "sql": sql,
        **others,
    }


def table(columns: str, options: str, name: str = "t") -> str:
    return f"CREATE TABLE {name} ({columns}) WITH ({options})"


def values(*messages: Any) -> dict[str, Sequence[Message]]:
    """Return the topic `m` with messages without keys."""
    return {"m": [(None, message) for message in messages]}


def written(columns: str, options: str, query: str, **others: Any) -> Iterator[Case]:
    """Yield what is written into the topic `m`, and what is read of it."""
    setup = [table(columns, options), f"INSERT INTO t {query}"]
    yield case("SELECT k, v FROM raw_m", *setup, raw_table("m"), **others)
    yield case(READ, *setup)


# --- protobuf -------------------------------------------------------------------------------------


def proto(file: str, text: str, name: str = "Ware") -> dict[str, str]:
    """Return the message of protobuf's text format."""
    files = descriptor_pb2.FileDescriptorSet.FromString((CASES / f"{file}.desc").read_bytes())
    pool = descriptor_pool.DescriptorPool()
    for item in files.file:
        pool.Add(item)
    message = message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{file}.{name}"))()
    text_format.Parse(text, message)
    return {"hex": message.SerializePartialToString().hex()}


WARES2 = (
    "id INT, i INT, l BIGINT, f FLOAT, d DOUBLE, t BOOLEAN, s STRING, b BYTES, size STRING,"
    " plain_size STRING, grade STRING, part ROW<weight INT, label STRING>,"
    " parts ARRAY<ROW<label STRING, weight INT>>, sizes ARRAY<STRING>, packed_numbers ARRAY<INT>,"
    " size_of MAP<STRING, STRING>, flags MAP<BIGINT, BOOLEAN>, number INT, name STRING,"
    " piece ROW<weight INT>, sf INT, fl BIGINT"
)
TEXTS2 = (
    "id: 1",
    "id: 0 i: 0 l: 0 f: 0 d: 0 t: false s: '' b: '' size: SMALL plain_size: SMALL grade: HIGH",
    "id: 2 part {} parts {} parts { label: 'q' } sizes: LARGE sizes: SMALL packed_numbers: -1",
    "id: 3 size_of { key: 'k' value: LARGE } size_of { key: '' } flags { key: -1 value: true }",
    "id: 4 number: 0",
    "id: 5 name: 'x'",
    "id: 6 piece {}",
    "id: 7 sf: -1 fl: 18446744073709551615",
)
#: A number of an enum that is not one of its values, a field that is not known, and other orders.
BYTES2 = ("08014803", "0801b00109", "08012a0568656c6c6f", "b8020108071001", "1003")
WARES3 = (
    "id INT, sold_at ROW<seconds BIGINT, nanos INT>,"
    " visits ARRAY<ROW<seconds BIGINT, nanos INT>>,"
    " `inner` ROW<deep ROW<text STRING, numbers ARRAY<BIGINT>>,"
    " deeps MAP<STRING, ROW<text STRING, numbers ARRAY<BIGINT>>>,"
    " listed ARRAY<ROW<text STRING, numbers ARRAY<BIGINT>>>>, blobs MAP<STRING, BYTES>,"
    " rates MAP<BOOLEAN, DOUBLE>, sizes MAP<INT, STRING>, number BIGINT, name STRING,"
    " piece ROW<deep ROW<text STRING>>, zig INT, un INT, sl BIGINT, maybe STRING,"
    " maybe_size STRING, bools ARRAY<BOOLEAN>, raws ARRAY<BYTES>, size STRING"
)
TEXTS3 = (
    "",
    "id: 1 sold_at { seconds: 1700000000 nanos: 5 } visits {} visits { nanos: -1 }",
    "inner { deep { text: 'a' numbers: [1, -2] } listed {} listed { numbers: 3 } }",
    "inner { deeps { key: 'k' value { text: 'v' } } deeps { key: 'e' value {} } }",
    "inner {} blobs { key: 'b' value: 'x' } rates { key: true value: 1.5 }",
    "sizes { key: 1 value: LARGE } sizes { key: -2 value: NONE } number: 0",
    "name: '' zig: -64 un: 4294967295 sl: -9",
    "piece { deep { text: 'p' } } maybe: '' maybe_size: NONE bools: [true, false]",
    "raws: ['', 'z'] size: LARGE maybe_size: LARGE maybe: 'm'",
)
#: A NULL of every type, within arrays, maps and rows.
NULLS3 = (
    "SELECT 1, ROW(CAST(NULL AS BIGINT), CAST(NULL AS INT)), ARRAY[ROW(CAST(1 AS BIGINT), 2)],"
    " ROW(ROW(CAST(NULL AS STRING), ARRAY[CAST(1 AS BIGINT), CAST(NULL AS BIGINT)]),"
    " CAST(NULL AS MAP<STRING, ROW<text STRING, numbers ARRAY<BIGINT>>>),"
    " CAST(NULL AS ARRAY<ROW<text STRING, numbers ARRAY<BIGINT>>>)),"
    " MAP['k', CAST(NULL AS BYTES)], MAP[TRUE, CAST(NULL AS DOUBLE)], MAP[3, 'LARGE'],"
    " CAST(NULL AS BIGINT), CAST(NULL AS STRING), ROW(ROW('deep')), 5, -1, CAST(8 AS BIGINT),"
    " CAST(NULL AS STRING), CAST(NULL AS STRING), ARRAY[TRUE, CAST(NULL AS BOOLEAN)],"
    " ARRAY[X'01', CAST(NULL AS BYTES)], 'SMALL'"
)


def protobuf_cases() -> Iterator[Case]:
    for file, columns, texts in (("wares2", WARES2, TEXTS2), ("wares3", WARES3, TEXTS3)):
        messages = values(*(proto(file, text) for text in texts))
        for defaults in ("", ", 'protobuf.read-default-values' = 'true'"):
            options = f"@kafka(m), @proto({file}.Ware){defaults}"
            yield case(READ, table(columns, options), topics=messages)
    for data in BYTES2:
        for others in ("", ", 'protobuf.read-default-values' = 'true'"):
            options = f"@kafka(m), @proto(wares2.Ware){others}"
            columns = "id INT, i INT, s STRING, size STRING, plain_size STRING, grade STRING"
            yield case(READ, table(columns, options), topics=values({"hex": data}))
    broken = values(
        {"hex": "0801"}, {"hex": "ff"}, {"hex": "3205"}, None, {"hex": ""}, {"hex": "0802"}
    )
    for skips in ("true", "false"):
        options = f"@kafka(m), @proto(wares3.Ware), 'protobuf.ignore-parse-errors' = '{skips}'"
        yield case(
            READ, table("id INT, `inner` ROW<deep ROW<text STRING>>", options), topics=broken
        )
    for columns in (
        "id INT, size INT",
        "size BIGINT, maybe_size INT, sizes MAP<INT, INT>",
        "sold_at TIMESTAMP(3)",
        "un BIGINT",
        "id BIGINT",
        "`inner` STRING",
        "nothing INT",
        "bools BOOLEAN",
        "ID INT",
        "size SMALLINT",
        "id SMALLINT",
        "maybe VARCHAR(3)",
        "maybe CHAR(3)",
        "raws ARRAY<VARBINARY(2)>",
        "rates MAP<BOOLEAN, FLOAT>",
        "id INT NOT NULL",
        "size INT, piece ROW<nothing INT>",
        "name STRING, number BIGINT",
    ):
        messages = values(*(proto("wares3", text) for text in TEXTS3))
        yield case(READ, table(columns, "@kafka(m), @proto(wares3.Ware)"), topics=messages)
    for literal in ("", ", 'protobuf.write-null-string-literal' = 'none'"):
        options = f"@kafka(m), @proto(wares3.Ware){literal}"
        yield from written(WARES3, options, NULLS3)
        yield from written(
            "name STRING, maybe STRING, blobs MAP<STRING, BYTES>, sizes MAP<INT, STRING>",
            options,
            "SELECT '', CAST(NULL AS STRING), MAP[CAST(NULL AS STRING), X'01'],"
            " MAP[CAST(NULL AS INT), CAST(NULL AS STRING)]",
        )
        yield from written(
            "id INT, `inner` ROW<listed ARRAY<ROW<text STRING>>>",
            options,
            "SELECT 1, ROW(ARRAY[ROW('a'), ROW(CAST(NULL AS STRING)),"
            " CAST(NULL AS ROW<text STRING>)])",
        )
    options = "@kafka(m), @proto(wares3.Ware)"
    for columns, query in (
        ("number BIGINT, name STRING", "SELECT CAST(1 AS BIGINT), 'both'"),
        ("number BIGINT, name STRING", "SELECT CAST(0 AS BIGINT), CAST(NULL AS STRING)"),
        ("size STRING, sizes MAP<INT, STRING>", "SELECT 'HUGE', MAP[1, 'nope']"),
        ("size INT, maybe_size INT", "SELECT 77, 5"),
        ("id INT, zig INT, un INT, sl BIGINT", "SELECT 0, 0, 0, CAST(0 AS BIGINT)"),
        ("id INT", "SELECT CAST(NULL AS INT)"),
    ):
        yield from written(columns, options, query)
    for columns, query in (
        ("id INT, i INT, s STRING", "SELECT 1, CAST(NULL AS INT), CAST(NULL AS STRING)"),
        ("i INT", "SELECT 1"),
        ("id INT, part ROW<weight INT, label STRING>", "SELECT 1, ROW(CAST(NULL AS INT), 'a')"),
        ("id INT, grade STRING", "SELECT 1, CAST(NULL AS STRING)"),
        ("id INT, grade STRING", "SELECT 1, 'NOPE'"),
    ):
        yield from written(columns, "@kafka(m), @proto(wares2.Ware)", query)


# --- avro -----------------------------------------------------------------------------------------


def record(name: str, /, **fields: Any) -> dict[str, Any]:
    """Return the schema of a record; a field with a default is a pair."""
    own: list[dict[str, Any]] = []
    for field, type_ in fields.items():
        if isinstance(type_, tuple):
            own.append({"name": field, "type": type_[0], "default": type_[1]})
        else:
            own.append({"name": field, "type": type_})
    return {"type": "record", "name": name, "fields": own}


def datum(schema: Any, value: Any) -> str:
    """Return the bytes of a value as hexadecimal digits."""
    data = BytesIO()
    fastavro.schemaless_writer(data, fastavro.parse_schema(json.loads(json.dumps(schema))), value)
    return data.getvalue().hex()


def evolved(columns: str, *pairs: tuple[Any, Any], **others: Any) -> Case:
    """Return the read of messages, each a schema and its value, by a table."""
    messages = [
        {"schema": number, "hex": datum(schema, value)}
        for number, (schema, value) in enumerate(pairs)
    ]
    options = "@kafka(m), 'format' = 'avro-confluent', 'avro-confluent.url' = '@registry'"
    return case(
        READ,
        table(columns, options),
        topics=values(*messages),
        schemas=[schema for schema, _ in pairs],
        **others,
    )


LOGICAL = (
    "d DATE, t0 TIME, t3 TIME(3), ts TIMESTAMP(3), de DECIMAL(10, 2), ti TINYINT,"
    " si SMALLINT, b BYTES, v VARBINARY(4), fb BINARY(2), c CHAR(3), vc VARCHAR(5), f FLOAT,"
    " m MAP<STRING, ARRAY<INT>>, r ROW<a TIMESTAMP(3), b DECIMAL(4, 1)>, bo BOOLEAN"
)
LOGICAL_VALUES = (
    "SELECT DATE '1969-12-31', TIME '23:59:59', TIME '01:02:03.456',"
    " TIMESTAMP '1969-12-31 23:59:59.999',"
    " CAST(-1.5 AS DECIMAL(10, 2)), CAST(-128 AS TINYINT), CAST(32767 AS SMALLINT), X'00ff',"
    " X'01', X'0102', 'ab', 'ä', CAST(1.1 AS FLOAT), MAP['k', ARRAY[1, CAST(NULL AS INT)]],"
    " ROW(TIMESTAMP '2024-01-01 00:00:00', CAST(99.9 AS DECIMAL(4, 1))), TRUE"
)
INSTANTS = "a TIMESTAMP(3), b TIMESTAMP_LTZ(3), c TIMESTAMP(6), d TIMESTAMP_LTZ(6)"
INSTANT_VALUES = (
    "SELECT TIMESTAMP '2024-01-01 00:00:00.123', TO_TIMESTAMP_LTZ(1700000000123, 3),"
    " TIMESTAMP '2024-01-01 00:00:00.123456', CAST(TO_TIMESTAMP_LTZ(-1, 3) AS TIMESTAMP_LTZ(6))"
)


def avro_cases() -> Iterator[Case]:
    registry = "'format' = 'avro-confluent', 'avro-confluent.url' = '@registry'"
    forms = {
        "avro": ("'format' = 'avro'", {}),
        "json": ("'format' = 'avro', 'avro.encoding' = 'json'", {}),
        "confluent": (f"{registry}, 'avro-confluent.subject' = 'own'", {"has_ids": True}),
    }
    for form, others in forms.values():
        options = f"@kafka(m), {form}"
        yield from written(LOGICAL, options, LOGICAL_VALUES, **others)
        yield from written(
            "a INT, s STRING NOT NULL, r ROW<x INT> NOT NULL",
            options,
            "SELECT CAST(NULL AS INT), 'x', ROW(CAST(NULL AS INT))",
            **others,
        )
        yield from written(
            "a ARRAY<ROW<x INT, y ARRAY<STRING>>>, m MAP<STRING, ROW<p MAP<STRING, INT>>>",
            options,
            "SELECT ARRAY[ROW(1, ARRAY['a']), CAST(NULL AS ROW<x INT, y ARRAY<STRING>>)],"
            " MAP['k', ROW(MAP['i', 5])]",
            **others,
        )
        yield from written(
            "a TIMESTAMP(3), t TIMESTAMP(0)",
            options,
            "SELECT TIMESTAMP '0001-01-01 00:00:00', TIMESTAMP '9999-12-31 23:59:59'",
            **others,
        )
        yield from written(
            "t TIMESTAMP(6)", options, "SELECT TIMESTAMP '2024-02-29 01:02:03.123456'", **others
        )
        yield from written(
            "a INT, d DOUBLE, f FLOAT, n BIGINT",
            options,
            "SELECT -2147483648, 1e308, CAST(1e-45 AS FLOAT),"
            " CAST('-9223372036854775808' AS BIGINT)",
            **others,
        )
    for columns in (
        "a MAP<INT, STRING>",
        "a TIMESTAMP(9)",
        "a TIMESTAMP_LTZ(3)",
        "a TIME(6)",
        "a INTERVAL DAY TO SECOND(3)",
        "a MULTISET<STRING>",
        "a TIMESTAMP_LTZ(6)",
    ):
        yield case(READ, table(columns, "@kafka(m), 'format' = 'avro'"), topics=values({"hex": ""}))
    options = "@kafka(m), 'format' = 'avro', 'avro.timestamp_mapping.legacy' = 'false'"
    yield from written(INSTANTS, options, INSTANT_VALUES)
    for data in ("", "02", "0002", "00020466", "04"):
        columns = "a INT, s STRING"
        yield case(
            READ, table(columns, "@kafka(m), 'format' = 'avro'"), topics=values({"hex": data})
        )
    for text in (
        '{"a": {"int": 1}, "s": null}',
        '{"s": {"string": "x"}, "a": null}',
        '{"a": null}',
        '{"a": 1, "s": null}',
        '{"a": null, "s": null, "z": 1}',
        "{",
        "",
    ):
        columns = "a INT, s STRING"
        options = "@kafka(m), 'format' = 'avro', 'avro.encoding' = 'json'"
        yield case(READ, table(columns, options), topics=values(text))


def evolution_cases() -> Iterator[Case]:
    """Yield messages of other schemas than that of the table."""
    wide = record("W", a="int", s="string", z={"type": "array", "items": "string"})
    yield evolved("s STRING, a BIGINT, missing STRING", (wide, {"a": 1, "s": "x", "z": ["q"]}))
    yield evolved(
        "a BIGINT, d DOUBLE",
        (record("W", d="int", a="int"), {"a": 1, "d": 2}),
        (record("W", d="float", a="long"), {"a": 3, "d": 1.5}),
        (record("W", d="long", a="int"), {"a": 5, "d": 2**40}),
    )
    yield evolved("a INT", (record("W", a="long"), {"a": 1}))
    yield evolved("a STRING", (record("W", a="bytes"), {"a": b"xy"}))
    yield evolved("a BYTES", (record("W", a="string"), {"a": "xy"}))
    yield evolved("a STRING", (record("W", a="int"), {"a": 1}))
    yield evolved("a INT NOT NULL", (record("W", b="int"), {"b": 1}))
    yield evolved("a INT NOT NULL", (record("W", a=["null", "int"]), {"a": 1}))
    yield evolved("a INT NOT NULL", (record("W", a=["null", "int"]), {"a": None}))
    yield evolved(
        "a INT",
        (record("W", a=["string", "int", "null"]), {"a": 5}),
        (record("W", a=["string", "int", "null"]), {"a": None}),
    )
    yield evolved("a STRING", (record("W", a=["null", "int", "string"]), {"a": "s"}))
    yield evolved("a INT", (record("W", a=["null", "int", "string"]), {"a": "s"}))
    enum = {"type": "enum", "name": "E", "symbols": ["A", "B"]}
    yield evolved("a STRING", (record("W", a=enum), {"a": "B"}))
    fixed = {"type": "fixed", "name": "F", "size": 2}
    yield evolved("a BYTES", (record("W", a=fixed), {"a": b"xy"}))
    yield evolved("a BINARY(2)", (record("W", a=fixed), {"a": b"xy"}))
    millis = {"type": "long", "logicalType": "timestamp-millis"}
    micros = {"type": "long", "logicalType": "timestamp-micros"}
    yield evolved("a TIMESTAMP(3)", (record("W", a=millis), {"a": 1700000000123}))
    yield evolved("a TIMESTAMP(3)", (record("W", a=micros), {"a": 1700000000123456}))
    yield evolved("a TIMESTAMP(6)", (record("W", a=millis), {"a": 1700000000123}))
    yield evolved("a TIMESTAMP(6)", (record("W", a=micros), {"a": 1700000000123456}))
    yield evolved("a BIGINT", (record("W", a=micros), {"a": 1700000000123456}))
    yield evolved("a TIMESTAMP(3)", (record("W", a="long"), {"a": 1700000000123}))
    yield evolved("a DATE, t TIME", (record("W", a="int", t="int"), {"a": 1, "t": 1000}))
    money = {"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 2}
    yield evolved("a DECIMAL(6, 2)", (record("W", a=money), {"a": b"\x30\x39"}))
    yield evolved("a DECIMAL(4, 1)", (record("W", a=money), {"a": b"\x30\x39"}))
    inner = record("I", y="string", x="float", extra="int")
    yield evolved(
        "r ROW<x DOUBLE, y STRING, n INT>",
        (record("W", r=inner), {"r": {"x": 1.5, "y": "a", "extra": 1}}),
    )
    yield evolved(
        "rs ARRAY<ROW<x INT>>, m MAP<STRING, BIGINT>",
        (
            record(
                "W",
                rs={"type": "array", "items": record("I", x="int", y="int")},
                m={"type": "map", "values": "int"},
            ),
            {"rs": [{"x": 1, "y": 2}], "m": {"k": 5}},
        ),
    )
    yield evolved("A INT, a INT", (record("W", a="int"), {"a": 1}))
    yield evolved(
        "a INT, b INT", (record("W", a=("int", 5), b=(["null", "int"], None)), {"a": 1, "b": 2})
    )
    yield evolved("s STRING", ("string", "x"))


def registry_cases() -> Iterator[Case]:
    """Yield messages without the id of a schema or with an unknown one, and given schemas."""
    registry = "'format' = 'avro-confluent', 'avro-confluent.url' = '@registry'"
    options = f"@kafka(m), {registry}"
    for data in ("", "00", "0100000001", "00000f4240", "00ffffffff02"):
        yield case(READ, table("a INT", options), topics=values({"hex": data}))
    own = record("Own", a="int")
    for schema in (
        own,
        ["null", own],
        record("Own", a="long"),
        record("Own", b="int"),
        "int",
        record("Own", a=["null", "int"]),
        record("org.x.Own", a={"type": "int", "doc": "d"}),
    ):
        options = (
            f"@kafka(m), {registry}, 'avro-confluent.subject' = 'given',"
            f" 'avro-confluent.schema' = '{json.dumps(schema)}'"
        )
        yield from written("a INT NOT NULL", options, "SELECT 1", has_ids=True)
        yield from written("a INT", options, "SELECT 1", has_ids=True)


# --- changes --------------------------------------------------------------------------------------

ROW = {"id": 1, "n": "a", "w": 1.5}
SOURCE = {
    "version": "2.7",
    "connector": "mysql",
    "name": "srv",
    "ts_ms": 1700000000123,
    "db": "inventory",
    "schema": "public",
    "table": "products",
    "file": "bin.3",
    "pos": 154,
}


def debezium(op: str, before: Any, after: Any, **others: Any) -> dict[str, Any]:
    return {
        "before": before,
        "after": after,
        "source": SOURCE,
        "op": op,
        "ts_ms": 1700000000999,
    } | others


CHANGES = [
    (None, debezium("c", None, ROW)),
    (None, debezium("r", None, {**ROW, "id": 2})),
    (None, debezium("u", ROW, {**ROW, "n": "b"})),
    (None, debezium("d", {**ROW, "id": 2}, None)),
    (None, None),
]
JSON_CHANGES = {"m": [(key, value and json.dumps(value)) for key, value in CHANGES]}
METADATA = (
    "db STRING METADATA FROM 'value.source.database' VIRTUAL, id INT,"
    " ingested TIMESTAMP_LTZ(3) METADATA FROM 'value.ingestion-timestamp' VIRTUAL, n STRING,"
    " changed TIMESTAMP_LTZ(3) METADATA FROM 'value.source.timestamp' VIRTUAL,"
    " props MAP<STRING, STRING> METADATA FROM 'value.source.properties' VIRTUAL, w DOUBLE,"
    " place BIGINT METADATA FROM 'offset' VIRTUAL, part INT METADATA FROM 'partition' VIRTUAL,"
    " s STRING METADATA FROM 'value.schema' VIRTUAL,"
    " tab STRING METADATA FROM 'value.source.table' VIRTUAL,"
    " sch STRING METADATA FROM 'value.source.schema' VIRTUAL"
)
AVRO_ROW = record("Value", id="int", n=(["null", "string"], None), w="double")
AVRO_ROW["namespace"] = "srv.inventory.products"
AVRO_SOURCE = record(
    "Source",
    version="string",
    connector="string",
    name="string",
    ts_ms="long",
    db="string",
    schema=["null", "string"],
    table="string",
    file="string",
    pos="long",
)
ENVELOPE = record(
    "Envelope",
    before=(["null", AVRO_ROW], None),
    after=(["null", "srv.inventory.products.Value"], None),
    source=AVRO_SOURCE,
    op="string",
    ts_ms=(["null", "long"], None),
)
ENVELOPE["namespace"] = "srv.inventory.products"
AVRO_CHANGES = {
    "m": [(key, value and {"schema": 0, "hex": datum(ENVELOPE, value)}) for key, value in CHANGES]
}
DEBEZIUM_AVRO = (
    "@kafka(m), 'format' = 'debezium-avro-confluent', 'debezium-avro-confluent.url' = '@registry'"
)
DEBEZIUM_JSON = "@kafka(m), 'format' = 'debezium-json'"
COLUMNS = "id INT, n STRING, w DOUBLE"
KEYED = f"{COLUMNS}, PRIMARY KEY (id) NOT ENFORCED"
UPSERTED = "id INT, n STRING, w DOUBLE, PRIMARY KEY (id) NOT ENFORCED"
UPSERT = "@upsert(u), 'key.format' = '{0}', 'value.format' = '{0}'"
KEYED_MESSAGES = {
    "u": [
        ('{"id": 1}', '{"id": 1, "n": "a", "w": 1}'),
        ('{"id": 2}', '{"id": 2, "n": "b", "w": 2}'),
        ('{"id":1}', '{"id": 1, "n": "aa", "w": 1}'),
        ('{"id": 3}', None),
        ('{"id": 2}', None),
        ('{"id": 1}', '{"id": 1, "n": "aa", "w": 1}'),
        ('{"id": 4}', '{"id": 4, "n": null}'),
        ('{"id": 2}', '{"id": 2, "n": "again", "w": 2.5}'),
    ]
}
QUERIES = (
    READ,
    "SELECT id, n FROM t WHERE w > 1",
    "SELECT COUNT(*), SUM(w) FROM t",
    "SELECT n, COUNT(*) FROM t GROUP BY n",
)


def change_cases() -> Iterator[Case]:
    for options, topics, schemas in (
        (DEBEZIUM_JSON, JSON_CHANGES, []),
        (DEBEZIUM_AVRO, AVRO_CHANGES, [ENVELOPE]),
    ):
        for columns in (COLUMNS, KEYED, METADATA):
            yield case(READ, table(columns, options), topics=topics, schemas=schemas)
        for sql in QUERIES[1:]:
            yield case(sql, table(KEYED, options), topics=topics, schemas=schemas)
        yield case(
            "SELECT db, n, id FROM t", table(METADATA, options), topics=topics, schemas=schemas
        )
        # changes into a topic of changes, and into one of rows by key
        for other in ("debezium-json", "canal-json", "maxwell-json", "ogg-json"):
            sink = f"@kafka(o), 'format' = '{other}'"
            yield case(
                "SELECT k, v FROM raw_o",
                table(COLUMNS, options),
                table(COLUMNS, sink, "o"),
                "INSERT INTO o SELECT * FROM t",
                raw_table("o"),
                topics=topics,
                schemas=schemas,
            )
        sink = DEBEZIUM_AVRO.replace("(m)", "(o)") + ", 'debezium-avro-confluent.subject' = 'o'"
        yield case(
            "SELECT k, v FROM raw_o",
            table(COLUMNS, options),
            table(COLUMNS, sink, "o"),
            "INSERT INTO o SELECT * FROM t",
            raw_table("o"),
            topics=topics,
            schemas=schemas,
            has_ids=True,
        )
        yield case(
            "SELECT * FROM o",
            table(COLUMNS, options),
            table(COLUMNS, sink, "o"),
            "INSERT INTO o SELECT * FROM t",
            topics=topics,
            schemas=schemas,
        )
        for form in ("json", "avro"):
            yield case(
                "SELECT * FROM u",
                table(KEYED, options),
                table(UPSERTED, UPSERT.format(form), "u"),
                "INSERT INTO u SELECT * FROM t",
                topics=topics,
                schemas=schemas,
            )
    null_message = {"m": [(None, "null"), (None, ""), *JSON_CHANGES["m"]]}
    for skips in ("true", "false"):
        options = f"{DEBEZIUM_JSON}, 'debezium-json.ignore-parse-errors' = '{skips}'"
        yield case(READ, table(COLUMNS, options), topics=null_message)
    wrapped = [
        (None, json.dumps({"schema": {"type": "struct"}, "payload": value}))
        for _, value in CHANGES
        if value
    ]
    yield case(
        READ,
        table(METADATA, f"{DEBEZIUM_JSON}, 'debezium-json.schema-include' = 'true'"),
        topics={"m": wrapped},
    )
    # the same, with the options of the value and a key of its own
    keyed = {
        "m": [(f'{{"k": {number}}}', value) for number, (_, value) in enumerate(JSON_CHANGES["m"])]
    }
    options = (
        "@kafka(m), 'value.format' = 'debezium-json', 'key.format' = 'json',"
        " 'key.fields' = 'k', 'value.fields-include' = 'EXCEPT_KEY'"
    )
    yield case(READ, table(f"k INT, {COLUMNS}", options), topics=keyed)
    # upsert-kafka
    for sql in QUERIES:
        yield case(sql, table(UPSERTED, UPSERT.format("json")), topics=KEYED_MESSAGES)
    upsert = UPSERT.format("json")
    yield case(
        READ,
        table(
            "kid INT, n STRING, PRIMARY KEY (kid) NOT ENFORCED",
            f"{upsert}, 'key.fields-prefix' = 'k', 'value.fields-include' = 'EXCEPT_KEY'",
        ),
        topics=KEYED_MESSAGES,
    )
    yield case(
        READ,
        table(f"place BIGINT METADATA FROM 'offset' VIRTUAL, {UPSERTED}", upsert),
        topics=KEYED_MESSAGES,
    )
    yield case(READ, table(UPSERTED, upsert), "INSERT INTO t VALUES (1, 'a', 1.0)")
    conflict = " ON CONFLICT DO DEDUPLICATE"
    yield case(
        READ,
        table(UPSERTED, upsert),
        f"INSERT INTO t VALUES (1, 'a', 1.0), (2, 'b', 2.0){conflict}",
    )
    yield case(
        "SELECT k, v FROM raw_u",
        table(UPSERTED, upsert),
        raw_table("u"),
        f"INSERT INTO t VALUES (1, 'a', 1.0), (2, CAST(NULL AS STRING), 2.0){conflict}",
    )


# --- texts ----------------------------------------------------------------------------------------

TYPED = (
    "i INT, s STRING, d DECIMAL(10, 2), t TIMESTAMP(3), l TIMESTAMP_LTZ(3), m MAP<STRING, INT>,"
    " r ROW<x INT, y STRING>, a ARRAY<ROW<z DOUBLE>>"
)
WHOLE = {
    "i": 1,
    "s": "x",
    "d": 1.25,
    "t": "2024-01-01 00:00:00.5",
    "l": "2024-01-01 00:00:00Z",
    "m": {"k": 1},
    "r": {"x": 1, "y": "q"},
    "a": [{"z": 1.5}],
}
ISO = {**WHOLE, "t": "2024-01-01T00:00:00.5", "l": "2024-01-01T00:00:00Z"}
#: Messages that lack a field, or have one of another type.
IMPERFECT = (
    json.dumps(WHOLE),
    json.dumps(dict.fromkeys(WHOLE)),
    json.dumps({name: value for name, value in WHOLE.items() if name != "s"}),
    json.dumps({**WHOLE, "r": {"x": 1}}),
    json.dumps({**WHOLE, "a": [{"z": 1}, {}]}),
    json.dumps({**WHOLE, "i": "no number"}),
    json.dumps({**WHOLE, "m": {"k": "v"}}),
    json.dumps({**WHOLE, "more": [1, {"b": 2}]}),
    json.dumps({name: WHOLE[name] for name in reversed(WHOLE)}),
    json.dumps(ISO),
    "{}",
)
#: Values that are not strings, in a column of strings, and numbers of all forms.
TOKENS = (
    "1.50", "1e5", "-0.0", "12345678901234567890.12345678901234567890", "123456789012345678901",
    "true", "null", '"1.50"', '{"b": 1.50, "a": [1, null, "q\\"\\u00e4/"]}', "[1.0, 2]", '""',
    '"\\u2028\\ud83d\\ude00/"',
)  # fmt: skip
NUMBERS = (
    "1", "-0", "1.9", "1e2", "1e-2", '"12"', '" 12 "', '"1.9"', "2147483648", "true", '"x"',
    "1E400", '"NaN"', '""', "0.00000000000000000001", "99999999999999999999.5",
)  # fmt: skip
JSON_WRITTEN = (
    ("d DECIMAL(38, 10), e DECIMAL(20, 0)", ("SELECT CAST('0.0000000001' AS DECIMAL(38, 10)),"
     " CAST('10000000000000000000' AS DECIMAL(20, 0))")),
    ("d DECIMAL(10, 8), a ARRAY<DECIMAL(10, 8)>, r ROW<x DECIMAL(12, 9)>",
     ("SELECT CAST('0.00000001' AS DECIMAL(10, 8)), ARRAY[CAST('0.00000010' AS DECIMAL(10, 8)),"
     " CAST('0.00000000' AS DECIMAL(10, 8))], ROW(CAST('-0.000000001' AS DECIMAL(12, 9)))")),
    ("d DOUBLE, e DOUBLE, f FLOAT, g DOUBLE, h FLOAT",
     "SELECT 1e10, 0.1e0, CAST(1.1 AS FLOAT), 1e-5, CAST(16777216 AS FLOAT)"),
    ("a TIMESTAMP(0), b TIMESTAMP(3), c TIMESTAMP(6), d TIMESTAMP(9), e TIMESTAMP_LTZ(3)",
     ("SELECT TIMESTAMP '2024-01-01 00:00:00', TIMESTAMP '2024-01-01 00:00:00.120',"
     " TIMESTAMP '2024-01-01 00:00:00.123456', TIMESTAMP '2024-01-01 00:00:00.123456789',"
     " TO_TIMESTAMP_LTZ(1700000000120, 3)")),
    ("d DATE, t TIME, u TIME(3), b BYTES, v VARBINARY(3), o BOOLEAN, i TINYINT, n INT",
     ("SELECT DATE '0001-01-01', TIME '23:59:59', TIME '01:02:03.450', X'00ff10', X'', TRUE,"
     " CAST(-1 AS TINYINT), CAST(NULL AS INT)")),
    ("s STRING, c CHAR(3), v VARCHAR(3)",
     "SELECT U&'\\0022\\005c/\\0009\\000a\\0001\\00e4\\2028\\007f', 'ab', ''"),
    ("m MAP<STRING, INT>, r ROW<x INT, y ROW<z STRING>>, a ARRAY<INT>, x MULTISET<STRING>",
     ("SELECT MAP['k', 1], ROW(CAST(NULL AS INT), ROW('q')), ARRAY[1, CAST(NULL AS INT)],"
     " COLLECT(s) FROM (VALUES ('p'), ('p')) AS v(s)")),
    ("m MAP<STRING, INT>, n INT", "SELECT MAP[CAST(NULL AS STRING), 1, 'k', 2], 5"),
)  # fmt: skip


def json_cases() -> Iterator[Case]:
    form = "@kafka(m), 'format' = 'json'"
    forms = (
        "",
        ", 'json.ignore-parse-errors' = 'true'",
        ", 'json.fail-on-missing-field' = 'true'",
        ", 'json.fail-on-missing-field' = 'true', 'json.decode.json-parser.enabled' = 'false'",
        ", 'json.timestamp-format.standard' = 'ISO-8601'",
    )
    for others in forms:
        for text in IMPERFECT:
            yield case(READ, table(TYPED, form + others), topics=values(text))
    both = ", 'json.fail-on-missing-field' = 'true', 'json.ignore-parse-errors' = 'true'"
    yield case(READ, table(TYPED, form + both), topics=values(IMPERFECT[0]))
    computed = "i INT, p AS i + 1, o BIGINT METADATA FROM 'offset' VIRTUAL, s STRING"
    for text in ('{"i": 1}', '{"i": 1, "s": "x"}'):
        yield case(READ, table(computed, form + forms[2]), topics=values(text))
    texts = values(*(f'{{"s": {token}}}' for token in TOKENS))
    for columns in ("s STRING", "s STRING, d DECIMAL(10, 2)"):
        for parser in ("true", "false"):
            others = f", 'json.decode.json-parser.enabled' = '{parser}'"
            yield case(READ, table(columns, form + others), topics=texts)
        changes = values(*(f'{{"op": "c", "after": {{"s": {token}}}}}' for token in TOKENS))
        yield case(READ, table(columns, "@kafka(m), 'format' = 'debezium-json'"), topics=changes)
    for type_ in ("TINYINT", "INT", "BIGINT", "DOUBLE", "FLOAT", "DECIMAL(10, 2)", "BOOLEAN"):
        for number in NUMBERS:
            text = f'{{"n": {number}, "a": [{number}]}}'
            columns = f"n {type_}, a ARRAY<{type_}>"
            if type_ in {"INT", "DOUBLE", "DECIMAL(10, 2)"}:
                yield case(READ, table(columns, form), topics=values(text))
        lenient = values(*(f'{{"n": {number}}}' for number in NUMBERS))
        yield case(READ, table(f"n {type_}", form + forms[1]), topics=lenient)
        changes = values(*(f'{{"op": "c", "after": {{"n": {number}}}}}' for number in NUMBERS))
        options = (
            "@kafka(m), 'format' = 'debezium-json', 'debezium-json.ignore-parse-errors' = 'true'"
        )
        yield case(READ, table(f"n {type_}", options), topics=changes)
    sinks = (
        "",
        ", '{0}.encode.decimal-as-plain-number' = 'true'",
        ", '{0}.encode.ignore-null-fields' = 'true', '{0}.timestamp-format.standard' = 'ISO-8601'",
    )
    for columns, query in JSON_WRITTEN:
        for name in ("json", "debezium-json", "canal-json", "maxwell-json", "ogg-json"):
            for others in sinks if name in {"json", "debezium-json"} else sinks[1:2]:
                options = f"@kafka(m), 'format' = '{name}'" + others.format(name)
                if "COLLECT" in query and name == "json":
                    continue
                yield from written(columns, options, query)
    for mode in ("DROP", "LITERAL"):
        options = f"{form}, 'json.map-null-key.mode' = '{mode}', 'json.map-null-key.literal' = 'no'"
        yield from written(*JSON_WRITTEN[-1][:1], options, JSON_WRITTEN[-1][1])
        yield from written("m MAP<STRING, INT>", options, "SELECT MAP['k', 1]")


def csv_cases() -> Iterator[Case]:
    form = "@kafka(m), 'format' = 'csv'"
    columns = "i INT, s STRING, d DECIMAL(10, 2)"
    options = (
        "",
        ", 'csv.trim-spaces' = 'true'",
        ", 'csv.ignore-trailing-unmappable' = 'true'",
        ", 'csv.fail-on-missing-columns' = 'true'",
        ", 'csv.allow-trailing-comma' = 'false'",
        ", 'csv.empty-string-as-null' = 'true'",
        ", 'csv.ignore-parse-errors' = 'true'",
        ", 'csv.null-literal' = 'n'",
    )
    texts = (
        "1,x,1.5", "1,x", "1, x ,2", " 1 ,x, 2 ", '1," x ",2', "1,x,2,", "1,x,2,3", "1,,2", "n,n,n",
        '1, "x" ,2', "x,x,1", "1,x,1e2",
    )  # fmt: skip
    for others in options:
        for text in texts:
            yield case(READ, table(columns, form + others), topics=values(text))
    for others in ("", ", 'csv.write-bigdecimal-in-scientific-notation' = 'false'"):
        for written_columns, query in JSON_WRITTEN[:6]:
            yield from written(
                written_columns.replace(", r ROW<x DECIMAL(12, 9)>", ""),
                form + others,
                query.replace(", ROW(CAST('-0.000000001' AS DECIMAL(12, 9)))", ""),
            )


RAW = {
    "BOOLEAN": ("TRUE", ["01", "00", "02", "", "0101"]),
    "TINYINT": ("CAST(-2 AS TINYINT)", ["fe", "", "0001"]),
    "SMALLINT": ("CAST(258 AS SMALLINT)", ["0102", "01", "010203"]),
    "INT": ("16909060", ["01020304", "0102", "0102030405"]),
    "BIGINT": ("CAST(72623859790382856 AS BIGINT)", ["0102030405060708", "01"]),
    "FLOAT": ("CAST(1.1 AS FLOAT)", ["3f8ccccd", "7fc00000", "01"]),
    "DOUBLE": ("1.1e0", ["3ff199999999999a", "01"]),
    "STRING": ("U&'a\\00e4\\20ac'", ["61c3a4", "61e4", "", "fffe6100", "0061"]),
    "VARCHAR(2)": ("'abc'", ["616263"]),
    "BYTES": ("X'00ff'", ["00ff", ""]),
    "BINARY(2)": ("X'00ff'", ["00ff", "000102"]),
}


def raw_cases() -> Iterator[Case]:
    forms: tuple[str, ...]
    for type_, (value, texts) in RAW.items():
        if type_ in {"STRING", "VARCHAR(2)"}:
            forms = ("", "'raw.charset' = 'UTF-16'", "'raw.charset' = 'ISO-8859-1'",
                     "'raw.charset' = 'UTF-16LE'", "'raw.charset' = 'US-ASCII'")  # fmt: skip
        else:
            forms = ("", "'raw.endianness' = 'little-endian'")
        for others in forms:
            options = ", ".join(filter(None, ("@kafka(m), 'format' = 'raw'", others)))
            for text in texts:
                yield case(READ, table(f"v {type_}", options), topics=values({"hex": text}))
            yield case(READ, table(f"v {type_}", options), topics=values(None))
            yield from written(f"v {type_}", options, f"SELECT {value}")
            yield from written(f"v {type_}", options, f"SELECT CAST(NULL AS {type_})")
    for type_ in ("DATE", "DECIMAL(4, 2)", "TIMESTAMP(3)", "ARRAY<INT>", "ROW<a INT>", "TIME"):
        options = "@kafka(m), 'format' = 'raw'"
        yield case(READ, table(f"v {type_}", options), topics=values({"hex": "00"}))
    yield case(READ, table("a INT, b INT", "@kafka(m), 'format' = 'raw'"), topics=values("x"))


CASES_OF_MESSAGES: Sequence[Case] = (
    *protobuf_cases(),
    *avro_cases(),
    *evolution_cases(),
    *registry_cases(),
    *change_cases(),
    *json_cases(),
    *csv_cases(),
    *raw_cases(),
)
