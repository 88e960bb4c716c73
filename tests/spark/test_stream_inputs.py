"""Random inputs, cut into random micro-batches: a changelog leaves the rows of the batch query.

The tables hold 60 random inputs at once. Their keys differ, so that a form which computes each key
by itself computes each input by itself; the others read all of them as one input.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from schema_core import EnvironmentSettings, TableEnvironment
from tests.spark.recorded_changes import changes_until_stopped
from tests.spark.test_change_formats import EVERYTHING
from tests.support import cases

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.usefixtures("one_task", "one_file_at_a_time")

#: How many inputs there are, and into how many files a table is cut.
INPUTS, FILES = 60, 4
#: A row that moves the watermark beyond all others; what it adds to a result is left out.
LAST = {"k": "last", "v": None, "ts": "2099-01-01 00:00:00"}

TABLES = {
    "a": "k STRING, v INT, ts TIMESTAMP(3), pt AS PROCTIME(),"
    " WATERMARK FOR ts AS ts - INTERVAL '5' SECOND",
    "c": "k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND",
    "p": "k STRING, v INT, ts TIMESTAMP(3), PRIMARY KEY (k) NOT ENFORCED,"
    " WATERMARK FOR ts AS ts - INTERVAL '5' SECOND",
    "e": "k STRING, v INT",
    "f": "k STRING, v INT",
    "q": "k STRING, v INT, ts TIMESTAMP(3), PRIMARY KEY (k) NOT ENFORCED,"
    " WATERMARK FOR ts AS ts - INTERVAL '5' SECOND",
    "r": "k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND",
}
#: The tables of changes; those of keys, whose deletions have their own time; those with rowtimes.
CHANGES, KEYED, TIMED = frozenset("efqr"), frozenset("q"), frozenset("qr")

#: The tables in the place of ``{}`` in a form.
PLACES = {"rows": "a", "rows and changes": "ae"}
FORMS = [form.format(name) for form, kind in cases("stream_forms") for name in PLACES[kind]]
DRAWN = FORMS if EVERYTHING else FORMS[3::200]


def random_rows(draw: random.Random, name: str) -> list[dict[str, Any]]:
    """Return rows of all inputs in the order of their rowtimes, each of which is distinct."""
    rows = []
    for number in range(INPUTS):
        keys = [f"{number}{letter}" for letter in "xyz"]
        for _ in range(draw.randint(0, 6)):
            key = None if name != "p" and draw.random() < 0.1 else draw.choice(keys)
            rows.append({"k": key, "v": draw.choice([None, *range(6)])})
    draw.shuffle(rows)
    for row, time in zip(rows, random_times(draw, len(rows)), strict=True):
        row["ts"] = time
    return [*rows, LAST]


def random_times(draw: random.Random, count: int) -> list[str]:
    """Return distinct times in their order."""
    times = sorted(draw.sample(range(60_000), count))
    return [f"2024-01-01 00:00:{millis // 1000:02}.{millis % 1000:03}" for millis in times]


def random_timed_changes(draw: random.Random, name: str) -> list[dict[str, Any]]:
    """Return changes of all inputs in the order of their rowtimes.

    The deletion of a key has a rowtime of its own, that of a row without a key has that of the row.
    """
    keys = [f"{number}{letter}" for number in range(INPUTS) for letter in "xyz"]
    present: dict[str, dict[str, Any]] = {}
    changes = []
    for time in random_times(draw, 5 * INPUTS):
        key = draw.choice(keys)
        row = {"k": key, "v": draw.choice([None, *range(6)]), "ts": time}
        old = present.pop(key, None)
        if old is None:
            changes.append({"before": None, "after": row, "op": "c"})
        elif draw.random() < 0.4:
            before = {**old, "ts": time} if name in KEYED else old
            changes.append({"before": before, "after": None, "op": "d"})
            continue
        else:
            changes.append({"before": old, "after": row, "op": "u"})
        present[key] = row
    return [*changes, {"before": None, "after": LAST, "op": "c"}]


def random_changes(draw: random.Random) -> list[dict[str, Any]]:
    """Return changes of all inputs as messages of Debezium: rows are added, updated and removed."""
    changes = []
    for number in range(INPUTS):
        present: list[dict[str, Any]] = []
        for _ in range(draw.randint(0, 12)):
            row = {"k": f"{number}{draw.choice('xyz')}", "v": draw.choice([None, *range(6)])}
            match draw.choice("cccuudd") if present else "c":
                case "c":
                    present.append(row)
                    changes.append({"before": None, "after": row, "op": "c"})
                case "u":
                    old = present.pop(draw.randrange(len(present)))
                    present.append(row)
                    changes.append({"before": old, "after": row, "op": "u"})
                case _:
                    old = present.pop(draw.randrange(len(present)))
                    changes.append({"before": old, "after": None, "op": "d"})
    return changes


def write_tables(draw: random.Random, root: Path) -> None:
    """Write the rows of each table into random files, and into one file."""
    for name in TABLES:
        if name in TIMED:
            rows = random_timed_changes(draw, name)
        else:
            rows = random_changes(draw) if name in CHANGES else random_rows(draw, name)
        lines = [json.dumps(row) + "\n" for row in rows]
        cuts = [0, *sorted(draw.sample(range(1, len(lines)), FILES - 1)), len(lines)]
        parts = [lines[start:end] for start, end in pairwise(cuts)]
        for folder, files in ((root / name, parts), (root / f"{name}-all", [lines])):
            folder.mkdir(parents=True)
            for number, part in enumerate(files):
                (folder / str(number)).write_text("".join(part), encoding="utf-8")
                os.utime(folder / str(number), (1_700_000_000 + number,) * 2)


def environment(session: SparkSession, root: Path, *, is_streaming: bool) -> TableEnvironment:
    settings = EnvironmentSettings.in_streaming_mode()
    if not is_streaming:
        settings = EnvironmentSettings.in_batch_mode()
    env = TableEnvironment.create(settings, spark=session)
    for name, columns in TABLES.items():
        path = root / (name if is_streaming else f"{name}-all")
        monitored = ", 'source.monitor-interval' = '50 ms'" if is_streaming else ""
        format_ = "debezium-json" if name in CHANGES else "json"
        env.execute_sql(
            f"CREATE TABLE {name} ({columns}) WITH ('connector' = 'filesystem',"
            f" 'path' = '{path}', 'format' = '{format_}'{monitored})"
        )
    values = ", ".join(f"('{number}x', 'w{number % 7}')" for number in range(INPUTS))
    env.execute_sql(f"CREATE TEMPORARY VIEW b AS SELECT * FROM (VALUES {values}) AS t(k, w)")
    return env


def left(changes: list[list[Any]]) -> Counter[str]:
    """Return the rows that changes leave, except what the last row adds."""
    rows: Counter[str] = Counter()
    for kind, *row in changes:
        shown = json.dumps(row)
        if "last" not in shown and "2099" not in shown:
            rows[shown] += -1 if kind[0] == "-" else 1
    assert not any(count < 0 for count in rows.values())
    return +rows


@pytest.mark.parametrize("form", DRAWN)
def test_a_changelog_leaves_the_rows_of_the_batch_query(
    session: SparkSession, tmp_path: Path, form: str
) -> None:
    write_tables(random.Random(form), tmp_path)
    batch = environment(session, tmp_path, is_streaming=False)
    expected = left(changes_until_stopped(batch.execute_sql(form)))
    streaming = environment(session, tmp_path, is_streaming=True)

    assert expected == left(changes_until_stopped(streaming.execute_sql(form)))
    assert expected


@pytest.mark.usefixtures("one_file_at_a_time")
@pytest.mark.parametrize(
    "qualify", [pytest.param("", marks=pytest.mark.slow), " QUALIFY SUM(v) {} > 0"]
)
def test_range_measures_the_times_of_micro_batches(
    session: SparkSession, tmp_path: Path, qualify: str
) -> None:
    for number in range(3):
        path = tmp_path / "a" / str(number)
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({"k": "x", "v": 1}) + "\n", encoding="utf-8")
        os.utime(path, (1_700_000_000 + number,) * 2)
    env = environment(session, tmp_path, is_streaming=True)
    over = "OVER (ORDER BY pt RANGE BETWEEN INTERVAL {} PRECEDING AND CURRENT ROW)"
    day, short = over.format("'1' DAY"), over.format("'0.001' SECOND")
    query = f"SELECT COUNT(*) {day}, COUNT(*) {short} FROM a{qualify.format(short)}"

    changes = changes_until_stopped(env.execute_sql(query))

    assert changes == [["+I", 1, 1], ["+I", 2, 1], ["+I", 3, 1]]
