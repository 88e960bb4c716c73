"""Aggregate functions and window functions."""

from __future__ import annotations

from functools import partial

from schema_core.expressions.coercion import coerce, coerce_to_type, sql_comparable
from schema_core.expressions.signatures import (
    ANY,
    AS_INTEGER,
    AS_NUMBER,
    CHARACTER,
    MAX_INT,
    NUMERIC,
    ORDERED,
    aggregate,
    always,
    array,
    bridged_aggregate,
    exactly,
    keyword,
    like,
    literal,
    literal_up_to,
    never,
    text_of,
)
from schema_core.expressions.typed import (
    ArgumentTypes,
    EmptyInput,
    Function,
    FunctionKind,
    Parameter,
)
from schema_core.types import ArrayType, DataType, DecimalType, MultisetType
from schema_core.types import DataTypes as T
from schema_core.types import TypeFamily as F
from schema_core.types import TypeRoot as R
from schema_core.types.common import decimal_average, decimal_sum

COUNT_TYPE = exactly(T.BIGINT())

#: An aggregate that returns a value on empty input.
counting: partial[Function] = partial(
    Function, kind=FunctionKind.AGGREGATE, empty=EmptyInput.VALUE, nullability=never
)
#: An aggregate whose NULL on empty input Flink ignores outside of queries.
average: partial[Function] = partial(
    Function, kind=FunctionKind.AGGREGATE, empty=EmptyInput.NULL_IN_QUERY
)


def total(args: ArgumentTypes) -> DataType:
    """A decimal of maximal precision for decimals, else the type of the argument."""
    type_ = args.types[0]
    return decimal_sum(type_) if isinstance(type_, DecimalType) else type_


def mean(args: ArgumentTypes) -> DataType:
    """A decimal of scale 6 at least for decimals, else the type of the argument."""
    type_ = args.types[0]
    return decimal_average(type_) if isinstance(type_, DecimalType) else type_


def multiset_of_argument(args: ArgumentTypes) -> DataType:
    """A multiset of the type of the argument."""
    return MultisetType(args.types[0])


def lag_type(args: ArgumentTypes) -> DataType:
    """The type of the first argument, NOT NULL only with a default that is NOT NULL."""
    default = args.types[2] if len(args.types) > 2 else None
    return args.types[0].with_nullability(default is None or default.is_nullable)


def _fraction(args: ArgumentTypes, i: int) -> DataType | None:
    """The type of a fraction or an array of fractions; a literal must be from 0 to 1."""
    type_, text = args.types[i], text_of(args.trees[i])
    if type_.is_nullable or (text and type_.is_(F.NUMERIC) and not 0 <= float(text) <= 1):
        return None
    if isinstance(type_, ArrayType):
        return coerce_to_type(type_, T.ARRAY(T.DOUBLE(nullable=False)))
    return coerce(type_, R.DOUBLE)


def quantile(args: ArgumentTypes) -> DataType:
    """DOUBLE for a fraction, an array of DOUBLE for an array of fractions."""
    return T.ARRAY(T.DOUBLE()) if isinstance(args.types[1], ArrayType) else T.DOUBLE()


STAR = keyword("*")
#: Any argument but an untyped NULL.
TYPED = Parameter("<ANY>", lambda args, i: None if args.types[i].root is R.NULL else args.types[i])
TILES = literal_up_to(MAX_INT)
#: A default that SQL compares with the value.
DEFAULT = Parameter(
    "<ANY>", lambda args, i: args.types[i] if sql_comparable(args.types[0], args.types[i]) else None
)
FRACTION = Parameter("<FRACTION>", _fraction)

FUNCTIONS = (
    # --- rules of SQL: name, parameters, return type ----------------------------------------------
    counting("COUNT",                 (ANY,),           COUNT_TYPE,
             repeats=1, alternatives=((STAR,),)),
    counting("APPROX_COUNT_DISTINCT", (ANY,),           COUNT_TYPE, repeats=1),
    aggregate("SUM",                  (NUMERIC,),       total),
    counting("$SUM0",                 (NUMERIC,),       total),
    average("AVG",                    (NUMERIC,),       mean),
    aggregate("MAX",                  (ORDERED,),       like(0)),
    aggregate("MIN",                  (ORDERED,),       like(0)),
    average("STDDEV_POP",             (NUMERIC,),       mean),
    aggregate("STDDEV_SAMP",          (NUMERIC,),       mean),
    aggregate("STDDEV",               (NUMERIC,),       mean),
    average("VAR_POP",                (NUMERIC,),       mean),
    aggregate("VAR_SAMP",             (NUMERIC,),       mean),
    aggregate("VARIANCE",             (NUMERIC,),       mean),
    aggregate("FIRST_VALUE",          (ANY,),           like(0)),
    aggregate("LAST_VALUE",           (ANY,),           like(0)),
    aggregate("SINGLE_VALUE",         (ANY,),           like(0)),
    aggregate("AUXILIARY_GROUP",      (ANY,),           like(0),
              nullability=None, empty=EmptyInput.VALUE),
    aggregate("LISTAGG",              (CHARACTER, literal(CHARACTER)), like(0),
              optional=1, empty=EmptyInput.VALUE),
    counting("COLLECT",               (TYPED,),         multiset_of_argument),
    aggregate("ARRAY_AGG",            (TYPED,),         array(like(0)),
              empty=EmptyInput.VALUE, skips_nulls=True),
    counting("JSON_OBJECTAGG",        (keyword(), CHARACTER, ANY), exactly(T.VARCHAR(2000))),
    counting("JSON_ARRAYAGG",         (keyword(), ANY), exactly(T.VARCHAR(2000))),
    # --- window functions -------------------------------------------------------------------------
    counting("ROW_NUMBER",   (),                      COUNT_TYPE, frames=False, counts_rows=True),
    counting("RANK",         (),                      COUNT_TYPE, frames=False, ranks=True),
    counting("DENSE_RANK",   (),                      COUNT_TYPE, frames=False, ranks=True),
    counting("NTILE",        (TILES,),                COUNT_TYPE, frames=False),
    counting("PERCENT_RANK", (),                      exactly(T.DOUBLE()),
             frames=False, ranks=True),
    counting("CUME_DIST",    (),                      exactly(T.DOUBLE()),
             frames=False, ranks=True),
    aggregate("LAG",         (ANY, NUMERIC, DEFAULT), lag_type,
              optional=2, nullability=None, empty=EmptyInput.VALUE, frames=False, skips_nulls=True),
    aggregate("LEAD",        (ANY, NUMERIC, DEFAULT), lag_type,
              optional=2, nullability=None, empty=EmptyInput.VALUE, frames=False, skips_nulls=True),
    # --- rules of the Table API -------------------------------------------------------------------
    bridged_aggregate("PERCENTILE", (AS_NUMBER, FRACTION, AS_INTEGER), quantile,
                      optional=1, nullability=always),
)  # fmt: skip
