"""What the Table API means otherwise than SQL: ``+`` of strings, rows, and names of functions."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from inspect import getmembers
from typing import Any, TypeVar

from schema_core.base.text import Span
from schema_core.errors import SchemaCoreError
from schema_core.expressions.fluent import (
    NAMED_FIELDS,
    AliasedExpression,
    Expression,
    SortedExpression,
)
from schema_core.expressions.scope import ColumnScope, Functions, Scope
from schema_core.expressions.type_checker import infer
from schema_core.sql import syntax
from schema_core.sql.syntax import Call, Literal, LiteralKind
from schema_core.sql.tokens import cursor_over
from schema_core.sql.type_name import cast_target
from schema_core.types import DataType, DataTypes
from schema_core.types.families import MEMBERS, TypeFamily, TypeRoot
from schema_core.types.unresolved import LookUp

T = TypeVar("T")

PLUS, CONCATENATION = "+", "||"

#: The roots of types whose values are concatenated.
STRINGS = MEMBERS[TypeFamily.CHARACTER_STRING]


@cache
def api_names() -> Mapping[str, Callable[..., Any]]:
    """Return the names of functions that SQL does not have, in upper case: the call in Python.

    They are those of operators, of the methods of `Expression` and of the functions beside it,
    without underscores. Few programs call by name, so the functions are imported at first use.
    """
    from schema_core.expressions import fluent_functions

    own = fluent_functions.__name__
    functions = getmembers(fluent_functions, lambda item: getattr(item, "__module__", "") == own)
    return {
        **{
            name.replace("_", "").upper(): getattr(function, "fget", function)
            for name, function in (*vars(Expression).items(), *functions)
            if "_" in name and not name.startswith("_")
        },
        "SUM0": lambda value: value.sum0,
        "PLUS": operator.add, "MINUS": operator.sub, "TIMES": operator.mul,
        "DIVIDE": operator.truediv, "MINUSPREFIX": operator.neg,
        "EQUALS": operator.eq, "NOTEQUALS": operator.ne,
        "LESSTHAN": operator.lt, "LESSTHANOREQUAL": operator.le,
        "GREATERTHAN": operator.gt, "GREATERTHANOREQUAL": operator.ge,
    }  # fmt: skip


#: Returns the scope of an expression; called only if there is something to rewrite.
ScopeOf = Callable[[], Scope]


def to_sql_meaning(item: T, scope_of: ScopeOf) -> T:
    """Rewrite an expression, alias or sort key to SQL with PyFlink's meaning; return anything else.

    ``+`` of strings is ``||``, with a cast of other operands. The fields of ``row(...)`` are
    ``f0``, ``f1``, which SQL calls ``EXPR$0``, ``EXPR$1``: the row is cast. A call by a name that
    only the Table API has, such as ``isNull``, is that of the method or operator. What cannot be
    typed is left as it is; its use raises the error.

    >>> from schema_core.expressions import call, col, row
    >>> scope = ColumnScope({"a": DataTypes.STRING(), "n": DataTypes.INT()})
    >>> print(to_sql_meaning(col("a") + "-" + col("n"), lambda: scope), col("n") + 1)
    `a` || '-' || CAST(`n` AS VARCHAR(2147483647)) `n` + 1
    >>> print(to_sql_meaning(row(col("n")), lambda: scope))
    CAST(ROW(`n`) AS ROW< `f0` INTEGER >)
    >>> print(to_sql_meaning(call("charLength", col("a")), lambda: scope))
    CHAR_LENGTH(`a`)
    """
    if not isinstance(item, Expression | AliasedExpression | SortedExpression):
        return item
    if not any(
        _is_plus(node) or _is_row(node) or _has_api_name(node) for node in syntax.walk(item.syntax)
    ):
        return item
    tree = _Rewriting(scope_of()).tree(item.syntax)
    if isinstance(item, Expression):
        return item if tree is item.syntax else Expression(tree)  # type: ignore[return-value]
    return replace(item, syntax=tree)


def column_scope(
    columns: Iterable[tuple[str, DataType]], functions: Functions | None, types: LookUp | None
) -> Scope:
    """The scope of the columns whose types SQL supports."""
    supported: dict[str, DataType] = {}
    for name, type_ in columns:
        try:
            ColumnScope({name: type_})
        except SchemaCoreError:
            continue
        supported[name] = type_
    return _ItemScope(supported, functions=functions, types=types)


class _ItemScope(ColumnScope):
    """The scope of an item of a list; the query defines its windows."""

    def window(self, name: str, span: Span) -> syntax.Window:
        """An ordered window, which types of functions do not depend on."""
        return syntax.Window(order_by=(syntax.SortKey(Literal(LiteralKind.EXACT, "1")),))


def _is_plus(node: syntax.Expression) -> bool:
    return isinstance(node, Call) and node.name == PLUS and len(node.arguments) == 2


def _is_row(node: syntax.Expression) -> bool:
    return isinstance(node, Call) and node.symbol == NAMED_FIELDS


def _has_api_name(node: syntax.Expression) -> bool:
    return isinstance(node, Call) and not node.path and node.name in api_names()


class _Rewriting:
    """Rewrites one expression; operands are typed once."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._strings: dict[int, tuple[syntax.Expression, bool]] = {}
        #: the casts of rows, each with the row
        self._rows: dict[int, tuple[syntax.Expression, Call]] = {}

    def tree(self, root: syntax.Expression) -> syntax.Expression:
        """Rewrite the calls of a tree from the innermost outwards, without recursion."""
        pending: list[tuple[syntax.Expression, bool]] = [(root, False)]
        results: list[syntax.Expression] = []
        while pending:
            node, is_done = pending.pop()
            if not isinstance(node, Call) or not node.arguments:
                results.append(node)
            elif not is_done:
                pending.append((node, True))
                pending += [(argument, False) for argument in reversed(node.arguments)]
            else:
                count = len(node.arguments)
                arguments = tuple(results[-count:])
                del results[-count:]
                results.append(self._call(node, arguments))
        return results[0]

    def _call(self, call: Call, arguments: tuple[syntax.Expression, ...]) -> syntax.Expression:
        same = all(first is other for first, other in zip(arguments, call.arguments, strict=True))
        rewritten = call if same else replace(call, arguments=arguments)
        if _has_api_name(call) and not self._has_function(call.name):
            named = _call_by_api_name(rewritten)
            if isinstance(named, Call) and named.name == PLUS:
                return self._call(named, arguments)
            return named
        if _is_row(call):
            return self._row(replace(rewritten, symbol=None))
        if call.name == "CAST" and id(arguments[0]) in self._rows:
            return replace(rewritten, arguments=(self._rows[id(arguments[0])][1], *arguments[1:]))
        if not _is_plus(call):
            return rewritten
        left, right = arguments
        is_string = (self._is_string(left), self._is_string(right))
        if any(is_string):
            left, right = (
                operand if fits else _cast(operand, DataTypes.STRING())
                for operand, fits in zip(arguments, is_string, strict=True)
            )
            rewritten = Call(CONCATENATION, (left, right))
        self._strings[id(rewritten)] = (rewritten, any(is_string))
        return rewritten

    def _row(self, row: Call) -> syntax.Expression:
        types = [self._type(argument) for argument in row.arguments]
        typed = [type_ for type_ in types if type_ and type_.root is not TypeRoot.NULL]
        if len(typed) < len(types):
            return row
        cast = _cast(row, DataTypes.ROW(typed))
        self._rows[id(cast)] = (cast, row)
        return cast

    def _has_function(self, name: str) -> bool:
        """Return whether SQL has a function of that name, also one of a user."""
        with suppress(SchemaCoreError):
            return bool(self._scope.function((name,), syntax.NOWHERE))
        return False

    def _is_string(self, tree: syntax.Expression) -> bool:
        if isinstance(tree, Literal):
            return tree.kind is LiteralKind.STRING
        if id(tree) not in self._strings:
            type_ = self._type(tree)
            self._strings[id(tree)] = (tree, type_ is not None and type_.root in STRINGS)
        return self._strings[id(tree)][1]

    def _type(self, tree: syntax.Expression) -> DataType | None:
        try:
            return infer(self._scope, tree).type
        except SchemaCoreError:
            return None


def _call_by_api_name(call: Call) -> syntax.Expression:
    """Return the call of the method, function or operator; the call itself if it does not fit."""
    with suppress(TypeError):
        result = api_names()[call.name](*map(Expression, call.arguments))
        return result.syntax if isinstance(result, Expression) else call
    return call


def _cast(tree: syntax.Expression, type_: DataType) -> syntax.Expression:
    return Call("CAST", (tree, cast_target(cursor_over(type_.as_serializable_string()))))
