"""Rows of DataFrames, Arrow, pandas and polars that queries read directly, without a connector.

Jobs read the analysed plan of the user's DataFrame, which contains types, time zones and ANSI mode.
Only Python functions take the time zone of the session that runs them, so a DataFrame that calls
one runs in its own session if the two zones differ.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, cast
from weakref import WeakKeyDictionary, finalize

from schema_core.base.lazy import regex
from schema_core.base.plugins import require_modules
from schema_core.base.text import show
from schema_core.environment.table_api.inline import InlineRows
from schema_core.errors import ExternalError, SchemaError, UnsupportedError
from schema_core.mappings.arrow.schemas import from_schema
from schema_core.mappings.arrow.spark import exactly_for_spark
from schema_core.mappings.arrow.tables import as_table, check_values, of_pandas
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
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.resolved import ResolvedSchema
from schema_core.schema.unresolved import Schema
from schema_core.spark.compiler.tree import Cast, NamedNode, Node, quote
from schema_core.spark.compiler.tree import Column as ColumnNode
from schema_core.spark.jobs import spark_errors
from schema_core.spark.reading.sources import comparable
from schema_core.spark.session.api_mode import (
    in_session,
    is_connect,
    is_running,
    java_class,
    not_over_connect,
)
from schema_core.spark.session.frames import select
from schema_core.spark.session.session import TemporaryNames, create_view, drop_view
from schema_core.spark.writing.row_checks import of_exact_type
from schema_core.types import DataType

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession


def rows_of(
    library: str | None,
    data: object,
    schema: object,
    zone: str,
) -> InlineRows:
    """Return the rows of an object of `library`; None accepts spark, arrow, pandas and polars.

    For pandas, `schema` has names or types of the columns. Errors: `wrong-argument`, `not-a-value`,
    `duplicate-column`, `type-not-in-flink`, `streaming-not-supported`, `not-over-connect`, and
    `spark-session-stopped` for a DataFrame of a stopped session.
    """
    library = library or _library(data)
    match library:
        case "spark":
            frame = _require_running_frame(data)
            return InlineRows(
                _resolve_schema(from_struct_type(frame.schema)), _Frame(frame), library
            )
        case "pandas":
            table = of_pandas(data, schema, zone)
        case "polars":
            require_modules("polars")
            import polars as pl

            collected = data.collect() if isinstance(data, pl.LazyFrame) else data
            if not isinstance(collected, pl.DataFrame):
                raise SchemaError(
                    f"frame must be a polars DataFrame, got {show(collected)}",
                    code="wrong-argument",
                )
            table = as_table(collected.to_arrow())
        case _:
            table = as_table(data)
    resolved = _resolve_schema(from_schema(table.schema))
    check_values(table)
    return InlineRows(resolved, _ArrowRows(exactly_for_spark(table), resolved), library)


def _library(data: object) -> str:
    """Return the library of an object of rows by its class's package (`wrong-argument`)."""
    package = type(data).__module__.partition(".")[0]
    libraries = {"pyspark": "spark", "pyarrow": "arrow", "pandas": "pandas", "polars": "polars"}
    if package in libraries:
        return libraries[package]
    if hasattr(data, "__arrow_c_stream__"):
        return "arrow"
    raise SchemaError(
        f"table must be a Table or rows of Spark, Arrow, pandas or polars, got {show(data)}",
        code="wrong-argument",
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
            f"df must be a DataFrame of Spark, got {show(data)}", code="wrong-argument"
        )
    if not is_running(data.sparkSession):
        raise ExternalError(
            "the Spark session of the DataFrame is stopped", code="spark-session-stopped"
        )
    if data.isStreaming:
        raise UnsupportedError(
            "a streaming DataFrame cannot be read by a batch job", code="streaming-not-supported"
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
    def _plan(self) -> Any:
        return self._frame._jdf.queryExecution().analyzed()  # noqa: SLF001

    def read(self, session: SparkSession) -> DataFrame:
        if is_connect(session) or is_connect(self._frame):
            return self._read_over_connect(session)
        if self._frame.sparkSession.sparkContext is not session.sparkContext:
            raise ExternalError(
                "the DataFrame belongs to another SparkContext than the jobs of the environment",
                code="spark-session-stopped",
                hint="create the DataFrame again in the running session",
            )
        if self.calls_python and _has_own_zone(self._frame, session):
            return _import_rows(self._frame, session)
        return in_session(self._frame, session)

    def _read_over_connect(self, session: SparkSession) -> DataFrame:
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
            self._shared = session, in_session(self._frame, session)
        return self._shared[1]


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


def inline_frame(rows: InlineRows, session: SparkSession) -> DataFrame:
    """Return rows as a frame of a session, in the physical types of their columns.

    A value that is not of the exact type fails the job: Spark keeps a DataFrame's metadata of exact
    types even where it changes values, such as the first's in a union of TIMESTAMP(0) and
    TIMESTAMP(6).
    """
    content = cast("_Frame | _ArrowRows", rows.content)  # `rows_of` made it
    with spark_errors():
        frame = content.read(session)
        if isinstance(content, _ArrowRows):
            return frame
        stored = {field.name: field.dataType for field in frame.schema.fields}
        columns = rows.schema.columns
        return select(frame, (_physical(each.name, each.data_type, stored) for each in columns))


def _physical(name: str, type_: DataType, given: Mapping[str, Any]) -> NamedNode:
    node: Node = ColumnNode(name)
    expected = to_spark(type_)
    if comparable(given[name]) != comparable(expected):
        node = Cast(node, to_spark_sql(type_))
    return of_exact_type(node, type_, name), name


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

    def name(self, rows: InlineRows, names: TemporaryNames) -> str:
        """Return the view of rows, as SQL; it lives as long as they and the query."""
        session = names.session
        is_own = isinstance(rows.content, _Frame) and not rows.content.is_fixed
        if is_own or is_connect(session):  # a plan of Connect may be analysed after the rows end
            return names.view(inline_frame(rows, session))
        with self._lock:
            self._enter(session)
            name = self._names.get(rows)
            if name is None:
                name = self._names[rows] = create_view(inline_frame(rows, session))
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
