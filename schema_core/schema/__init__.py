"""Schemas: unresolved as declared, resolved with all types, and the resolution between them."""
