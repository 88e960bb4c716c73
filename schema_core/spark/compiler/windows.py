"""Windows of time: TUMBLE, HOP and CUMULATE, of table functions and of GROUP BY.

A time is assigned to windows by the clock of the session's time zone. The windows are an array of
structs of the milliseconds at which each starts and ends; a time that is NULL is in none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from schema_core.spark.compiler.functions import datetimes
from schema_core.spark.compiler.template import inline, sql
from schema_core.spark.compiler.tree import (
    Field,
    Node,
    call,
    function,
    is_null,
    let,
    null_or,
    unsupported,
)
from schema_core.types import DataType, LocalZonedTimestampType, TimestampType

#: The fields of a window, and what can be asked of it.
START, END = "a", "b"
BOUNDS = ("START", "END", "ROWTIME")


def windows_of(name: str, time: Node, type_: DataType, sizes: Sequence[Node], zone: str) -> Node:
    """Return the array of the windows that contain a time; `sizes` are milliseconds.

    Raises:
        UnsupportedError: with code `not-executable` for windows that Spark does not compute.
    """
    windows = WINDOWS.get(name)
    if windows is None:
        raise unsupported(f"{name} windows are not run on Spark")
    millis = datetimes.millis(datetimes.clock(time, type_, zone))
    return let(millis, lambda time: windows(time, sizes))


def bound_of(part: str, window: Node, type_: DataType, zone: str) -> Node:
    """Return the START or END of a window, or its ROWTIME: the last millisecond, of a type."""
    start, end = (
        datetimes.of_millis(Field(window, name), TimestampType(3)) for name in (START, END)
    )
    if part != "ROWTIME":
        return start if part == "START" else end
    last = datetimes.of_millis(inline("{b} - 1", b=Field(window, END)), TimestampType(3))
    is_instant = isinstance(type_, LocalZonedTimestampType)
    return datetimes.instant(last, zone) if is_instant else last


def _window(start: Node, stop: Node) -> Node:
    return call("named_struct", START, start, END, stop)


def _start(time: Node, offset: Sequence[Node], size: Node) -> Node:
    """Return the last start of a window at or before a time."""
    if not offset:
        return inline("{t} - pmod({t}, {size})", t=time, size=size)
    return inline("{t} - pmod({t} - {offset}, {size})", t=time, offset=offset[0], size=size)


def _tumble(time: Node, sizes: Sequence[Node]) -> Node:
    """Windows of one size, one after the other."""
    size, *offset = sizes
    start = _start(time, offset, size)
    window = _window(start, inline("{start} + {size}", start=start, size=size))
    return null_or(is_null(time), call("array", window))


def _hop(time: Node, sizes: Sequence[Node]) -> Node:
    """Windows of one size that start a slide after each other."""
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
    window = function(lambda start: _window(start, inline("{s} + {n}", s=start, n=size)))
    return call("transform", starts, window)


def _cumulate(time: Node, sizes: Sequence[Node]) -> Node:
    """Windows of one start that end a step after each other, up to the size."""
    step, size, *offset = sizes
    start = _start(time, offset, size)
    stops = inline(
        "filter(sequence({start} + {step}, {start} + {size}, {step}), stop -> stop > {t})",
        start=start,
        step=step,
        size=size,
        t=time,
    )
    return call("transform", stops, function(lambda stop: _window(start, stop)))


#: Function -> the windows of a time, as an array of pairs of milliseconds.
WINDOWS: dict[str, Callable[[Node, Sequence[Node]], Node]] = {
    "TUMBLE": _tumble,
    "HOP": _hop,
    "CUMULATE": _cumulate,
}
