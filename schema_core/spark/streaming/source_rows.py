"""The rows of the sources of a query in stages as one frame: Spark has one for a query."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Final, TypeAlias

from schema_core.query.relation import Scan
from schema_core.spark.compiler.translation import PREFIX, sql_type
from schema_core.spark.compiler.tree import quote
from schema_core.spark.session.api_mode import functions_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: The column with the number of a source, and the prefix of those with its rows.
SOURCE: Final = f"{PREFIX}source"
ROW: Final = f"{PREFIX}row"
#: Returns a frame for another one.
FrameChange: TypeAlias = "Callable[[DataFrame], DataFrame]"


def tagged_rows(frames: Sequence[DataFrame]) -> DataFrame:
    """Return the rows of all sources as one streaming frame, each with the number of its source."""
    tagged = []
    functions = functions_of(frames[0])
    for number, frame in enumerate(frames):
        rows = [
            functions.expr("struct(*)")
            if frame is other
            else functions.lit(None).cast(other.schema)
            for other in frames
        ]
        named = [row.alias(f"{ROW}{place}") for place, row in enumerate(rows)]
        tagged.append(frame.select(functions.lit(number).alias(SOURCE), *named))
    return reduce(lambda left, right: left.union(right), tagged)


def rows_of_source(rows: DataFrame, place: int) -> DataFrame:
    """Return the rows of a source among `tagged_rows`, by its position."""
    own = rows.where(f"{quote(SOURCE)} = {place}")
    return own.selectExpr(f"{quote(f'{ROW}{place}')}.*")


def decode_messages(rows: DataFrame, count: int, decoders: Mapping[int, FrameChange]) -> DataFrame:
    """Return a micro-batch of `tagged_rows` with the changes of sources in place of messages."""
    frames = [rows_of_source(rows, place) for place in range(count)]
    for place, decode in decoders.items():
        frames[place] = decode(frames[place])
    return tagged_rows(frames)


def with_all_columns(frame: DataFrame, scan: Scan) -> DataFrame:
    """Return the columns of a scan; those that a frame lacks are NULL."""
    own = set(frame.columns)
    return frame.selectExpr(*(
        quote(column.name)
        if column.name in own
        else f"CAST(NULL AS {sql_type(column.type)}) AS {quote(column.name)}"
        for column in scan.columns
    ))  # fmt: skip
