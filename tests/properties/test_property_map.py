"""Property maps: the keys that Flink writes, what decoding accepts, and losses."""

from __future__ import annotations

import pytest

from schema_core.catalog.objects import (
    CatalogMaterializedTable,
    CatalogModel,
    CatalogTable,
    CatalogView,
    LogicalRefreshMode,
    RefreshStatus,
    TableDistribution,
)
from schema_core.catalog.resolve import (
    resolve_materialized_table,
    resolve_model,
    resolve_table,
    resolve_view,
)
from schema_core.errors import SchemaError, UnsupportedError
from schema_core.properties.property_map import (
    decode_materialized_table,
    decode_model,
    decode_table,
    decode_view,
    encode_materialized_table,
    encode_model,
    encode_table,
    encode_view,
    ignored_keys,
)
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.unresolved import Schema, SchemaBuilder

RESOLVER = SchemaResolver()


def builder() -> SchemaBuilder:
    return (
        Schema.new_builder()
        .column("id", "BIGINT NOT NULL")
        .with_comment("")
        .column_by_expression("twice", "id * 2")
        .column_by_metadata("ts", "TIMESTAMP(3)", "timestamp")
        .column_by_metadata("off`set", "BIGINT", None, True)
        .watermark("ts", "ts - INTERVAL '5' SECOND")
        .primary_key("id")
        .index("id", "ts")
        .immutable_columns_named("fixed", "id")
    )


TABLE = CatalogTable(
    builder().build(),
    ("id",),
    options={"connector": "x", "value.schema": "s"},
    comment="it's",
    snapshot=42,
    distribution=TableDistribution.of_hash(["id"], 4),
)
# A catalog written by Flink 2.3.0 for the same table.
WRITTEN = {
    "schema.0.name": "id",
    "schema.0.data-type": "BIGINT NOT NULL",
    "schema.0.comment": "",
    "schema.1.name": "twice",
    "schema.1.data-type": "BIGINT NOT NULL",
    "schema.1.expr": "`id` * 2",
    "schema.2.name": "ts",
    "schema.2.data-type": "TIMESTAMP(3)",
    "schema.2.metadata": "timestamp",
    "schema.2.virtual": "false",
    "schema.3.name": "off`set",
    "schema.3.data-type": "BIGINT",
    "schema.3.metadata": "off`set",
    "schema.3.virtual": "true",
    "schema.watermark.0.rowtime": "ts",
    "schema.watermark.0.strategy.expr": "`ts` - INTERVAL '5' SECOND",
    "schema.watermark.0.strategy.data-type": "TIMESTAMP(3)",
    "schema.primary-key.name": "PK_id",
    "schema.primary-key.columns": "id",
    "schema.index.0.name": "INDEX_id_ts",
    "schema.index.0.columns": "id,ts",
    "schema.immutable.name": "fixed",
    "schema.immutable.columns": "id",
    "comment": "it's",
    "snapshot": "42",
    "partition.keys.0.name": "id",
    "distribution.kind": "HASH",
    "distribution.buckets": "4",
    "distribution.keys.0.name": "id",
    "connector": "x",
    "value.schema": "s",
}


# --- tables ---------------------------------------------------------------------------------------


def test_table_is_written_with_the_keys_of_flink() -> None:
    assert WRITTEN == encode_table(resolve_table(TABLE, RESOLVER))


def test_table_is_read_back() -> None:
    read = decode_table(WRITTEN)

    assert resolve_table(TABLE, RESOLVER).resolved_schema == RESOLVER.resolve(read.schema)
    assert (TABLE.options, TABLE.comment, TABLE.snapshot, TABLE.partition_keys) == (
        read.options,
        read.comment,
        read.snapshot,
        read.partition_keys,
    )
    assert TABLE.distribution == read.distribution
    assert () == ignored_keys(WRITTEN)


def changed(**changes: str | None) -> dict[str, str]:
    """The map with some keys set or removed; ``__`` is a dot, ``_`` a dash."""
    named = {key.replace("__", ".").replace("_", "-"): value for key, value in changes.items()}
    return {key: value for key, value in (WRITTEN | named).items() if value is not None}


@pytest.mark.parametrize(
    ("code", "properties"),
    [
        ("malformed-property", changed(schema__0__name=None)),
        ("malformed-property", changed(schema__0__data_type=None)),
        ("malformed-property", changed(schema__2__virtual=None)),
        ("malformed-property", changed(schema__9__name="far")),
        ("malformed-property", changed(schema__4__namesake="near")),
        ("malformed-property", changed(schema__watermark__0__strategy__expr=None)),
        ("malformed-property", changed(schema__primary_key__columns=None)),
        ("malformed-property", changed(schema__index__0__columns=None)),
        ("malformed-property", changed(partition__keys__2__name="id")),
        ("malformed-property", changed(snapshot="soon")),
        ("malformed-property", changed(snapshot="9223372036854775808")),
        ("malformed-property", changed(distribution__kind="hash")),
        ("malformed-property", changed(distribution__buckets="1.5")),
        ("malformed-property", changed(schema__99999999999__name="far")),
        ("invalid-name", changed(schema__primary_key__name=" ")),
        ("invalid-constraint", changed(schema__primary_key__columns=",")),
    ],
)
def test_incomplete_map_is_refused(code: str, properties: dict[str, str]) -> None:
    with pytest.raises(SchemaError) as caught:
        decode_table(properties)

    assert code == caught.value.code


@pytest.mark.parametrize(
    ("ignored", "properties"),
    [
        ([], changed(schema__1__data_type="NONSENSE")),
        ([], changed(schema__1__data_type=None)),
        (["schema.1.metadata"], changed(schema__1__metadata="lost")),
        (["schema.primary-key.enforced"], changed(schema__primary_key__enforced="true")),
        (["schema.registry"], changed(schema__registry="http://r")),
        (["refresh-mode"], changed(refresh_mode="FULL")),
        (["distribution.keys.2.name"], changed(distribution__keys__2__name="lost")),
        (
            ["distribution.buckets", "distribution.keys.0.name"],
            changed(distribution__kind=None),
        ),
        ([], changed(schema__2__virtual="yes")),
        ([], changed(distribution__buckets="+3")),
    ],
)
def test_dropped_keys_are_reported(ignored: list[str], properties: dict[str, str]) -> None:
    decode_table(properties)

    assert [(key,) for key in ignored] == [
        ignored_key.path for ignored_key in ignored_keys(properties)
    ]


def test_a_large_row_number_is_not_iterated() -> None:
    with pytest.raises(SchemaError):
        decode_table(
            {"schema.0.name": "a", "schema.0.data-type": "INT", "schema.999999999.name": "b"}
        )
    with pytest.raises(SchemaError):
        decode_table({"partition.keys.2147483646.name": "b"})


def test_columns_may_have_an_older_prefix() -> None:
    old = {"generic.table.schema.0.name": "a", "generic.table.schema.0.data-type": "INT"}

    read = decode_table(old, "generic.table.schema")

    assert "(\n  `a` [INT]\n)" == str(read.schema)
    assert old == read.options
    assert (
        read.schema
        == decode_table(old | {"schema.index.0.name": "i"}, "generic.table.schema").schema
    )
    assert "(\n\n)" == str(decode_table(old).schema)


# --- losses ---------------------------------------------------------------------------------------

COMMA = Schema.new_builder().column("a,b", "INT NOT NULL").primary_key("a,b").build()


@pytest.mark.parametrize(
    ("code", "table"),
    [
        ("lossy", CatalogTable(COMMA)),
        ("lossy", CatalogTable(Schema(), options={"schema.0.name": "hijacked"})),
        ("lossy", CatalogTable(Schema(), options={"schema-registry.url": "http://r"})),
        ("lossy", CatalogTable(Schema(), options={"is_generic": "true"})),
        ("lossy", CatalogTable(Schema(), comment="")),
    ],
)  # fmt: skip
def test_loss_is_refused_by_default(code: str, table: CatalogTable) -> None:
    resolved = resolve_table(table, RESOLVER)

    with pytest.raises(UnsupportedError) as caught:
        encode_table(resolved)

    assert code == caught.value.code
    assert caught.value.hint
    encode_table(resolved, on_loss="flink")


def test_options_override_in_flinks_policy() -> None:
    table = resolve_table(
        CatalogTable(
            Schema.new_builder().column("a", "INT").build(),
            options={"schema.0.name": "hijacked", "comment": "too", "is_generic": "true"},
            comment="lost",
        ),
        RESOLVER,
    )

    assert {
        "schema.0.name": "hijacked",
        "schema.0.data-type": "INT",
        "comment": "too",
    } == encode_table(table, on_loss="flink")


def test_all_losses_are_reported_at_once() -> None:
    table = resolve_table(
        CatalogTable(Schema(), comment="", options={"schema": "s", "snapshot": "1"}), RESOLVER
    )

    with pytest.raises(UnsupportedError) as caught:
        encode_table(table)

    assert ["lossy", "lossy", "lossy"] == [
        diagnostic.code for diagnostic in caught.value.diagnostics
    ]


# --- views, materialized tables, models -----------------------------------------------------------


def test_view_keeps_its_queries_outside_of_the_map() -> None:
    view = CatalogView(Schema.new_builder().column("a", "INT").build(), "SELECT 1", "SELECT 1")
    properties = encode_view(resolve_view(view, RESOLVER, lambda _: ()))

    assert {"schema.0.name": "a", "schema.0.data-type": "INT"} == properties
    assert view == decode_view(properties, "SELECT 1", "SELECT 1")


def test_materialized_table() -> None:
    table = CatalogMaterializedTable(
        Schema.new_builder().column("a", "INT").build(),
        "SELECT a",
        "SELECT `a`",
        logical_refresh_mode=LogicalRefreshMode.AUTOMATIC,
        refresh_status=RefreshStatus.ACTIVATED,
        refresh_handler_description="h",
        refresh_handler=b"\x01\x02\xff",
        options={"connector": "x"},
    )
    resolved = resolve_materialized_table(table, RESOLVER)
    properties = encode_materialized_table(resolved)

    assert {
        "schema.0.name": "a",
        "schema.0.data-type": "INT",
        "connector": "x",
        "original-query": "SELECT a",
        "expanded-query": "SELECT `a`",
        "freshness-interval": "3",
        "freshness-unit": "MINUTE",
        "logical-refresh-mode": "AUTOMATIC",
        "refresh-mode": "CONTINUOUS",
        "refresh-status": "ACTIVATED",
        "refresh-handler-desc": "h",
        "refresh-handler-bytes": "AQL/",
    } == properties
    assert resolved == resolve_materialized_table(decode_materialized_table(properties), RESOLVER)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("expanded-query", None),
        ("freshness-unit", "minute"),
        ("freshness-interval", "-3"),
        ("refresh-mode", "AUTOMATIC"),
        ("refresh-status", None),
        ("refresh-handler-bytes", "%%%"),
    ],
)
def test_incomplete_materialized_table_is_refused(key: str, value: str | None) -> None:
    whole = {
        "original-query": "q",
        "expanded-query": "q",
        "freshness-interval": "3",
        "freshness-unit": "MINUTE",
        "logical-refresh-mode": "FULL",
        "refresh-mode": "FULL",
        "refresh-status": "ACTIVATED",
        "refresh-handler-bytes": "AQL/",
        key: value,
    }

    with pytest.raises(SchemaError):
        decode_materialized_table({name: text for name, text in whole.items() if text is not None})


def test_model() -> None:
    model = CatalogModel(
        Schema.new_builder().column("text", "STRING").with_comment("in").build(),
        Schema.new_builder().column("label", "INT NOT NULL").build(),
        options={"provider": "p"},
        comment="c",
    )
    properties = encode_model(resolve_model(model, RESOLVER))

    assert {
        "input-schema.0.name": "text",
        "input-schema.0.data-type": "VARCHAR(2147483647)",
        "input-schema.0.comment": "in",
        "output-schema.0.name": "label",
        "output-schema.0.data-type": "INT NOT NULL",
        "comment": "c",
        "provider": "p",
    } == properties
    assert properties == encode_model(resolve_model(decode_model(properties), RESOLVER))


def test_map_of_a_model_stores_only_columns() -> None:
    keyed = Schema.new_builder().column("a", "INT NOT NULL").primary_key("a").build()
    model = resolve_model(CatalogModel(keyed, Schema()), RESOLVER)

    with pytest.raises(UnsupportedError) as caught:
        encode_model(model)

    assert "lossy" == caught.value.code


def test_unknown_policy_is_refused() -> None:
    with pytest.raises(SchemaError) as caught:
        encode_table(resolve_table(TABLE, RESOLVER), on_loss="ignore")  # type: ignore[arg-type]

    assert "invalid-argument" == caught.value.code
