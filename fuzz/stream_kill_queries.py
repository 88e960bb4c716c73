"""The queries of `fuzz.stream_kills`, and how the rows of their sinks are checked.

The source has rows of ids from 0 on, `ROWS` in each file. A check returns how often each id is in
the sink, by the rows that readers see, and ends the program if a row is wrong.
"""

from __future__ import annotations

import datetime as dt
import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

#: How many rows a file has, and how many files are added for each run of the job.
ROWS = 40
FILES = 5
#: The time of the first row, in seconds since 1970; each row is a second later.
START = 1_704_067_200
#: The id of a final row, which moves the watermark beyond all others.
LAST = 1_000_000
#: How many groups the rows have.
GROUPS = 7


@dataclass(frozen=True)
class Query:
    """An INSERT into each of the sinks.

    Attributes:
        columns: The columns of a sink.
        sql: What is written.
        written: Returns how often each id is in the sinks below a directory.
        format: The format of the files of a sink; None for a table of SQLite.
        view: A statement before the INSERT.
        on_conflict: What follows the query.
        sinks: The names of the sinks.
    """

    columns: str
    sql: str
    written: Callable[[Path], Counter[int]]
    format: str | None = "parquet"
    view: str = ""
    on_conflict: str = ""
    sinks: tuple[str, ...] = ("sink",)


def fail(problem: str, row: object) -> None:
    raise SystemExit(f"{problem}: {row}")


def rows_of_files(root: Path, name: str = "sink") -> Iterator[dict[str, Any]]:
    import pyarrow.parquet as pq

    for path in (root / name).glob("*.parquet"):
        yield from pq.ParquetFile(path).read().to_pylist()


def remaining(root: Path) -> Counter[tuple[Any, ...]]:
    """Return the rows that the changes in files of debezium-json leave."""
    rows: Counter[tuple[Any, ...]] = Counter()
    for path in (root / "sink").glob("part-*"):
        for line in path.read_text().splitlines():
            change = json.loads(line)
            row = change["after"] or change["before"]
            rows[tuple(row.values())] += 1 if change["op"] == "c" else -1
    for row, times in rows.items():
        if times < 0 or times > 1:
            fail(f"the changes leave a row {times} times", row)
    return +rows


def count_ids(root: Path, name: str = "sink") -> Counter[int]:
    return Counter(row["id"] for row in rows_of_files(root, name) if row["id"] < LAST)


def ids_of_set(root: Path) -> Counter[int]:
    """Return how often each id is in both sinks."""
    first, second = (count_ids(root, name) for name in ("sink", "other"))
    return Counter({id_: max(first[id_], second[id_]) for id_ in first.keys() & second})


def ids_of_windows(root: Path) -> Counter[int]:
    """Return how often each id is in a window, which has the rows of a file."""
    result: Counter[int] = Counter()
    for row in rows_of_files(root):
        first = round(row["first_"].replace(tzinfo=dt.UTC).timestamp()) - START
        within = range(first, first + ROWS)
        if (row["total"], row["many"]) != (sum(within), ROWS):
            fail(f"the window of id {first} has other rows", row)
        result.update(within)
    return result


def ids_of_groups(root: Path) -> Counter[int]:
    """Return how often each id is counted by the rows of groups."""
    result: Counter[int] = Counter()
    for key, total, many in remaining(root):
        within = range(key, key + GROUPS * many, GROUPS)
        if sum(within) != total:
            fail(f"the group {key} has another row", (total, many))
        result.update(within)
    return result


def ids_of_pairs(root: Path, expected: Callable[[int], int | None], last: int) -> Counter[int]:
    """Return how often each id is in the sink, each with another value.

    The value may be NULL for the `last` ids, whose partners have not been added.
    """
    result: Counter[int] = Counter()
    highest = max((row["id"] for row in rows_of_files(root) if row["id"] < LAST), default=0)
    for row in rows_of_files(root):
        id_ = row["id"]
        if id_ >= LAST:
            continue
        is_last = row["other"] is None and id_ + last > highest
        if row["other"] != expected(id_) and not is_last:
            fail(f"the id {id_} has another value than {expected(id_)}", row)
        result[id_] += 1
    return result


def ids_of_first_rows(root: Path) -> Counter[int]:
    """Return the ids of groups up to the greatest one, which is in the sink with the two before."""
    groups: dict[int, dict[int, int]] = {key: {} for key in range(GROUPS)}
    for key, rank, id_ in remaining(root):
        groups[key][rank] = id_
    result: Counter[int] = Counter()
    for key, ids in groups.items():
        own = range(key, max(ids.values(), default=-1) + 1, GROUPS)
        if ids != dict(enumerate(own[:-4:-1], start=1)):
            fail(f"the group {key} has other first rows", ids)
        result.update(own)
    return result


def ids_of_counts(root: Path) -> Counter[int]:
    """Return the ids, to which a function has added the number of rows of their group so far."""
    rows = [row for row in rows_of_files(root) if row["id"] < LAST]
    counts = Counter((row["id"] % GROUPS, row["other"]) for row in rows)
    for key in range(GROUPS):
        many = sum(row["id"] % GROUPS == key for row in rows)
        if any(counts[key, number] != 1 for number in range(1, many + 1)):
            fail(f"the counts of the group {key} are not those of its rows", many)
    return Counter(row["id"] for row in rows)


def ids_of_keys(root: Path) -> Counter[int]:
    """Return the primary keys of a table of SQLite, each with its first name."""
    path = root / "sink.db"
    if not path.exists():
        return Counter()
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=60)) as database:
        tables = database.execute("SELECT name FROM sqlite_master WHERE name = 'sink'").fetchall()
        rows: Iterable[tuple[int, str]] = (
            database.execute("SELECT id, name FROM sink").fetchall() if tables else ()
        )
    for id_, name in rows:
        if name != f"name {id_}" and id_ < LAST - ROWS:
            fail(f"the key {id_} has a later row", name)
    return Counter(id_ for id_, _ in rows if id_ < LAST - ROWS)


GROUPED = f"MOD(id, {GROUPS})"
PAIRS = "id BIGINT, other BIGINT"
#: The ids of a row's partner in another file of the run: that of the next file, or the first one.
PARTNER = f"a.id - MOD(a.id, {ROWS * FILES}) + MOD(a.id + {ROWS}, {ROWS * FILES})"

QUERIES = {
    "rows": Query("id BIGINT, name STRING", "SELECT id, UPPER(name) FROM source", count_ids),
    "windows": Query(
        "first_ TIMESTAMP(3), total BIGINT, many BIGINT",
        f"""SELECT window_start, SUM(id), COUNT(*) FROM TABLE(TUMBLE(TABLE source, DESCRIPTOR(ts),
        INTERVAL '{ROWS}' SECOND)) GROUP BY window_start, window_end""",
        ids_of_windows,
    ),
    "joined": Query(
        "id BIGINT, name STRING",
        "SELECT a.id, UPPER(b.name) FROM source AS a JOIN source AS b ON a.id = b.id",
        count_ids,
    ),
    "cascade": Query(
        "first_ TIMESTAMP(3), total BIGINT, many BIGINT",
        f"""SELECT window_start, SUM(total), SUM(many) FROM TABLE(TUMBLE((SELECT window_time AS rt,
        SUM(id) AS total, COUNT(*) AS many FROM TABLE(TUMBLE(TABLE source, DESCRIPTOR(ts),
        INTERVAL '{ROWS // 4}' SECOND)) GROUP BY window_start, window_end, window_time),
        DESCRIPTOR(rt), INTERVAL '{ROWS}' SECOND)) GROUP BY window_start, window_end""",
        ids_of_windows,
    ),
    "groups": Query(
        "k BIGINT, total BIGINT, many BIGINT, PRIMARY KEY (k) NOT ENFORCED",
        f"""SELECT {GROUPED} AS k, SUM(id) AS total, COUNT(DISTINCT id) AS many FROM source
        WHERE id < {LAST} GROUP BY {GROUPED} HAVING COUNT(DISTINCT id) > 1""",
        ids_of_groups,
        "debezium-json",
    ),
    "set": Query(
        "id BIGINT, name STRING",
        "SELECT id, UPPER(name) FROM source",
        ids_of_set,
        sinks=("sink", "other"),
    ),
    "over": Query(
        PAIRS,
        f"""SELECT id, SUM(id) OVER (PARTITION BY {GROUPED} ORDER BY ts
        ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM source""",
        partial(ids_of_pairs, expected=lambda id_: sum(range(id_, -1, -GROUPS)[:3]), last=0),
    ),
    "top": Query(
        "k BIGINT, n BIGINT, id BIGINT, PRIMARY KEY (k, n) NOT ENFORCED",
        f"""SELECT k, n, id FROM (SELECT {GROUPED} AS k, id,
        ROW_NUMBER() OVER (PARTITION BY {GROUPED}
        ORDER BY id DESC) AS n FROM source WHERE id < {LAST}) WHERE n <= 3""",
        ids_of_first_rows,
        "debezium-json",
    ),
    "versions": Query(
        PAIRS,
        f"""SELECT a.id, b.id FROM source AS a LEFT JOIN versions FOR SYSTEM_TIME AS OF a.ts AS b
        ON a.id - {GROUPS} = b.id""",
        partial(ids_of_pairs, expected=lambda id_: id_ - GROUPS if id_ >= GROUPS else None, last=0),
        view="CREATE TABLE versions (PRIMARY KEY (id) NOT ENFORCED) LIKE source",
    ),
    "interval": Query(
        PAIRS,
        """SELECT a.id, b.id FROM source AS a LEFT JOIN source AS b ON a.id + 7 = b.id
        AND b.ts BETWEEN a.ts AND a.ts + INTERVAL '10' SECOND""",
        partial(ids_of_pairs, expected=lambda id_: id_ + 7, last=7),
    ),
    "semi": Query(
        "id BIGINT, name STRING",
        f"""SELECT id, name FROM source AS a
        WHERE EXISTS (SELECT 1 FROM source AS b WHERE b.id = {PARTNER})""",
        count_ids,
    ),
    "process": Query(
        PAIRS,
        "SELECT id, number FROM counted(TABLE grouped PARTITION BY k)",
        ids_of_counts,
        view=f"CREATE TEMPORARY VIEW grouped AS SELECT {GROUPED} AS k, id FROM source",
    ),
    # a timer of each row returns its id
    "timers": Query(
        "id BIGINT, name STRING",
        """SELECT id, name FROM reminded(data => TABLE grouped PARTITION BY k,
        on_time => DESCRIPTOR(ts))""",
        count_ids,
        view=f"CREATE TEMPORARY VIEW grouped AS SELECT {GROUPED} AS k, id, ts FROM source",
    ),
    # the rows of a key arrive in different files; the first one is that of the source
    "conflicts": Query(
        "id BIGINT, name STRING, PRIMARY KEY (id) NOT ENFORCED",
        f"""SELECT id, name FROM source
        UNION ALL SELECT id - {ROWS}, 'late' FROM source WHERE id >= {ROWS}""",
        ids_of_keys,
        None,
        on_conflict="ON CONFLICT DO NOTHING",
    ),
}
