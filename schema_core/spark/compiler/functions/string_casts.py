"""Casts of values to STRING, in the format of Flink."""

from __future__ import annotations

from schema_core import types
from schema_core.spark.compiler.functions.temporal import datetimes
from schema_core.spark.compiler.tree import (
    Cast,
    Field,
    Literal,
    Node,
    call,
    function,
    is_null,
    let,
    null_or,
    unsupported_error,
)
from schema_core.spark.compiler.value_types import FLOATS, INTEGERS


def cast_to_string(node: Node, source: types.DataType, zone: str) -> Node:
    """Return a value as Flink's cast to STRING prints it.

    Raises:
        UnsupportedError: with code `not-executable` for a type that has no such string here.
    """
    match source:
        case types.CharType() | types.VarCharType():
            return node
        case types.BooleanType():
            return call("upper", Cast(node, "STRING"))
        case types.DecimalType():
            return Cast(node, "STRING", safe=True)
        case types.BinaryType() | types.VarBinaryType():
            return call("make_valid_utf8", Cast(node, "STRING"))
        case types.DateType():
            return Cast(node, "STRING")
        case types.NullType():
            return Cast(Literal(None), "STRING")
        case types.TimeType() | types.TimestampType() | types.LocalZonedTimestampType():
            return datetimes.format_datetime(node, source, zone)
        case types.YearMonthIntervalType() | types.DayTimeIntervalType():
            return datetimes.printed_interval(node, source)
        case types.ArrayType():
            return _join_in_brackets(
                "[", call("transform", node, _each(source.element_type, zone)), "]"
            )
        case types.MapType() | types.MultisetType():
            return _printed_map(node, source, zone)
        case types.RowType() | types.StructuredType():
            return let(node, lambda v: _printed_row(v, source, zone))
        case _ if isinstance(source, (*INTEGERS, *FLOATS)):
            return Cast(node, "STRING")
        case _:
            raise unsupported_error(
                f"{source.as_summary_string()} cannot be cast to a string on Spark"
            )


def _or_null(node: Node, source: types.DataType, zone: str) -> Node:
    return call("coalesce", cast_to_string(node, source, zone), "NULL")


def _each(element: types.DataType, zone: str) -> Node:
    return function(lambda item: _or_null(item, element, zone))


def _join_in_brackets(opening: str, strings: Node, closing: str) -> Node:
    return call("concat", opening, call("array_join", strings, ", "), closing)


def _printed_map(node: Node, source: types.MapType | types.MultisetType, zone: str) -> Node:
    key, *values = source.children()

    def entry(one: Node) -> Node:
        value = Field(one, "value")
        shown = _or_null(value, values[0], zone) if values else Cast(value, "STRING")
        return call("concat", _or_null(Field(one, "key"), key, zone), "=", shown)

    return _join_in_brackets(
        "{", call("transform", call("map_entries", node), function(entry)), "}"
    )


def _printed_row(node: Node, source: types.RowType | types.StructuredType, zone: str) -> Node:
    parts: list[Node | str] = []
    for field in source.fields:
        parts += [", "] if parts else []
        parts += [f"{field.name}="] if isinstance(source, types.StructuredType) else []
        parts.append(_or_null(Field(node, field.name), field.data_type, zone))
    return null_or(is_null(node), call("concat", "(", *parts, ")"))
