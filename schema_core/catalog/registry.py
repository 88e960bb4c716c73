"""The catalogs of a session: their factories, their stores, and the current path."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from threading import RLock
from typing import Protocol, TypeAlias, runtime_checkable

from schema_core.base.lazy import dataclass
from schema_core.base.paths import ObjectIdentifier, UnresolvedPath
from schema_core.base.plugins import CATALOGS, find, list_entries
from schema_core.base.secrets import mask
from schema_core.base.text import is_blank, show
from schema_core.catalog.api import Catalog, sorted_names
from schema_core.catalog.stores.catalog_store import (
    CatalogDescriptor,
    CatalogStore,
    InMemoryCatalogStore,
)
from schema_core.catalog.stores.memory import InMemoryCatalog
from schema_core.errors import (
    AlreadyExistsError,
    Gathering,
    NotFoundError,
    SchemaCoreError,
    SchemaError,
    at,
    choose_from,
    similar,
)
from schema_core.schema.resolve import SchemaResolver


@runtime_checkable
class DeclaredOption(Protocol):
    """An option as a factory declares it; `schema_core.environment.options.ConfigOption` is one."""

    @property
    def key(self) -> str: ...
    @property
    def required(self) -> bool: ...
    @property
    def secret(self) -> bool: ...
    def key_patterns(self) -> tuple[str, ...]: ...
    def has_key(self, key: str) -> bool: ...
    def of(self, options: Mapping[str, str]) -> object: ...


@dataclass(frozen=True, slots=True)
class CatalogFactory:
    """A type of catalog: its options, how a catalog is made from them, the modules it requires.

    `options` declared with `ConfigOption` are checked before `make` is called: required ones are
    present, all can be read, none is unknown. Of a set of keys only unknown ones are refused.
    `make` receives the name of the catalog and the options without ``type``.

    `requires` names third-party modules; ``schema-core doctor`` reports missing ones.
    """

    options: frozenset[str] | Sequence[DeclaredOption]
    make: Callable[[str, Mapping[str, str]], Catalog]
    requires: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a factory that could not be used later (`invalid-argument`)."""
        declared: object = self.options
        if isinstance(declared, str) or not isinstance(declared, Collection):
            raise _wrong_factory("options", "a set of keys or a sequence of options", declared)
        kind = str if isinstance(declared, AbstractSet) else DeclaredOption
        for option in declared:
            if not isinstance(option, kind):
                raise _wrong_factory("options", "keys in a set or options in a sequence", option)
        make: object = self.make
        if not callable(make):
            raise _wrong_factory("make", "a function", make)

    def keys(self) -> list[str]:
        """Return the keys of all options of the type."""
        if isinstance(self.options, AbstractSet):
            return sorted(self.options)
        return [key for option in self.options for key in option.key_patterns()]

    def has_key(self, key: str) -> bool:
        """Return whether a key of options belongs to the type."""
        if isinstance(self.options, AbstractSet):
            return key in self.options
        return any(option.has_key(key) for option in self.options)

    def secret_keys(self) -> frozenset[str]:
        """The keys of options that are declared secret, in lower case."""
        if isinstance(self.options, AbstractSet):
            return frozenset()
        return frozenset(
            key.lower() for option in self.options if option.secret for key in option.key_patterns()
        )

    def check(self, kind: str, options: Mapping[str, str]) -> None:
        """Validate the options of a catalog; raise all errors at once.

        Errors: `missing-option`, `invalid-option-value`, `unknown-option`.
        """
        errors = Gathering()
        if not isinstance(self.options, AbstractSet):
            with errors.catching():
                _require_present(kind, self.options, options)
            for option in self.options:
                with errors.catching():
                    option.of(options)
        with errors.catching():
            self._require_known(kind, options)
        errors.raise_all()

    def _require_known(self, kind: str, options: Mapping[str, str]) -> None:
        known = self.keys()
        if unknown := sorted(key for key in options.keys() - IMPLICIT if not self.has_key(key)):
            raise SchemaError(
                f"unknown options of a catalog of type {kind!r}: {', '.join(unknown)}",
                code="unknown-option",
                hint=similar(unknown[0], known),
            )


def _require_present(
    kind: str, declared: Sequence[DeclaredOption], options: Mapping[str, str]
) -> None:
    absent = sorted(
        option.key
        for option in declared
        if option.required and not any(map(option.has_key, options))
    )
    if absent:
        raise SchemaError(
            f"required options of a catalog of the type {kind!r} are missing: {', '.join(absent)}",
            code="missing-option",
        )


def _wrong_factory(name: str, expected: str, given: object) -> SchemaError:
    return SchemaError(
        f"{name} of a catalog factory must be {expected}, got {show(given)}",
        code="invalid-argument",
    )


#: The option with the type of a catalog; the others are the type's own.
TYPE = "type"

#: Options that every type of catalog takes.
IMPLICIT = frozenset({"property-version"})

#: The catalogs in memory.
GENERIC_IN_MEMORY = CatalogFactory(
    frozenset({"default-database"}),
    lambda name, options: InMemoryCatalog(name, options.get("default-database", "default")),
)


def factory_of(kind: str) -> CatalogFactory:
    """Return how catalogs of a type are made.

    Errors: `factory-not-found`; `not-loadable`, also if several packages provide it.
    """
    factory: object = find(CATALOGS, kind)
    if factory is None:
        names = sorted({entry.identifier for entry in list_entries(CATALOGS)})
        raise SchemaError(
            f"unknown catalog type {kind!r}",
            code="factory-not-found",
            hint=choose_from(kind, names),
        )
    if not isinstance(factory, CatalogFactory):
        raise NotFoundError(
            f"the entry point of the catalog type {kind!r} must name a CatalogFactory, "
            f"got {show(factory)}",
            code="not-loadable",
        )
    return factory


def masked_configuration(descriptor: CatalogDescriptor) -> dict[str, str]:
    """Return a catalog's options with secrets masked, also those that its type declares."""
    return mask(descriptor.configuration, secret_keys_of(descriptor))


def secret_keys_of(descriptor: CatalogDescriptor) -> frozenset[str]:
    """Return the keys, in lower case, that an installed type of catalog declares secret."""
    with suppress(SchemaCoreError):
        return factory_of(descriptor.configuration.get(TYPE, "")).secret_keys()
    return frozenset()


def _open_itself(catalog: Catalog) -> Catalog:
    catalog.open()
    return catalog


def make_catalog(
    descriptor: CatalogDescriptor,
    resolve: Callable[[Mapping[str, str]], dict[str, str]] = dict,
) -> Catalog:
    """Create the catalog of a descriptor; `resolve` returns the values of references in options.

    `factory-not-found` without a known type; otherwise errors as `CatalogFactory.check`.
    """
    name, options = descriptor.catalog_name, dict(descriptor.configuration)
    with at(f"catalog {name!r}"):
        kind = options.pop(TYPE, None)
        if not kind:
            raise SchemaError(f"the option {TYPE!r} is missing", code="factory-not-found")
        factory = factory_of(kind)
        options = resolve(options)
        factory.check(kind, options)
        catalog: object = factory.make(name, options)
        if not isinstance(catalog, Catalog):
            raise SchemaError(
                f"the factory of the type {kind!r} returned {show(catalog)} instead of a catalog",
                code="invalid-argument",
            )
        return catalog


@contextmanager
def _closed_on_failure(catalog: Catalog) -> Iterator[None]:
    """Close a new catalog if its descriptor cannot be stored."""
    try:
        yield
    except SchemaCoreError:
        catalog.close()
        raise


#: The current catalog and the current database in it.
CurrentPath: TypeAlias = tuple[str | None, str | None]


class CatalogRegistry:
    """The catalogs of a session, in use or only stored, and the current path.

    It is thread-safe: each catalog is made once, and a path is qualified by a catalog and a
    database that were current at the same time.
    """

    def __init__(
        self,
        name: str,
        built_in: Catalog,
        store: CatalogStore | None = None,
        resolve: Callable[[Mapping[str, str]], dict[str, str]] = dict,
    ) -> None:
        #: returns options with the values of their references
        self.resolve_options = resolve
        self._store = store or InMemoryCatalogStore()
        self._open: dict[str, Catalog] = {name: built_in}
        self._lock = RLock()
        self.current_path: CurrentPath = (name, built_in.get_default_database())
        self._resolver: SchemaResolver | None = None
        self._open_by: Callable[[Catalog], Catalog] = _open_itself
        self._store.open()
        built_in.open()

    def use_resolver(self, resolver: SchemaResolver) -> None:
        """Let all catalogs, also later ones, resolve unresolved objects by a resolver."""
        with self._lock:
            self._resolver = resolver
            for catalog in self._open.values():
                catalog.use_resolver(resolver)

    def _open_catalog(self, catalog: Catalog) -> Catalog:
        opened = self._open_by(catalog)
        if self._resolver is not None:
            opened.use_resolver(self._resolver)
        return opened

    def open_by(self, function: Callable[[Catalog], Catalog]) -> None:
        """Open each catalog from now on by a function, and use the catalog that it returns."""
        self._open_by = function

    @property
    def current_catalog(self) -> str | None:
        return self.current_path[0]

    @property
    def current_database(self) -> str | None:
        return self.current_path[1]

    # --- listing -------------------------------------------------------------------------------

    def names(self) -> list[str]:
        """Return the sorted names of all catalogs."""
        return sorted_names(list(self._open), self._store.list_catalogs())

    def managing_names(self) -> list[str]:
        """Return the names of the open catalogs that manage tables without a connector."""
        return sorted(name for name, value in self._open.items() if value.storage is not None)

    def find(self, name: str) -> Catalog | None:
        """Return the catalog of this name, created from the store at first use, or None."""
        if (found := self._open.get(name)) is not None:
            return found
        with self._lock:
            if name not in self._open and (descriptor := self._store.get_catalog(name)):
                self._open[name] = self._open_catalog(
                    make_catalog(descriptor, self.resolve_options)
                )
            return self._open.get(name)

    def get(self, name: str) -> Catalog:
        """Return the catalog of this name (`catalog-not-found`)."""
        if catalog := self.find(name):
            return catalog
        raise NotFoundError(
            f"there is no catalog {name!r}",
            code="catalog-not-found",
            hint=similar(name, self.names()),
        ).of(name)

    def descriptor(self, name: str) -> CatalogDescriptor:
        """How the catalog was made (`catalog-not-found`); unknown if registered as an object."""
        if descriptor := self._store.get_catalog(name):
            return descriptor
        self.get(name)
        raise NotFoundError(
            f"the catalog {name!r} was not created from options", code="catalog-not-found"
        )

    # --- creating and dropping -----------------------------------------------------------------

    def register(self, name: str, catalog: Catalog) -> None:
        """Register a catalog object; it has no descriptor and is not stored."""
        with self._lock:
            self._require_new(name)
            self._open[name] = self._open_catalog(catalog)

    def share(self, name: str, catalog: Catalog) -> None:
        """Use a catalog that another registry opened, in place of one with this name."""
        with self._lock:
            self._open[name] = catalog

    def unshare(self, name: str) -> None:
        """Forget a catalog that `share` registered; it stays open."""
        with self._lock:
            self._open.pop(name, None)

    def create(self, descriptor: CatalogDescriptor, ignore_if_exists: bool) -> bool:
        """Create a catalog and store its descriptor; return whether it is new."""
        name = descriptor.catalog_name
        with self._lock:
            if ignore_if_exists and name in self.names():
                return False
            self._require_new(name)
            catalog = self._open_catalog(make_catalog(descriptor, self.resolve_options))
            with _closed_on_failure(catalog):
                self._store.store_catalog(name, descriptor)
            self._open[name] = catalog
            return True

    def alter(self, name: str, change: Callable[[CatalogDescriptor], CatalogDescriptor]) -> None:
        """Recreate a catalog from a changed descriptor; objects in memory are lost.

        If that or storing the descriptor fails, the old catalog stays.
        """
        with self._lock:
            changed = change(self.descriptor(name))
            catalog = self._open_catalog(make_catalog(changed, self.resolve_options))
            with _closed_on_failure(catalog):
                self._store.alter_catalog(name, changed)
            old = self._open.get(name)
            self._open[name] = catalog
            if old is not None:
                old.close()

    def drop(self, name: str, ignore_if_not_exists: bool) -> bool:
        """Drop a catalog; return whether there was one (`catalog-in-use` for the current one)."""
        with self._lock:
            if name == self.current_catalog:
                raise SchemaError(
                    f"the catalog {name!r} is in use",
                    code="catalog-in-use",
                    hint="select another one with USE CATALOG first",
                )
            if name not in self.names():
                if not ignore_if_not_exists:
                    self.get(name)
                return False
            catalog = self._open.pop(name, None)
            if catalog is not None:
                catalog.close()
            self._store.remove_catalog(name, ignore_if_not_exists=True)
            return True

    def _require_new(self, name: str) -> None:
        if is_blank(name):
            raise SchemaError("a catalog requires a name", code="invalid-name")
        if name in self.names():
            raise AlreadyExistsError(f"there is already a catalog {name!r}", code="catalog-exists")

    # --- the current path ----------------------------------------------------------------------

    def use_catalog(self, name: str | None) -> None:
        """Set the current catalog and its default database; None unsets both."""
        with self._lock:
            if name is None:
                self.current_path = (None, None)
            elif name != self.current_catalog:
                self.current_path = (name, self.get(name).get_default_database())

    def use_database(self, name: str | None) -> None:
        """Set the current database; None unsets it."""
        with self._lock:
            if name is not None:
                self.current().get_database(name)
            self.current_path = (self.current_catalog, name)

    def current(self) -> Catalog:
        """Return the current catalog (`current-database-not-set`)."""
        name = self.current_catalog
        if name is None:
            raise SchemaError(
                "there is no current catalog",
                code="current-database-not-set",
                hint="choose one with USE CATALOG",
            )
        return self.get(name)

    def qualify(self, path: UnresolvedPath) -> ObjectIdentifier:
        """Qualify a path with the current catalog and database."""
        return path.qualify(*self.current_path)

    def qualify_database(self, parts: tuple[str, ...]) -> tuple[str, str]:
        """Qualify the path of a database with the current catalog; without names, the current one.

        `invalid-path` for more than two names.
        """
        if len(parts) > 2:
            raise SchemaError(
                f"a database has one or two names, not {len(parts)}", code="invalid-path"
            )
        catalog, database = self.current_path
        last = parts[-1:] or (database,)
        first = parts[:-1] or (catalog,)
        if first[0] is None or last[0] is None:
            what = "catalog" if first[0] is None else "database"
            raise SchemaError(f"there is no current {what}", code="current-database-not-set")
        return first[0], last[0]
