"""Translation rules, which compute Flink's results on Spark: a module for each family.

`rules` has all, and is imported when the first function is compiled; connectors need none.
"""
