"""`IcebergCatalog`: the tables of Apache Iceberg, which every engine with Iceberg reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from schema_core.base.arguments import require_instance, validate_methods
from schema_core.base.paths import ObjectPath
from schema_core.base.plugins import require_modules
from schema_core.catalog.api import Capability, Catalog
from schema_core.catalog.changes.table_changes import TableChange
from schema_core.catalog.managed import is_managed
from schema_core.catalog.objects import CatalogBaseTable, CatalogTable
from schema_core.catalog.procedures import Procedure
from schema_core.catalog.registry import CatalogFactory
from schema_core.catalog.stores.object_store import ObjectTransaction
from schema_core.catalog.stores.stored_catalog import StoredCatalog
from schema_core.connectors.iceberg.options import (
    AS_OF_TIMESTAMP,
    CATALOG_DATABASE,
    CATALOG_NAME,
    CATALOG_TABLE,
    CONNECTION,
    DEFAULT_DATABASE,
    ICEBERG,
    connector_keys,
    is_table_property,
)
from schema_core.errors import NotFoundError, SchemaError, similar
from schema_core.errors.hints import READ_LATER_VERSION

if TYPE_CHECKING:
    from schema_core.catalogs.iceberg.store import IcebergObject, IcebergStore


#: The database of procedures, which need not exist.
PROCEDURE_DATABASE = "system"


@validate_methods(Catalog)
class IcebergCatalog(StoredCatalog[Any]):
    """A catalog of Iceberg, through pyiceberg.

    A table without a connector has its rows in Iceberg. Others are only defined here: other engines
    see them without rows. Databases are namespaces, nested ones by names with dots. Names of new
    objects have no dots. Dropping a table deletes its files; the procedure
    ``system.unregister_table`` keeps them, and ``system.register_table`` adds a table of files.

    Args:
        name: The name of the catalog.
        options: The options of ``CREATE CATALOG c WITH ('type' = 'iceberg', ...)``, without `type`:
            ``warehouse`` suffices for an embedded catalog.
        default_database: The database that is current at first; it is created.

    Raises:
        SchemaError: with code `invalid-argument`, `invalid-name` or `missing-option`.
        NotFoundError: with code `missing-dependency` without pyiceberg.
    """

    capabilities: frozenset[Capability] = frozenset({Capability.VERSIONS, Capability.PROCEDURES})
    creates_default: bool = True

    def __init__(
        self, name: str, options: Mapping[str, str], default_database: str = "default"
    ) -> None:
        require_instance(options, Mapping, "options")
        require_modules("pyiceberg", "sqlalchemy", "pyarrow")
        from schema_core.catalogs.iceberg.store import IcebergStore  # imports pyiceberg
        from schema_core.connectors.iceberg.client import catalog_properties

        catalog_properties(options)
        self.options = dict(options)
        self.iceberg: IcebergStore = IcebergStore(name, self.options)
        super().__init__(name, self.iceberg, default_database)

    def connector_options(
        self, table_path: ObjectPath, table: CatalogBaseTable
    ) -> dict[str, str] | None:
        """Return the options of the connector `iceberg` for a table whose rows Iceberg has.

        They are all but the properties of the table, so that the connector refuses unknown ones.
        """
        if not is_managed(table):
            return None
        keys = connector_keys()
        own = {key: text for key, text in table.options.items() if key in keys}
        others = {
            key: text
            for key, text in table.options.items()
            if key not in keys and not is_table_property(key)
        }
        if others:
            stored = self.iceberg.properties_of(table_path.database_name, table_path.object_name)
            own |= {key: text for key, text in others.items() if key not in stored}
        return {
            **own,
            **self.options,
            "connector": ICEBERG,
            CATALOG_NAME.key: self.options.get(CATALOG_NAME.key, self.name),
            CATALOG_DATABASE.key: table_path.database_name,
            CATALOG_TABLE.key: table_path.object_name,
        }

    def get_table_at(self, table_path: ObjectPath, timestamp: int) -> CatalogBaseTable:
        """Return a table whose rows are those at a time, in milliseconds since 1970.

        It has the current columns: a column that the rows did not have is NULL.

        Raises:
            NotFoundError: with code `table-not-found` if the table had no rows yet (no snapshot).
            UnsupportedError: with code `time-travel-not-supported` for other tables.
        """
        from schema_core.connectors.iceberg import client  # imports pyiceberg

        table = self.get_table(table_path)
        if not isinstance(table, CatalogTable) or not is_managed(table):
            return super().get_table_at(table_path, timestamp)
        identifier = (*table_path.database_name.split("."), table_path.object_name)
        with client.iceberg_errors():
            stored = client.load_table(self.iceberg.catalog, identifier)
        if stored.snapshot_as_of_timestamp(timestamp) is None:
            raise NotFoundError(
                f"the table {table_path.object_name!r} had no rows at {timestamp}",
                code="table-not-found",
                hint=READ_LATER_VERSION,
            )
        return table.copy({**table.options, AS_OF_TIMESTAMP.key: str(timestamp)})

    def list_procedures(self, database_name: str) -> list[str]:
        """Return the procedures of the database `system`, as Iceberg's for Spark are named."""
        return sorted(self._procedures()) if database_name == PROCEDURE_DATABASE else []

    def get_procedure(self, procedure_path: ObjectPath) -> Procedure:
        """Return a procedure of the database `system` (`procedure-not-found`)."""
        procedures = self._procedures()
        if procedure_path.database_name == PROCEDURE_DATABASE:
            with suppress(KeyError):
                return procedures[procedure_path.object_name]
        path = procedure_path.get_full_name()
        raise NotFoundError(
            f"there is no procedure {path!r}",
            code="procedure-not-found",
            hint=similar(path, [f"{PROCEDURE_DATABASE}.{name}" for name in procedures]),
        )

    def _procedures(self) -> dict[str, Procedure]:
        text = "STRING NOT NULL"
        return {
            "register_table": Procedure.of(
                lambda table, file: [self.iceberg.register(table, file)],
                [text, text],
                text,
                ["table", "metadata_file"],
            ),
            "unregister_table": Procedure.of(
                lambda table: [self.iceberg.unregister(table)], [text], text, ["table"]
            ),
        }

    def _replace(
        self,
        transaction: ObjectTransaction[Any],
        stored: IcebergObject,
        value: object,
        changes: Sequence[TableChange] | None,
    ) -> bool:
        """Alter a table with the ids of renamed columns."""
        renames = [change.rename for change in changes or () if change.rename is not None]
        return self.iceberg.alter(stored, value, renames)


def make_iceberg_catalog(name: str, options: Mapping[str, str]) -> IcebergCatalog:
    """Return the catalog of a CREATE CATALOG statement; errors as `IcebergCatalog`."""
    default = DEFAULT_DATABASE.of(options) or ""
    if not default.strip():
        raise SchemaError("the default database must not be blank", code="invalid-name")
    rest = {key: value for key, value in options.items() if key != DEFAULT_DATABASE.key}
    return IcebergCatalog(name, rest, default)


#: The factory of ``CREATE CATALOG c WITH ('type' = 'iceberg', 'warehouse' = '/data/lake')``.
ICEBERG_CATALOG = CatalogFactory(
    (*CONNECTION, DEFAULT_DATABASE), make_iceberg_catalog, requires=("pyiceberg", "sqlalchemy")
)
