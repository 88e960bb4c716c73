"""Types in Spark itself: frames, Arrow, files and tables preserve them; DDL is parsed alike."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from schema_core.errors import ParseError
from schema_core.mappings.arrow.schemas import from_field
from schema_core.mappings.arrow.spark import for_spark, to_schema
from schema_core.mappings.arrow.spark import to_struct_type as arrow_to_spark
from schema_core.mappings.loss import physical_equivalent
from schema_core.mappings.spark.ddl import parse_ddl, print_ddl
from schema_core.mappings.spark.pyspark_types import (
    from_struct_field,
    read_struct_type,
    to_struct_type,
)
from schema_core.mappings.spark.schemas import parse_json, to_ddl, to_json
from schema_core.schema.resolved import ResolvedSchema
from schema_core.types import (
    ArrayType,
    DataType,
    DistinctType,
    RowField,
    StructuredType,
    parse_type,
)
from tests.support import cases

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: Types that every route preserves.
EVERYWHERE = [
    "CHAR(3)", "VARCHAR(9)", "STRING", "BINARY(3)", "BYTES", "BOOLEAN", "TINYINT", "SMALLINT",
    "INT", "BIGINT NOT NULL", "FLOAT", "DOUBLE", "DECIMAL(38, 18)", "DATE", "TIME(0)", "TIME(3)",
    "TIME(9)", "TIMESTAMP(0)", "TIMESTAMP(3)", "TIMESTAMP(6) NOT NULL", "TIMESTAMP_LTZ(3)",
    "TIMESTAMP(3) WITH TIME ZONE", "INTERVAL DAY(3) TO SECOND(3)", "INTERVAL HOUR",
    "ARRAY<INT NOT NULL>", "ARRAY<CHAR(2)>", "MULTISET<CHAR(2)>", "MAP<STRING, ARRAY<DATE>>",
    "MAP<INT NOT NULL, ROW<a CHAR(1) NOT NULL 'it''s'>>",
    "ROW<`a b` INT NOT NULL, c ROW<d CHAR(2)>>", "STRUCTURED<'x.Y', a INT>", "NULL",
    "RAW('x.Y', 'AAFB')", "BITMAP", "VARIANT",
]  # fmt: skip
#: Types that Spark does not convert to Arrow: intervals of months.
IN_SPARK = [*EVERYWHERE, "INTERVAL YEAR(4)", "INTERVAL MONTH"]


def schema_of(types: list[str]) -> ResolvedSchema:
    return ResolvedSchema.physical(
        [f"c{index}" for index in range(len(types))], [parse_type(sql) for sql in types]
    )


def expected(types: list[str]) -> list[DataType]:
    return [parse_type(sql) for sql in types]


def found_in(frame: DataFrame) -> list[DataType]:
    return [from_struct_field(field) for field in frame.schema.fields]


@pytest.fixture(scope="module")
def frame(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([], to_struct_type(schema_of(IN_SPARK)))


def test_a_frame_keeps_every_type(frame: DataFrame) -> None:
    for other in (frame, frame.select("*").filter("c8 > 0"), frame.alias("x").limit(1)):
        assert expected(IN_SPARK) == found_in(other)


def test_files_and_tables_of_spark_keep_every_type(
    spark: SparkSession, frame: DataFrame, tmp_path: Path
) -> None:
    """Both lose NOT NULL, which the exact-type metadata restores."""
    path = str(tmp_path / "parquet")
    frame.write.parquet(path)
    assert expected(IN_SPARK) == found_in(spark.read.parquet(path))

    frame.write.saveAsTable("kept_types")
    assert expected(IN_SPARK) == found_in(spark.table("kept_types"))
    spark.sql("CREATE TABLE kept_again USING parquet AS SELECT * FROM kept_types")
    assert expected(IN_SPARK) == found_in(spark.table("kept_again"))
    for table in ("kept_types", "kept_again"):
        spark.sql(f"DROP TABLE {table}")


def test_user_defined_types_round_trip_through_files_and_arrow(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Reading Spark's files and Arrow tables does not require the catalog of the types."""
    money = DistinctType(("c", "d", "money"), parse_type("DECIMAL(10, 2) NOT NULL"))
    user = StructuredType("x.Y", [RowField("paid", money)], path=("c", "d", "user"))
    types: list[DataType] = [money, user, ArrayType(user.not_null())]
    struct = to_struct_type(ResolvedSchema.physical(["a", "b", "c"], types))
    path = str(tmp_path / "parquet")
    frame = spark.createDataFrame([], struct)
    frame.write.parquet(path)

    assert types == found_in(spark.read.parquet(path))
    assert types == [from_field(field) for field in frame.toArrow().schema]


def test_arrow_schema_of_spark_equals_this_library(spark: SparkSession) -> None:
    frame = spark.createDataFrame([], to_struct_type(schema_of(EVERYWHERE)))
    result = frame.toArrow().schema

    assert expected(EVERYWHERE) == [from_field(field) for field in result]
    ours = to_schema(to_struct_type(schema_of(EVERYWHERE)))
    nanos = {"c14", "c15"}  # Spark converts every TIME to nanoseconds
    assert [] == [
        (field.name, field.type, ours.field(field.name).type)
        for field in result
        if field.name not in nanos and field.type != ours.field(field.name).type
    ]
    assert expected(EVERYWHERE) == [
        from_struct_field(field) for field in arrow_to_spark(result).fields
    ]


def test_map_in_arrow_receives_and_returns_the_types(spark: SparkSession) -> None:
    """The result has the declared types; the input has Spark's metadata."""
    types = ["CHAR(3)", "TIME(3)", "TIMESTAMP(3)", "MULTISET<CHAR(2)>"]
    struct = to_struct_type(schema_of(types))
    declared = to_struct_type(ResolvedSchema.physical(["t"], [parse_type("STRING")]))

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            lines = [str(from_field(field)) for field in batch.schema]
            yield pa.RecordBatch.from_pydict({"t": lines})

    rows = spark.createDataFrame([(None, None, None, None)], struct).coalesce(1)
    out = rows.mapInArrow(lambda batches: batches, struct)

    assert expected(types) == found_in(out)
    assert [str(item) for item in expected(types)] == [
        row.t for row in rows.mapInArrow(read, declared).collect()
    ]


def test_arrow_rows_keep_their_types_in_spark(spark: SparkSession) -> None:
    table = pa.table(
        {
            "u": pa.array([1, 2**32 - 1], pa.uint32()),
            "v": pa.array(["a", None], pa.string_view()),
            "t": pa.array([0, 1], pa.time32("s")),
            "d": pa.array(["x", "x"]).dictionary_encode(),
            "l": pa.array([[1], None], pa.large_list(pa.int8())),
        }
    )
    frame = spark.createDataFrame(for_spark(table), schema=arrow_to_spark(table.schema))
    back = frame.toArrow()

    assert table.schema.types == to_schema(frame.schema, layouts=True).types
    assert [1, 2**32 - 1] == back["u"].to_pylist()
    assert table.drop_columns("d").to_pylist() == back.drop_columns("d").to_pylist()


def test_spark_reads_the_metadata_of_pyarrow_parquet(spark: SparkSession, tmp_path: Path) -> None:
    """Spark reads the JSON of the schema in the footer, which is the one we write."""
    resolved = schema_of(["CHAR(3)", "ROW<a VARCHAR(2) NOT NULL>"])
    footer = {b"org.apache.spark.sql.parquet.row.metadata": to_json(resolved).encode()}
    table = to_schema(to_struct_type(resolved)).with_metadata(footer).empty_table()
    pa.parquet.write_table(table, tmp_path / "file.parquet")

    assert resolved.get_column_data_types() == found_in(spark.read.parquet(str(tmp_path)))


def test_char_and_varchar_of_a_spark_table(spark: SparkSession) -> None:
    spark.sql(
        "CREATE TABLE chars (a CHAR(3), b STRUCT<x: VARCHAR(5)>, c ARRAY<CHAR(2)>) USING parquet"
    )
    result = found_in(spark.table("chars"))
    spark.sql("DROP TABLE chars")

    assert expected(["CHAR(3)", "ROW<x VARCHAR(5)>", "ARRAY<CHAR(2)>"]) == result


# --- DDL ---------------------------------------------------------------------------------------


def asked(text: str) -> dict[str, Any] | None:
    """Return Spark's type of a DDL string, or None if it is refused."""
    from pyspark.sql.types import StructType

    try:
        tree: dict[str, Any] = json.loads(StructType.fromDDL(text).json())
    except Exception:  # noqa: BLE001 - Spark, py4j and an assertion of PySpark's refuse
        return None
    return tree


MORE_DDL = [
    "a timestamp_ntz(5)", "a INT COMMENT 'a\\\\b'", "a INT COMMENT '\\u00e9\\n'", "a INT NOT",
    "a STRUCT<b INT COMMENT 'x' NOT NULL>", "`a", "a INT COMMENT 'x", "a MAP<INT>", "a ARRAY<>",
    "a INT COMMENT x", "a INT /* x", "a decimal(3,)", "a time without time zone", "a char(3) b",
    "a string collate utf8_lcase, b array<string collate unicode>", "a double", "a nonsense",
    "a INT COMMENT '\\\\0\\\\b\\\\Z\\\\'\\\\\"'", "a map<string collate unicode_ci, int>",
    "a INT COMMENT \"it''s \"\"x\"\"\"", "a interval second to day", "a:int not null comment 'x'",
]  # fmt: skip


def test_ddl_is_parsed_as_by_spark(spark: SparkSession) -> None:
    """The recorded answers of tests/cases/spark_ddl.cases are current; and further inputs."""
    recorded = [text.encode().decode("unicode_escape") for text, _ in cases("spark_ddl")]
    different = []
    for text in [*recorded, *MORE_DDL]:
        try:
            ours: object = parse_ddl(text)
        except ParseError:
            ours = None
        theirs = asked(text)
        if ours != theirs:
            different.append((text, ours, theirs))

    assert [] == different


def test_printed_ddl_is_parsed_by_spark(spark: SparkSession) -> None:
    resolved = schema_of(IN_SPARK)
    struct = to_struct_type(resolved)
    text = to_ddl(resolved)
    types = spark.createDataFrame([], struct).schema

    assert parse_json(struct.json()) == json.loads(struct.json()) == parse_json(to_json(resolved))
    assert parse_ddl(text) == asked(text)
    assert text == print_ddl(asked(text) or {"fields": []})
    assert [physical_equivalent(item, "spark-ddl:4.3") for item in expected(IN_SPARK)] == [
        column.data_type  # type: ignore[union-attr]
        for column in read_struct_type(types.fromDDL(text)).schema.columns
    ]
