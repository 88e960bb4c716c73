"""The Arrow types that hold Flink's, as rows, and the fields around them with their notes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from schema_core.caching import cached
from schema_core.errors import UnsupportedError
from schema_core.extras import needs
from schema_core.formats.arrow.kinds import DIGITS, EXTENSION_METADATA, EXTENSION_NAME
from schema_core.formats.arrow.layout import EXTENSION, build, tags
from schema_core.formats.exact_types import COMMENT, notes_of
from schema_core.formats.loss_targets import arrow_digits, has_fixed_size, is_null
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

if TYPE_CHECKING:
    from typing import TypeAlias

    import pyarrow as pa

    #: How the fields of nested types are made: with or without notes.
    MakeField: TypeAlias = Callable[[RowField], pa.Field]

#: Digits of a second -> Arrow's unit.
UNITS = {digits: unit for unit, digits in DIGITS.items()}

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
def field_of(field: RowField, *, notes: bool = True) -> pa.Field:
    """The Arrow field of a column or of a field of a row, with or without notes.

    Raises:
        UnsupportedError: with code `type-not-in-arrow`, or `name-not-in-arrow` for a name that is
            no text.
    """
    import pyarrow as pa

    type_ = field.data_type
    carrier, metadata = _carrier_and_metadata(type_, notes)
    if field.description is not None:
        metadata = {**metadata, COMMENT.encode(): field.description.encode()}
    try:
        return pa.field(field.name, carrier, type_.is_nullable, metadata)
    except UnicodeEncodeError:
        raise UnsupportedError("half of a surrogate pair", code="name-not-in-arrow") from None


@cached(node_count)
def _carrier_and_metadata(type_: DataType, notes: bool) -> tuple[pa.DataType, dict[bytes, bytes]]:
    """What all fields of a type have in common."""
    return carrier_of(type_, notes), _metadata_of(RowField("", type_), notes)


def _metadata_of(field: RowField, notes: bool) -> dict[bytes, bytes]:
    """The note, the comment, and the name of an extension."""
    told = notes_of(field.data_type) if notes else {}
    metadata = {key.encode(): text.encode() for key, text in told.items()}
    if field.description is not None:
        metadata[COMMENT.encode()] = field.description.encode()
    if (extension := extension_of(field.data_type)) is not None:
        metadata |= {EXTENSION_NAME: extension, EXTENSION_METADATA: b""}
    return metadata


@needs("pyarrow")
@cached(node_count)
def carrier_of(type_: DataType, notes: bool) -> pa.DataType:
    """The Arrow type that holds a type, with or without notes in the fields of it.

    Raises:
        UnsupportedError: with code `type-not-in-arrow`.
    """
    return _carrier(type_, partial(field_of, notes=notes))


def _carrier(type_: DataType, field: MakeField) -> pa.DataType:
    row = TO_ARROW.get(type(type_))
    if row is None:
        raise UnsupportedError(f"no Arrow type holds {type_}", code="type-not-in-arrow")
    return row(type_, field)


@needs("pyarrow")
def laid_out(field: RowField, node: list[Any], *, notes: bool) -> pa.Field:
    """The field in a layout that holds its type, with notes at every level."""
    import pyarrow as pa

    metadata = _metadata_of(field, notes) | tags(node)
    type_ = _dressed(node, field.data_type, notes)
    nullable = field.data_type.is_nullable
    found = pa.field(field.name, type_, nullable=nullable, metadata=metadata or None)
    return _known_extension(found) if EXTENSION in str(node) else found


def _dressed(node: list[Any], type_: DataType, notes: bool) -> pa.DataType:
    """The type of a layout whose fields say the same as those of the type."""
    import pyarrow as pa

    within = parts(type_)

    def annotate(bare: pa.Field, position: int) -> pa.Field:
        if position >= len(within):
            return bare
        part, is_key = within[position], bare.name == "key" and not isinstance(type_, RowType)
        metadata = _metadata_of(part, notes) | (bare.metadata or {})
        inner = _dressed(_node_at(node, position), part.data_type, notes)
        nullable = bare.nullable if is_null(part.data_type) else part.data_type.is_nullable
        nullable = nullable and not is_key
        return pa.field(bare.name, inner, nullable=nullable, metadata=metadata or None)

    return build(node, annotate)


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


def parts(type_: DataType) -> tuple[RowField, ...]:
    """The fields of the Arrow type that holds a type, as far as they hold types of their own."""
    match type_:
        case RowType() | StructuredType():
            return type_.fields
        case MapType():
            return (RowField("key", type_.key_type), RowField("value", type_.value_type))
        case MultisetType():
            return parts(MapType(type_.element_type, IntType(nullable=False)))
        case ArrayType():
            return (RowField("element", type_.element_type),)
        case DistinctType():
            return parts(type_.source_type)
        case _:
            return ()


def _known_extension(field: pa.Field) -> pa.Field:
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
    return UNITS[arrow_digits(digits)]


def _decimal(type_: DecimalType, field: MakeField) -> Any:
    import pyarrow as pa

    return pa.decimal128(type_.precision, type_.scale)


def _bytes(type_: BinaryType, field: MakeField) -> Any:
    import pyarrow as pa

    return pa.binary(type_.length) if has_fixed_size(type_.length) else pa.binary()


def _time(type_: TimeType, field: MakeField) -> Any:
    import pyarrow as pa

    return pa.time64(_unit(type_.precision))


def _timestamp(type_: TimestampType, field: MakeField) -> Any:
    import pyarrow as pa

    return pa.timestamp(_unit(type_.precision))


def _instant(type_: LocalZonedTimestampType | ZonedTimestampType, field: MakeField) -> Any:
    import pyarrow as pa

    return pa.timestamp(_unit(type_.precision), tz="UTC")


def _with_offset(type_: ZonedTimestampType, field: MakeField) -> Any:
    import pyarrow as pa

    parts = {"timestamp": _instant(type_, field), "offset_minutes": pa.int16()}
    return pa.struct([pa.field(name, part, nullable=False) for name, part in parts.items()])


def _duration(type_: DayTimeIntervalType, field: MakeField) -> Any:
    import pyarrow as pa

    return pa.duration(_unit(type_.fractional_precision))


def _variant(type_: VariantType, field: MakeField) -> Any:
    import pyarrow as pa

    return pa.struct([pa.field(name, pa.binary(), False) for name in ("metadata", "value")])


def _list(type_: ArrayType, field: MakeField) -> Any:
    import pyarrow as pa

    return pa.list_(field(*parts(type_)))


def _map(type_: MapType | MultisetType, field: MakeField) -> Any:
    """Keys are never NULL in Arrow, whatever the note says."""
    import pyarrow as pa

    key, value = parts(type_)
    if is_null(key.data_type):
        raise UnsupportedError(f"no Arrow type holds {type_}", code="type-not-in-arrow")
    return pa.map_(field(key).with_nullable(False), field(value))


def _struct(type_: RowType | StructuredType, field: MakeField) -> Any:
    import pyarrow as pa

    return pa.struct([field(one) for one in type_.fields])


def _source(type_: DistinctType, field: MakeField) -> Any:
    return _carrier(type_.source_type, field)


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
    DecimalType:             _decimal,
    CharType:                _arrow("string"),
    VarCharType:             _arrow("string"),
    BinaryType:              _bytes,
    VarBinaryType:           _arrow("binary"),
    DateType:                _arrow("date32"),
    TimeType:                _time,
    TimestampType:           _timestamp,
    LocalZonedTimestampType: _instant,
    ZonedTimestampType:      _with_offset,
    YearMonthIntervalType:   _arrow("int32"),
    DayTimeIntervalType:     _duration,
    ArrayType:               _list,
    MultisetType:            _map,
    MapType:                 _map,
    RowType:                 _struct,
    StructuredType:          _struct,
    DistinctType:            _source,
    RawType:                 _arrow("binary"),
    VariantType:             _variant,
    BitmapType:              _arrow("binary"),
}  # fmt: skip
