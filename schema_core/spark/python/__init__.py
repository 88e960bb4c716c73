"""Functions in Python on Spark."""
