"""Windows as groups (``TUMBLE(ts, INTERVAL '1' HOUR)`` in GROUP BY) and their bounds."""

from __future__ import annotations

from functools import partial

from schema_core.expressions.signature_dsl import (
    DATETIME,
    INTERVAL,
    TIME,
    exactly,
    like,
    never,
    word,
)
from schema_core.expressions.signatures import Function
from schema_core.types import DataTypes as T

#: Window -> what it takes behind the time: its sizes.
SIZES = {"TUMBLE": (INTERVAL,), "HOP": (INTERVAL, INTERVAL), "SESSION": (INTERVAL,)}

window = partial(Function, nulls=None)
bound = partial(Function, nulls=never)


def functions_of(name: str) -> tuple[Function, ...]:
    """The window itself, its bounds, and its time attributes."""
    takes = (DATETIME, *SIZES[name], TIME)
    bounds = exactly(T.TIMESTAMP(3))
    return (
        window(f"${name}", takes, like(0), optional=1, aliases=(name,)),
        bound(f"{name}_START", takes, bounds, optional=1),
        bound(f"{name}_END", takes, bounds, optional=1),
        window(f"{name}_ROWTIME", takes, like(0), optional=1),
        window(f"{name}_PROCTIME", takes, like(0), optional=1),
    )


FUNCTIONS = (
    *functions_of("TUMBLE"),
    *functions_of("HOP"),
    *functions_of("SESSION"),
    Function(
        "DESCRIPTOR",
        (word(),),
        exactly(T.DESCRIPTOR()),
        optional=1,
        repeats=1,
        nulls=never,
        bare_names=True,
    ),
)
