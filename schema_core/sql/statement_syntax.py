"""Syntax trees of statements and parts of definitions; their summaries in one line.

Paths are `syntax.Name` nodes of any number of parts: one with too many is refused, with its span,
when it is looked up. Spans are offsets into the text; equality ignores them.
"""

from __future__ import annotations

import re
from dataclasses import MISSING, field, fields, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

from schema_core.base.lazy import NamedTuple, node
from schema_core.base.secrets import mask_credentials, mask_query, mask_value
from schema_core.base.text import Span, quote_identifier
from schema_core.sql import syntax
from schema_core.sql.printer import print_expression, print_query, print_type

# --- parts of definitions -------------------------------------------------------------------------


@node(frozen=True, slots=True)
class Option:
    """``'key' = 'value'`` in WITH; the last value of a repeated key counts."""

    key: str
    value: str
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)

    def __repr__(self) -> str:
        return f"Option(key={self.key!r}, value={mask_value(self.key, self.value)!r})"


@node(frozen=True, slots=True)
class PhysicalColumn:
    """``name type [COMMENT 'text']``, with NOT NULL in the type; its constraint is the table's."""

    name: str
    type: syntax.TypeName
    comment: str | None = None
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class ComputedColumn:
    """``name AS expression [COMMENT 'text']``."""

    name: str
    expression: syntax.Expression
    comment: str | None = None
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class MetadataColumn:
    """``name type METADATA [FROM 'key'] [VIRTUAL] [COMMENT 'text']``."""

    name: str
    type: syntax.TypeName
    metadata_key: str | None = None
    is_virtual: bool = False
    comment: str | None = None
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)


Column: TypeAlias = PhysicalColumn | ComputedColumn | MetadataColumn


@node(frozen=True, slots=True)
class Watermark:
    """``WATERMARK FOR column AS expression``; a field is a path."""

    column: syntax.Name
    expression: syntax.Expression
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class Constraint:
    """A PRIMARY KEY or UNIQUE constraint; `enforced` is None if unspecified."""

    kind: str
    columns: tuple[syntax.Name, ...]
    name: str | None = None
    enforced: bool | None = None
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class Distribution:
    """``BY HASH(keys) INTO n BUCKETS``; `kind` is HASH, RANGE or UNKNOWN."""

    kind: str = "UNKNOWN"
    keys: tuple[syntax.Name, ...] = ()
    buckets: int | None = None
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class LikeOption:
    """``INCLUDING GENERATED``: a strategy and a feature."""

    strategy: str
    feature: str
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class Like:
    """``LIKE source (options)``."""

    source: syntax.Name
    options: tuple[LikeOption, ...] = ()
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class Elements:
    """The elements in parentheses after the name of a table.

    `names` replace columns if only names are listed (CREATE TABLE ... AS SELECT).
    """

    columns: tuple[Column, ...] = ()
    names: tuple[syntax.Name, ...] = ()
    watermark: Watermark | None = None
    constraints: tuple[Constraint, ...] = ()
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class Partition:
    """``PARTITION (a = 'x', b) WITH (...)``; some statements have keys without values."""

    values: tuple[tuple[str, str | None], ...]
    options: tuple[Option, ...] = ()
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class Resource:
    """``JAR 'path'`` after USING."""

    kind: str
    path: str
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)

    def __repr__(self) -> str:
        return f"Resource(kind={self.kind!r}, path={mask_credentials(self.path)!r})"


# -------------------------------------------------------------------------- changes of ALTER


@node(frozen=True, slots=True)
class RenameTo:
    """``RENAME TO path``."""

    path: syntax.Name


@node(frozen=True, slots=True)
class RenameColumn:
    """``RENAME column TO name``."""

    column: syntax.Name
    new_name: syntax.Name


@node(frozen=True, slots=True)
class SetOptions:
    """``SET ('key' = 'value', ...)``."""

    options: tuple[Option, ...]


@node(frozen=True, slots=True)
class ResetOptions:
    """``RESET ('key', ...)``."""

    keys: tuple[str, ...]


@node(frozen=True, slots=True)
class PlacedColumn:
    """A column of ADD or MODIFY, with its position if specified."""

    column: Column
    name: syntax.Name
    first: bool = False
    after: syntax.Name | None = None


@node(frozen=True, slots=True)
class AddElements:
    """``ADD`` columns, a watermark, constraints or a distribution."""

    columns: tuple[PlacedColumn, ...] = ()
    watermark: Watermark | None = None
    constraints: tuple[Constraint, ...] = ()
    distribution: Distribution | None = None


@node(frozen=True, slots=True)
class ModifyElements:
    """``MODIFY`` columns, the watermark, the primary key or the distribution."""

    columns: tuple[PlacedColumn, ...] = ()
    watermark: Watermark | None = None
    constraints: tuple[Constraint, ...] = ()
    distribution: Distribution | None = None


@node(frozen=True, slots=True)
class DropColumns:
    """``DROP column`` or ``DROP (columns)``."""

    columns: tuple[syntax.Name, ...]


@node(frozen=True, slots=True)
class DropPrimaryKey:
    """``DROP PRIMARY KEY``."""


@node(frozen=True, slots=True)
class DropConstraint:
    """``DROP CONSTRAINT name``."""

    name: syntax.Name


@node(frozen=True, slots=True)
class DropWatermark:
    """``DROP WATERMARK``."""


@node(frozen=True, slots=True)
class DropDistribution:
    """``DROP DISTRIBUTION``."""


@node(frozen=True, slots=True)
class AddPartitions:
    """``ADD [IF NOT EXISTS] PARTITION (...) [WITH (...)] ...``."""

    partitions: tuple[Partition, ...]
    if_not_exists: bool = False


@node(frozen=True, slots=True)
class DropPartitions:
    """``DROP [IF EXISTS] PARTITION (...), PARTITION (...)``."""

    partitions: tuple[Partition, ...]
    if_exists: bool = False


@node(frozen=True, slots=True)
class SetComment:
    """``COMMENT 'text'``."""

    comment: str


@node(frozen=True, slots=True)
class SetTableComment:
    """``COMMENT ON TABLE path IS 'text' | NULL``, which Flink does not have."""

    comment: str | None


@node(frozen=True, slots=True)
class SetColumnComment:
    """``COMMENT ON COLUMN path.column IS 'text' | NULL``, which Flink does not have."""

    column: syntax.Name
    comment: str | None


@node(frozen=True, slots=True)
class SetQuery:
    """``AS query`` of a view or materialized table."""

    query: syntax.Query


@node(frozen=True, slots=True)
class SetFreshness:
    """``SET FRESHNESS = INTERVAL ...``."""

    freshness: syntax.Interval


@node(frozen=True, slots=True)
class SetRefreshMode:
    """``SET REFRESH_MODE = FULL | CONTINUOUS``."""

    refresh_mode: str


@node(frozen=True, slots=True)
class Suspend:
    """``SUSPEND`` the refresh of a materialized table."""


@node(frozen=True, slots=True)
class Resume:
    """``RESUME [WITH (...)]`` the refresh of a materialized table."""

    options: tuple[Option, ...] = ()


@node(frozen=True, slots=True)
class Refresh:
    """``REFRESH [PARTITION (...)]`` a materialized table."""

    partition: Partition | None = None


Change: TypeAlias = (
    RenameTo
    | RenameColumn
    | SetOptions
    | ResetOptions
    | AddElements
    | ModifyElements
    | DropColumns
    | DropPrimaryKey
    | DropConstraint
    | DropWatermark
    | DropDistribution
    | AddPartitions
    | DropPartitions
    | SetComment
    | SetTableComment
    | SetColumnComment
    | SetQuery
    | SetFreshness
    | SetRefreshMode
    | Suspend
    | Resume
    | Refresh
)


# --- summaries ------------------------------------------------------------------------------------


class Statement:
    """A parsed statement; `OPERATIONS` names the function that executes it."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def span(self) -> Span:
            """The position in the parsed text."""

    def as_summary_string(self) -> str:
        """Return the statement in one line; secrets are masked.

        >>> from schema_core.sql.parser import parse_statement
        >>> parse_statement("DROP VIEW IF EXISTS d.v").as_summary_string()
        'DROP VIEW: (path: [`d`.`v`], ifExists: [true])'
        >>> parse_statement("ALTER CATALOG c SET ('password' = 'x')").as_summary_string()
        'ALTER CATALOG: (path: [`c`], change: [SET OPTIONS: (options: [password=******])])'
        """
        return summary(self)


QUERIES = get_args(syntax.Query)


EXPRESSIONS = (syntax.Literal, syntax.Interval, syntax.Call, syntax.Subquery)


#: Fields of the heading.
HEADING_FIELDS = ("kind", "subject", "span")


def summary(statement: Any) -> str:
    """Return the heading of a statement and its fields that differ from defaults."""
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(statement).__name__).upper()
    kind = getattr(statement, "kind", None) or getattr(statement, "subject", None)
    heading = " ".join(filter(None, [name, kind.value if isinstance(kind, Enum) else kind]))
    parts = []
    for field_ in fields(statement):
        value = getattr(statement, field_.name)
        default = field_.default if field_.default_factory is MISSING else field_.default_factory()
        if field_.name in HEADING_FIELDS or (default is not MISSING and value == default):
            continue
        if field_.name == "value" and hasattr(statement, "key"):
            value = mask_value(statement.key or "", value)
        label = re.sub(r"_(\w)", lambda match: match[1].upper(), field_.name)
        parts.append(f"{label}: [{format_value(value)}]")
    return f"{heading}: ({', '.join(parts)})" if parts else heading


def format_value(value: Any) -> str:
    """Return a value as summaries print it."""
    match value:
        case bool():
            return str(value).lower()
        case Enum():
            return str(value.value)
        case tuple():
            return ", ".join(map(format_value, value))
        case syntax.Name(parts):
            return ".".join(map(quote_identifier, parts))
        case Option(key, text):
            return f"{key}={mask_value(key, text)}"
        case syntax.Hint(name, options, arguments):
            pairs = [f"{key}={mask_value(key, text)}" for key, text in options]
            return f"{name}({', '.join([*pairs, *map(format_value, arguments)])})"
        case syntax.TypeName():
            return print_type(value) + (" NOT NULL" if value.nullable is False else "")
        case _ if isinstance(value, QUERIES):
            return " ".join(mask_query(print_query(value)).split())
        case _ if isinstance(value, EXPRESSIONS):
            return print_expression(value)
        case _ if is_dataclass(value):
            return summary(value)
        case _:
            return mask_credentials(str(value))


# --------------------------------------------------------------------------------------- CREATE


class ObjectKind(Enum):
    """The kind of an object in a statement."""

    CATALOG = "CATALOG"
    DATABASE = "DATABASE"
    TABLE = "TABLE"
    VIEW = "VIEW"
    MATERIALIZED_TABLE = "MATERIALIZED TABLE"
    FUNCTION = "FUNCTION"
    MODEL = "MODEL"
    CONNECTION = "CONNECTION"


@node(frozen=True, slots=True)
class CreateTable(Statement):
    """``CREATE [OR REPLACE] [TEMPORARY] TABLE`` and ``REPLACE TABLE``.

    `create` is False for a plain REPLACE TABLE; `like` and `query` exclude each other.
    """

    path: syntax.Name
    elements: Elements = field(default_factory=Elements)
    comment: str | None = None
    distribution: Distribution | None = None
    partition_keys: tuple[syntax.Name, ...] = ()
    options: tuple[Option, ...] = ()
    like: Like | None = None
    query: syntax.Query | None = None
    temporary: bool = False
    if_not_exists: bool = False
    or_replace: bool = False
    create: bool = True
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class CreateView(Statement):
    """``CREATE [OR REPLACE] [TEMPORARY] VIEW path (columns) AS query``."""

    path: syntax.Name
    query: syntax.Query
    columns: tuple[syntax.Name, ...] = ()
    comment: str | None = None
    options: tuple[Option, ...] = ()
    temporary: bool = False
    if_not_exists: bool = False
    or_replace: bool = False
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class CreateMaterializedTable(Statement):
    """``CREATE [OR ALTER] MATERIALIZED TABLE path ... AS query``.

    `start_mode` is a call such as ``FROM_NOW`` or ``FROM_NOW(INTERVAL '1' DAY)``.
    """

    path: syntax.Name
    query: syntax.Query
    elements: Elements = field(default_factory=Elements)
    comment: str | None = None
    distribution: Distribution | None = None
    partition_keys: tuple[syntax.Name, ...] = ()
    options: tuple[Option, ...] = ()
    freshness: syntax.Interval | None = None
    refresh_mode: str | None = None
    start_mode: syntax.Call | None = None
    or_alter: bool = False
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class CreateCatalog(Statement):
    """``CREATE CATALOG [IF NOT EXISTS] name [COMMENT 'text'] [WITH (...)]``."""

    path: syntax.Name
    comment: str | None = None
    options: tuple[Option, ...] = ()
    if_not_exists: bool = False
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class CreateDatabase(Statement):
    """``CREATE DATABASE [IF NOT EXISTS] path [COMMENT 'text'] [WITH (...)]``."""

    path: syntax.Name
    comment: str | None = None
    options: tuple[Option, ...] = ()
    if_not_exists: bool = False
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class CreateFunction(Statement):
    """``CREATE [TEMPORARY] [SYSTEM] FUNCTION path AS 'class' LANGUAGE word USING JAR '...'``."""

    path: syntax.Name
    class_name: str
    language: str | None = None
    resources: tuple[Resource, ...] = ()
    options: tuple[Option, ...] = ()
    temporary: bool = False
    system: bool = False
    if_not_exists: bool = False
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class CreateModel(Statement):
    """``CREATE [TEMPORARY] MODEL path INPUT (...) OUTPUT (...) WITH (...) [AS query]``."""

    path: syntax.Name
    input: tuple[Column, ...] = ()
    output: tuple[Column, ...] = ()
    comment: str | None = None
    options: tuple[Option, ...] = ()
    query: syntax.Query | None = None
    temporary: bool = False
    if_not_exists: bool = False
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class CreateConnection(Statement):
    """``CREATE [OR REPLACE] [TEMPORARY] [SYSTEM] CONNECTION path [COMMENT 'text'] WITH (...)``."""

    path: syntax.Name
    comment: str | None = None
    options: tuple[Option, ...] = ()
    temporary: bool = False
    system: bool = False
    if_not_exists: bool = False
    or_replace: bool = False
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)


# ----------------------------------------------------------------------------------- DROP, ALTER


@node(frozen=True, slots=True)
class Drop(Statement):
    """``DROP [TEMPORARY] [SYSTEM] kind [IF EXISTS] path [RESTRICT | CASCADE]``."""

    kind: ObjectKind
    path: syntax.Name
    temporary: bool = False
    system: bool = False
    if_exists: bool = False
    cascade: bool = False
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class Alter(Statement):
    """``ALTER kind [IF EXISTS] path change`` for everything but functions."""

    kind: ObjectKind
    path: syntax.Name
    change: Change
    if_exists: bool = False
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class AlterFunction(Statement):
    """``ALTER [TEMPORARY] [SYSTEM] FUNCTION [IF EXISTS] path AS 'class' [LANGUAGE word]``."""

    path: syntax.Name
    class_name: str
    language: str | None = None
    temporary: bool = False
    system: bool = False
    if_exists: bool = False
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)


# ------------------------------------------------------------------------- USE, SHOW, DESCRIBE


@node(frozen=True, slots=True)
class UseCatalog(Statement):
    """``USE CATALOG name``."""

    path: syntax.Name
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class UseDatabase(Statement):
    """``USE [catalog.]database``."""

    path: syntax.Name
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class UseModules(Statement):
    """``USE MODULES a, b``."""

    names: tuple[str, ...]
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class LoadModule(Statement):
    """``LOAD MODULE name [WITH (...)]``."""

    name: str
    options: tuple[Option, ...] = ()
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class UnloadModule(Statement):
    """``UNLOAD MODULE name``."""

    name: str
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class Pattern:
    """``[NOT] LIKE 'text'`` or ``[NOT] ILIKE 'text'`` of a SHOW statement."""

    text: str
    ignore_case: bool = False
    negated: bool = False


@node(frozen=True, slots=True)
class Show(Statement):
    """``SHOW subject [FROM | IN path] [[NOT] LIKE 'text']``.

    `subject` is that of a row of `SHOW_SUBJECTS`. `path` is the table for COLUMNS and
    PARTITIONS. `preposition` is FROM, IN or None.
    """

    subject: str
    path: syntax.Name | None = None
    preposition: str | None = None
    pattern: Pattern | None = None
    partition: Partition | None = None
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class ShowCreate(Statement):
    """``SHOW CREATE [OR ALTER] kind path``."""

    kind: ObjectKind
    path: syntax.Name
    or_alter: bool = False
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class Describe(Statement):
    """``DESCRIBE [kind] [EXTENDED] path``; the kind TABLE includes views."""

    kind: ObjectKind
    path: syntax.Name
    extended: bool = False
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class Explain(Statement):
    """``EXPLAIN [details | PLAN FOR] statement``."""

    statement: Statement
    details: tuple[str, ...] = ()
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)


# --------------------------------------------------------------------------- data and the session


@node(frozen=True, slots=True)
class SelectStatement(Statement):
    """A query as a statement."""

    query: syntax.Query
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class Insert(Statement):
    """``INSERT INTO | OVERWRITE path [hints] [PARTITION (...)] [(columns)] query [ON CONFLICT]``.

    `column_types` are those of all columns or none. `on_conflict` is NOTHING, ERROR or DEDUPLICATE.
    Flink refuses `upsert` (``UPSERT INTO``).
    """

    path: syntax.Name
    query: syntax.Query
    columns: tuple[syntax.Name, ...] = ()
    partition: Partition | None = None
    overwrite: bool = False
    hints: tuple[syntax.Hint, ...] = ()
    on_conflict: str | None = None
    column_types: tuple[syntax.TypeName, ...] = ()
    upsert: bool = False
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class Delete(Statement):
    """``DELETE FROM path [WHERE condition]``."""

    path: syntax.Name
    condition: syntax.Expression | None = None
    alias: str | None = None
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class Update(Statement):
    """``UPDATE path SET column = value, ... [WHERE condition]``."""

    path: syntax.Name
    assignments: tuple[tuple[syntax.Name, syntax.Expression], ...]
    condition: syntax.Expression | None = None
    alias: str | None = None
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class StatementSet(Statement):
    """``EXECUTE STATEMENT SET BEGIN insert; ... END``, or the part of it after EXPLAIN."""

    inserts: tuple[Insert, ...]
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class BeginStatementSet(Statement):
    """``BEGIN STATEMENT SET``: the INSERT statements up to END are one job."""

    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class EndStatementSet(Statement):
    """``END``: submit the INSERT statements since BEGIN STATEMENT SET."""

    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class StopJob(Statement):
    """``STOP JOB 'id' [WITH SAVEPOINT [WITH DRAIN]]``."""

    job_id: str
    with_savepoint: bool = False
    with_drain: bool = False
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class DescribeJob(Statement):
    """``DESCRIBE JOB 'id'``."""

    job_id: str
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class Execute(Statement):
    """``EXECUTE statement``."""

    statement: Insert | SelectStatement
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class CompilePlan(Statement):
    """``COMPILE [AND EXECUTE] PLAN 'path' [IF NOT EXISTS] FOR insert | STATEMENT SET ...``."""

    path: str
    statement: Insert | StatementSet
    if_not_exists: bool = False
    execute: bool = False
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class ExecutePlan(Statement):
    """``EXECUTE PLAN 'path'``."""

    path: str
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class AnalyzeTable(Statement):
    """``ANALYZE TABLE path [PARTITION (...)] COMPUTE STATISTICS [FOR ... COLUMNS]``."""

    path: syntax.Name
    partition: Partition | None = None
    columns: tuple[syntax.Name, ...] = ()
    all_columns: bool = False
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class TruncateTable(Statement):
    """``TRUNCATE TABLE path``."""

    path: syntax.Name
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class CallProcedure(Statement):
    """``CALL path(arguments)``."""

    path: syntax.Name
    arguments: tuple[syntax.Expression, ...] = ()
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class SetOption(Statement):
    """``SET 'key' = 'value'``; without a key it lists all options."""

    key: str | None = None
    value: str | None = None
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)

    def __repr__(self) -> str:
        shown = None if self.value is None else mask_value(self.key or "", self.value)
        return f"SetOption(key={self.key!r}, value={shown!r})"


@node(frozen=True, slots=True)
class ResetOption(Statement):
    """``RESET 'key'``; without a key it resets all options."""

    key: str | None = None
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class Jar(Statement):
    """``ADD JAR 'path'`` or ``REMOVE JAR 'path'``."""

    path: str
    remove: bool = False
    span: Span = field(default=syntax.NOWHERE, compare=False, repr=False)

    def __repr__(self) -> str:
        return f"Jar(path={mask_credentials(self.path)!r}, remove={self.remove!r})"


#: Each statement, except ALTER -> its function in `schema_core.environment.operations`.
OPERATIONS: dict[type[Statement], str] = {
    CreateTable:             "create_table.create_table",
    CreateView:              "create_view.create_view",
    CreateMaterializedTable: "materialized_tables.create_materialized_table",
    CreateCatalog:           "catalog_objects.create_catalog",
    CreateDatabase:          "catalog_objects.create_database",
    CreateFunction:          "catalog_objects.create_function",
    CreateModel:             "catalog_objects.create_model",
    CreateConnection:        "connections.create_connection",
    Drop:                    "catalog_objects.drop",
    AlterFunction:           "catalog_objects.alter_function",
    UseCatalog:              "catalog_objects.use_catalog",
    UseDatabase:             "catalog_objects.use_database",
    UseModules:              "catalog_objects.use_modules",
    LoadModule:              "catalog_objects.load_module",
    UnloadModule:            "catalog_objects.unload_module",
    Show:                    "show.show",
    ShowCreate:              "show_create.show_create",
    Describe:                "show.describe",
    Explain:                 "explain.explain",
    SelectStatement:         "data.select",
    Insert:                  "data.insert",
    Delete:                  "row_changes.delete",
    Update:                  "row_changes.update",
    StatementSet:            "data.statement_set",
    BeginStatementSet:       "jobs.begin_statement_set",
    EndStatementSet:         "jobs.end_statement_set",
    DescribeJob:             "jobs.describe_job",
    StopJob:                 "jobs.stop_job",
    Execute:                 "data.execute",
    CompilePlan:             "compile_plan.compile_plan",
    ExecutePlan:             "compile_plan.execute_plan",
    AnalyzeTable:            "analyze_table.analyze",
    TruncateTable:           "row_changes.truncate",
    CallProcedure:           "call_procedure.call",
    SetOption:               "catalog_objects.set_option",
    ResetOption:             "catalog_objects.reset_option",
    Jar:                     "catalog_objects.jar",
}  # fmt: skip

#: Kind of object -> the function of ALTER.
ALTERATIONS: dict[ObjectKind, str] = {
    ObjectKind.TABLE:      "alter_table.alter_table",
    ObjectKind.VIEW:       "alter_view.alter_view",
    ObjectKind.MATERIALIZED_TABLE: "materialized_tables.alter_materialized_table",
    ObjectKind.CATALOG:    "catalog_objects.alter_catalog",
    ObjectKind.DATABASE:   "catalog_objects.alter_database",
    ObjectKind.MODEL:      "catalog_objects.alter_model",
    ObjectKind.CONNECTION: "connections.alter_connection",
}  # fmt: skip


# --- SHOW -----------------------------------------------------------------------------------------


class Subject(NamedTuple):
    """What may follow ``SHOW words``."""

    words: str
    place: str = ""  # kind of object that FROM or IN names
    like: tuple[str, ...] = ()  # the words of patterns
    table: bool = False  # the path of a table, without FROM


LIKE, BOTH = ("LIKE",), ("LIKE", "ILIKE")

#: What SHOW can list.   words                   FROM or IN        patterns     a table
SHOW_SUBJECTS = (
    Subject("CATALOGS",                                like=BOTH),
    Subject("CURRENT CATALOG"),
    Subject("CURRENT DATABASE"),
    Subject("DATABASES",             place="catalog",  like=BOTH),
    Subject("TABLES",                place="database", like=LIKE),
    Subject("VIEWS",                 place="database", like=LIKE),
    Subject("MATERIALIZED TABLES",   place="database", like=LIKE),
    Subject("FUNCTIONS",             place="database", like=BOTH),
    Subject("USER FUNCTIONS",        place="database", like=BOTH),
    Subject("PROCEDURES",            place="database", like=BOTH),
    Subject("MODELS",                place="database", like=LIKE),
    Subject("COLUMNS",               place="table",    like=LIKE),
    Subject("PARTITIONS",                                           table=True),
    Subject("MODULES"),
    Subject("FULL MODULES"),
    Subject("JARS"),
    Subject("JOBS"),
    Subject("CONNECTIONS",           place="database", like=LIKE),
)  # fmt: skip
