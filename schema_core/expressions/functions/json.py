"""Texts that hold JSON: made, taken apart, tested."""

from __future__ import annotations

from schema_core.errors import SchemaError
from schema_core.expressions.signature_dsl import (
    ANY,
    CHARACTER,
    TEXT,
    always,
    bridged,
    either,
    exactly,
    into,
    like,
    never,
    word,
)
from schema_core.expressions.signatures import Arg, Function, Given
from schema_core.expressions.typed import FunctionCall, Keyword, TypeArgument
from schema_core.types import ArrayType, DataType
from schema_core.types import DataTypes as T
from schema_core.types import TypeFamily as F
from schema_core.types import TypeRoot as R

STRING = exactly(T.STRING())
TRUTH = exactly(T.BOOLEAN())
WORD = word()

#: What JSON has a form for; a text is what a NULL is taken for.
VALUE = either(
    into(F.CHARACTER_STRING), into(F.BINARY_STRING), into(F.TIMESTAMP), into(F.CONSTRUCTED),
    into(F.NUMERIC), into(R.STRUCTURED_TYPE), into(R.DISTINCT_TYPE), into(R.BOOLEAN),
    into(R.VARIANT),
)  # fmt: skip


def _clause(given: Given, i: int) -> DataType | None:
    """``RETURNING type``, or what to do where there is nothing or an error."""
    tree = given.trees[i]
    if isinstance(tree, TypeArgument) and tree.type.is_(F.INTERVAL):
        return None
    is_clause = isinstance(tree, Keyword | TypeArgument) or (
        isinstance(tree, FunctionCall) and tree.function.name.startswith("DEFAULT ON")
    )
    return given.types[i] if is_clause else None


def _key(given: Given, i: int) -> DataType | None:
    """The name of a field, which must not be NULL."""
    type_ = given.types[i]
    return type_ if type_.is_(F.CHARACTER_STRING) and not type_.is_nullable else None


def returned(given: Given) -> DataType:
    """The type behind RETURNING, or a text."""
    for tree in given.trees[2:]:
        if isinstance(tree, TypeArgument):
            return tree.type
    return T.STRING()


def queried(given: Given) -> DataType:
    """The type behind RETURNING: of arrays only those of texts, for which no object stands in."""
    type_ = returned(given)
    words = [tree.symbol.word for tree in given.trees if isinstance(tree, Keyword)]
    if isinstance(type_, ArrayType):
        if not type_.element_type.is_(F.CHARACTER_STRING):
            raise SchemaError(
                f"JSON_QUERY returns no {type_.as_summary_string()}", code="wrong-argument-type"
            )
        if any(word_.startswith("EMPTY OBJECT") for word_ in words):
            raise SchemaError("an empty object is no array", code="invalid-argument-value")
    return type_


CLAUSE = Arg("<CLAUSE>", _clause)
KEY = Arg("<CHARACTER NOT NULL>", _key)

FUNCTIONS = (
    # --- SQL's rules: name, takes, gives ----------------------------------------------------------
    Function("JSON_EXISTS", (ANY, CHARACTER, WORD),       TRUTH, optional=1, nulls=always),
    Function("JSON_VALUE",  (ANY, CHARACTER, CLAUSE, CLAUSE, CLAUSE), returned,
             optional=3, nulls=always),
    Function("JSON_QUERY",  (ANY, ANY, CLAUSE, WORD, WORD, WORD), queried, nulls=always,
             also=((ANY, ANY, WORD, WORD, WORD),)),
    Function("JSON_OBJECT", (WORD, KEY, ANY),             STRING,
             optional=2, repeats=2, nulls=never),
    Function("JSON_ARRAY",  (WORD, ANY),                  STRING,
             optional=1, repeats=1, nulls=never),
    Function("DEFAULT ON EMPTY", (ANY,),                  like(0)),
    Function("DEFAULT ON ERROR", (ANY,),                  like(0)),
    *(
        Function(f"IS {no}JSON {kind}", (CHARACTER,),     TRUTH, nulls=never)
        for no in ("", "NOT ")
        for kind in ("VALUE", "OBJECT", "ARRAY", "SCALAR")
    ),
    # --- the Table API's rules --------------------------------------------------------------------
    bridged("JSON_STRING",  (VALUE,), STRING),
    bridged("JSON_QUOTE",   (TEXT,),  STRING),
    bridged("JSON_UNQUOTE", (TEXT,),  STRING),
    bridged("JSON",         (TEXT,),  STRING),
)  # fmt: skip
