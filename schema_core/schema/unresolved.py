"""`Schema` and its builder: the declared columns, watermarks and keys of a table.

A schema is not validated. Equality compares declarations: the string ``INT`` is not equal to the
data type INT, and a metadata column without a key not to one whose key is its name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from sys import intern
from types import NoneType
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, TypeVar, assert_never, get_args

from schema_core.base.arguments import require_instance, require_names, require_sequence
from schema_core.base.lazy import dataclass
from schema_core.base.plugins import DDL, find, list_entries, load_higher
from schema_core.base.text import is_blank, show
from schema_core.errors import NotFoundError, SchemaCoreError, SchemaError
from schema_core.expressions.fluent import Expression
from schema_core.expressions.rewriting import column_scope, to_sql_meaning
from schema_core.expressions.scope import Scope
from schema_core.schema.columns import (
    SqlExpression,
    UnresolvedColumn,
    UnresolvedComputedColumn,
    UnresolvedImmutableColumns,
    UnresolvedIndex,
    UnresolvedMetadataColumn,
    UnresolvedPhysicalColumn,
    UnresolvedPrimaryKey,
    UnresolvedWatermarkSpec,
    Written,
    WrittenType,
    format_schema,
)
from schema_core.schema.resolved import (
    AnyColumn,
    ComputedColumn,
    MetadataColumn,
    PhysicalColumn,
    ResolvedSchema,
)
from schema_core.sql.syntax import Call, walk
from schema_core.types import DataType, RowType, UnresolvedDataType, parse_type

# --- the DDL of other engines ---------------------------------------------------------------------

OnLoss: TypeAlias = Literal["error", "note", "accept"]
Answer = TypeVar("Answer")


class Translator(Protocol):
    """Interface of an implementation of the group `schema_core.ddl`.

    Both methods raise `NotFoundError` with code `unknown-dialect` for unsupported engines.
    """

    def from_ddl(self, text: str, dialect: str, *, on_loss: OnLoss) -> Schema:
        """Return the schema of a CREATE TABLE statement."""
        ...

    def to_ddl(
        self, schema: Schema, dialect: str, name: str | tuple[str, ...], *, on_loss: OnLoss
    ) -> str:
        """Return the CREATE TABLE statement of a schema."""
        ...


def _first(ask: Callable[[Translator], Answer], dialect: str) -> Answer:
    unknown = NotFoundError(
        f"there is no dialect {show(dialect)}",
        code="unknown-dialect",
        hint="install a package that provides translators",
    )
    for entry in list_entries(DDL):
        try:
            return ask(find(DDL, entry.identifier))
        except NotFoundError as error:
            if error.code != "unknown-dialect":
                raise
            unknown = error
    raise unknown


__all__ = [
    "Schema",
    "SchemaBuilder",
    "SqlExpression",
    "UnresolvedColumn",
    "UnresolvedComputedColumn",
    "UnresolvedImmutableColumns",
    "UnresolvedIndex",
    "UnresolvedMetadataColumn",
    "UnresolvedPhysicalColumn",
    "UnresolvedPrimaryKey",
    "UnresolvedWatermarkSpec",
    "unresolve",
]

#: Names of constraints in messages.
KEY, INDEX, IMMUTABLE = "the primary key", "the index", "the immutable columns constraint"

#: An expression as the builder accepts it.
ExpressionArgument: TypeAlias = str | Expression | Written


def _constraint_name(name: str, constraint: str) -> str:
    """Return the name of a constraint, which is not blank."""
    if is_blank(require_instance(name, str, f"the name of {constraint}")):
        raise SchemaError(f"the name of {constraint} must not be blank", code="invalid-name")
    return name


def _key_columns(columns: Iterable[str], constraint: str) -> tuple[str, ...]:
    """Return the columns of a constraint, at least one."""
    if not (names := require_names(columns, constraint)):
        raise SchemaError(f"{constraint} has no columns", code="invalid-constraint")
    return names


def _require_type(data_type: WrittenType) -> WrittenType:
    if not isinstance(data_type, str | DataType | UnresolvedDataType):
        raise SchemaError(
            f"expected a data type or a type string, got {show(data_type)}",
            code="invalid-argument",
            hint="write DataTypes.INT() or 'INT'",
        )
    return data_type


class SchemaBuilder:
    """Builder of a schema; every method returns the builder.

    Each raises a SchemaError with code `invalid-argument` for an argument of another class.

    >>> schema = (
    ...     Schema.new_builder()
    ...     .column("id", "BIGINT NOT NULL")
    ...     .with_comment("who")
    ...     .primary_key("id")
    ...     .build()
    ... )
    >>> print(schema)
    (
      `id` [BIGINT NOT NULL] COMMENT 'who',
      CONSTRAINT `PK_id` PRIMARY KEY (`id`) NOT ENFORCED
    )
    """

    def __init__(self) -> None:
        self._columns: list[UnresolvedColumn] = []
        self._watermark_specs: list[UnresolvedWatermarkSpec] = []
        self._primary_key: UnresolvedPrimaryKey | None = None
        self._indexes: list[UnresolvedIndex] = []
        self._immutable_columns: UnresolvedImmutableColumns | None = None

    def build(self) -> Schema:
        """Return the schema, which later calls of the builder do not change."""
        return Schema(
            tuple(self._columns),
            tuple(self._watermark_specs),
            self._primary_key,
            tuple(self._indexes),
            self._immutable_columns,
        )

    def _rewrite(self, expression: ExpressionArgument) -> Written:
        """Return an expression in SQL, with the meaning of PyFlink."""
        expression = to_sql_meaning(expression, self._scope)
        if isinstance(expression, Expression):
            parts = walk(expression.syntax)
            has_inline = any(isinstance(part, Call) and part.inline is not None for part in parts)
            return SqlExpression(str(expression), expression.syntax if has_inline else None)
        if isinstance(expression, str):
            return SqlExpression(expression)
        if not isinstance(expression, Written):
            raise SchemaError(
                f"expected an expression or a SQL string, got {show(expression)}",
                code="invalid-argument",
                hint="write 'a + 1' or col('a') + 1",
            )
        return expression

    def _scope(self) -> Scope:
        """Return the columns appended so far whose types need no resolution."""
        types: list[tuple[str, DataType]] = []
        for column in self._columns:
            with suppress(SchemaCoreError):
                type_ = getattr(column, "data_type", None)
                type_ = parse_type(type_) if isinstance(type_, str) else type_
                if isinstance(type_, DataType):
                    types.append((column.name, type_))
        return column_scope(types, None, None)

    # --- from other schemas --------------------------------------------------------------------

    def from_schema(self, unresolved_schema: Schema) -> SchemaBuilder:
        """Append all members of another schema.

        Raises:
            SchemaError: with code `already-declared` if both have one.
        """
        require_instance(unresolved_schema, Schema, "the schema to append")
        self._columns += unresolved_schema.columns
        self._watermark_specs += unresolved_schema.watermark_specs
        self._indexes += unresolved_schema.indexes
        if unresolved_schema.primary_key is not None:
            self._set_primary_key(unresolved_schema.primary_key)
        if unresolved_schema.immutable_columns is not None:
            self._set_immutable_columns(unresolved_schema.immutable_columns)
        return self

    def from_resolved_schema(self, resolved_schema: ResolvedSchema) -> SchemaBuilder:
        """Append all members of a resolved schema; errors are those of `from_schema`."""
        require_instance(resolved_schema, ResolvedSchema, "the schema to append")
        return self.from_schema(unresolve(resolved_schema))

    def from_columns(self, columns: Iterable[UnresolvedColumn]) -> SchemaBuilder:
        """Append columns of another schema."""
        kinds = get_args(UnresolvedColumn)
        columns = require_sequence(columns, "the columns to append")
        if not set(kinds).issuperset(map(type, columns)):
            for column in columns:
                require_instance(column, kinds, "a column to append")
        self._columns += columns
        return self

    def from_row_data_type(self, data_type: DataType) -> SchemaBuilder:
        """Append a physical column for each field of a row; field comments are lost.

        Raises:
            SchemaError: with code `invalid-argument` for any other type.
        """
        if not isinstance(data_type, RowType):
            raise SchemaError(f"expected a ROW, got {show(data_type)}", code="invalid-argument")
        return self.from_fields(data_type.field_names(), data_type.field_types())

    def from_fields(
        self, field_names: Sequence[str], field_data_types: Sequence[WrittenType]
    ) -> SchemaBuilder:
        """Append physical columns.

        Raises:
            SchemaError: with code `column-count-mismatch`, or as `column`.
        """
        names = require_sequence(field_names, "the names of the fields")
        types = require_sequence(field_data_types, "the types of the fields")
        if len(names) != len(types):
            raise SchemaError(
                f"{len(names)} names for {len(types)} types", code="column-count-mismatch"
            )
        for name, data_type in zip(names, types, strict=True):
            self.column(name, data_type)
        return self

    # --- columns -------------------------------------------------------------------------------

    def column(self, column_name: str, data_type: WrittenType) -> SchemaBuilder:
        """Append a physical column; a type string is parsed when the schema is resolved.

        Raises:
            SchemaError: with code `invalid-argument`.
        """
        name, type_ = column_name, data_type
        if type(name) is not str or type(type_) is not str:  # checked without a call
            name = str(require_instance(name, str, "the name of a column"))
            type_ = _require_type(type_)
        # the tables of a catalog repeat names: one string for all of them
        self._columns.append(UnresolvedPhysicalColumn(intern(name), type_))
        return self

    def column_by_expression(self, column_name: str, expr: ExpressionArgument) -> SchemaBuilder:
        """Append a computed column; a string is SQL over physical and metadata columns.

        Raises:
            SchemaError: with code `invalid-argument`.
        """
        name = require_instance(column_name, str, "the name of a column")
        self._columns.append(UnresolvedComputedColumn(name, self._rewrite(expr)))
        return self

    def column_by_metadata(
        self,
        column_name: str,
        data_type: WrittenType,
        metadata_key: str | None = None,
        is_virtual: bool = False,
    ) -> SchemaBuilder:
        """Append a metadata column, whose key is by default its name.

        Raises:
            SchemaError: with code `invalid-argument`.
        """
        name = require_instance(column_name, str, "the name of a column")
        type_ = _require_type(data_type)
        key = require_instance(
            metadata_key, (str, NoneType), "the metadata key", hint="name the flag: is_virtual=True"
        )
        virtual = require_instance(is_virtual, bool, "is_virtual")
        self._columns.append(UnresolvedMetadataColumn(name, type_, key, virtual))
        return self

    def with_comment(self, comment: str | None) -> SchemaBuilder:
        """Set the comment of the last column; None removes it.

        Raises:
            SchemaError: with code `invalid-state`.
        """
        require_instance(comment, (str, NoneType), "the comment")
        if not self._columns:
            raise SchemaError("a comment requires a column before it", code="invalid-state")
        self._columns[-1] = replace(self._columns[-1], comment=comment)
        return self

    # --- watermarks, keys, indexes -------------------------------------------------------------

    def watermark(self, column_name: str, watermark_expr: ExpressionArgument) -> SchemaBuilder:
        """Append a watermark; a string is SQL over all columns.

        Raises:
            SchemaError: with code `invalid-argument`.
        """
        name = require_instance(column_name, str, "the name of the column of a watermark")
        self._watermark_specs.append(UnresolvedWatermarkSpec(name, self._rewrite(watermark_expr)))
        return self

    def primary_key(self, *column_names: str) -> SchemaBuilder:
        """Set the primary key, named ``PK_`` and the columns; see `primary_key_named`."""
        names = _key_columns(column_names, KEY)
        return self.primary_key_named(generated_name("PK", names), *names)

    def primary_key_named(self, constraint_name: str, *column_names: str) -> SchemaBuilder:
        """Set the primary key.

        Raises:
            SchemaError: with code `already-declared`, `invalid-name` or `invalid-constraint`.
        """
        name = _constraint_name(constraint_name, KEY)
        return self._set_primary_key(UnresolvedPrimaryKey(name, _key_columns(column_names, KEY)))

    def index(self, *column_names: str) -> SchemaBuilder:
        """Append an index, named ``INDEX_`` and the columns; errors are those of `index_named`."""
        names = _key_columns(column_names, INDEX)
        return self.index_named(generated_name("INDEX", names), *names)

    def index_named(self, index_name: str, *column_names: str) -> SchemaBuilder:
        """Append an index.

        Raises:
            SchemaError: with code `invalid-constraint`.
        """
        name = require_instance(index_name, str, f"the name of {INDEX}")
        self._indexes.append(UnresolvedIndex(name, _key_columns(column_names, INDEX)))
        return self

    def immutable_columns(self, *column_names: str) -> SchemaBuilder:
        """Declare immutable columns, named ``IMMUTABLE_COLUMNS_`` and the columns."""
        names = _key_columns(column_names, IMMUTABLE)
        return self.immutable_columns_named(generated_name("IMMUTABLE_COLUMNS", names), *names)

    def immutable_columns_named(self, constraint_name: str, *column_names: str) -> SchemaBuilder:
        """Declare immutable columns.

        Raises:
            SchemaError: with code `already-declared`, `invalid-name` or `invalid-constraint`.
        """
        name = _constraint_name(constraint_name, IMMUTABLE)
        names = _key_columns(column_names, IMMUTABLE)
        return self._set_immutable_columns(UnresolvedImmutableColumns(name, names))

    def _set_primary_key(self, key: UnresolvedPrimaryKey) -> SchemaBuilder:
        if self._primary_key is not None:
            raise SchemaError("the primary key is already declared", code="already-declared")
        self._primary_key = key
        return self

    def _set_immutable_columns(self, immutable: UnresolvedImmutableColumns) -> SchemaBuilder:
        if self._immutable_columns is not None:
            raise SchemaError("immutable columns are already declared", code="already-declared")
        self._immutable_columns = immutable
        return self


class _Hashed:
    """A slot for a hash that is computed once, and neither compared nor pickled."""

    __slots__ = ("_hash",)

    _hash: int


@dataclass(frozen=True, slots=True)
class Schema(_Hashed):
    """An unresolved schema: columns, watermarks, a primary key, indexes, immutable columns.

    `Schema.new_builder()` builds a schema, `SchemaResolver` resolves it (FLIP-164).

    >>> print(Schema.new_builder().column("a", "INT").column_by_expression("b", "a + 1").build())
    (
      `a` [INT],
      `b` AS [a + 1]
    )
    """

    Builder: ClassVar[type[SchemaBuilder]] = SchemaBuilder

    columns: tuple[UnresolvedColumn, ...] = ()
    watermark_specs: tuple[UnresolvedWatermarkSpec, ...] = ()
    primary_key: UnresolvedPrimaryKey | None = None
    indexes: tuple[UnresolvedIndex, ...] = ()
    immutable_columns: UnresolvedImmutableColumns | None = None

    def __post_init__(self) -> None:
        for name in ("columns", "watermark_specs", "indexes"):
            if type(members := getattr(self, name)) is not tuple:
                object.__setattr__(self, name, require_sequence(members, f"the {name}"))

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            columns = [(column.name, getattr(column, "data_type", None)) for column in self.columns]
            # other types are slow to hash, and rarely differ alone between schemas with equal names
            parts = tuple([type_ if type(type_) is str else name for name, type_ in columns])
            names = tuple([name for name, _ in columns])
            object.__setattr__(self, "_hash", hash((names, parts, self.primary_key)))
            return self._hash

    @staticmethod
    def new_builder() -> SchemaBuilder:
        """Return an empty builder."""
        return SchemaBuilder()

    @staticmethod
    def derived() -> Schema:
        """Return the empty schema, which is derived from elsewhere."""
        return Schema()

    def resolve(self, resolver: AbstractSchemaResolver) -> ResolvedSchema:
        """Resolve the schema.

        Raises:
            SchemaError: as `SchemaResolver.resolve`; with code `invalid-argument` for any other
                `resolver`.
        """
        require_instance(resolver, AbstractSchemaResolver, "the resolver", "a SchemaResolver")
        return resolver.resolve(self)

    @staticmethod
    def from_ddl(text: str, dialect: str = "postgres", *, on_loss: OnLoss = "error") -> Schema:
        """Return the schema of another engine's CREATE TABLE.

        Raises:
            ParseError: for any other statement, with the position.
            NotFoundError: with code `unknown-dialect`.
            UnsupportedError: with code `type-not-supported` for types without an equivalent,
                `lossy` if values would change and `on_loss` is `error`.

        >>> print(Schema.from_ddl("CREATE TABLE t (id bigint NOT NULL, at timestamptz)", "duckdb"))
        (
          `id` BIGINT NOT NULL,
          `at` TIMESTAMP_LTZ(6)
        )
        """
        return _first(
            lambda translator: translator.from_ddl(text, dialect, on_loss=on_loss), dialect
        )

    def to_ddl(
        self,
        dialect: str = "postgres",
        name: str | tuple[str, ...] = "t",
        *,
        on_loss: OnLoss = "error",
    ) -> str:
        """Return another engine's statements that create a table with this schema.

        Raises:
            SchemaError: for a schema that cannot be resolved.
            NotFoundError: with code `unknown-dialect`.
            UnsupportedError: with code `type-not-supported` or `name-not-supported`, `lossy` if
                values would change and `on_loss` is `error`.

        >>> print(Schema.new_builder().column("tags", "ARRAY<STRING>").build().to_ddl("trino"))
        CREATE TABLE "t" (
          "tags" array(varchar)
        )
        """
        return _first(
            lambda translator: translator.to_ddl(self, dialect, name, on_loss=on_loss), dialect
        )

    # --- PyFlink's methods ---------------------------------------------------------------------

    def get_columns(self) -> list[UnresolvedColumn]:
        return list(self.columns)

    def get_watermark_specs(self) -> list[UnresolvedWatermarkSpec]:
        return list(self.watermark_specs)

    def get_primary_key(self) -> UnresolvedPrimaryKey | None:
        return self.primary_key

    def get_indexes(self) -> list[UnresolvedIndex]:
        return list(self.indexes)

    def get_immutable_columns(self) -> UnresolvedImmutableColumns | None:
        return self.immutable_columns

    def _repr_html_(self) -> str:
        return str(load_higher("unresolved_schema_html")(self))

    def _repr_pretty_(self, printer: Any, _cycle: bool) -> None:
        printer.text(str(self))

    def __str__(self) -> str:
        return format_schema(self)


class AbstractSchemaResolver(ABC):
    """The base of `SchemaResolver`."""

    __slots__ = ()

    @abstractmethod
    def resolve(self, schema: Schema) -> ResolvedSchema:
        """Resolve a schema."""


def generated_name(prefix: str, columns: Iterable[str]) -> str:
    """Return the name of an unnamed constraint, as in Flink.

    >>> generated_name("PK", ["id", "day"])
    'PK_id_day'
    """
    return "_".join((prefix, *columns))


def unresolve(schema: ResolvedSchema) -> Schema:
    """Return an unresolved schema that resolves to an equal schema again."""
    key, fixed = schema.primary_key, schema.immutable_columns
    return Schema(
        tuple(map(_unresolve_column, schema.columns)),
        tuple(
            UnresolvedWatermarkSpec(spec.rowtime_attribute, spec.watermark_expression)
            for spec in schema.watermark_specs
        ),
        None if key is None else UnresolvedPrimaryKey(key.name, key.columns),
        tuple(UnresolvedIndex(index.name, index.columns) for index in schema.indexes),
        None if fixed is None else UnresolvedImmutableColumns(fixed.name, fixed.columns),
    )


def _unresolve_column(column: AnyColumn) -> UnresolvedColumn:
    match column:
        case PhysicalColumn(name, type_, comment=comment):
            return UnresolvedPhysicalColumn(name, type_, comment)
        case ComputedColumn(name, expression=expression, comment=comment):
            return UnresolvedComputedColumn(name, expression, comment)
        case MetadataColumn(name, type_, key, virtual, comment=comment):
            return UnresolvedMetadataColumn(name, type_, key, virtual, comment)
        case _:
            assert_never(column)
