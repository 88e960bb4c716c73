"""The changes between two catalogs: databases, tables, views and materialized tables.

Law: after ``apply_to_catalog(diff_catalogs(a, b), a)``, a and b do not differ. Functions, models,
types and partitions are not compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TypeAlias

from schema_core.base.arguments import require_instance
from schema_core.base.lazy import dataclass
from schema_core.base.paths import ObjectPath
from schema_core.catalog.api import Capability, Catalog
from schema_core.catalog.changes import catalog_changes
from schema_core.catalog.objects import (
    CatalogBaseTable,
    CatalogDatabase,
    CatalogTable,
    TableKind,
)
from schema_core.catalog.own_options import without_own_options
from schema_core.catalog.resolve import resolve_table
from schema_core.errors import SchemaCoreError, SchemaError, at
from schema_core.migration.differences import RenameHints, diff, rename_steps
from schema_core.schema.resolve import SchemaResolver


@dataclass(frozen=True, slots=True)
class CatalogContent:
    """The databases of a catalog by name, and its tables and views by path."""

    databases: Mapping[str, CatalogDatabase]
    objects: Mapping[ObjectPath, CatalogBaseTable]


def read_catalog(catalog: Catalog) -> CatalogContent:
    """Return the content of a catalog, resolved if the catalog stores types.

    Raises:
        SchemaError: with code `invalid-argument` for anything but a catalog.
    """
    require_instance(catalog, Catalog, "the catalog")
    databases = {name: catalog.get_database(name) for name in catalog.list_databases()}
    paths = [ObjectPath(name, table) for name in databases for table in catalog.list_tables(name)]
    if Capability.MATERIALIZED_TABLES in catalog.capabilities:
        paths += [
            ObjectPath(name, table)
            for name in databases
            for table in catalog.list_materialized_tables(name)
        ]
    views = [ObjectPath(name, view) for name in databases for view in catalog.list_views(name)]
    objects = {
        path: without_own_options(catalog.get_resolved_table(path) or catalog.get_table(path))
        for path in dict.fromkeys([*paths, *views])
    }
    return CatalogContent(databases, objects)


# --- comparison ----------------------------------------------------------------------------------

#: What `diff_catalogs` compares.
Content: TypeAlias = Catalog | CatalogContent

#: The order of creation: views may refer to all others.
ORDER = (TableKind.TABLE, TableKind.MATERIALIZED_TABLE, TableKind.VIEW)


def diff_catalogs(
    old: Content,
    new: Content,
    *,
    renames: Mapping[ObjectPath, str] | None = None,
    column_renames: Mapping[ObjectPath, RenameHints] | None = None,
) -> tuple[catalog_changes.CatalogChange, ...]:
    """Return the changes that lead from one catalog to another, in execution order.

    Objects of the wrong kind and those whose names others take are dropped first. Then objects are
    renamed, created and altered; others are dropped at the end.

    Args:
        old: The current catalog, or its content.
        new: The catalog to reach, or its content.
        renames: Old path of a renamed table or view -> its new name.
        column_renames: By path in the new catalog, renames of columns as `diff` takes them.

    Raises:
        SchemaError: with code `not-found` for a rename of or to an unknown name, or of columns
            of a table that is not in both; as `diff`.
    """
    before, after = (
        content if isinstance(content, CatalogContent) else read_catalog(content)
        for content in (old, new)
    )
    names = _renamed_paths(renames or {}, before, after)
    hints = dict(require_instance(column_renames or {}, Mapping, "the renames of columns"))
    stays, gone = _match(before, after, names)
    for path in hints.keys() - stays.values():
        raise _unknown(path)
    taken = {path for old_path, path in stays.items() if path != old_path}
    early = [
        path for path in gone if path in taken or (path in after.objects and path not in stays)
    ]
    changes: list[catalog_changes.CatalogChange] = [
        catalog_changes.RemoveObject(path, before.objects[path]) for path in early
    ]
    changes += _rename_changes(before, stays, set(early))
    changes += [
        catalog_changes.AddDatabase(name, database)
        for name, database in after.databases.items()
        if name not in before.databases
    ]
    reached = set(stays.values())
    fresh = [path for path in after.objects if path not in reached]
    changes += [
        catalog_changes.AddObject(path, after.objects[path]) for path in _sort_paths(after, fresh)
    ]
    for name, database in before.databases.items():
        if name in after.databases and after.databases[name] != database:
            changes.append(catalog_changes.ModifyDatabase(name, database, after.databases[name]))
    for source, path in stays.items():
        changes += _find_modification(
            path, before.objects[source], after.objects[path], hints.get(path, {})
        )
    late = [path for path in gone if path not in early]
    changes += [
        catalog_changes.RemoveObject(path, before.objects[path])
        for path in _sort_paths(before, late)[::-1]
    ]
    changes += [
        catalog_changes.RemoveDatabase(name, database)
        for name, database in before.databases.items()
        if name not in after.databases
    ]
    return tuple(changes)


def _unknown(path: object) -> SchemaError:
    return SchemaError(
        f"cannot rename {str(path)!r}: it is not in both catalogs",
        code="not-found",
        hint="pass an object of the old catalog and its name in the new one",
    )


def _renamed_paths(
    renames: Mapping[ObjectPath, str], old: CatalogContent, new: CatalogContent
) -> dict[ObjectPath, ObjectPath]:
    require_instance(renames, Mapping, "the renames")
    targets: dict[ObjectPath, ObjectPath] = {}
    for path, name in renames.items():
        require_instance(path, ObjectPath, "the path of a rename")
        target = ObjectPath(path.database_name, require_instance(name, str, "the new name"))
        if path not in old.objects or target not in new.objects or target in targets.values():
            raise _unknown(path)
        targets[path] = target
    return targets


def _match(
    old: CatalogContent, new: CatalogContent, names: Mapping[ObjectPath, ObjectPath]
) -> tuple[dict[ObjectPath, ObjectPath], list[ObjectPath]]:
    """Return the new paths of objects that stay by the old ones, and the paths of others."""
    taken = set(names.values())
    stays: dict[ObjectPath, ObjectPath] = {}
    for path, table in old.objects.items():
        target = names.get(path, path)
        other = new.objects.get(target)
        if other is None or (path not in names and path in taken):
            continue
        if other.get_table_kind() is table.get_table_kind():
            stays[path] = target
        elif path in names:
            raise _unknown(path)
    return stays, [path for path in old.objects if path not in stays]


def _rename_changes(
    old: CatalogContent, stays: Mapping[ObjectPath, ObjectPath], gone: set[ObjectPath]
) -> Iterator[catalog_changes.CatalogChange]:
    for database in old.databases:
        pairs = {
            path.object_name: target.object_name
            for path, target in stays.items()
            if path.database_name == database
        }
        present = {
            path.object_name
            for path in old.objects
            if path.database_name == database and path not in gone
        }
        for name, new_name in rename_steps(pairs, present):
            yield catalog_changes.RenameObject(ObjectPath(database, name), new_name)


def _sort_paths(content: CatalogContent, paths: Iterable[ObjectPath]) -> list[ObjectPath]:
    return sorted(paths, key=lambda path: ORDER.index(content.objects[path].get_table_kind()))


def _find_modification(
    path: ObjectPath, old: CatalogBaseTable, new: CatalogBaseTable, hints: RenameHints
) -> Iterator[catalog_changes.CatalogChange]:
    with at(str(path)):
        if isinstance(old, CatalogTable) and isinstance(new, CatalogTable):
            resolver = SchemaResolver()
            with suppress(SchemaCoreError):  # else compared as they are
                old, new = resolve_table(old, resolver), resolve_table(new, resolver)
            if changes := diff(old, new, renames=hints):
                yield catalog_changes.ModifyTable(path, changes)
        elif catalog_changes.normal_object(old) != catalog_changes.normal_object(new):
            yield catalog_changes.ModifyObject(path, old, new)
