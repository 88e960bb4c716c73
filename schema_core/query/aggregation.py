"""Placement of aggregates, GROUP BY with grouping sets, the WINDOW clause."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import product
from typing import Final, TypeAlias

from schema_core.base.lazy import dataclass
from schema_core.base.text import Span
from schema_core.errors import SchemaError, similar
from schema_core.expressions.aggregate_calls import check_declared_window, extend_window
from schema_core.expressions.type_checker import infer
from schema_core.expressions.typed import (
    Function,
    FunctionCall,
    FunctionKind,
    Ref,
    Typed,
    children,
    operands,
)
from schema_core.query import relation as relational
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

#: Hints of several errors.
LIST_GROUPING_SETS = "list the GROUPING SETS that are needed"

#: Functions that require OVER.
ONLY_OVER = frozenset(
    {"ROW_NUMBER", "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST", "NTILE", "LAG", "LEAD"}
)

#: Functions of group windows; the auxiliary functions repeat their arguments.
GROUP_WINDOWS = ("TUMBLE", "HOP", "SESSION")

AUXILIARY = {
    f"{window}_{part}": f"${window}"
    for window in GROUP_WINDOWS
    for part in ("START", "END", "ROWTIME", "PROCTIME")
}

#: The column of the number of a window of rows, by which the rows are grouped: SQL has none.
ROW_WINDOW: Final = "$window"


def aggregates(scope: SelectScope, expression: syntax.Expression) -> Iterator[syntax.Call]:
    """Yield the outermost aggregates over groups, not those with OVER."""
    rest = [expression]
    while rest:
        part = rest.pop()
        functions: tuple[Function, ...] = ()
        if isinstance(part, syntax.Call) and part.over is None:
            with suppress(SchemaError):  # type checking reports unknown functions
                functions = scope.function(part.path or (part.name,), part.span)
            if any(function.kind is FunctionKind.AGGREGATE for function in functions):
                yield part
                continue
        rest.extend(syntax.parts(part))


def iterate_windowed(expression: syntax.Expression) -> Iterator[syntax.Call]:
    """Yield the calls with OVER."""
    return (
        node
        for node in syntax.walk(expression)
        if isinstance(node, syntax.Call) and node.over is not None
    )


def refuse_aggregates(scope: SelectScope, expression: syntax.Expression, clause: str) -> None:
    """Refuse aggregates and window functions (`invalid-grouping`, `invalid-window`)."""
    refuse_grouping(scope, expression, clause)
    for call in iterate_windowed(expression):
        raise SchemaError(
            f"{call.name} OVER a window is not allowed in {clause}",
            code="invalid-window",
            hint="compute it in a subquery first, or use QUALIFY",
            span=call.span,
        )


def refuse_grouping(scope: SelectScope, expression: syntax.Expression, clause: str) -> None:
    """Refuse aggregates where rows are not grouped (`invalid-grouping`)."""
    for call in aggregates(scope, expression):
        raise SchemaError(
            f"aggregate {call.name} is not allowed in {clause}",
            code="invalid-grouping",
            hint="move the condition to HAVING" if clause == "WHERE" else None,
            span=call.span,
        )


def check_calls(scope: SelectScope, expression: syntax.Expression) -> None:
    """Refuse functions that lack OVER or GROUP BY, or are misplaced.

    Raises:
        SchemaError: `invalid-window` or `invalid-grouping`.
    """
    for call in aggregates(scope, expression):
        if call.name in OF_GROUPING and scope.group_count < 1:
            problem = f"{call.name} requires GROUP BY"
            raise SchemaError(problem, code="invalid-grouping", span=call.span)
        if call.name in ONLY_OVER:
            problem = f"{call.name} requires an OVER clause"
            raise SchemaError(problem, code="invalid-window", span=call.span)
    for part in syntax.walk(expression):
        if isinstance(part, syntax.Call) and part.name.removeprefix("$") in GROUP_WINDOWS:
            raise SchemaError(
                f"{part.name} is valid only in GROUP BY",
                code="invalid-grouping",
                hint=f"use {part.name}_START and {part.name}_END for the bounds of a group",
                span=part.span,
            )


def outside_aggregates(typed: Typed) -> Iterator[Typed]:
    """Yield the subexpressions that are not arguments of aggregates."""
    rest = [typed]
    while rest:
        part = rest.pop()
        yield part
        if not (isinstance(part, FunctionCall) and part.function.kind is FunctionKind.AGGREGATE):
            rest.extend(children(part))


def check_grouped(typed: Typed, keys: Collection[Typed], own: frozenset[str]) -> None:
    """Require that only grouping keys are read outside of aggregates (`invalid-grouping`).

    `own` are the aliases of the sources; columns of enclosing queries are constants.
    """
    rest = [typed]
    while rest:
        part = rest.pop()
        if part in keys:
            continue
        match part:
            case Ref(name=name, relation=relation, span=span) if relation in own:
                raise SchemaError(
                    f"column {name!r} is neither grouped nor aggregated",
                    code="invalid-grouping",
                    hint="add it to GROUP BY",
                    span=span,
                )
            case FunctionCall() if _reads_group(part, keys):
                continue
            case _:
                rest.extend(operands(part))


def _reads_group(call: FunctionCall, keys: Collection[Typed]) -> bool:
    """Return whether a call is a value of the whole group."""
    if call.function.kind is FunctionKind.AGGREGATE and call.function.name not in OF_GROUPING:
        return call.over is None
    window = AUXILIARY.get(call.function.name)
    return window is not None and any(
        isinstance(key, FunctionCall)
        and key.function.name == window
        and key.arguments == call.arguments
        for key in keys
    )


def row_condition(scope: SelectScope, expression: syntax.Expression, clause: str) -> Typed:
    """Type a condition on single rows: WHERE, ON."""
    refuse_aggregates(scope, expression, clause)
    return condition(scope, expression, clause)


# --- GROUP BY -------------------------------------------------------------------------------------


#: Maximum number of grouping sets of a SELECT; each key of CUBE doubles it.
MAX_SETS = 4096

#: Maximum number of keys of all grouping sets; ROLLUP of n keys has about n²/2.
MAX_KEYS = 50_000

Sets = list[tuple[syntax.Expression, ...]]


@dataclass(frozen=True, slots=True)
class Groups:
    """The grouping of a SELECT, with the scope of expressions over groups.

    `keys` are typed over rows and over groups; some grouping set lacks the `missing` ones; `own`
    are the aliases of the sources.
    """

    grouping: relational.Grouping
    scope: SelectScope
    keys: frozenset[Typed]
    missing: frozenset[Typed]
    own: frozenset[str]


def group_by(
    items: tuple[syntax.GroupItem, ...] | None, scope: SelectScope, merged: Merged
) -> Groups:
    """Resolve GROUP BY; None is an aggregation without it.

    Keys that a grouping set lacks are nullable over groups.

    Raises:
        SchemaError: `limit-exceeded`, or an error in a key.
    """
    sets = _product([_sets_of(item) for item in items or ()])
    keys = GroupingKeys(scope, merged)
    positions = [tuple(map(keys.position, set_)) for set_ in sets]
    plain = all(not isinstance(item, syntax.GroupingSets) for item in items or ())
    grouping = relational.Grouping(tuple(keys), None if plain else tuple(positions))
    always = set(positions[0]).intersection(*positions[1:])
    missing = frozenset(key for key, index in keys.items() if index not in always)
    count = sum(
        not (isinstance(item, syntax.GroupingSets) and item.kind == "()") for item in items or ()
    )
    bindings = tuple(_nullable_sources(scope.bindings, missing))
    inner = replace(scope, group_count=count, bindings=bindings, ungrouped=scope)
    over_groups = (replace(key, type=nullable(key.type)) for key in missing)
    own = frozenset(binding.alias for binding in bindings)
    return Groups(grouping, inner, frozenset((*keys, *over_groups)), missing, own)


class GroupingKeys(dict["Typed", int]):
    """Keys of a GROUP BY with their positions; each expression is typed once."""

    def __init__(self, scope: SelectScope, merged: Merged) -> None:
        super().__init__()
        self._scope = scope
        self._merged = merged
        self._typed: dict[int, int] = {}

    def position(self, expression: syntax.Expression) -> int:
        """Return the position of a key, which is appended if it is new."""
        if (position := self._typed.get(id(expression))) is None:
            key = replace_merged(expression, self._merged)
            refuse_aggregates(self._scope, key, "GROUP BY")
            position = self.setdefault(value(self._scope, key), len(self))
            self._typed[id(expression)] = position
        return position


def _nullable_sources(
    bindings: Iterable[SourceBinding], missing: Collection[Typed]
) -> Iterable[SourceBinding]:
    names = {(key.relation, key.name) for key in missing if isinstance(key, Ref)}
    for binding in bindings:
        columns = tuple(
            Column(column.name, nullable(column.type))
            if (binding.alias, column.name) in names
            else column
            for column in binding.columns
        )
        yield replace(binding, columns=columns)


# ------------------------------------------------------------------------------- grouping sets


def _sets_of(item: syntax.GroupItem) -> Sets:
    match item:
        case syntax.GroupingSets(kind="ROLLUP", sets=sets, span=span):
            elements = [_flat(set_) for set_ in sets]
            _require_few_keys(len(sets) * sum(map(len, elements)) // 2, span)
            return [_join_elements(elements[:count]) for count in range(len(elements), -1, -1)]
        case syntax.GroupingSets(kind="CUBE", sets=sets, span=span):
            if 2 ** len(sets) > MAX_SETS:
                raise SchemaError(
                    f"CUBE of {len(sets)} keys has more than {MAX_SETS:,} grouping sets",
                    code="limit-exceeded",
                    hint=LIST_GROUPING_SETS,
                    span=span,
                )
            choices = product((True, False), repeat=len(sets))
            elements = [_flat(set_) for set_ in sets]
            return [
                _join_elements(
                    element for element, chosen in zip(elements, choice, strict=True) if chosen
                )
                for choice in choices
            ]
        case syntax.GroupingSets(sets=sets):
            return [
                keys
                for inner in sets
                for keys in (_sets_of(inner) if isinstance(inner, syntax.GroupingSets) else [inner])
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
            code="invalid-grouping",
            span=element.span,
        )
    return element


def _join_elements(
    elements: Iterable[tuple[syntax.Expression, ...]],
) -> tuple[syntax.Expression, ...]:
    return tuple(key for element in elements for key in element)


def _product(items: list[Sets]) -> Sets:
    count = 1
    for sets in items:
        count *= len(sets)
        if count > MAX_SETS:
            raise SchemaError(
                f"GROUP BY has more than {MAX_SETS:,} grouping sets", code="limit-exceeded"
            )
    keys = sum(sum(map(len, sets)) * count // (len(sets) or 1) for sets in items)
    if count > 1:
        _require_few_keys(keys, None)
    return [_join_elements(combination) for combination in product(*items)]


def _require_few_keys(keys: int, span: Span | None) -> None:
    if keys > MAX_KEYS:
        raise SchemaError(
            f"the grouping sets of GROUP BY have more than {MAX_KEYS:,} keys in total",
            code="limit-exceeded",
            hint=LIST_GROUPING_SETS,
            span=span,
        )


# --- the WINDOW clause ----------------------------------------------------------------------------


Windows: TypeAlias = Mapping[str, syntax.Window]


def declared_windows(clause: Iterable[tuple[str, syntax.Window]], merged: Merged) -> Windows:
    """Return the windows of the WINDOW clause by name, each merged with its base windows.

    As in Flink, a base can be declared later, and can be the window itself.

    Raises:
        SchemaError: `invalid-window`, also for two names equal but for case.
    """
    windows: dict[str, syntax.Window] = {}
    taken: set[str] = set()
    for name, window in clause:
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
    """Complete a window and its bases; no recursion, so chains can be long."""
    based: list[str] = []
    current: str | None = name
    while current is not None and current not in complete and current not in based:
        if current not in windows:
            raise SchemaError(
                f"there is no window {current!r}",
                code="invalid-window",
                hint=similar(current, windows),
                span=windows[based[-1]].span,
            )
        based.append(current)
        current = windows[current].name
    base = None
    if current is not None:  # complete, or the first of a circle
        base = complete.get(current) or replace(windows[current], name=None)
    for extension in reversed(based):
        own = windows[extension]
        base = replace(own, name=None) if base is None else extend_window(base, own)
        complete[extension] = base


def check_windows(scope: SelectScope, windows: Windows) -> None:
    """Validate the windows of the WINDOW clause, also unused ones (`invalid-window`)."""
    for window in windows.values():
        check_declared_window(scope, window, infer)
