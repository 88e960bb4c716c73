"""Syntax trees of expressions and queries: frozen nodes with spans; their traversal.

Most nodes are a `Call`, named as in the function tables: an operator by its symbol (``+``, ``IS NOT
NULL``), a special form by its first keyword (``CAST``), a function in upper case. Keywords among
arguments (``DAY`` in ``FLOOR(ts TO DAY)``, ``NULL ON NULL``) are `Symbol` nodes. So a new function
needs no new node.

Names are as written: `schema_core.query.resolve` binds them. Spans are offsets into the parsed
text; equality ignores them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import field, replace
from enum import Enum
from typing import TypeAlias

from schema_core.base.lazy import NamedTuple, node
from schema_core.base.left_deep import LeftDeepNode
from schema_core.base.secrets import mask_value
from schema_core.base.text import Span

NOWHERE = Span(0, 0)


class LiteralKind(Enum):
    """How a literal was written, which decides its type."""

    NULL = "NULL"
    BOOLEAN = "BOOLEAN"
    UNKNOWN = "UNKNOWN"  # the third truth value
    EXACT = "EXACT"  # 12, 1.50: an integer or a decimal
    APPROXIMATE = "APPROXIMATE"  # 1e3: a double
    STRING = "STRING"
    BINARY = "BINARY"  # x'0f'
    DATE = "DATE"
    TIME = "TIME"
    TIMESTAMP = "TIMESTAMP"


@node(frozen=True, slots=True)
class Literal:
    """A constant. `text` is its content: digits, the decoded string, ``TRUE``, the hex digits.

    `charset` is the prefix of a string (``_UTF16'..'``, ``N'..'``), and LOCAL for ``TIMESTAMP WITH
    LOCAL TIME ZONE``. `pieces` are the lines of a string, which Flink prints on lines again.
    """

    kind: LiteralKind
    text: str
    charset: str | None = None
    pieces: tuple[str, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class Interval:
    """``INTERVAL '1-2' YEAR(3) TO MONTH``: the content and the qualifier.

    `unit` and `to` are in the singular; `leading` and `fraction` are the precisions.
    """

    text: str
    unit: str
    to: str | None = None
    leading: int | None = None
    fraction: int | None = None
    negative: bool = False
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class Name:
    """A column or path, as type checking decides: ``a``, ``t.a``, ``a.field``."""

    parts: tuple[str, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class Star:
    """``*`` or ``t.*`` in a SELECT list; as an argument only in ``COUNT(*)``."""

    prefix: tuple[str, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class Symbol:
    """A keyword argument of a call: ``DAY``, ``BOTH``, ``NULL ON NULL``, ``DISTINCT``."""

    word: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class TypeField:
    """A field of a row type."""

    name: str
    type: TypeName
    comment: str | None = None


@node(frozen=True, slots=True)
class TypeName:
    """A type as written; `schema_core.sql.type_name` maps it to a `DataType`.

    Flink prints the spelling: ``keyword`` is the printed name (``INTEGER``, ``TIMESTAMP WITH LOCAL
    TIME ZONE``, ``ROW``), `parameters` are not clamped, `nullable` is None if unspecified.
    `arguments` are those of collections; `postfix` marks ``INT ARRAY`` and ``ROW(..)``. `strings`
    are those of RAW and STRUCTURED.
    """

    keyword: str
    parameters: tuple[int, ...] = ()
    arguments: tuple[TypeName, ...] = ()
    fields: tuple[TypeField, ...] = ()
    strings: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    interval: Interval | None = None
    nullable: bool | None = None
    postfix: bool = False
    charset: str | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class SortKey:
    """A key of ORDER BY."""

    expression: Expression
    descending: bool = False
    nulls_last: bool | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class Frame:
    """``ROWS BETWEEN lower AND upper``.

    With `disallow_partial`, the result is NULL if the frame exceeds the partition.
    """

    unit: str  # ROWS or RANGE
    lower: Call | Symbol
    upper: Call | Symbol | None = None
    disallow_partial: bool = False


@node(frozen=True, slots=True)
class Window:
    """A window after OVER, or after a name in the WINDOW clause.

    `name` is the base window; with `is_reference` the window itself (``OVER w``, not ``OVER (w)``).
    """

    name: str | None = None
    partition_by: tuple[Expression, ...] = ()
    order_by: tuple[SortKey, ...] = ()
    frame: Frame | None = None
    is_reference: bool = False
    span: Span = field(default=NOWHERE, compare=False, repr=False)


class Size(NamedTuple):
    """The number of nodes of an expression, shared ones counted each time, and of levels.

    The first argument is on the level of its call: chains are visited without recursion.
    """

    nodes: int
    levels: int


@node(frozen=True, slots=True, eq=False, repr=False)
class Call(LeftDeepNode):
    """A function or operator and its arguments.

    `path` is the name as written unless it is one plain word in upper case. `symbol` is a keyword
    of the whole call: DISTINCT, or BARE for a function without parentheses (``CURRENT_DATE``),
    whose `word`, as written, names a column. `filter`, `within` (WITHIN GROUP, or with
    `orders_arguments` ORDER BY after the arguments), `nulls` (IGNORE NULLS, RESPECT NULLS) and
    `over` belong to aggregates. `inline` is a function called in Python without a name.
    """

    name: str
    arguments: tuple[Expression, ...] = ()
    path: tuple[str, ...] = ()
    symbol: str | None = None
    filter: Expression | None = None
    within: tuple[SortKey, ...] = ()
    over: Window | None = None
    nulls: str | None = field(default=None, repr=False)
    orders_arguments: bool = field(default=False, repr=False)
    inline: object = field(default=None, repr=False)
    word: str = field(default="", compare=False, repr=False)
    span: Span = field(default=NOWHERE, compare=False, repr=False)
    #: Set by `size` when it is first computed.
    size: Size | None = field(default=None, init=False, compare=False, repr=False)


@node(frozen=True, slots=True)
class Named:
    """An argument ``name => value``."""

    name: str
    value: Expression
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class Subquery:
    """A query in parentheses: a value, a list of values or a table."""

    query: Query
    span: Span = field(default=NOWHERE, compare=False, repr=False)


Expression: TypeAlias = (
    Literal | Interval | Name | Star | Symbol | TypeName | Call | Named | Subquery
)


@node(frozen=True, slots=True)
class Hint:
    """``/*+ OPTIONS('k'='v') */``: arguments are pairs, or names and literals."""

    name: str
    options: tuple[tuple[str, str], ...] = ()
    arguments: tuple[Name | Literal, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    def __repr__(self) -> str:
        shown = tuple((key, mask_value(key, value)) for key, value in self.options)
        return f"Hint(name={self.name!r}, options={shown!r}, arguments={self.arguments!r})"


def hinted_options(hints: Iterable[Hint]) -> dict[str, str]:
    """Return the options that hints set on a table; the last value of a repeated key counts.

    >>> hinted_options([Hint("options", (("path", "a"), ("path", "b")))])
    {'path': 'b'}
    """
    return dict(pair for hint in hints if hint.name.upper() == "OPTIONS" for pair in hint.options)


# ------------------------------------------------------------------------------------- queries


@node(frozen=True, slots=True)
class SelectItem:
    """An expression (or a `Star`) of a SELECT list, and its alias."""

    expression: Expression
    alias: str | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class GroupingSets:
    """``GROUPING SETS (...)``, ``ROLLUP (...)``, ``CUBE (...)``, or the empty set ``()``.

    Each set is a tuple of expressions (an element of ROLLUP or CUBE), or nested grouping sets.
    """

    kind: str
    sets: tuple[tuple[Expression, ...] | GroupingSets, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


GroupItem: TypeAlias = Expression | GroupingSets


@node(frozen=True, slots=True)
class Select:
    """``SELECT items FROM source WHERE ... GROUP BY ... HAVING ... WINDOW ... QUALIFY ...``.

    `group_by` is None without the clause.
    """

    items: tuple[SelectItem, ...]
    source: Source | None = None
    distinct: bool = False
    where: Expression | None = None
    group_by: tuple[GroupItem, ...] | None = None
    having: Expression | None = None
    windows: tuple[tuple[str, Window], ...] = ()
    qualify: Expression | None = None
    hints: tuple[Hint, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class Values:
    """``VALUES (1, 'a'), (2, 'b')``: at least one row of at least one expression."""

    rows: tuple[tuple[Expression, ...], ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class ExplicitTable:
    """``TABLE t`` as a query or argument of a table function."""

    name: Name
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class TableArgument:
    """``TABLE t PARTITION BY a ORDER BY b``, an argument of a table function."""

    query: Query
    partition_by: tuple[Expression, ...] = ()
    order_by: tuple[SortKey, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class SetOperation:
    """``left UNION [ALL] right``, also INTERSECT and EXCEPT."""

    operator: str
    all: bool
    left: Query
    right: Query
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class CommonTable:
    """``name (columns) AS (query)`` in a WITH clause."""

    name: str
    columns: tuple[str, ...]
    query: Query
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class With:
    """``WITH tables query``."""

    tables: tuple[CommonTable, ...]
    query: Query
    recursive: bool = False
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class Ordered:
    """A query with ORDER BY, OFFSET or FETCH (LIMIT is a FETCH)."""

    query: Query
    order_by: tuple[SortKey, ...] = ()
    offset: Expression | None = None
    fetch: Expression | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


Query: TypeAlias = Select | Values | ExplicitTable | TableArgument | SetOperation | With | Ordered


# ------------------------------------------------------------------------------------- sources


class JoinKind(Enum):
    """The kind of a join."""

    COMMA = ","
    CROSS = "CROSS JOIN"
    INNER = "INNER JOIN"
    LEFT = "LEFT JOIN"
    RIGHT = "RIGHT JOIN"
    FULL = "FULL JOIN"


@node(frozen=True, slots=True)
class TableName:
    """A table, view or common table; `period` is the argument of ``FOR SYSTEM_TIME AS OF``."""

    name: Name
    hints: tuple[Hint, ...] = ()
    period: Expression | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class Derived:
    """A query in parentheses; a `lateral` one sees the preceding sources."""

    query: Query
    lateral: bool = False
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class TableFunction:
    """``TABLE(f(...))``, ``LATERAL TABLE(f(...))`` or a bare ``f(...)``.

    Table arguments are `Subquery` nodes over `ExplicitTable` or `TableArgument`.
    """

    call: Call
    lateral: bool = False
    hints: tuple[Hint, ...] = ()
    period: Expression | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class Unnest:
    """``UNNEST(collection, ...) [WITH ORDINALITY]``."""

    collections: tuple[Expression, ...]
    ordinality: bool = False
    lateral: bool = False
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class Sample:
    """``source TABLESAMPLE BERNOULLI(10) REPEATABLE(1)``."""

    source: Source
    method: str
    percentage: Expression
    seed: Expression | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class Aliased:
    """``source AS name (columns)``."""

    source: Source
    name: str
    columns: tuple[str, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class Join:
    """Two sources, with at most one of NATURAL, ON and USING."""

    left: Source
    right: Source
    kind: JoinKind
    natural: bool = False
    condition: Expression | None = None
    using: tuple[Name, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class Measure:
    """``expression AS name`` in MEASURES, ``name AS condition`` in DEFINE."""

    expression: Expression
    name: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class MatchRecognize:
    """Row patterns over a source.

    `pattern` consists of names and of calls ``,`` (sequence), ``|``, ``PERMUTE``, ``{- -}``
    (exclusion) and ``{}``: a part, the minimum and maximum number of repetitions (an empty literal
    for an omitted one), and ``GREEDY`` or ``RELUCTANT``. `starts` and `ends` are ``^`` and ``$``.
    """

    source: Source
    partition_by: tuple[Expression, ...] = ()
    order_by: tuple[SortKey, ...] = ()
    measures: tuple[Measure, ...] = ()
    rows_per_match: str | None = None
    after_match: tuple[str, ...] = ()
    pattern: Expression | None = None
    starts: bool = False
    ends: bool = False
    within: Expression | None = None
    subsets: tuple[tuple[str, tuple[str, ...]], ...] = ()
    defines: tuple[Measure, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class UnpivotItem:
    """Columns of an UNPIVOT, one for each measure, and the literals of the axes, if written."""

    columns: tuple[Name, ...]
    values: tuple[Literal | Interval, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@node(frozen=True, slots=True)
class Unpivot:
    """``source UNPIVOT [INCLUDE NULLS] (measures FOR axes IN (items))``."""

    source: Source
    measures: tuple[Name, ...]
    axes: tuple[Name, ...]
    items: tuple[UnpivotItem, ...]
    include_nulls: bool = False
    span: Span = field(default=NOWHERE, compare=False, repr=False)


Source: TypeAlias = (
    TableName
    | Derived
    | TableFunction
    | Unnest
    | Sample
    | Aliased
    | Join
    | MatchRecognize
    | Unpivot
)


# --- traversal and rewriting of expressions -------------------------------------------------------
#
# A chain of operators can have thousands of operands, so the left side of a call is never visited
# by recursion.

#: Returns the replacement of a node, or None to visit its parts.
Change = Callable[[Expression], Expression | None]


def parts(expression: Expression) -> Iterator[Expression]:
    """Yield the direct subexpressions, with those of FILTER, WITHIN GROUP and OVER.

    Subqueries are not visited.
    """
    match expression:
        case Named(value=value):
            yield value
        case Call(arguments=arguments, filter=condition, within=within, over=over):
            yield from arguments
            if condition is not None:
                yield condition
            yield from (key.expression for key in within)
            if over is not None:
                yield from over.partition_by
                yield from (key.expression for key in over.order_by)
        case _:
            return


def walk(expression: Expression) -> Iterator[Expression]:
    """Yield an expression and all subexpressions, in no particular order."""
    rest = [expression]
    while rest:
        yield (part := rest.pop())
        rest.extend(parts(part))


def size(expression: Expression) -> Size:
    """Measure an expression. Calls cache their sizes: a shared part is visited once.

    >>> from schema_core.sql.syntax import Name
    >>> size(Call("+", (Call("-", (Name(("a",)), Name(("b",)))), Name(("c",)))))
    Size(nodes=5, levels=2)
    """
    waiting = [expression]
    while waiting:
        node = waiting[-1]
        below = list(parts(node))
        missing = [part for part in below if isinstance(part, Call) and part.size is None]
        if missing:
            waiting += missing
            continue
        waiting.pop()
        if isinstance(node, Call):
            object.__setattr__(node, "size", _size_over(below))
    return _size(expression)


def _size(expression: Expression) -> Size:
    if isinstance(expression, Call) and expression.size is not None:
        return expression.size
    return _size_over(list(parts(expression)))


def _size_over(below: list[Expression]) -> Size:
    sizes = [_size(part) for part in below]
    levels = max((part.levels + (place > 0) for place, part in enumerate(sizes)), default=1)
    return Size(1 + sum(part.nodes for part in sizes), levels)


def rewrite(expression: Expression, change: Change) -> Expression:
    """Return the expression with nodes replaced for which `change` returns a replacement.

    >>> from schema_core.sql.syntax import Call, Name
    >>> tree = Call("+", (Name(("a",)), Name(("b",))))
    >>> rewrite(tree, lambda node: Name(("t", "a")) if node == Name(("a",)) else None).arguments[0]
    Name(parts=('t', 'a'))
    """
    spine: list[Call] = []
    while True:
        changed = change(expression)
        if changed is not None or not (isinstance(expression, Call) and expression.arguments):
            break
        spine.append(expression)
        expression = expression.arguments[0]
    if changed is None:
        match expression:
            case Named(value=value):
                changed = replace(expression, value=rewrite(value, change))
            case Call():
                changed = _rewrite_clauses(expression, change)
            case _:
                changed = expression
    for call in reversed(spine):
        rest = tuple(rewrite(argument, change) for argument in call.arguments[1:])
        changed = _rewrite_clauses(replace(call, arguments=(changed, *rest)), change)
    return changed


def _rewrite_clauses(call: Call, change: Change) -> Call:
    """Rewrite FILTER, WITHIN GROUP and OVER."""
    if call.filter is None and not call.within and call.over is None:
        return call
    return replace(
        call,
        filter=None if call.filter is None else rewrite(call.filter, change),
        within=rewrite_keys(call.within, change),
        over=None if call.over is None else rewrite_window(call.over, change),
    )


def rewrite_keys(keys: tuple[SortKey, ...], change: Change) -> tuple[SortKey, ...]:
    """Rewrite the expressions of sort keys."""
    return tuple(replace(key, expression=rewrite(key.expression, change)) for key in keys)


def rewrite_window(window: Window, change: Change) -> Window:
    """Rewrite the expressions of a window; the bounds of its frame are constants."""
    return replace(
        window,
        partition_by=tuple(rewrite(key, change) for key in window.partition_by),
        order_by=rewrite_keys(window.order_by, change),
    )
