"""Aggregate functions, with casts where Flink and Spark sum differently."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from schema_core import types
from schema_core.spark.compiler import tree as nodes
from schema_core.spark.compiler.functions import datetimes, json
from schema_core.spark.compiler.functions.numbers import quotient
from schema_core.spark.compiler.template import inline, sql
from schema_core.spark.compiler.translation import (
    CHARACTERS,
    FLOATS,
    INTEGERS,
    SUM_DIGITS,
    TranslatedCall,
    TranslationRule,
    digits_of,
    is_orderable,
    native,
    refusal_rule,
    require_orderable,
    rewrite_rule,
    sql_type,
)
from schema_core.spark.compiler.tree import Node
from schema_core.types.common import MAX_PRECISION, decimal_result, decimal_sum

if TYPE_CHECKING:
    from schema_core.expressions.typed import SortDirection

#: Hints of several errors.
REMOVE_DUPLICATES = "remove duplicates in a derived table"

#: Window functions that return a value of another row, or number rows.
SHIFTS = ("lag", "lead")
RANKS = ("ntile", "row_number", "rank", "dense_rank", "cume_dist", "percent_rank")


def compile_aggregate(name: str, called: TranslatedCall, *arguments: Node) -> Node:
    """Return a call of an aggregate of Spark, with DISTINCT, FILTER and OVER."""
    distinct = called.call.symbol == "DISTINCT"
    if distinct and called.window is not None:
        if name not in IDEMPOTENT:
            return _of_distinct_rows(name, called, arguments)
        distinct = False
    return nodes.Aggregate(name, arguments, distinct, called.filter, called.window)


#: Aggregates whose results do not depend on duplicates.
IDEMPOTENT = frozenset({"min", "max", "first_value", "last_value", "collect_set"})


def _of_distinct_rows(name: str, called: TranslatedCall, arguments: Sequence[Node]) -> Node:
    """Return an aggregate of the distinct values in a window, where Spark has no DISTINCT.

    Where their order does not matter Spark collects each value once; an array of all values, which
    a frame that grows copies for each row, is needed for strings, arrays and sums of floats.
    """
    type_ = called.types[0] if called.types else called.type
    is_exact = not isinstance(type_, types.DecimalType) or type_.scale <= _SCALE_OF_SUMS
    is_known = called.call.function.name in OF_DISTINCT_ROWS and name in _OF_ARRAYS
    if not is_known or len(arguments) != 1 or (name == "sum" and not is_exact):
        raise nodes.unsupported_error(
            f"{called.call.function.name} of DISTINCT values over a window is not supported on "
            "Spark",
            hint=REMOVE_DUPLICATES,
        )
    require_orderable(type_, "DISTINCT")
    (value,) = arguments
    if name == "sum" and isinstance(type_, types.DecimalType):
        value = nodes.Cast(value, f"DECIMAL({MAX_PRECISION}, {type_.scale})")
    is_ordered = name == "collect_list" or any(isinstance(part, FLOATS) for part in type_.walk())
    collect = "collect_list" if is_ordered else "collect_set"
    values: Node = nodes.Aggregate(collect, (value,), False, called.filter, called.window)
    if is_ordered:
        values = nodes.call("array_distinct", values)
    return sql(_OF_ARRAYS[name], values=values)


#: Functions that can be computed of the distinct values in a window.
OF_DISTINCT_ROWS = frozenset({"ARRAY_AGG", "AVG", "COLLECT", "COUNT", "LISTAGG", "SUM", "$SUM0"})

#: The largest scale that Spark keeps in a sum of two DECIMALs of 38 digits.
_SCALE_OF_SUMS = 6


#: Aggregate -> the same of an array. A sum starts as its first value.
_OF_ARRAYS: Mapping[str, str] = {
    "collect_list": "{values}",
    "count": "CAST(size({values}) AS BIGINT)",
    "sum": "aggregate(slice({values}, 2, greatest(size({values}) - 1, 0)),"
    " get({values}, 0), (a, b) -> a + b)",
}


def count(called: TranslatedCall) -> Node:
    """COUNT of rows, or of rows where no argument is NULL."""
    return compile_aggregate("count", called, *called.arguments)


def total(called: TranslatedCall) -> Node:
    """SUM; Flink adds integers in their own type."""
    if isinstance(called.type, types.DecimalType):
        return called.cast(compile_aggregate("sum", called, called[0]))
    return called.cast(compile_aggregate("sum", called, called.cast(called[0])))


def total_or_zero(called: TranslatedCall) -> Node:
    """$SUM0: the sum, and 0 of no values."""
    return nodes.call(
        "coalesce", total(called), nodes.Cast(nodes.Literal(0), sql_type(called.type))
    )


def average(called: TranslatedCall) -> Node:
    """AVG: of integers truncated towards zero; over a window, their sum wraps."""
    if isinstance(called.type, INTEGERS):
        added = compile_aggregate("sum", called, nodes.Cast(called[0], "BIGINT"))
        if called.window is not None:
            added = called.cast(added)
        counted = compile_aggregate("count", called, called[0])
        return called.cast(inline("{sum} DIV {count}", sum=added, count=counted))
    if isinstance(called.type, types.DecimalType):
        return _average_of_decimals(called, called.type)
    return called.cast(compile_aggregate("avg", called, nodes.Cast(called[0], "DOUBLE")))


#: Digits of a count as a DECIMAL.
COUNT_DIGITS = 20


def _average_of_decimals(called: TranslatedCall, result: types.DecimalType) -> Node:
    """Return AVG of decimals: their sum, of 38 digits, divided by their count.

    Spark's `avg` has 4 decimal places more than its argument, Flink's at least 6. The count is a
    sum, NULL of no rows: Spark needs another join for a correlated subquery that yields 0 then.
    Distinct values are counted as such.
    """
    scale = digits_of(called.types[0])[1]
    added = nodes.Cast(
        compile_aggregate("sum", called, called[0]), f"DECIMAL({MAX_PRECISION}, {scale})"
    )
    if called.call.symbol == "DISTINCT":
        counted: Node = compile_aggregate("count", called, called[0])
    else:
        counted = compile_aggregate("sum", called, inline("if({v} IS NULL, NULL, 1)", v=called[0]))
    counted = nodes.Cast(counted, f"DECIMAL({COUNT_DIGITS}, 0)")
    return called.cast(
        quotient(
            added,
            (MAX_PRECISION, scale),
            counted,
            (COUNT_DIGITS, 0),
            digits_of(result),
            integer_digits=called.integer_digits(0) + SUM_DIGITS,
            may_be_zero=False,
            are_aggregates=called.window is None,
        )
    )


def spread(*, of_sample: bool = False, is_root: bool = False) -> TranslationRule:
    """VAR_POP and its variants; the standard deviation is the variance to the power of 0.5.

    In groups Flink adds up deviations from the mean so far (Welford), as Spark's covariance does;
    Spark's variance rounds otherwise.
    """

    def translate(called: TranslatedCall) -> Node:
        if called.window is None:
            value = nodes.Cast(called[0], "DOUBLE")
            node = compile_aggregate(
                "covar_samp" if of_sample else "covar_pop", called, value, value
            )
        else:
            node = _variance_over_window(called, of_sample=of_sample)
        return called.cast(nodes.call("pow", node, nodes.Literal("0.5", "D")) if is_root else node)

    return rewrite_rule(translate)


def _variance_over_window(called: TranslatedCall, *, of_sample: bool) -> Node:
    """Return ``(SUM(x * x) - SUM(x) * SUM(x) / n) / n``, or ``/ (n - 1)`` for a sample.

    It has the type of the values; integers wrap.
    """
    type_ = called.types[0].nullable()
    total, squares, divide = type_, type_, "/"
    count = compile_aggregate("count", called, called[0])
    value = nodes.Cast(called[0], sql_type(type_))
    if isinstance(type_, types.DecimalType):
        total, squares = decimal_sum(type_), decimal_sum(decimal_result("*", type_, type_))
        count = nodes.Cast(count, f"DECIMAL({COUNT_DIGITS}, 0)")
    elif isinstance(type_, INTEGERS):
        value, divide = nodes.Cast(value, "BIGINT"), "DIV"
    added = nodes.Cast(compile_aggregate("sum", called, value), sql_type(total))
    if isinstance(type_, INTEGERS):
        added = nodes.Cast(added, "BIGINT")
    square = inline("{sum} * {sum}", sum=added)
    return inline(
        f"({{squares}} - {{square}} {divide} {{n}}) {divide} ({{n}} - {int(of_sample)})",
        squares=nodes.Cast(
            compile_aggregate("sum", called, inline("{x} * {x}", x=value)), sql_type(squares)
        ),
        square=square
        if isinstance(type_, types.DecimalType)
        else nodes.Cast(square, sql_type(type_)),
        n=count,
    )


def extreme(name: str) -> TranslationRule:
    """MIN and MAX of values that Spark orders."""

    def translate(called: TranslatedCall) -> Node:
        for part in called.types[0].walk():
            if not is_orderable(part) or isinstance(part, types.BitmapType):
                raise nodes.unsupported_error(f"Spark does not order {part.as_summary_string()}")
        return compile_aggregate(name, called, called[0])

    return native(translate)


def ranking(name: str) -> TranslationRule:
    """A window function, which requires OVER."""

    def translate(called: TranslatedCall) -> Node:
        if called.window is None:
            raise nodes.unsupported_error(f"{called.call.function.name} requires an OVER clause")
        if name in SHIFTS and len(called.arguments) > 1 and not nodes.is_constant(called[1]):
            return _lag_by_row(name, called, called.window)
        ranked = compile_aggregate(name, called, *called.arguments)
        return ranked if name in SHIFTS else called.cast(ranked)

    return native(translate)


def _lag_by_row(name: str, called: TranslatedCall, window: nodes.Window) -> Node:
    """LAG or LEAD with an offset by row: an element of the rows of the partition."""
    frame = "UNBOUNDED PRECEDING AND CURRENT ROW"
    if name == "lead":
        frame = "CURRENT ROW AND UNBOUNDED FOLLOWING"
    rows = nodes.Aggregate(
        "collect_list",
        (nodes.call("named_struct", "value", called[0]),),
        window=replace(window, frame=f"ROWS BETWEEN {frame}"),
    )
    place = "{offset}" if name == "lead" else "size({rows}) - 1 - {offset}"
    return sql(f"get({{rows}}, CAST({place} AS INT)).`value`", rows=rows, offset=called[1])


def single(called: TranslatedCall) -> Node:
    """SINGLE_VALUE: more than one row fails the job."""
    rows = inline("{count} > 1", count=nodes.Aggregate("count", ()))
    return nodes.call(
        "if", rows, nodes.fail("more than one row"), nodes.Aggregate("first", (called[0],))
    )


def grouping(keys: Sequence[Node]) -> Node:
    """GROUPING and GROUPING_ID: for each key a bit, set if its column is not grouped."""
    bits: Node = nodes.Literal("0", "L")
    for place, key in enumerate(reversed(keys)):
        bit = nodes.Cast(nodes.Aggregate("grouping", (key,)), "BIGINT")
        bits = bit if place == 0 else nodes.operator("+", nodes.operator("*", bit, 2**place), bits)
    return bits


def set_number(marks: Sequence[Node]) -> Node:
    """GROUP_ID: the sum of the powers of 2 of the marks of a grouping set."""
    number: Node = nodes.Literal("0", "L")
    for place, mark in enumerate(marks):
        bit = inline(
            "1L - {missing}", missing=nodes.Cast(nodes.Aggregate("grouping", (mark,)), "BIGINT")
        )
        number = nodes.operator("+", number, nodes.operator("*", bit, 2**place))
    return number


def of_values(name: str) -> TranslationRule:
    """FIRST_VALUE and LAST_VALUE of the values that are not NULL."""
    return native(
        lambda called: compile_aggregate(name, called, called[0], nodes.Literal(value=True))
    )


# --- values of a group as one ------------------------------------------------------------------


def compile_listagg(called: TranslatedCall) -> Node:
    """LISTAGG: the strings that are not NULL, joined by a separator, by default a comma."""
    separator = called[1] if len(called.arguments) > 1 else nodes.node_of(",")
    strings = compile_aggregate("collect_list", called, called[0])
    return inline("array_join(nullif({0}, array()), {1})", **{"0": strings, "1": separator})


def array_of(called: TranslatedCall) -> Node:
    """ARRAY_AGG: NULL of no rows; NULL is an element unless IGNORE NULLS."""
    if called.call.order:
        values = _sort_group(called)
    elif called.call.nulls == "IGNORE NULLS":
        values = compile_aggregate("collect_list", called, called[0])
    else:  # Spark leaves out NULL, but not a struct of NULL
        rows = compile_aggregate(
            "collect_list", called, nodes.call("named_struct", "value", called[0])
        )
        values = nodes.Field(rows, "value")
    if is_orderable(called.types[0]):
        return inline("nullif({values}, array())", values=values)
    return inline("get(filter(array({values}), a -> size(a) > 0), 0)", values=values)


def _sort_group(called: TranslatedCall) -> Node:
    """Return the values of a group by ORDER BY, which Flink 2.3 accepts and ignores."""
    order = called.call.order
    for key in called.types[1:]:
        require_orderable(key, "ORDER BY")
    if called.call.symbol == "DISTINCT":
        raise nodes.unsupported_error(
            "ARRAY_AGG of DISTINCT values with ORDER BY is not supported on Spark",
            hint=REMOVE_DUPLICATES,
        )
    names = ["value", *(f"key{place}" for place in range(len(order)))]
    row: Node = nodes.named_struct(zip(names, called.arguments, strict=True))
    if called.call.nulls == "IGNORE NULLS":
        row = nodes.null_or(nodes.is_null(called[0]), row)
    directions = list(zip(names[1:], order, strict=True))
    comparison = nodes.function(lambda one, two: _compare_rows(one, two, directions), 2)
    return nodes.Field(
        nodes.call("array_sort", compile_aggregate("collect_list", called, row), comparison),
        "value",
    )


def _compare_rows(one: Node, two: Node, keys: Sequence[tuple[str, SortDirection]]) -> Node:
    result = nodes.node_of(0)
    for name, key in reversed(keys):
        last = key.descending if key.nulls_last is None else key.nulls_last
        result = inline(
            "CASE WHEN {a} <=> {b} THEN {next} WHEN {a} IS NULL THEN {null} WHEN {b} IS NULL"
            " THEN -{null} WHEN {a} < {b} THEN {less} ELSE -{less} END",
            a=nodes.Field(one, name),
            b=nodes.Field(two, name),
            next=result,
            null=nodes.node_of(1 if last else -1),
            less=nodes.node_of(1 if key.descending else -1),
        )
    return result


def multiset_of(called: TranslatedCall) -> Node:
    """COLLECT: how often each value that is not NULL occurs, counted as runs of sorted values."""
    sql_type(called.type)  # refuses elements that Spark does not compare

    def body(values: Node) -> Node:
        starts = inline(
            "filter(sequence(0, size({v})), i -> if(i = 0, size({v}) > 0,"
            " coalesce(get({v}, i) <> get({v}, i - 1), FALSE)))",
            v=values,
        )
        return nodes.let(
            starts,
            lambda starts: inline(
                "map_from_entries(transform({starts}, (start, i) -> struct(get({v}, start),"
                " coalesce(get({starts}, i + 1), size({v})) - start)))",
                v=values,
                starts=starts,
            ),
        )

    collected = compile_aggregate("collect_list", called, called[0])
    return nodes.let(nodes.call("sort_array", collected), body)


def json_array_of(called: TranslatedCall) -> Node:
    """JSON_ARRAYAGG(NULL behavior, value): an array, empty of no rows."""
    return json.join_json("[", compile_aggregate("collect_list", called, _element(called, 1)), "]")


def json_object_of(called: TranslatedCall) -> Node:
    """JSON_OBJECTAGG(NULL behavior, key, value): an object with sorted keys.

    A key that is NULL or occurs twice fails the job.
    """
    text = _element(called, 2)
    key = nodes.call("coalesce", called[1], nodes.fail("a key of JSON_OBJECTAGG is NULL"))
    pair = nodes.call(
        "named_struct", "key", key, "text", nodes.call("concat", json.quote_json(key), ":", text)
    )
    pairs = compile_aggregate("collect_list", called, nodes.null_or(nodes.is_null(text), pair))
    return nodes.let(
        nodes.call("array_sort", pairs),
        lambda pairs: nodes.call(
            "if",
            inline("size(array_distinct({keys})) < size({keys})", keys=nodes.Field(pairs, "key")),
            nodes.fail("a key of JSON_OBJECTAGG occurs twice"),
            json.join_json("{", nodes.Field(pairs, "text"), "}"),
        ),
    )


def _element(called: TranslatedCall, index: int) -> Node:
    """Return an argument as JSON; NULL, which Spark leaves out, only with ABSENT ON NULL."""
    text = json.value_of(called, index)
    absent = called.keyword(0).startswith("ABSENT")
    return text if absent else nodes.call("coalesce", text, "null")


# --- estimates ---------------------------------------------------------------------------------


#: The value at a place of pairs of a value and its frequency.
_AT_PLACE_OF_PAIRS = (
    "aggregate({v}, named_struct('rows', 0L, 'value', CAST(NULL AS DOUBLE)), (seen, one) ->"
    " named_struct('rows', seen.`rows` + one.`often`, 'value',"
    " if(seen.`rows` < {p} AND {p} <= seen.`rows` + one.`often`, one.`value`, seen.`value`)))"
    ".`value`"
)


def percentile(called: TranslatedCall) -> Node:
    """PERCENTILE(value, fraction or fractions, frequency): interpolated between sorted values.

    A value counts `frequency` times, but not if that is below 1. Spark's function weighs the
    neighbours otherwise, which changes the last digit.
    """
    value, fractions, *frequencies = called.arguments
    number = nodes.Cast(value, "DOUBLE")
    if frequencies:
        often = nodes.Cast(frequencies[0], "BIGINT")
        pair = nodes.call("named_struct", "value", number, "often", often)
        is_left_out = nodes.operator(
            "OR", nodes.is_null(number), inline("coalesce({n}, 0) <= 0", n=often)
        )
        values = compile_aggregate("collect_list", called, nodes.null_or(is_left_out, pair))
        rows = "aggregate({v}, 0L, (sum, one) -> sum + one.`often`)"
    else:
        values = compile_aggregate("collect_list", called, number)
        rows = "CAST(size({v}) AS BIGINT)"
    at_place = _AT_PLACE_OF_PAIRS if frequencies else "get({v}, CAST({p} AS INT) - 1)"

    def interpolate(sorted_values: Node, place: Node) -> Node:
        below, above = nodes.call("floor", place), nodes.call("ceil", place)
        return inline(
            "if({below} = {above}, {low}, ({above} - {p}) * {low} + ({p} - {below}) * {high})",
            below=below,
            above=above,
            p=place,
            low=inline(at_place, v=sorted_values, p=below),
            high=inline(at_place, v=sorted_values, p=above),
        )

    def interpolated(sorted_values: Node) -> Node:
        def one(fraction: Node) -> Node:
            place = inline("({rows} - 1) * {p} + 1", rows=inline(rows, v=sorted_values), p=fraction)
            return nodes.let(place, lambda at: interpolate(sorted_values, at))

        if isinstance(called.types[1], types.ArrayType):
            numbers = nodes.transform(fractions, one)
            return nodes.null_or(inline("size({v}) = 0", v=sorted_values), numbers)
        return one(fractions)

    return nodes.let(nodes.call("sort_array", values), interpolated)


def distinct_count(called: TranslatedCall) -> Node:
    """APPROX_COUNT_DISTINCT, with Flink's error of 1 percent and its hashes of datetimes."""
    if len(called.arguments) > 1:
        raise nodes.unsupported_error(
            "APPROX_COUNT_DISTINCT of several values is not supported on Spark"
        )
    value = called[0]
    match called.types[0]:
        case types.AnyTimestampType():
            value = datetimes.millis(value)
        case types.DateType():
            value = nodes.Cast(datetimes.days(value), "BIGINT")
        case types.TimeType():
            value = nodes.Cast(datetimes.time_millis(value), "BIGINT")
    return compile_aggregate("approx_count_distinct", called, value, nodes.Literal("0.01", "D"))


# --- undefined values --------------------------------------------------------------------------

#: Functions without a value for some rows, although Flink's type may be NOT NULL: the spread of a
#: sample of one row, a value of another row.
UNDEFINED = frozenset({"STDDEV_SAMP", "STDDEV", "VAR_SAMP", "VARIANCE", "LAG", "LEAD"})


def as_returned(node: Node, type_: types.DataType, column: str) -> Node:
    """Return a column of a query with one of `UNDEFINED`; it is NULL only if it may be.

    Flink writes -1 or FALSE for NULL into a NOT NULL column of numbers or truth values, and fails
    for decimals and datetimes. Strings and arrays stay: LISTAGG and ARRAY_AGG of no rows are NULL
    regardless of their types.
    """
    if type_.is_nullable or isinstance(type_, (*CHARACTERS, types.ArrayType)):
        return node
    placeholder: Node
    if isinstance(type_, (*INTEGERS, *FLOATS)):
        placeholder = nodes.Cast(nodes.Literal(-1), sql_type(type_))
    elif isinstance(type_, types.BooleanType):
        placeholder = nodes.Literal(value=False)
    else:
        placeholder = nodes.fail(f"column {column!r} is NOT NULL but its value is undefined")
    return nodes.call("coalesce", node, placeholder)


_INTERNAL = "it is internal to Flink"

RULES: dict[str, TranslationRule] = {
    "COUNT": native(count),
    "SUM": rewrite_rule(total),
    "$SUM0": rewrite_rule(total_or_zero),
    "AVG": rewrite_rule(average),
    "MIN": extreme("min"),
    "MAX": extreme("max"),
    "STDDEV_POP": spread(is_root=True),
    "STDDEV_SAMP": spread(of_sample=True, is_root=True),
    "STDDEV": spread(of_sample=True, is_root=True),
    "VAR_POP": spread(),
    "VAR_SAMP": spread(of_sample=True),
    "VARIANCE": spread(of_sample=True),
    "SINGLE_VALUE": rewrite_rule(single),
    "LISTAGG": rewrite_rule(compile_listagg),
    "ARRAY_AGG": rewrite_rule(array_of),
    "COLLECT": rewrite_rule(multiset_of),
    "JSON_ARRAYAGG": rewrite_rule(json_array_of),
    "JSON_OBJECTAGG": rewrite_rule(json_object_of),
    "PERCENTILE": rewrite_rule(percentile),
    "APPROX_COUNT_DISTINCT": native(distinct_count),
    "FIRST_VALUE": of_values("first_value"),
    "LAST_VALUE": of_values("last_value"),
    **{name.upper(): ranking(name) for name in (*SHIFTS, *RANKS)},
    "AUXILIARY_GROUP": refusal_rule(_INTERNAL),
}
