"""The grammar of CREATE TABLE and ALTER TABLE: columns, keys and comments, in any engine's words.

Everything that has no place in a schema is kept as text in `beside`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from schema_core.errors import UnsupportedError
from schema_core.formats.dialects.columns import WrittenColumn, column, option
from schema_core.formats.dialects.steps import identifier, path, shown, step, texts, until
from schema_core.formats.dialects.type_reading import foreign_type
from schema_core.text import Cursor, Span, Token

if TYPE_CHECKING:
    from schema_core.formats.dialects.engines import Engine


@dataclass(slots=True)
class WrittenTable:
    """A table as a script declares it, in one statement or several."""

    engine: Engine
    path: tuple[str, ...]
    span: Span
    comment: str | None = None
    columns: list[WrittenColumn] = field(default_factory=list)
    key: tuple[str, ...] = ()
    key_name: str | None = None
    beside: list[str] = field(default_factory=list)
    _by_name: dict[str, WrittenColumn] | None = None
    _by_folded: dict[str, WrittenColumn] = field(default_factory=dict)

    def column(self, name: str) -> WrittenColumn | None:
        """The column of that name, in any case where the engine does not tell case."""
        if self._by_name is None:
            self._by_name = {one.name: one for one in reversed(self.columns)}
            self._by_folded = {one.name.casefold(): one for one in reversed(self.columns)}
        folded = None if self.engine.tells_case else self._by_folded.get(name.casefold())
        return self._by_name.get(name) or folded

    def renamed(self, one: WrittenColumn, name: str) -> None:
        """Give a column another name."""
        old, one.name = one.name, name
        self.key = tuple(name if part == old else part for part in self.key)
        if self._by_name is not None and self._by_name.get(old) is one:
            del self._by_name[old]
            self._by_name[name] = one
            self._by_folded.pop(old.casefold(), None)
            self._by_folded[name.casefold()] = one

    def changed(self) -> None:
        """Forget the index of the columns after one was added or dropped."""
        self._by_name = None


#: Finds a table of the script by its path.
Find: TypeAlias = Callable[[tuple[str, ...]], WrittenTable | None]


# --- CREATE TABLE --------------------------------------------------------------------------------


def create_table(cursor: Cursor, engine: Engine, start: Token, find: Find) -> WrittenTable | None:
    """A table, after CREATE TABLE; None for a partition of another table, which ``OF`` names.

    Raises:
        UnsupportedError: with code `missing-columns` for a table that takes its columns from
            elsewhere.
    """
    cursor.accept("IF", "NOT", "EXISTS")
    found = WrittenTable(engine, path(cursor, engine), start.span)
    if cursor.accept("ON", "CLUSTER"):
        cursor.advance()
    if cursor.key == "PARTITION" and cursor.peek().key == "OF":
        return None
    if not cursor.accept("("):
        raise _no_columns(cursor)
    is_open = not cursor.accept(")")
    while is_open:
        _element(cursor, found, find)
        is_open = not cursor.accept(")")
        if is_open:
            cursor.expect(",")
    _tail(cursor, found, find)
    if not found.columns:
        raise _no_columns(cursor)
    return found


def _no_columns(cursor: Cursor) -> UnsupportedError:
    return UnsupportedError(
        "the table takes its columns from elsewhere",
        code="missing-columns",
        hint="ask the engine for the full statement: SHOW CREATE TABLE",
        span=cursor.token.span,
        text=cursor.text,
    )


def _tail(cursor: Cursor, found: WrittenTable, find: Find) -> None:
    """What follows the columns: more columns, the key in ClickHouse, a comment, options."""
    start = cursor.token.start
    while cursor.token.kind != "end" and cursor.key != ";":
        read = TAILS.get(cursor.key)
        before = cursor.index
        if read is None or not read(cursor, found, find):
            cursor.index = before
            step(cursor)
        elif cursor.tokens[before].key in TABLE_COMMENTS:
            _keep(cursor, found, start, cursor.tokens[before].start)
            start = cursor.token.start
    _keep(cursor, found, start, cursor.token.start)


def _keep(cursor: Cursor, found: WrittenTable, start: int, stop: int) -> None:
    if text := shown(cursor, start, stop):
        found.beside.append(text)


def _tail_key(cursor: Cursor, found: WrittenTable, find: Find) -> bool:
    if not cursor.accept("PRIMARY", "KEY"):
        return False
    found.key = _key_columns(cursor, found.engine)
    return True


def _partitions(cursor: Cursor, found: WrittenTable, find: Find) -> bool:
    """``PARTITIONED BY (day DATE)`` declares columns, ``PARTITIONED BY (day)`` names them."""
    if not cursor.accept("PARTITIONED", "BY", "("):
        return False
    if cursor.peek().kind in {"word", "name"}:
        while True:
            found.columns.append(column(cursor, found.engine))
            if not cursor.accept(","):
                break
    else:
        until(cursor, ())
    cursor.expect(")")
    return True


def _tail_comment(cursor: Cursor, found: WrittenTable, find: Find) -> bool:
    """``COMMENT 'text'``, ``COMMENT = 'text'``."""
    cursor.advance()
    cursor.accept("=")
    if cursor.token.kind != "string":
        return False
    found.comment = texts(cursor)
    cursor.accept(",")  # MySQL divides options so, too
    return True


def _tail_options(cursor: Cursor, found: WrittenTable, find: Find) -> bool:
    """``OPTIONS(description='text')`` of BigQuery, where it is the only option."""
    if found.engine.name != "bigquery" or not cursor.accept("OPTIONS", "(", "DESCRIPTION", "="):
        return False
    comment = texts(cursor)
    if not cursor.accept(")"):
        return False
    found.comment = comment
    return True


def _inherits(cursor: Cursor, found: WrittenTable, find: Find) -> bool:
    """``INHERITS (parent)``: the columns of the parents come before those of the table."""
    if not cursor.accept("INHERITS", "("):
        return False
    inherited: list[WrittenColumn] = []
    while True:
        inherited += _columns_of(cursor, found, find)
        if not cursor.accept(","):
            break
    cursor.expect(")")
    own = {one.name for one in found.columns}
    merged = {one.name: one for one in inherited if one.name not in own}
    found.columns[:0] = merged.values()
    return True


def _columns_of(cursor: Cursor, found: WrittenTable, find: Find) -> list[WrittenColumn]:
    """Copies of the columns of another table of the script.

    Raises:
        UnsupportedError: with code `missing-columns` for a table that the script does not declare.
    """
    place = cursor.token
    other = find(path(cursor, found.engine))
    if other is None:
        raise UnsupportedError(
            "the table takes columns of a table that the script does not declare",
            code="missing-columns",
            hint="ask the engine for the full statement: SHOW CREATE TABLE",
            span=place.span,
            text=cursor.text,
        )
    return [replace(one, is_key=False, beside=list(one.beside)) for one in other.columns]


#: First word of a part of the tail -> what reads it; it gives False where something else is meant.
TAILS: dict[str, Callable[[Cursor, WrittenTable, Find], bool]] = {
    "PRIMARY":     _tail_key,
    "PARTITIONED": _partitions,
    "COMMENT":     _tail_comment,
    "OPTIONS":     _tail_options,
    "INHERITS":    _inherits,
}  # fmt: skip
TABLE_COMMENTS = frozenset({"COMMENT", "OPTIONS"})


# --- elements of the column list -----------------------------------------------------------------

#: Words that begin a constraint and, with what follows, cannot begin a column.
CONSTRAINTS = frozenset({"CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN", "EXCLUDE", "LIKE"})
OWN_CONSTRAINTS = {
    "mysql":      frozenset({"KEY", "INDEX", "FULLTEXT", "SPATIAL"}),
    "clickhouse": frozenset({"INDEX", "PROJECTION", "ASSUME"}),
}  # fmt: skip


def _begins_constraint(cursor: Cursor, engine: Engine) -> bool:
    return cursor.key in CONSTRAINTS or cursor.key in OWN_CONSTRAINTS.get(engine.name, ())


def _element(cursor: Cursor, found: WrittenTable, find: Find) -> None:
    """A column, the primary key, or a constraint that only leaves a remark."""
    if not _begins_constraint(cursor, found.engine):
        found.columns.append(column(cursor, found.engine))
        return
    start = cursor.token
    if cursor.accept("LIKE"):
        found.columns += _columns_of(cursor, found, find)
        until(cursor, (",",))
        return
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


# --- ALTER TABLE ---------------------------------------------------------------------------------


def alter_table(cursor: Cursor, found: WrittenTable) -> None:
    """Apply the actions of an ALTER TABLE; those that leave the schema unchanged go to `beside`."""
    while True:
        start = cursor.token
        read = ACTIONS.get(cursor.key)
        if read is None or not read(cursor, found):
            until(cursor, (",", ";"))
            _keep(cursor, found, start.start, cursor.token.start)
        if not cursor.accept(","):
            return


def _accept_column_word(cursor: Cursor) -> None:
    cursor.accept("COLUMN")
    cursor.accept("IF", "EXISTS")
    cursor.accept("IF", "NOT", "EXISTS")


def _known(cursor: Cursor, found: WrittenTable) -> WrittenColumn:
    """The column named next.

    Raises:
        ParseError: with code `unknown-column`.
    """
    token = cursor.token
    name = identifier(cursor, found.engine)
    if (known := found.column(name)) is None:
        raise cursor.fail(
            f"{name!r} is not a column of the table", code="unknown-column", span=token.span
        )
    return known


def _add(cursor: Cursor, found: WrittenTable) -> bool:
    """``ADD CONSTRAINT k PRIMARY KEY (a)`` as dumps have it, ``ADD COLUMN a int``."""
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
        until(cursor, (",", ";"))
        return True
    if cursor.key in NOT_COLUMNS:
        return False
    _accept_column_word(cursor)
    found.changed()
    if cursor.accept("("):  # several at once
        while True:
            found.columns.append(column(cursor, engine))
            if not cursor.accept(","):
                break
        cursor.expect(")")
        return True
    _place(cursor, found, column(cursor, engine), len(found.columns))
    return True


def _place(cursor: Cursor, found: WrittenTable, added: WrittenColumn, default: int) -> None:
    """Insert a column as FIRST or AFTER specifies, else at a default position."""
    if cursor.accept("FIRST"):
        default = 0
    elif cursor.accept("AFTER"):
        default = _index(found, _known(cursor, found)) + 1
    found.columns.insert(default, added)


def _index(found: WrittenTable, wanted: WrittenColumn) -> int:
    return next(place for place, one in enumerate(found.columns) if one is wanted)


def _alter_column(cursor: Cursor, found: WrittenTable) -> bool:
    """``ALTER COLUMN a SET NOT NULL``, ``DROP NOT NULL``, ``TYPE t``, ``SET DATA TYPE t``."""
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
        until(cursor, (",", ";"))
    else:
        until(cursor, (",", ";"))
        changed.beside.append(shown(cursor, start.start))
    return True


def _modify(cursor: Cursor, found: WrittenTable) -> bool:
    """``MODIFY a bigint NOT NULL``, ``CHANGE a b bigint``: the column is declared anew."""
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


def _drop(cursor: Cursor, found: WrittenTable) -> bool:
    """``DROP COLUMN a``, ``DROP PRIMARY KEY``."""
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
    until(cursor, (",", ";"))
    return True


def _rename(cursor: Cursor, found: WrittenTable) -> bool:
    """``RENAME COLUMN a TO b``, ``RENAME TO t``."""
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


def _comment(cursor: Cursor, found: WrittenTable) -> bool:
    """``COMMENT = 'text'`` of MySQL."""
    return _tail_comment(cursor, found, lambda path: None)


#: First word of an action -> what reads it; it gives False where something else is meant.
ACTIONS: dict[str, Callable[[Cursor, WrittenTable], bool]] = {
    "ADD":     _add,
    "ALTER":   _alter_column,
    "MODIFY":  _modify,
    "CHANGE":  _modify,
    "DROP":    _drop,
    "RENAME":  _rename,
    "COMMENT": _comment,
}  # fmt: skip

#: Words after ADD, DROP and RENAME that begin something else than a column.
NOT_COLUMNS = frozenset({
    "PARTITION", "PARTITIONS", "KEY", "INDEX", "GENERATED", "ROW", "SEARCH", "TAG", "ROLLUP",
    "CONSTRAINT", "STATISTICS", "PERIOD", "SYSTEM", "CLUSTERING", "MASKING", "AS",
})  # fmt: skip
