"""Arrays, maps, multisets and rows. Places count from 1; beyond the last there is NULL."""

from __future__ import annotations

from schema_core.expressions.forms.casts import convert
from schema_core.expressions.forms.words import (
    ELEMENT,
    Called,
    Form,
    bind,
    bind_all,
    null_or,
    sql_type,
    string,
    unsupported,
)
from schema_core.types import ArrayType, MapType, MultisetType, RowType


def array(called: Called) -> str:
    """ARRAY[...]: every element in the array's element type."""
    element = called.type.children()[0].nullable()
    said = [
        convert(text, type_, element, called.zone)
        for text, type_ in zip(called.arguments, called.types, strict=True)
    ]
    return f"CAST(array({', '.join(said)}) AS {sql_type(called.type)})"


def mapped(called: Called) -> str:
    """MAP[key, value, ...]; of equal keys the last one counts."""
    children = [child.nullable() for child in called.type.children()]
    said = [
        convert(text, type_, children[index % 2], called.zone)
        for index, (text, type_) in enumerate(zip(called.arguments, called.types, strict=True))
    ]
    return f"CAST(map({', '.join(said)}) AS {sql_type(called.type)})"


def row(called: Called) -> str:
    """ROW(...)."""
    type_ = called.type
    if not isinstance(type_, RowType):
        raise unsupported("a row of this kind is not made on Spark")
    pairs = ", ".join(
        f"{string(one.name)}, {convert(text, was, one.data_type, called.zone)}"
        for one, text, was in zip(type_.fields, called.arguments, called.types, strict=True)
    )
    return f"named_struct({pairs})"


def item(called: Called) -> str:
    """``array[place]``, ``map[key]`` and ``row[place]``."""
    source = called.types[0]
    if isinstance(source, ArrayType):
        return bind_all(called.arguments, lambda a, i: f"get({a}, CAST({i} AS INT) - 1)")
    if isinstance(source, MapType):
        key = convert(called[1], called.types[1], source.key_type.nullable(), called.zone)
        return bind_all(
            [called[0], key], lambda m, k: null_or(f"{k} IS NULL", f"try_element_at({m}, {k})")
        )
    if isinstance(source, RowType) and called[1].isdigit():
        name = source.fields[int(called[1]) - 1].name
        return f"{called[0]}.`{name}`"
    raise unsupported(f"an item of {source.as_summary_string()} is not run on Spark")


def cardinality(called: Called) -> str:
    """How many elements there are; NULL of NULL."""
    if isinstance(called.types[0], MultisetType):
        each = f"aggregate(map_values({called[0]}), 0, (n, c) -> n + c)"
        return f"CAST({each} AS INT)"
    return bind(called[0], lambda v: null_or(f"{v} IS NULL", f"cardinality({v})"))


def element(called: Called) -> str:
    """The only element of a collection; NULL where there is none, else the job ends."""
    return bind(
        called[0],
        lambda v: f"if(size({v}) > 1, raise_error('more than one element'), get({v}, 0))",
    )


def contains(called: Called) -> str:
    """ARRAY_CONTAINS: NULL may be among the elements."""
    return bind_all(
        called.arguments,
        lambda a, e: null_or(f"{a} IS NULL", f"exists({a}, {ELEMENT} -> {ELEMENT} <=> {e})"),
    )


FORMS: dict[str, Form] = {
    "ARRAY": array,
    "MAP": mapped,
    "ROW": row,
    "ITEM": item,
    "CARDINALITY": cardinality,
    "ELEMENT": element,
    "ARRAY_CONTAINS": contains,
    "ARRAY_DISTINCT": "array_distinct({0})",
    "ARRAY_REVERSE": "reverse({0})",
    "ARRAY_MAX": "array_max({0})",
    "ARRAY_MIN": "array_min({0})",
    "MAP_KEYS": "map_keys({0})",
    "MAP_VALUES": "map_values({0})",
    "MAP_FROM_ARRAYS": "map_from_arrays({0}, {1})",
}
