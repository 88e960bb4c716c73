"""Materialized tables: queries whose result is kept. It is refreshed by whoever runs jobs."""

from __future__ import annotations

from schema_core.catalog.materialized import (
    CatalogMaterializedTable,
    Freshness,
    FreshnessUnit,
    LogicalRefreshMode,
    RefreshStatus,
)
from schema_core.environment.operations.ctas import derived_schema
from schema_core.environment.operations.definitions import (
    distribution_of,
    keys_of,
    options_of,
    require,
)
from schema_core.environment.result import OK, TableResult
from schema_core.environment.session import Session, placed
from schema_core.errors import SchemaError
from schema_core.query.relation import result_columns
from schema_core.sql.printer import print_query
from schema_core.sql.statement_syntax import CreateMaterializedTable
from schema_core.sql.syntax import Interval


def create_materialized_table(
    session: Session, statement: CreateMaterializedTable, text: str
) -> TableResult:
    """Keep a query whose result is to be kept.

    OR ALTER makes a table that is not there yet; one that is there cannot be altered here.

    Raises:
        AlreadyExistsError: with code `materialized-table-exists`.
    """
    identifier = session.identifier(statement.path)
    table = materialized_table(session, statement, text)
    with placed(statement.path.span):
        session.tables.create(identifier, table, ignore_if_exists=False)
    return OK


def materialized_table(
    session: Session, statement: CreateMaterializedTable, text: str
) -> CatalogMaterializedTable:
    """The table that the statement describes, derived from its query as CREATE TABLE AS does."""
    query = statement.query
    columns = result_columns(session.query(query, text))
    schema = derived_schema(statement.elements, columns, text)
    require(statement.partition_keys, [one.name for one in schema.columns], "partition key")
    return CatalogMaterializedTable(
        schema,
        print_query(query),
        print_query(session.expanded(query, text)),
        options=options_of(statement.options),
        comment=statement.comment,
        logical_refresh_mode=LogicalRefreshMode[statement.refresh_mode or "AUTOMATIC"],
        refresh_status=RefreshStatus.INITIALIZING,
        freshness=freshness_of(statement.freshness) if statement.freshness else None,
        partition_keys=keys_of(statement.partition_keys),
        distribution=distribution_of(statement.distribution),
    )


def freshness_of(interval: Interval) -> Freshness:
    """The freshness that an interval says.

    Raises:
        SchemaError: with code `invalid-freshness` for one of several units, or of months and years.
    """
    if interval.to is not None or interval.unit not in FreshnessUnit.__members__:
        raise SchemaError(
            "a freshness is a number of seconds, minutes, hours, days or weeks",
            code="invalid-freshness",
            span=interval.span,
        )
    with placed(interval.span):
        sign = "-" if interval.negative else ""
        return Freshness.of(f"{sign}{interval.text}", FreshnessUnit[interval.unit])
