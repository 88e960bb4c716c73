"""Tables of Iceberg and Delta are read and written alike, and as files of the file system are."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet as pq

from schema_core.connectors.open_tables.connector import OpenTableConnector
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.result import TableResult
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import SchemaCoreError

#: Runs a statement; returns the sorted rows of a query.
Run = Callable[[str], list[tuple[Any, ...]]]
FORMATS = ("iceberg", "delta")
#: Predicate of floats -> the rows of files whose bounds and dictionaries lack NaN or 0.
FLOATS = {
    "f <> 1": (1, 3), "g = 0": (3,), "f >= 0": (2, 3), "r.x = 1 AND r.f <> 1": (1, 3),
}  # fmt: skip


@pytest.fixture
def run(environment: TableEnvironment, tmp_path: Path) -> Run:
    """Return what runs statements, with a catalog of each format."""

    def execute(sql: str) -> list[tuple[Any, ...]]:
        result = environment.execute_sql(sql)
        if sql.startswith("SELECT"):
            with result.collect() as rows:
                return sorted(tuple(row) for row in rows)
        result.wait()
        return []

    for name in FORMATS:
        execute(
            f"CREATE CATALOG {name} WITH ('type' = '{name}', 'warehouse' = '{tmp_path}/{name}')"
        )
    return execute


def test_predicates_of_floats_lose_no_rows(run: Run, tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    for number, values in enumerate(((math.nan, 1.0), (-0.0, None))):
        columns = {
            "f": pa.array(values, pa.float64()),
            "g": pa.array(values, pa.float32()),
            "r": pa.array([{"f": value, "x": 1} for value in values]),
            "v": pa.array((2 * number + 1, 2 * number + 2), pa.int32()),
        }
        pq.write_table(pa.table(columns), str(tmp_path / "files" / f"{number}.parquet"))
    columns_of_tables = "(f DOUBLE, g FLOAT, r ROW<f DOUBLE, x BIGINT>, v INT)"
    run(
        f"CREATE TABLE files {columns_of_tables} WITH ('connector' = 'filesystem', "
        f"'format' = 'parquet', 'path' = '{tmp_path}/files')"
    )
    names = ["files"]
    for form in FORMATS:
        names.append(f"{form}.`default`.t")
        run(f"CREATE TABLE {names[-1]} {columns_of_tables}")
        run(f"INSERT INTO {names[-1]} SELECT * FROM files WHERE v < 3")
        run(f"INSERT INTO {names[-1]} SELECT * FROM files WHERE v > 2")

    rows = run(
        " UNION ALL ".join(
            f"SELECT '{name}' AS t, '{predicate}' AS p, v FROM {name} WHERE {predicate}"
            for name in names
            for predicate in FLOATS
        )
    )

    assert rows == sorted(
        (name, predicate, row)
        for name in names
        for predicate, expected in FLOATS.items()
        for row in expected
    )


@pytest.mark.parametrize("form", FORMATS)
def test_overwriting_keeps_partitions_without_new_rows(run: Run, form: str) -> None:
    """They are emptied only by a PARTITION clause with a value for every key."""
    run(f"USE CATALOG {form}")
    run("CREATE TABLE t (a INT, b INT, v INT) PARTITIONED BY (a, b)")
    run("INSERT INTO t VALUES (1, 1, 1), (1, 2, 2), (2, 1, 3)")
    run("INSERT OVERWRITE t PARTITION (a = 1) SELECT 1, 99")
    assert [(1, 1, 99), (1, 2, 2), (2, 1, 3)] == run("SELECT * FROM t")
    run("INSERT OVERWRITE t PARTITION (a = 2) SELECT b, v FROM t WHERE v > 100")
    assert [(1, 1, 99), (1, 2, 2), (2, 1, 3)] == run("SELECT * FROM t")

    run("INSERT OVERWRITE t PARTITION (a = 2, b = 1) SELECT v FROM t WHERE v > 100")

    assert [(1, 1, 99), (1, 2, 2)] == run("SELECT * FROM t")


@pytest.mark.parametrize("form", FORMATS)
def test_columns_without_null_are_not_checked(
    run: Run, environment: TableEnvironment, form: str
) -> None:
    """So Spark evaluates filters of them in its readers of files."""
    run(f"USE CATALOG {form}")
    run("CREATE TABLE t (a INT NOT NULL, b INT)")
    run("INSERT INTO t VALUES (1, 2), (3, CAST(NULL AS INT))")
    plan = environment.explain_sql("SELECT b FROM t WHERE a > 1")
    assert "GreaterThan(a,1)" in plan
    assert "raise_error" not in plan


@pytest.mark.parametrize("form", FORMATS)
def test_the_last_row_of_a_key_is_stored(run: Run, form: str) -> None:
    run(f"USE CATALOG {form}")
    run("CREATE TABLE t (v INT, id INT, m MAP<STRING, INT>, PRIMARY KEY (id) NOT ENFORCED)")
    values = "(VALUES (8, 2, MAP['a', 7]), (8, 2, MAP['a', 8])) AS s (v, id, m)"
    run(f"INSERT OVERWRITE t SELECT * FROM {values}")
    run(f"CREATE TABLE u (PRIMARY KEY (id) NOT ENFORCED) AS SELECT * FROM {values}")
    assert [(8, 2, 8)] == run("SELECT v, id, m['a'] FROM t") == run("SELECT v, id, m['a'] FROM u")
    with pytest.raises(SchemaCoreError) as caught:
        run("UPDATE t SET id = 1 WHERE v = 8")
    assert "unsupported-ability" == caught.value.code
    rows = ", ".join(f"({9 - n}, {n % 3}, MAP['a', {n}])" for n in range(9))

    run(f"INSERT INTO t VALUES {rows} ON CONFLICT DO DEDUPLICATE")

    assert [(1, 2, 8), (2, 1, 7), (3, 0, 6)] == run("SELECT v, id, m['a'] FROM t")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "options"),
    [
        ("iceberg", "'streaming' = 'true', 'monitor-interval' = '1 s'"),
        ("delta", "'mode' = 'streaming', 'updateCheckIntervalMillis' = '1000'"),
    ],
)
def test_a_stream_reads_each_appended_row_once(
    run: Run, environment: TableEnvironment, tmp_path: Path, form: str, options: str
) -> None:
    """Another job continues where the first one was canceled; a removal of rows fails it."""
    table = f"{form}.`default`.t"
    run(f"CREATE TABLE {table} (id INT, k STRING)")
    run(f"INSERT INTO {table} VALUES (1, 'a'), (2, 'b')")
    sink = (
        "CREATE TABLE copied (id INT, k STRING) WITH ('connector' = 'filesystem', "
        f"'format' = 'json', 'path' = '{tmp_path}/copied')"
    )
    run(sink)
    (tmp_path / "copied").mkdir()

    def start() -> TableResult:
        stream = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        stream.execute_sql(f"SET 'execution.checkpointing.dir' = '{tmp_path}/checkpoints'")
        stream.execute_sql(
            f"CREATE CATALOG {form} WITH ('type' = '{form}', 'warehouse' = '{tmp_path}/{form}')"
        )
        stream.execute_sql(sink)
        hint = f"/*+ OPTIONS({options}) */"
        return stream.execute_sql(f"INSERT INTO copied SELECT * FROM {table} {hint}")

    expected = [(1, "a"), (2, "b")]
    for number in (3, 4):
        job = start()
        run(f"INSERT INTO {table} VALUES ({number}, 'c')")
        expected.append((number, "c"))
        until(lambda: run("SELECT * FROM copied") == expected)
        client = job.get_job_client()
        assert client is not None
        client.cancel().result()
    run(f"DELETE FROM {table} WHERE id = 1")
    with pytest.raises(SchemaCoreError) as caught:
        start().wait(120_000)
    assert "removes rows" in caught.value.problem
    assert expected == run("SELECT * FROM copied")


def until(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.5)


#: Queries of aggregates -> whether the statistics of Iceberg's and Delta's files have them.
AGGREGATES = {
    "COUNT(*), COUNT(1), COUNT(i), COUNT(s), COUNT(f)": (True, True),
    "MIN(i), MAX(i), MIN(b), MAX(b), MIN(d), MAX(d), COUNT(e), MIN(e)": (True, True),
    "MIN(p), MAX(p), MIN(t), MAX(t), MIN(z), MAX(z)": (True, False),
    "MAX(k), COUNT(k)": (True, True),
    "MIN(s)": (False, False),
    "MAX(f)": (False, False),
    "MAX(w)": (False, False),
    "COUNT(r)": (False, False),
    "SUM(i)": (False, False),
    "COUNT(*) FROM t WHERE i > 1": (False, False),
    "k, COUNT(*) FROM t GROUP BY k": (False, False),
}


@pytest.mark.parametrize("form", FORMATS)
def test_statistics_of_files_are_aggregates(
    run: Run, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(f"USE CATALOG {form}")
    run(
        "CREATE TABLE t (i INT, b BIGINT, d DATE, p DECIMAL(9, 2), t TIMESTAMP(6),"
        " z TIMESTAMP_LTZ(6), s STRING, f DOUBLE, e BIGINT, w DECIMAL(20, 0), r ROW<x INT>,"
        " k INT) PARTITIONED BY (k)"
    )
    run(
        "INSERT INTO t VALUES (1, 9223372036854775807, DATE '2020-01-02', -1.25,"
        " TIMESTAMP '1969-12-31 23:59:59.999999', TO_TIMESTAMP_LTZ(1500, 3), 'a', 1.5,"
        " CAST(NULL AS BIGINT), 3, ROW(1), 1), (CAST(NULL AS INT), -5, DATE '0001-01-01', 2.5,"
        " TIMESTAMP '2020-01-01 00:00:00.000001', TO_TIMESTAMP_LTZ(1501, 3), 'b', 2,"
        " CAST(NULL AS BIGINT), 4, ROW(2), 2), (-7, 0, DATE '9999-12-31', 0,"
        " CAST(NULL AS TIMESTAMP(6)), CAST(NULL AS TIMESTAMP_LTZ(6)), CAST(NULL AS STRING), 0,"
        " CAST(NULL AS BIGINT), 5, ROW(3), 1)"
    )
    apply, accepted = OpenTableConnector.apply_aggregates, list[bool]()

    def record(*arguments: Any) -> bool:
        accepted.append(apply(*arguments))
        return accepted[-1]

    for query, expected in AGGREGATES.items():
        accepted.clear()
        statement = f"SELECT {query}" if "FROM" in query else f"SELECT {query} FROM t"
        monkeypatch.setattr(OpenTableConnector, "apply_aggregates", record)
        pushed = run(statement)
        monkeypatch.setattr(OpenTableConnector, "apply_aggregates", lambda *_: False)

        assert (run(statement), expected[FORMATS.index(form)]) == (pushed, any(accepted)), query
    monkeypatch.setattr(OpenTableConnector, "apply_aggregates", apply)
    count = "SELECT COUNT(*), MAX(b) FROM t"
    run("DELETE FROM t WHERE b = 9223372036854775807")
    assert [(2, 0)] == run(count)
    run("DELETE FROM t")
    assert [(0, None)] == run(count)
    key = {"iceberg": "partition-by", "delta": "delta.appendOnly"}[form]
    with pytest.raises(SchemaCoreError) as caught:
        run(f"SELECT i FROM t /*+ OPTIONS('{key}' = 'true') */")
    assert "invalid-hint" == caught.value.code
