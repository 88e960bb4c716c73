"""Patterns of SIMILAR TO as regular expressions of Java."""

from __future__ import annotations

from functools import lru_cache

from schema_core.spark.compiler.udfs import UdfError

#: Characters that have a meaning in a pattern of SQL, and those that have one in Java.
_SQL, _JAVA = frozenset("[]()|^-+*_%?{}"), frozenset("[]()|^-+*?{}$\\.")

#: Characters that Java reads otherwise than SQL, outside of brackets.
_REPLACED = {"_": ".", "%": "(?s:.*)", "\\": "\\\\", "$": "\\$"}

#: Names of classes of characters, in upper or lower case.
_CLASSES = {
    "ALPHA": r"\p{Alpha}",
    "UPPER": r"\p{Upper}",
    "LOWER": r"\p{Lower}",
    "DIGIT": r"\d",
    "SPACE": " ",
    "WHITESPACE": r"\s",
    "ALNUM": r"\p{Alnum}",
}
_NAMES = {f"[:{name}:]": shape for name, shape in _CLASSES.items()}
_NAMES |= {name.lower(): shape for name, shape in _NAMES.items()}


def similar_pattern(pattern: str | None, escape: str | None) -> str | None:
    """Return the regular expression of a pattern, without an escape character if that is empty.

    Raises:
        UdfError: for a pattern that Flink refuses.

    >>> similar_pattern("a#%|b%", "#")
    'a%|b(?s:.*)'
    """
    return None if pattern is None or escape is None else _java_pattern(pattern, escape)


@lru_cache(maxsize=256)
def _java_pattern(pattern: str, escape: str) -> str:
    if len(escape) > 1:
        raise UdfError(f"invalid escape character {escape!r}")
    parts: list[str] = []
    place, in_brackets = 0, False
    while place < len(pattern):
        one = pattern[place]
        if one == escape:
            parts.append(_escaped_character(pattern, place, escape))
            place += 2
            continue
        if in_brackets and one != "]":
            shape, length = _in_brackets(pattern, place)
        else:
            if one == "]" and not in_brackets:
                raise UdfError(f"invalid regular expression {pattern!r}")
            shape, length = _REPLACED.get(one, one), 1
            in_brackets = one == "["
        parts.append(shape)
        place += length
    if in_brackets:
        raise UdfError(f"invalid regular expression {pattern!r}")
    return "".join(parts)


def _escaped_character(pattern: str, place: int, escape: str) -> str:
    """Return the character after an escape character; it must have a meaning in patterns."""
    one = pattern[place + 1 : place + 2]
    if one in _SQL:
        return f"\\{one}" if one in _JAVA else one
    if one == escape:
        return one
    raise UdfError(f"invalid escape sequence in {pattern!r}, at position {place + 1}")


def _in_brackets(pattern: str, place: int) -> tuple[str, int]:
    """Return a character or class within brackets, and its length in the pattern."""
    for name, shape in _NAMES.items():
        if pattern.startswith(name, place):
            return shape, len(name)
    one = pattern[place]
    if one in _SQL and one not in "-^":
        raise UdfError(f"invalid regular expression {pattern!r}")
    return one, 1
