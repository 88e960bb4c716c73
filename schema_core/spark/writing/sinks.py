"""The rows that a connector writes: cast implicitly to the columns of the table, and checked.

The session's options determine how NOT NULL and lengths of strings are enforced. Metadata is cast
to the types that the connector declares.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, cast

from schema_core.base.lazy import NamedTuple
from schema_core.environment.connector import (
    Ability,
    creation_abilities,
    installed_connector,
    require_abilities,
    using,
)
from schema_core.environment.jobs.atomicity import (
    AtomicityLevel,
    Stage,
    TableTransaction,
    Unstaged,
    choose_level,
    needed_abilities,
)
from schema_core.environment.jobs.graph import JobGraph
from schema_core.environment.operations.plan_ctas import SinkLoss
from schema_core.environment.options import LENGTH_ENFORCER, NOT_NULL_ENFORCER, PARALLELISM
from schema_core.environment.planner import BoundTable, CommitRecord, Registration
from schema_core.environment.unbounded import scans_in
from schema_core.errors import Gathering, SchemaError, UnsupportedError, at
from schema_core.errors.hints import ADD_CAST
from schema_core.mappings.loss import LossKind, losses
from schema_core.mappings.spark.pyspark_types import to_spark_sql
from schema_core.query.relation import Column, Columns, Relation, result_columns
from schema_core.query.upsert_keys import upsert_keys
from schema_core.schema import columns as schema_columns
from schema_core.schema.columns import MetadataColumn, PhysicalColumn
from schema_core.spark.changelog import (
    ROW_KIND,
    require_changes,
    takes_changes,
    write_rows,
)
from schema_core.spark.compiler.expression import from_physical, to_physical
from schema_core.spark.compiler.functions.casts import convert, fit
from schema_core.spark.compiler.template import inline
from schema_core.spark.compiler.tree import NULL, Cast, NamedNode, Node, fail, quote
from schema_core.spark.compiler.tree import Column as ColumnNode
from schema_core.spark.connector import (
    MicroBatch,
    Read,
    SparkConnector,
    SupportsCleanUp,
    SupportsEmptyStorage,
    SupportsFileListing,
    SupportsMicroBatches,
    SupportsRecovery,
    SupportsWriteValidation,
    WriteContext,
    diagnosing,
    metadata_column,
    metadata_types,
    open_spark_connector,
    snapshot,
    stages,
    zone_of,
)
from schema_core.spark.jobs import SparkJob, local_properties, spark_errors
from schema_core.spark.reading.row_kinds import KIND
from schema_core.spark.session.frames import select
from schema_core.spark.writing.key_conflicts import rows_without_conflicts
from schema_core.spark.writing.row_checks import require_not_null
from schema_core.types import (
    MAX_LENGTH,
    AnyTimestampType,
    BigIntType,
    CharType,
    DataType,
    DecimalType,
    DoubleType,
    FloatType,
    IntType,
    LengthType,
    SmallIntType,
    TimeType,
    TinyIntType,
    VarCharType,
    supports_implicit_cast,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from schema_core.catalog.objects import CatalogTable
    from schema_core.environment.planner import PlannerContext
    from schema_core.schema.resolved import ResolvedSchema
    from schema_core.spark.reading.reader import Reader
    from schema_core.spark.session.session import JobSession

STRING = VarCharType(MAX_LENGTH)


class Sink:
    """The columns of a table that a query writes.

    `columns` are those that the query fills, in its order, or None for all; `options` the
    session's.
    """

    def __init__(
        self, schema: ResolvedSchema, columns: Sequence[str] | None, options: Mapping[str, str]
    ) -> None:
        self._columns = [column for column in schema.columns if column.is_persisted()]
        self._types = {column.name: column.data_type for column in self._columns}
        self._filled = list(self._types) if columns is None else list(columns)
        self._options = options

    def targets(self, query: Relation, *, has_kind: bool = False) -> Columns:
        """Return the columns that the query fills, by position; the last may be `KIND`.

        The error `not-assignable` is also for a NOT NULL column that the query does not fill.
        """
        given = result_columns(query)
        own = (KIND,) if has_kind else ()
        targets = _assignable(given[: len(given) - len(own)], self._filled, self._types)
        for name, type_ in self._types.items():
            if name not in self._filled and not type_.is_nullable:
                raise SchemaError(f"no value for NOT NULL column {name!r}", code="not-assignable")
        return (*targets, *own)

    def frame(self, frame: DataFrame, connector: SparkConnector, zone: str) -> DataFrame:
        """Return rows of the target columns as the connector writes them.

        Physical columns come first, in order, then metadata.
        """
        if NOT_NULL_ENFORCER.of(self._options) == "DROP":
            needed = [
                f"{quote(name)} IS NOT NULL"
                for name, type_ in self._types.items()
                if not type_.is_nullable and name in self._filled
            ]
            frame = frame.where(" AND ".join(needed)) if needed else frame
        checked = [self._check_column(column.name, column.data_type) for column in self._columns]
        physical = [
            (ColumnNode(column.name), column.name)
            for column in self._columns
            if isinstance(column, PhysicalColumn)
        ]
        metadata = [
            _cast_metadata(column, connector.metadata[column.key], zone)
            for column in self._columns
            if isinstance(column, MetadataColumn)
        ]
        if ROW_KIND in frame.columns:
            kind: NamedNode = (ColumnNode(ROW_KIND), ROW_KIND)
            frame = select(frame, [*checked, kind])
            return select(frame, [*physical, *metadata, kind]) if metadata else frame
        frame = select(frame, checked)
        return select(frame, [*physical, *metadata]) if metadata else frame

    def _check_column(self, name: str, type_: DataType) -> NamedNode:
        """Return a column with its type's checks; NULL if the query does not fill it."""
        if name not in self._filled:
            return Cast(NULL, to_spark_sql(type_)), name
        node: Node = ColumnNode(name)
        rule = LENGTH_ENFORCER.of(self._options)
        if isinstance(type_, LengthType) and type_.length < MAX_LENGTH:
            if rule == "TRIM_PAD":
                node = _fit_string(node, type_)
            elif rule == "ERROR":
                node = _require_fitting(node, name, type_)
        return require_not_null(node, type_, name), name


def _cast_metadata(column: MetadataColumn, given: DataType, zone: str) -> NamedNode:
    type_ = column.data_type
    with at(f"column {column.name!r}"):
        value = from_physical(ColumnNode(column.name), type_)
        node = to_physical(convert(value, type_.nullable(), given.nullable(), zone), given)
    return require_not_null(node, given, column.name), metadata_column(column.key)


def _fit_string(node: Node, type_: LengthType) -> Node:
    """Cut or pad a string to the length of its type, unless its bytes show that it fits.

    Spark stores the number of bytes; every character has at least one.
    """
    fits = "octet_length({v}) <= {length}"
    if isinstance(type_, CharType):
        fits = "octet_length({v}) = {length} AND length({v}) = {length}"
    return inline(
        f"if({fits}, {{v}}, {{fitted}})",
        v=node,
        length=type_.length,
        fitted=fit(node, STRING, type_),
    )


def _require_fitting(node: Node, name: str, type_: LengthType) -> Node:
    """Fail the job for a string that does not fit.

    Characters are counted only where the number of bytes, which Spark stores, exceeds the length.
    """
    unfit = "length({v}) <> {length}"
    if not isinstance(type_, CharType):
        unfit = "octet_length({v}) > {length} AND length({v}) > {length}"
    elif type_.length == 1:
        unfit = f"octet_length({{v}}) <> {{length}} AND {unfit}"
    return inline(
        f"if({unfit}, {{problem}}, {{v}})",
        v=node,
        length=type_.length,
        problem=fail(f"column {name!r}: a value does not fit {type_.as_summary_string()}"),
    )


def _assignable(given: Columns, names: Sequence[str], types: dict[str, DataType]) -> Columns:
    """Return the target columns of a query, to which its columns must cast implicitly."""
    unknown = [name for name in names if name not in types]
    if unknown or len(given) != len(names):
        raise SchemaError(
            f"the query has {len(given)} columns, expected {len(names)}"
            if not unknown
            else f"the table has no writable column {unknown[0]!r}",
            code="not-assignable",
        )
    for item, name in zip(given, names, strict=True):
        with at(f"column {name!r}"):
            if not supports_implicit_cast(item.type.nullable(), types[name].nullable()):
                raise SchemaError(
                    f"{item.type.as_summary_string()} of the query does not fit "
                    f"{types[name].as_summary_string()}",
                    code="not-assignable",
                    hint=ADD_CAST,
                )
    return tuple(Column(name, types[name]) for name in names)


# --- losses of a new table ----------------------------------------------------------------------


SPARK = "spark:4.3"
#: Option `format` -> the target in `schema_core.mappings.loss` of files with types.
TYPED_FILES: Mapping[str, str] = {"parquet": "parquet", "orc": SPARK}
#: Options `format` of files without types.
UNTYPED_FILES = frozenset({"csv", "json", "raw", "text"})

#: Type of integers -> their decimal digits.
_DIGITS: Mapping[type[DataType], int] = {
    TinyIntType: 3,
    SmallIntType: 5,
    IntType: 10,
    BigIntType: 19,
}
#: Binary floating point type -> the decimal digits kept of every number.
_FLOATS: Mapping[type[DataType], int] = {FloatType: 6, DoubleType: 15}


def sink_losses(
    query: Relation, target: BoundTable, connector: SparkConnector, options: Mapping[str, str]
) -> tuple[SinkLoss, ...]:
    """Return what a table loses of a query's rows and of its own definition."""
    given = {column.name: column.type for column in result_columns(query)}
    columns = target.table.resolved_schema.columns
    found: list[SinkLoss] = []
    for column in columns:
        if column.name in given and column.is_persisted():
            found += _assignment_losses(column, given[column.name], options)
        if isinstance(column, PhysicalColumn):
            found += _storage_losses(column)
    found += _definition(target, connector)
    return (*found, *_files(target))


def _assignment_losses(
    column: schema_columns.Column, given: DataType, options: Mapping[str, str]
) -> Iterator[SinkLoss]:
    """Yield what assigning the query's value to a declared column loses."""
    path, declared = (column.name,), column.data_type
    source, target = given.as_summary_string(), declared.as_summary_string()
    if given.is_nullable and not declared.is_nullable:
        drops = NOT_NULL_ENFORCER.of(options) == "DROP"
        meaning = "rows with NULL are dropped" if drops else "a row with NULL fails the job"
        yield SinkLoss(path, source, target, meaning, drops)
    if isinstance(declared, LengthType) and declared.length < MAX_LENGTH:
        rule = LENGTH_ENFORCER.of(options)
        fits = isinstance(given, LengthType) and given.length <= declared.length
        if not fits or (isinstance(declared, CharType) and given.nullable() != declared.nullable()):
            meanings = {
                "IGNORE": "longer values are stored as they are: the length is not enforced",
                "TRIM_PAD": "longer values are cut, CHAR is padded",
                "ERROR": "a value that does not fit fails the job",
            }
            yield SinkLoss(path, source, target, meanings[rule or "IGNORE"], rule == "TRIM_PAD")
    elif not _holds(declared, given):
        yield SinkLoss(path, source, target, "digits that do not fit are lost", True)


def _holds(declared: DataType, given: DataType) -> bool:
    """Return whether a column keeps every number or datetime of an assigned type."""
    if isinstance(given, AnyTimestampType | TimeType) and type(given) is type(declared):
        return bool(given.precision <= getattr(declared, "precision", 0))
    whole, scale = _decimal_digits(given)
    match declared:
        case DecimalType() if whole is not None:
            return declared.scale >= scale and declared.precision - declared.scale >= whole
        case DecimalType():
            return not isinstance(given, FloatType | DoubleType)
        case FloatType() | DoubleType() if whole is not None:
            return scale == 0 and whole <= _FLOATS[type(declared)]
        case FloatType():
            return not isinstance(given, DoubleType)
        case _:
            return True


def _decimal_digits(type_: DataType) -> tuple[int | None, int]:
    if isinstance(type_, DecimalType):
        return type_.precision - type_.scale, type_.scale
    return _DIGITS.get(type(type_)), 0


def _storage_losses(column: PhysicalColumn) -> Iterator[SinkLoss]:
    """Yield what Spark cannot store of a type."""
    for loss in losses(column.data_type, SPARK):
        path = (column.name, *loss.path)
        if loss.kind is LossKind.DIGITS:
            meaning = "a value with nanoseconds fails the job"
            yield SinkLoss(path, loss.source, loss.target, meaning)
        elif loss.kind is LossKind.NULL_KEYS:
            yield SinkLoss(path, loss.source, loss.target, "a NULL key fails the job")


def _definition(target: BoundTable, connector: SparkConnector) -> Iterator[SinkLoss]:
    """Yield the parts of the definition that only the catalog keeps."""
    table, schema = target.table, target.table.resolved_schema
    if schema.primary_key is not None and Ability.UPSERT not in connector.abilities:
        key = str(schema.primary_key)
        yield SinkLoss(("primary key",), key, "", "it is not enforced: rows are appended")
    for spec in schema.watermark_specs:
        yield SinkLoss(("watermark",), str(spec), "", "batch jobs do not use it")
    commented = [column.name for column in schema.columns if column.comment]
    if table.comment or commented:
        names = ", ".join([*(["the table"] if table.comment else []), *commented])
        yield SinkLoss(("comments",), f"of {names}", "", "only the catalog keeps them")
    for column in schema.columns:
        if isinstance(column, MetadataColumn) and not column.is_persisted():
            yield SinkLoss(
                (column.name,), column.as_summary_string(), "", "read only: it is not written"
            )


def _files(target: BoundTable) -> Iterator[SinkLoss]:
    """Yield what files do not store, for readers without the catalog."""
    options = target.table.options
    form = options.get("format", "")
    if options.get("connector") != "filesystem":
        return
    physical = [
        column
        for column in target.table.resolved_schema.columns
        if isinstance(column, PhysicalColumn)
    ]
    if form in UNTYPED_FILES:
        types = ", ".join(
            f"{column.name} {column.data_type.as_summary_string()}" for column in physical
        )
        yield SinkLoss(("files",), types, "", f"{form} files store no types and no NOT NULL")
    elif form in TYPED_FILES:
        for column in physical:
            for loss in losses(column.data_type, TYPED_FILES[form]):
                if loss.kind not in _ELSEWHERE:
                    meaning = f"in {form} files read without the catalog: {loss.kind.meaning}"
                    yield SinkLoss((column.name, *loss.path), loss.source, loss.target, meaning)


#: Losses that are reported for Spark already.
_ELSEWHERE = frozenset({LossKind.DIGITS, LossKind.NULL_KEYS, LossKind.REFUSED, LossKind.RANGE})


# --- jobs -----------------------------------------------------------------------------------------


def _recorded_batch(
    connector: SparkConnector, target: BoundTable, record: CommitRecord | None
) -> MicroBatch | None:
    """Return the rows of a job with a record as one micro-batch, which is committed once."""
    if record is None:
        return None
    if not isinstance(connector, SupportsMicroBatches):
        raise _without_records(target)
    return MicroBatch(record.sequence, record.number, has_all_rows=True)


def _target_columns(
    connector: SparkConnector, target: BoundTable, columns: Sequence[str] | None
) -> tuple[str, ...] | None:
    """Return the physical columns that INSERT names, if the connector takes them; None for all."""
    if columns is None or Ability.TARGET_COLUMNS not in connector.abilities:
        return None
    physical = [
        column.name
        for column in target.table.resolved_schema.columns
        if isinstance(column, PhysicalColumn)
    ]
    names = tuple(name for name in physical if name in columns)
    return None if len(names) == len(physical) else names


def require_upsert_key(
    query: Relation, columns: Sequence[str] | None, context: WriteContext
) -> None:
    """Refuse changes of which the last of a primary key is not the last one of its row.

    Flink keeps all rows of such a key until they are removed.
    """
    names = list(context.physical_columns) if columns is None else columns
    primary = {place for place, name in enumerate(names) if name in context.upsert_key}
    if not any(key <= primary for key in upsert_keys(query)):
        raise UnsupportedError(
            "changes are applied by the primary key of the table "
            f"{context.identifier.as_summary_string()}, which holds no upsert key of the query",
            code="streaming-not-supported",
            hint="declare the PRIMARY KEY of the table that is read, and select it, or run the job "
            "in batch mode",
        )


def _with_files(connector: SparkConnector, context: WriteContext, query: Relation) -> WriteContext:
    """Return the context with the files of a table that the query reads and the job replaces."""
    reads_itself = any(scan.table.identifier == context.identifier for scan in scans_in(query))
    if not context.overwrite or not reads_itself or not isinstance(connector, SupportsFileListing):
        return context
    with using(context.identifier, context.options, "write"), spark_errors():
        return replace(context, files=connector.list_files(context))


def _without_records(target: BoundTable) -> UnsupportedError:
    return UnsupportedError(
        f"the connector {target.table.options.get('connector')!r} of "
        f"{target.identifier.as_summary_string()} does not record which jobs it has committed, so "
        "a job that was killed may be committed twice",
        code="unsupported-ability",
        hint="keep the rows in a table of files; else write them outside of migrations",
    )


#: Returns the rows that a job writes with their context; None if there is nothing to write.
RowsOfJob: TypeAlias = "Callable[[WriteContext], tuple[DataFrame, WriteContext] | None]"


class ChangesOfQuery(NamedTuple):
    """The changes of a query of bounded tables.

    Attributes:
        query: The query, with the kind of a change as its last column.
        frame_of: Returns the changes with columns; None if there are too many of them.
    """

    query: Relation
    frame_of: Callable[[Columns], DataFrame | None]


class Writer:
    """Prepares jobs that write queries into tables, and finishes those of ended processes."""

    def __init__(self, context: PlannerContext, session: JobSession, reader: Reader) -> None:
        self._context = context
        self._session = session
        self._reader = reader

    def insert(
        self,
        query: Relation,
        target: BoundTable,
        columns: Sequence[str] | None,
        *,
        overwrite: bool,
        partition: Mapping[str, str] | None,
        record: CommitRecord | None = None,
        has_kinds: bool = False,
        on_conflict: str | None = None,
        changes: ChangesOfQuery | None = None,
    ) -> JobGraph:
        """Prepare the write of a query; its rows become visible when all are written.

        With `has_kinds` the last column of the query is the kind of a change. Rows that the action
        `on_conflict` leaves are one for each key: they are written as rows that are added. A table
        of changes gets `changes`, unless there are too many; rows with a key are written once.
        """
        connector = self.open_sink(target, [Ability.OVERWRITE] if overwrite else [])
        batch = _recorded_batch(connector, target, record)
        self._reader.validate(query)  # before Spark is started
        context = self.context(
            connector,
            target,
            overwrite=overwrite,
            partition=partition,
            batch=batch,
            columns=columns,
        )
        context = _with_files(connector, context, query)
        if has_kinds and on_conflict is None:
            require_changes(connector, context)
            if Ability.UPSERT in connector.abilities:
                require_upsert_key(query, columns, context)
            context = replace(context, has_kinds=True)
        frame, reads = self._rows(query, target, columns, connector, has_kinds=has_kinds)
        if on_conflict is not None:
            frame = rows_without_conflicts(frame, context.upsert_key, on_conflict)
        name = f"insert into {target.identifier.as_summary_string()}"
        level = AtomicityLevel.CREATED_FIRST
        is_upserted = Ability.UPSERT in connector.abilities
        if changes is None or is_upserted or not takes_changes(connector, target.table.options):
            return self._job(name, connector, frame, context, level, Registration(), reads)
        sink = Sink(target.table.resolved_schema, columns, self._context.options)
        rows = partial(self._changes_or_rows, frame, changes, sink, connector)
        return self._prepared(name, connector, context, rows, level, Registration(), reads)

    def _changes_or_rows(
        self,
        frame: DataFrame,
        changes: ChangesOfQuery,
        sink: Sink,
        connector: SparkConnector,
        context: WriteContext,
    ) -> tuple[DataFrame, WriteContext]:
        """Return the changes that a job writes, or its rows if there are too many changes."""
        kinds = changes.frame_of(sink.targets(changes.query, has_kind=True))
        if kinds is None:
            return frame, context
        kinds = sink.frame(kinds, connector, zone_of(self._context.options))
        return kinds, replace(context, has_kinds=True)

    def create_as(
        self,
        query: Relation,
        target: BoundTable,
        registration: Registration,
        columns: Sequence[str] | None,
        record: CommitRecord | None = None,
    ) -> JobGraph:
        """Prepare CREATE or REPLACE TABLE AS; see `schema_core.environment.jobs.atomicity`."""
        replaced = registration.replaced
        connector = self.open_new_table(target, replaced)
        batch = _recorded_batch(connector, target, record)
        self._reader.validate(query)  # before Spark is started
        level = choose_level(
            connector,
            target.table.options,
            atomic=registration.atomic,
            replaces=replaced is not None,
        ).level
        context = self.context(
            connector, target, overwrite=replaced is not None, creates=True, replaced=replaced,
            job="" if level is AtomicityLevel.CREATED_FIRST else registration.id, batch=batch,
        )  # fmt: skip
        context = _with_files(connector, context, query)
        frame, reads = self._rows(query, target, columns, connector)
        name = f"create {target.identifier.as_summary_string()}"
        return self._job(name, connector, frame, context, level, registration, reads)

    def problems(
        self, query: Relation, target: BoundTable, replaced: CatalogTable | None
    ) -> Gathering:
        """Return why CREATE or REPLACE TABLE AS of a bounded query would be refused."""
        problems = Gathering()
        with problems.catching():
            Sink(target.table.resolved_schema, None, self._context.options).targets(query)
        with problems.catching():
            connector = self.open_new_table(target, replaced)
            if isinstance(connector, SupportsWriteValidation):
                context = self.context(
                    connector, target, overwrite=replaced is not None, creates=True,
                    replaced=replaced,
                )  # fmt: skip
                with using(context.identifier, context.options, "write"), spark_errors():
                    connector.validate_write(context)
        return problems

    # --- recovery ------------------------------------------------------------------------------

    def was_committed(self, target: BoundTable, job: str) -> bool | None:
        """Return whether the rows of a CREATE TABLE AS are visible; None if unknown."""
        if (opened := self._open_recovery(target, creates=True)) is None:
            return None
        connector, context = opened
        if not isinstance(connector, SupportsRecovery):
            return None
        with using(context.identifier, context.options, "recover"), spark_errors():
            return connector.was_committed(context, job)

    def recover(self, target: BoundTable, job: str, *, creates: bool) -> None:
        """Finish what jobs on the table have committed, and remove what they have not.

        `job` is the id of a CREATE or REPLACE TABLE AS, if any; `creates` removes its rows.
        """
        if (opened := self._open_recovery(target, creates=creates, job=job)) is None:
            return
        connector, context = opened
        with using(context.identifier, context.options, "recover"), spark_errors():
            if isinstance(connector, SupportsRecovery):
                connector.recover(context)
            if creates and isinstance(connector, SupportsCleanUp):
                connector.clean_up(context)

    def has_record(self, target: BoundTable, record: CommitRecord) -> bool:
        """Return whether a table has the record of a job, or a later one of its sequence."""
        connector = self.open_sink(target)
        if not isinstance(connector, SupportsMicroBatches):
            raise _without_records(target)
        context = self.context(connector, target)
        with using(context.identifier, context.options, "recover"), spark_errors():
            last = connector.last_batch(context, record.sequence)
        return last is not None and last >= record.number

    def ensure_storage(self, table: BoundTable) -> None:
        """Create the storage of a table that its connector cannot read without."""
        if isinstance(installed_connector(table.table.options), SupportsEmptyStorage):
            connector = self.open_sink(table)
            context = self.context(connector, table)
            with using(context.identifier, context.options, "write"), spark_errors():
                cast("SupportsEmptyStorage", connector).ensure_storage(context)

    def _open_recovery(
        self, target: BoundTable, *, creates: bool, job: str = ""
    ) -> tuple[SparkConnector, WriteContext] | None:
        """Return the connector of a table to recover; None if there is nothing to do."""
        installed = installed_connector(target.table.options)
        if not isinstance(installed, SupportsRecovery | SupportsCleanUp):
            return None
        connector = self.open_sink(target)
        return connector, self.context(connector, target, creates=creates, job=job)

    # --- steps ---------------------------------------------------------------------------------

    def open_sink(self, target: BoundTable, needed: Collection[Ability] = ()) -> SparkConnector:
        """Return the connector of a table, with the abilities that the write needs."""
        connector = open_spark_connector(target, "write", self._context.options)
        if target.table.partition_keys:
            needed = {*needed, Ability.PARTITIONS}
        if target.table.distribution is not None:
            needed = {*needed, Ability.BUCKETS}
        with using(target.identifier, target.table.options, "write"):
            require_abilities(connector, needed)
        return connector

    def open_new_table(self, target: BoundTable, replaced: CatalogTable | None) -> SparkConnector:
        """Return the connector of CREATE or REPLACE TABLE AS, with the abilities that it needs."""
        connector = self.open_sink(target)
        with using(target.identifier, target.table.options, "write"):
            more = creation_abilities(connector, target.table.options)
            require_abilities(connector, needed_abilities(connector, replaced), more)
        return connector

    def context(
        self,
        connector: SparkConnector,
        target: BoundTable,
        *,
        overwrite: bool = False,
        partition: Mapping[str, str] | None = None,
        creates: bool = False,
        replaced: CatalogTable | None = None,
        job: str = "",
        batch: MicroBatch | None = None,
        columns: Sequence[str] | None = None,
    ) -> WriteContext:
        """Return the context of a write for its connector; `columns` are those of INSERT."""
        return WriteContext(
            target.identifier,
            target.table,
            snapshot(self._context.options),
            target.is_temporary,
            session=self._session.open_session(),
            zone=zone_of(self._context.options),
            metadata=metadata_types(connector, target.table, persisted=True),
            overwrite=overwrite,
            partition=partition,
            creates=creates,
            replaced=replaced,
            job=job,
            batch=batch,
            target_columns=_target_columns(connector, target, columns),
        )

    def _rows(
        self,
        query: Relation,
        target: BoundTable,
        columns: Sequence[str] | None,
        connector: SparkConnector,
        *,
        has_kinds: bool = False,
    ) -> tuple[DataFrame, list[Read]]:
        """Return the rows as the table's connector writes them, and their sources."""
        self._reader.session_for(query)  # the sources are validated before the columns
        sink = Sink(target.table.resolved_schema, columns, self._context.options)
        reads: list[Read] = []
        targets = sink.targets(query, has_kind=has_kinds)
        frame = self._reader.frame(query, targets, reads=reads)
        frame = sink.frame(frame, connector, zone_of(self._context.options))
        tasks = PARALLELISM.of(self._context.options)
        if tasks is not None and "sink.parallelism" not in target.table.options:
            frame = frame.coalesce(tasks)
        return frame, reads

    def _job(
        self,
        name: str,
        connector: SparkConnector,
        frame: DataFrame,
        context: WriteContext,
        level: AtomicityLevel,
        registration: Registration,
        reads: Sequence[Read],
    ) -> JobGraph:
        """Prepare a job that writes rows, staged if the connector supports it."""
        return self._prepared(
            name, connector, context, lambda context: (frame, context), level, registration, reads
        )

    def unstaged_job(self, name: str, context: WriteContext, write: Callable[[], None]) -> JobGraph:
        """Prepare a job that is one transaction of another system, which makes it visible."""
        located = partial(using, context.identifier, context.options, "write")
        transaction = TableTransaction(AtomicityLevel.CREATED_FIRST, Unstaged(), Registration())
        properties = local_properties(context.session)
        job = SparkJob(context.session, name, write, transaction, located, properties)
        return JobGraph(name, job, [context.identifier])

    def row_level_job(
        self,
        name: str,
        connector: SparkConnector,
        context: WriteContext,
        rows: RowsOfJob,
        reads: Sequence[Read],
    ) -> JobGraph:
        """Prepare a job that deletes or updates rows, staged if the connector supports it."""
        level = AtomicityLevel.CREATED_FIRST
        return self._prepared(name, connector, context, rows, level, Registration(), reads)

    def _prepared(
        self,
        name: str,
        connector: SparkConnector,
        context: WriteContext,
        rows: RowsOfJob,
        level: AtomicityLevel,
        registration: Registration,
        reads: Sequence[Read],
    ) -> JobGraph:
        located = partial(using, context.identifier, context.options, "write")
        properties = local_properties(context.session)
        with located():
            stage: Stage = Unstaged()
            if level is AtomicityLevel.ROLLED_BACK and isinstance(connector, SupportsCleanUp):
                stage = Unstaged(partial(connector.clean_up, context))
            if isinstance(connector, SupportsWriteValidation):
                with spark_errors():
                    connector.validate_write(context)
            if stages(connector, context):
                with spark_errors():
                    stage = connector.stage(context)
                context = replace(context, stage=stage)

            def write() -> None:
                with diagnosing(reads):
                    if (written := rows(context)) is None:
                        return
                    write_rows(connector, *written)

            transaction = TableTransaction(level, stage, registration)
            job = SparkJob(context.session, name, write, transaction, located, properties)
            return JobGraph(name, job, [context.identifier])
