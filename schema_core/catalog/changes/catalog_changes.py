"""Changes of a catalog: databases, tables, views and materialized tables, in `TableChange`'s style.

Each class applies itself by one method of the catalog; its JSON follows from its fields.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Final

from schema_core.base.arguments import require_instance, require_sequence
from schema_core.base.lazy import dataclass
from schema_core.base.paths import ObjectIdentifier, ObjectPath
from schema_core.base.text import quote_identifier
from schema_core.catalog.api import Capability, Catalog
from schema_core.catalog.changes.column_history import add_column_history
from schema_core.catalog.changes.normal_forms import normalize, stale_change
from schema_core.catalog.changes.table_changes import TableChange, apply, describe, print_path
from schema_core.catalog.managed import (
    directory_of,
    is_managed,
    new_directory,
    remove_directory,
    require_no_path,
    with_directory,
)
from schema_core.catalog.objects import (
    DEFAULT_FRESHNESS,
    CatalogBaseTable,
    CatalogDatabase,
    CatalogMaterializedTable,
    CatalogTable,
    CatalogView,
    RefreshStatus,
    StartMode,
)
from schema_core.catalog.own_options import require_no_own_options, without_own_options
from schema_core.catalog.resolve import origin
from schema_core.catalog.stores.optimistic_locking import alter_if_unchanged
from schema_core.errors import at

#: What `str` shows of a change: name -> how it is read.
Shown = Mapping[str, Callable[[Any], object]]


@dataclass(frozen=True, slots=True)
class CatalogChange(ABC):
    """The base of the changes of a catalog, for which Flink has no classes."""

    shown: ClassVar[Shown] = {}

    def __str__(self) -> str:
        values = ", ".join(f"{name}={read(self)}" for name, read in self.shown.items())
        return f"{type(self).__name__}{{{values}}}"

    @abstractmethod
    def apply_to(self, catalog: Catalog) -> None:
        """Apply the change to a catalog, which must have what it was made for.

        Raises:
            SchemaCoreError: as `apply_to_catalog`.
        """

    @abstractmethod
    def description(self) -> str:
        """Return the change in one line of English, with secrets masked."""


# --- databases -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DatabaseChange(CatalogChange, ABC):
    """The base of changes of a database."""

    shown: ClassVar[Shown] = {"name": lambda change: quote_identifier(change.name)}

    name: str

    def _require_current(self, catalog: Catalog, expected: CatalogDatabase) -> None:
        if catalog.get_database(self.name) != expected:
            raise stale_change(f"the database {self.name} has changed since it was read")


@dataclass(frozen=True, slots=True)
class AddDatabase(DatabaseChange):
    """A database is created."""

    database: CatalogDatabase

    def apply_to(self, catalog: Catalog) -> None:
        require_no_own_options(self.database.properties)
        catalog.create_database(self.name, self.database, ignore_if_exists=False)

    def description(self) -> str:
        return f"create database {quote_identifier(self.name)}"


@dataclass(frozen=True, slots=True)
class ModifyDatabase(DatabaseChange):
    """A database gets other properties or another comment."""

    old_database: CatalogDatabase
    new_database: CatalogDatabase

    def apply_to(self, catalog: Catalog) -> None:
        self._require_current(catalog, self.old_database)
        require_no_own_options(self.new_database.properties)
        alter = partial(
            catalog.alter_database, self.name, self.new_database, ignore_if_not_exists=False
        )
        alter_if_unchanged(catalog.capabilities, alter, self.old_database)

    def description(self) -> str:
        return f"alter database {quote_identifier(self.name)}"


@dataclass(frozen=True, slots=True)
class RemoveDatabase(DatabaseChange):
    """An empty database is dropped."""

    database: CatalogDatabase

    def apply_to(self, catalog: Catalog) -> None:
        self._require_current(catalog, self.database)
        catalog.drop_database(self.name, ignore_if_not_exists=False)

    def description(self) -> str:
        return f"drop database {quote_identifier(self.name)}"


# --- tables and views ----------------------------------------------------------------------------


def _read_title(change: Any) -> str:
    title: str = change.title
    return title


def _kind(table: CatalogBaseTable) -> str:
    return table.get_table_kind().value.lower().replace("_", " ")


@dataclass(frozen=True, slots=True)
class ObjectChange(CatalogChange, ABC):
    """The base of changes of a table, view or materialized table."""

    path: ObjectPath

    @property
    def title(self) -> str:
        """The path of the object, quoted."""
        return print_path((self.path.database_name, self.path.object_name))

    def _require_current(self, catalog: Catalog, expected: CatalogBaseTable) -> CatalogBaseTable:
        read = catalog.get_table(self.path)
        if normal_object(without_own_options(read)) != normal_object(expected):
            raise stale_change(f"{self.path} has changed since it was read")
        return read

    def _alter(
        self,
        catalog: Catalog,
        new: CatalogBaseTable,
        read: CatalogBaseTable,
        changes: tuple[TableChange, ...] | None,
    ) -> None:
        """Replace the definition; a catalog that compares gets the one that was read."""
        if Capability.VERSIONS in catalog.capabilities:
            catalog.alter_table(self.path, new, False, expected=read, changes=changes)
        else:
            catalog.alter_table(self.path, new, False)


@dataclass(frozen=True, slots=True)
class AddObject(ObjectChange):
    """A table, view or materialized table is created."""

    shown: ClassVar[Shown] = {
        "path": _read_title,
        "kind": lambda change: change.new_object.get_table_kind().value,
    }

    new_object: CatalogBaseTable

    def apply_to(self, catalog: Catalog) -> None:
        table = self.new_object
        require_no_own_options(table.options)
        if catalog.storage is not None and is_managed(table):  # with a directory of its own
            require_no_path(table)
            names = self.path.database_name, self.path.object_name
            table = with_directory(table, new_directory(ObjectIdentifier.of("", *names)))
        catalog.create_table(self.path, table, ignore_if_exists=False)

    def description(self) -> str:
        return f"create {_kind(self.new_object)} {self.title}"


@dataclass(frozen=True, slots=True)
class RenameObject(ObjectChange):
    """A table, view or materialized table is renamed within its database."""

    shown: ClassVar[Shown] = {
        "path": _read_title,
        "newName": lambda change: quote_identifier(change.new_name),
    }

    new_name: str

    def apply_to(self, catalog: Catalog) -> None:
        catalog.rename_table(self.path, self.new_name, ignore_if_not_exists=False)

    def description(self) -> str:
        return f"rename {self.title} to {quote_identifier(self.new_name)}"


@dataclass(frozen=True, slots=True)
class ModifyTable(ObjectChange):
    """A table is altered by changes."""

    shown: ClassVar[Shown] = {
        "path": _read_title,
        "changes": lambda change: f"[{', '.join(map(str, change.changes))}]",
    }

    changes: tuple[TableChange, ...]

    def apply_to(self, catalog: Catalog) -> None:
        read = catalog.get_table(self.path)
        if not isinstance(read, CatalogTable):
            raise stale_change(f"{self.path} is not a table")
        table = apply(self.changes, read)
        altered, steps = add_column_history(table, self.changes, read, catalog.storage)
        self._alter(catalog, altered, read, steps)

    def description(self) -> str:
        return f"alter table {self.title}: {'; '.join(map(describe, self.changes))}"


@dataclass(frozen=True, slots=True)
class ModifyObject(ObjectChange):
    """A view or materialized table is replaced by another of its kind."""

    shown: ClassVar[Shown] = AddObject.shown

    old_object: CatalogBaseTable
    new_object: CatalogBaseTable

    def apply_to(self, catalog: Catalog) -> None:
        require_no_own_options(self.new_object.options)
        read = self._require_current(catalog, self.old_object)
        new = self.new_object
        if isinstance(new, CatalogMaterializedTable) and isinstance(read, CatalogMaterializedTable):
            new = replace(new, **{name: getattr(read, name) for name in REFRESH_STATE})
        self._alter(catalog, new, read, None)

    def description(self) -> str:
        return f"alter {_kind(self.new_object)} {self.title}"


@dataclass(frozen=True, slots=True)
class RemoveObject(ObjectChange):
    """A table, view or materialized table is dropped."""

    shown: ClassVar[Shown] = {
        "path": _read_title,
        "kind": lambda change: change.old_object.get_table_kind().value,
    }

    old_object: CatalogBaseTable

    def apply_to(self, catalog: Catalog) -> None:
        self._require_current(catalog, self.old_object)
        directory = directory_of(catalog.get_table(self.path))
        catalog.drop_table(self.path, ignore_if_not_exists=False)
        remove_directory(catalog, self.path, directory)

    def description(self) -> str:
        return f"drop {_kind(self.old_object)} {self.title}"


CATALOG_CHANGES: tuple[type[CatalogChange], ...] = (
    AddDatabase, ModifyDatabase, RemoveDatabase, AddObject, RenameObject, ModifyTable, ModifyObject,
    RemoveObject,
)  # fmt: skip


#: The fields of a materialized table that its refresh sets -> their values before the first one.
REFRESH_STATE: Final[Mapping[str, Any]] = {
    "refresh_status": RefreshStatus.INITIALIZING,
    "refresh_handler": None,
    "refresh_handler_description": None,
    "snapshot": None,
}


def normal_object(table: CatalogBaseTable) -> CatalogBaseTable:
    """Return an object in the form in which two of its kind are compared.

    A materialized table is compared without its `REFRESH_STATE` and with its default freshness; its
    refresh mode follows from the logical one and the freshness.
    """
    if isinstance(table, CatalogView):
        written = origin(table)
        return replace(written, schema=normalize(written.schema))
    if isinstance(table, CatalogMaterializedTable):
        stored = origin(table)
        return replace(
            stored,
            schema=normalize(stored.schema),
            freshness=stored.freshness or DEFAULT_FRESHNESS[stored.logical_refresh_mode],
            start_mode=stored.start_mode or StartMode.FROM_BEGINNING,
            refresh_mode=None,
            **REFRESH_STATE,
        )
    return normalize(table) if isinstance(table, CatalogTable) else table


def apply_to_catalog(changes: Iterable[CatalogChange], catalog: Catalog) -> None:
    """Apply changes to a catalog in their order, each by one method of the catalog.

    They are not a transaction: an error leaves earlier changes applied, and `diff_catalogs` returns
    the rest.

    Raises:
        SchemaError: with code `change-does-not-fit` where the catalog lacks what a change was
            made for; as `apply` for the changes of a table.
        ConflictError: if another process alters a table meanwhile.
        SchemaCoreError: as the methods of the catalog.
    """
    require_instance(catalog, Catalog, "the catalog")
    for position, change in enumerate(require_sequence(changes, "the changes"), 1):
        require_instance(change, CatalogChange, "a change")
        with at(f"change {position}, {type(change).__name__}"):
            change.apply_to(catalog)
