"""Parts of FROM as derived tables: a join becomes a subquery, with the columns that are read of it.

The block above reads the columns of the derived table in place of those of the sources in it, also
in its subqueries and in lateral sources.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

from schema_core.expressions.typed import Constant, Ref, Typed, substitute
from schema_core.expressions.typed import Select as Subquery
from schema_core.query import relation as relational
from schema_core.query.relation import (
    TRUE,
    Column,
    Item,
    Names,
    Relation,
    columns_of,
    is_own,
    rows_of,
    substitute_in_block,
    substitute_parts,
)
from schema_core.types import BooleanType

#: Aliases and names of columns, and the columns that are read in their place.
_Columns: TypeAlias = Mapping[tuple[str, str], Ref]


def with_derived_table(block: relational.Select, part: Relation, alias: str) -> relational.Select:
    """Return a block that reads a part of its FROM as a derived table.

    Args:
        block: The block.
        part: A source of its FROM, or a join of some of them.
        alias: The alias of the derived table, which no other source of the block has.
    """
    own = columns_of(part)
    read: dict[tuple[str, str], Ref] = {}
    for column in _columns_read(block, part):
        if is_own(column, own):
            key = column.relation or "", column.name
            # a column is nullable above an outer join in the part
            if key not in read or column.type.is_nullable:
                read[key] = column
    items = [Item(f"c{place}", column) for place, column in enumerate(read.values())]
    items = items or [Item("c0", Constant(TRUE, BooleanType(nullable=False)))]
    table = relational.Select(tuple(items), part, hints=block.hints)
    columns = tuple(Column(item.name, item.expression.type) for item in items)
    derived = relational.Named(table, alias, columns)
    new = {
        key: Ref(column.name, column.type, alias)
        for key, column in zip(read, columns, strict=False)
    }

    def change(relation: Relation) -> Relation | None:
        return derived if relation is part else None

    source = block.source
    if source is not None:
        source = _replace_in_source(substitute_parts(source, change), new, derived)
    return substitute_in_block(replace(block, source=source), partial(_new_part, new))


def _columns_read(block: relational.Select, part: Relation) -> Iterator[Ref]:
    """Yield the columns that a block reads outside of a part of its FROM."""
    for typed in relational.expressions_of(block):
        yield from relational.columns_read(typed)
    rest = [] if block.source is None else [block.source]
    while rest:
        source = rest.pop()
        if source is part:
            continue
        if isinstance(source, relational.Join):
            if source.condition is not None:
                yield from relational.columns_read(source.condition)
            rest += [source.left, source.right]
        else:
            yield from relational.outer_columns(source)


def _replace_in_source(source: Relation, new: _Columns, derived: Relation) -> Relation:
    """Return FROM with other columns, except in the derived table."""
    if source is derived:
        return source
    if not isinstance(source, relational.Join):
        return _replace_columns(source, new)
    condition = source.condition
    return replace(
        source,
        left=_replace_in_source(source.left, new, derived),
        right=_replace_in_source(source.right, new, derived),
        condition=None if condition is None else _replace_in(condition, new),
    )


def _replace_in(typed: Typed, new: _Columns) -> Typed:
    return substitute(typed, partial(_new_part, new))


def _new_part(new: _Columns, part: Typed) -> Typed | None:
    """Return what replaces a part of an expression, as `substitute` takes it."""
    match part:
        case Ref(relation=alias, name=name) if alias:
            return new.get((alias, name))
        case Subquery():
            return replace(part, rows=_replace_columns(rows_of(part), new))
        case _:
            return None


def _replace_columns(relation: Relation, new: _Columns) -> Relation:
    """Return a relation that reads other columns of the block around it."""
    if not any(
        (column.relation, column.name) in new for column in relational.outer_columns(relation)
    ):
        return relation
    parts: dict[str, Any] = {}
    match relation:
        case relational.Select(source=source):
            new = _visible(new, columns_of(source))
            if source is not None:
                relation = replace(relation, source=_replace_columns(source, new))
            return substitute_in_block(relation, partial(_new_part, new))
        case relational.Sort(keys=keys, input=below):
            own = columns_of(below.source) if isinstance(below, relational.Select) else frozenset()
            visible = _visible(new, own)
            parts["keys"] = tuple(
                key._replace(expression=_replace_in(key.expression, visible)) for key in keys
            )
        case relational.Values(rows=rows):
            parts["rows"] = tuple(tuple(_replace_in(value, new) for value in row) for row in rows)
        case relational.With(tables=tables):
            parts["tables"] = tuple(
                table._replace(relation=_replace_columns(table.relation, new)) for table in tables
            )
    for name in ("condition", "period", "collection", "call", "query"):
        typed = getattr(relation, name, None)
        if isinstance(typed, Typed):
            parts[name] = _replace_in(typed, new)
    for name in ("input", "left", "right"):
        if (part := getattr(relation, name, None)) is not None:
            parts[name] = _replace_columns(part, new)
    return replace(relation, **parts)


def _visible(new: _Columns, own: Names) -> _Columns:
    """Return the columns that a block does not hide by its own."""
    return {key: column for key, column in new.items() if key not in own}
