"""CREATE and ALTER MATERIALIZED TABLE (FLIP-435); `refresh` replaces the stored rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from schema_core.base.paths import ObjectIdentifier
from schema_core.catalog import objects
from schema_core.catalog.changes.catalog_changes import normal_object
from schema_core.catalog.changes.column_history import with_column_history
from schema_core.catalog.changes.normal_forms import as_written
from schema_core.catalog.own_options import own_options_of, require_no_own_options
from schema_core.catalog.resolve import origin, resolve_materialized_table
from schema_core.environment.operations import refresh
from schema_core.environment.operations.create_table_as import derive_schema
from schema_core.environment.options import RUNTIME_MODE
from schema_core.environment.result import OK, TableResult
from schema_core.environment.session import Session, at_span
from schema_core.environment.unbounded import require_bounded, scans_in
from schema_core.errors import SchemaError, UnsupportedError, at
from schema_core.mappings.dialects.apply_alterations import apply_change, name_changes_of
from schema_core.mappings.dialects.definitions import (
    distribution_of,
    keys_of,
    options_of,
    require,
)
from schema_core.mappings.dialects.printer import IN_FULL, stored_columns, table_clauses
from schema_core.query.relation import Columns, Relation, result_columns
from schema_core.schema.columns import Column, UnresolvedPhysicalColumn
from schema_core.schema.resolved import ResolvedSchema
from schema_core.schema.unresolved import Schema
from schema_core.sql.printer import print_query
from schema_core.sql.statement_syntax import (
    AddElements,
    Alter,
    CreateMaterializedTable,
    DropColumns,
    DropConstraint,
    DropDistribution,
    DropPrimaryKey,
    DropWatermark,
    Elements,
    ModifyElements,
    Refresh,
    Resume,
    SetQuery,
    Suspend,
)
from schema_core.sql.syntax import Interval, Query
from schema_core.types import CharType, DataType, VarCharType
from schema_core.types.casts import supports_implicit_cast

# --- CREATE ---------------------------------------------------------------------------------------


def create_materialized_table(
    session: Session, statement: CreateMaterializedTable, text: str
) -> TableResult:
    """Create a materialized table without rows (`table-exists`).

    OR ALTER changes an existing one as `_create_or_alter` does.
    """
    identifier = session.identifier(statement.path)
    if statement.or_alter and session.tables.permanent_kind(identifier) is not None:
        return _create_or_alter(session, identifier, statement, text)
    table = materialized_table(session, statement, text)
    with at_span(statement.path.span):
        session.tables.create(identifier, table, ignore_if_exists=False)
    return OK


def materialized_table(
    session: Session, statement: CreateMaterializedTable, text: str
) -> objects.CatalogMaterializedTable:
    """Return the table, derived from its query as by CREATE TABLE AS.

    Codes: those of `derive_schema`; `not-assignable` for a physical column that the query lacks;
    `unbounded-table` in batch mode; `invalid-option-value` for the date formatter of a column that
    is not a partition key of a string type.
    """
    query = statement.query
    relation, expand = session.resolve_expandable(query, text)
    _require_bounded_sources(session, relation)
    columns = result_columns(relation)
    schema = derive_schema(statement.elements, columns, text)
    _require_filled(schema, columns)
    require(statement.partition_keys, [column.name for column in schema.columns], "partition key")
    table = objects.CatalogMaterializedTable(
        schema,
        print_query(query),
        print_query(expand()),
        options=options_of(statement.options),
        comment=statement.comment,
        logical_refresh_mode=objects.LogicalRefreshMode[statement.refresh_mode or "AUTOMATIC"],
        refresh_status=objects.RefreshStatus.INITIALIZING,
        freshness=freshness_of(statement.freshness) if statement.freshness else None,
        partition_keys=keys_of(statement.partition_keys),
        distribution=distribution_of(statement.distribution),
    )
    _check_date_formatters(session, table)
    return table


def _require_bounded_sources(session: Session, relation: Relation) -> None:
    """Require that a batch job can compute the rows (`unbounded-table`), as Flink does."""
    options = session.config.get_configuration()
    if RUNTIME_MODE.of(options) != "BATCH":
        return
    for scan in scans_in(session.executable(relation)):
        if scan.table.identifier is not None:
            found = session.get_table(scan.table.identifier)
            if isinstance(found.table, objects.ResolvedCatalogTable):
                require_bounded(session.bind_found(found).with_hints(scan.hints, options))


def _require_filled(schema: Schema, query: Columns) -> None:
    """Require that the query has a value for each physical column (`not-assignable`)."""
    names = {column.name for column in query}
    for column in schema.columns:
        if isinstance(column, UnresolvedPhysicalColumn) and column.name not in names:
            raise SchemaError(
                f"the query has no column {column.name!r}",
                code="not-assignable",
                span=column.span,
                hint="select a value for it, or declare a computed column",
            )


def _check_date_formatters(session: Session, table: objects.CatalogMaterializedTable) -> None:
    """Check the options that name partition fields (`invalid-option-value`)."""
    resolved = resolve_materialized_table(table, session.resolver)
    types = {column.name: column.data_type for column in resolved.resolved_schema.columns}
    for key in table.options:
        if (match := objects.DATE_FORMATTER.fullmatch(key)) is None:
            continue
        name = match[1]
        if name not in table.partition_keys:
            problem = f"{name!r} is not a partition key"
        elif not isinstance(types[name], CharType | VarCharType):
            problem = f"partition key {name!r} is {types[name]}, not a string"
        else:
            continue
        raise SchemaError(f"option {key!r}: {problem}", code="invalid-option-value")


def freshness_of(interval: Interval) -> objects.Freshness:
    """Return the freshness of an interval of one unit below months, or raise an error."""
    if interval.to is not None or interval.unit not in objects.FreshnessUnit.__members__:
        unit = f"{interval.unit} TO {interval.to}" if interval.to else interval.unit
        raise SchemaError(
            "the freshness must be a number of seconds, minutes, hours, days or weeks, got an "
            f"interval of {unit}",
            code="invalid-materialized-table",
            span=interval.span,
        )
    with at_span(interval.span):
        sign = "-" if interval.negative else ""
        return objects.Freshness.of(f"{sign}{interval.text}", objects.FreshnessUnit[interval.unit])


# --- another query --------------------------------------------------------------------------------


def _create_or_alter(
    session: Session, identifier: ObjectIdentifier, statement: CreateMaterializedTable, text: str
) -> TableResult:
    """Replace the query and the options of an existing table, as Flink does.

    The distribution is the declared one; a declared primary key replaces the old one. The partition
    keys, the comment and the freshness stay. The code is `invalid-materialized-table`.
    """
    with at_span(statement.path.span):
        old = refresh.find_materialized_table(session, identifier)
    mode = resolve_materialized_table(old, session.resolver).refresh_mode
    if mode is not None and statement.refresh_mode not in (None, mode.value):
        raise UnsupportedError(
            f"the refresh mode of {identifier.as_summary_string()} is {mode.value} and cannot be "
            "changed",
            code="invalid-materialized-table",
            hint="drop the table and create it again",
        )
    relation, expand = session.resolve_expandable(statement.query, text)
    _require_bounded_sources(session, relation)
    derived = derive_schema(statement.elements, result_columns(relation), text)
    new = session.resolver.resolve(derived)
    table = _with_columns(session, origin(old), new)
    if derived.primary_key is not None:
        table = replace(table, schema=replace(table.schema, primary_key=derived.primary_key))
    table = replace(
        table,
        original_query=print_query(statement.query),
        expanded_query=print_query(expand()),
        options={**options_of(statement.options), **own_options_of(old)},
        distribution=distribution_of(statement.distribution),
    )
    require_no_own_options(options_of(statement.options))
    _check_date_formatters(session, table)
    _store(session, identifier, old, table)
    return OK


def can_be_altered(
    old: objects.CatalogMaterializedTable, new: objects.CatalogMaterializedTable
) -> bool:
    """Return whether CREATE OR ALTER of a new definition replaces an old one completely."""
    before, after = normal_object(old), normal_object(new)
    kind = objects.CatalogMaterializedTable
    if not isinstance(before, kind) or not isinstance(after, kind):
        return False
    count = len(before.schema.columns)
    added = after.schema.columns[count:]
    key = after.schema.primary_key
    reached = replace(
        before,
        schema=replace(
            before.schema,
            columns=(*before.schema.columns, *added),
            primary_key=before.schema.primary_key if key is None else key,
        ),
        original_query=after.original_query,
        expanded_query=after.expanded_query,
        options=after.options,
        distribution=after.distribution,
    )
    return reached == after and all(
        isinstance(column, UnresolvedPhysicalColumn)
        and column.comment is None
        and isinstance(column.data_type, DataType)
        and column.data_type.is_nullable
        for column in added
    )


def materialized_table_statement(
    path: str, table: objects.CatalogMaterializedTable, *, or_alter: bool = False
) -> str:
    """Return the statement that creates a materialized table, with its secrets.

    Unlike SHOW CREATE, it has the query as written, and a refresh mode only if it was declared.

    Args:
        path: The path, quoted.
        table: The definition.
        or_alter: Whether the table may exist.

    Raises:
        UnsupportedError: with code `not-in-sql` for indexes and immutable columns.
    """
    mode = table.logical_refresh_mode
    clauses = [
        *stored_columns(table.schema, IN_FULL),
        *table_clauses(table, IN_FULL),
        *([f"FRESHNESS = {table.freshness}"] if table.freshness else []),
        *([f"REFRESH_MODE = {mode.value}"] if mode.value != "AUTOMATIC" else []),
        f"AS {table.original_query}",
    ]
    head = "CREATE OR ALTER" if or_alter else "CREATE"
    return f"{head} MATERIALIZED TABLE {path} " + "\n".join(clauses)


def _alter_query(
    session: Session,
    identifier: ObjectIdentifier,
    old: objects.CatalogMaterializedTable,
    query: Query,
    text: str,
) -> None:
    """Replace the query; new columns follow the others and are nullable."""
    relation, expand = session.resolve_expandable(query, text)
    _require_bounded_sources(session, relation)
    new = session.resolver.resolve(derive_schema_of(relation, text))
    table = replace(
        _with_columns(session, origin(old), new),
        original_query=print_query(query),
        expanded_query=print_query(expand()),
    )
    _store(session, identifier, old, table)


def _store(
    session: Session,
    identifier: ObjectIdentifier,
    old: objects.CatalogMaterializedTable,
    table: objects.CatalogMaterializedTable,
    change: object = None,
) -> None:
    """Replace a definition, with the history of its columns, by which older files are read."""
    before, after = as_written(origin(old)), as_written(table)
    names = name_changes_of(before, after, change)
    storage = session.tables.get_storage(identifier)
    options = with_column_history(after, before, names, storage).options
    session.tables.alter(identifier, replace(table, options=options), expected=old)


def derive_schema_of(relation: Relation, text: str) -> Schema:
    """Return the columns of a query, which declares none."""
    return derive_schema(Elements(), result_columns(relation), text)


def _persisted(schema: ResolvedSchema) -> list[Column]:
    return [column for column in schema.columns if column.is_persisted()]


def _with_columns(
    session: Session, old: objects.CatalogMaterializedTable, new: ResolvedSchema
) -> objects.CatalogMaterializedTable:
    """Append the columns that a new query has after the old ones (`invalid-materialized-table`)."""
    before, after = _persisted(session.resolver.resolve(old.schema)), _persisted(new)
    if len(after) < len(before):
        names = ", ".join(repr(column.name) for column in before[len(after) :])
        raise _changed_columns(f"it drops {names}")
    for position, (column, other) in enumerate(zip(before, after, strict=False), start=1):
        types = column.data_type.nullable(), other.data_type.nullable()
        if column.name != other.name or types[0] != types[1]:
            raise _changed_columns(
                f"column {position} is {column.name!r} {types[0]}, but the query returns "
                f"{other.name!r} {types[1]}"
            )
    added = [
        UnresolvedPhysicalColumn(column.name, column.data_type.nullable())
        for column in after[len(before) :]
    ]
    present = {column.name for column in old.schema.columns}
    for addition in added:
        if addition.name in present:
            raise _changed_columns(f"the table already has a column {addition.name!r}")
    columns = (*old.schema.columns, *added)
    return replace(old, schema=replace(old.schema, columns=columns))


def _changed_columns(problem: str) -> UnsupportedError:
    return UnsupportedError(
        f"the new query changes columns of the materialized table: {problem}",
        code="invalid-materialized-table",
        hint="append new columns after the old ones; for other changes drop the table and create "
        "it again",
    )


# --- ALTER ----------------------------------------------------------------------------------------


#: Changes of the definition, which Flink's environment executes.
OF_DEFINITION = (
    AddElements, ModifyElements, DropColumns, DropPrimaryKey, DropConstraint, DropWatermark,
    DropDistribution,
)  # fmt: skip


def alter_materialized_table(session: Session, statement: Alter, text: str) -> TableResult:
    """Alter a permanent materialized table, or refresh it.

    SET and RESET are `feature-not-supported`, as in Flink; SUSPEND, RESUME, REFRESH and AS are
    unless the planner refreshes tables.
    """
    identifier, change = session.identifier(statement.path), statement.change
    if not isinstance(change, OF_DEFINITION):
        if not isinstance(change, SetQuery | Suspend | Resume | Refresh):
            raise UnsupportedError(
                f"ALTER MATERIALIZED TABLE does not support {type(change).__name__}",
                code="feature-not-supported",
                hint="write CREATE OR ALTER MATERIALIZED TABLE, which replaces options",
            )
        refresh.require_refreshing_planner(session)
    with at_span(statement.path.span):
        old = refresh.find_materialized_table(session, identifier)
    with at(f"materialized table {identifier.as_summary_string()}"):
        match change:
            case SetQuery(query):
                _alter_query(session, identifier, old, query, text)
            case Suspend():
                refresh.suspend(session, identifier)
            case Resume(options):
                return refresh.resume(session, identifier, options_of(options))
            case Refresh(partition):
                return refresh.refresh(session, identifier, partition)
            case _:
                _alter_definition(session, identifier, old, change, text)
    return OK


def _alter_definition(
    session: Session,
    identifier: ObjectIdentifier,
    old: objects.CatalogMaterializedTable,
    change: object,
    text: str,
) -> None:
    """Change what the query does not determine: computed columns, keys, watermark, distribution."""
    stored = origin(old)
    changed = apply_change(as_written(stored), change, text)
    before = session.resolver.resolve(stored.schema)
    if isinstance(change, AddElements | ModifyElements) and change.constraints:
        modified = {column.name.parts[-1] for column in change.columns}
        key = changed.schema.primary_key
        _require_not_null(before, key.column_names if key else (), modified)
    _check_persisted(before, session.resolver.resolve(changed.schema))
    table = replace(stored, schema=changed.schema, distribution=changed.distribution)
    _store(session, identifier, old, table, change)


def _require_not_null(schema: ResolvedSchema, key: Sequence[str], modified: set[str]) -> None:
    for column in schema.columns:
        if column.name in key and column.name not in modified and column.data_type.is_nullable:
            raise SchemaError(
                f"column {column.name!r} is nullable",
                code="invalid-constraint",
                hint="return a value that is not NULL from the query",
            )


def _check_persisted(before: ResolvedSchema, after: ResolvedSchema) -> None:
    """Require the persisted columns of the query, whose types can only be widened."""
    old = {column.name: column for column in before.columns}
    new = {column.name: column for column in after.columns}
    for name, column in new.items():
        if name not in old and column.is_persisted():
            raise _changed_columns(f"it returns no column {name!r}")
        if name in old and type(column) is not type(old[name]):
            raise _changed_columns(f"column {name!r} would be of another kind")
        if name in old and not supports_implicit_cast(
            old[name].data_type.nullable(), column.data_type.nullable()
        ):
            raise SchemaError(
                f"column {name!r} is {old[name].data_type}, which cannot be assigned to "
                f"{column.data_type}",
                code="not-assignable",
            )
    for name, column in old.items():
        if name not in new and column.is_persisted():
            raise _changed_columns(f"it returns the dropped column {name!r}")
