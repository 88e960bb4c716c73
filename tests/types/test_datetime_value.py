"""Datetimes with nanoseconds are compared, hashed, printed and copied with them."""

from __future__ import annotations

import copy
import datetime as dt
import pickle

import pytest

from schema_core.errors import SchemaError
from schema_core.types import NanosecondDatetime

NOON = dt.datetime.fromisoformat("2024-02-29 12:00:00.000005")


def test_order_and_equality() -> None:
    later = [NOON, *(NanosecondDatetime.of(NOON, nano) for nano in (1, 999))]
    next_one = NOON + dt.timedelta(microseconds=1)

    assert [*later, next_one] == sorted([*later[::-1], next_one])
    assert NanosecondDatetime.of(NOON, 0) == NOON
    assert NanosecondDatetime.of(NOON, 1) != NOON
    assert {NOON: 0} == {NanosecondDatetime.of(NOON, 0): 0}
    assert 3 == len(set(later))


@pytest.mark.parametrize("zone", [None, dt.UTC])
def test_copies(zone: dt.tzinfo | None) -> None:
    value = NanosecondDatetime.of(NOON.replace(tzinfo=zone), 7)

    for copied in (copy.deepcopy(value), pickle.loads(pickle.dumps(value)), value.replace()):
        assert (value, 7, zone) == (copied, copied.nanosecond, copied.tzinfo)


def test_fields_and_zones() -> None:
    value = NanosecondDatetime.of(NOON.replace(tzinfo=dt.UTC), 7)
    zone = dt.timezone(dt.timedelta(hours=2))

    assert "2024-02-29 14:00:00.000005007+02:00" == str(value.astimezone(zone))
    assert value == value.astimezone(zone)
    assert "2023-03-01 12:00:00.000005007" == str(value.replace(2023, 3, 1, tzinfo=None))
    assert 0 == (value + dt.timedelta(1)).nanosecond


def test_text() -> None:
    value = NanosecondDatetime.of(NOON.replace(tzinfo=dt.UTC), 7)

    assert "2024-02-29T12:00:00.000005007+00:00" == value.isoformat()
    assert "2024-02-29 12:00:00.000005007+00:00" == str(value)
    assert "2024-02-29T12:00:00+00:00" == value.isoformat(timespec="seconds")


@pytest.mark.parametrize("nanosecond", [-1, 1000, 1.0, True])
def test_nanoseconds_are_limited(nanosecond: object) -> None:
    with pytest.raises(SchemaError, match="from 0 to 999"):
        NanosecondDatetime.of(NOON, nanosecond)  # type: ignore[arg-type]
