"""Parts of URLs, as java.net.URL has them, and IPv4 addresses as numbers."""

from __future__ import annotations

import re
from functools import lru_cache

#: Schemes that Java knows; a URL of another is none.
SCHEMES = frozenset({"http", "https", "ftp", "file", "mailto", "jar", "jmod", "jrt"})


@lru_cache(maxsize=256)
def url_parts(text: str) -> dict[str, str | None] | None:
    """The parts of a URL by Flink's names for them; None for a string that is not a URL.

    >>> url_parts("http://user@h:80/p?q#r")["AUTHORITY"]
    'user@h:80'
    """
    found = re.fullmatch(r"(?:url:)?([a-zA-Z][\w+.-]*):(.*)", text.strip(" \t\r\n"), re.DOTALL)
    if found is None or found[1].lower() not in SCHEMES:
        return None
    scheme, rest = found[1].lower(), found[2]
    rest, mark, reference = rest.partition("#")
    query: str | None = None
    if scheme != "mailto" and "?" in rest:
        rest, _, query = rest.partition("?")
    authority = host = user = None
    if rest.startswith("//"):
        place = rest.find("/", 2)
        authority, rest = (rest[2:], "") if place < 0 else (rest[2:place], rest[place:])
        given, at, server = authority.rpartition("@")
        user = given if at else None
        split = re.fullmatch(r"(\[[^\]]*\]|[^:]*)(?::(\d*))?", server)
        if split is None:
            return None
        host = split[1]
    else:
        host = ""
    return {
        "HOST": host, "PATH": rest, "QUERY": query, "REF": reference if mark else None,
        "PROTOCOL": scheme, "FILE": rest if query is None else f"{rest}?{query}",
        "AUTHORITY": authority, "USERINFO": user,
    }  # fmt: skip


def parse_url(text: str | None, part: str | None) -> str | None:
    """PARSE_URL(url, part).

    >>> parse_url("http://h/p?k=v", "QUERY")
    'k=v'
    """
    parts = None if text is None or part is None else url_parts(text)
    return None if parts is None else parts.get(str(part))


def parse_url_key(text: str | None, part: str | None, key: str | None) -> str | None:
    """PARSE_URL(url, 'QUERY', key): the value of the first pair with the key.

    >>> parse_url_key("http://h/p?k=v&l=w", "QUERY", "l")
    'w'
    """
    query = parse_url(text, part)
    if query is None or key is None or part != "QUERY":
        return None
    try:
        found = re.search(rf"(?:&|^){key}=([^&]*)", query)
    except re.error:
        return None
    return None if found is None else found[1]


def inet_aton(text: str | None) -> int | None:
    """INET_ATON: an IPv4 address as a number; of fewer than four parts the last one stays last.

    >>> inet_aton("192.168.0.1"), inet_aton("127.1"), inet_aton("256.1.1.1")
    (3232235521, 2130706433, None)
    """
    if text is None or not re.fullmatch(r"\d+(?:\.\d+){0,3}", text, re.ASCII):
        return None
    parts = [int(part) if len(part) < 20 else 256 for part in text.split(".")]
    if max(parts) > 255:
        return None
    bytes_ = [*parts[:-1], *[0] * (4 - len(parts)), parts[-1]]
    return int.from_bytes(bytes_, "big")


def inet_ntoa(number: int | None) -> str | None:
    """INET_NTOA: the IPv4 address of a number.

    >>> inet_ntoa(3232235521)
    '192.168.0.1'
    """
    if number is None or not 0 <= number < 2**32:
        return None
    return ".".join(map(str, number.to_bytes(4, "big")))
