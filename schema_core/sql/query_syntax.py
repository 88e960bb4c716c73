"""The syntax tree of a query: what was written, frozen, each node with its span.

A query is a `Query`; what stands behind FROM is a `Source`. Names are as written: only
`schema_core.query.resolve` knows which table or column is meant. Spans are offsets into the text
that was parsed; they take no part in equality.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from schema_core.secrets import masked_value
from schema_core.sql.syntax import NOWHERE, Call, Expression, Literal, Name, SortKey, Window
from schema_core.text import Span


@dataclass(frozen=True, slots=True)
class Hint:
    """``/*+ OPTIONS('k'='v') */``: a name and its arguments, as pairs or as names and literals."""

    name: str
    options: tuple[tuple[str, str], ...] = ()
    arguments: tuple[Name | Literal, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    def __repr__(self) -> str:
        shown = tuple((key, masked_value(key, value)) for key, value in self.options)
        return f"Hint(name={self.name!r}, options={shown!r}, arguments={self.arguments!r})"


# ------------------------------------------------------------------------------------- queries


@dataclass(frozen=True, slots=True)
class SelectItem:
    """One item of a SELECT list: an expression (a `Star` too) and the name behind AS."""

    expression: Expression
    alias: str | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class GroupingSets:
    """``GROUPING SETS (...)``, ``ROLLUP (...)`` or ``CUBE (...)`` among the grouping items.

    `kind` is ``GROUPING SETS``, ``ROLLUP``, ``CUBE``, or ``()`` with the one empty set; each set is
    a tuple of expressions (for ROLLUP and CUBE an element that is rolled up as one), or a grouping
    operation of its own.
    """

    kind: str
    sets: tuple[tuple[Expression, ...] | GroupingSets, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


GroupItem: TypeAlias = Expression | GroupingSets


@dataclass(frozen=True, slots=True)
class Select:
    """``SELECT items FROM source WHERE ... GROUP BY ... HAVING ... WINDOW ... QUALIFY ...``.

    `group_by` is None without the clause; `windows` are the named ones of the WINDOW clause.
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


@dataclass(frozen=True, slots=True)
class Values:
    """``VALUES (1, 'a'), (2, 'b')``: at least one row of at least one expression."""

    rows: tuple[tuple[Expression, ...], ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ExplicitTable:
    """``TABLE t``: all of a table, as a query or as an argument of a table function."""

    name: Name
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TableArgument:
    """``TABLE t PARTITION BY a ORDER BY b``: only an argument of a table function."""

    query: Query
    partition_by: tuple[Expression, ...] = ()
    order_by: tuple[SortKey, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SetOperation:
    """``left UNION [ALL] right``, with `operator` UNION, INTERSECT or EXCEPT."""

    operator: str
    all: bool
    left: Query
    right: Query
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class CommonTable:
    """``name (columns) AS (query)`` in a WITH clause."""

    name: str
    columns: tuple[str, ...]
    query: Query
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class With:
    """``WITH tables query``."""

    tables: tuple[CommonTable, ...]
    query: Query
    recursive: bool = False
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Ordered:
    """A query with ORDER BY, OFFSET and FETCH (LIMIT is a FETCH), of which at least one is set."""

    query: Query
    order_by: tuple[SortKey, ...] = ()
    offset: Expression | None = None
    fetch: Expression | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


Query: TypeAlias = Select | Values | ExplicitTable | TableArgument | SetOperation | With | Ordered


# ------------------------------------------------------------------------------------- sources


class JoinKind(Enum):
    """How two sources are combined."""

    COMMA = ","
    CROSS = "CROSS JOIN"
    INNER = "INNER JOIN"
    LEFT = "LEFT JOIN"
    RIGHT = "RIGHT JOIN"
    FULL = "FULL JOIN"


@dataclass(frozen=True, slots=True)
class TableName:
    """A table, view or common table by name, with its hints.

    `period` is the moment of ``FOR SYSTEM_TIME AS OF``.
    """

    name: Name
    hints: tuple[Hint, ...] = ()
    period: Expression | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Derived:
    """A query in parentheses; a `lateral` one sees the columns of the sources before it."""

    query: Query
    lateral: bool = False
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TableFunction:
    """``TABLE(f(...))``, ``LATERAL TABLE(f(...))`` or a bare ``f(...)``.

    Tables among the arguments are `Subquery` nodes over `ExplicitTable` or `TableArgument`;
    ``DESCRIPTOR(a)`` is a call of that name.
    """

    call: Call
    lateral: bool = False
    hints: tuple[Hint, ...] = ()
    period: Expression | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Unnest:
    """``UNNEST(collection, ...) [WITH ORDINALITY]``."""

    collections: tuple[Expression, ...]
    ordinality: bool = False
    lateral: bool = False
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Sample:
    """``source TABLESAMPLE BERNOULLI(10) REPEATABLE(1)``; a percentage and a seed."""

    source: Source
    method: str
    percentage: Expression
    seed: Expression | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Aliased:
    """``source AS name (columns)``; `columns` is empty where none were listed."""

    source: Source
    name: str
    columns: tuple[str, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Join:
    """Two sources; at most one of NATURAL, ON and USING says which rows belong together."""

    left: Source
    right: Source
    kind: JoinKind
    natural: bool = False
    condition: Expression | None = None
    using: tuple[Name, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Measure:
    """``expression AS name`` in MEASURES, ``name AS condition`` in DEFINE."""

    expression: Expression
    name: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class MatchRecognize:
    """Row patterns over a source.

    `pattern` is made of names and of calls ``,`` (one after the other), ``|``, ``PERMUTE``,
    ``{- -}`` (excluded) and ``{}``: a part, the least and the most repetitions (empty text for no
    limit) as literals, and the symbol ``GREEDY`` or ``RELUCTANT``. `starts` and `ends` tell
    ``^`` and ``$``; `after_match` holds the words behind AFTER MATCH.
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


Source: TypeAlias = (
    TableName | Derived | TableFunction | Unnest | Sample | Aliased | Join | MatchRecognize
)
