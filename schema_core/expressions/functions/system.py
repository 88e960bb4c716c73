"""Functions of the session, and functions that inspect their argument."""

from __future__ import annotations

from schema_core.expressions.signature_dsl import (
    ANY,
    BOOLEAN,
    always,
    bridged,
    exactly,
    literal,
    never,
)
from schema_core.expressions.signatures import Function
from schema_core.types import DataTypes as T

FUNCTIONS = (
    # name, parameters, return type
    Function("CURRENT_DATABASE", (),                      exactly(T.STRING()),
             nullability=never, deterministic=False),
    bridged("TYPEOF",            (ANY, literal(BOOLEAN)), exactly(T.STRING()),
            optional=1, nullability=always),
    bridged("$HASHCODE$1",       (ANY,),                  exactly(T.INT())),
)  # fmt: skip
