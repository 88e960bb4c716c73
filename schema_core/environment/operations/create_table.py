"""CREATE TABLE: plain, LIKE another table, and AS SELECT with REPLACE TABLE AS (FLIP-218)."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from enum import Enum
from functools import partial
from typing import TypeGuard, TypeVar

from schema_core.base.lazy import dataclass
from schema_core.base.paths import ObjectIdentifier
from schema_core.catalog.api import Capability
from schema_core.catalog.changes.column_history import ColumnHistory, history_of_same_files
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
    TableDistribution,
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
from schema_core.environment.result import OK, TableResult
from schema_core.environment.session import Session, at_span
from schema_core.environment.unbounded import find_unbounded_table
from schema_core.errors import AlreadyExistsError, Gathering, NotFoundError, SchemaError, at
from schema_core.mappings.dialects.definitions import (
    check_names,
    check_sight,
    distribution_of,
    keys_of,
    options_of,
    read_schema,
    require,
    schema_of,
    table_of,
    table_with,
    with_key_not_null,
)
from schema_core.query.relation import Columns, Relation, result_columns
from schema_core.schema import columns as schema_columns
from schema_core.schema.rules import duplicate_names
from schema_core.schema.unresolved import Schema
from schema_core.sql.statement_syntax import CreateTable, Elements, Like
from schema_core.sql.syntax import Name
from schema_core.types import DataType, TypeRoot
from schema_core.types.casts import supports_implicit_cast


def create_table(session: Session, statement: CreateTable, text: str) -> TableResult:
    """Create a table; CREATE TABLE AS also writes the query into it."""
    identifier = session.identifier(statement.path)
    if statement.query is not None:
        relation = session.query(statement.query, text)
        return create_table_as(session, derive_creation(session, statement, relation, text))
    history = None
    if statement.like is not None:
        table = create_table_like(session, statement, statement.like, text)
        history = _column_history(session, statement.like, table)
    else:
        table = read_table(session, statement, text)
    if statement.temporary:
        session.tables.create_temporary(identifier, table, statement.if_not_exists, history)
    else:
        finish(session, identifier)
        try:
            session.tables.create(identifier, table, statement.if_not_exists, history)
        except AlreadyExistsError as error:
            if statement.or_replace and error.hint is None:
                error.hint = (
                    "OR REPLACE replaces a table only in CREATE OR REPLACE TABLE ... AS SELECT; "
                    "drop the table first"
                )
            raise
    return OK


def read_table(session: Session, statement: CreateTable, text: str) -> CatalogTable:
    """Return the table that the statement describes without LIKE and AS.

    Invalid types and columns out of sight are raised with all other errors in the schema.
    """
    problems = Gathering()
    schema = read_schema(statement.elements, text, problems)
    with problems.catching():
        check_sight(schema.columns)
    table = table_of(statement, schema)
    if problems.errors:
        with problems.catching():
            session.resolve(table)
        problems.raise_all()
    return table


# --- LIKE -----------------------------------------------------------------------------------------


class Strategy(Enum):
    """How LIKE treats a feature of the source."""

    INCLUDING = "INCLUDING"
    EXCLUDING = "EXCLUDING"
    OVERWRITING = "OVERWRITING"


INCLUDING, EXCLUDING, OVERWRITING = Strategy

# fmt: off
#: Feature -> its default strategy.
DEFAULTS: dict[str, Strategy] = {
    "OPTIONS":      OVERWRITING,
    "CONSTRAINTS":  INCLUDING,
    "DISTRIBUTION": INCLUDING,
    "PARTITIONS":   INCLUDING,
    "GENERATED":    INCLUDING,
    "METADATA":     INCLUDING,
    "WATERMARKS":   INCLUDING,
}
# fmt: on

#: Kind of column -> its feature; physical columns are always included.
FEATURES: dict[type[schema_columns.UnresolvedColumn], str] = {
    schema_columns.UnresolvedComputedColumn: "GENERATED",
    schema_columns.UnresolvedMetadataColumn: "METADATA",
}


def choose_strategies(like: Like) -> dict[str, Strategy]:
    """Return the strategy of every feature; specific ones override ALL."""
    strategies = {option.feature: Strategy[option.strategy] for option in like.options}
    common = strategies.pop("ALL", None)
    return {feature: common or default for feature, default in DEFAULTS.items()} | strategies


def create_table_like(
    session: Session, statement: CreateTable, like: Like, text: str
) -> CatalogTable:
    """Return the table that the statement and its source describe.

    Codes: `invalid-like-source` unless the source is a table, `like-conflict` where both define
    what only one may.
    """
    source = session.look_up(like.source).table
    if not isinstance(source, CatalogTable):
        raise SchemaError(
            "LIKE requires a table, got a view", code="invalid-like-source", span=like.source.span
        )
    strategies = choose_strategies(like)
    own = schema_of(statement.elements, text)
    key = _one("CONSTRAINTS", strategies, source.schema.primary_key, own.primary_key)
    columns = merge_like_columns(source.schema, own, strategies)
    if own.primary_key is not None:
        written = own.primary_key.column_names
        fresh = {column.name for column in own.columns}
        columns = with_key_not_null(columns, [name for name in written if name in fresh])
    schema = Schema(
        columns,
        merge_like_watermarks(source.schema, own, strategies),
        key,
        source.schema.indexes,
        None if strategies["CONSTRAINTS"] is EXCLUDING else source.schema.immutable_columns,
    )
    _require_indexed(schema)
    return CatalogTable(
        schema,
        _keep_layout(
            "PARTITIONS", strategies, source.partition_keys, keys_of(statement.partition_keys)
        ),
        options=merge_like_options(source.options, options_of(statement.options), strategies),
        comment=statement.comment,
        distribution=_keep_layout(
            "DISTRIBUTION",
            strategies,
            source.distribution,
            distribution_of(statement.distribution),
        ),
    )


def _column_history(session: Session, like: Like, table: CatalogTable) -> ColumnHistory | None:
    """Return the history of the source's columns, if the new table has its files."""
    found = session.look_up(like.source)
    source = found.table
    if not isinstance(source, CatalogTable):  # replaced since `create_table_like` has read it
        return None
    return history_of_same_files(source, found.connector_options, table)


def _require_indexed(schema: Schema) -> None:
    """Raise if an index of the source reads an excluded column."""
    names = {column.name for column in schema.columns}
    for index in schema.indexes:
        if missing := [name for name in index.column_names if name not in names]:
            raise SchemaError(
                f"index {index.name!r} of the LIKE source reads the excluded column {missing[0]!r}",
                code="still-referenced",
                hint="include the column, or create the table with a TableDescriptor",
            )


def _conflict(feature: str) -> SchemaError:
    return SchemaError(
        f"both the table and its LIKE source have {feature.lower()}",
        code="like-conflict",
        hint=f"write LIKE ... (EXCLUDING {feature})",
    )


def _one(
    feature: str,
    strategies: Mapping[str, Strategy],
    inherited: schema_columns.UnresolvedPrimaryKey | None,
    own: schema_columns.UnresolvedPrimaryKey | None,
) -> schema_columns.UnresolvedPrimaryKey | None:
    if strategies[feature] is EXCLUDING or inherited is None:
        return own
    if own is not None:
        raise _conflict(feature)
    return inherited


Layout = TypeVar("Layout", tuple[str, ...], TableDistribution | None)


def _keep_layout(
    feature: str,
    strategies: Mapping[str, Strategy],
    inherited: Layout,
    own: Layout,
) -> Layout:
    """Return a partitioning or distribution: EXCLUDING permits another one, but drops nothing."""
    if own and inherited and strategies[feature] is not EXCLUDING:
        raise _conflict(feature)
    return own or inherited


def merge_like_options(
    inherited: Mapping[str, str], own: Mapping[str, str], strategies: Mapping[str, Strategy]
) -> dict[str, str]:
    """Return the options of both tables, or the new one's (`like-conflict` under INCLUDING)."""
    match strategies["OPTIONS"]:
        case Strategy.EXCLUDING:
            return dict(own)
        case Strategy.OVERWRITING:
            return {**inherited, **own}
        case Strategy.INCLUDING:
            if twice := sorted(inherited.keys() & own.keys()):
                raise SchemaError(
                    f"both the table and its LIKE source set {', '.join(twice)}",
                    code="like-conflict",
                    hint="write LIKE ... (OVERWRITING OPTIONS)",
                )
            return {**inherited, **own}


def merge_like_columns(
    source: Schema, own: Schema, strategies: Mapping[str, Strategy]
) -> tuple[schema_columns.UnresolvedColumn, ...]:
    """Return the included columns of the source, some replaced in place, then the table's own.

    Codes: `like-conflict` for a name of both, `unknown-column` for a computed column that reads
    what it cannot see.
    """
    included = [
        column
        for column in source.columns
        if strategies.get(FEATURES.get(type(column), ""), INCLUDING) is not EXCLUDING
    ]
    merged = {column.name: column for column in included}
    for column in own.columns:
        with at(f"column {column.name!r}", column.span):
            _require_replaceable(merged.get(column.name), column, strategies)
        merged[column.name] = column
    replaced = {column.name for column in own.columns}
    _check_own(own, [column for column in included if column.name not in replaced])
    return tuple(merged.values())


def _require_replaceable(
    old: schema_columns.UnresolvedColumn | None,
    new: schema_columns.UnresolvedColumn,
    strategies: Mapping[str, Strategy],
) -> None:
    if old is None:
        return
    feature = FEATURES.get(type(old))
    if feature is None or type(old) is not type(new) or strategies[feature] is not OVERWRITING:
        raise SchemaError(
            f"the LIKE source also defines column {new.name!r}",
            code="like-conflict",
            hint=f"write LIKE ... (OVERWRITING {feature})" if type(old) is type(new) else None,
        )


def _check_own(own: Schema, inherited: list[schema_columns.UnresolvedColumn]) -> None:
    """Check that new computed columns read only physical columns of the source."""
    names = [column.name for column in own.columns]
    if twice := duplicate_names(names):
        raise SchemaError(f"duplicate column name {twice[0]!r}", code="duplicate-column")
    physical = [
        column
        for column in inherited
        if isinstance(column, schema_columns.UnresolvedPhysicalColumn)
    ]
    visible = {column.name for column in physical}
    hidden = [column.name for column in inherited if column.name not in visible]
    check_sight([*physical, *own.columns], hidden)


def merge_like_watermarks(
    source: Schema, own: Schema, strategies: Mapping[str, Strategy]
) -> tuple[schema_columns.UnresolvedWatermarkSpec, ...]:
    """Return the source's included watermarks and the table's own (`like-conflict`)."""
    strategy = strategies["WATERMARKS"]
    inherited = () if strategy is EXCLUDING else source.watermark_specs
    specs = {spec.column_name: spec for spec in inherited}
    for spec in own.watermark_specs:
        if spec.column_name in specs and strategy is not OVERWRITING:
            raise _conflict("WATERMARKS")
        specs[spec.column_name] = spec
    return tuple(specs.values())


# --- AS SELECT ------------------------------------------------------------------------------------

#: The longest statement stored in an option; Hive's limit is 4000.
MAX_STATEMENT = 3_500


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

    Codes: `table-exists`, `table-not-found` for REPLACE TABLE; `not-a-table` or
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
            raise SchemaError(f"{shown!r} is a {NOUNS[kind]}, not a table", code="not-a-table")
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

    Codes: `untyped-null` for a column that is just NULL, `invalid-column-order` unless the list of
    names is a permutation; `unknown-column`, `duplicate-column`, `unsupported-column-kind`,
    `missing-default`, `not-assignable` for a declared column.
    """
    for column in query:
        if column.type.is_(TypeRoot.NULL):
            raise SchemaError(
                f"column {column.name!r} is NULL without a type",
                code="untyped-null",
                hint="write CAST(NULL AS ...)",
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
            code="invalid-column-order",
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
            f"a {kind} column cannot receive a value of the query", code="unsupported-column-kind"
        )
    target = column.data_type
    if isinstance(target, DataType) and not supports_implicit_cast(source, target):
        raise SchemaError(
            f"declared column {position} is {target}, but the query returns {source}",
            code="not-assignable",
            hint="add a CAST to the query",
        )
    return column


def _extra(column: schema_columns.UnresolvedColumn) -> schema_columns.UnresolvedColumn:
    """Return a declared column that the query lacks; it is filled with NULL."""
    if _is_written(column):
        type_ = column.data_type
        if isinstance(type_, DataType) and not type_.is_nullable:
            raise SchemaError(
                "the column is NOT NULL, but the query has no value for it",
                code="missing-default",
                hint="declare it nullable, or select a value for it",
            )
    return column
