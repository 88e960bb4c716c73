"""Streaming jobs on Spark: stages, watermarks, joins, changelogs and checkpoints."""
