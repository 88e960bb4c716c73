"""`DocumentCatalog`: a catalog over any store of strings by key, which a subclass opens.

An object is one document. Its key has the kind, the database and the names, each quoted as in a
URL and separated by ``/``: keys that start with ``table/shop/`` are the tables of a database.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol
from urllib.parse import quote, unquote

from schema_core.base.arguments import validate_methods
from schema_core.base.lazy import dataclass
from schema_core.base.secrets import mask_credentials
from schema_core.catalog.api import Capability, Catalog, rolled_back
from schema_core.catalog.objects import CatalogPartitionSpec, TableKind
from schema_core.catalog.resolve import ORIGINS
from schema_core.catalog.stores.object_store import ObjectKey, StoredKind, require_name
from schema_core.catalog.stores.stored_catalog import StoredCatalog
from schema_core.catalogs import serialization
from schema_core.errors import ExternalError, SchemaCoreError, at
from schema_core.properties.property_map import decode_object

#: Kind -> the kinds of documents that are deleted, and for tables renamed, with an object.
CONTENT: dict[StoredKind, tuple[StoredKind, ...]] = {
    StoredKind.DATABASE: (
        StoredKind.TABLE, StoredKind.PARTITION, StoredKind.FUNCTION, StoredKind.MODEL,
        StoredKind.TYPE, StoredKind.STATISTICS,
    ),
    StoredKind.TABLE: (StoredKind.PARTITION, StoredKind.STATISTICS),
}  # fmt: skip


class Documents(Protocol):
    """Strings by key, in one transaction of their store.

    Keys contain ASCII letters, digits and ``/%_.-~`` only, and may be long; documents are any
    strings without lone surrogates.
    """

    def get(self, key: str) -> str | None:
        """Return the document at a key, or None."""

    def scan(self, prefix: str) -> Iterable[tuple[str, str]]:
        """Return the keys that start with a prefix, with their documents."""

    def put(self, key: str, document: str) -> None:
        """Store a document; one at this key is replaced."""

    def delete(self, key: str) -> None:
        """Delete the document at a key, which exists."""


@dataclass(frozen=True, slots=True)
class DocumentObject:
    """An object in a document: a line with the table's kind or the partition, then the content."""

    key: ObjectKey
    document: str

    @property
    def content(self) -> str:
        """The document without its first line."""
        return self.document.partition("\n")[2]

    @property
    def form(self) -> str:
        """The first line."""
        return self.document.partition("\n")[0]

    @property
    def value(self) -> Any:
        kind = self.key.kind
        with at(f"{kind.value} {str(self.key)!r}"):
            if kind is StoredKind.TABLE:
                return decode_object(self.table_kind, serialization.read_map(self.content))
            return serialization.deserialize(kind, self.content)

    @property
    def table_kind(self) -> TableKind:
        try:
            return TableKind(self.form)
        except ValueError:
            problem = f"the stored document of {self.key} is malformed: {self.form!r} is not a kind"
            raise ExternalError(problem, code="corrupt-entry") from None

    def is_stored_form_of(self, expected: Any) -> bool:
        if type(expected) not in ORIGINS:
            return False
        return serialization.serialize(self.key.kind, expected) == self.content


@contextmanager
def _store_errors(of_block: BaseException | None = None) -> Iterator[None]:
    """Raise the errors of a store as `catalog-store-failed`, but `of_block` as it is."""
    try:
        yield
    except SchemaCoreError:
        raise
    except Exception as error:
        if error is of_block:
            raise
        problem = mask_credentials(
            f"the store of the catalog failed: {type(error).__name__}: {error}"
        )
        raise ExternalError(problem, code="catalog-store-failed") from error


@dataclass(frozen=True, slots=True)
class DocumentTransaction:
    """The objects of a catalog in one transaction of its documents."""

    documents: Documents

    def exists(self, key: ObjectKey, parent: DocumentObject | None = None) -> bool:
        return self.get(key, parent) is not None

    def get(
        self, key: ObjectKey, parent: DocumentObject | None = None, *, lock: bool = False
    ) -> DocumentObject | None:
        with _store_errors():
            document = self.documents.get(document_key(key))
        return None if document is None else DocumentObject(key, document)

    def _scan(self, prefix: str) -> list[tuple[str, str]]:
        with _store_errors():
            return sorted(self.documents.scan(prefix))

    def _last_names(self, prefix: str, form: str | None = None) -> list[str]:
        return [
            unquote(key.rpartition("/")[2], errors="surrogatepass")
            for key, document in self._scan(prefix)
            if form is None or document.partition("\n")[0] == form
        ]

    def names(self, kind: StoredKind, parent: DocumentObject | None) -> list[str]:
        names = [] if parent is None else [parent.key.database]
        return self._last_names(_prefix(kind, *names))

    def table_names(self, database: DocumentObject, table_kind: TableKind) -> list[str]:
        prefix = _prefix(StoredKind.TABLE, database.key.database)
        return self._last_names(prefix, table_kind.value)

    def partitions(self, table: DocumentObject) -> list[CatalogPartitionSpec]:
        prefix = _prefix(StoredKind.PARTITION, table.key.database, table.key.name)
        return [
            serialization.read_spec(document.partition("\n")[0])
            for _, document in self._scan(prefix)
        ]

    def is_empty(self, database: DocumentObject) -> bool:
        return not any(self._content_of(database.key))

    def create(self, key: ObjectKey, value: Any, parent: DocumentObject | None) -> bool:
        form = ""
        if key.kind is StoredKind.TABLE:
            form = value.get_table_kind().value
        elif key.kind is StoredKind.PARTITION and key.partition is not None:
            form = serialization.write_spec(key.partition)
        self._put(document_key(key), f"{form}\n{serialization.serialize(key.kind, value)}")
        return True

    def replace(self, stored: DocumentObject, value: Any) -> bool:
        content = serialization.serialize(stored.key.kind, value)
        self._put(document_key(stored.key), f"{stored.form}\n{content}")
        return True

    def restore(self, stored: DocumentObject, earlier: DocumentObject) -> bool:
        self._put(document_key(stored.key), earlier.document)
        return True

    def rename(self, stored: DocumentObject, new_name: str) -> bool:
        old, new = stored.key, stored.key.renamed(new_name)
        moved = [(document_key(old), document_key(new), stored.document)]
        for kind in CONTENT.get(old.kind, ()):
            before, after = (_prefix(kind, key.database, key.name) for key in (old, new))
            moved += [
                (key, after + key.removeprefix(before), document)
                for key, document in self._scan(before)
            ]
        for key, new_key, document in moved:
            self._put(new_key, document)
            self._delete(key)
        return True

    def delete(
        self, key: ObjectKey, parent: DocumentObject | None = None, *, cascade: bool = True
    ) -> bool:
        if not self.exists(key):
            return False
        for content in [*self._content_of(key)]:
            self._delete(content)
        self._delete(document_key(key))
        return True

    def _content_of(self, key: ObjectKey) -> Iterator[str]:
        """Yield the keys of the documents in a database, table or partition."""
        if key.kind is StoredKind.PARTITION:
            statistics = ObjectKey(StoredKind.STATISTICS, key.database, key.name, key.partition)
            if self.exists(statistics):
                yield document_key(statistics)
        names = [name for name in (key.database, key.name) if name]
        for kind in CONTENT.get(key.kind, ()):
            yield from (content for content, _ in self._scan(_prefix(kind, *names)))

    def _put(self, key: str, document: str) -> None:
        with _store_errors():
            self.documents.put(key, document)

    def _delete(self, key: str) -> None:
        with _store_errors():
            self.documents.delete(key)


def document_key(key: ObjectKey) -> str:
    """Return the key of the document of an object; names of functions ignore case.

    >>> document_key(ObjectKey(StoredKind.TABLE, "shop", "new/orders"))
    'table/shop/new%2Forders'
    """
    match key.kind:
        case StoredKind.DATABASE:
            return _prefix(key.kind) + _quote(key.database)
        case StoredKind.MIGRATION:
            return _prefix(key.kind) + _quote(key.name)
        case StoredKind.PARTITION | StoredKind.STATISTICS:
            spec = "" if key.partition is None else serialization.key_of_spec(key.partition)
            return _prefix(key.kind, key.database, key.name) + _quote(spec)
        case StoredKind.FUNCTION:
            return _prefix(key.kind, key.database) + _quote(key.name.lower())
        case _:
            return _prefix(key.kind, key.database) + _quote(key.name)


def _prefix(kind: StoredKind, *names: str) -> str:
    return "".join(f"{_quote(name)}/" for name in (kind.value, *names))


def _quote(name: str) -> str:
    return quote(name, safe="", errors="surrogatepass")


class DocumentStore:
    """The objects of a catalog in documents, in transactions that a function opens."""

    compared: frozenset[StoredKind] = frozenset(StoredKind)

    def __init__(self, documents: Callable[[bool], AbstractContextManager[Documents]]) -> None:
        self._documents = documents

    def open(self) -> None:
        return

    def close(self) -> None:
        return

    @contextmanager
    def transaction(self, writing: bool = False) -> Iterator[DocumentTransaction]:
        with _store_errors():
            context = self._documents(writing)
            documents = context.__enter__()
        try:
            yield DocumentTransaction(documents)
        except BaseException as error:
            with _store_errors(error):
                context.__exit__(type(error), error, error.__traceback__)
            raise
        with _store_errors():  # of the commit
            context.__exit__(None, None, None)

    def check_name(self, kind: StoredKind, name: str) -> None:
        require_name(kind, name)


@validate_methods(Catalog)
class DocumentCatalog(StoredCatalog[DocumentObject]):
    """A catalog over documents by key: a subclass overrides `documents`.

    It stores every kind of object except procedures, compares `expected`, and has migrations and
    dry runs, if the transactions of `documents` are serializable: those that write run one after
    the other, across processes. `open` creates the default database. As in `SqlCatalog`, models
    count as content of a database.

    Args:
        name: The name of the catalog.
        default_database: The database that USE CATALOG makes current.
    """

    capabilities: frozenset[Capability] = frozenset(Capability) - {Capability.PROCEDURES}
    creates_default: bool = True

    def __init__(self, name: str, default_database: str = "default") -> None:
        super().__init__(name, DocumentStore(self.documents), default_database)

    @abstractmethod
    def documents(self, writing: bool) -> AbstractContextManager[Documents]:
        """Return a context of one transaction: it commits, or changes nothing if its block raises.

        Args:
            writing: Whether the block may change documents. If so, no other transaction writes
                before it ends, also none of another process.
        """

    @contextmanager
    def dry_run(self) -> Iterator[Catalog]:
        """Open the catalog as `Catalog.dry_run`: the default database is not created, either."""
        try:
            with rolled_back(self) as inner:
                inner.open()
                yield inner
        finally:
            self.close()
