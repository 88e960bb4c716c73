"""Damage one value of many stored maps: every damage is reported, refused, or changes the object.

    python -m fuzz.map_damage --count 50000 --seed 1

Tables, views, materialized tables and models are drawn as for Flink (`drawing_maps`), written with
``on_loss="carry"`` and packed for every store profile in turn. Prints for each store how many harms
`verify` reported, how many reading refused, and how many gave another object; exits 1 if any gave
the same one unnoticed.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import cycle

from fuzz.drawing_maps import MapDrawing
from fuzz.harming_maps import changed, lost
from properties.answers.schema import distribution, written
from properties.recorded import Question
from schema_core.catalog.objects import (
    CatalogMaterializedTable,
    CatalogModel,
    CatalogTable,
    CatalogView,
    Freshness,
    FreshnessUnit,
    LogicalRefreshMode,
    RefreshStatus,
)
from schema_core.errors import SchemaCoreError
from schema_core.properties.key_syntax import Properties
from schema_core.properties.limits import STORES
from schema_core.properties.parts import pack
from schema_core.properties.stored import MAP_FORMATS, MapKind, StoredObject, read_map
from schema_core.properties.verification import verify
from schema_core.schema.resolve import SchemaResolver

RESOLVER = SchemaResolver()

#: So many values of one map are harmed.
HARMS = 12


def table(question: Question) -> CatalogTable:
    given = question.get("distribution")
    return CatalogTable(
        written(question["schema"]),
        tuple(question["partition_keys"]),
        options=question["options"],
        comment=question.get("comment"),
        snapshot=question.get("snapshot"),
        distribution=None if given is None else distribution(given),
    )


def view(question: Question) -> CatalogView:
    of = table(question)
    return CatalogView(of.schema, "SELECT 1", "", options=of.options, comment=of.comment)


def materialized_table(question: Question) -> CatalogMaterializedTable:
    of = table(question)
    return CatalogMaterializedTable(
        of.schema,
        "SELECT 1",
        "",
        logical_refresh_mode=LogicalRefreshMode.AUTOMATIC,
        refresh_status=RefreshStatus.SUSPENDED,
        freshness=Freshness(29, FreshnessUnit.MINUTE),
        refresh_handler=b"",
        options=of.options,
        comment=of.comment,
        partition_keys=of.partition_keys,
        distribution=of.distribution,
    )


def model(question: Question) -> CatalogModel:
    of = table(question)
    return CatalogModel(of.schema, of.schema, options=of.options, comment=of.comment)


#: Kind of map -> what is made of the question about a table.
OBJECTS: dict[MapKind, Callable[[Question], StoredObject]] = {
    MapKind.TABLE: table,
    MapKind.VIEW: view,
    MapKind.MATERIALIZED_TABLE: materialized_table,
    MapKind.MODEL: model,
}


def maps(drawing: MapDrawing) -> Iterator[tuple[MapKind, Properties]]:
    """Maps of all kinds without end; what is drawn and refused is left out."""
    while True:
        for kind, made in OBJECTS.items():
            try:
                resolved = MAP_FORMATS[kind].resolve(made(drawing.table()), RESOLVER)
                properties = MAP_FORMATS[kind].encode(resolved, "carry")
            except SchemaCoreError:
                continue
            if properties and not verify(properties, kind=kind):
                yield kind, properties


def harms(draw: random.Random, stored: Properties) -> Iterator[tuple[str, Properties]]:
    """The map with one value lost, cut or changed, and the key."""
    for key in draw.choices(sorted(stored), k=HARMS):
        short = stored[key][: draw.randint(0, max(0, len(stored[key]) - 1))]
        for other in (
            lost(draw, stored, key),
            changed(draw, stored, key),
            stored | {key: short},
        ):
            if other != stored:
                yield key, other


def outcome(harmed: Properties, kind: MapKind, before: StoredObject) -> str:
    """What came of a harm; "same" is what must not be."""
    if verify(harmed, kind=kind):
        return "reported"
    try:
        return "same" if read_map(harmed, kind).object == before else "different"
    except SchemaCoreError:
        return "refused"


def run(draw: random.Random, count: int) -> dict[str, Counter[str]]:
    """Try so many damages and print those that go unnoticed."""
    result = {name: Counter[str]() for name in STORES}
    tried = 0
    for (kind, properties), name in zip(maps(MapDrawing(draw)), cycle(STORES), strict=False):
        stored = pack(properties, STORES[name])
        before = read_map(stored, kind).object
        for key, harmed in harms(draw, stored):
            came = outcome(harmed, kind, before)
            result[name][came] += 1
            tried += 1
            if came == "same":
                missed = {"kind": kind.value, "key": key, "to": harmed.get(key), "map": stored}
                print(json.dumps(missed, ensure_ascii=False))
        if tried >= count:
            return result
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description="Harm stored maps.")
    parser.add_argument("--count", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    result = run(random.Random(options.seed), options.count)
    names = ("reported", "refused", "different", "same")
    print(f"{'':16}" + "".join(f"{name:>11}" for name in names))
    for store, counts in result.items():
        print(f"{store:16}" + "".join(f"{counts[name]:11}" for name in names))
    sys.exit(any(counts["same"] for counts in result.values()))


if __name__ == "__main__":
    main()
