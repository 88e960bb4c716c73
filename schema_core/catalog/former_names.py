"""Former names of columns, by which the older files of a table have them.

ALTER TABLE renames a column in the catalog; the files that were written before keep the former
name. The catalog keeps the former names in an option that a session does not show, and readers of
files use them. Law: a file has the column under the first of `FormerNames.names_of` that it has.
That is exact because no other column can take a former name: it is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from schema_core.catalog.managed import KEY as FOLDER
from schema_core.catalog.table_changes import (
    AddColumn,
    DropColumn,
    ModifyColumn,
    ModifyColumnName,
    ModifyFieldName,
    ResetOption,
    SetOption,
    TableChange,
    print_path,
)
from schema_core.errors import SchemaError, UnsupportedError
from schema_core.schema.columns import UnresolvedPhysicalColumn

if TYPE_CHECKING:
    from schema_core.catalog.managed import ManagedStorage
    from schema_core.catalog.objects import CatalogBaseTable, CatalogTable

Table = TypeVar("Table", bound="CatalogBaseTable")

#: The option that holds the former names.
KEY: Final = "schema-core.former-names"
#: The version of its value.
VERSION: Final = 1
#: The options that only this library sets.
RESERVED: Final = (KEY, FOLDER)

#: Formats whose files have columns by position, or only one: their names do not matter.
POSITIONAL: Final = frozenset({"raw", "text"})
#: Formats whose files list their columns, so that a reader sees which names a file has.
LISTED: Final = frozenset({"parquet", "orc"})

#: A change of one name: the old name, None for a new column; the new name, None for a dropped one.
NameChange: TypeAlias = tuple[str | None, str | None]


@dataclass(frozen=True, slots=True)
class FormerNames:
    """The former names of the columns of a table, the oldest first.

    `dropped` are the names of dropped columns, where the rows of older files do not show which
    columns they have: no column is renamed to one of them.

    >>> renamed = FormerNames().after("a", "b").after("b", "c")
    >>> renamed.names_of("c"), renamed.names_of("d")
    (('a', 'b', 'c'), ('d',))
    """

    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    dropped: frozenset[str] = frozenset()

    @staticmethod
    def of(options: Mapping[str, str]) -> FormerNames:
        """Return the former names that the options of a table hold.

        Raises:
            SchemaError: with code `invalid-option-value` for a value that this library does not
                write: without the names, older files would be read as NULL.
        """
        text = options.get(KEY)
        if text is None:
            return FormerNames()
        try:
            found = _parsed(json.loads(text))
        except (ValueError, TypeError, KeyError, RecursionError):
            found = None
        if found is None:
            raise SchemaError(
                f"option {KEY!r} has a value that this library does not write",
                code="invalid-option-value",
                hint="restore the definition of the table",
            )
        return found

    def __str__(self) -> str:
        columns = {name: list(names) for name, names in sorted(self.columns.items())}
        document = {"version": VERSION, "columns": columns, "dropped": sorted(self.dropped)}
        return json.dumps(document, ensure_ascii=False)

    def __bool__(self) -> bool:
        return bool(self.columns or self.dropped)

    def names_of(self, column: str) -> tuple[str, ...]:
        """Return the names of a column in files, in the order in which a file is searched.

        The current name is the last one, unless the column had it before.
        """
        return tuple(dict.fromkeys((*self.columns.get(column, ()), column)))

    def after(self, old: str | None, new: str | None, *, listed: bool = True) -> FormerNames:
        """Return the former names after a column was renamed, added or dropped.

        Args:
            old: The name of the column before, None for a new one.
            new: The name after, None for one that is dropped.
            listed: Whether files list their columns. If not, the names of dropped columns are kept.

        Raises:
            SchemaError: with code `former-name` where older files have other data by the new name.
        """
        columns, dropped = dict(self.columns), set(self.dropped)
        if new is not None:
            self.require_free(old, new)
        if old is None and new is not None:
            dropped.discard(new)
        elif old is not None and new is None:
            dropped |= set() if listed else {old}
        elif old is not None and new is not None:
            former = (*columns.pop(old, ()), old)
            columns[new] = tuple(dict.fromkeys(former))
        return FormerNames(columns, frozenset(dropped))

    def require_free(self, old: str | None, new: str) -> None:
        """Refuse a name by which older files have data of another column.

        Raises:
            SchemaError: with code `former-name`.
        """
        for name, former in self.columns.items():
            # a dropped column keeps its former names, with which it may be added again
            if name != (old or new) and (new in former or name == new):
                raise _taken(f"older files of the table have column {name!r} by the name {new!r}")
        if old is not None and new in self.dropped:
            raise _taken(f"older files of the table may have a dropped column {new!r}")


def _taken(problem: str) -> SchemaError:
    return SchemaError(
        problem,
        code="former-name",
        hint="use another name, or rewrite the table, which replaces its older files",
    )


def _parsed(document: Any) -> FormerNames | None:
    """Return the former names of a JSON document, None if it is not one."""
    if document["version"] != VERSION or document.keys() != {"version", "columns", "dropped"}:
        return None
    columns = {name: tuple(names) for name, names in document["columns"].items()}
    every = [one for names in (*columns.values(), document["dropped"]) for one in names]
    former = [one for name, names in columns.items() for one in {*names, name}]
    is_valid = all(isinstance(one, str) for one in every) and len(former) == len(set(former))
    return FormerNames(columns, frozenset(document["dropped"])) if is_valid else None


# --- definitions ---------------------------------------------------------------------------------


def format_by_name(options: Mapping[str, str], storage: ManagedStorage | None) -> str | None:
    """Return the format of the files of a table if they have columns by name, else None.

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


def former_names_option(table: CatalogBaseTable) -> dict[str, str]:
    """Return the option with the former names of a stored table; none if it has none."""
    return {KEY: table.options[KEY]} if KEY in table.options else {}


def with_former_names(
    table: CatalogTable, changes: Iterable[NameChange], storage: ManagedStorage | None
) -> CatalogTable:
    """Return a changed table, as the catalog stores it, with the former names of its columns.

    Args:
        table: The table after the changes, with the former names from before.
        changes: The changes of names, in their order.
        storage: The storage of the catalog for its managed tables.

    Raises:
        SchemaError: with code `former-name`; as `FormerNames.of`.
    """
    form = format_by_name(table.options, storage)
    if form is None:
        return table
    names = found = FormerNames.of(table.options)
    for old, new in changes:
        if old not in table.partition_keys and new not in table.partition_keys:
            names = names.after(old, new, listed=form in LISTED)
    for column in table.schema.columns:
        if isinstance(column, UnresolvedPhysicalColumn):
            names.require_free(None, column.name)
    if names == found:
        return table
    return table.copy({**table.options, **({KEY: str(names)} if names else {})})


def without_former_names(table: Table) -> Table:
    """Return a table as users see it."""
    if KEY not in table.options:
        return table
    return table.copy({key: value for key, value in table.options.items() if key != KEY})


def name_changes(changes: Iterable[TableChange]) -> list[NameChange]:
    """Return the changes of names of physical columns among the changes of a table."""
    found: list[NameChange] = []
    for change in changes:
        match change:
            case AddColumn(UnresolvedPhysicalColumn(name)):
                found.append((None, name))
            case ModifyColumnName(UnresolvedPhysicalColumn(old), name):
                found.append((old, name))
            case ModifyColumn(old, new) if old.name != new.name:
                found += [(old.name, None), (None, new.name)]
            case DropColumn(UnresolvedPhysicalColumn(name)):
                found.append((name, None))
            case _:
                pass
    return found


def changed_by(
    table: CatalogTable,
    changes: tuple[TableChange, ...],
    old: CatalogTable,
    storage: ManagedStorage | None,
) -> tuple[CatalogTable, tuple[TableChange, ...]]:
    """Return a table after changes with its former names, and the changes that lead to it.

    Args:
        table: The table after the changes.
        changes: The changes.
        old: The table before them, as it is stored.
        storage: The storage of the catalog for its managed tables.

    Raises:
        SchemaError: with code `reserved-option` for a change of an option that only this library
            sets; as `with_former_names`.
        UnsupportedError: with code `field-rename-not-supported` for a renamed field of a column,
            where files have fields by name.
    """
    for change in changes:
        if isinstance(change, SetOption | ResetOption):
            require_not_reserved([change.key])
        if isinstance(change, ModifyFieldName) and format_by_name(old.options, storage) is not None:
            raise UnsupportedError(
                f"cannot rename field {print_path((*change.path, change.old_field.name))}: "
                "the files of the table have it by this name",
                code="field-rename-not-supported",
                hint="rewrite the table, which replaces its files",
            )
    stored = with_former_names(table, name_changes(changes), storage)
    if stored is table:
        return table, changes
    option = SetOption(KEY, stored.options[KEY], old.options.get(KEY))
    return stored, (*changes, option)


def require_not_reserved(keys: Iterable[str]) -> None:
    """Refuse options that only this library sets.

    Raises:
        SchemaError: with code `reserved-option`.
    """
    for key in keys:
        if key in RESERVED:
            raise SchemaError(
                f"the option {key!r} is set by this library",
                code="reserved-option",
                hint="remove the option",
            )
