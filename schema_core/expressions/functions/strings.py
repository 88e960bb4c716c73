"""Functions of character strings, some of which also take bytes."""

from __future__ import annotations

from schema_core.expressions.signature_dsl import (
    ALIKE,
    BINARY,
    BYTES,
    CHARACTER,
    INTEGER,
    NUMERIC,
    STRING,
    TEXT,
    WHOLE,
    always,
    bridged,
    commonly,
    exactly,
    first,
    joined,
    like,
    never,
    text_of,
    varying_like,
    word,
)
from schema_core.expressions.signature_dsl import ANY as ANYTHING
from schema_core.expressions.signatures import Arg, Function, Given
from schema_core.expressions.typed import Keyword
from schema_core.sql.literals import CHARSETS
from schema_core.types import DataType
from schema_core.types import DataTypes as T
from schema_core.types import TypeFamily as F

TEXT_TYPE = exactly(T.STRING())
BYTES_TYPE = exactly(T.BYTES())
NUMBER_TYPE = exactly(T.INT())
TRUTH = exactly(T.BOOLEAN())
MAP_TYPE = exactly(T.MAP(T.STRING(), T.STRING()))
TEXTS_TYPE = exactly(T.ARRAY(T.STRING()))
SIDES = word("BOTH", "LEADING", "TRAILING")


def _index(given: Given, i: int) -> DataType | None:
    """A whole number, which is not below 0 if it is known; nothing is cast to it."""
    whole = given.types[i].is_(F.INTEGER_NUMERIC)
    text = text_of(given.trees[i]) or ""
    return given.types[i] if whole and not text.startswith("-") else None


def _charset(given: Given, i: int) -> DataType | None:
    """The name of a character set."""
    tree = given.trees[i]
    known = isinstance(tree, Keyword) and tree.symbol.word.strip("`").upper() in CHARSETS
    return given.types[i] if known else None


CHARSET = Arg("<CHARACTER SET>", _charset)
INDEX = Arg("<INTEGER_NUMERIC>", _index)

FUNCTIONS = (
    # --- SQL's rules: name, takes, gives ----------------------------------------------------------
    Function("UPPER",            (CHARACTER,),                     like(0)),
    Function("LOWER",            (CHARACTER,),                     like(0)),
    Function("INITCAP",          (CHARACTER,),                     like(0)),
    Function("CHAR_LENGTH",      (CHARACTER,),                     NUMBER_TYPE),
    Function("CHARACTER_LENGTH", (CHARACTER,),                     NUMBER_TYPE),
    Function("CONCAT",           (CHARACTER,),                     TEXT_TYPE, repeats=1),
    Function("CONCAT_WS",        (CHARACTER,),                     TEXT_TYPE, repeats=1),
    Function("POSITION",         (CHARACTER, CHARACTER, INTEGER),  NUMBER_TYPE, optional=1,
             also=((BINARY, BINARY), (BINARY, BINARY, INTEGER))),
    Function("TRIM",             (SIDES, CHARACTER, ALIKE),        varying_like(2)),
    Function("LTRIM",            (CHARACTER, CHARACTER),           varying_like(0), optional=1),
    Function("RTRIM",            (CHARACTER, CHARACTER),           varying_like(0), optional=1),
    Function("REPEAT",           (CHARACTER, INTEGER),             TEXT_TYPE),
    Function("OVERLAY",          (CHARACTER, ALIKE, INTEGER, INTEGER), joined, optional=1,
             also=((BINARY, STRING, INTEGER), (BINARY, STRING, INTEGER, INTEGER))),
    Function("SUBSTRING",        (CHARACTER, INTEGER, INTEGER),    varying_like(0),
             optional=1, nulls=always),
    Function("SUBSTR",           (CHARACTER, INTEGER, INTEGER),    varying_like(0),
             optional=1, nulls=always),
    Function("LEFT",             (CHARACTER, INTEGER),             varying_like(0), nulls=always),
    Function("RIGHT",            (CHARACTER, INTEGER),             varying_like(0), nulls=always),
    Function("REPLACE",          (CHARACTER, CHARACTER, CHARACTER), TEXT_TYPE),
    Function("LPAD",             (CHARACTER, INTEGER, CHARACTER),  TEXT_TYPE),
    Function("RPAD",             (CHARACTER, INTEGER, CHARACTER),  TEXT_TYPE),
    Function("FROM_BASE64",      (STRING,),                        TEXT_TYPE),
    Function("TO_BASE64",        (STRING,),                        TEXT_TYPE),
    Function("ASCII",            (CHARACTER,),                     NUMBER_TYPE),
    Function("CHR",              (INTEGER,),                       TEXT_TYPE, nulls=always),
    Function("DECODE",           (BINARY, CHARACTER),              TEXT_TYPE),
    Function("ENCODE",           (CHARACTER, CHARACTER),           BYTES_TYPE),
    Function("INSTR",            (CHARACTER, CHARACTER, INTEGER, INTEGER), NUMBER_TYPE, optional=2),
    Function("LOCATE",           (CHARACTER, CHARACTER, INTEGER),  NUMBER_TYPE, optional=1),
    Function("PARSE_URL",        (CHARACTER, CHARACTER, CHARACTER), TEXT_TYPE,
             optional=1, nulls=always),
    Function("REVERSE",          (CHARACTER,),                     TEXT_TYPE, nulls=always),
    Function("SPLIT_INDEX",      (CHARACTER, CHARACTER, INTEGER),  TEXT_TYPE, nulls=always,
             also=((CHARACTER, INTEGER, INTEGER),)),
    Function("STR_TO_MAP",       (CHARACTER, CHARACTER, CHARACTER), MAP_TYPE,
             nulls=always, also=((CHARACTER,),)),
    Function("UUID",             (),                               exactly(T.CHAR(36)), nulls=never,
             deterministic=False),
    Function("IS_ALPHA",         (CHARACTER,),                     TRUTH,
             nulls=never, also=((NUMERIC,),)),
    Function("IS_DIGIT",         (CHARACTER,),                     TRUTH,
             nulls=never, also=((NUMERIC,),)),
    Function("IS_DECIMAL",       (CHARACTER,),                     TRUTH,
             nulls=never, also=((NUMERIC,),)),
    Function("REGEXP",           (CHARACTER, CHARACTER),           TRUTH),
    Function("REGEXP_REPLACE",   (CHARACTER, CHARACTER, CHARACTER), TEXT_TYPE),
    Function("REGEXP_EXTRACT",   (CHARACTER, CHARACTER, INTEGER),  TEXT_TYPE,
             optional=1, nulls=always),
    Function("PRINT",            (CHARACTER, ANYTHING),            like(1), deterministic=False),
    Function("TRANSLATE USING",  (CHARACTER, CHARSET),             like(0)),
    # --- the Table API's rules --------------------------------------------------------------------
    bridged("BTRIM",             (TEXT, TEXT),                     TEXT_TYPE, optional=1),
    bridged("TRANSLATE3",        (TEXT, TEXT, TEXT),               TEXT_TYPE,
            nulls=first, aliases=("TRANSLATE",)),
    bridged("URL_ENCODE",        (TEXT,),                          TEXT_TYPE, nulls=always),
    bridged("URL_DECODE",        (TEXT,),                          TEXT_TYPE, nulls=always),
    bridged("SPLIT",             (TEXT, TEXT),                     TEXTS_TYPE),
    bridged("ELT",               (INDEX, TEXT),                    commonly(1),
            repeats=1, nulls=always,
            also=((INDEX, BYTES),)),
    bridged("PRINTF",            (TEXT, ANYTHING),                 TEXT_TYPE,
            optional=1, repeats=1, nulls=always),
    bridged("STARTSWITH",        (TEXT, TEXT),                     TRUTH, also=((BYTES, BYTES),)),
    bridged("ENDSWITH",          (TEXT, TEXT),                     TRUTH, also=((BYTES, BYTES),)),
    bridged("INET_ATON",         (TEXT,),                          exactly(T.BIGINT()),
            nulls=always),
    bridged("INET_NTOA",         (WHOLE,),                         TEXT_TYPE, nulls=always),
    bridged("UNHEX",             (TEXT,),                          BYTES_TYPE, nulls=always),
    bridged("REGEXP_EXTRACT_ALL", (TEXT, TEXT, WHOLE),             TEXTS_TYPE,
            optional=1, nulls=always),
    bridged("REGEXP_COUNT",      (TEXT, TEXT),                     NUMBER_TYPE, nulls=always),
    bridged("REGEXP_INSTR",      (TEXT, TEXT),                     NUMBER_TYPE, nulls=always),
    bridged("REGEXP_SUBSTR",     (TEXT, TEXT),                     TEXT_TYPE, nulls=always),
)  # fmt: skip
