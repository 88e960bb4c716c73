"""The vocabulary of the function tables: what a row says about a function.

A row tells what a function takes, what it gives, when its result may be NULL, how Flink prints it
and how Spark computes it. The algorithms that read rows are `infer` (types), `sql.printer` (text) and
`expressions.spark`; none of them knows a function by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from schema_core.types import DataType

if TYPE_CHECKING:
    from schema_core.expressions.typed import Typed

Types: TypeAlias = Sequence[DataType]


class Kind(Enum):
    """What a function does with rows."""

    SCALAR = "scalar"
    AGGREGATE = "aggregate"
    TABLE = "table"
    PROCESS_TABLE = "process table"


@dataclass(frozen=True, slots=True)
class Arg:
    """What may stand in one place: a name for messages and a test of the type."""

    shown: str
    fits: Callable[[DataType], bool]


#: When the result may be NULL, from the nullability of the arguments: `any` and `all` are two.
Nulls: TypeAlias = Callable[[Iterable[bool]], bool]
