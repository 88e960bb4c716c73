"""Rewrites of tables that cannot be altered: a new table, an INSERT with casts, and two renames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from schema_core.catalog.objects import CatalogTable
from schema_core.mappings.dialects.api import to_ddl
from schema_core.mappings.stored_types import READINGS, Reading, TypeFinding
from schema_core.migration.targets.conversions import conversion, convert
from schema_core.migration.targets.statement_writer import StatementWriter
from schema_core.migration.targets.target_statements import comment_on_column, type_of
from schema_core.schema.columns import (
    UnresolvedColumn,
    UnresolvedComputedColumn,
    UnresolvedMetadataColumn,
)
from schema_core.types import DataType


def table_name_beside(path: tuple[str, ...], suffix: str) -> tuple[str, ...]:
    """Return the path of another table of the same database.

    >>> table_name_beside(("db", "orders"), "new")
    ('db', 'orders__new')
    """
    return (*path[:-1], f"{path[-1]}__{suffix}")


def create_statements(writer: StatementWriter, table: CatalogTable) -> tuple[str, ...]:
    """Return the statements that create the new table, secrets masked.

    Raises:
        UnsupportedError: as `to_ddl`.
    """
    path, target = table_name_beside(writer.path, "new"), writer.target
    if target.engine is None:
        return (to_ddl(table, "flink", path, mask_secrets=True),)
    comments: list[str] = []
    schema, comment = table.schema, table.comment
    if target.engine.comment_statement:
        beside = replace(writer, path=path)
        comments = [
            comment_on_column(beside, column.name, column.comment)
            for column in schema.columns
            if column.comment is not None
        ]
        if comment is not None:
            comments.append(f"COMMENT ON TABLE {beside.table} IS {writer.string(comment)}")
        columns = tuple(replace(column, comment=None) for column in schema.columns)
        schema, comment = replace(schema, columns=columns), None
    text = to_ddl(CatalogTable(schema, comment=comment), target.engine.name, path, on_loss="accept")
    if table.partition_keys:
        text += f"\nPARTITIONED BY ({writer.names(table.partition_keys)})"
    text = text.replace("\n)", f"\n){target.storage}", 1) if target.storage else text
    statements = [text, *comments]
    key = table.schema.primary_key
    if key is not None and target.engine.key is None:
        fields = writer.names(key.column_names)
        statements.append(f"ALTER TABLE {writer.quote_path(path)} SET IDENTIFIER FIELDS {fields}")
    return tuple(statements)


def insert_statement(
    writer: StatementWriter,
    old: CatalogTable,
    new: CatalogTable,
    renames: Mapping[str, str],
    risks: list[TypeFinding],
) -> str:
    """Return the INSERT that moves the rows, with an expression for each stored column.

    A value that cannot be converted fails; with `value-dropped` in `writer.accepts`, it is NULL and
    added to `risks`.
    """
    target = writer.quote_path(table_name_beside(writer.path, "new"))
    names = writer.names(column.name for column in new.schema.columns if is_stored(column))
    return f"INSERT INTO {target} ({names})\n{select_query(writer, old, new, renames, risks)}"


def select_query(
    writer: StatementWriter,
    old: CatalogTable,
    new: CatalogTable,
    renames: Mapping[str, str],
    risks: list[TypeFinding],
) -> str:
    """Return the query that converts the rows; `risks` as in `insert_statement`."""
    sources = sources_of(old, new, renames)
    stored = [column for column in new.schema.columns if is_stored(column)]
    used = {source.name for column in stored if (source := sources.get(column.name)) is not None}
    risks += [
        TypeFinding("field-dropped", (column.name,), "the rows have it")
        for column in old.schema.columns
        if is_stored(column) and column.name not in used
    ]
    expressions = (
        _expression(writer, old, sources.get(column.name), column, risks) for column in stored
    )
    lines = [
        f"  {text} AS {writer.name(item.name)}"
        for text, item in zip(expressions, stored, strict=True)
    ]
    return "SELECT\n" + ",\n".join(lines) + f"\nFROM {writer.table}"


def sources_of(
    old: CatalogTable, new: CatalogTable, renames: Mapping[str, str]
) -> dict[str, UnresolvedColumn]:
    """Return the old columns that new ones get their values from, by new name."""
    found = {
        renames.get(column.name, column.name): column for column in reversed(old.schema.columns)
    }
    found |= {
        renames[column.name]: column for column in old.schema.columns if column.name in renames
    }
    return {
        column.name: found[column.name] for column in new.schema.columns if column.name in found
    }


def is_stored(column: UnresolvedColumn) -> bool:
    """Return whether rows have values of a column."""
    if isinstance(column, UnresolvedMetadataColumn):
        return not column.virtual
    return not isinstance(column, UnresolvedComputedColumn)


def _expression(
    writer: StatementWriter,
    table: CatalogTable,
    source: UnresolvedColumn | None,
    column: UnresolvedColumn,
    risks: list[TypeFinding],
) -> str:
    new, path = type_of(column), (column.name,)
    missing = writer.null(new)
    if source is None:
        if not new.is_nullable:
            risks.append(TypeFinding("required-field-added", path, "the rows do not have it"))
        return _require_value(writer, missing, column.name, new)
    name = writer.name(source.name)
    if isinstance(source, UnresolvedComputedColumn):
        resolved = writer.resolver.resolve(table.schema)
        old = next(column.data_type for column in resolved.columns if column.name == source.name)
    else:
        old = type_of(source)
    where = (source.name,)
    fields = {
        old_path[1:]: name
        for old_path, name in writer.renames.items()
        if old_path[:1] == where and len(old_path) > 1
    }
    moved = {(*path, *inner) for inner in fields}
    moved |= {(*path, *inner[:-1], name) for inner, name in fields.items()}
    findings = writer.target.rules.findings(old, new, path)
    risks += [finding for finding in findings if is_risk(finding) and finding.path not in moved]
    if conversion(writer, name, old, new, where) is None and "value-dropped" in writer.accepts:
        reason = f"no value of {old.as_summary_string()} is one of {new.as_summary_string()}"
        risks.append(TypeFinding("field-dropped", path, reason))
    converted = convert(writer, name, old, new, where)
    if not old.is_nullable:
        return converted
    required = _require_value(writer, converted, column.name, new)
    is_reported = any((risk.kind, risk.path) == ("nullability-narrowed", path) for risk in risks)
    if required != converted and not is_reported:
        risks.append(TypeFinding("nullability-narrowed", path, "the rows may have NULL"))
    return required


def _require_value(writer: StatementWriter, value: str, name: str, type_: DataType) -> str:
    """Return a value that fails for NULL, if the type is NOT NULL and INSERT does not check it."""
    require = writer.target.functions.require
    if type_.is_nullable or not require:
        return value
    return require.format(value=value, message=writer.string(f"NULL in column {name}, NOT NULL"))


#: Findings with which every value is read as it was written.
HARMLESS = frozenset(
    kind for kind, (reading, _) in READINGS.items() if reading is Reading.EXACT
) - {"field-dropped"}


def is_risk(finding: TypeFinding) -> bool:
    """Return whether data may be lost or a statement may fail."""
    return finding.kind not in HARMLESS


def swap_statements(
    writer: StatementWriter, new: tuple[str, ...], old: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Yield the statements, and their undo, that give the new table the name of the old one."""
    paths = {"table": writer.path, "new": new, "old": old}
    names = {
        **{key: writer.quote_path(path) for key, path in paths.items()},
        **{f"{key}_name": writer.name(path[-1]) for key, path in paths.items()},
    }
    for step in writer.target.swap:
        statements, undo = (tuple(text.format(**names) for text in texts) for texts in step)
        yield statements, undo
