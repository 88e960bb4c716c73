"""Compile typed expressions and queries to Spark SQL with Flink's semantics."""
