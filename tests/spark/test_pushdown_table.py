"""Predicates that reach files, and partitions that are pruned, as in the query written for Spark.

Only plans are compared. `PUSHED` lists what Spark's readers of each format may be given: fields of
csv and json files whose type is not in it are converted by the rules of Flink's formats.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet
import pytest

from schema_core.environment.table_environment import TableEnvironment

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILES = (
    "i INT, n BIGINT NOT NULL, s STRING, f DOUBLE, m DECIMAL(10, 2), d DATE, b BOOLEAN, "
    "t TIMESTAMP(6)"
)
KEYS = "p INT, q STRING, r DECIMAL(5, 2), u DATE, v TIMESTAMP(3), w DOUBLE, x VARCHAR(5), y TIME(0)"
DIRECTORY = "p=1/q=a b/r=1.50/u=2024-02-29/v=2024-02-29 10%3A00%3A00/w=1.5/x=é/y=10%3A00%3A00"

#: Predicate -> the column of the files that it reads, if any.
PREDICATES: dict[str, str] = {
    "i = 5": "i",
    "i > 5 AND i <= 10": "i",
    "i IN (1, 2, 3)": "i",
    "i IS NULL": "i",
    "i IS NOT NULL": "i",
    "i BETWEEN 2 AND 4": "i",
    "i = 1 OR i = 2": "i",
    "n > 5": "n",
    "n <> 5": "n",
    "5 < n": "n",
    "n >= 1 AND i < 3": "n",
    "s = 'x'": "s",
    "s LIKE 'x%'": "s",
    "s >= 'x'": "s",
    "s IN ('x', 'y')": "s",
    "m = 1.50": "m",
    "d = DATE '2024-01-05'": "d",
    "d > DATE '2024-01-05'": "d",
    "t = TIMESTAMP '2024-01-05 10:00:00'": "t",
    "b": "b",
    "NOT b": "b",
    "p = 1": "",
    "p > 5": "",
    "p IN (1, 2)": "",
    "q = 'a b'": "",
    "r > 1.25": "",
    "u = DATE '2024-02-29'": "",
    "v = TIMESTAMP '2024-02-29 10:00:00'": "",
    "x = 'é'": "",
    "p = 1 AND i = 5": "i",
    "w IS NOT NULL": "",
    "y IS NOT NULL": "",
}

#: Format -> the columns whose predicates its reader gets.
PUSHED = {"parquet": "insmdtb", "orc": "insmdb", "csv": "ins", "json": "s"}


@pytest.fixture(scope="module", params=PUSHED)
def form(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Path]:
    """A format and a directory with one file of it, which Python writes."""
    name = request.param
    root = tmp_path_factory.mktemp(name)
    folder = root.joinpath(*DIRECTORY.split("/"))
    folder.mkdir(parents=True)
    path = str(folder / "file")
    at = "2024-01-05 10:00:00"
    if name == "csv":
        Path(path).write_text(f"5,6,x,1.5,1.50,2024-01-05,true,{at}\n", encoding="utf-8")
    elif name == "json":
        fields = f'"s": "x", "f": 1.5, "m": 1.50, "d": "2024-01-05", "t": "{at}", "b": true'
        Path(path).write_text(f'{{"i": 5, "n": 6, {fields}}}\n', encoding="utf-8")
    else:
        types = {"i": pa.int32(), "n": pa.int64(), "s": pa.string(), "f": pa.float64()}
        types |= {"m": pa.decimal128(10, 2), "d": pa.date32(), "b": pa.bool_()}
        if name == "parquet":  # the writer of orc files has no timestamp without a zone
            types["t"] = pa.timestamp("us")
        columns = pa.schema([pa.field(data_type, type_) for data_type, type_ in types.items()])
        table = pa.table([pa.nulls(0, data_type) for data_type in types.values()], schema=columns)
        (pa.parquet if name == "parquet" else pa.orc).write_table(table, path)
    return name, root


def filters(plan: str, label: str) -> set[str]:
    """The filters of a scan, without the numbers of Spark's columns and conversions of literals."""
    [line] = re.findall(r"FileScan .*", plan.rpartition("== Physical Plan ==")[2])
    match = re.search(rf"{label}: \[(.*?)\](?:, \w+:|$)", line)
    assert match is not None, line
    text = re.sub(r"#\d+", "", match[1])
    parts = re.split(r", (?=[A-Z(]|isnotnull|isnull)", text)
    return {_as_in(part) for part in parts} - {""}


def _as_in(text: str) -> str:
    """A disjunction of equalities of one column as an IN list, which Spark pushes down alike."""
    matches = re.findall(r"EqualTo\((\w+),([^()]*)\)", text)
    rest = re.sub(r"EqualTo\(\w+,[^()]*\)", "", text)
    if not text.startswith("Or(") or set(rest) - set("Or(),") or len(dict(matches)) > 1:
        return text
    return f"In({matches[0][0]}, [{','.join(value for _, value in matches)}])"


def test_predicates_are_pushed_and_partitions_pruned_as_in_spark(
    environment: TableEnvironment, session: SparkSession, form: tuple[str, Path]
) -> None:
    name, root = form
    files = FILES.replace(", t TIMESTAMP(6)", "") if name == "orc" else FILES
    session.conf.set("spark.sql.maxMetadataStringLength", "10000")
    environment.execute_sql(
        f"CREATE TABLE t ({files}, {KEYS}) PARTITIONED BY (p, q, r, u, v, w, x, y) "
        f"WITH ('connector' = 'filesystem', 'path' = '{root}', 'format' = '{name}')"
    )
    schema = f"{files}, {KEYS}".replace("TIMESTAMP(6)", "TIMESTAMP_NTZ")
    schema = schema.replace("TIMESTAMP(3)", "TIMESTAMP_NTZ").replace("VARCHAR(5)", "STRING")
    by_hand = session.read.format(name).schema(schema).load(str(root))
    for predicate, column in PREDICATES.items():
        if column == "t" and name == "orc":
            continue
        ours = environment.explain_sql(f"SELECT f FROM t WHERE {predicate}")
        theirs = str(by_hand.where(predicate).select("f")._jdf.queryExecution().toString())
        expected: Any = filters(theirs, "PushedFilters")
        if column in PUSHED[name]:
            assert expected == filters(ours, "PushedFilters"), predicate
        else:
            assert filters(ours, "PushedFilters") <= expected, predicate
        keys = filters(theirs, "PartitionFilters")
        assert len(keys) <= len(filters(ours, "PartitionFilters")), predicate
        assert bool(keys) == bool(filters(ours, "PartitionFilters")), predicate
    session.conf.unset("spark.sql.maxMetadataStringLength")
