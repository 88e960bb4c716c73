from schema_core.base.paths import (
    ObjectIdentifier as ObjectIdentifier,
)
from schema_core.base.paths import (
    ObjectPath as ObjectPath,
)
from schema_core.catalog.api import (
    Capability as Capability,
)
from schema_core.catalog.api import (
    Catalog as Catalog,
)
from schema_core.catalog.api import FunctionDefinitionFactory as FunctionDefinitionFactory
from schema_core.catalog.changes.table_changes import (
    TableChange as TableChange,
)
from schema_core.catalog.changes.table_changes import require_consistent as require_consistent
from schema_core.catalog.functions import (
    FunctionClass as FunctionClass,
)
from schema_core.catalog.managers import (
    CatalogManager as CatalogManager,
)
from schema_core.catalog.managers import (
    FoundTable as FoundTable,
)
from schema_core.catalog.migration_history import CatalogMigration as CatalogMigration
from schema_core.catalog.migration_history import RecordedObject as RecordedObject
from schema_core.catalog.migration_history import WrittenRows as WrittenRows
from schema_core.catalog.objects import (
    CatalogBaseTable as CatalogBaseTable,
)
from schema_core.catalog.objects import (
    CatalogDatabase as CatalogDatabase,
)
from schema_core.catalog.objects import (
    CatalogFunction as CatalogFunction,
)
from schema_core.catalog.objects import (
    CatalogMaterializedTable as CatalogMaterializedTable,
)
from schema_core.catalog.objects import (
    CatalogModel as CatalogModel,
)
from schema_core.catalog.objects import (
    CatalogPartition as CatalogPartition,
)
from schema_core.catalog.objects import (
    CatalogPartitionSpec as CatalogPartitionSpec,
)
from schema_core.catalog.objects import (
    CatalogTable as CatalogTable,
)
from schema_core.catalog.objects import (
    CatalogType as CatalogType,
)
from schema_core.catalog.objects import (
    CatalogView as CatalogView,
)
from schema_core.catalog.objects import (
    DistributionKind as DistributionKind,
)
from schema_core.catalog.objects import (
    Freshness as Freshness,
)
from schema_core.catalog.objects import (
    FreshnessUnit as FreshnessUnit,
)
from schema_core.catalog.objects import (
    FunctionLanguage as FunctionLanguage,
)
from schema_core.catalog.objects import (
    LogicalRefreshMode as LogicalRefreshMode,
)
from schema_core.catalog.objects import (
    RefreshMode as RefreshMode,
)
from schema_core.catalog.objects import (
    RefreshStatus as RefreshStatus,
)
from schema_core.catalog.objects import (
    ResolvedCatalogMaterializedTable as ResolvedCatalogMaterializedTable,
)
from schema_core.catalog.objects import (
    ResolvedCatalogModel as ResolvedCatalogModel,
)
from schema_core.catalog.objects import (
    ResolvedCatalogTable as ResolvedCatalogTable,
)
from schema_core.catalog.objects import (
    ResolvedCatalogView as ResolvedCatalogView,
)
from schema_core.catalog.objects import (
    ResourceUri as ResourceUri,
)
from schema_core.catalog.objects import (
    StartMode as StartMode,
)
from schema_core.catalog.objects import (
    TableKind as TableKind,
)
from schema_core.catalog.procedures import (
    Procedure as Procedure,
)
from schema_core.catalog.registry import (
    CatalogFactory as CatalogFactory,
)
from schema_core.catalog.resolve import (
    origin as origin,
)
from schema_core.catalog.resolve import (
    require_resolved_model as require_resolved_model,
)
from schema_core.catalog.resolve import (
    require_resolved_table as require_resolved_table,
)
from schema_core.catalog.resolve import (
    resolve_materialized_table as resolve_materialized_table,
)
from schema_core.catalog.resolve import (
    resolve_model as resolve_model,
)
from schema_core.catalog.resolve import (
    resolve_table as resolve_table,
)
from schema_core.catalog.resolve import (
    resolve_view as resolve_view,
)
from schema_core.catalog.statistics import (
    CatalogColumnStatistics as CatalogColumnStatistics,
)
from schema_core.catalog.statistics import (
    CatalogColumnStatisticsDataBinary as CatalogColumnStatisticsDataBinary,
)
from schema_core.catalog.statistics import (
    CatalogColumnStatisticsDataBoolean as CatalogColumnStatisticsDataBoolean,
)
from schema_core.catalog.statistics import (
    CatalogColumnStatisticsDataDate as CatalogColumnStatisticsDataDate,
)
from schema_core.catalog.statistics import (
    CatalogColumnStatisticsDataDouble as CatalogColumnStatisticsDataDouble,
)
from schema_core.catalog.statistics import (
    CatalogColumnStatisticsDataLong as CatalogColumnStatisticsDataLong,
)
from schema_core.catalog.statistics import (
    CatalogColumnStatisticsDataString as CatalogColumnStatisticsDataString,
)
from schema_core.catalog.statistics import (
    CatalogTableStatistics as CatalogTableStatistics,
)
from schema_core.catalog.statistics import (
    ColumnStatisticsData as ColumnStatisticsData,
)
from schema_core.catalog.statistics import StoredStatistics as StoredStatistics
from schema_core.catalog.stores.catalog_store import (
    CatalogDescriptor as CatalogDescriptor,
)
from schema_core.catalog.stores.catalog_store import (
    CatalogStore as CatalogStore,
)
from schema_core.catalog.stores.catalog_store import (
    FileCatalogStore as FileCatalogStore,
)
from schema_core.catalog.stores.catalog_store import (
    InMemoryCatalogStore as InMemoryCatalogStore,
)
from schema_core.catalog.stores.memory import (
    InMemoryCatalog as InMemoryCatalog,
)
from schema_core.catalog.stores.object_store import ObjectKey as ObjectKey
from schema_core.catalog.stores.object_store import ObjectStore as ObjectStore
from schema_core.catalog.stores.object_store import ObjectTransaction as ObjectTransaction
from schema_core.catalog.stores.object_store import StoredKind as StoredKind
from schema_core.catalog.stores.object_store import StoredObject as StoredObject
from schema_core.catalog.stores.optimistic_locking import (
    require_expected as require_expected,
)
from schema_core.catalog.stores.stored_catalog import StoredCatalog as StoredCatalog
from schema_core.schema.columns import (
    Column as Column,
)
from schema_core.schema.columns import (
    ComputedColumn as ComputedColumn,
)
from schema_core.schema.columns import (
    Constraint as Constraint,
)
from schema_core.schema.columns import (
    MetadataColumn as MetadataColumn,
)
from schema_core.schema.columns import (
    PhysicalColumn as PhysicalColumn,
)
from schema_core.schema.columns import (
    UniqueConstraint as UniqueConstraint,
)
from schema_core.schema.columns import (
    WatermarkSpec as WatermarkSpec,
)
from schema_core.schema.resolved import (
    ResolvedSchema as ResolvedSchema,
)
