"""Casts of values to STRING, in the format of Flink."""

from __future__ import annotations

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
    unsupported,
)
from schema_core.spark.compiler.value_types import FLOATS, INTEGERS
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


def printed(node: Node, source: DataType, zone: str) -> Node:
    """Return a value as Flink's cast to STRING prints it.

    Raises:
        UnsupportedError: with code `not-executable` for a type that has no such string here.
    """
    match source:
        case CharType() | VarCharType():
            return node
        case BooleanType():
            return call("upper", Cast(node, "STRING"))
        case DecimalType():
            return Cast(node, "STRING", safe=True)
        case BinaryType() | VarBinaryType():
            return call("make_valid_utf8", Cast(node, "STRING"))
        case DateType():
            return Cast(node, "STRING")
        case NullType():
            return Cast(Literal(None), "STRING")
        case TimeType() | TimestampType() | LocalZonedTimestampType():
            return datetimes.printed(node, source, zone)
        case YearMonthIntervalType() | DayTimeIntervalType():
            return datetimes.printed_interval(node, source)
        case ArrayType():
            return _joined("[", call("transform", node, _each(source.element_type, zone)), "]")
        case MapType() | MultisetType():
            return _printed_map(node, source, zone)
        case RowType() | StructuredType():
            return let(node, lambda v: _printed_row(v, source, zone))
        case _ if isinstance(source, (*INTEGERS, *FLOATS)):
            return Cast(node, "STRING")
        case _:
            raise unsupported(f"{source.as_summary_string()} cannot be cast to a string on Spark")


def _or_null(node: Node, source: DataType, zone: str) -> Node:
    return call("coalesce", printed(node, source, zone), "NULL")


def _each(element: DataType, zone: str) -> Node:
    return function(lambda one: _or_null(one, element, zone))


def _joined(opening: str, strings: Node, closing: str) -> Node:
    return call("concat", opening, call("array_join", strings, ", "), closing)


def _printed_map(node: Node, source: MapType | MultisetType, zone: str) -> Node:
    key, *values = source.children()

    def entry(one: Node) -> Node:
        value = Field(one, "value")
        shown = _or_null(value, values[0], zone) if values else Cast(value, "STRING")
        return call("concat", _or_null(Field(one, "key"), key, zone), "=", shown)

    return _joined("{", call("transform", call("map_entries", node), function(entry)), "}")


def _printed_row(node: Node, source: RowType | StructuredType, zone: str) -> Node:
    parts: list[Node | str] = []
    for field in source.fields:
        parts += [", "] if parts else []
        parts += [f"{field.name}="] if isinstance(source, StructuredType) else []
        parts.append(_or_null(Field(node, field.name), field.data_type, zone))
    return null_or(is_null(node), call("concat", "(", *parts, ")"))
