"""Typed trees of queries, their traversal and substitution.

A tree follows SQL block by block, so that an engine can generate SQL from it alone:

* Expressions of a `Select`, one block, refer to columns of `source` by `Ref(name, type, relation)`;
  `relation` is the alias of a `Named` node of that source, or else of the nearest enclosing block.
* Everything in FROM that has columns is below a `Named`, whose alias may be generated
  (``EXPR$0``). No two aliases of a block are equal.
* `Join.condition` is complete: USING and NATURAL are equations; merged columns are expressions
  (``COALESCE(l.k, r.k)`` under FULL JOIN).
* `Sort` keys are output columns (``relation`` is None) or expressions over the block's source.
* `CommonScan` reads a common table by name; names hide as in SQL.
* Named windows are put in where they are used.
* Subqueries in expressions are `typed.Select` nodes over relations.

Column names can repeat; `result_columns` makes those of a result unique.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import field, replace
from itertools import count
from types import MappingProxyType
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Protocol,
    TypeAlias,
    assert_never,
    cast,
    runtime_checkable,
)

from schema_core.base.lazy import NamedTuple, node
from schema_core.base.paths import ObjectIdentifier
from schema_core.base.text import Span
from schema_core.errors import SchemaError, UnsupportedError
from schema_core.expressions.typed import (
    Constant,
    Function,
    FunctionCall,
    FunctionKind,
    Ref,
    Typed,
    operands,
    substitute,
)
from schema_core.expressions.typed import Select as Subquery
from schema_core.schema.resolved import ResolvedSchema
from schema_core.sql.syntax import Call, Hint, JoinKind, Literal, LiteralKind, MatchRecognize
from schema_core.types import DataType, RowType

if TYPE_CHECKING:
    import datetime as dt


class Column(NamedTuple):
    """A column of a relation; the kind of a timestamp type marks time attributes."""

    name: str
    type: DataType


Columns: TypeAlias = tuple[Column, ...]

#: Maximum number of columns of a relation; engines cannot plan more.
MAX_COLUMNS = 10_000


def require_width(count: int, span: Span) -> None:
    """Require at most `MAX_COLUMNS` columns (`limit-exceeded`)."""
    if count > MAX_COLUMNS:
        raise SchemaError(
            f"a relation has at most {MAX_COLUMNS:,} columns",
            code="limit-exceeded",
            hint="select only the columns that are needed",
            span=span,
        )


@node(frozen=True, slots=True)
class SourceTable:
    """A catalog object that a query reads: its path, schema and kind (``TABLE``, ``VIEW``).

    `rows` holds the rows of a table without a path, which the relation keeps alive.
    """

    identifier: ObjectIdentifier
    schema: ResolvedSchema
    kind: str = "TABLE"
    rows: object = field(default=None, compare=False, repr=False)


class Tables(Protocol):
    """The tables that a query can read."""

    def table(self, path: tuple[str, ...], span: Span) -> SourceTable:
        """Return the table or view of a path as written, or raise a `SchemaCoreError`."""
        ...


@runtime_checkable
class VersionedTables(Protocol):
    """Tables of which a query can read earlier versions."""

    def table_at(
        self, path: tuple[str, ...], time: dt.datetime, span: Span
    ) -> tuple[SourceTable, int]:
        """Return a table as it was at a local time, and the time in milliseconds since 1970.

        It raises a `SchemaCoreError` without such a table.
        """
        ...


# ------------------------------------------------------------------------------------- sources


@node(frozen=True, slots=True)
class Scan:
    """A scan of a table or view.

    `timestamp` is that of the version which it reads, in milliseconds since 1970; None for the
    current one.
    """

    table: SourceTable
    columns: Columns
    hints: tuple[Hint, ...] = ()
    timestamp: int | None = None


@node(frozen=True, slots=True)
class Snapshot:
    """A source ``FOR SYSTEM_TIME AS OF`` a time attribute of the other side of its join."""

    input: Relation
    period: Typed
    columns: Columns


@node(frozen=True, slots=True)
class CommonScan:
    """A scan of a common table of an enclosing `With`."""

    name: str
    columns: Columns


@node(frozen=True, slots=True)
class Named:
    """A source under an alias, with the column names that expressions use.

    `lateral` sources see the columns of preceding ones.
    """

    input: Relation
    alias: str
    columns: Columns
    lateral: bool = False


@node(frozen=True, slots=True)
class Join:
    """A join; the columns of a side that may be missing are nullable."""

    left: Relation
    right: Relation
    kind: JoinKind
    condition: Typed | None
    columns: Columns


@node(frozen=True, slots=True)
class Unnest:
    """The elements of a collection as rows; `ordinality` adds their number as a column."""

    collection: Typed
    ordinality: bool
    columns: Columns


@node(frozen=True, slots=True)
class WindowTable:
    """A window function such as ``TABLE(TUMBLE(...))``: its input and three window columns.

    `sizes` are the intervals as written (TUMBLE: size, offset; HOP: slide, size, offset; CUMULATE:
    step, size, offset; SESSION: gap).
    """

    function: str
    input: Relation
    time: Ref
    sizes: tuple[Typed, ...]
    partition_by: tuple[Ref, ...]
    columns: Columns


@node(frozen=True, slots=True)
class FunctionTable:
    """A table function of a catalog or module."""

    call: Typed
    columns: Columns


class TimerColumns(NamedTuple):
    """The columns of the input by which timers fire as rows arrive, by position.

    Attributes:
        is_new: Whether a row is new; of a result, whether it has not been returned before.
        arrived_at: The watermark when a row arrived, in milliseconds; NULL before the first one.
        reached: The watermark before the micro-batch, in milliseconds.
        fires_until: The watermark before which timers fire after the last row; NULL for none.
        key: A number that identifies the partition, which the result has.
    """

    is_new: int
    arrived_at: int
    reached: int
    fires_until: int
    key: int


class ProcessCall(NamedTuple):
    """A call of a user's process table function, with the columns of the input by position.

    `values` are the constant arguments by parameter; `key` and `order` are those of the table,
    `time` is the column of `on_time`. Each key of `order` is a position, whether it descends, and
    whether NULL is last. The result has the columns `passed`, those of the function, and the time.

    The input of a function of several tables has the rows of all: `tables` are the names and
    columns of each by parameter, from a position on, and the column `number` is the place of the
    table of a row. Rows without ORDER BY are in the order of their times, unless `arrives`: then in
    the order in which they arrive. With `timers`, these fire between the rows as the watermark
    advances, and a result has, as its last column, the time of the next timer of a partition, in a
    row of its own. The column `kind` has the kinds of rows that are changes, of which those before
    updates may be dropped.
    """

    function: Function
    values: Mapping[str, Typed]
    key: tuple[int, ...]
    order: tuple[tuple[int, bool, bool], ...]
    time: int | None
    passed: tuple[int, ...]
    tables: Mapping[str, tuple[int, tuple[str, ...]]]
    number: int | None = None
    arrives: bool = False
    timers: TimerColumns | None = None
    kind: int | None = None
    drops_old_rows: bool = False


class Model(NamedTuple):
    """A model: its input and output columns, its options, and its identifier."""

    inputs: Columns
    outputs: Columns
    options: Mapping[str, str] = MappingProxyType({})
    identifier: ObjectIdentifier | None = None


class ModelCall(NamedTuple):
    """A call of ML_PREDICT: the model, the positions of its input columns, and the config."""

    model: Model
    arguments: tuple[int, ...]
    config: Mapping[str, str]


@node(frozen=True, slots=True)
class ProcessTable:
    """A process table function over the rows of its input; `call` is as written.

    `process` is set for a user's function, `model` for ML_PREDICT.
    """

    function: str
    input: Relation
    call: Call
    columns: Columns
    process: ProcessCall | None = None
    model: ModelCall | None = None


@node(frozen=True, slots=True)
class VectorSearch:
    """The `limit` rows of a table whose vectors are nearest to `query`, and their score.

    `searched` is the column with the vectors; `query` may read columns of preceding sources.
    """

    input: Relation
    searched: Ref
    query: Typed
    limit: int
    config: Mapping[str, str]
    columns: Columns


@node(frozen=True, slots=True)
class Sample:
    """A sample of the rows of a source, in percent."""

    input: Relation
    method: str
    percentage: Typed
    columns: Columns


@node(frozen=True, slots=True)
class Match:
    """MATCH_RECOGNIZE: its expressions are typed, its pattern is as written.

    `defines` are the conditions of variables. Columns of a variable have its name as `relation`,
    and FIRST, LAST, PREV and NEXT are calls.
    """

    input: Relation
    written: MatchRecognize
    partition_by: tuple[Typed, ...]
    order_by: tuple[Key, ...]
    measures: tuple[Item, ...]
    defines: tuple[Item, ...]
    within: Typed | None
    columns: Columns


# ------------------------------------------------------------------------------------- queries


class Item(NamedTuple):
    """A column of a SELECT list, with ``*`` expanded; `unnamed` if its name is generated."""

    name: str
    expression: Typed
    unnamed: bool = False


@node(frozen=True, slots=True)
class Grouping:
    """GROUP BY: its distinct keys, and the positions of the keys of each grouping set.

    `sets` is None for a plain GROUP BY. Without keys all rows form one group.
    """

    keys: tuple[Typed, ...] = ()
    sets: tuple[tuple[int, ...], ...] | None = None


@node(frozen=True, slots=True)
class Select:
    """One SELECT block; `grouping` is set if rows are grouped, also without GROUP BY."""

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
    """Rows of expressions; column types are the least restrictive types of the values."""

    rows: tuple[tuple[Typed, ...], ...]
    columns: Columns


@node(frozen=True, slots=True)
class SetOperation:
    """UNION, INTERSECT or EXCEPT, distinct unless `all`; operands are cast implicitly."""

    operator: str
    all: bool
    left: Relation
    right: Relation
    columns: Columns


class Key(NamedTuple):
    """A key of ORDER BY; if `nulls_last` is None, NULL is the lowest value."""

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
    """A query and the common tables it reads; each sees the preceding ones.

    In a `recursive` clause a table reads itself.
    """

    tables: tuple[Common, ...]
    input: Relation
    recursive: bool = False

    @property
    def columns(self) -> Columns:
        return self.input.columns


Relation: TypeAlias = (
    Scan
    | Snapshot
    | CommonScan
    | Named
    | Join
    | Unnest
    | WindowTable
    | FunctionTable
    | ProcessTable
    | VectorSearch
    | Sample
    | Match
    | Select
    | Values
    | SetOperation
    | Sort
    | With
)


def unique_names(names: Iterable[str]) -> list[str]:
    """Return the names; a repeated one gets the first free number as a suffix.

    >>> unique_names(["id", "id", "id0", "a", "id"])
    ['id', 'id0', 'id00', 'a', 'id1']
    """
    taken = TakenNames()
    return [taken.unique(name) for name in names]


class TakenNames:
    """Names that are taken, each with the first number that may be free."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self._next: dict[str, int] = {}

    def add(self, name: str) -> None:
        self.names.add(name)

    def unique(self, name: str) -> str:
        """Take the name, or the name with the first free number as a suffix."""
        unique, number = name, self._next.get(name, 0)
        while unique in self.names:
            unique, number = f"{name}{number}", number + 1
        if unique != name:
            self._next[name] = number
        self.names.add(unique)
        return unique


def result_columns(relation: Relation) -> Columns:
    """Return the columns of a query's result, with names made unique as Flink does.

    A repeated name gets the first free number. If an ORDER BY key is not in the select list, Flink
    numbers by position, since it removes the sort column again.

    >>> from schema_core.types import DataTypes
    >>> [column.name for column in result_columns(Values((), (Column("a", DataTypes.INT()),) * 3))]
    ['a', 'a0', 'a1']
    """
    names = list(_result_names(relation))
    while isinstance(relation, With):
        relation = relation.input
    unique = positional_names(names) if _drops_sort_key(relation) else unique_names(names)
    return tuple(map(Column, unique, (column.type for column in relation.columns)))


def result_schema(relation: Relation) -> ResolvedSchema:
    """Return the schema of a query's rows."""
    columns = result_columns(relation)
    return ResolvedSchema.physical(
        [column.name for column in columns], [column.type for column in columns]
    )


def row_columns(type_: DataType) -> Columns:
    """Return the fields of a row, unaffected by its nullability, or the value itself."""
    if isinstance(type_, RowType):
        return tuple(Column(field.name, field.data_type) for field in type_.fields)
    return (Column("EXPR$0", type_),)


def positional_names(names: Iterable[str]) -> list[str]:
    """Return the names; a repeated one gets its position, or the next free number, as a suffix.

    >>> positional_names(["id", "v", "id", "id"])
    ['id', 'v', 'id2', 'id3']
    """
    names = list(names)
    taken = set(names)
    unique: dict[str, None] = {}
    for position, name in enumerate(names):
        candidate = name
        if name in unique:
            candidates = (f"{name}{number}" for number in count(position))
            candidate = next(free for free in candidates if free not in taken)
            taken.add(candidate)
        unique[candidate] = None
    return list(unique)


def _drops_sort_key(relation: Relation) -> bool:
    if not isinstance(relation, Sort) or not isinstance(relation.input, Select):
        return False
    items = frozenset(item.expression for item in relation.input.items)
    return any(
        not is_output(key.expression) and key.expression not in items for key in relation.keys
    )


def is_output(key: Typed) -> bool:
    """Return whether a sort key is a column of the result, not an expression over sources."""
    return isinstance(key, Ref) and not key.relation


def _result_names(relation: Relation) -> Iterator[str]:
    """Yield names of a result; without grouping, unnamed columns are numbered by position."""
    while isinstance(relation, Sort | With | SetOperation):
        relation = relation.left if isinstance(relation, SetOperation) else relation.input
    if isinstance(relation, Select) and relation.grouping is None:
        for index, item in enumerate(relation.items):
            yield f"EXPR${index}" if item.unnamed else item.name
    else:
        yield from (column.name for column in relation.columns)


# --- traversal ------------------------------------------------------------------------------------


#: Aliases and names of columns.
Names: TypeAlias = frozenset[tuple[str, str]]


def columns_of(source: Relation | None) -> Names:
    """Return the columns that expressions over a source can read."""
    names: set[tuple[str, str]] = set()
    rest = [source]
    while rest:
        match rest.pop():
            case Join(left=left, right=right):
                rest += [left, right]
            case Named(alias=alias, columns=columns):
                names |= {(alias, column.name) for column in columns}
    return frozenset(names)


def leaves_of(source: Relation) -> Iterator[Relation]:
    """Yield the sources of FROM."""
    rest = [source]
    while rest:
        part = rest.pop()
        if isinstance(part, Join):
            rest += [part.right, part.left]
        else:
            yield part


def joins_in(source: Relation | None) -> Iterator[Join]:
    """Yield the joins of FROM, without those of queries in FROM."""
    rest = [source]
    while rest:
        part = rest.pop()
        if isinstance(part, Join):
            yield part
            rest += [part.left, part.right]


#: Kind of a join -> which sides, left and right, keep rows without a match; neither of the others.
_KEPT: Final[dict[JoinKind, tuple[bool, bool]]] = {
    JoinKind.LEFT: (True, False),
    JoinKind.RIGHT: (False, True),
    JoinKind.FULL: (True, True),
}


def kept_sides(join: Join) -> tuple[bool, bool]:
    """Return which sides of a join, left and right, keep rows without a match."""
    return _KEPT.get(join.kind, (False, False))


def is_inner(source: Relation | None) -> bool:
    """Return whether no join of FROM keeps rows without a match."""
    return not any(any(kept_sides(join)) for join in joins_in(source))


def adds_elements(join: Join) -> bool:
    """Return whether a join ON TRUE adds rows that are computed of each row.

    These are the elements of a collection, the rows of a table function, or VALUES. LEFT JOIN keeps
    a row without elements.
    """
    right, condition = join.right, join.condition
    is_true = isinstance(condition, Constant) and condition.literal == TRUE
    return (
        isinstance(right, Named)
        and right.lateral
        and isinstance(right.input, Unnest | FunctionTable | Values)
        and join.kind in (JoinKind.INNER, JoinKind.LEFT)
        and is_true
    )


#: The condition of a join of all rows.
TRUE: Final = Literal(LiteralKind.BOOLEAN, "TRUE")


def subexpressions(typed: Typed) -> Iterator[Typed]:
    """Yield an expression and all below it, without the insides of subqueries."""
    rest = [typed]
    while rest:
        yield (part := rest.pop())
        rest.extend(operands(part))


def conjuncts(condition: Typed | None) -> list[Typed]:
    """Return the operands of nested ANDs, or the condition itself."""
    operands_of_and: list[Typed] = []
    rest = [] if condition is None else [condition]
    while rest:
        condition = rest.pop()
        if isinstance(condition, FunctionCall) and condition.function.name == "AND":
            rest += reversed(condition.arguments)
        else:
            operands_of_and.append(condition)
    return operands_of_and


def subqueries_in(typed: Typed) -> list[Subquery]:
    """Return the subqueries of an expression, not those within them."""
    subqueries: list[Subquery] = []
    rest = [typed]
    while rest:  # `subexpressions` takes twice as long, and most expressions are columns
        part = rest.pop()
        if isinstance(part, Subquery):
            subqueries.append(part)
        else:
            rest += operands(part)
    return subqueries


def columns_read(typed: Typed, keys: Collection[Typed] = ()) -> Iterator[Ref]:
    """Yield the columns that an expression and its subqueries read outside of `keys`."""
    rest = [typed]
    while rest:
        part = rest.pop()
        if keys and part in keys:
            continue
        match part:
            case Ref(relation=relation) if relation:
                yield part
            case Subquery():
                yield from outer_columns(rows_of(part), keys)
            case _:
                rest.extend(operands(part))


def outer_columns(query: Relation, keys: Collection[Typed] = ()) -> Iterator[Ref]:
    """Yield the columns of enclosing blocks that a query reads outside of `keys`.

    Chains of joins and set operations can be long: only blocks are visited recursively.
    """
    rest = [query]
    while rest:
        expressions, inputs, own = parts_of(rest.pop())
        for expression in expressions:
            columns = columns_read(expression, keys)
            yield from (column for column in columns if not is_own(column, own))
        if not own:
            rest += inputs
            continue
        for below in inputs:
            yield from (column for column in outer_columns(below, keys) if not is_own(column, own))


def is_own(column: Ref, own: Names) -> bool:
    """Return whether a column belongs to the sources with these columns."""
    return (column.relation or "", column.name) in own


def rows_of(subquery: Subquery) -> Relation:
    """Return the relation of a subquery."""
    return cast("Relation", subquery.rows)


def parts_of(query: Relation) -> tuple[list[Typed], list[Relation], Names]:
    """Return the expressions and inputs of a relation, and the columns these can read."""
    match query:
        case Scan() | CommonScan():
            return [], [], frozenset()
        case (
            Named(input=below)
            | WindowTable(input=below)
            | Sample(input=below)
            | ProcessTable(input=below)
            | Match(input=below)
        ):
            return [], [below], frozenset()
        case Snapshot(input=below, period=period):
            return [period], [below], frozenset()
        case VectorSearch(input=below, query=vector):
            return [vector], [below], frozenset()
        case Join(left=left, right=right, condition=condition):
            return [] if condition is None else [condition], [left, right], frozenset()
        case Unnest(collection=expression) | FunctionTable(call=expression):
            return [expression], [], frozenset()
        case Select():
            inputs = [] if query.source is None else [query.source]
            return list(expressions_of(query)), inputs, columns_of(query.source)
        case Values(rows=rows):
            return [value for row in rows for value in row], [], frozenset()
        case SetOperation(left=left, right=right):
            return [], [left, right], frozenset()
        case Sort(input=below, keys=keys):
            own = columns_of(below.source) if isinstance(below, Select) else frozenset()
            return [key.expression for key in keys], [below], own
        case With(tables=tables, input=below):
            return [], [*(table.relation for table in tables), below], frozenset()
        case _:
            assert_never(query)


def relations_in(query: Relation) -> Iterator[Relation]:
    """Yield a query and all relations in it and in its subqueries."""
    rest = [query]
    while rest:
        relation = rest.pop()
        yield relation
        expressions, inputs, _ = parts_of(relation)
        rest += reversed(inputs)
        rest += [rows_of(part) for typed in expressions for part in subqueries_in(typed)]


def reads_itself(table: Common) -> bool:
    """Return whether a common table reads one of its own name."""
    return any(
        isinstance(part, CommonScan) and part.name == table.name
        for part in relations_in(table.relation)
    )


def calls_in(query: Relation) -> Iterator[FunctionCall]:
    """Yield the function calls of a query and its subqueries."""
    for relation in relations_in(query):
        for expression in parts_of(relation)[0]:
            for part in subexpressions(expression):
                if isinstance(part, FunctionCall):
                    yield part


def expressions_of(block: Select) -> Iterator[Typed]:
    """Yield the expressions of all clauses of a block."""
    yield from (item.expression for item in block.items)
    yield from block.grouping.keys if block.grouping is not None else ()
    for condition in (block.where, block.having, block.qualify):
        if condition is not None:
            yield condition


def is_aggregate(typed: Typed) -> bool:
    """Return whether an expression is an aggregate over a group."""
    return (
        isinstance(typed, FunctionCall)
        and typed.function.kind is FunctionKind.AGGREGATE
        and typed.over is None
    )


def subqueries_of_group(typed: Typed, keys: Collection[Typed]) -> Iterator[tuple[Subquery, bool]]:
    """Yield the subqueries that are computed once for each group.

    Those in aggregates are computed for each row, those in keys before grouping. The flag is set
    for a value, not for rows.
    """
    rest = [(typed, True)]
    while rest:
        part, is_value = rest.pop()
        if part in keys or is_aggregate(part):
            continue
        rows = None
        match part:
            case Subquery():
                yield part, is_value
            case FunctionCall(function=Function(many_rows=True), arguments=(*_, last)) if (
                len(part.arguments) <= 2
            ):  # EXISTS, and IN over one operand, read rows
                rows = last
        rest += [(operand, operand is not rows) for operand in operands(part)]


# --- substitution ---------------------------------------------------------------------------------


def substitute_parts(relation: Relation, change: Callable[[Relation], Relation | None]) -> Relation:
    """Return a relation with parts replaced, except in subqueries of expressions.

    `change` returns what replaces a part, or None to visit its inputs. Long chains of joins and set
    operations are followed without recursion.
    """
    chain: list[Join | SetOperation] = []
    while (replacement := change(relation)) is None and isinstance(relation, Join | SetOperation):
        chain.append(relation)
        relation = relation.left
    result = _substitute_inputs(relation, change) if replacement is None else replacement
    for outer in reversed(chain):
        right = substitute_parts(outer.right, change)
        is_same = result is outer.left and right is outer.right
        result = outer if is_same else replace(outer, left=result, right=right)
    return result


def substitute_in_block(block: Select, change: Callable[[Typed], Typed | None]) -> Select:
    """Return a block with parts of its expressions replaced, those of FROM excepted.

    `change` is that of `substitute`.
    """

    def substitute_optional(typed: Typed | None) -> Typed | None:
        return None if typed is None else substitute(typed, change)

    grouping = block.grouping
    if grouping is not None:
        keys = tuple(substitute(key, change) for key in grouping.keys)
        grouping = replace(grouping, keys=keys)
    return replace(
        block,
        items=tuple(
            item._replace(expression=substitute(item.expression, change)) for item in block.items
        ),
        where=substitute_optional(block.where),
        grouping=grouping,
        having=substitute_optional(block.having),
        qualify=substitute_optional(block.qualify),
    )


def _substitute_inputs(
    relation: Relation, change: Callable[[Relation], Relation | None]
) -> Relation:
    parts: dict[str, Any] = {}
    for name in ("source", "input"):
        part = getattr(relation, name, None)
        if part is not None and (new := substitute_parts(part, change)) is not part:
            parts[name] = new
    if isinstance(relation, With):
        tables = tuple(
            table._replace(relation=substitute_parts(table.relation, change))
            for table in relation.tables
        )
        return replace(relation, tables=tables, **parts)
    return replace(relation, **parts) if parts else relation


def without_common_tables(query: Relation) -> Relation:
    """Return a query that reads each common table in place, as a subquery in FROM.

    A common table that a subquery in an expression reads stays in the WITH clause.

    Raises:
        UnsupportedError: `streaming-not-supported` if such a table hides another of its name.
    """
    return _in_place(query, {})


def _in_place(query: Relation, visible: Mapping[str, Relation]) -> Relation:
    """Return a query with the `visible` common tables and its own read in place."""

    def change(relation: Relation) -> Relation | None:
        match relation:
            case CommonScan(name, columns) if name in visible:
                # scans are copied: what a query needs of a scan is kept by its identity
                rows = substitute_parts(
                    visible[name], lambda part: replace(part) if isinstance(part, Scan) else None
                )
                return Named(rows, name, columns)
            case With():
                return _inline_with(relation, visible)
            case _:
                return None

    return substitute_parts(query, change)


def _inline_with(query: With, outer: Mapping[str, Relation]) -> Relation:
    own = {table.name for table in query.tables}
    hidden = own if query.recursive else frozenset[str]()
    visible = {name: value for name, value in outer.items() if name not in hidden}
    tables = []
    for table in query.tables:
        relation = _in_place(table.relation, visible)
        tables.append(table._replace(relation=relation))
        if not query.recursive:
            visible[table.name] = relation
    below = _in_place(query.input, visible)
    if query.recursive:
        return replace(query, tables=tuple(tables), input=below)
    used = own & {
        part.name
        for relation in (below, *(table.relation for table in tables))
        for part in relations_in(relation)
        if isinstance(part, CommonScan)
    }
    for name in sorted(used & outer.keys()):
        raise UnsupportedError(
            f"a subquery in an expression reads one of several common tables {name!r}",
            code="streaming-not-supported",
            hint="name the common tables differently",
        )
    common = tuple(table for table in tables if table.name in used)
    return replace(query, tables=common, input=below) if common else below
