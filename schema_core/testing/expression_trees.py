"""Hypothesis strategies for well-typed SQL expressions, and for their syntax trees.

Expressions come from the function tables: a function's arguments follow from its signature, so a
new function is covered at once. Syntax trees come from the printer's tables, and only those that
printing preserves: Flink's form omits the parentheses of ``(a + b)[1]``, for example.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import islice
from typing import Any, TypeAlias

from hypothesis import strategies as st

from schema_core.base.text import MAX_DEPTH
from schema_core.errors import SchemaCoreError
from schema_core.expressions.functions import BUILT_IN
from schema_core.expressions.scope import ColumnScope
from schema_core.expressions.type_checker import accepts_count, infer, resolve_overload
from schema_core.expressions.typed import (
    ArgumentTypes,
    FunctionKind,
    Keyword,
    Parameter,
    TypeArgument,
    Typed,
)
from schema_core.sql import syntax
from schema_core.sql.parser import parse_expression
from schema_core.sql.printer import BINARY, PREFIX, print_expression
from schema_core.sql.type_name import data_type
from schema_core.types import DataType, SymbolType, TypeRoot, parse_type

#: Default columns of expressions, of most types.
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

#: Arguments besides columns: literals, and the keywords of EXTRACT, TRIM and CAST.
LITERALS = ("1", "'abc'", "'$.a'", "TRUE", "1.5", "DATE '2020-02-29'", "INTERVAL '1' DAY", "NULL")
WORDS = (syntax.Symbol("DAY"), syntax.Symbol("BOTH"))
TARGETS = (syntax.TypeName("INTEGER"), syntax.TypeName("STRING"))

#: How many combinations of arguments are tried for a function, and how many used.
TRIED, KEPT = 200, 12
#: Calls have fewer arguments than this.
MOST = 6

Columns: TypeAlias = tuple[tuple[str, DataType], ...]
Leaves: TypeAlias = tuple[tuple[syntax.Expression, Typed], ...]


@st.composite
def expressions(
    draw: st.DrawFn, columns: Mapping[str, DataType] = COLUMNS, max_depth: int = 3
) -> str:
    """Return SQL of a well-typed expression over the columns.

    Its type is that of ``infer(ColumnScope(columns), parse_expression(sql))``.
    """
    return print_expression(draw(_trees(tuple(columns.items()), max_depth)))


@st.composite
def _trees(draw: st.DrawFn, columns: Columns, depth: int) -> syntax.Expression:
    if depth == 0 or draw(st.integers(0, 9)) == 0:
        return draw(st.sampled_from(_values(columns)))
    name = draw(st.sampled_from(NAMES))
    ways = fitting(name, columns)
    if not ways:
        return draw(_trees(columns, depth - 1))
    call = draw(st.sampled_from(ways))
    return _with_deeper(draw, call, columns, depth)


def _with_deeper(
    draw: st.DrawFn, call: syntax.Call, columns: Columns, depth: int
) -> syntax.Expression:
    """Replace some columns of a call by calls, where the result is well-typed."""
    for place, argument in enumerate(call.arguments):
        if isinstance(argument, syntax.Name) and draw(st.booleans()):
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
        if all(row.kind is FunctionKind.SCALAR for row in rows) and not name.startswith("$")
    )
)


@cache
def _values(columns: Columns) -> tuple[syntax.Expression, ...]:
    names = tuple(syntax.Name((name,)) for name, _ in columns)
    return (*names, *map(parse_expression, LITERALS[:-1]))


@cache
def _leaves(columns: Columns) -> Leaves:
    scope = ColumnScope(dict(columns))
    expressions = (*_values(columns), parse_expression(LITERALS[-1]))
    types = ((target, TypeArgument(target, data_type(target, as_cast=True))) for target in TARGETS)
    words = ((word, Keyword(word, SymbolType(nullable=False))) for word in WORDS)
    return (*((expression, infer(scope, expression)) for expression in expressions), *types, *words)


@cache
def fitting(name: str, columns: Columns) -> tuple[syntax.Call, ...]:
    """Return well-typed calls of a function, some for each number of arguments."""
    chosen: list[syntax.Call] = []
    for count in range(MOST):
        if not any(accepts_count(row, count) for row in BUILT_IN[name]):
            continue
        calls = (call for call in _calls(name, count, columns) if _root(call, columns) is not None)
        chosen += islice(calls, KEPT)
    return tuple(chosen)


def _calls(name: str, count: int, columns: Columns) -> Iterator[syntax.Call]:
    """Yield calls that resolve to an overload of the function; deterministic."""
    chance = random.Random(f"{name} {count}")  # noqa: S311 - a choice of examples
    for pools in _pools(name, count, columns):
        for _ in range(TRIED):
            way = [chance.choice(pool) for pool in pools]
            call = syntax.Call(name, tuple(tree for tree, _ in way))
            with suppress(SchemaCoreError):
                resolve_overload(BUILT_IN[name], _argument_types([typed for _, typed in way]), call)
                yield call


def _pools(name: str, count: int, columns: Columns) -> Iterator[list[Leaves]]:
    """Yield the candidates for each parameter, for each overload of a function.

    Most parameters depend only on their own argument: each is tested with the same argument in all
    positions. If that excludes all candidates, all are used.
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
        return parameter.accepts(_argument_types([typed] * count), place) is not None
    except SchemaCoreError:
        return False


def _argument_types(trees: Sequence[Typed]) -> ArgumentTypes:
    return ArgumentTypes(tuple(tree.type for tree in trees), tuple(trees))


@cache
def _root(tree: syntax.Expression, columns: Columns) -> TypeRoot | None:
    """Return an expression's type root after printing and parsing, None without a type.

    A descriptor is not a value: it names columns for a table function.
    """
    try:
        text = print_expression(tree)
        root = infer(ColumnScope(dict(columns)), parse_expression(text)).type.root
    except SchemaCoreError:
        return None
    return None if root is TypeRoot.DESCRIPTOR else root


# --- syntax trees ---------------------------------------------------------------------------------


#: Names that a backtick can hold: on one line.
names: st.SearchStrategy[str] = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\n\r"), min_size=1, max_size=8
)
paths: st.SearchStrategy[tuple[str, ...]] = st.lists(names, min_size=1, max_size=3).map(tuple)

#: What a plain string is printed as: printable ASCII and line ends.
plain: st.SearchStrategy[str] = st.text(
    st.characters(min_codepoint=32, max_codepoint=126) | st.just("\n"), max_size=8
)

integers: st.SearchStrategy[str] = st.integers(0, 10**20).map(str)
decimals: st.SearchStrategy[str] = st.decimals(
    0, 10**6, allow_nan=False, allow_infinity=False, places=3
).map(lambda value: f"{value:f}")

literals: st.SearchStrategy[Any] = st.one_of(
    st.just(syntax.Literal(syntax.LiteralKind.NULL, "NULL")),
    st.just(syntax.Literal(syntax.LiteralKind.UNKNOWN, "UNKNOWN")),
    st.sampled_from(["TRUE", "FALSE"]).map(
        lambda word: syntax.Literal(syntax.LiteralKind.BOOLEAN, word)
    ),
    (integers | decimals).map(lambda digits: syntax.Literal(syntax.LiteralKind.EXACT, digits)),
    st.integers(-300, 300).map(
        lambda power: syntax.Literal(syntax.LiteralKind.APPROXIMATE, f"1E{power}")
    ),
    plain.map(lambda text: syntax.Literal(syntax.LiteralKind.STRING, text)),
    st.text(max_size=8, alphabet=st.characters(exclude_categories=["Cs"])).map(
        lambda text: syntax.Literal(syntax.LiteralKind.STRING, text, "UTF16")
    ),
    st.binary(max_size=4).map(
        lambda data: syntax.Literal(syntax.LiteralKind.BINARY, data.hex().upper())
    ),
    st.dates().map(
        lambda day: syntax.Literal(syntax.LiteralKind.DATE, day.strftime("%Y-%m-%d").zfill(10))
    ),
)

intervals: st.SearchStrategy[syntax.Interval] = st.builds(
    lambda days, negative: syntax.Interval(str(days), "DAY", leading=3, negative=negative),
    st.integers(0, 999),
    st.booleans(),
)


def type_names() -> st.SearchStrategy[syntax.TypeName]:
    """Types as a cast may name them."""
    atoms = st.sampled_from(
        [
            syntax.TypeName("INTEGER"),
            syntax.TypeName("STRING"),
            syntax.TypeName("DECIMAL", (5, 2)),
            syntax.TypeName("CHAR", (3,)),
            syntax.TypeName("TIMESTAMP WITH LOCAL TIME ZONE", (3,)),
        ]
    )
    return st.recursive(atoms, _nested_types, max_leaves=4)


def _nested_types(inner: st.SearchStrategy[syntax.TypeName]) -> st.SearchStrategy[syntax.TypeName]:
    fields = st.lists(
        st.builds(syntax.TypeField, names, inner, st.none() | plain), min_size=1, max_size=2
    ).map(tuple)
    return st.one_of(
        st.builds(lambda key, value: syntax.TypeName("MAP", (), (key, value)), inner, inner),
        st.builds(
            lambda fields, postfix: syntax.TypeName("ROW", fields=fields, postfix=postfix),
            fields,
            st.booleans(),
        ),
    )


def trees() -> st.SearchStrategy[syntax.Expression]:
    """Trees of operators, calls and literals."""
    leaves = st.one_of(st.builds(syntax.Name, paths), literals, intervals)
    return st.recursive(leaves, _nested_calls, max_leaves=MAX_DEPTH // 4)


@st.composite
def _nested_calls(
    draw: st.DrawFn, inner: st.SearchStrategy[syntax.Expression]
) -> syntax.Expression:
    make = draw(st.sampled_from(CALLS))
    return make(draw, inner)


def _among(draw: st.DrawFn, inner: st.SearchStrategy[syntax.Expression]) -> syntax.Expression:
    name = draw(st.sampled_from(["IN", "NOT IN", "= SOME", "< ALL", "ROW", "ARRAY", "COALESCE"]))
    return syntax.Call(name, (draw(inner), *draw(st.lists(inner, min_size=1, max_size=2))))


def _binary(draw: st.DrawFn, inner: st.SearchStrategy[syntax.Expression]) -> syntax.Expression:
    name = draw(st.sampled_from([*sorted(BINARY), "LIKE", "NOT SIMILAR TO"]))
    return syntax.Call(name, (draw(inner), draw(inner)))


def _test(draw: st.DrawFn, inner: st.SearchStrategy[syntax.Expression]) -> syntax.Expression:
    name = draw(st.sampled_from(["IS NULL", "IS NOT TRUE", "IS JSON VALUE"]))
    return syntax.Call(name, (draw(inner),))


def _prefix(draw: st.DrawFn, inner: st.SearchStrategy[syntax.Expression]) -> syntax.Expression:
    """A sign before a number is part of the literal, not a call."""
    name = draw(st.sampled_from(sorted(PREFIX)))
    return syntax.Call(
        name, (draw(inner.filter(lambda node: not isinstance(node, syntax.Literal))),)
    )


def _case(draw: st.DrawFn, inner: st.SearchStrategy[syntax.Expression]) -> syntax.Expression:
    return syntax.Call("CASE", (draw(inner), draw(inner), draw(inner)))


def _cast(draw: st.DrawFn, inner: st.SearchStrategy[syntax.Expression]) -> syntax.Expression:
    return syntax.Call(
        draw(st.sampled_from(["CAST", "TRY_CAST"])), (draw(inner), draw(type_names()))
    )


def _unit(draw: st.DrawFn, inner: st.SearchStrategy[syntax.Expression]) -> syntax.Expression:
    value, unit = draw(inner), draw(st.sampled_from(["DAY", "EPOCH", "`x`"]))
    if draw(st.booleans()):
        return syntax.Call("EXTRACT", (syntax.Symbol(unit), value))
    return syntax.Call("FLOOR", (value, syntax.Symbol(unit)))


def _named_calls(draw: st.DrawFn, inner: st.SearchStrategy[syntax.Expression]) -> syntax.Expression:
    path = (*draw(paths), draw(names))
    return syntax.Call(
        path[-1].upper(), (syntax.Named(draw(names), draw(inner)), draw(inner)), path
    )


def _aggregate(draw: st.DrawFn, inner: st.SearchStrategy[syntax.Expression]) -> syntax.Expression:
    window = syntax.Window(order_by=(syntax.SortKey(draw(inner), descending=draw(st.booleans())),))
    return syntax.Call("SUM", (draw(inner),), symbol="DISTINCT", filter=draw(inner), over=window)


#: Constructors of calls from smaller trees.
CALLS = (_among, _binary, _test, _prefix, _case, _cast, _unit, _named_calls, _aggregate)
