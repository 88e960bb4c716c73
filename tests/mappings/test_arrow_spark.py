"""Arrow schemas converted to Spark: the same types, and rows in the types that Spark reads."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

from schema_core.errors import SchemaCoreError, UnsupportedError
from schema_core.mappings.arrow.schemas import from_field, to_field
from schema_core.mappings.arrow.spark import (
    arrow_losses,
    for_spark,
    to_schema,
    to_struct_type,
)
from schema_core.mappings.exact_types import TYPE_KEY
from schema_core.mappings.loss import LossKind
from schema_core.mappings.spark.pyspark_types import from_struct_field
from schema_core.types import parse_type
from tests.mappings.test_arrow import FIFTY_ONE, NEWER, OTHERS

#: Types whose values Spark would truncate.
NANOSECONDS = {"TIMESTAMP(9)", "TIMESTAMP_LTZ(9)", "INTERVAL DAY(6) TO SECOND(9)"}


@pytest.mark.parametrize(("arrow", "sql"), [*FIFTY_ONE, *OTHERS], ids=lambda item: str(item)[:40])
def test_no_type_changes_silently(arrow: pa.DataType, sql: str) -> None:
    """A round trip restores the type, or it is refused, or a loss is reported."""
    schema = pa.schema([pa.field("f", arrow)])
    if sql.islower() or sql in NANOSECONDS:
        with pytest.raises(SchemaCoreError) as caught:
            to_struct_type(schema)
        assert caught.value.code == ("lossy" if sql in NANOSECONDS else sql)
        return
    struct = to_struct_type(schema)

    assert schema.types == to_schema(struct, layouts=True).types
    assert from_field(schema[0]) == from_struct_field(struct["f"])
    if schema.types != to_schema(struct).types:
        assert arrow_losses(schema)


def test_nanoseconds_are_refused_or_truncated() -> None:
    schema = pa.schema([pa.field("t", pa.timestamp("ns"))])
    with pytest.raises(UnsupportedError) as caught:
        to_struct_type(schema)
    assert ("lossy", ("field 't'",)) == (caught.value.code, caught.value.path)
    assert LossKind.DIGITS in {loss.kind for loss in arrow_losses(schema)}

    noted = to_struct_type(schema, on_loss="note")
    assert "TIMESTAMP(9)" == str(from_struct_field(noted["t"]))
    assert schema.types == to_schema(noted, layouts=True).types
    assert [pa.timestamp("us")] == to_schema(noted).types
    assert "TIMESTAMP(6)" == str(from_struct_field(to_struct_type(schema, on_loss="accept")["t"]))


def test_a_time_zone_is_a_reversible_loss() -> None:
    schema = pa.schema([pa.field("t", pa.timestamp("us", "Europe/Amsterdam"))])
    (loss,) = arrow_losses(schema)

    assert (LossKind.ZONE, True) == (loss.kind, loss.reversible)
    assert [pa.timestamp("us", "UTC")] == to_schema(to_struct_type(schema)).types


def test_metadata_is_stored_under_both_keys() -> None:
    field = to_field("r", parse_type("ROW<a CHAR(3) NOT NULL 'in'>"), "out").with_metadata(
        {
            **to_field("r", parse_type("ROW<a CHAR(3) NOT NULL 'in'>"), "out").metadata,
            b"SPARK::metadata::json": b'{"mine": 1}',
        }
    )
    struct = to_struct_type(pa.schema([field]))
    back = to_schema(struct)[0]

    assert 1 == struct["r"].metadata["mine"]
    assert "CHAR(3) NOT NULL" == struct["r"].dataType["a"].metadata[TYPE_KEY]
    assert b'"mine": 1' in back.metadata[b"SPARK::metadata::json"]
    inner = back.type.field("a")
    assert b"CHAR(3) NOT NULL" in inner.metadata[b"SPARK::metadata::json"]
    without = back.with_metadata(
        {b"SPARK::metadata::json": back.metadata[b"SPARK::metadata::json"]}
    )
    assert "ROW<`a` CHAR(3) NOT NULL 'in'>" == str(from_field(without))


def test_a_layout_of_another_type_is_ignored() -> None:
    struct = to_struct_type(pa.schema([pa.field("f", pa.large_string())]))
    struct["f"].metadata["schema_core.layout"] = '["int8"]'

    assert [pa.string()] == to_schema(struct, layouts=True).types


#: PyArrow 18 makes float16 of these only, not of float.
HALF = np.float16(0.5)
MIDNIGHT = dt.datetime.fromisoformat("2020-01-02")

ROWS = {
    "u":   (pa.uint32(),                               [1, 4294967295, None]),
    "h":   (pa.float16(),                              [HALF, None, HALF]),
    "ls":  (pa.large_string(),                         ["a", None, "c"]),
    "sv":  (pa.string_view(),                          ["a", None, "c"]),
    "d64": (pa.date64(),                               [dt.date(2020, 1, 2), None, None]),
    "t32": (pa.time32("s"),                            [dt.time(1, 2, 3), None, None]),
    "dic": (pa.dictionary(pa.int8(), pa.string()),     ["a", "a", None]),
    "fsl": (pa.list_(pa.int32(), 2),                   [[1, 2], None, [3, 4]]),
    "ts":  (pa.timestamp("s"),                         [MIDNIGHT, None, None]),
    "d32": (pa.decimal32(5, 2) if NEWER else pa.null(), [None, None, None]),
    "uid": (pa.uuid(),                                 [None, None, None]),
}  # fmt: skip


def test_rows_are_cast_for_spark() -> None:
    columns = {name: pa.array(values, type=arrow) for name, (arrow, values) in ROWS.items()}
    ree = pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array(["x", "y"]))
    table = for_spark(pa.table({**columns, "ree": ree}))

    for name, (_, values) in ROWS.items():
        assert values == table.column(name).to_pylist(), name
    assert ["x", "x", "y"] == table.column("ree").to_pylist()
    assert table.schema == to_schema(to_struct_type(table.schema))


def test_rows_that_cannot_be_cast_are_refused() -> None:
    nanos = pa.table({"t": pa.array([1], pa.timestamp("ns"))})
    with pytest.raises(UnsupportedError) as caught:
        for_spark(nanos)
    assert "lossy" == caught.value.code

    assert [dt.datetime.fromisoformat("1970-01-01")] == for_spark(nanos, on_loss="note")[
        "t"
    ].to_pylist()
