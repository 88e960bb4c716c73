"""Records what Flink returns in batch mode for queries with VECTOR_SEARCH.

    python -m fuzz.oracle.vectors [--oracle .oracle]

The queries are those of tests/cases/vector_queries.cases. The recording is
tests/cases/vector_results.jsonl: a line for each query. Flink's connectors decide how near vectors
are: here `VectorFactory` computes the measure that the options of a table name, and ignores the
config of the call, which this library reads.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from fuzz.oracle.asking import ask
from fuzz.oracle.matches import recorded
from tests.support import CASES, cases

RECORDING = CASES / "vector_results.jsonl"

DOCUMENTS = """\
1,BigData,1 1 0
2,Streaming,-5 -12 -13
3,Batch,5 12 13
4,None,
5,Near,5 12 12.5
6,Far,0.25 -3 100
"""
WORDS = """\
1,Spark,5 12 13
2,Flink,-5 -12 -13
3,Nothing,
4,Other,0.5 -7.25 3
"""
DOCUMENT = "id INT, topic STRING, vec ARRAY<{}>"
WORD = "qid INT, word STRING, qv ARRAY<{}>"

#: Name -> columns, rows, and the measure in Flink.
TABLES = {
    "v": (DOCUMENT.format("FLOAT"), DOCUMENTS, "COSINE"),
    "vd": (DOCUMENT.format("DOUBLE"), DOCUMENTS, "COSINE"),
    "vn": ("id INT NOT NULL, topic STRING, vec ARRAY<DOUBLE>", DOCUMENTS, "COSINE"),
    "vs": ("id INT, score STRING, vec ARRAY<FLOAT>", DOCUMENTS, "COSINE"),
    "vp": (DOCUMENT.format("FLOAT"), DOCUMENTS, "DOT_PRODUCT"),
    "ve": (DOCUMENT.format("DOUBLE"), DOCUMENTS, "EUCLIDEAN"),
    "q": (WORD.format("FLOAT"), WORDS, "COSINE"),
    "qd": (WORD.format("DOUBLE"), WORDS, "COSINE"),
}


def as_json(names: Sequence[str], line: str) -> str:
    """Return a row of two values and a vector, NULL if it is empty, as an object."""
    number, text, vector = line.split(",")
    values = (int(number), text, [float(item) for item in vector.split()] or None)
    return json.dumps(dict(zip(names, values, strict=True)))


def create(name: str, folder: Path, *, here: bool) -> str:
    """Return the statement that creates a table, for this library or for Flink."""
    columns, rows, metric = TABLES[name]
    if here:
        names = [column.split()[0] for column in columns.split(", ")]
        rows = "".join(f"{as_json(names, line)}\n" for line in rows.splitlines())
    path = folder / name
    path.mkdir(exist_ok=True)
    (path / "rows").write_text(rows, encoding="utf-8")
    options = (
        f"'connector' = 'filesystem', 'path' = '{path}', 'format' = 'json'"
        if here
        else f"'connector' = 'oracle-vectors', 'path' = '{path / 'rows'}', 'metric' = '{metric}'"
    )
    return f"CREATE TABLE {name} ({columns}) WITH ({options})"


def main() -> None:
    """Ask Flink all queries."""
    parser = argparse.ArgumentParser(description="Record what Flink returns for VECTOR_SEARCH.")
    parser.add_argument("--oracle", default=".oracle", help="the directory that setup.sh filled")
    oracle = parser.parse_args().oracle
    queries = [query for query, _ in cases("vector_queries")]
    with tempfile.TemporaryDirectory() as folder:
        setup = [create(name, Path(folder), here=False) for name in TABLES]
        setup.append("CREATE TEMPORARY VIEW vw AS SELECT id, topic, vec FROM v")
        questions = [{"mode": "batch", "setup": setup, "sql": query} for query in queries]
        lines = map(recorded, ask(oracle, questions, "Streams"))
    with RECORDING.open("w", encoding="utf-8") as out:
        for query, line in zip(queries, lines, strict=True):
            out.write(json.dumps({"query": query, **line}, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
