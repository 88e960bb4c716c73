"""Types and schemas of Delta, without Spark."""

from __future__ import annotations

import pytest

from schema_core.errors import SchemaCoreError, UnsupportedError
from schema_core.mappings.delta.types import (
    from_delta,
    from_delta_field,
    shape,
    to_delta,
    to_delta_field,
    to_delta_schema,
)
from schema_core.types import DataType, DataTypes, RowField, parse_type

#: Type -> its type of Delta, and the nearest type of Flink, if it is another.
TYPES = (
    ("CHAR(3)", "string", "STRING"),
    ("VARCHAR(7)", "string", "STRING"),
    ("STRING", "string", None),
    ("BOOLEAN", "boolean", None),
    ("BINARY(4)", "binary", "BYTES"),
    ("VARBINARY(9)", "binary", "BYTES"),
    ("BYTES", "binary", None),
    ("DECIMAL(38, 18)", "decimal(38,18)", None),
    ("TINYINT", "byte", None),
    ("SMALLINT", "short", None),
    ("INT", "integer", None),
    ("BIGINT", "long", None),
    ("FLOAT", "float", None),
    ("DOUBLE", "double", None),
    ("DATE", "date", None),
    ("TIME(0)", "long", "BIGINT"),
    ("TIME(6)", "long", "BIGINT"),
    ("TIMESTAMP(3)", "timestamp_ntz", "TIMESTAMP(6)"),
    ("TIMESTAMP(6)", "timestamp_ntz", None),
    ("TIMESTAMP(9)", "timestamp_ntz", "TIMESTAMP(6)"),
    ("TIMESTAMP_LTZ(3)", "timestamp", "TIMESTAMP_LTZ(6)"),
    ("TIMESTAMP_LTZ(6)", "timestamp", None),
    ("INTERVAL YEAR TO MONTH", "integer", "INT"),
    ("INTERVAL DAY TO SECOND(3)", "long", "BIGINT"),
)


@pytest.mark.parametrize(("text", "delta", "near"), TYPES)
def test_types(text: str, delta: str, near: str | None) -> None:
    stored = to_delta(parse_type(text))

    assert delta == stored
    assert parse_type(near or text) == from_delta(stored)


@pytest.mark.parametrize(("text", "delta", "near"), TYPES)
def test_nested_types(text: str, delta: str, near: str | None) -> None:
    inner, nearest = parse_type(text), parse_type(near or text)

    def nest(type_: DataType) -> DataType:
        part = DataTypes.ROW([DataTypes.FIELD("f", DataTypes.ARRAY(type_.not_null()), "comment")])
        return DataTypes.MAP(DataTypes.STRING().not_null(), part)

    stored = to_delta(nest(inner))

    assert nest(nearest) == from_delta(stored)
    field = stored["valueType"]["fields"][0]
    assert {"comment": "comment"} == field["metadata"]
    assert {"type": "array", "elementType": delta, "containsNull": False} == field["type"]


@pytest.mark.parametrize(
    "type_", [DataTypes.BITMAP(), parse_type("TIMESTAMP(3) WITH TIME ZONE")], ids=str
)
def test_types_that_delta_lacks(type_: DataType) -> None:
    with pytest.raises(UnsupportedError) as caught:
        to_delta(DataTypes.ARRAY(type_))

    assert "not-representable" == caught.value.code


def test_a_multiset_is_a_map_of_counts() -> None:
    assert to_delta(DataTypes.MULTISET(DataTypes.STRING())) == to_delta(
        DataTypes.MAP(DataTypes.STRING(), DataTypes.INT().not_null())
    )


@pytest.mark.parametrize("stored", ["variant", "void", "decimal(1)", 7, {"type": "struct"}])
def test_unknown_types_are_refused(stored: object) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        from_delta_field({"name": "a", "type": stored, "nullable": True, "metadata": {}})

    assert "type-not-supported" == caught.value.code


@pytest.mark.parametrize(
    "columns",
    [
        [RowField("a b", DataTypes.INT())],
        [RowField("a", DataTypes.INT()), RowField("A", DataTypes.INT())],
        [RowField("r", DataTypes.ARRAY(parse_type("ROW<`x=y` INT>")))],
    ],
    ids=["a blank", "case", "nested"],
)
def test_names_that_delta_does_not_have(columns: list[RowField]) -> None:
    with pytest.raises(UnsupportedError) as caught:
        to_delta_schema(columns)

    assert "not-representable" == caught.value.code


def test_shapes_are_without_metadata() -> None:
    field = to_delta_field(RowField("a", parse_type("ROW<b INT NOT NULL>"), "comment"))
    mapped = {**field, "type": {**field["type"], "fields": [
        {**field["type"]["fields"][0], "metadata": {"delta.columnMapping.id": 7}}
    ]}}  # fmt: skip

    assert shape(field["type"]) == shape(mapped["type"])
    other = to_delta(parse_type("ROW<b INT>"))
    assert shape(other) != shape(field["type"])
    assert shape(other, nullability=False) == shape(field["type"], nullability=False)
