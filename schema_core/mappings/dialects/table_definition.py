"""A table as the statements of a script define it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import TypeAlias

from schema_core.base.lazy import dataclass
from schema_core.base.text import Span
from schema_core.mappings.dialects import grammar
from schema_core.mappings.dialects.column_options import ColumnDefinition
from schema_core.mappings.dialects.engines import Engine


@dataclass(slots=True)
class TableDefinition:
    """A table as a script declares it, in one or several statements.

    `not_null` are the columns of constraints NOT NULL. `disabled_key` and its name are a key that
    rows may violate until it is enabled; `disabling` are the losses that report it.
    """

    engine: Engine
    path: tuple[str, ...]
    span: Span
    comment: str | None = None
    columns: list[ColumnDefinition] = field(default_factory=list)
    not_null: list[str] = field(default_factory=list)
    key: tuple[str, ...] = ()
    key_name: str | None = None
    disabled_key: tuple[str, ...] = ()
    disabled_name: str | None = None
    disabling: list[grammar.Dropped] = field(default_factory=list)
    partition_keys: tuple[str, ...] = ()
    dropped: list[grammar.Dropped] = field(default_factory=list)
    _by_name: dict[str, ColumnDefinition] | None = None
    _by_folded: dict[str, ColumnDefinition] = field(default_factory=dict)

    def column(self, name: str) -> ColumnDefinition | None:
        """Return the column of that name; case is ignored if the engine ignores it."""
        if self._by_name is None:
            self._by_name = {column.name: column for column in reversed(self.columns)}
            self._by_folded = {column.name.casefold(): column for column in reversed(self.columns)}
        folded = None if self.engine.case_sensitive else self._by_folded.get(name.casefold())
        return self._by_name.get(name) or folded

    def rename_column(self, column: ColumnDefinition, name: str) -> None:
        old, column.name = column.name, name
        comparable = self.engine.comparable_name
        self.key, self.disabled_key, self.partition_keys = (
            tuple(name if comparable(part) == comparable(old) else part for part in parts)
            for parts in (self.key, self.disabled_key, self.partition_keys)
        )
        if self._by_name is not None and self._by_name.get(old) is column:
            del self._by_name[old]
            self._by_name[name] = column
            self._by_folded.pop(old.casefold(), None)
            self._by_folded[name.casefold()] = column

    def primary_key(self) -> tuple[tuple[str, ...], str | None]:
        """Return the columns of the primary key, and its name in the script."""
        if self.key:
            columns = ((name, self.column(name)) for name in self.key)
            key = tuple(name if column is None else column.name for name, column in columns)
            return key, self.key_name
        declared = [column for column in self.columns if column.is_key]
        names = (column.key_name for column in declared if column.key_name is not None)
        return tuple(column.name for column in declared), next(names, None)

    def constraint_of_key(self) -> str | None:
        """Return the name of the primary key, by default PostgreSQL's."""
        key, name = self.primary_key()
        return name or (f"{self.path[-1]}_pkey" if key else None)

    def drop_key(self) -> None:
        """Remove the primary key; its columns stay NOT NULL, except in Oracle."""
        for name in self.primary_key()[0]:
            if (column := self.column(name)) is not None:
                column.is_key = False
                column.nullable = column.nullable if self.engine.disabled_keys else False
        self.key, self.key_name = (), None

    def disable_key(self, loss: grammar.Dropped) -> None:
        """Remove the primary key until it is enabled."""
        key, name = self.primary_key()
        if key:
            self.drop_key()
            self.disabled_key, self.disabled_name = key, name
        self.add_disabled_key(self.disabled_key, self.disabled_name, loss)

    def add_disabled_key(
        self, key: tuple[str, ...], name: str | None, loss: grammar.Dropped
    ) -> None:
        """Record a key that rows may violate."""
        self.disabled_key, self.disabled_name = key, name
        self.disabling.append(loss)
        self.dropped.append(loss)

    def enable_key(self) -> None:
        """Restore a key that was disabled, or declared as disabled; its losses are obsolete."""
        if self.disabled_key:
            self.key, self.key_name = self.disabled_key, self.disabled_name
        self.dropped = [loss for loss in self.dropped if loss not in self.disabling]
        self.disabled_key, self.disabling = (), []
        for column in self.columns:
            if column.disabling is not None:
                column.dropped.remove(column.disabling)
                column.is_key, column.disabling = True, None

    def reindex_columns(self) -> None:
        """Discard the index of the columns after one was added or dropped."""
        self._by_name = None

    def insert_column(self, place: int, added: ColumnDefinition) -> None:
        """Insert a column whose name is new."""
        self.columns.insert(place, added)
        if self._by_name is not None:
            self._by_name[added.name] = added
            self._by_folded.setdefault(added.name.casefold(), added)

    def adopt_key(self, added: ColumnDefinition) -> None:
        """Take the key that T-SQL allows to list after a column without a comma."""
        if added.key_columns:
            self.key, self.key_name = added.key_columns, added.key_name
            added.key_columns = ()


Find: TypeAlias = Callable[[tuple[str, ...]], TableDefinition | None]
