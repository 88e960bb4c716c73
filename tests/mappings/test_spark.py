"""Spark types compared with a hand-written table; PySpark's classes need no session."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import types as spark

from schema_core.base.text import MAX_DEPTH
from schema_core.errors import UnsupportedError
from schema_core.mappings.arrow.types import TO_ARROW
from schema_core.mappings.exact_types import LAYOUT_KEY, TYPE_KEY
from schema_core.mappings.spark.pyspark_types import (
    from_spark,
    from_struct_field,
    from_struct_type,
    read_struct_type,
    to_struct_field,
    to_struct_type,
)
from schema_core.mappings.spark.types import TO_SPARK
from schema_core.schema.resolved import PhysicalColumn, ResolvedSchema
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
    assert str(parse_type(sql)) == field.metadata[TYPE_KEY]
    assert parse_type(sql) == from_struct_field(field)


@pytest.mark.parametrize(
    ("found", "sql"),
    [
        (spark.CharType(3),                                    "CHAR(3)"),
        (spark.VarcharType(9),                                 "VARCHAR(9)"),
        (spark.StringType(),                                   "STRING"),
        (spark.TimeType(3),                                    "TIME(3)"),
        (spark.TimestampNTZType(),                             "TIMESTAMP(6)"),
        (spark.TimestampType(),                                "TIMESTAMP_LTZ(6)"),
        (spark.YearMonthIntervalType(0, 0),                    "INTERVAL YEAR(4)"),
        (spark.YearMonthIntervalType(1, 1),                    "INTERVAL MONTH"),
        (spark.DayTimeIntervalType(1, 2),                      "INTERVAL HOUR TO MINUTE"),
        (spark.DayTimeIntervalType(),                          "INTERVAL DAY(6) TO SECOND(6)"),
        (spark.DecimalType(5, 2),                              "DECIMAL(5, 2)"),
        (spark.VariantType(),                                  "VARIANT"),
        (spark.ArrayType(spark.IntegerType(), False),          "ARRAY<INT NOT NULL>"),
        (spark.MapType(spark.DateType(), spark.LongType()),    "MAP<DATE NOT NULL, BIGINT>"),
        (spark.StructType([spark.StructField("a", spark.NullType())]), "ROW<`a` NULL>"),
    ],
)  # fmt: skip
def test_type_of_a_field_without_metadata(found: spark.DataType, sql: str) -> None:
    assert sql == from_spark(found).as_summary_string()


class Point(spark.UserDefinedType):  # type: ignore[misc]
    @classmethod
    def sqlType(cls) -> spark.DataType:
        return spark.IntegerType()

    @classmethod
    def module(cls) -> str:
        return "tests.nowhere"


ODD = [
    spark.CalendarIntervalType(),
    Point(),
    spark.GeometryType(4326),
    spark.ArrayType(spark.CalendarIntervalType()),
]


@pytest.mark.parametrize("odd", ODD, ids=str)
def test_refused_columns_do_not_affect_others(odd: spark.DataType) -> None:
    struct = spark.StructType(
        [spark.StructField("id", spark.LongType(), False), spark.StructField("odd", odd)]
    )
    result = read_struct_type(struct)

    assert ["`id` BIGINT NOT NULL"] == [str(column) for column in result.schema.columns]
    assert [("type-not-supported", ("field 'odd'",))] == [
        (diagnostic.code, diagnostic.path) for diagnostic in result.refused
    ]
    with pytest.raises(UnsupportedError):
        from_struct_type(struct)


def forgetting(sql: str, physical: spark.DataType, **metadata: Any) -> str:
    """The type of a nullable field with the metadata of a type."""
    return from_struct_field(
        spark.StructField("f", physical, True, {TYPE_KEY: sql, **metadata})
    ).as_summary_string()


def test_metadata_matches_a_file_without_not_null() -> None:
    physical = spark.StructType([spark.StructField("a", spark.StringType())])
    sql = "ROW<`a` CHAR(3) NOT NULL> NOT NULL"

    assert sql == forgetting(sql, physical)


def test_metadata_is_used_only_if_the_field_matches() -> None:
    assert "BIGINT" == forgetting("CHAR(3)", spark.LongType())
    assert "DECIMAL(5, 3)" == forgetting("DECIMAL(5, 2)", spark.DecimalType(5, 3))
    assert "TIME(0)" == forgetting("TIME(3)", spark.TimeType(0))
    days = spark.DayTimeIntervalType(0, 0)
    assert "INTERVAL DAY(6)" == forgetting("INTERVAL DAY TO SECOND", days)
    assert "STRING" == forgetting("CHAR(", spark.StringType())


@pytest.mark.parametrize(
    ("declared", "physical", "sql"),
    [
        ("char(3)",                      spark.StringType(),                     "CHAR(3)"),
        ("array<varchar(5)>",            spark.ArrayType(spark.StringType()),
         "ARRAY<VARCHAR(5)>"),
        ("struct<x:char(2)>",
         spark.StructType([spark.StructField("x", spark.StringType())]),
         "ROW<`x` CHAR(2)>"),
        ("char(3)",                      spark.LongType(),                       "BIGINT"),
        ("map<char(1),int>",             spark.StringType(),                     "STRING"),
        ("char(",                        spark.StringType(),                     "STRING"),
    ],
)  # fmt: skip
def test_sparks_metadata_for_char_and_varchar(
    declared: str, physical: spark.DataType, sql: str
) -> None:
    field = spark.StructField("f", physical, True, {"__CHAR_VARCHAR_TYPE_STRING": declared})

    assert sql == from_struct_field(field).as_summary_string()


def test_exact_type_overrides_sparks_metadata() -> None:
    declared = {"__CHAR_VARCHAR_TYPE_STRING": "char(3)"}

    assert "VARCHAR(3)" == forgetting("VARCHAR(3)", spark.StringType(), **declared)


def test_a_collation_is_a_loss() -> None:
    inner = spark.StructType([spark.StructField("c", spark.StringType("UTF8_LCASE"))])
    struct = spark.StructType(
        [
            spark.StructField("a", spark.StringType("UNICODE_CI")),
            spark.StructField("l", spark.ArrayType(spark.StringType("UNICODE"))),
            spark.StructField("s", spark.ArrayType(inner)),
        ]
    )
    result = read_struct_type(struct)

    assert () == result.refused
    assert [
        (("a",), "STRING COLLATE UNICODE_CI"),
        (("l", "element"), "STRING COLLATE UNICODE"),
        (("s", "element", "c"), "STRING COLLATE UTF8_LCASE"),
    ] == [(loss.path, loss.source) for loss in result.losses]


@pytest.mark.parametrize(
    "sql",
    ["TIMESTAMP(9)", "TIMESTAMP_LTZ(7)", "ARRAY<TIMESTAMP(8)>", "INTERVAL SECOND(7)",
     "TIMESTAMP(9) WITH TIME ZONE"],
)  # fmt: skip
def test_nanoseconds_are_refused_or_kept_as_metadata(sql: str) -> None:
    type_ = parse_type(sql)
    with pytest.raises(UnsupportedError) as caught:
        to_struct_field("f", type_)
    assert "lossy" == caught.value.code
    assert "field 'f'" == caught.value.path[0]

    assert type_ == from_struct_field(to_struct_field("f", type_, on_loss="note"))
    assert type_ != from_struct_field(to_struct_field("f", type_, on_loss="accept"))
    assert {} == to_struct_field("f", type_, on_loss="accept").metadata


def test_a_schema_keeps_comments_and_layouts() -> None:
    resolved = ResolvedSchema.of(
        [PhysicalColumn("a", parse_type("ROW<b CHAR(3) 'in'>"), comment="out")]
    )
    struct = to_struct_type(resolved)

    assert "out" == struct["a"].metadata["comment"]
    assert "in" == struct["a"].dataType["b"].metadata["comment"]
    assert [str(column) for column in resolved.columns] == [
        str(column) for column in from_struct_type(struct).columns
    ]
    assert "[]" == to_struct_field("a", parse_type("INT"), layout="[]").metadata[LAYOUT_KEY]


def test_depth_is_limited() -> None:
    result: spark.DataType = spark.IntegerType()
    for _ in range(5_000):
        result = spark.ArrayType(result)
    with pytest.raises(UnsupportedError) as caught:
        from_struct_field(spark.StructField("f", result))
    assert "limit-exceeded" == caught.value.code

    just: spark.DataType = spark.IntegerType()
    for _ in range(MAX_DEPTH - 1):
        just = spark.ArrayType(just)
    assert MAX_DEPTH - 1 == str(from_spark(just)).count("ARRAY")


def test_arrow_and_spark_support_the_same_types() -> None:
    assert set(TO_ARROW) == set(TO_SPARK)
