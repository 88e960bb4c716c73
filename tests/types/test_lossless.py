"""Lossless conversion of Python values to a type."""

from __future__ import annotations

import datetime as dt
import math
from array import array
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from schema_core.types import DataTypes, Row, parse_type
from schema_core.types.values import convert_losslessly

DAY = dt.date(2020, 2, 29)
NOON = dt.datetime.fromisoformat("2020-02-29 12:00")
MIDNIGHT = dt.datetime.fromisoformat("2020-02-29")
ZONED = NOON.replace(tzinfo=dt.UTC)


@dataclass
class Point:
    x: int
    y: float


@pytest.mark.parametrize(
    ("type_", "value", "expected"),
    [
        ("BOOLEAN", True, True),
        ("BOOLEAN", np.bool_(True), True),
        ("BOOLEAN", None, None),
        ("TINYINT", -128, -128),
        ("SMALLINT", np.int16(7), 7),
        ("INT", 2**31 - 1, 2**31 - 1),
        ("BIGINT", -(2**63), -(2**63)),
        ("BIGINT", np.int64(3), 3),
        ("FLOAT", 0.1, 0.1),
        ("FLOAT", 2**24, 16777216.0),
        ("FLOAT", math.inf, math.inf),
        ("DOUBLE", 1, 1.0),
        ("DOUBLE", -(2**53), -(2.0**53)),
        ("DOUBLE", np.float32(0.5), 0.5),
        ("DECIMAL(5, 2)", Decimal("1.5"), Decimal("1.50")),
        ("DECIMAL(5, 2)", Decimal("1.5000"), Decimal("1.50")),
        ("DECIMAL(5, 2)", Decimal("1.545"), Decimal("1.54")),
        ("DECIMAL(5, 2)", Decimal("1.555"), Decimal("1.56")),
        ("DECIMAL(5, 2)", 999, Decimal("999.00")),
        ("DECIMAL(38, 0)", 10**38 - 1, Decimal(10**38 - 1)),
        ("DECIMAL(38, 38)", Decimal("1e-38"), Decimal("1e-38")),
        ("CHAR(3)", "äöü", "äöü"),
        ("VARCHAR(3)", "ab", "ab"),
        ("STRING", "", ""),
        ("STRING", np.str_("a"), "a"),
        ("BINARY(2)", b"ab", b"ab"),
        ("BYTES", bytearray(b"a\0"), b"a\0"),
        ("DATE", DAY, DAY),
        ("DATE", MIDNIGHT, DAY),
        ("TIME(0)", dt.time(1, 2, 3), dt.time(1, 2, 3)),
        ("TIME(3)", dt.time(1, 2, 3, 4000), dt.time(1, 2, 3, 4000)),
        ("TIMESTAMP(0)", NOON, NOON),
        ("TIMESTAMP(6)", NOON.replace(microsecond=1), NOON.replace(microsecond=1)),
        ("TIMESTAMP(6)", pd.Timestamp(NOON), NOON),
        ("TIMESTAMP_LTZ(3)", NOON, NOON),
        ("ARRAY<DOUBLE>", [1, None, 2.5], [1.0, None, 2.5]),
        ("ARRAY<INT>", (1, 2), [1, 2]),
        ("ARRAY<INT>", array("i", [1, 2]), [1, 2]),
        ("ARRAY<BIGINT>", np.array([1, 2]), [1, 2]),
        ("MAP<STRING, DOUBLE>", {"a": 1}, {"a": 1.0}),
        ("ROW<x INT, y DOUBLE>", (1, 2), (1, 2.0)),
        ("ROW<x INT, y DOUBLE>", [1, None], (1, None)),
        ("ROW<x INT, y DOUBLE>", {"y": 2, "x": 1}, (1, 2.0)),
        ("ROW<x INT, y DOUBLE>", {"x": 1}, (1, None)),
        ("ROW<x INT, y DOUBLE>", Row(1, 2.0), (1, 2.0)),
        ("ROW<x INT, y DOUBLE>", Row(y=2, x=1), (1, 2.0)),
        ("ROW<x INT, y DOUBLE>", Point(1, 2), (1, 2.0)),
        ("ROW<r ROW<d DECIMAL(3, 1)>>", ({"d": 1},), ((Decimal("1.0"),),)),
    ],
)
def test_lossless_conversions(type_: str, value: object, expected: object) -> None:
    converted, reason = convert_losslessly(parse_type(type_), value)

    assert reason is None
    assert (expected, repr(expected)) == (converted, repr(converted))


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        ("BOOLEAN", 1),
        ("BOOLEAN", "true"),
        ("BOOLEAN NOT NULL", None),
        ("TINYINT", 128),
        ("TINYINT", True),
        ("INT", 2**40),
        ("INT", 1.0),
        ("INT", "1"),
        ("INT", Decimal(1)),
        ("BIGINT", 2**63),
        ("INT NOT NULL", None),
        ("FLOAT", 2**24 + 1),
        ("FLOAT", 1e300),
        ("FLOAT", "1.5"),
        ("DOUBLE", 2**53 + 1),
        ("DOUBLE", 10**400),
        ("DOUBLE", True),
        ("DOUBLE", Decimal("0.5")),
        ("DECIMAL(5, 2)", 1.5),
        ("DECIMAL(5, 2)", 1000),
        ("DECIMAL(5, 2)", Decimal("NaN")),
        ("DECIMAL(5, 2)", Decimal("1e999999")),
        ("CHAR(3)", "ab"),
        ("VARCHAR(3)", "abcd"),
        ("STRING", b"a"),
        ("STRING", 1),
        ("STRING", "\ud800"),
        ("BINARY(2)", b"abc"),
        ("BYTES", "a"),
        ("DATE", NOON),
        ("DATE", ZONED),
        ("DATE", "2020-02-29"),
        ("TIME(0)", dt.time(1, 2, 3, 1)),
        ("TIME(3)", dt.time(1, 2, 3, 1)),
        ("TIME(3)", dt.time(1, tzinfo=dt.UTC)),
        ("TIMESTAMP(3)", NOON.replace(microsecond=1)),
        ("TIMESTAMP(3)", ZONED),
        ("TIMESTAMP(3)", DAY),
        ("TIMESTAMP(3)", 0),
        ("TIMESTAMP(6)", pd.Timestamp(1)),
        ("TIMESTAMP(6)", pd.NaT),
        ("ARRAY<INT>", 1),
        ("ARRAY<INT>", "12"),
        ("ARRAY<INT>", [1, 2.5]),
        ("ARRAY<INT NOT NULL>", [1, None]),
        ("ARRAY<ARRAY<TINYINT>>", [[1], [200]]),
        ("MAP<STRING, INT>", [("a", 1)]),
        ("MAP<STRING, INT>", {1: 1}),
        ("MAP<STRING, INT NOT NULL>", {"a": None}),
        ("ROW<x INT, y DOUBLE>", (1,)),
        ("ROW<x INT, y DOUBLE>", {"x": 1, "z": 2}),
        ("ROW<x INT, y DOUBLE>", Row(x=1, z=2)),
        ("ROW<x INT, y DOUBLE>", "ab"),
        ("ROW<x INT, y DOUBLE>", 1),
        ("ROW<x INT, y DOUBLE>", object()),
        ("ROW<x INT NOT NULL>", (None,)),
        ("ROW<x INT NOT NULL>", {}),
    ],
)
def test_lossy_conversions_are_refused(type_: str, value: object) -> None:
    converted, reason = convert_losslessly(parse_type(type_), value)

    assert converted is None
    assert reason is not None


def test_the_reason_names_the_part() -> None:
    row = DataTypes.ROW([DataTypes.FIELD("tags", DataTypes.ARRAY(DataTypes.TINYINT()))])

    assert "field 'tags', element 1: 200 is outside -128..127" == str(
        convert_losslessly(row, {"tags": [1, 200]})[1]
    )
