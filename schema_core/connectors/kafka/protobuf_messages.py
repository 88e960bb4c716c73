"""The format `protobuf` of messages: Protocol Buffers, by the descriptors of their messages.

Types, defaults and NULL follow Flink's format. A file of descriptors, as ``protoc
--include_imports --descriptor_set_out`` writes it, replaces the class on Flink's class path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from schema_core.base.lazy import dataclass
from schema_core.base.plugins import require_modules
from schema_core.connectors.kafka.binary_formats import (
    Decoder,
    Encoder,
    UnreadableMessageError,
)
from schema_core.environment.options import ConfigOption, boolean
from schema_core.errors import SchemaError, UnsupportedError, at, similar
from schema_core.spark.compiler import tree as nodes
from schema_core.types import (
    ArrayType,
    BigIntType,
    BinaryType,
    BooleanType,
    CharType,
    DataType,
    DoubleType,
    FloatType,
    IntType,
    MapType,
    RowType,
    SmallIntType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
)

#: Bytes of a file of descriptors.
MAX_DESCRIPTORS: Final = 16 << 20

MESSAGE: Final = ConfigOption(
    "protobuf.message-class-name",
    str,
    None,
    "required: the message, by the name of its Java class, such as `com.shop.Outer$Order`, or by "
    "its name in the descriptors",
)
DESCRIPTORS: Final = ConfigOption(
    "protobuf.descriptor-file",
    str,
    None,
    "required: the file of descriptors, on the driver (an option of this library, not of Flink)",
)
IGNORE_ERRORS: Final = ConfigOption(
    "protobuf.ignore-parse-errors", boolean, False, "whether unreadable messages are skipped"
)
READ_DEFAULTS: Final = ConfigOption(
    "protobuf.read-default-values",
    boolean,
    False,
    "whether absent fields have their defaults instead of NULL; scalars of proto3 always have",
)
NULL_LITERAL: Final = ConfigOption(
    "protobuf.write-null-string-literal",
    str,
    "",
    "the string that is written for NULL in arrays and maps",
)

_INTEGERS: Final = (TinyIntType, SmallIntType, IntType, BigIntType)
_STRINGS: Final = (CharType, VarCharType)

#: Kind of a field (`CPPTYPE_*` of descriptors) -> the types of its columns, and its default.
_INT, _LONG, _UINT, _ULONG, _DOUBLE, _FLOAT, _BOOL, _ENUM, _STRING, _MESSAGE = (
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
)  # fmt: skip
_TYPES: Mapping[int, tuple[type[DataType], ...]] = {
    _INT: (IntType,),
    _UINT: (IntType,),
    _LONG: (BigIntType,),
    _ULONG: (BigIntType,),
    _DOUBLE: (DoubleType,),
    _FLOAT: (FloatType,),
    _BOOL: (BooleanType,),
    _ENUM: (*_STRINGS, *_INTEGERS),
    _STRING: _STRINGS,
}
_BYTES: Final = (BinaryType, VarBinaryType)
#: `TYPE_BYTES` of descriptors; strings have the same kind.
_TYPE_BYTES: Final = 12
#: Unsigned kind -> the bits of its integers, which columns hold as signed ones, as Java.
_BITS: Mapping[int, int] = {_UINT: 32, _ULONG: 64}


@dataclass(frozen=True, slots=True)
class ProtobufMessages:
    """The format."""

    identifier: str = "protobuf"

    @property
    def options(self) -> tuple[ConfigOption[Any], ...]:
        """The options of a table; their prefix is the name of the format."""
        return (MESSAGE, DESCRIPTORS, IGNORE_ERRORS, READ_DEFAULTS, NULL_LITERAL)

    def require(self, columns: Mapping[str, DataType], options: Mapping[str, str]) -> None:
        """Refuse columns that do not match the fields of the message.

        Raises:
            SchemaError: with code `conflicting-options` for the options.
            UnsupportedError: with code `type-not-supported`.
        """
        require_modules("google.protobuf")
        name, descriptors = _message_of(options)
        _check_row(_descriptor(descriptors, name), columns.items())

    def skips_errors(self, options: Mapping[str, str]) -> bool:
        """Return the option `ignore-parse-errors`."""
        return bool(IGNORE_ERRORS.of(options))

    def wire_type(self, type_: DataType) -> DataType:
        return type_

    def to_wire(self, node: nodes.Node, type_: DataType) -> nodes.Node:
        return node

    def from_wire(self, node: nodes.Node, name: str, type_: DataType) -> nodes.Node:
        return node

    def decoder(self, columns: Mapping[str, DataType], options: Mapping[str, str]) -> Decoder:
        """Return what reads a message."""
        name, descriptors = _message_of(options)
        return ProtobufDecoder(
            descriptors,
            name,
            dict(columns),
            reads_defaults=bool(READ_DEFAULTS.of(options)),
            skips_errors=self.skips_errors(options),
        )

    def encoder(self, columns: Mapping[str, DataType], options: Mapping[str, str]) -> Encoder:
        """Return what writes a message."""
        name, descriptors = _message_of(options)
        return ProtobufEncoder(descriptors, name, dict(columns), NULL_LITERAL.of(options) or "")


PROTOBUF_MESSAGES: Final = ProtobufMessages()


# --- descriptors ----------------------------------------------------------------------------------


def _message_of(options: Mapping[str, str]) -> tuple[str, bytes]:
    """Return the name of a table's message, and the content of the file of descriptors."""
    from google.protobuf.descriptor_pb2 import FileDescriptorSet
    from google.protobuf.message import DecodeError

    values = {}
    for option in (MESSAGE, DESCRIPTORS):
        if not (value := option.of(options)):
            raise _invalid(f"the option {option.key!r} must be set")
        values[option] = value
    path = Path(values[DESCRIPTORS])
    try:
        with path.open("rb") as file:
            content = file.read(MAX_DESCRIPTORS + 1)
    except OSError as error:
        problem = f"cannot read the file of descriptors {str(path)!r}: {error.strerror}"
        raise _invalid(problem) from None
    if len(content) > MAX_DESCRIPTORS:
        raise _invalid(f"the file of descriptors has more than {MAX_DESCRIPTORS >> 20} MiB")
    try:
        files = FileDescriptorSet.FromString(content)
        names = dict(_java_names(files))
        wanted = values[MESSAGE]
        name = names.get(wanted, wanted if wanted in names.values() else None)
        if name is not None:
            _descriptor(content, name)
    except (DecodeError, TypeError, KeyError) as error:
        raise SchemaError(
            f"{str(path)!r} is not a complete file of descriptors: {' '.join(str(error).split())}",
            code="conflicting-options",
            hint="write it by protoc --include_imports --descriptor_set_out=FILE",
        ) from None
    if name is None:
        raise SchemaError(
            f"the file of descriptors has no message {wanted!r}",
            code="conflicting-options",
            hint=similar(wanted, [*names, *names.values()]),
        )
    return name, content


def _java_names(files: Any) -> Iterator[tuple[str, str]]:
    """Yield the name of each message's Java class, and its full name."""
    for file in files.file:
        options = file.options
        package = options.java_package if options.HasField("java_package") else file.package
        prefix = f"{package}." if package else ""
        outer = options.java_outer_classname or _outer_class(file)
        own = f"{file.package}." if file.package else ""
        for message in file.message_type:
            top = message.name if options.java_multiple_files else f"{outer}${message.name}"
            yield from _nested_names(message, f"{prefix}{top}", f"{own}{message.name}")


def _nested_names(message: Any, java: str, full: str) -> Iterator[tuple[str, str]]:
    yield java, full
    for nested in message.nested_type:
        yield from _nested_names(nested, f"{java}${nested.name}", f"{full}.{nested.name}")


def _outer_class(file: Any) -> str:
    """Return the name of the class that protoc generates for a file."""
    stem = Path(file.name).name.removesuffix(".proto")
    name, upper = "", True
    for character in stem:
        if character.isascii() and character.isalnum():
            name += character.upper() if upper else character
            upper = character.isdigit()
        else:
            upper = True
    taken = {item.name for item in (*file.message_type, *file.enum_type, *file.service)}
    return f"{name}OuterClass" if name in taken else name


def _descriptor(descriptors: bytes, name: str) -> Any:
    """Return the descriptor of a message in a pool of its own."""
    from google.protobuf.descriptor_pb2 import FileDescriptorSet
    from google.protobuf.descriptor_pool import DescriptorPool

    pool = DescriptorPool()
    for file in FileDescriptorSet.FromString(descriptors).file:
        pool.AddSerializedFile(file.SerializeToString())
    return pool.FindMessageTypeByName(name)


def _invalid(problem: str) -> SchemaError:
    return SchemaError(problem, code="conflicting-options")


def _is_map(field: Any) -> bool:
    kind = field.message_type
    return kind is not None and bool(kind.GetOptions().map_entry)


def _is_repeated(field: Any) -> bool:
    repeated = getattr(field, "is_repeated", None)
    return bool(field.label == field.LABEL_REPEATED if repeated is None else repeated)


def _check_row(descriptor: Any, fields: Iterable[tuple[str, DataType]]) -> None:
    """Require that columns have fields of their types."""
    for name, type_ in fields:
        with at(f"column {name!r}"):
            field = descriptor.fields_by_name.get(name)
            if field is None:
                raise _type_error(
                    f"the message {descriptor.full_name!r} has no field {name!r}",
                    similar(name, descriptor.fields_by_name) or "remove the column",
                )
            _check_field(field, type_)


def _check_field(field: Any, type_: DataType) -> None:
    if _is_map(field):
        if not isinstance(type_, MapType):
            raise _mismatch(field, type_, "a MAP")
        _check_value(field.message_type.fields_by_name["key"], type_.key_type)
        _check_value(field.message_type.fields_by_name["value"], type_.value_type)
    elif _is_repeated(field):
        if not isinstance(type_, ArrayType):
            raise _mismatch(field, type_, "an ARRAY")
        _check_value(field, type_.element_type)
    else:
        _check_value(field, type_)


def _check_value(field: Any, type_: DataType) -> None:
    if field.cpp_type == _MESSAGE:
        if not isinstance(type_, RowType):
            raise _mismatch(field, type_, "a ROW")
        _check_row(field.message_type, ((part.name, part.data_type) for part in type_.fields))
        return
    expected = _BYTES if field.type == _TYPE_BYTES else _TYPES[field.cpp_type]
    if not isinstance(type_, expected):
        names = dict.fromkeys(kind.__name__.removesuffix("Type").upper() for kind in expected)
        raise _mismatch(field, type_, " or ".join(names))


def _mismatch(field: Any, type_: DataType, expected: str) -> UnsupportedError:
    return _type_error(
        f"the field {field.full_name!r} cannot be of the type {type_.as_summary_string()}",
        f"declare {expected}",
    )


def _type_error(problem: str, hint: str) -> UnsupportedError:
    return UnsupportedError(problem, code="type-not-supported", hint=hint)


# --- reading --------------------------------------------------------------------------------------


class ProtobufDecoder:
    """Reads messages as rows.

    Args:
        descriptors: A set of files of descriptors.
        name: The full name of the message.
        columns: The columns of a row.
        reads_defaults: Whether absent fields have their defaults.
        skips_errors: Whether a message that cannot be read is skipped.
    """

    def __init__(
        self,
        descriptors: bytes,
        name: str,
        columns: Mapping[str, DataType],
        *,
        reads_defaults: bool = False,
        skips_errors: bool = False,
    ) -> None:
        self._descriptors, self._name, self._columns = descriptors, name, columns
        self._reads_defaults, self._skips_errors = reads_defaults, skips_errors
        self._class: Any = None
        self._read: Callable[[Any], Any] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_class": None, "_read": None}

    def __call__(self, message: bytes) -> tuple[Any, ...] | None:
        if self._read is None:
            from google.protobuf.message_factory import GetMessageClass

            descriptor = _descriptor(self._descriptors, self._name)
            self._class = GetMessageClass(descriptor)
            self._read = self._row_reader(descriptor, self._columns.items())
        try:
            row: tuple[Any, ...] = self._read(self._parse(message))
        except Exception:
            if self._skips_errors:
                return None
            raise
        return row

    def _parse(self, message: bytes) -> Any:
        """Return a message with all its required fields, which Python's parser does not require."""
        content = self._class.FromString(message)
        if not content.IsInitialized():
            missing = ", ".join(content.FindInitializationErrors())
            raise UnreadableMessageError(f"required fields are missing: {missing}")
        return content

    def _row_reader(
        self, descriptor: Any, fields: Iterable[tuple[str, DataType]]
    ) -> Callable[[Any], Any]:
        parts = [
            self._field_reader(descriptor.fields_by_name[name], type_) for name, type_ in fields
        ]
        return lambda message: tuple(read(message) for read in parts)

    def _field_reader(self, field: Any, type_: DataType) -> Callable[[Any], Any]:
        """Return what reads a field: NULL if it is absent and its default is not read.

        A scalar of proto3 always has its default.
        """
        name, reads_defaults = field.name, self._reads_defaults
        if _is_map(field):
            entry = field.message_type.fields_by_name
            pair = type_.children()
            key, value = (
                self._value_reader(entry[part], kind)
                for part, kind in zip(("key", "value"), pair, strict=True)
            )

            def read_map(message: Any) -> Any:
                items = getattr(message, name)
                if not items and not reads_defaults:
                    return None
                return {key(map_key): value(items[map_key]) for map_key in items}

            return read_map
        if _is_repeated(field):
            element = self._value_reader(field, type_.children()[0])

            def read_list(message: Any) -> Any:
                items = getattr(message, name)
                return [*map(element, items)] if items or reads_defaults else None

            return read_list
        read = self._value_reader(field, type_)
        if field.cpp_type != _MESSAGE and _is_proto3(field):
            return lambda message: read(getattr(message, name))
        if reads_defaults:
            return lambda message: read(getattr(message, name))
        return lambda message: read(getattr(message, name)) if message.HasField(name) else None

    def _value_reader(self, field: Any, type_: DataType) -> Callable[[Any], Any]:
        if field.cpp_type == _MESSAGE:
            parts = ((part.name, part.data_type) for part in _row(type_).fields)
            return self._row_reader(field.message_type, parts)
        if field.cpp_type == _ENUM:
            values = field.enum_type.values_by_number
            if isinstance(type_, _STRINGS):
                return lambda number: values[number].name if number in values else "UNRECOGNIZED"
            return lambda number: _known_number(number, values)
        if (bits := _BITS.get(field.cpp_type)) is not None:
            return lambda number: number - (1 << bits) if number >> (bits - 1) else number
        return lambda value: value


def _known_number(number: int, values: Mapping[int, Any]) -> int:
    if number not in values:
        raise UnreadableMessageError(f"an enumeration has no value with the number {number}")
    return number


def _is_proto3(field: Any) -> bool:
    from google.protobuf.descriptor_pb2 import FileDescriptorProto

    file = FileDescriptorProto()
    field.containing_type.file.CopyToProto(file)
    return bool(file.syntax == "proto3")


def _row(type_: DataType) -> RowType:
    if not isinstance(type_, RowType):
        raise TypeError(type_)
    return type_


# --- writing --------------------------------------------------------------------------------------


class ProtobufEncoder:
    """Writes rows as messages.

    Args:
        descriptors: A set of files of descriptors.
        name: The full name of the message.
        columns: The columns of a row.
        null_string: What is written for a NULL string in an array or a map.
    """

    def __init__(
        self, descriptors: bytes, name: str, columns: Mapping[str, DataType], null_string: str
    ) -> None:
        self._descriptors, self._name, self._columns = descriptors, name, columns
        self._null_string = null_string
        self._class: Any = None
        self._write: Callable[[Any, Any], None] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_class": None, "_write": None}

    def __call__(self, row: Sequence[Any]) -> bytes:
        if self._write is None:
            from google.protobuf.message_factory import GetMessageClass

            descriptor = _descriptor(self._descriptors, self._name)
            self._class = GetMessageClass(descriptor)
            self._write = self._row_writer(descriptor, self._columns.items())
        message = self._class()
        self._write(message, row)
        return bytes(message.SerializeToString(deterministic=True))

    def _row_writer(
        self, descriptor: Any, fields: Iterable[tuple[str, DataType]]
    ) -> Callable[[Any, Any], None]:
        """Return what sets the fields of a message, in the order of the columns."""
        parts = [
            self._field_writer(descriptor.fields_by_name[name], type_) for name, type_ in fields
        ]

        def write(message: Any, row: Sequence[Any]) -> None:
            for part, value in zip(parts, row, strict=True):
                if value is not None:
                    part(message, value)

        return write

    def _field_writer(self, field: Any, type_: DataType) -> Callable[[Any, Any], None]:
        name = field.name
        if _is_map(field):
            return self._map_writer(field, type_)
        if field.cpp_type == _MESSAGE:
            parts = type_.children()[0] if _is_repeated(field) else type_
            fields = ((part.name, part.data_type) for part in _row(parts).fields)
            write = self._row_writer(field.message_type, fields)
            if not _is_repeated(field):

                def write_message(message: Any, row: Any) -> None:
                    target = getattr(message, name)
                    target.SetInParent()
                    write(target, row)

                return write_message

            def write_messages(message: Any, rows: Any) -> None:
                for row in rows:
                    target = getattr(message, name).add()
                    if row is not None:
                        write(target, row)

            return write_messages
        if not _is_repeated(field):
            convert = self._value_writer(field)
            return lambda message, value: setattr(message, name, convert(value))
        element, default = self._value_writer(field), self._default(field)
        return lambda message, items: getattr(message, name).extend(
            default if item is None else element(item) for item in items
        )

    def _map_writer(self, field: Any, type_: DataType) -> Callable[[Any, Any], None]:
        name, entry = field.name, field.message_type.fields_by_name
        key, value = entry["key"], entry["value"]
        write_key = self._value_writer(key)
        if value.cpp_type == _MESSAGE:
            parts = ((part.name, part.data_type) for part in _row(type_.children()[1]).fields)
            write = self._row_writer(value.message_type, parts)

            def write_rows(message: Any, pairs: Any) -> None:
                target = getattr(message, name)
                for map_key, row in pairs.items():
                    item = target[write_key(map_key)]
                    if row is not None:
                        write(item, row)

            return write_rows
        write_value, default = self._value_writer(value), self._default(value)

        def write_values(message: Any, pairs: Any) -> None:
            target = getattr(message, name)
            for map_key, item in pairs.items():
                target[write_key(map_key)] = default if item is None else write_value(item)

        return write_values

    def _default(self, field: Any) -> Any:
        """Return what is written for NULL in an array or a map."""
        if field.cpp_type == _ENUM:
            return field.enum_type.values[0].number
        if field.cpp_type == _STRING and field.type != _TYPE_BYTES:
            return self._null_string
        return b"" if field.type == _TYPE_BYTES else 0

    def _value_writer(self, field: Any) -> Callable[[Any], Any]:
        if field.cpp_type == _ENUM:
            enum = field.enum_type
            first = enum.values[0].number

            def number(value: Any) -> int:
                if isinstance(value, str):
                    item = enum.values_by_name.get(value)
                    return int(first) if item is None else int(item.number)
                return int(value) if value in enum.values_by_number else int(first)

            return number
        if (bits := _BITS.get(field.cpp_type)) is not None:
            return lambda value: value % (1 << bits)
        if field.type == _TYPE_BYTES:
            return bytes
        return lambda value: value
