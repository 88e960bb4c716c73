"""What a scan requests of its connector: columns, metadata, filters and a limit.

Only what a connector declares that it can push down is offered to it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from schema_core.environment.connector import Ability
from schema_core.errors import ExternalError
from schema_core.expressions.typed import Ref, walk
from schema_core.schema.columns import ComputedColumn, MetadataColumn
from schema_core.spark.connector import ReadContext, SparkConnector, SupportsFilterPushDown
from schema_core.spark.filters import Filter, FilterResult
from schema_core.spark.reading.pushdown import ScanDemand


def read_context(
    connector: SparkConnector, context: ReadContext, demand: ScanDemand
) -> ReadContext:
    """Return the context of a scan with the columns, filters and limit that the connector can use.

    Metadata that the query does not read is not requested from any connector. A limit is only
    passed on if the connector applies all filters exactly, as the query would.

    Raises:
        ExternalError: with code `invalid-connector-result`.
    """
    used = columns_used(context, demand.columns)
    schema = context.table.resolved_schema
    keys = {
        column.key
        for column in schema.columns
        if isinstance(column, MetadataColumn)
        if column.name in used
    }
    metadata = {key: type_ for key, type_ in context.metadata.items() if key in keys}
    context = replace(context, metadata=metadata)
    if Ability.PROJECTION_PUSH_DOWN in connector.abilities:
        names = tuple(name for name in context.physical_columns if name in used)
        if not names and not metadata:  # rows of no columns cannot be represented everywhere
            names = tuple(context.physical_columns)[:1]
        context = replace(context, projection=names)
    filters = tuple(Filter(filter_, context.zone) for filter_ in demand.filters)
    remaining = filters
    accepts = Ability.FILTER_PUSH_DOWN in connector.abilities
    if filters and accepts and isinstance(connector, SupportsFilterPushDown):
        result = _checked_result(connector.apply_filters(filters, context), filters, connector)
        context, remaining = replace(context, filters=result.accepted), result.remaining
    is_exact = not remaining and all(filter_.is_exact for filter_ in filters)
    if Ability.LIMIT_PUSH_DOWN in connector.abilities and is_exact:
        context = replace(context, limit=demand.limit)
    return context


def columns_used(context: ReadContext, names: Collection[str]) -> frozenset[str]:
    """Return these columns and those that the computed ones among them read."""
    computed = {
        column.name: column.expression.typed
        for column in context.table.resolved_schema.columns
        if isinstance(column, ComputedColumn)
    }
    used: set[str] = set()
    rest = list(names)
    while rest:
        name = rest.pop()
        if name in used:
            continue
        used.add(name)
        if name in computed:
            rest += (node.name for node in walk(computed[name]) if isinstance(node, Ref))
    return frozenset(used)


def _checked_result(
    given: object, filters: Sequence[Filter], connector: SparkConnector
) -> FilterResult:
    """Return what `apply_filters` returned, if each filter is accepted or remains.

    Raises:
        ExternalError: with code `invalid-connector-result`.
    """
    if isinstance(given, FilterResult):
        named = [*given.accepted, *given.remaining]
        if all(filter_ in named for filter_ in filters) and all(one in filters for one in named):
            return given
    raise ExternalError(
        f"connector {connector.identifier!r} returned a wrong result from apply_filters",
        code="invalid-connector-result",
        hint="return FilterResult.split(filters, ...), in which each filter is accepted or remains",
    )
