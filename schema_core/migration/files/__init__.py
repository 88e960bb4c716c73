"""Directories of migration files: read, generated, applied, and recorded in the catalog."""
