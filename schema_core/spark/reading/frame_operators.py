"""Relations that Spark SQL lacks: an operator computes each from the frames of its inputs.

The compiler reads the frame of an operator as a view, so any query can be over it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, TypeAlias

from schema_core.query.relation import Match, Relation
from schema_core.spark.matching.match_frames import match_rows
from schema_core.spark.reading.operator_context import OperatorContext

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from schema_core.spark.compiler.query import QueryCompiler
    from schema_core.spark.session.session import TemporaryNames


#: Returns a query of the rows of a relation, with its columns in order and in the compiler's form.
FrameOperator: TypeAlias = "Callable[[OperatorContext, Relation], str | None]"

#: Kind of relation -> its operator.
FRAME_OPERATORS: Final[Mapping[type, FrameOperator]] = {Match: match_rows}


def operator_writer(
    names: TemporaryNames, analyse: Callable[[str], DataFrame], *, is_streaming: bool
) -> Callable[[QueryCompiler, Relation], str | None]:
    """Return a function that writes the relations of `FRAME_OPERATORS` as queries of views."""

    def write(compiler: QueryCompiler, relation: Relation) -> str | None:
        operator = FRAME_OPERATORS.get(type(relation))
        context = OperatorContext(compiler, names, analyse, is_streaming)
        return None if operator is None else operator(context, relation)

    return write
