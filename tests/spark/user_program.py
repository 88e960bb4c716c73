"""A user program with its own Spark session, and jobs of this library in several threads.

`test_session` runs it in a separate process, since it stops Spark. It prints ``done`` at the end.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from tempfile import TemporaryDirectory
from typing import Any

from pyspark import RDD
from pyspark.sql import SparkSession

from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import SchemaCoreError
from schema_core.expressions.user_functions import udf

#: Settings that would change the semantics of the generated SQL.
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "false",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    "spark.sql.timeType.enabled": "false",
}

QUERY = """
SELECT CAST(same_time(TIME '01:02:03') AS STRING),
       CAST(same_instant(TO_TIMESTAMP_LTZ(0, 3)) AS STRING),
       add_one(2147483646), CAST(2147483647 AS INT) + 1, JSON_VALUE('{"a": 1}', '$.a')
"""
EXPECTED = [("01:02:03", "1970-01-01 00:00:00.000", 2147483647, -2147483648, "1")]


def user_session(zone: str) -> SparkSession:
    builder = SparkSession.builder.master("local[1]").appName("a user")
    for key, value in {**SETTINGS, "spark.sql.session.timeZone": zone}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def state(spark: SparkSession) -> dict[str, object]:
    """Return all state that a job of this library could change."""
    context = spark.sparkContext
    return {
        **{row["key"]: row["value"] for row in spark.sql("SET -v").collect()},
        "active": SparkSession.getActiveSession() is spark,
        "default": SparkSession.active() is spark,
        "toDF": RDD.toDF,
        "group": context.getLocalProperty("spark.jobGroup.id"),
        "property": context.getLocalProperty("of.the.user"),
        "functions": [row[0] for row in spark.sql("SHOW USER FUNCTIONS").collect()],
        "tables": spark.catalog.listTables(),
    }


def job() -> list[tuple[object, ...]]:
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    for name, function in {
        "same_time": udf(lambda time: time, ["TIME(0)"], "TIME(0)"),
        "same_instant": udf(lambda at: at, ["TIMESTAMP_LTZ(3)"], "TIMESTAMP_LTZ(3)"),
        "add_one": udf(lambda number: number + 1, ["INT"], "INT"),
    }.items():
        environment.create_temporary_function(name, function)
    with TemporaryDirectory() as folder:
        environment.execute_sql(
            "CREATE TABLE written WITH ('connector' = 'filesystem', 'format' = 'parquet',"
            f" 'path' = '{folder}/rows') AS SELECT add_one(1) AS a"
        ).wait()
        environment.execute_sql("INSERT OVERWRITE written SELECT a + 1 FROM written").wait()
        (row,) = environment.execute_sql("SELECT a FROM written").collect()
        assert tuple(row) == (3,), row
    return [tuple(row) for row in environment.execute_sql(QUERY).collect()]


def code_of(action: Callable[[], Any]) -> str:
    """Return the code of the error that an action raises."""
    try:
        action()
    except SchemaCoreError as error:
        return str(error.code)
    return "none"


def stop(spark: SparkSession, what: str) -> None:
    match what:
        case "session":
            spark.stop()
        case "context":
            spark.sparkContext.stop()
        case _:
            spark.sparkContext._jsc.stop()  # as when its cluster ends it


def require_noticed(spark: SparkSession, what: str) -> None:
    """Stop the session of an environment: its running jobs, and later ones, raise an error."""
    given = TableEnvironment.create(EnvironmentSettings.in_batch_mode(), spark=spark)
    given.create_temporary_function("slow", udf(slow, ["INT"], "INT"))
    given.execute_sql("CREATE TABLE sink (a INT) WITH ('connector' = 'blackhole')")
    table = given.sql_query("SELECT a, COUNT(*) AS n FROM (VALUES (1), (2)) AS t (a) GROUP BY a")
    earlier, reader = table.execute(), table.to_arrow()
    running = given.execute_sql("INSERT INTO sink SELECT slow(a) FROM (VALUES (1)) AS t (a)")
    time.sleep(1)
    stop(spark, what)
    actions = {
        "running": running.wait,
        "result": lambda: list(earlier.collect()),
        "reader": reader.read_all,
        "pandas": table.to_pandas,
        "query": lambda: given.execute_sql("SELECT 1").print(),
        "insert": lambda: given.execute_sql("INSERT INTO sink VALUES (1)").wait(),
    }
    result = {name: code_of(action) for name, action in actions.items()}
    assert set(result.values()) == {"spark-session-stopped"}, (what, result)


def slow(number: int) -> int:
    time.sleep(3)
    return number


def in_a_thread(action: Callable[[], Any]) -> Any:
    result: list[Any] = []

    def run() -> None:
        try:
            result.append(action())
        except BaseException as error:  # noqa: BLE001 - shown by the assertion
            result.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return result[0]


def require_kept(spark: SparkSession, run: Callable[[Callable[[], Any]], Any]) -> None:
    """Run a job and compare what the user sees before and after."""
    before = state(spark)
    result = run(job)
    assert result == EXPECTED, result
    after = state(spark)
    assert before == after, [key for key in before if before[key] != after[key]]


def main() -> None:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = user_session("Asia/Tokyo")
    spark.sparkContext.setJobGroup("jobs of the user", "")
    spark.sparkContext.setLocalProperty("of.the.user", "kept")
    require_kept(spark, in_a_thread)
    require_kept(spark, lambda action: action())
    for what in ("session", "context", "java"):
        require_noticed(spark, what)
        assert in_a_thread(job) == EXPECTED, what
        SparkSession.active().stop()
        spark = user_session("America/New_York")
        require_kept(spark, in_a_thread)
        assert spark.conf.get("spark.sql.session.timeZone") == "America/New_York", what
    spark.stop()
    print("done")


if __name__ == "__main__":
    main()
