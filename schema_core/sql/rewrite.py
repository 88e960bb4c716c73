"""Traversal and rewriting of syntax trees of expressions.

A chain of operators can have thousands of operands, so the left side of a call is never visited by
recursion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from schema_core.sql import syntax
from schema_core.sql.syntax import Call, Expression, Size, SortKey, Window

#: Returns the replacement of a node, or None to visit its parts.
Change = Callable[[Expression], Expression | None]


def parts(expression: Expression) -> Iterator[Expression]:
    """Yield the direct sub-expressions, including those of FILTER, WITHIN GROUP and OVER.

    Sub-queries are not visited.
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
    """Yield an expression and all its sub-expressions, in no particular order."""
    rest = [expression]
    while rest:
        one = rest.pop()
        yield one
        rest.extend(parts(one))


def size(expression: Expression) -> Size:
    """Measure an expression. Calls cache their sizes, so a shared part is visited once.

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
    """Return an expression in which each node that `change` has a replacement for is replaced.

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
        found = _rewrite_clauses(replace(call, arguments=(found, *rest)), change)
    return found


def _below(expression: Expression, change: Change) -> Expression:
    match expression:
        case syntax.Named(value=value):
            return replace(expression, value=rewrite(value, change))
        case Call():
            return _rewrite_clauses(expression, change)
        case _:
            return expression


def _rewrite_clauses(call: Call, change: Change) -> Call:
    """Return the call with FILTER, WITHIN GROUP and OVER rewritten."""
    if call.filter is None and not call.within and call.over is None:
        return call
    return replace(
        call,
        filter=None if call.filter is None else rewrite(call.filter, change),
        within=rewrite_keys(call.within, change),
        over=None if call.over is None else rewrite_window(call.over, change),
    )


def rewrite_keys(keys: tuple[SortKey, ...], change: Change) -> tuple[SortKey, ...]:
    """Return sort keys with their expressions rewritten."""
    return tuple(replace(key, expression=rewrite(key.expression, change)) for key in keys)


def rewrite_window(window: Window, change: Change) -> Window:
    """Return a window with its expressions rewritten; the bounds of its frame are constants."""
    return replace(
        window,
        partition_by=tuple(rewrite(one, change) for one in window.partition_by),
        order_by=rewrite_keys(window.order_by, change),
    )
