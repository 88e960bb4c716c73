"""Aggregates: values that are cast first where the two would add up differently."""

from __future__ import annotations

from schema_core.spark.compiler.sql_builder import (
    FLOATS,
    INTEGERS,
    Called,
    Form,
    fail,
    sql_type,
    unsupported,
)
from schema_core.types import DecimalType, MapType, MultisetType, VariantType

#: Functions of windows: those that give a value of another row, and those that number rows.
SHIFTS = ("lag", "lead")
RANKS = ("ntile", "row_number", "rank", "dense_rank", "cume_dist", "percent_rank")


def aggregated(name: str, called: Called, *arguments: str) -> str:
    """A call of an aggregate of Spark's, with DISTINCT before and FILTER and OVER behind."""
    distinct = "DISTINCT " if called.apply.symbol == "DISTINCT" else ""
    if distinct and called.apply.over is not None:
        raise unsupported(
            f"{called.apply.function.name} of DISTINCT values over a window is not run on Spark",
            hint="remove duplicates in a derived table",
        )
    return f"{name}({distinct}{', '.join(arguments)}){called.suffix}"


def count(called: Called) -> str:
    """COUNT of rows, or of rows where all arguments are known."""
    return aggregated("count", called, *(called.arguments or ("*",)))


def total(called: Called) -> str:
    """SUM: of whole numbers in their own type, as Flink adds them."""
    name = sql_type(called.type)
    if isinstance(called.type, DecimalType):
        return f"CAST({aggregated('sum', called, called[0])} AS {name})"
    return f"CAST({aggregated('sum', called, f'CAST({called[0]} AS {name})')} AS {name})"


def average(called: Called) -> str:
    """AVG: of whole numbers a whole number, cut towards zero."""
    name = sql_type(called.type)
    if isinstance(called.type, INTEGERS):
        added = aggregated("sum", called, f"CAST({called[0]} AS BIGINT)")
        return f"CAST({added} DIV {aggregated('count', called, called[0])} AS {name})"
    if isinstance(called.type, FLOATS):
        return f"CAST({aggregated('avg', called, f'CAST({called[0]} AS DOUBLE)')} AS {name})"
    return f"CAST({aggregated('avg', called, called[0])} AS {name})"


def spread(name: str) -> Form:
    """STDDEV_POP and its kin, of DOUBLEs."""

    def form(called: Called) -> str:
        if not isinstance(called.type, FLOATS):
            raise unsupported(f"{name} of {called.types[0]} is not run on Spark")
        inner = aggregated(name, called, f"CAST({called[0]} AS DOUBLE)")
        return f"CAST({inner} AS {sql_type(called.type)})"

    return form


def plain(name: str) -> Form:
    """An aggregate of the same meaning."""
    return lambda called: aggregated(name, called, *called.arguments)


def extreme(name: str) -> Form:
    """MIN and MAX, of values that Spark orders."""

    def form(called: Called) -> str:
        for part in called.types[0].walk():
            if isinstance(part, MapType | MultisetType | VariantType):
                raise unsupported(f"Spark does not order {part.as_summary_string()}")
        return aggregated(name, called, called[0])

    return form


def ranking(name: str) -> Form:
    """A function of windows that has no meaning without one."""

    def form(called: Called) -> str:
        if called.apply.over is None:
            raise unsupported(f"{called.apply.function.name} needs an OVER clause")
        sql = aggregated(name, called, *called.arguments)
        return sql if name in SHIFTS else f"CAST({sql} AS {sql_type(called.type)})"

    return form


def single(called: Called) -> str:
    """SINGLE_VALUE: more than one row ends the job."""
    return f"if(count(*) > 1, {fail('more than one row')}, first({called[0]}))"


def listed(called: Called) -> str:
    """LISTAGG: all known texts, with a comma between them unless said otherwise."""
    separator = called[1] if len(called.arguments) > 1 else "','"
    texts = aggregated("collect_list", called, called[0])
    return f"nullif(array_join({texts}, {separator}), '')"


FORMS: dict[str, Form] = {
    "COUNT": count,
    "SUM": total,
    "AVG": average,
    "MIN": extreme("min"),
    "MAX": extreme("max"),
    "STDDEV_POP": spread("stddev_pop"),
    "STDDEV_SAMP": spread("stddev_samp"),
    "STDDEV": spread("stddev_samp"),
    "VAR_POP": spread("var_pop"),
    "VAR_SAMP": spread("var_samp"),
    "VARIANCE": spread("var_samp"),
    "SINGLE_VALUE": single,
    "LISTAGG": listed,
    "ARRAY_AGG": plain("collect_list"),
    "FIRST_VALUE": plain("first_value"),
    "LAST_VALUE": plain("last_value"),
    **{name.upper(): ranking(name) for name in (*SHIFTS, *RANKS)},
}
