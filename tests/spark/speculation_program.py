"""Tasks that run twice, or fail after they have written; prints ``done`` if nothing is doubled.

    python speculation_program.py MASTER DIRECTORY [KEY=VALUE ...]

`fuzz.clusters` runs it, in a process of its own. DIRECTORY gets the tables. The first attempt of a
task sleeps, at its first or at its last rows, so that Spark starts another attempt beside it; the
first attempt of another task fails at its last row, when files have its other rows.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.table_environment import TableEnvironment
from schema_core.expressions.user_functions import UserFunction, udf
from tests.spark.cluster_program import rows, session

#: Rows of a table, in tasks of this many.
TASKS, ROWS_OF_TASK = 4, 25_000
SPECULATION = {
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.multiplier": "1.2",
    "spark.speculation.quantile": "0.5",
    "spark.speculation.minTaskRuntime": "100ms",
    "spark.sql.files.maxPartitionBytes": "1m",
}
#: Seconds that the first attempt of the first task sleeps; another attempt sleeps half of them.
SLEEP = 3.0
#: The name of a table's catalog -> the options of the table.
TABLES = {
    "default_catalog.default_database": "('connector' = 'filesystem', 'format' = 'parquet', "
    "'path' = '$f/plain-$n')",
    "iceberg.`default`": "",
    "delta.`default`": "",
}


def slow_at(place: int) -> UserFunction:
    """Return a function whose first attempt is slow at a row of the first task."""

    def slow(value: int) -> int:
        import time

        from pyspark import TaskContext

        context = TaskContext.get()
        attempt = 0 if context is None else context.attemptNumber()
        if value == place:
            time.sleep(SLEEP if attempt == 0 else SLEEP / 2)
        if value == 2 * ROWS_OF_TASK - 1 and attempt == 0:
            raise RuntimeError("the first attempt of the second task fails at its last row")
        return value

    return udf(slow, result_type="BIGINT")


def main(master: str, folder: str, settings: list[str]) -> None:
    spark = session(master, [*settings, *(f"{key}={value}" for key, value in SPECULATION.items())])
    spark.sparkContext.setLogLevel("OFF")
    spark.range(0, TASKS * ROWS_OF_TASK, 1, TASKS).write.parquet(f"{folder}/source")
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode(), spark=spark)
    environment.get_config().set("table.dml-sync", "true")
    environment.execute_sql(
        "CREATE TABLE source (id BIGINT) WITH ('connector' = 'filesystem', 'format' = 'parquet', "
        f"'path' = '{folder}/source')"
    )
    for form in ("iceberg", "delta"):
        environment.execute_sql(
            f"CREATE CATALOG {form} WITH ('type' = '{form}', 'warehouse' = '{folder}/{form}')"
        )
    expected = [(str(TASKS * ROWS_OF_TASK),) * 2]
    for number, place in enumerate((0, ROWS_OF_TASK - 1)):
        environment.create_temporary_function(f"slow{number}", slow_at(place))
        for catalog, options in TABLES.items():
            table = f"{catalog}.t{number}"
            text = options.replace("$f", folder).replace("$n", str(number))
            environment.execute_sql(
                f"CREATE TABLE {table} (id BIGINT) {'WITH ' + text if text else ''}"
            )
            environment.execute_sql(f"INSERT INTO {table} SELECT slow{number}(id) FROM source")
            counts = rows(environment, f"SELECT COUNT(*), COUNT(DISTINCT id) FROM {table}")
            assert expected == counts, (table, counts)
    spark.stop()
    print("done")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
