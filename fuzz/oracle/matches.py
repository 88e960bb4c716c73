"""Records what Flink returns in batch mode for queries with MATCH_RECOGNIZE.

    python -m fuzz.oracle.matches [--oracle .oracle]

The queries are those of tests/cases/match_queries.cases. The recording is
tests/cases/match_results.jsonl: first the tables, then a line for each query.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from fuzz.oracle.asking import ask
from tests.support import CASES, cases

RECORDING = CASES / "match_results.jsonl"

TICKS = """\
ACME,2024-01-01 00:00:01,12,1,1
ACME,2024-01-01 00:00:02,17,2,2
ACME,2024-01-01 00:00:03,13,3,3
ACME,2024-01-01 00:00:04,16,4,4
ACME,2024-01-01 00:00:05,25,2,5
ACME,2024-01-01 00:00:06,2,1,6
ACME,2024-01-01 00:00:07,4,1,7
ACME,2024-01-01 00:00:08,10,2,8
ACME,2024-01-01 00:00:09,15,2,9
ACME,2024-01-01 00:00:10,25,2,10
ACME,2024-01-01 00:00:11,25,1,11
ACME,2024-01-01 00:00:12,30,1,12
BETA,2024-01-01 00:00:01,5,1,13
BETA,2024-01-01 00:00:02,,1,14
BETA,2024-01-01 00:00:04,3,1,15
BETA,2024-01-01 00:00:03,7,1,16
,2024-01-01 00:00:03,7,1,17
,2024-01-01 00:00:04,9,1,18
"""
#: Equal milliseconds, and more digits than milliseconds have.
FINE = """\
a,2024-01-01 00:00:01.0004,1
a,2024-01-01 00:00:01.0002,2
a,2024-01-01 00:00:01,3
a,2024-01-01 00:00:00.9999,4
a,2024-01-01 00:00:02,5
"""
MIXED = """\
u,2024-01-01 00:00:01,1,1.50,0.1,10,b,2024-01-05,true
u,2024-01-01 00:00:02,2,2.25,0.3,-4,a,2024-01-06,false
u,2024-01-01 00:00:03,3,,0.2,7,c,2024-01-06,
u,2024-01-01 00:00:04,4,0.75,1.5,,d,2024-01-04,true
u,2024-01-01 00:00:05,5,3.00,0.7,9223372036854775807,Ä,2024-01-07,true
u,2024-01-01 00:00:06,6,3.01,,1,B,2024-01-08,false
v,2024-01-01 00:00:01,7,-1.00,2.5,3,x,2024-01-01,false
v,2024-01-01 00:00:02,8,9.99,-2.5,4,,2024-01-01,true
v,2024-01-01 00:00:03,9,0.01,1.0E10,5,z,,false
v,2024-01-01 00:00:04,10,0.02,1.0E-3,6,z,2024-01-01,false
"""
#: Sums and squares that overflow.
LARGE = """\
u,2024-01-01 00:00:01,1,2000000000,9000000000000000000,99999.99
u,2024-01-01 00:00:02,2,2000000000,9000000000000000000,12345.67
u,2024-01-01 00:00:03,3,1999999999,3,0.01
u,2024-01-01 00:00:04,4,7,-5,-3.33
u,2024-01-01 00:00:05,5,100000,4000000000,5.55
u,2024-01-01 00:00:06,6,3,1,1.00
"""
LETTERS = "1,a\n2,z\n3,b\n4,c\n5,d\n6,a\n7,b\n8,c\n9,h\n"
STOCK = """\
ACME,1970-01-01 00:00:01Z,12,1
ACME,1970-01-01 00:00:02Z,17,2
ACME,1970-01-01 00:00:03Z,13,3
ACME,1970-01-01 00:00:04Z,11,4
ACME,1970-01-01 00:00:05Z,14,5
ACME,1970-01-01 00:00:06Z,15,4
ACME,1970-01-01 00:00:07Z,20,3
ACME,1970-01-01 00:00:08Z,24,4
ACME,1970-01-01 00:00:09Z,25,5
ACME,1970-01-01 00:00:10Z,19,6
IBM,1970-01-01 00:00:03Z,10,1
IBM,1970-01-01 00:00:04Z,9,2
IBM,1970-01-01 00:00:05Z,11,3
"""
VALUES = (
    "k STRING, ts TIMESTAMP(3), id INT, d DECIMAL(5, 2), x DOUBLE, l BIGINT, s STRING, dt DATE,"
    " b BOOLEAN, WATERMARK FOR ts AS ts"
)
#: The same columns, NOT NULL, and collections.
PRESENT = ", ".join(
    f"{column} NOT NULL"
    for column in VALUES.removesuffix(", WATERMARK FOR ts AS ts").replace("5, 2", "5,2").split(", ")
) + (
    ", ar AS ARRAY[id, 1], ro AS ROW(id, s), mp AS MAP[s, id], c AS CAST(id AS SMALLINT),"
    " WATERMARK FOR ts AS ts"
)
#: Columns NOT NULL of further types.
TYPED = (
    "k STRING NOT NULL, ts TIMESTAMP(3) NOT NULL, id INT NOT NULL, tm TIME NOT NULL, ch CHAR(3)"
    " NOT NULL, vc VARCHAR(5) NOT NULL, ti AS CAST(id AS TINYINT), fl AS CAST(id AS FLOAT),"
    " iv AS INTERVAL '1' DAY * id, ym AS INTERVAL '1' MONTH * id, t9 AS CAST(ts AS TIMESTAMP(9)),"
    " c5 AS CAST(vc AS CHAR(5)), WATERMARK FOR ts AS ts"
)
TYPES = """\
u,2024-01-01 00:00:01,1,10:00:00,abc,v
u,2024-01-01 00:00:02,2,11:00:00,de,w
u,2024-01-01 00:00:03,3,12:00:00,f,xyz
"""
SUMMED = (
    "k STRING, ts TIMESTAMP(3), id INT, i INT, l BIGINT, d DECIMAL(7, 2), f AS CAST(i AS FLOAT),"
    " x AS CAST(l AS DOUBLE), s AS CAST(id AS SMALLINT), WATERMARK FOR ts AS ts"
)
TICK = "symbol STRING, ts TIMESTAMP(3), price INT, tax INT, id INT"

#: Name -> columns and rows.
TABLES = {
    "t": (f"{TICK}, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND", TICKS),
    "p": (f"{TICK}, pt AS PROCTIME()", TICKS),
    "n": (TICK, TICKS),
    "z": (f"{TICK}, zt AS TO_TIMESTAMP_LTZ(id * 1000, 3), WATERMARK FOR zt AS zt", TICKS),
    "w": ("symbol STRING, ts TIMESTAMP(6), id INT", FINE),
    "m": (VALUES, MIXED),
    "q": (PRESENT, "".join(f"{row}\n" for row in MIXED.splitlines() if all(row.split(",")))),
    "e": (TYPED, TYPES),
    "f": (
        f"{TICK.replace(',', ' NOT NULL,')} NOT NULL, WATERMARK FOR ts AS ts",
        "".join(f"{row}\n" for row in TICKS.splitlines() if row.startswith("ACME")),
    ),
    "b": (SUMMED, LARGE),
    "a": ("id INT, name STRING, pt AS PROCTIME()", LETTERS),
    "s": (
        "symbol STRING, ts TIMESTAMP_LTZ(3), price INT, tax INT, WATERMARK FOR ts AS ts",
        STOCK,
    ),
}


def create(name: str, folder: Path) -> str:
    """Return the statement that creates a table, for Flink and for this library."""
    columns, rows = TABLES[name]
    path = folder / name
    path.mkdir(exist_ok=True)
    (path / "rows").write_text(rows, encoding="utf-8")
    return (
        f"CREATE TABLE {name} ({columns}) WITH ('connector' = 'filesystem', 'format' = 'csv',"
        f" 'csv.null-literal' = '', 'path' = '{path}')"
    )


def sql_of(query: str) -> str:
    """Return the SQL of a query of the cases."""
    table, separator, clauses = query.partition(": ")
    if not separator or table not in TABLES:
        return query
    return f"SELECT * FROM {table} MATCH_RECOGNIZE ({clauses})"


def recorded(answer: dict[str, Any]) -> dict[str, Any]:
    """Return what is kept of an answer: the types and rows, or the class of the error."""
    if not answer["ok"]:
        return {"error": answer["error"]}
    rows = sorted((row for _, *row in answer["changes"]), key=json.dumps)
    return {"types": answer["types"], "rows": rows}


def kept() -> dict[str, dict[str, Any]]:
    """Return the recorded answers."""
    if not RECORDING.exists():
        return {}
    lines = map(json.loads, RECORDING.read_text(encoding="utf-8").splitlines())
    return {line.pop("query"): line for line in lines}


def main() -> None:
    """Ask all queries at once, of which those that are recorded are kept."""
    parser = argparse.ArgumentParser(description="Record what Flink returns.")
    parser.add_argument("--oracle", default=".oracle", help="the directory that setup.sh filled")
    parser.add_argument("--all", action="store_true", help="ask also what has been recorded")
    options = parser.parse_args()
    every = [query for query, _ in cases("match_queries")]
    answers = {} if options.all else kept()
    queries = [query for query in every if query not in answers]
    with tempfile.TemporaryDirectory() as folder:
        setup = [create(name, Path(folder)) for name in TABLES]
        questions = [{"mode": "batch", "setup": setup, "sql": sql_of(query)} for query in queries]
        asked = ask(options.oracle, questions, "Streams")
    answers |= zip(queries, map(recorded, asked), strict=True)
    with RECORDING.open("w", encoding="utf-8") as recording:
        for query in every:
            line = json.dumps({"query": query, **answers[query]}, ensure_ascii=False)
            recording.write(f"{line}\n")
    print(f"{len(queries)} of {len(every)} queries were asked")


if __name__ == "__main__":
    main()
