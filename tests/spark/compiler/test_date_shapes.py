"""Fields of strings by date patterns: what is formatted is parsed, and what Java parses besides."""

from __future__ import annotations

import random
from zoneinfo import ZoneInfo

import pytest

from schema_core.spark.compiler.udfs import UdfError, calendars, java_dates
from schema_core.spark.compiler.udfs.date_shapes import simple_fields, time_fields

#: Patterns by which a datetime is found again, up to the smallest unit.
PATTERNS = {
    "dd/MMM/yyyy:HH:mm:ss": 1, "yyyyMMddHHmmss": 1, "EEE, d MMMM yyyy h:mm a": 60,
    "G yyyy MM dd K:mm a": 60, "D yyyy HHmm": 60, "yyyy-MM-dd'T'HH:mm:ss.SSS": 1,
    "MMM'x' dd yyyy kk": 3600, "yyyy MM MMM LL dd": 86_400,
}  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_formatted_datetime_is_parsed(pattern: str) -> None:
    chance = random.Random(pattern)
    unit = PATTERNS[pattern]

    for _ in range(200):
        seconds = chance.randrange(-5_000_000_000, 100_000_000_000) // unit * unit
        text = java_dates.date_format(seconds, 0, pattern)
        assert seconds * 1_000_000 == java_dates.to_timestamp(text, pattern), text
        text = java_dates.simple_format(seconds, pattern, "UTC")
        assert seconds == java_dates.unix_timestamp(text, pattern, "UTC"), text


@pytest.mark.parametrize(
    ("text", "pattern", "fields"),
    [
        (" 1/FEB/24x", "dd/MMM/yy", {"d": 1, "M": 2, "y": 2024}),
        ("\t-7: 99", "H:m", {"H": -7, "m": 99}),
        ("20-2", "yyyyMM", {"y": 20, "M": -2}),
        ("2024 1", "yyyyMM", {"y": 2024, "M": 1}),
        ("2024", "yyyyMM", None),
        ("\u0661\u0662", "d", {"d": 12}),
        ("99999999999999999999", "d", {"d": -1}),
        ("4294967297", "d", {"d": 1}),
        ("24 12", "k h", {"H": 0, "K": 0}),
        ("march Mai", "MMM", {"M": 3}),
        ("Mai", "MMM", None),
        ("1 2 3", "d M d", {"M": 2, "d": 3}),
        ("+1 gmt-02:30 z", "X Z z", {"Z": 0}),
        ("bc 4", "G y", {"G": 0, "y": 4}),
        ("", "", None),
    ],
)
def test_fields_of_simple_date_format(
    text: str, pattern: str, fields: dict[str, int] | None
) -> None:
    result = simple_fields(text, pattern)

    assert fields == result
    assert list(fields or ()) == list(result or ())  # later fields take precedence


@pytest.mark.parametrize(
    ("text", "pattern", "fields"),
    [
        ("29 Feb 24", "dd MMM yy", {"d": 29, "M": 2, "y": 2024}),
        ("29 feb 24", "dd MMM yy", None),
        ("29 Feb 24 ", "dd MMM yy", None),
        ("+12345-7", "uuuu-M", {"u": 12345, "M": 7}),
        ("20240229", "yyyyMMdd", {"y": 2024, "M": 2, "d": 29}),
        ("\u0661", "d", None),
        ("5", "SSS", None),
        ("050", "SSS", {"S": 50_000_000}),
        ("Anno Domini +01:00", "GGGG XXX", {"G": 1}),
        ("02 Feb", "MM MMM", {"M": 2}),
        ("02 Mar", "MM MMM", None),
        ("", "", {}),
    ],
)
def test_fields_of_java_time(text: str, pattern: str, fields: dict[str, int] | None) -> None:
    assert fields == time_fields(text, pattern)


def test_a_letter_that_is_not_parsed_fails_if_what_precedes_it_matches() -> None:
    assert time_fields("x 1", "d Q") is None
    assert simple_fields("x 1", "d Z") is None
    with pytest.raises(UdfError, match="letter Q is not supported"):
        time_fields("1 1", "d Q")
    with pytest.raises(UdfError, match="optional parts"):
        time_fields("x", "d[ H]")
    with pytest.raises(UdfError, match="letter W is not supported"):
        simple_fields("x", "d W")


@pytest.mark.parametrize(
    ("zone", "instant"),
    [
        ("Africa/Freetown", -957_049_200),  # returns to its offset after four days
        ("Asia/Gaza", 2_234_217_600),  # and after a week
        ("Australia/Lord_Howe", 1_617_462_000),  # changes by half an hour
        ("America/New_York", 1_604_210_400),
        ("Pacific/Apia", 1_325_239_200),  # skips a day
    ],
)
def test_offsets_near_transitions(zone: str, instant: int) -> None:
    rules = ZoneInfo(zone)
    offsets = set()

    for seconds in range(instant - 8 * 86_400, instant + 8 * 86_400, 1797):
        local = calendars._local_datetime(seconds)
        utc = local.replace(tzinfo=ZoneInfo("UTC")).astimezone(rules)
        offsets.add(calendars.util_offset(zone, seconds))
        assert calendars.util_offset(zone, seconds) == calendars._offset(utc)
        least = min(calendars._offset(local.replace(tzinfo=rules, fold=fold)) for fold in (0, 1))
        assert seconds - calendars.util_instant(zone, seconds) == least

    assert len(offsets) == 2
