"""Physical Arrow types: the mapping from and to Flink's types, and memory layouts as JSON.

`ARROW_KINDS` has one row for each kind of Arrow type: its pyarrow factory, its parameters and the
Flink type it is read as. `TO_ARROW` has one row for each Flink type. Layouts use the names and
parameters of `ARROW_KINDS`. Kinds without a row (unions, month-day-nano intervals) have no
counterpart in Flink. Source: Arrow's columnar format, "Data Types" and "Canonical Extension Types".
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeAlias

from schema_core.caching import cached
from schema_core.errors import SchemaError, UnsupportedError
from schema_core.extras import needs
from schema_core.formats.exact_types import COMMENT_KEY, type_metadata
from schema_core.formats.loss import (
    BYTES,
    STRING,
    arrow_precision,
    as_not_null,
    has_fixed_size,
    is_null,
    too_deep,
    widest_day_time,
)
from schema_core.text import MAX_DEPTH, check_size
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


#: How a field of a nested type is read, and how its comment is: by the caller, who knows notes.
ReadField: TypeAlias = "Callable[[pa.Field], RowField]"

#: Unit of a time -> digits of a second.
PRECISIONS = {"s": 0, "ms": 3, "us": 6, "ns": 9}

#: Metadata of a field whose extension type this process does not know.
EXTENSION_NAME = b"ARROW:extension:name"
EXTENSION_METADATA = b"ARROW:extension:metadata"


@dataclass(frozen=True, slots=True)
class ArrowKind:
    """A kind of Arrow type.

    `word` names it in a layout, `attributes` are the parameters in the order of the `factory`:
    those that end in `_type` are types, in `_field` fields, `fields` many of them. `sample` is what
    follows the word in the layout of some type of the kind.
    """

    word: str
    read: Callable[[Any, ReadField], DataType]
    attributes: str = ""
    sample: Sequence[Any] = ()
    factory: str = ""


# --- what a kind is read as ----------------------------------------------------------------------


def _is(type_: DataType) -> Callable[[Any, ReadField], DataType]:
    return lambda arrow, read: type_


def _read_decimal(arrow: Any, read: ReadField) -> DataType:
    """Room for all digits: a negative scale adds zeros, one above the precision takes some away."""
    scale = max(0, arrow.scale)
    precision = max(arrow.precision - min(0, arrow.scale), scale)
    if precision > DecimalType.limits["precision"][-1]:
        raise UnsupportedError(
            f"DECIMAL holds 38 digits, not those of Arrow's {arrow}",
            code="type-not-in-flink",
            hint="cast the column to decimal128(38, s), or leave it out",
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
        raise UnsupportedError("a map whose keys are all NULL", code="type-not-in-flink")
    return MapType(as_not_null(key), value)


def _read_struct(arrow: Any, read: ReadField) -> DataType:
    return RowType([read(field) for field in arrow.fields])


def _read_values(arrow: Any, read: ReadField) -> DataType:
    """What an encoding, such as a dictionary, encodes."""
    return read_type(arrow.value_type, read)


def _read_storage(arrow: Any, read: ReadField) -> DataType:
    return read_type(arrow.storage_type, read)


#: Word, what it is read as, parameters in the order of pyarrow's factory, a sample, its factory.
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
    """The nearest type to an Arrow type, nullable.

    Raises:
        UnsupportedError: with code `type-not-in-flink` for a kind without a row.
    """
    kind = kind_of(arrow)
    if kind is not None:
        return kind.read(arrow, read)
    if hasattr(arrow, "storage_type"):
        return _read_storage(arrow, read)
    raise UnsupportedError(
        f"no Flink type stands for Arrow's {arrow}",
        code="type-not-in-flink",
        hint="cast the column to a plain type, or leave it out",
    )


@needs("pyarrow")
def kind_of(arrow: pa.DataType) -> ArrowKind | None:
    """The row of an Arrow type, if its kind has one."""
    return _by_id().get(_id(arrow))


def _id(arrow: pa.DataType) -> object:
    """What tells the kinds apart: a number, or the name of an extension type."""
    return getattr(arrow, "extension_name", arrow.id)


@cache
def _by_id() -> dict[object, ArrowKind]:
    """The rows by what `_id` gives; older versions of pyarrow do not have every kind."""
    import pyarrow as pa

    known = [kind for kind in ARROW_KINDS if hasattr(pa, kind.factory or kind.word)]
    return {_id(from_layout([kind.word, *kind.sample])): kind for kind in known}


# --- extension types that pyarrow has no class for -----------------------------------------------

#: Name of an extension -> the fields of its storage, and the type its values are.
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
    """The type of an extension that is known by name alone, if its storage is right."""
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


# --- budget --------------------------------------------------------------------------------------


@needs("pyarrow")
def check_arrow(arrow: pa.DataType) -> None:
    """Refuse what is nested too deeply before it is printed, hashed or compared.

    pyarrow does these by recursion in C++, which ends the process where the stack does.

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
            raise UnsupportedError(f"a type of more than {MAX_PARTS:,} parts", code="too-wide")
        level = [inner for one in level for inner in _inner(one)]


#: Attributes of dictionaries and extensions, whose types are no fields.
ENCODED = ("value_type", "storage_type")


def _inner(arrow: Any) -> list[pa.DataType]:
    """The types right below one; the struct between a map and its fields is no level."""
    if hasattr(arrow, "key_field"):
        return [arrow.key_field.type, arrow.item_field.type]
    inner = [arrow.field(index).type for index in range(arrow.num_fields)]
    if not inner:
        inner += [getattr(arrow, name) for name in ENCODED if hasattr(arrow, name)]
    return inner


#: How the fields of nested types are made: with or without notes.
MakeField: TypeAlias = "Callable[[RowField], pa.Field]"

#: Digits of a second -> Arrow's unit.
UNITS = {digits: unit for unit, digits in PRECISIONS.items()}

#: Types whose values are those of a canonical extension that pyarrow has no class for yet.
EXTENSIONS: dict[type[DataType], bytes] = {
    VariantType: b"arrow.parquet.variant",
    ZonedTimestampType: b"arrow.timestamp_with_offset",
}


# --- fields ---------------------------------------------------------------------------------------


def extension_of(type_: DataType) -> bytes | None:
    """The name of Arrow's extension that says what is stored, also under another name."""
    if isinstance(type_, DistinctType):
        return extension_of(type_.source_type)
    return EXTENSIONS.get(type(type_))


@needs("pyarrow")
def physical_field(field: RowField, *, notes: bool = True) -> pa.Field:
    """The Arrow field of a column or of a field of a row, with or without notes.

    Raises:
        UnsupportedError: with code `type-not-in-arrow`, or `name-not-in-arrow` for a name that is
            no text.
    """
    import pyarrow as pa

    type_ = field.data_type
    carrier, metadata = _physical_and_metadata(type_, notes)
    if field.description is not None:
        metadata = {**metadata, COMMENT_KEY.encode(): field.description.encode()}
    try:
        return pa.field(field.name, carrier, type_.is_nullable, metadata)
    except UnicodeEncodeError:
        raise UnsupportedError("half of a surrogate pair", code="name-not-in-arrow") from None


@cached(node_count)
def _physical_and_metadata(type_: DataType, notes: bool) -> tuple[pa.DataType, dict[bytes, bytes]]:
    """What all fields of a type have in common."""
    return to_physical(type_, notes), _field_metadata(RowField("", type_), notes)


def _field_metadata(field: RowField, notes: bool) -> dict[bytes, bytes]:
    """The note, the comment, and the name of an extension."""
    told = type_metadata(field.data_type) if notes else {}
    metadata = {key.encode(): text.encode() for key, text in told.items()}
    if field.description is not None:
        metadata[COMMENT_KEY.encode()] = field.description.encode()
    if (extension := extension_of(field.data_type)) is not None:
        metadata |= {EXTENSION_NAME: extension, EXTENSION_METADATA: b""}
    return metadata


@needs("pyarrow")
@cached(node_count)
def to_physical(type_: DataType, notes: bool) -> pa.DataType:
    """The Arrow type that holds a type, with or without notes in the fields of it.

    Raises:
        UnsupportedError: with code `type-not-in-arrow`.
    """
    return _to_physical(type_, partial(physical_field, notes=notes))


def _to_physical(type_: DataType, field: MakeField) -> pa.DataType:
    row = TO_ARROW.get(type(type_))
    if row is None:
        raise UnsupportedError(f"no Arrow type holds {type_}", code="type-not-in-arrow")
    return row(type_, field)


@needs("pyarrow")
def field_with_layout(field: RowField, node: list[Any], *, notes: bool) -> pa.Field:
    """The field in a layout that holds its type, with notes at every level."""
    import pyarrow as pa

    metadata = _field_metadata(field, notes) | extension_metadata(node)
    type_ = _build_annotated(node, field.data_type, notes)
    nullable = field.data_type.is_nullable
    found = pa.field(field.name, type_, nullable=nullable, metadata=metadata or None)
    return _with_registered_extension(found) if EXTENSION in str(node) else found


def _build_annotated(node: list[Any], type_: DataType, notes: bool) -> pa.DataType:
    """The type of a layout whose fields say the same as those of the type."""
    import pyarrow as pa

    within = _child_fields(type_)

    def annotate(bare: pa.Field, position: int) -> pa.Field:
        if position >= len(within):
            return bare
        part, is_key = within[position], bare.name == "key" and not isinstance(type_, RowType)
        metadata = _field_metadata(part, notes) | (bare.metadata or {})
        inner = _build_annotated(_node_at(node, position), part.data_type, notes)
        nullable = bare.nullable if is_null(part.data_type) else part.data_type.is_nullable
        nullable = nullable and not is_key
        return pa.field(bare.name, inner, nullable=nullable, metadata=metadata or None)

    return from_layout(node, annotate)


def _node_at(node: list[Any], position: int) -> list[Any]:
    """The description of the field at a position, through encodings and extensions."""
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
    """The fields of the Arrow type that holds a type, as far as they hold types of their own."""
    match type_:
        case RowType() | StructuredType():
            return type_.fields
        case MapType():
            return (RowField("key", type_.key_type), RowField("value", type_.value_type))
        case MultisetType():
            return _child_fields(MapType(type_.element_type, IntType(nullable=False)))
        case ArrayType():
            return (RowField("element", type_.element_type),)
        case DistinctType():
            return _child_fields(type_.source_type)
        case _:
            return ()


def _with_registered_extension(field: pa.Field) -> pa.Field:
    """The field with its extension type, if this process knows it: what a reader of IPC gets."""
    import pyarrow as pa

    try:
        return pa.ipc.read_schema(pa.schema([field]).serialize())[0]
    except (pa.ArrowException, ValueError, TypeError):
        return field


# --- the table -----------------------------------------------------------------------------------


def _arrow(name: str, *arguments: object) -> Callable[[Any, MakeField], Any]:
    """A builder that calls pyarrow's factory of that name, imported at first use."""

    def make(type_: DataType, field: MakeField) -> Any:
        import pyarrow as pa

        return getattr(pa, name)(*arguments)

    return make


def _unit(digits: int) -> str:
    return UNITS[arrow_precision(digits)]


def _make_decimal(type_: DecimalType, field: MakeField) -> Any:
    import pyarrow as pa

    return pa.decimal128(type_.precision, type_.scale)


def _make_bytes(type_: BinaryType, field: MakeField) -> Any:
    import pyarrow as pa

    return pa.binary(type_.length) if has_fixed_size(type_.length) else pa.binary()


def _make_time(type_: TimeType, field: MakeField) -> Any:
    import pyarrow as pa

    return pa.time64(_unit(type_.precision))


def _make_timestamp(type_: TimestampType, field: MakeField) -> Any:
    import pyarrow as pa

    return pa.timestamp(_unit(type_.precision))


def _make_instant(type_: LocalZonedTimestampType | ZonedTimestampType, field: MakeField) -> Any:
    import pyarrow as pa

    return pa.timestamp(_unit(type_.precision), tz="UTC")


def _make_with_offset(type_: ZonedTimestampType, field: MakeField) -> Any:
    import pyarrow as pa

    parts = {"timestamp": _make_instant(type_, field), "offset_minutes": pa.int16()}
    return pa.struct([pa.field(name, part, nullable=False) for name, part in parts.items()])


def _make_duration(type_: DayTimeIntervalType, field: MakeField) -> Any:
    import pyarrow as pa

    return pa.duration(_unit(type_.fractional_precision))


def _make_variant(type_: VariantType, field: MakeField) -> Any:
    import pyarrow as pa

    return pa.struct([pa.field(name, pa.binary(), False) for name in ("metadata", "value")])


def _make_list(type_: ArrayType, field: MakeField) -> Any:
    import pyarrow as pa

    return pa.list_(field(*_child_fields(type_)))


def _make_map(type_: MapType | MultisetType, field: MakeField) -> Any:
    """Keys are never NULL in Arrow, whatever the note says."""
    import pyarrow as pa

    key, value = _child_fields(type_)
    if is_null(key.data_type):
        raise UnsupportedError(f"no Arrow type holds {type_}", code="type-not-in-arrow")
    return pa.map_(field(key).with_nullable(False), field(value))


def _make_struct(type_: RowType | StructuredType, field: MakeField) -> Any:
    import pyarrow as pa

    return pa.struct([field(one) for one in type_.fields])


def _make_source(type_: DistinctType, field: MakeField) -> Any:
    return _to_physical(type_.source_type, field)


#: Class of type -> how its Arrow type is made.
TO_ARROW: dict[type[DataType], Callable[[Any, MakeField], Any]] = {
    NullType:                _arrow("null"),
    BooleanType:             _arrow("bool_"),
    TinyIntType:             _arrow("int8"),
    SmallIntType:            _arrow("int16"),
    IntType:                 _arrow("int32"),
    BigIntType:              _arrow("int64"),
    FloatType:               _arrow("float32"),
    DoubleType:              _arrow("float64"),
    DecimalType:             _make_decimal,
    CharType:                _arrow("string"),
    VarCharType:             _arrow("string"),
    BinaryType:              _make_bytes,
    VarBinaryType:           _arrow("binary"),
    DateType:                _arrow("date32"),
    TimeType:                _make_time,
    TimestampType:           _make_timestamp,
    LocalZonedTimestampType: _make_instant,
    ZonedTimestampType:      _make_with_offset,
    YearMonthIntervalType:   _arrow("int32"),
    DayTimeIntervalType:     _make_duration,
    ArrayType:               _make_list,
    MultisetType:            _make_map,
    MapType:                 _make_map,
    RowType:                 _make_struct,
    StructuredType:          _make_struct,
    DistinctType:            _make_source,
    RawType:                 _arrow("binary"),
    VariantType:             _make_variant,
    BitmapType:              _arrow("binary"),
}  # fmt: skip


Annotate: TypeAlias = "Callable[[pa.Field, int], pa.Field]"
Node: TypeAlias = list[Any]

#: The word of a layout for extension types without a row: name, content, the type beneath.
EXTENSION = "extension"


@needs("pyarrow")
def to_layout(arrow: pa.DataType) -> Node:
    """An Arrow type as JSON.

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
    raise UnsupportedError(f"no layout describes Arrow's {arrow}", code="type-not-in-flink")


def _layout_of_attribute(arrow: Any, name: str) -> Any:
    value = getattr(arrow, name)
    if name == "fields":
        return [[field.name, field.nullable, field_to_layout(field)] for field in value]
    if name.endswith("_field"):
        return [value.name, value.nullable, field_to_layout(value)]
    return to_layout(value) if name.endswith("_type") else value


@needs("pyarrow")
def field_to_layout(field: pa.Field) -> Node:
    """The type of a field; an extension that is known by name alone stands around it."""
    node, metadata = to_layout(field.type), field.metadata or {}
    if EXTENSION_NAME not in metadata:
        return node
    told = (metadata.get(key, b"") for key in (EXTENSION_NAME, EXTENSION_METADATA))
    return [EXTENSION, *(one.decode("latin-1") for one in told), node]


@needs("pyarrow")
def from_layout(node: Node, annotate: Annotate | None = None) -> pa.DataType:
    """The Arrow type that JSON describes; `annotate` may change the field of a position.

    >>> from_layout(["large_list", ["item", True, ["timestamp", "ms", "Asia/Tokyo"]]])
    LargeListType(large_list<item: timestamp[ms, tz=Asia/Tokyo]>)
    """
    import pyarrow as pa

    if not isinstance(node, list):
        raise SchemaError(f"no layout of Arrow: {node!r}", code="invalid-layout")
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
        return [noted(field_from_layout(*one), index) for index, one in enumerate(value)]
    if name.endswith("_field"):
        return noted(field_from_layout(*value), position)
    if name == "value_type":
        return from_layout(value, noted)
    return from_layout(value) if name.endswith("_type") else value


@needs("pyarrow")
def field_from_layout(name: str, nullable: bool, node: Node) -> pa.Field:
    """A field of the type that JSON describes, with the name of its extension if it has one."""
    import pyarrow as pa

    metadata = extension_metadata(node)
    return pa.field(name, from_layout(node), nullable=nullable, metadata=metadata or None)


@needs("pyarrow")
def extension_metadata(node: Node) -> dict[bytes, bytes]:
    """The metadata that makes a field one of an extension type."""
    if node[0] != EXTENSION:
        return {}
    told = (one.encode("latin-1") for one in node[1:3])
    return dict(zip((EXTENSION_NAME, EXTENSION_METADATA), told, strict=True))


@needs("pyarrow")
def write_layout(field: pa.Field) -> str:
    """The Arrow type of a field as the text of a layout."""
    return json.dumps(field_to_layout(field), ensure_ascii=False, separators=(",", ":"))


@needs("pyarrow")
def read_layout(text: str) -> Node:
    """The Arrow type that the text of a layout describes, as JSON that `from_layout` takes.

    Raises:
        SchemaError: with code `invalid-layout` for a text that describes none.
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
        raise SchemaError(f"no layout of Arrow: {text[:100]}", code="invalid-layout") from error
    return list(node)


def _depth(text: str) -> int:
    """How deep the brackets go; those within strings count, which only errs on the safe side."""
    depth = deepest = 0
    for character in text:
        if character == "[":
            depth += 1
            deepest = max(deepest, depth)
        elif character == "]":
            depth -= 1
    return deepest
