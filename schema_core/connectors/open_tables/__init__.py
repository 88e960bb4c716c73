"""What the connectors and catalogs of Apache Iceberg and Delta Lake have in common."""
