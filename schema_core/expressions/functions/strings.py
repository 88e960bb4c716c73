"""Functions of character strings, some of which also accept binary strings; and hashes."""

from __future__ import annotations

from schema_core.expressions.signatures import (
    ALIKE,
    AS_BYTES,
    AS_INTEGER,
    AS_STRING,
    BINARY,
    BOOLEAN,
    CHARACTER,
    DATE,
    INTEGER,
    NUMERIC,
    STRING,
    TIME,
    TIMESTAMP,
    always,
    bridged,
    combined_length,
    common_argument_type,
    commonly,
    exactly,
    first,
    keyword,
    like,
    never,
    operation,
    text_of,
    varying_like,
)
from schema_core.expressions.signatures import ANY as ANYTHING
from schema_core.expressions.typed import ArgumentTypes, Function, Keyword, Parameter
from schema_core.sql.literals import CHARSETS
from schema_core.types import (
    MAX_LENGTH,
    ArrayType,
    BinaryType,
    CharType,
    DataType,
    LengthType,
    VarBinaryType,
    VarCharType,
)
from schema_core.types import DataTypes as T
from schema_core.types import TypeFamily as F
from schema_core.types.common import least_restrictive

STRING_TYPE = exactly(T.STRING())
BYTES_TYPE = exactly(T.BYTES())
INT_TYPE = exactly(T.INT())
BOOLEAN_TYPE = exactly(T.BOOLEAN())
MAP_TYPE = exactly(T.MAP(T.STRING(), T.STRING()))
STRINGS_TYPE = exactly(T.ARRAY(T.STRING()))
SIDES = keyword("BOTH", "LEADING", "TRAILING")


def _index(args: ArgumentTypes, i: int) -> DataType | None:
    """The type of an integer, which must not be a negative literal."""
    is_integer = args.types[i].is_(F.INTEGER_NUMERIC)
    text = text_of(args.trees[i]) or ""
    return args.types[i] if is_integer and not text.startswith("-") else None


def _charset(args: ArgumentTypes, i: int) -> DataType | None:
    """The type of a keyword that names a character set."""
    tree = args.trees[i]
    known = isinstance(tree, Keyword) and tree.symbol.word.strip("`").upper() in CHARSETS
    return args.types[i] if known else None


CHARSET = Parameter("<CHARACTER SET>", _charset)
INDEX = Parameter("<INTEGER_NUMERIC>", _index)


def concat_type(args: ArgumentTypes) -> DataType:
    """A string of the combined length, or an array of the least restrictive element type."""
    left, right = args.types
    if not isinstance(left, LengthType) or not isinstance(right, LengthType):
        return common_argument_type(least_restrictive(args.types))
    length = left.length + right.length
    if isinstance(left, CharType | BinaryType) and isinstance(right, CharType | BinaryType):
        return left.with_length(min(length, MAX_LENGTH))
    kind = VarCharType if left.is_(F.CHARACTER_STRING) else VarBinaryType
    return kind().with_length(min(length, MAX_LENGTH))


def _concatenable_array(args: ArgumentTypes, i: int) -> DataType | None:
    return least_restrictive(args.types) and (
        args.types[i] if isinstance(args.types[i], ArrayType) else None
    )


ARRAYS = Parameter("<ARRAY>", _concatenable_array)

FUNCTIONS = (
    # --- rules of SQL: name, parameters, return type ----------------------------------------------
    operation("||", (CHARACTER, ALIKE), concat_type,
              alternatives=((BINARY, BINARY), (ARRAYS, ARRAYS))),
    Function("UPPER",            (CHARACTER,),              like(0)),
    Function("LOWER",            (CHARACTER,),              like(0)),
    Function("INITCAP",          (CHARACTER,),              like(0)),
    Function("CHAR_LENGTH",      (CHARACTER,),              INT_TYPE),
    Function("CHARACTER_LENGTH", (CHARACTER,),              INT_TYPE),
    Function("CONCAT",           (CHARACTER,),              STRING_TYPE, repeats=1),
    Function("CONCAT_WS",        (CHARACTER,),              STRING_TYPE, repeats=1),
    Function("POSITION",         (CHARACTER, CHARACTER, INTEGER), INT_TYPE,
             optional=1, alternatives=((BINARY, BINARY), (BINARY, BINARY, INTEGER))),
    Function("TRIM",             (SIDES, CHARACTER, ALIKE), varying_like(2)),
    Function("LTRIM",            (CHARACTER, CHARACTER),    varying_like(0), optional=1),
    Function("RTRIM",            (CHARACTER, CHARACTER),    varying_like(0), optional=1),
    Function("REPEAT",           (CHARACTER, INTEGER),      STRING_TYPE),
    Function("OVERLAY",          (CHARACTER, ALIKE, INTEGER, INTEGER), combined_length,
             optional=1,
             alternatives=((BINARY, STRING, INTEGER), (BINARY, STRING, INTEGER, INTEGER))),
    Function("SUBSTRING",        (CHARACTER, INTEGER, INTEGER), varying_like(0),
             optional=1, nullability=always),
    Function("SUBSTR",           (CHARACTER, INTEGER, INTEGER), varying_like(0),
             optional=1, nullability=always),
    Function("LEFT",             (CHARACTER, INTEGER),      varying_like(0), nullability=always),
    Function("RIGHT",            (CHARACTER, INTEGER),      varying_like(0), nullability=always),
    Function("REPLACE",          (CHARACTER, CHARACTER, CHARACTER), STRING_TYPE),
    Function("LPAD",             (CHARACTER, INTEGER, CHARACTER), STRING_TYPE),
    Function("RPAD",             (CHARACTER, INTEGER, CHARACTER), STRING_TYPE),
    Function("FROM_BASE64",      (STRING,),                 STRING_TYPE),
    Function("TO_BASE64",        (STRING,),                 STRING_TYPE),
    Function("ASCII",            (CHARACTER,),              INT_TYPE),
    Function("CHR",              (INTEGER,),                STRING_TYPE, nullability=always),
    Function("DECODE",           (BINARY, CHARACTER),       STRING_TYPE),
    Function("ENCODE",           (CHARACTER, CHARACTER),    BYTES_TYPE),
    Function("INSTR",            (CHARACTER, CHARACTER, INTEGER, INTEGER), INT_TYPE, optional=2),
    Function("LOCATE",           (CHARACTER, CHARACTER, INTEGER), INT_TYPE, optional=1),
    Function("PARSE_URL",        (CHARACTER, CHARACTER, CHARACTER), STRING_TYPE,
             optional=1, nullability=always),
    Function("REVERSE",          (CHARACTER,),              STRING_TYPE, nullability=always),
    Function("SPLIT_INDEX",      (CHARACTER, CHARACTER, INTEGER), STRING_TYPE,
             nullability=always, alternatives=((CHARACTER, INTEGER, INTEGER),)),
    Function("STR_TO_MAP",       (CHARACTER, CHARACTER, CHARACTER), MAP_TYPE,
             nullability=always, alternatives=((CHARACTER,),)),
    Function("UUID",             (),                        exactly(T.CHAR(36)),
             nullability=never, deterministic=False),
    Function("IS_ALPHA",         (CHARACTER,),              BOOLEAN_TYPE,
             nullability=never, alternatives=((NUMERIC,),)),
    Function("IS_DIGIT",         (CHARACTER,),              BOOLEAN_TYPE,
             nullability=never, alternatives=((NUMERIC,),)),
    Function("IS_DECIMAL",       (CHARACTER,),              BOOLEAN_TYPE,
             nullability=never, alternatives=((NUMERIC,),)),
    Function("REGEXP",           (CHARACTER, CHARACTER),    BOOLEAN_TYPE),
    Function("REGEXP_REPLACE",   (CHARACTER, CHARACTER, CHARACTER), STRING_TYPE),
    Function("REGEXP_EXTRACT",   (CHARACTER, CHARACTER, INTEGER), STRING_TYPE,
             optional=1, nullability=always),
    Function("PRINT",            (CHARACTER, ANYTHING),     like(1), deterministic=False),
    Function("TRANSLATE USING",  (CHARACTER, CHARSET),      like(0)),
    Function("CURRENT_DATABASE", (),                      exactly(T.STRING()),
             nullability=never, deterministic=False),
    # --- hashes -----------------------------------------------------------------------------------
    Function("MD5",       (STRING,),         exactly(T.CHAR(32))),
    Function("SHA1",      (STRING,),         exactly(T.CHAR(40))),
    Function("SHA224",    (STRING,),         exactly(T.CHAR(56))),
    Function("SHA256",    (STRING,),         exactly(T.CHAR(64))),
    Function("SHA384",    (STRING,),         exactly(T.CHAR(96))),
    Function("SHA512",    (STRING,),         exactly(T.CHAR(128))),
    Function("SHA2",      (STRING, INTEGER), exactly(T.VARCHAR(128))),
    Function("HASH_CODE", (BOOLEAN,),        exactly(T.INT()),
             alternatives=((NUMERIC,), (CHARACTER,), (TIMESTAMP,), (TIME,), (DATE,))),
    # --- rules of the Table API -------------------------------------------------------------------
    bridged("BTRIM",              (AS_STRING, AS_STRING), STRING_TYPE, optional=1),
    bridged("TRANSLATE3",         (AS_STRING, AS_STRING, AS_STRING), STRING_TYPE,
            nullability=first, aliases=("TRANSLATE",)),
    bridged("URL_ENCODE",         (AS_STRING,),           STRING_TYPE, nullability=always),
    bridged("URL_DECODE",         (AS_STRING,),           STRING_TYPE, nullability=always),
    bridged("SPLIT",              (AS_STRING, AS_STRING), STRINGS_TYPE),
    bridged("ELT",                (INDEX, AS_STRING),     commonly(1),
            repeats=1, nullability=always, alternatives=((INDEX, AS_BYTES),)),
    bridged("PRINTF",             (AS_STRING, ANYTHING),  STRING_TYPE,
            optional=1, repeats=1, nullability=always),
    bridged("STARTSWITH",         (AS_STRING, AS_STRING), BOOLEAN_TYPE,
            alternatives=((AS_BYTES, AS_BYTES),)),
    bridged("ENDSWITH",           (AS_STRING, AS_STRING), BOOLEAN_TYPE,
            alternatives=((AS_BYTES, AS_BYTES),)),
    bridged("INET_ATON",          (AS_STRING,),           exactly(T.BIGINT()), nullability=always),
    bridged("INET_NTOA",          (AS_INTEGER,),          STRING_TYPE, nullability=always),
    bridged("UNHEX",              (AS_STRING,),           BYTES_TYPE, nullability=always),
    bridged("REGEXP_EXTRACT_ALL", (AS_STRING, AS_STRING, AS_INTEGER), STRINGS_TYPE,
            optional=1, nullability=always),
    bridged("REGEXP_COUNT",       (AS_STRING, AS_STRING), INT_TYPE, nullability=always),
    bridged("REGEXP_INSTR",       (AS_STRING, AS_STRING), INT_TYPE, nullability=always),
    bridged("REGEXP_SUBSTR",      (AS_STRING, AS_STRING), STRING_TYPE, nullability=always),
    bridged("$HASHCODE$1",       (ANYTHING,),                  exactly(T.INT())),
)  # fmt: skip
