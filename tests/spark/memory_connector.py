"""A connector that keeps rows in memory, correct, and connectors that are wrong in one way each."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar

from schema_core.connectors import (
    ConfigOption,
    ConnectorBase,
    DeliveryGuarantee,
    Filter,
    FilterResult,
    ReadContext,
    Stage,
    SupportsFilterPushDown,
    SupportsLimitPushDown,
    SupportsOverwrite,
    SupportsPartitioning,
    SupportsProjectionPushDown,
    SupportsStaging,
    SupportsUpsert,
    WriteContext,
    integer,
    metadata_column,
)
from schema_core.types import DataTypes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

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

    def read(self, context: ReadContext) -> DataFrame:
        every = replace(context, projection=None)
        frame = context.filter_rows(every.frame(self.stored(context)))
        return frame.select(
            [frame[f"`{name.replace('`', '``')}`"] for name in context.spark_schema.names]
        )

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
        return list({_values(row, key): row for row in rows}.values()) if key else rows

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


class KnowsNoNull(MemoryConnector):
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


#: Connector -> the only test of the contract that it fails.
WRONG: Mapping[type[MemoryConnector], str] = {
    DropsEmptyStrings: "test_values_are_read_as_written",
    TruncatesTimes: "test_values_are_read_as_written",
    FailsForTimes: "test_values_are_read_as_written",
    ReadsByPosition: "test_columns_are_matched_by_name",
    ReadsNamesAsPaths: "test_names_are_quoted",
    HasOneEmptyRow: "test_an_empty_table_has_no_rows",
    KnowsNoNull: "test_null_in_a_not_null_column_is_refused",
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
    LimitsBeforeFilters: "test_push_down_keeps_rows",
    NeedsAnOptionalOption: "test_options_are_validated",
    DeclaresNoSecret: "test_secrets_are_masked",
    RefusesTemporaryTables: "test_temporary_tables",
    ReadsNullAsZero: "test_values_are_read_as_written",
    ReadsAnotherType: "test_values_are_read_as_written",
    SendsALock: "test_values_are_read_as_written",
    IgnoresFilters: "test_accepted_filters_and_limits_are_applied",
    IgnoresTheLimit: "test_accepted_filters_and_limits_are_applied",
    IgnoresHints: "test_options_of_hints_are_used",
    RepeatsMicroBatches: "test_micro_batches_are_written_as_guaranteed",
    ConfusesJobs: "test_micro_batches_are_written_as_guaranteed",
    StoresAbortedRows: "test_an_aborted_write_leaves_nothing",
    LeavesFiles: "test_an_aborted_write_leaves_nothing",
    ClaimsCommits: "test_recovery",
}
