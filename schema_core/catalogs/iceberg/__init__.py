"""Catalogs of Apache Iceberg, with the connector `iceberg`."""
