"""Queries of bitmaps, nanoseconds and distinct maps return the rows that Flink 2.3.0 returned.

Flink ran each query in batch mode, or in streaming mode where its batch mode fails.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import UnsupportedError
from tests.slow_tests import draw_cases
from tests.spark.test_query_results import environment_of, row_of, words

pytestmark = pytest.mark.usefixtures("one_task")

CASES = [
    json.loads(line)
    for line in (Path(__file__).parent.parent / "cases" / "value_results.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]


@pytest.fixture(scope="module")
def environment(session: Any) -> TableEnvironment:
    return environment_of(session)


def sorted_maps(row: str) -> str:
    """Return a row with the entries of each innermost map in order."""
    return re.sub(r"\{([^{}]*)\}", lambda m: f"{{{', '.join(sorted(m[1].split(', ')))}}}", row)


NAMES = [case["sql"][:80] for case in CASES]


@pytest.mark.parametrize("case", draw_cases(CASES, words), ids=NAMES)
def test_rows_are_those_of_flink(environment: TableEnvironment, case: dict[str, Any]) -> None:
    result = environment.execute_sql(case["sql"])
    types = [column.data_type for column in result.get_resolved_schema().columns]
    rows = [row_of(tuple(row), types) for row in result.collect()]

    assert sorted(map(sorted_maps, rows)) == sorted(map(sorted_maps, case["rows"]))


@pytest.mark.parametrize(
    "query",
    [
        "SELECT b FROM {bitmaps} ORDER BY b",
        "SELECT MAX(b) FROM {bitmaps}",
        "SELECT b < b FROM {bitmaps}",
        "SELECT RANK() OVER (ORDER BY b) FROM {bitmaps}",
        "SELECT CAST(ARRAY[b] AS STRING) FROM {bitmaps}",
    ],
)
def test_bitmaps_have_no_order(environment: TableEnvironment, query: str) -> None:
    bitmaps = "(SELECT BITMAP_BUILD(ARRAY[x]) AS b FROM (VALUES (1), (2)) AS t (x))"

    with pytest.raises(UnsupportedError) as caught:
        environment.execute_sql(query.format(bitmaps=bitmaps))
    assert "not-executable" == caught.value.code


def test_range_does_not_measure_nanoseconds(environment: TableEnvironment) -> None:
    rows = "(VALUES (TIMESTAMP '2024-01-01 00:00:00.123456789')) AS t (a)"
    window = "ORDER BY a RANGE BETWEEN INTERVAL '1' SECOND PRECEDING AND CURRENT ROW"

    with pytest.raises(UnsupportedError, match=r"RANGE that measures TIMESTAMP\(9\)"):
        environment.execute_sql(f"SELECT COUNT(*) OVER ({window}) FROM {rows}")
