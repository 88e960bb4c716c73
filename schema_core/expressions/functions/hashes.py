"""Hash functions of strings and bytes, whose results are hexadecimal strings."""

from __future__ import annotations

from schema_core.expressions.signature_dsl import (
    BOOLEAN,
    CHARACTER,
    DATE,
    INTEGER,
    NUMERIC,
    STRING,
    TIME,
    TIMESTAMP,
    exactly,
)
from schema_core.expressions.signatures import Function
from schema_core.types import DataTypes as T

FUNCTIONS = (
    # name, parameters, return type
    Function("MD5",       (STRING,),         exactly(T.CHAR(32))),
    Function("SHA1",      (STRING,),         exactly(T.CHAR(40))),
    Function("SHA224",    (STRING,),         exactly(T.CHAR(56))),
    Function("SHA256",    (STRING,),         exactly(T.CHAR(64))),
    Function("SHA384",    (STRING,),         exactly(T.CHAR(96))),
    Function("SHA512",    (STRING,),         exactly(T.CHAR(128))),
    Function("SHA2",      (STRING, INTEGER), exactly(T.VARCHAR(128))),
    Function("HASH_CODE", (BOOLEAN,),        exactly(T.INT()),
             alternatives=((NUMERIC,), (CHARACTER,), (TIMESTAMP,), (TIME,), (DATE,))),
)  # fmt: skip
