"""The format `raw`: the bytes of one column, a value per line.

As in Flink's filesystem connector (verified with Flink 2.3 SQL), values are separated by line
feeds, whatever their bytes, and a carriage return before one is dropped. Values that could not be
read back, which Flink would write, are refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from schema_core import types
from schema_core.connectors.files.file_formats import PLACES, Format
from schema_core.environment.options import ConfigOption, choice
from schema_core.errors import SchemaError
from schema_core.spark.compiler import tree as nodes
from schema_core.spark.compiler.template import inline, sql
from schema_core.spark.compiler.translation import sql_type

if TYPE_CHECKING:
    from schema_core.types import RowField

#: Character sets of Spark's ``encode`` and ``decode`` -> Java's other names of them.
CHARSETS: Mapping[str, tuple[str, ...]] = {
    "UTF-8": ("UTF8",),
    "US-ASCII": ("ASCII",),
    "ISO-8859-1": ("ISO8859_1", "LATIN1"),
    "UTF-16": ("UTF_16", "UTF16"),
    "UTF-16BE": ("UTF_16BE",),
    "UTF-16LE": ("UTF_16LE",),
    "UTF-32": ("UTF_32", "UTF32"),
}
_NAMES = {name: charset for charset, others in CHARSETS.items() for name in (charset, *others)}


def _charset(text: str) -> str:
    return _NAMES[choice(*_NAMES)(text)]


CHARSET = ConfigOption("raw.charset", _charset, "UTF-8", "how strings are encoded")
ENDIANNESS = ConfigOption(
    "raw.endianness",
    choice("big-endian", "little-endian"),
    "big-endian",
    "the order of the bytes of numbers",
)

#: Type -> bytes of a value.
SIZES: Mapping[type[types.DataType], int] = {
    types.BooleanType: 1, types.TinyIntType: 1, types.SmallIntType: 2, types.IntType: 4,
    types.BigIntType: 8, types.FloatType: 4, types.DoubleType: 8,
}  # fmt: skip
STRINGS = (types.CharType, types.VarCharType)
BINARIES = (types.BinaryType, types.VarBinaryType)


class Raw:
    """The lines of raw files, as strings of arbitrary bytes."""

    def require(self, fields: Sequence[RowField], options: Mapping[str, str]) -> None:
        """Refuse tables without exactly one column, of a type that has bytes.

        Raises:
            SchemaError: with code `type-not-supported`.
        """
        require_one(fields, (*STRINGS, *BINARIES, *SIZES), "raw")

    def physical_type(self, type_: types.DataType, options: Mapping[str, str]) -> types.DataType:
        return types.VarCharType(types.MAX_LENGTH)

    def reading(self, options: Mapping[str, str]) -> dict[str, str]:
        return {"lineSep": "\n"}

    def writing(self, fields: Sequence[RowField], options: Mapping[str, str]) -> dict[str, str]:
        return {"lineSep": "\n"}

    def decode(
        self, node: nodes.Node, name: str, type_: types.DataType, options: Mapping[str, str]
    ) -> nodes.Node:
        """Return the value of a line."""
        line = sql(
            "if(endswith({v}, X'0D'), substring({v}, 1, octet_length({v}) - 1), {v})",
            v=nodes.Cast(node, "BINARY"),
        )
        return decode_bytes(line, name, type_, options, PLACES["raw"])

    def encode(
        self, node: nodes.Node, name: str, type_: types.DataType, options: Mapping[str, str]
    ) -> nodes.Node:
        """Return a value as a line; one that could not be read back fails the job."""
        value = encode_bytes(node, type_, options)
        return nodes.let(value, lambda line: nodes.Cast(as_line(line, name), "STRING"))


def decode_bytes(
    node: nodes.Node,
    name: str,
    type_: types.DataType,
    options: Mapping[str, str],
    place: nodes.Node,
) -> nodes.Node:
    """Return the value of bytes; another number of them than that of the type fails the job."""
    charset = CHARSET.of(options)
    match type_:
        case types.CharType() | types.VarCharType() if charset == "UTF-8":
            return nodes.call("make_valid_utf8", nodes.Cast(node, "STRING"))
        case types.CharType() | types.VarCharType():
            return nodes.call("decode", node, charset)
        case types.BinaryType() | types.VarBinaryType():
            return node
    size = SIZES[type(type_)]

    def body(value: nodes.Node) -> nodes.Node:
        is_wrong = inline("octet_length({v}) <> {size}", v=value, size=size)
        error = inline(
            "raise_error(concat({problem}, octet_length({v}), {expected}, coalesce({place}, '')))",
            v=value,
            problem=f"column {name!r}: cannot read {type_.as_summary_string()} from ",
            expected=f" bytes, expected {size}",
            place=place,
        )
        digits = nodes.call("hex", _order_bytes(value, size, options))
        return nodes.Case(((is_wrong, error),), _number(digits, type_))

    return nodes.let(node, body)


def encode_bytes(node: nodes.Node, type_: types.DataType, options: Mapping[str, str]) -> nodes.Node:
    """Return the bytes of a value."""
    match type_:
        case types.CharType() | types.VarCharType():
            return nodes.call("encode", node, CHARSET.of(options))
        case types.BinaryType() | types.VarBinaryType():
            return node
        case types.BooleanType():
            return nodes.null_or(nodes.is_null(node), inline("if({v}, X'01', X'00')", v=node))
        case types.FloatType() | types.DoubleType():
            number = nodes.Cast(node, "DOUBLE")
            is_float = isinstance(type_, types.FloatType)
            bits = nodes.Cast(_bits(number, 8, 23), "INT") if is_float else _bits(number, 11, 52)
            return _order_bytes(nodes.Cast(bits, "BINARY"), SIZES[type(type_)], options)
        case _:
            return _order_bytes(nodes.Cast(node, "BINARY"), SIZES[type(type_)], options)


def require_one(
    fields: Sequence[RowField], kinds: tuple[type[types.DataType], ...], name: str
) -> None:
    """Refuse tables without exactly one column in their files, of one of these types.

    Raises:
        SchemaError: with code `type-not-supported`.
    """
    if len(fields) != 1:
        names = ", ".join(repr(field.name) for field in fields) or "none"
        raise SchemaError(
            f"{name} files hold one column, got {names}",
            code="type-not-supported",
            hint="declare one physical column besides those of PARTITIONED BY",
        )
    (field,) = fields
    if not isinstance(field.data_type, kinds):
        shown = field.data_type.as_summary_string()
        raise SchemaError(
            f"{name} files cannot hold column {field.name!r} of type {shown}",
            code="type-not-supported",
            hint="declare the column as STRING and CAST it, or use another format",
        )


def as_line(value: nodes.Node, name: str) -> nodes.Node:
    """Return bytes that can be read back from a line; others fail the job."""
    branches = (
        (nodes.is_null(value), f"column {name!r}: NULL cannot be written as a line"),
        (inline("contains({v}, X'0A')", v=value), f"column {name!r}: a value has a line feed"),
        (
            inline("endswith({v}, X'0D')", v=value),
            f"column {name!r}: a value ends with a carriage return, which readers drop",
        ),
    )
    return nodes.Case(tuple((test, nodes.fail(problem)) for test, problem in branches), value)


def _order_bytes(value: nodes.Node, size: int, options: Mapping[str, str]) -> nodes.Node:
    if size == 1 or ENDIANNESS.of(options) == "big-endian":
        return value

    def reversed_(bytes_: nodes.Node) -> nodes.Node:
        parts = [nodes.call("substring", bytes_, position, 1) for position in range(size, 0, -1)]
        return nodes.call("concat", *parts)

    return nodes.let(value, reversed_)


def _number(digits: nodes.Node, type_: types.DataType) -> nodes.Node:
    match type_:
        case types.BooleanType():
            return inline("{v} <> '00'", v=digits)
        case types.BigIntType():
            return nodes.Cast(nodes.call("conv", digits, 16, -10), "BIGINT")
        case types.FloatType():
            bits = nodes.Cast(nodes.call("conv", digits, 16, 10), "BIGINT")
            return nodes.Cast(_from_bits(bits, 8, 23), "FLOAT")
        case types.DoubleType():
            return _from_bits(nodes.Cast(nodes.call("conv", digits, 16, -10), "BIGINT"), 11, 52)
        case _:  # a cast drops the high bits
            return nodes.Cast(
                nodes.Cast(nodes.call("conv", digits, 16, 10), "BIGINT"), sql_type(type_)
            )


# Spark has no functions for the bits of floating point numbers. All steps below are exact: they
# multiply and divide by powers of two.


def _from_bits(bits: nodes.Node, exponent_bits: int, mantissa_bits: int) -> nodes.Node:
    top = 2**exponent_bits - 1
    bias = top // 2
    parts = (
        inline("pmod({b}, {n})", b=bits, n=2**mantissa_bits),
        inline("pmod(shiftright({b}, {m}), {n})", b=bits, m=mantissa_bits, n=top + 1),
        inline("pmod(shiftright({b}, {s}), 2)", b=bits, s=exponent_bits + mantissa_bits),
    )
    return nodes.let_all(
        parts,
        lambda mantissa, exponent, sign: inline(
            "if({sign} = 0, 1.0D, -1.0D) * CASE"
            " WHEN {exponent} = 0 THEN {mantissa} * power(2.0D, {least})"
            " WHEN {exponent} < {top} THEN ({mantissa} + {one}) * power(2.0D, {exponent} + {shift})"
            " WHEN {mantissa} = 0 THEN CAST('Infinity' AS DOUBLE)"
            " WHEN {mantissa} > 0 THEN CAST('NaN' AS DOUBLE) END",
            mantissa=mantissa,
            exponent=exponent,
            sign=sign,
            top=top,
            one=2**mantissa_bits,
            least=1 - bias - mantissa_bits,
            shift=-bias - mantissa_bits,
        ),
    )


def _bits(node: nodes.Node, exponent_bits: int, mantissa_bits: int) -> nodes.Node:
    """Return the IEEE 754 bits of a DOUBLE, as a BIGINT with the number's sign."""
    top = 2**exponent_bits - 1
    bias = top // 2
    one = 2**mantissa_bits
    least = bias - 1 + mantissa_bits

    def normal(value: nodes.Node, guess: nodes.Node) -> nodes.Node:
        exponent = inline(
            "CASE WHEN power(2.0D, {e}) > {v} THEN {e} - 1"
            " WHEN power(2.0D, {e} + 1) <= {v} THEN {e} + 1 ELSE {e} END",
            e=guess,
            v=value,
        )
        return nodes.let(
            exponent,
            lambda exact: inline(
                "CAST({v} / power(2.0D, {e}) * {one} AS BIGINT) + ({e} + {shift}) * {one}",
                v=value,
                e=exact,
                one=nodes.Literal(str(one), "L"),
                shift=bias - 1,
            ),
        )

    def magnitude(value: nodes.Node) -> nodes.Node:
        guess = inline("CAST(floor(log2({v})) AS INT)", v=value)
        return inline(
            "CASE WHEN {v} = CAST('Infinity' AS DOUBLE) THEN {infinity} WHEN {v} < power(2.0D, {m})"
            " THEN CAST({v} * power(2.0D, {half}) * power(2.0D, {rest}) AS BIGINT)"
            " ELSE {normal} END",
            v=value,
            infinity=nodes.Literal(str(top * one), "L"),
            m=1 - bias,
            half=least // 2,
            rest=least - least // 2,
            normal=nodes.let(guess, lambda exponent: normal(value, exponent)),
        )

    def signed_number(value: nodes.Node) -> nodes.Node:
        return inline(
            "if(isnan({v}), {nan},"
            " {magnitude} + if(startswith(CAST({v} AS STRING), '-'), {sign}, 0))",
            v=value,
            nan=nodes.Literal(str(top * one + one // 2), "L"),
            magnitude=nodes.let(nodes.call("abs", value), magnitude),
            sign=nodes.Cast(nodes.Literal(str(-(2 ** (exponent_bits + mantissa_bits)))), "BIGINT"),
        )

    return nodes.let(node, signed_number)


RAW = Format("raw", (CHARSET, ENDIANNESS), source="text", codec=Raw())
