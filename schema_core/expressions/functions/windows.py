"""Group windows, such as ``TUMBLE(ts, INTERVAL '1' HOUR)`` in GROUP BY, and their bounds."""

from __future__ import annotations

from functools import partial

from schema_core.expressions.signature_dsl import (
    DATETIME,
    INTERVAL,
    TIME,
    exactly,
    keyword,
    like,
    never,
)
from schema_core.expressions.signatures import Function
from schema_core.types import DataTypes as T

#: Group window -> the parameters of its sizes, which follow the time attribute.
SIZES = {"TUMBLE": (INTERVAL,), "HOP": (INTERVAL, INTERVAL), "SESSION": (INTERVAL,)}

window = partial(Function, nullability=None)
bound = partial(Function, nullability=never)


def functions_of(name: str) -> tuple[Function, ...]:
    """Return the rows of a group window, its bounds and its time attributes."""
    parameters = (DATETIME, *SIZES[name], TIME)
    bounds = exactly(T.TIMESTAMP(3))
    return (
        window(f"${name}", parameters, like(0), optional=1, aliases=(name,)),
        bound(f"{name}_START", parameters, bounds, optional=1),
        bound(f"{name}_END", parameters, bounds, optional=1),
        window(f"{name}_ROWTIME", parameters, like(0), optional=1),
        window(f"{name}_PROCTIME", parameters, like(0), optional=1),
    )


FUNCTIONS = (
    *functions_of("TUMBLE"),
    *functions_of("HOP"),
    *functions_of("SESSION"),
    Function(
        "DESCRIPTOR",
        (keyword(),),
        exactly(T.DESCRIPTOR()),
        optional=1,
        repeats=1,
        nullability=never,
        bare_names=True,
    ),
)
