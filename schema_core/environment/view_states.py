"""The views and materialized tables of a catalog: what their queries read, and whether they work.

A catalog stores the queries as text. They are resolved here as a reader of the view resolves them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TypeAlias

from schema_core.base.lazy import dataclass
from schema_core.base.paths import ObjectIdentifier
from schema_core.base.text import quote_identifier
from schema_core.catalog import objects
from schema_core.catalog.api import Capability, Catalog
from schema_core.environment.session import Session
from schema_core.environment.views import conform_columns, find_changed_columns, find_tables
from schema_core.errors import NotFoundError, SchemaCoreError, SchemaError
from schema_core.query.relation import result_columns
from schema_core.schema.resolved import ResolvedSchema

#: A view as it is stored, or why it cannot be read.
Definition: TypeAlias = objects.CatalogView | objects.CatalogMaterializedTable | SchemaCoreError


@dataclass(frozen=True, slots=True)
class ViewState:
    """A view or materialized table: the tables and views that it reads, and why it does not work.

    `problem` is None if its query returns the columns that are declared, with their types. `reads`
    is empty if the query is invalid. `query` is the text of the query, with all names qualified.
    """

    identifier: ObjectIdentifier
    kind: objects.TableKind
    query: str
    reads: frozenset[ObjectIdentifier] = frozenset()
    problem: SchemaCoreError | None = None


def read_view_states(
    session: Session, catalog: str, names: Collection[str] | None = None
) -> dict[ObjectIdentifier, ViewState]:
    """Return the state of permanent views and materialized tables of a catalog.

    Args:
        session: The session, in which the queries are resolved.
        catalog: The name of the catalog.
        names: Names of tables, views and functions: only the views of these names are returned,
            and those whose queries mention them or such a view. None returns all.

    Raises:
        SchemaCoreError: of the catalog; problems of views are results.
    """
    stored = {
        identifier: _read_definition(session, identifier)
        for identifier in _iterate_views(session.registry.get(catalog), catalog)
    }
    chosen = stored.keys() if names is None else _find_mentioning(stored, names)
    with session.keep_tables():
        return {
            identifier: _read_state(session, identifier, stored[identifier])
            for identifier in stored
            if identifier in chosen
        }


def _iterate_views(catalog: Catalog, name: str) -> Iterator[ObjectIdentifier]:
    materialized = Capability.MATERIALIZED_TABLES in catalog.capabilities
    for database in catalog.list_databases():
        views = catalog.list_views(database)
        views += catalog.list_materialized_tables(database) if materialized else []
        for view in views:
            yield ObjectIdentifier.of(name, database, view)


def _read_definition(session: Session, identifier: ObjectIdentifier) -> Definition:
    """Return a view, or the error of a definition that cannot be read."""
    try:
        stored = session.tables.find_stored(identifier)
    except SchemaCoreError as error:
        return error
    if isinstance(stored, objects.CatalogView | objects.CatalogMaterializedTable):
        return stored
    return NotFoundError(
        f"there is no view {identifier.as_summary_string()!r}", code="table-not-found"
    )


def _find_mentioning(
    stored: Mapping[ObjectIdentifier, Definition], names: Collection[str]
) -> set[ObjectIdentifier]:
    """Return the views of names, and those whose queries mention them, in any case, or a view."""
    texts = {
        identifier: "" if isinstance(view, SchemaCoreError) else view.expanded_query.lower()
        for identifier, view in stored.items()
    }
    waiting = {quote_identifier(name)[1:-1].lower() for name in names}
    chosen = {identifier for identifier in stored if identifier.object_name in names}
    while waiting:
        mentioning = {
            identifier
            for identifier, text in texts.items()
            if identifier not in chosen and any(name in text for name in waiting)
        }
        chosen |= mentioning
        waiting = {quote_identifier(view.object_name)[1:-1].lower() for view in mentioning}
    return chosen


def _read_state(session: Session, identifier: ObjectIdentifier, stored: Definition) -> ViewState:
    if isinstance(stored, SchemaCoreError):
        return ViewState(identifier, objects.TableKind.VIEW, "", problem=stored)
    kind, query = stored.get_table_kind(), stored.expanded_query
    reads: frozenset[ObjectIdentifier] = frozenset()
    try:
        relation = session.view_relation(stored)
        reads = frozenset(find_tables(relation))
        schema = _declared_schema(session, stored)
        conform_columns(relation, schema)
        if changes := [*find_changed_columns(result_columns(relation), schema)]:
            raise SchemaError("; ".join(changes), code="stale-view")
    except SchemaCoreError as error:
        return ViewState(identifier, kind, query, reads, error)
    return ViewState(identifier, kind, query, reads)


def _declared_schema(
    session: Session, table: objects.CatalogView | objects.CatalogMaterializedTable
) -> ResolvedSchema:
    """Return the columns that the query fills, with the types that the catalog stores."""
    schema = session.resolver.resolve(table.schema)
    if isinstance(table, objects.CatalogView):
        return schema
    return ResolvedSchema([column for column in schema.columns if column.is_persisted()])
