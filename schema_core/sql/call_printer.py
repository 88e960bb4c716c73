"""Calls that begin with a word, and what stands behind them, as Flink prints them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from schema_core.sql import printer
from schema_core.sql.identifiers import print_path, print_type
from schema_core.sql.keywords import NILADIC
from schema_core.sql.query_syntax import ExplicitTable, TableArgument
from schema_core.sql.syntax import Call, Named, SortKey, Subquery, Symbol, TypeName, Window
from schema_core.text import quote_identifier

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from schema_core.sql.syntax import Expression, Frame


def function(call: Call, left: int, right: int) -> str:
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
            return printer.show_query(node)
        case Named(name=name, value=Subquery(query=TableArgument()) as value):
            return f"{quote_identifier(name)} => {printer.show_query(value)}"
        case _:
            return printer.show(node, 0, 0)


def _case(call: Call, left: int, right: int) -> str:
    texts = [printer.show(one, left, right) for one in call.arguments]
    branches = [
        f"WHEN {texts[index]} THEN {texts[index + 1]}" for index in range(0, len(texts) - 1, 2)
    ]
    return f"CASE {' '.join(branches)} ELSE {texts[-1]} END"


def _constructor(call: Call, left: int, right: int) -> str:
    return f"{call.name}[{printer.show_list(call.arguments, left, right)}]"


def _constructor_query(call: Call, left: int, right: int) -> str:
    return f"{call.name.removesuffix(' QUERY')} ({printer.show_list(call.arguments, left, right)})"


def _joined(name: str, words: tuple[str, ...], call: Call, left: int, right: int) -> str:
    """Arguments with a word between each two: ``POSITION(a IN b FROM c)``."""
    first, *rest = [printer.show(one, left, right) for one in call.arguments]
    pairs = zip(words, rest, strict=False)
    return f"{name}({' '.join([first, *(f'{word} {text}' for word, text in pairs)])})"


def _rounded(call: Call, left: int, right: int) -> str:
    """``FLOOR(a TO DAY)``, where even a function stands in parentheses."""
    if len(call.arguments) == 1:
        return function(call, left, right)
    value, unit = call.arguments
    return f"{call.name}({printer.show(value, 0, 100)} TO {printer.show(unit, 0, 0)})"


def _trim(call: Call, left: int, right: int) -> str:
    side, characters, value = (printer.show(one, left, right) for one in call.arguments)
    return f"TRIM({side} {characters} FROM {value})"


def _interval_of(call: Call, left: int, right: int) -> str:
    """``INTERVAL a DAY``: anything but a name, a literal or a negation is in parentheses."""
    value, unit = call.arguments
    text = printer.show(value, 0, 0)
    is_plain = not isinstance(value, Call) or value.name == "-x" or value.symbol == "BARE"
    return f"INTERVAL {text if is_plain else f'({text})'} {printer.show_unit(unit)}"


def _exists(call: Call, left: int, right: int) -> str:
    return f"EXISTS {printer.show(call.arguments[0], 0, 0)}"


def _json_exists(call: Call, left: int, right: int) -> str:
    """``JSON_EXISTS(a, path TRUE ON ERROR)``, where only the path is held from outside."""
    document, path, *rest = call.arguments
    said = "".join(f" {printer.show(one, 0, 0)}" for one in rest)
    return f"JSON_EXISTS({printer.show(document, 0, 0)}, {printer.show(path, left, right)}{said})"


def _json_path(call: Call, left: int, right: int) -> str:
    """JSON_VALUE and JSON_QUERY: document, path, and what is said behind it."""
    said = "".join(f" {_clause(one, left, right)}" for one in call.arguments[2:])
    return f"{call.name}({printer.show_list(call.arguments[:2], left, right)}{said})"


def _clause(node: Expression, left: int, right: int) -> str:
    match node:
        case TypeName():
            return f"RETURNING {print_type(node)}"
        case Call(name="DEFAULT ON EMPTY" | "DEFAULT ON ERROR" as name, arguments=(value,)):
            return name.replace("DEFAULT", f"DEFAULT {printer.show(value, left, right)}", 1)
        case _:
            return printer.show(node, left, right)


def _json_pairs(call: Call, left: int, right: int) -> str:
    """JSON_OBJECT and JSON_OBJECTAGG."""
    nulls, *rest = [printer.show(one, left, right) for one in call.arguments]
    pairs = [f"KEY {key} VALUE {value}" for key, value in zip(rest[::2], rest[1::2], strict=True)]
    return f"{call.name}({' '.join([', '.join(pairs), nulls]).strip()})"


def _json_items(call: Call, left: int, right: int) -> str:
    """JSON_ARRAY and JSON_ARRAYAGG; an empty array says nothing about NULL."""
    nulls, *rest = [printer.show(one, left, right) for one in call.arguments]
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
    "MODEL":           lambda call, left, right: f"MODEL {printer.show_list(call.arguments)}",
}  # fmt: skip

# --------------------------------------------------------------------- what stands behind a call


def suffixes(call: Call) -> str:
    """NULLS, WITHIN GROUP, FILTER and OVER, in this order."""
    text = "" if call.nulls is None else f" {call.nulls}"
    if call.within:
        text += f" WITHIN GROUP (ORDER BY {print_sort_keys(call.within)})"
    if call.filter is not None:
        text += f" FILTER (WHERE {printer.show(call.filter, *printer.CLAUSE)})"
    if call.over is not None:
        text += f" OVER {print_window(call.over)}"
    return text


#: How a comma holds what stands on both sides of it in a window.
ITEM = (2, 3)


def print_sort_keys(keys: tuple[SortKey, ...]) -> str:
    """What stands behind ORDER BY; ASC is the default and not written."""
    nulls = {None: "", True: " NULLS LAST", False: " NULLS FIRST"}
    return ", ".join(
        printer.show(key.expression, *ITEM)
        + (" DESC" if key.descending else "")
        + nulls[key.nulls_last]
        for key in keys
    )


def print_window(window: Window) -> str:
    """What stands behind OVER, or in a WINDOW clause behind AS."""
    if window.is_reference:
        return quote_identifier(window.name or "")
    parts = [] if window.name is None else [quote_identifier(window.name)]
    if window.partition_by:
        parts.append(f"PARTITION BY {printer.show_list(window.partition_by, *ITEM)}")
    if window.order_by:
        parts.append(f"ORDER BY {print_sort_keys(window.order_by)}")
    if window.frame is not None:
        parts.append(_frame(window.frame))
    return f"({' '.join(parts)})"


def _frame(frame: Frame) -> str:
    whole = " DISALLOW PARTIAL" if frame.whole else ""
    if frame.upper is None:
        return f"{frame.unit} {_bound(frame.lower)}{whole}"
    return f"{frame.unit} BETWEEN {_bound(frame.lower)} AND {_bound(frame.upper)}{whole}"


def _bound(bound: Call | Symbol) -> str:
    if isinstance(bound, Symbol):
        return bound.word
    return f"{printer.show(bound.arguments[0], 0, 20)} {bound.name}"
