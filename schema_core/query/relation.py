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

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import field, replace
from itertools import count
from typing import Any, Final, NamedTuple, Protocol, TypeAlias, assert_never, cast, get_args

from schema_core.base.lazy_dataclass import node
from schema_core.base.paths import ObjectIdentifier
from schema_core.base.text import Span
from schema_core.errors import SchemaError, UnsupportedError
from schema_core.expressions.signatures import FunctionKind
from schema_core.expressions.typed import Constant, FunctionCall, Ref, Typed, operands
from schema_core.expressions.typed import Select as Subquery
from schema_core.schema.resolved import ResolvedSchema
from schema_core.sql.syntax import Call, Hint, JoinKind, Literal, LiteralKind, MatchRecognize
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


# --- traversal ------------------------------------------------------------------------------------


#: Aliases and names of columns.
Names: TypeAlias = frozenset[tuple[str, str]]


def columns_of(source: Relation | None) -> Names:
    """Return the columns that the expressions over a source can read, by alias and name."""
    found: set[tuple[str, str]] = set()
    rest = [source]
    while rest:
        match rest.pop():
            case Join(left=left, right=right):
                rest += [left, right]
            case Named(alias=alias, columns=columns):
                found |= {(alias, column.name) for column in columns}
            case _:
                continue
    return frozenset(found)


def adds_elements(join: Join) -> bool:
    """Return whether a join adds each element of a collection to a row: UNNEST joined ON TRUE.

    The rows of a table function are such elements, too. LEFT JOIN keeps a row without elements.
    """
    right, condition = join.right, join.condition
    is_true = isinstance(condition, Constant) and condition.literal == TRUE
    return (
        isinstance(right, Named)
        and right.lateral
        and isinstance(right.input, Unnest | FunctionTable)
        and join.kind in (JoinKind.INNER, JoinKind.LEFT)
        and is_true
    )


#: The condition of a join of all rows.
TRUE: Final = Literal(LiteralKind.BOOLEAN, "TRUE")


def subexpressions(typed: Typed) -> Iterator[Typed]:
    """Yield an expression and all that is below it, but not what its subqueries consist of."""
    rest = [typed]
    while rest:
        one = rest.pop()
        yield one
        rest.extend(operands(one))


def subqueries_in(typed: Typed) -> list[Subquery]:
    """Return the subqueries of an expression, without those within them."""
    return [
        subexpression
        for subexpression in subexpressions(typed)
        if isinstance(subexpression, Subquery)
    ]


def columns_read(typed: Typed, keys: Collection[Typed] = ()) -> Iterator[Ref]:
    """Yield the columns that an expression reads, subqueries included, outside of `keys`."""
    rest = [typed]
    while rest:
        one = rest.pop()
        if keys and one in keys:
            continue
        match one:
            case Ref(relation=relation) if relation:
                yield one
            case Subquery():
                yield from outer_columns(rows_of(one), keys)
            case _:
                rest.extend(operands(one))


def outer_columns(query: Relation, keys: Collection[Typed] = ()) -> Iterator[Ref]:
    """Yield the columns of enclosing blocks that a query reads, outside of `keys`.

    Chains of joins and set operations are long: only blocks are read recursively.
    """
    rest = [query]
    while rest:
        expressions, inputs, own = parts_of(rest.pop())
        for expression in expressions:
            yield from (item for item in columns_read(expression, keys) if not is_own(item, own))
        if not own:
            rest += inputs
            continue
        for below in inputs:
            yield from (column for column in outer_columns(below, keys) if not is_own(column, own))


def is_own(column: Ref, own: Names) -> bool:
    """Whether a column belongs to the sources with these columns."""
    return (column.relation or "", column.name) in own


def rows_of(subquery: Subquery) -> Relation:
    """Return the relation of a query used as a value."""
    return cast("Relation", subquery.rows)


def parts_of(query: Relation) -> tuple[list[Typed], list[Relation], Names]:
    """The expressions and inputs of a query, and the columns that these can read."""
    match query:
        case Scan() | CommonScan():
            return [], [], frozenset()
        case Named(input=below) | WindowTable(input=below) | Sample(input=below):
            return [], [below], frozenset()
        case ProcessTable(input=below) | Match(input=below):
            return [], [below], frozenset()
        case Join(left=left, right=right, condition=condition):
            return [] if condition is None else [condition], [left, right], frozenset()
        case Unnest(collection=collection):
            return [collection], [], frozenset()
        case FunctionTable(call=call):
            return [call], [], frozenset()
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
    """Yield a query and all relations in it, subqueries included."""
    rest = [query]
    while rest:
        relation = rest.pop()
        yield relation
        expressions, inputs, _ = parts_of(relation)
        rest += reversed(inputs)
        rest += [rows_of(part) for typed in expressions for part in subqueries_in(typed)]


def calls_in(query: Relation) -> Iterator[FunctionCall]:
    """Yield the function calls of a query, those of its subqueries included."""
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
    """Whether an expression is an aggregate over the rows of a group."""
    return (
        isinstance(typed, FunctionCall)
        and typed.function.kind is FunctionKind.AGGREGATE
        and typed.over is None
    )


def subqueries_of_group(typed: Typed, keys: Collection[Typed]) -> Iterator[tuple[Subquery, bool]]:
    """Yield the subqueries in an expression over groups that are computed once for each group.

    Those within aggregates are computed for each row, those within the keys before the rows are
    grouped. The flag is set for a subquery that is used as a value, not as rows.
    """
    rest = [(typed, True)]
    while rest:
        one, is_value = rest.pop()
        if one in keys or is_aggregate(one):
            continue
        if isinstance(one, Subquery):
            yield one, is_value
        below = operands(one)
        rows = _rows_argument(one)
        rest += [(operand, operand is not rows) for operand in below]


def _rows_argument(typed: Typed) -> Typed | None:
    """Return the argument whose rows a function reads: that of EXISTS, and the only one of IN."""
    if not isinstance(typed, FunctionCall) or not typed.function.many_rows:
        return None
    return typed.arguments[-1] if len(typed.arguments) <= 2 else None


# --- substitution ---------------------------------------------------------------------------------


#: The fields of relations that hold their input; joins and set operations have two.
INPUTS: Final = ("source", "input")
#: The classes of relations.
RELATIONS: Final = get_args(Relation)


def substitute_parts(
    relation: Relation,
    change: Callable[[Relation], Relation | None],
) -> Relation:
    """Return a relation with parts replaced, those of its subqueries in expressions excepted.

    Chains of joins and set operations are long: they are not followed recursively to the left.

    Args:
        relation: A query or a source of one.
        change: Returns what replaces a part; None to keep the part and visit its inputs.
    """
    chain: list[Join | SetOperation] = []
    while (found := change(relation)) is None and isinstance(relation, Join | SetOperation):
        chain.append(relation)
        relation = relation.left
    result = _with_inputs(relation, change) if found is None else found
    for item in reversed(chain):
        right = substitute_parts(item.right, change)
        is_same = result is item.left and right is item.right
        result = item if is_same else replace(item, left=result, right=right)
    return result


def _with_inputs(
    relation: Relation,
    change: Callable[[Relation], Relation | None],
) -> Relation:
    """Return a relation, neither a join nor a set operation, with parts of its inputs replaced."""
    parts: dict[str, Any] = {}
    for name in INPUTS:
        part = getattr(relation, name, None)
        if isinstance(part, RELATIONS) and (new := substitute_parts(part, change)) is not part:
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
        UnsupportedError: with code `streaming-not-supported` for such a table that hides another
            one of its name, since the query would read either.
    """
    return _in_place(query, {})


def _in_place(query: Relation, visible: Mapping[str, Relation]) -> Relation:
    """Return a query with the visible common tables, by name, and its own ones read in place."""

    def change(relation: Relation) -> Relation | None:
        match relation:
            case CommonScan(name, columns) if name in visible:
                return Named(substitute_parts(visible[name], _copy_scan), name, columns)
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
        found = _in_place(table.relation, visible)
        tables.append(table._replace(relation=found))
        if not query.recursive:
            visible[table.name] = found
    below = _in_place(query.input, visible)
    if query.recursive:
        return replace(query, tables=tuple(tables), input=below)
    used = own & _common_tables_in([below, *(table.relation for table in tables)])
    for name in sorted(used & outer.keys()):
        raise UnsupportedError(
            f"a subquery in an expression reads one of several common tables {name!r}",
            code="streaming-not-supported",
            hint="name the common tables differently",
        )
    kept = tuple(table for table in tables if table.name in used)
    return replace(query, tables=kept, input=below) if kept else below


def _common_tables_in(relations: Iterable[Relation]) -> set[str]:
    """Return the names of the common tables that are read, also by subqueries in expressions."""
    found = set()
    rest = list(relations)
    while rest:
        relation = rest.pop()
        if isinstance(relation, CommonScan):
            found.add(relation.name)
        expressions, inputs, _ = parts_of(relation)
        rest += inputs
        rest += [rows_of(item) for part in expressions for item in subqueries_in(part)]
    return found


def _copy_scan(relation: Relation) -> Relation | None:
    """Return a copy of a scan: what a query needs of a scan is kept by its identity."""
    return replace(relation) if isinstance(relation, Scan) else None
