"""`SqlCatalog`: a catalog in a SQL database, such as a file of SQLite or a PostgreSQL server."""

from __future__ import annotations

from collections.abc import Mapping

from schema_core.arguments import validate_methods
from schema_core.catalog.api import Capability, Catalog
from schema_core.catalog.objects import CatalogDatabase
from schema_core.catalog.registry import CatalogFactory
from schema_core.catalog.stored_catalog import StoredCatalog
from schema_core.catalogs.sql.object_store import SqlObject, SqlStore, entry_store
from schema_core.errors import SchemaError


@validate_methods(Catalog)
class SqlCatalog(StoredCatalog[SqlObject]):
    """A catalog in the database at a SQLAlchemy URL.

    Many processes may use it at once: each method is a transaction. To detect that another process
    changed an object since it was read, pass what was read as `expected`: an ALTER then raises a
    `ConflictError` with both versions instead of overwriting the other one. Models count as content
    of a database, and creating a partition with `ignore_if_exists` leaves an existing one as it is.

    Raises:
        SchemaError: with code `invalid-catalog-url`, or `secret-in-url` for a URL with a password.
        NotFoundError: with code `missing-extra` or `missing-driver`.

    >>> catalog = SqlCatalog("shop", "sqlite://")
    >>> catalog.open()
    >>> catalog.list_databases()
    ['default']
    """

    capabilities = frozenset(Capability)

    def __init__(
        self,
        name: str,
        url: str,
        *,
        default_database: str = "default",
        username: str | None = None,
        password: str | None = None,
    ) -> None:
        self.entries = entry_store(url, username, password)
        super().__init__(name, SqlStore(self.entries), default_database)

    def open(self) -> None:
        super().open()
        if not self.database_exists(self._default):
            self.create_database(self._default, CatalogDatabase(), ignore_if_exists=True)


def make_sql_catalog(name: str, options: Mapping[str, str]) -> SqlCatalog:
    """Return the catalog of a CREATE CATALOG statement.

    Raises:
        SchemaError: with code `invalid-catalog-option` without a URL.
    """
    if "url" not in options:
        raise SchemaError(
            "a catalog of type 'sql' requires the option 'url'",
            code="invalid-catalog-option",
            hint="set it to a URL such as sqlite:///catalog.db",
        )
    return SqlCatalog(
        name,
        options["url"],
        default_database=options.get("default-database", "default"),
        username=options.get("username"),
        password=options.get("password"),
    )


#: The factory of ``CREATE CATALOG c WITH ('type' = 'sql', 'url' = 'sqlite:///shop.db')``.
SQL = CatalogFactory(
    frozenset({"url", "username", "password", "default-database"}),
    make_sql_catalog,
    requires=("sqlalchemy",),
)
