"""Grammar of queries, FROM clauses, hints and MATCH_RECOGNIZE.

It is Flink 2.3's (Flink documentation, "Queries").
"""

from __future__ import annotations

from schema_core.base.keywords import QUERYING
from schema_core.base.text import Span
from schema_core.sql import syntax
from schema_core.sql.expression import (
    OPERATORS,
    QueryCursor,
    continues_query,
    explicit_table,
    expression,
    expressions,
    parse_call,
    path_name,
    row_of_values,
    simple_name,
    sort_keys,
    window,
)
from schema_core.sql.literals import string_in_one_piece
from schema_core.sql.tokens import can_name, identifier, parse_separated, refuse

GROUPING_WORDS = {"GROUPING": "GROUPING SETS", "ROLLUP": "ROLLUP", "CUBE": "CUBE"}


def query(cursor: QueryCursor, first: syntax.Subquery | None = None) -> syntax.Query:
    """Parse a query, up to the first token that does not belong to it.

    With a `first` operand, only what follows it is parsed.
    """
    if first is not None:
        return _rest_of_query(cursor, first.span.start, first.query)
    with cursor.nested():
        start = cursor.token.start
        if not cursor.accept("WITH"):
            return _rest_of_query(cursor, start, _leaf(cursor))
        recursive = cursor.accept("RECURSIVE")
        tables = parse_separated(cursor, _common_table)
        inner = cursor.token.start
        body = _set_operations(cursor, inner, _leaf(cursor), 1)
        clause = syntax.With(tables, body, recursive, cursor.span_from(start))
        return _order_by(cursor, start, clause)


def _rest_of_query(cursor: QueryCursor, start: int, first: syntax.Query) -> syntax.Query:
    return _order_by(cursor, start, _set_operations(cursor, start, first, 1))


def _names(cursor: QueryCursor) -> tuple[str, ...]:
    if not cursor.accept("("):
        return ()
    names = parse_separated(cursor, identifier)
    cursor.expect(")")
    return names


def alias(cursor: QueryCursor) -> str | None:
    """Parse ``[AS] name`` if present."""
    return identifier(cursor) if cursor.accept("AS") or can_name(cursor.token) else None


# ------------------------------------------------------------------------------ the whole query


def _common_table(cursor: QueryCursor) -> syntax.CommonTable:
    start = cursor.token.start
    name = identifier(cursor)
    columns = _names(cursor)
    cursor.expect("AS", "(")
    inner = query(cursor)
    cursor.expect(")")
    return syntax.CommonTable(name, columns, inner, cursor.span_from(start))


def _set_operations(
    cursor: QueryCursor, start: int, left: syntax.Query, least: int
) -> syntax.Query:
    """Parse left-associative set operators of at least this precedence."""
    while OPERATORS.get(cursor.key, 0) >= least:
        operator = cursor.advance().key
        every = cursor.accept("ALL")
        if not every:
            cursor.accept("DISTINCT")
        inner = cursor.token.start
        right = _set_operations(cursor, inner, _leaf(cursor), OPERATORS[operator] + 1)
        left = syntax.SetOperation(operator, every, left, right, cursor.span_from(start))
    return left


def _leaf(cursor: QueryCursor) -> syntax.Query:
    match cursor.key:
        case "SELECT":
            return _select(cursor)
        case "VALUES" | "VALUE":
            start = cursor.advance().start
            rows = parse_separated(cursor, row_of_values)
            return syntax.Values(rows, cursor.span_from(start))
        case "TABLE":
            return explicit_table(cursor)
        case "(":
            cursor.advance()
            inner = query(cursor)
            cursor.expect(")")
            return inner
        case _:
            raise refuse(cursor, "a query")


def _order_by(cursor: QueryCursor, start: int, inner: syntax.Query) -> syntax.Query:
    order_by = sort_keys(cursor) if cursor.accept("ORDER", "BY") else ()
    offset = fetch = None
    is_limited = cursor.accept("LIMIT")
    if is_limited and not cursor.accept("ALL"):
        fetch = _row_count(cursor)
    if cursor.accept("OFFSET"):
        offset = _row_count(cursor)
        if not cursor.accept("ROW"):
            cursor.accept("ROWS")
    if not is_limited and cursor.accept("FETCH"):
        if not cursor.accept("FIRST"):
            cursor.expect("NEXT")
        fetch = _row_count(cursor)
        if not cursor.accept("ROW"):
            cursor.expect("ROWS")
        cursor.expect("ONLY")
    if not order_by and offset is None and fetch is None:
        return inner
    return syntax.Ordered(inner, order_by, offset, fetch, cursor.span_from(start))


def _row_count(cursor: QueryCursor) -> syntax.Expression:
    token = cursor.token
    if token.kind not in ("integer", "decimal"):
        raise refuse(cursor, "a number of rows")
    cursor.advance()
    return syntax.Literal(syntax.LiteralKind.EXACT, token.value, span=token.span)


def _row(value: syntax.Expression) -> tuple[syntax.Expression, ...]:
    match value:
        case syntax.Call(name="ROW", arguments=values):
            return values
        case _:
            return (value,)


# ------------------------------------------------------------------------------- a SELECT block


def _select(cursor: QueryCursor) -> syntax.Select:
    start = cursor.expect("SELECT").start
    own_hints = hints(cursor)
    distinct = cursor.accept("DISTINCT")
    if not distinct:
        cursor.accept("ALL")
    items = parse_separated(cursor, _select_item)
    if not cursor.accept("FROM"):
        return syntax.Select(items, None, distinct, hints=own_hints, span=cursor.span_from(start))
    return syntax.Select(
        items=items,
        source=source(cursor),
        distinct=distinct,
        where=expression(cursor) if cursor.accept("WHERE") else None,
        group_by=_group_by(cursor) if cursor.accept("GROUP", "BY") else None,
        having=expression(cursor) if cursor.accept("HAVING") else None,
        windows=parse_separated(cursor, _window) if cursor.accept("WINDOW") else (),
        qualify=expression(cursor) if cursor.accept("QUALIFY") else None,
        hints=own_hints,
        span=cursor.span_from(start),
    )


def _select_item(cursor: QueryCursor) -> syntax.SelectItem:
    """Parse ``*``, ``t.*``, or an expression with its alias."""
    start, ahead, prefix = cursor.token.start, 0, []
    while cursor.peek(ahead).key != "*":
        if not can_name(cursor.peek(ahead)) or cursor.peek(ahead + 1).key != ".":
            value = expression(cursor)
            return syntax.SelectItem(value, alias(cursor), cursor.span_from(start))
        prefix.append(cursor.peek(ahead).value)
        ahead += 2
    cursor.index += ahead + 1
    span = cursor.span_from(start)
    return syntax.SelectItem(syntax.Star(tuple(prefix), span), None, span)


def _group_by(cursor: QueryCursor) -> tuple[syntax.GroupItem, ...]:
    if not cursor.accept("DISTINCT"):
        cursor.accept("ALL")
    return parse_separated(cursor, _group_item)


def _group_item(cursor: QueryCursor) -> syntax.GroupItem:
    start = cursor.token.start
    if cursor.accept("(", ")"):
        return syntax.GroupingSets("()", ((),), cursor.span_from(start))
    kind = GROUPING_WORDS.get(cursor.key)
    if kind is None or cursor.peek().key not in ("SETS", "("):
        return expression(cursor)
    with cursor.nested():
        cursor.expect(*kind.split(), "(")
        sets = tuple(
            (() if item.kind == "()" else item)
            if isinstance(item, syntax.GroupingSets)
            else _row(item)
            for item in parse_separated(cursor, _group_item)
        )
        cursor.expect(")")
    return syntax.GroupingSets(kind, sets, cursor.span_from(start))


def _window(cursor: QueryCursor) -> tuple[str, syntax.Window]:
    name = identifier(cursor)
    cursor.expect("AS")
    return name, window(cursor)


# --- FROM -----------------------------------------------------------------------------------------


JOINS: tuple[tuple[tuple[str, ...], syntax.JoinKind], ...] = (
    (("JOIN",), syntax.JoinKind.INNER),
    (("INNER", "JOIN"), syntax.JoinKind.INNER),
    (("CROSS", "JOIN"), syntax.JoinKind.CROSS),
    *(
        ((side, *outer, "JOIN"), syntax.JoinKind[side])
        for side in ("LEFT", "RIGHT", "FULL")
        for outer in ((), ("OUTER",))
    ),
)


#: What can follow the alias of a source; Flink prints views with UNPIVOT so, but cannot read them.
AFTER_ALIAS = frozenset({"MATCH_RECOGNIZE", "UNPIVOT"})


def source(cursor: QueryCursor) -> syntax.Source:
    """Parse the sources of a FROM clause."""
    start = cursor.token.start
    return _rest_of_sources(cursor, start, _single_source(cursor))


def _rest_of_sources(cursor: QueryCursor, start: int, first: syntax.Source) -> syntax.Source:
    left = _joins(cursor, start, first)
    while cursor.accept(","):
        inner = cursor.token.start
        right = _joins(cursor, inner, _single_source(cursor))
        left = syntax.Join(left, right, syntax.JoinKind.COMMA, span=cursor.span_from(start))
    return left


def _joins(cursor: QueryCursor, start: int, left: syntax.Source) -> syntax.Source:
    while True:
        natural = cursor.accept("NATURAL")
        kind = next((kind for words, kind in JOINS if cursor.accept(*words)), None)
        if kind is None:
            if natural:
                raise refuse(cursor, "JOIN")
            return left
        right = _single_source(cursor)
        condition = expression(cursor) if cursor.accept("ON") else None
        using: tuple[syntax.Name, ...] = ()
        if condition is None and cursor.accept("USING"):
            cursor.expect("(")
            using = parse_separated(cursor, simple_name)
            cursor.expect(")")
        left = syntax.Join(left, right, kind, natural, condition, using, cursor.span_from(start))


# ---------------------------------------------------------------------------------- one source


def _single_source(cursor: QueryCursor) -> syntax.Source:
    start = cursor.token.start
    lateral = cursor.accept("LATERAL")
    relation: syntax.Source
    if cursor.key == "(":
        inner = _query_or_join(cursor)
        if isinstance(inner, syntax.Join):
            return inner
        relation = _as_source(inner, cursor.span_from(start), lateral=lateral)
    elif cursor.accept("UNNEST", "("):
        relation = _unnest(cursor, start, lateral=lateral)
    elif cursor.accept("TABLE", "("):
        relation = _table_function(cursor, start, lateral=lateral)
    elif lateral:
        raise cursor.fail("LATERAL requires a query in parentheses, UNNEST or TABLE(...)")
    else:
        relation = _named_source(cursor, start)
    return _with_suffixes(cursor, start, relation)


def _as_source(
    node: syntax.Query | syntax.Source, span: Span, *, lateral: bool = False
) -> syntax.Source:
    return node if isinstance(node, syntax.Source) else syntax.Derived(node, lateral, span)


def _with_suffixes(cursor: QueryCursor, start: int, relation: syntax.Source) -> syntax.Source:
    if cursor.key == "AS" and cursor.peek(2).key in AFTER_ALIAS:
        cursor.advance()
        relation = syntax.Aliased(relation, identifier(cursor), (), cursor.span_from(start))
    if cursor.accept("MATCH_RECOGNIZE"):
        relation = match_recognize(cursor, start, relation)
    if cursor.key == "PIVOT":
        raise cursor.fail(
            "PIVOT is not supported, neither by Flink",
            hint="write one aggregate for each value: SUM(v) FILTER (WHERE k = 'x')",
        )
    if cursor.accept("UNPIVOT"):
        relation = unpivot(cursor, start, relation)
    if (name := alias(cursor)) is not None:
        relation = syntax.Aliased(relation, name, _names(cursor), cursor.span_from(start))
    if cursor.accept("TABLESAMPLE"):
        if cursor.key not in ("BERNOULLI", "SYSTEM"):
            raise refuse(cursor, "BERNOULLI or SYSTEM after TABLESAMPLE")
        method = cursor.advance().key
        cursor.expect("(")
        percentage = expression(cursor)
        cursor.expect(")")
        seed = None
        if cursor.accept("REPEATABLE", "("):
            seed = expression(cursor)
            cursor.expect(")")
        relation = syntax.Sample(relation, method, percentage, seed, cursor.span_from(start))
    return relation


def _query_or_join(cursor: QueryCursor) -> syntax.Query | syntax.Source:
    """Parse a query or joined sources in parentheses.

    Only what follows inner parentheses distinguishes them.
    """
    with cursor.nested():
        cursor.expect("(")
        first = cursor.token
        start = first.start
        relation: syntax.Query | syntax.Source
        if cursor.key in QUERYING and not (cursor.key == "TABLE" and cursor.peek().key == "("):
            relation = query(cursor)
        elif cursor.key == "(":
            relation = _query_or_join(cursor)
            if not isinstance(relation, syntax.Source) and continues_query(cursor):
                relation = _rest_of_query(cursor, start, relation)
            elif cursor.key != ")":
                inner = _with_suffixes(cursor, start, _as_source(relation, relation.span))
                relation = _rest_of_sources(cursor, start, inner)
        else:
            relation = source(cursor)
        if isinstance(relation, syntax.Source) and not isinstance(relation, syntax.Join):
            problem = f"expected a query or a join in parentheses, found {cursor.show(first)}"
            raise cursor.fail(problem, span=relation.span)
        cursor.expect(")")
        return relation


def _named_source(cursor: QueryCursor, start: int) -> syntax.Source:
    """Parse a table, or a table function without TABLE."""
    name = path_name(cursor)
    if cursor.key == "(":
        call = parse_call(cursor, name.parts, "")
        return syntax.TableFunction(call, span=cursor.span_from(start))
    own_hints = hints(cursor)
    period = expression(cursor) if cursor.accept("FOR", "SYSTEM_TIME", "AS", "OF") else None
    return syntax.TableName(name, own_hints, period, cursor.span_from(start))


def _unnest(cursor: QueryCursor, start: int, *, lateral: bool) -> syntax.Source:
    if cursor.key in QUERYING:
        raise cursor.fail(
            "UNNEST requires collections, got a query", hint="write ARRAY(SELECT ...)"
        )
    collections = expressions(cursor)
    cursor.expect(")")
    ordinality = cursor.accept("WITH", "ORDINALITY")
    return syntax.Unnest(collections, ordinality, lateral, cursor.span_from(start))


def _table_function(cursor: QueryCursor, start: int, *, lateral: bool) -> syntax.Source:
    call = expression(cursor)
    if not isinstance(call, syntax.Call):
        raise cursor.fail("TABLE(...) requires a function call", span=call.span)
    cursor.expect(")")
    own_hints = hints(cursor)
    return syntax.TableFunction(call, lateral, own_hints, span=cursor.span_from(start))


# --------------------------------------------------------------------------------------- hints


def hints(cursor: QueryCursor) -> tuple[syntax.Hint, ...]:
    """Parse ``/*+ name(...), name */`` if present."""
    if not cursor.accept("/*+"):
        return ()
    parsed = parse_separated(cursor, _hint)
    cursor.expect("*/")
    return parsed


def _hint(cursor: QueryCursor) -> syntax.Hint:
    start = cursor.token.start
    name = identifier(cursor)
    options: list[tuple[str, str]] = []
    arguments: list[syntax.Name | syntax.Literal] = []
    if cursor.accept("(") and not cursor.accept(")"):
        while True:
            token = cursor.token
            if cursor.peek().key == "=":
                key = identifier(cursor) if can_name(token) else string_in_one_piece(cursor)
                cursor.expect("=")
                options.append((key, string_in_one_piece(cursor)))
            elif can_name(token):
                arguments.append(simple_name(cursor))
            elif isinstance(literal := expression(cursor), syntax.Literal):
                arguments.append(literal)
            else:
                expected = "an option, a name or a literal in a hint"
                problem = f"expected {expected}, found {cursor.show(token)}"
                raise cursor.fail(problem, span=token.span)
            if not cursor.accept(","):
                break
        cursor.expect(")")
    return syntax.Hint(name, tuple(options), tuple(arguments), cursor.span_from(start))


# --- MATCH_RECOGNIZE ------------------------------------------------------------------------------


#: Quantifier of a pattern -> minimum and maximum.
QUANTIFIERS = {"*": ("0", ""), "+": ("1", ""), "?": ("0", "1")}


def match_recognize(
    cursor: QueryCursor, start: int, source: syntax.Source
) -> syntax.MatchRecognize:
    """Parse the parentheses of MATCH_RECOGNIZE."""
    cursor.expect("(")
    partition_by = expressions(cursor) if cursor.accept("PARTITION", "BY") else ()
    order_by = sort_keys(cursor) if cursor.accept("ORDER", "BY") else ()
    measures = parse_separated(cursor, _measure) if cursor.accept("MEASURES") else ()
    rows_per_match = None
    for words in ("ONE ROW PER MATCH", "ALL ROWS PER MATCH"):
        if cursor.accept(*words.split()):
            rows_per_match = words
    after_match = _after_match(cursor) if cursor.accept("AFTER", "MATCH") else ()
    cursor.expect("PATTERN", "(")
    starts = cursor.accept("^")
    pattern = _alternatives(cursor)
    ends = cursor.accept("$")
    cursor.expect(")")
    within = expression(cursor) if cursor.accept("WITHIN") else None
    subsets = parse_separated(cursor, _subset) if cursor.accept("SUBSET") else ()
    cursor.expect("DEFINE")
    defines = parse_separated(cursor, _define)
    cursor.expect(")")
    return syntax.MatchRecognize(
        source, partition_by, order_by, measures, rows_per_match, after_match, pattern, starts,
        ends, within, subsets, defines, cursor.span_from(start),
    )  # fmt: skip


def _measure(cursor: QueryCursor) -> syntax.Measure:
    start = cursor.token.start
    if cursor.key == "FINAL" and cursor.peek().key not in ("AS", "(", "."):
        cursor.advance()  # the only form of a measure in Flink
    value = expression(cursor)
    cursor.expect("AS")
    return syntax.Measure(value, identifier(cursor), cursor.span_from(start))


def _define(cursor: QueryCursor) -> syntax.Measure:
    start = cursor.token.start
    name = identifier(cursor)
    cursor.expect("AS")
    return syntax.Measure(expression(cursor), name, cursor.span_from(start))


def _after_match(cursor: QueryCursor) -> tuple[str, ...]:
    """Parse the keywords of AFTER MATCH; the last may be a pattern variable."""
    cursor.expect("SKIP")
    for words in (("TO", "NEXT", "ROW"), ("PAST", "LAST", "ROW")):
        if cursor.accept(*words):
            return ("SKIP", *words)
    cursor.expect("TO")
    for word in ("FIRST", "LAST"):
        if cursor.key == word and cursor.peek().kind in ("word", "name"):
            cursor.advance()
            return ("SKIP", "TO", word, identifier(cursor))
    return ("SKIP", "TO", identifier(cursor))


def _subset(cursor: QueryCursor) -> tuple[str, tuple[str, ...]]:
    name = identifier(cursor)
    cursor.expect("=", "(")
    members = parse_separated(cursor, identifier)
    cursor.expect(")")
    return name, members


# --- UNPIVOT --------------------------------------------------------------------------------------


def unpivot(cursor: QueryCursor, start: int, source: syntax.Source) -> syntax.Unpivot:
    """Parse what follows UNPIVOT."""
    include_nulls = cursor.accept("INCLUDE", "NULLS")
    if not include_nulls:
        cursor.accept("EXCLUDE", "NULLS")
    cursor.expect("(")
    measures = _one_or_more_names(cursor)
    cursor.expect("FOR")
    axes = _one_or_more_names(cursor)
    cursor.expect("IN", "(")
    items = parse_separated(cursor, _unpivot_item)
    cursor.expect(")", ")")
    span = cursor.span_from(start)
    return syntax.Unpivot(source, measures, axes, items, include_nulls, span)


def _one_or_more_names(cursor: QueryCursor) -> tuple[syntax.Name, ...]:
    """Parse a name, or names in parentheses."""
    if not cursor.accept("("):
        return (simple_name(cursor),)
    names = parse_separated(cursor, simple_name)
    cursor.expect(")")
    return names


def _unpivot_item(cursor: QueryCursor) -> syntax.UnpivotItem:
    start = cursor.token.start
    columns = _one_or_more_names(cursor)
    values = _row(expression(cursor)) if cursor.accept("AS") else ()
    literals = tuple(
        value for value in values if isinstance(value, syntax.Literal | syntax.Interval)
    )
    span = cursor.span_from(start)
    if len(literals) != len(values):
        raise cursor.fail("UNPIVOT requires literals after AS", span=span)
    return syntax.UnpivotItem(columns, literals, span)


# ------------------------------------------------------------------------------------- pattern


def _alternatives(cursor: QueryCursor) -> syntax.Expression:
    with cursor.nested():
        parts = [_sequence(cursor)]
        while cursor.accept("|"):
            parts.append(_sequence(cursor))
        return parts[0] if len(parts) == 1 else syntax.Call("|", tuple(parts))


def _sequence(cursor: QueryCursor) -> syntax.Expression:
    parts = [_factor(cursor)]
    while cursor.key != "$" and (
        cursor.token.kind in ("word", "name") or cursor.key in ("(", "{", "PERMUTE")
    ):
        parts.append(_factor(cursor))
    return parts[0] if len(parts) == 1 else syntax.Call(",", tuple(parts))


def _factor(cursor: QueryCursor) -> syntax.Expression:
    part = _part(cursor)
    if cursor.key in QUANTIFIERS:
        least, most = QUANTIFIERS[cursor.advance().key]
    elif cursor.key == "{" and cursor.peek().key != "-":  # {n}, {n,}, {n,m} or {,m}
        cursor.advance()
        least = most = cursor.advance().value if cursor.token.kind == "integer" else ""
        if cursor.accept(","):
            most = cursor.advance().value if cursor.token.kind == "integer" else ""
        if not least and not most:
            raise refuse(cursor, "a number of repetitions")
        cursor.expect("}")
    else:
        return part
    limits = (syntax.Literal(syntax.LiteralKind.EXACT, limit) for limit in (least, most))
    greed = syntax.Symbol("RELUCTANT" if cursor.accept("?") else "GREEDY")
    return syntax.Call("{}", (part, *limits, greed))


def _part(cursor: QueryCursor) -> syntax.Expression:
    if cursor.accept("("):
        inner = _alternatives(cursor)
        cursor.expect(")")
        return inner
    if cursor.accept("{", "-"):
        inner = _alternatives(cursor)
        cursor.expect("-", "}")
        return syntax.Call("{- -}", (inner,))
    if cursor.accept("PERMUTE", "("):
        parts = parse_separated(cursor, _alternatives)
        cursor.expect(")")
        return syntax.Call("PERMUTE", parts)
    return simple_name(cursor)
