"""Streaming jobs on Spark: `streaming.StreamPlanner` plans queries of unbounded tables."""
