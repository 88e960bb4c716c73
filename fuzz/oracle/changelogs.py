"""Records the changes that Flink reads from files of change data, and the messages that it writes.

    python -m fuzz.oracle.changelogs [--oracle .oracle]

The recording is tests/cases/changelog_results.jsonl: a line for each case, with its tables, and the
changes of its query in streaming mode, or the error. A case that writes has the lines of the files.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from fuzz.oracle.asking import ask
from tests.support import CASES

RECORDING = CASES / "changelog_results.jsonl"
FORMATS = ("debezium-json", "canal-json", "maxwell-json", "ogg-json")

#: A case: `columns`, `format`, `options` and `lines` of the table `t`; the `sql` of a query, or of
#: the rows that are written into the table; and the `config` of the session. Statements of `setup`
#: run before the query; `{path}` is a directory for their tables.
Case: TypeAlias = dict[str, Any]

COLUMNS = "id INT, n STRING, w DOUBLE"
KEYED = f"{COLUMNS}, PRIMARY KEY (id) NOT ENFORCED"
ALL = "SELECT * FROM t"
DUPLICATES = {"table.exec.source.cdc-events-duplicate": "true"}

#: Changes in the terms of no format: the operation, the row before, and the row after.
Change: TypeAlias = tuple[str, dict[str, Any] | None, dict[str, Any] | None]


def row(*values: Any) -> dict[str, Any]:
    return dict(zip(("id", "n", "w"), values, strict=False))


HISTORY: list[Change] = [
    ("insert", None, row(1, "a", 1.5)),
    ("insert", None, row(2, "b", 2.5)),
    ("insert", None, row(3, None, 0.0)),
    ("update", row(1, "a", 1.5), row(1, "aa", 1.5)),
    ("delete", row(2, "b", 2.5), None),
    ("update", row(1, "aa", 1.5), row(1, None, 3.5)),
    ("insert", None, row(2, "again", 2.5)),
    ("update", row(3, None, 0.0), row(4, "moved", 0.0)),
]
#: Duplicates, rows that were never seen, equal rows, and updates that change nothing.
UNCLEAN: list[Change] = [
    ("insert", None, row(1, "a", 1.5)),
    ("insert", None, row(1, "a", 1.5)),
    ("delete", row(9, "never", 1.0), None),
    ("insert", None, row(9, "late", 1.0)),
    ("update", row(1, "a", 1.5), row(1, "a", 1.5)),
    ("update", row(7, "unseen", 7.0), row(7, "seen", 7.0)),
    ("delete", row(1, "a", 1.5), None),
    ("delete", row(1, "a", 1.5), None),
    ("delete", row(1, "a", 1.5), None),
    ("insert", None, row(1, "b", 1.0)),
    ("insert", None, row(5, "x", 1.0)),
    ("update", row(5, "x", 1.0), row(6, "y", 1.0)),
    ("delete", row(6, "wrong", 0.0), None),
]


def messages(form: str, changes: Sequence[Change]) -> Iterator[dict[str, Any]]:
    """Yield the message of each change as the tool of a format writes it."""
    for operation, before, after in changes:
        match form:
            case "debezium-json":
                yield {
                    "before": before,
                    "after": after,
                    "op": {"insert": "c"}.get(operation, operation[0]),
                }
            case "ogg-json":
                yield {"before": before, "after": after, "op_type": operation[0].upper()}
            case "maxwell-json":
                yield {"type": operation, "data": after or before, **partial(before, after)}
            case _:
                part = partial(before, after).get("old")
                yield {
                    "type": operation.upper(),
                    "data": [after or before],
                    "old": None if part is None else [part],
                    "database": "db",
                    "table": "t",
                    "isDdl": False,
                }


def partial(before: dict[str, Any] | None, after: dict[str, Any] | None) -> dict[str, Any]:
    """Return the columns that an update changes."""
    if before is None or after is None:
        return {}
    return {"old": {name: value for name, value in before.items() if after[name] != value}}


def table(
    form: str,
    lines: Sequence[Any],
    columns: str = COLUMNS,
    sql: str = ALL,
    config: dict[str, str] | None = None,
    **options: str,
) -> Case:
    return {
        "format": form,
        "columns": columns,
        "options": {
            f"{form}.{key.replace('__', '.').replace('_', '-')}": value
            for key, value in options.items()
        },
        "lines": [line if isinstance(line, str) else json.dumps(line) for line in lines],
        "sql": sql,
        "config": config or {},
    }


QUERIES = (
    ALL,
    "SELECT id, n FROM t WHERE w > 1",
    "SELECT UPPER(n) AS u, w * 2 AS d FROM t",
    "SELECT id, COUNT(*) AS c FROM t GROUP BY id",
    "SELECT id, n, w, COUNT(*) AS c FROM t GROUP BY id, n, w",
    "SELECT COUNT(*) AS c, SUM(w) AS s, MAX(n) AS m FROM t",
    "SELECT a.id, b.n FROM t AS a JOIN t AS b ON a.id = b.id",
    "SELECT id FROM t UNION ALL SELECT id + 100 FROM t WHERE id < 3",
    "SELECT id, x FROM t CROSS JOIN UNNEST(ARRAY[1, 2]) AS e(x)",
)
#: Queries of changes as rows.
AS_ROWS = (
    "SELECT * FROM TO_CHANGELOG(input => TABLE t)",
    "SELECT * FROM TO_CHANGELOG(input => TABLE t, op_mapping => MAP['INSERT, UPDATE_AFTER', 'U'])",
    "SELECT * FROM TO_CHANGELOG(input => (SELECT UPPER(n) AS u, w * 2 AS d FROM t WHERE w > 1))",
    "SELECT op, COUNT(*) AS c FROM TO_CHANGELOG(input => TABLE t) GROUP BY op",
    "WITH c AS (SELECT id, n FROM t) SELECT op, n FROM TO_CHANGELOG(input => TABLE c)",
    "SELECT * FROM FROM_CHANGELOG(input => (SELECT * FROM TO_CHANGELOG(input => TABLE t)))",
    "SELECT id + 1 AS i FROM FROM_CHANGELOG((SELECT * FROM TO_CHANGELOG(TABLE t))) WHERE n <> 'a'",
)
TYPED = (
    "i INT, ts TIMESTAMP(3), l TIMESTAMP_LTZ(3), d DECIMAL(20, 4), m MAP<STRING, INT>,"
    " r ROW<a INT, b ARRAY<STRING>>, b BYTES, dt DATE, tm TIME(3), f BOOLEAN"
)
VALUES = {
    "i": "7", "ts": "2020-01-01 00:00:00.123", "l": "2020-01-01 00:00:00.5Z",
    "d": 1234567890123456.25, "m": {"a": 1, "b": None}, "r": {"a": 1, "b": ["x", None]},
    "b": "AQI=", "dt": "2020-02-02", "tm": "10:11:12.5", "f": True,
}  # fmt: skip
#: What `ignore-parse-errors` skips, by format: broken objects, and operations without their rows.
BROKEN = ("{", "", " ", "null", "[]", "1", '"x"', "{}")
DEBEZIUM_BROKEN = (
    '{"before": null, "after": {"id": "q", "n": "x"}, "op": "c"}', '{"after": {"id": 6}}',
    '{"after": {"id": 7}, "op": "u"}', '{"before": {"id": 7}, "op": "u"}', '{"op": "d"}',
    '{"before": {"id": 7}, "op": "d"}', '{"after": {"id": 1}, "op": "x"}',
    '{"after": {"id": 8}, "op": "c"}', '{"after": 5, "op": "c"}',
)  # fmt: skip
LISTED_BROKEN = (
    '{"data": [{"id": 1}]}', '{"data": [{"id": 1}], "type": "FOO"}',
    '{"data": [{"id": "x", "n": "y"}], "type": "INSERT"}',
    '{"data": [{"id": 2}], "type": "UPDATE"}',
    '{"data": [{"id": 2}], "type": "UPDATE", "old": null}', '{"data": null, "type": "DELETE"}',
    '{"data": null, "type": "CREATE"}', '{"data": {"id": 3}, "type": "INSERT"}',
    '{"data": [{"id": 4}, null, {"id": 5}], "type": "INSERT"}',
    '{"data": [{"id": 6}, {"id": 7}], "old": [{"id": 5}], "type": "UPDATE"}',
)  # fmt: skip
CANAL = [
    {"type": operation, "database": database, "table": name, "data": data, "old": old}
    for operation, database, name, data, old in (
        ("INSERT", "db", "t", [row("1", "a", "1.5"), row("2", "b", "2.5")], None),
        ("UPDATE", "db", "t2", [row("1", "aa", "1.5")], [{"n": "a"}]),
        ("UPDATE", "db2", "t", [row("1", "aa", "2"), row("2", "b", None)],
         [{"w": "1.5"}, {"w": "2.5"}]),
        ("DELETE", "db2", "t2", [row("2", "b", None)], None),
        ("CREATE", "db", "t", None, None),
        ("UPDATE", None, "t", [row("1", "c", "2")], [{"n": None}]),
    )
]  # fmt: skip
#: What an update names at any depth, besides the columns that it changes.
NESTED = "id INT, n STRING, a INT, r ROW<n STRING, a INT>, m MAP<STRING, STRING>"
NESTED_ROW = {"id": 1, "n": "x", "a": 2, "r": {"n": "y", "a": 3}, "m": {"n": "z"}}
NESTED_OLD = (
    '{"id": 0}', '{"r": {"n": "q"}}', '{"r": {"n": "q", "a": 9}, "id": 5}', '{"m": {"n": "q"}}',
    '{"m": {"a": "q"}, "r": null}', '{"zz": {"n": 1}}', '{"n": null}', '{"zz": {"a": {"id": 7}}}',
    '{"zz": [{"n" : 1}]}', "{}", '{"N": "w"}', '{"n": "first", "n2": 1}', '{"id": 1, "id": 2}',
    '{"n": "{\\"id\\": 1}"}', '{"zz": {"b": "a\\"n\\":"}}', '{"zz": {"\\u006e": 1}}',
    '{"zz": {"q": "n"}}',
    '{"zz": {"n ": "id", "\\"a": 1}}',
    '{"m": {"x\\n": "\\\\"}, "zz": [[], ["a"], {"b": [{"id": 1}]}]}',
)  # fmt: skip
#: Messages that fail a query, by format.
CORRUPT: dict[str, tuple[Any, ...]] = {
    "debezium-json": (
        {"op": "u", "before": None, "after": row(1)}, {"op": "d", "before": None},
        {"op": "c", "after": None}, {"op": "x", "after": row(1)}, {"after": row(1)}, "{", "null",
        {"op": "c", "after": {"id": "q"}},
    ),
    "ogg-json": (
        {"op_type": "U", "before": None, "after": row(1)}, {"op_type": "D", "before": None},
        {"op_type": "T", "after": row(1)}, {"op_type": "I"},
    ),
    "maxwell-json": (
        {"type": "update", "data": row(1)}, {"type": "bootstrap-insert", "data": row(1)},
        {"type": "insert", "data": None}, {"data": row(1)},
    ),
    "canal-json": (
        {"type": "UPDATE", "data": [row(1)]}, {"type": "insert", "data": [row(1)]},
        {"type": "INSERT", "data": None}, {"type": "INSERT", "data": [None, row(1)]},
        {"type": "UPDATE", "data": [row(1), row(2)], "old": [{"n": "y"}]}, {"data": [row(1)]},
    ),
}  # fmt: skip


def read_cases() -> Iterator[Case]:
    for form in FORMATS:
        for changes in (HISTORY, UNCLEAN):
            for columns in (COLUMNS, KEYED):
                yield table(form, list(messages(form, changes)), columns)
        yield table(form, list(messages(form, UNCLEAN)), KEYED, config=DUPLICATES)
        typed = messages(form, [("insert", None, VALUES), ("delete", VALUES, None)])
        yield table(form, list(typed), TYPED)
        iso = {**VALUES, "ts": "2020-01-01T00:00:00.123", "l": "2020-01-01T00:00:00.5Z"}
        yield table(form, list(messages(form, [("insert", None, iso)])), TYPED,
                    timestamp_format__standard="ISO-8601")  # fmt: skip
        nulls = [("update", dict.fromkeys(VALUES), VALUES), ("delete", dict.fromkeys(VALUES), None)]
        yield table(form, list(messages(form, nulls)), TYPED)
        yield table(form, ["", *messages(form, HISTORY[:1]), ""])
        for line in CORRUPT[form]:
            yield table(form, [line])
    for sql in QUERIES:
        yield table("debezium-json", list(messages("debezium-json", HISTORY)), KEYED, sql)
        yield table("debezium-json", list(messages("debezium-json", HISTORY)), COLUMNS, sql)
        yield table(
            "debezium-json", list(messages("debezium-json", UNCLEAN)), KEYED, sql, DUPLICATES
        )
    for sql in AS_ROWS:
        yield table("debezium-json", list(messages("debezium-json", HISTORY)), KEYED, sql)
        yield table("debezium-json", list(messages("debezium-json", UNCLEAN)), COLUMNS, sql)
        yield table(
            "debezium-json", list(messages("debezium-json", UNCLEAN)), KEYED, sql, DUPLICATES
        )
    yield table("debezium-json", (), KEYED)
    yield table("debezium-json", list(messages("debezium-json", UNCLEAN)), config=DUPLICATES)
    yield table("debezium-json", [{"after": {"id": None, "n": "a"}, "op": "c"}], KEYED)
    wrapped = [
        {"schema": {"type": "struct"}, "payload": one} for one in messages("debezium-json", HISTORY)
    ]
    yield table("debezium-json", wrapped, schema_include="true")
    yield table("debezium-json", list(messages("debezium-json", HISTORY)), schema_include="true")
    yield table("debezium-json", wrapped)
    for form in ("debezium-json", "maxwell-json", "canal-json", "ogg-json"):
        broken: tuple[str, ...] = LISTED_BROKEN if form == "canal-json" else DEBEZIUM_BROKEN
        if form == "maxwell-json":
            broken = tuple(
                line.replace("[{", "{").replace("}]", "}").lower() for line in LISTED_BROKEN[:8]
            )
        if form == "ogg-json":
            broken = tuple(
                line.replace('"op": "c"', '"op_type": "I"').replace('"op": "u"', '"op_type": "U"')
                .replace('"op": "d"', '"op_type": "D"') for line in broken
            )  # fmt: skip
        for line in broken:
            yield table(form, [*BROKEN, line], ignore_parse_errors="true")
    for form in ("maxwell-json", "canal-json"):
        updates = [
            json.dumps({"type": "update", "data": NESTED_ROW, "old": "@"}).replace('"@"', old)
            for old in NESTED_OLD
        ]
        if form == "canal-json":
            data = json.dumps(NESTED_ROW)
            lists = [f"[{old}]" for old in NESTED_OLD]
            lists += ['[{"n": "o"}, {"a": 7}]', '[{"n": "o"}, {"r": {"a": 7}}]']
            updates = [
                f'{{"type": "UPDATE", "data": [{data}], "old": {old}}}' for old in lists[:-2]
            ]
            updates += [
                f'{{"type": "UPDATE", "data": [{data}, {data}], "old": {old}}}'
                for old in lists[-2:]
            ]
        yield table(form, updates, NESTED)
    yield table("canal-json", CANAL)
    yield table("canal-json", CANAL[:5])
    yield table("canal-json", CANAL, KEYED)
    yield table("canal-json", CANAL, database__include="db")
    yield table("canal-json", CANAL, database__include="^d.2", table__include="t|x")
    yield table("canal-json", CANAL, table__include="t", ignore_parse_errors="true")


#: A second table of changes, whose lines are in the first statement.
OTHER = [
    ("insert", None, row(1, "one", 10.0)),
    ("insert", None, row(4, "four", 40.0)),
    ("insert", None, row(2, "two", 20.0)),
    ("update", row(2, "two", 20.0), row(2, "zwei", 21.0)),
    ("delete", row(4, "four", 40.0), None),
    ("insert", None, row(5, None, 50.0)),
    ("insert", None, row(3, "three", 30.0)),
    ("delete", row(3, "three", 30.0), None),
]
#: Queries of the rows that changes leave: `t` and `o` are tables of changes, `f` has fixed rows.
RELATIONAL = (
    "SELECT t.id, t.n, o.n AS m FROM t JOIN o ON t.id = o.id",
    "SELECT t.id, o.n FROM t LEFT JOIN o ON t.id = o.id",
    "SELECT t.n, o.id, o.w FROM t RIGHT JOIN o ON t.id = o.id",
    "SELECT t.id, o.id AS oid FROM t FULL JOIN o ON t.id = o.id",
    "SELECT t.id, f.k FROM t JOIN f ON t.n = f.k",
    "SELECT f.k, t.id FROM f LEFT JOIN t ON t.n = f.k",
    "SELECT id, n FROM t WHERE id IN (SELECT id FROM o)",
    "SELECT id FROM t WHERE id NOT IN (SELECT id FROM o)",
    "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM o WHERE o.id = t.id AND o.w > 15)",
    "SELECT id FROM t WHERE NOT EXISTS (SELECT 1 FROM o WHERE o.id = t.id)",
    "SELECT id, (SELECT MAX(w) FROM o) AS m FROM t",
    "SELECT id FROM t WHERE w > (SELECT AVG(w) / 10 FROM o)",
    "SELECT t.id, x.c FROM t JOIN (SELECT id, COUNT(*) AS c FROM o GROUP BY id) x ON t.id = x.id",
    "SELECT t.id, o.id AS b FROM t JOIN o ON t.w < o.w AND t.id <> o.id",
    "SELECT COUNT(*) AS c FROM t CROSS JOIN o",
    "SELECT n, COUNT(*) AS c, SUM(w) AS s, AVG(w) AS a FROM t GROUP BY n",
    "SELECT COUNT(DISTINCT n) AS c, COUNT(n) AS k, SUM(DISTINCT w) AS s FROM t",
    "SELECT MIN(w) AS a, MAX(w) AS b, MIN(n) AS c FROM t",
    "SELECT w > 2 AS big, COUNT(*) AS c FROM t GROUP BY w > 2 HAVING COUNT(*) > 1",
    "SELECT n, COUNT(*) AS c FROM t GROUP BY ROLLUP (n)",
    "SELECT id, n, COUNT(*) AS c FROM t GROUP BY GROUPING SETS ((id), (n), ())",
    "SELECT COUNT(*) FILTER (WHERE w > 1) AS c, SUM(id) FILTER (WHERE n IS NULL) AS s FROM t",
    "SELECT VAR_POP(w) AS v, STDDEV_SAMP(w) AS s FROM t",
    "SELECT LISTAGG(CAST(id AS STRING)) AS l FROM t WHERE id = 1",
    "SELECT COLLECT(w) AS c FROM t",
    "SELECT c, COUNT(*) AS k FROM (SELECT n, COUNT(*) AS c FROM t GROUP BY n) GROUP BY c",
    "SELECT MAX(c) AS m FROM (SELECT id, COUNT(*) AS c FROM t GROUP BY id)",
    "SELECT DISTINCT n FROM t",
    "SELECT DISTINCT w > 1 AS b FROM t",
    "SELECT id FROM t UNION SELECT id FROM o",
    "SELECT id, n FROM t UNION ALL SELECT id, n FROM o",
    "SELECT id FROM t INTERSECT SELECT id FROM o",
    "SELECT id FROM t EXCEPT SELECT id FROM o",
    "SELECT id FROM t INTERSECT ALL SELECT id FROM o",
    "SELECT id FROM t EXCEPT ALL SELECT id FROM o",
    "SELECT id, w FROM t ORDER BY w DESC, id LIMIT 2",
    "SELECT id, w FROM t ORDER BY id OFFSET 1 ROWS FETCH NEXT 1 ROW ONLY",
    "SELECT id, r FROM (SELECT id, ROW_NUMBER() OVER (ORDER BY w DESC, id) r FROM t) WHERE r <= 2",
    (
        "SELECT n, id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY n ORDER BY id DESC) AS r"
        " FROM t) WHERE r = 1"
    ),
    "SELECT id, SUM(w) OVER (ORDER BY id) AS s FROM t",
    "SELECT id, c FROM t, LATERAL (SELECT COUNT(*) AS c FROM o WHERE o.id <= t.id)",
    "SELECT CASE WHEN n IS NULL THEN 'none' ELSE n || '!' END AS s, COALESCE(n, '') AS c FROM t",
    "SELECT * FROM v",
    "SELECT n, COUNT(*) AS c FROM v GROUP BY n",
    "SELECT * FROM vv WHERE c > 0",
    "SELECT v.n, vv.c FROM v JOIN vv ON v.id = vv.id",
    (
        "WITH a AS (SELECT id, w FROM t WHERE w > 1) SELECT a.id, b.id AS other FROM a JOIN a AS b"
        " ON a.w = b.w"
    ),
    "SELECT id, x FROM t LEFT JOIN UNNEST(ARRAY[n, 'z']) AS e(x) ON TRUE",
    "SELECT id FROM t WHERE n LIKE 'a%' OR n IS NULL",
    "SELECT ROW(id, n) AS r, MAP[id, w] AS m, ARRAY[n] AS a FROM t",
)
VIEWS = (
    "CREATE VIEW v AS SELECT id, n FROM t WHERE w < 3",
    "CREATE VIEW vv AS SELECT id, COUNT(*) AS c FROM t GROUP BY id",
    "CREATE VIEW f AS SELECT * FROM (VALUES ('a'), ('aa'), ('again'), ('x')) AS r(k)",
)
FILES = "'connector' = 'filesystem', 'path' = '{path}', 'format' = "
#: Statements that write the changes of `t`, and the query of what they have written.
COPIES: tuple[tuple[tuple[str, ...], str], ...] = (
    *(
        ((f"CREATE TABLE c ({COLUMNS}) WITH ({FILES}'{form}')", f"INSERT INTO c {sql}"),
         "SELECT * FROM c")
        for form in FORMATS
        for sql in (
            "SELECT * FROM t",
            "SELECT * FROM t WHERE w > 1",
            "SELECT id, MAX(n), SUM(w) FROM t GROUP BY id",
            "SELECT t.id, o.n, t.w FROM t JOIN o ON t.id = o.id",
        )
    ),
    ((f"CREATE TABLE c WITH ({FILES}'debezium-json') AS SELECT id, n FROM t",), "SELECT * FROM c"),
    ((f"CREATE TABLE c WITH ({FILES}'canal-json') AS SELECT n, COUNT(*) AS k FROM t GROUP BY n",),
     "SELECT * FROM c"),
    (((f"CREATE TABLE c (PRIMARY KEY (id) NOT ENFORCED) WITH ({FILES}'debezium-json')"
      " AS SELECT CAST(COALESCE(id, 0) AS INT) AS id, n FROM t"),), "SELECT * FROM c"),
    ((f"CREATE TABLE c WITH ({FILES}'json') AS SELECT id, n FROM t",), "SELECT * FROM c"),
    ((f"CREATE TABLE c ({COLUMNS}) WITH ({FILES}'json')", "INSERT INTO c SELECT * FROM t"),
     "SELECT * FROM c"),
    ((f"CREATE TABLE c ({COLUMNS}) WITH ({FILES}'json')",
      "INSERT INTO c SELECT id, MAX(n), SUM(w) FROM t GROUP BY id"), "SELECT * FROM c"),
    ((f"CREATE TABLE c (n STRING, id INT) PARTITIONED BY (id) WITH ({FILES}'ogg-json')",
      "INSERT INTO c SELECT n, id FROM t"), "SELECT * FROM c"),
)  # fmt: skip


def relational_cases() -> Iterator[Case]:
    """Yield queries of two tables of changes, of views of them, and what they write."""
    for form, changes, columns, config in (
        ("debezium-json", HISTORY, KEYED, {}),
        ("canal-json", HISTORY, COLUMNS, {}),
        ("maxwell-json", UNCLEAN, KEYED, DUPLICATES),
    ):
        lines = list(messages(form, changes))
        for sql in RELATIONAL:
            names = re.findall(r"\w+", sql)
            if config and "o" in names:
                continue
            setup = [view for view in VIEWS if view.split()[2] in names]
            case = table(form, lines, columns, sql, dict(config))
            yield {**case, "setup": setup, "other": "o" in names}
    for statements, sql in COPIES:
        case = table("debezium-json", list(messages("debezium-json", HISTORY)), KEYED, sql)
        has_other = any("JOIN o" in statement for statement in statements)
        yield {**case, "setup": list(statements), "other": has_other}


#: Changes with rowtimes, none of which is late; the last one ends all windows but its own.
TIMES: list[Change] = [
    ("insert", None, {"id": 1, "n": "a", "ts": "2024-01-01 00:00:01"}),
    ("insert", None, {"id": 2, "n": "a", "ts": "2024-01-01 00:00:03"}),
    ("insert", None, {"id": 3, "n": "b", "ts": "2024-01-01 00:00:02"}),
    (
        "update",
        {"id": 1, "n": "a", "ts": "2024-01-01 00:00:01"},
        {"id": 1, "n": "a", "ts": "2024-01-01 00:00:04"},
    ),
    ("delete", {"id": 2, "n": "a", "ts": "2024-01-01 00:00:03"}, None),
    (
        "update",
        {"id": 3, "n": "b", "ts": "2024-01-01 00:00:02"},
        {"id": 3, "n": "a", "ts": "2024-01-01 00:00:20"},
    ),
    ("insert", None, {"id": 5, "n": "b", "ts": "2024-01-01 00:00:30"}),
    ("delete", {"id": 5, "n": "b", "ts": "2024-01-01 00:00:30"}, None),
    ("insert", None, {"id": 6, "n": "b", "ts": "2024-01-01 00:00:31"}),
    ("insert", None, {"id": 9, "n": "z", "ts": "2099-01-01 00:00:00"}),
]
TIMED = (
    "id INT, n STRING, ts TIMESTAMP(3), pt AS PROCTIME(),"
    " WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE"
)
_SESSION = "SESSION(TABLE t PARTITION BY n, DESCRIPTOR(ts), INTERVAL '5' SECOND)"
_ROWS = f"SELECT id, n, window_start, window_end FROM TABLE({_SESSION}) WHERE n <> 'z'"
_TUMBLE = "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND)"
_RANKED = (
    "SELECT id, window_end FROM (SELECT *, ROW_NUMBER() OVER ("
    "PARTITION BY window_start, window_end ORDER BY id) AS r FROM"
)
#: Queries of windows of rows that are updated.
WINDOWS = (
    (
        "SELECT id, n, CAST(ts AS STRING), window_start, window_end, window_time"
        f" FROM TABLE({_SESSION}) WHERE n <> 'z'"
    ),
    f"SELECT n, COUNT(*) AS c FROM ({_ROWS}) GROUP BY n",
    f"SELECT n, COUNT(*) AS c, window_start FROM ({_ROWS}) GROUP BY n, window_start, window_end",
    f"{_RANKED} ({_ROWS})) WHERE r = 1",
    (
        f"SELECT a.id, b.window_end FROM ({_ROWS}) AS a JOIN ({_ROWS}) AS b ON a.id = b.id"
        " AND a.window_start = b.window_start AND a.window_end = b.window_end"
    ),
    f"SELECT n, window_time FROM TABLE({_SESSION}) ORDER BY window_time",
    f"SELECT id, n, window_end FROM TABLE({_TUMBLE}) WHERE n <> 'z'",
    f"SELECT n, COUNT(*) AS c FROM TABLE({_TUMBLE}) WHERE n <> 'z' GROUP BY n",
    f"{_RANKED} TABLE({_TUMBLE})) WHERE r = 1",
    *(
        f"SELECT id, n FROM TABLE({function}(TABLE t, DESCRIPTOR(pt), {sizes}))"
        for function, sizes in (
            ("TUMBLE", "INTERVAL '1' DAY"),
            ("HOP", "INTERVAL '1' DAY, INTERVAL '2' DAY"),
            ("CUMULATE", "INTERVAL '1' DAY, INTERVAL '1' DAY"),
        )
    ),
    (
        "SELECT n, COUNT(*) AS c FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(pt), INTERVAL '1' DAY))"
        " GROUP BY n"
    ),
    f"{_RANKED} TABLE(TUMBLE(TABLE t, DESCRIPTOR(pt), INTERVAL '1' DAY))) WHERE r = 1",
)


#: Process table functions of rows that are updated, by their names.
FUNCTIONS = {
    name: f"CREATE TEMPORARY FUNCTION {name} AS 'com.acme.udf.{class_}'"
    for name, class_ in (
        ("kinds", "Kinds"),
        ("kinds_before", "KindsBefore"),
        ("kinds_of_rows", "KindsOfRows"),
    )
}
PROCESSED = (
    "SELECT * FROM kinds(TABLE t PARTITION BY id)",
    "SELECT * FROM kinds(TABLE t PARTITION BY n)",
    "SELECT * FROM kinds_before(TABLE t PARTITION BY id)",
    "SELECT * FROM kinds_of_rows(TABLE t)",
)


def processed_cases() -> Iterator[Case]:
    """Yield queries of process table functions of a table of changes."""
    for sql in PROCESSED:
        yield table("debezium-json", list(messages("debezium-json", HISTORY)), KEYED, sql)


def timed_cases() -> Iterator[Case]:
    """Yield queries of windows of a table of changes."""
    for sql in WINDOWS:
        yield table("debezium-json", list(messages("debezium-json", TIMES)), TIMED, sql)


WRITTEN = "i INT, s STRING, m MAP<STRING, INT>, r ROW<a INT, b ARRAY<STRING>>, b BYTES, f DOUBLE"
DECIMALS = "SELECT CAST(d AS DECIMAL(20, 10)) FROM (VALUES ('1E-7'), ('100'), ('-2.5')) AS v(d)"
ROWS = """VALUES (1, 'x"é', MAP['k', 1], ROW(1, ARRAY['q']), X'0102', 1.5E0),
 (2, CAST(NULL AS STRING), CAST(NULL AS MAP<STRING, INT>),
  CAST(ROW(CAST(NULL AS INT), ARRAY[CAST(NULL AS STRING)]) AS ROW<a INT, b ARRAY<STRING>>),
  CAST(NULL AS BYTES), CAST(NULL AS DOUBLE))"""


def written_cases() -> Iterator[Case]:
    for form in FORMATS:
        yield table(form, (), WRITTEN, ROWS)
        yield table(form, (), WRITTEN, ROWS, encode__ignore_null_fields="true")
        yield table(form, (), "d DECIMAL(20, 10)", DECIMALS,
                    encode__decimal_as_plain_number="true")  # fmt: skip
        yield {**table(form, (), COLUMNS, "SELECT * FROM s"),
               "source": [json.dumps(one) for one in messages(FORMATS[0], HISTORY)]}  # fmt: skip


def create(name: str, case: Mapping[str, Any], path: Path | str, form: str | None = None) -> str:
    """Return the statement that creates a table of files, for Flink and for this library."""
    options = {"connector": "filesystem", "path": str(path), "format": form or case["format"]}
    if form is None:
        options |= case["options"]
    shown = ", ".join(f"'{key}' = '{value}'" for key, value in options.items())
    return f"CREATE TABLE {name} ({case['columns']}) WITH ({shown})"


def questions(cases: Sequence[Case], folder: Path) -> Iterator[dict[str, Any]]:
    """Yield what Flink is asked: queries of files, or writes whose files are read as text."""
    for number, case in enumerate(cases):
        place = folder / str(number)
        if case in WRITES:
            setup = [create("t", case, place)]
            if "source" in case:
                (folder / f"s{number}").mkdir()
                (folder / f"s{number}" / "rows").write_text("\n".join(case["source"]) + "\n")
                setup.append(create("s", case, folder / f"s{number}", "debezium-json"))
            setup.append(create("`lines`", {"columns": "line STRING"}, place, "raw"))
            setup.append(f"INSERT INTO t {case['sql']}")
            config = {"table.dml-sync": "true"}
            yield {"setup": setup, "sql": "SELECT * FROM `lines`", "config": config}
            continue
        yield {
            "setup": [
                *make_tables(case, place),
                *statements_of(case, place),
                *(FUNCTIONS.values() if case["sql"] in PROCESSED else ()),
            ],
            "sql": case["sql"],
            "config": {"table.dml-sync": "true", **case["config"]},
        }


def make_tables(case: Mapping[str, Any], place: Path) -> list[str]:
    """Write the lines of a case, and return the statements that create its tables of changes."""
    tables = tables_of(case)
    for name, own in tables.items():
        (place / name).mkdir(parents=True)
        (place / name / "rows").write_text("".join(f"{line}\n" for line in own["lines"]))
    return [create(name, own, place / name) for name, own in tables.items()]


def tables_of(case: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the tables of changes that a case reads, each with its lines."""
    tables: dict[str, Mapping[str, Any]] = {"t": case}
    if case.get("other"):
        tables["o"] = table("debezium-json", list(messages("debezium-json", OTHER)), KEYED)
    return tables


def statements_of(case: Mapping[str, Any], place: Path) -> list[str]:
    """Return the statements that run before the query of a case."""
    return [sql.replace("{path}", str(place / "c")) for sql in case.get("setup", ())]


READS: Sequence[Case] = (
    *read_cases(),
    *relational_cases(),
    *timed_cases(),
    *processed_cases(),
)
WRITES: Sequence[Case] = tuple(written_cases())


def main() -> None:
    parser = argparse.ArgumentParser(description="Record the changes that Flink reads and writes.")
    parser.add_argument("--oracle", default=".oracle", help="the directory that setup.sh filled")
    options = parser.parse_args()
    cases = [*READS, *WRITES]
    with tempfile.TemporaryDirectory() as folder:
        answers = ask(options.oracle, questions(cases, Path(folder)), "Streams")
    with RECORDING.open("w", encoding="utf-8") as file:
        for case, answer in zip(cases, answers, strict=True):
            kept: dict[str, Any] = {"error": answer.get("error"), "message": answer.get("message")}
            if answer["ok"]:
                kept = {"changes": answer["changes"]}
                if case in WRITES:
                    kept = {"written": [line for _, line in answer["changes"]]}
            file.write(json.dumps({**case, **kept}, ensure_ascii=False) + "\n")
    print(f"{len(cases)} cases were recorded")


if __name__ == "__main__":
    main()
