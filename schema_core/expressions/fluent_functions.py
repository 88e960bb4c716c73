"""Functions of expressions, under the names of PyFlink's module `expressions`.

What only the Table API's windows are made of (``UNBOUNDED_ROW`` and its kin) is said in SQL behind
OVER; `items` has what stands for several columns.
"""

from __future__ import annotations

from functools import reduce

from schema_core.errors import SchemaError
from schema_core.expressions.fluent import Expression, apply, lit
from schema_core.expressions.fluent_base import Value, a_text, written
from schema_core.expressions.fluent_words import JsonOnNull, TimePointUnit, word
from schema_core.sql.syntax import Call, Name, Symbol
from schema_core.text import show
from schema_core.types import DataType


def _given(*arguments: Value) -> tuple[Value, ...]:
    """The arguments that are not left out."""
    return tuple(one for one in arguments if one is not None)


# --- choices and constructors ---------------------------------------------------------------------


def and_(predicate0: Value, predicate1: Value, *predicates: Value) -> Expression:
    """Whether all of these are true."""
    return _chain("AND", (predicate0, predicate1, *predicates))


def or_(predicate0: Value, predicate1: Value, *predicates: Value) -> Expression:
    """Whether one of these is true."""
    return _chain("OR", (predicate0, predicate1, *predicates))


def _chain(name: str, operands: tuple[Value, ...]) -> Expression:
    trees = map(written, operands)
    return Expression(reduce(lambda left, right: Call(name, (left, right)), trees))


def not_(expression: Value) -> Expression:
    """SQL's NOT: unknown where the expression is.

    >>> from schema_core.expressions import col
    >>> print(not_(col("a") == 1))
    NOT `a` = 1
    """
    return apply("NOT", expression)


def negative(v: Value) -> Expression:
    """The number with the other sign."""
    return apply("-x", v)


def if_then_else(condition: Value, if_true: Value, if_false: Value) -> Expression:
    """The one value where the condition is true, else the other."""
    return apply("CASE", condition, if_true, if_false)


def null_of(data_type: DataType) -> Expression:
    """NULL of a type."""
    return lit(None, data_type)


def row(head: Value, *tail: Value) -> Expression:
    """A row of values."""
    return apply("ROW", head, *tail)


def array(head: Value, *tail: Value) -> Expression:
    """An array of values."""
    return apply("ARRAY", head, *tail)


def map_(key: Value, value: Value, *tail: Value) -> Expression:
    """A map of keys and values in turn."""
    return apply("MAP", key, value, *tail)


def descriptor(*column_names: str) -> Expression:
    """Names of columns, for a function that asks for them.

    >>> print(descriptor("a", "b"))
    DESCRIPTOR(`a`, `b`)
    """
    names = tuple(Name((a_text(one, "the name of a column"),)) for one in column_names)
    return Expression(Call("DESCRIPTOR", names))


# --- numbers and texts ----------------------------------------------------------------------------


def pi() -> Expression:
    """The number pi."""
    return apply("PI")


def e() -> Expression:
    """The base of the natural logarithm."""
    return apply("E")


def log(v: Value, base: Value = None) -> Expression:
    """The logarithm, natural or to a base."""
    return apply("LOG", *_given(base), v)


def atan2(y: Value, x: Value) -> Expression:
    """The angle of a point."""
    return apply("ATAN2", y, x)


def rand(seed: Value = None) -> Expression:
    """A number from 0 up to 1, another for every row."""
    return apply("RAND", *_given(seed))


def rand_integer(bound: Value, seed: Value = None) -> Expression:
    """A whole number from 0 up to the bound, another for every row."""
    return apply("RAND_INTEGER", *_given(seed), bound)


def concat(first: Value, *others: Value) -> Expression:
    """The texts one behind the other."""
    return apply("CONCAT", first, *others)


def concat_ws(separator: Value, first: Value, *others: Value) -> Expression:
    """The texts one behind the other, with a separator between them."""
    return apply("CONCAT_WS", separator, first, *others)


def uuid() -> Expression:
    """A text that is there once, another for every row."""
    return apply("UUID")


# --- dates and times ------------------------------------------------------------------------------


def current_date() -> Expression:
    """The date of today."""
    return apply("CURRENT_DATE")


def current_time() -> Expression:
    """The time of day."""
    return apply("CURRENT_TIME")


def current_timestamp() -> Expression:
    """The present moment."""
    return apply("CURRENT_TIMESTAMP")


def local_time() -> Expression:
    """The time of day in the zone of the session."""
    return apply("LOCALTIME")


def local_timestamp() -> Expression:
    """The present moment as a clock in the zone of the session shows it."""
    return apply("LOCALTIMESTAMP")


def current_watermark(rowtimeAttribute: Value) -> Expression:  # noqa: N803 - PyFlink's name
    """The watermark of a column of event time, NULL before the first one."""
    return apply("CURRENT_WATERMARK", rowtimeAttribute)


def source_watermark() -> Expression:
    """The watermark that the source of a table gives."""
    return apply("SOURCE_WATERMARK")


def to_date(date_str: Value, format: Value = None) -> Expression:  # noqa: A002 - PyFlink's name
    """The date that a text says."""
    return apply("TO_DATE", date_str, *_given(format))


def to_timestamp(timestamp_str: Value, format: Value = None) -> Expression:  # noqa: A002
    """The timestamp that a text says."""
    return apply("TO_TIMESTAMP", timestamp_str, *_given(format))


def to_timestamp_ltz(*args: Value) -> Expression:
    """The moment that a number or a text says."""
    return apply("TO_TIMESTAMP_LTZ", *args)


def date_format(timestamp: Value, format: Value) -> Expression:  # noqa: A002
    """A timestamp as text by a pattern."""
    return apply("DATE_FORMAT", timestamp, format)


def convert_tz(date_str: Value, tz_from: Value, tz_to: Value) -> Expression:
    """A moment of one zone as the clocks of another show it."""
    return apply("CONVERT_TZ", date_str, tz_from, tz_to)


def from_unixtime(unixtime: Value, format: Value = None) -> Expression:  # noqa: A002
    """Seconds since 1970 as text."""
    return apply("FROM_UNIXTIME", unixtime, *_given(format))


def unix_timestamp(date_str: Value = None, format: Value = None) -> Expression:  # noqa: A002
    """Seconds since 1970, of now or of what a text says."""
    return apply("UNIX_TIMESTAMP", *_given(date_str, format))


def timestamp_diff(
    time_point_unit: TimePointUnit | str, time_point1: Value, time_point2: Value
) -> Expression:
    """How many units lie between two moments."""
    points = (written(time_point1), written(time_point2))
    unit = Symbol(word(time_point_unit, TimePointUnit))
    return Expression(Call("TIMESTAMPDIFF", (unit, *points)))


def temporal_overlaps(
    left_time_point: Value, left_temporal: Value, right_time_point: Value, right_temporal: Value
) -> Expression:
    """Whether two periods overlap, each from a moment to another or for an interval.

    >>> from schema_core.expressions import col
    >>> print(temporal_overlaps(col("a"), col("b"), col("c"), col("d")))
    PERIOD (`a`, `b`) OVERLAPS PERIOD (`c`, `d`)
    """
    left = apply("ROW", left_time_point, left_temporal)
    return apply("OVERLAPS", left, apply("ROW", right_time_point, right_temporal))


def current_database() -> Expression:
    """The name of the current database."""
    return apply("CURRENT_DATABASE")


def row_interval(rows: int) -> Expression:
    """Refused: a number of rows is only said in the window of a query.

    Raises:
        SchemaError: with code `not-an-expression`.
    """
    raise SchemaError(
        f"an interval of {show(rows)} rows is not a value",
        code="not-an-expression",
        hint="write ROWS and the number after OVER, as in ROWS 2 PRECEDING",
    )


# --- JSON -----------------------------------------------------------------------------------------


def json(value: Value) -> Expression:
    """A text of JSON as it stands, for JSON that is made."""
    return apply("JSON", value)


def json_string(value: Value) -> Expression:
    """A value as a text of JSON."""
    return apply("JSON_STRING", value)


def json_object(on_null: JsonOnNull = JsonOnNull.NULL, *args: Value) -> Expression:
    """An object of keys and values in turn.

    >>> from schema_core.expressions import col
    >>> print(json_object(JsonOnNull.ABSENT, "k", col("a")))
    JSON_OBJECT(KEY 'k' VALUE `a` ABSENT ON NULL)
    """
    return _json("JSON_OBJECT", on_null, *args)


def json_array(on_null: JsonOnNull = JsonOnNull.ABSENT, *args: Value) -> Expression:
    """An array of values."""
    return _json("JSON_ARRAY", on_null, *args)


def json_object_agg(on_null: JsonOnNull, key_expr: Value, value_expr: Value) -> Expression:
    """An object of the keys and values of all rows."""
    return _json("JSON_OBJECTAGG", on_null, key_expr, value_expr)


def json_array_agg(on_null: JsonOnNull, item_expr: Value) -> Expression:
    """An array of the values of all rows."""
    return _json("JSON_ARRAYAGG", on_null, item_expr)


def _json(name: str, on_null: JsonOnNull, *args: Value) -> Expression:
    return Expression(Call(name, (Symbol(word(on_null, JsonOnNull)), *map(written, args))))
