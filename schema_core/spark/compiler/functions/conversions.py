"""CAST and its variants as functions."""

from __future__ import annotations

from schema_core.expressions.typed import Constant, Typed
from schema_core.spark.compiler.functions.casts import convert
from schema_core.spark.compiler.translation import (
    TranslatedCall,
    TranslationRule,
    rewrite_rule,
)
from schema_core.spark.compiler.tree import Literal, Node, call, fail
from schema_core.types import DecimalType, NullType


def cast(*, try_: bool) -> TranslationRule:
    """CAST, or TRY_CAST: the second argument is the type."""

    def translate(called: TranslatedCall) -> Node:
        target = called.call.arguments[1].type if len(called.arguments) > 1 else called.type
        converted = convert(called[0], called.types[0], target, called.zone, try_=try_)
        if isinstance(target, DecimalType) and _is_number(called.call.arguments[0]) and not try_:
            return call("coalesce", converted, fail(f"the value does not fit {target}"))
        return converted

    return rewrite_rule(translate)


def _is_number(tree: Typed) -> bool:
    """Return whether a value is a literal other than NULL: Flink casts it while planning."""
    return isinstance(tree, Constant) and not isinstance(tree.type, NullType)


def type_of(called: TranslatedCall) -> Node:
    """TYPEOF: the type as a string, in its long form on demand."""
    type_ = called.types[0]
    full = called[1] if len(called.arguments) > 1 else None
    long = isinstance(full, Literal) and full.value is True
    return Literal(type_.as_serializable_string() if long else type_.as_summary_string())


RULES: dict[str, TranslationRule] = {
    "CAST": cast(try_=False),
    "TRY_CAST": cast(try_=True),
    "REINTERPRET_CAST": cast(try_=False),
    "TYPEOF": rewrite_rule(type_of),
}
