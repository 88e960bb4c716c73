"""Names that the SQL of one query needs in our session: temporary views and Python functions.

Spark resolves names when it analyses a query and keeps none of them in the analysed plan. So they
are dropped as soon as there is a frame, whatever becomes of the frame.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from schema_core.spark.compiler.sql_builder import PREFIX, quote
from schema_core.spark.udf_registration import spark_type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: Numbers the names of all sessions: jobs of several threads share one session.
_NUMBERS = itertools.count(1)


class TemporaryNames:
    """The names of one query; as a context manager it drops them at the end."""

    def __init__(self, session: SparkSession) -> None:
        self.session = session
        self._drops: list[Callable[[], object]] = []

    def view(self, frame: DataFrame) -> str:
        """Register a frame of the session; return its name as SQL."""
        name = f"{PREFIX}input_{next(_NUMBERS)}"
        self._drops.append(lambda: self.session.catalog.dropTempView(name))
        frame.createOrReplaceTempView(name)
        return quote(name)

    def function(self, function: Callable[..., Any], result: str) -> str:
        """Register a Python function with the Spark type of its results; return its plain name.

        The name is not quoted: `words.is_hidden` finds it in a lambda only without quotes.
        """
        name = f"{PREFIX}user_{next(_NUMBERS)}"
        drop = f"DROP TEMPORARY FUNCTION IF EXISTS {quote(name)}"
        self._drops.append(lambda: self.session.sql(drop))
        self.session.udf.register(name, function, spark_type(result))
        return name

    def drop(self) -> None:
        """Drop all names."""
        while self._drops:
            self._drops.pop()()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.drop()
        except Exception as failure:
            if error is None:
                raise
            error.add_note(f"temporary names of the query were not dropped: {failure}")
