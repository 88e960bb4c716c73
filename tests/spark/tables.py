"""Tables for tests of the pipeline: a schema in a few words, with options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from schema_core.catalog.objects import CatalogTable
from schema_core.catalog.resolve import resolve_table
from schema_core.environment.planner import BoundTable
from schema_core.paths import ObjectIdentifier
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.unresolved import Schema


def bound(
    schema: Schema, path: Path, form: str, options: Mapping[str, str] | None = None,
    partitions: Sequence[str] = (),
) -> BoundTable:
    """A filesystem table of a schema at a path."""
    every = {"connector": "filesystem", "path": str(path), "format": form, **(options or {})}
    table = CatalogTable(schema, tuple(partitions), options=every)
    resolved = resolve_table(table, SchemaResolver(streaming=False))
    return BoundTable(ObjectIdentifier.of("c", "d", path.name), resolved)
