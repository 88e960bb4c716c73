"""Prediction by models in the workers of Spark, a batch of rows at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from schema_core.base.lazy import dataclass
from schema_core.environment.model_provider import ModelContext, ModelProvider, Predictor
from schema_core.spark.python.async_functions import AsyncCalls
from schema_core.spark.python.process_functions import PASSED, to_arrow

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType


@dataclass(frozen=True, slots=True)
class PredictionTask:
    """How a worker computes ML_PREDICT; columns are those of `ProcessTask`.

    `convert` returns the values of a row as the provider receives them, `check` those of its
    results in the types of the model. With `calls` the provider receives single rows, several at
    once.
    """

    provider: ModelProvider
    context: ModelContext
    convert: Callable[[Any], tuple[Any, ...]]
    check: Callable[[Any], Any]
    values: StructType
    results: StructType
    calls: AsyncCalls | None = None

    def batches(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Compute the rows of batches."""
        import pyarrow as pa
        from pyspark.sql.conversion import ArrowTableToRowsConversion

        predict = self.provider.create_predictor(self.context)
        if self.calls is not None:
            predict = predict_concurrently(predict, self.calls, self.context.path)
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


def predict_concurrently(predict: Predictor, calls: AsyncCalls, model: str) -> Predictor:
    """Return a predictor that calls another one for each row, in threads, with results in order.

    >>> predict_concurrently(lambda rows: [(rows[0][0] * 2,)], AsyncCalls(2), "m")([(1,), (2,)])
    [(2,), (4,)]
    """

    def predict_row(row: tuple[Any, ...]) -> Any:
        results = list(predict([row]))
        if len(results) != 1:
            raise ValueError(f"the model {model} returned {len(results)} results for 1 rows")
        return results[0]

    def predict_rows(rows: Sequence[tuple[Any, ...]]) -> Iterable[Any]:
        threads = ThreadPoolExecutor(calls.concurrency, f"model {model}")

        async def call(*row: Any) -> Any:
            return await asyncio.get_running_loop().run_in_executor(threads, predict_row, row)

        try:
            return asyncio.run(calls.all(call, f"of the model {model}", rows))
        finally:  # a call that timed out cannot be interrupted
            threads.shutdown(wait=False, cancel_futures=True)

    return predict_rows
