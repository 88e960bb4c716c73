"""MATCH_RECOGNIZE beside the loop in Python that one would write by hand, in one Spark.

    python tests/benchmarks/bench_matches.py [--rows 1000000] [--partitions 10000] [--pairs 3]

Both read parquet, and find a pattern of three variables in the rows of each partition, by time.
They run by turns and must return equal numbers of matches.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.spark.session.session import start
from schema_core.spark.session.settings import MEANING

sys.path.insert(0, str(Path(__file__).parent.parent.parent))  # where this is run as a script
from tests.benchmarks.bench_changelogs import SPARK, compare_sides

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

QUERY = """
SELECT * FROM ticks MATCH_RECOGNIZE (
  PARTITION BY symbol ORDER BY ts
  MEASURES A.ts AS first_time, C.ts AS last_time, COUNT(B.price) AS n
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN (A B+ C)
  DEFINE B AS B.price > A.price, C AS C.price < A.price
)
"""


def make_ticks(session: SparkSession, rows: int, partitions: int, root: Path) -> None:
    session.range(0, rows, 1, 4).selectExpr(
        f"CAST(id % {partitions} AS INT) AS symbol",
        f"timestamp_seconds(CAST(id / {partitions} AS BIGINT))::TIMESTAMP_NTZ AS ts",
        "CAST(pmod(hash(id), 100) AS DOUBLE) AS price",
    ).write.parquet(str(root / "ticks"))


def match(session: SparkSession, root: Path) -> DataFrame:
    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode(), spark=session)
    env.execute_sql(
        "CREATE TEMPORARY TABLE ticks (symbol INT, ts TIMESTAMP(3), price DOUBLE)"
        f" WITH ('connector' = 'filesystem', 'format' = 'parquet', 'path' = '{root / 'ticks'}')"
    )
    return env.sql_query(QUERY).to_spark()


def match_by_hand(session: SparkSession, root: Path) -> DataFrame:
    return (
        session.read.parquet(str(root / "ticks"))
        .groupBy("symbol")
        .applyInArrow(
            matches, "symbol INT, first_time TIMESTAMP_NTZ, last_time TIMESTAMP_NTZ, n BIGINT"
        )
    )


def matches(rows: pa.Table) -> pa.Table:
    """Return the matches in the rows of a partition.

    As in Flink, a match waits for those that began before it, which do not end at the last row.
    """
    import pyarrow as pa

    rows = rows.sort_by("ts")
    prices, place, found = rows["price"].to_pylist(), 0, []
    while place < len(prices):
        end, first = place + 1, prices[place]
        while end < len(prices) and prices[end] > first:
            end += 1
        if end == len(prices):
            break
        if end - place > 1 and prices[end] < first:
            found.append((place, end))
            place = end
        place += 1
    firsts = pa.array([first for first, _ in found], pa.int64())
    lasts = pa.array([last for _, last in found], pa.int64())
    return pa.table(
        {
            "symbol": rows["symbol"].take(firsts),
            "first_time": rows["ts"].take(firsts),
            "last_time": rows["ts"].take(lasts),
            "n": pa.array([last - first - 1 for first, last in found], pa.int64()),
        }
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure MATCH_RECOGNIZE.")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--partitions", type=int, default=10_000)
    parser.add_argument("--pairs", type=int, default=3)
    options = parser.parse_args()
    session = start({**SPARK, **MEANING})
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        make_ticks(session, options.rows, options.partitions, root)
        print(compare_sides(session, root, (match, match_by_hand), options.pairs, options.rows))
    session.stop()


if __name__ == "__main__":
    main()
