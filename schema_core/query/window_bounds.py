"""Which columns of a relation are the bounds of a window.

Rows with equal bounds are of the same window: Flink's planner groups, joins and ranks them by
window if a key has both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Final, TypeAlias

from schema_core.expressions.typed import Typed
from schema_core.query import relation as relational
from schema_core.query.rankings import reference
from schema_core.query.relation import Relation


class WindowBound(Enum):
    """A bound of a window."""

    START = "start"
    END = "end"


BOUNDS: Final = frozenset(WindowBound)
#: The bounds among the columns of a relation, by position.
Positions: TypeAlias = "Mapping[int, WindowBound]"


def bounds_of_window(relation: Relation) -> Positions:
    """Return the bounds that a window function adds; other relations have none of their own."""
    if not isinstance(relation, relational.WindowTable):
        return {}
    start = len(relation.columns) - 3
    return {start: WindowBound.START, start + 1: WindowBound.END}


def bounds_of(
    relation: Relation, bounds_of_leaf: Callable[[Relation], Positions] = bounds_of_window
) -> Positions:
    """Return the bounds among the columns of a relation.

    `bounds_of_leaf` returns those of relations that add bounds themselves.
    """
    match relation:
        case relational.Named() | relational.Sample() | relational.Sort():
            return bounds_of(relation.input, bounds_of_leaf)
        case relational.SetOperation(left=left, right=right):
            own, other = bounds_of(left, bounds_of_leaf), bounds_of(right, bounds_of_leaf)
            return {place: bound for place, bound in own.items() if other.get(place) is bound}
        case relational.Select(items=items, source=source) if source is not None:
            bounds = bounds_in(source, bounds_of_leaf)
            parts = [bounds.get(reference(item.expression)) for item in items]
            return {place: bound for place, bound in enumerate(parts) if bound is not None}
        case _:
            return bounds_of_leaf(relation)


def bounds_in(
    source: Relation, bounds_of_leaf: Callable[[Relation], Positions] = bounds_of_window
) -> dict[object, WindowBound]:
    """Return the columns of FROM that are bounds, by their alias and name."""
    bounds: dict[object, WindowBound] = {}
    rest = [source]
    while rest:
        match rest.pop():
            case relational.Join(left=left, right=right):
                rest += [left, right]
            case relational.Named(input=below, alias=alias, columns=columns):
                own = bounds_of(below, bounds_of_leaf)
                bounds |= {(alias, columns[place].name): bound for place, bound in own.items()}
    return bounds


def has_bounds(bounds: Mapping[object, WindowBound], expressions: Iterable[Typed]) -> bool:
    """Return whether expressions have both bounds of a window."""
    return {bounds.get(reference(expression)) for expression in expressions} >= BOUNDS
