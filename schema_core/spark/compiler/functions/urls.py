"""PARSE_URL of constant parts and keys by regular expressions, as `udfs.urls` parses them."""

from __future__ import annotations

import re

from schema_core.spark.compiler.template import inline
from schema_core.spark.compiler.tree import NULL, Cast, Node, call, let, rarely


def _shape(part: str, *, mailto: bool) -> str:
    """Return the regular expression of the URLs that have a part, which is its group.

    Parts are mandatory only if they are the one that is extracted.
    """
    stop = "/#" if mailto else "/?#"

    def group(name: str, shape: str) -> str:
        return f"({shape})" if name == part else f"(?:{shape})"

    schemes = "mailto" if mailto else "https?|ftp|file|j(?:ar|mod|rt)"
    host = rf"\[[^\]@{stop}]*+\]|[^:@{stop}]*+"
    user = "" if part == "USERINFO" else rf"(?:[^@{stop}]*+@)*+"
    user = user or f"([^{stop}]*)@"
    authority = f"//{group('AUTHORITY', user + group('HOST', host) + r'(?::[0-9]*+)?')}"
    authority = f"{authority}(?=[{stop}]|\\z)"
    if part not in ("AUTHORITY", "USERINFO"):
        authority = f"(?:{authority}|(?!//))"
    query = r"\?" + group("QUERY", "[^#]*+")
    query = "" if mailto else query if part == "QUERY" else f"(?:{query})?+"
    path = group("PATH", "[^#]*+" if mailto else "[^?#]*+")
    reference = "#" + group("REF", ".*+")
    reference = reference if part == "REF" else f"(?:{reference})?+"
    scheme = group("PROTOCOL", f"(?i:{schemes})")
    file = group("FILE", path + query)
    return rf"(?s)\A(?:url:)?{scheme}:{authority}{file}{reference}(?<![ \t\r\n])\z"


#: Parts of URLs; any other one is NULL.
PARTS = frozenset({"HOST", "PATH", "QUERY", "REF", "PROTOCOL", "FILE", "AUTHORITY", "USERINFO"})

_KEY = re.compile(r"\w+", re.ASCII)


def parse_url(node: Node, part: str) -> Node:
    """Return a constant part of a URL, or NULL if the URL is invalid or lacks it."""
    if part not in PARTS:
        return Cast(NULL, "STRING")

    def any_url(url: Node) -> Node:
        return let(
            call("btrim", url, " \t\r\n"),
            lambda text: inline(
                "CASE WHEN rlike({s}, {usual}) THEN {found} WHEN rlike({s}, {mailto}) THEN {mail}"
                " END",
                s=text,
                usual=_shape(part, mailto=False),
                mailto=_shape(part, mailto=True),
                found=_found(text, part, mailto=False),
                mail=_found(text, part, mailto=True),
            ),
        )

    return let(
        node,
        lambda url: inline(
            "coalesce(nullif({usual}, ''), if({s} IS NULL, NULL, {rest}))",
            usual=_found(url, part, mailto=False),
            s=url,
            rest=rarely(url, any_url),
        ),
    )


def _found(text: Node, part: str, *, mailto: bool) -> Node:
    """Return a part, or the empty string for a URL that lacks it."""
    if mailto and part == "QUERY":
        return Cast(NULL, "STRING")
    found = call("regexp_extract", text, _shape(part, mailto=mailto), 1)
    return call("lower", found) if part == "PROTOCOL" else found


def is_key(key: str) -> bool:
    """Return whether a key of a query is the same in all languages of regular expressions."""
    return _KEY.fullmatch(key) is not None


def parse_url_key(node: Node, key: str) -> Node:
    """Return the value of a constant key in the query of a URL, or NULL."""
    shape = f"(?:&|^){key}=([^&]*)"
    return let(
        parse_url(node, "QUERY"),
        lambda query: let(
            call("regexp_extract", query, shape, 1),
            lambda found: inline(
                "if({found} <> '', {found}, if(rlike({query}, {shape}), '', NULL))",
                found=found,
                query=query,
                shape=shape,
            ),
        ),
    )
