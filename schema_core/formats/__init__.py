"""Schemas in foreign formats: property maps, Arrow, Spark and the DDL of other engines."""
