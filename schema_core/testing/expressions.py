"""A hypothesis strategy for well-typed SQL expressions, generated from the function tables.

The arguments that a function accepts are determined from its signature, so a new function is
generated as soon as it is in its table.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import islice
from typing import TypeAlias

from hypothesis import strategies as st

from schema_core.errors import SchemaCoreError
from schema_core.expressions.functions import BUILT_IN
from schema_core.expressions.overloads import accepts_count, resolve_overload
from schema_core.expressions.scope import ColumnScope
from schema_core.expressions.signatures import ArgumentTypes, Kind, Parameter
from schema_core.expressions.type_checker import infer
from schema_core.expressions.typed import Keyword, TypeArgument, Typed
from schema_core.sql.parser import parse_expression
from schema_core.sql.printer import print_expression
from schema_core.sql.syntax import Call, Expression, Name, Symbol, TypeName
from schema_core.sql.type_name import data_type
from schema_core.types import DataType, SymbolType, TypeRoot, parse_type

#: The default columns of expressions: one of most types.
COLUMNS: Mapping[str, DataType] = {
    name: parse_type(text)
    for name, text in {
        "a_boolean":   "BOOLEAN",
        "an_int":      "INT NOT NULL",
        "a_bigint":    "BIGINT",
        "a_decimal":   "DECIMAL(10, 2)",
        "a_double":    "DOUBLE",
        "a_string":    "STRING",
        "some_bytes":  "BYTES NOT NULL",
        "a_date":      "DATE",
        "a_timestamp": "TIMESTAMP(3)",
        "an_instant":  "TIMESTAMP_LTZ(3) NOT NULL",
        "an_array":    "ARRAY<INT>",
        "some_texts":  "ARRAY<STRING>",
        "a_map":       "MAP<STRING, DOUBLE>",
        "a_variant":   "VARIANT",
        "a_bitmap":    "BITMAP",
        "a row":       "ROW<x INT, y STRING NOT NULL>",
    }.items()
}  # fmt: skip

#: Arguments of calls besides columns: literals, and the keywords of EXTRACT, TRIM and CAST.
LITERALS = ("1", "'abc'", "'$.a'", "TRUE", "1.5", "DATE '2020-02-29'", "INTERVAL '1' DAY", "NULL")
WORDS = (Symbol("DAY"), Symbol("BOTH"))
TARGETS = (TypeName("INTEGER"), TypeName("STRING"))

#: How many combinations of arguments are tried for a function, and how many are used.
TRIED, KEPT = 200, 12
#: Calls have fewer arguments than this.
MOST = 6

Columns: TypeAlias = tuple[tuple[str, DataType], ...]
#: Arguments of calls, as syntax trees and typed.
Leaves: TypeAlias = tuple[tuple[Expression, Typed], ...]


@st.composite
def expressions(
    draw: st.DrawFn, columns: Mapping[str, DataType] = COLUMNS, max_depth: int = 3
) -> str:
    """Return SQL of a well-typed expression over the columns.

    Its type is that of ``infer(ColumnScope(columns), parse_expression(sql))``.
    """
    given = tuple(columns.items())
    return print_expression(draw(_trees(given, max_depth)))


@st.composite
def _trees(draw: st.DrawFn, columns: Columns, depth: int) -> Expression:
    if depth == 0 or draw(st.integers(0, 9)) == 0:
        return draw(st.sampled_from(_values(columns)))
    name = draw(st.sampled_from(NAMES))
    ways = fitting(name, columns)
    if not ways:
        return draw(_trees(columns, depth - 1))
    call = draw(st.sampled_from(ways))
    return _with_deeper(draw, call, columns, depth)


def _with_deeper(draw: st.DrawFn, call: Call, columns: Columns, depth: int) -> Expression:
    """Replace some columns of a call by calls, where the result is well-typed."""
    for place, argument in enumerate(call.arguments):
        if isinstance(argument, Name) and draw(st.booleans()):
            deeper = draw(_trees(columns, depth - 1))
            arguments = (*call.arguments[:place], deeper, *call.arguments[place + 1 :])
            nested = replace(call, arguments=arguments)
            call = call if _root(nested, columns) is None else nested
    return call


# --- what fits -----------------------------------------------------------------------------------

#: Names of scalar functions.
NAMES: tuple[str, ...] = tuple(
    sorted(
        name
        for name, rows in BUILT_IN.items()
        if all(row.kind is Kind.SCALAR for row in rows) and not name.startswith("$")
    )
)


@cache
def _values(columns: Columns) -> tuple[Expression, ...]:
    names = tuple(Name((name,)) for name, _ in columns)
    return (*names, *map(parse_expression, LITERALS[:-1]))


@cache
def _leaves(columns: Columns) -> Leaves:
    """Return the arguments of calls, as syntax trees and typed."""
    scope = ColumnScope(dict(columns))
    written = (*_values(columns), parse_expression(LITERALS[-1]))
    types = ((one, TypeArgument(one, data_type(one, as_cast=True))) for one in TARGETS)
    words = ((one, Keyword(one, SymbolType(nullable=False))) for one in WORDS)
    return (*((one, infer(scope, one)) for one in written), *types, *words)


@cache
def fitting(name: str, columns: Columns) -> tuple[Call, ...]:
    """Return well-typed calls of a function, some for each number of arguments."""
    found: list[Call] = []
    for count in _counts(name):
        calls = (one for one in _calls(name, count, columns) if _root(one, columns) is not None)
        found += islice(calls, KEPT)
    return tuple(found)


def _counts(name: str) -> list[int]:
    """Return the numbers of arguments that a function accepts, up to a limit."""
    return [n for n in range(MOST) if any(accepts_count(row, n) for row in BUILT_IN[name])]


def _calls(name: str, count: int, columns: Columns) -> Iterator[Call]:
    """Yield calls that resolve to an overload of the function; deterministic."""
    chance = random.Random(f"{name} {count}")  # noqa: S311 - a choice of examples
    for pools in _pools(name, count, columns):
        for _ in range(TRIED):
            way = [chance.choice(pool) for pool in pools]
            call = Call(name, tuple(written for written, _ in way))
            with suppress(SchemaCoreError):
                resolve_overload(BUILT_IN[name], _given([typed for _, typed in way]), call)
                yield call


def _pools(name: str, count: int, columns: Columns) -> Iterator[list[Leaves]]:
    """Yield, for each overload of a function, the candidates for each of its parameters.

    Most parameters only depend on their own argument, so each is tested with the same argument in
    all positions. If that excludes all candidates, all of them are used.
    """
    leaves = _leaves(columns)
    for row in BUILT_IN[name]:
        for declared in row.overloads:
            overload = row.expand(declared, count) or ()
            if len(overload) == count:
                yield [
                    tuple(leaf for leaf in leaves if _fits(parameter, leaf[1], place, count))
                    or leaves
                    for place, parameter in enumerate(overload)
                ]


def _fits(parameter: Parameter, typed: Typed, place: int, count: int) -> bool:
    try:
        return parameter.accepts(_given([typed] * count), place) is not None
    except SchemaCoreError:
        return False


def _given(trees: Sequence[Typed]) -> ArgumentTypes:
    return ArgumentTypes(tuple(tree.type for tree in trees), tuple(trees))


@cache
def _root(tree: Expression, columns: Columns) -> TypeRoot | None:
    """Return the type root of an expression after printing and parsing, None if it has no type.

    A descriptor is not a value: it names columns for a table function.
    """
    try:
        text = print_expression(tree)
        root = infer(ColumnScope(dict(columns)), parse_expression(text)).type.root
    except SchemaCoreError:
        return None
    return None if root is TypeRoot.DESCRIPTOR else root
