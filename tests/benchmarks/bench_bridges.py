"""DataFrames in and out, and the fixed cost of a query, against PySpark in the same session.

Both run by turns; the figures are medians of the processor time of the JVM and Python together, and
of the time that passed. Prints a table in Markdown.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.spark.session.session import start

ROWS = 1_000_000
PAIRS = 9


def measured(run: Callable[[], object], processor: Callable[[], float]) -> tuple[float, float]:
    before, begin = processor(), time.perf_counter()
    run()
    return processor() - before, time.perf_counter() - begin


def main() -> None:
    spark: Any = start({"spark.master": "local[2]", "spark.driver.memory": "2g"})
    spark.conf.set("spark.sql.execution.arrow.pyspark.enabled", "true")
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode(), spark=spark)

    stat = Path(f"/proc/{spark.sparkContext._gateway.proc.pid}/stat")

    def processor() -> float:
        """Return the seconds that the JVM and this process have used, as Linux counts them."""
        used = stat.read_text(encoding="ascii").rpartition(")")[2].split()[11:13]
        return time.process_time() + sum(map(int, used)) / os.sysconf("SC_CLK_TCK")

    with TemporaryDirectory() as place:
        path = str(Path(place) / "t")
        spark.range(5).selectExpr("id", "'n' || id AS name").coalesce(1).write.parquet(path)
        environment.execute_sql(
            "CREATE TABLE t (id BIGINT, name STRING) WITH ('connector' = 'filesystem',"
            f" 'format' = 'parquet', 'path' = '{path}')"
        )
        spark.read.parquet(path).createOrReplaceTempView("t")
        wide = spark.range(0, ROWS, 1, 4).selectExpr(
            "id", "CAST(id AS STRING) AS s", "id * 1.5D AS d", "date_add(DATE'2020-01-01',"
            " CAST(id % 1000 AS INT)) AS day", "timestamp_seconds(id) AS t"
        )  # fmt: skip
        table = environment.from_spark(wide)
        small = "SELECT id, name FROM t WHERE id > 1"
        values = "SELECT a FROM (VALUES (1), (2), (3)) AS v (a) WHERE a > 1"
        cases: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
            "a million rows: `to_pandas`, `toPandas` of a planned frame": (
                table.to_pandas, wide.toPandas,
            ),
            "a million rows: `to_pandas`, `toPandas` of a new frame": (
                table.to_pandas, lambda: wide.select("*").toPandas(),
            ),
            "a million rows: `to_arrow`, `toArrow`": (
                lambda: table.to_arrow().read_all(), wide.toArrow,
            ),
            "a million rows: `collect`, `toLocalIterator`": (
                lambda: sum(1 for _ in table.execute().collect()),
                lambda: sum(1 for _ in wide.toLocalIterator()),
            ),
            "`to_spark`, then `count`": (lambda: table.to_spark().count(), wide.count),
            "5 rows of parquet: `execute_sql`, `sql`": (
                lambda: list(environment.execute_sql(small).collect()),
                lambda: spark.sql(small).collect(),
            ),
            "3 constants: `execute_sql`, `sql`": (
                lambda: list(environment.execute_sql(values).collect()),
                lambda: spark.sql(values).collect(),
            ),
        }  # fmt: skip
        print("| ours, PySpark's | processor time | time |\n|---|---:|---:|")
        for name, (ours, other) in cases.items():
            pairs = [
                (measured(ours, processor), measured(other, processor)) for _ in range(PAIRS + 2)
            ][2:]
            ratios = [
                statistics.median(first[kind] / two[kind] for first, two in pairs)
                for kind in (0, 1)
            ]
            print(f"| {name} | {ratios[0]:.2f} | {ratios[1]:.2f} |")
    spark.stop()


if __name__ == "__main__":
    main()
