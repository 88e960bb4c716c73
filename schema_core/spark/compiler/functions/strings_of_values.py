"""Values as texts, as Flink's cast to STRING prints them."""

from __future__ import annotations

from schema_core.spark.compiler.functions import datetimes
from schema_core.spark.compiler.sql_builder import (
    ELEMENT,
    FLOATS,
    INTEGERS,
    bind,
    null_or,
    quote,
    unsupported,
)
from schema_core.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    CharType,
    DataType,
    DateType,
    DayTimeIntervalType,
    DecimalType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    NullType,
    RowType,
    StructuredType,
    TimestampType,
    TimeType,
    VarBinaryType,
    VarCharType,
    YearMonthIntervalType,
)


def printed(text: str, source: DataType, zone: str) -> str:
    """A value as Flink's cast to STRING prints it.

    Raises:
        UnsupportedError: with code `not-executable` for a type without such a form here.
    """
    match source:
        case CharType() | VarCharType():
            return text
        case BooleanType():
            return f"upper(CAST({text} AS STRING))"
        case DecimalType():
            return f"try_cast({text} AS STRING)"
        case BinaryType() | VarBinaryType():
            return f"make_valid_utf8(CAST({text} AS STRING))"
        case DateType():
            return f"CAST({text} AS STRING)"
        case NullType():
            return "CAST(NULL AS STRING)"
        case TimeType() | TimestampType() | LocalZonedTimestampType():
            return datetimes.printed(text, source, zone)
        case YearMonthIntervalType() | DayTimeIntervalType():
            return datetimes.printed_interval(text, source)
        case ArrayType():
            return bind(text, lambda v: _listed("[", v, source.element_type, zone, "]"))
        case MapType() | MultisetType():
            return bind(text, lambda v: _printed_map(v, source, zone))
        case RowType() | StructuredType():
            return bind(text, lambda v: _printed_row(v, source, zone))
        case _ if isinstance(source, (*INTEGERS, *FLOATS)):
            return f"CAST({text} AS STRING)"
        case _:
            raise unsupported(f"{source.as_summary_string()} has no text here")


def _or_null(text: str, source: DataType, zone: str) -> str:
    return f"coalesce({printed(text, source, zone)}, 'NULL')"


def _listed(opening: str, text: str, element: DataType, zone: str, closing: str) -> str:
    each = f"transform({text}, {ELEMENT} -> {_or_null(ELEMENT, element, zone)})"
    return f"concat('{opening}', array_join({each}, ', '), '{closing}')"


def _printed_map(text: str, source: MapType | MultisetType, zone: str) -> str:
    key, *values = source.children()
    count = f"CAST({ELEMENT}.`value` AS STRING)"
    value = _or_null(f"{ELEMENT}.`value`", values[0], zone) if values else count
    entry = f"concat({_or_null(f'{ELEMENT}.`key`', key, zone)}, '=', {value})"
    entries = f"transform(map_entries({text}), {ELEMENT} -> {entry})"
    return f"concat('{{', array_join({entries}, ', '), '}}')"


def _printed_row(text: str, source: RowType | StructuredType, zone: str) -> str:
    fields = [_or_null(f"{text}.{quote(one.name)}", one.data_type, zone) for one in source.fields]
    inner = ", ', ', ".join(fields) or "''"
    return null_or(f"{text} IS NULL", f"concat('(', {inner}, ')')")
