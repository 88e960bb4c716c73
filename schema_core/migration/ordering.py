"""Changes in an order in which a table is valid after each step, as ALTER statements require.

Computed columns, watermark, primary key and distribution are dropped before columns that they refer
to change, and added again afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from typing import Any

from schema_core.base.lazy import dataclass
from schema_core.catalog.changes.table_changes import (
    OptionChange,
    Path,
    TableChange,
    apply,
)
from schema_core.catalog.objects import CatalogTable
from schema_core.mappings.dialects.definitions import names_in
from schema_core.migration.differences import diff
from schema_core.schema.columns import (
    ResolvedExpression,
    UnresolvedComputedColumn,
    UnresolvedPhysicalColumn,
    Written,
)
from schema_core.sql.parser import parse_expression


@dataclass(frozen=True, slots=True)
class ChangeGroup:
    """Changes of one step, with the table before and after."""

    changes: tuple[TableChange, ...]
    before: CatalogTable
    after: CatalogTable


def grouped_changes(
    old: CatalogTable, new: CatalogTable, renames: Mapping[Path, str]
) -> Iterator[ChangeGroup]:
    """Yield the changes between two tables in normal form, in groups in execution order.

    A group has the changes of one column's definition, all options, or one other change.

    Raises:
        SchemaError: as `diff`.
    """
    diff(old, new, renames=renames)  # refuses renames of or to columns that do not exist
    shared = SharedParts.of(old, new, renames)
    start, end = shared.without_others(old), shared.without_others(new)
    present = (
        {column.name for column in start.schema.columns},
        {column.name for column in end.schema.columns},
    )
    hints = {
        path: name
        for path, name in renames.items()
        if path[0] in present[0] and (len(path) > 1 or name in present[1])
    }
    changes = [*diff(old, start), *diff(start, end, renames=hints), *diff(end, new)]

    def group_key(numbered: tuple[int, TableChange]) -> object:
        index, change = numbered
        if change.redefined_column is not None:
            return change.redefined_column
        return type(change) if isinstance(change, OptionChange) else index

    yield from _apply_groups(changes, group_key, old)


def with_renames_apart(group: ChangeGroup) -> Iterator[ChangeGroup]:
    """Split a group so that changes with a renamed field are alone."""
    yield from _apply_groups(
        group.changes,
        lambda numbered: numbered[0] if numbered[1].rename is not None else None,
        group.before,
    )


def _apply_groups(
    changes: Iterable[TableChange],
    key: Callable[[tuple[int, TableChange]], object],
    table: CatalogTable,
) -> Iterator[ChangeGroup]:
    for _, members in groupby(enumerate(changes), key):
        group = tuple(change for _, change in members)
        after = apply(group, table)
        yield ChangeGroup(group, table, after)
        table = after


@dataclass(frozen=True, slots=True)
class SharedParts:
    """What two tables have in common beside physical columns: neither dropped nor added."""

    columns: frozenset[str]
    watermark: bool
    key: bool
    distribution: bool

    @staticmethod
    def of(old: CatalogTable, new: CatalogTable, renames: Mapping[Path, str]) -> SharedParts:
        """Return what is equal in both and refers to unchanged columns only."""
        before, after = (
            {column.name: column for column in table.schema.columns} for table in (old, new)
        )
        columns = renamed_columns(renames)
        moved = columns.keys() | set(columns.values())
        stable = {
            name
            for name, column in before.items()
            if name in after
            and name not in moved
            and replace(column, comment=None) == replace(after[name], comment=None)
        }
        shared = frozenset(
            name
            for name in stable
            if not isinstance(column := before[name], UnresolvedPhysicalColumn)
            and column == after[name]
            and (
                not isinstance(column, UnresolvedComputedColumn)
                or _read_by(column.expression) <= stable
            )
        )
        usable = shared | {
            name for name in stable if isinstance(before[name], UnresolvedPhysicalColumn)
        }
        specs = old.schema.watermark_specs
        reads = {
            name
            for spec in specs
            for name in {spec.column_name, *_read_by(spec.watermark_expression)}
        }
        buckets = old.distribution.bucket_keys if old.distribution is not None else ()
        return SharedParts(
            shared,
            specs == new.schema.watermark_specs and reads <= usable,
            _keeps_key(old, new, columns),
            old.distribution == new.distribution and set(buckets) <= usable,
        )

    def without_others(self, table: CatalogTable) -> CatalogTable:
        """Return a table without the parts that are not shared."""
        schema = table.schema
        columns = tuple(
            column
            for column in schema.columns
            if isinstance(column, UnresolvedPhysicalColumn) or column.name in self.columns
        )
        return replace(
            table,
            schema=replace(
                schema,
                columns=columns,
                watermark_specs=schema.watermark_specs if self.watermark else (),
                primary_key=schema.primary_key if self.key else None,
            ),
            distribution=table.distribution if self.distribution else None,
        )


def renamed_columns(renames: Mapping[Path, str]) -> dict[str, str]:
    """Return the renames of columns, without fields."""
    return {path[0]: name for path, name in renames.items() if len(path) == 1}


def _keeps_key(old: CatalogTable, new: CatalogTable, renames: Mapping[str, str]) -> bool:
    first, second = old.schema.primary_key, new.schema.primary_key
    if first is None or second is None:
        return first is second
    targets = set(renames.values())
    names = tuple(renames.get(name, "" if name in targets else name) for name in first.column_names)
    return first.name == second.name and names == second.column_names


def _read_by(expression: Written) -> set[str]:
    if isinstance(expression, ResolvedExpression):
        expression = expression.written
    tree: Any = expression.syntax or parse_expression(expression.text)
    return {name.parts[0] for name in names_in(tree)}
