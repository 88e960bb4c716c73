"""The rows of a table that a connector reads: checked, cast, and with computed columns.

A connector may be third-party code. The frame that its `read` returns is checked once, before the
query is compiled: its session, its columns and their Spark types. Metadata is cast to the types of
its columns, NOT NULL is checked, and computed columns are computed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from schema_core.errors import ExternalError, Gathering, UnsupportedError, at, similar
from schema_core.mappings.spark.pyspark_types import to_spark, to_spark_sql
from schema_core.schema.columns import Column, ComputedColumn, MetadataColumn
from schema_core.spark.compiler.expression import (
    TranslationContext,
    compile_expression,
    from_physical,
    to_physical,
)
from schema_core.spark.compiler.functions.casts import convert
from schema_core.spark.compiler.printer import quote
from schema_core.spark.compiler.projection import NamedNode, select
from schema_core.spark.compiler.tree import NULL, Cast
from schema_core.spark.compiler.tree import Column as ColumnNode
from schema_core.spark.connector import (
    ReadContext,
    SparkConnector,
    SupportsStatisticReport,
    SupportsStreamingRead,
    metadata_column,
    raw_column,
)
from schema_core.spark.reading.read_contexts import columns_used
from schema_core.spark.session.api_mode import is_same_session
from schema_core.spark.writing.row_checks import required
from schema_core.types import DataType

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType as SparkType


class Source(NamedTuple):
    """All columns of a table, in order, and the raw columns of those that are `raw`."""

    frame: DataFrame
    raw: tuple[str, ...] = ()


def source_frame(
    connector: SparkConnector,
    context: ReadContext,
    needed: Collection[str] | None = None,
    database: str | None = None,
    *,
    streams: bool = False,
) -> Source:
    """Return all columns of a table, in order, as its connector reads them.

    Args:
        connector: The connector of the table.
        context: What to read.
        needed: The columns that the query reads; the others are NULL. None for all.
        database: The current database, which computed columns may call.
        streams: Whether the frame is that of a streaming job, which reads an unbounded table.

    Raises:
        UnsupportedError: with code `streaming-not-supported` for a connector without streams.
        ExternalError: as `checked_frame`.
    """
    columns = context.table.resolved_schema.columns
    used = {column.name for column in columns} if needed is None else columns_used(context, needed)
    metadata = {metadata_column(key): type_ for key, type_ in context.metadata.items()}
    declared = {**context.columns, **metadata}
    unused = context.physical_columns.keys() - context.columns.keys()
    names = {column.name for column in columns}
    raws = {raw_column(name): name for name in context.columns if raw_column(name) not in names}
    read = _stream(connector, context) if streams else connector.read(context)
    ignored = {*unused, *raws.keys()}
    frame = checked_frame(read, declared, connector.identifier, context.session, ignored)
    raw = tuple(raws[field.name] for field in frame.schema.fields if field.name in raws)
    without_null = {field.name for field in frame.schema.fields if not field.nullable}
    if isinstance(connector, SupportsStatisticReport) and not streams:
        without_null.update(connector.columns_without_null(frame, context))
    stored = [
        _absent(column)
        if column.name not in used
        else _metadata(column, connector.metadata[column.key], context.zone)
        if isinstance(column, MetadataColumn)
        else _physical(column, without_null)
        for column in columns
        if not isinstance(column, ComputedColumn)
    ]
    kept = [(ColumnNode(raw_column(name)), raw_column(name)) for name in raw]
    frame = select(frame, [*stored, *kept])
    if len(stored) < len(columns):
        computed = (
            _computed(column, context.zone, database) if column.name in used else _absent(column)
            for column in columns
        )
        frame = select(frame, [*computed, *kept])
    return Source(frame, raw)


def _stream(connector: SparkConnector, context: ReadContext) -> DataFrame:
    """Return an unbounded table as a streaming frame."""
    if not isinstance(connector, SupportsStreamingRead):
        raise UnsupportedError(
            f"the connector {connector.identifier!r} cannot read unbounded tables",
            code="streaming-not-supported",
            hint="set the options that bound the table",
        )
    return connector.read_stream(context)


def _absent(column: Column) -> NamedNode:
    """Return NULL for a column that no query reads."""
    return Cast(NULL, to_spark_sql(column.data_type)), column.name


def _physical(column: Column, without_null: set[str]) -> NamedNode:
    """Return a physical column, checked for forbidden NULLs."""
    type_ = column.data_type.nullable() if column.name in without_null else column.data_type
    return required(ColumnNode(column.name), type_, column.name), column.name


def _metadata(column: MetadataColumn, given: DataType, zone: str) -> NamedNode:
    """Return a metadata column: the connector's metadata, cast to the declared type."""
    type_ = column.data_type
    with at(f"column {column.name!r}"):
        value = from_physical(ColumnNode(metadata_column(column.key)), given)
        node = to_physical(convert(value, given.nullable(), type_.nullable(), zone), type_)
    # a cast that does not fail keeps NOT NULL
    return required(
        node, type_ if given.is_nullable else type_.nullable(), column.name
    ), column.name


def _computed(column: Column, zone: str, database: str | None) -> NamedNode:
    """Return a column of the table; computed ones are computed from the other columns."""
    if not isinstance(column, ComputedColumn):
        return ColumnNode(column.name), column.name
    context = TranslationContext(
        zone, lambda ref: from_physical(ColumnNode(ref.name), ref.type), database=database
    )
    with at(f"column {column.name!r}"):
        node = compile_expression(column.expression.typed, context)
    return to_physical(node, column.data_type), column.name


# --- frames of connectors ------------------------------------------------------------------------


def checked_frame(
    given: object,
    declared: Mapping[str, DataType],
    connector: str,
    session: SparkSession,
    ignored: Collection[str] = (),
) -> DataFrame:
    """Return what a connector's `read` returned, if it is a frame of the declared columns.

    Columns are matched by name, with case; nullability and metadata of the frame are not compared.
    The frame may have columns that are `ignored`.

    Raises:
        ExternalError: with code `invalid-connector-result`, for every column that is missing,
            extra, ambiguous or of another type, and for what is not a frame of this session.
    """
    frame = _frame_of(given, connector, session)
    found = Gathering()
    for problem in _problems(frame, declared, connector, ignored):
        with found.catching():
            raise problem
    found.raise_all()
    return frame


def _frame_of(frame: object, connector: str, session: SparkSession) -> DataFrame:
    from pyspark.sql import DataFrame

    if not isinstance(frame, DataFrame):
        raise ExternalError(
            f"connector {connector!r} returned {type(frame).__name__!r} from read, "
            "expected a DataFrame of Spark",
            code="invalid-connector-result",
        )
    if not is_same_session(frame, session):
        raise ExternalError(
            f"connector {connector!r} returned a DataFrame of another Spark session",
            code="invalid-connector-result",
            hint="create the frame with the session that read receives",
        )
    return frame


def _problems(
    frame: DataFrame, declared: Mapping[str, DataType], connector: str, ignored: Collection[str]
) -> Iterator[ExternalError]:
    """Yield every difference between the columns of a frame and those that it must have."""
    given = {field.name: field.dataType for field in frame.schema.fields}
    expected = {name: to_spark(type_) for name, type_ in declared.items()}
    for name, count in Counter(frame.columns).items():
        if count > 1:
            yield _problem(connector, f"column {name!r} {count} times")
    for name, type_ in expected.items():
        if name not in given:
            problem = f"no column {name!r}, expected one of type {type_.simpleString()}"
            extra = [one for one in given if one not in expected and one not in ignored]
            yield _problem(connector, problem, similar(name, extra))
        elif comparable(given[name]) != comparable(type_):
            actual = given[name].simpleString()
            yield _problem(
                connector,
                f"column {name!r} of type {actual}, expected {type_.simpleString()}",
                f"cast the column in read: {quote(name)} AS {type_.simpleString().upper()}",
            )
    for name in (one for one in given if one not in expected and one not in ignored):
        yield _problem(connector, f"column {name!r}, which the table does not have")


def _problem(connector: str, what: str, hint: str | None = None) -> ExternalError:
    problem = f"connector {connector!r} returned {what}"
    return ExternalError(problem, code="invalid-connector-result", hint=hint)


def comparable(type_: SparkType) -> object:
    """Return a Spark type without nullability and lengths of strings, for comparison."""
    from pyspark.sql import types

    match type_:
        case types.StructType(fields=fields):
            return [(field.name, comparable(field.dataType)) for field in fields]
        case types.ArrayType():
            return ("array", comparable(type_.elementType))
        case types.MapType():
            return ("map", comparable(type_.keyType), comparable(type_.valueType))
        case types.CharType() | types.VarcharType():
            return types.StringType().simpleString()
        case _:
            return type_.simpleString()
