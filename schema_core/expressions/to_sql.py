"""Typed trees to SQL, the form in which catalogs store expressions.

Names are quoted, implicit casts are explicit, and synonyms have one spelling. Parsed again, the SQL
has the same type, unlike Flink's, which prints ``.5``, a DECIMAL(1, 1), as ``0.5``, a DECIMAL(2,
1), and drops NOT NULL from the keys and values of a MAP. `flink_sql` prints as Flink does.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

from schema_core.errors import UnsupportedError
from schema_core.expressions.typed import (
    Access,
    Bound,
    Constant,
    FunctionCall,
    Keyword,
    Over,
    Ref,
    Select,
    TypeArgument,
)
from schema_core.sql import syntax
from schema_core.sql.printer import close_up, plain_digits, print_expression
from schema_core.sql.syntax import rewrite

if TYPE_CHECKING:
    from schema_core.expressions.typed import Typed


def to_sql(typed: Typed) -> str:
    """The expression as Flink prints it, except where that would change its type.

    Raises:
        UnsupportedError: for a part that has no SQL.

    >>> from schema_core.expressions.type_checker import ColumnScope, infer
    >>> from schema_core.sql.parser import parse_expression
    >>> from schema_core.types import DataTypes as T
    >>> scope = ColumnScope({"a": T.INT(), "b": T.BIGINT()})
    >>> print(to_sql(infer(scope, parse_expression("coalesce(nullif(a, 0), b)"))))
    COALESCE(CAST(CASE WHEN `a` = 0 THEN NULL ELSE `a` END AS BIGINT), `b`)
    """
    return close_up(print_expression(to_syntax(typed)))


def flink_sql(typed: Typed) -> str:
    """The expression exactly as Flink prints it, possibly of another type.

    Raises:
        UnsupportedError: as `to_sql`.

    >>> from schema_core.expressions.type_checker import ColumnScope, infer
    >>> from schema_core.sql.parser import parse_expression
    >>> half = infer(ColumnScope({}), parse_expression(".5"))
    >>> to_sql(half), flink_sql(half)
    ('.5', '0.5')
    """
    return close_up(print_expression(rewrite(to_syntax(typed), _flink_spelling)))


def _flink_spelling(node: syntax.Expression) -> syntax.Expression | None:
    """A literal or a type of a cast as Flink spells it; None for any other node."""
    match node:
        case syntax.Literal(kind=syntax.LiteralKind.EXACT, text=text):
            return replace(node, text=plain_digits(text))
        case syntax.TypeName():
            return _nullable_entries(node)
        case _:
            return None


def _nullable_entries(written: syntax.TypeName) -> syntax.TypeName:
    """The type without NOT NULL for the keys and values of its maps."""
    arguments = tuple(map(_nullable_entries, written.arguments))
    if written.keyword == "MAP":
        arguments = tuple(replace(argument, nullable=None) for argument in arguments)
    fields = tuple(replace(field, type=_nullable_entries(field.type)) for field in written.fields)
    return replace(written, arguments=arguments, fields=fields)


def to_syntax(typed: Typed) -> syntax.Expression:
    """The syntax tree of a typed tree, with explicit casts."""
    pending: list[FunctionCall] = []
    while isinstance(typed, FunctionCall) and typed.arguments:
        pending.append(typed)
        typed = typed.arguments[0]
    tree = _leaf(typed)
    for call in reversed(pending):
        tree = _call(call, (tree, *map(to_syntax, call.arguments[1:])))
    return tree


def _leaf(typed: Typed) -> syntax.Expression:
    match typed:
        case Ref(name, _, relation):
            return syntax.Name((name,) if relation is None else (relation, name))
        case Constant(literal):
            return literal
        case Keyword(symbol):
            return syntax.Star() if symbol.word == "*" else symbol
        case TypeArgument(written):
            return written
        case Access(value, name):
            tree = to_syntax(value)
            if isinstance(tree, syntax.Name):
                return syntax.Name((*tree.parts, name))
            return syntax.Call(".", (tree, syntax.Name((name,))))
        case FunctionCall():
            return _call(typed, ())
        case Select(subquery):
            return subquery
        case _:
            assert_never(typed)


def _call(call: FunctionCall, arguments: tuple[syntax.Expression, ...]) -> syntax.Call:
    function, written = call.function, call.written
    end = len(arguments) - len(call.order)
    arguments, keys = arguments[:end], arguments[end:]
    if function.bare_names:
        arguments = tuple(
            syntax.Name((argument.word,)) if isinstance(argument, syntax.Symbol) else argument
            for argument in arguments
        )
    return syntax.Call(
        function.name,
        arguments,
        _path(call),
        written.symbol if written is not None else call.symbol,
        None if call.filter is None else to_syntax(call.filter),
        within=tuple(
            syntax.SortKey(key, how.descending, how.nulls_last)
            for key, how in zip(keys, call.order, strict=True)
        ),
        over=None if call.over is None else _window(call.over),
        nulls=call.nulls,
        orders_arguments=bool(keys),
    )


def _path(call: FunctionCall) -> tuple[str, ...]:
    """The quoted name of the function.

    Raises:
        UnsupportedError: for a Python function without a name.
    """
    function, written = call.function, call.written
    if written is not None and written.inline is not None:
        raise UnsupportedError(
            f"the Python function {written.name} is not registered, so SQL cannot call it",
            code="not-in-sql",
            hint="register it with create_temporary_function and call it by name",
        )
    return function.printed_path(written.path if written is not None else ())


def _window(over: Over) -> syntax.Window:
    keys = tuple(
        syntax.SortKey(to_syntax(key.value), key.descending, key.nulls_last)
        for key in over.order_by
    )
    frame = None
    if over.frame is not None:
        lower, upper = over.frame.lower, over.frame.upper
        frame = syntax.Frame(
            over.frame.unit,
            _bound_syntax(lower),
            None if upper is None else _bound_syntax(upper),
            over.frame.disallow_partial,
        )
    return syntax.Window(None, tuple(map(to_syntax, over.partition_by)), keys, frame)


def _bound_syntax(bound: Bound) -> syntax.Call | syntax.Symbol:
    if bound.distance is None:
        return syntax.Symbol(bound.words)
    return syntax.Call(bound.words, (to_syntax(bound.distance),))
