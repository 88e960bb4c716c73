"""Records what Flink returns for queries of bounded tables, in streaming and in batch mode.

    python -m fuzz.oracle.streams [--oracle .oracle] [--all]

The queries are those of tests/cases/streaming_scripts.cases. The recording is
tests/cases/streaming_results.jsonl: first the tables, each with its rows in the files in which
they arrive, then a line for each query. The changelog of the streaming mode is folded.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from fuzz.oracle.asking import ask
from tests.support import CASES, cases

RECORDING = CASES / "streaming_results.jsonl"
MODES = ("streaming", "batch")

#: Mode -> the rows, or the error.
Recording: TypeAlias = dict[str, dict[str, Any]]

#: A table: `columns`, its `files` with lines of csv, in the order of arrival, and its `last` row,
#: which advances the watermark beyond all others where the table is unbounded.
Table: TypeAlias = Mapping[str, Any]

COLUMNS = "k STRING, ts TIMESTAMP(3), v INT, d DECIMAL(5, 2), x DOUBLE"
ROWTIME = f"{COLUMNS}, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"
PUNCTUAL = f"{COLUMNS}, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND"
INSTANT = (
    f"{COLUMNS}, zt AS TO_TIMESTAMP_LTZ(CAST(v AS BIGINT) * 1200 + 1729983600, 0),"
    " WATERMARK FOR zt AS zt"
)

#: Out of order within the watermark: NULL keys, equal rows, equal times, times at window ends.
ROWS = (
    """\
a,2024-01-01 00:00:01,1,1.50,0.1
b,2024-01-01 00:00:09.999,2,,0.2
a,2024-01-01 00:00:10,4,0.25,0.3
,2024-01-01 00:00:10.001,4,2.00,
b,2024-01-01 00:00:12,-4,9.99,-0.7
""",
    """\
c,2024-01-01 00:00:13,7,0.00,0.5
c,2024-01-01 00:00:13,7,0.00,0.5
a,2024-01-01 00:00:31.5,,1.00,2.5
a,2024-01-01 00:00:30,3,-1.25,1.0E15
b,2024-01-01 00:00:29,5,,0.1
,2024-01-01 00:00:31,,,
a,2024-01-01 00:01:00,9,3.00,0.1
""",
)
OTHERS = (
    """\
a,2024-01-01 00:00:02,10,1.00,
b,2024-01-01 00:00:12,20,,
,2024-01-01 00:00:10.001,30,,
a,2024-01-01 00:00:11,-1,2.50,
c,2024-01-01 00:00:13,70,,
""",
    """\
a,2024-01-01 00:00:31.5,60,,
d,2024-01-01 00:00:40,70,,
b,2024-01-01 00:00:39,80,,
""",
)
#: Late rows arrive two files after the one whose rows have moved the watermark: the file between
#: is that with which their window is returned.
LATE = (
    """\
a,2024-01-01 00:00:01,1,,
b,2024-01-01 00:00:12,2,,
""",
    "a,2024-01-01 00:00:14,8,,\n",
    """\
a,2024-01-01 00:00:05,4,,
c,2024-01-01 00:00:09.999,16,,
b,2024-01-01 00:00:25,32,,
""",
    "a,2024-01-01 00:00:24.5,128,,\n",
    """\
a,2024-01-01 00:00:19.999,64,,
x,2024-01-01 00:00:40,256,,
""",
)
INSTANTS = "".join(f"{'ab'[n % 2]},,{n},,\n" for n in range(9))
LAST = "~,2099-01-01 00:00:00,0,,\n"

TABLES: dict[str, Table] = {
    "s": {"columns": ROWTIME, "files": ROWS, "last": LAST},
    "r": {"columns": ROWTIME, "files": OTHERS, "last": LAST},
    "g": {"columns": f"{COLUMNS}, pt AS PROCTIME()", "files": ROWS},
    "e": {"columns": ROWTIME, "files": ("",), "last": LAST},
    "z": {"columns": INSTANT, "files": (INSTANTS,), "last": "~,,2000000,,\n"},
    "late": {"columns": PUNCTUAL, "files": LATE, "last": LAST},
    # the same rows in one file
    "mixed": {"columns": PUNCTUAL, "files": ("".join(LATE),), "last": LAST},
    "nulls": {"columns": ROWTIME, "files": ("a,2024-01-01 00:00:01,1,,\na,,2,,\n",)},
}
#: A table that is bounded where the others are not.
VIEW = (
    "CREATE TEMPORARY VIEW b AS"
    " SELECT * FROM (VALUES ('a', 'A', 1), ('c', 'C', 4), ('c', 'CC', 7)) AS t(k, w, n)"
)


def create(name: str, table: Table, path: Path, options: str = "") -> str:
    """Return the statement that creates a table of csv files, for Flink and for this library."""
    return (
        f"CREATE TABLE {name} ({table['columns']}) WITH ('connector' = 'filesystem',"
        f" 'format' = 'csv', 'csv.null-literal' = '', 'path' = '{path}'{options})"
    )


def folded(changes: Iterable[list[Any]]) -> list[list[Any]]:
    """Return the rows that remain of changes, each with its kind first, in a stable order.

    >>> folded([["+I", 1], ["+I", 2], ["-U", 1], ["+U", 3]])
    [[2], [3]]
    """
    rows: Counter[str] = Counter()
    for kind, *row in changes:
        rows[json.dumps(row, ensure_ascii=False)] += -1 if kind in {"-U", "-D"} else 1
    if negative := [row for row, count in rows.items() if count < 0]:
        raise ValueError(f"rows are removed that are not there: {negative}")
    return [json.loads(row) for row in sorted(rows.elements())]


def questions(queries: Iterable[str], folder: Path) -> list[dict[str, Any]]:
    """Return what Flink is asked: queries in both modes, over tables in a folder."""
    setup = [VIEW, "CREATE TEMPORARY FUNCTION count_rows AS 'com.acme.udf.CountRows'"]
    for name, table in TABLES.items():
        (folder / name).mkdir()
        # one file: Flink reads several in any order
        (folder / name / "rows").write_text("".join(table["files"]), encoding="utf-8")
        setup.append(create(name, table, folder / name))
    return [{"mode": mode, "setup": setup, "sql": sql} for sql in queries for mode in MODES]


def asked(queries: Sequence[str], oracle: str) -> dict[str, Recording]:
    """Return what Flink returns for each query, in each mode."""
    if not queries:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        answers = map(recorded, ask(oracle, questions(queries, Path(folder)), "Streams"))
    return {sql: {mode: next(answers) for mode in MODES} for sql in queries}


def recorded(answer: dict[str, Any]) -> dict[str, Any]:
    """Return what is kept of an answer: the rows, or the class of the error."""
    if not answer["ok"]:
        return {"error": answer["error"], "message": answer["message"]}
    return {"rows": folded(answer["changes"])}


def kept() -> dict[str, Recording]:
    """Return what was recorded of queries whose tables have not changed."""
    if not RECORDING.exists():
        return {}
    head, *lines = map(json.loads, RECORDING.read_text(encoding="utf-8").splitlines())
    now = json.loads(json.dumps(TABLES))
    changed = {name for name in now if head["tables"].get(name) != now[name]}
    return {
        line["sql"]: {mode: line[mode] for mode in MODES}
        for line in lines
        if changed.isdisjoint(re.findall(r"\w+", line["sql"]))
    }


def main() -> None:
    """Ask Flink twice: an answer that differs depends on the machine, not on the rows."""
    parser = argparse.ArgumentParser(description="Record what Flink returns in streaming mode.")
    parser.add_argument("--oracle", default=".oracle", help="the directory that setup.sh filled")
    parser.add_argument("--all", action="store_true", help="ask also what has been recorded")
    options = parser.parse_args()
    result = {} if options.all else kept()
    queries = cases("streaming_scripts")
    new = [sql for sql, _ in queries if sql not in result]
    first, second = (asked(new, options.oracle) for _ in range(2))
    for sql in new:
        if first[sql] != second[sql]:
            sys.exit(f"Flink returns other rows when asked again: {sql}")
    result.update(first)
    with RECORDING.open("w", encoding="utf-8") as lines:
        lines.write(json.dumps({"tables": TABLES, "view": VIEW}) + "\n")
        for sql, kind in queries:
            line = {"sql": sql, "unbounded": kind, **result[sql]}
            lines.write(json.dumps(line, ensure_ascii=False) + "\n")
    print(f"{len(new)} of {len(queries)} queries were asked")


if __name__ == "__main__":
    main()
