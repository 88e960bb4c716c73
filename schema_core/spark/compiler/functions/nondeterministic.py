"""Functions without a fixed value: the clock, random numbers and UUID.

In batch mode Flink reads its clock once, when a query starts, and so does Spark;
CURRENT_ROW_TIMESTAMP reads it for every row. Flink's type CURRENT_TIME(p) can be resolved, but
none of these functions runs in Flink with a precision.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from schema_core.spark.compiler import tree as nodes
from schema_core.spark.compiler.functions.temporal import datetimes
from schema_core.spark.compiler.template import sql
from schema_core.spark.compiler.translation import (
    TranslatedCall,
    TranslationRule,
    native,
    rewrite_rule,
)
from schema_core.types import DataType, DataTypes, IntType, SmallIntType, TinyIntType

#: Milliseconds since 1970 when the query starts, and when a row is computed.
_QUERY_CLOCK = "unix_millis(current_timestamp())"
_ROW_CLOCK = "CAST(reflect('java.lang.System', 'currentTimeMillis') AS BIGINT)"

_INSTANT = DataTypes.TIMESTAMP_LTZ(3)


def _instant(zone: str, type_: DataType, clock: str = _QUERY_CLOCK) -> nodes.Node:
    return datetimes.of_millis(sql(clock), _INSTANT)


def _local(zone: str, type_: DataType) -> nodes.Node:
    return datetimes.local(_instant(zone, type_), zone)


def _date(zone: str, type_: DataType) -> nodes.Node:
    return nodes.Cast(_local(zone, type_), "DATE")


def _time(zone: str, type_: DataType) -> nodes.Node:
    return datetimes.time_of_millis(datetimes.millis(_local(zone, type_)), type_)


def _clock(read: Callable[[str, DataType], nodes.Node]) -> TranslationRule:
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
    """RAND(): a DOUBLE from 0 to below 1, another one for every row."""
    if called.arguments:
        raise _seed_error("RAND()")
    return nodes.call("rand")


def rand_integer(called: TranslatedCall) -> nodes.Node:
    """RAND_INTEGER(bound): an INT from 0 to below the bound, which fails if it is not positive."""
    if len(called.arguments) > 1:
        raise _seed_error("RAND_INTEGER(bound)")
    if not isinstance(called.types[0], IntType | SmallIntType | TinyIntType):
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


RULES: dict[str, TranslationRule] = {
    "CURRENT_DATE": _clock(_date),
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
}
