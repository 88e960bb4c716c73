r"""YAML that is one flat mapping of strings: the format of catalog files.

``read(write(mapping)) == mapping``, and every YAML parser agrees. Any other YAML (nesting, lists,
anchors, blocks) is refused with its line.

Flink quotes a value that requires quotes twice: for the string ``true`` it writes ``"'true'"`` and
misreads its own file. Such a value is read as intended; a string that contains these quotes is
written with ``\x27`` for the first one, which YAML parsers read alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from schema_core.base.lazy import regex
from schema_core.base.text import Span
from schema_core.errors import ParseError

_ESCAPES = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r",
    "e": "\x1b", " ": " ", '"': '"', "/": "/", "\\": "\\", "N": "\x85", "_": "\xa0",
    "L": "\u2028", "P": "\u2029",
}  # fmt: skip
_ESCAPE = regex(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))")
#: Characters that require escapes: controls, line ends, and those that UTF-8 cannot encode.
_SPECIAL = regex('[\\x00-\\x1f"\\\\\\x7f-\\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]')

_DOUBLE = r'"(?:[^"\\]|\\.)*"'
_SINGLE = r"'(?:[^']|'')*'"
_KEY = r"(?!- )[\w.$/-][^:#]*+"
_PLAIN = r"(?![\"'#&*!|>%@`\[\]{},]|[-?:](?:\s|$))(?:(?!:\s|:$|\s#).)++"
_LINE = regex(
    rf"(?P<key>{_DOUBLE}|{_SINGLE}|{_KEY})[ \t]*+:[ \t]++(?P<value>{_DOUBLE}|{_SINGLE}|{_PLAIN})"
    r"[ \t]*(?:[ \t]#.*)?"
)
_NOTHING = regex(r"[ \t]*(?:#.*)?|---[ \t]*")

_ESCAPED = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
#: Strings that YAML does not read as strings without quotes: Flink quotes them twice.
_QUOTED_BY_FLINK = regex(
    r"(?i:true|false|yes|no|on|off|y|n|null|~|=|<<|)"
    r"|[-+.]?[0-9][-+.:\w]*|[-+]?\.(?i:inf|nan)"
    r"|\s.*|.*\s|[\"'#&*!|>%@`\[\]{},].*|[-?:](?:\s.*)?|.*:(?:\s.*)?|.*\s#.*",
    re.DOTALL,
)


def write(mapping: Mapping[str, str]) -> str:
    r"""Return the YAML of a mapping: one line for each key, all values quoted.

    >>> print(write({"type": "sql", "url": 'a"b\n', "flag": "'true'"}), end="")
    "flag": "\x27true'"
    "type": "sql"
    "url": "a\"b\n"
    """
    return "".join(f"{quote(key)}: {quote(mapping[key])}\n" for key in sorted(mapping))


def quote(text: str) -> str:
    """Return a string in double quotes."""
    escaped = _SPECIAL.sub(lambda match: _ESCAPED.get(match[0]) or f"\\u{ord(match[0]):04x}", text)
    doubled = len(escaped) > 1 and escaped[0] == escaped[-1] == "'"
    return f'"\\x27{escaped[1:]}"' if doubled else f'"{escaped}"'


def read(text: str) -> dict[str, str]:
    r"""Return the mapping of a file; values that are not strings in YAML are read as written.

    `corrupt-entry` for anything but a flat mapping with each key once.

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
                    raise ParseError(f"duplicate key {key!r}", code="corrupt-entry")
                mapping[key] = value
        start += len(line) + 1
    if not mapping:
        raise ParseError("the file is empty", code="corrupt-entry")
    return mapping


@contextmanager
def at_line(span: Span, text: str) -> Iterator[None]:
    """Add the position of a line to its errors."""
    try:
        yield
    except ParseError as error:
        error.span, error.text = span, text
        raise


def _read_line(line: str) -> tuple[str, str] | None:
    """Return the key and the value of a line, None for a comment or an empty line."""
    if _NOTHING.fullmatch(line):
        return None
    if (found := _LINE.fullmatch(line)) is None:
        raise ParseError(
            'expected `key: "value"`',
            code="corrupt-entry",
            hint="catalog files are flat mappings: no lists, no nesting, no blocks",
        )
    return _read_scalar(found["key"]), _repair_token(found["value"], _read_scalar(found["value"]))


def _read_scalar(token: str) -> str:
    if token.startswith('"'):
        return _ESCAPE.sub(_unescape, token[1:-1])
    if token.startswith("'"):
        return token[1:-1].replace("''", "'")
    return token.strip()


def _unescape(found: re.Match[str]) -> str:
    *codes, short = found.groups()
    if code := next(filter(None, codes), None):
        if int(code, 16) > 0x10FFFF:
            raise ParseError(f"invalid code point {found[0]}", code="corrupt-entry")
        return chr(int(code, 16))
    if short not in _ESCAPES:
        raise ParseError(f"unknown escape sequence {found[0]}", code="corrupt-entry")
    return _ESCAPES[short]


def _repair_token(token: str, text: str) -> str:
    """Return the intended value if Flink quoted it twice, any other value as it is."""
    if not (token.startswith("\"'") and token.endswith("'\"") and len(token) > 3):
        return text
    meant = text[1:-1].replace("''", "'")
    return meant if _QUOTED_BY_FLINK.fullmatch(meant) else text
