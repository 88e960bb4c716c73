"""The formats `avro` and `avro-confluent` of messages: an Avro datum in a binary value.

Schemas and types are those of the format of files; `fastavro` reads and writes the data, without
logical types, whose values Spark converts. As in Flink, the writer's schema is that of the table
(`avro`), or the one whose id precedes the datum (`avro-confluent`).
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO, StringIO
from typing import Any, Final

from schema_core.base.lazy import dataclass
from schema_core.base.plugins import require_modules
from schema_core.connectors.files.avro_files import (
    LEGACY,
    avro_schema,
    decode_value,
    encode_value,
)
from schema_core.connectors.kafka.binary_formats import (
    PLACE_OF_MESSAGE,
    Decoder,
    Encoder,
    UnreadableMessageError,
)
from schema_core.connectors.kafka.schema_registry import (
    RegisteredSchema,
    SchemaRegistry,
    registry_options,
)
from schema_core.environment.options import ConfigOption, choice
from schema_core.errors import SchemaError, UnsupportedError
from schema_core.spark.compiler import tree as nodes
from schema_core.types import (
    ArrayType,
    BigIntType,
    DataType,
    DateType,
    DecimalType,
    FloatType,
    IntType,
    LocalZonedTimestampType,
    MapType,
    RowField,
    RowType,
    SmallIntType,
    TimestampType,
    TimeType,
    TinyIntType,
)
from schema_core.types.values import shortest_float

Schema = Any

ENCODING: Final = ConfigOption(
    "avro.encoding",
    choice("binary", "json"),
    "binary",
    "how messages are encoded; files are always binary",
)

#: The first byte of a message with the id of a schema.
_MAGIC: Final = 0
_HEADER: Final = struct.Struct(">bi")

_TIMESTAMPS: Final = (TimestampType, LocalZonedTimestampType)


@dataclass(frozen=True, slots=True)
class AvroMessages:
    """A format of Avro data.

    Attributes:
        identifier: The name of the format.
        has_registry: Whether the ids of schemas precede the data.
        is_nullable: Whether the schema of a message is a union with `null`.
        as_written: Columns of maps whose fields are all those of a record that was written.
    """

    identifier: str
    has_registry: bool = False
    is_nullable: bool = False
    as_written: frozenset[str] = frozenset()

    @property
    def options(self) -> tuple[ConfigOption[Any], ...]:
        """The options of a table; their prefix is the name of the format."""
        return registry_options(self.identifier) if self.has_registry else (ENCODING, LEGACY)

    def require(self, columns: Mapping[str, DataType], options: Mapping[str, str]) -> None:
        """Refuse columns that a message cannot hold (`type-not-supported`)."""
        self.schema(columns, options)
        if self.has_registry:
            SchemaRegistry.of(self.identifier, options)

    def skips_errors(self, options: Mapping[str, str]) -> bool:
        """No message is skipped, as in Flink."""
        return False

    # --- values --------------------------------------------------------------------------------

    def wire_type(self, type_: DataType) -> DataType:
        """Return the type of Avro's data, with decimals as their own type."""
        match type_:
            case TinyIntType() | SmallIntType() | TimeType() | DateType():
                return IntType()
            case TimestampType() | LocalZonedTimestampType():
                return BigIntType()
            case _:
                return type_

    def to_wire(self, node: nodes.Node, type_: DataType) -> nodes.Node:
        match type_:
            case DateType():
                return nodes.call("unix_date", node)
            case TimestampType(precision=precision) | LocalZonedTimestampType(precision=precision):
                function = "unix_millis" if precision <= 3 else "unix_micros"
                return nodes.call(function, encode_value(node, type_, legacy=True))
            case _:
                return encode_value(node, type_, legacy=True)

    def from_wire(self, node: nodes.Node, name: str, type_: DataType) -> nodes.Node:
        match type_:
            case DateType():
                return nodes.call("date_from_unix_date", node)
            case TimestampType(precision=precision) | LocalZonedTimestampType(precision=precision):
                function = "timestamp_millis" if precision <= 3 else "timestamp_micros"
                return decode_value(nodes.call(function, node), name, type_, PLACE_OF_MESSAGE)
            case _:
                return decode_value(node, name, type_, PLACE_OF_MESSAGE)

    # --- schemas -------------------------------------------------------------------------------

    def schema(self, columns: Mapping[str, DataType], options: Mapping[str, str]) -> Schema:
        """Return the Avro schema of a message: that of the table, or the option `schema`.

        Raises:
            SchemaError: with code `type-not-supported` or `conflicting-options`.
        """
        fields = [RowField(name, type_) for name, type_ in columns.items()]
        try:
            schema: Schema = avro_schema(fields, options)
        except SchemaError as error:
            raise UnsupportedError(
                error.problem, code="type-not-supported", hint=error.hint, path=error.path
            ) from None
        if self.is_nullable:
            schema = ["null", schema]
        if not self.has_registry or (text := self._option(options, "schema")) is None:
            return schema
        key = f"{self.identifier}.schema"
        try:
            declared = json.loads(text)
            _parse(declared)
        except Exception:  # noqa: BLE001 - fastavro's errors have no common class
            raise SchemaError(
                f"the option {key!r} is not an Avro schema", code="conflicting-options"
            ) from None
        # as in Flink, a union of the record with `null` is written as the record
        shapes = [_shape(_without_null(item), {}) for item in (declared, schema)]
        if shapes[0] != shapes[1]:
            raise SchemaError(
                f"the schema of the option {key!r} does not match the columns of the table",
                code="conflicting-options",
                hint=f"the columns have the schema {json.dumps(schema)}",
            )
        return declared

    def _option(self, options: Mapping[str, str], suffix: str) -> Any:
        key = f"{self.identifier}.{suffix}"
        return next(option for option in self.options if option.key == key).of(options)

    # --- functions of executors ----------------------------------------------------------------

    def decoder(self, columns: Mapping[str, DataType], options: Mapping[str, str]) -> Decoder:
        """Return what reads a message."""
        require_modules("fastavro")
        schema = json.dumps(self.schema(columns, options))
        if not self.has_registry:
            is_json = ENCODING.of(options) == "json"
            return AvroDecoder(schema, dict(columns), is_json=is_json)
        registry = SchemaRegistry.of(self.identifier, options)
        return AvroDecoder(schema, dict(columns), registry=registry, as_written=self.as_written)

    def encoder(self, columns: Mapping[str, DataType], options: Mapping[str, str]) -> Encoder:
        """Return what writes a message; its schema is registered before."""
        require_modules("fastavro")
        schema = json.dumps(self.schema(columns, options))
        if not self.has_registry:
            is_json = ENCODING.of(options) == "json"
            return AvroEncoder(schema, dict(columns), is_json=is_json)
        subject = self._option(options, "subject")
        if not subject:
            raise SchemaError(
                f"the option '{self.identifier}.subject' must be set",
                code="conflicting-options",
            )
        registry = SchemaRegistry.of(self.identifier, options)
        return AvroEncoder(schema, dict(columns), schema_id=registry.register(subject, schema))


AVRO_MESSAGES: Final = AvroMessages("avro")
AVRO_CONFLUENT: Final = AvroMessages("avro-confluent", has_registry=True)


# --- reading --------------------------------------------------------------------------------------


class AvroDecoder:
    """Reads messages as rows of a schema, resolved with the schema that wrote them.

    Args:
        schema: The reader's schema as JSON.
        columns: The columns of a row.
        registry: Where the writers' schemas are; None if messages have the reader's schema.
        is_json: Whether messages are in Avro's JSON encoding.
        as_written: Columns of maps that are read from records, with the writer's fields.
    """

    def __init__(
        self,
        schema: str,
        columns: Mapping[str, DataType],
        *,
        registry: SchemaRegistry | None = None,
        is_json: bool = False,
        as_written: frozenset[str] = frozenset(),
    ) -> None:
        self._schema, self._registry, self._is_json = schema, registry, is_json
        self._columns, self._as_written = columns, as_written
        self._readers: dict[int, Callable[[BytesIO], Any]] = {}
        self._convert: Callable[[Any], Any] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_readers": {}, "_convert": None}

    def __call__(self, message: bytes) -> tuple[Any, ...]:
        if self._convert is None:
            self._convert = _row_reader(self._columns, self._as_written)
        row: tuple[Any, ...] = self._convert(self._read(message))
        return row

    def _read(self, message: bytes) -> Any:
        if self._is_json:
            return self._read_json(message)
        datum, schema_id = BytesIO(message), 0
        if self._registry is not None:
            if len(message) < _HEADER.size:
                raise UnreadableMessageError(
                    f"it has {len(message)} bytes, expected the id of a schema and a datum"
                )
            magic, schema_id = _HEADER.unpack(datum.read(_HEADER.size))
            if magic != _MAGIC:
                raise UnreadableMessageError(
                    f"its first byte is {magic & 0xFF}, expected {_MAGIC}: it does not have the id "
                    "of a schema"
                )
        reader = self._readers.get(schema_id)
        if reader is None:
            reader = self._readers[schema_id] = self._reader(schema_id)
        return reader(datum)

    def _reader(self, schema_id: int) -> Callable[[BytesIO], Any]:
        import fastavro

        own = _without_logical_types(json.loads(self._schema))
        if self._registry is None:
            parsed = _parse(own)
            return lambda datum: fastavro.schemaless_reader(datum, parsed, None)
        registered: RegisteredSchema = self._registry.schema(schema_id)
        references = [_without_logical_types(json.loads(text)) for text in registered.references]
        written = _without_logical_types(json.loads(registered.schema))
        names: dict[str, Schema] = {}
        for schema in (*references, written):
            _add_names(schema, "", names)
        alignment = Alignment(names, self._as_written)
        writer = _parse(alignment.inline(written, "", set()))
        reader = _parse(alignment.align(own, written, ""))

        def read(datum: BytesIO) -> Any:
            try:
                return fastavro.schemaless_reader(datum, writer, reader)
            except Exception as error:  # noqa: BLE001 - a damaged datum may cause any error
                raise UnreadableMessageError(
                    f"schema id {schema_id}: {type(error).__name__}: "
                    f"{' '.join(str(error).split())[:300]}"
                ) from None

        return read

    def _read_json(self, message: bytes) -> Any:
        import fastavro

        schema = _without_logical_types(json.loads(self._schema))
        _require_fields(json.loads(message), schema)
        return next(iter(fastavro.json_reader(StringIO(message.decode()), schema)))


def _without_null(schema: Schema) -> Schema:
    """Return the record of a schema that is a union of one with `null`."""
    if isinstance(schema, list) and len(schema) == 2 and "null" in schema:
        return next(branch for branch in schema if branch != "null")
    return schema


def _require_fields(value: Any, schema: Schema) -> None:
    """Require the fields of the records in Avro's JSON encoding; fastavro reads NULL instead."""
    match schema, value:
        case list(), dict() if len(value) == 1:
            (value,) = value.values()
            for branch in schema:
                if isinstance(branch, dict):
                    _require_fields(value, branch)
        case {"type": "record", "fields": fields}, dict():
            for field in fields:
                if field["name"] not in value:
                    raise UnreadableMessageError(f"the field {field['name']!r} is missing")
                _require_fields(value[field["name"]], field["type"])
        case {"type": "array", "items": items}, list():
            for item in value:
                _require_fields(item, items)
        case {"type": "map", "values": values}, dict():
            for item in value.values():
                _require_fields(item, values)


def _parse(schema: Schema) -> Any:
    import fastavro

    return fastavro.parse_schema(schema)


def _without_logical_types(schema: Schema) -> Schema:
    match schema:
        case list():
            return [_without_logical_types(branch) for branch in schema]
        case dict():
            kept = {key: value for key, value in schema.items() if key != "logicalType"}
            for key in ("type", "items", "values"):
                if key in kept:
                    kept[key] = _without_logical_types(kept[key])
            if isinstance(fields := kept.get("fields"), list):
                kept["fields"] = [_without_logical_types(field) for field in fields]
            return kept
        case _:
            return schema


def _full_name(schema: Mapping[str, Any], namespace: str) -> str:
    name = str(schema["name"])
    if "." in name:
        return name
    namespace = str(schema.get("namespace", namespace) or "")
    return f"{namespace}.{name}" if namespace else name


_NAMED: Final = ("record", "error", "enum", "fixed")


def _add_names(schema: Schema, namespace: str, names: dict[str, Schema]) -> None:
    """Add the named types of a schema by their full names."""
    match schema:
        case list():
            for branch in schema:
                _add_names(branch, namespace, names)
        case dict():
            if schema.get("type") in _NAMED:
                name = _full_name(schema, namespace)
                namespace = name.rpartition(".")[0]
                names[name] = {**schema, "namespace": namespace}
            for key in ("items", "values"):
                _add_names(schema.get(key), namespace, names)
            if isinstance(schema.get("type"), (dict, list)):
                _add_names(schema["type"], namespace, names)
            for field in schema.get("fields") or ():
                _add_names(field.get("type"), namespace, names)


class Alignment:
    """Gives the records of a reader's schema the names of the records that were written.

    Avro's Java library resolves records by their fields, fastavro by their names.
    """

    def __init__(self, names: Mapping[str, Schema], as_written: frozenset[str]) -> None:
        self._names, self._as_written, self._count = names, as_written, 0

    def align(self, reader: Schema, writer: Schema, namespace: str) -> Schema:
        """Return the reader's schema; `namespace` is that of the writer's names."""
        writer, namespace = self._resolve(writer, namespace)
        if isinstance(reader, list):
            return [self.align(branch, writer, namespace) for branch in reader]
        if not isinstance(reader, dict):
            return reader
        branches = writer if isinstance(writer, list) else [writer]
        for branch in branches:
            target, inner = self._resolve(branch, namespace)
            if not isinstance(target, dict) or target.get("type") != reader["type"]:
                continue
            match reader["type"]:
                case "record":
                    return self._record(reader, target, inner)
                case "array":
                    return {**reader, "items": self.align(reader["items"], target["items"], inner)}
                case "map":
                    values = self.align(reader["values"], target["values"], inner)
                    return {**reader, "values": values}
        return reader

    def _record(
        self, reader: Mapping[str, Any], writer: Mapping[str, Any], namespace: str
    ) -> Schema:
        self._count += 1
        space = f"reader{self._count}"
        written = {field["name"]: field["type"] for field in writer["fields"]}
        fields = []
        for field in reader["fields"]:
            if (type_ := written.get(field["name"])) is not None:
                if field["name"] in self._as_written:
                    own = self.inline(type_, namespace, set())
                else:
                    own = self.align(field["type"], type_, namespace)
                fields.append({"name": field["name"], "type": own})
            else:
                fields.append(field)
        name = str(writer["name"]).rpartition(".")[2]
        return {"type": "record", "name": name, "namespace": space, "fields": fields}

    def _resolve(self, schema: Schema, namespace: str) -> tuple[Schema, str]:
        """Return a schema instead of its name, and the namespace of names in it."""
        while isinstance(schema, dict) and isinstance(schema.get("type"), (dict, list)):
            schema = schema["type"]
        if isinstance(schema, str):
            full = schema if "." in schema or not namespace else f"{namespace}.{schema}"
            schema = self._names.get(full, self._names.get(schema, schema))
        if isinstance(schema, dict) and schema.get("type") in _NAMED:
            namespace = _full_name(schema, namespace).rpartition(".")[0]
        return schema, namespace

    def inline(self, schema: Schema, namespace: str, seen: set[str]) -> Schema:
        """Return a writer's schema with a definition at the first use of each name."""
        schema, namespace = self._resolve(schema, namespace)
        match schema:
            case list():
                return [self.inline(branch, namespace, seen) for branch in schema]
            case dict():
                result = dict(schema)
                if schema["type"] in _NAMED:
                    name = _full_name(schema, namespace)
                    if name in seen:
                        return name
                    seen.add(name)
                    result |= {"name": name, "namespace": namespace}
                for key in ("items", "values"):
                    if key in schema:
                        result[key] = self.inline(schema[key], namespace, seen)
                if "fields" in schema:
                    result["fields"] = [
                        {**field, "type": self.inline(field["type"], namespace, seen)}
                        for field in schema["fields"]
                    ]
                return result
            case _:
                return schema


def _each(convert: Callable[[Any], Any] | None) -> Callable[[Any], Any] | None:
    """Return what converts the elements of an array."""
    if convert is None:
        return None
    return lambda items: [None if item is None else convert(item) for item in items]


def _each_value(convert: Callable[[Any], Any] | None) -> Callable[[Any], Any] | None:
    """Return what converts the values of a map."""
    if convert is None:
        return None
    return lambda pairs: {
        key: None if item is None else convert(item) for key, item in pairs.items()
    }


def _row_reader(
    columns: Mapping[str, DataType], as_written: frozenset[str] = frozenset()
) -> Callable[[Any], Any]:
    readers = [
        (name, _texts if name in as_written else _reader_of(type_))
        for name, type_ in columns.items()
    ]

    def read(record: Any) -> Any:
        if record is None:
            return None
        return tuple(
            value if (value := record.get(name)) is None or convert is None else convert(value)
            for name, convert in readers
        )

    return read


def _texts(record: Mapping[str, Any]) -> dict[str, str | None]:
    """Return the fields of a record as strings."""
    return {
        name: value if value is None or isinstance(value, str) else json.dumps(value, default=str)
        for name, value in record.items()
    }


def _reader_of(type_: DataType) -> Callable[[Any], Any] | None:
    """Return what converts the data of a type that are not NULL; None if they are the value."""
    match type_:
        case RowType():
            return _row_reader({field.name: field.data_type for field in type_.fields})
        case ArrayType(element_type=element):
            return _each(_reader_of(element))
        case MapType(value_type=value_type):
            return _each_value(_reader_of(value_type))
        case DecimalType():
            return lambda data: _decimal(data, type_)
        case _:
            return None


def _decimal(data: bytes, type_: DecimalType) -> Any:
    """Return a decimal, None for one with too many digits, as Flink."""
    from decimal import Decimal

    if not data:
        raise UnreadableMessageError("a decimal has no bytes")
    unscaled = int.from_bytes(data, "big", signed=True)
    if abs(unscaled) >= 10**type_.precision:
        return None
    return Decimal(f"{unscaled}E-{type_.scale}")


# --- writing --------------------------------------------------------------------------------------


class AvroEncoder:
    """Writes rows as messages of a schema.

    Args:
        schema: The schema as JSON.
        columns: The columns of a row.
        schema_id: The id that precedes the datum, or None.
        is_json: Whether messages are in Avro's JSON encoding.
    """

    def __init__(
        self,
        schema: str,
        columns: Mapping[str, DataType],
        *,
        schema_id: int | None = None,
        is_json: bool = False,
    ) -> None:
        self._schema, self._columns, self._is_json = schema, columns, is_json
        self._header = b"" if schema_id is None else _HEADER.pack(_MAGIC, schema_id)
        self._parsed: Any = None
        self._convert: Callable[[Any], Any] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_parsed": None, "_convert": None}

    def __call__(self, row: Sequence[Any]) -> bytes:
        import fastavro

        if self._convert is None:
            self._convert = _row_writer(self._columns, is_json=self._is_json)
            self._parsed = _parse(_without_logical_types(json.loads(self._schema)))
        record = self._convert(row)
        if self._is_json:
            text = StringIO()
            fastavro.json_writer(text, self._parsed, [record])
            compact = json.loads(text.getvalue())
            return json.dumps(compact, separators=(",", ":"), ensure_ascii=False).encode()
        datum = BytesIO()
        fastavro.schemaless_writer(datum, self._parsed, record)
        return bytes(self._header + datum.getvalue())


def _row_writer(columns: Mapping[str, DataType], *, is_json: bool) -> Callable[[Any], Any]:
    writers = [(name, _writer_of(type_, is_json=is_json)) for name, type_ in columns.items()]

    def write(row: Sequence[Any]) -> dict[str, Any]:
        return {
            name: value if value is None or convert is None else convert(value)
            for (name, convert), value in zip(writers, row, strict=True)
        }

    return write


def _writer_of(type_: DataType, *, is_json: bool) -> Callable[[Any], Any] | None:
    match type_:
        case RowType():
            columns = {field.name: field.data_type for field in type_.fields}
            return _row_writer(columns, is_json=is_json)
        case ArrayType(element_type=element):
            return _each(_writer_of(element, is_json=is_json))
        case MapType(value_type=value_type):
            return _each_value(_writer_of(value_type, is_json=is_json))
        case DecimalType(scale=scale):
            return lambda value: _unscaled(value, scale)
        case FloatType() if is_json:
            return shortest_float
        case _:
            return None


def _unscaled(value: Any, scale: int) -> bytes:
    """Return the fewest bytes of a decimal's unscaled value, as Java's BigInteger."""
    sign, digits, exponent = value.as_tuple()
    unscaled: int = int("".join(map(str, digits))) * 10 ** (exponent + scale) * (-1 if sign else 1)
    bits = (unscaled if unscaled >= 0 else ~unscaled).bit_length()
    return unscaled.to_bytes(bits // 8 + 1, "big", signed=True)


# --- comparison -----------------------------------------------------------------------------------


def _shape(schema: Schema, names: dict[str, Any]) -> Any:
    """Return a schema without names of types, documentation and defaults."""
    if not names:
        _add_names(schema, "", names)
    match schema:
        case list():
            return frozenset(_shape(branch, names) for branch in schema)
        case dict() if schema["type"] in ("record", "error"):
            return tuple(
                (field["name"], _shape(field["type"], names)) for field in schema["fields"]
            )
        case dict() if schema["type"] == "enum":
            return "string"
        case dict() if "items" in schema or "values" in schema:
            inner = _shape(schema.get("items", schema.get("values")), names)
            return (schema["type"], inner)
        case dict() if isinstance(schema["type"], (dict, list)):
            return _shape(schema["type"], names)
        case dict():
            keys = ("type", "logicalType", "precision", "scale", "size")
            own = tuple((key, schema[key]) for key in keys if key in schema)
            return own if len(own) > 1 else schema["type"]
        case str() if schema in names:
            return _shape(names[schema], names)
        case _:
            return schema
