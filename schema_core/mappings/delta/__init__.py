"""Flink's types and schemas as those of Delta Lake, as the JSON of its transaction log."""
