"""Jobs on a cluster whose executors do not have the library; prints ``done`` at the end.

    python cluster_program.py MASTER DIRECTORY [KEY=VALUE ...]

`test_clusters` runs it, in a process of its own. DIRECTORY gets the tables and the event log; with
``submitted`` as MASTER the settings are those of ``spark-submit``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from pyspark.sql import SparkSession

from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import SchemaCoreError
from schema_core.expressions.user_functions import (
    AggregateFunction,
    FunctionContext,
    ScalarFunction,
    udaf,
    udf,
    udtf,
)
from tests.spark.test_semantics import CASES, sql_of

CANARY = "canary-6f1d2c"
SUBMITTED = "submitted"


class Doubled(ScalarFunction):
    def open(self, function_context: FunctionContext) -> None:
        self.factor = 2

    def eval(self, value: int) -> int:
        return value * self.factor


class Longest(AggregateFunction[str, list[str]]):
    def create_accumulator(self) -> list[str]:
        return [""]

    def accumulate(self, accumulator: list[str], value: str) -> None:
        accumulator[0] = max(accumulator[0], value, key=lambda item: (len(item), item))

    def get_value(self, accumulator: list[str]) -> str:
        return accumulator[0]


def letters(word: str) -> Iterator[str]:
    yield from word


STATEMENTS = """
CREATE TABLE orders (
  id INT NOT NULL, customer STRING NOT NULL, placed STRING NOT NULL,
  placed_on AS TO_DATE(placed, 'dd.MM.yyyy')
) WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '$f/orders');
CREATE TABLE items (id INT NOT NULL, price DECIMAL(10, 2) NOT NULL, discount DECIMAL(3, 2))
  WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '$f/items');
INSERT INTO orders
  VALUES (1, 'Ann', '03.05.2024'), (2, 'Bob', '04.05.2024'), (3, 'Ann', '04.05.2024');
INSERT INTO items VALUES (1, 10.00, 0.10), (1, 5.50, 0.00), (2, 20.00, 0.00), (3, 1.25, 0.20);
CREATE TABLE revenue WITH ('connector' = 'filesystem', 'format' = 'parquet', 'path' = '$f/revenue')
  AS SELECT customer, placed_on, SUM(price * (1 - COALESCE(discount, 0))) AS total, COUNT(*) AS n
  FROM orders JOIN items ON orders.id = items.id GROUP BY customer, placed_on
"""

#: Query -> its rows. The first two have the shape of TPC-H's queries 1 and 3.
QUERIES = {
    "SELECT customer, SUM(total), AVG(n), COUNT(*) FROM revenue GROUP BY customer ORDER BY 1":
        [("Ann", "15.5000", "1", "2"), ("Bob", "20.0000", "1", "1")],
    "SELECT items.id, SUM(price) AS s FROM items JOIN orders ON items.id = orders.id"
    " WHERE placed_on > DATE '2024-05-03' GROUP BY items.id ORDER BY s DESC LIMIT 5":
        [("2", "20.00"), ("3", "1.25")],
    "SELECT id, twice(id), series(id) FROM orders ORDER BY id":
        [("1", "2", "11"), ("2", "4", "12"), ("3", "6", "13")],
    "SELECT id, word FROM orders, LATERAL TABLE(letters(customer)) AS t (word) WHERE id = 2":
        [("2", "B"), ("2", "o"), ("2", "b")],
    "SELECT longest(placed || customer) FROM orders":
        [("04.05.2024Bob",)],
}  # fmt: skip

#: Statements on tables whose options have a secret; the database does not answer.
SECRETS = """
CREATE TABLE accounts (id INT) WITH ('connector' = 'jdbc', 'table-name' = 'accounts',
  'url' = 'jdbc:postgresql://127.0.0.1:1/x', 'username' = 'u', 'password' = '$secret');
CREATE TABLE source (id INT) WITH ('connector' = 'spark', 'format' = 'json',
  'path' = '$f/items', 'option.api-key' = '$secret', 'schema' = 'table');
CREATE TABLE sink (id INT) WITH ('connector' = 'spark', 'format' = 'json',
  'path' = '$f/sink', 'option.password' = '$secret', 'schema' = 'table');
INSERT INTO sink SELECT id FROM source
"""


def session(master: str, settings: list[str]) -> SparkSession:
    builder = SparkSession.builder
    if master != SUBMITTED:
        builder = builder.master(master).appName("cluster")
    for setting in settings:
        builder = builder.config(*setting.split("=", 1))
    return builder.getOrCreate()


def declare_functions(environment: TableEnvironment) -> None:
    for name, function in {
        "twice": udf(Doubled(), ["INT"], "INT"),
        "series": udf(lambda item: item + 10, ["INT"], "INT", func_type="pandas"),
        "letters": udtf(letters, ["STRING"], ["STRING"]),
        "longest": udaf(Longest(), ["STRING"], "STRING"),
    }.items():
        environment.create_temporary_function(name, function)


def rows(environment: TableEnvironment, query: str) -> list[tuple[Any, ...]]:
    result = environment.execute_sql(query).collect()
    return [tuple(None if cell is None else str(cell) for cell in row) for row in result]


def require_no_library(spark: SparkSession) -> None:
    """Workers must not have the library before it is sent to them."""
    places = spark.sparkContext.parallelize(range(4), 4)
    result = places.map(lambda _: find_spec("schema_core") is None).collect()
    assert all(result), "the executors have the library installed"


def require_results_of_flink(environment: TableEnvironment) -> None:
    """Every function that is computed in Python returns the results of Flink."""
    planner: Any = environment._session.planner
    jobs = planner._session.get()
    columns = [f"coalesce({sql_of(item)}, 'NULL')" for item, _ in CASES]
    (row, *_) = jobs.range(0, 4, 1, 4).selectExpr(*columns).distinct().collect()
    wrong = [(*case, item) for case, item in zip(CASES, row, strict=True) if case[1] != item]
    assert not wrong, wrong


def execute(environment: TableEnvironment, statements: str, folder: str) -> None:
    text = statements.replace("$f", folder).replace("$secret", CANARY)
    for statement in text.split(";"):
        environment.execute_sql(statement)


def use_secrets(environment: TableEnvironment, folder: str) -> None:
    execute(environment, SECRETS, folder)
    assert rows(environment, "SELECT COUNT(*) FROM sink") == [("4",)]
    for statement in ("SELECT * FROM accounts", "INSERT INTO accounts VALUES (1)"):
        problem = failure(environment, statement)
        assert CANARY not in problem, problem


def failure(environment: TableEnvironment, statement: str) -> str:
    """Return the error of a statement, which must fail."""
    try:
        environment.execute_sql(statement).wait()
    except SchemaCoreError as error:
        return str(error)
    raise AssertionError("expected an error")


def main(master: str, folder: str, settings: list[str]) -> None:
    spark = session(master, settings)
    spark.sparkContext.setLogLevel("OFF")
    require_no_library(spark)
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode(), spark=spark)
    environment.get_config().set("table.dml-sync", "true")
    execute(environment, STATEMENTS, folder)
    declare_functions(environment)
    for query, expected in QUERIES.items():
        result = rows(environment, query)
        assert expected == result, (query, result)
    require_results_of_flink(environment)
    use_secrets(environment, folder)
    print(len(spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos()) - 1, "executors")
    spark.stop()
    print("done")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
