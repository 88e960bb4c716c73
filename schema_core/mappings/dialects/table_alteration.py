"""ALTER TABLE of other engines: its actions, applied to the definition of the table."""

from __future__ import annotations

from collections.abc import Callable

from schema_core.base.cursor import Cursor
from schema_core.errors import Gathering, at
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
from schema_core.mappings.dialects.engines import Engine
from schema_core.mappings.dialects.grammar import path
from schema_core.mappings.dialects.table_definition import TableDefinition
from schema_core.mappings.dialects.table_elements import (
    begins_constraint,
    declare_key,
    merge_options,
    parse_existing_column,
    parse_table_comment,
    record_loss,
    require_new_column,
)


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
                record_loss(cursor, table, start.start, cursor.token.start)
        action = start.key if start.key in ACTIONS else action
        if not cursor.accept(","):
            break
    errors.raise_all()


#: Engines whose ADD, DROP and ALTER name several columns, and the words of such lists.
LISTS = frozenset({"tsql", "snowflake", "spark", "databricks"})
LIST_ACTIONS = frozenset({"ADD", "DROP", "ALTER", "MODIFY"})


def _alter(cursor: Cursor, table: TableDefinition, before: str) -> bool:
    """Apply an action, or an element of the list of the action before; False: not understood."""
    if grammar.begins(cursor, SKIPPED_ACTIONS):
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


def _skip_ineffective(cursor: Cursor, table: TableDefinition) -> bool:
    """Parse ``IF EXISTS`` or ``IF NOT EXISTS``; skip the action if it has no effect."""
    if_exists, if_not_exists = cursor.accept("IF", "EXISTS"), cursor.accept("IF", "NOT", "EXISTS")
    token = cursor.token
    is_column = token.kind in {"word", "name"} and not _names_field(cursor)
    if not (if_exists or if_not_exists) or not is_column:
        return False
    name = table.engine.fold_case(token.value, quoted=token.kind == "name")
    has_effect = (table.column(name) is None) == if_not_exists
    if not has_effect:
        grammar.skip_statement(cursor, (",",))
    return not has_effect


def _names_field(cursor: Cursor) -> bool:
    """Return whether a field of a column follows, whose changes are losses: ``DROP COLUMN a.b``."""
    return cursor.token.kind in {"word", "name"} and cursor.peek().key == "."


def _names_column(cursor: Cursor, table: TableDefinition, others: frozenset[str]) -> bool:
    """Return whether a column of the table follows, rather than one of some other words."""
    return not grammar.begins(cursor, others) or table.column(cursor.token.value) is not None


def _parse_add(cursor: Cursor, table: TableDefinition) -> bool:
    """Parse ``ADD COLUMN a int``, or ``ADD CONSTRAINT k PRIMARY KEY (a)`` as in dumps."""
    engine = table.engine
    if begins_constraint(cursor, engine):
        return _parse_added_constraint(cursor, table)
    if grammar.begins(cursor, NOT_COLUMNS):
        return False
    _accept_column_word(cursor, engine)
    if _skip_ineffective(cursor, table):
        return True
    if grammar.begins(cursor, NOT_COLUMNS) or _names_field(cursor):
        return False
    is_conditional = cursor.tokens[cursor.index - 1].key == "EXISTS"
    if not cursor.accept("("):
        _insert_column(cursor, table, column(cursor, engine), len(table.columns))
        return True
    for _ in grammar.elements(cursor):  # several columns, in Oracle also constraints
        start = cursor.token.start
        is_constraint = begins_constraint(cursor, engine)
        if is_conditional and table.column(cursor.token.value) is not None:
            grammar.skip_until(cursor, (",",))
        elif not is_constraint and not _names_field(cursor):
            _insert_column(cursor, table, column(cursor, engine), len(table.columns))
        elif not is_constraint or not _parse_added_constraint(cursor, table):
            grammar.skip_until(cursor, (",",))
            record_loss(cursor, table, start, cursor.token.start)
    grammar.skip_until(cursor, (",", ";"))  # CASCADE
    return True


def _parse_added_constraint(cursor: Cursor, table: TableDefinition) -> bool:
    start = cursor.token.start
    name = constraint_name(cursor, table.engine) if cursor.accept("CONSTRAINT") else None
    if cursor.accept("NOT", "NULL"):
        parse_existing_column(cursor, table).nullable = False
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
    declare_key(cursor, table, name, start)
    return True


def _insert_column(
    cursor: Cursor,
    table: TableDefinition,
    added: ColumnDefinition,
    default: int,
    replaced: ColumnDefinition | None = None,
) -> None:
    """Insert a column at the position of FIRST, LAST or AFTER, else at a default position.

    `replaced` is removed, unless the position is invalid.

    Raises:
        ParseError: with code `duplicate-column`.
    """
    require_new_column(cursor, table, added.name, added.span, replaced)
    if cursor.accept("FIRST"):
        default = 0
    elif cursor.accept("LAST"):
        default = len(table.columns)
    elif cursor.accept("AFTER"):
        default = _index_of(table, parse_existing_column(cursor, table)) + 1
    if replaced is not None:
        place = _index_of(table, replaced)
        del table.columns[place]
        table.reindex_columns()
        default -= place < default
    table.insert_column(default, added)
    table.adopt_key(added)


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
    return _skip_ineffective(cursor, table) or _change_column(
        cursor, table, parse_existing_column(cursor, table)
    )


def _change_column(cursor: Cursor, table: TableDefinition, changed: ColumnDefinition) -> bool:
    """Parse what follows the name of a column that is altered."""
    start = cursor.token
    if cursor.accept("SET", "NOT", "NULL"):
        changed.nullable = False
    elif cursor.accept("DROP", "NOT", "NULL"):
        changed.nullable = True
    elif grammar.begins(cursor, SKIPPED_CHANGES):
        grammar.skip_until(cursor, (",", ";"))
    elif cursor.key in {"FIRST", "AFTER"}:
        _insert_column(cursor, table, changed, 0, changed)
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
        # USING converts the rows: TABLE is of a statement that follows without a semicolon
        grammar.skip_until(cursor, (",", ";", "TABLE"))
        if cursor.key == "TABLE":
            raise cursor.fail(f"unexpected {cursor.token.display}")
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
    if table.engine.disabled_keys and grammar.begins(cursor, KEYS):
        start = cursor.tokens[cursor.index - 1].start
        is_key = _accept_key(cursor, table)
        return is_key and _set_key_state(cursor, table, skip_attributes(cursor), start)
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
    if _skip_ineffective(cursor, table):
        return True
    start = cursor.token.start
    changed = parse_existing_column(cursor, table)
    if cursor.key in ALTERATIONS or grammar.begins(cursor, DROPPED):
        return _change_column(cursor, table, changed)
    if option(cursor) is not None:
        merge_options(changed, options_of_column(cursor, changed), cursor, start)
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
    _insert_column(cursor, table, added, _index_of(table, changed), changed)
    table.rename_column(changed, name)
    table.reindex_columns()


#: How the change of a column continues where CHANGE does not rename it.
UNRENAMED = frozenset({"TYPE", "COMMENT", "FIRST", "AFTER", "SET", "DROP"})


def _parse_change(cursor: Cursor, table: TableDefinition) -> bool:
    """Parse ``CHANGE a b bigint``, which renames and redefines a column."""
    _accept_column_word(cursor, table.engine)
    if _skip_ineffective(cursor, table):
        return True
    changed = parse_existing_column(cursor, table)
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
    if begins_constraint(cursor, table.engine) or grammar.begins(cursor, NOT_COLUMNS):
        return False
    _accept_column_word(cursor, table.engine)
    if _skip_ineffective(cursor, table):
        return True
    if grammar.begins(cursor, NOT_COLUMNS) or _names_field(cursor):
        return False
    is_list = cursor.accept("(")
    elements = grammar.elements(cursor) if is_list else (None,)
    for name in [grammar.identifier(cursor, table.engine) for _ in elements]:
        _drop_column(table, name)
    grammar.skip_until(cursor, (",", ";"))
    return True


def _parse_key_state(cursor: Cursor, table: TableDefinition) -> bool:
    """Parse Oracle's ``DISABLE PRIMARY KEY`` or ``ENABLE VALIDATE CONSTRAINT k``."""
    cursor.index -= 1
    start = cursor.token.start
    attributes = skip_attributes(cursor)
    is_key = table.engine.disabled_keys and _accept_key(cursor, table)
    return is_key and _set_key_state(cursor, table, attributes, start)


def _set_key_state(
    cursor: Cursor, table: TableDefinition, attributes: frozenset[str], start: int
) -> bool:
    """Enable or disable the key; one that rows may violate is a loss."""
    is_disabled = is_unchecked(attributes)
    if not is_disabled and "ENABLE" not in attributes:
        return False
    grammar.skip_statement(cursor, (",",))  # CASCADE, the index
    if is_disabled:
        table.disable_key(grammar.drop_text(cursor, start))
    else:
        table.enable_key()
    return True


def _accept_key(cursor: Cursor, table: TableDefinition) -> bool:
    """Parse ``PRIMARY KEY`` or ``CONSTRAINT k``; return whether it is the key of the table."""
    if cursor.accept("PRIMARY", "KEY"):
        return True
    if not cursor.accept("CONSTRAINT"):
        return False
    disabled = [column.key_name for column in table.columns if column.disabling is not None]
    names = {table.primary_key()[1], table.disabled_name, *disabled}
    return grammar.identifier(cursor, table.engine) in names


def _drop_column(table: TableDefinition, name: str) -> None:
    dropped = table.column(name)
    if dropped is None:
        return
    if table.engine.name == "mysql":
        key = table.primary_key()[0] if table.key else ()
        table.key = tuple(key_name for key_name in key if key_name != dropped.name)
    elif table.key and dropped.name in table.primary_key()[0]:  # the engine drops the key, too
        table.drop_key()
    del table.columns[_index_of(table, dropped)]
    table.reindex_columns()


def _parse_rename(cursor: Cursor, table: TableDefinition) -> bool:
    """Parse ``RENAME COLUMN a TO b`` or ``RENAME TO t``, where MySQL allows AS, and to omit TO."""
    is_table = table.engine.name == "mysql" and cursor.key not in {"COLUMN", "INDEX", "KEY"}
    if cursor.accept("TO") or (is_table and (cursor.accept("AS") or cursor.peek().key != "TO")):
        new = path(cursor, table.engine)
        table.path = (*table.path[: len(table.path) - 1], *new) if len(new) == 1 else new
        return True
    if grammar.begins(cursor, NOT_COLUMNS) or begins_constraint(cursor, table.engine):
        return False
    _accept_column_word(cursor, table.engine)
    if _skip_ineffective(cursor, table):
        return True
    if _names_field(cursor):
        return False
    renamed = parse_existing_column(cursor, table)
    cursor.expect("TO")
    token = cursor.token
    name = grammar.identifier(cursor, table.engine)
    require_new_column(cursor, table, name, token.span, renamed)
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
        return parse_table_comment(cursor, table)
    return False


def _parse_comment_action(cursor: Cursor, table: TableDefinition) -> bool:
    """Parse MySQL's ``COMMENT = 'x'``, or ``COMMENT COLUMN c 'x'`` of ClickHouse."""
    if not cursor.accept("COLUMN"):
        cursor.index -= 1
        return parse_table_comment(cursor, table)
    if _skip_ineffective(cursor, table):
        return True
    commented = parse_existing_column(cursor, table)
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
    "DISABLE": _parse_key_state,
    "ENABLE":  _parse_key_state,
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


#: Words after ADD, DROP and RENAME that do not start a column.
NOT_COLUMNS = frozenset({
    "PARTITION", "PARTITIONS", "KEY", "INDEX", "GENERATED", "ROW", "SEARCH", "TAG", "ROLLUP",
    "CONSTRAINT", "STATISTICS", "PERIOD FOR", "SYSTEM", "CLUSTERING", "MASKING", "AS",
    "SUPPLEMENTAL", "FEATURE", "ALL ROW", "DEFAULT (", "DEFAULT FOR", "SUBPARTITION",
    "PROJECTION", "FOREIGN", "CHECK", "DISTRIBUTION", "VALUE", "UNUSED",
})  # fmt: skip
