"""Encode tables, views and models as Flink's property maps, and decode them."""
