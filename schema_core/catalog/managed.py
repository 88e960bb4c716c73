"""Managed tables: those without a connector in a catalog with a warehouse directory (FLIP-218).

The catalog stores only the directory, in an option that a session does not show. The connector's
options are derived from it at use: a renamed table keeps its rows, a copied definition never
shares them. Dropping the table deletes its directory.
"""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import field
from typing import TYPE_CHECKING, Final, Protocol, TypeVar
from urllib.parse import quote, unquote

from schema_core.base.contained_paths import find_link, normalize_path
from schema_core.base.lazy import dataclass, regex
from schema_core.base.paths import ObjectPath
from schema_core.base.text import is_blank
from schema_core.catalog.objects import CatalogMaterializedTable, CatalogTable
from schema_core.catalog.own_options import MANAGED, corrupt_option
from schema_core.errors import ExternalError, NotFoundError, SchemaCoreError, SchemaError
from schema_core.errors.hints import REPLACE_LINK

if TYPE_CHECKING:
    from schema_core.base.paths import ObjectIdentifier
    from schema_core.catalog.objects import CatalogBaseTable

Table = TypeVar("Table", bound="CatalogBaseTable")

#: The option with the directory of a table, below the warehouse.
KEY: Final = MANAGED
#: The options of catalogs that manage tables.
WAREHOUSE, FORMAT = "warehouse", "warehouse.format"
#: The longest part of a name in the name of a directory.
MAX_NAME = 80


@dataclass(frozen=True, slots=True)
class ManagedStorage:
    """Where a catalog keeps its managed tables, and in which format those without `format`."""

    warehouse: str
    form: str = "parquet"

    @classmethod
    def of(cls, options: Mapping[str, str]) -> ManagedStorage | None:
        """Return the storage that a catalog's options describe, None without a warehouse.

        `invalid-option-value` for a directory that is not local or not absolute.
        """
        directory = options.get(WAREHOUSE)
        if directory is None:
            if FORMAT in options:
                raise _invalid(f"the option {FORMAT!r} requires the option {WAREHOUSE!r}")
            return None
        path = normalize_path(directory)
        if not os.path.isabs(path):  # noqa: PTH117 - paths are strings here
            raise _invalid(
                f"option {WAREHOUSE!r} must be an absolute path of a local directory, "
                f"got {directory!r}"
            )
        return cls(path.rstrip("/") or "/", options.get(FORMAT, "parquet"))

    def derived(self, table: Table, directory: str) -> Table:
        """Return a managed table with the options of its connector."""
        link = self._link(directory)
        if link is not None:
            raise ExternalError(
                f"the directory of the managed table, {self._path(directory)!r}, is not in the "
                f"warehouse: {link!r} is a symbolic link",
                code="not-allowed",
                hint=REPLACE_LINK,
            )
        own = {"connector": "filesystem", "format": self.form}
        return table.copy({**own, **table.options, "path": self._path(directory)})

    def _path(self, directory: str) -> str:
        return f"{self.warehouse.rstrip('/')}/{directory}"

    def _link(self, directory: str) -> str | None:
        """Return the symbolic link on the way to a table's directory, or None."""
        link = find_link([f"{directory}/"], lambda item: os.path.islink(self._path(item)))  # noqa: PTH114
        return None if link is None else self._path(link)

    def remove(self, directory: str) -> None:
        """Delete the directory of a dropped table.

        `file-system-failed`; `not-allowed` if a symbolic link leads to it.
        """
        path, link = self._path(directory), self._link(directory)
        undone = f"the table was dropped or replaced, but its directory {path!r} was not deleted"
        if link is not None:
            raise ExternalError(
                f"{undone}: {link!r} is a symbolic link",
                code="not-allowed",
                hint="delete the link, and the directory that it refers to if it has no other use",
            )
        try:
            shutil.rmtree(path)
        except FileNotFoundError:
            return
        except OSError as error:
            raise ExternalError(
                f"{undone}: {error.strerror}",
                code="file-system-failed",
                hint="delete the directory",
            ) from error

    def is_used_by(self, table: CatalogBaseTable, directory: str) -> bool:
        """Return whether an option of a table is a path within a directory."""
        root = os.path.realpath(self._path(directory))
        used = map(normalize_path, table.options.values())
        inner = (os.path.realpath(option) for option in used if os.path.isabs(option))  # noqa: PTH117
        return any(f"{item}/".startswith(f"{root}/") for item in inner)


@dataclass(frozen=True, slots=True)
class DeferredStorage(ManagedStorage):
    """The storage of a catalog within a transaction: directories are deleted after its commit."""

    dropped: list[str] = field(default_factory=list)

    def remove(self, directory: str) -> None:
        self.dropped.append(directory)


def _invalid(problem: str) -> SchemaError:
    return SchemaError(problem, code="invalid-option-value")


def new_directory(identifier: ObjectIdentifier) -> str:
    """Return a directory that no other table has, named after the table."""
    return f"{_name(identifier)}-{uuid.uuid4().hex[:12]}"


def _name(path: ObjectIdentifier | ObjectPath) -> str:
    """Return the name of a table's directory without its suffix."""
    database, name = (
        quote(name, safe="")[:MAX_NAME] for name in (path.database_name, path.object_name)
    )
    return f"{database}.db/{name}"


def _is_named_after(directory: str, path: ObjectPath) -> bool:
    return directory.rpartition("-")[0] == _name(path)


def ensure_directory(options: Mapping[str, str]) -> None:
    """Create the directory of a managed table, empty until something is written."""
    with suppress(OSError):  # whatever uses the directory reports what is wrong with it
        os.makedirs(options["path"], exist_ok=True)  # noqa: PTH103


def is_managed(table: CatalogBaseTable) -> bool:
    """Return whether a table has rows and no connector of its own."""
    has_rows = isinstance(table, CatalogTable | CatalogMaterializedTable)
    return has_rows and "connector" not in table.options


def directory_of(table: CatalogBaseTable | None) -> str | None:
    """Return the directory of a stored table, None if it is not managed."""
    if table is None or not is_managed(table):
        return None
    directory = table.options.get(KEY)
    return directory if directory is not None and DIRECTORY_NAME.fullmatch(directory) else None


#: The directory of a table. No part of it is ``..``, whatever the names are.
DIRECTORY_NAME = regex(r"([^/\0]+)\.db/([^/\0]+)-[0-9a-f]{12}")


class TableStore(Protocol):
    """The tables of a catalog and their storage; `Catalog` is one, and refers to this module."""

    storage: ManagedStorage | None

    def list_databases(self) -> list[str]: ...
    def list_tables(self, database_name: str) -> list[str]: ...
    def table_exists(self, path: ObjectPath) -> bool: ...
    def get_table(self, path: ObjectPath) -> CatalogBaseTable: ...


def own_directory(
    catalog: TableStore, path: ObjectPath, table: CatalogBaseTable | None
) -> str | None:
    """Return the validated directory of a stored table; None if it is not managed.

    `corrupt-entry` for an invalid value or the directory of another table.
    """
    directory = directory_of(table)
    if table is None or directory is None:
        if table is not None and is_managed(table) and KEY in table.options:
            raise corrupt_option(KEY, table.options, "which is not a directory of a table")
        return None
    owner = _named_owner(directory)
    if (
        owner is not None
        and owner != path
        and catalog.table_exists(owner)
        and directory_of(catalog.get_table(owner)) == directory
    ):
        raise corrupt_option(KEY, table.options, f"which is the directory of {owner}")
    return directory


def _named_owner(directory: str) -> ObjectPath | None:
    """Return the table that a directory is named after; None if its name is truncated."""
    match = DIRECTORY_NAME.fullmatch(directory)
    if match is None or MAX_NAME in map(len, match.groups()):
        return None
    names = [unquote(name) for name in match.groups()]
    if any(map(is_blank, names)):
        return None
    owner = ObjectPath(*names)
    return owner if _is_named_after(directory, owner) else None


def remove_directory(catalog: TableStore, path: ObjectPath, directory: str | None) -> None:
    """Delete the directory of a table that was dropped or replaced, unless a table still has it.

    A directory named after the table is its own. Otherwise (after a rename, or changes by other
    programs) all tables of the catalog are searched. The catalog must no longer have the table;
    None means that it was not managed. Errors as `ManagedStorage.remove`.
    """
    storage = catalog.storage
    if storage is None or directory is None or not DIRECTORY_NAME.fullmatch(directory):
        return
    if catalog.table_exists(path):
        table = catalog.get_table(path)
        if directory_of(table) == directory or storage.is_used_by(table, directory):
            return
    if _is_named_after(directory, path) or not _has_owner(catalog, directory):
        storage.remove(directory)


def _has_owner(catalog: TableStore, directory: str) -> bool:
    """Return whether a table has a directory, or may have it, since it is damaged."""
    for database in catalog.list_databases():
        for name in catalog.list_tables(database):
            try:
                if directory_of(catalog.get_table(ObjectPath(database, name))) == directory:
                    return True
            except NotFoundError:  # dropped by another writer since
                continue
            except SchemaCoreError:
                return True
    return False


def with_directory(table: Table, directory: str) -> Table:
    """Return a table as the catalog stores it."""
    return table.copy({**table.options, KEY: directory})


def require_no_path(table: CatalogBaseTable) -> None:
    """Refuse the option of a managed table that its catalog sets (`reserved-option`)."""
    if "path" in table.options:
        raise SchemaError(
            "the option 'path' of a managed table is set by its catalog",
            code="reserved-option",
            hint="add 'connector' = 'filesystem' for a table at a path of your own",
        )
