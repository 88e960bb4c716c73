"""The parser of expressions: operators, by how tightly they bind.

Operands and operators are stacked and joined when an operator comes that binds less (as Calcite's
parser does), so that one frame of Python reads a whole chain of operators: ``a OR b OR ...`` may
have thousands. What counts as nesting, for the budget of 64 levels, is the depth of the tree to
the right: brackets, arguments, right operands.

The powers are Calcite's: ``||`` binds like ``*``, all comparisons bind alike and to the left, IS
binds less than they do, NOT less than IS.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from schema_core.caching import cached
from schema_core.sql import operands
from schema_core.sql.literals import NUMBERS, signed
from schema_core.sql.syntax import Call, Expression, Literal, LiteralKind, Name
from schema_core.sql.tokens import cursor_over, expect_end, identifier, path, refuse, string
from schema_core.text import MAX_DEPTH, MAX_TEXT, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from schema_core.text import Cursor

__all__ = ["expression", "identifier", "inner", "parse_expression", "path", "string"]


@cached()
def parse_expression(text: str) -> Expression:
    """The tree of an expression of Flink SQL.

    Raises:
        ParseError: for what Flink's parser refuses, with the place; for more than 64 levels of
            nesting, 1,000,000 characters, or 1,000 digits in a number.

    >>> parse_expression("a + b.c")
    Call(name='+', arguments=(Name(parts=('a',)), Name(parts=('b', 'c'))), path=(), symbol=None, \
filter=None, within=(), over=None)
    >>> parse_expression("a + order")
    Traceback (most recent call last):
        ...
    schema_core.errors.ParseError: expected an expression, found 'order'
        a + order
            ^^^^^
      hint: quote a reserved word with back-ticks
    """
    cursor = cursor_over(text)
    found = expression(cursor)
    expect_end(cursor)
    return found


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

    def __init__(self, cursor: Cursor, *, is_bound: bool) -> None:
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


def expression(cursor: Cursor, *, is_bound: bool = False) -> Expression:
    """The expression at the cursor, up to the first token that cannot belong to it.

    As the lower bound of a BETWEEN (`is_bound`) it ends at AND and holds no BETWEEN of its own.

    Raises:
        ParseError: with the start of the first token that does not fit.
    """
    tokens = cursor.tokens
    token = tokens[cursor.index]
    if token.key in PREFIX:
        return _chain(Operands(cursor, is_bound=is_bound))
    first = (operands.READERS.get(token.key) or operands.KINDS[token.kind])(cursor)
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
    reader = operands.READERS.get(token.key) or operands.KINDS[token.kind]
    stack.values.append(reader(cursor))
    cursor.depth -= levels


def inner(cursor: Cursor) -> Expression:
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
    stack.wrap(f"{operator.name} {QUANTIFIERS[quantifier]}", *operands.items(cursor))
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
        raise refuse(stack.cursor, "(")
    stack.wrap(operator.name, *operands.items(stack.cursor))
    _end_list(stack.cursor)
    return False


def _end_list(cursor: Cursor) -> None:
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
