"""Records the files of parquet, orc and avro that Flink writes.

    python -m fuzz.oracle.files [--oracle .oracle]

The recording is tests/cases/flink_files.jsonl: a line for each format and column, with the bytes of
the file and its rows, or Flink's error.
"""

from __future__ import annotations

import argparse
import base64
import json
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fuzz.oracle.asking import ask
from tests.support import CASES

RECORDING = CASES / "flink_files.jsonl"
FORMATS = ("parquet", "orc", "avro")

#: A type, and a value of it; each file also has a NULL.
VALUES = (
    ("BOOLEAN", "TRUE"),
    ("TINYINT", "CAST(-1 AS TINYINT)"),
    ("SMALLINT", "CAST(300 AS SMALLINT)"),
    ("INT", "5"),
    ("BIGINT", "CAST(7 AS BIGINT)"),
    ("FLOAT", "CAST(1.1 AS FLOAT)"),
    ("DOUBLE", "2.5e0"),
    ("STRING", "'x'"),
    ("VARCHAR(5)", "'vc'"),
    ("BYTES", "X'00ff'"),
    ("BINARY(2)", "X'0102'"),
    ("DECIMAL(10, 2)", "CAST(-12.34 AS DECIMAL(10, 2))"),
    ("DECIMAL(18, 0)", "CAST(123456789012345678 AS DECIMAL(18, 0))"),
    ("DECIMAL(38, 18)", "CAST(1.000000000000000001 AS DECIMAL(38, 18))"),
    ("DATE", "DATE '1969-12-31'"),
    ("DATE", "DATE '0001-01-01'"),
    ("TIME(0)", "TIME '23:59:59'"),
    ("TIME(3)", "TIME '01:02:03.456'"),
    ("TIMESTAMP(3)", "TIMESTAMP '2024-01-01 00:00:00.123'"),
    ("TIMESTAMP(3)", "TIMESTAMP '1969-12-31 23:59:59.999'"),
    ("TIMESTAMP(6)", "TIMESTAMP '2024-01-01 00:00:00.123456'"),
    ("TIMESTAMP(9)", "TIMESTAMP '2024-01-01 00:00:00.123456789'"),
    ("TIMESTAMP_LTZ(3)", "TO_TIMESTAMP_LTZ(1700000000123, 3)"),
    ("TIMESTAMP_LTZ(6)", "CAST(TO_TIMESTAMP_LTZ(-1, 3) AS TIMESTAMP_LTZ(6))"),
    ("ARRAY<INT>", "ARRAY[1, CAST(NULL AS INT)]"),
    ("MAP<STRING, INT>", "MAP['k', 1, 'n', CAST(NULL AS INT)]"),
    ("MAP<STRING, ARRAY<DECIMAL(5, 1)>>", "MAP['k', ARRAY[CAST(1.5 AS DECIMAL(5, 1))]]"),
    (
        "ARRAY<ROW<z DECIMAL(5, 1), w ARRAY<STRING>>>",
        "ARRAY[ROW(CAST(1.5 AS DECIMAL(5, 1)), ARRAY['p'])]",
    ),
    (
        "ARRAY<ROW<t TIMESTAMP(3), n BIGINT>>",
        "ARRAY[ROW(TIMESTAMP '2024-01-01 00:00:00.123', CAST(NULL AS BIGINT))]",
    ),
    ("ARRAY<ARRAY<INT>>", "ARRAY[ARRAY[1, 2], ARRAY[3]]"),
)


def create(type_: str, form: str, path: Path | str) -> str:
    return (
        f"CREATE TABLE t (v {type_}) WITH ('connector' = 'filesystem', 'format' = '{form}',"
        f" 'path' = '{path}')"
    )


def questions(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield what Flink is asked: tables of one column, in a directory each."""
    for form in FORMATS:
        for number, (type_, value) in enumerate(VALUES):
            rows = f"SELECT * FROM (VALUES ({value}), (CAST(NULL AS {type_}))) AS x(v)"
            yield {
                "mode": "batch",
                "config": {"table.dml-sync": "true"},
                "setup": [create(type_, form, folder / f"{form}{number}"), f"INSERT INTO t {rows}"],
                "sql": "SELECT * FROM t",
            }


def recorded(folder: Path, answers: Iterator[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the lines of the recording."""
    for form in FORMATS:
        for number, (type_, value) in enumerate(VALUES):
            answer = next(answers)
            case: dict[str, Any] = {"format": form, "type": type_, "value": value}
            if not answer["ok"]:
                yield {**case, "error": answer["error"], "message": answer["message"]}
                continue
            files = sorted((folder / f"{form}{number}").glob("part-*"))
            case["files"] = [base64.b64encode(file.read_bytes()).decode() for file in files]
            yield {**case, "rows": [row for _, *row in answer["changes"]]}


def main() -> None:
    parser = argparse.ArgumentParser(description="Record the files that Flink writes.")
    parser.add_argument("--oracle", default=".oracle", help="the directory that setup.sh filled")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        answers = ask(options.oracle, questions(folder), "Streams")
        lines = [json.dumps(case) for case in recorded(folder, iter(answers))]
    RECORDING.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    print(f"{len(lines)} files were recorded")


if __name__ == "__main__":
    main()
