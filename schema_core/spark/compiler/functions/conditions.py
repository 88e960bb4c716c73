"""Comparisons, three-valued logic and conditionals; NaN equals no value, as in Java."""

from __future__ import annotations

from collections.abc import Sequence

from schema_core import types
from schema_core.expressions.typed import Constant, Select
from schema_core.spark.compiler import tree as nodes
from schema_core.spark.compiler.functions import datetimes
from schema_core.spark.compiler.functions.casts import convert
from schema_core.spark.compiler.template import inline, sql
from schema_core.spark.compiler.translation import (
    BYTES,
    CHARACTERS,
    FLOATS,
    INTEGERS,
    NUMBERS,
    TranslatedCall,
    TranslationRule,
    digits_of,
    is_fine,
    is_orderable,
    native,
    require_orderable,
    rewrite_rule,
    sql_type,
)
from schema_core.spark.compiler.tree import Node
from schema_core.types import DataType
from schema_core.types.common import MAX_PRECISION, common_decimal

TEMPORAL = (types.DateType, types.TimeType, types.AnyTimestampType)

#: Operator -> the comparison of operands that may be NaN, Spark's greatest number.
_NAN = {
    "=": "if(isnan({a}) AND isnan({b}), FALSE, {a} = {b})",
    "<>": "if(isnan({a}) AND isnan({b}), TRUE, {a} <> {b})",
    "<": "if(isnan({b}), if({a} IS NULL, NULL, FALSE), {a} < {b})",
    "<=": "if(isnan({b}), if({a} IS NULL, NULL, FALSE), {a} <= {b})",
    ">": "if(isnan({a}), if({b} IS NULL, NULL, FALSE), {a} > {b})",
    ">=": "if(isnan({a}), if({b} IS NULL, NULL, FALSE), {a} >= {b})",
}


#: The same beside a literal number; Spark pushes these conjuncts to files.
_NAN_LEFT = {symbol: f"{{a}} {symbol} {{b}} AND NOT isnan({{a}})" for symbol in (">", ">=")}
_NAN_RIGHT = {symbol: f"{{a}} {symbol} {{b}} AND NOT isnan({{b}})" for symbol in ("<", "<=")}


def compare_values(
    symbol: str,
    a: Node,
    left: DataType,
    b: Node,
    right: DataType,
    zone: str = "UTC",
) -> Node:
    """Return a comparison of values as they are, of instants with local times of a zone.

    Numbers are compared as in Java: an integer with a FLOAT as FLOATs, a FLOAT with a DOUBLE as
    DOUBLEs. Flink does so for `<` and its kin, BETWEEN and fields of rows.
    """
    if (left.children() or right.children()) and types.NullType in (type(left), type(right)):
        return nodes.Cast(nodes.NULL, "BOOLEAN")
    _require_comparable(symbol, left, right)
    if isinstance(left, CHARACTERS) and isinstance(right, (*TEMPORAL, *NUMBERS)):
        return compare_values(
            symbol, _as_other(symbol, a, left, right, zone), right, b, right, zone
        )
    if isinstance(left, (*TEMPORAL, *NUMBERS)) and isinstance(right, CHARACTERS):
        return compare_values(symbol, a, left, _as_other(symbol, b, right, left, zone), left, zone)
    if is_fine(left) or is_fine(right):
        instants = any(
            isinstance(operand, types.LocalZonedTimestampType) for operand in (left, right)
        )
        both = types.LocalZonedTimestampType(9) if instants else types.TimestampType(9)
        return nodes.operator(symbol, convert(a, left, both, zone), convert(b, right, both, zone))
    match left, right:
        case types.TimestampType(), types.LocalZonedTimestampType():
            return nodes.operator(symbol, datetimes.instant(a, zone), b)
        case types.LocalZonedTimestampType(), types.TimestampType():
            return nodes.operator(symbol, a, datetimes.instant(b, zone))
        case ((types.MapType() | types.MultisetType()), _) if type(left) is type(right):
            return nodes.let_all([a, b], lambda x, y: _maps(symbol, x, left, y, right, zone))
        case types.ArrayType(), types.ArrayType() if not _is_native(left, right):
            return nodes.let_all([a, b], lambda x, y: _arrays(symbol, x, left, y, right, zone))
        case types.RowType(), types.RowType() if not _is_native(left, left):
            return nodes.let_all([a, b], lambda x, y: _rows(symbol, x, left, y, right, zone))
    if isinstance(left, types.VariantType) and isinstance(right, types.VariantType):
        return nodes.let_all([a, b], lambda x, y: _variants(symbol, x, y))
    for type_ in (left, right):
        is_bitmap = isinstance(type_, types.BitmapType)
        if not is_orderable(type_) or (is_bitmap and symbol not in ("=", "<>", "<=>")):
            raise nodes.unsupported_error(f"Spark cannot compare {type_.as_summary_string()}")
    if nodes.same(a, b):
        return nodes.operator(symbol, a, b)
    if isinstance(left, CHARACTERS) != isinstance(right, CHARACTERS) and types.BooleanType in (
        type(left),
        type(right),
    ):
        return nodes.null_or(nodes.any_null(a, b), nodes.FALSE if symbol == "=" else nodes.TRUE)
    if isinstance(left, types.RowType) and isinstance(right, types.RowType):
        return nodes.let_all([a, b], lambda x, y: _rows(symbol, x, left, y, right, zone))
    (x, first), (y, second) = _as_decimals(a, left, b, right)
    if isinstance(first, types.DecimalType) and isinstance(second, types.DecimalType):
        return _decimals(symbol, x, first, y, second)
    if isinstance(left, FLOATS) or isinstance(right, FLOATS):
        return _compare_floats(symbol, a, left, b, right)
    return nodes.operator(symbol, a, b)


def _variants(symbol: str, a: Node, b: Node) -> Node:
    """Compare VARIANTs, which are equal if they have the same value and type: 1 is not 1.0."""
    if symbol not in ("=", "<>", "<=>"):
        raise nodes.unsupported_error("VARIANTs have no order in Flink")
    equal = nodes.Operator(
        "AND",
        tuple(
            nodes.operator(
                "<=>" if symbol == "<=>" else "=", nodes.call(name, a), nodes.call(name, b)
            )
            for name in ("to_json", "schema_of_variant")
        ),
    )
    return nodes.negate(equal) if symbol == "<>" else equal


def _compare_floats(symbol: str, a: Node, left: DataType, b: Node, right: DataType) -> Node:
    """Compare numbers, one of them a float, in Java's type."""
    approximate = {
        sql_type(operand) for operand in (left, right) if not isinstance(operand, INTEGERS)
    }
    name = approximate.pop() if len(approximate) == 1 else "DOUBLE"
    x, y = (
        node if sql_type(type_) == name else nodes.Cast(node, name)
        for node, type_ in ((a, left), (b, right))
    )
    if symbol in _MIRRORED and isinstance(left, types.DecimalType):
        return _with_decimal(_MIRRORED[symbol], y, x)
    if symbol in _MIRRORED and isinstance(right, types.DecimalType):
        return _with_decimal(symbol, x, y)
    for constant, without in ((y, _NAN_LEFT), (x, _NAN_RIGHT)):
        if _is_number(constant):
            return sql(without.get(symbol, f"{{a}} {symbol} {{b}}"), a=x, b=y)
    return sql(_NAN[symbol], a=x, b=y)


def _as_other(symbol: str, node: Node, source: DataType, target: DataType, zone: str) -> Node:
    """Return a string in the type of the other operand, as Flink casts it.

    An invalid string fails the job; for `=` and `<>` it is NULL.
    """
    try_ = symbol in {"=", "<>"} and nodes.string_of(node) is None
    return convert(node, source, target.nullable(), zone, try_=try_)


#: Comparison of a float with a DECIMAL of 0 where it differs from Spark's, as a predicate for
#: files.
_ZERO = {"<": "{x} <= {d} AND pow({x}, -1D) < 0", ">=": "{x} >= {d} AND NOT pow({x}, -1D) < 0"}


def _with_decimal(symbol: str, x: Node, decimal: Node) -> Node:
    """Compare a float with a DECIMAL by Java's total order, as Flink does except for `=`.

    NaN is above all numbers, as in Spark, and -0.0 below 0.
    """
    number = _number(decimal)
    if number is None:
        least = nodes.Literal("-4.9e-324", "D")
        lowered = sql("if({v} = 0D AND pow({v}, -1D) < 0, {least}, {v})", v=x, least=least)
        return nodes.operator(symbol, lowered, decimal)
    if float(number) == 0 and symbol in _ZERO:
        return sql(_ZERO[symbol], x=x, d=decimal)
    return nodes.operator(symbol, x, decimal)


def compare_equal(
    symbol: str,
    a: Node,
    left: DataType,
    b: Node,
    right: DataType,
    zone: str = "UTC",
) -> Node:
    """Return `=` or `<>`, for which Calcite casts both operands to a common type.

    A DOUBLE becomes a FLOAT beside a FLOAT on the left; two DECIMALs are rounded if no DECIMAL has
    all digits of both.
    """
    (a, left), (b, right) = _as_decimals(a, left, b, right)
    type_ = _equated_type(left, right)
    if type_ is not None:
        a, b = (convert(node, source, type_, zone) for node, source in ((a, left), (b, right)))
        left = right = type_
    return compare_values(symbol, a, left, b, right, zone)


def _as_decimals(
    a: Node, left: DataType, b: Node, right: DataType
) -> tuple[tuple[Node, DataType], tuple[Node, DataType]]:
    """Cast an integer beside a DECIMAL where Spark would round it."""
    pair = [(a, left), (b, right)]
    for place, (first, other) in enumerate(((left, right), (right, left))):
        if isinstance(first, INTEGERS) and isinstance(other, types.DecimalType):
            type_ = types.DecimalType(*digits_of(first), nullable=first.is_nullable)
            if not _fits(type_, other):
                pair[place] = (nodes.Cast(pair[place][0], sql_type(type_)), type_)
    return pair[0], pair[1]


def _equated_type(left: DataType, right: DataType) -> DataType | None:
    """Return the type to which `=` casts, if that makes a difference."""
    match left, right:
        case types.DecimalType(), types.DecimalType() if not _fits(left, right):
            return common_decimal(left, right).nullable()
        case ((types.FloatType() | types.DoubleType()), (types.FloatType() | types.DoubleType())):
            return left.nullable() if type(left) is not type(right) else None
        case _:
            return None


def _number(node: Node) -> str | int | None:
    """Return the value of a literal number, maybe in a cast, that is neither NULL nor NaN."""
    while isinstance(node, nodes.Cast):
        node = node.value
    if not isinstance(node, nodes.Literal) or node.value == "NaN":
        return None
    return node.value


def _is_number(node: Node) -> bool:
    return _number(node) is not None


def _require_comparable(symbol: str, left: DataType, right: DataType) -> None:
    """Refuse comparisons that Flink types but does not support."""
    if symbol in {"=", "<>"}:
        pairs = ((left, right), (right, left))
        if any(isinstance(a, CHARACTERS) and isinstance(b, NUMBERS) for a, b in pairs):
            raise nodes.unsupported_error(
                "Flink does not compare a string with a number", hint="add a CAST"
            )
    if _are_mixed(left, right):
        raise nodes.unsupported_error(
            f"Spark does not compare {left.as_summary_string()} with {right.as_summary_string()}",
            hint="add a CAST",
        )
    if symbol not in {"=", "<>"} and isinstance(
        left, types.ArrayType | types.MapType | types.MultisetType | types.RowType
    ):
        raise nodes.unsupported_error(
            f"Flink does not order values of type {left.as_summary_string()}"
        )


def _are_mixed(left: DataType, right: DataType, *, nested: bool = False) -> bool:
    """Return whether Spark has no common type, as for a number and a date.

    It casts a string to the other type, but not the strings of an array.
    """
    if isinstance(left, types.ArrayType) and isinstance(right, types.ArrayType):
        return _are_mixed(left.element_type, right.element_type, nested=True)
    strings = isinstance(left, CHARACTERS), isinstance(right, CHARACTERS)
    if any(strings):
        return nested and not all(strings)
    numbers = isinstance(left, NUMBERS), isinstance(right, NUMBERS)
    return any(
        number and isinstance(other, TEMPORAL)
        for number, other in zip(numbers, (right, left), strict=True)
    )


def _differ(left: DataType, right: DataType) -> bool:
    """Return whether parts are numbers or datetimes of different types."""
    if isinstance(left, types.ArrayType) and isinstance(right, types.ArrayType):
        return _differ(left.element_type, right.element_type)
    are_scalars = all(isinstance(operand, (*NUMBERS, *TEMPORAL)) for operand in (left, right))
    return are_scalars and left.nullable() != right.nullable()


def _is_native(left: DataType, right: DataType) -> bool:
    if _differ(left, right) or not (is_orderable(left) and is_orderable(right)):
        return False
    return left.nullable() == right.nullable() or sql_type(left) == sql_type(right)


def null_safe_equal(a: Node, left: DataType, b: Node, right: DataType, zone: str = "UTC") -> Node:
    """Return whether two parts of nested values are equal; it is never NULL.

    NULL equals NULL, except between numbers or datetimes of different types.
    """
    if _differ(left, right):
        return nodes.call("coalesce", compare_equal("=", a, left, b, right, zone), nodes.FALSE)
    if _is_native(left, right) or not (left.children() and right.children()):
        if not is_orderable(left):
            raise nodes.unsupported_error(f"Spark cannot compare {left.as_summary_string()}")
        return nodes.operator("<=>", a, b)

    def body(x: Node, y: Node) -> Node:
        return inline(
            "if({x} IS NULL OR {y} IS NULL, ({x} IS NULL) = ({y} IS NULL), {equal})",
            x=x,
            y=y,
            equal=nodes.call("coalesce", compare_values("=", x, left, y, right, zone), nodes.FALSE),
        )

    return nodes.let_all([a, b], body)


def _arrays(
    symbol: str,
    a: Node,
    left: types.ArrayType,
    b: Node,
    right: types.ArrayType,
    zone: str,
) -> Node:
    def equal(x: Node, y: Node) -> Node:
        return null_safe_equal(x, left.element_type, y, right.element_type, zone)

    pairs = nodes.call("zip_with", a, b, nodes.function(equal, 2))
    same_size = nodes.operator("=", nodes.call("size", a), nodes.call("size", b))
    equal_parts = nodes.call("forall", pairs, nodes.function(lambda is_equal: is_equal))
    return nodes.null_or(
        nodes.any_null(a, b), _by_symbol(symbol, nodes.all_of(same_size, equal_parts))
    )


def _entry_types(type_: DataType) -> tuple[DataType, DataType]:
    """Return the types of keys and values; a MULTISET maps to counts."""
    if isinstance(type_, types.MapType):
        return type_.key_type, type_.value_type
    return type_.children()[0], types.IntType(nullable=False)


def _maps(
    symbol: str,
    a: Node,
    left: DataType,
    b: Node,
    right: DataType,
    zone: str,
) -> Node:
    """Compare maps: equal ones have the same keys with the same values."""
    keys, values = zip(_entry_types(left), _entry_types(right), strict=True)

    def is_same_entry(x: Node, y: Node) -> Node:
        return nodes.all_of(
            *(
                null_safe_equal(nodes.Field(x, name), pair[0], nodes.Field(y, name), pair[1], zone)
                for name, pair in (("key", keys), ("value", values))
            )
        )

    def is_in_other(x: Node) -> Node:
        return nodes.call(
            "exists", nodes.call("map_entries", b), nodes.function(lambda y: is_same_entry(x, y))
        )

    equal: Node = nodes.TRUE
    if not nodes.same(a, b):
        same_size = nodes.operator("=", nodes.call("size", a), nodes.call("size", b))
        entries = nodes.call("map_entries", a)
        equal = nodes.all_of(same_size, nodes.call("forall", entries, nodes.function(is_in_other)))
    return nodes.null_or(nodes.any_null(a, b), _by_symbol(symbol, equal))


def _by_symbol(symbol: str, equal: Node) -> Node:
    return equal if symbol == "=" else nodes.negate(equal)


def _rows(
    symbol: str, a: Node, left: types.RowType, b: Node, right: types.RowType, zone: str
) -> Node:
    if symbol not in {"=", "<>"}:
        raise nodes.unsupported_error("Flink does not order rows")
    equal = nodes.all_of(
        *(
            compare_values(
                "=",
                nodes.Field(a, first.name),
                first.data_type,
                nodes.Field(b, other.name),
                other.data_type,
                zone,
            )
            for first, other in zip(left.fields, right.fields, strict=True)
        )
    )
    return _by_symbol(symbol, equal)


#: Comparison of a decimal with one of more fractional digits -> the function that rounds that.
_ROUNDED = {"<": "ceil", ">=": "ceil", ">": "floor", "<=": "floor"}
#: Comparison -> the comparison of the operands in the other order.
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def _decimals(
    symbol: str, a: Node, left: types.DecimalType, b: Node, right: types.DecimalType
) -> Node:
    """Compare two decimals; where Spark has no type for all their digits, by fewer.

    A number is greater than one of more fractional digits if it is greater than that rounded down
    to its scale, and so on, so each operand is computed once. Equality compares integers and
    fractions.
    """
    if _fits(left, right):
        return nodes.operator(symbol, a, b)
    if symbol in _ROUNDED and left.scale > right.scale:
        return _decimals(_MIRRORED[symbol], b, right, a, left)
    if symbol in _ROUNDED:
        return nodes.operator(symbol, a, nodes.call(_ROUNDED[symbol], b, left.scale))
    parts = (
        "if({v} IS NULL, NULL, struct(CAST(floor({v}) AS DECIMAL(38, 0)),"
        " CAST(pmod({v}, 1BD) AS DECIMAL(38, 38))))"
    )
    return nodes.operator(symbol, sql(parts, v=a), sql(parts, v=b))


def _fits(left: types.DecimalType, right: types.DecimalType) -> bool:
    """Return whether a DECIMAL has all digits of both."""
    digits = max(left.precision - left.scale, right.precision - right.scale)
    return digits + max(left.scale, right.scale) <= MAX_PRECISION


def comparison(symbol: str) -> TranslationRule:
    """A comparison of two arguments."""
    rule = compare_equal if symbol in {"=", "<>"} else compare_values

    def translate(called: TranslatedCall) -> Node:
        left, right = called.types
        return rule(symbol, called[0], left, called[1], right, called.zone)

    return rewrite_rule(translate)


def compile_and_or(symbol: str) -> TranslationRule:
    """AND and OR."""
    return native(lambda called: nodes.Operator(symbol, called.arguments))


def indistinct(called: TranslatedCall) -> Node:
    """IS NOT DISTINCT FROM: NULL equals NULL."""
    (first, left), (second, right) = _as_decimals(
        called[0], called.types[0], called[1], called.types[1]
    )
    others = (*TEMPORAL, *NUMBERS)
    is_text = (isinstance(left, CHARACTERS) and isinstance(right, others)) or (
        isinstance(left, others) and isinstance(right, CHARACTERS)
    )
    match left, right:
        case types.DecimalType(), types.DecimalType() if not _fits(left, right):
            pass
        case _ if is_fine(left) or is_fine(right):
            pass
        case _ if isinstance(left, FLOATS) or isinstance(right, FLOATS):
            if any(map(_is_number, (first, second))):  # never NaN, and pushed to files
                return nodes.operator("<=>", called[0], called[1])
        case types.AnyTimestampType(), types.AnyTimestampType() if type(left) is not type(right):
            pass
        case _ if is_text:
            pass
        case _, types.NullType():
            return nodes.operator("IS NULL", first)
        case types.NullType(), _:
            return nodes.operator("IS NULL", second)
        case _ if left.children() and right.children() and not _is_native(left, right):
            pass
        case _:
            require_orderable(left, called.call.function.name)
            return nodes.operator("<=>", called[0], called[1])

    def body(a: Node, b: Node) -> Node:
        equal = compare_values("=", a, left, b, right, called.zone)
        return inline(
            "if({a} IS NULL OR {b} IS NULL, ({a} IS NULL) = ({b} IS NULL), {equal})",
            a=a,
            b=b,
            equal=inline("coalesce({e}, FALSE)", e=equal) if is_text else equal,
        )

    return nodes.let_all([first, second], body)


def between_rule(*, negated: bool) -> TranslationRule:
    """BETWEEN; SYMMETRIC bounds may come in either order."""

    def translate(called: TranslatedCall) -> Node:
        keyword = called.call.written
        symmetric = keyword is not None and keyword.symbol == "SYMMETRIC"
        value, low, high = called.types[:3]

        def body(x: Node, *bounds: Node) -> Node:
            def compare(symbols: tuple[str, str]) -> list[list[Node]]:
                pairs = list(zip(bounds, (low, high), strict=True))
                return [
                    [
                        compare_values(symbol, x, value, *bound, called.zone)
                        for symbol, bound in zip(symbols, ends, strict=True)
                    ]
                    for ends in ((pairs, pairs[::-1]) if symmetric else (pairs,))
                ]

            if negated and any(isinstance(operand, FLOATS) for operand in (value, low, high)):
                # NaN is not outside either
                return nodes.all_of(*(nodes.any_of(*pair) for pair in compare(("<", ">"))))
            inside = nodes.any_of(*(nodes.all_of(*pair) for pair in compare((">=", "<="))))
            return nodes.negate(inside) if negated else inside

        return nodes.let_all(called.arguments[:3], body)

    return rewrite_rule(translate)


def membership(*, negated: bool) -> TranslationRule:
    """Whether a value is in a list, or in the rows of a query."""

    def translate(called: TranslatedCall) -> Node:
        first, *others = zip(called.arguments, called.types, strict=True)
        query = called.call.arguments[1]
        if len(others) == 1 and isinstance(query, Select):
            return _in_query(called, query, negated=negated)

        members = [_member(first[1], *other, called.zone) for other in others]
        values, value_types = zip(*members, strict=True)
        literals = all(isinstance(argument, Constant) for argument in called.call.arguments[1:])
        as_set = literals and len(values) > 1
        # OR does not compute operands after a true one, so those of IN must not fail
        is_total = not any(value.facts & nodes.Fact.RAISES for value in values)
        if len(values) > 1 and is_total and _have_one_type((first[1], *value_types)):
            is_member: Node = nodes.Operator("IN", (first[0], *values))
        else:
            is_member = nodes.let(
                first[0],
                lambda value: nodes.any_of(
                    *(
                        _same(value, first[1], *member, called.zone, as_set=as_set)
                        for member in members
                    )
                ),
            )
        return nodes.negate(is_member) if negated else is_member

    return rewrite_rule(translate)


#: Types that Spark's IN compares without a loss of digits, within each group.
_GROUPS = (
    CHARACTERS,
    BYTES,
    (types.DateType,),
    (types.TimeType,),
    (types.TimestampType,),
    (types.BooleanType,),
)


def _have_one_type(value_types: Sequence[DataType]) -> bool:
    """Return whether Spark's IN, whose common type has 38 digits, is exact for these types."""
    if any(map(is_fine, value_types)):
        return False
    non_null = [type_ for type_ in value_types if not isinstance(type_, types.NullType)]
    if non_null and all(isinstance(type_, (types.DecimalType, *INTEGERS)) for type_ in non_null):
        digits = [digits_of(type_) for type_ in non_null]
        return max(p - s for p, s in digits) + max(s for _, s in digits) <= 38
    return any(all(isinstance(type_, group) for type_ in non_null) for group in _GROUPS)


def _in_query(called: TranslatedCall, query: Select, *, negated: bool) -> Node:
    """Return membership in the rows of a query; a row is compared column by column.

    Spark's IN is false where Flink's is NULL, which makes a difference for values only.
    """
    symbol = "NOT IN" if negated else "IN"
    value, type_ = called[0], called.types[0]
    columns = query.rows.columns
    is_row = isinstance(type_, types.RowType) and len(columns) > 1
    value_types = [type_]
    if isinstance(type_, types.RowType) and is_row:
        value = nodes.Call("", tuple(nodes.Field(value, field.name) for field in type_.fields))
        value_types = [field.data_type for field in type_.fields]
    for type_of, (_, column) in zip(value_types, columns, strict=False):
        is_nested = type_of.children() or column.children()
        if not is_orderable(type_of) or (is_nested and not _is_native(type_of, column)):
            raise nodes.unsupported_error(
                f"{type_of.as_summary_string()} IN a query of {column.as_summary_string()} is not "
                "supported on Spark",
                hint="join the query with a condition",
            )
    may_miss = any(column.is_nullable for _, column in columns)
    is_known = not may_miss and not any(data_type.is_nullable for data_type in value_types)
    rows = called[1]
    if called.in_condition or is_known or not isinstance(rows, nodes.Subquery):
        return nodes.operator(symbol, value, rows)
    if is_row:
        raise nodes.unsupported_error(
            "IN over rows of a query is supported on Spark only as a condition",
            hint="write it in WHERE or as a condition of CASE",
        )

    def body(one: Node) -> Node:
        missing: list[Node] = []
        if may_miss:
            nulls = f"(SELECT 1 FROM {rows.sql} AS `members`(`member`) WHERE `member` IS NULL)"
            missing.append(nodes.operator("EXISTS", nodes.Subquery(nulls)))
        if type_.is_nullable:
            missing.append(nodes.all_of(nodes.is_null(one), nodes.operator("EXISTS", rows)))
        is_member = nodes.operator("IN", one, rows)
        unknown = nodes.Cast(nodes.NULL, "BOOLEAN")
        inside, outside = (nodes.FALSE, nodes.TRUE) if negated else (nodes.TRUE, nodes.FALSE)
        return nodes.Case(((is_member, inside), (nodes.any_of(*missing), unknown)), outside)

    return nodes.let(value, body)


def compile_quantified(symbol: str, *, every: bool) -> TranslationRule:
    """Return the rule of a comparison with ALL or SOME values."""
    rule = compare_equal if symbol in {"=", "<>"} else compare_values

    def translate(called: TranslatedCall) -> Node:
        first, *others = zip(called.arguments, called.types, strict=True)
        if len(others) == 1 and isinstance(called.call.arguments[1], Select):
            return _with_extreme(called, symbol, every=every)

        def body(value: Node) -> Node:
            comparisons = [rule(symbol, value, first[1], *other, called.zone) for other in others]
            return (nodes.all_of if every else nodes.any_of)(*comparisons)

        return nodes.let(first[0], body)

    return rewrite_rule(translate)


def _with_extreme(called: TranslatedCall, symbol: str, *, every: bool) -> Node:
    """Return a comparison with the extreme row of a query.

    Without rows it is TRUE for ALL and FALSE for SOME; otherwise NULL leaves the result unknown,
    unless another row decides.
    """
    if symbol in {"=", "<>"}:
        raise nodes.unsupported_error(
            f"Flink does not support {called.call.function.name} of a query"
        )
    if len({isinstance(data_type, CHARACTERS) for data_type in called.types}) > 1:
        raise nodes.unsupported_error(
            "a string is not compared with rows of another type on Spark", hint="add a CAST"
        )
    rows = called[1]
    if not isinstance(rows, nodes.Subquery):
        raise nodes.unsupported_error(
            "a comparison with the rows of a query is not supported on Spark over groups"
        )
    members = f"FROM {rows.sql} AS `members`(`member`)"
    extreme_ = "max" if symbol.startswith(">") == every else "min"
    bound = nodes.Subquery(f"(SELECT {extreme_}(`member`) {members})")
    state = (
        "CASE WHEN count(1) = 0 THEN TRUE WHEN count(`member`) < count(1) THEN NULL ELSE FALSE END"
    )
    is_empty = nodes.Subquery(f"(SELECT {state} {members})")  # NULL: there is a NULL among the rows
    with_bound = compare_values(
        symbol, called[0], called.types[0], bound, called.types[1], called.zone
    )
    if every:
        return inline("{e} IS TRUE OR {with_bound} AND NOT {e}", e=is_empty, with_bound=with_bound)
    return inline("{e} IS NOT TRUE AND ({with_bound} OR {e})", e=is_empty, with_bound=with_bound)


def _member(value: DataType, node: Node, type_: DataType, zone: str) -> tuple[Node, DataType]:
    """Return a list member in the type of the value, which may lose digits: 1 IN (1.5) is true."""
    numbers = isinstance(value, NUMBERS) and isinstance(type_, NUMBERS)
    padded = isinstance(value, types.CharType) and isinstance(type_, types.VarCharType)
    text = isinstance(value, CHARACTERS) != isinstance(type_, CHARACTERS)
    is_null = isinstance(value, types.NullType) or isinstance(type_, types.NullType)
    if (numbers and type(value) is not type(type_)) or padded or (text and not is_null):
        return convert(node, type_, value.nullable(), zone), value
    return node, type_


def _same(
    value: Node,
    left: DataType,
    node: Node,
    right: DataType,
    zone: str,
    *,
    as_set: bool,
) -> Node:
    """Return equality as in a list; several literals are a set of values of one type.

    There floats are equal if their strings are, and decimals are rounded to a common type.
    """
    if as_set and isinstance(left, FLOATS) and type(left) is type(right):
        return nodes.operator("=", nodes.Cast(value, "STRING"), nodes.Cast(node, "STRING"))
    rule = compare_equal if as_set and isinstance(left, types.DecimalType) else compare_values
    return rule("=", value, left, node, right, zone)


def branches(
    called: TranslatedCall, values: Sequence[Node], value_types: Sequence[DataType]
) -> list[Node]:
    """Return values in the type of the result."""
    return [
        convert(node, type_, called.type.nullable(), called.zone)
        for node, type_ in zip(values, value_types, strict=True)
    ]


def case(called: TranslatedCall) -> Node:
    """CASE: conditions and values in turn, then the value of ELSE."""
    values = branches(called, called.arguments[1::2], called.types[1::2])
    otherwise = branches(called, called.arguments[-1:], called.types[-1:])[0]
    return nodes.Case(tuple(zip(called.arguments[:-1:2], values, strict=False)), otherwise)


def choice(called: TranslatedCall) -> Node:
    """IF(condition, value, value)."""
    return nodes.call("if", called[0], *branches(called, called.arguments[1:], called.types[1:]))


def first_known(called: TranslatedCall) -> Node:
    """COALESCE and IFNULL."""
    return nodes.call("coalesce", *branches(called, called.arguments, called.types))


def unless_equal(called: TranslatedCall) -> Node:
    """NULLIF: NULL if both are equal, else the first."""
    value = convert(called[0], called.types[0], called.type.nullable(), called.zone)
    equal = compare_equal("=", called[0], called.types[0], called[1], called.types[1], called.zone)
    return nodes.call("if", equal, called.cast(nodes.NULL), value)


def extreme(name: str) -> TranslationRule:
    """GREATEST and LEAST: NULL if an argument is."""

    def translate(called: TranslatedCall) -> Node:
        require_orderable(called.type, called.call.function.name)
        values = branches(called, called.arguments, called.types)
        if len(values) == 1:
            return values[0]
        choose = _extreme_float if isinstance(called.type, FLOATS) else nodes.call
        return nodes.let_all(
            values, lambda *names: nodes.null_or(nodes.any_null(*names), choose(name, *names))
        )

    return rewrite_rule(translate)


def _extreme_float(name: str, *values: Node) -> Node:
    """Return GREATEST or LEAST of floats; unlike in Spark, -0.0 is less than 0.0."""
    sign, zero = (">", "abs({chosen})") if name == "greatest" else ("<", "-abs({chosen})")
    zeros = [
        inline(f"{{v}} = 0 AND pow({{v}}, -1D) {sign} 0", v=value)
        for value in values
        if _number(value) is None or float(str(_number(value))) == 0
    ]
    if not zeros:
        return nodes.call(name, *values)
    exact = f"if({{chosen}} = 0 AND ({{is_zero}}), {zero}, {{chosen}})"
    return nodes.let(
        nodes.call(name, *values),
        lambda chosen: inline(exact, chosen=chosen, is_zero=nodes.any_of(*zeros)),
    )


RULES: dict[str, TranslationRule] = {
    **{symbol: comparison(symbol) for symbol in _NAN},
    "IS DISTINCT FROM": rewrite_rule(lambda called: nodes.negate(indistinct(called))),
    "IS NOT DISTINCT FROM": rewrite_rule(indistinct),
    "AND": compile_and_or("AND"),
    "OR": compile_and_or("OR"),
    "NOT": native("NOT {0}"),
    "IS NULL": native("{0} IS NULL"),
    "IS NOT NULL": native("{0} IS NOT NULL"),
    "IS TRUE": native("{0} IS TRUE"),
    "IS NOT TRUE": native("{0} IS NOT TRUE"),
    "IS FALSE": native("{0} IS FALSE"),
    "IS NOT FALSE": native("{0} IS NOT FALSE"),
    "IS UNKNOWN": native("{0} IS NULL"),
    "IS NOT UNKNOWN": native("{0} IS NOT NULL"),
    "BETWEEN": between_rule(negated=False),
    "NOT BETWEEN": between_rule(negated=True),
    "IN": membership(negated=False),
    "NOT IN": membership(negated=True),
    "= SOME": membership(negated=False),
    "<> ALL": membership(negated=True),
    "EXISTS": native(lambda called: nodes.operator("EXISTS", called[0])),
    "CASE": native(case),
    "IF": native(choice),
    "COALESCE": native(first_known),
    "IFNULL": native(first_known),
    "NULLIF": rewrite_rule(unless_equal),
    "GREATEST": extreme("greatest"),
    "LEAST": extreme("least"),
    **{
        f"{symbol} {quantifier}": compile_quantified(symbol, every=quantifier == "ALL")
        for symbol in _NAN
        for quantifier in ("ALL", "SOME")
        if f"{symbol} {quantifier}" not in {"= SOME", "<> ALL"}
    },
}
