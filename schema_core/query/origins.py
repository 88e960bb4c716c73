"""Column lineage of queries: the columns of tables and views that each column is computed from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias, cast

from schema_core.base.paths import ObjectIdentifier
from schema_core.expressions import typed
from schema_core.expressions.typed import Typed
from schema_core.query import relation as relational


class Origin(NamedTuple):
    """A column of a table or view."""

    table: ObjectIdentifier
    column: str


#: The distinct columns that one column is computed from, in the order of their first use.
Origins: TypeAlias = tuple[Origin, ...]


class _Scope(NamedTuple):
    """The columns by alias and name that expressions read, and the common tables by name."""

    sources: Mapping[str | None, Mapping[str, Origins]]
    common: Mapping[str, Sequence[Origins]]

    def with_sources(self, sources: Mapping[str | None, Mapping[str, Origins]]) -> _Scope:
        return self._replace(sources=dict(self.sources) | dict(sources))


def column_origins(relation: relational.Relation) -> list[Origins]:
    """Return the origins of each column of a query.

    Views are not replaced by their queries. Predicates, groups and sort keys determine which rows
    there are, not their values: what they read is not an origin.
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
        case relational.ProcessTable(input=source):
            found = _by_name(source, _origins(source, scope))
            every = _merge_origins(found.values())
            return [found.get(column.name, every) for column in relation.columns]
        case relational.Match(input=source, measures=measures):
            found = _by_name(source, _origins(source, scope))
            found |= {measure.name: _read(measure.expression, scope, found) for measure in measures}
            return [found.get(column.name, ()) for column in relation.columns]
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
            return _combine_operands(relation, scope)
        case relational.With(tables=tables, input=query, recursive=recursive):
            for entry in tables:
                scope = _with_common(scope, entry, is_recursive=recursive)
            return _origins(query, scope)


def _with_common(scope: _Scope, table: relational.Common, *, is_recursive: bool) -> _Scope:
    """Return the scope with a common table; one that reads itself is read until nothing is new."""
    known: list[Origins] = []
    if is_recursive:  # not a common table of the same name around this clause
        scope = scope._replace(common={**scope.common, table.name: known})
    while True:
        found = _origins(table.relation, scope)
        scope = scope._replace(common={**scope.common, table.name: found})
        if not is_recursive or list(map(set, found)) == list(map(set, known)):
            return scope
        known = found


def _trace_join(
    relation: relational.Relation, scope: _Scope
) -> tuple[list[Origins], dict[str | None, Mapping[str, Origins]]]:
    """Return the origins of a FROM clause, and those of each of its aliases.

    A lateral source reads the preceding ones. Joins are left-deep: their depth is not limited.
    """
    sides: list[relational.Relation] = []
    while isinstance(relation, relational.Join):
        sides.append(relation.right)
        relation = relation.left
    found: list[Origins] = []
    aliases: dict[str | None, Mapping[str, Origins]] = {}
    for side in (relation, *reversed(sides)):
        within = scope.with_sources(aliases)
        if isinstance(side, relational.Join):
            origins, more = _trace_join(side, within)
        else:
            origins = _origins(side, within)
            more = dict(_aliases(side, origins))
        found += origins
        aliases |= more
    return found, aliases


def _aliases(
    side: relational.Relation, origins: list[Origins]
) -> Iterator[tuple[str | None, Mapping[str, Origins]]]:
    while isinstance(side, relational.Sample):
        side = side.input
    if isinstance(side, relational.Named):
        yield side.alias, _by_name(side, origins)


def _by_name(relation: relational.Relation, origins: Iterable[Origins]) -> dict[str, Origins]:
    return dict(zip((column.name for column in relation.columns), origins, strict=True))


def _combine_operands(relation: relational.Relation, scope: _Scope) -> list[Origins]:
    """Return the origins of all operands, by position."""
    inputs: list[list[Origins]] = []
    while isinstance(relation, relational.SetOperation):
        inputs.append(_origins(relation.right, scope))
        relation = relation.left
    inputs.append(_origins(relation, scope))
    return [_merge_origins(column) for column in zip(*reversed(inputs), strict=True)]


def _merge_origins(origins: Iterable[Origins]) -> Origins:
    return tuple(dict.fromkeys(item for found in origins for item in found))


#: The columns of a source without an alias.
_NONE: Mapping[str, Origins] = {}


def _read(expression: Typed, scope: _Scope, default: Mapping[str, Origins] = _NONE) -> Origins:
    """Return the origins of an expression; `default` are the columns of an unknown alias."""
    found: dict[Origin, None] = {}
    waiting = [expression]
    while waiting:
        match waiting.pop():
            case typed.Ref(name=name, relation=alias):
                found |= dict.fromkeys(scope.sources.get(alias, default).get(name, ()))
            case typed.Access(value=value):
                waiting.append(value)
            case typed.FunctionCall() as call:
                waiting += reversed(tuple(typed.operands(call)))
            case typed.Select(rows=rows):
                found |= dict.fromkeys(
                    _merge_origins(_origins(cast("relational.Relation", rows), scope))
                )
            case _:
                pass
    return tuple(found)
