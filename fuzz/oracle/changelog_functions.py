"""Records what Flink's streaming mode returns for TO_CHANGELOG and FROM_CHANGELOG.

    python -m fuzz.oracle.changelog_functions [--oracle .oracle]

The queries are those of tests/cases/changelog_functions.cases. The recording is
tests/cases/changelog_function_results.jsonl: a line for each query with its changes, or the error.
Flink's batch mode has no process table functions.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from fuzz.oracle.asking import ask
from tests.support import CASES, cases

RECORDING = CASES / "changelog_function_results.jsonl"

#: The tables of the queries, as views of rows in the order of arrival.
VIEWS = {
    "cdc": (
        (
            "(1, 'INSERT', 'a', 10), (2, 'INSERT', 'b', 20), (1, 'UPDATE_BEFORE', 'a', 10),"
            " (1, 'UPDATE_AFTER', 'a2', 11), (2, 'DELETE', 'b', 20),"
            " (3, 'INSERT', CAST(NULL AS STRING), 30)"
        ),
        "id, op, name, v",
    ),
    "twice": (
        (
            "('INSERT', 'a'), ('INSERT', 'a'), ('INSERT', 'b'), ('INSERT', 'a'), ('DELETE', 'a'),"
            " ('UPDATE_BEFORE', 'b'), ('UPDATE_AFTER', 'c')"
        ),
        "op, name",
    ),
    "typed": (
        (
            "('INSERT', MAP['k', 1], ARRAY[1, 2], DATE '2024-01-01', 1.5E0),"
            " ('INSERT', MAP['k', 2], ARRAY[3], DATE '2024-01-02', 0.0E0),"
            " ('DELETE', MAP['k', 1], ARRAY[1, 2], DATE '2024-01-01', 1.5E0)"
        ),
        "op, m, a, d, x",
    ),
    "debezium": (
        "('c', 1, 'a'), ('r', 2, 'b'), ('ub', 1, 'a'), ('u', 1, 'x'), ('d', 2, 'b')",
        "__op, id, name",
    ),
    "s": ("('a', 1), ('b', 2), ('a', 3), ('c', CAST(NULL AS INT))", "k, v"),
    "n": ("(1, 2), (2, 4), (3, 6)", "id, w"),
}
SETUP = (
    *(
        f"CREATE TEMPORARY VIEW {name} AS SELECT * FROM (VALUES {rows}) AS t ({columns})"
        for name, (rows, columns) in VIEWS.items()
    ),
    "CREATE TEMPORARY VIEW agg AS SELECT k, SUM(v) AS s FROM s GROUP BY k",
)


def recorded(answer: dict[str, Any]) -> dict[str, Any]:
    """Return what is kept of an answer: the changes, or the error."""
    if answer["ok"]:
        return {"changes": answer["changes"]}
    return {"error": answer["error"], "message": answer["message"].split("\n")[0]}


def main() -> None:
    """Ask Flink all queries."""
    parser = argparse.ArgumentParser(description="Record what Flink returns for changelogs.")
    parser.add_argument("--oracle", default=".oracle", help="the directory that setup.sh filled")
    oracle = parser.parse_args().oracle
    queries = [sql for sql, _ in cases("changelog_functions")]
    questions = [{"setup": SETUP, "sql": sql} for sql in queries]
    answers = map(recorded, ask(oracle, questions, "Streams"))
    with RECORDING.open("w", encoding="utf-8") as out:
        for sql, answer in zip(queries, answers, strict=True):
            out.write(json.dumps({"sql": sql, **answer}, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
