"""Aggregates that connectors compute: the block of a query then reads one row of each group.

COUNT, MIN, MAX and SUM of columns are offered, grouped by columns, of the rows for which filters
are TRUE.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TypeAlias

from schema_core.expressions.typed import (
    Constant,
    FunctionCall,
    FunctionKind,
    Keyword,
    Ref,
    Typed,
    operands,
    substitute,
)
from schema_core.expressions.typed import Select as Subquery
from schema_core.query.relation import (
    Column,
    Named,
    Relation,
    Scan,
    Select,
    Sort,
    SourceTable,
    conjuncts,
    outer_columns,
    substitute_parts,
)
from schema_core.schema.columns import PhysicalColumn
from schema_core.schema.resolved import ResolvedSchema
from schema_core.spark.connector import AGGREGATE_PREFIX, AggregateExpression, Aggregation
from schema_core.spark.filters import Filter
from schema_core.spark.reading.pushdown import is_pushable, move_predicates
from schema_core.sql.syntax import Literal, LiteralKind

#: The functions that are offered.
FUNCTIONS = frozenset({"COUNT", "MIN", "MAX", "SUM"})

#: Offers an aggregation of a scan's rows to its connector, as the rows of the second scan, and
#: returns whether the connector computes it.
Offer: TypeAlias = Callable[[Scan, Aggregation, Scan], bool]


def with_aggregates(query: Relation, offer: Offer, zone: str) -> Relation:
    """Return a query of which connectors compute the aggregations that they accept."""

    def change(relation: Relation) -> Relation | None:
        match relation:
            case Sort(input=Select() as block):
                keys = [key.expression for key in relation.keys]
                if (changed := _push_block(block, keys, offer, zone)) is None:
                    return replace(relation, input=with_changed_source(block))
                block, keys = changed
                pairs = zip(relation.keys, keys, strict=True)
                sorted_by = tuple(key._replace(expression=each) for key, each in pairs)
                return replace(relation, input=block, keys=sorted_by)
            case Select():
                changed = _push_block(relation, [], offer, zone)
                return None if changed is None else changed[0]
        return None

    def with_changed_source(block: Select) -> Select:
        if block.source is None:
            return block
        return replace(block, source=substitute_parts(block.source, change))

    return substitute_parts(query, change)


def _push_block(
    block: Select, sort_keys: list[Typed], offer: Offer, zone: str
) -> tuple[Select, list[Typed]] | None:
    """Return a block without its aggregation, and its sort keys; None if it is not pushed."""
    source, grouping = block.source, block.grouping
    if grouping is None or grouping.sets is not None or not isinstance(source, Named):
        return None
    if not isinstance(scan := source.input, Scan) or source.lateral:
        return None
    if next(outer_columns(block), None) is not None:
        return None
    columns = _physical_columns(source, scan)
    keys = [key.name for key in grouping.keys if isinstance(key, Ref) and key.name in columns]
    expressions = [*(item.expression for item in block.items), *sort_keys]
    expressions += [part for part in (block.having, block.qualify) if part is not None]
    calls, filters = _aggregates(expressions, columns), _filters(block.where, columns, zone)
    if calls is None or filters is None or len(keys) < len(grouping.keys):
        return None
    aggregation = Aggregation(
        tuple(columns[name].name for name in keys), tuple(calls.values()), filters
    )
    read = _rows_of_groups(scan, [columns[name] for name in keys], aggregation)
    if not offer(scan, aggregation, read):
        return None

    def result_of(typed: Typed) -> Typed | None:
        call = calls.get(typed) if isinstance(typed, FunctionCall) else None
        return None if call is None else Ref(call.name, call.type, source.alias)

    def conditions(condition: Typed | None) -> Typed | None:
        return None if condition is None else substitute(condition, result_of)

    renamed = zip([*keys, *(call.name for call in calls.values())], read.columns, strict=True)
    return replace(
        block,
        items=tuple(
            item._replace(expression=substitute(item.expression, result_of)) for item in block.items
        ),
        source=replace(
            source, input=read, columns=tuple(Column(name, own.type) for name, own in renamed)
        ),
        where=conditions(block.having),
        grouping=None,
        having=None,
        qualify=conditions(block.qualify),
    ), [substitute(key, result_of) for key in sort_keys]


def _rows_of_groups(scan: Scan, keys: list[Ref], aggregation: Aggregation) -> Scan:
    """Return a scan of a table with one row of each group."""
    columns = (
        *(Column(key.name, key.type) for key in keys),
        *(Column(call.name, call.type) for call in aggregation.aggregates),
    )
    schema = ResolvedSchema.physical(
        [column.name for column in columns], [column.type for column in columns]
    )
    return Scan(SourceTable(scan.table.identifier, schema), columns)


def _physical_columns(source: Named, scan: Scan) -> dict[str, Ref]:
    """Return a table's physical columns by the names that a block has for them, if none repeats."""
    names = [column.name for column in source.columns]
    if len({*names}) < len(names):
        return {}
    physical = {
        column.name for column in scan.table.schema.columns if isinstance(column, PhysicalColumn)
    }
    pairs = zip(names, scan.columns, strict=True)
    return {name: Ref(own.name, own.type) for name, own in pairs if own.name in physical}


def _aggregates(
    expressions: Iterable[Typed], columns: Mapping[str, Ref]
) -> dict[FunctionCall, AggregateExpression] | None:
    """Return the aggregates in expressions; None if one is not offered, or for a subquery."""
    calls: dict[FunctionCall, AggregateExpression] = {}
    rest = list(expressions)[::-1]
    while rest:
        part = rest.pop()
        if isinstance(part, Subquery):
            return None
        if not isinstance(part, FunctionCall) or not _is_aggregate(part):
            rest += reversed(operands(part))
        elif part not in calls:
            name = part.function.name
            argument = _argument(part, columns)
            if argument is None:
                return None
            place = f"{AGGREGATE_PREFIX}{len(calls)}"
            calls[part] = AggregateExpression(name, argument or None, part.type, place)
    return calls


def _is_aggregate(call: FunctionCall) -> bool:
    return call.function.kind is FunctionKind.AGGREGATE and call.over is None


def _argument(call: FunctionCall, columns: Mapping[str, Ref]) -> str | None:
    """Return the column of an aggregate, empty for all rows; None if it is not offered."""
    is_plain = call.symbol is None and call.filter is None and not call.order
    if call.function.name not in FUNCTIONS or call.function.declared or not is_plain:
        return None
    match call.arguments:
        case (Keyword(),) if call.function.name == "COUNT":  # *
            return ""
        case (Constant(literal=Literal(kind=kind)),) if call.function.name == "COUNT":
            return None if kind is LiteralKind.NULL else ""
        case (Ref(name=name),) if name in columns:
            return columns[name].name
    return None


def _filters(
    where: Typed | None, columns: Mapping[str, Ref], zone: str
) -> tuple[Filter, ...] | None:
    """Return the filters of WHERE; None if a condition is not one, or is not exact."""
    conditions = conjuncts(where)
    if not all(map(is_pushable, conditions)):
        return None
    moved = move_predicates(conditions, lambda ref: columns.get(ref.name))
    filters = tuple(Filter(condition, zone) for condition in moved)
    is_exact = all(filter_.is_exact for filter_ in filters)
    return filters if is_exact and len(filters) == len(conditions) else None
