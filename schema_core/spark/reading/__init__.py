"""Reading on Spark: sources, a session's own rows, push-down and caches."""
