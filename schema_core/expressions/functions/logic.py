"""Operators of three-valued logic."""

from __future__ import annotations

from schema_core.expressions.signature_dsl import BOOLEAN, exactly, never, operation
from schema_core.types import DataTypes as T

TRUTH = exactly(T.BOOLEAN())

FUNCTIONS = (
    # name, parameters, return type
    operation("AND",            (BOOLEAN, BOOLEAN), TRUTH, repeats=1),
    operation("OR",             (BOOLEAN, BOOLEAN), TRUTH, repeats=1),
    operation("NOT",            (BOOLEAN,),         TRUTH),
    operation("IS TRUE",        (BOOLEAN,),         TRUTH, nullability=never),
    operation("IS NOT TRUE",    (BOOLEAN,),         TRUTH, nullability=never),
    operation("IS FALSE",       (BOOLEAN,),         TRUTH, nullability=never),
    operation("IS NOT FALSE",   (BOOLEAN,),         TRUTH, nullability=never),
    operation("IS UNKNOWN",     (BOOLEAN,),         TRUTH, nullability=never),
    operation("IS NOT UNKNOWN", (BOOLEAN,),         TRUTH, nullability=never),
)  # fmt: skip
