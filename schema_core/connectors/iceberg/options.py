"""The options of catalogs and tables of Iceberg, by the names of Iceberg's connector for Flink."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any, Final

from schema_core.environment.connector import IMPLICIT_OPTIONS
from schema_core.environment.options import ConfigOption, boolean, choice, duration, non_negative
from schema_core.errors import SchemaError, UnsupportedError, similar

#: The value of the option ``connector``, and of the option ``type`` of catalogs.
ICEBERG: Final = "iceberg"

CATALOG_TYPE = ConfigOption(
    "catalog-type",
    choice("sql", "rest", "hive", "glue"),
    "sql",
    "`sql`: a SQL database, by default a file of SQLite in the warehouse; `rest`, `hive`, `glue`",
)
CATALOG_NAME = ConfigOption(
    "catalog-name",
    str,
    None,
    "the name of the catalog in its database; by default that of the catalog, or `iceberg`",
)
URI = ConfigOption(
    "uri", str, None, "the URL of the catalog: of SQLAlchemy for `sql`, http for `rest`, or thrift"
)
WAREHOUSE = ConfigOption("warehouse", str, None, "the directory or URL of the tables")
CREDENTIAL = ConfigOption(
    "credential", str, None, "the id and secret of a client of a REST catalog", secret=True
)
TOKEN = ConfigOption("token", str, None, "the token of a REST catalog", secret=True)
PROPERTY = ConfigOption(
    "property", str, None, "`property.key` is the property `key` of pyiceberg", is_map=True
)
DEFAULT_DATABASE = ConfigOption(
    "default-database", str, "default", "the database that is current at first"
)
#: The options that catalogs and tables share.
CONNECTION: tuple[ConfigOption[Any], ...] = (
    CATALOG_TYPE, CATALOG_NAME, URI, WAREHOUSE, CREDENTIAL, TOKEN, PROPERTY,
)  # fmt: skip

CATALOG_DATABASE = ConfigOption(
    "catalog-database", str, "default", "the database of the table in its catalog"
)
CATALOG_TABLE = ConfigOption(
    "catalog-table", str, None, "the name of the table in its catalog", required=True
)
SNAPSHOT_ID = ConfigOption("snapshot-id", non_negative, None, "read this snapshot")
AS_OF_TIMESTAMP = ConfigOption(
    "as-of-timestamp",
    non_negative,
    None,
    "read the table as of this time, in milliseconds since 1970",
)
BRANCH = ConfigOption("branch", str, None, "read or write this branch")
TAG = ConfigOption("tag", str, None, "read this tag")
#: The options that choose a version of a table.
VERSION: tuple[ConfigOption[Any], ...] = (SNAPSHOT_ID, AS_OF_TIMESTAMP, BRANCH, TAG)

STREAMING = ConfigOption(
    "streaming", boolean, False, "read the rows that are appended later, too: an unbounded table"
)
MONITOR_INTERVAL = ConfigOption(
    "monitor-interval", duration, dt.timedelta(seconds=60), "how often a stream looks for snapshots"
)
START_SNAPSHOT = ConfigOption(
    "start-snapshot-id",
    non_negative,
    None,
    "the snapshot after which a stream starts; all rows without it",
)
SKIP_OVERWRITES = ConfigOption(
    "streaming-skip-overwrite-snapshots", boolean, False, "a stream skips replaced rows"
)
SKIP_DELETES = ConfigOption(
    "streaming-skip-delete-snapshots", boolean, False, "a stream skips deletions of rows"
)
#: The options of streams, by the names of Iceberg's connectors for Flink and Spark.
STREAM: tuple[ConfigOption[Any], ...] = (
    STREAMING, MONITOR_INTERVAL, START_SNAPSHOT, SKIP_OVERWRITES, SKIP_DELETES,
)  # fmt: skip

#: The version of the format of a new table, as pyiceberg's.
DEFAULT_VERSION: Final = "2"
FORMAT_VERSION = ConfigOption(
    "format-version", str, None, "the version of the format: 1 or 2", defines_table=True
)
PARTITION_BY = ConfigOption(
    "partition-by",
    str,
    None,
    "partitions by transforms, such as `days(at), bucket(16, id)`",
    defines_table=True,
)
#: The options of a new table that jobs read.
LAYOUT: tuple[ConfigOption[Any], ...] = (FORMAT_VERSION, PARTITION_BY)
#: Options of a catalog's table with the directory and the sort order of a new table.
LOCATION, SORT_BY = "location", "sort-by"
#: Options of a catalog's table with a meaning of their own in its metadata.
METADATA_OPTIONS: Final = (FORMAT_VERSION.key, LOCATION, PARTITION_BY.key, SORT_BY)

#: The prefixes of the properties of tables that Iceberg defines.
PREFIXES: Final = ("commit", "history", "read", "write")
#: Property -> the values that agree with what this library writes; it ignores no others.
FIXED: Final[Mapping[str, tuple[str, ...]]] = {
    "write.format.default": ("parquet",),
    "write.metadata.compression-codec": ("none",),
    "write.upsert.enabled": ("true",),
    "write.wap.enabled": ("false",),
}
#: The properties of tables that statements set. Files, snapshots and metadata are written as they
#: have it, except for those of reading, distribution, isolation and sizes of files: other engines
#: have these.
TABLE_PROPERTIES: Final = frozenset({
    *FIXED, *METADATA_OPTIONS, "gc.enabled", "owner", "schema.name-mapping.default",
    "commit.manifest-merge.enabled", "commit.manifest.min-count-to-merge",
    "commit.manifest.target-size-bytes", "commit.retry.max-wait-ms", "commit.retry.min-wait-ms",
    "commit.retry.num-retries", "commit.retry.total-timeout-ms",
    "commit.status-check.max-wait-ms", "commit.status-check.min-wait-ms",
    "commit.status-check.num-retries", "commit.status-check.total-timeout-ms",
    "history.expire.max-ref-age-ms", "history.expire.max-snapshot-age-ms",
    "history.expire.min-snapshots-to-keep",
    "read.parquet.vectorization.batch-size", "read.parquet.vectorization.enabled",
    "read.split.adaptive-size.enabled", "read.split.metadata-target-size",
    "read.split.open-file-cost", "read.split.planning-lookback", "read.split.target-size",
    "write.data.path", "write.delete.distribution-mode", "write.delete.isolation-level",
    "write.delete.mode", "write.distribution-mode", "write.merge.distribution-mode",
    "write.merge.isolation-level", "write.merge.mode",
    "write.metadata.delete-after-commit.enabled", "write.metadata.metrics.default",
    "write.metadata.metrics.max-inferred-column-defaults", "write.metadata.path",
    "write.metadata.previous-versions-max", "write.object-storage.enabled",
    "write.object-storage.partitioned-paths", "write.parquet.compression-codec",
    "write.parquet.compression-level", "write.parquet.dict-size-bytes",
    "write.parquet.page-row-limit", "write.parquet.page-size-bytes",
    "write.spark.accept-any-schema", "write.spark.fanout.enabled",
    "write.summary.partition-limit", "write.target-file-size-bytes",
    "write.update.distribution-mode", "write.update.isolation-level", "write.update.mode",
})  # fmt: skip
#: Property of each column, without its name.
COLUMN_PROPERTY: Final = "write.metadata.metrics.column."
#: The prefixes of options of Flink's connectors, which the connector accepts or refuses.
CONNECTOR_PREFIXES: Final = ("lookup", "scan", "sink", "source")


def is_table_property(key: str) -> bool:
    """Return whether an option of a catalog's table is a property: Iceberg's, or with a dot.

    >>> [is_table_property(key) for key in ("gc.enabled", "team.owner", "nonsense", "scan.mode")]
    [True, True, False, False]
    """
    prefix, dot, _ = key.partition(".")
    return key in TABLE_PROPERTIES or (bool(dot) and prefix not in CONNECTOR_PREFIXES)


def require_table_properties(properties: Mapping[str, str]) -> None:
    """Refuse properties that a statement sets and that would have no effect.

    Raises:
        SchemaError: with code `unknown-option` for a name with a prefix of Iceberg that it does not
            define.
        UnsupportedError: with code `option-not-supported` for what is not written as a
            property has it.
    """
    for key, value in properties.items():
        if key in FIXED and value.strip().lower() not in FIXED[key]:
            raise UnsupportedError(
                f"the property {key!r} cannot be {value!r}: tables are not written so",
                code="option-not-supported",
                hint=f"omit it, or set it to {FIXED[key][0]!r}",
            )
        is_theirs = key.partition(".")[0] in PREFIXES and "." in key
        if is_theirs and key not in TABLE_PROPERTIES and not key.startswith(COLUMN_PROPERTY):
            near = [name for name in TABLE_PROPERTIES if name[:9] == key[:9]]
            raise SchemaError(
                f"unsupported property of a table of Iceberg: {key!r}",
                code="unknown-option",
                hint=similar(key, sorted(near)) or "a property of your own has another prefix",
            )


def connector_keys() -> frozenset[str]:
    """Return the options of a catalog's table that are those of the connector."""
    own = (*VERSION, *STREAM, *LAYOUT)
    return frozenset({*IMPLICIT_OPTIONS, *(option.key for option in own)})
