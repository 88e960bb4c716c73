"""Invariants of stored maps: those of all Flink versions are readable, and changes are detected."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuzz.map_damage import run
from schema_core.catalog.objects import (
    CatalogMaterializedTable,
    CatalogModel,
    CatalogTable,
    CatalogView,
)
from schema_core.errors import SchemaCoreError, UnsupportedError
from schema_core.properties.legacy import FLINK_KEY_PREFIXES, VERSIONS
from schema_core.properties.limits import STORES
from schema_core.properties.parts import pack
from schema_core.properties.stored import (
    MAP_FORMATS,
    MapKind,
    StoredObject,
    read_map,
    schemas_of,
    upgrade,
)
from schema_core.properties.verification import verify
from schema_core.schema.resolve import SchemaResolver
from schema_core.testing.strategies import materialized_tables, models, tables

RESOLVER = SchemaResolver()
RECORDED = sorted((Path(__file__).parent / "corpus" / "maps").glob("flink-*.jsonl.gz"))

#: Diagnostics allowed for a valid map: types that Flink infers differently today.
CHANGED_SINCE = {"stale-type"}
#: Notes on what 1.9 did not store, so that the columns differ from the original ones.
LOST = {"value-assumed", *CHANGED_SINCE}


def recorded(file: Path) -> list[dict[str, Any]]:
    text = gzip.decompress(file.read_bytes()).decode("utf-8")
    return [json.loads(line)["a"] for line in text.rstrip("\n").split("\n")]


def version_of(file: Path) -> str:
    return ".".join(file.name.removeprefix("flink-").split(".")[:2])


def test_every_version_is_recorded() -> None:
    assert set(VERSIONS) == {version_of(file) for file in RECORDED}
    assert all(len(recorded(file)) >= 20 for file in RECORDED)


@pytest.mark.parametrize("file", RECORDED, ids=version_of)
def test_recorded_map_has_the_original_columns(file: Path) -> None:
    for record in recorded(file):
        if "columns" not in record:
            continue
        result = read_map(record["properties"])
        resolved = MAP_FORMATS[result.kind].resolve(result.object, RESOLVER)
        columns = [
            [column.name, column.data_type.as_serializable_string()]
            for column in schemas_of(resolved)[0][1].columns
        ]
        notes = {note.code for note in upgrade(record["properties"]).notes}

        assert [name for name, _ in columns] == [name for name, _ in record["columns"]]
        assert columns == record["columns"] or notes & LOST
        assert record["kind"] in (result.kind.name.lower(), "view")


@pytest.mark.parametrize("file", RECORDED, ids=version_of)
def test_recorded_map_is_valid_and_its_version_is_detected(file: Path) -> None:
    version = VERSIONS.index(version_of(file))
    for record in recorded(file):
        first, last, _ = read_map(record["properties"]).versions
        diagnostics = {diagnostic.code for diagnostic in verify(record["properties"])}

        assert VERSIONS.index(first) <= version <= VERSIONS.index(last)
        has_lost_option = "schema-registry.url" in record["properties"]
        lost_option = {"version-dependent"} if has_lost_option else set()
        assert diagnostics - CHANGED_SINCE <= lost_option


@pytest.mark.parametrize("file", RECORDED, ids=version_of)
def test_recorded_map_is_upgraded_to_todays_keys(file: Path) -> None:
    for record in recorded(file):
        upgraded = upgrade(record["properties"]).properties

        assert upgraded == upgrade(upgraded).properties
        assert () == verify(upgraded)


# --- generated maps -------------------------------------------------------------------------------


def view_of(table: CatalogTable) -> CatalogView:
    """A view with the columns of a table."""
    return CatalogView(table.schema, "q", "e", options=table.options, comment=table.comment)


OBJECTS = st.one_of(tables(), tables().map(view_of), materialized_tables(), models())

#: Class of the object -> kind of its map.
KINDS = {
    CatalogTable: MapKind.TABLE,
    CatalogView: MapKind.VIEW,
    CatalogMaterializedTable: MapKind.MATERIALIZED_TABLE,
    CatalogModel: MapKind.MODEL,
}


def written(kept: StoredObject) -> dict[str, str] | None:
    """The map of an object, or None for a type without string form.

    A map without columns and other keys of a schema may be of any kind.
    """
    shape = MAP_FORMATS[KINDS[type(kept)]]
    try:
        properties = shape.encode(shape.resolve(kept, RESOLVER), "carry")
    except UnsupportedError:
        return None
    return properties if any(key.startswith(FLINK_KEY_PREFIXES) for key in properties) else None


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(OBJECTS, st.sampled_from(sorted(STORES)))
def test_valid_map_has_no_diagnostics_and_needs_no_upgrade(kept: StoredObject, store: str) -> None:
    if (properties := written(kept)) is None:
        return
    stored, kind = pack(properties, STORES[store]), KINDS[type(kept)]

    assert () == verify(stored, kind=kind)
    assert properties == upgrade(stored, kind=kind).properties


def changed(properties: dict[str, str], data: st.DataObject) -> dict[str, str]:
    """The map with one value changed, truncated or removed."""
    key = data.draw(st.sampled_from(sorted(properties)))
    value = properties[key]
    how = data.draw(st.sampled_from(["changed", "cut", "missing"]))
    if how == "missing":
        return {name: value for name, value in properties.items() if name != key}
    cut = value[: data.draw(st.integers(0, max(0, len(value) - 1)))]
    odd = st.sampled_from(
        [value.upper(), value + " ", " " + value, value + ",", "+" + value, "0" + value, value * 2]
    )
    other = cut if how == "cut" else data.draw(odd | st.text(max_size=5))
    return properties | {key: other}


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(OBJECTS, st.sampled_from(sorted(STORES)), st.data())
def test_a_change_is_reported_or_changes_the_result(
    kept: StoredObject, store: str, data: st.DataObject
) -> None:
    if not (properties := written(kept)):
        return
    stored, kind = pack(properties, STORES[store]), KINDS[type(kept)]
    altered = changed(stored, data)
    if altered == stored or verify(altered, kind=kind):
        return
    try:
        read = read_map(altered, kind).object
    except SchemaCoreError:
        return

    assert read != read_map(stored, kind).object


def test_generated_changes_are_detected() -> None:
    """A short run of `fuzz.map_damage`, which generates more unusual tables."""
    result = run(random.Random(7), 1_000)

    assert dict.fromkeys(STORES, 0) == {name: value["same"] for name, value in result.items()}


# --- anything -------------------------------------------------------------------------------------

#: Parts of keys and values, so that random maps resemble real ones of all versions.
PIECES = st.sampled_from(
    ["schema", "flink", "generic.table.schema", "input-schema", "watermark", "index", "primary-key",
     "immutable", "partition", "keys", "name", "distribution", "kind", "buckets", "data-type",
     "type", "expr", "metadata", "virtual", "columns", "rowtime", "strategy", "from", "proctime",
     "rowtime.timestamps.type", "rowtime.timestamps.from", "rowtime.watermarks.type",
     "rowtime.watermarks.delay", "0", "1", "2", "00", "99999999999", "2147483647", "comment",
     "schema-core-1", "schema-core-2", "options", "indexes", "parts", "part", "checksum",
     "spark.sql.sources.schema", "numParts", "numBuckets", "numPartCols", "partCol"]
)  # fmt: skip
WHOLE = st.sampled_from(
    ["is_generic", "snapshot", "connector", "definition-query", "original-query", "freshness-unit",
     "logical-refresh-mode", "refresh-handler-bytes", "schema-registry.url", "schema.0.name",
     "schema.0.data-type", "schema.0.type", "schema.0.expr", "schema.1.name"]
)  # fmt: skip
KEYS = st.lists(PIECES, min_size=1, max_size=4).map(".".join) | WHOLE | st.text(max_size=5)
VALUES = st.sampled_from(
    ["a", "INT", "VARCHAR", "ROW<", "1", "-1", "99999999999999999999", "", ",", "HASH", "true",
     "from-field", "from-source", "custom", "periodic-bounded", "FULL", "MINUTE", "[]", '["a"]',
     "{}", '{"a":1}', '{"schema-x":"1"}', "`a` +", "moved-by-schema-core", '{"type":"struct"}',
     '{"fields":[],"type":"struct"}', "\ud800"]
) | st.text(max_size=4)  # fmt: skip


@settings(max_examples=500)
@given(st.dictionaries(KEYS, VALUES, max_size=12))
def test_any_map_is_read_or_refused_and_verified(stored: dict[str, str]) -> None:
    diagnostics = verify(stored)
    try:
        result = read_map(stored)
    except SchemaCoreError:
        assert diagnostics
        return
    for kind in MapKind:
        verify(stored, kind=kind)
    try:
        upgraded = upgrade(stored).properties
    except SchemaCoreError:
        return
    if any(key.startswith(FLINK_KEY_PREFIXES) for key in upgraded):  # else it may be of anything
        assert upgraded == upgrade(upgraded, kind=result.kind).properties
