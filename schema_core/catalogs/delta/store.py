"""The objects of a catalog of Delta: directories as databases, with tables in directories."""

from __future__ import annotations

import json
import shutil
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

from deltalake import CommitProperties, DeltaTable, Field, Schema

from schema_core.base.lazy import dataclass, regex
from schema_core.catalog import objects
from schema_core.catalog.objects import TableKind
from schema_core.catalog.stores.object_store import (
    ObjectKey,
    StoredKind,
    not_empty,
    require_name,
)
from schema_core.catalogs.delta.object_files import (
    DATABASE,
    DIRECTORY,
    encode_object,
    path_of,
    read_object,
    write_document,
)
from schema_core.catalogs.documents import DocumentObject
from schema_core.connectors.delta.client import TableAccess, delta_errors, schema_fields
from schema_core.connectors.delta.definitions import (
    MAP,
    DeltaDefinition,
    decode_table,
    encode_definition,
    map_of,
)
from schema_core.connectors.delta.files import list_files
from schema_core.connectors.delta.options import PATH, PROPERTY
from schema_core.connectors.delta.writing import create_table
from schema_core.connectors.open_tables.definitions import is_native, require_no_chosen_options
from schema_core.errors import ConflictError, ExternalError, UnsupportedError, at
from schema_core.mappings.delta.types import comment_of, field_shape, shape

fcntl: Any
try:
    import fcntl
except ImportError:  # pragma: no cover - Windows
    fcntl = None

#: A name of a directory that every file system has.
NAME = regex(r"\w[\w -]{0,99}")
#: The options of the connector that the catalog chooses.
CHOSEN: Final = (PATH, PROPERTY)
CONNECTOR_HINT: Final = "omit it, or set 'connector' = 'delta' for a table in another directory"
#: The prefix of a directory that is being deleted.
DROPPED: Final = ".dropped-"
#: The file that writers of definitions lock.
LOCK: Final = ".lock"


@dataclass(frozen=True, slots=True)
class DeltaObject:
    """A database, a table of Delta as it was read, or an object in a file."""

    key: ObjectKey
    table: DeltaTable | None = field(default=None, repr=False)
    file: DocumentObject | None = field(default=None, repr=False)

    @property
    def value(self) -> Any:
        if self.file is not None:
            return self.file.value
        if self.key.kind is StoredKind.DATABASE:
            return objects.CatalogDatabase()
        with at(f"table {self.key.name!r}"):
            return decode_table(self.opened)

    @property
    def opened(self) -> DeltaTable:
        return cast("DeltaTable", self.table)

    @property
    def table_kind(self) -> TableKind:
        return TableKind.TABLE if self.file is None else self.file.table_kind

    def is_stored_form_of(self, expected: Any) -> bool:
        return self.file is not None and self.file.is_stored_form_of(expected)


class DeltaStore:
    """The objects below a directory.

    Each change is at least one commit of a table, after which a definition is complete: Delta has
    no transactions over several tables.
    """

    compared: frozenset[StoredKind] = frozenset({StoredKind.TABLE})

    def __init__(self, warehouse: Path) -> None:
        self._warehouse = warehouse

    def open(self) -> None:
        with delta_errors():
            self._warehouse.mkdir(parents=True, exist_ok=True)

    def close(self) -> None:
        return

    @contextmanager
    def transaction(self, writing: bool = False) -> Iterator[DeltaStore]:
        """Return the store; writers of definitions wait for each other."""
        with delta_errors(), _lock(self._warehouse) if writing else nullcontext():
            yield self

    def check_name(self, kind: StoredKind, name: str) -> None:
        require_name(kind, name)
        if NAME.fullmatch(name) is None or name != name.strip():
            raise UnsupportedError(
                f"invalid characters in the {kind.value} name {name[:60]!r}",
                code="name-not-supported",
                hint="use at most 100 letters, digits, underscores, hyphens and inner blanks",
            )

    def directory(self, key: ObjectKey) -> Path | None:
        """Return the directory of a database or table; None for a name that none can have."""
        names = [key.database] if key.kind is StoredKind.DATABASE else [key.database, key.name]
        if not all(NAME.fullmatch(name) and name == name.strip() for name in names):
            return None
        return self._warehouse.joinpath(*names)

    # --- reading -------------------------------------------------------------------------------

    def properties_of(self, directory: str) -> dict[str, str]:
        """Return the properties in the log of a table; none if there is no table."""
        access = TableAccess(directory, {})
        if not access.exists():
            return {}
        properties: dict[str, str] = access.open().metadata().configuration
        return properties

    def exists(self, key: ObjectKey, parent: DeltaObject | None = None) -> bool:
        directory = self.directory(key)
        if directory is None or key.kind not in (StoredKind.DATABASE, StoredKind.TABLE):
            return False
        if key.kind is StoredKind.DATABASE:
            return _is_database(directory)
        if not _is_database(directory.parent):  # a link leads elsewhere
            return False
        return _is_table(directory) or path_of(directory.parent, key.name).is_file()

    def get(
        self, key: ObjectKey, parent: DeltaObject | None = None, *, lock: bool = False
    ) -> DeltaObject | None:
        directory = self.directory(key)
        if directory is None or not self.exists(key):
            return None
        if key.kind is StoredKind.DATABASE:
            return DeltaObject(key, file=read_object(path_of(directory, DATABASE), key))
        file = read_object(path_of(directory.parent, key.name), key)
        if file is not None:
            return DeltaObject(key, file=file)
        return DeltaObject(key, TableAccess(str(directory), {}).open())

    def names(self, kind: StoredKind, parent: DeltaObject | None) -> list[str]:
        if parent is None:
            return _names(self._warehouse, _is_database)
        if kind is not StoredKind.TABLE:
            return []
        return [name for kind in TableKind for name in self.table_names(parent, kind)]

    def table_names(self, database: DeltaObject, table_kind: TableKind) -> list[str]:
        directory = self.directory(database.key)
        if directory is None:
            return []
        names = _names(directory, _is_table) if table_kind is TableKind.TABLE else []
        for path in sorted((directory / DIRECTORY).glob("*.json")):
            key = ObjectKey(StoredKind.TABLE, database.key.database, path.stem)
            file = read_object(path, key) if NAME.fullmatch(path.stem) else None
            if file is not None and file.table_kind is table_kind:
                names.append(path.stem)
        return sorted(names)

    def partitions(self, table: DeltaObject) -> list[objects.CatalogPartitionSpec]:
        return []

    def is_empty(self, database: DeltaObject) -> bool:
        return not self.names(StoredKind.TABLE, database)

    # --- writing -------------------------------------------------------------------------------

    def create(self, key: ObjectKey, value: Any, parent: DeltaObject | None) -> bool:
        directory = self.directory(key)
        if directory is None or (key.parent is not None and not self.exists(key.parent)):
            return False
        if key.kind is StoredKind.DATABASE:
            try:
                directory.mkdir()
            except FileExistsError:
                return False
            if value != objects.CatalogDatabase():
                write_document(path_of(directory, DATABASE), encode_object(value))
            return True
        if self.exists(key):
            return False
        if not _is_delta(value):
            write_document(path_of(directory.parent, key.name), encode_object(value))
            return True
        if directory.exists() and any(directory.iterdir()):
            raise ExternalError(
                f"the directory {directory.name!r} of the new table has files",
                code="external-failure",
                hint="use another name, or move the files",
            )
        require_no_chosen_options(value.options, {}, CHOSEN, CONNECTOR_HINT)
        create_table(TableAccess(str(directory), {}), encode_definition(value))
        return True

    def replace(self, stored: DeltaObject, value: Any) -> bool:
        """Store another definition; return False if the table has changed since it was read.

        Raises:
            UnsupportedError: with code `not-representable` for a change that Delta's log could hold
                only with column mapping, or that deltalake does not make.
        """
        key, directory = stored.key, cast("Path", self.directory(stored.key))
        if key.kind is StoredKind.DATABASE:
            write_document(path_of(directory, DATABASE), encode_object(value))
            return True
        if stored.file is not None:
            if _is_delta(value):
                raise _refusal("the connector of a table cannot be removed")
            write_document(path_of(directory.parent, key.name), encode_object(value))
            return True
        if not _is_delta(value):
            raise _refusal("a table of Delta cannot have another connector")
        require_no_chosen_options(value.options, stored.value.options, CHOSEN, CONNECTOR_HINT)
        properties = stored.opened.metadata().configuration
        return _apply(_changes(stored.opened, encode_definition(value, properties)))

    def restore(self, stored: DeltaObject, earlier: DeltaObject) -> bool:
        directory = cast("Path", self.directory(stored.key))
        if stored.table is None or earlier.table is None:
            if earlier.file is not None and stored.file is not None:
                write_document(path_of(directory.parent, stored.key.name), earlier.file.document)
            return True
        metadata = earlier.table.metadata()
        definition = DeltaDefinition(
            {"type": "struct", "fields": schema_fields(earlier.table)},
            tuple(metadata.partition_columns),
            metadata.configuration,
            metadata.description or None,
        )
        return _apply(_changes(stored.table, definition))

    def rename(self, stored: DeltaObject, new_name: str) -> bool:
        key, new = stored.key, stored.key.renamed(new_name)
        source, target = self.directory(key), self.directory(new)
        if source is None or target is None or self.exists(new) or target.exists():
            return False
        if stored.file is not None:
            source, target = (path_of(path.parent, path.name) for path in (source, target))
        try:
            source.rename(target)
        except FileNotFoundError:
            return False
        return True

    def delete(
        self, key: ObjectKey, parent: DeltaObject | None = None, *, cascade: bool = True
    ) -> bool:
        """Delete an object; with a table all files in its directory.

        A database with files that are not those of its objects is refused (`database-not-empty`).
        """
        directory = self.directory(key)
        if directory is None or not self.exists(key):
            return False
        if key.kind is StoredKind.TABLE:
            return _delete_table(directory)
        if cascade:
            for name in self.names(StoredKind.TABLE, DeltaObject(key)):
                _delete_table(directory / name)
        own = path_of(directory, DATABASE)
        file = read_object(own, key)
        own.unlink(missing_ok=True)
        try:
            with suppress(FileNotFoundError):
                own.parent.rmdir()
            directory.rmdir()
        except OSError as error:
            if file is not None:
                write_document(own, file.document)
            raise not_empty(key.database) from error
        return True


def _names(directory: Path, accepts: Any) -> list[str]:
    return sorted(item.name for item in directory.iterdir()
                  if NAME.fullmatch(item.name) and accepts(item))  # fmt: skip


def _is_table(directory: Path) -> bool:
    return not directory.is_symlink() and DeltaTable.is_deltatable(str(directory))


def _is_database(directory: Path) -> bool:
    return directory.is_dir() and not directory.is_symlink() and not _is_table(directory)


def _delete_table(directory: Path) -> bool:
    """Delete the file of an object, or a table's directory, unreadable after one rename."""
    document = path_of(directory.parent, directory.name)
    if document.is_file():
        document.unlink()
        return True
    dropped = directory.with_name(f"{DROPPED}{uuid.uuid4().hex}")
    try:
        directory.rename(dropped)
    except FileNotFoundError:
        return False
    shutil.rmtree(dropped)
    return True


def _is_delta(value: Any) -> bool:
    """Return whether an object is a table whose rows are Delta's."""
    return isinstance(value, objects.ResolvedCatalogTable) and is_native(value)


@contextmanager
def _lock(directory: Path) -> Iterator[None]:
    """Lock a directory against other writers of definitions, where the system has locks."""
    if fcntl is None:  # pragma: no cover - Windows
        yield
        return
    with (directory / LOCK).open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _apply(changes: Iterable[Any]) -> bool:
    """Make commits in order; return False if another writer was faster."""
    try:
        for change in changes:
            change()
    except ConflictError:
        return False
    return True


# --- altering ------------------------------------------------------------------------------------


def _changes(table: DeltaTable, new: DeltaDefinition) -> list[Any]:
    """Return the commits that lead to a definition, each a function without arguments.

    Each follows the one before: others must not have committed between them.
    """
    metadata, old = table.metadata(), schema_fields(table)
    if list(new.partitions) != list(metadata.partition_columns):
        raise _refusal("the partitions of a table cannot be changed")
    once: dict[str, Any] = {"commit_properties": CommitProperties(max_commit_retries=0)}
    changes: list[Any] = []

    def add(method: str, *arguments: Any, **options: Any) -> None:
        def commit() -> None:
            with delta_errors():
                getattr(table.alter, method)(*arguments, **options, **once)

        changes.append(commit)

    try:
        _change_fields(old, new.schema["fields"], add)
    except UnsupportedError:
        if not _can_replace_schema(table, new):
            raise
        changes = [partial(_replace_schema, table, new, once)]
        old = new.schema["fields"]
    if properties := _changed_properties(metadata.configuration, new.properties):
        if table.protocol().writer_features is not None:
            raise _refusal("deltalake adds the feature 'variantType' when it sets a property")
        add("set_table_properties", properties, raise_if_not_exists=False)
    (column, text), (_, changed) = map_of(old), map_of(new.schema["fields"])
    if text != changed:
        add("set_column_metadata", column, {MAP: changed})
    if (new.comment or "") != (metadata.description or ""):
        add("set_table_description", new.comment or "")
    return changes


def _can_replace_schema(table: DeltaTable, new: DeltaDefinition) -> bool:
    """Return whether a table has no files, so that none has the former columns.

    A type that needs a feature of the table can only be part of it from the beginning.
    """
    features = table.protocol().writer_features or ()
    has_types = "timestampNtz" in features or "timestamp_ntz" not in json.dumps(new.schema)
    return has_types and not list_files(table)


def _replace_schema(table: DeltaTable, new: DeltaDefinition, once: Mapping[str, Any]) -> None:
    """Commit other columns, as the overwriting of no files."""
    schema = Schema.from_json(json.dumps(new.schema))
    with delta_errors():
        table.create_write_transaction(
            [], "overwrite", schema, partition_by=list(new.partitions), **once
        )
        table.update_incremental()


def _change_fields(
    old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]], add: Any
) -> None:
    """Add the commits that change columns without files of others (`not-representable`)."""
    for before, after in zip(old, new, strict=False):
        _change_field(before, after, add)
    if len(old) > len(new):
        raise _refusal(f"the column {old[len(new)]['name']!r} cannot be dropped")
    if added := new[len(old) :]:
        if required := [item["name"] for item in added if not item["nullable"]]:
            raise _refusal(f"the new column {required[0]!r} must be nullable")
        add("add_columns", [Field.from_json(json.dumps(item)) for item in added])


def _change_field(before: Mapping[str, Any], after: Mapping[str, Any], add: Any) -> None:
    """Add the commits that change a column."""
    if field_shape(before) == field_shape(after):
        return
    name = before["name"]
    if name != after["name"]:
        raise _refusal(f"the column {name!r} cannot be renamed, dropped or moved")
    if shape(before["type"]) != shape(after["type"]):
        raise _refusal(f"the type of the column {name!r} cannot be changed")
    if before["nullable"] and not after["nullable"]:
        raise _refusal(f"the column {name!r} cannot become NOT NULL")
    if not before["nullable"] and after["nullable"]:
        add("drop_column_not_null", name)
    if comment_of(before) != comment_of(after):
        if comment_of(after) is None:
            raise _refusal(f"the comment of the column {name!r} cannot be removed")
        add("set_column_metadata", name, {"comment": comment_of(after)})


def _changed_properties(old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, str]:
    """Return the properties to set; none can be removed."""
    for key in sorted(set(old) - set(new)):
        raise _refusal(f"the property {key!r} cannot be removed")
    return {key: value for key, value in new.items() if old.get(key) != value}


def _refusal(problem: str) -> UnsupportedError:
    return UnsupportedError(
        f"{problem}: deltalake neither rewrites files nor maps columns of a table that has files",
        code="not-representable",
        hint="CREATE TABLE AS with the new definition, or ALTER the table in another engine",
    )
