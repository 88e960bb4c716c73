"""Entries of a catalog in one table of a SQL database, read and written in transactions.

Databases, tables and partitions are entries; each is deleted with its parent. A unique constraint
on parent, kind and key makes one of several concurrent writers win. Only this module imports
SQLAlchemy.
"""

from __future__ import annotations

import os
import urllib.parse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, IntegrityError, NoSuchModuleError, SQLAlchemyError

from schema_core.base.lazy import dataclass, regex
from schema_core.base.plugins import install_hint
from schema_core.base.secrets import HIDDEN, is_secret
from schema_core.errors import ExternalError, NotFoundError, SchemaError, UnsupportedError

#: How long a writer waits for a lock, in seconds.
TIMEOUT = 60.0
#: The parent of the databases.
ROOT = 0
#: The maximum length of a key without a digest: at four bytes each, PostgreSQL can index it.
MAX_KEY = 500
#: The key of PostgreSQL's advisory lock while tables are created.
LOCK = 0x5C4E3A


class EntryContent(str):
    """The content of an entry, which may contain secrets: its `repr` is masked.

    At the level DEBUG, SQLAlchemy logs the `repr` of every row that it reads.

    >>> EntryContent("password=hunter2")
    '******'
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return repr(HIDDEN)


class ContentType(sa.TypeDecorator[str]):
    """A text column whose values are read as `EntryContent`."""

    impl: type[sa.Text] = sa.Text
    cache_ok: bool | None = True

    def process_result_value(self, value: str | None, dialect: sa.Dialect) -> str | None:
        return None if value is None else EntryContent(value)


#: Keys are compared by bytes, as in SQLite, so that an index has ranges of prefixes.
KEY_TYPE = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
METADATA = sa.MetaData()
ENTRIES = sa.Table(
    "schema_core_entry",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("parent", sa.ForeignKey("schema_core_entry.id", ondelete="CASCADE"), nullable=False),
    sa.Column("kind", sa.String(16), nullable=False),
    sa.Column("key", KEY_TYPE, nullable=False),
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


#: Rows that are read at once.
PORTION = 1_000

# Statements that are built once: SQLAlchemy takes longer to build one than SQLite to execute it.
_IS_CHILD = (ENTRIES.c.parent == sa.bindparam("parent")) & (ENTRIES.c.kind == sa.bindparam("kind"))
_FIND = sa.select(
    ENTRIES.c.id, ENTRIES.c.name, ENTRIES.c.form, ENTRIES.c.content, ENTRIES.c.version
).where(_IS_CHILD, ENTRIES.c.key == sa.bindparam("key"))
_FIND_FOR_CHANGE = _FIND.with_for_update()
_NAMES = sa.select(ENTRIES.c.name).where(_IS_CHILD)
# ordered by an expression: for a column, SQLite would read all rows in its order
_ORDERED_NAMES = _NAMES.order_by(ENTRIES.c.id + 0)
_ORDERED_NAMES_OF_FORM = _ORDERED_NAMES.where(ENTRIES.c.form == sa.bindparam("form"))
_ANY_CHILD = sa.select(ENTRIES.c.id).where(ENTRIES.c.parent == sa.bindparam("parent")).limit(1)
_CREATE = sa.insert(ENTRIES)
_CHANGE = sa.update(ENTRIES).where(
    ENTRIES.c.id == sa.bindparam("same_id"), ENTRIES.c.version == sa.bindparam("same_version")
)
_DROP = sa.delete(ENTRIES).where(ENTRIES.c.id == sa.bindparam("same_id"))


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """A row; `name` is as written, `form` is the kind of a table, `version` counts changes."""

    id: int
    name: str
    form: str
    content: str
    version: int


def index_key(key: str) -> str:
    """Return a key that every database can index: a long one ends in a digest.

    Keys stay different: a truncated key is longer than any other.

    >>> index_key("orders"), len(index_key("n" * 10_000))
    ('orders', 564)
    """
    if len(key) <= MAX_KEY:
        return key
    digest = sha256(key.encode(errors="surrogatepass")).hexdigest()
    return key[:MAX_KEY] + digest


# --- schema migrations ---------------------------------------------------------------------------


def _create_entries(connection: sa.Connection) -> None:
    METADATA.create_all(connection)
    root = {"id": ROOT, "parent": ROOT, "kind": "root", "key": "", "name": ""}
    connection.execute(sa.insert(ENTRIES).values(root | {"form": "", "content": "", "version": 1}))


def _shorten_keys(connection: sa.Connection) -> None:
    long = sa.select(ENTRIES.c.id, ENTRIES.c.key).where(sa.func.length(ENTRIES.c.key) > MAX_KEY)
    for number, key in connection.execute(long).all():
        same = ENTRIES.c.id == number
        connection.execute(sa.update(ENTRIES).where(same).values(key=index_key(key)))


def _compare_bytes(connection: sa.Connection) -> None:
    """Compare keys by bytes: stores of version 2 have the database's collation."""
    if connection.dialect.name == "postgresql":
        change = "ALTER TABLE schema_core_entry ALTER COLUMN key TYPE text"
        connection.execute(sa.text(f'{change} COLLATE "C"'))


#: Migrations to version 1, 2, and so on.
MIGRATIONS: tuple[Callable[[sa.Connection], None], ...] = (
    _create_entries, _shorten_keys, _compare_bytes,
)  # fmt: skip


def migrate(connection: sa.Connection) -> None:
    """Migrate the store to the current version; a lock lets one process do it.

    A later version is an error (`version-not-supported`).
    """
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(LOCK)))
    MIGRATIONS_DONE.create(connection, checkfirst=True)
    done = _store_version(connection)
    if done > len(MIGRATIONS):
        raise UnsupportedError(
            f"the catalog store has version {done}, supported are 1 to {len(MIGRATIONS)}",
            code="version-not-supported",
            hint="upgrade schema-core",
        )
    for version, step in enumerate(MIGRATIONS[done:], done + 1):
        step(connection)
        connection.execute(sa.insert(MIGRATIONS_DONE).values(version=version))


def _store_version(connection: sa.Connection) -> int:
    return connection.scalar(sa.select(sa.func.max(MIGRATIONS_DONE.c.version))) or 0


# --- operations ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EntryTransaction:
    """One transaction on the entries."""

    connection: sa.Connection
    root: int = ROOT

    def upgrade(self) -> None:
        """Create or migrate the tables, unless they are current; the lock is one of writers."""
        if not sa.inspect(self.connection).has_table(MIGRATIONS_DONE.name) or _store_version(
            self.connection
        ) != len(MIGRATIONS):
            migrate(self.connection)

    def find(
        self, parent: int, kind: str, key: str, for_change: bool = False
    ) -> CatalogEntry | None:
        """Return the entry with this key, or None; `for_change` locks its row."""
        query = _FIND_FOR_CHANGE if for_change else _FIND
        values = {"parent": parent, "kind": kind, "key": index_key(key)}
        row = self.connection.execute(query, values).one_or_none()
        return None if row is None else CatalogEntry(*row)

    def names(self, parent: int, kind: str, form: str | None = None) -> Sequence[str]:
        """Return the names of this kind (and form) in the order of creation."""
        query = _ORDERED_NAMES if form is None else _ORDERED_NAMES_OF_FORM
        values = {"parent": parent, "kind": kind, "form": form}
        return self.connection.scalars(query, values).all()

    def some_names(self, parent: int, kind: str, prefix: str, limit: int | None) -> Sequence[str]:
        """Return at most `limit` names, among them all that start with a prefix in any case.

        Quotes before a name are skipped; of a long prefix the start is compared.
        """
        values = {"parent": parent, "kind": kind}
        if not prefix:
            return self.connection.scalars(_NAMES.limit(limit), values).all()
        has_ranges = self._has_ranges()
        some: list[str] = []
        for start in (_ascii_start(prefix), "`"):
            query = _names_starting_with(start, has_ranges).limit(limit)
            some += self.connection.scalars(query, values)
        return some

    def _has_ranges(self) -> bool:
        """Return whether keys are compared by the bytes of UTF-8.

        A database in another encoding refuses strings that it cannot hold.
        """
        dialect = self.connection.dialect.name
        if dialect == "postgresql":
            return bool(self.connection.scalar(sa.text("SHOW server_encoding")) == "UTF8")
        return dialect == "sqlite"

    def contents(self, kind: str) -> Iterator[tuple[str, str, str]]:
        """Yield the parent's name, the name and the content of all entries of this kind.

        Reading in portions keeps memory independent of their number.
        """
        parents = ENTRIES.alias("parents")
        query = (
            sa.select(parents.c.name, ENTRIES.c.name, ENTRIES.c.content)
            .join(parents, parents.c.id == ENTRIES.c.parent)
            .where(ENTRIES.c.kind == kind)
            .order_by(ENTRIES.c.id)
            .execution_options(yield_per=PORTION)
        )
        for row in self.connection.execute(query):
            yield row[0], row[1], row[2]

    def holds_any(self, parent: int) -> bool:
        """Return whether an entry has children."""
        return self.connection.execute(_ANY_CHILD, {"parent": parent}).first() is not None

    def create(self, parent: int, kind: str, key: str, name: str, form: str, content: str) -> bool:
        """Insert an entry; return False if it exists or if its parent does not."""
        values = {"parent": parent, "kind": kind, "key": index_key(key), "name": name}
        values |= {"form": form, "content": content, "version": 1}
        return self._changes(_CREATE, values)

    def alter(self, entry: CatalogEntry, content: str) -> bool:
        """Update the content of an entry; return False if its version has changed."""
        return self._changes(_CHANGE, _same(entry) | {"content": content})

    def rename(self, entry: CatalogEntry, key: str, name: str) -> bool:
        """Rename an entry; return False if it has changed or the key is taken."""
        return self._changes(_CHANGE, _same(entry) | {"key": index_key(key), "name": name})

    def drop(self, entry: CatalogEntry) -> None:
        """Delete an entry with its children."""
        self.connection.execute(_DROP, {"same_id": entry.id})

    def _changes(self, statement: sa.Insert | sa.Update, values: dict[str, Any]) -> bool:
        """Execute a statement; return whether it changed a row and violated no constraint."""
        try:
            with self.connection.begin_nested():
                changed = self.connection.execute(statement, values).rowcount
                return changed != 0  # -1: unknown to the driver, after an INSERT
        except IntegrityError:
            return False


def _same(entry: CatalogEntry) -> dict[str, Any]:
    """Return the values of `_CHANGE` that find an entry unless its version has changed."""
    return {"same_id": entry.id, "same_version": entry.version, "version": entry.version + 1}


#: Characters with a meaning in patterns, and the ASCII letters that are the lower case of others
#: (U+0130 and U+212A): patterns compare them with any character.
_ANY = str.maketrans(dict.fromkeys("%_\\ik", "_"))
#: ASCII letter -> the other letter of which it is the lower case.
_ALSO_UPPER = {"i": "\u0130", "k": "\u212a"}
#: The maximum number of index ranges in one query.
MAX_RANGES = 64


def _ascii_start(prefix: str) -> str:
    """Return the part before letters beyond ASCII, which not all databases fold."""
    lower = prefix[:MAX_KEY].lower()
    return lower[: next((place for place, part in enumerate(lower) if part > "~"), None)]


def _starts(prefix: str) -> Sequence[str]:
    """Return the starts of the keys that start with a prefix in any case.

    >>> _starts("a_b")
    ['a_b', 'a_B', 'A_b', 'A_B']
    """
    starts = [""]
    for character in prefix:
        variants = dict.fromkeys((character, character.upper(), *_ALSO_UPPER.get(character, "")))
        if len(starts) * len(variants) > MAX_RANGES:
            break
        starts = [start + variant for start in starts for variant in variants]
    return starts


def _names_starting_with(prefix: str, has_ranges: bool) -> sa.Select[Any]:
    """Return a query for some names, among them all that start with a prefix in any case.

    The prefix is in ASCII and lower case, maybe empty. With `has_ranges`, ranges of the index of
    keys contain these names.
    """
    key = ENTRIES.c.key
    if not prefix:
        return _NAMES
    if not has_ranges:
        return _NAMES.where(key.ilike(f"{prefix.translate(_ANY)}%"))
    bounds = [(start, start[:-1] + chr(ord(start[-1]) + 1)) for start in _starts(prefix)]
    ranges = [_NAMES.where(key >= low, key < high) for low, high in bounds]
    return sa.select(sa.union_all(*ranges).subquery().c.name)


# --- the database --------------------------------------------------------------------------------


class EntryStore:
    """The entries in the database at a SQLAlchemy URL.

    Errors: `invalid-option-value`, `exposed-secret` for a URL with a password,
    `missing-dependency`.
    """

    def __init__(self, url: str, username: str | None = None, password: str | None = None) -> None:
        self._engine = _engine(_address(url, username, password))

    def is_missing(self) -> bool:
        """Return whether the database is a missing file of SQLite that could be created."""
        if self._engine.dialect.name != "sqlite":
            return False
        arguments, options = self._engine.dialect.create_connect_args(self._engine.url)
        file = _sqlite_file(arguments[0], is_uri=bool(options.get("uri")))
        return (
            file is not None and not Path(file).exists() and os.access(Path(file).parent, os.W_OK)
        )

    def open(self) -> None:
        """Create or migrate the tables."""
        with self.transaction(writing=True) as entries:
            migrate(entries.connection)

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    @contextmanager
    def transaction(self, writing: bool = False) -> Iterator[EntryTransaction]:
        """Return a context that commits at its end and rolls back if it raises.

        Errors of the database (`catalog-store-failed`) are reported without values, which may be
        secret.
        """
        failure = None
        try:
            open_ = self._engine.connect().execution_options(writing=writing)
            with open_ as connection, connection.begin():
                yield EntryTransaction(connection)
        except SQLAlchemyError as error:
            failure = _message(error)
        except UnicodeEncodeError:
            failure = "a string contains a lone surrogate"
        if failure:  # raised here, the error has no __context__ with the values
            raise ExternalError(f"the catalog store failed: {failure}", code="catalog-store-failed")


def _message(error: SQLAlchemyError) -> str:
    """Return the message of the database without its details, which may contain values."""
    message = str(error.orig).strip() if isinstance(error, DBAPIError) else ""
    return message.split("\n", 1)[0] or type(error).__name__


_NOT_IN_URLS = regex(r"[\0\ud800-\udfff]")


def _address(url: str, username: str | None, password: str | None) -> sa.URL:
    address = None
    # errors of some versions of SQLAlchemy contain the URL, which may contain a password
    with suppress(SQLAlchemyError, ValueError, TypeError, AttributeError):
        is_valid = not _NOT_IN_URLS.search(urllib.parse.unquote(url))
        address = sa.make_url(url if is_valid else "")
    if address is None:  # raised here, the error has no __context__ with the URL
        raise SchemaError(
            "invalid catalog URL",
            code="invalid-option-value",
            hint="write it as sqlite:///file.db or postgresql+psycopg://host/database",
        )
    if address.password is not None or any(map(is_secret, address.query)):
        raise SchemaError(
            "the catalog URL contains a password, but URLs are not masked",
            code="exposed-secret",
            hint="set the option 'password' instead",
        )
    return address.set(username=username or address.username, password=password)


def _engine(address: sa.URL) -> sa.Engine:
    sqlite = address.get_backend_name() == "sqlite"
    arguments: dict[str, Any] = {"timeout": TIMEOUT} if sqlite else {}
    pool: dict[str, Any] = {}
    in_memory = address.database in (None, "", ":memory:") or address.query.get("mode") == "memory"
    if sqlite and in_memory:
        # each connection has its own database, so all threads share one
        arguments["check_same_thread"] = False
        pool = {"poolclass": sa.pool.QueuePool, "pool_size": 1, "max_overflow": 0}
    try:
        engine = sa.create_engine(
            address, connect_args=arguments, hide_parameters=True, pool_pre_ping=not sqlite, **pool
        )
    except ModuleNotFoundError as error:
        raise NotFoundError(
            f"the driver {error.name!r} is not installed",
            code="missing-dependency",
            hint=install_hint(error.name or ""),
        ) from None
    except NoSuchModuleError:
        raise SchemaError(
            f"unknown database {address.drivername!r} in the catalog URL",
            code="invalid-option-value",
        ) from None
    except SQLAlchemyError:
        raise SchemaError(
            f"invalid catalog URL for {address.get_backend_name()}",
            code="invalid-option-value",
            hint="write the path of the file without a user: sqlite:///file.db" if sqlite else None,
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
    """Create the file of a new database, readable and writable by its owner only.

    SQLite gives the files beside it (``-wal``, ``-shm``, ``-journal``) the same permissions.
    """
    file = _sqlite_file(str(arguments[0]), is_uri=bool(options.get("uri")))
    if file is not None:
        with suppress(OSError):  # it exists, or SQLite reports why it cannot be created
            os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def _sqlite_file(database: str, *, is_uri: bool) -> str | None:
    """Return the file that SQLite creates for a database, or None."""
    if is_uri:
        address = urlsplit(database)
        if {"memory", "ro", "rw"} & {*parse_qs(address.query).get("mode", ())}:
            return None
        database = unquote(address.path)
    return None if database in ("", ":memory:") else database


def _prepare_sqlite(connection: Any, record: object) -> None:
    """Disable implicit transactions, and enable foreign keys, which delete children."""
    connection.isolation_level = None
    for setting in ("foreign_keys = ON", "journal_mode = WAL", "synchronous = FULL"):
        connection.execute(f"PRAGMA {setting}").close()


def _prepare_postgresql(connection: Any, record: object) -> None:
    connection.cursor().execute(f"SET lock_timeout = {int(TIMEOUT * 1_000)}")
    connection.commit()


def _begin_sqlite(connection: sa.Connection) -> None:
    """Begin a transaction; a writer acquires the lock before it reads."""
    writing = connection.get_execution_options().get("writing")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")
