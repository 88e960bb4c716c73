"""Invariants of property maps: decoding restores the object, whatever the order of its keys."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

from hypothesis import event, given
from hypothesis import strategies as st

from schema_core.catalog.objects import CatalogMaterializedTable, CatalogModel, CatalogTable
from schema_core.catalog.resolve import (
    resolve_materialized_table,
    resolve_model,
    resolve_table,
)
from schema_core.errors import SchemaCoreError, UnsupportedError
from schema_core.properties.property_map import (
    decode_materialized_table,
    decode_model,
    decode_table,
    encode_materialized_table,
    encode_model,
    encode_table,
    ignored_keys,
)
from schema_core.properties.verification import (
    examine,
    examine_every_key,
    read_ordinary_table,
)
from schema_core.schema.resolve import SchemaResolver
from schema_core.testing.strategies import materialized_tables, models, tables

RESOLVER = SchemaResolver()
#: The only error codes of resolved objects without a map.
REASONS = {
    "lossy", "type-not-supported",
}  # fmt: skip


def attempt(
    encode: Callable[[Any], dict[str, str]], resolved: object
) -> tuple[dict[str, str] | None, set[str]]:
    """The map, or the codes of the errors."""
    try:
        return encode(resolved), set()
    except UnsupportedError as error:
        event(error.code)
        return None, {diagnostic.code for diagnostic in error.diagnostics}


def shuffled(properties: Mapping[str, str], seed: int) -> dict[str, str]:
    items = list(properties.items())
    random.Random(seed).shuffle(items)
    return dict(items)


seeds = st.integers(0, 1000)


@given(tables(), seeds)
def test_table_is_restored_or_refused(table: CatalogTable, seed: int) -> None:
    resolved = resolve_table(table, RESOLVER)
    properties, reasons = attempt(encode_table, resolved)
    assert reasons <= REASONS
    if properties is None:
        return
    read = resolve_table(decode_table(shuffled(properties, seed)), RESOLVER)

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
    assert properties == encode_table(read)
    assert () == ignored_keys(properties)


@given(tables())
def test_flinks_policy_encodes_the_same_without_losses(table: CatalogTable) -> None:
    resolved = resolve_table(table, RESOLVER)
    properties, _ = attempt(encode_table, resolved)

    assert properties in (None, encode_table(resolved, on_loss="flink"))


@given(materialized_tables(), seeds)
def test_materialized_table_is_restored_or_refused(
    table: CatalogMaterializedTable, seed: int
) -> None:
    resolved = resolve_materialized_table(table, RESOLVER)
    properties, reasons = attempt(encode_materialized_table, resolved)
    assert reasons <= REASONS
    if properties is None:
        return
    read = resolve_materialized_table(
        decode_materialized_table(shuffled(properties, seed)), RESOLVER
    )

    assert resolved.resolved_schema == read.resolved_schema
    assert resolved.refresh_handler == read.refresh_handler
    assert properties == encode_materialized_table(read)


@given(models(), seeds)
def test_model_is_restored_or_refused(model: CatalogModel, seed: int) -> None:
    resolved = resolve_model(model, RESOLVER)
    properties, reasons = attempt(encode_model, resolved)
    assert reasons <= REASONS
    if properties is None:
        return
    read = resolve_model(decode_model(shuffled(properties, seed)), RESOLVER)

    assert resolved.resolved_input_schema == read.resolved_input_schema
    assert resolved.resolved_output_schema == read.resolved_output_schema
    assert properties == encode_model(read)


#: Parts of keys, so that random maps resemble real ones.
PIECES = st.sampled_from(
    ["schema", "watermark", "index", "primary-key", "immutable", "partition", "keys", "name",
     "distribution", "kind", "data-type", "expr", "metadata", "virtual", "columns", "rowtime",
     "strategy", "0", "1", "2", "00", "99999999999", "2147483647", "comment", "snapshot", "a"]
)  # fmt: skip
KEYS = st.lists(PIECES, min_size=1, max_size=4).map(".".join) | st.text(max_size=5)
VALUES = st.sampled_from(["a", "INT", "1", "", ",", "HASH", "true"]) | st.text(max_size=3)


@given(st.dictionaries(KEYS, VALUES, max_size=12))
def test_ignored_keys_do_not_affect_the_result(properties: dict[str, str]) -> None:
    try:
        read = decode_table(properties)
    except SchemaCoreError:
        return
    dropped = {key for ignored_key in ignored_keys(properties) for key in ignored_key.path}
    rest = {key: value for key, value in properties.items() if key not in dropped}

    assert read == decode_table(rest)
    assert () == ignored_keys(rest)


# --- maps as most catalogs have them --------------------------------------------------------------

#: What can happen to a key or a value of a map.
MUTATIONS: tuple[Callable[[dict[str, str], str], object], ...] = (
    lambda properties, key: properties.pop(key),
    lambda properties, key: properties.update({key: ""}),
    lambda properties, key: properties.update({key: "a,b,,"}),
    lambda properties, key: properties.update({key: "TRUE"}),
    lambda properties, key: properties.update({f"{key}x": "INT"}),
    lambda properties, key: properties.update({key.replace(".0.", ".300."): "INT"}),
    lambda properties, key: properties.update({key.replace(".0.", ".2."): "INT"}),
    lambda properties, key: properties.update({key.replace(".1.", ".01."): "INT"}),
    lambda properties, key: properties.update({key.replace(".name", ".expr"): "1"}),
    lambda properties, key: properties.update({key.replace(".name", ".virtual"): "true"}),
    lambda properties, key: properties.update({key.replace(".name", ".metadata"): "k"}),
    lambda properties, key: properties.update({key.replace(".data-type", ".type"): "VARCHAR"}),
)
mutations = st.lists(
    st.tuples(st.sampled_from(MUTATIONS), st.integers(0, 200)), max_size=3
)  # most maps should remain close to what Flink writes


def mutated(
    properties: dict[str, str], changes: list[tuple[Callable[..., object], int]]
) -> dict[str, str]:
    for change, number in changes:
        if properties:
            change(properties, list(properties)[number % len(properties)])
    return properties


def outcome(function: Callable[..., Any], *given_: object) -> object:
    """The result, or the diagnostics of the error."""
    try:
        return function(*given_)
    except SchemaCoreError as error:
        return error.diagnostics


@given(tables(), mutations)
def test_columns_are_decoded_alike_with_and_without_prepared_keys(
    table: CatalogTable, changes: list[tuple[Callable[..., object], int]]
) -> None:
    """A key with a line break makes the decoder search every key."""
    properties = encode_table(resolve_table(table, RESOLVER), "carry")
    properties = mutated(properties, changes)
    searched = {**properties, "a\nb": "c"}

    for result in (decode_table, ignored_keys):
        expected, actual = outcome(result, searched), outcome(result, properties)
        if isinstance(expected, CatalogTable) and isinstance(actual, CatalogTable):
            event("decoded")
            assert expected.schema == actual.schema
            assert expected.options == {**actual.options, "a\nb": "c"}
        else:
            assert expected == actual


@given(tables(), mutations)
def test_ordinary_maps_are_verified_as_all_others(
    table: CatalogTable, changes: list[tuple[Callable[..., object], int]]
) -> None:
    """The name of the kind makes no difference but which checks are made."""
    properties = encode_table(resolve_table(table, RESOLVER), "carry")
    properties = mutated(properties, changes)
    event("ordinary" if read_ordinary_table(properties) else "other")

    assert examine_every_key(properties, None, None) == examine(properties)
