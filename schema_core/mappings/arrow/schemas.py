"""Convert fields and schemas to Arrow and back, with exact-type metadata; `types` has the mapping.

The exact type in the metadata is used only while the physical type of the field matches: a changed
field is read by its physical type. Layouts (large, view, dictionary, other time units) are not part
of the type.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from types import NoneType
from typing import TYPE_CHECKING, Any

from schema_core.base.arguments import require_instance
from schema_core.base.plugins import needs
from schema_core.errors import SchemaCoreError, SchemaError, at
from schema_core.mappings import exact_types
from schema_core.mappings.arrow import types as arrow_types
from schema_core.mappings.loss import (
    ForeignSchema,
    Loss,
    LossKind,
    Policy,
    enforce,
    matches_physical,
    raise_refused,
    read_fields,
)
from schema_core.schema.resolved import ResolvedSchema
from schema_core.schema.unresolved import Schema
from schema_core.types import DataType, NullType, RowField, VariantType

if TYPE_CHECKING:
    import pyarrow as pa


# --- to Arrow -------------------------------------------------------------------------------------


@needs("pyarrow")
def to_field(
    name: str,
    type_: DataType,
    comment: str | None = None,
    *,
    layout: str | None = None,
    on_loss: Policy = "error",
) -> pa.Field:
    """Return the Arrow field of a column: physical type, nullability, exact-type metadata.

    `layout` is a result of `layout_of`.

    Raises:
        UnsupportedError: with code `type-not-supported` for types that exist only within Flink.
        SchemaError: with code `invalid-type`, also for a layout that cannot store the type.

    >>> from schema_core.types import parse_type
    >>> to_field("total", parse_type("DECIMAL(12, 2) NOT NULL"))
    pyarrow.Field<total: decimal128(12, 2) not null>
    """
    enforce((), on_loss)
    require_instance(name, str, "name")
    require_instance(type_, DataType, "type_")
    require_instance(comment, (str, NoneType), "comment")
    with at(f"field {name!r}"):
        field, with_metadata = RowField(name, type_, comment), on_loss != "accept"
        if layout is None:
            return arrow_types.physical_field(field, with_metadata=with_metadata)
        node = _parse_layout(layout, field)
        return arrow_types.field_with_layout(field, node, with_metadata=with_metadata)


@needs("pyarrow")
def to_arrow(type_: DataType) -> pa.DataType:
    """Return the Arrow type that stores the values of a type; nested fields have metadata."""
    require_instance(type_, DataType, "type_")
    return arrow_types.to_physical(type_, True)


@needs("pyarrow")
def to_schema(schema: ResolvedSchema, *, on_loss: Policy = "error") -> pa.Schema:
    """Return the Arrow schema of all columns of a table, as its readers see them."""
    import pyarrow as pa

    require_instance(schema, ResolvedSchema, "schema")
    return pa.schema(
        [
            to_field(column.name, column.data_type, column.comment, on_loss=on_loss)
            for column in schema.columns
        ]
    )


def _parse_layout(layout: str, field: RowField) -> arrow_types.Node:
    import pyarrow as pa

    node = arrow_types.read_layout(layout)
    bare = pa.field(
        field.name,
        arrow_types.from_layout(node),
        metadata=arrow_types.extension_metadata(node) or None,
    )
    arrow_types.check_arrow(bare.type)
    physical = _read_physical(bare, with_metadata=False)
    if not matches_physical(field.data_type, physical.data_type, "arrow", exactly_null=False):
        raise SchemaError(
            f"the layout {layout} cannot store {field.data_type}", code="invalid-type"
        )
    return node


# --- from Arrow -----------------------------------------------------------------------------------


@needs("pyarrow")
def from_field(field: pa.Field) -> DataType:
    """Return the exact type if it matches the physical type, else the nearest type.

    Nullability is that of the field. Metadata that passed through Spark is understood.

    Raises:
        UnsupportedError: with code `type-not-supported`, `limit-exceeded`.
    """
    import pyarrow as pa

    require_instance(field, pa.Field, "field", "a pyarrow Field")
    with at(f"field {field.name!r}"):
        arrow_types.check_arrow(field.type)
        return _read_field(field).data_type


@needs("pyarrow")
def from_arrow(arrow: pa.DataType) -> DataType:
    """Return the nearest type to an Arrow type, nullable.

    >>> import pyarrow as pa
    >>> print(from_arrow(pa.list_(pa.field("element", pa.uint32(), nullable=False))))
    ARRAY<BIGINT NOT NULL>
    """
    import pyarrow as pa

    require_instance(arrow, pa.DataType, "arrow", "a pyarrow DataType")
    arrow_types.check_arrow(arrow)
    return arrow_types.read_type(arrow, _read_field)


def type_of(description: object) -> DataType:
    """Return the type of an Arrow type or field, for `DataTypes.of`.

    Raises:
        SchemaError: with code `data-type-not-inferred`.
    """
    import pyarrow as pa

    if isinstance(description, pa.Field):
        return from_field(description)
    if isinstance(description, pa.DataType):
        return from_arrow(description)
    kind = type(description).__name__
    raise SchemaError(
        f"cannot infer a data type from Arrow's {kind}", code="data-type-not-inferred"
    )


@needs("pyarrow")
def from_schema(schema: pa.Schema) -> Schema:
    """Return the columns of an Arrow schema, with their comments.

    Raises:
        UnsupportedError: for all columns whose type Flink does not have.
    """
    result = read_schema(schema)
    raise_refused(result.refused)
    return result.schema


@needs("pyarrow")
def read_schema(schema: pa.Schema) -> ForeignSchema:
    """Read all columns that can be read; report errors of the others, and losses.

    >>> import pyarrow as pa
    >>> odd = pa.month_day_nano_interval()
    >>> result = read_schema(pa.schema([("id", pa.uint8()), ("odd", odd)]))
    >>> [str(column) for column in result.schema.columns], [error.code for error in result.refused]
    (['`id` SMALLINT'], ['type-not-supported'])
    >>> print(result.losses[0])
    id: uint8 becomes SMALLINT (another physical layout of the same values)
    """
    import pyarrow as pa

    require_instance(schema, pa.Schema, "schema", "a pyarrow Schema")

    def read(field: pa.Field) -> tuple[RowField, tuple[Loss, ...]]:
        with at(f"field {field.name!r}"):
            arrow_types.check_arrow(field.type)
            row_field = _read_field(field)
        return row_field, (*layout_losses(field, row_field.data_type),)

    return read_fields(schema, read)


@needs("pyarrow")
def layout_of(field: pa.Field) -> str | None:
    """Return the layout of a field if `to_field` would give it another, else None."""
    type_ = from_field(field)
    return None if _has_default_layout(field, type_) else arrow_types.write_layout(field)


@needs("pyarrow")
def layout_losses(field: pa.Field, type_: DataType) -> Iterable[Loss]:
    """Return a loss for a layout or time zone, which are not part of the type."""
    if _has_default_layout(field, type_):
        return
    zone = getattr(field.type, "tz", None)
    kind = LossKind.LAYOUT if zone in (None, "UTC") else LossKind.ZONE
    yield Loss((field.name,), kind, str(field.type), type_.as_summary_string(), reversible=True)


def _has_default_layout(field: pa.Field, type_: DataType) -> bool:
    extension = (field.metadata or {}).get(arrow_types.EXTENSION_NAME)
    return bool(
        extension == arrow_types.extension_of(type_)
        and arrow_types.to_physical(type_, True).equals(field.type)
    )


def _read_field(field: pa.Field) -> RowField:
    metadata = field_metadata(field)
    type_ = _exact_type(field, metadata)
    if type_ is None:
        return _read_physical(field, with_metadata=True)
    if not isinstance(type_, NullType):
        type_ = type_.with_nullability(field.nullable)
    return RowField(field.name, type_, metadata.get(exact_types.COMMENT_KEY))


def _exact_type(field: pa.Field, metadata: dict[str, str]) -> DataType | None:
    type_ = exact_types.exact_type(metadata)
    if type_ is None:
        return None
    try:
        if arrow_types.to_physical(type_, True).equals(field.type):
            return type_
        physical = _read_physical(field, with_metadata=False).data_type
    except SchemaCoreError:
        return None
    return type_ if matches_physical(type_, physical, "arrow", exactly_null=True) else None


def _read_physical(field: pa.Field, *, with_metadata: bool) -> RowField:
    """Read a field by its physical type; `with_metadata` applies to nested fields."""
    metadata = field.metadata or {}
    name = metadata.get(
        arrow_types.EXTENSION_NAME, getattr(field.type, "extension_name", "").encode()
    )
    type_ = arrow_types.read_extension(name, field.type) or _spark_variant(field.type)
    if type_ is None:
        type_ = arrow_types.read_type(
            field.type,
            _read_field if with_metadata else partial(_read_physical, with_metadata=False),
        )
    if not isinstance(type_, NullType):
        type_ = type_.with_nullability(field.nullable)
    return RowField(field.name, type_, field_metadata(field).get(exact_types.COMMENT_KEY))


def _spark_variant(arrow: Any) -> DataType | None:
    """Return VARIANT for a struct that Spark marks in the metadata of its field `metadata`."""
    import pyarrow as pa

    if not pa.types.is_struct(arrow) or arrow.num_fields != 2:
        return None
    marks = (field.metadata or {} for field in arrow.fields if field.name == "metadata")
    return VariantType() if any(mark.get(b"variant") == b"true" for mark in marks) else None


@needs("pyarrow")
def field_metadata(field: pa.Field) -> dict[str, str]:
    """Return exact type, layout and comment from a field's metadata or Spark's part of it."""
    metadata = field.metadata
    if not metadata:
        return {}
    own = {
        key: metadata[key.encode()].decode("utf-8", "replace")
        for key in (
            exact_types.TYPE_KEY,
            exact_types.DEFINITIONS_KEY,
            exact_types.LAYOUT_KEY,
            exact_types.COMMENT_KEY,
        )
        if key.encode() in metadata
    }
    if (spark := metadata.get(exact_types.SPARK_METADATA_KEY.encode())) is None:
        return own
    return {
        key: value
        for key, value in exact_types.read_object(spark).items()
        if isinstance(value, str)
    } | own
