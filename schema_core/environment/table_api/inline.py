"""Inline tables: rows of a DataFrame of Spark, Arrow, pandas or polars that a query reads directly.

They have no path and no connector. Their rows belong to the planner, as long as a `Table`, a view
or a running query reads them.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from schema_core.base.lazy import dataclass
from schema_core.base.paths import UNKNOWN, ObjectIdentifier
from schema_core.catalog.objects import ResolvedCatalogTable
from schema_core.environment.planner import Planner
from schema_core.errors import UnsupportedError
from schema_core.schema.resolved import ResolvedSchema
from schema_core.schema.unresolved import unresolve

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from schema_core.query.relation import Relation


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class InlineRows:
    """Rows as a planner keeps them: their columns, and an object that only it reads."""

    schema: ResolvedSchema
    content: object
    library: str


@dataclass(frozen=True, slots=True, weakref_slot=True)
class InlineTable(ResolvedCatalogTable):
    """A table whose rows are an object in this process."""

    rows: InlineRows = field(kw_only=True, compare=False, repr=False)


@runtime_checkable
class DataFramePlanner(Planner, Protocol):
    """A planner that exchanges rows with DataFrames and Arrow."""

    def rows_of(self, library: str | None, data: object, schema: object = None) -> InlineRows:
        """Return the rows of an object of `spark`, `arrow`, `pandas` or `polars`.

        Args:
            library: The library of the object; None accepts all four.
            data: The object.
            schema: For pandas, names or types of the columns.

        Raises:
            SchemaError: with code `wrong-argument` for an object of another class, `not-a-value`
                for a value that is not of its column's type.
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


def require_data_frames(planner: Any) -> DataFramePlanner:
    """Return a planner that exchanges rows with DataFrames (else `unsupported-engine`)."""
    if isinstance(planner, DataFramePlanner):
        return planner
    raise UnsupportedError(
        f"the planner {planner.identifier!r} does not support DataFrames",
        code="unsupported-engine",
        hint="use the planner 'spark'",
    )


def inline_table(rows: InlineRows, number: int) -> tuple[ObjectIdentifier, InlineTable]:
    """Return the table of some rows, and its identifier, which no path can express."""
    identifier = ObjectIdentifier(UNKNOWN, UNKNOWN, f"*{rows.library}${number}*")
    schema = rows.schema
    return identifier, InlineTable(unresolve(schema), resolved_schema=schema, rows=rows)
