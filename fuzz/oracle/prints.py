"""Records how Flink prints the rows of queries.

    python -m fuzz.oracle.prints [--oracle .oracle]

The recording is tests/cases/printed_results.jsonl: a line for each query, in both modes.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import Any

from fuzz.oracle.asking import ask
from tests.support import CASES

RECORDING = CASES / "printed_results.jsonl"
NARROW = {"table.display.max-column-width": "10"}
QUERIES: tuple[tuple[str, dict[str, str]], ...] = (
    (
        (
            "SELECT TRUE AS b, CAST(1 AS TINYINT) AS ti, CAST(1 AS SMALLINT) AS si, 1 AS i,"
            " CAST(1 AS BIGINT) AS bi, CAST(1 AS FLOAT) AS f, CAST(1 AS DOUBLE) AS d,"
            " CAST(1 AS DECIMAL(5, 2)) AS de, CAST(1 AS DECIMAL(38, 10)) AS dd"
        ),
        {},
    ),
    (
        (
            "SELECT CAST('ab' AS CHAR(3)) AS c, CAST('abcdefghijkl' AS VARCHAR(20)) AS v, 'x' AS s,"
            " X'0102' AS x, CAST(X'0102' AS BYTES) AS y, CAST(NULL AS STRING) AS n"
        ),
        {},
    ),
    (
        (
            "SELECT DATE '2020-01-01' AS a, TIME '01:02:03' AS b,"
            " TIMESTAMP '2020-01-01 00:00:00' AS c, TIMESTAMP '2020-01-01 00:00:00.123' AS d,"
            " CAST(TIMESTAMP '2020-01-01 00:00:00' AS TIMESTAMP(6)) AS e,"
            " CAST(TIMESTAMP '2020-01-01 00:00:00' AS TIMESTAMP_LTZ(3)) AS f,"
            " INTERVAL '1' YEAR AS g, INTERVAL '1' DAY AS h"
        ),
        {},
    ),
    (
        (
            "SELECT ARRAY[X'01', CAST(NULL AS BYTES)] AS a, MAP[X'02', X'ff'] AS m,"
            " ROW(X'0a', 'q') AS r, CAST(X'' AS BYTES) AS e"
        ),
        {},
    ),
    ("SELECT ARRAY[1, 2] AS a, MAP['a', 1] AS m, ROW(1, 'a') AS r", {}),
    (
        (
            "SELECT 'abcdefghijklmnopqrstuvwxyz' AS s, 1 AS a_long_name_of_a_column,"
            " ARRAY['abcdefghijklmnopqrstuvwxyz'] AS a, TIMESTAMP '2020-01-01 00:00:00' AS t,"
            " 'abcdefghijklmnopqrstuvwxyz' AS another_long_name"
        ),
        NARROW,
    ),
    ("SELECT 'abcdefghijklmnopqrstuvwxyz and more letters' AS s, 1 AS i", {}),
    ("SELECT i, s FROM (VALUES (1, 'a'), (2, '\u4f60\u597d')) AS v(i, s)", {}),
    ("SELECT '\u4f60\u597d\u4f60\u597d\u4f60\u597d\u4f60\u597d' AS `\u4f60\u597d`", NARROW),
    ("SELECT 'a\u4f60\u597d\u4f60\u597d\u4f60\u597d\u4f60\u597d' AS `\u597d`", NARROW),
    ("SELECT i FROM (VALUES (1)) AS v(i) WHERE i > 3", {}),
)


def questions() -> Iterator[dict[str, Any]]:
    for mode in ("batch", "streaming"):
        for sql, config in QUERIES:
            yield {"mode": mode, "sql": sql, "config": config, "print": True}


def main() -> None:
    parser = argparse.ArgumentParser(description="Record how Flink prints the rows of queries.")
    parser.add_argument("--oracle", default=".oracle", help="the directory that setup.sh filled")
    options = parser.parse_args()
    asked = list(questions())
    answers = ask(options.oracle, asked, "Streams")
    with RECORDING.open("w", encoding="utf-8") as file:
        for question, answer in zip(asked, answers, strict=True):
            kept = {**question, "printed": answer["printed"]}
            file.write(json.dumps(kept, ensure_ascii=False) + "\n")
    print(f"{len(asked)} queries were recorded")


if __name__ == "__main__":
    main()
