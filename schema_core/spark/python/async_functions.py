"""Calls of asynchronous Python functions: many at once for a batch's rows, in order.

Workers import this module: it imports little.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from schema_core.base.lazy import dataclass
from schema_core.base.text import show

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType


@dataclass(frozen=True, slots=True)
class AsyncCalls:
    """How the rows of a batch are computed: the options ``table.exec.async-scalar.*``.

    At most `concurrency` calls run at once. A failed call is retried up to `retries` times, after
    `delay` seconds each; together they may take `timeout` seconds, unlimited if 0. A remaining
    error cancels the other calls and fails the job.
    """

    concurrency: int = 10
    timeout: float = 180.0
    retries: int = 3
    delay: float = 0.1

    async def all(
        self, function: Callable[..., Awaitable[Any]], name: str, rows: Sequence[Sequence[Any]]
    ) -> list[Any]:
        """Return a function's results for rows of arguments, in order.

        >>> async def double(number):
        ...     return number * 2
        >>> asyncio.run(AsyncCalls(concurrency=2).all(double, "double", [(1,), (2,), (3,)]))
        [2, 4, 6]
        """
        results: list[Any] = [None] * len(rows)
        pending = iter(enumerate(rows))

        async def work() -> None:
            for place, row in pending:
                results[place] = await self._one(function, name, row)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(self.concurrency, len(rows))):
                    group.create_task(work())
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None
        return results

    async def _one(
        self, function: Callable[..., Awaitable[Any]], name: str, row: Sequence[Any]
    ) -> Any:
        try:
            async with asyncio.timeout(self.timeout or None) as limit:
                for _ in range(self.retries):
                    try:
                        return await function(*row)
                    except Exception:  # noqa: BLE001 - each error of a user's function is retried
                        await asyncio.sleep(self.delay)
                return await function(*row)
        except TimeoutError as error:
            if not limit.expired():
                raise
            problem = f"function {name} took longer than {self.timeout:g} s for {show(tuple(row))}"
            raise TimeoutError(problem) from error


def of_batches(
    function: Callable[..., Awaitable[Any]],
    name: str,
    checked: Callable[[Any], Any],
    arguments: StructType,
    result: StructType,
    calls: AsyncCalls,
) -> Callable[..., pa.Array]:
    """Return the function of Arrow columns that computes an asynchronous function for each row.

    Its event loop outlives the batch, so later batches can use a connection that a call has opened.

    Args:
        function: The function of a row's values.
        name: Its name in errors.
        checked: Converts a result to its declared type, or raises.
        arguments: The Spark types of the columns.
        result: The Spark type of the results, as one column.
        calls: How many calls run at once, and what errors do.
    """
    import pyarrow as pa

    runners: list[asyncio.Runner] = []

    def evaluate(*columns: pa.Array) -> pa.Array:
        from pyspark.sql.conversion import ArrowTableToRowsConversion, LocalDataToArrowConversion

        if not runners:
            runners.append(asyncio.Runner())
        table = pa.Table.from_arrays(list(columns), arguments.names)
        rows = ArrowTableToRowsConversion.convert(table, arguments)
        results = runners[0].run(calls.all(function, name, rows))
        values = [(checked(item),) for item in results]
        return LocalDataToArrowConversion.convert(values, result, False).column(0).combine_chunks()

    # Spark chooses the arguments' form by the hints
    evaluate.__annotations__ = {"columns": pa.Array, "return": pa.Array}
    return evaluate
