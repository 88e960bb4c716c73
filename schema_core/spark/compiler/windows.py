"""Windows of time: TUMBLE, HOP, CUMULATE and SESSION, of table functions and of GROUP BY.

A time is assigned to windows by the clock of the session's time zone. The windows are an array of
structs of the milliseconds at which each starts and ends; a time that is NULL is in none. A session
depends on the times of other rows: it is one struct, of a window function or of Spark's
``session_window``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NoReturn

from schema_core.errors import SchemaError
from schema_core.expressions.typed import Constant
from schema_core.spark.compiler.functions import datetimes
from schema_core.spark.compiler.functions.literals import interval
from schema_core.spark.compiler.template import inline, sql
from schema_core.spark.compiler.tree import (
    Field,
    Literal,
    Node,
    call,
    function,
    is_null,
    let,
    null_or,
    unsupported,
)
from schema_core.sql.syntax import Interval
from schema_core.types import (
    DataType,
    LocalZonedTimestampType,
    TimestampType,
    YearMonthIntervalType,
)

if TYPE_CHECKING:
    from schema_core.expressions.typed import Typed

#: The fields of a window, and what can be asked of it.
START, END = "a", "b"
BOUNDS = ("START", "END", "ROWTIME")


#: Function -> what its first lengths are called; an offset may follow them.
LENGTHS = {
    "TUMBLE": ("size",),
    "HOP": ("slide", "size"),
    "CUMULATE": ("step", "size"),
    "SESSION": ("gap",),
}


def lengths_of(name: str, sizes: Sequence[Typed]) -> list[Node]:
    """Return the lengths of windows, and their offset if there is one, in milliseconds.

    Raises:
        UnsupportedError: with code `not-executable` for lengths in months, and for those that are
            computed.
        SchemaError: with code `invalid-window-size` for lengths that Flink refuses.
    """
    numbers = []
    for one in sizes:
        if not isinstance(one, Constant) or not isinstance(one.literal, Interval):
            raise unsupported(f"{name} with an alignment or a computed length is not run on Spark")
        if isinstance(one.type, YearMonthIntervalType):
            raise unsupported(f"{name} of months is not run on Spark")
        numbers.append(interval(one.literal, one.type))
    for word, number in zip(LENGTHS[name], numbers, strict=False):
        if number <= 0:
            _refuse(f"the {word} of {name} must be positive, got {number} ms", sizes)
    if name == "CUMULATE" and numbers[1] % numbers[0]:
        step, size = numbers[:2]
        problem = f"the size of CUMULATE must be a multiple of the step: {size} ms and {step} ms"
        _refuse(problem, sizes)
    return [Literal(str(number), "L") for number in numbers]


def _refuse(problem: str, sizes: Sequence[Typed]) -> NoReturn:
    raise SchemaError(problem, code="invalid-window-size", span=sizes[0].span)


def windows_of(name: str, time: Node, type_: DataType, sizes: Sequence[Node], zone: str) -> Node:
    """Return the array of the windows that contain a time; `sizes` are milliseconds."""
    return let(millis_of(time, type_, zone), lambda time: WINDOWS[name](time, sizes))


def millis_of(time: Node, type_: DataType, zone: str) -> Node:
    """Return the milliseconds of a time, by the clock of a time zone."""
    return datetimes.millis(datetimes.clock(time, type_, zone))


def session_key(time: Node, gap: Node) -> Node:
    """Return the key of GROUP BY for sessions; `time` and `gap` are milliseconds.

    Sessions that touch are one, as in Flink.
    """
    datetime = datetimes.of_millis(time, TimestampType(3))
    length = inline("make_interval(0, 0, 0, 0, 0, 0, {gap} / 1000BD)", gap=gap)
    return call("session_window", datetime, length)


def session_of(key: Node) -> Node:
    """Return the window of a key of GROUP BY for sessions."""
    return _window(*(datetimes.millis(Field(key, name)) for name in ("start", "end")))


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
