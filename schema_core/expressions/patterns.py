"""Java's patterns of dates and its names of time zones, as far as typing looks at them."""

from __future__ import annotations

import re
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from schema_core.text import is_blank

MANY = range(1, 1000)

#: Letter of a pattern -> how often it may come in a row (Java's DateTimeFormatterBuilder).
LETTERS: dict[str, range | tuple[int, ...]] = {
    **dict.fromkeys("uyYgnAN", MANY),
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

_PIECES = re.compile(
    r"(?P<quoted>'(?:[^']|'')*')|(?P<letters>([A-Za-z])\3*)|(?P<bracket>[\[\]])|(?P<other>.)",
    re.DOTALL,
)


def pattern_problem(pattern: str) -> str | None:
    """What is wrong with a pattern such as ``yyyy-MM-dd``, if anything.

    >>> pattern_problem("yyyy-MM-dd'T'HH:mm:ss.SSS")
    >>> pattern_problem("yyyy-jj")
    "'j' means nothing in a pattern"
    """
    depth, padded = 0, False
    for piece in _PIECES.finditer(pattern):
        letters = piece["letters"]
        if padded and not letters:
            return "'p' must stand before a letter"
        if letters and letters[0] == "p":
            padded = True
            continue
        padded = False
        if letters and letters[0] not in LETTERS:
            return f"{letters[0]!r} means nothing in a pattern"
        if letters and len(letters) not in LETTERS[letters[0]]:
            return f"{letters[0]!r} cannot come {len(letters)} times"
        if piece["other"] and piece["other"] in "{}#'":
            return f"{piece['other']!r} cannot stand alone in a pattern"
        depth += {"[": 1, "]": -1}.get(piece["bracket"] or "", 0)
        if depth < 0:
            return "']' comes without a '['"
    return "'p' must stand before a letter" if padded else None


_OFFSET = re.compile(r"[+-](\d{1,2}|\d{2}:?(\d{2})(:?(\d{2}))?)")
_PREFIX = re.compile(r"(UTC|GMT|UT)(?=[+-]|$)")

#: Names that Java has beside those of the time zone database.
JAVA_ZONES = re.compile(r"SystemV/(AST4|EST5|CST6|MST7|PST8|YST9|HST10)(ADT|EDT|CDT|MDT|PDT|YDT)?")

#: Names of the database that Java takes for old abbreviations only.
ABBREVIATIONS = frozenset({"EST", "MST", "HST", "ROC"})


def zone_problem(zone: str) -> str | None:
    """What is wrong with a time zone's name or offset, if anything.

    >>> zone_problem("Europe/Berlin")
    >>> zone_problem("Europe/Nowhere")
    "there is no time zone 'Europe/Nowhere'"
    """
    problem = f"there is no time zone {zone!r}"
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
    try:
        return ZoneInfo(name).key == name
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
