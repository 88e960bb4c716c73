"""The history of migrations that a catalog stores in the transactions that apply them."""

from __future__ import annotations

from collections.abc import Mapping

from schema_core.base.lazy import dataclass


@dataclass(frozen=True, slots=True)
class RecordedObject:
    """An object as a migration left it, to detect changes from outside.

    `name` is '' for a database; `kind` is ``DATABASE`` or the name of a `TableKind`. `properties`
    are its property map with secrets masked, None if the migration dropped it.
    """

    database: str
    name: str
    kind: str
    properties: Mapping[str, str] | None


@dataclass(frozen=True, slots=True)
class CatalogMigration:
    """A migration that was applied to a catalog.

    `position` counts from 1 in the order of application. `text` is the file, kept to undo the
    migration without it, and `checksum` its checksum. `applied_at` is in UTC (ISO 8601). `stamped`
    migrations were recorded without being executed.
    """

    name: str
    position: int
    checksum: str
    parents: tuple[str, ...]
    applied_at: str
    text: str
    objects: tuple[RecordedObject, ...] = ()
    stamped: bool = False
