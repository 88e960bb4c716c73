"""The built-in functions of Flink SQL: one table of signatures per family.

Functions are pickled as references: a built-in one by name and index, a declared one by its
declaration.
"""

from __future__ import annotations

import copyreg
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING

from schema_core.expressions.functions import (
    aggregates,
    casts,
    collections,
    comparison,
    conditional,
    json,
    numbers,
    strings,
    temporal,
)
from schema_core.expressions.signatures import ANY, exactly, explicit
from schema_core.expressions.typed import Function, FunctionKind, Rules
from schema_core.types import DataType

if TYPE_CHECKING:
    from schema_core.expressions.typed import Declared, Signature, Spark

FAMILIES = (
    aggregates, casts, collections, comparison, conditional, json, numbers, strings, temporal,
)  # fmt: skip


def _by_name() -> dict[str, tuple[Function, ...]]:
    table: dict[str, tuple[Function, ...]] = {}
    for function in chain.from_iterable(family.FUNCTIONS for family in FAMILIES):
        for name in (function.name, *function.aliases):
            table[name] = (*table.get(name, ()), function)
    return table


#: Upper-case name or operator symbol -> the functions of that name.
BUILT_IN: Mapping[str, tuple[Function, ...]] = MappingProxyType(_by_name())


def declare(
    name: str,
    signatures: Sequence[tuple[Sequence[Declared], DataType]],
    *,
    kind: FunctionKind = FunctionKind.SCALAR,
    path: tuple[str, ...] = (),
    deterministic: bool = True,
    spark: Spark = None,
) -> tuple[Function, ...]:
    """The rows of a user-defined function, one for each signature.

    Arguments are cast to the declared types where an implicit cast exists.

    >>> from schema_core.types import DataTypes as T
    >>> [str(row) for row in declare("PlusOne", [([T.INT()], T.INT())])]
    ['PlusOne(INT)']
    """
    return tuple(
        _make_row(name, (tuple(parameters), returns), kind, path or (name,), deterministic, spark)
        for parameters, returns in signatures
    )


def _make_row(
    name: str,
    signature: Signature,
    kind: FunctionKind,
    path: tuple[str, ...],
    deterministic: bool,
    spark: Spark,
) -> Function:
    parameters, returns = signature
    more = int(... in parameters)
    return Function(
        name,
        tuple(
            explicit(parameter) if isinstance(parameter, DataType) else ANY
            for parameter in parameters
        ),
        exactly(returns),
        optional=more,
        repeats=more,
        nullability=None,
        kind=kind,
        rules=Rules.TABLE_API,
        deterministic=deterministic,
        quoted=True,
        path=path,
        declared=signature,
        spark=spark,
    )


# --- pickling -------------------------------------------------------------------------------------


def _built_in(name: str, index: int) -> Function:
    """A built-in function by its name and index."""
    return BUILT_IN[name][index]


def _reduce(function: Function) -> tuple[Callable[..., Function], tuple[object, ...]]:
    """The reference that a function is pickled as."""
    if function.declared is not None:
        options = (function.kind, function.path, function.deterministic, function.spark)
        return _make_row, (function.name, function.declared, *options)
    for index, row in enumerate(BUILT_IN.get(function.name, ())):
        if row is function:
            return _built_in, (function.name, index)
    from pickle import PicklingError

    raise PicklingError(f"{function} is not a built-in function and declares no signature")


copyreg.pickle(Function, _reduce)
