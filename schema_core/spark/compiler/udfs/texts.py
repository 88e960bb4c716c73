"""Texts as Java has them: counted by UTF-16 units, of which half a character is shown as ``?``."""

from __future__ import annotations

import base64
import binascii
import codecs
import re

from schema_core.spark.compiler.udfs.errors import UdfError

#: What would not fit into Java's memory.
MAX_UNITS = 1 << 28


def units(text: str) -> bytes:
    """The UTF-16 units of a text, two bytes each."""
    return text.encode("utf-16-le", "surrogatepass")


def of_units(data: bytes) -> str:
    """The text of UTF-16 units; halves of characters are ``?``.

    >>> of_units(units("a😀")[:4])
    'a?'
    """
    return re.sub("[\ud800-\udfff]", "?", data.decode("utf-16-le", "surrogatepass"))


def _filling(text: bytes, length: int | None, filler: str) -> bytes | None:
    """Return the padding up to a length, or None if there is none."""
    if length is None or length < 0 or not filler:
        return None
    if length > MAX_UNITS:
        raise UdfError(f"a text of {length} characters does not fit into memory")
    missing = max(2 * length - len(text), 0)
    pad = units(filler)
    return (pad * (missing // len(pad) + 1))[:missing]


def lpad(text: str | None, length: int | None, filler: str | None) -> str | None:
    """LPAD: filled up at the front, or cut at the end.

    >>> lpad("a", 3, "xy"), lpad("abc", 2, "x"), lpad("a", 2, "")
    ('xya', 'ab', None)
    """
    if text is None or length is None or filler is None:
        return None
    data = units(text)
    added = _filling(data, length, filler)
    return None if added is None else of_units(added + data[: 2 * length - len(added)])


def rpad(text: str | None, length: int | None, filler: str | None) -> str | None:
    """RPAD: filled up, or cut, at the end.

    >>> rpad("a", 3, "xy")
    'axy'
    """
    if text is None or length is None or filler is None:
        return None
    data = units(text)
    added = _filling(data, length, filler)
    return None if added is None else of_units(data[: 2 * length] + added)


def cut(text: str | None, length: int | None) -> str | None:
    """The first units of a text.

    >>> cut("abc", 2)
    'ab'
    """
    return None if text is None or length is None else of_units(units(text)[: 2 * length])


def overlay(text: str | None, new: str | None, start: int | None, length: int | None) -> str | None:
    """OVERLAY: a part replaced; a place outside of the text changes nothing.

    >>> overlay("abcdef", "XX", 2, 3), overlay("ab", "XX", 3, 1)
    ('aXXef', 'ab')
    """
    if text is None or new is None or start is None or length is None:
        return None
    data = units(text)
    if not 0 < start <= len(data) // 2:
        return text
    end = start - 1 + length
    rest = data[2 * end :] if length > 0 else b""
    return of_units(data[: 2 * start - 2] + units(new) + rest)


def letters(text: str | None) -> list[str] | None:
    """SPLIT at nothing: one text a unit.

    >>> letters("ab")
    ['a', 'b']
    """
    if text is None:
        return None
    data = units(text)
    return [of_units(data[place : place + 2]) for place in range(0, len(data), 2)]


def instr(text: str | None, part: str | None, start: int | None, count: int | None) -> int | None:
    """INSTR: the place of an occurrence, searched from a start, from the end if it is negative.

    >>> instr("banana", "a", 3, 2), instr("banana", "a", -1, 1)
    (6, 6)
    """
    if text is None or part is None or start is None or count is None:
        return None
    if count <= 0:
        raise UdfError("INSTR counts occurrences from 1")
    if start == 0:
        return 0
    if not part:
        return 1 if start > 0 else max(len(text) + start + 2, 0)
    if start < 0:
        place = len(text) + start + 1
        for _ in range(count):
            place = text.rfind(part, 0, max(place - 1 + len(part), 0)) + 1
            if place <= 0:
                return 0
        return place
    place = start - 1
    for _ in range(count):
        place = text.find(part, place) + 1
        if place <= 0:
            return 0
    return place


def locate(part: str | None, text: str | None, start: int | None) -> int | None:
    """LOCATE from a start; one before the text is its beginning.

    >>> locate("a", "banana", 3), locate("a", "banana", -5)
    (4, 2)
    """
    if part is None or text is None or start is None:
        return None
    if not part:
        return 1
    if start == -(2**31):  # one less is a great number in Java
        return 0
    return text.find(part, max(start - 1, 0)) + 1


# --- bytes ---------------------------------------------------------------------------------------

#: Names of character sets that Java and Python know alike.
CHARSETS = frozenset(
    {"utf-8", "utf8", "utf-16", "utf-16be", "utf-16le", "iso-8859-1", "latin1", "us-ascii", "ascii"}
)


def decode(data: bytes | None, charset: str | None) -> str | None:
    r"""DECODE: bytes as text; what is none is U+FFFD.

    >>> decode(b"a\xff", "US-ASCII")
    'a\ufffd'
    """
    if data is None or charset is None:
        return None
    name = charset.lower()
    if name == "utf-16":
        low = data.startswith(codecs.BOM_UTF16_LE)
        name = "utf-16le" if low else "utf-16be"
        data = data[2:] if low or data.startswith(codecs.BOM_UTF16_BE) else data
    return data.decode(_known(name), "replace")


def encode(text: str | None, charset: str | None) -> bytes | None:
    r"""ENCODE: text as bytes; a character that the set does not have is ``?``.

    >>> encode("aé", "US-ASCII"), encode("a", "UTF-16")
    (b'a?', b'\xfe\xff\x00a')
    """
    if text is None or charset is None:
        return None
    name = charset.lower()
    if name == "utf-16":
        return codecs.BOM_UTF16_BE + text.encode("utf-16-be", "replace") if text else b""
    return text.encode(_known(name), "replace")


def _known(name: str) -> str:
    if name not in CHARSETS:
        raise UdfError(f"the character set {name!r} is not known here")
    return name


def from_base64(text: str | None) -> str | None:
    """FROM_BASE64: what the letters stand for, as text; a text of other letters is a failure.

    >>> from_base64("aGk="), from_base64("aGk")
    ('hi', 'hi')
    """
    if text is None:
        return None
    found = re.fullmatch(r"([A-Za-z0-9+/]*)(={0,2})", text)
    if found is None or (found[2] and len(text) % 4) or len(found[1]) % 4 == 1:
        raise UdfError(f"{text!r} is not valid Base64")
    try:
        data = base64.b64decode(found[1] + "=" * (-len(found[1]) % 4))
    except binascii.Error as error:
        raise UdfError(f"{text!r} is not valid Base64: {error}") from None
    return data.decode("utf-8", "replace")


def unhex(text: str | None) -> bytes | None:
    r"""UNHEX: the bytes of hexadecimal digits; of an odd number the first one counts for nothing.

    >>> unhex("6162"), unhex("4"), unhex("zz")
    (b'ab', b'\x00', None)
    """
    if text is None:
        return None
    start = len(text) % 2
    if not re.fullmatch(r"[0-9A-Fa-f]*", text):
        return None
    return b"\x00" * start + bytes.fromhex(text[start:])


_SPECIFIER = re.compile(r"%(?:(\d+)\$)?([-#+ 0,(<]*)(\d+)?(\.\d+)?([a-zA-Z%])")

#: Conversions of a format by the kinds of values that they show.
CONVERSIONS = {"d": "dxXosSbBhH", "f": "fFeEgGaAsSbBhH", "b": "bBsShH", "s": "sSbBhH"}


def is_format(text: str | None, kinds: str | None) -> bool:
    """Whether Java can follow a format for values of these kinds: d, f, b or s.

    >>> is_format("%d of %s", "ds"), is_format("100%_", ""), is_format("%d", "s")
    (True, False, False)
    """
    if text is None or kinds is None:
        return False
    place = 0
    for found in _SPECIFIER.finditer(text):
        if found[5] in "%n":
            continue
        index = int(found[1]) - 1 if found[1] else place - 1 if "<" in found[2] else place
        place += not (found[1] or "<" in found[2])
        if not 0 <= index < len(kinds) or found[5] not in CONVERSIONS[kinds[index]]:
            return False
    return "%" not in _SPECIFIER.sub("", text)


# --- words ---------------------------------------------------------------------------------------

_NUMBER = re.compile(
    r"[\x00-\x20]*[+-]?(?:NaN|Infinity|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fFdD]?"
    r"|0[xX](?:[0-9a-fA-F]+\.?|[0-9a-fA-F]*\.[0-9a-fA-F]+)[pP][+-]?\d+[fFdD]?)[\x00-\x20]*",
)


def is_decimal(text: str | None) -> bool:
    """IS_DECIMAL: whether Java reads a text as a number.

    >>> is_decimal("1.5e400"), is_decimal("1_000"), is_decimal(None)
    (True, False, False)
    """
    return text is not None and _NUMBER.fullmatch(text) is not None
