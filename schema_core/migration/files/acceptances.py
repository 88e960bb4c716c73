"""Comments of migration files that accept findings: ``-- lint: accept KIND, KIND: REASON``.

`lint` reads those of a whole file, too, and `upgrade` those directly before a statement.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from schema_core.base.lazy import regex

#: A comment for `lint`; its content is the first group.
COMMENT: Final = regex(r"[ \t]*--[ \t]*lint:[ \t]*(.*)")
#: The content of a comment that accepts findings: their kinds, and the reason.
ACCEPT: Final = regex(r"accept[ \t]+([a-z][a-z, \t-]*):[ \t]*(\S.*)")


def kinds_accepted_before(text: str, start: int) -> frozenset[str]:
    r"""Return the kinds of findings that the comments before a statement accept.

    Args:
        text: The script.
        start: Where the statement starts.

    >>> text = "-- lint: accept syntax-changed, path-changed: moved\n-- note\n\nALTER TABLE t ..."
    >>> sorted(kinds_accepted_before(text, text.index("ALTER")))
    ['path-changed', 'syntax-changed']
    """
    return frozenset(kind for line in _comments_before(text, start) for kind in _kinds_of(line))


def _comments_before(text: str, start: int) -> Iterator[str]:
    for line in reversed(text[:start].splitlines()):
        if line.strip() and not line.lstrip().startswith("--"):
            return
        yield line


def _kinds_of(line: str) -> Iterator[str]:
    comment = COMMENT.fullmatch(line)
    match = None if comment is None else ACCEPT.fullmatch(comment[1])
    if match is not None:
        yield from map(str.strip, match[1].split(","))
