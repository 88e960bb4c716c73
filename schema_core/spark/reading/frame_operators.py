"""Relations that Spark SQL lacks: an operator computes each from the frames of its inputs.

The compiler reads the frame of an operator as a view, so any query can be over it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from schema_core.query.relation import Match, ProcessTable, Relation, Scan
from schema_core.spark.matching.match_frames import match_rows
from schema_core.spark.reading.changelog_functions import from_changelog, to_changelog
from schema_core.spark.reading.model_prediction import ml_predict
from schema_core.spark.reading.operator_context import OperatorContext
from schema_core.spark.reading.process_functions import process_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from schema_core.spark.compiler.query import QueryCompiler
    from schema_core.spark.session.session import TemporaryNames


#: Returns a query of the rows of a relation, with its columns in order and in the compiler's form.
FrameOperator: TypeAlias = "Callable[[OperatorContext, Relation], str | None]"

#: Built-in process table function -> its operator.
PROCESS_FUNCTIONS: Final[Mapping[str, Callable[[OperatorContext, ProcessTable], str]]] = {
    "FROM_CHANGELOG": from_changelog,
    "TO_CHANGELOG": to_changelog,
    "ML_PREDICT": ml_predict,
}


def process_table(context: OperatorContext, relation: Relation) -> str | None:
    """Return the rows of a process table function; None if Spark does not run it."""
    table = cast("ProcessTable", relation)
    operator = process_rows if table.process else PROCESS_FUNCTIONS.get(table.function)
    return None if operator is None else operator(context, table)


#: Kind of relation -> its operator.
FRAME_OPERATORS: Final[Mapping[type, FrameOperator]] = {
    Match: match_rows,
    ProcessTable: process_table,
}


def operator_writer(
    names: TemporaryNames,
    analyse: Callable[[str], DataFrame],
    *,
    is_streaming: bool,
    options: Mapping[str, str],
    holds_changes: Callable[[Scan], bool],
) -> Callable[[QueryCompiler, Relation], str | None]:
    """Return a function that writes the relations of `FRAME_OPERATORS` as queries of views."""
    make_context = partial(
        OperatorContext,
        names=names,
        analyse=analyse,
        is_streaming=is_streaming,
        options=options,
        holds_changes=holds_changes,
    )

    def write(compiler: QueryCompiler, relation: Relation) -> str | None:
        operator = FRAME_OPERATORS.get(type(relation))
        return None if operator is None else operator(make_context(compiler), relation)

    return write
