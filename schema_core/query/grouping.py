"""GROUP BY resolved: the keys, and the sets of them that ROLLUP, CUBE and GROUPING SETS list."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from itertools import product

from schema_core.errors import SchemaError
from schema_core.expressions.typed import Ref, Typed
from schema_core.query import relation as rel
from schema_core.query.aggregates import refuse_aggregates
from schema_core.query.relation import Column
from schema_core.query.scope import SelectScope, SourceBinding
from schema_core.query.typing import Merged, nullable, unmerged, value
from schema_core.sql.query_syntax import GroupingSets, GroupItem
from schema_core.sql.syntax import Call, Expression
from schema_core.text import Span

#: Grouping sets of one block; CUBE doubles them with every key.
MAX_SETS = 4096

#: Keys of all grouping sets of one block; ROLLUP of `n` keys has n sets of up to n keys.
MAX_KEYS = 50_000

Sets = list[tuple[Expression, ...]]


@dataclass(frozen=True, slots=True)
class Groups:
    """A grouped block: its GROUP BY, and its scope and keys as they are from there on.

    `missing` are the keys, as they are among rows, that some grouping set lacks; `known` all keys,
    as they are among rows and among groups; `own` the aliases of the sources.
    """

    grouping: rel.Grouping
    scope: SelectScope
    known: frozenset[Typed]
    missing: frozenset[Typed]
    own: frozenset[str]


def group_by(items: tuple[GroupItem, ...] | None, scope: SelectScope, merged: Merged) -> Groups:
    """The groups of a block; None stands for a block that aggregates without GROUP BY.

    Keys that some grouping set lacks are nullable from there on.

    Raises:
        SchemaError: with code `too-many-grouping-sets`, or whatever the keys refuse.
    """
    sets = _product([_sets_of(item) for item in items or ()])
    keys = Keys(scope, merged)
    positions = [tuple(map(keys.position, one)) for one in sets]
    plain = all(not isinstance(item, GroupingSets) for item in items or ())
    grouping = rel.Grouping(tuple(keys), None if plain else tuple(positions))
    always = set(positions[0]).intersection(*positions[1:])
    missing = frozenset(key for key, index in keys.items() if index not in always)
    count = sum(not _is_empty(item) for item in items or ())
    origins = tuple(_seen(scope.origins, missing))
    inner = replace(scope, group_count=count, origins=origins, ungrouped=scope)
    known = frozenset((*keys, *(_as_seen(key, missing) for key in keys)))
    own = frozenset(origin.alias for origin in origins)
    return Groups(grouping, inner, known, missing, own)


def _is_empty(item: GroupItem) -> bool:
    return isinstance(item, GroupingSets) and item.kind == "()"


class Keys(dict["Typed", int]):
    """The keys of a GROUP BY, each with its position; an expression is typed once."""

    def __init__(self, scope: SelectScope, merged: Merged) -> None:
        super().__init__()
        self._scope = scope
        self._merged = merged
        self._typed: dict[int, int] = {}

    def position(self, expression: Expression) -> int:
        """Return the position of a key; a new one is appended."""
        found = self._typed.get(id(expression))
        if found is None:
            written = unmerged(expression, self._merged)
            refuse_aggregates(self._scope, written, "GROUP BY")
            found = self.setdefault(value(self._scope, written), len(self))
            self._typed[id(expression)] = found
        return found


def _seen(origins: Iterable[SourceBinding], missing: Collection[Typed]) -> Iterable[SourceBinding]:
    """The sources with the columns nullable that some grouping set lacks."""
    names = {(key.relation, key.name) for key in missing if isinstance(key, Ref)}
    for origin in origins:
        columns = tuple(
            Column(one.name, nullable(one.type)) if (origin.alias, one.name) in names else one
            for one in origin.columns
        )
        yield replace(origin, columns=columns)


def _as_seen(key: Typed, missing: Collection[Typed]) -> Typed:
    return replace(key, type=nullable(key.type)) if key in missing else key


# ------------------------------------------------------------------------------- grouping sets


def _sets_of(item: GroupItem) -> Sets:
    """The sets that one item of GROUP BY stands for."""
    match item:
        case GroupingSets(kind="ROLLUP", sets=sets, span=span):
            elements = [_flat(one) for one in sets]
            _require_few_keys(len(sets) * sum(map(len, elements)) // 2, span)
            return [_joined(elements[:count]) for count in range(len(elements), -1, -1)]
        case GroupingSets(kind="CUBE", sets=sets, span=span):
            if 2 ** len(sets) > MAX_SETS:
                raise SchemaError(
                    f"CUBE of {len(sets)} keys has more than {MAX_SETS:,} grouping sets",
                    code="too-many-grouping-sets",
                    hint="list the GROUPING SETS that are needed",
                    span=span,
                )
            choices = product((True, False), repeat=len(sets))
            elements = [_flat(one) for one in sets]
            return [
                _joined(one for one, taken in zip(elements, choice, strict=True) if taken)
                for choice in choices
            ]
        case GroupingSets(sets=sets):
            return [
                one
                for inner in sets
                for one in (_sets_of(inner) if isinstance(inner, GroupingSets) else [inner])
            ]
        case Call(name="ROW", arguments=keys):
            return [keys]
        case _:
            return [(item,)]


def _flat(element: tuple[Expression, ...] | GroupingSets) -> tuple[Expression, ...]:
    if isinstance(element, GroupingSets):
        raise SchemaError(
            f"{element.kind} cannot stand within ROLLUP or CUBE",
            code="nested-grouping-sets",
            span=element.span,
        )
    return element


def _joined(elements: Iterable[tuple[Expression, ...]]) -> tuple[Expression, ...]:
    return tuple(key for element in elements for key in element)


def _product(items: list[Sets]) -> Sets:
    """Each combination of one set from every item."""
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
    return [_joined(one) for one in product(*items)]


def _require_few_keys(keys: int, span: Span | None) -> None:
    if keys > MAX_KEYS:
        raise SchemaError(
            f"the grouping sets of GROUP BY have more than {MAX_KEYS:,} keys in total",
            code="too-many-grouping-sets",
            hint="list the GROUPING SETS that are needed",
            span=span,
        )
