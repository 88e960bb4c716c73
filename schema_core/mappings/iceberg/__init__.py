"""Flink's types, schemas and partitions as those of Apache Iceberg, through pyiceberg."""
