"""Queries of unbounded tables: which operations Spark computes as rows arrive, with which state.

Projections, filters, UNNEST, UNION ALL of unbounded tables and joins with bounded tables need only
the new rows. One operation may have a state (`OperatorState`). What else needs all rows is refused
before the job.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from enum import Enum
from typing import Final, TypeAlias, cast

from schema_core.base.lazy import dataclass
from schema_core.base.paths import format_path
from schema_core.environment.options import STATE_RETENTION
from schema_core.errors import UnsupportedError
from schema_core.expressions.typed import Constant, FunctionCall, Typed, is_windowed
from schema_core.expressions.typed import Select as Subquery
from schema_core.query import relation as relational
from schema_core.query.from_clause import STATE_TTL
from schema_core.query.rankings import (
    FIRST_NUMBER,
    Ranking,
    first_rows,
    items_by_reference,
    reference,
)
from schema_core.query.relation import (
    adds_elements,
    conjuncts,
    expressions_of,
    is_aggregate,
    outer_columns,
    parts_of,
    rows_of,
    subexpressions,
    subqueries_in,
    substitute_parts,
    without_common_tables,
)
from schema_core.query.temporal_joins import is_lookup, snapshot_of
from schema_core.spark.compiler.query import GROUP_WINDOWS
from schema_core.spark.streaming.interval_joins import (
    INNER,
    TimeBounds,
    TimedSide,
    equations,
    time_bounds,
    timed_join,
)
from schema_core.sql.syntax import JoinKind, Literal, LiteralKind
from schema_core.types import BooleanType, LocalZonedTimestampType, TimestampType
from schema_core.types.temporal import TimestampKind

#: Kind of a join -> which sides, left and right, may be unbounded. The other side is complete when
#: a micro-batch starts: a row without a match never gets one later.
_SIDES: dict[JoinKind, tuple[bool, bool]] = {
    JoinKind.COMMA: (True, True),
    JoinKind.CROSS: (True, True),
    JoinKind.INNER: (True, True),
    JoinKind.LEFT: (True, False),
    JoinKind.RIGHT: (False, True),
    JoinKind.FULL: (False, False),
}

#: An outer join that returns rows of a bounded table without a match.
PRESERVES_BOUNDED = "{}, which keeps the rows of a bounded table without a match,"


#: What to do instead of an operation that needs all rows.
HINT: Final = (
    "read the table with options that bound it, or write its rows into a table and query that in "
    "batch mode"
)
#: What a join of two unbounded tables needs.
JOIN_HINT: Final = (
    "join by an equation and by bounds of both rowtimes, such as a.k = b.k AND a.ts BETWEEN "
    "b.ts - INTERVAL '5' MINUTE AND b.ts + INTERVAL '5' MINUTE"
)
#: What to do instead of a condition of UNNEST.
ON_TRUE: Final = "join ON TRUE, and write the condition into WHERE"


class OperatorState(Enum):
    """The state of a streaming query's one operation that has one."""

    #: accumulators of GROUP BY a window, until the watermark passes it
    WINDOW = "a window aggregation"
    #: rows of both sides, until the watermark shows that no other row can match them
    JOIN = "an interval join"
    #: accumulators of GROUP BY, forever; rows of the result are updated
    GROUPS = "GROUP BY"
    #: the distinct rows, forever
    DISTINCT = "SELECT DISTINCT"
    #: keys of returned rows, forever
    FIRST = "ROW_NUMBER"


#: The key of a single group.
ONE_GROUP: Final = Constant(Literal(LiteralKind.BOOLEAN, "TRUE"), BooleanType(nullable=False))

#: States that are kept forever.
PERMANENT: Final = frozenset({OperatorState.GROUPS, OperatorState.DISTINCT, OperatorState.FIRST})

#: The bounds that identify a window.
START, END = "start", "end"
BOUNDS: Final = frozenset({START, END})
#: Time bounds by the columns' aliases and names in a source, or positions in a query.
Bounds: TypeAlias = "Mapping[object, str]"


@dataclass(frozen=True, slots=True)
class StreamPlan:
    """How a query of unbounded tables is computed.

    Attributes:
        query: The query, without common tables.
        table: The path of an unbounded table that it reads.
        state: The state of `operation`; None if new rows suffice for all of the query.
        operation: The part of `query` with state. Without DISTINCT for `OperatorState.DISTINCT`.
        windows: The window functions over unbounded tables.
        bounds: The positions of columns of the result that bound a window.
        key: The positions of the columns that identify a row of the result, if rows are updated.
        ranking: The first rows that `OperatorState.FIRST` keeps.
        sides: The sides of `OperatorState.JOIN`, each read from its own frame.
    """

    query: relational.Relation
    table: str
    state: OperatorState | None = None
    operation: relational.Relation | None = None
    windows: tuple[relational.WindowTable, ...] = ()
    bounds: Mapping[int, str] = field(default_factory=dict)
    key: tuple[int, ...] = ()
    ranking: Ranking | None = None
    sides: tuple[TimedSide, ...] = ()

    @property
    def is_updated(self) -> bool:
        """Whether later rows replace rows of the result."""
        return self.state is OperatorState.GROUPS

    @property
    def has_state(self) -> bool:
        """Whether rows are kept between micro-batches."""
        return self.state is not None

    @property
    def has_windows(self) -> bool:
        """Whether rows are returned when the watermark passes their window's end."""
        return self.state is OperatorState.WINDOW

    def clock(self, zone: str) -> str | None:
        """The time zone of watermarks' clock; None without watermarks.

        Windows end by the session's clock. Joined rowtimes are compared as they are.
        """
        if self.state is OperatorState.JOIN:
            return "UTC"
        return zone if self.has_windows else None


@dataclass(frozen=True, slots=True)
class _Stream:
    """A relation that reads an unbounded table."""

    table: str
    windows: tuple[relational.WindowTable, ...] = ()
    bounds: Bounds = field(default_factory=dict)
    state: OperatorState | None = None
    operation: relational.Relation | None = None
    key: frozenset[object] = frozenset()
    #: how many columns identify an updated row
    keys: int = 0
    ranking: Ranking | None = None
    time_bounds: TimeBounds | None = None

    @property
    def is_updated(self) -> bool:
        return self.state is OperatorState.GROUPS

    def rename_columns(self, names: Mapping[object, tuple[object, ...]]) -> _Stream:
        """Return the stream with renamed columns; those without a name are left out."""
        bounds = {new: part for old, part in self.bounds.items() for new in names.get(old, ())}
        keys = [names.get(key, ()) for key in self.key]
        key = {new[0] for new in keys if new}
        return replace(self, bounds=bounds, key=frozenset(key))


def stream_plan(
    query: relational.Relation, is_unbounded: Callable[[relational.Scan], bool]
) -> StreamPlan | None:
    """Return how a query without views is computed as rows arrive, None without unbounded tables.

    Errors name the operation and table (`streaming-not-supported`).
    """
    query = without_common_tables(query)
    stream = _StreamAnalysis(is_unbounded).table(query)
    if stream is None:
        return None
    if stream.is_updated and stream.state is not None and len(stream.key) < stream.keys:
        _refuse(f"{stream.state.value} whose keys are not all columns of the result", stream)
    operation = stream.operation
    sides: tuple[TimedSide, ...] = ()
    if isinstance(operation, relational.Select | relational.SetOperation | relational.Join):
        written = operation
        if isinstance(operation, relational.Join):
            operation, sides = timed_join(operation, cast("TimeBounds", stream.time_bounds))
        else:
            operation = _as_computed(operation, stream)
        query = substitute_parts(query, lambda part: operation if part is written else None)
    key = tuple(sorted(key for key in stream.key if isinstance(key, int)))
    return StreamPlan(
        query,
        stream.table,
        stream.state,
        operation,
        stream.windows,
        {place: part for place, part in stream.bounds.items() if isinstance(place, int)},
        key if stream.is_updated else (),
        stream.ranking,
        sides,
    )


def updated_parts(
    query: relational.Relation, is_unbounded: Callable[[relational.Scan], bool]
) -> Mapping[int, bool]:
    """Return whether rows of each part of a query are updated, by the part's identity.

    Parts that are computed only with the one above are left out. Errors are those of `stream_plan`.
    """
    analysis = _StreamAnalysis(is_unbounded)
    analysis.table(query)
    return analysis.updates


def require_no_expiry(
    states: Sequence[str], table: str, query: relational.Relation, options: Mapping[str, str]
) -> None:
    """Refuse permanent states that the option or hint STATE_TTL expires.

    The code is `streaming-not-supported`. Flink removes state that has been idle for this time.
    """
    if not states:
        return
    hints: set[str] = set()

    def collect(relation: relational.Relation) -> None:
        if isinstance(relation, relational.Select):
            hints.update(hint.name.upper() for hint in relation.hints)

    substitute_parts(query, collect)
    declared = []
    if STATE_RETENTION.of(options):
        declared.append(f"the option {STATE_RETENTION.key!r}")
    if STATE_TTL in hints:
        declared.append(f"the hint {STATE_TTL}")
    if declared:
        raise UnsupportedError(
            f"the state of {states[0]} over {table} does not expire, which "
            f"{' and '.join(declared)} requires",
            code="streaming-not-supported",
            hint=f"remove {' and '.join(declared)}, or aggregate by windows, whose state ends",
        )


def _as_computed(
    block: relational.Select | relational.SetOperation, stream: _Stream
) -> relational.Select | relational.SetOperation:
    """Return the operation with state as Spark computes it.

    Frames remove duplicates, and the first row has number 1. An aggregate without GROUP BY gets a
    single group, returned with its first row, as in Flink.
    """
    if isinstance(block, relational.SetOperation):
        return replace(block, all=True)
    if stream.state is OperatorState.DISTINCT:
        return replace(block, distinct=False)
    if stream.ranking is not None:
        items = list(block.items)
        place = stream.ranking.rank
        items[place] = items[place]._replace(expression=FIRST_NUMBER)
        return replace(block, items=tuple(items))
    if (
        stream.state is OperatorState.GROUPS
        and block.grouping is not None
        and not block.grouping.keys
    ):
        return replace(block, grouping=relational.Grouping((ONE_GROUP,)))
    return block


class _StreamAnalysis:
    """Methods return a `_Stream` for a relation over an unbounded table, None for a bounded one.

    Left-deep chains of joins and set operations are long, so no recursion follows them.
    """

    def __init__(self, is_unbounded: Callable[[relational.Scan], bool]) -> None:
        self._is_unbounded = is_unbounded
        #: the visible common tables by name; the last one hides others
        self._common: list[tuple[str, _Stream | None]] = []
        #: the conjuncts of WHERE above the source that is analysed
        self._where: Sequence[Typed] = ()
        #: whether rows are updated, by the identity of each part computed by itself
        self.updates: dict[int, bool] = {}

    def table(self, relation: relational.Relation | None) -> _Stream | None:
        stream = self._table(relation)
        if relation is not None:
            self.updates[id(relation)] = stream is not None and stream.is_updated
        return stream

    def _table(self, relation: relational.Relation | None) -> _Stream | None:
        match relation:
            case None | relational.Values() | relational.Unnest() | relational.FunctionTable():
                stream = None
            case relational.Scan():
                path = format_path(relation.table.identifier)
                stream = _Stream(path) if self._is_unbounded(relation) else None
            case relational.CommonScan(name=name):
                stream = next((table for own, table in reversed(self._common) if own == name), None)
            case relational.Snapshot(input=below):
                stream = self.table(below)
                name = "the processing time" if is_lookup(relation) else "a rowtime"
                _refuse(f"FOR SYSTEM_TIME AS OF {name}", stream)
            case relational.Named(input=below):
                stream = self.table(below)
                stream = (
                    None if stream is None else stream.rename_columns(_names_of_source(relation))
                )
            case relational.Join() | relational.SetOperation():
                stream = self._chain(relation)
            case relational.Select():
                stream = self._block(relation)
            case relational.With():
                stream = self._with(relation)
            case relational.WindowTable():
                stream = self._window(relation)
            case _:
                stream = self.table(relation.input)
                _refuse(name_of(relation), stream)
        self._require_bounded_subqueries(relation)
        return stream

    def _chain(self, relation: relational.Join | relational.SetOperation) -> _Stream | None:
        """Return the table of a join or set operation, whose left sides may nest deeply."""
        chain: list[relational.Join | relational.SetOperation] = []
        rest: relational.Relation = relation
        while isinstance(rest, relational.Join | relational.SetOperation):
            chain.append(rest)
            rest = rest.left
        left = self.table(rest)
        for link in reversed(chain):
            right = self.table(link.right)
            if isinstance(link, relational.Join):
                left = self._join(link, left, right)
            else:
                left = self._set_operation(link, left, right, is_last=link is relation)
            self.updates[id(link)] = left is not None and left.is_updated
            if link is not relation:
                self._require_bounded_subqueries(link)
        return left

    def _set_operation(
        self,
        operation: relational.SetOperation,
        left: _Stream | None,
        right: _Stream | None,
        *,
        is_last: bool,
    ) -> _Stream | None:
        """Only the last set operation of a chain may remove duplicates."""
        name = operation.operator + (" ALL" if operation.all else "")
        if operation.operator != "UNION" or not (operation.all or is_last):
            _refuse(name, left or right)
        if left is None or right is None:
            _refuse(f"{name} with a bounded table", left or right)
            return None
        for operand in (left, right):
            _refuse_state(name, operand)
        stream = _Stream(left.table)
        return (
            stream
            if operation.all
            else replace(stream, state=OperatorState.DISTINCT, operation=operation)
        )

    def _join(
        self, join: relational.Join, left: _Stream | None, right: _Stream | None
    ) -> _Stream | None:
        stream = left or right
        if (snapshot := snapshot_of(join)) is not None and not is_lookup(snapshot):
            _refuse("a join FOR SYSTEM_TIME AS OF a rowtime", stream)
        if is_lateral_query(join.right):
            _refuse("LATERAL of a query", stream)
        if _has_condition_on_elements(join):
            _refuse(
                f"{_name(join)} of UNNEST or a table function with a condition", stream, ON_TRUE
            )
        if left is not None and right is not None:
            return self._interval_join(join, left, right)
        for side, allowed in zip((left, right), _SIDES[join.kind], strict=True):
            if side is not None and not allowed:
                _refuse(PRESERVES_BOUNDED.format(_name(join)), side)
        if stream is not None and stream.is_updated:
            _refuse(f"{_name(join)} of rows that are updated", stream)
        return stream

    def _interval_join(self, join: relational.Join, left: _Stream, right: _Stream) -> _Stream:
        """Join two unbounded tables; the state must be bounded."""
        name = f"{_name(join)} of two unbounded tables"
        for side in (left, right):
            if side.is_updated:
                _refuse(f"{_name(join)} of rows that are updated", side)
            _refuse_state(name, side)
        conditions = conjuncts(join.condition)
        if join.kind in INNER:
            conditions = [*conditions, *self._where]
        bounds = time_bounds(conditions, join)
        if bounds is None:
            _refuse(f"{name} without bounds of their rowtimes, whose state grows forever,", left,
                    JOIN_HINT)  # fmt: skip
        if not any(equations(conditions, join)):
            _refuse(f"{name} without an equation of their columns", left, JOIN_HINT)
        return _Stream(left.table, state=OperatorState.JOIN, operation=join, time_bounds=bounds)

    def _window(self, table: relational.WindowTable) -> _Stream | None:
        stream = self.table(table.input)
        if stream is None:
            return None
        _refuse_state(f"the window function {table.function}", stream)
        if table.function == "SESSION":
            _refuse("SESSION", stream)  # a row changes the bounds of its session
        start, end = len(table.columns) - 3, len(table.columns) - 2
        windows = (*stream.windows, table)
        return _Stream(stream.table, windows, {start: START, end: END})

    # --- blocks --------------------------------------------------------------------------------

    def _block(self, block: relational.Select) -> _Stream | None:
        ranking = first_rows(block)
        outer, self._where = self._where, () if ranking else conjuncts(block.where)
        if ranking is None:
            stream = self.table(block.source)
        else:
            stream = self._rank_stream(block.source, ranking)
        self._where = outer
        if stream is None:
            return None
        parts = [part for item in expressions_of(block) for part in subexpressions(item)]
        queries = (rows_of(part) for part in parts if isinstance(part, Subquery))
        if any(True for query in queries for _ in outer_columns(query)):
            _refuse("a correlated subquery", stream)
        if block.grouping is not None:
            stream = self._group_stream(block, stream, parts)
        elif stream.is_updated and len(conjuncts(block.where)) > (ranking is not None):
            _refuse("WHERE on rows that are updated", stream)
        if block.qualify is not None or any(map(is_windowed, parts)):
            _refuse("OVER", stream)
        stream = stream.rename_columns(items_by_reference(block))
        if not block.distinct:
            return stream
        if BOUNDS <= set(stream.bounds.values()) and stream.windows:
            _refuse("SELECT DISTINCT of windows", stream)
        _refuse_state("SELECT DISTINCT", stream)
        return replace(stream, state=OperatorState.DISTINCT, operation=block)

    def _group_stream(
        self, block: relational.Select, stream: _Stream, parts: list[Typed]
    ) -> _Stream:
        grouping = cast("relational.Grouping", block.grouping)  # it is called for such blocks
        keys = grouping.keys
        if stream.is_updated:
            _refuse("GROUP BY of rows that are updated", stream)
        if _names_window(stream, keys):
            is_aggregable = grouping.sets is None and not block.distinct and not _needs_rows(parts)
            if not is_aggregable or stream.state is not None:
                _refuse("GROUP BY a window, of its rows,", stream)
            _require_rowtime(stream)
            return replace(stream, state=OperatorState.WINDOW, operation=block)
        for key in keys:
            # such a group is returned when the window ends: it is not updated
            if isinstance(key, FunctionCall) and key.function.name in GROUP_WINDOWS:
                _refuse(f"the group window {GROUP_WINDOWS[key.function.name]}", stream)
        operation = "GROUP BY" if keys else "an aggregate without GROUP BY"
        _refuse_state(operation, stream)
        if grouping.sets is not None:
            _refuse("GROUP BY with several grouping sets", stream)
        if block.having is not None:
            _refuse("HAVING of groups that are updated", stream)
        if block.distinct or _needs_rows(parts):
            _refuse(f"{operation} with DISTINCT or a function of the user", stream)
        names = frozenset(reference(key) for key in keys)
        return replace(
            stream,
            state=OperatorState.GROUPS,
            operation=block,
            key=names,
            keys=len(names),
            bounds={},
        )

    def _rank_stream(self, source: relational.Relation | None, ranking: Ranking) -> _Stream | None:
        stream = self.table(ranking.block.source)
        call = cast("FunctionCall", ranking.block.items[ranking.rank].expression)
        if stream is None or call.over is None or _names_window(stream, call.over.partition_by):
            return self.table(source)
        _refuse_state("ROW_NUMBER", stream)
        kind = getattr(ranking.block.items[ranking.time].expression.type, "kind", None)
        if kind is TimestampKind.PROCTIME and not ranking.descending:
            state = OperatorState.FIRST
        else:
            _refuse("ROW_NUMBER by another order than the processing time", stream)
        key: frozenset[object] = frozenset(ranking.key)
        stream = _Stream(stream.table, (), {}, state, ranking.block, key, len(key), ranking)
        return stream.rename_columns(
            _names_of_source(cast("relational.Named", source))
        )  # that of `first_rows`

    def _with(self, query: relational.With) -> _Stream | None:
        depth = len(self._common)
        for table in query.tables:
            if query.recursive:
                self._common.append((table.name, None))
            stream = self.table(table.relation)
            if query.recursive:
                _refuse("WITH RECURSIVE", stream)
            self._common.append((table.name, stream))
        stream = self.table(query.input)
        del self._common[depth:]
        return stream

    def _require_bounded_subqueries(self, relation: relational.Relation | None) -> None:
        expressions: Iterable[Typed] = () if relation is None else parts_of(relation)[0]
        for expression in expressions:
            for subquery in subqueries_in(expression):
                _refuse("a subquery in an expression", self.table(rows_of(subquery)))


# --- windows --------------------------------------------------------------------------------------


def _names_of_source(source: relational.Named) -> dict[object, tuple[object, ...]]:
    """Return the alias and name of each column of a source."""
    below, names = source.input, [(source.alias, column.name) for column in source.columns]
    if isinstance(below, relational.Named):
        own = [(below.alias, column.name) for column in below.columns]
        return {old: (new,) for old, new in zip(own, names, strict=True)}
    return {place: (name,) for place, name in enumerate(names)}


def _names_window(stream: _Stream, expressions: Iterable[Typed]) -> bool:
    """Return whether columns among expressions identify a row's window."""
    parts = {stream.bounds.get(reference(expression)) for expression in expressions}
    return parts >= BOUNDS


def _needs_rows(parts: Iterable[Typed]) -> bool:
    """Return whether an aggregate is DISTINCT or a user's, which Spark's streams do not have."""
    calls = (part for part in parts if isinstance(part, FunctionCall) and is_aggregate(part))
    return any(call.symbol == "DISTINCT" or bool(call.function.path) for call in calls)


def _require_rowtime(stream: _Stream) -> None:
    for window in stream.windows:
        type_ = cast("TimestampType | LocalZonedTimestampType", window.time.type)  # resolved
        if type_.kind is not TimestampKind.ROWTIME:
            _refuse(f"{window.function} by a column that is not a rowtime", stream)


# --- what is refused ------------------------------------------------------------------------------


def name_of(relation: relational.Relation) -> str:
    """Return the name of an operation that is refused."""
    match relation:
        case relational.ProcessTable(function=name):
            return f"the function {name}"
        case relational.WindowTable(function=name):
            return f"the window function {name}"
        case relational.VectorSearch():
            return "VECTOR_SEARCH"
        case relational.Sample():
            return "TABLESAMPLE"
        case relational.Match():
            return "MATCH_RECOGNIZE"
        case relational.Sort(keys=keys):
            return "ORDER BY" if keys else "LIMIT or OFFSET"
        case _:
            return "the query"


def _name(join: relational.Join) -> str:
    return "CROSS JOIN" if join.kind is JoinKind.COMMA else join.kind.value


def is_lateral_query(right: relational.Relation) -> bool:
    """Return whether a side of a join reads the other one, except by a table function."""
    if not isinstance(right, relational.Named) or not right.lateral:
        return False
    return not isinstance(right.input, relational.Unnest | relational.FunctionTable)


def _has_condition_on_elements(join: relational.Join) -> bool:
    """Return whether a join adds only some elements of each row, which needs all rows in Spark."""
    right = join.right
    if not isinstance(right, relational.Named) or not right.lateral or join.condition is None:
        return False
    return not adds_elements(join) and any(True for _ in outer_columns(right.input))


def _refuse_state(operation: str, stream: _Stream) -> None:
    """Refuse a second operation with state (`streaming-not-supported`)."""
    if stream.state is not None:
        _refuse(f"{operation} after {stream.state.value}", stream)


def _refuse(operation: str, stream: _Stream | None, hint: str = HINT) -> None:
    """Refuse an operation on a stream; None is a bounded table (`streaming-not-supported`)."""
    if stream is not None:
        raise refusal(operation, stream.table, hint)


def refusal(operation: str, table: str, hint: str) -> UnsupportedError:
    """Return the error for an operation on an unbounded table (`streaming-not-supported`)."""
    return UnsupportedError(
        f"{operation} cannot be computed as rows arrive in the unbounded table {table}",
        code="streaming-not-supported",
        hint=hint,
    )
