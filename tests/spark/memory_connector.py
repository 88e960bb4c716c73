"""A connector that keeps rows in memory, correct, and connectors that are wrong in one way each."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar

from pyspark.sql.functions import expr

from schema_core.catalog import CatalogPartitionSpec
from schema_core.connectors import (
    AggregateExpression,
    Aggregation,
    ConfigOption,
    ConnectorBase,
    DeliveryGuarantee,
    Filter,
    FilterResult,
    ReadContext,
    SortOrder,
    Stage,
    SupportsAggregatePushDown,
    SupportsFilterPushDown,
    SupportsLimitPushDown,
    SupportsOverwrite,
    SupportsPartitioning,
    SupportsPartitionPushDown,
    SupportsProjectionPushDown,
    SupportsStaging,
    SupportsTargetColumnWriting,
    SupportsTopNPushDown,
    SupportsUpsert,
    TopN,
    WriteContext,
    integer,
    metadata_column,
)
from schema_core.types import DataTypes

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from schema_core.types import DataType

Rows = list[dict[str, Any]]
STORE: dict[str, Rows] = {}
#: Place -> job -> its last micro-batch.
BATCHES: dict[str, dict[str, int]] = {}
#: Jobs of CREATE TABLE AS that have committed.
COMMITTED: set[str] = set()
LOCK = Lock()


class MemoryStage:
    """Rows that are stored when they are committed."""

    def __init__(self, connector: MemoryConnector, context: WriteContext) -> None:
        self.connector = connector
        self.context = context
        self.rows: Rows = []
        self.committed: bool | None = False

    def prepare(self) -> None:
        return None

    def commit(self) -> None:
        self.connector.store(self.rows, self.context)
        COMMITTED.add(self.context.job)
        self.committed = True

    def abort(self) -> None:
        self.rows = []


class MemoryConnector(
    ConnectorBase,
    SupportsOverwrite,
    SupportsPartitioning,
    SupportsStaging,
    SupportsUpsert,
    SupportsFilterPushDown,
    SupportsProjectionPushDown,
    SupportsLimitPushDown,
    SupportsPartitionPushDown,
    SupportsAggregatePushDown,
    SupportsTopNPushDown,
    SupportsTargetColumnWriting,
):
    """Rows of a table by its option `place`."""

    identifier = "memory"
    options = (
        ConfigOption("place", str, None, "the name of the rows", required=True),
        ConfigOption("pin", str, None, "a password", secret=True),
        ConfigOption("batch", integer, 10, "rows of a batch"),
    )
    metadata: Mapping[str, DataType] = {
        "writer": DataTypes.STRING(),
        "number": DataTypes.BIGINT().not_null(),
    }
    writable_metadata = frozenset({"writer"})

    def stored(self, context: ReadContext) -> Rows:
        rows = STORE.get(context.options["place"], [])
        number = metadata_column("number")
        return [{**row, number: place} for place, row in enumerate(rows)]

    def apply_filters(self, filters: Sequence[Filter], context: ReadContext) -> FilterResult:
        return FilterResult.of(filters, ())

    def apply_aggregates(self, aggregation: Aggregation, context: ReadContext) -> bool:
        return True

    def apply_top_n(self, top_n: TopN, context: ReadContext) -> bool:
        return True

    def list_partitions(self, context: ReadContext) -> list[CatalogPartitionSpec]:
        keys = context.table.partition_keys
        specs = {self.partition(row, keys): None for row in self.stored(context)}
        return [CatalogPartitionSpec(dict(zip(keys, values, strict=True))) for values in specs]

    def partition(self, row: Mapping[str, Any], keys: Sequence[str]) -> tuple[str, ...]:
        return tuple("__DEFAULT_PARTITION__" if row[key] is None else str(row[key]) for key in keys)

    def read(self, context: ReadContext) -> DataFrame:
        every = replace(context, projection=None, projected_fields=None, aggregation=None)
        rows = self.stored(context)
        if context.partitions is not None:
            keys = context.table.partition_keys
            read = {tuple(spec.get_partition_spec().values()) for spec in context.partitions}
            rows = [row for row in rows if self.partition(row, keys) in read]
        frame = context.filter_rows(every.frame(rows))
        if context.aggregation is not None:
            return self.aggregate(frame, context.aggregation, context)
        if context.top_n is not None:
            order = [self.sort_key(key) for key in context.top_n.order]
            frame = frame.orderBy(*order).limit(context.top_n.limit)
        return context.project_columns(frame)

    def supports_nested_projection(self, context: ReadContext) -> bool:
        return True

    def aggregate(
        self, frame: DataFrame, aggregation: Aggregation, context: ReadContext
    ) -> DataFrame:
        types = {field.name: field.dataType.simpleString() for field in context.spark_schema.fields}
        calls = [
            f"CAST({self.call(call)} AS {types[call.name]}) AS `{call.name}`"
            for call in aggregation.aggregates
        ]
        keys = [f"{self.key(name, types[name])} AS `{name}`" for name in aggregation.keys]
        for name, type_ in context.physical_columns.items():
            if not type_.is_nullable:
                problem = f"column '{name}' is NOT NULL but received NULL"
                checked = f'coalesce(`{name}`, raise_error("{problem}"))'
                frame = frame.withColumn(name, expr(checked))
        frame = frame.selectExpr("*", *(key.replace(" AS `", " AS `key ") for key in keys))
        shown = [f"`key {name}` AS `{name}`" for name in aggregation.keys]
        counted = [expr(call) for call in calls or ["COUNT(*)"]]
        grouped = frame.groupBy(*(f"key {name}" for name in aggregation.keys)).agg(*counted)
        return grouped.selectExpr(*shown, *(f"`{call.name}`" for call in aggregation.aggregates))

    def key(self, name: str, type_: str) -> str:
        return f"`{name}`"

    def sort_key(self, key: SortOrder) -> Column:
        column = expr(f"`{key.column}`")
        if key.descending:
            return column.desc_nulls_last() if key.nulls_last else column.desc_nulls_first()
        return column.asc_nulls_last() if key.nulls_last else column.asc_nulls_first()

    def call(self, call: AggregateExpression) -> str:
        return f"{call.function}({'*' if call.column is None else f'`{call.column}`'})"

    def stage(self, context: WriteContext) -> Stage:
        return MemoryStage(self, context)

    def write(self, frame: DataFrame, context: WriteContext) -> None:
        names = frame.columns
        rows = [dict(zip(names, row, strict=True)) for row in frame.collect()]
        assert isinstance(context.stage, MemoryStage)
        context.stage.rows = rows

    def delivery_guarantee(self, options: Mapping[str, str]) -> DeliveryGuarantee:
        return DeliveryGuarantee.EXACTLY_ONCE

    def last_batch(self, context: WriteContext, job: str) -> int | None:
        return BATCHES.get(context.options["place"], {}).get(job)

    def was_committed(self, context: WriteContext, job: str) -> bool:
        return job in COMMITTED

    def recover(self, context: WriteContext) -> None:
        return None

    def is_repeated(self, context: WriteContext) -> bool:
        """Record a micro-batch; return whether it is stored already."""
        if context.batch is None:
            return False
        batches = BATCHES.setdefault(context.options["place"], {})
        last = batches.get(context.batch.job, -1)
        batches[context.batch.job] = max(last, context.batch.number)
        return context.batch.number <= last

    def store(self, rows: Rows, context: WriteContext) -> None:
        with LOCK:
            place = context.options["place"]
            if self.is_repeated(context):
                return
            STORE[place] = [
                *self.kept(STORE.get(place, []), rows, context),
                *self.new(rows, context),
            ]

    def new(self, rows: Rows, context: WriteContext) -> Rows:
        key = context.upsert_key
        if not key:
            return rows
        old = {_values(row, key): row for row in STORE.get(context.options["place"], [])}
        every = {_values(row, key): row for row in rows}
        return [self.merge(old.get(place, {}), row, context) for place, row in every.items()]

    def merge(
        self, old: dict[str, Any], row: dict[str, Any], context: WriteContext
    ) -> dict[str, Any]:
        named = context.target_columns
        return row if named is None or not old else {**old, **{name: row[name] for name in named}}

    def kept(self, old: Rows, rows: Rows, context: WriteContext) -> Rows:
        if context.overwrite:
            keys = context.table.partition_keys
            if not keys:
                return []
            replaced = {_values(row, keys) for row in rows}
            return [row for row in old if _values(row, keys) not in replaced]
        key = context.upsert_key
        new = {_values(row, key) for row in rows}
        return [row for row in old if _values(row, key) not in new] if key else old


def _values(row: Mapping[str, Any], names: Sequence[str]) -> tuple[Any, ...]:
    return tuple(row[name] for name in names)


# --- wrong connectors ----------------------------------------------------------------------------


class DropsEmptyStrings(MemoryConnector):
    def stored(self, context: ReadContext) -> Rows:
        rows = super().stored(context)
        return [{key: None if value == "" else value for key, value in row.items()} for row in rows]


class TruncatesTimes(MemoryConnector):
    def stored(self, context: ReadContext) -> Rows:
        return [
            {
                k: v.replace(microsecond=0) if hasattr(v, "microsecond") else v
                for k, v in row.items()
            }
            for row in super().stored(context)
        ]


class FailsForTimes(MemoryConnector):
    def new(self, rows: Rows, context: WriteContext) -> Rows:
        if any(isinstance(value, datetime) for row in rows for value in row.values()):
            raise ValueError("no times")
        return super().new(rows, context)


class ReadsByPosition(MemoryConnector):
    def stored(self, context: ReadContext) -> Rows:
        names = list(context.physical_columns)
        keys = [metadata_column(item) for item in self.metadata]
        return [
            {**dict(zip(names, row.values(), strict=False)), **{k: row.get(k) for k in keys}}
            for row in super().stored(context)
        ]


class ReadsNamesAsPaths(MemoryConnector):
    def read(self, context: ReadContext) -> DataFrame:
        every = replace(context, projection=None)
        frame = context.filter_rows(every.frame(self.stored(context)))
        return frame.select(context.spark_schema.names)


class HasOneEmptyRow(MemoryConnector):
    def stored(self, context: ReadContext) -> Rows:
        return super().stored(context) or [{metadata_column("number"): 0}]


class ReportsNoNull(MemoryConnector):
    def read_with_statistics(self, context: ReadContext) -> tuple[DataFrame, Collection[str]]:
        return self.read(context), list(context.columns)


class LacksMetadata(MemoryConnector):
    def stored(self, context: ReadContext) -> Rows:
        return [{**row, metadata_column("number"): None} for row in super().stored(context)]


class ForgetsMetadata(MemoryConnector):
    def new(self, rows: Rows, context: WriteContext) -> Rows:
        for row in rows:
            row.pop(metadata_column("writer"), None)
        return super().new(rows, context)


class KeepsTheLastJob(MemoryConnector):
    def kept(self, old: Rows, rows: Rows, context: WriteContext) -> Rows:
        partial = context.overwrite or context.upsert_key or not rows
        return super().kept(old, rows, context) if partial else old[-1:]


class ConsumesRows(MemoryConnector):
    def stored(self, context: ReadContext) -> Rows:
        rows = super().stored(context)
        if len(rows) > 6:
            STORE[context.options["place"]] = []
        return rows


class AppendsAlways(MemoryConnector):
    def kept(self, old: Rows, rows: Rows, context: WriteContext) -> Rows:
        return old if not context.table.partition_keys else super().kept(old, rows, context)

    def new(self, rows: Rows, context: WriteContext) -> Rows:
        if context.upsert_key:
            STORE[context.options["place"]] = MemoryConnector.kept(
                self, STORE.get(context.options["place"], []), rows, context
            )
        return super().new(rows, context)


class OverwritesAllPartitions(MemoryConnector):
    def kept(self, old: Rows, rows: Rows, context: WriteContext) -> Rows:
        return [] if context.overwrite else super().kept(old, rows, context)


class IgnoresKeys(MemoryConnector):
    def kept(self, old: Rows, rows: Rows, context: WriteContext) -> Rows:
        return old if context.upsert_key else super().kept(old, rows, context)


class KeepsRowsOfOneKey(MemoryConnector):
    def new(self, rows: Rows, context: WriteContext) -> Rows:
        return rows


class DeletesEarly(MemoryConnector):
    def stage(self, context: WriteContext) -> Stage:
        if context.overwrite and not context.table.partition_keys:
            STORE[context.options["place"]] = []
        return super().stage(context)


class PublishesEarly(MemoryConnector):
    def write(self, frame: DataFrame, context: WriteContext) -> None:
        super().write(frame, context)
        assert isinstance(context.stage, MemoryStage)
        self.store(context.stage.rows, context)
        context.stage.rows = []

    def kept(self, old: Rows, rows: Rows, context: WriteContext) -> Rows:
        return super().kept(old, rows, context) if rows or not context.overwrite else []


class FiltersTooMuch(MemoryConnector):
    def read(self, context: ReadContext) -> DataFrame:
        frame = super().read(replace(context, projection=None))
        for filter_ in context.filters:
            result = filter_.comparison
            if result and result.operator == "<=" and result.column == "n":
                frame = frame.where(frame[result.column] < result.value)
        return frame


class LimitsBeforeFilters(MemoryConnector):
    def stored(self, context: ReadContext) -> Rows:
        return super().stored(context)[: context.limit]


class NeedsAnOptionalOption(MemoryConnector):
    def read(self, context: ReadContext) -> DataFrame:
        int(context.options["batch"])
        return super().read(context)


class DeclaresNoSecret(MemoryConnector):
    options = (
        MemoryConnector.options[0],
        ConfigOption("pin", str, None, "a password"),
        MemoryConnector.options[2],
    )


class ReadsNullAsZero(MemoryConnector):
    def stored(self, context: ReadContext) -> Rows:
        return [
            {key: 0 if value is None and key == "c0" else value for key, value in row.items()}
            for row in super().stored(context)
        ]


class ReadsAnotherType(MemoryConnector):
    def read(self, context: ReadContext) -> DataFrame:
        frame = super().read(context)
        return frame.select([frame[f"`{name}`"].cast("string") for name in frame.columns])


class SendsALock(MemoryConnector):
    def read(self, context: ReadContext) -> DataFrame:
        rows, names = self.stored(context), context.spark_schema.names

        def read_rows(number: int) -> list[tuple[Any, ...]]:
            with LOCK:
                return [tuple(row.get(name) for name in names) for row in rows]

        return context.filter_rows(context.read_partitions([0], read_rows))


class IgnoresFilters(MemoryConnector):
    def read(self, context: ReadContext) -> DataFrame:
        return super().read(replace(context, filters=()))


class IgnoresFields(MemoryConnector):
    def read(self, context: ReadContext) -> DataFrame:
        return super().read(replace(context, projected_fields=None))


class MixesUpFields(MemoryConnector):
    def read(self, context: ReadContext) -> DataFrame:
        other = {"a": "b", "b": "a"}
        paths = tuple(
            (name, *(other.get(part, part) for part in path))
            for name, *path in context.projected_fields or ()
        )
        frame = super().read(replace(context, projected_fields=paths))
        fields = context.spark_schema.fields
        return frame.select(
            [frame[f"`{field.name}`"].cast(field.dataType).alias(field.name) for field in fields]
        )


class IgnoresTheLimit(MemoryConnector):
    def read(self, context: ReadContext) -> DataFrame:
        return super().read(replace(context, limit=None))


class IgnoresHints(MemoryConnector):
    places: ClassVar[dict[Any, str]] = {}

    def stage(self, context: WriteContext) -> Stage:
        self.places[context.identifier] = context.options["place"]
        return super().stage(context)

    def stored(self, context: ReadContext) -> Rows:
        place = self.places.get(context.identifier, context.options["place"])
        number = metadata_column("number")
        return [{**row, number: index} for index, row in enumerate(STORE.get(place, []))]


class RepeatsMicroBatches(MemoryConnector):
    def is_repeated(self, context: WriteContext) -> bool:
        super().is_repeated(context)
        return False


class ConfusesJobs(MemoryConnector):
    def is_repeated(self, context: WriteContext) -> bool:
        batch = context.batch and replace(context.batch, job="any")
        return super().is_repeated(replace(context, batch=batch))


class StoresAbortedRows(MemoryConnector):
    def stage(self, context: WriteContext) -> Stage:
        stage = MemoryStage(self, context)
        stage.abort = lambda: self.store(stage.rows, context)  # type: ignore[method-assign]
        return stage


class LeavesFiles(MemoryConnector):
    def stage(self, context: WriteContext) -> Stage:
        directory = Path(context.options["place"])
        directory.mkdir(parents=True, exist_ok=True)
        (directory / f"staged-{len(list(directory.iterdir()))}").touch()
        return super().stage(context)


class ClaimsCommits(MemoryConnector):
    def was_committed(self, context: WriteContext, job: str) -> bool:
        return True


class RefusesTemporaryTables(MemoryConnector):
    def read(self, context: ReadContext) -> DataFrame:
        if context.is_temporary():
            raise ValueError("temporary")
        return super().read(context)


class CountsNull(MemoryConnector):
    def call(self, call: AggregateExpression) -> str:
        return "COUNT(*)" if call.function == "COUNT" else super().call(call)


class OrdersByACollation(MemoryConnector):
    def call(self, call: AggregateExpression) -> str:
        if call.function == "MIN" and call.column == "s":
            return "MIN(LOWER(s))"
        return super().call(call)


class GroupsByACollation(MemoryConnector):
    def key(self, name: str, type_: str) -> str:
        return f"LOWER(`{name}`)" if type_ == "string" else f"`{name}`"


class AddsWithoutFilters(MemoryConnector):
    def read(self, context: ReadContext) -> DataFrame:
        filters = () if context.aggregation else context.filters
        return super().read(replace(context, filters=filters))


class SumsOfNothingAreZero(MemoryConnector):
    def call(self, call: AggregateExpression) -> str:
        text = super().call(call)
        return f"COALESCE({text}, 0)" if call.function == "SUM" else text


class LimitsBeforeOrder(MemoryConnector):
    def read(self, context: ReadContext) -> DataFrame:
        if context.top_n is not None:
            context = replace(context, top_n=None, limit=context.top_n.limit)
        return super().read(context)


class SortsByACollation(MemoryConnector):
    def sort_key(self, key: SortOrder) -> Column:
        return expr("LOWER(s)") if key.column == "s" else super().sort_key(key)


class SortsNullLast(MemoryConnector):
    def sort_key(self, key: SortOrder) -> Column:
        return super().sort_key(key._replace(nulls_last=True))


class ForgetsOffset(MemoryConnector):
    def read(self, context: ReadContext) -> DataFrame:
        top_n = context.top_n and replace(context.top_n, limit=min(context.top_n.limit, 2))
        return super().read(replace(context, top_n=top_n))


class ForgetsPartitionsOfNull(MemoryConnector):
    def list_partitions(self, context: ReadContext) -> list[CatalogPartitionSpec]:
        return [spec for spec in super().list_partitions(context) if "DEFAULT" not in str(spec)]


class ListsTheFirstPartition(MemoryConnector):
    def list_partitions(self, context: ReadContext) -> list[CatalogPartitionSpec]:
        return super().list_partitions(context)[:1]


class KeepsNamedColumns(MemoryConnector):
    def merge(
        self, old: dict[str, Any], row: dict[str, Any], context: WriteContext
    ) -> dict[str, Any]:
        return {**row, **old} if context.target_columns else row


#: Connector -> the only test of the contract that it fails.
WRONG: Mapping[type[MemoryConnector], str] = {
    DropsEmptyStrings: "test_values_are_read_as_written",
    TruncatesTimes: "test_values_are_read_as_written",
    FailsForTimes: "test_values_are_read_as_written",
    ReadsByPosition: "test_columns_are_matched_by_name",
    ReadsNamesAsPaths: "test_names_are_quoted",
    HasOneEmptyRow: "test_an_empty_table_has_no_rows",
    ReportsNoNull: "test_null_in_a_not_null_column_is_refused",
    LacksMetadata: "test_metadata_has_its_types",
    ForgetsMetadata: "test_metadata_is_written",
    KeepsTheLastJob: "test_inserts_append",
    ConsumesRows: "test_inserts_append",
    AppendsAlways: "test_overwriting_replaces_all_rows",
    OverwritesAllPartitions: "test_partitions",
    IgnoresKeys: "test_upsert_replaces_rows_by_key",
    KeepsRowsOfOneKey: "test_upsert_replaces_rows_by_key",
    DeletesEarly: "test_a_failed_job_leaves_no_rows",
    PublishesEarly: "test_a_killed_job_leaves_no_rows",
    FiltersTooMuch: "test_push_down_keeps_rows",
    IgnoresFields: "test_fields_of_rows_are_those_that_queries_use",
    MixesUpFields: "test_fields_of_rows_are_those_that_queries_use",
    LimitsBeforeFilters: "test_push_down_keeps_rows",
    NeedsAnOptionalOption: "test_options_are_validated",
    DeclaresNoSecret: "test_secrets_are_masked",
    RefusesTemporaryTables: "test_temporary_tables",
    ReadsNullAsZero: "test_values_are_read_as_written",
    ReadsAnotherType: "test_values_are_read_as_written",
    SendsALock: "test_values_are_read_as_written",
    CountsNull: "test_aggregates_are_those_of_the_rows",
    OrdersByACollation: "test_aggregates_are_those_of_the_rows",
    GroupsByACollation: "test_aggregates_are_those_of_the_rows",
    AddsWithoutFilters: "test_aggregates_are_those_of_the_rows",
    SumsOfNothingAreZero: "test_aggregates_are_those_of_the_rows",
    LimitsBeforeOrder: "test_first_rows_are_those_of_the_order",
    SortsByACollation: "test_first_rows_are_those_of_the_order",
    SortsNullLast: "test_first_rows_are_those_of_the_order",
    ForgetsOffset: "test_first_rows_are_those_of_the_order",
    ForgetsPartitionsOfNull: "test_partitions_that_filters_select_have_all_rows",
    ListsTheFirstPartition: "test_partitions_that_filters_select_have_all_rows",
    KeepsNamedColumns: "test_the_columns_that_insert_names_are_written",
    IgnoresFilters: "test_accepted_filters_and_limits_are_applied",
    IgnoresTheLimit: "test_accepted_filters_and_limits_are_applied",
    IgnoresHints: "test_options_of_hints_are_used",
    RepeatsMicroBatches: "test_micro_batches_are_written_as_guaranteed",
    ConfusesJobs: "test_micro_batches_are_written_as_guaranteed",
    StoresAbortedRows: "test_an_aborted_write_leaves_nothing",
    LeavesFiles: "test_an_aborted_write_leaves_nothing",
    ClaimsCommits: "test_recovery",
}
