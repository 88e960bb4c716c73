"""The interface of connectors: what the author of one needs, without importing PySpark."""

from __future__ import annotations

from schema_core.environment.connector import (
    Ability,
    Connector,
    Context,
    DynamicTableFactory,
    Visibility,
    opened,
    require_abilities,
    using,
)
from schema_core.environment.discovery import (
    discover,
)
from schema_core.environment.options import (
    ConfigOption,
    boolean,
    choice,
    double,
    duration,
    integer,
    long,
    memory_size,
    nanoseconds,
    string_list,
    string_map,
)
from schema_core.spark.connectors import (
    ConnectorBase,
    ReadContext,
    SparkConnector,
    SupportsCleanUp,
    SupportsFilterPushDown,
    SupportsLimitPushDown,
    SupportsOverwrite,
    SupportsPartitioning,
    SupportsProjectionPushDown,
    SupportsRecovery,
    SupportsReplacement,
    SupportsStaging,
    SupportsStatisticReport,
    SupportsUpsert,
    WriteContext,
    metadata_column,
)
from schema_core.spark.connectors.filters import (
    Comparison,
    Filter,
    FilterResult,
)
from schema_core.spark.transactions import (
    Stage,
)

__all__ = [
    "Ability",
    "Comparison",
    "ConfigOption",
    "Connector",
    "ConnectorBase",
    "Context",
    "DynamicTableFactory",
    "Filter",
    "FilterResult",
    "ReadContext",
    "SparkConnector",
    "Stage",
    "SupportsCleanUp",
    "SupportsFilterPushDown",
    "SupportsLimitPushDown",
    "SupportsOverwrite",
    "SupportsPartitioning",
    "SupportsProjectionPushDown",
    "SupportsRecovery",
    "SupportsReplacement",
    "SupportsStaging",
    "SupportsStatisticReport",
    "SupportsUpsert",
    "Visibility",
    "WriteContext",
    "boolean",
    "choice",
    "discover",
    "double",
    "duration",
    "integer",
    "long",
    "memory_size",
    "metadata_column",
    "nanoseconds",
    "opened",
    "require_abilities",
    "string_list",
    "string_map",
    "using",
]
