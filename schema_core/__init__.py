"""Flink's schemas, types and expressions in Python, resolved exactly and run on Spark.

The environment, schemas, descriptors, types and errors. Expressions, user-defined functions,
catalogs and formats have modules of their own, as in PyFlink: `schema_core.expressions`,
`schema_core.udf`, `schema_core.catalog`, `schema_core.types`, `schema_core.arrow`,
`schema_core.spark` and others. Each name is loaded at first use.
"""

from schema_core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
