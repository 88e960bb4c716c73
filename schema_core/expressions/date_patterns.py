"""Java's date patterns, of java.time and of java.text.SimpleDateFormat, and its time zone names.

Type checking validates constants with the parsers that the Python UDFs use.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from schema_core.base.lazy import dataclass, regex
from schema_core.base.text import is_blank

# --- patterns -------------------------------------------------------------------------------------

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
ERAS = ("BC", "AD")
HALVES = ("AM", "PM")

#: Letters of time zones in java.time, which a timestamp does not have.
ZONES = "xXZzVO"


def name_of(name: str, count: int) -> str:
    """A name of java.time as three letters, in full (4), or as one letter (5)."""
    return name[: {4: None, 5: 1}.get(count, 3)]


def era_names(count: int) -> tuple[str, str]:
    """The eras in java.time."""
    return {4: ("Before Christ", "Anno Domini"), 5: ("B", "A")}.get(count, ERAS)


#: Letter of java.time -> how often it may be repeated (DateTimeFormatterBuilder).
TIME_LETTERS: Mapping[str, range | tuple[int, ...]] = {
    **dict.fromkeys("uygnAN", range(1, 20)),
    "Y": range(1, 2**31),
    **dict.fromkeys("GLMEeQqxXZ", range(1, 6)),
    **dict.fromkeys("dhHkKmsw", range(1, 3)),
    **dict.fromkeys("aFW", range(1, 2)),
    "B": (1, 4, 5),
    "c": (1, 3, 4, 5),
    "D": range(1, 4),
    "O": (1, 4),
    "S": range(1, 10),
    "V": (2,),
    "v": (1, 4),
    "z": range(1, 5),
}

#: Letter of SimpleDateFormat -> how often it may be repeated.
SIMPLE_LETTERS: Mapping[str, range] = {
    **dict.fromkeys("GyMLdDFEuaHkKhmsSzZYwW", range(1, 2**31)),
    "X": range(1, 4),
}


class DatePatternError(ValueError):
    """A pattern that Java rejects."""


@dataclass(frozen=True, slots=True)
class Part:
    """A repeated letter, or literal text with ``'`` as its letter.

    In java.time ``[`` and ``]``, which enclose an optional section, and ``p``, which pads the next
    part, are letters too.
    """

    letter: str
    count: int = 0
    text: str = ""


_TIME_PIECES = regex(r"'(?P<quoted>(?:[^']|'')*)'|(?P<letter>[A-Za-z])(?P=letter)*|.", re.DOTALL)
#: In SimpleDateFormat two quotes are a quote before they can delimit a quoted text.
_SIMPLE_PIECES = regex(f"''|{_TIME_PIECES.pattern}", re.DOTALL)


@lru_cache(maxsize=1000)
def parse_time_pattern(pattern: str) -> tuple[Part, ...]:
    """The parts of a pattern of java.time.

    Raises:
        DatePatternError: for a pattern that Java rejects.

    >>> [part.letter * part.count or part.text for part in parse_time_pattern("HH'h' mm")]
    ['HH', 'h', ' ', 'mm']
    """
    parts: list[Part] = []
    depth = 0
    for piece in _TIME_PIECES.finditer(pattern):
        letter, count = piece["letter"], len(piece[0])
        if parts and parts[-1].letter == "p" and (not letter or letter == "p"):
            raise DatePatternError("'p' must precede a letter")
        if letter == "p":
            parts.append(Part("p", count))
        elif letter:
            _check_letter(letter, count, TIME_LETTERS)
            parts.append(Part(letter, count))
        elif piece["quoted"] is None and piece[0] in "{}#'":
            raise DatePatternError(f"{piece[0]!r} is reserved in a pattern")
        elif piece[0] in "[]":
            depth += 1 if piece[0] == "[" else -1
            if depth < 0:
                raise DatePatternError("']' without '['")
            parts.append(Part(piece[0]))
        else:
            parts.append(Part("'", text=_literal(piece)))
    if parts and parts[-1].letter == "p":
        raise DatePatternError("'p' must precede a letter")
    return tuple(parts)


@lru_cache(maxsize=1000)
def parse_simple_pattern(pattern: str) -> tuple[Part, ...]:
    """The parts of a pattern of SimpleDateFormat, with adjacent literal text in one part.

    Raises:
        DatePatternError: for a pattern that Java rejects.

    >>> [part.letter * part.count + part.text for part in parse_simple_pattern("yyyy-'at'")]
    ['yyyy', '-at']
    """
    parts: list[Part] = []
    text = ""
    for piece in _SIMPLE_PIECES.finditer(pattern):
        if piece["letter"]:
            _check_letter(piece["letter"], len(piece[0]), SIMPLE_LETTERS)
            parts += [Part("'", text=text)] if text else []
            parts.append(Part(piece["letter"], len(piece[0])))
            text = ""
        elif piece[0] == "'":
            raise DatePatternError("unclosed quote")
        else:
            text += _literal(piece)
    return (*parts, Part("'", text=text)) if text else tuple(parts)


def _check_letter(
    letter: str, count: int, letters: Mapping[str, range] | Mapping[str, range | tuple[int, ...]]
) -> None:
    if letter not in letters:
        raise DatePatternError(f"unknown pattern letter {letter!r}")
    if count not in letters[letter]:
        raise DatePatternError(f"the pattern letter {letter!r} cannot be repeated {count} times")


def _literal(piece: re.Match[str]) -> str:
    """The text of a quoted or plain piece; two quotes are one."""
    if piece[0] == "''":
        return "'"
    return piece[0] if piece["quoted"] is None else piece["quoted"].replace("''", "'")


def pattern_problem(pattern: str) -> str | None:
    """Why java.time rejects a pattern such as ``yyyy-MM-dd``; None for a valid one.

    >>> pattern_problem("yyyy-jj")
    "unknown pattern letter 'j'"
    """
    try:
        parse_time_pattern(pattern)
    except DatePatternError as error:
        return str(error)
    return None


# --- time zones -----------------------------------------------------------------------------------

_OFFSET = regex(r"[+-](\d{1,2}|\d{2}:?(\d{2})(:?(\d{2}))?)")
_PREFIX = regex(r"(UTC|GMT|UT)(?=[+-]|$)")

#: Java's names besides the time zone database.
JAVA_ZONES = regex(r"SystemV/(AST4|EST5|CST6|MST7|PST8|YST9|HST10)(ADT|EDT|CDT|MDT|PDT|YDT)?")

#: Names of the database that Java accepts only as old abbreviations.
ABBREVIATIONS = frozenset({"EST", "MST", "HST", "ROC"})


def zone_problem(zone: str) -> str | None:
    """Why Java rejects the name or offset of a time zone; None for a valid one.

    >>> zone_problem("Europe/Nowhere")
    "unknown time zone 'Europe/Nowhere'"
    """
    problem = f"unknown time zone {zone!r}"
    rest = _PREFIX.sub("", zone, count=1)
    if zone == "Z" or (zone and not rest):
        return None
    if rest[:1] in ("+", "-"):
        return None if _is_offset(rest) else problem
    if is_blank(zone) or zone.startswith(("/", ".")) or ".." in zone or zone in ABBREVIATIONS:
        return problem
    return None if JAVA_ZONES.fullmatch(zone) or _in_database(zone) else problem


def _is_offset(text: str) -> bool:
    if not _OFFSET.fullmatch(text):
        return False
    digits = text[1:].replace(":", "")
    digits = digits.zfill(2) if len(digits) < 3 else digits
    hours, minutes, seconds = (int(digits[i : i + 2] or 0) for i in (0, 2, 4))
    return minutes < 60 and seconds < 60 and (hours, minutes, seconds) <= (18, 0, 0)


def _in_database(name: str) -> bool:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(name).key == name
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
