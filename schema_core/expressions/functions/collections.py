"""Functions of arrays, maps and multisets; `constructors` has the functions that create them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schema_core.expressions.signature_dsl import (
    ARRAY,
    AS_ARRAY,
    AS_BOOLEAN,
    AS_INT,
    AS_MAP,
    AS_STRING,
    MAP,
    MULTISET,
    SORTABLE,
    STRINGS,
    always,
    array,
    bridged,
    common,
    commonly,
    described,
    element,
    element_of,
    exactly,
    first,
    like,
    map_,
)
from schema_core.expressions.signatures import ArgumentTypes, Function
from schema_core.types import ArrayType, DataType, RowField, RowType
from schema_core.types import DataTypes as T
from schema_core.types import TypeRoot as R

if TYPE_CHECKING:
    from schema_core.expressions.signatures import ReturnTypeRule


def extended(args: ArgumentTypes) -> DataType:
    """Return the array type, with nullable elements if the added element is nullable."""
    item, added = args.types[0].children()[0], args.types[1]
    return ArrayType(item.with_nullability(item.is_nullable or added.is_nullable))


def map_part(index: int) -> ReturnTypeRule:
    """Return the key type (0) or the value type (1) of a map."""
    description = f"the {('key', 'value')[index]} type of the map"
    return described(description, lambda args: args.types[0].children()[index])


def entry(args: ArgumentTypes) -> DataType:
    """Return a row of the key and value types of a map."""
    key, value = args.types[0].children()
    return RowType([RowField("key", key), RowField("value", value)])


COMMON_ARRAY = common(root=R.ARRAY)
COMMON_MAP = common(root=R.MAP)

FUNCTIONS = (
    # --- rules of SQL: name, parameters, return type ----------------------------------------------
    Function("CARDINALITY", (ARRAY,), exactly(T.INT()), alternatives=((MULTISET,), (MAP,))),
    Function("ELEMENT",     (ARRAY,), element(0), alternatives=((MULTISET,),), nullability=None),
    # --- rules of the Table API -------------------------------------------------------------------
    bridged("ARRAY_APPEND",    (AS_ARRAY, element_of(0)), extended),
    bridged("ARRAY_PREPEND",   (AS_ARRAY, element_of(0)), extended),
    bridged("ARRAY_CONTAINS",  (AS_ARRAY, element_of(0)), exactly(T.BOOLEAN()), nullability=first),
    bridged("ARRAY_POSITION",  (AS_ARRAY, element_of(0)), exactly(T.INT())),
    bridged("ARRAY_REMOVE",    (AS_ARRAY, element_of(0)), like(0), nullability=first),
    bridged("ARRAY_DISTINCT",  (AS_ARRAY,),               like(0)),
    bridged("ARRAY_REVERSE",   (AS_ARRAY,),               like(0)),
    bridged("ARRAY_SLICE",     (AS_ARRAY, AS_INT, AS_INT), like(0), optional=1),
    bridged("ARRAY_SORT",      (SORTABLE, AS_BOOLEAN, AS_BOOLEAN), like(0), optional=2),
    bridged("ARRAY_MAX",       (SORTABLE,),               element(0), nullability=always),
    bridged("ARRAY_MIN",       (SORTABLE,),               element(0), nullability=always),
    bridged("ARRAY_JOIN",      (STRINGS, AS_STRING, AS_STRING), exactly(T.STRING()), optional=1),
    bridged("ARRAY_UNION",     (COMMON_ARRAY, COMMON_ARRAY), commonly()),
    bridged("ARRAY_EXCEPT",    (COMMON_ARRAY, COMMON_ARRAY), commonly()),
    bridged("ARRAY_INTERSECT", (COMMON_ARRAY, COMMON_ARRAY), commonly()),
    bridged("ARRAY_CONCAT",    (COMMON_ARRAY,),           commonly(), repeats=1),
    bridged("MAP_KEYS",        (AS_MAP,),                 array(map_part(0))),
    bridged("MAP_VALUES",      (AS_MAP,),                 array(map_part(1))),
    bridged("MAP_ENTRIES",     (AS_MAP,),                 array(entry)),
    bridged("MAP_UNION",       (COMMON_MAP,),             commonly(), repeats=1),
    bridged("MAP_FROM_ARRAYS", (AS_ARRAY, AS_ARRAY),      map_(element(0), element(1))),
)  # fmt: skip
