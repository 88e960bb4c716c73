"""Invariants of sidecar keys and parts: nothing is lost, and changes by a store are detected."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schema_core.catalog.objects import CatalogMaterializedTable, CatalogModel, CatalogTable
from schema_core.catalog.resolve import (
    resolve_materialized_table,
    resolve_model,
    resolve_table,
)
from schema_core.errors import SchemaError, UnsupportedError
from schema_core.properties.limits import STORES, limit_violations
from schema_core.properties.parts import PART, is_part, malformed_parts, pack, unpack
from schema_core.properties.property_map import (
    decode_materialized_table,
    decode_model,
    decode_table,
    encode_materialized_table,
    encode_model,
    encode_table,
    ignored_keys,
)
from schema_core.schema.resolve import SchemaResolver
from schema_core.testing.strategies import materialized_tables, models, tables

RESOLVER = SchemaResolver()
STORE_NAMES = st.sampled_from(sorted(STORES))
SEEDS = st.integers(0, 1000)


def shuffled(properties: Mapping[str, str], seed: int) -> dict[str, str]:
    items = list(properties.items())
    random.Random(seed).shuffle(items)
    return dict(items)


def encoded(encode: Callable[..., dict[str, str]], resolved: object) -> dict[str, str] | None:
    """The map, or None for the only remaining reason: a type without string form."""
    try:
        return encode(resolved, on_loss="carry")
    except UnsupportedError as error:
        if error.code != "type-not-supported":
            raise
        return None


@given(tables(), STORE_NAMES, SEEDS)
def test_table_is_restored_from_every_store(table: CatalogTable, store: str, seed: int) -> None:
    resolved = resolve_table(table, RESOLVER)
    if (properties := encoded(encode_table, resolved)) is None:
        return
    packed = pack(properties, STORES[store])
    unpacked = unpack(shuffled(packed, seed), STORES[store])
    read = resolve_table(decode_table(unpacked), RESOLVER)

    assert properties == unpacked
    assert resolved.resolved_schema == read.resolved_schema
    assert (resolved.options, resolved.comment, resolved.snapshot) == (
        read.options,
        read.comment,
        read.snapshot,
    )
    assert (resolved.partition_keys, resolved.distribution) == (
        read.partition_keys,
        read.distribution,
    )
    assert properties == encode_table(read, on_loss="carry")
    assert () == ignored_keys(properties)


@given(materialized_tables())
def test_materialized_table_is_restored(table: CatalogMaterializedTable) -> None:
    resolved = resolve_materialized_table(table, RESOLVER)
    if (properties := encoded(encode_materialized_table, resolved)) is None:
        return
    read = resolve_materialized_table(decode_materialized_table(properties), RESOLVER)

    assert resolved.resolved_schema == read.resolved_schema
    assert (resolved.options, resolved.comment, resolved.refresh_handler) == (
        read.options,
        read.comment,
        read.refresh_handler,
    )
    assert properties == encode_materialized_table(read, on_loss="carry")


@given(models())
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_model_is_restored(model: CatalogModel) -> None:
    resolved = resolve_model(model, RESOLVER)
    if (properties := encoded(encode_model, resolved)) is None:
        return
    read = resolve_model(decode_model(properties), RESOLVER)

    assert resolved.resolved_input_schema == read.resolved_input_schema
    assert resolved.resolved_output_schema == read.resolved_output_schema
    assert (resolved.options, resolved.comment) == (read.options, read.comment)
    assert properties == encode_model(read, on_loss="carry")


# --- stores ---------------------------------------------------------------------------------------

TEXTS = st.text(max_size=20) | st.integers(0, 9_000).map(lambda length: "é" * length)
KEYS = st.text(max_size=300) | st.sampled_from(["schema.0.name", "schema.1.comment", "connector"])
MAPS = st.dictionaries(KEYS.filter(lambda key: not is_part(key)), TEXTS, max_size=6)


@given(MAPS, STORE_NAMES, SEEDS)
def test_any_map_fits_any_store(properties: dict[str, str], store: str, seed: int) -> None:
    packed = pack(properties, STORES[store])
    length = len(STORES[store].prefix)
    inner = {key[length:]: value for key, value in packed.items() if key != "is_generic"}

    assert [] == list(limit_violations(inner, STORES[store]))
    assert properties == unpack(shuffled(packed, seed), STORES[store])


@given(MAPS, STORE_NAMES, st.data())
def test_malformed_part_is_reported(
    properties: dict[str, str], store: str, data: st.DataObject
) -> None:
    properties["long"] = "x" * 5_000 + "é"
    packed = pack(properties, STORES["hive"])
    inner = {key.removeprefix("flink."): value for key, value in packed.items()}
    own = sorted(key for key in inner if is_part(key))
    key = data.draw(st.sampled_from(own))
    value = inner[key]
    match data.draw(st.sampled_from(["lost", "cut", "changed", "swapped"])):
        case "lost":
            del inner[key]
        case "cut":
            inner[key] = value[: data.draw(st.integers(0, len(value) - 1))]
        case "changed":
            inner[key] = data.draw(st.text(max_size=9).filter(lambda item: item != value))
        case _:
            other = data.draw(st.sampled_from([option for option in own if inner[option] != value]))
            inner[key], inner[other] = inner[other], value
    named = {part.path for part in malformed_parts(inner)}

    assert named
    assert all(place[0] in packed or is_part(place[0]) for place in named)
    with pytest.raises(SchemaError):
        unpack({f"flink.{item}": text for item, text in inner.items()}, STORES["hive"])
    if key.startswith(PART) and key not in inner:
        assert (key,) in named
