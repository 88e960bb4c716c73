"""How much processor time functions of Flink take on Spark beside Spark's nearest function.

    python tests/benchmarks/bench_functions.py [--rows 1000000] [--rounds 3] [--store] [NAME ...]

Each function runs over a cached frame into Spark's `noop` sink, in turn with Spark's own function
of about the same meaning, in one session with one task. Counted is the processor time of the JVM
and its Python workers; the least of all rounds is kept, reading the columns included. A round runs
a function until enough time is counted. Where Spark optimizes both to the same plan, the ratio is
1. NAME selects functions by parts of their names, `--store` writes docs/function_speed.json, of
which docs/functions.md shows rows per second.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from schema_core.expressions.type_checker import ColumnScope, infer
from schema_core.expressions.typed import FunctionCall
from schema_core.spark.compiler.expression import TranslationContext, compile_expression
from schema_core.spark.compiler.tree import Fact, Node
from schema_core.spark.session.frames import select
from schema_core.spark.session.session import JobSession
from schema_core.sql.parser import parse_expression
from schema_core.types import parse_type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: A round counts at least so many processor seconds, which the system counts by hundredths.
ENOUGH = 0.5

STORE = Path(__file__).parent.parent.parent / "docs" / "function_speed.json"

#: Column -> its Flink type and its Spark SQL over the `id` of a range.
COLUMNS = {
    "i": ("INT", "CAST(id % 1000003 AS INT)"),
    "l": ("BIGINT", "id * 977"),
    "d": ("DOUBLE", "id / 7.0D"),
    "n": ("DECIMAL(12, 2)", "CAST(id % 100000 / 7 AS DECIMAL(12, 2))"),
    "w": ("DECIMAL(30, 10)", "CAST(id / 7 AS DECIMAL(30, 10))"),
    "s": ("STRING", "concat('Name of ', id)"),
    "digits": ("STRING", "CAST(id AS STRING)"),
    "fraction": ("STRING", "concat(id, '.25')"),
    "flag": ("STRING", "if(id % 2 = 0, 'true', 'false')"),
    "iso": ("STRING", "date_format(timestamp_seconds(id * 977), 'yyyy-MM-dd')"),
    "stamp": ("STRING", "date_format(timestamp_seconds(id * 977), 'yyyy-MM-dd HH:mm:ss')"),
    "german": ("STRING", "date_format(timestamp_seconds(id * 977), 'dd.MM.yyyy')"),
    "clock": ("STRING", "date_format(timestamp_seconds(id * 977), 'HH:mm:ss')"),
    "dt": ("DATE", "CAST(timestamp_seconds(id * 977) AS DATE)"),
    "ts": ("TIMESTAMP(3)", "CAST(timestamp_seconds(id * 977) AS TIMESTAMP_NTZ)"),
    "j": ("STRING", """concat('{"a": {"b": "v', id, '", "c": ', id, '}, "e": [1, 2]}')"""),
    "u": ("STRING", "concat('https://example.com/p/', id, '?a=1&q=', id, '#x')"),
    "b64": ("STRING", "base64(CAST(concat('Name of ', id) AS BINARY))"),
    "list": ("ARRAY<INT>", "array(CAST(id AS INT), 2, 3)"),
}

_P = "'yyyy-MM-dd HH:mm:ss'"

#: Flink's expression and Spark's nearest.
PAIRS = (
    ("i + 1", "i + 1"),
    ("n * n", "n * n"),
    ("n / 3.7", "n / 3.7BD"),
    ("w * w", "w * w"),
    ("w / (n + 1)", "w / (n + 1)"),
    ("MOD(i, 7)", "i % 7"),
    ("ABS(i)", "abs(i)"),
    ("ROUND(n, 1)", "round(n, 1)"),
    ("FLOOR(d)", "floor(d)"),
    ("POWER(d, 2)", "pow(d, 2)"),
    ("CASE WHEN i > 5 THEN s END", "CASE WHEN i > 5 THEN s END"),
    ("COALESCE(s, 'x')", "coalesce(s, 'x')"),
    ("NULLIF(i, 3)", "nullif(i, 3)"),
    ("i BETWEEN 3 AND 900", "i BETWEEN 3 AND 900"),
    ("s LIKE 'Name%7'", "s LIKE 'Name%7'"),
    ("i IN (1, 2, 3)", "i IN (1, 2, 3)"),
    ("GREATEST(i, 5)", "greatest(i, 5)"),
    ("UPPER(s)", "upper(s)"),
    ("CHAR_LENGTH(s)", "length(s)"),
    ("SUBSTRING(s, 2, 4)", "substring(s, 2, 4)"),
    ("TRIM(s)", "trim(s)"),
    ("s || digits", "s || digits"),
    ("CONCAT_WS('-', s, digits)", "concat_ws('-', s, digits)"),
    ("REPLACE(s, 'a', 'b')", "replace(s, 'a', 'b')"),
    ("POSITION('f' IN s)", "locate('f', s)"),
    ("SPLIT_INDEX(s, ' ', 1)", "split_part(s, ' ', 2)"),
    ("REGEXP_REPLACE(s, '[0-9]+', 'x')", "regexp_replace(s, '[0-9]+', 'x')"),
    ("REGEXP_EXTRACT(s, '([0-9]+)', 1)", "regexp_extract(s, '([0-9]+)', 1)"),
    ("LPAD(digits, 10, '0')", "lpad(digits, 10, '0')"),
    ("RPAD(digits, 10, ' ')", "rpad(digits, 10, ' ')"),
    ("MD5(s)", "md5(s)"),
    ("TO_BASE64(s)", "base64(CAST(s AS BINARY))"),
    ("FROM_BASE64(b64)", "CAST(unbase64(b64) AS STRING)"),
    ("PARSE_URL(u, 'QUERY')", "try_parse_url(u, 'QUERY')"),
    ("PARSE_URL(u, 'QUERY', 'q')", "try_parse_url(u, 'QUERY', 'q')"),
    ("JSON_VALUE(j, '$.a.b')", "get_json_object(j, '$.a.b')"),
    ("JSON_QUERY(j, '$.a')", "get_json_object(j, '$.a')"),
    ("JSON_EXISTS(j, '$.a.b')", "get_json_object(j, '$.a.b') IS NOT NULL"),
    ("j IS JSON", "try_parse_json(j) IS NOT NULL"),
    ("CAST(digits AS INT)", "try_cast(digits AS INT)"),
    ("CAST(digits AS BIGINT)", "try_cast(digits AS BIGINT)"),
    ("CAST(fraction AS DOUBLE)", "try_cast(fraction AS DOUBLE)"),
    ("CAST(fraction AS DECIMAL(12, 2))", "try_cast(fraction AS DECIMAL(12, 2))"),
    ("CAST(flag AS BOOLEAN)", "try_cast(flag AS BOOLEAN)"),
    ("CAST(iso AS DATE)", "try_cast(iso AS DATE)"),
    ("CAST(clock AS TIME)", "try_cast(clock AS TIME)"),
    ("CAST(stamp AS TIMESTAMP)", "try_cast(stamp AS TIMESTAMP_NTZ)"),
    ("CAST(i AS STRING)", "CAST(i AS STRING)"),
    ("CAST(n AS STRING)", "CAST(n AS STRING)"),
    ("CAST(ts AS STRING)", "CAST(ts AS STRING)"),
    ("TO_DATE(iso)", "to_date(iso)"),
    ("TO_DATE(german, 'dd.MM.yyyy')", "to_date(german, 'dd.MM.yyyy')"),
    ("TO_TIMESTAMP(stamp)", "to_timestamp_ntz(stamp)"),
    (f"TO_TIMESTAMP(stamp, {_P})", f"to_timestamp_ntz(stamp, {_P})"),
    ("DATE_FORMAT(ts, 'yyyy-MM-dd')", "date_format(ts, 'yyyy-MM-dd')"),
    ("FROM_UNIXTIME(l)", "from_unixtime(l)"),
    ("UNIX_TIMESTAMP(stamp)", "unix_timestamp(stamp)"),
    (
        "CONVERT_TZ(stamp, 'UTC', 'America/New_York')",
        (f"date_format(convert_timezone('UTC', 'America/New_York', to_timestamp_ntz(stamp, {_P})),"
        f" {_P})"),
    ),
    ("EXTRACT(YEAR FROM ts)", "year(ts)"),
    ("TIMESTAMPDIFF(HOUR, ts, TIMESTAMP '2020-01-01 00:00:00')",
     "timestampdiff(HOUR, ts, TIMESTAMP_NTZ'2020-01-01 00:00:00')"),
    ("ts + INTERVAL '1' DAY", "ts + INTERVAL '1' DAY"),
    ("list[1]", "list[0]"),
)  # fmt: skip


def processor_seconds(root: int, seen: dict[int, int]) -> float:
    """Return the processor time of a process and its descendants, also of those seen before."""
    parents = {}
    times = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(folder.name)] = int(fields[1])
            times[int(folder.name)] = int(fields[11]) + int(fields[12])
    family = {root}
    while result := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= result
    seen.update({pid: times[pid] for pid in family if pid in times})
    return sum(seen.values()) / os.sysconf("SC_CLK_TCK")


def compiled(expression: str) -> tuple[str, Node]:
    """Return the outermost function of a Flink expression and its Spark expression."""
    scope = ColumnScope({name: parse_type(value[0]) for name, value in COLUMNS.items()})
    typed = infer(scope, parse_expression(expression))
    node = compile_expression(typed, TranslationContext("UTC"))
    name = typed.function.name if isinstance(typed, FunctionCall) else ""
    return name, node


class Bench:
    """A session, the cached frame, and the cost of reading it."""

    def __init__(self, rows: int) -> None:
        settings = {"spark.master": "local[1]", "spark.driver.memory": "3g"}
        session = JobSession(settings=settings).get()
        jvm = session.sparkContext._jvm
        self.seen: dict[int, int] = {}
        self.root = int(jvm.java.lang.ProcessHandle.current().pid())
        columns = [f"{sql} AS {name}" for name, (_, sql) in COLUMNS.items()]
        self.frame: DataFrame = session.range(0, rows, 1, 1).selectExpr(*columns).cache()
        self.frame.count()

    def frame_of(self, value: Node | str) -> DataFrame:
        """Return the frame of one expression."""
        if isinstance(value, str):
            return self.frame.selectExpr(f"{value} AS x")
        return select(self.frame, [(value, "x")])

    def cost(self, value: Node | str) -> float:
        """Return the processor seconds of one expression over all rows."""
        frame = self.frame_of(value)
        before, runs, spent = processor_seconds(self.root, self.seen), 0, 0.0
        while spent < ENOUGH:
            frame.write.format("noop").mode("overwrite").save()
            spent = processor_seconds(self.root, self.seen) - before
            runs += 1
        return spent / runs

    def is_same(self, ours: Node, theirs: str) -> bool:
        """Return whether Spark computes both by the same plan."""
        plans = [
            self.frame_of(item)._jdf.queryExecution().optimizedPlan() for item in (ours, theirs)
        ]
        return bool(plans[0].sameResult(plans[1]))


def measure(bench: Bench, ours: Node, theirs: str, rounds: int) -> tuple[float, float]:
    """Return the least cost of both, measured in turn after a round that compiles their code."""
    if bench.is_same(ours, theirs):
        cost = min(bench.cost(ours) for _ in range(2))
        return cost, cost
    costs = [(bench.cost(ours), bench.cost(theirs)) for _ in range(rounds + 1)][1:]
    return min(item for item, _ in costs), min(item for _, item in costs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--store", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    bench = Bench(options.rows)
    stored = json.loads(STORE.read_text()) if options.store and STORE.exists() else {}
    print(f"{'expression':62}{'ours':>8}{'Spark':>8}{'ratio':>7}  rows/s")
    for flink, spark in PAIRS:
        if options.names and not any(name in flink for name in options.names):
            continue
        name, node = compiled(flink)
        ours, theirs = measure(bench, node, spark, options.rounds)
        ratio, speed = ours / max(theirs, 0.01), round(options.rows / max(ours, 0.01))
        mark = " udf" if node.facts & Fact.UDF else ""
        print(f"{flink[:60]:62}{ours:8.2f}{theirs:8.2f}{ratio:7.2f}  {speed:,}{mark}", flush=True)
        stored[flink] = {"function": name, "rows_per_second": speed, "ratio": round(ratio, 2)}
        if options.store:
            STORE.write_text(json.dumps(stored, indent=1) + "\n")


if __name__ == "__main__":
    main()
