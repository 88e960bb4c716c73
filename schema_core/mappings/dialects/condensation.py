"""Leave the rows out of a script of any length, so that only its definitions are in memory.

The script is read in windows. Statements of rows and data of COPY of which the parser makes
nothing are left out; the middle of a long one is left out before its end is read.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING

from schema_core.base.lazy import dataclass, regex
from schema_core.base.text import MAX_DEPTH, MAX_TEXT, PartialText
from schema_core.mappings.dialects.dumps import (
    DEFINITION,
    LAST_LINE,
    TABLE,
    Section,
    SectionKind,
    Splitter,
    find_stray_quote,
    hides_table,
    is_rows,
    next_statement,
    with_version_comments,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@dataclass(frozen=True, slots=True)
class WindowSizes:
    """Sizes in characters.

    `lookahead` characters after rows can change where they end, `definition` characters after other
    statements, as long as a definition can be. A statement of more than `longest` characters is
    read in pieces; a literal of more than `literal` characters counts as one without an end.
    """

    window: int = 4 * MAX_TEXT
    lookahead: int = 10_000
    definition: int = MAX_TEXT
    longest: int = 2 * MAX_TEXT
    literal: int = 16 * MAX_TEXT


#: A part of a definition among rows, which is kept for the report of it.
_EXCERPT = regex(r"[^'\"`\n)]{1,300}")
#: A literal that ends within a word, as `find_stray_quote` finds it.
_STRAY_QUOTE = " ''x"


def condense(chunks: Iterable[str], engine: str, sizes: WindowSizes | None = None) -> PartialText:
    r"""Return a script without rows, with the positions of the whole script.

    >>> condense(["CREATE TABLE t (a int);\nINSERT INTO t VALUES (1);\nDROP TABLE u"], "mysql")
    'CREATE TABLE t (a int);\n\nDROP TABLE u'
    """
    condenser = Condenser(engine, iter(chunks), sizes or WindowSizes())
    condenser.read()
    return PartialText("".join(condenser.pieces), condenser.parts)


@dataclass(slots=True)
class Condenser:
    """Reads a script in windows, and collects the `pieces` that are kept, with their `parts`.

    `line` and `column` are the position of the offset `place` of the window. A window may begin
    with `head` characters that stand for the start of a statement at the position `begun`, whose
    middle was left out.
    """

    engine: str
    chunks: Iterator[str]
    sizes: WindowSizes
    pieces: list[str] = field(default_factory=list)
    parts: list[tuple[int, int, int]] = field(default_factory=lambda: [(0, 1, 1)])
    window: str = ""
    at_end: bool = False
    place: int = 0
    line: int = 1
    column: int = 1
    head: int = 0
    begun: tuple[int, int] = (1, 1)
    delimiter: str = ";"
    _after_window: str = ""
    _length: int = 0
    _position: tuple[int, int] | None = (1, 1)  # after the last piece
    _table: int = 0  # what may be a table in INSERTs of values
    _is_ended: bool = False  # whether the last piece is a line such as GO
    _seeks_definition: bool = False

    def read(self) -> None:
        """Read all windows."""
        size = self.sizes.window
        while self.window or not self.at_end:
            self._fill(size)
            before = len(self.window)
            if self._seeks_definition:
                self._seek_definition()
            else:
                self._read_window()
            size = self.sizes.window if len(self.window) < before else 2 * before

    def _fill(self, size: int) -> None:
        """Extend the window; it ends after a comma or a line, and so never between two quotes."""
        pieces, length = [self.window, self._after_window], len(self.window)
        length += len(self._after_window)
        while length < size and not self.at_end:
            chunk = next(self.chunks, "")
            self.at_end = not chunk
            pieces.append(chunk)
            length += len(chunk)
        text, begin = "".join(pieces), len(self.window)
        stop = max(text.rfind(",", begin), text.rfind("\n", begin)) + 1
        stop = len(text) if self.at_end or not stop else stop
        self.window, self._after_window = text[:stop], text[stop:]

    def _cut(self, stop: int) -> None:
        """Remove the start of the window."""
        self._locate(max(stop, self.head))
        self.window, self.place = self.window[stop:], self.place - stop
        self.head = max(0, self.head - stop)

    def _locate(self, offset: int) -> tuple[int, int]:
        """Return the line and column of an offset of the window that does not precede `place`."""
        lines = self.window.count("\n", self.place, offset)
        if lines:
            self.line += lines
            self.column = offset - self.window.rfind("\n", self.place, offset)
        else:
            self.column += offset - self.place
        self.place = offset
        return self.line, self.column

    def _keep(self, start: int, stop: int) -> None:
        if start < self.head < stop:
            self._keep(start, self.head)
            start = self.head
        if start >= stop:
            return
        is_head = start < self.head
        position = self.begun if is_head else self._locate(start)
        if position != self._position:
            self.parts.append((self._length, *position))
        piece = self.window[start:stop]
        self.pieces.append(piece)
        self._length += len(piece)
        self._position = None if is_head else self._locate(stop)
        self._is_ended = False

    # --- sections ---------------------------------------------------------------------------------

    def _read_window(self) -> None:
        """Keep or omit the sections of the window that are certain, and remove them."""
        self._table = 0
        source = with_version_comments(self.window, self.engine)
        splitter = Splitter(source, self.engine, delimiter=self.delimiter)
        done = self._omit_inserts(0, splitter)
        while (section := splitter.next()) is not None:
            if not self.at_end and self._is_uncertain(source, section, splitter):
                if not done and len(source) > self.sizes.longest:
                    self._read_long(source, section, splitter)
                    return
                break
            if section.problem is not None:
                splitter.resume(next_statement(source, section) or section.stop)
            self.delimiter = splitter.delimiter
            if is_rows(source, section) and not _has_report(source, section, splitter):
                self._omit(done, section, splitter.position)
            else:
                self._keep(done, splitter.position)
            done = splitter.position
            if splitter.data is not None:
                self._cut(done)
                self._skip_data()
                return
            done = self._omit_inserts(done, splitter)
        if section is None and self.at_end:
            self._keep(done, len(source))
            done = len(source)
        self._cut(done)

    def _is_uncertain(self, source: str, section: Section, splitter: Splitter) -> bool:
        """Return whether what follows the window can change a section."""
        is_short = section.kind is SectionKind.COMMAND or is_rows(source, section)
        reach = self.sizes.lookahead if is_short else self.sizes.definition
        return section.problem is not None or splitter.position + reach > len(source)

    def _omit_inserts(self, start: int, splitter: Splitter) -> int:
        """Leave out INSERTs of values before what may be a table; return where they end."""
        while start >= self._table:
            stop, table = splitter.end_of_rows()
            self._table = table or 0
            if stop <= start or table is not None:
                break
            begin = stop - len(self.window[start:stop].lstrip())
            self._omit(start, Section(SectionKind.STATEMENT, begin, stop), stop)
            splitter.resume(stop)
            start = stop
        return start

    def _omit(self, start: int, section: Section, stop: int) -> None:
        """Leave rows out; comments before them, and a line such as GO after them, are kept once."""
        if self.window[start : section.start].strip():
            self._keep(start, section.start)
        elif (self.pieces or [""])[-1][-1:] != "\n":
            is_ended = self._is_ended
            self._keep(start, self.window.rfind("\n", start, section.start) + 1)
            self._is_ended = is_ended
        is_delimiter = self.window[section.stop : stop].strip() == self.delimiter
        if not is_delimiter and not self._is_ended and stop > section.stop:
            self._keep(section.stop, stop)
            self._is_ended = True

    # --- long sections ----------------------------------------------------------------------------

    def _read_long(self, source: str, section: Section, splitter: Splitter) -> None:
        """Leave out the middle of rows; of another statement, or of a literal, seek the next one.

        A definition within the rows, and a quote that may hide others, are kept for their report.
        While there is a CREATE TABLE, more is read: the rows may have no end.
        """
        middle = replace(section, stop=splitter.reached, problem=None)
        is_literal = middle.stop < len(source) // 2
        is_hiding, stray = hides_table(source, middle), find_stray_quote(source, middle)
        is_broken = is_hiding and (stray is not None or self._has_stray())
        is_longest = len(source) > self.sizes.literal
        if not is_rows(source, section) or is_broken or (is_literal and is_longest):
            self._skip_to_definition(source, section)
        elif not is_literal and (is_longest or not is_hiding):
            self._skip_middle(source, middle, splitter, stray)

    def _has_stray(self) -> bool:
        return _STRAY_QUOTE in self.window[: self.head]

    def _skip_middle(
        self, source: str, middle: Section, splitter: Splitter, stray: int | None
    ) -> None:
        depth = min(max(splitter.depth, 0), MAX_DEPTH)
        if self.head:
            head = self.window[: self.head].rstrip("(")
        else:
            self._keep(0, middle.start)
            self.begun = self._locate(middle.start)
            head = self.window[middle.start : splitter.end_of_head(middle)]
        definition = splitter.find_definition(middle)
        if definition is None and (line := TABLE.search(source, middle.start, middle.stop)):
            definition = source.upper().index("TABLE", line.start())
        if definition is not None and definition >= self.head:
            excerpt = source[definition : _end_of_excerpt(source, definition)]
            head += f" {excerpt}{')' * excerpt.count('(')} "
        if stray is not None and not self._has_stray():
            head += _STRAY_QUOTE
        head += "(" * depth
        self._cut(middle.stop)
        self.window, self.head, self.place = head + self.window, len(head), len(head)

    def _skip_to_definition(self, source: str, section: Section) -> None:
        """Keep the start of a section without an end, up to the next line with a definition."""
        start = next_statement(source, section)
        self._keep(0, min(start or len(source), self.sizes.definition + 1))
        self.pieces.append("\n")
        self._length += 1
        self._position = None
        self._seeks_definition = start is None
        self._cut(start or len(source) - 1)

    def _seek_definition(self) -> None:
        match = DEFINITION.search(self.window, 1)
        self._seeks_definition = match is None
        self._cut(match.start() if match else len(self.window) - (not self.at_end))

    def _skip_data(self) -> None:
        """Leave out the data of COPY, except for lines that start a CREATE TABLE."""
        self._fill(self.sizes.window)
        start = self.window.find("\n") + 1 or len(self.window)
        self._keep(0, start)
        while True:
            last = LAST_LINE.search(self.window, start)
            is_last = last is not None and (self.at_end or last.end() < len(self.window))
            stop = last.start() if last and is_last else self.window.rfind("\n") + 1
            stop = len(self.window) if self.at_end and not is_last else max(start, stop)
            for match in TABLE.finditer(self.window, start, stop):
                self._keep(match.start(), self.window.find("\n", match.start(), stop) + 1 or stop)
            if last is not None and is_last:
                self._keep(stop, last.end())
                self._cut(last.end())
                return
            self._cut(stop)
            if self.at_end:
                return
            start = 0
            self._fill(len(self.window) + self.sizes.window)


def _end_of_excerpt(source: str, start: int) -> int:
    match = _EXCERPT.match(source, start)
    return match.end() if match else start


def _has_report(source: str, section: Section, splitter: Splitter) -> bool:
    """Return whether the parser reports rows: they may hide a definition, or have no end."""
    return (
        section.problem is not None
        or hides_table(source, section)
        or splitter.find_definition(section) is not None
    )
