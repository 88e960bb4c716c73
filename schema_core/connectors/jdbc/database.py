"""The database of a table of the connector `jdbc`, as Spark reaches it.

The driver connects through Spark's own ``JdbcDialect`` and JDBC options, so that it reaches a table
as the tasks do. Over Spark Connect a database driver of Python connects.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import TYPE_CHECKING, Any

from schema_core.base.lazy import dataclass
from schema_core.connectors.jdbc.client import client_connection
from schema_core.connectors.jdbc.connection import (
    Connection,
    DatabaseError,
    database_error,
    one_line,
)
from schema_core.connectors.jdbc.dialects import DatabaseColumn, JdbcDialect
from schema_core.environment.jobs.run import interruptible
from schema_core.errors import NotFoundError
from schema_core.spark.session.api_mode import has_class, is_connect, java_class

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: ``ResultSetMetaData.columnNoNulls``.
NO_NULLS = 0


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
            NotFoundError: with code `missing-jdbc-driver`.
            DatabaseError: with code `jdbc-failed`, over Spark Connect, where the server connects.
        """
        name = self.settings["driver"]
        if not (
            self._server_connects() if is_connect(self.session) else has_class(self.session, name)
        ):
            raise NotFoundError(
                f"the JDBC driver {name!r} is not on the class path of Spark",
                code="missing-jdbc-driver",
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
        """Yield a connection of `connect`, which is closed at the end."""
        connection = self.connect()
        try:
            yield connection
        finally:
            connection.close()

    def connect(self) -> Connection:
        """Return a connection that commits every statement.

        Raises:
            DatabaseError: with code `jdbc-failed`.
            NotFoundError: with code `missing-jdbc-driver`.
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
    """Return whether a Java exception is a ``SQLException``."""
    kind = java.getClass()
    while kind is not None:
        if kind.getName() == "java.sql.SQLException":
            return True
        kind = kind.getSuperclass()
    return False
