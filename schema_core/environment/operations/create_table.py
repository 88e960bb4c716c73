"""CREATE TABLE, CREATE TABLE LIKE, and CREATE TABLE and REPLACE TABLE AS SELECT."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import Enum
from typing import TypeGuard, TypeVar

from schema_core.catalog.api import Capability
from schema_core.catalog.managers import NOUNS
from schema_core.catalog.objects import (
    CatalogBaseTable,
    CatalogTable,
    ResolvedCatalogTable,
    TableDistribution,
    TableKind,
)
from schema_core.catalog.resolve import resolve_table
from schema_core.environment.operations.data import check_assignment, job_result
from schema_core.environment.operations.definitions import (
    check_names,
    check_sight,
    distribution_of,
    keys_of,
    options_of,
    read_schema,
    require,
    schema_of,
    with_key_not_null,
)
from schema_core.environment.options import ATOMICITY
from schema_core.environment.planner import BoundTable, Registration, fingerprint
from schema_core.environment.result import OK, TableResult
from schema_core.environment.session import Session, at_span
from schema_core.errors import AlreadyExistsError, Gathering, NotFoundError, SchemaError, at
from schema_core.paths import ObjectIdentifier
from schema_core.query.relation import Columns, Relation, result_columns
from schema_core.schema.columns import (
    UnresolvedColumn,
    UnresolvedComputedColumn,
    UnresolvedMetadataColumn,
    UnresolvedPhysicalColumn,
    UnresolvedPrimaryKey,
    UnresolvedWatermarkSpec,
)
from schema_core.schema.unresolved import Schema
from schema_core.sql.statement_syntax import CreateTable, Elements, Like
from schema_core.sql.syntax import Name, Query
from schema_core.types import DataType, TypeRoot
from schema_core.types.casts import supports_implicit_cast


def create_table(session: Session, statement: CreateTable, text: str) -> TableResult:
    """Create a table; CREATE TABLE AS also writes the query into it."""
    identifier = session.identifier(statement.path)
    if statement.query is not None:
        return create_table_as(session, statement, statement.query, text)
    if statement.like is not None:
        table = create_table_like(session, statement, statement.like, text)
    else:
        table = plain_table(session, statement, text)
    if statement.temporary:
        session.tables.create_temporary(identifier, table, statement.if_not_exists)
    else:
        session.tables.create(identifier, table, statement.if_not_exists)
    return OK


def plain_table(session: Session, statement: CreateTable, text: str) -> CatalogTable:
    """Return the table that the statement describes without LIKE and AS.

    Raises:
        SchemaError: for types that cannot be and columns that are not seen, with what else is wrong
            in the schema.
    """
    found = Gathering()
    schema = read_schema(statement.elements, text, found)
    with found.catching():
        check_sight(schema.columns)
    table = table_of(statement, schema)
    if found.errors:
        with found.catching():
            session.resolve(table)
        found.raise_all()
    return table


def table_of(statement: CreateTable, schema: Schema) -> CatalogTable:
    """Return a table with the schema and all other clauses of the statement."""
    key = schema.primary_key.column_names if schema.primary_key else ()
    columns = with_key_not_null(schema.columns, key)
    return _with_clauses(statement, replace(schema, columns=columns))


def _with_clauses(statement: CreateTable, schema: Schema) -> CatalogTable:
    return CatalogTable(
        schema,
        keys_of(statement.partition_keys),
        options=options_of(statement.options),
        comment=statement.comment,
        distribution=distribution_of(statement.distribution),
    )


# --- LIKE ----------------------------------------------------------------------------------


class Strategy(Enum):
    """How LIKE treats a feature of the source."""

    INCLUDING = "INCLUDING"
    EXCLUDING = "EXCLUDING"
    OVERWRITING = "OVERWRITING"


INCLUDING, EXCLUDING, OVERWRITING = Strategy

# fmt: off
#: feature -> its strategy by default
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

#: kind of column -> the feature that it belongs to; physical columns are always taken
FEATURES: dict[type[UnresolvedColumn], str] = {
    UnresolvedComputedColumn: "GENERATED",
    UnresolvedMetadataColumn: "METADATA",
}


def strategies_of(like: Like) -> dict[str, Strategy]:
    """Return the strategy of every feature: ALL first, then the specific ones."""
    given = {option.feature: Strategy[option.strategy] for option in like.options}
    chosen = {feature: given.get("ALL", default) for feature, default in DEFAULTS.items()}
    return chosen | {feature: one for feature, one in given.items() if feature != "ALL"}


def create_table_like(
    session: Session, statement: CreateTable, like: Like, text: str
) -> CatalogTable:
    """Return the table that the statement describes together with its source.

    Raises:
        SchemaError: with code `invalid-like-source` where the source is not a table,
            `like-conflict` where both define what only one may define.
    """
    source = session.found(like.source).table
    if not isinstance(source, CatalogTable):
        raise SchemaError(
            "LIKE takes a table, not a view", code="invalid-like-source", span=like.source.span
        )
    strategies = strategies_of(like)
    own = schema_of(statement.elements, text)
    key = _one("CONSTRAINTS", strategies, source.schema.primary_key, own.primary_key)
    columns = merged_columns(source.schema, own, strategies)
    if own.primary_key is not None:
        written = own.primary_key.column_names
        fresh = {column.name for column in own.columns}
        columns = with_key_not_null(columns, [name for name in written if name in fresh])
    schema = Schema(
        columns,
        merged_watermarks(source.schema, own, strategies),
        key,
        source.schema.indexes,
        None if strategies["CONSTRAINTS"] is EXCLUDING else source.schema.immutable_columns,
    )
    _require_indexed(schema)
    return CatalogTable(
        schema,
        _kept("PARTITIONS", strategies, source.partition_keys, keys_of(statement.partition_keys)),
        options=merged_options(source.options, options_of(statement.options), strategies),
        comment=statement.comment,
        distribution=_kept(
            "DISTRIBUTION",
            strategies,
            source.distribution,
            distribution_of(statement.distribution),
        ),
    )


def _require_indexed(schema: Schema) -> None:
    """Raise where an excluded column is part of an index of the source."""
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
    inherited: UnresolvedPrimaryKey | None,
    own: UnresolvedPrimaryKey | None,
) -> UnresolvedPrimaryKey | None:
    if strategies[feature] is EXCLUDING or inherited is None:
        return own
    if own is not None:
        raise _conflict(feature)
    return inherited


Kept = TypeVar("Kept", tuple[str, ...], TableDistribution | None)


def _kept(
    feature: str,
    strategies: Mapping[str, Strategy],
    inherited: Kept,
    own: Kept,
) -> Kept:
    """Return a partitioning or distribution: EXCLUDING permits another, but drops nothing."""
    if own and inherited and strategies[feature] is not EXCLUDING:
        raise _conflict(feature)
    return own or inherited


def merged_options(
    inherited: Mapping[str, str], own: Mapping[str, str], strategies: Mapping[str, Strategy]
) -> dict[str, str]:
    """Return the options of both tables, or of the new table only.

    Raises:
        SchemaError: with code `like-conflict` for a key of both under INCLUDING.
    """
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


def merged_columns(
    source: Schema, own: Schema, strategies: Mapping[str, Strategy]
) -> tuple[UnresolvedColumn, ...]:
    """Return the included columns of the source, then the table's own; some are replaced in place.

    Raises:
        SchemaError: with code `like-conflict` for a name of both, `unknown-column` for a computed
            column that reads what it cannot see.
    """
    kept = [
        column
        for column in source.columns
        if strategies.get(FEATURES.get(type(column), ""), INCLUDING) is not EXCLUDING
    ]
    merged: dict[str, UnresolvedColumn] = {column.name: column for column in kept}
    for column in own.columns:
        with at(f"column {column.name!r}", column.span):
            _require_replaceable(merged.get(column.name), column, strategies)
        merged[column.name] = column
    _check_own(own, [c for c in kept if c.name not in {one.name for one in own.columns}])
    return tuple(merged.values())


def _require_replaceable(
    old: UnresolvedColumn | None, new: UnresolvedColumn, strategies: Mapping[str, Strategy]
) -> None:
    if old is None:
        return
    feature = FEATURES.get(type(old))
    if feature is None or type(old) is not type(new) or strategies[feature] is not OVERWRITING:
        raise SchemaError(
            "the LIKE source has a column of this name",
            code="like-conflict",
            hint=f"write LIKE ... (OVERWRITING {feature})" if type(old) is type(new) else None,
        )


def _check_own(own: Schema, inherited: list[UnresolvedColumn]) -> None:
    """Check that new computed columns read only physical columns of the source."""
    names = [column.name for column in own.columns]
    if len(names) > len(set(names)):
        raise SchemaError("a column is defined twice", code="duplicate-column")
    hidden = [one.name for one in inherited if not isinstance(one, UnresolvedPhysicalColumn)]
    physical = [one for one in inherited if isinstance(one, UnresolvedPhysicalColumn)]
    check_sight([*physical, *own.columns], hidden)


def merged_watermarks(
    source: Schema, own: Schema, strategies: Mapping[str, Strategy]
) -> tuple[UnresolvedWatermarkSpec, ...]:
    """Return the included watermarks of the source and the table's own.

    Raises:
        SchemaError: with code `like-conflict` for a column that both have one for.
    """
    strategy = strategies["WATERMARKS"]
    kept = {} if strategy is EXCLUDING else {one.column_name: one for one in source.watermark_specs}
    for one in own.watermark_specs:
        if one.column_name in kept and strategy is not OVERWRITING:
            raise _conflict("WATERMARKS")
        kept[one.column_name] = one
    return tuple(kept.values())


# --- AS SELECT -----------------------------------------------------------------------------


def create_table_as(
    session: Session, statement: CreateTable, query: Query, text: str
) -> TableResult:
    """Create the table and write the query into it."""
    identifier = session.identifier(statement.path)
    relation = session.query(query, text)
    table = derived_table(statement, result_columns(relation), text)
    resolved = resolve_table(table, session.resolver)
    old = session.tables.read_or_stored(identifier)
    with at_span(statement.path.span):
        _check_old(session, statement, identifier, old)
    columns = [column.name for column in result_columns(relation)]
    if old is not None and statement.if_not_exists:
        return _insert(session, relation, identifier)
    assert old is None or isinstance(old, CatalogTable)  # noqa: S101 - checked
    session.check_definition(resolved, old)
    job = session.planner.create_as(
        session.executable(relation),
        BoundTable(identifier, resolved),
        _registration(session, identifier, resolved, old),
        columns=columns,
        hooks=session.hooks,
    )
    if old is not None and old.partition_keys != resolved.partition_keys:
        _forget_partitions(session, identifier)
    return job_result(identifier, job)


def _registration(
    session: Session,
    identifier: ObjectIdentifier,
    table: ResolvedCatalogTable,
    replaced: CatalogTable | None,
) -> Registration:
    """Return how the catalog is changed, and how the change is undone, each in one operation.

    A definition that does not resolve is put back as the catalog stores it. It is read just before
    it is replaced: if it is not `replaced` any more, the catalog refuses to replace it.
    """
    tables, path = session.tables, identifier
    stored: list[object] = []

    def create() -> None:
        if replaced is None:
            tables.create(path, table, ignore_if_exists=False)
            return
        if not isinstance(replaced, ResolvedCatalogTable):
            stored[:] = [tables.get_stored(path)]
        tables.alter(path, table, expected=replaced)

    def undo() -> None:
        found = tables.read_or_stored(path)
        if not isinstance(found, ResolvedCatalogTable) or fingerprint(found) != fingerprint(table):
            return
        if replaced is None:
            tables.drop(TableKind.TABLE, path, if_exists=True)
        elif stored:
            tables.restore(path, stored[0], expected=found)
        else:
            tables.alter(path, replaced, expected=found)

    atomic = ATOMICITY.of(session.config.get_configuration())
    return Registration(create, undo, bool(atomic), replaced)


def _forget_partitions(session: Session, identifier: ObjectIdentifier) -> None:
    """Drop the partitions whose keys the replaced table no longer has."""
    catalog, path = session.registry.get(identifier.catalog_name), identifier.to_object_path()
    table = catalog.get_table(path)
    if Capability.PARTITIONS in catalog.capabilities and isinstance(table, CatalogTable):
        for spec in catalog.list_partitions(path) if table.partition_keys else ():
            catalog.drop_partition(path, spec, ignore_if_not_exists=True)


def _insert(session: Session, relation: Relation, identifier: ObjectIdentifier) -> TableResult:
    """Write the query into the existing table, as IF NOT EXISTS does in Flink."""
    target = session.bound(identifier)
    check_assignment(result_columns(relation), target.table.resolved_schema)
    job = session.planner.insert(session.executable(relation), target, hooks=session.hooks)
    return job_result(identifier, job)


def _check_old(
    session: Session,
    statement: CreateTable,
    identifier: ObjectIdentifier,
    old: CatalogBaseTable | None,
) -> None:
    """Return whether the existing object permits the statement."""
    shown = identifier.as_summary_string()
    session.registry.get(identifier.catalog_name).get_database(identifier.database_name)
    if statement.or_replace or not statement.create:
        if old is None and not statement.create:
            raise NotFoundError(f"there is no table {shown}", code="table-not-found")
        if old is not None and (kind := old.get_table_kind()) is not TableKind.TABLE:
            raise SchemaError(f"{shown} is a {NOUNS[kind]}, not a table", code="not-a-table")
        if old is not None and session.temporary.kind(identifier) is TableKind.TABLE:
            raise SchemaError(
                f"a temporary table hides {shown}",
                code="hidden-by-temporary",
                hint="drop the temporary table first",
            )
    elif old is not None and not statement.if_not_exists:
        raise AlreadyExistsError(f"there is already an object {shown}", code="table-exists")


# --- the derived table ---------------------------------------------------------------------


def derived_table(statement: CreateTable, query: Columns, text: str) -> CatalogTable:
    """Return the table that the statement and the columns of its query describe.

    Raises:
        SchemaError: as `derived_schema`; with code `unknown-column` for a partition key.
    """
    schema = derived_schema(statement.elements, query, text)
    require(statement.partition_keys, [one.name for one in schema.columns], "partition key")
    return _with_clauses(statement, schema)


def derived_schema(elements: Elements, query: Columns, text: str) -> Schema:
    """Return the schema of a table created from a query: its columns, merged with declared ones.

    Raises:
        SchemaError: with code `untyped-null` for a column of the query that is just NULL,
            `invalid-column-order` for a list of names that is not a permutation, `unknown-column`,
            `duplicate-column`, `unsupported-column-kind`, `missing-default` or `not-assignable` for
            a declared column.
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
    columns = reordered(names, query) if names else merged(declared, query)
    known = [column.name for column in columns]
    if len(known) > len(set(known)):
        raise SchemaError("a column is defined twice", code="duplicate-column")
    return Schema(columns, own.watermark_specs, key)


def _check_sight(declared: tuple[UnresolvedColumn, ...], query: Columns) -> None:
    """Check that a computed column reads only columns of the query and declared ones before it."""
    unseen = {column.name for column in declared} - {column.name for column in query}
    for column in declared:
        if isinstance(column, UnresolvedComputedColumn):
            check_names(column, unseen)
        else:
            unseen.discard(column.name)


def reordered(names: tuple[Name, ...], query: Columns) -> tuple[UnresolvedColumn, ...]:
    """Return the columns of the query in the order of the names, a permutation of them."""
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
    return tuple(UnresolvedPhysicalColumn(name, types[name]) for name in order)


def merged(declared: tuple[UnresolvedColumn, ...], query: Columns) -> tuple[UnresolvedColumn, ...]:
    """Return declared columns that are not in the query, then its columns, some redeclared."""
    given = {column.name: column.type for column in query}
    replaced: dict[str, UnresolvedColumn] = {}
    extra: list[UnresolvedColumn] = []
    for position, column in enumerate(declared, start=1):
        with at(f"column {column.name!r}", column.span):
            if column.name in given:
                replaced[column.name] = _replacement(column, given[column.name], position)
            else:
                extra.append(_extra(column))
    taken = (
        replaced.get(column.name, UnresolvedPhysicalColumn(column.name, column.type))
        for column in query
    )
    return (*extra, *taken)


def _is_written(
    column: UnresolvedColumn,
) -> TypeGuard[UnresolvedPhysicalColumn | UnresolvedMetadataColumn]:
    """Return whether a job writes the column: it is physical, or metadata that is not virtual."""
    return isinstance(column, UnresolvedPhysicalColumn) or (
        isinstance(column, UnresolvedMetadataColumn) and not column.virtual
    )


def _replacement(column: UnresolvedColumn, given: DataType, position: int) -> UnresolvedColumn:
    """Return the declared column that replaces a column of the query."""
    if not _is_written(column):
        kind = "computed" if isinstance(column, UnresolvedComputedColumn) else "virtual"
        raise SchemaError(
            f"a {kind} column cannot receive a value of the query", code="unsupported-column-kind"
        )
    target = column.data_type
    if isinstance(target, DataType) and not supports_implicit_cast(given, target):
        raise SchemaError(
            f"declared column {position} is {target}, but the query returns {given}",
            code="not-assignable",
            hint="add a CAST to the query",
        )
    return column


def _extra(column: UnresolvedColumn) -> UnresolvedColumn:
    """Return a declared column that is not in the query; it is filled with NULL."""
    if _is_written(column):
        type_ = column.data_type
        if isinstance(type_, DataType) and not type_.is_nullable:
            raise SchemaError(
                "the column is NOT NULL, but the query has no value for it",
                code="missing-default",
                hint="declare it nullable, or select a value for it",
            )
    return column
