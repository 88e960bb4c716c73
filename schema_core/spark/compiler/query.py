"""Writes a resolved query as Spark SQL over named inputs, every column in its exact type.

Each relation becomes a query of its own in parentheses, so the SQL follows the tree; Spark's
optimizer flattens it. What Spark would run with another meaning is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias, assert_never

from schema_core.expressions.typed import Constant
from schema_core.query.correlation import rows_of
from schema_core.query.hints import OPTIONS, sources_of
from schema_core.query.relation import (
    Column,
    Columns,
    CommonScan,
    FunctionTable,
    Grouping,
    Join,
    Match,
    Named,
    ProcessTable,
    Relation,
    Sample,
    Scan,
    Select,
    SetOperation,
    Sort,
    Unnest,
    Values,
    WindowTable,
    With,
    is_output,
    result_columns,
    unique_names,
)
from schema_core.spark.compiler import tree
from schema_core.spark.compiler.correlation import grouped_subqueries, require_near_columns
from schema_core.spark.compiler.expression import (
    TranslationContext,
    compile_expression,
    from_physical,
    sort_key,
    to_physical,
    user_call,
)
from schema_core.spark.compiler.functions import datetimes
from schema_core.spark.compiler.functions.casts import convert
from schema_core.spark.compiler.printer import (
    ALWAYS,
    IF_TOTAL,
    NEVER,
    Lifting,
    quote,
    to_sql,
)
from schema_core.spark.compiler.template import inline, sql
from schema_core.spark.compiler.tree import Cast, Field, Node, call, function, let, unsupported
from schema_core.spark.compiler.value_types import sql_type
from schema_core.sql.syntax import JoinKind
from schema_core.types import (
    ArrayType,
    DataType,
    DayTimeIntervalType,
    LocalZonedTimestampType,
    MapType,
    RowType,
    TimestampType,
    YearMonthIntervalType,
)

if TYPE_CHECKING:
    from schema_core.expressions import typed
    from schema_core.expressions.typed import Typed

#: Compiles a call of a user's function over its arguments.
UserCall: TypeAlias = "Callable[[typed.FunctionCall, Sequence[Node]], Node]"

#: Prefix of the names of columns that only ORDER BY reads; the columns of UNNEST and of windows.
SORT_KEY, ELEMENT = "the_sort_key_", "the_element"

#: Sources that are typed, but for which Spark has nothing, by what they are written with.
NOT_RUN: dict[type, str] = {
    FunctionTable: "a table function",
    ProcessTable: "a process table function",
    Match: "MATCH_RECOGNIZE",
}

#: Hints of Flink that mean the same to Spark.
JOIN_HINTS = frozenset({"BROADCAST", "SHUFFLE_HASH", "SHUFFLE_MERGE"})

JOINS: dict[JoinKind, str] = {
    JoinKind.COMMA: "CROSS JOIN",
    JoinKind.CROSS: "CROSS JOIN",
    JoinKind.INNER: "INNER JOIN",
    JoinKind.LEFT: "LEFT JOIN",
    JoinKind.RIGHT: "RIGHT JOIN",
    JoinKind.FULL: "FULL JOIN",
}


def query_text(
    relation: Relation,
    source: Callable[[Scan], str],
    zone: str = "UTC",
    *,
    targets: Sequence[Column] | None = None,
    user: UserCall = user_call,
) -> str:
    """A query in Spark SQL whose columns have the types, and the names, of the result.

    `source` names the input of a scan: a view that holds all columns of the table in order.
    `targets` are the columns of a sink, which the query's columns fill in order; `user` writes a
    call of a user's function.

    Raises:
        UnsupportedError: with code `not-executable`, for what Spark cannot run as Flink does.
    """
    writer = Writer(source, zone, user)
    given = result_columns(relation)
    columns = [
        (_stored(tree.Column(one.name), one.type, target.type, zone), target.name)
        for one, target in zip(given, targets or given, strict=True)
    ]
    return writer.projection(columns, f"({writer.write(relation)}) AS {_named(given)}")


#: Characters of one query: Spark would parse and plan a longer one for minutes.
MAX_QUERY = 2_000_000


def _bounded(text: str) -> str:
    if len(text) > MAX_QUERY:
        raise unsupported(
            "the query is too large to run, its views included",
            hint="write a part of it into a table, and read that",
        )
    return text


def _precedence(relation: Relation) -> bool | None:
    """Whether a set operation is INTERSECT, which Spark evaluates before UNION and EXCEPT."""
    return relation.operator == "INTERSECT" if isinstance(relation, SetOperation) else None


def _stored(node: Node, given: DataType, target: DataType, zone: str) -> Node:
    return to_physical(convert(node, given, target, zone), target)


def _named(columns: Columns, alias: str = "result") -> str:
    """An alias with the names of the columns."""
    return _alias(alias, [one.name for one in columns])


def _alias(alias: str, names: Iterable[str]) -> str:
    return f"{quote(alias)}({', '.join(map(quote, names))})"


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes relations: `source` names the input of a scan, `zone` is the session's.

    With `lifts` values that expressions use more than once become columns of lateral projections;
    Spark has none within sub-queries and lateral joins.
    """

    source: Callable[[Scan], str]
    zone: str = "UTC"
    user: UserCall = user_call
    lifts: bool = True
    #: identities of the sub-queries that are computed from the rows of a group
    in_group: frozenset[int] = frozenset()

    def compile(self, expression: Typed) -> Node:
        """Compile an expression of a block."""
        context = TranslationContext(self.zone, subquery=self.subquery, user=self.user)
        return compile_expression(expression, context)

    def sql(self, expression: Typed) -> str:
        """Write an expression where nothing can be lifted."""
        return to_sql(self.compile(expression))

    def subquery(self, select: typed.Select) -> Node:
        """Compile a query used as a value."""
        inner = replace(self, lifts=False)
        query = tree.Subquery(f"({inner.write(rows_of(select))})")
        return call("any_value", query) if id(select) in self.in_group else query

    def projection(self, columns: Iterable[tuple[Node, str]], source: str) -> str:
        """Write a projection of a source, in which no name is ambiguous."""
        lifting = Lifting() if self.lifts else None
        items = []
        for node, name in columns:
            if node.facts & tree.Fact.SUBQUERY_IN_LAMBDA:
                raise unsupported(
                    "a sub-query is converted element by element, which Spark does not run"
                )
            items.append(f"{to_sql(node, lifting)} AS {quote(name)}")
        laterals = lifting.laterals() if lifting else []
        return f"SELECT {', '.join(items)} FROM {', '.join([source, *laterals])}"

    # --- queries -------------------------------------------------------------------------------

    def write(self, relation: Relation) -> str:
        """Write a relation as a query.

        Raises:
            UnsupportedError: with code `not-executable` beyond `MAX_QUERY` characters.
        """
        return _bounded(self.unbounded(relation))

    def unbounded(self, relation: Relation) -> str:
        """Write a relation whose length is not checked yet."""
        match relation:
            case Scan():
                return self.scan(relation)
            case CommonScan(name):
                return f"SELECT * FROM {quote(name)}"
            case Named() | Join():
                return f"SELECT * FROM {self.source_of(relation)}"
            case Select():
                return self.select(relation)
            case Values():
                return self.values(relation)
            case SetOperation():
                return self.set_operation(relation)
            case Sort():
                return self.sort(relation)
            case With():
                return self.with_tables(relation)
            case Unnest():
                return self.unnest(relation)
            case WindowTable():
                return self.window_table(relation)
            case Sample():
                percentage = self.sql(relation.percentage)
                rows = f"SELECT * FROM ({self.write(relation.input)})"
                return f"{rows} WHERE rand() * 100 < {percentage}"
            case FunctionTable() | ProcessTable() | Match():
                problem = f"{NOT_RUN[type(relation)]} is not run on Spark"
                raise unsupported(problem, hint="it can be resolved, and kept in a view")
            case _:
                assert_never(relation)

    def scan(self, scan: Scan) -> str:
        """A table's columns as expressions see them."""
        if scan.period is not None:
            raise unsupported("FOR SYSTEM_TIME AS OF is not run on Spark")
        intervals = (YearMonthIntervalType, DayTimeIntervalType)
        if not any(isinstance(one.type, intervals) for one in scan.columns):
            return f"SELECT * FROM {self.source(scan)}"
        columns = [
            (from_physical(tree.Column(one.name), one.type), one.name) for one in scan.columns
        ]
        return self.projection(columns, self.source(scan))

    def select(self, block: Select, hidden: Sequence[Typed] = ()) -> str:
        """Write one SELECT block; `hidden` are further columns, by which its rows are sorted."""
        require_near_columns(block, hidden)
        groups = self
        if block.grouping is not None:
            groups = replace(self, in_group=self.in_group | grouped_subqueries(block, hidden))
        below = Lifting() if self.lifts else None
        items, after = self.liftings(block, below)
        columns = [
            f"{to_sql(groups.compile(item.expression), items)} AS {quote(item.name)}"
            for item in block.items
        ]
        columns += groups.hidden(hidden, items)
        keywords = f"{self.hints(block)}{'DISTINCT ' if block.distinct else ''}"
        where = None if block.where is None else to_sql(self.compile(block.where), below)
        tail = []
        if block.grouping is not None and block.grouping.keys:
            tail.append(f"GROUP BY {self.grouping(block.grouping)}")
        if block.having is not None:
            tail.append(f"HAVING {to_sql(groups.compile(block.having), after)}")
        if block.qualify is not None:
            tail.append(f"QUALIFY {to_sql(groups.compile(block.qualify), after)}")
        sources = below.laterals() if below else []
        if block.source is not None:
            sources = [self.source_of(block.source), *sources]
        elif sources:
            sources = ["(SELECT 1)", *sources]
        return " ".join(
            [
                f"SELECT {keywords}{', '.join(columns)}",
                *([f"FROM {', '.join(sources)}"] if sources else []),
                *([] if where is None else [f"WHERE {where}"]),
                *tail,
            ]
        )

    def liftings(
        self, block: Select, below: Lifting | None
    ) -> tuple[Lifting | None, Lifting | None]:
        """Return what may be lifted from the items of a block, and from HAVING and QUALIFY.

        The projection is below WHERE, so values that may fail stay in the items of a block with
        WHERE. It is below GROUP BY too, where only arguments of aggregates are computed.
        """
        if below is None:
            return None, None
        mode = ALWAYS if block.where is None else IF_TOTAL
        after = Lifting(NEVER, mode, below.columns)
        return (Lifting(mode, mode, below.columns) if block.grouping is None else after), after

    def hints(self, block: Select) -> str:
        """The hints of a block that Spark has too; what cannot change a result is left out."""
        if any(hint.name.upper() == OPTIONS for hint in block.hints):
            raise unsupported(
                "OPTIONS after SELECT has no effect in Flink",
                hint="write the hint after the name of the table",
            )
        if not isinstance(block.source, Join):
            return ""
        found = [
            f"{hint.name.upper()}({', '.join(map(quote, sources_of(hint)))})"
            for hint in block.hints
            if hint.name.upper() in JOIN_HINTS
        ]
        return f"/*+ {', '.join(found)} */ " if found else ""

    def grouping(self, grouping: Grouping) -> str:
        """The keys, and the sets of them."""
        keys = [self.group_key(key) for key in grouping.keys]
        if grouping.sets is None:
            return ", ".join(keys)
        sets = ", ".join(
            f"({', '.join(keys[position] for position in one)})" for one in grouping.sets
        )
        return f"GROUPING SETS ({sets})"

    def group_key(self, key: Typed) -> str:
        """Write a key of GROUP BY; Spark would take a plain number for a position of the list."""
        node = self.compile(key)
        return to_sql(Cast(node, sql_type(key.type)) if isinstance(key, Constant) else node)

    def values(self, values: Values) -> str:
        """Write rows of expressions, each in the type of its column.

        They are elements of an array: Spark's VALUES takes neither lambdas nor what may fail.
        """
        rows = []
        for row in values.rows:
            parts: list[Node | str] = []
            for place, (value, column) in enumerate(zip(row, values.columns, strict=True)):
                node = self.compile(value)
                parts += [
                    str(place),
                    convert(node, value.type, column.type.nullable(), self.zone),
                ]
            rows.append(call("named_struct", *parts))
        listed = f"SELECT {to_sql(call('inline', call('array', *rows)))}"
        return f"SELECT * FROM ({listed}) AS {_named(values.columns, 'v')}"

    def set_operation(self, operation: SetOperation) -> str:
        """Write both sides in the types of the result.

        A chain of operations is written from its left end, without recursion.
        """
        chain = [operation]
        while isinstance(chain[-1].left, SetOperation):
            chain.append(chain[-1].left)
        inner = chain[-1].left
        text = f"({self.aligned(inner, self.write(inner), chain[-1].columns)})"
        for one in reversed(chain):
            if one.left is not inner:
                aligned = self.aligned(one.left, text, one.columns)
                continues = aligned is text and _precedence(one) == _precedence(one.left)
                text = aligned if continues else f"({aligned})"
            right = self.aligned(one.right, self.write(one.right), one.columns)
            word = f"{one.operator}{' ALL' if one.all else ''}"
            text = _bounded(f"{text} {word} ({right})")
        return text

    def aligned(self, relation: Relation, text: str, columns: Columns) -> str:
        """The text of a relation with its columns in other types, by position."""
        types = zip(relation.columns, columns, strict=True)
        if all(one.type.nullable() == other.type.nullable() for one, other in types):
            return text
        given = result_columns(relation)
        pairs = list(zip(given, columns, strict=True))
        converted = [
            (convert(tree.Column(one.name), one.type, to.type.nullable(), self.zone), one.name)
            for one, to in pairs
        ]
        return self.projection(converted, f"({text}) AS {_named(given, 'side')}")

    def sort(self, sort: Sort) -> str:
        """Write ORDER BY, LIMIT and OFFSET over the query that they order.

        A constant sorts nothing. A key that is not a column of the query becomes a hidden column
        below, because Spark finds only some of such keys by itself.
        """
        keys = [key for key in sort.keys if not isinstance(key.expression, Constant)]
        names = unique_names(column.name for column in sort.columns)
        hidden = [key.expression for key in keys if not is_output(key.expression)]
        hidden_names = [f"{SORT_KEY}{index}" for index in range(len(hidden))]
        distinct = isinstance(sort.input, Select) and sort.input.distinct and bool(hidden)
        inner = self.with_hidden(sort.input, names, hidden)
        shown = ", ".join(map(quote, names))
        parts = [f"SELECT {shown} FROM ({inner}) AS {_alias('sorted', [*names, *hidden_names])}"]
        if distinct:
            parts.append(f"GROUP BY {shown}")
        if keys:
            # Rows that DISTINCT merges have equal keys, so any of these will do.
            hidden_keys: Iterator[Node] = (
                call("any_value", tree.Column(name)) if distinct else tree.Column(name)
                for name in hidden_names
            )
            nodes = [
                self.compile(key.expression) if is_output(key.expression) else next(hidden_keys)
                for key in keys
            ]
            ordered = (to_sql(sort_key(node, key)) for node, key in zip(nodes, keys, strict=True))
            parts.append(f"ORDER BY {', '.join(ordered)}")
        if sort.fetch is not None:
            parts.append(f"LIMIT {sort.fetch}")
        if sort.offset is not None:
            parts.append(f"OFFSET {sort.offset}")
        return " ".join(parts)

    def with_hidden(self, query: Relation, names: Sequence[str], hidden: Sequence[Typed]) -> str:
        """Write a query with further columns, by which its rows are sorted.

        A block gets them in its list, where they can read its sources, and leaves DISTINCT to the
        caller; any other query gets them in a block around it.
        """
        if not hidden:
            return self.write(query)
        if isinstance(query, Select):
            return self.select(replace(query, distinct=False), hidden)
        keys = ", ".join(self.hidden(hidden))
        return f"SELECT *, {keys} FROM ({self.write(query)}) AS {_alias('sorted', names)}"

    def hidden(self, keys: Sequence[Typed], lifting: Lifting | None = None) -> list[str]:
        """Write sort keys as columns."""
        return [
            f"{to_sql(self.compile(key), lifting)} AS {quote(f'{SORT_KEY}{index}')}"
            for index, key in enumerate(keys)
        ]

    def with_tables(self, query: With) -> str:
        """Write common tables, each of which is in scope of those after it."""
        tables = ", ".join(
            f"{_named(table.columns, table.name)} AS ({self.write(table.relation)})"
            for table in query.tables
        )
        return f"WITH {tables} {self.write(query.input)}"

    # --- sources -------------------------------------------------------------------------------

    def source_of(self, relation: Relation) -> str:
        """Write a source of FROM."""
        match relation:
            case Named(input, alias, columns, lateral):
                if lateral:
                    inner = replace(self, lifts=False).write(input)
                    return f"LATERAL ({inner}) AS {_named(columns, alias)}"
                return f"({self.write(input)}) AS {_named(columns, alias)}"
            case Join(left, right, kind, condition):
                other = self.source_of(right)
                if isinstance(right, Join):
                    other = f"({other})"
                on = "" if condition is None else f" ON {self.sql(condition)}"
                word = "INNER JOIN" if on and JOINS[kind] == "CROSS JOIN" else JOINS[kind]
                return f"{self.source_of(left)} {word} {other}{on}"
            case _:
                return f"({self.write(relation)})"

    def unnest(self, unnest: Unnest) -> str:
        """Write the elements of an array or the entries of a map as rows."""
        type_ = unnest.collection.type
        collection = self.compile(unnest.collection)
        element: Node = tree.Column(ELEMENT)
        fields = [element]
        match type_:
            case ArrayType():
                row = type_.element_type
                if isinstance(row, RowType):
                    fields = [Field(element, one.name) for one in row.fields]
            case MapType():
                collection = call("map_entries", collection)
                fields = [Field(element, "key"), Field(element, "value")]
            case _:
                raise unsupported(f"UNNEST of {type_.as_summary_string()} is not run on Spark")
        columns = list(map(to_sql, fields))
        if unnest.ordinality:
            columns.append("`the_place` + 1")
            rows = to_sql(call("posexplode", collection))
            alias = f"e(`the_place`, {quote(ELEMENT)})"
        else:
            rows, alias = to_sql(call("explode", collection)), f"e({quote(ELEMENT)})"
        return f"SELECT {', '.join(columns)} FROM {rows} AS {alias}"

    # --- windows -------------------------------------------------------------------------------

    def window_table(self, table: WindowTable) -> str:
        """Write TUMBLE, HOP and CUMULATE: every row once for each window that contains it."""
        windows = WINDOWS.get(table.function)
        if windows is None:
            raise unsupported(f"{table.function} windows are not run on Spark")
        type_ = table.time.type
        clock = datetimes.clock(tree.Column(table.time.name), type_, self.zone)
        sizes = [self.compile(size) for size in table.sizes]
        found = to_sql(let(datetimes.millis(clock), lambda time: windows(time, sizes)))
        element = tree.Column(ELEMENT)
        bounds = [
            self.bound(Field(element, "a"), TimestampType(3)),
            self.bound(Field(element, "b"), TimestampType(3)),
            self.bound(inline("{b} - 1", b=Field(element, "b")), type_),
        ]
        names = [quote(column.name) for column in table.columns[-3:]]
        added = ", ".join(
            f"{to_sql(bound)} AS {name}" for bound, name in zip(bounds, names, strict=True)
        )
        rows = f"SELECT *, explode({found}) AS {quote(ELEMENT)} FROM ({self.write(table.input)})"
        return f"SELECT * EXCEPT ({quote(ELEMENT)}), {added} FROM ({rows})"

    def bound(self, count: Node, type_: DataType) -> Node:
        """Return a bound of a window, from milliseconds of the session's clock."""
        clock = datetimes.of_millis(count, TimestampType(3))
        if isinstance(type_, LocalZonedTimestampType):
            return datetimes.instant(clock, self.zone)
        return clock


def _window(start: Node, stop: Node) -> Node:
    return call("named_struct", "a", start, "b", stop)


def _start(time: Node, offset: Sequence[Node], size: Node) -> Node:
    """Return the last start of a window at or before a time."""
    if not offset:
        return inline("{t} - pmod({t}, {size})", t=time, size=size)
    return inline("{t} - pmod({t} - {offset}, {size})", t=time, offset=offset[0], size=size)


def _tumble(time: Node, sizes: Sequence[Node]) -> Node:
    """Windows of one size, one after the other."""
    size, *offset = sizes
    start = _start(time, offset, size)
    return call("array", _window(start, inline("{start} + {size}", start=start, size=size)))


def _hop(time: Node, sizes: Sequence[Node]) -> Node:
    """Windows of one size that start a slide after each other."""
    slide, size, *offset = sizes
    starts = sql(
        "filter(transform(sequence(0L, {size} DIV {slide}), n -> {last} - n * {step}),"
        " start -> start > {t} - {length})",
        size=size,
        slide=slide,
        last=_start(time, offset, slide),
        step=slide,
        t=time,
        length=size,
    )
    window = function(lambda start: _window(start, inline("{s} + {n}", s=start, n=size)))
    return call("transform", starts, window)


def _cumulate(time: Node, sizes: Sequence[Node]) -> Node:
    """Windows of one start that end a step after each other, up to the size."""
    step, size, *offset = sizes
    start = _start(time, offset, size)
    stops = inline(
        "filter(sequence({start} + {step}, {start} + {size}, {step}), stop -> stop > {t})",
        start=start,
        step=step,
        size=size,
        t=time,
    )
    return call("transform", stops, function(lambda stop: _window(start, stop)))


#: Function -> the windows of a time, as an array of pairs of milliseconds.
WINDOWS: dict[str, Callable[[Node, Sequence[Node]], Node]] = {
    "TUMBLE": _tumble,
    "HOP": _hop,
    "CUMULATE": _cumulate,
}
