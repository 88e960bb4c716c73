"""The translation rule of every function: how Spark computes it with Flink's meaning.

One table for each family. The row of a function in `schema_core.expressions.functions` says how it
is typed, the row here how it is computed, or why it is not.
"""

from __future__ import annotations

from schema_core.spark.compiler.functions import (
    aggregates,
    collections,
    conditions,
    conversions,
    encodings,
    json,
    numbers,
    patterns,
    rounding,
    strings,
    temporal,
)
from schema_core.spark.compiler.translation import TranslationRule, refused

FAMILIES = (
    numbers,
    conditions,
    conversions,
    strings,
    patterns,
    encodings,
    json,
    rounding,
    temporal,
    collections,
    aggregates,
)

#: Functions of the session and of plans, which no family has.
OTHERS = {
    "CURRENT_DATABASE": refused("the session's catalog is not known to a job"),
    "PRINT": refused("it is internal to Flink"),
}

#: Name of a function -> its rule.
RULES: dict[str, TranslationRule] = {
    **{name: rule for family in FAMILIES for name, rule in family.RULES.items()},
    **OTHERS,
}
