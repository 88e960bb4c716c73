"""Formats whose messages Python functions of the executors read and write, as `avro`.

A format states the type in which its functions take and return each value (the *wire type*), and
how Spark converts between that and the value of a column.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

from schema_core.connectors.files.csv_files import FILE, LINE
from schema_core.environment.options import ConfigOption
from schema_core.errors import SchemaCoreError
from schema_core.mappings.spark.pyspark_types import to_struct_field
from schema_core.spark.compiler import tree as nodes
from schema_core.spark.compiler.expression import convert_parts, from_physical
from schema_core.spark.compiler.tree import quote
from schema_core.spark.jobs import HINT
from schema_core.spark.session.api_mode import functions_of
from schema_core.types import DataType

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

#: The place of a message, for errors of its values.
PLACE_OF_MESSAGE: Final = nodes.call(
    "concat", " in ", nodes.Column(FILE), ", offset ", nodes.Column(LINE)
)
#: Reads a message: the values of its row, or None if the message is skipped.
Decoder = Callable[[bytes], tuple[Any, ...] | None]
#: Writes the values of a row.
Encoder = Callable[[Sequence[Any]], bytes]


class BinaryFormat(Protocol):
    """A format of messages that is not a text.

    Functions for executors are pickled; values of rows are tuples, of maps dictionaries.
    """

    @property
    def identifier(self) -> str:
        """The name of the format."""

    @property
    def options(self) -> tuple[ConfigOption[Any], ...]:
        """The options of a table; their prefix is the name of the format."""

    def require(self, columns: Mapping[str, DataType], options: Mapping[str, str]) -> None:
        """Refuse columns that a message cannot hold (`type-not-supported`)."""

    def skips_errors(self, options: Mapping[str, str]) -> bool:
        """Return whether messages that cannot be read are skipped."""

    def wire_type(self, type_: DataType) -> DataType:
        """Return the type of the values of the functions; `type_` has no parts."""

    def to_wire(self, node: nodes.Node, type_: DataType) -> nodes.Node:
        """Return the value that is written; `type_` has no parts."""

    def from_wire(self, node: nodes.Node, name: str, type_: DataType) -> nodes.Node:
        """Return the value that was read; `type_` has no parts."""

    def decoder(self, columns: Mapping[str, DataType], options: Mapping[str, str]) -> Decoder:
        """Return what reads a message."""

    def encoder(self, columns: Mapping[str, DataType], options: Mapping[str, str]) -> Encoder:
        """Return what writes a message."""


class UnreadableMessageError(Exception):
    """A message that cannot be read, or a row that cannot be written."""


def wire_struct(form: BinaryFormat, columns: Mapping[str, DataType]) -> StructType:
    """Return the type of the rows of a format's functions."""
    from pyspark.sql.types import StructType

    def convert(type_: DataType) -> DataType:
        if not type_.children():
            return form.wire_type(type_).nullable()
        return type_.rebuild(tuple(map(convert, type_.children()))).nullable()

    return StructType([to_struct_field(name, convert(type_)) for name, type_ in columns.items()])


def wire_row(form: BinaryFormat, columns: Mapping[str, tuple[nodes.Node, DataType]]) -> nodes.Node:
    """Return the row to write of physical values."""

    def convert(node: nodes.Node, type_: DataType) -> nodes.Node:
        return (
            convert_parts(node, type_, convert) if type_.children() else form.to_wire(node, type_)
        )

    return nodes.named_struct(
        (name, convert(from_physical(node, type_), type_))
        for name, (node, type_) in columns.items()
    )


def column_of_wire(form: BinaryFormat, node: nodes.Node, name: str, type_: DataType) -> nodes.Node:
    """Return the value of a column that was read."""
    if type_.children():
        return convert_parts(node, type_, lambda part, kind: column_of_wire(form, part, name, kind))
    return form.from_wire(node, name, type_)


def message_place(functions: Any) -> Any:
    """Return the column of the place of a message, for errors of the executors."""
    return functions.expr(f"concat({quote(FILE)}, ', offset ', {quote(LINE)})")


def decode_rows(
    form: BinaryFormat,
    frame: DataFrame,
    source: str,
    columns: Mapping[str, DataType],
    target: str,
    options: Mapping[str, str],
) -> DataFrame:
    """Return messages with the column `target`, the row of a message in wire types.

    Messages that are skipped have none; they are removed if the format skips errors.
    """
    functions = functions_of(frame)
    reader = message_reader(form.identifier, form.decoder(columns, options))
    read = functions.udf(reader, wire_struct(form, columns))
    frame = frame.select(
        "*", read(functions.col(quote(source)), message_place(functions)).alias(target)
    )
    if form.skips_errors(options):
        frame = frame.where(f"{quote(source)} IS NULL OR {quote(target)} IS NOT NULL")
    return frame


def encode_rows(
    form: BinaryFormat,
    frame: DataFrame,
    column: str,
    columns: Mapping[str, DataType],
    options: Mapping[str, str],
) -> DataFrame:
    """Return a frame whose column of rows in wire types is one of messages; NULL remains NULL."""
    functions = functions_of(frame)
    write = functions.udf(
        _message_writer(form.identifier, form.encoder(columns, options)), "binary"
    )
    value = functions.col(quote(column))
    encoded = functions.when(value.isNotNull(), write(value)).alias(column)
    return frame.select(
        *(encoded if name == column else functions.col(quote(name)) for name in frame.columns)
    )


#: Characters of an error's message.
_SHOWN: Final = 500


def message_reader(
    identifier: str, decode: Decoder
) -> Callable[[bytes | None, str | None], tuple[Any, ...] | None]:
    """Return the function of executors that reads messages; its errors have their place."""

    def read(value: bytes | None, place: str | None) -> tuple[Any, ...] | None:
        if value is None:
            return None
        try:
            return decode(bytes(value))
        except Exception as error:  # noqa: BLE001 - a damaged message may cause any error
            raise UnreadableMessageError(
                f"{place}: cannot read a message of the format {identifier!r}: {_describe(error)}"
            ) from None

    return read


def _message_writer(
    identifier: str, encode: Encoder
) -> Callable[[Sequence[Any] | None], bytes | None]:
    """Return the function of executors that writes messages."""

    def write(row: Sequence[Any] | None) -> bytes | None:
        if row is None:
            return None
        try:
            return encode(row)
        except Exception as error:  # noqa: BLE001 - an unfit value may cause any error
            raise UnreadableMessageError(
                f"cannot write a message of the format {identifier!r}: {_describe(error)}"
            ) from None

    return write


def _describe(error: Exception) -> str:
    """Return the cause of an error in one line."""
    if isinstance(error, SchemaCoreError):
        text = f"{error.problem} [{error.code}]"
        return f"{text}{HINT}{error.hint}" if error.hint else text
    if isinstance(error, UnreadableMessageError):
        return str(error)
    text = " ".join(str(error).split())[:_SHOWN]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
