"""Inline tables: rows of a DataFrame of Spark, Arrow, pandas or polars that a query reads directly.

They have no path and no connector. Their rows belong to the planner, as long as a `Table`, a view
or a running query reads them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from schema_core.base.lazy import dataclass
from schema_core.base.paths import UNKNOWN, ObjectIdentifier
from schema_core.catalog.objects import ResolvedCatalogTable
from schema_core.environment.planner import Planner
from schema_core.errors import SchemaError, UnsupportedError, at
from schema_core.schema.columns import (
    MetadataColumn,
    PhysicalColumn,
    UnresolvedPhysicalColumn,
    plain,
)
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.resolved import ResolvedSchema, WatermarkSpec
from schema_core.schema.unresolved import Schema, unresolve
from schema_core.types import DataType, supports_explicit_cast

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from schema_core.query.relation import Relation


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class InlineRows:
    """Rows as a planner keeps them.

    Attributes:
        schema: The columns of the table.
        content: An object that only the planner reads.
        library: The library of the object that the rows are from.
        is_unbounded: Whether the rows never end.
        metadata: The metadata of the rows, with its types.
        lateness: How late rows may be by the watermark of the object itself, if it has one.
        source_watermark: The watermark of the table if it is `SOURCE_WATERMARK()`.
    """

    schema: ResolvedSchema
    content: object
    library: str
    is_unbounded: bool = False
    metadata: Mapping[str, DataType] = field(default_factory=dict)
    lateness: timedelta | None = None
    source_watermark: WatermarkSpec | None = None

    @property
    def is_physical(self) -> bool:
        """Whether the table has only the columns of the rows."""
        columns = self.schema.columns
        return not self.is_unbounded and all(type(each) is PhysicalColumn for each in columns)


@dataclass(frozen=True, slots=True, weakref_slot=True)
class InlineTable(ResolvedCatalogTable):
    """A table whose rows are an object in this process."""

    rows: InlineRows = field(kw_only=True, compare=False, repr=False)


@runtime_checkable
class DataFramePlanner(Planner, Protocol):
    """A planner that exchanges rows with DataFrames and Arrow."""

    def rows_of(
        self,
        library: str | None,
        data: object,
        schema: object = None,
        declared: Mapping[str, DataType] | None = None,
    ) -> InlineRows:
        """Return the rows of an object of `spark`, `arrow`, `pandas` or `polars`.

        Args:
            library: The library of the object; None accepts all four.
            data: The object.
            schema: For pandas, names or types of the columns.
            declared: The types of the columns that are read, by their names; None for all.

        Raises:
            SchemaError: with code `invalid-argument` for an object of another class, `invalid-data`
                for a value that is not of its column's type, `unknown-column` and `not-assignable`
                for declared columns.
            UnsupportedError: for columns whose type Flink does not have.
        """

    def to_spark(self, query: Relation, schema: ResolvedSchema) -> DataFrame:
        """Return a query as a DataFrame of the user's session; nothing runs.

        `schema` has the columns of the query, as in the methods below.
        """

    def to_arrow(self, query: Relation, schema: ResolvedSchema) -> pa.RecordBatchReader:
        """Return a query's rows as record batches, which are computed as they are read."""

    def to_pandas(self, query: Relation, schema: ResolvedSchema) -> pd.DataFrame:
        """Run a query and return its rows."""


def declared_rows(
    planner: DataFramePlanner,
    resolver: SchemaResolver,
    library: str | None,
    data: object,
    schema: Schema,
) -> InlineRows:
    """Return the rows of an object as a table with a schema, as Flink's `from_data_stream`.

    Physical columns are those of the object with the same names, cast to their types; a schema
    without any has all columns of the object, before its own.

    Errors are those of `rows_of` and of the resolution of the schema, and
    `invalid-metadata-column`.
    """
    physical = tuple(
        column for column in schema.columns if isinstance(column, UnresolvedPhysicalColumn)
    )
    declared = None
    if physical:
        resolved = resolver.resolve(Schema(physical))
        declared = {column.name: plain(column.data_type) for column in resolved.columns}
    rows = planner.rows_of(library, data, declared=declared)
    if not physical:
        schema = replace(schema, columns=(*unresolve(rows.schema).columns, *schema.columns))
    resolved = resolver.resolve(schema)
    _check_metadata(resolved, rows)
    return replace(
        rows, schema=resolved, source_watermark=_source_watermark(resolver, schema, rows.lateness)
    )


def _check_metadata(schema: ResolvedSchema, rows: InlineRows) -> None:
    hint = (
        "the key 'rowtime' is the column on which `withWatermark` of the streaming DataFrame was "
        "called; a computed column returns other times"
    )
    for column in schema.columns:
        if not isinstance(column, MetadataColumn):
            continue
        with at(f"column {column.name!r}"):
            if column.key not in rows.metadata:
                raise SchemaError(
                    f"the rows have no metadata {column.key!r}",
                    code="invalid-metadata-column",
                    hint=hint,
                )
            given = rows.metadata[column.key]
            if not supports_explicit_cast(given, column.data_type):
                raise SchemaError(
                    f"the metadata {column.key!r} is {given}, which cannot be cast to "
                    f"{column.data_type}",
                    code="invalid-metadata-column",
                )


def _source_watermark(
    resolver: SchemaResolver, schema: Schema, lateness: timedelta | None
) -> WatermarkSpec | None:
    """Return the watermark that `SOURCE_WATERMARK()` of a table stands for."""
    if lateness is None or not schema.watermark_specs:
        return None
    from schema_core.expressions.fluent_functions import col, lit

    name = schema.watermark_specs[0].column_name
    columns = Schema.new_builder().from_schema(replace(schema, watermark_specs=()))
    computed = columns.watermark(name, col(name) - lit(lateness)).build()
    return resolver.resolve(computed).watermark_specs[0]


def require_data_frames(planner: Any) -> DataFramePlanner:
    """Return a planner that exchanges rows with DataFrames (else `unsupported-ability`)."""
    if isinstance(planner, DataFramePlanner):
        return planner
    raise UnsupportedError(
        f"the planner {planner.identifier!r} does not support DataFrames",
        code="unsupported-ability",
        hint="use the planner 'spark'",
    )


def inline_table(rows: InlineRows, number: int) -> tuple[ObjectIdentifier, InlineTable]:
    """Return the table of some rows, and its identifier, which no path can express."""
    identifier = ObjectIdentifier(UNKNOWN, UNKNOWN, f"*{rows.library}${number}*")
    schema = rows.schema
    return identifier, InlineTable(unresolve(schema), resolved_schema=schema, rows=rows)
