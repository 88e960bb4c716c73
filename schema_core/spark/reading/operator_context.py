"""What an operator of frames computes with: see `frame_operators`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from schema_core.base.lazy import dataclass
from schema_core.query.relation import Relation, Scan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from schema_core.spark.compiler.query import QueryCompiler
    from schema_core.spark.session.session import TemporaryNames


@dataclass(frozen=True, slots=True)
class OperatorContext:
    """What an operator computes with: the compiler of the query, and the names of its views.

    `analyse` returns the frame of a query in Spark SQL. `is_streaming` is that of the session: a
    stream needs time attributes, but bounded tables of a streaming session are computed here too.
    `options` are those of the session; `holds_changes` returns whether the rows of a table are the
    state that its changes leave.
    """

    compiler: QueryCompiler
    names: TemporaryNames
    analyse: Callable[[str], DataFrame]
    is_streaming: bool
    options: Mapping[str, str]
    holds_changes: Callable[[Scan], bool]

    def rows(self, relation: Relation) -> DataFrame:
        """Return the rows of a relation, with the names of `result_columns`.

        Values have the form in which the compiler computes with them, see `from_physical`.
        """
        return self.analyse(self.compiler.standalone(relation))

    def query(self, frame: DataFrame) -> str:
        """Return a query of all rows of a frame."""
        return f"SELECT * FROM {self.names.view(frame)}"
