"""From which rows the rowtimes of a relation are, and whether these arrive in time."""

from __future__ import annotations

from collections.abc import Callable

from schema_core.expressions.typed import Ref, Typed
from schema_core.query import relation as relational
from schema_core.query.relation import Relation, Scan, leaves_of


def is_column_in_time(
    relation: Relation,
    place: int,
    of_scan: Callable[[Scan, int], bool],
    changes: Callable[[Relation], bool],
    *,
    otherwise: bool = False,
) -> bool:
    """Return whether rows arrive before the watermark passes the value of a column.

    `of_scan` returns it for a column of a table, and `otherwise` is returned for computed columns.
    `changes` returns whether rows of a relation arrive over time: those of a bounded table are
    joined with rows that arrive at any time. The time of a window is passed with its end.
    """
    match relation:
        case Scan():
            return changes(relation) and of_scan(relation, place)
        case relational.Named(input=below):
            return changes(below) and is_column_in_time(
                below, place, of_scan, changes, otherwise=otherwise
            )
        case relational.Sample(input=below):
            return is_column_in_time(below, place, of_scan, changes, otherwise=otherwise)
        case relational.WindowTable(input=below, columns=columns):
            if place >= len(columns) - 3:
                return place == len(columns) - 1
            return is_column_in_time(below, place, of_scan, changes, otherwise=otherwise)
        case relational.SetOperation(operator="UNION", all=True, left=left, right=right):
            return all(
                is_column_in_time(side, place, of_scan, changes, otherwise=otherwise)
                for side in (left, right)
            )
        case relational.Select(items=items, source=source) if source is not None:
            column = items[place].expression
            return is_time_of_source(source, column, of_scan, changes, otherwise=otherwise)
        case _:
            return otherwise


def is_time_of_source(
    source: Relation,
    column: Typed,
    of_scan: Callable[[Scan, int], bool],
    changes: Callable[[Relation], bool],
    *,
    otherwise: bool = False,
) -> bool:
    """Return the same for an expression over FROM."""
    for leaf in leaves_of(source):
        if (
            isinstance(leaf, relational.Named)
            and isinstance(column, Ref)
            and column.relation == leaf.alias
        ):
            place = [own.name for own in leaf.columns].index(column.name)
            return is_column_in_time(leaf, place, of_scan, changes, otherwise=otherwise)
    return otherwise
