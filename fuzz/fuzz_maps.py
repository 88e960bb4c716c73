"""Property maps: any map is read or refused, and every refusal and damage is reported.

A text is a map, one key and its value a line with "=" between them.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping

from fuzz import driver
from schema_core.errors import SchemaCoreError
from schema_core.properties.key_syntax import Properties
from schema_core.properties.legacy import FLINK_KEY_PREFIXES
from schema_core.properties.limits import STORES
from schema_core.properties.parts import has_parts, pack, unpack
from schema_core.properties.stored import MapKind, StoredMap, read_map, upgrade
from schema_core.properties.verification import verify

KINDS, NAMES = tuple(MapKind), tuple(STORES)


def target(text: str) -> None:
    """Verify, read, upgrade and pack a map; then once more without one of its keys."""
    stored = dict(line.split("=", 1) for line in text.split("\n") if "=" in line)
    chosen = zlib.crc32(text.encode("utf-8", "surrogatepass"))
    verify(stored, kind=KINDS[chosen % len(KINDS)])
    survives_its_store(stored, NAMES[chosen % len(NAMES)])
    damage = verify(stored)
    result = read(stored)
    if result is None:
        assert damage, "refused, and nothing is damaged"
        return
    if upgraded_once(stored, result.kind) == stored and stored and not damage:
        tells_what_is_lost(stored, result, sorted(stored)[chosen % len(stored)])


def read(stored: Mapping[str, str], kind: MapKind | None = None) -> StoredMap | None:
    try:
        return read_map(stored, kind)
    except SchemaCoreError:
        return None


def survives_its_store(stored: Properties, name: str) -> None:
    """What was packed for a store is unpacked as it was."""
    if not has_parts(stored):
        assert stored == unpack(pack(stored, STORES[name]), STORES[name]), name


def upgraded_once(stored: Properties, kind: MapKind) -> Properties | None:
    """The map of today, which needs no upgrade; without a schema it may be of anything."""
    try:
        upgraded = upgrade(stored, kind=kind).properties
    except SchemaCoreError:
        return None
    if any(key.startswith(FLINK_KEY_PREFIXES) for key in upgraded):
        assert upgraded == upgrade(upgraded, kind=kind).properties, "upgraded twice"
    return upgraded


def tells_what_is_lost(stored: Properties, found: StoredMap, key: str) -> None:
    """A sound map of today without a key is damaged, refused, or of another object."""
    rest = {column: value for column, value in stored.items() if column != key}
    if not verify(rest, kind=found.kind):
        again = read(rest, found.kind)
        assert again is None or again.object != found.object, f"the loss of {key!r} goes unnoticed"


if __name__ == "__main__":
    driver.main("maps", target)
