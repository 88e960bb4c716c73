"""Former names of columns and fields, by which older files of a table have them.

ALTER TABLE renames a column in the catalog only; an option that sessions do not show has its former
names. Law: a file has the column under the first of `FormerNames.names_of` that it has, as no other
column may take a former name. The same holds for fields among those of their row.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from schema_core.base.lazy import dataclass
from schema_core.catalog.changes import table_changes
from schema_core.catalog.changes.normal_forms import normal_type, steps_of
from schema_core.catalog.own_options import FORMER_NAMES, require_no_own_options
from schema_core.errors import SchemaError
from schema_core.schema.columns import UnresolvedColumn, UnresolvedPhysicalColumn
from schema_core.types import DataType, RowType

if TYPE_CHECKING:
    from schema_core.catalog.managed import ManagedStorage
    from schema_core.catalog.objects import CatalogBaseTable, CatalogTable

Table = TypeVar("Table", bound="CatalogBaseTable")

KEY: Final = FORMER_NAMES
#: The versions of the option: the first has columns only, and is written where it suffices.
COLUMNS_ONLY, VERSION = 1, 2
#: Formats whose files have columns by position, or only one: names do not matter.
POSITIONAL: Final = frozenset({"raw", "text"})
#: Formats whose files list their columns, so that a reader sees their names.
LISTED: Final = frozenset({"parquet", "orc"})

#: The old path of a name, None if it is new; the new path, None if it is dropped.
NameChange: TypeAlias = tuple[table_changes.Path | None, table_changes.Path | None]


@dataclass(frozen=True, slots=True)
class FormerNames:
    """The former names of a table's columns and fields, the oldest first, by their paths.

    `dropped` are the paths of dropped parts where files do not list their columns: nothing is
    renamed to them.

    >>> renamed = FormerNames().after(("a",), ("b",)).after(("b", "x"), ("b", "y"))
    >>> renamed.names_of("b"), renamed.names_of("b", "y"), renamed.names_of("d")
    (('a', 'b'), ('x', 'y'), ('d',))
    """

    paths: Mapping[table_changes.Path, tuple[str, ...]] = field(default_factory=dict)
    dropped: frozenset[table_changes.Path] = frozenset()

    @staticmethod
    def of(options: Mapping[str, str]) -> FormerNames:
        """Return the former names in the options of a table (`invalid-option-value`).

        A value not written by this library is an error: without the names, older files would be
        read as NULL.
        """
        text = options.get(KEY)
        if text is None:
            return FormerNames()
        try:
            names = _parse(json.loads(text))
        except (ValueError, TypeError, KeyError, RecursionError):
            names = None
        if names is None:
            raise SchemaError(
                f"malformed value of option {KEY!r}",
                code="invalid-option-value",
                hint="restore the definition of the table",
            )
        return names

    def __str__(self) -> str:
        columns = {path[0]: list(names) for path, names in self._sort_paths() if len(path) == 1}
        dropped = sorted(path[0] for path in self.dropped if len(path) == 1)
        document: dict[str, Any] = {"columns": columns, "dropped": dropped}
        fields = [[list(path), list(names)] for path, names in self._sort_paths() if len(path) > 1]
        dropped_fields = sorted(list(path) for path in self.dropped if len(path) > 1)
        if fields or dropped_fields:
            document |= {"fields": fields, "dropped_fields": dropped_fields}
        version = VERSION if "fields" in document else COLUMNS_ONLY
        return json.dumps({"version": version, **document}, ensure_ascii=False)

    def _sort_paths(self) -> list[tuple[table_changes.Path, tuple[str, ...]]]:
        return sorted(self.paths.items())

    def __bool__(self) -> bool:
        return bool(self.paths or self.dropped)

    @property
    def columns(self) -> Mapping[str, tuple[str, ...]]:
        """The former names of the columns, without those of fields."""
        return {path[0]: names for path, names in self.paths.items() if len(path) == 1}

    def of_table(self, table: Table) -> Table:
        """Return a table as it is stored with these names."""
        return table.copy({**table.options, KEY: str(self)}) if self else table

    def has_fields(self, *path: str) -> bool:
        """Return whether a field within the column or field at a path has former names."""
        return any(_is_within(inner, path) for inner in self.paths)

    def names_of(self, *path: str) -> tuple[str, ...]:
        """Return the names of a column or field in files, in the order of search.

        The current name is the last, unless it was used before.
        """
        return tuple(dict.fromkeys((*self.paths.get(path, ()), path[-1])))

    def after(
        self, old: table_changes.Path | None, new: table_changes.Path | None, *, listed: bool = True
    ) -> FormerNames:
        """Return the former names after a column or field was renamed, added or dropped.

        `old` is None for a new part, `new` for a dropped part, whose names are kept if files do not
        list their columns. A new name by which older files have other data is an error
        (`former-name`).
        """
        paths, dropped = dict(self.paths), set(self.dropped)
        if new is not None:
            self.require_free(old, new)
        if old is None and new is not None:
            dropped.discard(new)
        elif old is not None and new is None:
            dropped |= set() if listed else {old}
        elif old is not None and new is not None:
            former = (*paths.pop(old, ()), old[-1])
            # fields of a dropped column, whose name this one takes
            paths = {
                _move_path(path, old, new): names
                for path, names in paths.items()
                if not _is_within(path, new)
            }
            paths[new] = tuple(dict.fromkeys(former))
            dropped = {_move_path(path, old, new) for path in dropped if not _is_within(path, new)}
        return FormerNames(paths, frozenset(dropped))

    def require_free(self, old: table_changes.Path | None, new: table_changes.Path) -> None:
        """Refuse a name by which older files have another column or field (`former-name`)."""
        for path, former in self.paths.items():
            # what is dropped keeps its former names, with which it may be added again
            is_sibling = path[:-1] == new[:-1] and path != (old or new)
            if is_sibling and (new[-1] in former or path == new):
                raise _name_taken_error(
                    f"older files of the table have {_noun(path)} by the name {new[-1]!r}"
                )
        if old is not None and new in self.dropped:
            raise _name_taken_error(f"older files of the table may have a dropped {_noun(new)}")


def _noun(path: table_changes.Path) -> str:
    return f"column {path[0]!r}" if len(path) == 1 else f"field {table_changes.print_path(path)}"


def _is_within(path: table_changes.Path, outer: table_changes.Path) -> bool:
    return len(path) > len(outer) and path[: len(outer)] == outer


def _move_path(
    path: table_changes.Path, old: table_changes.Path, new: table_changes.Path
) -> table_changes.Path:
    """Return a path after a part that may contain it was moved."""
    return (*new, *path[len(old) :]) if _is_within(path, old) else path


def _name_taken_error(problem: str) -> SchemaError:
    return SchemaError(
        problem,
        code="former-name",
        hint="use another name, or rewrite the table, which replaces its older files",
    )


def _parse(document: Any) -> FormerNames | None:
    """Return the former names of a JSON document, or None if it is malformed."""
    keys = {"version", "columns", "dropped"}
    if document["version"] == VERSION:
        keys |= {"fields", "dropped_fields"}
    elif document["version"] != COLUMNS_ONLY:
        return None
    if document.keys() != keys:
        return None
    columns = [([name], names) for name, names in document["columns"].items()]
    pairs = [*columns, *document.get("fields", ())]
    paths = {tuple(path): tuple(names) for path, names in pairs}
    gone = [([name]) for name in document["dropped"]] + [*document.get("dropped_fields", ())]
    dropped = frozenset(map(tuple, gone))
    texts = [text for part in (*paths, *paths.values(), *dropped) for text in part]
    # a name belongs to one column or field of its row only
    former = [(*path[:-1], name) for path, names in paths.items() for name in {*names, *path[-1:]}]
    is_valid = all(isinstance(text, str) for text in texts) and len(former) == len(set(former))
    return FormerNames(paths, dropped) if is_valid and all((*paths, *dropped)) else None


# --- definitions ---------------------------------------------------------------------------------


def format_by_name(options: Mapping[str, str], storage: ManagedStorage | None) -> str | None:
    """Return the format of a table's files if they have columns by name, else None.

    >>> format_by_name({"connector": "filesystem", "format": "parquet"}, None)
    'parquet'
    """
    if "connector" in options:
        form = options.get("format") if options["connector"] == "filesystem" else None
    else:
        form = None if storage is None else options.get("format", storage.form)
    if form == "csv" and options.get("csv.header", "").strip().lower() != "true":
        return None
    return None if form in POSITIONAL else form


def names_of_same_files(
    source: CatalogTable, options: Mapping[str, str], new: CatalogTable
) -> FormerNames | None:
    """Return the former names that a new table takes over from a table with the same files.

    None if the files, which `options` locate, are others, or if nothing was renamed. `new` has the
    columns of `source`, and more. Errors: as `FormerNames.of`; `former-name` for a new column.
    """
    is_same = _files(options) == _files(new.options) is not None
    if KEY not in options or not is_same:
        return None
    added = replaced_names(paths_of(source.schema.columns), paths_of(new.schema.columns))
    table = with_former_names(FormerNames.of(options).of_table(new), added, None)
    return FormerNames.of(table.options)


def _files(options: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the path and format of a table's files; None for another connector."""
    if options.get("connector") != "filesystem" or "path" not in options:
        return None
    path = re.sub(r"^file:(//)?(?=/)", "", options["path"])
    if "://" not in path:
        path = os.path.realpath(path)
    return path.rstrip("/"), options.get("format", "")


def former_names_option(table: CatalogBaseTable) -> dict[str, str]:
    """Return the option with the former names of a stored table, if it has any."""
    return {KEY: table.options[KEY]} if KEY in table.options else {}


def with_former_names(
    table: CatalogTable, changes: Iterable[NameChange], storage: ManagedStorage | None
) -> CatalogTable:
    """Return a changed table, as the catalog stores it, with the former names of its parts.

    `table` has the former names from before; the catalog's managed tables have `storage`. Errors:
    as `FormerNames.of`; `former-name`.
    """
    form = format_by_name(table.options, storage)
    if form is None:
        return table
    names = before = FormerNames.of(table.options)
    for old, new in changes:
        column = (old or new or ("",))[0]
        if column not in table.partition_keys and (new or ("",))[0] not in table.partition_keys:
            names = names.after(old, new, listed=form in LISTED)
    for path in paths_of(table.schema.columns) if names else ():
        names.require_free(None, path)
    return table if names == before else names.of_table(table)


def paths_of(columns: Iterable[UnresolvedColumn]) -> dict[table_changes.Path, None]:
    """Return the paths of physical columns and of the fields within them, in order.

    >>> columns = [UnresolvedPhysicalColumn("r", "ARRAY<ROW<x INT>>")]
    >>> list(paths_of(columns))
    [('r',), ('r', 'element', 'x')]
    """
    parts = (
        table_changes.StoredPart((column.name,), column.data_type)
        for column in columns
        if isinstance(column, UnresolvedPhysicalColumn)
    )
    return {path: None for part in parts for path in _paths_of_part(part)}


def _field_paths(type_: DataType, path: table_changes.Path) -> dict[table_changes.Path, None]:
    paths: dict[table_changes.Path, None] = {}
    for step, child in zip(steps_of(type_), type_.children(), strict=False):
        if isinstance(type_, RowType):
            paths[*path, step] = None
        paths |= _field_paths(child, (*path, step))
    return paths


def replaced_names(
    before: Iterable[table_changes.Path], after: Iterable[table_changes.Path]
) -> list[NameChange]:
    """Return the changes of names where some paths replace others.

    >>> replaced_names([("r",), ("r", "x")], [("r",), ("r", "y")])
    [(('r', 'x'), None), (None, ('r', 'y'))]
    """
    old, new = dict.fromkeys(before), dict.fromkeys(after)
    dropped: list[NameChange] = [(path, None) for path in old if path not in new]
    return [*dropped, *((None, path) for path in new if path not in old)]


def name_changes(changes: Iterable[table_changes.TableChange]) -> list[NameChange]:
    """Return how changes of a table change the names of physical columns and their fields."""
    result: list[NameChange] = []
    for old, new in (pair for change in changes for pair in change.stored_changes()):
        if old is not None and new is not None and old.path != new.path:
            result += [(old.path, new.path)] if old.in_files else []
        else:
            result += replaced_names(_paths_of_part(old), _paths_of_part(new))
    return result


def _paths_of_part(part: table_changes.StoredPart | None) -> dict[table_changes.Path, None]:
    if part is None or not part.in_files:
        return {}
    type_ = normal_type(part.data_type)
    within = _field_paths(type_, part.path) if isinstance(type_, DataType) else {}
    return {part.path: None, **within}


def add_former_names(
    table: CatalogTable,
    changes: tuple[table_changes.TableChange, ...],
    old: CatalogTable,
    storage: ManagedStorage | None,
) -> tuple[CatalogTable, tuple[table_changes.TableChange, ...]]:
    """Return a changed table with its former names, and the changes that lead to it.

    `old` is the table before, as stored; the catalog's managed tables have `storage`. Errors: as
    `with_former_names`; `reserved-option` for an option that only this library sets.
    """
    for change in changes:
        if isinstance(change, table_changes.OptionChange):
            require_no_own_options([change.key])
    stored = with_former_names(table, name_changes(changes), storage)
    if stored is table:
        return table, changes
    option = table_changes.SetOption(KEY, stored.options[KEY], old.options.get(KEY))
    return stored, (*changes, option)
