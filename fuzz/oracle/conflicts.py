"""Records what Flink writes for INSERT with ON CONFLICT.

    python -m fuzz.oracle.conflicts [--oracle .oracle]

The recording is tests/cases/conflict_results.jsonl: a line for each query and action, with the rows
of the sink, or the message of the error. A row that advances the watermark by more than its
interval is followed by the watermark, so that the rows of a file are compared together.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from fuzz.oracle.asking import ask
from tests.support import CASES

RECORDING: Final = CASES / "conflict_results.jsonl"
COLUMNS: Final = "id INT, k INT, v STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts"
SINK: Final = "k INT, v STRING, PRIMARY KEY (k) NOT ENFORCED"
#: Table -> its rows, each of which is a second after the one before. Those of `batch` between the
#: first and the last one have the time of the first one: they wait for the last one.
TABLES: Final[Mapping[str, tuple[str, ...]]] = {
    "s": ("1,1,a", "2,1,b", "3,2,c", "1,3,d", "4,2,e", "2,4,f", "5,1,g"),
    "moves": ("1,1,a", "2,2,b", "1,3,c", "3,1,d", "3,4,e", "2,5,g"),
    "equal": ("1,1,a", "1,1,a", "2,2,a"),
    "batch": ("1,1,a", "2,1,b", "1,3,c", "4,4,x", "4,4,x", "5,1,c", "6,6,y", "7,6,z", "8,8,z"),
    "distinct_keys": ("1,1,a", "2,2,b"),
}
#: The columns of the sink in other order, if the query has a key among them.
KEYED: Final = "k INT, id INT, v STRING, PRIMARY KEY (k) NOT ENFORCED"
LAST: Final = (
    "SELECT {} FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY ts DESC) AS n FROM {})"
    " WHERE n = 1"
)
#: Query -> the columns of its sink.
QUERIES: Final[Mapping[str, str]] = {
    **{f"SELECT k, v FROM {name}": SINK for name in TABLES},
    **{f"SELECT MAX(k), MAX(v) FROM {name} GROUP BY id": SINK for name in TABLES},
    **{f"SELECT MAX(k), id, MAX(v) FROM {name} GROUP BY id": KEYED for name in TABLES},
    # the order of equal times depends on the operator
    **{LAST.format("k, v", name): SINK for name in TABLES if name != "batch"},
    **{LAST.format("k, id, v", name): KEYED for name in ("s", "moves")},
    # the primary key contains an upsert key: nothing is compared
    "SELECT k, MAX(v) FROM s GROUP BY k": SINK,
    "SELECT MOD(k, 2), v FROM s WHERE v <> 'a' UNION ALL SELECT k, v FROM moves WHERE k > 4": SINK,
}
ACTIONS: Final = ("NOTHING", "ERROR", "DEDUPLICATE")


def files_of(name: str) -> list[str]:
    """Return the files in which the rows of a table are followed by the watermark."""
    first, *others = TABLES[name]
    if name != "batch":
        return [f"{row},{_time(number)}\n" for number, row in enumerate((first, *others), 1)]
    rest = "".join(f"{row},{_time(1)}\n" for row in others[:-1])
    return [f"{first},{_time(1)}\n", rest, f"{others[-1]},{_time(9)}\n"]


def _time(second: int) -> str:
    return f"2024-01-01 00:00:{second:02}"


def questions(folder: Path) -> Iterator[dict[str, Any]]:
    setup = []
    for name in TABLES:
        (folder / name).write_text("".join(files_of(name)), encoding="utf-8")
        setup.append(
            f"CREATE TABLE {name} ({COLUMNS}) WITH ('connector' = 'filesystem', 'format' = 'csv',"
            f" 'path' = '{folder / name}')"
        )
    for sql, columns in QUERIES.items():
        for action in ACTIONS:
            sink = f"CREATE TABLE sink ({columns}) WITH ('connector' = 'oracle-changed', "
            statements = [
                *setup,
                f"{sink}'data' = 'sink', 'upsert' = 'true')",
                f"INSERT INTO sink {sql} ON CONFLICT DO {action}",
                "SELECT * FROM sink",
            ]
            config = {"parallelism.default": "1"}
            yield {"mode": "streaming", "config": config, "statements": statements}


def recorded(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rows of a sink, or the message of the error."""
    insert, rows = answer["results"][-2:]
    if not insert["ok"]:
        return {"message": insert["message"]}
    return {"rows": sorted(rows["rows"], key=json.dumps)}


def main() -> None:
    """Ask Flink twice: an answer that differs depends on the machine, not on the rows."""
    parser = argparse.ArgumentParser(description="Record what Flink writes with ON CONFLICT.")
    parser.add_argument("--oracle", default=".oracle", help="the directory that setup.sh filled")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        asked = list(questions(Path(folder)))
        first, second = (
            list(map(recorded, ask(options.oracle, asked, "Statements"))) for _ in range(2)
        )
    keys = [(sql, action) for sql in QUERIES for action in ACTIONS]
    changed = [key for key, *pair in zip(keys, first, second, strict=True) if pair[0] != pair[1]]
    if changed:
        sys.exit(f"Flink writes other rows when asked again: {changed}")
    with RECORDING.open("w", encoding="utf-8") as lines:
        for (sql, action), answer in zip(keys, first, strict=True):
            lines.write(json.dumps({"sql": sql, "action": action, **answer}) + "\n")
    print(f"{len(keys)} statements were asked")


if __name__ == "__main__":
    main()
