"""How the rows of a file become columns of exact types, and back: one row a file format.

Formats of text are read as text and converted by the rules for casts, so that a file holds what
Flink would find in it; a field that cannot be read ends the job or, on request, is NULL.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from schema_core.environment.options import ConfigOption, boolean, choice
from schema_core.errors import SchemaError
from schema_core.spark.compiler.functions import datetimes
from schema_core.spark.compiler.functions.casts import convert
from schema_core.spark.compiler.sql_builder import FLOATS, INTEGERS, bind, fail, sql_type, string
from schema_core.spark.connectors.csv_records import FILE, LINE, Dialect
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

Options = Mapping[str, str]


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


# --- csv ---------------------------------------------------------------------------------------

DELIMITER = ConfigOption("csv.field-delimiter", str, ",", "what stands between two fields")
NO_QUOTE = ConfigOption(
    "csv.disable-quote-character", boolean, False, "whether a quote is like any other character"
)
QUOTE = ConfigOption("csv.quote-character", str, '"', "what stands around a field")
ESCAPE = ConfigOption("csv.escape-character", str, None, "what takes the meaning of the next one")
COMMENTS = ConfigOption("csv.allow-comments", boolean, False, "whether # starts a comment line")
CSV_ERRORS = ConfigOption(
    "csv.ignore-parse-errors", boolean, False, "whether a bad field is NULL, not an error"
)
NULL = ConfigOption("csv.null-literal", str, None, "the text that stands for NULL")
HEADER = ConfigOption(
    "csv.header",
    boolean,
    False,
    "whether the first line of a file names its columns, which must then be those of the table; "
    "Flink has no such option",
)


def dialect_of(options: Options, columns: Sequence[str]) -> Dialect:
    """How the csv files of a table with these columns are written.

    Raises:
        SchemaError: with code `invalid-option-value` for a delimiter, quote or escape character
            that is not one character.
    """
    quote_ = "" if NO_QUOTE.of(options) else _character(QUOTE, options)
    escape = _character(ESCAPE, options)
    return Dialect(
        tuple(columns),
        _character(DELIMITER, options),
        quote_,
        "" if escape == quote_ else escape,
        comments=bool(COMMENTS.of(options)),
        header=bool(HEADER.of(options)),
        skip_errors=bool(CSV_ERRORS.of(options)),
    )


def _character(option: ConfigOption[Any], options: Options) -> str:
    """An option of one character, which may be a Java escape sequence of a tab, for example."""
    text = str(option.of(options) or "")
    if len(text) > 1 and text.startswith("\\"):
        escape = re.fullmatch(r"\\(?:u([0-9a-fA-F]{4})|([tnrfb\\'\"]))", text)
        letters = dict(zip("tnrfb", "\t\n\r\f\b", strict=True))
        if escape is not None:
            text = chr(int(escape[1], 16)) if escape[1] else letters.get(escape[2], escape[2])
    if len(text) > 1:
        raise SchemaError(
            f"option {option.key!r} must be one character, got {text!r}",
            code="invalid-option-value",
        )
    return text


def _known_csv(text: str, type_: DataType, options: Options) -> str:
    """A field of a csv file, where NULL is the literal of the table.

    Without a literal an empty field is NULL, except of a string: Flink writes NULL so, although
    it does not read it back.
    """
    null = NULL.of(options)
    if null is None:
        return text if isinstance(type_, CharType | VarCharType) else f"nullif({text}, '')"
    return f"nullif({text}, {string(null)})"


@dataclass(frozen=True, slots=True)
class CsvColumn:
    """A column to write: its name, its rendered value in Spark SQL, and its type."""

    name: str
    value: str
    type: DataType


def csv_line(columns: Sequence[CsvColumn], dialect: Dialect, options: Options) -> str:
    """The line of a csv file without its end, every field in quotes if it needs them."""
    marks = {dialect.delimiter, dialect.quote, dialect.escape, "\r", "\n"} - {""}
    special = "".join(rf"\x{{{ord(one):x}}}" for one in sorted(marks))
    blank = r"\x{0}-\x{20}"
    pattern = string(rf"[{special}]|\A[{blank}#\x{{feff}}]|[{blank}]\z")

    def quoted(column: CsvColumn) -> str:
        if dialect.quote:
            inside = f"replace({{0}}, {string(dialect.quote)}, {string(dialect.quote * 2)})"
            around = string(dialect.quote)
            needed = f"concat({around}, {inside}, {around})"
        else:
            problem = f"column {column.name!r}: a value needs quotes, which are disabled"
            needed = fail(f"{problem}{HINT}unset {NO_QUOTE.key!r}")
        value = csv_value(column, dialect, options)
        return bind(
            value,
            lambda text: f"if({text} RLIKE {pattern}, {needed.replace('{0}', text)}, {text})",
        )

    fields = [quoted(one) for one in columns]
    return f"concat_ws({', '.join([string(dialect.delimiter), *fields])})"


def csv_value(column: CsvColumn, dialect: Dialect, options: Options) -> str:
    """A value as a string that is not NULL; one that would be read back as another ends the job."""
    null = NULL.of(options)
    if null is not None:
        unknown = string(null)
    elif isinstance(column.type, CharType | VarCharType):
        problem = f"column {column.name!r}: NULL would be read back as an empty string"
        unknown = fail(f"{problem}{HINT}set {NULL.key!r} to a word that no value is")
    else:
        unknown = "''"

    def known(value: str) -> str:
        text = value
        if dialect.escape:
            text = f"replace({value}, {string(dialect.escape)}, {string(dialect.escape * 2)})"
        if null is None:
            return f"coalesce({text}, {unknown})"
        problem = f"column {column.name!r}: the value {null!r} would be read back as NULL"
        taken = fail(f"{problem}{HINT}set {NULL.key!r} to a word that no value is")
        return (
            f"CASE WHEN {value} IS NULL THEN {unknown} WHEN {value} = {string(null)} THEN {taken} "
            f"ELSE {text} END"
        )

    return bind(column.value, known)


def escaped(text: str, dialect: Dialect) -> str:
    """A name as a header has it within quotes, which are doubled by the writer."""
    return text.replace(dialect.escape, dialect.escape * 2) if dialect.escape else text


def header_options(dialect: Dialect) -> dict[str, str]:
    """The options of Spark's csv writer, which begins a file with a header."""
    return {
        "sep": dialect.delimiter,
        "quote": dialect.quote,
        "escape": dialect.quote,
        "quoteAll": str(bool(dialect.quote)).lower(),
        "header": "true",
        "emptyValue": "",
        "ignoreLeadingWhiteSpace": "false",
        "ignoreTrailingWhiteSpace": "false",
    }


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
            known=_known_csv,
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
