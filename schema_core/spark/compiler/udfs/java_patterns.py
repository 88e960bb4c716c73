"""Validation of Java regular expressions, their groups, and patterns of SIMILAR TO.

Spark uses Java's engine, where an invalid pattern fails the job; Flink returns NULL.
"""

from __future__ import annotations

import re
from dataclasses import field
from functools import lru_cache

from schema_core.base.lazy import dataclass, regex
from schema_core.spark.compiler.udfs import UdfError


class RegexError(ValueError):
    """A pattern that Java rejects."""


@dataclass(slots=True)
class PatternParser:
    """A pattern, the parsed position, and its groups."""

    text: str
    position: int = 0
    groups: int = 0
    names: set[str] = field(default_factory=set)
    optional: set[int] = field(default_factory=set)
    comments: bool = False

    @property
    def next(self) -> str:
        return self.text[self.position : self.position + 1]

    def take(self, shape: str) -> re.Match[str] | None:
        """Consume a match of a regular expression, if there is one."""
        match = re.compile(shape, re.DOTALL | re.ASCII).match(self.text, self.position)
        if match:
            self.position = match.end()
        return match

    def need(self, shape: str, problem: str) -> re.Match[str]:
        match = self.take(shape)
        if match is None:
            raise RegexError(f"{problem} at position {self.position}")
        return match


@lru_cache(maxsize=1000)
def parse_pattern(pattern: str) -> PatternParser | None:
    """Return a parsed pattern, or None if Java rejects it."""
    parser = PatternParser(pattern)
    try:
        _alternatives(parser, depth=0)
    except (RegexError, RecursionError):
        return None
    return parser if parser.position == len(pattern) else None


def group_count(pattern: str | None) -> int:
    """Return the number of groups of a pattern; -1 for NULL or an invalid pattern.

    >>> group_count("(a)(?:b)(?<c>c)"), group_count("(a"), group_count("a{2,1}")
    (2, -1, -1)
    """
    parser = None if pattern is None else parse_pattern(pattern)
    return -1 if parser is None else parser.groups


def may_skip_group(pattern: str, group: int) -> bool:
    """Return whether a pattern can match without a group.

    >>> may_skip_group("(a)?b", 1), may_skip_group("(a)b", 1)
    (True, False)
    """
    parser = parse_pattern(pattern)
    return parser is not None and group in parser.optional


def has_optional_groups(pattern: str) -> bool:
    """Return whether a pattern has a group without which it can match."""
    parser = parse_pattern(pattern)
    return parser is not None and bool(parser.optional)


#: Syntax that Python's engine lacks or interprets differently.
_NOT_PYTHON = regex(r"\\[pPRhHvVXQEGzZkKNc]|\\x\{|\[[^\]]*(?:\[|&&)|\(\?<[a-zA-Z]|\(\?[a-zA-Z-]")


def extract_group(text: str | None, pattern: str | None, group: int | None) -> str | None:
    """Return a group of the first match, or None without a match or that group.

    >>> extract_group("b", "(a)?b", 1), extract_group("ab", "(a)?b", 1)
    (None, 'a')
    """
    if text is None or pattern is None or group is None:
        return None
    if not 0 <= group <= group_count(pattern):
        return None
    match = compile_pattern(pattern).search(text)
    return None if match is None else match[group]


def extract_optional_groups(
    text: str | None, pattern: str | None, group: int | None
) -> list[str | None] | None:
    """Return a group of every match; None if all have it, or there is no such group.

    >>> extract_optional_groups("ab", "(a)|(b)", 2), extract_optional_groups("ab", "(a)b", 1)
    ([None, 'b'], None)
    """
    if text is None or pattern is None or group is None or not may_skip_group(pattern, group):
        return None
    return [occurrence[group] for occurrence in compile_pattern(pattern).finditer(text)]


#: A named group, or an escape, which hides Python's syntax of groups.
_NAMED_GROUP = regex(r"(\\.)|\(\?<([a-zA-Z][a-zA-Z0-9]*)>")


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Compile a pattern of Java with Python's engine.

    Raises:
        UdfError: for syntax that Python's engine lacks.
    """
    unnamed, named = pattern, pattern
    if "[" not in pattern:
        unnamed = _NAMED_GROUP.sub(lambda part: part[1] or "(", pattern)
        named = _NAMED_GROUP.sub(lambda part: part[1] or f"(?P<{part[2]}>", pattern)
    if _NOT_PYTHON.search(unnamed):
        raise UdfError(f"unsupported syntax in pattern {pattern!r}")
    return re.compile(named, re.ASCII)


def _alternatives(parser: PatternParser, depth: int) -> None:
    if depth > 200:
        raise RegexError("groups are nested too deeply")
    start, bars = parser.groups, False
    while parser.position < len(parser.text) and parser.next != ")":
        if parser.next == "|":
            parser.position += 1
            bars = True
            continue
        if parser.comments and parser.take(r"\s+|#[^\n]*"):
            continue
        before = parser.groups
        if _atom(parser, depth) and _quantifier(parser) == 0:
            parser.optional.update(range(before + 1, parser.groups + 1))
    if bars:
        parser.optional.update(range(start + 1, parser.groups + 1))


def _atom(parser: PatternParser, depth: int) -> bool:
    """Parse an element; return whether it can be quantified."""
    match parser.next:
        case "(":
            return _group(parser, depth)
        case "[":
            parser.position += 1
            _class(parser, depth)
        case "\\":
            _escape(parser, in_class=False)
        case "*" | "+" | "?":
            raise RegexError(f"nothing to repeat at {parser.position}")
        case "{":
            return True
        case _:
            parser.position += 1
    return True


def _quantifier(parser: PatternParser) -> int:
    """Parse a quantifier, if there is one; return the minimum count."""
    if parser.next == "{":
        counts = parser.need(r"\{(\d+)(,(\d*))?\}", "invalid quantifier")
        least, greatest = int(counts[1]), int(counts[3]) if counts[3] else None
        if least >= 2**31 or (greatest is not None and not least <= greatest < 2**31):
            raise RegexError("invalid quantifier")
        parser.take(r"[?+]")
        return least
    match = parser.take(r"([*+?])[?+]?")
    return 1 if match is None or match[1] == "+" else 0


def _group(parser: PatternParser, depth: int) -> bool:
    """Parse a group; False for inline flags, which cannot be quantified."""
    parser.position += 1
    flags = parser.take(r"\?([idmsuxU]*)(?:-([idmsuxU]*))?([:)])")
    comments = parser.comments
    if flags:
        if "x" in flags[1] or "x" in (flags[2] or ""):
            parser.comments = "x" in flags[1]
        if flags[3] == ")":
            return False
    elif name := parser.take(r"\?<([a-zA-Z][a-zA-Z0-9]*)>"):
        if name[1] in parser.names:
            raise RegexError(f"duplicate group name {name[1]!r}")
        parser.names.add(name[1])
        parser.groups += 1
    elif parser.next == "?":
        parser.need(r"\?(?:[:=!>]|<[=!])", "invalid group")
    else:
        parser.groups += 1
    _alternatives(parser, depth + 1)
    parser.need(r"\)", "unclosed group")
    parser.comments = comments
    return True


_PROPERTIES = regex(r"(?:(?:Is|script=|sc=|block=|blk=|In|general_category=|gc=)?[A-Za-z_]\w*)")
#: Names of properties that are valid without a prefix.
_CATEGORIES = regex(
    r"L[ultmoCD1]?|M[nce]?|N[dlo]?|P[cdseifo]?|S[mcko]?|Z[slp]?|C[cfson]?|all|ASCII|Alnum|Alpha|Blank"
    r"|Cntrl|Digit|Graph|Lower|Print|Punct|Space|Upper|XDigit"
    r"|java(?:LowerCase|UpperCase|Whitespace|Mirrored|Alphabetic|Letter|Digit|LetterOrDigit)"
)


def _escape(parser: PatternParser, *, in_class: bool) -> None:
    r"""Parse an escape; ``\Q`` quotes up to ``\E`` or the end."""
    parser.position += 1
    if parser.take(r"Q.*?(?:\\E|$)") or (parser.next == "E" and in_class):
        return
    if parser.take(r"[pP]"):
        name = parser.need(r"\{([^}]*)\}|([A-Za-z])", "expected a property")
        _property(name[1] if name[1] is not None else name[2])
        return
    if parser.take(
        r"x(?:[0-9a-fA-F]{2}|\{[0-9a-fA-F]{1,6}\})|u[0-9a-fA-F]{4}|c.|0[0-3]?[0-7]{1,2}"
    ):
        return
    if back := parser.take(r"k<([a-zA-Z][a-zA-Z0-9]*)>"):
        if in_class or back[1] not in parser.names:
            raise RegexError(f"there is no group {back[1]!r}")
        return
    if parser.take(r"N\{[^}]+\}"):
        return
    letters = "adDefhHnrsStvVwW" if in_class else "aAbBdDefGhHnrRsStvVwWXzZ1-9"
    parser.need(rf"[{letters}]|[^A-Za-z0-9]", "invalid escape")


def _property(name: str) -> None:
    plain = re.sub(r"^(?:Is|gc=|general_category=)", "", name)
    if _CATEGORIES.fullmatch(plain):
        return
    if not re.match(r"(?:Is|In|script=|sc=|block=|blk=)", name) or not _PROPERTIES.fullmatch(name):
        raise RegexError(f"there is no property {name!r}")


def _class(parser: PatternParser, depth: int) -> None:
    if depth > 200:
        raise RegexError("character classes are nested too deeply")
    parser.take(r"\^")
    first = True
    while first or parser.next != "]":
        if parser.position >= len(parser.text):
            raise RegexError("unclosed character class")
        if parser.next == "[":
            parser.position += 1
            _class(parser, depth + 1)
        elif parser.take(r"&&"):
            pass
        else:
            _range(parser, depth)
        first = False
    parser.position += 1


def _range(parser: PatternParser, depth: int) -> None:
    low = _character(parser)
    if not parser.take(r"-(?![\[\]]|$)"):
        return
    high = _character(parser)
    if low is None or high is None or low > high:
        raise RegexError("empty character range")


def _character(parser: PatternParser) -> str | None:
    """Parse a character; None for a predefined class."""
    if parser.next != "\\":
        parser.position += 1
        return parser.text[parser.position - 1]
    start = parser.position
    _escape(parser, in_class=True)
    name_or_code = parser.text[start + 1 : parser.position]
    if code := re.fullmatch(r"(?:x\{?|u)([0-9a-fA-F]+)\}?", name_or_code):
        return chr(min(int(code[1], 16), 0x10FFFF))
    controls = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "a": "\a", "e": "\x1b"}
    if name_or_code in controls:
        return controls[name_or_code]
    return name_or_code if len(name_or_code) == 1 and not name_or_code.isalnum() else None


# --- SIMILAR TO --------------------------------------------------------------------------------

#: Characters with a meaning in patterns of SQL, and in Java.
_SQL, _JAVA = frozenset("[]()|^-+*_%?{}"), frozenset("[]()|^-+*?{}$\\.")

#: Characters that Java reads otherwise, outside of brackets.
_REPLACED = {"_": ".", "%": "(?s:.*)", "\\": "\\\\", "$": "\\$"}

#: Classes of characters, in upper or lower case.
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
    """Return the regular expression of a pattern; an empty `escape` is none.

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
    """Return an escaped character, which must have a meaning in patterns."""
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
