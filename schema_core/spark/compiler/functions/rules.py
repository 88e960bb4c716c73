"""The translation rules of all functions, and those of the clock, random numbers and the session.

In batch mode Flink and Spark read the clock once a query; CURRENT_ROW_TIMESTAMP reads it for every
row. Flink runs none of these functions with a precision.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from schema_core import types
from schema_core.spark.compiler import tree as nodes
from schema_core.spark.compiler.functions import (
    aggregates,
    bitmaps,
    casts,
    collections,
    conditions,
    datetimes,
    encodings,
    json,
    numbers,
    patterns,
    strings,
    temporal,
)
from schema_core.spark.compiler.template import sql
from schema_core.spark.compiler.translation import (
    TranslatedCall,
    TranslationRule,
    native,
    refusal_rule,
    rewrite_rule,
)

FAMILIES = (
    numbers,
    conditions,
    casts,
    strings,
    patterns,
    encodings,
    json,
    temporal,
    collections,
    aggregates,
    bitmaps,
)


#: Milliseconds since 1970: of the query's start, and of the row.
_QUERY_CLOCK = "unix_millis(current_timestamp())"
_ROW_CLOCK = "CAST(reflect('java.lang.System', 'currentTimeMillis') AS BIGINT)"

_INSTANT = types.DataTypes.TIMESTAMP_LTZ(3)


def _instant(zone: str, type_: types.DataType, clock: str = _QUERY_CLOCK) -> nodes.Node:
    return datetimes.of_millis(sql(clock), _INSTANT)


def _local(zone: str, type_: types.DataType) -> nodes.Node:
    return datetimes.local(_instant(zone, type_), zone)


def _time(zone: str, type_: types.DataType) -> nodes.Node:
    return datetimes.time_of_millis(datetimes.millis(_local(zone, type_)), type_)


def _clock(read: Callable[[str, types.DataType], nodes.Node]) -> TranslationRule:
    """Return the rule of a function that reads the clock in the session's time zone."""

    def translate(called: TranslatedCall) -> nodes.Node:
        if called.arguments:
            name = called.call.function.name
            raise nodes.unsupported_error(
                f"Flink does not support {name} with a precision", f"write {name}"
            )
        return read(called.zone, called.type)

    return rewrite_rule(translate)


def rand(called: TranslatedCall) -> nodes.Node:
    """RAND(): a DOUBLE in [0, 1), different for every row."""
    if called.arguments:
        raise _seed_error("RAND()")
    return nodes.call("rand")


def rand_integer(called: TranslatedCall) -> nodes.Node:
    """RAND_INTEGER(bound): an INT in [0, bound); a bound that is not positive fails."""
    if len(called.arguments) > 1:
        raise _seed_error("RAND_INTEGER(bound)")
    if not isinstance(called.types[0], types.IntType | types.SmallIntType | types.TinyIntType):
        raise nodes.unsupported_error(
            f"Flink does not support RAND_INTEGER of {called.types[0].as_summary_string()}",
            "cast the bound to INT",
        )
    problem = nodes.fail("RAND_INTEGER: the bound must be positive")
    return nodes.let(
        called[0],
        lambda bound: sql(
            "if({bound} <= 0, {problem}, CAST(floor(rand() * {bound}) AS INT))",
            bound=bound,
            problem=problem,
        ),
    )


def _seed_error(form: str) -> Exception:
    return nodes.unsupported_error(
        "seeded random numbers differ between Spark and Flink", f"write {form}"
    )


def current_database(called: TranslatedCall) -> nodes.Node:
    """CURRENT_DATABASE(): the database of the environment when the query runs."""
    if called.database is None:
        raise nodes.unsupported_error(
            "CURRENT_DATABASE has no value here: there is no current database"
        )
    return nodes.Literal(called.database)


#: Functions that belong to no family.
OTHERS = {
    "CURRENT_DATE": _clock(lambda zone, type_: nodes.Cast(_local(zone, type_), "DATE")),
    "CURRENT_TIME": _clock(_time),
    "LOCALTIME": _clock(_time),
    "CURRENT_TIMESTAMP": _clock(_instant),
    "NOW": _clock(_instant),
    "PROCTIME": _clock(partial(_instant, clock=_ROW_CLOCK)),
    "LOCALTIMESTAMP": _clock(_local),
    "CURRENT_ROW_TIMESTAMP": _clock(partial(_instant, clock=_ROW_CLOCK)),
    "RAND": native(rand),
    "RAND_INTEGER": rewrite_rule(rand_integer),
    "UUID": native("uuid()"),
    "CURRENT_DATABASE": native(current_database),
    #: of `query.derived_versions`
    "$ARRIVAL": native("monotonically_increasing_id()"),
    "PRINT": refusal_rule("it is internal to Flink"),
}

#: Name of a function -> its rule.
RULES: dict[str, TranslationRule] = {
    **{name: rule for family in FAMILIES for name, rule in family.RULES.items()},
    **OTHERS,
}
