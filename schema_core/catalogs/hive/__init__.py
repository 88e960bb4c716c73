"""A catalog in a Hive metastore, compatible with Flink's HiveCatalog."""
