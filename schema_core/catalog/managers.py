"""The tables, models and types of a session: temporary objects first, then those of catalogs.

`ddl_semantics` decides what CREATE, DROP and ALTER do at a path that is taken. Managers are
thread-safe.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import field
from functools import partial
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeAlias

from schema_core.base.lazy import dataclass
from schema_core.base.paths import ObjectIdentifier, ObjectPath, UnresolvedPath
from schema_core.base.secrets import NO_KEYS
from schema_core.catalog import ddl_semantics, objects
from schema_core.catalog.api import Capability, Catalog, names_starting_with, sorted_names
from schema_core.catalog.ddl_semantics import ExistingObject, decide
from schema_core.catalog.managed import (
    ManagedStorage,
    directory_of,
    is_managed,
    new_directory,
    own_directory,
    remove_directory,
    require_no_path,
    with_directory,
)
from schema_core.catalog.own_options import (
    COLUMN_HISTORY,
    own_options_of,
    require_no_own_options,
    without_own_options,
)
from schema_core.catalog.registry import CatalogRegistry
from schema_core.catalog.stores.object_store import missing
from schema_core.catalog.stores.optimistic_locking import alter_if_unchanged, masking_conflicts
from schema_core.catalog.temporary import ResolvedTable, TemporaryObjects
from schema_core.errors import (
    MAX_SIMILAR,
    AlreadyExistsError,
    NotFoundError,
    SchemaCoreError,
    SchemaError,
    UnsupportedError,
    similar,
)
from schema_core.errors.hints import READ_CURRENT_VERSION
from schema_core.types import DataType, DataTypes, UnresolvedType

if TYPE_CHECKING:
    from schema_core.catalog.changes.column_history import ColumnHistory
    from schema_core.catalog.changes.table_changes import TableChange

# --- tables and databases -------------------------------------------------------------------------

#: The names of kinds in messages.
NOUNS = {
    objects.TableKind.TABLE: "table",
    objects.TableKind.VIEW: "view",
    objects.TableKind.MATERIALIZED_TABLE: "materialized table",
}


@dataclass(frozen=True, slots=True)
class FoundTable:
    """A table or view with its full path."""

    identifier: ObjectIdentifier
    table: ResolvedTable
    is_temporary: bool
    #: the options from which a connector reads and writes a managed table; None for others
    derived: Mapping[str, str] | None = None
    #: the options that this library stores with it; a session does not show them
    own_options: Mapping[str, str] = field(default_factory=dict)

    @property
    def kind(self) -> objects.TableKind:
        return self.table.get_table_kind()

    @property
    def hidden(self) -> Mapping[str, str]:
        """The options that a connector reads and a session does not show."""
        return {key: value for key, value in self.own_options.items() if key == COLUMN_HISTORY}

    @property
    def connector_options(self) -> Mapping[str, str]:
        """The options from which a connector reads and writes the table."""
        return {**(self.derived or self.table.options), **self.hidden}


#: Resolves a table, view or materialized table.
Resolve: TypeAlias = Callable[[objects.CatalogBaseTable], ResolvedTable]

#: Raises for a definition that cannot be stored; the second argument is the replaced one.
Check: TypeAlias = Callable[[ResolvedTable, objects.CatalogBaseTable | None], None]


class CatalogManager:
    """The tables and databases of a session.

    `resolve` resolves a new table: only resolved ones are stored (FLIP-164). `read` resolves a
    stored one. `check` raises for one whose text would not read back as itself, `admit` where a
    permanent object must not be created. `secret_keys` returns the options of a table that its
    connector declares secret.
    """

    def __init__(
        self,
        registry: CatalogRegistry,
        temporary: TemporaryObjects,
        resolve: Resolve,
        read: Resolve | None = None,
        check: Check = lambda new, old: None,
        admit: Callable[[ObjectIdentifier], None] = lambda _: None,
        secret_keys: Callable[[Mapping[str, str]], AbstractSet[str]] = lambda _: NO_KEYS,
    ) -> None:
        self.registry = registry
        self.temporary = temporary
        self._secret_keys = secret_keys
        self._resolve = resolve
        self._read = read or resolve
        self._check = check
        self._lock = RLock()
        self._admit = admit
        #: whether jobs may write a table with these options; a trial of migrations replaces it
        self.may_write: Callable[[Mapping[str, str]], bool] = lambda _: True

    def require_writable(self, identifier: ObjectIdentifier, options: Mapping[str, str]) -> None:
        """Refuse a job that writes a table whose rows a trial only reads (`not-allowed`)."""
        if not self.may_write(options):
            raise UnsupportedError(
                f"{identifier.as_summary_string()} has real rows, which a trial does not write",
                code="not-allowed",
                hint="let the trial copy the rows of the table: --copy TABLE",
            )

    # --- looking up ----------------------------------------------------------------------------

    def find(self, identifier: ObjectIdentifier) -> FoundTable | None:
        """Return the temporary object at this path, else the permanent one, else None."""
        if (table := self.temporary.tables.find(identifier)) is not None:
            visible = self._read(without_own_options(table))
            own_options = own_options_of(table)
            return FoundTable(identifier, visible, is_temporary=True, own_options=own_options)
        return self.find_permanent(identifier)

    def find_permanent(self, identifier: ObjectIdentifier) -> FoundTable | None:
        """Return the permanent object at this path, or None."""
        catalog, path = self.registry.find(identifier.catalog_name), identifier.to_object_path()
        if catalog is None:
            return None
        table = catalog.get_resolved_table(path) or catalog.find_table(path)
        if table is None:
            return None
        return self._describe(catalog, identifier, table)

    def _describe(
        self, catalog: Catalog, identifier: ObjectIdentifier, table: objects.CatalogBaseTable
    ) -> FoundTable:
        """Return a permanent object of a catalog as sessions see it."""
        path, storage = identifier.to_object_path(), catalog.storage
        directory = None if storage is None else own_directory(catalog, path, table)
        visible = self._read(without_own_options(table))
        derived = catalog.connector_options(path, visible)
        if storage is not None and directory is not None:
            derived = storage.derived(visible, directory).options
        return FoundTable(
            identifier,
            visible,
            is_temporary=False,
            derived=derived,
            own_options=own_options_of(table),
        )

    def get_at(self, identifier: ObjectIdentifier, timestamp: int) -> FoundTable:
        """Return a table as it was at a time, in milliseconds since 1970.

        Errors are `table-not-found`, and `time-travel-not-supported` for a view, a temporary table,
        and by catalogs without versions.
        """
        shown = identifier.as_summary_string()
        catalog = self.registry.find(identifier.catalog_name)
        if self.temporary.tables.find(identifier) is not None:
            problem = f"{shown!r} is temporary: it has no earlier versions"
        elif catalog is None:
            return self.get(identifier)
        else:
            table = catalog.get_table_at(identifier.to_object_path(), timestamp)
            version = self._describe(catalog, identifier, table)
            visible = version.table
            if isinstance(visible, objects.ResolvedCatalogTable):
                return version
            problem = f"{shown!r} is a {visible.get_table_kind().value}: only tables have versions"
        raise UnsupportedError(
            problem,
            code="time-travel-not-supported",
            hint=READ_CURRENT_VERSION,
        )

    def find_stored(self, identifier: ObjectIdentifier) -> objects.CatalogBaseTable | None:
        """Return the permanent object at this path unresolved, as stored, or None."""
        table = self.find_raw(identifier)
        return None if table is None else without_own_options(table)

    def get_storage(self, identifier: ObjectIdentifier) -> ManagedStorage | None:
        """Return the storage of a table's catalog, None if it manages none."""
        catalog = self.registry.find(identifier.catalog_name)
        return None if catalog is None else catalog.storage

    def with_connector(
        self, identifier: ObjectIdentifier, table: objects.ResolvedCatalogTable
    ) -> objects.ResolvedCatalogTable:
        """Return a table that its catalog may not have yet, with the options of its connector."""
        catalog = self.registry.find(identifier.catalog_name)
        options = None
        if catalog is not None:
            options = catalog.connector_options(identifier.to_object_path(), table)
        return table if options is None else table.copy(options)

    def find_directory(self, identifier: ObjectIdentifier) -> str | None:
        """Return the directory of a managed table, or None; errors as `own_directory`."""
        catalog, path = self.registry.find(identifier.catalog_name), identifier.to_object_path()
        return None if catalog is None else own_directory(catalog, path, self.find_raw(identifier))

    def find_raw(self, identifier: ObjectIdentifier) -> objects.CatalogBaseTable | None:
        """Return the permanent object at this path with the options that sessions do not show."""
        catalog, path = self.registry.find(identifier.catalog_name), identifier.to_object_path()
        return None if catalog is None else catalog.find_table(path)

    def get(self, identifier: ObjectIdentifier) -> FoundTable:
        """Return the object at this path (`table-not-found`)."""
        if found := self.find(identifier):
            return found
        raise NotFoundError(
            f"there is no table or view {identifier.as_summary_string()!r}",
            code="table-not-found",
            hint=similar(identifier.object_name, self._names_beside(identifier)),
        ).of(*identifier.to_list())

    def _names_beside(self, identifier: ObjectIdentifier) -> list[str]:
        """Return the names of the tables in a database; of many only as many as `similar` reads."""
        catalog = self.registry.find(identifier.catalog_name)
        database = identifier.database_name
        temporary = self.temporary.table_names(identifier.catalog_name, database)
        if catalog is None or not catalog.database_exists(database):
            return temporary
        return sorted_names(catalog.find_table_names(database, limit=MAX_SIMILAR + 1), temporary)

    def permanent_kind(self, identifier: ObjectIdentifier) -> objects.TableKind | None:
        """Return the kind of the permanent object at this path, or None.

        It is not resolved: it may name functions and types that no longer exist.
        """
        catalog, path = self.registry.find(identifier.catalog_name), identifier.to_object_path()
        if catalog is None or not catalog.table_exists(path):
            return None
        try:
            return catalog.get_table_kind(path)
        except NotFoundError:  # dropped by another writer since
            return None

    def _permanent(self, wanted: objects.TableKind, identifier: ObjectIdentifier) -> ExistingObject:
        return ExistingObject.of(wanted, self.permanent_kind(identifier))

    # --- creating ------------------------------------------------------------------------------

    def create(
        self,
        identifier: ObjectIdentifier,
        table: objects.CatalogBaseTable,
        ignore_if_exists: bool,
        history: ColumnHistory | None = None,
        own_options: Mapping[str, str] | None = None,
    ) -> bool:
        """Store a table or view in its catalog; return whether it is new.

        Args:
            identifier: The path.
            table: The definition.
            ignore_if_exists: Whether to do nothing if there is one.
            history: The history of its columns, from another table with the same files.
            own_options: Options of this library, such as the directory of a managed table, by
                default a new one.

        Raises:
            AlreadyExistsError: `table-exists`.
            NotFoundError: `catalog-not-found` or `database-not-found`, also with
                `ignore_if_exists`.
            SchemaError: `reserved-option`.
        """
        require_no_own_options(table.options)
        resolved, kind = self._resolve(table), table.get_table_kind()
        catalog = self.registry.get(identifier.catalog_name)
        catalog.get_database(identifier.database_name)
        if not self._may_create(kind, identifier, ignore_if_exists):
            return False
        self._check(resolved, None)
        self._admit(identifier)
        stored = resolved if history is None else history.of_table(resolved)
        if catalog.storage is not None and is_managed(resolved):
            require_no_path(resolved)
            stored = with_directory(stored, new_directory(identifier))
        if own_options:
            stored = stored.copy({**stored.options, **own_options})
        try:
            catalog.create_table(identifier.to_object_path(), stored, ignore_if_exists=False)
        except AlreadyExistsError:  # created by another writer since
            if ignore_if_exists:
                return False
            self._may_create(kind, identifier, ignore_if_exists)
            raise
        return True

    def _may_create(
        self, kind: objects.TableKind, identifier: ObjectIdentifier, ignore: bool
    ) -> bool:
        cell = ddl_semantics.CREATE_PERMANENT[self._permanent(kind, identifier)]
        return decide(cell, ignore, NOUNS[kind], identifier)

    def create_temporary(
        self,
        identifier: ObjectIdentifier,
        table: objects.CatalogBaseTable,
        ignore_if_exists: bool,
        history: ColumnHistory | None = None,
    ) -> bool:
        """Create a temporary table or view at any path, as `create`; return whether it is new.

        Errors: `table-exists`, `reserved-option`.
        """
        require_no_own_options(table.options)
        resolved, kind = self._resolve(table), table.get_table_kind()
        self._check(resolved, None)
        with self._lock:
            there = ExistingObject.of(kind, self.temporary.kind(identifier))
            cell = ddl_semantics.CREATE_TEMPORARY[there]
            new = decide(cell, ignore_if_exists, NOUNS[kind], identifier)
            if new:
                stored = resolved if history is None else history.of_table(resolved)
                self.temporary.tables.create(identifier, stored, ignore_if_exists=False)
            return new

    # --- dropping and altering -----------------------------------------------------------------

    def drop(self, kind: objects.TableKind, identifier: ObjectIdentifier, if_exists: bool) -> bool:
        """Drop a permanent object as DROP TABLE and DROP VIEW do; return whether there was one.

        Errors: `table-not-found`, ...; `hidden-by-temporary` where a temporary
        object of the same kind exists at the path, also with `if_exists` (FLIP-64).
        """
        temporary = ExistingObject.of(kind, self.temporary.kind(identifier))
        cell = ddl_semantics.DROP_PERMANENT[temporary, self._permanent(kind, identifier)]
        if not decide(cell, if_exists, NOUNS[kind], identifier):
            return False
        return self.drop_permanent(identifier, if_exists)

    def drop_unless_hidden(
        self, kind: objects.TableKind, identifier: ObjectIdentifier, if_exists: bool
    ) -> bool:
        """Drop a permanent object as the method does; return whether there was one.

        Errors as `drop`, but `hidden-by-temporary` for a temporary object of any kind.
        """
        temporary = self.temporary.kind(identifier)
        cell = ddl_semantics.DROP_BY_METHOD[
            temporary is not None, self._permanent(kind, identifier)
        ]
        hider = NOUNS[temporary] if temporary is not None else None
        if not decide(cell, if_exists, NOUNS[kind], identifier, hidden_by=hider):
            return False
        return self.drop_permanent(identifier, if_exists)

    def drop_permanent(self, identifier: ObjectIdentifier, if_exists: bool) -> bool:
        """Drop the permanent object at this path, even if a temporary one hides it.

        Return whether there was one (`table-not-found`, unless `if_exists`). A managed table's
        directory is deleted, too.
        """
        catalog = self.registry.get(identifier.catalog_name)
        directory = directory_of(self.find_raw(identifier))
        try:
            catalog.drop_table(identifier.to_object_path(), ignore_if_not_exists=False)
        except NotFoundError:  # dropped by another writer since
            if not if_exists:
                raise
            return False
        remove_directory(catalog, identifier.to_object_path(), directory)
        return True

    def drop_temporary(
        self, kind: objects.TableKind, identifier: ObjectIdentifier, if_exists: bool
    ) -> bool:
        """Drop a temporary object of this kind; return whether there was one.

        Errors: `table-not-found`.
        """
        with self._lock:
            cell = ddl_semantics.DROP_TEMPORARY[
                ExistingObject.of(kind, self.temporary.kind(identifier))
            ]
            if not decide(cell, if_exists, f"temporary {NOUNS[kind]}", identifier):
                return False
            return self.temporary.tables.drop(identifier, ignore_if_not_exists=False)

    def find_alterable(
        self, kind: objects.TableKind, identifier: ObjectIdentifier, if_exists: bool
    ) -> objects.CatalogBaseTable | None:
        """Return the permanent object that an ALTER of this kind changes, unresolved.

        If there is none, or only a temporary one: None with `if_exists`, else `table-not-found`,
        ...
        """
        hidden = self.temporary.kind(identifier) is not None
        cell = ddl_semantics.ALTER[hidden, self._permanent(kind, identifier)]
        if not decide(cell, if_exists, NOUNS[kind], identifier):
            return None
        return self._catalog(identifier).get_table(identifier.to_object_path())

    def alter(
        self,
        identifier: ObjectIdentifier,
        table: objects.CatalogBaseTable,
        expected: objects.CatalogBaseTable,
        changes: Sequence[TableChange] | None = None,
    ) -> None:
        """Replace the definition of a permanent object.

        `changes` lead from `expected`, the definition that was read, to `table`; both are for a
        catalog that compares. It raises a `ConflictError` if the object has changed since.
        """
        new = self._resolve(table)
        self._check(without_own_options(new), expected)
        catalog, path = self._catalog(identifier), identifier.to_object_path()
        if Capability.VERSIONS in catalog.capabilities:
            given: dict[str, Any] = {"expected": expected}
            if changes is not None:
                given["changes"] = changes
            with masking_conflicts(self._secret_keys):
                catalog.alter_table(path, new, ignore_if_not_exists=False, **given)
        else:
            catalog.alter_table(path, new, ignore_if_not_exists=False)

    def read_or_stored(self, identifier: ObjectIdentifier) -> objects.CatalogBaseTable | None:
        """Return the permanent object at this path, resolved if its text still resolves, or None.

        Raises `ExternalError` where the catalog cannot return it.
        """
        try:
            stored = self.find_permanent(identifier)
        except SchemaCoreError:
            return self.find_stored(identifier)
        return stored.table if stored is not None else None

    def get_stored(self, identifier: ObjectIdentifier) -> object:
        """Return a permanent object in the catalog's own form, for `restore`."""
        return self._catalog(identifier).get_stored_table(identifier.to_object_path())

    def restore(
        self, identifier: ObjectIdentifier, stored: object, expected: objects.CatalogBaseTable
    ) -> None:
        """Put back a definition that `get_stored` returned; it does not have to resolve.

        Raises `ConflictError` if the current one is not `expected`, where the catalog can tell.
        """
        catalog, path = self._catalog(identifier), identifier.to_object_path()
        versions = Capability.VERSIONS in catalog.capabilities
        with masking_conflicts(self._secret_keys):
            catalog.restore_table(path, stored, expected=expected if versions else None)

    def rename(self, identifier: ObjectIdentifier, new_name: str) -> None:
        """Rename a permanent object within its database (`table-exists`)."""
        self._catalog(identifier).rename_table(
            identifier.to_object_path(), new_name, ignore_if_not_exists=False
        )

    def _catalog(self, identifier: ObjectIdentifier) -> Catalog:
        return self.registry.get(identifier.catalog_name)

    # --- listing -------------------------------------------------------------------------------

    def list_tables(self, catalog: str, database: str) -> list[str]:
        """Return the sorted names of the tables and views of a database, with temporary ones."""
        permanent = self.registry.get(catalog).list_tables(database)
        return sorted_names(permanent, self.temporary.table_names(catalog, database))

    def find_table_names(self, catalog: str, database: str, prefix: str) -> list[str]:
        """Return the names of `list_tables` that start with a prefix in any case."""
        permanent = self.registry.get(catalog).find_table_names(database, prefix)
        temporary = self.temporary.table_names(catalog, database)
        return sorted_names(permanent, names_starting_with(prefix, temporary))

    def list_views(self, catalog: str, database: str) -> list[str]:
        """Return the sorted names of the views of a database, with temporary ones."""
        permanent = self.registry.get(catalog).list_views(database)
        return sorted_names(
            permanent, self.temporary.table_names(catalog, database, objects.TableKind.VIEW)
        )

    # --- databases -----------------------------------------------------------------------------

    def create_database(
        self, catalog: str, name: str, database: objects.CatalogDatabase, ignore_if_exists: bool
    ) -> None:
        """Create a database (`database-exists`)."""
        self.registry.get(catalog).create_database(name, database, ignore_if_exists)

    def drop_database(self, catalog: str, name: str, if_exists: bool, cascade: bool) -> None:
        """Drop a database that is not the current one; temporary objects at its paths stay.

        Errors: `database-not-found`; `object-in-use`; `database-not-empty` without `cascade`.
        """
        current = self.registry.current_path
        if current == (catalog, name):
            raise SchemaError(
                f"the database {name!r} is in use",
                code="object-in-use",
                hint="select another one with USE first",
            )
        opened = self.registry.get(catalog)
        directories: dict[ObjectPath, str | None] = {}
        if cascade and opened.storage is not None and opened.database_exists(name):
            for table in opened.list_tables(name):
                identifier = ObjectIdentifier.of(catalog, name, table)
                directories[identifier.to_object_path()] = directory_of(self.find_raw(identifier))
        opened.drop_database(name, if_exists, cascade)
        for path, directory in directories.items():
            remove_directory(opened, path, directory)


# --- models ---------------------------------------------------------------------------------------


class ModelManager:
    """The models of a session.

    `resolve` resolves a model; `check` raises for one whose text would not read back as itself.
    Unlike a table, a permanent model may be dropped while a temporary one hides it.
    """

    def __init__(
        self,
        registry: CatalogRegistry,
        temporary: TemporaryObjects,
        resolve: Callable[[objects.CatalogModel], objects.ResolvedCatalogModel],
        check: Callable[[objects.ResolvedCatalogModel], None] = lambda model: None,
    ) -> None:
        self._registry = registry
        self._temporary = temporary
        self._resolve = resolve
        self._check = check

    def find(self, identifier: ObjectIdentifier) -> objects.ResolvedCatalogModel | None:
        if (temporary := self._temporary.models.find(identifier)) is not None:
            return temporary
        catalog, path = self._registry.find(identifier.catalog_name), identifier.to_object_path()
        if catalog is None or not catalog.model_exists(path):
            return None
        return self._resolve(catalog.get_model(path))

    def stored(self, identifier: ObjectIdentifier) -> objects.CatalogModel | None:
        """Return the permanent model at this path unresolved, as stored, or None."""
        catalog, path = self._registry.find(identifier.catalog_name), identifier.to_object_path()
        if catalog is None or not catalog.model_exists(path):
            return None
        return catalog.get_model(path)

    def get(self, identifier: ObjectIdentifier) -> objects.ResolvedCatalogModel:
        """Return the model at this path (`model-not-found`)."""
        if model := self.find(identifier):
            return model
        raise missing("model", identifier.as_summary_string())

    def is_temporary(self, identifier: ObjectIdentifier) -> bool:
        return identifier in self._temporary.models

    def create(
        self, identifier: ObjectIdentifier, model: objects.CatalogModel, ignore_if_exists: bool
    ) -> None:
        """Store a model in its catalog (`model-exists`, `not-representable`)."""
        catalog = self._registry.get(identifier.catalog_name)
        resolved = self._resolve(model)
        self._check(resolved)
        catalog.create_model(identifier.to_object_path(), resolved, ignore_if_exists)

    def alter(
        self,
        identifier: ObjectIdentifier,
        model: objects.CatalogModel,
        expected: objects.CatalogModel,
    ) -> None:
        """Replace the definition of a permanent model (`not-representable`).

        Raises `ConflictError` if it has changed since it was read and the catalog compares.
        """
        catalog = self._registry.get(identifier.catalog_name)
        new, path = self._resolve(model), identifier.to_object_path()
        self._check(new)
        alter = partial(catalog.alter_model, path, new, ignore_if_not_exists=False)
        alter_if_unchanged(catalog.capabilities, alter, expected)

    def create_temporary(
        self, identifier: ObjectIdentifier, model: objects.CatalogModel, ignore_if_exists: bool
    ) -> None:
        """Create a temporary model at any path (`model-exists`)."""
        self._temporary.models.create(identifier, self._resolve(model), ignore_if_exists)

    def drop(self, identifier: ObjectIdentifier, if_exists: bool) -> bool:
        """Drop a permanent model (`model-not-found`); return whether there was one."""
        catalog, path = self._registry.find(identifier.catalog_name), identifier.to_object_path()
        if catalog is None or not catalog.model_exists(path):
            if not if_exists:
                raise missing("model", identifier.as_summary_string())
            return False
        catalog.drop_model(path, ignore_if_not_exists=if_exists)
        return True

    def drop_unless_hidden(self, identifier: ObjectIdentifier, if_exists: bool) -> bool:
        """Drop a permanent model as the method does; return whether there was one.

        Errors: `model-not-found`; `hidden-by-temporary` where a temporary model exists at the path,
        also with `if_exists` (FLIP-64).
        """
        if self.is_temporary(identifier):
            raise SchemaError(
                f"a temporary model hides {identifier.as_summary_string()!r}",
                code="hidden-by-temporary",
                hint="drop the temporary model first",
            )
        return self.drop(identifier, if_exists)

    def drop_temporary(self, identifier: ObjectIdentifier, if_exists: bool) -> bool:
        """Drop a temporary model (`model-not-found`); return whether there was one."""
        return self._temporary.models.drop(identifier, ignore_if_not_exists=if_exists)

    def list_models(self, catalog: str, database: str) -> list[str]:
        """Return the sorted names of the permanent models of a database."""
        return sorted(self._registry.get(catalog).list_models(database))


# --- user-defined types ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TypeManager:
    """The user-defined types of a session.

    FLIP-164: a schema has access to catalogs for declaring a data type. Flink cannot store one; the
    rules are those of tables: a temporary type hides the permanent one of its path (FLIP-64), names
    are qualified with the current catalog and database.
    """

    registry: CatalogRegistry
    temporary: TemporaryObjects

    # --- looking up ----------------------------------------------------------------------------

    def find(self, identifier: ObjectIdentifier) -> DataType | None:
        type_ = self.temporary.types.find(identifier) or self._permanent(identifier)
        return type_.named(identifier) if type_ else None

    def _permanent(self, identifier: ObjectIdentifier) -> objects.CatalogType | None:
        catalog, path = self.registry.find(identifier.catalog_name), identifier.to_object_path()
        if catalog is None or not catalog.type_exists(path):
            return None
        return catalog.get_type(path)

    def look_up(self, written: UnresolvedType) -> DataType:
        """Return the type of a name in a schema or cast, or the name itself if there is none."""
        identifier = self.registry.qualify(UnresolvedPath(written.path))
        return self.find(identifier) or written

    def list_types(self, catalog: str, database: str) -> list[str]:
        """Return the sorted names of the permanent types of a database."""
        return sorted_names(self.registry.get(catalog).list_types(database))

    # --- creating and dropping -----------------------------------------------------------------

    def define(self, definition: object, description: str | None = None) -> objects.CatalogType:
        """Return the catalog object of a type, a type string or a Python class.

        Names of user-defined types are looked up (`type-not-found`). Raises `SchemaError` for a
        value that does not describe a type.
        """
        return objects.CatalogType(
            DataTypes.unresolved(definition).resolve(self.look_up), description
        )

    def create(
        self, identifier: ObjectIdentifier, kept: objects.CatalogType, ignore_if_exists: bool
    ) -> None:
        """Store a type in its catalog (`type-exists`, `unsupported-capability`)."""
        catalog = self.registry.get(identifier.catalog_name)
        catalog.create_type(identifier.to_object_path(), kept, ignore_if_exists)

    def create_temporary(
        self, identifier: ObjectIdentifier, kept: objects.CatalogType, ignore_if_exists: bool
    ) -> None:
        """Create a temporary type at any path (`type-exists`)."""
        self.temporary.types.create(identifier, kept, ignore_if_exists)

    def drop(self, identifier: ObjectIdentifier, if_exists: bool) -> bool:
        """Drop a permanent type; return whether there was one. Columns of the type stay.

        Errors: `type-not-found`; `hidden-by-temporary` (FLIP-64), also with `if_exists`.
        """
        if identifier in self.temporary.types:
            raise SchemaError(
                f"a temporary type hides {identifier.as_summary_string()!r}",
                code="hidden-by-temporary",
                hint="drop the temporary type first",
            )
        catalog, path = self.registry.find(identifier.catalog_name), identifier.to_object_path()
        if catalog is None or not catalog.type_exists(path):
            if if_exists:
                return False
            raise missing("type", identifier.as_summary_string())
        catalog.drop_type(path, ignore_if_not_exists=if_exists)
        return True

    def drop_temporary(self, identifier: ObjectIdentifier, if_exists: bool) -> bool:
        """Drop a temporary type (`type-not-found`); return whether there was one."""
        return self.temporary.types.drop(identifier, ignore_if_not_exists=if_exists)
