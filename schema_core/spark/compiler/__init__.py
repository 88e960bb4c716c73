"""Compile typed queries (`query.query_text`) and expressions to Spark SQL, with Flink's results."""
