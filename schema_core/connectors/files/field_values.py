"""Strings in csv and json, converted to values by the rules of Flink's formats.

The source is ``CsvToRowDataConverters``, ``JsonParserToRowDataConverters`` and ``TimeFormats`` of
Flink 2.3. They are stricter than casts for dates and times, and more lenient for BOOLEAN: any
string but ``true`` is FALSE.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import Final

from schema_core import types
from schema_core.spark.compiler import tree as nodes
from schema_core.spark.compiler.functions.casts import convert
from schema_core.spark.compiler.template import inline
from schema_core.spark.compiler.translation import BYTES, CHARACTERS, FLOATS, INTEGERS, sql_type
from schema_core.types.common import MAX_PRECISION

TEXT: Final = types.VarCharType(types.MAX_LENGTH)


class Syntax(Enum):
    """The syntax of the strings of a format."""

    CSV = auto()
    #: json with the timestamp format ``SQL``.
    JSON = auto()
    #: json with the timestamp format ``ISO-8601``.
    JSON_ISO = auto()


#: What Java's ``String.trim`` removes, without control characters in plans.
_BLANKS: Final = r"[\x00-\x20]"
#: Blank strings.
BLANK: Final = rf"\A{_BLANKS}*\z"

_YEAR = r"(?:[0-9]{4}|\+(?!0{0,5}[0-9]{4}-)[0-9]{5,6}|-(?!0+-)[0-9]{4,6})"
_DAY = r"-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])"
_HOUR = r"(?:[01][0-9]|2[0-3])"
_MINUTE = r":[0-5][0-9]"
_FRACTION = r"(?:\.[0-9]{0,9})?"
_MIDNIGHT = r"24:00:00(?:\.0{0,9})?"
_CLOCK = f"(?:{_HOUR}{_MINUTE}{_MINUTE}{_FRACTION}|{_MIDNIGHT})"
_SHORT_CLOCK = f"{_HOUR}{_MINUTE}(?:{_MINUTE}{_FRACTION})?"

#: The strings of a DECIMAL of any precision.
DECIMAL: Final = r"\A[+-]?(?:\p{Nd}+\.?\p{Nd}*|\.\p{Nd}+)(?:[eE][+-]?[0-9]{1,9})?\z"
_ZERO = r"\A[+-]?[0.]+(?:[eE][+-]?[0-9]+)?\z"
_DATE = rf"\A{_YEAR}{_DAY}\z"
#: ``java.sql.Date.valueOf``: no sign, one or two digits of month and day.
_CSV_DATE = r"\A(?!0000|1582-10-(?:0?[5-9]|1[0-4])\z)[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}\z"
_CSV_DAY_BEYOND_MONTH = r"\A(?!1[0-4]|15[0-7]|0)[0-9]{4}-[0-9]{1,2}-(?:29|30|31)\z"
_TIMESTAMP = rf"\A{_YEAR}{_DAY} {_CLOCK}\z"
_ISO_TIMESTAMP = rf"\A{_YEAR}{_DAY}[Tt]{_SHORT_CLOCK}\z"
_INSTANT = rf"\A{_YEAR}{_DAY} {_CLOCK}Z\z"
_ISO_INSTANT = rf"\A{_YEAR}{_DAY}T(?:{_SHORT_CLOCK}|{_MIDNIGHT})Z\z"
_BASE64 = (
    r"\A(?:[A-Za-z0-9+/]{4}[\x00-\x20]*)*"
    r"(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})?\z"
)


def reader_type(type_: types.DataType, syntax: Syntax) -> types.DataType:
    """Return the type as which a reader of the format reads a value.

    Numbers and strings of json are VARIANT where Flink distinguishes them: ``1.9`` is the INT 1,
    ``"1.9"`` is not an INT.
    """
    if syntax is Syntax.CSV:
        return TEXT
    match type_:
        case types.DistinctType(source_type=source):
            return reader_type(source, syntax)
        case types.MultisetType(element_type=element):
            return reader_type(types.MapType(element, types.IntType()), syntax)
        case _ if type_.children():
            return type_.nullable().rebuild(
                tuple(reader_type(child, syntax) for child in type_.children())
            )
    return types.VariantType() if isinstance(type_, _BY_TOKEN) else TEXT


def exact_type(type_: types.DataType) -> types.DataType:
    """Return a type of the same shape as that of `reader_type` whose DECIMALs are DECIMALs.

    `from_json` passes a number through a DOUBLE if it reads it as a string.
    """
    match type_:
        case types.DecimalType(scale=scale):
            return types.DecimalType(MAX_PRECISION, scale)
        case types.DistinctType(source_type=source):
            return exact_type(source)
        case _ if type_.children() and not isinstance(type_, types.MultisetType):
            return type_.nullable().rebuild(tuple(map(exact_type, type_.children())))
    return reader_type(type_, Syntax.JSON)


#: Types whose values Spark reads from json as Flink does, or finds corrupt.
_NATIVE: Final = (
    types.IntType,
    types.BigIntType,
    types.FloatType,
    types.DoubleType,
    types.BooleanType,
    types.DecimalType,
)


def is_native(type_: types.DataType) -> bool:
    """Return whether `native_type` has a value of a type without parts as it is."""
    return isinstance(type_, _NATIVE)


def native_type(type_: types.DataType, syntax: Syntax) -> types.DataType:
    """Return the type as which Spark reads a value of json whose fields all have the right tokens.

    A value with another token makes the object corrupt; `reader_type` reads such objects.
    """
    match type_:
        case types.DistinctType(source_type=source):
            return native_type(source, syntax)
        case types.MultisetType(element_type=element):
            return native_type(types.MapType(element, types.IntType()), syntax)
        case types.DecimalType():
            return exact_type(type_)
        case _ if type_.children():
            return type_.nullable().rebuild(
                tuple(native_type(child, syntax) for child in type_.children())
            )
        case _ if is_native(type_):
            return type_.nullable()
    return reader_type(type_, syntax)


#: Types whose values in json depend on whether they are quoted.
_BY_TOKEN = (
    types.IntType,
    types.BigIntType,
    *BYTES,
    types.YearMonthIntervalType,
    types.DayTimeIntervalType,
)


def token_as_text(node: nodes.Node, type_: types.DataType, syntax: Syntax) -> nodes.Node:
    """Return what the reader read as a string, or NULL for NULL."""
    if isinstance(reader_type(type_, syntax), types.VariantType):
        return nodes.call("nullif", nodes.call("to_json", node), "null")
    return node


def read_value(node: nodes.Node, type_: types.DataType, syntax: Syntax) -> nodes.Node:
    """Return the value of a field, or NULL if it is not of the type.

    As in Flink, a DECIMAL with more digits than its type is NULL, too: see `is_value`.
    """
    if isinstance(reader_type(type_, syntax), types.VariantType):
        return nodes.let(node, lambda value: _read_token(value, type_, syntax))
    return _read_text(node, type_, syntax)


def is_value(text: nodes.Node, type_: types.DataType, syntax: Syntax) -> nodes.Node:
    """Return whether a string is of the type although `read_value` returns NULL."""
    if not isinstance(type_, types.DecimalType):
        return nodes.FALSE
    return nodes.call("rlike", _trim_blanks(text) if syntax is not Syntax.CSV else text, DECIMAL)


def _read_token(value: nodes.Node, type_: types.DataType, syntax: Syntax) -> nodes.Node:
    content = inline("try_variant_get({v}, '$', 'string')", v=value)
    if isinstance(type_, BYTES):
        return inline(
            "if(schema_of_variant({v}) = 'STRING', {read}, NULL)",
            v=value,
            read=_read_text(content, type_, syntax),
        )
    is_long = isinstance(type_, types.BigIntType | types.DayTimeIntervalType)
    name = "BIGINT" if is_long else "INT"
    # Jackson reads a number with a fraction as a double, which must be in the range
    least, most = ("-9.223372036854775808e18", "9.223372036854775807e18")
    if not is_long:
        least, most = "-2147483648", "2147483647"
    return nodes.let(
        nodes.call("to_json", value),
        lambda token: nodes.Case(
            (
                (inline("startswith({t}, '\"')", t=token), nodes.Cast(content, name, safe=True)),
                (nodes.call("rlike", token, r"\A-?[0-9]+\z"), nodes.Cast(token, name, safe=True)),
                (
                    inline(
                        "CAST({t} AS DOUBLE) BETWEEN CAST({least} AS DOUBLE)"
                        " AND CAST({most} AS DOUBLE)",
                        t=token,
                        least=least,
                        most=most,
                    ),
                    nodes.Cast(nodes.Cast(token, "DOUBLE"), name),
                ),
            )
        ),
    )


def _read_text(node: nodes.Node, type_: types.DataType, syntax: Syntax) -> nodes.Node:
    is_csv = syntax is Syntax.CSV
    match type_:
        case _ if isinstance(type_, CHARACTERS):
            return node
        case types.BooleanType():
            return nodes.call("rlike", node, rf"(?i)\A{_BLANKS}*true{_BLANKS}*\z")
        case _ if isinstance(type_, INTEGERS):
            return nodes.Cast(node, sql_type(type_), safe=True)
        case _ if isinstance(type_, FLOATS):
            return nodes.let(_trim_blanks(node), lambda text: _read_float(text, sql_type(type_)))
        case types.DecimalType():
            text = node if is_csv else _trim_blanks(node)
            return nodes.let(text, lambda text: _read_decimal(text, sql_type(type_)))
        case _ if isinstance(type_, BYTES):
            # base64 with its padding; blanks may be between groups of four characters
            return nodes.let(
                _trim_blanks(node),
                lambda text: inline(
                    "if(rlike({t}, {pattern}), unbase64({t}), NULL)", t=text, pattern=_BASE64
                ),
            )
        case types.DateType():
            return nodes.let(node, _read_csv_date if is_csv else _read_date)
        case types.TimeType():
            return nodes.let(node, lambda text: _read_time(text, type_, syntax))
        case types.AnyTimestampType():
            return nodes.let(
                _trim_blanks(node) if is_csv else node,
                lambda text: _read_timestamp(text, type_, syntax),
            )
        case _:
            return convert(node, TEXT, type_, try_=True)


def _trim_blanks(node: nodes.Node) -> nodes.Node:
    return nodes.call("regexp_replace", node, rf"\A{_BLANKS}+|{_BLANKS}+\z", "")


def _read_float(text: nodes.Node, name: str) -> nodes.Node:
    """Read a number with a fraction; Spark also accepts ``nan`` and ``inf`` in any case."""
    return inline(
        "if(contains(lower({t}), 'n') AND NOT rlike({t}, {words}), NULL, {cast})",
        t=text,
        words=r"\A[+-]?(?:NaN|Infinity)\z",
        cast=inline(
            "if(endswith({t}, 'NaN'), CAST('NaN' AS {type}), {cast})",
            t=text,
            type=name,
            cast=nodes.Cast(text, name, safe=True),
        ),
    )


def _read_decimal(text: nodes.Node, name: str) -> nodes.Node:
    return inline(
        "if(rlike({t}, {pattern}), coalesce({cast}, if(rlike({t}, {zero}), {none}, NULL)), NULL)",
        t=text,
        pattern=DECIMAL,
        cast=nodes.Cast(text, name),
        zero=_ZERO,
        none=inline("CAST(0 AS {type})", type=name),
    )


def _read_date(text: nodes.Node) -> nodes.Node:
    return inline("if(rlike({t}, {pattern}), try_cast({t} AS DATE), NULL)", t=text, pattern=_DATE)


def _read_csv_date(text: nodes.Node) -> nodes.Node:
    """Read a date as ``java.sql.Date``: its day may be beyond the end of the month.

    This holds for years of the Gregorian calendar.
    """
    return inline(
        "CASE WHEN NOT rlike({t}, {pattern}) THEN NULL WHEN rlike({t}, {beyond})"
        " THEN date_add(try_cast(concat(substring_index({t}, '-', 2), '-01') AS DATE),"
        " CAST(substring_index({t}, '-', -1) AS INT) - 1) ELSE try_cast({t} AS DATE) END",
        t=text,
        pattern=_CSV_DATE,
        beyond=_CSV_DAY_BEYOND_MONTH,
    )


def _read_time(text: nodes.Node, type_: types.TimeType, syntax: Syntax) -> nodes.Node:
    """Read a time; digits after milliseconds are zero."""
    pattern = rf"\A{_SHORT_CLOCK if syntax is Syntax.CSV else _CLOCK}\z"
    return nodes.let(
        _to_digits(
            inline("if(startswith({t}, '24'), '00:00:00', {t})", t=text), min(type_.precision, 3)
        ),
        lambda clock: inline(
            "if(rlike({t}, {pattern}), {value}, NULL)",
            t=text,
            pattern=pattern,
            value=convert(clock, TEXT, type_, try_=True),
        ),
    )


def _to_digits(text: nodes.Node, digits: int) -> nodes.Node:
    pattern = rf"\.([0-9]{{0,{digits}}})[0-9]*" if digits else r"\.[0-9]*"
    kept = nodes.call("regexp_replace", text, pattern, ".$1" if digits else "")
    return inline("if(contains({t}, '.'), rtrim('.', {kept}), {t})", t=text, kept=kept)


def _read_timestamp(text: nodes.Node, type_: types.AnyTimestampType, syntax: Syntax) -> nodes.Node:
    """Read a timestamp; a day beyond the end of the month is its last, and 24:00 the next day.

    ISO-8601 without a time zone is strict.
    """
    is_instant, is_iso = isinstance(type_, types.LocalZonedTimestampType), syntax is Syntax.JSON_ISO
    pattern = {
        (False, False): _TIMESTAMP,
        (False, True): _ISO_TIMESTAMP,
        (True, False): _INSTANT,
        (True, True): _ISO_INSTANT,
    }[is_instant, is_iso]
    plain = nodes.call("rtrim", "Z", text) if is_instant else text
    if is_iso:
        plain = nodes.call("translate", plain, "Tt", "  ")
        plain = nodes.call("regexp_replace", plain, r"( [0-9]{2}:[0-9]{2})\z", "$1:00")

    # without a bound value within a branch, which Spark would interpret
    return nodes.let(
        nodes.call("rtrim", ".", plain),
        lambda plain: inline(
            "if(rlike({t}, {pattern}) AND {is_day}, {value}, NULL)",
            t=text,
            pattern=pattern,
            is_day=inline("try_cast(substring_index({t}, ' ', 1) AS DATE) IS NOT NULL", t=plain)
            if is_iso and not is_instant
            else nodes.TRUE,
            value=convert(plain, TEXT, type_, try_=True),
        ),
    )
