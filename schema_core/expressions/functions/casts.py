"""CAST and TRY_CAST."""

from __future__ import annotations

from schema_core.expressions.conversions import sql_cast_type, sql_casts
from schema_core.expressions.signatures import Arg, Function, Given
from schema_core.expressions.typed import Target
from schema_core.expressions.vocabulary import ANY, always
from schema_core.types import DataType, TypeRoot


def _castable(given: Given, i: int) -> DataType | None:
    """A type into which SQL casts the value."""
    target = given.types[i]
    if not isinstance(given.trees[i], Target) or target.root is TypeRoot.RAW:
        return None
    return target if sql_casts(given.types[0], target) else None


def cast(given: Given) -> DataType:
    """The target, nullable where the value is."""
    return sql_cast_type(*given.types)


TARGET = Arg("<TYPE>", _castable)

FUNCTIONS = (
    #        name        takes          gives
    Function("CAST",     (ANY, TARGET), cast, nulls=None),
    Function("TRY_CAST", (ANY, TARGET), cast, nulls=always),
)  # fmt: skip
