"""Timestamps and watermarks of streams (`pyflink.common.watermark_strategy`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

from schema_core.base.arguments import require_instance
from schema_core.base.lazy import dataclass
from schema_core.errors import UnsupportedError
from schema_core.pyflink.absent import refuse_absent
from schema_core.pyflink.common.time import Duration

__all__ = ["TimestampAssigner", "WatermarkStrategy"]


class TimestampAssigner(ABC):
    """Returns the timestamp of each value of a stream."""

    @abstractmethod
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        """Return the timestamp of a value, in milliseconds since 1970 UTC.

        Args:
            value: The value.
            record_timestamp: Its timestamp so far; -2**63 without one.
        """


@dataclass(frozen=True, slots=True)
class WatermarkStrategy:
    """How a stream gets its timestamps and its watermark.

    `lateness` is None for a stream without watermarks.
    """

    lateness: Duration | None = None
    assigner: TimestampAssigner | None = None

    @staticmethod
    def for_monotonous_timestamps() -> WatermarkStrategy:
        """Return the strategy of timestamps that never decrease."""
        return WatermarkStrategy(Duration(0))

    @staticmethod
    def for_bounded_out_of_orderness(max_out_of_orderness: Duration) -> WatermarkStrategy:
        """Return the strategy of timestamps that are late by a length of time at most."""
        return WatermarkStrategy(
            require_instance(max_out_of_orderness, Duration, "max_out_of_orderness")
        )

    @staticmethod
    def no_watermarks() -> WatermarkStrategy:
        """Return the strategy of a stream without watermarks."""
        return WatermarkStrategy()

    def with_timestamp_assigner(self, timestamp_assigner: TimestampAssigner) -> WatermarkStrategy:
        """Return the strategy with an object that returns the timestamps."""
        require_instance(timestamp_assigner, TimestampAssigner, "timestamp_assigner")
        return replace(self, assigner=timestamp_assigner)

    def with_idleness(self, idle_timeout: Duration) -> WatermarkStrategy:
        """Return the strategy itself: the collections that streams have never wait."""
        require_instance(idle_timeout, Duration, "idle_timeout")
        return self

    def with_watermark_alignment(
        self,
        watermark_group: str,
        max_allowed_watermark_drift: Duration,
        update_interval: Duration | None = None,
    ) -> WatermarkStrategy:
        """Refuse the alignment of sources (`needs-flink`)."""
        raise UnsupportedError(
            "sources cannot be aligned by their watermarks on Spark",
            code="needs-flink",
            hint="a query of several tables has the smallest of their watermarks",
        )


refuse_absent(__name__)
