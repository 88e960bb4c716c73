"""Joins ``FOR SYSTEM_TIME AS OF``: what a versioned table is, and what such a join compares.

A row of the left side joins the version of the right side that was valid at its rowtime: the one
with the greatest rowtime that is not later, of the rows with the same key. Rows with a primary key
and a watermark are versions, and so are the rows that a query deduplicates by ROW_NUMBER over a
rowtime, and the changes of a table of changes with a primary key. The rules are those of Flink's
planner.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from enum import Enum
from itertools import chain
from typing import cast

from schema_core.base.lazy import NamedTuple
from schema_core.base.text import Span
from schema_core.errors import SchemaError, UnsupportedError
from schema_core.expressions.typed import Constant, FunctionCall, Ref, Typed, is_windowed, walk
from schema_core.query import relation as relational
from schema_core.query.derived_versions import (
    distinct_rows,
    first_when_arriving,
    is_rowtime,
    running_groups,
)
from schema_core.query.rankings import (
    FIRST_NUMBER,
    Ranking,
    first_numbered,
    first_rows,
    items_by_reference,
    reference,
)
from schema_core.query.relation import (
    Join,
    Named,
    Relation,
    Select,
    Snapshot,
    conjuncts,
    joins_in,
    subexpressions,
    subqueries_in,
)
from schema_core.sql.syntax import JoinKind
from schema_core.types.temporal import TimestampKind, timestamp_kind

#: The functions whose operands are the keys of a join.
EQUATIONS = frozenset({"=", "IS NOT DISTINCT FROM"})
#: How a query is written whose rows are versions.
_DEDUPLICATE = "deduplicate by ROW_NUMBER() OVER (PARTITION BY the key ORDER BY the rowtime DESC)"
#: Start of the names of columns that are conditions of versions.
_FILTER = "$filter$"
#: The kinds of joins as of a rowtime.
KINDS = frozenset({JoinKind.INNER, JoinKind.LEFT})


class Retained(Enum):
    """Which rows of a versioned table are versions, in the order of arrival."""

    ALL = "all rows"
    #: the last one of each key: a filter makes Flink remove a version when the next one arrives
    CURRENT = "the last row of each key"
    #: those whose rowtime is not before that of an earlier one of the same key
    LAST = "rows that are the last of their key when they arrive"
    #: the one with the least rowtime of each key
    FIRST = "the first row of each key"
    #: those of a group, as it was when each row arrived
    GROUPED = "all rows; a filter ends each version when the next row of its key arrives"
    #: those that were the first of a ranking when they arrived
    RANKED = "the rows that were first; a filter ends each when the next one arrives"
    #: changes: a deletion ends the version before it, a row before its update is none
    CHANGES = "all rows, of which the last column is the kind of change"


class Versions(NamedTuple):
    """The rows of a relation that are versions, with the positions of their key and rowtime.

    `rows` has the columns of the relation, and its `retained` rows are the versions. `key` is None
    without a primary key, `time` without a rowtime. The last columns of `rows`, as many as
    `filters`, are conditions that a version has to fulfil.
    """

    rows: Relation
    key: tuple[int, ...] | None
    time: int | None
    retained: Retained = Retained.ALL
    is_filtered: bool = False
    filters: int = 0


class TemporalJoin(NamedTuple):
    """A join as of a rowtime.

    `keys` are pairs of expressions over the left and right side that are equal, NULL with NULL;
    `conditions` select versions after one was found. `time` is the left side's rowtime, and
    `rowtime` the position of the right side's. `is_present` is whether `time` is that of a table,
    without an outer join that may lack the row. The last columns of `versions`, as many as
    `filters`, are conditions that a version has to fulfil.
    """

    keys: tuple[tuple[Typed, Typed], ...]
    conditions: tuple[Typed, ...]
    time: Ref
    rowtime: int
    key: tuple[int, ...]
    versions: Named
    retained: Retained
    filters: int
    is_present: bool


def snapshot_of(join: Join) -> Snapshot | None:
    """Return the right side of a join if it is read as of a time."""
    right = join.right
    if isinstance(right, Named) and isinstance(right.input, Snapshot):
        return right.input
    return None


def is_lookup(snapshot: Snapshot) -> bool:
    """Return whether a source is read as of the processing time."""
    return timestamp_kind(snapshot.period.type) is TimestampKind.PROCTIME


def is_as_of_rowtime(join: Join) -> bool:
    """Return whether the right side of a join is read as of a rowtime."""
    snapshot = snapshot_of(join)
    return snapshot is not None and not is_lookup(snapshot)


def require_kind(join: Join, snapshot: Snapshot, kinds: frozenset[JoinKind]) -> None:
    """Refuse other kinds of joins as of a time (`invalid-join`)."""
    if join.kind not in kinds:
        name = "CROSS JOIN" if join.kind is JoinKind.COMMA else join.kind.value
        raise invalid_join(
            f"{name} does not accept FOR SYSTEM_TIME AS OF",
            "write JOIN or LEFT JOIN, with the keys in ON",
            snapshot,
        )


def temporal_join(join: Join) -> TemporalJoin | None:
    """Return a join as of a rowtime; None for another join.

    Raises:
        SchemaError: `invalid-join` if Flink does not plan the join.
        UnsupportedError: `not-executable` for versions of a query that is not understood.
    """
    snapshot = snapshot_of(join)
    if snapshot is None or is_lookup(snapshot):
        return None
    right = cast("Named", join.right)
    require_kind(join, snapshot, KINDS)
    time = _left_time(join, snapshot)
    keys, conditions = _split_condition(join)
    if not keys:
        raise invalid_join(
            "a join FOR SYSTEM_TIME AS OF requires an equation of both sides' columns",
            "join by the primary key of the versioned table",
            snapshot,
        )
    if any(subqueries_in(part) for part in conditions):
        raise subquery_in_condition(snapshot)
    if any(_is_false(part) for part in conditions):
        raise invalid_join(
            "the condition of a join FOR SYSTEM_TIME AS OF is FALSE, so it compares no key",
            "remove FALSE, or read the left side without the join",
            snapshot,
        )
    versions = find_versions(snapshot.input)
    key, rowtime = _require_versions(versions, right, keys, snapshot)
    _require_same_type(time, snapshot, rowtime)
    return TemporalJoin(
        keys,
        conditions,
        time,
        rowtime,
        key,
        _with_rows(right, versions),
        versions.retained,
        versions.filters,
        _is_present(join.left, time),
    )


def invalid_join(problem: str, hint: str, snapshot: Snapshot) -> SchemaError:
    """Return the error for a join as of a time that Flink does not plan."""
    span = getattr(snapshot.period, "span", None)
    return SchemaError(
        problem,
        code="invalid-join",
        hint=hint,
        span=span if isinstance(span, Span) else None,
    )


def subquery_in_condition(snapshot: Snapshot) -> SchemaError:
    """Return the error for a subquery in the condition of a join as of a time."""
    return invalid_join(
        "the condition of a join FOR SYSTEM_TIME AS OF has a subquery",
        "write the subquery into WHERE",
        snapshot,
    )


def require_uncorrelated(block: Select) -> None:
    """Refuse correlated subqueries over a join as of a time, which Flink does not plan.

    Raises:
        SchemaError: `invalid-join`.
    """
    for join in joins_in(block.source):
        snapshot = snapshot_of(join)
        if snapshot is None:
            continue
        for expression in relational.expressions_of(block):
            for part in subqueries_in(expression):
                if any(relational.outer_columns(relational.rows_of(part))):
                    raise invalid_join(
                        "a correlated subquery reads a join FOR SYSTEM_TIME AS OF",
                        "join the rows of the subquery in place of it",
                        snapshot,
                    )


def _is_false(condition: Typed) -> bool:
    literal = condition.literal if isinstance(condition, Constant) else None
    return getattr(literal, "text", "").upper() == "FALSE"


def _left_time(join: Join, snapshot: Snapshot) -> Ref:
    time = snapshot.period
    if isinstance(time, Ref) and (time.relation, time.name) in _rowtimes(join.left):
        return time
    raise invalid_join(
        "FOR SYSTEM_TIME AS OF requires a time attribute of the left side of the join",
        "use the column of its watermark, or a column that is computed by PROCTIME()",
        snapshot,
    )


def _is_present(source: Relation, time: Typed) -> bool:
    """Return whether a column of FROM is that of a table whose row no outer join may lack."""
    if not isinstance(time, Ref):
        return False
    for join in joins_in(source):
        keeps_left, keeps_right = relational.kept_sides(join)
        padded = [*([join.right] if keeps_left else []), *([join.left] if keeps_right else [])]
        if any(named.alias == time.relation for side in padded for named in named_sources(side)):
            return False
    for named in named_sources(source):
        if named.alias == time.relation:
            place = [column.name for column in named.columns].index(time.name)
            return _is_column_present(named.input, place)
    return False


def _is_column_present(relation: Relation, place: int) -> bool:
    match relation:
        case relational.Scan(table=table):
            return bool(table.schema.watermark_specs)
        case Named(input=below) | relational.Sample(input=below) | relational.Sort(input=below):
            return _is_column_present(below, place)
        case relational.WindowTable(input=below):
            return place >= len(below.columns) or _is_column_present(below, place)
        case Select(items=items, source=source) if source is not None:
            return _is_present(source, items[place].expression)
        case _:
            return False


def _split_condition(join: Join) -> tuple[tuple[tuple[Typed, Typed], ...], tuple[Typed, ...]]:
    """Return the equated expressions of the left and right side, and the other conditions.

    If both sides are equated with a constant, too, Flink removes their equation.
    """
    keys: list[tuple[Typed, Typed]] = []
    conditions: list[Typed] = []
    parts = conjuncts(join.condition)
    constant = set(map(reference, chain.from_iterable(map(_constants, parts))))
    for part in parts:
        equated = equated_sides(part, join)
        if equated is None or {*map(reference, equated)} <= constant:
            conditions.append(part)
        else:
            keys.append(equated)
    return tuple(keys), tuple(conditions)


def _constants(condition: Typed) -> list[Typed]:
    """Return the columns that a condition equates with a constant."""
    if not isinstance(condition, FunctionCall) or condition.function.name not in EQUATIONS:
        return []
    return [
        column
        for column, other in (condition.arguments, condition.arguments[::-1])
        if isinstance(column, Ref) and not any(isinstance(part, Ref) for part in walk(other))
    ]


def equated_sides(condition: Typed, join: Join) -> tuple[Typed, Typed] | None:
    """Return what a condition equates of the left and right side of a join; None for others."""
    if not isinstance(condition, FunctionCall) or condition.function.name not in EQUATIONS:
        return None
    left, right = (
        {alias for alias, _ in relational.columns_of(side)} for side in (join.left, join.right)
    )
    first, second = condition.arguments
    sides = [aliases_in(operand) for operand in condition.arguments]
    if not all(sides) or subqueries_in(condition):
        return None
    if sides[0] <= left and sides[1] <= right:
        return first, second
    if sides[1] <= left and sides[0] <= right:
        return second, first
    return None


def aliases_in(typed: Typed) -> set[str | None]:
    """Return the aliases of the sources whose columns an expression reads."""
    return {ref.relation for ref in walk(typed) if isinstance(ref, Ref)}


def _require_versions(
    versions: Versions, right: Named, keys: tuple[tuple[Typed, Typed], ...], snapshot: Snapshot
) -> tuple[tuple[int, ...], int]:
    """Return the positions of the primary key, which the join compares, and of the rowtime."""
    name = right.alias
    if versions.key is None:
        raise invalid_join(
            f"the versioned table {name!r} has no primary key",
            f"declare PRIMARY KEY (...) NOT ENFORCED, or {_DEDUPLICATE}",
            snapshot,
        )
    if versions.time is None:
        raise invalid_join(
            f"the versioned table {name!r} has no rowtime",
            "declare a WATERMARK, and select its column",
            snapshot,
        )
    columns = [column.name for column in right.columns]
    compared = {key.name for _, key in keys if isinstance(key, Ref)}
    missing = [columns[place] for place in versions.key if columns[place] not in compared]
    if missing:
        raise invalid_join(
            f"the join does not compare the primary key of {name!r}: {', '.join(missing)}",
            "add an equation with each column of the key to ON",
            snapshot,
        )
    if len(_rowtime_positions(snapshot.input)) > 1:
        raise invalid_join(
            f"the versioned table {name!r} has several rowtimes",
            "select one rowtime, or cast the others to TIMESTAMP(3)",
            snapshot,
        )
    if versions.is_filtered:
        raise invalid_join(
            f"the versioned table {name!r} filters versions, which would show older ones again",
            "filter before ROW_NUMBER, or after the join",
            snapshot,
        )
    return versions.key, versions.time


def _require_same_type(time: Ref, snapshot: Snapshot, rowtime: int) -> None:
    types = time.type, snapshot.columns[rowtime].type
    if type(types[0]) is not type(types[1]):
        left, right = (type_.as_summary_string() for type_ in types)
        raise invalid_join(
            f"the rowtimes of a join have different types: {left} and {right}",
            "declare both watermarks on columns of one type",
            snapshot,
        )


# --- versions -------------------------------------------------------------------------------------


def find_versions(relation: Relation) -> Versions:
    """Return the versions of a relation.

    Raises:
        UnsupportedError: `not-executable` for results of queries whose versions Flink derives from
            changes of several tables, or of results that change themselves.
    """
    match relation:
        case relational.Scan(table=table):
            schema = table.schema
            names = [column.name for column in schema.columns]
            constraint = schema.primary_key
            key = None if constraint is None else tuple(map(names.index, constraint.columns))
            time = min(_rowtime_positions(relation), default=None)
            retained = Retained.CHANGES if _has_kind(relation) else Retained.ALL
            return Versions(relation, key, time, retained)
        case Named(input=below):
            versions = find_versions(below)
            return versions._replace(rows=_with_rows(relation, versions))
        case Select():
            return _versions_of_block(relation)
        case relational.Sort(input=below, fetch=None, offset=None) if _sorts_by_time(relation):
            return find_versions(below)
        case _:
            times = _rowtime_positions(relation)
            return Versions(relation, None, min(times, default=None))


def _sorts_by_time(sort: relational.Sort) -> bool:
    """Return whether rows are sorted as they arrive, which keeps the order of equal rowtimes."""
    if len(sort.keys) != 1 or sort.columns != sort.input.columns:
        return False
    value = sort.keys[0].expression
    names = {sort.columns[place].name for place in _rowtime_positions(sort.input)}
    return isinstance(value, Ref) and value.name in names and not sort.keys[0].descending


def _versions_of_block(block: Select) -> Versions:
    ranking = first_rows(block)
    if ranking is not None and ranking.time in _rowtime_positions(ranking.block):
        return _first_of_ranking(block, ranking)
    if block.qualify is not None and (ranked := _ranked_block(block)) is not None:
        return find_versions(ranked)
    if (numbered := first_numbered(block)) is not None:
        return _first_when_arriving(block, *numbered)
    if block.grouping is not None:
        return _versions_of_groups(block)
    parts = [part for item in block.items for part in subexpressions(item.expression)]
    if block.qualify or any(map(is_windowed, parts)):
        raise UnsupportedError(
            "FOR SYSTEM_TIME AS OF over OVER is not supported on Spark",
            code="not-executable",
            hint=_DEDUPLICATE,
        )
    if block.distinct:
        rows = distinct_rows(block)
        times = _rowtime_positions(block)
        return Versions(rows, tuple(range(len(block.items))), min(times, default=None))
    if isinstance(block.source, Join):
        raise UnsupportedError(
            "FOR SYSTEM_TIME AS OF over a join is not supported on Spark",
            code="not-executable",
            hint=_DEDUPLICATE,
        )
    if not isinstance(block.source, Named):
        times = _rowtime_positions(block)
        return Versions(block, None, min(times, default=None))
    below = find_versions(block.source)
    places = _places(block, block.source)
    key = below.key
    if key is not None:
        own = [places.get(place) for place in key]
        key = None if None in own else tuple(place for place in own if place is not None)
    time = None if below.time is None else places.get(below.time)
    rows = replace(block, source=below.rows)
    if below.retained is Retained.CHANGES:
        kind = below.rows.columns[-1]
        item = relational.Item(kind.name, Ref(kind.name, kind.type, block.source.alias))
        rows = replace(rows, items=(*rows.items, item))
    if below.retained in (Retained.ALL, Retained.CHANGES):
        is_filtered = below.is_filtered or (block.where is not None and below.key is not None)
        return Versions(rows, key, time, below.retained, is_filtered)
    return _filter_versions(Versions(rows, key, time, below.retained), below.key, below.filters)


def _with_rows(named: Named, versions: Versions) -> Named:
    """Return a source of versions, with their filters as further columns."""
    filters = versions.rows.columns[len(named.columns) :]
    return replace(named, input=versions.rows, columns=(*named.columns, *filters))


def _filter_versions(
    versions: Versions, key: tuple[int, ...] | None, inherited: int, number: str | None = None
) -> Versions:
    """Return the versions of a block over deduplicated rows with its filters as columns.

    A filter of the key, whose positions in the source are given, selects all versions of a key or
    none, so it stays in WHERE. A key that is compared with a constant is not one for Flink.
    `inherited` is how many filters the source has, and `number` its column of ROW_NUMBER.
    """
    block = cast("Select", versions.rows)
    source = cast("Named", block.source)
    names = {number, *(source.columns[place].name for place in key or ())}
    kept = source.columns[len(source.columns) - inherited :]
    items = [relational.Item(name, Ref(name, type_, source.alias)) for name, type_ in kept]
    parts = conjuncts(block.where)
    if any(_is_constant(part, names - {number}) for part in parts):
        versions = versions._replace(key=None)
    where = block.where
    retained = versions.retained
    if any(ref.name not in names for part in parts for ref in walk(part) if isinstance(ref, Ref)):
        items.append(relational.Item(f"{_FILTER}{inherited}", cast("Typed", where)))
        where = None
        retained = Retained.CURRENT if retained is Retained.LAST else retained
    rows = replace(block, items=(*block.items, *items), where=where)
    return versions._replace(rows=rows, retained=retained, filters=len(items))


def _is_constant(condition: Typed, names: Collection[str | None]) -> bool:
    """Return whether a condition equates one of the columns with a constant."""
    return any(isinstance(ref, Ref) and ref.name in names for ref in _constants(condition))


def _places(block: Select, source: Named) -> dict[int, int]:
    """Return the positions at which a block selects the columns of its only source."""
    names = {column.name: place for place, column in enumerate(source.columns)}
    places: dict[int, int] = {}
    for place, item in enumerate(block.items):
        expression = item.expression
        if isinstance(expression, Ref) and expression.relation == source.alias:
            places.setdefault(names[expression.name], place)
    return places


def _first_of_ranking(block: Select, ranking: Ranking) -> Versions:
    """Return the versions of rows with number 1: rows that were first when they arrived.

    In the rows that are returned each has number 1, so the block selects all of them.
    """
    source, inner = cast("Named", block.source), ranking.block
    items = list(inner.items)
    items[ranking.rank] = items[ranking.rank]._replace(expression=FIRST_NUMBER)
    rows = replace(block, source=replace(source, input=replace(inner, items=tuple(items))))
    places = _places(block, source)
    positions = [places.get(place) for place in ranking.key]
    key = None if None in positions else tuple(place for place in positions if place is not None)
    retained = Retained.LAST if ranking.descending else Retained.FIRST
    versions = Versions(rows, key, places.get(ranking.time), retained)
    return _filter_versions(versions, ranking.key, 0, source.columns[ranking.rank].name)


def _first_when_arriving(block: Select, inner: Select, rank: int) -> Versions:
    """Return the versions of rows with number 1 in another order than that of a rowtime."""
    source, number = cast("Named", block.source), inner.items[rank].expression
    if not isinstance(number, FunctionCall) or number.over is None:
        return Versions(block, None, None)
    if number.function.name != "ROW_NUMBER":  # equal rows have one number: there is no key
        return Versions(block, None, min(_rowtime_positions(block), default=None))
    over = number.over
    first = first_when_arriving(inner, source.alias, over.partition_by, over.order_by)
    shown = items_by_reference(inner)
    keys = [shown.get(reference(key), (None,))[0] for key in over.partition_by]
    places = _places(block, source)
    positions = [None if place is None else places.get(place) for place in keys]
    key = tuple(place for place in positions if place is not None)
    times = [places[place] for place in _rowtime_positions(inner) if place in places]
    versions = Versions(
        replace(block, source=first),
        key if key and None not in positions else None,
        min(times, default=None),
        Retained.RANKED,
    )
    compared = tuple(place for place in keys if place is not None)
    return _filter_versions(versions, compared, 0, source.columns[rank].name)


def _versions_of_groups(block: Select) -> Versions:
    """Return the versions of GROUP BY: a group as it was when each of its rows arrived."""
    running, having = running_groups(block)
    shown = items_by_reference(block)
    grouped = block.grouping.keys if block.grouping is not None else ()
    positions = [shown.get(reference(key), (None,))[0] for key in grouped]
    key = tuple(place for place in positions if place is not None)
    rowtimes = set() if block.source is None else _rowtimes(block.source)
    times = [
        place for place, item in enumerate(block.items) if is_rowtime(item.expression, rowtimes)
    ]
    versions = Versions(
        running,
        key if key and None not in positions else None,
        times[0] if len(times) == 1 else None,
        Retained.GROUPED,
    )
    if having is None:
        return versions
    if not any(map(is_windowed, subexpressions(having))):
        return versions._replace(rows=replace(running, where=having))
    items = (*running.items, relational.Item(f"{_FILTER}0", having))
    return versions._replace(rows=replace(running, items=items), filters=1)


def _ranked_block(block: Select) -> Select | None:
    """Return a block with QUALIFY of one condition as one that filters a number in WHERE."""
    match block.qualify:
        case FunctionCall(function=function, arguments=(FunctionCall() as number, bound)) if (
            number.over is not None and not block.grouping and not block.distinct
        ):
            keys = [*number.over.partition_by, *(key.value for key in number.over.order_by)]
        case _:
            return None
    alias, rank = "EXPR$0", "EXPR$1"
    items = list(block.items)
    for key in keys:
        if all(item.expression != key for item in items):
            items.append(relational.Item(f"{rank}_{len(items)}", key))
    items.append(relational.Item(rank, number))
    inner = replace(block, items=tuple(items), qualify=None)
    named = Named(inner, alias, inner.columns)
    condition = FunctionCall(function, (Ref(rank, number.type, alias), bound), block.qualify.type)
    outer = tuple(
        relational.Item(item.name, Ref(item.name, item.expression.type, alias))
        for item in block.items
    )
    return Select(outer, named, condition)


def scans_of_versions(query: Relation) -> Iterator[relational.Scan]:
    """Yield the scans of the tables that a query reads as of a rowtime."""
    for snapshot in _versioned(query):
        for part in relational.relations_in(snapshot.input):
            if isinstance(part, relational.Scan):
                yield part


def selected_scan(relation: Relation) -> relational.Scan | None:
    """Return the table of whose rows a relation only selects columns and filters."""
    while True:
        match relation:
            case Named(input=below):
                relation = below
            case Select(source=Named() as below) if _selects_rows(relation):
                relation = below
            case relational.Scan():
                return relation
            case _:
                return None


def _selects_rows(block: Select) -> bool:
    return not (
        block.grouping is not None
        or block.distinct
        or block.qualify is not None
        or any(map(is_windowed, chain(*(subexpressions(item.expression) for item in block.items))))
    )


def with_kinds_of_versions(
    query: Relation, kind: relational.Column, is_changed: Callable[[relational.Scan], bool]
) -> Relation:
    """Return a query whose versioned tables of changes have the kind of each change, last.

    Args:
        query: The query.
        kind: The column of the kind.
        is_changed: Whether a table is one of changes.
    """

    def with_kind(part: Relation) -> Relation | None:
        if not isinstance(part, relational.Scan):
            return None
        return replace(part, columns=(*part.columns, kind))

    def change(part: Relation) -> Relation | None:
        if not isinstance(part, Snapshot) or is_lookup(part):
            return None
        scan = selected_scan(part.input)
        if scan is None or _has_kind(scan) or not is_changed(scan):
            return None
        return replace(part, input=relational.substitute_parts(part.input, with_kind))

    return relational.substitute_parts(query, change)


def _has_kind(scan: relational.Scan) -> bool:
    """Return whether a scan has the kinds of changes as its last column."""
    return len(scan.columns) > len(scan.table.schema.columns)


def with_versions_in_place(query: Relation) -> Relation:
    """Return a query in which common tables that are read as of a rowtime are read in place."""
    reads_common = any(
        isinstance(part, relational.CommonScan)
        for snapshot in _versioned(query)
        for part in relational.relations_in(snapshot.input)
    )
    return relational.without_common_tables(query) if reads_common else query


def _versioned(query: Relation) -> Iterator[Snapshot]:
    for part in relational.relations_in(query):
        if isinstance(part, Snapshot) and not is_lookup(part):
            yield part


# --- rowtimes -------------------------------------------------------------------------------------


def _rowtimes(source: Relation) -> set[tuple[str, str]]:
    """Return the aliases and names of the rowtimes of a FROM clause."""
    return _columns_at(source, _rowtime_positions)


def _columns_at(
    source: Relation, positions: Callable[[Relation], set[int]]
) -> set[tuple[str, str]]:
    """Return the aliases and names of the columns at some positions of the sources of FROM."""
    return {
        (named.alias, named.columns[place].name)
        for named in named_sources(source)
        for place in positions(named)
    }


def _positions_of_items(
    items: Sequence[relational.Item],
    source: Relation,
    positions: Callable[[Relation], set[int]],
) -> set[int]:
    """Return the positions of items that are columns at some positions of the sources of FROM."""
    columns = _columns_at(source, positions)
    return {
        place
        for place, item in enumerate(items)
        if isinstance(item.expression, Ref)
        and (item.expression.relation, item.expression.name) in columns
    }


def _window_time_positions(relation: Relation) -> set[int]:
    """Return the positions of the rowtimes of windows, which groups have, too."""
    match relation:
        case Named(input=below):
            return _window_time_positions(below)
        case relational.WindowTable():
            return {len(relation.columns) - 1}
        case Select(items=items, source=source) if source is not None:
            return _positions_of_items(items, source, _window_time_positions)
        case _:
            return set()


def named_sources(source: Relation) -> Iterator[Named]:
    """Yield the sources of a FROM clause with an alias, in order."""
    rest = [source]
    while rest:
        match rest.pop():
            case Join(left=left, right=right):
                rest += [right, left]
            case Named() as named:
                yield named


def _rowtime_positions(relation: Relation) -> set[int]:
    """Return the positions of the columns that are rowtimes.

    In batch mode types do not mark them: they are the columns of watermarks, selected as they are.
    """
    marked = {
        place
        for place, column in enumerate(relation.columns)
        if timestamp_kind(column.type) is TimestampKind.ROWTIME
    }
    match relation:
        case relational.Scan(table=table):
            times = {spec.rowtime_attribute for spec in table.schema.watermark_specs}
            names = enumerate(column.name for column in table.schema.columns)
            return marked | {place for place, name in names if name in times}
        case (
            Named(input=below)
            | Snapshot(input=below)
            | relational.Sample(input=below)
            | relational.Sort(input=below)
        ):
            return marked | _rowtime_positions(below)
        case relational.WindowTable(input=below):
            return marked | _rowtime_positions(below) | {len(relation.columns) - 1}
        case Select(items=items, source=source) if source is not None:
            positions = _rowtime_positions
            if relation.grouping is not None:
                positions = _window_time_positions
            return marked | _positions_of_items(items, source, positions)
        case relational.SetOperation(operator="UNION", all=True, left=left, right=right):
            return marked | (_rowtime_positions(left) & _rowtime_positions(right))
        case _:
            return marked
