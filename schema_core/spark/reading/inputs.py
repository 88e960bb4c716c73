"""Rows of DataFrames, Arrow, pandas and polars that queries read directly, without a connector.

Jobs read the analysed plan of the user's DataFrame, which contains types, time zones and ANSI mode.
Only Python functions take the time zone of the session that runs them, so a DataFrame that calls
one runs in its own session if the two zones differ.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast
from weakref import WeakKeyDictionary, finalize

from schema_core.base.lazy import regex
from schema_core.base.plugins import require_modules
from schema_core.base.text import show
from schema_core.environment.connector import Boundedness
from schema_core.environment.table_api.inline import InlineRows
from schema_core.errors import ExternalError, SchemaError, UnsupportedError, similar
from schema_core.mappings.arrow.schemas import from_schema
from schema_core.mappings.arrow.spark import exactly_for_spark
from schema_core.mappings.arrow.tables import (
    as_table,
    check_values,
    of_pandas,
    select_columns,
)
from schema_core.mappings.spark.pyspark_types import (
    as_months,
    as_nullable,
    from_struct_type,
    of_months,
    to_spark,
    to_spark_sql,
    to_struct_type,
    type_sql,
    with_microseconds,
)
from schema_core.schema.columns import plain
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.resolved import ResolvedSchema
from schema_core.schema.unresolved import Schema
from schema_core.spark.compiler.expression import from_physical, to_physical
from schema_core.spark.compiler.functions.casts import convert
from schema_core.spark.compiler.tree import Cast, NamedNode, Node, quote
from schema_core.spark.compiler.tree import Column as ColumnNode
from schema_core.spark.connector import ConnectorBase, metadata_column
from schema_core.spark.jobs import spark_errors
from schema_core.spark.reading.sources import comparable
from schema_core.spark.session.api_mode import (
    in_session,
    is_connect,
    is_running,
    java_class,
    not_over_connect,
    with_metadata,
)
from schema_core.spark.session.frames import select
from schema_core.spark.session.session import TemporaryNames, create_view, drop_view
from schema_core.spark.writing.row_checks import of_exact_type
from schema_core.types import AnyTimestampType, DataType, LocalZonedTimestampType
from schema_core.types.common import common_type

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from schema_core.spark.connector import ReadContext

#: Types of polars that Arrow does not have: objects would be their addresses.
_NOT_IN_ARROW: Final = ("Object", "Int128", "UInt128")
#: The type of the metadata `rowtime`.
ROWTIME: Final = LocalZonedTimestampType(3)
#: Metadata of the column on which `withWatermark` was called: the delay in milliseconds.
DELAY: Final = "spark.watermarkDelayMs"


def rows_of(
    library: str | None,
    data: object,
    schema: object,
    declared: Mapping[str, DataType] | None,
    zone: str,
) -> InlineRows:
    """Return the rows of an object of `library`; None accepts spark, arrow, pandas and polars.

    For pandas, `schema` has names or types of the columns; `declared` has the types of the columns
    that are read by their names, for all libraries.
    Errors: `invalid-argument`, `invalid-data`, `duplicate-column`, `type-not-supported`,
    `not-over-connect`, `unknown-column` and `not-assignable` for declared columns, and
    `spark-session-stopped` for a DataFrame of a stopped session.
    """
    library = library or _library(data)
    match library:
        case "spark":
            return _rows_of_spark(_require_running_frame(data), declared)
        case "pandas":
            if declared is not None:
                data, schema = _select_series(data, declared)
            table = of_pandas(data, schema, zone)
        case "polars":
            require_modules("polars")
            import polars as pl

            collected = data.collect() if isinstance(data, pl.LazyFrame) else data
            if not isinstance(collected, pl.DataFrame):
                raise SchemaError(
                    f"frame must be a polars DataFrame, got {show(collected)}",
                    code="invalid-argument",
                )
            for name, type_ in collected.schema.items():
                if str(type_) in _NOT_IN_ARROW:
                    raise UnsupportedError(
                        f"Flink has no type for the type {type_} of polars",
                        code="type-not-supported",
                        path=(f"column {name!r}",),
                        hint="cast the column to another type",
                    )
            table = as_table(collected.to_arrow())
        case _:
            table = as_table(data)
    if declared is not None and library != "pandas":
        _require_names(table.schema.names, declared)
        table = select_columns(table, declared)
    resolved = _resolve_schema(from_schema(table.schema))
    check_values(table)
    rows = _ArrowRows(exactly_for_spark(table), resolved)
    return InlineRows(resolved, InlineSource(rows, resolved), library)


def _rows_of_spark(frame: DataFrame, declared: Mapping[str, DataType] | None) -> InlineRows:
    given = resolved = _resolve_schema(from_struct_type(frame.schema))
    if declared is not None:
        _require_assignable(given, declared)
        resolved = ResolvedSchema.physical(list(declared), list(declared.values()))
    # the column on which `withWatermark` was called, and its delay in milliseconds
    delays = {field.name: field.metadata.get(DELAY) for field in frame.schema}
    event_time = next((name for name, delay in delays.items() if delay is not None), None)
    if event_time is None or not frame.isStreaming:
        return InlineRows(resolved, InlineSource(_Frame(frame), given), "spark", frame.isStreaming)
    source = InlineSource(_Frame(frame), given, event_time)
    lateness = timedelta(milliseconds=delays[event_time])
    return InlineRows(resolved, source, "spark", True, source.metadata, lateness)


def _require_names(names: Sequence[str], declared: Iterable[str]) -> None:
    for name in declared:
        if name not in names:
            raise SchemaError(
                f"the DataFrame has no column {name!r}",
                code="unknown-column",
                hint=similar(name, names),
            )


def _require_assignable(given: ResolvedSchema, declared: Mapping[str, DataType]) -> None:
    """Require that values of the DataFrame's columns lose nothing in their declared types."""
    types = {column.name: column.data_type for column in given.columns}
    _require_names(list(types), declared)
    for name, type_ in declared.items():
        of_frame, target = types[name].nullable(), type_.nullable()
        if comparable(to_spark(of_frame)) == comparable(to_spark(target)):
            continue
        if isinstance(of_frame, AnyTimestampType) and isinstance(target, AnyTimestampType):
            continue
        if common_type([of_frame, target]) != target:
            raise SchemaError(
                f"column {name!r} is {type_}, but that of the DataFrame is {types[name]}",
                code="not-assignable",
                hint="cast the column of the DataFrame, or declare a computed column with CAST",
            )


def _select_series(data: Any, declared: Mapping[str, DataType]) -> tuple[Any, list[DataType]]:
    """Return the declared columns of a pandas DataFrame, and their types."""
    require_modules("pandas")
    import pandas as pd

    if not isinstance(data, pd.DataFrame):
        return data, []  # refused later
    names = [str(name) for name in data.columns]
    _require_names(names, declared)
    selected = data.iloc[:, [names.index(name) for name in declared]]
    return selected.set_axis(list(declared), axis="columns"), list(declared.values())


def _library(data: object) -> str:
    """Return the library of an object of rows by its class's package (`invalid-argument`)."""
    package = type(data).__module__.partition(".")[0]
    libraries = {"pyspark": "spark", "pyarrow": "arrow", "pandas": "pandas", "polars": "polars"}
    if package in libraries:
        return libraries[package]
    if hasattr(data, "__arrow_c_stream__"):
        return "arrow"
    raise SchemaError(
        f"table must be a Table or rows of Spark, Arrow, pandas or polars, got {show(data)}",
        code="invalid-argument",
    )


def _resolve_schema(schema: Schema) -> ResolvedSchema:
    """Return the resolved schema; types are resolved already, names may be duplicates."""
    if not schema.columns:
        raise SchemaError("the rows have no columns", code="missing-columns")
    return SchemaResolver(streaming=False).resolve(schema)


def _require_running_frame(data: object) -> DataFrame:
    require_modules("pyspark.sql")
    from pyspark.sql import DataFrame

    if not isinstance(data, DataFrame):
        raise SchemaError(
            f"df must be a DataFrame of Spark, got {show(data)}", code="invalid-argument"
        )
    if not is_running(data.sparkSession):
        raise ExternalError(
            "the Spark session of the DataFrame is stopped", code="spark-session-stopped"
        )
    return data


# --- in a job -------------------------------------------------------------------------------------


#: Operators of physical plans that run Python.
_OF_PYTHON = regex("Python|Pandas|InArrow")
ZONE: Final = "spark.sql.session.timeZone"
#: Leaves of analysed plans that hold rows.
FIXED: Final = frozenset({"LocalRelation", "OneRowRelation", "Range"})


class _Frame:
    """A DataFrame of the user."""

    def __init__(self, frame: DataFrame) -> None:
        self._frame = frame
        self._shared: tuple[SparkSession, DataFrame] | None = None

    @cached_property
    def calls_python(self) -> bool:
        """Whether the plan contains Python functions, which read their session's time zone.

        Over Spark Connect its text is searched for their operators, which names may contain.
        """
        session = self._frame.sparkSession
        if is_connect(session):
            connect: Any = self._frame
            plan = connect._explain_string(extended=True)  # noqa: SLF001
            return _OF_PYTHON.search(plan) is not None
        pattern = java_class(session, "org.apache.spark.sql.catalyst.trees.TreePattern")
        return bool(self._plan.containsPattern(pattern.PYTHON_UDF()))

    @cached_property
    def is_fixed(self) -> bool:
        """Whether the plan holds its rows: Spark lists the files of tables when it plans."""
        if is_connect(self._frame):
            return False
        leaves = self._plan.collectLeaves()
        names = {leaves.apply(place).nodeName() for place in range(leaves.size())}
        return names <= FIXED and not self.calls_python

    @property
    def is_streaming(self) -> bool:
        """Whether the rows of the frame never end."""
        return bool(self._frame.isStreaming)

    @property
    def _plan(self) -> Any:
        return self._frame._jdf.queryExecution().analyzed()  # noqa: SLF001

    def read(self, session: SparkSession) -> DataFrame:
        if is_connect(session) or is_connect(self._frame):
            return self._read_over_connect(self._frame, session)
        if self._frame.sparkSession.sparkContext is not session.sparkContext:
            raise ExternalError(
                "the DataFrame belongs to another SparkContext than the jobs of the environment",
                code="spark-session-stopped",
                hint="create the DataFrame again in the running session",
            )
        if self.calls_python and _has_own_zone(self._frame, session):
            return _import_rows(self._frame, session)
        return in_session(self._frame, session)

    def read_stream(self, session: SparkSession) -> DataFrame:
        """Return the rows without the watermark of the frame: Spark refuses a second one.

        A watermark is kept below operators that have state.
        """
        if is_connect(session) and is_connect(self._frame):
            return self._read_over_connect(_without_connect_watermark(self._frame), session)
        frame = self.read(session)
        from pyspark.sql.classic.dataframe import DataFrame

        dataset = java_class(session, "org.apache.spark.sql.classic.Dataset")
        plan = _without_watermark(frame, frame._jdf.queryExecution().analyzed())  # noqa: SLF001
        return DataFrame(dataset.ofRows(session._jsparkSession, plan), session)  # noqa: SLF001

    def _read_over_connect(self, frame: DataFrame, session: SparkSession) -> DataFrame:
        hint = "use from_arrow(df.toArrow())"
        if is_connect(session) and not is_connect(self._frame):
            raise not_over_connect("a DataFrame of this process", hint)
        if not is_connect(session):
            raise not_over_connect("a DataFrame in a SparkContext of this process", hint)
        if _has_own_zone(self._frame, session) and self.calls_python:
            raise not_over_connect(
                "a DataFrame with Python functions and another time zone",
                f"set {ZONE!r} of its session to the time zone of the environment, or {hint}",
            )
        if self._shared is None or self._shared[0] is not session:
            self._shared = session, in_session(frame, session)
        return self._shared[1]


def _without_connect_watermark(frame: DataFrame) -> DataFrame:
    """Return a DataFrame of Spark Connect without the watermarks that no operator with state reads.

    A projection with the id of the watermark replaces it: columns refer to plans by their ids.
    """
    from pyspark.sql.connect import plan as plans
    from pyspark.sql.connect.dataframe import DataFrame as ConnectFrame
    from pyspark.sql.connect.functions import col

    stateless = (plans.Filter, plans.Project, plans.SubqueryAlias, plans.WithColumns, plans.Drop)

    def without(plan: Any) -> Any:
        is_watermark = isinstance(plan, plans.WithWatermark)
        if not is_watermark and not isinstance(plan, stateless):
            return plan
        child, number = without(plan._child), plan._root_plan_id  # noqa: SLF001
        result: Any = plans.Project(child, [col("*")]) if is_watermark else copy(plan)
        result._child, result._root_plan_id = child, number  # noqa: SLF001
        return result

    connect: Any = frame
    return ConnectFrame(without(connect._plan), frame.sparkSession)  # noqa: SLF001


#: Operators of one input that have no state.
STATELESS: Final = frozenset({"Filter", "Project", "SubqueryAlias", "View"})


def _without_watermark(frame: DataFrame, plan: Any) -> Any:
    """Return an analysed plan without the watermarks that no operator with state reads."""
    name = plan.nodeName()
    if name == "EventTimeWatermark":
        return _without_watermark(frame, plan.child())
    if name not in STATELESS:
        return plan
    (child,) = (plan.children().apply(place) for place in range(plan.children().size()))
    rebuilt = _without_watermark(frame, child)
    return plan.withNewChildren(frame._jseq([rebuilt]))  # noqa: SLF001


class _ArrowRows:
    """An Arrow table, sent to Spark for the first query that reads it."""

    def __init__(self, table: pa.Table, schema: ResolvedSchema) -> None:
        self._table = table
        self._schema = schema
        self._sent: tuple[SparkSession, DataFrame] | None = None

    def read(self, session: SparkSession) -> DataFrame:
        if self._sent is None or self._sent[0] is not session:
            self._sent = session, self._send(session)
        return self._sent[1]

    def _send(self, session: SparkSession) -> DataFrame:
        from pyspark.sql.types import StructField, StructType

        fields: list[Any] = []
        selected: list[NamedNode] = []
        for field in to_struct_type(self._schema, on_loss="note").fields:
            casts = of_months(field.dataType)
            sent = as_months(field.dataType)[-1] if casts else field.dataType
            if is_connect(session) and (timed := with_microseconds(sent)) is not sent:
                sent, casts = timed, casts or [field.dataType]
            fields.append(StructField(field.name, as_nullable(sent)))
            node: Node = ColumnNode(field.name)
            for type_ in casts:
                node = Cast(node, type_sql(type_))
            selected.append((node, field.name))
        frame = session.createDataFrame(self._table, schema=StructType(fields))
        return select(frame, selected)


class InlineSource(ConnectorBase):
    """The rows of an object as a source, which returns columns in their declared types.

    A value that is not of the exact type fails the job: Spark keeps a DataFrame's metadata of exact
    types even where it changes values, such as the first's in a union of TIMESTAMP(0) and
    TIMESTAMP(6).
    """

    identifier: ClassVar[str] = "inline"

    def __init__(
        self, rows: _Frame | _ArrowRows, given: ResolvedSchema, event_time: str | None = None
    ) -> None:
        self.rows = rows
        self.metadata = {} if event_time is None else {"rowtime": ROWTIME}
        self._event_time = event_time
        self._given = {column.name: column.data_type for column in given.columns}

    def is_fixed(self, schema: ResolvedSchema) -> bool:
        """Whether the object holds its rows as those of a schema, in every time zone."""
        return isinstance(self.rows, _ArrowRows) or (
            self.rows.is_fixed
            and all(self._given[each.name] == each.data_type for each in schema.columns)
        )

    def boundedness(self, options: Mapping[str, str]) -> Boundedness:
        is_streaming = isinstance(self.rows, _Frame) and self.rows.is_streaming
        return Boundedness.CONTINUOUS_UNBOUNDED if is_streaming else Boundedness.BOUNDED

    def monitor_interval(self, options: Mapping[str, str]) -> None:
        """Rows arrive whenever the source of the DataFrame has some."""

    def read(self, context: ReadContext) -> DataFrame:
        """Return the rows (`unbounded-table` for a streaming DataFrame)."""
        if self.boundedness({}) is not Boundedness.BOUNDED:
            raise SchemaError(
                "the rows of a streaming DataFrame have no end",
                code="unbounded-table",
                hint="read it in streaming mode: EnvironmentSettings.in_streaming_mode()",
            )
        return self.frame(context.columns, context.session, context.zone)

    def read_stream(self, context: ReadContext) -> DataFrame:
        """Return the rows of a streaming DataFrame as they arrive."""
        frame = self.frame(context.columns, context.session, context.zone, context.metadata)
        # the column of the frame's own watermark is marked in its metadata
        return with_metadata(frame, {name: {} for name in frame.columns})

    def frame(
        self,
        columns: Mapping[str, DataType],
        session: SparkSession,
        zone: str,
        metadata: Mapping[str, DataType] | None = None,
    ) -> DataFrame:
        """Return columns as a frame of a session, in their physical types."""
        with spark_errors():
            if isinstance(self.rows, _ArrowRows):
                return self.rows.read(session)
            rows = self.rows
            frame = rows.read_stream(session) if rows.is_streaming else rows.read(session)
            stored = {field.name: field.dataType for field in frame.schema.fields}
            nodes = [
                (self._convert(name, type_, stored, zone), name) for name, type_ in columns.items()
            ]
            if metadata and self._event_time is not None:
                rowtime = self._convert(self._event_time, ROWTIME, stored, zone, exact=False)
                nodes += ((rowtime, metadata_column(key)) for key in metadata)
            return select(frame, nodes)

    def _convert(
        self,
        name: str,
        type_: DataType,
        stored: Mapping[str, Any],
        zone: str,
        *,
        exact: bool = True,
    ) -> Node:
        """Return a column in a declared type; a value that loses digits fails if `exact`."""
        given, node = self._given[name], ColumnNode(name)
        value: Node = node
        if comparable(stored[name]) != comparable(to_spark(given)):
            value = Cast(node, to_spark_sql(given))
        if given != type_ and not exact:
            value = _cast_physical(value, given, type_, zone)
        elif comparable(to_spark(given)) != comparable(to_spark(type_)):
            value = _cast_physical(value, given, _with_all_digits(given, type_), zone)
        return of_exact_type(value, type_, name) if exact else value


def _cast_physical(node: Node, given: DataType, type_: DataType, zone: str) -> Node:
    value = convert(from_physical(node, given), given.nullable(), type_.nullable(), zone)
    return to_physical(value, type_)


def _with_all_digits(given: DataType, type_: DataType) -> DataType:
    """Return a timestamp type with all digits of another, so that lost ones are noticed."""
    if isinstance(given, AnyTimestampType) and isinstance(type_, AnyTimestampType):
        return type(type_)(max(given.precision, type_.precision), type_.is_nullable)
    return type_


def inline_frame(rows: InlineRows, session: SparkSession, zone: str) -> DataFrame:
    """Return rows as a frame of a session, in the physical types of their columns."""
    columns = {column.name: plain(column.data_type) for column in rows.schema.columns}
    return source_of(rows).frame(columns, session, zone)


def source_of(rows: InlineRows) -> InlineSource:
    """Return the source of rows that `rows_of` returned."""
    return cast("InlineSource", rows.content)


class InlineViews:
    """Views of rows that queries read directly, in one session at a time; threads may share it.

    The next query after rows are deleted drops their view and calls `forget` with its name. Rows of
    a DataFrame that may differ the next time have no lasting view.
    """

    def __init__(self, forget: Callable[[str], None]) -> None:
        self._forget = forget
        self._lock = threading.Lock()
        self._session: SparkSession | None = None
        self._names: WeakKeyDictionary[InlineRows, str] = WeakKeyDictionary()
        self._unused: deque[str] = deque()

    def name(self, rows: InlineRows, names: TemporaryNames, zone: str) -> str:
        """Return the view of rows, as SQL; it lives as long as they and the query."""
        session = names.session
        is_own = not source_of(rows).is_fixed(rows.schema)
        if is_own or is_connect(session):  # a plan of Connect may be analysed after the rows end
            return names.view(inline_frame(rows, session, zone))
        with self._lock:
            self._enter(session)
            name = self._names.get(rows)
            if name is None:
                name = self._names[rows] = create_view(inline_frame(rows, session, zone))
                finalize(rows, self._unused.append, name)
        return quote(name)

    def drop_unused(self, session: SparkSession) -> None:
        """Drop the views of rows that are deleted."""
        with self._lock:
            self._enter(session)
            while self._unused:
                name = self._unused.popleft()
                self._forget(name)
                drop_view(session, name)

    def _enter(self, session: SparkSession) -> None:
        """Forget the views of another session, whose SparkContext was stopped."""
        if self._session is not session:
            self._session, self._names, self._unused = session, WeakKeyDictionary(), deque()


# --- between sessions -----------------------------------------------------------------------------


def _has_own_zone(frame: DataFrame, session: SparkSession) -> bool:
    return bool(frame.sparkSession.conf.get(ZONE) != session.conf.get(ZONE))


def _import_rows(frame: DataFrame, session: SparkSession) -> DataFrame:
    """Return a DataFrame's rows, planned in its own session, as another's frame."""
    from pyspark.sql.classic.dataframe import DataFrame

    java = frame._jdf  # noqa: SLF001
    rows = java.queryExecution().toRdd()
    made = session._jsparkSession.internalCreateDataFrame(rows, java.schema(), False)  # noqa: SLF001
    return DataFrame(made, session)
