"""The objects of an Iceberg catalog: namespaces as databases, tables, and views."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final, Literal

from pyiceberg.catalog import Catalog
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import (
    CommitFailedException,
    NamespaceAlreadyExistsError,
    NamespaceNotEmptyError,
    NoSuchNamespaceError,
    NoSuchTableError,
    TableAlreadyExistsError,
)
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.table.sorting import SortOrder
from pyiceberg.table.update import (
    AddPartitionSpecUpdate,
    AddSchemaUpdate,
    AddSortOrderUpdate,
    RemovePropertiesUpdate,
    SetCurrentSchemaUpdate,
    SetDefaultSortOrderUpdate,
    SetDefaultSpecUpdate,
    SetPropertiesUpdate,
    TableRequirement,
    TableUpdate,
    UpgradeFormatVersionUpdate,
    ValidatableTableRequirement,
)
from pyiceberg.view import View
from sqlalchemy.exc import IntegrityError

from schema_core.base.lazy import dataclass
from schema_core.base.text import quote_identifier
from schema_core.catalog import objects
from schema_core.catalog.objects import TableKind
from schema_core.catalog.stores.object_store import (
    ObjectKey,
    StoredKind,
    exists,
    missing,
    not_empty,
    require_name,
)
from schema_core.catalogs.iceberg import rest
from schema_core.catalogs.iceberg.definitions import (
    FORMAT_VERSION,
    StoredDefinition,
    decode_table,
    decode_view,
    encode_definition,
    view_columns,
    view_properties,
)
from schema_core.catalogs.iceberg.purging import purge_table
from schema_core.catalogs.iceberg.views import NoViews, SqlViews, ViewDefinition, Views
from schema_core.connectors.iceberg.client import (
    iceberg_errors,
    load_table,
    open_catalog,
    require_version,
)
from schema_core.connectors.iceberg.options import (
    CATALOG_DATABASE,
    CATALOG_TABLE,
    CONNECTION,
    DEFAULT_VERSION,
)
from schema_core.connectors.open_tables.definitions import (
    COMMENT,
    declared_fields,
    is_native,
    require_no_chosen_options,
)
from schema_core.environment.options import ConfigOption
from schema_core.errors import NotFoundError, SchemaError, UnsupportedError, at
from schema_core.mappings.iceberg.partitioning import make_order, make_spec
from schema_core.mappings.iceberg.schemas import (
    FieldPath,
    SchemaEvolution,
    evolve_schema,
    former_names,
    new_schema,
    require_no_narrowing,
    same_fields,
)
from schema_core.types import RowType

if TYPE_CHECKING:
    from pyiceberg.table.metadata import TableMetadata

#: The longest name, of the columns of Iceberg's tables in SQL databases.
MAX_NAME: Final = 255
#: The property of namespaces without others, in a SQL database.
EXISTS: Final = "exists"
#: The options of connectors that the catalog chooses.
CHOSEN: Final = (
    *CONNECTION,
    CATALOG_DATABASE,
    CATALOG_TABLE,
    ConfigOption("path", str, None, "the directory, as of other connectors"),
)
LOCATION_HINT: Final = "omit it; the directory of a new table is its option 'location'"
#: Whether the files of a table may be deleted.
GC_ENABLED: Final = "gc.enabled"
#: How often a database without tables may be found not empty by CASCADE: other writers create and
#: drop tables, but what the catalog does not list, such as tables of other formats, stays.
MAX_HIDDEN: Final = 10
#: The longest part of a name in the name of a directory.
MAX_DIRECTORY: Final = 40


class AssertDefinition(ValidatableTableRequirement):  # type: ignore[misc] # as in `views`
    """The definition of a table must be as it was read; its rows may have changed."""

    type: Literal["assert-definition"] = "assert-definition"
    definition: Any

    def validate(self, base_metadata: TableMetadata | None) -> None:
        if base_metadata is None or _definition_of(base_metadata) != self.definition:
            raise CommitFailedException("the definition of the table has changed")


def _definition_of(metadata: TableMetadata) -> tuple[Any, ...]:
    return (
        str(metadata.table_uuid), metadata.format_version, metadata.current_schema_id,
        metadata.default_spec_id, metadata.default_sort_order_id, dict(metadata.properties),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class IcebergObject:
    """A namespace (its properties), table or view of a catalog."""

    key: ObjectKey
    content: Any = field(repr=False)

    @property
    def value(self) -> Any:
        if self.key.kind is StoredKind.DATABASE:
            properties = dict(self.content)
            if properties.get(EXISTS) == "true":
                del properties[EXISTS]
            comment = properties.pop(COMMENT, None)
            return objects.CatalogDatabase(properties, comment)
        with at(f"table {self.key.name!r}"):
            if isinstance(self.content, View):
                return decode_view(self.content)
            return decode_table(self.content)

    @property
    def table_kind(self) -> TableKind:
        return TableKind.VIEW if isinstance(self.content, View) else TableKind.TABLE

    def is_stored_form_of(self, expected: Any) -> bool:
        return False


class IcebergStore:
    """The objects of a catalog, opened from its options at first use.

    Each change is one commit: Iceberg has no transactions over several tables.
    """

    compared: frozenset[StoredKind] = frozenset({StoredKind.TABLE})

    def __init__(self, name: str, options: Mapping[str, str]) -> None:
        self._name, self._options = name, options
        self._catalog: Catalog | None = None

    @property
    def catalog(self) -> Catalog:
        """The catalog of pyiceberg."""
        if self._catalog is None:
            self._catalog = open_catalog(self._name, self._options)
        return self._catalog

    @property
    def views(self) -> Views:
        match self.catalog:
            case SqlCatalog():
                return SqlViews(self.catalog)
            case RestCatalog():
                return rest.RestViews(self.catalog)
        return NoViews()

    def open(self) -> None:
        _ = self.catalog

    def close(self) -> None:
        if self._catalog is not None:
            self._catalog.close()
            self._catalog = None

    @contextmanager
    def transaction(self, writing: bool = False) -> Iterator[IcebergStore]:
        with iceberg_errors():
            yield self

    def check_name(self, kind: StoredKind, name: str) -> None:
        require_name(kind, name)
        if len(name) > MAX_NAME:
            raise UnsupportedError(
                f"a name of {len(name):,} characters exceeds the {MAX_NAME} that Iceberg stores",
                code="name-not-supported",
            )
        if re.search("[.\\x00\\ud800-\\udfff]", name) or name != name.strip():
            raise UnsupportedError(
                f"invalid characters in the {kind.value} name {name[:60]!r}",
                code="name-not-supported",
                hint="omit dots, which separate namespaces, and blanks at the beginning and end",
            )

    # --- reading -------------------------------------------------------------------------------

    def properties_of(self, database: str, name: str) -> Mapping[str, str]:
        """Return the properties of a table; none if there is no table."""
        try:
            with iceberg_errors():
                table = load_table(self.catalog, (*_namespace(database), name))
        except NotFoundError:
            return {}
        properties: Mapping[str, str] = table.properties
        return properties

    def exists(self, key: ObjectKey, parent: IcebergObject | None = None) -> bool:
        return self.get(key, parent) is not None

    def get(
        self, key: ObjectKey, parent: IcebergObject | None = None, *, lock: bool = False
    ) -> IcebergObject | None:
        namespace = _namespace(key.database)
        if not all(map(str.strip, namespace)):
            return None
        try:
            match key.kind:
                case StoredKind.DATABASE:
                    properties = self.catalog.load_namespace_properties(namespace)
                    return IcebergObject(key, properties)
                case StoredKind.TABLE:
                    return IcebergObject(key, load_table(self.catalog, (*namespace, key.name)))
        except (NoSuchNamespaceError, NoSuchTableError):
            if key.kind is StoredKind.TABLE:
                view = self.views.get(namespace, key.name)
                return None if view is None else IcebergObject(key, view)
        return None

    def names(self, kind: StoredKind, parent: IcebergObject | None) -> list[str]:
        if parent is None:
            return self._database_names(())
        if kind is not StoredKind.TABLE:
            return []
        return [name for kind in TableKind for name in self.table_names(parent, kind)]

    def _database_names(self, parent: tuple[str, ...]) -> list[str]:
        names = []
        for namespace in sorted(rest.list_namespaces(self.catalog, parent)):
            names += [".".join(namespace), *self._database_names(tuple(namespace))]
        return names

    def table_names(self, database: IcebergObject, table_kind: TableKind) -> list[str]:
        namespace = _namespace(database.key.database)
        match table_kind:
            case TableKind.TABLE:
                return [identifier[-1] for identifier in self.catalog.list_tables(namespace)]
            case TableKind.VIEW:
                return self.views.names(namespace)
        return []

    def partitions(self, table: IcebergObject) -> list[objects.CatalogPartitionSpec]:
        return []

    def is_empty(self, database: IcebergObject) -> bool:
        namespace = _namespace(database.key.database)
        return not (
            self.names(StoredKind.TABLE, database) or rest.list_namespaces(self.catalog, namespace)
        )

    # --- writing -------------------------------------------------------------------------------

    def create(self, key: ObjectKey, value: Any, parent: IcebergObject | None) -> bool:
        namespace = _namespace(key.database)
        if key.kind is StoredKind.DATABASE:
            try:
                self.catalog.create_namespace(namespace, self._database_properties(value))
            except (NamespaceAlreadyExistsError, IntegrityError):
                return False
            return True
        if isinstance(value, objects.ResolvedCatalogView):
            if self.get(key) is not None:
                return False
            return self.views.create(namespace, key.name, self._view(key, value, parent))
        if is_native(value):
            require_no_chosen_options(value.options, {}, CHOSEN, LOCATION_HINT)
        stored = encode_definition(value)
        version = stored.version or DEFAULT_VERSION
        require_version(version)
        schema = new_schema(stored.columns, stored.key, nanoseconds=stored.nanoseconds)
        try:
            self.catalog.create_table(
                (*namespace, key.name),
                schema,
                location=stored.location or self._location(key, parent),
                partition_spec=make_spec(stored.partitions, schema),
                sort_order=make_order(stored.order, schema),
                properties={**stored.properties, FORMAT_VERSION: version},
            )
        except (TableAlreadyExistsError, NoSuchNamespaceError):
            return False
        return True

    def _database_properties(self, database: objects.CatalogDatabase) -> dict[str, str]:
        properties = database.get_properties()
        for reserved in (COMMENT, EXISTS):
            if reserved in properties:
                raise UnsupportedError(
                    f"the property {reserved!r} of a database is reserved in Iceberg",
                    code="not-representable",
                    hint="use COMMENT for the comment, and another name for a property",
                )
        if database.comment is not None:
            properties[COMMENT] = database.comment
        return properties | ({EXISTS: "true"} if isinstance(self.catalog, SqlCatalog) else {})

    def _location(self, key: ObjectKey, parent: IcebergObject | None) -> str | None:
        """Return a new directory for a table; None if the catalog chooses it.

        A name may be used again after DROP or RENAME, so a suffix makes the directory unique.
        """
        root = self.catalog.properties.get("warehouse")
        if not isinstance(self.catalog, SqlCatalog) or root is None:
            return None
        root = (parent.content if parent is not None else {}).get("location") or root
        database, name = (re.sub(r"\W", "_", text, flags=re.ASCII)[:MAX_DIRECTORY]
                          for text in (key.database, key.name))  # fmt: skip
        return f"{root.rstrip('/')}/{database}/{name}-{uuid.uuid4().hex[:12]}"

    def _view(
        self, key: ObjectKey, view: objects.ResolvedCatalogView, parent: IcebergObject | None
    ) -> ViewDefinition:
        schema = new_schema(view_columns(view), (), nanoseconds=True)
        location = self._location(key, parent) or ""
        return ViewDefinition(schema, view.expanded_query, view_properties(view), location)

    def replace(self, stored: IcebergObject, value: Any) -> bool:
        return self.alter(stored, value, ())

    def alter(
        self, stored: IcebergObject, value: Any, renames: Sequence[tuple[FieldPath, str]]
    ) -> bool:
        """Store another definition; return False if the object has changed since it was read.

        `renames` are the paths of renamed columns and fields, and their new names, in order.
        """
        namespace, name = _namespace(stored.key.database), stored.key.name
        if stored.key.kind is StoredKind.DATABASE:
            properties = self._database_properties(value)
            removed = set(stored.content) - set(properties)
            self.catalog.update_namespace_properties(namespace, removed, properties)
            return True
        if isinstance(stored.content, View):
            view = self._view(stored.key, value, None)
            return self.views.replace(namespace, name, stored.content, view)
        if is_native(value):
            require_no_chosen_options(
                value.options, stored.content.properties, CHOSEN, LOCATION_HINT
            )
        changed = _changed_table(stored.content, value, renames)
        before = stored.content.metadata.format_version
        if changed.version != before or not isinstance(self.catalog, RestCatalog):
            require_version(changed.version)  # a REST server writes the metadata itself
        return self._commit(stored.content, changed)

    def restore(self, stored: IcebergObject, earlier: IcebergObject) -> bool:
        if isinstance(stored.content, View):
            view = earlier.content
            new = ViewDefinition(
                view.schema(),
                view.current_version().representations[0].root.sql,
                dict(view.metadata.properties),
                "",
            )
            namespace, name = _namespace(stored.key.database), stored.key.name
            return self.views.replace(namespace, name, stored.content, new)
        metadata = earlier.content.metadata
        changed = ChangedTable(
            metadata.schema(),
            metadata.spec(),
            earlier.content.sort_order(),
            dict(metadata.properties),
            stored.content.metadata.format_version,
        )
        return self._commit(stored.content, changed)

    def _commit(self, table: Table, changed: ChangedTable) -> bool:
        metadata = table.metadata
        updates = tuple(_updates(metadata, changed))
        requirements: tuple[TableRequirement, ...] = (
            AssertDefinition(definition=_definition_of(metadata)),
        )
        if isinstance(self.catalog, RestCatalog):  # the server evaluates its own requirements
            requirements = rest.requirements(metadata)
            updates = (*updates, *rest.claim_field_id(metadata, changed.schema))
        try:
            self.catalog.commit_table(table, requirements, updates)
        except CommitFailedException:
            return False
        return True

    def rename(self, stored: IcebergObject, new_name: str) -> bool:
        namespace, name = _namespace(stored.key.database), stored.key.name
        if isinstance(stored.content, View):
            return self.views.rename(namespace, name, new_name)
        try:
            self.catalog.rename_table((*namespace, name), (*namespace, new_name))
        except (NoSuchTableError, TableAlreadyExistsError):
            return False
        return True

    def delete(
        self, key: ObjectKey, parent: IcebergObject | None = None, *, cascade: bool = True
    ) -> bool:
        """Delete an object; with a table also its files, unless its `gc.enabled` is false.

        A database in which others are is refused (`database-not-empty`): they are databases of
        their own, which CASCADE does not drop.
        """
        namespace = _namespace(key.database)
        if key.kind is StoredKind.TABLE:
            return self.exists(key) and self._drop_table(namespace, key.name)
        hidden = 0
        while True:
            database = self.get(key)
            if database is None:
                return False
            _require_no_inner(key.database, self._database_names(namespace))
            names = self.names(StoredKind.TABLE, database) if cascade else []
            for name in names:
                self._drop_table(namespace, name)
            try:
                self.catalog.drop_namespace(namespace)
            except NoSuchNamespaceError:
                return False
            except NamespaceNotEmptyError as error:
                hidden = 0 if names or self.names(StoredKind.TABLE, database) else hidden + 1
                if not cascade or hidden == MAX_HIDDEN:
                    raise not_empty(key.database) from error
                continue
            if not self.catalog.namespace_exists(namespace):
                return True

    def _drop_table(self, namespace: tuple[str, ...], name: str) -> bool:
        identifier = (*namespace, name)
        try:
            table = load_table(self.catalog, identifier)
            if table.properties.get(GC_ENABLED, "true").lower() == "false":
                self.catalog.drop_table(identifier)
            else:
                purge_table(self.catalog, identifier, table)
        except (NoSuchTableError, NoSuchNamespaceError):
            return self.views.drop(namespace, name)
        return True

    def register(self, table: str, metadata_file: str) -> str:
        """Add a table to the catalog, whose files exist, and return its path.

        Errors: `invalid-path`, `table-exists`, `database-not-found`, `external-failure` for a
        file that is not Iceberg's metadata of a table.
        """
        *namespace, name = _table_names(table)
        key = ObjectKey(StoredKind.TABLE, ".".join(namespace), name)
        if key.parent is not None and not self.exists(key.parent):
            raise missing("database", key.database)
        if self.exists(key):
            raise exists("table", key)
        self.check_name(key.kind, name)
        with iceberg_errors():
            self.catalog.register_table((*namespace, name), metadata_file)
        return str(key)

    def unregister(self, table: str) -> str:
        """Drop a table without its files, and return the path of its metadata.

        Errors: `table-not-found`, also for a view.
        """
        identifier = _table_names(table)
        with iceberg_errors():
            try:
                file: str = load_table(self.catalog, identifier).metadata_location
                self.catalog.drop_table(identifier)
            except (NoSuchTableError, NoSuchNamespaceError):
                raise missing("table", table) from None
        return file


def _namespace(database: str) -> tuple[str, ...]:
    return tuple(database.split("."))


def _table_names(table: str) -> tuple[str, ...]:
    """Return the namespace and the name of a table, in one string as in Iceberg's procedures."""
    names = tuple(table.split("."))
    if len(names) < 2 or not all(name.strip() for name in names):
        raise SchemaError(
            f"{table!r} does not name a table",
            code="invalid-path",
            hint="write the database and the table, such as 'default.orders'",
        )
    return names


def _require_no_inner(database: str, inner: list[str]) -> None:
    if inner:
        raise SchemaError(
            f"the database {database!r} contains {', '.join(map(quote_identifier, inner))}",
            code="database-not-empty",
            hint="drop these databases first",
        )


# --- altering ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ChangedTable:
    """What a table is after a change."""

    schema: Schema
    spec: PartitionSpec
    order: SortOrder
    properties: dict[str, str]
    version: int


def _changed_table(
    table: Table, value: objects.ResolvedCatalogTable, renames: Sequence[tuple[FieldPath, str]]
) -> ChangedTable:
    """Return a table after it was altered (`not-representable` for what Iceberg does not allow)."""
    metadata = table.metadata
    stored = encode_definition(value, metadata.properties)
    has_rows = bool(metadata.snapshots)
    if has_rows and not is_native(value):
        raise UnsupportedError(
            "a table with rows in Iceberg cannot have another connector",
            code="not-representable",
            hint="create another table",
        )
    version = int(stored.version or DEFAULT_VERSION)
    if version < metadata.format_version:
        raise UnsupportedError(
            f"the version of the format cannot be lowered from {metadata.format_version} to "
            f"{version}",
            code="not-representable",
            hint=f"keep the option {FORMAT_VERSION!r}",
        )
    if stored.location is not None and stored.location.rstrip("/") != metadata.location:
        raise UnsupportedError(
            "the location of a table cannot be changed",
            code="not-representable",
            hint="create another table with the location",
        )
    nanoseconds = version >= 3
    names = former_names(renames)
    if has_rows:
        old = RowType([*declared_fields(decode_table(table))])
        require_no_narrowing(old, RowType([*stored.columns]), names)
    schema = evolve_schema(
        metadata.schema(),
        stored.columns,
        stored.key,
        metadata.last_column_id,
        lambda next_id: SchemaEvolution(next_id, names, has_rows, nanoseconds),
    )
    return ChangedTable(
        schema,
        _changed_spec(metadata, stored, schema),
        make_order(stored.order, schema, metadata.sort_orders),
        dict(stored.properties),
        version,
    )


def _changed_spec(
    metadata: TableMetadata, stored: StoredDefinition, schema: Schema
) -> PartitionSpec:
    spec = make_spec(
        stored.partitions, schema, metadata.partition_specs, metadata.last_partition_id or 0
    )
    if metadata.format_version == 1 and metadata.snapshots and spec != metadata.spec():
        raise UnsupportedError(
            "the partitions of a table of version 1 cannot be changed",
            code="not-representable",
            hint=f"SET ({FORMAT_VERSION!r} = '2') first",
        )
    return spec


def _updates(metadata: TableMetadata, changed: ChangedTable) -> Iterator[TableUpdate]:
    """Yield the updates of a table's metadata."""
    if changed.version != metadata.format_version:
        yield UpgradeFormatVersionUpdate(format_version=changed.version)
    if not same_fields(changed.schema, metadata.schema()):
        same = [item.schema_id for item in metadata.schemas if same_fields(item, changed.schema)]
        if not same:
            number = 1 + max(item.schema_id for item in metadata.schemas)
            schema = changed.schema.model_copy(update={"schema_id": number})
            yield AddSchemaUpdate(schema=schema)
        yield SetCurrentSchemaUpdate(schema_id=same[0] if same else -1)
    if changed.spec.fields != metadata.spec().fields:
        known = [item.spec_id for item in metadata.partition_specs]
        if changed.spec.spec_id not in known:
            yield AddPartitionSpecUpdate(spec=changed.spec)
        yield SetDefaultSpecUpdate(
            spec_id=changed.spec.spec_id if changed.spec.spec_id in known else -1
        )
    if changed.order.order_id != metadata.default_sort_order_id:
        orders = [item.order_id for item in metadata.sort_orders]
        if changed.order.order_id not in orders:
            yield AddSortOrderUpdate(sort_order=changed.order)
        # -1 is the order that was added, unless it is the empty one, whose number is always 0
        is_fixed = changed.order.is_unsorted or changed.order.order_id in orders
        yield SetDefaultSortOrderUpdate(sort_order_id=changed.order.order_id if is_fixed else -1)
    old = metadata.properties
    if removed := sorted(set(old) - set(changed.properties)):
        yield RemovePropertiesUpdate(removals=removed)
    new = {key: item for key, item in changed.properties.items() if old.get(key) != item}
    if new:
        yield SetPropertiesUpdate(updates=new)
