"""Typed trees of queries: relations whose nodes have columns, and whose expressions have types.

The tree follows SQL block by block, so that an engine's SQL can be generated from it alone:

* `Select` is one block: items, source, WHERE, GROUP BY, HAVING, QUALIFY, DISTINCT. Its expressions
  refer to the columns of `source` by `Ref(name, type, relation)`. `relation` is the alias of
  one `Named` node of that source, or of an enclosing block where the query is correlated (the
  innermost block that has the alias is meant).
* Everything in a FROM clause that has columns is below a `Named`, also where no alias was written
  (the name is then the last part of the table's path, or is made up: ``EXPR$0``). So no two
  columns of a block can be confused; no two aliases of a block are equal.
* `Join.condition` is typed and complete: USING and NATURAL are equations there, and where a merged
  column is read, the item is that expression (``COALESCE(l.k, r.k)`` under FULL JOIN).
* `Sort` keys are output columns (``relation`` is None: ORDER BY a name or a position of the
  list) or expressions over the source of the block below.
* `With` keeps common tables by name; `CommonScan` reads one. Names hide as in SQL.
* Named windows are put in where they are used; nothing refers to a WINDOW clause.
* Subqueries in expressions are `typed.Select` nodes, whose `rows` is a relation of this module.

Names of columns follow the scoping of SQL and may be repeated; `result_columns` makes the names of
a result unique as Flink does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field
from itertools import count
from typing import NamedTuple, Protocol, TypeAlias

from schema_core.base.lazy_dataclass import node
from schema_core.base.paths import ObjectIdentifier
from schema_core.base.text import Span
from schema_core.errors import SchemaError
from schema_core.expressions.typed import Ref, Typed
from schema_core.schema.resolved import ResolvedSchema
from schema_core.sql.syntax import Call, Hint, JoinKind, MatchRecognize
from schema_core.types import DataType


class Column(NamedTuple):
    """A column of a relation. The kind of a timestamp type is that of a time attribute."""

    name: str
    type: DataType


Columns: TypeAlias = tuple[Column, ...]

#: Maximum number of columns of one relation; engines cannot plan more.
MAX_COLUMNS = 10_000


def require_width(count: int, span: Span) -> None:
    """Require at most `MAX_COLUMNS` columns.

    Raises:
        SchemaError: with code `too-wide`.
    """
    if count > MAX_COLUMNS:
        raise SchemaError(
            f"a relation has at most {MAX_COLUMNS:,} columns",
            code="too-wide",
            hint="select only the columns that are needed",
            span=span,
        )


@node(frozen=True, slots=True)
class SourceTable:
    """A catalog object that a query reads: its path, its schema and ``TABLE`` or ``VIEW``.

    `rows` is the object that holds the rows of a table without a path; the relation keeps it alive.
    """

    identifier: ObjectIdentifier
    schema: ResolvedSchema
    kind: str = "TABLE"
    rows: object = field(default=None, compare=False, repr=False)


class Tables(Protocol):
    """The tables that a query can read."""

    def table(self, path: tuple[str, ...], span: Span) -> SourceTable:
        """Return the table or view of a path (1 to 3 parts, as written).

        Raises:
            SchemaCoreError: if there is none.
        """
        ...


# ------------------------------------------------------------------------------------- sources


@node(frozen=True, slots=True)
class Scan:
    """A scan of a table or view; `period` is the argument of ``FOR SYSTEM_TIME AS OF``."""

    table: SourceTable
    columns: Columns
    hints: tuple[Hint, ...] = ()
    period: Typed | None = None


@node(frozen=True, slots=True)
class CommonScan:
    """A scan of a common table of an enclosing `With`."""

    name: str
    columns: Columns


@node(frozen=True, slots=True)
class Named:
    """A source under an alias, with the column names that expressions use.

    `lateral` sources see the columns of the preceding ones.
    """

    input: Relation
    alias: str
    columns: Columns
    lateral: bool = False


@node(frozen=True, slots=True)
class Join:
    """A join of two sources. The columns of the side that may be missing are nullable."""

    left: Relation
    right: Relation
    kind: JoinKind
    condition: Typed | None
    columns: Columns


@node(frozen=True, slots=True)
class Unnest:
    """The elements of a collection as rows; with `ordinality` their number is the last column."""

    collection: Typed
    ordinality: bool
    columns: Columns


@node(frozen=True, slots=True)
class WindowTable:
    """A window function such as ``TABLE(TUMBLE(...))``: its input and three columns of the window.

    `function` is TUMBLE, HOP, CUMULATE or SESSION; `sizes` are the intervals in the order written
    (TUMBLE: size, offset; HOP: slide, size, offset; CUMULATE: step, size, offset; SESSION: gap).
    """

    function: str
    input: Relation
    time: Ref
    sizes: tuple[Typed, ...]
    partition_by: tuple[Ref, ...]
    columns: Columns


@node(frozen=True, slots=True)
class FunctionTable:
    """A table function of a catalog or module with its arguments."""

    call: Typed
    columns: Columns


@node(frozen=True, slots=True)
class ProcessTable:
    """A process table function over the rows of its input; `call` is the call as written."""

    function: str
    input: Relation
    call: Call
    columns: Columns


@node(frozen=True, slots=True)
class Sample:
    """A sample of the rows of a source, as a percentage from 0 to 100."""

    input: Relation
    method: str
    percentage: Typed
    columns: Columns


@node(frozen=True, slots=True)
class Match:
    """MATCH_RECOGNIZE: its measures are typed, its pattern is as written."""

    input: Relation
    written: MatchRecognize
    measures: tuple[Item, ...]
    columns: Columns


# ------------------------------------------------------------------------------------- queries


class Item(NamedTuple):
    """One column of a SELECT list, after expansion of ``*``; `unnamed` if its name is generated."""

    name: str
    expression: Typed
    unnamed: bool = False


@node(frozen=True, slots=True)
class Grouping:
    """GROUP BY: the distinct keys, and the keys of each grouping set.

    `sets` holds positions in `keys`; None for a plain GROUP BY. Without keys all rows form a group.
    """

    keys: tuple[Typed, ...] = ()
    sets: tuple[tuple[int, ...], ...] | None = None


@node(frozen=True, slots=True)
class Select:
    """One SELECT block. `grouping` is set if rows are grouped, also without GROUP BY."""

    items: tuple[Item, ...]
    source: Relation | None = None
    where: Typed | None = None
    grouping: Grouping | None = None
    having: Typed | None = None
    qualify: Typed | None = None
    distinct: bool = False
    hints: tuple[Hint, ...] = ()

    @property
    def columns(self) -> Columns:
        return tuple(Column(item.name, item.expression.type) for item in self.items)


@node(frozen=True, slots=True)
class Values:
    """Rows of expressions; the type of a column is the least restrictive type of its values."""

    rows: tuple[tuple[Typed, ...], ...]
    columns: Columns


@node(frozen=True, slots=True)
class SetOperation:
    """UNION, INTERSECT or EXCEPT, of distinct rows unless `all`; operands are cast implicitly."""

    operator: str
    all: bool
    left: Relation
    right: Relation
    columns: Columns


class Key(NamedTuple):
    """One key of an ORDER BY. `nulls_last` is None if unspecified: NULL is the lowest value."""

    expression: Typed
    descending: bool = False
    nulls_last: bool | None = None


@node(frozen=True, slots=True)
class Sort:
    """ORDER BY, OFFSET and FETCH over a query."""

    input: Relation
    keys: tuple[Key, ...] = ()
    offset: int | None = None
    fetch: int | None = None

    @property
    def columns(self) -> Columns:
        return self.input.columns


class Common(NamedTuple):
    """A common table of a WITH clause, with the column names of the clause."""

    name: str
    relation: Relation
    columns: Columns


@node(frozen=True, slots=True)
class With:
    """Common tables and the query that may read them; each may read the preceding ones.

    In a `recursive` clause, a table may read itself.
    """

    tables: tuple[Common, ...]
    input: Relation
    recursive: bool = False

    @property
    def columns(self) -> Columns:
        return self.input.columns


Relation: TypeAlias = (
    Scan
    | CommonScan
    | Named
    | Join
    | Unnest
    | WindowTable
    | FunctionTable
    | ProcessTable
    | Sample
    | Match
    | Select
    | Values
    | SetOperation
    | Sort
    | With
)


def unique_names(names: Iterable[str]) -> list[str]:
    """Return the names, with the first free number as a suffix of each repeated one.

    >>> unique_names(["id", "id", "id0", "a", "id"])
    ['id', 'id0', 'id00', 'a', 'id1']
    """
    taken = TakenNames()
    return [taken.unique(name) for name in names]


class TakenNames:
    """Names that are taken, and for each the first number that may be free."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self._next: dict[str, int] = {}

    def add(self, name: str) -> None:
        """Take a name, which may be taken already."""
        self.names.add(name)

    def unique(self, name: str) -> str:
        """Take a name, or the name with the first free number as a suffix."""
        unique, number = name, self._next.get(name, 0)
        while unique in self.names:
            unique, number = f"{name}{number}", number + 1
        if unique != name:
            self._next[name] = number
        self.names.add(unique)
        return unique


def result_columns(relation: Relation) -> Columns:
    """Return the columns of a query's result, with names made unique as Flink does.

    A repeated name gets the first free number, except under an ORDER BY of something that is not
    in the select list: Flink then removes the sort column again and numbers by position.

    >>> from schema_core.types import DataTypes
    >>> [one.name for one in result_columns(Values((), (Column("a", DataTypes.INT()),) * 3))]
    ['a', 'a0', 'a1']
    """
    names = list(_result_names(relation))
    while isinstance(relation, With):
        relation = relation.input
    unique = positional_names(names) if _drops_sort_key(relation) else unique_names(names)
    return tuple(map(Column, unique, (column.type for column in relation.columns)))


def positional_names(names: Iterable[str]) -> list[str]:
    """Return the names, with their position or the next free number as a suffix of repeated ones.

    >>> positional_names(["id", "v", "id", "id"])
    ['id', 'v', 'id2', 'id3']
    """
    given = list(names)
    taken = set(given)
    found: dict[str, None] = {}
    for position, name in enumerate(given):
        unique = name
        if name in found:
            unique = next(one for i in count(position) if (one := f"{name}{i}") not in taken)
            taken.add(unique)
        found[unique] = None
    return list(found)


def _drops_sort_key(relation: Relation) -> bool:
    """Return whether some sort key is not a column of the select list."""
    if not isinstance(relation, Sort) or not isinstance(relation.input, Select):
        return False
    items = frozenset(item.expression for item in relation.input.items)
    return any(
        not is_output(key.expression) and key.expression not in items for key in relation.keys
    )


def is_output(key: Typed) -> bool:
    """Return whether a sort key is a column of the result, not an expression over its sources."""
    return isinstance(key, Ref) and not key.relation


def _result_names(relation: Relation) -> Iterator[str]:
    """Yield the names of a result; unnamed columns without grouping are numbered by position."""
    while isinstance(relation, Sort | With | SetOperation):
        relation = relation.left if isinstance(relation, SetOperation) else relation.input
    if isinstance(relation, Select) and relation.grouping is None:
        for index, item in enumerate(relation.items):
            yield f"EXPR${index}" if item.unnamed else item.name
    else:
        yield from (column.name for column in relation.columns)
