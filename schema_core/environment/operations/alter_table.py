"""ALTER TABLE: a definition, resolved once after all changes, and partitions."""

from __future__ import annotations

from collections.abc import Sequence

from schema_core.base.paths import ObjectIdentifier, ObjectPath, UnresolvedPath
from schema_core.catalog.api import Catalog
from schema_core.catalog.changes.column_history import add_column_history
from schema_core.catalog.changes.normal_forms import as_written
from schema_core.catalog.changes.table_changes import (
    ModifyColumnName,
    ModifyFieldName,
    TableChange,
    apply,
)
from schema_core.catalog.managed import ManagedStorage
from schema_core.catalog.objects import (
    CatalogPartition,
    CatalogPartitionSpec,
    CatalogTable,
    TableKind,
)
from schema_core.catalog.own_options import require_no_own_options
from schema_core.environment.jobs.recovery import finish
from schema_core.environment.result import OK, TableResult
from schema_core.environment.session import Session, at_span
from schema_core.errors import SchemaCoreError, SchemaError, at
from schema_core.mappings.dialects.apply_alterations import (
    apply_stored_change,
    connector_is_required,
    find_part,
    option_keys,
)
from schema_core.mappings.dialects.definitions import (
    options_of,
)
from schema_core.sql.statement_syntax import (
    AddPartitions,
    Alter,
    DropPartitions,
    Partition,
    RenameColumn,
    RenameTo,
)
from schema_core.sql.syntax import Name


def alter_table(session: Session, statement: Alter, text: str) -> TableResult:
    """Alter a permanent table."""
    identifier, change = session.identifier(statement.path), statement.change
    if isinstance(change, AddPartitions | DropPartitions):
        with at_span(statement.path.span):
            change_partitions(session, identifier, change)
        return OK
    with at_span(statement.path.span):
        finish(session, identifier)
        old = session.tables.find_alterable(TableKind.TABLE, identifier, statement.if_exists)
    if not isinstance(old, CatalogTable):
        return OK
    with at(f"table {identifier.as_summary_string()}"):
        if isinstance(change, RenameTo):
            rename_table(session, identifier, change.path)
        else:
            require_no_own_options(option_keys(change))
            storage = session.tables.get_storage(identifier)
            table = apply_stored_change(as_written(old), change, text, storage)
            session.tables.alter(identifier, table, old, _rename_changes(old, change, storage))
    return OK


def _rename_changes(
    old: CatalogTable, change: object, storage: ManagedStorage | None
) -> tuple[TableChange, ...] | None:
    """Return the changes of RENAME, which the new definition does not show; None for others."""
    if not isinstance(change, RenameColumn):
        return None
    (*outer, name), new_name = change.column.parts, change.new_name.parts[-1]
    columns = {column.name: column for column in old.schema.columns}
    changes: tuple[TableChange, ...]
    if not outer:
        changes = (ModifyColumnName(columns[name], new_name),)
    else:
        row = find_part(columns[outer[0]], outer[1:])
        field = next(field for field in getattr(row, "fields", ()) if field.name == name)
        changes = (ModifyFieldName(tuple(outer), field, new_name),)
    return add_column_history(apply(changes, old), changes, old, storage)[1]


def alter_by_changes(
    session: Session,
    identifier: ObjectIdentifier,
    changes: Sequence[TableChange],
    if_exists: bool,
) -> bool:
    """Apply changes to a permanent table as ALTER TABLE does; return whether the table exists."""
    finish(session, identifier)
    old = session.tables.find_alterable(TableKind.TABLE, identifier, if_exists)
    if not isinstance(old, CatalogTable):
        return False
    with at(f"table {identifier.as_summary_string()}"):
        table = apply(changes, as_written(old))
        if "connector" in old.options and "connector" not in table.options:
            raise connector_is_required()
        storage = session.tables.get_storage(identifier)
        table, steps = add_column_history(table, tuple(changes), old, storage)
        session.tables.alter(identifier, table, old, steps)
    return True


def rename_table(session: Session, identifier: ObjectIdentifier, path: Name) -> None:
    """Rename a table or view; only the last part of the new path counts, as in Flink."""
    with at_span(path.span):
        session.tables.rename(identifier, UnresolvedPath(path.parts).object_name)


# --- partitions ----------------------------------------------------------------------------


def _partition_spec(partition: Partition) -> CatalogPartitionSpec:
    values = {}
    for key, value in partition.values:
        if value is None:
            raise SchemaError(
                f"partition key {key!r} has no value",
                code="invalid-partition-spec",
                span=partition.span,
            )
        values[key] = value
    return CatalogPartitionSpec(values)


def change_partitions(
    session: Session, identifier: ObjectIdentifier, change: AddPartitions | DropPartitions
) -> None:
    """Add or drop partitions of a permanent table, one after the other.

    Codes: `table-not-found`, `partition-not-found`, `partition-exists`, `not-partitioned`,
    `invalid-partition-spec`.
    """
    catalog, path = session.registry.get(identifier.catalog_name), identifier.to_object_path()
    for partition in change.partitions:
        with at_span(partition.span):
            spec = _partition_spec(partition)
            if isinstance(change, DropPartitions):
                _drop_partition(catalog, path, spec, change.if_exists)
            else:
                stored = CatalogPartition.create_instance(options_of(partition.options))
                catalog.create_partition(path, spec, stored, change.if_not_exists)


#: Errors that IF EXISTS suppresses, as in Flink: without a table there is no partition.
FORGIVEN = ("table-not-found", "database-not-found", "not-partitioned")


def _drop_partition(
    catalog: Catalog, path: ObjectPath, spec: CatalogPartitionSpec, if_exists: bool
) -> None:
    try:
        catalog.drop_partition(path, spec, if_exists)
    except SchemaCoreError as error:
        if not (if_exists and error.code in FORGIVEN):
            raise
