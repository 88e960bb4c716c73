"""Arrays, maps, multisets and rows. Positions start at 1; beyond the last the result is NULL."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TypeAlias

from schema_core import types
from schema_core.errors.hints import CAST_NULL
from schema_core.spark.compiler import tree as nodes
from schema_core.spark.compiler.functions.casts import convert
from schema_core.spark.compiler.functions.conditions import compare_values, null_safe_equal
from schema_core.spark.compiler.template import inline, sql, template
from schema_core.spark.compiler.translation import (
    CHARACTERS,
    FLOATS,
    TranslatedCall,
    TranslationRule,
    is_orderable,
    native,
    refusal_rule,
    rewrite_rule,
    sql_type,
)
from schema_core.spark.compiler.tree import Node


def array(called: TranslatedCall) -> Node:
    """ARRAY[...], in the array's element type."""
    elements = _in_type(called, called.type.children()[0].nullable())
    return called.cast(nodes.call("array", *elements))


def compile_map(called: TranslatedCall) -> Node:
    """MAP[key, value, ...]; of equal keys the last one is kept."""
    if any(map(nodes.is_null_constant, called.arguments[::2])):
        raise nodes.unsupported_error(
            "a MAP with a NULL key is not supported: Spark's maps have no NULL keys"
        )
    children = [child.nullable() for child in called.type.children()]
    entries = (
        convert(node, type_, children[index % 2], called.zone)
        for index, (node, type_) in enumerate(zip(called.arguments, called.types, strict=True))
    )
    return called.cast(nodes.call("map", *entries))


def row(called: TranslatedCall) -> Node:
    """ROW(...)."""
    type_ = called.type
    if not isinstance(type_, types.RowType):
        raise nodes.unsupported_error(f"{type_.as_summary_string()} is not supported on Spark")
    if any(isinstance(data_type, types.NullType) for data_type in called.types):
        raise nodes.unsupported_error(
            "Flink does not support an untyped NULL in a row", hint=CAST_NULL
        )
    return _row(called, type_, called.arguments, called.types)


def object_of(called: TranslatedCall) -> Node:
    """OBJECT_OF(class, name, value, ...): a structured value."""
    if not isinstance(called.type, types.StructuredType):
        raise nodes.unsupported_error(
            f"{called.type.as_summary_string()} is not supported on Spark"
        )
    return _row(called, called.type, called.arguments[2::2], called.types[2::2])


def _row(
    called: TranslatedCall,
    type_: types.RowType | types.StructuredType,
    values: Iterable[Node],
    value_types: Iterable[types.DataType],
) -> Node:
    return nodes.named_struct(
        (field.name, convert(node, was, field.data_type, called.zone))
        for field, node, was in zip(type_.fields, values, value_types, strict=True)
    )


def compile_object_update(called: TranslatedCall) -> Node:
    """OBJECT_UPDATE(object, name, value, ...): a structured value with other values of fields."""
    source, target = called.types[0], called.type
    if not (isinstance(source, types.StructuredType) and isinstance(target, types.StructuredType)):
        raise nodes.unsupported_error(f"{source.as_summary_string()} is not supported on Spark")
    names = map(nodes.string_of, called.arguments[1::2])
    pairs = zip(called.arguments[2::2], called.types[2::2], strict=True)
    changes = dict(zip(names, pairs, strict=True))

    def body(value: Node) -> Node:
        parts = [
            changes.get(field.name, (nodes.Field(value, field.name), field.data_type))
            for field in source.fields
        ]
        row = _row(called, target, [node for node, _ in parts], [was for _, was in parts])
        return nodes.null_or(nodes.is_null(value), row)

    return nodes.let(called[0], body)


def item(called: TranslatedCall) -> Node:
    """``array[position]``, ``map[key]`` and ``row[position]``."""
    source, position = called.types[0], nodes.integer_of(called[1])
    if isinstance(source, types.ArrayType):
        if position is not None and position < 1:
            raise nodes.unsupported_error("array positions start at 1")
        return inline("get({a}, CAST({i} AS INT) - 1)", a=called[0], i=called[1])
    if isinstance(source, types.MapType):
        key, sought = called[1], source.key_type.nullable()
        if not isinstance(sought, CHARACTERS):  # a string of another length is another key
            key = convert(key, called.types[1], sought, called.zone)
        return sql("if({k} IS NULL, NULL, try_element_at({m}, {k}))", m=called[0], k=key)
    if isinstance(source, types.RowType) and position is not None:
        return nodes.Field(called[0], source.fields[position - 1].name)
    if isinstance(source, types.RowType) and (name := nodes.string_of(called[1])) is not None:
        return nodes.Field(called[0], name)
    if isinstance(source, types.VariantType):
        return _item_of_variant(called)
    raise nodes.unsupported_error(
        f"an item of {source.as_summary_string()} is not supported on Spark"
    )


def _item_of_variant(called: TranslatedCall) -> Node:
    """Return an element of a VARIANT, from position 1 on, or a member of an object.

    It is NULL where there is none; a variant of another kind fails the job.
    """
    name = nodes.string_of(called[1])
    if name is None and isinstance(called.types[1], CHARACTERS):
        raise nodes.unsupported_error("Flink requires a constant name of a member of a VARIANT")
    if name is not None:
        if "'" in name or "\\" in name:
            raise nodes.unsupported_error(
                f"reading member {name!r} of a VARIANT is not supported on Spark"
            )
        kind = "OBJECT"
        value: Node = nodes.call("try_variant_get", called[0], f"$['{name}']", "VARIANT")
    else:
        kind, value = (
            "ARRAY",
            sql(  # the cast makes a NULL of the null of JSON
                "coalesce(get({a}, {i} - 1),"
                " if({i} BETWEEN 1 AND size({a}), parse_json('null'), NULL))",
                a=nodes.Cast(called[0], "ARRAY<VARIANT>"),
                i=nodes.Cast(called[1], "INT"),
            ),
        )
    problem = f"the VARIANT is not an {kind.lower()}"
    return sql(
        f"if({{v}} IS NULL OR startswith(schema_of_variant({{v}}), '{kind}<'), {{value}},"
        " {problem})",
        v=called[0],
        value=value,
        problem=nodes.fail(problem),
    )


def cardinality(called: TranslatedCall) -> Node:
    """CARDINALITY: the number of elements; NULL for NULL."""
    if isinstance(called.types[0], types.MultisetType):
        return inline("CAST(aggregate(map_values({m}), 0, (n, c) -> n + c) AS INT)", m=called[0])
    return sql("if({v} IS NULL, NULL, cardinality({v}))", v=called[0])


def element(called: TranslatedCall) -> Node:
    """ELEMENT: the only element; NULL of an empty collection, an error if it has more."""
    if not isinstance(called.types[0], types.ArrayType):
        type_ = called.types[0].as_summary_string()
        raise nodes.unsupported_error(f"ELEMENT of {type_} is not supported on Spark")
    return sql("if(size({v}) > 1, raise_error('more than one element'), get({v}, 0))", v=called[0])


def contains(called: TranslatedCall) -> Node:
    """ARRAY_CONTAINS: NULL may be among the elements."""
    element = called.types[0].children()[0]

    def body(array_: Node, sought: Node) -> Node:
        is_equal = nodes.function(
            lambda one: inline(
                "if({sought} IS NULL, {one} IS NULL, coalesce({same}, FALSE))",
                sought=sought,
                one=one,
                same=compare_values("=", one, element, sought, called.types[1]),
            )
        )
        return nodes.null_or(nodes.any_null(array_), nodes.call("exists", array_, is_equal))

    return nodes.let_all(called.arguments, body)


def extreme(name: str, symbol: str) -> TranslationRule:
    """ARRAY_MAX and ARRAY_MIN; of floats the first that no other exceeds; NaN exceeds no value."""
    floats = template(
        "aggregate({v}, get({v}, 0),"
        f" (a, b) -> if(NOT isnan(a) AND NOT isnan(b) AND b {symbol} a, b, a))"
    )

    def translate(called: TranslatedCall) -> Node:
        if not isinstance(called.type, FLOATS):
            return nodes.call(name, called[0])
        return floats({"v": inline("filter({a}, x -> x IS NOT NULL)", a=called[0])})

    return rewrite_rule(translate)


#: Whether two elements are equal; it is never NULL.
Equality: TypeAlias = "Callable[[Node, Node], Node]"


def _equality(left: types.DataType, right: types.DataType, zone: str) -> Equality | None:
    """Return how to compare elements of two types; None where Spark does so as Flink.

    NaN equals no value. Maps, and rows whose fields have other names, are compared by their parts.
    """
    if isinstance(left, FLOATS):
        return lambda a, b: inline(
            "{a} <=> {b} AND NOT coalesce(isnan({a}), FALSE)",
            a=a,
            b=b,
        )
    if any(isinstance(part, FLOATS) for part in left.walk()):
        raise nodes.unsupported_error("nested floats are not compared on Spark")
    if is_orderable(left) and sql_type(left) == sql_type(right):
        return None
    return lambda a, b: null_safe_equal(a, left, b, right, zone)


def seeking(text: str, generic: Callable[[Node, Node, Equality], Node]) -> TranslationRule:
    """Return a rule that compares the elements of an array with a value.

    `text` is the template where Spark compares as Flink does, `generic` builds the nodes otherwise.
    """
    parsed = template(text)

    def translate(called: TranslatedCall) -> Node:
        element, sought = called.types[0].children()[0], called.types[1]
        if isinstance(sought, types.NullType):
            sought = element
        equality = _equality(element, sought, called.zone)
        if equality is None:
            return parsed({str(index): node for index, node in enumerate(called.arguments)})
        return nodes.let_all(
            called.arguments, lambda array_, value: generic(array_, value, equality)
        )

    return rewrite_rule(translate)


def as_sets(text: str, generic: Callable[[Equality, list[Node]], Node]) -> TranslationRule:
    """Return a rule that compares the elements of arrays with each other.

    `text` is the template where Spark compares as Flink does, `generic` builds the nodes otherwise.
    """
    parsed = template(text)

    def translate(called: TranslatedCall) -> Node:
        target = called.type.nullable()
        arrays = [
            node
            if sql_type(type_) == sql_type(target)
            else convert(node, type_, target, called.zone)
            for node, type_ in zip(called.arguments, called.types, strict=True)
        ]
        element = target.children()[0]
        equality = _equality(element, element, called.zone)
        if equality is None:
            return parsed({str(index): node for index, node in enumerate(arrays)})
        return nodes.let_all(
            arrays,
            lambda *names: nodes.null_or(nodes.any_null(*names), generic(equality, [*names])),
        )

    return rewrite_rule(translate)


def _is_in(equality: Equality, value: Node, array_: Node) -> Node:
    return nodes.call("exists", array_, nodes.function(lambda entry: equality(entry, value)))


def _distinct(equality: Equality, array_: Node) -> Node:
    """Return an array without elements that occur before."""

    def step(seen: Node, one: Node) -> Node:
        longer = nodes.call("concat", seen, nodes.call("array", one))
        return nodes.call("if", _is_in(equality, one, seen), seen, longer)

    return nodes.let(
        array_,
        lambda a: nodes.call("aggregate", a, nodes.call("slice", a, 1, 0), nodes.function(step, 2)),
    )


def _where_in(equality: Equality, arrays: list[Node], *, negated: bool) -> Node:
    def is_kept(one: Node) -> Node:
        is_in = _is_in(equality, one, arrays[1])
        return nodes.negate(is_in) if negated else is_in

    return _distinct(equality, nodes.call("filter", arrays[0], nodes.function(is_kept)))


def sorted_array(called: TranslatedCall) -> Node:
    """ARRAY_SORT(array, ascending, NULLs first): NULLs first when ascending, unless given.

    A flag that is NULL makes the result NULL.
    """

    def body(a: Node, ascending: Node, nulls_first: Node) -> Node:
        return nodes.null_or(
            nodes.any_null(ascending, nulls_first),
            inline(
                "if({nulls}, concat({empty}, {rest}), concat({rest}, {empty}))",
                nulls=nulls_first,
                empty=inline("filter({a}, x -> x IS NULL)", a=a),
                rest=_sort_array(inline("filter({a}, x -> x IS NOT NULL)", a=a), ascending),
            ),
        )

    array_, *flags = called.arguments
    if not flags:
        return nodes.let(array_, lambda a: body(a, nodes.TRUE, nodes.TRUE))
    if len(flags) == 1:
        return nodes.let_all([array_, *flags], lambda a, ascending: body(a, ascending, ascending))
    return nodes.let_all([array_, *flags], body)


def _sort_array(array_: Node, ascending: Node) -> Node:
    if isinstance(ascending, nodes.Literal):
        return nodes.call("sort_array", array_, ascending)
    return nodes.let(
        array_,
        lambda a: inline(
            "if({o}, {up}, {down})",
            o=ascending,
            up=nodes.call("sort_array", a, nodes.TRUE),
            down=nodes.call("sort_array", a, nodes.FALSE),
        ),
    )


def part(called: TranslatedCall) -> Node:
    """ARRAY_SLICE(array, first, last): positions from 1, or from the end where negative."""

    def body(a: Node, first: Node, last: Node) -> Node:
        return nodes.null_or(
            nodes.any_null(a, first, last),
            inline(
                "if({start} > size({a}) OR {stop} < {start}, slice({a}, 1, 0),"
                " slice({a}, {start}, {stop} - {start} + 1))",
                a=a,
                start=inline("greatest({n}, 1)", n=_from_start(a, first)),
                stop=inline("least({n}, size({a}))", n=_from_start(a, last), a=a),
            ),
        )

    last = called[2] if len(called.arguments) > 2 else nodes.node_of(-1)
    return nodes.let_all([called[0], called[1], last], body)


def _from_start(array_: Node, position: Node) -> Node:
    """Return a position of an array; a negative one is counted from the end, and 0 is 1."""
    counted = inline("if({n} < 0, size({a}) + {n} + 1, {n})", a=array_, n=position)
    return inline("if({n} = 0, 1, {n})", n=counted)


def concat(name: str) -> TranslationRule:
    """ARRAY_CONCAT and MAP_UNION, of collections in the type of the result."""

    def translate(called: TranslatedCall) -> Node:
        return nodes.call(name, *_in_type(called, called.type.nullable()))

    return rewrite_rule(translate)


def _in_type(called: TranslatedCall, type_: types.DataType) -> list[Node]:
    return [
        convert(node, source, type_, called.zone)
        for node, source in zip(called.arguments, called.types, strict=True)
    ]


def compile_array_append(*, first: bool) -> TranslationRule:
    """ARRAY_APPEND, or ARRAY_PREPEND if the element is the first; NULL is an element."""

    def translate(called: TranslatedCall) -> Node:
        array_ = convert(called[0], called.types[0], called.type.nullable(), called.zone)
        element = convert(
            called[1], called.types[1], called.type.children()[0].nullable(), called.zone
        )
        added = nodes.call("array", element)
        return nodes.call("concat", added, array_) if first else nodes.call("concat", array_, added)

    return rewrite_rule(translate)


RULES: dict[str, TranslationRule] = {
    "ARRAY": rewrite_rule(array),
    "MAP": rewrite_rule(compile_map),
    "ROW": rewrite_rule(row),
    "OBJECT_OF": rewrite_rule(object_of),
    "[]": rewrite_rule(item),
    "CARDINALITY": rewrite_rule(cardinality),
    "ELEMENT": rewrite_rule(element),
    "ARRAY_CONTAINS": rewrite_rule(contains),
    "ARRAY_DISTINCT": as_sets("array_distinct({0})", lambda same, arrays: _distinct(same, *arrays)),
    "ARRAY_REVERSE": native("reverse({0})"),
    "ARRAY_MAX": extreme("array_max", ">"),
    "ARRAY_MIN": extreme("array_min", "<"),
    "ARRAY_SORT": rewrite_rule(sorted_array),
    "ARRAY_SLICE": rewrite_rule(part),
    "ARRAY_JOIN": native("array_join({*})"),
    "ARRAY_CONCAT": concat("concat"),
    "ARRAY_APPEND": compile_array_append(first=False),
    "ARRAY_PREPEND": compile_array_append(first=True),
    "ARRAY_POSITION": seeking(
        "if({1} IS NULL, NULL, array_position({0}, {1}))",
        lambda array_, value, equality: nodes.null_or(
            nodes.is_null(value),
            nodes.call(
                "array_position",
                nodes.transform(array_, lambda entry: equality(entry, value)),
                True,
            ),
        ),
    ),
    "ARRAY_REMOVE": seeking(
        "filter({0}, x -> NOT x <=> {1})",
        lambda array_, value, equality: nodes.call(
            "filter", array_, nodes.function(lambda entry: nodes.negate(equality(entry, value)))
        ),
    ),
    "ARRAY_UNION": as_sets(
        "array_union({0}, {1})", lambda same, arrays: _distinct(same, nodes.call("concat", *arrays))
    ),
    "ARRAY_EXCEPT": as_sets("array_except({0}, {1})", partial(_where_in, negated=True)),
    "ARRAY_INTERSECT": as_sets("array_intersect({0}, {1})", partial(_where_in, negated=False)),
    "MAP_UNION": concat("map_concat"),
    "MAP_ENTRIES": rewrite_rule("CAST(map_entries({0}) AS {type})"),
    "MAP_KEYS": native("map_keys({0})"),
    "MAP_VALUES": native("map_values({0})"),
    "MAP_FROM_ARRAYS": native("CAST(map_from_arrays({0}, {1}) AS {type})"),
    "MULTISET": refusal_rule("Spark has no constructor of multisets"),
    "OBJECT_UPDATE": rewrite_rule(compile_object_update),
}
