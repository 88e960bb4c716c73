"""ARRAY and ROW in csv files are read and written as Flink 2.3.0 does, or refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import SchemaCoreError
from schema_core.types import Row
from tests.spark.recorded_scripts import recorded_value
from tests.spark.test_query_results import environment_of
from tests.support import CASES

RECORDED = [
    json.loads(line)
    for line in (CASES / "csv_collections.jsonl").read_text(encoding="utf-8").splitlines()
]


#: Files that differ from Flink's, and why.
DIFFERENT = {
    "csv-rownull": "a NULL row is written as an empty field, since Flink does not read the literal",
}
#: What messages say of values that are not written, since they would be read back as others.
EXACT = ("would be read back", "a part of it contains")


def plain(found: Any) -> Any:
    """Return a value with rows as tuples."""
    if isinstance(found, list):
        return [plain(item) for item in found]
    return tuple(map(plain, found)) if isinstance(found, Row | tuple) else found


def refused(environment: TableEnvironment, insert: str) -> str | None:
    """Run an INSERT; return its error, if any."""
    try:
        environment.execute_sql(insert).wait()
    except SchemaCoreError as error:
        return str(error)
    return None


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case["id"], marks=[] if place % 5 == 0 else [pytest.mark.slow])
        for place, case in enumerate(RECORDED)
        if case["id"] not in DIFFERENT
    ],
)
def test_recorded_files(session: Any, tmp_path: Path, case: dict[str, Any]) -> None:
    environment = environment_of(session)
    directory = tmp_path / "rows"
    environment.execute_sql(case["create"].replace("{path}", str(directory)))
    if "insert" in case:
        refusal = refused(environment, case["insert"])
        if refusal is not None:
            # Flink writes values that it reads back as others
            assert "insert_error" in case or any(mark in refusal for mark in EXACT)
            return
        assert "insert_error" not in case
        lines = [line.rstrip("\n") for file in directory.glob("part-*") for line in file.open()]
        assert sorted(case["lines"]) == sorted(lines)
    else:
        directory.mkdir()
        (directory / "f.csv").write_text(case["text"])
    if "error" in case:
        with pytest.raises(SchemaCoreError):
            list(environment.execute_sql("SELECT * FROM t").collect())
        return
    result = environment.execute_sql("SELECT * FROM t")
    types = [column.data_type for column in result.get_resolved_schema().columns]
    with result.collect() as rows:
        found = sorted((plain(tuple(row)) for row in rows), key=repr)
    expected = [plain(tuple(map(recorded_value, row, types))) for row in case["rows"]]
    assert sorted(expected, key=repr) == found
