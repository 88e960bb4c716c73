"""Grammar of expressions: operators by precedence, operands, calls and special forms.

Operands and operators are pushed on stacks and reduced when an operator of lower precedence follows
(as in Calcite's parser): one Python frame parses a chain of thousands of operators. Nesting
(brackets, arguments, right operands) is limited to 64 levels.

The precedences are Calcite's: ``||`` equals ``*``; all comparisons are equal and left-associative,
IS is lower, NOT lower than IS.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from schema_core.base.keywords import BARE_NAMES, CALLABLE, KNOWN, NILADIC
from schema_core.base.lazy import NamedTuple
from schema_core.base.text import MAX_DEPTH, MAX_TEXT, Span, Token, quote_identifier
from schema_core.sql import escapes, literals, syntax
from schema_core.sql.literals import NUMBERS, add_sign
from schema_core.sql.tokens import (
    SqlCursor,
    can_name,
    identifier,
    parse_separated,
    path,
    refuse,
    sql_tokens,
)
from schema_core.sql.type_name import cast_target


class QueryCursor(SqlCursor):
    """A cursor over SQL that can parse subqueries.

    `parse_query` is the grammar of queries, which depends on this one: it parses the query at the
    cursor or, given its first operand, the rest. With `is_migration`, statements of migrations are
    parsed as well, which Flink does not have.
    """

    __slots__ = ("is_migration", "parse_query")

    def __init__(
        self, text: str, parse_query: QueryParser, tokens: Sequence[Token] | None = None
    ) -> None:
        super().__init__(text, sql_tokens(text) if tokens is None else tokens)
        self.parse_query: QueryParser = parse_query
        self.is_migration: bool = False


QueryParser: TypeAlias = "Callable[[QueryCursor, syntax.Subquery | None], syntax.Query]"


class Pending(NamedTuple):
    """An operator that waits for its last operand.

    `right` is its right precedence, `arity` the number of operands, `start` the offset of a prefix.
    """

    right: int
    name: str
    arity: int
    symbol: str | None = None
    start: int = -1


class Operands:
    """The stacks of a chain of operators."""

    __slots__ = ("cursor", "is_bound", "pending", "starts", "values")

    def __init__(self, cursor: QueryCursor, *, is_bound: bool) -> None:
        self.cursor: QueryCursor = cursor
        self.is_bound: bool = is_bound
        self.values: list[syntax.Expression] = []
        self.starts: list[int] = []
        self.pending: list[Pending] = []

    def join(self, left: int, most: int = MAX_TEXT) -> None:
        """Reduce at most `most` pending operators of higher precedence than `left`."""
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
            first, span = arguments[0], Span(start, stop)
            if name in _SIGNS and isinstance(first, syntax.Literal) and first.kind in _SIGNED:
                values.append(add_sign(first, name[0], span))
            else:
                values.append(syntax.Call(name, arguments, (), symbol, span=span))
            starts.append(start)

    def wrap(self, name: str, *more: syntax.Expression, symbol: str | None = None) -> None:
        """Make the last operand the first argument of a call."""
        stop = self.cursor.tokens[self.cursor.index - 1].stop
        span = Span(self.starts[-1], stop)
        self.values[-1] = syntax.Call(name, (self.values[-1], *more), (), symbol, span=span)


#: A sign before a number is part of the number.
_SIGNS = ("-x", "+x")
_SIGNED = (syntax.LiteralKind.EXACT, syntax.LiteralKind.APPROXIMATE)


def expression(cursor: QueryCursor, *, is_bound: bool = False) -> syntax.Expression:
    """Parse an expression, up to the first token that cannot belong to it.

    The lower bound of a BETWEEN (`is_bound`) ends at AND and cannot contain BETWEEN.

    Raises:
        ParseError: at the first token that does not fit.
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


def _chain(stack: Operands) -> syntax.Expression:
    """Parse operators and operands alternately; the first operand may be on the stack."""
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
    """Parse signs and NOT, and the operand after them.

    Pending operators count as levels of nesting, since the operand is part of their trees.
    Parentheses add no level, so they count only with a pending operator.
    """
    cursor, pending = stack.cursor, stack.pending
    token = cursor.tokens[cursor.index]
    while token.key in PREFIX:
        name, right = PREFIX[token.key]
        if name == "NOT" and pending and pending[-1].arity == 3:
            raise refuse(cursor, "the upper bound of BETWEEN in parentheses")
        if len(pending) >= MAX_DEPTH:
            cursor.descend()
        pending.append(Pending(right, name, 1, None, token.start))
        cursor.index += 1
        token = cursor.tokens[cursor.index]
    levels = len(pending) - (token.key == "(")
    cursor.depth += levels
    if cursor.depth > MAX_DEPTH:
        cursor.descend()
    stack.starts.append(token.start)
    reader = READERS.get(token.key) or KINDS[token.kind]
    stack.values.append(reader(cursor))
    cursor.depth -= levels


def inner(cursor: QueryCursor) -> syntax.Expression:
    """Parse an expression one level deeper."""
    cursor.descend()
    node = expression(cursor)
    cursor.depth -= 1
    return node


# ----------------------------------------------------------------------------------- operators


class Infix(NamedTuple):
    """An operator after an operand: its precedences and its parser.

    `read` returns True if an operand must follow, False if the operator is complete, None if the
    keyword does not belong to the expression.
    """

    left: int
    right: int
    name: str
    read: Callable[[Operands, Infix], bool | None]


def _binary(stack: Operands, operator: Infix) -> bool:
    stack.join(operator.left)
    stack.cursor.index += 1
    stack.pending.append(Pending(operator.right, operator.name, 2))
    return True


def _and(stack: Operands, operator: Infix) -> bool | None:
    """Parse AND, which also ends the lower bound of a BETWEEN."""
    return None if stack.is_bound else _binary(stack, operator)


def _comparison(stack: Operands, operator: Infix) -> bool:
    """Parse ``a = b``, or ``a = SOME (..)`` with the precedence of IN."""
    cursor = stack.cursor
    quantifier = cursor.peek().key
    if quantifier not in QUANTIFIERS or cursor.peek(2).key != "(":
        return _binary(stack, operator)
    stack.join(32)
    cursor.index += 2
    stack.wrap(f"{operator.name} {QUANTIFIERS[quantifier]}", *items(cursor))
    _end_list(cursor)
    return False


#: Quantifier -> canonical quantifier.
QUANTIFIERS = {"SOME": "SOME", "ANY": "SOME", "ALL": "ALL"}

#: Keywords after IS or IS NOT -> name of the test.
TESTS: dict[tuple[str, ...], str] = {
    **{
        tuple(test.split()): test
        for test in (
            "NULL", "TRUE", "FALSE", "UNKNOWN", "JSON VALUE", "JSON OBJECT", "JSON ARRAY",
            "JSON SCALAR",
        )
    },
    ("JSON",): "JSON VALUE",
}  # fmt: skip


def _is(stack: Operands, operator: Infix) -> bool:
    """Parse ``IS [NOT] NULL``, other tests, and ``IS [NOT] DISTINCT FROM``."""
    cursor = stack.cursor
    length = 2 if cursor.peek().key == "NOT" else 1
    name = "IS NOT" if length == 2 else "IS"
    if cursor.peek(length).key == "DISTINCT" and cursor.peek(length + 1).key == "FROM":
        cursor.index += length + 1
        return _binary(stack, Infix(30, 31, f"{name} DISTINCT FROM", _binary))
    stack.join(operator.left)
    cursor.index += length
    for words, test in TESTS.items():
        if cursor.accept(*words):
            stack.wrap(f"{name} {test}")
            return False
    raise refuse(cursor, "NULL, TRUE, FALSE, UNKNOWN, JSON or DISTINCT FROM")


def _not(stack: Operands, operator: Infix) -> bool | None:
    negated = NEGATED.get(stack.cursor.peek().key)
    if negated is None:
        return None
    stack.cursor.index += 1
    return negated.read(stack, negated)


def _parse_between(stack: Operands, operator: Infix) -> bool:
    """Parse ``a BETWEEN b AND c``; `b` is everything before AND."""
    cursor, pending = stack.cursor, stack.pending
    if stack.is_bound or any(operator.name in LIKES for operator in pending):
        raise cursor.fail("a BETWEEN within an operand requires parentheses")
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


#: Operators that ESCAPE may follow.
LIKES = frozenset({"LIKE", "NOT LIKE", "SIMILAR TO", "NOT SIMILAR TO"})


def _parse_like(stack: Operands, operator: Infix) -> bool:
    """Parse the right-associative ``a LIKE b`` and ``SIMILAR TO``.

    In the upper bound of a BETWEEN it ends with the bound, hence its precedence there.
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
    """Parse ESCAPE, whose operand is simple and not nested."""
    cursor, pending = stack.cursor, stack.pending
    stack.join(operator.left)
    if pending and pending[-1].name in LIKES and pending[-1].arity == 3:
        stack.join(pending[-1].right - 1, most=1)
    if (
        not pending
        or pending[-1].name not in LIKES
        or any(operator.arity == 3 for operator in pending)
    ):
        return None
    cursor.index += 1
    if cursor.key in PREFIX and cursor.peek().kind not in NUMBERS:
        raise refuse(cursor, "an unsigned operand")
    pending.append(pending.pop()._replace(right=operator.right, arity=3))
    return True


def _in(stack: Operands, operator: Infix) -> bool:
    stack.join(operator.left)
    stack.cursor.index += 1
    if stack.cursor.key != "(":
        raise refuse(stack.cursor, "'('")
    stack.wrap(operator.name, *items(stack.cursor))
    _end_list(stack.cursor)
    return False


def _end_list(cursor: QueryCursor) -> None:
    """Refuse operators that would take the list of IN as operand, as Flink's parser does."""
    key = cursor.peek().key if cursor.key == "NOT" else cursor.key
    if key in INFIX and INFIX[key].left > 32:
        raise refuse(cursor, "a condition in parentheses before the operator")


def _element(stack: Operands, operator: Infix) -> bool:
    cursor = stack.cursor
    cursor.index += 1
    index = inner(cursor)
    cursor.expect("]")
    stack.wrap("[]", index)
    return False


def _field(stack: Operands, operator: Infix) -> bool:
    """Parse ``f(a).b``: a field of a value that is not a name."""
    cursor = stack.cursor
    cursor.index += 1
    token = cursor.token
    stack.wrap(".", syntax.Name((identifier(cursor),), token.span))
    return False


#: Key -> (name, right precedence).
PREFIX: Mapping[str, tuple[str, int]] = {"-": ("-x", 81), "+": ("+x", 81), "NOT": ("NOT", 27)}

#: Key -> (left precedence, right precedence, name, parser).
INFIX: Mapping[str, Infix] = {
    "[":          Infix(100, 101, "[]",          _element),
    ".":          Infix(100, 101, ".",           _field),
    "||":         Infix(60,  61,  "||",          _binary),
    "*":          Infix(60,  61,  "*",           _binary),
    "/":          Infix(60,  61,  "/",           _binary),
    "%":          Infix(60,  61,  "%",           _binary),
    "+":          Infix(40,  41,  "+",           _binary),
    "-":          Infix(40,  41,  "-",           _binary),
    "LIKE":       Infix(33,  32,  "LIKE",        _parse_like),
    "SIMILAR":    Infix(33,  32,  "SIMILAR TO",  _parse_like),
    "ESCAPE":     Infix(32,  32,  "ESCAPE",      _escape),
    "BETWEEN":    Infix(32,  33,  "BETWEEN",     _parse_between),
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

#: Key after NOT -> as above.
NEGATED: Mapping[str, Infix] = {
    key: operator._replace(name=f"NOT {operator.name}")
    for key, operator in INFIX.items()
    if key in ("LIKE", "SIMILAR", "BETWEEN", "IN")
}


# --- operands -------------------------------------------------------------------------------------

Reader: TypeAlias = Callable[[QueryCursor], syntax.Expression]


# ---------------------------------------------------------------------- parentheses and queries

QUERY = frozenset({"SELECT", "WITH", "VALUES", "TABLE"})


def _nothing(cursor: QueryCursor) -> syntax.Expression:
    raise refuse(cursor, "an expression")


def parenthesis(cursor: QueryCursor) -> syntax.Expression:
    """Parse ``(a)``, the row ``(a, b)``, a query, or the interval ``(a - b) DAY``."""
    start = cursor.tokens[cursor.index].start
    cursor.index += 1
    cursor.descend()
    first = _query_or_expression(cursor)
    if cursor.key == ",":
        node: syntax.Expression = _row(cursor, [first], start)
    else:
        cursor.expect(")")
        node = first
    cursor.depth -= 1
    if cursor.tokens[cursor.index].key not in literals.UNIT_WORDS:
        return node
    if not isinstance(node, syntax.Call) or node.name != "-":
        problem = "an interval requires the difference of two datetimes"
        raise cursor.fail(problem, span=cursor.span_from(start))
    unit = _interval_unit(cursor)
    return syntax.Call("(-)", (*node.arguments, unit), span=cursor.span_from(start))


def _subquery(cursor: QueryCursor) -> syntax.Subquery:
    start = cursor.token.start
    return syntax.Subquery(cursor.parse_query(cursor, None), cursor.span_from(start))


def _query_or_expression(cursor: QueryCursor) -> syntax.Expression:
    """Parse a query or an expression; a query in parentheses may begin a longer one."""
    if cursor.key in QUERY:
        return _subquery(cursor)
    start = cursor.token.start
    node = expression(cursor)
    if isinstance(node, syntax.Subquery) and continues_query(cursor):
        return syntax.Subquery(cursor.parse_query(cursor, node), cursor.span_from(start))
    return node


def _row(cursor: QueryCursor, operands: list[syntax.Expression], start: int) -> syntax.Call:
    while cursor.key == ",":
        cursor.index += 1
        operands.append(expression(cursor))
    cursor.expect(")")
    return syntax.Call("ROW", tuple(operands), span=cursor.span_from(start))


def row_of_values(cursor: QueryCursor) -> tuple[syntax.Expression, ...]:
    """Parse a row of VALUES: ``(a, b)``, ``ROW(a, b)``, ``(ROW(a, b))`` or one expression.

    A row in parentheses ends with them, as in Flink: ``(1) + 2`` is refused.
    """
    with cursor.nested():
        if cursor.key == "(" and (cursor.peek().key, cursor.peek(2).key) == ("ROW", "("):
            cursor.advance()
            row = row_of_values(cursor)
            cursor.expect(")")
            return row
        if cursor.key == "ROW" and cursor.peek().key == "(":
            cursor.advance()
        if not cursor.accept("("):
            return (expression(cursor),)
        values = [_query_or_expression(cursor)]
        while cursor.accept(","):
            values.append(expression(cursor))
        cursor.expect(")")
        return tuple(values)


def _interval_unit(cursor: QueryCursor, *, single: bool = False) -> syntax.TypeName:
    unit = literals.qualifier(cursor, single=single)
    return syntax.TypeName("INTERVAL", interval=unit, span=unit.span)


def items(cursor: QueryCursor) -> tuple[syntax.Expression, ...]:
    """Parse the parentheses of IN, ANY and ALL: expressions or one query."""
    cursor.expect("(")
    cursor.descend()
    operands = [_query_or_expression(cursor)]
    while cursor.key == ",":
        cursor.index += 1
        operands.append(expression(cursor))
    cursor.depth -= 1
    cursor.expect(")")
    return tuple(operands)


def _exists(cursor: QueryCursor) -> syntax.Expression:
    start = cursor.advance().start
    cursor.expect("(")
    cursor.descend()
    query = _query_or_expression(cursor)
    if not isinstance(query, syntax.Subquery):
        raise cursor.fail("EXISTS requires a query", span=query.span)
    cursor.expect(")")
    cursor.depth -= 1
    return syntax.Call("EXISTS", (query,), span=cursor.span_from(start))


def _row_constructor(cursor: QueryCursor) -> syntax.Expression:
    """Parse ``ROW(a, b)``, which has at least one field."""
    start = cursor.advance().start
    cursor.expect("(")
    cursor.descend()
    node = _row(cursor, [expression(cursor)], start)
    cursor.depth -= 1
    return node


def _period(cursor: QueryCursor) -> syntax.Expression:
    """Parse ``PERIOD(a, b)``, a row of two fields."""
    node = _row_constructor(cursor)
    if isinstance(node, syntax.Call) and len(node.arguments) == 2:
        return node
    raise cursor.fail("PERIOD requires a start and an end", span=node.span)


def _array_of_query(cursor: QueryCursor, keyword: str) -> syntax.Expression:
    """Parse ``ARRAY(SELECT ..)``, in one or more pairs of parentheses."""
    start = cursor.advance().start
    ahead = 1
    while cursor.peek(ahead).key == "(":
        ahead += 1
    operands = items(cursor) if cursor.peek(ahead).key in QUERY else ()
    span = cursor.span_from(start)
    if len(operands) != 1 or not isinstance(operands[0], syntax.Subquery):
        raise cursor.fail(f"{keyword} requires its elements in brackets, or a query", span=span)
    return syntax.Call(f"{keyword} QUERY", operands, span=span)


def _collection(least: int, cursor: QueryCursor) -> syntax.Expression:
    """Parse ``ARRAY[a, b]`` or ``ARRAY(SELECT ..)``."""
    token = cursor.tokens[cursor.index]
    follower = cursor.peek().key
    if follower == "(":
        return _array_of_query(cursor, token.key)
    if follower != "[":
        return name_or_call(cursor) if token.kind == "word" else _nothing(cursor)
    cursor.index += 2
    cursor.descend()
    operands: list[syntax.Expression] = []
    while len(operands) < least or operands or cursor.key != "]":
        operands.append(expression(cursor))
        if cursor.key != ",":
            break
        cursor.index += 1
    cursor.expect("]")
    cursor.depth -= 1
    return syntax.Call(token.key, tuple(operands), span=cursor.span_from(token.start))


# ----------------------------------------------------------------------------- CASE and casts


def _case(cursor: QueryCursor) -> syntax.Expression:
    """Parse CASE; a simple one becomes a searched one."""
    start = cursor.advance().start
    cursor.descend()
    value = None if cursor.key == "WHEN" else expression(cursor)
    operands: list[syntax.Expression] = []
    while cursor.key == "WHEN":
        cursor.index += 1
        condition = expression(cursor)
        if value is not None:
            compared = [value, condition]
            while cursor.key == ",":
                cursor.index += 1
                compared.append(expression(cursor))
            name = "IN" if len(compared) > 2 else "="
            condition = syntax.Call(name, tuple(compared), span=condition.span)
        cursor.expect("THEN")
        operands += [condition, expression(cursor)]
    if not operands:
        raise refuse(cursor, "WHEN")
    if isinstance(value, syntax.Call) and len(operands) // 2 * _size(value) > MAX_COPIES:
        raise cursor.fail(
            "the value of a simple CASE is too large for its number of branches",
            span=value.span,
            code="limit-exceeded",
            hint="compute the value in a column of a subquery",
        )
    if cursor.key == "ELSE":
        cursor.index += 1
        operands.append(expression(cursor))
    else:
        operands.append(syntax.Literal(syntax.LiteralKind.NULL, "NULL", span=cursor.token.span))
    cursor.expect("END")
    cursor.depth -= 1
    return syntax.Call("CASE", tuple(operands), span=cursor.span_from(start))


#: Maximum number of nodes that the conditions of a simple CASE repeat.
MAX_COPIES = 10_000


def _size(node: syntax.Expression) -> int:
    """Count the nodes of a tree, up to `MAX_COPIES`."""
    waiting, count = [node], 0
    while waiting and count <= MAX_COPIES:
        part = waiting.pop()
        count += 1
        if isinstance(part, syntax.Call):
            waiting += part.arguments
    return count


# --------------------------------------------------------------------------------- literals


def _word_literal(kind: syntax.LiteralKind, cursor: QueryCursor) -> syntax.Expression:
    token = cursor.advance()
    return syntax.Literal(kind, token.key, span=token.span)


def _temporal(kind: syntax.LiteralKind, cursor: QueryCursor) -> syntax.Expression:
    """Parse ``DATE '2024-02-29'``, or a function of that name."""
    token = cursor.advance()
    if cursor.key == "(":
        return parse_call(cursor, (token.value,), token.key)
    zone = None
    if kind is syntax.LiteralKind.TIMESTAMP and cursor.accept("WITH", "LOCAL", "TIME", "ZONE"):
        zone = "LOCAL"
    return literals.temporal(cursor, kind, token.start, zone)


def _odbc_literal(kind: syntax.LiteralKind, cursor: QueryCursor) -> syntax.Expression:
    start = cursor.advance().start
    node = literals.temporal(cursor, kind, start, None)
    cursor.expect("}")
    return node


def _jdbc_function(cursor: QueryCursor) -> syntax.Expression:
    start = cursor.advance().start
    token = cursor.token
    if token.kind not in ("word", "reserved"):
        raise refuse(cursor, "the name of a function")
    cursor.advance()
    if cursor.key != "(":
        raise refuse(cursor, "'('")
    if token.key in escapes.WITH_UNITS:
        call = parse_call(cursor, (token.value,), token.key)
        cursor.expect("}")
        return replace(call, span=cursor.span_from(start))
    cursor.descend()
    cursor.index += 1
    operands: tuple[syntax.Expression, ...] = ()
    if cursor.key != ")":
        operands = (expression(cursor),)
    if token.key == "CONVERT" and operands and cursor.accept(","):
        keyword = escapes.converted_type(cursor.key)
        if keyword is None:
            raise refuse(cursor, "the name of a type such as SQL_VARCHAR")
        target = cast_target(SqlCursor(keyword, sql_tokens(keyword)))
        call = syntax.Call("CAST", (*operands, replace(target, span=cursor.advance().span)))
    else:
        while cursor.accept(","):
            operands = (*operands, expression(cursor))
        function = escapes.FUNCTIONS.get(token.key)
        if function is None:
            raise cursor.fail(f"JDBC has no function {token.value!r}", span=token.span)
        counts, build = function
        if len(operands) not in counts:
            expected, count = " or ".join(map(str, counts)), len(operands)
            problem = f"the function {token.value} requires {expected} arguments, got {count}"
            raise cursor.fail(problem, code="invalid-function-call", span=token.span)
        call = build(operands, token.span)
    cursor.expect(")", "}")
    cursor.depth -= 1
    return replace(call, span=cursor.span_from(start))


def _interval(cursor: QueryCursor) -> syntax.Expression:
    """Parse ``INTERVAL '5' DAY`` or, with a value, ``INTERVAL a DAY``."""
    start = cursor.advance().start
    sign = cursor.advance().key if cursor.key in ("-", "+") else ""
    if cursor.token.kind == "string":
        return literals.interval(cursor, start, negative=sign == "-")
    token = cursor.token
    value: syntax.Expression
    if token.kind in literals.NUMBERS:
        value = literals.number(cursor)
    elif token.key == "(":
        cursor.index += 1
        value = inner(cursor)
        cursor.expect(")")
    elif token.key == "PI" and cursor.peek().key != ".":
        value = call_without_parentheses(cursor.advance())
    else:
        value = syntax.Name(path(cursor), cursor.span_from(token.start))
    if sign == "-":
        value = syntax.Call("-x", (value,), span=value.span)
    unit = _interval_unit(cursor, single=True)
    return syntax.Call("INTERVAL", (value, unit), span=cursor.span_from(start))


def atom(cursor: QueryCursor) -> syntax.Expression:
    """Parse an operand without operators and parentheses."""
    token = cursor.token
    if token.key in ("-", "+") and cursor.peek().kind in literals.NUMBERS:
        cursor.index += 1
        number = literals.number(cursor)
        return literals.add_sign(number, token.key, cursor.span_from(token.start))
    if token.key in ("(", "ROW", "EXISTS"):
        raise refuse(cursor, "a name, a literal or a call")
    reader = READERS.get(token.key) or KINDS[token.kind]
    return reader(cursor)


# --- names and calls ------------------------------------------------------------------------------


def name_or_call(cursor: QueryCursor) -> syntax.Expression:
    """Parse a column, a path, or a function call."""
    tokens = cursor.tokens
    token = tokens[cursor.index]
    cursor.index += 1
    follower = tokens[cursor.index].key
    if follower == "(":
        return parse_call(cursor, (token.value,), token.key)
    if follower != ".":
        if token.key == "PI":
            return call_without_parentheses(token)
        return syntax.Name((token.value,), token.span)
    parts = [token.value]
    while tokens[cursor.index].key == ".":
        cursor.index += 1
        parts.append(identifier(cursor))
    if tokens[cursor.index].key == "(":
        return parse_call(cursor, tuple(parts), "")
    return syntax.Name(tuple(parts), cursor.span_from(token.start))


#: Aggregates with ``RESPECT NULLS`` and ORDER BY within their parentheses.
ORDERED = ("ARRAY_AGG",)

#: The `symbol` of a function without parentheses.
BARE = "BARE"


def call_without_parentheses(token: Token) -> syntax.Call:
    """Return the call of a function whose word, as written, names a column of a query."""
    return syntax.Call(token.key, symbol=BARE, word=token.value, span=token.span)


def parse_call(cursor: QueryCursor, parts: tuple[str, ...], key: str) -> syntax.Call:
    """Parse the arguments of a call, from the opening parenthesis.

    `key` is the name in upper case, or empty for a quoted name or a path. The call keeps the name
    as written unless it is in upper case or reserved.
    """
    start = cursor.tokens[cursor.index - 1].start
    if len(parts) > 1:
        start = cursor.tokens[cursor.index - 2 * len(parts) + 1].start
    form = FORMS.get(key)
    cursor.descend()
    cursor.index += 1
    symbol = None
    if form is not None:
        name, operands = form(cursor)
    else:
        name = key or parts[-1].upper()
        if cursor.key in ("DISTINCT", "ALL"):
            symbol = cursor.advance().key
            if cursor.key == "*":
                raise refuse(cursor, "an expression")
        operands = () if cursor.key == ")" and symbol is None else arguments(cursor)
    nulls = null_treatment(cursor) if key in ORDERED else None
    ordered = sort_keys(cursor) if key in ORDERED and cursor.accept("ORDER", "BY") else ()
    cursor.depth -= 1
    if cursor.key != ")":
        raise refuse(cursor, "')'" if form else "',' or ')'")
    cursor.index += 1
    is_known = form is not None or key in CALLABLE or key in KNOWN
    as_written = () if is_known or parts[0] == key else parts
    span = cursor.span_from(start)
    call = syntax.Call(
        name,
        operands,
        as_written,
        symbol,
        within=ordered,
        nulls=nulls,
        orders_arguments=bool(ordered),
        span=span,
    )
    if form is None and cursor.key in SUFFIXES:
        return with_suffixes(cursor, call)
    return call


def arguments(cursor: QueryCursor) -> tuple[syntax.Expression, ...]:
    """Parse arguments, up to the closing parenthesis."""
    if cursor.key == "*" and cursor.peek().key == ")":
        return (syntax.Star(span=cursor.advance().span),)
    operands = [argument(cursor)]
    while cursor.key == ",":
        cursor.index += 1
        operands.append(argument(cursor))
    return tuple(operands)


def argument(cursor: QueryCursor) -> syntax.Expression:
    """Parse an expression, ``name => value``, DEFAULT, a table or a model."""
    token = cursor.tokens[cursor.index]
    is_named = token.kind in ("word", "name") and cursor.peek().key == "=>"
    if is_named:
        cursor.index += 2
    reader = ARGUMENTS.get(cursor.key)
    node = reader(cursor) if reader else None
    if node is None:
        node = expression(cursor)
    if isinstance(node, syntax.Subquery) and cursor.key in ("PARTITION", "ORDER"):
        start = node.span.start
        node = syntax.Subquery(_with_keys(cursor, node.query, start), cursor.span_from(start))
    return syntax.Named(token.value, node, cursor.span_from(token.start)) if is_named else node


def _model(cursor: QueryCursor) -> syntax.Expression | None:
    """Parse ``MODEL m``; a bare MODEL is an identifier."""
    if cursor.peek().kind not in ("word", "name"):
        return None
    start = cursor.advance().start
    model = syntax.Name(path(cursor), cursor.span_from(cursor.tokens[cursor.index - 1].start))
    return syntax.Call("MODEL", (model,), span=cursor.span_from(start))


def _table(cursor: QueryCursor) -> syntax.Expression:
    start = cursor.token.start
    table = _with_keys(cursor, explicit_table(cursor), start)
    return syntax.Subquery(table, cursor.span_from(start))


#: Key at the start of an argument -> parser; on None an expression is parsed.
ARGUMENTS: Mapping[str, Callable[[QueryCursor], syntax.Expression | None]] = {
    "DEFAULT": lambda cursor: syntax.Call("DEFAULT", span=cursor.advance().span),
    "MODEL": _model,
    "TABLE": _table,
    "SELECT": _subquery,
    "VALUES": _subquery,
    "WITH": _subquery,
}


def reserved_call(cursor: QueryCursor) -> syntax.Expression:
    """Parse a reserved word that is a function; others are refused."""
    token = cursor.tokens[cursor.index]
    is_called = cursor.peek().key == "("
    if is_called and (token.key in CALLABLE or token.key in KNOWN or token.key in FORMS):
        cursor.index += 1
        return parse_call(cursor, (token.value,), token.key)
    if token.key in NILADIC and not is_called:
        cursor.index += 1
        return call_without_parentheses(token)
    if token.key in BARE_NAMES and not is_called:
        cursor.index += 1
        return syntax.Name((token.value,), token.span)
    raise refuse(cursor, "an expression")


def begins_with_call(cursor: QueryCursor) -> bool:
    """Return whether CASE WHEN or a call with plain arguments follows.

    In two places, Flink's parser expects none and refuses what follows it.
    """
    token, ahead = cursor.token, 1
    while token.kind in ("word", "name") and cursor.peek(ahead).key == ".":
        ahead += 2
    if token.key in CALLABLE or token.kind in ("word", "name"):
        return cursor.peek(ahead).key == "(" and token.key not in FORMS
    return token.key == "CASE" and cursor.peek().key == "WHEN"


# --- tables as arguments --------------------------------------------------------------------------


#: Set operator -> precedence.
OPERATORS = {"UNION": 1, "EXCEPT": 1, "INTERSECT": 2}


def continues_query(cursor: QueryCursor) -> bool:
    """Return whether the next token continues a query after its first operand."""
    return cursor.key in OPERATORS or cursor.key in ("ORDER", "LIMIT", "OFFSET", "FETCH")


def _with_keys(cursor: QueryCursor, table: syntax.Query, start: int) -> syntax.Query:
    """Parse the keys of a table argument; several of a clause are in parentheses."""
    partition_by: tuple[syntax.Expression, ...] = ()
    if cursor.accept("PARTITION", "BY", "("):
        partition_by = expressions(cursor)
        cursor.expect(")")
    elif cursor.accept("PARTITION", "BY"):
        partition_by = (expression(cursor),)
    order_by: tuple[syntax.SortKey, ...] = ()
    if cursor.accept("ORDER", "BY", "("):
        order_by = sort_keys(cursor)
        cursor.expect(")")
    elif cursor.accept("ORDER", "BY"):
        order_by = (_sort_key(cursor),)
    if not partition_by and not order_by:
        return table
    return syntax.TableArgument(table, partition_by, order_by, cursor.span_from(start))


def expressions(cursor: QueryCursor) -> tuple[syntax.Expression, ...]:
    """Parse expressions separated by commas."""
    return parse_separated(cursor, expression)


def simple_name(cursor: QueryCursor) -> syntax.Name:
    """Parse a name of one part."""
    start = cursor.token.start
    name = identifier(cursor)
    return syntax.Name((name,), cursor.span_from(start))


def path_name(cursor: QueryCursor) -> syntax.Name:
    """Parse a name of one or more parts."""
    start = cursor.token.start
    parts = path(cursor)
    return syntax.Name(parts, cursor.span_from(start))


def explicit_table(cursor: QueryCursor) -> syntax.ExplicitTable:
    """Parse ``TABLE t``."""
    start = cursor.expect("TABLE").start
    return syntax.ExplicitTable(path_name(cursor), cursor.span_from(start))


# --- what follows the call of an aggregate --------------------------------------------------------


#: Keywords that belong to the call before them.
SUFFIXES = frozenset({"IGNORE", "RESPECT", "WITHIN", "FILTER", "OVER"})


def null_treatment(cursor: QueryCursor) -> str | None:
    """Parse ``IGNORE NULLS`` or ``RESPECT NULLS`` if present."""
    for word in ("IGNORE", "RESPECT"):
        if cursor.accept(word, "NULLS"):
            return f"{word} NULLS"
    return None


def with_suffixes(cursor: QueryCursor, call: syntax.Call) -> syntax.Call:
    """Parse the clauses after a call."""
    start = call.span.start
    if nulls := null_treatment(cursor):
        call = replace(call, nulls=nulls)
    if cursor.accept("WITHIN", "GROUP"):
        cursor.expect("(", "ORDER", "BY")
        call = replace(call, within=sort_keys(cursor), orders_arguments=False)
        cursor.expect(")")
    if cursor.accept("FILTER"):
        cursor.expect("(")
        cursor.expect("WHERE")
        call = replace(call, filter=inner(cursor))
        cursor.expect(")")
    if cursor.accept("OVER"):
        call = replace(call, over=window(cursor))
    return replace(call, span=cursor.span_from(start))


def sort_keys(cursor: QueryCursor) -> tuple[syntax.SortKey, ...]:
    """Parse the keys of ORDER BY."""
    return parse_separated(cursor, _sort_key)


def _sort_key(cursor: QueryCursor) -> syntax.SortKey:
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
    return syntax.SortKey(value, descending, nulls_last, cursor.span_from(start))


def window(cursor: QueryCursor) -> syntax.Window:
    """Parse the name of a window, or a window in parentheses."""
    start = cursor.token.start
    if cursor.key != "(":
        name = identifier(cursor)
        return syntax.Window(name, is_reference=True, span=cursor.span_from(start))
    cursor.index += 1
    base = identifier(cursor) if can_name(cursor.token) else None
    partition = parse_separated(cursor, inner) if cursor.accept("PARTITION", "BY") else ()
    order = sort_keys(cursor) if cursor.accept("ORDER", "BY") else ()
    frame = None
    if cursor.key in ("ROWS", "RANGE"):
        unit, upper = cursor.advance().key, None
        is_range = cursor.accept("BETWEEN")
        lower = _parse_bound(cursor)
        if is_range:
            cursor.expect("AND")
            upper = _parse_bound(cursor)
        disallow_partial = unit == "ROWS" and cursor.accept("DISALLOW", "PARTIAL")
        frame = syntax.Frame(unit, lower, upper, disallow_partial)
    cursor.accept("ALLOW", "PARTIAL")
    cursor.expect(")")
    return syntax.Window(base, partition, order, frame, span=cursor.span_from(start))


def _parse_bound(cursor: QueryCursor) -> syntax.Call | syntax.Symbol:
    """Parse ``CURRENT ROW``, ``UNBOUNDED PRECEDING`` or ``2 FOLLOWING``."""
    start = cursor.token.start
    if cursor.accept("CURRENT", "ROW"):
        return syntax.Symbol("CURRENT ROW", cursor.span_from(start))
    for side in ("PRECEDING", "FOLLOWING"):
        if cursor.accept("UNBOUNDED", side):
            return syntax.Symbol(f"UNBOUNDED {side}", cursor.span_from(start))
    offset = inner(cursor)
    if cursor.key not in ("PRECEDING", "FOLLOWING"):
        raise refuse(cursor, "PRECEDING or FOLLOWING")
    side = cursor.advance().key
    return syntax.Call(side, (offset,), span=cursor.span_from(start))


# --- calls whose arguments have a grammar of their own --------------------------------------------


Arguments: TypeAlias = tuple[str, tuple[syntax.Expression, ...]]
Form: TypeAlias = Callable[[QueryCursor], Arguments]


def _form(name: str, first: Reader, *further: tuple[str, Reader]) -> Form:
    """Return a parser of operands after keywords.

    ``FROM|,`` are alternatives; ``[FOR]`` is optional, with all that follows.
    """
    steps = [(words.strip("[]").split("|"), words[0] == "[", read) for words, read in further]

    def parse_operands(cursor: QueryCursor) -> Arguments:
        operands = [first(cursor)]
        for words, is_optional, read in steps:
            if not any(map(cursor.accept, words)):
                if is_optional:
                    break
                raise cursor.missing(words[-1])
            operands.append(read(cursor))
        return name, tuple(operands)

    return parse_operands


# ------------------------------------------------------------------------------ units of time

#: Keywords that are units of time; other words name units and are printed quoted.
TIME_UNITS = frozenset(
    {
        "MILLENNIUM", "CENTURY", "DECADE", "YEAR", "ISOYEAR", "QUARTER", "MONTH", "WEEK", "DAY",
        "DOY", "DOW", "ISODOW", "EPOCH", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND",
        "NANOSECOND",
    }
)  # fmt: skip

DAYS = ("SUNDAY", "MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY")


def _time_unit(cursor: QueryCursor) -> syntax.Symbol:
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
    return syntax.Symbol(word, cursor.span_from(token.start))


# ------------------------------------------------------------------------------------ strings


def _trim(cursor: QueryCursor) -> Arguments:
    """Parse ``TRIM([BOTH | LEADING | TRAILING] [characters] [FROM] a)``."""
    token = cursor.token
    has_side = token.key in ("BOTH", "LEADING", "TRAILING")
    side = syntax.Symbol(cursor.advance().key if has_side else "BOTH", token.span)
    blank = syntax.Literal(syntax.LiteralKind.STRING, " ", span=token.span)
    if has_side and cursor.accept("FROM"):
        return "TRIM", (side, blank, expression(cursor))
    is_text = not has_side and begins_with_call(cursor)
    first = expression(cursor)
    if not is_text and cursor.accept("FROM"):
        return "TRIM", (side, first, expression(cursor))
    return "TRIM", (side, blank, first)


def _translate(name: str, cursor: QueryCursor) -> Arguments:
    """Parse ``TRANSLATE(a USING utf8)``, alias CONVERT, also with commas."""
    if name == "CONVERT" and begins_with_call(cursor):
        raise cursor.fail("the first argument of CONVERT cannot begin with a call")
    value = expression(cursor)
    if cursor.accept("USING"):
        start = cursor.token.start
        charset = quote_identifier(identifier(cursor))
        return "TRANSLATE USING", (value, syntax.Symbol(charset, cursor.span_from(start)))
    cursor.expect(",")
    return name, (value, *arguments(cursor))


# --------------------------------------------------------------------------------------- JSON


def _json_start(cursor: QueryCursor) -> list[syntax.Expression]:
    document = expression(cursor)
    cursor.expect(",")
    return [document, expression(cursor)]


def _accept(cursor: QueryCursor, *choices: str) -> syntax.Symbol | None:
    """Parse the first of these keyword sequences that follows, if any."""
    start = cursor.token.start
    for words in choices:
        if cursor.accept(*words.split()):
            return syntax.Symbol(words, cursor.span_from(start))
    return None


def _accept_or(cursor: QueryCursor, default: str, *choices: str) -> syntax.Symbol:
    return _accept(cursor, *choices) or syntax.Symbol(default, cursor.token.span)


def _json_exists(cursor: QueryCursor) -> Arguments:
    operands = _json_start(cursor)
    words = ("TRUE", "FALSE", "UNKNOWN", "ERROR")
    if symbol := _accept(cursor, *(f"{word} ON ERROR" for word in words)):
        operands.append(symbol)
    return "JSON_EXISTS", tuple(operands)


EVENTS = ("EMPTY", "ERROR")


def _json_value(cursor: QueryCursor) -> Arguments:
    """Parse ``JSON_VALUE(a, path [RETURNING type] [NULL | ERROR | DEFAULT x ON EMPTY] ..)``."""
    operands = _json_start(cursor)
    if cursor.accept("RETURNING"):
        operands.append(cast_target(cursor))
    choices = [f"{word} ON {event}" for word in ("NULL", "ERROR") for event in EVENTS]
    while True:
        start = cursor.token.start
        if symbol := _accept(cursor, *choices):
            operands.append(symbol)
        elif cursor.accept("DEFAULT"):
            value = expression(cursor)
            cursor.expect("ON")
            if cursor.key not in EVENTS:
                raise refuse(cursor, "EMPTY or ERROR")
            name = f"DEFAULT ON {cursor.advance().key}"
            operands.append(syntax.Call(name, (value,), span=cursor.span_from(start)))
        else:
            return "JSON_VALUE", tuple(operands)


#: Wrapper clause as written -> as printed.
WRAPPERS = {
    f"{written} {word}": f"{printed} ARRAY WRAPPER"
    for written, printed in {
        "WITHOUT": "WITHOUT",
        "WITH CONDITIONAL": "WITH CONDITIONAL",
        "WITH UNCONDITIONAL": "WITH UNCONDITIONAL",
        "WITH": "WITH UNCONDITIONAL",
    }.items()
    for word in ("ARRAY WRAPPER", "WRAPPER")
}


def _json_query(cursor: QueryCursor) -> Arguments:
    """Parse ``JSON_QUERY(a, path [RETURNING type] [wrapper] [.. ON EMPTY] [.. ON ERROR])``."""
    operands = _json_start(cursor)
    if cursor.accept("RETURNING"):
        operands.append(cast_target(cursor))
    wrapper = _accept_or(cursor, "WITHOUT ARRAY WRAPPER", *WRAPPERS)
    operands.append(syntax.Symbol(WRAPPERS[wrapper.word], wrapper.span))
    on = {event: syntax.Symbol(f"NULL ON {event}", cursor.token.span) for event in EVENTS}
    words = ("NULL", "ERROR", "EMPTY ARRAY", "EMPTY OBJECT")
    choices = [f"{word} ON {event}" for word in words for event in EVENTS]
    while symbol := _accept(cursor, *choices):
        on[symbol.word.rpartition(" ")[2]] = symbol
    return "JSON_QUERY", (*operands, on["EMPTY"], on["ERROR"])


NULLS = ("NULL ON NULL", "ABSENT ON NULL")


def _pair(cursor: QueryCursor) -> list[syntax.Expression]:
    cursor.accept("KEY")
    key = expression(cursor)
    if not cursor.accept(":"):
        cursor.expect("VALUE")
    return [key, expression(cursor)]


def _json_object(cursor: QueryCursor) -> Arguments:
    """Parse ``JSON_OBJECT([KEY 'a' VALUE b, ...] [ABSENT ON NULL])``."""
    operands: list[syntax.Expression] = []
    nulls = _accept(cursor, *NULLS)
    if nulls is None and cursor.key != ")":
        if cursor.key != "KEY" and begins_with_call(cursor):
            raise cursor.fail("a key that begins with a call requires the keyword KEY")
        operands += _pair(cursor)
        while cursor.accept(","):
            operands += _pair(cursor)
        nulls = _accept(cursor, *NULLS)
    return "JSON_OBJECT", (nulls or syntax.Symbol("NULL ON NULL", cursor.token.span), *operands)


def _json_with_nulls(
    name: str, default: str, parse_operands: Callable[[QueryCursor], Iterable[syntax.Expression]]
) -> Form:
    """Return a parser of operands and ``[NULL | ABSENT] ON NULL``."""

    def parse(cursor: QueryCursor) -> Arguments:
        operands = parse_operands(cursor)
        return name, (_accept_or(cursor, default, *NULLS), *operands)

    return parse


#: Function -> parser of its arguments.
FORMS: Mapping[str, Form] = {
    "CAST":           _form("CAST", expression, ("AS", cast_target)),
    "TRY_CAST":       _form("TRY_CAST", expression, ("AS", cast_target)),
    "EXTRACT":        _form("EXTRACT", _time_unit, ("FROM", expression)),
    "FLOOR":          _form("FLOOR", expression, ("[TO]", _time_unit)),
    "CEIL":           _form("CEIL", expression, ("[TO]", _time_unit)),
    "CEILING":        _form("CEIL", expression, ("[TO]", _time_unit)),
    "TIMESTAMPADD":   _form("TIMESTAMPADD", _time_unit, (",", expression), (",", expression)),
    "TIMESTAMPDIFF":  _form("TIMESTAMPDIFF", _time_unit, (",", expression), (",", expression)),
    "TRIM":           _trim,
    "POSITION":       _form("POSITION", atom, ("IN", expression), ("[FROM]", expression)),
    "SUBSTRING":      _form("SUBSTRING", expression, ("FROM|,", expression),
                            ("[FOR|,]", expression)),
    "OVERLAY":        _form("OVERLAY", expression, ("PLACING", expression), ("FROM", expression),
                            ("[FOR]", expression)),
    "TRANSLATE":      partial(_translate, "TRANSLATE3"),
    "CONVERT":        partial(_translate, "CONVERT"),
    "JSON_EXISTS":    _json_exists,
    "JSON_VALUE":     _json_value,
    "JSON_QUERY":     _json_query,
    "JSON_OBJECT":    _json_object,
    "JSON_ARRAY":     _json_with_nulls("JSON_ARRAY", "ABSENT ON NULL",
                          lambda cursor: () if cursor.key == ")" else arguments(cursor)),
    "JSON_OBJECTAGG": _json_with_nulls("JSON_OBJECTAGG", "NULL ON NULL", _pair),
    "JSON_ARRAYAGG":  _json_with_nulls("JSON_ARRAYAGG", "ABSENT ON NULL",
                          lambda cursor: (expression(cursor),)),
}  # fmt: skip


# --- dispatch -------------------------------------------------------------------------------------

#: Key of the first token -> parser.
READERS: Mapping[str, Reader] = {
    "(":         parenthesis,
    "ROW":       _row_constructor,
    "PERIOD":    _period,
    "ARRAY":     partial(_collection, 0),
    "MAP":       partial(_collection, 0),
    "MULTISET":  partial(_collection, 1),
    "CASE":      _case,
    "EXISTS":    _exists,
    "NULL":      partial(_word_literal, syntax.LiteralKind.NULL),
    "TRUE":      partial(_word_literal, syntax.LiteralKind.BOOLEAN),
    "FALSE":     partial(_word_literal, syntax.LiteralKind.BOOLEAN),
    "UNKNOWN":   partial(_word_literal, syntax.LiteralKind.UNKNOWN),
    "DATE":      partial(_temporal, syntax.LiteralKind.DATE),
    "TIME":      partial(_temporal, syntax.LiteralKind.TIME),
    "TIMESTAMP": partial(_temporal, syntax.LiteralKind.TIMESTAMP),
    "{D":        partial(_odbc_literal, syntax.LiteralKind.DATE),
    "{T":        partial(_odbc_literal, syntax.LiteralKind.TIME),
    "{TS":       partial(_odbc_literal, syntax.LiteralKind.TIMESTAMP),
    "{FN":       _jdbc_function,
    "DECIMAL":   literals.decimal,
    "INTERVAL":  _interval,
}  # fmt: skip

#: Kind of the first token -> parser.
KINDS: Mapping[str, Reader] = {
    "word": name_or_call,
    "name": name_or_call,
    "reserved": reserved_call,
    "symbol": _nothing,
    "bad": _nothing,
    "end": _nothing,
    "binary": literals.binary,
    **dict.fromkeys(literals.NUMBERS, literals.number),
    **dict.fromkeys(literals.STRINGS, literals.text),
}
