"""Queries of unbounded tables as stages, which maintain their results by the keys that change.

What is computed row by row (projections, filters, UNNEST, joins with bounded tables, UNION ALL) is
computed for the changes of a micro-batch alone. Every other operation becomes a `Stage`: it keeps
the rows that it reads, and for the keys of new changes its query is computed again from them. The
difference to its former result are its own changes. So a stage has the result of the batch query.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from itertools import chain
from typing import Any, Final, cast

from schema_core.base.paths import format_path
from schema_core.expressions.functions import BUILT_IN
from schema_core.expressions.process_functions import process_signature
from schema_core.expressions.typed import (
    FunctionCall,
    Ref,
    Typed,
)
from schema_core.expressions.typed import Select as Subquery
from schema_core.expressions.user_functions import ProcessTableFunction
from schema_core.query import relation as relational
from schema_core.query.rankings import reference
from schema_core.query.relation import (
    Column,
    Item,
    Relation,
    Scan,
    conjuncts,
    expressions_of,
    is_inner,
    joins_in,
    kept_sides,
    leaves_of,
    relations_in,
    result_columns,
    rows_of,
    subexpressions,
    subqueries_in,
    without_common_tables,
)
from schema_core.query.temporal_joins import (
    TemporalJoin,
    is_as_of_rowtime,
    snapshot_of,
    temporal_join,
)
from schema_core.query.upsert_keys import upsert_keys
from schema_core.query.window_bounds import BOUNDS, WindowBound, bounds_of_window
from schema_core.spark.compiler.query import GROUP_WINDOWS
from schema_core.spark.compiler.translation import PREFIX
from schema_core.spark.reading.process_functions import implementation_of
from schema_core.spark.reading.pushdown import scan_demands
from schema_core.spark.reading.row_kinds import change_query
from schema_core.spark.streaming.block_keys import (
    KEY,
    SubquerySources,
    equations_of,
    has_state,
    is_over_block,
    is_plain,
    is_ranking,
    is_so_far,
    key_of,
    keys_of_sources,
    lasting_filters,
    looks_ahead,
    operation_of,
    padded_aliases,
    reads_outer,
    time_of,
    window_calls,
    with_filter,
    with_key,
    with_leaves,
    with_subqueries,
)
from schema_core.spark.streaming.group_windows import INPUT, split_block
from schema_core.spark.streaming.incremental import (
    StreamPlan,
    is_lateral_query,
    stream_plan,
)
from schema_core.spark.streaming.interval_joins import TimeBounds, time_bounds
from schema_core.spark.streaming.rowtimes import is_column_in_time
from schema_core.spark.streaming.stage_builder import AS_OF, HINT, WINDOW_AGGREGATES, StageBuilder
from schema_core.spark.streaming.stage_plans import (
    INSERTIONS,
    NEW,
    RESULT,
    VERSIONS,
    AnyStage,
    Conversion,
    Gate,
    Input,
    KeyColumns,
    SourceChanges,
    Stage,
    StagedQuery,
    TimeExpiry,
    all_columns,
    scan_of,
)
from schema_core.spark.streaming.state_retention import FOREVER
from schema_core.spark.streaming.temporal_stages import (
    expiry_of,
    keys_over_table,
    rows_of_versions,
    split_temporal_joins,
    uses_of,
    with_kinds,
    with_versions,
)
from schema_core.sql.syntax import JoinKind
from schema_core.types import BooleanType, DataTypes
from schema_core.types.temporal import TimestampKind, timestamp_kind

#: Functions between rows and changes.
CONVERSIONS: Final = ("FROM_CHANGELOG", "TO_CHANGELOG")
#: The name of joins of rows within bounds of the rowtimes.
INTERVAL: Final = "a join by bounds of the rowtimes"
#: The kinds of time attributes.
TIMES: Final = frozenset({TimestampKind.ROWTIME, TimestampKind.PROCTIME})
#: Relations that Flink computes by time, or only from all rows.
OPERATORS: Final = (
    relational.ProcessTable,
    relational.WindowTable,
    relational.VectorSearch,
    relational.Sample,
    relational.Match,
)


def staged_query(
    query: Relation,
    is_unbounded: Callable[[Scan], bool],
    changes_of: Callable[[Scan], SourceChanges] = lambda _: INSERTIONS,
    retention: timedelta = FOREVER,
    *,
    has_operators: bool = True,
) -> StagedQuery | None:
    """Return a query without views as stages, None without unbounded tables.

    `retention` is how long the rows of keys without changes are kept; 0 is forever.
    `has_operators` is whether Spark's own operator may compute aggregates of windows below stages.

    Raises:
        UnsupportedError: with code `streaming-not-supported` for what Flink computes in streaming
            mode by another rule than in batch mode, or not at all.
    """
    query = without_common_tables(query)
    make = partial(_Staging, is_unbounded, changes_of, retention)
    staging = make(has_operators=has_operators)
    plan = staging.plan(query)
    if staging.returns_updated_windows:
        plan = make(has_operators=has_operators, waits=False).plan(query)
    if plan is not None and plan.operators and (plan.timed or plan.has_clock):
        # gates return a window a micro-batch earlier than Spark's operators
        return make(has_operators=False).plan(query)
    return plan


class _Staging(StageBuilder):
    """Methods return a relation that is computed by row, after adding the stages below it."""

    def __init__(
        self,
        is_unbounded: Callable[[Scan], bool],
        changes_of: Callable[[Scan], SourceChanges],
        retention: timedelta,
        *,
        has_operators: bool,
        waits: bool = True,
    ) -> None:
        super().__init__(retention)
        #: whether rows of windows wait if they are updated, as their aggregates require
        self._waits = waits
        #: whether rows of such windows are returned without an aggregate
        self.returns_updated_windows = False
        self._is_unbounded = is_unbounded
        self._changes_of = changes_of
        self._has_operators = has_operators
        self._operators: list[tuple[Scan, StreamPlan]] = []
        self._bounded: list[tuple[Scan, Relation]] = []
        #: the unbounded tables, and their changes by identity
        self._sources: list[Scan] = []
        self._changes: dict[int, SourceChanges] = {}
        #: positions of rowtimes of joins as of them, which return rows in time, and of columns of
        #: versions, by scan
        self._in_time: dict[int, set[int]] = {}
        self._version_times: dict[int, set[int]] = {}
        #: whether the rows of parts of the query are only added, by identity
        self._parts: dict[int, bool] = {}

    def savepoint(self) -> Callable[[], None]:
        """Return a function that removes what is added from now on."""
        lists: list[list[Any]] = [self.stages, self._operators, self._bounded, self._sources]
        lengths = [len(part) for part in lists]

        def undo() -> None:
            for part, length in zip(lists, lengths, strict=True):
                del part[length:]

        return undo

    def plan(self, query: Relation) -> StagedQuery | None:
        scans = {id(part): part for part in relations_in(query) if isinstance(part, Scan)}
        self._sources = list(filter(self._is_unbounded, scans.values()))
        if not self._sources:
            return None
        self._changes = {id(scan): self._changes_of(scan) for scan in self._sources}
        self.changing = {
            id(scan): (scan, self._changes[id(scan)].inserts) for scan in self._sources
        }
        self.table = format_path(self._sources[0].table.identifier)
        result = self._by_row(query)
        self._require_window_aggregates(result)
        read = self.sources_of(result)
        sources = tuple(scan for scan in self._sources if id(scan) in read)
        by_change = self._by_change(query, result, self.stages)
        if by_change is not None and self.stages:  # it decodes the changes itself
            result = query
            self.stages = []
        timed = tuple(place for place, scan in enumerate(sources) if id(scan) in self.timed)
        return StagedQuery(
            result,
            tuple(self.stages),
            timed,
            sources,
            tuple(self._changes[id(scan)] for scan in sources),
            by_change,
            tuple(self._operators),
            tuple(self._bounded),
            by_change is None and self.inserts(result),
            self._parts,
        )

    def _by_change(
        self, query: Relation, result: Relation, stages: Sequence[AnyStage]
    ) -> Relation | None:
        """Return a query with the kinds of its changes, if no rows are kept or joined.

        `result` is the query by row, above the stages.
        """
        read = self.sources_of(result)
        changes = {name: change for name, change in self._changes.items() if name in read}
        if not all(change.inserts or change.have_kinds for change in changes.values()):
            return None
        decodes = (isinstance(part, Conversion) and not part.inserts for part in stages)
        if stages and (self._bounded or self._operators or not all(decodes)):
            return None
        updated = {name for name, change in changes.items() if change.have_kinds}
        return change_query(query if stages else result, lambda scan: id(scan) in updated)

    # --- relations -----------------------------------------------------------------------------

    def _by_row(self, relation: Relation) -> Relation:
        result = self._by_kind(relation)
        self._parts[id(relation)] = self.inserts(result)
        return result

    def _by_kind(self, relation: Relation) -> Relation:
        """Return a relation by row, by the rule of its kind."""
        if not self.changes(relation):
            return relation
        match relation:
            case Scan():
                return relation
            case relational.Named(input=below):
                return replace(relation, input=self._by_row(below))
            case relational.Select():
                return self._block(relation)
            case relational.SetOperation():
                return self._set_operation(relation)
            case relational.Sort():
                return self._sort(relation)
            case relational.WindowTable():
                return self._window(relation)
            case relational.Match():
                return self._match(relation)
            case relational.ProcessTable(model=model) if model is not None:
                return replace(relation, input=self._by_row(relation.input))
            case relational.ProcessTable(function=name) if name in CONVERSIONS:
                return self._conversion(relation)
            case relational.ProcessTable(process=call) if call is not None:
                return self._process_function(relation, call)
            case relational.With():
                self.refuse("WITH RECURSIVE", HINT)
            case _:
                self.refuse(_name_of(relation), HINT)
        raise AssertionError(relation)

    def _block(self, block: relational.Select) -> Relation:
        by_rank = self._select_by_rank(block)
        if by_rank is not None:
            return by_rank
        if has_state(block):
            # those of WHERE are computed before the operation
            others = [typed for typed in expressions_of(block) if typed is not block.where]
            for query in (rows_of(part) for typed in others for part in subqueries_in(typed)):
                if self.changes(query) or reads_outer(query):
                    return self._from_all_rows(block, "a subquery")
        for key in () if block.grouping is None else block.grouping.keys:
            if isinstance(key, FunctionCall) and key.function.name in GROUP_WINDOWS:
                self.refuse(f"the group window {GROUP_WINDOWS[key.function.name]}", HINT)
        if has_state(block):
            operator = self._operator(block)
            return self._stateful(block) if operator is None else operator
        joins = list(joins_in(block.source))
        conditions = [join.condition for join in joins if join.condition is not None]
        if any(
            self.changes(rows_of(part)) for typed in conditions for part in subqueries_in(typed)
        ):
            return self._from_all_rows(block, "a subquery")
        queries = [
            part
            for typed in expressions_of(block)
            for part in subqueries_in(typed)
            if self.changes(rows_of(part))
        ]
        source = block.source
        if source is None:
            return self._from_all_rows(block, "a subquery")
        leaves = list(leaves_of(source))
        if any(is_as_of_rowtime(join) for join in joins):
            return self._temporal_join(block, alone=bool(queries))
        self._require_computable(block)
        if queries or sum(map(self.changes, leaves)) > 1 or not self._is_by_row(source):
            return self._join(block, source, queries)
        return replace(block, source=self._source(source))

    def _source(self, source: Relation) -> Relation:
        """Return FROM with sources by row."""
        if isinstance(source, relational.Join):
            left, right = self._source(source.left), self._source(source.right)
            return replace(source, left=left, right=right)
        return self._by_row(source)

    def _is_by_row(self, source: Relation) -> bool:
        """Return whether a row of FROM depends on one changing row only."""
        return self._keeps_changing(source) and not any(
            is_lateral_query(leaf) and self.changes(leaf) for leaf in leaves_of(source)
        )

    # --- time ----------------------------------------------------------------------------------

    def _window(self, window: relational.WindowTable) -> Relation:
        """Return the rows of windows, all of those of a window at once."""
        kind = timestamp_kind(window.time.type)
        if kind not in TIMES:
            self.refuse(f"{window.function} by a column that is not a time attribute", HINT)
        rows, is_by_clock = self._by_row(window.input), kind is TimestampKind.PROCTIME
        is_later = is_by_clock or window.function == "SESSION"
        if not (is_later or self._waits or self.inserts(rows)):
            return replace(window, input=rows)
        if not is_by_clock:
            time = _place_of(window.time, window.columns)
            self._require_time_of_rows(rows, time, window.function)
        result = self.add_gate(
            rows if is_later else replace(window, input=rows),
            len(window.columns) - 2,
            window.function,
            is_end=True,
            windows=window if is_later else None,
            arrival=_place_of(window.time, window.columns) if is_by_clock else None,
        )
        self.windows[id(result)] = bounds_of_window(window)
        return result

    def _wait_for(self, rows: Relation, place: int, name: str) -> Relation:
        """Return rows when the watermark has passed their rowtime."""
        self._require_time_of_rows(rows, place, name)
        return self.add_gate(rows, place, name, is_end=False)

    def _require_time_of_rows(self, rows: Relation, place: int, name: str) -> None:
        """Refuse to wait for the rowtime of a version, which is older than that of its row.

        A row of a bounded table is joined with rows that arrive after its rowtime, too.
        """
        if not self._is_time_of_rows(rows, place):
            self.refuse(
                f"{name} on the rowtime of a version or of a bounded table that is joined",
                "use the rowtime of the unbounded table, which is on the left side of joins FOR"
                " SYSTEM_TIME AS OF",
            )

    def _is_time_of_rows(self, rows: Relation, place: int) -> bool:
        """Return whether a rowtime is that of the rows that arrive."""
        return is_column_in_time(rows, place, self._is_time_of_result, self.changes, otherwise=True)

    def _is_time_of_result(self, scan: Scan, place: int) -> bool:
        if id(scan) in self._version_times:
            return place not in self._version_times[id(scan)]
        match next((stage for stage in self.stages if stage.result is scan), None):
            case Gate(input=input_) if place < len(input_.scan.columns):
                return self._is_time_of_rows(input_.rows, place)
            case Stage() as stage:
                return _is_time_of_inputs(stage, place, self._is_time_of_rows, otherwise=True)
            case _:
                return True

    def _operator(self, block: relational.Select) -> Scan | None:
        """Return the rows of a block that Spark's own operator of windows computes."""
        if block.grouping is None or not self._has_operators:
            return None
        plan = stream_plan(block, self._is_unbounded) if self.inserts(block) else None
        if plan is None or not plan.has_windows:
            return None
        scan = scan_of(result_columns(block), f"{RESULT}{len(self._operators)}")
        self._operators.append((scan, plan))
        self.changing[id(scan)] = scan, True
        self.windows[id(scan)] = dict(plan.bounds)
        self.times[id(scan)] = frozenset({TimestampKind.ROWTIME})
        return scan

    def _require_window_aggregates(self, result: Relation) -> None:
        """Require that the rows of windows are grouped by them if they are updated, as in Flink.

        Other operations of windows return rows that later changes would update: of those of TUMBLE,
        HOP and CUMULATE by a rowtime, each change is of the windows of its row.
        """
        updated = {
            id(stage.result): stage
            for stage in self.stages
            if isinstance(stage, Gate) and not stage.input.inserts and not stage.keeps_late
        }
        rows = [
            input_.rows
            for stage in self.stages
            if not (isinstance(stage, Stage) and stage.complete and stage.name in WINDOW_AGGREGATES)
            for input_ in stage.inputs
        ]
        for relation in (*rows, result):
            for part in relations_in(relation):
                gate = updated.get(id(part))
                if gate is not None and relation is result and gate.windows is None:
                    self.returns_updated_windows = True
                elif gate is not None:
                    self.refuse(
                        f"{gate.name} of rows that are updated, without GROUP BY of its windows,",
                        HINT,
                    )

    # --- operations ----------------------------------------------------------------------------

    def _conversion(self, function: relational.ProcessTable) -> Relation:
        """Return the result of TO_CHANGELOG or FROM_CHANGELOG."""
        before = len(self.stages)
        rows = self._by_row(function.input)
        if function.function == "TO_CHANGELOG":
            by_change = self._by_change(function.input, rows, self.stages[before:])
            if by_change is not None:
                rows = function.input if self.stages[before:] else rows
                del self.stages[before:]
                return self.add_conversion(function, rows, None, by_change)
        elif not self.inserts(rows):
            self.refuse("FROM_CHANGELOG of rows that are updated", HINT)
        key = next(iter(sorted(map(sorted, upsert_keys(function.input)))), None)
        columns = result_columns(function.input)
        names = None if key is None else tuple(columns[place].name for place in key)
        return self.add_conversion(function, rows, names)

    def _process_function(
        self, table: relational.ProcessTable, call: relational.ProcessCall
    ) -> Relation:
        """Return the rows of a user's function of a table, in the order in which rows arrive.

        A stage keeps the rows of partitions, for which it calls the function again: so the state is
        what they have left. As in Flink, rows that are ordered by a rowtime wait for the watermark.
        """
        name, function = _name_of(table), implementation_of(table)
        rows = self._by_row(table.input)
        if not self.inserts(rows):
            self.refuse(f"{name} of rows that are updated", HINT)
        if not process_signature(function).is_set:
            return replace(table, input=rows)
        if type(function).on_timer is not ProcessTableFunction.on_timer:
            self.refuse(
                f"{name}, which has timers,", "return all rows from eval, or use batch mode"
            )
        columns = table.input.columns
        by_time = call.order if call.number is None else ()
        first = [columns[place].type for place, descends, _ in by_time[:1] if not descends]
        kinds = [*map(timestamp_kind, first)]
        if by_time and (not kinds or kinds[0] not in TIMES):
            self.refuse(f"{name} with ORDER BY that does not begin with a time attribute,", HINT)
        if TimestampKind.ROWTIME in kinds:
            rows = self._wait_for(rows, by_time[0][0], name)
        alias = rows.alias if isinstance(rows, relational.Named) else INPUT
        key = [Ref(columns[place].name, columns[place].type, alias) for place in call.key]
        input_ = replace(self.make_input(rows, key, marked=True), is_ordered=True)
        if TimestampKind.PROCTIME in kinds:
            input_ = replace(input_, arrival=input_.scan.columns[by_time[0][0]])
        width = len(call.passed)
        mark = Column(NEW.name, NEW.expression.type)
        passed = (*table.columns[:width], mark, *table.columns[width:])
        call = call._replace(order=by_time, passed=(*call.passed, len(columns)), arrives=True)
        rows = replace(table, input=input_.scan, process=call, columns=passed)
        items = [Item(own, Ref(own, type_, INPUT)) for own, type_ in (*table.columns, mark)]
        query = relational.Select(tuple(items), relational.Named(rows, INPUT, passed))
        return self.add_stage(query, [input_], (), name, inserts=True, drivers=(0,), marked=True)

    def _from_all_rows(self, query: Relation, name: str) -> Relation:
        """Return the result of a stage with one key, which reads sources as they are written."""
        scans = {
            id(part): part
            for part in relations_in(query)
            if isinstance(part, Scan) and id(part) in self.changing
        }
        inputs = [Input(scan, scan, 0, self.changing[id(scan)][1]) for scan in scans.values()]
        for part in relations_in(query):
            if isinstance(part, relational.Select):
                self._require_computable(part)
                if self.changes(part):
                    self._require_no_over(part, name)
            elif isinstance(part, OPERATORS) and self.changes(part):
                self.refuse(_name_of(part), HINT)
        return self.add_stage(query, inputs, (), name, inserts=False)

    def _stateful(self, block: relational.Select) -> Relation:
        """Return the result of GROUP BY, DISTINCT or OVER over rows that are read by row."""
        if block.distinct and (block.grouping is not None or window_calls(block)):
            return self._distinct_rows(block)
        rows, block = split_block(block)
        key = key_of(block)
        named = cast("relational.Named", block.source)
        below = self._by_row(rows)
        is_complete = self.is_complete(replace(named, input=below), key)
        bounds = self.bounds(replace(named, input=below))
        over = window_calls(block) if block.grouping is None else []
        if over and not is_complete:
            is_ranked = block.qualify is not None and is_ranking(block)
            is_by_time = not is_ranked and self._is_by_time(over, named, below)
            if is_by_time and block.qualify is None:
                return self._over(block, named, below, key)
        input_ = self.make_input(below, key)
        query, places = with_key(block, key)
        query = replace(query, source=replace(named, input=input_.scan))
        is_monotone = is_complete if over else block.distinct
        inserts = input_.inserts and block.grouping is None and is_monotone
        name = operation_of(block)
        result = self.add_stage(
            query, [input_], places, name, inserts=inserts, complete=is_complete
        )
        self.note_windows(result, block, bounds if is_complete else {})
        return result

    def _over(
        self,
        block: relational.Select,
        named: relational.Named,
        below: Relation,
        key: Sequence[Typed],
    ) -> Relation:
        """Return the result of OVER: each row has its own, of rows before it."""
        place = time_of(window_calls(block)[0], named)
        if timestamp_kind(named.columns[place].type) is TimestampKind.ROWTIME:
            below = self.add_gate(below, place, "OVER", is_end=False)
        elif not self.inserts(below):
            self.refuse("OVER of rows that are updated", HINT)
        input_ = self.make_input(below, key, marked=True)
        mark = Item(NEW.name, Ref(NEW.name, NEW.expression.type, named.alias))
        columns = (*named.columns, Column(mark.name, mark.expression.type))
        source = replace(named, input=input_.scan, columns=columns)
        query = replace(block, items=(*block.items, mark), source=source)
        return self.add_stage(query, [input_], (), "OVER", inserts=True, drivers=(0,), marked=True)

    def _distinct_rows(self, block: relational.Select) -> Relation:
        """Return the distinct rows of a block with groups or OVER, in a stage of their own."""
        groups = replace(block, distinct=False)
        columns = result_columns(groups)
        items = [Item(column.name, Ref(column.name, column.type, INPUT)) for column in columns]
        named = relational.Named(groups, INPUT, columns)
        return self._block(relational.Select(tuple(items), named, distinct=True))

    def _select_by_rank(self, block: relational.Select) -> Relation | None:
        """Return the rows that a block selects by their rank, in one stage with OVER."""
        named = block.source
        if has_state(block) or not isinstance(named, relational.Named) or named.lateral:
            return None
        inner = named.input
        if not isinstance(inner, relational.Select) or not is_over_block(inner):
            return None
        if any(map(subqueries_in, [*expressions_of(block), *expressions_of(inner)])):
            return None
        rows, over = split_block(inner)
        key = key_of(over)
        source = cast("relational.Named", over.source)
        undo = self.savepoint()
        below = self._by_row(rows)
        bounds = self.bounds(replace(source, input=below))
        is_complete = self.is_complete(replace(source, input=below), key)
        if not is_complete and not (block.where is not None and is_ranking(inner)):
            undo()
            return None  # OVER by itself, which `_stateful` computes
        input_ = self.make_input(below, key)
        query, places = with_key(over, key)
        query = replace(query, source=replace(source, input=input_.scan))
        names = [column.name for column in named.columns] + [
            item.name for item in query.items[len(over.items) :]
        ]
        columns = tuple(
            Column(name, item.expression.type)
            for name, item in zip(names, query.items, strict=True)
        )
        width = len(block.items)
        items = [
            Item(f"{KEY}{number}", Ref(columns[place].name, columns[place].type, named.alias))
            for number, (place,) in enumerate(places)
        ]
        ranked = replace(
            block,
            items=(*block.items, *items),
            source=replace(named, input=query, columns=columns),
        )
        passed = tuple((width + number,) for number in range(len(items)))
        result = self.add_stage(
            ranked, [input_], passed, "ROW_NUMBER", inserts=False, complete=is_complete
        )
        parts = {
            (named.alias, column.name): bounds.get(reference(item.expression))
            for column, item in zip(columns, over.items, strict=False)
        }
        known: dict[object, WindowBound] = {
            name: part for name, part in parts.items() if part and is_complete
        }
        self.note_windows(result, block, known)
        return result

    def _join(
        self, block: relational.Select, source: Relation, queries: Sequence[Subquery]
    ) -> Relation:
        """Return the result of a join of several changing sources, or with changing subqueries."""
        name = "a subquery" if queries else "a join"
        if not queries and (waiting := self._outer_interval_join(block)) is not None:
            return waiting
        leaves = list(leaves_of(source))
        named = self._arriving_leaves(source)
        within = self._within(queries, leaves)
        if within is None or not all(map(is_plain, named)):
            return self._from_all_rows(block, name)
        sources = [leaf for leaf in named if is_plain(leaf)]
        sources += [leaf for part in within for leaf in part.sources]
        equations = [*equations_of(block), *chain(*(part.equations(block) for part in within))]
        key = keys_of_sources(
            equations,
            [leaf.alias for leaf in sources],
            only_columns=not is_inner(source),
        )
        keys = [[parts[place] for parts in key] for place in range(len(sources))]
        below = [replace(leaf, input=self._operand(leaf.input)) for leaf in sources]
        bounds = self._bounds_of_inner_join(block, below)
        inputs = [self.make_input(leaf, own) for leaf, own in zip(below, keys, strict=True)]
        is_complete = self.are_complete(below, keys)
        if bounds is not None and not within and not is_complete:
            inputs = self._with_expiry(inputs, below, bounds)
        new: dict[int, Relation] = {
            id(leaf): replace(leaf, input=input_.scan)
            for leaf, input_ in zip(sources, inputs, strict=True)
        }
        query = with_subqueries(block, {id(part.query): part.rows(new) for part in within})
        query = replace(query, source=with_leaves(source, new))
        lasting = {id(part) for part in lasting_filters(block)}
        inserts = (
            is_inner(source)
            and all(id(part.query) in lasting and not part.has_state for part in within)
            and all(input_.inserts for input_ in inputs)
        )
        drivers: tuple[int, ...] = ()
        places: KeyColumns = ()
        if inserts and not within and not is_complete:
            drivers = tuple(range(len(inputs)))
        else:
            query, places = _with_keys(query, [parts[: len(named)] for parts in key])
        result = self.add_stage(
            query,
            inputs,
            places,
            name,
            inserts=inserts,
            complete=is_complete,
            drivers=drivers,
            delay=None if within or bounds is None else bounds.delay,
        )
        if is_complete:
            self._note_windows_of_join(result, block, below)
        return result

    def _arriving_leaves(self, source: Relation) -> list[Relation]:
        """Return the sources of FROM whose rows arrive.

        Those of bounded tables that decide whether a row is returned do so with the first changes.
        """
        leaves = list(leaves_of(source))
        arrive = not self._keeps_changing(source) or not any(map(self.changes, leaves))
        return [
            leaf
            for leaf in leaves
            if self.changes(leaf)
            or (arrive and isinstance(leaf, relational.Named) and not leaf.lateral)
        ]

    def _note_windows_of_join(
        self, result: Scan, block: relational.Select, sides: Sequence[Relation]
    ) -> None:
        """Note the bounds of the windows of sides whose rows are in each row of a join."""
        padded = {alias for join in joins_in(block.source) for alias in padded_aliases(join)}
        named = [side for side in sides if cast("relational.Named", side).alias not in padded]
        bounds = {name: part for side in named for name, part in self.bounds(side).items()}
        self.note_windows(result, block, bounds)

    def _within(
        self, queries: Sequence[Subquery], leaves: Sequence[Relation]
    ) -> list[SubquerySources] | None:
        """Return the sources of subqueries; None if they or their aliases are not distinct."""
        within = []
        aliases = [leaf.alias for leaf in leaves if isinstance(leaf, relational.Named)]
        for number, query in enumerate(queries):
            part = SubquerySources.of(query, number, self.changes)
            if part is None:
                return None
            if isinstance(block := rows_of(query), relational.Select) and not part.is_source:
                self._require_computable(block)
                self._require_no_over(block, "a subquery")
            within.append(part)
            aliases += part.aliases
        return within if len(set(aliases)) == len(aliases) else None

    def _time_bounds(self, block: relational.Select) -> TimeBounds | None:
        """Return the bounds of the rowtimes of the sides of a join."""
        join = block.source
        if not isinstance(join, relational.Join):
            return None
        conditions = conjuncts(join.condition)
        if not any(kept_sides(join)):
            conditions = [*conditions, *conjuncts(block.where)]
        return time_bounds(conditions, join)

    def _have_rowtimes(self, sides: Sequence[relational.Named], bounds: TimeBounds) -> bool:
        """Return whether the sides of a join, by row, arrive with the rowtimes that have bounds."""
        return all(
            any(
                side.alias == time.relation
                and self._is_time_of_rows(side, _place_of(time, side.columns))
                for side in sides
            )
            for time in (bounds.left, bounds.right)
        )

    def _bounds_of_inner_join(
        self, block: relational.Select, sides: Sequence[relational.Named]
    ) -> TimeBounds | None:
        """Return the bounds of the rowtimes of an inner join of two sides, None without both.

        By such bounds, rows that are updated are not joined.
        """
        join, bounds = block.source, self._time_bounds(block)
        if bounds is None or not isinstance(join, relational.Join):
            return None
        if not self._have_rowtimes(sides, bounds):
            return None
        if not all(map(self.inserts, sides)):
            self.refuse(f"{INTERVAL} of rows that are updated", HINT)
        is_pair = all(
            sum(map(self.changes, leaves_of(side))) == 1 for side in (join.left, join.right)
        )
        return bounds if is_pair and is_inner(join) else None

    def _with_expiry(
        self, inputs: Sequence[Input], sides: Sequence[relational.Named], bounds: TimeBounds
    ) -> list[Input]:
        """Return the inputs of an inner join, whose rows expire if those of both sides are in time.

        A row is kept as long as rows of the other side may arrive that match it.
        """
        if not all(map(self.is_in_time, sides)):
            return [*inputs]
        expiring = []
        for side, input_ in zip(sides, inputs, strict=True):
            is_left = side.alias == bounds.left.relation
            time, wait = (bounds.left, -bounds.low) if is_left else (bounds.right, bounds.high)
            wait += max(self.delay_of(other) for other in sides if other is not side)
            column = input_.scan.columns[_place_of(time, side.columns)]
            expiring.append(replace(input_, expiry=TimeExpiry(column, max(0, wait))))
            self.timed |= self.sources_of(side)
        return expiring

    def _outer_interval_join(self, block: relational.Select) -> Relation | None:
        """Return a LEFT, RIGHT or FULL join of two changing tables by bounds of the rowtimes.

        Rows of a side that is kept wait until all of their matches have arrived.
        """
        join, bounds = block.source, self._time_bounds(block)
        if bounds is None or not isinstance(join, relational.Join) or not any(kept_sides(join)):
            return None
        sides = [side for side in (join.left, join.right) if is_plain(side) and self.changes(side)]
        if len(sides) != 2:
            return None
        undo = self.savepoint()
        rows = [replace(side, input=self._by_row(side.input)) for side in sides]
        if not all(map(self.is_in_time, rows)) or not self._have_rowtimes(rows, bounds):
            undo()
            return None
        if not all(map(self.inserts, rows)):
            self.refuse(f"{INTERVAL} of rows that are updated", HINT)
        parts: list[Relation] = []
        for kept, kind in enumerate((JoinKind.LEFT, JoinKind.RIGHT)):
            if kept_sides(join)[kept]:
                part = replace(block, source=replace(join, kind=kind))
                if parts:  # the other part has the rows with a match
                    part = with_filter(part, _is_null(bounds.left))
                parts.append(self._join_with_kept_side(part, sides, rows, bounds, kept))
        if len(parts) == 1:
            return parts[0]
        left, right = parts
        return relational.SetOperation("UNION", True, left, right, result_columns(block))

    def _join_with_kept_side(
        self,
        block: relational.Select,
        sides: Sequence[relational.Named],
        rows: Sequence[relational.Named],
        bounds: TimeBounds,
        kept: int,
    ) -> Relation:
        """Return a LEFT or RIGHT join, whose sides are `rows` by row; `kept` is that of all rows.

        Rows of the other side expire when no row that waits, or arrives in time, can match them.
        """
        other = 1 - kept
        times, waits = (bounds.left, bounds.right), (-bounds.low, bounds.high)
        keys = keys_of_sources(
            equations_of(block), [side.alias for side in sides], only_columns=True
        )
        delays = [self.delay_of(side) for side in rows]
        wait = max(0, waits[kept]) + max(0, delays[other] - delays[kept])
        gate = self.add_gate(
            rows[kept].input,
            _place_of(times[kept], sides[kept].columns),
            INTERVAL,
            is_end=False,
            keeps_late=True,
            wait=wait,
        )
        self.timed |= self.sources_of(rows[other])
        read = {kept: replace(sides[kept], input=gate), other: rows[other]}
        inputs = {
            place: self.make_input(side, [parts[place] for parts in keys])
            for place, side in read.items()
        }
        column = inputs[other].scan.columns[_place_of(times[other], sides[other].columns)]
        expiry = TimeExpiry(column, max(0, waits[other] + delays[kept] + wait))
        inputs[other] = replace(inputs[other], expiry=expiry)
        new = {
            id(side): replace(side, input=inputs[place].scan) for place, side in enumerate(sides)
        }
        query = replace(block, source=with_leaves(cast("Relation", block.source), new))
        delay = max(0, sum(waits), waits[kept])
        both = [inputs[other], inputs[kept]]
        return self.add_stage(query, both, (), INTERVAL, inserts=True, drivers=(1,), delay=delay)

    def _keeps_changing(self, source: Relation) -> bool:
        """Return whether no join keeps rows of a bounded table without a match."""
        return not any(
            keeps and not self.changes(side)
            for join in joins_in(source)
            for side, keeps in zip((join.left, join.right), kept_sides(join), strict=True)
        )

    def _set_operation(self, operation: relational.SetOperation) -> Relation:
        chain: list[relational.SetOperation] = []
        first: Relation = operation
        while isinstance(first, relational.SetOperation):
            chain.append(first)
            first = first.left
        left = self._operand(first)
        for step in reversed(chain):
            right = self._operand(step.right)
            if step.operator == "UNION" and step.all:
                left = replace(step, left=left, right=right)
            else:
                left = self._distinct_step(step, left, right)
        return left

    def _operand(self, operand: Relation) -> Relation:
        """Return an operand by row; the rows of bounded tables arrive with the first changes."""
        if self.changes(operand):
            return self._by_row(operand)
        scan = scan_of(result_columns(operand), RESULT)
        self._bounded.append((scan, operand))
        self.changing[id(scan)] = scan, True
        return scan

    def _distinct_step(
        self, step: relational.SetOperation, left: Relation, right: Relation
    ) -> Relation:
        types = [column.type.nullable() for column in step.columns]
        is_typed = all(
            [column.type.nullable() for column in side.columns] == types for side in (left, right)
        )
        inputs = []
        for side in (left, right):
            columns = result_columns(side)
            refs = [Ref(column.name, column.type, INPUT) for column in columns]
            inputs.append(self.make_input(side, refs if is_typed else ()))
        query = replace(step, left=all_columns(inputs[0].scan), right=all_columns(inputs[1].scan))
        key = tuple((place,) for place in range(len(types))) if is_typed else ()
        inserts = step.operator == "UNION" and all(input_.inserts for input_ in inputs)
        name = step.operator + (" ALL" if step.all else "")
        bounds = self.bounds_of(left), self.bounds_of(right)
        is_complete = is_typed and bounds[0] == bounds[1] and {*bounds[0].values()} >= BOUNDS
        is_complete = is_complete and len(self.times_of((left, right))) == 1
        result = self.add_stage(query, inputs, key, name, inserts=inserts, complete=is_complete)
        self.windows[id(result)] = bounds[0] if is_complete else {}
        return result

    def _sort(self, sort: relational.Sort) -> Relation:
        is_shown = all(relational.is_output(key.expression) for key in sort.keys)
        if sort.keys and sort.fetch is None and is_shown:
            return self._temporal_sort(sort)
        if sort.fetch is None and not sort.keys:
            self.refuse("OFFSET without FETCH or LIMIT", "add LIMIT")
        if is_shown:
            input_ = self.make_input(self._by_row(sort.input))
            rows = all_columns(input_.scan)
            return self.add_stage(replace(sort, input=rows), [input_], (), "LIMIT", inserts=False)
        if (shown := _with_keys_shown(sort)) is not None:
            return self._by_row(shown)
        if sort.fetch is None:
            self._refuse_order()
        return self._from_all_rows(sort, "LIMIT")

    def _temporal_sort(self, sort: relational.Sort) -> Relation:
        """Return rows in the order of a time attribute, ascending.

        Those of a rowtime wait until the watermark has passed it.
        """
        rows, first = self._by_row(sort.input), sort.keys[0]
        time, kind = first.expression, timestamp_kind(first.expression.type)
        if not isinstance(time, Ref) or kind not in TIMES or first.descending:
            self._refuse_order()
        time = cast("Ref", time)
        if kind is TimestampKind.ROWTIME:
            place = _place_of(time, result_columns(sort.input))
            rows = self._wait_for(rows, place, "ORDER BY")
        elif not self.inserts(rows):
            self.refuse("ORDER BY of rows that are updated", HINT)
        input_ = self.make_input(rows)
        query = replace(sort, input=all_columns(input_.scan))
        return self.add_stage(query, [input_], (), "ORDER BY", inserts=True, complete=True)

    def _refuse_order(self) -> None:
        self.refuse(
            "ORDER BY without FETCH or LIMIT, except by a time attribute, ascending,",
            "add LIMIT, or sort the rows where they are read",
        )

    def _match(self, match: relational.Match) -> Relation:
        """Return the matches of a pattern over rows in the order of a time attribute.

        The processing time of a row is that of the micro-batch in which it arrives. Rows with equal
        times are in the order of arrival.
        """
        named, order = match.input, match.order_by[:1]
        kinds = [timestamp_kind(key.expression.type) for key in order if not key.descending]
        if not kinds or kinds[0] not in TIMES or not is_plain(named):
            self.refuse("MATCH_RECOGNIZE that is not ordered by a time attribute, ascending,", HINT)
        named = cast("relational.Named", named)
        rows, is_by_clock = self._by_row(named), kinds[0] is TimestampKind.PROCTIME
        alias = named.alias if is_by_clock else INPUT
        if not is_by_clock:
            place = _place_of(order[0].expression, named.columns)
            rows = self._wait_for(rows, place, "MATCH_RECOGNIZE")
        elif not self.inserts(rows):
            self.refuse("MATCH_RECOGNIZE of rows that are updated", HINT)
        keys = [part for part in match.partition_by if isinstance(part, Ref)]
        input_ = self.make_input(rows, [replace(part, relation=alias) for part in keys])
        query = replace(match, input=replace(named, input=input_.scan))
        if is_by_clock:
            time = cast("Ref", order[0].expression)
            arrival = input_.scan.columns[_place_of(time, named.columns)]
            input_ = replace(input_, is_ordered=True, arrival=arrival)
            stored = replace(time, type=DataTypes.TIMESTAMP_LTZ(3).with_kind(TimestampKind.ROWTIME))
            sorted_by = (order[0]._replace(expression=stored), *match.order_by[1:])
            query = replace(query, order_by=sorted_by)
        places = tuple((place,) for place in range(len(keys)))
        return self.add_stage(query, [input_], places, "MATCH_RECOGNIZE", inserts=True)

    def _temporal_join(self, block: relational.Select, *, alone: bool) -> Relation:
        """Return a block with joins as of a rowtime, each of which is a stage.

        Rows wait until the watermark has passed their time: then all versions that are valid at
        that time have arrived. If rows are updated or late, all versions and results are kept.
        """
        alias = f"{PREFIX}derived{len(self.stages)}"
        split = split_temporal_joins(block, alias, alone=alone)
        if split is not None:
            return self._block(split)
        join = cast("relational.Join", block.source)
        named, versions = cast("relational.Named", join.left), self._versions(join)
        join = replace(join, right=versions)
        temporal = cast("TemporalJoin", temporal_join(join))
        below = self._operand(named.input)
        place = _place_of(temporal.time, named.columns)
        is_in_time = is_column_in_time(below, place, self._is_in_time, self.changes)
        rows = self.add_gate(below, place, AS_OF, is_end=False, keeps_late=True)
        table = rows_of_versions(versions)
        keys = [] if table is None else keys_over_table(temporal, table)
        updated = not self.inserts(rows)
        expiry = expiry_of(temporal, table) if is_in_time and not updated else None
        demands = scan_demands(replace(block, source=join))
        inputs = [
            with_versions(
                self.make_input(part, [own for _, own in keys]),
                part,
                table,
                expiry,
                demands.get(id(part)),
            )
            for part in relations_in(versions)
            if isinstance(part, Scan) and id(part) in self.changing
        ]
        own = [left for left, _ in keys] if inputs else []
        first = self.make_input(replace(named, input=rows), own)
        left = replace(named, input=first.scan)
        query = replace(block, source=replace(join, left=left))
        if updated:
            keyed, places = _with_keys(query, [[part] for part in own])
            result = self.add_stage(keyed, [*inputs, first], places, AS_OF, inserts=False)
        else:
            if inputs and self.retention_of(query, [*inputs, first]):
                inputs.append(uses_of(first))
            inputs.append(first)
            drivers = (len(inputs) - 1,)
            result = self.add_stage(query, inputs, (), AS_OF, inserts=True, drivers=drivers)
        self._note_times(result, block, below, is_in_time=is_in_time and not updated)
        return result

    def _note_times(
        self, result: Scan, block: relational.Select, below: Relation, *, is_in_time: bool
    ) -> None:
        """Note which columns of a join as of a rowtime are that rowtime, and which are of versions.

        `below` are the rows of the left side.
        """
        join = cast("relational.Join", block.source)
        named = cast("relational.Named", join.left)
        period = cast("relational.Snapshot", cast("relational.Named", join.right).input).period
        times, versions = set(), set()
        for number, item in enumerate(block.items):
            column = item.expression
            if not isinstance(column, Ref):
                continue
            if is_in_time and reference(column) == reference(period):
                times.add(number)
            if column.relation != named.alias or not self._is_time_of_rows(
                below, _place_of(column, named.columns)
            ):
                versions.add(number)
        self._in_time[id(result)], self._version_times[id(result)] = times, versions

    def _versions(self, join: relational.Join) -> relational.Named:
        """Return the versioned table of a join, whose changes are rows with their kind."""
        versions = cast("relational.Named", join.right)
        snapshot = cast("relational.Snapshot", versions.input)
        if not self.inserts(snapshot):
            changed = with_kinds(snapshot.input)
            if changed is None:
                self.refuse(f"{AS_OF} for a query of a table of changes", HINT)
            below, scan = cast("tuple[Relation, Scan]", changed)
            snapshot = replace(snapshot, input=below)
            versions = replace(versions, input=snapshot)
            self._sources.append(scan)
            self._changes[id(scan)] = VERSIONS
            self.changing[id(scan)] = scan, True
        self.timed |= {id(part) for part in relations_in(versions)}
        return versions

    def _is_in_time(self, scan: Scan, place: int) -> bool:
        """Return whether rows arrive before the watermark passes a column, if they are not late."""
        for operator, plan in self._operators:
            if operator is scan:
                return is_column_in_time(plan.query, place, _is_never, self.changes)
        stage = next((stage for stage in self.stages if stage.result is scan), None)
        match stage:
            case None:
                return True
            case Gate(arrival=Column()):
                return False
            case Gate(windows=None, is_end=True):
                return is_column_in_time(stage.input.rows, place, _is_never, self.changes)
            case Gate():
                time = len(scan.columns) - 1 if stage.is_end else scan.columns.index(stage.time)
                return place == time
            case Stage(complete=True):
                return _is_time_of_inputs(
                    stage,
                    place,
                    lambda rows, own: is_column_in_time(rows, own, self._is_in_time, self.changes),
                )
            case _:
                return place in self._in_time.get(id(scan), ())

    def _require_computable(self, block: relational.Select) -> None:
        """Refuse what Flink computes in streaming mode by time, not by rows."""
        for join in joins_in(block.source):
            if is_as_of_rowtime(join):
                self.refuse(
                    "FOR SYSTEM_TIME AS OF a rowtime in a subquery that is computed from all rows",
                    "join in a subquery of FROM",
                )
            if snapshot_of(join) is not None and self.changes(join.right):
                self.refuse("FOR SYSTEM_TIME AS OF PROCTIME() for an unbounded table", HINT)

    def _require_no_over(self, block: relational.Select, name: str) -> None:
        if window_calls(block) and not is_ranking(block):
            self.refuse(f"OVER together with {name}", HINT)

    def _is_by_time(
        self, calls: Sequence[FunctionCall], named: relational.Named, below: Relation
    ) -> bool:
        """Return whether calls with OVER are ordered by a time attribute of the rows `below`.

        Others are ordered by any column, up to the current row, as Flink requires in streaming
        mode: their values are updated when a row arrives before others in the order. Such a column
        is the rowtime of a version, of a bounded table that is joined, and of a join without
        windows or bounds of the rowtimes, too.
        """
        for call in calls:
            if looks_ahead(call):
                self.refuse(f"{call.function.name} OVER rows that arrive later", HINT)
        overs = [call.over for call in calls if call.over is not None]
        orders = [over.order_by for over in overs]
        kinds = {timestamp_kind(key.value.type) for order in orders for key in order[:1]}
        is_ascending = all(order and not order[0].descending for order in orders)
        if is_ascending and len(kinds) == 1 and kinds <= TIMES:
            places = {time_of(call, named) for call in calls}
            is_of_rows = len(places) == 1 and self._is_time_of_rows(below, *places)
            if is_of_rows and self.is_in_time(below):
                return True
        hint = "order by a time attribute, or select the first rows by ROW_NUMBER"
        if not is_ascending or any(len(order) > 1 for order in orders):
            self.refuse("OVER that is not ordered by one column, ascending,", hint)
        if any(over.frame is not None and not is_so_far(over.frame) for over in overs):
            self.refuse(
                "OVER of some of the rows before, which is not ordered by a time attribute,", hint
            )
        if len({(over.partition_by, over.order_by) for over in overs}) > 1:
            self.refuse("OVER several windows, which are not ordered by one time attribute,", hint)
        return False


def _name_of(relation: relational.Relation) -> str:
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


def _with_keys(
    block: relational.Select, keys: Sequence[Sequence[Typed]]
) -> tuple[relational.Select, KeyColumns]:
    """Return a block with the columns of keys, each with one for each source, and their places."""
    items, places = list(block.items), []
    for parts in keys:
        places.append(tuple(range(len(items), len(items) + len(parts))))
        items += [Item(f"{KEY}{len(items) + place}", part) for place, part in enumerate(parts)]
    return replace(block, items=tuple(items)), tuple(places)


def _with_keys_shown(sort: relational.Sort) -> relational.Select | None:
    """Return a sort whose keys are columns of its input, and the block that leaves them out again.

    None if its keys are not those of a block whose columns have distinct names.
    """
    block = sort.input
    if not isinstance(block, relational.Select) or block.distinct:
        return None
    items, keys = [item._replace(unnamed=False) for item in block.items], []
    if len({item.name for item in items}) < len(items):
        return None
    for key in sort.keys:
        column = key.expression
        if not relational.is_output(column):
            if any(isinstance(part, Ref) and not part.relation for part in subexpressions(column)):
                return None
            items.append(Item(f"{KEY}{len(items)}", column))
            column = Ref(items[-1].name, column.type)
        keys.append(key._replace(expression=column))
    below = replace(block, items=tuple(items))
    rows = replace(sort, input=below, keys=tuple(keys))
    own = result_columns(sort)
    pairs = zip(own, below.columns, strict=False)
    shown = [Item(name, Ref(column.name, column.type, INPUT)) for (name, _), column in pairs]
    return relational.Select(tuple(shown), relational.Named(rows, INPUT, below.columns))


def _place_of(column: Typed, columns: Sequence[Column]) -> int:
    """Return the position of a column by its name."""
    return [own.name for own in columns].index(cast("Ref", column).name)


def _is_null(typed: Typed) -> Typed:
    return FunctionCall(BUILT_IN["IS NULL"][0], (typed,), BooleanType(nullable=False))


def _is_never(_: Scan, __: int) -> bool:
    return False


def _is_time_of_inputs(
    stage: Stage, place: int, of_rows: Callable[[Relation, int], bool], *, otherwise: bool = False
) -> bool:
    """Return for a column of a stage whether rows arrive in time, as `of_rows` does for inputs."""
    rows = {id(input_.scan): input_.rows for input_ in stage.inputs}
    return is_column_in_time(
        stage.query,
        place,
        lambda scan, own: of_rows(rows[id(scan)], own),
        lambda part: any(id(own) in rows for own in relations_in(part)),
        otherwise=otherwise,
    )
