"""Connections of the connector `jdbc` on the driver: metadata, statements and their errors.

They are made through Spark's own ``JdbcDialect``, with the options of its JDBC source, so that a
table is reached in the same way by the driver and by the tasks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import TYPE_CHECKING, Any

from schema_core.environment.job_execution import interruptible
from schema_core.errors import ExternalError, NotFoundError
from schema_core.lazy_dataclass import dataclass
from schema_core.secrets import mask_urls
from schema_core.spark.connectors.jdbc_dialects import DatabaseColumn, Dialect
from schema_core.spark.jvm import has_class, java_class

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: ``ResultSetMetaData.columnNoNulls``.
NO_NULLS = 0
#: How errors begin after which the same statement may succeed: their codes of SQLSTATE.
TRANSIENT = ("08", "40", "53", "57")


class DatabaseError(ExternalError):
    """A database refused a connection or a statement.

    Attributes:
        sql_state: The SQLSTATE of the error, or an empty string.
    """

    default_code = "jdbc-failed"
    sql_state = ""


@dataclass(frozen=True, slots=True)
class Database:
    """A database that Spark reads and writes through JDBC.

    Attributes:
        session: The session of the job.
        dialect: The dialect of its SQL.
        settings: The options of Spark's JDBC source that make a connection.
        timeout: How long the check of a connection may take, in seconds.
    """

    session: SparkSession
    dialect: Dialect
    settings: Mapping[str, str] = field(repr=False)
    timeout: int = 60

    def require_driver(self) -> None:
        """Refuse to connect without the class of the driver.

        Raises:
            NotFoundError: with code `missing-jdbc-driver`.
        """
        name = self.settings["driver"]
        if not has_class(self.session, name):
            raise NotFoundError(
                f"the JDBC driver {name!r} is not on the class path of Spark",
                code="missing-jdbc-driver",
                hint=f"start Spark with 'spark.jars' = its jar, or with 'spark.jars.packages' = "
                f"'{self.dialect.coordinates}'",
            )

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """Yield a connection that is closed at the end; see `connect`."""
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
        """
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
                raise DatabaseError("the database does not answer")
        return Connection(made)

    def has_fixed_zone(self) -> bool:
        """Return whether the time zone of the JVM always has the same offset.

        Drivers compute ``java.sql.Timestamp`` in this zone, where some times of day do not exist.
        """
        zone = java_class(self.session, "java.util.TimeZone").getDefault().toZoneId()
        return bool(zone.getRules().isFixedOffset())


class Connection:
    """A connection to a database: a ``java.sql.Connection``."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def execute(self, statement: str) -> None:
        """Execute a statement without a result.

        Raises:
            DatabaseError: with code `jdbc-failed`.
        """
        with self._statement() as java, database_errors("execute"):
            java.execute(statement)

    def is_empty(self, query: str) -> bool:
        """Return whether a query has no rows."""
        with self._statement() as java, database_errors("query"):
            return not java.executeQuery(query).next()

    def table_names(self, schema: str | None, prefix: str) -> list[str]:
        """Return the names of the tables of a schema that begin with a prefix.

        Without a schema they are those of the current one.
        """
        with database_errors("list tables"):
            about = self._connection.getMetaData()
            escape = about.getSearchStringEscape() or "\\"
            pattern = "".join(f"{escape}{one}" if one in "_%" else one for one in prefix)
            own = schema if schema is not None else self._connection.getSchema()
            tables = about.getTables(self._connection.getCatalog(), own, f"{pattern}%", None)
            found = []
            while tables.next():
                found.append(str(tables.getString("TABLE_NAME")))
            tables.close()
        return [one for one in found if one.startswith(prefix)]

    def columns(self, query: str) -> Sequence[DatabaseColumn]:
        """Return the columns of a query."""
        with self._statement() as java, database_errors("query"):
            about = java.executeQuery(query).getMetaData()
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
        """Begin a transaction."""
        with database_errors("execute"):
            self._connection.setAutoCommit(False)

    def commit(self) -> None:
        """Commit the transaction."""
        with database_errors("commit"):
            self._connection.commit()

    def rollback(self) -> None:
        """Roll the transaction back, and commit every statement from now on."""
        with database_errors("roll back"):
            if not self._connection.getAutoCommit():
                self._connection.rollback()
                self._connection.setAutoCommit(True)

    def close(self) -> None:
        with database_errors("close"):
            self._connection.close()

    @contextmanager
    def _statement(self) -> Iterator[Any]:
        """Yield a ``java.sql.Statement``, which the database ends if the job is cancelled."""
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
    """Return the error for an exception of a driver, with its state and without passwords."""
    while java.getCause() is not None and not _is_sql(java):
        java = java.getCause()
    state = java.getSQLState() if _is_sql(java) else None
    message = mask_urls(str(java.getMessage() or java.getClass().getName())).strip()
    note = f" (SQLSTATE {state})" if state else ""
    problem = f"the database failed to {action}: {' '.join(message.split())}{note}"
    raised = DatabaseError(problem)
    raised.sql_state = str(state or "")
    return raised


def _is_sql(java: Any) -> bool:
    """Return whether a Java exception is a ``SQLException``."""
    kind = java.getClass()
    while kind is not None:
        if kind.getName() == "java.sql.SQLException":
            return True
        kind = kind.getSuperclass()
    return False


def is_transient(error: ExternalError) -> bool:
    """Return whether the statement that failed may succeed when it is repeated."""
    return isinstance(error, DatabaseError) and error.sql_state.startswith(TRANSIENT)


def has_mark(error: DatabaseError, mark: str) -> bool:
    """Return whether an error has a SQLSTATE, or a part of its message."""
    return error.sql_state == mark or mark in error.problem
