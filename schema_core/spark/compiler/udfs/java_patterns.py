"""Whether Java can read a regular expression, and how many groups it has.

Spark runs the patterns, with Java's own engine, but ends a job at a bad one, where Flink has an
answer; so bad ones must be known beforehand.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

from schema_core.spark.compiler.udfs.errors import UdfError


class PatternError(ValueError):
    """A pattern that Java refuses."""


@dataclass(slots=True)
class Reader:
    """A pattern, how far it has been read, and its groups."""

    text: str
    place: int = 0
    groups: int = 0
    names: set[str] = field(default_factory=set)
    optional: set[int] = field(default_factory=set)
    comments: bool = False

    @property
    def next(self) -> str:
        return self.text[self.place : self.place + 1]

    def take(self, shape: str) -> re.Match[str] | None:
        """What stands here of a shape, which is then behind."""
        match = re.compile(shape, re.DOTALL | re.ASCII).match(self.text, self.place)
        if match:
            self.place = match.end()
        return match

    def need(self, shape: str, problem: str) -> re.Match[str]:
        match = self.take(shape)
        if match is None:
            raise PatternError(f"{problem} at {self.place}")
        return match


@lru_cache(maxsize=1000)
def read_pattern(pattern: str) -> Reader | None:
    """A pattern, read; None if Java cannot read it."""
    reader = Reader(pattern)
    try:
        _alternatives(reader, depth=0)
    except (PatternError, RecursionError):
        return None
    return reader if reader.place == len(pattern) else None


def group_count(pattern: str | None) -> int:
    """How many groups a pattern has; -1 if Java cannot read it, or there is none.

    >>> group_count("(a)(?:b)(?<c>c)"), group_count("(a"), group_count("a{2,1}")
    (2, -1, -1)
    """
    reader = None if pattern is None else read_pattern(pattern)
    return -1 if reader is None else reader.groups


def may_miss(pattern: str, group: int) -> bool:
    """Whether a text can fit a pattern without its group.

    >>> may_miss("(a)?b", 1), may_miss("(a)b", 1)
    (True, False)
    """
    reader = read_pattern(pattern)
    return reader is not None and group in reader.optional


#: What Python's engine does not know, or takes otherwise.
_FOREIGN = re.compile(r"\\[pPRhHvVXQEGzZkKNc]|\\x\{|\[[^\]]*(?:\[|&&)|\(\?<[a-zA-Z]|\(\?[a-zA-Z-]")


def group_text(text: str | None, pattern: str | None, group: int | None) -> str | None:
    """A group of the first part that fits; None where nothing does, or without the group.

    >>> group_text("b", "(a)?b", 1), group_text("ab", "(a)?b", 1)
    (None, 'a')
    """
    if text is None or pattern is None or group is None:
        return None
    if not 0 <= group <= group_count(pattern):
        return None
    if _FOREIGN.search(pattern):
        raise UdfError(f"the pattern {pattern!r} is not computed here")
    found = re.search(pattern, text, re.ASCII)
    return None if found is None else found[group]


def _alternatives(reader: Reader, depth: int) -> None:
    """Sequences between bars, up to a parenthesis that closes or the end."""
    if depth > 200:
        raise PatternError("too many parentheses")
    start, bars = reader.groups, False
    while reader.place < len(reader.text) and reader.next != ")":
        if reader.next == "|":
            reader.place += 1
            bars = True
            continue
        if reader.comments and reader.take(r"\s+|#[^\n]*"):
            continue
        before = reader.groups
        if _atom(reader, depth) and _quantifier(reader) == 0:
            reader.optional.update(range(before + 1, reader.groups + 1))
    if bars:
        reader.optional.update(range(start + 1, reader.groups + 1))


def _atom(reader: Reader, depth: int) -> bool:
    """One element; whether it can be repeated."""
    match reader.next:
        case "(":
            return _group(reader, depth)
        case "[":
            reader.place += 1
            _class(reader, depth)
        case "\\":
            _escape(reader, in_class=False)
        case "*" | "+" | "?":
            raise PatternError(f"nothing to repeat at {reader.place}")
        case "{":
            return True
        case _:
            reader.place += 1
    return True


def _quantifier(reader: Reader) -> int:
    """How often something must stand at least."""
    if reader.next == "{":
        counts = reader.need(r"\{(\d+)(,(\d*))?\}", "no repetition")
        least, greatest = int(counts[1]), int(counts[3]) if counts[3] else None
        if least >= 2**31 or (greatest is not None and not least <= greatest < 2**31):
            raise PatternError("no repetition")
        reader.take(r"[?+]")
        return least
    found = reader.take(r"([*+?])[?+]?")
    return 1 if found is None or found[1] == "+" else 0


def _group(reader: Reader, depth: int) -> bool:
    """A group; flags alone cannot be repeated, but Java lets them."""
    reader.place += 1
    flags = reader.take(r"\?([idmsuxU]*)(?:-([idmsuxU]*))?([:)])")
    comments = reader.comments
    if flags:
        if "x" in flags[1] or "x" in (flags[2] or ""):
            reader.comments = "x" in flags[1]
        if flags[3] == ")":
            return False
    elif name := reader.take(r"\?<([a-zA-Z][a-zA-Z0-9]*)>"):
        if name[1] in reader.names:
            raise PatternError(f"two groups are named {name[1]}")
        reader.names.add(name[1])
        reader.groups += 1
    elif reader.next == "?":
        reader.need(r"\?(?:[:=!>]|<[=!])", "an unknown kind of group")
    else:
        reader.groups += 1
    _alternatives(reader, depth + 1)
    reader.need(r"\)", "a group is not closed")
    reader.comments = comments
    return True


_PROPERTIES = re.compile(
    r"(?:(?:Is|script=|sc=|block=|blk=|In|general_category=|gc=)?[A-Za-z_]\w*)"
)
#: Names of properties that stand alone.
_CATEGORIES = re.compile(
    r"L[ultmoCD1]?|M[nce]?|N[dlo]?|P[cdseifo]?|S[mcko]?|Z[slp]?|C[cfson]?|all|ASCII|Alnum|Alpha|Blank"
    r"|Cntrl|Digit|Graph|Lower|Print|Punct|Space|Upper|XDigit"
    r"|java(?:LowerCase|UpperCase|Whitespace|Mirrored|Alphabetic|Letter|Digit|LetterOrDigit)"
)


def _escape(reader: Reader, *, in_class: bool) -> None:
    r"""What stands behind a backslash; ``\Q`` lasts until ``\E`` or the end."""
    reader.place += 1
    if reader.take(r"Q.*?(?:\\E|$)") or (reader.next == "E" and in_class):
        return
    if reader.take(r"[pP]"):
        name = reader.need(r"\{([^}]*)\}|([A-Za-z])", "no property")
        _property(name[1] if name[1] is not None else name[2])
        return
    if reader.take(
        r"x(?:[0-9a-fA-F]{2}|\{[0-9a-fA-F]{1,6}\})|u[0-9a-fA-F]{4}|c.|0[0-3]?[0-7]{1,2}"
    ):
        return
    if back := reader.take(r"k<([a-zA-Z][a-zA-Z0-9]*)>"):
        if in_class or back[1] not in reader.names:
            raise PatternError(f"there is no group {back[1]}")
        return
    if reader.take(r"N\{[^}]+\}"):
        return
    known = "adDefhHnrsStvVwW" if in_class else "aAbBdDefGhHnrRsStvVwWXzZ1-9"
    reader.need(rf"[{known}]|[^A-Za-z0-9]", "an unknown escape")


def _property(name: str) -> None:
    plain = re.sub(r"^(?:Is|gc=|general_category=)", "", name)
    if _CATEGORIES.fullmatch(plain):
        return
    if not re.match(r"(?:Is|In|script=|sc=|block=|blk=)", name) or not _PROPERTIES.fullmatch(name):
        raise PatternError(f"there is no property {name}")


def _class(reader: Reader, depth: int) -> None:
    """What stands between brackets, the opening one being behind."""
    if depth > 200:
        raise PatternError("too many brackets")
    reader.take(r"\^")
    first = True
    while first or reader.next != "]":
        if reader.place >= len(reader.text):
            raise PatternError("a bracket is not closed")
        if reader.next == "[":
            reader.place += 1
            _class(reader, depth + 1)
        elif reader.take(r"&&"):
            pass
        else:
            _range(reader, depth)
        first = False
    reader.place += 1


def _range(reader: Reader, depth: int) -> None:
    """A character of a class, or a range of them, which must not be empty."""
    low = _character(reader)
    if not reader.take(r"-(?![\[\]]|$)"):
        return
    high = _character(reader)
    if low is None or high is None or low > high:
        raise PatternError("an empty range")


def _character(reader: Reader) -> str | None:
    """One character; None for a class of them."""
    if reader.next != "\\":
        reader.place += 1
        return reader.text[reader.place - 1]
    start = reader.place
    _escape(reader, in_class=True)
    name_or_code = reader.text[start + 1 : reader.place]
    if code := re.fullmatch(r"(?:x\{?|u)([0-9a-fA-F]+)\}?", name_or_code):
        return chr(min(int(code[1], 16), 0x10FFFF))
    known = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "a": "\a", "e": "\x1b"}
    if name_or_code in known:
        return known[name_or_code]
    return name_or_code if len(name_or_code) == 1 and not name_or_code.isalnum() else None
