"""Parse the statements of a DDL script or dump: CREATE TABLE, ALTER TABLE, COMMENT ON.

Clauses that a schema cannot represent are kept as strings in `dropped`. Rows in dumps (``COPY``,
``INSERT``) are removed before the script is tokenized.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias

from schema_core.cursor import Cursor
from schema_core.errors import ParseError, UnsupportedError
from schema_core.formats.dialects.engines import Engine
from schema_core.formats.dialects.grammar import (
    ColumnDefinition,
    UserTypes,
    column,
    create_domain,
    create_type,
    elements,
    excerpt,
    foreign_type,
    identifier,
    option,
    path,
    skip_token,
    skip_until,
    string_value,
)
from schema_core.text import Span
from schema_core.tokenizer import Token


@dataclass(slots=True)
class TableDefinition:
    """A table as a script declares it, in one or several statements."""

    engine: Engine
    path: tuple[str, ...]
    span: Span
    comment: str | None = None
    columns: list[ColumnDefinition] = field(default_factory=list)
    key: tuple[str, ...] = ()
    key_name: str | None = None
    dropped: list[str] = field(default_factory=list)
    _by_name: dict[str, ColumnDefinition] | None = None
    _by_folded: dict[str, ColumnDefinition] = field(default_factory=dict)

    def column(self, name: str) -> ColumnDefinition | None:
        """Return the column of that name; case is ignored if the engine ignores it."""
        if self._by_name is None:
            self._by_name = {one.name: one for one in reversed(self.columns)}
            self._by_folded = {one.name.casefold(): one for one in reversed(self.columns)}
        folded = None if self.engine.case_sensitive else self._by_folded.get(name.casefold())
        return self._by_name.get(name) or folded

    def renamed(self, one: ColumnDefinition, name: str) -> None:
        """Rename a column."""
        old, one.name = one.name, name
        self.key = tuple(name if part == old else part for part in self.key)
        if self._by_name is not None and self._by_name.get(old) is one:
            del self._by_name[old]
            self._by_name[name] = one
            self._by_folded.pop(old.casefold(), None)
            self._by_folded[name.casefold()] = one

    def changed(self) -> None:
        """Discard the index of the columns after one was added or dropped."""
        self._by_name = None


#: A function that returns the table of the script at a path.
Find: TypeAlias = Callable[[tuple[str, ...]], TableDefinition | None]


# --- CREATE TABLE ---------------------------------------------------------------------------------


def create_table(
    cursor: Cursor, engine: Engine, start: Token, find: Find
) -> TableDefinition | None:
    """Parse a table, after CREATE TABLE; None for a partition of another table.

    Raises:
        UnsupportedError: with code `missing-columns` for a table that does not list its columns.
    """
    cursor.accept("IF", "NOT", "EXISTS")
    found = TableDefinition(engine, path(cursor, engine), start.span)
    if cursor.accept("ON", "CLUSTER"):
        cursor.advance()
    if cursor.key == "PARTITION" and cursor.peek().key == "OF":
        return None
    if not cursor.accept("("):
        raise _no_columns(cursor)
    for _ in () if cursor.accept(")") else elements(cursor):
        _element(cursor, found, find)
    _tail(cursor, found, find)
    if not found.columns:
        raise _no_columns(cursor)
    return found


def _no_columns(cursor: Cursor) -> UnsupportedError:
    return UnsupportedError(
        "the statement does not list the columns of the table",
        code="missing-columns",
        hint="use the output of SHOW CREATE TABLE",
        span=cursor.token.span,
        text=cursor.text,
    )


def _tail(cursor: Cursor, found: TableDefinition, find: Find) -> None:
    """Parse what follows the columns: more columns, ClickHouse's key, a comment, options."""
    start = cursor.token.start
    while cursor.token.kind != "end" and cursor.key != ";":
        read = TAILS.get(cursor.key)
        before = cursor.index
        if read is None or not read(cursor, found, find):
            cursor.index = before
            skip_token(cursor)
        elif cursor.tokens[before].key in TABLE_COMMENTS:
            _keep(cursor, found, start, cursor.tokens[before].start)
            start = cursor.token.start
    _keep(cursor, found, start, cursor.token.start)


def _keep(cursor: Cursor, found: TableDefinition, start: int, stop: int) -> None:
    if text := excerpt(cursor, start, stop):
        found.dropped.append(text)


def _tail_key(cursor: Cursor, found: TableDefinition, find: Find) -> bool:
    if not cursor.accept("PRIMARY", "KEY"):
        return False
    found.key = _key_columns(cursor, found.engine)
    return True


def _partitions(cursor: Cursor, found: TableDefinition, find: Find) -> bool:
    """Parse ``PARTITIONED BY (day DATE)``, which declares columns, or ``PARTITIONED BY (day)``."""
    if not cursor.accept("PARTITIONED", "BY", "("):
        return False
    if cursor.peek().kind in {"word", "name"}:
        found.columns += [column(cursor, found.engine) for _ in elements(cursor)]
    else:
        skip_until(cursor, ())
        cursor.expect(")")
    return True


def _tail_comment(cursor: Cursor, found: TableDefinition, find: Find) -> bool:
    """Parse ``COMMENT 'string'`` or ``COMMENT = 'string'``."""
    cursor.advance()
    cursor.accept("=")
    if cursor.token.kind != "string":
        return False
    found.comment = string_value(cursor)
    cursor.accept(",")  # MySQL separates options with commas
    return True


def _tail_options(cursor: Cursor, found: TableDefinition, find: Find) -> bool:
    """Parse BigQuery's ``OPTIONS(description='string')`` if it is the only option."""
    if found.engine.name != "bigquery" or not cursor.accept("OPTIONS", "(", "DESCRIPTION", "="):
        return False
    comment = string_value(cursor)
    if not cursor.accept(")"):
        return False
    found.comment = comment
    return True


def _inherits(cursor: Cursor, found: TableDefinition, find: Find) -> bool:
    """Parse ``INHERITS (parent)``: the parents' columns precede those of the table."""
    if not cursor.accept("INHERITS", "("):
        return False
    inherited: list[ColumnDefinition] = []
    for _ in elements(cursor):
        inherited += _columns_of(cursor, found, find)
    own = {one.name for one in found.columns}
    merged = {one.name: one for one in inherited if one.name not in own}
    found.columns[:0] = merged.values()
    return True


def _columns_of(cursor: Cursor, found: TableDefinition, find: Find) -> list[ColumnDefinition]:
    """Return copies of the columns of another table of the script.

    Raises:
        UnsupportedError: with code `missing-columns` for a table that the script does not declare.
    """
    place = cursor.token
    other = find(path(cursor, found.engine))
    if other is None:
        raise UnsupportedError(
            "the table takes columns of a table that is not in the script",
            code="missing-columns",
            hint="use the output of SHOW CREATE TABLE",
            span=place.span,
            text=cursor.text,
        )
    return [replace(one, is_key=False, dropped=list(one.dropped)) for one in other.columns]


#: First word of a clause after the columns -> its parser, which returns False for another clause.
TAILS: dict[str, Callable[[Cursor, TableDefinition, Find], bool]] = {
    "PRIMARY":     _tail_key,
    "PARTITIONED": _partitions,
    "COMMENT":     _tail_comment,
    "OPTIONS":     _tail_options,
    "INHERITS":    _inherits,
}  # fmt: skip
TABLE_COMMENTS = frozenset({"COMMENT", "OPTIONS"})


# --- elements of the column list ------------------------------------------------------------------

#: Words that start a constraint and, with what follows, cannot start a column.
CONSTRAINTS = frozenset({"CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN", "EXCLUDE", "LIKE"})
OWN_CONSTRAINTS = {
    "mysql":      frozenset({"KEY", "INDEX", "FULLTEXT", "SPATIAL"}),
    "clickhouse": frozenset({"INDEX", "PROJECTION", "ASSUME"}),
}  # fmt: skip


def _begins_constraint(cursor: Cursor, engine: Engine) -> bool:
    return cursor.key in CONSTRAINTS or cursor.key in OWN_CONSTRAINTS.get(engine.name, ())


def _element(cursor: Cursor, found: TableDefinition, find: Find) -> None:
    """Parse a column, the primary key, or another constraint, which is dropped."""
    if not _begins_constraint(cursor, found.engine):
        found.columns.append(column(cursor, found.engine))
        return
    start = cursor.token
    if cursor.accept("LIKE"):
        found.columns += _columns_of(cursor, found, find)
        skip_until(cursor, (",",))
        return
    name = identifier(cursor, found.engine) if cursor.accept("CONSTRAINT") else None
    if cursor.accept("PRIMARY", "KEY"):
        while cursor.key not in {"(", "end"}:  # CLUSTERED, the name of an index
            cursor.advance()
        found.key, found.key_name = _key_columns(cursor, found.engine), name
        skip_until(cursor, (",",))
        return
    skip_until(cursor, (",",))
    found.dropped.append(excerpt(cursor, start.start))


def _key_columns(cursor: Cursor, engine: Engine) -> tuple[str, ...]:
    """Parse ``(a, b DESC)``; ClickHouse allows one name without parentheses."""
    if not cursor.accept("("):
        return (identifier(cursor, engine),)
    names = []
    for _ in elements(cursor):
        names.append(identifier(cursor, engine))
        skip_until(cursor, (",",))  # a length, ASC, DESC
    return tuple(names)


# --- ALTER TABLE ----------------------------------------------------------------------------------


def alter_table(cursor: Cursor, found: TableDefinition) -> None:
    """Apply the actions of an ALTER TABLE; actions without effect on the schema go to `dropped`."""
    while True:
        start = cursor.token
        read = ACTIONS.get(cursor.key)
        if read is None or not read(cursor, found):
            skip_until(cursor, (",", ";"))
            _keep(cursor, found, start.start, cursor.token.start)
        if not cursor.accept(","):
            return


def _accept_column_word(cursor: Cursor) -> None:
    cursor.accept("COLUMN")
    cursor.accept("IF", "EXISTS")
    cursor.accept("IF", "NOT", "EXISTS")


def _known(cursor: Cursor, found: TableDefinition) -> ColumnDefinition:
    """Parse the name of an existing column.

    Raises:
        ParseError: with code `unknown-column`.
    """
    token = cursor.token
    name = identifier(cursor, found.engine)
    if (known := found.column(name)) is None:
        raise cursor.fail(
            f"the table has no column {name!r}", code="unknown-column", span=token.span
        )
    return known


def _add(cursor: Cursor, found: TableDefinition) -> bool:
    """Parse ``ADD COLUMN a int``, or ``ADD CONSTRAINT k PRIMARY KEY (a)`` as in dumps."""
    engine = found.engine
    cursor.advance()
    if _begins_constraint(cursor, engine):
        name = identifier(cursor, engine) if cursor.accept("CONSTRAINT") else None
        if not cursor.accept("PRIMARY", "KEY"):
            return False
        if cursor.key == "USING" and cursor.peek().key != "INDEX":
            cursor.accept("USING")
            cursor.advance()
        if cursor.key != "(":
            return False
        found.key, found.key_name = _key_columns(cursor, engine), name
        skip_until(cursor, (",", ";"))
        return True
    if cursor.key in NOT_COLUMNS:
        return False
    _accept_column_word(cursor)
    found.changed()
    if cursor.accept("("):  # several columns
        found.columns += [column(cursor, engine) for _ in elements(cursor)]
        return True
    _place(cursor, found, column(cursor, engine), len(found.columns))
    return True


def _place(cursor: Cursor, found: TableDefinition, added: ColumnDefinition, default: int) -> None:
    """Insert a column at the position of FIRST or AFTER, else at a default position."""
    if cursor.accept("FIRST"):
        default = 0
    elif cursor.accept("AFTER"):
        default = _index(found, _known(cursor, found)) + 1
    found.columns.insert(default, added)


def _index(found: TableDefinition, wanted: ColumnDefinition) -> int:
    return next(place for place, one in enumerate(found.columns) if one is wanted)


def _alter_column(cursor: Cursor, found: TableDefinition) -> bool:
    """Parse ``ALTER COLUMN a SET NOT NULL``, ``DROP NOT NULL`` or ``[SET DATA] TYPE t``."""
    cursor.advance()
    _accept_column_word(cursor)
    changed = _known(cursor, found)
    start = cursor.token
    if cursor.accept("SET", "NOT", "NULL"):
        changed.nullable = False
    elif cursor.accept("DROP", "NOT", "NULL"):
        changed.nullable = True
    elif cursor.accept("SET", "DATA", "TYPE") or cursor.accept("TYPE"):
        changed.type = foreign_type(cursor, found.engine, lambda: option(cursor))
        skip_until(cursor, (",", ";"))
    else:
        skip_until(cursor, (",", ";"))
        changed.dropped.append(excerpt(cursor, start.start))
    return True


def _modify(cursor: Cursor, found: TableDefinition) -> bool:
    """Parse ``MODIFY a bigint NOT NULL`` or ``CHANGE a b bigint``: the column is redefined."""
    is_change = cursor.advance().key == "CHANGE"
    if not is_change and cursor.key == "(":
        return False
    _accept_column_word(cursor)
    changed = found.column(identifier(cursor, found.engine)) if is_change else None
    if changed is None:
        before = cursor.index
        changed = _known(cursor, found)
        cursor.index = before
    added = column(cursor, found.engine)
    added.is_key = added.is_key or changed.is_key
    place = _index(found, changed)
    del found.columns[place]
    found.changed()
    _place(cursor, found, added, place)
    found.changed()
    found.renamed(changed, added.name)
    return True


def _drop(cursor: Cursor, found: TableDefinition) -> bool:
    """Parse ``DROP COLUMN a`` or ``DROP PRIMARY KEY``."""
    cursor.advance()
    if cursor.accept("PRIMARY", "KEY"):
        found.key, found.key_name = (), None
        return True
    if _begins_constraint(cursor, found.engine) or cursor.key in NOT_COLUMNS:
        return False
    _accept_column_word(cursor)
    name = identifier(cursor, found.engine)
    if (dropped := found.column(name)) is not None:
        del found.columns[_index(found, dropped)]
        found.changed()
    skip_until(cursor, (",", ";"))
    return True


def _rename(cursor: Cursor, found: TableDefinition) -> bool:
    """Parse ``RENAME COLUMN a TO b`` or ``RENAME TO t``."""
    cursor.advance()
    if cursor.accept("TO"):
        new = path(cursor, found.engine)
        found.path = (*found.path[: len(found.path) - 1], *new) if len(new) == 1 else new
        return True
    if cursor.key in NOT_COLUMNS or _begins_constraint(cursor, found.engine):
        return False
    _accept_column_word(cursor)
    renamed = _known(cursor, found)
    cursor.expect("TO")
    found.renamed(renamed, identifier(cursor, found.engine))
    return True


def _comment(cursor: Cursor, found: TableDefinition) -> bool:
    """Parse MySQL's ``COMMENT = 'string'``."""
    return _tail_comment(cursor, found, lambda path: None)


#: First word of an action -> its parser, which returns False for another action.
ACTIONS: dict[str, Callable[[Cursor, TableDefinition], bool]] = {
    "ADD":     _add,
    "ALTER":   _alter_column,
    "MODIFY":  _modify,
    "CHANGE":  _modify,
    "DROP":    _drop,
    "RENAME":  _rename,
    "COMMENT": _comment,
}  # fmt: skip

#: Words after ADD, DROP and RENAME that do not start a column.
NOT_COLUMNS = frozenset({
    "PARTITION", "PARTITIONS", "KEY", "INDEX", "GENERATED", "ROW", "SEARCH", "TAG", "ROLLUP",
    "CONSTRAINT", "STATISTICS", "PERIOD", "SYSTEM", "CLUSTERING", "MASKING", "AS",
})  # fmt: skip


@dataclass(slots=True)
class ScriptDefinitions:
    """The definitions of a script; `dropped` are statements that belong to none of its tables."""

    engine: Engine
    tables: list[TableDefinition] = field(default_factory=list)
    types: UserTypes = field(default_factory=UserTypes)
    dropped: list[str] = field(default_factory=list)
    _by_name: dict[str, list[TableDefinition]] = field(default_factory=dict)

    def add(self, table: TableDefinition) -> None:
        self.tables.append(table)
        self._by_name.setdefault(table.path[-1], []).append(table)

    def renamed(self, table: TableDefinition, before: tuple[str, ...]) -> None:
        """Rename a table: it is found only by its new path."""
        self._by_name[before[-1]].remove(table)
        self._by_name.setdefault(table.path[-1], []).append(table)

    def find(self, name: tuple[str, ...]) -> TableDefinition | None:
        """Return the table at a path; leading names may be omitted on either side."""
        for table in reversed(self._by_name.get(name[-1], ())):
            length = min(len(table.path), len(name))
            if table.path[-length:] == name[-length:]:
                return table
        return None


#: Words that may occur between CREATE and TABLE.
MODIFIERS = frozenset(
    {
        "OR", "REPLACE", "TEMP", "TEMPORARY", "GLOBAL", "LOCAL", "EXTERNAL", "UNLOGGED", "FOREIGN",
        "TRANSIENT", "VOLATILE", "HYBRID", "ICEBERG", "MANAGED", "SNAPSHOT",
    }
)  # fmt: skip

#: First words of statements without definitions: settings, transactions, rows.
IGNORED_STATEMENTS = frozenset(
    {
        "SET", "USE", "BEGIN", "START", "COMMIT", "ROLLBACK", "DROP", "LOCK", "UNLOCK", "SELECT",
        "PRAGMA", "DELIMITER", "COPY", "INSERT", "REPLACE", "UPDATE", "DELETE", "TRUNCATE",
        "ANALYZE", "VACUUM", "REINDEX", "END",
    }
)  # fmt: skip


def parse_script(cursor: Cursor, engine: Engine) -> ScriptDefinitions:
    """Parse all tables of a script, with comments, keys and changes in separate statements.

    Raises:
        ParseError: for a string outside the grammar, or with code `missing-create-table`.
        UnsupportedError: with code `missing-columns` for a table that does not list its columns.
    """
    found = ScriptDefinitions(engine)
    while cursor.token.kind != "end":
        if not cursor.accept(";"):
            _statement(cursor, found)
    if not found.tables:
        raise cursor.fail(
            "the script has no CREATE TABLE", code="missing-create-table", span=Span(0, 1)
        )
    return found


def _statement(cursor: Cursor, found: ScriptDefinitions) -> None:
    start = cursor.token
    owner: TableDefinition | None = None
    is_read = False
    if cursor.accept("CREATE"):
        owner, is_read = _create(cursor, found, start)
    elif cursor.accept("COMMENT", "ON"):
        owner, is_read = _comment_on(cursor, found)
    elif cursor.accept("ALTER", "TABLE"):
        owner, is_read = _alter(cursor, found)
    if skip_until(cursor, (";",)):
        is_read = False
    if not is_read and start.key not in IGNORED_STATEMENTS:
        dropped = found.dropped if owner is None else owner.dropped
        dropped.append(excerpt(cursor, start.start))


def _create(
    cursor: Cursor, found: ScriptDefinitions, start: Token
) -> tuple[TableDefinition | None, bool]:
    """Parse what follows CREATE; return the table concerned, and whether all of it was parsed."""
    engine = found.engine
    while cursor.key in MODIFIERS:
        cursor.advance()
    if cursor.accept("TABLE"):
        table = create_table(cursor, engine, start, found.find)
        if table is not None:
            found.add(table)
            return table, True
        cursor.expect("PARTITION", "OF")
        return found.find(path(cursor, engine)), False
    if cursor.accept("TYPE"):
        return None, create_type(cursor, engine, found.types)
    if cursor.accept("DOMAIN"):
        return None, create_domain(cursor, engine, found.types)
    while cursor.token.kind != "end" and cursor.key not in {";", "ON"}:
        cursor.advance()
    if cursor.accept("ON"):  # an index, a trigger, a policy
        cursor.accept("ONLY")
        if cursor.token.kind in {"word", "name"}:
            return found.find(path(cursor, engine)), False
    return None, False


def _comment_on(cursor: Cursor, found: ScriptDefinitions) -> tuple[TableDefinition | None, bool]:
    """Parse ``COMMENT ON TABLE t IS 'string'`` or ``COMMENT ON COLUMN t.c IS 'string'``."""
    if cursor.accept("TABLE"):
        table = found.find(path(cursor, found.engine))
        if table is None or not cursor.accept("IS"):
            return table, False
        table.comment = None if cursor.accept("NULL") else string_value(cursor)
        return table, True
    if not cursor.accept("COLUMN"):
        return None, False
    *home, name = path(cursor, found.engine)
    table = found.find(tuple(home)) if home else found.tables[-1] if found.tables else None
    if table is None:
        return None, False
    if (commented := table.column(name)) is None:
        raise cursor.fail(
            f"COMMENT ON COLUMN: the table has no column {name!r}", code="unknown-column"
        )
    cursor.expect("IS")
    commented.comment = None if cursor.accept("NULL") else string_value(cursor)
    return table, True


def _alter(cursor: Cursor, found: ScriptDefinitions) -> tuple[TableDefinition | None, bool]:
    """Parse ALTER TABLE; a table that the script does not declare is ignored."""
    cursor.accept("IF", "EXISTS")
    cursor.accept("ONLY")
    table = found.find(path(cursor, found.engine))
    cursor.accept("*")
    if table is None:
        return None, False
    before = table.path
    alter_table(cursor, table)
    if table.path != before:
        found.renamed(table, before)
    return table, True


def without_data(text: str, engine: str) -> str:
    r"""Return the script with everything that is not SQL replaced by blanks; line breaks are kept.

    Raises:
        ParseError: with code `syntax` for COPY data that is not terminated.

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


# --- dumps of PostgreSQL --------------------------------------------------------------------------

#: The start of a token that is not plain code, or the end of a statement.
_SPECIAL = re.compile(r"""['";\\]|--|/\*|(?<![\w$])\$(?:[^\W\d]\w*)?\$""")
_AFTER_E = re.compile(r"(?<![\w$])[eE]\Z")
_ESCAPED = re.compile(r"(?:[^'\\]++|\\.|'')*+'", re.DOTALL)
_COMMENT = re.compile(r"/\*|\*/")
_COPY = re.compile(r"COPY\b.*\bFROM\s+STDIN\b", re.IGNORECASE | re.DOTALL)
_LAST_LINE = re.compile(r"^\\\.[ \t]*\r?$", re.MULTILINE)
_CODE = re.compile(r"\S")


def _non_sql_in_postgres(text: str, *, escapes: bool = False) -> Iterator[Span]:
    """Find the data of COPY and the commands of psql.

    `escapes`: a backslash is an escape in every literal, not only in those with the prefix E.
    """
    position = 0
    begin: int | None = None  # the start of the statement
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
    """Return the lines after a COPY, including the terminating line."""
    last = _LAST_LINE.search(text, start)
    if last is None:
        raise ParseError(
            "unterminated COPY data",
            hint="check that the dump is complete; its data ends with the line \\.",
            span=Span(begin, start),
            text=text,
        )
    return Span(start, last.end())


def _end_of(text: str, word: str, found: re.Match[str], escapes: bool) -> int:
    """Return the end of a literal, quoted name or comment; of the script if unterminated."""
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
    """Return the end of a comment, which may be nested."""
    depth = 1
    for found in _COMMENT.finditer(text, start):
        depth += 1 if found.group() == "/*" else -1
        if depth == 0:
            return found.end()
    return len(text)


# --- dumps of MySQL -------------------------------------------------------------------------------

_DELIMITER = re.compile(r"^[ \t]*DELIMITER[ \t]+(\S+)[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)


def _non_sql_in_mysql(text: str) -> Iterator[Span]:
    """Find the sections between a DELIMITER statement and the one that restores the semicolon."""
    start: int | None = None
    for found in _DELIMITER.finditer(text):
        if found[1] != ";":
            start = found.start() if start is None else start
        else:
            yield Span(found.start() if start is None else start, found.end())
            start = None
    if start is not None:
        yield Span(start, len(text))


#: Engine -> the function that finds the spans of a dump that are not SQL.
FINDERS: dict[str, Callable[[str], Iterator[Span]]] = {
    "postgres": _non_sql_in_postgres,
    "redshift": partial(_non_sql_in_postgres, escapes=True),
    "mysql":    _non_sql_in_mysql,
}  # fmt: skip
