"""Relations that Spark SQL lacks: an operator computes each from the frames of its inputs.

The compiler reads the frame of an operator as a view, so any query can be over it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, TypeAlias

from schema_core.base.lazy import dataclass
from schema_core.query.relation import Relation

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from schema_core.spark.compiler.query import QueryCompiler
    from schema_core.spark.session.session import TemporaryNames


@dataclass(frozen=True, slots=True)
class OperatorContext:
    """What an operator computes with: the compiler of the query, and the names of its views.

    `analyse` returns the frame of a query in Spark SQL.
    """

    compiler: QueryCompiler
    names: TemporaryNames
    analyse: Callable[[str], DataFrame]

    def rows(self, relation: Relation) -> DataFrame:
        """Return the rows of a relation, with the names of `result_columns`.

        Values have the form in which the compiler computes with them, see `from_physical`.
        """
        return self.analyse(self.compiler.standalone(relation))

    def query(self, frame: DataFrame) -> str:
        """Return a query of all rows of a frame."""
        return f"SELECT * FROM {self.names.view(frame)}"


#: Returns a query of the rows of a relation, with its columns in order and in the compiler's form.
FrameOperator: TypeAlias = "Callable[[OperatorContext, Relation], str | None]"

#: Kind of relation -> its operator.
FRAME_OPERATORS: Final[Mapping[type, FrameOperator]] = {}


def operator_writer(
    names: TemporaryNames, analyse: Callable[[str], DataFrame]
) -> Callable[[QueryCompiler, Relation], str | None]:
    """Return a function that writes the relations of `FRAME_OPERATORS` as queries of views."""

    def write(compiler: QueryCompiler, relation: Relation) -> str | None:
        operator = FRAME_OPERATORS.get(type(relation))
        context = OperatorContext(compiler, names, analyse)
        return None if operator is None else operator(context, relation)

    return write
