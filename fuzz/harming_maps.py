"""Damage of property maps: a key lost, changed, renamed, doubled or added."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TypeAlias

Map: TypeAlias = dict[str, str]


def harmed(draw: random.Random, found: Map) -> Map:
    """The map with one kind of damage; an empty one stays as it is."""
    return draw.choice(HARMS)(draw, found, draw.choice(sorted(found))) if found else found


def lost(_: random.Random, found: Map, key: str) -> Map:
    return {item: value for item, value in found.items() if item != key}


def changed(draw: random.Random, found: Map, key: str) -> Map:
    value = found[key]
    other = draw.choice(
        ("", " ", value[:-1], value + " ", " " + value, value.upper(), value + ",", "," + value,
         value.replace(",", ", "), "+" + value, "0" + value, "null", "\u00e4,b",
         "a,,b", "INT", "ROW<", "TRUE", "\uff11", "1_0", "9" * 30)
    )  # fmt: skip
    return found | {key: other}


def renamed(draw: random.Random, found: Map, key: str) -> Map:
    """A key with another number, another end, or other letters."""
    old, new = draw.choice(
        ((".0.", ".00."), (".0.", ".2."), (".1.", ".5."), (".0.", ".x."), (".0.", ".-1."),
         (".0.", "."), (".name", ".nameX"), (".name", ".NAME"), ("schema.", "schema-"),
         ("data-type", "type"), ("data-type", "data_type"), (".", ".."), (".0.", ".\uff10."),
         (".0.", ".2147483647."), (".1.", ".99999999999."), (".0.", ".0.0."), ("", " "))
    )  # fmt: skip
    other = key.replace(old, new, 1) if old else key + new
    return {(other if item == key else item): value for item, value in found.items()}


def doubled(draw: random.Random, found: Map, key: str) -> Map:
    return found | {renamed(draw, {key: ""}, key).popitem()[0]: found[key]}


def added(draw: random.Random, found: Map, _: str) -> Map:
    key = draw.choice(
        ("schema.0.expr", "schema.0.metadata", "schema.0.virtual", "schema.9.comment", "schema.x",
         "schema.primary-key.name", "schema.primary-key.columns", "schema.immutable.name",
         "schema.index.0.name", "schema.index.1.name", "schema.watermark.1.rowtime", "snapshot",
         "partition.keys.1.name", "distribution.keys.2.name", "distribution.buckets", "comment",
         "schema.0.type", "schema.0.name.x", "definition-query")
    )  # fmt: skip
    return found | {key: draw.choice(("1", "", "a", "a,b", "`a`", "true", ",", "HASH"))}


HARMS: tuple[Callable[[random.Random, Map, str], Map], ...] = (
    lost, lost, changed, changed, renamed, doubled, added,
)  # fmt: skip
