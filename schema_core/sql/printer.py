"""Expressions written as Flink writes them: parsing what is printed gives a tree that prints so.

Parentheses come back only where the powers of the operators ask for them, by Calcite's rule: each
place tells its operand how tightly the neighbours to the left and to the right hold it.

What this printer is given is written as it stands: rewritings that Flink does before it prints are
done by whoever asks. A function with a `path` is printed by that path in back-ticks.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, assert_never

from schema_core.sql.expression import TESTS
from schema_core.sql.keywords import NILADIC
from schema_core.sql.query_syntax import ExplicitTable, TableArgument
from schema_core.sql.spelling import print_interval, print_literal, print_path, print_type
from schema_core.sql.syntax import (
    Call,
    Interval,
    Literal,
    Name,
    Named,
    SortKey,
    Star,
    Subquery,
    Symbol,
    TypeName,
    Window,
)
from schema_core.text import quote_identifier

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from schema_core.sql.syntax import Expression, Frame

# ----------------------------------------------------------------------------------- operators


__all__ = ["print_expression", "print_sort_keys", "print_type", "print_window"]


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
    return _query(node) if isinstance(node, Subquery) else _show(node, 0, 0)


def _show(node: Expression, left: int, right: int) -> str:
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
            return f"{quote_identifier(name)} => {_show(value, *CLAUSE)}"
        case Subquery():
            return f"({_query(node)})"
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
    elif call.over is not None or call.filter is not None or call.symbol in NULLS:
        power = CLAUSE
    if left > power.left or 0 < right >= power.right:
        return f"({_word_first(call, name, 0, 0)})"
    return _word_first(call, name, left, right)


def _word_first(call: Call, name: str, left: int, right: int) -> str:
    if name in PREFIX:
        word, power = PREFIX[name]
        return f"{word} {_show(call.arguments[0], *power)}"
    if name == "OVERLAPS":
        first, second = call.arguments
        return f"{_period(first, left, right)} OVERLAPS {_period(second, left, right)}"
    if name == "(-)":
        first, second, unit = call.arguments
        return f"({_show(first, left, right)} - {_show(second, left, right)}) {_unit(unit)}"
    held = (left, right) if name in TRANSPARENT else (0, 0)
    return FORMS.get(name, _function)(call, *held) + _suffixes(call)


def _path(parts: tuple[str, ...]) -> str:
    return ".".join(map(quote_identifier, parts))


def _query(node: Subquery) -> str:
    from schema_core.sql.query_printer import print_query

    return print_query(node.query)


def _list(nodes: tuple[Expression, ...], left: int = 0, right: int = 0) -> str:
    return ", ".join([_show(node, left, right) for node in nodes])


def _unit(node: Expression) -> str:
    """The unit of an interval, without the word INTERVAL."""
    return print_type(node).removeprefix("INTERVAL ") if isinstance(node, TypeName) else ""


def _period(node: Expression, left: int, right: int) -> str:
    """A side of OVERLAPS, where a row is called a period."""
    if isinstance(node, Call) and node.name == "ROW":
        return f"PERIOD ({_list(node.arguments, left, right)})"
    return _show(node, left, right)


# ------------------------------------------------- operators that begin with their first operand
#
# Each gives what follows the first operand, and with what powers that operand is held.


def _binary(name: str, power: Power, call: Call, left: int, right: int) -> tuple[str, int, int]:
    return f" {name} {_show(call.arguments[1], power.right, right)}", left, power.left


def _test(name: str, call: Call, left: int, right: int) -> tuple[str, int, int]:
    return f" {name}", TEST.left, TEST.right


def _like(name: str, call: Call, left: int, right: int) -> tuple[str, int, int]:
    rest = [_show(one, *LIKE) for one in call.arguments[1:]]
    return f" {name} {' ESCAPE '.join(rest)}", LIKE.left, LIKE.right


def _between(name: str, call: Call, left: int, right: int) -> tuple[str, int, int]:
    """The lower bound stands in parentheses if there is an AND anywhere in it."""
    _, lower, upper = call.arguments
    held = 100 if _has_and(lower) else 0
    bounds = f"{_show(lower, held, held)} AND {_show(upper, 0, 33)}"
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
    listed = _list(values) if is_query else f"({_list(values, *COMMA)})"
    return f" {name} {listed}", left, power.left


def _element(call: Call, left: int, right: int) -> tuple[str, int, int]:
    return f"[{_show(call.arguments[1], 0, 0)}]", left, 0


def _field(call: Call, left: int, right: int) -> tuple[str, int, int]:
    return f".{_show(call.arguments[1], 0, 0)}", left, 0


Writer: TypeAlias = "Callable[[Call, int, int], tuple[str, int, int]]"

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


# -------------------------------------------------------------------- calls that begin with a word


def _function(call: Call, left: int, right: int) -> str:
    """``NAME(a, b)``; functions that have no parentheses without arguments have none here."""
    name = print_path(call.path) if call.path else call.name
    if not call.arguments and not call.path and name in NILADIC:
        return name
    symbol = f"{call.symbol} " if call.symbol in ("DISTINCT", "ALL") else ""
    return f"{name}({symbol}{', '.join(map(_argument, call.arguments))})"


def _argument(node: Expression) -> str:
    """An argument; a whole table as one has no parentheses unless it is named."""
    match node:
        case Subquery(query=ExplicitTable() | TableArgument()):
            return _query(node)
        case Named(name=name, value=Subquery(query=TableArgument()) as value):
            return f"{quote_identifier(name)} => {_query(value)}"
        case _:
            return _show(node, 0, 0)


def _case(call: Call, left: int, right: int) -> str:
    texts = [_show(one, left, right) for one in call.arguments]
    branches = [
        f"WHEN {texts[index]} THEN {texts[index + 1]}" for index in range(0, len(texts) - 1, 2)
    ]
    return f"CASE {' '.join(branches)} ELSE {texts[-1]} END"


def _constructor(call: Call, left: int, right: int) -> str:
    return f"{call.name}[{_list(call.arguments, left, right)}]"


def _constructor_query(call: Call, left: int, right: int) -> str:
    return f"{call.name.removesuffix(' QUERY')} ({_list(call.arguments, left, right)})"


def _joined(name: str, words: tuple[str, ...], call: Call, left: int, right: int) -> str:
    """Arguments with a word between each two: ``POSITION(a IN b FROM c)``."""
    first, *rest = [_show(one, left, right) for one in call.arguments]
    pairs = zip(words, rest, strict=False)
    return f"{name}({' '.join([first, *(f'{word} {text}' for word, text in pairs)])})"


def _rounded(call: Call, left: int, right: int) -> str:
    """``FLOOR(a TO DAY)``, where even a function stands in parentheses."""
    if len(call.arguments) == 1:
        return _function(call, left, right)
    return f"{call.name}({_show(call.arguments[0], 0, 100)} TO {_show(call.arguments[1], 0, 0)})"


def _trim(call: Call, left: int, right: int) -> str:
    side, characters, value = (_show(one, left, right) for one in call.arguments)
    return f"TRIM({side} {characters} FROM {value})"


def _interval_of(call: Call, left: int, right: int) -> str:
    """``INTERVAL a DAY``: anything but a name, a literal or a negation is in parentheses."""
    value, unit = call.arguments
    text = _show(value, 0, 0)
    is_plain = not isinstance(value, Call) or value.name == "-x" or value.symbol == "BARE"
    return f"INTERVAL {text if is_plain else f'({text})'} {_unit(unit)}"


def _exists(call: Call, left: int, right: int) -> str:
    return f"EXISTS {_show(call.arguments[0], 0, 0)}"


def _json_exists(call: Call, left: int, right: int) -> str:
    """``JSON_EXISTS(a, path TRUE ON ERROR)``, where only the path is held from outside."""
    document, path, *rest = call.arguments
    said = "".join(f" {_show(one, 0, 0)}" for one in rest)
    return f"JSON_EXISTS({_show(document, 0, 0)}, {_show(path, left, right)}{said})"


def _json_path(call: Call, left: int, right: int) -> str:
    """JSON_VALUE and JSON_QUERY: document, path, and what is said behind it."""
    document, path, *rest = call.arguments
    said = "".join(f" {_clause(one, left, right)}" for one in rest)
    return f"{call.name}({_show(document, left, right)}, {_show(path, left, right)}{said})"


def _clause(node: Expression, left: int, right: int) -> str:
    match node:
        case TypeName():
            return f"RETURNING {print_type(node)}"
        case Call(name="DEFAULT ON EMPTY" | "DEFAULT ON ERROR" as name, arguments=(value,)):
            return name.replace("DEFAULT", f"DEFAULT {_show(value, left, right)}", 1)
        case _:
            return _show(node, left, right)


def _json_pairs(call: Call, left: int, right: int) -> str:
    """JSON_OBJECT and JSON_OBJECTAGG."""
    nulls, *rest = [_show(one, left, right) for one in call.arguments]
    pairs = [f"KEY {key} VALUE {value}" for key, value in zip(rest[::2], rest[1::2], strict=True)]
    return f"{call.name}({' '.join([', '.join(pairs), nulls]).strip()})"


def _json_items(call: Call, left: int, right: int) -> str:
    """JSON_ARRAY and JSON_ARRAYAGG; an empty array says nothing about NULL."""
    nulls, *rest = [_show(one, left, right) for one in call.arguments]
    return f"{call.name}({', '.join(rest)} {nulls})" if rest else f"{call.name}()"


#: Calls that hold their arguments as they are held themselves; all others do not hold them.
TRANSPARENT = frozenset(
    {
        "ARRAY", "MAP", "MULTISET", "TRIM", "POSITION", "OVERLAY", "JSON_EXISTS", "JSON_VALUE",
        "JSON_OBJECT", "JSON_OBJECTAGG", "JSON_ARRAY", "JSON_ARRAYAGG", "TRANSLATE USING",
    }
)  # fmt: skip

#: Name -> how the call is written, if not like a function.
FORMS: Mapping[str, Callable[[Call, int, int], str]] = {
    "CASE":            _case,
    "ARRAY":           _constructor,
    "MAP":             _constructor,
    "MULTISET":        _constructor,
    "ARRAY QUERY":     _constructor_query,
    "MAP QUERY":       _constructor_query,
    "MULTISET QUERY":  _constructor_query,
    "CAST":            partial(_joined, "CAST", ("AS",)),
    "TRY_CAST":        partial(_joined, "TRY_CAST", ("AS",)),
    "EXTRACT":         partial(_joined, "EXTRACT", ("FROM",)),
    "POSITION":        partial(_joined, "POSITION", ("IN", "FROM")),
    "OVERLAY":         partial(_joined, "OVERLAY", ("PLACING", "FROM", "FOR")),
    "TRANSLATE USING": partial(_joined, "TRANSLATE", ("USING",)),
    "FLOOR":           _rounded,
    "CEIL":            _rounded,
    "TRIM":            _trim,
    "INTERVAL":        _interval_of,
    "EXISTS":          _exists,
    "JSON_EXISTS":     _json_exists,
    "JSON_VALUE":      _json_path,
    "JSON_QUERY":      _json_path,
    "JSON_OBJECT":     _json_pairs,
    "JSON_OBJECTAGG":  _json_pairs,
    "JSON_ARRAY":      _json_items,
    "JSON_ARRAYAGG":   _json_items,
    "DEFAULT":         lambda call, left, right: "DEFAULT",
    "MODEL":           lambda call, left, right: f"MODEL {_list(call.arguments, left, right)}",
}  # fmt: skip

# --------------------------------------------------------------------- what stands behind a call

NULLS = ("IGNORE NULLS", "RESPECT NULLS")


def _suffixes(call: Call) -> str:
    """NULLS, WITHIN GROUP, FILTER and OVER, in this order."""
    text = f" {call.symbol}" if call.symbol in NULLS else ""
    if call.within:
        text += f" WITHIN GROUP (ORDER BY {print_sort_keys(call.within)})"
    if call.filter is not None:
        text += f" FILTER (WHERE {_show(call.filter, *CLAUSE)})"
    if call.over is not None:
        text += f" OVER {print_window(call.over)}"
    return text


def print_sort_keys(keys: tuple[SortKey, ...]) -> str:
    """What stands behind ORDER BY; ASC is the default and not written."""
    nulls = {None: "", True: " NULLS LAST", False: " NULLS FIRST"}
    return ", ".join(
        f"{_show(key.expression, 0, 0)}{' DESC' if key.descending else ''}{nulls[key.nulls_last]}"
        for key in keys
    )


def print_window(window: Window) -> str:
    """What stands behind OVER, or in a WINDOW clause behind AS."""
    if window.is_reference:
        return quote_identifier(window.name or "")
    parts = [] if window.name is None else [quote_identifier(window.name)]
    if window.partition_by:
        parts.append(f"PARTITION BY {_list(window.partition_by)}")
    if window.order_by:
        parts.append(f"ORDER BY {print_sort_keys(window.order_by)}")
    if window.frame is not None:
        parts.append(_frame(window.frame))
    return f"({' '.join(parts)})"


def _frame(frame: Frame) -> str:
    if frame.upper is None:
        return f"{frame.unit} {_bound(frame.lower)}"
    return f"{frame.unit} BETWEEN {_bound(frame.lower)} AND {_bound(frame.upper)}"


def _bound(bound: Call | Symbol) -> str:
    if isinstance(bound, Symbol):
        return bound.word
    return f"{_show(bound.arguments[0], 0, 0)} {bound.name}"
