"""Files that Flink 2.3.0 wrote are read as by Flink: see fuzz/oracle/files.py."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from fuzz.oracle.files import create
from properties.answers.values import canonical
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import SchemaCoreError
from tests.spark.recorded_changes import plain
from tests.support import CASES

RECORDED = [
    json.loads(line)
    for line in (CASES / "flink_files.jsonl").read_text(encoding="utf-8").split("\n")
    if line
]
#: One of so many files is read by the fast tests.
DRAWN = 10
#: Format and first word of the type -> why Spark does not read the file: it is refused.
REFUSED = {
    ("parquet", "TIME"): "Spark reads only times of microseconds",
    ("orc", "TIMESTAMP"): "ORC does not say that a timestamp is without a time zone",
    ("orc", "ARRAY<ROW<t TIMESTAMP"): "as above",
}


def is_refused(case: dict[str, Any]) -> bool:
    return any(
        case["format"] == form and case["type"].startswith(f"{start}(") for form, start in REFUSED
    )


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(
            case,
            id=f"{case['format']} {case['type']} {place}",
            marks=[pytest.mark.slow] if place % DRAWN else [],
        )
        for place, case in enumerate(case for case in RECORDED if "rows" in case)
    ],
)
def test_files_of_flink_are_read(
    environment: TableEnvironment, tmp_path: Path, case: dict[str, Any]
) -> None:
    for number, content in enumerate(case["files"]):
        (tmp_path / f"part-{number}").write_bytes(base64.b64decode(content))
    environment.execute_sql("SET 'table.local-time-zone' = 'UTC'")
    environment.execute_sql(create(case["type"], case["format"], tmp_path))

    def read() -> list[list[Any]]:
        result = environment.execute_sql("SELECT * FROM t")
        (column,) = result.get_resolved_schema().columns
        with result.collect() as rows:
            return [[canonical(plain(row[0]), column.data_type)] for row in rows]

    if is_refused(case):
        with pytest.raises(SchemaCoreError):
            read()
        return
    expected = case["rows"]
    if case["type"] == "TIMESTAMP(9)":  # of which tables have microseconds
        with environment.execute_sql("SELECT CAST(v AS STRING) FROM t").collect() as rows:
            texts = [row[0] for row in rows]
        assert sorted(map(str, texts)) == sorted(
            str(text and f"{text[:-3]}000") for (text,) in expected
        )
        return
    is_equal = sorted(read(), key=json.dumps) == sorted(expected, key=json.dumps)
    # Spark reads dates of ORC before 1582 by the Julian calendar, which Flink does not write
    is_julian = case["format"] == "orc" and "'0001" in case["value"]
    assert is_equal is not is_julian
