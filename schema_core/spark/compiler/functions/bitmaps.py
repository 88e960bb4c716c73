"""Functions and aggregates of bitmaps, computed by Python UDFs over their bytes."""

from __future__ import annotations

from schema_core.spark.compiler import tree as nodes
from schema_core.spark.compiler.functions.aggregates import compile_aggregate
from schema_core.spark.compiler.template import inline
from schema_core.spark.compiler.translation import (
    TranslatedCall,
    TranslationRule,
    call_udf,
    native,
    udf,
)
from schema_core.spark.compiler.udfs.bitmaps import OPERATIONS


def by_udf(name: str) -> TranslationRule:
    """Return the rule of a function that a UDF of the same name computes."""
    return udf(lambda called: call_udf(name, *called.arguments))


def build_all(called: TranslatedCall) -> nodes.Node:
    """BITMAP_BUILD_AGG: the bitmap of a group; NULL without values."""
    values = compile_aggregate("collect_set", called, called[0])
    return call_udf("bitmap_build", inline("nullif({v}, array())", v=values))


def count_all(called: TranslatedCall) -> nodes.Node:
    """BITMAP_BUILD_CARDINALITY_AGG: how many values a group has; NULL without values."""
    if called.window is None:
        count: nodes.Node = nodes.Aggregate("count", (called[0],), True, called.filter)
    else:
        count = nodes.call("size", compile_aggregate("collect_set", called, called[0]))
    return inline("nullif(CAST({n} AS BIGINT), 0L)", n=count)


def combine_all(name: str, *, counts: bool = False) -> TranslationRule:
    """Return the rule of an aggregate that combines bitmaps, or of the size of its result."""
    collect = "collect_list" if name == "XOR" else "collect_set"

    def translate(called: TranslatedCall) -> nodes.Node:
        bitmap = call_udf(
            f"bitmap_{name.lower()}_all", compile_aggregate(collect, called, called[0])
        )
        return call_udf("bitmap_cardinality", bitmap) if counts else bitmap

    return udf(translate)


AGGREGATED = tuple(name for name in OPERATIONS if name != "ANDNOT")

RULES: dict[str, TranslationRule] = {
    **{
        f"BITMAP_{name}": by_udf(f"bitmap_{name.lower()}")
        for name in ("BUILD", "CARDINALITY", "FROM_BYTES", "TO_ARRAY", "TO_STRING", *OPERATIONS)
    },
    "BITMAP_TO_BYTES": native("{0}"),
    "BITMAP_BUILD_AGG": udf(build_all),
    "BITMAP_BUILD_CARDINALITY_AGG": native(count_all),
    **{f"BITMAP_{name}_AGG": combine_all(name) for name in AGGREGATED},
    **{f"BITMAP_{name}_CARDINALITY_AGG": combine_all(name, counts=True) for name in AGGREGATED},
}
