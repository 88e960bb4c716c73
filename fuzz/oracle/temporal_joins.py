"""Records what Flink returns for joins FOR SYSTEM_TIME AS OF a rowtime or the processing time.

    python -m fuzz.oracle.temporal_joins [--oracle .oracle] [--all]

The queries are those of tests/cases/temporal_joins.cases, over the tables below. The recording is
tests/cases/temporal_joins.jsonl: a line for each query with the rows, or the error. All rows are
within the watermark, so their order does not depend on the machine.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from fuzz.oracle.asking import ask
from fuzz.oracle.changelogs import FORMATS, Change, messages
from fuzz.oracle.streams import recorded
from tests.support import CASES, cases

RECORDING = CASES / "temporal_joins.jsonl"

_WATERMARK = "WATERMARK FOR rt AS rt - INTERVAL '1' HOUR"
_VERSIONS = f"k STRING NOT NULL, a INT, w STRING, rt TIMESTAMP(3), {_WATERMARK}"
_FACTS = f"k STRING, a INT, w STRING, rt TIMESTAMP(3), {_WATERMARK}"
_DIMENSION = "k STRING, a INT, w STRING"
_ROWS = "x,5,x5\nx,6,x6\ny,8,y8\n,9,nul\nz,,znull\n"

#: Name -> the columns, and lines of csv.
TABLES: dict[str, tuple[str, str]] = {
    "o": (
        f"id INT, k STRING, a INT, rt TIMESTAMP(3), pt AS PROCTIME(), {_WATERMARK}",
        """\
1,x,5,2024-01-01 00:00:10
2,x,6,2024-01-01 00:00:20
3,x,7,2024-01-01 00:00:15
4,y,8,2024-01-01 00:00:05
5,,9,2024-01-01 00:00:30
6,y,1,2024-01-01 00:00:40
7,z,2,2024-01-01 00:00:40
8,x,3,2024-01-01 00:00:40.500
9,x,3,2024-01-01 00:00:09.999
10,x,1,2024-01-01 00:00:40.500
11,,1,2024-01-01 00:00:40.500
""",
    ),
    "v": (
        f"{_VERSIONS}, PRIMARY KEY (k) NOT ENFORCED",
        """\
x,5,x10,2024-01-01 00:00:10
x,6,x20,2024-01-01 00:00:20
x,7,x20b,2024-01-01 00:00:20
y,8,y10,2024-01-01 00:00:10
x,1,x40,2024-01-01 00:00:40
x,1,x17,2024-01-01 00:00:17
q,1,q1,2024-01-01 00:00:01
""",
    ),
    "v2": (
        (
            f"k STRING NOT NULL, a INT NOT NULL, w STRING, rt TIMESTAMP(3), {_WATERMARK},"
            " PRIMARY KEY (k, a) NOT ENFORCED"
        ),
        """\
x,5,x5,2024-01-01 00:00:10
x,6,x6,2024-01-01 00:00:10
x,6,x6b,2024-01-01 00:00:20
""",
    ),
    "big": (
        f"a BIGINT NOT NULL, w STRING, rt TIMESTAMP(3), {_WATERMARK}, PRIMARY KEY (a) NOT ENFORCED",
        "5,x10,2024-01-01 00:00:10\n1,n,2024-01-01 00:00:11\n",
    ),
    "padded": (
        (
            f"k CHAR(2) NOT NULL, w STRING, rt TIMESTAMP(3), {_WATERMARK},"
            " PRIMARY KEY (k) NOT ENFORCED"
        ),
        "x,x10,2024-01-01 00:00:10\ny,n,2024-01-01 00:00:11\n",
    ),
    "no_rows": (f"{_VERSIONS}, PRIMARY KEY (k) NOT ENFORCED", ""),
    "timeless": (
        f"{_VERSIONS}, PRIMARY KEY (k) NOT ENFORCED",
        "x,1,w,\nx,2,w,2024-01-01 00:00:11\n",
    ),
    "facts": (
        _FACTS,
        """\
x,1,w,2024-01-01 00:00:01
,1,nul,2024-01-01 00:00:01
x,,w2,2024-01-01 00:00:12
x,3,w3,2024-01-01 00:00:09
x,3,w4,2024-01-01 00:00:12
y,3,w4,2024-01-01 00:00:12
y,4,w5,2024-01-01 00:00:02
""",
    ),
    "keyed": (
        "k STRING NOT NULL, w STRING, rt TIMESTAMP(3), PRIMARY KEY (k) NOT ENFORCED",
        "x,w,2024-01-01 00:00:01\n",
    ),
    "instants": (
        (
            "k STRING, e BIGINT, rt AS TO_TIMESTAMP_LTZ(e, 3),"
            " WATERMARK FOR rt AS rt - INTERVAL '1' HOUR"
        ),
        "x,1704067211000\n",
    ),
    "rates": (
        (
            "k STRING NOT NULL, a INT, e BIGINT, rt AS TO_TIMESTAMP_LTZ(e, 3),"
            " WATERMARK FOR rt AS rt - INTERVAL '1' HOUR, PRIMARY KEY (k) NOT ENFORCED"
        ),
        "x,1,1704067211000\nx,2,1704067210000\nx,3,1704067211001\n",
    ),
}
#: Tables that Flink looks up by key.
LOOKUPS: dict[str, tuple[str, str]] = {
    "d": (_DIMENSION, _ROWS),
    "dp": (
        "k STRING NOT NULL, a INT, w STRING, PRIMARY KEY (k) NOT ENFORCED",
        _ROWS.replace(",9,nul\n", ""),
    ),
    "computed": (f"{_DIMENSION}, u AS UPPER(w)", _ROWS),
}


def _version(key: str, number: int, w: str, second: str) -> dict[str, Any]:
    return {"k": key, "a": number, "w": w, "rt": f"2024-01-01 00:00:{second}"}


_X10, _X20, _X20B = (_version("x", 5, "x10", "10"), _version("x", 6, "x20", "20"),
                     _version("x", 7, "x20b", "20"))  # fmt: skip
_Y10, _N05, _Q01 = (_version("y", 8, "y10", "10"), _version("n", 3, "n05", "05"),
                    _version("q", 1, "q01", "01"))  # fmt: skip
_M20, _P30 = _version("m", 3, "m20", "20"), _version("p", 2, "p30", "30")
#: The changes of the tables of change data: of equal and of earlier rowtimes, of a key, deletions
#: at another rowtime than that of the row, rows that are inserted twice, and ones that never were.
HISTORY: list[Change] = [
    ("insert", None, _X10),
    ("insert", None, _Y10),
    ("update", _X10, _X20),
    ("update", _X20, _X20B),
    ("insert", None, _N05),
    ("update", _X20B, _version("x", 1, "x40", "40")),
    ("delete", _Y10, None),
    ("insert", None, _Q01),
    ("update", _Q01, _version("z", 2, "z35", "35")),
    ("delete", _N05 | {"rt": "2024-01-01 00:00:25"}, None),
    ("insert", None, _M20),
    ("update", _M20, _version("m", 4, "m10", "10")),
    ("insert", None, _version("p", 1, "p10", "10")),
    ("insert", None, _version("p", 2, "p10b", "10")),
    ("insert", None, _P30),
    ("delete", _P30, None),
    ("delete", _version("u", 2, "never", "15"), None),
    ("insert", None, _version("u", 2, "u05", "05")),
]
#: The same changes by key, without rows before updates.
UPSERTS = [("-D" if after is None else "+U", after or before or {}) for _, before, after in HISTORY]
_KEYED_VERSIONS = f"{_VERSIONS}, PRIMARY KEY (k) NOT ENFORCED"
_BY_TWO = _VERSIONS.replace("a INT", "a INT NOT NULL")
#: Tables of change data: the columns, and the format; `upserts` without one.
CHANGED: dict[str, tuple[str, str]] = {
    **{form.removesuffix("-json"): (_KEYED_VERSIONS, form) for form in FORMATS},
    "upserts": (_KEYED_VERSIONS, ""),
    "keyless_changes": (_VERSIONS, FORMATS[0]),
    "changes_by_two": (f"{_BY_TWO}, PRIMARY KEY (k, a) NOT ENFORCED", FORMATS[0]),
    "timeless_changes": (
        _KEYED_VERSIONS.replace(f" {_WATERMARK},", ""),
        FORMATS[0],
    ),
}
#: Every key at every time around the changes.
_SECONDS = ("00.5", "05", "09.999", "10", "15", "20", "25", "30", "35", "41")
TABLES["g"] = (
    f"id INT, k STRING, a INT, rt TIMESTAMP(3), {_WATERMARK}",
    "".join(
        f"{number},{key},{number % 9},2024-01-01 00:00:{second}\n"
        for number, (key, second) in enumerate(
            (key, second) for key in ("x", "y", "z", "q", "n", "m", "p", "u", "")
            for second in _SECONDS
        )
    ),
)  # fmt: skip
_NUMBERED = "SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY rt DESC) AS rn FROM"


def _first(order: str) -> str:
    """Return the query of the number of each row of a key in an order."""
    return f"SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY {order}) AS rn FROM facts"


VIEWS = {
    "last_rows": f"SELECT k, a, w, rt FROM ({_NUMBERED} facts) WHERE rn = 1",
    "numbered": f"SELECT * FROM ({_NUMBERED} facts) WHERE rn < 2",
    "first_row": "SELECT k, a, w, rt FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY "
    "rt)"
    " AS rn FROM facts) WHERE rn = 1",
    "filtered_facts": f"SELECT k, a, w, rt FROM ({_NUMBERED} facts WHERE a > 1) WHERE rn = 1",
    "qualified": "SELECT k, w, rt FROM facts"
    " QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY rt DESC) = 1",
    "by_two": "SELECT a, k AS kk, UPPER(w) AS w, rt FROM (SELECT *, ROW_NUMBER() OVER"
    " (PARTITION BY k, a ORDER BY rt DESC) AS rn FROM facts) WHERE rn <= 1",
    "over_last_rows": "SELECT last_rows.k, last_rows.w, last_rows.rt FROM last_rows",
    "computed_versions": "SELECT k, UPPER(w) AS w, rt, a + 1 AS a FROM v",
    "either": "SELECT k, a, w, rt FROM v UNION ALL SELECT k, a, w, rt FROM v2",
    "without_key": f"SELECT UPPER(k) AS k, w, rt FROM ({_NUMBERED} facts) WHERE rn = 1",
    "without_time": f"SELECT k, w FROM ({_NUMBERED} facts) WHERE rn = 1",
    "two_rows": f"SELECT k, w, rt FROM ({_NUMBERED} facts) WHERE rn <= 2",
    "filtered": "SELECT k, w, rt FROM v WHERE a > 5",
    "computed_key": "SELECT UPPER(k) AS k, w, rt FROM v",
    "filtered_last": f"SELECT k, a, w, rt FROM ({_NUMBERED} facts) WHERE rn = 1 AND a > 1",
    "small_last": "SELECT k, w, rt, a FROM last_rows WHERE a < 4",
    "first_filtered": "SELECT k, UPPER(w) AS w, rt FROM first_row WHERE a >= 3",
    "without_w4": "SELECT k, w, rt FROM last_rows WHERE w <> 'w4'",
    "twice_filtered": "SELECT k, w, rt FROM (SELECT * FROM last_rows WHERE a > 1) WHERE w <> 'x'",
    "null_or_one": "SELECT k, w, rt FROM last_rows WHERE a IS NULL OR a = 1",
    "filtered_by_two": "SELECT kk, a, w, rt FROM by_two WHERE w <> 'W3'",
    "other_keys": f"SELECT k, w, rt FROM ({_NUMBERED} facts) WHERE rn = 1 AND k <> 'y'",
    "other_keys_of_view": "SELECT k, a, w, rt FROM last_rows WHERE k > 'x' AND a > 2",
    "one_key": "SELECT k, a, w, rt FROM last_rows WHERE k = 'x'",
    "last_of_o": "SELECT k, a, rt FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k"
    " ORDER BY rt DESC) AS rn FROM o) WHERE rn = 1 AND a < 4",
    "qualified_above": "SELECT k, w, rt FROM (SELECT * FROM qualified) WHERE w > 'w2'",
    "grouped": "SELECT k, MAX(a) AS a, MAX(rt) AS rt FROM facts GROUP BY k",
    "computed_changes": "SELECT k, UPPER(w) AS w, rt, a + 1 AS a FROM debezium",
    "selected_changes": "SELECT k, rt FROM (SELECT rt, a, k FROM computed_changes)",
    "filtered_changes": "SELECT k, a, w, rt FROM debezium WHERE a > 4",
    "other_changes": "SELECT k, a, w, rt FROM debezium WHERE k <> 'y'",
    "without_changed_key": "SELECT UPPER(k) AS k, w, rt FROM debezium",
    "all_changes": "SELECT k, a, w, rt FROM debezium UNION ALL SELECT k, a, w, rt FROM canal",
    "last_changes": f"SELECT k, a, w, rt FROM ({_NUMBERED} keyless_changes) WHERE rn = 1",
    "grouped_changes": "SELECT k, MAX(a) AS a, MAX(rt) AS rt FROM debezium GROUP BY k",
    "joined_changes": "SELECT d.k, d.w, d.rt, c.w AS cw FROM debezium AS d LEFT JOIN canal AS c"
    " ON d.k = c.k",
    "by_number": "SELECT k, w, rt FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY a"
    " DESC) AS rn FROM facts) WHERE rn = 1",
    # results that change with each row
    "largest": "SELECT k, MAX(a) AS a, MAX(rt) AS rt FROM facts GROUP BY k",
    "last_values": "SELECT k, LAST_VALUE(a) AS a, LAST_VALUE(w) AS w, LAST_VALUE(rt) AS rt FROM "
    "facts GROUP "
    "BY k",
    "first_times": "SELECT k, COUNT(*) AS n, MIN(rt) AS rt FROM facts GROUP BY k",
    "first_values": "SELECT k, SUM(a) AS s, FIRST_VALUE(rt) AS rt FROM facts GROUP BY k",
    "having_some": "SELECT k, COUNT(*) AS n, MAX(rt) AS rt FROM facts GROUP BY k HAVING "
    "COUNT(*) > 1",
    "having_few": "SELECT k, COUNT(a) AS n, LAST_VALUE(rt) AS rt FROM facts GROUP BY k HAVING "
    "COUNT(a) < 2",
    "having_all": "SELECT k, COUNT(*) AS n, LAST_VALUE(rt) AS rt FROM facts GROUP BY k HAVING "
    "COUNT(*) > 0",
    "having_key": "SELECT k, COUNT(*) AS n, MAX(rt) AS rt FROM facts GROUP BY k HAVING k <> 'y'",
    "having_one_key": "SELECT k, COUNT(*) AS n, MAX(rt) AS rt FROM facts GROUP BY k HAVING k = 'x'",
    "having_time": "SELECT k, MAX(a) AS a, MAX(rt) AS rt FROM facts GROUP BY k HAVING MAX(rt) > "
    "TIMESTAMP "
    "'2024-01-01 00:00:05'",
    "by_two_keys": "SELECT k, a, COUNT(*) AS n, MAX(rt) AS rt FROM facts GROUP BY k, a",
    "without_a_key": "SELECT k, COUNT(*) AS n, MAX(rt) AS rt FROM facts GROUP BY k, a",
    "by_upper": "SELECT UPPER(k) AS k, COUNT(*) AS n, MAX(rt) AS rt FROM facts GROUP BY UPPER(k)",
    "over_groups": "SELECT n + 1 AS n, rt, k FROM (SELECT k, COUNT(*) AS n, MAX(rt) AS rt FROM "
    "facts GROUP "
    "BY k)",
    "many": "SELECT k, n, rt FROM (SELECT k, COUNT(*) AS n, MAX(rt) AS rt FROM facts GROUP BY k) "
    "WHERE n > 1",
    "later_keys": "SELECT k, n, rt FROM (SELECT k, COUNT(*) AS n, MAX(rt) AS rt FROM facts "
    "GROUP BY k) "
    "WHERE k > 'x'",
    "key_above": "SELECT k, n, rt FROM (SELECT k, COUNT(*) AS n, MAX(rt) AS rt FROM facts GROUP "
    "BY k) "
    "WHERE k = 'x'",
    "filtered_group": "SELECT k, COUNT(*) AS n, MAX(rt) AS rt FROM facts WHERE a > 2 GROUP BY k",
    "group_of_one": "SELECT k, COUNT(*) AS n, MAX(rt) AS rt FROM facts WHERE k = 'x' GROUP BY k",
    "listed": "SELECT k, LISTAGG(w) AS ws, MAX(rt) AS rt FROM facts GROUP BY k",
    "distinct_values": "SELECT k, COUNT(DISTINCT w) AS n, SUM(DISTINCT a) AS s, MAX(rt) AS rt "
    "FROM facts GROUP "
    "BY k",
    "averages": "SELECT k, AVG(a) AS m, MIN(w) AS w, MAX(rt) AS rt FROM facts GROUP BY k",
    "filtered_sum": "SELECT k, SUM(a) FILTER (WHERE w <> 'w4') AS s, MAX(rt) AS rt FROM facts "
    "GROUP BY k",
    "filtered_time": "SELECT k, COUNT(*) AS n, MAX(rt) FILTER (WHERE a > 1) AS rt FROM facts "
    "GROUP BY k",
    "arrays": "SELECT k, ARRAY_AGG(a) AS xs, MAX(rt) AS rt FROM facts GROUP BY k",
    "timeless_groups": "SELECT k, COUNT(*) AS n FROM facts GROUP BY k",
    "cast_time": "SELECT k, COUNT(*) AS n, CAST(MAX(rt) AS TIMESTAMP(3)) AS rt FROM facts GROUP "
    "BY k",
    "two_times": "SELECT k, MIN(rt) AS mn, MAX(rt) AS rt FROM facts GROUP BY k",
    "two_times_of_v": "SELECT k, w, rt, rt AS rt2 FROM v",
    "case_time": "SELECT k, COUNT(*) AS n, CASE WHEN COUNT(*) > 1 THEN MAX(rt) ELSE MIN(rt) END "
    "AS rt "
    "FROM facts GROUP BY k",
    "coalesced_time": "SELECT k, COUNT(*) AS n, COALESCE(MAX(rt), MIN(rt)) AS rt FROM facts "
    "GROUP BY k",
    "later_time": "SELECT k, COUNT(*) AS n, MAX(rt) + INTERVAL '1' SECOND AS rt FROM facts "
    "GROUP BY k",
    "case_argument": "SELECT k, COUNT(*) AS n, MAX(CASE WHEN a > 2 THEN rt END) AS rt FROM "
    "facts GROUP BY k",
    "if_argument": "SELECT k, COUNT(*) AS n, MAX(IF(a > 2, rt, rt)) AS rt FROM facts GROUP BY k",
    "groups_of_v": "SELECT k, SUM(a) AS s, MAX(rt) AS rt FROM v GROUP BY k",
    "no_groups": "SELECT MAX(a) AS a, MAX(rt) AS rt FROM facts",
    "renamed_key": "SELECT MAX(k) AS k, k AS kk, MAX(rt) AS rt FROM facts GROUP BY k",
    "by_rowtime": "SELECT k, rt, COUNT(*) AS n FROM facts GROUP BY k, rt",
    "distinct_rows": "SELECT DISTINCT k, rt FROM facts",
    "rolled_up": "SELECT k, MAX(a) AS a, MAX(rt) AS rt FROM facts GROUP BY ROLLUP (k)",
    "twice_having": "SELECT k, n, rt FROM (SELECT k, COUNT(*) AS n, LAST_VALUE(rt) AS rt FROM "
    "facts GROUP BY "
    "k HAVING COUNT(*) <> 2) WHERE n < 4",
    "small_values": "SELECT k, a, rt FROM (SELECT k, LAST_VALUE(a) AS a, LAST_VALUE(rt) AS rt "
    "FROM facts "
    "GROUP BY k) WHERE a < 4",
    "selected_aggregates": "SELECT k, rt FROM (SELECT k, MAX(a) + SUM(a) AS s, UPPER(MAX(w)) AS "
    "w, MAX(rt) AS rt "
    "FROM facts GROUP BY k)",
    "group_windows": "SELECT k, SUM(a) AS s, TUMBLE_ROWTIME(rt, INTERVAL '10' SECOND) AS rt "
    "FROM facts GROUP "
    "BY k, TUMBLE(rt, INTERVAL '10' SECOND)",
    "groups_of_groups": "SELECT k, COUNT(*) AS n, MAX(rt) AS rt FROM (SELECT k, a, MAX(rt) AS "
    "rt FROM facts "
    "GROUP BY k, a) GROUP BY k",
    "largest_a": f"SELECT k, a, w, rt FROM ({_first('a DESC')}) WHERE rn = 1",
    "least_a": f"SELECT k, a, w, rt FROM ({_first('a')}) WHERE rn <= 1",
    "largest_a_and_time": f"SELECT k, a, w, rt FROM ({_first('a DESC, rt DESC')}) WHERE rn = 1",
    "last_time_and_a": f"SELECT k, a, w, rt FROM ({_first('rt DESC, a')}) WHERE rn = 1",
    "first_time_and_a": f"SELECT k, a, w, rt FROM ({_first('rt, a DESC')}) WHERE rn < 2",
    "by_w": f"SELECT k, a, w, rt FROM ({_first('w')}) WHERE rn = 1",
    "by_w_desc": f"SELECT k, a, UPPER(w) AS w, rt FROM ({_first('w DESC')}) WHERE rn = 1",
    "largest_filtered": f"SELECT k, a, w, rt FROM ({_first('a DESC')}) WHERE rn = 1 AND w <> 'w4'",
    "largest_any": f"SELECT k, a, w, rt FROM ({_first('a DESC')}) WHERE rn = 1 AND w <> 'none'",
    "least_above": f"SELECT k, a + 1 AS a, rt FROM (SELECT * FROM ({_first('a')}) WHERE rn = 1) "
    "WHERE a > 2",
    "largest_keys": f"SELECT k, a, w, rt FROM ({_first('a DESC')}) WHERE rn = 1 AND k > 'x'",
    "nulls_last": f"SELECT k, a, w, rt FROM ({_first('a ASC NULLS LAST')}) WHERE rn = 1",
    "ranked": "SELECT k, a, w, rt FROM (SELECT *, RANK() OVER (PARTITION BY k ORDER BY a DESC) "
    "AS rn "
    "FROM facts) WHERE rn = 1",
    "largest_of_one": f"SELECT k, a, w, rt FROM ({_first('a DESC')}) WHERE rn = 1 AND k = 'x'",
    "qualified_a": "SELECT k, w, rt FROM facts QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER "
    "BY a DESC) = "
    "1",
    "second_a": f"SELECT k, a, w, rt FROM ({_first('a DESC')}) WHERE rn = 2",
    "by_expression": f"SELECT k, a, w, rt FROM ({_first('-a')}) WHERE rn = 1",
    "numbers_shown": f"SELECT k, a, w, rt, rn FROM ({_first('a DESC')}) WHERE rn = 1",
    "last_arrivals": "SELECT k, w, rt FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER "
    "BY pt DESC) AS "
    "rn FROM (SELECT *, PROCTIME() AS pt FROM facts)) WHERE rn = 1",
    "first_arrivals": "SELECT k, w, rt FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER "
    "BY pt ASC) AS "
    "rn FROM (SELECT *, PROCTIME() AS pt FROM facts)) WHERE rn = 1",
    "last_arrivals_filtered": "SELECT k, w, rt FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY "
    "k ORDER BY pt DESC) AS "
    "rn FROM (SELECT *, PROCTIME() AS pt FROM facts)) WHERE rn = 1 AND w <> 'w2'",
    "by_upper_key": "SELECT kk, a, rt FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY kk ORDER "
    "BY a DESC) AS "
    "rn FROM (SELECT UPPER(k) AS kk, a, rt FROM facts)) WHERE rn = 1",
    "sorted_versions": "SELECT k, w, rt FROM v ORDER BY rt",
    "dv": "SELECT k, a, UPPER(w) AS w FROM d WHERE a > 4",
    "dk": "SELECT CONCAT(k, '') AS k, a, w FROM d",
    "dc": "SELECT k AS key_, a + 1 AS b, w FROM d",
    "ov": "SELECT id, k, a + 0 AS a, rt, pt FROM o WHERE id < 9",
    "op": "SELECT id, k, a, PROCTIME() AS p FROM o",
    "vv": "SELECT k AS kk, w, a, rt AS t FROM (SELECT * FROM v)",
    "dn": "SELECT b, key_, w FROM (SELECT k AS key_, a AS b, w FROM d)",
    "du": "SELECT * FROM d UNION ALL SELECT * FROM d",
    "df": "SELECT * FROM d WHERE k = 'x'",
}


def change_lines(form: str) -> list[str]:
    """Return the lines of a table of change data."""
    if form:
        return [json.dumps(message) for message in messages(form, HISTORY)]
    return [",".join((kind, *map(str, row.values()))) for kind, row in UPSERTS]


def setup(folder: Path, lookup: str = "filesystem") -> list[str]:
    """Return the statements that create the tables, with rows in a folder, and the views.

    `lookup` is the connector of `LOOKUPS`.
    """
    statements = []
    for name, (columns, rows) in {**TABLES, **LOOKUPS}.items():
        (folder / name).mkdir(exist_ok=True)
        path = folder / name / "rows"
        path.write_text(rows, encoding="utf-8")
        options = "'connector' = 'filesystem', 'format' = 'csv', 'csv.null-literal' = ''"
        if name in LOOKUPS and lookup != "filesystem":
            options = f"'connector' = '{lookup}'"
        place = path if "filesystem" not in options else path.parent
        statements.append(f"CREATE TABLE {name} ({columns}) WITH ({options}, 'path' = '{place}')")
    for name, (columns, form) in CHANGED.items():
        (folder / name).mkdir(exist_ok=True)
        path = folder / name / "rows"
        path.write_text("".join(f"{line}\n" for line in change_lines(form)), encoding="utf-8")
        options = (
            f"'connector' = 'filesystem', 'format' = '{form}', 'path' = '{path.parent}'"
            if form
            else f"'connector' = 'oracle-upsert', 'path' = '{path}'"
        )
        statements.append(f"CREATE TABLE {name} ({columns}) WITH ({options})")
    return [*statements, *(f"CREATE VIEW `{name}` AS {query}" for name, query in VIEWS.items())]


def _option(statement: str) -> tuple[str, str]:
    """Return the key and value of a SET statement, which only Flink's client runs."""
    _, key, _, value, _ = statement.split("'")
    return key, value


def asked(queries: Sequence[str], oracle: str) -> Iterable[dict[str, Any]]:
    """Return what Flink's streaming mode returns for each query."""
    with tempfile.TemporaryDirectory() as folder:
        created = setup(Path(folder), "oracle-lookup")
        questions = [
            {
                "mode": "streaming",
                # an option may refuse the view
                "setup": [
                    statement
                    for statement in created
                    if not before or "VIEW `last_changes`" not in statement
                ],
                "sql": sql,
                "config": dict(map(_option, before)),
            }
            for *before, sql in (query.split("; ") for query in queries)
        ]
        return list(map(recorded, ask(oracle, questions, "Streams")))


def main() -> None:
    """Ask Flink twice: an answer that differs depends on the machine, not on the rows."""
    parser = argparse.ArgumentParser(description="Record what Flink returns for temporal joins.")
    parser.add_argument("--oracle", default=".oracle", help="the directory that setup.sh filled")
    parser.add_argument("--all", action="store_true", help="ask also what has been recorded")
    options = parser.parse_args()
    lines_before = [] if options.all else RECORDING.read_text(encoding="utf-8").splitlines()
    result = {answer.pop("sql"): answer for answer in map(json.loads, lines_before)}
    queries = [sql for sql, _ in cases("temporal_joins")]
    new = [sql for sql in queries if sql not in result]
    first, second = (asked(new, options.oracle) for _ in range(2))
    answers = list(zip(new, first, second, strict=True))
    different = [sql for sql, answer, again in answers if answer.get("rows") != again.get("rows")]
    if different:
        sys.exit("Flink returns other rows when asked again:\n" + "\n".join(different))
    result |= {sql: answer for sql, answer, _ in answers}
    with RECORDING.open("w", encoding="utf-8") as lines:
        for sql in queries:
            lines.write(json.dumps({"sql": sql, **result[sql]}, ensure_ascii=False) + "\n")
    print(f"{len(new)} of {len(queries)} queries were asked")


if __name__ == "__main__":
    main()
