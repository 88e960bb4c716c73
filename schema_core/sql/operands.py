"""What operators stand between: names, literals, calls, CASE, rows, constructors, queries.

`READERS` says by the key of the first token how an operand is read, `KINDS` by its kind; the calls
whose arguments have a grammar of their own are in `schema_core.sql.forms`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from schema_core.sql import expression as grammar
from schema_core.sql import forms, literals, windows
from schema_core.sql.keywords import CALLABLE, NILADIC
from schema_core.sql.syntax import (
    Call,
    Literal,
    LiteralKind,
    Name,
    Named,
    Star,
    Subquery,
    TypeName,
)
from schema_core.sql.tokens import identifier, path, refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeAlias

    from schema_core.sql.query_syntax import Query
    from schema_core.sql.syntax import Expression
    from schema_core.text import Cursor

    Reader: TypeAlias = Callable[[Cursor], Expression]

# ----------------------------------------------------------------------------- names and calls


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
            return Call("PI", symbol=BARE, span=token.span)
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
        found = () if cursor.key == ")" and symbol is None else arguments(cursor)
    cursor.depth -= 1
    if cursor.key != ")":
        raise refuse(cursor, ")" if form else "a comma or )")
    cursor.index += 1
    as_written = () if parts[0] == key or key in CALLABLE or form else parts
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
    return Subquery(_query(cursor), cursor.span_from(start))


#: Key at the start of an argument -> what reads it (None: it is an expression after all).
ARGUMENTS: Mapping[str, Callable[[Cursor], Expression | None]] = {
    "DEFAULT": _default,
    "MODEL": _model,
    "TABLE": _table,
    "SELECT": _bare_query,
    "VALUES": _bare_query,
    "WITH": _bare_query,
}


def _word(cursor: Cursor) -> Expression:
    """A reserved word: a function that may be called by it, or a mistake."""
    token = cursor.tokens[cursor.index]
    is_called = cursor.peek().key == "("
    if is_called and (token.key in CALLABLE or token.key in forms.FORMS):
        cursor.index += 1
        return called(cursor, (token.value,), token.key)
    if token.key in NILADIC and not is_called:
        cursor.index += 1
        return Call(token.key, symbol=BARE, span=token.span)
    raise refuse(cursor, "an expression")


def _nothing(cursor: Cursor) -> Expression:
    raise refuse(cursor, "an expression")


# ---------------------------------------------------------------------- parentheses and queries

QUERY = frozenset({"SELECT", "WITH", "VALUES", "TABLE"})


def _query(cursor: Cursor) -> Query:
    """A query, which the grammar of queries reads."""
    from schema_core.sql.query import query

    return query(cursor)


def parenthesis(cursor: Cursor) -> Expression:
    """``(a)``, the row ``(a, b)``, a query, or ``(a - b) DAY``: an interval between two times."""
    start = cursor.tokens[cursor.index].start
    cursor.index += 1
    cursor.descend()
    first = _query_or_expression(cursor)
    if cursor.key == ",":
        found: Expression = _row(cursor, [first], start)
    else:
        cursor.expect(")")
        found = first
    cursor.depth -= 1
    if cursor.tokens[cursor.index].key in literals.UNIT_WORDS:
        return _difference(cursor, found, start)
    return found


def _query_or_expression(cursor: Cursor) -> Expression:
    if cursor.key not in QUERY:
        return grammar.expression(cursor)
    start = cursor.token.start
    return Subquery(_query(cursor), cursor.span_from(start))


def _row(cursor: Cursor, found: list[Expression], start: int) -> Call:
    """The rest of a row, from a comma or its closing parenthesis."""
    while cursor.key == ",":
        cursor.index += 1
        found.append(grammar.expression(cursor))
    cursor.expect(")")
    return Call("ROW", tuple(found), span=cursor.span_from(start))


def _difference(cursor: Cursor, value: Expression, start: int) -> Expression:
    """``(a - b) DAY TO SECOND``; anything but a difference is refused."""
    if not isinstance(value, Call) or value.name != "-":
        raise cursor.fail(
            "only a difference of two points in time can be an interval",
            span=cursor.span_from(start),
        )
    unit = _unit(cursor)
    return Call("(-)", (*value.arguments, unit), span=cursor.span_from(start))


def _unit(cursor: Cursor, *, single: bool = False) -> TypeName:
    unit = literals.qualifier(cursor, single=single)
    return TypeName("INTERVAL", interval=unit, span=unit.span)


def items(cursor: Cursor) -> tuple[Expression, ...]:
    """What stands in the parentheses of IN, ANY, ALL: expressions, or one query."""
    cursor.expect("(")
    cursor.descend()
    found = [_query_or_expression(cursor)]
    while cursor.key == ",":
        cursor.index += 1
        found.append(grammar.expression(cursor))
    cursor.depth -= 1
    cursor.expect(")")
    return tuple(found)


def _exists(cursor: Cursor) -> Expression:
    """``EXISTS (SELECT ..)``."""
    start = cursor.advance().start
    cursor.expect("(")
    cursor.descend()
    query = _query_or_expression(cursor)
    if not isinstance(query, Subquery):
        raise cursor.fail("EXISTS takes a query", span=query.span)
    cursor.expect(")")
    cursor.depth -= 1
    return Call("EXISTS", (query,), span=cursor.span_from(start))


def _row_constructor(cursor: Cursor) -> Expression:
    """``ROW(a, b)``, of at least one field."""
    start = cursor.advance().start
    cursor.expect("(")
    cursor.descend()
    found = _row(cursor, [grammar.expression(cursor)], start)
    cursor.depth -= 1
    return found


def _period(cursor: Cursor) -> Expression:
    """``PERIOD(a, b)``, which is a row of two."""
    found = _row_constructor(cursor)
    if isinstance(found, Call) and len(found.arguments) == 2:
        return found
    raise cursor.fail("a PERIOD has a start and an end", span=found.span)


def _collection(least: int, cursor: Cursor) -> Expression:
    """``ARRAY[a, b]`` or ``ARRAY(SELECT ..)``."""
    token = cursor.tokens[cursor.index]
    follower = cursor.peek().key
    if follower == "(":
        if cursor.peek(2).key in QUERY:
            cursor.index += 1
            return Call(f"{token.key} QUERY", items(cursor), span=cursor.span_from(token.start))
        raise cursor.fail(f"the values of {token.key} stand in brackets", span=token.span)
    if follower != "[":
        return named(cursor) if token.kind == "word" else _nothing(cursor)
    cursor.index += 2
    cursor.descend()
    found: list[Expression] = []
    while len(found) < least or found or cursor.key != "]":
        found.append(grammar.expression(cursor))
        if cursor.key != ",":
            break
        cursor.index += 1
    cursor.expect("]")
    cursor.depth -= 1
    return Call(token.key, tuple(found), span=cursor.span_from(token.start))


# ----------------------------------------------------------------------------- CASE and casts


def _case(cursor: Cursor) -> Expression:
    """``CASE WHEN a THEN b ELSE c END``; a simple CASE becomes a searched one, as in Flink."""
    start = cursor.advance().start
    cursor.descend()
    value = None if cursor.key == "WHEN" else grammar.expression(cursor)
    found: list[Expression] = []
    while cursor.key == "WHEN":
        cursor.index += 1
        found.append(_condition(cursor, value))
        cursor.expect("THEN")
        found.append(grammar.expression(cursor))
    if not found:
        raise refuse(cursor, "WHEN")
    if isinstance(value, Call) and len(found) // 2 * _size(value) > MAX_COPIES:
        raise cursor.fail(
            "a simple CASE repeats its value too often",
            span=value.span,
            code="too-deep",
            hint="name the value in a column of its own",
        )
    if cursor.key == "ELSE":
        cursor.index += 1
        found.append(grammar.expression(cursor))
    else:
        found.append(Literal(LiteralKind.NULL, "NULL", span=cursor.token.span))
    cursor.expect("END")
    cursor.depth -= 1
    return Call("CASE", tuple(found), span=cursor.span_from(start))


#: How many nodes the conditions of a simple CASE may repeat: each repeats the whole value.
MAX_COPIES = 10_000


def _size(node: Expression) -> int:
    """How many nodes a tree has; beyond `MAX_COPIES` it stops counting."""
    waiting, count = [node], 0
    while waiting and count <= MAX_COPIES:
        one = waiting.pop()
        count += 1
        if isinstance(one, Call):
            waiting += one.arguments
    return count


def _condition(cursor: Cursor, value: Expression | None) -> Expression:
    """What stands behind WHEN: a condition, or values that the `value` is compared with."""
    first = grammar.expression(cursor)
    if value is None:
        return first
    found = [first]
    while cursor.key == ",":
        cursor.index += 1
        found.append(grammar.expression(cursor))
    return Call("IN" if len(found) > 1 else "=", (value, *found), span=first.span)


# --------------------------------------------------------------------------------- literals


def _word_literal(kind: LiteralKind, cursor: Cursor) -> Expression:
    token = cursor.advance()
    return Literal(kind, token.key, span=token.span)


def _temporal(kind: LiteralKind, cursor: Cursor) -> Expression:
    """``DATE '2024-02-29'``, or the call of a function of that name."""
    token = cursor.tokens[cursor.index]
    if cursor.peek().key == "(":
        cursor.index += 1
        return called(cursor, (token.value,), token.key)
    cursor.index += 1
    charset = None
    if kind is LiteralKind.TIMESTAMP and cursor.accept("WITH", "LOCAL", "TIME", "ZONE"):
        charset = "LOCAL"
    return literals.temporal(cursor, kind, token.start, charset)


def _braced(kind: LiteralKind, cursor: Cursor) -> Expression:
    """``{d '2024-02-29'}``, the form of ODBC."""
    start = cursor.advance().start
    found = literals.temporal(cursor, kind, start, None)
    cursor.expect("}")
    return found


def _interval(cursor: Cursor) -> Expression:
    """``INTERVAL '5' DAY``, or with a value instead of a text: ``INTERVAL a DAY``."""
    start = cursor.advance().start
    sign = cursor.advance().key if cursor.key in ("-", "+") else ""
    if cursor.token.kind == "string":
        return literals.interval(cursor, start, negative=sign == "-")
    token = cursor.token
    value: Expression
    if token.kind in literals.NUMBERS:
        value = literals.number(cursor)
    elif token.key == "(":
        cursor.index += 1
        value = grammar.inner(cursor)
        cursor.expect(")")
    else:
        value = Name(path(cursor), cursor.span_from(token.start))
    if sign == "-":
        value = Call("-x", (value,), span=value.span)
    unit = _unit(cursor, single=True)
    return Call("INTERVAL", (value, unit), span=cursor.span_from(start))


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


def atom(cursor: Cursor) -> Expression:
    """An operand without operators, and none in parentheses either."""
    token = cursor.token
    if token.key in ("-", "+") and cursor.peek().kind in literals.NUMBERS:
        cursor.index += 1
        number = literals.number(cursor)
        return literals.signed(number, token.key, cursor.span_from(token.start))
    if token.key in ("(", "ROW", "EXISTS"):
        raise refuse(cursor, "a name, a literal or a call")
    reader = READERS.get(token.key) or KINDS[token.kind]
    return reader(cursor)


#: Key of the first token -> what reads the operand.
READERS: Mapping[str, Reader] = {
    "(":         parenthesis,
    "ROW":       _row_constructor,
    "PERIOD":    _period,
    "ARRAY":     partial(_collection, 0),
    "MAP":       partial(_collection, 0),
    "MULTISET":  partial(_collection, 1),
    "CASE":      _case,
    "EXISTS":    _exists,
    "NULL":      partial(_word_literal, LiteralKind.NULL),
    "TRUE":      partial(_word_literal, LiteralKind.BOOLEAN),
    "FALSE":     partial(_word_literal, LiteralKind.BOOLEAN),
    "UNKNOWN":   partial(_word_literal, LiteralKind.UNKNOWN),
    "DATE":      partial(_temporal, LiteralKind.DATE),
    "TIME":      partial(_temporal, LiteralKind.TIME),
    "TIMESTAMP": partial(_temporal, LiteralKind.TIMESTAMP),
    "{D":        partial(_braced, LiteralKind.DATE),
    "{T":        partial(_braced, LiteralKind.TIME),
    "{TS":       partial(_braced, LiteralKind.TIMESTAMP),
    "DECIMAL":   literals.decimal,
    "INTERVAL":  _interval,
}  # fmt: skip

#: Kind of the first token -> what reads the operand.
KINDS: Mapping[str, Reader] = {
    "word": named,
    "name": named,
    "reserved": _word,
    "symbol": _nothing,
    "bad": _nothing,
    "end": _nothing,
    "binary": literals.binary,
    **dict.fromkeys(literals.NUMBERS, literals.number),
    **dict.fromkeys(literals.STRINGS, literals.text),
}
