"""The rows that changelogs leave, compared with a model in Python."""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import pytest

from schema_core.spark.changelog import (
    CHANGE_ORDER,
    ROW_KIND,
    in_order_of_changes,
    normalized,
    state_of,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

COLUMNS: Final = "k INT, v DOUBLE, m MAP<STRING, INT>, further INT"
KINDS: Final = ("+I", "-U", "+U", "-D")
#: A key, a value, a map and the kind of a change.
Changes = list[tuple[int | None, float | None, dict[str, int], str]]


def changes_of(seed: int, count: int = 400) -> Changes:
    """Return changes in any order: duplicates, and removals of rows that are not there."""
    drawn = random.Random(seed)
    values = (0.0, -0.0, 1.5, float("nan"), None)
    return [
        (
            drawn.choice((None, 1, 2, 3, 4)),
            drawn.choice(values),
            {name: drawn.randrange(2) for name in drawn.sample("ab", 2)},
            drawn.choice(KINDS),
        )
        for _ in range(count)
    ]


def frame_of(session: SparkSession, changes: Changes) -> DataFrame:
    rows = [(*row, place, kind, (place // 7, place)) for place, (*row, kind) in enumerate(changes)]
    random.Random(1).shuffle(rows)
    order = f"`{CHANGE_ORDER}` STRUCT<part: INT, place: INT>"
    return session.createDataFrame(rows, f"{COLUMNS}, `{ROW_KIND}` STRING, {order}")


def shown(row: Any) -> str:
    """Return a row for comparison: NaN equals NaN, and 0.0 equals -0.0."""
    return json.dumps([value + 0.0 if isinstance(value, float) else value for value in row],
                      sort_keys=True)  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_the_last_change_of_a_key_remains(session: SparkSession, seed: int) -> None:
    changes = changes_of(seed)
    last = {change[0]: (change, place) for place, change in enumerate(changes)}
    expected = [shown([*row, at]) for (*row, kind), at in last.values() if kind in ("+I", "+U")]
    frame = state_of(frame_of(session, changes), ["k"], ["k", "v", "m"])

    assert sorted(map(shown, frame.collect())) == sorted(expected)
    assert frame.columns == ["k", "v", "m", "further"]


@pytest.mark.parametrize("seed", range(3))
def test_rows_without_a_key_remain_as_often_as_they_were_added(
    session: SparkSession, seed: int
) -> None:
    """A removal of a row that is not there changes nothing."""
    changes = changes_of(seed)
    rows: Counter[str] = Counter()
    last: dict[str, int] = {}
    for place, (*row, kind) in enumerate(changes):
        text = shown(row)
        if kind in ("+I", "+U"):
            rows[text], last[text] = rows[text] + 1, place
        else:
            rows[text] = max(0, rows[text] - 1)
    expected = sorted((text, last[text]) for text in rows.elements())
    frame = state_of(frame_of(session, changes), [], ["k", "v", "m"])

    assert sorted((shown(row[:3]), row[3]) for row in frame.collect()) == expected
    unordered = frame_of(session, changes).drop(CHANGE_ORDER)
    totals = Counter(shown(row) for *row, kind in changes if kind in ("+I", "+U"))
    totals.subtract(shown(row) for *row, kind in changes if kind in ("-U", "-D"))
    remaining = state_of(unordered, [], ["k", "v", "m"]).collect()
    assert Counter(shown(row[:3]) for row in remaining) == +totals


def test_changes_that_replace_a_row_are_updates(session: SparkSession) -> None:
    rows = [(1, 7, "-D"), (1, 8, "+I"), (2, 5, "+I")]
    frame = session.createDataFrame(rows, f"k INT, v INT, `{ROW_KIND}` STRING")

    by_key = in_order_of_changes(frame, ["k"]).collect()
    assert {(1, 7, "-U"), (1, 8, "+U"), (2, 5, "+I")} == {tuple(row) for row in by_key}
    assert [7, 8] == [row.v for row in by_key if row.k == 1]
    unknown = in_order_of_changes(frame, None).collect()
    assert ["-D", "+I", "+I"] == [row[ROW_KIND] for row in unknown]
    only = in_order_of_changes(frame.where("k = 1"), []).collect()
    assert [(7, "-U"), (8, "+U")] == [(row.v, row[ROW_KIND]) for row in only]


@pytest.mark.parametrize("seed", range(3))
def test_changes_are_normalized_by_key(session: SparkSession, seed: int) -> None:
    changes = changes_of(seed)
    state: dict[Any, list[Any]] = {}
    expected: list[tuple[str, str]] = []
    for place, (*row, kind) in enumerate(changes):
        old, new = state.get(row[0]), [*row, place]
        if kind in ("+I", "+U"):
            state[row[0]] = new
            if old is None:
                expected.append(("+I", shown(new)))
            elif shown(old[:3]) != shown(row):
                expected += [("-U", shown(old)), ("+U", shown(new))]
        elif kind == "-D" and old is not None:
            del state[row[0]]
            expected.append(("-D", shown(old)))
    frame = normalized(frame_of(session, changes), ["k"], ["k", "v", "m"])
    result = frame.orderBy(f"`{CHANGE_ORDER}`").collect()

    assert [(row[ROW_KIND], shown(row[:4])) for row in result] == expected
    assert frame.columns == ["k", "v", "m", "further", ROW_KIND, CHANGE_ORDER]
