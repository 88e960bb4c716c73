"""`Schema` and its builder: what was written of a table's columns, watermarks and keys.

Nothing in a schema is checked, and types and expressions may be text. Schemas are equal when they
are written equally: the type text ``INT`` is not the type INT, and a metadata column without a key
is not one whose key is its name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, TypeAlias, assert_never

from schema_core.errors import SchemaError
from schema_core.expressions.fluent import Expression
from schema_core.schema import listing
from schema_core.schema.expression import SqlExpression
from schema_core.schema.members import (
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
)
from schema_core.schema.resolved import (
    AnyColumn,
    ComputedColumn,
    MetadataColumn,
    PhysicalColumn,
    ResolvedSchema,
)
from schema_core.sql.rewrite import walk
from schema_core.sql.syntax import Call
from schema_core.text import is_blank
from schema_core.types import DataType, RowType, UnresolvedDataType

if TYPE_CHECKING:
    from schema_core.schema.resolve import SchemaResolver

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

#: An expression as the builder takes it: SQL text, or what Python or a resolver made.
Given: TypeAlias = str | Expression | Written


class SchemaBuilder:
    """Collects the members of a schema; every method gives the builder back.

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
        """The schema as it stands; what the builder does afterwards does not change it."""
        return Schema(
            tuple(self._columns),
            tuple(self._watermark_specs),
            self._primary_key,
            tuple(self._indexes),
            self._immutable_columns,
        )

    # --- from other schemas --------------------------------------------------------------------

    def from_schema(self, unresolved_schema: Schema) -> SchemaBuilder:
        """Append all members of another schema.

        Raises:
            SchemaError: with code `second-primary-key` or `second-immutable-columns` where both
                have one.
        """
        self._columns += unresolved_schema.columns
        self._watermark_specs += unresolved_schema.watermark_specs
        self._indexes += unresolved_schema.indexes
        if unresolved_schema.primary_key is not None:
            self._set_primary_key(unresolved_schema.primary_key)
        if unresolved_schema.immutable_columns is not None:
            self._set_immutable_columns(unresolved_schema.immutable_columns)
        return self

    def from_resolved_schema(self, resolved_schema: ResolvedSchema) -> SchemaBuilder:
        """Append all members of a resolved schema, with the types and expressions it found.

        Raises:
            SchemaError: as `from_schema`.
        """
        return self.from_schema(unresolve(resolved_schema))

    def from_columns(self, columns: Iterable[UnresolvedColumn]) -> SchemaBuilder:
        """Append columns of another schema."""
        self._columns += columns
        return self

    def from_row_data_type(self, data_type: DataType) -> SchemaBuilder:
        """Append one physical column for each field of a row; field comments are not taken.

        Raises:
            SchemaError: with code `not-a-row` for any other type.
        """
        if not isinstance(data_type, RowType):
            raise SchemaError(f"{data_type!r} is no ROW", code="not-a-row")
        return self.from_fields(data_type.field_names(), data_type.field_types())

    def from_fields(
        self, field_names: Sequence[str], field_data_types: Sequence[WrittenType]
    ) -> SchemaBuilder:
        """Append physical columns of these names and types.

        Raises:
            SchemaError: with code `length-mismatch` where they are not equally many.
        """
        if len(field_names) != len(field_data_types):
            raise SchemaError(
                f"{len(field_names)} names for {len(field_data_types)} types",
                code="length-mismatch",
            )
        for name, data_type in zip(field_names, field_data_types, strict=True):
            self.column(name, data_type)
        return self

    # --- columns -------------------------------------------------------------------------------

    def column(self, column_name: str, data_type: WrittenType) -> SchemaBuilder:
        """Append a physical column; a type given as text is parsed when the schema is resolved."""
        self._columns.append(UnresolvedPhysicalColumn(column_name, _type(data_type)))
        return self

    def column_by_expression(
        self, column_name: str, expr: str | Expression | Written
    ) -> SchemaBuilder:
        """Append a computed column; text is SQL over the physical and metadata columns."""
        self._columns.append(UnresolvedComputedColumn(column_name, _expression(expr)))
        return self

    def column_by_metadata(
        self,
        column_name: str,
        data_type: WrittenType,
        metadata_key: str | None = None,
        is_virtual: bool = False,
    ) -> SchemaBuilder:
        """Append a metadata column; without a key, its name is the key."""
        self._columns.append(
            UnresolvedMetadataColumn(column_name, _type(data_type), metadata_key, is_virtual)
        )
        return self

    def with_comment(self, comment: str | None) -> SchemaBuilder:
        """Set the comment of the column that was appended last; None takes it away.

        Raises:
            SchemaError: with code `no-column` where there is no column yet.
        """
        if not self._columns:
            raise SchemaError(
                "there is no column yet that the comment could be of", code="no-column"
            )
        self._columns[-1] = replace(self._columns[-1], comment=comment)
        return self

    # --- watermarks, keys, indexes -------------------------------------------------------------

    def watermark(
        self, column_name: str, watermark_expr: str | Expression | Written
    ) -> SchemaBuilder:
        """Append a watermark; text is SQL over all columns."""
        self._watermark_specs.append(
            UnresolvedWatermarkSpec(column_name, _expression(watermark_expr))
        )
        return self

    def primary_key(self, *column_names: str) -> SchemaBuilder:
        """Set the key, named ``PK_`` and its columns.

        Raises:
            SchemaError: as `primary_key_named`.
        """
        return self.primary_key_named(_name("PK", column_names), *column_names)

    def primary_key_named(self, constraint_name: str, *column_names: str) -> SchemaBuilder:
        """Set the key.

        Raises:
            SchemaError: with code `second-primary-key`, `blank-name`, or `no-key-columns`.
        """
        _require_name(constraint_name, "primary key")
        key = UnresolvedPrimaryKey(constraint_name, _columns(column_names, "primary key"))
        return self._set_primary_key(key)

    def index(self, *column_names: str) -> SchemaBuilder:
        """Append an index, named ``INDEX_`` and its columns.

        Raises:
            SchemaError: with code `no-key-columns` where no column is named.
        """
        return self.index_named(_name("INDEX", column_names), *column_names)

    def index_named(self, index_name: str, *column_names: str) -> SchemaBuilder:
        """Append an index.

        Raises:
            SchemaError: with code `no-key-columns` where no column is named.
        """
        self._indexes.append(UnresolvedIndex(index_name, _columns(column_names, "index")))
        return self

    def immutable_columns(self, *column_names: str) -> SchemaBuilder:
        """Say which columns never change, under the name ``IMMUTABLE_COLUMNS_`` and theirs.

        Raises:
            SchemaError: as `immutable_columns_named`.
        """
        name = _name("IMMUTABLE_COLUMNS", column_names)
        return self.immutable_columns_named(name, *column_names)

    def immutable_columns_named(self, constraint_name: str, *column_names: str) -> SchemaBuilder:
        """Say which columns never change.

        Raises:
            SchemaError: with code `second-immutable-columns`, `blank-name`, or `no-key-columns`.
        """
        what = "immutable columns constraint"
        _require_name(constraint_name, what)
        columns = _columns(column_names, what)
        return self._set_immutable_columns(UnresolvedImmutableColumns(constraint_name, columns))

    def _set_primary_key(self, key: UnresolvedPrimaryKey) -> SchemaBuilder:
        if self._primary_key is not None:
            raise SchemaError("a schema has one primary key", code="second-primary-key")
        self._primary_key = key
        return self

    def _set_immutable_columns(self, immutable: UnresolvedImmutableColumns) -> SchemaBuilder:
        if self._immutable_columns is not None:
            raise SchemaError(
                "a schema says once which columns are immutable", code="second-immutable-columns"
            )
        self._immutable_columns = immutable
        return self


@dataclass(frozen=True, slots=True)
class Schema:
    """What was written: columns and watermarks in order, a key, indexes, immutable columns.

    `Schema.new_builder()` makes one, `SchemaResolver` says what it means (FLIP-164).

    >>> print(Schema.new_builder().column("a", "INT").column_by_expression("b", "a + 1").build())
    (
      `a` [INT],
      `b` AS [a + 1]
    )
    """

    Builder: ClassVar = SchemaBuilder

    columns: tuple[UnresolvedColumn, ...] = ()
    watermark_specs: tuple[UnresolvedWatermarkSpec, ...] = ()
    primary_key: UnresolvedPrimaryKey | None = None
    indexes: tuple[UnresolvedIndex, ...] = ()
    immutable_columns: UnresolvedImmutableColumns | None = None

    @staticmethod
    def new_builder() -> SchemaBuilder:
        """An empty builder."""
        return SchemaBuilder()

    @staticmethod
    def derived() -> Schema:
        """The empty schema: all of it is to be found out from elsewhere."""
        return Schema()

    def resolve(self, resolver: SchemaResolver) -> ResolvedSchema:
        """What `resolver` makes of it.

        Raises:
            SchemaError: as `SchemaResolver.resolve`.
        """
        return resolver.resolve(self)

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

    def __str__(self) -> str:
        key = () if self.primary_key is None else (self.primary_key,)
        immutable = () if self.immutable_columns is None else (self.immutable_columns,)
        members = (*self.columns, *self.watermark_specs, *key, *self.indexes, *immutable)
        return listing.listing(members)


def unresolve(schema: ResolvedSchema) -> Schema:
    """The schema as it would have to be written, with the types and expressions that were found.

    Resolving it again gives an equal schema.
    """
    key, fixed = schema.primary_key, schema.immutable_columns
    return Schema(
        tuple(map(_unresolve_column, schema.columns)),
        tuple(
            UnresolvedWatermarkSpec(one.rowtime_attribute, one.watermark_expression)
            for one in schema.watermark_specs
        ),
        None if key is None else UnresolvedPrimaryKey(key.name, key.columns),
        tuple(UnresolvedIndex(one.name, one.columns) for one in schema.indexes),
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


# --- what cannot be written at all ---------------------------------------------------------------


def _type(data_type: WrittenType) -> WrittenType:
    if not isinstance(data_type, DataType | UnresolvedDataType | str):
        raise SchemaError(
            f"{data_type!r} is neither a data type nor the text of one",
            code="not-a-type",
            hint="write DataTypes.INT() or 'INT'",
        )
    return data_type


def _has_inline(expression: Expression) -> bool:
    """Whether it calls a function that has no name in SQL."""
    parts = walk(expression.syntax)
    return any(isinstance(part, Call) and part.inline is not None for part in parts)


def _expression(expression: Given) -> Written:
    """The expression as a schema holds it; one that was built in Python is kept as its SQL."""
    if isinstance(expression, Expression):
        return SqlExpression(
            str(expression), expression.syntax if _has_inline(expression) else None
        )
    if isinstance(expression, str):
        return SqlExpression(expression)
    if not isinstance(expression, Written):
        raise SchemaError(
            f"{expression!r} is neither an expression nor SQL text", code="not-an-expression"
        )
    return expression


def _name(prefix: str, columns: Iterable[str]) -> str:
    """The name of what got none: Flink joins the prefix and the columns."""
    return "_".join((prefix, *columns))


def _require_name(name: str, what: str) -> None:
    if is_blank(name):
        raise SchemaError(f"the {what} needs a name with a visible character", code="blank-name")


def _columns(columns: tuple[str, ...], what: str) -> tuple[str, ...]:
    if not columns:
        raise SchemaError(f"the {what} names no column", code="no-key-columns")
    return columns
