"""UNPIVOT: columns become rows, by the rules of Calcite, Flink's parser and validator.

A column that no item names is kept. Each item adds a row with the values of its axes and its
columns as measures; without INCLUDE NULLS, rows whose measures are all NULL are left out. Flink 2.3
validates measures of all types, but generates code only for some; the others have the rows of its
plan here.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from decimal import Decimal

from schema_core import types
from schema_core.base.text import Span
from schema_core.errors import SchemaError
from schema_core.expressions.signatures import no_common_type
from schema_core.expressions.type_checker import infer
from schema_core.expressions.typed import Constant, Ref, Typed
from schema_core.query import relation as relational
from schema_core.query.relation import Column, Relation
from schema_core.query.scope import ScopeChain, SelectScope, SourceBinding, condition
from schema_core.query.table_functions import column_of
from schema_core.schema.rules import duplicate_names
from schema_core.sql import syntax
from schema_core.types.common import least_restrictive

#: The aliases of the input, and of the rows that each of its rows becomes.
INPUT, ITEMS = "unpivoted", "items"
NULL = syntax.Literal(syntax.LiteralKind.NULL, "NULL")
NUMBERS = frozenset({syntax.LiteralKind.EXACT, syntax.LiteralKind.APPROXIMATE})


def unpivot(source: syntax.Unpivot, data: Relation, chain: ScopeChain) -> relational.Select:
    """Return UNPIVOT of a source as a query: a join with the rows of VALUES.

    Raises:
        SchemaError: `column-count-mismatch`, `unknown-column`, `duplicate-column` or
            `type-mismatch`.
    """
    _require_counts(source)
    scope = SelectScope(chain, (SourceBinding("", data.columns),))
    cells = [
        [replace(column_of(name, scope), relation=INPUT) for name in item.columns]
        for item in source.items
    ]
    read = {name.parts[0] for item in source.items for name in item.columns}
    kept = [column for column in data.columns if column.name not in read]
    _require_names(source, kept)
    values = [_axis_values(item, len(source.axes), scope) for item in source.items]
    axes = [
        Column(name.parts[0], _common_type(column, name.span))
        for name, column in zip(source.axes, zip(*values, strict=True), strict=True)
    ]
    measures = [
        Column(name.parts[0], _common_type(column, column[0].span).nullable())
        for name, column in zip(source.measures, zip(*cells, strict=True), strict=True)
    ]
    added = (*axes, *measures)
    pairs = zip(values, _measures_by_axes(values, cells), strict=True)
    rows = relational.Values(tuple((*axis, *measured) for axis, measured in pairs), added)
    join = relational.Join(
        relational.Named(
            data.input if isinstance(data, relational.Named) else data, INPUT, data.columns
        ),
        relational.Named(rows, ITEMS, added, lateral=True),
        syntax.JoinKind.INNER,
        Constant(relational.TRUE, types.DataTypes.BOOLEAN(nullable=False)),
        (*data.columns, *added),
    )
    where = None
    if not source.include_nulls:
        where = _measures_condition(source, SelectScope(chain, (SourceBinding(ITEMS, added),)))
        if len(measures) == 1:
            measures = [Column(measures[0].name, measures[0].type.not_null())]
    items = [
        *(Ref(column.name, column.type, INPUT) for column in kept),
        *(Ref(column.name, column.type, ITEMS) for column in (*axes, *measures)),
    ]
    return relational.Select(tuple(relational.Item(item.name, item) for item in items), join, where)


def _require_counts(source: syntax.Unpivot) -> None:
    """Require a column for each measure, and a literal for each axis (`column-count-mismatch`)."""
    for item in source.items:
        problem = None
        if len(item.columns) != len(source.measures):
            problem = f"{len(source.measures)} columns in each item, got {len(item.columns)}"
        elif item.values and len(item.values) != len(source.axes):
            problem = f"{len(source.axes)} literals after AS, got {len(item.values)}"
        if problem:
            raise SchemaError(
                f"UNPIVOT requires {problem}", code="column-count-mismatch", span=item.span
            )


def _require_names(source: syntax.Unpivot, kept: Sequence[Column]) -> None:
    added = (*source.axes, *source.measures)
    names = [*(column.name for column in kept), *(name.parts[0] for name in added)]
    if twice := duplicate_names(names):
        raise SchemaError(
            f"duplicate column {twice[0]!r} in UNPIVOT",
            code="duplicate-column",
            hint="choose another name",
            span=[name.span for name in added if name.parts[0] == twice[0]][-1],
        )


def _axis_values(item: syntax.UnpivotItem, count: int, scope: SelectScope) -> list[Typed]:
    """Return the literals of an item; without them each axis has the names of the columns."""
    if item.values:
        return [infer(scope, literal) for literal in item.values]
    text = "_".join(name.parts[0] for name in item.columns)
    literal = syntax.Literal(syntax.LiteralKind.STRING, text, span=item.span)
    return [Constant(literal, types.VarCharType(len(text), nullable=False), item.span)] * count


def _common_type(values: Sequence[Typed], span: Span) -> types.DataType:
    own = [value.type for value in values]
    common = least_restrictive(own)
    if common is None or common.root is types.TypeRoot.NULL:
        hint = "CAST the columns in a query, or use literals of one type"
        raise SchemaError(no_common_type(own), code="type-mismatch", hint=hint, span=span)
    return common


def _measures_by_axes(
    values: Sequence[Sequence[Typed]], cells: Sequence[Sequence[Typed]]
) -> list[Sequence[Typed]]:
    """Return the measures of each item: those of the first item with equal values of the axes.

    NULL equals nothing: the measures of an item with it are NULL.
    """
    first: dict[Hashable, Sequence[Typed]] = {}
    measures: list[Sequence[Typed]] = []
    for axes, measured in zip(values, cells, strict=True):
        if any(axis.type.root is types.TypeRoot.NULL for axis in axes):
            measures.append([Constant(NULL, cell.type.nullable(), cell.span) for cell in measured])
        else:
            measures.append(first.setdefault(tuple(map(_comparable, axes)), measured))
    return measures


def _comparable(constant: Typed) -> Hashable:
    """Return a key that is equal for equal constants of comparable types."""
    match constant:
        case Constant(literal=syntax.Literal(kind=kind, text=text)) if kind in NUMBERS:
            return Decimal(text)
        case Constant(literal=literal):
            return literal
        case _:
            return constant


def _measures_condition(source: syntax.Unpivot, scope: SelectScope) -> Typed:
    """Return the condition that some measure is not NULL."""
    names = [syntax.Name((ITEMS, *name.parts), span=name.span) for name in source.measures]
    tests: list[syntax.Expression] = [
        syntax.Call("IS NOT NULL", (name,), span=source.span) for name in names
    ]
    test = tests[0] if len(tests) == 1 else syntax.Call("OR", tuple(tests), span=source.span)
    return condition(scope, test, "UNPIVOT")
