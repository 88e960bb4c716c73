"""The connector `print`: rows as lines on the driver's standard output.

A line is as in Flink: ``identifier:task> +I[1, abc]``, each value as Java's ``toString`` of its
default conversion class (verified against Flink 2.3 SQL). Spark computes the lines; the driver
fetches one partition at a time.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from schema_core.environment.connector import DeliveryGuarantee
from schema_core.environment.options import ConfigOption, boolean, positive
from schema_core.spark.changelog import ROW_KIND
from schema_core.spark.compiler import tree as nodes
from schema_core.spark.compiler.expression import from_physical
from schema_core.spark.compiler.template import inline, sql
from schema_core.spark.compiler.tree import Column as ColumnNode
from schema_core.spark.connector import ConnectorBase, SupportsPartitioning
from schema_core.spark.session.frames import select
from schema_core.types import (
    ArrayType,
    BinaryType,
    DataType,
    DayTimeIntervalType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    RowKind,
    RowType,
    StructuredType,
    TimestampType,
    TimeType,
    VarBinaryType,
    VariantType,
    YearMonthIntervalType,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from schema_core.spark.changelog import Changelog
    from schema_core.spark.connector import WriteContext


IDENTIFIER = ConfigOption("print-identifier", str, None, "the prefix of each line")
STANDARD_ERROR = ConfigOption(
    "standard-error", boolean, False, "whether lines go to standard error instead of output"
)
PARALLELISM = ConfigOption(
    "sink.parallelism",
    positive,
    None,
    "how many tasks write; from 2 on, lines begin with the number of their task",
)

#: The columns of the line, of the task's number, and of a row's key.
LINE, TASK, KEY = "line", "task", "key"
INSERTED = str(RowKind.INSERT)


class PrintConnector(ConnectorBase, SupportsPartitioning):
    """Lines on the driver's standard output. Write only."""

    identifier: ClassVar[str] = "print"
    requires: ClassVar[tuple[str, ...]] = ("pyspark",)
    options: ClassVar[Sequence[ConfigOption[Any]]] = (IDENTIFIER, STANDARD_ERROR, PARALLELISM)

    def delivery_guarantee(self, options: Mapping[str, str]) -> DeliveryGuarantee:
        """Nothing is stored, so a streaming job needs no checkpoint."""
        return DeliveryGuarantee.NONE

    def write(self, frame: DataFrame, context: WriteContext) -> None:
        """Print the rows, in order if there is one task."""
        _print(_lines(frame, context), context)

    def consumes_changes(self, options: Mapping[str, str]) -> bool:
        """Changes are printed with their kinds."""
        return True

    def write_changelog(self, frame: DataFrame, context: WriteContext) -> None:
        """Print changes with their kinds."""
        lines = _lines(frame, context, [ColumnNode(ROW_KIND)])
        changes = ((f"{kind}{line.removeprefix(INSERTED)}", task) for kind, line, task in lines)
        _print(changes, context)

    def write_changes(
        self, frame: DataFrame, context: WriteContext, key: Sequence[str], changelog: Changelog
    ) -> None:
        """Print changes with their kinds: an update as the old row and the new one."""
        columns = context.physical_columns
        keys = [text_of(ColumnNode(name), columns[name]) for name in key]

        def changes() -> Iterator[tuple[str, int]]:
            for *values, line, task in _lines(frame, context, keys):
                for change in changelog.changes([(*values, line)]):
                    yield f"{change.kind}{change[-1].removeprefix(INSERTED)}", task

        _print(changes(), context)


def _lines(
    frame: DataFrame, context: WriteContext, keys: Sequence[nodes.Node] = ()
) -> Iterator[Any]:
    """Yield the key, the line and the task's number of each row."""
    if (tasks := _tasks(context)) > 1:
        frame = frame.repartition(tasks)
    columns = context.physical_columns
    line = _row([(ColumnNode(name), type_) for name, type_ in columns.items()])
    named = [(node, f"{KEY}{place}") for place, node in enumerate(keys)]
    rows = select(frame, [*named, (line, LINE), (nodes.call("spark_partition_id"), TASK)])
    count = 0
    for row in rows.toLocalIterator():
        yield row
        count += 1
    context.report_rows(count)


def _tasks(context: WriteContext) -> int:
    return PARALLELISM.of(context.options) or 1


def _print(lines: Iterable[tuple[str, int]], context: WriteContext) -> None:
    """Print lines after the identifier, the PARTITION clause's values, and the task's number."""
    identifier = IDENTIFIER.of(context.options)
    partition = context.partition or {}
    for key in context.table.partition_keys:
        if key in partition:
            identifier = "" if identifier is None else f"{identifier}:"
            identifier += f"{key}={partition[key]}"
    has_numbers = _tasks(context) > 1
    stream = sys.stderr if STANDARD_ERROR.of(context.options) else sys.stdout
    for line, task in lines:
        number = str(task + 1) if has_numbers else ""
        start = ":".join(text for text in (identifier, number) if text)
        stream.write(f"{start}> {line}\n" if start else f"{line}\n")
    stream.flush()


# --- values --------------------------------------------------------------------------------


def text_of(node: nodes.Node, type_: DataType) -> nodes.Node:
    """Return a value as Java's ``toString`` in Flink's rows; NULL remains NULL."""
    printer = _PRINTERS.get(type(type_))
    return nodes.Cast(node, "STRING") if printer is None else printer(node, type_)


def _or_null(node: nodes.Node, type_: DataType) -> nodes.Node:
    return nodes.call("coalesce", text_of(node, type_), "null")


def _row(parts: Sequence[tuple[nodes.Node, DataType]]) -> nodes.Node:
    return inline(
        "concat('+I[', {fields}, ']')",
        fields=nodes.call("concat_ws", ", ", *(_or_null(*part) for part in parts)),
    )


def _struct(node: nodes.Node, type_: Any) -> nodes.Node:
    parts = [(nodes.Field(node, field.name), field.data_type) for field in type_.fields]
    return inline("if({v} IS NULL, NULL, {row})", v=node, row=_row(parts))


def _join_elements(
    elements: nodes.Node, body: Callable[[nodes.Node], nodes.Node], marks: str
) -> nodes.Node:
    one = nodes.Variable()
    texts = nodes.call("transform", elements, nodes.Lambda((one,), body(one)))
    return nodes.call("concat", marks[0], nodes.call("array_join", texts, ", "), marks[1])


def _entries(node: nodes.Node, key_type: DataType, value_type: DataType | None) -> nodes.Node:
    def entry(one: nodes.Node) -> nodes.Node:
        value = nodes.Field(one, "value")
        shown = nodes.Cast(value, "STRING") if value_type is None else _or_null(value, value_type)
        return nodes.call("concat", _or_null(nodes.Field(one, "key"), key_type), "=", shown)

    return _join_elements(nodes.call("map_entries", node), entry, "{}")


def _bytes(node: nodes.Node, _: DataType) -> nodes.Node:
    def byte(position: nodes.Node) -> nodes.Node:
        hexadecimal = nodes.call("hex", nodes.call("substring", node, position, 1))
        unsigned = nodes.Cast(nodes.call("conv", hexadecimal, 16, 10), "INT")
        return nodes.Cast(nodes.Cast(unsigned, "TINYINT"), "STRING")

    positions = inline("sequence(1, length({v}))", v=node)
    return inline(
        "if(length({v}) = 0, '[]', {joined})", v=node, joined=_join_elements(positions, byte, "[]")
    )


#: Java prints decimals of seconds in groups of three, and omits seconds of zero.
_SECONDS = (
    "if(contains({t}, '.'), concat(substring_index({t}, '.', 1), '.',"
    " rpad(substring_index({t}, '.', -1),"
    " if(length(substring_index({t}, '.', -1)) <= 3, 3, 6), '0')), {t})"
)


def _time(text: nodes.Node) -> nodes.Node:
    grouped = sql(_SECONDS, t=text)
    return sql("if(endswith({t}, ':00') AND length({t}) = 8, left({t}, 5), {t})", t=grouped)


def _date_and(text: nodes.Node, time: Callable[[nodes.Node], nodes.Node]) -> nodes.Node:
    date = nodes.call("substring_index", text, " ", 1)
    return nodes.call("concat", date, "T", time(nodes.call("substring_index", text, " ", -1)))


def _instant(node: nodes.Node, _: DataType) -> nodes.Node:
    text = nodes.Cast(nodes.Cast(node, "TIMESTAMP_NTZ"), "STRING")
    return nodes.call("concat", _date_and(text, lambda time: sql(_SECONDS, t=time)), "Z")


def _period(node: nodes.Node, type_: DataType) -> nodes.Node:
    return sql(
        "if({m} = 0, 'P0D', concat('P', if({m} DIV 12 = 0, '', concat({m} DIV 12, 'Y')),"
        " if({m} % 12 = 0, '', concat({m} % 12, 'M'))))",
        m=from_physical(node, type_),
    )


def _duration(node: nodes.Node, type_: DataType) -> nodes.Node:
    seconds = (
        "concat(if({ms} < 0, '-', ''), abs({ms} % 60000) DIV 1000,"
        " rtrim('.', rtrim('0', concat('.', lpad(abs({ms} % 1000), 3, '0')))), 'S')"
    )
    return sql(
        "if({ms} = 0, 'PT0S', concat('PT', if({ms} DIV 3600000 = 0, '',"
        " concat({ms} DIV 3600000, 'H')), if({ms} DIV 60000 % 60 = 0, '',"
        " concat({ms} DIV 60000 % 60, 'M')), if({ms} % 60000 = 0, '', " + seconds + ")))",
        ms=from_physical(node, type_),
    )


#: Type -> what prints its values; others are printed as Spark casts them.
_PRINTERS: dict[type[DataType], Callable[[nodes.Node, Any], nodes.Node]] = {
    BinaryType: _bytes,
    VarBinaryType: _bytes,
    TimeType: lambda node, _: _time(nodes.Cast(node, "STRING")),
    TimestampType: lambda node, _: _date_and(nodes.Cast(node, "STRING"), _time),
    LocalZonedTimestampType: _instant,
    YearMonthIntervalType: _period,
    DayTimeIntervalType: _duration,
    ArrayType: lambda node, type_: _join_elements(
        node, lambda element: _or_null(element, type_.element_type), "[]"
    ),
    MapType: lambda node, type_: _entries(node, type_.key_type, type_.value_type),
    MultisetType: lambda node, type_: _entries(node, type_.element_type, None),
    RowType: _struct,
    StructuredType: _struct,
    VariantType: lambda node, _: nodes.call("to_json", node),
}
