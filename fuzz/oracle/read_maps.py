"""Asks the real Flink to read the maps that we write: every one must give the table it came from.

    python -m fuzz.oracle.read_maps [--tables 2000] [--seed 1] [--oracle .oracle]

Tables are drawn from `schema_core.testing.schemas` and, two for each of these, from
`fuzz.drawing_maps`; then come the recorded maps of all older versions, upgraded. Each is written
with ``on_loss="carry"``, so that only types without a string are left out, or that name
Java classes (RAW), which Flink would have to load. Flink must resolve the schema of its keys,
find the options, and write the same keys again (how expressions were once written is not in a map,
and not compared). Prints the figures, and the first differences.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings

from fuzz.drawing_maps import MapDrawing
from fuzz.map_damage import table as table_of
from fuzz.oracle.asking import ask
from properties.answers.schema import resolved_answer
from properties.scoring import exact
from schema_core.catalog.objects import CatalogTable, ResolvedCatalogTable
from schema_core.catalog.resolve import resolve_table
from schema_core.errors import SchemaCoreError
from schema_core.properties.key_syntax import Properties, is_reserved
from schema_core.properties.property_map import decode_table, encode_table, encoded_parts
from schema_core.properties.sidecar import VERSION
from schema_core.properties.stored import MapKind, kind_of, upgrade
from schema_core.schema.resolve import SchemaResolver
from schema_core.testing.strategies import tables
from schema_core.types import RawType

MAPS = Path(__file__).parents[2] / "properties" / "corpus" / "maps"


def drawn(count: int, number: int) -> list[ResolvedCatalogTable]:
    """So many resolved tables that Flink can read, from both sources."""
    few = by_strategies(count // 3, number)
    return few + list(islice(by_drawing(number), count - len(few)))


def by_drawing(number: int) -> Iterator[ResolvedCatalogTable]:
    """Tables of odd names, comments and options without end."""
    drawing = MapDrawing(random.Random(number))
    while True:
        try:
            resolved = resolve_table(table_of(drawing.table()), SchemaResolver())
        except SchemaCoreError:
            continue
        if not needs_a_class(resolved):
            yield resolved


def recorded() -> Iterator[ResolvedCatalogTable]:
    """The tables that older versions wrote, as their upgraded maps tell them."""
    for file in sorted(MAPS.glob("*.jsonl.gz")):
        for line in gzip.decompress(file.read_bytes()).decode("utf-8").rstrip("\n").split("\n"):
            properties = upgrade(json.loads(line)["a"]["properties"]).properties
            if kind_of(properties) is MapKind.TABLE:
                resolved = resolve_table(decode_table(properties), SchemaResolver())
                if not needs_a_class(resolved):
                    yield resolved


def by_strategies(count: int, number: int) -> list[ResolvedCatalogTable]:
    """So many of the tables that laws are tried on; some that are drawn Flink cannot read."""
    result: list[ResolvedCatalogTable] = []

    @seed(number)
    @settings(
        max_examples=2 * count, phases=[Phase.generate], deadline=None, database=None,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(tables())
    def collect(table: CatalogTable) -> None:
        resolved = resolve_table(table, SchemaResolver())
        if not needs_a_class(resolved):
            result.append(resolved)

    collect()
    return result[:count]


def needs_a_class(table: ResolvedCatalogTable) -> bool:
    """Whether Flink would have to load a class to read the types."""
    columns = table.resolved_schema.columns
    return any(isinstance(part, RawType) for column in columns for part in column.data_type.walk())


def expectation(table: ResolvedCatalogTable) -> tuple[Properties, dict[str, Any]] | None:
    """The map of a table and what Flink should make of it; None where there is no map."""
    try:
        properties = encode_table(table, on_loss="carry")
    except SchemaCoreError:
        return None
    encoded = encoded_parts(table.resolved_schema, table.options, table.comment, "carry")
    resolved = resolved_answer(encoded.schema) | {"string": None}
    for column in resolved["columns"]:  # a key that is the name is none in Flink's map
        if column.get("key") == column["name"]:
            column["key"] = None
    return properties, {
        "resolved": resolved,
        "options": {key: value for key, value in encoded.options.items() if not is_reserved(key)},
        "comment": table.get_comment(),
        "partition_keys": table.get_partition_keys(),
        "properties": {
            key: value
            for key, value in properties.items()
            if not key.startswith(f"schema.{VERSION}.") and key not in encoded.options
        },
    }


def differences(expected: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    """The parts in which Flink's answer is another one."""
    if not answer.get("ok"):
        return {"refused": answer.get("error")}
    answer["resolved"]["string"] = None
    own = expected["options"]
    answer["properties"] = {
        key: value for key, value in answer["properties"].items() if key not in own
    }
    return {
        part: (want, answer.get(part))
        for part, want in expected.items()
        if exact(want, part) != exact(answer.get(part), part)
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Let the real Flink read our property maps.")
    parser.add_argument("--tables", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--oracle", default=".oracle", help="the directory that setup.sh filled")
    parser.add_argument("--show", type=int, default=3)
    options = parser.parse_args()
    for source in (drawn(options.tables, options.seed), recorded()):
        compare([pair for table in source if (pair := expectation(table))], options)


def compare(pairs: list[tuple[Properties, dict[str, Any]]], options: argparse.Namespace) -> None:
    """Ask Flink about all maps, and print what differs."""
    questions = [{"op": "deserialize", "properties": properties} for properties, _ in pairs]
    answers = ask(options.oracle, questions)
    result = [
        (properties, difference)
        for (properties, expected), answer in zip(pairs, answers, strict=True)
        if (difference := differences(expected, answer))
    ]
    for properties, difference in result[: options.show]:
        print(json.dumps(properties, ensure_ascii=False), json.dumps(difference, default=str))
    print(f"{len(pairs) - len(result)} of {len(pairs)} maps are read as they were written")


if __name__ == "__main__":
    main()
