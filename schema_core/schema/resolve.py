"""`SchemaResolver`: resolution of a schema, which reports all errors at once.

The order of the steps is that of Flink's DefaultSchemaResolver (verified with pairs of errors): the
first error is the one that Flink reports.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from schema_core.base.arguments import require_instance
from schema_core.base.caching import Counted, cached, cached_by_identity
from schema_core.base.lazy import NamedTuple
from schema_core.errors import Diagnostic, Gathering, SchemaCoreError, SchemaError, at, within
from schema_core.expressions.scope import ColumnScope, Functions, Scope, Subqueries, find_function
from schema_core.expressions.type_checker import infer
from schema_core.expressions.typed import FunctionCall, Ref, walk
from schema_core.schema import columns as schema_columns
from schema_core.schema.resolved import ResolvedSchema
from schema_core.schema.rules import (
    FOLLOWS,
    WRONG,
    Columns,
    find_column,
    require_one_watermark,
    require_same_time,
    require_time,
    require_time_column,
    require_unique_keys,
    require_unique_names,
    require_visible_names,
    resolve_immutable_columns,
    resolve_indexes,
    resolve_primary_key,
)
from schema_core.schema.unresolved import AbstractSchemaResolver, Schema
from schema_core.sql.parser import parse_expression
from schema_core.sql.syntax import NOWHERE, Call, Interval, Literal, Name, Symbol, TypeName
from schema_core.sql.syntax import walk as syntax_parts
from schema_core.types import (
    AnyTimestampType,
    DataType,
    TimestampKind,
    UnresolvedDataType,
    parse_type,
    require_resolved,
)
from schema_core.types.unresolved import LookUp, look_up

if TYPE_CHECKING:
    from schema_core.base.text import Span


class SchemaResolver(AbstractSchemaResolver):
    """Resolves schemas in streaming or batch mode (FLIP-164).

    `supports_metadata` False refuses metadata columns. `functions` and `types` look up functions
    and user-defined types by path; `subqueries` types subqueries. Without these three, resolved
    schemas are cached.
    """

    __slots__ = ("_functions", "_metadata", "_streaming", "_subqueries", "_types")

    def __init__(
        self,
        streaming: bool = True,
        supports_metadata: bool = True,
        functions: Functions | None = None,
        types: LookUp | None = None,
        subqueries: Subqueries | None = None,
    ) -> None:
        self._streaming = streaming
        self._metadata = supports_metadata
        self._functions = functions
        self._types = types
        self._subqueries = subqueries

    def is_streaming_mode(self) -> bool:
        """Return whether a watermark makes its column a time attribute."""
        return self._streaming

    def supports_metadata(self) -> bool:
        """Return whether metadata columns are allowed."""
        return self._metadata

    def resolve(self, schema: Schema) -> ResolvedSchema:
        """Resolve a schema.

        Raises:
            SchemaCoreError: the error that Flink reports (a SchemaError, or an UnsupportedError for
                an unknown type), with all others in `others`; `path` is the location, such as
                ``column 'total'``.

        >>> written = Schema.new_builder().column("a", "INT").column_by_expression("b", "a + 1")
        >>> print(SchemaResolver().resolve(written.build()))
        (
          `a` INT,
          `b` INT AS a + 1
        )
        """
        require_instance(schema, Schema, "the schema to resolve")
        if self._functions or self._types or self._subqueries:
            return self._resolve_schema(schema)
        if (resolved := _resolve_known(schema)) is not None:
            return resolved
        if not _is_text(schema):
            return self._resolve_schema(schema)
        return _resolve_cached(schema, self._streaming, self._metadata)

    def _resolve_schema(self, schema: Schema, columns: Columns | None = None) -> ResolvedSchema:
        """Resolve a schema; `columns` are its columns if all are resolved."""
        errors = Gathering()
        if columns is None:
            with errors.catching():
                require_unique_names(schema.columns)
            with errors.catching():
                require_unique_keys(schema.columns)
            stored = self._resolve_stored(schema.columns, errors)
            columns = self._resolve_computed(schema.columns, stored, errors)
        watermarks = self._watermarks(schema.watermark_specs, columns, errors)
        columns = self._with_rowtime(columns, watermarks)
        key = resolve_primary_key(schema.primary_key, columns, errors)
        indexes = resolve_indexes(schema.indexes, columns, errors)
        immutable = resolve_immutable_columns(schema.immutable_columns, key, columns, errors)
        errors.errors = [error for error in errors.errors if error.code != FOLLOWS]
        errors.raise_all()
        valid = [column for column in columns.values() if column is not None]
        return ResolvedSchema(valid, watermarks, key, indexes, immutable)

    def check(self, schema: Schema) -> tuple[Diagnostic, ...]:
        """Return all errors of a schema in the order of Flink's steps."""
        try:
            self.resolve(schema)
        except SchemaCoreError as error:
            return error.diagnostics
        return ()

    # --- columns -------------------------------------------------------------------------------

    def _resolve_stored(
        self, columns: Iterable[schema_columns.UnresolvedColumn], errors: Gathering
    ) -> Columns:
        stored: Columns = {}
        cached_columns, types = RESOLVED.columns, _type_of_text.entries.recent
        is_plain = self._types is None
        for column in columns:
            if (before := cached_columns.get(id(column))) is not None:
                stored[column.name] = before
                continue
            if type(column) is schema_columns.UnresolvedPhysicalColumn:
                name, text = column.name, column.data_type
                type_ = types.get((text,)) if type(text) is str else None
                if type_ is not None:
                    resolved = schema_columns.PhysicalColumn(
                        name, type_, comment=column.comment, written=column
                    )
                    stored[name] = RESOLVED.keep(column, resolved)
                    continue
            if isinstance(column, schema_columns.UnresolvedComputedColumn):
                continue
            try:
                stored[column.name] = typed = self._resolve_declared(column)
                RESOLVED.add(column, typed, is_plain=is_plain)
            except SchemaCoreError:  # `at` for every column would double the time
                stored[column.name] = None
                with errors.catching(), at(f"column {column.name!r}", column.span):
                    raise
        return stored

    def _resolve_declared(
        self,
        column: schema_columns.UnresolvedPhysicalColumn | schema_columns.UnresolvedMetadataColumn,
    ) -> schema_columns.AnyColumn:
        type_ = self._resolve_type(column.data_type)
        if isinstance(column, schema_columns.UnresolvedPhysicalColumn):
            return schema_columns.PhysicalColumn(
                column.name, type_, comment=column.comment, written=column
            )
        if not self._metadata:
            raise SchemaError("metadata columns are not supported", code="invalid-metadata-column")
        key, virtual, comment = column.metadata_key, column.virtual, column.comment
        return schema_columns.MetadataColumn(
            column.name, type_, key, virtual, comment=comment, written=column
        )

    def _resolve_type(self, declared: schema_columns.WrittenType) -> DataType:
        if isinstance(declared, UnresolvedDataType):
            return require_resolved(declared.resolve(self._types))
        if not isinstance(declared, str):
            return _resolve_type(declared, self._types)
        try:
            return _type_of_text(declared)
        except SchemaCoreError:  # of an invalid type, or of one with names of user-defined types
            if self._types is None:
                raise
            return _resolve_type(parse_type(declared), self._types)

    def _resolve_computed(
        self, columns: Iterable[schema_columns.UnresolvedColumn], stored: Columns, errors: Gathering
    ) -> Columns:
        """Return all columns in order; computed ones can only refer to stored ones."""
        computed = [
            column
            for column in columns
            if isinstance(column, schema_columns.UnresolvedComputedColumn)
        ]
        if not computed:
            return stored
        by_name: Columns = {column.name: stored.get(column.name) for column in columns}
        first = computed[0]
        with errors.catching(), at(f"column {first.name!r}", first.span):
            scope = self._scope(stored, [column.name for column in computed])
            by_name |= compute(computed, scope, errors)
        return by_name

    def _scope(self, columns: Columns, computed: Iterable[str] = ()) -> SchemaScope:
        return SchemaScope(
            columns,
            computed,
            streaming=self._streaming,
            functions=self._functions,
            types=self._types,
            subqueries=self._subqueries,
        )

    # --- watermarks ----------------------------------------------------------------------------

    def _watermarks(
        self,
        specs: tuple[schema_columns.UnresolvedWatermarkSpec, ...],
        columns: Columns,
        errors: Gathering,
    ) -> tuple[schema_columns.WatermarkSpec, ...]:
        watermarks: list[schema_columns.WatermarkSpec] = []
        with errors.catching():
            require_one_watermark(specs)
            for spec in specs:
                with at(f"watermark of {spec.column_name!r}", spec.span):
                    column = find_column(spec.column_name, columns)
                    require_time_column(column)
                    expression = resolve_expression(spec.watermark_expression, self._scope(columns))
                    typed, type_ = expression.typed, schema_columns.plain(column.data_type)
                    if isinstance(typed, FunctionCall) and typed.function.name == SOURCE_WATERMARK:
                        expression = replace(expression, typed=replace(typed, type=type_))
                    require_time(expression.type, "the watermark")
                    require_same_time(column, expression.type)
                    watermarks.append(schema_columns.WatermarkSpec(column.name, expression))
        return tuple(watermarks)

    def _with_rowtime(
        self, columns: Columns, watermarks: tuple[schema_columns.WatermarkSpec, ...]
    ) -> Columns:
        """In streaming mode, make the column of the watermark a rowtime attribute."""
        if not self._streaming or not watermarks:
            return columns
        marked = dict(columns)
        for watermark in watermarks:
            column = columns[watermark.rowtime_attribute]
            if column is not None and isinstance(column.data_type, AnyTimestampType):
                rowtime = column.data_type.with_kind(TimestampKind.ROWTIME)
                marked[column.name] = column.copy(rowtime)
        return marked


class ResolvedColumns(Counted):
    """A cache of resolved physical columns by the identity of the unresolved ones.

    ALTER TABLE resolves a table again whose columns are mostly the same objects. An entry keeps its
    column alive (`written`), so that an identity is never reused.
    """

    __slots__ = ("columns", "size")

    def clear(self) -> None:
        """Clear the cache."""
        self.columns: dict[int, schema_columns.PhysicalColumn] = {}
        self.size: int = 0

    def held(self) -> tuple[int, int]:
        """Return the number of columns and the sum of their sizes."""
        return len(self.columns), self.size

    def add(
        self,
        unresolved: schema_columns.UnresolvedColumn,
        resolved: schema_columns.AnyColumn,
        *,
        is_plain: bool,
    ) -> None:
        """Cache a resolved column if its type was declared as a data type or a string.

        `is_plain` is whether no user-defined types were looked up: then a string contains none.
        """
        if not isinstance(resolved, schema_columns.PhysicalColumn) or not isinstance(
            unresolved, schema_columns.UnresolvedPhysicalColumn
        ):
            return
        type_ = unresolved.data_type
        if type_ is resolved.data_type or (is_plain and isinstance(type_, str)):
            self.keep(unresolved, resolved)

    def keep(
        self,
        unresolved: schema_columns.UnresolvedPhysicalColumn,
        resolved: schema_columns.PhysicalColumn,
    ) -> schema_columns.PhysicalColumn:
        """Cache and return a resolved column."""
        weight = resolved.data_type.node_count
        if self.size + weight > self.budget:
            self.clear()
        self.columns[id(unresolved)] = resolved
        self.size += weight
        return resolved


#: Shared by all resolvers: these columns depend only on their declaration.
RESOLVED = ResolvedColumns(f"{__name__}.ResolvedColumns", budget=50_000, unit="types")


def _schema_size(schema: Schema, *_: bool) -> int:
    return (
        1
        + len(schema.columns)
        + sum(
            len(str(column.expression)) // 50
            for column in schema.columns
            if type(column) is schema_columns.UnresolvedComputedColumn
        )
    )


@cached(_schema_size, budget=10_000, unit="columns")
def _resolve_cached(schema: Schema, streaming: bool, supports_metadata: bool) -> ResolvedSchema:
    return SchemaResolver(streaming, supports_metadata)._resolve_schema(schema)  # noqa: SLF001 - same module


@cached_by_identity(lambda schema: 1 + len(schema.columns), budget=20_000, unit="columns")
def _resolve_known(schema: Schema) -> ResolvedSchema | None:
    """Resolve a schema of physical columns that are all cached; return None for others.

    Hashing such a schema would take longer. Neither the mode nor the support of metadata matters.
    """
    get, columns = RESOLVED.columns.get, schema.columns
    if schema.watermark_specs or not columns or get(id(columns[0])) is None:
        return None
    resolved = list(map(get, map(id, columns)))
    by_name: Columns = {column.name: column for column in resolved if column is not None}
    if len(by_name) < len(columns):  # a column is not cached, or two have one name
        return None
    return SchemaResolver()._resolve_schema(schema, by_name)  # noqa: SLF001 - same module


@cached()
def _type_of_text(text: str) -> DataType:
    return _resolve_type(parse_type(text), None)


def _resolve_type(type_: DataType, types: LookUp | None) -> DataType:
    """Resolve the names of user-defined types in a type.

    Raises:
        SchemaError: with code `follows-from-another` for an invalid type, or as `look_up`.
    """
    if type_.nullable() == WRONG:
        raise SchemaError("the type is invalid (reported above)", code=FOLLOWS)
    return require_resolved(look_up(type_, types))


def _is_text(schema: Schema) -> bool:
    """Return whether all equal schemas resolve to the same schema.

    Equality ignores syntax trees, time attributes of types, and declared types of key columns.
    """
    expressions = [spec.watermark_expression for spec in schema.watermark_specs]
    for column in schema.columns:
        if isinstance(column, schema_columns.UnresolvedComputedColumn):
            expressions.append(column.expression)
            continue
        type_ = column.data_type
        if isinstance(type_, str):
            continue
        declared = getattr(column, "declared", None)
        if declared is not None or (isinstance(type_, DataType) and _has_attribute(type_)):
            return False
    return all(
        isinstance(expression, schema_columns.SqlExpression) and expression.syntax is None
        for expression in expressions
    )


def _has_attribute(type_: DataType) -> bool:
    timestamps = (node for node in type_.walk() if isinstance(node, AnyTimestampType))
    return any(timestamp.kind is not TimestampKind.REGULAR for timestamp in timestamps)


# --- expressions ---------------------------------------------------------------------------------


class SchemaScope(ColumnScope):
    """The scope of an expression of a schema, in which columns may be invalid."""

    def __init__(
        self,
        columns: Columns,
        computed: Iterable[str],
        *,
        streaming: bool,
        functions: Functions | None,
        types: LookUp | None,
        subqueries: Subqueries | None,
    ) -> None:
        valid = {name: column.data_type for name, column in columns.items() if column is not None}
        require_visible_names(columns)
        super().__init__(
            valid, streaming=streaming, functions=functions, types=types, subqueries=subqueries
        )
        self.invalid: set[str] = columns.keys() - valid.keys()
        self.computed: frozenset[str] = frozenset(computed)

    def names(self) -> Iterable[str]:
        """Return all names, also of invalid columns."""
        return (*self.columns, *self.invalid)

    def lookup(self, parts: tuple[str, ...], span: Span) -> tuple[Ref, tuple[str, ...]]:
        """Look up a column; see `ColumnScope.lookup`."""
        if parts[0] in self.invalid:
            raise SchemaError(f"column {parts[0]!r} is invalid (reported above)", code=FOLLOWS)
        if parts[0] in self.computed:
            raise SchemaError(
                f"column {parts[0]!r} is computed",
                code="unknown-column",
                hint="refer to physical and metadata columns only",
                span=span,
            )
        return super().lookup(parts, span)


def compute(
    columns: Iterable[schema_columns.UnresolvedComputedColumn], scope: Scope, errors: Gathering
) -> Columns:
    """Resolve computed columns."""
    computed: Columns = {}
    for column in columns:
        computed[column.name] = None
        with errors.catching(), at(f"column {column.name!r}", column.span):
            expression = resolve_expression(column.expression, scope)
            computed[column.name] = schema_columns.ComputedColumn(
                column.name, expression.type, expression, comment=column.comment, written=column
            )
    return computed


def resolve_expression(
    expression: schema_columns.Written, scope: Scope
) -> schema_columns.ResolvedExpression:
    """Resolve an expression; a resolved one is only validated.

    Raises:
        SchemaError: for syntax errors, unknown names and type errors; the span refers to the text
            of the expression or of its statement.
    """
    if isinstance(expression, schema_columns.ResolvedExpression):
        require_columns(expression, scope)
        return expression
    if isinstance(scope, SchemaScope) and (cached_ := _resolve_again(expression, scope)):
        return cached_
    with within(expression.source or expression.text):
        syntax = expression.syntax or parse_expression(expression.text)
        return schema_columns.ResolvedExpression(infer(scope, syntax), expression)


def _resolve_again(
    expression: schema_columns.SqlExpression, scope: SchemaScope
) -> schema_columns.ResolvedExpression | None:
    """Return the cached resolution of an expression over columns of these types, or None.

    Cached are expressions of names, literals and built-in functions, over types without time
    attributes, which equality ignores.
    """
    if expression.syntax:
        return None
    try:
        names = _names_in(expression.text)
        if names is None or not scope.computed.isdisjoint(names.columns):
            return None
        if scope.functions and not all(
            scope.function(path, NOWHERE) is find_function(path, NOWHERE)
            for path in names.functions
        ):
            return None
        columns = tuple([(name, scope.columns[name]) for name in names.columns])
        if any(_has_attribute(type_) for _, type_ in columns):
            return None
        return _resolve_text(expression.text, scope.streaming, columns)
    except (KeyError, SchemaCoreError):
        return None  # the error depends on all columns


#: Nodes that depend on nothing of the scope but named columns and functions: user-defined types
#: have no built-in name.
_CACHED_NODES = (Call, Name, Literal, Interval, Symbol, TypeName)


class _Names(NamedTuple):
    """The first names of columns, and the paths of functions, in an expression."""

    columns: tuple[str, ...]
    functions: tuple[tuple[str, ...], ...]


@cached()
def _names_in(text: str) -> _Names | None:
    """Return the names in an expression, or None if it is not cached."""
    parts = list(syntax_parts(parse_expression(text)))
    if not all(isinstance(part, _CACHED_NODES) for part in parts):
        return None
    columns = dict.fromkeys(part.parts[0] for part in parts if isinstance(part, Name))
    calls = (part for part in parts if isinstance(part, Call) and part.name != ".")
    return _Names(tuple(columns), tuple(dict.fromkeys(call.path or (call.name,) for call in calls)))


@cached(
    lambda text, _, columns: (
        len(text) + 16 + sum([len(name) + 16 * type_.node_count for name, type_ in columns])
    )
)
def _resolve_text(
    text: str, streaming: bool, columns: tuple[tuple[str, DataType], ...]
) -> schema_columns.ResolvedExpression:
    scope = ColumnScope(dict(columns), streaming=streaming)
    return schema_columns.ResolvedExpression(
        infer(scope, parse_expression(text)), schema_columns.SqlExpression(text)
    )


def require_columns(expression: schema_columns.ResolvedExpression, scope: Scope) -> None:
    """Refuse a resolved expression that refers to other columns."""
    for part in walk(expression.typed):
        if isinstance(part, Ref):
            scope.lookup((part.name,), part.span)


#: The function of the source's own watermark, which has the type of the column.
SOURCE_WATERMARK = "SOURCE_WATERMARK"
