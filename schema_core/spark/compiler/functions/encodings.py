"""Hashes, and texts and bytes in other letters."""

from __future__ import annotations

from schema_core.spark.compiler.sql_builder import CHARACTERS, Called, Form, computed, unsupported
from schema_core.spark.compiler.udfs.texts import CHARSETS


def hexadecimal(called: Called) -> str:
    """HEX of a whole number or of a text."""
    if isinstance(called.types[0], CHARACTERS):
        return f"hex({called[0]})"
    return f"hex(CAST({called[0]} AS BIGINT))"


def hashed(called: Called) -> str:
    """SHA2 of so many bits."""
    if called[1] not in {"224", "256", "384", "512"}:
        raise unsupported("SHA2 takes 224, 256, 384 or 512 bits")
    return f"sha2({called[0]}, {called[1]})"


def decoded(called: Called) -> str:
    """DECODE(bytes, charset)."""
    if called[1].strip("'").upper() in {"UTF-8", "UTF8"}:
        return f"make_valid_utf8(CAST({called[0]} AS STRING))"
    return computed("decode", _charset(called)[0], called[1])


def encoded(called: Called) -> str:
    """ENCODE(text, charset)."""
    if called[1].strip("'").upper() in {"UTF-8", "UTF8"}:
        return f"CAST({called[0]} AS BINARY)"
    return computed("encode", *_charset(called))


def _charset(called: Called) -> tuple[str, ...]:
    """The arguments, if the charset is none that is known not to be known."""
    name = called[1]
    if name.startswith("'") and name.strip("'").lower() not in CHARSETS:
        raise unsupported(f"the charset {name} is not known here", "use UTF-8")
    return called.arguments


def parsed_url(called: Called) -> str:
    """PARSE_URL(url, part [, key])."""
    name = "parse_url" if len(called.arguments) == 2 else "parse_url_key"
    return computed(name, *called.arguments)


FORMS: dict[str, Form] = {
    "MD5": "md5({0})",
    "SHA1": "sha1({0})",
    "SHA224": "sha2({0}, 224)",
    "SHA256": "sha2({0}, 256)",
    "SHA384": "sha2({0}, 384)",
    "SHA512": "sha2({0}, 512)",
    "SHA2": hashed,
    "TO_BASE64": "replace(base64({0}), '\\r\\n', '')",
    "FROM_BASE64": lambda called: computed("from_base64", called[0]),
    "HEX": hexadecimal,
    "UNHEX": lambda called: computed("unhex", called[0]),
    "ENCODE": encoded,
    "DECODE": decoded,
    "PARSE_URL": parsed_url,
    "INET_ATON": lambda called: computed("inet_aton", called[0]),
    "INET_NTOA": lambda called: computed("inet_ntoa", f"CAST({called[0]} AS BIGINT)"),
    "URL_ENCODE": "url_encode({0})",
    "URL_DECODE": "make_valid_utf8(try_url_decode({0}))",
}
