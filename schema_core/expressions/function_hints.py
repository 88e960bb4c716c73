"""Type hints of functions in Python, and the data types of their parameters."""

from __future__ import annotations

import datetime as dt
import inspect
import typing
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import Annotated, Any, get_args, get_origin

from schema_core.errors import SchemaError
from schema_core.types import DataType
from schema_core.types.python import type_of


def type_hints(function: Callable[..., Any]) -> dict[str, Any]:
    """The type hints of a function or a callable object (`invalid-function`)."""
    hinted = function
    if isinstance(function, partial):
        hinted = function.func
    elif not inspect.isroutine(function):
        hinted = type(function).__call__
    try:
        return typing.get_type_hints(hinted, include_extras=True)
    except Exception as error:  # a hint in quotes is evaluated
        problem = f"the type hints cannot be evaluated: {error}"
        raise SchemaError(problem, code="invalid-function") from error


#: Classes whose values have several precisions: a cast to one of them may change a value.
IMPRECISE = (Decimal, dt.datetime, dt.time)


def parameter_type(hint: Any) -> DataType | None:
    """The type of a parameter; None if it takes arguments of any type."""
    if hint is Any or _is_imprecise(hint):
        return None
    try:
        return type_of(hint).nullable()
    except SchemaError as error:
        if error.code == "data-type-not-inferred":
            return None
        raise


def _is_imprecise(hint: Any) -> bool:
    """Whether a hint names an imprecise class, other than within ``Annotated``."""
    if any(hint is data_type for data_type in IMPRECISE):
        return True
    nested = () if get_origin(hint) is Annotated else get_args(hint)
    return any(map(_is_imprecise, nested))
