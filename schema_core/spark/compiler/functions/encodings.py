"""Hash functions, conversions between strings and bytes, and parts of URLs."""

from __future__ import annotations

import re

from schema_core.base.lazy import regex
from schema_core.spark.compiler import tree as nodes
from schema_core.spark.compiler.template import inline
from schema_core.spark.compiler.translation import (
    CHARACTERS,
    TranslatedCall,
    TranslationRule,
    call_udf,
    native,
    refusal_rule,
    rewrite_rule,
    udf,
)
from schema_core.spark.compiler.tree import Node
from schema_core.spark.compiler.udfs.strings import CHARSETS


def hexadecimal(called: TranslatedCall) -> Node:
    """HEX of an integer or of a string."""
    is_string = isinstance(called.types[0], CHARACTERS)
    return nodes.call("hex", called[0] if is_string else nodes.Cast(called[0], "BIGINT"))


def compile_sha2(called: TranslatedCall) -> Node:
    """SHA2; a bit length that is not one of the four fails the job."""
    bits = nodes.integer_of(called[1])
    if bits in BITS:
        return nodes.call("sha2", called[0], bits)
    if isinstance(called[1], nodes.Literal):
        raise nodes.unsupported_error("the bit length of SHA2 must be 224, 256, 384 or 512")

    def body(text: Node, length: Node) -> Node:
        hashes = tuple(
            (nodes.operator("=", length, bit), nodes.call("sha2", text, bit)) for bit in BITS
        )
        missing = nodes.any_null(text, length)
        problem = nodes.fail("the bit length of SHA2 must be 224, 256, 384 or 512")
        return nodes.Case(((missing, nodes.Cast(nodes.NULL, "STRING")), *hashes), problem)

    return nodes.let_all(called.arguments, body)


#: The lengths of SHA-2 in bits.
BITS = (224, 256, 384, 512)


def compile_decode(called: TranslatedCall) -> Node:
    """DECODE(bytes, charset); a constant charset of one byte for each character without Python."""
    if _is_utf8(called[1]):
        return nodes.call("make_valid_utf8", nodes.Cast(called[0], "STRING"))
    _require_charset(called[1])
    name = _of_one_byte(called[1])
    if name is None:
        return call_udf("decode", called[0], called[1])
    text = nodes.call("decode", called[0], "ISO-8859-1")
    if name == _LATIN:
        return text
    return nodes.call("regexp_replace", text, r"[\x{80}-\x{FF}]", "\ufffd")


def compile_encode(called: TranslatedCall) -> Node:
    """ENCODE(string, charset); a constant charset without Python."""
    if _is_utf8(called[1]):
        return nodes.Cast(called[0], "BINARY")
    _require_charset(called[1])
    name = _of_one_byte(called[1])
    if name is not None:
        others = rf"[^\x{{0}}-\x{{{name}}}]"
        return nodes.call(
            "encode", nodes.call("regexp_replace", called[0], others, "?"), "ISO-8859-1"
        )
    match (nodes.string_of(called[1]) or "").lower():
        case "utf-16be" | "utf-16le" as known:
            return nodes.call("encode", called[0], known.upper())
        case "utf-16":
            return nodes.let(
                called[0],
                lambda text: inline(
                    "if({s} = '', {empty}, concat({mark}, encode({s}, 'UTF-16BE')))",
                    s=text,
                    empty=nodes.Literal("", "X"),
                    mark=nodes.Literal("FEFF", "X"),  # of the byte order
                ),
            )
        case _:
            return call_udf("encode", called[0], called[1])


_ASCII, _LATIN = "7F", "FF"


def _of_one_byte(charset: Node) -> str | None:
    """Return the last character, in hexadecimal, of a charset of one byte a character."""
    name = (nodes.string_of(charset) or "").lower()
    if name in {"us-ascii", "ascii"}:
        return _ASCII
    return _LATIN if name in {"iso-8859-1", "latin1"} else None


def _is_utf8(charset: Node) -> bool:
    return (nodes.string_of(charset) or "").upper() in {"UTF-8", "UTF8"}


def _require_charset(charset: Node) -> None:
    name = nodes.string_of(charset)
    if name is not None and name.lower() not in CHARSETS:
        raise nodes.unsupported_error(f"unsupported character set {name!r}", "use UTF-8")


def _shape(part: str) -> str:
    """Return the regular expression of URLs with a part, its group; other parts are optional."""

    def group(name: str, shape: str) -> str:
        return f"({shape})" if name == part else f"(?:{shape})"

    host = r"\[[^\]@/?#]*+\]|[^:@/?#]*+"
    user = "([^/?#]*)@" if part == "USERINFO" else "(?:[^@/?#]*+@)*+"
    authority = f"//{group('AUTHORITY', user + group('HOST', host) + r'(?::[0-9]*+)?')}"
    authority = rf"{authority}(?=[/?#]|\z)"
    if part not in ("AUTHORITY", "USERINFO"):
        authority = f"(?:{authority}|(?!//))"
    query = r"\?" + group("QUERY", "[^#]*+")
    query = query if part == "QUERY" else f"(?:{query})?+"
    path = group("PATH", "[^?#]*+")
    reference = "#" + group("REF", ".*+")
    reference = reference if part == "REF" else f"(?:{reference})?+"
    scheme = group("PROTOCOL", "(?i:https?|ftp|file|j(?:ar|mod|rt))")
    file = group("FILE", path + query)
    return rf"(?s)\A(?:url:)?{scheme}:{authority}{file}{reference}(?<![ \t\r\n])\z"


#: Part -> the regular expression of mailto URLs that have it, after the scheme. Their query starts
#: at the last question mark; they have no reference.
_MAIL = {
    "PROTOCOL": "",
    "HOST": "()",
    "PATH": r"([^#]*?)(?:\?[^?#]*)?(?=#|\z)",
    "QUERY": r"[^#]*\?([^?#]*)(?=#|\z)",
    "FILE": "([^#]*)",
}


def _mail_shape(part: str) -> str:
    scheme = "((?i:mailto))" if part == "PROTOCOL" else "(?i:mailto)"
    return rf"(?s)\A(?:url:)?{scheme}:(?=[^#]*[^\s#]){_MAIL[part]}"


#: Parts of URLs; any other one is NULL.
PARTS = frozenset({"HOST", "PATH", "QUERY", "REF", "PROTOCOL", "FILE", "AUTHORITY", "USERINFO"})

_KEY = regex(r"\w+", re.ASCII)


def parse_url(node: Node, part: str) -> Node:
    """Return a constant part of a URL; NULL if the URL is invalid or lacks it."""
    if part not in PARTS:
        return _MISSING

    def any_url(url: Node) -> Node:
        return nodes.let(
            nodes.call("btrim", url, " \t\r\n"),
            lambda text: inline(
                "CASE WHEN rlike({s}, {usual}) THEN {found} WHEN {is_mail} THEN {mail} END",
                s=text,
                usual=_shape(part),
                is_mail=nodes.call("rlike", text, _mail_shape(part))
                if part in _MAIL
                else nodes.FALSE,
                found=_find_part(text, part, _shape(part)),
                mail=_find_part(text, part, _mail_shape(part)) if part in _MAIL else _MISSING,
            ),
        )

    return nodes.let(
        node,
        lambda url: inline(
            "coalesce(nullif({usual}, ''), if({s} IS NULL, NULL, {rest}))",
            usual=_find_part(url, part, _shape(part)),
            s=url,
            rest=nodes.rarely(url, any_url),
        ),
    )


_MISSING = nodes.Cast(nodes.NULL, "STRING")


def _find_part(text: Node, part: str, shape: str) -> Node:
    part_text = nodes.call("regexp_extract", text, shape, 1)
    return nodes.call("lower", part_text) if part == "PROTOCOL" else part_text


def is_key(key: str) -> bool:
    """Return whether a key of a query is equal in all languages of regular expressions."""
    return _KEY.fullmatch(key) is not None


def parse_url_key(node: Node, key: str) -> Node:
    """Return the value of a constant key in the query of a URL, or NULL."""
    shape = f"(?:&|^){key}=([^&]*)"
    return nodes.let(
        parse_url(node, "QUERY"),
        lambda query: nodes.let(
            nodes.call("regexp_extract", query, shape, 1),
            lambda parameter: inline(
                "if({parameter} <> '', {parameter}, if(rlike({query}, {shape}), '', NULL))",
                parameter=parameter,
                query=query,
                shape=shape,
            ),
        ),
    )


def parsed_url(called: TranslatedCall) -> Node:
    """PARSE_URL(url, part [, key]); constant parts and keys of words without Python."""
    part = nodes.string_of(called[1])
    key = nodes.string_of(called[2]) if len(called.arguments) == 3 else None
    if part is not None and len(called.arguments) == 2:
        return parse_url(called[0], part)
    if part == "QUERY" and key is not None and is_key(key):
        return parse_url_key(called[0], key)
    name = "parse_url" if len(called.arguments) == 2 else "parse_url_key"
    return call_udf(name, *called.arguments)


def compile_unhex(text: Node) -> Node:
    """UNHEX; the first of an odd number of digits becomes a zero byte."""
    return inline(
        "if(octet_length({s}) % 2 = 0, unhex({s}),"
        " if(rlike({s}, '^[0-9A-Fa-f]'), concat({zero}, unhex(substring({s}, 2))), NULL))",
        s=text,
        zero=nodes.Literal("00", "X"),
    )


def integer_of_address(text: Node) -> Node:
    """INET_ATON: an IPv4 address as an integer; missing parts are zeros before the last."""

    def body(parts: Node) -> Node:
        return inline(
            "if(rlike({s}, {shape}) AND array_max({parts}) <= 255L,"
            " if(size({parts}) > 1, get({parts}, 0), 0L) * 16777216L"
            " + if(size({parts}) > 2, get({parts}, 1), 0L) * 65536L"
            " + if(size({parts}) > 3, get({parts}, 2), 0L) * 256L"
            " + get({parts}, size({parts}) - 1), NULL)",
            s=text,
            shape=r"^\d+(?:\.\d+){0,3}\z",
            parts=parts,
        )

    numbers = inline(
        "transform(split({s}, {dot}), one -> try_cast(one AS BIGINT))", s=text, dot=r"\."
    )
    return nodes.let(numbers, body)


def address_of_integer(number: Node) -> Node:
    """INET_NTOA: the IPv4 address of an integer."""
    return inline(
        "if({n} BETWEEN 0L AND 4294967295L, concat_ws('.', CAST({n} DIV 16777216L AS STRING),"
        " CAST({n} DIV 65536L % 256L AS STRING), CAST({n} DIV 256L % 256L AS STRING),"
        " CAST({n} % 256L AS STRING)), NULL)",
        n=number,
    )


def decoded_base64(node: Node) -> Node:
    """Decode Base64 to a string; an invalid one fails the job.

    Spark skips white space; the lengths of a padded string and its result show that it has none.
    """

    def body(s: Node, data: Node) -> Node:
        return inline(
            "CASE WHEN (octet_length({data}) + 2) DIV 3 * 4 = octet_length({s})"
            " AND (octet_length({data}) % 3 = 0"
            " OR endswith({s}, if(octet_length({data}) % 3 = 1, '==', '=')))"
            " THEN make_valid_utf8(CAST({data} AS STRING))"
            " WHEN rlike({s}, {shape})"
            " AND ({rest} = 0 OR {rest} > 1 AND NOT endswith({s}, '='))"
            " THEN make_valid_utf8(CAST(unbase64({s}) AS STRING))"
            " WHEN {s} IS NOT NULL THEN raise_error(concat({problem}, {s})) END",
            s=s,
            data=data,
            shape=r"^[A-Za-z0-9+/]*+={0,2}\z",
            rest=inline("octet_length({s}) % 4", s=s),
            problem="invalid Base64: ",
        )

    return nodes.let(
        node,
        lambda s: nodes.let(nodes.call("try_to_binary", s, "base64"), lambda data: body(s, data)),
    )


RULES: dict[str, TranslationRule] = {
    "MD5": native("md5({0})"),
    "SHA1": native("sha1({0})"),
    "SHA224": native("sha2({0}, 224)"),
    "SHA256": native("sha2({0}, 256)"),
    "SHA384": native("sha2({0}, 384)"),
    "SHA512": native("sha2({0}, 512)"),
    "SHA2": native(compile_sha2),
    "TO_BASE64": native("base64({0})"),
    "FROM_BASE64": rewrite_rule(lambda called: decoded_base64(called[0])),
    "HEX": native(hexadecimal),
    "UNHEX": rewrite_rule(lambda called: nodes.let(called[0], compile_unhex)),
    "ENCODE": udf(compile_encode),
    "DECODE": udf(compile_decode),
    "PARSE_URL": udf(parsed_url),
    "INET_ATON": rewrite_rule(lambda called: nodes.let(called[0], integer_of_address)),
    "INET_NTOA": rewrite_rule(
        lambda called: nodes.let(nodes.Cast(called[0], "BIGINT"), address_of_integer)
    ),
    "URL_ENCODE": native("url_encode({0})"),
    "URL_DECODE": rewrite_rule("make_valid_utf8(try_url_decode({0}))"),
    **{
        name: refusal_rule("Flink accepts it, but cannot execute it")
        for name in ("TRANSLATE", "TRANSLATE USING")
    },
}
