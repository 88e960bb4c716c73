r"""Parts of a dump that are not SQL: blanked before the text is split into tokens.

Everything keeps its offset, so spans still point into the original text. The rules are those of the
programs that load dumps: psql for PostgreSQL (``COPY ... FROM stdin`` is followed by data up to a
line ``\.``, a backslash begins a command of one line), mysql for MySQL (``DELIMITER ;;`` changes
what ends a statement, around triggers and procedures).
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from schema_core.errors import ParseError
from schema_core.text import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def without_data(text: str, engine: str) -> str:
    r"""Return the text with everything blanked that is not SQL; line breaks stay.

    Raises:
        ParseError: with code `syntax` for data of a COPY that does not end.

    >>> without_data("COPY t FROM stdin;\n1\tit's\n\\.\nSELECT 1;", "postgres").split("\n")
    ['COPY t FROM stdin;', '      ', '  ', 'SELECT 1;']
    """
    find = FINDERS.get(engine)
    if find is None:
        return text
    pieces, done = [], 0
    for span in find(text):
        pieces += [text[done : span.start], _LETTERS.sub(" ", text[span.start : span.stop])]
        done = span.stop
    return "".join([*pieces, text[done:]]) if pieces else text


_LETTERS = re.compile(r"[^\r\n]")


# --- PostgreSQL ----------------------------------------------------------------------------------

#: Where something begins that is not plain code, or a statement ends.
_SPECIAL = re.compile(r"""['";\\]|--|/\*|(?<![\w$])\$(?:[^\W\d]\w*)?\$""")
_AFTER_E = re.compile(r"(?<![\w$])[eE]\Z")
_ESCAPED = re.compile(r"(?:[^'\\]++|\\.|'')*+'", re.DOTALL)
_COMMENT = re.compile(r"/\*|\*/")
_COPY = re.compile(r"COPY\b.*\bFROM\s+STDIN\b", re.IGNORECASE | re.DOTALL)
_LAST_LINE = re.compile(r"^\\\.[ \t]*\r?$", re.MULTILINE)
_CODE = re.compile(r"\S")


def _not_for_postgres(text: str, *, escapes: bool = False) -> Iterator[Span]:
    """Find the data of COPY and the commands of psql.

    `escapes`: a backslash escapes in every literal, not only in those that begin with E.
    """
    position = 0
    begin: int | None = None  # of the statement
    while found := _SPECIAL.search(text, position):
        word, start = found.group(), found.start()
        if begin is None and (code := _CODE.search(text, position, start)):
            begin = code.start()
        if word == "\\":
            position = _end_of_line(text, start)
            yield Span(start, position)
        elif word == ";":
            position = found.end()
            if begin is not None and _COPY.match(text, begin, start):
                position = _end_of_line(text, position)
                yield (data := _data(text, begin, position))
                position = data.stop
            begin = None
        else:
            position = _end_of(text, word, found, escapes)


def _end_of_line(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end


def _data(text: str, begin: int, start: int) -> Span:
    """The lines after a COPY, with the one that ends them."""
    last = _LAST_LINE.search(text, start)
    if last is None:
        raise ParseError(
            "the data of COPY does not end",
            hint="the data ends with a line that holds only \\.; check that the dump is complete",
            span=Span(begin, start),
            text=text,
        )
    return Span(start, last.end())


def _end_of(text: str, word: str, found: re.Match[str], escapes: bool) -> int:
    """The end of a literal, a quoted name or a comment; of the text where it is not closed."""
    start = found.end()
    match word:
        case "--":
            return _end_of_line(text, start)
        case "/*":
            return _end_of_comment(text, start)
        case "'" if escapes or _AFTER_E.search(text, max(0, found.start() - 2), found.start()):
            end = _ESCAPED.match(text, start)
            return end.end() if end else len(text)
        case _:
            place = text.find(word, start)
            return len(text) if place < 0 else place + len(word)


def _end_of_comment(text: str, start: int) -> int:
    """The end of a comment, which may hold comments."""
    depth = 1
    for found in _COMMENT.finditer(text, start):
        depth += 1 if found.group() == "/*" else -1
        if depth == 0:
            return found.end()
    return len(text)


# --- MySQL ---------------------------------------------------------------------------------------

_DELIMITER = re.compile(r"^[ \t]*DELIMITER[ \t]+(\S+)[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)


def _not_for_mysql(text: str) -> Iterator[Span]:
    """Find the text from a DELIMITER statement to the one that restores the semicolon."""
    start: int | None = None
    for found in _DELIMITER.finditer(text):
        if found[1] != ";":
            start = found.start() if start is None else start
        else:
            yield Span(found.start() if start is None else start, found.end())
            start = None
    if start is not None:
        yield Span(start, len(text))


#: Engine -> what finds the spans that are not SQL in its dumps.
FINDERS: dict[str, Callable[[str], Iterator[Span]]] = {
    "postgres": _not_for_postgres,
    "redshift": partial(_not_for_postgres, escapes=True),
    "mysql":    _not_for_mysql,
}  # fmt: skip
