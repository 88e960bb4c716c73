"""What stands behind FROM, resolved: the relation, and what names mean over it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple, assert_never

from schema_core.errors import SchemaError
from schema_core.expressions.scope import NOTHING_INFERRED, Inferred, in_sql
from schema_core.expressions.typed import Typed
from schema_core.query import relation as rel
from schema_core.query.hints import check_table_hints
from schema_core.query.relation import Column, Columns, Relation
from schema_core.query.scope import Place, SelectScope, SourceBinding
from schema_core.query.typing import value
from schema_core.sql import query_syntax as written
from schema_core.sql.syntax import Expression, Name
from schema_core.text import Span
from schema_core.types import DataType
from schema_core.types.temporal import LocalZonedTimestampType, TimestampKind, TimestampType


class StarItem(NamedTuple):
    """One column of ``*``: its name and what it reads."""

    name: str
    expression: Expression


@dataclass(frozen=True, slots=True)
class Rows:
    """A FROM clause: its relation, its sources, what ``*`` stands for, what USING merged.

    `inferred` are the merged columns typed: joins after this one read them in their conditions.
    """

    relation: Relation
    origins: tuple[SourceBinding, ...]
    star: tuple[StarItem, ...]
    merged: Mapping[str, Expression] = field(default_factory=dict)
    inferred: Inferred = field(default_factory=lambda: NOTHING_INFERRED)


#: Sources that are joined in a row; each is one level of the tree.
MAX_JOINS = 256


def from_clause(source: written.Source, place: Place) -> Rows:
    """All that stands behind FROM.

    Raises:
        SchemaError: with code `duplicate-alias` where two sources answer to one name, `too-deep`
            for a longer chain of joins, or whatever the sources refuse.
    """
    _require_few(source)
    rows = resolve_source(source, place, ())
    seen: set[str] = set()
    for origin in rows.origins:
        if origin.alias in seen:
            raise SchemaError(
                f"two sources are called {origin.alias!r}",
                code="duplicate-alias",
                hint="give one of them another name with AS",
                span=source.span,
            )
        seen.add(origin.alias)
    return rows


def _require_few(source: written.Source) -> None:
    """Refuse a chain of joins that would exhaust the stack."""
    count, last = 0, source
    while isinstance(last, written.Join):
        count, last = count + 1, last.left
    if count > MAX_JOINS:
        raise SchemaError(
            f"{count} joins in a row are more than {MAX_JOINS}",
            code="too-deep",
            hint="name a part of them with WITH, or in a view",
            span=last.span,
        )


def resolve_source(source: written.Source, place: Place, before: tuple[SourceBinding, ...]) -> Rows:
    """One source; `before` are those on its left, which lateral ones see."""
    from schema_core.query.joins import join
    from schema_core.query.match import match_recognize
    from schema_core.query.table_functions import table_function
    from schema_core.query.unnest import unnest

    match source:
        case written.TableName():
            return _table(source, place, before)
        case written.Derived():
            return _derived(source, place, before)
        case written.Aliased():
            return _aliased(source, place, before)
        case written.Join():
            return join(source, place, before)
        case written.Unnest():
            return unnest(source, beside(place, before), before)
        case written.TableFunction():
            return table_function(source, beside(place, before), before)
        case written.Sample():
            return _sample(source, place, before)
        case written.MatchRecognize():
            return match_recognize(source, place, before)
        case _:
            assert_never(source)


def beside(place: Place, before: tuple[SourceBinding, ...]) -> SelectScope:
    """The scope of a source that sees those on its left."""
    return SelectScope(place, before)


def named(
    relation: Relation,
    alias: str,
    columns: Columns,
    path: tuple[str, ...] = (),
    *,
    lateral: bool = False,
) -> Rows:
    """A relation as a source of its own."""
    origin = SourceBinding(alias, columns, path)
    return Rows(rel.Named(relation, alias, columns, lateral), (origin,), tuple(star_of(origin)))


def star_of(origin: SourceBinding) -> Iterator[StarItem]:
    """What ``alias.*`` stands for."""
    for column in origin.columns:
        yield StarItem(column.name, Name((origin.alias, column.name)))


def made_up(before: Iterable[SourceBinding]) -> str:
    """The alias of a source that was given none."""
    return f"EXPR${len(tuple(before))}"


# ------------------------------------------------------------------------------ kinds of source


def _table(source: written.TableName, place: Place, before: tuple[SourceBinding, ...]) -> Rows:
    parts = source.name.parts
    common = place.common.get(parts[0]) if len(parts) == 1 else None
    if common is not None:
        check_table_hints(source.hints, parts[0], "common table")
        return named(common, parts[0], common.columns)
    table = place.world.tables.table(parts, source.name.span)
    check_table_hints(source.hints, ".".join(parts), table.kind)
    columns = tuple(Column(one.name, _readable(one.data_type)) for one in table.schema.columns)
    period = None
    if source.period is not None:
        own = SourceBinding(parts[-1], columns, hidden=any(before))
        period = _moment(source.period, beside(place, (*before, own)))
    scan = rel.Scan(table, columns, source.hints, period)
    return named(scan, parts[-1], columns, tuple(table.identifier.to_list()))


def _readable(type_: DataType) -> DataType:
    """The type of a table's column in a query: a time attribute counts milliseconds there."""
    readable = in_sql(type_)
    match readable:
        case (
            TimestampType(kind=TimestampKind.ROWTIME)
            | LocalZonedTimestampType(kind=TimestampKind.ROWTIME)
        ):
            return type(readable)(3, readable.is_nullable, kind=readable.kind)
        case _:
            return readable


def _moment(period: Expression, scope: SelectScope) -> Typed:
    """The column that says as of when a row of the other side is looked up."""
    hint = "FOR SYSTEM_TIME AS OF takes a time attribute of the other side of a join"
    if not isinstance(period, Name):
        problem = "a table cannot be read as of a fixed moment"
        raise SchemaError(problem, code="time-travel-not-supported", hint=hint, span=period.span)
    typed = value(scope, period)
    if not isinstance(typed.type, TimestampType | LocalZonedTimestampType):
        problem = f"expected a moment, got {typed.type.as_summary_string()}"
        raise SchemaError(problem, code="time-travel-not-supported", hint=hint, span=period.span)
    return typed


def _derived(source: written.Derived, place: Place, before: tuple[SourceBinding, ...]) -> Rows:
    from schema_core.query.resolve import resolve

    inner = replace(place, outer=beside(place, before)) if source.lateral else place
    relation = resolve(source.query, inner)
    return named(relation, made_up(before), relation.columns, lateral=source.lateral)


def _aliased(source: written.Aliased, place: Place, before: tuple[SourceBinding, ...]) -> Rows:
    rows = resolve_source(source.source, place, before)
    if isinstance(rows.relation, rel.Named):
        inner = rows.relation
        columns = renamed(inner.columns, source.columns, source.span)
        if not source.columns and _is_single(inner.input):
            columns = (Column(source.name, columns[0].type), *columns[1:])
        path = rows.origins[0].path if source.name == inner.alias else ()
        return named(inner.input, source.name, columns, path, lateral=inner.lateral)
    columns = renamed(rows.relation.columns, source.columns, source.span)
    return named(rows.relation, source.name, columns)


def _is_single(relation: Relation) -> bool:
    """Whether the one column has no name of its own, so that it goes by the alias of the source."""
    match relation:
        case rel.Unnest(columns=columns, ordinality=ordinality):
            return len(columns) - ordinality == 1 and columns[0].name == "EXPR$0"
        case rel.Values(columns=columns):
            return len(columns) == 1
        case _:
            return False


def renamed(columns: Columns, names: tuple[str, ...], span: Span) -> Columns:
    """The columns under other names, if there are any.

    Raises:
        SchemaError: with code `alias-count-mismatch` for another number of names,
            `duplicate-column` for one that comes twice.
    """
    if not names:
        return columns
    if len(names) != len(columns):
        raise SchemaError(
            f"{len(names)} names for {len(columns)} columns", code="alias-count-mismatch", span=span
        )
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise SchemaError(f"{name!r} is listed twice", code="duplicate-column", span=span)
        seen.add(name)
    return tuple(map(Column, names, (column.type for column in columns)))


def _sample(source: written.Sample, place: Place, before: tuple[SourceBinding, ...]) -> Rows:
    rows = resolve_source(source.source, place, before)
    percentage = value(SelectScope(place), source.percentage)
    match rows.relation:
        case rel.Named(input=inner) as outer:
            sample = rel.Sample(inner, source.method, percentage, inner.columns)
            return replace(rows, relation=replace(outer, input=sample))
        case other:
            return replace(
                rows, relation=rel.Sample(other, source.method, percentage, other.columns)
            )
