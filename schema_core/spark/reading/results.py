"""The rows of a query: as Python values, record batches, pandas, and a DataFrame.

Rows are fetched as Arrow while the caller reads: one partition first, then as many as are expected
to fit into `WAVE` bytes. Results that Spark returns without computing all partitions (constants,
LIMIT) are fetched at once. Each call to the JVM is a round trip, which a query of few rows notices.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from schema_core.errors import ExternalError
from schema_core.mappings.arrow.schemas import to_schema
from schema_core.mappings.arrow.spark import to_exact_layout
from schema_core.mappings.spark.pyspark_types import (
    as_fetched,
    as_months,
    as_nullable,
    from_spark,
    to_spark,
    to_struct_field,
    type_sql,
)
from schema_core.query.relation import Column, Columns
from schema_core.schema.columns import plain
from schema_core.schema.resolved import ResolvedSchema
from schema_core.spark.compiler.expression import convert_parts, from_physical
from schema_core.spark.compiler.functions.casts import convert
from schema_core.spark.compiler.translation import BYTES, NANOS, has_nanoseconds, is_fine
from schema_core.spark.compiler.tree import (
    Cast,
    Fact,
    NamedNode,
    Node,
    call,
    quote,
    string,
    unsupported_error,
)
from schema_core.spark.compiler.tree import Column as ColumnNode
from schema_core.spark.connector import Read, diagnosed_rows
from schema_core.spark.jobs import spark_errors
from schema_core.spark.session.api_mode import (
    first_partition,
    functions_of,
    in_session,
    is_connect,
    java_class,
    java_context,
    session_settings,
    static_method,
)
from schema_core.spark.session.frames import select
from schema_core.spark.session.session import active_session
from schema_core.types import (
    MAX_LENGTH,
    AnyTimestampType,
    ArrayType,
    Bitmap,
    BitmapType,
    CharType,
    DataType,
    DistinctType,
    FloatType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    NanosecondDatetime,
    RowType,
    StructuredType,
    VarCharType,
    VariantType,
)
from schema_core.types.values import shortest_float

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType as SparkType
    from pyspark.sql.types import StructField

STRING = VarCharType(MAX_LENGTH)

#: Bytes that one job is expected to fetch at most; a single partition may have more.
WAVE = 32 << 20

#: The growth of the number of partitions from one job to the next.
GROWTH = 4

#: Rows that are fetched at once where Spark computes no more.
AT_ONCE = 10_000


# --- Python values --------------------------------------------------------------------------------


def python_rows(
    frame: DataFrame, columns: Columns, *, may_be_small: bool = True
) -> Iterator[tuple[Any, ...]]:
    """Yield a frame's rows as Python values (`job-failed` for NULL in a NOT NULL column).

    `may_be_small` is whether Spark may return the rows without computing all partitions.
    """
    types = [column.type for column in columns]
    # LISTAGG and ARRAY_AGG of no rows are NULL in Flink, too, despite their NOT NULL types
    may_be_null = CharType | VarCharType | ArrayType
    required = [
        place
        for place, type_ in enumerate(types)
        if not type_.is_nullable and not isinstance(type_, may_be_null)
    ]
    with spark_errors(frame.sparkSession):
        frame = cast_for_transport(frame, columns, as_fetched)
        if may_be_small and _is_small(frame) and not any(map(_has_lists_as_keys, types)):
            for row in frame.collect():
                for place in required:
                    if row[place] is None:
                        raise _null_in(columns[place].name)
                yield tuple(_value(value, type_) for value, type_ in zip(row, types, strict=True))
            return
        for batch in arrow_batches(frame):
            for place in required:
                if batch.column(place).null_count:
                    raise _null_in(columns[place].name)
            arrays = [
                values_of(array, type_) for array, type_ in zip(batch.columns, types, strict=True)
            ]
            yield from zip(*arrays, strict=True)


def _has_lists_as_keys(type_: DataType) -> bool:
    """Return whether maps have arrays in keys, which PySpark cannot collect."""
    return any(
        isinstance(part, MapType | MultisetType)
        and any(isinstance(inner, ArrayType) for inner in part.children()[0].walk())
        for part in type_.walk()
    )


def _null_in(column: str) -> ExternalError:
    return ExternalError(
        f"column {column!r} is NOT NULL but received NULL",
        code="job-failed",
    )


def string_rows(
    frame: DataFrame, columns: Columns, zone: str, *, may_be_small: bool = True
) -> Iterator[tuple[str | None, ...]]:
    """Yield a frame's rows as the strings that Flink prints; see `python_rows`."""
    strings: list[NamedNode] = []
    for place, column in enumerate(columns):
        value: Node = ColumnNode(column.name)
        nanoseconds = NANOS in _type_in(frame, place, column).json()
        value = from_physical(value, column.type, nanoseconds=nanoseconds)
        value, type_ = _print_bytes(value, column.type), _without_bytes(column.type.nullable())
        text = convert(value, type_, STRING, zone)
        if text.facts & Fact.UDF_IN_LAMBDA:
            raise unsupported_error(
                f"{column.type.as_summary_string()} is not printed: Spark calls no Python UDF "
                "within a collection",
                hint="read the rows with collect()",
            )
        strings.append((text, column.name))
    with spark_errors():
        frame = select(frame, strings)
    with spark_errors(frame.sparkSession):
        if may_be_small and _is_small(frame):
            yield from map(tuple, frame.collect())
            return
        for batch in arrow_batches(frame):
            yield from zip(*(array.to_pylist() for array in batch.columns), strict=True)


def _print_bytes(node: Node, type_: DataType) -> Node:
    """Return a value whose bytes are strings such as ``x'0102'``, as Flink prints them."""
    if isinstance(type_, BYTES):
        return call("concat", "x'", call("lower", call("hex", node)), "'")
    if any(isinstance(part, BYTES) for part in type_.walk()):
        return convert_parts(node, type_, _print_bytes)
    return node


def _without_bytes(type_: DataType) -> DataType:
    """Return the type of a value that `_print_bytes` returns."""
    if isinstance(type_, BYTES):
        return STRING
    if any(isinstance(part, BYTES) for part in type_.walk()):
        return type_.rebuild(tuple(map(_without_bytes, type_.children())))
    return type_


def _is_small(frame: DataFrame) -> bool:
    """Return whether Spark computes few partitions for a few rows; unknown over Spark Connect."""
    if is_connect(frame):
        return False
    plan = frame._jdf.queryExecution().executedPlan()  # noqa: SLF001
    name = plan.nodeName()
    if name == "AdaptiveSparkPlan":
        plan = plan.inputPlan()
        name = plan.nodeName()
    match name:
        case "LocalTableScan":
            return int(plan.rows().size()) <= AT_ONCE
        case "CollectLimit" | "TakeOrderedAndProject":
            return 0 <= int(plan.limit()) <= AT_ONCE
        case _:
            return False


def _value(value: Any, type_: DataType) -> Any:
    """Convert PySpark's value to the Python value of its Flink type."""
    match type_:
        case _ if value is None:
            return None
        case AnyTimestampType() if not isinstance(value, dt.datetime):
            return _nanoseconds(_value(value[0], type_), value[1])
        case LocalZonedTimestampType():
            return value.replace(tzinfo=dt.UTC)
        case RowType() | StructuredType():
            pairs = zip(value, type_.fields, strict=True)
            return tuple(_value(item, field.data_type) for item, field in pairs)
        case ArrayType():
            return [_value(element, type_.element_type) for element in value]
        case MapType():
            return {
                _hashable(_value(key, type_.key_type)): _value(item, type_.value_type)
                for key, item in value.items()
            }
        case MultisetType():
            return {
                _hashable(_value(key, type_.element_type)): count for key, count in value.items()
            }
        case DistinctType():
            return _value(value, type_.source_type)
        case BitmapType():
            return Bitmap.from_bytes(value)
        case FloatType():
            return shortest_float(value)
        case _:
            return bytes(value) if isinstance(value, bytearray) else value


def _nanoseconds(micros: dt.datetime, nanosecond: int) -> dt.datetime:
    """Return a datetime; with nanoseconds it is a `NanosecondDatetime`."""
    return NanosecondDatetime.of(micros, nanosecond) if nanosecond else micros


def values_of(array: Any, type_: DataType) -> list[Any]:
    """Return Spark's Arrow array as Python values of a Flink type."""
    match type_:
        case AnyTimestampType() if is_fine(type_) and array.type.num_fields:
            micros = values_of(array.field(0), type_)
            pairs = zip(micros, array.field(1).to_pylist(), strict=True)
            return [at and _nanoseconds(at, nano) for at, nano in pairs]
        case LocalZonedTimestampType():
            return [value and value.replace(tzinfo=dt.UTC) for value in array.to_pylist()]
        case RowType() | StructuredType():
            parts = [
                values_of(array.field(index), field.data_type)
                for index, field in enumerate(type_.fields)
            ]
            return _unless_null(array, zip(*parts, strict=True) if parts else [()] * len(array))
        case ArrayType():
            return _slice_values(array, values_of(array.values, type_.element_type), list)
        case MapType(key_type=key, value_type=value):
            keys = map(_hashable, values_of(array.keys, key))
            return _slice_values(
                array, list(zip(keys, values_of(array.items, value), strict=True)), dict
            )
        case MultisetType(element_type=element):
            keys = map(_hashable, values_of(array.keys, element))
            return _slice_values(array, list(zip(keys, array.items.to_pylist(), strict=True)), dict)
        case DistinctType():
            return values_of(array, type_.source_type)
        case FloatType():  # the shortest digits, as in Flink
            return [text and float(text) for text in array.cast("string").to_pylist()]
        case BitmapType():
            return [data and Bitmap.from_bytes(data) for data in array.to_pylist()]
        case VariantType():
            from pyspark.sql.types import VariantVal

            return [
                value and VariantVal(value["value"], value["metadata"])
                for value in array.to_pylist()
            ]
        case _:
            return list(array.to_pylist())


def _hashable(key: Any) -> Any:
    return tuple(map(_hashable, key)) if isinstance(key, list) else key


def _unless_null(array: Any, values: Any) -> list[Any]:
    if not array.null_count:
        return list(values)
    valid = array.is_valid().to_pylist()
    return [value if ok else None for ok, value in zip(valid, values, strict=True)]


def _slice_values(array: Any, values: list[Any], make: Callable[[Any], Any]) -> list[Any]:
    offsets = array.offsets.to_pylist()
    parts = (make(values[begin:end]) for begin, end in pairwise(offsets))
    return _unless_null(array, parts)


# --- Arrow ----------------------------------------------------------------------------------------


def arrow_batches(frame: DataFrame) -> Iterator[pa.RecordBatch]:
    """Yield a frame's rows as record batches in Spark's layout, as they are read.

    Spark Connect fetches all rows first.
    """
    import pyarrow as pa

    session = frame.sparkSession
    if is_connect(session):
        yield from _fetch_table(frame).to_batches()
        return
    context = java_context(session.sparkContext)
    run_job = static_method(session, "org.apache.spark.api.python.PythonRDD", "runJob")
    schema = _wire_schema(frame)
    # Tasks outside of an SQL execution get the session's settings from this RDD.
    with active_session(session):
        rows = java_class(session, "org.apache.spark.sql.execution.SQLExecutionRDD")(
            frame._jdf.toArrowBatchRdd(),  # noqa: SLF001
            session_settings(session),
        )
        count = rows.getNumPartitions()
    place = fetched = 0
    width = 1
    java_rows = rows.toJavaRDD() if count else None
    while place < count:
        end = min(place + width, count)
        served = run_job(context, java_rows, _java_list(session, range(place, end)))
        place = end
        with _blocks(session, served) as blocks:
            for block in blocks:
                fetched += len(block)
                yield pa.ipc.read_record_batch(pa.py_buffer(block), schema)
        expected = max(1, fetched // place)
        width = max(1, min(GROWTH * width, WAVE // expected))


def _java_list(session: SparkSession, partitions: range) -> Any:
    """Return partitions as a Java list, each of which is a round trip but for the first one."""
    if partitions == range(1):
        return first_partition(session)
    chosen = java_class(session, "java.util.ArrayList")()
    for partition in partitions:
        chosen.append(partition)
    return chosen


def _fetch_table(frame: DataFrame) -> pa.Table:
    import pyarrow as pa

    if is_connect(frame):
        # PySpark refuses NOT NULL fields of rows that are NULL
        nullable = _cast(
            frame,
            (
                (
                    field.name,
                    [as_nullable(field.dataType)] if _NOT_NULL in field.dataType.json() else [],
                )
                for field in frame.schema.fields
            ),
        )
        return nullable.toArrow().cast(_wire_schema(nullable))
    return pa.Table.from_batches(frame._collect_as_arrow(), _wire_schema(frame))  # noqa: SLF001


#: In the JSON of a type with a NOT NULL field of a row.
_NOT_NULL = '"nullable":false'


def _wire_schema(frame: DataFrame) -> pa.Schema:
    """Return the schema of the record batches that Spark writes."""
    from pyspark.sql.pandas.types import to_arrow_schema

    return to_arrow_schema(frame.schema, timezone="UTC")


@contextmanager
def _blocks(session: SparkSession, served: Any) -> Iterator[Iterator[bytes]]:
    """Connect to a result's socket; yield an iterator over its blocks.

    `served` is an array of the port and a secret, of which py4j would read the length each time.
    """
    from pyspark.serializers import read_int
    from pyspark.util import _create_local_socket

    def read() -> Iterator[bytes]:
        while True:
            try:
                size = read_int(stream)
            except EOFError:
                return
            yield stream.read(size)

    item = partial(static_method(session, "java.lang.reflect.Array", "get"), served)
    stream, socket = _create_local_socket((item(0), item(1)))
    try:
        yield read()
    finally:
        stream.close()
        socket.close()


def arrow_reader(
    frame: DataFrame, resolved: ResolvedSchema, reads: Sequence[Read] = ()
) -> pa.RecordBatchReader:
    """Return a reader of a frame of `as_exchanged`, with the schema of `mappings.arrow.to_schema`.

    Errors are those of `diagnosing` the sources in `reads`.
    """
    import pyarrow as pa

    schema = to_schema(resolved)

    def batches() -> Iterator[pa.RecordBatch]:
        with spark_errors(frame.sparkSession):
            for batch in arrow_batches(frame):
                arrays = [
                    to_exact_layout(array, field.type)
                    for array, field in zip(batch.columns, schema, strict=True)
                ]
                yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    return pa.RecordBatchReader.from_batches(schema, diagnosed_rows(batches(), reads))


# --- pandas ---------------------------------------------------------------------------------------

#: Up to this, every integer is a double.
EXACT_INTEGER = 1 << 53

NESTED = (RowType, StructuredType, ArrayType, MapType, MultisetType, VariantType, DistinctType)


def columns_of(schema: ResolvedSchema) -> Columns:
    """Return the columns of a result, with the types of a schema."""
    return tuple(Column(column.name, plain(column.data_type)) for column in schema.columns)


def pandas_frame(frame: DataFrame, resolved: ResolvedSchema, zone: str) -> pd.DataFrame:
    """Return a frame of `as_exchanged` as a pandas DataFrame."""
    import pandas as pd

    columns = columns_of(resolved)
    with spark_errors(frame.sparkSession):
        table = _fetch_table(frame)
        series = {
            place: _series(array, column.type, zone)
            for place, (array, column) in enumerate(zip(table.columns, columns, strict=True))
        }
    result = pd.DataFrame(series, index=pd.RangeIndex(table.num_rows))
    result.columns = pd.Index([column.name for column in columns], dtype=object)
    return result


def _series(array: Any, type_: DataType, zone: str) -> Any:
    import pandas as pd
    import pyarrow as pa

    if isinstance(type_, NESTED):
        values = [value for chunk in array.chunks for value in values_of(chunk, type_)]
        series = pd.Series([None] * len(values), dtype=object)
        series[:] = values
        return series
    if isinstance(type_, LocalZonedTimestampType):
        array = array.cast(pa.timestamp("us", zone))
    return array.to_pandas(
        date_as_object=True,
        coerce_temporal_nanoseconds=False,
        integer_object_nulls=_is_beyond_doubles(array),
    )


def _is_beyond_doubles(array: Any) -> bool:
    """Return whether integers have a NULL and a value that is not a double."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_int64(array.type) or not array.null_count:
        return False
    bounds = pc.min_max(array).as_py()
    least, greatest = bounds["min"] or 0, bounds["max"] or 0
    return bool(least < -EXACT_INTEGER or greatest > EXACT_INTEGER)


# --- types that are not fetched as they are ------------------------------------------------------


def cast_for_transport(
    frame: DataFrame, columns: Columns, casts: Callable[[SparkType], Sequence[SparkType]]
) -> DataFrame:
    """Return a frame whose columns are cast to the types of `casts`, one after the other."""
    return _cast(
        frame,
        (
            (column.name, casts(_type_in(frame, place, column)))
            for place, column in enumerate(columns)
        ),
    )


def _type_in(frame: DataFrame, place: int, column: Column) -> SparkType:
    """Return the Spark type of a column, which is a struct if a timestamp keeps nanoseconds."""
    stored: SparkType = (
        frame.schema.fields[place].dataType
        if has_nanoseconds(column.type)
        else to_spark(column.type)
    )
    return stored


def _cast(frame: DataFrame, casts: Iterable[tuple[str, Sequence[SparkType]]]) -> DataFrame:
    casts = [*casts]
    if not any(types for _, types in casts):
        return frame
    selected: list[tuple[Node, str]] = []
    for name, types in casts:
        node: Node = ColumnNode(name)
        for type_ in types:
            node = Cast(node, type_sql(type_))
        selected.append((node, name))
    return select(frame, selected)


# --- DataFrames -----------------------------------------------------------------------------------


def to_user_frame(frame: DataFrame, schema: ResolvedSchema, session: SparkSession) -> DataFrame:
    """Return a frame in the user's session, with exact types as metadata.

    Columns and their parts are NOT NULL where their types are; Spark would derive nullability anew.
    """
    if is_connect(session):
        return _to_connect_user_frame(frame, schema, session)
    from pyspark.sql.classic.column import Column as SparkColumn

    # PySpark's own functions make eight calls into the JVM for each column
    functions = java_class(session, "org.apache.spark.sql.functions")
    metadata = java_class(session, "org.apache.spark.sql.types.Metadata")
    catalyst = "org.apache.spark.sql.catalyst.expressions"
    utilities = java_class(session, "org.apache.spark.sql.classic.ExpressionUtils")
    known_not_null = java_class(session, f"{catalyst}.KnownNotNull")
    retyped = java_class(session, f"{catalyst}.PreciseTimestampConversion")
    spark_types = java_class(session, "org.apache.spark.sql.types.DataType")
    selected = []
    with spark_errors():
        for item, given in zip(schema.columns, frame.schema.fields, strict=True):
            type_ = plain(item.data_type)
            field = to_struct_field(item.name, type_, item.comment, on_loss="note")
            column = functions.col(quote(item.name))
            has_other_type = without_metadata(given.dataType) != without_metadata(field.dataType)
            if has_other_type or _has_exact_fields(type_, given):
                old, new = (spark_types.fromJson(each.dataType.json()) for each in (given, field))
                value = utilities.expression(frame._jdf.col(quote(item.name)))  # noqa: SLF001
                column = utilities.column(retyped(value, old, new))
            if given.nullable and not field.nullable:
                column = utilities.column(known_not_null(utilities.expression(column)))
            described = metadata.fromJson(json.dumps(field.metadata))
            selected.append(SparkColumn(getattr(column, "as")(item.name, described)))
        return in_session(frame.select(*selected), session)


def _to_connect_user_frame(
    frame: DataFrame, schema: ResolvedSchema, session: SparkSession
) -> DataFrame:
    from pyspark.sql.types import StructType

    expr = functions_of(session).expr
    selected, fields, has_exact_fields = [], [], False
    with spark_errors():
        for item, given in zip(schema.columns, frame.schema.fields, strict=True):
            field = to_struct_field(item.name, plain(item.data_type), item.comment, on_loss="note")
            column = expr(with_nullability(quote(item.name), given, field))
            selected.append(column.alias(item.name, metadata=field.metadata))
            fields.append(field)
            has_exact_fields |= _has_exact_fields(plain(item.data_type), given)
        result = frame.select(*selected)
        return in_session(result.to(StructType(fields)) if has_exact_fields else result, session)


def _has_exact_fields(type_: DataType, given: StructField) -> bool:
    """Return whether fields within a column have types that Spark's type does not express.

    Their metadata is the exact type of the columns that a query of Spark makes of them.
    """
    if not any(isinstance(part, RowType | StructuredType) for part in type_.walk()):
        return False
    return from_spark(given.dataType) != type_.nullable()


def as_exchanged(schema: ResolvedSchema, frame: DataFrame) -> DataFrame:
    """Return a frame with column types that Spark converts to Arrow."""
    with spark_errors():
        return cast_for_transport(frame, columns_of(schema), as_months)


def without_metadata(spark: SparkType) -> object:
    """Return a Spark type without metadata of fields, for comparison with nullability."""
    from pyspark.sql import types

    match spark:
        case types.StructType(fields=fields):
            return [
                (field.name, without_metadata(field.dataType), field.nullable) for field in fields
            ]
        case types.ArrayType():
            return ("array", without_metadata(spark.elementType), spark.containsNull)
        case types.MapType():
            key, value = without_metadata(spark.keyType), without_metadata(spark.valueType)
            return ("map", key, value, spark.valueContainsNull)
        case _:
            return spark.simpleString()


# --- nullability --------------------------------------------------------------------------------
# Spark derives nullability from the query and may expect NULL where a type is NOT NULL. A default
# that is never used makes the expression NOT NULL: Spark's expressions that only assert it are not
# SQL, so Spark Connect cannot use them.


def with_nullability(value: str, given: StructField, wanted: StructField, depth: int = 0) -> str:
    """Return an expression of type `given` with the nullability of `wanted`, at every depth.

    `depth` counts the functions of elements around the expression.

    >>> from pyspark.sql.types import IntegerType, StructField
    >>> given = StructField("a", IntegerType())
    >>> with_nullability("`a`", given, StructField("a", IntegerType(), nullable=False))
    'coalesce(`a`, 0)'
    """
    if _nullability(given) == _nullability(wanted):
        return value
    changed = _with_parts(value, given, wanted, depth)
    if given.nullable and not wanted.nullable:
        return f"coalesce({changed}, {_default(wanted.dataType)})"
    return changed


def _with_parts(value: str, given: StructField, wanted: StructField, depth: int) -> str:
    from pyspark.sql import types

    element = f"e{depth}"
    match given.dataType, wanted.dataType:
        case types.StructType(fields=old), types.StructType(fields=new):
            if [_nullability(column) for column in old] == [_nullability(column) for column in new]:
                return value
            parts = (
                f"{string(to.name)}, {with_nullability(f'{value}.{quote(to.name)}', of, to, depth)}"
                for of, to in zip(old, new, strict=True)
            )
            made = f"named_struct({', '.join(parts)})"
            return made if not wanted.nullable else f"IF({value} IS NULL, NULL, {made})"
        case types.ArrayType() as old, types.ArrayType() as new:
            of = types.StructField(element, old.elementType, old.containsNull)
            to = types.StructField(element, new.elementType, new.containsNull)
            part = with_nullability(element, of, to, depth + 1)
            return value if part == element else f"transform({value}, {element} -> {part})"
        case types.MapType() as old, types.MapType() as new:
            key = with_nullability(
                element,
                types.StructField(element, old.keyType, nullable=False),
                types.StructField(element, new.keyType, nullable=False),
                depth + 1,
            )
            if key != element:
                value = f"transform_keys({value}, ({element}, _) -> {key})"
            of = types.StructField(element, old.valueType, old.valueContainsNull)
            to = types.StructField(element, new.valueType, new.valueContainsNull)
            part = with_nullability(element, of, to, depth + 1)
            return (
                value if part == element else f"transform_values({value}, (_, {element}) -> {part})"
            )
    return value


def _nullability(field: StructField) -> object:
    """Return where a type may have NULL, for comparison."""
    from pyspark.sql import types

    match field.dataType:
        case types.StructType(fields=fields):
            return field.nullable, [_nullability(field) for field in fields]
        case types.ArrayType() as of:
            element = types.StructField("", of.elementType, of.containsNull)
            return field.nullable, _nullability(element)
        case types.MapType() as of:
            parts = (
                types.StructField("", of.keyType, nullable=False),
                types.StructField("", of.valueType, of.valueContainsNull),
            )
            return field.nullable, [*map(_nullability, parts)]
        case _:
            return field.nullable


#: Spark's name of a type -> a value of it.
_DEFAULTS = {
    "boolean": "false",
    "tinyint": "0Y",
    "smallint": "0S",
    "int": "0",
    "bigint": "0L",
    "float": "0F",
    "double": "0D",
    "string": "''",
    "binary": "X''",
    "date": "DATE '1970-01-01'",
    "timestamp": "TIMESTAMP '1970-01-01 00:00:00'",
    "timestamp_ntz": "TIMESTAMP_NTZ '1970-01-01 00:00:00'",
    "variant": "to_variant_object(array(0))",
}


def _default(type_: SparkType) -> str:
    """Return a non-NULL value of a type, whose parts nowhere expect NULL."""
    from pyspark.sql import types

    match type_:
        case types.StructType(fields=fields):
            parts = (f"{string(field.name)}, {_default(field.dataType)}" for field in fields)
            return f"named_struct({', '.join(parts)})"
        case types.ArrayType(elementType=element):
            return f"array({_default(element)})"
        case types.MapType(keyType=key, valueType=of):
            return f"map({_default(key)}, {_default(of)})"
        case types.DecimalType(precision=precision, scale=scale):
            return f"{'9' * (precision - scale)}.{'9' * scale}BD"
        case types.CharType() | types.VarcharType():
            return "''"
        case types.TimeType():
            return f"CAST(TIME '00:00:00' AS {type_sql(type_)})"
        case types.DayTimeIntervalType():
            return "INTERVAL '0 00:00:00' DAY TO SECOND"
        case types.YearMonthIntervalType():
            return "INTERVAL '0-0' YEAR TO MONTH"
        case _:
            return _DEFAULTS[type_.simpleString()]
