"""The grammar of a script that makes one table: columns, keys and comments, in any engine's words.

Everything that has no place in a schema is kept as text in `beside`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from schema_core.errors import UnsupportedError
from schema_core.formats.dialect.columns import WrittenColumn, column
from schema_core.formats.dialect.steps import identifier, path, shown, step, texts, until
from schema_core.text import Cursor, Span, Token

if TYPE_CHECKING:
    from schema_core.formats.dialect.engines import Engine


@dataclass(slots=True)
class WrittenTable:
    """A table as a script declares it, in one statement or several."""

    engine: Engine
    path: tuple[str, ...] = ()
    columns: list[WrittenColumn] = field(default_factory=list)
    key: tuple[str, ...] = ()
    key_name: str | None = None
    beside: list[str] = field(default_factory=list)

    def column(self, name: str) -> WrittenColumn | None:
        """The column of that name, in any case where the engine does not tell case."""
        for one in self.columns:
            if one.name == name:
                return one
        same = [one for one in self.columns if one.name.casefold() == name.casefold()]
        return same[0] if same and not self.engine.tells_case else None


# --- statements ----------------------------------------------------------------------------------

#: What may stand between CREATE and TABLE.
MODIFIERS = frozenset(
    {
        "OR", "REPLACE", "TEMP", "TEMPORARY", "GLOBAL", "LOCAL", "EXTERNAL", "UNLOGGED", "FOREIGN",
        "TRANSIENT", "VOLATILE", "HYBRID", "ICEBERG", "MANAGED", "SNAPSHOT",
    }
)  # fmt: skip

#: Statements of a dump that say nothing about a table.
QUIET = frozenset({"SET", "USE", "BEGIN", "START", "COMMIT", "DROP", "LOCK", "UNLOCK", "SELECT"})


def table(cursor: Cursor, engine: Engine) -> WrittenTable:
    """The one table of a script; comments and keys may come in statements of their own.

    Raises:
        ParseError: for a text outside the grammar, or with code `no-table` or `several-tables`.
        UnsupportedError: with code `no-columns` for a table that takes its columns from elsewhere.
    """
    found = WrittenTable(engine)
    while cursor.token.kind != "end":
        if cursor.key == "\\" and engine.name in PSQL:
            _skip_line(cursor)
        elif not cursor.accept(";"):
            _statement(cursor, found)
    if not found.columns:
        raise cursor.fail("there is no CREATE TABLE", code="no-table", span=Span(0, 1))
    return found


#: Engines whose dumps have lines for the shell of PostgreSQL among the statements.
PSQL = frozenset({"postgres", "redshift"})


def _skip_line(cursor: Cursor) -> None:
    r"""Step over a line such as ``\restrict key``, with which pg_dump begins and ends."""
    start = cursor.token.start
    while cursor.token.kind != "end" and "\n" not in cursor.text[start : cursor.token.start]:
        cursor.advance()


def _statement(cursor: Cursor, found: WrittenTable) -> None:
    start = cursor.token
    if cursor.accept("CREATE"):
        while cursor.key in MODIFIERS:
            cursor.advance()
        if cursor.accept("TABLE"):
            _create(cursor, found, start)
            return
    elif cursor.accept("COMMENT", "ON", "COLUMN"):
        _comment_on(cursor, found)
    elif cursor.accept("ALTER", "TABLE"):
        _alter(cursor, found)
    rest = until(cursor, (";",))
    text = shown(cursor, start.start)
    if start.key not in QUIET and rest:
        found.beside.append(text)


def _create(cursor: Cursor, found: WrittenTable, start: Token) -> None:
    if found.columns:
        raise cursor.fail("a second CREATE TABLE", code="several-tables", span=start.span)
    cursor.accept("IF", "NOT", "EXISTS")
    found.path = path(cursor, found.engine)
    if cursor.accept("ON", "CLUSTER"):
        cursor.advance()
    if not cursor.accept("("):
        raise UnsupportedError(
            "the table takes its columns from elsewhere",
            code="no-columns",
            hint="ask the engine for the full statement: SHOW CREATE TABLE",
            span=cursor.token.span,
            text=cursor.text,
        )
    while True:
        _element(cursor, found)
        if cursor.accept(")"):
            break
        cursor.expect(",")
    _tail(cursor, found)


def _tail(cursor: Cursor, found: WrittenTable) -> None:
    """What follows the columns: more columns in Hive, the key in ClickHouse, options."""
    start = cursor.token.start
    while cursor.token.kind != "end" and cursor.key != ";":
        if cursor.key == "PRIMARY" and cursor.accept("PRIMARY", "KEY"):
            found.key = _key_columns(cursor, found.engine)
        elif cursor.key == "PARTITIONED" and cursor.accept("PARTITIONED", "BY", "("):
            _partitions(cursor, found)
        else:
            step(cursor)
    if text := shown(cursor, start):
        found.beside.append(text)


def _partitions(cursor: Cursor, found: WrittenTable) -> None:
    """``PARTITIONED BY (day DATE)`` declares columns, ``PARTITIONED BY (day)`` names them."""
    if cursor.peek().kind in {"word", "name"}:
        while True:
            found.columns.append(column(cursor, found.engine))
            if not cursor.accept(","):
                break
    else:
        until(cursor, ())
    cursor.expect(")")


def _comment_on(cursor: Cursor, found: WrittenTable) -> None:
    name = path(cursor, found.engine)[-1]
    cursor.expect("IS")
    comment = None if cursor.accept("NULL") else texts(cursor)
    if (commented := found.column(name)) is None:
        raise cursor.fail(f"a comment on {name!r}, which is no column", code="unknown-column")
    commented.comment = comment


def _alter(cursor: Cursor, found: WrittenTable) -> None:
    """``ALTER TABLE ONLY t ADD CONSTRAINT k PRIMARY KEY (a)``, as dumps have it."""
    cursor.accept("ONLY")
    table_name = path(cursor, found.engine)[-1:]
    if table_name == found.path[-1:] and cursor.accept("ADD"):
        name = identifier(cursor, found.engine) if cursor.accept("CONSTRAINT") else None
        if cursor.accept("PRIMARY", "KEY"):
            found.key, found.key_name = _key_columns(cursor, found.engine), name


# --- elements of the column list -----------------------------------------------------------------

#: Words that begin a constraint and, with what follows, cannot begin a column.
CONSTRAINTS = frozenset({"CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN", "EXCLUDE", "LIKE"})
OWN_CONSTRAINTS = {
    "mysql":      frozenset({"KEY", "INDEX", "FULLTEXT", "SPATIAL"}),
    "clickhouse": frozenset({"INDEX", "PROJECTION", "ASSUME"}),
}  # fmt: skip


def _element(cursor: Cursor, found: WrittenTable) -> None:
    """A column, the primary key, or a constraint that only leaves a remark."""
    words = CONSTRAINTS | OWN_CONSTRAINTS.get(found.engine.name, frozenset())
    if cursor.key not in words:
        found.columns.append(column(cursor, found.engine))
        return
    start = cursor.token
    name = identifier(cursor, found.engine) if cursor.accept("CONSTRAINT") else None
    if cursor.accept("PRIMARY", "KEY"):
        while cursor.key not in {"(", "end"}:  # CLUSTERED, the name of an index
            cursor.advance()
        found.key, found.key_name = _key_columns(cursor, found.engine), name
        until(cursor, (",",))
        return
    until(cursor, (",",))
    found.beside.append(shown(cursor, start.start))


def _key_columns(cursor: Cursor, engine: Engine) -> tuple[str, ...]:
    """``(a, b DESC)``; ClickHouse allows one name without parentheses."""
    if not cursor.accept("("):
        return (identifier(cursor, engine),)
    names = []
    while True:
        names.append(identifier(cursor, engine))
        until(cursor, (",",))  # a length, ASC, DESC
        if cursor.accept(")"):
            return tuple(names)
        cursor.expect(",")
