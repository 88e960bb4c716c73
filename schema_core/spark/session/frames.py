"""Frames of Spark, from SQL and from columns of other frames."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from schema_core.spark.compiler.tree import (
    Column,
    Lifting,
    NamedNode,
    Projection,
    quote,
    with_alias,
)
from schema_core.spark.session.api_mode import is_connect

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: What a note of an error begins with that a connector's function raised for an item.
IN_ITEM = "in item "


def frame_of_sql(session: SparkSession, text: str) -> DataFrame:
    """Return the frame of a query in Spark SQL; ``session.sql`` makes four more round trips."""
    if is_connect(session):
        return session.sql(text)
    from pyspark.sql.classic.dataframe import DataFrame

    return DataFrame(session._jsparkSession.sql(text), session)  # noqa: SLF001


def select(frame: DataFrame, columns: Iterable[NamedNode]) -> DataFrame:
    """Return a frame of some columns; values used more than once are computed before.

    A frame that has exactly these columns is returned as it is.
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
