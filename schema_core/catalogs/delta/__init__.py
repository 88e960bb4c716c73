"""Catalogs of Delta Lake, with the connector `delta`."""
