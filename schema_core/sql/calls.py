"""Names and calls: columns, paths, functions with their arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schema_core.sql import expression as grammar
from schema_core.sql import forms, operands, windows
from schema_core.sql.keywords import CALLABLE, KNOWN, NILADIC
from schema_core.sql.syntax import Call, Name, Named, Star, Subquery
from schema_core.sql.tokens import identifier, path, refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from schema_core.sql.syntax import Expression
    from schema_core.text import Cursor, Token


def named(cursor: Cursor) -> Expression:
    """A column or path, or the call of a function by such a name."""
    tokens = cursor.tokens
    token = tokens[cursor.index]
    cursor.index += 1
    follower = tokens[cursor.index].key
    if follower == "(":
        return called(cursor, (token.value,), token.key)
    if follower != ".":
        if token.key == "PI":
            return bare(token)
        return Name((token.value,), token.span)
    parts = [token.value]
    while tokens[cursor.index].key == ".":
        cursor.index += 1
        parts.append(identifier(cursor))
    if tokens[cursor.index].key == "(":
        return called(cursor, tuple(parts), "")
    return Name(tuple(parts), cursor.span_from(token.start))


#: The steering word of a function that was written without parentheses.
BARE = "BARE"


def bare(token: Token) -> Call:
    """The call of a function by its word alone, which names a column of a query as written."""
    return Call(token.key, symbol=BARE, word=token.value, span=token.span)


def called(cursor: Cursor, parts: tuple[str, ...], key: str) -> Call:
    """The call of the function with that name, at its opening parenthesis.

    `key` is the word in capitals, or empty for a name in back-ticks or several parts. The name is
    kept as it was written, unless that is one in capitals or a reserved word.
    """
    start = cursor.tokens[cursor.index - 1].start
    if len(parts) > 1:
        start = cursor.tokens[cursor.index - 2 * len(parts) + 1].start
    form = forms.FORMS.get(key)
    cursor.descend()
    cursor.index += 1
    symbol = None
    if form is not None:
        name, found = form(cursor)
    else:
        name = key or parts[-1].upper()
        if cursor.key in ("DISTINCT", "ALL"):
            symbol = cursor.advance().key
            if cursor.key == "*":
                raise refuse(cursor, "an expression")
        found = () if cursor.key == ")" and symbol is None else arguments(cursor)
    cursor.depth -= 1
    if cursor.key != ")":
        raise refuse(cursor, ")" if form else "a comma or )")
    cursor.index += 1
    is_known = form is not None or key in CALLABLE or key in KNOWN
    as_written = () if is_known or parts[0] == key else parts
    call = Call(name, found, as_written, symbol, span=cursor.span_from(start))
    if form is None and cursor.key in windows.SUFFIXES:
        return windows.dressed(cursor, call)
    return call


def arguments(cursor: Cursor) -> tuple[Expression, ...]:
    """The arguments of a call up to its closing parenthesis; there is at least one."""
    if cursor.key == "*" and cursor.peek().key == ")":
        return (Star(span=cursor.advance().span),)
    found = [argument(cursor)]
    while cursor.key == ",":
        cursor.index += 1
        found.append(argument(cursor))
    return tuple(found)


def argument(cursor: Cursor) -> Expression:
    """One argument: an expression, ``name => value``, DEFAULT, a table, a model or a query."""
    token = cursor.tokens[cursor.index]
    is_named = token.kind in ("word", "name") and cursor.peek().key == "=>"
    if is_named:
        cursor.index += 2
    reader = ARGUMENTS.get(cursor.key)
    found = reader(cursor) if reader else None
    if found is None:
        found = grammar.expression(cursor)
    if isinstance(found, Subquery) and cursor.key in ("PARTITION", "ORDER"):
        found = _keyed(cursor, found)
    return Named(token.value, found, cursor.span_from(token.start)) if is_named else found


def _keyed(cursor: Cursor, table: Subquery) -> Expression:
    """``(SELECT ...) PARTITION BY a``: a query as the argument of a table function."""
    from schema_core.sql.query import with_keys

    start = table.span.start
    return Subquery(with_keys(cursor, table.query, start), cursor.span_from(start))


def _default(cursor: Cursor) -> Expression:
    return Call("DEFAULT", span=cursor.advance().span)


def _model(cursor: Cursor) -> Expression | None:
    """``MODEL m``; the word alone is a name."""
    if cursor.peek().kind not in ("word", "name"):
        return None
    start = cursor.advance().start
    model = Name(path(cursor), cursor.span_from(cursor.tokens[cursor.index - 1].start))
    return Call("MODEL", (model,), span=cursor.span_from(start))


def _table(cursor: Cursor) -> Expression:
    """``TABLE t PARTITION BY a``, which the grammar of queries reads."""
    from schema_core.sql.query import table_argument

    start = cursor.token.start
    return Subquery(table_argument(cursor), cursor.span_from(start))


def _bare_query(cursor: Cursor) -> Expression:
    start = cursor.token.start
    return Subquery(operands.read_query(cursor), cursor.span_from(start))


#: Key at the start of an argument -> what reads it (None: it is an expression after all).
ARGUMENTS: Mapping[str, Callable[[Cursor], Expression | None]] = {
    "DEFAULT": _default,
    "MODEL": _model,
    "TABLE": _table,
    "SELECT": _bare_query,
    "VALUES": _bare_query,
    "WITH": _bare_query,
}


def reserved(cursor: Cursor) -> Expression:
    """A reserved word: a function that may be called by it, or a mistake."""
    token = cursor.tokens[cursor.index]
    is_called = cursor.peek().key == "("
    if is_called and (token.key in CALLABLE or token.key in KNOWN or token.key in forms.FORMS):
        cursor.index += 1
        return called(cursor, (token.value,), token.key)
    if token.key in NILADIC and not is_called:
        cursor.index += 1
        return bare(token)
    raise refuse(cursor, "an expression")


def begins_with_call(cursor: Cursor) -> bool:
    """Whether CASE WHEN or the call of a function with plain arguments comes next.

    In two places Flink's parser does not expect one and then refuses what follows it.
    """
    token, ahead = cursor.token, 1
    while token.kind in ("word", "name") and cursor.peek(ahead).key == ".":
        ahead += 2
    if token.key in CALLABLE or token.kind in ("word", "name"):
        return cursor.peek(ahead).key == "(" and token.key not in forms.FORMS
    return token.key == "CASE" and cursor.peek().key == "WHEN"
