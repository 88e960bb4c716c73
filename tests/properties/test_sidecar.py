"""Sidecar keys: what Flink's keys cannot represent, and what Flink's keys contain then."""

from __future__ import annotations

import pytest

from schema_core.catalog.objects import (
    CatalogMaterializedTable,
    CatalogModel,
    CatalogTable,
    CatalogView,
    LogicalRefreshMode,
    RefreshStatus,
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
)
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.unresolved import Schema

RESOLVER = SchemaResolver()
OWN = "schema.schema-core-1."


def encoded(table: CatalogTable) -> dict[str, str]:
    return encode_table(resolve_table(table, RESOLVER), on_loss="carry")


def own(properties: dict[str, str]) -> dict[str, str]:
    return {key: value for key, value in properties.items() if "schema-core-" in key}


PLAIN = Schema.new_builder().column("a", "INT NOT NULL").column("a,b", "INT NOT NULL")
KEY = Schema.new_builder().from_schema(PLAIN.build()).primary_key_named("pk", "a,b").build()
FIXED = Schema.new_builder().from_schema(KEY).immutable_columns_named("fixed", "a").build()
INDEX = (
    Schema.new_builder()
    .from_schema(PLAIN.build())
    .index_named("i", "a")
    .index_named("j", "a,b")
    .build()
)
NAMED = Schema.new_builder().column_by_metadata("ts", "BIGINT", "ts").build()


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (CatalogTable(PLAIN.build(), options={"k": "v"}, comment="c"), {}),
        (CatalogTable(KEY), {"primary-key": '["pk","a,b"]'}),
        (CatalogTable(FIXED), {"primary-key": '["pk","a,b"]', "immutable": '["fixed","a"]'}),
        (CatalogTable(INDEX), {"indexes": '[["i","a"],["j","a,b"]]'}),
        (CatalogTable(NAMED), {"metadata-keys": '["ts"]'}),
        (CatalogTable(PLAIN.build(), comment=""), {"comment": ""}),
        (
            CatalogTable(PLAIN.build(), options={"schema.0.name": "x", "is_generic": "é"}),
            {"options": '{"is_generic":"é","schema.0.name":"x"}'},
        ),
    ],
)
def test_losses_are_stored_in_sidecar_keys(table: CatalogTable, expected: dict[str, str]) -> None:
    properties = encoded(table)

    assert {OWN + key: value for key, value in expected.items()} == own(properties)
    read = resolve_table(decode_table(properties), RESOLVER)
    assert resolve_table(table, RESOLVER).resolved_schema == read.resolved_schema
    assert (table.options, table.comment) == (read.options, read.comment)


def test_changed_metadata_key_overrides_the_sidecar_key() -> None:
    changed = encoded(CatalogTable(NAMED)) | {"schema.0.metadata": "tz"}
    (column,) = decode_table(changed).schema.columns

    assert "`ts` [BIGINT] METADATA FROM 'tz'" == str(column)


def test_flinks_keys_omit_an_ambiguous_primary_key() -> None:
    properties = encoded(CatalogTable(FIXED))

    assert not [key for key in properties if key.startswith(("schema.primary", "schema.immut"))]


def test_option_that_older_versions_read_stays() -> None:
    properties = encoded(CatalogTable(PLAIN.build(), options={"schema-registry.url": "u"}))

    assert properties["schema-registry.url"] == "u"
    assert properties[OWN + "options"] == '{"schema-registry.url":"u"}'


def test_view_is_restored() -> None:
    view = CatalogView(PLAIN.build(), "q", "e", options={"comment": "an option"}, comment="")
    resolved = resolve_view(view, RESOLVER, lambda _: ())

    read = decode_view(encode_view(resolved, on_loss="carry"), "q", "e")

    assert (view.options, view.comment) == (read.options, read.comment)


def test_model_keeps_watermarks_and_constraints() -> None:
    model = CatalogModel(FIXED, INDEX, options={"snapshot": "7"})
    resolved = resolve_model(model, RESOLVER)
    with pytest.raises(UnsupportedError):
        encode_model(resolved)

    read = resolve_model(decode_model(encode_model(resolved, on_loss="carry")), RESOLVER)

    assert resolved.resolved_input_schema == read.resolved_input_schema
    assert resolved.resolved_output_schema == read.resolved_output_schema
    assert resolved.options == read.options


def test_materialized_table_keeps_options_with_reserved_keys() -> None:
    table = CatalogMaterializedTable(
        PLAIN.build(),
        "q",
        "e",
        logical_refresh_mode=LogicalRefreshMode.FULL,
        refresh_status=RefreshStatus.ACTIVATED,
        refresh_handler=b"",
        options={"refresh-mode": "mine"},
    )
    resolved = resolve_materialized_table(table, RESOLVER)

    properties = encode_materialized_table(resolved, on_loss="carry")
    read = decode_materialized_table(properties)

    assert "FULL" == properties["refresh-mode"]
    assert ({"refresh-mode": "mine"}, b"") == (read.options, read.refresh_handler)


@pytest.mark.parametrize(
    ("code", "key", "value"),
    [
        ("version-not-supported", "schema.schema-core-2.options", "{}"),
        ("malformed-property", OWN + "options", "[]"),
        ("malformed-property", OWN + "options", '{"a": 1}'),
        ("malformed-property", OWN + "options", "{"),
        ("malformed-property", OWN + "primary-key", "[]"),
        ("malformed-property", OWN + "primary-key", "[1]"),
        ("malformed-property", OWN + "indexes", '[["i"]]'),
        ("malformed-property", OWN + "indexes", '{"i": 1}'),
    ],
)
def test_malformed_sidecar_key_is_refused(code: str, key: str, value: str) -> None:
    with pytest.raises(SchemaError) as caught:
        decode_table({"schema.0.name": "a", "schema.0.data-type": "INT", key: value})

    assert code == caught.value.code
