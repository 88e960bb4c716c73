"""Native translations return the results of the Python functions that they replace."""

from __future__ import annotations

import base64
import datetime as dt
import math
import random
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from schema_core.expressions.date_patterns import parse_simple_pattern
from schema_core.expressions.type_checker import ColumnScope, infer
from schema_core.spark.compiler.expression import compile_expression
from schema_core.spark.compiler.functions import datetimes, encodings, strings
from schema_core.spark.compiler.functions import numeric_patterns as native
from schema_core.spark.compiler.tree import Column, Fact, Literal, Node, to_sql
from schema_core.spark.compiler.udfs import UdfError, java_dates
from schema_core.spark.compiler.udfs import json as udfs_json
from schema_core.spark.compiler.udfs import strings as udfs
from schema_core.spark.session.frames import select
from schema_core.sql.parser import parse_expression
from schema_core.types import DataTypes, TimestampType, TimeType, parse_type

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TEXT = Column("v")

#: Patterns with separators, without them, of one digit, with milliseconds.
PATTERNS = (
    "yyyy-MM-dd HH:mm:ss",
    "yyyyMMdd",
    "d.M.yyyy",
    "yyyy-MM-dd'T'HH:mm:ss.SSS",
)
ZONES = ("UTC", "America/New_York", "GMT-03:30", "Australia/Lord_Howe")

#: Numbers that a lenient parser reads in its own way.
ODD = (
    "", "+5", "-7", "- 1", "99999999999", "9223372036854775807", "-9223372036854775808",
    "99999999999999999999999", "٣", "1٣", "\t7", "0001", "1582", "10000", "00",
)  # fmt: skip

_LIMITS = {"y": 2400, "M": 14, "d": 33, "H": 25, "m": 61, "s": 61, "S": 1000}


def written(chance: random.Random, pattern: str) -> str:
    """Return a string of about a pattern."""
    parts = []
    for part in parse_simple_pattern(pattern):
        if part.letter == "'":
            parts.append(part.text)
            continue
        number = chance.randrange(1450 if part.letter == "y" else 0, _LIMITS[part.letter])
        usual = f"{number:0{part.count}}"
        parts.append(chance.choice([usual] * 17 + [str(number), f" {number}", chance.choice(ODD)]))
    text = "".join(parts)
    place = chance.randrange(len(text) + 1)
    damaged = (text + "x", text + " ", f" {text}", text[:place], text[:place] + "-" + text[place:])
    return chance.choice([text] * 15 + [*damaged, "", "2020-02-30 24:00:00", "1582-10-15"])


def texts(pattern: str, count: int = 150) -> list[str]:
    chance = random.Random(pattern)
    return [written(chance, pattern) for _ in range(count)]


def compare(
    session: SparkSession,
    values: Sequence[Any],
    columns: Sequence[tuple[Node, Callable[[Any], Any]]],
) -> None:
    """Compare nodes over a column `v` with Python functions of its values."""
    type_ = "STRING" if isinstance(values[0], str) else "BIGINT"
    frame = session.createDataFrame([(value,) for value in values], f"v {type_}").coalesce(1)
    assert not any(node.facts & Fact.UDF for node, _ in columns)
    rows = select(frame, [(node, f"c{place}") for place, (node, _) in enumerate(columns)]).collect()
    different = [
        (value, place, row[place], expected)
        for value, row in zip(values, rows, strict=True)
        for place, (_, function) in enumerate(columns)
        if row[place] != (expected := function(value))
    ]

    assert not different


def simple(pattern: str) -> native.NumericPattern:
    parsed = native.simple_pattern(Literal(pattern))
    assert parsed is not None
    return parsed


def fits(pattern: str, value: str) -> bool:
    """Return whether Python can return the timestamp, whose microseconds may be too many."""
    return abs(java_dates.to_timestamp(value, pattern) or 0) < 2**63


@pytest.mark.parametrize("pattern", PATTERNS)
def test_parsing_by_a_pattern(session: SparkSession, pattern: str) -> None:
    zone = ZONES[PATTERNS.index(pattern) % len(ZONES)]
    time = native.time_pattern(Literal(pattern))
    assert time is not None
    values = [text for text in texts(pattern) if fits(pattern, text)]
    days = native.to_date(TEXT, simple(pattern))
    stamp = native.to_timestamp(TEXT, time)

    compare(
        session,
        values,
        [
            (
                native.unix_timestamp(TEXT, simple(pattern), zone),
                lambda v: java_dates.unix_timestamp(v, pattern, zone),
            ),
            (
                datetimes.days(days),
                lambda v: ((java_dates.to_date(v, pattern) or 0) + 2**31) % 2**32 - 2**31,
            ),
            (datetimes.micros(stamp), lambda v: java_dates.to_timestamp(v, pattern)),
        ],
    )


def test_formatting_by_a_pattern(session: SparkSession) -> None:
    chance = random.Random(1)
    limits = (2**63 - 1, 300_000_000_000, 70_000_000_000, 3_000_000_000)
    seconds = [chance.randrange(-limit, limit) for limit in limits for _ in range(40)]
    seconds += [-12219292800 + day * 86400 - 1 for day in range(-12, 3)]

    compare(
        session,
        seconds,
        [
            (
                native.from_unixtime(TEXT, simple(pattern), zone),
                partial(java_dates.simple_format, pattern=pattern, zone=zone),
            )
            for pattern, zone in zip(PATTERNS, reversed(ZONES), strict=True)
        ],
    )


def test_conversion_between_zones(session: SparkSession) -> None:
    hours = [
        dt.datetime(2021, month, day, tzinfo=dt.UTC) + dt.timedelta(minutes=20 * step)
        for month, day in ((3, 14), (4, 4), (10, 3), (11, 7))
        for step in range(-6, 18)
    ]
    pairs = [("America/New_York", "UTC"), ("Australia/Lord_Howe", "GMT-03:30")]

    compare(
        session,
        [f"{hour:%Y-%m-%d %H:%M:%S}" for hour in hours] + texts(java_dates.STANDARD_PATTERN),
        [
            (
                native.convert_tz(TEXT, *pair),
                lambda v, pair=pair: java_dates.convert_tz(v, *pair),
            )
            for pair in pairs
        ]
        + [
            (
                native.convert_tz(TEXT, "UTC", "UTC", simple("dd/MM/yyyy HH.mm.ss.SSS")),
                lambda v: java_dates.reformat_datetime(v, "dd/MM/yyyy HH.mm.ss.SSS"),
            )
        ],
    )


@pytest.mark.parametrize(
    "pattern", ["yy-MM-dd", "dd MMM yyyy", "yyyy-MM-dd EEE", "hh:mm a", "yyyyMd", "yyyy yyyy", "S"]
)
def test_other_patterns_are_left_to_python(pattern: str) -> None:
    assert native.simple_pattern(Literal(pattern)) is None


def test_casts_of_usual_strings_are_those_of_any_string(session: SparkSession) -> None:
    patterns = (*PATTERNS, "yyyy-MM-dd", "HH:mm:ss", "HH:mm:ss.SSS", "yyyy-MM-dd HH:mm:ss.SSS")
    values = [
        text + more for pattern in patterns for text in texts(pattern, 60) for more in ("", "0123")
    ]
    stamps = [TimestampType(precision) for precision in (0, 3)]
    pairs = [
        (datetimes.date_of_string(TEXT), datetimes.any_date_of_string(TEXT)),
        *(
            (
                datetimes.timestamp_of_string(TEXT, stamp),
                datetimes.any_timestamp_of_string(TEXT, stamp),
            )
            for stamp in stamps
        ),
        (
            datetimes.time_of_string(TEXT, TimeType(2)),
            datetimes.any_time_of_string(TEXT, TimeType(2)),
        ),
    ]
    frame = session.createDataFrame([(value,) for value in values], "v STRING").coalesce(1)
    rows = frame.selectExpr(
        "v", *(f"CAST({to_sql(token)} AS STRING)" for pair in pairs for token in pair)
    ).collect()

    assert [row for row in rows if row[1::2] != row[2::2]] == []
    assert all(any(row[place] for row in rows) for place in range(1, len(rows[0])))


@pytest.mark.parametrize("name", ["lpad", "rpad"])
def test_padding_counts_utf16_units(session: SparkSession, name: str) -> None:
    chance = random.Random(2)
    values = ["".join(chance.choices("aé漢😀", k=chance.randrange(7))) for _ in range(80)]
    function: Callable[..., str | None] = getattr(udfs, name)

    def padded(length: int, filler: str, value: str) -> str | None:
        return function(value, length, filler)

    compare(
        session,
        values,
        [
            (
                strings.padded_constantly(name, TEXT, length, filler),
                partial(padded, length, filler),
            )
            for length, filler in ((0, "x"), (1, "é"), (3, "x"), (9, "-é漢"))
        ],
    )


def test_base64(session: SparkSession) -> None:
    chance = random.Random(3)
    values = [
        base64.b64encode(chance.randbytes(chance.randrange(12))).decode()[: chance.choice([-1, 99])]
        for _ in range(200)
    ] + ["=", "==", "abc==", "ab=", "abcd=", "a", "abcde", "a b=", "abc\n", "aGk", "aGk="]
    failed = "`v`))"
    node = to_sql(encodings.decoded_base64(TEXT))
    assert failed in node

    def expected(value: str) -> str | None:
        try:
            return udfs.from_base64(value)
        except UdfError:
            return f"invalid Base64: {value}"

    frame = session.createDataFrame([(value,) for value in values], "v STRING").coalesce(1)
    rows = frame.selectExpr(node.replace("raise_error(", "(")).collect()

    assert [row[0] for row in rows] == list(map(expected, values))


#: Pieces of URLs, of which strings are made.
URL_PIECES = (
    "http:", "HTTPS:", "mailto:", "url:", "ftp:", "ssh:", "jar:", "//", "/", "?", "#", "@", ":",
    "[::1]", "[", "]", "host", "a.b", "k=v", "&", "k=", "k", "é", "%20", " ", "\n", "user:pass@",
    "file:", "=", "80",
)  # fmt: skip


def test_parts_of_urls(session: SparkSession) -> None:
    chance = random.Random(4)
    values = ["".join(chance.choices(URL_PIECES, k=chance.randrange(8))) for _ in range(200)]
    values += [
        chance.choice(("http:", "https:", "mailto:", " ftp:")) + chance.choice(("//", ""))
        + "".join(chance.choices(URL_PIECES[7:], k=chance.randrange(9)))
        for _ in range(400)
    ]  # fmt: skip

    compare(
        session,
        values,
        [
            (encodings.parse_url(TEXT, part), lambda v, part=part: udfs.parse_url(v, part))
            for part in (*sorted(encodings.PARTS), "other")
        ]
        + [
            (
                encodings.parse_url_key(TEXT, "k"),
                lambda v: udfs.parse_url_key(v, "QUERY", "k"),
            )
        ],
    )


#: Values of JSON documents, some of them invalid.
JSON_VALUES = (
    '"x"', '""', '"1.50"', "1", "-0", "12345678901234567890", "1.0", "1e3", "true", "null", "[1]",
    '"\\u00e9"', '"\\ud83d\\ude00"', '"a\\nb"', '"\\u0000"', '{"b":1}', "01", "NaN", "'q'", '"\\x"',
    "9223372036854775808", "-9223372036854775808", "", "-", "1.50", "-0.0", "0.00", "0E-10", "1E-7",
    "0.0000001", "0.0000010", "1.5E-3", "12.34e1", "100.00e-2", "1E400", "0." + "0" * 40 + "1",
    '"{\\"b\\":1}"', '"[1]"', '"1E5"', '"true"', '"s"', '"\t"', "nul",
)  # fmt: skip
JSON_DOCUMENTS = (
    '{{"a":{{"b":{}}}}}', '{{"a":{{"b":{},"c":2}}}}', '{{"a":{{"b":{},"b":3}}}}',
    ' {{"a":{{"b":{}}}}} ',
    '{{"a":{{"b":2,"b":{}}}}}', '{{"a":{{"b":2}},"a":{}}}', '{{"a":{},"a":{{"b":2}}}}',
    '{{"x":1,"x":[{}],"\\u0061":{{"b":1.0}}}}', '{{"a":{}}}',
    '{{"a":{{"b":{}}}}} x', '{{"a":{{"b":{}}}', "{}", '{{"b":1,"a":[{}]}}',
)  # fmt: skip


def test_values_of_json(session: SparkSession) -> None:
    typed = infer(
        ColumnScope({"v": DataTypes.STRING()}),
        parse_expression(
            "JSON_VALUE(v, '$.a.b' DEFAULT 'empty' ON EMPTY DEFAULT 'error' ON ERROR)"
        ),
    )
    values = [document.format(value) for value in JSON_VALUES for document in JSON_DOCUMENTS]
    clauses = ("STRING", "DEFAULT", "empty", "DEFAULT", "error")
    beyond = ('{"a":{"b":1e99999999999999999999}}', '{"a":{"b":0.1e-2147483648}}')
    rare = [*beyond, '{"a":{"b":1e2147483647}}']
    frame = session.createDataFrame([(v,) for v in (*values, *rare)], "v STRING").coalesce(1)
    rows = select(frame, [(compile_expression(typed), "x")]).collect()

    expected = [udfs_json.json_value(value, "$.a.b", *clauses) for value in values]
    # BigDecimal has a scale of an INT; the reference's exponents are larger
    expected += ["error", "error", "1E+2147483647"]
    assert expected == [row[0] for row in rows]
    assert {"x", "1", "1.0", "error"} <= set(expected)


def test_json_functions(session: SparkSession) -> None:
    scope = ColumnScope({"v": DataTypes.STRING()})
    values = [document.format(value) for value in JSON_VALUES for document in JSON_DOCUMENTS]
    values += [
        *JSON_VALUES,
        *(f" {json_value} x" for json_value in JSON_VALUES),
        *(f"{json_value}x" for json_value in JSON_VALUES),
    ]
    cases: dict[str, Callable[[str], object]] = {
        **{
            f"v IS JSON {kind}": partial(udfs_json.is_json, kind=kind)
            for kind in ("VALUE", "OBJECT", "ARRAY", "SCALAR")
        },
        **{
            f"JSON_EXISTS(v, '$.a.b' {word} ON ERROR)": partial(
                udfs_json.json_exists, path="$.a.b", on_error=word
            )
            for word in ("TRUE", "FALSE", "UNKNOWN")
        },
        "JSON_QUERY(v, '$.a')": lambda v: udfs_json.json_query(v, "$.a", "WITHOUT", "NULL", "NULL"),
    }
    nodes = [compile_expression(infer(scope, parse_expression(case))) for case in cases]
    frame = session.createDataFrame([(value,) for value in values], "v STRING").coalesce(1)
    columns = [(node, f"c{place}") for place, node in enumerate(nodes)]
    rows = select(frame, [(TEXT, "v"), *columns]).collect()

    assert [
        (value, case, result)
        for value, *results in rows
        for (case, function), result in zip(cases.items(), results, strict=True)
        if result != function(value)
    ] == []
    assert len(rows) == len(values)


#: Strings, and what TRY_CAST of Flink 2.3 makes of them.
CAST_TYPES = ("INT", "DOUBLE", "DECIMAL(12, 2)", "DECIMAL(18, 10)", "DECIMAL(30, 5)")
CASTS = (
    ("", None, None, None, None, None),
    ("-", None, None, None, None, None),
    (".", 0, None, "0.00", "0.0000000000", None),
    ("-.", 0, None, "0.00", "0.0000000000", None),
    ("..", None, None, None, None, None),
    (" +7 ", 7, 7.0, "7.00", "7.0000000000", "7.00000"),
    ("\t7", None, 7.0, "7.00", "7.0000000000", "7.00000"),
    ("-12.345", -12, -12.345, "-12.35", "-12.3450000000", "-12.34500"),
    ("12.345\r", None, 12.345, "12.35", "12.3450000000", None),
    ("0.25", 0, 0.25, "0.25", "0.2500000000", "0.25000"),
    ("0x1p3", None, 8.0, None, None, None),
    ("NaN\x1c", None, math.nan, None, None, None),
    ("nan", None, None, None, None, None),
    ("-0x1p99999", None, -math.inf, None, None, None),
    ("1e400f", None, math.inf, None, None, None),
    ("inf", None, None, None, None, None),
    ("1x", None, None, "1.00", "1.0000000000", None),
    ("1e5x", None, None, "100000.00", "100000.0000000000", None),
    ("1e+", None, None, None, None, None),
    ("15e-3", None, 0.015, "0.02", "0.0150000000", "0.01500"),
    ("1e-20", None, 1e-20, "0.00", "0.0000000000", "0.00000"),
    ("1e-21", None, 1e-21, None, "0.0000000000", "0.00000"),
    ("0e99", None, 0.0, None, None, "0.00000"),
    ("1e9", None, 1e9, "1000000000.00", None, "1000000000.00000"),
    ("000000000000000001", 1, 1.0, None, None, "1.00000"),
    ("0000000000000000001", 1, 1.0, "1.00", "1.0000000000", "1.00000"),
    ("\uff19", None, None, None, None, "9.00000"),
)


def test_casts_of_strings_to_numbers(session: SparkSession) -> None:
    scope = ColumnScope({"v": DataTypes.STRING()})
    nodes = [
        compile_expression(infer(scope, parse_expression(f"TRY_CAST(v AS {data_type})")))
        for data_type in CAST_TYPES
    ]
    frame = session.createDataFrame([(cast[0],) for cast in CASTS], "v STRING").coalesce(1)
    columns = [(node, f"c{place}") for place, node in enumerate(nodes)]
    rows = select(frame, [(TEXT, "v"), *columns]).collect()

    def shown(value: object) -> object:
        return f"{value:f}" if isinstance(value, Decimal) else str(value)

    assert [tuple(map(shown, row)) for row in rows] == [tuple(map(shown, cast)) for cast in CASTS]


def test_a_mask_of_digits_admits_no_other_strings(session: SparkSession) -> None:
    chance = random.Random(6)
    values = []
    for _ in range(1500):
        text = list(f"{chance.randrange(3000):04}-0{chance.randrange(1, 9)}-1{chance.randrange(9)}")
        text += list(f" 0{chance.randrange(9)}:1{chance.randrange(9)}:2{chance.randrange(9)}")
        text[chance.randrange(len(text))] = chance.choice("0 -:+.TZ/\t\0é1")
        clock = "".join(text[11:])  # a time that a zone moves beyond the day fails the job
        values += ["".join(text), "".join(text[:10]), re.sub("[+-]", "Z", clock)]
    pairs = [
        (datetimes.date_of_string(TEXT), datetimes.any_date_of_string(TEXT)),
        (
            datetimes.timestamp_of_string(TEXT, TimestampType(3)),
            datetimes.any_timestamp_of_string(TEXT, TimestampType(3)),
        ),
        (
            datetimes.time_of_string(TEXT, TimeType(0)),
            datetimes.any_time_of_string(TEXT, TimeType(0)),
        ),
    ]
    frame = session.createDataFrame([(value,) for value in values], "v STRING").coalesce(1)
    rows = frame.selectExpr(
        "v", *(f"CAST({to_sql(token)} AS STRING)" for pair in pairs for token in pair)
    ).collect()

    assert [row for row in rows if row[1::2] != row[2::2]] == []


# --- functions of several arguments --------------------------------------------------------------

#: Strings that one of the functions below treats specially.
SPECIAL_STRINGS = (
    "", "6162", "4", "zz", "é4", "127.1", "1.2.3.4", "256.1.1.1", "1.2.3.4.5", "1..2", "0x1p-3",
    " 1.5e400f ", "NaN", "1_000", "1\n", "\u0663", '"a"', '"a\\u00e9"', '"a" "b"', '"\\ud800"', '"',
    '"a\nb"', '"\\x"', '"a\\"', "a/b\\c\td\x01", "\u0080\u00ff\u0100\uffff", "b😀😀",
)  # fmt: skip
DATE_PATTERNS = ("EEE, d MMM yyyy h:m a", "EEEE dd MMMM yy K:k:H:s", "D DDD E M yyyyMMdd SSS")


def in_string(start: int, row: Any) -> object:
    return udfs.instr(row.s, row.t, start, 1)


def encoded(charset: str, row: Any) -> object:
    return udfs.encode(row.s, charset)


def decoded(charset: str, row: Any) -> object:
    return udfs.decode(row.s.encode(), charset)


def formatted(pattern: str, row: Any) -> object:
    seconds = (row.ts - dt.datetime(1970, 1, 1)) // dt.timedelta(seconds=1)  # noqa: DTZ001
    return java_dates.date_format(seconds, 0, pattern)


#: Expression -> the Python function of a row that has its results.
REFERENCES: dict[str, Callable[[Any], object]] = {
    "UNHEX(s)": lambda row: udfs.unhex(row.s),
    "INET_ATON(s)": lambda row: udfs.inet_aton(row.s),
    "INET_NTOA(l)": lambda row: udfs.inet_ntoa(row.l),
    "IS_DECIMAL(s)": lambda row: udfs.is_decimal(row.s),
    "JSON_QUOTE(s)": lambda row: udfs_json.json_quote(row.s),
    "JSON_UNQUOTE(s)": lambda row: (udfs_json.json_unquote(row.s) or "").replace("\ud800", "?"),
    "OVERLAY(s PLACING t FROM i)": lambda row: udfs.overlay(
        row.s, row.t, row.i, len(udfs.to_units(row.t)) // 2
    ),
    "OVERLAY(s PLACING t FROM i FOR n)": lambda row: udfs.overlay(row.s, row.t, row.i, row.n),
    "LOCATE(t, s, i)": lambda row: udfs.locate(row.t, row.s, row.i),
    "LOCATE(t, s, 2)": lambda row: udfs.locate(row.t, row.s, 2),
    "LOCATE(t, s, -2)": lambda row: udfs.locate(row.t, row.s, -2),
    **{f"INSTR(s, t, {start})": partial(in_string, start) for start in (-3, -2, -1, 1, 2)},
    **{
        f"ENCODE(s, '{charset}')": partial(encoded, charset)
        for charset in ("US-ASCII", "ISO-8859-1", "UTF-16", "UTF-16BE", "UTF-16LE")
    },
    **{
        f"DECODE(ENCODE(s, 'UTF-8'), '{charset}')": partial(decoded, charset)
        for charset in ("US-ASCII", "ISO-8859-1")
    },
    **{f"DATE_FORMAT(ts, '{pattern}')": partial(formatted, pattern) for pattern in DATE_PATTERNS},
}


def test_functions_of_several_arguments(session: SparkSession) -> None:
    chance = random.Random(6)
    places = (-(2**31), -(2**31) + 1, -3, -1, 0, 1, 2, 3, 5, 2**31 - 1)
    texts = [*SPECIAL_STRINGS, *("".join(chance.choices("aabé漢😀", k=7)) for _ in range(300))]
    types = {"s": "STRING", "t": "STRING", "i": "INT", "n": "INT", "l": "BIGINT"}
    rows = [
        (
            text,
            "".join(chance.choices("ab😀", k=chance.randrange(3))),
            chance.choice(places),
            chance.choice(places),
            chance.choice((-1, 0, 2**32 - 1, 2**32, chance.randrange(2**32))),
            dt.datetime(1, 1, 1) + dt.timedelta(seconds=chance.randrange(3 * 10**11)),  # noqa: DTZ001
        )
        for text in texts
    ]
    frame = session.createDataFrame(
        rows, ", ".join(f"{name} {type_}" for name, type_ in types.items()) + ", ts TIMESTAMP_NTZ"
    )
    scope = ColumnScope(
        {name: parse_type(type_) for name, type_ in {**types, "ts": "TIMESTAMP(6)"}.items()}
    )
    nodes = [
        compile_expression(infer(scope, parse_expression(reference))) for reference in REFERENCES
    ]
    items = [(node, f"c{place}") for place, node in enumerate(nodes)]
    named = [(Column(name), name) for name in (*types, "ts")]
    result = select(frame.coalesce(1), [*named, *items]).collect()
    values = [[bytes(v) if isinstance(v, bytearray) else v for v in row[6:]] for row in result]

    assert not any(node.facts & Fact.UDF for node in nodes)
    assert values == [[function(row) for function in REFERENCES.values()] for row in result]
