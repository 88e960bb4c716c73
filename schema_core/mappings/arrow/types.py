"""The mapping of Arrow types from and to Flink's, one row for each; and memory layouts as JSON.

`ARROW_KINDS` has one row for each kind of Arrow type: its pyarrow factory, its parameters and the
Flink type it is read as. `TO_ARROW` has one row for each Flink type. Layouts use the names and
parameters of `ARROW_KINDS`. Kinds without a row (unions, month-day-nano intervals) have no
counterpart in Flink. Source: Arrow's columnar format, "Data Types" and "Canonical Extension Types".
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeAlias

from schema_core.base.caching import cached
from schema_core.base.cursor import check_size
from schema_core.base.lazy import dataclass
from schema_core.base.plugins import needs
from schema_core.base.text import MAX_DEPTH
from schema_core.errors import SchemaError, UnsupportedError
from schema_core.mappings.exact_types import COMMENT_KEY, type_metadata
from schema_core.mappings.loss import (
    BYTES,
    STRING,
    arrow_precision,
    as_not_null,
    counts,
    has_fixed_size,
    is_null,
    too_deep,
    widest_day_time,
)
from schema_core.types import (
    ArrayType,
    BigIntType,
    BinaryType,
    BitmapType,
    BooleanType,
    CharType,
    DataType,
    DateType,
    DayTimeIntervalType,
    DecimalType,
    DistinctType,
    DoubleType,
    FloatType,
    IntType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    NullType,
    RawType,
    RowField,
    RowType,
    SmallIntType,
    StructuredType,
    TimestampType,
    TimeType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
    VariantType,
    YearMonthIntervalType,
    ZonedTimestampType,
)
from schema_core.types.base import node_count
from schema_core.types.nested import MAX_PARTS

if TYPE_CHECKING:
    import pyarrow as pa


#: Reads a nested field; the caller decides whether to use exact-type metadata.
ReadField: TypeAlias = "Callable[[pa.Field], RowField]"

#: Arrow's time unit -> Flink's precision.
PRECISIONS = {"s": 0, "ms": 3, "us": 6, "ns": 9}

#: Metadata keys of an extension type that pyarrow has no class for.
EXTENSION_NAME = b"ARROW:extension:name"
EXTENSION_METADATA = b"ARROW:extension:metadata"


@dataclass(frozen=True, slots=True)
class ArrowKind:
    """A kind of Arrow type.

    `word` is its name in a layout. `attributes` are the names of its parameters, in the order of
    the `factory`: those ending in `_type` are types, those in `_field` fields, and `fields` is a
    list of fields. `sample` are parameters of some type of the kind.
    """

    word: str
    read: Callable[[Any, ReadField], DataType]
    attributes: str = ""
    sample: Sequence[Any] = ()
    factory: str = ""


# --- Arrow to Flink -------------------------------------------------------------------------------


def _is(type_: DataType) -> Callable[[Any, ReadField], DataType]:
    return lambda arrow, read: type_


def _read_decimal(arrow: Any, read: ReadField) -> DataType:
    """Return a decimal with room for all digits, whatever the scale."""
    scale = max(0, arrow.scale)
    precision = max(arrow.precision - min(0, arrow.scale), scale)
    if precision > DecimalType.limits["precision"][-1]:
        raise UnsupportedError(
            f"Arrow's {arrow} exceeds the maximum precision of DECIMAL, 38",
            code="type-not-in-flink",
            hint="cast the column to decimal128(38, s), or omit it",
        )
    return DecimalType(precision, scale)


def _read_fixed_bytes(arrow: Any, read: ReadField) -> DataType:
    return BinaryType(arrow.byte_width) if has_fixed_size(arrow.byte_width) else BYTES


def _read_time(arrow: Any, read: ReadField) -> DataType:
    return TimeType(PRECISIONS[arrow.unit])


def _read_timestamp(arrow: Any, read: ReadField) -> DataType:
    kind = TimestampType if arrow.tz is None else LocalZonedTimestampType
    return kind(PRECISIONS[arrow.unit])


def _read_duration(arrow: Any, read: ReadField) -> DataType:
    return widest_day_time(PRECISIONS[arrow.unit])


def _read_list(arrow: Any, read: ReadField) -> DataType:
    return ArrayType(read(arrow.value_field).data_type)


def _read_map(arrow: Any, read: ReadField) -> DataType:
    key, value = read(arrow.key_field).data_type, read(arrow.item_field).data_type
    if isinstance(key, NullType):
        raise UnsupportedError("a map type whose key type is NULL", code="type-not-in-flink")
    return MapType(as_not_null(key), value)


def _read_struct(arrow: Any, read: ReadField) -> DataType:
    return RowType([read(field) for field in arrow.fields])


def _read_values(arrow: Any, read: ReadField) -> DataType:
    """Return the type of the values of an encoding, such as a dictionary."""
    return read_type(arrow.value_type, read)


def _read_storage(arrow: Any, read: ReadField) -> DataType:
    return read_type(arrow.storage_type, read)


#: Name, reader, parameters of pyarrow's factory, sample parameters, name of the factory.
ARROW_KINDS: tuple[ArrowKind, ...] = (
    ArrowKind("null",              _is(NullType())),
    ArrowKind("bool",              _is(BooleanType()),  factory="bool_"),
    ArrowKind("int8",              _is(TinyIntType())),
    ArrowKind("int16",             _is(SmallIntType())),
    ArrowKind("int32",             _is(IntType())),
    ArrowKind("int64",             _is(BigIntType())),
    ArrowKind("uint8",             _is(SmallIntType())),
    ArrowKind("uint16",            _is(IntType())),
    ArrowKind("uint32",            _is(BigIntType())),
    ArrowKind("uint64",            _is(DecimalType(20, 0))),
    ArrowKind("float16",           _is(FloatType())),
    ArrowKind("float32",           _is(FloatType())),
    ArrowKind("float64",           _is(DoubleType())),
    ArrowKind("decimal32",         _read_decimal,       "precision scale", (5, 2)),
    ArrowKind("decimal64",         _read_decimal,       "precision scale", (5, 2)),
    ArrowKind("decimal128",        _read_decimal,       "precision scale", (5, 2)),
    ArrowKind("decimal256",        _read_decimal,       "precision scale", (5, 2)),
    ArrowKind("string",            _is(STRING)),
    ArrowKind("large_string",      _is(STRING)),
    ArrowKind("string_view",       _is(STRING)),
    ArrowKind("binary",            _is(BYTES)),
    ArrowKind("large_binary",      _is(BYTES)),
    ArrowKind("binary_view",       _is(BYTES)),
    ArrowKind("fixed_size_binary", _read_fixed_bytes,   "byte_width", (1,), "binary"),
    ArrowKind("date32",            _is(DateType())),
    ArrowKind("date64",            _is(DateType())),
    ArrowKind("time32",            _read_time,          "unit", ("s",)),
    ArrowKind("time64",            _read_time,          "unit", ("us",)),
    ArrowKind("timestamp",         _read_timestamp,     "unit tz", ("s", None)),
    ArrowKind("duration",          _read_duration,      "unit", ("s",)),
    ArrowKind("list",              _read_list,          "value_field", (["item", True, ["null"]],),
         "list_"),
    ArrowKind("large_list",        _read_list,          "value_field", (["item", True, ["null"]],)),
    ArrowKind("list_view",         _read_list,          "value_field", (["item", True, ["null"]],)),
    ArrowKind("large_list_view",   _read_list,          "value_field", (["item", True, ["null"]],)),
    ArrowKind("fixed_size_list",   _read_list,          "value_field list_size",
         (["item", True, ["null"]], 1), "list_"),
    ArrowKind("map",               _read_map,           "key_field item_field keys_sorted",
         (["key", False, ["int8"]], ["value", True, ["int8"]], False), "map_"),
    ArrowKind("struct",            _read_struct,        "fields", ([],)),
    ArrowKind("dictionary",        _read_values,        "index_type value_type ordered",
         (["int8"], ["int8"], False)),
    ArrowKind("run_end_encoded",   _read_values,        "run_end_type value_type",
         (["int16"], ["int8"])),
    ArrowKind("arrow.uuid",        _is(BinaryType(16)), factory="uuid"),
    ArrowKind("arrow.bool8",       _is(BooleanType()),  factory="bool8"),
    ArrowKind("arrow.json",        _is(STRING),         "storage_type", (["string"],), "json_"),
    ArrowKind("arrow.opaque",      _read_storage,       "storage_type type_name vendor_name",
         (["null"], "", ""), "opaque"),
    ArrowKind("arrow.fixed_shape_tensor", _read_storage, "value_type shape dim_names permutation",
         (["int8"], [1], None, None), "fixed_shape_tensor"),
)  # fmt: skip

KINDS_BY_NAME = {kind.word: kind for kind in ARROW_KINDS}


@needs("pyarrow")
def read_type(arrow: pa.DataType, read: ReadField) -> DataType:
    """Return the nearest type to an Arrow type, nullable.

    Raises:
        UnsupportedError: with code `type-not-in-flink` for a kind without a row.
    """
    kind = kind_of(arrow)
    if kind is not None:
        return kind.read(arrow, read)
    if hasattr(arrow, "storage_type"):
        return _read_storage(arrow, read)
    raise UnsupportedError(
        f"Flink has no type for Arrow's {arrow}",
        code="type-not-in-flink",
        hint="cast the column to another type, or omit it",
    )


@needs("pyarrow")
def kind_of(arrow: pa.DataType) -> ArrowKind | None:
    """Return the row of an Arrow type, or None if its kind has no row."""
    return _by_id().get(_id(arrow))


def _id(arrow: pa.DataType) -> object:
    """Return what identifies a kind: its number, or the name of an extension type."""
    return getattr(arrow, "extension_name", arrow.id)


@cache
def _by_id() -> dict[object, ArrowKind]:
    """Return the rows by `_id`; older versions of pyarrow lack some kinds."""
    import pyarrow as pa

    known = [kind for kind in ARROW_KINDS if hasattr(pa, kind.factory or kind.word)]
    return {_id(from_layout([kind.word, *kind.sample])): kind for kind in known}


# --- extension types without a class in pyarrow ---------------------------------------------------

#: Name of an extension -> the fields of its storage, and the type of its values.
STRUCT_EXTENSIONS: dict[bytes, tuple[frozenset[str], Callable[[Any], DataType]]] = {
    b"arrow.parquet.variant": (
        frozenset({"metadata", "value"}), lambda arrow: VariantType(),
    ),
    b"arrow.timestamp_with_offset": (
        frozenset({"timestamp", "offset_minutes"}),
        lambda arrow: ZonedTimestampType(PRECISIONS[arrow.field("timestamp").type.unit]),
    ),
}  # fmt: skip


@needs("pyarrow")
def read_extension(name: bytes | None, arrow: pa.DataType) -> DataType | None:
    """Return the type of a struct-based extension, if its storage matches."""
    import pyarrow as pa

    arrow = getattr(arrow, "storage_type", arrow)
    if name not in STRUCT_EXTENSIONS or not pa.types.is_struct(arrow):
        return None
    names, read_struct = STRUCT_EXTENSIONS[name]
    if not names <= {field.name for field in arrow.fields}:
        return None
    if "timestamp" in names and not pa.types.is_timestamp(arrow.field("timestamp").type):
        return None
    return read_struct(arrow)


# --- limits on nesting and width ------------------------------------------------------------------


@needs("pyarrow")
def check_arrow(arrow: pa.DataType) -> None:
    """Raise an error for a type that is too deep or too wide to be printed, hashed or compared.

    pyarrow implements these operations recursively in C++, where a stack overflow ends the process.

    Raises:
        UnsupportedError: with code `too-deep`, or `too-wide` for more than `MAX_PARTS` parts.
    """
    level, parts = list(_inner(arrow)), 0
    depth = 1
    while level:
        depth, parts = depth + 1, parts + len(level)
        if depth > MAX_DEPTH:
            raise too_deep()
        if parts > MAX_PARTS:
            raise UnsupportedError(f"the type has more than {MAX_PARTS:,} parts", code="too-wide")
        level = [inner for data_type in level for inner in _inner(data_type)]


#: Attributes of dictionaries and extensions, whose inner types are not fields.
ENCODED = ("value_type", "storage_type")


def _inner(arrow: Any) -> list[pa.DataType]:
    """Return the child types; the struct between a map and its fields is not counted as a level."""
    if hasattr(arrow, "key_field"):
        return [arrow.key_field.type, arrow.item_field.type]
    inner = [arrow.field(index).type for index in range(arrow.num_fields)]
    if not inner:
        inner += [getattr(arrow, name) for name in ENCODED if hasattr(arrow, name)]
    return inner


#: Makes a nested field, with or without exact-type metadata.
MakeField: TypeAlias = "Callable[[RowField], pa.Field]"

#: Flink's precision -> Arrow's time unit.
UNITS = {digits: unit for unit, digits in PRECISIONS.items()}

#: Types stored as a canonical extension type that pyarrow has no class for yet.
EXTENSIONS: dict[type[DataType], bytes] = {
    VariantType: b"arrow.parquet.variant",
    ZonedTimestampType: b"arrow.timestamp_with_offset",
}


# --- Flink to Arrow: fields -----------------------------------------------------------------------


def extension_of(type_: DataType) -> bytes | None:
    """Return the name of the Arrow extension that stores the type, or None."""
    if isinstance(type_, DistinctType):
        return extension_of(type_.source_type)
    return EXTENSIONS.get(type(type_))


@needs("pyarrow")
def physical_field(field: RowField, *, with_metadata: bool = True) -> pa.Field:
    """Return the Arrow field of a column or row field, with or without exact-type metadata.

    Raises:
        UnsupportedError: with code `type-not-in-arrow`, or `name-not-in-arrow` for a name that is
            not valid Unicode.
    """
    import pyarrow as pa

    type_ = field.data_type
    physical, metadata = _physical_and_metadata(type_, with_metadata)
    if field.description is not None:
        metadata = {**metadata, COMMENT_KEY.encode(): field.description.encode()}
    try:
        return pa.field(field.name, physical, type_.is_nullable, metadata)
    except UnicodeEncodeError:
        raise UnsupportedError(
            "the name contains an unpaired surrogate", code="name-not-in-arrow"
        ) from None


@cached(node_count, unit="types")
def _physical_and_metadata(
    type_: DataType, with_metadata: bool
) -> tuple[pa.DataType, dict[bytes, bytes]]:
    """Return the parts that all fields of a type share."""
    return to_physical(type_, with_metadata), _field_metadata(RowField("", type_), with_metadata)


def _field_metadata(field: RowField, with_metadata: bool) -> dict[bytes, bytes]:
    """Return the exact-type metadata, the comment, and the name of an extension."""
    exact = type_metadata(field.data_type) if with_metadata else {}
    metadata = {key.encode(): text.encode() for key, text in exact.items()}
    if field.description is not None:
        metadata[COMMENT_KEY.encode()] = field.description.encode()
    if (extension := extension_of(field.data_type)) is not None:
        metadata |= {EXTENSION_NAME: extension, EXTENSION_METADATA: b""}
    return metadata


@needs("pyarrow")
@cached(node_count, unit="types")
def to_physical(type_: DataType, with_metadata: bool) -> pa.DataType:
    """Return the Arrow type that stores a type; `with_metadata` applies to nested fields.

    Raises:
        UnsupportedError: with code `type-not-in-arrow`.
    """
    return _to_physical(type_, partial(physical_field, with_metadata=with_metadata))


def _to_physical(type_: DataType, field: MakeField) -> pa.DataType:
    row = TO_ARROW.get(type(type_))
    if row is None:
        raise UnsupportedError(f"Arrow has no type for {type_}", code="type-not-in-arrow")
    return row(type_, field)


@needs("pyarrow")
def field_with_layout(field: RowField, node: list[Any], *, with_metadata: bool) -> pa.Field:
    """Return the field in a layout that can store its type, with metadata at every level."""
    import pyarrow as pa

    metadata = _field_metadata(field, with_metadata) | extension_metadata(node)
    type_ = _build_annotated(node, field.data_type, with_metadata)
    nullable = field.data_type.is_nullable
    found = pa.field(field.name, type_, nullable=nullable, metadata=metadata or None)
    return _with_registered_extension(found) if EXTENSION in str(node) else found


def _build_annotated(node: list[Any], type_: DataType, with_metadata: bool) -> pa.DataType:
    """Return the type of a layout, its fields annotated as those of the Flink type."""
    import pyarrow as pa

    within = _child_fields(type_)

    def annotate(bare: pa.Field, position: int) -> pa.Field:
        if position >= len(within):
            return bare
        part, is_key = within[position], bare.name == "key" and not isinstance(type_, RowType)
        metadata = _field_metadata(part, with_metadata) | (bare.metadata or {})
        inner = _build_annotated(_node_at(node, position), part.data_type, with_metadata)
        nullable = bare.nullable if is_null(part.data_type) else part.data_type.is_nullable
        nullable = nullable and not is_key
        return pa.field(bare.name, inner, nullable=nullable, metadata=metadata or None)

    return from_layout(node, annotate)


def _node_at(node: list[Any], position: int) -> list[Any]:
    """Return the layout of the field at a position, within encodings and extensions."""
    match node:
        case ["struct", fields]:
            return list(fields[position][2])
        case ["dictionary", _, values, _] | ["run_end_encoded", _, values]:
            return _node_at(values, position)
        case ["extension", _, _, storage]:
            return _node_at(storage, position)
        case _:
            return list(node[1 + position][2])


def _child_fields(type_: DataType) -> tuple[RowField, ...]:
    """Return the nested fields of the Arrow type that stores a type."""
    match type_:
        case RowType() | StructuredType():
            return type_.fields
        case MapType():
            return (RowField("key", type_.key_type), RowField("value", type_.value_type))
        case MultisetType():
            return _child_fields(counts(type_))
        case ArrayType():
            return (RowField("element", type_.element_type),)
        case DistinctType():
            return _child_fields(type_.source_type)
        case _:
            return ()


def _with_registered_extension(field: pa.Field) -> pa.Field:
    """Return the field with its extension type, as an IPC reader does, if it is registered."""
    import pyarrow as pa

    try:
        return pa.ipc.read_schema(pa.schema([field]).serialize())[0]
    except (pa.ArrowException, ValueError, TypeError):
        return field


# --- Flink to Arrow: types ------------------------------------------------------------------------


def _arrow(
    name: str, arguments: Callable[[Any], tuple[object, ...]] = lambda type_: ()
) -> Callable[[Any, MakeField], Any]:
    """Return a function that calls pyarrow's factory of that name, imported at first use."""

    def make(type_: DataType, field: MakeField) -> Any:
        import pyarrow as pa

        return getattr(pa, name)(*arguments(type_))

    return make


def _unit(digits: int) -> str:
    return UNITS[arrow_precision(digits)]


def _fixed_size(type_: BinaryType) -> tuple[int, ...]:
    return (type_.length,) if has_fixed_size(type_.length) else ()


_make_instant = _arrow("timestamp", lambda type_: (_unit(type_.precision), "UTC"))


def _make_with_offset(type_: ZonedTimestampType, field: MakeField) -> Any:
    import pyarrow as pa

    parts = {"timestamp": _make_instant(type_, field), "offset_minutes": pa.int16()}
    return pa.struct([pa.field(name, part, nullable=False) for name, part in parts.items()])


def _make_variant(type_: VariantType, field: MakeField) -> Any:
    import pyarrow as pa

    return pa.struct([pa.field(name, pa.binary(), False) for name in ("metadata", "value")])


def _make_list(type_: ArrayType, field: MakeField) -> Any:
    import pyarrow as pa

    return pa.list_(field(*_child_fields(type_)))


def _make_map(type_: MapType | MultisetType, field: MakeField) -> Any:
    """Map keys are never NULL in Arrow, whatever the exact type."""
    import pyarrow as pa

    key, value = _child_fields(type_)
    if is_null(key.data_type):
        raise UnsupportedError(f"Arrow has no type for {type_}", code="type-not-in-arrow")
    return pa.map_(field(key).with_nullable(False), field(value))


def _make_struct(type_: RowType | StructuredType, field: MakeField) -> Any:
    import pyarrow as pa

    return pa.struct([field(item) for item in type_.fields])


#: Class of type -> a function that returns its Arrow type.
TO_ARROW: dict[type[DataType], Callable[[Any, MakeField], Any]] = {
    NullType:                _arrow("null"),
    BooleanType:             _arrow("bool_"),
    TinyIntType:             _arrow("int8"),
    SmallIntType:            _arrow("int16"),
    IntType:                 _arrow("int32"),
    BigIntType:              _arrow("int64"),
    FloatType:               _arrow("float32"),
    DoubleType:              _arrow("float64"),
    DecimalType:             _arrow("decimal128", lambda type_: (type_.precision, type_.scale)),
    CharType:                _arrow("string"),
    VarCharType:             _arrow("string"),
    BinaryType:              _arrow("binary", _fixed_size),
    VarBinaryType:           _arrow("binary"),
    DateType:                _arrow("date32"),
    TimeType:                _arrow("time64", lambda type_: (_unit(type_.precision),)),
    TimestampType:           _arrow("timestamp", lambda type_: (_unit(type_.precision),)),
    LocalZonedTimestampType: _make_instant,
    ZonedTimestampType:      _make_with_offset,
    YearMonthIntervalType:   _arrow("int32"),
    DayTimeIntervalType:     _arrow("duration", lambda type_: (_unit(type_.fractional_precision),)),
    ArrayType:               _make_list,
    MultisetType:            _make_map,
    MapType:                 _make_map,
    RowType:                 _make_struct,
    StructuredType:          _make_struct,
    DistinctType:            lambda type_, field: _to_physical(type_.source_type, field),
    RawType:                 _arrow("binary"),
    VariantType:             _make_variant,
    BitmapType:              _arrow("binary"),
}  # fmt: skip

Annotate: TypeAlias = "Callable[[pa.Field, int], pa.Field]"
Node: TypeAlias = list[Any]

#: The name in a layout of extension types without a row: name, content, storage type.
EXTENSION = "extension"


@needs("pyarrow")
def to_layout(arrow: pa.DataType) -> Node:
    """Return the layout of an Arrow type.

    >>> import pyarrow as pa
    >>> to_layout(pa.large_list(pa.timestamp("ms", "Asia/Tokyo")))
    ['large_list', ['item', True, ['timestamp', 'ms', 'Asia/Tokyo']]]
    """
    kind = kind_of(arrow)
    if kind is not None:
        return [kind.word, *(_layout_of_attribute(arrow, name) for name in kind.attributes.split())]
    if hasattr(arrow, "__arrow_ext_serialize__"):
        content = arrow.__arrow_ext_serialize__().decode("latin-1")
        return [EXTENSION, arrow.extension_name, content, to_layout(arrow.storage_type)]
    raise UnsupportedError(f"layouts do not support Arrow's {arrow}", code="type-not-in-flink")


def _layout_of_attribute(arrow: Any, name: str) -> Any:
    value = getattr(arrow, name)
    if name == "fields":
        return [[field.name, field.nullable, field_to_layout(field)] for field in value]
    if name.endswith("_field"):
        return [value.name, value.nullable, field_to_layout(value)]
    return to_layout(value) if name.endswith("_type") else value


@needs("pyarrow")
def field_to_layout(field: pa.Field) -> Node:
    """Return the layout of a field's type, including an extension that pyarrow has no class for."""
    node, metadata = to_layout(field.type), field.metadata or {}
    if EXTENSION_NAME not in metadata:
        return node
    tags = (metadata.get(key, b"") for key in (EXTENSION_NAME, EXTENSION_METADATA))
    return [EXTENSION, *(tag.decode("latin-1") for tag in tags), node]


@needs("pyarrow")
def from_layout(node: Node, annotate: Annotate | None = None) -> pa.DataType:
    """Build the Arrow type of a layout; `annotate` may replace the field at a position.

    >>> from_layout(["large_list", ["item", True, ["timestamp", "ms", "Asia/Tokyo"]]])
    LargeListType(large_list<item: timestamp[ms, tz=Asia/Tokyo]>)
    """
    import pyarrow as pa

    if not isinstance(node, list):
        raise SchemaError(f"invalid Arrow layout {node!r}", code="invalid-layout")
    word, *values = node
    if word == EXTENSION:
        return from_layout(values[-1], annotate)
    kind = KINDS_BY_NAME[word]
    noted = annotate or (lambda field, position: field)
    pairs = zip(kind.attributes.split(), values, strict=True)
    arguments = [_build_argument(*pair, position, noted) for position, pair in enumerate(pairs)]
    return getattr(pa, kind.factory or kind.word)(*arguments)


def _build_argument(name: str, value: Any, position: int, noted: Annotate) -> Any:
    if name == "fields":
        return [noted(field_from_layout(*element), index) for index, element in enumerate(value)]
    if name.endswith("_field"):
        return noted(field_from_layout(*value), position)
    if name == "value_type":
        return from_layout(value, noted)
    return from_layout(value) if name.endswith("_type") else value


@needs("pyarrow")
def field_from_layout(name: str, nullable: bool, node: Node) -> pa.Field:
    """Build a field from a layout, with the metadata of its extension, if any."""
    import pyarrow as pa

    metadata = extension_metadata(node)
    return pa.field(name, from_layout(node), nullable=nullable, metadata=metadata or None)


@needs("pyarrow")
def extension_metadata(node: Node) -> dict[bytes, bytes]:
    """Return the metadata that marks a field as an extension type."""
    if node[0] != EXTENSION:
        return {}
    tags = (item.encode("latin-1") for item in node[1:3])
    return dict(zip((EXTENSION_NAME, EXTENSION_METADATA), tags, strict=True))


@needs("pyarrow")
def write_layout(field: pa.Field) -> str:
    """Return the layout of a field as a JSON string."""
    return json.dumps(field_to_layout(field), ensure_ascii=False, separators=(",", ":"))


@needs("pyarrow")
def read_layout(text: str) -> Node:
    """Parse the JSON string of a layout, as `from_layout` takes it.

    Raises:
        SchemaError: with code `invalid-layout` for any other string.
    """
    import pyarrow as pa

    check_size(text)
    if _depth(text) > 3 * MAX_DEPTH:
        raise too_deep()
    try:
        node = json.loads(text)
        from_layout(node)
    except (
        pa.ArrowException, ValueError, TypeError, LookupError, AttributeError, OverflowError
    ) as error:  # fmt: skip
        raise SchemaError(f"invalid Arrow layout {text[:100]}", code="invalid-layout") from error
    return list(node)


def _depth(text: str) -> int:
    """Return the maximum bracket depth; brackets in strings count, so it may be overestimated."""
    depth = deepest = 0
    for character in text:
        if character == "[":
            depth += 1
            deepest = max(deepest, depth)
        elif character == "]":
            depth -= 1
    return deepest
