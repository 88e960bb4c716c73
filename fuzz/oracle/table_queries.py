"""Records the rows that Flink returns for queries of tables.

    python -m fuzz.oracle.table_queries [--oracle .oracle] [--add QUERIES.sql]

The first line of the recording, tests/cases/table_queries.jsonl, has the tables, which Flink reads
with a first column ``__idx`` that numbers the rows; each further line has a query and its rows.
`--add` reads further queries, one a line.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from fuzz.oracle.asking import ask
from tests.support import CASES

RECORDING = CASES / "table_queries.jsonl"


def main() -> None:
    """Ask the queries of the file and the added ones; leave out those that Flink refuses."""
    parser = argparse.ArgumentParser(description="Record the rows of queries of tables.")
    parser.add_argument("--oracle", default=".oracle", help="the directory that setup.sh filled")
    parser.add_argument("--add", type=Path, help="a file with further queries, one a line")
    options = parser.parse_args()
    tables, *cases = map(json.loads, RECORDING.read_text(encoding="utf-8").splitlines())
    added = options.add.read_text(encoding="utf-8").splitlines() if options.add else []
    queries = list(dict.fromkeys([*(case["sql"] for case in cases), *filter(None, added)]))
    questions = [{"op": "table", "name": name, **table} for name, table in tables.items()]
    questions += [{"op": "sql", "sql": query} for query in queries]
    answers = ask(options.oracle, questions, "Values")[len(tables) :]
    with RECORDING.open("w", encoding="utf-8") as file:
        file.write(json.dumps(tables, ensure_ascii=False) + "\n")
        for query, answer in zip(queries, answers, strict=True):
            if answer["ok"]:
                case = {"sql": query, "rows": sorted(answer["rows"])}
                file.write(json.dumps(case, ensure_ascii=False) + "\n")
            else:
                print(f"{answer['error']}: {query}")


if __name__ == "__main__":
    main()
