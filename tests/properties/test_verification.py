"""Verification: every malformed key of a map is reported."""

from __future__ import annotations

import pytest

from schema_core.properties.limits import STORES
from schema_core.properties.parts import pack
from schema_core.properties.spark_table_properties import PARTS, SCHEMA
from schema_core.properties.stored import MapKind
from schema_core.properties.verification import verify
from tests.support import processor_time

SOUND = {
    "schema.0.name": "id",
    "schema.0.data-type": "BIGINT NOT NULL",
    "schema.1.name": "twice",
    "schema.1.data-type": "BIGINT NOT NULL",
    "schema.1.expr": "`id` * 2",
    "schema.2.name": "ts",
    "schema.2.data-type": "TIMESTAMP(3)",
    "schema.2.metadata": "timestamp",
    "schema.2.virtual": "false",
    "schema.watermark.0.rowtime": "ts",
    "schema.watermark.0.strategy.expr": "`ts` - INTERVAL '5' SECOND",
    "schema.watermark.0.strategy.data-type": "TIMESTAMP(3)",
    "schema.primary-key.name": "PK_id",
    "schema.primary-key.columns": "id",
    "schema.index.0.name": "i",
    "schema.index.0.columns": "id,ts",
    "schema.immutable.name": "fixed",
    "schema.immutable.columns": "id",
    "snapshot": "42",
    "partition.keys.0.name": "id",
    "distribution.kind": "HASH",
    "distribution.buckets": "4",
    "distribution.keys.0.name": "id",
    "connector": "x",
}
REFRESH = {
    "original-query": "q",
    "expanded-query": "e",
    "freshness-interval": "3",
    "freshness-unit": "MINUTE",
    "logical-refresh-mode": "AUTOMATIC",
    "refresh-mode": "CONTINUOUS",
    "refresh-status": "ACTIVATED",
    "refresh-handler-bytes": "AQL/",
}

#: Sidecar key -> the conflicting key of Flink.
CONTRADICTED = {
    "schema.schema-core-1.primary-key": "schema.primary-key.name",
    "schema.schema-core-1.refresh-handler": "refresh-handler-bytes",
    "schema.schema-core-1.options": "schema-x",
}


def test_valid_maps_have_no_diagnostics() -> None:
    assert () == verify({})
    assert () == verify(SOUND)
    assert () == verify(SOUND | REFRESH)
    assert () == verify({"original-query": "q", "expanded-query": "e"})
    assert () == verify(pack(SOUND, STORES["hive"]))


@pytest.mark.parametrize(
    ("code", "key", "value"),
    [
        # missing keys
        ("malformed-property", "schema.0.name", None),
        ("malformed-property", "schema.0.data-type", None),
        ("malformed-property", "schema.1.data-type", None),
        ("version-dependent", "schema.2.virtual", None),
        ("malformed-property", "schema.watermark.0.rowtime", None),
        ("malformed-property", "schema.watermark.0.strategy.expr", None),
        ("malformed-property", "schema.watermark.0.strategy.data-type", None),
        ("malformed-property", "schema.primary-key.name", None),
        ("malformed-property", "schema.primary-key.columns", None),
        ("malformed-property", "schema.immutable.name", None),
        ("malformed-property", "schema.index.0.name", None),
        ("malformed-property", "schema.index.0.columns", None),
        ("malformed-property", "distribution.kind", None),
        ("malformed-property", "expanded-query", None),
        ("malformed-property", "freshness-interval", None),
        ("malformed-property", "refresh-mode", None),
        # unexpected keys
        ("unknown-key", "schema.0.typ", "INT"),
        ("unknown-key", "schema.1.metadata", "lost"),
        ("unknown-key", "schema.primary-key.enforced", "true"),
        ("unknown-key", "schema.registry", "u"),
        ("unknown-key", "distribution.strategy", "u"),
        ("version-dependent", "schema-registry.url", "u"),
        ("version-dependent", "schema.0.type", "LONG"),
        # values
        ("malformed-property", "snapshot", "soon"),
        ("malformed-property", "distribution.kind", "hash"),
        ("malformed-property", "distribution.buckets", "many"),
        ("malformed-property", "refresh-status", "activated"),
        ("malformed-property", "refresh-handler-bytes", "?"),
        ("malformed-property", "schema.schema-core-1.options", "[]"),
        ("version-not-supported", "schema.schema-core-7.options", "{}"),
        ("noncanonical", "schema.2.virtual", "no"),
        ("noncanonical", "schema.primary-key.columns", "id,"),
        ("noncanonical", "distribution.buckets", "+4"),
        ("noncanonical", "snapshot", "042"),
        ("noncanonical", "distribution.buckets", "\uff14"),
        ("noncanonical", "refresh-handler-bytes", "AQI"),
        ("noncanonical", "schema.schema-core-1.options", '{ "comment": "" }'),
        ("malformed-property", "schema.schema-core-1.primary-key", '["pk","id"]'),
        ("malformed-property", "schema.schema-core-1.refresh-handler", ""),
        ("malformed-property", "schema.schema-core-1.options", '{"schema-x":"1"}'),
        # resolution
        ("stale-type", "schema.1.data-type", "INT"),
        ("stale-type", "schema.watermark.0.strategy.data-type", "INT"),
        ("type-not-found", "schema.0.data-type", "BIGIN"),
        ("unknown-column", "schema.1.expr", "`idd` * 2"),
        ("syntax", "schema.1.expr", "`id` * "),
        ("unknown-column", "schema.index.0.columns", "x"),
    ],
)
def test_malformed_key_is_reported(code: str, key: str, value: str | None) -> None:
    harmed = SOUND | REFRESH | {key: value}
    result = verify({name: value for name, value in harmed.items() if value is not None})

    assert code in {diagnostic.code for diagnostic in result}
    places = {step for diagnostic in result if diagnostic.code == code for step in diagnostic.path}
    keys = (key, CONTRADICTED.get(key, key))
    assert any(place.startswith(step) for place in keys for step in places) or (
        code == "unknown-column"
    )


def test_all_malformed_keys_are_reported_at_once() -> None:
    harmed = SOUND | {
        "schema.5.name": "far",
        "schema.00.name": "id",
        "snapshot": "soon",
        "distribution.buckets": "many",
        "schema.1.typ": "INT",
        "partition.keys.2.name": "id",
    }
    result = [(diagnostic.code, *diagnostic.path) for diagnostic in verify(harmed)]

    assert [
        ("malformed-property", "schema.00"),
        ("malformed-property", "schema.3.name"),
        ("malformed-property", "schema.4.name"),
        ("malformed-property", "partition.keys.1.name"),
        ("malformed-property", "schema.5.data-type"),
        ("malformed-property", "distribution.buckets"),
        ("malformed-property", "snapshot"),
        ("unknown-key", "schema.1.typ"),
    ] == [item for item in result if item != ("malformed-property", "schema.00.data-type")]


def test_hint_suggests_a_similar_key() -> None:
    (result,) = verify(SOUND | {"schema.0.data-typ": "INT"})

    assert "did you mean 'schema.0.data-type'?" == result.hint


def test_a_large_row_number_is_not_iterated() -> None:
    far = SOUND | {"schema.999999999.name": "far", "partition.keys.99999999999.name": "x"}
    result = verify(far)

    assert processor_time(lambda: verify(far), 0.5) < 0.5
    assert len(result) < 30
    assert {"malformed-property"} == {diagnostic.code for diagnostic in result}


def test_long_map_is_verified_in_linear_time() -> None:
    wide = {
        f"schema.{number}.{key}": value
        for number in range(5_000)
        for key, value in (("name", f"c{number}"), ("data-type", "INT"))
    }

    assert () == verify(wide)
    assert processor_time(lambda: verify(wide), 3) < 3


def test_malformed_parts_are_reported_before_their_content() -> None:
    packed = pack(SOUND | {"schema.0.name": "é"}, STORES["hive"])
    key = "flink.schema.schema-core-1.part.0"

    (result,) = verify(packed | {key: packed[key][:-1]})

    assert ("malformed-property", (key.removeprefix("flink."),)) == (result.code, result.path)


@pytest.mark.parametrize(
    ("code", "stored"),
    [
        ("feature-not-supported", {"flink.topic": "t"}),
        ("noncanonical", {"flink.schema.0.name": "a", "flink.schema.0.data-type": "INT",
                       "is_generic": "True"}),
        ("malformed-property", {PARTS: "2", f"{SCHEMA}.part.0": "{"}),
        ("malformed-property", {PARTS: "1", f"{SCHEMA}.part.0": "{}", SCHEMA: "{}"}),
    ],
)  # fmt: skip
def test_other_encodings_are_verified(code: str, stored: dict[str, str]) -> None:
    assert [code] == [diagnostic.code for diagnostic in verify(stored)]


def test_kind_may_be_given() -> None:
    assert "malformed-property" in {
        diagnostic.code for diagnostic in verify({}, kind=MapKind.MATERIALIZED_TABLE)
    }
