"""Every kind of Arrow type as a row: its factory, its parameters, the type it is read as.

The layouts of `arrow_layout` read the same rows. Kinds without a row (unions, intervals of months,
days and nanoseconds) have no counterpart in Flink. The kinds are those of Arrow's columnar format,
"Data Types", and of its list of canonical extension types.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from schema_core.errors import UnsupportedError
from schema_core.extras import needs
from schema_core.formats.loss import too_deep
from schema_core.formats.loss_targets import (
    BYTES,
    STRING,
    has_fixed_size,
    widest_days,
    without_null,
)
from schema_core.text import MAX_DEPTH
from schema_core.types import (
    ArrayType,
    BigIntType,
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntType,
    LocalZonedTimestampType,
    MapType,
    NullType,
    RowField,
    RowType,
    SmallIntType,
    TimestampType,
    TimeType,
    TinyIntType,
    VariantType,
    ZonedTimestampType,
)
from schema_core.types.nested import MAX_PARTS

if TYPE_CHECKING:
    import pyarrow as pa

#: How a field of a nested type is read, and how its comment is: by the caller, who knows notes.
ReadField: TypeAlias = "Callable[[pa.Field], RowField]"

#: Unit of a time -> digits of a second.
DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}

#: Metadata of a field whose extension type this process does not know.
EXTENSION_NAME = b"ARROW:extension:name"
EXTENSION_METADATA = b"ARROW:extension:metadata"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of Arrow type.

    `word` names it in a layout, `attributes` are the parameters in the order of the `factory`:
    those that end in `_type` are types, in `_field` fields, `fields` many of them. `sample` is what
    follows the word in the layout of some type of the kind.
    """

    word: str
    gives: Callable[[Any, ReadField], DataType]
    attributes: str = ""
    sample: Sequence[Any] = ()
    factory: str = ""


# --- what a kind is read as ----------------------------------------------------------------------


def _is(type_: DataType) -> Callable[[Any, ReadField], DataType]:
    return lambda arrow, read: type_


def _decimal(arrow: Any, read: ReadField) -> DataType:
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


def _fixed_bytes(arrow: Any, read: ReadField) -> DataType:
    return BinaryType(arrow.byte_width) if has_fixed_size(arrow.byte_width) else BYTES


def _time(arrow: Any, read: ReadField) -> DataType:
    return TimeType(DIGITS[arrow.unit])


def _timestamp(arrow: Any, read: ReadField) -> DataType:
    kind = TimestampType if arrow.tz is None else LocalZonedTimestampType
    return kind(DIGITS[arrow.unit])


def _duration(arrow: Any, read: ReadField) -> DataType:
    return widest_days(DIGITS[arrow.unit])


def _list(arrow: Any, read: ReadField) -> DataType:
    return ArrayType(read(arrow.value_field).data_type)


def _map(arrow: Any, read: ReadField) -> DataType:
    key, value = read(arrow.key_field).data_type, read(arrow.item_field).data_type
    if isinstance(key, NullType):
        raise UnsupportedError("a map whose keys are all NULL", code="type-not-in-flink")
    return MapType(without_null(key), value)


def _struct(arrow: Any, read: ReadField) -> DataType:
    return RowType([read(field) for field in arrow.fields])


def _values(arrow: Any, read: ReadField) -> DataType:
    """What an encoding, such as a dictionary, encodes."""
    return read_type(arrow.value_type, read)


def _storage(arrow: Any, read: ReadField) -> DataType:
    return read_type(arrow.storage_type, read)


#: Word, what it is read as, parameters in the order of pyarrow's factory, a sample, its factory.
KINDS: tuple[Kind, ...] = (
    Kind("null",              _is(NullType())),
    Kind("bool",              _is(BooleanType()),      factory="bool_"),
    Kind("int8",              _is(TinyIntType())),
    Kind("int16",             _is(SmallIntType())),
    Kind("int32",             _is(IntType())),
    Kind("int64",             _is(BigIntType())),
    Kind("uint8",             _is(SmallIntType())),
    Kind("uint16",            _is(IntType())),
    Kind("uint32",            _is(BigIntType())),
    Kind("uint64",            _is(DecimalType(20, 0))),
    Kind("float16",           _is(FloatType())),
    Kind("float32",           _is(FloatType())),
    Kind("float64",           _is(DoubleType())),
    Kind("decimal32",         _decimal,                "precision scale", (5, 2)),
    Kind("decimal64",         _decimal,                "precision scale", (5, 2)),
    Kind("decimal128",        _decimal,                "precision scale", (5, 2)),
    Kind("decimal256",        _decimal,                "precision scale", (5, 2)),
    Kind("string",            _is(STRING)),
    Kind("large_string",      _is(STRING)),
    Kind("string_view",       _is(STRING)),
    Kind("binary",            _is(BYTES)),
    Kind("large_binary",      _is(BYTES)),
    Kind("binary_view",       _is(BYTES)),
    Kind("fixed_size_binary", _fixed_bytes,            "byte_width", (1,), "binary"),
    Kind("date32",            _is(DateType())),
    Kind("date64",            _is(DateType())),
    Kind("time32",            _time,                   "unit", ("s",)),
    Kind("time64",            _time,                   "unit", ("us",)),
    Kind("timestamp",         _timestamp,              "unit tz", ("s", None)),
    Kind("duration",          _duration,               "unit", ("s",)),
    Kind("list",              _list,                   "value_field", (["item", True, ["null"]],),
         "list_"),
    Kind("large_list",        _list,                   "value_field", (["item", True, ["null"]],)),
    Kind("list_view",         _list,                   "value_field", (["item", True, ["null"]],)),
    Kind("large_list_view",   _list,                   "value_field", (["item", True, ["null"]],)),
    Kind("fixed_size_list",   _list,                   "value_field list_size",
         (["item", True, ["null"]], 1), "list_"),
    Kind("map",               _map,                    "key_field item_field keys_sorted",
         (["key", False, ["int8"]], ["value", True, ["int8"]], False), "map_"),
    Kind("struct",            _struct,                 "fields", ([],)),
    Kind("dictionary",        _values,                 "index_type value_type ordered",
         (["int8"], ["int8"], False)),
    Kind("run_end_encoded",   _values,                 "run_end_type value_type",
         (["int16"], ["int8"])),
    Kind("arrow.uuid",        _is(BinaryType(16)),     factory="uuid"),
    Kind("arrow.bool8",       _is(BooleanType()),      factory="bool8"),
    Kind("arrow.json",        _is(STRING),             "storage_type", (["string"],), "json_"),
    Kind("arrow.opaque",      _storage,                "storage_type type_name vendor_name",
         (["null"], "", ""), "opaque"),
    Kind("arrow.fixed_shape_tensor", _storage,         "value_type shape dim_names permutation",
         (["int8"], [1], None, None), "fixed_shape_tensor"),
)  # fmt: skip


BY_WORD = {kind.word: kind for kind in KINDS}


@needs("pyarrow")
def read_type(arrow: pa.DataType, read: ReadField) -> DataType:
    """The nearest type to an Arrow type, nullable.

    Raises:
        UnsupportedError: with code `type-not-in-flink` for a kind without a row.
    """
    kind = kind_of(arrow)
    if kind is not None:
        return kind.gives(arrow, read)
    if hasattr(arrow, "storage_type"):
        return _storage(arrow, read)
    raise UnsupportedError(
        f"no Flink type stands for Arrow's {arrow}",
        code="type-not-in-flink",
        hint="cast the column to a plain type, or leave it out",
    )


@needs("pyarrow")
def kind_of(arrow: pa.DataType) -> Kind | None:
    """The row of an Arrow type, if its kind has one."""
    return _by_id().get(_id(arrow))


def _id(arrow: pa.DataType) -> object:
    """What tells the kinds apart: a number, or the name of an extension type."""
    return getattr(arrow, "extension_name", arrow.id)


@cache
def _by_id() -> dict[object, Kind]:
    """The rows by what `_id` gives; older versions of pyarrow do not have every kind."""
    import pyarrow as pa

    from schema_core.formats.arrow.layout import build

    known = [kind for kind in KINDS if hasattr(pa, kind.factory or kind.word)]
    return {_id(build([kind.word, *kind.sample])): kind for kind in known}


# --- extension types that pyarrow has no class for -----------------------------------------------

#: Name of an extension -> the fields of its storage, and the type its values are.
TAGGED: dict[bytes, tuple[frozenset[str], Callable[[Any], DataType]]] = {
    b"arrow.parquet.variant": (
        frozenset({"metadata", "value"}), lambda arrow: VariantType(),
    ),
    b"arrow.timestamp_with_offset": (
        frozenset({"timestamp", "offset_minutes"}),
        lambda arrow: ZonedTimestampType(DIGITS[arrow.field("timestamp").type.unit]),
    ),
}  # fmt: skip


@needs("pyarrow")
def read_tagged(name: bytes | None, arrow: pa.DataType) -> DataType | None:
    """The type of an extension that is known by name alone, if its storage is right."""
    import pyarrow as pa

    arrow = getattr(arrow, "storage_type", arrow)
    if name not in TAGGED or not pa.types.is_struct(arrow):
        return None
    names, gives = TAGGED[name]
    if not names <= {field.name for field in arrow.fields}:
        return None
    if "timestamp" in names and not pa.types.is_timestamp(arrow.field("timestamp").type):
        return None
    return gives(arrow)


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
