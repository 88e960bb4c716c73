"""Writing on Spark: sinks, checks of rows, and results for the user."""
