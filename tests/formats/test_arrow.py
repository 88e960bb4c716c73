"""Arrow types by a table written by hand: a witness that both directions share no mistake."""

from __future__ import annotations

import pyarrow as pa
import pytest

from schema_core import types
from schema_core.errors import UnsupportedError
from schema_core.formats.arrow import NOTE, TO_ARROW, from_field, to_field
from schema_core.types import parse_type

NUMBER = pa.field("value", pa.int32(), nullable=False)


@pytest.mark.parametrize(
    ("sql", "arrow", "nullable"),
    [
        ("TINYINT",                        pa.int8(),                            True),
        ("BIGINT NOT NULL",                pa.int64(),                           False),
        ("DECIMAL(12, 2)",                 pa.decimal128(12, 2),                 True),
        ("FLOAT",                          pa.float32(),                         True),
        ("CHAR(3)",                        pa.string(),                          True),
        ("VARCHAR(7) NOT NULL",            pa.string(),                          False),
        ("BINARY(3)",                      pa.binary(3),                         True),
        ("BYTES",                          pa.binary(),                          True),
        ("DATE",                           pa.date32(),                          True),
        ("TIME(0)",                        pa.time64("us"),                      True),
        ("TIME(9)",                        pa.time64("ns"),                      True),
        ("TIMESTAMP(3)",                   pa.timestamp("us"),                   True),
        ("TIMESTAMP(7)",                   pa.timestamp("ns"),                   True),
        ("TIMESTAMP_LTZ(9)",               pa.timestamp("ns", tz="UTC"),         True),
        ("INTERVAL YEAR TO MONTH",         pa.int32(),                           True),
        ("INTERVAL DAY TO SECOND(3)",      pa.duration("us"),                    True),
        ("ARRAY<INT NOT NULL>",            pa.list_(pa.field("element", pa.int32(), False)), True),
        ("MULTISET<INT>",                  pa.map_(pa.int32(), NUMBER),          True),
        ("ROW<a INT NOT NULL, b STRING>",  pa.struct([pa.field("a", pa.int32(), False),
                                                      pa.field("b", pa.string())]), True),
        ("STRUCTURED<'x.Y', a DOUBLE>",    pa.struct([pa.field("a", pa.float64())]), True),
        ("NULL",                           pa.null(),                            True),
    ],
)  # fmt: skip
def test_physical_type(sql: str, arrow: pa.DataType, nullable: bool) -> None:
    field = to_field("f", parse_type(sql))

    assert arrow == field.type
    assert nullable == field.nullable


@pytest.mark.parametrize(
    ("arrow", "sql"),
    [
        (pa.uint8(),                          "SMALLINT"),
        (pa.uint32(),                         "BIGINT"),
        (pa.uint64(),                         "DECIMAL(20, 0)"),
        (pa.float16(),                        "FLOAT"),
        (pa.large_string(),                   "VARCHAR(2147483647)"),
        (pa.string_view(),                    "VARCHAR(2147483647)"),
        (pa.binary(4),                        "BINARY(4)"),
        (pa.date64(),                         "DATE"),
        (pa.time32("ms"),                     "TIME(3)"),
        (pa.timestamp("s"),                   "TIMESTAMP(0)"),
        (pa.timestamp("ns", tz="Asia/Tokyo"), "TIMESTAMP(9) WITH LOCAL TIME ZONE"),
        (pa.duration("ns"),                   "INTERVAL DAY(2) TO SECOND(6)"),
        (pa.large_list(pa.int8()),            "ARRAY<TINYINT>"),
        (pa.dictionary(pa.int8(), pa.string()), "VARCHAR(2147483647)"),
        (pa.map_(pa.string(), pa.int64()),    "MAP<VARCHAR(2147483647) NOT NULL, BIGINT>"),
    ],
)  # fmt: skip
def test_type_of_a_field_without_note(arrow: pa.DataType, sql: str) -> None:
    assert sql == str(from_field(pa.field("f", arrow)))


@pytest.mark.parametrize(
    "arrow", [pa.decimal256(50, 2), pa.decimal128(5, -2), pa.month_day_nano_interval()]
)
def test_a_column_that_nothing_stands_for_is_refused_by_name(arrow: pa.DataType) -> None:
    with pytest.raises(UnsupportedError) as caught:
        from_field(pa.field("odd", arrow))

    assert "no-flink-type" == caught.value.code
    assert ("field 'odd'",) == caught.value.path


def test_a_note_is_believed_only_while_the_field_fits() -> None:
    noted = to_field("f", parse_type("CHAR(3)"))

    assert "CHAR(3)" == str(from_field(noted))
    assert "INT" == str(from_field(noted.with_type(pa.int32())))
    assert "VARCHAR(2147483647) NOT NULL" == str(from_field(noted.with_nullable(False)))


def test_a_note_that_cannot_be_read_is_left_aside() -> None:
    for note in (b"\xff", b"CHAR(", b"DESCRIPTOR"):
        assert "INT" == str(from_field(pa.field("f", pa.int32(), metadata={NOTE: note})))


def test_every_class_of_type_is_mapped_or_refused() -> None:
    """A new type must be given a row, or be named here as one whose values stay in Flink."""

    public = [getattr(types, name) for name in types.__all__]
    concrete = {one for one in public if isinstance(one, type) and "root" in vars(one)}
    stay = {"SymbolType", "DescriptorType", "UnresolvedType", "LegacyType"}
    assert stay == {kind.__name__ for kind in concrete - set(TO_ARROW)}
