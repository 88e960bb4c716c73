"""Only the fields of rows that a query uses are read from files."""

from __future__ import annotations

from pathlib import Path

import pytest

from schema_core.environment.table_environment import TableEnvironment
from tests.support import run_in_catalog

#: Type of a catalog -> the options of its tables.
TABLES = {
    "generic_in_memory": "WITH ('connector' = 'filesystem', 'format' = 'parquet', 'path' = '{}/t')",
    "iceberg": "",
    "delta": "",
}


@pytest.mark.parametrize("catalog", TABLES)
def test_fields_of_rows_that_a_query_uses_are_read(
    environment: TableEnvironment, tmp_path: Path, catalog: str
) -> None:
    options = TABLES[catalog].format(tmp_path)
    warehouse = {} if options else {"warehouse": str(tmp_path)}
    run = run_in_catalog(environment, {"type": catalog, **warehouse})
    columns = "i INT, r ROW<a INT, b STRING, c ROW<x BIGINT, y STRING>>"
    run(f"CREATE TABLE t ({columns}) {options}")
    run("INSERT INTO t SELECT 1, ROW(2, 'b', ROW(CAST(3 AS BIGINT), 'y'))")
    query = "SELECT r.c.x FROM t WHERE r.a > 0"

    plan = environment.explain_sql(query)

    assert "ReadSchema: struct<r:struct<a:int,c:struct<x:bigint>>>" in plan
    assert "GreaterThan(r.a,0)" in plan
    assert [(3,)] == run(query)
