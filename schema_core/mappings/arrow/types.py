"""The mapping of Arrow types from and to Flink's, one row for each; and memory layouts as JSON.

Layouts use the names and parameters of `ARROW_KINDS`. Kinds without a row (unions, month-day-nano
intervals) have no counterpart in Flink. Source: Arrow's columnar format, "Data Types" and
"Canonical Extension Types".
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache, partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeAlias

from schema_core import types
from schema_core.base.caching import cached
from schema_core.base.cursor import check_size
from schema_core.base.lazy import dataclass
from schema_core.base.plugins import needs
from schema_core.base.text import MAX_DEPTH
from schema_core.errors import SchemaError, UnsupportedError
from schema_core.errors.hints import CAST_OR_OMIT
from schema_core.mappings import loss
from schema_core.mappings.exact_types import COMMENT_KEY, type_metadata
from schema_core.types.base import node_count
from schema_core.types.nested import MAX_PARTS

if TYPE_CHECKING:
    import pyarrow as pa


#: Reads a nested field; the caller decides whether to use exact-type metadata.
ReadField: TypeAlias = "Callable[[pa.Field], types.RowField]"

PRECISIONS = {"s": 0, "ms": 3, "us": 6, "ns": 9}

#: Metadata keys of an extension type that pyarrow has no class for.
EXTENSION_NAME = b"ARROW:extension:name"
EXTENSION_METADATA = b"ARROW:extension:metadata"


@dataclass(frozen=True, slots=True)
class ArrowKind:
    """A kind of Arrow type, and the Flink type that it is read as.

    `word` is its name in a layout. `attributes` are its parameters in the order of the `factory` of
    pyarrow: those ending in `_type` are types, those in `_field` fields, and `fields` is a list of
    fields. `sample` are parameters of some type of the kind.
    """

    word: str
    read: Callable[[Any, ReadField], types.DataType]
    attributes: str = ""
    sample: Sequence[Any] = ()
    factory: str = ""


# --- Arrow to Flink -------------------------------------------------------------------------------


def _is(type_: types.DataType) -> Callable[[Any, ReadField], types.DataType]:
    return lambda arrow, read: type_


def _read_decimal(arrow: Any, read: ReadField) -> types.DataType:
    """Return a decimal with room for all digits, whatever the scale."""
    scale = max(0, arrow.scale)
    precision = max(arrow.precision - min(0, arrow.scale), scale)
    if precision > types.DecimalType.limits["precision"][-1]:
        raise UnsupportedError(
            f"Arrow's {arrow} exceeds the maximum precision of DECIMAL, 38",
            code="type-not-supported",
            hint="cast the column to decimal128(38, s), or omit it",
        )
    return types.DecimalType(precision, scale)


def _read_time(arrow: Any, read: ReadField) -> types.DataType:
    return types.TimeType(PRECISIONS[arrow.unit])


def _read_list(arrow: Any, read: ReadField) -> types.DataType:
    return types.ArrayType(read(arrow.value_field).data_type)


def _read_map(arrow: Any, read: ReadField) -> types.DataType:
    key, value = read(arrow.key_field).data_type, read(arrow.item_field).data_type
    if isinstance(key, types.NullType):
        raise UnsupportedError("a map type whose key type is NULL", code="type-not-supported")
    return types.MapType(loss.as_not_null(key), value)


def _read_values(arrow: Any, read: ReadField) -> types.DataType:
    return read_type(arrow.value_type, read)


def _read_storage(arrow: Any, read: ReadField) -> types.DataType:
    return read_type(arrow.storage_type, read)


_NULL_ITEM = (["item", True, ["null"]],)

#: Name, reader, parameters and samples of pyarrow's factory, its name.
ARROW_KINDS: tuple[ArrowKind, ...] = (
    ArrowKind("null",              _is(types.NullType())),
    ArrowKind("bool",              _is(types.BooleanType()),  factory="bool_"),
    ArrowKind("int8",              _is(types.TinyIntType())),
    ArrowKind("int16",             _is(types.SmallIntType())),
    ArrowKind("int32",             _is(types.IntType())),
    ArrowKind("int64",             _is(types.BigIntType())),
    ArrowKind("uint8",             _is(types.SmallIntType())),
    ArrowKind("uint16",            _is(types.IntType())),
    ArrowKind("uint32",            _is(types.BigIntType())),
    ArrowKind("uint64",            _is(types.DecimalType(20, 0))),
    ArrowKind("float16",           _is(types.FloatType())),
    ArrowKind("float32",           _is(types.FloatType())),
    ArrowKind("float64",           _is(types.DoubleType())),
    ArrowKind("decimal32",         _read_decimal,       "precision scale", (5, 2)),
    ArrowKind("decimal64",         _read_decimal,       "precision scale", (5, 2)),
    ArrowKind("decimal128",        _read_decimal,       "precision scale", (5, 2)),
    ArrowKind("decimal256",        _read_decimal,       "precision scale", (5, 2)),
    ArrowKind("string",            _is(loss.STRING)),
    ArrowKind("large_string",      _is(loss.STRING)),
    ArrowKind("string_view",       _is(loss.STRING)),
    ArrowKind("binary",            _is(loss.BYTES)),
    ArrowKind("large_binary",      _is(loss.BYTES)),
    ArrowKind("binary_view",       _is(loss.BYTES)),
    ArrowKind("fixed_size_binary",
        lambda arrow, read: types.BinaryType(arrow.byte_width)
        if loss.has_fixed_size(arrow.byte_width) else loss.BYTES, "byte_width", (1,), "binary"),
    ArrowKind("date32",            _is(types.DateType())),
    ArrowKind("date64",            _is(types.DateType())),
    ArrowKind("time32",            _read_time,          "unit", ("s",)),
    ArrowKind("time64",            _read_time,          "unit", ("us",)),
    ArrowKind("timestamp",
        lambda arrow, read: (types.TimestampType if arrow.tz is None
        else types.LocalZonedTimestampType)(PRECISIONS[arrow.unit]), "unit tz", ("s", None)),
    ArrowKind("duration",
        lambda arrow, read: loss.widest_day_time(PRECISIONS[arrow.unit]), "unit", ("s",)),
    ArrowKind("list",              _read_list,          "value_field", _NULL_ITEM, "list_"),
    ArrowKind("large_list",        _read_list,          "value_field", _NULL_ITEM),
    ArrowKind("list_view",         _read_list,          "value_field", _NULL_ITEM),
    ArrowKind("large_list_view",   _read_list,          "value_field", _NULL_ITEM),
    ArrowKind("fixed_size_list",   _read_list,          "value_field list_size",
         (*_NULL_ITEM, 1), "list_"),
    ArrowKind("map",               _read_map,           "key_field item_field keys_sorted",
         (["key", False, ["int8"]], ["value", True, ["int8"]], False), "map_"),
    ArrowKind("struct",
        lambda arrow, read: types.RowType([read(field) for field in arrow.fields]),
        "fields", ([],)),
    ArrowKind("dictionary",        _read_values,        "index_type value_type ordered",
         (["int8"], ["int8"], False)),
    ArrowKind("run_end_encoded",   _read_values,        "run_end_type value_type",
         (["int16"], ["int8"])),
    ArrowKind("arrow.uuid",        _is(types.BinaryType(16)), factory="uuid"),
    ArrowKind("arrow.bool8",       _is(types.BooleanType()),  factory="bool8"),
    ArrowKind("arrow.json",        _is(loss.STRING),    "storage_type", (["string"],), "json_"),
    ArrowKind("arrow.opaque",      _read_storage,       "storage_type type_name vendor_name",
         (["null"], "", ""), "opaque"),
    ArrowKind("arrow.fixed_shape_tensor", _read_storage, "value_type shape dim_names permutation",
         (["int8"], [1], None, None), "fixed_shape_tensor"),
)  # fmt: skip

KINDS_BY_NAME = {kind.word: kind for kind in ARROW_KINDS}


@needs("pyarrow")
def read_type(arrow: pa.DataType, read: ReadField) -> types.DataType:
    """Return the nearest type to an Arrow type, nullable.

    Raises:
        UnsupportedError: with code `type-not-supported`.
    """
    kind = kind_of(arrow)
    if kind is not None:
        return kind.read(arrow, read)
    if hasattr(arrow, "storage_type"):
        return _read_storage(arrow, read)
    raise UnsupportedError(
        f"Flink has no type for Arrow's {arrow}",
        code="type-not-supported",
        hint=CAST_OR_OMIT,
    )


@needs("pyarrow")
def kind_of(arrow: pa.DataType) -> ArrowKind | None:
    """Return the row of an Arrow type, or None if its kind has no row."""
    return _by_id().get(_id(arrow))


def _id(arrow: pa.DataType) -> object:
    """Return the number of a kind, or the name of an extension type."""
    return getattr(arrow, "extension_name", arrow.id)


@cache
def _by_id() -> dict[object, ArrowKind]:
    """Return the rows by `_id`; older versions of pyarrow lack some kinds."""
    import pyarrow as pa

    return {
        _id(from_layout([kind.word, *kind.sample])): kind
        for kind in ARROW_KINDS
        if hasattr(pa, kind.factory or kind.word)
    }


# --- extension types without a class in pyarrow ---------------------------------------------------

#: Name of an extension -> the fields of its storage, and the type of its values.
STRUCT_EXTENSIONS: dict[bytes, tuple[frozenset[str], Callable[[Any], types.DataType]]] = {
    b"arrow.parquet.variant": (
        frozenset({"metadata", "value"}), lambda arrow: types.VariantType(),
    ),
    b"arrow.timestamp_with_offset": (
        frozenset({"timestamp", "offset_minutes"}),
        lambda arrow: types.ZonedTimestampType(PRECISIONS[arrow.field("timestamp").type.unit]),
    ),
}  # fmt: skip


@needs("pyarrow")
def read_extension(name: bytes | None, arrow: pa.DataType) -> types.DataType | None:
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
    """Refuse a type that is too deep or too wide to be printed, hashed or compared.

    In pyarrow's recursive C++ a stack overflow ends the process.

    Raises:
        UnsupportedError: with code `limit-exceeded`.
    """
    level, parts = list(_inner(arrow)), 0
    depth = 1
    while level:
        depth, parts = depth + 1, parts + len(level)
        if depth > MAX_DEPTH:
            raise loss.too_deep()
        if parts > MAX_PARTS:
            raise UnsupportedError(
                f"the type has more than {MAX_PARTS:,} parts", code="limit-exceeded"
            )
        level = [inner for data_type in level for inner in _inner(data_type)]


ENCODED = ("value_type", "storage_type")


def _inner(arrow: Any) -> list[pa.DataType]:
    """Return the child types; the struct between a map and its fields is not counted."""
    if hasattr(arrow, "key_field"):
        return [arrow.key_field.type, arrow.item_field.type]
    inner = [arrow.field(index).type for index in range(arrow.num_fields)]
    if not inner:
        inner += [getattr(arrow, name) for name in ENCODED if hasattr(arrow, name)]
    return inner


MakeField: TypeAlias = "Callable[[types.RowField], pa.Field]"
MakeType: TypeAlias = Callable[[Any, MakeField], Any]

UNITS = {digits: unit for unit, digits in PRECISIONS.items()}

#: Types stored as a canonical extension type that pyarrow has no class for yet.
EXTENSIONS: dict[type[types.DataType], bytes] = {
    types.VariantType: b"arrow.parquet.variant",
    types.ZonedTimestampType: b"arrow.timestamp_with_offset",
}


# --- Flink to Arrow: fields -----------------------------------------------------------------------


def extension_of(type_: types.DataType) -> bytes | None:
    """Return the name of the Arrow extension that stores the type, or None."""
    if isinstance(type_, types.DistinctType):
        return extension_of(type_.source_type)
    return EXTENSIONS.get(type(type_))


@needs("pyarrow")
def physical_field(field: types.RowField, *, with_metadata: bool = True) -> pa.Field:
    """Return the Arrow field of a column or row field.

    Raises:
        UnsupportedError: with code `type-not-supported`, or `name-not-supported` for invalid
            Unicode.
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
            "the name contains an unpaired surrogate", code="name-not-supported"
        ) from None


@cached(node_count, unit="types")
def _physical_and_metadata(
    type_: types.DataType, with_metadata: bool
) -> tuple[pa.DataType, dict[bytes, bytes]]:
    return to_physical(type_, with_metadata), _field_metadata(
        types.RowField("", type_), with_metadata
    )


def _field_metadata(field: types.RowField, with_metadata: bool) -> dict[bytes, bytes]:
    exact = type_metadata(field.data_type) if with_metadata else {}
    metadata = {key.encode(): text.encode() for key, text in exact.items()}
    if field.description is not None:
        metadata[COMMENT_KEY.encode()] = field.description.encode()
    if (extension := extension_of(field.data_type)) is not None:
        metadata |= {EXTENSION_NAME: extension, EXTENSION_METADATA: b""}
    return metadata


@needs("pyarrow")
@cached(node_count, unit="types")
def to_physical(type_: types.DataType, with_metadata: bool) -> pa.DataType:
    """Return the Arrow type that stores a type; `with_metadata` applies to nested fields.

    Raises:
        UnsupportedError: with code `type-not-supported`.
    """
    return _to_physical(type_, partial(physical_field, with_metadata=with_metadata))


def _to_physical(type_: types.DataType, field: MakeField) -> pa.DataType:
    row = TO_ARROW.get(type(type_))
    if row is None:
        raise UnsupportedError(f"Arrow has no type for {type_}", code="type-not-supported")
    return row(type_, field)


@needs("pyarrow")
def field_with_layout(field: types.RowField, node: list[Any], *, with_metadata: bool) -> pa.Field:
    """Return the field in a layout that can store its type, with metadata at every level."""
    import pyarrow as pa

    metadata = _field_metadata(field, with_metadata) | extension_metadata(node)
    type_ = _build_annotated(node, field.data_type, with_metadata)
    nullable = field.data_type.is_nullable
    arrow = pa.field(field.name, type_, nullable=nullable, metadata=metadata or None)
    if EXTENSION in str(node):
        with suppress(pa.ArrowException, ValueError, TypeError):  # as an IPC reader returns it
            return pa.ipc.read_schema(pa.schema([arrow]).serialize())[0]
    return arrow


def _build_annotated(node: list[Any], type_: types.DataType, with_metadata: bool) -> pa.DataType:
    """Return the type of a layout, its fields annotated as the fields of the Flink type."""
    import pyarrow as pa

    within = _child_fields(type_)

    def annotate(bare: pa.Field, position: int) -> pa.Field:
        if position >= len(within):
            return bare
        part, is_key = within[position], bare.name == "key" and not isinstance(type_, types.RowType)
        metadata = _field_metadata(part, with_metadata) | (bare.metadata or {})
        inner = _build_annotated(_node_at(node, position), part.data_type, with_metadata)
        nullable = bare.nullable if loss.is_null(part.data_type) else part.data_type.is_nullable
        nullable = nullable and not is_key
        return pa.field(bare.name, inner, nullable=nullable, metadata=metadata or None)

    return from_layout(node, annotate)


def _node_at(node: list[Any], position: int) -> list[Any]:
    match node:
        case ["struct", fields]:
            return list(fields[position][2])
        case ["dictionary", _, values, _] | ["run_end_encoded", _, values]:
            return _node_at(values, position)
        case ["extension", _, _, storage]:
            return _node_at(storage, position)
        case _:
            return list(node[1 + position][2])


def _child_fields(type_: types.DataType) -> tuple[types.RowField, ...]:
    match type_:
        case types.RowType() | types.StructuredType():
            return type_.fields
        case types.MapType():
            return (
                types.RowField("key", type_.key_type),
                types.RowField("value", type_.value_type),
            )
        case types.MultisetType():
            return _child_fields(loss.counts(type_))
        case types.ArrayType():
            return (types.RowField("element", type_.element_type),)
        case types.DistinctType():
            return _child_fields(type_.source_type)
        case _:
            return ()


# --- Flink to Arrow: types ------------------------------------------------------------------------


def _arrow(
    name: str, arguments: Callable[[Any, MakeField], tuple[object, ...]] = lambda type_, field: ()
) -> MakeType:
    """Return a function that calls pyarrow's factory of that name, imported at first use."""

    def make(type_: types.DataType, field: MakeField) -> Any:
        import pyarrow as pa

        return getattr(pa, name)(*arguments(type_, field))

    return make


def _arrow_struct(**parts: MakeType) -> MakeType:
    def make(type_: types.DataType, field: MakeField) -> Any:
        import pyarrow as pa

        return pa.struct(
            [pa.field(name, part(type_, field), nullable=False) for name, part in parts.items()]
        )

    return make


def _unit(digits: int) -> str:
    return UNITS[loss.arrow_precision(digits)]


_INSTANT = _arrow("timestamp", lambda type_, field: (_unit(type_.precision), "UTC"))
_BINARY, _STRING, _INT32 = _arrow("binary"), _arrow("string"), _arrow("int32")
_STRUCT = _arrow("struct", lambda type_, field: ([field(part) for part in type_.fields],))


def _make_map(type_: types.MapType | types.MultisetType, field: MakeField) -> Any:
    """Map keys are never NULL in Arrow, whatever the exact type."""
    import pyarrow as pa

    key, value = _child_fields(type_)
    if loss.is_null(key.data_type):
        raise UnsupportedError(f"Arrow has no type for {type_}", code="type-not-supported")
    return pa.map_(field(key).with_nullable(False), field(value))


TO_ARROW: dict[type[types.DataType], MakeType] = {
    types.NullType: _arrow("null"),
    types.BooleanType: _arrow("bool_"),
    types.TinyIntType: _arrow("int8"),
    types.SmallIntType: _arrow("int16"),
    types.IntType: _INT32,
    types.BigIntType: _arrow("int64"),
    types.FloatType: _arrow("float32"),
    types.DoubleType: _arrow("float64"),
    types.DecimalType: _arrow("decimal128", lambda type_, field: (type_.precision, type_.scale)),
    types.CharType: _STRING,
    types.VarCharType: _STRING,
    types.BinaryType: _arrow(
        "binary",
        lambda type_, field: (type_.length,) if loss.has_fixed_size(type_.length) else (),
    ),
    types.VarBinaryType: _BINARY,
    types.DateType: _arrow("date32"),
    types.TimeType: _arrow("time64", lambda type_, field: (_unit(type_.precision),)),
    types.TimestampType: _arrow("timestamp", lambda type_, field: (_unit(type_.precision),)),
    types.LocalZonedTimestampType: _INSTANT,
    types.ZonedTimestampType: _arrow_struct(timestamp=_INSTANT, offset_minutes=_arrow("int16")),
    types.YearMonthIntervalType: _INT32,
    types.DayTimeIntervalType: _arrow(
        "duration", lambda type_, field: (_unit(type_.fractional_precision),)
    ),
    types.ArrayType: _arrow("list_", lambda type_, field: (field(*_child_fields(type_)),)),
    types.MultisetType: _make_map,
    types.MapType: _make_map,
    types.RowType: _STRUCT,
    types.StructuredType: _STRUCT,
    types.DistinctType: lambda type_, field: _to_physical(type_.source_type, field),
    types.RawType: _BINARY,
    types.VariantType: _arrow_struct(metadata=_BINARY, value=_BINARY),
    types.BitmapType: _BINARY,
}

Annotate: TypeAlias = "Callable[[pa.Field, int], pa.Field]"
Node: TypeAlias = list[Any]

#: An extension type without a row: name, content, storage type.
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
    raise UnsupportedError(f"layouts do not support Arrow's {arrow}", code="type-not-supported")


def _layout_of_attribute(arrow: Any, name: str) -> Any:
    value = getattr(arrow, name)
    if name == "fields":
        return [[field.name, field.nullable, field_to_layout(field)] for field in value]
    if name.endswith("_field"):
        return [value.name, value.nullable, field_to_layout(value)]
    return to_layout(value) if name.endswith("_type") else value


@needs("pyarrow")
def field_to_layout(field: pa.Field) -> Node:
    """Return the layout of a field's type, also of an extension that pyarrow has no class for."""
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
        raise SchemaError(f"invalid Arrow layout {node!r}", code="invalid-type")
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
    tags = (tag.encode("latin-1") for tag in node[1:3])
    return dict(zip((EXTENSION_NAME, EXTENSION_METADATA), tags, strict=True))


@needs("pyarrow")
def write_layout(field: pa.Field) -> str:
    """Return the layout of a field as a JSON string."""
    return json.dumps(field_to_layout(field), ensure_ascii=False, separators=(",", ":"))


@needs("pyarrow")
def read_layout(text: str) -> Node:
    """Parse the JSON string of a layout.

    Raises:
        SchemaError: with code `invalid-type` for any other string.
    """
    import pyarrow as pa

    check_size(text)
    # brackets in strings count: the depth may be overestimated
    depths = accumulate((character == "[") - (character == "]") for character in text)
    if max(depths, default=0) > 3 * MAX_DEPTH:
        raise loss.too_deep()
    try:
        node = json.loads(text)
        from_layout(node)
    except (
        pa.ArrowException, ValueError, TypeError, LookupError, AttributeError, OverflowError
    ) as error:  # fmt: skip
        raise SchemaError(f"invalid Arrow layout {text[:100]}", code="invalid-type") from error
    return list(node)
