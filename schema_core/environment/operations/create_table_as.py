"""CREATE TABLE AS SELECT and REPLACE TABLE AS (FLIP-218)."""

from __future__ import annotations

import uuid
from functools import partial
from typing import TypeGuard

from schema_core.base.lazy import dataclass
from schema_core.base.paths import ObjectIdentifier
from schema_core.catalog.api import Capability
from schema_core.catalog.managed import (
    directory_of,
    is_managed,
    new_directory,
    require_no_path,
    with_directory,
)
from schema_core.catalog.managers import NOUNS
from schema_core.catalog.objects import (
    CatalogBaseTable,
    CatalogTable,
    ResolvedCatalogTable,
    TableKind,
)
from schema_core.catalog.own_options import require_no_own_options
from schema_core.catalog.resolve import resolve_table
from schema_core.environment.connector import installed_connector
from schema_core.environment.jobs.atomicity import AtomicityLevel, choose_level, is_atomic
from schema_core.environment.jobs.commit_records import planner_of_job
from schema_core.environment.jobs.graph import JobGraph
from schema_core.environment.jobs.pending import Owner, PendingJob
from schema_core.environment.jobs.recovery import TableRegistration, delete_directory, finish
from schema_core.environment.operations.data import Writing, prepare_write, run_job
from schema_core.environment.operations.streaming_sinks import require_consumed_updates
from schema_core.environment.planner import BoundTable
from schema_core.environment.result import TableResult
from schema_core.environment.session import Session, at_span
from schema_core.environment.unbounded import find_unbounded_table
from schema_core.errors import AlreadyExistsError, NotFoundError, SchemaError, at
from schema_core.errors.hints import ADD_CAST, CAST_NULL
from schema_core.mappings.dialects.definitions import (
    check_names,
    require,
    schema_of,
    table_with,
    with_key_not_null,
)
from schema_core.query.relation import Columns, Relation, result_columns
from schema_core.schema import columns as schema_columns
from schema_core.schema.rules import duplicate_names
from schema_core.schema.unresolved import Schema
from schema_core.sql.statement_syntax import CreateTable, Elements
from schema_core.sql.syntax import Name
from schema_core.types import DataType, TypeRoot
from schema_core.types.casts import supports_implicit_cast


@dataclass(frozen=True, slots=True)
class TableCreation:
    """A table to be created or replaced, and the query that fills it.

    `table` merges the columns of the query and the declarations of the statement. Whether the path
    is taken is checked only on execution.
    """

    statement: CreateTable
    identifier: ObjectIdentifier
    relation: Relation
    table: ResolvedCatalogTable


def derive_creation(
    session: Session, statement: CreateTable, relation: Relation, text: str = ""
) -> TableCreation:
    """Return what CREATE TABLE AS with a resolved query creates; errors as `derive_table`."""
    identifier = session.identifier(statement.path)
    table = derive_table(statement, result_columns(relation), text)
    resolved = resolve_table(table, session.resolver)
    return TableCreation(statement, identifier, relation, resolved)


def create_table_as(session: Session, creation: TableCreation) -> TableResult:
    """Submit the job of `prepare_creation`."""
    return run_job(session, [partial(prepare_creation, session, creation)])


def prepare_creation(session: Session, creation: TableCreation) -> JobGraph:
    """Prepare the job that creates the table and writes the query into it.

    Codes: `table-exists`, `table-not-found` for REPLACE TABLE; `wrong-object-type` or
    `hidden-by-temporary` for an object that cannot be replaced.
    """
    statement, identifier, table = creation.statement, creation.identifier, creation.table
    finish(session, identifier)
    old = session.tables.read_or_stored(identifier)
    with at_span(statement.path.span):
        check_existing(session, statement, identifier, old)
    relation = creation.relation
    if old is not None and statement.if_not_exists:  # as Flink: write into the existing table
        return prepare_write(session, relation, session.bind(identifier), Writing())
    require_no_own_options(table.options)
    session.check_definition(table, old)
    stored, target = place_table(session, identifier, table)
    replaced = find_replaced(session, identifier, old)
    with at_span(statement.span):
        bound = session.bind_table(identifier, target)
        session.tables.require_writable(identifier, bound.table.options)
        require_consumed_updates(session, relation, bound)
    query = session.executable(relation)
    job = _pending_job(session, bound, replaced, query)
    graph = planner_of_job(session, relation, identifier).create_as(
        query,
        bound,
        TableRegistration(session, identifier, stored, replaced, job),
        columns=[column.name for column in result_columns(relation)],
    )
    if replaced is not None and replaced.partition_keys != table.partition_keys:
        graph.after_commit.append(partial(_forget_partitions, session, identifier))
    directory = session.tables.find_directory(identifier)
    if directory is not None and directory_of(stored) != directory:
        graph.after_commit.append(partial(delete_directory, session, identifier, directory))
    return graph


def find_replaced(
    session: Session, identifier: ObjectIdentifier, old: CatalogBaseTable | None
) -> CatalogTable | None:
    """Return the table that a statement replaces as a connector reads it; None if there is none.

    Errors are those of `Session.bind_table`.
    """
    if isinstance(old, ResolvedCatalogTable):
        return session.bind_found(session.get_table(identifier)).table
    if not isinstance(old, CatalogTable):
        return None
    return old.copy(session.option_references.resolve(old.options))


def place_table(
    session: Session, identifier: ObjectIdentifier, table: ResolvedCatalogTable
) -> tuple[ResolvedCatalogTable, ResolvedCatalogTable]:
    """Return a table as its catalog stores it, and as a connector writes it (`reserved-option`).

    They differ for a managed table; one that replaces another keeps its directory.
    """
    storage = session.tables.get_storage(identifier)
    if storage is None or not is_managed(table):
        return table, session.tables.with_connector(identifier, table)
    require_no_path(table)
    directory = session.tables.find_directory(identifier) or new_directory(identifier)
    return with_directory(table, directory), storage.derived(table, directory)


def _pending_job(
    session: Session,
    target: BoundTable,
    replaced: CatalogTable | None,
    query: Relation,
) -> PendingJob | None:
    """Return the pending job of a table; None at the first level, where the table stays."""
    level = find_level(session, target, query, replaces=replaced is not None)
    if level is AtomicityLevel.CREATED_FIRST:
        return None
    return PendingJob(level.value, uuid.uuid4().hex, Owner.this())


def find_level(
    session: Session, target: BoundTable, query: Relation, *, replaces: bool
) -> AtomicityLevel:
    """Return the level at which a table is created or replaced from a query now."""
    return choose_level(
        installed_connector(target.table.options),
        target.table.options,
        atomic=is_atomic(session.config.get_configuration()),
        replaces=replaces,
        unbounded=find_unbounded_table(session, query),
    ).level


def _forget_partitions(session: Session, identifier: ObjectIdentifier) -> None:
    """Drop the partitions whose keys the replaced table no longer has."""
    catalog, path = session.registry.get(identifier.catalog_name), identifier.to_object_path()
    table = catalog.get_table(path)
    if Capability.PARTITIONS in catalog.capabilities and isinstance(table, CatalogTable):
        for spec in catalog.list_partitions(path) if table.partition_keys else ():
            catalog.drop_partition(path, spec, ignore_if_not_exists=True)


def check_existing(
    session: Session,
    statement: CreateTable,
    identifier: ObjectIdentifier,
    old: CatalogBaseTable | None,
) -> None:
    """Check that the existing object permits the statement; codes as `prepare_creation`."""
    shown = identifier.as_summary_string()
    session.registry.get(identifier.catalog_name).get_database(identifier.database_name)
    if statement.or_replace or not statement.create:
        if old is None and not statement.create:
            raise NotFoundError(f"there is no table {shown!r}", code="table-not-found")
        if old is not None and (kind := old.get_table_kind()) is not TableKind.TABLE:
            raise SchemaError(
                f"{shown!r} is a {NOUNS[kind]}, not a table", code="wrong-object-type"
            )
        if old is not None and session.temporary.kind(identifier) is TableKind.TABLE:
            raise SchemaError(
                f"a temporary table hides {shown!r}",
                code="hidden-by-temporary",
                hint="drop the temporary table first",
            )
    elif old is not None and not statement.if_not_exists:
        raise AlreadyExistsError(f"there is already an object {shown!r}", code="table-exists")


# --- the schema of CREATE TABLE AS ----------------------------------------------------------------


def derive_table(statement: CreateTable, query: Columns, text: str) -> CatalogTable:
    """Return the table that the statement and the columns of its query describe.

    Errors are those of `derive_schema`; `unknown-column` for a partition key.
    """
    schema = derive_schema(statement.elements, query, text)
    require(statement.partition_keys, [column.name for column in schema.columns], "partition key")
    return table_with(statement, schema)


def derive_schema(elements: Elements, query: Columns, text: str) -> Schema:
    """Return the columns of a query, merged with declared ones.

    Codes: `data-type-not-inferred` for a column that is just NULL, `invalid-statement` unless
    the list of names is a permutation; `unknown-column`, `duplicate-column`,
    `feature-not-supported`, `not-assignable` for a declared column.
    """
    for column in query:
        if column.type.is_(TypeRoot.NULL):
            raise SchemaError(
                f"column {column.name!r} is NULL without a type",
                code="data-type-not-inferred",
                hint=CAST_NULL,
            )
    own = schema_of(elements, text)
    key = own.primary_key
    declared = with_key_not_null(own.columns, key.column_names if key else ())
    _check_sight(declared, query)
    names = elements.names
    columns = reorder_columns(names, query) if names else merge_declared_columns(declared, query)
    if twice := duplicate_names(column.name for column in columns):
        raise SchemaError(f"duplicate column name {twice[0]!r}", code="duplicate-column")
    return Schema(columns, own.watermark_specs, key)


def _check_sight(declared: tuple[schema_columns.UnresolvedColumn, ...], query: Columns) -> None:
    """Check that a computed column reads only the query's columns and earlier declared ones."""
    unseen = {column.name for column in declared} - {column.name for column in query}
    for column in declared:
        if isinstance(column, schema_columns.UnresolvedComputedColumn):
            check_names(column, unseen)
        else:
            unseen.discard(column.name)


def reorder_columns(
    names: tuple[Name, ...], query: Columns
) -> tuple[schema_columns.UnresolvedColumn, ...]:
    """Return the columns of the query in the order of the names."""
    types = {column.name: column.type for column in query}
    require(names, types, "column")
    order = [name.parts[-1] for name in names]
    if len(set(order)) < len(order) or len(order) != len(query):
        raise SchemaError(
            f"the list names {len(order)} columns, the query returns {len(query)}",
            code="invalid-statement",
            span=names[0].span,
            hint="name every column of the query once, or declare types",
        )
    return tuple(schema_columns.UnresolvedPhysicalColumn(name, types[name]) for name in order)


def merge_declared_columns(
    declared: tuple[schema_columns.UnresolvedColumn, ...], query: Columns
) -> tuple[schema_columns.UnresolvedColumn, ...]:
    """Return declared columns that the query lacks, then its columns, some redeclared."""
    types = {column.name: column.type for column in query}
    replaced: dict[str, schema_columns.UnresolvedColumn] = {}
    extra: list[schema_columns.UnresolvedColumn] = []
    for position, column in enumerate(declared, start=1):
        with at(f"column {column.name!r}", column.span):
            if column.name in types:
                replaced[column.name] = _replacement(column, types[column.name], position)
            else:
                extra.append(_extra(column))
    columns = (
        replaced.get(column.name, schema_columns.UnresolvedPhysicalColumn(column.name, column.type))
        for column in query
    )
    return (*extra, *columns)


def _is_written(
    column: schema_columns.UnresolvedColumn,
) -> TypeGuard[schema_columns.UnresolvedPhysicalColumn | schema_columns.UnresolvedMetadataColumn]:
    """Return whether a job writes the column: it is physical, or metadata but not virtual."""
    return isinstance(column, schema_columns.UnresolvedPhysicalColumn) or (
        isinstance(column, schema_columns.UnresolvedMetadataColumn) and not column.virtual
    )


def _replacement(
    column: schema_columns.UnresolvedColumn, source: DataType, position: int
) -> schema_columns.UnresolvedColumn:
    if not _is_written(column):
        kind = (
            "computed" if isinstance(column, schema_columns.UnresolvedComputedColumn) else "virtual"
        )
        raise SchemaError(
            f"a {kind} column cannot receive a value of the query", code="feature-not-supported"
        )
    target = column.data_type
    if isinstance(target, DataType) and not supports_implicit_cast(source, target):
        raise SchemaError(
            f"declared column {position} is {target}, but the query returns {source}",
            code="not-assignable",
            hint=ADD_CAST,
        )
    return column


def _extra(column: schema_columns.UnresolvedColumn) -> schema_columns.UnresolvedColumn:
    """Return a declared column that the query lacks; it is filled with NULL."""
    if _is_written(column):
        type_ = column.data_type
        if isinstance(type_, DataType) and not type_.is_nullable:
            raise SchemaError(
                "the column is NOT NULL, but the query has no value for it",
                code="not-assignable",
                hint="declare it nullable, or select a value for it",
            )
    return column
