"""The parts of dumps that are not SQL: data of COPY, commands of psql, sections of routines.

They become blanks before a script is tokenized, so that positions stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial

from schema_core.base.lazy import regex
from schema_core.base.text import Span
from schema_core.errors import ParseError


def without_data(text: str, engine: str) -> str:
    r"""Return the script with everything that is not SQL replaced by blanks; line breaks are kept.

    Raises:
        ParseError: with code `syntax` for COPY data that is not terminated.

    >>> without_data("COPY t FROM stdin;\n1\tit's\n\\.\nSELECT 1;", "postgres").split("\n")
    ['COPY t FROM stdin;', '      ', '  ', 'SELECT 1;']
    >>> without_data("/*!40101 SET a = 1 */; /* b */", "mysql")
    '         SET a = 1   ; /* b */'
    """
    for find in FINDERS.get(engine, ()):
        pieces, done = [], 0
        for span in find(text):
            pieces += [text[done : span.start], _LETTERS.sub(" ", text[span.start : span.stop])]
            done = span.stop
        text = "".join([*pieces, text[done:]])
    return text


_LETTERS = regex(r"[^\r\n]")


# --- dumps of PostgreSQL --------------------------------------------------------------------------

#: The start of a token that is not plain code, or the end of a statement.
_SPECIAL = regex(r"""['";\\]|--|/\*|(?<![\w$])\$(?:[^\W\d]\w*)?\$""")
_AFTER_E = regex(r"(?<![\w$])[eE]\Z")
_ESCAPED = regex(r"(?:[^'\\]++|\\.|'')*+'", re.DOTALL)
_COMMENT = regex(r"/\*|\*/")
_COPY = regex(r"COPY\b.*\bFROM\s+STDIN\b", re.IGNORECASE | re.DOTALL)
_LAST_LINE = regex(r"^\\\.[ \t]*\r?$", re.MULTILINE)
_CODE = regex(r"\S")


def _non_sql_in_postgres(text: str, *, escapes: bool = False) -> Iterator[Span]:
    """Find the data of COPY and the commands of psql.

    `escapes`: a backslash is an escape in every literal, not only with the prefix E.
    """
    position = 0
    begin: int | None = None  # the start of the statement
    while match := _SPECIAL.search(text, position):
        word, start = match.group(), match.start()
        if begin is None and (code := _CODE.search(text, position, start)):
            begin = code.start()
        if word == "\\":
            position = _end_of_line(text, start)
            yield Span(start, position)
        elif word == ";":
            position = match.end()
            if begin is not None and _COPY.match(text, begin, start):
                position = _end_of_line(text, position)
                last = _LAST_LINE.search(text, position)
                if last is None:
                    raise ParseError(
                        "unterminated COPY data",
                        hint="check that the dump is complete; its data ends with the line \\.",
                        span=Span(begin, position),
                        text=text,
                    )
                yield Span(position, last.end())
                position = last.end()
            begin = None
        else:
            position = _end_of(text, word, match, escapes)


def _end_of_line(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end


def _end_of(text: str, word: str, match: re.Match[str], escapes: bool) -> int:
    start = match.end()
    match word:
        case "--":
            return _end_of_line(text, start)
        case "/*":
            return _end_of_comment(text, start)
        case "'" if escapes or _AFTER_E.search(text, max(0, match.start() - 2), match.start()):
            end = _ESCAPED.match(text, start)
            return end.end() if end else len(text)
        case _:
            place = text.find(word, start)
            return len(text) if place < 0 else place + len(word)


def _end_of_comment(text: str, start: int) -> int:
    """Return the end of a comment, which may be nested."""
    depth = 1
    for match in _COMMENT.finditer(text, start):
        depth += 1 if match.group() == "/*" else -1
        if depth == 0:
            return match.end()
    return len(text)


# --- dumps of MySQL -------------------------------------------------------------------------------

_DELIMITER = regex(r"^[ \t]*DELIMITER[ \t]+(\S+)[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)


def routines(text: str) -> Iterator[Span]:
    """Find the sections between a DELIMITER statement and the one that restores the semicolon."""
    start: int | None = None
    for match in _DELIMITER.finditer(text):
        if match[1] != ";":
            start = match.start() if start is None else start
        else:
            yield Span(match.start() if start is None else start, match.end())
            start = None
    if start is not None:
        yield Span(start, len(text))


#: What can hide a version comment, and its start: ``/*!50001`` of MySQL, ``/*M!100100`` of MariaDB.
_HIDING = regex(r"""['"`#]|--(?=[\s]|\Z)|/\*(?:M?!(\d{5,6})?)?|\*/""")
_ESCAPED_DOUBLE = regex(r'(?:[^"\\]++|\\.|"")*+"', re.DOTALL)
#: MariaDB writes comments for its own client as those of this version, which no server has.
NO_VERSION = 999_999


def _version_comments(text: str) -> Iterator[Span]:
    """Find the starts and ends of comments that the server executes: ``/*!40101 SET a = 1 */``."""
    position, is_open = 0, False
    while match := _HIDING.search(text, position):
        word, start = match.group(), match.start()
        position = match.end()
        if word == "*/":
            if is_open:
                yield Span(start, position)
            is_open = False
        elif word.startswith("/*") and "!" in word and int(match[1] or 0) < NO_VERSION:
            yield Span(start, position)
            is_open = True
        elif word.startswith("/*"):
            end = text.find("*/", position)
            position = len(text) if end < 0 else end + len("*/")
        elif word in {"#", "--"}:
            position = _end_of_line(text, position)
        else:
            position = _end_of_quoted(text, word, position)


def _end_of_quoted(text: str, quote: str, start: int) -> int:
    if quote == "`":
        end = text.find(quote, start)
        return len(text) if end < 0 else end + 1
    match = (_ESCAPED if quote == "'" else _ESCAPED_DOUBLE).match(text, start)
    return match.end() if match else len(text)


#: Engine -> the functions that find what is not SQL, applied in order.
FINDERS: dict[str, tuple[Callable[[str], Iterator[Span]], ...]] = {
    "postgres": (_non_sql_in_postgres,),
    "redshift": (partial(_non_sql_in_postgres, escapes=True),),
    "mysql":    (routines, _version_comments),
}  # fmt: skip
