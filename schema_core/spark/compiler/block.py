"""Writes one SELECT block as a query of Spark, in stages where a value is computed between them.

Mostly a block is one query, with the values of `Let` in lateral projections of its FROM clause.
It becomes several, one below the other, where such a value cannot be computed there: a value that
may fail is computed after WHERE, and a value over aggregates after GROUP BY, or after OVER.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, TypeGuard, cast

from schema_core.expressions.typed import Constant, FunctionCall
from schema_core.query.correlation import columns_of, expressions_of, operands
from schema_core.query.relation import Grouping, Join, Named
from schema_core.query.scope import OF_GROUPING
from schema_core.spark.compiler.correlation import conditions_of, grouped_subqueries
from schema_core.spark.compiler.functions.aggregates import grouping, set_number
from schema_core.spark.compiler.functions.temporal.datetimes import clock_millis
from schema_core.spark.compiler.lifting import (
    AGGREGATED,
    ALWAYS,
    LIFTED,
    REPEATED,
    Lifting,
    Projection,
)
from schema_core.spark.compiler.printer import aliased, quote, to_sql
from schema_core.spark.compiler.tree import (
    Aggregate,
    Cast,
    Column,
    Fact,
    Node,
    call,
    children,
    unsupported,
)
from schema_core.spark.compiler.value_types import require_orderable, sql_type
from schema_core.spark.compiler.windows import (
    BOUNDS,
    bound_of,
    lengths_of,
    session_key,
    windows_of,
)
from schema_core.types import VariantType

if TYPE_CHECKING:
    from schema_core.expressions.typed import Typed
    from schema_core.query.relation import Relation, Select
    from schema_core.spark.compiler.query import QueryCompiler

#: Prefixes of the names of columns: keys that only ORDER BY reads, keys of a GROUP BY below.
SORT_KEY, GROUP_KEY = "the_sort_key_", "the_key_"
#: Group windows that Spark computes, by the names of their functions.
GROUP_WINDOWS = {"$TUMBLE": "TUMBLE", "$HOP": "HOP", "$SESSION": "SESSION"}
#: The column of Spark's sessions.
SESSION = "session_window"
#: The name of the results of functions over windows, which a query below computes.
WINDOWED = "the_window_"


def aliases_of(source: Relation | None) -> tuple[str, ...]:
    """Return the aliases of a FROM clause, in order."""
    match source:
        case Join(left=left, right=right):
            return (*aliases_of(left), *aliases_of(right))
        case Named(alias=alias):
            return (alias,)
        case _:
            return ()


class FromProjections:
    """The projections of one FROM clause, whose columns have different names."""

    def __init__(self, depth: int = 0) -> None:
        self.names: count[int] = count(1)
        #: Those of an enclosing query have another prefix.
        self.prefix: str = f"{LIFTED}{depth}_" if depth else LIFTED
        self.projections: list[Projection] = []

    def projection(self, relations: frozenset[str | None] | None = None) -> Projection:
        """Return a new projection of values that read some aliases."""
        self.projections.append(Projection(relations, self.names, self.prefix))
        return self.projections[-1]

    def lifted(self) -> list[str]:
        """Return the columns of all projections, quoted."""
        return [name for projection in self.projections for name in projection.quoted()]


class Block:
    """One SELECT block while it is written; `hidden` are columns by which its rows are sorted."""

    def __init__(
        self, query_compiler: QueryCompiler, block: Select, hidden: Sequence[Typed], hints: str
    ) -> None:
        self.query_compiler: QueryCompiler = query_compiler
        self.block: Select = block
        self.hidden: Sequence[Typed] = hidden
        self.hints: str = hints
        self.scope: FromProjections = FromProjections(query_compiler.depth)
        self.aliases: tuple[str, ...] = aliases_of(block.source)
        self.source: str = (
            "" if block.source is None else query_compiler.source_of(block.source, self.scope)
        )
        own = frozenset(alias for alias, _ in columns_of(block.source))
        self.relations: frozenset[str | None] | None = (
            frozenset({None, *own}) if query_compiler.correlated else None
        )
        self.rows: Projection = self.scope.projection(self.relations)
        self.rows.offered = own
        self.has_subqueries: bool = False
        self.lifting: Lifting = Lifting(
            ALWAYS, ALWAYS, (self.rows,), query_compiler.around, hiding=own
        )
        self.where: str = self.condition(block.where, self.compiler((self.rows,)), self.lifting)
        self.start()

    def start(self) -> None:
        """Count the values that are lifted from here on apart: they are computed after WHERE."""
        self.mark: int = len(self.rows.columns)
        self.rows.raises = False

    # --- expressions ---------------------------------------------------------------------------

    def compiler(
        self, around: tuple[Projection, ...], computed: Mapping[Typed, Node] | None = None
    ) -> Callable[[Typed], Node]:
        """Return a function that compiles; subqueries can use some projections of the block."""
        block = self.block
        conditions = conditions_of(
            [one for one in (block.where, block.having, block.qualify) if one is not None],
            [*(item.expression for item in block.items), *self.hidden],
        )
        query_compiler = replace(
            self.query_compiler,
            around=around,
            computed=computed or {},
            conditions=conditions,
            bounds=self.query_compiler.bounds.over(block.source),
        )
        if self.block.grouping is not None:
            found = grouped_subqueries(self.block, self.hidden)
            query_compiler = replace(query_compiler, in_group=query_compiler.in_group | found)
        return query_compiler.compile

    def condition(
        self, condition: Typed | None, compiled: Callable[[Typed], Node], lifting: Lifting
    ) -> str:
        """Write a condition, an empty string if there is none."""
        if condition is None:
            return ""
        node = compiled(condition)
        self.has_subqueries |= bool(node.facts & Fact.SUBQUERY)
        return to_sql(node, lifting)

    def columns(self, compiled: Callable[[Typed], Node]) -> list[tuple[Node, str]]:
        """Return the items and the hidden columns with their names."""
        items = [(compiled(item.expression), item.name) for item in self.block.items]
        keys = enumerate(self.hidden)
        return [*items, *((compiled(key), f"{SORT_KEY}{index}") for index, key in keys)]

    # --- queries -------------------------------------------------------------------------------

    def write(self) -> str:
        """Return the block as a query.

        Raises:
            UnsupportedError: with code `not-executable` for values that Spark does not compare.
        """
        if self.block.distinct:
            for item in self.block.items:
                require_orderable(item.expression.type, "SELECT DISTINCT")
        return self.ungrouped() if self.block.grouping is None else self.grouped()

    def query(self, columns: Sequence[str], rows: str, tail: str = "", hints: str = "") -> str:
        """Return a query; the outermost one removes duplicates."""
        distinct = "DISTINCT " if self.block.distinct else ""
        start = f"SELECT {hints}{distinct}{', '.join(columns)}"
        return f"{start}{rows and ' FROM ' + rows}{tail}"

    def from_rows(self) -> tuple[str, str, str]:
        """Return the FROM and WHERE clauses of the rows, and the hints to write before the items.

        Values that may fail are computed in a projection of the rows that WHERE keeps.
        """
        where = f" WHERE {self.where}" if self.where else ""
        source = self.source or ("(SELECT 1)" if self.rows.columns else "")
        if not (where and self.rows.raises):
            return f"{source}{self.rows.laterals()}", where, self.hints
        lifted = [one for one in self.scope.lifted() if one not in self.rows.quoted(self.mark)]
        rows = f"{source}{self.rows.laterals(0, self.mark)}{where}"
        below = self.nested(rows, self.hints, lifted)
        return f"{below}{self.rows.laterals(self.mark)}", "", ""

    def nested(self, rows: str, hints: str, lifted: Sequence[str], more: Sequence[str] = ()) -> str:
        """Return rows as a query in FROM, in which the aliases of the block stay in scope.

        With several aliases each becomes a column of rows, so ``alias.name`` is a field of it;
        columns that were `lifted` are passed on.
        """
        if len(self.aliases) < 2:
            alias = "".join(f" AS {quote(alias)}" for alias in self.aliases)
            return f"(SELECT {', '.join([f'{hints}*', *more])} FROM {rows}){alias}"
        aliases = map(quote, self.aliases)
        structs = [f"struct({alias}.*) AS {alias}" for alias in aliases]
        return f"(SELECT {hints}{', '.join([*structs, *lifted, *more])} FROM {rows})"

    def ungrouped(self) -> str:
        """Return a block without aggregation."""
        compiled = self.compiler((self.rows,))
        columns = self.columns(compiled)
        self.start()
        items = [aliased(node, name, self.lifting) for node, name in columns]
        qualify = self.condition(self.block.qualify, compiled, self.lifting)
        if self.lifting.missed:
            return self.over_windows(columns, compiled)
        rows, where, hints = self.from_rows()
        return self.query(items, rows, f"{where}{qualify and ' QUALIFY ' + qualify}", hints)

    def over_windows(
        self, columns: Sequence[tuple[Node, str]], compiled: Callable[[Typed], Node]
    ) -> str:
        """Return a block whose items use the results of functions over windows more than once."""
        self.rows.forget(self.mark)
        windows, above = Projection(prefix=WINDOWED), Projection(self.relations, self.scope.names)
        lifting = Lifting(
            ALWAYS, ALWAYS, (above,), aggregates=windows, windows=True, below=self.lifting
        )
        items = [aliased(node, name, lifting) for node, name in columns]
        qualify = self.condition(self.block.qualify, compiled, lifting)
        rows, where, hints = self.from_rows()
        rows = self.nested(f"{rows}{where}", hints, self.scope.lifted(), _columns(windows))
        return self.after(items, rows, above, qualify)

    def after(self, items: Sequence[str], rows: str, above: Projection, condition: str) -> str:
        """Return the items over rows, and over those values above them that satisfy a condition."""
        where = f" WHERE {condition}" if condition else ""
        return self.query(items, f"{rows}{above.laterals()}", where)

    # --- groups --------------------------------------------------------------------------------

    def grouped(self) -> str:
        """Return a block with aggregates or GROUP BY."""
        for key in self.block.grouping.keys if self.block.grouping else ():
            if any(isinstance(part, VariantType) for part in key.type.walk()):
                require_orderable(key.type, "GROUP BY")  # Spark groups by maps
        keys, computed = self.keys(self.compiler(()))
        self.start()
        compiled = self.compiler((), computed)
        columns = self.columns(compiled)
        lifting = replace(self.lifting, mode=REPEATED)
        self.has_subqueries = any(node.facts & Fact.SUBQUERY for node, _ in columns)
        items = [aliased(node, name, lifting) for node, name in columns]
        having = self.condition(self.block.having, compiled, lifting)
        qualify = self.condition(self.block.qualify, compiled, lifting)
        if (lifting.missed or self.filters_sets()) and not self.has_subqueries:
            return self.over_groups(keys, computed)
        rows, where, hints = self.from_rows()
        tail = [
            f" {word} {text}" for word, text in (("HAVING", having), ("QUALIFY", qualify)) if text
        ]
        is_aggregate = bool(having) or any(map(_is_aggregate, (node for node, _ in columns)))
        groups = self.group_by(keys, is_aggregate=is_aggregate)
        return self.query(items, rows, f"{where}{groups}{''.join(tail)}", hints)

    def keys(self, compiled: Callable[[Typed], Node]) -> tuple[list[str], dict[Typed, Node]]:
        """Return the keys of GROUP BY, and the columns to which some of them are lifted.

        Spark would take a plain number for a position of the list. Calls of GROUPING become ones of
        the keys as they are grouped by.
        """
        keys: list[str] = []
        nodes: dict[Typed, Node] = {}
        computed: dict[Typed, Node] = {}
        for key in self.block.grouping.keys if self.block.grouping else ():
            if _is_group_window(key):
                text, window = self.window(key, compiled)
                computed |= self.bounds(key, window)
                keys.append(text)
                continue
            node = compiled(key)
            if isinstance(key, Constant):
                node = Cast(node, sql_type(key.type))
            probe = Lifting(REPEATED, REPEATED, (), ())
            text = to_sql(node, probe)
            if probe.missed and not node.facts & Fact.RANDOM:
                text = to_sql(node, self.lifting)
                name = self.rows.column(text, raises=bool(node.facts & Fact.RAISES))
                node, text = Column(name), quote(name)
                computed |= dict.fromkeys(self.seen(key), node)
            nodes |= dict.fromkeys(self.seen(key), node)
            keys.append(text)
        return keys, {**computed, **self.groupings(nodes)}

    def window(self, key: FunctionCall, compiled: Callable[[Typed], Node]) -> tuple[str, Column]:
        """Return a window such as TUMBLE as a key of GROUP BY, and as the column that it becomes.

        A row is repeated for each of its windows; sessions are found by Spark as it groups.
        """
        time, *sizes = key.arguments
        name, zone = GROUP_WINDOWS[key.function.name], self.query_compiler.zone
        lengths, datetime = lengths_of(name, sizes), compiled(time)
        if name == "SESSION":
            self.require_one_session()
            millis = to_sql(clock_millis(datetime, time.type, zone), self.lifting)
            millis = self.rows.column(millis, raises=bool(datetime.facts & Fact.RAISES))
            return to_sql(session_key(Column(millis), *lengths)), Column(SESSION)
        windows = to_sql(windows_of(name, datetime, time.type, lengths, zone))
        column = self.rows.column(f"explode({windows})")
        return quote(column), Column(column)

    def require_one_session(self) -> None:
        """Refuse sessions beside other windows, or within grouping sets."""
        grouping = cast("Grouping", self.block.grouping)  # sessions are its keys
        if grouping.sets is not None or sum(map(_is_group_window, grouping.keys)) > 1:
            raise unsupported(
                "SESSION beside another window, or within grouping sets, is not supported on Spark"
            )

    def bounds(self, key: FunctionCall, window: Column) -> dict[Typed, Node]:
        """Return the bounds of a group's window for the functions that ask for them."""
        name = GROUP_WINDOWS[key.function.name]
        return {
            one: bound_of(part, window, key.type, self.query_compiler.zone)
            for one in calls_of((*expressions_of(self.block), *self.hidden))
            if one.arguments == key.arguments
            for part in BOUNDS
            if one.function.name == f"{name}_{part}"
        }

    def seen(self, key: Typed) -> tuple[Typed, ...]:
        """Return a key, and the key as items see it if some grouping set lacks it: nullable."""
        if self.block.grouping is None or self.block.grouping.sets is None:
            return (key,)
        return key, replace(key, type=key.type.with_nullability(True))

    def filters_sets(self) -> bool:
        """Return whether HAVING or QUALIFY follows grouping sets.

        There Spark resolves neither the grouping set nor keys that are named by their tables.
        """
        sets = self.block.grouping.sets if self.block.grouping else None
        conditions = (self.block.having, self.block.qualify)
        return sets is not None and any(condition is not None for condition in conditions)

    def groupings(self, keys: Mapping[Typed, Node]) -> dict[Typed, Node]:
        """Return the values of GROUPING, GROUPING_ID and GROUP_ID, 0 without grouping sets."""
        found: dict[Typed, Node] = {}
        sets = self.block.grouping.sets if self.block.grouping else None
        for one in groupings_of((*expressions_of(self.block), *self.hidden)):
            if one.function.name == "GROUP_ID":
                found[one] = set_number(_marks(max(_repetitions(sets or ()), default=0)))
                continue
            nodes = [keys[key] for key in one.arguments if key in keys]
            found[one] = grouping(nodes if sets is not None else ())
        return found

    def group_by(self, keys: Sequence[str], *, is_aggregate: bool) -> str:
        """Return the GROUP BY clause: the keys, or the sets of them.

        Without keys Spark returns one row only if the query has an aggregate or HAVING.
        """
        sets = self.block.grouping.sets if self.block.grouping else None
        if not keys and len(sets or ()) < 2:
            return "" if is_aggregate else " HAVING TRUE"
        if sets is None:
            return f" GROUP BY {', '.join(keys)}"
        listed = []
        numbers = _repetitions(sets) if self.has_set_numbers() else [0] * len(sets)
        for one, number in zip(sets, numbers, strict=True):
            marks = [
                to_sql(mark) for place, mark in enumerate(_marks(number)) if number >> place & 1
            ]
            listed.append(f"({', '.join([*(keys[position] for position in one), *marks])})")
        return f" GROUP BY GROUPING SETS ({', '.join(listed)})"

    def has_set_numbers(self) -> bool:
        """Return whether a block reads GROUP_ID, the number of a set among those equal to it."""
        calls = groupings_of((*expressions_of(self.block), *self.hidden))
        return any(call.function.name == "GROUP_ID" for call in calls)

    def over_groups(self, keys: Sequence[str], groupings: Mapping[Typed, Node]) -> str:
        """Return a block whose items use values of aggregates more than once.

        A query below computes keys and aggregates; HAVING is a WHERE over it.
        """
        self.rows.forget(self.mark)
        grouped = cast("Grouping", self.block.grouping).keys  # the caller has looked
        names = [f"{GROUP_KEY}{index + 1}" for index in range(len(keys))]
        computed = {
            **groupings,
            **{
                seen: Column(name)
                for key, name in zip(grouped, names, strict=True)
                for seen in self.seen(key)
                if not isinstance(key, Constant)
            },
        }
        for key, name in zip(grouped, names, strict=True):
            if _is_group_window(key):
                computed |= self.bounds(key, Column(name))
        compiled = self.compiler((), computed)
        columns = self.columns(compiled)
        groups, above = Projection(prefix=AGGREGATED), Projection(names=self.scope.names)
        lifting = Lifting(ALWAYS, ALWAYS, (above,), aggregates=groups, below=self.lifting)
        having = self.condition(self.block.having, compiled, lifting)
        mark, above.raises = len(above.columns), False
        top, windows, last = lifting, Projection(prefix=WINDOWED), above
        if self.block.qualify is not None or any(_is_windowed(node) for node, _ in columns):
            last = Projection(names=self.scope.names)
            top = Lifting(ALWAYS, ALWAYS, (last,), aggregates=windows, windows=True, below=lifting)
        items = [aliased(node, name, top) for node, name in columns]
        qualify = self.condition(self.block.qualify, compiled, top)
        rows, where, hints = self.from_rows()
        shown = [f"{key} AS {quote(name)}" for key, name in zip(keys, names, strict=True)]
        shown = [*shown, *_columns(groups)] or ["1"]
        by = self.group_by(keys, is_aggregate=bool(groups.columns))
        rows = f"(SELECT {hints}{', '.join(shown)} FROM {rows}{where}{by})"
        where = f" WHERE {having}" if having else ""
        if last is above and not (where and above.raises):
            return self.after(items, rows, above, having)
        rows = f"(SELECT * FROM {rows}{above.laterals(0, mark)}{where}){above.laterals(mark)}"
        if last is not above:
            rows = f"(SELECT {', '.join(['*', *_columns(windows)])} FROM {rows}){last.laterals()}"
        return self.query(items, rows, f" WHERE {qualify}" if qualify else "")


def _repetitions(sets: Sequence[tuple[int, ...]]) -> list[int]:
    """Return how many grouping sets that are equal to it come before each."""
    keys = [frozenset(set_) for set_ in sets]
    return [keys[:place].count(one) for place, one in enumerate(keys)]


def _marks(most: int) -> list[Node]:
    """Return the constants that number equal grouping sets; a set has those of its number's bits.

    Args:
        most: The largest number.
    """
    return [call("array", place) for place in range(most.bit_length())]


def _is_group_window(key: Typed) -> TypeGuard[FunctionCall]:
    return isinstance(key, FunctionCall) and key.function.name in GROUP_WINDOWS


def groupings_of(expressions: Iterable[Typed]) -> Iterator[FunctionCall]:
    """Yield the calls of functions that describe the grouping set of a group."""
    return (one for one in calls_of(expressions) if one.function.name in OF_GROUPING)


def calls_of(expressions: Iterable[Typed]) -> Iterator[FunctionCall]:
    """Yield the function calls in expressions."""
    rest = list(expressions)
    while rest:
        one = rest.pop()
        if isinstance(one, FunctionCall):
            yield one
        rest += operands(one)


def _columns(projection: Projection) -> list[str]:
    return [f"{value} AS {quote(name)}" for value, name in projection.columns.items()]


def _is_windowed(node: Node) -> bool:
    """Return whether an expression has a function over a window."""
    return any(aggregate.window is not None for aggregate in _aggregates(node))


def _is_aggregate(node: Node) -> bool:
    """Return whether an expression has an aggregate of the groups."""
    return any(aggregate.window is None for aggregate in _aggregates(node))


def _aggregates(node: Node) -> Iterator[Aggregate]:
    """Yield the aggregates within an expression, with and without a window."""
    rest = [node]
    while rest:
        one = rest.pop()
        if isinstance(one, Aggregate):
            yield one
        if one.facts & Fact.AGGREGATE:
            rest += children(one)
