"""`HiveCatalog`: a catalog in a Hive metastore, in the format of Flink's HiveCatalog."""

from __future__ import annotations

from collections.abc import Callable

from schema_core.arguments import validate_methods
from schema_core.catalog.api import Capability, Catalog
from schema_core.catalog.stored_catalog import StoredCatalog
from schema_core.catalogs.hive.metastore import Connection
from schema_core.catalogs.hive.object_store import HiveObject, HiveStore


@validate_methods(Catalog)
class HiveCatalog(StoredCatalog[HiveObject]):
    """A catalog in a Hive metastore; `connect` is called when it is opened.

    Names consist of ASCII letters, digits and underscores; they are not case-sensitive and are
    listed in lower case. A table without ``'connector' = 'hive'`` is generic: its definition is
    Flink's property map, and it has no partitions in the metastore. Dropping a managed table
    deletes its files.

    Hive can compare and set the definitions of tables and views only: `expected` is refused for
    databases, partitions and functions.
    """

    capabilities = frozenset({Capability.PARTITIONS, Capability.FUNCTIONS, Capability.VERSIONS})

    def __init__(
        self, name: str, connect: Callable[[], Connection], default_database: str = "default"
    ) -> None:
        self.hive = HiveStore(connect)
        super().__init__(name, self.hive, default_database)

    def open(self) -> None:
        """Connect.

        Raises:
            NotFoundError: with code `database-not-found` if the default database does not exist.
        """
        super().open()
        self.get_database(self._default)
