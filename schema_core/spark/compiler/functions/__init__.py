"""Translation rules, which compute Flink's results on Spark: a module for each family.

`schema_core.spark.compiler.functions.rules` has all of them. It is imported when the first function
is compiled; connectors only compile casts and constants.
"""
