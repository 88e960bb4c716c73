"""DELETE and UPDATE on Spark: jobs that change rows by the abilities of connectors.

A connector deletes or updates by filters itself, or receives the changed rows, or rows that replace
the parts of the table, such as files, that have a changed row. Parts are found by a first Spark
job, and read again by the one that writes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, cast

from schema_core.environment.connector import (
    ROW_LEVEL_ABILITIES,
    Ability,
    require_abilities,
    using,
)
from schema_core.environment.planner import RowChange, RowChangeKind
from schema_core.expressions.typed import Ref, Typed
from schema_core.query import relation as relational
from schema_core.query.relation import Column, conjuncts
from schema_core.spark.compiler.tree import quote
from schema_core.spark.connector import (
    Read,
    RowLevelInfo,
    RowLevelMode,
    RowLevelWrite,
    SparkConnector,
    SupportsDeletePushDown,
    SupportsRowLevelDelete,
    SupportsRowLevelUpdate,
    SupportsTruncate,
    SupportsUpdatePushDown,
    WriteContext,
    metadata_column,
    zone_of,
)
from schema_core.spark.filters import Filter
from schema_core.spark.jobs import spark_errors
from schema_core.spark.reading.pushdown import is_pushable, scan_demands
from schema_core.spark.writing.sinks import Sink
from schema_core.types import BooleanType

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame

    from schema_core.environment.jobs.graph import JobGraph
    from schema_core.environment.planner import BoundTable, PlannerContext
    from schema_core.spark.reading.reader import Reader
    from schema_core.spark.writing.sinks import Writer
    from schema_core.types import DataType


class RowChanger:
    """Prepares jobs of DELETE and UPDATE."""

    def __init__(self, context: PlannerContext, reader: Reader, writer: Writer) -> None:
        self._context = context
        self._reader = reader
        self._writer = writer

    def change(self, change: RowChange, target: BoundTable) -> JobGraph:
        """Prepare a DELETE or UPDATE: see `SupportsRowChanges.change_rows`."""
        connector = self._writer.open_sink(target)
        self._reader.validate(change.rows)  # before Spark is started
        name = f"{change.kind.value.lower()} {target.identifier.as_summary_string()}"
        context = self._writer.context(connector, target)
        pushed = self._pushed_change(change, connector, context)
        if pushed is not None:
            return self._writer.unstaged_job(name, context, pushed)
        with using(target.identifier, target.table.options, "write"):
            require_abilities(connector, [ROW_LEVEL_ABILITIES[change.kind.value]])
            info = _row_level_info(change, connector, context)
        write = RowLevelWrite(change.kind, info.mode, change.columns)
        context = replace(context, row_change=write)
        reads: list[Read] = []
        marked = self._frame(change, target, info, None, reads)

        def rows(context: WriteContext) -> tuple[DataFrame, WriteContext] | None:
            if info.group is None:
                return self._written(marked, change, target, connector, info), context
            groups = _changed_groups(marked, info.group)
            if not groups:
                return None
            found = replace(context, row_change=replace(write, groups=groups))
            frame = self._frame(change, target, info, groups, reads)
            return self._written(frame, change, target, connector, info), found

        return self._writer.row_level_job(name, connector, context, rows, reads)

    def truncate(self, target: BoundTable) -> None:
        """Delete all rows of a table."""
        connector = self._writer.open_sink(target, [Ability.TRUNCATE])
        context = self._writer.context(connector, target)
        with using(target.identifier, target.table.options, "write"), spark_errors():
            cast("SupportsTruncate", connector).execute_truncation(context)

    def _pushed_change(
        self, change: RowChange, connector: SparkConnector, context: WriteContext
    ) -> Callable[[], None] | None:
        """Return what changes the rows without a job of Spark, None if the connector cannot."""
        deletes_all = change.kind is RowChangeKind.DELETE and not change.has_condition
        if deletes_all and isinstance(connector, SupportsTruncate):
            return lambda: connector.execute_truncation(context)
        condition = cast("relational.Select", change.condition)
        expected = conjuncts(condition.where)
        demand = scan_demands(condition).get(id(_scan_of(condition)))
        filters = () if demand is None else demand.filters
        if len(filters) != len(expected) or not all(map(is_pushable, expected)):
            return None
        offered = tuple(Filter(filter_, zone_of(self._context.options)) for filter_ in filters)
        with using(context.identifier, context.options, "write"), spark_errors():
            if change.kind is RowChangeKind.DELETE:
                if isinstance(connector, SupportsDeletePushDown) and connector.apply_delete_filters(
                    offered, context
                ):
                    return lambda: connector.execute_deletion(offered, context)
                return None
            values: dict[str, Typed] = {
                name: item.expression
                for name, item in zip(change.columns, condition.items, strict=True)
            }
            if isinstance(connector, SupportsUpdatePushDown) and connector.apply_update(
                values, offered, context
            ):
                return lambda: connector.execute_update(values, offered, context)
        return None

    # --- frames --------------------------------------------------------------------------------

    def _frame(
        self,
        change: RowChange,
        target: BoundTable,
        info: RowLevelInfo,
        groups: frozenset[str] | None,
        reads: list[Read],
    ) -> DataFrame:
        """Return all rows after the change, with the part of each and whether it is changed."""
        persisted = [
            Column(column.name, column.data_type)
            for column in target.table.resolved_schema.columns
            if column.is_persisted()
        ]
        query = cast("relational.Select", change.rows)
        mark = Column(CHANGED, BooleanType())
        if info.group is None:
            return self._reader.frame(query, (*persisted, mark), reads=reads)
        grouped = _with_group(query, metadata_column(info.group), self._group_type(target, info))
        scan = _scan_of(cast("relational.Select", _input_of(grouped)))
        group = grouped.items[-1]
        demand = scan_demands(query)[id(_scan_of(cast("relational.Select", _input_of(query))))]
        frame = self._reader.frame_with_group(target, demand, info.group, groups, reads)
        targets = (*persisted, mark, Column(group.name, group.expression.type))
        return self._reader.frame(grouped, targets, reads=reads, frames={id(scan): frame})

    def _group_type(self, target: BoundTable, info: RowLevelInfo) -> DataType:
        connector = self._writer.open_sink(target)
        return connector.metadata[cast("str", info.group)]

    def _written(
        self,
        marked: DataFrame,
        change: RowChange,
        target: BoundTable,
        connector: SparkConnector,
        info: RowLevelInfo,
    ) -> DataFrame:
        """Return the rows that the connector writes, checked as those of INSERT."""
        changed = f"coalesce({quote(CHANGED)}, false)"
        if info.mode is RowLevelMode.CHANGED_ROWS:
            marked = marked.where(changed)
        elif change.kind is RowChangeKind.DELETE:
            marked = marked.where(f"NOT {changed}")
        sink = Sink(target.table.resolved_schema, None, self._context.options)
        return sink.frame(marked, connector, zone_of(self._context.options))


#: The column of a frame that marks changed rows.
CHANGED: Final = "$changed$"


def _row_level_info(
    change: RowChange, connector: SparkConnector, context: WriteContext
) -> RowLevelInfo:
    with spark_errors():
        if change.kind is RowChangeKind.DELETE:
            return cast("SupportsRowLevelDelete", connector).apply_row_level_delete(context)
        updating = cast("SupportsRowLevelUpdate", connector)
        return updating.apply_row_level_update(change.columns, context)


def _changed_groups(marked: DataFrame, key: str) -> frozenset[str]:
    """Run a job of Spark, and return the parts of the table that have a changed row."""
    name = metadata_column(key)
    rows = marked.where(quote(CHANGED)).select(quote(name)).distinct().collect()
    return frozenset(row[0] for row in rows)


def _input_of(query: relational.Select) -> relational.Relation:
    """Return the relation of which a block reads the only source."""
    return cast("relational.Named", query.source).input


def _scan_of(query: relational.Select) -> relational.Scan:
    """Return the scan of a block of one table."""
    return cast("relational.Scan", _input_of(query))


def _with_group(query: relational.Select, name: str, type_: DataType) -> relational.Select:
    """Return the rows with the part of the table that has each, in the last column."""
    inner = cast("relational.Select", _input_of(query))
    scan, column = _scan_of(inner), Column(name, type_)
    scan = replace(scan, columns=(*scan.columns, column))

    def read(named: relational.Relation | None, source: relational.Relation) -> relational.Named:
        named = cast("relational.Named", named)
        return replace(named, input=source, columns=(*named.columns, column))

    def select(block: relational.Select, source: relational.Named) -> relational.Select:
        item = relational.Item(name, Ref(name, type_, source.alias))
        return replace(block, items=(*block.items, item), source=source)

    return select(query, read(query.source, select(inner, read(inner.source, scan))))
