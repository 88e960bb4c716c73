"""Catalogs and their objects (`pyflink.table.catalog`); catalogs of stores are loaded late."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from schema_core.catalog import (
    Catalog,
    CatalogBaseTable,
    CatalogColumnStatistics,
    CatalogDatabase,
    CatalogDescriptor,
    CatalogFunction,
    CatalogModel,
    CatalogPartition,
    CatalogPartitionSpec,
    CatalogTableStatistics,
    Column,
    ComputedColumn,
    Constraint,
    MetadataColumn,
    ObjectIdentifier,
    ObjectPath,
    PhysicalColumn,
    Procedure,
    ResolvedSchema,
    UniqueConstraint,
    WatermarkSpec,
)
from schema_core.pyflink.absent import refuse_absent

if TYPE_CHECKING:
    from schema_core.pyflink.stored_catalogs import HiveCatalog, JdbcCatalog

__all__ = [
    "Catalog",
    "CatalogBaseTable",
    "CatalogColumnStatistics",
    "CatalogDatabase",
    "CatalogDescriptor",
    "CatalogFunction",
    "CatalogModel",
    "CatalogPartition",
    "CatalogPartitionSpec",
    "CatalogTableStatistics",
    "Column",
    "ComputedColumn",
    "Constraint",
    "HiveCatalog",
    "JdbcCatalog",
    "MetadataColumn",
    "ObjectIdentifier",
    "ObjectPath",
    "PhysicalColumn",
    "Procedure",
    "ResolvedSchema",
    "UniqueConstraint",
    "WatermarkSpec",
]


def _load(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("schema_core.pyflink.stored_catalogs"), name)


refuse_absent(__name__, _load)
