"""The targets of migration plans: the SQL of each change, and what conversions call.

A target is a row of `TARGETS`, with a table of kinds of changes. A change without actions is one
that the target does not distinguish, such as TINYINT from SMALLINT in PostgreSQL. `RewriteNeeded`
reports a change that no ALTER statement can make. The names and types of a target are those of its
dialect (`mappings/dialects/engines.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from schema_core.base.text import quote_string
from schema_core.catalog.changes import table_changes
from schema_core.catalog.objects import CatalogTable
from schema_core.mappings import stored_types
from schema_core.mappings.dialects.engines import engine
from schema_core.mappings.dialects.printer import expression_text, stored_line
from schema_core.mappings.dialects.schemas import ColumnDdl, column_ddl, default_key_name
from schema_core.migration.ordering import ChangeGroup
from schema_core.migration.targets.canonical_conversions import CANONICAL_CONVERSIONS
from schema_core.migration.targets.conversions import CONVERSIONS, KINDS, convert
from schema_core.migration.targets.sql_functions import CanonicalText, Functions
from schema_core.migration.targets.statement_writer import (
    RENAMES_BY_NAME,
    RENAMES_BY_PATH,
    RewriteNeeded,
    StatementWriter,
    Target,
    Write,
)
from schema_core.schema.columns import (
    UnresolvedColumn,
    UnresolvedComputedColumn,
    UnresolvedPhysicalColumn,
    UnresolvedPrimaryKey,
)
from schema_core.schema.unresolved import Schema
from schema_core.types import DataType, MultisetType
from schema_core.types.casts import supports_explicit_cast
from schema_core.types.families import MEMBERS, TypeFamily, TypeRoot

R = TypeRoot


def column_of(table: CatalogTable, name: str) -> UnresolvedColumn:
    """Return the column of a name."""
    return next(column for column in table.schema.columns if column.name == name)


def type_of(column: UnresolvedColumn) -> DataType:
    """Return the type of a column in normal form that is not computed."""
    type_ = getattr(column, "data_type", None)
    if not isinstance(type_, DataType):
        raise RewriteNeeded(f"the type of column {column.name!r} is not resolved")
    return type_


#: Whether a change of a table cannot be made in place, and why; the reason follows the target.
Refusal: TypeAlias = tuple[Callable[[StatementWriter, Any, ChangeGroup], bool], str]


def _refusing(write: Write, *refusals: Refusal) -> Write:
    """Return a writer of statements that reports changes of the refusals (`RewriteNeeded`)."""

    def refuse_or_write(
        writer: StatementWriter, change: table_changes.TableChange, group: ChangeGroup
    ) -> Iterator[str]:
        for is_refused, reason in refusals:
            if is_refused(writer, change, group):
                raise RewriteNeeded(f"{writer.target.title} {reason}")
        statements = write(writer, change, group)
        yield from [statements] if isinstance(statements, str) else statements

    return refuse_or_write


def _place(writer: StatementWriter, position: table_changes.ColumnPosition | None) -> str:
    if position is None:
        return ""
    return " FIRST" if position.column is None else f" AFTER {writer.name(position.column)}"


# --- Flink ---------------------------------------------------------------------------------------


def _flink_modify(
    writer: StatementWriter, change: table_changes.TableChange, group: ChangeGroup
) -> str:
    """Write the whole definition: Flink's ALTER does not reach into types."""
    return f"MODIFY {stored_line(column_of(group.after, change.redefined_column or ''))}"


def _flink_column_comment(
    writer: StatementWriter, change: table_changes.ModifyColumnComment, group: ChangeGroup
) -> str:
    """Write MODIFY, which cannot remove a comment: COMMENT ON does, a statement of this library."""
    if change.new_comment is not None:
        return _flink_modify(writer, change, group)
    return comment_on_column(writer, change.old_column.name, None)


def _flink_rename_field(
    writer: StatementWriter, change: table_changes.ModifyFieldName, group: ChangeGroup
) -> str:
    """Write RENAME for files, which are then read by the former name, else MODIFY."""
    if not writer.keeps_names:
        return _flink_modify(writer, change, group)
    old, new = (*change.path, change.old_field.name), (*change.path, change.new_name)
    return f"RENAME {writer.quote_path(old)} TO {writer.quote_path(new)}"


def _flink_watermark(
    writer: StatementWriter, change: table_changes.AddWatermark, group: ChangeGroup
) -> str:
    spec = change.watermark_spec
    text = expression_text(spec.watermark_expression)
    return f"ADD WATERMARK FOR {writer.name(spec.column_name)} AS {text}"


def _flink_set(writer: StatementWriter, change: table_changes.SetOption, group: ChangeGroup) -> str:
    pairs = (
        f"{quote_string(change.key)} = {quote_string(change.value)}"
        for change in group.changes
        if isinstance(change, table_changes.SetOption)
    )
    return f"SET ({', '.join(pairs)})"


def _flink_reset(
    writer: StatementWriter, change: table_changes.ResetOption, group: ChangeGroup
) -> str:
    keys = (
        quote_string(change.key)
        for change in group.changes
        if isinstance(change, table_changes.ResetOption)
    )
    return f"RESET ({', '.join(keys)})"


def _rename_column(
    writer: StatementWriter, change: table_changes.ModifyColumnName, group: ChangeGroup
) -> str:
    word = "" if writer.target.engine is None else "COLUMN "
    return f"RENAME {word}{writer.name(change.old_column.name)} TO {writer.name(change.new_name)}"


def _comment_on_table(
    writer: StatementWriter, change: table_changes.ModifyTableComment, group: ChangeGroup
) -> str:
    text = "NULL" if change.new_comment is None else writer.string(change.new_comment)
    return f"COMMENT ON TABLE {writer.table} IS {text}"


FLINK_STATEMENTS: Mapping[type[table_changes.TableChange], Write] = {
    table_changes.AddColumn:                lambda writer, change, group: (
        f"ADD {stored_line(change.column)}{_place(writer, change.position)}"
    ),
    table_changes.ModifyTableComment:       _comment_on_table,
    table_changes.ModifyColumnComment:      _flink_column_comment,
    table_changes.ModifyPhysicalColumnType: _flink_modify,
    table_changes.AddField:                 _flink_modify,
    table_changes.ModifyFieldComment:       _flink_modify,
    table_changes.ModifyNestedType:         _flink_modify,
    table_changes.ModifyFieldName:          _flink_rename_field,
    table_changes.ModifyFieldPosition:      _flink_modify,
    table_changes.DropField:                _flink_modify,
    table_changes.ModifyColumnName:         _rename_column,
    table_changes.ModifyColumnPosition:     lambda writer, change, group: (
        f"MODIFY {stored_line(change.old_column)}{_place(writer, change.new_position)}"
    ),
    table_changes.DropColumn:               lambda writer, change, group: (
        f"DROP {writer.name(change.column.name)}"
    ),
    table_changes.AddWatermark:             _flink_watermark,
    table_changes.DropWatermark:            lambda writer, change, group: "DROP WATERMARK",
    table_changes.AddUniqueConstraint:      lambda writer, change, group: (
        f"ADD {change.constraint}"
    ),
    table_changes.DropConstraint:           lambda writer, change, group: "DROP PRIMARY KEY",
    table_changes.AddDistribution:          lambda writer, change, group: (
        f"ADD DISTRIBUTION{str(change.distribution).removeprefix('DISTRIBUTED')}"
    ),
    table_changes.DropDistribution:         lambda writer, change, group: "DROP DISTRIBUTION",
    table_changes.SetOption:                _flink_set,
    table_changes.ResetOption:              _flink_reset,
}  # fmt: skip


FLINK_FUNCTIONS = Functions(
    "TRY_CAST({value} AS {type})",
    "REGEXP({value}, {pattern})",
    "REGEXP_REPLACE({value}, {pattern}, '')",
    # Flink's planner removes a branch whose result equals that of ELSE.
    "ARRAY[CAST(NULL AS {type})][CAST({message} AS INT)]",
    end=r"\z",
    row="ROW({fields})",
    fails_as_value=True,
    checks_days=False,
)


# --- SQL databases -------------------------------------------------------------------------------


def _column_line(writer: StatementWriter, name: str, table: CatalogTable) -> ColumnDdl:
    """Return the definition of a column as CREATE TABLE has it."""
    resolved = writer.resolver.resolve(table.schema)
    column = next(column for column in resolved.columns if column.name == name)
    line = column_ddl(column, resolved, writer.dialect, [], notes=False)
    if line is None:
        raise RewriteNeeded(f"{writer.target.title} cannot store {name!r}")
    return line


def _nullable_line(writer: StatementWriter, change: table_changes.AddColumn) -> str:
    """Return the definition of a new column without NOT NULL."""
    column = change.column
    if isinstance(column, UnresolvedPhysicalColumn):
        column = physical(column, type_of(column).nullable())
    table = CatalogTable(Schema.new_builder().from_columns([column]).build())
    return _column_line(writer, column.name, table).line


def _add_column(
    writer: StatementWriter, change: table_changes.AddColumn, group: ChangeGroup
) -> Iterator[str]:
    """Write a column at the end; of NOT NULL, the engine fails unless the table is empty."""
    _lose_position(writer, change.column.name, change.position)
    line = _column_line(writer, change.column.name, group.after)
    yield f"ADD COLUMN {line.line}"
    if line.comment is not None:
        yield comment_on_column(writer, change.column.name, line.comment)


def _is_not_null(column: UnresolvedColumn) -> bool:
    return not isinstance(column, UnresolvedComputedColumn) and not type_of(column).is_nullable


def _lose_position(
    writer: StatementWriter, name: str, position: table_changes.ColumnPosition | None
) -> None:
    if position is not None:
        writer.lose((name,), f"the position {position}")


def _keep_position(
    writer: StatementWriter, change: table_changes.ModifyColumnPosition, group: ChangeGroup
) -> Iterator[str]:
    _lose_position(writer, change.old_column.name, change.new_position)
    yield from ()


def comment_on_column(writer: StatementWriter, name: str, comment: str | None) -> str:
    """Return the statement that sets or removes the comment of a column."""
    is_removed = comment is None or not (comment or writer.stores_empty_comments)
    text = "NULL" if is_removed else writer.string(comment or "")
    return f"COMMENT ON COLUMN {writer.table}.{writer.name(name)} IS {text}"


def _modify_comment(
    writer: StatementWriter, change: table_changes.ModifyColumnComment, group: ChangeGroup
) -> str:
    return comment_on_column(writer, change.old_column.name, change.new_comment)


def _convert_column(
    writer: StatementWriter, change: table_changes.TableChange, group: ChangeGroup
) -> Iterator[str]:
    """Write ALTER COLUMN TYPE, which converts the rows by an expression."""
    name = change.redefined_column or ""
    old, new = _types_of(change, group)
    quoted, types = writer.name(name), (writer.type(old), writer.type(new))
    if new.is_nullable and not old.is_nullable:
        yield f"ALTER COLUMN {quoted} DROP NOT NULL"
    if types[0] != types[1]:
        using = convert(writer, quoted, old, new, (name,))
        yield f"ALTER COLUMN {quoted} TYPE {types[1]} USING {using}"
    if old.is_nullable and not new.is_nullable:
        yield f"ALTER COLUMN {quoted} SET NOT NULL"


def _types_of(change: table_changes.TableChange, group: ChangeGroup) -> tuple[DataType, DataType]:
    """Return the types of a changed column before and after."""
    name = change.redefined_column or ""
    old, new = (type_of(column_of(table, name)) for table in (group.before, group.after))
    return old, new


def _widens(old: DataType, new: DataType) -> bool:
    """Return whether a type has all values of another one of the same kind."""
    kinds = {KINDS.get(old.root), KINDS.get(new.root)}
    if len(kinds) > 1 or kinds & {None, "date", "timestamp", "instant", "time"}:
        return False
    if kinds == {"decimal"} and getattr(old, "scale", 0) != getattr(new, "scale", 0):
        return False
    return old.root not in stored_types.FIXED and stored_types.narrowing(old, new) is None


def _require_widening(
    writer: StatementWriter, change: table_changes.TableChange, group: ChangeGroup
) -> tuple[DataType, DataType]:
    """Return the types of a changed column, whose rows no statement needs to convert."""
    old, new = _types_of(change, group)
    if writer.type(old) != writer.type(new) and not _widens(old, new):
        was, becomes = old.as_summary_string(), new.as_summary_string()
        raise RewriteNeeded(f"{writer.target.title} does not convert {was} to {becomes}")
    return old, new


def _set_data_type(
    writer: StatementWriter, change: table_changes.TableChange, group: ChangeGroup
) -> Iterator[str]:
    """Write SET DATA TYPE for a wider type, and NOT NULL."""
    old, new = _require_widening(writer, change, group)
    quoted = writer.name(change.redefined_column or "")
    if new.is_nullable and not old.is_nullable:
        yield f"ALTER COLUMN {quoted} DROP NOT NULL"
    if writer.type(old) != writer.type(new):
        yield f"ALTER COLUMN {quoted} SET DATA TYPE {writer.type(new)}"
    if old.is_nullable and not new.is_nullable:
        yield f"ALTER COLUMN {quoted} SET NOT NULL"


def _add_key(
    writer: StatementWriter, change: table_changes.AddUniqueConstraint, group: ChangeGroup
) -> str:
    key = change.constraint
    engine = writer.target.engine
    has_name = engine is not None and engine.named_keys and not _is_unnamed(key)
    constraint = f"CONSTRAINT {writer.name(key.name)} " if has_name else ""
    return f"ADD {constraint}PRIMARY KEY ({writer.names(key.column_names)})"


def _is_unnamed(key: UnresolvedPrimaryKey) -> bool:
    return key.name == default_key_name(key.column_names)


def _drop_constraint(
    writer: StatementWriter, change: table_changes.DropConstraint, group: ChangeGroup
) -> str:
    """Write DROP CONSTRAINT; PostgreSQL names a key after its table."""
    key = change.constraint
    name = f"{writer.path[-1]}_pkey" if _is_unnamed(key) else key.name
    return f"DROP CONSTRAINT {writer.name(name)}"


def _drop_column(
    writer: StatementWriter, change: table_changes.DropColumn, group: ChangeGroup
) -> str:
    return f"DROP COLUMN {writer.name(change.column.name)}"


def _needs_values(
    writer: StatementWriter, change: table_changes.AddColumn, group: ChangeGroup
) -> bool:
    return _is_not_null(change.column)


def _adds_computed(
    writer: StatementWriter, change: table_changes.AddColumn, group: ChangeGroup
) -> bool:
    return isinstance(change.column, UnresolvedComputedColumn)


def _key_columns(group: ChangeGroup) -> Sequence[str]:
    """Return the names of the columns of the key before the changes."""
    key = group.before.schema.primary_key
    return () if key is None else key.column_names


def _drops_key(
    writer: StatementWriter, change: table_changes.DropColumn, group: ChangeGroup
) -> bool:
    return change.column.name in _key_columns(group)


def _drops_at_key(
    writer: StatementWriter, change: table_changes.DropColumn, group: ChangeGroup
) -> bool:
    """Return whether a dropped column is in the key or before a column of it."""
    names = [column.name for column in group.before.schema.columns]
    place = names.index(change.column.name)
    return any(place <= names.index(name) for name in _key_columns(group))


def _retypes_key(
    writer: StatementWriter, change: table_changes.TableChange, group: ChangeGroup
) -> bool:
    old, new = _types_of(change, group)
    is_converted = writer.type(old) != writer.type(new)
    return is_converted and change.redefined_column in _key_columns(group)


def _sets_not_null(
    writer: StatementWriter, change: table_changes.TableChange, group: ChangeGroup
) -> bool:
    old, new = _types_of(change, group)
    return old.is_nullable and not new.is_nullable


#: Refusals that several engines have.
NEEDS_DEFAULT: Refusal = (_needs_values, "adds NOT NULL columns only with a default")
ONLY_IN_NEW_TABLES: Refusal = (_adds_computed, "adds computed columns only to new tables")

#: Changes of the type of a column or of its fields.
TYPE_CHANGES = (
    table_changes.ModifyPhysicalColumnType, table_changes.AddField,
    table_changes.ModifyFieldComment, table_changes.ModifyNestedType,
    table_changes.ModifyFieldName, table_changes.ModifyFieldPosition, table_changes.DropField,
)  # fmt: skip

#: What all SQL databases have.
DATABASE_STATEMENTS: Mapping[type[table_changes.TableChange], Write] = {
    table_changes.AddColumn:            _add_column,
    table_changes.ModifyColumnName:     _rename_column,
    table_changes.ModifyColumnPosition: _keep_position,
    table_changes.DropColumn:           _drop_column,
}  # fmt: skip
COMMENT_STATEMENTS: Mapping[type[table_changes.TableChange], Write] = {
    table_changes.ModifyColumnComment: _modify_comment,
    table_changes.ModifyTableComment:  _comment_on_table,
}  # fmt: skip


# --- PostgreSQL ----------------------------------------------------------------------------------

POSTGRES_STATEMENTS: Mapping[type[table_changes.TableChange], Write] = {
    **DATABASE_STATEMENTS,
    **COMMENT_STATEMENTS,
    **dict.fromkeys(TYPE_CHANGES, _convert_column),
    table_changes.AddUniqueConstraint: _add_key,
    table_changes.DropConstraint:      _drop_constraint,
}  # fmt: skip
POSTGRES_FUNCTIONS = Functions(
    "CAST({value} AS {type})",
    "{value} ~ {pattern}",
    "regexp_replace({value}, {pattern}, '', 'g')",
    encode="convert_to({value}, 'UTF8')",
    decode="CAST(convert_from({value}, 'UTF8') AS {type})",
    cast_fails=True,
    fraction_digits=6,
)


# --- SQLite --------------------------------------------------------------------------------------
# https://www.sqlite.org/lang_altertable.html: ADD, DROP and RENAME COLUMN; all else is a rewrite.


LEGACY_RENAME = "PRAGMA legacy_alter_table = "
#: Views and triggers keep the name of the table: without the PRAGMA they would follow the old one.
SQLITE_SWAP = tuple(
    (
        (f"{LEGACY_RENAME}ON", *statements, f"{LEGACY_RENAME}OFF"),
        (f"{LEGACY_RENAME}ON", *undo, f"{LEGACY_RENAME}OFF"),
    )
    for statements, undo in RENAMES_BY_NAME
)
SQLITE_STATEMENTS: Mapping[type[table_changes.TableChange], Write] = {
    **DATABASE_STATEMENTS,
    table_changes.AddColumn:  _refusing(_add_column, NEEDS_DEFAULT),
    table_changes.DropColumn: _refusing(_drop_column, (_drops_key, "does not drop key columns")),
}  # fmt: skip
#: SQLite stores a value by the affinity of its column; it has no type of datetimes.
SQLITE_FUNCTIONS = Functions(
    # fails for what is not JSON; RAISE is only for triggers
    fail="json({message})",
    length="LENGTH({value})",
    encode="CAST({value} AS BLOB)",
    cast="{value}",
    null="NULL",
    fails_as_value=True,
    cast_types=dict.fromkeys(MEMBERS[TypeFamily.CHARACTER_STRING], "TEXT"),
    canonical=CanonicalText(
        writes={"": "CAST({value} AS TEXT)"},
        reads={
            "integer": "CAST({value} AS INTEGER)",
            "decimal": "CAST({value} AS NUMERIC)",
            "float": "CAST({value} AS REAL)",
            # without a modifier, 2020-02-30 and 24:00:00 are returned as they are
            "date": "date(TRIM({value}), '+0 days')",
            "time": "time(SUBSTR(TRIM({value}), 1, 8), '+0 days') || SUBSTR(TRIM({value}), 9)",
            "timestamp": (
                "datetime(SUBSTR(TRIM({value}), 1, 19), '+0 days') || SUBSTR(TRIM({value}), 20)"
            ),
        },
        midnight="{value} || ' 00:00:00'",
        fraction=(
            "SUBSTR({value}, {start}, 1) IN ('', '.')"
            " AND LTRIM(SUBSTR({value}, {start} + 1), '0123456789') = ''"
        ),
        has_instants=False,
    ),
)


# --- DuckDB --------------------------------------------------------------------------------------
# https://duckdb.org/docs/stable/sql/statements/alter_table: a key is not dropped; a column of a key
# or of a computed column does not change its type.


DUCKDB_STATEMENTS: Mapping[type[table_changes.TableChange], Write] = {
    **DATABASE_STATEMENTS,
    **COMMENT_STATEMENTS,
    **dict.fromkeys(TYPE_CHANGES, _refusing(
        _convert_column, (_retypes_key, "does not change the types of key columns")
    )),
    table_changes.AddColumn:           _refusing(_add_column, ONLY_IN_NEW_TABLES),
    # the index of the key depends on the positions of columns
    table_changes.DropColumn:          _refusing(
        _drop_column, (_drops_at_key, "does not drop a column that is in a key or before it")
    ),
    table_changes.AddUniqueConstraint: _add_key,
}  # fmt: skip
DUCKDB_FUNCTIONS = Functions(
    "TRY_CAST({value} AS {type})",
    "regexp_matches({value}, {pattern})",
    "regexp_replace({value}, {pattern}, '', 'g')",
    "error({message})",
    length="LENGTH({value})",
    encode="encode({value})",
    decode="CAST(decode({value}) AS {type})",
    row="ROW({fields})",
    fails_as_value=True,
)


# --- MySQL ---------------------------------------------------------------------------------------
# https://dev.mysql.com/doc/refman/8.4/en/alter-table.html: MODIFY states the whole definition, and
# rounds; without the strict mode, it also truncates, and NULL becomes the default of the type.

STRICT = "SET SESSION sql_mode = 'STRICT_ALL_TABLES'"


def _mysql_add(
    writer: StatementWriter, change: table_changes.AddColumn, group: ChangeGroup
) -> Iterator[str]:
    """Write a column; NOT NULL follows, since ADD would fill the rows with a default."""
    place = _place(writer, change.position)
    if not _is_not_null(change.column):
        yield f"ADD COLUMN {_column_line(writer, change.column.name, group.after).line}{place}"
        return
    yield f"ADD COLUMN {_nullable_line(writer, change)}{place}"
    yield STRICT
    yield f"MODIFY COLUMN {_column_line(writer, change.column.name, group.after).line}"


def _mysql_modify(
    writer: StatementWriter, change: table_changes.TableChange, group: ChangeGroup
) -> Iterator[str]:
    """Write the whole definition of a column that keeps its values."""
    name = change.redefined_column or ""
    if isinstance(change, table_changes.ModifyColumnComment):
        name = change.old_column.name
    before, after = (
        _column_line(writer, name, table).line for table in (group.before, group.after)
    )
    if not isinstance(column_of(group.after, name), UnresolvedComputedColumn):
        _require_widening(writer, change, group)
    if before != after:
        yield from _mysql_redefine(writer, name, after)


def _mysql_redefine(writer: StatementWriter, name: str, definition: str) -> Iterator[str]:
    writer.risk_attributes((name,), "MODIFY removes DEFAULT, AUTO_INCREMENT and other attributes")
    yield STRICT
    yield f"MODIFY COLUMN {definition}"


def _mysql_move(
    writer: StatementWriter, change: table_changes.ModifyColumnPosition, group: ChangeGroup
) -> Iterator[str]:
    name = change.old_column.name
    line = _column_line(writer, name, group.after).line
    yield from _mysql_redefine(writer, name, line + _place(writer, change.new_position))


MYSQL_STATEMENTS: Mapping[type[table_changes.TableChange], Write] = {
    **DATABASE_STATEMENTS,
    **dict.fromkeys(TYPE_CHANGES, _mysql_modify),
    table_changes.AddColumn:            _mysql_add,
    table_changes.ModifyColumnComment:  _mysql_modify,
    table_changes.ModifyColumnPosition: _mysql_move,
    table_changes.AddUniqueConstraint:  _add_key,
    table_changes.DropConstraint:       lambda writer, change, group: "DROP PRIMARY KEY",
    table_changes.ModifyTableComment:   lambda writer, change, group: (
        f"COMMENT = {writer.string(change.new_comment or '')}"
    ),
}  # fmt: skip
#: MySQL 8, chapter 12.10, "Cast Functions and Operators".
MYSQL_FUNCTIONS = Functions(
    # fails for what is not JSON
    fail="JSON_EXTRACT({message}, '$') = 0",
    concat="CONCAT({text}, {value})",
    encode="CAST(CONVERT({value} USING utf8mb4) AS BINARY)",
    null="NULL",
    cast_types={
        **dict.fromkeys(stored_types.INTEGERS, "SIGNED"),
        R.BOOLEAN: "SIGNED",
        R.DECIMAL: "DECIMAL({0.precision}, {0.scale})",
        R.FLOAT: "FLOAT",
        R.DOUBLE: "DOUBLE",
        **dict.fromkeys(MEMBERS[TypeFamily.CHARACTER_STRING], "CHAR"),
        **dict.fromkeys(MEMBERS[TypeFamily.BINARY_STRING], "BINARY"),
        R.DATE: "DATE",
    },
    canonical=CanonicalText(
        writes={"": "CAST({value} AS CHAR)"},
        reads={
            "integer": "CAST({value} AS SIGNED)",
            "decimal": "CAST({value} AS DECIMAL(65, 30))",
            "float": "CAST({value} AS DOUBLE)",
            "date": "CAST({value} AS DATE)",
            "time": "CAST({value} AS TIME(6))",
            "timestamp": "CAST({value} AS DATETIME(6))",
        },
        trim_end="TRIM(TRAILING {characters} FROM {value})",
        midnight="CAST({value} AS DATETIME)",
    ),
)


# --- Snowflake -----------------------------------------------------------------------------------
# https://docs.snowflake.com/en/sql-reference/sql/alter-table-column: a type can be made wider, but
# is not changed to another; https://docs.snowflake.com/en/sql-reference/sql/alter-table: SWAP WITH.


def _snowflake_comment(
    writer: StatementWriter, change: table_changes.ModifyColumnComment, group: ChangeGroup
) -> str:
    """Write a comment; one that is removed becomes empty, as Snowflake shows none."""
    return comment_on_column(writer, change.old_column.name, change.new_comment or "")


SNOWFLAKE_STATEMENTS: Mapping[type[table_changes.TableChange], Write] = {
    **DATABASE_STATEMENTS,
    **dict.fromkeys(TYPE_CHANGES, _set_data_type),
    table_changes.AddColumn:           _refusing(_add_column, ONLY_IN_NEW_TABLES),
    table_changes.ModifyColumnComment: _snowflake_comment,
    table_changes.AddUniqueConstraint: _add_key,
    table_changes.DropConstraint:      lambda writer, change, group: "DROP PRIMARY KEY",
    table_changes.ModifyTableComment:  lambda writer, change, group: (
        f"COMMENT ON TABLE {writer.table} IS {writer.string(change.new_comment or '')}"
    ),
}  # fmt: skip
#: TRY_CAST of Snowflake only takes strings. Without TO_CHAR, texts depend on the session.
SNOWFLAKE_FUNCTIONS = Functions(
    length="LENGTH({value})",
    encode="TO_BINARY({value}, 'UTF-8')",
    canonical=CanonicalText(
        writes={
            "": "CAST({value} AS varchar)",
            "date": "TO_CHAR({value}, 'YYYY-MM-DD')",
            "time": "TO_CHAR({value}, 'HH24:MI:SS.FF9')",
            "timestamp": "TO_CHAR({value}, 'YYYY-MM-DD HH24:MI:SS.FF9')",
            "instant": "TO_CHAR({value}, 'YYYY-MM-DD HH24:MI:SS.FF9')",
        },
        reads={
            "integer": "CAST({value} AS number(38, 0))",
            "decimal": "CAST({value} AS number(38, {p}))",
            "float": "CAST({value} AS double)",
            "date": "TRY_TO_DATE({value}, 'YYYY-MM-DD')",
            "time": "TRY_TO_TIME({value})",
            "timestamp": "TRY_TO_TIMESTAMP_NTZ({value})",
        },
    ),
)
#: Both tables have the other's name at once.
SNOWFLAKE_SWAP = (
    (("ALTER TABLE {new} SWAP WITH {table}",), ("ALTER TABLE {new} SWAP WITH {table}",)),
    (("ALTER TABLE {new} RENAME TO {old}",), ("ALTER TABLE {old} RENAME TO {new}",)),
)


# --- Trino ---------------------------------------------------------------------------------------
# https://trino.io/docs/current/sql/alter-table.html; a connector refuses what it does not support.


TRINO_STATEMENTS: Mapping[type[table_changes.TableChange], Write] = {
    **DATABASE_STATEMENTS,
    **COMMENT_STATEMENTS,
    **dict.fromkeys(TYPE_CHANGES, _refusing(
        _set_data_type, (_sets_not_null, "does not set NOT NULL")
    )),
    table_changes.AddColumn: _refusing(_add_column, NEEDS_DEFAULT),
}  # fmt: skip
TRINO_FUNCTIONS = Functions(
    "TRY_CAST({value} AS {type})",
    "regexp_like({value}, {pattern})",
    "regexp_replace({value}, {pattern})",
    length="LENGTH({value})",
    end=r"\z",
    encode="to_utf8({value})",
    decode="CAST(from_utf8({value}) AS {type})",
    is_text="to_utf8(from_utf8({value})) = {value}",
    row="ROW({fields})",
    has_lambdas=True,
)


# --- Spark and Iceberg ---------------------------------------------------------------------------


def _comment(writer: StatementWriter, comment: str | None) -> str:
    return "" if comment is None else f" COMMENT {writer.string(comment)}"


def _spark_add(writer: StatementWriter, change: table_changes.AddColumn, group: ChangeGroup) -> str:
    column, type_ = change.column, type_of(change.column)
    definition = f"{writer.name(column.name)} {writer.type(type_)}"
    return f"ADD COLUMNS ({definition}{_comment(writer, column.comment)})"


def _spark_comment(
    writer: StatementWriter, change: table_changes.ModifyColumnComment, group: ChangeGroup
) -> str:
    name, text = writer.name(change.old_column.name), writer.string(change.new_comment or "")
    return f"ALTER COLUMN {name} COMMENT {text}"


#: Kind of values -> the kinds to which Spark's ANSI CAST converts them (measured on Spark 4.3).
SPARK_CASTS: Mapping[str, frozenset[str]] = {
    kind: frozenset(others.split())
    for kind, others in {
        "boolean": "boolean number string",
        "number": "boolean number string instant",
        "string": "boolean number string binary date time timestamp instant",
        "binary": "string binary",
        "date": "string date timestamp instant",
        "time": "string time",
        "timestamp": "string date time timestamp instant",
        "instant": "number string date time timestamp instant",
    }.items()
}
#: Root -> the kind of its values in Spark.
SPARK_KINDS: Mapping[TypeRoot, str] = {
    R.BOOLEAN: "boolean",
    **dict.fromkeys(MEMBERS[TypeFamily.NUMERIC], "number"),
    **dict.fromkeys(MEMBERS[TypeFamily.CHARACTER_STRING], "string"),
    **dict.fromkeys(MEMBERS[TypeFamily.BINARY_STRING], "binary"),
    R.DATE: "date",
    R.TIME_WITHOUT_TIME_ZONE: "time",
    R.TIMESTAMP_WITHOUT_TIME_ZONE: "timestamp",
    R.TIMESTAMP_WITH_LOCAL_TIME_ZONE: "instant",
}


def spark_has_cast(old: DataType, new: DataType) -> bool:
    """Return whether Flink and Spark have a cast between two types, at any depth.

    >>> from schema_core.types import DataTypes as T
    >>> spark_has_cast(T.BIGINT(), T.TIMESTAMP(3)), spark_has_cast(T.DATE(), T.TIMESTAMP(3))
    (False, True)
    """
    if not supports_explicit_cast(old, new):
        return False
    if old.children() and new.children():
        pairs = zip(old.children(), new.children(), strict=False)
        return all(spark_has_cast(first, other) for first, other in pairs)
    if old.root not in SPARK_KINDS or new.root not in SPARK_KINDS:
        return not old.children() and not new.children()
    return SPARK_KINDS[new.root] in SPARK_CASTS[SPARK_KINDS[old.root]]


SPARK_FUNCTIONS = Functions(
    "try_cast({value} AS {type})",
    "{value} RLIKE {pattern}",
    "regexp_replace({value}, {pattern}, '')",
    "raise_error({message})",
    end=r"\z",
    # tables of files have NULL in columns that are NOT NULL
    require="COALESCE({value}, raise_error({message}))",
    fails_for_null=True,
    has_lambdas=True,
    is_text="is_valid_utf8(CAST({value} AS string))",
    fails_as_value=True,
    fraction_digits=6,
)
SPARK_STATEMENTS: Mapping[type[table_changes.TableChange], Write] = {
    table_changes.AddColumn:           _refusing(
        _spark_add,
        (lambda writer, change, group: change.position is not None, "adds columns at the end only"),
        (_needs_values, "adds columns without NOT NULL only"),
    ),
    table_changes.ModifyColumnComment: _refusing(
        _spark_comment,
        (
            lambda writer, change, group: change.new_comment is None,
            "does not remove the comment of a column",
        ),
    ),
    table_changes.ModifyTableComment:  _comment_on_table,
}  # fmt: skip


def _iceberg_add(
    writer: StatementWriter,
    path: table_changes.Path,
    type_: DataType,
    comment: str | None,
    position: table_changes.ColumnPosition | None,
) -> str:
    """Add a column or field, without NOT NULL: Iceberg adds optional ones only."""
    if not type_.is_nullable:
        writer.lose(path, "NOT NULL")
    definition = f"{writer.quote_path(path)} {writer.type(type_)}{_comment(writer, comment)}"
    return f"ADD COLUMN {definition}{_place(writer, position)}"


def _iceberg_path(group: ChangeGroup, path: tuple[str, ...]) -> tuple[str, ...]:
    """Return a path into a type; keys of maps and multisets cannot be altered."""
    column = type_of(column_of(group.before, path[0]))
    if any(isinstance(node, MultisetType) for node in column.walk()) or "key" in path[1:]:
        raise RewriteNeeded(f"Iceberg does not alter the type at {'.'.join(path)}")
    return path


def _iceberg_type(
    writer: StatementWriter, path: tuple[str, ...], old: DataType, new: DataType
) -> Iterator[str]:
    if old.nullable() != new.nullable():
        if not writer.target.rules.promotes(old, new):
            was, becomes = old.as_summary_string(), new.as_summary_string()
            raise RewriteNeeded(f"Iceberg does not read {was} as {becomes}")
        if writer.type(old) != writer.type(new):
            yield f"ALTER COLUMN {writer.quote_path(path)} TYPE {writer.type(new)}"
    if new.is_nullable and not old.is_nullable:
        yield f"ALTER COLUMN {writer.quote_path(path)} DROP NOT NULL"
    if old.is_nullable and not new.is_nullable:
        writer.lose(path, "NOT NULL")


def _iceberg_column_type(
    writer: StatementWriter, change: table_changes.ModifyPhysicalColumnType, group: ChangeGroup
) -> Iterator[str]:
    if not isinstance(change.new_type, DataType):
        raise RewriteNeeded(f"the type {str(change.new_type)!r} is not resolved")
    column = change.old_column
    yield from _iceberg_type(writer, (column.name,), type_of(column), change.new_type)


def _iceberg_comment(writer: StatementWriter, path: table_changes.Path, comment: str | None) -> str:
    if comment is None:
        writer.lose(path, "the removal of the comment, which becomes empty,")
    return f"ALTER COLUMN {writer.quote_path(path)} COMMENT {writer.string(comment or '')}"


def _iceberg_move(
    writer: StatementWriter, path: table_changes.Path, position: table_changes.ColumnPosition
) -> str:
    return f"ALTER COLUMN {writer.quote_path(path)}{_place(writer, position)}"


def _iceberg_partitions(
    writer: StatementWriter, change: table_changes.ModifyPartitionKeys, group: ChangeGroup
) -> Iterator[str]:
    for name in change.old_keys:
        if name not in change.new_keys:
            yield f"DROP PARTITION FIELD {writer.name(name)}"
    for name in change.new_keys:
        if name not in change.old_keys:
            yield f"ADD PARTITION FIELD {writer.name(name)}"


def _iceberg_key(
    writer: StatementWriter, change: table_changes.AddUniqueConstraint, group: ChangeGroup
) -> Iterator[str]:
    """Write the identifier fields, which must be required ("Identifier Field IDs" of the spec)."""
    key = change.constraint
    former = {name: path[0] for path, name in writer.renames.items() if len(path) == 1}
    optional = [
        name
        for name in key.column_names
        if any(writer.has_lost((each,), "NOT NULL") for each in (name, former.get(name, name)))
    ]
    if optional:
        names = ", ".join(optional)
        writer.lose(("primary key",), f"{key}, for which {names} would have to be NOT NULL,")
        return
    yield f"SET IDENTIFIER FIELDS {writer.names(key.column_names)}"


ICEBERG_STATEMENTS: Mapping[type[table_changes.TableChange], Write] = {
    table_changes.AddColumn:                lambda writer, change, group: _iceberg_add(
        writer, (change.column.name,), type_of(change.column), change.column.comment,
        change.position,
    ),
    table_changes.ModifyColumnComment:      lambda writer, change, group: _iceberg_comment(
        writer, (change.old_column.name,), change.new_comment
    ),
    table_changes.ModifyPhysicalColumnType: _iceberg_column_type,
    table_changes.ModifyColumnName:         _rename_column,
    table_changes.ModifyColumnPosition:     lambda writer, change, group: _iceberg_move(
        writer, (change.old_column.name,), change.new_position
    ),
    table_changes.DropColumn:               _drop_column,
    table_changes.AddField:                 lambda writer, change, group: _iceberg_add(
        writer, (*_iceberg_path(group, change.path), change.field.name), change.field.data_type,
        change.field.description, change.position,
    ),
    table_changes.ModifyFieldComment:       lambda writer, change, group: _iceberg_comment(
        writer, (*_iceberg_path(group, change.path), change.old_field.name), change.new_comment
    ),
    table_changes.ModifyNestedType:         lambda writer, change, group: _iceberg_type(
        writer, _iceberg_path(group, change.path), change.old_type, change.new_type
    ),
    table_changes.ModifyFieldName:          lambda writer, change, group: (
        "RENAME COLUMN "
        f"{writer.quote_path((*_iceberg_path(group, change.path), change.old_field.name))}"
        f" TO {writer.name(change.new_name)}"
    ),
    table_changes.ModifyFieldPosition:      lambda writer, change, group: _iceberg_move(
        writer, (*_iceberg_path(group, change.path), change.old_field.name), change.new_position
    ),
    table_changes.DropField:                lambda writer, change, group: (
        f"DROP COLUMN {writer.quote_path((*_iceberg_path(group, change.path), change.field.name))}"
    ),
    table_changes.AddUniqueConstraint:      _iceberg_key,
    table_changes.DropConstraint:           lambda writer, change, group: (
        f"DROP IDENTIFIER FIELDS {writer.names(change.constraint.column_names)}"
    ),
    table_changes.ModifyPartitionKeys:      _iceberg_partitions,
    table_changes.ModifyTableComment:       _comment_on_table,
}  # fmt: skip


# --- the targets ---------------------------------------------------------------------------------

#: Parts of tables beside physical columns.
COMPUTED, KEY, PARTITIONS = "computed columns", "primary key", "partitions"


def _converting(name: str, source: str) -> stored_types.RuleSet:
    """Return the rules of an engine whose statements convert rows, as those for PostgreSQL do."""
    return replace(stored_types.POSTGRES, name=name, source=source)


def _any_cast(old: DataType, new: DataType) -> bool:
    """Return that the checks of conversions decide, not the types."""
    return True


TARGETS: Mapping[str, Target] = {
    target.name: target
    for target in (
        Target(
            "flink", "Flink", None, stored_types.FLINK, FLINK_STATEMENTS, CONVERSIONS,
            FLINK_FUNCTIONS,
        ),
        Target(
            "spark", "Spark", engine("spark"), stored_types.SPARK, SPARK_STATEMENTS, CONVERSIONS,
            SPARK_FUNCTIONS, has_cast=spark_has_cast, swap=RENAMES_BY_PATH,
        ),
        Target(
            "iceberg", "Iceberg", engine("spark"), stored_types.ICEBERG, ICEBERG_STATEMENTS,
            CONVERSIONS, SPARK_FUNCTIONS, frozenset({KEY, PARTITIONS}), "\nUSING iceberg",
            spark_has_cast, no_key="float|double|(array|map|struct)<.*", swap=RENAMES_BY_PATH,
        ),
        Target(
            "postgres", "PostgreSQL", engine("postgres"), stored_types.POSTGRES,
            POSTGRES_STATEMENTS, CONVERSIONS, POSTGRES_FUNCTIONS, frozenset({COMPUTED, KEY}),
            has_cast=_any_cast, converts=True, rewriting=" TYPE ",
        ),
        Target(
            "sqlite", "SQLite", engine("sqlite"),
            _converting("sqlite", "https://www.sqlite.org/datatype3.html"),
            SQLITE_STATEMENTS, CANONICAL_CONVERSIONS, SQLITE_FUNCTIONS, frozenset({COMPUTED, KEY}),
            has_cast=_any_cast, swap=SQLITE_SWAP, attributes="indexes, defaults and triggers",
        ),
        Target(
            "duckdb", "DuckDB", engine("duckdb"),
            _converting("duckdb", "https://duckdb.org/docs/stable/sql/data_types/typecasting"),
            DUCKDB_STATEMENTS, CONVERSIONS, DUCKDB_FUNCTIONS, frozenset({COMPUTED, KEY}),
            has_cast=_any_cast, converts=True, rewriting=" TYPE ",
            attributes="indexes and defaults",
        ),
        Target(
            "mysql", "MySQL", engine("mysql"),
            _converting("mysql", "https://dev.mysql.com/doc/refman/8.4/en/cast-functions.html"),
            MYSQL_STATEMENTS, CANONICAL_CONVERSIONS, MYSQL_FUNCTIONS, frozenset({COMPUTED, KEY}),
            has_cast=_any_cast, rewriting="MODIFY ", setup=STRICT, swap=RENAMES_BY_PATH,
            attributes="indexes, defaults, triggers and grants",
        ),
        Target(
            "snowflake", "Snowflake", engine("snowflake"),
            _converting(
                "snowflake", "https://docs.snowflake.com/en/sql-reference/data-type-conversion"
            ),
            SNOWFLAKE_STATEMENTS, CANONICAL_CONVERSIONS, SNOWFLAKE_FUNCTIONS,
            frozenset({COMPUTED, KEY}), has_cast=_any_cast, swap=SNOWFLAKE_SWAP,
            attributes="defaults, policies and grants",
        ),
        Target(
            "trino", "Trino", engine("trino"),
            _converting("trino", "https://trino.io/docs/current/functions/conversion.html"),
            TRINO_STATEMENTS, CONVERSIONS, TRINO_FUNCTIONS, has_cast=_any_cast,
            swap=RENAMES_BY_PATH, attributes="properties and grants",
        ),
    )
}  # fmt: skip


def physical(column: UnresolvedColumn, type_: DataType) -> UnresolvedPhysicalColumn:
    """Return a column as engines store it."""
    return UnresolvedPhysicalColumn(column.name, type_, column.comment)
