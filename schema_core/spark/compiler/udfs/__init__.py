"""Python UDFs for functions that Spark SQL cannot express, with Flink's results.

Datetimes are passed as integers, so that every year of Flink's range is representable.
`schema_core.spark.compiler.udfs.registry` has all of them.
"""

from __future__ import annotations


class UdfError(Exception):
    """Invalid arguments of a UDF, which fail the job as in Flink; the message is the reason."""
