"""Flink's schemas, types and expressions in Python, resolved exactly and run on Spark."""
