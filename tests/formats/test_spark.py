"""Spark types by a table written by hand; PySpark's classes need no session."""

from __future__ import annotations

import pytest
from pyspark.sql import types as spark

from schema_core.formats.arrow_carriers import TO_ARROW
from schema_core.formats.spark import NOTE, TO_SPARK, from_spark, from_struct_field, to_struct_field
from schema_core.types import parse_type


@pytest.mark.parametrize(
    ("sql", "ddl", "nullable"),
    [
        ("TINYINT NOT NULL",              "tinyint",                                 False),
        ("INT",                           "int",                                     True),
        ("DECIMAL(38, 18)",               "decimal(38,18)",                          True),
        ("CHAR(3)",                       "string",                                  True),
        ("BINARY(3)",                     "binary",                                  True),
        ("DATE",                          "date",                                    True),
        ("TIME(3)",                       "time(3)",                                 True),
        ("TIMESTAMP(3)",                  "timestamp_ntz",                           True),
        ("TIMESTAMP_LTZ(3)",              "timestamp",                               True),
        ("TIMESTAMP(3) WITH TIME ZONE",   "struct<timestamp:timestamp,offset_minutes:smallint>",
                                                                                     True),
        ("INTERVAL YEAR",                 "interval year to month",                  True),
        ("INTERVAL HOUR TO SECOND(3)",    "interval day to second",                  True),
        ("ARRAY<MAP<STRING, INT>>",       "array<map<string,int>>",                  True),
        ("MULTISET<BIGINT>",              "map<bigint,int>",                         True),
        ("ROW<a INT, b ROW<c DATE>>",     "struct<a:int,b:struct<c:date>>",          True),
        ("NULL",                          "void",                                    True),
        ("VARIANT",                       "variant",                                 True),
    ],
)  # fmt: skip
def test_physical_type(sql: str, ddl: str, nullable: bool) -> None:
    field = to_struct_field("f", parse_type(sql))

    assert ddl == field.dataType.simpleString()
    assert nullable == field.nullable
    assert str(parse_type(sql)) == field.metadata[NOTE]


@pytest.mark.parametrize(
    ("ddl", "sql"),
    [
        (spark.CharType(3),                                    "CHAR(3)"),
        (spark.VarcharType(9),                                 "VARCHAR(9)"),
        (spark.StringType(),                                   "VARCHAR(2147483647)"),
        (spark.TimestampNTZType(),                             "TIMESTAMP(6)"),
        (spark.TimestampType(),                                "TIMESTAMP(6) WITH LOCAL TIME ZONE"),
        (spark.ArrayType(spark.IntegerType(), False),          "ARRAY<INT NOT NULL>"),
        (spark.MapType(spark.DateType(), spark.LongType()),    "MAP<DATE NOT NULL, BIGINT>"),
    ],
)  # fmt: skip
def test_type_of_a_field_without_note(ddl: spark.DataType, sql: str) -> None:
    assert sql == str(from_spark(ddl))


def test_a_note_survives_a_file_that_forgets_not_null() -> None:
    field = to_struct_field("f", parse_type("ROW<a CHAR(3) NOT NULL> NOT NULL"))
    forgotten = spark.StructField(
        "f", spark.StructType([spark.StructField("a", spark.StringType())]), True, field.metadata
    )

    assert "ROW<`a` CHAR(3) NOT NULL> NOT NULL" == str(from_struct_field(forgotten))


def test_a_note_is_believed_only_while_the_field_fits() -> None:
    changed = spark.StructField("f", spark.LongType(), True, {NOTE: "CHAR(3)"})

    assert "BIGINT" == str(from_struct_field(changed))


def test_arrow_and_spark_hold_the_same_types() -> None:
    assert set(TO_ARROW) == set(TO_SPARK)
