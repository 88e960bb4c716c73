"""The connector `datagen`: random values and sequences, generated on the executors.

Options, types and errors are verified against Flink 2.3 SQL (``DataGenTableSourceFactory``,
``RandomGeneratorVisitor``, ``SequenceGeneratorVisitor``). A random value is a hash of its row
number, so rows do not depend on how Spark splits them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from schema_core.connectors.datagen_options import (
    FIELD_OPTIONS,
    NUMBER_OF_ROWS,
    PARALLELISM,
    ROWS_PER_SECOND,
    SEED,
    field_option,
)
from schema_core.environment.connector import Boundedness
from schema_core.environment.options import ConfigOption
from schema_core.spark.connector import ConnectorBase

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from schema_core.spark.connector import ReadContext


class DatagenConnector(ConnectorBase):
    """Random rows and sequences. Read only."""

    identifier: ClassVar[str] = "datagen"
    requires: ClassVar[tuple[str, ...]] = ("pyspark",)
    options: ClassVar[Sequence[ConfigOption[Any]]] = (
        ROWS_PER_SECOND,
        NUMBER_OF_ROWS,
        PARALLELISM,
        SEED,
        *(field_option("#", suffix) for suffix in FIELD_OPTIONS),
    )

    def declared(self, options: Mapping[str, str]) -> Sequence[ConfigOption[Any]]:
        """Return the options of the connector and of the columns that `options` name.

        A column's options depend on its type: they are checked when the table is read.
        """
        parts = [key.rpartition(".") for key in options if key.startswith("fields.")]
        named = (
            field_option(name.removeprefix("fields."), suffix)
            for name, _, suffix in parts
            if suffix in FIELD_OPTIONS and "." in name
        )
        return (*self.options, *named)

    def read(self, context: ReadContext) -> DataFrame:
        """Return the generated rows.

        Codes: `unknown-option` (not for the column's type), `missing-option` (a sequence without
        start or end), `invalid-option-value`, `unbounded-table` (neither number of rows nor
        sequence), `type-not-supported`.
        """
        from schema_core.connectors.datagen_rows import make_generators
        from schema_core.spark.session.frames import select

        rows, columns = make_generators(context)
        tasks = PARALLELISM.of(context.options)
        return select(context.session.range(0, rows.count(), 1, tasks), columns)

    def boundedness(self, options: Mapping[str, str]) -> Boundedness:
        """A table without number of rows and without sequences is unbounded."""
        ends = NUMBER_OF_ROWS.key in options or any(
            key.endswith(".kind") and value.lower() == "sequence" for key, value in options.items()
        )
        return Boundedness.BOUNDED if ends else Boundedness.CONTINUOUS_UNBOUNDED

    def monitor_interval(self, options: Mapping[str, str]) -> None:
        """Rows are generated every second."""

    def read_stream(self, context: ReadContext) -> DataFrame:
        """Return ``rows-per-second`` rows each second, without end; errors as `read`.

        A restarted job continues the row numbers.
        """
        from schema_core.connectors.datagen_rows import make_generators
        from schema_core.spark.session.frames import select

        _, columns = make_generators(context)
        source = context.session.readStream.format("rate")
        source = source.option("rowsPerSecond", ROWS_PER_SECOND.of(context.options) or 1)
        if (tasks := PARALLELISM.of(context.options)) is not None:
            source = source.option("numPartitions", tasks)
        return select(source.load().selectExpr("value AS id"), columns)
