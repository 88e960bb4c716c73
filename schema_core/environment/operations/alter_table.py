"""ALTER TABLE: each change makes a new definition of the table, which is then resolved once.

What a change must not leave behind is told by `references`: columns that others speak of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from schema_core.catalog.objects import CatalogTable, TableKind
from schema_core.environment.operations import alter_columns
from schema_core.environment.operations.definitions import (
    distribution_of,
    options_of,
    primary_key_of,
    watermark_of,
    with_key_not_null,
)
from schema_core.environment.operations.partitions import change_partitions
from schema_core.environment.result import OK, TableResult
from schema_core.environment.session import Session, placed
from schema_core.errors import SchemaError, UnsupportedError, at
from schema_core.paths import ObjectIdentifier, UnresolvedPath
from schema_core.schema.unresolved import Schema
from schema_core.sql.definition_syntax import (
    AddElements,
    AddPartitions,
    DropColumns,
    DropConstraint,
    DropDistribution,
    DropPartitions,
    DropPrimaryKey,
    DropWatermark,
    ModifyElements,
    RenameColumn,
    RenameTo,
    ResetOptions,
    SetOptions,
)
from schema_core.sql.statement_syntax import Alter
from schema_core.sql.syntax import Name


def alter_table(session: Session, statement: Alter, text: str) -> TableResult:
    """Change a permanent table."""
    identifier, change = session.identifier(statement.path), statement.change
    if isinstance(change, AddPartitions | DropPartitions):
        with placed(statement.path.span):
            change_partitions(session, identifier, change)
        return OK
    with placed(statement.path.span):
        old = session.tables.alterable(TableKind.TABLE, identifier, statement.if_exists)
    if not isinstance(old, CatalogTable):
        return OK
    with at(f"table {identifier.as_summary_string()}"):
        match change:
            case RenameTo(path):
                renamed(session, identifier, path)
            case _:
                table = changed(unresolved(old), change, text)
                session.tables.alter(identifier, table, expected=old)
    return OK


def unresolved(table: CatalogTable) -> CatalogTable:
    """The table as it was written, to be changed and resolved anew."""
    return CatalogTable(
        table.schema,
        table.partition_keys,
        options=table.options,
        comment=table.comment,
        distribution=table.distribution,
        snapshot=table.snapshot,
    )


def renamed(session: Session, identifier: ObjectIdentifier, path: Name) -> None:
    """Give a table or view another name; only the last part of the new path counts, as in Flink."""
    with placed(path.span):
        session.tables.rename(identifier, UnresolvedPath(path.parts).object_name)


def changed(table: CatalogTable, change: Any, text: str) -> CatalogTable:
    """The table after the change.

    Raises:
        SchemaError: where the change does not fit the table.
        UnsupportedError: with code `statement-not-supported` for a change of another kind.
    """
    apply = CHANGES.get(type(change))
    if apply is None:
        raise UnsupportedError("a table cannot be changed so", code="statement-not-supported")
    return apply(table, change, text)


# --- columns, watermark, key, distribution -------------------------------------------------------


def _add(table: CatalogTable, change: AddElements, text: str) -> CatalogTable:
    schema = alter_columns.added(table.schema, change.columns, text)
    if change.watermark is not None:
        _require_absent(schema.watermark_specs, "a watermark", "MODIFY WATERMARK")
        schema = replace(schema, watermark_specs=(watermark_of(change.watermark, text),))
    if change.constraints:
        _require_absent(schema.primary_key, "a primary key", "MODIFY PRIMARY KEY")
        schema = _with_key(schema, change)
    if change.distribution is not None:
        _require_absent(table.distribution, "a distribution", "MODIFY DISTRIBUTION")
        table = replace(table, distribution=distribution_of(change.distribution))
    return replace(table, schema=schema)


def _modify(table: CatalogTable, change: ModifyElements, text: str) -> CatalogTable:
    schema = table.schema
    if change.constraints:
        _require_present(schema.primary_key, "primary key", "ADD PRIMARY KEY")
        schema = _with_key(schema, change)
    schema = alter_columns.modified(schema, change.columns, text)
    if change.watermark is not None:
        _require_present(schema.watermark_specs, "watermark", "ADD WATERMARK")
        schema = replace(schema, watermark_specs=(watermark_of(change.watermark, text),))
    if change.distribution is not None:
        _require_present(table.distribution, "distribution", "ADD DISTRIBUTION")
        table = replace(table, distribution=distribution_of(change.distribution))
    return replace(table, schema=schema)


def _with_key(schema: Schema, change: AddElements | ModifyElements) -> Schema:
    """The schema with the key of the change, whose columns become NOT NULL."""
    key = primary_key_of(change.constraints[0])
    columns = with_key_not_null(schema.columns, key.column_names)
    return replace(schema, columns=columns, primary_key=key)


def _require_absent(there: object, what: str, instead: str) -> None:
    if there:
        raise SchemaError(
            f"the table has {what} already", code="already-declared", hint=f"write {instead}"
        )


def _require_present(there: object, what: str, instead: str | None = None) -> None:
    if not there:
        raise SchemaError(
            f"the table has no {what}",
            code="not-declared",
            hint=f"write {instead}" if instead else None,
        )


def _drop_columns(table: CatalogTable, change: DropColumns, text: str) -> CatalogTable:
    return alter_columns.dropped(table, change.columns)


def _rename_column(table: CatalogTable, change: RenameColumn, text: str) -> CatalogTable:
    return alter_columns.renamed(table, change.column, change.new_name)


def _drop_key(table: CatalogTable, change: DropPrimaryKey, text: str) -> CatalogTable:
    _require_present(table.schema.primary_key, "primary key")
    return replace(table, schema=_without_key(table.schema))


def _drop_constraint(table: CatalogTable, change: DropConstraint, text: str) -> CatalogTable:
    key, name = table.schema.primary_key, change.name.parts[-1]
    if key is None or key.name != name:
        raise SchemaError(
            f"the table has no constraint {name!r}",
            code="not-declared",
            span=change.name.span,
            hint=f"its primary key is called {key.name!r}" if key else None,
        )
    return replace(table, schema=_without_key(table.schema))


def _without_key(schema: Schema) -> Schema:
    """The schema without its key; columns that were NOT NULL stay so."""
    if schema.immutable_columns is not None:
        raise SchemaError("immutable columns need the primary key", code="still-referenced")
    return replace(schema, primary_key=None)


def _drop_watermark(table: CatalogTable, change: DropWatermark, text: str) -> CatalogTable:
    _require_present(table.schema.watermark_specs, "watermark")
    return replace(table, schema=replace(table.schema, watermark_specs=()))


def _drop_distribution(table: CatalogTable, change: DropDistribution, text: str) -> CatalogTable:
    _require_present(table.distribution, "distribution")
    return replace(table, distribution=None)


# --- options -------------------------------------------------------------------------------------


def _set_options(table: CatalogTable, change: SetOptions, text: str) -> CatalogTable:
    return table.copy({**table.options, **options_of(change.options)})


def _reset_options(table: CatalogTable, change: ResetOptions, text: str) -> CatalogTable:
    if not change.keys:
        raise SchemaError("no option is given", code="missing-options")
    if "connector" in change.keys:
        raise SchemaError("a table needs its connector", code="missing-connector")
    return table.copy({key: v for key, v in table.options.items() if key not in change.keys})


#: kind of change -> what makes the new definition
CHANGES: Mapping[type, Callable[[CatalogTable, Any, str], CatalogTable]] = {
    AddElements:      _add,
    ModifyElements:   _modify,
    DropColumns:      _drop_columns,
    RenameColumn:     _rename_column,
    DropPrimaryKey:   _drop_key,
    DropConstraint:   _drop_constraint,
    DropWatermark:    _drop_watermark,
    DropDistribution: _drop_distribution,
    SetOptions:       _set_options,
    ResetOptions:     _reset_options,
}  # fmt: skip
