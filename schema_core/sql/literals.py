"""Parsers of literals, validated as in Flink by tables of patterns and ranges."""

from __future__ import annotations

import codecs
import math
import re
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import TYPE_CHECKING

from schema_core.base.lazy import regex
from schema_core.base.text import ESCAPE_CHARACTER, pair_surrogates, unescape
from schema_core.sql.syntax import Interval, Literal, LiteralKind
from schema_core.sql.tokens import refuse, string
from schema_core.types.type_grammar import parse_numbers

if TYPE_CHECKING:
    from collections.abc import Callable

    from schema_core.base.cursor import Cursor
    from schema_core.base.text import Span

# ------------------------------------------------------------------------------------- numbers

NUMBERS = {
    "integer": LiteralKind.EXACT,
    "decimal": LiteralKind.EXACT,
    "approximate": LiteralKind.APPROXIMATE,
}


def number(cursor: Cursor) -> Literal:
    """Parse a number without a sign."""
    token = cursor.tokens[cursor.index]
    if token.kind == "approximate":
        exponent = token.value.lower().partition("e")[2]
        if math.isinf(float(token.value)) or len(exponent) > 9:  # more than any number needs
            raise cursor.fail(f"{token.value} is out of range", code="invalid-literal")
    cursor.index += 1
    return Literal(NUMBERS[token.kind], token.value, span=token.span)


def add_sign(literal: Literal, sign: str, span: Span) -> Literal:
    """Return the number with one more sign; two minus signs cancel out."""
    text = literal.text
    if sign == "-":
        text = text[1:] if text.startswith("-") else f"-{text}"
    return Literal(literal.kind, text, span=span)


def decimal(cursor: Cursor) -> Literal:
    """Parse ``DECIMAL '1.5'``, which may have a sign and an exponent.

    Flink counts the sign as a digit of the precision, hence the zero after it.
    """
    start = cursor.advance().start
    token = cursor.token
    content = string(cursor).strip()
    digits = ""
    with suppress(InvalidOperation):
        if re.fullmatch(r"[-+.0-9eE]{1,100}", content):
            value = Decimal(content)
            digits = f"{value:f}" if value.is_finite() and abs(value.adjusted()) < 100 else ""
    if not digits:
        raise cursor.fail(
            f"{token.display} is not a number", span=token.span, code="invalid-literal"
        )
    digits = digits.replace("-", "-0", 1) if "." in digits else digits
    return Literal(LiteralKind.EXACT, digits, span=cursor.span_from(start))


# ------------------------------------------------------------------------------------- strings

#: Flink's character set -> Python's codec.
CHARSETS = {
    "UTF8": "utf-8", "UTF-8": "utf-8", "UTF16": "utf-16-le", "UTF-16": "utf-16-le",
    "UTF-16LE": "utf-16-le", "UTF-16BE": "utf-16-be", "LATIN1": "latin-1", "ISO-8859-1": "latin-1",
    "GB2312": "gb2312", "GBK": "gbk", "BIG5": "big5",
}  # fmt: skip

_ESCAPED = regex(
    r"""\\(?: (?P<simple>[bfnrt]) | (?P<octal>[0-7]{1,3})
          | x(?P<hex>[0-9a-fA-F]{1,2}) | u(?P<four>[0-9a-fA-F]{4}) | U(?P<eight>[0-9a-fA-F]{8})
          | (?P<itself>['\\]) )""",
    re.VERBOSE,
)
_SIMPLE = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def text(cursor: Cursor) -> Literal:
    """Parse a string, in several pieces only on separate lines (SQL standard, 5.3)."""
    return _text(cursor, _requires_new_line)


def string_in_pieces(cursor: Cursor) -> str:
    """Parse a string of any kind, in pieces also on one line.

    Calcite's parser accepts them; Flink validates only those of queries.
    """
    return _text(cursor, lambda _: True).text


def string_in_one_piece(cursor: Cursor) -> str:
    """Parse a string of any kind in one piece: another one follows a missing comma."""
    return _text(cursor, lambda _: False).text


def _text(cursor: Cursor, continues: Callable[[Cursor], bool]) -> Literal:
    token = cursor.tokens[cursor.index]
    if token.kind not in STRINGS:
        raise refuse(cursor, "a string in single quotes")
    cursor.index += 1
    rest = []
    while cursor.token.kind == "string" and token.kind != "escaped" and continues(cursor):
        rest.append(string(cursor))
    if token.kind == "string":
        pieces, charset = [token.value, *rest], None
    else:
        pieces, charset = _PREFIXED[token.kind](cursor, token.value, rest, token.span)
    content, span = "".join(pieces) if rest else pieces[0], cursor.span_from(token.start)
    return Literal(LiteralKind.STRING, content, charset, tuple(pieces) if rest else (), span)


def _requires_new_line(cursor: Cursor) -> bool:
    """Return True, or raise if a piece does not begin on a new line."""
    before, token = cursor.tokens[cursor.index - 1], cursor.token
    if "\n" not in cursor.text[before.start : token.start]:
        raise cursor.fail(
            "adjacent string literals must be on separate lines",
            hint="join strings with ||, or begin each on its own line",
        )
    return True


def _charset(cursor: Cursor, source: str, rest: list[str], span: Span) -> tuple[list[str], str]:
    """Decode ``_UTF16'..'`` and ``N'..'``, whose character set must encode the content."""
    prefix, _, quoted = source.partition("'")
    name = "ISO-8859-1" if prefix in ("N", "n") else prefix[1:].upper()
    pieces = [quoted[:-1].replace("''", "'"), *rest]
    if name not in CHARSETS:
        raise cursor.fail(f"unknown character set {prefix[1:]!r}", span=span)
    try:
        for piece in pieces:
            codecs.encode(piece, CHARSETS[name])
    except UnicodeEncodeError:
        raise cursor.fail(
            f"the string has characters that {name} cannot encode", span=span
        ) from None
    return pieces, name


def _unicode(cursor: Cursor, source: str, rest: list[str], span: Span) -> tuple[list[str], str]:
    r"""Decode ``U&'\00e4'``, or ``U&'!00e4' UESCAPE '!'`` for all pieces."""
    escape = "\\"
    if cursor.key == "UESCAPE":
        cursor.index += 1
        token = cursor.token
        escape = string(cursor)
        if not ESCAPE_CHARACTER.fullmatch(escape):
            raise cursor.fail(f"{token.display} is not a valid escape character", span=token.span)
    decoded = []
    for piece in (source[3:-1].replace("''", "'"), *rest):
        content = unescape(piece, escape)
        if content is None:
            raise cursor.fail(f"{escape} is not followed by four hex digits", span=span)
        decoded.append(content)
    return decoded, "UTF16"


def _c_escapes(cursor: Cursor, source: str, rest: list[str], span: Span) -> tuple[list[str], str]:
    r"""Decode ``E'a\nb'``, in one piece; unknown escapes are kept."""

    def decode_character(match: re.Match[str]) -> str:
        kind = match.lastgroup or ""
        digits = match[kind]
        if kind == "simple":
            return _SIMPLE[digits]
        if kind == "itself":
            return digits
        code = int(digits, 8 if kind == "octal" else 16)
        if code > 0x10FFFF:
            raise cursor.fail(f"{match[0]} is not a character", span=span)
        return chr(code)

    content = _ESCAPED.sub(decode_character, source[2:-1].replace("''", "'"))
    return [pair_surrogates(content), *rest], "UTF16"


_PREFIXED = {"charset": _charset, "unicode": _unicode, "escaped": _c_escapes}

#: Tokens that are strings.
STRINGS = ("string", *_PREFIXED)


def binary(cursor: Cursor) -> Literal:
    """Parse ``x'0aFF'``, in pieces like a string."""
    token = cursor.advance()
    pieces = [token.value[2:-1]]
    while cursor.token.kind == "string" and _requires_new_line(cursor):
        pieces.append(string(cursor))
    pieces = [piece.upper() for piece in pieces]
    content, span = "".join(pieces), cursor.span_from(token.start)
    if not re.fullmatch("(?:[0-9A-F]{2})*", content):
        raise cursor.fail("a binary literal requires pairs of hex digits", span=span)
    return Literal(LiteralKind.BINARY, content, None, tuple(pieces[:-1] and pieces), span)


# ------------------------------------------------------------------------------- date and time

_DATE = r"\s*0*(?P<year>\d{1,9})-\s*0*(?P<month>\d{1,2})-\s*0*(?P<day>\d{1,2})"
_TIME = r"\s*0*(?P<hour>\d{1,2}):\s*0*(?P<minute>\d{1,2}):\s*0*(?P<second>\d{1,2})(?:\.\d*)?"

#: Kind -> (pattern, format for messages).
TEMPORAL = {
    LiteralKind.DATE: (regex(_DATE, re.ASCII), "yyyy-MM-dd"),
    LiteralKind.TIME: (regex(_TIME, re.ASCII), "HH:mm:ss[.f]"),
    LiteralKind.TIMESTAMP: (regex(rf"{_DATE}(?:[ ]{_TIME})?", re.ASCII), "yyyy-MM-dd HH:mm:ss[.f]"),
}

#: Part -> range of its values.
RANGES = {
    "year": (1, 999_999_999),
    "month": (1, 12),
    "hour": (0, 23),
    "minute": (0, 59),
    "second": (0, 59),
}


def temporal(cursor: Cursor, kind: LiteralKind, start: int, zone: str | None = None) -> Literal:
    """Parse the quoted part of ``DATE '2024-02-29'`` and similar literals.

    `zone` is LOCAL for ``TIMESTAMP WITH LOCAL TIME ZONE``.

    >>> from schema_core.sql.parser import parse_expression
    >>> parse_expression("DATE '2023-02-29'")
    Traceback (most recent call last):
        ...
    schema_core.errors.ParseError: '2023-02-29' is not a valid DATE (yyyy-MM-dd)
        DATE '2023-02-29'
             ^^^^^^^^^^^^
    """
    token = cursor.token
    content = string(cursor)
    pattern, form = TEMPORAL[kind]
    match = pattern.fullmatch(content)
    parts = {name: int(part) for name, part in match.groupdict().items() if part} if match else {}
    if not parts or not _exists(parts) or (kind is LiteralKind.DATE and parts["year"] > 9999):
        raise cursor.fail(
            f"{token.display} is not a valid {kind.value} ({form})",
            span=token.span,
            code="invalid-literal",
        )
    return Literal(kind, content, zone, span=cursor.span_from(start))


def _exists(parts: dict[str, int]) -> bool:
    """Return whether a date exists in Java's calendar: Julian before 15 October 1582."""
    for name, (low, high) in RANGES.items():
        if name in parts and not low <= parts[name] <= high:
            return False
    if "day" not in parts:
        return True
    year, month, day = parts["year"], parts["month"], parts["day"]
    if (1582, 10, 4) < (year, month, day) < (1582, 10, 15):
        return False
    days = 30 if month in (4, 6, 9, 11) else 31
    if month == 2:
        is_common_century = year > 1582 and year % 100 == 0 and year % 400 != 0
        days = 29 if year % 4 == 0 and not is_common_century else 28
    return 1 <= day <= days


# ----------------------------------------------------------------------------------- intervals

UNITS = ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND")

#: Unit as written -> unit.
UNIT_WORDS = {word: unit for unit in UNITS for word in (unit, f"{unit}S")}

#: First unit -> units after TO.
ENDINGS: dict[str, tuple[str, ...]] = {
    "YEAR": ("MONTH",),
    "DAY": ("HOUR", "MINUTE", "SECOND"),
    "HOUR": ("MINUTE", "SECOND"),
    "MINUTE": ("SECOND",),
}

#: Further unit -> (separator before it, maximum).
FOLLOWING = {"MONTH": ("-", 11), "HOUR": (" ", 23), "MINUTE": (":", 59), "SECOND": (":", 59)}

#: Units of months have up to ten digits, others three.
MONTHS = frozenset({"YEAR", "QUARTER", "MONTH"})


def qualifier(cursor: Cursor, *, single: bool = False) -> Interval:
    """Parse ``DAY(3) TO SECOND(6)``; with `single` without TO."""
    first = cursor.token
    unit = UNIT_WORDS.get(first.key)
    if unit is None:
        raise refuse(cursor, "a unit of time such as DAY")
    cursor.index += 1
    precision = parse_numbers(cursor, 2 if unit == "SECOND" else 1, parameter)
    leading, fraction = [*precision, None, None][:2]
    to = None
    if (
        not single
        and cursor.key == "TO"
        and UNIT_WORDS.get(cursor.peek().key) in ENDINGS.get(unit, ())
    ):
        cursor.index += 1
        to = UNIT_WORDS[cursor.advance().key]
        if to == "SECOND":
            fraction = [*parse_numbers(cursor, 1, parameter), None][0]
    span = cursor.span_from(first.start)
    if leading is not None and not 1 <= leading <= (10 if unit in MONTHS else 3):
        raise cursor.fail(f"precision {leading} of {unit} is out of range", span=span)
    if fraction is not None and not 1 <= fraction <= 9:
        raise cursor.fail(f"fractional precision {fraction} of SECOND is out of range", span=span)
    return Interval("", unit, to, leading, fraction, span=span)


def parameter(cursor: Cursor) -> int:
    """Parse a length or precision."""
    token = cursor.token
    if token.kind != "integer":
        raise refuse(cursor, "an integer")
    if len(token.value) > 18 or (value := int(token.value)) > 2147483647:
        raise cursor.fail(f"{token.value} exceeds the maximum 2147483647")
    cursor.index += 1
    return value


def interval(cursor: Cursor, start: int, *, negative: bool) -> Interval:
    """Parse the rest of ``INTERVAL -'1 2:30' DAY TO MINUTE``."""
    token = cursor.token
    content = string(cursor)
    unit = qualifier(cursor)
    if problem := _interval_problem(content.strip(), unit):
        raise cursor.fail(
            f"{token.display} is not a valid INTERVAL {format_unit(unit)}: {problem}",
            span=token.span,
            code="invalid-literal",
        )
    span = cursor.span_from(start)
    return Interval(content, unit.unit, unit.to, unit.leading, unit.fraction, negative, span)


def format_unit(unit: Interval) -> str:
    """Return the qualifier of an interval as Flink prints it: ``DAY(3) TO SECOND(6)``."""
    text = unit.unit
    if unit.unit == "SECOND" and unit.fraction is not None:
        return f"{text}({unit.leading}, {unit.fraction})"
    if unit.leading is not None:
        text += f"({unit.leading})"
    if unit.to is not None:
        text += f" TO {unit.to}"
    return f"{text}({unit.fraction})" if unit.to and unit.fraction is not None else text


def _interval_problem(content: str, unit: Interval) -> str | None:
    pattern, following = _form(unit.unit, unit.to, 6 if unit.fraction is None else unit.fraction)
    match = pattern.fullmatch(content)
    if match is None:
        return "it does not have the form of the unit"
    if len(match[1]) > 18 or int(match[1]) > min(10 ** (unit.leading or 2) - 1, 2147483647):
        return f"{match[1]} has more digits than {unit.unit}({unit.leading or 2}) allows"
    for part, value in zip(following, match.groups()[1:], strict=True):
        if int(value) > FOLLOWING[part][1]:
            return f"{part} {value} is out of range"
    return None


@lru_cache(maxsize=256)
def _form(first: str, last: str | None, places: int) -> tuple[re.Pattern[str], tuple[str, ...]]:
    """Return the pattern of an interval's content, and the units after the first."""
    following: tuple[str, ...] = ()
    if last is not None:
        between = UNITS[UNITS.index(first) + 1 : UNITS.index(last) + 1]
        following = tuple(part for part in between if part in FOLLOWING and part in ENDINGS[first])
    pattern = r"[+-]?(\d+)"
    for part in following:
        pattern += rf"{FOLLOWING[part][0]}(\d{{1,2}})"
    if "SECOND" in (first, last):
        pattern += rf"(?:\.\d{{1,{places}}})?"
    return regex(pattern, re.ASCII), following
