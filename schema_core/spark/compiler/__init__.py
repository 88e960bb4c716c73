"""Compile typed queries (`query.query_text`) and expressions to Spark SQL, with Flink's results.

What Spark cannot compute as Flink does raises `UnsupportedError` with the code `not-executable`.
"""
