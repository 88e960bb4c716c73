"""Windows of the Table API (`pyflink.table.window`)."""

from __future__ import annotations

from schema_core.environment.table_api.windows import (
    GroupWindow,
    Over,
    OverWindow,
    OverWindowPartitioned,
    OverWindowPartitionedOrdered,
    OverWindowPartitionedOrderedPreceding,
    Session,
    SessionWithGap,
    SessionWithGapOnTime,
    Slide,
    SlideWithSize,
    SlideWithSizeAndSlide,
    SlideWithSizeAndSlideOnTime,
    Tumble,
    TumbleWithSize,
    TumbleWithSizeOnTime,
)

__all__ = [
    "GroupWindow",
    "Over",
    "OverWindow",
    "OverWindowPartitioned",
    "OverWindowPartitionedOrdered",
    "OverWindowPartitionedOrderedPreceding",
    "Session",
    "SessionWithGap",
    "SessionWithGapOnTime",
    "Slide",
    "SlideWithSize",
    "SlideWithSizeAndSlide",
    "SlideWithSizeAndSlideOnTime",
    "Tumble",
    "TumbleWithSize",
    "TumbleWithSizeOnTime",
]
