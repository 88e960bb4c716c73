"""Aggregation: placement of aggregates, GROUP BY and its grouping sets, the WINDOW clause."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import TypeAlias

from schema_core.base.lazy_dataclass import dataclass
from schema_core.base.text import Span
from schema_core.errors import SchemaError, similar
from schema_core.expressions.aggregate_calls import check_declared_window, extend_window
from schema_core.expressions.signatures import FunctionKind
from schema_core.expressions.type_checker import infer
from schema_core.expressions.typed import (
    Access,
    FunctionCall,
    Ref,
    Typed,
    children,
)
from schema_core.query import relation as rel
from schema_core.query.relation import Column
from schema_core.query.scope import (
    OF_GROUPING,
    Merged,
    SelectScope,
    SourceBinding,
    condition,
    nullable,
    replace_merged,
    unmerged_window,
    value,
)
from schema_core.sql import syntax

#: Functions that require OVER.
ONLY_OVER = frozenset(
    {"ROW_NUMBER", "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST", "NTILE", "LAG", "LEAD"}
)

#: Functions of group windows, and the auxiliary functions that repeat their arguments.
GROUP_WINDOWS = ("TUMBLE", "HOP", "SESSION")

AUXILIARY = {
    f"{window}_{part}": f"${window}"
    for window in GROUP_WINDOWS
    for part in ("START", "END", "ROWTIME", "PROCTIME")
}


def is_aggregate(scope: SelectScope, call: syntax.Call) -> bool:
    """Return whether a call is an aggregate; type checking reports unknown functions."""
    try:
        functions = scope.function(call.path or (call.name,), call.span)
    except SchemaError:
        return False
    return any(function.kind is FunctionKind.AGGREGATE for function in functions)


def aggregates(scope: SelectScope, expression: syntax.Expression) -> Iterator[syntax.Call]:
    """Yield the outermost aggregates over the rows of a group, without those over a window."""
    rest = [expression]
    while rest:
        one = rest.pop()
        if isinstance(one, syntax.Call) and one.over is None and is_aggregate(scope, one):
            yield one
        else:
            rest.extend(syntax.parts(one))


def iterate_windowed(expression: syntax.Expression) -> Iterator[syntax.Call]:
    """Yield the calls with OVER."""
    return (
        node
        for node in syntax.walk(expression)
        if isinstance(node, syntax.Call) and node.over is not None
    )


def refuse_aggregates(scope: SelectScope, expression: syntax.Expression, clause: str) -> None:
    """Refuse aggregates and window functions in a clause that filters or groups rows.

    Raises:
        SchemaError: with code `misplaced-aggregate` or `misplaced-window`.
    """
    refuse_grouping(scope, expression, clause)
    for call in iterate_windowed(expression):
        raise SchemaError(
            f"{call.name} OVER a window is not allowed in {clause}",
            code="misplaced-window",
            hint="compute it in a subquery first, or use QUALIFY",
            span=call.span,
        )


def refuse_grouping(scope: SelectScope, expression: syntax.Expression, clause: str) -> None:
    """Refuse aggregates where rows are not grouped.

    Raises:
        SchemaError: with code `misplaced-aggregate`.
    """
    for call in aggregates(scope, expression):
        raise SchemaError(
            f"aggregate {call.name} is not allowed in {clause}",
            code="misplaced-aggregate",
            hint="move the condition to HAVING" if clause == "WHERE" else None,
            span=call.span,
        )


def check_calls(scope: SelectScope, expression: syntax.Expression) -> None:
    """Refuse functions without the OVER or GROUP BY that they require, and misplaced ones.

    Raises:
        SchemaError: with code `missing-over`, `missing-group-by` or `misplaced-group-window`.
    """
    for call in aggregates(scope, expression):
        if call.name in OF_GROUPING and scope.group_count < 1:
            problem = f"{call.name} requires GROUP BY"
            raise SchemaError(problem, code="missing-group-by", span=call.span)
        if call.name in ONLY_OVER:
            problem = f"{call.name} requires an OVER clause"
            raise SchemaError(problem, code="missing-over", span=call.span)
    for part in syntax.walk(expression):
        if isinstance(part, syntax.Call) and part.name.removeprefix("$") in GROUP_WINDOWS:
            raise SchemaError(
                f"{part.name} is valid only in GROUP BY",
                code="misplaced-group-window",
                hint=f"use {part.name}_START and {part.name}_END for the bounds of a group",
                span=part.span,
            )


def outside_aggregates(typed: Typed) -> Iterator[Typed]:
    """Yield the sub-expressions of a value of a group that are not read from its rows."""
    rest = [typed]
    while rest:
        one = rest.pop()
        yield one
        is_aggregate = isinstance(one, FunctionCall) and one.function.kind is FunctionKind.AGGREGATE
        rest.extend(() if is_aggregate else children(one))


def check_grouped(typed: Typed, keys: Collection[Typed], own: frozenset[str]) -> None:
    """Require sub-expressions outside of aggregates to consist of the grouping keys.

    `own` are the aliases of the sources; columns of enclosing queries are constants here.

    Raises:
        SchemaError: with code `not-grouped`.
    """
    rest = [typed]
    while rest:
        one = rest.pop()
        if one in keys:
            continue
        match one:
            case Ref(name=name, relation=relation, span=span) if relation in own:
                raise SchemaError(
                    f"column {name!r} is neither grouped nor aggregated",
                    code="not-grouped",
                    hint="add it to GROUP BY",
                    span=span,
                )
            case Access(value=value):
                rest.append(value)
            case FunctionCall(function=function, arguments=arguments) if (
                function.name in OF_GROUPING
            ):
                rest.extend(arguments)
            case FunctionCall() if _reads_group(one, keys):
                continue
            case FunctionCall(arguments=arguments, filter=condition, over=over):
                rest.extend(arguments)
                rest.extend([condition] if condition is not None else [])
                if over is not None:
                    rest.extend((*over.partition_by, *(key.value for key in over.order_by)))


def _reads_group(call: FunctionCall, keys: Collection[Typed]) -> bool:
    """Return whether a call is a value of the whole group."""
    if call.function.kind is FunctionKind.AGGREGATE:
        return call.over is None
    window = AUXILIARY.get(call.function.name)
    return window is not None and any(
        isinstance(key, FunctionCall)
        and key.function.name == window
        and key.arguments == call.arguments
        for key in keys
    )


def row_condition(scope: SelectScope, expression: syntax.Expression, clause: str) -> Typed:
    """Type a condition on single rows: WHERE, ON.

    Raises:
        SchemaError: as `condition` and `refuse_aggregates`.
    """
    refuse_aggregates(scope, expression, clause)
    return condition(scope, expression, clause)


# --- GROUP BY -------------------------------------------------------------------------------------


#: Maximum number of grouping sets of one SELECT; CUBE doubles it with every key.
MAX_SETS = 4096

#: Maximum number of keys of all grouping sets; ROLLUP of `n` keys has n sets of up to n keys.
MAX_KEYS = 50_000

Sets = list[tuple[syntax.Expression, ...]]


@dataclass(frozen=True, slots=True)
class Groups:
    """The grouping of a SELECT, with the scope and the keys of the expressions over groups.

    `missing` are the keys, typed over rows, that some grouping set lacks; `known` are all keys,
    typed over rows and over groups; `own` are the aliases of the sources.
    """

    grouping: rel.Grouping
    scope: SelectScope
    known: frozenset[Typed]
    missing: frozenset[Typed]
    own: frozenset[str]


def group_by(
    items: tuple[syntax.GroupItem, ...] | None, scope: SelectScope, merged: Merged
) -> Groups:
    """Resolve GROUP BY; None is an aggregation without GROUP BY.

    GroupingKeys that some grouping set lacks are nullable in the expressions over groups.

    Raises:
        SchemaError: with code `too-many-grouping-sets`, or an error in a key.
    """
    sets = _product([_sets_of(item) for item in items or ()])
    keys = GroupingKeys(scope, merged)
    positions = [tuple(map(keys.position, set_)) for set_ in sets]
    plain = all(not isinstance(item, syntax.GroupingSets) for item in items or ())
    grouping = rel.Grouping(tuple(keys), None if plain else tuple(positions))
    always = set(positions[0]).intersection(*positions[1:])
    missing = frozenset(key for key, index in keys.items() if index not in always)
    count = sum(not _is_empty(item) for item in items or ())
    bindings = tuple(_nullable_sources(scope.bindings, missing))
    inner = replace(scope, group_count=count, bindings=bindings, ungrouped=scope)
    known = frozenset((*keys, *(_as_seen(key, missing) for key in keys)))
    own = frozenset(binding.alias for binding in bindings)
    return Groups(grouping, inner, known, missing, own)


def _is_empty(item: syntax.GroupItem) -> bool:
    return isinstance(item, syntax.GroupingSets) and item.kind == "()"


class GroupingKeys(dict["Typed", int]):
    """The keys of a GROUP BY with their positions; each expression is typed once."""

    def __init__(self, scope: SelectScope, merged: Merged) -> None:
        super().__init__()
        self._scope = scope
        self._merged = merged
        self._typed: dict[int, int] = {}

    def position(self, expression: syntax.Expression) -> int:
        """Return the position of a key; a new one is appended."""
        found = self._typed.get(id(expression))
        if found is None:
            written = replace_merged(expression, self._merged)
            refuse_aggregates(self._scope, written, "GROUP BY")
            found = self.setdefault(value(self._scope, written), len(self))
            self._typed[id(expression)] = found
        return found


def _nullable_sources(
    bindings: Iterable[SourceBinding], missing: Collection[Typed]
) -> Iterable[SourceBinding]:
    """Yield the sources with those columns nullable that some grouping set lacks."""
    names = {(key.relation, key.name) for key in missing if isinstance(key, Ref)}
    for binding in bindings:
        columns = tuple(
            Column(column.name, nullable(column.type))
            if (binding.alias, column.name) in names
            else column
            for column in binding.columns
        )
        yield replace(binding, columns=columns)


def _as_seen(key: Typed, missing: Collection[Typed]) -> Typed:
    return replace(key, type=nullable(key.type)) if key in missing else key


# ------------------------------------------------------------------------------- grouping sets


def _sets_of(item: syntax.GroupItem) -> Sets:
    """Return the grouping sets of one item of GROUP BY."""
    match item:
        case syntax.GroupingSets(kind="ROLLUP", sets=sets, span=span):
            elements = [_flat(set_) for set_ in sets]
            _require_few_keys(len(sets) * sum(map(len, elements)) // 2, span)
            return [_join_elements(elements[:count]) for count in range(len(elements), -1, -1)]
        case syntax.GroupingSets(kind="CUBE", sets=sets, span=span):
            if 2 ** len(sets) > MAX_SETS:
                raise SchemaError(
                    f"CUBE of {len(sets)} keys has more than {MAX_SETS:,} grouping sets",
                    code="too-many-grouping-sets",
                    hint="list the GROUPING SETS that are needed",
                    span=span,
                )
            choices = product((True, False), repeat=len(sets))
            elements = [_flat(set_) for set_ in sets]
            return [
                _join_elements(item for item, taken in zip(elements, choice, strict=True) if taken)
                for choice in choices
            ]
        case syntax.GroupingSets(sets=sets):
            return [
                item
                for inner in sets
                for item in (_sets_of(inner) if isinstance(inner, syntax.GroupingSets) else [inner])
            ]
        case syntax.Call(name="ROW", arguments=keys):
            return [keys]
        case _:
            return [(item,)]


def _flat(
    element: tuple[syntax.Expression, ...] | syntax.GroupingSets,
) -> tuple[syntax.Expression, ...]:
    if isinstance(element, syntax.GroupingSets):
        raise SchemaError(
            f"{element.kind} is not allowed within ROLLUP or CUBE",
            code="nested-grouping-sets",
            span=element.span,
        )
    return element


def _join_elements(
    elements: Iterable[tuple[syntax.Expression, ...]],
) -> tuple[syntax.Expression, ...]:
    return tuple(key for element in elements for key in element)


def _product(items: list[Sets]) -> Sets:
    """Return each combination of one set from every item."""
    count = 1
    for sets in items:
        count *= len(sets)
        if count > MAX_SETS:
            raise SchemaError(
                f"GROUP BY has more than {MAX_SETS:,} grouping sets",
                code="too-many-grouping-sets",
            )
    keys = sum(sum(map(len, sets)) * count // (len(sets) or 1) for sets in items)
    if count > 1:
        _require_few_keys(keys, None)
    return [_join_elements(item) for item in product(*items)]


def _require_few_keys(keys: int, span: Span | None) -> None:
    if keys > MAX_KEYS:
        raise SchemaError(
            f"the grouping sets of GROUP BY have more than {MAX_KEYS:,} keys in total",
            code="too-many-grouping-sets",
            hint="list the GROUPING SETS that are needed",
            span=span,
        )


# --- the WINDOW clause ----------------------------------------------------------------------------


#: Name -> window.
Windows: TypeAlias = Mapping[str, syntax.Window]


def declared_windows(written: Iterable[tuple[str, syntax.Window]], merged: Merged) -> Windows:
    """Return the windows of the WINDOW clause by name, each merged with its base windows.

    As in Flink, the base of a window can be declared after it, and can be the window itself.

    Raises:
        SchemaError: with code `invalid-window` for a name that is declared twice, ignoring case, or
            as `extended`; with code `unknown-window` for a base that does not exist.
    """
    windows: dict[str, syntax.Window] = {}
    taken: set[str] = set()
    for name, window in written:
        if name.upper() in taken:
            raise SchemaError(
                f"the window {name!r} is declared twice", code="invalid-window", span=window.span
            )
        taken.add(name.upper())
        windows[name] = unmerged_window(window, merged)
    complete: dict[str, syntax.Window] = {}
    for name in windows:
        _complete(name, windows, complete)
    return complete


def _complete(name: str, windows: Windows, complete: dict[str, syntax.Window]) -> None:
    """Complete a window and its base windows without recursion, in chains of any length."""
    based: list[str] = []
    current: str | None = name
    while current is not None and current not in complete and current not in based:
        if current not in windows:
            raise SchemaError(
                f"there is no window {current!r}",
                code="unknown-window",
                hint=similar(current, windows),
                span=windows[based[-1]].span,
            )
        based.append(current)
        current = windows[current].name
    base = None
    if current is not None:  # complete, or the first of a circle
        base = complete.get(current) or replace(windows[current], name=None)
    for item in reversed(based):
        own = replace(windows[item], name=None)
        base = own if base is None else extend_window(base, own)
        complete[item] = base


def check_windows(scope: SelectScope, windows: Windows) -> None:
    """Validate every window of the WINDOW clause, including those that no call uses.

    Raises:
        SchemaError: with code `invalid-window`, or as `infer`.
    """
    for window in windows.values():
        check_declared_window(scope, window, infer)
