"""Hypothesis strategies for syntax trees of expressions, from the tables of the printer.

Only trees that printing preserves are generated. Flink's printed form omits, for example, the
parentheses of ``(a + b)[1]`` and the notation of a string that is not ASCII.
"""

from __future__ import annotations

from hypothesis import strategies as st

from schema_core.sql.printer import BINARY, PREFIX
from schema_core.sql.syntax import (
    Call,
    Expression,
    Interval,
    Literal,
    LiteralKind,
    Name,
    Named,
    SortKey,
    Symbol,
    TypeField,
    TypeName,
    Window,
)
from schema_core.text import MAX_DEPTH

#: Names as a back-tick can hold them: on one line.
names = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\n\r"), min_size=1, max_size=8
)
paths = st.lists(names, min_size=1, max_size=3).map(tuple)

#: What a plain string is printed as: printable ASCII and line ends.
plain = st.text(st.characters(min_codepoint=32, max_codepoint=126) | st.just("\n"), max_size=8)

integers = st.integers(0, 10**20).map(str)
decimals = st.decimals(0, 10**6, allow_nan=False, allow_infinity=False, places=3).map(
    lambda value: f"{value:f}"
)

literals = st.one_of(
    st.just(Literal(LiteralKind.NULL, "NULL")),
    st.just(Literal(LiteralKind.UNKNOWN, "UNKNOWN")),
    st.sampled_from(["TRUE", "FALSE"]).map(lambda word: Literal(LiteralKind.BOOLEAN, word)),
    (integers | decimals).map(lambda digits: Literal(LiteralKind.EXACT, digits)),
    st.integers(-300, 300).map(lambda power: Literal(LiteralKind.APPROXIMATE, f"1E{power}")),
    plain.map(lambda text: Literal(LiteralKind.STRING, text)),
    st.text(max_size=8, alphabet=st.characters(exclude_categories=["Cs"])).map(
        lambda text: Literal(LiteralKind.STRING, text, "UTF16")
    ),
    st.binary(max_size=4).map(lambda data: Literal(LiteralKind.BINARY, data.hex().upper())),
    st.dates().map(lambda day: Literal(LiteralKind.DATE, day.strftime("%Y-%m-%d").zfill(10))),
)

intervals = st.builds(
    lambda days, negative: Interval(str(days), "DAY", leading=3, negative=negative),
    st.integers(0, 999),
    st.booleans(),
)


def type_names() -> st.SearchStrategy[TypeName]:
    """Types as a cast may name them."""
    atoms = st.sampled_from(
        [
            TypeName("INTEGER"),
            TypeName("STRING"),
            TypeName("DECIMAL", (5, 2)),
            TypeName("CHAR", (3,)),
            TypeName("TIMESTAMP WITH LOCAL TIME ZONE", (3,)),
        ]
    )
    return st.recursive(atoms, _nested, max_leaves=4)


def _nested(inner: st.SearchStrategy[TypeName]) -> st.SearchStrategy[TypeName]:
    fields = st.lists(
        st.builds(TypeField, names, inner, st.none() | plain), min_size=1, max_size=2
    ).map(tuple)
    return st.one_of(
        st.builds(lambda key, value: TypeName("MAP", (), (key, value)), inner, inner),
        st.builds(
            lambda found, postfix: TypeName("ROW", fields=found, postfix=postfix),
            fields,
            st.booleans(),
        ),
    )


def trees() -> st.SearchStrategy[Expression]:
    """Trees of operators, calls and literals."""
    leaves = st.one_of(st.builds(Name, paths), literals, intervals)
    return st.recursive(leaves, _calls, max_leaves=MAX_DEPTH // 4)


@st.composite
def _calls(draw: st.DrawFn, inner: st.SearchStrategy[Expression]) -> Expression:
    """A call with generated trees as arguments."""
    make = draw(st.sampled_from(CALLS))
    return make(draw, inner)


def _among(draw: st.DrawFn, inner: st.SearchStrategy[Expression]) -> Expression:
    name = draw(st.sampled_from(["IN", "NOT IN", "= SOME", "< ALL", "ROW", "ARRAY", "COALESCE"]))
    return Call(name, (draw(inner), *draw(st.lists(inner, min_size=1, max_size=2))))


def _binary(draw: st.DrawFn, inner: st.SearchStrategy[Expression]) -> Expression:
    name = draw(st.sampled_from([*sorted(BINARY), "LIKE", "NOT SIMILAR TO"]))
    return Call(name, (draw(inner), draw(inner)))


def _test(draw: st.DrawFn, inner: st.SearchStrategy[Expression]) -> Expression:
    name = draw(st.sampled_from(["IS NULL", "IS NOT TRUE", "IS JSON VALUE"]))
    return Call(name, (draw(inner),))


def _prefix(draw: st.DrawFn, inner: st.SearchStrategy[Expression]) -> Expression:
    """A sign before a number is a part of the literal, not a call."""
    name = draw(st.sampled_from(sorted(PREFIX)))
    return Call(name, (draw(inner.filter(lambda node: not isinstance(node, Literal))),))


def _case(draw: st.DrawFn, inner: st.SearchStrategy[Expression]) -> Expression:
    return Call("CASE", (draw(inner), draw(inner), draw(inner)))


def _cast(draw: st.DrawFn, inner: st.SearchStrategy[Expression]) -> Expression:
    return Call(draw(st.sampled_from(["CAST", "TRY_CAST"])), (draw(inner), draw(type_names())))


def _unit(draw: st.DrawFn, inner: st.SearchStrategy[Expression]) -> Expression:
    value, unit = draw(inner), draw(st.sampled_from(["DAY", "EPOCH", "`x`"]))
    if draw(st.booleans()):
        return Call("EXTRACT", (Symbol(unit), value))
    return Call("FLOOR", (value, Symbol(unit)))


def _named(draw: st.DrawFn, inner: st.SearchStrategy[Expression]) -> Expression:
    path = (*draw(paths), draw(names))
    return Call(path[-1].upper(), (Named(draw(names), draw(inner)), draw(inner)), path)


def _aggregate(draw: st.DrawFn, inner: st.SearchStrategy[Expression]) -> Expression:
    window = Window(order_by=(SortKey(draw(inner), descending=draw(st.booleans())),))
    return Call("SUM", (draw(inner),), symbol="DISTINCT", filter=draw(inner), over=window)


#: Constructors of calls from smaller trees.
CALLS = (_among, _binary, _test, _prefix, _case, _cast, _unit, _named, _aggregate)
