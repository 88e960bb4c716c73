"""Expressions written as Flink writes them: parsing what is printed gives a tree that prints so.

Parentheses come back only where the powers of the operators ask for them, by Calcite's rule: each
place tells its operand how tightly the neighbours to the left and to the right hold it.

What this printer is given is written as it stands: rewritings that Flink does before it prints are
done by whoever asks. A function with a `path` is printed by that path in back-ticks.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, assert_never

from schema_core.sql import call_printer
from schema_core.sql.expression import TESTS
from schema_core.sql.identifiers import print_interval, print_literal, print_path, print_type
from schema_core.sql.syntax import (
    Call,
    Interval,
    Literal,
    Name,
    Named,
    Star,
    Subquery,
    Symbol,
    TypeName,
)
from schema_core.text import quote_identifier

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from schema_core.sql.syntax import Expression

    Writer: TypeAlias = Callable[[Call, int, int], tuple[str, int, int]]

__all__ = ["print_expression", "print_type"]


class Power(NamedTuple):
    """How tightly an operator holds on to the left and to the right; 0 is not at all."""

    left: int
    right: int


FUNCTION = Power(100, 100)
ACCESS = Power(100, 101)
CONSTRUCTOR = Power(200, 201)
LIKE = Power(33, 32)
AMONG = Power(32, 33)
TEST = Power(28, 29)
CLAUSE = Power(20, 21)
COMMA = Power(2, 3)

#: Operators between two operands.
BINARY: Mapping[str, Power] = {
    "||":                   Power(60, 61),
    "*":                    Power(60, 61),
    "/":                    Power(60, 61),
    "%":                    Power(60, 61),
    "+":                    Power(40, 41),
    "-":                    Power(40, 41),
    "=":                    Power(30, 31),
    "<>":                   Power(30, 31),
    "<":                    Power(30, 31),
    "<=":                   Power(30, 31),
    ">":                    Power(30, 31),
    ">=":                   Power(30, 31),
    "IS DISTINCT FROM":     Power(30, 31),
    "IS NOT DISTINCT FROM": Power(30, 31),
    "AND":                  Power(24, 25),
    "OR":                   Power(22, 23),
}  # fmt: skip

#: Operators before their operand -> (how they are written, their powers).
PREFIX: Mapping[str, tuple[str, Power]] = {
    "-x":  ("-",   Power(80, 81)),
    "+x":  ("+",   Power(80, 81)),
    "NOT": ("NOT", Power(26, 27)),
}  # fmt: skip

#: Calls that begin with a word or a bracket and do not hold on like a function.
POWERS: Mapping[str, Power] = {
    "CASE":     CONSTRUCTOR,
    "ROW":      CONSTRUCTOR,
    "ARRAY":    CONSTRUCTOR,
    "MAP":      CONSTRUCTOR,
    "MULTISET": CONSTRUCTOR,
    "(-)":      Power(40, 41),
    "EXISTS":   Power(40, 41),
    "OVERLAPS": Power(30, 31),
    "INTERVAL": Power(0, 1),
}  # fmt: skip


def print_expression(node: Expression) -> str:
    """The expression as Flink prints it.

    >>> from schema_core.sql.expression import parse_expression
    >>> print(print_expression(parse_expression("(a=1) = (b IS NULL) and trim(c) in ('x')")))
    `a` = 1 = (`b` IS NULL) AND TRIM(BOTH ' ' FROM `c`) IN ('x')
    """
    return show_query(node) if isinstance(node, Subquery) else show(node, 0, 0)


def show(node: Expression, left: int, right: int) -> str:
    """The text of a node whose neighbours hold it with these powers.

    Operators that begin with their first operand are walked in a loop, so that a chain of
    thousands needs no deeper stack; what follows the operand is gathered from the end.
    """
    if not isinstance(node, Call):
        return _leaf(node)
    tail: list[str] = []
    opened = 0
    while isinstance(node, Call) and node.name in LEADING and not node.path:
        power, write = LEADING[node.name]
        if left > power.left or 0 < right >= power.right:
            tail.append(")")
            opened += 1
            left = right = 0
        text, left, right = write(node, left, right)
        tail.append(text)
        node = node.arguments[0]
    first = _enclosed(node, left, right) if isinstance(node, Call) else _leaf(node)
    return "(" * opened + first + "".join(reversed(tail))


def _leaf(node: Expression) -> str:
    """The text of a node that never stands in parentheses."""
    match node:
        case Literal():
            return print_literal(node)
        case Name(parts=parts):
            return print_path(parts)
        case Interval():
            return print_interval(node)
        case Symbol(word=word):
            return word
        case TypeName():
            return print_type(node)
        case Star(prefix=prefix):
            return f"{print_path(prefix)}.*" if prefix else "*"
        case Named(name=name, value=value):
            return f"{quote_identifier(name)} => {show(value, *CLAUSE)}"
        case Subquery():
            return f"({show_query(node)})"
        case Call():
            return _enclosed(node, 0, 0)
        case _:
            assert_never(node)


def _enclosed(call: Call, left: int, right: int) -> str:
    """A call that begins with a word, in parentheses where its place asks for them."""
    if call.symbol == "BARE":
        return call.name
    name = "" if call.path else call.name
    power = POWERS.get(name, FUNCTION)
    if name in PREFIX:
        power = PREFIX[name][1]
    elif call.over is not None or call.filter is not None or call.nulls is not None:
        power = CLAUSE
    if left > power.left or 0 < right >= power.right:
        return f"({_word_first(call, name, 0, 0)})"
    return _word_first(call, name, left, right)


def _word_first(call: Call, name: str, left: int, right: int) -> str:
    if name in PREFIX:
        word, power = PREFIX[name]
        return f"{word} {show(call.arguments[0], *power)}"
    if name == "OVERLAPS":
        first, second = call.arguments
        return f"{_period(first, left, right)} OVERLAPS {_period(second, left, right)}"
    if name == "(-)":
        first, second, unit = call.arguments
        return f"({show(first, left, right)} - {show(second, left, right)}) {show_unit(unit)}"
    held = (left, right) if name in call_printer.TRANSPARENT else (0, 0)
    return call_printer.FORMS.get(name, call_printer.function)(call, *held) + (
        call_printer.suffixes(call)
    )


def _path(parts: tuple[str, ...]) -> str:
    return ".".join(map(quote_identifier, parts))


def show_query(node: Subquery) -> str:
    from schema_core.sql.query_printer import print_query

    return print_query(node.query)


def show_list(nodes: tuple[Expression, ...], left: int = 0, right: int = 0) -> str:
    return ", ".join([show(node, left, right) for node in nodes])


def show_unit(node: Expression) -> str:
    """The unit of an interval, without the word INTERVAL."""
    return print_type(node).removeprefix("INTERVAL ") if isinstance(node, TypeName) else ""


def _period(node: Expression, left: int, right: int) -> str:
    """A side of OVERLAPS, where a row is called a period."""
    if isinstance(node, Call) and node.name == "ROW":
        return f"PERIOD ({show_list(node.arguments, left, right)})"
    return show(node, left, right)


# ------------------------------------------------- operators that begin with their first operand
#
# Each gives what follows the first operand, and with what powers that operand is held.


def _binary(name: str, power: Power, call: Call, left: int, right: int) -> tuple[str, int, int]:
    return f" {name} {show(call.arguments[1], power.right, right)}", left, power.left


def _test(name: str, call: Call, left: int, right: int) -> tuple[str, int, int]:
    return f" {name}", TEST.left, TEST.right


def _like(name: str, call: Call, left: int, right: int) -> tuple[str, int, int]:
    rest = [show(one, *LIKE) for one in call.arguments[1:]]
    return f" {name} {' ESCAPE '.join(rest)}", LIKE.left, LIKE.right


def _between(name: str, call: Call, left: int, right: int) -> tuple[str, int, int]:
    """The lower bound stands in parentheses if there is an AND anywhere in it."""
    _, lower, upper = call.arguments
    held = 100 if _has_and(lower) else 0
    bounds = f"{show(lower, held, held)} AND {show(upper, 0, 33)}"
    return f" {name} {call.symbol or 'ASYMMETRIC'} {bounds}", 32, 0


def _has_and(node: Expression) -> bool:
    waiting: list[Expression] = [node]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Call):
            if one.name == "AND":
                return True
            waiting += one.arguments
    return False


def _among(name: str, power: Power, call: Call, left: int, right: int) -> tuple[str, int, int]:
    """IN and its like: values in parentheses, or a query, which brings its own."""
    values = call.arguments[1:]
    is_query = len(values) == 1 and isinstance(values[0], Subquery)
    listed = show_list(values) if is_query else f"({show_list(values, *COMMA)})"
    return f" {name} {listed}", left, power.left


def _element(call: Call, left: int, right: int) -> tuple[str, int, int]:
    return f"[{show(call.arguments[1], 0, 0)}]", left, 0


def _field(call: Call, left: int, right: int) -> tuple[str, int, int]:
    return f".{show(call.arguments[1], 0, 0)}", left, 0


#: Name -> (its powers, what follows its first operand).
LEADING: Mapping[str, tuple[Power, Writer]] = {
    **{name: (power, partial(_binary, name, power)) for name, power in BINARY.items()},
    **{
        name: (TEST, partial(_test, name))
        for is_ in ("IS", "IS NOT")
        for name in (f"{is_} {test}" for test in TESTS.values())
    },
    **{
        name: (LIKE, partial(_like, name))
        for name in ("LIKE", "NOT LIKE", "SIMILAR TO", "NOT SIMILAR TO")
    },
    **{name: (AMONG, partial(_between, name)) for name in ("BETWEEN", "NOT BETWEEN")},
    **{name: (AMONG, partial(_among, name, AMONG)) for name in ("IN", "NOT IN")},
    **{
        name: (AMONG, partial(_among, name, AMONG))
        for name in (
            f"{sign} {word}"
            for sign in ("=", "<>", "<", "<=", ">", ">=")
            for word in ("SOME", "ALL")
        )
    },
    "[]": (ACCESS, _element),
    ".": (ACCESS, _field),
}
