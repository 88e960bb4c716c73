"""The options of catalogs and tables of Iceberg, by the names of Iceberg's connector for Flink."""

from __future__ import annotations

from typing import Any, Final

from schema_core.environment.options import ConfigOption, choice, long

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
SNAPSHOT_ID = ConfigOption("snapshot-id", long, None, "read this snapshot")
AS_OF_TIMESTAMP = ConfigOption(
    "as-of-timestamp", long, None, "read the table as of this time, in milliseconds since 1970"
)
BRANCH = ConfigOption("branch", str, None, "read or write this branch")
TAG = ConfigOption("tag", str, None, "read this tag")
#: The options that choose a version of a table.
VERSION: tuple[ConfigOption[Any], ...] = (SNAPSHOT_ID, AS_OF_TIMESTAMP, BRANCH, TAG)

#: The version of the format of a new table, as pyiceberg's.
DEFAULT_VERSION: Final = "2"
FORMAT_VERSION = ConfigOption("format-version", str, None, "the version of the format: 1 or 2")
PARTITION_BY = ConfigOption(
    "partition-by", str, None, "partitions by transforms, such as `days(at), bucket(16, id)`"
)
#: The options of a new table that jobs read.
LAYOUT: tuple[ConfigOption[Any], ...] = (FORMAT_VERSION, PARTITION_BY)
