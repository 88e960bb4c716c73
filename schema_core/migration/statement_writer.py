"""The writer of statements of a target: its names, strings, types, functions and ALTER TABLE."""

from __future__ import annotations

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
from schema_core.schema.resolve import SchemaResolver
from schema_core.types import DataType
from schema_core.types.casts import supports_explicit_cast


@dataclass(frozen=True, slots=True)
class Functions:
    """What checks call in the SQL of an engine.

    `safe_cast` returns NULL for a value that cannot be cast or, with `cast_fails`, fails. `fail`
    fails for a message: as a condition of CASE, or with `fails_as_value` as an ELSE; with
    `fails_for_null` also for NULL. `checks_days` is false if a cast reads 2020-02-30 as another
    day. With `has_lambdas`, collections are converted by lambdas. `fraction_digits` are those of
    times.
    """

    safe_cast: str
    matches: str
    remove: str
    fail: str
    encode: str = "CAST({value} AS {type})"
    decode: str = "CAST({value} AS {type})"
    is_text: str = ""
    cast_fails: bool = False
    fails_as_value: bool = False
    fails_for_null: bool = False
    checks_days: bool = True
    has_lambdas: bool = False
    fraction_digits: int = 9


FLINK_FUNCTIONS = Functions(
    "TRY_CAST({value} AS {type})",
    "REGEXP({value}, {pattern})",
    "REGEXP_REPLACE({value}, {pattern}, '')",
    # Flink's planner removes a branch whose result equals that of ELSE.
    "ARRAY[CAST(NULL AS {type})][CAST({message} AS INT)]",
    fails_as_value=True,
    checks_days=False,
)
SPARK_FUNCTIONS = Functions(
    "try_cast({value} AS {type})",
    "{value} RLIKE {pattern}",
    "regexp_replace({value}, {pattern}, '')",
    "raise_error({message})",
    fails_for_null=True,
    has_lambdas=True,
    is_text="is_valid_utf8(CAST({value} AS string))",
    fails_as_value=True,
    fraction_digits=6,
)
POSTGRES_FUNCTIONS = Functions(
    "CAST({value} AS {type})",
    "{value} ~ {pattern}",
    "regexp_replace({value}, {pattern}, '', 'g')",
    "CAST({message} AS integer) = 0",
    encode="convert_to({value}, 'UTF8')",
    decode="CAST(convert_from({value}, 'UTF8') AS {type})",
    cast_fails=True,
    fraction_digits=6,
)


class RewriteNeeded(Exception):  # noqa: N818 - a signal between two functions, never raised outside
    """A change that the target cannot make in place; the reason is its argument."""


@dataclass(frozen=True, slots=True)
class StatementWriter:
    """Writes the statements of one plan, and collects what they lose.

    `store` are the rules by which rows are read, if not the target's. `keeps_names` is whether
    files are read by former names of columns and fields. `accepts` are changes of values that
    conversions do not refuse; `renames` are those of fields whose values they move.
    """

    target: Target
    path: tuple[str, ...]
    resolver: SchemaResolver
    losses: list[Loss] = field(default_factory=list)
    store: stored_types.RuleSet | None = None
    keeps_names: bool = False
    accepts: frozenset[str] = frozenset()
    renames: stored_types.Renames = field(default_factory=dict)

    @property
    def rules(self) -> stored_types.RuleSet:
        """The rules by which rows are read."""
        return self.store or self.target.rules

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

    def lose(self, path: tuple[str, ...], source: str) -> None:
        """Report what the statements do not reach."""
        self.losses.append(loss_of(path, "member", source, ""))

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
                is_statement = action.startswith("COMMENT ON ")
                statements[action if is_statement else f"ALTER TABLE {self.table} {action}"] = None
        return tuple(statements)


#: Returns the actions of ALTER TABLE for a change in its group, or COMMENT ON statements.
Write: TypeAlias = Callable[[StatementWriter, Any, ChangeGroup], str | Iterable[str]]


@dataclass(frozen=True, slots=True)
class Target:
    """A system whose tables are altered.

    `engine` is the dialect of its DDL; None is Flink. `keeps` are parts of tables beside physical
    columns. `storage` ends CREATE TABLE. `has_cast` returns whether CAST converts a type to
    another. `functions` check conversions.
    """

    name: str
    title: str
    engine: Engine | None
    rules: stored_types.RuleSet
    statements: Mapping[type[table_changes.TableChange], Write]
    keeps: frozenset[str] = frozenset()
    storage: str = ""
    has_cast: Callable[[DataType, DataType], bool] = supports_explicit_cast
    functions: Functions = FLINK_FUNCTIONS
