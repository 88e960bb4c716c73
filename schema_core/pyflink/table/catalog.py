"""Catalogs and their objects (`pyflink.table.catalog`)."""

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
    "MetadataColumn",
    "ObjectIdentifier",
    "ObjectPath",
    "PhysicalColumn",
    "Procedure",
    "ResolvedSchema",
    "UniqueConstraint",
    "WatermarkSpec",
]

refuse_absent(__name__)
