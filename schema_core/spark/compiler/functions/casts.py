"""Casts with Flink's semantics: one rule for each pair of kinds of types; CAST and its variants.

An invalid string fails the job, or is NULL for TRY_CAST. Flink truncates and pads strings silently,
wraps integers, and returns NULL for a DECIMAL that overflows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from schema_core import types
from schema_core.base.lazy import dataclass
from schema_core.expressions.typed import Access, Constant, Typed
from schema_core.spark.compiler import tree as nodes
from schema_core.spark.compiler.functions import datetimes
from schema_core.spark.compiler.template import inline, sql
from schema_core.spark.compiler.translation import (
    BYTES,
    CHARACTERS,
    DIGITS,
    FLOATS,
    INTEGERS,
    INTERVALS,
    NUMBERS,
    TranslatedCall,
    TranslationRule,
    call_udf,
    rewrite_rule,
    sql_type,
)
from schema_core.spark.compiler.tree import Node
from schema_core.types import DataType


@dataclass(frozen=True, slots=True)
class CastContext:
    """The types and time zone of a cast; with `try_` an invalid string becomes NULL."""

    source: DataType
    target: DataType
    zone: str
    try_: bool


def convert(
    node: Node,
    source: DataType,
    target: DataType,
    zone: str = "UTC",
    *,
    try_: bool = False,
) -> Node:
    """Return a value of one type as a value of another; `try_` is TRY_CAST.

    Raises:
        UnsupportedError: `not-executable` for a cast that is not in the tables.

    >>> from schema_core.types import parse_type
    >>> column = nodes.Column("a")
    >>> nodes.to_sql(convert(column, parse_type("BIGINT"), parse_type("CHAR(3)")))
    "rpad(CAST(`a` AS STRING), 3, ' ')"
    """
    source, target = _physical_type(source), _physical_type(target)
    if source.nullable() == target.nullable():
        return node
    context = CastContext(source, target, zone, try_)
    for step in STEPS:
        converted = step(node, context)
        if converted is not None:
            return converted
    raise nodes.unsupported_error(
        f"cannot cast {source.as_summary_string()} to {target.as_summary_string()} on Spark"
    )


def _physical_type(type_: DataType) -> DataType:
    return type_.source_type if isinstance(type_, types.DistinctType) else type_


Step: TypeAlias = Callable[[Node, CastContext], "Node | None"]


def from_null(node: Node, cast: CastContext) -> Node | None:
    """Cast NULL."""
    if isinstance(cast.source, types.NullType):
        return nodes.Cast(nodes.NULL, sql_type(cast.target))
    return None


# --- numbers -----------------------------------------------------------------------------------


def between_numbers(node: Node, cast: CastContext) -> Node | None:
    """Cast between numbers: integers wrap, a DECIMAL rounds half up or is NULL if it overflows."""
    source, target = cast.source, cast.target
    if not (isinstance(source, NUMBERS) and isinstance(target, NUMBERS)):
        return None
    if isinstance(source, FLOATS) and isinstance(target, types.DecimalType):
        return sql(
            "if(isnan({v}) OR abs({v}) = CAST('Infinity' AS DOUBLE), {problem},"
            " CAST(CAST({v} AS DOUBLE) AS {type}))",
            v=node,
            problem=nodes.fail("NaN and Infinity cannot be cast to DECIMAL"),
            type=sql_type(target),
        )
    if isinstance(source, types.DecimalType) and isinstance(target, FLOATS):
        node = nodes.Cast(node, "DOUBLE")
    return nodes.Cast(node, sql_type(target))


def with_booleans(node: Node, cast: CastContext) -> Node | None:
    """Cast numbers to BOOLEAN (TRUE unless 0) and back (TRUE is 1)."""
    if isinstance(cast.source, types.BooleanType) and isinstance(cast.target, NUMBERS):
        return nodes.Cast(node, sql_type(cast.target))
    if isinstance(cast.target, types.BooleanType) and isinstance(cast.source, NUMBERS):
        return nodes.operator("<>", node, nodes.Cast(nodes.Literal(0), sql_type(cast.source)))
    return None


# --- strings -----------------------------------------------------------------------------------


def to_string(node: Node, cast: CastContext) -> Node | None:
    """Cast to a string, cut to the length of a VARCHAR and padded to that of a CHAR."""
    if not isinstance(cast.target, CHARACTERS):
        return None
    shown = cast_to_string(node, cast.source, cast.zone)
    if cast.source.children() and cast.target.length < types.MAX_LENGTH:  # counted in UTF-16 units
        if isinstance(cast.target, types.VarCharType):
            return call_udf("truncate_string", shown, cast.target.length)
        return call_udf("rpad", shown, cast.target.length, " ")
    return fit(shown, cast.source, cast.target)


def fit(node: Node, source: DataType, target: types.LengthType) -> Node:
    """Return a string cut to the length of its type, or padded for CHAR and BINARY."""
    if isinstance(target, types.CharType):
        return nodes.call("rpad", node, target.length, " ")
    if isinstance(target, types.BinaryType):
        return nodes.call("rpad", node, target.length, nodes.Literal("00", "X"))
    length = source.length if isinstance(source, types.LengthType) else types.MAX_LENGTH
    if target.length >= length or target.length == types.MAX_LENGTH:
        return node
    return nodes.call("left", node, target.length)


def _strict(node: Node, cast: CastContext, parse: Callable[[Node], Node]) -> Node:
    """Return a parsed string; an invalid one fails unless TRY_CAST."""
    if cast.try_:
        return nodes.let(node, parse)
    problem = f"cannot cast to {cast.target.as_summary_string()}: "
    return nodes.let(
        node,
        lambda v: inline(
            "coalesce({parsed}, if({v} IS NULL, NULL, raise_error(concat({problem}, {v}))))",
            parsed=parse(v),
            v=v,
            problem=problem,
        ),
    )


def from_string(node: Node, cast: CastContext) -> Node | None:
    """Parse a string as a number, a truth value or a datetime, strictly."""
    if not isinstance(cast.source, CHARACTERS):
        return None
    target = cast.target
    if (constant := datetimes.constant(node, target)) is not None:
        return constant
    match target:
        case types.BooleanType():
            return _strict(node, cast, lambda v: inline(_BOOLEAN, word=nodes.call("lower", v)))
        case types.DecimalType():
            return _strict(node, cast, lambda v: _decimal_of_string(v, target))
        case types.DateType():
            return _strict(node, cast, datetimes.date_of_string)
        case types.TimeType():
            return _strict(node, cast, lambda v: datetimes.time_of_string(v, target))
        case types.TimestampType():
            return _strict(node, cast, lambda v: datetimes.timestamp_of_string(v, target))
        case types.LocalZonedTimestampType(precision):
            local = types.TimestampType(precision)
            read = _strict(node, cast, lambda v: datetimes.timestamp_of_string(v, local))
            return datetimes.convert(read, local, target, cast.zone)
        case _ if isinstance(target, (*INTEGERS, *FLOATS)):
            return _strict(node, cast, lambda v: _number_of_string(v, target))
        case _:
            return None


#: The literals of truth values that Flink accepts, in any case, without surrounding spaces.
_BOOLEAN = (
    "CASE WHEN {word} IN ('t', 'true', 'y', 'yes', '1') THEN TRUE"
    " WHEN {word} IN ('f', 'false', 'n', 'no', '0') THEN FALSE END"
)
#: A point without digits is 0; spaces around are ignored.
_INTEGER = r"^ *+[+-]?(?:\d++|\d*+\.\d*+) *+\z"
#: Java ignores control characters around a floating-point number.
FLOAT_SHAPE = (
    r"^[\x00-\x20]*+[+-]?(?:NaN|Infinity|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fFdD]?"
    r"|0[xX](?:[0-9a-fA-F]+\.?|[0-9a-fA-F]*\.[0-9a-fA-F]+)[pP][+-]?\d+[fFdD]?)[\x00-\x20]*\z"
)


def _number_of_string(node: Node, target: DataType) -> Node:
    """Parse a number; Spark accepts more literals than Java, whose parser Flink uses.

    Both parse an integer that prints as it was written, and a finite float, equally.
    """
    is_integer = isinstance(target, INTEGERS)
    usual = "CAST({n} AS STRING) = {v}" if is_integer else "{n} - {n} = 0"
    return inline(
        f"if({usual} OR rlike({{v}}, {{shape}}), {{n}}, NULL)",
        v=node,
        n=nodes.Cast(node, sql_type(target)),
        shape=_INTEGER if is_integer else FLOAT_SHAPE,
    )


_DECIMAL = r"^[ \n\t]*+([+-]?(?:\p{Nd}+\.?\p{Nd}*|\.\p{Nd}+)(?:[eE][+-]?\p{Nd}+)?)[ \n\t]*+\z"
#: Sign, integer, fraction, and sign and digits of the exponent; then one other character.
_SHORT_DECIMAL = (
    r"^[ \n\t]*+([+-]?+)(?!\z)(\d*+)((?:\.\d*+)?+)"
    r"(?:[eE](?:([+-])(?!\z)|(?![+-]))(\d*+)[^\d]?|[^\deE.]?)[ \n\t]*+\z"
)

#: Digits that fit into a long: Flink parses shorter strings by hand.
SHORT = 18


def _decimal_of_string(node: Node, target: types.DecimalType) -> Node:
    """Parse a decimal; a short string may end in one character that is not a digit.

    So Flink reads ``1x`` as 1, and ``x`` and ``.`` as 0.
    """
    type_ = sql_type(target)
    is_final = "{value} IS NOT NULL" if target.precision > SHORT else "{value} <> 0"

    def body(v: Node, value: Node) -> Node:
        return inline(
            f"if({is_final}, {{value}}, if({{v}} IS NULL, NULL,"
            " if({v} IN ('0', '0.0', '0.00'), {zero}, {parsed})))",
            value=value,
            v=v,
            zero=nodes.Cast(nodes.Literal(0), type_),
            parsed=nodes.rarely(v, lambda text: _decimal_by_parser(text, target)),
        )

    return nodes.let(
        node, lambda v: nodes.let(_decimal_by_spark(v, target), lambda value: body(v, value))
    )


def _decimal_by_spark(v: Node, target: types.DecimalType) -> Node:
    """Return what Spark casts as Flink does, without unusual blanks or digits, else NULL.

    A short string that Spark casts to 0 may be another number for Flink, or none.
    """
    cast = nodes.Cast(v, sql_type(target))
    trimmed = inline(
        "{v} >= '!' AND {last} > {blank}", v=v, last=nodes.byte_of(v, -1), blank=nodes.byte(" ")
    )
    if target.precision > SHORT:
        return inline("if({trimmed}, {cast}, NULL)", trimmed=trimmed, cast=cast)
    return inline(
        "if({trimmed} AND length({v}) = octet_length({v})"
        " AND ({v} >= '1' OR {v} >= '-1' AND {v} < '-:'"
        " OR startswith({v}, '0.') AND octet_length({v}) <= {integers}), {cast}, NULL)",
        trimmed=trimmed,
        v=v,
        cast=cast,
        integers=target.precision - target.scale + 3,
    )


def _decimal_by_parser(v: Node, target: types.DecimalType) -> Node:
    """Parse any decimal; leading zeros count as digits of a short one."""
    type_ = sql_type(target)
    strict = inline(
        "if(rlike({v}, {shape}), CAST(regexp_extract({v}, {shape}, 1) AS {type}), NULL)",
        v=v,
        shape=_DECIMAL,
        type=type_,
    )
    if target.precision > SHORT:
        return strict
    sign, integer, fraction, exponent_sign, exponent = (
        nodes.call("regexp_extract", v, _SHORT_DECIMAL, group) for group in (1, 2, 3, 4, 5)
    )
    power = nodes.call("concat", exponent_sign, "0", exponent)
    short = inline(
        "if(length({integer}) + {n} <= {most} AND length({fraction}) - {n} <= {least},"
        " CAST({digits} AS {type}), NULL)",
        integer=integer,
        fraction=nodes.call("ltrim", ".", fraction),
        n=nodes.Cast(power, "BIGINT"),
        most=target.precision - target.scale,
        least=target.scale + SHORT,
        digits=nodes.call(
            "concat", sign, "0", integer, nodes.call("rtrim", ".", fraction), "E", power
        ),
        type=type_,
    )
    return inline(
        "if(octet_length({v}) > {long}, {strict},"
        " if(length({v}) = octet_length({v}) AND rlike({v}, {shape}), {short}, NULL))",
        v=v,
        long=SHORT,
        strict=strict,
        shape=_SHORT_DECIMAL,
        short=short,
    )


# --- bytes -------------------------------------------------------------------------------------


def to_bytes(node: Node, cast: CastContext) -> Node | None:
    """Cast strings and bytes to bytes, cut or padded with zeroes."""
    if not (isinstance(cast.target, BYTES) and isinstance(cast.source, (*BYTES, *CHARACTERS))):
        return None
    if isinstance(cast.source, BYTES):
        return fit(node, cast.source, cast.target)
    return fit(nodes.Cast(node, "BINARY"), types.VarBinaryType(types.MAX_LENGTH), cast.target)


# --- datetimes ---------------------------------------------------------------------------------


def between_datetimes(node: Node, cast: CastContext) -> Node | None:
    """Cast between dates, times and timestamps."""
    source, target = cast.source, cast.target
    if not isinstance(source, types.DateType | types.TimeType | types.AnyTimestampType):
        return None
    if isinstance(target, types.DateType | types.TimeType | types.AnyTimestampType):
        return datetimes.convert(node, source, target, cast.zone)
    return None


def between_intervals(node: Node, cast: CastContext) -> Node | None:
    """Cast intervals of one kind, and numbers, which are months or milliseconds."""
    source, target = cast.source, cast.target
    if isinstance(source, INTEGERS) and isinstance(target, INTERVALS):
        return nodes.Cast(node, sql_type(target))
    for kind in (types.YearMonthIntervalType, types.DayTimeIntervalType):
        if isinstance(source, kind) and isinstance(target, kind):
            return node
        if isinstance(source, kind) and isinstance(target, (*INTEGERS, types.DecimalType)):
            return nodes.Cast(node, sql_type(target))
    return None


# --- nested ------------------------------------------------------------------------------------

#: Converts a part of a nested value, by the index of its type.
Inner: TypeAlias = Callable[[Node, int], Node]


def cast_nested(node: Node, cast: CastContext) -> Node | None:
    """Cast collections and rows by their elements."""
    source, target = cast.source, cast.target

    def inner(value: Node, index: int) -> Node:
        pair = source.children()[index], target.children()[index]
        return convert(value, *pair, cast.zone, try_=cast.try_)

    pairs = zip(source.children(), target.children(), strict=False)
    if any(isinstance(part, CHARACTERS) and isinstance(to, BYTES) for part, to in pairs):
        raise nodes.unsupported_error("Flink does not cast strings to bytes within a value")
    if cast.try_ and any(isinstance(part, CHARACTERS) for part in source.walk()):
        return nodes.let(node, lambda v: _try_cast_nested(v, source, target, inner))
    match source, target:
        case types.ArrayType(), types.ArrayType():
            return nodes.transform(node, lambda element: inner(element, 0))
        case (types.MultisetType(), types.MultisetType()) | (types.MapType(), types.MapType()):
            keys = nodes.call(
                "transform_keys", node, nodes.function(lambda key, _: inner(key, 0), 2)
            )
            if isinstance(source, types.MultisetType):
                return keys
            return nodes.call(
                "transform_values", keys, nodes.function(lambda _, value: inner(value, 1), 2)
            )
        case types.RowType() | types.StructuredType(), types.RowType() | types.StructuredType():
            if len(source.fields) != len(target.fields):
                return None
            return nodes.let(node, lambda v: _row(v, source, target, inner))
        case _:
            return None


def _try_cast_nested(node: Node, source: DataType, target: DataType, inner: Inner) -> Node:
    """Return TRY_CAST of a nested value: NULL if a part becomes NULL."""
    match source, target:
        case types.ArrayType(), types.ArrayType():
            cast = nodes.transform(node, lambda element: inner(element, 0))
            return nodes.let(cast, lambda cast_array: _null_unless_complete(node, cast_array))
        case types.MapType(), types.MapType():
            before = nodes.call("map_keys", node), nodes.call("map_values", node)
            keys = nodes.transform(before[0], lambda element: inner(element, 0))
            values = nodes.transform(before[1], lambda element: inner(element, 1))

            def mapped(keys: Node, values: Node) -> Node:
                lost = nodes.any_null(
                    _null_unless_complete(before[0], keys), _null_unless_complete(before[1], values)
                )
                return nodes.null_or(lost, nodes.call("map_from_arrays", keys, values))

            return nodes.let_all([keys, values], mapped)
        case types.RowType(), types.RowType() if len(source.fields) == len(target.fields):
            fields = [nodes.Field(node, field.name) for field in source.fields]
            lost = [
                inline("{one} IS NOT NULL AND {to} IS NULL", one=one, to=inner(one, place))
                for place, one in enumerate(fields)
            ]
            row = nodes.null_or(nodes.any_of(*lost), _row(node, source, target, inner))
            return nodes.null_or(nodes.is_null(node), row)
        case _:
            raise nodes.unsupported_error(
                f"TRY_CAST of {source.as_summary_string()} is not supported on Spark"
            )


def _null_unless_complete(before: Node, after: Node) -> Node:
    """Return an array if it has as many non-NULL elements as before, else NULL."""
    return inline(
        "if(size(filter({before}, x -> x IS NOT NULL)) = size(filter({after}, x -> x IS NOT NULL)),"
        " {after}, NULL)",
        before=before,
        after=after,
    )


def _row(
    node: Node,
    source: types.RowType | types.StructuredType,
    target: types.RowType | types.StructuredType,
    inner: Inner,
) -> Node:
    row = nodes.named_struct(
        (to.name, inner(nodes.Field(node, field.name), index))
        for index, (field, to) in enumerate(zip(source.fields, target.fields, strict=True))
    )
    return nodes.null_or(nodes.is_null(node), row)


def cast_to_string(node: Node, source: DataType, zone: str) -> Node:
    """Return a value as Flink's cast to STRING prints it."""
    match source:
        case types.CharType() | types.VarCharType():
            return node
        case types.BooleanType():
            return nodes.call("upper", nodes.Cast(node, "STRING"))
        case types.DecimalType():
            return nodes.Cast(node, "STRING", safe=True)
        case types.BinaryType() | types.VarBinaryType():
            return nodes.call("make_valid_utf8", nodes.Cast(node, "STRING"))
        case types.DateType():
            return nodes.Cast(node, "STRING")
        case types.NullType():
            return nodes.Cast(nodes.Literal(None), "STRING")
        case types.VariantType():
            return nodes.call("to_json", node)
        case types.TimeType() | types.TimestampType() | types.LocalZonedTimestampType():
            return datetimes.format_datetime(node, source, zone)
        case types.BitmapType():
            return call_udf("bitmap_to_string", node)
        case types.YearMonthIntervalType() | types.DayTimeIntervalType():
            return datetimes.printed_interval(node, source)
        case types.ArrayType():
            strings = nodes.transform(node, lambda v: _or_null(v, source.element_type, zone))
            return _join_in_brackets("[", strings, "]")
        case types.MapType() | types.MultisetType():
            return _printed_map(node, source, zone)
        case types.RowType() | types.StructuredType():
            return nodes.let(node, lambda v: _printed_row(v, source, zone))
        case _ if isinstance(source, (*INTEGERS, *FLOATS)):
            return nodes.Cast(node, "STRING")
        case _:
            raise nodes.unsupported_error(
                f"{source.as_summary_string()} cannot be cast to a string on Spark"
            )


def _or_null(node: Node, source: DataType, zone: str) -> Node:
    return nodes.call("coalesce", cast_to_string(node, source, zone), "NULL")


def _join_in_brackets(opening: str, strings: Node, closing: str) -> Node:
    return nodes.call("concat", opening, nodes.call("array_join", strings, ", "), closing)


def _printed_map(node: Node, source: types.MapType | types.MultisetType, zone: str) -> Node:
    key, *values = source.children()

    def entry(one: Node) -> Node:
        value = nodes.Field(one, "value")
        shown = _or_null(value, values[0], zone) if values else nodes.Cast(value, "STRING")
        return nodes.call("concat", _or_null(nodes.Field(one, "key"), key, zone), "=", shown)

    return _join_in_brackets("{", nodes.transform(nodes.call("map_entries", node), entry), "}")


def _printed_row(node: Node, source: types.RowType | types.StructuredType, zone: str) -> Node:
    parts: list[Node | str] = []
    for field in source.fields:
        parts += [", "] if parts else []
        parts += [f"{field.name}="] if isinstance(source, types.StructuredType) else []
        parts.append(_or_null(nodes.Field(node, field.name), field.data_type, zone))
    return nodes.null_or(nodes.is_null(node), nodes.call("concat", "(", *parts, ")"))


#: The first that has the pair of types returns the cast.
STEPS: tuple[Step, ...] = (
    from_null,
    between_numbers,
    with_booleans,
    to_string,
    from_string,
    to_bytes,
    between_datetimes,
    between_intervals,
    cast_nested,
)


def as_decimal(node: Node, source: DataType) -> Node:
    """Return an integer as the DECIMAL that Flink computes with; other numbers unchanged."""
    if digits := DIGITS.get(type(source)):
        return nodes.Cast(node, f"DECIMAL({digits}, 0)")
    return node


def cast(*, try_: bool) -> TranslationRule:
    """CAST or TRY_CAST; the second argument is the type."""

    def translate(called: TranslatedCall) -> Node:
        target = called.call.arguments[1].type if len(called.arguments) > 1 else called.type
        converted = convert(called[0], called.types[0], target, called.zone, try_=try_)
        value = called.call.arguments[0]  # Flink casts a literal while planning
        is_number = isinstance(value, Constant) and not isinstance(value.type, types.NullType)
        if isinstance(target, types.DecimalType) and is_number and not try_:
            return nodes.call("coalesce", converted, nodes.fail(f"the value does not fit {target}"))
        return converted

    return rewrite_rule(translate)


def declared_type(expression: Typed) -> types.DataType:
    """Return the type that TYPEOF reports: that of a field is as declared, also of a NULL row."""
    row = expression.value.type if isinstance(expression, Access) else None
    if isinstance(expression, Access) and isinstance(row, types.RowType | types.StructuredType):
        return next(field.data_type for field in row.fields if field.name == expression.name)
    return expression.type


def type_of(called: TranslatedCall) -> Node:
    """TYPEOF: the type as a string, in its long form on demand."""
    type_ = declared_type(called.call.arguments[0])
    full = called[1] if len(called.arguments) > 1 else None
    long = isinstance(full, nodes.Literal) and full.value is True
    return nodes.Literal(type_.as_serializable_string() if long else type_.as_summary_string())


RULES: dict[str, TranslationRule] = {
    "CAST": cast(try_=False),
    "TRY_CAST": cast(try_=True),
    "REINTERPRET_CAST": cast(try_=False),
    "TYPEOF": rewrite_rule(type_of),
}
