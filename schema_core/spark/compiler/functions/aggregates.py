"""Aggregate functions, with casts of their arguments where Flink and Spark sum differently."""

from __future__ import annotations

from collections.abc import Sequence

from schema_core.spark.compiler.functions.quotients import quotient
from schema_core.spark.compiler.template import inline
from schema_core.spark.compiler.translation import (
    TranslatedCall,
    TranslationRule,
    native,
    refused,
    rewritten,
)
from schema_core.spark.compiler.tree import (
    Aggregate,
    Cast,
    Literal,
    Node,
    call,
    fail,
    node_of,
    operator,
    unsupported,
)
from schema_core.spark.compiler.value_types import INTEGERS, digits_of
from schema_core.types import DecimalType, MapType, MultisetType, VariantType
from schema_core.types.decimal_arithmetic import MAX_PRECISION

#: Window functions: those that return a value of another row, and those that number rows.
SHIFTS = ("lag", "lead")
RANKS = ("ntile", "row_number", "rank", "dense_rank", "cume_dist", "percent_rank")


def aggregated(name: str, called: TranslatedCall, *arguments: Node) -> Node:
    """Return a call of an aggregate of Spark, with DISTINCT, FILTER and OVER."""
    distinct = called.call.symbol == "DISTINCT"
    if distinct and called.window is not None:
        raise unsupported(
            f"{called.call.function.name} of DISTINCT values over a window is not run on Spark",
            hint="remove duplicates in a derived table",
        )
    return Aggregate(name, arguments, distinct, called.filter, called.window)


def count(called: TranslatedCall) -> Node:
    """COUNT of rows, or of rows where all arguments are not NULL."""
    return aggregated("count", called, *called.arguments)


def total(called: TranslatedCall) -> Node:
    """SUM: of integers in their own type, as Flink adds them."""
    if isinstance(called.type, DecimalType):
        return called.cast(aggregated("sum", called, called[0]))
    return called.cast(aggregated("sum", called, called.cast(called[0])))


def average(called: TranslatedCall) -> Node:
    """AVG: of integers an integer, truncated towards zero."""
    if isinstance(called.type, INTEGERS):
        added = aggregated("sum", called, Cast(called[0], "BIGINT"))
        counted = aggregated("count", called, called[0])
        return called.cast(inline("{sum} DIV {count}", sum=added, count=counted))
    if isinstance(called.type, DecimalType):
        return _average_of_decimals(called, called.type)
    return called.cast(aggregated("avg", called, Cast(called[0], "DOUBLE")))


#: Digits that Spark adds to the precision of a sum, and those of a count as a DECIMAL.
SUM_DIGITS, COUNT_DIGITS = 10, 20


def _average_of_decimals(called: TranslatedCall, result: DecimalType) -> Node:
    """Return AVG of decimals: their sum, of 38 digits, divided by their count.

    Spark's `avg` has 4 decimal places more than its argument, Flink's 6 at least.
    """
    precision, scale = digits_of(called.types[0])
    added = Cast(aggregated("sum", called, called[0]), f"DECIMAL({MAX_PRECISION}, {scale})")
    counted = Cast(aggregated("count", called, called[0]), f"DECIMAL({COUNT_DIGITS}, 0)")
    return called.cast(
        quotient(
            added,
            (MAX_PRECISION, scale),
            counted,
            (COUNT_DIGITS, 0),
            digits_of(result),
            integer_digits=precision - scale + SUM_DIGITS,
        )
    )


def spread(name: str, *, is_root: bool = False) -> TranslationRule:
    """VAR_POP and its variants: computed of DOUBLEs, and cast to the type of the argument.

    Flink raises the variance to the power of 0.5 for the standard deviation.
    """

    def translate(called: TranslatedCall) -> Node:
        node = aggregated(name, called, Cast(called[0], "DOUBLE"))
        return called.cast(call("pow", node, Literal("0.5", "D")) if is_root else node)

    return rewritten(translate)


def plain(name: str) -> TranslationRule:
    """An aggregate function with equal semantics in Spark."""
    return native(lambda called: aggregated(name, called, *called.arguments))


def extreme(name: str) -> TranslationRule:
    """MIN and MAX, of values that Spark orders."""

    def translate(called: TranslatedCall) -> Node:
        for part in called.types[0].walk():
            if isinstance(part, MapType | MultisetType | VariantType):
                raise unsupported(f"Spark does not order {part.as_summary_string()}")
        return aggregated(name, called, called[0])

    return native(translate)


def ranking(name: str) -> TranslationRule:
    """A window function, which requires OVER."""

    def translate(called: TranslatedCall) -> Node:
        if called.window is None:
            raise unsupported(f"{called.call.function.name} requires an OVER clause")
        ranked = aggregated(name, called, *called.arguments)
        return ranked if name in SHIFTS else called.cast(ranked)

    return native(translate)


def single(called: TranslatedCall) -> Node:
    """SINGLE_VALUE: more than one row fails the job."""
    rows = inline("{count} > 1", count=Aggregate("count", ()))
    return call("if", rows, fail("more than one row"), Aggregate("first", (called[0],)))


def grouping(keys: Sequence[Node]) -> Node:
    """GROUPING and GROUPING_ID: for each key a bit, which is set if its column is not grouped."""
    bits: Node = Literal("0", "L")
    for place, key in enumerate(reversed(keys)):
        bit = Cast(Aggregate("grouping", (key,)), "BIGINT")
        bits = bit if place == 0 else operator("+", operator("*", bit, 2**place), bits)
    return bits


def listed(called: TranslatedCall) -> Node:
    """LISTAGG: all strings that are not NULL, joined by a separator, a comma by default."""
    separator = called[1] if len(called.arguments) > 1 else node_of(",")
    strings = aggregated("collect_list", called, called[0])
    return inline("nullif(array_join({0}, {1}), '')", **{"0": strings, "1": separator})


_UNLISTED = "Spark has no exact function of this meaning, and Python computes no aggregates"
_BITMAPS = "Spark has no bitmaps of Flink's format"

RULES: dict[str, TranslationRule] = {
    "COUNT": native(count),
    "SUM": rewritten(total),
    "AVG": rewritten(average),
    "MIN": extreme("min"),
    "MAX": extreme("max"),
    "STDDEV_POP": spread("var_pop", is_root=True),
    "STDDEV_SAMP": spread("var_samp", is_root=True),
    "STDDEV": spread("var_samp", is_root=True),
    "VAR_POP": spread("var_pop"),
    "VAR_SAMP": spread("var_samp"),
    "VARIANCE": spread("var_samp"),
    "SINGLE_VALUE": rewritten(single),
    "LISTAGG": rewritten(listed),
    "ARRAY_AGG": plain("collect_list"),
    "FIRST_VALUE": plain("first_value"),
    "LAST_VALUE": plain("last_value"),
    **{name.upper(): ranking(name) for name in (*SHIFTS, *RANKS)},
    **{
        name: refused(_UNLISTED)
        for name in (
            "$SUM0", "APPROX_COUNT_DISTINCT", "AUXILIARY_GROUP", "COLLECT", "JSON_ARRAYAGG",
            "JSON_OBJECTAGG", "PERCENTILE",
        )
    },
    **{
        f"BITMAP_{name}": refused(_BITMAPS)
        for name in (
            "AND", "ANDNOT", "AND_AGG", "AND_CARDINALITY_AGG", "BUILD", "BUILD_AGG",
            "BUILD_CARDINALITY_AGG", "CARDINALITY", "FROM_BYTES", "OR", "OR_AGG",
            "OR_CARDINALITY_AGG", "TO_ARRAY", "TO_BYTES", "TO_STRING", "XOR", "XOR_AGG",
            "XOR_CARDINALITY_AGG",
        )
    },
}  # fmt: skip
