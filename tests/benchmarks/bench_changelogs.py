"""The rows that changes leave, beside the window query that one would write by hand, in one Spark.

    python tests/benchmarks/bench_changelogs.py [--rows 10000000] [--pairs 5] [--only WORDS]

`state` normalizes a changelog frame of parquet, `json` reads a table of `debezium-json` from files.
Both sides run by turns, each first in every other pair, and must return equal numbers of rows. The
figures are medians of the processor time of Python and the JVM, and rows per second.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.spark.changelog import CHANGE_ORDER, ROW_KIND, state_of
from schema_core.spark.session.session import start
from schema_core.spark.session.settings import MEANING

sys.path.insert(0, str(Path(__file__).parent.parent.parent))  # where this is run as a script
from tests.benchmarks.bench_tpc import processor_time

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SPARK = {
    "spark.master": "local[2]",
    "spark.driver.memory": "3g",
    "spark.sql.shuffle.partitions": "4",
}
#: Changes of a key: an insertion, updates, and for every fifth key a deletion.
CHANGES = 4
FILES = 4
OPTIONS = "'connector' = 'filesystem', 'format' = 'debezium-json'"


def make_changes(session: SparkSession, rows: int, root: Path) -> None:
    """Write the same changes as parquet, in the common form, and as lines of debezium-json."""
    keys = max(1, rows // CHANGES)
    frame = session.range(0, rows, 1, FILES).selectExpr(
        f"CAST(id % {keys} AS INT) AS k",
        "concat('name of ', id) AS name",
        "CAST(id % 1000 AS DOUBLE) AS amount",
        f"CASE WHEN id < {keys} THEN '+I' WHEN id >= {keys * (CHANGES - 1)} AND id % 5 = 0"
        " THEN '-D' ELSE '+U' END AS kind",
        "id",
    )
    order = f"struct(0 AS `partition`, id AS `offset`) AS `{CHANGE_ORDER}`"
    frame.selectExpr("k", "name", "amount", f"kind AS `{ROW_KIND}`", order).write.parquet(
        str(root / "parquet")
    )
    row = "struct(k, name, amount)"
    message = (
        f"to_json(struct(if(kind = '+I', NULL, {row}) AS before, if(kind = '-D', NULL, {row}) AS"
        " after, CASE kind WHEN '+I' THEN 'c' WHEN '+U' THEN 'u' ELSE 'd' END AS op, id AS ts_ms),"
        " map('ignoreNullFields', 'false')) AS value"
    )
    frame.selectExpr(message).write.text(str(root / "json"))


def state(session: SparkSession, root: Path) -> DataFrame:
    frame = session.read.parquet(str(root / "parquet"))
    return state_of(frame, ["k"], ["k", "name", "amount"])


def state_by_hand(session: SparkSession, root: Path) -> DataFrame:
    window = f"OVER (PARTITION BY k ORDER BY `{CHANGE_ORDER}`.`offset` DESC)"
    return session.sql(
        f"SELECT k, name, amount FROM (SELECT *, row_number() {window} AS r FROM"
        f" parquet.`{root / 'parquet'}`) WHERE r = 1 AND `{ROW_KIND}` <> '-D'"
    )


def json_by_hand(session: SparkSession, root: Path) -> DataFrame:
    row = "STRUCT<k: INT, name: STRING, amount: DOUBLE>"
    schema = f"before {row}, after {row}, op STRING, ts_ms BIGINT"
    session.read.text(str(root / "json")).createOrReplaceTempView("lines")
    return session.sql(
        "SELECT k, name, amount FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY ts_ms"
        " DESC) AS r FROM (SELECT coalesce(m.after.k, m.before.k) AS k, m.after.name, "
        f"m.after.amount, m.op, m.ts_ms FROM (SELECT from_json(value, '{schema}') AS m FROM"
        " lines))) WHERE r = 1 AND op <> 'd'"
    )


def json_table(session: SparkSession, root: Path) -> DataFrame:
    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode(), spark=session)
    env.execute_sql(
        "CREATE TEMPORARY TABLE t (k INT, name STRING, amount DOUBLE, PRIMARY KEY (k) NOT ENFORCED)"
        f" WITH ({OPTIONS}, 'path' = '{root / 'json'}')"
    )
    return env.sql_query("SELECT * FROM t").to_spark()


Side = Callable[["SparkSession", Path], "DataFrame"]
TASKS: dict[str, tuple[Side, Side]] = {
    "state": (state, state_by_hand),
    "json": (json_table, json_by_hand),
}


def run(side: Side, session: SparkSession, root: Path) -> tuple[float, float]:
    """Return the processor time and the time of one run."""
    before, started = processor_time(), time.perf_counter()
    side(session, root).write.format("noop").mode("overwrite").save()
    return processor_time() - before, time.perf_counter() - started


def compare_sides(
    session: SparkSession, root: Path, sides: tuple[Side, Side], pairs: int, rows: int
) -> str:
    """Return the medians of both sides and their ratios; both must return equally many rows."""
    counts = [side(session, root).count() for side in sides]
    assert counts[0] == counts[1], counts
    times: dict[Side, list[tuple[float, float]]] = {side: [] for side in sides}
    for pair in range(pairs):
        for side in sides if pair % 2 else sides[::-1]:
            times[side].append(run(side, session, root))
    (own, own_wall), (hand, hand_wall) = (
        tuple(median(each) for each in zip(*times[side], strict=True)) for side in sides
    )
    return (
        f"{own:.1f} s, by hand {hand:.1f} s, ratio {own / hand:.2f}; elapsed ratio"
        f" {own_wall / hand_wall:.2f}; {rows / own_wall:,.0f} rows/s"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the normalization of changes.")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    session = start({**SPARK, **MEANING})
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        make_changes(session, options.rows, root)
        for name, sides in TASKS.items():
            if options.only not in name:
                continue
            figures = compare_sides(session, root, sides, options.pairs, options.rows)
            print(f"{name}: {figures}")
    session.stop()


if __name__ == "__main__":
    main()
