"""The writer of statements of a target: its names, strings, types, functions and ALTER TABLE."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import Any, TypeAlias

from schema_core.base.lazy import dataclass
from schema_core.base.text import quote_identifier, quote_string
from schema_core.catalog.changes import table_changes
from schema_core.mappings import stored_types
from schema_core.mappings.dialects.engines import Engine
from schema_core.mappings.dialects.types import loss_of, write_type
from schema_core.mappings.loss import Loss
from schema_core.migration.ordering import ChangeGroup
from schema_core.migration.targets.sql_functions import Functions
from schema_core.schema.resolve import SchemaResolver
from schema_core.types import DataType
from schema_core.types.casts import supports_explicit_cast

#: Templates of statements, and of their undo.
SwapStep: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]
#: A swap by statements that take the new name without its path.
RENAMES_BY_NAME: tuple[SwapStep, ...] = (
    (("ALTER TABLE {table} RENAME TO {old_name}",), ("ALTER TABLE {old} RENAME TO {table_name}",)),
    (("ALTER TABLE {new} RENAME TO {table_name}",), ("ALTER TABLE {table} RENAME TO {new_name}",)),
)
#: A swap by statements that take the whole path.
RENAMES_BY_PATH: tuple[SwapStep, ...] = (
    (("ALTER TABLE {table} RENAME TO {old}",), ("ALTER TABLE {old} RENAME TO {table}",)),
    (("ALTER TABLE {new} RENAME TO {table}",), ("ALTER TABLE {table} RENAME TO {new}",)),
)


class RewriteNeeded(Exception):  # noqa: N818 - a signal between two functions, never raised outside
    """A change that the target cannot make in place; the reason is its argument."""


@dataclass(frozen=True, slots=True)
class StatementWriter:
    """Writes the statements of one plan, and collects what they lose and put at risk.

    `store` are the rules by which rows are read, if not the target's. `keeps_names` is whether
    files are read by former names of columns and fields. `accepts` are changes of values that
    conversions do not refuse; `renames` are those of fields whose values they move.
    """

    target: Target
    path: tuple[str, ...]
    resolver: SchemaResolver
    losses: list[Loss] = field(default_factory=list)
    risks: list[stored_types.TypeFinding] = field(default_factory=list)
    store: stored_types.RuleSet | None = None
    keeps_names: bool = False
    accepts: frozenset[str] = frozenset()
    renames: stored_types.Renames = field(default_factory=dict)

    @property
    def rules(self) -> stored_types.RuleSet:
        """The rules by which rows are read."""
        return self.store or self.target.rules

    @property
    def dialect(self) -> Engine:
        """The dialect of the DDL of a target other than Flink."""
        if self.target.engine is None:
            raise AssertionError(self.target.name)
        return self.target.engine

    @property
    def table(self) -> str:
        """The path of the table, quoted."""
        return self.quote_path(self.path)

    def quote_path(self, path: Iterable[str]) -> str:
        """Return a path, quoted."""
        return ".".join(map(self.name, path))

    def name(self, name: str) -> str:
        """Return a name, quoted."""
        dialect = self.target.engine
        if dialect is None:
            return quote_identifier(name)
        return dialect.quote_name(dialect.fold_case(name))

    def names(self, names: Iterable[str]) -> str:
        """Return names, quoted and separated by commas."""
        return ", ".join(map(self.name, names))

    def string(self, text: str) -> str:
        """Return a string literal."""
        dialect = self.target.engine
        return quote_string(text) if dialect is None else dialect.quote_string(text)

    def type(self, type_: DataType) -> str:
        """Return a type without its nullability."""
        dialect = self.target.engine
        if dialect is None:
            return type_.nullable().as_serializable_string()
        return write_type(type_, dialect, (), [])

    def cast_type(self, type_: DataType) -> str:
        """Return a type as CAST takes it."""
        template = self.target.functions.cast_types.get(type_.root)
        return self.type(type_) if template is None else template.format(type_)

    def null(self, type_: DataType) -> str:
        """Return NULL of a type."""
        return self.target.functions.null.format(type=self.cast_type(type_))

    @property
    def stores_empty_comments(self) -> bool:
        """Whether the target distinguishes an empty comment from none."""
        return self.target.engine is None or self.target.engine.stores_empty_comments

    def has_lost(self, path: tuple[str, ...], source: str) -> bool:
        """Return whether a statement did not reach a part of a column."""
        return any((loss.path, loss.source) == (path, source) for loss in self.losses)

    def lose(self, path: tuple[str, ...], source: str) -> None:
        """Report what the statements do not reach."""
        self.losses.append(loss_of(path, "member", source, ""))

    def risk_attributes(self, path: tuple[str, ...], reason: str) -> None:
        """Report what a statement removes without knowing whether the table has it."""
        self.risks.append(stored_types.TypeFinding("attributes-dropped", path, reason))

    def statements(self, group: ChangeGroup) -> tuple[str, ...]:
        """Return the statements of a group of changes, equal ones once.

        Raises:
            RewriteNeeded: for a change without statements in this target.
        """
        statements: dict[str, None] = {}
        for change in group.changes:
            write = self.target.statements.get(type(change))
            if write is None:
                raise RewriteNeeded(
                    f"{self.target.title} has no statement to {table_changes.describe(change)}"
                )
            actions = write(self, change, group)
            for action in (actions,) if isinstance(actions, str) else actions:
                is_statement = action.startswith(STATEMENTS)
                statements[action if is_statement else f"ALTER TABLE {self.table} {action}"] = None
        return tuple(statements)


#: How actions begin that are statements of their own.
STATEMENTS = ("COMMENT ON ", "SET SESSION ")
#: Returns the actions of ALTER TABLE for a change in its group, or other statements.
Write: TypeAlias = Callable[[StatementWriter, Any, ChangeGroup], str | Iterable[str]]


@dataclass(frozen=True, slots=True)
class Target:
    """A system whose tables are altered.

    Attributes:
        engine: The dialect of its DDL; None is Flink.
        rules: Which rows are read, or converted, as another type.
        statements: Kind of change -> its actions of ALTER TABLE; others need a rewrite.
        conversions: Kinds of values -> what returns their conversion (`conversions.Build`).
        functions: What conversions call.
        keeps: The parts of tables beside physical columns.
        storage: The end of CREATE TABLE.
        has_cast: Whether CAST converts a type to another.
        no_key: Pattern of types that key columns cannot have, if not the dialect's.
        converts: Whether ALTER TABLE converts rows by an expression.
        rewriting: The clause of ALTER TABLE that rewrites all rows.
        setup: A statement that precedes those that convert or check rows.
        attributes: What a table has besides its schema, which a rewrite leaves with the old table.
        swap: The statements that give a new table the name of the old one, which stays, each with
            its undo; `{table}`, `{new}` and `{old}` are their paths, `{table_name}`,
            `{new_name}` and `{old_name}` the last names of these.
    """

    name: str
    title: str
    engine: Engine | None
    rules: stored_types.RuleSet
    statements: Mapping[type[table_changes.TableChange], Write]
    conversions: Mapping[tuple[str, str], Callable[[Any], Any]]
    functions: Functions
    keeps: frozenset[str] = frozenset()
    storage: str = ""
    has_cast: Callable[[DataType, DataType], bool] = supports_explicit_cast
    no_key: str | None = None
    converts: bool = False
    rewriting: str | None = None
    setup: str | None = None
    swap: tuple[SwapStep, ...] = RENAMES_BY_NAME
    attributes: str | None = None

    def can_have_key(self, types: Iterable[DataType]) -> bool:
        """Return whether columns of these types can be a primary key."""
        pattern = self.no_key or (self.engine and self.engine.no_key)
        if not pattern or self.engine is None:
            return True
        texts = (write_type(type_, self.engine, (), []) for type_ in types)
        return not any(re.fullmatch(pattern, text) for text in texts)
