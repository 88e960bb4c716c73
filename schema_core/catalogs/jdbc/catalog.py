"""`JdbcCatalog`: the tables of a server of PostgreSQL or MySQL, or of SQLite files, for reading."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import NoneType
from typing import TYPE_CHECKING, Final, NoReturn

from schema_core.base.arguments import require_instance, validate_methods
from schema_core.base.paths import ObjectPath
from schema_core.base.plugins import require_modules
from schema_core.base.text import show
from schema_core.catalog.api import Catalog, require_catalog_names
from schema_core.catalog.changes.table_changes import TableChange
from schema_core.catalog.objects import CatalogBaseTable, CatalogDatabase, CatalogTable, TableKind
from schema_core.catalog.registry import CatalogFactory
from schema_core.connectors.jdbc.dialects import dialect_of
from schema_core.environment.options import ConfigOption
from schema_core.errors import NotFoundError, SchemaError, UnsupportedError

if TYPE_CHECKING:
    from schema_core.catalogs.jdbc.inspection import Server

#: Prefix of a JDBC URL -> SQLAlchemy's name of the database.
BACKENDS: Final = {
    "jdbc:postgresql://": "postgresql",
    "jdbc:mysql://": "mysql",
    "jdbc:sqlite:": "sqlite",
}
#: The schema of PostgreSQL's tables whose names have no other.
PUBLIC: Final = "public"


@validate_methods(Catalog)
class JdbcCatalog(Catalog):
    """The tables of a database server, with their types, as tables of the connector `jdbc`.

    Databases are those of the server; of SQLite, the files of a directory. A table of PostgreSQL is
    named with its schema, ``schema.table`` in backticks. The catalog changes nothing
    (`unsupported-capability`); INSERT writes into the tables.

    Args:
        name: The name of the catalog.
        default_database: The database that is current at first.
        username: The user of the database.
        password: The password.
        base_url: The JDBC URL without a database: ``jdbc:postgresql://host:5432``,
            ``jdbc:mysql://host:3306`` or ``jdbc:sqlite:/directory``.

    Raises:
        SchemaError: with code `invalid-option-value`, `invalid-name` or `invalid-argument`.
        NotFoundError: with code `missing-dependency` without SQLAlchemy.
    """

    def __init__(
        self,
        name: str,
        default_database: str,
        username: str | None,
        password: str | None,
        base_url: str,
    ) -> None:
        require_catalog_names(name, default_database)
        require_instance(base_url, str, "base_url")
        for key, value in (("username", username), ("password", password)):
            require_instance(value, (str, NoneType), key)
        require_modules("sqlalchemy")
        from schema_core.catalogs.jdbc.inspection import Server  # imports SQLAlchemy

        self._name, self._default, self._base = name, default_database, base_url.rstrip("/")
        prefix = next((start for start in BACKENDS if base_url.lower().startswith(start)), None)
        address = self._base[len(prefix) :] if prefix else ""
        if prefix is None or not address or "?" in address or "@" in address:
            raise SchemaError(
                "invalid base URL of a JDBC catalog",
                code="invalid-option-value",
                hint="write it as jdbc:postgresql://host:5432, jdbc:mysql://host:3306 or "
                "jdbc:sqlite:/directory, without a database",
            )
        self._server: Server = Server(BACKENDS[prefix], address, username, password)

    def __repr__(self) -> str:
        return f"JdbcCatalog({self._name!r}, {self._base!r})"

    def open(self) -> None:
        """Connect to the default database (`external-failure`, `missing-dependency`)."""
        with self._server.inspect(self._default):
            pass

    # --- databases -----------------------------------------------------------------------------

    def get_default_database(self) -> str:
        return self._default

    def list_databases(self) -> list[str]:
        return self._server.databases(self._default)

    def get_database(self, database_name: str) -> CatalogDatabase:
        self._require_database(database_name)
        return CatalogDatabase()

    def database_exists(self, database_name: str) -> bool:
        return database_name in self.list_databases()

    def _require_database(self, name: str) -> None:
        if not self.database_exists(name):
            raise NotFoundError(f"there is no database {name!r}", code="database-not-found")

    # --- tables --------------------------------------------------------------------------------

    def list_tables(self, database_name: str) -> list[str]:
        return [*self._names(database_name, views=False), *self._names(database_name, views=True)]

    def list_views(self, database_name: str) -> list[str]:
        """Return no names: a view of the database is read as a table."""
        self._require_database(database_name)
        return []

    def _names(self, database: str, *, views: bool) -> list[str]:
        self._require_database(database)
        tables = self._server.tables(database, views=views)
        return [name if schema is None else f"{schema}.{name}" for schema, name in tables]

    def _find(self, path: ObjectPath) -> tuple[str | None, str] | None:
        """Return the schema and the name of a table, or None."""
        database, name = path.database_name, path.object_name
        if not self.database_exists(database):
            return None
        known = [*self._server.tables(database), *self._server.tables(database, views=True)]
        for schema, table in known:
            if name == (table if schema is None else f"{schema}.{table}"):
                return schema, table
        return (PUBLIC, name) if (PUBLIC, name) in known else None

    def table_exists(self, table_path: ObjectPath) -> bool:
        return self._find(table_path) is not None

    def get_table_kind(self, table_path: ObjectPath) -> TableKind:
        self._require_table(table_path)
        return TableKind.TABLE

    def _require_table(self, path: ObjectPath) -> tuple[str | None, str]:
        table = self._find(path)
        if table is None:
            raise NotFoundError(f"there is no table {show(str(path))}", code="table-not-found")
        return table

    def get_table(self, table_path: ObjectPath) -> CatalogTable:
        """Return a table of the connector `jdbc` with the columns of the database.

        Raises:
            NotFoundError: with code `table-not-found`.
            UnsupportedError: with code `type-not-supported` for a column of another type.
            ExternalError: with code `external-failure`.
        """
        schema, table = self._require_table(table_path)
        database, server = table_path.database_name, self._server
        columns, comment = server.schema(database, schema, table)
        url = f"{self._base}/{database}"
        quote = dialect_of(url).quote
        options = {
            "connector": "jdbc",
            "url": url,
            "table-name": ".".join(quote(part) for part in (schema, table) if part is not None),
            "username": server.username,
            "password": server.password,
        }
        given = {key: value for key, value in options.items() if value is not None}
        return CatalogTable(columns, options=given, comment=comment)

    # --- changes -------------------------------------------------------------------------------

    def create_database(
        self, name: str, database: CatalogDatabase, ignore_if_exists: bool
    ) -> NoReturn:
        self._refuse_change()

    def drop_database(
        self, name: str, ignore_if_not_exists: bool, cascade: bool = False
    ) -> NoReturn:
        self._refuse_change()

    def alter_database(
        self,
        name: str,
        new_database: CatalogDatabase,
        ignore_if_not_exists: bool,
        *,
        expected: CatalogDatabase | None = None,
    ) -> NoReturn:
        self._refuse_change()

    def drop_table(self, table_path: ObjectPath, ignore_if_not_exists: bool) -> NoReturn:
        self._refuse_change()

    def rename_table(
        self, table_path: ObjectPath, new_table_name: str, ignore_if_not_exists: bool
    ) -> NoReturn:
        self._refuse_change()

    def create_table(
        self, table_path: ObjectPath, table: CatalogBaseTable, ignore_if_exists: bool
    ) -> NoReturn:
        self._refuse_change()

    def alter_table(
        self,
        table_path: ObjectPath,
        new_table: CatalogBaseTable,
        ignore_if_not_exists: bool,
        *,
        expected: CatalogBaseTable | None = None,
        changes: Sequence[TableChange] | None = None,
    ) -> NoReturn:
        self._refuse_change()

    def _refuse_change(self) -> NoReturn:
        raise UnsupportedError(
            f"the catalog {self._name!r} shows the tables of a database and changes nothing",
            code="unsupported-capability",
            hint="change the database itself",
        )


DEFAULT_DATABASE = ConfigOption(
    "default-database", str, None, "the database that is current at first", required=True
)
USERNAME = ConfigOption("username", str, None, "the user of the database")
PASSWORD = ConfigOption("password", str, None, "the password", secret=True)
BASE_URL = ConfigOption(
    "base-url", str, None, "the JDBC URL without a database: jdbc:postgresql://host:5432",
    required=True,
)  # fmt: skip


def make_jdbc_catalog(name: str, options: Mapping[str, str]) -> JdbcCatalog:
    """Return the catalog of a CREATE CATALOG statement; errors as `JdbcCatalog`."""
    database, url = options[DEFAULT_DATABASE.key], options[BASE_URL.key]
    return JdbcCatalog(name, database, options.get(USERNAME.key), options.get(PASSWORD.key), url)


#: The factory of ``CREATE CATALOG c WITH ('type' = 'jdbc', ...)``, with Flink's options.
JDBC = CatalogFactory(
    (DEFAULT_DATABASE, USERNAME, PASSWORD, BASE_URL), make_jdbc_catalog, requires=("sqlalchemy",)
)
