"""Syntax trees of expressions walked and rewritten, whatever they hold.

A chain of operators may be thousands of operands long, so the left side of a call is never reached
by recursion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from schema_core.sql import syntax
from schema_core.sql.syntax import Call, Expression, Size, SortKey, Window

#: What a node becomes, or None to look at its parts.
Change = Callable[[Expression], Expression | None]


def parts(expression: Expression) -> Iterator[Expression]:
    """The expressions directly below one, those of FILTER, WITHIN GROUP and OVER too.

    Queries in parentheses are not looked into.
    """
    match expression:
        case syntax.Named(value=value):
            yield value
        case Call(arguments=arguments, filter=condition, within=within, over=over):
            yield from arguments
            if condition is not None:
                yield condition
            yield from (key.expression for key in within)
            if over is not None:
                yield from over.partition_by
                yield from (key.expression for key in over.order_by)
        case _:
            return


def walk(expression: Expression) -> Iterator[Expression]:
    """The expression and all below it, in no particular order."""
    rest = [expression]
    while rest:
        one = rest.pop()
        yield one
        rest.extend(parts(one))


def size(expression: Expression) -> Size:
    """Measure an expression. Calls keep their sizes, so a part that is shared is walked once.

    >>> from schema_core.sql.syntax import Name
    >>> size(Call("+", (Call("-", (Name(("a",)), Name(("b",)))), Name(("c",)))))
    Size(nodes=5, levels=2)
    """
    waiting = [expression]
    while waiting:
        one = waiting[-1]
        below = list(parts(one))
        missing = [part for part in below if isinstance(part, Call) and part.size is None]
        if missing:
            waiting += missing
            continue
        waiting.pop()
        if isinstance(one, Call):
            object.__setattr__(one, "size", _size_over(below))
    return _size(expression)


def _size(expression: Expression) -> Size:
    if isinstance(expression, Call) and expression.size is not None:
        return expression.size
    return _size_over(list(parts(expression)))


def _size_over(below: list[Expression]) -> Size:
    sizes = [_size(part) for part in below]
    levels = max((found.levels + (place > 0) for place, found in enumerate(sizes)), default=1)
    return Size(1 + sum(found.nodes for found in sizes), levels)


def rewrite(expression: Expression, change: Change) -> Expression:
    """The expression with every node that `change` has a replacement for replaced by it.

    >>> from schema_core.sql.syntax import Call, Name
    >>> tree = Call("+", (Name(("a",)), Name(("b",))))
    >>> rewrite(tree, lambda node: Name(("t", "a")) if node == Name(("a",)) else None).arguments[0]
    Name(parts=('t', 'a'))
    """
    spine: list[Call] = []
    while True:
        changed = change(expression)
        if changed is not None or not (isinstance(expression, Call) and expression.arguments):
            break
        spine.append(expression)
        expression = expression.arguments[0]
    found = changed if changed is not None else _below(expression, change)
    for call in reversed(spine):
        rest = tuple(rewrite(one, change) for one in call.arguments[1:])
        found = _carried(replace(call, arguments=(found, *rest)), change)
    return found


def _below(expression: Expression, change: Change) -> Expression:
    match expression:
        case syntax.Named(value=value):
            return replace(expression, value=rewrite(value, change))
        case Call():
            return _carried(expression, change)
        case _:
            return expression


def _carried(call: Call, change: Change) -> Call:
    """The call with what only aggregates carry rewritten."""
    if call.filter is None and not call.within and call.over is None:
        return call
    return replace(
        call,
        filter=None if call.filter is None else rewrite(call.filter, change),
        within=rewrite_keys(call.within, change),
        over=None if call.over is None else rewrite_window(call.over, change),
    )


def rewrite_keys(keys: tuple[SortKey, ...], change: Change) -> tuple[SortKey, ...]:
    """Sort keys with their expressions rewritten."""
    return tuple(replace(key, expression=rewrite(key.expression, change)) for key in keys)


def rewrite_window(window: Window, change: Change) -> Window:
    """A window with its expressions rewritten; the bounds of its frame are constants."""
    return replace(
        window,
        partition_by=tuple(rewrite(one, change) for one in window.partition_by),
        order_by=rewrite_keys(window.order_by, change),
    )
