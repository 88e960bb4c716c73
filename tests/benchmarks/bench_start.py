"""The first row of a parquet table from the start of the process, against plain PySpark.

Each run is a process of its own, by turns: it imports what it needs, starts Spark with the same
settings and prints the first row. The processor time of the process and its JVM is compared, and
the time that passed. Prints a table in Markdown.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from schema_core.spark.session.java import find_java
from schema_core.spark.session.settings import MEANING, START

OURS = """
from schema_core import EnvironmentSettings, TableEnvironment
environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
environment.execute_sql(
    "CREATE TABLE t (id BIGINT, name STRING) WITH ('connector' = 'filesystem',"
    f" 'format' = 'parquet', 'path' = '{path}')"
)
with environment.execute_sql("SELECT id, name FROM t WHERE id > 1").collect() as rows:
    row = tuple(next(iter(rows)))
"""

THEIRS = """
import json, os
from pyspark.sql import SparkSession
builder = SparkSession.builder
for key, value in json.loads(os.environ["SETTINGS"]).items():
    builder = builder.config(key, value)
spark = builder.getOrCreate()
spark.read.parquet(path).createOrReplaceTempView("t")
row = tuple(spark.sql("SELECT id, name FROM t WHERE id > 1").first())
"""

#: What a process runs: it prints the row, and the processor time that was used until then.
PROGRAM = """
import sys
path = {path!r}
{body}
print(row, flush=True)
sys.path.insert(0, {here!r})
from bench_tpc import processor_time
print(processor_time(), flush=True)
"""


def run(body: str, path: str) -> tuple[float, float]:
    """Return the processor time and the time until the first row is printed."""
    settings = {**START, **MEANING, "spark.master": "local[2]"}
    environment = {
        **os.environ,
        "SETTINGS": json.dumps(settings),
        "SCHEMA_CORE_SPARK": "spark.master=local[2]",
        "JAVA_HOME": str(find_java().home),
    }
    here = str(Path(__file__).parent)
    program = PROGRAM.format(path=path, body=body, here=here)
    begin = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-c", program],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        row = process.stdout.readline()
        passed = time.perf_counter() - begin
        assert row.strip() == "(2, 'n2')", row
        return float(process.stdout.readline()), passed


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the start in pairs."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=5)
    pairs = parser.parse_args(arguments).pairs
    with TemporaryDirectory() as place:
        path = f"{place}/t"
        write = f"""
from schema_core.spark.session.session import start
spark = start({{"spark.master": "local[2]"}})
spark.range(5).selectExpr("id", "'n' || id AS name").coalesce(1).write.parquet({path!r})
"""
        subprocess.run([sys.executable, "-c", write], check=True)
        run(OURS, path)  # files of Python are compiled once
        result = []
        for pair in range(pairs):
            bodies = (OURS, THEIRS) if pair % 2 else (THEIRS, OURS)
            times = {body: run(body, path) for body in bodies}
            result.append((times[OURS], times[THEIRS]))
    print("| first row from process start | ours | PySpark | ratio |\n|---|---:|---:|---:|")
    for kind, name in enumerate(("processor time", "time")):
        ours, theirs = (median(pair[who][kind] for pair in result) for who in (0, 1))
        ratio = median(pair[0][kind] / pair[1][kind] for pair in result)
        print(f"| {name} | {ours:.2f} s | {theirs:.2f} s | {ratio:.2f} |")


if __name__ == "__main__":
    main()
