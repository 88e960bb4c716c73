"""TPC-H and TPC-DS through `execute_sql`, against the same queries in plain Spark.

Data and query texts are those of DuckDB's extensions `tpch` and `tpcds`, which are read when the
program runs:

    pip install duckdb duckdb-extension-tpch duckdb-extension-tpcds    # of equal versions
    python tests/benchmarks/bench_tpc.py tpch --scale 1 --pairs 3

Each query runs in pairs, one after the other in one Spark: by `execute_sql(...).collect()` over
tables of the connector `filesystem`, and by `spark.sql(...).collect()` over `spark.read.parquet`
in a session with equal settings. Processor time of Python, the JVM and Python workers is compared,
and the rows after rounding. With `--format iceberg`, tables of Iceberg are compared with those of
the connector `filesystem`, both by `execute_sql`.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from functools import partial
from importlib.resources import files
from itertools import zip_longest
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.table_environment import TableEnvironment
from schema_core.spark.session.session import start
from schema_core.spark.session.settings import MEANING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Extension of DuckDB -> its function that generates the tables.
GENERATORS = {"tpch": "dbgen", "tpcds": "dsdgen"}

#: DuckDB's types whose names Flink does not have.
TYPES = {"VARCHAR": "STRING", "INTEGER": "INT"}

#: Columns that are NOT NULL in TPC-DS and nullable in DuckDB: primary keys.
KEYS = {
    "call_center": ("cc_call_center_sk",),
    "catalog_page": ("cp_catalog_page_sk",),
    "catalog_returns": ("cr_item_sk", "cr_order_number"),
    "catalog_sales": ("cs_item_sk", "cs_order_number"),
    "customer": ("c_customer_sk",),
    "customer_address": ("ca_address_sk",),
    "customer_demographics": ("cd_demo_sk",),
    "date_dim": ("d_date_sk",),
    "household_demographics": ("hd_demo_sk",),
    "income_band": ("ib_income_band_sk",),
    "inventory": ("inv_date_sk", "inv_item_sk", "inv_warehouse_sk"),
    "item": ("i_item_sk",),
    "promotion": ("p_promo_sk",),
    "reason": ("r_reason_sk",),
    "ship_mode": ("sm_ship_mode_sk",),
    "store": ("s_store_sk",),
    "store_returns": ("sr_item_sk", "sr_ticket_number"),
    "store_sales": ("ss_item_sk", "ss_ticket_number"),
    "time_dim": ("t_time_sk",),
    "warehouse": ("w_warehouse_sk",),
    "web_page": ("wp_web_page_sk",),
    "web_returns": ("wr_item_sk", "wr_order_number"),
    "web_sales": ("ws_item_sk", "ws_order_number"),
    "web_site": ("web_site_sk",),
}

#: Query -> replacements that make it Flink's SQL; the reference runs the same text.
CHANGES: Mapping[tuple[str, int], Sequence[tuple[str, str]]] = {
    # `value` is a reserved word.
    ("tpch", 11): ((r"\bvalue\b", "`value`"),),
    # GROUP BY does not take aliases of the list.
    ("tpch", 15): ((r"(?is)(group\s+by\s+)supplier_no", r"\1l_suppkey"),),
    # NULL has a type.
    ("tpcds", 27): ((r"NULL AS (i_item_id|s_state)", r"CAST(NULL AS STRING) AS \1"),),
    ("tpcds", 36): ((r"NULL AS (i_c\w+)", r"CAST(NULL AS STRING) AS \1"),),
    # Names are case-sensitive.
    ("tpcds", 49): ((r"\bcatalog\.", "CATALOG."),),
    # A number of days is an interval.
    ("tpcds", 72): ((r"d1\.d_date \+ 5", "d1.d_date + INTERVAL '5' DAY"),),
}

#: Query -> replacements in the reference alone, where Spark's functions have other results.
REFERENCE: Mapping[tuple[str, int], Sequence[tuple[str, str]]] = {
    # AVG and STDDEV of integers are integers in Flink, by which rows are sorted or selected here.
    ("tpcds", number): ((r"(avg|stddev_samp)\(inv_quantity_on_hand\)", r"CAST(\g<0> AS BIGINT)"),)
    for number in (22, 39)
}

#: Replacements in every query: names are quoted by backticks.
QUOTED = (r'"([^"]*)"', r"`\1`")


# --- data ----------------------------------------------------------------------------------------


def duckdb_with(name: str) -> Any:
    """Return a connection to DuckDB in which an extension is loaded."""
    import duckdb  # type: ignore[import-not-found, unused-ignore]

    connection = duckdb.connect(config={"threads": 1})
    try:
        package = files(f"duckdb_extension_{name}")
        result = next(Path(str(package)).rglob("*.duckdb_extension"))
        connection.execute(f"LOAD '{result}'")
    except ModuleNotFoundError:
        connection.execute(f"INSTALL {name}")
        connection.execute(f"LOAD {name}")
    return connection


@dataclass(frozen=True)
class Table:
    """A table of the benchmark: its columns in Flink's SQL, and its directory of parquet files."""

    name: str
    columns: str
    path: Path


def generate(name: str, scale: float, directory: Path) -> list[Table]:
    """Return the tables; their files are written unless they are there already."""
    connection = duckdb_with(name)
    is_written = (directory / "complete").exists()
    connection.execute(f"CALL {GENERATORS[name]}(sf={0 if is_written else scale})")
    tables = []
    for (table,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall():
        path = directory / table
        if not is_written:
            path.mkdir(parents=True, exist_ok=True)
            target = path / "part-0.parquet"
            connection.execute(f"COPY {table} TO '{target}' (FORMAT parquet, COMPRESSION snappy)")
        columns = [
            f"`{column}` {TYPES.get(type_, type_)}"
            f"{' NOT NULL' if null == 'NO' or column in KEYS.get(table, ()) else ''}"
            for column, type_, null, *_ in connection.execute(f"DESCRIBE {table}").fetchall()
        ]
        tables.append(Table(table, ", ".join(columns), path))
    (directory / "complete").touch()
    return tables


def queries(name: str) -> dict[int, str]:
    """Return the queries by their numbers, in Flink's SQL."""
    rows = duckdb_with(name).execute(f"SELECT query_nr, query FROM {name}_queries()")
    return {
        number: changed(text.strip().rstrip(";"), (QUOTED, *CHANGES.get((name, number), ())))
        for number, text in rows.fetchall()
    }


def changed(text: str, replacements: Sequence[tuple[str, str]]) -> str:
    """Return a query after replacements."""
    for pattern, replacement in replacements:
        text = re.sub(pattern, replacement, text)
    return text


# --- measuring -----------------------------------------------------------------------------------


def processor_time() -> float:
    """Return the seconds that this process and its descendants have used."""
    parents: dict[int, int] = {}
    used: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                parents[int(entry.name)] = int(fields[1])
                used[int(entry.name)] = sum(map(int, fields[11:15]))
    own = {os.getpid()}
    while grown := {value for value, parent in parents.items() if parent in own} - own:
        own |= grown
    return sum(used[option] for option in own) / os.sysconf("SC_CLK_TCK")


def timed(run: Callable[[], list[Any]], spark: SparkSession) -> float:
    """Return the processor time of a query."""
    spark.sparkContext._jvm.System.gc()
    begin = processor_time()
    run()
    return processor_time() - begin


def normal(value: Any, *, integral: bool) -> Any:
    """Return a value for comparison: numbers as floats, integers if Flink has an integer."""
    if isinstance(value, bool | str) or value is None:
        return value
    if isinstance(value, int | float | Decimal):
        return float(math.trunc(value)) if integral else float(value)
    return str(value)


def normalized(rows: Sequence[Any], integral: Sequence[bool]) -> list[tuple[Any, ...]]:
    """Return rows for comparison, sorted."""
    result = [
        tuple(normal(item, integral=whole) for item, whole in zip(row, integral, strict=True))
        for row in rows
    ]
    key = [
        tuple(
            (cell is not None, f"{cell:.3g}" if isinstance(cell, float) else cell) for cell in row
        )
        for row in result
    ]
    return [
        result[place] for place in sorted(range(len(result)), key=lambda place: repr(key[place]))
    ]


def is_close(left: Any, right: Any) -> bool:
    """Return whether two values are equal after rounding."""
    if isinstance(left, float) and isinstance(right, float):
        return math.isclose(left, right, rel_tol=1e-5, abs_tol=0.011)
    return bool(left == right)


def difference(ours: Sequence[Any], theirs: Sequence[Any]) -> str:
    """Return the first difference between two results, or an empty string."""
    if len(ours) != len(theirs):
        return f"{len(ours)} rows, expected {len(theirs)}"
    width = len(ours[0]) if ours else 0
    integral = [
        any(isinstance(row[place], int) for row in ours)
        and any(isinstance(row[place], float) for row in theirs)
        for place in range(width)
    ]
    for a, b in zip_longest(normalized(ours, integral), normalized(theirs, integral)):
        if not all(map(is_close, a, b)):
            return f"{a}, expected {b}"
    return ""


@dataclass(frozen=True)
class Measured:
    """Processor times of one query in seconds, and the first difference between the rows."""

    number: int
    ours: tuple[float, ...]
    theirs: tuple[float, ...]
    problem: str

    @property
    def ratio(self) -> float:
        """The median of the ratios of the pairs."""
        pairs = zip(self.ours, self.theirs, strict=True)
        return median(a / max(b, 0.01) for a, b in pairs) if self.ours else math.nan

    @property
    def shortest(self) -> float:
        """The ratio of the shortest times, which other work on the machine changes least."""
        return min(self.ours) / max(min(self.theirs), 0.01) if self.ours else math.nan


class Benchmark:
    """The tables of one benchmark in both systems."""

    def __init__(self, tables: Sequence[Table], plans: Path | None, format_: str) -> None:
        root = start({"spark.driver.memory": "3g", "spark.master": "local[2]"})
        self.plans = plans
        self.environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode(), spark=root)
        self.spark = root.newSession()
        for key, value in MEANING.items():
            self.spark.conf.set(key, value)
        for table in tables:
            self.environment.execute_sql(
                f"CREATE TABLE `{table.name}` ({table.columns}) WITH ("
                f"'connector'='filesystem', 'format'='parquet', 'path'='{table.path}')"
            )
            self.spark.read.parquet(str(table.path)).createOrReplaceTempView(table.name)
        self.is_of_files = format_ == "parquet"
        self.catalog = self.environment.get_current_catalog()
        if not self.is_of_files:
            self.warehouse = tempfile.TemporaryDirectory()
            self.fill_catalog(tables, format_)

    def fill_catalog(self, tables: Sequence[Table], format_: str) -> None:
        """Copy the tables into a catalog of a format, which becomes the current one."""
        sources = [f"`{self.catalog}`.`default_database`.`{table.name}`" for table in tables]
        self.catalog = "copies"
        self.environment.execute_sql(
            f"CREATE CATALOG copies WITH ('type'='{format_}', 'warehouse'='{self.warehouse.name}')"
        )
        self.environment.use_catalog(self.catalog)
        for table, source in zip(tables, sources, strict=True):
            self.environment.execute_sql(f"CREATE TABLE `{table.name}` ({table.columns})")
            copy = f"INSERT INTO `{table.name}` SELECT * FROM {source}"
            self.environment.execute_sql(copy).wait()

    def ours(self, text: str) -> list[Any]:
        """Run a query here."""
        self.environment.use_catalog(self.catalog)
        with self.environment.execute_sql(text).collect() as rows:
            return [tuple(row) for row in rows]

    def theirs(self, text: str) -> list[Any]:
        """Run a query in plain Spark, or, if ours has copies of the files, over these."""
        if self.is_of_files:
            return [tuple(row) for row in self.spark.sql(text).collect()]
        self.environment.use_catalog("default_catalog")
        with self.environment.execute_sql(text).collect() as rows:
            return [tuple(row) for row in rows]

    def measure(self, number: int, text: str, reference: str, pairs: int) -> Measured:
        """Run a query in pairs, after one run of each that is not counted."""
        if self.plans:
            self.write_plans(number, text, reference)
        try:
            problem = difference(self.ours(text), self.theirs(reference))
        except Exception as error:  # noqa: BLE001 - reported in the table
            return Measured(number, (), (), f"{type(error).__name__}: {error}".split("\n")[0])
        ours: list[float] = []
        theirs: list[float] = []
        for pair in range(pairs):
            for item in (0, 1) if pair % 2 else (1, 0):
                run, sql, times = ((self.ours, text, ours), (self.theirs, reference, theirs))[item]
                times.append(timed(partial(run, sql), self.spark))
        return Measured(number, tuple(ours), tuple(theirs), problem)

    def write_plans(self, number: int, text: str, reference: str) -> None:
        """Write both plans for comparison."""
        assert self.plans
        self.plans.mkdir(parents=True, exist_ok=True)
        plans = (("ours", self.our_plan, text), ("theirs", self.their_plan, reference))
        for kind, plan, sql in plans:
            with contextlib.suppress(Exception):
                (self.plans / f"{number:02}-{kind}.txt").write_text(plan(sql))

    def our_plan(self, text: str) -> str:
        """Return our plan of a query."""
        (row,) = self.environment.execute_sql(f"EXPLAIN {text}").collect()
        return str(row[0])

    def their_plan(self, text: str) -> str:
        """Return plain Spark's plan of a query."""
        return str(self.spark.sql(text)._jdf.queryExecution().toString())


def report(measured: Sequence[Measured]) -> Iterator[str]:
    """Yield the lines of the table in Markdown."""
    yield "| query | schema_core | Spark | ratio | of the shortest | rows |"
    yield "|---:|---:|---:|---:|---:|---|"
    for item in measured:
        ours, theirs = (median(times) if times else math.nan for times in (item.ours, item.theirs))
        times = f"{ours:.2f} s | {theirs:.2f} s | {item.ratio:.2f} | {item.shortest:.2f}"
        yield f"| {item.number} | {times} | {item.problem or 'equal'} |"
    ran = [item for item in measured if item.ours]
    if ran:
        ours, theirs = (
            sum(median(item.ours) for item in ran),
            sum(median(item.theirs) for item in ran),
        )
        above = [
            f"{item.number} ({item.ratio:.2f}, {item.shortest:.2f})"
            for item in ran
            if item.ratio > 1.10
        ]
        mean = math.exp(sum(math.log(max(item.ratio, 0.01)) for item in ran) / len(ran))
        equal = sum(not item.problem for item in measured)
        yield f"\n{len(ran)} of {len(measured)} run, {equal} with equal rows; total {ours:.1f} s"
        yield f"against {theirs:.1f} s: {ours / theirs:.3f}; geometric mean {mean:.3f};"
        yield f"above 1.10: {', '.join(above) or 'none'}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure one of both benchmarks."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("benchmark", choices=sorted(GENERATORS))
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--data", type=Path, default=Path(".bench-data"))
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--queries", default="", help="numbers, all unless given")
    parser.add_argument("--format", choices=("parquet", "iceberg", "delta"), default="parquet")
    parser.add_argument("--plans", type=Path, help="directory to write the plans of both to")
    parser.add_argument("--times", type=Path, help="file of JSON lines to add all times to")
    options = parser.parse_args(arguments)
    directory = options.data.absolute() / f"{options.benchmark}-{options.scale:g}"
    tables = generate(options.benchmark, options.scale, directory)
    numbers = set(map(int, filter(None, options.queries.split(","))))
    chosen = {
        number: text
        for number, text in queries(options.benchmark).items()
        if not numbers or number in numbers
    }
    read = [table for table in tables if any(table.name in text for text in chosen.values())]
    benchmark = Benchmark(read, options.plans, options.format)
    measured = []
    for number, text in chosen.items():
        begin = time.monotonic()
        reference = changed(text, REFERENCE.get((options.benchmark, number), ()))
        measured.append(benchmark.measure(number, text, reference, options.pairs))
        seconds = time.monotonic() - begin
        one = measured[-1]
        if options.times:
            with options.times.open("a") as lines:
                print(json.dumps(asdict(one)), file=lines)
        print(f"{number}: {one.ratio:.2f} {one.problem} ({seconds:.0f} s)", file=sys.stderr)
    print("\n".join(report(measured)))


if __name__ == "__main__":
    main()
