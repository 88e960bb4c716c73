"""The layouts that files of a table have, by their age.

A file of this library has the marker of its layout in its name. A file of another program has not:
its layout is the one that fits the columns that it lists, and a file is refused if two layouts fit
that read different values.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from schema_core.base.contained_paths import decode_uri
from schema_core.catalog.changes.column_history import (
    ColumnHistory,
    FileMarkers,
    Layout,
    LayoutChange,
    is_marked,
    is_within,
)
from schema_core.catalog.changes.table_changes import Path, print_path
from schema_core.errors import ExternalError

if TYPE_CHECKING:
    from pyspark.sql.types import DataType as SparkType

#: Which columns a file has whose marker is of another table.
OTHER: Final = "other columns than those that the table has or had, and has them by position"
READ_APART: Final = "move the file away, read it by a table with its columns, and INSERT its rows"


class FileAges:
    """The layouts of a table's files.

    >>> history = ColumnHistory().after([("a",)], [("b",)], [(("a",), ("b",))])
    >>> ages = FileAges(history, [("b",)])
    >>> ages.names_of("b"), ages.layout_with([("a",)], "x.orc").paths
    (('a', 'b'), {('b',): ('a',)})
    """

    def __init__(self, history: ColumnHistory, paths: Collection[Path]) -> None:
        self.paths: tuple[Path, ...] = tuple(paths)
        #: the layouts, the oldest first; the last one is the table's
        self.layouts: tuple[Layout, ...] = history.layouts(self.paths)
        changes = history.changes
        #: by layout, whether fields within columns were added, dropped or moved after it
        self._has_other_fields = [
            any(map(_changes_fields, changes[version:])) for version in range(len(self.layouts))
        ]
        self.markers: FileMarkers = FileMarkers(history, self.paths)
        self._names = history.names_of(self.paths)
        #: the paths by which files of different ages have different columns or fields
        self.reused: tuple[Path, ...] = tuple(history.reused_paths(self.paths))
        #: the columns and fields that some files lack because these are older
        self.newer: frozenset[Path] = frozenset(
            path for path in self.paths if any(path not in layout.paths for layout in self.layouts)
        )

    @property
    def has_older(self) -> bool:
        """Whether files may have another layout than the table."""
        return len(self.layouts) > 1

    @property
    def has_renamed(self) -> bool:
        """Whether a column or field has other names in older files."""
        return any(names[:-1] for names in self._names.values())

    def version_of(self, uri: str) -> int | None:
        """Return the position of the layout of a file of this library, None for other files."""
        return self.markers.version_of(_name_of(uri))

    def require_known(self, uris: Iterable[str]) -> None:
        """Refuse files of another table that have columns by position.

        Raises:
            ExternalError: with code `unreadable-file`.
        """
        for uri in uris:
            if self.version_of(uri) is None and is_marked(_name_of(uri)):
                raise ExternalError(
                    f"file {decode_uri(uri)!r} was written with {OTHER}",
                    code="unreadable-file",
                    hint=READ_APART,
                )

    def names_of(self, *path: str) -> tuple[str, ...]:
        """Return the names of a column or field in files, the oldest first."""
        return self._names.get(path, path[-1:])

    def has_fields(self, *path: str) -> bool:
        """Return whether a field within the column or field at a path has former names."""
        return any(
            names[:-1] and is_within(inner, path) and inner != path
            for inner, names in self._names.items()
        )

    def has_other_fields(self, version: int | None) -> bool:
        """Return whether rows within columns have other fields in files of a layout, or of any."""
        return self._has_other_fields[version or 0]

    def only_grows(self) -> bool:
        """Return whether columns were only added after the others, or renamed."""
        columns = self.layouts[-1].columns
        return all(
            layout.columns
            == tuple(layout.paths.get((name,), ("",))[0] for name in columns[: len(layout.columns)])
            for layout in self.layouts
        )

    def layout_with(self, listed: Collection[Path], file: str) -> Layout:
        """Return the layout of a file without a marker, by the paths of what it lists.

        Raises:
            ExternalError: with code `unreadable-file` if two layouts fit.
        """
        known = frozenset(path for layout in self.layouts for path in layout.all_paths())
        present = known.intersection(listed)
        # a layout does not know the fields of columns that were dropped later
        compared = [(layout, present - _unknown_paths(layout, present)) for layout in self.layouts]
        fitting = (
            [layout for layout, paths in compared if layout.all_paths() == paths]
            or [layout for layout, paths in compared if layout.all_paths() >= paths]
            or list(self.layouts)
        )
        readings = {
            tuple(at if at in present else None for at in map(layout.paths.get, self.paths))
            for layout in fitting
        }
        if len(readings) > 1:
            raise self.unknown_age_error(file)
        return fitting[-1]

    def unknown_age_error(self, file: str) -> ExternalError:
        """Return the error for a file without a marker that several layouts fit."""
        reused = ", ".join(map(print_path, self.reused))
        why = f"older files have other values by {reused}" if reused else "columns have been moved"
        return ExternalError(
            f"file {decode_uri(file)!r} does not tell with which columns of "
            f"the table it was written, and {why}",
            code="unreadable-file",
            hint=READ_APART,
        )


def _name_of(uri: str) -> str:
    return unquote(uri).rpartition("/")[2]


def _unknown_paths(layout: Layout, paths: Collection[Path]) -> frozenset[Path]:
    """Return the paths within columns and fields that were dropped later."""
    known, dropped = layout.all_paths(), layout.others.values()
    return frozenset(
        path
        for path in paths
        if path not in known and any(is_within(path, outer) for outer in dropped)
    )


def _changes_fields(change: LayoutChange) -> bool:
    is_rename = change.old is not None and change.new is not None and change.old != change.new
    if change.old == change.new:
        return bool(change.old)
    return not is_rename and len(change.old or change.new or ()) > 1


def listed_paths(type_: SparkType, path: Path = ()) -> Iterator[Path]:
    """Yield the paths of all fields within a type of a file; the keys of a map may be elements."""
    from pyspark.sql.types import ArrayType, MapType, StructType

    match type_:
        case StructType():
            for field in type_.fields:
                yield (*path, field.name)
                yield from listed_paths(field.dataType, (*path, field.name))
        case ArrayType():
            yield from listed_paths(type_.elementType, (*path, "element"))
        case MapType():
            for step in ("key", "element"):
                yield from listed_paths(type_.keyType, (*path, step))
            yield from listed_paths(type_.valueType, (*path, "value"))
