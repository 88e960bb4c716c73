"""The history of a table's columns and fields, by which files of every age are read.

ALTER TABLE changes the definition, not the files. An option that sessions do not show has the
changes of columns and fields, in order: after k changes, files have layout k. A file that this
library writes has the marker of its layout in its name, and after changes a hash of its columns.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from schema_core.base.contained_paths import normalize_path
from schema_core.base.lazy import dataclass, regex
from schema_core.catalog.changes import table_changes
from schema_core.catalog.changes.normal_forms import normal_type, steps_of
from schema_core.catalog.changes.table_changes import Path
from schema_core.catalog.own_options import COLUMN_HISTORY, require_no_own_options
from schema_core.errors import SchemaError
from schema_core.schema.columns import UnresolvedColumn, UnresolvedPhysicalColumn
from schema_core.types import DataType, RowType

if TYPE_CHECKING:
    from schema_core.catalog.managed import ManagedStorage
    from schema_core.catalog.objects import CatalogBaseTable, CatalogTable

Table = TypeVar("Table", bound="CatalogBaseTable")

KEY: Final = COLUMN_HISTORY
VERSION: Final = 1
#: Formats whose files have one column, whose name does not matter.
ONE_COLUMN: Final = frozenset({"raw", "text"})
#: Formats whose files list their columns, so that a reader sees their names.
LISTED: Final = frozenset({"parquet", "orc", "avro"})
#: The prefix of a name that no file has: a part that a file does not hold is read by it, as NULL.
ABSENT: Final = "schema_core_absent_"

#: The old path of a name, None if it is new; the new path, None if it is dropped.
NameChange: TypeAlias = tuple[Path | None, Path | None]

_HASH: Final = "[0-9a-f]{12}"
_MARKED = regex(rf"part-({_HASH})-(?:({_HASH})-)?[0-9]{{5,}}-[^/]*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns and fields of files that were written after some of a table's changes.

    Attributes:
        paths: Path of a current column or field -> its path in the files, if they hold it.
        columns: The names of all columns in the files, in order.
        others: Number of a later change that dropped a column or field -> its path in the files.
    """

    paths: Mapping[Path, Path]
    columns: tuple[str, ...]
    others: Mapping[int, Path] = field(default_factory=dict)

    def all_paths(self) -> frozenset[Path]:
        """Return the paths of all columns and fields, without the fields of dropped ones."""
        return frozenset({*self.paths.values(), *self.others.values()})


@dataclass(frozen=True, slots=True)
class LayoutChange:
    """One change of the columns and fields of a table: added, dropped, renamed or moved.

    An added part has no `old` path, a dropped one no `new` path, but the `place` among the parts
    beside it. If both paths are those of a row, or empty for the table, its parts were moved, and
    had the `names` in this order before.
    """

    old: Path | None = None
    new: Path | None = None
    place: int = 0
    names: tuple[str, ...] = ()

    def undo(self, layout: Layout, number: int) -> Layout:
        """Return the layout before the change, which has this number in the history."""
        old, new = self.old, self.new
        columns = [*layout.columns]
        if old is None and new is not None:
            paths = {path: at for path, at in layout.paths.items() if not is_within(at, new)}
            others = {drop: at for drop, at in layout.others.items() if not is_within(at, new)}
            return Layout(paths, tuple(c for c in columns if (c,) != new), others)
        if old is not None and new is None:
            if len(old) == 1:
                columns.insert(self.place, old[0])
            return Layout(layout.paths, tuple(columns), {**layout.others, number: old})
        if old == new or old is None or new is None:
            columns = [*self.names] if old == () else columns
            return Layout(layout.paths, tuple(columns), layout.others)
        return Layout(
            {path: move_path(at, new, old) for path, at in layout.paths.items()},
            tuple(move_path((name,), new, old)[0] for name in columns),
            {drop: move_path(at, new, old) for drop, at in layout.others.items()},
        )

    def to_json(self) -> list[Any]:
        """Return the change as the option has it."""
        if self.old is None:
            return ["add", list(self.new or ())]
        if self.new is None:
            return ["drop", list(self.old), self.place]
        if self.old == self.new:
            return ["move", list(self.old), list(self.names)]
        return ["rename", list(self.old), list(self.new)]

    @classmethod
    def of_json(cls, document: Any) -> LayoutChange:
        """Return the change of a JSON value that may have any form (`ValueError`)."""
        match document:
            case ["add", path]:
                return cls(None, _path_of_json(path))
            case ["drop", path, int(place)] if place >= 0:
                return cls(_path_of_json(path), None, place)
            case ["move", path, names]:
                row = _path_of_json(path) if path else ()
                return cls(row, row, 0, _path_of_json(names))
            case ["rename", old, new] if old != new:
                return cls(_path_of_json(old), _path_of_json(new))
        raise ValueError(document)


def _path_of_json(value: Any) -> Path:
    if isinstance(value, list) and value and all(isinstance(name, str) for name in value):
        return tuple(value)
    raise ValueError(value)


@dataclass(frozen=True, slots=True)
class ColumnHistory:
    """The changes of a table's columns and fields, the oldest first.

    `origin` is the fingerprint of the columns before the first change, empty without changes.

    >>> history = ColumnHistory((LayoutChange(("a",), ("b",)), LayoutChange(None, ("c",))))
    >>> [layout.columns for layout in history.layouts([("b",), ("c",)])]
    [('a',), ('b',), ('b', 'c')]
    >>> history.names_of([("b",), ("c",)])
    {('b',): ('a', 'b'), ('c',): ('c',)}
    """

    changes: tuple[LayoutChange, ...] = ()
    origin: str = ""

    @staticmethod
    def of(options: Mapping[str, str]) -> ColumnHistory:
        """Return the history in the options of a table (`invalid-option-value`).

        A value not written by this library is an error: without the history, older files would be
        read as NULL, or as other columns.
        """
        text = options.get(KEY)
        if text is None:
            return ColumnHistory()
        try:
            return _parse(json.loads(text))
        except (ValueError, TypeError, AttributeError, RecursionError):
            raise SchemaError(
                f"malformed value of option {KEY!r}",
                code="invalid-option-value",
                hint="restore the definition of the table",
            ) from None

    def __str__(self) -> str:
        changes = [change.to_json() for change in self.changes]
        document = {"version": VERSION, "origin": self.origin, "changes": changes}
        return json.dumps(document, ensure_ascii=False)

    def __bool__(self) -> bool:
        return bool(self.changes)

    @property
    def adds_only(self) -> bool:
        """Whether columns and fields were only added, so that others find the rest by name."""
        return all(change.old is None for change in self.changes)

    def of_table(self, table: Table) -> Table:
        """Return a table as it is stored with this history."""
        return table.copy({**table.options, KEY: str(self)}) if self else table

    def layouts(self, paths: Collection[Path]) -> tuple[Layout, ...]:
        """Return the layouts of files of every age, the oldest first.

        `paths` are the current paths of the columns that files hold, in order, and their fields.
        """
        layout = Layout({path: path for path in paths}, _columns_of(paths))
        layouts = [layout]
        for number in reversed(range(len(self.changes))):
            layout = self.changes[number].undo(layout, number)
            layouts.append(layout)
        return tuple(reversed(layouts))

    def markers(self, paths: Collection[Path]) -> tuple[str, ...]:
        """Return the marker of each layout, as names of files have it.

        It is a hash of all changes before it: tables with equal markers have equal histories.
        """
        markers = [self.origin or fingerprint([list(path) for path in paths])]
        for change in self.changes:
            markers.append(fingerprint([markers[-1], change.to_json()]))
        return tuple(markers)

    def names_of(self, paths: Collection[Path]) -> dict[Path, tuple[str, ...]]:
        """Return the names that each current column and field has in files, the oldest first."""
        layouts = self.layouts(paths)
        return {
            path: tuple(
                dict.fromkeys(layout.paths[path][-1] for layout in layouts if path in layout.paths)
            )
            for path in paths
        }

    def reused_paths(self, paths: Collection[Path]) -> dict[Path, None]:
        """Return the paths by which files of different ages have different columns or fields."""
        owners: dict[Path, set[Path | int]] = {}
        for layout in self.layouts(paths):
            parts: list[tuple[Path | int, Path]] = [*layout.paths.items(), *layout.others.items()]
            for owner, path in parts:
                owners.setdefault(path, set()).add(owner)
        return {path: None for path, parts in owners.items() if len(parts) > 1}

    def after(
        self, before: Collection[Path], after: Collection[Path], changes: Iterable[NameChange]
    ) -> ColumnHistory:
        """Return the history after changes of the columns and fields of a table.

        `before` and `after` are the paths of what files hold, in order; `changes` say which part
        is which: all others with equal paths are the same.
        """
        log: list[LayoutChange] = []
        parts, added = [*before], set[Path]()
        for old, new in changes:
            if old is not None and new is not None and old in parts:
                log.append(LayoutChange(old, new))
                parts = [move_path(path, old, new) for path in parts]
                added = {move_path(path, old, new) for path in added}
            elif old is not None and new is None and old in parts:
                log.append(LayoutChange(old, None, _siblings(parts, old[:-1]).index(old[-1])))
                parts = [path for path in parts if not is_within(path, old)]
                added -= {path for path in added if is_within(path, old)}
            elif old is None and new is not None and new not in parts:
                is_part = any(is_within(new, outer) for outer in added)
                log += [] if is_part else [LayoutChange(None, new)]
                parts.append(new)
                added.add(new)
        for row in dict.fromkeys(path[:-1] for path in after):
            names, wanted = _siblings(parts, row), _siblings(after, row)
            same = [name for name in names if (*row, name) not in added]
            if same != [name for name in wanted if (*row, name) not in added]:
                log.append(LayoutChange(row, row, 0, tuple(names)))
        if not log:
            return self
        origin = self.origin or fingerprint([list(path) for path in before])
        return ColumnHistory((*self.changes, *log), origin)


def _parse(document: Any) -> ColumnHistory:
    """Return the history of a JSON value that may have any form (`ValueError`, `TypeError`)."""
    match document:
        case {"version": int(version), "origin": str(origin), "changes": [*changes]} if (
            len(document) == 3 and version == VERSION and re.fullmatch(_HASH, origin)
        ):
            return ColumnHistory(tuple(map(LayoutChange.of_json, changes)), origin)
    raise ValueError(document)


def fingerprint(value: Any) -> str:
    """Return twelve hexadecimal digits that identify a JSON value."""
    import hashlib  # loads OpenSSL

    text = json.dumps(value, ensure_ascii=False)
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:12]


def is_marked(file: str) -> bool:
    """Return whether the name of a file has a marker, of any table.

    >>> is_marked("part-0123456789ab-00000-x.csv"), is_marked("part-00000-x.csv")
    (True, False)
    """
    return _MARKED.fullmatch(file) is not None


class FileMarkers:
    """The markers in the names of a table's files.

    A marker that is not in the history is of another table, which had the path before: its file has
    a layout of this one if it has the same columns and no name is used twice.

    >>> history = ColumnHistory().after([("a",)], [("a",), ("b",)], [(None, ("b",))])
    >>> markers = FileMarkers(history, [("a",), ("b",)])
    >>> older, same = FileMarkers(ColumnHistory(), [("a",)]), FileMarkers(ColumnHistory(), ["b"])
    >>> [markers.version_of(f"{each.new}-00000-x") for each in (older, markers, same)]
    [0, 1, None]
    """

    def __init__(self, history: ColumnHistory, paths: Collection[Path]) -> None:
        markers, columns = history.markers(paths), fingerprint([list(path) for path in paths])
        self._versions = {marker: version for version, marker in enumerate(markers)}
        self._same: dict[str, int] = {}
        if not history.reused_paths(paths):
            self._same = {history.origin or columns: 0, columns: len(markers) - 1}
        #: what begins the names of new files; a number follows
        self.new: str = f"part-{markers[-1]}-{columns}" if history else f"part-{columns}"

    def version_of(self, file: str) -> int | None:
        """Return the position of a file's layout, None without a marker that shows it."""
        match = _MARKED.fullmatch(file)
        if match is None:
            return None
        return self._versions.get(match[1], self._same.get(match[2] or match[1]))

    @property
    def unknown(self) -> str:
        """A regular expression that finds a marked name whose layout is unknown, in a path."""
        history, same = "|".join(self._versions), "|".join(self._same) or "none"
        known = f"(?:{history})-(?:{_HASH}-)?|(?:{_HASH}-)?(?:{same})-"
        return rf"/part-(?!(?:{known})[0-9]{{5,}}-)(?:{_HASH}-){{1,2}}[0-9]{{5,}}-[^/]*$"


def _columns_of(paths: Iterable[Path]) -> tuple[str, ...]:
    return tuple(path[0] for path in paths if len(path) == 1)


def _siblings(paths: Iterable[Path], row: Path) -> list[str]:
    return [path[-1] for path in paths if path[:-1] == row]


def is_within(path: Path, outer: Path) -> bool:
    """Return whether a path is that of a column or field, or of a part of it."""
    return path[: len(outer)] == outer


def move_path(path: Path, old: Path, new: Path) -> Path:
    """Return a path after a part that may contain it was renamed."""
    return (*new, *path[len(old) :]) if is_within(path, old) else path


# --- definitions ---------------------------------------------------------------------------------


def file_format(options: Mapping[str, str], storage: ManagedStorage | None) -> str | None:
    """Return the format of a table's files, None for a table of another connector."""
    if "connector" in options:
        return options.get("format") if options["connector"] == "filesystem" else None
    return None if storage is None else options.get("format", storage.form)


def history_of_same_files(
    source: CatalogTable, options: Mapping[str, str], new: CatalogTable
) -> ColumnHistory | None:
    """Return the history that a new table takes over from a table with the same files.

    None if the files, which `options` locate, are others, or if nothing was changed. `new` has the
    columns of `source`, and more. Errors: as `ColumnHistory.of`.
    """
    if KEY not in options or not _files(options) == _files(new.options) is not None:
        return None
    before, after = file_paths(source), file_paths(new)
    return ColumnHistory.of(options).after(before, after, replaced_names(before, after))


def _files(options: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the path and format of a table's files; None for another connector."""
    if options.get("connector") != "filesystem" or "path" not in options:
        return None
    path = normalize_path(options["path"])
    if "://" not in path:
        path = os.path.realpath(path)
    return path.rstrip("/"), options.get("format", "")


def with_column_history(
    table: CatalogTable,
    before: CatalogTable,
    changes: Iterable[NameChange],
    storage: ManagedStorage | None,
) -> CatalogTable:
    """Return a changed table, as the catalog stores it, with the history of its columns.

    `table` has the options of `before`; the catalog's managed tables have `storage`. Errors: as
    `ColumnHistory.of`.
    """
    form = file_format(table.options, storage)
    if form is None or form in ONE_COLUMN:
        return table
    keys = {*before.partition_keys, *table.partition_keys}
    stored = [
        (old, new) for old, new in changes if not keys & {path[0] for path in (old, new) if path}
    ]
    history = ColumnHistory.of(table.options)
    after = history.after(file_paths(before), file_paths(table), stored)
    return table if after is history else after.of_table(table)


def file_paths(table: CatalogTable) -> dict[Path, None]:
    """Return the paths of the columns that a table's files hold, in order, and of their fields."""
    paths = paths_of(table.schema.columns)
    return {path: None for path in paths if path[0] not in table.partition_keys}


def paths_of(columns: Iterable[UnresolvedColumn]) -> dict[Path, None]:
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


def _field_paths(type_: DataType, path: Path) -> dict[Path, None]:
    paths: dict[Path, None] = {}
    for step, child in zip(steps_of(type_), type_.children(), strict=False):
        if isinstance(type_, RowType):
            paths[*path, step] = None
        paths |= _field_paths(child, (*path, step))
    return paths


def replaced_names(before: Iterable[Path], after: Iterable[Path]) -> list[NameChange]:
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


def _paths_of_part(part: table_changes.StoredPart | None) -> dict[Path, None]:
    if part is None or not part.in_files:
        return {}
    type_ = normal_type(part.data_type)
    within = _field_paths(type_, part.path) if isinstance(type_, DataType) else {}
    return {part.path: None, **within}


def add_column_history(
    table: CatalogTable,
    changes: tuple[table_changes.TableChange, ...],
    old: CatalogTable,
    storage: ManagedStorage | None,
) -> tuple[CatalogTable, tuple[table_changes.TableChange, ...]]:
    """Return a changed table with its history, and the changes that lead to it.

    `old` is the table before, as stored; the catalog's managed tables have `storage`. Errors: as
    `with_column_history`; `reserved-option` for an option that only this library sets.
    """
    for change in changes:
        if isinstance(change, table_changes.OptionChange):
            require_no_own_options([change.key])
    stored = with_column_history(table, old, name_changes(changes), storage)
    if stored is table:
        return table, changes
    option = table_changes.SetOption(KEY, stored.options[KEY], old.options.get(KEY))
    return stored, (*changes, option)
