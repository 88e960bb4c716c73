"""Three-valued logic."""

from __future__ import annotations

from schema_core.expressions.signatures import Function
from schema_core.expressions.vocabulary import BOOLEAN, exactly, never
from schema_core.types import DataTypes as T

TRUTH = exactly(T.BOOLEAN())

FUNCTIONS = (
    #        name              takes                gives
    Function("AND",            (BOOLEAN, BOOLEAN),  TRUTH, repeats=1),
    Function("OR",             (BOOLEAN, BOOLEAN),  TRUTH, repeats=1),
    Function("NOT",            (BOOLEAN,),          TRUTH),
    Function("IS TRUE",        (BOOLEAN,),          TRUTH, nulls=never),
    Function("IS NOT TRUE",    (BOOLEAN,),          TRUTH, nulls=never),
    Function("IS FALSE",       (BOOLEAN,),          TRUTH, nulls=never),
    Function("IS NOT FALSE",   (BOOLEAN,),          TRUTH, nulls=never),
    Function("IS UNKNOWN",     (BOOLEAN,),          TRUTH, nulls=never),
    Function("IS NOT UNKNOWN", (BOOLEAN,),          TRUTH, nulls=never),
)  # fmt: skip
