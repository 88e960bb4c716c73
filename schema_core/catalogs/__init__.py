"""Catalogs that store their objects in a SQL database, a Hive metastore or documents by key."""

from schema_core.base.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
