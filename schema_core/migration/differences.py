"""The changes between two definitions, in execution order.

Laws, in normal form: ``apply(diff(a, b), a) == b``, and ``apply(invert(diff(a, b), a), b) == a``.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self, TypeAlias

from schema_core.base.arguments import require_instance, require_sequence
from schema_core.base.plugins import load_higher
from schema_core.catalog.changes import table_changes
from schema_core.catalog.changes.normal_forms import as_table, normalize, steps_of
from schema_core.catalog.objects import CatalogTable, ResolvedCatalogTable
from schema_core.errors import SchemaError
from schema_core.schema.columns import (
    ComputedColumn,
    UnresolvedColumn,
    UnresolvedComputedColumn,
    UnresolvedMetadataColumn,
    UnresolvedPhysicalColumn,
)
from schema_core.schema.resolved import ResolvedSchema
from schema_core.schema.rules import duplicate_names
from schema_core.schema.unresolved import Schema, unresolve
from schema_core.types import DataType, RowField, RowType

#: Path of a column or field in the old definition -> its new name.
Renames: TypeAlias = Mapping[table_changes.Path, str]

#: Renames by name or path.
RenameHints: TypeAlias = (
    Mapping[str, str] | Mapping[table_changes.Path, str] | Mapping[str | table_changes.Path, str]
)

#: What `diff` compares.
Definition: TypeAlias = Schema | ResolvedSchema | CatalogTable


class TableChanges(tuple[table_changes.TableChange, ...]):  # noqa: SLOT001 - Python refuses them for tuples
    """The changes of a table in execution order: a tuple that notebooks show as a table.

    >>> from schema_core import Schema
    >>> new = Schema.new_builder().column("id", "INT").build()
    >>> "<code>AddColumn</code>" in diff(Schema(), new)._repr_html_()
    True
    """

    #: the definition that the changes apply to, in normal form
    before: CatalogTable

    def __new__(cls, changes: Iterable[table_changes.TableChange], before: CatalogTable) -> Self:
        """Return the changes of a definition in normal form.

        Raises:
            SchemaError: with code `invalid-argument` for anything but changes and a table.
        """
        steps = require_sequence(changes, "the changes")
        for step in steps:
            require_instance(step, table_changes.TableChange, "a change")
        made = super().__new__(cls, steps)
        made.before = require_instance(before, CatalogTable, "the definition before the changes")
        return made

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self), self.before

    def to_html(self, title: str = "Changes") -> str:
        """Return a self-contained HTML page: the definitions side by side, and the changes.

        Secrets are masked: an option whose secret changes is listed with the changes only.
        """
        require_instance(title, str, "the title")
        renames = {path[0]: name for path, name in _renames_back(self).items() if len(path) == 1}
        after = table_changes.apply(self, self.before)
        return str(load_higher("changes_page")(self, self.before, after, renames, title))

    def _repr_html_(self) -> str:
        return str(load_higher("changes_html")(self))


def diff(old: Definition, new: Definition, *, renames: RenameHints | None = None) -> TableChanges:
    """Return the changes that lead from one definition to another, in execution order.

    Definitions are compared in normal form: a type string equals its type, expressions are compared
    by syntax and, for two resolved tables, by meaning.

    The order is: parts that are dropped, columns that are changed and renamed, columns that are
    added and moved, other parts, columns that are dropped, options. For one column it is Flink's:
    comment, type, name, position. As few columns as possible are moved.

    Args:
        old: The current definition.
        new: The definition to reach, of the same kind.
        renames: Name of a column, or path of a field -> its new name. Others without a namesake are
            dropped and added; `likely_renames` returns candidates.

    Raises:
        SchemaError: with code `duplicate-column` or `already-declared` for an
            ambiguous definition, `unknown-column` for a rename of or to an unknown name,
            `invalid-argument` for arguments of other types.

    >>> from schema_core import Schema
    >>> old = Schema.new_builder().column("id", "INT").column("name", "STRING").build()
    >>> new = Schema.new_builder().column("id", "BIGINT").column("label", "STRING").build()
    >>> for change in diff(old, new, renames={"name": "label"}):
    ...     print(change)
    ModifyPhysicalColumnType{Column=`id` INT, newType=BIGINT}
    ModifyColumnName{Column=`name` STRING, newName='label'}
    """
    hints = renames_by_path(renames)
    progress = _changes(*_comparable(old, new), hints)
    for path in hints.keys() - progress.used:
        raise SchemaError(
            f"cannot rename {'.'.join(path)!r} to {hints[path]!r}",
            code="unknown-column",
            hint="pass a column or field of the old definition, without the table, and its name in "
            "the new one",
        )
    return TableChanges(progress.changes, progress.start)


def invert(changes: Iterable[table_changes.TableChange], table: Definition) -> TableChanges:
    """Return the changes that undo others, in execution order.

    Renamed columns are renamed back. The data of dropped columns is not restored.

    Args:
        changes: The changes to undo.
        table: The definition that they apply to.

    Raises:
        SchemaError: as `apply` for changes that do not fit the table.

    >>> from schema_core import Schema
    >>> old = Schema.new_builder().column("id", "INT").build()
    >>> new = Schema.new_builder().column("id", "INT").column("name", "STRING").build()
    >>> print(*invert(diff(old, new), old))
    DropColumn{columnName='name'}
    """
    steps = require_sequence(changes, "the changes")
    old = as_table(table)
    new = table_changes.apply(steps, old)
    progress = _changes(*_comparable(new, old), _renames_back(steps))
    return TableChanges(progress.changes, progress.start)


def likely_renames(old: Definition, new: Definition) -> dict[table_changes.Path, str]:
    """Return columns and fields that may have been renamed, as hints for `diff`.

    A candidate has no namesake, and exactly one new column, or field of its row, without a namesake
    has the same definition.

    Raises:
        SchemaError: as `diff`.

    >>> from schema_core import Schema
    >>> old = Schema.new_builder().column("id", "INT").column("name", "STRING").build()
    >>> new = Schema.new_builder().column("id", "INT").column("label", "STRING").build()
    >>> likely_renames(old, new)
    {('name',): 'label'}
    """
    first, second = _comparable(old, new)
    return dict(_candidates((), first.schema.columns, second.schema.columns))


# --- arguments -----------------------------------------------------------------------------------


def _comparable(old: Definition, new: Definition) -> tuple[CatalogTable, CatalogTable]:
    """Return both tables in normal form; every name must occur once."""
    tables = normalize(as_table(old)), normalize(as_table(new))
    for table in tables:
        if twice := duplicate_names(column.name for column in table.schema.columns):
            raise SchemaError(f"duplicate column {twice[0]!r}", code="duplicate-column")
        if twice := duplicate_names(index.name for index in table.schema.indexes):
            raise SchemaError(f"duplicate index {twice[0]!r}", code="already-declared")
        if len(table.schema.watermark_specs) > 1:
            raise SchemaError("a table has at most one watermark", code="already-declared")
    if isinstance(old, ResolvedCatalogTable) and isinstance(new, ResolvedCatalogTable):
        return tables[0], _align_expressions(*tables, old.resolved_schema, new.resolved_schema)
    return tables


def _align_expressions(
    old: CatalogTable, new: CatalogTable, before: ResolvedSchema, after: ResolvedSchema
) -> CatalogTable:
    """Return the new table; expressions that mean the same as before are written as before.

    The meaning is the SQL with implicit casts. If a column has another type, expressions are
    compared as they are written.
    """
    stored = {
        column.name: column.data_type
        for column in before.columns
        if not isinstance(column, ComputedColumn)
    }
    if any(
        stored.get(column.name, column.data_type) != column.data_type for column in after.columns
    ):
        return new
    meaning, target = normalize(unresolve(before)), normalize(unresolve(after))
    same = set(meaning.columns)
    previous = {column.name: column for column in old.schema.columns}
    columns = [
        previous[column.name] if resolved in same else column
        for column, resolved in zip(new.schema.columns, target.columns, strict=True)
    ]
    specs = old if meaning.watermark_specs == target.watermark_specs else new
    schema = replace(
        new.schema, columns=tuple(columns), watermark_specs=specs.schema.watermark_specs
    )
    return replace(new, schema=schema)


def renames_by_path(renames: RenameHints | None) -> dict[table_changes.Path, str]:
    """Return the renames by path."""
    if renames is None:
        return {}
    require_instance(renames, Mapping, "the renames")
    by_path: dict[table_changes.Path, str] = {}
    for path, name in renames.items():
        require_instance(path, (str, tuple), "the path of a rename", "a name or a tuple of names")
        require_instance(name, str, "the new name of a rename")
        by_path[(path,) if isinstance(path, str) else path] = name
    targets = Counter((*path[:-1], name) for path, name in by_path.items())
    for target, count in targets.items():
        if count > 1:
            where = ".".join(target)
            raise SchemaError(f"{count} columns are renamed to {where!r}", code="duplicate-column")
    return by_path


def invert_renames(renames: Renames) -> dict[table_changes.Path, str]:
    """Return the renames back, by paths of new names.

    >>> invert_renames({("r",): "row", ("r", "x"): "y"})
    {('row',): 'r', ('row', 'y'): 'x'}
    """
    return {
        tuple(renames.get(path[: end + 1], name) for end, name in enumerate(path)): path[-1]
        for path in renames
    }


# --- changes of a table --------------------------------------------------------------------------


class Progress:
    """The changes so far, the table before and after them, and used renames."""

    def __init__(self, table: CatalogTable, hints: Renames) -> None:
        self.start: CatalogTable = table
        self.table: CatalogTable = table
        self.hints = hints
        self.changes: list[table_changes.TableChange] = []
        self.used: set[table_changes.Path] = set()

    def make(self, change: table_changes.TableChange) -> None:
        """Append a change and apply it."""
        self.table = change.apply_to(self.table)
        self.changes.append(change)

    @property
    def columns(self) -> dict[str, UnresolvedColumn]:
        """The columns by name, in order."""
        return {column.name: column for column in self.table.schema.columns}

    def type_at(self, path: table_changes.Path) -> DataType:
        """Return the type of a column or of a part of it."""
        type_: Any = getattr(self.columns[path[0]], "data_type", None)
        for step in path[1:]:
            type_ = type_.children()[steps_of(type_).index(step)]
        return type_  # type: ignore[no-any-return]


def _changes(old: CatalogTable, new: CatalogTable, hints: Renames) -> Progress:
    progress = Progress(old, hints)
    columns, target = progress.columns, {column.name: column for column in new.schema.columns}
    pairs = _pairs(progress, (), list(columns), list(target))
    _drop_parts(progress, new)
    for before, after in pairs.items():
        _modify_column(progress, columns[before], target[after])
    _rename_columns(progress, pairs)
    _place_columns(progress, target)
    _set_parts(progress, new)
    _set_indexes(progress, new)
    gone = [column for name, column in progress.columns.items() if name not in target]
    for column in sorted(gone, key=lambda old: not isinstance(old, UnresolvedComputedColumn)):
        progress.make(table_changes.DropColumn(column))
    options = progress.table.options
    for key, value in options.items():
        if key not in new.options:
            progress.make(table_changes.ResetOption(key, value))
    for key, value in new.options.items():
        if options.get(key) != value:
            progress.make(table_changes.SetOption(key, value, options.get(key)))
    return progress


def _pairs(
    progress: Progress, path: table_changes.Path, old: Sequence[str], new: Sequence[str]
) -> dict[str, str]:
    """Return the new name of each column, or field of the row at a path, that stays, by the old.

    Renames that do not name a member of both are ignored.
    """
    here, there = set(old), set(new)
    named = {
        member[-1]: name
        for member, name in progress.hints.items()
        if member and member[:-1] == path and member[-1] in here and name in there
    }
    progress.used |= {(*path, name) for name in named}
    taken = set(named.values())
    return {
        name: named.get(name, name)
        for name in old
        if name in named or (name in there and name not in taken)
    }


def _drop_parts(progress: Progress, new: CatalogTable) -> None:
    """Drop the parts that the new table does not have: they refer to columns."""
    names = {index.name for index in new.schema.indexes}
    for index in progress.table.schema.indexes:
        if index.name not in names:
            progress.make(table_changes.DropIndex(index))
    for row in reversed(table_changes.PARTS):
        part = row.get(progress.table)
        if row.drop is not None and part is not None and row.get(new) is None:
            progress.make(row.drop(part))


def _set_parts(progress: Progress, new: CatalogTable) -> None:
    for row in table_changes.PARTS:
        before, after = row.get(progress.table), row.get(new)
        if before == after:
            continue
        if row.add is not None and before is None:
            progress.make(row.add(after))
        else:
            progress.make(row.modify(before, after))


def _set_indexes(progress: Progress, new: CatalogTable) -> None:
    """Drop and append indexes; those at the start in the right order stay."""
    wanted = new.schema.indexes
    staying = 0
    for index in progress.table.schema.indexes:
        if staying < len(wanted) and index == wanted[staying]:
            staying += 1
        else:
            progress.make(table_changes.DropIndex(index))
    for index in wanted[staying:]:
        progress.make(table_changes.AddIndex(index))


# --- columns -------------------------------------------------------------------------------------


def _modify_column(progress: Progress, column: UnresolvedColumn, target: UnresolvedColumn) -> None:
    name = column.name
    if isinstance(target, UnresolvedMetadataColumn):
        target = replace(target, metadata_key=None if target.key == name else target.key)
    wanted = replace(target, name=name)
    if not isinstance(column, UnresolvedPhysicalColumn) or not isinstance(
        wanted, UnresolvedPhysicalColumn
    ):
        if column != wanted:
            progress.make(table_changes.ModifyColumn(column, wanted))
        return
    if column.comment != wanted.comment:
        progress.make(table_changes.ModifyColumnComment(column, wanted.comment))
    old, new = column.data_type, wanted.data_type
    if isinstance(old, DataType) and isinstance(new, DataType):
        _modify_type(progress, (name,), (name,), new)
    elif old != new:
        progress.make(table_changes.ModifyPhysicalColumnType(progress.columns[name], new))


def _rename_columns(progress: Progress, pairs: Mapping[str, str]) -> None:
    """Rename columns; a dropped one makes way before."""
    taken = {new for old, new in pairs.items() if new != old}
    for name, column in progress.columns.items():
        if name not in pairs and name in taken:
            progress.make(table_changes.DropColumn(column))
    for old, new in rename_steps(pairs, set(progress.columns)):
        progress.make(table_changes.ModifyColumnName(progress.columns[old], new))


def _place_columns(progress: Progress, target: Mapping[str, UnresolvedColumn]) -> None:
    """Move columns and add new ones, computed ones last: they refer to the others."""
    computed = {
        name for name, value in target.items() if isinstance(value, UnresolvedComputedColumn)
    }
    late = computed - progress.columns.keys()
    for order in ([name for name in target if name not in late], list(target)):
        for name, position in placements(progress.columns, order):
            column = progress.columns.get(name)
            if column is None:
                progress.make(table_changes.AddColumn(target[name], position))
            else:
                progress.make(
                    table_changes.ModifyColumnPosition(
                        column, position or table_changes.ColumnPosition.first()
                    )
                )


# --- parts of types ------------------------------------------------------------------------------


def _modify_type(
    progress: Progress, path: table_changes.Path, origin: table_changes.Path, new: DataType
) -> None:
    """Give the column or part of its type at a path a new type.

    `origin` is the path in the old table, by which renames are found.
    """
    old = progress.type_at(path)
    if old == new and not any(hint[: len(origin)] == origin for hint in progress.hints):
        return
    if isinstance(old, RowType) and isinstance(new, RowType):
        _modify_row(progress, path, origin, new)
    elif type(old) is type(new) and (steps := steps_of(old)):
        for step, child in zip(steps, new.children(), strict=True):
            _modify_type(progress, (*path, step), (*origin, step), child)
    old = progress.type_at(path)
    if old == new:
        return
    if len(path) == 1:
        progress.make(table_changes.ModifyPhysicalColumnType(progress.columns[path[0]], new))
    else:
        progress.make(table_changes.ModifyNestedType(path, old, new))


def _modify_row(
    progress: Progress, path: table_changes.Path, origin: table_changes.Path, new: RowType
) -> None:
    """Give the row at a path new fields, dropping others first: nothing refers to them."""

    def fields() -> dict[str, RowField]:
        row = progress.type_at(path)
        return {field.name: field for field in row} if isinstance(row, RowType) else {}

    target = {column.name: column for column in new}
    pairs = _pairs(progress, origin, list(fields()), list(target))
    for name, field in fields().items():
        if name not in pairs:
            progress.make(table_changes.DropField(path, field))
    for before, after in pairs.items():
        field, wanted = fields()[before], target[after]
        if field.description != wanted.description:
            progress.make(table_changes.ModifyFieldComment(path, field, wanted.description))
        _modify_type(progress, (*path, before), (*origin, before), wanted.data_type)
    for before, after in rename_steps(pairs, set(pairs)):
        progress.make(table_changes.ModifyFieldName(path, fields()[before], after))
    for name, position in placements(fields(), list(target)):
        if name in fields():
            where = position or table_changes.ColumnPosition.first()
            progress.make(table_changes.ModifyFieldPosition(path, fields()[name], where))
        else:
            progress.make(table_changes.AddField(path, target[name], position))


# --- names and positions -------------------------------------------------------------------------


def rename_steps(pairs: Mapping[str, str], present: set[str]) -> Iterator[tuple[str, str]]:
    """Yield renames so that no two columns ever have the same name.

    If names are exchanged, one of them gets an unused name in between.

    >>> list(rename_steps({"a": "b", "b": "c"}, {"a", "b"}))
    [('b', 'c'), ('a', 'b')]
    >>> list(rename_steps({"a": "b", "b": "a"}, {"a", "b"}))
    [('a', 'a_'), ('b', 'a'), ('a_', 'b')]
    """
    pending = {old: new for old, new in pairs.items() if old != new}
    names = set(present)
    while pending:
        old = next((old for old, new in pending.items() if new not in names), None)
        if old is None:
            old = next(iter(pending))
            new = old
            while new in names or new in pending.values():
                new += "_"
            pending[new] = pending.pop(old)
        else:
            new = pending.pop(old)
        names = names - {old} | {new}
        yield old, new


def placements(
    present: Iterable[str], order: Sequence[str]
) -> Iterator[tuple[str, table_changes.ColumnPosition | None]]:
    """Yield the names to move or add, from left to right, each with its position.

    The names of a longest increasing subsequence are not moved. A position is None for a new name
    that is appended.

    Args:
        present: The present names; those that are not in `order` stay where they are.
        order: The names in the order to reach.

    >>> [(name, str(where)) for name, where in placements("abc", "cabd")]
    [('c', 'FIRST'), ('d', 'None')]
    """
    current = list(present)
    index = {name: position for position, name in enumerate(current)}
    common = [name for name in order if name in index]
    still = {common[place] for place in longest_increasing([index[name] for name in common])}
    before: str | None = None
    for name in order:
        if name not in still:
            if name in index:
                current.remove(name)
            place = 0 if before is None else current.index(before) + 1
            appended = name not in index and place == len(current)
            current.insert(place, name)
            yield name, None if appended else table_changes.ColumnPosition(before)
        before = name


def longest_increasing(values: Sequence[int]) -> list[int]:
    """Return the indexes of a longest increasing subsequence of distinct values.

    >>> longest_increasing([3, 1, 2, 5, 4])
    [1, 2, 4]
    """
    ends: list[int] = []  # the smallest last value of a subsequence of each length
    indexes: list[int] = []
    previous: list[int] = []
    for index, value in enumerate(values):
        length = bisect_left(ends, value)
        previous.append(indexes[length - 1] if length else -1)
        ends[length : length + 1] = [value]
        indexes[length : length + 1] = [index]
    chain = []
    index = indexes[-1] if indexes else -1
    while index >= 0:
        chain.append(index)
        index = previous[index]
    return chain[::-1]


# --- renames -------------------------------------------------------------------------------------


def _candidates(
    path: table_changes.Path, old: Sequence[Any], new: Sequence[Any]
) -> Iterator[tuple[table_changes.Path, str]]:
    """Yield the likely renames of columns or fields, and those within the ones that stay."""
    here, there = {column.name: column for column in old}, {column.name: column for column in new}
    gone = Counter(_definition(value) for name, value in here.items() if name not in there)
    added = Counter(_definition(value) for name, value in there.items() if name not in here)
    for name, value in here.items():
        if name in there:
            # of columns, only physical ones are changed within
            if path or all(isinstance(c, UnresolvedPhysicalColumn) for c in (value, there[name])):
                yield from _candidates_within((*path, name), value.data_type, there[name].data_type)
        elif gone[_definition(value)] == 1 == added[_definition(value)]:
            yield from (
                ((*path, name), other)
                for other, member in there.items()
                if other not in here and _definition(member) == _definition(value)
            )


def _candidates_within(
    path: table_changes.Path, old: object, new: object
) -> Iterator[tuple[table_changes.Path, str]]:
    if isinstance(old, RowType) and isinstance(new, RowType):
        yield from _candidates(path, old.fields, new.fields)
    elif isinstance(old, DataType) and isinstance(new, DataType) and type(old) is type(new):
        for step, *types in zip(steps_of(old), old.children(), new.children(), strict=False):
            yield from _candidates_within((*path, step), *types)


def _definition(member: Any) -> Any:
    """Return a column or field without its name; a metadata column keeps its key."""
    if isinstance(member, UnresolvedMetadataColumn):
        return replace(member, name="", metadata_key=member.key)
    return replace(member, name="")


def _renames_back(changes: Iterable[table_changes.TableChange]) -> dict[table_changes.Path, str]:
    """Return the renames that undo those of changes: path after them -> first name."""
    back: dict[table_changes.Path, str] = {}
    for change in changes:
        if change.rename is None:
            continue
        former, name = change.rename
        renamed = (*former[:-1], name)
        first, size = back.pop(former, former[-1]), len(former)
        back = {
            (*renamed, *path[size:]) if path[:size] == former else path: there
            for path, there in back.items()
        }
        back[renamed] = first
    return {path: name for path, name in back.items() if path[-1] != name}
