"""Column lineage of queries: the columns of tables and views that each column is computed from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import TypeAlias

from schema_core.base.lazy import NamedTuple
from schema_core.base.paths import ObjectIdentifier
from schema_core.expressions import typed
from schema_core.expressions.typed import Typed
from schema_core.query import relation as relational


class Origin(NamedTuple):
    """A column of a table or view."""

    table: ObjectIdentifier
    column: str


#: The distinct origins of a column, in order of first use.
Origins: TypeAlias = tuple[Origin, ...]


class _Scope(NamedTuple):
    """The columns by alias and name, and the common tables by name."""

    sources: Mapping[str | None, Mapping[str, Origins]]
    common: Mapping[str, Sequence[Origins]]

    def with_sources(self, sources: Mapping[str | None, Mapping[str, Origins]]) -> _Scope:
        return self._replace(sources=dict(self.sources) | dict(sources))


def column_origins(relation: relational.Relation) -> list[Origins]:
    """Return the origins of each column of a query, down to tables and views.

    Predicates, groups and sort keys determine rows, not values: they are not origins.
    """
    return _origins(relation, _Scope({}, {}))


def _origins(relation: relational.Relation, scope: _Scope) -> list[Origins]:
    match relation:
        case relational.Scan(table=table, columns=columns):
            return [(Origin(table.identifier, column.name),) for column in columns]
        case relational.CommonScan(name=name, columns=columns):
            return list(scope.common.get(name) or [()] * len(columns))
        case (
            relational.Named(input=source)
            | relational.Snapshot(input=source)
            | relational.Sample(input=source)
            | relational.Sort(input=source)
        ):
            return _origins(source, scope)
        case relational.Join():
            return _trace_join(relation, scope)[0]
        case relational.Unnest(collection=value) | relational.FunctionTable(call=value):
            return [_read(value, scope)] * len(relation.columns)
        case relational.WindowTable(input=source, time=time):
            origins = _origins(source, scope)
            added = len(relation.columns) - len(origins)
            return [*origins, *[_by_name(source, origins).get(time.name, ())] * added]
        case relational.VectorSearch(input=source, searched=searched, query=vector):
            origins = _origins(source, scope)
            compared = _by_name(source, origins).get(searched.name, ())
            return [*origins, _merge_origins((compared, _read(vector, scope)))]
        case relational.ProcessTable(input=source):
            by_name = _by_name(source, _origins(source, scope))
            every = _merge_origins(by_name.values())
            return [by_name.get(column.name, every) for column in relation.columns]
        case relational.Match(input=source, measures=measures):
            by_name = _by_name(source, _origins(source, scope))
            by_name |= {
                measure.name: _read(measure.expression, scope, by_name) for measure in measures
            }
            return [by_name.get(column.name, ()) for column in relation.columns]
        case relational.Select(items=items, source=block):
            if block is not None:
                scope = scope.with_sources(_trace_join(block, scope)[1])
            return [_read(item.expression, scope) for item in items]
        case relational.Values(rows=rows):
            transposed = zip(*rows, strict=True)
            return [
                _merge_origins(_read(value, scope) for value in values) for values in transposed
            ]
        case relational.SetOperation():
            operands: list[list[Origins]] = []
            operand: relational.Relation = relation
            while isinstance(operand, relational.SetOperation):
                operands.append(_origins(operand.right, scope))
                operand = operand.left
            operands.append(_origins(operand, scope))
            return [_merge_origins(column) for column in zip(*reversed(operands), strict=True)]
        case relational.With(tables=tables, input=query, recursive=recursive):
            for entry in tables:
                scope = _with_common(scope, entry, is_recursive=recursive)
            return _origins(query, scope)


def _with_common(scope: _Scope, table: relational.Common, *, is_recursive: bool) -> _Scope:
    """Return the scope with a common table; a recursive one is read until nothing is new."""
    previous: list[Origins] = []
    if is_recursive:  # not a common table of the same name around this clause
        scope = scope._replace(common={**scope.common, table.name: previous})
    while True:
        origins = _origins(table.relation, scope)
        scope = scope._replace(common={**scope.common, table.name: origins})
        if not is_recursive or list(map(set, origins)) == list(map(set, previous)):
            return scope
        previous = origins


def _trace_join(
    relation: relational.Relation, scope: _Scope
) -> tuple[list[Origins], dict[str | None, Mapping[str, Origins]]]:
    """Return the origins of a FROM clause, and those by alias.

    Lateral sources read the preceding ones. Joins are left-deep, of any depth.
    """
    sides: list[relational.Relation] = []
    while isinstance(relation, relational.Join):
        sides.append(relation.right)
        relation = relation.left
    all_origins: list[Origins] = []
    aliases: dict[str | None, Mapping[str, Origins]] = {}
    for side in (relation, *reversed(sides)):
        within = scope.with_sources(aliases)
        if isinstance(side, relational.Join):
            origins, inner = _trace_join(side, within)
            aliases |= inner
        else:
            origins = _origins(side, within)
            source: relational.Relation = side
            while isinstance(source, relational.Sample):
                source = source.input
            if isinstance(source, relational.Named):
                aliases[source.alias] = _by_name(source, origins)
        all_origins += origins
    return all_origins, aliases


def _by_name(relation: relational.Relation, origins: Iterable[Origins]) -> dict[str, Origins]:
    return dict(zip((column.name for column in relation.columns), origins, strict=True))


def _merge_origins(origins: Iterable[Origins]) -> Origins:
    return tuple(dict.fromkeys(chain.from_iterable(origins)))


def _read(
    expression: Typed, scope: _Scope, default: Mapping[str, Origins] = MappingProxyType({})
) -> Origins:
    """Return the origins of an expression; `default` are the columns of an unknown alias."""
    origins: dict[Origin, None] = {}
    waiting = [expression]
    while waiting:
        match waiting.pop():
            case typed.Ref(name=name, relation=alias):
                origins |= dict.fromkeys(scope.sources.get(alias, default).get(name, ()))
            case typed.Select() as subquery:
                rows = _origins(relational.rows_of(subquery), scope)
                origins |= dict.fromkeys(_merge_origins(rows))
            case part:
                waiting += reversed(typed.operands(part))
    return tuple(origins)
