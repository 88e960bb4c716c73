"""Writing on Spark: `sinks.Writer` prepares jobs; `outputs` returns results to the user."""
