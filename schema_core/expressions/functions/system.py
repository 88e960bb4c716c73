"""Functions of the session and about expressions."""

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
    #        name                takes                    gives
    Function("CURRENT_DATABASE", (),                      exactly(T.STRING()),
             nulls=never, deterministic=False),
    bridged("TYPEOF",            (ANY, literal(BOOLEAN)), exactly(T.STRING()),
            optional=1, nulls=always),
    bridged("$HASHCODE$1",       (ANY,),                  exactly(T.INT())),
)  # fmt: skip
