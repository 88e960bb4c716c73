"""`DeltaCatalog`: the tables of Delta Lake below a directory."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schema_core.base.arguments import require_instance, validate_methods
from schema_core.base.paths import ObjectPath
from schema_core.base.plugins import require_modules
from schema_core.catalog.api import Capability, Catalog
from schema_core.catalog.managed import is_managed
from schema_core.catalog.objects import CatalogBaseTable
from schema_core.catalog.registry import CatalogFactory
from schema_core.catalog.stores.stored_catalog import StoredCatalog
from schema_core.connectors.delta.options import (
    DELTA,
    PATH,
    TABLE_PROPERTY,
    TIMESTAMP_AS_OF,
    VERSION,
    resolve_table_location,
)
from schema_core.environment.options import ConfigOption
from schema_core.errors import NotFoundError, SchemaError
from schema_core.errors.hints import READ_LATER_VERSION

if TYPE_CHECKING:
    from schema_core.catalogs.delta.store import DeltaStore

WAREHOUSE = ConfigOption(
    "warehouse", str, None, "the directory of the databases, each a directory", required=True
)
DEFAULT_DATABASE = ConfigOption(
    "default-database", str, "default", "the database that is current at first"
)


@validate_methods(Catalog)
class DeltaCatalog(StoredCatalog[Any]):
    """A catalog of the tables of Delta below a local directory: ``warehouse/database/table``.

    Tables of other engines appear with the columns that they have. Views, tables of other
    connectors and properties of databases are files of this library. Changes of columns that need
    column mapping are refused (`not-representable`). Dropping a table deletes its directory.

    Args:
        name: The name of the catalog.
        warehouse: The directory; it is created.
        default_database: The database that is current at first; it is created.

    Raises:
        SchemaError: with code `invalid-argument`, `invalid-name` or `invalid-option-value`.
        NotFoundError: with code `missing-dependency` without deltalake.
    """

    capabilities: frozenset[Capability] = frozenset({Capability.VERSIONS})
    creates_default: bool = True

    def __init__(self, name: str, warehouse: str, default_database: str = "default") -> None:
        require_instance(warehouse, str, "warehouse")
        require_modules("deltalake", "pyarrow")
        from schema_core.catalogs.delta.store import DeltaStore  # imports deltalake

        self.warehouse: Path = _local_directory(warehouse)
        self.delta: DeltaStore = DeltaStore(self.warehouse)
        super().__init__(name, self.delta, default_database)

    def connector_options(
        self, table_path: ObjectPath, table: CatalogBaseTable
    ) -> dict[str, str] | None:
        """Return the options of the connector `delta` for a table.

        They are all but the properties in its log, so that the connector refuses unknown ones.
        """
        if not is_managed(table):
            return None
        directory = str(self._directory(table_path))
        options = {
            key: value
            for key, value in table.options.items()
            if not TABLE_PROPERTY.has_key(key) and key != PATH.key
        }
        if set(options) - {option.key for option in VERSION}:
            for key in self.delta.properties_of(directory):
                options.pop(key, None)
        return {**options, "connector": DELTA, PATH.key: directory}

    def _directory(self, path: ObjectPath) -> Path:
        return self.warehouse / path.database_name / path.object_name

    def get_table_at(self, table_path: ObjectPath, timestamp: int) -> CatalogBaseTable:
        """Return a table with its columns and rows at a time, in milliseconds since 1970.

        Raises:
            NotFoundError: with code `table-not-found` if there was no version yet.
            UnsupportedError: with code `time-travel-not-supported` for other tables.
        """
        from schema_core.connectors.delta.client import TableAccess, version_at
        from schema_core.connectors.delta.definitions import decode_table

        if not is_managed(self.get_table(table_path)):
            return super().get_table_at(table_path, timestamp)
        access = TableAccess(str(self._directory(table_path)), {})
        version = version_at(access, access.open(), timestamp)
        if version is None:
            raise NotFoundError(
                f"the table {table_path.object_name!r} had no version at {timestamp}",
                code="table-not-found",
                hint=READ_LATER_VERSION,
            )
        table = decode_table(access.open(version))
        time = dt.datetime.fromtimestamp(timestamp / 1000, dt.UTC)
        return table.copy({**table.options, TIMESTAMP_AS_OF.key: time.isoformat()})


def _local_directory(warehouse: str) -> Path:
    _, directory = resolve_table_location(warehouse, WAREHOUSE.key)
    if directory is None:
        raise SchemaError(
            f"option 'warehouse' must be a local directory, got {warehouse!r}",
            code="invalid-option-value",
            hint="declare tables of an object store with the connector 'delta' and its 'path'",
        )
    return directory


def make_delta_catalog(name: str, options: Mapping[str, str]) -> DeltaCatalog:
    """Return the catalog of a CREATE CATALOG statement; errors as `DeltaCatalog`."""
    return DeltaCatalog(name, WAREHOUSE.of(options) or "", DEFAULT_DATABASE.of(options) or "")


#: The factory of ``CREATE CATALOG c WITH ('type' = 'delta', 'warehouse' = '/data/lake')``.
DELTA_CATALOG = CatalogFactory(
    (WAREHOUSE, DEFAULT_DATABASE), make_delta_catalog, requires=("deltalake", "pyarrow")
)
