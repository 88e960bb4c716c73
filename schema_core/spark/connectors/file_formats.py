"""File formats: conversion between the fields of files and columns of exact types.

Text formats are read as strings and converted by the rules of casts, so that values are those that
Flink reads. A field that cannot be parsed fails the job or, on request, is NULL.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from schema_core.environment.options import ConfigOption, boolean, choice
from schema_core.lazy_dataclass import dataclass
from schema_core.spark.compiler.functions import datetimes
from schema_core.spark.compiler.functions.casts import convert
from schema_core.spark.compiler.template import inline
from schema_core.spark.compiler.tree import NULL as NULL_NODE
from schema_core.spark.compiler.tree import Cast, Column, Field, Node, call, let
from schema_core.spark.compiler.value_types import FLOATS, INTEGERS, sql_type
from schema_core.spark.connectors.csv_files import (
    COMMENTS,
    CSV_ERRORS,
    DELIMITER,
    ESCAPE,
    FILE,
    FILE_METADATA,
    HEADER,
    LINE,
    NO_QUOTE,
    NULL,
    QUOTE,
    Options,
    known_field,
)
from schema_core.spark.jobs import HINT
from schema_core.types import (
    MAX_LENGTH,
    AnyTimestampType,
    BinaryType,
    BooleanType,
    CharType,
    DataType,
    DecimalType,
    LocalZonedTimestampType,
    TimestampType,
    VarBinaryType,
    VarCharType,
)

if TYPE_CHECKING:
    from schema_core.types import RowField

TEXT = VarCharType(MAX_LENGTH)


class FileCodec(Protocol):
    """Translates between the columns of a table and those that Spark reads and writes."""

    def require(self, fields: Sequence[RowField], options: Options) -> None:
        """Refuse columns of files that the format cannot hold."""

    def stored(self, type_: DataType, options: Options) -> DataType:
        """Return the type as which Spark reads a column."""

    def reading(self, options: Options) -> dict[str, str]:
        """Return the options of Spark's reader."""

    def writing(self, fields: Sequence[RowField], options: Options) -> dict[str, str]:
        """Return the options of Spark's writer."""

    def decode(self, node: Node, name: str, type_: DataType, options: Options) -> Node:
        """Return the value of a column from what Spark reads."""

    def encode(self, node: Node, name: str, type_: DataType, options: Options) -> Node:
        """Return what Spark writes from the value of a column."""


@dataclass(frozen=True, slots=True)
class Format:
    """A file format.

    `options` may be set on the table. `is_text` is true if values are strings in the file, and
    `known` converts the null literal to NULL; `reading` and `writing` translate the options of the
    table to those of Spark's reader and writer. `source` is Spark's data source, if it has another
    name. A `codec` does all of this for formats whose values Spark stores as other types.
    """

    requires: ClassVar[tuple[str, ...]] = ("pyspark",)

    identifier: str
    options: tuple[ConfigOption[Any], ...] = ()
    is_text: bool = False
    reading: Callable[[Options], dict[str, str]] = lambda _: {}
    writing: Callable[[Options], dict[str, str]] = lambda _: {}
    known: Callable[[Node, DataType, Options], Node] = lambda node, _type, _options: node
    refused_in_names: tuple[str, ...] = ()
    source: str | None = None
    codec: FileCodec | None = None

    @property
    def is_typed(self) -> bool:
        """Whether Spark reads and writes the values of the format in the types of the columns."""
        return self.codec is None and not self.is_text


# --- json --------------------------------------------------------------------------------------

JSON_ERRORS = ConfigOption(
    "json.ignore-parse-errors",
    boolean,
    False,
    "whether a field that cannot be parsed is NULL instead of an error",
)
STANDARD = ConfigOption(
    "json.timestamp-format.standard",
    choice("SQL", "ISO-8601"),
    "SQL",
    "whether date and time of a timestamp are separated by a space or a T",
)
IGNORE_NULLS = ConfigOption(
    "json.encode.ignore-null-fields", boolean, False, "whether fields that are NULL are not written"
)
#: Options of Flink's format of which Spark does what one value asks for.
JSON_FIXED = (
    ConfigOption(
        "json.fail-on-missing-field",
        choice("false"),
        "false",
        "only `false`: a missing field is NULL",
    ),
    ConfigOption(
        "json.map-null-key.mode", choice("FAIL"), "FAIL", "only `FAIL`: maps have no NULL keys"
    ),
    ConfigOption(
        "json.encode.decimal-as-plain-number",
        choice("false"),
        "false",
        "only `false`: decimals may be written with an exponent",
    ),
)


def _json(options: Options) -> dict[str, str]:
    mark = " " if STANDARD.of(options) == "SQL" else "'T'"
    shape = f"yyyy-MM-dd{mark}HH:mm:ss[.SSSSSS]"
    return {
        "timestampNTZFormat": shape,
        "timestampFormat": f"{shape}'Z'",
        "ignoreNullFields": str(IGNORE_NULLS.of(options)).lower(),
    }


def _read_json(options: Options) -> dict[str, str]:
    mode = "PERMISSIVE" if JSON_ERRORS.of(options) else "FAILFAST"
    return {**_json(options), "mode": mode}


FORMATS: dict[str, Format] = {
    one.identifier: one
    for one in (
        Format(
            "csv",
            (DELIMITER, NO_QUOTE, QUOTE, ESCAPE, COMMENTS, CSV_ERRORS, NULL, HEADER),
            is_text=True,
            known=known_field,
        ),
        Format(
            "json",
            (JSON_ERRORS, STANDARD, IGNORE_NULLS, *JSON_FIXED),
            is_text=True,
            reading=_read_json,
            writing=_json,
        ),
        Format("parquet"),
        # Spark keeps the schema of ORC files in Hadoop's configuration, where ORC's parser does not
        # read backticks in names, and where Hadoop substitutes variables.
        Format("orc", refused_in_names=("`", "${")),
    )
}

CSV, JSON, PARQUET, ORC = (FORMATS[name] for name in ("csv", "json", "parquet", "orc"))


# --- fields ------------------------------------------------------------------------------------


def is_scalar(type_: DataType) -> bool:
    """Return whether a value of the type is one field of a text file."""
    return not type_.children()


_IN_FILE = call("concat", " in ", Field(Column(FILE_METADATA), "file_path"))
#: Format -> the place of a row in its files, for messages.
PLACES: dict[str, Node] = {
    "csv": call("concat", " in ", Column(FILE), ", line ", Column(LINE)),
    **dict.fromkeys(("json", "avro", "raw"), _IN_FILE),
}


#: What the message of `parsed` contains.
CANNOT_READ = ": cannot read as "


def parsed(
    node: Node, name: str, type_: DataType, options: Options, place: Node | None = None
) -> Node:
    """Return a string converted to a type; an invalid one fails the job with its column.

    `place` is where the string is from, for the message.
    """
    lenient = bool(CSV_ERRORS.of(options) or JSON_ERRORS.of(options))
    hint = f"set '{ignore_errors_key(options)}' = 'true' to read NULL there"
    if place is not None and options.get("format") == "csv" and not HEADER.of(options):
        hint = f"if the first line names the columns, set '{HEADER.key}' = 'true'; or {hint}"
    if isinstance(type_, CharType | VarCharType):
        return node

    def body(value: Node) -> Node:
        read = _read(value, type_, options)
        if lenient:
            return read
        return inline(
            "coalesce({read}, if({v} IS NULL, NULL,"
            " raise_error(concat({problem}, {v}, coalesce({place}, ''), {hint}))))",
            read=read,
            v=value,
            problem=f"column '{name}'{CANNOT_READ}{type_.as_summary_string()}: ",
            place=NULL_NODE if place is None else place,
            hint=f"{HINT}{hint}",
        )

    return let(node, body)


def ignore_errors_key(options: Options) -> str:
    """Return the option that makes fields NULL which cannot be parsed."""
    return JSON_ERRORS.key if options.get("format") == "json" else CSV_ERRORS.key


def _read(node: Node, type_: DataType, options: Options) -> Node:
    """Return a string converted to a type, or NULL."""
    match type_:
        case BooleanType():
            return Cast(node, "BOOLEAN", safe=True)
        case BinaryType() | VarBinaryType():
            return call("try_to_binary", node, "base64")
        case DecimalType():
            return Cast(node, sql_type(type_))
        case AnyTimestampType() if STANDARD.of(options) == "ISO-8601":
            plain = inline("replace(rtrim('Z', {v}), 'T', ' ')", v=node)
            return convert(plain, TEXT, type_, try_=True)
        case LocalZonedTimestampType():
            return convert(call("rtrim", "Z", node), TEXT, type_, try_=True)
        case _ if isinstance(type_, (*INTEGERS, *FLOATS)):
            return Cast(node, sql_type(type_), safe=True)
        case _:
            return convert(node, TEXT, type_, try_=True)


def rendered(node: Node, type_: DataType) -> Node:
    """Return a value as the string of a csv field."""
    match type_:
        case BooleanType():
            return Cast(node, "STRING")
        case BinaryType() | VarBinaryType():
            return call("base64", node)
        case LocalZonedTimestampType():
            return call("concat", convert(node, type_, TEXT), "Z")
        case _:
            return convert(node, type_, TEXT)


def exact(node: Node, type_: DataType) -> Node:
    """Return a value of a typed file, truncated to the precision of its type."""
    if isinstance(type_, TimestampType | LocalZonedTimestampType):
        return datetimes.truncated(node, 9, type_.precision)
    return node


def has_fewer_digits(type_: DataType, digits: int) -> bool:
    """Return whether a type is a timestamp with fewer fractional digits."""
    return isinstance(type_, TimestampType | LocalZonedTimestampType) and type_.precision < digits


def physical_type(type_: DataType, *, as_text: bool) -> DataType:
    """Return the physical type of a column in a file."""
    return TEXT if as_text and is_scalar(type_) else type_
