"""CREATE TABLE AS SELECT: the table that is derived from a query, and the job that fills it.

FLIP-218, FLIP-305. The columns of the query are the columns of the table; columns that the
statement declares come first, or replace a column of the query at its place.
"""

from __future__ import annotations

from schema_core.catalog.api import Capability
from schema_core.catalog.manager import NOUNS
from schema_core.catalog.objects import (
    CatalogBaseTable,
    CatalogTable,
    ResolvedCatalogTable,
    TableKind,
)
from schema_core.catalog.resolve import resolve_table
from schema_core.environment.operations.data import check_assignment, job_result
from schema_core.environment.operations.definitions import (
    check_names,
    distribution_of,
    keys_of,
    options_of,
    require,
    schema_of,
    with_key_not_null,
)
from schema_core.environment.options import ATOMICITY
from schema_core.environment.planner import BoundTable, Registration, fingerprint
from schema_core.environment.result import TableResult
from schema_core.environment.session import Session, placed
from schema_core.errors import AlreadyExistsError, NotFoundError, SchemaError, at
from schema_core.paths import ObjectIdentifier
from schema_core.query.relation import Columns, Relation, result_columns
from schema_core.schema.columns import (
    UnresolvedColumn,
    UnresolvedComputedColumn,
    UnresolvedMetadataColumn,
    UnresolvedPhysicalColumn,
)
from schema_core.schema.unresolved import Schema
from schema_core.sql.definition_syntax import Elements
from schema_core.sql.query_syntax import Query
from schema_core.sql.statement_syntax import CreateTable
from schema_core.sql.syntax import Name
from schema_core.types import DataType, TypeRoot
from schema_core.types.casts import supports_implicit_cast


def create_table_as(
    session: Session, statement: CreateTable, query: Query, text: str
) -> TableResult:
    """Make the table and run the query into it."""
    identifier = session.identifier(statement.path)
    relation = session.query(query, text)
    table = derived_table(statement, result_columns(relation), text)
    resolved = resolve_table(table, session.resolver)
    old = session.tables.read_or_stored(identifier)
    with placed(statement.path.span):
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
    """How the catalog is changed: one operation forth, and one back.

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
    """IF NOT EXISTS keeps the table that is there; the query still runs into it."""
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
    """Whether what lies at the path already allows the statement."""
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
        raise AlreadyExistsError(f"there is already something called {shown}", code="table-exists")


# --- the derived table ---------------------------------------------------------------------------


def derived_table(statement: CreateTable, query: Columns, text: str) -> CatalogTable:
    """The table that the statement and the columns of its query describe.

    Raises:
        SchemaError: as `derived_schema`; with code `unknown-column` for a partition key.
    """
    schema = derived_schema(statement.elements, query, text)
    require(statement.partition_keys, [one.name for one in schema.columns], "partition key")
    return CatalogTable(
        schema,
        keys_of(statement.partition_keys),
        options=options_of(statement.options),
        comment=statement.comment,
        distribution=distribution_of(statement.distribution),
    )


def derived_schema(elements: Elements, query: Columns, text: str) -> Schema:
    """The schema of what is made of a query: its columns, beside or under those declared.

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
    """A computed column sees the columns of the query and the declared ones before it."""
    unseen = {column.name for column in declared} - {column.name for column in query}
    for column in declared:
        if isinstance(column, UnresolvedComputedColumn):
            check_names(column, unseen)
        else:
            unseen.discard(column.name)


def reordered(names: tuple[Name, ...], query: Columns) -> tuple[UnresolvedColumn, ...]:
    """The columns of the query in the order of the names, which name each of them once."""
    types = {column.name: column.type for column in query}
    require(names, types, "column")
    order = [name.parts[-1] for name in names]
    if len(set(order)) < len(order) or len(order) != len(query):
        raise SchemaError(
            f"the list names {len(order)} columns, the query gives {len(query)}",
            code="invalid-column-order",
            span=names[0].span,
            hint="name every column of the query once, or declare types",
        )
    return tuple(UnresolvedPhysicalColumn(name, types[name]) for name in order)


def merged(declared: tuple[UnresolvedColumn, ...], query: Columns) -> tuple[UnresolvedColumn, ...]:
    """Declared columns that the query does not give, then those it gives, some re-declared."""
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


def _replacement(column: UnresolvedColumn, given: DataType, position: int) -> UnresolvedColumn:
    """A declared column in place of one that the query gives."""
    if isinstance(column, UnresolvedComputedColumn):
        raise SchemaError(
            "a computed column cannot take what the query gives", code="unsupported-column-kind"
        )
    if isinstance(column, UnresolvedMetadataColumn) and column.virtual:
        raise SchemaError(
            "a virtual column cannot take what the query gives", code="unsupported-column-kind"
        )
    target = column.data_type
    if isinstance(target, DataType) and not supports_implicit_cast(given, target):
        raise SchemaError(
            f"declared column {position} is {target}, but the query gives {given}",
            code="not-assignable",
            hint="add a CAST to the query",
        )
    return column


def _extra(column: UnresolvedColumn) -> UnresolvedColumn:
    """A declared column that the query does not give: it is filled with NULL."""
    stored = isinstance(column, UnresolvedPhysicalColumn) or (
        isinstance(column, UnresolvedMetadataColumn) and not column.virtual
    )
    if stored and not isinstance(column, UnresolvedComputedColumn):
        type_ = column.data_type
        if isinstance(type_, DataType) and not type_.is_nullable:
            raise SchemaError(
                "the column is NOT NULL and the query gives nothing for it",
                code="missing-default",
                hint="declare it nullable, or select a value for it",
            )
    return column
