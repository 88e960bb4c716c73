"""Group windows, such as TUMBLE in GROUP BY, as the window functions of the same names.

Both have the same windows. Only window functions have rows of their own, which a streaming query
returns when the watermark has passed their end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final, cast

from schema_core.expressions.typed import Constant, FunctionCall, Ref, Typed, substitute
from schema_core.query import relation as relational
from schema_core.query.relation import (
    TRUE,
    Column,
    Columns,
    Item,
    Relation,
    columns_read,
    expressions_of,
    outer_columns,
    relations_in,
    rows_of,
    subexpressions,
    subqueries_in,
    substitute_in_block,
    substitute_parts,
)
from schema_core.spark.compiler.query import GROUP_WINDOWS
from schema_core.spark.compiler.translation import PREFIX
from schema_core.types import BooleanType, TimestampType

#: The alias of the input of an operation.
INPUT: Final = f"{PREFIX}input"
#: A column with which a block without columns has rows.
ANY: Final = Item(f"{PREFIX}any", Constant(TRUE, BooleanType(nullable=False)))
#: The type of the bounds of a window.
BOUND: Final = TimestampType(3, nullable=False)


def with_window_functions(query: Relation) -> Relation:
    """Return a query whose group windows are those of window functions, where they can be.

    A query without group windows is returned as it is.
    """
    blocks = (part for part in relations_in(query) if isinstance(part, relational.Select))
    if all(_window_of(block) is None for block in blocks):
        return query

    def change(part: Relation) -> Relation | None:
        if not isinstance(part, relational.Select) or (place := _window_of(part)) is None:
            return None
        source = None if part.source is None else with_window_functions(part.source)
        return _with_window_function(replace(part, source=source), place)

    return substitute_parts(query, change)


def _window_of(block: relational.Select) -> int | None:
    """Return the position of the only key of GROUP BY that is a group window."""
    grouping = block.grouping
    if grouping is None or grouping.sets is not None or block.qualify is not None:
        return None
    if any(
        True
        for typed in expressions_of(block)
        for query in subqueries_in(typed)
        for _ in outer_columns(rows_of(query))
    ):
        return None
    places = [
        place
        for place, key in enumerate(grouping.keys)
        if isinstance(key, FunctionCall) and key.function.name in GROUP_WINDOWS
    ]
    return places[0] if len(places) == 1 else None


def _with_window_function(block: relational.Select, place: int) -> relational.Select:
    """Return a block whose key at a position is the window of a window function."""
    rows, block = split_block(block)
    grouping = cast("relational.Grouping", block.grouping)
    window = cast("FunctionCall", grouping.keys[place])
    name = GROUP_WINDOWS[window.function.name]
    own = cast("relational.Named", block.source).columns
    # the other keys are columns, by which SESSION is partitioned
    rows, own, keys = _with_keys(rows, own, [key for key in grouping.keys if key is not window])
    time, *sizes = window.arguments
    columns = (
        *own,
        Column("window_start", BOUND),
        Column("window_end", BOUND),
        Column("window_time", time.type),
    )
    partition = tuple(replace(key, relation=None) for key in keys.values())
    table = relational.WindowTable(
        name,
        rows,
        replace(cast("Ref", time), relation=None),
        tuple(sizes),
        partition if name == "SESSION" else (),
        columns,
    )
    start, end, time_of_window = (Ref(column.name, column.type, INPUT) for column in columns[-3:])
    bounds = {
        f"{name}_START": start,
        f"{name}_END": end,
        f"{name}_ROWTIME": time_of_window,
        f"{name}_PROCTIME": time_of_window,
    }

    def change(typed: Typed) -> Typed | None:
        if typed in keys:
            return keys[typed]
        if isinstance(typed, FunctionCall) and typed.function.name in bounds:
            return replace(bounds[typed.function.name], type=typed.type)
        return None

    has_time = any(
        isinstance(part, FunctionCall) and bounds.get(part.function.name) is time_of_window
        for typed in expressions_of(block)
        for part in subexpressions(typed)
    )
    items_of_block = (
        item._replace(expression=substitute(item.expression, change)) for item in block.items
    )
    return replace(
        block,
        items=tuple(items_of_block),
        source=relational.Named(table, INPUT, columns),
        grouping=replace(
            grouping, keys=(start, end, *([time_of_window] if has_time else []), *keys.values())
        ),
        having=None if block.having is None else substitute(block.having, change),
    )


def _with_keys(
    rows: relational.Select, columns: Columns, keys: Sequence[Typed]
) -> tuple[relational.Select, Columns, dict[Typed, Ref]]:
    """Return rows, and the columns over them, with a column for each key."""
    items = list(rows.items)
    refs: dict[Typed, Ref] = {}
    for key in keys:
        if isinstance(key, Ref):
            refs[key] = key
        else:
            column = Column(f"k{len(refs)}", key.type)
            items.append(Item(column.name, _below(key, rows)))
            columns = (*columns, column)
            refs[key] = Ref(column.name, column.type, INPUT)
    return replace(rows, items=tuple(items)), columns, refs


def _below(key: Typed, rows: relational.Select) -> Typed:
    """Return an expression over the result of a query as one over its source."""
    expressions = {item.name: item.expression for item in rows.items}
    return substitute(key, lambda part: expressions[part.name] if isinstance(part, Ref) else None)


def _computed_times(expressions: Iterable[Typed]) -> Iterator[FunctionCall]:
    """Yield the calls of PROCTIME() by which OVER is ordered."""
    for typed in expressions:
        for part in subexpressions(typed):
            over = part.over if isinstance(part, FunctionCall) else None
            for key in () if over is None else over.order_by:
                if isinstance(key.value, FunctionCall) and key.value.function.name == "PROCTIME":
                    yield key.value


def split_block(block: relational.Select) -> tuple[relational.Select, relational.Select]:
    """Return FROM and WHERE of a block as a query, and the block over it as `INPUT`.

    The PROCTIME() by which OVER is ordered is that of FROM: the time at which a row arrives.
    """
    expressions = [typed for typed in expressions_of(block) if typed is not block.where]
    read = {
        (column.relation, column.name): column
        for typed in expressions
        for column in columns_read(typed)
    }
    values: dict[Typed, None] = dict.fromkeys((*read.values(), *_computed_times(expressions)))
    items = [Item(f"c{place}", typed) for place, typed in enumerate(values)] or [ANY]
    rows = relational.Select(tuple(items), block.source, block.where)
    new = {
        typed: Ref(item.name, item.expression.type, INPUT)
        for typed, item in zip(values, items, strict=False)
    }
    old = {name: new[column] for name, column in read.items()}

    def change(typed: Typed) -> Typed | None:
        return old[typed.relation, typed.name] if isinstance(typed, Ref) else new.get(typed)

    columns = tuple(Column(item.name, item.expression.type) for item in items)
    above = replace(block, source=relational.Named(rows, INPUT, columns), where=None)
    return rows, substitute_in_block(above, change)
