"""Connections of the connector `jdbc`, through the JVM or a database driver of Python.

The driver connects through Spark's ``JdbcDialect`` and JDBC options, as the tasks do. Over Spark
Connect the server reads and writes rows; this process executes the statements around them and must
reach the database under the same URL: PostgreSQL by psycopg, SQLite by the standard library.
"""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

from schema_core.base.lazy import dataclass
from schema_core.base.plugins import needs
from schema_core.base.secrets import mask_urls
from schema_core.connectors.jdbc.dialects import POSTGRESQL, SQLITE, DatabaseColumn, JdbcDialect
from schema_core.environment.jobs.run import interruptible
from schema_core.errors import ExternalError, NotFoundError, SchemaError
from schema_core.spark.session.api_mode import has_class, is_connect, java_class, not_over_connect

if TYPE_CHECKING:
    import psycopg
    from pyspark.sql import SparkSession

#: Starts of SQLSTATEs after which the same statement may succeed.
TRANSIENT = ("08", "40", "53", "57")


class DatabaseError(ExternalError):
    """A database refused a connection or a statement; `sql_state` is its SQLSTATE, or empty."""

    sql_state = ""


class Connection(ABC):
    """A connection to a database, which commits every statement until a transaction begins.

    All methods raise `DatabaseError`.
    """

    @abstractmethod
    def execute(self, statement: str) -> None:
        """Execute a statement without a result."""

    @abstractmethod
    def is_empty(self, table: str) -> bool:
        """Return whether a table, whose name is quoted, has no rows."""

    @abstractmethod
    def table_names(self, schema: str | None, prefix: str) -> list[str]:
        """Return the names of the tables of a schema, by default the current one, with a prefix."""

    @abstractmethod
    def columns(self, table: str) -> Sequence[DatabaseColumn]:
        """Return the columns of a table, whose name is quoted."""

    @abstractmethod
    def begin(self) -> None:
        """Begin a transaction."""

    @abstractmethod
    def commit(self) -> None:
        """Commit the transaction."""

    @abstractmethod
    def rollback(self) -> None:
        """Roll the transaction back, and commit every statement from now on."""

    @abstractmethod
    def close(self) -> None:
        """Close the connection."""


def database_error(message: str, state: object, action: str) -> DatabaseError:
    """Return the error for a message and a SQLSTATE of a driver."""
    note = f" (SQLSTATE {state})" if state else ""
    raised = DatabaseError(f"the database failed to {action}: {one_line(message)}{note}")
    raised.sql_state = str(state or "")
    return raised


def one_line(message: str) -> str:
    """Return a message without passwords as one line."""
    return " ".join(mask_urls(message).split())


def is_transient(error: ExternalError) -> bool:
    """Return whether a statement that failed may succeed when it is repeated."""
    return isinstance(error, DatabaseError) and error.sql_state.startswith(TRANSIENT)


def has_mark(error: DatabaseError, mark: str) -> bool:
    """Return whether an error has a SQLSTATE, or a part of its message."""
    return error.sql_state == mark or mark in error.problem


# --- connections of the JVM -----------------------------------------------------------------------

#: ``ResultSetMetaData.columnNoNulls``.
NO_NULLS = 0


class JavaConnection(Connection):
    """A ``java.sql.Connection``."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def execute(self, statement: str) -> None:
        with self._statement() as java, database_errors("execute"):
            java.execute(statement)

    def is_empty(self, table: str) -> bool:
        with self._statement() as java, database_errors("query"):
            java.setMaxRows(1)  # drivers may fetch all rows at once
            return not java.executeQuery(f"SELECT 1 FROM {table}").next()

    def table_names(self, schema: str | None, prefix: str) -> list[str]:
        with database_errors("list tables"):
            about = self._connection.getMetaData()
            escape = about.getSearchStringEscape() or "\\"
            pattern = "".join(
                f"{escape}{character}" if character in "_%" else character for character in prefix
            )
            own = schema if schema is not None else self._connection.getSchema()
            tables = about.getTables(self._connection.getCatalog(), own, f"{pattern}%", None)
            names = []
            while tables.next():
                names.append(str(tables.getString("TABLE_NAME")))
            tables.close()
        return [name for name in names if name.startswith(prefix)]

    def columns(self, table: str) -> Sequence[DatabaseColumn]:
        with self._statement() as java, database_errors("query"):
            about = java.executeQuery(f"SELECT * FROM {table} WHERE 1 = 0").getMetaData()
            return [
                DatabaseColumn(
                    about.getColumnLabel(position),
                    about.getColumnTypeName(position),
                    about.getColumnType(position),
                    about.getPrecision(position),
                    about.getScale(position),
                    about.isNullable(position) != NO_NULLS,
                )
                for position in range(1, about.getColumnCount() + 1)
            ]

    def begin(self) -> None:
        with database_errors("execute"):
            self._connection.setAutoCommit(False)

    def commit(self) -> None:
        with database_errors("commit"):
            self._connection.commit()

    def rollback(self) -> None:
        with database_errors("roll back"):
            if not self._connection.getAutoCommit():
                self._connection.rollback()
                self._connection.setAutoCommit(True)

    def close(self) -> None:
        with database_errors("close"):
            self._connection.close()

    @contextmanager
    def _statement(self) -> Iterator[Any]:
        """Yield a ``java.sql.Statement``, which is canceled with the job."""
        with database_errors("execute"):
            statement = self._connection.createStatement()
        try:
            with interruptible(statement.cancel):
                yield statement
        finally:
            with database_errors("close"):
                statement.close()


@contextmanager
def database_errors(action: str) -> Iterator[None]:
    """Convert errors of a JDBC driver to `DatabaseError`."""
    try:
        yield
    except Exception as error:
        java = getattr(error, "java_exception", None)  # Py4JJavaError has one
        if java is None:
            raise
        raise failure(java, action) from None


def failure(java: Any, action: str) -> DatabaseError:
    """Return the error for an exception of a driver, without passwords."""
    while java.getCause() is not None and not _is_sql(java):
        java = java.getCause()
    state = java.getSQLState() if _is_sql(java) else None
    return database_error(str(java.getMessage() or java.getClass().getName()), state, action)


def _is_sql(java: Any) -> bool:
    kind = java.getClass()
    while kind is not None:
        if kind.getName() == "java.sql.SQLException":
            return True
        kind = kind.getSuperclass()
    return False


# --- connections over Spark Connect ---------------------------------------------------------------

#: Property of PostgreSQL's JDBC driver -> parameter of libpq.
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
    """Return a connection of this process to a database; `timeout` is in seconds.

    Raises:
        UnsupportedError: with code `not-over-connect` for other databases, and for properties of
            the JDBC driver without a counterpart.
        NotFoundError: with code `missing-dependency` without psycopg.
        DatabaseError: with code `external-failure`.
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


#: Type -> its code in ``java.sql.Types``, as in PostgreSQL's driver.
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
_NUMBERS: Final = {
    "int2": (5, 0), "int4": (10, 0), "int8": (19, 0), "float4": (8, 8), "float8": (17, 17),
}  # fmt: skip
_CLOCKS: Final = frozenset({"time", "timetz", "timestamp", "timestamptz"})
#: Types whose modifier begins at 4.
_HEADER: Final = 4
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
        UnsupportedError: with code `not-over-connect` for properties.
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


# --- databases ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Database:
    """A database that Spark reads and writes through JDBC.

    `settings` are the options of Spark's JDBC source that make a connection; `timeout` is for the
    check of a connection, in seconds.
    """

    session: SparkSession
    dialect: JdbcDialect
    settings: Mapping[str, str] = field(repr=False)
    timeout: int = 60

    def require_driver(self) -> None:
        """Refuse to connect without the class of the driver.

        Raises:
            NotFoundError: with code `missing-dependency`.
            DatabaseError: with code `external-failure`, over Spark Connect, where the server
                connects.
        """
        name = self.settings["driver"]
        if not (
            self._server_connects() if is_connect(self.session) else has_class(self.session, name)
        ):
            raise NotFoundError(
                f"the JDBC driver {name!r} is not on the class path of Spark",
                code="missing-dependency",
                hint=f"start Spark with 'spark.jars' = its jar, or with 'spark.jars.packages' = "
                f"'{self.dialect.coordinates}'",
            )

    def _server_connects(self) -> bool:
        """Return whether the server of Spark Connect has the driver, by reading with it."""
        from pyspark.errors import PySparkException

        probe = self.session.read.format("jdbc").options(**self.settings)
        try:
            return bool(probe.options(dbtable="(SELECT 1 AS a) q").load().columns)
        except PySparkException as error:
            text = str(error)
            if "ClassNotFoundException" in text or self.settings["driver"] in text.splitlines()[0]:
                return False
            raise DatabaseError(
                f"the server of Spark Connect failed to read from the database: {one_line(text)}"
            ) from None

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        connection = self.connect()
        try:
            yield connection
        finally:
            connection.close()

    def connect(self) -> Connection:
        """Return a connection that commits every statement.

        Raises:
            DatabaseError: with code `external-failure`.
            NotFoundError: with code `missing-dependency`.
            UnsupportedError: with code `not-over-connect` if Python has no driver for the database.
        """
        if is_connect(self.session):
            made = client_connection(self.dialect, self.settings, self.timeout)
            self.require_driver()
            return made
        self.require_driver()
        map_ = java_class(self.session, "java.util.HashMap")()
        for key, value in {**self.settings, "dbtable": "t"}.items():
            map_.put(key, value)
        to_scala = java_class(self.session, "org.apache.spark.api.python.PythonUtils").toScalaMap
        sources = "org.apache.spark.sql.execution.datasources"
        options = java_class(self.session, f"{sources}.jdbc.JDBCOptions")(to_scala(map_))
        dialects = java_class(self.session, "org.apache.spark.sql.jdbc.JdbcDialects")
        dialect = dialects.get(self.settings["url"])
        with database_errors("connect"):
            made = dialect.createConnectionFactory(options).apply(-1)
            if not made.isValid(self.timeout):
                raise DatabaseError(f"no response within {self.timeout} s")
        return JavaConnection(made)

    def has_fixed_zone(self) -> bool:
        """Return whether the time zone of the JVM is known always to have the same offset.

        Drivers compute ``java.sql.Timestamp`` in it, where some times of day do not exist.
        """
        if is_connect(self.session):
            return False
        zone = java_class(self.session, "java.util.TimeZone").getDefault().toZoneId()
        return bool(zone.getRules().isFixedOffset())
