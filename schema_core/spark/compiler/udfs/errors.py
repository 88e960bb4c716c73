"""The error of a Python UDF, raised where Flink's function fails the job."""

from __future__ import annotations


class UdfError(Exception):
    """Invalid arguments of a UDF, which fail the job as in Flink; the message is the reason."""
