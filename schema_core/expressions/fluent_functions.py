"""The functions of PyFlink's module `expressions`.

Functions over one expression are methods of `Expression`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce

from schema_core.base.arguments import require_instance
from schema_core.base.lazy import dataclass
from schema_core.base.paths import split_names
from schema_core.base.text import show
from schema_core.errors import SchemaError, similar
from schema_core.expressions.fluent import (
    NAMED_FIELDS,
    Expression,
    JsonOnNull,
    SelectedColumns,
    TimePointUnit,
    Value,
    function_call,
    keyword,
    present,
    to_tree,
)
from schema_core.expressions.literals import literal
from schema_core.sql.parser import parse_expression
from schema_core.sql.syntax import Call, Name, Symbol
from schema_core.types import DataType, DataTypes

# --- columns, literals, calls ---------------------------------------------------------------------


def col(name: str) -> Expression:
    """A column by its exact name.

    Raises:
        SchemaError: with code `invalid-argument` for a name that is not a string.

    >>> print(col("price") * col("qty") + 1)
    `price` * `qty` + 1
    """
    return Expression(Name((require_instance(name, str, "the name of a column"),)))


def lit(v: object, data_type: DataType | None = None) -> Expression:
    """The literal for a Python value, possibly cast to a type.

    Raises:
        SchemaError: with code `not-in-sql` for a value without a literal.

    >>> from schema_core.types import DataTypes
    >>> print(lit("it's"), lit(None, DataTypes.INT()))
    'it''s' CAST(NULL AS INTEGER)
    """
    plain = Expression(literal(v))
    return plain if data_type is None else plain.cast(data_type)


def call(f: str | Callable[..., Expression], *args: Value) -> Expression:
    """The call of a function, given by its path or as a Python function.

    Names with dots within a path are quoted with backticks.

    >>> print(call("upper", col("a")))
    UPPER(`a`)
    """
    if callable(f):
        return f(*args)
    path = split_names(require_instance(f, str, "the name of a function"))
    name = path[-1].upper()
    symbol = NAMED_FIELDS if name == "ROW" and len(path) == 1 else None
    return Expression(Call(name, tuple(map(to_tree, args)), path if len(path) > 1 else (), symbol))


def call_sql(sql_expression: str) -> Expression:
    """The expression of a SQL string; a schema stores the string itself.

    Raises:
        ParseError: for a string that is not an expression.

    >>> print(call_sql("a + 1") * 2)
    (`a` + 1) * 2
    """
    text = require_instance(sql_expression, str, "sql_expression")
    return Expression(parse_expression(text), text)


# --- conditions and constructors ------------------------------------------------------------------


def and_(predicate0: Value, predicate1: Value, *predicates: Value) -> Expression:
    """Whether all predicates are true."""
    return _left_deep("AND", (predicate0, predicate1, *predicates))


def or_(predicate0: Value, predicate1: Value, *predicates: Value) -> Expression:
    """Whether one of the predicates is true."""
    return _left_deep("OR", (predicate0, predicate1, *predicates))


def _left_deep(name: str, operands: tuple[Value, ...]) -> Expression:
    trees = map(to_tree, operands)
    return Expression(reduce(lambda left, right: Call(name, (left, right)), trees))


def not_(expression: Value) -> Expression:
    """NOT of SQL, NULL for NULL; ``~`` is TRUE then.

    >>> from schema_core.expressions import col
    >>> print(not_(col("a") == 1))
    NOT `a` = 1
    """
    return function_call("NOT", expression)


def negative(v: Value) -> Expression:
    """The negated number."""
    return function_call("-x", v)


def if_then_else(condition: Value, if_true: Value, if_false: Value) -> Expression:
    """The first value if the condition is true, else the second."""
    return function_call("CASE", condition, if_true, if_false)


def null_of(data_type: DataType) -> Expression:
    """NULL of a type."""
    return lit(None, data_type)


def row(head: Value, *tail: Value) -> Expression:
    """A row of values in fields ``f0``, ``f1`` and so on."""
    return Expression(Call("ROW", tuple(map(to_tree, (head, *tail))), symbol=NAMED_FIELDS))


def array(head: Value, *tail: Value) -> Expression:
    """An array of values."""
    return function_call("ARRAY", head, *tail)


def map_(key: Value, value: Value, *tail: Value) -> Expression:
    """A map of alternating keys and values."""
    return function_call("MAP", key, value, *tail)


def map_from_arrays(key: Value, value: Value) -> Expression:
    """The map of an array of keys and an array of values."""
    return function_call("MAP_FROM_ARRAYS", key, value)


def object_of(class_name: str, *args: Value) -> Expression:
    """An object of a structured type: its class name, then names and values in turn.

    >>> print(object_of("com.acme.User", "id", col("id")))
    OBJECT_OF('com.acme.User', 'id', `id`)
    """
    name = require_instance(class_name, str, "class_name")
    return function_call("OBJECT_OF", name, *args)


def coalesce(*args: Value) -> Expression:
    """The first argument that is not NULL."""
    return function_call("COALESCE", *args)


def descriptor(*column_names: str) -> Expression:
    """A descriptor: a list of column names as an argument.

    >>> print(descriptor("a", "b"))
    DESCRIPTOR(`a`, `b`)
    """
    return function_call("DESCRIPTOR", *map(col, column_names))


# --- numbers and strings --------------------------------------------------------------------------


def pi() -> Expression:
    """The constant pi."""
    return function_call("PI")


def e() -> Expression:
    """The base of the natural logarithm."""
    return function_call("E")


def log(v: Value, base: Value = None) -> Expression:
    """The logarithm to a base, by default the natural one."""
    return function_call("LOG", *present(base), v)


def atan2(y: Value, x: Value) -> Expression:
    """The angle of the point (x, y)."""
    return function_call("ATAN2", y, x)


def rand(seed: Value = None) -> Expression:
    """A random number from 0 to 1, excluded."""
    return function_call("RAND", *present(seed))


def rand_integer(bound: Value, seed: Value = None) -> Expression:
    """A random integer from 0 to the bound, excluded."""
    return function_call("RAND_INTEGER", *present(seed), bound)


def concat(first: Value, *others: Value) -> Expression:
    """The concatenation of strings; None is a NULL string."""
    return function_call("CONCAT", *map(_string, (first, *others)))


def concat_ws(separator: Value, first: Value, *others: Value) -> Expression:
    """The concatenation of strings with a separator, without NULL."""
    return function_call("CONCAT_WS", *map(_string, (separator, first, *others)))


def _string(value: Value) -> Value:
    return null_of(DataTypes.STRING()) if value is None else value


def uuid() -> Expression:
    """A random UUID as a string."""
    return function_call("UUID")


# --- dates and times ------------------------------------------------------------------------------


def current_date() -> Expression:
    """The current date in the time zone of the session."""
    return function_call("CURRENT_DATE")


def current_time() -> Expression:
    """The current time in the time zone of the session."""
    return function_call("CURRENT_TIME")


def current_timestamp() -> Expression:
    """The current timestamp with local time zone."""
    return function_call("CURRENT_TIMESTAMP")


def local_time() -> Expression:
    """As `current_time`."""
    return function_call("LOCALTIME")


def local_timestamp() -> Expression:
    """The current timestamp in the time zone of the session."""
    return function_call("LOCALTIMESTAMP")


def current_watermark(rowtimeAttribute: Value) -> Expression:  # noqa: N803 - PyFlink's name
    """The watermark of a rowtime column, NULL before the first one."""
    return function_call("CURRENT_WATERMARK", rowtimeAttribute)


def source_watermark() -> Expression:
    """The watermark of the source of a table."""
    return function_call("SOURCE_WATERMARK")


def to_date(date_str: Value, format: Value = None) -> Expression:  # noqa: A002 - PyFlink's name
    """A string as date."""
    return function_call("TO_DATE", date_str, *present(format))


def to_timestamp(timestamp_str: Value, format: Value = None) -> Expression:  # noqa: A002
    """A string as timestamp."""
    return function_call("TO_TIMESTAMP", timestamp_str, *present(format))


def to_timestamp_ltz(*args: Value) -> Expression:
    """An epoch number or string as timestamp with local time zone."""
    return function_call("TO_TIMESTAMP_LTZ", *args)


def date_format(timestamp: Value, format: Value) -> Expression:  # noqa: A002
    """A timestamp formatted by a pattern."""
    return function_call("DATE_FORMAT", timestamp, format)


def convert_tz(date_str: Value, tz_from: Value, tz_to: Value) -> Expression:
    """A datetime string in another time zone."""
    return function_call("CONVERT_TZ", date_str, tz_from, tz_to)


def from_unixtime(unixtime: Value, format: Value = None) -> Expression:  # noqa: A002
    """Epoch seconds as a formatted datetime string."""
    return function_call("FROM_UNIXTIME", unixtime, *present(format))


def unix_timestamp(date_str: Value = None, format: Value = None) -> Expression:  # noqa: A002
    """The current epoch seconds, or those of a datetime string."""
    return function_call("UNIX_TIMESTAMP", *present(date_str, format))


def timestamp_diff(
    time_point_unit: TimePointUnit | str, time_point1: Value, time_point2: Value
) -> Expression:
    """The number of complete time units between two times."""
    points = (to_tree(time_point1), to_tree(time_point2))
    unit = Symbol(keyword(time_point_unit, TimePointUnit))
    return Expression(Call("TIMESTAMPDIFF", (unit, *points)))


def temporal_overlaps(
    left_time_point: Value, left_temporal: Value, right_time_point: Value, right_temporal: Value
) -> Expression:
    """Whether two periods overlap, given by start and end or length.

    >>> from schema_core.expressions import col
    >>> print(temporal_overlaps(col("a"), col("b"), col("c"), col("d")))
    PERIOD (`a`, `b`) OVERLAPS PERIOD (`c`, `d`)
    """
    left = function_call("ROW", left_time_point, left_temporal)
    return function_call("OVERLAPS", left, function_call("ROW", right_time_point, right_temporal))


def current_database() -> Expression:
    """The name of the current database."""
    return function_call("CURRENT_DATABASE")


# --- windows over rows ----------------------------------------------------------------------------

#: Bounds of windows of `Over`: the row itself, or the first or last row, in rows or in a range.
CURRENT_ROW = Expression(Symbol("CURRENT_ROW"))
CURRENT_RANGE = Expression(Symbol("CURRENT_RANGE"))
UNBOUNDED_ROW = Expression(Symbol("UNBOUNDED_ROW"))
UNBOUNDED_RANGE = Expression(Symbol("UNBOUNDED_RANGE"))


def row_interval(rows: int) -> Expression:
    """A number of rows, as a bound of a window of `Over`.

    Raises:
        SchemaError: with code `invalid-argument` unless it is an integer of at least 0.
    """
    if require_instance(rows, int, "rows") < 0 or isinstance(rows, bool):
        raise SchemaError(f"{show(rows)} is not a number of rows", code="invalid-argument")
    return function_call("$ROWS", rows)


def lag(expr: Value, offset: Value = 1, default: Value = None) -> Expression:
    """The value some rows before in a window, or the default."""
    return function_call("LAG", expr, offset, *present(default))


def lead(expr: Value, offset: Value = 1, default: Value = None) -> Expression:
    """The value some rows after in a window, or the default."""
    return function_call("LEAD", expr, offset, *present(default))


# --- JSON -----------------------------------------------------------------------------------------


def json(value: Value) -> Expression:
    """A string as raw JSON within a JSON constructor."""
    return function_call("JSON", value)


def json_string(value: Value) -> Expression:
    """A value serialized as JSON."""
    return function_call("JSON_STRING", value)


def json_object(on_null: JsonOnNull = JsonOnNull.NULL, *args: Value) -> Expression:
    """A JSON object of alternating keys and values.

    >>> from schema_core.expressions import col
    >>> print(json_object(JsonOnNull.ABSENT, "k", col("a")))
    JSON_OBJECT(KEY 'k' VALUE `a` ABSENT ON NULL)
    """
    return _json_constructor("JSON_OBJECT", on_null, *args)


def json_array(on_null: JsonOnNull = JsonOnNull.ABSENT, *args: Value) -> Expression:
    """A JSON array of values."""
    return _json_constructor("JSON_ARRAY", on_null, *args)


def json_object_agg(on_null: JsonOnNull, key_expr: Value, value_expr: Value) -> Expression:
    """A JSON object of the keys and values of all rows."""
    return _json_constructor("JSON_OBJECTAGG", on_null, key_expr, value_expr)


def json_array_agg(on_null: JsonOnNull, item_expr: Value) -> Expression:
    """A JSON array of the values of all rows."""
    return _json_constructor("JSON_ARRAYAGG", on_null, item_expr)


def _json_constructor(name: str, on_null: JsonOnNull, *args: Value) -> Expression:
    return Expression(Call(name, (Symbol(keyword(on_null, JsonOnNull)), *map(to_tree, args))))


# --- several columns ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ColumnRange(SelectedColumns):
    """Columns from one to another, by name or by position from 1."""

    start: str | int
    end: str | int

    def of(self, columns: list[str]) -> list[str]:
        """The names of the columns.

        Raises:
            SchemaError: with code `unknown-column`.
        """
        positions = []
        for end in (self.start, self.end):
            if isinstance(end, str) and end in columns:
                positions.append(columns.index(end))
            elif isinstance(end, int) and 1 <= end <= len(columns):
                positions.append(end - 1)
            else:
                hint = similar(end, columns) if isinstance(end, str) else None
                problem = f"there is no column {show(end)}"
                raise SchemaError(problem, code="unknown-column", hint=hint)
        first, last = positions
        return columns[first : last + 1]


@dataclass(frozen=True, slots=True, eq=False)
class ColumnSelection(SelectedColumns):
    """Some columns of a table, or all columns except some."""

    columns: tuple[object, ...]
    inverted: bool = False

    def of(self, columns: list[str]) -> list[str]:
        """The names of the columns.

        Raises:
            SchemaError: with code `unknown-column`, or `invalid-argument` for anything but columns.
        """
        chosen = [name for column in self.columns for name in selected_columns(column, columns)]
        return [name for name in columns if name not in chosen] if self.inverted else chosen


def selected_columns(item: object, columns: list[str]) -> Iterable[str]:
    """The columns that a column, a position, a range or a selection selects."""
    if isinstance(item, ColumnSelection | ColumnRange):
        return item.of(columns)
    if isinstance(item, int) and not isinstance(item, bool):
        return ColumnRange(item, item).of(columns)
    match getattr(item, "syntax", None):
        case Name(parts=("*",)):
            return columns
        case Name(parts=(name,)):
            return ColumnRange(name, name).of(columns)
        case _:
            raise SchemaError(
                f"expected a column, got {show(item)}",
                code="invalid-argument",
                hint='write col("name"), range_("from", "to") or a position, counted from 1',
            )


def range_(start: str | int, end: str | int) -> ColumnRange:
    """The columns from one to another, by name or by position from 1."""
    return ColumnRange(start, end)


def with_columns(head: object, *tails: object) -> ColumnSelection:
    """A selection of columns.

    >>> with_columns(range_("b", "c"), 1, col("d")).of(["a", "b", "c", "d"])
    ['b', 'c', 'a', 'd']
    """
    return ColumnSelection((head, *tails))


def without_columns(head: object, *tails: object) -> ColumnSelection:
    """A selection of all columns except some.

    >>> without_columns(range_(2, 3)).of(["a", "b", "c"])
    ['a']
    """
    return ColumnSelection((head, *tails), inverted=True)


def with_all_columns() -> ColumnSelection:
    """A selection of all columns."""
    return ColumnSelection((), inverted=True)
