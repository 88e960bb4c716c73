"""Hashes, and texts and bytes in other letters."""

from __future__ import annotations

from schema_core.expressions.forms.words import CHARACTERS, Called, Form, bind, unsupported


def hexadecimal(called: Called) -> str:
    """HEX of a whole number or of a text."""
    if isinstance(called.types[0], CHARACTERS):
        return f"hex({called[0]})"
    return f"hex(CAST({called[0]} AS BIGINT))"


def unhex(called: Called) -> str:
    """UNHEX; of an odd number of digits the first one counts for nothing."""
    return bind(called[0], lambda v: f"if(length({v}) % 2 = 1, {_odd(v)}, unhex({v}))")


def _odd(text: str) -> str:
    return f"concat(X'00', unhex(substring({text}, 2)))"


def hashed(called: Called) -> str:
    """SHA2 of so many bits."""
    if called[1] not in {"224", "256", "384", "512"}:
        raise unsupported("SHA2 takes 224, 256, 384 or 512 bits")
    return f"sha2({called[0]}, {called[1]})"


def decoded(called: Called) -> str:
    """DECODE(bytes, charset), of charsets in which all bytes are text."""
    charset = called[1].strip("'").upper()
    if charset in {"UTF-8", "UTF8"}:
        return f"make_valid_utf8(CAST({called[0]} AS STRING))"
    if charset in {"ISO-8859-1", "US-ASCII"}:
        return f"decode({called[0]}, '{charset}')"
    raise unsupported(f"DECODE of {called[1]} is not run on Spark")


def encoded(called: Called) -> str:
    """ENCODE(text, charset), of charsets that have all characters."""
    charset = called[1].strip("'").upper()
    names = {"UTF-8", "UTF8", "UTF-16BE", "UTF-16LE", "UTF-16"}
    if charset not in names:
        raise unsupported(f"ENCODE to {called[1]} is not run on Spark")
    return f"encode({called[0]}, '{'UTF-8' if charset == 'UTF8' else charset}')"


FORMS: dict[str, Form] = {
    "MD5": "md5({0})",
    "SHA1": "sha1({0})",
    "SHA224": "sha2({0}, 224)",
    "SHA256": "sha2({0}, 256)",
    "SHA384": "sha2({0}, 384)",
    "SHA512": "sha2({0}, 512)",
    "SHA2": hashed,
    "TO_BASE64": "replace(base64({0}), '\\r\\n', '')",
    "FROM_BASE64": "make_valid_utf8(CAST(unbase64({0}) AS STRING))",
    "HEX": hexadecimal,
    "UNHEX": unhex,
    "ENCODE": encoded,
    "DECODE": decoded,
    "URL_ENCODE": "url_encode({0})",
    "URL_DECODE": "make_valid_utf8(try_url_decode({0}))",
}
