"""Writing on Spark: `sinks.Writer` prepares jobs, whose rows `row_checks` checks."""
