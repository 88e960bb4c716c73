"""Comments of migration files that accept findings: ``-- lint: accept KIND, KIND: REASON``.

Before the first section of a file they accept findings of the whole file, else of the statement
after them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
    return kinds_accepted_in(_comments_before(text, start))


def kinds_accepted_in(lines: Iterable[str]) -> frozenset[str]:
    """Return the kinds of findings that comments accept."""
    return frozenset(kind for line in lines for kind in _kinds_of(line))


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
