"""The grammar of expressions: operators by precedence, operands, calls and special forms.

Operands and operators are stacked and joined when an operator comes that binds less (as Calcite's
parser does), so that one frame of Python reads a whole chain of operators: ``a OR b OR ...`` may
have thousands. What counts as nesting, for the budget of 64 levels, is the depth of the tree to
the right: brackets, arguments, right operands.

The powers are Calcite's: ``||`` binds like ``*``, all comparisons bind alike and to the left, IS
binds less than they do, NOT less than IS.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple, TypeAlias

from schema_core.sql import literals
from schema_core.sql.keywords import CALLABLE, KNOWN, NILADIC
from schema_core.sql.literals import NUMBERS, signed
from schema_core.sql.query_syntax import (
    ExplicitTable,
    Query,
    TableArgument,
)
from schema_core.sql.syntax import (
    Call,
    Expression,
    Frame,
    Literal,
    LiteralKind,
    Name,
    Named,
    SortKey,
    Star,
    Subquery,
    Symbol,
    TypeName,
    Window,
)
from schema_core.sql.tokens import (
    SqlCursor,
    can_name,
    identifier,
    path,
    refuse,
    tokenize,
)
from schema_core.sql.type_name import cast_target
from schema_core.text import MAX_DEPTH, MAX_TEXT, Span, Token, quote_identifier


class QueryCursor(SqlCursor):
    """A cursor over SQL that can parse sub-queries.

    `parse_query` parses the query at the cursor or, given its first operand, the rest of it. It
    connects the grammar of expressions with that of queries, which is built on it.
    """

    __slots__ = ("parse_query",)

    def __init__(
        self, text: str, parse_query: QueryParser, tokens: Sequence[Token] | None = None
    ) -> None:
        super().__init__(text, tokenize(text) if tokens is None else tokens)
        self.parse_query = parse_query


#: Parses the query at a cursor, or what follows the first operand of one.
QueryParser: TypeAlias = "Callable[[QueryCursor, Subquery | None], Query]"


class Pending(NamedTuple):
    """An operator that waits for its last operand.

    `right` is how tightly it holds that operand, `arity` how many operands it takes in all;
    `start` is where it begins if it is a prefix.
    """

    right: int
    name: str
    arity: int
    symbol: str | None = None
    start: int = -1


class Operands:
    """What has been read of a chain of operators: operands, where each begins, and operators."""

    __slots__ = ("cursor", "is_bound", "pending", "starts", "values")

    def __init__(self, cursor: QueryCursor, *, is_bound: bool) -> None:
        self.cursor = cursor
        self.is_bound = is_bound
        self.values: list[Expression] = []
        self.starts: list[int] = []
        self.pending: list[Pending] = []

    def join(self, left: int, most: int = MAX_TEXT) -> None:
        """Build the calls of the operators that hold on tighter than `left`, at most so many."""
        pending = self.pending
        if not pending or pending[-1].right <= left:
            return
        values, starts = self.values, self.starts
        stop = self.cursor.tokens[self.cursor.index - 1].stop
        while pending and pending[-1].right > left and most:
            most -= 1
            _, name, arity, symbol, start = pending.pop()
            if start < 0:
                start = starts[-arity]
            arguments = tuple(values[-arity:])
            del values[-arity:], starts[-arity:]
            values.append(_call(name, arguments, symbol, Span(start, stop)))
            starts.append(start)

    def wrap(self, name: str, *more: Expression, symbol: str | None = None) -> None:
        """Make the last operand the first argument of a call."""
        stop = self.cursor.tokens[self.cursor.index - 1].stop
        span = Span(self.starts[-1], stop)
        self.values[-1] = Call(name, (self.values[-1], *more), (), symbol, span=span)


def _call(
    name: str, arguments: tuple[Expression, ...], symbol: str | None, span: Span
) -> Expression:
    """The call of an operator; a sign before a number belongs to the number."""
    if name in ("-x", "+x"):
        value = arguments[0]
        if isinstance(value, Literal) and value.kind in _SIGNED:
            return signed(value, name[0], span)
    return Call(name, arguments, (), symbol, span=span)


_SIGNED = (LiteralKind.EXACT, LiteralKind.APPROXIMATE)


def expression(cursor: QueryCursor, *, is_bound: bool = False) -> Expression:
    """The expression at the cursor, up to the first token that cannot belong to it.

    As the lower bound of a BETWEEN (`is_bound`) it ends at AND and holds no BETWEEN of its own.

    Raises:
        ParseError: with the start of the first token that does not fit.
    """
    tokens = cursor.tokens
    token = tokens[cursor.index]
    if token.key in PREFIX:
        return _chain(Operands(cursor, is_bound=is_bound))
    first = (READERS.get(token.key) or KINDS[token.kind])(cursor)
    if tokens[cursor.index].key not in INFIX:
        return first
    stack = Operands(cursor, is_bound=is_bound)
    stack.values.append(first)
    stack.starts.append(token.start)
    return _chain(stack)


def _chain(stack: Operands) -> Expression:
    """Operators and operands in turn, until a token is neither; the first may be there already."""
    cursor, tokens = stack.cursor, stack.cursor.tokens
    if not stack.values:
        _operand(stack)
    while True:
        operator = INFIX.get(tokens[cursor.index].key)
        goes_on = operator.read(stack, operator) if operator else None
        if goes_on:
            _operand(stack)
        elif goes_on is None:
            stack.join(0)
            return stack.values[0]


def _operand(stack: Operands) -> None:
    """Signs and NOT, and the operand behind them.

    The operators that wait for it are levels of nesting above it, for its tree stands below
    theirs; parentheses alone make no tree, so they count only where no operator waits.
    """
    cursor, pending = stack.cursor, stack.pending
    token = cursor.tokens[cursor.index]
    while token.key in PREFIX:
        _push_prefix(stack, *PREFIX[token.key])
        token = cursor.tokens[cursor.index]
    levels = len(pending) - (token.key == "(")
    cursor.depth += levels
    if cursor.depth > MAX_DEPTH:
        cursor.descend()
    stack.starts.append(token.start)
    reader = READERS.get(token.key) or KINDS[token.kind]
    stack.values.append(reader(cursor))
    cursor.depth -= levels


def inner(cursor: QueryCursor) -> Expression:
    """An expression one level deeper: between brackets or among arguments."""
    cursor.descend()
    found = expression(cursor)
    cursor.depth -= 1
    return found


def _push_prefix(stack: Operands, name: str, right: int) -> None:
    cursor, pending = stack.cursor, stack.pending
    token = cursor.tokens[cursor.index]
    if name == "NOT" and pending and pending[-1].arity == 3:
        raise refuse(cursor, "the upper bound of BETWEEN in parentheses")
    if len(pending) >= MAX_DEPTH:
        cursor.descend()
    pending.append(Pending(right, name, 1, None, token.start))
    cursor.index += 1


# ----------------------------------------------------------------------------------- operators


class Infix(NamedTuple):
    """An operator behind an operand: how tightly it holds its neighbours, and how it is read.

    `read` gives True when an operand must follow, False when the operator ended with itself, and
    None when the word is none of the expression.
    """

    left: int
    right: int
    name: str
    read: Callable[[Operands, Infix], bool | None]


def _binary(stack: Operands, operator: Infix) -> bool:
    """``a + b``."""
    stack.join(operator.left)
    stack.cursor.index += 1
    stack.pending.append(Pending(operator.right, operator.name, 2))
    return True


def _and(stack: Operands, operator: Infix) -> bool | None:
    """AND, which also ends the lower bound of a BETWEEN."""
    return None if stack.is_bound else _binary(stack, operator)


def _comparison(stack: Operands, operator: Infix) -> bool:
    """``a = b``, or ``a = SOME (..)`` over a list or a query, which binds like IN."""
    cursor = stack.cursor
    quantifier = cursor.peek().key
    if quantifier not in QUANTIFIERS or cursor.peek(2).key != "(":
        return _binary(stack, operator)
    stack.join(32)
    cursor.index += 2
    stack.wrap(f"{operator.name} {QUANTIFIERS[quantifier]}", *items(cursor))
    _end_list(cursor)
    return False


#: ANY and SOME are one.
QUANTIFIERS = {"SOME": "SOME", "ANY": "SOME", "ALL": "ALL"}


#: Words behind IS or IS NOT -> the rest of the name of the test.
TESTS = {
    ("NULL",): "NULL",
    ("TRUE",): "TRUE",
    ("FALSE",): "FALSE",
    ("UNKNOWN",): "UNKNOWN",
    ("JSON", "VALUE"): "JSON VALUE",
    ("JSON", "OBJECT"): "JSON OBJECT",
    ("JSON", "ARRAY"): "JSON ARRAY",
    ("JSON", "SCALAR"): "JSON SCALAR",
    ("JSON",): "JSON VALUE",
}


def _is(stack: Operands, operator: Infix) -> bool:
    """``IS [NOT] NULL`` and the other tests, and ``IS [NOT] DISTINCT FROM``."""
    cursor = stack.cursor
    words = 2 if cursor.peek().key == "NOT" else 1
    name = "IS NOT" if words == 2 else "IS"
    if cursor.peek(words).key == "DISTINCT" and cursor.peek(words + 1).key == "FROM":
        cursor.index += words + 1
        return _binary(stack, Infix(30, 31, f"{name} DISTINCT FROM", _binary))
    stack.join(operator.left)
    cursor.index += words
    for test, rest in TESTS.items():
        if cursor.accept(*test):
            stack.wrap(f"{name} {rest}")
            return False
    raise refuse(cursor, "NULL, TRUE, FALSE, UNKNOWN, JSON or DISTINCT FROM")


def _not(stack: Operands, operator: Infix) -> bool | None:
    """``NOT IN``, ``NOT LIKE`` and their like."""
    negated = NEGATED.get(stack.cursor.peek().key)
    if negated is None:
        return None
    stack.cursor.index += 1
    return negated.read(stack, negated)


def _between(stack: Operands, operator: Infix) -> bool:
    """``a BETWEEN b AND c``, where `b` is all that stands before AND."""
    cursor, pending = stack.cursor, stack.pending
    if stack.is_bound or any(one.name in LIKES for one in pending):
        raise cursor.fail("a BETWEEN in an operand of another operator needs parentheses")
    stack.join(operator.left)
    cursor.index += 1
    symbol = "SYMMETRIC" if cursor.key == "SYMMETRIC" else "ASYMMETRIC"
    if cursor.key in ("SYMMETRIC", "ASYMMETRIC"):
        cursor.index += 1
    start = cursor.tokens[cursor.index].start
    cursor.descend()
    lower = expression(cursor, is_bound=True)
    cursor.depth -= 1
    cursor.expect("AND")
    stack.values.append(lower)
    stack.starts.append(start)
    pending.append(Pending(operator.right, operator.name, 3, symbol))
    return True


#: Names of the operators that ESCAPE may follow.
LIKES = frozenset({"LIKE", "NOT LIKE", "SIMILAR TO", "NOT SIMILAR TO"})


def _like(stack: Operands, operator: Infix) -> bool:
    """``a LIKE b``, to the right: ``a LIKE (b LIKE c)``; and ``SIMILAR TO``.

    In the upper bound of a BETWEEN it must end with that bound, so it holds on as tightly.
    """
    cursor, pending = stack.cursor, stack.pending
    stack.join(operator.left)
    cursor.index += 1
    if operator.name.endswith("SIMILAR TO"):
        cursor.expect("TO")
    is_last = bool(pending) and pending[-1].right == 33
    pending.append(Pending(33 if is_last else operator.right, operator.name, 2))
    return True


def _escape(stack: Operands, operator: Infix) -> bool | None:
    """The third operand of LIKE and SIMILAR TO: a simple one, and not within another's."""
    cursor, pending = stack.cursor, stack.pending
    stack.join(operator.left)
    if pending and pending[-1].name in LIKES and pending[-1].arity == 3:
        stack.join(pending[-1].right - 1, most=1)
    if not pending or pending[-1].name not in LIKES or any(one.arity == 3 for one in pending):
        return None
    cursor.index += 1
    if cursor.key in PREFIX and cursor.peek().kind not in NUMBERS:
        raise refuse(cursor, "an operand without a sign")
    pending.append(pending.pop()._replace(right=operator.right, arity=3))
    return True


def _in(stack: Operands, operator: Infix) -> bool:
    """``a IN (b, c)`` or ``a IN (SELECT ..)``."""
    stack.join(operator.left)
    stack.cursor.index += 1
    if stack.cursor.key != "(":
        raise refuse(stack.cursor, "'('")
    stack.wrap(operator.name, *items(stack.cursor))
    _end_list(stack.cursor)
    return False


def _end_list(cursor: QueryCursor) -> None:
    """Refuse operators that would take the list of IN for their operand, as Flink's parser does."""
    key = cursor.peek().key if cursor.key == "NOT" else cursor.key
    if key in INFIX and INFIX[key].left > 32:
        raise refuse(cursor, "a test in parentheses before")


def _element(stack: Operands, operator: Infix) -> bool:
    """``a[1]``."""
    cursor = stack.cursor
    cursor.index += 1
    index = inner(cursor)
    cursor.expect("]")
    stack.wrap("[]", index)
    return False


def _field(stack: Operands, operator: Infix) -> bool:
    """``f(a).b``: the field of a value that is no plain name."""
    cursor = stack.cursor
    cursor.index += 1
    token = cursor.token
    stack.wrap(".", Name((identifier(cursor),), token.span))
    return False


#: Key -> (name, how tightly it holds what follows).
PREFIX: Mapping[str, tuple[str, int]] = {"-": ("-x", 81), "+": ("+x", 81), "NOT": ("NOT", 27)}


#: Key -> (power to the left, power to the right, name, how it is read).
INFIX: Mapping[str, Infix] = {
    "[":          Infix(100, 101, "[]",          _element),
    ".":          Infix(100, 101, ".",           _field),
    "||":         Infix(60,  61,  "||",          _binary),
    "*":          Infix(60,  61,  "*",           _binary),
    "/":          Infix(60,  61,  "/",           _binary),
    "%":          Infix(60,  61,  "%",           _binary),
    "+":          Infix(40,  41,  "+",           _binary),
    "-":          Infix(40,  41,  "-",           _binary),
    "LIKE":       Infix(33,  32,  "LIKE",        _like),
    "SIMILAR":    Infix(33,  32,  "SIMILAR TO",  _like),
    "ESCAPE":     Infix(32,  32,  "ESCAPE",      _escape),
    "BETWEEN":    Infix(32,  33,  "BETWEEN",     _between),
    "IN":         Infix(32,  33,  "IN",          _in),
    "NOT":        Infix(32,  33,  "NOT",         _not),
    "=":          Infix(30,  31,  "=",           _comparison),
    "<>":         Infix(30,  31,  "<>",          _comparison),
    "<":          Infix(30,  31,  "<",           _comparison),
    "<=":         Infix(30,  31,  "<=",          _comparison),
    ">":          Infix(30,  31,  ">",           _comparison),
    ">=":         Infix(30,  31,  ">=",          _comparison),
    "OVERLAPS":   Infix(30,  31,  "OVERLAPS",    _binary),
    "IS":         Infix(28,  29,  "IS",          _is),
    "AND":        Infix(24,  25,  "AND",         _and),
    "OR":         Infix(22,  23,  "OR",          _binary),
}  # fmt: skip


#: Key behind NOT -> as above.
NEGATED: Mapping[str, Infix] = {
    key: operator._replace(name=f"NOT {operator.name}")
    for key, operator in INFIX.items()
    if key in ("LIKE", "SIMILAR", "BETWEEN", "IN")
}


# --- operands -------------------------------------------------------------------------------------


Reader: TypeAlias = Callable[[QueryCursor], Expression]


# ---------------------------------------------------------------------- parentheses and queries

QUERY = frozenset({"SELECT", "WITH", "VALUES", "TABLE"})


def _nothing(cursor: QueryCursor) -> Expression:
    raise refuse(cursor, "an expression")


def parenthesis(cursor: QueryCursor) -> Expression:
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


def _query_or_expression(cursor: QueryCursor) -> Expression:
    """A query or an expression; one in parentheses may be the first part of a longer query."""
    start = cursor.token.start
    if cursor.key in QUERY:
        return Subquery(cursor.parse_query(cursor, None), cursor.span_from(start))
    found = expression(cursor)
    if isinstance(found, Subquery) and continues_query(cursor):
        return Subquery(cursor.parse_query(cursor, found), cursor.span_from(start))
    return found


def _row(cursor: QueryCursor, found: list[Expression], start: int) -> Call:
    """The rest of a row, from a comma or its closing parenthesis."""
    while cursor.key == ",":
        cursor.index += 1
        found.append(expression(cursor))
    cursor.expect(")")
    return Call("ROW", tuple(found), span=cursor.span_from(start))


def _difference(cursor: QueryCursor, value: Expression, start: int) -> Expression:
    """``(a - b) DAY TO SECOND``; anything but a difference is refused."""
    if not isinstance(value, Call) or value.name != "-":
        raise cursor.fail(
            "only a difference of two points in time can be an interval",
            span=cursor.span_from(start),
        )
    unit = _interval_unit(cursor)
    return Call("(-)", (*value.arguments, unit), span=cursor.span_from(start))


def _interval_unit(cursor: QueryCursor, *, single: bool = False) -> TypeName:
    unit = literals.qualifier(cursor, single=single)
    return TypeName("INTERVAL", interval=unit, span=unit.span)


def items(cursor: QueryCursor) -> tuple[Expression, ...]:
    """What stands in the parentheses of IN, ANY, ALL: expressions, or one query."""
    cursor.expect("(")
    cursor.descend()
    found = [_query_or_expression(cursor)]
    while cursor.key == ",":
        cursor.index += 1
        found.append(expression(cursor))
    cursor.depth -= 1
    cursor.expect(")")
    return tuple(found)


def _exists(cursor: QueryCursor) -> Expression:
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


def _row_constructor(cursor: QueryCursor) -> Expression:
    """``ROW(a, b)``, of at least one field."""
    start = cursor.advance().start
    cursor.expect("(")
    cursor.descend()
    found = _row(cursor, [expression(cursor)], start)
    cursor.depth -= 1
    return found


def _period(cursor: QueryCursor) -> Expression:
    """``PERIOD(a, b)``, which is a row of two."""
    found = _row_constructor(cursor)
    if isinstance(found, Call) and len(found.arguments) == 2:
        return found
    raise cursor.fail("a PERIOD has a start and an end", span=found.span)


def _collected(cursor: QueryCursor, keyword: str) -> Expression:
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


def _collection(least: int, cursor: QueryCursor) -> Expression:
    """``ARRAY[a, b]`` or ``ARRAY(SELECT ..)``."""
    token = cursor.tokens[cursor.index]
    follower = cursor.peek().key
    if follower == "(":
        return _collected(cursor, token.key)
    if follower != "[":
        return named(cursor) if token.kind == "word" else _nothing(cursor)
    cursor.index += 2
    cursor.descend()
    found: list[Expression] = []
    while len(found) < least or found or cursor.key != "]":
        found.append(expression(cursor))
        if cursor.key != ",":
            break
        cursor.index += 1
    cursor.expect("]")
    cursor.depth -= 1
    return Call(token.key, tuple(found), span=cursor.span_from(token.start))


# ----------------------------------------------------------------------------- CASE and casts


def _case(cursor: QueryCursor) -> Expression:
    """``CASE WHEN a THEN b ELSE c END``; a simple CASE becomes a searched one, as in Flink."""
    start = cursor.advance().start
    cursor.descend()
    value = None if cursor.key == "WHEN" else expression(cursor)
    found: list[Expression] = []
    while cursor.key == "WHEN":
        cursor.index += 1
        found.append(_condition(cursor, value))
        cursor.expect("THEN")
        found.append(expression(cursor))
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
        found.append(expression(cursor))
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


def _condition(cursor: QueryCursor, value: Expression | None) -> Expression:
    """What stands behind WHEN: a condition, or values that the `value` is compared with."""
    first = expression(cursor)
    if value is None:
        return first
    found = [first]
    while cursor.key == ",":
        cursor.index += 1
        found.append(expression(cursor))
    return Call("IN" if len(found) > 1 else "=", (value, *found), span=first.span)


# --------------------------------------------------------------------------------- literals


def _word_literal(kind: LiteralKind, cursor: QueryCursor) -> Expression:
    token = cursor.advance()
    return Literal(kind, token.key, span=token.span)


def _temporal(kind: LiteralKind, cursor: QueryCursor) -> Expression:
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


def _braced(kind: LiteralKind, cursor: QueryCursor) -> Expression:
    """``{d '2024-02-29'}``, the form of ODBC."""
    start = cursor.advance().start
    found = literals.temporal(cursor, kind, start, None)
    cursor.expect("}")
    return found


def _interval(cursor: QueryCursor) -> Expression:
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
        value = inner(cursor)
        cursor.expect(")")
    elif token.key == "PI" and cursor.peek().key != ".":
        value = bare(cursor.advance())
    else:
        value = Name(path(cursor), cursor.span_from(token.start))
    if sign == "-":
        value = Call("-x", (value,), span=value.span)
    unit = _interval_unit(cursor, single=True)
    return Call("INTERVAL", (value, unit), span=cursor.span_from(start))


def atom(cursor: QueryCursor) -> Expression:
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


# --- names and calls ------------------------------------------------------------------------------


def named(cursor: QueryCursor) -> Expression:
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


def called(cursor: QueryCursor, parts: tuple[str, ...], key: str) -> Call:
    """The call of the function with that name, at its opening parenthesis.

    `key` is the word in capitals, or empty for a name in back-ticks or several parts. The name is
    kept as it was written, unless that is one in capitals or a reserved word.
    """
    start = cursor.tokens[cursor.index - 1].start
    if len(parts) > 1:
        start = cursor.tokens[cursor.index - 2 * len(parts) + 1].start
    form = FORMS.get(key)
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
        raise refuse(cursor, "')'" if form else "',' or ')'")
    cursor.index += 1
    is_known = form is not None or key in CALLABLE or key in KNOWN
    as_written = () if is_known or parts[0] == key else parts
    call = Call(name, found, as_written, symbol, span=cursor.span_from(start))
    if form is None and cursor.key in SUFFIXES:
        return dressed(cursor, call)
    return call


def arguments(cursor: QueryCursor) -> tuple[Expression, ...]:
    """The arguments of a call up to its closing parenthesis; there is at least one."""
    if cursor.key == "*" and cursor.peek().key == ")":
        return (Star(span=cursor.advance().span),)
    found = [argument(cursor)]
    while cursor.key == ",":
        cursor.index += 1
        found.append(argument(cursor))
    return tuple(found)


def argument(cursor: QueryCursor) -> Expression:
    """One argument: an expression, ``name => value``, DEFAULT, a table, a model or a query."""
    token = cursor.tokens[cursor.index]
    is_named = token.kind in ("word", "name") and cursor.peek().key == "=>"
    if is_named:
        cursor.index += 2
    reader = ARGUMENTS.get(cursor.key)
    found = reader(cursor) if reader else None
    if found is None:
        found = expression(cursor)
    if isinstance(found, Subquery) and cursor.key in ("PARTITION", "ORDER"):
        found = _keyed(cursor, found)
    return Named(token.value, found, cursor.span_from(token.start)) if is_named else found


def _keyed(cursor: QueryCursor, table: Subquery) -> Expression:
    """``(SELECT ...) PARTITION BY a``: a query as the argument of a table function."""
    start = table.span.start
    return Subquery(with_keys(cursor, table.query, start), cursor.span_from(start))


def _default(cursor: QueryCursor) -> Expression:
    return Call("DEFAULT", span=cursor.advance().span)


def _model(cursor: QueryCursor) -> Expression | None:
    """``MODEL m``; the word alone is a name."""
    if cursor.peek().kind not in ("word", "name"):
        return None
    start = cursor.advance().start
    model = Name(path(cursor), cursor.span_from(cursor.tokens[cursor.index - 1].start))
    return Call("MODEL", (model,), span=cursor.span_from(start))


def _table(cursor: QueryCursor) -> Expression:
    """``TABLE t PARTITION BY a``, which the grammar of queries reads."""
    start = cursor.token.start
    return Subquery(table_argument(cursor), cursor.span_from(start))


def _bare_query(cursor: QueryCursor) -> Expression:
    start = cursor.token.start
    return Subquery(cursor.parse_query(cursor, None), cursor.span_from(start))


#: Key at the start of an argument -> what reads it (None: it is an expression after all).
ARGUMENTS: Mapping[str, Callable[[QueryCursor], Expression | None]] = {
    "DEFAULT": _default,
    "MODEL": _model,
    "TABLE": _table,
    "SELECT": _bare_query,
    "VALUES": _bare_query,
    "WITH": _bare_query,
}


def reserved(cursor: QueryCursor) -> Expression:
    """A reserved word: a function that may be called by it, or a mistake."""
    token = cursor.tokens[cursor.index]
    is_called = cursor.peek().key == "("
    if is_called and (token.key in CALLABLE or token.key in KNOWN or token.key in FORMS):
        cursor.index += 1
        return called(cursor, (token.value,), token.key)
    if token.key in NILADIC and not is_called:
        cursor.index += 1
        return bare(token)
    raise refuse(cursor, "an expression")


def begins_with_call(cursor: QueryCursor) -> bool:
    """Whether CASE WHEN or the call of a function with plain arguments comes next.

    In two places Flink's parser does not expect one and then refuses what follows it.
    """
    token, ahead = cursor.token, 1
    while token.kind in ("word", "name") and cursor.peek(ahead).key == ".":
        ahead += 2
    if token.key in CALLABLE or token.kind in ("word", "name"):
        return cursor.peek(ahead).key == "(" and token.key not in FORMS
    return token.key == "CASE" and cursor.peek().key == "WHEN"


# --- tables as arguments --------------------------------------------------------------------------


#: Set operators and how tightly they bind.
OPERATORS = {"UNION": 1, "EXCEPT": 1, "INTERSECT": 2}


def continues_query(cursor: QueryCursor) -> bool:
    """Whether the next token belongs to a query whose first operand stands before it."""
    return cursor.key in OPERATORS or cursor.key in ("ORDER", "LIMIT", "OFFSET", "FETCH")


def table_argument(cursor: QueryCursor) -> Query:
    """``TABLE t [PARTITION BY ...] [ORDER BY ...]`` among the arguments of a call."""
    start = cursor.token.start
    return with_keys(cursor, explicit_table(cursor), start)


def with_keys(cursor: QueryCursor, table: Query, start: int) -> Query:
    """The table of an argument with the keys behind it, if there are any."""
    partition_by = _table_keys(cursor) if cursor.accept("PARTITION", "BY") else ()
    order_by = sort_keys(cursor) if cursor.accept("ORDER", "BY") else ()
    if not partition_by and not order_by:
        return table
    return TableArgument(table, partition_by, tuple(order_by), cursor.span_from(start))


def _table_keys(cursor: QueryCursor) -> tuple[Expression, ...]:
    """The keys behind PARTITION BY of a table argument, in parentheses or as a single one."""
    if not cursor.accept("("):
        return (expression(cursor),)
    keys = expressions(cursor)
    cursor.expect(")")
    return keys


def expressions(cursor: QueryCursor) -> tuple[Expression, ...]:
    """One expression or more, with commas between them."""
    found = [expression(cursor)]
    while cursor.accept(","):
        found.append(expression(cursor))
    return tuple(found)


def simple_name(cursor: QueryCursor) -> Name:
    """A name of one part."""
    start = cursor.token.start
    name = identifier(cursor)
    return Name((name,), cursor.span_from(start))


def path_name(cursor: QueryCursor) -> Name:
    """A name of one part or more, such as that of a table."""
    start = cursor.token.start
    parts = path(cursor)
    return Name(parts, cursor.span_from(start))


def explicit_table(cursor: QueryCursor) -> ExplicitTable:
    """``TABLE t``."""
    start = cursor.expect("TABLE").start
    return ExplicitTable(path_name(cursor), cursor.span_from(start))


# --- what follows the call of an aggregate --------------------------------------------------------


#: Words that may follow a call and belong to it.
SUFFIXES = frozenset({"IGNORE", "RESPECT", "WITHIN", "FILTER", "OVER"})


def dressed(cursor: QueryCursor, call: Call) -> Call:
    """The call with all that is said behind it, in this order."""
    start = call.span.start
    for word in ("IGNORE", "RESPECT"):
        if cursor.accept(word, "NULLS"):
            call = replace(call, nulls=f"{word} NULLS")
    if cursor.accept("WITHIN", "GROUP"):
        call = replace(call, within=_order(cursor))
    if cursor.accept("FILTER"):
        cursor.expect("(")
        cursor.expect("WHERE")
        call = replace(call, filter=inner(cursor))
        cursor.expect(")")
    if cursor.accept("OVER"):
        call = replace(call, over=window(cursor))
    return replace(call, span=cursor.span_from(start))


def _order(cursor: QueryCursor) -> tuple[SortKey, ...]:
    cursor.expect("(")
    cursor.expect("ORDER", "BY")
    keys = sort_keys(cursor)
    cursor.expect(")")
    return keys


def sort_keys(cursor: QueryCursor) -> tuple[SortKey, ...]:
    """What stands behind ORDER BY."""
    found = [_sort_key(cursor)]
    while cursor.accept(","):
        found.append(_sort_key(cursor))
    return tuple(found)


def _sort_key(cursor: QueryCursor) -> SortKey:
    """``a DESC NULLS LAST``."""
    start = cursor.token.start
    value = inner(cursor)
    descending = cursor.accept("DESC")
    if not descending:
        cursor.accept("ASC")
    nulls_last = None
    if cursor.accept("NULLS", "FIRST"):
        nulls_last = False
    elif cursor.accept("NULLS", "LAST"):
        nulls_last = True
    return SortKey(value, descending, nulls_last, cursor.span_from(start))


def window(cursor: QueryCursor) -> Window:
    """The name of a window, or one in parentheses: behind OVER, or in a WINDOW clause."""
    start = cursor.token.start
    if cursor.key != "(":
        name = identifier(cursor)
        return Window(name, is_reference=True, span=cursor.span_from(start))
    cursor.index += 1
    base = identifier(cursor) if can_name(cursor.token) else None
    partition: tuple[Expression, ...] = ()
    if cursor.accept("PARTITION", "BY"):
        partition = _expressions(cursor)
    order = sort_keys(cursor) if cursor.accept("ORDER", "BY") else ()
    frame = _frame(cursor) if cursor.key in ("ROWS", "RANGE") else None
    if frame is not None and frame.unit == "ROWS" and cursor.accept("DISALLOW", "PARTIAL"):
        frame = replace(frame, whole=True)
    cursor.accept("ALLOW", "PARTIAL")
    cursor.expect(")")
    return Window(base, partition, order, frame, span=cursor.span_from(start))


def _expressions(cursor: QueryCursor) -> tuple[Expression, ...]:
    found = [inner(cursor)]
    while cursor.accept(","):
        found.append(inner(cursor))
    return tuple(found)


def _frame(cursor: QueryCursor) -> Frame:
    """``ROWS BETWEEN 1 PRECEDING AND CURRENT ROW``, or only its lower bound."""
    unit = cursor.advance().key
    if not cursor.accept("BETWEEN"):
        return Frame(unit, _bound(cursor))
    lower = _bound(cursor)
    cursor.expect("AND")
    return Frame(unit, lower, _bound(cursor))


def _bound(cursor: QueryCursor) -> Call | Symbol:
    """``CURRENT ROW``, ``UNBOUNDED PRECEDING`` or an offset ``2 FOLLOWING``."""
    start = cursor.token.start
    if cursor.accept("CURRENT", "ROW"):
        return Symbol("CURRENT ROW", cursor.span_from(start))
    for side in ("PRECEDING", "FOLLOWING"):
        if cursor.accept("UNBOUNDED", side):
            return Symbol(f"UNBOUNDED {side}", cursor.span_from(start))
    offset = inner(cursor)
    if cursor.key not in ("PRECEDING", "FOLLOWING"):
        raise refuse(cursor, "PRECEDING or FOLLOWING")
    side = cursor.advance().key
    return Call(side, (offset,), span=cursor.span_from(start))


# --- calls whose arguments have a grammar of their own --------------------------------------------


Form: TypeAlias = Callable[[QueryCursor], tuple[str, tuple[Expression, ...]]]


Arguments: TypeAlias = tuple[str, tuple[Expression, ...]]


# ------------------------------------------------------------------------------ units of time

#: Words that are units by themselves; any other word is the name of a unit, and printed quoted.
TIME_UNITS = frozenset(
    {
        "MILLENNIUM", "CENTURY", "DECADE", "YEAR", "ISOYEAR", "QUARTER", "MONTH", "WEEK", "DAY",
        "DOY", "DOW", "ISODOW", "EPOCH", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND",
        "NANOSECOND",
    }
)  # fmt: skip


DAYS = ("SUNDAY", "MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY")


def _time_unit(cursor: QueryCursor) -> Symbol:
    """A unit as Flink prints it: ``DAY``, or a name of one in back-ticks."""
    token = cursor.token
    if token.key == "WEEK" and cursor.peek().key == "(":
        cursor.index += 2
        if cursor.key not in DAYS:
            raise refuse(cursor, "a day of the week")
        word = quote_identifier(f"WEEK_{cursor.advance().key}")
        cursor.expect(")")
    elif token.key in TIME_UNITS:
        word = cursor.advance().key
    else:
        word = quote_identifier(identifier(cursor))
    return Symbol(word, cursor.span_from(token.start))


def _extract(cursor: QueryCursor) -> Arguments:
    """``EXTRACT(DAY FROM a)``."""
    unit = _time_unit(cursor)
    cursor.expect("FROM")
    return "EXTRACT", (unit, expression(cursor))


def _rounded(name: str, cursor: QueryCursor) -> Arguments:
    """``FLOOR(a)`` and ``FLOOR(a TO DAY)``."""
    value = expression(cursor)
    return name, (value, _time_unit(cursor)) if cursor.accept("TO") else (value,)


def _shifted(name: str, cursor: QueryCursor) -> Arguments:
    """``TIMESTAMPADD(DAY, a, b)``."""
    unit = _time_unit(cursor)
    cursor.expect(",")
    first = expression(cursor)
    cursor.expect(",")
    return name, (unit, first, expression(cursor))


# ------------------------------------------------------------------------------------ strings


def _trim(cursor: QueryCursor) -> Arguments:
    """``TRIM([BOTH | LEADING | TRAILING] [characters] [FROM] a)``."""
    token = cursor.token
    is_said = token.key in ("BOTH", "LEADING", "TRAILING")
    side = Symbol(cursor.advance().key if is_said else "BOTH", token.span)
    blank = Literal(LiteralKind.STRING, " ", span=token.span)
    if is_said and cursor.accept("FROM"):
        return "TRIM", (side, blank, expression(cursor))
    is_text = not is_said and begins_with_call(cursor)
    first = expression(cursor)
    if not is_text and cursor.accept("FROM"):
        return "TRIM", (side, first, expression(cursor))
    return "TRIM", (side, blank, first)


def _position(cursor: QueryCursor) -> Arguments:
    """``POSITION(a IN b [FROM 2])``."""
    found = [atom(cursor)]
    cursor.expect("IN")
    found.append(expression(cursor))
    if cursor.accept("FROM"):
        found.append(expression(cursor))
    return "POSITION", tuple(found)


def _substring(cursor: QueryCursor) -> Arguments:
    """``SUBSTRING(a FROM 1 [FOR 2])`` or with commas."""
    found = [expression(cursor)]
    if not cursor.accept("FROM"):
        cursor.expect(",")
    found.append(expression(cursor))
    if cursor.accept("FOR") or cursor.accept(","):
        found.append(expression(cursor))
    return "SUBSTRING", tuple(found)


def _overlay(cursor: QueryCursor) -> Arguments:
    """``OVERLAY(a PLACING b FROM 1 [FOR 2])``."""
    found = [expression(cursor)]
    for word in ("PLACING", "FROM"):
        cursor.expect(word)
        found.append(expression(cursor))
    if cursor.accept("FOR"):
        found.append(expression(cursor))
    return "OVERLAY", tuple(found)


def _translate(name: str, cursor: QueryCursor) -> Arguments:
    """``TRANSLATE(a USING utf8)``, which CONVERT may also be called, or with commas."""
    if name == "CONVERT" and begins_with_call(cursor):
        raise cursor.fail("CONVERT takes no call as its first argument")
    value = expression(cursor)
    if cursor.accept("USING"):
        start = cursor.token.start
        charset = quote_identifier(identifier(cursor))
        return "TRANSLATE USING", (value, Symbol(charset, cursor.span_from(start)))
    cursor.expect(",")
    return name, (value, *arguments(cursor))


def _cast(name: str, cursor: QueryCursor) -> Arguments:
    """``CAST(a AS INT)``."""
    value = expression(cursor)
    cursor.expect("AS")
    return name, (value, cast_target(cursor))


# --------------------------------------------------------------------------------------- JSON


def _json_start(cursor: QueryCursor) -> list[Expression]:
    """The document and the path in it."""
    document = expression(cursor)
    cursor.expect(",")
    return [document, expression(cursor)]


def _said(cursor: QueryCursor, *choices: str) -> Symbol | None:
    """The first of these groups of words that comes next, if any does."""
    start = cursor.token.start
    for words in choices:
        if cursor.accept(*words.split()):
            return Symbol(words, cursor.span_from(start))
    return None


def _said_or(cursor: QueryCursor, default: str, *choices: str) -> Symbol:
    """As `_said`, or the default."""
    return _said(cursor, *choices) or Symbol(default, cursor.token.span)


def _json_exists(cursor: QueryCursor) -> Arguments:
    found = _json_start(cursor)
    words = ("TRUE", "FALSE", "UNKNOWN", "ERROR")
    if said := _said(cursor, *(f"{word} ON ERROR" for word in words)):
        found.append(said)
    return "JSON_EXISTS", tuple(found)


EVENTS = ("EMPTY", "ERROR")


def _json_value(cursor: QueryCursor) -> Arguments:
    """``JSON_VALUE(a, path [RETURNING type] [NULL | ERROR | DEFAULT x ON EMPTY | ERROR] ...)``."""
    found = _json_start(cursor)
    if cursor.accept("RETURNING"):
        found.append(cast_target(cursor))
    choices = [f"{word} ON {event}" for word in ("NULL", "ERROR") for event in EVENTS]
    while True:
        start = cursor.token.start
        if said := _said(cursor, *choices):
            found.append(said)
        elif cursor.accept("DEFAULT"):
            value = expression(cursor)
            cursor.expect("ON")
            if cursor.key not in EVENTS:
                raise refuse(cursor, "EMPTY or ERROR")
            name = f"DEFAULT ON {cursor.advance().key}"
            found.append(Call(name, (value,), span=cursor.span_from(start)))
        else:
            return "JSON_VALUE", tuple(found)


#: How the wrapper may be written -> how it is printed.
WRAPPERS = {
    "WITHOUT ARRAY WRAPPER": "WITHOUT ARRAY WRAPPER",
    "WITHOUT WRAPPER": "WITHOUT ARRAY WRAPPER",
    "WITH CONDITIONAL ARRAY WRAPPER": "WITH CONDITIONAL ARRAY WRAPPER",
    "WITH CONDITIONAL WRAPPER": "WITH CONDITIONAL ARRAY WRAPPER",
    "WITH UNCONDITIONAL ARRAY WRAPPER": "WITH UNCONDITIONAL ARRAY WRAPPER",
    "WITH UNCONDITIONAL WRAPPER": "WITH UNCONDITIONAL ARRAY WRAPPER",
    "WITH ARRAY WRAPPER": "WITH UNCONDITIONAL ARRAY WRAPPER",
    "WITH WRAPPER": "WITH UNCONDITIONAL ARRAY WRAPPER",
}


def _json_query(cursor: QueryCursor) -> Arguments:
    """``JSON_QUERY(a, path [RETURNING type] [wrapper] [.. ON EMPTY] [.. ON ERROR])``."""
    found = _json_start(cursor)
    if cursor.accept("RETURNING"):
        found.append(cast_target(cursor))
    wrapper = _said_or(cursor, "WITHOUT ARRAY WRAPPER", *WRAPPERS)
    found.append(Symbol(WRAPPERS[wrapper.word], wrapper.span))
    on = {event: Symbol(f"NULL ON {event}", cursor.token.span) for event in EVENTS}
    words = ("NULL", "ERROR", "EMPTY ARRAY", "EMPTY OBJECT")
    choices = [f"{word} ON {event}" for word in words for event in EVENTS]
    while said := _said(cursor, *choices):
        on[said.word.rpartition(" ")[2]] = said
    return "JSON_QUERY", (*found, on["EMPTY"], on["ERROR"])


NULLS = ("NULL ON NULL", "ABSENT ON NULL")


def _pair(cursor: QueryCursor) -> list[Expression]:
    """``KEY a VALUE b``, ``a VALUE b`` or ``a: b``."""
    cursor.accept("KEY")
    key = expression(cursor)
    if not cursor.accept(":"):
        cursor.expect("VALUE")
    return [key, expression(cursor)]


def _json_object(cursor: QueryCursor) -> Arguments:
    """``JSON_OBJECT([KEY 'a' VALUE b, ...] [ABSENT ON NULL])``."""
    found: list[Expression] = []
    nulls = _said(cursor, *NULLS)
    if nulls is None and cursor.key != ")":
        if cursor.key != "KEY" and begins_with_call(cursor):
            raise cursor.fail("a key that begins with a call needs the word KEY")
        found += _pair(cursor)
        while cursor.accept(","):
            found += _pair(cursor)
        nulls = _said(cursor, *NULLS)
    return "JSON_OBJECT", (nulls or Symbol("NULL ON NULL", cursor.token.span), *found)


def _json_array(cursor: QueryCursor) -> Arguments:
    """``JSON_ARRAY([a, b] [NULL ON NULL])``."""
    found = () if cursor.key == ")" else arguments(cursor)
    return "JSON_ARRAY", (_said_or(cursor, "ABSENT ON NULL", *NULLS), *found)


def _json_objectagg(cursor: QueryCursor) -> Arguments:
    """``JSON_OBJECTAGG(KEY a VALUE b [ABSENT ON NULL])``."""
    pair = _pair(cursor)
    return "JSON_OBJECTAGG", (_said_or(cursor, "NULL ON NULL", *NULLS), *pair)


def _json_arrayagg(cursor: QueryCursor) -> Arguments:
    """``JSON_ARRAYAGG(a [NULL ON NULL])``."""
    value = expression(cursor)
    return "JSON_ARRAYAGG", (_said_or(cursor, "ABSENT ON NULL", *NULLS), value)


#: Name of a function -> what reads its arguments.
FORMS: Mapping[str, Form] = {
    "CAST":           partial(_cast, "CAST"),
    "TRY_CAST":       partial(_cast, "TRY_CAST"),
    "EXTRACT":        _extract,
    "FLOOR":          partial(_rounded, "FLOOR"),
    "CEIL":           partial(_rounded, "CEIL"),
    "CEILING":        partial(_rounded, "CEIL"),
    "TIMESTAMPADD":   partial(_shifted, "TIMESTAMPADD"),
    "TIMESTAMPDIFF":  partial(_shifted, "TIMESTAMPDIFF"),
    "TRIM":           _trim,
    "POSITION":       _position,
    "SUBSTRING":      _substring,
    "OVERLAY":        _overlay,
    "TRANSLATE":      partial(_translate, "TRANSLATE3"),
    "CONVERT":        partial(_translate, "CONVERT"),
    "JSON_EXISTS":    _json_exists,
    "JSON_VALUE":     _json_value,
    "JSON_QUERY":     _json_query,
    "JSON_OBJECT":    _json_object,
    "JSON_ARRAY":     _json_array,
    "JSON_OBJECTAGG": _json_objectagg,
    "JSON_ARRAYAGG":  _json_arrayagg,
}  # fmt: skip


# --- dispatch -------------------------------------------------------------------------------------


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
    "reserved": reserved,
    "symbol": _nothing,
    "bad": _nothing,
    "end": _nothing,
    "binary": literals.binary,
    **dict.fromkeys(literals.NUMBERS, literals.number),
    **dict.fromkeys(literals.STRINGS, literals.text),
}
