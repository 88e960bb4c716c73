r"""Split scripts and dumps into statements, data of COPY, commands of clients, and routines.

A section that is not closed ends with the script; its reader resumes at the next line that starts a
statement (`next_statement`), so that a single quote does not hide the rest of a dump.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import field, replace
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING

from schema_core.base.lazy import dataclass, regex
from schema_core.base.text import PartialText, Span
from schema_core.mappings.dialects.engines import ENGINES
from schema_core.mappings.dialects.types import STRUCTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class SectionKind(Enum):
    """What a section of a script is."""

    STATEMENT = "statement"
    ROUTINE = "routine"
    COMMAND = "command"  # of a client, such as psql
    DATA = "data"  # of COPY


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a script; `problem` is why it has no end, at the offset `begin`."""

    kind: SectionKind
    start: int
    stop: int
    problem: str | None = None
    begin: int = 0

    @property
    def span(self) -> Span:
        return Span(self.start, self.stop)


@dataclass(frozen=True, slots=True)
class Lexis:
    """How an engine writes literals, comments, and the ends of statements.

    `escaping` are quotes within which a backslash escapes. `commands` matches a command of a client
    at the start of a statement, `harmless` those that cannot change a table. `ends` matches lines
    that end a statement, `begins` lines that start the next one without a semicolon.
    """

    quotes: str = "'\""
    escaping: str = ""
    comments: tuple[str, ...] = ("--",)
    nested_comments: bool = False
    dollars: bool = False
    triple_quotes: bool = False
    q_quotes: bool = False
    commands: re.Pattern[str] | None = None
    harmless: re.Pattern[str] | None = None
    ends: str | None = None
    begins: str | None = None
    blocks: bool = False  # BEGIN ... END outside of routines
    whole_batches: bool = False  # routines and views end with their batch


#: Lines of SQL*Plus and SQLcl; a command continues after a hyphen at the end of a line.
_SQL_PLUS = (
    r"(?:@|(?:SET|PROMPT|PRO|REM|REMARK|SPOOL|WHENEVER|DEFINE|UNDEFINE|ACCEPT|EXIT|QUIT|CONN"
    r"|CONNECT|CLEAR|COLUMN|COL|TTITLE|BTITLE|SHOW|EXEC|EXECUTE|VARIABLE|VAR|PRINT|HOST|START|PAUSE|TIMING"
    r"|STORE|BREAK|COMPUTE|DISCONNECT|HELP|LIST|RUN|STARTUP|SHUTDOWN)\b)"
    r"(?:[^\n]*-[ \t]*\r?\n)*[^\n]*"
)
#: First words of statements that T-SQL separates by line breaks only.
_TSQL_WORDS = (
    r"(?:CREATE|DROP(?!\s+(?:COLUMN|CONSTRAINT|PERIOD)\b)|ALTER(?!\s+COLUMN\b)|INSERT|UPDATE|DELETE"
    r"|MERGE|TRUNCATE|EXECUTE|EXEC|USE|PRINT|DECLARE|GRANT|REVOKE|DENY|SELECT|IF|BEGIN|END|ELSE|WHILE"
    r"|RAISERROR|THROW|RETURN|COMMIT|ROLLBACK|DBCC|BULK|BACKUP|RESTORE|WAITFOR|GO"
    r"|SET(?=\s+\w+\s+(?:ON|OFF)\b|\s+@|\s+(?:TRANSACTION|DATEFORMAT|LANGUAGE|LOCK_TIMEOUT)\b))\b"
)

_SPARK = Lexis(quotes="'\"`", escaping="'\"")
_POSTGRES = Lexis(
    nested_comments=True,
    dollars=True,
    commands=regex(r"\\[^\n]*"),
    harmless=regex(r"\\(?!i\b|ir\b|include|gexec|g\b)"),
)
_DOT_COMMANDS = regex(r"\.[a-zA-Z][^\n]*")
_HARMLESS_DOTS = regex(r"\.(?!read|open|restore|import)")

#: Engine -> how its scripts are written.
LEXES: Mapping[str, Lexis] = {
    "spark":      _SPARK,
    "hive":       _SPARK,
    "databricks": replace(_SPARK, blocks=True),
    "trino":      Lexis(),
    "postgres":   _POSTGRES,
    "redshift":   replace(_POSTGRES, escaping="'"),
    "mysql":      Lexis(quotes="'\"`", escaping="'\"", comments=("--", "#")),
    "sqlite":     Lexis(
        quotes="'\"`[", commands=_DOT_COMMANDS, harmless=_HARMLESS_DOTS,
    ),
    "duckdb":     Lexis(
        nested_comments=True, dollars=True,
        commands=_DOT_COMMANDS, harmless=_HARMLESS_DOTS,
    ),
    "snowflake":  Lexis(escaping="'", comments=("--", "//"), dollars=True, blocks=True),
    "bigquery":   Lexis(
        quotes="'\"`", escaping="'\"`", comments=("--", "#"), triple_quotes=True, blocks=True
    ),
    "clickhouse": Lexis(
        quotes="'\"`", escaping="'\"`", comments=("--", "#!", "# "), nested_comments=True,
        dollars=True,
    ),
    "oracle":     Lexis(
        q_quotes=True, blocks=True, ends=r"^[ \t]*/[ \t]*\r?$",
        commands=regex(_SQL_PLUS, re.IGNORECASE),
        harmless=regex(r"(?!@|EXEC|START|RUN)", re.IGNORECASE),
    ),
    "tsql":       Lexis(
        quotes="'\"[", nested_comments=True, ends=r"^[ \t]*GO(?:[ \t]+\d+)?[ \t]*;?[ \t]*\r?$",
        begins=rf"^[ \t]*(?={_TSQL_WORDS})", whole_batches=True,
        commands=regex(r":[a-zA-Z][^\n]*"),
        harmless=regex(r":(?!r\b)"),
    ),
}  # fmt: skip

#: The start of a routine, up to its kind.
_ROUTINE = regex(
    r"CREATE\s+(?:OR\s+(?:REPLACE|ALTER)\s+)?(?:(?:DEFINER\s*=\s*[^\s@]+(?:\s*@\s*\S+)?"
    r"|SQL\s+SECURITY\s+\w+|AGGREGATE|TEMPORARY|TEMP|CONSTRAINT|EVENT|EDITIONABLE|NONEDITIONABLE"
    r"|SECURE)\s+)*(?:PROCEDURE|PROC|FUNCTION|TRIGGER|EVENT|PACKAGE|TYPE\s+BODY)\b",
    re.IGNORECASE,
)
#: The redefinition of a routine of T-SQL; other engines change its properties by ALTER.
_ALTERED_ROUTINE = regex(r"ALTER\s+(?:PROCEDURE|PROC|FUNCTION|TRIGGER)\b", re.IGNORECASE)
_VIEW = regex(r"(?:CREATE|ALTER)\s+(?:OR\s+ALTER\s+)?VIEW\b", re.IGNORECASE)
#: A routine of Oracle that ends with a semicolon.
_EXTERNAL = regex(
    r"CREATE\s[^;'\"]*?\b(?:PROCEDURE|FUNCTION)\b[^;'\"]*?\b(?:(?:AS|IS)\s+(?:EXTERNAL\b"
    r"|LANGUAGE\s+(?:JAVA|JAVASCRIPT|C)\b)|(?:AGGREGATE|PIPELINED)\s+USING\b)",
    re.IGNORECASE,
)
#: A schema, whose elements need no semicolons, and a line that starts one.
_SCHEMA = regex(r"CREATE\s+SCHEMA\b", re.IGNORECASE)
_ELEMENT = regex(
    r"^[ \t]*(?:CREATE\s+(?:TABLE|VIEW)|GRANT|REVOKE|DENY)\b", re.IGNORECASE | re.MULTILINE
)
_RULE = regex(r"CREATE\s+(?:OR\s+REPLACE\s+)?RULE\b", re.IGNORECASE)
_BLOCK = regex(r"DECLARE\b|BEGIN\b(?!\s*(?:;|TRAN|WORK|NAME))|<<", re.IGNORECASE)
_COPY = regex(r"COPY\b.*\bFROM\s+STDIN\b", re.IGNORECASE | re.DOTALL)
#: The line that ends the data of COPY.
LAST_LINE = regex(r"^\\\.[ \t]*\r?$", re.MULTILINE)
_DELIMITER = regex(r"DELIMITER[ \t]+(\S+)[^\n]*", re.IGNORECASE)

#: A line that starts a definition; one in the middle of a section may belong to another statement.
DEFINITION = regex(
    r"^[ \t]*(?:CREATE|ALTER|COMMENT[ \t]+ON|DROP|INSERT|USE|SET|COPY|GRANT|DELIMITER)\b[^\n]*",
    re.IGNORECASE | re.MULTILINE,
)
#: The same after a routine without an end, whose own statements are indented.
_UNINDENTED = regex(
    r"^(?:CREATE|ALTER|COMMENT[ \t]+ON|DROP|INSERT|USE|SET|COPY|GRANT|DELIMITER)\b", re.MULTILINE
)
#: A line that starts a CREATE TABLE.
TABLE = regex(r"^[ \t]*CREATE\b(?:[ \t]+\w+){0,5}[ \t]+TABLE\b", re.IGNORECASE | re.MULTILINE)
_TABLE_AFTER_ROWS = regex(r"\)[ \t]*CREATE\b(?:[ \t]+\w+){0,5}[ \t]+TABLE\b", re.IGNORECASE)


def next_statement(text: str, section: Section) -> int | None:
    """Return where a line within a section, after its first one, starts a statement."""
    first_line_end = text.find("\n", section.start, section.stop)
    if first_line_end < 0:
        return None
    pattern = _UNINDENTED if section.kind is SectionKind.ROUTINE else DEFINITION
    match = pattern.search(text, first_line_end + 1, section.stop)
    return match.start() if match else None


def hides_table(text: str, section: Section) -> bool:
    """Return whether a line of data, or a later line of a statement, starts a CREATE TABLE."""
    start = section.start
    if section.kind is not SectionKind.DATA:
        start = _end_of_line(text, start) + 1
    return (
        TABLE.search(text, start, section.stop) is not None
        or _TABLE_AFTER_ROWS.search(text, section.start, section.stop) is not None
    )


def is_rows(text: str, section: Section) -> bool:
    """Return whether a statement adds or changes rows; such statements are not tokenized."""
    return section.kind is SectionKind.STATEMENT and _ROWS.match(text, section.start) is not None


_ROWS = regex(r"(?:INSERT|REPLACE\s+INTO|UPDATE|DELETE)\b", re.IGNORECASE)


def find_stray_quote(text: str, section: Section) -> int | None:
    """Return where a literal ends within a word, as in `'it's'`."""
    for literal in _LITERAL.finditer(text, section.start, section.stop):
        following = text[literal.end() : literal.end() + 1]
        if following.isalnum():
            return literal.end() - 1
    return None


_LITERAL = regex(r"'(?:[^'\\]++|\\.|'')*+'", re.DOTALL)

_NAME = r"(?:[^\W\d][\w$#]*+|\"[^\"]+\"|`[^`]+`|\[[^\]]+\])"
#: A table whose CREATE is damaged: `TABLE t (`, but not as in `INSERT INTO TABLE t (a)`.
_TABLE_WITH_COLUMNS = regex(
    rf"(?<!\w)(?<!INTO\s)(?<!OVERWRITE\s)TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?"
    rf"{_NAME}(?:\.{_NAME})*+\s*\(",
    re.IGNORECASE,
)
#: An INSERT of values, which contain neither queries nor aliases.
_VALUES = regex(r"(?:INSERT|REPLACE)\b[^(;']*(?:\([^()']*\)[^(;']*)?\bVALUES?\b", re.IGNORECASE)


@dataclass(slots=True)
class Splitter:
    """Finds the sections of a script one after another; `position` is where the next one begins.

    `data` is the start of the COPY whose data follows. `reached` and `depth` are where the last
    statement that ended with the text was outside of literals last, and in how many brackets.
    """

    text: str
    engine: str
    position: int = 0
    delimiter: str = ";"
    lexis: Lexis = field(default_factory=Lexis)
    data: int | None = None
    reached: int = 0
    depth: int = 0
    _lines: list[int] | None = None  # where lines that end a batch start
    _tables: list[int] = field(default_factory=list)
    _definitions: list[int] | None = None  # tables and columns, also within literals

    def __post_init__(self) -> None:
        """Look up the engine."""
        self.lexis = LEXES[self.engine]
        if self.text.startswith("\ufeff"):
            self.position = 1

    def next(self) -> Section | None:
        """Return the next section, or None at the end of the script."""
        if self.data is not None:
            return self._copy_data(self.data)
        start = self._skip_blank()
        if isinstance(start, Section) or start is None:
            return start
        text, lexis = self.text, self.lexis
        if self.engine == "mysql" and (match := _DELIMITER.match(text, start)):
            self.delimiter, self.position = match[1], match.end()
            return Section(SectionKind.COMMAND, start, match.end())
        if lexis.commands is not None and (match := lexis.commands.match(text, start)):
            self.position = match.end()
            return Section(SectionKind.COMMAND, start, match.end())
        return self._statement(start)

    def resume(self, position: int) -> None:
        """Continue within a section that was read already."""
        self.position, self.data = position, None

    def is_harmless(self, section: Section) -> bool:
        """Return whether a command of a client cannot change a table."""
        harmless = self.lexis.harmless
        return harmless is None or harmless.match(self.text, section.start) is not None

    def find_definition(self, section: Section) -> int | None:
        """Return where the rows of a statement contain a table whose CREATE is damaged.

        Its columns follow its name, or are names followed by a type within rows of values.
        """
        text, position, definitions = self.text, section.start, self._find_definitions()
        index = bisect_left(definitions, section.start)
        while index < len(definitions) and definitions[index] < section.stop:
            place = definitions[index]
            index += 1
            if text[place] != "(" or _VALUES.match(text, section.start, section.stop):
                position = self._skip_literals(position, place)
                before = max(section.start, place - MAX_FIELDS)
                if position <= place and not _FIELDS.search(text, before, place + 1):
                    return place
        return None

    def _find_definitions(self) -> list[int]:
        if self._definitions is None:
            text = self.text
            tables = [
                match.start()
                for word in ("TABLE", "table", "Table")  # faster than a search that ignores case
                for match in re.finditer(word, text)
                if _TABLE_WITH_COLUMNS.match(text, match.start())
            ]
            columns = [match.start() for match in _first_column(self.engine).finditer(text)]
            self._definitions = sorted(tables + columns)
        return self._definitions

    def end_of_head(self, section: Section) -> int:
        """Return where the values of a statement of rows begin, or its first literal or bracket."""
        match = _VALUES.match(self.text, section.start, section.stop)
        if match is not None:
            return match.end()
        first = _special(self.engine, self.delimiter).search(self.text, section.start, section.stop)
        return section.stop if first is None else first.start()

    def end_of_rows(self) -> tuple[int, int | None]:
        """Return where INSERTs of values end that begin here, and what may be a table in them."""
        match = _inserts(self.engine, self.delimiter).match(self.text, self.position)
        stop = match.end() if match else self.position
        definitions = self._find_definitions()
        index = bisect_left(definitions, self.position)
        place = definitions[index] if index < len(definitions) else stop
        if place >= stop:
            hiding = TABLE.search(self.text, self.position, stop)
            return stop, hiding.start() if hiding else None
        return stop, place

    def _skip_literals(self, position: int, stop: int) -> int:
        """Return the end of the last literal, quoted name or comment that starts before `stop`."""
        pattern = _special(self.engine, self.delimiter)
        while match := pattern.search(self.text, position, stop):
            position = max(match.end(), match.start() + 1)
            if match.lastgroup is None and match.group() not in {"(", ")", self.delimiter}:
                end = self._end_of(match.group(), match, is_run=True)
                position = end or len(self.text)
        return position

    def _skip_blank(self) -> int | Section | None:
        """Skip blanks, comments and the ends of statements; return the start of the next one."""
        pattern = _blank(self.engine)
        while True:
            match = pattern.match(self.text, self.position)
            start = match.end() if match else self.position
            if start >= len(self.text):
                return None
            if self.text.startswith(self.delimiter, start):
                self.position = start + len(self.delimiter)
                continue
            if not self.text.startswith("/*", start):
                return start
            end = self._end_of_comment(start + 2)
            if end is None:
                self.position = len(self.text)
                return self._unclosed(start, start)
            self.position = end

    def _unclosed(self, start: int, begin: int) -> Section:
        problem = "unterminated literal, quoted name or comment"
        return Section(SectionKind.STATEMENT, start, len(self.text), problem, begin)

    def _statement(self, start: int) -> Section:
        text, lexis = self.text, self.lexis
        kind = self._kind(start)
        is_view = _VIEW.match(text, start) is not None
        is_batch = self._ends_with_line(start, kind, is_view)
        block = _Block(self.engine)
        brackets, position, begin, word = 0, start, start, ""
        pattern = _special(self.engine, self.delimiter)
        tuples = _tuples(self.engine, self.delimiter)
        while match := pattern.search(text, position):
            word, begin = match.group(), match.start()
            if kind is SectionKind.ROUTINE and brackets <= 0:
                block.add(text, position, begin)
            position = match.end()
            if match.lastgroup == "line":
                return self._finish(kind, start, begin, position)
            if match.lastgroup == "begins":
                if not is_batch and self._ends_before(start, begin, kind, brackets):
                    return self._finish(kind, start, begin, begin)
                position = max(position, begin + 1)
            elif word == self.delimiter:
                is_inner = brackets > 0 and _RULE.match(text, start) is not None
                if (
                    not is_inner
                    and not is_batch
                    and (
                        kind is not SectionKind.ROUTINE
                        or self.delimiter != ";"
                        or block.is_closed(text, position)
                    )
                ):
                    return self._finish(kind, start, begin, position)
            elif word == "(":
                run = tuples.match(text, begin) if kind is SectionKind.STATEMENT else None
                if run is None:
                    brackets += 1
                else:
                    position = run.end()
            elif word == ")":
                brackets -= 1
            else:
                end = self._end_of(word, match, is_run=kind is SectionKind.STATEMENT)
                if end is None:
                    self.position = len(text)
                    self.reached, self.depth = begin, brackets
                    return self._unclosed(start, begin)
                position = end
        is_in_comment = position == len(text) and word in lexis.comments
        self.reached, self.depth = begin if is_in_comment else position, brackets
        section = self._finish(kind, start, len(text), len(text))
        if kind is SectionKind.ROUTINE and not is_batch:
            block.add(text, position, len(text))
            is_open = not block.is_closed(text, len(text))
            if is_open or (self.delimiter != ";" and hides_table(text, section)):
                return replace(section, problem="unterminated routine", begin=start)
        return section

    def _ends_before(self, start: int, begin: int, kind: SectionKind, brackets: int) -> bool:
        """Return whether a line at `begin` starts the next section.

        A CREATE TABLE does in every engine if the statement before it is a CREATE TABLE, too, or
        has an open bracket. If that is malformed, what follows it is not read again for each table.
        """
        text = self.text
        if begin == start or (_SCHEMA.match(text, start) and _ELEMENT.match(text, begin)):
            return False
        if brackets <= 0 and self.lexis.begins is not None:
            return True
        is_table = kind is SectionKind.STATEMENT and TABLE.match(text, begin) is not None
        return is_table and (brackets > 0 or TABLE.match(text, start) is not None)

    def _kind(self, start: int) -> SectionKind:
        is_routine = (
            (_ROUTINE.match(self.text, start) and not self._is_external(start))
            or (self.lexis.blocks and _BLOCK.match(self.text, start))
            or (self.lexis.whole_batches and _ALTERED_ROUTINE.match(self.text, start))
        )
        return SectionKind.ROUTINE if is_routine else SectionKind.STATEMENT

    def _is_external(self, start: int) -> bool:
        """Return whether a routine of Oracle is implemented elsewhere, and has no block."""
        return self.engine == "oracle" and _EXTERNAL.match(self.text, start) is not None

    def _ends_with_line(self, start: int, kind: SectionKind, is_view: bool) -> bool:
        """Return whether a section ends with a line such as GO, or with the script.

        A unit of PL/SQL does not contain CREATE TABLE: before it, the line is missing.
        """
        if kind is not SectionKind.ROUTINE and not is_view:
            return False
        if self._lines is None:
            pattern = re.compile(self.lexis.ends or r"(?!)", re.MULTILINE | re.IGNORECASE)
            self._lines = [match.start() for match in pattern.finditer(self.text)]
            self._tables = [match.start() for match in TABLE.finditer(self.text)]
        place = bisect_left(self._lines, start)
        if self.lexis.whole_batches:
            return kind is SectionKind.ROUTINE or place < len(self._lines)
        if is_view or place == len(self._lines):
            return False
        table = bisect_left(self._tables, start)
        return table == len(self._tables) or self._tables[table] > self._lines[place]

    def _finish(self, kind: SectionKind, start: int, stop: int, position: int) -> Section:
        self.position = position
        if self.lexis.dollars and _COPY.match(self.text, start, stop):
            self.data = start
        return Section(kind, start, stop)

    def _copy_data(self, start: int) -> Section:
        self.data = None
        begin = min(_end_of_line(self.text, self.position) + 1, len(self.text))
        last = LAST_LINE.search(self.text, begin)
        if last is None:
            self.position = len(self.text)
            problem = "unterminated COPY data"
            return Section(SectionKind.DATA, begin, len(self.text), problem, start)
        self.position = last.end()
        return Section(SectionKind.DATA, begin, last.end())

    def _end_of(self, word: str, match: re.Match[str], *, is_run: bool = False) -> int | None:
        """Return the end of a comment, a literal or a quoted name; None if it has none.

        With `is_run`, literals that follow a literal are skipped, too.
        """
        text, lexis, start = self.text, self.lexis, match.end()
        if word == "/*":
            return self._end_of_comment(start)
        if word in lexis.comments:
            if word == "--" and self.engine == "mysql" and not text[start : start + 1].isspace():
                return min(len(text), start)
            return _end_of_line(text, start)
        if word in {'"""', "'''"}:
            closing = _closing(word, escapes=True).match(text, start)
        elif word == "[":
            closing = _BRACKETED.match(text, start)
        elif word in {"'", '"', "`"}:
            escapes = word in lexis.escaping or (
                word == "'"
                and lexis.dollars
                and _AFTER_E.search(text, max(0, start - 3), start - 1)
            )
            if is_run and word == "'":
                closing = _literals(self.engine, escapes=escapes).match(text, start)
            else:
                closing = _closing(word, escapes=escapes).match(text, start)
        elif word[-1] == "'":  # q'[
            place = text.find(
                _Q_QUOTES.get(text[start : start + 1], text[start : start + 1]) + "'", start + 1
            )
            return None if place < 0 else place + 2
        else:  # $tag$
            place = text.find(word, start)
            return None if place < 0 else place + len(word)
        return closing.end() if closing else None

    def _end_of_comment(self, start: int) -> int | None:
        if not self.lexis.nested_comments:
            end = self.text.find("*/", start)
            return None if end < 0 else end + 2
        depth = 1
        for match in _COMMENT.finditer(self.text, start):
            depth += 1 if match.group() == "/*" else -1
            if depth == 0:
                return match.end()
        return None


_AFTER_E = regex(r"(?<![\w$])[eE]\Z")
_COMMENT = regex(r"/\*|\*/")
_BRACKETED = regex(r"(?:[^\]]++|\]\])*+\]")
_Q_QUOTES = {"[": "]", "(": ")", "{": "}", "<": ">"}


@lru_cache(maxsize=16)
def _closing(quote: str, *, escapes: bool) -> re.Pattern[str]:
    """Return the pattern of the rest of a quoted text, whose quotes are doubled or escaped."""
    if len(quote) > 1:
        return re.compile(
            rf"(?:[^\\{quote[0]}]++|\\.|{quote[0]}(?!{quote[:2]}))*+{quote}", re.DOTALL
        )
    inner = rf"[^{quote}\\]++|\\.|{quote}{quote}" if escapes else rf"[^{quote}]++|{quote}{quote}"
    return re.compile(rf"(?:{inner})*+{quote}", re.DOTALL)


@lru_cache(maxsize=64)
def _literals(engine: str, *, escapes: bool) -> re.Pattern[str]:
    """Return the pattern of the rest of a literal, and of others after words and commas."""
    first = _closing("'", escapes=escapes).pattern
    other = _closing("'", escapes="'" in LEXES[engine].escaping).pattern
    return re.compile(rf"{first}(?:(?:[ \t,.]++|\w++(?=[ \t,.]))*+[nN]?'{other})*+", re.DOTALL)


@lru_cache(maxsize=64)
def _tuples(engine: str, delimiter: str) -> re.Pattern[str]:
    """Return the pattern of lists in brackets, separated by commas, in which no statement ends.

    They are on one line each, with other lists of one level, without comments and without quotes of
    more than one character. It saves a search for each of their brackets and literals.
    """
    lexis = LEXES[engine]
    if lexis.triple_quotes:
        return re.compile(r"(?!)")
    quoted = [
        (r"(?<!\w)[nNxXbB]?'" if quote == "'" else re.escape(quote))
        + (
            _BRACKETED.pattern
            if quote == "["
            else _closing(quote, escapes=quote in lexis.escaping).pattern
        )
        for quote in lexis.quotes
    ]
    special = re.escape("".join({*"()'\"`[]-/#$\n\\", *delimiter}))
    inner = "|".join([rf"[^{special}\w]++", r"\w++(?!')", *quoted, "-(?!-)"])
    inner = rf"(?:{inner}|\((?:{inner})*+\))*+"
    return re.compile(rf"\({inner}\)(?:\s*,\s*\({inner}\))*+", re.DOTALL)


@lru_cache(maxsize=64)
def _inserts(engine: str, delimiter: str) -> re.Pattern[str]:
    """Return the pattern of up to 1,000 statements that insert lists of `_tuples`."""
    values = _tuples(engine, delimiter).pattern
    return re.compile(
        rf"(?:\s*+INSERT[ \t]+INTO[ \t]+{_NAME}(?:\.{_NAME})*+[ \t]*(?:{values}\s*)?VALUES\s*"
        rf"{values}[ \t]*{re.escape(delimiter)}){{1,1000}}+",
        re.DOTALL | re.IGNORECASE,
    )


@lru_cache(maxsize=64)
def _blank(engine: str) -> re.Pattern[str]:
    """Return the pattern of blanks, line comments and lines between statements."""
    lexis = LEXES[engine]
    comments = [
        r"--(?=\s|\Z)[^\n]*"
        if comment == "--" and engine == "mysql"
        else rf"{re.escape(comment)}[^\n]*"
        for comment in lexis.comments
    ]
    lines = [lexis.ends] if lexis.ends else []
    return re.compile(
        "(?:" + "|".join([r"\s+", *comments, *lines]) + ")*", re.MULTILINE | re.IGNORECASE
    )


@lru_cache(maxsize=64)
def _special(engine: str, delimiter: str) -> re.Pattern[str]:
    """Return the pattern of everything that ends a statement, or in which no statement ends."""
    lexis = LEXES[engine]
    parts = []
    if lexis.ends:
        parts.append(f"(?P<line>{lexis.ends})")
    parts.append(f"(?P<begins>{lexis.begins or TABLE.pattern})")
    parts.append(re.escape(delimiter))
    if lexis.triple_quotes:
        parts += ['"""', "'''"]
    if lexis.q_quotes:
        parts.append(r"(?<!\w)[nN]?[qQ]'")
    if lexis.dollars:
        parts.append(r"(?<![\w$])\$(?:[^\W\d]\w*)?\$")
    parts += [re.escape(quote) for quote in lexis.quotes]
    parts += [re.escape(comment) for comment in lexis.comments]
    parts += [r"/\*", r"[()]"]
    return re.compile("|".join(parts), re.MULTILINE | re.IGNORECASE)


@lru_cache(maxsize=64)
def _first_column(engine: str) -> re.Pattern[str]:
    """Return the pattern of the first column of a table."""
    spellings = [spelling for row in ENGINES[engine].rows for spelling in row.foreign.split(" | ")]
    types = {match.group() for match in map(_FIRST_WORD.match, spellings) if match}
    return re.compile(
        r"\(\s*+(?=[^\W\d]|[\"`\[])"
        rf"(?!(?:SELECT|CASE|NOT|INTERVAL|CURRENT|SIGNED|UNSIGNED|NATIONAL)\b){_NAME}\s+"
        rf"(?:{'|'.join(sorted(types))})\b\s*[(),\w]",
        re.IGNORECASE,
    )


_FIRST_WORD = regex(r"[A-Za-z]\w*")
#: Maximum length of the fields of a type that are searched before a field.
MAX_FIELDS = 300
#: The start of a type with fields, and fields before the last one: `CAST(x AS ROW(a INT, ...`.
_FIELDS = regex(rf"\b(?:{'|'.join(sorted(STRUCTS))})\s*[(<][^()<>]*\Z", re.IGNORECASE)


def _end_of_line(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end


_BLOCK_WORD = regex(
    r"\b(?:BEGIN(?:\s+ATOMIC\b)?(?!\s+TRAN)|END\s+(?:IF|LOOP|WHILE|REPEAT|FOR)\b|END\s+CASE|CASE|END)\b",
    re.IGNORECASE,
)


#: Engines whose blocks outside of literals start with BEGIN ATOMIC.
_ATOMIC = frozenset({"postgres", "redshift"})

_NEXT = regex(
    r"(?:\s++|/(?!\*)|--[^\n]*+|/\*(?:[^*]++|\*(?!/))*+\*/)*+"
    r"(?:(?:CREATE|ALTER|COMMENT|DROP|GRANT|REVOKE|INSERT|UPDATE|DELETE|MERGE|COMMIT)\b|\Z"
    rf"|{_SQL_PLUS})",
    re.IGNORECASE,
)


@dataclass(slots=True)
class _Block:
    """Counts BEGIN and END of a routine, whose statements end with semicolons."""

    engine: str
    depth: int = 0
    begins: int = 0

    def add(self, text: str, start: int, stop: int) -> None:
        for match in _BLOCK_WORD.finditer(text, start, stop):
            first, *rest = match.group().upper().split()
            if first == "BEGIN" and not rest and self.engine in _ATOMIC:
                continue
            if first in {"BEGIN", "CASE"}:
                self.depth += 1
                self.begins += first == "BEGIN"
            elif not rest or rest == ["CASE"]:
                self.depth -= 1

    def is_closed(self, text: str, position: int) -> bool:
        """Return whether the semicolon before `position` ends the routine.

        A unit of PL/SQL declares variables before BEGIN, and a package has END alone.
        """
        if self.engine != "oracle":
            return self.depth <= 0
        has_body = self.depth < 0 or (self.depth == 0 and self.begins > 0)
        return has_body and _NEXT.match(text, position) is not None


# --- version comments -----------------------------------------------------------------------------


def with_version_comments(text: str, engine: str) -> str:
    """Return a script of MySQL with the code of its version comments, in the same places.

    >>> with_version_comments("/*!40101 SET a = 1 */; /* b */", "mysql")
    '         SET a = 1   ; /* b */'
    """
    if engine != "mysql":
        return text
    pieces, done = [], 0
    for span in _version_comments(text):
        pieces += [text[done : span.start], " " * (span.stop - span.start)]
        done = span.stop
    source = "".join([*pieces, text[done:]])
    return PartialText(source, text.parts) if isinstance(text, PartialText) else source


#: What can hide a version comment, and its start: ``/*!50001`` of MySQL, ``/*M!100100`` of MariaDB.
_HIDING = regex(r"""['"`#]|--(?=[\s]|\Z)|/\*(?:M?!(\d{5,6})?)?|\*/""")
#: MariaDB writes comments for its own client as those of this version, which no server has.
NO_VERSION = 999_999
#: Maximum number of quotes without an end, each of which takes the time of the whole script.
MAX_UNCLOSED = 20


def _version_comments(text: str) -> Iterator[Span]:
    """Find the starts and ends of comments that the server executes: ``/*!40101 SET a = 1 */``."""
    position, is_open, unclosed = 0, False, 0
    last = max(text.rfind("/*!"), text.rfind("/*M!"))
    while (position <= last or is_open) and (match := _HIDING.search(text, position)):
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
            closing = _closing(word, escapes=word != "`").match(text, position)
            position = closing.end() if closing else _end_of_line(text, position)
            unclosed += closing is None
            if unclosed > MAX_UNCLOSED:
                return
