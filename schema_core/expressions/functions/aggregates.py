"""Functions of many rows; with OVER, of the rows around one."""

from __future__ import annotations

from functools import partial

from schema_core.expressions.coercion import as_kind, as_type
from schema_core.expressions.comparable import sql_comparable
from schema_core.expressions.functions.numbers import MAX_INT, known_up_to
from schema_core.expressions.signature_dsl import (
    ANY,
    CHARACTER,
    NUMBER,
    NUMERIC,
    ORDERED,
    WHOLE,
    aggregate,
    always,
    array,
    bridged_aggregate,
    exactly,
    like,
    literal,
    never,
    text_of,
    word,
)
from schema_core.expressions.signatures import Arg, Empty, Function, Given, Kind
from schema_core.types import ArrayType, DataType, DecimalType, MultisetType
from schema_core.types import DataTypes as T
from schema_core.types import TypeFamily as F
from schema_core.types import TypeRoot as R
from schema_core.types.decimals import decimal_average, decimal_sum

COUNT_TYPE = exactly(T.BIGINT())

#: An aggregate that gives a value even of no rows.
counting = partial(Function, kind=Kind.AGGREGATE, empty=Empty.VALUE, nulls=never)
#: An aggregate whose NULL of no rows Flink forgets outside of queries.
average = partial(Function, kind=Kind.AGGREGATE, empty=Empty.NULL_IN_QUERY)


def total(given: Given) -> DataType:
    """A decimal of all digits; any other number stays of its type."""
    type_ = given.types[0]
    return decimal_sum(type_) if isinstance(type_, DecimalType) else type_


def mean(given: Given) -> DataType:
    """A decimal with six digits behind the point at least; any other number stays of its type."""
    type_ = given.types[0]
    return decimal_average(type_) if isinstance(type_, DecimalType) else type_


def collected(given: Given) -> DataType:
    """A multiset of the values."""
    return MultisetType(given.types[0])


def _typed(given: Given, i: int) -> DataType | None:
    return None if given.types[i].root is R.NULL else given.types[i]


def shifted(given: Given) -> DataType:
    """The type of the value; it may be NULL unless a default that may not be stands in."""
    default = given.types[2] if len(given.types) > 2 else None
    return given.types[0].with_nullability(default is None or default.is_nullable)


def _default(given: Given, i: int) -> DataType | None:
    """What SQL compares with the value that it stands in for."""
    return given.types[i] if sql_comparable(given.types[0], given.types[i]) else None


def _share(given: Given, i: int) -> DataType | None:
    """A share from 0 to 1, or an array of such; one that is written out is checked."""
    type_, text = given.types[i], text_of(given.trees[i])
    if type_.is_nullable or (text and type_.is_(F.NUMERIC) and not 0 <= float(text) <= 1):
        return None
    if isinstance(type_, ArrayType):
        return as_type(type_, T.ARRAY(T.DOUBLE(nullable=False)))
    return as_kind(type_, R.DOUBLE)


def quantile(given: Given) -> DataType:
    """A number for a share, an array of numbers for an array of shares."""
    return T.ARRAY(T.DOUBLE()) if isinstance(given.types[1], ArrayType) else T.DOUBLE()


STAR = word("*")
TYPED = Arg("<ANY>", _typed)
TILES = known_up_to(MAX_INT)
DEFAULT = Arg("<ANY>", _default)
SHARE = Arg("<SHARE>", _share)

FUNCTIONS = (
    # --- SQL's rules: name, takes, gives ----------------------------------------------------------
    counting("COUNT",                 (ANY,),      COUNT_TYPE, repeats=1, also=((STAR,),)),
    counting("APPROX_COUNT_DISTINCT", (ANY,),      COUNT_TYPE, repeats=1),
    aggregate("SUM",                  (NUMERIC,),  total),
    counting("$SUM0",                 (NUMERIC,),  total),
    average("AVG",                    (NUMERIC,),  mean),
    aggregate("MAX",                  (ORDERED,),  like(0)),
    aggregate("MIN",                  (ORDERED,),  like(0)),
    average("STDDEV_POP",             (NUMERIC,),  mean),
    aggregate("STDDEV_SAMP",          (NUMERIC,),  mean),
    aggregate("STDDEV",               (NUMERIC,),  mean),
    average("VAR_POP",                (NUMERIC,),  mean),
    aggregate("VAR_SAMP",             (NUMERIC,),  mean),
    aggregate("VARIANCE",             (NUMERIC,),  mean),
    aggregate("FIRST_VALUE",          (ANY,),      like(0)),
    aggregate("LAST_VALUE",           (ANY,),      like(0)),
    aggregate("SINGLE_VALUE",         (ANY,),      like(0)),
    aggregate("AUXILIARY_GROUP",      (ANY,),      like(0), nulls=None, empty=Empty.VALUE),
    aggregate("LISTAGG",              (CHARACTER, literal(CHARACTER)), like(0),
              optional=1, empty=Empty.VALUE),
    counting("COLLECT",               (TYPED,),    collected),
    aggregate("ARRAY_AGG",            (TYPED,),    array(like(0)),
              empty=Empty.VALUE, skips_nulls=True),
    counting("JSON_OBJECTAGG",        (word(), CHARACTER, ANY), exactly(T.VARCHAR(2000))),
    counting("JSON_ARRAYAGG",         (word(), ANY), exactly(T.VARCHAR(2000))),
    # --- of the rows in a window ------------------------------------------------------------------
    counting("ROW_NUMBER",            (),          COUNT_TYPE, frames=False, counts_rows=True),
    counting("RANK",                  (),          COUNT_TYPE, frames=False, ranks=True),
    counting("DENSE_RANK",            (),          COUNT_TYPE, frames=False, ranks=True),
    counting("NTILE",                 (TILES,),    COUNT_TYPE, frames=False),
    counting("PERCENT_RANK",          (),          exactly(T.DOUBLE()), frames=False, ranks=True),
    counting("CUME_DIST",             (),          exactly(T.DOUBLE()), frames=False, ranks=True),
    aggregate("LAG",                  (ANY, NUMERIC, DEFAULT), shifted,
              optional=2, nulls=None, empty=Empty.VALUE,
              frames=False, skips_nulls=True),
    aggregate("LEAD",                 (ANY, NUMERIC, DEFAULT), shifted,
              optional=2, nulls=None, empty=Empty.VALUE,
              frames=False, skips_nulls=True),
    # --- the Table API's rules --------------------------------------------------------------------
    bridged_aggregate("PERCENTILE",   (NUMBER, SHARE, WHOLE), quantile, optional=1, nulls=always),
)  # fmt: skip
