"""Schemas of Arrow and Spark as somebody would write them who knows all of it beforehand."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from schema_core.mappings.exact_types import TYPE_KEY

#: The types of the columns, in turn.
TEN = (
    "CHAR(3) NOT NULL", "VARCHAR(9)", "BIGINT NOT NULL", "DECIMAL(12, 2)", "TIMESTAMP(3)",
    "TIMESTAMP(3) WITH LOCAL TIME ZONE", "ARRAY<INT NOT NULL>",
    "MAP<VARCHAR(2147483647) NOT NULL, INT>",
    "ROW<`a` INT NOT NULL, `b` VARCHAR(2147483647)>", "DATE",
)  # fmt: skip
NOTE_KEY = TYPE_KEY.encode()


def noted(name: str, arrow: pa.DataType, text: str) -> pa.Field:
    return pa.field(name, arrow, not text.endswith("NOT NULL"), {NOTE_KEY: text.encode()})


def arrow_by_hand() -> pa.Schema:
    """A hundred columns as somebody would write them who knows all of it beforehand."""
    string, fields = "VARCHAR(2147483647)", []
    for index in range(0, 100, 10):
        number = noted("a", pa.int32(), "INT NOT NULL")
        entries = pa.map_(
            noted("key", pa.string(), f"{string} NOT NULL"), noted("value", pa.int32(), "INT")
        )
        types = (
            pa.string(), pa.string(), pa.int64(), pa.decimal128(12, 2), pa.timestamp("us"),
            pa.timestamp("us", "UTC"), pa.list_(noted("element", pa.int32(), "INT NOT NULL")),
            entries, pa.struct([number, noted("b", pa.string(), string)]), pa.date32(),
        )  # fmt: skip
        fields += [
            noted(f"c{index + offset}", arrow, text)
            for offset, (arrow, text) in enumerate(zip(types, TEN, strict=True))
        ]
    return pa.schema(fields)


def spark_by_hand() -> object:
    """The same in PySpark's own classes."""
    from pyspark.sql import types as spark

    def field(name: str, type_: Any, text: str) -> Any:
        return spark.StructField(name, type_, not text.endswith("NOT NULL"), {TYPE_KEY: text})

    fields = []
    for index in range(0, 100, 10):
        inner = [
            field("a", spark.IntegerType(), "INT NOT NULL"),
            field("b", spark.StringType(), "VARCHAR(2147483647)"),
        ]
        types = (
            spark.StringType(), spark.StringType(), spark.LongType(), spark.DecimalType(12, 2),
            spark.TimestampNTZType(), spark.TimestampType(),
            spark.ArrayType(spark.IntegerType(), False),
            spark.MapType(spark.StringType(), spark.IntegerType()), spark.StructType(inner),
            spark.DateType(),
        )  # fmt: skip
        fields += [
            field(f"c{index + offset}", item, text)
            for offset, (item, text) in enumerate(zip(types, TEN, strict=True))
        ]
    return spark.StructType(fields)
