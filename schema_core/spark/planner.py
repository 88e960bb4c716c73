"""The planner `spark`: runs resolved queries as batch jobs of Spark with Flink's semantics."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from schema_core.environment.connector import Ability, opened, require_abilities, using
from schema_core.environment.options import LOCAL_TIME_ZONE, RUNTIME_MODE, ConfigOption, choice
from schema_core.environment.planner import (
    BoundTable,
    Job,
    JobStatusHook,
    PlannerContext,
    Registration,
    Rows,
)
from schema_core.errors import SchemaError, UnsupportedError, at
from schema_core.formats.spark.pyspark_types import to_spark_sql
from schema_core.query.relation import Column, Columns, Relation, Scan, result_columns
from schema_core.spark.compiler.expression import from_physical
from schema_core.spark.compiler.functions.casts import convert, fit
from schema_core.spark.compiler.printer import aliased, quote
from schema_core.spark.compiler.query import query_text
from schema_core.spark.compiler.template import inline
from schema_core.spark.compiler.tree import Cast, Node, fail
from schema_core.spark.compiler.tree import Column as ColumnNode
from schema_core.spark.connectors import SparkConnector, for_spark
from schema_core.spark.jobs import Mode, TableTransaction, mode_of, run_job, spark_errors
from schema_core.spark.row_checks import checked_source, required
from schema_core.spark.session import JobSession, TemporaryNames
from schema_core.spark.user_functions import UserCalls
from schema_core.types import (
    MAX_LENGTH,
    CharType,
    DataType,
    LengthType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    NullType,
    RowType,
    StructuredType,
    VarCharType,
    YearMonthIntervalType,
    supports_implicit_cast,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NOT_NULL = ConfigOption(
    "table.exec.sink.not-null-enforcer",
    choice("ERROR", "DROP"),
    "ERROR",
    "whether a NULL in a NOT NULL column fails the job, or its row is dropped",
)
LENGTH = ConfigOption(
    "table.exec.sink.type-length-enforcer",
    choice("IGNORE", "TRIM_PAD", "ERROR"),
    "IGNORE",
    "what happens to a string that exceeds the length of its column",
)

STRING = VarCharType(MAX_LENGTH)


class SparkPlanner:
    """Run queries in a Spark session of its own, which is opened for the first one."""

    identifier: Final = "spark"
    requires: Final = ("pyspark",)

    def __init__(self, context: PlannerContext) -> None:
        self.context = context
        self._session = JobSession(cast("SparkSession | None", context.session))

    @property
    def session(self) -> SparkSession:
        """The session that jobs run in; see `JobSession.get` for what may be raised."""
        return self._session.get()

    # --- the Planner interface --------------------------------------------------------------

    def select(self, query: Relation) -> Rows:
        """Return the rows of a query, which runs when they are first read."""
        self._require_batch()
        columns = result_columns(query)
        frame = self._frame(self.session, query, columns)
        return Rows(
            tuple((one.name, one.type) for one in columns),
            _values(frame, columns),
            lambda: _texts(frame, columns, self._zone),
        )

    def insert(
        self,
        query: Relation,
        target: BoundTable,
        *,
        columns: Sequence[str] | None = None,
        overwrite: bool = False,
        partition: Mapping[str, str] | None = None,
        hooks: Sequence[JobStatusHook] = (),
    ) -> Job:
        """Write a query into a table; its rows become visible when all are written."""
        self._require_batch()
        needed = {Ability.OVERWRITE} if overwrite else set()
        connector = self._sink(target, needed)
        session = self.session
        frame = self._sink_frame(session, query, target, columns)
        with using(target.identifier, target.table.options, "write"):
            with spark_errors():
                stage = connector.stage(session, target, overwrite=overwrite, partition=partition)
            return run_job(
                session,
                f"insert into {target.identifier.as_summary_string()}",
                lambda: connector.write(frame, target, stage),
                hooks,
                TableTransaction(Mode.PLAIN, stage, Registration(_nothing, _nothing)),
            )

    def create_as(
        self,
        query: Relation,
        target: BoundTable,
        registration: Registration,
        *,
        columns: Sequence[str] | None = None,
        hooks: Sequence[JobStatusHook] = (),
    ) -> Job:
        """Run CREATE or REPLACE TABLE AS, by the actions in `schema_core.spark.jobs`.

        REPLACE needs a connector that can overwrite and, where it is to be atomic, one that can
        stage: otherwise old and new rows would be mixed, or the old ones lost if the job fails.
        """
        self._require_batch()
        old = registration.replaced
        needed = {Ability.OVERWRITE} if old is not None else set()
        if old is not None and registration.atomic:
            needed.add(Ability.STAGING)
        connector = self._sink(target, needed)
        session = self.session
        frame = self._sink_frame(session, query, target, columns)
        mode = mode_of(registration, can_stage=Ability.STAGING in connector.abilities)
        with using(target.identifier, target.table.options, "write"):
            with spark_errors():
                stage = connector.stage(
                    session, target, overwrite=old is not None, creates=True, replaced=old
                )
            return run_job(
                session,
                f"create {target.identifier.as_summary_string()}",
                lambda: connector.write(frame, target, stage),
                hooks,
                TableTransaction(mode, stage, registration),
            )

    def explain(self, query: Relation) -> str:
        """Return the query in Spark SQL and Spark's plan."""
        self._require_batch()
        frame = self._frame(self.session, query, result_columns(query))
        with spark_errors():
            plan = frame._jdf.queryExecution().toString()  # noqa: SLF001
        return str(plan)

    # --- inputs --------------------------------------------------------------------------------

    @property
    def _zone(self) -> str:
        return LOCAL_TIME_ZONE.of(self.context.options) or "UTC"

    def _require_batch(self) -> None:
        if RUNTIME_MODE.of(self.context.options) == "STREAMING":
            raise UnsupportedError(
                "the Spark planner runs batch jobs only",
                code="streaming-not-supported",
                hint="create the environment with EnvironmentSettings.in_batch_mode(), "
                "or SET 'execution.runtime-mode' = 'batch'",
            )

    def _connector(self, bound: BoundTable, purpose: str) -> SparkConnector:
        """Return the connector of a table after validating its options."""
        options = bound.table.options
        with using(bound.identifier, options, purpose):
            connector = opened(bound, purpose, self.context.options)
            return for_spark(connector)

    def _sink(self, target: BoundTable, needed: set[Ability]) -> SparkConnector:
        """Return the connector of a table to write, with the abilities that the write needs."""
        connector = self._connector(target, "write")
        if target.table.partition_keys:
            needed = {*needed, Ability.PARTITIONS}
        with using(target.identifier, target.table.options, "write"):
            require_abilities(connector, needed)
        return connector

    def _read(self, session: SparkSession, scan: Scan) -> DataFrame:
        """Return all columns of a table, checked."""
        bound = self.context.source(scan)
        connector = self._connector(bound, "read")
        with using(bound.identifier, bound.table.options, "read"), spark_errors():
            read = connector.read(session, bound, self._zone)
            schema = bound.table.resolved_schema
            return checked_source(read, schema, connector.identifier, session)

    def _frame(self, session: SparkSession, query: Relation, targets: Columns) -> DataFrame:
        """Return a query as a frame with these columns, by position."""
        for column in targets:
            if isinstance(column.type, NullType):
                raise UnsupportedError(
                    f"column {column.name!r} has the type NULL", code="untyped-null"
                )
        with TemporaryNames(session) as names:
            text = query_text(
                query,
                lambda scan: names.view(self._read(session, scan)),
                self._zone,
                targets=targets,
                user=UserCalls(names, self._zone),
            )
            with spark_errors():
                return session.sql(text)

    # --- sinks ---------------------------------------------------------------------------------

    def _sink_frame(
        self,
        session: SparkSession,
        query: Relation,
        target: BoundTable,
        columns: Sequence[str] | None,
    ) -> DataFrame:
        """Return the rows for a table: all persisted columns, in order, checked."""
        fields = target.table.resolved_schema.to_sink_row_data_type().fields
        types = {one.name: one.data_type for one in fields}
        given = list(types) if columns is None else list(columns)
        targets = _assignable(query, given, types)
        frame = self._frame(session, query, targets)
        rest = [name for name in types if name not in given]
        missing = [one for one in rest if not types[one].is_nullable]
        if missing:
            raise SchemaError(f"no value for NOT NULL column {missing[0]!r}", code="missing-value")
        columns_sql = [
            _unknown(name, type_) if name in rest else self._checked(name, type_)
            for name, type_ in types.items()
        ]
        if NOT_NULL.of(self.context.options) == "DROP":
            required = [
                f"{quote(name)} IS NOT NULL" for name in types if not types[name].is_nullable
            ]
            frame = frame.where(" AND ".join(required)) if required else frame
        return frame.selectExpr(*columns_sql)

    def _checked(self, name: str, type_: DataType) -> str:
        """Return a column with the checks of its type."""
        node: Node = ColumnNode(name)
        rule = LENGTH.of(self.context.options)
        if isinstance(type_, LengthType) and type_.length < MAX_LENGTH:
            if rule == "TRIM_PAD":
                node = fit(node, STRING, type_)
            elif rule == "ERROR":
                node = _fitting(node, name, type_)
        return aliased(required(node, type_, name), name)


def _unknown(name: str, type_: DataType) -> str:
    """Return NULL for a column that the query does not fill."""
    return f"CAST(NULL AS {to_spark_sql(type_)}) AS {quote(name)}"


def _fitting(node: Node, name: str, type_: LengthType) -> Node:
    symbol = "<>" if isinstance(type_, CharType) else ">"
    return inline(
        f"if(length({{v}}) {symbol} {{length}}, {{problem}}, {{v}})",
        v=node,
        length=type_.length,
        problem=fail(f"column {name!r}: a value does not fit {type_.as_summary_string()}"),
    )


def _assignable(query: Relation, names: Sequence[str], types: dict[str, DataType]) -> Columns:
    """Return the target columns of a query; each column must cast to its target implicitly.

    Raises:
        SchemaError: with code `sink-column-mismatch` or `sink-type-mismatch`.
    """
    given = result_columns(query)
    unknown = [name for name in names if name not in types]
    if unknown or len(given) != len(names):
        raise SchemaError(
            f"the query has {len(given)} columns, expected {len(names)}"
            if not unknown
            else f"the table has no writable column {unknown[0]!r}",
            code="sink-column-mismatch",
        )
    for one, name in zip(given, names, strict=True):
        with at(f"column {name!r}"):
            if not supports_implicit_cast(one.type.nullable(), types[name].nullable()):
                raise SchemaError(
                    f"{one.type.as_summary_string()} of the query does not fit "
                    f"{types[name].as_summary_string()}",
                    code="sink-type-mismatch",
                    hint="add a CAST to the query",
                )
    return tuple(Column(name, types[name]) for name in names)


def _nothing() -> None:
    return None


# --- rows ----------------------------------------------------------------------------------------


def _values(frame: DataFrame, columns: Columns) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a frame as Python values, fetched one partition at a time."""
    selected = [aliased(_portable(ColumnNode(one.name), one.type), one.name) for one in columns]
    with spark_errors():
        for row in frame.selectExpr(*selected).toLocalIterator():
            yield tuple(_value(value, one.type) for value, one in zip(row, columns, strict=True))


def _portable(node: Node, type_: DataType) -> Node:
    """Return a column that PySpark can fetch: months as integers, instants as UTC datetimes."""
    match type_:
        case YearMonthIntervalType():
            return from_physical(node, type_)
        case LocalZonedTimestampType():
            return Cast(node, "TIMESTAMP_NTZ")
        case _:
            return node


def _value(value: Any, type_: DataType) -> Any:
    """Convert a value of PySpark to the Python value of its Flink type."""
    match type_:
        case _ if value is None:
            return None
        case LocalZonedTimestampType() if isinstance(value, dt.datetime):
            return value.replace(tzinfo=dt.UTC)
        case RowType() | StructuredType():
            pairs = zip(value, type_.fields, strict=True)
            return tuple(_value(one, field.data_type) for one, field in pairs)
        case MapType() | MultisetType():
            return dict(value)
        case _:
            return bytes(value) if isinstance(value, bytearray) else value


def _as_string(node: Node, type_: DataType, zone: str) -> Node:
    return convert(from_physical(node, type_), type_.nullable(), STRING, zone)


def _texts(frame: DataFrame, columns: Columns, zone: str) -> Iterator[tuple[str | None, ...]]:
    """Yield the rows of a frame as the strings that Flink prints."""
    selected = [
        aliased(_as_string(ColumnNode(one.name), one.type, zone), one.name) for one in columns
    ]
    with spark_errors():
        for row in frame.selectExpr(*selected).toLocalIterator():
            yield tuple(row)
