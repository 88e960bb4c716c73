"""Resolution of FROM clauses and of hints.

`OPTIONS` after the name of a table changes its options for one query. Other hints control how Flink
runs joins and aggregations and cannot change a result: unused ones have no effect, except
`STATE_TTL`, by which rows that a streaming job keeps expire.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from enum import Enum
from functools import reduce
from typing import TYPE_CHECKING, assert_never

from schema_core import types
from schema_core.base.lazy import NamedTuple, dataclass
from schema_core.base.text import Span
from schema_core.errors import SchemaError, similar
from schema_core.errors.hints import READ_CURRENT_VERSION
from schema_core.expressions.scope import NOTHING_INFERRED, Inferred, in_sql
from schema_core.expressions.type_checker import infer
from schema_core.expressions.typed import Ref, Typed
from schema_core.query import relation as relational
from schema_core.query.aggregation import row_condition
from schema_core.query.relation import Column, Columns, Relation, SourceTable, row_columns
from schema_core.query.scope import (
    IN_PATTERN,
    ScopeChain,
    SelectScope,
    SourceBinding,
    condition,
    nullable,
    value,
)
from schema_core.schema.rules import duplicate_names
from schema_core.sql import syntax
from schema_core.sql.printer import show_expression

if TYPE_CHECKING:
    import datetime as dt

#: Maximum length of a chain of joins, each of which is one level of the tree.
MAX_JOINS = 256


class StarItem(NamedTuple):
    """A column of ``*``."""

    name: str
    expression: syntax.Expression


@dataclass(frozen=True, slots=True)
class ResolvedSource:
    """A resolved FROM clause: relation, bindings, columns of ``*``, and merged columns.

    `inferred` are the typed merged columns, which conditions of further joins read.
    """

    relation: Relation
    bindings: tuple[SourceBinding, ...]
    star: tuple[StarItem, ...]
    merged: Mapping[str, syntax.Expression] = field(default_factory=dict)
    inferred: Inferred = field(default_factory=lambda: NOTHING_INFERRED)


def name_relation(
    relation: Relation,
    alias: str,
    columns: Columns,
    path: tuple[str, ...] = (),
    *,
    lateral: bool = False,
) -> ResolvedSource:
    """Return a relation as a source with one binding."""
    binding = SourceBinding(alias, columns, path)
    named = relational.Named(relation, alias, columns, lateral)
    return ResolvedSource(named, (binding,), tuple(star_of(binding)))


def star_of(binding: SourceBinding) -> Iterator[StarItem]:
    """Yield the columns of ``alias.*``."""
    for column in binding.columns:
        yield StarItem(column.name, syntax.Name((binding.alias, column.name)))


def generated_name(preceding: Iterable[SourceBinding]) -> str:
    """Return the alias of a source without one."""
    return f"EXPR${len(tuple(preceding))}"


def from_clause(source: syntax.Source, chain: ScopeChain) -> ResolvedSource:
    """Resolve a FROM clause.

    Raises:
        SchemaError: `duplicate-alias`, `limit-exceeded` for too many joins, or an error in a
            source.
    """
    count, first = 0, source
    while isinstance(first, syntax.Join):
        count, first = count + 1, first.left
    if count > MAX_JOINS:
        raise SchemaError(
            f"{count} consecutive joins exceed the limit of {MAX_JOINS}",
            code="limit-exceeded",
            hint="move some of them into WITH or a view",
            span=first.span,
        )
    rows = resolve_source(source, chain, ())
    if twice := duplicate_names(binding.alias for binding in rows.bindings):
        raise SchemaError(
            f"duplicate alias {twice[0]!r}",
            code="duplicate-alias",
            hint="give one of the sources another alias with AS",
            span=source.span,
        )
    return rows


def resolve_source(
    source: syntax.Source, chain: ScopeChain, preceding: tuple[SourceBinding, ...]
) -> ResolvedSource:
    """Resolve a source; lateral ones see those on its left, `preceding`."""
    match source:
        case syntax.TableName():
            return table_source(source, chain, preceding)
        case syntax.Derived(query=query, lateral=lateral):
            inner = replace(chain, outer=SelectScope(chain, preceding)) if lateral else chain
            rows = inner.resolve(query)
            return name_relation(rows, generated_name(preceding), rows.columns, lateral=lateral)
        case syntax.Aliased():
            return _resolve_aliased(source, chain, preceding)
        case syntax.Join():
            return join(source, chain, preceding)
        case syntax.Unnest():
            return unnest(source, SelectScope(chain, preceding), preceding)
        case syntax.TableFunction(call=call, hints=hints, lateral=lateral):
            from schema_core.query.table_function_calls import table_function

            check_table_hints(hints, call.name.upper(), "table function")
            scope = SelectScope(chain, preceding)
            relation, lateral = table_function(call, scope, table_argument, lateral=lateral)
            name = generated_name(preceding)
            return name_relation(relation, name, relation.columns, lateral=lateral)
        case syntax.Sample():
            return _sample(source, chain, preceding)
        case syntax.MatchRecognize():
            return match_recognize(source, chain, preceding)
        case syntax.Unpivot():
            from schema_core.query.unpivot import unpivot

            data = resolve_source(source.source, chain, ())
            relation = unpivot(source, data.relation, chain)
            return name_relation(relation, generated_name(preceding), relation.columns)
        case _:
            assert_never(source)


def table_source(
    source: syntax.TableName, chain: ScopeChain, preceding: tuple[SourceBinding, ...]
) -> ResolvedSource:
    """Resolve a table, view or common table by name."""
    parts = source.name.parts
    common = chain.common.get(parts[0]) if len(parts) == 1 else None
    if common is not None:
        check_table_hints(source.hints, parts[0], "common table")
        own = SourceBinding(parts[0], common.columns)
        rows = _as_of(common, source.period, SelectScope(chain, (*preceding, own)))
        return name_relation(rows, parts[0], common.columns)
    time = _fixed_time(source.period, chain)
    timestamp: int | None = None
    if time is None:
        table = chain.context.tables.table(parts, source.name.span)
    else:
        table, timestamp = _table_at(chain.context.tables, source.name, time)
    check_table_hints(source.hints, ".".join(parts), table.kind)
    columns = tuple(
        Column(column.name, _type_in_query(column.data_type)) for column in table.schema.columns
    )
    own = SourceBinding(parts[-1], columns)
    scan = relational.Scan(table, columns, source.hints, timestamp)
    period = source.period if time is None else None
    rows = _as_of(scan, period, SelectScope(chain, (*preceding, own)))
    return name_relation(rows, parts[-1], columns, tuple(table.identifier.to_list()))


def _fixed_time(period: syntax.Expression | None, chain: ScopeChain) -> dt.datetime | None:
    """Return the constant at which the version of a table is read; None for a column."""
    if period is None or isinstance(period, syntax.Name):
        return None
    from schema_core.query.system_time import constant_time

    return constant_time(value(SelectScope(chain), period), period.span)


def _table_at(
    tables: relational.Tables, name: syntax.Name, time: dt.datetime
) -> tuple[SourceTable, int]:
    if not isinstance(tables, relational.VersionedTables):
        raise SchemaError(
            "tables have no versions here",
            code="time-travel-not-supported",
            hint=READ_CURRENT_VERSION,
            span=name.span,
        )
    return tables.table_at(name.parts, time, name.span)


def _as_of(rows: Relation, period: syntax.Expression | None, scope: SelectScope) -> Relation:
    """Return a source as of the period that follows its name, if any."""
    if period is None:
        return rows
    return relational.Snapshot(rows, _system_time(period, scope), rows.columns)


def _type_in_query(type_: types.DataType) -> types.DataType:
    """Return the type of a table's column in a query, where time attributes have milliseconds."""
    readable = in_sql(type_)
    if isinstance(readable, types.TimestampType | types.LocalZonedTimestampType) and (
        readable.kind is types.TimestampKind.ROWTIME
    ):
        return type(readable)(3, readable.is_nullable, kind=readable.kind)
    return readable


def _system_time(period: syntax.Expression, scope: SelectScope) -> Typed:
    problem = "a common table has no versions"
    if isinstance(period, syntax.Name):
        typed = value(scope, period)
        if isinstance(typed.type, types.TimestampType | types.LocalZonedTimestampType):
            return typed
        problem = f"expected a TIMESTAMP or TIMESTAMP_LTZ, got {typed.type.as_summary_string()}"
    raise SchemaError(
        problem,
        code="time-travel-not-supported",
        hint="use a time attribute of the other side of a join",
        span=period.span,
    )


def table_argument(
    argument: syntax.Expression, chain: ScopeChain
) -> tuple[Relation, tuple[syntax.Expression, ...]]:
    """Return the table argument of a function, and its partition keys (`invalid-function-call`)."""
    match argument:
        case syntax.Subquery(query=syntax.TableArgument(query=inner, partition_by=keys)):
            return table_argument(syntax.Subquery(inner, argument.span), chain)[0], keys
        case syntax.Subquery(query=syntax.ExplicitTable(name=name)):
            relation = table_source(syntax.TableName(name, span=name.span), chain, ()).relation
            # only a FROM clause needs the alias
            return relation.input if isinstance(relation, relational.Named) else relation, ()
        case syntax.Subquery(query=query):
            return chain.resolve(query), ()
        case _:
            raise SchemaError(
                f"expected a table, found {show_expression(argument)}",
                code="invalid-function-call",
                hint="write TABLE name or a query in parentheses",
                span=argument.span,
            )


def _resolve_aliased(
    source: syntax.Aliased, chain: ScopeChain, preceding: tuple[SourceBinding, ...]
) -> ResolvedSource:
    if isinstance(source.source, syntax.Unpivot) and source.columns:
        raise SchemaError(
            "an alias of UNPIVOT has no list of columns",
            code="invalid-function-call",
            hint="name the columns in UNPIVOT",
            span=source.span,
        )
    rows = resolve_source(source.source, chain, preceding)
    if isinstance(rows.relation, relational.Named):
        inner = rows.relation
        columns = rename_columns(inner.columns, source.columns, source.span)
        if not source.columns:
            match inner.input:  # the only column, if it is unnamed, has the name of the source
                case (
                    relational.Unnest(ordinality=False, columns=(Column(name="EXPR$0"),))
                    | relational.Unnest(ordinality=True, columns=(Column(name="EXPR$0"), _))
                    | relational.Values(columns=(_,))
                ):
                    columns = (Column(source.name, columns[0].type), *columns[1:])
        path = rows.bindings[0].path if source.name == inner.alias else ()
        return name_relation(inner.input, source.name, columns, path, lateral=inner.lateral)
    columns = rename_columns(rows.relation.columns, source.columns, source.span)
    return name_relation(rows.relation, source.name, columns)


def rename_columns(columns: Columns, names: tuple[str, ...], span: Span) -> Columns:
    """Return the columns under new names, if there are any.

    Raises:
        SchemaError: `column-count-mismatch` or `duplicate-column`.
    """
    if not names:
        return columns
    if len(names) != len(columns):
        raise SchemaError(
            f"alias list has {len(names)} names for {len(columns)} columns",
            code="column-count-mismatch",
            span=span,
        )
    if twice := duplicate_names(names):
        raise SchemaError(f"duplicate name {twice[0]!r}", code="duplicate-column", span=span)
    return tuple(map(Column, names, (column.type for column in columns)))


def _sample(
    source: syntax.Sample, chain: ScopeChain, preceding: tuple[SourceBinding, ...]
) -> ResolvedSource:
    rows = resolve_source(source.source, chain, preceding)
    percentage = value(SelectScope(chain), source.percentage)
    named = rows.relation if isinstance(rows.relation, relational.Named) else None
    inner = named.input if named else rows.relation
    sample = relational.Sample(inner, source.method, percentage, inner.columns)
    return replace(rows, relation=replace(named, input=sample) if named else sample)


# --- joins ----------------------------------------------------------------------------------------


#: Kind -> whether rows of the left and of the right side may be missing.
MAY_MISS = {
    syntax.JoinKind.COMMA: (False, False),
    syntax.JoinKind.CROSS: (False, False),
    syntax.JoinKind.INNER: (False, False),
    syntax.JoinKind.LEFT: (False, True),
    syntax.JoinKind.RIGHT: (True, False),
    syntax.JoinKind.FULL: (True, True),
}

#: Kinds that require a condition.
CONDITIONAL = MAY_MISS.keys() - {syntax.JoinKind.COMMA, syntax.JoinKind.CROSS}


def join(
    source: syntax.Join, chain: ScopeChain, preceding: tuple[SourceBinding, ...]
) -> ResolvedSource:
    """Resolve a join.

    Lateral sources do not see columns of a side that may be missing. As in Flink, a column that
    NATURAL merged belongs to ``*`` only; its bare name is ambiguous.

    Raises:
        SchemaError: `invalid-join`, an error of USING or in a source.
    """
    left = resolve_source(source.left, chain, preceding)
    _check_form(source)
    left_misses, right_misses = MAY_MISS[source.kind]
    seen = preceding if left_misses else (*preceding, *left.bindings)
    right = resolve_source(source.right, chain, seen)
    right = _rename_apart(source, right, (*preceding, *left.bindings))
    merged = _merge_columns(source, left, right)
    inferred = {
        **({} if left_misses else left.inferred),
        **({} if right_misses else right.inferred),
    }
    scope = SelectScope(chain, (*left.bindings, *right.bindings), inferred=inferred)
    typed = None
    if source.condition is not None:
        typed = row_condition(scope, source.condition, "ON")
    elif merged:
        equations = [syntax.Call("=", pair, span=source.span) for pair in merged.values()]
        conjunction = reduce(
            lambda left, right: syntax.Call("AND", (left, right), span=source.span), equations
        )
        typed = condition(scope, conjunction, "ON")
    bindings = (*_side(left, misses=left_misses), *_side(right, misses=right_misses))
    columns = tuple(column for binding in bindings for column in binding.columns)
    relational.require_width(len(columns), source.span)
    relation = relational.Join(left.relation, right.relation, source.kind, typed, columns)
    together = {name: syntax.Call("COALESCE", pair) for name, pair in merged.items()}
    by_name = {**left.merged, **right.merged, **({} if source.natural else together)}
    scope = SelectScope(chain, bindings, inferred=inferred)
    for call in together.values():
        with suppress(SchemaError):  # reported when the column is read
            inferred[id(call)] = call, infer(scope, call)
    star = (
        *(StarItem(name, call) for name, call in together.items()),
        *(item for item in (*left.star, *right.star) if item.name not in together),
    )
    return ResolvedSource(relation, bindings, star, by_name, inferred)


def _rename_apart(
    source: syntax.Join, right: ResolvedSource, preceding: tuple[SourceBinding, ...]
) -> ResolvedSource:
    """Return the right side under a generated alias that no source before it has.

    RIGHT and FULL joins resolve it without those.
    """
    relation = right.relation
    if (
        isinstance(source.right, syntax.Aliased | syntax.TableName)
        or not isinstance(relation, relational.Named)
        or all(relation.alias != binding.alias for binding in preceding)
    ):
        return right
    name = generated_name(preceding)
    return name_relation(relation.input, name, relation.columns, lateral=relation.lateral)


def _check_form(source: syntax.Join) -> None:
    has_condition = source.natural or bool(source.using) or source.condition is not None
    problem = None
    if source.kind in CONDITIONAL and not has_condition:
        problem = f"{source.kind.value} requires a condition"
    elif source.kind not in CONDITIONAL and has_condition:
        problem = f"{source.kind.value} does not accept a condition"
    elif source.natural and (source.using or source.condition is not None):
        problem = "NATURAL cannot be combined with ON or USING"
    if problem:
        hint = "write ON condition, USING (columns) or NATURAL"
        raise SchemaError(problem, code="invalid-join", hint=hint, span=source.span)


def _side(rows: ResolvedSource, *, misses: bool) -> tuple[SourceBinding, ...]:
    if not misses:
        return rows.bindings
    return tuple(
        replace(
            binding, columns=tuple(Column(name, nullable(type_)) for name, type_ in binding.columns)
        )
        for binding in rows.bindings
    )


def _merge_columns(
    source: syntax.Join, left: ResolvedSource, right: ResolvedSource
) -> dict[str, tuple[syntax.Expression, syntax.Expression]]:
    """Return the left and right expression of each column that USING or NATURAL merges."""
    if source.natural:
        theirs = {item.name for item in right.star}
        names = [(item.name, source.span) for item in left.star if item.name in theirs]
    else:
        names = [(name.parts[0], name.span) for name in source.using]
    on_left, on_right = _column_finder(left), _column_finder(right)
    return {name: (on_left(name, span), on_right(name, span)) for name, span in names}


def _column_finder(rows: ResolvedSource) -> Callable[[str, Span], syntax.Expression]:
    """Return a function from names to the only such column of a side."""
    by_name: dict[str, list[syntax.Expression]] = {}
    for column in rows.star:
        by_name.setdefault(column.name, []).append(column.expression)

    def find(name: str, span: Span) -> syntax.Expression:
        columns = by_name.get(name, [])
        if not columns:
            raise SchemaError(
                f"column {name!r} is missing on one side of the join",
                code="unknown-column",
                hint=similar(name, by_name),
                span=span,
            )
        if len(columns) > 1:
            raise SchemaError(f"column {name!r} is ambiguous", code="ambiguous-column", span=span)
        return columns[0]

    return find


# --- UNNEST ---------------------------------------------------------------------------------------


def unnest(
    source: syntax.Unnest, scope: SelectScope, preceding: tuple[SourceBinding, ...]
) -> ResolvedSource:
    """Resolve UNNEST in the scope of the preceding sources.

    Raises:
        SchemaError: `type-mismatch`, or `invalid-function-call` for several collections.
    """
    if len(source.collections) != 1:
        raise SchemaError(
            "UNNEST requires exactly one collection", code="invalid-function-call", span=source.span
        )
    collection = value(scope, source.collections[0])
    columns = element_columns(collection.type)
    if columns is None:
        raise SchemaError(
            f"UNNEST requires a collection, got {collection.type.as_summary_string()}",
            code="type-mismatch",
            span=source.collections[0].span,
        )
    if source.ordinality:
        columns = (*columns, Column("ORDINALITY", types.IntType(nullable=False)))
    relation = relational.Unnest(collection, source.ordinality, columns)
    return name_relation(relation, generated_name(preceding), columns, lateral=True)


def element_columns(type_: types.DataType) -> Columns | None:
    """Return the columns of a collection's elements, or None for another type.

    >>> from schema_core.types import parse_type
    >>> element_columns(parse_type("MAP<INT NOT NULL, DATE>"))
    (Column(name='KEY', type=IntType(nullable=False)), Column(name='VALUE', type=DateType()))
    """
    match type_:
        case types.ArrayType(element_type=element) | types.MultisetType(element_type=element):
            return row_columns(element)
        case types.MapType(key_type=key, value_type=value_type):
            return (Column("KEY", key), Column("VALUE", value_type))
        case _:
            return None


# --- MATCH_RECOGNIZE ------------------------------------------------------------------------------


def match_recognize(
    source: syntax.MatchRecognize, chain: ScopeChain, preceding: tuple[SourceBinding, ...]
) -> ResolvedSource:
    """Resolve MATCH_RECOGNIZE: its columns are the partition keys, then the measures."""
    inner = resolve_source(source.source, chain, preceding)
    every = tuple(column for binding in inner.bindings for column in binding.columns)
    pattern = () if source.pattern is None else syntax.walk(source.pattern)
    variables = {
        *(node.parts[0] for node in pattern if isinstance(node, syntax.Name)),
        *(name for name, _ in source.subsets),
        *(define.name for define in source.defines),
    }
    if any(binding.alias in variables for binding in inner.bindings):
        inner = name_relation(inner.relation, generated_name(preceding), every)
    own = (SourceBinding(variable, every, hidden=True) for variable in sorted(variables))
    scope = SelectScope(chain, (*inner.bindings, *own), group_count=0, query_functions=IN_PATTERN)
    if twice := duplicate_names(define.name for define in source.defines):
        raise SchemaError(
            f"the pattern variable {twice[0]!r} is defined twice",
            code="duplicate-alias",
            hint="combine the conditions with AND",
            span=source.span,
        )
    defines = tuple(
        relational.Item(define.name, condition(scope, define.expression, "DEFINE"))
        for define in source.defines
    )
    rows = SelectScope(chain, inner.bindings)
    keys = tuple(value(rows, key) for key in source.partition_by)
    order = tuple(
        relational.Key(value(rows, key.expression), key.descending, key.nulls_last)
        for key in source.order_by
    )
    measures = tuple(_resolve_measure(measure, scope) for measure in source.measures)
    columns = _key_columns(keys)
    if source.rows_per_match is not None and source.rows_per_match.startswith("ALL"):
        first = dict.fromkeys(_key_columns((*keys, *(key.expression for key in order))))
        columns = (*first, *(column for column in every if column not in first))
    columns = (
        *columns,
        *(Column(item.name, _type_of(item.expression.type)) for item in measures),
    )
    within = None if source.within is None else value(rows, source.within)
    relation = relational.Match(
        inner.relation, source, keys, order, measures, defines, within, columns
    )
    return name_relation(relation, generated_name(preceding), columns)


def _key_columns(keys: Sequence[Typed]) -> Columns:
    return tuple(Column(key.name, key.type) for key in keys if isinstance(key, Ref))


def _type_of(type_: types.DataType) -> types.DataType:
    """Return the type of a measure: a row is nullable if one of its fields is."""
    return type_.nullable() if _contains_nullable(type_) else type_


def _contains_nullable(type_: types.DataType) -> bool:
    return type_.is_nullable or (
        isinstance(type_, types.RowType)
        and any(_contains_nullable(field.data_type) for field in type_.fields)
    )


def _resolve_measure(measure: syntax.Measure, scope: SelectScope) -> relational.Item:
    """Type a measure, which cannot navigate to neighbouring rows (`invalid-function-call`)."""
    for call in syntax.walk(measure.expression):
        if isinstance(call, syntax.Call) and call.name in ("PREV", "NEXT"):
            problem = f"{call.name} is valid only in DEFINE"
            raise SchemaError(problem, code="invalid-function-call", span=call.span)
    return relational.Item(measure.name, value(scope, measure.expression))


# --- hints ----------------------------------------------------------------------------------------


OPTIONS, STATE_TTL = "OPTIONS", "STATE_TTL"


class HintArguments(Enum):
    """The arguments of a hint."""

    PAIRS = "pairs of a key and a value: 'key' = 'value'"
    NAMES = "names of tables or views"
    ANYTHING = "anything, or nothing"


#: The hints that Flink registers, and their arguments. Names ignore case.
HINTS: dict[str, HintArguments] = {
    OPTIONS:                  HintArguments.PAIRS,
    "LOOKUP":                 HintArguments.PAIRS,
    STATE_TTL:                HintArguments.PAIRS,
    "BROADCAST":              HintArguments.NAMES,
    "SHUFFLE_HASH":           HintArguments.NAMES,
    "SHUFFLE_MERGE":          HintArguments.NAMES,
    "NEST_LOOP":              HintArguments.NAMES,
    "MULTI_JOIN":             HintArguments.NAMES,
    "JSON_AGGREGATE_WRAPPED": HintArguments.ANYTHING,
    "ALIAS":                  HintArguments.ANYTHING,
}  # fmt: skip

#: Kinds of objects whose options a hint can change.
WITH_OPTIONS = frozenset({"TABLE", "MATERIALIZED_TABLE"})


def check_hints(hints: Iterable[syntax.Hint]) -> None:
    """Require known hints with valid arguments (`invalid-hint`)."""
    for hint in hints:
        arguments = HINTS.get(hint.name.upper())
        if arguments is None:
            raise SchemaError(
                f"unknown hint {hint.name!r}",
                code="invalid-hint",
                hint=similar(hint.name.upper(), HINTS),
                span=hint.span,
            )
        fits = {
            HintArguments.PAIRS: bool(hint.options) and not hint.arguments,
            HintArguments.NAMES: bool(hint.arguments) and not hint.options,
            HintArguments.ANYTHING: True,
        }
        if not fits[arguments]:
            raise _invalid(hint, f"hint {hint.name!r} requires {arguments.value}")
        if hint.name.upper() == "LOOKUP":
            from schema_core.query.lookup_hints import find_lookup_problem

            if (problem := find_lookup_problem(dict(hint.options))) is not None:
                raise _invalid(hint, problem)


def check_table_hints(hints: Sequence[syntax.Hint], name: str, kind: str) -> None:
    """Validate the hints of an object; `kind` is its kind.

    Raises:
        SchemaError: as `check_hints`; `invalid-hint` for `OPTIONS` on an object without options,
            and for a second `OPTIONS`, which Flink ignores.
    """
    check_hints(hints)
    of_options = [hint for hint in hints if hint.name.upper() == OPTIONS]
    if of_options and kind not in WITH_OPTIONS:
        problem = f"{kind.lower()} {name!r} has no options that a hint can change"
        raise _invalid(of_options[0], problem, hint="add the hint to the tables that it reads")
    if len(of_options) > 1:
        problem = "duplicate OPTIONS hint"
        raise _invalid(of_options[1], problem, hint="write one OPTIONS with all keys")


def check_named_sources(hints: Iterable[syntax.Hint], aliases: Collection[str]) -> None:
    """Require that the hints of a join name its sources (`invalid-hint`)."""
    for hint in hints:
        for name in hinted_sources(hint):
            if name not in aliases:
                raise _invalid(
                    hint,
                    f"hint {hint.name!r} names {name!r}, which is not a source of this SELECT",
                    hint=similar(name, aliases),
                )


def hinted_sources(hint: syntax.Hint) -> list[str]:
    """Return the names of sources in a hint of a SELECT."""
    key = hint.name.upper()
    if key == "LOOKUP":
        return [value for key, value in hint.options if key == "table"]
    if key == STATE_TTL:
        return [key for key, _ in hint.options]
    if HINTS.get(key) is not HintArguments.NAMES:
        return []
    return [
        argument.parts[0] if isinstance(argument, syntax.Name) else argument.text
        for argument in hint.arguments
    ]


def _invalid(hint_: syntax.Hint, problem: str, *, hint: str | None = None) -> SchemaError:
    return SchemaError(problem, code="invalid-hint", hint=hint, span=hint_.span)
