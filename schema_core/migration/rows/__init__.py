"""Rows of tables that a migration changes: validated, rewritten and compared."""
