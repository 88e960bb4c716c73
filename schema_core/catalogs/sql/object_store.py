"""Entries of a SQL store by the paths of a catalog, and how a wrong path is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from schema_core.catalog.objects import CatalogDatabase, CatalogFunction
from schema_core.catalog.optimistic_locking import require_expected
from schema_core.catalog.partitions import CatalogPartition, CatalogPartitionSpec
from schema_core.catalogs import documents
from schema_core.errors import AlreadyExistsError, ConflictError, NotFoundError, SchemaError, at
from schema_core.paths import ObjectPath

if TYPE_CHECKING:
    from schema_core.catalogs.sql.entries import Entries, Entry


class Kind(Enum):
    """What an entry is."""

    DATABASE = "database"
    TABLE = "table"
    PARTITION = "partition"
    FUNCTION = "function"
    MODEL = "model"
    TYPE = "type"


@dataclass(frozen=True, slots=True)
class Written:
    """An object as the store has it: its form, which tells kinds of tables apart, and its text."""

    content: str
    form: str = ""


@dataclass(frozen=True, slots=True)
class Expected:
    """What somebody has read, and how it is read again; its text, if it is resolved."""

    value: object
    read: Callable[[Entry], object]
    content: str | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where an object lies: under an entry, by its key; `shown` is what messages call it."""

    parent: int
    kind: Kind
    key: str
    name: str
    shown: object


def missing(kind: Kind, shown: object) -> NotFoundError:
    """There is none."""
    return NotFoundError(f"there is no {kind.value} {shown}", code=f"{kind.value}-not-found")


def exists(kind: Kind, shown: object) -> AlreadyExistsError:
    """There is one already."""
    return AlreadyExistsError(
        f"there is already a {kind.value} {shown}", code=f"{kind.value}-exists"
    )


def ignore_missing(kind: Kind, shown: object, ignore: bool, expected: object = None) -> None:
    """Nothing, if that is what the flag wants.

    Raises:
        NotFoundError: otherwise, or a `ConflictError` if something was expected.
    """
    if not ignore:
        require_expected(shown, expected, None)
        raise missing(kind, shown)


def key_of(kind: Kind, name: str) -> str:
    """What makes two names the same: those of functions are, whatever their case."""
    return name.lower() if kind is Kind.FUNCTION else name


# --- looking up ----------------------------------------------------------------------------------


def find_database(entries: Entries, name: str, for_change: bool = False) -> Entry | None:
    """The database, or None."""
    return entries.find(entries.root, Kind.DATABASE.value, name, for_change)


def get_database(entries: Entries, name: str, for_change: bool = False) -> Entry:
    """The database.

    Raises:
        NotFoundError: with code `database-not-found`.
    """
    if entry := find_database(entries, name, for_change):
        return entry
    raise missing(Kind.DATABASE, name)


def find(entries: Entries, kind: Kind, path: ObjectPath, for_change: bool = False) -> Entry | None:
    """The object at this path, or None, also where there is no such database."""
    database = find_database(entries, path.database_name)
    if database is None:
        return None
    return entries.find(database.id, kind.value, key_of(kind, path.object_name), for_change)


def get(entries: Entries, kind: Kind, path: ObjectPath, for_change: bool = False) -> Entry:
    """The object at this path.

    Raises:
        NotFoundError: with the code of its kind.
    """
    if entry := find(entries, kind, path, for_change):
        return entry
    raise missing(kind, path)


def place(entries: Entries, kind: Kind, path: ObjectPath) -> Place:
    """Where a new object goes; nobody drops its database meanwhile.

    Raises:
        NotFoundError: with code `database-not-found`.
    """
    key = key_of(kind, path.object_name)
    database = get_database(entries, path.database_name, for_change=True)
    return Place(database.id, kind, key, key, path)


# --- reading ------------------------------------------------------------------------------------


def read_database(entry: Entry) -> CatalogDatabase:
    """The database of an entry."""
    with at(f"database {entry.name!r}"):
        return documents.read_database(entry.content)


def read_partition(entry: Entry) -> CatalogPartition:
    """The partition of an entry."""
    with at(f"partition {entry.name}"):
        return documents.read_partition(entry.content)


def read_function(entry: Entry) -> CatalogFunction:
    """The function of an entry."""
    with at(f"function {entry.name!r}"):
        return documents.read_function(entry.content)


def find_partition(entries: Entries, table: Entry, spec: CatalogPartitionSpec) -> Entry | None:
    """The partition of a table, or None."""
    key = documents.key_of_spec(spec)
    return entries.find(table.id, Kind.PARTITION.value, key, for_change=False)


# --- changing ------------------------------------------------------------------------------------


def create(entries: Entries, where: Place, written: Written, ignore_if_exists: bool) -> None:
    """Keep a new object.

    Raises:
        AlreadyExistsError: with the code of its kind.
    """
    kind, key = where.kind.value, where.key
    taken = entries.find(where.parent, kind, key) is not None or not entries.create(
        where.parent, kind, key, where.name, written.form, written.content
    )
    if taken and not ignore_if_exists:
        raise exists(where.kind, where.shown)


def alter(
    entries: Entries,
    entry: Entry,
    shown: object,
    written: Written,
    expected: Expected,
) -> None:
    """Put another text in place of the one that is there.

    Raises:
        SchemaError: with code `wrong-table-kind`, if it is of another form.
        ConflictError: if something else is there than expected.
    """
    if entry.form != written.form:
        raise SchemaError(f"{shown} is no {written.form}", code="wrong-table-kind")
    if expected.value is not None and expected.content != entry.content:
        require_expected(shown, expected.value, expected.read(entry))
    if not entries.alter(entry, written.content):
        raise ConflictError(f"{shown} was changed by someone else")


def rename(entries: Entries, kind: Kind, path: ObjectPath, new_name: str, ignore: bool) -> None:
    """Give the object another name within its database; what lies under it goes with it.

    Raises:
        AlreadyExistsError, NotFoundError: with the code of its kind.
    """
    entry = find(entries, kind, path, for_change=True)
    if entry is None:
        return ignore_missing(kind, path, ignore)
    new_path = ObjectPath(path.database_name, new_name)
    if find(entries, kind, new_path) is not None:
        raise exists(kind, new_path)
    key = key_of(kind, new_name)
    if not entries.rename(entry, key, key):
        raise exists(kind, new_path)
    return None


def drop(entries: Entries, kind: Kind, path: ObjectPath, ignore: bool) -> None:
    """Forget the object and what lies under it.

    Raises:
        NotFoundError: with the code of its kind.
    """
    entry = find(entries, kind, path, for_change=True)
    if entry is None:
        return ignore_missing(kind, path, ignore)
    entries.drop(entry)
    return None
