"""Hash functions, and conversions between strings and bytes."""

from __future__ import annotations

from schema_core.spark.compiler.functions import urls
from schema_core.spark.compiler.template import inline
from schema_core.spark.compiler.translation import (
    TranslatedCall,
    TranslationRule,
    call_udf,
    native,
    refused,
    rewritten,
    udf,
)
from schema_core.spark.compiler.tree import (
    NULL,
    Case,
    Cast,
    Literal,
    Node,
    any_null,
    call,
    fail,
    integer_of,
    let,
    let_all,
    operator,
    string_of,
    unsupported,
)
from schema_core.spark.compiler.udfs.strings import CHARSETS
from schema_core.spark.compiler.value_types import CHARACTERS


def hexadecimal(called: TranslatedCall) -> Node:
    """HEX of an integer or of a string."""
    is_string = isinstance(called.types[0], CHARACTERS)
    return call("hex", called[0] if is_string else Cast(called[0], "BIGINT"))


def hashed(called: TranslatedCall) -> Node:
    """SHA2; a bit length that is not one of the four fails the job."""
    bits = integer_of(called[1])
    if bits in BITS:
        return call("sha2", called[0], bits)
    if isinstance(called[1], Literal):
        raise unsupported("the bit length of SHA2 must be 224, 256, 384 or 512")

    def body(text: Node, length: Node) -> Node:
        hashes = tuple((operator("=", length, one), call("sha2", text, one)) for one in BITS)
        missing = any_null(text, length)
        problem = fail("the bit length of SHA2 must be 224, 256, 384 or 512")
        return Case(((missing, Cast(NULL, "STRING")), *hashes), problem)

    return let_all(called.arguments, body)


#: The lengths of SHA-2 in bits.
BITS = (224, 256, 384, 512)


def decoded(called: TranslatedCall) -> Node:
    """DECODE(bytes, charset)."""
    if _is_utf8(called[1]):
        return call("make_valid_utf8", Cast(called[0], "STRING"))
    _require_charset(called[1])
    return call_udf("decode", called[0], called[1])


def encoded(called: TranslatedCall) -> Node:
    """ENCODE(string, charset)."""
    if _is_utf8(called[1]):
        return Cast(called[0], "BINARY")
    _require_charset(called[1])
    return call_udf("encode", called[0], called[1])


def _is_utf8(charset: Node) -> bool:
    return (string_of(charset) or "").upper() in {"UTF-8", "UTF8"}


def _require_charset(charset: Node) -> None:
    """Refuse a constant charset that Python does not support."""
    name = string_of(charset)
    if name is not None and name.lower() not in CHARSETS:
        raise unsupported(f"unsupported character set {name!r}", "use UTF-8")


def parsed_url(called: TranslatedCall) -> Node:
    """PARSE_URL(url, part [, key]); constant parts and keys of words without Python."""
    part = string_of(called[1])
    key = string_of(called[2]) if len(called.arguments) == 3 else None
    if part is not None and len(called.arguments) == 2:
        return urls.parse_url(called[0], part)
    if part == "QUERY" and key is not None and urls.is_key(key):
        return urls.parse_url_key(called[0], key)
    name = "parse_url" if len(called.arguments) == 2 else "parse_url_key"
    return call_udf(name, *called.arguments)


def computed(name: str) -> TranslationRule:
    """Return the rule of a function of one argument that is a Python UDF."""
    return udf(lambda called: call_udf(name, called[0]))


def _base64(called: TranslatedCall) -> Node:
    return call("replace", call("base64", called[0]), Literal("\r\n"), "")


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

    return let(node, lambda s: let(call("try_to_binary", s, "base64"), lambda data: body(s, data)))


RULES: dict[str, TranslationRule] = {
    "MD5": native("md5({0})"),
    "SHA1": native("sha1({0})"),
    "SHA224": native("sha2({0}, 224)"),
    "SHA256": native("sha2({0}, 256)"),
    "SHA384": native("sha2({0}, 384)"),
    "SHA512": native("sha2({0}, 512)"),
    "SHA2": native(hashed),
    "TO_BASE64": rewritten(_base64),
    "FROM_BASE64": rewritten(lambda called: decoded_base64(called[0])),
    "HEX": native(hexadecimal),
    "UNHEX": computed("unhex"),
    "ENCODE": udf(encoded),
    "DECODE": udf(decoded),
    "PARSE_URL": udf(parsed_url),
    "INET_ATON": computed("inet_aton"),
    "INET_NTOA": udf(lambda called: call_udf("inet_ntoa", Cast(called[0], "BIGINT"))),
    "URL_ENCODE": native("url_encode({0})"),
    "URL_DECODE": rewritten("make_valid_utf8(try_url_decode({0}))"),
    **{
        name: refused("Flink accepts it, but cannot execute it")
        for name in ("TRANSLATE", "TRANSLATE USING")
    },
}
