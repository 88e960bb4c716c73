"""Syntax trees of queries: frozen nodes, each with its span.

A query is a `Query`; an item of a FROM clause is a `Source`. Names are as written:
`schema_core.query.resolve` binds them to tables and columns. Spans are offsets into the parsed
text; equality ignores them.
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
    """One item of a SELECT list: an expression (or a `Star`) and its alias."""

    expression: Expression
    alias: str | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class GroupingSets:
    """``GROUPING SETS (...)``, ``ROLLUP (...)`` or ``CUBE (...)`` among the grouping items.

    `kind` is ``GROUPING SETS``, ``ROLLUP``, ``CUBE``, or ``()`` for the empty set; each set is a
    tuple of expressions (for ROLLUP and CUBE an element that is rolled up as one), or nested
    grouping sets.
    """

    kind: str
    sets: tuple[tuple[Expression, ...] | GroupingSets, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


GroupItem: TypeAlias = Expression | GroupingSets


@dataclass(frozen=True, slots=True)
class Select:
    """``SELECT items FROM source WHERE ... GROUP BY ... HAVING ... WINDOW ... QUALIFY ...``.

    `group_by` is None without the clause; `windows` are those of the WINDOW clause.
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
    """``TABLE t``: all rows of a table, as a query or as an argument of a table function."""

    name: Name
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TableArgument:
    """``TABLE t PARTITION BY a ORDER BY b``: only as an argument of a table function."""

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


@dataclass(frozen=True, slots=True)
class TableName:
    """A table, view or common table by name, with its hints.

    `period` is the argument of ``FOR SYSTEM_TIME AS OF``.
    """

    name: Name
    hints: tuple[Hint, ...] = ()
    period: Expression | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Derived:
    """A query in parentheses; a `lateral` one sees the columns of the preceding sources."""

    query: Query
    lateral: bool = False
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TableFunction:
    """``TABLE(f(...))``, ``LATERAL TABLE(f(...))`` or a bare ``f(...)``.

    Table arguments are `Subquery` nodes over `ExplicitTable` or `TableArgument`; ``DESCRIPTOR(a)``
    is a call of that name.
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
    """``source AS name (columns)``; `columns` is empty if there is no list."""

    source: Source
    name: str
    columns: tuple[str, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Join:
    """Two sources; at most one of NATURAL, ON and USING is the join condition."""

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

    `pattern` consists of names and of calls ``,`` (sequence), ``|``, ``PERMUTE``, ``{- -}``
    (exclusion) and ``{}``: a part, the minimum and maximum number of repetitions (an empty literal
    for no limit), and the symbol ``GREEDY`` or ``RELUCTANT``. `starts` and `ends` are ``^`` and
    ``$``; `after_match` holds the keywords of AFTER MATCH.
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
