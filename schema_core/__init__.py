"""Flink's schemas, types and expressions in Python, resolved exactly and run on Spark.

The environment, schemas, descriptors, types and errors. `schema_core.pyflink` contains the modules
of PyFlink by their own names; `schema_core.types`, `schema_core.expressions`,
`schema_core.catalog`, `schema_core.connectors`, `schema_core.properties`,
`schema_core.mappings.arrow` and others contain the names of their area. Each name is loaded at
first use.
"""

from schema_core.base.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
