"""Records the rows that Flink returns for queries of bounded tables, in streaming and in batch mode.

    python -m fuzz.oracle.streams [--oracle .oracle]

The queries are those of tests/cases/streaming_scripts.cases. The recording is
tests/cases/streaming_results.jsonl: first the tables, each with its rows in the files in which
they arrive, then a line for each query. The changelog of the streaming mode is folded.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from tests.support import CASES, cases

ASK = Path(__file__).parent / "ask.sh"

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
#: Late rows follow a file whose rows have moved the watermark.
LATE = (
    """\
a,2024-01-01 00:00:01,1,,
b,2024-01-01 00:00:12,2,,
""",
    """\
a,2024-01-01 00:00:05,4,,
a,2024-01-01 00:00:14,8,,
c,2024-01-01 00:00:09.999,16,,
b,2024-01-01 00:00:25,32,,
""",
    """\
a,2024-01-01 00:00:19.999,64,,
a,2024-01-01 00:00:24,128,,
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


def questions(folder: Path) -> list[dict[str, Any]]:
    """Return what Flink is asked: every query in both modes, over tables in a folder."""
    setup = [VIEW]
    for name, table in TABLES.items():
        (folder / name).mkdir()
        # one file: Flink reads several in any order
        (folder / name / "rows").write_text("".join(table["files"]), encoding="utf-8")
        setup.append(create(name, table, folder / name))
    return [
        {"mode": mode, "setup": setup, "sql": sql}
        for sql, _ in cases("streaming_scripts")
        for mode in ("streaming", "batch")
    ]


def asked(oracle: str, folder: Path) -> list[dict[str, Any]]:
    """Return Flink's answers."""
    lines = "".join(json.dumps(one) + "\n" for one in questions(folder))
    command = ["sh", str(ASK), oracle, "Streams"]
    found = subprocess.run(command, input=lines, capture_output=True, encoding="utf-8", check=True)
    return [json.loads(line) for line in found.stdout.split("\n") if line.strip()]


def recorded(answer: dict[str, Any]) -> dict[str, Any]:
    """Return what is kept of an answer: the rows, or the class of the error."""
    if not answer["ok"]:
        return {"error": answer["error"], "message": answer["message"]}
    return {"rows": folded(answer["changes"])}


def main() -> None:
    """Ask Flink everything twice: an answer that differs depends on the machine, not on rows."""
    parser = argparse.ArgumentParser(description="Record what Flink returns in streaming mode.")
    parser.add_argument("--oracle", default=".oracle", help="the folder that setup.sh filled")
    options = parser.parse_args()
    runs = []
    for _ in range(2):
        with tempfile.TemporaryDirectory() as folder:
            runs.append([recorded(one) for one in asked(options.oracle, Path(folder))])
    with (CASES / "streaming_results.jsonl").open("w", encoding="utf-8") as lines:
        lines.write(json.dumps({"tables": TABLES, "view": VIEW}) + "\n")
        for place, (sql, kind) in enumerate(cases("streaming_scripts")):
            streaming, batch = (runs[0][2 * place + one] for one in (0, 1))
            if runs[0][2 * place : 2 * place + 2] != runs[1][2 * place : 2 * place + 2]:
                print(f"differs when asked again: {sql}")
            line = {"sql": sql, "unbounded": kind, "streaming": streaming, "batch": batch}
            lines.write(json.dumps(line, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
