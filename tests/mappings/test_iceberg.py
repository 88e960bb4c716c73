"""Types, schemas, partitions and definitions of Iceberg, without Spark."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC
from pyiceberg.schema import Schema as IcebergSchema
from pyiceberg.types import IntegerType, LongType, NestedField, StringType

from schema_core.base.paths import ObjectPath
from schema_core.catalog.objects import CatalogTable
from schema_core.catalogs.iceberg.catalog import IcebergCatalog
from schema_core.errors import SchemaError, UnsupportedError
from schema_core.mappings.iceberg.partitioning import (
    make_order,
    make_spec,
    parse_terms,
    print_order,
    print_spec,
)
from schema_core.mappings.iceberg.schemas import former_names
from schema_core.mappings.iceberg.types import from_iceberg, to_iceberg
from schema_core.schema.unresolved import Schema
from schema_core.types import DataType, DataTypes, parse_type

#: Type -> the string of its type of Iceberg, and the nearest type of Flink, if it is another.
TYPES = (
    ("CHAR(3)", "string", "VARCHAR(2147483647)"),
    ("VARCHAR(7)", "string", "VARCHAR(2147483647)"),
    ("STRING", "string", None),
    ("BOOLEAN", "boolean", None),
    ("BINARY(4)", "fixed[4]", None),
    ("VARBINARY(9)", "binary", "BYTES"),
    ("BYTES", "binary", None),
    ("DECIMAL(38, 18)", "decimal(38, 18)", None),
    ("TINYINT", "int", "INT"),
    ("SMALLINT", "int", "INT"),
    ("INT", "int", None),
    ("BIGINT", "long", None),
    ("FLOAT", "float", None),
    ("DOUBLE", "double", None),
    ("DATE", "date", None),
    ("TIME(0)", "time", "TIME(6)"),
    ("TIME(6)", "time", None),
    ("TIMESTAMP(3)", "timestamp", "TIMESTAMP(6)"),
    ("TIMESTAMP(6)", "timestamp", None),
    ("TIMESTAMP(9)", "timestamp", "TIMESTAMP(6)"),
    ("TIMESTAMP_LTZ(3)", "timestamptz", "TIMESTAMP_LTZ(6)"),
    ("TIMESTAMP_LTZ(6)", "timestamptz", None),
    ("INTERVAL YEAR TO MONTH", "int", "INT"),
    ("INTERVAL DAY TO SECOND(3)", "long", "BIGINT"),
)


@pytest.mark.parametrize(("text", "iceberg", "near"), TYPES)
def test_types(text: str, iceberg: str, near: str | None) -> None:
    stored = to_iceberg(parse_type(text), count(1).__next__)

    assert iceberg == str(stored)
    assert parse_type(near or text) == from_iceberg(stored)


@pytest.mark.parametrize(
    "type_", [DataTypes.BITMAP(), parse_type("TIMESTAMP(3) WITH TIME ZONE")], ids=str
)
def test_types_that_iceberg_lacks(type_: DataType) -> None:
    with pytest.raises(UnsupportedError) as caught:
        to_iceberg(DataTypes.ARRAY(type_), count(1).__next__)

    assert caught.value.code == "not-representable"


def test_nanoseconds_of_version_3() -> None:
    stored = to_iceberg(parse_type("TIMESTAMP(9)"), count(1).__next__, nanoseconds=True)

    assert ("timestamp_ns", parse_type("TIMESTAMP(9)")) == (str(stored), from_iceberg(stored))


def test_a_definition_survives_changes_of_other_engines(tmp_path: Path) -> None:
    """What is still true of it is kept."""
    catalog = IcebergCatalog("lake", {"warehouse": str(tmp_path)})
    catalog.open()
    path = ObjectPath("default", "t")
    schema = (
        Schema.new_builder()
        .column("a", "CHAR(3)")
        .column_by_expression("b", "UPPER(a)")
        .column("c", "TINYINT NOT NULL")
        .primary_key_named("own", "c")
        .build()
    )
    catalog.create_table(path, CatalogTable(schema), False)
    table = catalog.iceberg.catalog.load_table(("default", "t"))
    with table.update_schema() as update:
        update.add_column("d", StringType(), "by another engine")
        update.update_column("c", LongType())

    columns = catalog.get_table(path).get_unresolved_schema()
    assert [
        ("a", "CHAR(3)"), ("b", None), ("c", "BIGINT NOT NULL"), ("d", "VARCHAR(2147483647)"),
    ] == [
        (column.name, None if getattr(column, "data_type", None) is None
         else str(getattr(column, "data_type", None)))
        for column in columns.columns
    ]  # fmt: skip
    assert columns.primary_key is not None
    assert "own" == columns.primary_key.name


SCHEMA = IcebergSchema(
    NestedField(1, "id", IntegerType(), required=True), NestedField(2, "a b", StringType())
)


def test_partitions_and_orders_as_text() -> None:
    terms = parse_terms("bucket(16, id), TRUNCATE(2, `a b`), `a b`", ordered=False)
    spec = make_spec(terms, SCHEMA)
    order = make_order(parse_terms("id DESC, `a b` NULLS LAST", ordered=True), SCHEMA)

    assert "bucket(16, id), truncate(2, `a b`), `a b`" == print_spec(spec, SCHEMA)
    assert ["id_bucket", "a b_trunc", "a b"] == [field.name for field in spec.fields]
    assert "id DESC NULLS LAST, `a b` ASC NULLS LAST" == print_order(order, SCHEMA)
    again = make_spec(terms[:1], SCHEMA, [UNPARTITIONED_PARTITION_SPEC, spec], 1002)
    assert [1000] == [field.field_id for field in again.fields]


@pytest.mark.parametrize(
    "text",
    ["", "bucket(id)", "bucket(0, id)", "nonsense(id)", "id,", "id DESC", "days(id", "id)", "a b"],
)
def test_invalid_partitions(text: str) -> None:
    with pytest.raises(SchemaError) as caught:
        parse_terms(text, ordered=False)

    assert caught.value.code == "invalid-option-value"


def test_a_transform_of_another_type_is_refused() -> None:
    with pytest.raises(UnsupportedError) as caught:
        make_spec(parse_terms("days(id)", ordered=False), SCHEMA)

    assert caught.value.code == "not-representable"


def test_names_before_renames() -> None:
    renames = [(("a",), "b"), (("b",), "a"), (("r", "x"), "y"), (("r",), "s")]

    assert {("s", "y"): "x", ("s",): "r"} == former_names(renames)
