"""The rows of views: of queries without SQL, and over tables that were altered later."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from schema_core import DataTypes, Schema, TableDescriptor
from schema_core.errors import ExternalError
from schema_core.expressions import col
from schema_core.expressions.user_functions import udf

if TYPE_CHECKING:
    from schema_core.environment.table_environment import TableEnvironment


def rows(environment: TableEnvironment, query: str) -> list[tuple[object, ...]]:
    return [tuple(row) for row in environment.execute_sql(query).collect()]


def test_a_temporary_view_of_an_inline_function(environment: TableEnvironment) -> None:
    twice = udf(lambda value: 2 * value, [DataTypes.BIGINT()], DataTypes.BIGINT())
    table = environment.from_elements([(1,), (2,)], ["a"])
    environment.create_temporary_view("v", table.select(twice(col("a")).alias("b")))

    assert [(2,), (4,)] == sorted(rows(environment, "SELECT b FROM v"))
    assert [(6,)] == rows(environment, "SELECT SUM(b) FROM (SELECT x.b FROM v AS x)")


def test_a_temporary_view_of_a_descriptor(environment: TableEnvironment, tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "part").write_text("1,x\n2,y\n")
    schema = Schema.new_builder().column("a", "INT").column("b", "STRING").build()
    descriptor = (
        TableDescriptor.for_connector("filesystem")
        .schema(schema)
        .option("path", str(tmp_path / "t"))
        .option("format", "csv")
        .build()
    )
    environment.create_temporary_view("v", environment.from_descriptor(descriptor))
    environment.execute_sql("CREATE TEMPORARY VIEW w AS SELECT b FROM v WHERE a > 1")

    assert [("y",)] == rows(environment, "SELECT * FROM w")


@pytest.fixture
def altered(environment: TableEnvironment, tmp_path: Path) -> TableEnvironment:
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "part").write_text('{"a": 1, "b": 1.5}\n{"a": 2}\n')
    options = f"'connector' = 'filesystem', 'path' = '{tmp_path / 't'}', 'format' = 'json'"
    environment.execute_sql(f"CREATE TABLE t (a INT NOT NULL, b DOUBLE NOT NULL) WITH ({options})")
    environment.execute_sql("CREATE VIEW v AS SELECT a, b FROM t")
    return environment


@pytest.mark.parametrize("type_", ["BIGINT", "STRING", "DECIMAL(10, 2)"])
def test_rows_are_cast_to_the_types_of_the_view(altered: TableEnvironment, type_: str) -> None:
    altered.execute_sql(f"ALTER TABLE t MODIFY a {type_}")
    result = altered.execute_sql("SELECT a FROM v")

    assert DataTypes.INT(nullable=False) == result.get_resolved_schema().columns[0].data_type
    assert [(1,), (2,)] == sorted(tuple(row) for row in result.collect())


def test_null_in_a_column_that_the_view_declares_not_null_fails_the_job(
    altered: TableEnvironment,
) -> None:
    altered.execute_sql("ALTER TABLE t MODIFY b DOUBLE")

    assert [(1,), (2,)] == sorted(rows(altered, "SELECT a FROM v"))
    with pytest.raises(ExternalError, match="column 'b' of the view is NOT NULL"):
        rows(altered, "SELECT b FROM v")


def test_a_view_that_is_read_twice_reads_its_tables_once(environment: TableEnvironment) -> None:
    """As in Flink, which reuses sources: both references have the same random rows."""
    environment.execute_sql(
        "CREATE TABLE t (a BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '5')"
    )
    environment.execute_sql("CREATE VIEW v AS SELECT a FROM t")
    environment.execute_sql("CREATE VIEW w AS SELECT x.a FROM v AS x JOIN v AS y ON x.a = y.a")

    assert [(5,)] == rows(environment, "SELECT COUNT(*) FROM w AS x JOIN w AS y ON x.a = y.a")
