"""Entries by name in a SQL database: five operations on one table, each within a transaction.

A database, a table, a partition are all entries; each lies under another, and goes when that goes.
Two entries of one kind under the same one have different keys: the database itself sees to it, so
that of many writers one wins. This is the only file that knows SQLAlchemy.
"""

from __future__ import annotations

import os
import re
import urllib.parse
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, IntegrityError, NoSuchModuleError, SQLAlchemyError

from schema_core.errors import ExternalError, NotFoundError, SchemaError, UnsupportedError
from schema_core.extras import install_hint
from schema_core.secrets import HIDDEN, is_secret

#: How long a writer waits for another one, in seconds.
TIMEOUT = 60.0
#: The entry under which the databases lie.
ROOT = 0
#: Characters of a key that stay as they are: four bytes each are within what PostgreSQL indexes.
MAX_KEY = 500
#: Any number that others do not lock in PostgreSQL while they make tables.
LOCK = 0x5C4E3A


class Content(str):
    """The content of an entry: it may hold secrets, so its `repr` shows nothing of it.

    SQLAlchemy logs every row that it reads at the level DEBUG, by `repr`.

    >>> Content("password=hunter2")
    '******'
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return repr(HIDDEN)


class ContentType(sa.TypeDecorator[str]):
    """A column of text that is read as `Content`."""

    impl = sa.Text
    cache_ok = True

    def process_result_value(self, value: str | None, dialect: sa.Dialect) -> str | None:
        return None if value is None else Content(value)


METADATA = sa.MetaData()
ENTRIES = sa.Table(
    "schema_core_entry",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("parent", sa.ForeignKey("schema_core_entry.id", ondelete="CASCADE"), nullable=False),
    sa.Column("kind", sa.String(16), nullable=False),
    sa.Column("key", sa.Text, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("form", sa.String(32), nullable=False),
    sa.Column("content", ContentType, nullable=False),
    sa.Column("version", sa.Integer, nullable=False),
    sa.UniqueConstraint("parent", "kind", "key"),
)
MIGRATIONS_DONE = sa.Table(
    "schema_core_migration",
    sa.MetaData(),
    sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
)


@dataclass(frozen=True, slots=True)
class Entry:
    """What lies under a key: its number, its name as written, its form, its text, its version."""

    id: int
    name: str
    form: str
    content: str
    version: int


def fitted(key: str) -> str:
    """A key that every database can index: a long one ends in a digest of all of it.

    No two keys become the same, since what is cut is longer than what is not.

    >>> fitted("orders"), len(fitted("n" * 10_000))
    ('orders', 564)
    """
    if len(key) <= MAX_KEY:
        return key
    digest = sha256(key.encode(errors="surrogatepass")).hexdigest()
    return key[:MAX_KEY] + digest


# --- the schema of the store ---------------------------------------------------------------------


def _make_entries(connection: sa.Connection) -> None:
    METADATA.create_all(connection)
    root = {"id": ROOT, "parent": ROOT, "kind": "root", "key": "", "name": ""}
    connection.execute(sa.insert(ENTRIES).values(root | {"form": "", "content": "", "version": 1}))


def _shorten_keys(connection: sa.Connection) -> None:
    long = sa.select(ENTRIES.c.id, ENTRIES.c.key).where(sa.func.length(ENTRIES.c.key) > MAX_KEY)
    for number, key in connection.execute(long).all():
        same = ENTRIES.c.id == number
        connection.execute(sa.update(ENTRIES).where(same).values(key=fitted(key)))


#: What makes version 1 of the store out of nothing, version 2 out of version 1, and so on.
MIGRATIONS: tuple[Callable[[sa.Connection], None], ...] = (_make_entries, _shorten_keys)


def migrate(connection: sa.Connection) -> None:
    """Bring the store to the newest version; every step is done once, whoever comes first.

    Raises:
        UnsupportedError: with code `unsupported-catalog-version` for a store of a later library.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(LOCK)))
    MIGRATIONS_DONE.create(connection, checkfirst=True)
    done = connection.scalar(sa.select(sa.func.max(MIGRATIONS_DONE.c.version))) or 0
    if done > len(MIGRATIONS):
        raise UnsupportedError(
            f"the store has version {done}, and this library knows up to {len(MIGRATIONS)}",
            code="unsupported-catalog-version",
            hint="use the library that wrote it, or a later one",
        )
    for version, step in enumerate(MIGRATIONS[done:], done + 1):
        step(connection)
        connection.execute(sa.insert(MIGRATIONS_DONE).values(version=version))


# --- operations ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Entries:
    """The entries as one transaction sees them."""

    connection: sa.Connection
    root: int = ROOT

    def find(self, parent: int, kind: str, key: str, for_change: bool = False) -> Entry | None:
        """The entry of this key, or None; nobody else changes it meanwhile, if so asked."""
        query = _entries(parent, kind).where(ENTRIES.c.key == fitted(key))
        if for_change:
            query = query.with_for_update()
        row = self.connection.execute(query).one_or_none()
        return None if row is None else Entry(*row)

    def list(self, parent: int, kind: str, form: str | None = None) -> list[Entry]:
        """The entries of this kind, in the order in which they came; only of this form, if given.

        They come without their text.
        """
        query = _entries(parent, kind, sa.literal("")).order_by(ENTRIES.c.id)
        if form is not None:
            query = query.where(ENTRIES.c.form == form)
        return [Entry(*row) for row in self.connection.execute(query)]

    def holds_any(self, parent: int) -> bool:
        """Whether anything lies under the entry."""
        query = sa.select(ENTRIES.c.id).where(ENTRIES.c.parent == parent).limit(1)
        return self.connection.execute(query).first() is not None

    def create(self, parent: int, kind: str, key: str, name: str, form: str, content: str) -> bool:
        """Keep a new entry; tells whether it could be: there is none, and what it lies under is."""
        values = {"parent": parent, "kind": kind, "key": fitted(key), "name": name}
        values |= {"form": form, "content": content, "version": 1}
        return self._changes(sa.insert(ENTRIES).values(values))

    def alter(self, entry: Entry, content: str) -> bool:
        """Keep another text for an entry; tells whether it was still in the version given."""
        return self._changes(_change(entry, content=content))

    def rename(self, entry: Entry, key: str, name: str) -> bool:
        """Keep an entry under another key; tells whether it could be. What lies under it stays."""
        return self._changes(_change(entry, key=fitted(key), name=name))

    def drop(self, entry: Entry) -> None:
        """Forget an entry and all that lies under it."""
        self.connection.execute(sa.delete(ENTRIES).where(ENTRIES.c.id == entry.id))

    def _changes(self, statement: sa.Insert | sa.Update) -> bool:
        """Whether the statement did something and broke no rule."""
        try:
            with self.connection.begin_nested():
                changed = self.connection.execute(statement).rowcount
                return changed != 0  # -1 where the driver does not say, after an insert
        except IntegrityError:
            return False


def _change(entry: Entry, **values: str) -> sa.Update:
    same = (ENTRIES.c.id == entry.id) & (ENTRIES.c.version == entry.version)
    return sa.update(ENTRIES).where(same).values(**values, version=entry.version + 1)


def _entries(
    parent: int, kind: str, content: sa.ColumnElement[str] | None = None
) -> sa.Select[tuple[Any, ...]]:
    text = ENTRIES.c.content if content is None else content
    columns = (ENTRIES.c.id, ENTRIES.c.name, ENTRIES.c.form, text, ENTRIES.c.version)
    return sa.select(*columns).where(ENTRIES.c.parent == parent, ENTRIES.c.kind == kind)


# --- the database --------------------------------------------------------------------------------


class EntryStore:
    """A database with entries, by the address that SQLAlchemy understands.

    Raises:
        SchemaError: with code `invalid-catalog-url` for an address that is none.
        NotFoundError: with code `missing-driver` where Python's driver is not installed.
    """

    def __init__(self, url: str, username: str | None = None, password: str | None = None) -> None:
        self._engine = _engine(_address(url, username, password))

    def open(self) -> None:
        """Make the tables, or bring them to the newest version."""
        with self.transaction(writing=True) as entries:
            migrate(entries.connection)

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    @contextmanager
    def transaction(self, writing: bool = False) -> Iterator[Entries]:
        """All of it happens, or nothing.

        Raises:
            ExternalError: with code `catalog-store-failed`, if the database fails. Its own words
                are kept, the values of the statement are not: they may be secret.
        """
        failure = None
        try:
            open_ = self._engine.connect().execution_options(writing=writing)
            with open_ as connection, connection.begin():
                yield Entries(connection)
        except SQLAlchemyError as error:
            failure = _words(error)
        except UnicodeEncodeError:
            failure = "it holds no text with half a character"
        if failure:  # raised out here, it has no exception behind it that knows the values
            raise ExternalError(
                f"the store of the catalog failed: {failure}", code="catalog-store-failed"
            )


def _words(error: SQLAlchemyError) -> str:
    """What the database says, without the details, which may be values."""
    said = str(error.orig).strip() if isinstance(error, DBAPIError) else ""
    return said.split("\n", 1)[0] or type(error).__name__


#: What the address of a database cannot hold; surrogates have no form in UTF-8.
_NOT_IN_URLS = re.compile(r"[\0\ud800-\udfff]")


def _address(url: str, username: str | None, password: str | None) -> sa.URL:
    try:
        is_text = not _NOT_IN_URLS.search(urllib.parse.unquote(url))
        address = sa.make_url(url if is_text else "")
    except (SQLAlchemyError, ValueError, TypeError, AttributeError):
        raise SchemaError(
            "the url of the catalog is none",
            code="invalid-catalog-url",
            hint="write it as sqlite:///file.db or postgresql+psycopg://host/database",
        ) from None
    if address.password is not None or any(map(is_secret, address.query)):
        raise SchemaError(
            "the url of a catalog is shown to everybody, and holds a password",
            code="secret-in-url",
            hint="give it as the option 'password', which is masked",
        )
    return address.set(username=username or address.username, password=password)


def _engine(address: sa.URL) -> sa.Engine:
    sqlite = address.get_backend_name() == "sqlite"
    arguments = {"timeout": TIMEOUT} if sqlite else {}
    try:
        engine = sa.create_engine(
            address, connect_args=arguments, hide_parameters=True, pool_pre_ping=not sqlite
        )
    except ModuleNotFoundError as error:
        raise NotFoundError(
            f"the driver {error.name!r} is not installed",
            code="missing-driver",
            hint=install_hint(error.name or ""),
        ) from None
    except NoSuchModuleError:
        raise SchemaError(
            f"there is no kind of database {address.drivername!r}", code="invalid-catalog-url"
        ) from None
    except SQLAlchemyError:
        raise SchemaError(
            f"this is no address of {address.get_backend_name()}",
            code="invalid-catalog-url",
            hint="a file of SQLite has a path and no user: sqlite:///file.db" if sqlite else None,
        ) from None
    if sqlite:
        sa.event.listen(engine, "do_connect", _create_private_file)
        sa.event.listen(engine, "connect", _prepare_sqlite)
        sa.event.listen(engine, "begin", _begin_sqlite)
    if address.get_backend_name() == "postgresql":
        sa.event.listen(engine, "connect", _prepare_postgresql)
    return engine


def _create_private_file(
    dialect: object, record: object, arguments: list[Any], options: dict[str, Any]
) -> None:
    """Create the file of a new database so that only its owner can read and write it.

    SQLite gives the files beside it (``-wal``, ``-shm``, ``-journal``) the same permissions.
    """
    path = str(arguments[0])
    if options.get("uri"):
        address = urlsplit(path)
        parameters = parse_qs(address.query)
        if {"memory", "ro", "rw"} & {*parameters.get("mode", ())}:
            return
        path = unquote(address.path)
    if path in ("", ":memory:"):
        return
    with suppress(OSError):  # it exists, or SQLite reports why it cannot be created
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def _prepare_sqlite(connection: Any, record: object) -> None:
    """Transactions begin where we say; what lies under an entry goes with it."""
    connection.isolation_level = None
    for setting in ("foreign_keys = ON", "journal_mode = WAL", "synchronous = FULL"):
        connection.execute(f"PRAGMA {setting}").close()


def _prepare_postgresql(connection: Any, record: object) -> None:
    """A writer does not wait for ever for one that hangs."""
    connection.cursor().execute(f"SET lock_timeout = {int(TIMEOUT * 1_000)}")
    connection.commit()


def _begin_sqlite(connection: sa.Connection) -> None:
    """A writer takes the lock before it reads, so that nothing changes under its feet."""
    writing = connection.get_execution_options().get("writing")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")
