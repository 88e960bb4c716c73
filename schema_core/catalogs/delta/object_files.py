"""What Delta has no place for: views, tables of other connectors, and properties of databases.

Each is a file in the directory ``.objects`` of its database, with the document of a
`DocumentCatalog`.
"""

from __future__ import annotations

import os
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from schema_core.catalog import objects
from schema_core.catalog.stores.object_store import ObjectKey, StoredKind
from schema_core.catalogs.documents import DocumentObject
from schema_core.catalogs.serialization import serialize

#: The directory of the files in that of a database.
DIRECTORY: Final = ".objects"
#: The file of a database itself, a name that no table has.
DATABASE: Final = ".database"


def path_of(database: Path, name: str) -> Path:
    """Return the path of an object's file."""
    return database / DIRECTORY / f"{name}.json"


def read_object(path: Path, key: ObjectKey) -> DocumentObject | None:
    """Return the object of a file, None without one; errors are those of the system."""
    try:
        return DocumentObject(key, path.read_bytes().decode("utf-8", "replace"))
    except (FileNotFoundError, NotADirectoryError):
        return None


def encode_object(value: Any) -> str:
    """Return the document of a database, a view, or a table of another connector."""
    if isinstance(value, objects.CatalogDatabase):
        return f"\n{serialize(StoredKind.DATABASE, value)}"
    return f"{value.get_table_kind().value}\n{serialize(StoredKind.TABLE, value)}"


def write_document(path: Path, document: str) -> None:
    """Write a file, which others read as it was or as it is; errors are those of the system."""
    path.parent.mkdir(exist_ok=True)
    new = path.with_name(f".{uuid.uuid4().hex}.new")
    try:
        new.write_bytes(document.encode())
        os.replace(new, path)  # noqa: PTH105 - as in `commit.file_systems`
    except BaseException:
        with suppress(OSError):
            new.unlink()
        raise
