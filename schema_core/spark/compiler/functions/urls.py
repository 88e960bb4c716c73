"""PARSE_URL of constant parts and keys by regular expressions, as `udfs.urls` parses them."""

from __future__ import annotations

import re

from schema_core.base.lazy import regex
from schema_core.spark.compiler import tree as nodes
from schema_core.spark.compiler.template import inline


def _shape(part: str) -> str:
    """Return the regular expression of the URLs that have a part, which is its group.

    Parts are mandatory only if they are the one that is extracted.
    """

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


#: Part -> the regular expression of the URLs of the scheme mailto that have it, after the scheme.
#: Their query starts at the last question mark; they have no reference.
_MAIL = {
    "PROTOCOL": "",
    "HOST": "()",
    "PATH": r"([^#]*?)(?:\?[^?#]*)?(?=#|\z)",
    "QUERY": r"[^#]*\?([^?#]*)(?=#|\z)",
    "FILE": "([^#]*)",
}


def _mail_shape(part: str) -> str:
    """Return the regular expression of the addresses that have a part, which is its group."""
    scheme = "((?i:mailto))" if part == "PROTOCOL" else "(?i:mailto)"
    return rf"(?s)\A(?:url:)?{scheme}:(?=[^#]*[^\s#]){_MAIL[part]}"


#: Parts of URLs; any other one is NULL.
PARTS = frozenset({"HOST", "PATH", "QUERY", "REF", "PROTOCOL", "FILE", "AUTHORITY", "USERINFO"})

_KEY = regex(r"\w+", re.ASCII)


def parse_url(node: nodes.Node, part: str) -> nodes.Node:
    """Return a constant part of a URL, or NULL if the URL is invalid or lacks it."""
    if part not in PARTS:
        return _MISSING

    def any_url(url: nodes.Node) -> nodes.Node:
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


def _find_part(text: nodes.Node, part: str, shape: str) -> nodes.Node:
    """Return a part, or the empty string for a URL that lacks it."""
    found = nodes.call("regexp_extract", text, shape, 1)
    return nodes.call("lower", found) if part == "PROTOCOL" else found


def is_key(key: str) -> bool:
    """Return whether a key of a query is the same in all languages of regular expressions."""
    return _KEY.fullmatch(key) is not None


def parse_url_key(node: nodes.Node, key: str) -> nodes.Node:
    """Return the value of a constant key in the query of a URL, or NULL."""
    shape = f"(?:&|^){key}=([^&]*)"
    return nodes.let(
        parse_url(node, "QUERY"),
        lambda query: nodes.let(
            nodes.call("regexp_extract", query, shape, 1),
            lambda found: inline(
                "if({found} <> '', {found}, if(rlike({query}, {shape}), '', NULL))",
                found=found,
                query=query,
                shape=shape,
            ),
        ),
    )
