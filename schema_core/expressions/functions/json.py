"""Functions that create, query and test JSON strings, or parse them to variants."""

from __future__ import annotations

from schema_core.errors import SchemaError
from schema_core.expressions.signatures import (
    ANY,
    AS_BOOLEAN,
    AS_STRING,
    CHARACTER,
    always,
    bridged,
    castable_to,
    either,
    exactly,
    keyword,
    like,
    never,
)
from schema_core.expressions.typed import (
    ArgumentTypes,
    Function,
    FunctionCall,
    Keyword,
    Parameter,
    TypeArgument,
)
from schema_core.types import ArrayType, DataType
from schema_core.types import DataTypes as T
from schema_core.types import TypeFamily as F
from schema_core.types import TypeRoot as R

STRING = exactly(T.STRING())
TRUTH = exactly(T.BOOLEAN())
KEYWORD = keyword()

#: Types that JSON_STRING accepts; an untyped NULL is cast to a string.
VALUE = either(
    *(castable_to(family) for family in (F.CHARACTER_STRING, F.BINARY_STRING, F.TIMESTAMP)),
    *(castable_to(family) for family in (F.CONSTRUCTED, F.NUMERIC)),
    *(castable_to(root) for root in (R.STRUCTURED_TYPE, R.DISTINCT_TYPE, R.BOOLEAN, R.VARIANT)),
)


def _clause(args: ArgumentTypes, i: int) -> DataType | None:
    """The type of a RETURNING, ON EMPTY or ON ERROR clause."""
    tree = args.trees[i]
    if isinstance(tree, TypeArgument) and tree.type.is_(F.INTERVAL):
        return None
    is_clause = isinstance(tree, Keyword | TypeArgument) or (
        isinstance(tree, FunctionCall) and tree.function.name.startswith("DEFAULT ON")
    )
    return args.types[i] if is_clause else None


def returning_type(args: ArgumentTypes) -> DataType:
    """The RETURNING type, STRING by default."""
    for tree in args.trees[2:]:
        if isinstance(tree, TypeArgument):
            return tree.type
    return T.STRING()


def json_query_type(args: ArgumentTypes) -> DataType:
    """The RETURNING type: of arrays only arrays of strings, and without EMPTY OBJECT."""
    type_ = returning_type(args)
    words = [tree.symbol.word for tree in args.trees if isinstance(tree, Keyword)]
    if isinstance(type_, ArrayType):
        if not type_.element_type.is_(F.CHARACTER_STRING):
            raise SchemaError(
                f"JSON_QUERY cannot return {type_.as_summary_string()}",
                code="invalid-function-call",
            )
        if any(word.startswith("EMPTY OBJECT") for word in words):
            raise SchemaError(
                "EMPTY OBJECT is not allowed when JSON_QUERY returns an array",
                code="invalid-function-call",
            )
    return type_


CLAUSE = Parameter("<CLAUSE>", _clause)
KEY = Parameter(
    "<CHARACTER NOT NULL>",
    lambda args, i: None if args.types[i].is_nullable else CHARACTER.accepts(args, i),
)

FUNCTIONS = (
    # --- rules of SQL: name, parameters, return type ----------------------------------------------
    Function("JSON_EXISTS",      (ANY, CHARACTER, KEYWORD), TRUTH, optional=1, nullability=always),
    Function("JSON_VALUE",       (ANY, CHARACTER, CLAUSE, CLAUSE, CLAUSE), returning_type,
             optional=3, nullability=always),
    Function("JSON_QUERY",       (ANY, ANY, CLAUSE, KEYWORD, KEYWORD, KEYWORD), json_query_type,
             nullability=always, alternatives=((ANY, ANY, KEYWORD, KEYWORD, KEYWORD),)),
    Function("JSON_OBJECT",      (KEYWORD, KEY, ANY),       STRING,
             optional=2, repeats=2, nullability=never),
    Function("JSON_ARRAY",       (KEYWORD, ANY),            STRING,
             optional=1, repeats=1, nullability=never),
    Function("DEFAULT ON EMPTY", (ANY,),                    like(0)),
    Function("DEFAULT ON ERROR", (ANY,),                    like(0)),
    *(
        Function(f"IS {negation}JSON {kind}", (CHARACTER,),     TRUTH, nullability=never)
        for negation in ("", "NOT ")
        for kind in ("VALUE", "OBJECT", "ARRAY", "SCALAR")
    ),
    # --- rules of the Table API -------------------------------------------------------------------
    bridged("JSON_STRING",  (VALUE,),     STRING),
    bridged("JSON_QUOTE",   (AS_STRING,), STRING),
    bridged("JSON_UNQUOTE", (AS_STRING,), STRING),
    bridged("JSON",         (AS_STRING,), STRING),
    bridged("PARSE_JSON",     (AS_STRING, AS_BOOLEAN), exactly(T.VARIANT()), optional=1),
    bridged("TRY_PARSE_JSON", (AS_STRING, AS_BOOLEAN), exactly(T.VARIANT()),
            optional=1, nullability=always),
)  # fmt: skip
