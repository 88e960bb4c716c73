"""Materialized tables: made and changed. Their content is refreshed by whoever runs jobs."""

from __future__ import annotations

from dataclasses import replace

from schema_core.catalog.materialized import (
    CatalogMaterializedTable,
    Freshness,
    FreshnessUnit,
    LogicalRefreshMode,
    RefreshStatus,
)
from schema_core.catalog.objects import TableKind
from schema_core.environment.operations.alter_table import renamed
from schema_core.environment.operations.definitions import (
    distribution_of,
    keys_of,
    options_of,
    primary_key_of,
    require,
)
from schema_core.environment.operations.views import view_of
from schema_core.environment.result import OK, TableResult
from schema_core.environment.session import Session, placed
from schema_core.errors import SchemaError, UnsupportedError
from schema_core.schema.members import UnresolvedPrimaryKey
from schema_core.schema.unresolved import Schema
from schema_core.sql.definition_syntax import (
    RenameTo,
    ResetOptions,
    Resume,
    SetOptions,
    Suspend,
)
from schema_core.sql.statement_syntax import Alter, CreateMaterializedTable
from schema_core.sql.syntax import Interval


def create_materialized_table(
    session: Session, statement: CreateMaterializedTable, text: str
) -> TableResult:
    """Keep a query whose result is to be kept.

    Raises:
        UnsupportedError: with code `statement-not-supported` for OR ALTER.
    """
    identifier = session.identifier(statement.path)
    if statement.or_alter:
        raise UnsupportedError(
            "CREATE OR ALTER MATERIALIZED TABLE is not supported",
            code="statement-not-supported",
            span=statement.path.span,
        )
    table = materialized_table(session, statement, text)
    with placed(statement.path.span):
        session.tables.create(identifier, table, ignore_if_exists=False)
    return OK


def materialized_table(
    session: Session, statement: CreateMaterializedTable, text: str
) -> CatalogMaterializedTable:
    """The table that the statement describes, its columns those of the query."""
    view = view_of(session, statement.query, text)
    elements = statement.elements
    if elements.columns or elements.names or elements.watermark:
        raise UnsupportedError(
            "the columns of a materialized table come from its query",
            code="statement-not-supported",
            span=elements.span,
        )
    keys = [primary_key_of(one) for one in elements.constraints]
    names = view.resolved_schema.get_column_names()
    require(statement.partition_keys, names, "partition key")
    return CatalogMaterializedTable(
        _with_key(view.schema, keys[0] if keys else None),
        view.original_query,
        view.expanded_query,
        options=options_of(statement.options),
        comment=statement.comment,
        logical_refresh_mode=LogicalRefreshMode[statement.refresh_mode or "AUTOMATIC"],
        refresh_status=RefreshStatus.INITIALIZING,
        freshness=freshness_of(statement.freshness) if statement.freshness else None,
        partition_keys=keys_of(statement.partition_keys),
        distribution=distribution_of(statement.distribution),
    )


def _with_key(schema: Schema, key: UnresolvedPrimaryKey | None) -> Schema:
    return replace(schema, primary_key=key)


def freshness_of(interval: Interval) -> Freshness:
    """The freshness that an interval says.

    Raises:
        SchemaError: with code `freshness` for one of several units, or of months and years.
    """
    if interval.to is not None or interval.unit not in FreshnessUnit.__members__:
        raise SchemaError(
            "a freshness is a number of seconds, minutes, hours or days",
            code="freshness",
            span=interval.span,
        )
    with placed(interval.span):
        sign = "-" if interval.negative else ""
        return Freshness.of(f"{sign}{interval.text}", FreshnessUnit[interval.unit])


def alter_materialized_table(session: Session, statement: Alter, text: str) -> TableResult:
    """Rename a materialized table, change its options, or suspend and resume its refresh."""
    identifier = session.identifier(statement.path)
    with placed(statement.path.span):
        table = session.tables.alterable(
            TableKind.MATERIALIZED_TABLE, identifier, statement.if_exists
        )
    if not isinstance(table, CatalogMaterializedTable):
        return OK
    match statement.change:
        case RenameTo(path):
            renamed(session, identifier, path)
        case SetOptions(options):
            merged = {**table.options, **options_of(options)}
            session.tables.alter(identifier, table.copy(merged))
        case ResetOptions(keys):
            kept = {key: value for key, value in table.options.items() if key not in keys}
            session.tables.alter(identifier, table.copy(kept))
        case Suspend():
            changed = replace(table, refresh_status=RefreshStatus.SUSPENDED)
            session.tables.alter(identifier, changed)
        case Resume():
            changed = replace(table, refresh_status=RefreshStatus.ACTIVATED)
            session.tables.alter(identifier, changed)
        case _:
            raise UnsupportedError(
                "a materialized table cannot be changed so", code="statement-not-supported"
            )
    return OK
