"""The grammar of a script: the tables that it declares, with the statements that belong to each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from schema_core.formats.dialects.reading import WrittenTable, alter_table, create_table
from schema_core.formats.dialects.steps import path, shown, texts, until
from schema_core.formats.dialects.user_types import UserTypes, create_domain, create_type
from schema_core.text import Cursor, Span, Token

if TYPE_CHECKING:
    from schema_core.formats.dialects.engines import Engine


@dataclass(slots=True)
class WrittenScript:
    """What a script declares; `beside` are the statements without a table of the script."""

    engine: Engine
    tables: list[WrittenTable] = field(default_factory=list)
    types: UserTypes = field(default_factory=UserTypes)
    beside: list[str] = field(default_factory=list)
    _by_name: dict[str, list[WrittenTable]] = field(default_factory=dict)

    def add(self, table: WrittenTable) -> None:
        self.tables.append(table)
        self._by_name.setdefault(table.path[-1], []).append(table)

    def renamed(self, table: WrittenTable, before: tuple[str, ...]) -> None:
        """Rename a table: it is found only by its new path."""
        self._by_name[before[-1]].remove(table)
        self._by_name.setdefault(table.path[-1], []).append(table)

    def find(self, name: tuple[str, ...]) -> WrittenTable | None:
        """The table at a path, of which either side may leave the first names out."""
        for table in reversed(self._by_name.get(name[-1], ())):
            length = min(len(table.path), len(name))
            if table.path[-length:] == name[-length:]:
                return table
        return None


#: What may stand between CREATE and TABLE.
MODIFIERS = frozenset(
    {
        "OR", "REPLACE", "TEMP", "TEMPORARY", "GLOBAL", "LOCAL", "EXTERNAL", "UNLOGGED", "FOREIGN",
        "TRANSIENT", "VOLATILE", "HYBRID", "ICEBERG", "MANAGED", "SNAPSHOT",
    }
)  # fmt: skip

#: First words of statements that declare nothing: settings, transactions, rows.
QUIET = frozenset(
    {
        "SET", "USE", "BEGIN", "START", "COMMIT", "ROLLBACK", "DROP", "LOCK", "UNLOCK", "SELECT",
        "PRAGMA", "DELIMITER", "COPY", "INSERT", "REPLACE", "UPDATE", "DELETE", "TRUNCATE",
        "ANALYZE", "VACUUM", "REINDEX", "END",
    }
)  # fmt: skip


def script(cursor: Cursor, engine: Engine) -> WrittenScript:
    """All tables of a script; comments, keys and changes may come in statements of their own.

    Raises:
        ParseError: for a text outside the grammar, or with code `missing-create-table`.
        UnsupportedError: with code `missing-columns` for a table that takes its columns from
            elsewhere.
    """
    found = WrittenScript(engine)
    while cursor.token.kind != "end":
        if not cursor.accept(";"):
            _statement(cursor, found)
    if not found.tables:
        raise cursor.fail("there is no CREATE TABLE", code="missing-create-table", span=Span(0, 1))
    return found


def _statement(cursor: Cursor, found: WrittenScript) -> None:
    start = cursor.token
    owner: WrittenTable | None = None
    is_read = False
    if cursor.accept("CREATE"):
        owner, is_read = _create(cursor, found, start)
    elif cursor.accept("COMMENT", "ON"):
        owner, is_read = _comment_on(cursor, found)
    elif cursor.accept("ALTER", "TABLE"):
        owner, is_read = _alter(cursor, found)
    if until(cursor, (";",)):
        is_read = False
    if not is_read and start.key not in QUIET:
        beside = found.beside if owner is None else owner.beside
        beside.append(shown(cursor, start.start))


def _create(cursor: Cursor, found: WrittenScript, start: Token) -> tuple[WrittenTable | None, bool]:
    """What follows CREATE: the table that it belongs to, and whether all of it was understood."""
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


def _comment_on(cursor: Cursor, found: WrittenScript) -> tuple[WrittenTable | None, bool]:
    """``COMMENT ON TABLE t IS 'text'``, ``COMMENT ON COLUMN t.c IS 'text'``."""
    if cursor.accept("TABLE"):
        table = found.find(path(cursor, found.engine))
        if table is None or not cursor.accept("IS"):
            return table, False
        table.comment = None if cursor.accept("NULL") else texts(cursor)
        return table, True
    if not cursor.accept("COLUMN"):
        return None, False
    *home, name = path(cursor, found.engine)
    table = found.find(tuple(home)) if home else found.tables[-1] if found.tables else None
    if table is None:
        return None, False
    if (commented := table.column(name)) is None:
        raise cursor.fail(
            f"a comment on {name!r}, which is not a column of the table", code="unknown-column"
        )
    cursor.expect("IS")
    commented.comment = None if cursor.accept("NULL") else texts(cursor)
    return table, True


def _alter(cursor: Cursor, found: WrittenScript) -> tuple[WrittenTable | None, bool]:
    """``ALTER TABLE ONLY t ...``; a table that the script does not declare is ignored."""
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
