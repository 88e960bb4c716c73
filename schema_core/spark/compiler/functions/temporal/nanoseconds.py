"""Timestamps of more than six digits: Spark's timestamp, and the nanoseconds beyond it.

Spark's timestamps have microseconds. Within an expression a TIMESTAMP or TIMESTAMP_LTZ of seven to
nine digits is a struct of the timestamp and of 0 to 999 nanoseconds, which Spark compares, groups
and sorts as Flink does. The columns of a frame have microseconds: a value with nanoseconds fails
the job there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from schema_core.expressions.typed import Ref
from schema_core.spark.compiler import tree as nodes
from schema_core.spark.compiler.template import inline
from schema_core.spark.compiler.translation import Translate, TranslatedCall
from schema_core.spark.compiler.value_types import (
    MAX_PRECISION,
    MICROS,
    NANOS,
    is_fine,
    truncated_to_micros,
)
from schema_core.types import DataType, TimestampType

#: Functions whose rules take and return the structs.
EXACT = frozenset(
    {"=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"}
    | {"BETWEEN", "NOT BETWEEN", "IN", "NOT IN"}
    | {f"{symbol} ALL" for symbol in ("=", "<>", "<", "<=", ">", ">=")}
    | {f"{symbol} SOME" for symbol in ("=", "<>", "<", "<=", ">", ">=")}
    | {"CASE", "IF", "COALESCE", "IFNULL", "NULLIF", "GREATEST", "LEAST"}
    | {"CAST", "TRY_CAST", "EXTRACT", "DATE_FORMAT", "TO_TIMESTAMP_LTZ", "TYPEOF"}
    | {
        "IS NULL",
        "IS NOT NULL",
        "COUNT",
        "MIN",
        "MAX",
        "FIRST_VALUE",
        "LAST_VALUE",
        "SINGLE_VALUE",
        "LAG",
        "LEAD",
    }
)

#: Functions of a timestamp that do not depend on its nanoseconds.
WHOLE = frozenset(
    {"YEAR", "QUARTER", "MONTH", "WEEK", "DAYOFYEAR", "DAYOFMONTH", "DAYOFWEEK", "HOUR", "MINUTE"}
    | {"SECOND", "TIMESTAMPDIFF", "FLOOR", "CEIL", "CEILING", "(-)"}
)

#: Units to which the nanoseconds of a timestamp are rounded up.
DURATIONS = frozenset({"MILLISECOND", "SECOND", "MINUTE", "HOUR", "DAY"})

#: Functions that add an interval to a timestamp, or subtract one: its nanoseconds stay.
SHIFTS = frozenset({"+", "-", "TIMESTAMPADD"})


def micros_of(node: nodes.Node) -> nodes.Node:
    """Return the timestamp of a struct, in microseconds."""
    return nodes.Field(node, MICROS)


def nanos(node: nodes.Node) -> nodes.Node:
    """Return the nanoseconds of a struct beyond its microseconds, 0 to 999."""
    return nodes.Field(node, NANOS)


def make_nanosecond_struct(micros: nodes.Node, beyond: nodes.Node | int) -> nodes.Node:
    """Return the struct of a timestamp and its nanoseconds; NULL if the timestamp is."""
    return nodes.let(
        micros,
        lambda at: inline(
            f"if({{at}} IS NULL, NULL, named_struct('{MICROS}', {{at}}, '{NANOS}', {{beyond}}))",
            at=at,
            beyond=nodes.Cast(inline("{n}", n=beyond), "SMALLINT"),
        ),
    )


def as_stored(node: nodes.Node, type_: DataType) -> nodes.Node:
    """Return the timestamp of a struct; the job fails if it has nanoseconds."""
    problem = f"Spark stores microseconds, a {type_.as_summary_string()} has nanoseconds"
    return nodes.let(
        node,
        lambda v: inline(
            "if({n} <> 0, {problem}, {at})",
            n=nanos(v),
            problem=nodes.fail(problem),
            at=micros_of(v),
        ),
    )


def translate_with_nanoseconds(translate: Translate, called: TranslatedCall) -> nodes.Node:
    """Return a call of which an argument or the result may be a struct.

    Raises:
        UnsupportedError: with code `not-executable` for a function that has no such values here.
    """
    name = called.call.function.name
    places = [place for place, type_ in enumerate(called.types) if is_fine(type_)]
    if name in EXACT or not (places or is_fine(called.type)):
        return translate(called)
    if called.call.function.declared is not None or name not in WHOLE | SHIFTS or not places:
        require_micros(*called.types, called.type)
    call = replace(
        called.call,
        type=truncated_to_micros(called.type),
        arguments=tuple(
            Ref("", truncated_to_micros(argument.type)) if place in places else argument
            for place, argument in enumerate(called.call.arguments)
        ),
    )
    is_local = isinstance(called.types[places[0]], TimestampType)
    is_up = name in {"CEIL", "CEILING"} and is_local and called.keyword(1) in DURATIONS
    part = _rounded_up if is_up else micros_of
    node = translate(replace(_change_arguments(called, places, part), call=call))
    if not is_fine(called.type):
        return node
    return make_nanosecond_struct(node, nanos(called[places[0]]) if name in SHIFTS else 0)


def _change_arguments(
    called: TranslatedCall, places: list[int], change: Callable[[nodes.Node], nodes.Node]
) -> TranslatedCall:
    """Return a call with some of its arguments changed."""
    arguments = tuple(
        change(node) if place in places else node for place, node in enumerate(called.arguments)
    )
    return replace(called, arguments=arguments)


def _rounded_up(node: nodes.Node) -> nodes.Node:
    """Return the first microsecond that is not before a timestamp."""
    up = "make_dt_interval(0, 0, 0, if({n} > 0, 0.000001, 0))"
    return inline(f"{{at}} + {up}", at=micros_of(node), n=nanos(node))


def require_micros(*types: DataType) -> None:
    """Refuse timestamps with more digits than Spark stores.

    Raises:
        UnsupportedError: with code `not-executable`.
    """
    for part in (part for type_ in types for part in type_.walk()):
        if is_fine(part):
            raise nodes.unsupported_error(
                f"Spark stores microseconds, {part.as_summary_string()} has more digits",
                hint=f"cast it to a precision of {MAX_PRECISION}",
            )
