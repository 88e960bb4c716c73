"""Types in a live Hive metastore: tables in Hive's formats preserve or refuse them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from schema_core.errors import UnsupportedError
from schema_core.mappings.exact_types import TYPE_KEY
from schema_core.mappings.loss import losses, physical_equivalent
from schema_core.mappings.spark.pyspark_types import (
    from_struct_field,
    read_struct_type,
    to_struct_type,
)
from schema_core.schema.resolved import ResolvedSchema
from schema_core.types import DataType, RowField, RowType, StructuredType, parse_type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

KEPT = [
    "CHAR(3)", "VARCHAR(9)", "STRING", "BINARY(3)", "BYTES", "BOOLEAN", "TINYINT", "SMALLINT",
    "INT", "BIGINT NOT NULL", "FLOAT", "DOUBLE", "DECIMAL(38, 18)", "DATE", "TIMESTAMP_LTZ(3)",
    "TIMESTAMP(3) WITH TIME ZONE", "ARRAY<INT NOT NULL>", "ARRAY<CHAR(2)>", "MULTISET<CHAR(2)>",
    "MAP<STRING, ARRAY<DATE>>", "MAP<INT NOT NULL, ROW<a CHAR(1) NOT NULL 'it''s'>>",
    "ROW<`a b` INT NOT NULL, c ROW<`d$.1` CHAR(2)>, `Größe` INT>", "STRUCTURED<'x.Y', a INT>",
    "RAW('x.Y', 'AAFB')", "BITMAP", "MAP<ROW<a INT NOT NULL> NOT NULL, BIGINT NOT NULL>",
]  # fmt: skip
#: Types without a Hive type, also nested, and names that Hive's parser cannot read.
REFUSED = [
    "TIME(0)", "TIMESTAMP(3)", "INTERVAL DAY(3) TO SECOND(3)", "INTERVAL YEAR(4)", "VARIANT",
    "NULL", "ROW<>", "ROW<a ROW<>>", "ARRAY<TIMESTAMP(6)>", "MAP<STRING, TIME(3)>",
    "STRUCTURED<'x.Y', a NULL>", "ROW<`a-b` INT>", "ROW<`a:b` INT>", "ARRAY<ROW<`m²` INT>>",
    "ROW<a INT, A INT>", "ROW<`a\t` INT>", "ROW<`😀` INT>",
]  # fmt: skip
names = (f"hive_types_{number}" for number in count())


@pytest.fixture(autouse=True)
def _no_tables_left(spark: SparkSession) -> Iterator[None]:
    yield
    for table in spark.catalog.listTables(pattern="hive_types_*"):
        spark.sql(f"DROP TABLE {table.name}")


def saved(
    spark: SparkSession,
    schema: ResolvedSchema,
    form: str,
    rows: Any = (),
    struct: StructType | None = None,
    **options: Any,
) -> DataFrame:
    """A new table of the metastore with these columns, stored in one of Hive's formats."""
    frame = spark.createDataFrame(rows, struct or to_struct_type(schema, target="hive"))
    name = next(names)
    frame.write.saveAsTable(name, format="hive", fileFormat=form, **options)
    return spark.table(name)


def columns(types: list[str]) -> ResolvedSchema:
    # The first column is there since Hive takes no table without one that it can store.
    every = [parse_type(data_type) for data_type in ("INT", *types)]
    return ResolvedSchema.physical([f"c{index}" for index in range(len(every))], every)


def without_notes(tree: Any) -> Any:
    """Return the JSON of a Spark type without exact-type metadata."""
    if isinstance(tree, dict):
        return {key: without_notes(value) for key, value in tree.items() if key != TYPE_KEY}
    return [without_notes(child) for child in tree] if isinstance(tree, list) else tree


def bare(frame: DataFrame) -> list[DataType]:
    from pyspark.sql.types import StructType

    read = read_struct_type(StructType.fromJson(without_notes(frame.schema.jsonValue())))
    return [column.data_type for column in read.schema.columns]  # type: ignore[union-attr, misc]


@pytest.mark.parametrize("form", ["parquet", "orc", "textfile"])
def test_supported_types_round_trip_through_hive_tables(spark: SparkSession, form: str) -> None:
    schema = columns(KEPT)
    table = saved(spark, schema, form)

    assert schema.get_column_data_types() == [from_struct_field(item) for item in table.schema]
    assert [
        physical_equivalent(data_type, "hive") for data_type in schema.get_column_data_types()
    ] == bare(table)


@pytest.mark.parametrize("type_", REFUSED)
def test_refused_types_are_reported_before_writing(spark: SparkSession, type_: str) -> None:
    schema = columns([type_])

    assert physical_equivalent(parse_type(type_), "hive") is None
    assert "refused" in {loss.kind.word for loss in losses(schema, "hive")}
    with pytest.raises(UnsupportedError) as caught:
        to_struct_type(schema, target="hive")
    assert ["type-not-supported"] == [diagnostic.code for diagnostic in caught.value.diagnostics]
    with pytest.raises(Exception, match=r"(?i)hive|schema|already exists"):
        saved(spark, schema, "parquet", struct=to_struct_type(schema))


def test_columns_that_differ_only_in_case_are_refused(spark: SparkSession) -> None:
    schema = ResolvedSchema.physical(["a", "A"], [parse_type("INT")] * 2)

    assert [("A",)] == [loss.path for loss in losses(schema, "hive") if loss.kind.word == "refused"]
    with pytest.raises(UnsupportedError, match="of `A` INT"):
        to_struct_type(schema, target="hive")
    with pytest.raises(Exception, match="already exists"):
        saved(spark, schema, "parquet", struct=to_struct_type(schema))


def test_partition_columns_and_values_round_trip(spark: SparkSession) -> None:
    types = ["CHAR(3)", "ROW<a VARCHAR(2) NOT NULL>", "MULTISET<CHAR(2)>", "VARCHAR(5)"]
    schema = columns(types)
    rows = [(1, "abc", ("xy",), {"ab": 2}, "day 1"), (2, None, None, None, "day 2")]
    spark.conf.set("hive.exec.dynamic.partition.mode", "nonstrict")
    table = saved(spark, schema, "orc", rows, partitionBy="c4")
    with pytest.raises(Exception, match="different data type"):  # only Hive types
        saved(spark, schema, "orc", rows, to_struct_type(schema), partitionBy="c4")
    spark.conf.unset("hive.exec.dynamic.partition.mode")

    assert schema.get_column_data_types() == [from_struct_field(item) for item in table.schema]
    assert sorted(rows) == sorted(
        (row.c0, row.c1, row.c2 and tuple(row.c2), row.c3, row.c4) for row in table.collect()
    )


def test_nested_fields_keep_their_names_and_comments(spark: SparkSession) -> None:
    fields = [RowField("Ab", parse_type("INT"), "it's"), RowField("b", parse_type("CHAR(1)"))]
    for type_ in (RowType(fields), StructuredType("x.Y", fields)):
        table = saved(spark, ResolvedSchema.physical(["c"], [type_]), "parquet")
        assert [type_] == [from_struct_field(item) for item in table.schema]
        assert [RowType] == [type(item) for item in bare(table)]
