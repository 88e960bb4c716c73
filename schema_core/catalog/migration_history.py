"""The history of migrations that a catalog stores in the transactions that apply them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any, Self

from schema_core.base.arguments import require_instance, require_names, require_sequence
from schema_core.base.lazy_dataclass import dataclass
from schema_core.errors import SchemaError


@dataclass(frozen=True, slots=True)
class RecordedObject:
    """An object as a migration left it, by which changes from outside are found.

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

    `position` counts from 1 in the order of application. `checksum` is that of the file, whose
    `text` is kept so that the migration can be undone without it. `applied_at` is a time in UTC
    (ISO 8601). `stamped` is whether the migration was recorded without being executed.
    """

    name: str
    position: int
    checksum: str
    parents: tuple[str, ...]
    applied_at: str
    text: str
    objects: tuple[RecordedObject, ...] = ()
    stamped: bool = False

    def to_document(self) -> dict[str, Any]:
        """Return the entry as objects of JSON."""
        return asdict(self)

    @classmethod
    def of_document(cls, document: Mapping[str, Any]) -> Self:
        """Return the entry of a document.

        Raises:
            SchemaError: with code `wrong-argument` for any other value.
        """
        require_instance(document, Mapping, "the document")
        names = {field.name for field in fields(cls)}
        if document.keys() != names:
            raise SchemaError(
                f"the document of a migration must have the keys {', '.join(sorted(names))}",
                code="wrong-argument",
            )
        for name in ("name", "checksum", "applied_at", "text"):
            require_instance(document[name], str, name)
        objects = [
            require_instance(one, Mapping, "an object")
            for one in require_sequence(document["objects"], "objects")
        ]
        try:
            recorded = tuple(RecordedObject(**object_) for object_ in objects)
        except TypeError as error:
            raise SchemaError(f"invalid object: {error}", code="wrong-argument") from None
        return cls(
            document["name"],
            require_instance(document["position"], int, "position"),
            document["checksum"],
            require_names(document["parents"], "parents"),
            document["applied_at"],
            document["text"],
            recorded,
            require_instance(document["stamped"], bool, "stamped"),
        )
