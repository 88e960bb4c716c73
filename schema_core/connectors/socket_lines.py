"""The connector `socket`: lines of text that a server sends over TCP, for tests and examples.

Spark's source `socket` connects and decodes UTF-8. It cannot repeat what it has read: rows that
have arrived when a job ends are lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from schema_core.environment.connector import Boundedness
from schema_core.environment.options import ConfigOption, integer, invalid_value
from schema_core.errors import SchemaError
from schema_core.spark.compiler.tree import Column as ColumnNode
from schema_core.spark.compiler.tree import Node
from schema_core.spark.connector import ConnectorBase, metadata_column
from schema_core.spark.session.frames import select
from schema_core.types import MAX_LENGTH, DataType, LocalZonedTimestampType, VarCharType

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from schema_core.spark.connector import ReadContext

MAX_PORT = 65_535


def _port(text: str) -> int:
    number = integer(text)
    if not 1 <= number <= MAX_PORT:
        raise invalid_value(f"an integer from 1 to {MAX_PORT}", text)
    return number


HOSTNAME = ConfigOption("hostname", str, None, "the name or address of the server", required=True)
PORT = ConfigOption("port", _port, None, "the port of the server", required=True)

#: Metadata key: when a line arrived.
ARRIVAL = "timestamp"


class SocketConnector(ConnectorBase):
    """One STRING column with the lines. Read only, streaming only."""

    identifier: ClassVar[str] = "socket"
    requires: ClassVar[tuple[str, ...]] = ("pyspark",)
    options: ClassVar[Sequence[ConfigOption[Any]]] = (HOSTNAME, PORT)
    can_replay: ClassVar[bool] = False
    metadata: Mapping[str, DataType] = {ARRIVAL: LocalZonedTimestampType(3, nullable=False)}

    def boundedness(self, options: Mapping[str, str]) -> Boundedness:
        return Boundedness.CONTINUOUS_UNBOUNDED

    def monitor_interval(self, options: Mapping[str, str]) -> None:
        """Lines are read when they arrive."""

    def read(self, context: ReadContext) -> DataFrame:
        """Refuse a batch job (`unbounded-table`)."""
        raise SchemaError(
            "the rows of the connector 'socket' have no end",
            code="unbounded-table",
            hint="read it in streaming mode",
        )

    def read_stream(self, context: ReadContext) -> DataFrame:
        """Return the lines without line ends.

        `type-not-supported` unless there is one STRING column.
        """
        columns = list(context.physical_columns.items())
        if [type_.nullable() for _, type_ in columns] != [VarCharType(MAX_LENGTH)]:
            declared = ", ".join(f"{name} {type_.as_summary_string()}" for name, type_ in columns)
            raise SchemaError(
                f"the connector 'socket' reads lines into one STRING column, got ({declared})",
                code="type-not-supported",
                hint="declare one column, such as line STRING, and split it in the query",
            )
        source = context.session.readStream.format("socket")
        source = source.option("host", str(HOSTNAME.of(context.options)))
        source = source.option("port", str(PORT.of(context.options)))
        frame = source.option("includeTimestamp", "true").load()
        selected: list[tuple[Node, str]] = [(ColumnNode("value"), columns[0][0])]
        if ARRIVAL in context.metadata:
            selected.append((ColumnNode("timestamp"), metadata_column(ARRIVAL)))
        return select(frame, selected)
