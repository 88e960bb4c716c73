"""CAST and its kin as functions."""

from __future__ import annotations

from schema_core.expressions.typed import Constant, Typed
from schema_core.spark.compiler.functions.casts import convert
from schema_core.spark.compiler.functions.strings_of_values import printed
from schema_core.spark.compiler.sql_builder import Called, Form, fail, string
from schema_core.types import DecimalType, NullType


def cast(*, lenient: bool) -> Form:
    """CAST, or TRY_CAST if `lenient`: the second argument is the type."""

    def form(called: Called) -> str:
        target = called.apply.arguments[1].type if len(called.arguments) > 1 else called.type
        said = convert(called[0], called.types[0], target, called.zone, lenient=lenient)
        if isinstance(target, DecimalType) and _is_number(called.apply.arguments[0]):
            return said if lenient else f"coalesce({said}, {fail(f'it does not fit {target}')})"
        return said

    return form


def _is_number(tree: Typed) -> bool:
    """Whether a value is a literal that is not NULL: Flink computes its cast while planning."""
    return isinstance(tree, Constant) and not isinstance(tree.type, NullType)


def type_of(called: Called) -> str:
    """TYPEOF: the type as text, in its long form if asked for."""
    type_ = called.types[0]
    long = len(called.arguments) > 1 and called[1] == "TRUE"
    return string(type_.as_serializable_string() if long else type_.as_summary_string())


def text_of(called: Called) -> str:
    """A value printed as Flink prints it."""
    return printed(called[0], called.types[0], called.zone)


FORMS: dict[str, Form] = {
    "CAST": cast(lenient=False),
    "TRY_CAST": cast(lenient=True),
    "REINTERPRET_CAST": cast(lenient=False),
    "TYPEOF": type_of,
}
