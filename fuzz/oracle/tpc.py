"""Join Flink's recorded result schemas of the TPC queries with the queries.

    python -m fuzz.oracle.tpc DIRECTORY/NAME.jsonl [--answers ANSWERS.json]
    python -m properties.agreement --corpus DIRECTORY

The queries are not stored here: they are read from the source distribution of sqlglot, which has
the TPC-H and TPC-DS queries among its fixtures. What this writes is never committed.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

from properties import recorded

#: The release whose fixtures the answers were recorded with.
VERSION = "30.30.0"

#: What Flink's parser wants spelled otherwise: kind -> (query or *, pattern, replacement).
SPELLING = {"h": [("11", r"\bvalue\b", "`value`")], "ds": [("*", '"', "`")]}


def queries(archive: tarfile.TarFile, kind: str) -> Iterator[tuple[str, str]]:
    """Number and SQL of each query in the fixture file of a kind (h or ds)."""
    path = f"sqlglot-{VERSION}/tests/fixtures/optimizer/tpc-{kind}/tpc-{kind}.sql"
    member = archive.extractfile(path)
    if member is None:
        sys.exit(f"{path} is not a file of the archive")
    heading = rf"(?m)^-{{20,}}\n-- TPC-{kind.upper()} (\w+)\n-{{20,}}\n"
    blocks = re.split(heading, member.read().decode())[1:]
    for number, block in zip(blocks[::2], blocks[1::2], strict=True):
        statement = next(text.strip() for text in block.split(";") if text.strip())
        statement = re.sub(r"(?m)^(#|--).*\n?", "", statement).strip()
        for only, pattern, replacement in SPELLING[kind]:
            if only in {number, "*"}:
                statement = re.sub(pattern, replacement, statement)
        yield number, statement


def download(folder: str) -> tarfile.TarFile:
    """The source distribution, which the wheel's fixtures are missing from."""
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:"]
    subprocess.run([*pip, f"sqlglot=={VERSION}", "-d", folder], check=True)
    return tarfile.open(next(Path(folder).glob("*.tar.gz")))


def main() -> None:
    """Write one question with its answer for every query that Flink could plan."""
    parser = argparse.ArgumentParser(description="Record TPC queries.")
    parser.add_argument("recording", type=Path)
    parser.add_argument("--answers", type=Path, help="default: the recorded TPC-H schemas")
    options = parser.parse_args()
    document = (
        json.loads(options.answers.read_text(encoding="utf-8"))
        if options.answers
        else recorded.document("tpch-answers")
    )
    queries, tables = document["queries"], document["tables"]
    kind = next(iter(queries)).split("-")[0].removeprefix("tpc")
    with (
        tempfile.TemporaryDirectory() as folder,
        download(folder) as archive,
        options.recording.open("w", encoding="utf-8") as lines,
    ):
        for number, sql in queries(archive, kind):
            name = f"tpc{kind}-{number}"
            if answer := queries.get(name):
                used = {table: tables[table] for table in answer["tables"]}
                question = {
                    "op": "query", "mode": "batch", "category": f"tpc{kind}", "name": name,
                    "tables": used, "sql": sql,
                }  # fmt: skip
                record = {"q": question, "a": {"ok": True, "columns": answer["columns"]}}
                lines.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
