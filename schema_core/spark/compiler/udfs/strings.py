"""String functions that count UTF-16 code units, as Java does; URLs as by java.net.URL.

Lone surrogates become ``?``.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import re
from collections.abc import Callable
from functools import lru_cache

from schema_core.base.lazy import regex
from schema_core.spark.compiler.udfs import UdfError

#: The longest padded string; beyond, Java runs out of memory.
MAX_UNITS = 1 << 28


def to_units(text: str) -> bytes:
    """Return the UTF-16 code units of a string, two bytes each."""
    return text.encode("utf-16-le", "surrogatepass")


def from_units(data: bytes) -> str:
    """Return the string of UTF-16 code units; lone surrogates become ``?``.

    >>> from_units(to_units("a😀")[:4])
    'a?'
    """
    return re.sub("[\ud800-\udfff]", "?", data.decode("utf-16-le", "surrogatepass"))


def lpad(text: str | None, length: int | None, filler: str | None) -> str | None:
    """Return LPAD: a string padded at the start, or truncated at the end.

    >>> lpad("a", 3, "xy"), lpad("abc", 2, "x"), lpad("a", 2, "")
    ('xya', 'ab', None)
    """
    return _pad(text, length, filler, str.rjust, lambda cut, added: added + cut)


def rpad(text: str | None, length: int | None, filler: str | None) -> str | None:
    """Return RPAD: a string padded or truncated at the end.

    >>> rpad("a", 3, "xy")
    'axy'
    """
    return _pad(text, length, filler, str.ljust, lambda cut, added: cut + added)


def _pad(
    text: str | None,
    length: int | None,
    filler: str | None,
    adjust: Callable[[str, int, str], str],
    join: Callable[[bytes, bytes], bytes],
) -> str | None:
    if text is None or length is None or filler is None or length < 0 or not filler:
        return None
    if length > MAX_UNITS:
        raise UdfError(f"string length {length} exceeds the maximum of {MAX_UNITS}")
    if text.isascii() and len(filler) == 1 and filler <= "\uffff":
        return adjust(text[:length], length, filler)
    data, pad = to_units(text)[: 2 * length], to_units(filler)
    missing = 2 * length - len(data)
    return from_units(join(data, (pad * (missing // len(pad) + 1))[:missing]))


def truncate(text: str | None, length: int | None) -> str | None:
    """Return the first code units of a string.

    >>> truncate("abc", 2)
    'ab'
    """
    if text is None or length is None:
        return None
    if text.isascii() and length >= 0:
        return text[:length]
    return from_units(to_units(text)[: 2 * length])


def overlay(text: str | None, new: str | None, start: int | None, length: int | None) -> str | None:
    """Return OVERLAY: a string with a part replaced, unchanged if the start is out of range.

    >>> overlay("abcdef", "XX", 2, 3), overlay("ab", "XX", 3, 1)
    ('aXXef', 'ab')
    """
    if text is None or new is None or start is None or length is None:
        return None
    data = to_units(text)
    if not 0 < start <= len(data) // 2:
        return text
    end = start - 1 + length
    rest = data[2 * end :] if length > 0 else b""
    return from_units(data[: 2 * start - 2] + to_units(new) + rest)


def split_units(text: str | None) -> list[str] | None:
    """Return SPLIT at the empty string: one string for each code unit.

    >>> split_units("ab")
    ['a', 'b']
    """
    if text is None:
        return None
    data = to_units(text)
    return [from_units(data[index : index + 2]) for index in range(0, len(data), 2)]


def instr(text: str | None, part: str | None, start: int | None, count: int | None) -> int | None:
    """Return INSTR: the position of an occurrence; a negative start searches from the end.

    >>> instr("banana", "a", 3, 2), instr("banana", "a", -1, 1)
    (6, 6)
    """
    if text is None or part is None or start is None or count is None:
        return None
    if count <= 0:
        raise UdfError(f"the occurrence of INSTR must be positive, got {count}")
    if start == 0:
        return 0
    if not part:
        return 1 if start > 0 else max(len(text) + start + 2, 0)
    if start < 0:
        position = len(text) + start + 1
        for _ in range(count):
            position = text.rfind(part, 0, max(position - 1 + len(part), 0)) + 1
            if position <= 0:
                return 0
        return position
    position = start - 1
    for _ in range(count):
        position = text.find(part, position) + 1
        if position <= 0:
            return 0
    return position


def locate(part: str | None, text: str | None, start: int | None) -> int | None:
    """Return LOCATE with a start position; one below 1 is the start of the string.

    >>> locate("a", "banana", 3), locate("a", "banana", -5)
    (4, 2)
    """
    if part is None or text is None or start is None:
        return None
    if not part:
        return 1
    if start == -(2**31):  # Java's `start - 1` overflows to a large positive number
        return 0
    return text.find(part, max(start - 1, 0)) + 1


# --- binary strings ------------------------------------------------------------------------------

#: Character sets that Java and Python both support.
CHARSETS = frozenset(
    {"utf-8", "utf8", "utf-16", "utf-16be", "utf-16le", "iso-8859-1", "latin1", "us-ascii", "ascii"}
)


def decode(data: bytes | None, charset: str | None) -> str | None:
    r"""Return DECODE: a string from bytes; malformed sequences become U+FFFD.

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
    return data.decode(_codec(name), "replace")


def encode(text: str | None, charset: str | None) -> bytes | None:
    r"""Return ENCODE: a string as bytes; unmappable characters become ``?``.

    >>> encode("aé", "US-ASCII"), encode("a", "UTF-16")
    (b'a?', b'\xfe\xff\x00a')
    """
    if text is None or charset is None:
        return None
    name = charset.lower()
    if name == "utf-16":
        return codecs.BOM_UTF16_BE + text.encode("utf-16-be", "replace") if text else b""
    return text.encode(_codec(name), "replace")


def _codec(name: str) -> str:
    if name not in CHARSETS:
        raise UdfError(f"unsupported character set {name!r}")
    return name


def from_base64(text: str | None) -> str | None:
    """Return FROM_BASE64: the decoded string; invalid Base64 raises `UdfError`.

    >>> from_base64("aGk="), from_base64("aGk")
    ('hi', 'hi')
    """
    if text is None:
        return None
    match = re.fullmatch(r"([A-Za-z0-9+/]*)(={0,2})", text)
    if match is None or (match[2] and len(text) % 4) or len(match[1]) % 4 == 1:
        raise UdfError(f"{text!r} is not valid Base64")
    try:
        data = base64.b64decode(match[1] + "=" * (-len(match[1]) % 4))
    except binascii.Error as error:
        raise UdfError(f"{text!r} is not valid Base64: {error}") from None
    return data.decode("utf-8", "replace")


def unhex(text: str | None) -> bytes | None:
    r"""Return UNHEX: the bytes of hexadecimal digits; the first of an odd number becomes ``\x00``.

    >>> unhex("6162"), unhex("4"), unhex("zz")
    (b'ab', b'\x00', None)
    """
    if text is None:
        return None
    start = len(text) % 2
    if not re.fullmatch(r"[0-9A-Fa-f]*", text):
        return None
    return b"\x00" * start + bytes.fromhex(text[start:])


_SPECIFIER = regex(r"%(?:(\d+)\$)?([-#+ 0,(<]*)(\d+)?(\.\d+)?([a-zA-Z%])")

#: Kind of an argument (d INT, l BIGINT, f float, b BOOLEAN, s string, n NULL) -> the conversions
#: that java.util.Formatter accepts.
CONVERSIONS = {
    "d": "dxXosSbBhHcC",
    "l": "dxXosSbBhH",
    "f": "feEgGaAsSbBhH",
    "b": "bBsShH",
    "s": "sSbBhH",
    "n": "dxXosSbBhHcCfeEgGaA",
}


def is_format(text: str | None, kinds: str | None) -> bool:
    """Return whether java.util.Formatter accepts a format for kinds of `CONVERSIONS`.

    >>> is_format("%d of %s", "ds"), is_format("100%_", ""), is_format("%d", "s")
    (True, False, False)
    """
    if text is None or kinds is None:
        return False
    next_index = 0
    for found in _SPECIFIER.finditer(text):
        if found[5] in "%n":
            continue
        index = int(found[1]) - 1 if found[1] else next_index - ("<" in found[2])
        next_index += not (found[1] or "<" in found[2])
        if not 0 <= index < len(kinds) or found[5] not in CONVERSIONS[kinds[index]]:
            return False
    return "%" not in _SPECIFIER.sub("", text)


_NUMBER = regex(
    r"[\x00-\x20]*[+-]?(?:NaN|Infinity|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fFdD]?"
    r"|0[xX](?:[0-9a-fA-F]+\.?|[0-9a-fA-F]*\.[0-9a-fA-F]+)[pP][+-]?\d+[fFdD]?)[\x00-\x20]*",
)


def is_decimal(text: str | None) -> bool:
    """Return IS_DECIMAL: whether Java parses a string as a number.

    >>> is_decimal("1.5e400"), is_decimal("1_000"), is_decimal(None)
    (True, False, False)
    """
    return text is not None and _NUMBER.fullmatch(text) is not None


# --- URLs and addresses ------------------------------------------------------------------------

#: Schemes that java.net.URL supports; it rejects all others.
SCHEMES = frozenset({"http", "https", "ftp", "file", "mailto", "jar", "jmod", "jrt"})


@lru_cache(maxsize=256)
def url_parts(text: str) -> dict[str, str | None] | None:
    """Return the parts of a URL by Flink's names, or None for an invalid URL.

    >>> url_parts("http://user@h:80/p?q#r")["AUTHORITY"]
    'user@h:80'
    """
    match = re.fullmatch(r"(?:url:)?([a-zA-Z][\w+.-]*):(.*)", text.strip(" \t\r\n"), re.DOTALL)
    if match is None or match[1].lower() not in SCHEMES:
        return None
    scheme, rest = match[1].lower(), match[2]
    rest, mark, reference = rest.partition("#")
    query: str | None = None
    if scheme == "mailto":
        if not rest.strip():
            return None
        path, mark, query = rest.rpartition("?")  # the last one starts the query
        return {
            "HOST": "", "PATH": path if mark else rest, "QUERY": query if mark else None,
            "PROTOCOL": "mailto", "FILE": rest,
        }  # fmt: skip
    if "?" in rest:
        rest, _, query = rest.partition("?")
    authority = host = user = None
    if rest.startswith("//"):
        slash = rest.find("/", 2)
        authority, rest = (rest[2:], "") if slash < 0 else (rest[2:slash], rest[slash:])
        user_info, at, host_and_port = authority.rpartition("@")
        user = user_info if at else None
        matched = re.fullmatch(r"(\[[^\]]*\]|[^:]*)(?::(\d*))?", host_and_port)
        if matched is None:
            return None
        host = matched[1]
    else:
        host = ""
    return {
        "HOST": host, "PATH": rest, "QUERY": query, "REF": reference if mark else None,
        "PROTOCOL": scheme, "FILE": rest if query is None else f"{rest}?{query}",
        "AUTHORITY": authority, "USERINFO": user,
    }  # fmt: skip


def parse_url(text: str | None, part: str | None) -> str | None:
    """Return PARSE_URL(url, part).

    >>> parse_url("http://h/p?k=v", "QUERY")
    'k=v'
    """
    parts = None if text is None or part is None else url_parts(text)
    return None if parts is None else parts.get(str(part))


def parse_url_key(text: str | None, part: str | None, key: str | None) -> str | None:
    """Return PARSE_URL(url, 'QUERY', key): the value of the first parameter with the key.

    >>> parse_url_key("http://h/p?k=v&l=w", "QUERY", "l")
    'w'
    """
    query = parse_url(text, part)
    if query is None or key is None or part != "QUERY":
        return None
    try:
        match = re.search(rf"(?:&|^){key}=([^&]*)", query)
    except re.error:
        return None
    return None if match is None else match[1]


def inet_aton(text: str | None) -> int | None:
    """Return INET_ATON: an IPv4 address as an integer; missing parts are zeros before the last.

    >>> inet_aton("192.168.0.1"), inet_aton("127.1"), inet_aton("256.1.1.1")
    (3232235521, 2130706433, None)
    """
    if text is None or not re.fullmatch(r"\d+(?:\.\d+){0,3}", text, re.ASCII):
        return None
    parts = [int(part.lstrip("0")[:4] or "0") for part in text.split(".")]
    if max(parts) > 255:
        return None
    bytes_ = [*parts[:-1], *[0] * (4 - len(parts)), parts[-1]]
    return int.from_bytes(bytes_, "big")


def inet_ntoa(number: int | None) -> str | None:
    """Return INET_NTOA: the IPv4 address of an integer.

    >>> inet_ntoa(3232235521)
    '192.168.0.1'
    """
    if number is None or not 0 <= number < 2**32:
        return None
    return ".".join(map(str, number.to_bytes(4, "big")))
