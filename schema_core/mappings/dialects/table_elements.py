"""Columns, keys and other constraints of a table, in CREATE TABLE and ALTER TABLE.

Clauses that a schema cannot represent are kept as strings in `dropped`.
"""

from __future__ import annotations

from dataclasses import replace

from schema_core.base.cursor import Cursor
from schema_core.base.text import Span
from schema_core.errors import UnsupportedError
from schema_core.mappings.dialects import grammar
from schema_core.mappings.dialects.column_options import (
    ColumnDefinition,
    column,
    constraint_name,
    is_unchecked,
    parse_key_columns,
    skip_attributes,
)
from schema_core.mappings.dialects.engines import Engine
from schema_core.mappings.dialects.grammar import path
from schema_core.mappings.dialects.table_definition import Find, TableDefinition


def merge_options(
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


def record_loss(cursor: Cursor, table: TableDefinition, start: int, stop: int) -> None:
    """Add a part of the script to the losses of a table, unless it is empty."""
    if text := grammar.excerpt(cursor, start, stop):
        table.dropped.append(grammar.Dropped(text, start))


def parse_table_comment(cursor: Cursor, table: TableDefinition, find: Find | None = None) -> bool:
    """Parse ``COMMENT 'string'`` or ``COMMENT = 'string'``."""
    cursor.advance()
    cursor.accept("=")
    if cursor.token.kind != "string":
        return False
    table.comment = cursor.string_literal()
    cursor.accept(",")  # MySQL separates options with commas
    return True


def parse_other_table(cursor: Cursor, table: TableDefinition, find: Find) -> TableDefinition:
    """Parse the path of another table of the script.

    Raises:
        UnsupportedError: with code `missing-columns` for an undeclared table.
    """
    place, name = cursor.token, path(cursor, table.engine)
    other = find(name)
    if other is None:
        raise UnsupportedError(
            f"the script does not define {'.'.join(name)!r}, whose columns the table takes",
            code="missing-columns",
            hint="add its CREATE TABLE before this statement, or list the columns",
            span=place.span,
            text=cursor.text,
        )
    return other


def copy_columns(other: TableDefinition) -> list[ColumnDefinition]:
    """Return the columns of another table; those of its key are NOT NULL."""
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
                             "PERIOD FOR", "CLUSTERING KEY", "UNIQUE CLUSTERING"}),
    "clickhouse": frozenset({"INDEX", "PROJECTION"}),
    "tsql":       frozenset({"INDEX"}),
}  # fmt: skip


def begins_constraint(cursor: Cursor, engine: Engine) -> bool:
    """Return whether a constraint follows rather than a column."""
    if grammar.begins(cursor, CONSTRAINTS | OWN_CONSTRAINTS.get(engine.name, frozenset())):
        return True
    # `INDEX name (column)` of Snowflake and `UNIQUE name (column)` of MySQL, but not a column with
    # such a name, whose type may have a length.
    return (
        cursor.key in {"INDEX", "UNIQUE"}
        and cursor.peek(2).key == "("
        and cursor.peek(3).kind != "number"
    )


def parse_element(cursor: Cursor, table: TableDefinition, find: Find) -> None:
    """Parse a column, the primary key, or another constraint, which is dropped."""
    if not begins_constraint(cursor, table.engine):
        if table.engine.name == "mysql":
            _skip_own_name(cursor, table)
        added = column(cursor, table.engine)
        table.columns.append(added)
        table.adopt_key(added)
        return
    start = cursor.token
    if cursor.accept("LIKE"):
        other = parse_other_table(cursor, table, find)
        table.columns += copy_columns(other)
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
        declare_key(cursor, table, name, start.start)
        return
    if cursor.accept("NOT", "NULL"):
        table.not_null.append(grammar.identifier(cursor, table.engine))
        grammar.skip_until(cursor, (",",))
        return
    grammar.skip_until(cursor, (",",))
    table.dropped.append(grammar.drop_text(cursor, start.start))


def _skip_own_name(cursor: Cursor, table: TableDefinition) -> None:
    """Skip the name of the table before that of a column, which MySQL 5.7 allows.

    Raises:
        ParseError: for the name of another table.
    """
    if cursor.accept(".") or cursor.peek().key != ".":
        return
    span = cursor.token.span
    *names, _ = path(cursor, table.engine)
    cursor.index -= 1
    if table.engine.comparable_name(names[-1]) != table.engine.comparable_name(table.path[-1]):
        raise cursor.fail(f"the table is {table.path[-1]!r}, not {names[-1]!r}", span=span)


def declare_key(cursor: Cursor, table: TableDefinition, name: str | None, start: int) -> None:
    """Parse the columns and attributes of a primary key; one that rows may violate is a loss.

    Raises:
        ParseError: for what follows a key of ClickHouse: a column without a comma.
    """
    key = parse_key_columns(cursor, table.engine, table.dropped)
    attributes = skip_attributes(cursor)
    if table.engine.disabled_keys and is_unchecked(attributes):
        grammar.skip_element(cursor)
        table.add_disabled_key(key, name, grammar.drop_text(cursor, start))
        return
    table.key, table.key_name = key, name
    rest = cursor.token.start
    if table.engine.name == "clickhouse" and cursor.token.kind in {"word", "name"}:
        raise cursor.fail(f"unexpected {cursor.token.display} after the primary key")
    grammar.skip_element(cursor)
    record_loss(cursor, table, start if "ON CONFLICT" in attributes else rest, cursor.token.start)


def require_new_column(
    cursor: Cursor,
    table: TableDefinition,
    name: str,
    span: Span,
    replaced: ColumnDefinition | None = None,
) -> None:
    """Refuse the name of a column that another column than `replaced` has.

    Raises:
        ParseError: with code `duplicate-column`.
    """
    existing = table.column(name)
    if existing is not None and existing is not replaced:
        problem = f"the table has a column {name!r} already"
        raise cursor.fail(problem, code="duplicate-column", span=span)


def parse_existing_column(cursor: Cursor, table: TableDefinition) -> ColumnDefinition:
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
