"""A join as of a rowtime, beside two forms that are written by hand for Spark, in one run.

    python tests/benchmarks/bench_temporal_joins.py [--left 10000000] [--right 1000000]
        [--keys 100000] [--pairs 2] [--only NAMES]

The forms are a window over the rows of both sides, and an equi-join with the interval of each
version, which `lead` computes. They read the same parquet files and run by turns; each counts the
joined rows and adds their hashes, which must be equal. Figures are the shortest processor times of
Python and the JVM, and ratios to the window.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.spark.session.session import start
from schema_core.spark.session.settings import MEANING

sys.path.insert(0, str(Path(__file__).parent.parent.parent))  # where this is run as a script
from tests.benchmarks.bench_tpc import processor_time

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SPARK = {
    "spark.master": "local[2]",
    "spark.driver.memory": "4g",
    "spark.sql.shuffle.partitions": "8",
}
#: Columns of the sides as Spark computes them from the number of a row.
LEFT = (
    "id", "concat('k', pmod(hash(id), {keys})) AS k",
    "CAST(timestamp_millis(1700000000000 + pmod(xxhash64(id), 86400000)) AS TIMESTAMP_NTZ) AS t",
    "CAST(id % 997 AS DOUBLE) AS amount", "concat('n', id % 1000) AS name",
)  # fmt: skip
RIGHT = (
    "concat('k', pmod(hash(id, 1), {keys})) AS k",
    "CAST(timestamp_millis(1700000000000 + pmod(xxhash64(id, 7), 86400000)) AS TIMESTAMP_NTZ) AS t",
    "CAST(id % 991 AS DOUBLE) AS rate", "concat('w', id % 1000) AS w",
)  # fmt: skip
RESULT = "SELECT count(*) AS n, sum(hash(id, rate)) AS h FROM"
BY_HAND = {
    "window": """
        (SELECT id, r.rate FROM (
          SELECT id, is_left, last_value(r, TRUE) OVER (PARTITION BY k ORDER BY t, is_left, place
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS r
          FROM (SELECT k, t, 1 AS is_left, 0L AS place, id, NULL AS r FROM l
            UNION ALL SELECT k, t, 0, monotonically_increasing_id(), NULL, struct(rate, w) FROM r))
        WHERE is_left = 1 AND r IS NOT NULL)""",
    "intervals": """
        (SELECT id, rate FROM l JOIN (
          SELECT *, lead(t) OVER (PARTITION BY k ORDER BY t, place) AS until
          FROM (SELECT *, monotonically_increasing_id() AS place FROM r)) AS v
        ON l.k = v.k AND l.t >= v.t AND (v.until IS NULL OR l.t < v.until))""",
}
OURS = "SELECT l.id, v.rate FROM lt AS l JOIN rt FOR SYSTEM_TIME AS OF l.t AS v ON l.k = v.k"


def written(session: SparkSession, root: Path, options: argparse.Namespace) -> TableEnvironment:
    """Write the rows of both sides, and return an environment with tables of them."""
    for name, count, columns in (("l", options.left, LEFT), ("r", options.right, RIGHT)):
        texts = [column.format(keys=options.keys) for column in columns]
        session.range(count).selectExpr(*texts).write.parquet(str(root / name))
        session.read.parquet(str(root / name)).createOrReplaceTempView(name)
    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode(), spark=session)
    watermark = "WATERMARK FOR t AS t"
    for name, declared in (
        ("l", f"id BIGINT, k STRING, t TIMESTAMP(3), amount DOUBLE, name STRING, {watermark}"),
        ("r", (f"k STRING NOT NULL, t TIMESTAMP(3), rate DOUBLE, w STRING, {watermark},"
         " PRIMARY KEY (k) NOT ENFORCED")),
    ):  # fmt: skip
        env.execute_sql(
            f"CREATE TABLE {name}t ({declared}) WITH ('connector' = 'filesystem',"
            f" 'format' = 'parquet', 'path' = '{root / name}')"
        )
    return env


def main() -> None:
    """Run all forms by turns, and print their shortest times."""
    parser = argparse.ArgumentParser(description="Measure a join as of a rowtime.")
    parser.add_argument("--left", type=int, default=10_000_000)
    parser.add_argument("--right", type=int, default=1_000_000)
    parser.add_argument("--keys", type=int, default=100_000)
    parser.add_argument("--pairs", type=int, default=2)
    parser.add_argument("--only", default="ours,window,intervals")
    options = parser.parse_args()
    session = start({**MEANING, **SPARK})
    with tempfile.TemporaryDirectory() as folder:
        env = written(session, Path(folder), options)

        def ours() -> tuple[int, int]:
            env.sql_query(OURS).to_spark().createOrReplaceTempView("ours")
            return run(f"{RESULT} ours")

        def run(sql: str) -> tuple[int, int]:
            (row,) = session.sql(sql).collect()
            return row.n, row.h

        forms: dict[str, Callable[[], tuple[int, int]]] = {"ours": ours}
        forms |= {name: partial(run, f"{RESULT} {sql}") for name, sql in BY_HAND.items()}
        forms = {name: forms[name] for name in options.only.split(",")}
        times: dict[str, list[float]] = {name: [] for name in forms}
        results = set()
        for _ in range(options.pairs):
            for name, form in forms.items():
                begin = processor_time()
                results.add(form())
                times[name].append(processor_time() - begin)
                print(name, f"{times[name][-1]:.1f} s", flush=True)
        if len(results) > 1:
            sys.exit(f"the forms return different rows: {results}")
        base = min(times.get("window", times[next(iter(times))]))
        for name, seconds in times.items():
            print(f"{name}: {min(seconds):.1f} s, {min(seconds) / base:.2f} of the window")


if __name__ == "__main__":
    main()
