"""Targets of plans: the SQL of Flink and of other engines, with checked conversions."""
