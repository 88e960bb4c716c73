"""Connections of the connector `jdbc` over Spark Connect, by database drivers of Python.

The server reads and writes rows through JDBC; this process executes the statements around them
(columns, stages, the transaction of a commit), and must reach the database under the same URL.
PostgreSQL is reached by psycopg, SQLite by the standard library.
"""

from __future__ import annotations

import sqlite3
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, Final

from schema_core.base.plugins import needs
from schema_core.connectors.jdbc.connection import Connection, database_error
from schema_core.connectors.jdbc.dialects import (
    POSTGRESQL,
    SQLITE,
    DatabaseColumn,
    JdbcDialect,
)
from schema_core.environment.jobs.run import interruptible
from schema_core.errors import SchemaError
from schema_core.spark.session.api_mode import not_over_connect

if TYPE_CHECKING:
    import psycopg

#: Property of PostgreSQL's JDBC driver -> the parameter of libpq with the same meaning.
PARAMETERS: Final = {
    "user": "user",
    "password": "password",
    "connectTimeout": "connect_timeout",
    "loginTimeout": "connect_timeout",
    "ApplicationName": "application_name",
    "sslmode": "sslmode",
    "sslrootcert": "sslrootcert",
    "sslcert": "sslcert",
    "sslkey": "sslkey",
    "sslpassword": "sslpassword",
}
#: Properties that are settings of the server for each statement.
_OF_STATEMENTS: Final = ("currentSchema", "options")
#: Properties that do not change the statements of this module.
_OF_READS: Final = frozenset({"driver", "url", "reWriteBatchedInserts", "defaultRowFetchSize"})


def client_connection(
    dialect: JdbcDialect, settings: Mapping[str, str], timeout: int
) -> ClientConnection:
    """Return a connection of this process to a database.

    Args:
        dialect: The dialect of the database.
        settings: The URL, the user and the properties of the JDBC driver.
        timeout: In seconds.

    Raises:
        UnsupportedError: with code `not-over-connect` for other databases, and for properties
        without a
            counterpart here.
        NotFoundError: with code `missing-extra` without psycopg.
        DatabaseError: with code `jdbc-failed`.
    """
    if dialect is POSTGRESQL:
        return PostgresqlClient(postgresql_parameters(settings, timeout))
    if dialect is SQLITE:
        return SqliteClient(settings, timeout)
    raise not_over_connect(
        f"the connector 'jdbc' with {dialect.name}",
        "use PostgreSQL or SQLite, or a session of a SparkContext in this process",
    )


class ClientConnection(Connection):
    """A connection by a driver with the interface of PEP 249."""

    connection: Any

    @abstractmethod
    def interrupt(self) -> None:
        """End the running statement, from another thread."""

    @abstractmethod
    def errors(self, action: str) -> Any:
        """Convert errors of the driver to `DatabaseError` within a block."""

    @contextmanager
    def cursor(self, statement: str, action: str) -> Iterator[Any]:
        """Yield a cursor that has executed a statement."""
        with self.errors(action), closing(self.connection.cursor()) as cursor:
            with interruptible(self.interrupt):
                cursor.execute(statement)
            yield cursor

    def execute(self, statement: str) -> None:
        with self.cursor(statement, "execute"):
            pass

    def is_empty(self, table: str) -> bool:
        with self.cursor(f"SELECT 1 FROM {table} LIMIT 1", "query") as cursor:
            return cursor.fetchone() is None

    def close(self) -> None:
        with self.errors("close"):
            self.connection.close()


# --- PostgreSQL ----------------------------------------------------------------------------------


def postgresql_parameters(settings: Mapping[str, str], timeout: int) -> dict[str, str]:
    """Return the parameters of libpq for the settings of PostgreSQL's JDBC driver.

    >>> url = "jdbc:postgresql://db:5433/shop?user=ann&currentSchema=web"
    >>> postgresql_parameters({"url": url}, 60)
    ... # doctest: +NORMALIZE_WHITESPACE
    {'host': 'db', 'port': '5433', 'dbname': 'shop', 'user': 'ann',
     'options': '-c search_path=web', 'connect_timeout': '60'}

    Raises:
        UnsupportedError: with code `not-over-connect` for a property without a counterpart.
    """
    from urllib.parse import parse_qsl, unquote

    location, _, query = settings["url"].split(":", 2)[2].partition("?")
    servers, _, name = location.removeprefix("//").rpartition("/")
    if not location.startswith("/"):  # jdbc:postgresql:database
        servers, name = "", location
    hosts, ports = [], []
    for server in servers.split(","):
        host, _, port = server.rpartition(":")
        if not port.isdigit():
            host, port = server, ""
        hosts.append(host.strip("[]") or "localhost")
        ports.append(port or "5432")
    parameters = {"host": ",".join(hosts), "port": ",".join(ports)}
    properties = {**dict(parse_qsl(query, keep_blank_values=True)), **settings}
    if database := unquote(name) or properties.get("user"):
        parameters["dbname"] = database
    for key, value in properties.items():
        if key in PARAMETERS:
            parameters[PARAMETERS[key]] = value
        elif key not in {*_OF_STATEMENTS, *_OF_READS}:
            supported = ", ".join(sorted([*PARAMETERS, *_OF_STATEMENTS]))
            raise not_over_connect(
                f"the property {key!r} of PostgreSQL's JDBC driver", f"use only {supported}"
            )
    options = [properties["options"]] if "options" in properties else []
    if "currentSchema" in properties:
        schemas = properties["currentSchema"].replace("\\", "\\\\").replace(" ", "\\ ")
        options.append(f"-c search_path={schemas}")
    if options:
        parameters["options"] = " ".join(options)
    parameters.setdefault("connect_timeout", str(timeout))
    return parameters


#: Type of PostgreSQL -> its code in ``java.sql.Types``, as its JDBC driver has it.
_CODES: Final = {
    "int2": 5, "int4": 4, "int8": -5, "oid": -5, "numeric": 2, "float4": 7, "float8": 8, "money": 8,
    "char": 1, "bpchar": 1, "varchar": 12, "text": 12, "name": 12, "bytea": -2, "bool": -7,
    "bit": -7, "date": 91, "time": 92, "timetz": 92, "timestamp": 93, "timestamptz": 93,
    "refcursor": 2012, "xml": 2009,
}  # fmt: skip
#: Kind of a type (``pg_type.typtype``) -> its code: domains, rows, enumerations.
_KINDS: Final = {"d": 2001, "c": 2002, "e": 12}
_ARRAY: Final = 2003
_OTHER: Final = 1111
#: Type of numbers -> its precision and its scale.
_NUMBERS: Final = {
    "int2": (5, 0), "int4": (10, 0), "int8": (19, 0), "float4": (8, 8), "float8": (17, 17),
}  # fmt: skip
_CLOCKS: Final = frozenset({"time", "timetz", "timestamp", "timestamptz"})
#: Types whose modifier begins at 4.
_HEADER: Final = 4
#: The longest value of a type without a length.
_UNBOUNDED: Final = 2**31 - 1


_TYPES_QUERY: Final = (
    "SELECT t.oid, CASE WHEN pg_type_is_visible(t.oid) THEN typname::text"
    ' ELSE format(\'"%%s"."%%s"\', nspname, typname) END, typtype::text, typcategory::text'
    " FROM pg_type t JOIN pg_namespace n ON n.oid = typnamespace WHERE t.oid = ANY(%s)"
)
_NOT_NULL_QUERY: Final = (
    "SELECT attrelid, attnum FROM pg_attribute WHERE attnotnull AND attrelid = ANY(%s)"
)


def _digits(name: str, modifier: int) -> tuple[int, int]:
    """Return the precision and the scale of a type with a modifier (``atttypmod``)."""
    if name in _NUMBERS:
        return _NUMBERS[name]
    if name in _CLOCKS:
        return 0, 6 if modifier < 0 else modifier
    if name == "numeric":
        packed = modifier - _HEADER
        return (0, 0) if modifier < 0 else (packed >> 16 & 0xFFFF, packed & 0x7FF)
    if name in {"bpchar", "varchar"}:
        return (_UNBOUNDED if modifier < 0 else modifier - _HEADER), 0
    return 0, 0


class PostgresqlClient(ClientConnection):
    """A connection of psycopg, made with parameters of libpq."""

    @needs("psycopg")
    def __init__(self, parameters: Mapping[str, str]) -> None:
        import psycopg

        with self.errors("connect"):
            self.connection: psycopg.Connection = psycopg.connect(
                psycopg.conninfo.make_conninfo(**parameters), autocommit=True
            )

    @contextmanager
    def errors(self, action: str) -> Iterator[None]:
        import psycopg

        try:
            yield
        except psycopg.Error as error:
            raise database_error(str(error), error.sqlstate, action) from None

    def interrupt(self) -> None:
        self.connection.cancel()

    def table_names(self, schema: str | None, prefix: str) -> list[str]:
        query = (
            "SELECT tablename FROM pg_tables"
            " WHERE schemaname = coalesce(%s, current_schema()) AND starts_with(tablename, %s)"
        )
        with self.errors("list tables"):
            rows = self.connection.execute(query, (schema, prefix)).fetchall()
        return [str(name) for (name,) in rows]

    def columns(self, table: str) -> Sequence[DatabaseColumn]:
        """Return the columns of a table, as PostgreSQL's JDBC driver describes them."""
        with self.cursor(f"SELECT * FROM {table} WHERE 1 = 0", "query") as cursor:
            result = cursor.pgresult
            described = [
                (result.fname(at).decode(), result.ftype(at), result.fmod(at),
                 result.ftable(at), result.ftablecol(at))
                for at in range(result.nfields)
            ]  # fmt: skip
            oids = sorted({type_ for _, type_, *_ in described})
            rows = self.connection.execute(_TYPES_QUERY, (oids,)).fetchall()
            types = {oid: type_ for oid, *type_ in rows}
            tables = sorted({table for *_, table, _ in described})
            not_null = set(self.connection.execute(_NOT_NULL_QUERY, (tables,)).fetchall())
        columns = []
        for name, oid, modifier, table_oid, position in described:
            type_name, kind, category = types[oid]
            precision, scale = _digits(type_name.removeprefix("_"), modifier)
            code = _ARRAY if category == "A" else _CODES.get(type_name, _KINDS.get(kind, _OTHER))
            is_nullable = (table_oid, position) not in not_null
            columns.append(DatabaseColumn(name, type_name, code, precision, scale, is_nullable))
        return columns

    def begin(self) -> None:
        with self.errors("execute"):
            self.connection.autocommit = False

    def commit(self) -> None:
        with self.errors("commit"):
            self.connection.commit()

    def rollback(self) -> None:
        with self.errors("roll back"):
            self.connection.rollback()
            self.connection.autocommit = True


# --- SQLite --------------------------------------------------------------------------------------


class SqliteClient(ClientConnection):
    """A connection of `sqlite3` to a file, which the server of Spark Connect must have as well.

    `timeout` is how long a statement waits for another writer, in seconds.

    Raises:
        SchemaError: with code `invalid-option-value` for a database in memory.
        UnsupportedError: with code `not-over-connect` for properties of the JDBC driver.
    """

    def __init__(self, settings: Mapping[str, str], timeout: int) -> None:
        file, _, query = settings["url"].split(":", 2)[2].partition("?")
        if further := sorted({*settings} - {"url", "driver", "user", "password"}) or query:
            raise not_over_connect(
                f"properties of SQLite's JDBC driver ({further if query else ', '.join(further)})",
                "remove them",
            )
        if not file or file.startswith(":"):
            raise SchemaError(
                "option 'url' must name a file: the server has another database in memory",
                code="invalid-option-value",
            )
        with self.errors("connect"):
            self.connection: Any = sqlite3.connect(
                file.removeprefix("file:"),
                timeout=timeout,
                isolation_level=None,
                check_same_thread=False,
            )

    @contextmanager
    def errors(self, action: str) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise database_error(str(error), None, action) from None

    def interrupt(self) -> None:
        self.connection.interrupt()

    def table_names(self, schema: str | None, prefix: str) -> list[str]:
        query = "SELECT name FROM sqlite_master WHERE type = 'table'"
        with self.cursor(query, "list tables") as cursor:
            return [name for (name,) in cursor if name.startswith(prefix)]

    def columns(self, table: str) -> Sequence[DatabaseColumn]:
        """Return the columns of a table, with the types of its definition."""
        with self.cursor(f"SELECT * FROM {table} WHERE 1 = 0", "query"):
            pass  # fails if there is no such table, of which the pragma has no columns
        *schemas, (name, _) = SQLITE.path(table)
        query = 'SELECT name, type, "notnull" FROM pragma_table_info(?, ?)'
        arguments = (name, schemas[-1][0] if schemas else None)
        with self.errors("query"):
            rows = self.connection.execute(query, arguments).fetchall()
        return [DatabaseColumn(name, type_, 0, 0, 0, not fixed) for name, type_, fixed in rows]

    def begin(self) -> None:
        if not self.connection.in_transaction:
            self.execute("BEGIN")

    def commit(self) -> None:
        if self.connection.in_transaction:
            self.execute("COMMIT")

    def rollback(self) -> None:
        if self.connection.in_transaction:
            self.execute("ROLLBACK")
