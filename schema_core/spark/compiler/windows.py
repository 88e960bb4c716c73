"""Windows of time: TUMBLE, HOP, CUMULATE and SESSION, of table functions and of GROUP BY.

The clock of the session's time zone assigns a time to windows; NULL is in none. A window is a
struct of its local start and end, as in Spark. Spark's ``window`` repeats a row itself; other
windows are an array, to be exploded. Sessions depend on other rows: each is one struct, of a window
function or of Spark's ``session_window``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NoReturn

from schema_core import types
from schema_core.errors import SchemaError
from schema_core.expressions.intervals import interval
from schema_core.expressions.typed import Constant
from schema_core.spark.compiler import tree as nodes
from schema_core.spark.compiler.functions import datetimes
from schema_core.spark.compiler.template import inline, sql
from schema_core.sql.syntax import Interval

if TYPE_CHECKING:
    from schema_core.expressions.typed import Typed

#: Fields and bounds of a window.
START, END = "start", "end"
BOUNDS = ("START", "END", "ROWTIME")


#: Function -> its first lengths, which an offset may follow.
LENGTHS: dict[str, tuple[str, ...]] = {
    "TUMBLE": ("size",),
    "HOP": ("slide", "size"),
    "CUMULATE": ("step", "size"),
    "SESSION": ("gap",),
}


def lengths_of(name: str, sizes: Sequence[Typed]) -> list[int]:
    """Return the lengths of windows, and their offset if given, in milliseconds.

    Raises:
        UnsupportedError: `not-executable` for months and for computed lengths.
        SchemaError: `invalid-function-call` for lengths that Flink refuses.
    """
    numbers = []
    for item in sizes:
        if not isinstance(item, Constant) or not isinstance(item.literal, Interval):
            raise nodes.unsupported_error(
                f"{name} with an alignment or a computed length is not supported on Spark"
            )
        if isinstance(item.type, types.YearMonthIntervalType):
            raise nodes.unsupported_error(f"{name} of months is not supported on Spark")
        numbers.append(interval(item.literal, item.type))
    for word, number in zip(LENGTHS[name], numbers, strict=False):
        if number <= 0:
            _refuse(f"the {word} of {name} must be positive, got {number} ms", sizes)
    if name == "CUMULATE" and numbers[1] % numbers[0]:
        step, size = numbers[:2]
        problem = f"the size of CUMULATE must be a multiple of the step: {size} ms and {step} ms"
        _refuse(problem, sizes)
    return numbers


def _refuse(problem: str, sizes: Sequence[Typed]) -> NoReturn:
    raise SchemaError(problem, code="invalid-function-call", span=sizes[0].span)


def windows_of(
    name: str, time: nodes.Node, type_: types.DataType, sizes: Sequence[int], zone: str
) -> nodes.Node:
    """Return the array of the windows that contain a time; `sizes` are milliseconds."""
    lengths = [nodes.Literal(str(size), "L") for size in sizes]
    return nodes.let(
        datetimes.clock_millis(time, type_, zone), lambda time: WINDOWS[name](time, lengths)
    )


def spark_window(
    name: str, time: nodes.Node, type_: types.DataType, sizes: Sequence[int], zone: str
) -> nodes.Node | None:
    """Return the windows of a function as Spark's ``window``, or None if Spark lacks them.

    Spark computes these without time zone conversion. It has no windows with gaps between them, and
    one ``window`` per SELECT.
    """
    slide, size, *offset = sizes if name == "HOP" else (sizes[0], *sizes)
    if name == "CUMULATE" or slide > size:
        return None
    start = offset[0] % slide if offset else 0
    lengths = (f"{argument} milliseconds" for argument in (size, slide, start))
    return nodes.call("window", datetimes.clock(time, type_, zone), *lengths)


def session_key(time: nodes.Node, gap: int) -> nodes.Node:
    """Return the key of GROUP BY for sessions, from milliseconds; sessions that touch are one."""
    datetime = datetimes.of_millis(time, types.TimestampType(3))
    length = inline("make_interval(0, 0, 0, 0, 0, 0, {gap} / 1000BD)", gap=gap)
    return nodes.call("session_window", datetime, length)


def bound_of(part: str, window: nodes.Node, type_: types.DataType, zone: str) -> nodes.Node:
    """Return the START or END of a window, or its ROWTIME: its last millisecond."""
    if part != "ROWTIME":
        return nodes.Field(window, START if part == "START" else END)
    end = datetimes.millis(nodes.Field(window, END))
    last = datetimes.of_millis(inline("{end} - 1", end=end), types.TimestampType(3))
    is_instant = isinstance(type_, types.LocalZonedTimestampType)
    return datetimes.instant(last, zone) if is_instant else last


def _window(start: nodes.Node, stop: nodes.Node) -> nodes.Node:
    first, end = (datetimes.of_millis(bound, types.TimestampType(3)) for bound in (start, stop))
    return nodes.call("named_struct", START, first, END, end)


def _start(time: nodes.Node, offset: Sequence[nodes.Node], size: nodes.Node) -> nodes.Node:
    """Return the last start of a window at or before a time."""
    if not offset:
        return inline("{t} - pmod({t}, {size})", t=time, size=size)
    return inline("{t} - pmod({t} - {offset}, {size})", t=time, offset=offset[0], size=size)


def _tumble(time: nodes.Node, sizes: Sequence[nodes.Node]) -> nodes.Node:
    size, *offset = sizes
    start = _start(time, offset, size)
    window = _window(start, inline("{start} + {size}", start=start, size=size))
    return nodes.null_or(nodes.is_null(time), nodes.call("array", window))


def _hop(time: nodes.Node, sizes: Sequence[nodes.Node]) -> nodes.Node:
    slide, size, *offset = sizes
    starts = sql(
        "filter(transform(sequence(0L, {size} DIV {slide}), n -> {last} - n * {step}),"
        " start -> start > {t} - {length})",
        size=size,
        slide=slide,
        last=_start(time, offset, slide),
        step=slide,
        t=time,
        length=size,
    )
    window = nodes.function(lambda start: _window(start, inline("{s} + {n}", s=start, n=size)))
    return nodes.call("transform", starts, window)


def _cumulate(time: nodes.Node, sizes: Sequence[nodes.Node]) -> nodes.Node:
    step, size, *offset = sizes
    start = _start(time, offset, size)
    stops = inline(
        "filter(sequence({start} + {step}, {start} + {size}, {step}), stop -> stop > {t})",
        start=start,
        step=step,
        size=size,
        t=time,
    )
    return nodes.call("transform", stops, nodes.function(lambda stop: _window(start, stop)))


#: Function -> the array of the windows of a time in milliseconds.
WINDOWS: dict[str, Callable[[nodes.Node, Sequence[nodes.Node]], nodes.Node]] = {
    "TUMBLE": _tumble,
    "HOP": _hop,
    "CUMULATE": _cumulate,
}
