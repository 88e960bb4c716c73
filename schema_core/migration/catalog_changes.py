"""The changes between two catalogs: databases, tables, views and materialized tables.

Law: after ``apply_to_catalog(diff_catalogs(a, b), a)`` there is no difference between a and b.
Functions, models, types and partitions are not compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, TypeAlias

from schema_core.base.arguments import require_instance, require_sequence
from schema_core.base.lazy_dataclass import dataclass
from schema_core.base.paths import ObjectIdentifier, ObjectPath
from schema_core.base.text import quote_identifier
from schema_core.catalog.api import Capability, Catalog
from schema_core.catalog.changes.former_names import changed_by
from schema_core.catalog.changes.normal_forms import normalized, stale_change
from schema_core.catalog.changes.table_changes import TableChange, apply, describe, print_path
from schema_core.catalog.managed import (
    directory_of,
    is_managed,
    new_directory,
    remove_directory,
    require_no_path,
    with_directory,
)
from schema_core.catalog.objects import (
    CatalogBaseTable,
    CatalogDatabase,
    CatalogMaterializedTable,
    CatalogTable,
    CatalogView,
    TableKind,
)
from schema_core.catalog.own_options import require_no_own_options, without_own_options
from schema_core.catalog.resolve import origin, resolve_table
from schema_core.catalog.stores.optimistic_locking import alter_if_unchanged
from schema_core.errors import SchemaCoreError, SchemaError, at
from schema_core.migration.differences import RenameHints, diff, rename_steps
from schema_core.schema.resolve import SchemaResolver


@dataclass(frozen=True, slots=True)
class CatalogContent:
    """The databases of a catalog by name, and its tables and views by path."""

    databases: Mapping[str, CatalogDatabase]
    objects: Mapping[ObjectPath, CatalogBaseTable]


def read_catalog(catalog: Catalog) -> CatalogContent:
    """Return the content of a catalog, resolved where the catalog stores the types.

    Raises:
        SchemaError: with code `wrong-argument` for anything but a catalog.
    """
    require_instance(catalog, Catalog, "the catalog")
    databases = {name: catalog.get_database(name) for name in catalog.list_databases()}
    paths = [ObjectPath(name, table) for name in databases for table in catalog.list_tables(name)]
    if Capability.MATERIALIZED_TABLES in catalog.capabilities:
        listed = {name: catalog.list_materialized_tables(name) for name in databases}
        paths += [ObjectPath(name, one) for name, found in listed.items() for one in found]
    views = [ObjectPath(name, view) for name in databases for view in catalog.list_views(name)]
    objects = {
        path: without_own_options(catalog.get_resolved_table(path) or catalog.get_table(path))
        for path in dict.fromkeys([*paths, *views])
    }
    return CatalogContent(databases, objects)


# --- changes -------------------------------------------------------------------------------------


def _shown(path: ObjectPath) -> str:
    return print_path((path.database_name, path.object_name))


@dataclass(frozen=True, slots=True)
class CatalogChange:
    """The base of the changes of a catalog; in the style of `TableChange`, for Flink has none."""

    #: what `str` shows: name -> how it is read
    shown: ClassVar[dict[str, Callable[[Any], object]]] = {}

    def __str__(self) -> str:
        values = ", ".join(f"{name}={read(self)}" for name, read in self.shown.items())
        return f"{type(self).__name__}{{{values}}}"


@dataclass(frozen=True, slots=True)
class AddDatabase(CatalogChange):
    """A database is created."""

    shown: ClassVar[dict[str, Callable[[Any], object]]] = {
        "name": lambda one: print_path((one.name,))
    }

    name: str
    database: CatalogDatabase


@dataclass(frozen=True, slots=True)
class ModifyDatabase(CatalogChange):
    """A database gets other properties or another comment."""

    shown: ClassVar[dict[str, Callable[[Any], object]]] = {
        "name": lambda one: print_path((one.name,))
    }

    name: str
    old_database: CatalogDatabase
    new_database: CatalogDatabase


@dataclass(frozen=True, slots=True)
class RemoveDatabase(CatalogChange):
    """An empty database is dropped."""

    shown: ClassVar[dict[str, Callable[[Any], object]]] = {
        "name": lambda one: print_path((one.name,))
    }

    name: str
    database: CatalogDatabase


@dataclass(frozen=True, slots=True)
class AddObject(CatalogChange):
    """A table, view or materialized table is created."""

    shown: ClassVar[dict[str, Callable[[Any], object]]] = {
        "path": lambda one: _shown(one.path),
        "kind": lambda one: one.new_object.get_table_kind().value,
    }

    path: ObjectPath
    new_object: CatalogBaseTable


@dataclass(frozen=True, slots=True)
class RenameObject(CatalogChange):
    """A table, view or materialized table is renamed within its database."""

    shown: ClassVar[dict[str, Callable[[Any], object]]] = {
        "path": lambda one: _shown(one.path),
        "newName": lambda one: print_path((one.new_name,)),
    }

    path: ObjectPath
    new_name: str


@dataclass(frozen=True, slots=True)
class ModifyTable(CatalogChange):
    """A table is altered by changes."""

    shown: ClassVar[dict[str, Callable[[Any], object]]] = {
        "path": lambda one: _shown(one.path),
        "changes": lambda one: f"[{', '.join(map(str, one.changes))}]",
    }

    path: ObjectPath
    changes: tuple[TableChange, ...]


@dataclass(frozen=True, slots=True)
class ModifyObject(CatalogChange):
    """A view or materialized table is replaced by another one of the same kind."""

    shown: ClassVar[dict[str, Callable[[Any], object]]] = {
        "path": lambda one: _shown(one.path),
        "kind": lambda one: one.new_object.get_table_kind().value,
    }

    path: ObjectPath
    old_object: CatalogBaseTable
    new_object: CatalogBaseTable


@dataclass(frozen=True, slots=True)
class RemoveObject(CatalogChange):
    """A table, view or materialized table is dropped."""

    shown: ClassVar[dict[str, Callable[[Any], object]]] = {
        "path": lambda one: _shown(one.path),
        "kind": lambda one: one.old_object.get_table_kind().value,
    }

    path: ObjectPath
    old_object: CatalogBaseTable


def describe_catalog_change(change: CatalogChange) -> str:
    """Return a change in English, in one line; secrets are masked.

    >>> describe_catalog_change(RenameObject(ObjectPath("db", "old"), "new"))
    'rename `db`.`old` to `new`'
    """
    match change:
        case AddDatabase(name=name):
            return f"create database {quote_identifier(name)}"
        case ModifyDatabase(name=name):
            return f"alter database {quote_identifier(name)}"
        case RemoveDatabase(name=name):
            return f"drop database {quote_identifier(name)}"
        case RenameObject(path=path, new_name=name):
            return f"rename {_shown(path)} to {quote_identifier(name)}"
        case ModifyTable(path=path, changes=changes):
            return f"alter table {_shown(path)}: {'; '.join(map(describe, changes))}"
        case AddObject(path=path, new_object=new):
            return f"create {_kind(new)} {_shown(path)}"
        case ModifyObject(path=path, new_object=new):
            return f"alter {_kind(new)} {_shown(path)}"
        case RemoveObject(path=path, old_object=old):
            return f"drop {_kind(old)} {_shown(path)}"
        case _:
            raise AssertionError(change)


def _kind(object_: CatalogBaseTable) -> str:
    return object_.get_table_kind().value.lower().replace("_", " ")


# --- comparison ----------------------------------------------------------------------------------

#: What `diff_catalogs` compares.
Content: TypeAlias = Catalog | CatalogContent

#: The order in which objects are created: views may refer to all others.
ORDER = (TableKind.TABLE, TableKind.MATERIALIZED_TABLE, TableKind.VIEW)


def diff_catalogs(
    old: Content,
    new: Content,
    *,
    renames: Mapping[ObjectPath, str] | None = None,
    column_renames: Mapping[ObjectPath, RenameHints] | None = None,
) -> tuple[CatalogChange, ...]:
    """Return the changes that lead from one catalog to another, in execution order.

    Objects of the wrong kind and those whose names others take are dropped first. Then objects are
    renamed, created (databases, tables, views) and altered; others are dropped at the end.

    Args:
        old: The current catalog, or its content.
        new: The catalog to reach, or its content.
        renames: Tables and views that are renamed: the old path to the new name.
        column_renames: By path in the new catalog, the renames of columns as `diff` takes them.

    Raises:
        SchemaError: with code `unknown-object` for a rename of or to a name that does not exist, or
            of columns of a table that is not in both; as `diff`.
    """
    before, after = _content(old), _content(new)
    names = _renamed_paths(renames or {}, before, after)
    hints = dict(require_instance(column_renames or {}, Mapping, "the renames of columns"))
    stays, gone = _matched(before, after, names)
    for path in hints.keys() - stays.values():
        raise _unknown(path)
    taken = {path for old_path, path in stays.items() if path != old_path}
    early = [
        path for path in gone if path in taken or (path in after.objects and path not in stays)
    ]
    found: list[CatalogChange] = [RemoveObject(path, before.objects[path]) for path in early]
    found += _rename_changes(before, stays, set(early))
    found += _additions(before, after, set(stays.values()))
    for name, database in before.databases.items():
        if name in after.databases and after.databases[name] != database:
            found.append(ModifyDatabase(name, database, after.databases[name]))
    for source, path in stays.items():
        found += _modified(path, before.objects[source], after.objects[path], hints.get(path, {}))
    late = [path for path in gone if path not in early]
    found += [RemoveObject(path, before.objects[path]) for path in _ordered(before, late)[::-1]]
    found += [
        RemoveDatabase(name, database)
        for name, database in before.databases.items()
        if name not in after.databases
    ]
    return tuple(found)


def _content(given: Content) -> CatalogContent:
    return given if isinstance(given, CatalogContent) else read_catalog(given)


def _unknown(path: object) -> SchemaError:
    return SchemaError(
        f"cannot rename {str(path)!r}: it is not in both catalogs",
        code="unknown-object",
        hint="pass an object of the old catalog and its name in the new one",
    )


def _renamed_paths(
    renames: Mapping[ObjectPath, str], old: CatalogContent, new: CatalogContent
) -> dict[ObjectPath, ObjectPath]:
    """Return the old paths of renamed objects with their new ones."""
    require_instance(renames, Mapping, "the renames")
    found: dict[ObjectPath, ObjectPath] = {}
    for path, name in renames.items():
        require_instance(path, ObjectPath, "the path of a rename")
        target = ObjectPath(path.database_name, require_instance(name, str, "the new name"))
        if path not in old.objects or target not in new.objects or target in found.values():
            raise _unknown(path)
        found[path] = target
    return found


def _matched(
    old: CatalogContent, new: CatalogContent, names: Mapping[ObjectPath, ObjectPath]
) -> tuple[dict[ObjectPath, ObjectPath], list[ObjectPath]]:
    """Return the objects that stay, by old path with the new one, and those that do not."""
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
) -> Iterator[CatalogChange]:
    """Yield the renames, database by database, so that no two objects ever have one path."""
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
            yield RenameObject(ObjectPath(database, name), new_name)


def _ordered(content: CatalogContent, paths: Iterable[ObjectPath]) -> list[ObjectPath]:
    return sorted(paths, key=lambda path: ORDER.index(content.objects[path].get_table_kind()))


def _additions(
    old: CatalogContent, new: CatalogContent, present: set[ObjectPath]
) -> Iterator[CatalogChange]:
    for name, database in new.databases.items():
        if name not in old.databases:
            yield AddDatabase(name, database)
    for path in _ordered(new, [path for path in new.objects if path not in present]):
        yield AddObject(path, new.objects[path])


def _modified(
    path: ObjectPath, old: CatalogBaseTable, new: CatalogBaseTable, hints: RenameHints
) -> Iterator[CatalogChange]:
    """Yield the change of an object, if it differs."""
    with at(str(path)):
        if isinstance(old, CatalogTable) and isinstance(new, CatalogTable):
            if changes := diff(*_both_resolved(old, new), renames=hints):
                yield ModifyTable(path, changes)
        elif normal_object(old) != normal_object(new):
            yield ModifyObject(path, old, new)


def _both_resolved(old: CatalogTable, new: CatalogTable) -> tuple[CatalogTable, CatalogTable]:
    """Return both tables resolved, or both as they are where one does not resolve by itself."""
    resolver = SchemaResolver()
    try:
        return resolve_table(old, resolver), resolve_table(new, resolver)
    except SchemaCoreError:
        return old, new


def normal_object(found: CatalogBaseTable) -> CatalogBaseTable:
    """Return an object in the form in which two of its kind are compared."""
    if isinstance(found, CatalogView | CatalogMaterializedTable):
        written = origin(found)
        return replace(written, schema=normalized(written.schema))
    return normalized(found) if isinstance(found, CatalogTable) else found


# --- application ---------------------------------------------------------------------------------


def apply_to_catalog(changes: Iterable[CatalogChange], catalog: Catalog) -> None:
    """Apply changes to a catalog, one after the other, each by one method of the catalog.

    Each is compared with what the catalog has. The changes together are not a transaction: an
    error leaves those before it applied, and `diff_catalogs` returns what remains.

    Raises:
        SchemaError: with code `change-does-not-fit` where the catalog does not have what a change
            was made for; as `apply` for the changes of a table.
        ConflictError: if a table is altered by another process at the same time.
        SchemaCoreError: as the methods of the catalog.
    """
    require_instance(catalog, Catalog, "the catalog")
    for position, change in enumerate(require_sequence(changes, "the changes"), 1):
        require_instance(change, CatalogChange, "a change")
        with at(f"change {position}, {type(change).__name__}"):
            _apply_one(change, catalog)


def _apply_one(change: CatalogChange, catalog: Catalog) -> None:
    match change:
        case AddDatabase(name, database):
            require_no_own_options(database.properties)
            catalog.create_database(name, database, ignore_if_exists=False)
        case ModifyDatabase(name, old, new):
            _require_database(catalog, name, old)
            require_no_own_options(new.properties)
            alter = partial(catalog.alter_database, name, new, ignore_if_not_exists=False)
            alter_if_unchanged(catalog.capabilities, alter, old)
        case RemoveDatabase(name, database):
            _require_database(catalog, name, database)
            catalog.drop_database(name, ignore_if_not_exists=False)
        case AddObject(path, table):
            catalog.create_table(path, _placed(catalog, path, table), ignore_if_exists=False)
        case RenameObject(path, name):
            catalog.rename_table(path, name, ignore_if_not_exists=False)
        case ModifyTable(path, changes):
            read = catalog.get_table(path)
            if not isinstance(read, CatalogTable):
                raise stale_change(f"{path} is not a table")
            altered, steps = changed_by(apply(changes, read), changes, read, catalog.storage)
            _alter(catalog, path, altered, read, steps)
        case ModifyObject(path, old_object, new_object):
            require_no_own_options(new_object.options)
            _alter(catalog, path, new_object, _require_object(catalog, path, old_object), None)
        case RemoveObject(path, old_object):
            _require_object(catalog, path, old_object)
            directory = directory_of(catalog.get_table(path))
            catalog.drop_table(path, ignore_if_not_exists=False)
            remove_directory(catalog, path, directory)


def _placed(catalog: Catalog, path: ObjectPath, table: CatalogBaseTable) -> CatalogBaseTable:
    """Return a new table with a directory of its own, if the catalog manages it.

    Raises:
        SchemaError: with code `reserved-option`.
    """
    require_no_own_options(table.options)
    if catalog.storage is None or not is_managed(table):
        return table
    require_no_path(table)
    identifier = ObjectIdentifier.of("", path.database_name, path.object_name)
    return with_directory(table, new_directory(identifier))


def _alter(
    catalog: Catalog,
    path: ObjectPath,
    new: CatalogBaseTable,
    read: CatalogBaseTable,
    changes: tuple[TableChange, ...] | None,
) -> None:
    """Replace a definition; a catalog that compares receives the one that was read."""
    if Capability.VERSIONS in catalog.capabilities:
        catalog.alter_table(path, new, False, expected=read, changes=changes)
    else:
        catalog.alter_table(path, new, False)


def _require_database(catalog: Catalog, name: str, expected: CatalogDatabase) -> None:
    if catalog.get_database(name) != expected:
        raise stale_change(f"the database {name} has changed since it was read")


def _require_object(
    catalog: Catalog, path: ObjectPath, expected: CatalogBaseTable
) -> CatalogBaseTable:
    read = catalog.get_table(path)
    if normal_object(without_own_options(read)) != normal_object(expected):
        raise stale_change(f"{path} has changed since it was read")
    return read
