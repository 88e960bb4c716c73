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
from typing import Final, cast

from schema_core.base.paths import format_path
from schema_core.expressions.process_functions import (
    ArgumentTrait,
    ProcessSignature,
    process_signature,
)
from schema_core.expressions.typed import (
    FunctionCall,
    Ref,
)
from schema_core.expressions.user_functions import ProcessTableFunction
from schema_core.query import relation as relational
from schema_core.query.rankings import reference
from schema_core.query.relation import (
    Column,
    Item,
    Relation,
    Scan,
    expressions_of,
    joins_in,
    leaves_of,
    relations_in,
    result_columns,
    rows_of,
    subexpressions,
    subqueries_in,
    without_common_tables,
)
from schema_core.query.temporal_joins import (
    is_as_of_rowtime,
)
from schema_core.query.upsert_keys import upsert_keys
from schema_core.query.window_bounds import BOUNDS, WindowBound
from schema_core.spark.compiler.query import GROUP_WINDOWS
from schema_core.spark.reading.process_functions import implementation_of
from schema_core.spark.reading.row_kinds import change_query
from schema_core.spark.streaming.block_keys import (
    KEY,
    has_state,
    is_by_arrival,
    is_over_block,
    is_ranking,
    key_of,
    operation_of,
    reads_outer,
    window_calls,
    with_key,
)
from schema_core.spark.streaming.group_windows import INPUT, split_block
from schema_core.spark.streaming.incremental import (
    is_lateral_query,
    stream_plan,
)
from schema_core.spark.streaming.join_stages import JoinStages, operation_name
from schema_core.spark.streaming.stage_builder import HINT, WINDOW_AGGREGATES
from schema_core.spark.streaming.stage_plans import (
    INSERTIONS,
    KEY_NUMBER,
    KIND_OF_CHANGE,
    NEW,
    NEXT_TIMER,
    RESULT,
    TIMERS,
    AnyStage,
    Conflicts,
    Conversion,
    Gate,
    Input,
    SourceChanges,
    Stage,
    StagedQuery,
    all_columns,
    scan_of,
)
from schema_core.spark.streaming.state_retention import FOREVER
from schema_core.spark.streaming.time_stages import TIMES
from schema_core.types.temporal import TimestampKind, timestamp_kind

#: Functions between rows and changes.
CONVERSIONS: Final = ("FROM_CHANGELOG", "TO_CHANGELOG")


def staged_query(
    query: Relation,
    is_unbounded: Callable[[Scan], bool],
    changes_of: Callable[[Scan], SourceChanges] = lambda _: INSERTIONS,
    retention: timedelta = FOREVER,
    *,
    has_operators: bool = True,
    on_conflict: str | None = None,
) -> StagedQuery | None:
    """Return a query without views as stages, None without unbounded tables.

    `retention` is how long the rows of keys without changes are kept; 0 is forever.
    `has_operators` is whether Spark's own operator may compute aggregates of windows below stages.
    With `on_conflict`, rows with the same primary key are compared: see `Conflicts`.

    Raises:
        UnsupportedError: with code `streaming-not-supported` for what Flink computes in streaming
            mode by another rule than in batch mode, or not at all.
    """
    query = without_common_tables(query)
    make = partial(_Staging, is_unbounded, changes_of, retention, on_conflict)
    has_operators = has_operators and on_conflict is None
    staging = make(has_operators=has_operators)
    plan = staging.plan(query)
    if staging.returns_updated_windows:
        plan = make(has_operators=has_operators, waits=False).plan(query)
    has_gates = plan is not None and any(isinstance(stage, Gate) for stage in plan.stages)
    if plan is not None and plan.operators and (has_gates or plan.timed):
        # gates return a window a micro-batch earlier than Spark's operators
        return make(has_operators=False).plan(query)
    return plan


class _Staging(JoinStages):
    """Methods return a relation that is computed by row, after adding the stages below it."""

    def __init__(
        self,
        is_unbounded: Callable[[Scan], bool],
        changes_of: Callable[[Scan], SourceChanges],
        retention: timedelta,
        on_conflict: str | None = None,
        *,
        has_operators: bool,
        waits: bool = True,
    ) -> None:
        super().__init__(retention, waits=waits)
        #: whether rows of such windows are returned without an aggregate
        self.returns_updated_windows = False
        self._is_unbounded = is_unbounded
        self._changes_of = changes_of
        self._has_operators = has_operators
        kept = retention // timedelta(milliseconds=1)
        self._conflicts = None if on_conflict is None else Conflicts(on_conflict, kept)
        #: whether the rows of parts of the query are only added, by identity
        self._parts: dict[int, bool] = {}

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
        timed = tuple(
            place
            for place, scan in enumerate(sources)
            if (self._conflicts is not None and self._conflicts.wait) or id(scan) in self.timed
        )
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
            self._conflicts,
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
                self.refuse(operation_name(relation), HINT)
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

        Ranks and joins of windows are refused, except those of sessions, which are then not of
        windows. Of all other operations, each change of TUMBLE, HOP and CUMULATE is of the windows
        of its row, and those of a session arrive when it ends.
        """
        updated = {
            id(stage.result): stage
            for stage in self.stages
            if isinstance(stage, Gate) and not stage.input.inserts and not stage.keeps_late
        }
        read: list[tuple[AnyStage | None, Relation]] = [
            (stage, input_.rows)
            for stage in self.stages
            if not (isinstance(stage, Stage) and stage.complete and stage.name in WINDOW_AGGREGATES)
            for input_ in stage.inputs
        ]
        for stage, relation in (*read, (None, result)):
            for part in relations_in(relation):
                gate = updated.get(id(part))
                if gate is None:
                    continue
                is_of_windows = isinstance(stage, Stage) and stage.complete and stage.name != "OVER"
                if isinstance(stage, Stage) and is_of_windows and not gate.is_extended:
                    self.refuse(
                        f"{stage.name} of windows of {gate.name} whose rows are updated", HINT
                    )
                self.returns_updated_windows = True

    def _conversion(self, function: relational.ProcessTable) -> Relation:
        """Return the result of TO_CHANGELOG or FROM_CHANGELOG."""
        before = len(self.stages)
        rows = self._by_row(function.input)
        if function.function == "TO_CHANGELOG":
            return self._changes_as_rows(function.input, rows, before, function)
        if not self.inserts(rows):
            self.refuse("FROM_CHANGELOG of rows that are updated", HINT)
        return self.add_conversion(function, rows, None)

    def _changes_as_rows(
        self,
        query: Relation,
        rows: Relation,
        before: int,
        function: relational.ProcessTable | None = None,
    ) -> Relation:
        """Return the changes of a query as rows, in their order: see `Conversion`.

        `rows` is the query by row, whose stages follow the first ones, as many as `before`.
        """
        by_change = self._by_change(query, rows, self.stages[before:])
        if by_change is not None:
            rows = query if self.stages[before:] else rows
            del self.stages[before:]
            return self.add_conversion(function, rows, None, by_change)
        key = next(iter(sorted(map(sorted, upsert_keys(query)))), None)
        columns = result_columns(query)
        names = None if key is None else tuple(columns[place].name for place in key)
        return self.add_conversion(function, rows, names)

    def _process_function(
        self, table: relational.ProcessTable, call: relational.ProcessCall
    ) -> Relation:
        """Return the rows of a user's function of a table, in the order in which rows arrive.

        A stage keeps the rows of partitions, for which it calls the function again: so the state is
        what they have left. As in Flink, rows that are ordered by a rowtime wait for the watermark.
        """
        name, function = operation_name(table), implementation_of(table)
        before, signature = len(self.stages), process_signature(function)
        rows, columns = self._by_row(table.input), table.input.columns
        if not self.inserts(rows):
            self._require_updates(signature, call, name)
            rows = self._changes_as_rows(table.input, rows, before)
            call = call._replace(kind=len(columns), drops_old_rows=_is_upsert_key(table, call))
            columns = (*columns, KIND_OF_CHANGE)
        if not signature.is_set:
            return replace(table, input=rows, process=call)
        has_timers = type(function).on_timer is not ProcessTableFunction.on_timer
        has_timers = has_timers and call.time is not None  # which timers require
        by_time = call.order if call.number is None else ()
        first = [columns[place].type for place, descends, _ in by_time[:1] if not descends]
        kinds = [*map(timestamp_kind, first)]
        if by_time and (not kinds or kinds[0] not in TIMES):
            self.refuse(f"{name} with ORDER BY that does not begin with a time attribute,", HINT)
        if TimestampKind.ROWTIME in kinds:
            rows = self._wait_for(rows, by_time[0][0], name)
        alias = rows.alias if isinstance(rows, relational.Named) else INPUT
        key = [Ref(columns[place].name, columns[place].type, alias) for place in call.key]
        marks = (NEW, *TIMERS) if has_timers else (NEW,)
        input_ = self.make_input(rows, key, marks, by_arrival=True)
        if TimestampKind.PROCTIME in kinds:
            input_ = replace(input_, arrival=input_.scan.columns[by_time[0][0]])
        if has_timers:
            return self._timed_function(table, call._replace(order=by_time), rows, input_)
        width = len(call.passed)
        mark = Column(NEW.name, NEW.expression.type)
        passed = (*table.columns[:width], mark, *table.columns[width:])
        call = call._replace(order=by_time, passed=(*call.passed, len(columns)), arrives=True)
        rows = replace(table, input=input_.scan, process=call, columns=passed)
        items = [Item(own, Ref(own, type_, INPUT)) for own, type_ in (*table.columns, mark)]
        query = relational.Select(tuple(items), relational.Named(rows, INPUT, passed))
        return self.add_stage(query, [input_], (), name, inserts=True, drivers=(0,), marks=1)

    def _require_updates(
        self, signature: ProcessSignature, call: relational.ProcessCall, name: str
    ) -> None:
        """Refuse a function of rows that are updated, as Flink does."""
        if not all(ArgumentTrait.SUPPORT_UPDATES in own.traits for own in signature.tables):
            self.refuse(f"{name} of rows that are updated", "add the trait SUPPORT_UPDATES")
        if call.time is not None:
            self.refuse(f"{name} with on_time, of rows that are updated,", "leave out on_time")

    def _timed_function(
        self,
        table: relational.ProcessTable,
        call: relational.ProcessCall,
        rows: Relation,
        input_: Input,
    ) -> Relation:
        """Return the rows of a function whose timers fire by the watermark; see `_run_timers`."""
        name, columns = operation_name(table), table.input.columns
        time = columns[call.time or 0]
        if timestamp_kind(time.type) is not TimestampKind.ROWTIME:
            self.refuse(f"{name} with timers by another column than a rowtime", HINT)
        if not self.is_in_time(rows) or self.delay_of(rows):
            self.refuse(f"{name} with timers, of rows that arrive after the watermark,", HINT)
        self.timed |= self.sources_of(rows)
        first, width = len(columns), len(call.passed)
        number = Column(KEY_NUMBER.name, KEY_NUMBER.expression.type)
        more = (Column(NEW.name, NEW.expression.type), number)
        passed = (*table.columns[:width], *more, *table.columns[width:], NEXT_TIMER)
        call = call._replace(
            passed=(*call.passed, first, first + 4),
            arrives=True,
            timers=relational.TimerColumns(*range(first, first + 5)),
        )
        made = replace(table, input=input_.scan, process=call, columns=passed)
        items = [Item(own, Ref(own, type_, INPUT)) for own, type_ in (*table.columns, *more)]
        items.append(Item(NEXT_TIMER.name, Ref(*NEXT_TIMER, INPUT)))
        query = relational.Select(tuple(items), relational.Named(made, INPUT, passed))
        result = self.add_stage(query, [input_], (), name, inserts=True, drivers=(0,), marks=3)
        stage = cast("Stage", self.stages[-1])
        # timers outlive the rows of a key, which therefore do not expire
        self.stages[-1] = replace(stage, timers=time, retention=0)
        return result

    def _stateful(self, block: relational.Select) -> Relation:
        """Return the result of GROUP BY, DISTINCT or OVER over rows that are read by row."""
        if block.distinct and (block.grouping is not None or window_calls(block)):
            return self._distinct_rows(block)
        rows, block = split_block(block)
        key = key_of(block)
        named = cast("relational.Named", block.source)
        over = window_calls(block) if block.grouping is None else []
        is_ranked = block.qualify is not None and is_ranking(block)
        by_arrival = is_by_arrival(over)
        below = self._rows_by_arrival(rows, waits=is_ranked) if by_arrival else self._by_row(rows)
        is_complete = self.is_complete(replace(named, input=below), key)
        bounds = self.bounds(replace(named, input=below))
        if over and not (is_complete or is_ranked) and self._is_by_time(over, named, below):
            return self._over(block, named, below, key)
        input_ = self.make_input(below, key, by_arrival=by_arrival)
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
        is_ranked = block.where is not None and is_ranking(inner)
        by_arrival = is_by_arrival(window_calls(inner))
        below = self._rows_by_arrival(rows, waits=is_ranked) if by_arrival else self._by_row(rows)
        bounds = self.bounds(replace(source, input=below))
        is_complete = self.is_complete(replace(source, input=below), key)
        if not (is_complete or is_ranked):
            undo()
            return None  # OVER by itself, which `_stateful` computes
        input_ = self.make_input(below, key, by_arrival=by_arrival)
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


def _is_upsert_key(table: relational.ProcessTable, call: relational.ProcessCall) -> bool:
    """Return whether PARTITION BY is an upsert key: Flink then passes no row before an update.

    Unless the function has the trait REQUIRE_UPDATE_BEFORE.
    """
    tables = process_signature(implementation_of(table)).tables
    requires = any(ArgumentTrait.REQUIRE_UPDATE_BEFORE in own.traits for own in tables)
    return not requires and frozenset(call.key) in upsert_keys(table.input)


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
