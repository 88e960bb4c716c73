"""INSERT casts the values of a query to the columns of the table as Flink 2.3.0 did."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from schema_core.types import ArrayType, DataType, DataTypes, RowType
from tests.spark.test_query_results import environment_of, row_of, value

#: The rows of the query, then for each column the rows of the table, as Java prints them.
TABLE, *CASES = [
    json.loads(line)
    for line in (Path(__file__).parent.parent / "cases" / "insert_casts.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]
TYPES = {name: DataTypes.of(text) for name, text in TABLE["columns"].items()}


def read(recorded: Any, type_: DataType) -> Any:
    """Return a recorded value, which may be nested, as Python's."""
    match type_:
        case ArrayType() if recorded is not None:
            return [read(item, type_.element_type) for item in recorded]
        case RowType() if recorded is not None:
            pairs = zip(recorded, type_.fields, strict=True)
            return tuple(read(item, field.data_type) for item, field in pairs)
        case _:
            return value(recorded, type_)


@pytest.mark.parametrize("lengths", ["IGNORE", "ERROR"])
def test_values_are_cast_to_the_columns(session: Any, tmp_path: Path, lengths: str) -> None:
    cases = [case for case in CASES if case["lengths"] == lengths]
    environment = environment_of(session)
    rows = [tuple(map(read, row, TYPES.values())) for row in TABLE["rows"]]
    schema = DataTypes.ROW([DataTypes.FIELD(name, type_) for name, type_ in TYPES.items()])
    environment.create_temporary_view("S", environment.from_elements(rows, schema))
    columns = ", ".join(f"x{place} {case['type']}" for place, case in enumerate(cases))
    environment.execute_sql(f"SET 'table.exec.sink.type-length-enforcer' = '{lengths}'")
    environment.execute_sql(
        f"CREATE TEMPORARY TABLE t (k INT, {columns}) WITH ('connector' = 'filesystem',"
        f" 'format' = 'json', 'path' = '{tmp_path / 'rows'}')"
    )
    values = ", ".join(case["value"] for case in cases)
    environment.execute_sql(f"INSERT INTO t SELECT k, {values} FROM S").wait()
    result = environment.execute_sql("SELECT * FROM t")
    types = [column.data_type for column in result.get_resolved_schema().columns]
    rows_ = [tuple(row) for row in result.collect()]

    for place, case in enumerate(cases, 1):
        pairs = [row_of((row[0], row[place]), (types[0], types[place])) for row in rows_]
        assert sorted(pairs) == case["rows"], (case["value"], case["type"])
