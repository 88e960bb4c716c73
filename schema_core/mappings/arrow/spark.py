"""Convert Arrow schemas to Spark's and back by way of Flink's types, without silent changes.

Exact types and layouts are stored in Spark's metadata, and in Arrow also under
`SPARK::metadata::json`, Spark's own key. PySpark's internal mapping silently changes 19 of 51 types
and refuses 18; here a type is restored or the column is refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from schema_core.base.arguments import require_instance
from schema_core.base.caching import cached
from schema_core.base.plugins import needs
from schema_core.errors import SchemaCoreError, UnsupportedError, at
from schema_core.mappings.arrow.schemas import (
    field_metadata,
    from_field,
    layout_losses,
    layout_of,
    to_field,
)
from schema_core.mappings.arrow.types import EXTENSION_METADATA, EXTENSION_NAME, EXTENSIONS
from schema_core.mappings.exact_types import (
    COMMENT_KEY,
    DEFINITIONS_KEY,
    LAYOUT_KEY,
    SPARK_METADATA_KEY,
    TYPE_KEY,
    read_object,
)
from schema_core.mappings.loss import Loss, Policy, losses
from schema_core.mappings.spark.pyspark_types import from_struct_field, to_struct_field
from schema_core.types import DataType, TimeType, VariantType
from schema_core.types.base import node_count

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructField, StructType

#: Metadata key of the precision of a TIME, whose values Spark exports in nanoseconds.
SPARK_TIME = b"SPARK::time::precision"


@needs("pyarrow", "pyspark.sql")
def to_struct_type(schema: pa.Schema, *, on_loss: Policy = "error") -> StructType:
    """Return the Spark schema of an Arrow schema, for ``createDataFrame(table, schema=)``.

    Raises:
        UnsupportedError: with code `lossy` if values would change (nanoseconds) and `on_loss` is
            `error`; with other codes for columns that cannot be converted.

    >>> import pyarrow as pa
    >>> to_struct_type(pa.schema([("id", pa.uint8()), ("name", pa.large_string())]))
    StructType([StructField('id', ShortType(), True), StructField('name', StringType(), True)])
    """
    import pyarrow as pa
    from pyspark.sql.types import StructType

    require_instance(schema, pa.Schema, "schema", "a pyarrow Schema")
    return StructType([to_spark_field(field, on_loss=on_loss) for field in schema])


@needs("pyarrow", "pyspark.sql")
def to_spark_field(field: pa.Field, *, on_loss: Policy = "error") -> StructField:
    """Return the Spark field of an Arrow field, with its layout and Spark's metadata."""
    type_ = from_field(field)
    layout = layout_of(field) if on_loss != "accept" else None
    comment = field_metadata(field).get(COMMENT_KEY)
    spark_field = to_struct_field(field.name, type_, comment, layout=layout, on_loss=on_loss)
    metadata = read_object((field.metadata or {}).get(SPARK_METADATA_KEY.encode(), b"{}"))
    for key in (TYPE_KEY, DEFINITIONS_KEY):
        metadata.pop(key, None)
    spark_field.metadata = metadata | spark_field.metadata
    return spark_field


@needs("pyarrow", "pyspark.sql")
def to_schema(struct: StructType, *, layouts: bool = False) -> pa.Schema:
    """Return the Arrow schema of the rows of a Spark schema.

    With `layouts` a column that came from Arrow has its Arrow type of before; otherwise every
    column has the type that Spark reads and writes.

    >>> import pyarrow as pa
    >>> struct = to_struct_type(pa.schema([("name", pa.large_string())]))
    >>> to_schema(struct).types, to_schema(struct, layouts=True).types
    ([DataType(string)], [DataType(large_string)])
    """
    import pyarrow as pa
    from pyspark.sql.types import StructType

    require_instance(struct, StructType, "struct")
    return pa.schema([to_arrow_field(field, layouts=layouts) for field in struct.fields])


@needs("pyarrow", "pyspark.sql")
def to_arrow_field(field: StructField, *, layouts: bool = False) -> pa.Field:
    """Return the Arrow field of a Spark field, with its metadata also under Spark's key."""
    import pyarrow as pa

    type_, comment = from_struct_field(field), field.metadata.get(COMMENT_KEY)
    layout = field.metadata.get(LAYOUT_KEY) if layouts else None
    if isinstance(layout, str):
        try:
            return _with_spark_metadata(
                to_field(field.name, type_, comment, layout=layout), field.metadata
            )
        except SchemaCoreError:
            pass  # the type was changed, so the layout no longer matches
    usual = _usual(type_, layouts)
    metadata = {**usual.metadata, SPARK_METADATA_KEY.encode(): json.dumps(field.metadata).encode()}
    if comment is not None:
        metadata[COMMENT_KEY.encode()] = comment.encode()
    return pa.field(field.name, usual.type, type_.is_nullable, metadata)


@cached(node_count, unit="types")
def _usual(type_: DataType, is_default: bool) -> pa.Field:
    """Return the parts that all fields of a type share, in the default layout or in Spark's."""
    default = to_field("", type_)
    return _with_spark_metadata(default if is_default else _in_spark_layout(default), {})


@needs("pyarrow", "pyspark.sql")
def arrow_losses(schema: pa.Schema) -> tuple[Loss, ...]:
    """Return what converting an Arrow schema to Spark loses: layouts, time zones, precision."""
    reported: list[Loss] = []
    for field in schema:
        type_ = from_field(field)
        reported += layout_losses(field, type_)
        for loss in losses(type_, "spark:4.3"):
            reported.append(replace(loss, path=(field.name, *loss.path)))
    return tuple(reported)


@needs("pyarrow", "pyspark.sql")
def for_spark(table: pa.Table, *, on_loss: Policy = "error") -> pa.Table:
    """Return a table in the types that ``createDataFrame(table, schema=)`` reads.

    Raises:
        UnsupportedError: as `to_struct_type`, and with code `lossy`.
    """
    import pyarrow as pa

    require_instance(table, pa.Table, "table", "a pyarrow Table")
    schema = to_schema(to_struct_type(table.schema, on_loss=on_loss))
    return _cast_table(table, schema, exact=on_loss == "error")


@needs("pyarrow", "pyspark.sql")
def exactly_for_spark(table: pa.Table) -> pa.Table:
    """Return a table as `for_spark` if every value stays the same, whatever its type.

    All fields are nullable, since Arrow does not cast NULL to a row with a NOT NULL field.

    Raises:
        UnsupportedError: with code `lossy` for a column whose values would change.
    """
    import pyarrow as pa

    schema = to_schema(to_struct_type(table.schema, on_loss="note"))
    return _cast_table(table, pa.schema([_nullable(field) for field in schema]), exact=True)


def _nullable(field: pa.Field) -> pa.Field:
    """Return a field that is nullable at every level, except for keys of maps."""
    import pyarrow as pa

    arrow = field.type
    if pa.types.is_map(arrow):
        key = _nullable(arrow.key_field).with_nullable(False)
        inner = pa.map_(key, _nullable(arrow.item_field), arrow.keys_sorted)
    else:
        inner = _with_inner(arrow, _nullable)
    return field.with_type(inner).with_nullable(True)


def _cast_table(table: pa.Table, schema: pa.Schema, *, exact: bool) -> pa.Table:
    import pyarrow as pa

    columns = [
        _cast(column, field, exact=exact)
        for column, field in zip(table.columns, schema, strict=True)
    ]
    return pa.table(columns, schema=schema)


def _cast(column: pa.ChunkedArray, field: pa.Field, *, exact: bool) -> pa.ChunkedArray:
    import pyarrow as pa
    import pyarrow.compute as pc

    with at(f"field {field.name!r}"):
        if hasattr(column.type, "storage_type"):
            column = pa.chunked_array(
                [chunk.storage for chunk in column.chunks], column.type.storage_type
            )
        if pa.types.is_run_end_encoded(column.type):
            column = pc.run_end_decode(column)
        try:
            return column.cast(field.type, safe=exact)
        except pa.ArrowException as error:
            raise UnsupportedError(str(error), code="lossy") from error


@needs("pyarrow")
def to_exact_layout(array: pa.Array, arrow: pa.DataType) -> pa.Array:
    """Return an array that Spark wrote, in an Arrow type that stores the same values.

    Raises:
        UnsupportedError: with code `lossy`.
    """
    import pyarrow as pa

    if array.type.equals(arrow):
        return array
    mask = array.is_null() if array.null_count else None
    if pa.types.is_struct(arrow):
        parts = [
            to_exact_layout(array.field(array.type.get_field_index(field.name)), field.type)
            for field in arrow.fields
        ]
        return pa.StructArray.from_arrays(parts, fields=list(arrow.fields), mask=mask)
    if pa.types.is_map(arrow):
        keys = to_exact_layout(array.keys, arrow.key_type)
        items = to_exact_layout(array.items, arrow.item_type)
        return pa.MapArray.from_arrays(array.offsets, keys, items, type=arrow, mask=mask)
    if pa.types.is_list(arrow):
        values = to_exact_layout(array.values, arrow.value_type)
        return pa.ListArray.from_arrays(array.offsets, values, type=arrow, mask=mask)
    try:
        return array.cast(arrow)
    except pa.ArrowException as error:
        raise UnsupportedError(str(error), code="lossy") from error


# --- Spark's key in Arrow's metadata --------------------------------------------------------------


def _with_spark_metadata(field: pa.Field, metadata: dict[str, Any]) -> pa.Field:
    spark_keys = {SPARK_METADATA_KEY.encode(): json.dumps(metadata).encode()}
    type_ = from_field(field)
    if isinstance(type_, TimeType):
        spark_keys[SPARK_TIME] = str(type_.precision).encode()

    def tag(part: pa.Field) -> pa.Field:
        own = field_metadata(part)
        keys = (TYPE_KEY, DEFINITIONS_KEY, COMMENT_KEY)
        return _with_spark_metadata(part, {key: own[key] for key in keys if key in own})

    inner = field.type if isinstance(type_, VariantType) else _with_inner(field.type, tag)
    return field.with_type(inner).with_metadata({**(field.metadata or {}), **spark_keys})


def _in_spark_layout(field: pa.Field) -> pa.Field:
    """Return the field as Spark writes it: microseconds, variable size, VARIANT fields swapped."""
    import pyarrow as pa

    arrow = _with_inner(field.type, _in_spark_layout)
    if pa.types.is_timestamp(arrow):
        arrow = pa.timestamp("us", tz=arrow.tz)
    elif pa.types.is_duration(arrow):
        arrow = pa.duration("us")
    elif pa.types.is_fixed_size_binary(arrow):
        arrow = pa.binary()
    metadata = dict(field.metadata or {})
    if metadata.get(EXTENSION_NAME) == EXTENSIONS[VariantType]:
        mark = {b"variant": b"true"}
        value = pa.field("value", pa.binary(), nullable=False)
        arrow = pa.struct([value, pa.field("metadata", pa.binary(), False, mark)])
        del metadata[EXTENSION_NAME], metadata[EXTENSION_METADATA]
    return pa.field(field.name, arrow, field.nullable, metadata or None)


def _with_inner(arrow: pa.DataType, change: Callable[[pa.Field], pa.Field]) -> pa.DataType:
    """Return a type with its fields changed, unless Spark does not use its layout."""
    import pyarrow as pa

    if pa.types.is_struct(arrow):
        return pa.struct([change(field) for field in arrow.fields])
    if pa.types.is_list(arrow):
        return pa.list_(change(arrow.value_field))
    if pa.types.is_map(arrow):
        return pa.map_(change(arrow.key_field), change(arrow.item_field), arrow.keys_sorted)
    return arrow
