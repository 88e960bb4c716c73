"""Parts of URLs, parsed as by java.net.URL, and conversion of IPv4 addresses to integers."""

from __future__ import annotations

import re
from functools import lru_cache

#: Schemes that java.net.URL supports; it rejects all others.
SCHEMES = frozenset({"http", "https", "ftp", "file", "mailto", "jar", "jmod", "jrt"})


@lru_cache(maxsize=256)
def url_parts(text: str) -> dict[str, str | None] | None:
    """Return the parts of a URL by Flink's names for them, or None for an invalid URL.

    >>> url_parts("http://user@h:80/p?q#r")["AUTHORITY"]
    'user@h:80'
    """
    found = re.fullmatch(r"(?:url:)?([a-zA-Z][\w+.-]*):(.*)", text.strip(" \t\r\n"), re.DOTALL)
    if found is None or found[1].lower() not in SCHEMES:
        return None
    scheme, rest = found[1].lower(), found[2]
    rest, mark, reference = rest.partition("#")
    query: str | None = None
    if scheme == "mailto":
        return _mail_parts(rest)
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


def _mail_parts(file: str) -> dict[str, str | None] | None:
    """Return the parts of a URL of the scheme mailto; its query starts at the last ``?``."""
    if not file.strip():
        return None
    path, mark, query = file.rpartition("?")
    return {
        "HOST": "", "PATH": path if mark else file, "QUERY": query if mark else None,
        "PROTOCOL": "mailto", "FILE": file,
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
        found = re.search(rf"(?:&|^){key}=([^&]*)", query)
    except re.error:
        return None
    return None if found is None else found[1]


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
