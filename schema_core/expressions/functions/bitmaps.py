"""Sets of 32-bit numbers, compressed: made, combined, counted."""

from __future__ import annotations

from schema_core.expressions.signature_dsl import (
    BITMAP,
    BYTES,
    INT,
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
    #       name                   takes              gives
    bridged("BITMAP_BUILD",        (NUMBERS,),        SET),
    bridged("BITMAP_FROM_BYTES",   (BYTES,),          SET),
    bridged("BITMAP_AND",          (BITMAP, BITMAP),  SET),
    bridged("BITMAP_ANDNOT",       (BITMAP, BITMAP),  SET),
    bridged("BITMAP_OR",           (BITMAP, BITMAP),  SET),
    bridged("BITMAP_XOR",          (BITMAP, BITMAP),  SET),
    bridged("BITMAP_CARDINALITY",  (BITMAP,),         COUNT),
    bridged("BITMAP_TO_ARRAY",     (BITMAP,),         exactly(T.ARRAY(T.INT()))),
    bridged("BITMAP_TO_BYTES",     (BITMAP,),         exactly(T.BYTES())),
    bridged("BITMAP_TO_STRING",    (BITMAP,),         exactly(T.STRING())),
    # --- over many rows ---------------------------------------------------------------------------
    bridged_aggregate("BITMAP_BUILD_AGG",             (INT,),     SET,   nulls=always),
    bridged_aggregate("BITMAP_BUILD_CARDINALITY_AGG", (INT,),     COUNT, nulls=always),
    bridged_aggregate("BITMAP_AND_AGG",               (BITMAP,),  SET,   nulls=always),
    bridged_aggregate("BITMAP_AND_CARDINALITY_AGG",   (BITMAP,),  COUNT, nulls=always),
    bridged_aggregate("BITMAP_OR_AGG",                (BITMAP,),  SET,   nulls=always),
    bridged_aggregate("BITMAP_OR_CARDINALITY_AGG",    (BITMAP,),  COUNT, nulls=always),
    bridged_aggregate("BITMAP_XOR_AGG",               (BITMAP,),  SET,   nulls=always),
    bridged_aggregate("BITMAP_XOR_CARDINALITY_AGG",   (BITMAP,),  COUNT, nulls=always),
)  # fmt: skip
