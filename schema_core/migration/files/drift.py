"""Objects as migrations have left them: recorded in the history, and compared with the catalog."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from schema_core.base.paths import ObjectIdentifier, ObjectPath
from schema_core.base.secrets import mask, mask_query
from schema_core.catalog.api import Capability, Catalog, rolled_back
from schema_core.catalog.changes.catalog_changes import REFRESH_STATE, apply_to_catalog
from schema_core.catalog.migration_history import RecordedObject
from schema_core.catalog.objects import (
    CatalogBaseTable,
    CatalogDatabase,
    CatalogMaterializedTable,
    TableKind,
)
from schema_core.environment.connector import secret_keys
from schema_core.environment.table_environment import TableEnvironment
from schema_core.environment.view_states import ViewState
from schema_core.errors import at
from schema_core.migration.catalog_differences import CatalogContent, diff_catalogs
from schema_core.migration.files.acceptances import kinds_accepted_in
from schema_core.migration.files.script_execution import ScriptExecutor
from schema_core.migration.gates.view_checks import BREAKS_VIEW, find_broken_views
from schema_core.properties.property_map import (
    EXPANDED,
    ORIGINAL,
    decode_object,
    encode_object,
)

#: Properties with a query, in which hints may have secrets.
QUERIES: Final = frozenset({ORIGINAL, EXPANDED})
#: The kind of a database in the history.
DATABASE: Final = "DATABASE"


def record_object(
    environment: TableEnvironment, catalog: Catalog, database: str, name: str
) -> RecordedObject:
    """Return an object, or a database without a name, for the history; secrets are masked."""
    manager = environment.catalog_manager
    with at(f"{database}.{name}" if name else database):
        if not name:
            return _recorded_database(catalog, database)
        identifier = ObjectIdentifier.of(manager.registry.current_catalog or "", database, name)
        entry = manager.find_permanent(identifier)
        if entry is None:
            return RecordedObject(database, name, TableKind.TABLE.value, None)
        options = entry.table.get_options()
        masked = entry.table.copy(mask(options, secret_keys(options)))
        if isinstance(masked, CatalogMaterializedTable):  # a refresh is not a change
            masked = replace(masked, **REFRESH_STATE)
        properties = {
            key: mask_query(value) if key in QUERIES else value
            for key, value in encode_object(masked).items()
        }
        return RecordedObject(database, name, entry.kind.value, properties)


def _recorded_database(catalog: Catalog, name: str) -> RecordedObject:
    if not catalog.database_exists(name):
        return RecordedObject(name, "", DATABASE, None)
    database = catalog.get_database(name)
    pairs = mask(database.get_properties()).items()
    properties = {f"properties.{key}": value for key, value in pairs}
    if database.comment is not None:
        properties["comment"] = database.comment
    return RecordedObject(name, "", DATABASE, properties)


def iterate_keys(catalog: Catalog) -> Iterator[tuple[str, str]]:
    """Yield the databases, with '', and the tables and views of a catalog, as in the history.

    Materialized tables are among them.
    """
    for database in catalog.list_databases():
        names = [*catalog.list_tables(database), *catalog.list_views(database)]
        if Capability.MATERIALIZED_TABLES in catalog.capabilities:
            names += catalog.list_materialized_tables(database)
        yield from ((database, name) for name in dict.fromkeys(["", *names]))


def compare_with_history(executor: ScriptExecutor) -> tuple[CatalogContent, CatalogContent]:
    """Return what migrations have left and what there is now, of objects that differ."""
    catalog = executor.catalog
    left: dict[tuple[str, str], RecordedObject] = {}
    with executor.using(catalog):
        unfinished = catalog.find_unfinished_migration()
        for migration in (*catalog.list_migrations(), *filter(None, [unfinished])):
            left |= {(object_.database, object_.name): object_ for object_ in migration.objects}
        current = {key: record_object(executor.environment, catalog, *key) for key in left}
    differing = [key for key, value in left.items() if current[key] != value]
    recorded, stored = (
        _content([objects[key] for key in differing]) for objects in (left, current)
    )
    return recorded, stored


def _content(objects: Sequence[RecordedObject]) -> CatalogContent:
    databases, tables = {}, dict[ObjectPath, CatalogBaseTable]()
    for object_ in objects:
        if object_.properties is None:
            continue
        if object_.kind == DATABASE:
            properties = {
                key.removeprefix("properties."): value
                for key, value in object_.properties.items()
                if key.startswith("properties.")
            }
            databases[object_.database] = CatalogDatabase(
                properties, object_.properties.get("comment")
            )
        else:
            path = ObjectPath(object_.database, object_.name)
            tables[path] = decode_object(TableKind(object_.kind), object_.properties)
    return CatalogContent(databases, tables)


def find_views_broken_outside(executor: ScriptExecutor) -> tuple[ViewState, ...]:
    """Return the views that changes outside of migrations have broken.

    These are views that do not work now, and that worked when a migration created or altered
    them, or as long as the catalog was as the migrations have left it.

    Raises:
        SchemaCoreError: as `drift`.
    """
    environment = executor.environment
    with executor.using(executor.catalog):
        after = environment.read_view_states()
    if all(state.problem is None for state in after.values()):
        return ()
    left, current = compare_with_history(executor)
    with rolled_back(executor.catalog) as catalog, executor.using(catalog):
        apply_to_catalog(diff_catalogs(current, left), catalog)
        before = environment.read_view_states()
    recorded: dict[ObjectPath, object] = {}
    for migration in executor.catalog.list_migrations():
        for object_ in () if migration.stamped else migration.objects:
            recorded[ObjectPath(object_.database, object_.name)] = object_.properties
        if BREAKS_VIEW in kinds_accepted_in(migration.text.splitlines()):
            recorded.clear()  # it may have broken views that worked
    worked = {
        identifier: replace(state, problem=None)
        if recorded.get(identifier.to_object_path())
        else state
        for identifier, state in before.items()
    }
    return find_broken_views(worked, after)
