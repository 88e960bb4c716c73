"""Watermarks of unbounded tables as those of Spark, and columns that Spark compares with them.

Spark's watermark is a column's maximum less a delay: here the table's watermark expression, with
delay zero, so any expression has Flink's meaning. It is a local time, like the ends of windows;
where rowtimes are joined, it is compared with them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from schema_core.environment.table_api.inline import InlineTable
from schema_core.errors import UnsupportedError, at
from schema_core.expressions.typed import FunctionCall, Ref, walk
from schema_core.schema.resolved import ResolvedSchema, WatermarkSpec
from schema_core.spark.changelog import ROW_KIND, adds_row
from schema_core.spark.compiler import tree as nodes
from schema_core.spark.compiler.expression import (
    TranslationContext,
    compile_expression,
    from_physical,
)
from schema_core.spark.compiler.functions import datetimes
from schema_core.spark.compiler.template import inline
from schema_core.spark.compiler.translation import PREFIX, sql_type
from schema_core.spark.compiler.tree import quote
from schema_core.spark.reading.inputs import DELAY
from schema_core.spark.session.api_mode import with_metadata
from schema_core.spark.session.frames import select
from schema_core.spark.streaming.interval_joins import TIME
from schema_core.types import DataType, LocalZonedTimestampType, TimestampType

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from schema_core.environment.planner import BoundTable

#: The column of the watermark, which is dropped at once.
WATERMARK: Final = f"{PREFIX}watermark"
#: Metadata of columns that Spark compares with the watermark.
EVENT_TIME: Final = {DELAY: 0}
#: Milliseconds before clocks are put back in which local time already counts as the later one.
OVERLAP: Final = 3 * 3_600_000
#: The function for watermarks that the source determines.
OF_SOURCE: Final = "SOURCE_WATERMARK"


def watermark_of(bound: BoundTable) -> WatermarkSpec:
    """Return the watermark of an unbounded table that a query with windows reads.

    It must be computable from the table's rows (`streaming-not-supported`).
    """
    table = bound.identifier.as_summary_string()
    spec = next(iter(bound.table.resolved_schema.watermark_specs), None)
    if spec is None:
        raise UnsupportedError(
            f"the windows of the unbounded table {table} never end: it has no watermark",
            code="streaming-not-supported",
            hint="add WATERMARK FOR ts AS ts - INTERVAL '5' SECOND to the table",
        )
    calls = (
        node for node in walk(spec.watermark_expression.typed) if isinstance(node, FunctionCall)
    )
    if any(item.function.name == OF_SOURCE for item in calls):
        if isinstance(bound.table, InlineTable) and bound.table.rows.source_watermark is not None:
            return bound.table.rows.source_watermark
        raise UnsupportedError(
            f"{OF_SOURCE}() of the unbounded table {table} is not computed on Spark",
            code="streaming-not-supported",
            hint="declare a watermark over columns, such as ts - INTERVAL '5' SECOND",
        )
    return spec


def columns_of_watermark(spec: WatermarkSpec) -> frozenset[str]:
    """Return the columns that a watermark reads."""
    typed = spec.watermark_expression.typed
    return frozenset({
        spec.rowtime_attribute, *(node.name for node in walk(typed) if isinstance(node, Ref))
    })  # fmt: skip


def with_watermark(
    frame: DataFrame, schema: ResolvedSchema, spec: WatermarkSpec, zone: str, clock: str
) -> DataFrame:
    """Return a streaming frame of all columns of a table whose rows advance Spark's watermark."""
    names = frame.columns
    frame = with_watermark_column(frame, schema, spec, zone, clock)
    return frame.withWatermark(WATERMARK, "0 seconds").select(*map(quote, names))


def with_watermark_column(
    frame: DataFrame, schema: ResolvedSchema, spec: WatermarkSpec, zone: str, clock: str
) -> DataFrame:
    """Return a frame of all columns of a table, and last `WATERMARK`, that of each row by itself.

    The watermark is a time by the `clock` of a zone. Flink's windows end when the watermark reaches
    their last millisecond, Spark's at their end: here the watermark is a millisecond later. A
    rowtime that is NULL, or before 1970, where Spark's watermark starts, fails the job. A change
    that removes a row has no watermark.
    """
    context = TranslationContext(
        zone, lambda ref: from_physical(nodes.Column(ref.name), ref.type), database=None
    )
    expression = spec.watermark_expression
    with at(f"watermark for {spec.rowtime_attribute!r}"):
        given = compile_expression(expression.typed, context)
    name = spec.rowtime_attribute
    rowtime = next(column.data_type for column in schema.columns if column.name == name)
    start = nodes.Literal("1970-01-01 00:00:00", sql_type(rowtime))
    is_early = nodes.operator("<", nodes.Column(name), start)
    if isinstance(rowtime, LocalZonedTimestampType):
        millis = datetimes.clock_millis(nodes.Column(name), rowtime, clock)
        is_early = nodes.operator("<", millis, nodes.Literal(0))
    missing = nodes.fail(f"the rowtime {name!r} is NULL")
    node = inline(
        "timestamp_millis(CASE WHEN isnull({column}) THEN {missing} WHEN {is_early} THEN {early}"
        " ELSE coalesce({w}, 0L) + 1 END)",
        column=nodes.Column(name),
        missing=missing,
        is_early=is_early,
        early=nodes.fail(f"the rowtime {name!r} is before 1970, where watermarks start"),
        w=_watermark(given, expression.type, clock),
    )
    names = frame.columns
    columns: dict[str, nodes.Node] = {name: nodes.Column(name) for name in names}
    # A filter on the rowtime, computed first in Spark, must not hide the error. An error is
    # nullable to Spark; the last operand, never reached, makes the column NOT NULL.
    columns[name] = nodes.call("coalesce", columns[name], missing, start)
    if ROW_KIND in names:
        adds = adds_row(nodes.Column(ROW_KIND))
        node = inline("if({adds}, {time}, NULL)", adds=adds, time=node)
        parts = {"adds": adds, "checked": columns[name], "value": nodes.Column(name)}
        columns[name] = inline("if({adds}, {checked}, {value})", **parts)
    return select(frame, [*((node, column) for column, node in columns.items()), (node, WATERMARK)])


def _watermark(node: nodes.Node, type_: DataType, zone: str) -> nodes.Node:
    """Return a watermark by the zone's clock, never later than the clock will ever be again.

    Before clocks are put back by up to `OVERLAP`, that is the clock as it will be.
    """
    now = datetimes.clock_millis(node, type_, zone)
    if zone == "UTC" or not isinstance(type_, LocalZonedTimestampType):
        return now
    count = inline("{t} + {ms}", t=datetimes.millis(node), ms=OVERLAP)
    later = datetimes.of_millis(count, type_)
    shown = datetimes.clock_millis(later, type_, zone)
    return inline("least({now}, {later} - {ms})", now=now, later=shown, ms=OVERLAP)


def earlier_clock(local: int, delay: int, zone: str) -> nodes.Node:
    """Return what a zone's clock has shown some time before a local time, in milliseconds.

    It is not later than the clock of any time since then.
    """
    if zone == "UTC" or not delay:
        return nodes.Literal(f"{local - delay}", "L")
    instant = LocalZonedTimestampType(3)
    datetime = datetimes.of_millis(nodes.Literal(f"{local}", "L"), TimestampType(3))
    time = datetimes.millis(datetimes.instant(datetime, zone))
    before = datetimes.of_millis(inline("{t} - {delay}", t=time, delay=delay), instant)
    shown = datetimes.clock_millis(before, instant, zone)
    return inline("least({shown}, {local} - {delay})", shown=shown, local=local, delay=delay)


def last_instant(local: nodes.Node, zone: str) -> nodes.Node:
    """Return when a zone's clock has a local time for the last time, both in milliseconds.

    A clock that is put back has some times twice.
    """
    if zone == "UTC":
        return local
    instant = LocalZonedTimestampType(3)

    def clock(millis: nodes.Node) -> nodes.Node:
        return datetimes.clock_millis(datetimes.of_millis(millis, instant), instant, zone)

    def later(first: nodes.Node) -> nodes.Node:
        """Return the time by the offset of the zone after the clock is put back, if it has it."""
        hence = inline("{t} + {ms}", t=first, ms=OVERLAP)
        second = inline("{w} - ({clock} - {hence})", w=local, clock=clock(hence), hence=hence)
        return nodes.let(
            second,
            lambda time: inline(
                "if({clock} = {w}, greatest({first}, {time}), {first})",
                clock=clock(time),
                w=local,
                first=first,
                time=time,
            ),
        )

    datetime = datetimes.of_millis(local, TimestampType(3))
    return nodes.let(datetimes.millis(datetimes.instant(datetime, zone)), later)


def with_event_time(frame: DataFrame, name: str) -> DataFrame:
    """Return a frame with only one column that is compared with the watermark."""
    return with_metadata(
        frame, {column: EVENT_TIME if column == name else {} for column in frame.columns}
    )


def with_join_time(frame: DataFrame, time: int, type_: DataType) -> DataFrame:
    """Return a side of an interval join with `TIME`; `time` is its rowtime's position.

    `TIME` is two milliseconds later, as the watermark is one: a row at the watermark is not late,
    for rows of equal times may arrive in several micro-batches.
    """
    names = frame.columns
    millis = datetimes.clock_millis(from_physical(nodes.Column(names[time]), type_), type_, "UTC")
    added = (inline("timestamp_millis({t} + 2)", t=millis), TIME)
    return with_event_time(
        select(frame, [*((nodes.Column(name), name) for name in names), added]), TIME
    )
