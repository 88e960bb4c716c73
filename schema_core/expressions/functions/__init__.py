"""The built-in functions of Flink SQL: one table of signatures per family."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING

from schema_core.expressions.functions import (
    aggregates,
    bitmaps,
    casts,
    collections,
    comparison,
    conditional,
    constructors,
    hashes,
    json,
    logic,
    numbers,
    operators,
    strings,
    system,
    temporal,
    variants,
    windows,
)

if TYPE_CHECKING:
    from schema_core.expressions.signatures import Function

FAMILIES = (
    aggregates, bitmaps, casts, collections, comparison, conditional, constructors, hashes, json,
    logic, numbers, operators, strings, system, temporal, variants, windows,
)  # fmt: skip


def _by_name() -> dict[str, tuple[Function, ...]]:
    table: dict[str, tuple[Function, ...]] = {}
    for function in chain.from_iterable(family.FUNCTIONS for family in FAMILIES):
        for name in (function.name, *function.aliases):
            table[name] = (*table.get(name, ()), function)
    return table


#: Upper-case name or operator symbol -> the functions of that name.
BUILT_IN: Mapping[str, tuple[Function, ...]] = MappingProxyType(_by_name())
