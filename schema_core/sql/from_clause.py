"""What stands behind FROM, read: tables, joins, sub-queries, table functions, samples, hints."""

from __future__ import annotations

from schema_core.sql.calls import called
from schema_core.sql.expression import expression
from schema_core.sql.match_recognize import match_recognize
from schema_core.sql.query import (
    OPENING,
    alias,
    can_name,
    continues_query,
    expressions,
    names,
    path_name,
    query,
    rest_of_query,
)
from schema_core.sql.query_syntax import (
    Aliased,
    Derived,
    Hint,
    Join,
    JoinKind,
    Query,
    Sample,
    Source,
    TableFunction,
    TableName,
    Unnest,
)
from schema_core.sql.syntax import Call, Expression, Literal, Name
from schema_core.sql.tokens import identifier, refuse, string
from schema_core.text import Cursor

#: Words before JOIN -> what they mean.
JOINS: tuple[tuple[tuple[str, ...], JoinKind], ...] = (
    (("JOIN",), JoinKind.INNER),
    (("INNER", "JOIN"), JoinKind.INNER),
    (("LEFT", "JOIN"), JoinKind.LEFT),
    (("LEFT", "OUTER", "JOIN"), JoinKind.LEFT),
    (("RIGHT", "JOIN"), JoinKind.RIGHT),
    (("RIGHT", "OUTER", "JOIN"), JoinKind.RIGHT),
    (("FULL", "JOIN"), JoinKind.FULL),
    (("FULL", "OUTER", "JOIN"), JoinKind.FULL),
    (("CROSS", "JOIN"), JoinKind.CROSS),
)


def source(cursor: Cursor) -> Source:
    """All that stands behind FROM: sources with JOIN or commas between them."""
    start = cursor.token.start
    return _commas(cursor, start, _joins(cursor, start, _one(cursor)))


def _commas(cursor: Cursor, start: int, left: Source) -> Source:
    while cursor.accept(","):
        inner = cursor.token.start
        right = _joins(cursor, inner, _one(cursor))
        left = Join(left, right, JoinKind.COMMA, span=cursor.span_from(start))
    return left


def _joins(cursor: Cursor, start: int, left: Source) -> Source:
    while True:
        natural = cursor.accept("NATURAL")
        kind = next((kind for words, kind in JOINS if cursor.accept(*words)), None)
        if kind is None:
            if natural:
                raise refuse(cursor, "JOIN")
            return left
        right = _one(cursor)
        condition = expression(cursor) if cursor.accept("ON") else None
        using = names(cursor) if condition is None and cursor.accept("USING") else ()
        left = Join(left, right, kind, natural, condition, using, cursor.span_from(start))


# ---------------------------------------------------------------------------------- one source


def _one(cursor: Cursor) -> Source:
    """A source without joins, with its alias and sample."""
    start = cursor.token.start
    lateral = cursor.accept("LATERAL")
    if cursor.key == "(":
        found = _parenthesised(cursor, start, lateral=lateral)
        if isinstance(found, Join):
            return found
    elif cursor.accept("UNNEST", "("):
        found = _unnest(cursor, start, lateral=lateral)
    elif cursor.accept("TABLE", "("):
        found = _table_function(cursor, start, lateral=lateral)
    else:
        found = _named(cursor, start)
    return _dressed(cursor, start, found)


def _dressed(cursor: Cursor, start: int, found: Source) -> Source:
    """The source with what may stand behind it: a row pattern, an alias, a sample."""
    if cursor.accept("MATCH_RECOGNIZE"):
        found = match_recognize(cursor, start, found)
    name = alias(cursor)
    if name is not None:
        columns = tuple(one.parts[0] for one in names(cursor)) if cursor.key == "(" else ()
        found = Aliased(found, name, columns, cursor.span_from(start))
    if cursor.accept("TABLESAMPLE"):
        found = _sample(cursor, start, found)
    return found


def _parenthesised(cursor: Cursor, start: int, *, lateral: bool) -> Source:
    found = _query_or_join(cursor)
    if isinstance(found, Source):
        return found
    return Derived(found, lateral, cursor.span_from(start))


def _query_or_join(cursor: Cursor) -> Query | Source:
    """What parentheses hold in a FROM clause: a query, or sources that are joined.

    Which of the two shows only behind the inner parentheses, so both are followed at once.
    """
    with cursor.nested():
        cursor.expect("(")
        start = cursor.token.start
        found: Query | Source
        if _opens_query(cursor):
            found = query(cursor)
        elif cursor.key == "(":
            found = _query_or_join(cursor)
            if not isinstance(found, Source) and continues_query(cursor):
                found = rest_of_query(cursor, start, found)
            elif cursor.key != ")":
                inner = found if isinstance(found, Source) else Derived(found, span=found.span)
                found = _commas(
                    cursor, start, _joins(cursor, start, _dressed(cursor, start, inner))
                )
        else:
            found = source(cursor)
        if isinstance(found, Source) and not isinstance(found, Join):
            raise cursor.fail("parentheses hold a query or a join", span=found.span)
        cursor.expect(")")
        return found


def _opens_query(cursor: Cursor) -> bool:
    """Whether a query comes next, and not ``TABLE(function(...))``."""
    return cursor.key in OPENING and not (cursor.key == "TABLE" and cursor.peek().key == "(")


def _named(cursor: Cursor, start: int) -> Source:
    """A table by name, or a table function that is called without TABLE."""
    name = path_name(cursor)
    if cursor.key == "(":
        call = called(cursor, name.parts, "")
        return TableFunction(call, span=cursor.span_from(start))
    found_hints = hints(cursor)
    period = _period(cursor)
    return TableName(name, found_hints, period, cursor.span_from(start))


def _period(cursor: Cursor) -> Expression | None:
    return expression(cursor) if cursor.accept("FOR", "SYSTEM_TIME", "AS", "OF") else None


def _unnest(cursor: Cursor, start: int, *, lateral: bool) -> Source:
    if cursor.key in OPENING:
        raise cursor.fail("UNNEST takes collections, not a query", hint="write ARRAY(SELECT ...)")
    collections = expressions(cursor)
    cursor.expect(")")
    ordinality = cursor.accept("WITH", "ORDINALITY")
    return Unnest(collections, ordinality, lateral, cursor.span_from(start))


def _table_function(cursor: Cursor, start: int, *, lateral: bool) -> Source:
    call = expression(cursor)
    if not isinstance(call, Call):
        raise cursor.fail("TABLE(...) takes the call of a function", span=call.span)
    cursor.expect(")")
    found_hints = hints(cursor)
    return TableFunction(call, lateral, found_hints, span=cursor.span_from(start))


def _sample(cursor: Cursor, start: int, found: Source) -> Source:
    method = cursor.advance().key
    if method not in ("BERNOULLI", "SYSTEM"):
        raise cursor.fail("expected BERNOULLI or SYSTEM behind TABLESAMPLE")
    cursor.expect("(")
    percentage = expression(cursor)
    cursor.expect(")")
    seed = None
    if cursor.accept("REPEATABLE", "("):
        seed = expression(cursor)
        cursor.expect(")")
    return Sample(found, method, percentage, seed, cursor.span_from(start))


# --------------------------------------------------------------------------------------- hints


def hints(cursor: Cursor) -> tuple[Hint, ...]:
    """``/*+ name(...), name */``, if that comes next."""
    if not cursor.accept("/*+"):
        return ()
    found = [_hint(cursor)]
    while cursor.accept(","):
        found.append(_hint(cursor))
    cursor.expect("*/")
    return tuple(found)


def _hint(cursor: Cursor) -> Hint:
    start = cursor.token.start
    name = identifier(cursor)
    options: list[tuple[str, str]] = []
    arguments: list[Name | Literal] = []
    if cursor.accept("(") and not cursor.accept(")"):
        while True:
            if cursor.peek().key == "=":
                options.append(_hint_option(cursor))
            else:
                arguments.append(_hint_argument(cursor))
            if not cursor.accept(","):
                break
        cursor.expect(")")
    return Hint(name, tuple(options), tuple(arguments), cursor.span_from(start))


def _hint_option(cursor: Cursor) -> tuple[str, str]:
    key = identifier(cursor) if can_name(cursor.token) else string(cursor)
    cursor.expect("=")
    return key, string(cursor)


def _hint_argument(cursor: Cursor) -> Name | Literal:
    token = cursor.token
    if can_name(token):
        return Name((identifier(cursor),), token.span)
    literal = expression(cursor)
    if not isinstance(literal, Literal):
        raise cursor.fail("expected an option, a name or a literal of a hint", span=token.span)
    return literal
