"""Identifiers, literals and types as Flink prints them."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING

from schema_core.sql.literals import format_unit
from schema_core.sql.syntax import Interval, Literal, LiteralKind, TypeName
from schema_core.text import quote_identifier, quote_string

#: The blank before an identifier that is one symbol; strings and other identifiers are skipped.
_BEFORE_SIGN = re.compile(r"[ ](?=`[\[\]).,]`(?!`))|'(?:[^']|'')*'|`(?:[^`]|``)*`")

_HALF = re.compile("[\ud800-\udfff]")

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def print_path(parts: tuple[str, ...]) -> str:
    """Return a path with each name in backticks."""
    return ".".join(map(quote_identifier, parts))


# ------------------------------------------------------------------------------------ literals


def print_string(text: str) -> str:
    r"""Return a string literal; with control characters or characters beyond ASCII as ``u&'..'``.

    >>> print(print_string("it's"), print_string("bär"))
    'it''s' u&'b\00e4r'
    """
    if text.isascii() and all(char >= " " or char in "\r\n" for char in text):
        return quote_string(text)
    units = text.encode("utf-16-be", "surrogatepass")
    found = []
    for high, low in zip(units[::2], units[1::2], strict=True):
        code = high * 256 + low
        plain = {"'": "''", "\\": "\\\\"}.get(chr(code), chr(code))
        found.append(plain if 32 <= code < 128 else f"\\{code:04x}")
    return f"u&'{''.join(found)}'"


def _string(literal: Literal) -> str:
    """Return a string in the pieces in which it was written; the character set is printed once.

    Only the first piece can have a prefix, and a lone surrogate must be escaped: such strings are
    printed in one piece.
    """
    pieces = literal.pieces or (literal.text,)
    if literal.charset is None:
        printed = [print_string(piece) for piece in pieces]
        prefixed = any(not piece.startswith("'") for piece in printed[1:])
        return print_string(literal.text) if prefixed else "\n".join(printed)
    if _HALF.search(literal.text):
        return print_string(literal.text)
    return f"_{literal.charset}" + "\n".join(map(quote_string, pieces))


def _hex(literal: Literal) -> str:
    return "X" + "\n".join(f"'{piece}'" for piece in literal.pieces or (literal.text,))


def _exact(literal: Literal) -> str:
    """Return digits without an exponent: ``007`` is printed ``7``.

    The type of a fraction counts its digits, so unusual digits before the point are printed as
    written: ``.5`` is DECIMAL(1, 1), ``0.5`` DECIMAL(2, 1), ``00.5`` DECIMAL(3, 1).
    """
    plain = plain_digits(literal.text)
    unsigned = literal.text.lstrip("+-")
    if "." not in plain or len(unsigned) == len(plain.lstrip("-")):
        return plain
    return f"{'-' if plain.startswith('-') else ''}{unsigned}"


def plain_digits(text: str) -> str:
    """Return a number with exactly one digit before its point unless more are significant.

    >>> plain_digits(".50"), plain_digits("-00.5"), plain_digits("-0")
    ('0.50', '-0.5', '0')
    """
    value = Decimal(text)
    return f"{abs(value) if value.is_zero() else value:f}"


def _approximate(literal: Literal) -> str:
    """Return one digit before the point, at most twenty in all: ``150e-2`` as ``1.50E0``.

    Trailing zeros are dropped only if there were no digits after the point. More than twenty digits
    are printed if the number would differ without them.
    """
    sign, digits, exponent = Decimal(literal.text).as_tuple()
    power = len(digits) + int(exponent) - 1
    every = "".join(map(str, digits))
    for most in (20, len(every)):
        kept = every[:most]
        if exponent == 0:
            kept = kept[0] + kept[1:].rstrip("0")
        fraction = f".{kept[1:]}" if len(kept) > 1 else ""
        printed = f"{'-' if sign and any(digits) else ''}{kept[0]}{fraction}E{power}"
        if float(printed) == float(literal.text):
            break
    return printed


def _timestamp(literal: Literal) -> str:
    zone = " WITH LOCAL TIME ZONE" if literal.charset == "LOCAL" else ""
    return f"TIMESTAMP{zone} {print_string(literal.text)}"


def print_literal(literal: Literal) -> str:
    """Return a literal as Flink prints it.

    >>> (
    ...     print_literal(Literal(LiteralKind.EXACT, ".50")),
    ...     print_literal(Literal(LiteralKind.APPROXIMATE, "150e-2")),
    ... )
    ('.50', '1.50E0')
    """
    return LITERALS[literal.kind](literal)


#: Kind -> printer.
LITERALS: Mapping[LiteralKind, Callable[[Literal], str]] = {
    LiteralKind.NULL: lambda literal: "NULL",
    LiteralKind.BOOLEAN: lambda literal: literal.text,
    LiteralKind.UNKNOWN: lambda literal: "UNKNOWN",
    LiteralKind.EXACT: _exact,
    LiteralKind.APPROXIMATE: _approximate,
    LiteralKind.STRING: _string,
    LiteralKind.BINARY: _hex,
    LiteralKind.DATE: lambda literal: f"DATE {print_string(literal.text)}",
    LiteralKind.TIME: lambda literal: f"TIME {print_string(literal.text)}",
    LiteralKind.TIMESTAMP: _timestamp,
}


def print_interval(literal: Interval) -> str:
    """Return ``INTERVAL -'5' DAY(3)``."""
    sign = "-" if literal.negative else ""
    return f"INTERVAL {sign}{quote_string(literal.text)} {format_unit(literal)}"


# --------------------------------------------------------------------------------------- types


def print_type(written: TypeName) -> str:
    """Return a type as Flink prints it in a cast.

    >>> from schema_core.sql.tokens import cursor_over
    >>> from schema_core.sql.type_name import cast_target
    >>> print(print_type(cast_target(cursor_over("ROW<a INT NOT NULL, b BYTES ARRAY>"))))
    ROW< `a` INTEGER NOT NULL, `b` BYTES ARRAY >
    """
    arguments = written.arguments
    if written.path:
        return print_path(written.path)
    if written.interval is not None:
        return f"INTERVAL {format_unit(written.interval)}"
    match written.keyword:
        case "ARRAY" | "MULTISET" if written.postfix:
            return f"{_nullable_type(arguments[0])} {written.keyword}"
        case "ARRAY" | "MULTISET":
            return f"{written.keyword}< {_nullable_type(arguments[0])} >"
        case "MAP":
            return f"MAP< {_nullable_type(arguments[0])}, {_nullable_type(arguments[1])} >"
        case "ROW":
            fields = _fields(written)
            if written.postfix:
                return f"ROW({', '.join(fields)})"
            return f"ROW< {', '.join(fields)} >" if fields else "ROW<>"
        case "STRUCTURED":
            return (
                f"STRUCTURED< {', '.join([quote_string(written.strings[0]), *_fields(written)])} >"
            )
        case "RAW":
            return f"RAW({', '.join(map(quote_string, written.strings))})"
        case _:
            return _atomic_type(written)


def _nullable_type(written: TypeName) -> str:
    """Return a type with NOT NULL if it was written so."""
    return print_type(written) + (" NOT NULL" if written.nullable is False else "")


def _fields(written: TypeName) -> list[str]:
    return [
        f"{quote_identifier(field.name)} {_nullable_type(field.type)}"
        + ("" if field.comment is None else f" {quote_string(field.comment)}")
        for field in written.fields
    ]


def _atomic_type(written: TypeName) -> str:
    """Return the keyword with its parameters, which precede the time zone."""
    keyword, blank, zone = written.keyword.partition(" WITH")
    numbers = f"({', '.join(map(str, written.parameters))})" if written.parameters else ""
    charset = f" CHARACTER SET {quote_identifier(written.charset)}" if written.charset else ""
    return f"{keyword}{numbers}{blank}{zone}{charset}"


def close_up(text: str) -> str:
    """Remove the blank before an identifier like ``,``, which Calcite takes for the symbol.

    >>> close_up("`b` + `,` + ' `,`'")
    "`b` +`,` + ' `,`'"
    """
    return _BEFORE_SIGN.sub(lambda found: found[0].removeprefix(" "), text)
