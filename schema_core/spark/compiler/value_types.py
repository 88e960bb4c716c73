"""Kinds of Flink types, and the Spark type that holds a value of each within an expression."""

from __future__ import annotations

from schema_core import types
from schema_core.spark.compiler.printer import quote
from schema_core.spark.compiler.tree import unsupported_error

INTEGERS = (types.TinyIntType, types.SmallIntType, types.IntType, types.BigIntType)
FLOATS = (types.FloatType, types.DoubleType)
NUMBERS = (*INTEGERS, *FLOATS, types.DecimalType)
CHARACTERS = (types.CharType, types.VarCharType)
BYTES = (types.BinaryType, types.VarBinaryType)
INTERVALS = (types.YearMonthIntervalType, types.DayTimeIntervalType)

#: Digits that an integer of a type needs as a DECIMAL.
DIGITS: dict[type[types.DataType], int] = {
    types.TinyIntType: 3,
    types.SmallIntType: 5,
    types.IntType: 10,
    types.BigIntType: 19,
}

#: Spark stores microseconds.
MAX_PRECISION = 6

#: The fields of a timestamp with more digits: Spark's timestamp and the nanoseconds beyond it.
MICROS, NANOS = "micros", "nanos"

_NAMES: dict[type[types.DataType], str] = {
    types.NullType: "VOID",
    types.BooleanType: "BOOLEAN",
    types.TinyIntType: "TINYINT",
    types.SmallIntType: "SMALLINT",
    types.IntType: "INT",
    types.BigIntType: "BIGINT",
    types.FloatType: "FLOAT",
    types.DoubleType: "DOUBLE",
    types.CharType: "STRING",
    types.VarCharType: "STRING",
    types.BinaryType: "BINARY",
    types.VarBinaryType: "BINARY",
    types.DateType: "DATE",
    types.LocalZonedTimestampType: "TIMESTAMP",
    types.TimestampType: "TIMESTAMP_NTZ",
    types.YearMonthIntervalType: "INT",
    types.DayTimeIntervalType: "BIGINT",
    types.VariantType: "VARIANT",
}


def is_fine(type_: types.DataType) -> bool:
    """Return whether a timestamp has fractional digits that Spark does not store."""
    return isinstance(type_, types.AnyTimestampType) and type_.precision > MAX_PRECISION


def truncated_to_micros(type_: types.DataType) -> types.DataType:
    """Return the type of a timestamp without nanoseconds; other types unchanged."""
    match type_:
        case types.TimestampType():
            return types.TimestampType(min(type_.precision, MAX_PRECISION))
        case types.LocalZonedTimestampType():
            return types.LocalZonedTimestampType(min(type_.precision, MAX_PRECISION))
        case _:
            return type_


def digits_of(type_: types.DataType) -> tuple[int, int]:
    """Return precision and scale of a DECIMAL, or of an integer as one."""
    if isinstance(type_, types.DecimalType):
        return type_.precision, type_.scale
    return DIGITS[type(type_)], 0


def is_orderable(type_: types.DataType) -> bool:
    """Return whether Spark sorts, groups and compares values of a type.

    >>> from schema_core.types import parse_type
    >>> is_orderable(parse_type("ARRAY<INT>")), is_orderable(parse_type("ROW<a MAP<INT, INT>>"))
    (True, False)
    """
    return not any(
        isinstance(part, types.MapType | types.MultisetType | types.VariantType)
        for part in type_.walk()
    )


def require_orderable(type_: types.DataType, clause: str) -> None:
    """Refuse a clause that sorts or compares values which Spark does not sort.

    Raises:
        UnsupportedError: with code `not-executable`.
    """
    if not is_orderable(type_):
        raise unsupported_error(
            f"{clause} of {type_.as_summary_string()} is not supported on Spark"
        )


def sql_type(type_: types.DataType) -> str:
    """Return the Spark type that holds a value within an expression; intervals are numbers.

    Raises:
        UnsupportedError: with code `not-executable` where there is none.

    >>> from schema_core.types import parse_type
    >>> sql_type(parse_type("ROW<a CHAR(3), b ARRAY<DECIMAL(4, 2)>>"))
    'STRUCT<`a`: STRING, `b`: ARRAY<DECIMAL(4, 2)>>'
    """
    match type_:
        case types.DecimalType():
            return f"DECIMAL({type_.precision}, {type_.scale})"
        case types.TimeType():
            return f"TIME({type_.precision})"
        case types.AnyTimestampType() if is_fine(type_):
            return f"STRUCT<{MICROS}: {_NAMES[type(type_)]}, {NANOS}: SMALLINT>"
        case types.ArrayType():
            return f"ARRAY<{_part(type_.element_type)}>"
        case types.MapType():
            return f"MAP<{_key(type_.key_type)}, {_part(type_.value_type)}>"
        case types.MultisetType():
            return f"MAP<{_key(type_.element_type)}, INT>"
        case types.RowType() | types.StructuredType():
            fields = (f"{quote(field.name)}: {_part(field.data_type)}" for field in type_.fields)
            return f"STRUCT<{', '.join(fields)}>"
        case _:
            if name := _NAMES.get(type(type_)):
                return name
            raise unsupported_error(f"Spark has no values of type {type_.as_summary_string()}")


def _key(type_: types.DataType) -> str:
    """Return the Spark type of the keys of a map, or of the elements of a multiset."""
    if not is_orderable(type_):
        raise unsupported_error(
            f"Spark has no maps with keys, and no multisets, of {type_.as_summary_string()}"
        )
    return _part(type_)


def _part(type_: types.DataType) -> str:
    """Return the Spark type of a part of a nested value, in which timestamps have microseconds."""
    return sql_type(truncated_to_micros(type_))
