"""The translation rules of all functions, and those of the clock, random numbers and the session.

In batch mode Flink and Spark read the clock once a query; CURRENT_ROW_TIMESTAMP reads it for every
row. Flink runs none of these functions with a precision.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from schema_core import types
from schema_core.expressions.typed import Constant
from schema_core.spark.compiler import tree as nodes
from schema_core.spark.compiler.functions import (
    aggregates,
    bitmaps,
    casts,
    collections,
    conditions,
    datetimes,
    encodings,
    hash_codes,
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
    call_udf,
    native,
    refusal_rule,
    rewrite_rule,
    udf,
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
    hash_codes,
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
    """RAND([seed]): a DOUBLE in [0, 1), different for every row."""
    if not called.arguments:
        return nodes.call("rand")
    _require_int(called, 0)
    return call_udf("random_double", called[0], _place(called))


def rand_integer(called: TranslatedCall) -> nodes.Node:
    """RAND_INTEGER([seed,] bound): an INT in [0, bound); a bound that is not positive fails."""
    for index in range(len(called.arguments)):
        _require_int(called, index)
    if len(called.arguments) > 1:
        return call_udf("random_integer", called[0], called[1], _place(called))
    problem = nodes.fail("RAND_INTEGER: the bound must be positive")
    return nodes.let(
        called[0],
        lambda bound: sql(
            "if({bound} <= 0, {problem}, CAST(floor(rand() * {bound}) AS INT))",
            bound=bound,
            problem=problem,
        ),
    )


def _require_int(called: TranslatedCall, index: int) -> None:
    if not isinstance(called.types[index], types.IntType | types.SmallIntType | types.TinyIntType):
        name, type_ = called.call.function.name, called.types[index].as_summary_string()
        raise nodes.unsupported_error(f"Flink does not support {name} of {type_}", "cast it to INT")


def _place(called: TranslatedCall) -> nodes.Node:
    """Return how many numbers a task has drawn before that of a row.

    With a constant seed a task draws them one after the other; another seed begins anew.
    """
    if not isinstance(called.call.arguments[0], Constant):
        return nodes.node_of(0)
    return sql("pmod(monotonically_increasing_id(), {rows})", rows=nodes.Literal(str(2**33), "L"))


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
    "RAND": udf(rand),
    "RAND_INTEGER": udf(rand_integer),
    "UUID": native("uuid()"),
    "CURRENT_DATABASE": native(current_database),
    #: of `query.updates`: of a row that is not a change
    "$KIND": native("'+I'"),
    #: of `query.derived_versions`
    "$ARRIVAL": native("monotonically_increasing_id()"),
    "PRINT": refusal_rule("it is internal to Flink"),
}

#: Name of a function -> its rule.
RULES: dict[str, TranslationRule] = {
    **{name: rule for family in FAMILIES for name, rule in family.RULES.items()},
    **OTHERS,
}
