"""The guard of `upgrade` and `downgrade`: no ALTER TABLE that the files of the table do not follow.

Without it, a handwritten migration is applied, and the next query of the table fails or returns
other values. A table without files follows every change.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from functools import partial
from typing import Final

from schema_core.base.contained_paths import is_hidden, normalize_path
from schema_core.base.lazy import dataclass, regex
from schema_core.base.paths import ObjectIdentifier, UnresolvedPath, join_names
from schema_core.base.secrets import without_secrets
from schema_core.catalog.changes.column_history import ColumnHistory, FileMarkers, file_paths
from schema_core.catalog.changes.table_changes import Path
from schema_core.catalog.managers import FoundTable
from schema_core.catalog.objects import ResolvedCatalogTable
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import SchemaError
from schema_core.mappings.stored_types import NO_RENAMES, Renames, TypeFinding
from schema_core.migration.rows.stored_rows import StoredRows, find_rewrites, find_row_differences
from schema_core.sql.statement_syntax import Alter, ObjectKind, RenameColumn, Statement

#: Findings, beside those that require a rewrite, with which a reader refuses each older file.
REFUSED: Final = frozenset({"required-field-added"})
#: Findings with which a reader refuses the older files of other programs and tables.
FOREIGN: Final = frozenset({"columns-moved", "name-reused"})
#: Findings with which a reader refuses files that are older than the column.
OLDER: Final = frozenset({"nullability-narrowed"})
_SCHEME = regex(r"[A-Za-z][A-Za-z0-9+.-]*:/")


@dataclass(frozen=True, slots=True)
class WrittenFiles:
    """The files that a data step, which is not run yet, writes into a table.

    Attributes:
        version: The position of their layout in the history of the table.
        are_all: Whether they replace all other files.
    """

    version: int
    are_all: bool = False

    @classmethod
    def of_step(
        cls, environment: TableEnvironment, identifier: ObjectIdentifier, *, are_all: bool
    ) -> WrittenFiles:
        """Return the files of a step that writes the rows of a table as it is now."""
        entry = environment.catalog_manager.find_permanent(identifier)
        history = ColumnHistory.of({} if entry is None else entry.hidden)
        return cls(len(history.changes), are_all)

    def follow(self, entry: FoundTable, finding: TypeFinding) -> bool:
        """Return whether the files follow a change of the table, despite a finding."""
        if finding.kind in OLDER:
            return self.version not in _versions_without(entry, finding.path)
        return finding.kind in FOREIGN


@contextmanager
def require_files_follow(
    environment: TableEnvironment,
    statement: Statement,
    accepted: Collection[str] = (),
    *,
    written: WrittenFiles | None = None,
) -> Iterator[None]:
    """Require that the files of a table follow the statement that the block executes.

    ALTER TABLE changes the definition only. Files follow if the reader of their format returns the
    old rows as the new definition says.

    Args:
        environment: The environment that executes the statement.
        statement: Any statement; others than ALTER TABLE are not checked.
        accepted: Kinds of findings that a comment accepts (see `acceptances`), for files that were
            moved or converted by hand.
        written: The files of data steps before the statement, which are not run yet.

    Raises:
        SchemaError: with code `rows-do-not-fit` if the table has files, or if this cannot be
            known.
    """
    old, entry = _find_rows(environment, statement)
    yield
    new, changed = _find_rows(environment, statement)
    if entry is None or old is None or new is None or not isinstance(statement, Alter):
        return
    differences = _find_differences(old, new, _renames_of(statement))
    for finding in (*differences, *_find_reused_names(entry, changed)):
        if finding.kind in accepted:
            continue
        if written is not None and not written.follow(entry, finding):
            raise _error(entry, finding, statement, "as those that a data step before writes")
        if not (written is not None and written.are_all and finding.kind in OLDER):
            _require_no_files(environment, entry, finding, statement)


def _find_rows(
    environment: TableEnvironment, statement: Statement
) -> tuple[StoredRows | None, FoundTable | None]:
    """Return the rows of the table whose definition a statement alters, and its entry."""
    if not isinstance(statement, Alter) or statement.kind is not ObjectKind.TABLE:
        return None, None
    identifier: ObjectIdentifier = UnresolvedPath(statement.path.parts).qualify(
        environment.get_current_catalog(), environment.get_current_database()
    )
    entry = environment.catalog_manager.find_permanent(identifier)
    if entry is None or not isinstance(entry.table, ResolvedCatalogTable):
        return None, None
    return StoredRows.of(entry.table.copy(dict(entry.derived or entry.table.options))), entry


def _find_differences(old: StoredRows, new: StoredRows, renames: Renames) -> Iterator[TypeFinding]:
    if old.options.get("connector") != "filesystem":
        return
    yield from find_rewrites(old, new, renames)
    for finding in find_row_differences(old, new, renames=renames):
        if finding.kind in REFUSED | FOREIGN | OLDER:
            yield finding


def _find_reused_names(old: FoundTable, new: FoundTable | None) -> Iterator[TypeFinding]:
    """Yield the columns and fields that got a name by which older files have another one."""
    if new is not None:
        before, after = map(_reused_names, (old, new))
        for path in after - before:
            yield TypeFinding("name-reused", path, "older files have another column by the name")


def _reused_names(entry: FoundTable) -> AbstractSet[Path]:
    return ColumnHistory.of(entry.hidden).reused_paths(_paths_in_files(entry)).keys()


def _renames_of(statement: Statement) -> Renames:
    change = statement.change if isinstance(statement, Alter) else None
    if not isinstance(change, RenameColumn):
        return NO_RENAMES
    return {change.column.parts: change.new_name.parts[-1]}


def _require_no_files(
    environment: TableEnvironment, entry: FoundTable, finding: TypeFinding, statement: Alter
) -> None:
    concerns: Callable[[str], bool] = _is_file
    if finding.kind in FOREIGN:
        concerns = partial(_has_version, _markers(entry), frozenset({None}))
    elif finding.kind in OLDER:
        older = _versions_without(entry, finding.path)
        if not older:
            return
        # those of other programs may be older
        concerns = partial(_has_version, _markers(entry), older | {None})
    file = _find_file(environment, entry, concerns)
    if file is not None:
        raise _error(entry, finding, statement, f"for example {file!r}")


def _error(entry: FoundTable, finding: TypeFinding, statement: Alter, files: str) -> SchemaError:
    name = entry.identifier.as_summary_string()
    path = join_names(statement.path.parts)
    remedy = f"write '-- rewrite: {path}' before the statement, which then rewrites the rows"
    if finding.kind in REFUSED:
        remedy = "add the column as nullable, fill it, and declare it NOT NULL afterwards"
    elif finding.kind in OLDER:
        remedy = f"fill it by an UPDATE of {path} before, which replaces the older files"
    place = join_names(finding.path)
    return SchemaError(
        f"the files of table {name} do not follow the change: {place}: {finding.reason} "
        f"[{finding.kind}], {files}",
        code="rows-do-not-fit",
        hint=f"{remedy}; if the files were changed by other means, write "
        f"'-- lint: accept {finding.kind}: REASON' before the statement",
        span=statement.span,
    )


def _find_file(
    environment: TableEnvironment, entry: FoundTable, concerns: Callable[[str], bool]
) -> str | None:
    """Return a file of a table that a predicate selects, or None."""
    options = environment.catalog_manager.registry.resolve_options(entry.connector_options)
    file = find_file(options.get("path", ""), concerns)
    return None if file is None else without_secrets(str(file), options)


def has_older_files(environment: TableEnvironment, entry: FoundTable) -> bool:
    """Return whether a table has files of an earlier layout, or if this cannot be known."""
    if entry.connector_options.get("connector") != "filesystem":
        return False
    changes = ColumnHistory.of(entry.hidden).changes
    if not changes:
        return False
    older = frozenset({None, *range(len(changes))})
    concerns = partial(_has_version, _markers(entry), older)
    return _find_file(environment, entry, concerns) is not None


def _versions_without(entry: FoundTable, path: Path) -> frozenset[int]:
    """Return the versions of the layouts that are older than a column or field."""
    layouts = ColumnHistory.of(entry.hidden).layouts(_paths_in_files(entry))
    return frozenset(version for version, layout in enumerate(layouts) if path not in layout.paths)


def _markers(entry: FoundTable) -> FileMarkers:
    return FileMarkers(ColumnHistory.of(entry.hidden), _paths_in_files(entry))


def _paths_in_files(entry: FoundTable) -> tuple[Path, ...]:
    table = entry.table
    return tuple(file_paths(table)) if isinstance(table, ResolvedCatalogTable) else ()


def _is_file(name: str) -> bool:
    return not is_hidden(name, is_directory=False)


def _has_version(markers: FileMarkers, versions: AbstractSet[int | None], name: str) -> bool:
    """Return whether a file has one of some layouts; None is that of other programs and tables."""
    return _is_file(name) and markers.version_of(name) in versions


def find_file(path: str, concerns: Callable[[str], bool] = _is_file) -> str | None:
    """Return a file of a table at a path, or the path if it cannot be listed; None without files.

    `concerns` returns whether a file of a name is meant. Links are followed, as Spark does.

    >>> find_file("/nowhere/t"), find_file("s3://bucket/t"), find_file("hdfs:/data/t")
    (None, 's3://bucket/t', 'hdfs:/data/t')
    """
    local = normalize_path(path)
    if _SCHEME.match(local):
        return path
    if os.path.isfile(local):  # noqa: PTH113 - paths are strings here
        return local
    unreadable: list[OSError] = []
    visited = set[str]()
    for parent, directories, files in os.walk(local, onerror=unreadable.append, followlinks=True):
        place = os.path.realpath(parent)
        shown = [name for name in directories if not is_hidden(name, is_directory=True)]
        directories[:] = [] if place in visited else shown  # links may form a loop
        visited.add(place)
        for name in files:
            if concerns(name):
                return os.path.join(parent, name)  # noqa: PTH118
    is_unknown = any(not isinstance(error, FileNotFoundError) for error in unreadable)
    return path if is_unknown else None
