"""Parsing by Java's date patterns, each of which is one regular expression.

Both Python and Spark's SQL read the regular expressions of numbers.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import TypeAlias

from schema_core.base.lazy import NamedTuple, regex
from schema_core.expressions.date_patterns import (
    DAYS,
    ERAS,
    HALVES,
    MONTHS,
    ZONES,
    Part,
    era_names,
    name_of,
    parse_simple_pattern,
    parse_time_pattern,
)
from schema_core.spark.compiler.udfs import UdfError

#: Returns the value of a field from its text.
Convert: TypeAlias = Callable[[str], int]

#: The regular expression of a part, without groups, and the value of its text.
Piece: TypeAlias = tuple[str, Convert | None]

#: Returns the piece of a part, given those after it; None if its letter is not parsed.
PieceRule: TypeAlias = Callable[[Part, tuple[Part, ...]], Piece | None]


class Shape(NamedTuple):
    """The regular expression of a pattern, with a group for each field.

    A part does not give back what it has consumed. The expression ends before the first letter that
    is not parsed; `problem` is the reason.
    """

    regex: re.Pattern[str]
    fields: tuple[tuple[str, Convert, int], ...]  # letter, value, group
    problem: str | None

    def values(self, match: re.Match[str]) -> dict[str, int]:
        return {letter: convert(match[group]) for letter, convert, group in self.fields}


def _shape(
    parts: tuple[Part, ...],
    piece: PieceRule,
    letters: Mapping[str, str],
    refused: Mapping[str, str],
    flags: re.RegexFlag,
) -> Shape:
    """Return the shape of a pattern.

    `letters` maps a letter to that of its field if they differ, `refused` a letter with which no
    string is parsed to the reason.
    """
    for part in parts:
        if part.letter in refused:
            return Shape(re.compile(""), (), refused[part.letter])
    pieces: list[str] = []
    fields: list[tuple[str, Convert, int]] = []
    problem = None
    for place, part in enumerate(parts, start=1):
        if part.letter == "'":
            pieces.append(re.escape(part.text))
            continue
        recognized = piece(part, parts[place:])
        if recognized is None:
            problem = NOT_PARSED.format(part.letter)
            break
        shape, convert = recognized
        if convert is None:
            pieces.append(f"(?>{shape})")
        else:
            pieces.append(f"((?>{shape}))")
            fields.append((letters.get(part.letter, part.letter), convert, len(fields) + 1))
    return Shape(re.compile("".join(pieces), flags), tuple(fields), problem)


NOT_PARSED = "the pattern letter {} is not supported in parsing"


# --- SimpleDateFormat ----------------------------------------------------------------------------

#: Letters of numbers; months are numbers up to two letters.
_SIMPLE_NUMBERS = "yYdDFuHkKhmsSwW"

#: Letter -> names, and the number of the first.
_SIMPLE_NAMES = {
    "M": (MONTHS, 1), "L": (MONTHS, 1), "E": (DAYS, 1), "G": (ERAS, 0), "a": (HALVES, 0),
}  # fmt: skip

#: Hours that are counted from 1 -> their number.
_CLOCKS = {"k": 24, "h": 12}

#: Letter -> the letter of its field, if they differ.
_SIMPLE_FIELDS = {"L": "M", "k": "H", "h": "K", "z": "Z", "X": "Z"}

_OFFSET = r"(?i:(?:GMT|UTC)?[+-]\d{1,2}(?::?\d\d)?|GMT|UTC|Z)"
_SIGN = regex(r"([+-])(\d{1,2}):?(\d\d)?")


def simple_fields(text: str, pattern: str) -> dict[str, int] | None:
    """Return the fields of a string whose start matches a SimpleDateFormat pattern, or None.

    The last value of a repeated field counts; fields are in the order of parsing.

    >>> simple_fields("29/Feb/2024", "dd/MMM/yyyy"), simple_fields("29.02.2024", "dd/MMM/yyyy")
    ({'d': 29, 'M': 2, 'y': 2024}, None)
    """
    shape = _simple_shape(pattern)
    match = shape.regex.match(text)
    if match is None:
        return None
    if shape.problem:
        raise UdfError(shape.problem)
    return shape.values(match) if match.end() else None


@lru_cache(maxsize=200)
def _simple_shape(pattern: str) -> Shape:
    refused = {letter: NOT_PARSED.format(letter) for letter in "uFW"}
    return _shape(
        parse_simple_pattern(pattern),
        _simple_piece,
        _SIMPLE_FIELDS,
        refused,
        re.DOTALL,
    )


def _is_simple_number(part: Part) -> bool:
    return part.letter in _SIMPLE_NUMBERS or (part.letter in "ML" and part.count <= 2)


def simple_number_shape(part: Part, rest: tuple[Part, ...]) -> str:
    """Return the regular expression of a number of SimpleDateFormat.

    Beside another number, blanks, sign and digits are as many characters as letters.
    """
    if not rest or not _is_simple_number(rest[0]):
        return r"[ \t]*+-?+\d++"
    cases = []
    for blanks in range(part.count):
        digits = part.count - blanks
        number = rf"\d{{1,{digits}}}+" + (rf"|-\d{{1,{digits - 1}}}+" if digits > 1 else "")
        cases.append(rf"[ \t]{{{blanks}}}(?:{number})")
    return rf"(?=.{{{part.count}}})(?:{'|'.join(cases)})"


def _simple_piece(part: Part, rest: tuple[Part, ...]) -> Piece | None:
    letter = part.letter
    convert: Convert
    if _is_simple_number(part):
        shape, convert = simple_number_shape(part, rest), _java_int
        if letter in "yY" and part.count <= 2:
            convert = _short_year
        elif letter in _CLOCKS:
            convert = partial(_clock_hour, _CLOCKS[letter])
    elif letter in _SIMPLE_NAMES:
        names, first = _SIMPLE_NAMES[letter]
        texts = [*names, *(name[:3] for name in names)]
        values = {text.lower(): index % len(names) + first for index, text in enumerate(texts)}
        shape = rf"[ \t]*+(?ai:{'|'.join(texts)})"
        convert = lambda text: values[text.strip(" \t").lower()]  # noqa: E731 - a table
    elif letter in "zZX":
        shape, convert = rf"[ \t]*+{_OFFSET}", _offset
    else:
        return None
    is_repeated = any(map(_simple_field(part).__eq__, map(_simple_field, rest)))
    return shape, None if is_repeated else convert


def _simple_field(part: Part) -> str:
    return _SIMPLE_FIELDS.get(part.letter, part.letter)


def _java_int(text: str) -> int:
    """Return a number as Java reads it: wrapped to 32 bits, -1 beyond 64 bits."""
    value = int(text)
    if -(2**31) <= value < 2**31:
        return value
    return wrap_int(value) if abs(value) < 2**63 else -1


def _short_year(text: str) -> int:
    """Return a year; two digits are one from 80 years before to 20 years after today."""
    year = _java_int(text)
    if not re.fullmatch(r"[ \t]*\d\d", text):
        return year
    return year + (2000 if year < (dt.datetime.now(dt.UTC).year + 20) % 100 else 1900)


def _clock_hour(hours: int, text: str) -> int:
    hour = _java_int(text)
    return 0 if hour == hours else hour


def wrap_int(value: int) -> int:
    """Wrap an integer to 32 bits."""
    return (value + 2**31) % 2**32 - 2**31


def _offset(text: str) -> int:
    """Return the seconds of an offset from UTC, or of a name of UTC."""
    match = _SIGN.search(text)
    if match is None:
        return 0
    size = (int(match[2]) * 60 + int(match[3] or 0)) * 60
    return -size if match[1] == "-" else size


# --- java.time -----------------------------------------------------------------------------------

#: Letter -> the count of fixed width, if others vary.
_FIXED_WIDTHS = {"M": 2, "u": 2, "y": 2, "D": 3}


def time_fields(text: str, pattern: str) -> dict[str, int] | None:
    """Return the fields of a string that matches a pattern of java.time, or None.

    A repeated field must have one value.

    >>> time_fields("29 Feb 24", "dd MMM yy"), time_fields("29 feb 24", "dd MMM yy")
    ({'d': 29, 'M': 2, 'y': 2024}, None)
    """
    shape = _time_shape(pattern)
    match = shape.regex.match(text)
    if match is None:
        return None
    fields = shape.values(match)
    if len(fields) < len(shape.fields) and any(
        fields[letter] != convert(match[group]) for letter, convert, group in shape.fields
    ):
        return None
    if shape.problem:
        raise UdfError(shape.problem)
    return fields if match.end() == len(text) else None


@lru_cache(maxsize=200)
def _time_shape(pattern: str) -> Shape:
    refused = dict.fromkeys("[]", "optional parts of a pattern are not supported in parsing")
    return _shape(parse_time_pattern(pattern), _time_piece, {"L": "M"}, refused, re.ASCII)


def number_shape(part: Part, rest: tuple[Part, ...]) -> str:
    """Return the regular expression of a number; adjacent fixed-width numbers keep their digits."""
    count = part.count
    if part.letter in "uyY" and count == 2:
        return r"\d{2}"
    if part.letter == "S":
        return rf"\d{{{count}}}"
    wide = part.letter in "uyYAnN" and count != 2
    if count == 1 or wide:
        follow = 0
        for following in rest:
            if following.letter not in "MdHhkKmsDuyS" or following.count == 1:
                break
            if following.count != _FIXED_WIDTHS.get(following.letter, following.count):
                break
            follow += following.count
        ahead = rf"(?=\d{{{follow}}}(?!\d))" if follow else ""
        if wide and count > 3:
            signed = rf"|\+\d{{{count + 1},19}}" if not follow else ""
            return rf"-?\d{{{count}}}{ahead}(?!\d{{{follow + 1}}}){signed}"
        return rf"-?\d{{{count},19}}{ahead}"
    return rf"\d{{{count},{max(count, 3 if part.letter == 'D' else 2)}}}"


def _time_piece(part: Part, rest: tuple[Part, ...]) -> Piece | None:
    letter, count = part.letter, part.count
    if letter in "uydHkKhmsSDAnN" or (letter in "ML" and count <= 2):
        convert: Convert = int
        if letter == "S":
            convert = lambda text: int(text.ljust(9, "0"))  # noqa: E731 - a table
        if letter in "uy" and count == 2:
            convert = lambda text: int(text) + 2000  # noqa: E731 - a table
        return number_shape(part, rest), convert
    if letter in ZONES:  # a timestamp has no time zone: it is skipped
        return r"Z|UTC|GMT|(?:GMT|UTC)?[+-]\d\d(?::?\d\d)?", None
    if letter in "MLE" and count < 5:
        names, first = (DAYS, 0) if letter == "E" else (MONTHS, 1)
        texts = [name_of(name, count) for name in names]
    elif letter == "G":
        texts, first = list(era_names(count)), 0
    elif letter == "a":
        texts, first = list(HALVES), 0
    else:
        return None
    values = {text: index + first for index, text in enumerate(texts)}
    return "|".join(texts), values.__getitem__
