"""The error of a Python UDF that fails the job, where Flink's function fails."""

from __future__ import annotations


class UdfError(Exception):
    """The function fails for its arguments, as in Flink; the message is the reason."""
