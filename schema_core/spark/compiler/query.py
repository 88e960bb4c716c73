"""A resolved query as one text of Spark SQL over named inputs, every column in its exact type.

Each relation becomes a query of its own in parentheses, so the text follows the tree; Spark's
optimiser flattens it. What Spark would run with another meaning is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
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
from schema_core.spark.compiler.correlation import grouped_subqueries, require_near_columns
from schema_core.spark.compiler.expression import (
    Speaker,
    from_physical,
    sort_key,
    to_physical,
    to_spark,
    user_call,
)
from schema_core.spark.compiler.functions import datetimes
from schema_core.spark.compiler.functions.casts import convert
from schema_core.spark.compiler.sql_builder import (
    ELEMENT,
    SORT_KEY,
    bind,
    has_subquery_in_lambda,
    quote,
    sql_type,
    unsupported,
)
from schema_core.sql.query_syntax import JoinKind
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

#: Writes a call of a user's function over its arguments.
UserCall: TypeAlias = "Callable[[typed.FunctionCall, Sequence[str]], str]"

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
        f"{_stored(quote(one.name), one.type, target.type, zone)} AS {quote(target.name)}"
        for one, target in zip(given, targets or given, strict=True)
    ]
    text = f"SELECT {', '.join(columns)} FROM ({writer.write(relation)}) AS {_named(given)}"
    if has_subquery_in_lambda(text):
        raise unsupported("a sub-query is converted element by element, which Spark does not run")
    return text


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


def _stored(text: str, given: DataType, target: DataType, zone: str) -> str:
    return to_physical(convert(text, given, target, zone), target)


def _named(columns: Columns, alias: str = "result") -> str:
    """An alias with the names of the columns."""
    return _alias(alias, [one.name for one in columns])


def _alias(alias: str, names: Iterable[str]) -> str:
    return f"{quote(alias)}({', '.join(map(quote, names))})"


@dataclass(frozen=True, slots=True)
class Writer:
    """How relations are written: where scans read, and the session's zone."""

    source: Callable[[Scan], str]
    zone: str = "UTC"
    user: UserCall = user_call
    #: identities of the sub-queries that are computed from the rows of a group
    in_group: frozenset[int] = frozenset()

    def say(self, expression: Typed) -> str:
        """An expression of a block."""
        speaker = Speaker(self.zone, subquery=self.subquery, user=self.user)
        return to_spark(expression, speaker)

    def subquery(self, select: typed.Select) -> str:
        """A query used as a value."""
        sql = f"({self.write(rows_of(select))})"
        return f"any_value({sql})" if id(select) in self.in_group else sql

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
                percentage = self.say(relation.percentage)
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
            f"{from_physical(quote(one.name), one.type)} AS {quote(one.name)}"
            for one in scan.columns
        ]
        return f"SELECT {', '.join(columns)} FROM {self.source(scan)}"

    def select(self, block: Select, hidden: Sequence[Typed] = ()) -> str:
        """Write one SELECT block; `hidden` are further columns, by which its rows are sorted."""
        require_near_columns(block, hidden)
        groups = self
        if block.grouping is not None:
            groups = replace(self, in_group=self.in_group | grouped_subqueries(block, hidden))
        items = [f"{groups.say(item.expression)} AS {quote(item.name)}" for item in block.items]
        items += groups.hidden(hidden)
        words = f"{self.hints(block)}{'DISTINCT ' if block.distinct else ''}"
        parts = [f"SELECT {words}{', '.join(items)}"]
        if block.source is not None:
            parts.append(f"FROM {self.source_of(block.source)}")
        if block.where is not None:
            parts.append(f"WHERE {self.say(block.where)}")
        if block.grouping is not None and block.grouping.keys:
            parts.append(f"GROUP BY {self.grouping(block.grouping)}")
        if block.having is not None:
            parts.append(f"HAVING {groups.say(block.having)}")
        if block.qualify is not None:
            parts.append(f"QUALIFY {groups.say(block.qualify)}")
        return " ".join(parts)

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
        sql = self.say(key)
        return f"CAST({sql} AS {sql_type(key.type)})" if isinstance(key, Constant) else sql

    def values(self, values: Values) -> str:
        """Rows of expressions, each in the type of its column.

        They stand in an array: Spark's VALUES takes no lambda, and nothing that may fail.
        """
        rows = []
        for row in values.rows:
            said = (
                f"'{place}', "
                f"{convert(self.say(value), value.type, column.type.nullable(), self.zone)}"
                for place, (value, column) in enumerate(zip(row, values.columns, strict=True))
            )
            rows.append(f"named_struct({', '.join(said)})")
        listed = f"SELECT inline(array({', '.join(rows)}))"
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
        items = ", ".join(
            f"{convert(quote(one.name), one.type, to.type.nullable(), self.zone)}"
            f" AS {quote(one.name)}"
            for one, to in pairs
        )
        return f"SELECT {items} FROM ({text}) AS {_named(given, 'side')}"

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
            # Rows that DISTINCT makes one have equal keys, so any of these will do.
            form = "any_value({})" if distinct else "{}"
            hidden_keys = (form.format(quote(name)) for name in hidden_names)
            texts = [
                self.say(key.expression) if is_output(key.expression) else next(hidden_keys)
                for key in keys
            ]
            parts.append(f"ORDER BY {', '.join(map(sort_key, texts, keys))}")
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

    def hidden(self, keys: Sequence[Typed]) -> list[str]:
        """Write sort keys as columns."""
        return [f"{self.say(key)} AS {quote(f'{SORT_KEY}{i}')}" for i, key in enumerate(keys)]

    def with_tables(self, query: With) -> str:
        """Common tables; each is in sight of those behind it."""
        tables = ", ".join(
            f"{_named(table.columns, table.name)} AS ({self.write(table.relation)})"
            for table in query.tables
        )
        return f"WITH {tables} {self.write(query.input)}"

    # --- sources -------------------------------------------------------------------------------

    def source_of(self, relation: Relation) -> str:
        """What stands behind FROM."""
        match relation:
            case Named(input, alias, columns, lateral):
                word = "LATERAL " if lateral else ""
                return f"{word}({self.write(input)}) AS {_named(columns, alias)}"
            case Join(left, right, kind, condition):
                other = self.source_of(right)
                if isinstance(right, Join):
                    other = f"({other})"
                on = "" if condition is None else f" ON {self.say(condition)}"
                word = "INNER JOIN" if on and JOINS[kind] == "CROSS JOIN" else JOINS[kind]
                return f"{self.source_of(left)} {word} {other}{on}"
            case _:
                return f"({self.write(relation)})"

    def unnest(self, unnest: Unnest) -> str:
        """The elements of an array or the entries of a map as rows."""
        type_ = unnest.collection.type
        said = self.say(unnest.collection)
        match type_:
            case ArrayType():
                elements, row = said, type_.element_type
                fields = (
                    [f"{ELEMENT}.{quote(one.name)}" for one in row.fields]
                    if isinstance(row, RowType)
                    else [ELEMENT]
                )
            case MapType():
                elements = f"map_entries({said})"
                fields = [f"{ELEMENT}.`key`", f"{ELEMENT}.`value`"]
            case _:
                raise unsupported(f"UNNEST of {type_.as_summary_string()} is not run on Spark")
        if unnest.ordinality:
            fields.append("place + 1")
            return f"SELECT {', '.join(fields)} FROM posexplode({elements}) AS e(place, {ELEMENT})"
        return f"SELECT {', '.join(fields)} FROM explode({elements}) AS e({ELEMENT})"

    # --- windows -------------------------------------------------------------------------------

    def window_table(self, table: WindowTable) -> str:
        """TUMBLE, HOP and CUMULATE: every row once for each window that it is in."""
        form = WINDOWS.get(table.function)
        if form is None:
            raise unsupported(f"{table.function} windows are not run on Spark")
        type_ = table.time.type
        clock = datetimes.clock(quote(table.time.name), type_, self.zone)
        sizes = [self.say(size) for size in table.sizes]
        windows = bind(datetimes.millis(clock), lambda time: form(time, sizes))
        bounds = [
            self.bound(f"{ELEMENT}.`a`", TimestampType(3)),
            self.bound(f"{ELEMENT}.`b`", TimestampType(3)),
            self.bound(f"{ELEMENT}.`b` - 1", type_),
        ]
        names = [quote(column.name) for column in table.columns[-3:]]
        added = ", ".join(f"{said} AS {name}" for said, name in zip(bounds, names, strict=True))
        rows = f"SELECT *, explode({windows}) AS {ELEMENT} FROM ({self.write(table.input)})"
        return f"SELECT * EXCEPT ({ELEMENT}), {added} FROM ({rows})"

    def bound(self, count: str, type_: DataType) -> str:
        """A bound of a window, from milliseconds of the session's clock."""
        clock = datetimes.of_millis(count, TimestampType(3))
        if isinstance(type_, LocalZonedTimestampType):
            return datetimes.instant(clock, self.zone)
        return clock


def _window(start: str, stop: str) -> str:
    return f"named_struct('a', {start}, 'b', {stop})"


def _tumble(time: str, sizes: Sequence[str]) -> str:
    """Windows of one size, side by side."""
    size, offset = sizes[0], sizes[1] if len(sizes) > 1 else "0L"
    start = f"({time} - pmod({time} - {offset}, {size}))"
    return f"array({_window(start, f'{start} + {size}')})"


def _hop(time: str, sizes: Sequence[str]) -> str:
    """Windows of one size that start a slide after each other."""
    slide, size, offset = sizes[0], sizes[1], sizes[2] if len(sizes) > 2 else "0L"
    last = f"({time} - pmod({time} - {offset}, {slide}))"
    every = (
        f"transform(sequence(0L, {size} DIV {slide}), {ELEMENT} -> {last} - {ELEMENT} * {slide})"
    )
    starts = f"filter({every}, {ELEMENT} -> {ELEMENT} > {time} - {size})"
    return f"transform({starts}, {ELEMENT} -> {_window(ELEMENT, f'{ELEMENT} + {size}')})"


def _cumulate(time: str, sizes: Sequence[str]) -> str:
    """Windows of one start that end a step after each other, up to the size."""
    step, size, offset = sizes[0], sizes[1], sizes[2] if len(sizes) > 2 else "0L"
    start = f"({time} - pmod({time} - {offset}, {size}))"
    every = f"sequence({start} + {step}, {start} + {size}, {step})"
    stops = f"filter({every}, {ELEMENT} -> {ELEMENT} > {time})"
    return f"transform({stops}, {ELEMENT} -> {_window(start, ELEMENT)})"


#: Function -> the windows of a time, as an array of pairs of milliseconds.
WINDOWS: dict[str, Callable[[str, Sequence[str]], str]] = {
    "TUMBLE": _tumble,
    "HOP": _hop,
    "CUMULATE": _cumulate,
}
