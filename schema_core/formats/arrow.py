"""Flink's types as Arrow's and back: a table of pairs, and the exact type as a note in the field.

The physical half of a field is right for readers who know nothing of the note (Arrow's columnar
format specification, "Data Types"). A note is believed only while the physical type still fits it,
so a field that somebody changed is read by its physical type.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from schema_core.errors import SchemaCoreError, UnsupportedError, at
from schema_core.schema.resolved import ResolvedSchema
from schema_core.schema.unresolved import Schema
from schema_core.types import (
    MAX_LENGTH,
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
    parse_type,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

#: The key of the note in a field's metadata, and of a column's comment.
NOTE = b"schema_core.type"
COMMENT = b"comment"

STRING = VarCharType(MAX_LENGTH)
BYTES = VarBinaryType(MAX_LENGTH)

#: Digits of a second -> Arrow's unit, for the coarsest unit that holds them and that Spark reads.
MICROSECONDS = 6


def to_field(name: str, type_: DataType, comment: str | None = None) -> pa.Field:
    """The Arrow field of a column: physical type, nullability, the exact type as a note.

    Raises:
        UnsupportedError: with code `no-arrow-type` for types whose values never leave Flink
            (symbols, descriptors, unresolved names).

    >>> to_field("total", parse_type("DECIMAL(12, 2) NOT NULL"))
    pyarrow.Field<total: decimal128(12, 2) not null>
    """
    import pyarrow as pa

    note = {NOTE: str(type_).encode()}
    if comment is not None:
        note[COMMENT] = comment.encode()
    with at(f"field {name!r}"):
        return pa.field(name, to_arrow(type_), nullable=type_.is_nullable, metadata=note)


def to_arrow(type_: DataType) -> pa.DataType:
    """The Arrow type that holds the values of a type; nested fields carry their own notes."""
    build = TO_ARROW.get(type(type_))
    if build is None:
        raise UnsupportedError(f"no Arrow type holds {type_}", code="no-arrow-type")
    return build(type_)


def from_field(field: pa.Field) -> DataType:
    """The noted type while the field still fits it, else the nearest type to the physical one.

    Raises:
        UnsupportedError: with code `no-flink-type` for an Arrow type that no type can stand for.
    """
    with at(f"field {field.name!r}"):
        noted = _noted(field)
        return from_arrow(field.type).with_nullability(field.nullable) if noted is None else noted


def _noted(field: pa.Field) -> DataType | None:
    """What the note says, if there is one, it can be read and the field still fits it."""
    note = (field.metadata or {}).get(NOTE)
    if note is None:
        return None
    try:
        noted = parse_type(note.decode())
        twin = to_field(field.name, noted)
    except (SchemaCoreError, UnicodeDecodeError):
        return None
    same = twin.type.equals(field.type) and twin.nullable == field.nullable
    return noted if same else None


def from_arrow(arrow: pa.DataType) -> DataType:
    """The nearest type to an Arrow type, nullable.

    >>> import pyarrow as pa
    >>> print(from_arrow(pa.list_(pa.field("element", pa.uint32(), nullable=False))))
    ARRAY<BIGINT NOT NULL>
    """
    for row in FROM_ARROW:
        if row.fits(arrow):
            return row.gives(arrow)
    raise UnsupportedError(
        f"no Flink type stands for Arrow's {arrow}",
        code="no-flink-type",
        hint="cast the column to a plain type, or leave it out",
    )


def to_schema(schema: ResolvedSchema) -> pa.Schema:
    """The Arrow schema of all columns of a table, as a reader of the table sees them."""
    import pyarrow as pa

    return pa.schema(
        [to_field(one.name, one.data_type, one.comment) for one in schema.get_columns()]
    )


def from_schema(schema: pa.Schema) -> Schema:
    """A schema of physical columns from an Arrow schema, with the comments it carries."""
    builder = Schema.new_builder()
    for field in schema:
        builder.column(field.name, from_field(field))
        if (comment := (field.metadata or {}).get(COMMENT)) is not None:
            builder.with_comment(comment.decode())
    return builder.build()


# --- to Arrow ----------------------------------------------------------------------------------


def _arrow(name: str, *arguments: object) -> Callable[[Any], Any]:
    """A builder that calls pyarrow's factory of that name, imported at first use."""

    def build(_: DataType) -> Any:
        import pyarrow as pa

        return getattr(pa, name)(*arguments)

    return build


def _decimal(type_: DecimalType) -> Any:
    import pyarrow as pa

    return pa.decimal128(type_.precision, type_.scale)


def _time(type_: TimeType) -> Any:
    import pyarrow as pa

    return pa.time64("us" if type_.precision <= MICROSECONDS else "ns")


def _timestamp(type_: TimestampType | LocalZonedTimestampType) -> Any:
    import pyarrow as pa

    zone = "UTC" if isinstance(type_, LocalZonedTimestampType) else None
    return pa.timestamp("us" if type_.precision <= MICROSECONDS else "ns", tz=zone)


def _zoned(type_: ZonedTimestampType) -> Any:
    import pyarrow as pa

    instant = pa.timestamp("us" if type_.precision <= MICROSECONDS else "ns", tz="UTC")
    return pa.struct(
        [
            pa.field("timestamp", instant, nullable=False),
            pa.field("offset_minutes", pa.int16(), nullable=False),
        ]
    )


def _list(type_: ArrayType) -> Any:
    import pyarrow as pa

    return pa.list_(to_field("element", type_.element_type))


def _map(type_: MapType) -> Any:
    import pyarrow as pa

    key = to_field("key", type_.key_type).with_nullable(False)
    return pa.map_(key, to_field("value", type_.value_type))


def _multiset(type_: MultisetType) -> Any:
    return _map(MapType(type_.element_type, IntType(nullable=False)))


def _struct(type_: RowType | StructuredType) -> Any:
    import pyarrow as pa

    return pa.struct([to_field(one.name, one.data_type, one.description) for one in type_.fields])


def _variant(_: VariantType) -> Any:
    import pyarrow as pa

    parts = ("metadata", "value")
    return pa.struct([pa.field(part, pa.binary(), nullable=False) for part in parts])


def _fixed(type_: BinaryType) -> Any:
    import pyarrow as pa

    return pa.binary(type_.length) if type_.length else pa.binary()


#: Class of type -> how its Arrow type is made.
TO_ARROW: dict[type[DataType], Callable[[Any], Any]] = {
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
    BinaryType:              _fixed,
    VarBinaryType:           _arrow("binary"),
    DateType:                _arrow("date32"),
    TimeType:                _time,
    TimestampType:           _timestamp,
    LocalZonedTimestampType: _timestamp,
    ZonedTimestampType:      _zoned,
    YearMonthIntervalType:   _arrow("int32"),
    DayTimeIntervalType:     _arrow("duration", "us"),
    ArrayType:               _list,
    MultisetType:            _multiset,
    MapType:                 _map,
    RowType:                 _struct,
    StructuredType:          _struct,
    DistinctType:            lambda type_: to_arrow(type_.source_type),
    RawType:                 _arrow("binary"),
    VariantType:             _variant,
    BitmapType:              _arrow("binary"),
}  # fmt: skip


# --- from Arrow --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Reading:
    """A kind of Arrow type, by the names of pyarrow's tests for it, and the type it is read as."""

    tests: str
    gives: Callable[[Any], DataType]

    def fits(self, arrow: Any) -> bool:
        """Whether the Arrow type is of this kind."""
        import pyarrow as pa

        return any(
            test(arrow) for name in self.tests.split() if (test := getattr(pa.types, name, None))
        )


def _same(type_: DataType) -> Callable[[Any], DataType]:
    return lambda _: type_


#: Unit of a time or timestamp -> digits of a second.
DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}


def _read_decimal(arrow: Any) -> DataType:
    if arrow.precision > DecimalType.limits["precision"][-1] or arrow.scale < 0:
        raise UnsupportedError(
            f"DECIMAL holds 38 digits and no negative scale, not Arrow's {arrow}",
            code="no-flink-type",
        )
    return DecimalType(arrow.precision, arrow.scale)


def _read_timestamp(arrow: Any) -> DataType:
    kind = TimestampType if arrow.tz is None else LocalZonedTimestampType
    return kind(DIGITS[arrow.unit])


def _read_list(arrow: Any) -> DataType:
    return ArrayType(from_field(arrow.value_field))


def _read_map(arrow: Any) -> DataType:
    return MapType(from_field(arrow.key_field), from_field(arrow.item_field))


def _read_struct(arrow: Any) -> DataType:
    fields = [arrow.field(index) for index in range(arrow.num_fields)]
    return RowType([RowField(one.name, from_field(one), _comment(one)) for one in fields])


def _comment(field: Any) -> str | None:
    comment = (field.metadata or {}).get(COMMENT)
    return None if comment is None else comment.decode()


#: Names of pyarrow's tests -> the type; the first row that fits decides.
FROM_ARROW: tuple[Reading, ...] = (
    Reading("is_null",                                  _same(NullType())),
    Reading("is_boolean",                               _same(BooleanType())),
    Reading("is_int8",                                  _same(TinyIntType())),
    Reading("is_int16 is_uint8",                        _same(SmallIntType())),
    Reading("is_int32 is_uint16",                       _same(IntType())),
    Reading("is_int64 is_uint32",                       _same(BigIntType())),
    Reading("is_uint64",                                _same(DecimalType(20, 0))),
    Reading("is_float16 is_float32",                    _same(FloatType())),
    Reading("is_float64",                               _same(DoubleType())),
    Reading("is_decimal",                               _read_decimal),
    Reading("is_string is_large_string is_string_view", _same(STRING)),
    Reading("is_fixed_size_binary",                     lambda one: BinaryType(one.byte_width)),
    Reading("is_binary is_large_binary is_binary_view", _same(BYTES)),
    Reading("is_date",                                  _same(DateType())),
    Reading("is_time",                                  lambda one: TimeType(DIGITS[one.unit])),
    Reading("is_timestamp",                             _read_timestamp),
    Reading("is_duration",                              _same(DayTimeIntervalType())),
    Reading("is_map",                                   _read_map),
    Reading("is_list is_large_list is_fixed_size_list", _read_list),
    Reading("is_list_view is_large_list_view",          _read_list),
    Reading("is_struct",                                _read_struct),
    Reading("is_dictionary is_run_end_encoded",         lambda one: from_arrow(one.value_type)),
)  # fmt: skip
