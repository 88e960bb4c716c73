"""Projections of frames: columns computed from expression trees, without lambdas for `Let`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

from schema_core.spark.compiler.printer import Lifting, Projection, quote, with_alias
from schema_core.spark.compiler.tree import Column

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from schema_core.spark.compiler.tree import Node

#: A column of a projection: its expression and its name.
NamedNode: TypeAlias = "tuple[Node, str]"


def select(frame: DataFrame, columns: Iterable[NamedNode]) -> DataFrame:
    """Return a frame of some columns; what they use more than once is computed in a step before.

    A frame that has exactly these columns already is returned as it is.
    """
    from schema_core.spark.python.udf_registration import require_udfs

    columns = list(columns)
    if all(isinstance(node, Column) and node.name == name for node, name in columns) and (
        frame.schema.names == [name for _, name in columns]
    ):
        return frame
    lifted = Projection()
    items = [with_alias(node, name, Lifting(own=(lifted,))) for node, name in columns]
    require_udfs(frame.sparkSession, *items, *lifted.columns)
    if lifted.columns:
        values = (f"{value} AS {quote(name)}" for value, name in lifted.columns.items())
        frame = frame.selectExpr("*", *values)
    return frame.selectExpr(*items)
