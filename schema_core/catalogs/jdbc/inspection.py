"""What databases and tables a server has, through SQLAlchemy's inspection.

Types follow Flink's JDBC catalogs (flink-connector-jdbc, "Data Type Mapping"); a type that Flink
lacks is refused. Only this module of the package imports SQLAlchemy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy import types as sql
from sqlalchemy.exc import DBAPIError, NoSuchTableError, SQLAlchemyError

from schema_core.base.lazy import dataclass
from schema_core.base.plugins import install_hint
from schema_core.base.text import show
from schema_core.errors import ExternalError, NotFoundError, UnsupportedError, at
from schema_core.schema.unresolved import Schema
from schema_core.types import DataType, DataTypes

#: SQLAlchemy's name of a database -> the driver with which it is inspected.
DRIVERS: Final = {"postgresql": "postgresql+psycopg", "mysql": "mysql+pymysql", "sqlite": "sqlite"}
#: Schemas and databases of the servers themselves.
OF_SERVER: Final = frozenset(
    {"information_schema", "mysql", "performance_schema", "sys", "template0", "template1"}
)
#: Digits of a NUMERIC without parameters, as in Flink.
FREE: Final = (38, 18)


@dataclass(frozen=True, slots=True)
class Server:
    """A database server, or the directory of SQLite files.

    Attributes:
        backend: SQLAlchemy's name of the database.
        address: ``host:port``, or the directory.
        username: The user.
        password: The password.
    """

    backend: str
    address: str
    username: str | None
    password: str | None

    def _url(self, database: str) -> sa.URL:
        driver = DRIVERS[self.backend]
        if self.backend == "sqlite":
            file = f"file:{self.address}/{database}"
            return sa.URL.create(driver, database=file, query={"mode": "ro", "uri": "true"})
        host, _, port = self.address.partition(":")
        return sa.URL.create(
            driver, self.username, self.password, host or None, int(port or 0) or None, database
        )

    @contextmanager
    def inspect(self, database: str) -> Iterator[sa.Inspector]:
        """Return a context with the inspector of a database.

        Errors: `external-failure`, and `missing-dependency` without the driver of the database.
        """
        failure = None
        try:
            engine = sa.create_engine(
                self._url(database), poolclass=sa.pool.NullPool, hide_parameters=True
            )
        except ModuleNotFoundError as error:
            raise NotFoundError(
                f"the driver {error.name!r} is not installed",
                code="missing-dependency",
                hint=install_hint(error.name or ""),
            ) from None
        try:
            with engine.connect() as connection:
                yield sa.inspect(connection)
        except NoSuchTableError as error:
            failure = f"there is no table {error}"
        except SQLAlchemyError as error:
            failure = _message(error)
        if failure:  # raised here, the error has no __context__ with values
            raise ExternalError(
                f"the database {show(database)} cannot be read: {failure}", code="external-failure"
            )

    def databases(self, default: str) -> list[str]:
        """Return the databases of the server; of a directory only the default file."""
        if self.backend == "sqlite":
            return [default]
        with self.inspect(default) as inspector:
            if self.backend == "mysql":
                names = inspector.get_schema_names()
            else:
                query = sa.text("SELECT datname FROM pg_database WHERE datallowconn")
                names = [str(name) for (name,) in inspector.bind.execute(query)]  # type: ignore[union-attr]
        return sorted({*names} - OF_SERVER)

    def tables(self, database: str, *, views: bool = False) -> list[tuple[str | None, str]]:
        """Return the schemas and names of tables, or of views."""
        with self.inspect(database) as inspector:
            schemas: list[str | None] = [None]
            if self.backend == "postgresql":
                names = inspector.get_schema_names()
                schemas = [name for name in names if name not in OF_SERVER]
            list_names = inspector.get_view_names if views else inspector.get_table_names
            return [(schema, name) for schema in schemas for name in sorted(list_names(schema))]

    def schema(self, database: str, schema: str | None, table: str) -> tuple[Schema, str]:
        """Return the schema of a table, and its comment (`type-not-supported`)."""
        with self.inspect(database) as inspector:
            columns = inspector.get_columns(table, schema)
            key = inspector.get_pk_constraint(table, schema)
            comment = ""
            if self.backend != "sqlite":  # which has no comments
                comment = inspector.get_table_comment(table, schema)["text"] or ""
        names = list(key.get("constrained_columns") or ())
        builder = Schema.new_builder()
        for column in columns:
            with at(f"column {column['name']!r}"):
                type_ = type_of(column["type"], self.backend)
            is_nullable = column["nullable"] and column["name"] not in names
            builder.column(column["name"], type_ if is_nullable else type_.not_null())
            builder.with_comment(column.get("comment"))
        if names:
            constraint = key.get("name")
            if constraint:
                builder.primary_key_named(str(constraint), *names)
            else:
                builder.primary_key(*names)
        return builder.build(), comment


def _message(error: SQLAlchemyError) -> str:
    message = str(error.orig).strip() if isinstance(error, DBAPIError) else ""
    return message.split("\n", 1)[0] or type(error).__name__


# --- types ----------------------------------------------------------------------------------------

T = DataTypes


def type_of(given: Any, backend: str) -> DataType:
    """Return the type of the values of a column (`type-not-supported`).

    >>> print(type_of(sql.VARCHAR(5), "postgresql"), type_of(sql.Numeric(5, 2), "mysql"))
    VARCHAR(5) DECIMAL(5, 2)
    """
    named = BY_NAME.get((backend, type(given).__name__))
    if named is not None:
        return named(given)
    for kind, make in BY_CLASS:
        if isinstance(given, kind):
            return make(given)
    raise UnsupportedError(f"Flink has no type for {given!r}", code="type-not-supported")


def _length(given: Any) -> DataType:
    return T.STRING() if given.length is None else T.VARCHAR(given.length)


def _decimal(given: Any) -> DataType:
    precision, scale = given.precision, given.scale
    if precision is None:
        return T.DECIMAL(*FREE)
    if precision > FREE[0] or not 0 <= (scale or 0) <= precision:
        raise UnsupportedError(
            f"DECIMAL has at most {FREE[0]} digits, not NUMERIC({precision}, {scale})",
            code="type-not-supported",
        )
    return T.DECIMAL(precision, scale or 0)


def _digits(given: Any) -> int:
    """Return the digits of a second: those of the column, or 6."""
    for name in ("precision", "fsp"):
        if isinstance(digits := getattr(given, name, None), int):
            return digits
    return 6


def _timestamp(given: Any) -> DataType:
    digits = _digits(given)
    return T.TIMESTAMP_LTZ(digits) if given.timezone else T.TIMESTAMP(digits)


def _time(given: Any) -> DataType:
    if given.timezone:
        raise UnsupportedError("Flink has no time with a time zone", code="type-not-supported")
    return T.TIME(_digits(given))


def _array(backend: str) -> Callable[[Any], DataType]:
    return lambda given: T.ARRAY(type_of(given.item_type, backend))


def _of_mysql(signed: DataType, unsigned: DataType) -> Callable[[Any], DataType]:
    return lambda given: unsigned if given.unsigned else signed


def _tiny(given: Any) -> DataType:
    """Return BOOLEAN for TINYINT(1), as MySQL's driver reads it."""
    if given.display_width == 1:
        return T.BOOLEAN()
    return T.SMALLINT() if given.unsigned else T.TINYINT()


#: Database and name of a type -> the type of its values, where these differ from `BY_CLASS`.
BY_NAME: Mapping[tuple[str, str], Callable[[Any], DataType]] = {
    ("mysql", "TINYINT"): _tiny,
    ("mysql", "SMALLINT"): _of_mysql(T.SMALLINT(), T.INT()),
    ("mysql", "MEDIUMINT"): _of_mysql(T.INT(), T.INT()),
    ("mysql", "INTEGER"): _of_mysql(T.INT(), T.BIGINT()),
    ("mysql", "BIGINT"): _of_mysql(T.BIGINT(), T.DECIMAL(20, 0)),
    ("mysql", "TIMESTAMP"): lambda given: T.TIMESTAMP(_digits(given)),
    ("mysql", "FLOAT"): lambda _: T.FLOAT(),
    ("postgresql", "ARRAY"): _array("postgresql"),
    ("postgresql", "REAL"): lambda _: T.FLOAT(),
    ("sqlite", "INTEGER"): lambda _: T.BIGINT(),  # an integer of SQLite has 64 bits
    ("sqlite", "REAL"): lambda _: T.DOUBLE(),
}
#: Class of a type -> the type of its values; the first class that fits.
BY_CLASS: tuple[tuple[Any, Callable[[Any], DataType]], ...] = (
    (sql.Boolean, lambda _: T.BOOLEAN()),
    (sql.SmallInteger, lambda _: T.SMALLINT()),
    (sql.BigInteger, lambda _: T.BIGINT()),
    (sql.Integer, lambda _: T.INT()),
    (sql.Float, lambda _: T.DOUBLE()),
    (sql.Numeric, _decimal),
    (sql.CHAR, lambda given: T.CHAR(given.length or 1)),
    (sql.Text, lambda _: T.STRING()),
    ((sql.Enum, sql.Uuid, sql.JSON), lambda _: T.STRING()),
    (sql.String, _length),
    ((sql.LargeBinary, sql._Binary), lambda _: T.BYTES()),  # noqa: SLF001 - the base of BYTEA
    (sql.DateTime, _timestamp),
    (sql.Date, lambda _: T.DATE()),
    (sql.Time, _time),
)
