"""Queries of tables return the rows that Flink 2.3.0 returned in batch mode."""

from __future__ import annotations

import json
from typing import Any

import pytest

from schema_core.environment.table_environment import TableEnvironment
from schema_core.sql.printer import print_string
from schema_core.types import ArrayType, DataType, DataTypes, MapType, RowType
from tests.spark.test_query_results import environment_of, row_of, value
from tests.spark.test_value_results import sorted_maps
from tests.support import CASES

pytestmark = pytest.mark.spark

#: The tables, then queries of them with Flink's rows, as Java prints them.
TABLES, *QUERIES = map(
    json.loads, (CASES / "table_queries.jsonl").read_text(encoding="utf-8").splitlines()
)
#: One of so many queries is run in the fast suite.
DRAWN = 20


@pytest.fixture(scope="module")
def environment(session: Any, tmp_path_factory: pytest.TempPathFactory) -> TableEnvironment:
    """Return an environment with the tables in files, so that no value is a constant."""
    environment = environment_of(session)
    for name, table in TABLES.items():
        types = {"__idx": "INT NOT NULL", **table["columns"]}
        columns = ", ".join(f"`{column}` {type_}" for column, type_ in types.items())
        place = print_string(str(tmp_path_factory.mktemp("tables") / name))
        options = f"'connector' = 'filesystem', 'format' = 'parquet', 'path' = {place}"
        environment.execute_sql(f"CREATE TEMPORARY TABLE `{name}` ({columns}) WITH ({options})")
        fields = [DataTypes.FIELD(column, DataTypes.of(type_)) for column, type_ in types.items()]
        schema = DataTypes.ROW(fields)
        rows = [(place, *row) for place, row in enumerate(table["rows"])]
        elements = [nested_value(row, schema) for row in rows]
        environment.from_elements(elements, schema).execute_insert(name).wait()
    return environment


def nested_value(recorded: Any, type_: DataType) -> Any:
    """Return a recorded value, whose maps are lists of entries, as Python's."""
    if recorded is None:
        return None
    match type_:
        case ArrayType(element_type=element):
            return [nested_value(item, element) for item in recorded]
        case MapType(key_type=key, value_type=of_values):
            return {nested_value(k, key): nested_value(v, of_values) for k, v in recorded}
        case RowType(fields=fields):
            pairs = zip(recorded, fields, strict=True)
            return tuple(nested_value(item, field.data_type) for item, field in pairs)
        case _:
            return value(recorded, type_)


def require_rows_of_flink(environment: TableEnvironment, case: dict[str, Any]) -> None:
    result = environment.execute_sql(case["sql"])
    types = [column.data_type for column in result.get_resolved_schema().columns]
    rows = [row_of(tuple(row), types) for row in result.collect()]

    assert sorted(map(sorted_maps, rows)) == sorted(map(sorted_maps, case["rows"]))


@pytest.mark.parametrize("case", QUERIES[::DRAWN], ids=[case["sql"] for case in QUERIES[::DRAWN]])
def test_rows_are_those_of_flink(environment: TableEnvironment, case: dict[str, Any]) -> None:
    require_rows_of_flink(environment, case)


#: UNPIVOT of columns that Flink 2.3 does not plan, and an equal query that it does.
UNPIVOTS = {
    "SELECT c, k, v FROM N3 UNPIVOT (v FOR k IN (a AS 'x', b))": (
        "SELECT c, 'x', a FROM N3 WHERE a IS NOT NULL"
        " UNION ALL SELECT c, 'b', b FROM N3 WHERE b IS NOT NULL"
    ),
    "SELECT k, l, v, w FROM N3 UNPIVOT INCLUDE NULLS ((v, w) FOR (k, l) IN ((a, b) AS"
    " (1, DATE '2020-01-01'), (b, a) AS (2.5, NULL), (a, a) AS (1, DATE '2020-01-01')))": (
        "SELECT 1.0, DATE '2020-01-01', a, b FROM N3"
        " UNION ALL SELECT 2.5, CAST(NULL AS DATE), CAST(NULL AS INT), CAST(NULL AS INT) FROM N3"
        " UNION ALL SELECT 1.0, DATE '2020-01-01', a, b FROM N3"
    ),
    "SELECT k, v FROM (SELECT b, a * 1.5 AS m FROM T3) UNPIVOT (v FOR k IN (b, m)) WHERE v > 5": (
        "SELECT * FROM (SELECT 'b', b * 1.0 AS v FROM T3 UNION ALL SELECT 'm', a * 1.5 FROM T3)"
        " WHERE v > 5"
    ),
}


@pytest.mark.parametrize("query", UNPIVOTS)
def test_unpivot_of_other_types(environment: TableEnvironment, query: str) -> None:
    def rows(query: str) -> list[str]:
        return sorted(str(tuple(row)) for row in environment.execute_sql(query).collect())

    assert rows(UNPIVOTS[query]) == rows(query)


@pytest.mark.slow
@pytest.mark.parametrize("case", QUERIES, ids=[case["sql"] for case in QUERIES])
def test_all_rows_are_those_of_flink(environment: TableEnvironment, case: dict[str, Any]) -> None:
    require_rows_of_flink(environment, case)
