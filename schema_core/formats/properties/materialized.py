"""Materialized tables as Flink's property map: what `property_map` does for tables.

Their own keys are written behind the options and so win over them. The start mode is not kept.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping

from schema_core.catalog.materialized import (
    CatalogMaterializedTable,
    Freshness,
    FreshnessUnit,
    LogicalRefreshMode,
    RefreshMode,
    RefreshStatus,
    ResolvedCatalogMaterializedTable,
)
from schema_core.errors import UnsupportedError
from schema_core.formats.properties import schema as property_schema
from schema_core.formats.properties import sidecar as carry
from schema_core.formats.properties.keys import Properties, Reader, damaged, together
from schema_core.formats.properties.tables import (
    OnLoss,
    decode_distribution,
    decode_partition_keys,
    encode_comment,
    encode_distribution,
    encode_partition_keys,
    encode_snapshot,
    losses_of_comment,
    losses_of_options,
    refuse,
    told_of,
)
from schema_core.text import is_blank


def encode_materialized_table(
    table: ResolvedCatalogMaterializedTable, on_loss: OnLoss = "refuse"
) -> Properties:
    """The map of a materialized table, as Flink 2.3 writes it.

    Raises:
        UnsupportedError: as `property_map.encode_table`.
    """
    refuse(losses_of_materialized_table(table), on_loss)
    told = told_of(table.resolved_schema, table.options, table.comment, on_loss, removed=())
    if on_loss == "carry":
        told.own.update(carry.carried_handler(table.refresh_handler))
    return together(
        property_schema.encode_schema(told.schema),
        encode_comment(table.comment),
        encode_snapshot(table.snapshot),
        encode_partition_keys(table.partition_keys),
        encode_distribution(table.distribution),
        told.options,
        encode_refresh(table),
        told.own,
    )


def decode_materialized_table(properties: Mapping[str, str]) -> CatalogMaterializedTable:
    """The materialized table of a map.

    Raises:
        SchemaError: with code `missing-key` or `invalid-key-value` for a map that is not complete.
    """
    return read_materialized_table(carry.opened(properties))


def read_materialized_table(reader: Reader) -> CatalogMaterializedTable:
    """The materialized table of a map whose keys are counted."""
    handler = decode_handler(reader.get("refresh-handler-bytes"))
    unit = reader.member("freshness-unit", FreshnessUnit)
    return CatalogMaterializedTable(
        property_schema.decode_schema(reader),
        reader.require("original-query"),
        reader.require("expanded-query"),
        freshness=Freshness.of(reader.require("freshness-interval"), unit),
        logical_refresh_mode=reader.member("logical-refresh-mode", LogicalRefreshMode),
        refresh_mode=reader.member("refresh-mode", RefreshMode),
        refresh_status=reader.member("refresh-status", RefreshStatus),
        refresh_handler_description=reader.get("refresh-handler-desc"),
        refresh_handler=carry.restored_handler(reader, handler),
        comment=carry.restored_comment(reader),
        snapshot=reader.integer("snapshot", 64),
        partition_keys=decode_partition_keys(reader),
        options=carry.restored_options(reader),
        distribution=decode_distribution(reader),
    )


def encode_refresh(table: ResolvedCatalogMaterializedTable) -> Properties:
    """The keys that materialized tables alone have; a resolved one knows freshness and mode."""
    refresh = {
        "original-query": table.original_query,
        "expanded-query": table.expanded_query,
        "freshness-interval": str(table.freshness.interval) if table.freshness else None,
        "freshness-unit": table.freshness.unit.name if table.freshness else None,
        "logical-refresh-mode": table.logical_refresh_mode.value,
        "refresh-mode": table.refresh_mode.value if table.refresh_mode else None,
        "refresh-status": table.refresh_status.value,
        "refresh-handler-desc": table.refresh_handler_description,
        "refresh-handler-bytes": encode_handler(table.refresh_handler),
    }
    return {key: value for key, value in refresh.items() if value is not None}


def encode_handler(handler: bytes | None) -> str | None:
    """What the refresh needs to find its job, as base64; empty bytes are none."""
    return base64.b64encode(handler).decode() if handler else None


def decode_handler(text: str | None) -> bytes | None:
    """The bytes of base64 text, with or without padding; blank text is none.

    Raises:
        SchemaError: with code `invalid-key-value` for text that is no base64.
    """
    if text is None or is_blank(text):
        return None
    padding = "" if "=" in text else "=" * (-len(text) % 4)
    try:
        return base64.b64decode(text + padding, validate=True)
    except (binascii.Error, ValueError):
        key = "refresh-handler-bytes"
        raise damaged(key, f"the key {key!r} is no base64") from None


def losses_of_materialized_table(
    table: ResolvedCatalogMaterializedTable,
) -> Iterator[UnsupportedError]:
    """What `decode_materialized_table` would not give back."""
    yield from property_schema.losses(table.resolved_schema)
    yield from losses_of_comment(table.comment)
    yield from losses_of_options(table.options, ())
    if table.refresh_handler == b"":
        yield UnsupportedError(
            "an empty refresh handler is lost in a property map", code="lossy-handler"
        )
