"""The connector `rate`: numbered rows with their time, at a steady rate, for tests.

Spark's source `rate` generates them; a restarted job continues the numbers. Flink has no such
connector: `datagen` generates other columns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from schema_core.environment.connector import Boundedness
from schema_core.environment.options import ConfigOption, duration, positive
from schema_core.errors import Gathering, SchemaError, UnsupportedError, at
from schema_core.spark.compiler.expression import to_physical
from schema_core.spark.compiler.functions import datetimes
from schema_core.spark.compiler.translation import is_fine
from schema_core.spark.compiler.tree import Column as ColumnNode
from schema_core.spark.compiler.tree import Node
from schema_core.spark.connector import ConnectorBase
from schema_core.spark.session.frames import select
from schema_core.types import BigIntType, DataType, LocalZonedTimestampType, TimestampType

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from schema_core.spark.connector import ReadContext

ROWS_PER_SECOND = ConfigOption(
    "rows-per-second", positive, 1, "how many rows are generated each second"
)
RAMP_UP_TIME = ConfigOption(
    "ramp-up-time", duration, None, "how long it takes until the rate is reached, in full seconds"
)
PARALLELISM = ConfigOption("scan.parallelism", positive, None, "how many tasks generate rows")


def _time(type_: DataType, zone: str) -> Node | None:
    if not isinstance(type_, TimestampType | LocalZonedTimestampType) or is_fine(type_):
        return None
    time: Node = ColumnNode("timestamp")
    if isinstance(type_, TimestampType):
        time = datetimes.local(time, zone)
    return datetimes.truncate_digits(time, 9, type_.precision)


#: Column -> its types in words, and its value for a type and a zone (None for other types).
COLUMNS: Mapping[str, tuple[str, Callable[[DataType, str], Node | None]]] = {
    "timestamp": ("TIMESTAMP or TIMESTAMP_LTZ of up to 6 digits", _time),
    "value": (
        "BIGINT",
        lambda type_, _: ColumnNode("value") if isinstance(type_, BigIntType) else None,
    ),
}


class RateConnector(ConnectorBase):
    """The columns ``timestamp`` and ``value``. Read only, streaming only."""

    identifier: ClassVar[str] = "rate"
    requires: ClassVar[tuple[str, ...]] = ("pyspark",)
    options: ClassVar[Sequence[ConfigOption[Any]]] = (ROWS_PER_SECOND, RAMP_UP_TIME, PARALLELISM)

    def boundedness(self, options: Mapping[str, str]) -> Boundedness:
        return Boundedness.CONTINUOUS_UNBOUNDED

    def monitor_interval(self, options: Mapping[str, str]) -> None:
        """Rows are generated every second."""

    def read(self, context: ReadContext) -> DataFrame:
        """Refuse a batch job (`unbounded-table`)."""
        raise SchemaError(
            "the rows of the connector 'rate' have no end",
            code="unbounded-table",
            hint="read it in streaming mode, or use 'datagen' with 'number-of-rows'",
        )

    def read_stream(self, context: ReadContext) -> DataFrame:
        """Return the generated rows (`type-not-supported` for other columns and types)."""
        problems = Gathering()
        columns: list[tuple[Node, str]] = []
        for name, type_ in context.physical_columns.items():
            with problems.catching(), at(f"column {name!r}"):
                columns.append((to_physical(_value(name, type_, context.zone), type_), name))
        problems.raise_all()
        options = {
            "rowsPerSecond": ROWS_PER_SECOND.of(context.options),
            "numPartitions": PARALLELISM.of(context.options),
        }
        source = context.session.readStream.format("rate")
        for key, value in options.items():
            source = source if value is None else source.option(key, value)
        if (ramp := RAMP_UP_TIME.of(context.options)) is not None:
            source = source.option("rampUpTime", f"{round(ramp.total_seconds())}s")
        return select(source.load(), columns)


def _value(name: str, type_: DataType, zone: str) -> Node:
    expected, make = COLUMNS.get(name, ("", None))
    if make is None:
        raise UnsupportedError(
            "the connector 'rate' generates the columns 'timestamp' and 'value' only",
            code="type-not-supported",
            hint="use 'datagen' for other columns",
        )
    if (node := make(type_, zone)) is None:
        raise UnsupportedError(
            f"the type must be {expected}, got {type_.as_summary_string()}",
            code="type-not-supported",
        )
    return node
