"""Connectors of the Spark planner: how rows are read and written.

A connector reads and writes what it stores: physical columns and metadata. The planner does the
rest: computed columns, casts of metadata, NOT NULL, lengths, order and ``OPTIONS`` hints.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from enum import Enum
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Protocol,
    TypeAlias,
    TypeGuard,
    TypeVar,
    cast,
    runtime_checkable,
)

from schema_core.base.lazy import NamedTuple, dataclass
from schema_core.environment.config import Configuration
from schema_core.environment.connector import (
    Ability,
    Boundedness,
    Connector,
    Context,
    Visibility,
    creation_abilities,
    metadata_columns,
    metadata_of,
    open_connector,
    using,
)
from schema_core.environment.options import LOCAL_TIME_ZONE, RUNTIME_MODE
from schema_core.environment.table_api.inline import InlineTable
from schema_core.errors import SchemaCoreError, SchemaError, UnsupportedError
from schema_core.schema.columns import PhysicalColumn, plain

if TYPE_CHECKING:
    from datetime import timedelta

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from schema_core.catalog.objects import (
        CatalogPartitionSpec,
        CatalogTable,
        ResolvedCatalogTable,
    )
    from schema_core.environment.jobs.atomicity import Stage
    from schema_core.environment.options import ConfigOption
    from schema_core.environment.planner import BoundTable, RowChangeKind
    from schema_core.expressions.field_paths import FieldPath
    from schema_core.expressions.typed import Typed
    from schema_core.spark.filters import Filter, FilterResult
    from schema_core.spark.task_rows import Item, Message, TaskRows
    from schema_core.types import DataType

#: Prefix of metadata columns in connectors' frames, as in Flink's plans.
METADATA_PREFIX = "$metadata$"


def metadata_column(key: str) -> str:
    """Return the column of a metadata key in connectors' frames.

    >>> metadata_column("file.path")
    '$metadata$file.path'
    """
    return METADATA_PREFIX + key


#: Prefix of columns with values before truncation.
RAW_PREFIX = "$raw$"


def raw_column(name: str) -> str:
    """Return the column with the values that a TIMESTAMP column truncates.

    A frame may have it if its reader can skip rows by comparing it.

    >>> raw_column("at")
    '$raw$at'
    """
    return RAW_PREFIX + name


@dataclass(frozen=True, slots=True, kw_only=True)
class TableContext(Context):
    """The table that a connector reads or writes, and the session to use.

    Attributes:
        session: The session of the job; frames must be made with it.
        zone: The session's time zone, ``table.local-time-zone``.
        metadata: The keys of the metadata to read or write, with the connector's types.
    """

    session: SparkSession
    zone: str
    metadata: Mapping[str, DataType] = field(default_factory=dict)

    @property
    def options(self) -> Mapping[str, str]:
        """The table's options, with those of its hints."""
        return self.table.options

    @property
    def physical_columns(self) -> dict[str, DataType]:
        """The table's physical columns with their types, in order."""
        columns = self.table.resolved_schema.columns
        return {
            column.name: plain(column.data_type)
            for column in columns
            if isinstance(column, PhysicalColumn)
        }


class LookupKeys(NamedTuple):
    """The keys that a join looks up: distinct rows of values of `columns`, without NULL."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


#: Prefix of the columns of aggregates in connectors' frames.
AGGREGATE_PREFIX = "$aggregate$"


class AggregateExpression(NamedTuple):
    """An aggregate that a connector computes, as in Flink: ``COUNT``, ``MIN``, ``MAX`` or ``SUM``.

    Attributes:
        function: The name of the function.
        column: The physical column; None for ``COUNT(*)``.
        type: The type of the result. SUM of integers has the type of the column and wraps.
        name: The column of the frame.
    """

    function: str
    column: str | None
    type: DataType
    name: str

    def __str__(self) -> str:
        return f"{self.function}({self.column or '*'})"


@dataclass(frozen=True, slots=True)
class Aggregation:
    """Aggregates of a table's rows for which all filters are TRUE, by the values of columns.

    Attributes:
        keys: The physical columns of GROUP BY. Without any there is one row, also of no rows.
        aggregates: The aggregates; NULL is not counted, compared or added.
        filters: The filters of the query, all of them exact.
    """

    keys: tuple[str, ...]
    aggregates: tuple[AggregateExpression, ...]
    filters: tuple[Filter, ...] = ()

    def __str__(self) -> str:
        by = f" by {', '.join(self.keys)}" if self.keys else ""
        return f"{', '.join(map(str, self.aggregates)) or 'none'}{by}"


class SortOrder(NamedTuple):
    """A key of ORDER BY: a physical column, and where its NULLs are."""

    column: str
    descending: bool
    nulls_last: bool

    def __str__(self) -> str:
        default = self.nulls_last is self.descending
        nulls = "" if default else f" NULLS {'LAST' if self.nulls_last else 'FIRST'}"
        return f"{self.column}{' DESC' if self.descending else ''}{nulls}"


@dataclass(frozen=True, slots=True)
class TopN:
    """The first rows of a table by ORDER BY, of those for which all filters are TRUE.

    Attributes:
        order: The keys, the first one first; rows with equal keys are in any order.
        limit: The number of rows, those of OFFSET included.
        filters: The filters of the query, all of them exact.
    """

    order: tuple[SortOrder, ...]
    limit: int
    filters: tuple[Filter, ...] = ()

    def __str__(self) -> str:
        return f"{self.limit} by {', '.join(map(str, self.order))}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadContext(TableContext):
    """The table that a connector reads, and what the query needs of it.

    Attributes:
        projection: The physical columns that the query reads, in the table's order; None for all.
            Only with `Ability.PROJECTION_PUSH_DOWN`.
        projected_fields: The fields within rows that the query reads, in the table's order, as
            paths that begin with a column: ``("r", "a")`` is the field ``r.a``, and ``("r",)``
            the entire column. The rows in `columns` and `spark_schema` have only these fields.
            None for all. Only with `SupportsProjectionPushDown.supports_nested_projection`.
        filters: The accepted filters. Only with `Ability.FILTER_PUSH_DOWN`.
        partitions: The partitions of `list_partitions` that the query may select rows of; None for
            all. Only with `Ability.PARTITION_PUSH_DOWN`.
        limit: How many rows the query needs at most, of any for which the accepted filters are
            TRUE; None for all. Only with `Ability.LIMIT_PUSH_DOWN`.
        aggregation: The aggregates that `read` returns instead of rows, in `columns`. Only after
            `apply_aggregates` has accepted them.
        top_n: The rows that the query needs; `read` may return more. Only after `apply_top_n` has
            accepted them.
        groups: The values of `RowLevelInfo.group` whose rows are read; None for all rows. Only for
            a connector that returned a group.
        keys: The keys that a join looks up; None for all rows. Only for `SupportsKeyedLookup`.
        by_key: Whether changes are only needed by their PRIMARY KEY: the row before an update
            of the same key may be left out, and removed rows may have only the key.
    """

    projection: tuple[str, ...] | None = None
    projected_fields: tuple[FieldPath, ...] | None = None
    filters: tuple[Filter, ...] = ()
    partitions: tuple[CatalogPartitionSpec, ...] | None = None
    limit: int | None = None
    aggregation: Aggregation | None = None
    top_n: TopN | None = None
    groups: frozenset[str] | None = None
    keys: LookupKeys | None = None
    by_key: bool = False

    @property
    def change_key(self) -> tuple[str, ...]:
        """The PRIMARY KEY if changes are only needed by it, else nothing."""
        key = self.table.resolved_schema.primary_key
        return tuple(key.columns) if self.by_key and key is not None else ()

    @property
    def columns(self) -> dict[str, DataType]:
        """The physical columns to read, with their types, in order.

        Of an aggregation, its keys and then its aggregates. Of `projected_fields`, rows have only
        these.
        """
        physical = self.physical_columns
        if (aggregation := self.aggregation) is not None:
            keys = {name: physical[name] for name in aggregation.keys}
            return {**keys, **{call.name: plain(call.type) for call in aggregation.aggregates}}
        if self.projection is None:
            return physical
        types = {name: physical[name] for name in self.projection}
        if self.projected_fields is None:
            return types
        from schema_core.expressions.field_paths import ENTIRE, merge_fields, select_fields

        read = merge_fields(*({path[0]: {path[1:]}} for path in self.projected_fields))
        return {name: select_fields(type_, read.get(name, ENTIRE)) for name, type_ in types.items()}

    @property
    def spark_schema(self) -> StructType:
        """PySpark's schema of what `read` returns: the columns to read, then metadata.

        All are nullable; the planner checks NOT NULL.
        """
        from pyspark.sql.types import StructField, StructType

        from schema_core.mappings.spark.pyspark_types import to_spark

        metadata = {metadata_column(key): type_ for key, type_ in self.metadata.items()}
        every = {**self.columns, **metadata}
        return StructType([StructField(name, to_spark(value)) for name, value in every.items()])

    def frame(self, rows: Iterable[Sequence[Any] | Mapping[str, Any]]) -> DataFrame:
        """Return Python rows, by order or names of the columns, as a frame for `read`.

        Columns that a mapping lacks are NULL.
        """
        from schema_core.mappings.spark.pyspark_types import with_microseconds
        from schema_core.spark.session.api_mode import is_connect
        from schema_core.spark.task_rows import cast_columns, row_values

        schema = self.spark_schema
        names = schema.names
        tuples = [row_values(row, names) for row in rows]
        if not is_connect(self.session):
            return self.session.createDataFrame(tuples, schema)
        sent = with_microseconds(schema)
        frame = self.session.createDataFrame(tuples, sent)
        return frame if sent is schema else cast_columns(frame, schema)

    def read_partitions(
        self,
        items: Sequence[Item],
        function: Callable[[Item], TaskRows],
        *,
        attempts: int = 1,
    ) -> DataFrame:
        """Return the rows that a function reads for each item, as a frame for `read`.

        Each item (a file, a page, a range of keys) is read in a task of its own. The function and
        the items are pickled; the function must not use this context, and its module must be
        installed on the workers of Spark. Nothing is read before Spark runs the query, which may
        read an item repeatedly, for ORDER BY for example.

        Args:
            items: What the tasks read; without any, the frame has no rows.
            function: Yields rows by order or names of the columns (those that a mapping lacks are
                NULL, further ones are ignored) with PySpark's values, or batches or tables of Arrow
                with the columns `spark_schema.names` in any order, whose types are cast without
                loss. A `datetime` without a time zone, for TIMESTAMP_LTZ, is of the zone of the
                worker's process, as in PySpark.
            attempts: How often the function is called for an item if it fails before its first
                row. Spark repeats failed tasks, too, but not in local mode.

        Raises:
            SchemaError: with code `invalid-argument`, if `attempts` is not positive.
        """
        from schema_core.spark.task_rows import read_in_tasks

        if attempts < 1:
            raise SchemaError(
                f"attempts must be 1 or more, got {attempts}", code="invalid-argument"
            )
        return read_in_tasks(self.session, self.spark_schema, items, function, attempts)

    def project_columns(self, frame: DataFrame) -> DataFrame:
        """Return what `read` returns of a frame of the table's columns and the metadata.

        Rows of the frame may have more fields than the query reads.
        """
        from schema_core.spark.task_rows import convert_rows

        metadata = map(metadata_column, self.metadata)
        return convert_rows(frame, self.physical_columns, self.columns, metadata)

    def filter_rows(self, frame: DataFrame) -> DataFrame:
        """Return a frame's rows for which all accepted filters are TRUE, up to the limit."""
        for filter_ in self.filters:
            frame = frame.where(filter_.spark_sql)
        return frame if self.limit is None else frame.limit(self.limit)


@dataclass(frozen=True, slots=True)
class MicroBatch:
    """The rows that a streaming job writes at once.

    A restarted job writes the last micro-batch of a killed one again, with equal rows and number.

    Attributes:
        job: Identifies the job over all of its runs: 32 hexadecimal digits.
        number: The number of the micro-batch: from 0, increasing, with gaps.
        has_all_rows: Whether it has all rows of a batch job that is committed at most once: a
            restarted process runs the job again, with the same `job` and `number`.
    """

    job: str
    number: int
    has_all_rows: bool = False


class RowLevelMode(Enum):
    """Which rows a connector receives to delete or update rows, as in Flink.

    Flink has these modes by two names each: `REMAINING_ROWS` of a DELETE are `ALL_ROWS` of an
    UPDATE.
    """

    #: the deleted rows (Flink: DELETED_ROWS), or the updated ones (UPDATED_ROWS)
    CHANGED_ROWS = "changed rows"
    #: the rows that remain of a DELETE, or all rows of an UPDATE: they replace the rows
    ALL_ROWS = "all rows"


@dataclass(frozen=True, slots=True)
class RowLevelInfo:
    """How a connector deletes or updates rows.

    Attributes:
        mode: Which rows it receives.
        group: With `RowLevelMode.ALL_ROWS` the key of metadata whose value, a string, names the
            part of the table that has a row, such as a file. Only parts with a changed row are
            read and replaced. None: the whole table is one part.
    """

    mode: RowLevelMode
    group: str | None = None


@dataclass(frozen=True, slots=True)
class RowLevelWrite:
    """The rows of a DELETE or UPDATE that a connector writes.

    Attributes:
        kind: The statement.
        mode: Which rows are in the frame of `write`.
        columns: The columns that an UPDATE sets.
        groups: The parts of the table that the rows replace; None for the whole table.
    """

    kind: RowChangeKind
    mode: RowLevelMode
    columns: tuple[str, ...] = ()
    groups: frozenset[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteContext(TableContext):
    """The table that a connector writes.

    Attributes:
        overwrite: Whether existing rows are replaced. Only with `Ability.OVERWRITE`.
        partition: The values of the PARTITION clause, which limits what is replaced.
        creates: Whether the job is a CREATE or REPLACE TABLE AS: the table must hold no rows
            except those of `replaced`.
        replaced: The definition that REPLACE replaces (unresolved if its functions or types are
            missing).
        stage: What `SupportsStaging.stage` returned, else None.
        job: The id (32 hexadecimal digits) of a CREATE or REPLACE TABLE AS that recovery finishes
            or undoes if its process ends, else an empty string.
        batch: The micro-batch in the frame; None in a batch job, unless it is committed at most
            once.
        files: What `SupportsFileListing.list_files` returned before the query was planned, if the
            job replaces rows of a table that the query reads: the commit fails if others have
            changed the rows since. None otherwise.
        target_columns: The physical columns that INSERT names, if not all: the others are NULL in
            the frame. None for all. Only with `Ability.TARGET_COLUMNS`.
        row_change: The DELETE or UPDATE that the job does. Only with
            `Ability.ROW_LEVEL_DELETE` or `Ability.ROW_LEVEL_UPDATE`.
        has_kinds: Whether the rows are changes: see
            `schema_core.spark.changelog.SupportsChangelogWrite`.
        report_rows: Receives the number of rows that were written, for the metrics of the job. Only
            for a connector that reads the frame without an action of Spark, as `toLocalIterator`
            does: else Spark counts the rows.
    """

    overwrite: bool = False
    partition: Mapping[str, str] | None = None
    creates: bool = False
    replaced: CatalogTable | None = None
    stage: Stage | None = None
    job: str = ""
    batch: MicroBatch | None = None
    files: frozenset[str] | None = None
    target_columns: tuple[str, ...] | None = None
    row_change: RowLevelWrite | None = None
    has_kinds: bool = False
    report_rows: Callable[[int], object] = field(default=bool, compare=False, repr=False)

    @property
    def upsert_key(self) -> tuple[str, ...]:
        """The primary key's columns, by which `Ability.UPSERT` replaces rows; may be empty."""
        key = self.table.resolved_schema.primary_key
        return tuple(key.columns) if key is not None else ()

    def write_partitions(
        self, frame: DataFrame, function: Callable[[Iterator[pa.RecordBatch]], Message]
    ) -> list[Message]:
        """Return what a function returns for the rows of each task.

        The function writes the rows of a task, batches of Arrow, and returns a message, such as the
        name of a file. It is pickled; its module must be installed on the workers of Spark. Spark
        may run a task twice, beside each other or after an error: the function must write what it
        writes under a new name, and only what a returned message names belongs to the result.

        Args:
            frame: The rows that `write` received.
            function: Takes the batches of a task, of which there may be none, once.
        """
        from schema_core.spark.task_rows import write_in_tasks

        return write_in_tasks(frame, function)


@runtime_checkable
class SparkConnector(Connector, Protocol):
    """A connector for the Spark planner; `ConnectorBase` implements most of it."""

    def read(self, context: ReadContext) -> DataFrame:
        """Return the table's rows: the columns of the context, by name, and the metadata.

        Columns have the Spark types of `schema_core.mappings.spark.pyspark_types.to_spark`. A key's
        metadata is in `metadata_column(key)`, with the type that `metadata` declares. Further
        physical columns are ignored. The planner checks names and types.
        """

    def write(self, frame: DataFrame, context: WriteContext) -> None:
        """Write rows: the physical columns, in order, then the metadata, as in `read`."""


# --- abilities -----------------------------------------------------------------------------------


@runtime_checkable
class SupportsStaging(SparkConnector, Protocol):
    """A connector with `Ability.STAGING`: a job's rows are invisible until its stage commits."""

    def stage(self, context: WriteContext) -> Stage:
        """Return a stage for a job's rows, for `WriteContext.stage`.

        Raise errors here, before the job starts.
        """


def stages(connector: SparkConnector, context: WriteContext) -> TypeGuard[SupportsStaging]:
    """Return whether a connector stages the rows of a job."""
    abilities = connector.abilities
    if context.creates:
        abilities = creation_abilities(connector, context.options)
    return isinstance(connector, SupportsStaging) and Ability.STAGING in abilities


@runtime_checkable
class SupportsRecovery(SparkConnector, Protocol):
    """A connector with staging that finds out what jobs of ended processes have left.

    Without it, CREATE TABLE AS whose process ended during its commit leaves the table.
    """

    def was_committed(self, context: WriteContext, job: str) -> bool:
        """Return whether the rows of a CREATE TABLE AS, whose process has ended, are visible.

        Only called with the `WriteContext.job` of a job that was about to commit.
        """

    def recover(self, context: WriteContext) -> None:
        """Finish what jobs on the table have committed, and remove the stages of ended processes.

        May be called at any time, also while other jobs write.
        """


@runtime_checkable
class SupportsCleanUp(SparkConnector, Protocol):
    """A connector without staging that can remove the rows of a CREATE TABLE AS (FLIP-218)."""

    def clean_up(self, context: WriteContext) -> None:
        """Remove what the job `WriteContext.job` has written; may be called repeatedly.

        Called when a job of a level with rollback has failed or its process has ended. Jobs of
        other tables may write into the same place: remove only rows identified by the job's id, or
        refuse such places in `validate_write`.
        """


@runtime_checkable
class SupportsStreamingRead(SparkConnector, Protocol):
    """A connector of unbounded tables, read by streaming jobs as they grow."""

    def boundedness(self, options: Mapping[str, str]) -> Boundedness:
        """Return whether a table with these options is unbounded."""

    def monitor_interval(self, options: Mapping[str, str]) -> timedelta | None:
        """Return the interval of looking for new rows; None for as often as possible."""

    def read_stream(self, context: ReadContext) -> DataFrame:
        """Return an unbounded table as a streaming frame, with columns as of `read`.

        The frame has no stateful operation. `ReadContext.filters` and `limit` are never set.
        """


def can_replay(connector: SparkConnector) -> bool:
    """Return whether a connector can read a micro-batch's rows again after a kill.

    One that cannot sets an attribute of this name to False: jobs with a checkpoint refuse it.
    """
    return bool(getattr(connector, "can_replay", True))


def arrival_order(connector: SparkConnector) -> Mapping[str, DataType]:
    """Return metadata whose values, one after the other, order the rows of a micro-batch.

    A connector whose tasks are in another order than its rows has an attribute of this name. Rows
    with equal values are in the order of the tasks.
    """
    order: Mapping[str, DataType] = getattr(connector, "arrival_order", {})
    return order


@runtime_checkable
class SupportsLookup(SparkConnector, Protocol):
    """A connector whose options for scans do not apply to joins AS OF the processing time."""

    def look_up(self, context: ReadContext) -> DataFrame:
        """Return the rows among which such a join finds those with its keys, as `read` does.

        Called once for each job, and for each micro-batch of an unbounded left side.
        """


@runtime_checkable
class SupportsKeyedLookup(SupportsLookup, Protocol):
    """A connector that finds the rows of a join AS OF the processing time by its keys."""

    def lookup_key(self, columns: Sequence[str], context: ReadContext) -> Sequence[str]:
        """Return those of the compared columns by whose values `look_up` finds rows.

        None of them: it reads all rows. `columns` are integers, strings without padding, dates or
        BOOLEAN.
        """

    def max_keys(self, options: Mapping[str, str]) -> int:
        """Return of how many keys, at most, `look_up` finds rows by `ReadContext.keys`.

        It returns at least the rows with these keys.
        """


class VectorQuery(NamedTuple):
    """A call of VECTOR_SEARCH: the column with the vectors, the number of rows, and the config."""

    column: str
    limit: int
    config: Mapping[str, str]


@runtime_checkable
class SupportsVectorSearch(SparkConnector, Protocol):
    """A connector that answers VECTOR_SEARCH, as Flink's `VectorSearchTableSource`."""

    def vector_search(
        self, query: VectorQuery, context: ReadContext
    ) -> Callable[[list[float]], Iterable[Sequence[Any]]]:
        """Return a function that returns the nearest rows of a vector, the nearest first.

        A row has the values of `ReadContext.physical_columns`, and the score. Spark's workers call
        the function for each vector that is not NULL, so it is pickled; rows after the first
        `VectorQuery.limit` are ignored.
        """


@runtime_checkable
class SupportsMicroBatches(SupportsStaging, Protocol):
    """A connector with staging that writes each micro-batch once: `WriteContext.batch`.

    The stage of an already committed micro-batch discards its rows.
    """

    def last_batch(self, context: WriteContext, job: str) -> int | None:
        """Return the number of a job's last micro-batch in the table, or None."""


@runtime_checkable
class SupportsFileListing(SupportsStaging, Protocol):
    """A connector that detects whether others have changed the rows which a job replaces."""

    def list_files(self, context: WriteContext) -> frozenset[str]:
        """Return what identifies the rows of the table, for `WriteContext.files`."""


@runtime_checkable
class SupportsEmptyStorage(SparkConnector, Protocol):
    """A connector that cannot read a table before its storage exists, such as a directory."""

    def ensure_storage(self, context: WriteContext) -> None:
        """Create the storage of a table, without rows, unless it exists."""


@runtime_checkable
class SupportsFilterPushDown(SparkConnector, Protocol):
    """A connector with `Ability.FILTER_PUSH_DOWN`: it can omit rows that a query filters."""

    def apply_filters(self, filters: Sequence[Filter], context: ReadContext) -> FilterResult:
        """Return which filters are accepted, for `ReadContext.filters`, and which remain.

        The query evaluates all filters as well. An accepted one that also remains may select too
        many rows.
        """


@runtime_checkable
class SupportsPartitionPushDown(SparkConnector, Protocol):
    """A connector with `Ability.PARTITION_PUSH_DOWN`: it can omit partitions that a query filters.

    The query evaluates the filters as well.
    """

    def list_partitions(self, context: ReadContext) -> Sequence[CatalogPartitionSpec] | None:
        """Return the partitions of a table, for `ReadContext.partitions`; None if unknown.

        Values are strings as CAST returns them, such as ``2026-01-01``; NULL is the option
        ``partition.default-name``. A partition is kept if a filter cannot be evaluated for it.
        """


@runtime_checkable
class SupportsAggregatePushDown(SparkConnector, Protocol):
    """A connector with `Ability.AGGREGATE_PUSH_DOWN`: it computes aggregates of a query itself.

    They are offered for a query block over one table if all its conditions are filters.
    """

    def apply_aggregates(self, aggregation: Aggregation, context: ReadContext) -> bool:
        """Return whether `read` returns the aggregates, exactly as Flink computes them.

        `read` then gets them as `ReadContext.aggregation`, and returns one row of each group.
        A connector that accepts filters gets them as `ReadContext.filters` as well; one that leaves
        a filter remaining is not asked. Refuse columns that the system groups or orders by other
        rules, such as strings by a collation, and sums that it rounds. As where the rows are read,
        a NULL in a column that is NOT NULL must fail the query, unless only rows are counted.
        """


@runtime_checkable
class SupportsTopNPushDown(SparkConnector, Protocol):
    """A connector with `Ability.TOP_N_PUSH_DOWN`: it finds the first rows of ORDER BY with LIMIT.

    They are offered for a query of one table if all its conditions are filters. The query sorts the
    rows as well.
    """

    def apply_top_n(self, top_n: TopN, context: ReadContext) -> bool:
        """Return whether `read` returns these rows, which it gets as `ReadContext.top_n`.

        A connector that accepts filters gets them as `ReadContext.filters` as well; one that leaves
        a filter remaining is not asked. Refuse columns that the system orders by other rules, such
        as strings by a collation, and NULL in another place.
        """


@runtime_checkable
class SupportsFilterExplanation(SparkConnector, Protocol):
    """A connector whose frames Spark pushes filters into, which EXPLAIN shows."""

    def explain_filter(self, given: Filter, frame: DataFrame, context: ReadContext) -> str:
        """Return what evaluates a filter that was not accepted, with the reason, for EXPLAIN.

        For example ``Spark: b is compared as a string``. `frame` is the last result of `read`.
        """


@runtime_checkable
class SupportsStatisticReport(SparkConnector, Protocol):
    """A connector that reports columns without NULL, which the planner then leaves unchecked."""

    def read_with_statistics(self, context: ReadContext) -> tuple[DataFrame, Collection[str]]:
        """Return what `read` returns, and its physical columns that hold no NULL."""


@runtime_checkable
class SupportsReuse(SparkConnector, Protocol):
    """A connector that can show that its data is unchanged: its frames are kept between queries.

    The frame of one that projects, filters or limits rows is used for queries that need the same.

    Attributes:
        is_versioned: Whether data that have changed never have an earlier version again. The
            version of others is compared after a read, too.
    """

    is_versioned: bool = False

    def data_version(self, context: ReadContext) -> object | None:
        """Return what identifies a table's data; None if it cannot be compared.

        While it is equal, `read` must return the same rows and not raise: a frame is used for other
        queries. Rows of listed files may differ if a file changes while a job reads it.
        """


@runtime_checkable
class SupportsDiagnosis(SparkConnector, Protocol):
    """A connector that finds a failed job's invalid record in a second pass."""

    def diagnose(self, context: ReadContext, error: BaseException) -> SchemaCoreError | None:
        """Return the error that names the place; None if the job failed for another reason.

        The cause of `error`, the job's, has the conditions of Spark's error.
        """


@runtime_checkable
class SupportsWriteValidation(SparkConnector, Protocol):
    """A connector whose options determine whether it can write."""

    def validate_write(self, context: WriteContext) -> None:
        """Raise if the table cannot be written.

        Called before the job, and before CREATE TABLE AS creates the table.
        """


@runtime_checkable
class SupportsRowLevelDelete(SparkConnector, Protocol):
    """A connector with `Ability.ROW_LEVEL_DELETE`: DELETE FROM with any condition.

    The job calls `stage`, if the connector stages rows, then `write` with
    `WriteContext.row_change`. Rows for which the condition is UNKNOWN are not deleted.
    """

    def apply_row_level_delete(self, context: WriteContext) -> RowLevelInfo:
        """Return which rows `write` is to receive; raise if the table's rows cannot be deleted."""


@runtime_checkable
class SupportsRowLevelUpdate(SparkConnector, Protocol):
    """A connector with `Ability.ROW_LEVEL_UPDATE`: UPDATE with any condition and values.

    As `SupportsRowLevelDelete`.
    """

    def apply_row_level_update(self, columns: Sequence[str], context: WriteContext) -> RowLevelInfo:
        """Return which rows `write` is to receive; raise if `columns` cannot be set."""


@runtime_checkable
class SupportsDeletePushDown(SparkConnector, Protocol):
    """A connector with `Ability.DELETE_PUSH_DOWN`: deletes rows by filters, without a job of Spark.

    Other conditions than conjunctions of filters are not offered.
    """

    def apply_delete_filters(self, filters: Sequence[Filter], context: WriteContext) -> bool:
        """Return whether the connector deletes the rows for which all filters are TRUE.

        If it does not, rows are deleted as by `SupportsRowLevelDelete`.
        """

    def execute_deletion(self, filters: Sequence[Filter], context: WriteContext) -> None:
        """Delete these rows, in one transaction."""


@runtime_checkable
class SupportsUpdatePushDown(SparkConnector, Protocol):
    """A connector with `Ability.UPDATE_PUSH_DOWN`: sets constants by filters, without Spark."""

    def apply_update(
        self,
        assignments: Mapping[str, Typed],
        filters: Sequence[Filter],
        context: WriteContext,
    ) -> bool:
        """Return whether the connector updates the rows for which all filters are TRUE.

        The values are expressions of the types that the statement has; a connector accepts those
        that it assigns exactly as INSERT does.
        """

    def execute_update(
        self,
        assignments: Mapping[str, Typed],
        filters: Sequence[Filter],
        context: WriteContext,
    ) -> None:
        """Update these rows, in one transaction."""


@runtime_checkable
class SupportsTruncate(SparkConnector, Protocol):
    """A connector with `Ability.TRUNCATE`: TRUNCATE TABLE, and DELETE FROM without WHERE."""

    def execute_truncation(self, context: WriteContext) -> None:
        """Delete all rows of the table, in one transaction."""


class SupportsProjectionPushDown:
    """A subclass of `ConnectorBase` with `Ability.PROJECTION_PUSH_DOWN`.

    `ReadContext.columns` are the columns that the query reads, at least one.
    """

    def supports_nested_projection(self, context: ReadContext) -> bool:
        """Return whether only the fields of rows are requested that the query reads.

        They are `ReadContext.projected_fields`, and `read` returns rows of only these. Fields of
        rows in arrays, maps and structured types are not requested singly. By default False.
        """
        return False


def reads_nested_fields(connector: SparkConnector, context: ReadContext) -> bool:
    """Return whether a connector reads only those fields of rows of a table that a query uses."""
    declared = getattr(connector, "supports_nested_projection", None)
    return declared is not None and bool(declared(context))


class SupportsLimitPushDown:
    """A subclass of `ConnectorBase` with `Ability.LIMIT_PUSH_DOWN`: see `ReadContext.limit`."""


class SupportsOverwrite:
    """A subclass of `ConnectorBase` with `Ability.OVERWRITE`: see `WriteContext.overwrite`."""


class SupportsReplacement:
    """A subclass of `ConnectorBase` with `Ability.REPLACEMENT`, for those that cannot overwrite.

    REPLACE TABLE AS sets `WriteContext.overwrite` and `replaced`; INSERT OVERWRITE is refused.
    """


class SupportsPartitioning:
    """A subclass of `ConnectorBase` with `Ability.PARTITIONS`.

    The frame has the partition columns.
    """


class SupportsBucketing:
    """A subclass of `ConnectorBase` with `Ability.BUCKETS`.

    It writes rows into the buckets of ``context.table.distribution`` or refuses that in
    `validate_write`.
    """


class SupportsTargetColumnWriting:
    """A subclass of `ConnectorBase` with `Ability.TARGET_COLUMNS`.

    With `WriteContext.target_columns` a connector that replaces rows by key can keep the values of
    the other columns, as Flink's interface of this name allows.
    """


class SupportsUpsert:
    """A subclass of `ConnectorBase` with `Ability.UPSERT`: see `WriteContext.upsert_key`.

    INSERT INTO replaces the rows with the key of a new row, and keeps one new row of each key.
    """


#: Class -> the ability that its subclasses declare.
ABILITIES: Mapping[type, Ability] = {
    SupportsOverwrite: Ability.OVERWRITE,
    SupportsReplacement: Ability.REPLACEMENT,
    SupportsPartitioning: Ability.PARTITIONS,
    SupportsBucketing: Ability.BUCKETS,
    SupportsStaging: Ability.STAGING,
    SupportsUpsert: Ability.UPSERT,
    SupportsFilterPushDown: Ability.FILTER_PUSH_DOWN,
    SupportsProjectionPushDown: Ability.PROJECTION_PUSH_DOWN,
    SupportsLimitPushDown: Ability.LIMIT_PUSH_DOWN,
    SupportsPartitionPushDown: Ability.PARTITION_PUSH_DOWN,
    SupportsAggregatePushDown: Ability.AGGREGATE_PUSH_DOWN,
    SupportsTopNPushDown: Ability.TOP_N_PUSH_DOWN,
    SupportsTargetColumnWriting: Ability.TARGET_COLUMNS,
    SupportsRowLevelDelete: Ability.ROW_LEVEL_DELETE,
    SupportsRowLevelUpdate: Ability.ROW_LEVEL_UPDATE,
    SupportsDeletePushDown: Ability.DELETE_PUSH_DOWN,
    SupportsUpdatePushDown: Ability.UPDATE_PUSH_DOWN,
    SupportsTruncate: Ability.TRUNCATE,
}


class ConnectorBase:
    """Base class of connectors for Spark: implements `SparkConnector` except for the rows.

    A subclass sets `identifier` and `options`, overrides `read`, `write` or both, and extends the
    `Supports...` classes of its abilities.
    """

    identifier: ClassVar[str]
    #: The options of tables, besides ``connector``.
    options: ClassVar[Sequence[ConfigOption[Any]]] = ()
    metadata: Mapping[str, DataType] = {}
    writable_metadata: frozenset[str] = frozenset()

    @property
    def can_read(self) -> bool:
        """Whether the subclass overrides `read`."""
        return type(self).read is not ConnectorBase.read

    @property
    def can_write(self) -> bool:
        """Whether the subclass overrides `write`."""
        return type(self).write is not ConnectorBase.write

    @property
    def abilities(self) -> frozenset[Ability]:
        """The abilities of the `Supports...` classes that the subclass extends."""
        extended = type(self).__mro__
        return frozenset(ability for value, ability in ABILITIES.items() if value in extended)

    def declared(self, options: Mapping[str, str]) -> Sequence[ConfigOption[Any]]:
        """Return `options`."""
        return self.options

    def visibility(self, options: Mapping[str, str]) -> Visibility:
        """Return when a job's rows are visible in a table with these options.

        `Visibility.FINAL` with `Ability.STAGING`, else `Visibility.WRITE_VISIBLE`, which guarantees
        nothing; override it to guarantee more.
        """
        staged = Ability.STAGING in self.abilities
        return Visibility.FINAL if staged else Visibility.WRITE_VISIBLE

    def read(self, context: ReadContext) -> DataFrame:
        """Return the rows of the table, as `SparkConnector.read`."""
        raise self._unsupported_error("read")

    def write(self, frame: DataFrame, context: WriteContext) -> None:
        """Write rows, as `SparkConnector.write`."""
        raise self._unsupported_error("write")

    def _unsupported_error(self, purpose: str) -> UnsupportedError:
        return UnsupportedError(
            f"the connector {self.identifier!r} cannot {purpose} tables",
            code="unsupported-ability",
        )


# --- use by the planner --------------------------------------------------------------------------


def zone_of(options: Mapping[str, str]) -> str:
    """Return a session's time zone."""
    return LOCAL_TIME_ZONE.of(options) or "UTC"


def is_streaming(options: Mapping[str, str]) -> bool:
    """Return whether unbounded tables are read as streams."""
    return RUNTIME_MODE.of(options) == "STREAMING"


def snapshot(options: Mapping[str, str]) -> dict[str, str]:
    """Return a copy of a session's options: they may change while jobs run."""
    return options.to_dict() if isinstance(options, Configuration) else dict(options)


def open_spark_connector(
    bound: BoundTable, purpose: str, configuration: Mapping[str, str]
) -> SparkConnector:
    """Return a table's connector after validating its options.

    Rows that a query reads directly are their own connector. Errors are those of `open_connector`
    and `for_spark`.
    """
    if isinstance(bound.table, InlineTable):
        return cast("SparkConnector", bound.table.rows.content)
    with using(bound.identifier, bound.table.options, purpose):
        return for_spark(open_connector(bound, purpose, configuration))


def metadata_types(
    connector: Connector, table: ResolvedCatalogTable, *, persisted: bool = False
) -> dict[str, DataType]:
    """Return the connector's types for a table's (written) metadata keys.

    A physical column with the name of metadata in connectors' frames is a `duplicate-column`.
    """
    keys = [
        column.key for column in metadata_columns(table) if column.is_persisted() or not persisted
    ]
    names = {column.name for column in table.resolved_schema.columns}
    for key in keys:
        if metadata_column(key) in names:
            raise SchemaError(
                f"the column {metadata_column(key)!r} has the name of metadata {key!r}",
                code="duplicate-column",
                hint="rename the column",
            )
    types = metadata_of(connector, table.options)
    return {key: types[key] for key in keys}


#: The attributes of a `SparkConnector`.
MEMBERS: tuple[str, ...] = (
    "identifier", "can_read", "can_write", "abilities", "metadata", "writable_metadata",
    "declared", "read", "write",
)  # fmt: skip
#: Ability -> the method that a connector with it has.
METHODS: Mapping[Ability, str] = {
    Ability.STAGING: "stage",
    Ability.FILTER_PUSH_DOWN: "apply_filters",
    Ability.PARTITION_PUSH_DOWN: "list_partitions",
    Ability.AGGREGATE_PUSH_DOWN: "apply_aggregates",
    Ability.TOP_N_PUSH_DOWN: "apply_top_n",
    Ability.ROW_LEVEL_DELETE: "apply_row_level_delete",
    Ability.ROW_LEVEL_UPDATE: "apply_row_level_update",
    Ability.DELETE_PUSH_DOWN: "apply_delete_filters",
    Ability.UPDATE_PUSH_DOWN: "apply_update",
    Ability.TRUNCATE: "execute_truncation",
}


def for_spark(connector: Connector) -> SparkConnector:
    """Return the connector if the Spark planner can use it (`unsupported-ability`)."""
    missing = [name for name in MEMBERS if not hasattr(connector, name)]
    if not missing:
        methods = (
            METHODS[ability]
            for ability in Ability
            if ability in connector.abilities & METHODS.keys()
        )
        missing = [name for name in methods if not hasattr(connector, name)]
    if missing or not isinstance(connector, SparkConnector):
        raise UnsupportedError(
            f"the connector {connector.identifier!r} does not work with Spark: "
            f"missing attributes: {', '.join(missing)}",
            code="unsupported-ability",
        )
    return connector


# --- the invalid record of a failed job ---------------------------------------------------------
# Spark's readers do not count lines. After a failure, a connector can read the files again and
# report the file, line and column.


#: A connector and what it read.
Read: TypeAlias = tuple[SparkConnector, ReadContext]


T = TypeVar("T")


@contextmanager
def diagnosing(reads: Sequence[Read]) -> Iterator[None]:
    """Replace a job's error by a more exact one of a connector of its sources, if any."""
    from schema_core.spark.jobs import was_canceled

    try:
        yield
    except Exception as error:
        if not was_canceled(error):
            for connector, context in reads:
                if isinstance(connector, SupportsDiagnosis):
                    found = connector.diagnose(context, error)
                    if found is not None:
                        raise found from error
        raise


def diagnosed_rows(rows: Iterator[T], reads: Sequence[Read]) -> Iterator[T]:
    """Yield a query's rows; errors are those of `diagnosing`."""
    with diagnosing(reads):
        yield from rows
