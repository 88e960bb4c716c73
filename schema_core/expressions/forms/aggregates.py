"""Aggregates: values that are cast first where the two would add up differently.

A call is ``f([DISTINCT] arguments) [FILTER (WHERE ...)]``; what stands around the arguments is
added by `schema_core.expressions.spark`.
"""

from __future__ import annotations

from schema_core.expressions.forms.words import (
    FLOATS,
    INTEGERS,
    Called,
    Form,
    fail,
    sql_type,
    unsupported,
)
from schema_core.types import DecimalType

#: Stands before the arguments where the call says DISTINCT.
DISTINCT = "DISTINCT "


def _distinct(called: Called) -> str:
    return DISTINCT if called.apply.symbol == "DISTINCT" else ""


def count(called: Called) -> str:
    """COUNT of rows, or of rows where all arguments are known."""
    arguments = ", ".join(called.arguments) or "*"
    return f"count({_distinct(called)}{arguments})"


def total(called: Called) -> str:
    """SUM: of whole numbers in their own type, as Flink adds them."""
    name = sql_type(called.type)
    if isinstance(called.type, DecimalType):
        return f"CAST(sum({_distinct(called)}{called[0]}) AS {name})"
    return f"CAST(sum({_distinct(called)}CAST({called[0]} AS {name})) AS {name})"


def average(called: Called) -> str:
    """AVG: of whole numbers a whole number, cut towards zero."""
    name = sql_type(called.type)
    if isinstance(called.type, INTEGERS):
        added = f"sum({_distinct(called)}CAST({called[0]} AS BIGINT))"
        return f"CAST({added} DIV count({_distinct(called)}{called[0]}) AS {name})"
    if isinstance(called.type, FLOATS):
        return f"CAST(avg({_distinct(called)}CAST({called[0]} AS DOUBLE)) AS {name})"
    return f"CAST(avg({_distinct(called)}{called[0]}) AS {name})"


def spread(name: str) -> Form:
    """STDDEV_POP and its kin, of DOUBLEs."""

    def form(called: Called) -> str:
        if isinstance(called.type, FLOATS):
            inner = f"{name}({_distinct(called)}CAST({called[0]} AS DOUBLE))"
            return f"CAST({inner} AS {sql_type(called.type)})"
        raise unsupported(f"{name} of {called.types[0]} is not run on Spark")

    return form


def plain(name: str) -> Form:
    """An aggregate of the same name and meaning."""
    return lambda called: f"{name}({_distinct(called)}{', '.join(called.arguments)})"


def single(called: Called) -> str:
    """SINGLE_VALUE: more than one row ends the job."""
    return f"if(count(*) > 1, {fail('more than one row')}, first({called[0]}))"


FORMS: dict[str, Form] = {
    "COUNT": count,
    "SUM": total,
    "AVG": average,
    "MIN": plain("min"),
    "MAX": plain("max"),
    "STDDEV_POP": spread("stddev_pop"),
    "STDDEV_SAMP": spread("stddev_samp"),
    "STDDEV": spread("stddev_samp"),
    "VAR_POP": spread("var_pop"),
    "VAR_SAMP": spread("var_samp"),
    "VARIANCE": spread("var_samp"),
    "SINGLE_VALUE": single,
    "ROW_NUMBER": "CAST(row_number() AS BIGINT)",
    "RANK": "CAST(rank() AS BIGINT)",
    "DENSE_RANK": "CAST(dense_rank() AS BIGINT)",
    "ARRAY_AGG": plain("collect_list"),
}
