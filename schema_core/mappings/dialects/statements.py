"""Parse the statements of a DDL script or dump: CREATE TABLE, ALTER TABLE, COMMENT ON.

Clauses that a schema cannot represent, and unknown statements, are kept as strings in `dropped`.
`SKIPPED` lists statements that cannot change a table.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import field, replace
from typing import TypeAlias

from schema_core.base.cursor import Cursor
from schema_core.base.lazy import dataclass, regex
from schema_core.base.text import Span, Token
from schema_core.errors import (
    AlreadyExistsError,
    Gathering,
    ParseError,
    SchemaCoreError,
    UnsupportedError,
    at,
)
from schema_core.mappings.dialects import grammar
from schema_core.mappings.dialects.column_options import (
    ColumnDefinition,
    column,
    column_after_name,
    constraint_name,
    is_unchecked,
    option,
    options_of_column,
    parse_description,
    skip_attributes,
)
from schema_core.mappings.dialects.dumps import (
    Section,
    SectionKind,
    Splitter,
    find_stray_quote,
    hides_table,
    next_statement,
    with_version_comments,
)
from schema_core.mappings.dialects.engines import Engine
from schema_core.mappings.dialects.grammar import path


@dataclass(slots=True)
class TableDefinition:
    """A table as a script declares it, in one or several statements.

    `not_null` are the columns of constraints NOT NULL.
    """

    engine: Engine
    path: tuple[str, ...]
    span: Span
    comment: str | None = None
    columns: list[ColumnDefinition] = field(default_factory=list)
    not_null: list[str] = field(default_factory=list)
    key: tuple[str, ...] = ()
    key_name: str | None = None
    partition_keys: tuple[str, ...] = ()
    dropped: list[grammar.Dropped] = field(default_factory=list)
    _by_name: dict[str, ColumnDefinition] | None = None
    _by_folded: dict[str, ColumnDefinition] = field(default_factory=dict)

    def column(self, name: str) -> ColumnDefinition | None:
        """Return the column of that name; case is ignored if the engine ignores it."""
        if self._by_name is None:
            self._by_name = {column.name: column for column in reversed(self.columns)}
            self._by_folded = {column.name.casefold(): column for column in reversed(self.columns)}
        folded = None if self.engine.case_sensitive else self._by_folded.get(name.casefold())
        return self._by_name.get(name) or folded

    def rename_column(self, column: ColumnDefinition, name: str) -> None:
        old, column.name = column.name, name
        self.key = tuple(name if part == old else part for part in self.key)
        self.partition_keys = tuple(name if part == old else part for part in self.partition_keys)
        if self._by_name is not None and self._by_name.get(old) is column:
            del self._by_name[old]
            self._by_name[name] = column
            self._by_folded.pop(old.casefold(), None)
            self._by_folded[name.casefold()] = column

    def primary_key(self) -> tuple[tuple[str, ...], str | None]:
        """Return the columns of the primary key, and its name in the script."""
        if self.key:
            return self.key, self.key_name
        declared = [column for column in self.columns if column.is_key]
        names = (column.key_name for column in declared if column.key_name is not None)
        return tuple(column.name for column in declared), next(names, None)

    def constraint_of_key(self) -> str | None:
        """Return the name of the primary key, by default PostgreSQL's."""
        key, name = self.primary_key()
        return name or (f"{self.path[-1]}_pkey" if key else None)

    def drop_key(self) -> None:
        """Remove the primary key; its columns stay NOT NULL, except in Oracle."""
        for name in self.primary_key()[0]:
            if (column := self.column(name)) is not None:
                column.is_key = False
                column.nullable = column.nullable if self.engine.disabled_keys else False
        self.key, self.key_name = (), None

    def reindex_columns(self) -> None:
        """Discard the index of the columns after one was added or dropped."""
        self._by_name = None

    def insert_column(self, place: int, added: ColumnDefinition) -> None:
        """Insert a column whose name is new."""
        self.columns.insert(place, added)
        if self._by_name is not None:
            self._by_name[added.name] = added
            self._by_folded.setdefault(added.name.casefold(), added)


Find: TypeAlias = Callable[[tuple[str, ...]], TableDefinition | None]


# --- CREATE TABLE ---------------------------------------------------------------------------------


def create_table(
    cursor: Cursor, engine: Engine, start: Token, find: Find, types: grammar.UserTypes
) -> TableDefinition:
    """Parse a table, after CREATE TABLE.

    Raises:
        UnsupportedError: with code `missing-columns` for a table that does not list its columns.
    """
    cursor.accept("IF", "NOT", "EXISTS")
    table = TableDefinition(engine, path(cursor, engine), start.span)
    cursor.accept("IF", "NOT", "EXISTS")  # Snowflake allows it here, too
    if cursor.accept("ON", "CLUSTER"):
        cursor.advance()
    if cursor.accept("UUID"):
        cursor.advance()
    if not _parse_columns_of_another(cursor, table, find, types):
        clause = cursor.token.start
        if cursor.accept("CLUSTER", "BY"):  # Snowflake's GET_DDL prints it before the columns
            cursor.accept("LINEAR")
            grammar.skip_token(cursor)
            table.dropped.append(grammar.drop_text(cursor, clause))
        if not cursor.accept("("):
            raise _no_columns(cursor)
        _parse_elements(cursor, table, find)
    for definition in filter(None, map(table.column, table.not_null)):
        definition.nullable = False
    _parse_tail(cursor, table, find)
    is_typed = engine.free_types or any(
        column.type.text or column.expression is not None for column in table.columns
    )
    if not is_typed:  # also the names of columns before AS SELECT
        raise _no_columns(cursor)
    _require_distinct(cursor, table)
    return table


def _parse_elements(cursor: Cursor, table: TableDefinition, find: Find) -> None:
    """Parse columns and constraints up to the closing bracket, which may follow a comma."""
    for _ in () if cursor.accept(")") else grammar.elements(cursor):
        if cursor.key == ")" and table.engine.trailing_commas:
            continue
        _parse_element(cursor, table, find)


def _require_distinct(cursor: Cursor, table: TableDefinition) -> None:
    """Refuse columns with equal names.

    Raises:
        ParseError: with code `duplicate-column`.
    """
    names: set[str] = set()
    for declared in table.columns:
        name = declared.name if table.engine.case_sensitive else declared.name.casefold()
        if name in names:
            problem = f"the column {declared.name!r} is declared twice"
            raise cursor.fail(problem, code="duplicate-column", span=declared.span)
        names.add(name)


#: Words before a table whose columns are copied; the key, too, where the engine copies it.
COPIES: tuple[tuple[tuple[str, ...], bool], ...] = (
    (("LIKE",), False), (("CLONE",), True), (("SHALLOW", "CLONE"), True),
    (("DEEP", "CLONE"), True), (("COPY",), True),
)  # fmt: skip
#: Engines whose LIKE copies the primary key.
LIKE_WITH_KEY = frozenset({"mysql", "snowflake"})


def _parse_columns_of_another(
    cursor: Cursor, table: TableDefinition, find: Find, types: grammar.UserTypes
) -> bool:
    """Parse ``LIKE other``, ``CLONE other``, ``PARTITION OF parent`` or ``OF type``."""
    start = cursor.token.start
    for words, with_key in COPIES:
        if cursor.accept(*words):
            _copy_table(cursor, table, find, with_key or table.engine.name in LIKE_WITH_KEY)
            return True
    if table.engine.name == "clickhouse" and cursor.key == "AS":
        if cursor.peek().key in {"SELECT", "WITH", "(", ""} or cursor.peek(2).key == "(":
            return False
        cursor.advance()
        _copy_table(cursor, table, find, True)
        return True
    if cursor.accept("PARTITION", "OF"):
        _copy_table(cursor, table, find, True)
        if cursor.accept("("):
            _parse_typed_elements(cursor, table, find)
        grammar.skip_until(cursor, ("PARTITION", "WITH", "TABLESPACE", "SERVER", ";"))
        table.dropped.append(grammar.drop_text(cursor, start))
        return True
    if table.engine.name == "postgres" and cursor.accept("OF"):
        place = cursor.token
        declared = types.find(".".join(path(cursor, table.engine)).lower())
        if declared is None or declared.type.text != "row":
            cursor.index -= 1
            raise _no_columns(cursor)
        for part in declared.type.parts:
            table.columns.append(
                ColumnDefinition(table.engine, str(part.name), part.type, place.span)
            )
        if cursor.accept("("):
            _parse_typed_elements(cursor, table, find)
        return True
    return False


def _copy_table(cursor: Cursor, table: TableDefinition, find: Find, with_key: bool) -> None:
    other = _parse_other_table(cursor, table, find)
    table.columns = _copy_columns(other)
    table.partition_keys = other.partition_keys
    if with_key:
        table.key, table.key_name = other.primary_key()[0], None


def _parse_typed_elements(cursor: Cursor, table: TableDefinition, find: Find) -> None:
    """Parse constraints, and options of columns that are declared elsewhere."""
    for _ in () if cursor.accept(")") else grammar.elements(cursor):
        if _begins_constraint(cursor, table.engine):
            _parse_element(cursor, table, find)
            continue
        start = cursor.token.start
        changed = _parse_existing_column(cursor, table)
        cursor.accept("WITH", "OPTIONS")
        _merge_options(changed, options_of_column(cursor, changed), cursor, start)


def _merge_options(
    changed: ColumnDefinition, added: ColumnDefinition, cursor: Cursor, start: int
) -> None:
    """Add the options of a definition without a type to a column."""
    if added.nullable is not None:
        changed.nullable = added.nullable
    if added.comment is not None:
        changed.comment = added.comment
    if added.expression is not None:
        changed.dropped.append(grammar.drop_text(cursor, start))
    changed.is_key = changed.is_key or added.is_key
    changed.key_name = changed.key_name or added.key_name
    changed.dropped += added.dropped


def _no_columns(cursor: Cursor) -> UnsupportedError:
    return UnsupportedError(
        "the statement does not list the columns of the table",
        code="missing-columns",
        hint="use the output of SHOW CREATE TABLE",
        span=cursor.token.span,
        text=cursor.text,
    )


def _parse_tail(cursor: Cursor, table: TableDefinition, find: Find) -> None:
    """Parse what follows the columns: more columns, ClickHouse's key, a comment, options.

    It ends at the next CREATE too: SHOW CREATE TABLE of Hive prints no semicolons.
    """
    start = cursor.token.start
    while cursor.token.kind != "end" and cursor.key not in {";", "CREATE"}:
        read = TAILS.get(cursor.key)
        before = cursor.index
        if read is None or not read(cursor, table, find):
            cursor.index = before
            grammar.skip_token(cursor)
        elif cursor.tokens[before].key in PARSED_TAILS:
            _record_loss(cursor, table, start, cursor.tokens[before].start)
            start = cursor.token.start
    _record_loss(cursor, table, start, cursor.token.start)


def _record_loss(cursor: Cursor, table: TableDefinition, start: int, stop: int) -> None:
    if text := grammar.excerpt(cursor, start, stop):
        table.dropped.append(grammar.Dropped(text, start))


def _parse_key_clause(cursor: Cursor, table: TableDefinition, find: Find) -> bool:
    if not cursor.accept("PRIMARY", "KEY"):
        return False
    table.key = _parse_key_columns(cursor, table)
    return True


def _parse_partitions(cursor: Cursor, table: TableDefinition, find: Find) -> bool:
    """Parse ``PARTITIONED BY (day DATE)``, which declares columns, or ``PARTITIONED BY (day)``.

    Transforms such as ``bucket(4, id)`` are not parsed.
    """
    if not cursor.accept("PARTITIONED", "BY", "("):
        return False
    if cursor.peek().kind in {"word", "name"}:
        _parse_partition_columns(cursor, table)
        return True
    names = []
    while cursor.token.kind in {"word", "name"} and cursor.peek().key in {",", ")"}:
        previous = table.column(grammar.identifier(cursor, table.engine))
        if previous is None:
            return False
        names.append(previous.name)
        if not cursor.accept(","):
            break
    if not cursor.accept(")"):
        return False
    table.partition_keys = tuple(names)
    return True


def _parse_partition_columns(cursor: Cursor, table: TableDefinition) -> None:
    declared = [column(cursor, table.engine) for _ in grammar.elements(cursor)]
    table.columns += declared
    table.reindex_columns()
    table.partition_keys = tuple(partition.name for partition in declared)


def _parse_external_partitions(cursor: Cursor, table: TableDefinition, find: Find) -> bool:
    """Parse BigQuery's ``WITH PARTITION COLUMNS (day DATE)``, which declares columns."""
    if not cursor.accept("WITH", "PARTITION", "COLUMNS", "("):
        return False
    _parse_partition_columns(cursor, table)
    return True


def _parse_table_comment(cursor: Cursor, table: TableDefinition, find: Find | None = None) -> bool:
    """Parse ``COMMENT 'string'`` or ``COMMENT = 'string'``."""
    cursor.advance()
    cursor.accept("=")
    if cursor.token.kind != "string":
        return False
    table.comment = cursor.string_literal()
    cursor.accept(",")  # MySQL separates options with commas
    return True


def _parse_options(cursor: Cursor, table: TableDefinition, find: Find) -> bool:
    """Parse BigQuery's ``OPTIONS(description='string')``."""
    if table.engine.name != "bigquery" or not cursor.accept("OPTIONS"):
        return False
    parse_description(cursor, table)
    return True


def _parse_inherits(cursor: Cursor, table: TableDefinition, find: Find) -> bool:
    """Parse ``INHERITS (parent)``: the parents' columns come first."""
    if not cursor.accept("INHERITS", "("):
        return False
    inherited: list[ColumnDefinition] = []
    for _ in grammar.elements(cursor):
        inherited += _copy_columns(_parse_other_table(cursor, table, find))
    own = {column.name for column in table.columns}
    merged = {column.name: column for column in inherited if column.name not in own}
    table.columns[:0] = merged.values()
    return True


def _parse_other_table(cursor: Cursor, table: TableDefinition, find: Find) -> TableDefinition:
    """Parse the path of another table of the script.

    Raises:
        UnsupportedError: with code `missing-columns` for an undeclared table.
    """
    place = cursor.token
    other = find(path(cursor, table.engine))
    if other is None:
        raise UnsupportedError(
            "the table takes columns of a table that is not in the script",
            code="missing-columns",
            hint="use the output of SHOW CREATE TABLE",
            span=place.span,
            text=cursor.text,
        )
    return other


def _copy_columns(other: TableDefinition) -> list[ColumnDefinition]:
    key, _ = other.primary_key()
    return [
        replace(
            column,
            is_key=False,
            nullable=False if column.name in key else column.nullable,
            dropped=list(column.dropped),
        )
        for column in other.columns
    ]


#: First word of a clause -> its parser; False: another clause.
TAILS: dict[str, Callable[[Cursor, TableDefinition, Find], bool]] = {
    "PRIMARY":     _parse_key_clause,
    "PARTITIONED": _parse_partitions,
    "COMMENT":     _parse_table_comment,
    "OPTIONS":     _parse_options,
    "WITH":        _parse_external_partitions,
    "INHERITS":    _parse_inherits,
}  # fmt: skip
#: Clauses that are not a loss.
PARSED_TAILS = frozenset({"COMMENT", "OPTIONS", "PARTITIONED", "WITH"})


# --- elements of the column list ------------------------------------------------------------------

#: Words that start a constraint.
CONSTRAINTS = frozenset(
    {
        "CONSTRAINT", "PRIMARY KEY", "FOREIGN KEY", "LIKE", "CHECK (", "CHECK NOT", "EXCLUDE USING",
        "EXCLUDE (", "UNIQUE (", "UNIQUE KEY", "UNIQUE INDEX", "UNIQUE NULLS", "UNIQUE USING",
        "UNIQUE CLUSTERED", "UNIQUE NONCLUSTERED", "PERIOD FOR SYSTEM_TIME", "SUPPLEMENTAL LOG",
    }
)  # fmt: skip
OWN_CONSTRAINTS = {
    "mysql":      frozenset({"KEY", "INDEX", "FULLTEXT", "SPATIAL", "VECTOR INDEX", "VECTOR KEY",
                             "PERIOD FOR"}),
    "clickhouse": frozenset({"INDEX", "PROJECTION", "ASSUME"}),
    "tsql":       frozenset({"INDEX"}),
}  # fmt: skip


def _begins_constraint(cursor: Cursor, engine: Engine) -> bool:
    if _begins(cursor, CONSTRAINTS) or _begins(cursor, OWN_CONSTRAINTS.get(engine.name, NONE)):
        return True
    # `INDEX name (column)` of Snowflake and `UNIQUE name (column)` of MySQL, but not a column with
    # such a name, whose type may have a length.
    return (
        cursor.key in {"INDEX", "UNIQUE"}
        and cursor.peek(2).key == "("
        and cursor.peek(3).kind != "number"
    )


NONE: frozenset[str] = frozenset()


def _parse_element(cursor: Cursor, table: TableDefinition, find: Find) -> None:
    """Parse a column, the primary key, or another constraint, which is dropped."""
    if not _begins_constraint(cursor, table.engine):
        table.columns.append(column(cursor, table.engine))
        return
    start = cursor.token
    if cursor.accept("LIKE"):
        other = _parse_other_table(cursor, table, find)
        table.columns += _copy_columns(other)
        if table.engine.name == "mysql":  # its LIKE copies the key, too
            table.key, table.key_name = other.primary_key()
        grammar.skip_until(cursor, (",",))
        return
    name = constraint_name(cursor, table.engine) if cursor.accept("CONSTRAINT") else None
    if cursor.accept("PRIMARY", "KEY"):
        while cursor.key not in {"(", ",", ")", "end"} and (  # CLUSTERED, the name of an index
            table.engine.name != "clickhouse"
        ):
            cursor.advance()
        _declare_key(cursor, table, name, start.start)
        return
    if cursor.accept("NOT", "NULL"):
        table.not_null.append(grammar.identifier(cursor, table.engine))
        grammar.skip_until(cursor, (",",))
        return
    grammar.skip_until(cursor, (",",))
    table.dropped.append(grammar.drop_text(cursor, start.start))


def _declare_key(cursor: Cursor, table: TableDefinition, name: str | None, start: int) -> None:
    """Parse the columns and attributes of a primary key; one that rows may violate is a loss.

    Raises:
        ParseError: for what follows a key of ClickHouse: a column without a comma.
    """
    key = _parse_key_columns(cursor, table)
    attributes = skip_attributes(cursor)
    if table.engine.disabled_keys and is_unchecked(attributes):
        grammar.skip_element(cursor)
        table.dropped.append(grammar.drop_text(cursor, start))
        return
    table.key, table.key_name = key, name
    rest = cursor.token.start
    if table.engine.name == "clickhouse" and cursor.token.kind in {"word", "name"}:
        raise cursor.fail(f"unexpected {cursor.token.display} after the primary key")
    grammar.skip_element(cursor)
    _record_loss(cursor, table, start if "ON CONFLICT" in attributes else rest, cursor.token.start)


def _parse_key_columns(cursor: Cursor, table: TableDefinition) -> tuple[str, ...]:
    """Parse ``(a, b DESC)``; ClickHouse allows one name without parentheses.

    A key on part of the values, ``(a(10))`` or ``(a WITHOUT OVERLAPS)``, is a loss.
    """
    if not cursor.accept("("):
        return (grammar.identifier(cursor, table.engine),)
    names = []
    for _ in grammar.elements(cursor):
        start = cursor.token.start
        names.append(grammar.identifier(cursor, table.engine))
        if cursor.key not in {"ASC", "DESC", "TIMESERIES", "AUTOINCREMENT"} and grammar.skip_until(
            cursor, (",",)
        ):
            part = f"PRIMARY KEY ({grammar.excerpt(cursor, start)})"
            table.dropped.append(grammar.Dropped(part, start))
        grammar.skip_until(cursor, (",",))
    return tuple(names)


# --- ALTER TABLE ----------------------------------------------------------------------------------


def alter_table(cursor: Cursor, table: TableDefinition) -> None:
    """Apply the actions of an ALTER TABLE; actions without effect on the schema go to `dropped`.

    Raises:
        SchemaCoreError: for all invalid actions, after the others were applied.
    """
    errors, action = Gathering(), ""
    while True:
        start, index, before = cursor.token, cursor.index, len(errors.errors)
        is_read = False
        with errors.catching(), at(f"action {start.value!r}", start.span):
            is_read = _alter(cursor, table, action)
        if not is_read:
            cursor.index = index
            grammar.skip_statement(cursor, (",",))
            if len(errors.errors) == before:
                _record_loss(cursor, table, start.start, cursor.token.start)
        action = start.key if start.key in ACTIONS else action
        if not cursor.accept(","):
            break
    errors.raise_all()


#: Engines whose ADD, DROP and ALTER name several columns, and the words of such lists.
LISTS = frozenset({"tsql", "snowflake", "spark", "databricks"})
LIST_ACTIONS = frozenset({"ADD", "DROP", "ALTER", "MODIFY"})


def _alter(cursor: Cursor, table: TableDefinition, before: str) -> bool:
    """Apply an action, or an element of the list of the action before; False: not understood."""
    if _begins(cursor, SKIPPED_ACTIONS):
        grammar.skip_until(cursor, (",", ";"))
        return True
    if table.engine.name == "tsql" and (
        cursor.accept("WITH", "CHECK") or cursor.accept("WITH", "NOCHECK")
    ):
        return cursor.accept("ADD") and _parse_add(cursor, table)
    read = ACTIONS.get(cursor.key)
    if before in LIST_ACTIONS and (read is None or _is_in_list(cursor)):
        return table.engine.name in LISTS and ACTIONS[before](cursor, table)
    if read is None:
        return False
    if read is not _parse_set:
        cursor.advance()
    return read(cursor, table)


def _is_in_list(cursor: Cursor) -> bool:
    """Return whether a word that starts an action is rather the name of a column in a list."""
    return cursor.peek().key in {",", "end", ";"}


HADOOP = frozenset({"hive", "spark", "databricks"})


def _accept_column_word(cursor: Cursor, engine: Engine) -> None:
    if not cursor.accept("COLUMN") and (engine.name in HADOOP or cursor.peek().key == "("):
        cursor.accept("COLUMNS")
    cursor.accept("IF", "EXISTS")
    cursor.accept("IF", "NOT", "EXISTS")


def _parse_existing_column(cursor: Cursor, table: TableDefinition) -> ColumnDefinition:
    """Parse the name of an existing column.

    Raises:
        ParseError: with code `unknown-column`.
    """
    token = cursor.token
    name = grammar.identifier(cursor, table.engine)
    if (column := table.column(name)) is None:
        raise cursor.fail(
            f"the table has no column {name!r}", code="unknown-column", span=token.span
        )
    return column


def _names_column(cursor: Cursor, table: TableDefinition, others: frozenset[str]) -> bool:
    """Return whether a column of the table follows, rather than one of some other words."""
    return not _begins(cursor, others) or table.column(cursor.token.value) is not None


def _parse_add(cursor: Cursor, table: TableDefinition) -> bool:
    """Parse ``ADD COLUMN a int``, or ``ADD CONSTRAINT k PRIMARY KEY (a)`` as in dumps."""
    engine = table.engine
    if _begins_constraint(cursor, engine):
        return _parse_added_constraint(cursor, table)
    if _begins(cursor, NOT_COLUMNS):
        return False
    _accept_column_word(cursor, engine)
    if _begins(cursor, NOT_COLUMNS):
        return False
    if not cursor.accept("("):
        _insert_column(cursor, table, column(cursor, engine), len(table.columns))
        return True
    is_read = True
    for _ in grammar.elements(cursor):  # several columns, in Oracle also constraints
        start = cursor.token.start
        if not _begins_constraint(cursor, engine):
            _insert_column(cursor, table, column(cursor, engine), len(table.columns))
        elif not _parse_added_constraint(cursor, table):
            grammar.skip_until(cursor, (",",))
            _record_loss(cursor, table, start, cursor.token.start)
    grammar.skip_until(cursor, (",", ";"))  # CASCADE
    return is_read


def _parse_added_constraint(cursor: Cursor, table: TableDefinition) -> bool:
    start = cursor.token.start
    name = constraint_name(cursor, table.engine) if cursor.accept("CONSTRAINT") else None
    if cursor.accept("NOT", "NULL"):
        _parse_existing_column(cursor, table).nullable = False
        grammar.skip_element(cursor)
        return True
    if not cursor.accept("PRIMARY", "KEY"):
        return False
    if cursor.key == "USING" and cursor.peek().key != "INDEX":
        cursor.accept("USING")
        cursor.advance()
    cursor.accept("CLUSTERED") or cursor.accept("NONCLUSTERED")
    if cursor.key != "(":
        return False
    _declare_key(cursor, table, name, start)
    return True


def _insert_column(
    cursor: Cursor, table: TableDefinition, added: ColumnDefinition, default: int
) -> None:
    """Insert a column at the position of FIRST or AFTER, else at a default position.

    Raises:
        ParseError: with code `duplicate-column`.
    """
    if table.column(added.name) is not None:
        problem = f"the table has a column {added.name!r} already"
        raise cursor.fail(problem, code="duplicate-column", span=added.span)
    if cursor.accept("FIRST"):
        default = 0
    elif cursor.accept("AFTER"):
        default = _index_of(table, _parse_existing_column(cursor, table)) + 1
    table.insert_column(default, added)


def _index_of(table: TableDefinition, wanted: ColumnDefinition) -> int:
    return next(place for place, column in enumerate(table.columns) if column is wanted)


#: What follows ALTER without COLUMN, unless it is a column.
ALTERED = frozenset(
    {
        "INDEX", "CONSTRAINT", "CHECK", "DISTKEY", "DISTSTYLE", "COMPOUND", "INTERLEAVED",
        "SORTKEY", "ENCODE",
    }
)  # fmt: skip


def _parse_alter_column(cursor: Cursor, table: TableDefinition) -> bool:
    """Parse ``ALTER COLUMN a SET NOT NULL``, ``DROP NOT NULL`` or ``[SET DATA] TYPE t``."""
    if not _names_column(cursor, table, ALTERED):
        return False
    _accept_column_word(cursor, table.engine)
    return _change_column(cursor, table, _parse_existing_column(cursor, table))


def _change_column(cursor: Cursor, table: TableDefinition, changed: ColumnDefinition) -> bool:
    """Parse what follows the name of a column that is altered."""
    start = cursor.token
    if cursor.accept("SET", "NOT", "NULL"):
        changed.nullable = False
    elif cursor.accept("DROP", "NOT", "NULL"):
        changed.nullable = True
    elif _begins(cursor, SKIPPED_CHANGES):
        grammar.skip_until(cursor, (",", ";"))
    elif cursor.key in {"FIRST", "AFTER"}:
        del table.columns[_index_of(table, changed)]
        table.reindex_columns()
        _insert_column(cursor, table, changed, 0)
    elif cursor.key == "COMMENT" and cursor.peek().kind == "string":
        cursor.advance()
        changed.comment = cursor.string_literal()
    elif cursor.accept("SET", "OPTIONS"):
        parse_description(cursor, changed)
    elif cursor.accept("SET", "DATA", "TYPE") or cursor.accept("TYPE"):
        changed.type = grammar.foreign_type(cursor, table.engine, lambda: option(cursor))
        start = cursor.token
        if cursor.accept("COLLATE"):
            grammar.skip_until(cursor, (",", ";", "USING"))
            changed.dropped.append(grammar.drop_text(cursor, start.start))
        grammar.skip_until(cursor, (",", ";"))  # USING converts the rows
    elif table.engine.name == "tsql" and cursor.key not in {"ADD", "DROP"}:
        _redefine(cursor, table, changed, changed.name, start.start)
    else:
        grammar.skip_statement(cursor, (",",))
        changed.dropped.append(grammar.drop_text(cursor, start.start))
    return True


#: What follows MODIFY without COLUMN, unless it is a column.
MODIFIED = frozenset(
    {
        "ORDER", "TTL", "SETTING", "COMMENT", "QUERY", "SAMPLE", "REFRESH", "DEFINER", "DEFAULT",
        "PARTITION", "SUBPARTITION", "LOB", "CONSTRAINT", "NESTED", "VARRAY", "CLUSTERING",
    }
)  # fmt: skip


#: What follows MODIFY of a constraint.
KEYS = frozenset({"PRIMARY KEY", "CONSTRAINT"})


def _parse_modify(cursor: Cursor, table: TableDefinition) -> bool:
    """Parse ``MODIFY a bigint NOT NULL``, which redefines a column, or changes its options."""
    if table.engine.disabled_keys and _begins(cursor, KEYS):
        if _accept_key(cursor, table) and is_unchecked(skip_attributes(cursor)):
            table.drop_key()
        return False
    if not _names_column(cursor, table, MODIFIED):
        return False
    if cursor.accept("("):
        for _ in grammar.elements(cursor):
            _modify_column(cursor, table)
        grammar.skip_until(cursor, (",", ";"))
        return True
    return _modify_column(cursor, table)


#: Words after the name of a column that MODIFY alters as ALTER COLUMN does.
ALTERATIONS = frozenset({"SET", "UNSET", "REMOVE", "MODIFY", "RESET"})


def _modify_column(cursor: Cursor, table: TableDefinition) -> bool:
    _accept_column_word(cursor, table.engine)
    start = cursor.token.start
    changed = _parse_existing_column(cursor, table)
    if cursor.key in ALTERATIONS or _begins(cursor, DROPPED):
        return _change_column(cursor, table, changed)
    if option(cursor) is not None:
        _merge_options(changed, options_of_column(cursor, changed), cursor, start)
        return True
    _redefine(cursor, table, changed, changed.name, start)
    return True


DROPPED = frozenset({"DROP NOT", "DROP DEFAULT", "TYPE", "SET DATA"})


def _redefine(
    cursor: Cursor, table: TableDefinition, changed: ColumnDefinition, name: str, start: int
) -> None:
    """Parse the type, options and position of a column that replaces another one."""
    added = column_after_name(cursor, table.engine, name, start)
    added.is_key = added.is_key or changed.is_key
    if table.engine.keeps_properties:
        added.nullable = changed.nullable if added.nullable is None else added.nullable
        added.comment = changed.comment if added.comment is None else added.comment
    place = _index_of(table, changed)
    del table.columns[place]
    table.reindex_columns()
    _insert_column(cursor, table, added, place)
    table.rename_column(changed, name)
    table.reindex_columns()


#: How the change of a column continues where CHANGE does not rename it.
UNRENAMED = frozenset({"TYPE", "COMMENT", "FIRST", "AFTER", "SET", "DROP"})


def _parse_change(cursor: Cursor, table: TableDefinition) -> bool:
    """Parse ``CHANGE a b bigint``, which renames and redefines a column."""
    _accept_column_word(cursor, table.engine)
    changed = _parse_existing_column(cursor, table)
    is_comment = cursor.key == "COMMENT" and cursor.peek().kind == "string"
    if is_comment or (table.engine.name in {"spark", "databricks"} and cursor.key in UNRENAMED):
        return _change_column(cursor, table, changed)
    start = cursor.token.start
    _redefine(cursor, table, changed, grammar.identifier(cursor, table.engine), start)
    grammar.skip_until(cursor, (",", ";"))  # CASCADE
    return True


def _parse_replace(cursor: Cursor, table: TableDefinition) -> bool:
    """Parse Hive's ``REPLACE COLUMNS (a int)``, which keeps the partitions."""
    if table.engine.name not in HADOOP or not cursor.accept("COLUMNS", "("):
        return False
    partitions = [table.column(name) for name in table.partition_keys]
    table.columns = [column(cursor, table.engine) for _ in grammar.elements(cursor)]
    table.columns += [partition for partition in partitions if partition is not None]
    table.reindex_columns()
    grammar.skip_until(cursor, (",", ";"))
    return True


def _parse_drop(cursor: Cursor, table: TableDefinition) -> bool:
    """Parse ``DROP COLUMN a``, ``DROP PRIMARY KEY`` or ``DROP CONSTRAINT k`` of the key."""
    if cursor.accept("PRIMARY", "KEY"):
        table.drop_key()
        grammar.skip_until(cursor, (",", ";"))
        return True
    if cursor.accept("CONSTRAINT"):
        cursor.accept("IF", "EXISTS")
        if grammar.identifier(cursor, table.engine) != table.constraint_of_key():
            return False
        table.drop_key()
        grammar.skip_until(cursor, (",", ";"))
        return True
    if _begins_constraint(cursor, table.engine) or _begins(cursor, NOT_COLUMNS):
        return False
    _accept_column_word(cursor, table.engine)
    if _begins(cursor, NOT_COLUMNS):
        return False
    if cursor.accept("("):
        for _ in grammar.elements(cursor):
            _drop_column(table, grammar.identifier(cursor, table.engine))
    else:
        _drop_column(table, grammar.identifier(cursor, table.engine))
    grammar.skip_until(cursor, (",", ";"))
    return True


def _parse_disable(cursor: Cursor, table: TableDefinition) -> bool:
    """Parse Oracle's ``DISABLE PRIMARY KEY``: rows may violate the key, which is a loss."""
    if table.engine.disabled_keys and _accept_key(cursor, table):
        table.drop_key()
    return False


def _accept_key(cursor: Cursor, table: TableDefinition) -> bool:
    """Parse ``PRIMARY KEY`` or ``CONSTRAINT k``; return whether it is the key of the table."""
    return cursor.accept("PRIMARY", "KEY") or (
        cursor.accept("CONSTRAINT")
        and grammar.identifier(cursor, table.engine) == table.primary_key()[1]
    )


def _drop_column(table: TableDefinition, name: str) -> None:
    dropped = table.column(name)
    if dropped is None:
        return
    if table.engine.name == "mysql":
        table.key = tuple(key_name for key_name in table.key if key_name != dropped.name)
    elif dropped.name in table.key:  # the engine drops the key, too
        table.drop_key()
    del table.columns[_index_of(table, dropped)]
    table.reindex_columns()


def _parse_rename(cursor: Cursor, table: TableDefinition) -> bool:
    """Parse ``RENAME COLUMN a TO b`` or ``RENAME TO t``."""
    if cursor.accept("TO"):
        new = path(cursor, table.engine)
        table.path = (*table.path[: len(table.path) - 1], *new) if len(new) == 1 else new
        return True
    if _begins(cursor, NOT_COLUMNS) or _begins_constraint(cursor, table.engine):
        return False
    _accept_column_word(cursor, table.engine)
    renamed = _parse_existing_column(cursor, table)
    cursor.expect("TO")
    token = cursor.token
    name = grammar.identifier(cursor, table.engine)
    if (existing := table.column(name)) is not None and existing is not renamed:
        problem = f"the table has a column {name!r} already"
        raise cursor.fail(problem, code="duplicate-column", span=token.span)
    table.rename_column(renamed, name)
    return True


def _parse_set(cursor: Cursor, table: TableDefinition) -> bool:
    """Parse ``SET SCHEMA s``, which moves the table, or Oracle's ``SET UNUSED``, a DROP."""
    if cursor.accept("SET", "SCHEMA"):
        table.path = (*table.path[:-2], grammar.identifier(cursor, table.engine), table.path[-1])
        return True
    if table.engine.name == "bigquery" and cursor.accept("SET", "OPTIONS"):
        parse_description(cursor, table)
        return True
    if cursor.accept("SET", "UNUSED"):
        return _parse_drop(cursor, table)
    if table.engine.name == "snowflake" and cursor.follows("SET", "COMMENT", "="):
        cursor.accept("SET")
        return _parse_table_comment(cursor, table)
    return False


def _parse_comment_action(cursor: Cursor, table: TableDefinition) -> bool:
    """Parse MySQL's ``COMMENT = 'x'``, or ``COMMENT COLUMN c 'x'`` of ClickHouse."""
    if not cursor.accept("COLUMN"):
        cursor.index -= 1
        return _parse_table_comment(cursor, table)
    cursor.accept("IF", "EXISTS")
    commented = _parse_existing_column(cursor, table)
    commented.comment = cursor.string_literal()
    return True


#: First word of an action -> its parser; False: another action.
ACTIONS: dict[str, Callable[[Cursor, TableDefinition], bool]] = {
    "ADD":     _parse_add,
    "ALTER":   _parse_alter_column,
    "MODIFY":  _parse_modify,
    "CHANGE":  _parse_change,
    "REPLACE": _parse_replace,
    "DROP":    _parse_drop,
    "DISABLE": _parse_disable,
    "RENAME":  _parse_rename,
    "SET":     _parse_set,
    "COMMENT": _parse_comment_action,
}  # fmt: skip

#: Actions that concern owners, indexes, triggers and storage.
SKIPPED_ACTIONS = frozenset({
    "OWNER TO", "ENABLE KEYS", "DISABLE KEYS", "ENABLE TRIGGER", "DISABLE TRIGGER", "CLUSTER ON",
    "SET WITHOUT CLUSTER", "SET TABLESPACE", "REPLICA IDENTITY", "VALIDATE CONSTRAINT",
    "AUTO_INCREMENT",
})  # fmt: skip

SKIPPED_CHANGES = frozenset({"SET STATISTICS", "SET STORAGE", "SET COMPRESSION"})


def _begins(cursor: Cursor, words: frozenset[str]) -> bool:
    first, second, third = (cursor.peek(ahead).key for ahead in range(3))
    return bool({first, f"{first} {second}", f"{first} {second} {third}"} & words)


#: Words after ADD, DROP and RENAME that do not start a column.
NOT_COLUMNS = frozenset({
    "PARTITION", "PARTITIONS", "KEY", "INDEX", "GENERATED", "ROW", "SEARCH", "TAG", "ROLLUP",
    "CONSTRAINT", "STATISTICS", "PERIOD FOR", "SYSTEM", "CLUSTERING", "MASKING", "AS",
    "SUPPLEMENTAL", "FEATURE", "ALL ROW", "DEFAULT (", "DEFAULT FOR", "SUBPARTITION",
    "PROJECTION", "FOREIGN", "CHECK", "DISTRIBUTION", "VALUE", "UNUSED",
})  # fmt: skip


# --- scripts --------------------------------------------------------------------------------------


#: Maximum number of last names by which a table is found.
MAX_SUFFIX = 4

#: The kind of a name (`path`, `suffix`, `schema`), and the name.
Names: TypeAlias = tuple[str, tuple[str, ...]]


@dataclass(slots=True)
class ScriptDefinitions:
    """The definitions of a script; `dropped` are statements that belong to none of its tables.

    `errors` are those of statements that were not read.

    `home` precedes names without a schema: the database of the last USE, the search path; while
    elements of CREATE SCHEMA are read, `home_after_schema` is what it was before.

    `condition` holds the tokens of the condition under which statements run, none if it is not a
    test of tables; `blocks` counts the blocks of such statements.
    """

    engine: Engine
    types: grammar.UserTypes = field(default_factory=grammar.UserTypes)
    dropped: list[grammar.Dropped] = field(default_factory=list)
    errors: Gathering = field(default_factory=Gathering)
    home: tuple[str, ...] = ()
    home_after_schema: tuple[str, ...] | None = None
    condition: tuple[Token, ...] | None = None
    blocks: int = 0
    _tables: dict[int, TableDefinition] = field(default_factory=dict)
    _by_names: dict[Names, dict[int, TableDefinition]] = field(default_factory=dict)

    @property
    def tables(self) -> list[TableDefinition]:
        return list(self._tables.values())

    def add(self, table: TableDefinition) -> None:
        self._tables[id(table)] = table
        for names in _names(table.path):
            self._by_names.setdefault(names, {})[id(table)] = table

    def remove(self, table: TableDefinition) -> None:
        del self._tables[id(table)]
        self._forget(table, table.path)

    def rename_table(self, table: TableDefinition, before: tuple[str, ...]) -> None:
        """Make a table findable by its new path only."""
        self._forget(table, before)
        self.add(table)

    def _forget(self, table: TableDefinition, path: tuple[str, ...]) -> None:
        for names in _names(path):
            self._by_names[names].pop(id(table), None)

    def full_path(self, name: tuple[str, ...]) -> tuple[str, ...]:
        return (*self.home[: max(0, len(self.home) + 1 - len(name))], *name)

    def last_created(self) -> TableDefinition | None:
        return next(reversed(self._tables.values()), None)

    def in_schema(self, name: tuple[str, ...]) -> list[TableDefinition]:
        return list(self._by_names.get(("schema", name), {}).values())

    def find(self, name: tuple[str, ...]) -> TableDefinition | None:
        """Return the table at a path; leading names may be omitted on either side."""
        name = self.full_path(name)
        if (table := self.last_named("suffix", name)) is not None:
            return table
        shorter = (name[-length:] for length in range(min(len(name), MAX_SUFFIX), 0, -1))
        return next(filter(None, (self.last_named("path", part) for part in shorter)), None)

    def last_named(self, kind: str, name: tuple[str, ...]) -> TableDefinition | None:
        return next(reversed(self._by_names.get((kind, name), {}).values()), None)


def _names(path: tuple[str, ...]) -> set[Names]:
    lengths = range(1, min(len(path), MAX_SUFFIX) + 1)
    return {
        ("path", path),
        *(("suffix", path[-length:]) for length in lengths),
        ("schema", path[:-1]),
        ("schema", path[-2:-1]),
    }


#: Words between CREATE and TABLE.
MODIFIERS = frozenset(
    {
        "OR", "REPLACE", "TEMP", "TEMPORARY", "GLOBAL", "LOCAL", "EXTERNAL", "UNLOGGED", "FOREIGN",
        "TRANSIENT", "VOLATILE", "HYBRID", "ICEBERG", "MANAGED", "SNAPSHOT", "DYNAMIC", "COLUMN",
        "INTERACTIVE", "PRIVATE", "IMMUTABLE", "BLOCKCHAIN", "SHARDED", "DUPLICATED", "STREAMING",
        "LIVE", "MEMORY", "CACHED", "REMOTE", "ROW", "READ", "ONLY", "REFRESH", "EDITIONABLE",
        "NONEDITIONABLE",
    }
)  # fmt: skip

#: First words of statements that cannot change a table. SELECT INTO can.
SKIPPED = frozenset(
    {
        # settings and sessions
        "SET", "RESET", "USE ROLE", "USE WAREHOUSE", "USE SECONDARY ROLES", "PRAGMA", "DELIMITER",
        "DISCARD", "LISTEN", "NOTIFY", "FLUSH",
        # transactions and locks
        "BEGIN", "START", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "END", "LOCK", "UNLOCK",
        "CHECKPOINT",
        # rows
        "SELECT", "VALUES", "COPY", "INSERT", "REPLACE", "UPDATE", "DELETE", "MERGE", "TRUNCATE",
        "LOAD DATA", "REFRESH",
        # statistics and storage
        "ANALYZE", "VACUUM", "REINDEX", "CLUSTER", "OPTIMIZE", "REPAIR", "MSCK", "CACHE", "UNCACHE",
        # metadata queries
        "SHOW", "DESCRIBE", "DESC", "EXPLAIN",
        # owners, grants and roles
        "GRANT", "REVOKE", "SECURITY LABEL", "ALTER DEFAULT PRIVILEGES", "REASSIGN OWNED",
        "CREATE ROLE", "CREATE USER", "ALTER ROLE", "ALTER USER",
        # databases, schemas and extensions; comments on them
        "CREATE DATABASE", "ALTER DATABASE", "CREATE EXTENSION", "COMMENT ON DATABASE",
        "COMMENT ON SCHEMA", "COMMENT ON EXTENSION", "COMMENT ON ROLE",
    }
)  # fmt: skip

#: The same for one engine. DO of PostgreSQL runs any statement.
OWN_SKIPPED = {
    "mysql": frozenset({"DO", "CHECK TABLE", "HANDLER", "KILL", "PURGE"}),
    "tsql": frozenset(
        {
            "PRINT", "GO", "RAISERROR", "THROW", "RETURN", "WAITFOR", "ELSE", "DBCC", "DENY",
            "DECLARE", "BACKUP", "CREATE LOGIN", "ALTER AUTHORIZATION", "BULK INSERT",
            "ENABLE TRIGGER", "DISABLE TRIGGER",
        }
    ),
    "oracle": frozenset(
        {
            "AUDIT", "NOAUDIT", "PURGE", "CREATE TABLESPACE", "ALTER TABLESPACE", "CREATE PROFILE",
            "CREATE DIRECTORY", "ALTER SYSTEM", "CREATE BITMAP",
        }
    ),
}  # fmt: skip

#: The table of a statement, and whether all of it was parsed.
Outcome: TypeAlias = tuple[TableDefinition | None, bool]


#: Returns the tokens of a span of a script.
Tokenize: TypeAlias = Callable[[str, Span], list[Token]]

#: Maximum number of characters that are read again after a malformed statement.
MAX_REREAD = 4_000_000

#: Maximum length of a statement in the path of an error.
MAX_STATEMENT = 40

#: Statements of rows, which can be long: they are not tokenized.
_TRIGGER = regex(r"CREATE\b[^;('\"]*\bTRIGGER\b", re.IGNORECASE)
_ROWS = regex(r"(?:INSERT|UPDATE|DELETE)\b", re.IGNORECASE)


def parse_script(text: str, engine: Engine, tokenize: Tokenize) -> ScriptDefinitions:
    """Parse all tables of a script, with comments, keys and changes in separate statements.

    A statement that cannot be parsed is an error of the script; the others are read.
    """
    script = ScriptDefinitions(engine)
    source = with_version_comments(text, engine.name)
    splitter, rest = Splitter(source, engine.name), MAX_REREAD
    while (section := splitter.next()) is not None:
        is_broken = False
        try:
            _parse_section(source, section, splitter, script, tokenize)
        except SchemaCoreError as error:
            is_broken = isinstance(error, ParseError) or hides_table(source, section)
            excerpt = grammar.shorten(source[section.start : section.stop], MAX_STATEMENT)
            for other in (error, *error.others):
                other.span = other.span or section.span
                other.path = (f"statement {excerpt!r}", *other.path)
            script.errors.add(error)
        start = next_statement(source, section) if is_broken and rest > 0 else None
        if start is not None:
            rest -= section.stop - start
            splitter.resume(start)
    if not script.tables and not script.errors.errors:
        problem = "the script has no CREATE TABLE"
        script.errors.add(ParseError(problem, code="missing-create-table", span=Span(0, 1)))
    return script


def _parse_section(
    source: str,
    section: Section,
    splitter: Splitter,
    script: ScriptDefinitions,
    tokenize: Tokenize,
) -> None:
    """Parse a section; raise an error for one that is not understood."""
    if script.home_after_schema is not None:
        script.home, script.home_after_schema = script.home_after_schema, None
    if section.problem is not None:
        raise ParseError(
            section.problem,
            hint="check that the script is complete",
            span=Span(section.begin, section.begin + 1),
        )
    stray = find_stray_quote(source, section) if section.kind is SectionKind.STATEMENT else None
    if stray is not None:
        problem = "a literal ends within a word"
        raise ParseError(problem, hint="double its quotes", span=Span(stray, stray + 1))
    is_row = _ROWS.match(source, section.start) is not None
    hides = hides_table(source, section)
    owner = None
    match section.kind:
        case SectionKind.STATEMENT if not is_row or hides:
            if is_row:
                script.dropped.append(_drop_section(source, section))
            cursor = Cursor(source, tokenize(source, section.span))
            while cursor.token.kind != "end":
                if not cursor.accept(";"):
                    _parse_statement(cursor, script)
            return
        case SectionKind.COMMAND:
            is_dropped = not splitter.is_harmless(section)
        case SectionKind.ROUTINE:
            is_dropped = True
            if _TRIGGER.match(source, section.start, section.stop):
                with Gathering().catching():  # a body that sqlglot does not tokenize
                    owner = _parse_owner(Cursor(source, tokenize(source, section.span)), script)
        case _:
            is_dropped = hides
    if is_dropped:
        dropped = script.dropped if owner is None else owner.dropped
        dropped.append(_drop_section(source, section))


def _drop_section(source: str, section: Section) -> grammar.Dropped:
    excerpt = grammar.shorten(source[section.start : section.stop].strip())
    return grammar.Dropped(excerpt, section.start)


def _parse_statement(cursor: Cursor, script: ScriptDefinitions) -> None:
    start, index = cursor.token, cursor.index
    opens_block = _follow_blocks(cursor, script)
    own = OWN_SKIPPED.get(script.engine.name, frozenset())
    is_skipped = _begins(cursor, SKIPPED) or _begins(cursor, own)
    owner, is_read = None, False
    for words, read in STATEMENTS.items():
        if cursor.accept(*words):
            owner, is_read = read(cursor, script)
            break
    next_element = () if script.home_after_schema is None else ("CREATE",)
    if cursor.key != "CREATE" and grammar.skip_statement(cursor, next_element):
        is_read = False
    if not opens_block:
        _close_blocks(cursor, script, index)
    last = [token.key for token in cursor.tokens[max(index, cursor.index - 3) : cursor.index - 1]]
    sets_owner = cursor.tokens[index].key == "ALTER" and last == ["OWNER", "TO"]
    is_known = is_read or sets_owner or (is_skipped and not _can_change(cursor, index))
    if is_known and not _contains_table(cursor, index):
        return
    dropped = script.dropped if owner is None else owner.dropped
    dropped.append(grammar.drop_text(cursor, start.start))


def _contains_table(cursor: Cursor, index: int) -> bool:
    """Return whether a CREATE TABLE follows within a statement, whose semicolon is missing."""
    tokens = cursor.tokens[index : cursor.index]
    if tokens[0].key in {"GRANT", "REVOKE", "DENY"}:  # the privilege
        return False
    return any(
        token.key.endswith("CREATE") and "TABLE" in [near.key for near in tokens[place : place + 7]]
        for place, token in enumerate(tokens)
        if place > 0
    )


def _can_change(cursor: Cursor, index: int) -> bool:
    tokens = cursor.tokens[index : cursor.index]
    if tokens[0].key in {"BEGIN", "ELSE"}:
        return any(token.key in {"ALTER", "CREATE", "DROP"} for token in tokens)
    if tokens[0].key != "SELECT":
        return False
    names = [token.value for token in tokens if token.kind == "string"]
    sets_path = names[:1] == ["search_path"] and names[1:2] != [""]
    return sets_path or any(token.key == "INTO" for token in tokens)


def _follow_blocks(cursor: Cursor, script: ScriptDefinitions) -> bool:
    """Follow the blocks of conditions and of TRY; return whether nothing else follows."""
    place, opens = 0, False
    while (key := cursor.peek(place).key) in {"BEGIN", "END", "ELSE", "TRY", "CATCH"}:
        following = cursor.peek(place + 1).key
        if key == "ELSE" or (key == "BEGIN" and following in {"TRY", "CATCH"}):
            script.condition = ()
        if key == "BEGIN" and not following.startswith(("TRAN", "DISTRIBUTED")):
            script.blocks += script.condition is not None
        if key == "END":
            script.blocks = max(0, script.blocks - 1)
        if key not in {"TRY", "CATCH"}:
            opens = key != "END"
        place += 1
    return opens and cursor.token.kind != "end" and cursor.peek(place).kind == "end"


def _close_blocks(cursor: Cursor, script: ScriptDefinitions, index: int) -> None:
    """Leave the blocks that end within a statement; outside of blocks, its condition ends."""
    tokens = cursor.tokens[index : cursor.index]
    keys = [token.key for token in tokens]
    if keys[0] in {"BEGIN", "ELSE", "IF"}:
        script.blocks = max(0, script.blocks - max(0, keys.count("END") - keys.count("CASE")))
    if not script.blocks and (keys[0] != "IF" or "BEGIN" in keys):
        script.condition = None


def _parse_create(cursor: Cursor, script: ScriptDefinitions) -> Outcome:
    engine, start = script.engine, cursor.tokens[cursor.index - 1]
    replaces, is_temporary = cursor.key == "OR", False
    while cursor.key in MODIFIERS:
        is_temporary = cursor.advance().key in {"TEMP", "TEMPORARY"} or is_temporary
    if cursor.accept("TABLE"):
        is_conditional = cursor.key == "IF"
        table = create_table(cursor, engine, start, script.find, script.types)
        table.path = script.full_path(table.path)
        is_temporary = is_temporary or table.path[-1].startswith("#")  # T-SQL
        table.dropped += [grammar.Dropped("TEMPORARY", start.start)] if is_temporary else []
        existing = script.last_named("path", table.path)
        if existing is not None and is_conditional:
            return existing, True  # the statement has no effect
        if existing is not None:
            if not replaces:
                raise AlreadyExistsError(
                    f"the script has already created the table {'.'.join(table.path)!r}",
                    code="table-exists",
                    hint="read the dump of one database at a time",
                    span=table.span,
                    text=cursor.text,
                )
            script.remove(existing)
        script.add(table)
        return table, True
    if engine.name == "snowflake" and cursor.key in {"SCHEMA", "DATABASE"}:
        _set_home(cursor, script)
        for replaced in script.in_schema(script.home) if replaces else []:
            script.remove(replaced)
        return None, False
    if cursor.accept("SCHEMA"):
        _enter_schema(cursor, script)
        return None, False
    if cursor.accept("TYPE"):
        return None, grammar.create_type(cursor, engine, script.types)
    if cursor.accept("DOMAIN"):
        return None, grammar.create_domain(cursor, engine, script.types)
    return _parse_owner(cursor, script), False


def _enter_schema(cursor: Cursor, script: ScriptDefinitions) -> None:
    """Parse ``CREATE SCHEMA s AUTHORIZATION x`` up to its elements, whose names are in it."""
    cursor.accept("IF", "NOT", "EXISTS")
    cursor.accept("AUTHORIZATION")
    home = path(cursor, script.engine) if cursor.token.kind in {"word", "name"} else ()
    grammar.skip_statement(cursor, ("CREATE",))
    if cursor.key == "CREATE":
        script.home, script.home_after_schema = home, script.home


def _parse_attach(cursor: Cursor, script: ScriptDefinitions) -> Outcome:
    """Parse ``ATTACH TABLE t (a Int8)``, as ClickHouse stores its tables."""
    is_definition = script.engine.name == "clickhouse" and cursor.key == "TABLE"
    return _parse_create(cursor, script) if is_definition else (None, False)


def _parse_owner(cursor: Cursor, script: ScriptDefinitions) -> TableDefinition | None:
    """Parse up to the table of an index, a trigger or a policy, and return the table."""
    grammar.skip_statement(cursor, ("ON", "AS"))
    if not cursor.accept("ON"):
        return None
    cursor.accept("ONLY")
    if cursor.token.kind not in {"word", "name"}:
        return None
    return script.find(path(cursor, script.engine))


def _parse_comment_on(cursor: Cursor, script: ScriptDefinitions) -> Outcome:
    """Parse ``COMMENT ON TABLE t IS 'string'`` or ``COMMENT ON COLUMN t.c IS 'string'``."""
    if cursor.accept("TABLE"):
        table = script.find(path(cursor, script.engine))
        if table is None or not cursor.accept("IS"):
            return table, False
        table.comment = None if cursor.accept("NULL") else cursor.string_literal()
        return table, True
    if not cursor.accept("COLUMN"):
        return None, False
    *home, name = path(cursor, script.engine)
    table = script.find(tuple(home)) if home else script.last_created()
    if table is None:
        return None, False
    if (commented := table.column(name)) is None:
        raise cursor.fail(
            f"COMMENT ON COLUMN: the table has no column {name!r}", code="unknown-column"
        )
    cursor.expect("IS")
    commented.comment = None if cursor.accept("NULL") else cursor.string_literal()
    return table, True


def _parse_alter(cursor: Cursor, script: ScriptDefinitions) -> Outcome:
    """Parse ALTER TABLE; undeclared tables are reported as losses."""
    is_conditional = cursor.accept("IF", "EXISTS")
    cursor.accept("ONLY")
    table = script.find(path(cursor, script.engine))
    cursor.accept("*")
    if table is None:
        if is_conditional:
            grammar.skip_until(cursor, (";",))
        return None, is_conditional
    before = table.path
    alter_table(cursor, table)
    if table.path != before:
        script.rename_table(table, before)
    return table, True


def _parse_rename_tables(cursor: Cursor, script: ScriptDefinitions) -> Outcome:
    """Parse MySQL's ``RENAME TABLE a TO b, c TO d``."""
    is_complete = True
    while True:
        table = script.find(path(cursor, script.engine))
        cursor.expect("TO")
        new = script.full_path(path(cursor, script.engine))
        if table is not None:
            before, table.path = table.path, new
            script.rename_table(table, before)
        is_complete = is_complete and table is not None
        if not cursor.accept(","):
            return None, is_complete


def _parse_drop_objects(cursor: Cursor, script: ScriptDefinitions) -> Outcome:
    """Parse DROP: tables, also of dropped schemas, leave the script.

    Other objects cannot be dropped together with parts of tables, except with CASCADE.
    """
    while cursor.key in MODIFIERS:
        cursor.advance()
    kind, index = cursor.advance().key, cursor.index
    removed, is_certain = 0, True
    if kind in {"TABLE", "SCHEMA", "DATABASE"}:
        cursor.accept("IF", "EXISTS")
        while cursor.token.kind in {"word", "name"}:
            name = path(cursor, script.engine)
            if not _is_executed(script, name[-1]):
                is_certain = False
                break
            table = script.find(name) if kind == "TABLE" else None
            dropped = script.in_schema(name) if kind != "TABLE" else [table] if table else []
            for definition in dropped:
                script.remove(definition)
            removed += len(dropped)
            if not cursor.accept(","):
                break
    grammar.skip_until(cursor, (";",))
    cascades = any(token.key == "CASCADE" for token in cursor.tokens[index : cursor.index])
    is_whole = kind in {"SCHEMA", "DATABASE"} or (kind == "TABLE" and not removed)
    return None, is_certain and (not cascades or is_whole)


#: Names in conditions that test whether a table exists.
EXISTENCE = frozenset({"OBJECT_ID", "SYSOBJECTS", "OBJECTS", "TABLES", "SCHEMAS", "SCHEMA_ID"})


def _is_executed(script: ScriptDefinitions, name: str) -> bool:
    """Return whether a DROP has no condition, or only that what it drops exists."""
    if script.condition is None:
        return True
    keys = [token.value.upper() for token in script.condition]
    outer, depth = [], 0
    for key in keys:
        depth += (key == "(") - (key == ")")
        if depth == 0:
            outer.append(key)
    names = {
        part.strip('[]" ').casefold()
        for token in script.condition
        if token.kind == "string"
        for part in token.value.split(".")
    }
    is_negated = "IS NULL" in " ".join(outer) or outer[:1] == ["NOT"]
    return (
        not EXISTENCE.isdisjoint(keys)
        and name.casefold() in names
        and not is_negated
        and not {"AND", "OR"} & set(outer)
    )


def _set_home(cursor: Cursor, script: ScriptDefinitions) -> None:
    """Parse the current schema or database of Snowflake, whose schema is PUBLIC."""
    is_database = cursor.accept("DATABASE") or not cursor.accept("SCHEMA")
    cursor.accept("IF", "NOT", "EXISTS")
    name = path(cursor, script.engine)
    if len(name) > 1:
        script.home = name
    elif is_database:
        script.home = (*name, "PUBLIC")
    else:
        script.home = (*script.home[:-1], *name)


def _parse_use(cursor: Cursor, script: ScriptDefinitions) -> Outcome:
    """Parse ``USE [SCHEMA] name``; a catalog is a loss."""
    is_setting = cursor.key in {"ROLE", "WAREHOUSE", "SECONDARY"}
    if script.engine.name == "snowflake" and not is_setting:
        _set_home(cursor, script)
        return None, True
    kind = cursor.advance().key if cursor.peek().kind in {"word", "name"} else ""
    if kind in {"", "SCHEMA", "NAMESPACE", "DATABASE"}:
        script.home = path(cursor, script.engine)
        return None, True
    if kind == "CATALOG":
        script.home = ()
    return None, False


def _parse_setting(cursor: Cursor, script: ScriptDefinitions) -> Outcome:
    """Parse ``SET search_path = a, b`` of PostgreSQL; other settings are skipped."""
    if not cursor.accept("SESSION"):
        cursor.accept("LOCAL")
    if script.engine.name in {"postgres", "redshift"} and cursor.accept("SEARCH_PATH"):
        cursor.advance()  # = or TO
        names = []
        while cursor.token.kind in {"word", "name", "string"}:
            token = cursor.advance()
            names.append(script.engine.fold_case(token.value, quoted=token.kind != "word"))
            cursor.accept(",")
        databases = [name for name in names if name not in {"", "$user", "default"}]
        script.home = tuple(databases[:1])
    grammar.skip_until(cursor, (";",))
    return None, True


def _parse_session(cursor: Cursor, script: ScriptDefinitions) -> Outcome:
    """Parse Oracle's ``ALTER SESSION SET CURRENT_SCHEMA = s``; other settings are skipped."""
    if cursor.accept("SET", "CURRENT_SCHEMA", "="):
        script.home = path(cursor, script.engine)
    grammar.skip_statement(cursor)
    return None, True


#: The arguments of T-SQL's procedure for comments, in their order.
PROPERTY_ARGUMENTS = (
    "NAME", "VALUE", "LEVEL0TYPE", "LEVEL0NAME", "LEVEL1TYPE", "LEVEL1NAME", "LEVEL2TYPE",
    "LEVEL2NAME",
)  # fmt: skip


def _parse_execute(cursor: Cursor, script: ScriptDefinitions) -> Outcome:
    """Parse T-SQL's ``EXEC sp_addextendedproperty 'MS_Description', 'comment', ...``."""
    is_comment = cursor.accept("SYS", ".", "SP_ADDEXTENDEDPROPERTY") or cursor.accept(
        "SP_ADDEXTENDEDPROPERTY"
    )
    if not is_comment:
        return None, False
    arguments: dict[str, str] = {}
    names = iter(PROPERTY_ARGUMENTS)
    while cursor.token.kind != "end" and cursor.key != ";":
        name = next(names, "")
        if cursor.accept("@"):
            name = cursor.advance().key
            cursor.expect("=")
        arguments[name] = cursor.advance().value
        if not cursor.accept(","):
            break
    kinds = [arguments.get(f"LEVEL{level}TYPE", "").upper() for level in (1, 2)]
    if arguments.get("NAME") != "MS_Description" or kinds[0] != "TABLE":
        return None, False
    table = script.find((arguments.get("LEVEL0NAME", ""), arguments.get("LEVEL1NAME", "")))
    if table is None or kinds[1] not in {"", "NULL", "COLUMN"}:
        return table, False
    if kinds[1] != "COLUMN":
        table.comment = arguments.get("VALUE")
        return table, True
    commented = table.column(arguments.get("LEVEL2NAME", ""))
    if commented is not None:
        commented.comment = arguments.get("VALUE")
    return table, commented is not None


def _parse_conditional(cursor: Cursor, script: ScriptDefinitions) -> Outcome:
    """Parse T-SQL's ``IF NOT EXISTS (...) CREATE TABLE ...`` as if the condition were true.

    A condition alone holds for the statement on the next line. A DROP must be certain.
    """
    start = cursor.index
    grammar.skip_statement(cursor, ("CREATE", "DROP", "ALTER", "BEGIN", "EXEC", "EXECUTE"))
    script.condition = () if script.blocks else tuple(cursor.tokens[start : cursor.index])
    is_open = cursor.key == "BEGIN" or cursor.tokens[cursor.index - 1].key == "THEN"
    script.blocks += is_open
    for words, read in STATEMENTS.items():
        if words[0] in {"CREATE", "DROP", "ALTER"} and cursor.accept(*words):
            outcome = read(cursor, script)
            if not is_open:
                script.condition = () if script.blocks else None
            return outcome
    is_complete = cursor.accept("BEGIN") or cursor.token.kind == "end"
    return None, script.engine.name == "tsql" and is_complete


STATEMENTS: dict[tuple[str, ...], Callable[[Cursor, ScriptDefinitions], Outcome]] = {
    ("CREATE",):         _parse_create,
    ("ATTACH",):         _parse_attach,
    ("COMMENT", "ON"):   _parse_comment_on,
    ("ALTER", "TABLE"):  _parse_alter,
    ("RENAME", "TABLE"): _parse_rename_tables,
    ("DROP",):           _parse_drop_objects,
    ("USE",):            _parse_use,
    ("SET",):            _parse_setting,
    ("ALTER", "SESSION"): _parse_session,
    ("IF",):             _parse_conditional,
    ("EXEC",):           _parse_execute,
    ("EXECUTE",):        _parse_execute,
}  # fmt: skip
