"""Queries of unbounded tables: which operations Spark computes as rows arrive, with which state.

Projections, filters, UNNEST, UNION ALL of unbounded tables and joins with bounded tables need only
the new rows. One operation may have a state (`OperatorState`). `changelog_stages` computes all
others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from enum import Enum
from typing import Final, TypeAlias, cast

from schema_core.base.lazy import dataclass
from schema_core.base.paths import format_path
from schema_core.expressions.typed import Constant, FunctionCall, Typed, is_windowed
from schema_core.expressions.typed import Select as Subquery
from schema_core.query import relation as relational
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
    kept_sides,
    outer_columns,
    parts_of,
    relations_in,
    rows_of,
    subexpressions,
    subqueries_in,
    substitute_parts,
    without_common_tables,
)
from schema_core.query.temporal_joins import is_as_of_rowtime
from schema_core.query.window_bounds import (
    BOUNDS,
    Positions,
    WindowBound,
    bounds_of_window,
    has_bounds,
)
from schema_core.spark.compiler.query import GROUP_WINDOWS
from schema_core.spark.streaming.interval_joins import (
    TimeBounds,
    TimedSide,
    equations,
    time_bounds,
    timed_join,
)
from schema_core.spark.streaming.rowtimes import is_column_in_time, is_time_of_source
from schema_core.sql.syntax import Literal, LiteralKind
from schema_core.types import BooleanType, LocalZonedTimestampType, TimestampType
from schema_core.types.temporal import TimestampKind, timestamp_kind


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


#: State -> what it keeps, and how long.
KEPT: Final[Mapping[OperatorState, str]] = {
    OperatorState.WINDOW: "groups, until the watermark passes their window",
    OperatorState.JOIN: "rows, until the watermark shows that no other row can match them",
    OperatorState.GROUPS: "groups, forever",
    OperatorState.DISTINCT: "rows, forever",
    OperatorState.FIRST: "keys, forever",
}

#: The key of a single group.
ONE_GROUP: Final = Constant(Literal(LiteralKind.BOOLEAN, "TRUE"), BooleanType(nullable=False))

#: States that are kept forever.
PERMANENT: Final = frozenset({OperatorState.GROUPS, OperatorState.DISTINCT, OperatorState.FIRST})

#: Bounds of windows by the columns' aliases and names in a source, or positions in a query.
Bounds: TypeAlias = "Mapping[object, WindowBound]"


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
    bounds: Positions = field(default_factory=dict)
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

    def describe_state(self) -> list[str]:
        """Return what is kept between micro-batches, as EXPLAIN shows it."""
        return [] if self.state is None else [f"{self.state.value}, by Spark: {KEPT[self.state]}"]

    @property
    def has_watermark(self) -> bool:
        """Whether the watermark decides which rows are returned or kept."""
        return self.state in (OperatorState.WINDOW, OperatorState.JOIN)

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
    """Return how Spark's own operators compute a query without views as rows arrive.

    None if they do not, or if it reads no unbounded table.
    """
    query = without_common_tables(query)
    try:
        stream = _StreamAnalysis(is_unbounded).table(query)
    except _NeedsStagesError:
        return None
    if stream is None or (stream.is_updated and len(stream.key) < stream.keys):
        return None
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
) -> Mapping[int, bool] | None:
    """Return whether rows of each part of a query are updated, by the part's identity.

    Parts that are computed only with the one above are left out. None if Spark's operators do not
    compute the query.
    """
    analysis = _StreamAnalysis(is_unbounded)
    try:
        analysis.table(query)
    except _NeedsStagesError:
        return None
    return analysis.updates


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
                _decline(stream)
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
                _decline(stream)
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
        if operation.operator != "UNION" or not (operation.all or is_last):
            _decline(left or right)
        if left is None or right is None:
            _decline(left or right)
            return None
        for operand in (left, right):
            _require_no_state(operand)
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
        is_by_row = not is_lateral_query(join.right) and not _has_condition_on_elements(join)
        if is_as_of_rowtime(join) or not is_by_row:
            _decline(stream)
        if left is not None and right is not None:
            return self._interval_join(join, left, right)
        # the bounded side is complete: its rows without a match may get one later
        keeps_left, keeps_right = kept_sides(join)
        if (keeps_right and left is not None) or (keeps_left and right is not None):
            raise _NeedsStagesError
        if stream is not None and stream.is_updated:
            _decline(stream)
        return stream

    def _interval_join(self, join: relational.Join, left: _Stream, right: _Stream) -> _Stream:
        """Join two unbounded tables; the state must be bounded."""
        for side in (left, right):
            _require_no_state(side)
        conditions = conjuncts(join.condition)
        if not any(kept_sides(join)):
            conditions = [*conditions, *self._where]
        bounds = time_bounds(conditions, join)
        if bounds is None or not any(equations(conditions, join)):
            raise _NeedsStagesError
        if not all(
            is_time_of_source(join, time, lambda *_: True, self._changes, otherwise=True)
            for time in (bounds.left, bounds.right)
        ):
            raise _NeedsStagesError
        return _Stream(left.table, state=OperatorState.JOIN, operation=join, time_bounds=bounds)

    def _window(self, table: relational.WindowTable) -> _Stream | None:
        stream = self.table(table.input)
        if stream is None:
            return None
        _require_no_state(stream)
        if table.function == "SESSION":
            _decline(stream)  # a row changes the bounds of its session
        place = [column.name for column in table.columns].index(table.time.name)
        if not is_column_in_time(
            table.input, place, lambda *_: True, self._changes, otherwise=True
        ):
            _decline(stream)
        windows = (*stream.windows, table)
        return _Stream(stream.table, windows, dict(bounds_of_window(table).items()))

    def _changes(self, relation: relational.Relation) -> bool:
        """Return whether a relation reads an unbounded table; common tables may."""
        return any(
            isinstance(part, relational.CommonScan)
            or (isinstance(part, relational.Scan) and self._is_unbounded(part))
            for part in relations_in(relation)
        )

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
        if block.qualify is not None:
            raise _NeedsStagesError
        parts = [part for item in expressions_of(block) for part in subexpressions(item)]
        queries = (rows_of(part) for part in parts if isinstance(part, Subquery))
        is_correlated = any(True for query in queries for _ in outer_columns(query))
        if is_correlated or any(map(is_windowed, parts)):
            raise _NeedsStagesError
        if block.grouping is not None:
            stream = self._group_stream(block, stream, parts)
        elif stream.is_updated and len(conjuncts(block.where)) > (ranking is not None):
            raise _NeedsStagesError
        stream = stream.rename_columns(items_by_reference(block))
        if not block.distinct:
            return stream
        if BOUNDS <= set(stream.bounds.values()) or stream.state is not None:
            raise _NeedsStagesError
        return replace(stream, state=OperatorState.DISTINCT, operation=block)

    def _group_stream(
        self, block: relational.Select, stream: _Stream, parts: list[Typed]
    ) -> _Stream:
        grouping = cast("relational.Grouping", block.grouping)  # it is called for such blocks
        keys = grouping.keys
        has_more = grouping.sets is not None or block.distinct or _needs_rows(parts)
        if stream.state is not None or has_more:
            raise _NeedsStagesError
        if _names_window(stream, keys):
            _require_rowtime(stream)
            return replace(stream, state=OperatorState.WINDOW, operation=block)
        # a group of a group window is returned when the window ends: it is not updated
        has_group_window = any(
            isinstance(key, FunctionCall) and key.function.name in GROUP_WINDOWS for key in keys
        )
        if has_group_window or block.having is not None:
            raise _NeedsStagesError
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
        _require_no_state(stream)
        kind = timestamp_kind(ranking.block.items[ranking.time].expression.type)
        if kind is not TimestampKind.PROCTIME or ranking.descending:
            _decline(stream)
        return _Stream(
            stream.table, state=OperatorState.FIRST, operation=ranking.block, ranking=ranking
        ).rename_columns(_names_of_source(cast("relational.Named", source)))  # of `first_rows`

    def _with(self, query: relational.With) -> _Stream | None:
        depth = len(self._common)
        for table in query.tables:
            if query.recursive:
                self._common.append((table.name, None))
            stream = self.table(table.relation)
            if query.recursive:
                _decline(stream)
            self._common.append((table.name, stream))
        stream = self.table(query.input)
        del self._common[depth:]
        return stream

    def _require_bounded_subqueries(self, relation: relational.Relation | None) -> None:
        expressions: Iterable[Typed] = () if relation is None else parts_of(relation)[0]
        for expression in expressions:
            for subquery in subqueries_in(expression):
                _decline(self.table(rows_of(subquery)))


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
    return has_bounds(stream.bounds, expressions)


def _needs_rows(parts: Iterable[Typed]) -> bool:
    """Return whether an aggregate is DISTINCT or a user's, which Spark's streams do not have."""
    calls = (part for part in parts if isinstance(part, FunctionCall) and is_aggregate(part))
    return any(call.symbol == "DISTINCT" or bool(call.function.path) for call in calls)


def _require_rowtime(stream: _Stream) -> None:
    for window in stream.windows:
        type_ = cast("TimestampType | LocalZonedTimestampType", window.time.type)  # resolved
        if type_.kind is not TimestampKind.ROWTIME:
            _decline(stream)


# --- what Spark's operators do not compute --------------------------------------------------------


class _NeedsStagesError(Exception):
    """An operation that keeps other rows than those of Spark's operators."""


def _decline(stream: _Stream | None) -> None:
    """Leave an operation on an unbounded table to stages; None is a bounded table."""
    if stream is not None:
        raise _NeedsStagesError


def _require_no_state(stream: _Stream) -> None:
    """Leave a second operation with state to stages."""
    if stream.state is not None:
        raise _NeedsStagesError


def is_lateral_query(right: relational.Relation) -> bool:
    """Return whether a side of a join reads the other one, except by a table function."""
    if not isinstance(right, relational.Named) or not right.lateral:
        return False
    computed = relational.Unnest | relational.FunctionTable | relational.Values
    return not isinstance(right.input, computed)


def _has_condition_on_elements(join: relational.Join) -> bool:
    """Return whether a join adds only some elements of each row, which needs all rows in Spark."""
    right = join.right
    if not isinstance(right, relational.Named) or not right.lateral or join.condition is None:
        return False
    return not adds_elements(join) and any(True for _ in outer_columns(right.input))
