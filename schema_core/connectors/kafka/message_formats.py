"""Formats of messages: one row in a binary value, as `json`, `csv`, `raw` or `avro`, or changes.

They share options and rules with the formats of files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from schema_core.connectors.change_formats import CHANGE_FORMATS, ChangeFormat, require_writable
from schema_core.connectors.files.csv_files import (
    CsvColumn,
    CsvDialect,
    FileReader,
    UnreadableRecordError,
    csv_line,
    dialect_of,
)
from schema_core.connectors.files.file_formats import (
    CSV,
    JSON,
    JSON_ERRORS,
    PLAIN,
    fails_on_missing,
    finish_field,
    is_object,
    parse_field,
    parse_rows,
    plain_decimals,
    render_field,
    require_all_fields,
)
from schema_core.connectors.files.raw_files import (
    BINARIES,
    CHARSET,
    ENDIANNESS,
    SIZES,
    STRINGS,
    decode_bytes,
    encode_bytes,
)
from schema_core.connectors.kafka.avro_messages import AVRO_CONFLUENT, AVRO_MESSAGES
from schema_core.connectors.kafka.binary_formats import (
    PLACE_OF_MESSAGE,
    BinaryFormat,
    column_of_wire,
    decode_rows,
    encode_rows,
    wire_row,
)
from schema_core.connectors.kafka.debezium_avro import DEBEZIUM_AVRO
from schema_core.connectors.kafka.options import topics
from schema_core.connectors.kafka.protobuf_messages import PROTOBUF_MESSAGES
from schema_core.environment.options import ConfigOption
from schema_core.errors import SchemaError, UnsupportedError, at, choose_from
from schema_core.spark.compiler import tree as nodes
from schema_core.spark.compiler.expression import from_physical, to_physical
from schema_core.spark.compiler.tree import Column as ColumnNode
from schema_core.spark.compiler.tree import quote
from schema_core.spark.session.api_mode import functions_of
from schema_core.types import (
    MAX_LENGTH,
    DataType,
    VarCharType,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

TEXT = VarCharType(MAX_LENGTH)
#: The formats of rows that are not texts.
BINARY_FORMATS: Mapping[str, BinaryFormat] = {
    form.identifier: form for form in (AVRO_MESSAGES, AVRO_CONFLUENT, PROTOBUF_MESSAGES)
}
#: The formats of changes; not all of them are formats of files.
MESSAGE_CHANGE_FORMATS: Mapping[str, ChangeFormat] = {
    **CHANGE_FORMATS,
    DEBEZIUM_AVRO.identifier: DEBEZIUM_AVRO,
}
#: Format -> its options.
OPTIONS: Mapping[str, tuple[ConfigOption[Any], ...]] = {
    **{name: form.options for name, form in MESSAGE_CHANGE_FORMATS.items()},
    "json": JSON.options,
    "csv": tuple(option for option in CSV.options if option.key != "csv.header"),
    "raw": (CHARSET, ENDIANNESS),
    **{name: form.options for name, form in BINARY_FORMATS.items()},
}


class MessageFormat:
    """The format of the keys or of the values of messages (`factory-not-found`).

    Args:
        name: The name of the format.
        options: The options of the table.
        prefix: Of the format's options: ``key.``, ``value.`` or nothing.
    """

    def __init__(self, name: str, options: Mapping[str, str], prefix: str = "") -> None:
        if name not in OPTIONS:
            raise SchemaError(
                f"messages cannot have the format {name!r}",
                code="factory-not-found",
                hint=choose_from(name, OPTIONS),
            )
        self.name = name
        #: How messages hold changes; None for a format of rows.
        self.changes: ChangeFormat | None = MESSAGE_CHANGE_FORMATS.get(name)
        start = f"{prefix}{name}."
        self.options: dict[str, str] = {"format": name} | {
            key.removeprefix(prefix): value
            for key, value in options.items()
            if key.startswith(start)
        }
        names = topics(options)
        if len(names) == 1 and any(option.key == f"{name}.subject" for option in OPTIONS[name]):
            part = "key" if prefix == "key." else "value"
            self.options = {f"{name}.subject": f"{names[0]}-{part}"} | self.options

    def prefixed_options(self, prefix: str) -> list[ConfigOption[Any]]:
        """Return the format's options, with the table's prefix."""
        return [
            replace(
                option,
                key=f"{prefix}{option.key}",
                fallback_keys=tuple(f"{prefix}{key}" for key in option.fallback_keys),
            )
            for option in OPTIONS[self.name]
        ]

    def require(self, columns: Mapping[str, DataType]) -> None:
        """Refuse columns that a message of the format cannot hold (`type-not-supported`)."""
        if self.changes is not None:
            self.changes.require(columns)
            return
        if (binary := BINARY_FORMATS.get(self.name)) is not None:
            binary.require(columns, self.options)
            return
        if self.name == "raw" and len(columns) != 1:
            raise _refusal_error(f"a raw message holds one column, got {len(columns)}")
        for name, type_ in columns.items():
            with at(f"column {name!r}"):
                problem = _WHY_NOT[self.name](type_)
                if problem is not None:
                    raise _refusal_error(f"a message cannot hold the value: {problem}")

    # --- reading -------------------------------------------------------------------------------

    def decode(
        self, frame: DataFrame, source: str, columns: Mapping[str, DataType], target: str
    ) -> tuple[DataFrame, dict[str, nodes.Node]]:
        """Return the frame with a parsed message, and the value of each column.

        Args:
            frame: The messages.
            source: The binary column.
            columns: The columns by their names in the message.
            target: The name of the column for the parsed message.
        """
        self.require(columns)
        if self.name == "raw":
            ((name, type_),) = columns.items()
            value = decode_bytes(ColumnNode(source), name, type_, self.options, PLACE_OF_MESSAGE)
            return frame, {name: to_physical(value, type_)}
        if (binary := BINARY_FORMATS.get(self.name)) is not None:
            frame = decode_rows(binary, frame, source, columns, target, self.options)
            return frame, {
                name: column_of_wire(binary, nodes.Field(ColumnNode(target), name), name, type_)
                for name, type_ in columns.items()
            }
        if self.name == "json":
            frame = self._parse_json(frame, source, columns, target)
            return frame, {
                name: finish_field(nodes.Field(ColumnNode(target), name), name, type_, self.options)
                for name, type_ in columns.items()
            }
        frame = self._parse_csv(frame, source, columns, target)
        return frame, {
            name: parse_field(
                CSV.known(nodes.Element(ColumnNode(target), position), type_, self.options),
                name,
                type_,
                self.options,
            )
            for position, (name, type_) in enumerate(columns.items())
        }

    def _parse_json(
        self, frame: DataFrame, source: str, columns: Mapping[str, DataType], target: str
    ) -> DataFrame:
        functions = functions_of(frame)
        value = functions.col(quote(source))
        text = value.cast("string")
        if fails_on_missing(self.options):
            string = nodes.Cast(ColumnNode(source), "STRING")
            fields = [((name,), type_) for name, type_ in columns.items()]
            text = functions.expr(nodes.to_sql(require_all_fields(string, fields)))
        if JSON_ERRORS.of(self.options):
            frame = frame.where(value.isNull() | is_object(functions, text, self.options))
        return parse_rows(frame, text, target, columns, self.options)

    def _parse_csv(
        self, frame: DataFrame, source: str, columns: Mapping[str, DataType], target: str
    ) -> DataFrame:
        functions = functions_of(frame)
        dialect = dialect_of(self.options, list(columns))
        record = functions.udf(lambda value: csv_record(value, dialect), "array<string>")
        frame = frame.select("*", record(functions.col(source)).alias(target))
        if dialect.skip_errors:
            frame = frame.where(f"{quote(source)} IS NULL OR {quote(target)} IS NOT NULL")
        return frame

    # --- writing -------------------------------------------------------------------------------

    def encode(self, columns: Mapping[str, tuple[nodes.Node, DataType]]) -> nodes.Node:
        """Return the message of values, each a physical column with its type.

        `finish` completes it.
        """
        if self.changes is not None:
            return self.encode_change(columns, nodes.TRUE)
        self.require({name: type_ for name, (_, type_) in columns.items()})
        if (binary := BINARY_FORMATS.get(self.name)) is not None:
            return wire_row(binary, columns)
        return nodes.Cast(_ENCODERS[self.name](columns, self.options), "BINARY")

    def encode_change(
        self, columns: Mapping[str, tuple[nodes.Node, DataType]], adds: nodes.Node
    ) -> nodes.Node:
        """Return the message of a change; `adds` is whether it adds its row."""
        form = cast("ChangeFormat", self.changes)
        require_writable(form, self.options)
        message = form.encode(columns, adds, self.options)
        return message if form is DEBEZIUM_AVRO else nodes.Cast(message, "BINARY")

    def finish(self, frame: DataFrame, column: str, columns: Mapping[str, DataType]) -> DataFrame:
        """Return a frame with the messages of a column of `encode` or `encode_change`."""
        if self.changes is DEBEZIUM_AVRO:
            return DEBEZIUM_AVRO.finish(frame, column, columns, self.options)
        if (binary := BINARY_FORMATS.get(self.name)) is not None:
            return encode_rows(binary, frame, column, columns, self.options)
        return frame


def _why_not_raw(type_: DataType) -> str | None:
    if isinstance(type_, (*STRINGS, *BINARIES, *SIZES)):
        return None
    return f"raw cannot hold a value of {type_.nullable().as_summary_string()}"


#: Format -> why a message cannot hold a value of a type.
_WHY_NOT: Mapping[str, Callable[[DataType], str | None]] = {
    "json": JSON.why_not,
    "csv": CSV.why_not,
    "raw": _why_not_raw,
}


def _refusal_error(problem: str) -> UnsupportedError:
    return UnsupportedError(
        problem, code="type-not-supported", hint="use the format 'json', or another type"
    )


def csv_record(value: bytes | None, dialect: CsvDialect) -> list[str | None] | None:
    """Return the fields of a csv message, None for a skipped one.

    A message that is not one record raises `UnreadableRecordError`.
    """
    if value is None:
        return None
    reader = FileReader(dialect)
    records = [
        record
        for line in bytes(value).removesuffix(b"\n").split(b"\n")
        for record in reader.read("message", line)
    ]
    reader.finish()
    if len(records) > 1 and not dialect.skip_errors:
        raise UnreadableRecordError(f"a message has {len(records)} records, expected one")
    return records[0] if len(records) == 1 else None


def _encode_raw(
    columns: Mapping[str, tuple[nodes.Node, DataType]], options: Mapping[str, str]
) -> nodes.Node:
    ((node, type_),) = columns.values()
    return encode_bytes(from_physical(node, type_), type_, options)


def _encode_json(
    columns: Mapping[str, tuple[nodes.Node, DataType]], options: Mapping[str, str]
) -> nodes.Node:
    convert = plain_decimals if PLAIN.of(options) else lambda node, _: node
    parts = [
        part
        for name, (node, type_) in columns.items()
        for part in (nodes.Literal(name), convert(node, type_))
    ]
    settings = [
        part
        for key, value in JSON.writing(options).items()
        for part in (nodes.Literal(key), nodes.Literal(value))
    ]
    return nodes.call("to_json", nodes.call("named_struct", *parts), nodes.call("map", *settings))


def _encode_csv(
    columns: Mapping[str, tuple[nodes.Node, DataType]], options: Mapping[str, str]
) -> nodes.Node:
    rows = [
        CsvColumn(
            name,
            render_field(from_physical(node, type_), name, type_, options, has_scale=True),
            type_,
        )
        for name, (node, type_) in columns.items()
    ]
    return csv_line(rows, dialect_of(options, list(columns)), options)


_ENCODERS: Mapping[str, Callable[..., nodes.Node]] = {
    "raw": _encode_raw,
    "json": _encode_json,
    "csv": _encode_csv,
}
