"""The tables and types of a script, by all names under which its statements refer to them."""

from __future__ import annotations

from dataclasses import field
from typing import TypeAlias

from schema_core.base.lazy import dataclass
from schema_core.base.text import Token
from schema_core.errors import Gathering
from schema_core.mappings.dialects import grammar
from schema_core.mappings.dialects.engines import Engine
from schema_core.mappings.dialects.table_definition import TableDefinition

#: Maximum number of last names by which a table is found.
MAX_SUFFIX = 4

#: The kind of a name (`path`, `suffix`, `schema`), and the name.
Names: TypeAlias = tuple[str, tuple[str, ...]]


@dataclass(slots=True)
class ScriptDefinitions:
    """The definitions of a script; `dropped` are statements that belong to none of its tables.

    `errors` are those of statements that were not read.

    `home` precedes names without a schema: the database of the last USE, the search path; while
    elements of CREATE SCHEMA are read, `home_after_schema` is what it was before.

    `condition` holds the tokens of the condition under which statements run, none if it is not a
    test of tables; `blocks` counts the blocks of such statements.
    """

    engine: Engine
    types: grammar.UserTypes = field(default_factory=grammar.UserTypes)
    dropped: list[grammar.Dropped] = field(default_factory=list)
    errors: Gathering = field(default_factory=Gathering)
    home: tuple[str, ...] = ()
    home_after_schema: tuple[str, ...] | None = None
    condition: tuple[Token, ...] | None = None
    blocks: int = 0
    _tables: dict[int, TableDefinition] = field(default_factory=dict)
    _by_names: dict[Names, dict[int, TableDefinition]] = field(default_factory=dict)

    @property
    def tables(self) -> list[TableDefinition]:
        return list(self._tables.values())

    def add(self, table: TableDefinition) -> None:
        self._tables[id(table)] = table
        for names in _names(table.path):
            self._by_names.setdefault(names, {})[id(table)] = table

    def remove(self, table: TableDefinition) -> None:
        del self._tables[id(table)]
        self._forget(table, table.path)

    def rename_table(self, table: TableDefinition, before: tuple[str, ...]) -> None:
        """Make a table findable by its new path only."""
        self._forget(table, before)
        self.add(table)

    def _forget(self, table: TableDefinition, path: tuple[str, ...]) -> None:
        for names in _names(path):
            self._by_names[names].pop(id(table), None)

    def full_path(self, name: tuple[str, ...]) -> tuple[str, ...]:
        return (*self.home[: max(0, len(self.home) + 1 - len(name))], *name)

    def last_created(self) -> TableDefinition | None:
        return next(reversed(self._tables.values()), None)

    def in_schema(self, name: tuple[str, ...]) -> list[TableDefinition]:
        return list(self._by_names.get(("schema", name), {}).values())

    def find(self, name: tuple[str, ...]) -> TableDefinition | None:
        """Return the table at a path; leading names may be omitted on either side."""
        name = self.full_path(name)
        if (table := self.last_named("suffix", name)) is not None:
            return table
        shorter = (name[-length:] for length in range(min(len(name), MAX_SUFFIX), 0, -1))
        return next(filter(None, (self.last_named("path", part) for part in shorter)), None)

    def last_named(self, kind: str, name: tuple[str, ...]) -> TableDefinition | None:
        return next(reversed(self._by_names.get((kind, name), {}).values()), None)


def _names(path: tuple[str, ...]) -> set[Names]:
    lengths = range(1, min(len(path), MAX_SUFFIX) + 1)
    return {
        ("path", path),
        *(("suffix", path[-length:]) for length in lengths),
        ("schema", path[:-1]),
        ("schema", path[-2:-1]),
    }
