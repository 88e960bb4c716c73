"""The connector `datagen`: types, options and refusals of Flink's connector, deterministic rows."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from itertools import count
from typing import Any

import pytest

from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import SchemaCoreError

pytestmark = pytest.mark.spark

_NUMBERS = count()


@pytest.fixture
def rows(environment: TableEnvironment) -> Callable[..., list[tuple[Any, ...]]]:
    """Return the rows of a generated table; options of the column `a` begin with a dot."""

    def read(columns: str, query: str = "SELECT * FROM {}", **options: str) -> Any:
        given = {"connector": "datagen", "number-of-rows": "40", "seed": "1"}
        for key, value in options.items():
            name = key.replace("__", ".").replace("_", "-")
            given[name] = value
        table = f"generated_{next(_NUMBERS)}"
        written = ", ".join(f"'{key}' = '{value}'" for key, value in given.items() if value)
        environment.execute_sql(f"CREATE TABLE {table} ({columns}) WITH ({written})")
        return [tuple(item) for item in environment.execute_sql(query.format(table)).collect()]

    return read


Rows = Callable[..., list[tuple[Any, ...]]]


def is_now(value: dt.datetime) -> bool:
    return abs(value - dt.datetime.now(dt.UTC)) < dt.timedelta(minutes=10)


#: Type -> what all of its random values fulfil.
RANDOM: dict[str, Callable[[Any], bool]] = {
    "BOOLEAN": lambda v: v in (True, False),
    "CHAR(5)": lambda v: len(v) == 5 and int(v, 16) >= 0 and v == v.lower(),
    "VARCHAR(7)": lambda v: len(v) == 7,
    "STRING": lambda v: len(v) == 100,
    "BINARY(4)": lambda v: len(v) == 4,
    "VARBINARY(5)": lambda v: len(v) == 5,
    "BYTES": lambda v: len(v) == 100,
    "DECIMAL(5, 2)": lambda v: 0 <= v < 1000 and v.as_tuple().exponent == -2,
    "DECIMAL(38, 10)": lambda v: 0 <= v < Decimal(10) ** 28,
    "TINYINT": lambda v: -128 <= v <= 127,
    "SMALLINT": lambda v: -(2**15) <= v < 2**15,
    "INT": lambda v: -(2**31) <= v < 2**31,
    "BIGINT": lambda v: -(2**63) <= v < 2**63,
    "FLOAT": lambda v: 0 <= v < 3.5e38,
    "DOUBLE": lambda v: 0 <= v < 1.8e308,
    "DATE": lambda v: abs((v - dt.datetime.now().date()).days) <= 1,  # noqa: DTZ005 - the driver's
    "TIME(0)": lambda v: v.microsecond == 0,
    "TIME(3)": lambda v: v.microsecond % 1000 == 0,
    "TIMESTAMP(0)": lambda v: v.microsecond == 0 and is_now(v.replace(tzinfo=dt.UTC)),
    "TIMESTAMP(6)": lambda v: v.microsecond % 1000 == 0 and is_now(v.replace(tzinfo=dt.UTC)),
    "TIMESTAMP_LTZ(3)": is_now,
    "ROW<x INT, y ROW<z STRING>>": lambda v: isinstance(v[0], int) and len(v[1][0]) == 100,
    "ARRAY<SMALLINT>": lambda v: len(v) == 3,
    "ARRAY<ARRAY<ROW<b BOOLEAN, t TIME(0)>>>": lambda v: [len(item) for item in v] == [3, 3, 3],
    "MAP<STRING, INT>": lambda v: len(v) == 3 and {len(item) for item in v} == {100},
    "MULTISET<BIGINT>": lambda v: len(v) == 3 and all(0 <= item <= 10 for item in v.values()),
}
#: Types whose random values are the same in all rows: the current time.
CONSTANT = ("DATE", "TIME", "TIMESTAMP")


def test_random_values_of_every_type(rows: Rows) -> None:
    columns = ", ".join(f"c{i} {type_}" for i, type_ in enumerate(RANDOM))
    result = list(zip(*rows(columns), strict=True))

    for values, (type_, check) in zip(result, RANDOM.items(), strict=True):
        assert [v for v in values if not check(v)] == [], type_
        distinct = len({repr(v) for v in values})
        few = {"BOOLEAN": 2, "TINYINT": 25}.get(type_, 38)
        assert distinct == 1 if type_.startswith(CONSTANT) else distinct >= few, type_


def test_options_of_random_values(rows: Rows) -> None:
    result = rows(
        "i INT, t TINYINT, b BIGINT, e BIGINT, f FLOAT, d DECIMAL(5, 2), s STRING, v BYTES,"
        "l STRING, p TIMESTAMP(3), n STRING, a ARRAY<INT>, z ARRAY<INT>, m MAP<INT, STRING>,"
        "k MULTISET<INT>, r ROW<x INT>",
        fields__i__min="5", fields__i__max="6", fields__t__min="7", fields__t__max="7",
        fields__b__min="-9223372036854775807", fields__e__min="-1",
        fields__f__min="1", fields__f__max="2", fields__d__min="-1e9", fields__d__max="-998",
        fields__s__length="3", fields__v__length="9", fields__v__var_len="true",
        fields__l__length="700", fields__p__max_past="10 d", fields__n__null_rate="0.5",
        fields__a__length="4", fields__a__element__min="1", fields__a__element__max="2",
        fields__z__length="0", fields__m__value__null_rate="1", fields__k__element__min="1",
        fields__k__element__max="2", fields__k__length="20", fields__r__x__min="5",
        fields__r__x__max="5", fields__r__null_rate="0.5",
    )  # fmt: skip
    i, t, b, e, f, d, s, v, text, p, n, a, z, m, k, r = map(list, zip(*result, strict=True))

    assert (set(i), set(t)) == ({5, 6}, {7})
    assert (min(b) < -(2**61) and max(b) > 2**61, min(e) >= -1, max(e) > 2**62) == (True,) * 3
    assert all(1 <= item <= 2 for item in f)
    assert all(Decimal("-999.99") <= item <= -998 for item in d)
    assert {len(item) for item in s} == {3}
    assert {len(item) for item in v} == set(range(1, 9))
    assert {len(character) for character in text} == {700}
    past = [dt.datetime.now(dt.UTC) - item.replace(tzinfo=dt.UTC) for item in p]
    assert max(past) > dt.timedelta(days=5)
    assert max(past) < dt.timedelta(days=10, minutes=5)
    assert 8 < n.count(None) < 32
    assert ({len(item) for item in a}, {x for item in a for x in item}) == ({4}, {1, 2})
    assert ({x for item in m for x in item.values()}, [*map(len, z)]) == ({None}, [0] * 40)
    assert {x for item in k for x in item} == {1, 2}
    assert {None, (5,)} == {item if item is None else tuple(item) for item in r}


def test_sequences_end_the_table(rows: Rows) -> None:
    ends = {"a": ("1", "9"), "b": ("-3", "3"), "c": ("8", "20"), "d": ("5", "40"), "e": ("0", "9"),
            "f": ("1", "32767"), "g": ("1", "1000")}  # fmt: skip
    options = {
        f"fields__{name}__{key}": value
        for name, (start, end) in ends.items()
        for key, value in (("kind", "sequence"), ("start", start), ("end", end))
    }
    columns = "a INT, b BIGINT, c CHAR(1), d BINARY(4), e DECIMAL(5, 2), f FLOAT, g STRING, h INT"
    result = rows(columns, number_of_rows="", **options)

    assert len(result) == 7  # the shortest sequence is `b`
    assert result[2][:7] == (3, -1, "10", bytes([0] * 7 + [7]), Decimal("2.00"), 3.0, "3")
    assert len(rows(columns, number_of_rows="2", **options)) == 2
    assert len(rows(columns, number_of_rows="100", **options)) == 7
    assert rows("a INT", number_of_rows="0") == rows("a INT", number_of_rows="-1") == []


def test_a_seed_makes_rows_the_same_however_many_tasks_generate_them(rows: Rows) -> None:
    columns = "a INT, b STRING, c ARRAY<DOUBLE>, d AS a + 1"
    one, seven = (rows(columns, scan__parallelism=tasks) for tasks in ("1", "7"))

    assert one == seven
    assert one[0][3] == one[0][0] + 1
    assert one != rows(columns, seed="2")
    assert rows(columns, seed="") != rows(columns, seed="")


#: Columns, options -> code and part of the message. Flink refuses the same ones.
REFUSED = [
    ("a INT", {"number_of_rows": ""}, "unbounded-table", "unbounded"),
    ("a VARIANT", {}, "type-not-supported", "VARIANT"),
    ("a ARRAY<VARIANT>", {}, "type-not-supported", "VARIANT"),
    ("a INT", {"fields__a__kind": "RANDOM"}, "invalid-option-value", "random, sequence"),
    ("a INT", {"fields__b__kind": "random"}, "unknown-option", "fields.b.kind"),
    ("a INT", {"fields__a__length": "3"}, "unknown-option", "fields.a.length"),
    ("a INT", {"fields__a__nulls": "3"}, "unknown-option", "fields.a.nulls"),
    ("a CHAR(5)", {"fields__a__length": "4"}, "unknown-option", "fields.a.length"),
    ("a INT", {"fields__a__var_len": "true"}, "unknown-option", "fields.a.var-len"),
    ("a BYTES", {"fields__a__null_rate": "1"}, "unknown-option", "fields.a.null-rate"),
    ("a DATE", {"fields__a__null_rate": "1"}, "unknown-option", "fields.a.null-rate"),
    ("a DATE", {"fields__a__max_past": "1 h"}, "unknown-option", "fields.a.max-past"),
    ("a ARRAY<INT>", {"fields__a__min": "1"}, "unknown-option", "fields.a.min"),
    ("a ROW<k INT>", {"fields__a__k__kind": "random"}, "unknown-option", "fields.a.k.kind"),
    ("a VARCHAR(5)", {"fields__a__length": "9"}, "invalid-option-value", "from 1 to 5"),
    ("a STRING", {"fields__a__length": "0"}, "invalid-option-value", "'0'"),
    ("a STRING", {"fields__a__length": "1", "fields__a__var_len": "true"},
     "invalid-option-value", "from 2"),
    ("a INT", {"fields__a__min": "7", "fields__a__max": "6"}, "invalid-option-value", "7 and 6"),
    ("a FLOAT", {"fields__a__min": "1", "fields__a__max": "1"}, "invalid-option-value", "1.0"),
    ("a DECIMAL(5, 2)", {"fields__a__min": "1000"}, "invalid-option-value", "999.99"),
    ("a TINYINT", {"fields__a__max": "300"}, "invalid-option-value", "-128 to 127"),
    ("a INT", {"fields__a__min": "x"}, "invalid-option-value", "'x'"),
    ("a INT", {"fields__a__kind": "sequence", "fields__a__start": "1"}, "missing-option", ".end"),
    ("a INT", {"fields__a__start": "1"}, "unknown-option", "fields.a.start"),
    ("a BOOLEAN", {"fields__a__kind": "sequence"}, "type-not-supported", "no sequences"),
    ("a INT", {"fields__a__kind": "sequence", "fields__a__start": "5", "fields__a__end": "3"},
     "invalid-option-value", "start 5, end 3"),
    ("a TINYINT", {"fields__a__kind": "sequence", "fields__a__start": "5", "fields__a__end": "300"},
     "invalid-option-value", "127"),
    ("a MULTISET<INT>", {"fields__a__element__null_rate": "0.5"}, "invalid-option-value", "NULL"),
    ("a INT", {"scan__parallelism": "0"}, "invalid-option-value", "at least 1"),
    ("a TIMESTAMP(3)", {"fields__a__max_past": "-1 h"}, "invalid-option-value", "-1 h"),
]  # fmt: skip


@pytest.mark.parametrize(("columns", "options", "code", "problem"), REFUSED)
def test_refused(
    rows: Rows, columns: str, options: dict[str, str], code: str, problem: str
) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        rows(columns, **options)

    assert (code, True) == (caught.value.code, problem in str(caught.value)), str(caught.value)


def test_a_null_in_a_column_that_is_not_null_fails(rows: Rows) -> None:
    with pytest.raises(SchemaCoreError, match="column 'a' is NOT NULL but received NULL"):
        rows("a INT NOT NULL", fields__a__null_rate="1")
