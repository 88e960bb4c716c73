"""Arrays, maps and multisets: functions on them; what makes them is in `constructors`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schema_core.expressions.signature_dsl import (
    ARRAY,
    DICTIONARY,
    FLAG,
    INT,
    LIST,
    MAP,
    MULTISET,
    SORTABLE,
    TEXT,
    TEXTS,
    always,
    array,
    bridged,
    common,
    commonly,
    element,
    element_of,
    exactly,
    first,
    like,
    map_,
    said,
)
from schema_core.expressions.signatures import Function, Given
from schema_core.types import ArrayType, DataType, RowField, RowType
from schema_core.types import DataTypes as T
from schema_core.types import TypeRoot as R

if TYPE_CHECKING:
    from schema_core.expressions.signatures import Gives


def extended(given: Given) -> DataType:
    """The array, whose elements may be NULL where the new one may."""
    item, new = given.types[0].children()[0], given.types[1]
    return ArrayType(item.with_nullability(item.is_nullable or new.is_nullable))


def part(index: int) -> Gives:
    """The keys (0) or the values (1) of a map."""
    words = f"the type of the {('keys', 'values')[index]} of the map"
    return said(words, lambda given: given.types[0].children()[index])


def entry(given: Given) -> DataType:
    """A row of a key and its value."""
    key, value = given.types[0].children()
    return RowType([RowField("key", key), RowField("value", value)])


COMMON_LIST = common(root=R.ARRAY)
COMMON_MAP = common(root=R.MAP)

FUNCTIONS = (
    # --- SQL's rules: name, takes, gives ----------------------------------------------------------
    Function("CARDINALITY",     (ARRAY,),                  exactly(T.INT()),
             also=((MULTISET,), (MAP,))),
    Function("ELEMENT",         (ARRAY,),                  element(0),
             also=((MULTISET,),), nulls=None),
    # --- the Table API's rules --------------------------------------------------------------------
    bridged("ARRAY_APPEND",     (LIST, element_of(0)),     extended),
    bridged("ARRAY_PREPEND",    (LIST, element_of(0)),     extended),
    bridged("ARRAY_CONTAINS",   (LIST, element_of(0)),     exactly(T.BOOLEAN()), nulls=first),
    bridged("ARRAY_POSITION",   (LIST, element_of(0)),     exactly(T.INT())),
    bridged("ARRAY_REMOVE",     (LIST, element_of(0)),     like(0), nulls=first),
    bridged("ARRAY_DISTINCT",   (LIST,),                   like(0)),
    bridged("ARRAY_REVERSE",    (LIST,),                   like(0)),
    bridged("ARRAY_SLICE",      (LIST, INT, INT),          like(0), optional=1),
    bridged("ARRAY_SORT",       (SORTABLE, FLAG, FLAG),    like(0), optional=2),
    bridged("ARRAY_MAX",        (SORTABLE,),               element(0), nulls=always),
    bridged("ARRAY_MIN",        (SORTABLE,),               element(0), nulls=always),
    bridged("ARRAY_JOIN",       (TEXTS, TEXT, TEXT),       exactly(T.STRING()), optional=1),
    bridged("ARRAY_UNION",      (COMMON_LIST, COMMON_LIST), commonly()),
    bridged("ARRAY_EXCEPT",     (COMMON_LIST, COMMON_LIST), commonly()),
    bridged("ARRAY_INTERSECT",  (COMMON_LIST, COMMON_LIST), commonly()),
    bridged("ARRAY_CONCAT",     (COMMON_LIST,),            commonly(), repeats=1),
    bridged("MAP_KEYS",         (DICTIONARY,),             array(part(0))),
    bridged("MAP_VALUES",       (DICTIONARY,),             array(part(1))),
    bridged("MAP_ENTRIES",      (DICTIONARY,),             array(entry)),
    bridged("MAP_UNION",        (COMMON_MAP,),             commonly(), repeats=1),
    bridged("MAP_FROM_ARRAYS",  (LIST, LIST),              map_(element(0), element(1))),
)  # fmt: skip
