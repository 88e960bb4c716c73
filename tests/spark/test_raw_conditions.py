"""Comparisons of timestamps with fewer digits than the file holds reach its reader."""

from __future__ import annotations

import datetime as dt
import operator
import random
import re
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import ExternalError
from schema_core.expressions.comparisons import MIRRORED

START = dt.datetime.fromisoformat("2024-01-01")
#: Microseconds after `START`.
OFFSETS = (0, 1, 500, 999, 1000, 1001, 1500, 1999, 2000, 10_000, 999_999, 1_000_000, 1_000_001)
EDGES = (
    dt.datetime.fromisoformat("0001-01-01"),
    dt.datetime.fromisoformat("1969-12-31 23:59:59.999500"),
    dt.datetime.fromisoformat("9999-12-31 23:59:59.999999"),
)
VALUES = (*(START + dt.timedelta(microseconds=offset) for offset in OFFSETS), *EDGES)
OPERATORS: dict[str, Any] = {
    "=": operator.eq, "<>": operator.ne, "<": operator.lt,
    "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def truncated(value: dt.datetime, precision: int) -> dt.datetime:
    return value.replace(microsecond=value.microsecond - value.microsecond % 10 ** (6 - precision))


def literal(value: dt.datetime) -> str:
    return f"TIMESTAMP '{value.isoformat(' ')}'"


def table(
    environment: TableEnvironment, folder: Path, type_: str, values: list[Any], unit: str = "us"
) -> None:
    """Create a table `t` of a file with an INT `a` and a timestamp `ts`."""
    columns = {
        "a": pa.array(range(len(values)), pa.int32()),
        "ts": pa.array(values, pa.timestamp(unit)),
    }
    folder.mkdir()
    pq.write_table(pa.table(columns), str(folder / "file.parquet"))
    environment.execute_sql(
        f"CREATE TABLE t (a INT, ts {type_}) "
        f"WITH ('connector' = 'filesystem', 'format' = 'parquet', 'path' = '{folder}')"
    )


def pushed(environment: TableEnvironment, predicate: str) -> str:
    """What the reader of files gets of a predicate, without the numbers of columns."""
    plan = environment.explain_sql(f"SELECT a FROM t WHERE {predicate}")
    [result] = re.findall(r"PushedFilters: \[(.*?)\](?:, \w+:|$)", plan, re.MULTILINE)[-1:]
    return str(result)


@pytest.mark.parametrize("precision", [0, 3, 5])
def test_pushed_comparisons_select_the_rows_that_the_query_does(
    environment: TableEnvironment, tmp_path: Path, precision: int
) -> None:
    table(environment, tmp_path / "t", f"TIMESTAMP({precision})", [*VALUES, None])
    chosen = random.Random(precision).sample(list(product(OPERATORS, VALUES)), 14)
    conditions: list[tuple[str, Callable[[dt.datetime], bool]]] = [
        (f"ts {name} {literal(value)}", partial(OPERATORS[MIRRORED[name]], value))
        for name, value in chosen
    ]
    low, high = VALUES[2], VALUES[6]
    conditions += [
        (f"ts BETWEEN {literal(low)} AND {literal(high)}", lambda item: low <= item <= high),
        (f"ts IN ({literal(low)}, {literal(START)})", lambda item: item in (low, START)),
        (f"{literal(high)} > ts", lambda item: item < high),
    ]
    query = " UNION ALL ".join(
        f"SELECT {number} AS n, a FROM t WHERE {sql}" for number, (sql, _) in enumerate(conditions)
    )
    rows = sorted(tuple(item) for item in environment.execute_sql(query).collect())
    assert rows == [
        (number, place)
        for number, (_, holds) in enumerate(conditions)
        for place, value in enumerate(VALUES)
        if holds(truncated(value, precision))
    ]


def test_a_comparison_reaches_the_reader_as_a_bound_of_the_values_in_the_file(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    table(environment, tmp_path / "t", "TIMESTAMP(3)", [START, START])
    bound = "ts >= TIMESTAMP '2024-01-01 00:00:00.0015'"
    expected = "IsNotNull(ts), GreaterThanOrEqual(ts,2024-01-01T00:00:00.002)"
    assert pushed(environment, bound) == expected
    assert pushed(environment, bound) == expected  # the frame is kept from the first query
    assert pushed(environment, "ts < TIMESTAMP '2024-01-02 00:00:00'") == (
        "IsNotNull(ts), LessThan(ts,2024-01-02T00:00)"
    )


def test_a_file_of_milliseconds_is_not_truncated(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    value = START + dt.timedelta(milliseconds=1)
    table(environment, tmp_path / "t", "TIMESTAMP(3)", [value], "ms")
    assert pushed(environment, f"ts = {literal(value)}") == (
        "IsNotNull(ts), EqualTo(ts,2024-01-01T00:00:00.001)"
    )
    assert [tuple(item) for item in environment.execute_sql("SELECT ts FROM t").collect()] == [
        (value,)
    ]
    other = {"a": pa.array([1], pa.int32()), "ts": pa.array([VALUES[1]], pa.timestamp("us"))}
    pq.write_table(pa.table(other), str(tmp_path / "t" / "other.parquet"))
    rows = sorted(tuple(item) for item in environment.execute_sql("SELECT ts FROM t").collect())
    assert rows == [(START,), (value,)]


def test_a_bound_does_not_hide_a_forbidden_null(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    table(environment, tmp_path / "t", "TIMESTAMP(3) NOT NULL", [START, None])
    with pytest.raises(ExternalError, match="'ts' is NOT NULL but received NULL"):
        list(environment.execute_sql(f"SELECT a FROM t WHERE ts > {literal(START)}").collect())


def test_a_column_may_have_the_name_of_a_raw_column(
    environment: TableEnvironment, tmp_path: Path
) -> None:
    (tmp_path / "t").mkdir()
    values = [START, VALUES[3]]
    columns = {"ts": pa.array(values, pa.timestamp("us")), "$raw$ts": pa.array([1, 2], pa.int32())}
    pq.write_table(pa.table(columns), str(tmp_path / "t" / "file.parquet"))
    environment.execute_sql(
        "CREATE TABLE t (ts TIMESTAMP(3), `$raw$ts` INT) WITH ('connector' = 'filesystem', "
        f"'format' = 'parquet', 'path' = '{tmp_path}/t')"
    )
    query = f"SELECT * FROM t WHERE ts <= {literal(START)}"
    rows = sorted(tuple(item) for item in environment.execute_sql(query).collect())
    assert rows == [(START, 1), (START, 2)]
