"""CREATE TABLE of other engines: the columns, where they come from, and the clauses after them."""

from __future__ import annotations

from collections.abc import Callable

from schema_core.base.cursor import Cursor
from schema_core.base.text import Token
from schema_core.errors import UnsupportedError
from schema_core.errors.hints import USE_SHOW_CREATE
from schema_core.mappings.dialects import grammar
from schema_core.mappings.dialects.column_options import (
    ColumnDefinition,
    column,
    options_of_column,
    parse_description,
    parse_key_columns,
)
from schema_core.mappings.dialects.engines import Engine
from schema_core.mappings.dialects.grammar import path
from schema_core.mappings.dialects.table_definition import Find, TableDefinition
from schema_core.mappings.dialects.table_elements import (
    begins_constraint,
    copy_columns,
    merge_options,
    parse_element,
    parse_existing_column,
    parse_other_table,
    parse_table_comment,
    record_loss,
)


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
    grammar.skip_cluster(cursor)
    if cursor.accept("UUID"):
        cursor.advance()
    if not _parse_columns_of_another(cursor, table, find, types):
        clause = cursor.token.start
        if cursor.accept("CLUSTER", "BY"):  # Snowflake's GET_DDL prints it before the columns
            cursor.accept("LINEAR")
            grammar.skip_token(cursor)
            table.dropped.append(grammar.drop_text(cursor, clause))
        if not cursor.accept("(") or _begins_query(cursor):
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


def _begins_query(cursor: Cursor) -> bool:
    """Return whether a query follows rather than columns: ``SELECT``, ``WITH q AS (`` or ``(``."""
    has_name = cursor.key == "WITH" and cursor.peek(2).key in {"AS", "("}
    return has_name or cursor.key in {"SELECT", "("}


def _parse_elements(cursor: Cursor, table: TableDefinition, find: Find) -> None:
    """Parse columns and constraints up to the closing bracket, which may follow a comma."""
    for _ in () if cursor.accept(")") else grammar.elements(cursor):
        if cursor.key == ")" and table.engine.trailing_commas:
            continue
        parse_element(cursor, table, find)


def _require_distinct(cursor: Cursor, table: TableDefinition) -> None:
    """Refuse columns with equal names.

    Raises:
        ParseError: with code `duplicate-column`.
    """
    names: set[str] = set()
    for declared in table.columns:
        name = table.engine.comparable_name(declared.name)
        if name in names:
            problem = f"the column {declared.name!r} is declared twice"
            raise cursor.fail(problem, code="duplicate-column", span=declared.span)
        names.add(name)


#: Words before a table whose columns are copied; the key, too, where the engine copies it.
COPIES: tuple[tuple[tuple[str, ...], bool], ...] = (
    (("LIKE",), False), (("CLONE", "AS"), True), (("CLONE",), True), (("SHALLOW", "CLONE"), True),
    (("DEEP", "CLONE"), True), (("COPY",), True),
)  # fmt: skip
#: Engines whose LIKE copies the primary key.
LIKE_WITH_KEY = frozenset({"mysql", "snowflake"})


def _parse_columns_of_another(
    cursor: Cursor, table: TableDefinition, find: Find, types: grammar.UserTypes
) -> bool:
    """Parse ``LIKE other``, ``CLONE other``, ``PARTITION OF parent`` or ``OF type``."""
    start = cursor.token.start
    if cursor.follows("COPY", "GRANTS"):  # of the table that is replaced
        return False
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
    other = parse_other_table(cursor, table, find)
    table.columns = copy_columns(other)
    table.partition_keys = other.partition_keys
    if with_key:
        table.key, table.key_name = other.primary_key()[0], None


def _parse_typed_elements(cursor: Cursor, table: TableDefinition, find: Find) -> None:
    """Parse constraints, and options of columns that are declared elsewhere."""
    for _ in () if cursor.accept(")") else grammar.elements(cursor):
        if begins_constraint(cursor, table.engine):
            parse_element(cursor, table, find)
            continue
        start = cursor.token.start
        changed = parse_existing_column(cursor, table)
        cursor.accept("WITH", "OPTIONS")
        merge_options(changed, options_of_column(cursor, changed), cursor, start)


def _no_columns(cursor: Cursor) -> UnsupportedError:
    return UnsupportedError(
        "the statement does not list the columns of the table",
        code="missing-columns",
        hint=USE_SHOW_CREATE,
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
            record_loss(cursor, table, start, cursor.tokens[before].start)
            start = cursor.token.start
    record_loss(cursor, table, start, cursor.token.start)


def _parse_key_clause(cursor: Cursor, table: TableDefinition, find: Find) -> bool:
    if not cursor.accept("PRIMARY", "KEY"):
        return False
    table.key = parse_key_columns(cursor, table.engine, table.dropped)
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
        inherited += copy_columns(parse_other_table(cursor, table, find))
    own = {column.name for column in table.columns}
    merged = {column.name: column for column in inherited if column.name not in own}
    table.columns[:0] = merged.values()
    return True


#: First word of a clause -> its parser; False: another clause.
TAILS: dict[str, Callable[[Cursor, TableDefinition, Find], bool]] = {
    "PRIMARY":     _parse_key_clause,
    "PARTITIONED": _parse_partitions,
    "COMMENT":     parse_table_comment,
    "OPTIONS":     _parse_options,
    "WITH":        _parse_external_partitions,
    "INHERITS":    _parse_inherits,
}  # fmt: skip
#: Clauses that are not a loss.
PARSED_TAILS = frozenset({"COMMENT", "OPTIONS", "PARTITIONED", "WITH"})
