"""Joins and subqueries of unbounded tables as stages.

A join is a stage with the keys that its equations give, or one without a key that reads all rows.
Those by bounds of the rowtimes, and as of a rowtime, add gates, in which rows wait.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Final, cast

from schema_core.expressions.functions import BUILT_IN
from schema_core.expressions.typed import (
    FunctionCall,
    Ref,
    Typed,
)
from schema_core.expressions.typed import Select as Subquery
from schema_core.query import relation as relational
from schema_core.query.rankings import reference
from schema_core.query.relation import (
    Item,
    Relation,
    Scan,
    conjuncts,
    is_inner,
    joins_in,
    kept_sides,
    leaves_of,
    relations_in,
    result_columns,
    rows_of,
)
from schema_core.query.temporal_joins import (
    TemporalJoin,
    is_as_of_rowtime,
    snapshot_of,
    temporal_join,
)
from schema_core.spark.compiler.translation import PREFIX
from schema_core.spark.reading.pushdown import scan_demands
from schema_core.spark.streaming.block_keys import (
    KEY,
    SubquerySources,
    equations_of,
    is_plain,
    is_ranking,
    keys_of_sources,
    lasting_filters,
    padded_aliases,
    window_calls,
    with_filter,
    with_leaves,
    with_subqueries,
)
from schema_core.spark.streaming.interval_joins import TimeBounds, time_bounds
from schema_core.spark.streaming.rowtimes import is_column_in_time
from schema_core.spark.streaming.stage_builder import AS_OF, HINT
from schema_core.spark.streaming.stage_plans import (
    RESULT,
    VERSIONS,
    Input,
    KeyColumns,
    TimeExpiry,
    scan_of,
)
from schema_core.spark.streaming.temporal_stages import (
    expiry_of,
    keys_over_table,
    rows_of_versions,
    split_temporal_joins,
    uses_of,
    with_kinds,
    with_versions,
)
from schema_core.spark.streaming.time_stages import TimeStages, place_of
from schema_core.sql.syntax import JoinKind
from schema_core.types import BooleanType

#: The name of joins of rows within bounds of the rowtimes.
INTERVAL: Final = "a join by bounds of the rowtimes"
#: Relations that Flink computes by time, or only from all rows.
OPERATORS: Final = (
    relational.ProcessTable,
    relational.WindowTable,
    relational.VectorSearch,
    relational.Sample,
    relational.Match,
)


class JoinStages(TimeStages):
    """Methods return a relation that is computed by row, after adding the stages below it."""

    @abstractmethod
    def _block(self, block: relational.Select) -> Relation:
        """Return a block by row."""

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

    def _keeps_changing(self, source: Relation) -> bool:
        """Return whether no join keeps rows of a bounded table without a match."""
        return not any(
            keeps and not self.changes(side)
            for join in joins_in(source)
            for side, keeps in zip((join.left, join.right), kept_sides(join), strict=True)
        )

    def _operand(self, operand: Relation) -> Relation:
        """Return an operand by row; the rows of bounded tables arrive with the first changes."""
        if self.changes(operand):
            return self._by_row(operand)
        scan = scan_of(result_columns(operand), RESULT)
        self._bounded.append((scan, operand))
        self.changing[id(scan)] = scan, True
        return scan

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
                self.refuse(operation_name(part), HINT)
        return self.add_stage(query, inputs, (), name, inserts=False)

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
                and self._is_time_of_rows(side, place_of(time, side.columns))
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
            column = input_.scan.columns[place_of(time, side.columns)]
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
            place_of(times[kept], sides[kept].columns),
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
        column = inputs[other].scan.columns[place_of(times[other], sides[other].columns)]
        expiry = TimeExpiry(column, max(0, waits[other] + delays[kept] + wait))
        inputs[other] = replace(inputs[other], expiry=expiry)
        new = {
            id(side): replace(side, input=inputs[place].scan) for place, side in enumerate(sides)
        }
        query = replace(block, source=with_leaves(cast("Relation", block.source), new))
        delay = max(0, sum(waits), waits[kept])
        both = [inputs[other], inputs[kept]]
        return self.add_stage(query, both, (), INTERVAL, inserts=True, drivers=(1,), delay=delay)

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
        place = place_of(temporal.time, named.columns)
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
                below, place_of(column, named.columns)
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


def operation_name(relation: relational.Relation) -> str:
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


def _is_null(typed: Typed) -> Typed:
    return FunctionCall(BUILT_IN["IS NULL"][0], (typed,), BooleanType(nullable=False))
