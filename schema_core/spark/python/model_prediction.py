"""Prediction by models in the workers of Spark, a batch of rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from schema_core.base.lazy import dataclass
from schema_core.environment.model_provider import ModelContext, ModelProvider
from schema_core.spark.python.process_functions import PASSED, to_arrow

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType


@dataclass(frozen=True, slots=True)
class PredictionTask:
    """How a worker computes ML_PREDICT; columns are those of `ProcessTask`.

    `convert` returns the values of a row as the provider receives them, `check` those of its
    results in the types of the model.
    """

    provider: ModelProvider
    context: ModelContext
    convert: Callable[[Any], tuple[Any, ...]]
    check: Callable[[Any], Any]
    values: StructType
    results: StructType

    def batches(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Compute the rows of batches."""
        import pyarrow as pa
        from pyspark.sql.conversion import ArrowTableToRowsConversion

        predict = self.provider.create_predictor(self.context)
        for batch in batches:
            table = pa.Table.from_batches([batch])
            received = ArrowTableToRowsConversion.convert(
                table.select(self.values.names), self.values
            )
            rows = [self.convert(row) for row in received]
            results = list(predict(rows)) if rows else []
            if len(results) != len(rows):
                raise ValueError(
                    f"the provider {self.provider.identifier!r} returned {len(results)} results for"
                    f" {len(rows)} rows"
                )
            emitted = [
                (place, self.check(row))
                for place, result in enumerate(results)
                for row in (result if isinstance(result, list) else [result])
            ]
            names = [name for name in table.column_names if name.startswith(PASSED)]
            places = pa.array([place for place, _ in emitted], pa.int64())
            made = to_arrow([tuple(row) for _, row in emitted], self.results)
            columns = [*table.select(names).take(places).columns, *made.columns]
            yield from pa.Table.from_arrays(columns, [*names, *self.results.names]).to_batches()
