"""The rows of MATCH_RECOGNIZE: Spark sorts each partition, and an automaton finds its matches.

1. Spark computes the parts of conditions that depend on one row, as columns.
2. A Python worker reads the rows in order, and keeps those of open matches. It returns a row for
   each match, with the columns of its rows that measures read; or a row for each row of a match, if
   there are aggregates.
3. Spark computes the measures, grouped by match for aggregates.

So every function of measures, and of conditions on one row, is that of any other query.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from schema_core import types
from schema_core.base.lazy import NamedTuple
from schema_core.expressions.intervals import interval
from schema_core.expressions.typed import Constant, FunctionCall, Ref, Typed, substitute, walk
from schema_core.query import relation as relational
from schema_core.query.relation import Column, Columns, Match, Relation, is_aggregate
from schema_core.spark.compiler import tree
from schema_core.spark.compiler.expression import sort_key
from schema_core.spark.compiler.functions.datetimes import clock_millis
from schema_core.spark.compiler.translation import require_orderable
from schema_core.spark.compiler.tree import quote, to_sql
from schema_core.spark.matching.automaton import (
    Automaton,
    Condition,
    Found,
    Skip,
    SkipTo,
    State,
    states_of,
)
from schema_core.spark.matching.navigation import (
    ROWS,
    ConditionTerms,
    Navigator,
    RowColumns,
    columns_in,
)
from schema_core.spark.matching.planner_rewrites import as_planned, as_stored
from schema_core.spark.matching.row_pattern import Variable, refusal, variables_of
from schema_core.spark.matching.row_terms import Place, Rows, Term, condition, row_at
from schema_core.spark.python.user_functions import UserCalls
from schema_core.spark.session.worker_package import send_package
from schema_core.sql import syntax

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from schema_core.spark.reading.operator_context import OperatorContext

#: Columns of the rows: their time in milliseconds, as a rowtime, and the order of arrival.
TIME, ROWTIME, ARRIVAL = "the_time", "the_rowtime", "the_arrival"
#: Whether a row is the first of its partition.
FIRST = "the_first"
#: The number of a match, by which its rows are grouped.
NUMBER = "the_match"
#: Prefixes of columns: partition keys, further sort keys, columns of conditions, input columns,
#: input columns at a place of the match, and whether a row is one of a variable.
KEY, ORDER, VALUE, INPUT, PLACED, IS_OF = "k", "o", "c", "r", "p", "v"

_ROWTIME = types.DataTypes.TIMESTAMP(3)
_NEVER = -(2**63)


def match_rows(context: OperatorContext, relation: Relation) -> str:
    """Return the query of MATCH_RECOGNIZE, for `FRAME_OPERATORS`.

    Raises:
        UnsupportedError: `not-executable` for what Flink refuses, or terms cannot compute.
    """
    return _MatchQuery(context, cast("Match", relation)).text()


class _MatchQuery:
    """The query of one MATCH_RECOGNIZE while it is written."""

    def __init__(self, context: OperatorContext, match: Match) -> None:
        self.context = context
        self.match = match
        self.written = match.written
        self.variables = variables_of(self.written)
        self.places = {variable.name: place for place, variable in enumerate(self.variables)}
        self.aliases = frozenset(alias for alias, _ in relational.columns_of(match.input))
        self.columns = RowColumns()
        self.compiler = replace(
            context.compiler, correlated=False, depth=0, around=(), computed={}, clauses=()
        )
        self._require_form()

    # --- what Flink refuses ---------------------------------------------------------------------

    def _require_form(self) -> None:
        written = self.written
        if written.rows_per_match is not None and written.rows_per_match.startswith("ALL"):
            raise refusal("ALL ROWS PER MATCH is not supported in Flink", written.span)
        if not written.measures:
            raise refusal("MEASURES is missing", written.span)
        names = [column.name for column in self.match.columns]
        if len(set(names)) < len(names):
            raise refusal("the columns of the result have equal names", written.span)
        for key in self.match.partition_by:
            if not isinstance(key, Ref):
                raise refusal("PARTITION BY requires columns", written.span)
            require_orderable(key.type, "PARTITION BY")
        for measure in (*written.measures, *written.defines):
            for part in syntax.walk(measure.expression):
                if isinstance(part, syntax.Name) and self._is_qualified(part):
                    raise refusal(
                        f"a column of {part.parts[0]!r} is always NULL in Flink",
                        part.span,
                        "omit the alias, or write a pattern variable",
                    )

    def _is_qualified(self, name: syntax.Name) -> bool:
        columns = {column.name for column in self.match.input.columns}
        alias = name.parts[0]
        is_alias = alias in self.aliases and alias not in self.places and alias not in columns
        return is_alias and len(name.parts) > 1

    @property
    def time(self) -> Ref:
        """The column that orders rows in time."""
        keys = self.match.order_by
        span = self.written.span
        if not keys:
            raise refusal("ORDER BY is missing", span)
        for key in keys:
            if not isinstance(key.expression, Ref):
                raise refusal("ORDER BY requires columns", span)
            require_orderable(key.expression.type, "ORDER BY")
        time = cast("Ref", keys[0].expression)
        if not isinstance(time.type, types.TimestampType | types.LocalZonedTimestampType):
            raise refusal("the first key of ORDER BY must be a time", span)
        is_regular = time.type.kind is types.TimestampKind.REGULAR
        if is_regular and self.context.is_streaming:
            raise refusal("the first key of ORDER BY must be a time attribute", span)
        if keys[0].descending:
            raise refusal("the first key of ORDER BY must be ascending", span)
        return time

    @property
    def is_proctime(self) -> bool:
        time = cast("types.TimestampType", self.time.type)
        return time.kind is types.TimestampKind.PROCTIME

    def within(self) -> int:
        """Return the milliseconds of WITHIN; 0 without a limit, as of a negative interval."""
        within = self.match.within
        if within is None:
            return 0
        if (
            not isinstance(within, Constant)
            or not isinstance(within.literal, syntax.Interval)
            or not isinstance(within.type, types.DayTimeIntervalType)
            or within.literal.negative
        ):
            problem = "WITHIN requires a constant interval of days to seconds without a sign before"
            raise refusal(problem, self.written.span)
        return 0 if self.is_proctime else max(interval(within.literal, within.type), 0)

    def skip(self) -> Skip:
        words = self.written.after_match
        if words in ((), ("SKIP", "TO", "NEXT", "ROW")):
            return Skip()
        if words == ("SKIP", "PAST", "LAST", "ROW"):
            return Skip(SkipTo.PAST_LAST_ROW)
        name = words[-1]
        if name not in self.places:
            problem = f"AFTER MATCH names {name!r}, which is not in the pattern"
            raise refusal(problem, self.written.span)
        to = SkipTo.FIRST if words[-2] == "FIRST" else SkipTo.LAST
        return Skip(to, self.places[name], name)

    # --- the rows -------------------------------------------------------------------------------

    def text(self) -> str:
        """Return the query of the matches."""
        time, skip, within = self.time, self.skip(), self.within()
        terms = self._terms()
        measures = _Measures(self)
        rows = self._rows(time)
        sorted_rows = self.context.analyse(self._sorted(rows, measures))
        search = MatchSearch(
            self.variables,
            terms,
            skip,
            within,
            len(self.columns.expressions),
            len(self.match.partition_by),
            tuple((placed.place, placed.column) for placed in measures.placed.values()),
            tuple(measures.flat.values()) if measures.has_aggregates else None,
            measures.has_rowtime,
        )
        send_package(sorted_rows.sparkSession)
        frame = sorted_rows.mapInArrow(search, search.schema(sorted_rows.schema))
        return measures.query(frame)

    def _rows(self, time: Ref) -> Relation:
        """Return the input with the columns `TIME`, `ROWTIME` and `ARRIVAL`, as `ROWS`."""
        columns = self.match.input.columns
        text = self.context.compiler.standalone(self.match.input)
        added = f"CAST(0 AS BIGINT) AS {TIME}, monotonically_increasing_id() AS {ARRIVAL}"
        if not self.is_proctime:
            millis = to_sql(clock_millis(tree.Column(time.name), time.type, "UTC"))
            added = f"{millis} AS {TIME}, monotonically_increasing_id() AS {ARRIVAL}"
        text = f"SELECT *, {added} FROM ({text})"
        rowtime = f"CAST(timestamp_millis({TIME}) AS TIMESTAMP_NTZ) AS {ROWTIME}"
        order = self._order([tree.Column(key.name) for key in self._further_columns()])
        over = self._over([quote(key.name) for key in self._keys()], order)
        earlier = [
            f"lag({quote(column)}, {distance}) OVER ({over}) AS {name}"
            for (column, distance), name in self.columns.earlier.items()
        ]
        text = f"SELECT *, {', '.join([rowtime, *earlier])} FROM ({text})"
        types_ = {column.name: column.type for column in columns}
        more = (
            Column(TIME, types.DataTypes.BIGINT()),
            Column(ARRIVAL, types.DataTypes.BIGINT().not_null()),
            Column(ROWTIME, _ROWTIME),
            *(
                Column(name, types_[column].nullable())
                for (column, _), name in self.columns.earlier.items()
            ),
        )
        return self.named(self.context.analyse(text), (*columns, *more), ROWS)

    def _keys(self) -> list[Ref]:
        return [key for key in self.match.partition_by if isinstance(key, Ref)]

    @property
    def further(self) -> tuple[relational.Key, ...]:
        """The keys of rows with equal milliseconds: all digits of the time, if there are more."""
        keys = self.match.order_by
        return keys[1:] if len(keys) == 1 or self.is_proctime else keys

    def _further_columns(self) -> list[Ref]:
        return [cast("Ref", key.expression) for key in self.further]

    def _order(self, further: Sequence[tree.Node]) -> str:
        """Return the order of rows, with the columns of the further keys."""
        keys = (
            to_sql(sort_key(node, key)) for node, key in zip(further, self.further, strict=True)
        )
        return ", ".join([TIME, *keys, ARRIVAL])

    @staticmethod
    def _over(keys: Sequence[str], order: str) -> str:
        partition = f"PARTITION BY {', '.join(keys)} " if keys else ""
        return f"{partition}ORDER BY {order}"

    def named(self, frame: DataFrame, columns: Columns, alias: str) -> Relation:
        """Return the rows of a frame as a source of a query."""
        name = self.context.names.view(frame).strip("`")
        return relational.Named(relational.CommonScan(name, columns), alias, columns)

    def _terms(self) -> tuple[Term | None, ...]:
        """Return the condition of each variable, and add their columns."""
        terms: list[Term | None] = [None] * len(self.variables)
        sizes = tuple(
            variable.least if variable.least == variable.most else None
            for variable in self.variables
        )
        for define in self.match.defines:
            place = self.places.get(define.name)
            own = -1 if place is None else place
            navigator = Navigator(self.places, self.aliases, own, sizes)
            expression = substitute(as_planned(define.expression), self._with_time)
            terms_of = ConditionTerms(self.columns, navigator, self._worker_function)
            term = terms_of.condition(expression)
            if place is not None:
                terms[place] = term
        return tuple(terms)

    def _worker_function(self, call: FunctionCall) -> Callable[..., Any] | None:
        user = self.context.compiler.user
        return user.worker_function(call) if isinstance(user, UserCalls) else None

    def _with_time(self, part: Typed) -> Typed | None:
        """Return the time of the current row for MATCH_ROWTIME() in DEFINE."""
        if isinstance(part, FunctionCall) and part.function.name == "MATCH_ROWTIME":
            _require_no_argument(part)
            return Ref(ROWTIME, _ROWTIME, min(self.aliases))
        return _as_proctime(part)

    def _sorted(self, rows: Relation, measures: _Measures) -> str:
        """Return the query of the sorted rows: keys, columns of conditions and input columns."""
        keys, further = self.match.partition_by, self.further
        items = [
            *_items(KEY, keys),
            *_items(VALUE, self.columns.expressions),
            *_items(INPUT, measures.inputs.values()),
            *_items(ORDER, (key.expression for key in further)),
        ]
        every = [name for name, _ in items]
        items += [(name, Ref(name, types.DataTypes.BIGINT(), ROWS)) for name in (TIME, ARRIVAL)]
        select = relational.Select(
            tuple(relational.Item(name, _of_rows(value)) for name, value in items), rows
        )
        order = self._order([tree.Column(f"{ORDER}{place}") for place in range(len(further))])
        over = self._over([f"{KEY}{place}" for place in range(len(keys))], order)
        shown = ", ".join([*every, TIME])
        return (
            f"SELECT {shown}, row_number() OVER ({over}) = 1 AS {FIRST}"
            f" FROM ({self.compiler.write(select)})"
        )


def _items(prefix: str, expressions: Iterable[Typed]) -> Iterator[tuple[str, Typed]]:
    return ((f"{prefix}{place}", value) for place, value in enumerate(expressions))


def _of_rows(expression: Typed) -> Typed:
    return substitute(
        expression, lambda part: replace(part, relation=ROWS) if isinstance(part, Ref) else None
    )


def _as_proctime(part: Typed) -> Typed | None:
    """Return PROCTIME() for MATCH_PROCTIME()."""
    if isinstance(part, FunctionCall) and part.function.name == "MATCH_PROCTIME":
        return replace(part, function=replace(part.function, name="PROCTIME"))
    return None


def _require_no_argument(call: FunctionCall) -> None:
    if call.arguments:
        problem = "MATCH_ROWTIME requires a rowtime attribute, of which batch mode has none"
        raise refusal(problem, call.span, "write MATCH_ROWTIME()")


# --- measures -----------------------------------------------------------------------------------


class Placed(NamedTuple):
    """An input column, by its position among those that are read, at a place of the match."""

    place: Place
    column: int


class _Measures:
    """The measures over the columns of the matches."""

    def __init__(self, query: _MatchQuery) -> None:
        self._query = query
        self._navigator = Navigator(query.places, query.aliases)
        self.inputs: dict[str, Ref] = {}
        self._positions: dict[str, int] = {}
        self.placed: dict[str, Placed] = {}
        self._columns: dict[str, types.DataType] = {}
        #: name of a column for each row of a match -> its input column or variable
        self.flat: dict[str, tuple[str, int]] = {}
        self.has_rowtime: bool = False
        self.has_aggregates: bool = False
        placed = [
            self._navigator.at_places(as_stored(measure.expression))
            for measure in query.match.measures
        ]
        self.has_aggregates = any(is_aggregate(part) for one in placed for part in walk(one))
        self._measures = [substitute(measure, self._change) for measure in placed]

    def _input(self, column: Ref) -> int:
        if column.name not in self.inputs:
            self._positions[column.name] = len(self.inputs)
            self.inputs[column.name] = column
        return self._positions[column.name]

    def _change(self, part: Typed) -> Typed | None:
        match part:
            case Ref():
                return self._at(part)
            case FunctionCall() if is_aggregate(part):
                return self._aggregate(part)
            case FunctionCall() if part.function.name == "MATCH_ROWTIME":
                _require_no_argument(part)
                self.has_rowtime = True
                return self._column(ROWTIME, _ROWTIME)
            case _:
                return _as_proctime(part)

    def _column(self, name: str, type_: types.DataType) -> Ref:
        self._columns[name] = type_.nullable()
        return Ref(name, type_.nullable(), ROWS)

    def _at(self, column: Ref) -> Ref:
        """Return a column that has an input column at a place."""
        key = Placed(self._navigator.place(column), self._input(column))
        name = next((name for name, placed in self.placed.items() if placed == key), None)
        name = name or f"{PLACED}{len(self.placed)}"
        self.placed[name] = key
        return self._column(name, column.type)

    def _aggregate(self, call: FunctionCall) -> FunctionCall:
        """Return an aggregate over the rows of the match, of which it reads those of a variable."""
        column = next(columns_in(call), None)
        variable = None if column is None else self._navigator.place(column).variable

        def change(part: Typed) -> Typed | None:
            if not isinstance(part, Ref):
                return None
            name = flat_name(INPUT, self._input(part))
            self.flat[name] = (INPUT, self._input(part))
            return self._column(name, part.type)

        arguments = tuple(substitute(argument, change) for argument in call.arguments)
        filter_ = None
        if variable is not None:
            name = flat_name(IS_OF, variable)
            self.flat[name] = (IS_OF, variable)
            filter_ = self._column(name, types.DataTypes.BOOLEAN())
        return replace(call, arguments=arguments, filter=filter_)

    def query(self, frame: DataFrame) -> str:
        """Return the measures over a frame of matches."""
        match = self._query.match
        keys = [
            Ref(f"{KEY}{place}", key.type, ROWS) for place, key in enumerate(match.partition_by)
        ]
        types_ = {key.name: key.type for key in keys} | self._columns
        types_ |= {NUMBER: types.DataTypes.BIGINT()}
        columns = tuple(Column(name, types_[name]) for name in frame.columns)
        source = self._query.named(frame, columns, ROWS)
        values = (*keys, *self._measures)
        items = tuple(
            relational.Item(column.name, value)
            for column, value in zip(match.columns, values, strict=True)
        )
        grouping = None
        if self.has_aggregates:
            grouped = [
                Ref(column.name, column.type, ROWS)
                for column in columns
                if column.name not in self.flat
            ]
            grouping = relational.Grouping(tuple(grouped))
        return self._query.compiler.write(relational.Select(items, source, grouping=grouping))


# --- the search, in a Python worker -------------------------------------------------------------


@dataclass(frozen=True)
class MatchSearch:
    """Finds the matches of sorted rows, which come in record batches.

    Attributes:
        variables: The variables of the pattern.
        terms: The condition of each variable.
        skip: Where the search continues after a match.
        within: The milliseconds in which a match must end; 0 for no limit.
        values: How many columns of conditions follow the keys.
        keys: How many keys the rows have.
        placed: The place and position of each input column of a match.
        flat: The columns for each row of a match, if it has a row for each.
        has_rowtime: Whether a match has its rowtime.
    """

    variables: tuple[Variable, ...]
    terms: tuple[Term | None, ...]
    skip: Skip
    within: int
    values: int
    keys: int
    placed: tuple[tuple[Place, int], ...]
    flat: tuple[tuple[str, int], ...] | None
    has_rowtime: bool

    def schema(self, rows: StructType) -> StructType:
        """Return the columns of the matches, from those of the rows."""
        from pyspark.sql.types import (
            BooleanType,
            LongType,
            StructField,
            StructType,
            TimestampNTZType,
        )

        inputs = [field.dataType for field in rows.fields[self.keys + self.values :]]
        columns = [field.dataType for field in rows.fields[: self.keys]]
        columns += [inputs[column] for _, column in self.placed]
        columns += [TimestampNTZType()] if self.has_rowtime else []
        if self.flat is not None:
            columns.append(LongType())
            columns += [
                inputs[index] if kind == INPUT else BooleanType() for kind, index in self.flat
            ]
        return StructType(list(map(StructField, self._names(), columns)))

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the matches of sorted rows."""
        rows = Rows([[] for _ in range(self.values)])
        conditions = [None if term is None else condition(term, rows) for term in self.terms]
        kept: list[pa.RecordBatch] = []
        base = row = number = 0
        start = states_of(self.variables)
        automaton = self._automaton(start, conditions, 0)
        for batch in batches:
            kept.append(batch)
            columns = [batch.column(self.keys + place) for place in range(self.values)]
            rows.add([column.to_pylist() for column in columns])
            found: list[tuple[Found, int | None]] = []
            flags = batch.column(batch.num_columns - 1).to_pylist()
            times = batch.column(batch.num_columns - 2).fill_null(_NEVER).to_pylist()
            for is_first, time in zip(flags, times, strict=True):
                if is_first:
                    found += [(match, None) for match in automaton.finish()]
                    automaton = self._automaton(start, conditions, row)
                found += [(match, time) for match in automaton.step(time)]
                row += 1
            if found:
                yield from self._matches(kept, base, found, number)
                number += len(found)
            oldest = automaton.oldest
            rows.drop_before(oldest)
            while kept and base + kept[0].num_rows <= oldest:
                base += kept.pop(0).num_rows
        if last := automaton.finish():
            yield from self._matches(kept, base, [(match, None) for match in last], number)

    def _automaton(
        self, start: State, conditions: Sequence[Condition | None], row: int
    ) -> Automaton:
        return Automaton(start, conditions, self.skip, self.within, row)

    def _matches(
        self,
        batches: Sequence[pa.RecordBatch],
        base: int,
        found: Sequence[tuple[Found, int | None]],
        number: int,
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of matches; `base` is the number of the first row of the batches."""
        import pyarrow as pa

        rows = pa.Table.from_batches(batches)
        expanded = [
            (match.runs, time, number + index, row)
            for index, (match, time) in enumerate(found)
            for row in (
                range(match.runs[0].first, match.runs[-1].last + 1)
                if self.flat is not None
                else [match.runs[-1].last]
            )
        ]

        def column(place: int, numbers: Sequence[int | None]) -> Any:
            indices = [None if row is None else row - base for row in numbers]
            return rows.column(place).take(pa.array(indices, pa.int64()))

        last = [runs[-1].last for runs, *_ in expanded]
        inputs = self.keys + self.values
        columns = [column(place, last) for place in range(self.keys)]
        for place, index in self.placed:
            at = [row_at(place, runs, None) for runs, *_ in expanded]
            columns.append(column(inputs + index, at))
        if self.has_rowtime:
            times = [_rowtime(time) for _, time, *_ in expanded]
            columns.append(pa.array(times, pa.timestamp("us")))
        if self.flat is not None:
            columns.append(pa.array([_unique(one) for *_, one, _ in expanded], pa.int64()))
            for kind, index in self.flat:
                if kind == INPUT:
                    columns.append(column(inputs + index, [row for *_, row in expanded]))
                    continue
                flags = [
                    any(run.variable == index and run.first <= row <= run.last for run in runs)
                    for runs, _, _, row in expanded
                ]
                columns.append(pa.array(flags, pa.bool_()))
        yield from pa.table(columns, names=self._names()).to_batches()

    def _names(self) -> list[str]:
        names = [f"{KEY}{place}" for place in range(self.keys)]
        names += [f"{PLACED}{place}" for place in range(len(self.placed))]
        names += [ROWTIME] if self.has_rowtime else []
        if self.flat is not None:
            names += [NUMBER, *(flat_name(kind, index) for kind, index in self.flat)]
        return names


def _unique(number: int) -> int:
    """Return a number of a match that no other task returns."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return ((context.partitionId() if context is not None else 0) << 33) + number


def flat_name(kind: str, index: int) -> str:
    """Return the name of a column for each row of a match; -1 is a variable without rows."""
    return f"{kind}{index}".replace("-", "_")


def _rowtime(time: int | None) -> dt.datetime:
    """Return the rowtime of a match, that of the row with which it is returned."""
    if time is None or time == _NEVER:
        raise ValueError(
            "MATCH_ROWTIME() of a match that waits for the end of all rows has no value"
        )
    return dt.datetime(1970, 1, 1) + dt.timedelta(milliseconds=time)  # noqa: DTZ001 - without zone
