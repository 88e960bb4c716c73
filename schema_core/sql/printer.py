"""Printer of expressions, queries, literals and types in Flink's form: parsing returns the tree.

Parentheses are printed where precedence requires them, by Calcite's rule: each operand is printed
with the precedences of its neighbours. Flink's rewrites before printing are up to the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sized
from decimal import Decimal
from functools import partial
from itertools import product
from typing import TypeAlias, assert_never

from schema_core.base.keywords import NILADIC
from schema_core.base.lazy import NamedTuple, regex
from schema_core.base.secrets import mask_query
from schema_core.base.text import quote_identifier, quote_string
from schema_core.sql import expression, syntax
from schema_core.sql.literals import format_unit

# --- identifiers, literals and types --------------------------------------------------------------


#: The blank before an identifier that is one symbol; strings and other identifiers are skipped.
_BEFORE_SIGN = regex(r"[ ](?=`[\[\]).,]`(?!`))|'(?:[^']|'')*'|`(?:[^`]|``)*`")

_HALF = regex("[\ud800-\udfff]")


def print_path(parts: tuple[str, ...]) -> str:
    """Return a path with each name in backticks."""
    return ".".join(map(quote_identifier, parts))


# ------------------------------------------------------------------------------------ literals


def print_string(text: str) -> str:
    r"""Return a string literal, as ``u&'..'`` with control characters or beyond ASCII.

    >>> print(print_string("it's"), print_string("bär"))
    'it''s' u&'b\00e4r'
    """
    if text.isascii() and all(char >= " " or char in "\r\n" for char in text):
        return quote_string(text)
    units = text.encode("utf-16-be", "surrogatepass")
    escaped = []
    for high, low in zip(units[::2], units[1::2], strict=True):
        code = high * 256 + low
        plain = {"'": "''", "\\": "\\\\"}.get(chr(code), chr(code))
        escaped.append(plain if 32 <= code < 128 else f"\\{code:04x}")
    return f"u&'{''.join(escaped)}'"


def _string(literal: syntax.Literal) -> str:
    """Return a string in its pieces; the character set is printed once.

    Only the first piece can have a prefix, and a lone surrogate must be escaped: such strings are
    printed in one piece.
    """
    pieces = literal.pieces or (literal.text,)
    if literal.charset is None:
        printed = [print_string(piece) for piece in pieces]
        prefixed = any(not piece.startswith("'") for piece in printed[1:])
        return print_string(literal.text) if prefixed else "\n".join(printed)
    if _HALF.search(literal.text):
        return print_string(literal.text)
    return f"_{literal.charset}" + "\n".join(map(quote_string, pieces))


def _exact(literal: syntax.Literal) -> str:
    """Return digits without an exponent: ``007`` as ``7``.

    The type of a fraction counts its digits, so its unusual digits are kept: ``.5`` is DECIMAL(1,
    1), ``0.5`` DECIMAL(2, 1), ``00.5`` DECIMAL(3, 1).
    """
    plain = plain_digits(literal.text)
    unsigned = literal.text.lstrip("+-")
    if "." not in plain or len(unsigned) == len(plain.lstrip("-")):
        return plain
    return f"{'-' if plain.startswith('-') else ''}{unsigned}"


def plain_digits(text: str) -> str:
    """Return a number with one digit before its point unless more are significant.

    >>> plain_digits(".50"), plain_digits("-00.5"), plain_digits("-0")
    ('0.50', '-0.5', '0')
    """
    value = Decimal(text)
    return f"{abs(value) if value.is_zero() else value:f}"


def _approximate(literal: syntax.Literal) -> str:
    """Return one digit before the point, at most twenty in all: ``150e-2`` as ``1.50E0``.

    Trailing zeros are dropped only without digits after the point. More than twenty digits are
    printed if the number depends on them.
    """
    sign, digits, exponent = Decimal(literal.text).as_tuple()
    power = len(digits) + int(exponent) - 1
    every = "".join(map(str, digits))
    for most in (20, len(every)):
        first, rest = every[0], every[1:most]
        if exponent == 0:
            rest = rest.rstrip("0")
        fraction = f".{rest}" if rest else ""
        printed = f"{'-' if sign and any(digits) else ''}{first}{fraction}E{power}"
        if float(printed) == float(literal.text):
            break
    return printed


def print_literal(literal: syntax.Literal) -> str:
    """Return a literal as Flink prints it.

    >>> (
    ...     print_literal(syntax.Literal(syntax.LiteralKind.EXACT, ".50")),
    ...     print_literal(syntax.Literal(syntax.LiteralKind.APPROXIMATE, "150e-2")),
    ... )
    ('.50', '1.50E0')
    """
    return LITERALS[literal.kind](literal)


LITERALS: Mapping[syntax.LiteralKind, Callable[[syntax.Literal], str]] = {
    syntax.LiteralKind.NULL: lambda literal: "NULL",
    syntax.LiteralKind.BOOLEAN: lambda literal: literal.text,
    syntax.LiteralKind.UNKNOWN: lambda literal: "UNKNOWN",
    syntax.LiteralKind.EXACT: _exact,
    syntax.LiteralKind.APPROXIMATE: _approximate,
    syntax.LiteralKind.STRING: _string,
    syntax.LiteralKind.BINARY: lambda literal: (
        "X" + "\n".join(f"'{piece}'" for piece in literal.pieces or (literal.text,))
    ),
    syntax.LiteralKind.DATE: lambda literal: f"DATE {print_string(literal.text)}",
    syntax.LiteralKind.TIME: lambda literal: f"TIME {print_string(literal.text)}",
    syntax.LiteralKind.TIMESTAMP: lambda literal: (
        f"TIMESTAMP{' WITH LOCAL TIME ZONE' if literal.charset == 'LOCAL' else ''} "
        f"{print_string(literal.text)}"
    ),
}


def print_interval(literal: syntax.Interval) -> str:
    """Return ``INTERVAL -'5' DAY(3)``."""
    sign = "-" if literal.negative else ""
    return f"INTERVAL {sign}{quote_string(literal.text)} {format_unit(literal)}"


# --------------------------------------------------------------------------------------- types


def print_type(type_: syntax.TypeName) -> str:
    """Return a type as Flink prints it in a cast.

    >>> from schema_core.sql.tokens import cursor_over
    >>> from schema_core.sql.type_name import cast_target
    >>> print(print_type(cast_target(cursor_over("ROW<a INT NOT NULL, b BYTES ARRAY>"))))
    ROW< `a` INTEGER NOT NULL, `b` BYTES ARRAY >
    """
    if type_.path:
        return print_path(type_.path)
    if type_.interval is not None:
        return f"INTERVAL {format_unit(type_.interval)}"
    arguments = ", ".join(map(_nullable_type, type_.arguments))
    fields = [
        f"{quote_identifier(field.name)} {_nullable_type(field.type)}"
        + ("" if field.comment is None else f" {quote_string(field.comment)}")
        for field in type_.fields
    ]
    match type_.keyword:
        case "ARRAY" | "MULTISET" if type_.postfix:
            return f"{arguments} {type_.keyword}"
        case "ARRAY" | "MULTISET" | "MAP":
            return f"{type_.keyword}< {arguments} >"
        case "ROW" if type_.postfix:
            return f"ROW({', '.join(fields)})"
        case "ROW":
            return f"ROW< {', '.join(fields)} >" if fields else "ROW<>"
        case "STRUCTURED":
            return f"STRUCTURED< {', '.join([quote_string(type_.strings[0]), *fields])} >"
        case "RAW":
            return f"RAW({', '.join(map(quote_string, type_.strings))})"
        case _:  # parameters precede the time zone
            keyword, blank, zone = type_.keyword.partition(" WITH")
            numbers = f"({', '.join(map(str, type_.parameters))})" if type_.parameters else ""
            charset = f" CHARACTER SET {quote_identifier(type_.charset)}" if type_.charset else ""
            return f"{keyword}{numbers}{blank}{zone}{charset}"


def _nullable_type(type_: syntax.TypeName) -> str:
    """Return a type, with NOT NULL if it was written so."""
    return print_type(type_) + (" NOT NULL" if type_.nullable is False else "")


def close_up(text: str) -> str:
    """Remove the blank before an identifier like ``,``, which Calcite takes for the symbol.

    >>> close_up("`b` + `,` + ' `,`'")
    "`b` +`,` + ' `,`'"
    """
    if not any(f" `{sign}`" in text for sign in "[]).,"):
        return text
    return _BEFORE_SIGN.sub(lambda match: match[0].removeprefix(" "), text)


# --- expressions and queries ----------------------------------------------------------------------


Writer: TypeAlias = Callable[[syntax.Call, int, int], tuple[str, int, int]]


class Power(NamedTuple):
    """The left and right precedence of an operator; 0 is the lowest."""

    left: int
    right: int


#: Precedences of infix operators, as they are parsed.
INFIX: Mapping[str, Power] = {key: Power(*infix[:2]) for key, infix in expression.INFIX.items()}

FUNCTION = Power(100, 100)
ACCESS, LIKE, AMONG, TEST = INFIX["."], INFIX["LIKE"], INFIX["IN"], INFIX["IS"]
CONSTRUCTOR = Power(200, 201)
CLAUSE = Power(20, 21)
COMMA = Power(2, 3)

COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")

#: Operators between two operands.
BINARY: Mapping[str, Power] = {
    **{name: INFIX[name] for name in ("||", "*", "/", "%", "+", "-", *COMPARISONS, "AND", "OR")},
    "IS DISTINCT FROM": INFIX["="],
    "IS NOT DISTINCT FROM": INFIX["="],
}

#: Prefix operators -> (symbol, precedences).
PREFIX: Mapping[str, tuple[str, Power]] = {
    "-x":  ("-",   Power(80, 81)),
    "+x":  ("+",   Power(80, 81)),
    "NOT": ("NOT", Power(26, 27)),
}  # fmt: skip

#: Calls with other precedences than functions.
POWERS: Mapping[str, Power] = {
    "CASE":     CONSTRUCTOR,
    "ROW":      CONSTRUCTOR,
    "ARRAY":    CONSTRUCTOR,
    "MAP":      CONSTRUCTOR,
    "MULTISET": CONSTRUCTOR,
    "(-)":      INFIX["-"],
    "EXISTS":   Power(40, 41),
    "OVERLAPS": INFIX["OVERLAPS"],
    "INTERVAL": Power(0, 1),
}  # fmt: skip


#: Maximum length of an expression in a message.
MAX_SHOWN = 80


def print_expression(node: syntax.Expression) -> str:
    """Return an expression as Flink prints it.

    >>> from schema_core.sql.parser import parse_expression
    >>> print(print_expression(parse_expression("(a=1) = (b IS NULL) and trim(c) in ('x')")))
    `a` = 1 = (`b` IS NULL) AND TRIM(BOTH ' ' FROM `c`) IN ('x')
    """
    return render_query(node) if isinstance(node, syntax.Subquery) else render(node, 0, 0)


def show_expression(node: syntax.Expression) -> str:
    """Return an expression for a message: on one line, truncated, secrets masked.

    >>> from schema_core.sql.parser import parse_expression
    >>> print(show_expression(parse_expression("a + 1")))
    `a` + 1
    """
    text = " ".join(mask_query(print_expression(node)).split())
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 3]}..."


def render(node: syntax.Expression, left: int, right: int) -> str:
    """Return the text of a node between neighbours of these precedences.

    Operators that begin with their first operand are visited in a loop: chains can have thousands.
    """
    if not isinstance(node, syntax.Call):
        return _leaf(node)
    tail: list[str] = []
    opened = 0
    while isinstance(node, syntax.Call) and node.name in LEADING and not node.path:
        power, write = LEADING[node.name]
        if left > power.left or 0 < right >= power.right:
            tail.append(")")
            opened += 1
            left = right = 0
        text, left, right = write(node, left, right)
        tail.append(text)
        node = node.arguments[0]
    first = _print_keyword_call(node, left, right) if isinstance(node, syntax.Call) else _leaf(node)
    return "(" * opened + first + "".join(reversed(tail))


def _leaf(node: syntax.Expression) -> str:
    match node:
        case syntax.Literal():
            return print_literal(node)
        case syntax.Name(parts=parts):
            return print_path(parts)
        case syntax.Interval():
            return print_interval(node)
        case syntax.Symbol(word=word):
            return word
        case syntax.TypeName():
            return print_type(node)
        case syntax.Star(prefix=prefix):
            return f"{print_path(prefix)}.*" if prefix else "*"
        case syntax.Named(name=name, value=value):
            return f"{quote_identifier(name)} => {render(value, *CLAUSE)}"
        case syntax.Subquery():
            return f"({render_query(node)})"
        case syntax.Call():
            return _print_keyword_call(node, 0, 0)
        case _:
            assert_never(node)


def _print_keyword_call(call: syntax.Call, left: int, right: int) -> str:
    """Return a call that begins with a keyword, in parentheses if necessary."""
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


def _word_first(call: syntax.Call, name: str, left: int, right: int) -> str:
    if name in PREFIX:
        word, power = PREFIX[name]
        return f"{word} {render(call.arguments[0], *power)}"
    if name == "OVERLAPS":
        first, second = call.arguments
        return f"{_period(first, left, right)} OVERLAPS {_period(second, left, right)}"
    if name == "(-)":
        first, second, unit = call.arguments
        return f"({render(first, left, right)} - {render(second, left, right)}) {render_unit(unit)}"
    held = (left, right) if name in TRANSPARENT else (0, 0)
    return FORMS.get(name, function)(call, *held) + (suffixes(call))


def render_query(node: syntax.Subquery) -> str:
    """Return a subquery without parentheses."""
    return print_query(node.query)


def render_list(nodes: tuple[syntax.Expression, ...], left: int = 0, right: int = 0) -> str:
    """Return expressions, separated by commas."""
    return ", ".join([render(node, left, right) for node in nodes])


def render_unit(node: syntax.Expression) -> str:
    """Return the unit of an interval."""
    return print_type(node).removeprefix("INTERVAL ") if isinstance(node, syntax.TypeName) else ""


def _period(node: syntax.Expression, left: int, right: int) -> str:
    if isinstance(node, syntax.Call) and node.name == "ROW":
        return f"PERIOD ({render_list(node.arguments, left, right)})"
    return render(node, left, right)


# ------------------------------------------------- operators that begin with their first operand
#
# Each returns what follows the first operand, and the precedences for that operand.


def _binary(
    name: str, power: Power, call: syntax.Call, left: int, right: int
) -> tuple[str, int, int]:
    return f" {name} {render(call.arguments[1], power.right, right)}", left, power.left


def _test(name: str, call: syntax.Call, left: int, right: int) -> tuple[str, int, int]:
    return f" {name}", TEST.left, TEST.right


def _print_like(name: str, call: syntax.Call, left: int, right: int) -> tuple[str, int, int]:
    rest = [render(argument, *LIKE) for argument in call.arguments[1:]]
    return f" {name} {' ESCAPE '.join(rest)}", LIKE.left, LIKE.right


def _print_between(name: str, call: syntax.Call, left: int, right: int) -> tuple[str, int, int]:
    """Return BETWEEN; a lower bound that contains AND has parentheses."""
    _, lower, upper = call.arguments
    held = 100 if _has_and(lower) else 0
    bounds = f"{render(lower, held, held)} AND {render(upper, 0, 33)}"
    return f" {name} {call.symbol or 'ASYMMETRIC'} {bounds}", 32, 0


def _has_and(node: syntax.Expression) -> bool:
    waiting: list[syntax.Expression] = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, syntax.Call):
            if part.name == "AND":
                return True
            waiting += part.arguments
    return False


def _among(name: str, call: syntax.Call, left: int, right: int) -> tuple[str, int, int]:
    """Return IN and similar operators; a query has parentheses of its own."""
    values = call.arguments[1:]
    is_query = len(values) == 1 and isinstance(values[0], syntax.Subquery)
    listed = render_list(values) if is_query else f"({render_list(values, *COMMA)})"
    return f" {name} {listed}", left, AMONG.left


#: Operator -> (precedences, printer of what follows the first operand).
LEADING: Mapping[str, tuple[Power, Writer]] = {
    **{name: (power, partial(_binary, name, power)) for name, power in BINARY.items()},
    **{
        name: (TEST, partial(_test, name))
        for is_ in ("IS", "IS NOT")
        for name in (f"{is_} {test}" for test in expression.TESTS.values())
    },
    **{
        name: (LIKE, partial(_print_like, name))
        for name in ("LIKE", "NOT LIKE", "SIMILAR TO", "NOT SIMILAR TO")
    },
    **{name: (AMONG, partial(_print_between, name)) for name in ("BETWEEN", "NOT BETWEEN")},
    **{
        name: (AMONG, partial(_among, name))
        for name in ("IN", "NOT IN", *map(" ".join, product(COMPARISONS, ("SOME", "ALL"))))
    },
    "[]": (ACCESS, lambda call, left, right: (f"[{render(call.arguments[1], 0, 0)}]", left, 0)),
    ".": (ACCESS, lambda call, left, right: (f".{render(call.arguments[1], 0, 0)}", left, 0)),
}


# --- calls that begin with a word -----------------------------------------------------------------


def function(call: syntax.Call, left: int, right: int) -> str:
    """Return ``NAME(a, b)``, or ``NAME`` for functions without parentheses."""
    name = print_path(call.path) if call.path else call.name
    if not call.arguments and not call.path and name in NILADIC:
        return name
    symbol = f"{call.symbol} " if call.symbol in ("DISTINCT", "ALL") else ""
    order = f" ORDER BY {print_sort_keys(call.within)}" if call.orders_arguments else ""
    return f"{name}({symbol}{', '.join(map(_argument, call.arguments))}{order})"


def _argument(node: syntax.Expression) -> str:
    """Return an argument; a table argument has parentheses only if named."""
    match node:
        case syntax.Subquery(query=syntax.ExplicitTable() | syntax.TableArgument()):
            return render_query(node)
        case syntax.Named(name=name, value=syntax.Subquery(query=syntax.TableArgument()) as value):
            return f"{quote_identifier(name)} => {render_query(value)}"
        case _:
            return render(node, 0, 0)


def _case(call: syntax.Call, left: int, right: int) -> str:
    operands = [render(argument, left, right) for argument in call.arguments]
    branches = [
        f"WHEN {operands[index]} THEN {operands[index + 1]}"
        for index in range(0, len(operands) - 1, 2)
    ]
    return f"CASE {' '.join(branches)} ELSE {operands[-1]} END"


def _constructor(call: syntax.Call, left: int, right: int) -> str:
    return f"{call.name}[{render_list(call.arguments, left, right)}]"


def _constructor_query(call: syntax.Call, left: int, right: int) -> str:
    return f"{call.name.removesuffix(' QUERY')} ({render_list(call.arguments, left, right)})"


def _join_by_words(
    name: str, words: tuple[str, ...], call: syntax.Call, left: int, right: int
) -> str:
    first, *rest = [render(argument, left, right) for argument in call.arguments]
    pairs = zip(words, rest, strict=False)
    return f"{name}({' '.join([first, *(f'{word} {text}' for word, text in pairs)])})"


def _print_floor(call: syntax.Call, left: int, right: int) -> str:
    """Return ``FLOOR(a TO DAY)``, in which even a function has parentheses."""
    if len(call.arguments) == 1:
        return function(call, left, right)
    value, unit = call.arguments
    return f"{call.name}({render(value, 0, 100)} TO {render(unit, 0, 0)})"


def _trim(call: syntax.Call, left: int, right: int) -> str:
    side, characters, value = (render(argument, left, right) for argument in call.arguments)
    return f"TRIM({side} {characters} FROM {value})"


def _interval_of(call: syntax.Call, left: int, right: int) -> str:
    """Return ``INTERVAL a DAY``; names, literals and negations have no parentheses."""
    value, unit = call.arguments
    text = render(value, 0, 0)
    is_plain = not isinstance(value, syntax.Call) or value.name == "-x" or value.symbol == "BARE"
    return f"INTERVAL {text if is_plain else f'({text})'} {render_unit(unit)}"


def _json_exists(call: syntax.Call, left: int, right: int) -> str:
    """Return JSON_EXISTS; only its path depends on the neighbours."""
    document, path, *rest = call.arguments
    clauses = "".join(f" {render(token, 0, 0)}" for token in rest)
    return f"JSON_EXISTS({render(document, 0, 0)}, {render(path, left, right)}{clauses})"


def _json_path(call: syntax.Call, left: int, right: int) -> str:
    text = render_list(call.arguments[:2], left, right)
    for clause in call.arguments[2:]:
        match clause:
            case syntax.TypeName():
                text += f" RETURNING {print_type(clause)}"
            case syntax.Call(name="DEFAULT ON EMPTY" | "DEFAULT ON ERROR", arguments=(value,)):
                text += (
                    f" DEFAULT {render(value, left, right)}{clause.name.removeprefix('DEFAULT')}"
                )
            case _:
                text += f" {render(clause, left, right)}"
    return f"{call.name}({text})"


def _json_pairs(call: syntax.Call, left: int, right: int) -> str:
    nulls, *rest = [render(argument, left, right) for argument in call.arguments]
    pairs = [f"KEY {key} VALUE {value}" for key, value in zip(rest[::2], rest[1::2], strict=True)]
    return f"{call.name}({' '.join([', '.join(pairs), nulls]).strip()})"


def _json_items(call: syntax.Call, left: int, right: int) -> str:
    """Return JSON_ARRAY or JSON_ARRAYAGG; an empty array has no clause for NULL."""
    nulls, *rest = [render(argument, left, right) for argument in call.arguments]
    return f"{call.name}({', '.join(rest)} {nulls})" if rest else f"{call.name}()"


#: Calls whose arguments get the precedences of the call's neighbours.
TRANSPARENT = frozenset(
    {
        "ARRAY", "MAP", "MULTISET", "TRIM", "POSITION", "OVERLAY", "JSON_EXISTS", "JSON_VALUE",
        "JSON_OBJECT", "JSON_OBJECTAGG", "JSON_ARRAY", "JSON_ARRAYAGG", "TRANSLATE USING",
    }
)  # fmt: skip

#: Calls that are not printed like functions -> printer.
FORMS: Mapping[str, Callable[[syntax.Call, int, int], str]] = {
    "CASE":            _case,
    "ARRAY":           _constructor,
    "MAP":             _constructor,
    "MULTISET":        _constructor,
    "ARRAY QUERY":     _constructor_query,
    "MAP QUERY":       _constructor_query,
    "MULTISET QUERY":  _constructor_query,
    "CAST":            partial(_join_by_words, "CAST", ("AS",)),
    "TRY_CAST":        partial(_join_by_words, "TRY_CAST", ("AS",)),
    "EXTRACT":         partial(_join_by_words, "EXTRACT", ("FROM",)),
    "POSITION":        partial(_join_by_words, "POSITION", ("IN", "FROM")),
    "OVERLAY":         partial(_join_by_words, "OVERLAY", ("PLACING", "FROM", "FOR")),
    "TRANSLATE USING": partial(_join_by_words, "TRANSLATE", ("USING",)),
    "FLOOR":           _print_floor,
    "CEIL":            _print_floor,
    "TRIM":            _trim,
    "INTERVAL":        _interval_of,
    "EXISTS":          lambda call, left, right: f"EXISTS {render(call.arguments[0], 0, 0)}",
    "JSON_EXISTS":     _json_exists,
    "JSON_VALUE":      _json_path,
    "JSON_QUERY":      _json_path,
    "JSON_OBJECT":     _json_pairs,
    "JSON_OBJECTAGG":  _json_pairs,
    "JSON_ARRAY":      _json_items,
    "JSON_ARRAYAGG":   _json_items,
    "DEFAULT":         lambda call, left, right: "DEFAULT",
    "MODEL":           lambda call, left, right: f"MODEL {render_list(call.arguments)}",
}  # fmt: skip


# --------------------------------------------------------------------- clauses after a call


def suffixes(call: syntax.Call) -> str:
    """Return NULLS, WITHIN GROUP, FILTER and OVER."""
    text = "" if call.nulls is None else f" {call.nulls}"
    if call.within and not call.orders_arguments:
        text += f" WITHIN GROUP (ORDER BY {print_sort_keys(call.within)})"
    if call.filter is not None:
        text += f" FILTER (WHERE {render(call.filter, *CLAUSE)})"
    if call.over is not None:
        text += f" OVER {print_window(call.over)}"
    return text


def print_sort_keys(keys: tuple[syntax.SortKey, ...]) -> str:
    """Return the keys of ORDER BY; ASC is not printed."""
    nulls = {None: "", True: " NULLS LAST", False: " NULLS FIRST"}
    return ", ".join(
        render(key.expression, *COMMA) + (" DESC" if key.descending else "") + nulls[key.nulls_last]
        for key in keys
    )


def print_window(window: syntax.Window) -> str:
    """Return a window of OVER or of a WINDOW clause."""
    if window.is_reference:
        return quote_identifier(window.name or "")
    parts = [] if window.name is None else [quote_identifier(window.name)]
    if window.partition_by:
        parts.append(f"PARTITION BY {render_list(window.partition_by, *COMMA)}")
    if window.order_by:
        parts.append(f"ORDER BY {print_sort_keys(window.order_by)}")
    if (frame := window.frame) is not None:
        bounds = _print_bound(frame.lower)
        if frame.upper is not None:
            bounds = f"BETWEEN {bounds} AND {_print_bound(frame.upper)}"
        partial = " DISALLOW PARTIAL" if frame.disallow_partial else ""
        parts.append(f"{frame.unit} {bounds}{partial}")
    return f"({' '.join(parts)})"


def _print_bound(bound: syntax.Call | syntax.Symbol) -> str:
    if isinstance(bound, syntax.Symbol):
        return bound.word
    return f"{render(bound.arguments[0], 0, 20)} {bound.name}"


# --- queries --------------------------------------------------------------------------------------


def print_query(query: syntax.Query) -> str:
    r"""Return a query in Flink's form: a line for each clause, every name in backticks.

    >>> from schema_core.sql.parser import parse_query
    >>> print(
    ...     print_query(parse_query("select a, count(*) c from t where b > 1 group by a limit 3"))
    ... )
    SELECT `a`, COUNT(*) AS `c`
    FROM `t`
    WHERE `b` > 1
    GROUP BY `a`
    FETCH NEXT 3 ROWS ONLY
    """
    match query:
        case syntax.Select():
            return _select(query)
        case syntax.Values(rows=rows):
            return "VALUES " + ",\n".join(f"ROW({_list(row)})" for row in rows)
        case syntax.ExplicitTable(name=name):
            return f"TABLE {print_path(name.parts)}"
        case syntax.TableArgument():
            return _table_argument(query)
        case syntax.SetOperation():
            return _set_operation(query)
        case syntax.With():
            tables = ", ".join(
                f"{quote_identifier(table.name)}{_names(table.columns)} AS"
                f" ({print_query(table.query)})"
                for table in query.tables
            )
            word = "WITH RECURSIVE" if query.recursive else "WITH"
            return f"{word} {tables} {_operand(query.query, syntax.Ordered, syntax.With)}"
        case syntax.Ordered():
            return _ordered(query)
        case _:
            assert_never(query)


def _list(expressions: tuple[syntax.Expression, ...]) -> str:
    return ", ".join(map(_expression, expressions))


def _expression(node: syntax.Expression) -> str:
    """Return an expression, a subquery in parentheses."""
    text = print_expression(node)
    return f"({text})" if isinstance(node, syntax.Subquery) else text


def _names(names: tuple[str, ...]) -> str:
    return f" ({', '.join(map(quote_identifier, names))})" if names else ""


def _operand(query: syntax.Query, *bracketed: type[syntax.Query]) -> str:
    """Return a query in another one, in parentheses if it is of these kinds."""
    text = print_query(query)
    return f"({text})" if isinstance(query, bracketed) else text


# ------------------------------------------------------------------------------------- queries


def _select(query: syntax.Select) -> str:
    start = "SELECT " if not query.hints else f"SELECT\n{_hints(query.hints)}\n"
    distinct = "DISTINCT " if query.distinct else ""
    items = [
        _expression(item.expression)
        + ("" if item.alias is None else f" AS {quote_identifier(item.alias)}")
        for item in query.items
    ]
    lines = [start + distinct + ", ".join(items)]
    if query.source is not None:
        lines.append(f"FROM {print_source(query.source)}")
    if query.where is not None:
        lines.append(f"WHERE {_expression(query.where)}")
    if query.group_by is not None:
        lines.append(f"GROUP BY {', '.join(map(_group_item, query.group_by))}")
    if query.having is not None:
        lines.append(f"HAVING {_expression(query.having)}")
    if query.windows:
        windows = [
            f"{quote_identifier(name)} AS {print_window(window)}" for name, window in query.windows
        ]
        lines.append("WINDOW " + ",\n".join(windows))
    if query.qualify is not None:
        lines.append(f"QUALIFY {_expression(query.qualify)}")
    return "\n".join(lines)


def _group_item(item: syntax.GroupItem) -> str:
    if not isinstance(item, syntax.GroupingSets):
        return _expression(item)
    if item.kind == "()":
        return "()"
    sets = [
        _group_item(keys)
        if isinstance(keys, syntax.GroupingSets)
        else _bracket_several(_list(keys), keys)
        for keys in item.sets
    ]
    return f"{item.kind}({', '.join(sets)})"


def _bracket_several(text: str, keys: Sized) -> str:
    """Return keys in parentheses unless there is exactly one."""
    return text if len(keys) == 1 else f"({text})"


def _set_operation(query: syntax.SetOperation) -> str:
    precedences, bracketed = (
        expression.OPERATORS,
        (syntax.Ordered, syntax.With, syntax.SetOperation),
    )
    chain = [query]
    while isinstance(left := chain[-1].left, syntax.SetOperation) and (
        precedences[left.operator] >= precedences[chain[-1].operator]
    ):
        chain.append(left)
    text = _operand(chain[-1].left, *bracketed)
    for operation in reversed(chain):
        is_tight = isinstance(operation.right, syntax.SetOperation) and (
            precedences[operation.right.operator] > precedences[operation.operator]
        )
        right = _operand(operation.right, *(() if is_tight else bracketed))
        text += f"\n{operation.operator}{' ALL' if operation.all else ''}\n{right}"
    return text


def _ordered(query: syntax.Ordered) -> str:
    lines = [_operand(query.query, syntax.Ordered)]
    if query.order_by:
        lines.append(f"ORDER BY {print_sort_keys(query.order_by)}")
    if query.offset is not None:
        lines.append(f"OFFSET {_expression(query.offset)} ROWS")
    if query.fetch is not None:
        lines.append(f"FETCH NEXT {_expression(query.fetch)} ROWS ONLY")
    return "\n".join(lines)


def _table_argument(query: syntax.TableArgument) -> str:
    text = _operand(
        query.query, syntax.Select, syntax.Values, syntax.SetOperation, syntax.With, syntax.Ordered
    )
    if keys := query.partition_by:
        text += f" PARTITION BY {_bracket_several(_list(keys), keys)}"
    if order := query.order_by:
        text += f" ORDER BY {_bracket_several(print_sort_keys(order), order)}"
    return text


# ------------------------------------------------------------------------------------- sources


def print_source(source: syntax.Source) -> str:
    """Return a source of a FROM clause."""
    match source:
        case syntax.TableName(name=name, hints=hints, period=period):
            return print_path(name.parts) + _table_suffix(hints, period)
        case syntax.Derived(query=query, lateral=lateral):
            return f"{'LATERAL ' if lateral else ''}({print_query(query)})"
        case syntax.TableFunction(call=call, lateral=lateral, hints=hints, period=period):
            text = f"{'LATERAL ' if lateral else ''}TABLE({_expression(call)})"
            return text + _table_suffix(hints, period)
        case syntax.Unnest(collections=collections, ordinality=ordinality, lateral=lateral):
            word = "LATERAL UNNEST" if lateral else "UNNEST"
            return f"{word}({_list(collections)}){' WITH ORDINALITY' if ordinality else ''}"
        case syntax.Aliased(source=inner, name=name, columns=columns):
            return f"{print_source(inner)} AS {quote_identifier(name)}{_names(columns)}"
        case syntax.Sample():
            return _sample(source)
        case syntax.Join():
            return _join(source)
        case syntax.MatchRecognize():
            return _match_recognize(source)
        case syntax.Unpivot():
            return _unpivot(source)
        case _:
            assert_never(source)


def _table_suffix(hints: tuple[syntax.Hint, ...], period: syntax.Expression | None) -> str:
    text = f"\n{_hints(hints)}" if hints else ""
    if period is not None:
        text += f" FOR SYSTEM_TIME AS OF {_expression(period)}"
    return text


def _hints(hints: tuple[syntax.Hint, ...]) -> str:
    texts = []
    for hint in hints:
        options = [f"{quote_string(key)} = {quote_string(value)}" for key, value in hint.options]
        inner = ", ".join([*options, *map(_expression, hint.arguments)])
        texts.append(quote_identifier(hint.name) + (f"({inner})" if inner else ""))
    return f"/*+ {', '.join(texts)} */"


def _sample(sample: syntax.Sample) -> str:
    """Return a sample, whose percentage always has a fraction."""
    percentage = _expression(sample.percentage)
    if isinstance(sample.percentage, syntax.Literal) and percentage.isdigit():
        percentage += ".0"
    text = f"{print_source(sample.source)} TABLESAMPLE {sample.method}({percentage})"
    return text if sample.seed is None else f"{text} REPEATABLE({_expression(sample.seed)})"


def _join(join: syntax.Join, gap: str = "\n") -> str:
    chain = [join]
    while isinstance(chain[-1].left, syntax.Join):
        chain.append(chain[-1].left)
    text = print_source(chain[-1].left)
    for part in reversed(chain):
        is_comma = part.kind is syntax.JoinKind.COMMA
        match part.right:  # a join has parentheses unless a comma precedes it
            case syntax.Join(kind=kind) as inner if is_comma and kind is not syntax.JoinKind.COMMA:
                right = _join(inner, gap)
            case syntax.Join() as inner:
                right = f"({_join(inner, ' ')})"
            case source:
                right = print_source(source)
        if is_comma:
            text += f",{gap}{right}"
            continue
        text += f"{gap}{'NATURAL ' if part.natural else ''}{part.kind.value} {right}"
        if part.condition is not None:
            text += f" ON {_expression(part.condition)}"
        elif part.using:
            text += f" USING ({', '.join(print_path(name.parts) for name in part.using)})"
    return text


# ------------------------------------------------------------------------------------ UNPIVOT


def _unpivot(unpivot: syntax.Unpivot) -> str:
    nulls = "INCLUDE" if unpivot.include_nulls else "EXCLUDE"
    measures, axes = _name_or_names(unpivot.measures), _name_or_names(unpivot.axes)
    items = ", ".join(
        _name_or_names(item.columns) + (f" AS ({_list(item.values)})" if item.values else "")
        for item in unpivot.items
    )
    return (
        f"{print_source(unpivot.source)} UNPIVOT {nulls} NULLS ({measures} FOR {axes} IN ({items}))"
    )


def _name_or_names(names: tuple[syntax.Name, ...]) -> str:
    """Return a name, or several in parentheses."""
    text = _list(names)
    return text if len(names) == 1 else f"({text})"


# ---------------------------------------------------------------------------- MATCH_RECOGNIZE


def _match_recognize(match: syntax.MatchRecognize) -> str:
    lines = [f"{print_source(match.source)} MATCH_RECOGNIZE("]
    if match.partition_by:
        lines.append(f"PARTITION BY {_list(match.partition_by)}")
    if match.order_by:
        lines.append(f"ORDER BY {print_sort_keys(match.order_by)}")
    if match.measures:
        measures = [
            f"{_expression(measure.expression)} AS {quote_identifier(measure.name)}"
            for measure in match.measures
        ]
        lines.append(f"MEASURES {', '.join(measures)}")
    if match.rows_per_match is not None:
        lines.append(match.rows_per_match)
    if match.after_match:
        *words, last = match.after_match
        if words[1:2] == ["TO"] and last != "ROW":  # the name of a pattern variable
            last = quote_identifier(last)
        lines.append(f"AFTER MATCH {' '.join((*words, last))}")
    pattern = "" if match.pattern is None else _pattern(match.pattern)
    edges = f"{'^ ' if match.starts else ''}{pattern}{' $' if match.ends else ''}"
    within = "" if match.within is None else f" WITHIN {_expression(match.within)}"
    lines.append(f"PATTERN ({edges}){within}")
    if match.subsets:
        subsets = [
            f"{quote_identifier(name)} = ({', '.join(map(quote_identifier, members))})"
            for name, members in match.subsets
        ]
        lines.append(f"SUBSET {', '.join(subsets)}")
    defines = [
        f"{quote_identifier(define.name)} AS {_expression(define.expression)}"
        for define in match.defines
    ]
    lines.append(f"DEFINE {', '.join(defines)})")
    return "\n".join(lines)


def _pattern(pattern: syntax.Expression) -> str:
    match pattern:
        case syntax.Call(name=",", arguments=parts):
            return " ".join(map(_print_pattern_part, parts))
        case syntax.Call(name="|", arguments=parts):
            return " | ".join(map(_pattern, parts))
        case syntax.Call(name="PERMUTE", arguments=arguments):
            return f"PERMUTE ({', '.join(map(_pattern, arguments))})"
        case syntax.Call(name="{- -}", arguments=(inner,)):
            return f"{{- {_pattern(inner)} -}}"
        case syntax.Call(
            name="{}",
            arguments=(part, syntax.Literal(text=least), syntax.Literal(text=most), greed),
        ):
            lazy = " ?" if greed == syntax.Symbol("RELUCTANT") else ""
            return f"{_print_pattern_part(part)} {_print_quantifier(least, most)}{lazy}"
        case _:
            return _expression(pattern)


def _print_pattern_part(pattern: syntax.Expression) -> str:
    """Return a part of a pattern, in parentheses if it has several."""
    text = _pattern(pattern)
    is_several = isinstance(pattern, syntax.Call) and pattern.name in (",", "|")
    return f"({text})" if is_several else text


def _print_quantifier(least: str, most: str) -> str:
    signs = {("0", ""): "*", ("1", ""): "+", ("0", "1"): "?"}
    if (least, most) in signs:
        return signs[least, most]
    if least == most:
        return f"{{ {least} }}"
    return f"{{ {f'{least}, {most}'.strip()} }}"
