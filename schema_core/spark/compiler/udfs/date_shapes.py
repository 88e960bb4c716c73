"""Date patterns as one regular expression, for strings that match a pattern without leniency.

Most strings do; to find their fields takes a fifth of the time of `java_dates`, which parses the
others part by part and defines the results of all.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import NamedTuple, TypeAlias

from schema_core.expressions.date_patterns import (
    DAYS,
    MONTHS,
    DatePatternError,
    Part,
    parse_simple_pattern,
    parse_time_pattern,
)

#: Returns the value of a field from its text.
Convert: TypeAlias = Callable[[str], int]

#: The regular expression of a part of a pattern, one group, and the value of its text.
Piece: TypeAlias = tuple[str, Convert]


class Shape(NamedTuple):
    """A regular expression, and for each of its groups the letter of its field and its value."""

    regex: re.Pattern[str]
    fields: tuple[tuple[str, Convert], ...]

    def values(self, found: re.Match[str]) -> dict[str, int]:
        """Return the fields of a match, in order."""
        groups = found.groups()
        return {
            letter: convert(text)
            for (letter, convert), text in zip(self.fields, groups, strict=True)
        }


def names_of(names: tuple[str, ...], count: int) -> list[str]:
    """Return names as three letters, in full (4), or as one letter (5)."""
    return [name[: {3: 3, 4: None, 5: 1}.get(count, 3)] for name in names]


# --- SimpleDateFormat ----------------------------------------------------------------------------

_SIMPLE_NUMBERS = "ydHkKhmsS"

#: Letter of a pattern -> the letter of its field, if that is another one.
_SIMPLE_FIELDS = {"L": "M", "k": "H", "h": "K", "z": "Z", "X": "Z"}

#: Letter -> names, and the number of the first.
_SIMPLE_NAMES = {"M": (MONTHS, 1), "L": (MONTHS, 1), "E": (DAYS, 1), "a": (("AM", "PM"), 0)}


def simple_fields(text: str, pattern: str) -> dict[str, int] | None:
    """Return the fields of a string that matches a pattern of SimpleDateFormat plainly, or None.

    >>> simple_fields("29/Feb/2024", "dd/MMM/yyyy"), simple_fields(" 1/FEB/2024", "dd/MMM/yyyy")
    ({'d': 29, 'M': 2, 'y': 2024}, None)
    """
    shape = _simple_shape(pattern)
    found = shape.regex.match(text) if shape else None
    return None if shape is None or found is None else shape.values(found)


@lru_cache(maxsize=200)
def _simple_shape(pattern: str) -> Shape | None:
    """Return the shape of a pattern without the letters that count weeks; of its start."""
    return _shape(pattern, parse_simple_pattern, _simple_piece, _SIMPLE_FIELDS, re.NOFLAG)


def _simple_piece(part: Part, rest: tuple[Part, ...]) -> Piece | None:
    letter, following = part.letter, rest[0] if rest else Part("'")
    if letter in _SIMPLE_NUMBERS or (letter in "ML" and part.count <= 2):
        is_adjacent = following.letter in "yYdDFuHkKhmsSwW" or (
            following.letter in "ML" and following.count <= 2
        )
        shape = f"([0-9]{{{part.count}}})" if is_adjacent else r"([0-9]{1,9})(?!\d)"
        return (shape, _simple_number(part)) if part.count <= 9 else None
    if letter in _SIMPLE_NAMES:
        if following.letter != "'" or following.text[:1].isalpha():
            return None
        names, first = _SIMPLE_NAMES[letter]
        texts = [*names, *(name[:3] for name in names)]
        values = {text: index % len(names) + first for index, text in enumerate(texts)}
        return f"({'|'.join(texts)})", values.__getitem__
    if letter in "zZX":
        return r"([+-][0-9]{2}:?[0-9]{2})", _offset
    return None


def _simple_number(part: Part) -> Convert:
    if part.letter == "y" and part.count <= 2:
        return _short_year
    if part.letter in "kh":
        return partial(_of_clock, {"k": 24, "h": 12}[part.letter])
    return int


def _short_year(text: str) -> int:
    """Return a year, of two digits that from 80 years before today on."""
    year = int(text)
    return year if len(text) != 2 else year + (2000 if year < century() else 1900)


def century() -> int:
    """Return the pivot of two-digit years: from 80 years before to 20 years after today."""
    return (dt.datetime.now(dt.UTC).year + 20) % 100


def _of_clock(most: int, text: str) -> int:
    """Return an hour that is counted from 1."""
    value = int(text)
    return 0 if value == most else value


def _offset(text: str) -> int:
    size = (int(text[1:3]) * 60 + int(text[-2:])) * 60
    return -size if text[0] == "-" else size


# --- java.time -----------------------------------------------------------------------------------

#: Letter -> the count with which a number has a fixed width, for those that may have another one.
_FIXED_WIDTHS = {"M": 2, "u": 2, "y": 2, "D": 3}


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
        for one in rest:
            if one.letter not in "MdHhkKmsDuyS" or one.count == 1:
                break
            if one.count != _FIXED_WIDTHS.get(one.letter, one.count):
                break
            follow += one.count
        ahead = rf"(?=\d{{{follow}}}(?!\d))" if follow else ""
        if wide and count > 3:
            signed = rf"|\+\d{{{count + 1},19}}" if not follow else ""
            return rf"-?\d{{{count}}}{ahead}(?!\d{{{follow + 1}}}){signed}"
        return rf"-?\d{{{count},19}}{ahead}"
    return rf"\d{{{count},{max(count, 3 if part.letter == 'D' else 2)}}}"


def time_number(part: Part) -> Convert:
    """Return the function from the digits of a part to the value of its field."""
    if part.letter in "uy" and part.count == 2:
        return _year_of_2000
    return _fraction if part.letter == "S" else int


def _year_of_2000(text: str) -> int:
    return int(text) + 2000


def _fraction(text: str) -> int:
    return int(text.ljust(9, "0"))


def time_fields(text: str, pattern: str) -> dict[str, int] | None:
    """Return the fields of a string that matches a pattern of java.time, or None.

    >>> time_fields("29 Feb 24", "dd MMM yy"), time_fields("29 feb 24", "dd MMM yy")
    ({'d': 29, 'M': 2, 'y': 2024}, None)
    """
    shape = _time_shape(pattern)
    found = shape.regex.fullmatch(text) if shape else None
    return None if shape is None or found is None else shape.values(found)


@lru_cache(maxsize=200)
def _time_shape(pattern: str) -> Shape | None:
    """Return the shape of a pattern without eras and time zones."""
    return _shape(pattern, parse_time_pattern, _time_piece, {"L": "M"}, re.ASCII)


def _time_piece(part: Part, rest: tuple[Part, ...]) -> Piece | None:
    """Return the piece of a part; what a part has consumed is not given back."""
    letter, count = part.letter, part.count
    if letter in "uydHkKhmsSDAnN" or (letter in "ML" and count <= 2):
        return f"((?>{number_shape(part, rest)}))", time_number(part)
    if letter in "MLE" and count < 5:
        names, first = (DAYS, 0) if letter == "E" else (MONTHS, 1)
        texts = names_of(names, count)
    elif letter == "a":
        texts, first = ["AM", "PM"], 0
    else:
        return None
    numbers = {text: index + first for index, text in enumerate(texts)}
    return f"((?>{'|'.join(texts)}))", numbers.__getitem__


# --- both ----------------------------------------------------------------------------------------


def _shape(
    pattern: str,
    parse: Callable[[str], tuple[Part, ...]],
    piece: Callable[[Part, tuple[Part, ...]], Piece | None],
    letters: Mapping[str, str],
    flags: re.RegexFlag,
) -> Shape | None:
    """Return the shape of a pattern with fields, none of them repeated; None for any other.

    Args:
        pattern: The pattern.
        parse: Returns its parts.
        piece: Returns the piece of a part, given the parts after it.
        letters: Letter of a pattern -> the letter of its field, if that is another one.
        flags: The flags of the regular expression.
    """
    try:
        parts = parse(pattern)
    except DatePatternError:
        return None
    pieces: list[str] = []
    fields: list[tuple[str, Convert]] = []
    for place, part in enumerate(parts, start=1):
        if part.letter == "'":
            pieces.append(re.escape(part.text))
            continue
        found = piece(part, parts[place:])
        if found is None:
            return None
        pieces.append(found[0])
        fields.append((letters.get(part.letter, part.letter), found[1]))
    if not fields or len({letter for letter, _ in fields}) < len(fields):
        return None
    return Shape(re.compile("".join(pieces), flags), tuple(fields))
