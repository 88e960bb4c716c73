"""How a computed function says that the job must end, as Flink's would."""

from __future__ import annotations


class UdfError(Exception):
    """The values have no result, and Flink fails on them; the message says why."""
