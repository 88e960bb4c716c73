"""Spark itself parses DDL that is printed in its dialect: types, names, comments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schema_core.mappings.dialects.api import read_table, to_ddl
from schema_core.mappings.spark.pyspark_types import from_struct_field
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.unresolved import Schema
from schema_core.types import parse_type
from tests.support import cases

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SAME = [
    (given.partition(" | ")[2], flink)
    for given, flink in cases("dialect_same")
    if given.startswith("spark")
]


@pytest.mark.spark
def test_spark_has_the_types_of_its_dialect(spark: SparkSession) -> None:
    """Spark and this library map the printed type to the same Flink type."""
    from pyspark.sql.types import StructType

    read = {
        text: str(from_struct_field(StructType.fromDDL(f"c {text}").fields[0])) for text, _ in SAME
    }

    assert {text: str(parse_type(flink)) for text, flink in SAME} == read


@pytest.mark.spark
def test_spark_creates_the_table_of_printed_ddl(spark: SparkSession) -> None:
    schema = (
        Schema.new_builder()
        .column("id", "BIGINT NOT NULL")
        .column("na`me; --\"'", "VARCHAR(20)")
        .with_comment('it\'s; "x" \\ `y`\nand -- more')
        .column("nested", "ROW<`x y` INT NOT NULL 'a ''comment''', `m` MAP<STRING NOT NULL, DATE>>")
        .column("price", "DECIMAL(12, 2)")
        .build()
    )
    spark.sql(to_ddl(schema, "spark", "written_by_dialects") + " USING parquet")
    try:
        fields = spark.table("written_by_dialects").schema
        shown = spark.sql("SHOW CREATE TABLE written_by_dialects").collect()[0][0]
    finally:
        spark.sql("DROP TABLE written_by_dialects")

    assert [column.name for column in schema.columns] == fields.names
    assert 'it\'s; "x" \\ `y`\nand -- more' == fields[1].metadata["comment"]
    # Spark's own tables lose NOT NULL, except for the keys of maps.
    assert listed(schema) == listed(read_table(shown, "spark").schema)


def listed(schema: Schema) -> list[str]:
    """The columns as a listing shows them, nullable."""
    columns = SchemaResolver().resolve(schema).columns
    return [str(column).replace(" NOT NULL", "") for column in columns]
