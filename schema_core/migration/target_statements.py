"""The targets of migration plans: the SQL of each change.

A target is a table of kinds of changes. A change without actions is one that the target does not
distinguish, such as TINYINT from SMALLINT in PostgreSQL. `RewriteNeeded` reports a change that no
ALTER statement can make.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from schema_core.base.text import quote_string
from schema_core.catalog.changes import table_changes
from schema_core.catalog.objects import CatalogTable
from schema_core.mappings import stored_types
from schema_core.mappings.dialects.engines import engine
from schema_core.mappings.dialects.printer import expression_text, stored_line
from schema_core.mappings.dialects.schemas import column_ddl, default_key_name
from schema_core.migration.conversions import convert
from schema_core.migration.ordering import ChangeGroup
from schema_core.migration.statement_writer import (
    POSTGRES_FUNCTIONS,
    SPARK_FUNCTIONS,
    RewriteNeeded,
    StatementWriter,
    Target,
    Write,
)
from schema_core.schema.columns import (
    UnresolvedColumn,
    UnresolvedPhysicalColumn,
    UnresolvedPrimaryKey,
)
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
    return f"COMMENT ON COLUMN {writer.table}.{writer.name(change.old_column.name)} IS NULL"


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


# --- PostgreSQL ----------------------------------------------------------------------------------


def _postgres_add(
    writer: StatementWriter, change: table_changes.AddColumn, group: ChangeGroup
) -> Iterator[str]:
    if change.position is not None:
        writer.lose((change.column.name,), f"the position {change.position}")
    resolved = writer.resolver.resolve(group.after.schema)
    column = next(column for column in resolved.columns if column.name == change.column.name)
    line = column_ddl(column, resolved, _POSTGRES, [], notes=False)
    if line is None:
        raise RewriteNeeded(f"PostgreSQL cannot store {column.name!r}")
    yield f"ADD COLUMN {line.line}"
    if line.comment is not None:
        yield _postgres_comment(writer, column.name, line.comment)


def _postgres_comment(writer: StatementWriter, name: str, comment: str | None) -> str:
    text = writer.string(comment) if comment else "NULL"
    return f"COMMENT ON COLUMN {writer.table}.{writer.name(name)} IS {text}"


def _postgres_type(
    writer: StatementWriter, change: table_changes.TableChange, group: ChangeGroup
) -> Iterator[str]:
    name = change.redefined_column or ""
    old, new = (type_of(column_of(table, name)) for table in (group.before, group.after))
    quoted, types = writer.name(name), (writer.type(old), writer.type(new))
    if new.is_nullable and not old.is_nullable:
        yield f"ALTER COLUMN {quoted} DROP NOT NULL"
    if types[0] != types[1]:
        yield f"ALTER COLUMN {quoted} TYPE {types[1]} USING {convert(writer, quoted, old, new)}"
    if old.is_nullable and not new.is_nullable:
        yield f"ALTER COLUMN {quoted} SET NOT NULL"


def _postgres_move(
    writer: StatementWriter, change: table_changes.ModifyColumnPosition, group: ChangeGroup
) -> Iterator[str]:
    writer.lose((change.old_column.name,), f"the position {change.new_position}")
    yield from ()


def _postgres_key(
    writer: StatementWriter, change: table_changes.AddUniqueConstraint, group: ChangeGroup
) -> str:
    key = change.constraint
    constraint = "" if _is_unnamed(key) else f"CONSTRAINT {writer.name(key.name)} "
    return f"ADD {constraint}PRIMARY KEY ({writer.names(key.column_names)})"


def _is_unnamed(key: UnresolvedPrimaryKey) -> bool:
    return key.name == default_key_name(key.column_names)


def _postgres_drop_key(
    writer: StatementWriter, change: table_changes.DropConstraint, group: ChangeGroup
) -> str:
    key = change.constraint
    name = f"{writer.path[-1]}_pkey" if _is_unnamed(key) else key.name
    return f"DROP CONSTRAINT {writer.name(name)}"


def _drop_column(
    writer: StatementWriter, change: table_changes.DropColumn, group: ChangeGroup
) -> str:
    return f"DROP COLUMN {writer.name(change.column.name)}"


_POSTGRES = engine("postgres")

POSTGRES_STATEMENTS: Mapping[type[table_changes.TableChange], Write] = {
    table_changes.AddColumn:                _postgres_add,
    table_changes.ModifyColumnComment:      lambda writer, change, group: _postgres_comment(
        writer, change.old_column.name, change.new_comment
    ),
    table_changes.ModifyPhysicalColumnType: _postgres_type,
    table_changes.AddField:                 _postgres_type,
    table_changes.ModifyFieldComment:       _postgres_type,
    table_changes.ModifyNestedType:         _postgres_type,
    table_changes.ModifyFieldName:          _postgres_type,
    table_changes.ModifyFieldPosition:      _postgres_type,
    table_changes.DropField:                _postgres_type,
    table_changes.ModifyColumnName:         _rename_column,
    table_changes.ModifyColumnPosition:     _postgres_move,
    table_changes.DropColumn:               _drop_column,
    table_changes.AddUniqueConstraint:      _postgres_key,
    table_changes.DropConstraint:           _postgres_drop_key,
    table_changes.ModifyTableComment:       _comment_on_table,
}  # fmt: skip

# --- Spark and Iceberg ---------------------------------------------------------------------------


def _comment(writer: StatementWriter, comment: str | None) -> str:
    return "" if comment is None else f" COMMENT {writer.string(comment)}"


def _spark_add(writer: StatementWriter, change: table_changes.AddColumn, group: ChangeGroup) -> str:
    if change.position is not None:
        raise RewriteNeeded("Spark adds columns at the end only")
    column, type_ = change.column, type_of(change.column)
    if not type_.is_nullable:
        raise RewriteNeeded("Spark adds columns without NOT NULL only")
    definition = f"{writer.name(column.name)} {writer.type(type_)}"
    return f"ADD COLUMNS ({definition}{_comment(writer, column.comment)})"


def _spark_comment(
    writer: StatementWriter, change: table_changes.ModifyColumnComment, group: ChangeGroup
) -> str:
    if change.new_comment is None:
        raise RewriteNeeded("Spark does not remove the comment of a column")
    name, text = writer.name(change.old_column.name), writer.string(change.new_comment)
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


SPARK_STATEMENTS: Mapping[type[table_changes.TableChange], Write] = {
    table_changes.AddColumn: _spark_add,
    table_changes.ModifyColumnComment: _spark_comment,
    table_changes.ModifyTableComment: _comment_on_table,
}


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
    table_changes.AddUniqueConstraint:      lambda writer, change, group: (
        f"SET IDENTIFIER FIELDS {writer.names(change.constraint.column_names)}"
    ),
    table_changes.DropConstraint:           lambda writer, change, group: (
        f"DROP IDENTIFIER FIELDS {writer.names(change.constraint.column_names)}"
    ),
    table_changes.ModifyPartitionKeys:      _iceberg_partitions,
    table_changes.ModifyTableComment:       _comment_on_table,
}  # fmt: skip


# --- the targets ---------------------------------------------------------------------------------

#: Parts of tables beside physical columns.
COMPUTED, KEY, PARTITIONS = "computed columns", "primary key", "partitions"

TARGETS: Mapping[str, Target] = {
    target.name: target
    for target in (
        Target("flink", "Flink", None, stored_types.FLINK, FLINK_STATEMENTS),
        Target(
            "spark", "Spark", engine("spark"), stored_types.SPARK, SPARK_STATEMENTS,
            has_cast=spark_has_cast, functions=SPARK_FUNCTIONS,
        ),
        Target(
            "iceberg", "Iceberg", engine("spark"), stored_types.ICEBERG, ICEBERG_STATEMENTS,
            frozenset({KEY, PARTITIONS}), "\nUSING iceberg", spark_has_cast, SPARK_FUNCTIONS,
        ),
        Target(
            "postgres", "PostgreSQL", engine("postgres"), stored_types.POSTGRES,
            POSTGRES_STATEMENTS, frozenset({COMPUTED, KEY}), has_cast=lambda old, new: True,
            functions=POSTGRES_FUNCTIONS,
        ),
    )
}  # fmt: skip


def physical(column: UnresolvedColumn, type_: DataType) -> UnresolvedPhysicalColumn:
    """Return a column as engines store it."""
    return UnresolvedPhysicalColumn(column.name, type_, column.comment)
