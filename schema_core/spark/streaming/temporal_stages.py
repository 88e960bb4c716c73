"""Joins as of a rowtime in streaming queries: the rows of versions, and when they expire.

Each join is a stage of its own. As in Flink, of the versions of a key whose time the watermark has
passed only the last one is kept: rows that arrive in time need no earlier one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, cast

from schema_core.base.lazy import NamedTuple
from schema_core.expressions.typed import Ref, Typed, is_windowed, substitute
from schema_core.query import relation as relational
from schema_core.query.derived_tables import with_derived_table
from schema_core.query.relation import (
    Column,
    Relation,
    Scan,
    conjuncts,
    expressions_of,
    joins_in,
    subexpressions,
    subqueries_in,
)
from schema_core.query.temporal_joins import (
    Retained,
    TemporalJoin,
    is_as_of_rowtime,
    selected_scan,
)
from schema_core.spark.compiler.translation import PREFIX
from schema_core.spark.reading.pushdown import ScanDemand
from schema_core.spark.reading.row_kinds import KIND
from schema_core.spark.streaming.block_keys import is_plain, with_filter
from schema_core.spark.streaming.group_windows import ANY, INPUT
from schema_core.spark.streaming.stage_plans import RESULT, Input, VersionExpiry, scan_of
from schema_core.types import MAX_LENGTH, DataType, VarCharType

#: The last column of a scan of versions: the kind of the change that a row is.
VERSION_KIND: Final = Column(f"{PREFIX}kind", KIND.type)
#: The type in which strings are compared.
_STRING: Final = VarCharType(MAX_LENGTH)
#: Which rows can be versions later, whatever rows of their key arrive.
_EXPIRING: Final = frozenset({Retained.ALL, Retained.CHANGES, Retained.LAST, Retained.FIRST})


def split_temporal_joins(
    block: relational.Select, alias: str, *, alone: bool
) -> relational.Select | None:
    """Return a block with one of its joins as of a rowtime, or the left side of one, in a subquery.

    None if the only join of FROM is one, its left side has one source, and it may be computed with
    the clauses of the block.

    Args:
        block: A block with a join as of a rowtime.
        alias: The alias of the subquery.
        alone: Whether the join must be computed without the clauses of the block.
    """
    source = cast("relational.Join", block.source)
    join = next(
        join
        for join in joins_in(source)
        if is_as_of_rowtime(join) and not any(map(is_as_of_rowtime, joins_in(join.left)))
    )
    if not is_plain(join.left):
        return with_derived_table(block, join.left, alias)
    if join is source and not alone:
        return None
    return with_derived_table(block, join, alias)


def with_kinds(snapshot: Relation) -> tuple[Relation, Scan] | None:
    """Return a versioned table of changes with the kind of each change as its last column.

    The second value is its scan. None if it does more than select columns of one table.
    """
    scan = selected_scan(snapshot)
    if scan is None:
        return None
    new = replace(scan, columns=(*scan.columns, VERSION_KIND))
    return relational.substitute_parts(snapshot, lambda part: new if part is scan else None), new


class VersionRows(NamedTuple):
    """The rows of a versioned table as those of the only table that it reads.

    Attributes:
        scan: The table.
        columns: The columns as expressions over the table as `INPUT`; None for others.
        filters: The conditions of rows that are versions, over the table.
        is_derived: Whether the rows are numbered or grouped.
    """

    scan: Scan
    columns: tuple[Typed | None, ...]
    filters: tuple[Typed, ...] = ()
    is_derived: bool = False


def rows_of_versions(relation: Relation) -> VersionRows | None:
    """Return a versioned table in terms of the table that it reads; None if it reads several.

    Filters of numbered or grouped rows are left out.
    """
    match relation:
        case Scan():
            columns = tuple(Ref(name, type_, INPUT) for name, type_ in relation.columns)
            return VersionRows(relation, columns)
        case relational.Named(input=below) | relational.Snapshot(input=below):
            return rows_of_versions(below)
        case relational.Select(source=relational.Named() as source):
            rows = rows_of_versions(source)
            return None if rows is None else _rows_of_block(relation, source, rows)
        case _:
            return None


def _rows_of_block(
    block: relational.Select, source: relational.Named, rows: VersionRows
) -> VersionRows | None:
    below = {
        column.name: typed for column, typed in zip(source.columns, rows.columns, strict=False)
    }
    filters = list(rows.filters)
    for condition in () if rows.is_derived else conjuncts(block.where):
        typed = _over_table(condition, below)
        if typed is None:
            return None
        filters.append(typed)
    is_derived = block.grouping is not None or any(
        is_windowed(part) for typed in expressions_of(block) for part in subexpressions(typed)
    )
    columns = tuple(_over_table(item.expression, below) for item in block.items)
    return VersionRows(rows.scan, columns, tuple(filters), rows.is_derived or is_derived)


def _over_table(typed: Typed, below: dict[str, Typed | None]) -> Typed | None:
    """Return an expression over a source as one over the table that the source reads."""
    parts = list(subexpressions(typed))
    if subqueries_in(typed) or any(
        is_windowed(part) or relational.is_aggregate(part) for part in parts
    ):
        return None
    names = {part.name for part in parts if isinstance(part, Ref)}
    if any(below.get(name) is None for name in names):
        return None
    return substitute(typed, lambda part: below[part.name] if isinstance(part, Ref) else None)


def keys_over_table(temporal: TemporalJoin, rows: VersionRows) -> list[tuple[Typed, Typed]]:
    """Return the keys of a join by which its rows are found: of the left side, and of the table."""
    keys = []
    for left, right in temporal.keys:
        own = _operand_over_table(right, temporal, rows)
        # values of other types are equal where their hashes are not
        if own is not None and _comparable(left.type) == _comparable(own.type):
            keys.append((left, own))
    return keys


def _comparable(type_: DataType) -> DataType:
    return _STRING if isinstance(type_, VarCharType) else type_.nullable()


def _operand_over_table(typed: Typed, temporal: TemporalJoin, rows: VersionRows) -> Typed | None:
    """Return an operand of the right side as an expression over the versioned table.

    None if rows of the table with other values of it decide whether a row is a version.
    """
    columns = temporal.versions.columns
    places = {column.name: place for place, column in enumerate(columns)}
    read = {places[column.name] for column in _columns_in(typed)}
    is_free = temporal.retained in (Retained.ALL, Retained.CHANGES)
    if not is_free and not read <= {*temporal.key}:
        return None
    return _over_table(typed, dict(zip(places, rows.columns, strict=False)))


def expiry_of(temporal: TemporalJoin, rows: VersionRows | None) -> VersionExpiry | None:
    """Return when the versions of a join expire; None if each of them is kept.

    Those of GROUP BY and of rankings by another order than the rowtime are computed from all rows.
    """
    if rows is None or temporal.retained not in _EXPIRING or temporal.filters:
        return None
    time = rows.columns[temporal.rowtime]
    operands = [_operand_over_table(right, temporal, rows) for _, right in temporal.keys]
    if temporal.retained in (Retained.LAST, Retained.FIRST):
        operands += [rows.columns[place] for place in temporal.key]
    read = {part.name for typed in operands if typed is not None for part in _columns_in(typed)}
    if not isinstance(time, Ref) or None in operands:
        return None
    key = tuple(column.name for column in rows.scan.columns if column.name in read)
    is_first = temporal.retained is Retained.FIRST
    return VersionExpiry(key, Column(time.name, time.type), is_first=is_first)


def _columns_in(typed: Typed) -> Iterator[Ref]:
    return (part for part in subexpressions(typed) if isinstance(part, Ref))


def with_versions(
    input_: Input,
    scan: Scan,
    rows: VersionRows | None,
    expiry: VersionExpiry | None,
    demand: ScanDemand | None,
) -> Input:
    """Return an input with the rows of a versioned table that can be versions.

    It has the columns of a demand, None for all, and those by which versions expire.
    """
    below = cast("relational.Select", input_.rows)
    if demand is not None:
        read = {*demand.columns, VERSION_KIND.name}
        read |= set() if expiry is None else {*expiry.key, expiry.time.name}
        width = len(scan.columns)
        own = [item for item in below.items[:width] if item.name in read]
        below = replace(below, items=(*own, *below.items[width:]))
    for condition in () if rows is None else rows.filters:
        below = with_filter(below, condition)
    return replace(input_, scan=scan, rows=below, is_ordered=True, expiry=expiry)


def uses_of(left: Input) -> Input:
    """Return an input whose rows are the keys of new rows of the left side.

    As in Flink, the versions of a key do not expire while rows of the other side read them.
    """
    below = cast("relational.Select", left.rows)
    keys = below.items[len(left.scan.columns) :]
    scan = scan_of([Column(ANY.name, ANY.expression.type)], RESULT)
    return Input(scan, replace(below, items=(ANY, *keys)), len(keys), left.inserts, is_use=True)
