"""Functions of bitmaps: compressed sets of 32-bit integers."""

from __future__ import annotations

from schema_core.expressions.signature_dsl import (
    AS_BITMAP,
    AS_BYTES,
    AS_INT,
    always,
    bridged,
    bridged_aggregate,
    exactly,
    explicit,
)
from schema_core.types import DataTypes as T

SET = exactly(T.BITMAP())
COUNT = exactly(T.BIGINT())
NUMBERS = explicit(T.ARRAY(T.INT()))

FUNCTIONS = (
    # name, parameters, return type
    bridged("BITMAP_BUILD",       (NUMBERS,),             SET),
    bridged("BITMAP_FROM_BYTES",  (AS_BYTES,),            SET),
    bridged("BITMAP_AND",         (AS_BITMAP, AS_BITMAP), SET),
    bridged("BITMAP_ANDNOT",      (AS_BITMAP, AS_BITMAP), SET),
    bridged("BITMAP_OR",          (AS_BITMAP, AS_BITMAP), SET),
    bridged("BITMAP_XOR",         (AS_BITMAP, AS_BITMAP), SET),
    bridged("BITMAP_CARDINALITY", (AS_BITMAP,),           COUNT),
    bridged("BITMAP_TO_ARRAY",    (AS_BITMAP,),           exactly(T.ARRAY(T.INT()))),
    bridged("BITMAP_TO_BYTES",    (AS_BITMAP,),           exactly(T.BYTES())),
    bridged("BITMAP_TO_STRING",   (AS_BITMAP,),           exactly(T.STRING())),
    # --- aggregate functions ----------------------------------------------------------------------
    bridged_aggregate("BITMAP_BUILD_AGG",             (AS_INT,),    SET, nullability=always),
    bridged_aggregate("BITMAP_BUILD_CARDINALITY_AGG", (AS_INT,),    COUNT, nullability=always),
    bridged_aggregate("BITMAP_AND_AGG",               (AS_BITMAP,), SET, nullability=always),
    bridged_aggregate("BITMAP_AND_CARDINALITY_AGG",   (AS_BITMAP,), COUNT, nullability=always),
    bridged_aggregate("BITMAP_OR_AGG",                (AS_BITMAP,), SET, nullability=always),
    bridged_aggregate("BITMAP_OR_CARDINALITY_AGG",    (AS_BITMAP,), COUNT, nullability=always),
    bridged_aggregate("BITMAP_XOR_AGG",               (AS_BITMAP,), SET, nullability=always),
    bridged_aggregate("BITMAP_XOR_CARDINALITY_AGG",   (AS_BITMAP,), COUNT, nullability=always),
)  # fmt: skip
