"""How the rows of a file become columns of exact types, and back: one row a file format.

Formats of text are read as text and converted by the rules for casts, so that a file holds what
Flink would find in it; a field that cannot be read ends the job or, on request, is NULL.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from schema_core.environment.options import ConfigOption, boolean, choice
from schema_core.spark.compiler.functions import datetimes
from schema_core.spark.compiler.functions.casts import convert
from schema_core.spark.compiler.sql_builder import FLOATS, INTEGERS, bind, sql_type, string
from schema_core.spark.connectors.csv_files import (
    COMMENTS,
    CSV_ERRORS,
    DELIMITER,
    ESCAPE,
    FILE,
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

TEXT = VarCharType(MAX_LENGTH)


@dataclass(frozen=True, slots=True)
class Format:
    """A file format.

    `options` may be set on the table. `is_text` tells whether values are texts in the file, and
    `known` makes NULL of the texts that stand for it; `reading` and `writing` translate the table's
    options to those of Spark's reader and writer.
    """

    requires: ClassVar = ("pyspark",)

    identifier: str
    options: tuple[ConfigOption[Any], ...] = ()
    is_text: bool = False
    reading: Callable[[Options], dict[str, str]] = lambda _: {}
    writing: Callable[[Options], dict[str, str]] = lambda _: {}
    known: Callable[[str, DataType, Options], str] = lambda text, _type, _options: text
    refused_in_names: tuple[str, ...] = ()


# --- json --------------------------------------------------------------------------------------

JSON_ERRORS = ConfigOption(
    "json.ignore-parse-errors", boolean, False, "whether a bad field is NULL, not an error"
)
STANDARD = ConfigOption(
    "json.timestamp-format.standard",
    choice("SQL", "ISO-8601"),
    "SQL",
    "whether a timestamp has a blank or a T between date and time",
)


def _json(options: Options) -> dict[str, str]:
    mark = " " if STANDARD.of(options) == "SQL" else "'T'"
    shape = f"yyyy-MM-dd{mark}HH:mm:ss[.SSSSSS]"
    return {
        "timestampNTZFormat": shape,
        "timestampFormat": f"{shape}'Z'",
        "ignoreNullFields": "false",
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
        Format("json", (JSON_ERRORS, STANDARD), is_text=True, reading=_read_json, writing=_json),
        Format("parquet"),
        # Spark keeps the schema of ORC files in Hadoop's configuration, where ORC's parser does not
        # read back-ticks in names, and where Hadoop substitutes variables.
        Format("orc", refused_in_names=("`", "${")),
    )
}

CSV, JSON, PARQUET, ORC = (FORMATS[name] for name in ("csv", "json", "parquet", "orc"))


# --- fields ------------------------------------------------------------------------------------


def is_scalar(type_: DataType) -> bool:
    """Whether a value of the type is one text in a file."""
    return not type_.children()


def parsed(text: str, name: str, type_: DataType, options: Options) -> str:
    """A text of a file as a value of a type; a bad one ends the job, naming the column."""
    lenient = bool(CSV_ERRORS.of(options) or JSON_ERRORS.of(options))
    if isinstance(type_, CharType | VarCharType):
        return text

    def body(value: str) -> str:
        read = _read(value, type_, options)
        if lenient:
            return read
        problem = f"column '{name}': cannot read as {type_.as_summary_string()}: "
        place = PLACES.get(options.get("format", ""), PLACES["json"])
        hint = string(f"{HINT}set '{lenient_key(options)}' = 'true' to read NULL there")
        told = f"concat({string(problem)}, {value}, coalesce({place}, ''), {hint})"
        otherwise = f"if({value} IS NULL, NULL, raise_error({told}))"
        return f"coalesce({read}, {otherwise})"

    return bind(text, body)


#: Format -> the place of a row in its files, for messages.
PLACES: dict[str, str] = {
    "csv": f"concat(' in ', {FILE}, ', line ', {LINE})",
    "json": "concat(' in ', nullif(input_file_name(), ''))",
}


def lenient_key(options: Options) -> str:
    """The option that makes fields NULL which cannot be read."""
    return JSON_ERRORS.key if options.get("format") == "json" else CSV_ERRORS.key


def _read(text: str, type_: DataType, options: Options) -> str:
    """A text as a value, or NULL."""
    match type_:
        case BooleanType():
            return f"try_cast({text} AS BOOLEAN)"
        case BinaryType() | VarBinaryType():
            return f"try_to_binary({text}, 'base64')"
        case DecimalType():
            return f"CAST({text} AS {sql_type(type_)})"
        case AnyTimestampType() if STANDARD.of(options) == "ISO-8601":
            plain = f"replace(rtrim('Z', {text}), 'T', ' ')"
            return convert(plain, TEXT, type_, lenient=True)
        case LocalZonedTimestampType():
            return convert(f"rtrim('Z', {text})", TEXT, type_, lenient=True)
        case _ if isinstance(type_, (*INTEGERS, *FLOATS)):
            return f"try_cast({text} AS {sql_type(type_)})"
        case _:
            return convert(text, TEXT, type_, lenient=True)


def rendered(text: str, type_: DataType) -> str:
    """A value as the text that stands for it in a csv file."""
    match type_:
        case BooleanType():
            return f"CAST({text} AS STRING)"
        case BinaryType() | VarBinaryType():
            return f"base64({text})"
        case LocalZonedTimestampType():
            return f"concat({convert(text, type_, TEXT)}, 'Z')"
        case _:
            return convert(text, type_, TEXT)


def exact(text: str, type_: DataType) -> str:
    """A value of a file with types of its own, cut to the digits of its type."""
    if isinstance(type_, TimestampType | LocalZonedTimestampType):
        return datetimes.truncated(text, 9, type_.precision, type_)
    return text


def carrier(type_: DataType, *, as_text: bool) -> DataType:
    """The type under which a column is read from a file."""
    return TEXT if as_text and is_scalar(type_) else type_
