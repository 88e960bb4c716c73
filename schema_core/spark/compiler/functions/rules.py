"""The translation rules of all functions, which compute Flink's results on Spark.

One table for each family. The signatures are in `schema_core.expressions.functions`; a row here has
the translation of a function, or the reason why it is refused.
"""

from __future__ import annotations

from schema_core.spark.compiler.functions import (
    aggregates,
    collections,
    conditions,
    conversions,
    encodings,
    json,
    nondeterministic,
    numbers,
    patterns,
    rounding,
    strings,
)
from schema_core.spark.compiler.functions.temporal import functions as temporal
from schema_core.spark.compiler.translation import (
    TranslatedCall,
    TranslationRule,
    native,
    refusal_rule,
)
from schema_core.spark.compiler.tree import Literal, Node, unsupported_error

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
    nondeterministic,
    collections,
    aggregates,
)


def current_database(called: TranslatedCall) -> Node:
    """CURRENT_DATABASE(): the database of the environment when the query is run."""
    if called.database is None:
        raise unsupported_error("CURRENT_DATABASE has no value here: there is no current database")
    return Literal(called.database)


#: Functions of the session and of plans, which belong to no family.
OTHERS = {
    "CURRENT_DATABASE": native(current_database),
    "PRINT": refusal_rule("it is internal to Flink"),
}

#: Name of a function -> its rule.
RULES: dict[str, TranslationRule] = {
    **{name: rule for family in FAMILIES for name, rule in family.RULES.items()},
    **OTHERS,
}
