"""Values as PyFlink exchanges them with its workers."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from schema_core.types import (
    DataTypes,
    LocalZonedTimestampType,
    Row,
    ZonedTimestampType,
    parse_type,
)
from schema_core.types.user_defined import UserDefinedType

DAY = dt.date(2020, 1, 1)


@pytest.mark.parametrize(
    ("type_", "value", "exchanged"),
    [
        ("DATE", DAY, 18262),
        ("INT", 5, 5),
        ("DATE", None, None),
        ("ARRAY<DATE>", [DAY, None], [18262, None]),
        ("ARRAY<INT>", [1], [1]),
        ("MULTISET<DATE>", [DAY], [18262]),
        ("MAP<DATE, DATE>", {DAY: None}, {18262: None}),
        ("ROW<a INT, b DATE>", Row(a=1, b=DAY), (1, 18262)),
        ("INTERVAL DAY TO SECOND", dt.timedelta(days=1, seconds=10, microseconds=1), 86410000001),
    ],
)
def test_values_are_exchanged_as_numbers(type_: str, value: Any, exchanged: Any) -> None:
    data_type = parse_type(type_)

    assert exchanged == data_type.to_sql_type(value)
    assert value == data_type.from_sql_type(exchanged)


def test_only_types_with_dates_and_times_need_a_conversion() -> None:
    needing = ["DATE", "TIME", "TIMESTAMP", "ARRAY<DATE>", "ROW<a INT>", "MAP<INT, TIME>"]
    assert all(parse_type(text).need_conversion() for text in needing)
    assert not any(parse_type(text).need_conversion() for text in ("INT", "ARRAY<ARRAY<STRING>>"))
    field = DataTypes.FIELD("a", DataTypes.DATE())
    assert (True, 18262, DAY) == (
        field.need_conversion(),
        field.to_sql_type(DAY),
        field.from_sql_type(18262),
    )


def test_times_are_those_of_the_zone_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    time, local, instant = DataTypes.TIME(), DataTypes.TIMESTAMP(), DataTypes.TIMESTAMP_LTZ()
    clock, at = dt.time(1, 2, 3, 4), dt.datetime(2020, 1, 2, 3, 4, 5, 6)  # noqa: DTZ001
    for type_, value in ((time, clock), (local, at), (instant, at)):
        assert value == type_.from_sql_type(type_.to_sql_type(value))
    tokyo = dt.timezone(dt.timedelta(hours=9))
    monkeypatch.setattr(LocalZonedTimestampType, "EPOCH_ORDINAL", 8 * 3600 * 10**6)
    assert -3600 * 10**6 == instant.to_sql_type(dt.datetime(1970, 1, 1, tzinfo=tokyo))
    zoned = ZonedTimestampType()
    start = dt.datetime(1970, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=1)))
    assert (0, 3600) == zoned.to_sql_type(start)
    assert start == zoned.from_sql_type((0, 3600))


class Point:
    def __init__(self, x: float) -> None:
        self.x = x


class PointType(UserDefinedType):
    @classmethod
    def sql_type(cls) -> Any:
        return parse_type("ROW<x DOUBLE, d DATE>")

    def serialize(self, obj: Any) -> Any:
        return obj.x, DAY

    def deserialize(self, datum: Any) -> Any:
        return Point(datum.x)


def test_objects_are_exchanged_as_the_values_that_store_them() -> None:
    type_ = PointType()
    assert type_.need_conversion()
    assert (1.5, 18262) == type_.to_sql_type(Point(1.5))
    assert 1.5 == type_.from_sql_type((1.5, 18262)).x
