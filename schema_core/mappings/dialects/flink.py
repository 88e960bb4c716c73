"""Flink as a dialect: tables as CREATE TABLE statements, and the tables of a script.

A statement is read as the table that it was written from, except for its losses.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING, cast

from schema_core.base.cursor import check_size
from schema_core.base.lazy import dataclass
from schema_core.base.secrets import HIDDEN
from schema_core.base.text import Span, quote_identifier, show
from schema_core.catalog.objects import CatalogTable, DistributionKind, TableDistribution
from schema_core.errors import (
    AlreadyExistsError,
    Gathering,
    ParseError,
    SchemaCoreError,
    SchemaError,
    UnsupportedError,
    at,
    within,
)
from schema_core.errors.hints import USE_SHOW_CREATE
from schema_core.mappings.dialects.apply_alterations import apply_change
from schema_core.mappings.dialects.definitions import (
    check_sight,
    column_of,
    read_schema,
    table_of,
)
from schema_core.mappings.dialects.grammar import Dropped
from schema_core.mappings.dialects.printer import (
    Masking,
    expression_text,
    stored_columns,
    table_clauses,
)
from schema_core.mappings.dialects.schemas import DdlStatements
from schema_core.mappings.dialects.types import Losses, loss_of
from schema_core.schema import columns as schema_columns
from schema_core.schema.unresolved import Schema
from schema_core.sql import statement_syntax as syntax
from schema_core.sql.parser import parse_expression, parse_statement, read_statements
from schema_core.sql.printer import print_expression
from schema_core.types import DataType, DataTypes

if TYPE_CHECKING:
    from schema_core.sql.syntax import Name

#: The name of the dialect.
FLINK = "flink"

#: Maximum number of columns and options that the changes of a script copy.
MAX_COPIED = 10_000_000

MAX_NAMES = 3


def write_table(table: CatalogTable, path: tuple[str, ...], masking: Masking) -> DdlStatements:
    """Return the statement that creates a table, and what Flink's SQL cannot express.

    Raises:
        UnsupportedError: for all names and types that SQL does not have.
        SchemaError: with code `invalid-option-value`.
    """
    losses: Losses = []
    errors = Gathering()
    with errors.catching():
        for name in (*path, *table.partition_keys):
            _check_name(name)
        if len(path) > MAX_NAMES:
            problem = f"a path has at most {MAX_NAMES} names, got {len(path)}"
            raise UnsupportedError(problem, code="name-not-supported")
    with errors.catching():
        schema = _to_sql_schema(table.schema, losses)
    with errors.catching():
        distribution = _to_sql_distribution(table.distribution, losses)
    with errors.catching():
        for key, value in () if masking.enabled else table.options.items():
            if HIDDEN in value:
                raise SchemaError(
                    f"the value of the option {key!r} is masked",
                    code="invalid-option-value",
                    hint="set the option to its real value",
                )
    errors.raise_all()
    if table.snapshot is not None:
        losses.append(loss_of(("table",), "member", f"the snapshot {table.snapshot}", ""))
    comment = _to_sql_comment(table.comment, "table", losses)
    stored = replace(table, schema=schema, distribution=distribution, comment=comment)
    columns = stored_columns(schema, masking) if schema.columns else []
    clauses = [*columns, *table_clauses(stored, masking)]
    head = f"CREATE TABLE {'.'.join(map(quote_identifier, path))}"
    return DdlStatements(" ".join([head, "\n".join(clauses)]).rstrip(), tuple(losses))


def _check_name(name: str) -> None:
    if not name or any(line_break in name for line_break in "\n\r"):
        raise UnsupportedError(
            f"Flink's SQL does not support the name {show(name)}", code="name-not-supported"
        )


def _to_sql_comment(comment: str | None, place: str, losses: Losses) -> str | None:
    if comment == "":
        losses.append(loss_of((place,), "member", "the empty comment", ""))
    return comment or None


def _to_sql_schema(schema: Schema, losses: Losses) -> Schema:
    errors = Gathering()
    columns: list[schema_columns.UnresolvedColumn] = []
    for column in schema.columns:
        with errors.catching(), at(f"column {column.name!r}"):
            columns.append(_to_sql_column(column, losses))
    watermarks: list[schema_columns.UnresolvedWatermarkSpec] = []
    for spec in schema.watermark_specs:
        with errors.catching(), at(f"watermark of {spec.column_name!r}"):
            expression = _to_sql_expression(spec.watermark_expression)
            watermarks.append(replace(spec, watermark_expression=expression))
    if schema.primary_key is not None:
        with errors.catching(), at("primary key"):
            _check_name(schema.primary_key.name)
    errors.raise_all()
    losses += [loss_of(("index",), "member", str(index), "") for index in schema.indexes]
    if schema.immutable_columns is not None:
        shown = str(schema.immutable_columns)
        losses.append(loss_of(("immutable columns",), "member", shown, ""))
    return Schema(tuple(columns), tuple(watermarks), schema.primary_key)


def _to_sql_column(
    column: schema_columns.UnresolvedColumn, losses: Losses
) -> schema_columns.UnresolvedColumn:
    _check_name(column.name)
    comment = _to_sql_comment(column.comment, column.name, losses)
    if isinstance(column, schema_columns.UnresolvedComputedColumn):
        return replace(column, expression=_to_sql_expression(column.expression), comment=comment)
    return replace(column, data_type=_require_sql_type(column.data_type), comment=comment)


def _to_sql_expression(expression: schema_columns.Written) -> schema_columns.SqlExpression:
    """Return an expression as it is printed, so that no text of a schema ends a clause."""
    return schema_columns.SqlExpression(
        print_expression(parse_expression(expression_text(expression)))
    )


def _require_sql_type(declared: schema_columns.WrittenType) -> DataType:
    """Return the type, if SQL can express it.

    Raises:
        UnsupportedError: with code `type-not-supported`.
    """
    type_ = DataTypes.unresolved(declared).resolve()
    try:
        statement = parse_statement(f"CREATE TABLE t (c {type_.as_serializable_string()})")
        elements = cast("syntax.CreateTable", statement).elements
        columns = [column_of(column, "") for column in elements.columns]
    except SchemaCoreError:
        columns = []
    if [type_] != [getattr(column, "data_type", None) for column in columns]:
        raise UnsupportedError(
            f"Flink's SQL cannot express {type_.as_summary_string()}", code="type-not-supported"
        )
    return type_


def _to_sql_distribution(
    distribution: TableDistribution | None, losses: Losses
) -> TableDistribution | None:
    """Return the distribution that SQL can express: without keys only a bucket count."""
    if distribution is None:
        return None
    for name in distribution.bucket_keys:
        _check_name(name)
    count = distribution.bucket_count
    if distribution.bucket_keys or (count and distribution.kind is DistributionKind.UNKNOWN):
        return distribution
    remaining = TableDistribution.of_unknown((), count) if count else None
    becomes = "" if remaining is None else str(remaining)
    shown = f"the distribution {distribution.kind.value} without keys"
    losses.append(loss_of(("distribution",), "member", shown, becomes))
    return remaining


# --- reading --------------------------------------------------------------------------------------

#: Statements without effect on the tables of the script.
SKIPPED: tuple[type[object], ...] = (
    syntax.SetOption, syntax.ResetOption, syntax.Jar, syntax.LoadModule, syntax.UnloadModule,
    syntax.UseModules, syntax.Show, syntax.ShowCreate, syntax.Describe, syntax.DescribeJob,
    syntax.Explain, syntax.SelectStatement, syntax.Insert, syntax.Delete, syntax.Update,
    syntax.StatementSet, syntax.BeginStatementSet, syntax.EndStatementSet, syntax.StopJob,
    syntax.AnalyzeTable, syntax.TruncateTable,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class DeclaredTable:
    """A table of a script, with its statement and its path as far as the script names it."""

    path: tuple[str, ...]
    statement: syntax.CreateTable
    table: CatalogTable
    options: tuple[syntax.Option, ...]

    @property
    def span(self) -> Span:
        return self.statement.span

    def require_unmasked(self, text: str) -> None:
        """Refuse an option whose value is masked, as SHOW CREATE TABLE shows it."""
        for option in self.options:
            if HIDDEN in option.value and self.table.options.get(option.key) == option.value:
                raise SchemaError(
                    f"the value of the option {option.key!r} is masked",
                    code="invalid-option-value",
                    hint=f"write the value in place of {HIDDEN}, or call from_ddl, which reads "
                    "only the schema",
                    span=option.span,
                    text=text,
                )


@dataclass(slots=True)
class FlinkScript:
    """The tables that a script leaves; `dropped` are statements that belong to none of them."""

    text: str
    tables: dict[tuple[str, ...], DeclaredTable] = field(default_factory=dict)
    dropped: list[Dropped] = field(default_factory=list)
    catalog: tuple[str, ...] = ()
    database: tuple[str, ...] = ()
    _copied: int = 0
    _in_database: dict[tuple[str, ...], set[tuple[str, ...]]] = field(default_factory=dict)

    def path(self, name: Name) -> tuple[str, ...]:
        """Return the path of a name, with the database of the last USE where it has none."""
        *_, last = parts = name.parts
        match len(parts):
            case 1 if self.database:
                return (*self.catalog, *self.database, last)
            case 2:
                return (*self.catalog, *parts)
            case _:
                return tuple(parts)

    def add(self, statement: syntax.Statement) -> None:
        """Apply a statement.

        Raises:
            AlreadyExistsError: with code `table-exists`.
            UnsupportedError: with code `missing-columns` for a table with columns from elsewhere.
            SchemaError: for a change that does not fit its table.
        """
        match statement:
            case syntax.CreateTable():
                self._create(statement)
            case syntax.Drop(kind=syntax.ObjectKind.TABLE, path=name):
                self._remove(self.path(name))
            case syntax.Drop(kind=syntax.ObjectKind.DATABASE, path=name):
                home = (*self.catalog, *name.parts)[-2:]
                for path in self._in_database.pop(home, ()):
                    del self.tables[path]
            case syntax.Alter(kind=syntax.ObjectKind.TABLE):
                self._alter(statement)
            case syntax.UseDatabase(path=name):
                *catalog, database = name.parts
                self.catalog = tuple(catalog) or self.catalog
                self.database = (database,)
            case syntax.UseCatalog(path=name):
                self.catalog, self.database = tuple(name.parts), ()
            case _ if not isinstance(statement, SKIPPED):
                self._drop(statement)
            case _:
                pass

    def _drop(self, statement: syntax.Statement) -> None:
        self.dropped.append(Dropped(statement.as_summary_string(), statement.span.start))

    def _alter(self, statement: syntax.Alter) -> None:
        path, change = self.path(statement.path), statement.change
        declared = self.tables.get(path)
        if declared is None or isinstance(change, syntax.AddPartitions | syntax.DropPartitions):
            if declared is not None or not statement.if_exists:
                self._drop(statement)
            return
        if isinstance(change, syntax.RenameTo):
            self._remove(path)
            self._add(replace(declared, path=(*path[:-1], change.path.parts[-1])), statement.span)
            return
        self._copied += len(declared.table.schema.columns) + len(declared.options)
        if self._copied > MAX_COPIED:
            raise UnsupportedError(
                f"ALTER statements copy more than {MAX_COPIED:,} columns and options",
                code="limit-exceeded",
                hint="write the columns in CREATE TABLE",
                span=statement.span,
            )
        with at(f"table {'.'.join(path)!r}", statement.span):
            table = apply_change(declared.table, change, self.text)
        options = change.options if isinstance(change, syntax.SetOptions) else ()
        self.tables[path] = replace(declared, table=table, options=(*declared.options, *options))

    def _remove(self, path: tuple[str, ...]) -> None:
        self.tables.pop(path, None)
        self._in_database.get(path[:-1], set()).discard(path)

    def _add(self, table: DeclaredTable, span: Span) -> None:
        if table.path in self.tables:
            problem = f"the script has already created the table {'.'.join(table.path)!r}"
            raise AlreadyExistsError(problem, code="table-exists", span=span)
        self.tables[table.path] = table
        self._in_database.setdefault(table.path[:-1], set()).add(table.path)

    def _create(self, statement: syntax.CreateTable) -> None:
        path = self.path(statement.path)
        if path in self.tables and statement.if_not_exists:
            return
        if statement.or_replace:
            self._remove(path)
        with at(f"table {'.'.join(path)!r}"):
            table = _build_table(statement, self.text)
        self._add(DeclaredTable(path, statement, table, statement.options), statement.path.span)


def read_script(text: str, errors: Gathering) -> FlinkScript:
    """Read the tables of a script of Flink SQL.

    `errors` gathers those of all statements that are invalid or that `FlinkScript.add` refuses; if
    there is neither a table nor an error, one with code `invalid-statement`.

    Raises:
        ParseError: with code `limit-exceeded`.
    """
    check_size(text)
    script = FlinkScript(text)
    for statement in read_statements(text):
        with errors.catching(), within(text):
            if isinstance(statement, SchemaCoreError):
                raise statement
            script.add(statement)
    if not script.tables and not errors.errors:
        with errors.catching(), within(text):
            raise ParseError(
                "the script has no CREATE TABLE", code="invalid-statement", span=Span(0, 1)
            )
    return script


def _build_table(statement: syntax.CreateTable, text: str) -> CatalogTable:
    if statement.like is not None or statement.query is not None or statement.elements.names:
        raise UnsupportedError(
            "the statement does not list the columns of the table",
            code="missing-columns",
            hint=USE_SHOW_CREATE,
            span=statement.path.span,
            text=text,
        )
    errors = Gathering()
    schema = read_schema(statement.elements, text, errors)
    with errors.catching():
        check_sight(schema.columns)
    errors.raise_all()
    return table_of(statement, schema)
