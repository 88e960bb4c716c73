r"""YAML that is one flat mapping of texts: what files of catalogs are written in.

``read(write(mapping)) == mapping`` for every mapping of texts, and every YAML reader agrees. What
is more than such a mapping (nesting, lists, anchors, blocks) is refused with its line.

Flink quotes a value that needs quotes twice: for the text ``true`` it writes ``"'true'"``, and then
reads its own file wrongly. Such a value is read as what was meant; a text that has these quotes of
its own is written with ``\x27`` for the first one, which others read alike and is told apart here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from schema_core.errors import ParseError
from schema_core.text import Span

_ESCAPES = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r",
    "e": "\x1b", " ": " ", '"': '"', "/": "/", "\\": "\\", "N": "\x85", "_": "\xa0",
    "L": "\u2028", "P": "\u2029",
}  # fmt: skip
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))")
#: What a writer must escape: controls, line ends of all kinds, and what no file can hold.
_SPECIAL = re.compile('[\\x00-\\x1f"\\\\\\x7f-\\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]')

_DOUBLE = r'"(?:[^"\\]|\\.)*"'
_SINGLE = r"'(?:[^']|'')*'"
_KEY = r"(?!- )[\w.$/-][^:#]*+"
_PLAIN = r"(?![\"'#&*!|>%@`\[\]{},]|[-?:](?:\s|$))(?:(?!:\s|:$|\s#).)++"
_LINE = re.compile(
    rf"(?P<key>{_DOUBLE}|{_SINGLE}|{_KEY})[ \t]*+:[ \t]++(?P<value>{_DOUBLE}|{_SINGLE}|{_PLAIN})"
    r"[ \t]*(?:[ \t]#.*)?"
)
_NOTHING = re.compile(r"[ \t]*(?:#.*)?|---[ \t]*")

#: A text that would not be a text in YAML without quotes: these are what Flink quotes twice.
_QUOTED_BY_FLINK = re.compile(
    r"(?i:true|false|yes|no|on|off|y|n|null|~|=|<<|)"
    r"|[-+.]?[0-9][-+.:\w]*|[-+]?\.(?i:inf|nan)"
    r"|\s.*|.*\s|[\"'#&*!|>%@`\[\]{},].*|[-?:](?:\s.*)?|.*:(?:\s.*)?|.*\s#.*",
    re.DOTALL,
)


def write(mapping: Mapping[str, str]) -> str:
    r"""The file of a mapping: a line each, all values quoted.

    >>> print(write({"type": "sql", "url": 'a"b\n', "flag": "'true'"}), end="")
    "flag": "\x27true'"
    "type": "sql"
    "url": "a\"b\n"
    """
    return "".join(f"{quote(key)}: {quote(mapping[key])}\n" for key in sorted(mapping))


def quote(text: str) -> str:
    """The text in double quotes."""
    escaped = _SPECIAL.sub(_escape, text)
    doubled = len(escaped) > 1 and escaped[0] == escaped[-1] == "'"
    return f'"\\x27{escaped[1:]}"' if doubled else f'"{escaped}"'


def _escape(found: re.Match[str]) -> str:
    short = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
    return short.get(found[0]) or f"\\u{ord(found[0]):04x}"


def read(text: str) -> dict[str, str]:
    r"""The mapping of a file; values that are no texts in YAML are read as they are written.

    Raises:
        ParseError: with code `invalid-yaml` for what is no flat mapping, `duplicate-yaml-key` for a
            key that comes twice.

    >>> read("a: 12  # a number\n'b c': x\nd: true")
    {'a': '12', 'b c': 'x', 'd': 'true'}
    """
    mapping: dict[str, str] = {}
    start = 0
    for line in text.split("\n"):
        with at_line(Span(start, start + len(line)), text):
            if entry := _read_line(line.removesuffix("\r")):
                key, value = entry
                if key in mapping:
                    raise ParseError(f"the key {key!r} comes twice", code="duplicate-yaml-key")
                mapping[key] = value
        start += len(line) + 1
    if not mapping:
        raise ParseError("there is nothing in it", code="invalid-yaml")
    return mapping


@contextmanager
def at_line(span: Span, text: str) -> Iterator[None]:
    """Say which line of the file a mistake is in."""
    try:
        yield
    except ParseError as error:
        error.span, error.text = span, text
        raise


def _read_line(line: str) -> tuple[str, str] | None:
    """The key and the value of a line, or None for one that says nothing."""
    if _NOTHING.fullmatch(line):
        return None
    if (found := _LINE.fullmatch(line)) is None:
        raise ParseError(
            "this is no line of a flat mapping",
            code="invalid-yaml",
            hint='write it as key: "value"',
        )
    return _read_scalar(found["key"]), _repaired(found["value"], _read_scalar(found["value"]))


def _read_scalar(token: str) -> str:
    """The text that a key or a value stands for."""
    if token.startswith('"'):
        return _ESCAPE.sub(_unescape, token[1:-1])
    if token.startswith("'"):
        return token[1:-1].replace("''", "'")
    return token.strip()


def _unescape(found: re.Match[str]) -> str:
    *codes, short = found.groups()
    if code := next(filter(None, codes), None):
        if int(code, 16) > 0x10FFFF:
            raise ParseError(f"there is no character {found[0]}", code="invalid-yaml")
        return chr(int(code, 16))
    if short not in _ESCAPES:
        raise ParseError(f"there is no escape {found[0]}", code="invalid-yaml")
    return _ESCAPES[short]


def _repaired(token: str, text: str) -> str:
    """What was meant by a value that Flink has quoted twice; any other value as it is."""
    if not (token.startswith("\"'") and token.endswith("'\"") and len(token) > 3):
        return text
    meant = text[1:-1].replace("''", "'")
    return meant if _QUOTED_BY_FLINK.fullmatch(meant) else text
