"""A SELECT block resolved: sources, conditions, groups, then the columns it gives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from schema_core.errors import SchemaError, at, similar
from schema_core.expressions.type_checker import infer
from schema_core.expressions.typed import Typed
from schema_core.query import relation as rel
from schema_core.query.aggregates import (
    aggregates,
    check_calls,
    check_grouped,
    outside_aggregates,
    refuse_grouping,
    windowed,
)
from schema_core.query.grouping import Groups, group_by
from schema_core.query.hints import check_hints, check_named_sources
from schema_core.query.relation import TakenNames, require_width
from schema_core.query.scope import Place, SelectScope
from schema_core.query.sources import Rows, StarItem, from_clause, star_of
from schema_core.query.typing import Merged, condition, nullable, row_condition, unmerged, value
from schema_core.query.windows import check_windows, declared_windows
from schema_core.sql import query_syntax as written
from schema_core.sql.rewrite import rewrite, size
from schema_core.sql.syntax import Call, Expression, Literal, LiteralKind, Name, Star
from schema_core.text import Span
from schema_core.types import RowType


class Output(NamedTuple):
    """One column of a block as written, and the alias it needs to be called so."""

    name: str
    expression: Expression
    alias: str | None = None
    unnamed: bool = False


#: Parts of expressions of the select list that all keys of an ORDER BY may repeat.
MAX_REPEATED = 50_000


class Repeated:
    """How many parts of calls in the select list the keys of an ORDER BY repeat."""

    __slots__ = ("parts",)

    def __init__(self) -> None:
        self.parts = 0

    def add(self, expression: Expression, span: Span) -> None:
        """Count an expression that a key repeats.

        Raises:
            SchemaError: with code `too-wide` where the keys repeat more than `MAX_REPEATED` parts.
        """
        if not isinstance(expression, Call):
            return
        self.parts += size(expression).nodes
        if self.parts > MAX_REPEATED:
            raise SchemaError(
                f"the keys of ORDER BY repeat more than {MAX_REPEATED:,} parts of the select list",
                code="too-wide",
                hint="compute the large expression in a sub-query and order by its columns",
                span=span,
            )


@dataclass(frozen=True, slots=True)
class Built:
    """A block resolved, with what an ORDER BY behind it and its spelling out need.

    `scope` sees single rows; what stands behind GROUP BY sees `groups`, if there are any.
    """

    relation: rel.Select
    scope: SelectScope
    groups: Groups | None
    merged: Merged
    outputs: tuple[Output, ...]
    _by_name: dict[str, list[Output]] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )
    _repeated: Repeated = field(default_factory=Repeated, init=False, compare=False, repr=False)

    def output(self, name: Name) -> Output | None:
        """Return the column of the select list that a name in ORDER BY means, if any.

        Raises:
            SchemaError: with code `ambiguous-column` if several columns have the name.
        """
        if len(name.parts) != 1:
            return None
        if not self._by_name:
            for one in self.outputs:
                if not one.unnamed:
                    self._by_name.setdefault(one.name, []).append(one)
        found = self._by_name.get(name.parts[0], [])
        if len(found) > 1:
            raise SchemaError(
                f"column {name.parts[0]!r} is ambiguous", code="ambiguous-column", span=name.span
            )
        return found[0] if found else None

    def sorted_by(self, expression: Expression) -> Typed:
        """Type an expression over the rows or groups of the block and the names of its list.

        A name of the select list hides a column of the sources, as in Calcite.
        """
        scope = self.groups.scope if self.groups else self.scope

        def change(node: Expression) -> Expression | None:
            if not isinstance(node, Name):
                return None
            output = self.output(node)
            if output is None:
                return unmerged(node, self.merged)
            self._repeated.add(output.expression, node.span)
            return output.expression

        expression = rewrite(expression, change)
        if self.groups is None:
            refuse_grouping(scope, expression, "ORDER BY")
        if isinstance(expression, Literal) and expression.kind is LiteralKind.NULL:
            return infer(scope, expression)
        return _value(scope, expression, self.groups)


def select(query: written.Select, place: Place) -> Built:
    """A SELECT block.

    Raises:
        SchemaError: whatever its clauses refuse.
    """
    rows = from_clause(query.source, place) if query.source else None
    check_hints(query.hints)
    if rows and isinstance(query.source, written.Join):
        check_named_sources(query.hints, [origin.alias for origin in rows.origins])
    merged = rows.merged if rows else {}
    windows = declared_windows(query.windows, merged)
    scope = SelectScope(place, rows.origins if rows else (), windows)
    check_windows(scope, windows)
    outputs = tuple(_outputs(query, scope, rows, merged))
    where = None if query.where is None else row_condition(scope, query.where, "WHERE")
    groups = _groups(query, scope, outputs, merged)
    inner = groups.scope if groups else scope
    columns = tuple(_item(inner, output, groups) for output in outputs)
    having = _having(inner, query.having, merged, groups)
    qualify = None if query.qualify is None else _qualify(inner, query.qualify, outputs, groups)
    relation = rel.Select(
        columns,
        rows.relation if rows else None,
        where,
        groups.grouping if groups else None,
        having,
        qualify,
        query.distinct,
        query.hints,
    )
    return Built(relation, scope, groups, merged, outputs)


def _groups(
    query: written.Select, scope: SelectScope, outputs: tuple[Output, ...], merged: Merged
) -> Groups | None:
    """The groups of a block that has GROUP BY, HAVING or an aggregate; else None."""
    aggregating = (
        query.group_by is not None
        or query.having is not None
        or any(True for output in outputs for _ in aggregates(scope, output.expression))
    )
    return group_by(query.group_by, scope, merged) if aggregating else None


def _having(
    scope: SelectScope, expression: Expression | None, merged: Merged, groups: Groups | None
) -> Typed | None:
    if expression is None:
        return None
    expression = unmerged(expression, merged)
    check_calls(scope, expression)
    typed = condition(scope, expression, "HAVING")
    _check_groups(typed, groups)
    return typed


def _qualify(
    scope: SelectScope, expression: Expression, outputs: tuple[Output, ...], groups: Groups | None
) -> Typed:
    """A condition on window functions, which may go by the names of the list."""
    expression = unmerged(expression, {one.name: one.expression for one in outputs if one.alias})
    if not any(True for _ in windowed(expression)):
        raise SchemaError(
            "QUALIFY is a condition on window functions",
            code="missing-over",
            hint="put a condition on columns into WHERE",
            span=expression.span,
        )
    check_calls(scope, expression)
    typed = condition(scope, expression, "QUALIFY")
    _check_groups(typed, groups)
    return typed


def _item(scope: SelectScope, output: Output, groups: Groups | None) -> rel.Item:
    with at(f"column {output.name!r}"):
        typed = _value(scope, output.expression, groups)
        return rel.Item(output.name, typed, output.unnamed)


def _value(scope: SelectScope, expression: Expression, groups: Groups | None) -> Typed:
    """A value of a row, or of a group, where it may only speak about the keys."""
    check_calls(scope, expression)
    typed = value(scope, expression)
    _check_groups(typed, groups)
    if groups is not None and any(part in groups.missing for part in outside_aggregates(typed)):
        return replace(typed, type=nullable(typed.type))
    return typed


def _check_groups(typed: Typed, groups: Groups | None) -> None:
    if groups is not None:
        check_grouped(typed, groups.known, groups.own)


# ------------------------------------------------------------------------------------- columns


def _outputs(
    query: written.Select, scope: SelectScope, rows: Rows | None, merged: Merged
) -> Iterator[Output]:
    """The columns by name, ``*`` spelled out.

    Flink numbers unnamed columns by the different names before them, and makes only the names
    that come out of ``*`` unique within the block.
    """
    taken = TakenNames()
    count = 0
    for item in query.items:
        if isinstance(item.expression, Star):
            for name, expression in _star(item.expression, scope, rows):
                count += 1
                require_width(count, item.span)
                unique = taken.unique(name)
                yield Output(unique, expression, None if _says(expression, unique) else unique)
        else:
            count += 1
            require_width(count, item.span)
            own = item.alias or _own_name(item.expression)
            name = own or f"EXPR${len(taken.names)}"
            taken.add(name)
            expression = unmerged(item.expression, merged)
            says = item.alias is None and (own is None or _says(expression, own))
            yield Output(name, expression, None if says else own, own is None)


def _own_name(expression: Expression) -> str | None:
    """The name of a column that was given none: that of what it reads, if it only reads."""
    match expression:
        case Name(parts=parts):
            return parts[-1]
        case Call(symbol="BARE", word=word):
            return word
        case _:
            return None


def _says(expression: Expression, name: str) -> bool:
    """Whether the expression gives a column of that name where it is printed without an alias."""
    if isinstance(expression, Call) and expression.symbol == "BARE":
        return expression.name == name
    return _own_name(expression) == name


def _star(star: Star, scope: SelectScope, rows: Rows | None) -> Iterator[StarItem]:
    """What ``*`` or ``source.*`` or ``row.*`` stands for."""
    if rows is None:
        raise SchemaError(
            "there is nothing that * could stand for", code="missing-from", span=star.span
        )
    if not star.prefix:
        yield from rows.star
        return
    for origin in rows.origins:
        if origin.answers_to(star.prefix):
            yield from star_of(origin)
            return
    yield from _fields(star, scope)


def _fields(star: Star, scope: SelectScope) -> Iterator[StarItem]:
    """The fields of a row."""
    try:
        typed = value(scope, Name(star.prefix, star.span))
    except SchemaError as error:
        raise SchemaError(
            f"there is no source {'.'.join(star.prefix)!r}",
            code="unknown-source",
            hint=similar(star.prefix[0], [origin.alias for origin in scope.origins]),
            span=star.span,
        ) from error
    if not isinstance(typed.type, RowType):
        raise SchemaError(
            f"{'.'.join(star.prefix)!r} has no fields", code="unknown-source", span=star.span
        )
    for one in typed.type.fields:
        yield StarItem(one.name, Name((*star.prefix, one.name), star.span))
