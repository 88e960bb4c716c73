"""Typed trees back to SQL: what Flink keeps of an expression in a catalog.

Names are quoted, casts that SQL put in are there, other ways to write something are written the
one way. The text means the same everywhere, and is typed the same when it is read again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from schema_core.errors import UnsupportedError
from schema_core.expressions.typed import (
    Access,
    Apply,
    Bound,
    Constant,
    Frame,
    Over,
    Ref,
    Select,
    SortedBy,
    Target,
    Word,
)
from schema_core.sql import syntax
from schema_core.sql.printer import print_expression
from schema_core.sql.spelling import close_up

if TYPE_CHECKING:
    from schema_core.expressions.typed import Typed


def to_sql(typed: Typed) -> str:
    """The expression as Flink prints it.

    Raises:
        UnsupportedError: for what Flink has no SQL for.

    >>> from schema_core.expressions.infer import ColumnScope, infer
    >>> from schema_core.sql.expression import parse_expression
    >>> from schema_core.types import DataTypes as T
    >>> scope = ColumnScope({"a": T.INT(), "b": T.BIGINT()})
    >>> print(to_sql(infer(scope, parse_expression("coalesce(nullif(a, 0), b)"))))
    COALESCE(CAST(CASE WHEN `a` = 0 THEN NULL ELSE `a` END AS BIGINT), `b`)
    """
    return close_up(print_expression(to_syntax(typed)))


def to_syntax(typed: Typed) -> syntax.Expression:
    """The syntax tree that says what the typed tree means."""
    chain: list[Apply] = []
    while isinstance(typed, Apply) and typed.arguments:
        chain.append(typed)
        typed = typed.arguments[0]
    found = _leaf(typed)
    for apply in reversed(chain):
        found = _call(apply, (found, *map(to_syntax, apply.arguments[1:])))
    return found


def _leaf(typed: Typed) -> syntax.Expression:
    match typed:
        case Ref(name, _, relation):
            return syntax.Name((name,) if relation is None else (relation, name))
        case Constant(literal):
            return literal
        case Word(symbol):
            return syntax.Star() if symbol.word == "*" else symbol
        case Target(written):
            return written
        case Access(value, name):
            return _field(to_syntax(value), name)
        case Apply():
            return _call(typed, ())
        case Select(subquery):
            return subquery
        case _:
            assert_never(typed)


def _field(value: syntax.Expression, name: str) -> syntax.Expression:
    if isinstance(value, syntax.Name):
        return syntax.Name((*value.parts, name))
    return syntax.Call(".", (value, syntax.Name((name,))))


def _call(apply: Apply, arguments: tuple[syntax.Expression, ...]) -> syntax.Call:
    function, written = apply.function, apply.written
    if function.bare_names:
        arguments = tuple(
            syntax.Name((one.word,)) if isinstance(one, syntax.Symbol) else one for one in arguments
        )
    return syntax.Call(
        function.name,
        arguments,
        _path(apply),
        written.symbol if written is not None else apply.symbol,
        None if apply.filter is None else to_syntax(apply.filter),
        over=None if apply.over is None else _window(apply.over),
        nulls=apply.nulls,
    )


def _path(apply: Apply) -> tuple[str, ...]:
    """The name in back-ticks: a user's function by its full name, others as they were written."""
    function, written = apply.function, apply.written
    if written is not None and written.inline is not None:
        raise UnsupportedError(
            f"{written.name} has no name in SQL",
            code="inline-function",
            hint="register it with create_temporary_function and call it by its name",
        )
    if function.path:
        return function.path
    if not function.quoted:
        return ()
    as_written = written.path if written is not None else ()
    same = len(as_written) == 1 and as_written[0].upper() == function.name
    return as_written if same else (function.name,)


def _window(over: Over) -> syntax.Window:
    return syntax.Window(
        None,
        tuple(map(to_syntax, over.partition_by)),
        tuple(map(_key, over.order_by)),
        None if over.frame is None else _frame(over.frame),
    )


def _key(key: SortedBy) -> syntax.SortKey:
    return syntax.SortKey(to_syntax(key.value), key.descending, key.nulls_last)


def _frame(frame: Frame) -> syntax.Frame:
    upper = None if frame.upper is None else _bound(frame.upper)
    return syntax.Frame(frame.unit, _bound(frame.lower), upper, frame.whole)


def _bound(bound: Bound) -> syntax.Call | syntax.Symbol:
    if bound.distance is None:
        return syntax.Symbol(bound.words)
    return syntax.Call(bound.words, (to_syntax(bound.distance),))
