"""Python UDFs for functions that Spark SQL cannot express, with Flink's results.

Datetimes are passed as integers, so every year of Flink is representable.
"""

from __future__ import annotations


class UdfError(Exception):
    """Invalid arguments of a UDF, which fail the job as in Flink."""
