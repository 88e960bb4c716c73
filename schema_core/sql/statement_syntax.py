"""Syntax trees of statements: frozen nodes, each with its span.

There is one node for each family of statements. Paths are `syntax.Name` nodes of any number of
parts, so that a path with too many parts is refused with its span when it is looked up. Spans are
offsets into the parsed text; equality ignores them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from schema_core.secrets import mask_credentials, masked_value
from schema_core.sql.definition_syntax import (
    Change,
    Column,
    Distribution,
    Elements,
    Like,
    Option,
    Partition,
    Resource,
)
from schema_core.sql.query_syntax import Hint, Query
from schema_core.sql.summary import Operation
from schema_core.sql.syntax import NOWHERE, Call, Expression, Interval, Name
from schema_core.text import Span

# --------------------------------------------------------------------------------------- CREATE


class ObjectKind(Enum):
    """The kind of object of a CREATE, DROP, SHOW CREATE or DESCRIBE statement."""

    CATALOG = "CATALOG"
    DATABASE = "DATABASE"
    TABLE = "TABLE"
    VIEW = "VIEW"
    MATERIALIZED_TABLE = "MATERIALIZED TABLE"
    FUNCTION = "FUNCTION"
    MODEL = "MODEL"


@dataclass(frozen=True, slots=True)
class CreateTable(Operation):
    """``CREATE [OR REPLACE] [TEMPORARY] TABLE`` in all its forms, and ``REPLACE TABLE``.

    `create` is False for a plain REPLACE TABLE; `like` and `query` exclude each other.
    """

    path: Name
    elements: Elements = field(default_factory=Elements)
    comment: str | None = None
    distribution: Distribution | None = None
    partition_keys: tuple[Name, ...] = ()
    options: tuple[Option, ...] = ()
    like: Like | None = None
    query: Query | None = None
    temporary: bool = False
    if_not_exists: bool = False
    or_replace: bool = False
    create: bool = True
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class CreateView(Operation):
    """``CREATE [OR REPLACE] [TEMPORARY] VIEW path (columns) AS query``."""

    path: Name
    query: Query
    columns: tuple[Name, ...] = ()
    comment: str | None = None
    options: tuple[Option, ...] = ()
    temporary: bool = False
    if_not_exists: bool = False
    or_replace: bool = False
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class CreateMaterializedTable(Operation):
    """``CREATE [OR ALTER] MATERIALIZED TABLE path ... AS query``.

    `start_mode` is a call such as ``FROM_NOW`` or ``FROM_NOW(INTERVAL '1' DAY)``.
    """

    path: Name
    query: Query
    elements: Elements = field(default_factory=Elements)
    comment: str | None = None
    distribution: Distribution | None = None
    partition_keys: tuple[Name, ...] = ()
    options: tuple[Option, ...] = ()
    freshness: Interval | None = None
    refresh_mode: str | None = None
    start_mode: Call | None = None
    or_alter: bool = False
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class CreateCatalog(Operation):
    """``CREATE CATALOG [IF NOT EXISTS] name [COMMENT 'text'] [WITH (...)]``."""

    path: Name
    comment: str | None = None
    options: tuple[Option, ...] = ()
    if_not_exists: bool = False
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class CreateDatabase(Operation):
    """``CREATE DATABASE [IF NOT EXISTS] path [COMMENT 'text'] [WITH (...)]``."""

    path: Name
    comment: str | None = None
    options: tuple[Option, ...] = ()
    if_not_exists: bool = False
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class CreateFunction(Operation):
    """``CREATE [TEMPORARY] [SYSTEM] FUNCTION path AS 'class' LANGUAGE word USING JAR '...'``."""

    path: Name
    class_name: str
    language: str | None = None
    resources: tuple[Resource, ...] = ()
    options: tuple[Option, ...] = ()
    temporary: bool = False
    system: bool = False
    if_not_exists: bool = False
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class CreateModel(Operation):
    """``CREATE [TEMPORARY] MODEL path INPUT (...) OUTPUT (...) WITH (...) [AS query]``."""

    path: Name
    input: tuple[Column, ...] = ()
    output: tuple[Column, ...] = ()
    comment: str | None = None
    options: tuple[Option, ...] = ()
    query: Query | None = None
    temporary: bool = False
    if_not_exists: bool = False
    span: Span = field(default=NOWHERE, compare=False, repr=False)


# ----------------------------------------------------------------------------------- DROP, ALTER


@dataclass(frozen=True, slots=True)
class Drop(Operation):
    """``DROP [TEMPORARY] [SYSTEM] kind [IF EXISTS] path [RESTRICT | CASCADE]``."""

    kind: ObjectKind
    path: Name
    temporary: bool = False
    system: bool = False
    if_exists: bool = False
    cascade: bool = False
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Alter(Operation):
    """``ALTER kind [IF EXISTS] path change`` for everything but functions."""

    kind: ObjectKind
    path: Name
    change: Change
    if_exists: bool = False
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class AlterFunction(Operation):
    """``ALTER [TEMPORARY] [SYSTEM] FUNCTION [IF EXISTS] path AS 'class' [LANGUAGE word]``."""

    path: Name
    class_name: str
    language: str | None = None
    temporary: bool = False
    system: bool = False
    if_exists: bool = False
    span: Span = field(default=NOWHERE, compare=False, repr=False)


# ------------------------------------------------------------------------- USE, SHOW, DESCRIBE


@dataclass(frozen=True, slots=True)
class UseCatalog(Operation):
    """``USE CATALOG name``."""

    path: Name
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class UseDatabase(Operation):
    """``USE [catalog.]database``."""

    path: Name
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class UseModules(Operation):
    """``USE MODULES a, b``."""

    names: tuple[str, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class LoadModule(Operation):
    """``LOAD MODULE name [WITH (...)]``."""

    name: str
    options: tuple[Option, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class UnloadModule(Operation):
    """``UNLOAD MODULE name``."""

    name: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Pattern:
    """``[NOT] LIKE 'text'`` or ``[NOT] ILIKE 'text'`` of a SHOW statement."""

    text: str
    ignore_case: bool = False
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Show(Operation):
    """``SHOW subject [FROM | IN path] [[NOT] LIKE 'text']``.

    `subject` is a row of `schema_core.sql.parser.SHOW_SUBJECTS`, such as ``TABLES``, ``USER
    FUNCTIONS``, ``FULL MODULES``, ``CURRENT CATALOG``. `path` follows FROM or IN; for COLUMNS and
    PARTITIONS it is the table. `preposition` is FROM, IN or None.
    """

    subject: str
    path: Name | None = None
    preposition: str | None = None
    pattern: Pattern | None = None
    partition: Partition | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ShowCreate(Operation):
    """``SHOW CREATE kind path``."""

    kind: ObjectKind
    path: Name
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Describe(Operation):
    """``DESCRIBE [kind] [EXTENDED] path``; the kind TABLE includes views."""

    kind: ObjectKind
    path: Name
    extended: bool = False
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Explain(Operation):
    """``EXPLAIN [details | PLAN FOR] statement``."""

    statement: Statement
    details: tuple[str, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


# --------------------------------------------------------------------------- data and the session


@dataclass(frozen=True, slots=True)
class SelectStatement(Operation):
    """A query as a statement."""

    query: Query
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Insert(Operation):
    """``INSERT INTO | OVERWRITE path [hints] [PARTITION (...)] [(columns)] query``."""

    path: Name
    query: Query
    columns: tuple[Name, ...] = ()
    partition: Partition | None = None
    overwrite: bool = False
    hints: tuple[Hint, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Delete(Operation):
    """``DELETE FROM path [WHERE condition]``."""

    path: Name
    condition: Expression | None = None
    alias: str | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Update(Operation):
    """``UPDATE path SET column = value, ... [WHERE condition]``."""

    path: Name
    assignments: tuple[tuple[Name, Expression], ...]
    condition: Expression | None = None
    alias: str | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class StatementSet(Operation):
    """``EXECUTE STATEMENT SET BEGIN insert; ... END``, or the part of it after EXPLAIN."""

    inserts: tuple[Insert, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Execute(Operation):
    """``EXECUTE statement``."""

    statement: Insert | SelectStatement
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class AnalyzeTable(Operation):
    """``ANALYZE TABLE path [PARTITION (...)] COMPUTE STATISTICS [FOR ... COLUMNS]``."""

    path: Name
    partition: Partition | None = None
    columns: tuple[Name, ...] = ()
    all_columns: bool = False
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TruncateTable(Operation):
    """``TRUNCATE TABLE path``."""

    path: Name
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class CallProcedure(Operation):
    """``CALL path(arguments)``."""

    path: Name
    arguments: tuple[Expression, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SetOption(Operation):
    """``SET 'key' = 'value'``; without a key it lists all options."""

    key: str | None = None
    value: str | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    def __repr__(self) -> str:
        shown = None if self.value is None else masked_value(self.key or "", self.value)
        return f"SetOption(key={self.key!r}, value={shown!r})"


@dataclass(frozen=True, slots=True)
class ResetOption(Operation):
    """``RESET 'key'``; without a key it resets all options."""

    key: str | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Jar(Operation):
    """``ADD JAR 'path'`` or ``REMOVE JAR 'path'``."""

    path: str
    remove: bool = False
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    def __repr__(self) -> str:
        return f"Jar(path={mask_credentials(self.path)!r}, remove={self.remove!r})"


Statement: TypeAlias = (
    CreateTable
    | CreateView
    | CreateMaterializedTable
    | CreateCatalog
    | CreateDatabase
    | CreateFunction
    | CreateModel
    | Drop
    | Alter
    | AlterFunction
    | UseCatalog
    | UseDatabase
    | UseModules
    | LoadModule
    | UnloadModule
    | Show
    | ShowCreate
    | Describe
    | Explain
    | SelectStatement
    | Insert
    | Delete
    | Update
    | StatementSet
    | Execute
    | AnalyzeTable
    | TruncateTable
    | CallProcedure
    | SetOption
    | ResetOption
    | Jar
)
