"""Resolve and compile one query with the package on the path; print its type and its Spark SQL."""

from __future__ import annotations

import sys

from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.query.relation import result_columns
from schema_core.spark.compiler.query import query_text


def main(query: str) -> None:
    """Print the type of the first column of a query, then the query in Spark SQL."""
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    relation = environment.sql_query(query).relation
    print(result_columns(relation)[0].type)
    print(query_text(relation, str))


if __name__ == "__main__":
    main(sys.argv[1])
