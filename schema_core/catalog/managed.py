"""Managed tables: those without a connector in a catalog with a warehouse directory (FLIP-218).

The catalog stores only the directory of the table, in an option that a session does not show. What
a connector needs is derived from it when the table is used, so a renamed table keeps its rows, and
a copied definition never shares them. Dropping the table deletes its directory.
"""

from __future__ import annotations

import os
import re
import shutil
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import field
from typing import TYPE_CHECKING, Final, TypeVar
from urllib.parse import quote

from schema_core.catalog.objects import CatalogTable
from schema_core.errors import ExternalError, SchemaError
from schema_core.lazy_dataclass import dataclass
from schema_core.lazy_regex import regex

if TYPE_CHECKING:
    from schema_core.catalog.objects import CatalogBaseTable
    from schema_core.paths import ObjectIdentifier

Table = TypeVar("Table", bound="CatalogBaseTable")

#: The option that holds the directory of a table, below the warehouse.
KEY: Final = "schema-core.managed"
#: The options of catalogs that manage tables.
WAREHOUSE, FORMAT = "warehouse", "warehouse.format"
#: The longest part of a name that is used in the name of a directory.
MAX_NAME = 80


@dataclass(frozen=True, slots=True)
class ManagedStorage:
    """Where a catalog keeps its managed tables, and in which format if a table has no `format`."""

    warehouse: str
    form: str = "parquet"

    @classmethod
    def of(cls, options: Mapping[str, str]) -> ManagedStorage | None:
        """Return the storage that the options of a catalog describe, None without a warehouse.

        Raises:
            SchemaError: with code `invalid-catalog-option` for a directory that is not local or not
                absolute.
        """
        directory = options.get(WAREHOUSE)
        if directory is None:
            if FORMAT in options:
                raise _invalid(f"the option {FORMAT!r} requires the option {WAREHOUSE!r}")
            return None
        path = re.sub(r"^file:(//)?(?=/)", "", directory)
        if not os.path.isabs(path):  # noqa: PTH117 - paths are strings here
            raise _invalid(
                f"option {WAREHOUSE!r} must be an absolute path of a local directory, "
                f"got {directory!r}"
            )
        return cls(path.rstrip("/") or "/", options.get(FORMAT, "parquet"))

    def derived(self, table: Table, directory: str) -> Table:
        """Return a managed table with the options of the connector that reads and writes it."""
        own = {"connector": "filesystem", "format": self.form}
        own = {**own, **table.options, "path": f"{self.warehouse}/{directory}"}
        return table.copy(own)

    def remove(self, directory: str) -> None:
        """Delete the directory of a table that was dropped.

        Raises:
            ExternalError: with code `file-system-failed`.
        """
        path = f"{self.warehouse}/{directory}"
        try:
            shutil.rmtree(path)
        except FileNotFoundError:
            return
        except OSError as error:
            raise ExternalError(
                f"the table was dropped or replaced, but its directory {path!r} was not deleted: "
                f"{error.strerror}",
                code="file-system-failed",
                hint="delete the directory",
            ) from error

    def remove_replaced(self, directory: str, table: CatalogBaseTable) -> None:
        """Delete the directory of a table that another one has replaced, unless that uses it.

        Raises:
            ExternalError: as `remove`.
        """
        root = os.path.realpath(f"{self.warehouse}/{directory}")
        used = (re.sub(r"^file:(//)?(?=/)", "", one) for one in table.options.values())
        inner = (os.path.realpath(one) for one in used if os.path.isabs(one))  # noqa: PTH117
        if directory_of(table) != directory and not any(
            f"{one}/".startswith(f"{root}/") for one in inner
        ):
            self.remove(directory)


@dataclass(frozen=True, slots=True)
class DeferredStorage(ManagedStorage):
    """The storage of a catalog within a transaction: directories are deleted after its commit."""

    dropped: list[str] = field(default_factory=list)

    def remove(self, directory: str) -> None:
        """Add the directory to those that are deleted after the commit."""
        self.dropped.append(directory)


def _invalid(problem: str) -> SchemaError:
    return SchemaError(problem, code="invalid-catalog-option")


def new_directory(identifier: ObjectIdentifier) -> str:
    """Return a directory that no other table has, named after the table."""
    return f"{_prefix(identifier)}{uuid.uuid4().hex[:12]}"


def _prefix(identifier: ObjectIdentifier) -> str:
    database, name = (
        quote(one, safe="")[:MAX_NAME] for one in (identifier.database_name, identifier.object_name)
    )
    return f"{database}.db/{name}-"


def ensure_directory(options: Mapping[str, str]) -> None:
    """Create the directory of a managed table, which is empty until something is written."""
    with suppress(OSError):  # whatever uses the directory reports what is wrong with it
        os.makedirs(options["path"], exist_ok=True)  # noqa: PTH103


def is_managed(table: CatalogBaseTable) -> bool:
    """Return whether a table has rows and no connector of its own."""
    return isinstance(table, CatalogTable) and "connector" not in table.options


def directory_of(table: CatalogBaseTable | None) -> str | None:
    """Return the directory of a stored table, None if it is not managed."""
    if table is None or not is_managed(table):
        return None
    directory = table.options.get(KEY)
    return directory if directory is not None and _DIRECTORY.fullmatch(directory) else None


#: No part of it is ``..``, whatever the names are.
_DIRECTORY = regex(r"[^/\0]+\.db/[^/\0]+-[0-9a-f]{12}")


def with_directory(table: Table, directory: str) -> Table:
    """Return a table as the catalog stores it."""
    return table.copy({**table.options, KEY: directory})


def without_directory(table: Table) -> Table:
    """Return a table as users see it."""
    if directory_of(table) is None:
        return table
    return table.copy({key: value for key, value in table.options.items() if key != KEY})


def require_new(identifier: ObjectIdentifier, table: CatalogBaseTable) -> None:
    """Refuse options of a new managed table that only this library sets.

    Raises:
        SchemaError: with code `reserved-option`.
    """
    directory = table.options.get(KEY)
    if directory is not None and not directory.startswith(_prefix(identifier)):
        raise _reserved(KEY)
    if "path" in table.options:
        raise _reserved("path")


def _reserved(key: str) -> SchemaError:
    return SchemaError(
        f"the option {key!r} of a managed table is set by its catalog",
        code="reserved-option",
        hint="add 'connector' = 'filesystem' for a table at a path of your own",
    )
