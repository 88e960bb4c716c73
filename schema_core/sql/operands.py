"""What operators stand between: literals, rows, constructors, CASE, queries, names and calls.

`READERS` says by the key of the first token how an operand is read, `KINDS` by its kind.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from schema_core.sql import calls, literals
from schema_core.sql import expression as grammar
from schema_core.sql.syntax import (
    Call,
    Literal,
    LiteralKind,
    Name,
    Subquery,
    TypeName,
)
from schema_core.sql.tokens import path, refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeAlias

    from schema_core.sql.query_syntax import Query
    from schema_core.sql.syntax import Expression
    from schema_core.text import Cursor

    Reader: TypeAlias = Callable[[Cursor], Expression]

# ---------------------------------------------------------------------- parentheses and queries

QUERY = frozenset({"SELECT", "WITH", "VALUES", "TABLE"})


def _nothing(cursor: Cursor) -> Expression:
    raise refuse(cursor, "an expression")


def read_query(cursor: Cursor) -> Query:
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
    """A query or an expression; one in parentheses may be the first part of a longer query."""
    start = cursor.token.start
    if cursor.key in QUERY:
        return Subquery(read_query(cursor), cursor.span_from(start))
    found = grammar.expression(cursor)
    if isinstance(found, Subquery) and cursor.key not in (")", ","):
        from schema_core.sql.query import continues_query, rest_of_query

        if continues_query(cursor):
            query = rest_of_query(cursor, start, found.query)
            return Subquery(query, cursor.span_from(start))
    return found


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


def _collected(cursor: Cursor, keyword: str) -> Expression:
    """``ARRAY(SELECT ..)``, the query in one pair of parentheses or in several."""
    start = cursor.advance().start
    ahead = 1
    while cursor.peek(ahead).key == "(":
        ahead += 1
    found = items(cursor) if cursor.peek(ahead).key in QUERY else ()
    span = cursor.span_from(start)
    if len(found) != 1 or not isinstance(found[0], Subquery):
        raise cursor.fail(f"the values of {keyword} stand in brackets", span=span)
    return Call(f"{keyword} QUERY", found, span=span)


def _collection(least: int, cursor: Cursor) -> Expression:
    """``ARRAY[a, b]`` or ``ARRAY(SELECT ..)``."""
    token = cursor.tokens[cursor.index]
    follower = cursor.peek().key
    if follower == "(":
        return _collected(cursor, token.key)
    if follower != "[":
        return calls.named(cursor) if token.kind == "word" else _nothing(cursor)
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
        return calls.called(cursor, (token.value,), token.key)
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
    elif token.key == "PI" and cursor.peek().key != ".":
        value = calls.bare(cursor.advance())
    else:
        value = Name(path(cursor), cursor.span_from(token.start))
    if sign == "-":
        value = Call("-x", (value,), span=value.span)
    unit = _unit(cursor, single=True)
    return Call("INTERVAL", (value, unit), span=cursor.span_from(start))


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


# The modules of this grammar know each other, so these are looked up when they are called.


def _named(cursor: Cursor) -> Expression:
    return calls.named(cursor)


def _reserved(cursor: Cursor) -> Expression:
    return calls.reserved(cursor)


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
    "word": _named,
    "name": _named,
    "reserved": _reserved,
    "symbol": _nothing,
    "bad": _nothing,
    "end": _nothing,
    "binary": literals.binary,
    **dict.fromkeys(literals.NUMBERS, literals.number),
    **dict.fromkeys(literals.STRINGS, literals.text),
}
