"""Functions of collections of every kind of element: Flink's results, or a refusal before the job.

The cases were recorded from Flink 2.3. Spark neither compares maps nor rows whose fields have other
names, so many functions are rewritten; no such query may fail in Spark's analyser.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import SchemaCoreError
from tests.spark.test_query_results import environment_of, printed

pytestmark = pytest.mark.spark

#: A source with the columns x, y and z -> the results of expressions, and what is refused.
CASES = [
    json.loads(line)
    for line in (Path(__file__).parent.parent / "cases" / "collections_of_types.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]
AGGREGATE = re.compile(r"(COUNT|COLLECT|ARRAY_AGG|MAX|MIN|FIRST_VALUE|LAST_VALUE)\(")


@pytest.fixture(scope="module")
def environment(session: Any) -> TableEnvironment:
    return environment_of(session)


def results(environment: TableEnvironment, expressions: list[str], source: str) -> dict[str, str]:
    """Return the results of expressions in the only row of a source, as Java prints them."""
    items = ", ".join(f"{expression} AS c{place}" for place, expression in enumerate(expressions))
    result = environment.execute_sql(f"SELECT {items} FROM {source}")
    types = [column.data_type for column in result.get_resolved_schema().columns]
    (row,) = result.collect()
    return {
        item: printed(value, type_)
        for item, value, type_ in zip(expressions, row, types, strict=True)
    }


def sorted_entries(text: str) -> str:
    """Return a printed value with the entries of each innermost map in order."""
    return re.sub(r"\{([^{}]*)\}", lambda m: f"{{{', '.join(sorted(m[1].split(', ')))}}}", text)


@pytest.mark.parametrize("case", CASES, ids=[case["source"][:40] for case in CASES])
def test_functions_of_collections(environment: TableEnvironment, case: dict[str, Any]) -> None:
    expected = {value: sorted_entries(text) for value, text in case["results"].items()}
    aggregates = [item for item in expected if AGGREGATE.match(item)]
    others = [item for item in expected if item not in aggregates]

    result = results(environment, others, case["source"])
    if aggregates:
        result |= results(environment, aggregates, case["source"])

    assert {value: sorted_entries(text) for value, text in result.items()} == expected


@pytest.mark.parametrize("case", CASES, ids=[case["source"][:40] for case in CASES])
def test_what_spark_cannot_compare_is_refused_before_the_job(
    environment: TableEnvironment, case: dict[str, Any]
) -> None:
    environment.execute_sql(f"CREATE TEMPORARY VIEW s AS SELECT * FROM {case['source']}")
    codes = {}
    for refused in case["refused"]:
        query = refused if refused.startswith("SELECT") else f"SELECT {refused} AS r FROM s"
        with pytest.raises(SchemaCoreError) as caught:
            environment.execute_sql(query)
        codes[refused] = caught.value.code
    environment.execute_sql("DROP TEMPORARY VIEW s")

    assert codes == dict.fromkeys(case["refused"], "not-executable")
