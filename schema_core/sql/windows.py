"""What follows the call of an aggregate: WITHIN GROUP, FILTER, OVER; and the parts of a window."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from schema_core.sql import expression as grammar
from schema_core.sql.syntax import Call, Frame, SortKey, Symbol, Window
from schema_core.sql.tokens import can_name, identifier, refuse

if TYPE_CHECKING:
    from schema_core.sql.syntax import Expression
    from schema_core.text import Cursor

#: Words that may follow a call and belong to it.
SUFFIXES = frozenset({"IGNORE", "RESPECT", "WITHIN", "FILTER", "OVER"})


def dressed(cursor: Cursor, call: Call) -> Call:
    """The call with all that is said behind it, in this order."""
    start = call.span.start
    for word in ("IGNORE", "RESPECT"):
        if cursor.accept(word, "NULLS"):
            call = replace(call, nulls=f"{word} NULLS")
    if cursor.accept("WITHIN", "GROUP"):
        call = replace(call, within=_order(cursor))
    if cursor.accept("FILTER"):
        cursor.expect("(")
        cursor.expect("WHERE")
        call = replace(call, filter=grammar.inner(cursor))
        cursor.expect(")")
    if cursor.accept("OVER"):
        call = replace(call, over=window(cursor))
    return replace(call, span=cursor.span_from(start))


def _order(cursor: Cursor) -> tuple[SortKey, ...]:
    cursor.expect("(")
    cursor.expect("ORDER", "BY")
    keys = sort_keys(cursor)
    cursor.expect(")")
    return keys


def sort_keys(cursor: Cursor) -> tuple[SortKey, ...]:
    """What stands behind ORDER BY."""
    found = [_sort_key(cursor)]
    while cursor.accept(","):
        found.append(_sort_key(cursor))
    return tuple(found)


def _sort_key(cursor: Cursor) -> SortKey:
    """``a DESC NULLS LAST``."""
    start = cursor.token.start
    value = grammar.inner(cursor)
    descending = cursor.accept("DESC")
    if not descending:
        cursor.accept("ASC")
    nulls_last = None
    if cursor.accept("NULLS", "FIRST"):
        nulls_last = False
    elif cursor.accept("NULLS", "LAST"):
        nulls_last = True
    return SortKey(value, descending, nulls_last, cursor.span_from(start))


def window(cursor: Cursor) -> Window:
    """The name of a window, or one in parentheses: behind OVER, or in a WINDOW clause."""
    start = cursor.token.start
    if cursor.key != "(":
        name = identifier(cursor)
        return Window(name, is_reference=True, span=cursor.span_from(start))
    cursor.index += 1
    base = identifier(cursor) if can_name(cursor.token) else None
    partition: tuple[Expression, ...] = ()
    if cursor.accept("PARTITION", "BY"):
        partition = _expressions(cursor)
    order = sort_keys(cursor) if cursor.accept("ORDER", "BY") else ()
    frame = _frame(cursor) if cursor.key in ("ROWS", "RANGE") else None
    if frame is not None and frame.unit == "ROWS" and cursor.accept("DISALLOW", "PARTIAL"):
        frame = replace(frame, whole=True)
    cursor.accept("ALLOW", "PARTIAL")
    cursor.expect(")")
    return Window(base, partition, order, frame, span=cursor.span_from(start))


def _expressions(cursor: Cursor) -> tuple[Expression, ...]:
    found = [grammar.inner(cursor)]
    while cursor.accept(","):
        found.append(grammar.inner(cursor))
    return tuple(found)


def _frame(cursor: Cursor) -> Frame:
    """``ROWS BETWEEN 1 PRECEDING AND CURRENT ROW``, or only its lower bound."""
    unit = cursor.advance().key
    if not cursor.accept("BETWEEN"):
        return Frame(unit, _bound(cursor))
    lower = _bound(cursor)
    cursor.expect("AND")
    return Frame(unit, lower, _bound(cursor))


def _bound(cursor: Cursor) -> Call | Symbol:
    """``CURRENT ROW``, ``UNBOUNDED PRECEDING`` or an offset ``2 FOLLOWING``."""
    start = cursor.token.start
    if cursor.accept("CURRENT", "ROW"):
        return Symbol("CURRENT ROW", cursor.span_from(start))
    for side in ("PRECEDING", "FOLLOWING"):
        if cursor.accept("UNBOUNDED", side):
            return Symbol(f"UNBOUNDED {side}", cursor.span_from(start))
    offset = grammar.inner(cursor)
    if cursor.key not in ("PRECEDING", "FOLLOWING"):
        raise refuse(cursor, "PRECEDING or FOLLOWING")
    side = cursor.advance().key
    return Call(side, (offset,), span=cursor.span_from(start))
