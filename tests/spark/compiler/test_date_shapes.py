"""Date patterns as one regular expression find the fields of the parser by parts, or none."""

from __future__ import annotations

import random
from zoneinfo import ZoneInfo

import pytest

from schema_core.expressions.date_patterns import Part
from schema_core.spark.compiler.udfs import java_dates, zones
from schema_core.spark.compiler.udfs.date_shapes import simple_fields, time_fields

PATTERNS = (
    "dd/MMM/yyyy:HH:mm:ss", "d MMM yy", "EEE, d MMMM yyyy h:mm a", "yyyyMMddHHmm", "K:mm a", "kk",
    "M/d/yy", "dMMM", "DDD yyyy", "yyyy-MM-dd'T'HH:mm:ss.SSS", "uuuu-LL", "MMM'x'", "yyyy MMM", "",
)  # fmt: skip
#: Patterns that only one of the languages reads by a regular expression.
SIMPLE_PATTERNS = (*PATTERNS, "HH:mm:ss Z", "HH:mmXXX'h'", "HHzz")
#: Patterns of SimpleDateFormat that are always parsed part by part.
LENIENT = frozenset({"", "DDD yyyy", "uuuu-LL", "MMM'x'"})
#: Texts of names by their letters and of numbers, some of which only a lenient parser accepts.
NAMES = {
    **dict.fromkeys("ML", ("Jan", "January", "May", "Mar", "March", "feb", "DEC", "Mai")),
    "E": ("Sunday", "Sun", "Tue", "Tuesday", "wed", "Fr"),
    "a": ("AM", "PM", "PM", "am", "A"),
}
ODD = (" 7", "-7", "+7", "1", "012", "12345678901", "24", "12", "\u0663", "1\u0663", "", "29.")


def written(chance: random.Random, parts: tuple[Part, ...]) -> str:
    """Return a string of about a pattern."""
    texts = []
    for part in parts:
        if part.letter == "'":
            texts.append(part.text)
        elif part.letter in "Ea" or (part.letter in "ML" and part.count > 2):
            texts.append(chance.choice(NAMES[part.letter]))
        elif part.letter in "zZX":
            texts.append(chance.choice(("+0130", "-01:30", "+1", "GMT", "Z", "+02000")))
        else:
            number = f"{chance.randrange(2400 if part.count > 3 else 60):0{part.count}}"
            texts.append(chance.choice([number] * 9 + [chance.choice(ODD)]))
    text = "".join(texts)
    place = chance.randrange(len(text) + 1)
    return chance.choice([text] * 5 + [text[:place] + text[place + 1 :], f"{text} ", f"{text}1"])


@pytest.mark.parametrize("pattern", SIMPLE_PATTERNS)
def test_fields_of_simple_date_format(pattern: str) -> None:
    chance = random.Random(pattern)
    parts = java_dates.SIMPLE.parts(pattern)
    found = 0

    for text in (written(chance, parts) for _ in range(400)):
        fields = simple_fields(text, pattern)
        if fields is not None:
            found += 1
            parsed = java_dates.SIMPLE.parse(text, parts).found
            assert [*fields.items()] == [*parsed.items()], text  # later fields take precedence

    assert bool(found) == (pattern not in LENIENT)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_fields_of_java_time(pattern: str) -> None:
    chance = random.Random(pattern)
    parts = java_dates.TIME.parts(pattern)
    found = 0

    for text in (written(chance, parts) for _ in range(400)):
        try:
            parser = java_dates.TIME.parse(text, parts)
            whole = parser.found if parser.position == len(text) else None
        except java_dates.MismatchError:
            whole = None
        fields = time_fields(text, pattern)
        found += fields is not None
        assert fields == whole or (pattern == "" and fields is None), text

    assert found or pattern == ""


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
        local = zones._local_datetime(seconds)
        utc = local.replace(tzinfo=ZoneInfo("UTC")).astimezone(rules)
        offsets.add(zones.util_offset(zone, seconds))
        assert zones.util_offset(zone, seconds) == zones._offset(utc)
        least = min(zones._offset(local.replace(tzinfo=rules, fold=fold)) for fold in (0, 1))
        assert seconds - zones.util_instant(zone, seconds) == least

    assert len(offsets) == 2
