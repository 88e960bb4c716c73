"""Joins resolved: conditions, merged columns, and which side may have no row to give."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from functools import reduce

from schema_core.errors import SchemaError, similar
from schema_core.expressions.scope import Inferred
from schema_core.expressions.type_checker import infer
from schema_core.expressions.typed import Typed
from schema_core.query import relation as rel
from schema_core.query.relation import Column, Columns
from schema_core.query.scope import Place, SelectScope, SourceBinding
from schema_core.query.sources import Rows, StarItem, resolve_source
from schema_core.query.typing import condition, nullable, row_condition
from schema_core.sql import query_syntax as written
from schema_core.sql.query_syntax import JoinKind
from schema_core.sql.syntax import Call, Expression
from schema_core.text import Span

#: Kind -> whether the columns of its left and right side may be missing.
MAY_MISS = {
    JoinKind.COMMA: (False, False),
    JoinKind.CROSS: (False, False),
    JoinKind.INNER: (False, False),
    JoinKind.LEFT: (False, True),
    JoinKind.RIGHT: (True, False),
    JoinKind.FULL: (True, True),
}

#: Kinds that say which rows belong together.
CONDITIONAL = (JoinKind.INNER, JoinKind.LEFT, JoinKind.RIGHT, JoinKind.FULL)


def join(source: written.Join, place: Place, before: tuple[SourceBinding, ...]) -> Rows:
    """Two sources as one.

    A side that may miss rows hides them from lateral sources on the other. A column that NATURAL
    merged is known to ``*`` only, as in Flink; its name alone stays ambiguous.

    Raises:
        SchemaError: with code `invalid-join-condition` where a condition lacks or is too many,
            `unknown-column` or `ambiguous-column` for USING, or whatever the sources refuse.
    """
    left = resolve_source(source.left, place, before)
    _check_form(source)
    left_misses, right_misses = MAY_MISS[source.kind]
    seen = before if left_misses else (*before, *left.origins)
    right = resolve_source(source.right, place, seen)
    merged = _merged(source, left, right)
    matching = _condition(source, merged, left, right)
    inferred = {
        **({} if left_misses else left.inferred),
        **({} if right_misses else right.inferred),
    }
    scope = SelectScope(place, (*left.origins, *right.origins), inferred=inferred)
    typed = None if matching is None else _typed(scope, matching, source)
    origins = (*_side(left, misses=left_misses), *_side(right, misses=right_misses))
    columns = tuple(column for origin in origins for column in origin.columns)
    rel.require_width(len(columns), source.span)
    relation = rel.Join(left.relation, right.relation, source.kind, typed, columns)
    together = {name: Call("COALESCE", pair) for name, pair in merged.items()}
    known = {**left.merged, **right.merged, **({} if source.natural else together)}
    inferred |= _inferred(SelectScope(place, origins, inferred=inferred), together.values())
    return Rows(relation, origins, _star(together, left, right), known, inferred)


def _typed(scope: SelectScope, expression: Expression, source: written.Join) -> Typed:
    """The condition of a join; the one that USING and NATURAL generate holds no aggregates."""
    if source.condition is None:
        return condition(scope, expression, "ON")
    return row_condition(scope, expression, "ON")


def _inferred(scope: SelectScope, calls: Iterable[Call]) -> Inferred:
    """The merged columns typed, each made of one that is typed already.

    One that has no type is left out: it is reported where it is read, if it is.
    """
    found: dict[int, tuple[Expression, Typed]] = {}
    for call in calls:
        with suppress(SchemaError):
            found[id(call)] = call, infer(scope, call)
    return found


def _check_form(source: written.Join) -> None:
    says = source.natural or bool(source.using) or source.condition is not None
    problem = None
    if source.kind in CONDITIONAL and not says:
        problem = f"{source.kind.value} needs a condition"
    elif source.kind not in CONDITIONAL and says:
        problem = f"{source.kind.value} takes no condition"
    elif source.natural and (source.using or source.condition is not None):
        problem = "NATURAL is a condition already"
    if problem:
        hint = "write ON condition, USING (columns) or NATURAL"
        raise SchemaError(problem, code="invalid-join-condition", hint=hint, span=source.span)


def _side(rows: Rows, *, misses: bool) -> tuple[SourceBinding, ...]:
    """The sources of one side, their columns nullable where a row may be missing."""
    if not misses:
        return rows.origins
    return tuple(replace(one, columns=_nullable(one.columns)) for one in rows.origins)


def _nullable(columns: Columns) -> Columns:
    return tuple(Column(name, nullable(type_)) for name, type_ in columns)


# --------------------------------------------------------------------------- USING and NATURAL

Pairs = dict[str, tuple[Expression, Expression]]


def _merged(source: written.Join, left: Rows, right: Rows) -> Pairs:
    """Column -> what it is on the left and on the right, for each that both sides share."""
    if source.natural:
        theirs = {item.name for item in right.star}
        names = [(item.name, source.span) for item in left.star if item.name in theirs]
    else:
        names = [(name.parts[0], name.span) for name in source.using]
    sides = (_by_name(left), _by_name(right))
    return {
        name: (_only(left, sides[0], name, span), _only(right, sides[1], name, span))
        for name, span in names
    }


def _by_name(rows: Rows) -> dict[str, list[Expression]]:
    """The columns of a side, by name."""
    found: dict[str, list[Expression]] = {}
    for item in rows.star:
        found.setdefault(item.name, []).append(item.expression)
    return found


def _only(rows: Rows, by_name: dict[str, list[Expression]], name: str, span: Span) -> Expression:
    """The one column of that name on a side."""
    found = by_name.get(name)
    if not found:
        raise SchemaError(
            f"one side of the join has no column {name!r}",
            code="unknown-column",
            hint=similar(name, [item.name for item in rows.star]),
            span=span,
        )
    if len(found) > 1:
        raise SchemaError(f"column {name!r} is ambiguous", code="ambiguous-column", span=span)
    return found[0]


def _condition(source: written.Join, merged: Pairs, left: Rows, right: Rows) -> Expression | None:
    if source.condition is not None or not merged:
        return source.condition
    equations: list[Expression] = [Call("=", pair, span=source.span) for pair in merged.values()]
    return reduce(lambda one, other: Call("AND", (one, other), span=source.span), equations)


def _star(together: dict[str, Call], left: Rows, right: Rows) -> tuple[StarItem, ...]:
    """Merged columns first, then the others of the left and of the right."""
    return (
        *(StarItem(name, call) for name, call in together.items()),
        *(item for item in left.star if item.name not in together),
        *(item for item in right.star if item.name not in together),
    )
