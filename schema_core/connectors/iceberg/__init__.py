"""The connector `iceberg`."""
