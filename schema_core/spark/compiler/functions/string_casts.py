"""Casts of values to STRING, in the format of Flink."""

from __future__ import annotations

from schema_core import types
from schema_core.spark.compiler import tree as nodes
from schema_core.spark.compiler.functions.temporal import datetimes
from schema_core.spark.compiler.value_types import FLOATS, INTEGERS


def cast_to_string(node: nodes.Node, source: types.DataType, zone: str) -> nodes.Node:
    """Return a value as Flink's cast to STRING prints it.

    Raises:
        UnsupportedError: with code `not-executable` for a type that has no such string here.
    """
    match source:
        case types.CharType() | types.VarCharType():
            return node
        case types.BooleanType():
            return nodes.call("upper", nodes.Cast(node, "STRING"))
        case types.DecimalType():
            return nodes.Cast(node, "STRING", safe=True)
        case types.BinaryType() | types.VarBinaryType():
            return nodes.call("make_valid_utf8", nodes.Cast(node, "STRING"))
        case types.DateType():
            return nodes.Cast(node, "STRING")
        case types.NullType():
            return nodes.Cast(nodes.Literal(None), "STRING")
        case types.TimeType() | types.TimestampType() | types.LocalZonedTimestampType():
            return datetimes.format_datetime(node, source, zone)
        case types.YearMonthIntervalType() | types.DayTimeIntervalType():
            return datetimes.printed_interval(node, source)
        case types.ArrayType():
            return _join_in_brackets(
                "[", nodes.call("transform", node, _each(source.element_type, zone)), "]"
            )
        case types.MapType() | types.MultisetType():
            return _printed_map(node, source, zone)
        case types.RowType() | types.StructuredType():
            return nodes.let(node, lambda v: _printed_row(v, source, zone))
        case _ if isinstance(source, (*INTEGERS, *FLOATS)):
            return nodes.Cast(node, "STRING")
        case _:
            raise nodes.unsupported_error(
                f"{source.as_summary_string()} cannot be cast to a string on Spark"
            )


def _or_null(node: nodes.Node, source: types.DataType, zone: str) -> nodes.Node:
    return nodes.call("coalesce", cast_to_string(node, source, zone), "NULL")


def _each(element: types.DataType, zone: str) -> nodes.Node:
    return nodes.function(lambda item: _or_null(item, element, zone))


def _join_in_brackets(opening: str, strings: nodes.Node, closing: str) -> nodes.Node:
    return nodes.call("concat", opening, nodes.call("array_join", strings, ", "), closing)


def _printed_map(
    node: nodes.Node, source: types.MapType | types.MultisetType, zone: str
) -> nodes.Node:
    key, *values = source.children()

    def entry(one: nodes.Node) -> nodes.Node:
        value = nodes.Field(one, "value")
        shown = _or_null(value, values[0], zone) if values else nodes.Cast(value, "STRING")
        return nodes.call("concat", _or_null(nodes.Field(one, "key"), key, zone), "=", shown)

    return _join_in_brackets(
        "{", nodes.call("transform", nodes.call("map_entries", node), nodes.function(entry)), "}"
    )


def _printed_row(
    node: nodes.Node, source: types.RowType | types.StructuredType, zone: str
) -> nodes.Node:
    parts: list[nodes.Node | str] = []
    for field in source.fields:
        parts += [", "] if parts else []
        parts += [f"{field.name}="] if isinstance(source, types.StructuredType) else []
        parts.append(_or_null(nodes.Field(node, field.name), field.data_type, zone))
    return nodes.null_or(nodes.is_null(node), nodes.call("concat", "(", *parts, ")"))
