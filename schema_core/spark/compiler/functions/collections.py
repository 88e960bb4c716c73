"""Arrays, maps, multisets and rows. Places count from 1; beyond the last there is NULL."""

from __future__ import annotations

from schema_core.spark.compiler.functions.casts import convert
from schema_core.spark.compiler.functions.conditions import compared
from schema_core.spark.compiler.sql_builder import (
    ELEMENT,
    FLOATS,
    KEY,
    VALUE,
    Called,
    Form,
    bind,
    bind_all,
    fill,
    null_or,
    sql_type,
    string,
    unsupported,
)
from schema_core.types import (
    ArrayType,
    MapType,
    MultisetType,
    NullType,
    RowType,
    StructuredType,
)


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
    if any(isinstance(one, NullType) for one in called.types):
        raise unsupported("Flink makes no row of a NULL without a type", hint="cast the NULL")
    pairs = ", ".join(
        f"{string(one.name)}, {convert(text, was, one.data_type, called.zone)}"
        for one, text, was in zip(type_.fields, called.arguments, called.types, strict=True)
    )
    return f"named_struct({pairs})"


def object_of(called: Called) -> str:
    """OBJECT_OF(class, name, value, ...): a structured value."""
    if not isinstance(called.type, StructuredType):
        raise unsupported("an object of this kind is not made on Spark")
    values = zip(called.arguments[2::2], called.types[2::2], called.type.fields, strict=True)
    pairs = ", ".join(
        f"{string(one.name)}, {convert(text, was, one.data_type, called.zone)}"
        for text, was, one in values
    )
    return f"named_struct({pairs})"


def item(called: Called) -> str:
    """``array[place]``, ``map[key]`` and ``row[place]``."""
    source = called.types[0]
    if isinstance(source, ArrayType):
        if called[1].lstrip("-").isdigit() and int(called[1]) < 1:
            raise unsupported("places in an array count from 1")
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
    if not isinstance(called.types[0], ArrayType):
        raise unsupported(f"ELEMENT of {called.types[0].as_summary_string()} is not run on Spark")
    return bind(
        called[0],
        lambda v: f"if(size({v}) > 1, raise_error('more than one element'), get({v}, 0))",
    )


def contains(called: Called) -> str:
    """ARRAY_CONTAINS: NULL may be among the elements."""
    element = called.types[0].children()[0]

    def body(array_: str, sought: str) -> str:
        same = f"coalesce({compared('=', ELEMENT, element, sought, called.types[1])}, FALSE)"
        either = f"if({sought} IS NULL, {ELEMENT} IS NULL, {same})"
        return null_or(f"{array_} IS NULL", f"exists({array_}, {ELEMENT} -> {either})")

    return bind_all(called.arguments, body)


def extreme(name: str, operator: str) -> Form:
    """ARRAY_MAX and ARRAY_MIN; of floats the first that none is beyond, NaN being beyond none."""

    def form(called: Called) -> str:
        if not isinstance(called.type, FLOATS):
            return f"{name}({called[0]})"
        beyond = f"NOT isnan({KEY}) AND NOT isnan({VALUE}) AND {VALUE} {operator} {KEY}"
        step = f"({KEY}, {VALUE}) -> if({beyond}, {VALUE}, {KEY})"
        known = f"filter({called[0]}, {ELEMENT} -> {ELEMENT} IS NOT NULL)"
        return bind(known, lambda v: f"aggregate({v}, get({v}, 0), {step})")

    return form


def exact(template: str, floats: str) -> Form:
    """A function that compares elements, with another text for floats, where NaN equals nothing."""

    def form(called: Called) -> str:
        element = called.types[0].children()[0]
        if isinstance(element, FLOATS):
            return bind_all(called.arguments, floats.format)
        if any(isinstance(part, FLOATS) for part in element.walk()):
            raise unsupported("nested floating numbers are not compared on Spark")
        return fill(template, called)

    return form


def _is_in(value: str, array_: str) -> str:
    """Whether a value is among others: NULL is, where there is one, and NaN never."""
    equal = f"exists({array_}, {KEY} -> {KEY} = {value}) AND NOT isnan({value})"
    return f"if({value} IS NULL, exists({array_}, {KEY} -> {KEY} IS NULL), {equal})"


def _distinct(array_: str) -> str:
    """An array of floats without what is there before."""
    longer = f"concat({VALUE}, array({ELEMENT}))"
    step = f"({VALUE}, {ELEMENT}) -> if({_is_in(ELEMENT, VALUE)}, {VALUE}, {longer})"
    return f"aggregate({array_}, slice({array_}, 1, 0), {step})"


def sorted_array(called: Called) -> str:
    """ARRAY_SORT(array, ascending, NULLs first): NULLs first when ascending unless it is said."""
    words = [*called.arguments[1:], "TRUE"][:1]
    ascending = words[0]
    if ascending not in {"TRUE", "FALSE"}:
        raise unsupported("ARRAY_SORT takes a constant order on Spark")
    nulls = called[2] if len(called.arguments) > 2 else ascending
    known = f"filter({{0}}, {ELEMENT} -> {ELEMENT} IS NOT NULL)"
    unknown = f"filter({{0}}, {ELEMENT} -> {ELEMENT} IS NULL)"

    def body(array_: str) -> str:
        rest = f"sort_array({known.format(array_)}, {ascending})"
        empty = unknown.format(array_)
        return f"if({nulls}, concat({empty}, {rest}), concat({rest}, {empty}))"

    return bind(called[0], body)


def part(called: Called) -> str:
    """ARRAY_SLICE(array, first, last): places from 1, or from the end where negative."""

    def body(array_: str, first: str, last: str) -> str:
        size = f"size({array_})"
        start = f"if({first} < 0, greatest({size} + {first} + 1, 1), greatest({first}, 1))"
        stop = f"if({last} < 0, {size} + {last} + 1, least({last}, {size}))"
        unknown = " OR ".join(f"{one} IS NULL" for one in (array_, first, last))
        chosen = f"slice({array_}, {start}, greatest({stop} - {start} + 1, 0))"
        return null_or(
            unknown, f"if({start} > {size} OR {stop} < {start}, slice({array_}, 1, 0), {chosen})"
        )

    last = called[2] if len(called.arguments) > 2 else f"size({called[0]})"
    return bind_all([called[0], called[1], last], body)


def joined(called: Called) -> str:
    """ARRAY_JOIN(array, separator [, text for NULL])."""
    return f"array_join({', '.join(called.arguments)})"


def united(called: Called) -> str:
    """MAP_UNION: of equal keys the last one counts."""
    return f"map_concat({', '.join(called.arguments)})"


def chained(called: Called) -> str:
    """ARRAY_CONCAT, every array in the type of the result."""
    said = [
        convert(text, type_, called.type.nullable(), called.zone)
        for text, type_ in zip(called.arguments, called.types, strict=True)
    ]
    return f"concat({', '.join(said)})"


def grown(template: str) -> Form:
    """ARRAY_APPEND and ARRAY_PREPEND: NULL is an element like others."""

    def form(called: Called) -> str:
        array_ = convert(called[0], called.types[0], called.type.nullable(), called.zone)
        element = convert(
            called[1], called.types[1], called.type.children()[0].nullable(), called.zone
        )
        return template.format(array_, f"array({element})")

    return form


FORMS: dict[str, Form] = {
    "ARRAY": array,
    "MAP": mapped,
    "ROW": row,
    "OBJECT_OF": object_of,
    "[]": item,
    "CARDINALITY": cardinality,
    "ELEMENT": element,
    "ARRAY_CONTAINS": contains,
    "ARRAY_DISTINCT": exact("array_distinct({0})", _distinct("{0}")),
    "ARRAY_REVERSE": "reverse({0})",
    "ARRAY_MAX": extreme("array_max", ">"),
    "ARRAY_MIN": extreme("array_min", "<"),
    "ARRAY_SORT": sorted_array,
    "ARRAY_SLICE": part,
    "ARRAY_JOIN": joined,
    "ARRAY_CONCAT": chained,
    "ARRAY_APPEND": grown("concat({0}, {1})"),
    "ARRAY_PREPEND": grown("concat({1}, {0})"),
    "ARRAY_POSITION": exact(
        "if({1} IS NULL, NULL, array_position({0}, {1}))",
        "if(isnan({1}), if({0} IS NULL, NULL, 0L), array_position({0}, {1}))",
    ),
    "ARRAY_REMOVE": exact(
        f"filter({{0}}, {ELEMENT} -> NOT ({ELEMENT} <=> {{1}}))",
        f"filter({{0}}, {ELEMENT} -> NOT ({ELEMENT} <=> {{1}}) OR coalesce(isnan({{1}}), FALSE))",
    ),
    "ARRAY_UNION": exact(
        "array_union({0}, {1})",
        bind("concat({0}, {1})", _distinct),
    ),
    "ARRAY_EXCEPT": exact(
        "array_except({0}, {1})",
        bind(f"filter({{0}}, {ELEMENT} -> NOT {_is_in(ELEMENT, '{1}')})", _distinct),
    ),
    "ARRAY_INTERSECT": exact(
        "array_intersect({0}, {1})",
        bind(f"filter({{0}}, {ELEMENT} -> {_is_in(ELEMENT, '{1}')})", _distinct),
    ),
    "MAP_UNION": united,
    "MAP_ENTRIES": "CAST(map_entries({0}) AS {type})",
    "MAP_KEYS": "map_keys({0})",
    "MAP_VALUES": "map_values({0})",
    "MAP_FROM_ARRAYS": "map_from_arrays({0}, {1})",
}
