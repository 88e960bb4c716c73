"""Which stages a query of unbounded tables has, and by which keys they are maintained."""

from __future__ import annotations

from datetime import timedelta

import pytest

from schema_core.environment.session import Session
from schema_core.errors import UnsupportedError
from schema_core.spark.streaming.changelog_stages import staged_query
from schema_core.spark.streaming.group_windows import with_window_functions
from schema_core.spark.streaming.stage_plans import AnyStage, Gate, Stage, TimeExpiry
from tests.spark.test_incremental import (
    BOUNDS,
    COUNTS,
    FIRST,
    SESSION,
    TUMBLE,
    is_unbounded,
    relation,
    session,
)

__all__ = ["session"]

WINDOWS = f"(SELECT {BOUNDS}, v, COUNT(*) AS n FROM {TUMBLE} GROUP BY {BOUNDS}, v)"
AS_OF = ["FOR SYSTEM_TIME AS OF gate", "FOR SYSTEM_TIME AS OF 1"]
GROUPS = "(SELECT v, COUNT(*) AS n FROM s GROUP BY v)"

BY_CLOCK = "TABLE(TUMBLE(TABLE p, DESCRIPTOR(pt), INTERVAL '1' MINUTE))"

NEAR = "s.id = s3.id AND s3.at_ BETWEEN s.ts - INTERVAL '1' HOUR AND s.ts + INTERVAL '2' HOUR"

#: Query -> its stages, with the number of columns of the key, or how the rows arrive; and whether
#: rows are only added to the result.
STAGES = {
    "SELECT id FROM s WHERE id > 1": ([], True),
    "SELECT id FROM s UNION ALL SELECT id FROM b": ([], True),
    "SELECT id FROM TO_CHANGELOG(TABLE s) WHERE op = 'INSERT'": (["TO_CHANGELOG at once"], True),
    "SELECT s.id, t.x FROM s LEFT JOIN UNNEST(s.a) AS t(x) ON t.x > 1": ([], True),
    "SELECT (SELECT COUNT(*) FROM b WHERE b.id < s.id) FROM s": ([], True),
    "SELECT COUNT(*) FROM s": (["an aggregate without GROUP BY 0"], False),
    "SELECT v, COUNT(DISTINCT id) FROM s GROUP BY v HAVING COUNT(*) > 1": (["GROUP BY 1"], False),
    "SELECT v, id, COUNT(*) FROM s GROUP BY GROUPING SETS ((v), (v, id))": (["GROUP BY 1"], False),
    "SELECT v, id, COUNT(*) FROM s GROUP BY CUBE (v, id)": (["GROUP BY 0"], False),
    f"SELECT n, COUNT(*) FROM {GROUPS} GROUP BY n": (["GROUP BY 1", "GROUP BY 1"], False),
    f"SELECT DISTINCT n FROM {GROUPS}": (["GROUP BY 1", "SELECT DISTINCT 1"], False),
    "SELECT DISTINCT COUNT(*) FROM s GROUP BY v": (["GROUP BY 1", "SELECT DISTINCT 1"], False),
    "SELECT v, COUNT(*) FROM (SELECT DISTINCT id, v FROM s) GROUP BY v": (
        ["SELECT DISTINCT 2", "GROUP BY 1"],
        False,
    ),
    f"SELECT q.v, b.w FROM {GROUPS} AS q JOIN b ON q.v = b.w WHERE n > 1": (["GROUP BY 1"], False),
    "SELECT s.id FROM s JOIN s2 ON s.id = s2.id": (["a join 1"], True),
    "SELECT s.id FROM s JOIN s3 ON s.id = s3.id AND s.ts = at_": (["a join 2"], True),
    "SELECT s.id FROM s, s2 WHERE s.id = s2.id AND s.id > 1": (["a join 1"], True),
    "SELECT s.id FROM s, s2 WHERE s.id > s2.id": (["a join 0"], True),
    "SELECT s.id FROM s LEFT JOIN s2 ON s.id = s2.id": (["a join 1"], False),
    # equal values of these types have different hashes
    "SELECT s.id FROM s JOIN s2 ON CAST(s.id AS DECIMAL(5, 2)) = CAST(s2.id AS DECIMAL(6, 3))": (
        ["a join 0"],
        True,
    ),
    # WHERE does not decide whether a row has a match
    "SELECT s.id FROM s LEFT JOIN s3 ON s.id = s3.id WHERE s.ts = at_": (["a join 1"], False),
    "SELECT s.id FROM s FULL JOIN s2 ON s.id = s2.id LEFT JOIN s3 ON s3.id = s2.id": (
        ["a join 1"],
        False,
    ),
    "SELECT s.id FROM s LEFT JOIN s2 ON s.id = s2.id LEFT JOIN s3 ON s3.at_ = s.ts": (
        ["a join 0"],
        False,
    ),
    "SELECT b.id FROM b LEFT JOIN s ON s.id = b.id": (["a join 1"], False),
    "SELECT v, COUNT(*) FROM s JOIN s2 ON s.id = s2.id GROUP BY v": (
        ["a join 1", "GROUP BY 1"],
        False,
    ),
    "SELECT b.id FROM b WHERE id IN (SELECT id FROM s)": (["a subquery 1"], True),
    "SELECT id, id IN (SELECT id FROM s) FROM s2": (["a subquery 0"], False),
    "SELECT id FROM s2 WHERE id NOT IN (SELECT id FROM s)": (["a subquery 0"], False),
    "SELECT id FROM s2 WHERE COALESCE(id, 0) NOT IN (SELECT COALESCE(id, 0) FROM s)": (
        ["a subquery 1"],
        False,
    ),
    f"SELECT id FROM s WHERE v IN (SELECT v FROM {GROUPS} WHERE n > 1)": (
        ["GROUP BY 1", "a subquery 1"],
        False,
    ),
    "SELECT id FROM s2 WHERE EXISTS (SELECT 1 FROM s WHERE s.id = s2.id AND s.id > 1)": (
        ["a subquery 1"],
        True,
    ),
    f"SELECT id FROM b WHERE id IN (SELECT MAX(id) FROM {TUMBLE} GROUP BY {BOUNDS})": (
        ["a window aggregation", "a subquery 1"],
        True,
    ),
    "SELECT id FROM s2 WHERE NOT EXISTS (SELECT 1 FROM s WHERE s.id = s2.id)": (
        ["a subquery 1"],
        False,
    ),
    "SELECT id, (SELECT MAX(v) FROM s WHERE s.id = s2.id) FROM s2": (["a subquery 1"], False),
    "SELECT id, (SELECT MAX(v) FROM s WHERE s.id > s2.id) FROM s2": (["a subquery 0"], False),
    # a row of s3 that is equal to both is not a condition of the pairs of s and s2
    "SELECT s.id FROM s JOIN s2 ON s.id > s2.id"
    " WHERE NOT EXISTS (SELECT 1 FROM s3 WHERE s3.id = s.id AND s3.id = s2.id)": (
        ["a subquery 0"],
        False,
    ),
    "SELECT s.id FROM s JOIN s2 ON s.id > s2.id"
    " WHERE EXISTS (SELECT 1 FROM s3 WHERE s3.id = s.id AND s3.id = s2.id)": (
        ["a subquery 1"],
        True,
    ),
    "SELECT s.id FROM s JOIN s2 ON s.id > s2.id LEFT JOIN s3 ON s3.id = s.id AND s3.id = s2.id": (
        ["a join 0"],
        False,
    ),
    # the value of a missing row is not NULL
    "SELECT s.id FROM s FULL JOIN s2 ON COALESCE(s.id, 0) = COALESCE(s2.id, 0)": (
        ["a join 0"],
        False,
    ),
    "SELECT id FROM s WHERE EXISTS (SELECT 1 FROM s2 LEFT JOIN s3 ON s2.id = s3.id"
    " WHERE s2.id = s.id AND s3.id IS NULL)": (["a subquery 0"], False),
    "SELECT DISTINCT v, MAX(id) OVER (PARTITION BY v ORDER BY ts) FROM s": (
        ["OVER gate", "OVER 1", "SELECT DISTINCT 2"],
        True,
    ),
    f"SELECT {BOUNDS}, COUNT(*) FROM (SELECT {BOUNDS}, v, ROW_NUMBER() OVER (PARTITION BY v"
    f" ORDER BY id) AS r FROM {TUMBLE}) WHERE r = 1 GROUP BY {BOUNDS}": (
        ["TUMBLE gate", "ROW_NUMBER 1", "GROUP BY 2"],
        False,
    ),
    f"SELECT y.window_start, COUNT(*) FROM {WINDOWS} AS x LEFT JOIN {WINDOWS} AS y"
    " ON x.window_start = y.window_start AND x.window_end = y.window_end"
    " GROUP BY y.window_start, y.window_end": (
        ["a window aggregation", "a window aggregation", "a join at once", "GROUP BY 2"],
        False,
    ),
    "SELECT s.id FROM s JOIN s2 ON s.id = s2.id WHERE s.id IN (SELECT id FROM s3)": (
        ["a subquery 1"],
        True,
    ),
    "SELECT v, COUNT(*) FROM s WHERE id IN (SELECT id FROM s2) GROUP BY v": (
        ["a subquery 1", "GROUP BY 1"],
        False,
    ),
    "SELECT b.id FROM b JOIN b AS c ON b.id = c.id AND EXISTS (SELECT 1 FROM s)": (
        ["a subquery 0"],
        False,
    ),
    "SELECT id FROM s UNION SELECT id FROM b": (["UNION 1"], True),
    "SELECT id FROM b EXCEPT SELECT id FROM s": (["EXCEPT 1"], False),
    "SELECT id FROM s INTERSECT ALL SELECT id FROM s2": (["INTERSECT ALL 1"], False),
    "SELECT id FROM s INTERSECT SELECT CAST(id AS BIGINT) FROM s2": (["INTERSECT 0"], False),
    "SELECT id FROM s ORDER BY id LIMIT 3": (["LIMIT 0"], False),
    "SELECT v FROM s ORDER BY id, UPPER(v) LIMIT 3": (["LIMIT 0"], False),
    "SELECT s.v FROM s JOIN s5 FOR SYSTEM_TIME AS OF s.ts ON s.id = s5.id ORDER BY s.id LIMIT 3": (
        [*AS_OF, "LIMIT 0"],
        False,
    ),
    "SELECT v FROM s GROUP BY v ORDER BY COUNT(*) DESC LIMIT 3": (["GROUP BY 1", "LIMIT 0"], False),
    "SELECT v, id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY v ORDER BY id) AS r FROM s)"
    " WHERE r <= 2": (["ROW_NUMBER 1"], False),
    "SELECT v, id FROM s QUALIFY RANK() OVER (PARTITION BY v ORDER BY id) = 1": (
        ["OVER 1"],
        False,
    ),
    "SELECT id, LAG(v) OVER (PARTITION BY v ORDER BY ts) FROM s": (["OVER gate", "OVER 1"], True),
    "SELECT id FROM s QUALIFY SUM(id) OVER (PARTITION BY v ORDER BY ts) > 3": (
        ["OVER gate", "OVER 1"],
        True,
    ),
    "SELECT v, SUM(id) OVER (PARTITION BY v ORDER BY pt)"
    " FROM (SELECT s.*, PROCTIME() AS pt FROM s)": (["OVER 1"], True),
    "SELECT id, ts FROM s ORDER BY ts, id": (["ORDER BY gate", "ORDER BY at once"], True),
    "SELECT * FROM s MATCH_RECOGNIZE (PARTITION BY v ORDER BY ts MEASURES LAST(A.id) AS n"
    " PATTERN (A B) DEFINE A AS A.id > 1) AS m": (
        ["MATCH_RECOGNIZE gate", "MATCH_RECOGNIZE 1"],
        True,
    ),
    "SELECT s.id FROM s LEFT JOIN s5 FOR SYSTEM_TIME AS OF s.ts ON s.id = s5.id": (AS_OF, True),
    "SELECT SUM(s.id) OVER (PARTITION BY s.id ORDER BY CAST(since AS TIMESTAMP(3))) FROM s JOIN b2"
    " ON s.id = b2.id": (["OVER 1"], False),
    # only the equations of ON are keys of versions
    "SELECT s.id FROM s JOIN s5 FOR SYSTEM_TIME AS OF s.ts ON s.id = s5.id WHERE s.v = s5.v": (
        AS_OF,
        True,
    ),
    "SELECT s.id FROM s JOIN s2 ON s.id = s2.id JOIN s5 FOR SYSTEM_TIME AS OF s.ts"
    " ON s.id = s5.id": (["a join 1", *AS_OF], True),
    "SELECT s.id FROM s JOIN s5 FOR SYSTEM_TIME AS OF s.ts ON s.id = s5.id"
    " LEFT JOIN s2 ON s2.id = s5.id": ([*AS_OF, "a join 1"], False),
    "SELECT s.id, y.at_ FROM s LEFT JOIN b ON s.id = b.id"
    " JOIN s5 FOR SYSTEM_TIME AS OF s.ts ON s.id = s5.id"
    " LEFT JOIN s5 FOR SYSTEM_TIME AS OF s.ts AS y ON b.id = y.id AND s5.v = y.v": (
        [*AS_OF, "FOR SYSTEM_TIME AS OF gate", "FOR SYSTEM_TIME AS OF 2"],
        True,
    ),
    "SELECT s.id FROM s JOIN s5 FOR SYSTEM_TIME AS OF s.ts ON s.id = s5.id"
    " WHERE s.id IN (SELECT id FROM s2)": ([*AS_OF, "a subquery 1"], True),
    f"SELECT {BOUNDS}, COUNT(*) FROM TABLE(TUMBLE((SELECT s.ts FROM s JOIN s5"
    " FOR SYSTEM_TIME AS OF s.ts ON s.id = s5.id), DESCRIPTOR(ts), INTERVAL '1' HOUR))"
    f" GROUP BY {BOUNDS}": ([*AS_OF, "TUMBLE gate", "GROUP BY at once"], True),
    "SELECT s.id, t.w FROM s, LATERAL (SELECT w FROM b WHERE b.id = s.id LIMIT 1) AS t": ([], True),
    COUNTS: (["a window aggregation"], True),
    f"SELECT MAX(n) FROM {WINDOWS} GROUP BY {BOUNDS}": (
        ["a window aggregation", "GROUP BY at once"],
        True,
    ),
    f"SELECT v, SUM(n) FROM {WINDOWS} GROUP BY v": (["a window aggregation", "GROUP BY 1"], False),
    f"SELECT DISTINCT {BOUNDS}, n FROM {WINDOWS}": (
        ["a window aggregation", "SELECT DISTINCT at once"],
        True,
    ),
    f"SELECT *, ROW_NUMBER() OVER (PARTITION BY {BOUNDS} ORDER BY n) FROM {WINDOWS}": (
        ["a window aggregation", "OVER at once"],
        True,
    ),
    f"SELECT SUM(id) OVER (PARTITION BY {BOUNDS} ORDER BY pt) FROM (SELECT *, PROCTIME() AS pt FROM"
    f" {TUMBLE})": (["OVER 2"], True),
    f"SELECT SUM(id) OVER (PARTITION BY {BOUNDS} ORDER BY pt) FROM {BY_CLOCK}": (["OVER 2"], True),
    f"SELECT id FROM (SELECT *, PROCTIME() AS pt FROM {TUMBLE}) QUALIFY"
    f" ROW_NUMBER() OVER (PARTITION BY {BOUNDS} ORDER BY pt) = 1": (
        ["TUMBLE gate", "OVER at once"],
        True,
    ),
    f"SELECT COUNT(DISTINCT v) FROM {TUMBLE} GROUP BY {BOUNDS}": (
        ["TUMBLE gate", "GROUP BY at once"],
        True,
    ),
    f"SELECT v, COUNT(*) FROM {TUMBLE} GROUP BY GROUPING SETS (({BOUNDS}, v), ({BOUNDS}))": (
        ["TUMBLE gate", "GROUP BY at once"],
        True,
    ),
    f"SELECT DISTINCT {BOUNDS}, v FROM {TUMBLE}": (
        ["TUMBLE gate", "SELECT DISTINCT at once"],
        True,
    ),
    f"SELECT v, COUNT(*) FROM {SESSION} GROUP BY {BOUNDS}, v": (
        ["SESSION gate", "GROUP BY at once"],
        True,
    ),
    f"SELECT id, window_end FROM {SESSION} WHERE id > 1": (["SESSION gate"], True),
    # a gate returns a window before Spark's operator does
    f"SELECT x.v FROM {WINDOWS} AS x JOIN {TUMBLE} AS y ON x.window_start = y.window_start"
    " AND x.window_end = y.window_end": (
        ["TUMBLE gate", "GROUP BY at once", "TUMBLE gate", "a join at once"],
        True,
    ),
    FIRST.format("SELECT v, id FROM", "ts"): (["ROW_NUMBER 1"], False),
    f"SELECT x.v FROM {WINDOWS} AS x LEFT JOIN {WINDOWS} AS y"
    " ON x.window_start = y.window_start AND x.window_end = y.window_end AND x.v = y.v": (
        ["a window aggregation", "a window aggregation", "a join at once"],
        True,
    ),
    f"SELECT window_end, COUNT(*) FROM {BY_CLOCK} GROUP BY {BOUNDS}": (
        ["TUMBLE gate", "GROUP BY at once"],
        True,
    ),
    f"SELECT DISTINCT {BOUNDS}, id FROM {BY_CLOCK}": (
        ["TUMBLE gate", "SELECT DISTINCT at once"],
        True,
    ),
    f"SELECT id, COUNT(DISTINCT window_end) FROM {BY_CLOCK} GROUP BY id": (
        ["TUMBLE gate", "GROUP BY 1"],
        False,
    ),
    "SELECT SESSION_END(pt, INTERVAL '1' HOUR), COUNT(*) FROM p GROUP BY"
    " SESSION(pt, INTERVAL '1' HOUR)": (["SESSION gate", "GROUP BY at once"], True),
    # rows of a window are returned at once, whatever changes have arrived before
    "SELECT window_end, COUNT(*) FROM TABLE(TUMBLE((SELECT v, COUNT(*) AS n, PROCTIME() AS pt FROM"
    f" s GROUP BY v), DESCRIPTOR(pt), INTERVAL '1' MINUTE)) GROUP BY {BOUNDS}": (
        ["GROUP BY 1", "TUMBLE gate", "GROUP BY at once"],
        True,
    ),
    # equal windows of a rowtime and of the processing time arrive at different times
    f"SELECT x.v, y.id FROM {WINDOWS} AS x JOIN {BY_CLOCK} AS y"
    " ON x.window_start = y.window_start AND x.window_end = y.window_end": (
        ["TUMBLE gate", "GROUP BY at once", "TUMBLE gate", "a join 2"],
        True,
    ),
    "SELECT id, pt FROM p ORDER BY pt, id": (["ORDER BY at once"], True),
    "SELECT v, SUM(id) OVER (PARTITION BY v ORDER BY id) FROM s": (["OVER 1"], False),
    "SELECT ROW_NUMBER() OVER (ORDER BY v NULLS LAST) FROM s": (["OVER 0"], False),
    f"SELECT window_end FROM TABLE(TUMBLE((SELECT s.id, s.ts FROM s JOIN s3 ON {NEAR}),"
    " DESCRIPTOR(ts), INTERVAL '1' HOUR))": (["a join 1", "TUMBLE gate"], True),
    f"SELECT id, ts FROM (SELECT s3.id, s.ts FROM s LEFT JOIN s3 ON {NEAR}) ORDER BY ts": (
        [
            "a join by bounds of the rowtimes gate",
            "a join by bounds of the rowtimes 1",
            "ORDER BY gate",
            "ORDER BY at once",
        ],
        True,
    ),
    f"SELECT id FROM (SELECT s3.id, s.ts FROM s FULL JOIN s3 ON {NEAR}) ORDER BY ts": (
        [
            *["a join by bounds of the rowtimes gate", "a join by bounds of the rowtimes 1"] * 2,
            *("ORDER BY gate", "ORDER BY at once"),
        ],
        True,
    ),
    "SELECT x.id, SUM(x.id) OVER (PARTITION BY x.id ORDER BY x.at_) FROM (SELECT s.id, s.ts, s5.at_"
    " FROM s JOIN s5 FOR SYSTEM_TIME AS OF s.ts ON s.id = s5.id) AS x"
    " JOIN s5 FOR SYSTEM_TIME AS OF x.ts AS y ON x.id = y.id": ([*AS_OF, *AS_OF, "OVER 1"], False),
    "SELECT SUM(s.id) OVER (PARTITION BY s.v ORDER BY s3.at_) FROM s JOIN s3 ON s.id = s3.id": (
        ["a join 1", "OVER 1"],
        False,
    ),
    "SELECT v, SUM(id) OVER (PARTITION BY v ORDER BY PROCTIME()) FROM s": (["OVER 1"], True),
    "SELECT x FROM p MATCH_RECOGNIZE (PARTITION BY id ORDER BY pt MEASURES A.id AS x PATTERN (A B)"
    " DEFINE A AS A.id > 1) AS m": (["MATCH_RECOGNIZE 1"], True),
    "SELECT TUMBLE_END(ts, INTERVAL '1' HOUR), COUNT(*) FROM s GROUP BY v,"
    " TUMBLE(ts, INTERVAL '1' HOUR)": (["a window aggregation"], True),
}


def shown(stage: AnyStage) -> str:
    match stage:
        case Gate():
            return f"{stage.name} gate"
        case Stage(complete=False):
            return f"{stage.name} {stage.inputs[0].key}"
        case _:
            return f"{stage.name} at once"


@pytest.mark.parametrize("query", STAGES)
def test_stages(session: Session, query: str) -> None:
    staged = staged_query(with_window_functions(relation(session, query)), is_unbounded)

    assert staged is not None
    operators = [operator.state.value for _, operator in staged.operators if operator.state]
    assert STAGES[query] == ([*operators, *map(shown, staged.stages)], staged.inserts)


def test_windows_of_both_kinds_of_time_are_not_of_one_group(session: Session) -> None:
    query = (
        f"SELECT {BOUNDS}, COUNT(*) FROM (SELECT {BOUNDS} FROM {TUMBLE} UNION ALL"
        f" SELECT {BOUNDS} FROM {BY_CLOCK}) GROUP BY {BOUNDS}"
    )
    staged = staged_query(relation(session, query), is_unbounded)

    assert staged is not None
    assert ["TUMBLE gate", "TUMBLE gate", "GROUP BY 2"] == list(map(shown, staged.stages))


OF_BOUNDED = (
    "TABLE(TUMBLE((SELECT s.id, since FROM s JOIN b2 ON s.id = b2.id), DESCRIPTOR(since),"
    " INTERVAL '1' MINUTE))"
)
REFUSED = {
    "SELECT id FROM s ORDER BY id": "ORDER BY without FETCH or LIMIT",
    "SELECT id FROM s ORDER BY v": "ORDER BY without FETCH or LIMIT",
    "SELECT SUM(s.id) OVER (ORDER BY at_ ROWS 1 PRECEDING) FROM s JOIN s3 ON s.id = s3.id": (
        "OVER of some of the rows before"
    ),
    "SELECT x FROM (SELECT v, COUNT(*) AS n, PROCTIME() AS pt FROM s GROUP BY v) MATCH_RECOGNIZE"
    " (ORDER BY pt MEASURES A.v AS x PATTERN (A) DEFINE A AS A.n > 1) AS m": (
        "MATCH_RECOGNIZE of rows that are updated"
    ),
    "SELECT v, SUM(id) OVER (PARTITION BY v ORDER BY id DESC) FROM s": (
        "OVER that is not ordered by one column, ascending,"
    ),
    "SELECT v, SUM(id) OVER (PARTITION BY v ORDER BY id, ts) FROM s": (
        "OVER that is not ordered by one column, ascending,"
    ),
    "SELECT v, SUM(id) OVER (PARTITION BY v ORDER BY id ROWS 2 PRECEDING) FROM s": (
        "OVER of some of the rows before"
    ),
    "SELECT v, SUM(id) OVER (PARTITION BY v ORDER BY id), COUNT(*) OVER (PARTITION BY id"
    " ORDER BY v) FROM s": "OVER several windows",
    "SELECT PERCENT_RANK() OVER (PARTITION BY v ORDER BY id) FROM s": "PERCENT_RANK OVER rows",
    f"SELECT *, ROW_NUMBER() OVER (PARTITION BY {BOUNDS} ORDER BY id) FROM {BY_CLOCK}": (
        "OVER of windows of the processing time"
    ),
    f"SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY {BOUNDS} ORDER BY pt) AS r"
    f" FROM {BY_CLOCK}) WHERE r = 1": "ROW_NUMBER of windows of the processing time",
    f"SELECT x.id FROM {BY_CLOCK} AS x JOIN {BY_CLOCK} AS y ON x.window_start = y.window_start"
    " AND x.window_end = y.window_end": "a join of windows of the processing time",
    f"SELECT {BOUNDS} FROM {BY_CLOCK} INTERSECT SELECT {BOUNDS} FROM {BY_CLOCK}": (
        "INTERSECT of windows of the processing time"
    ),
    "SELECT COUNT(*) FROM s GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE),"
    " SESSION(ts, INTERVAL '1' DAY)": "the group window TUMBLE",
    "SELECT LEAD(v) OVER (PARTITION BY v ORDER BY ts) FROM s": "LEAD OVER rows that arrive later",
    "SELECT window_end FROM TABLE(TUMBLE((SELECT s5.at_ FROM s JOIN s5 FOR SYSTEM_TIME AS OF s.ts"
    " ON s.id = s5.id), DESCRIPTOR(at_), INTERVAL '1' HOUR))": "TUMBLE on the rowtime of a version",
    "SELECT s.id, s5.at_ AS t FROM s JOIN s5 FOR SYSTEM_TIME AS OF s.ts ON s.id = s5.id"
    " ORDER BY t": "ORDER BY on the rowtime of a version",
    f"SELECT id, ts FROM (SELECT s.id, s.ts FROM s JOIN s3 ON {NEAR} WHERE s.id IN (SELECT id FROM"
    " s2)) ORDER BY ts": "ORDER BY of the result of a subquery without windows",
    **{
        query: f"{name} on the rowtime of a version or of a bounded table that is joined"
        for query, name in {
            f"SELECT COUNT(*) FROM {OF_BOUNDED} GROUP BY {BOUNDS}": "TUMBLE",
            f"SELECT id FROM {OF_BOUNDED}": "TUMBLE",
            "SELECT s.id, y.since AS t FROM s JOIN (SELECT * FROM b2 ORDER BY id LIMIT 3) AS y"
            " ON s.id = y.id ORDER BY t": "ORDER BY",
            f"SELECT since AS t FROM s JOIN s3 ON {NEAR} JOIN b2 ON s.id = b2.id ORDER BY t": (
                "ORDER BY"
            ),
            "SELECT z.at_ FROM (SELECT s.id, s.ts, s5.at_ FROM s JOIN s5 FOR SYSTEM_TIME AS OF"
            " s.ts ON s.id = s5.id) AS z JOIN s3 ON z.id = s3.id AND z.ts = s3.at_ ORDER BY at_": (
                "ORDER BY"
            ),
        }.items()
    },
}


@pytest.mark.parametrize("query", REFUSED)
def test_what_time_decides_is_refused(session: Session, query: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        staged_query(relation(session, query), is_unbounded)

    assert "streaming-not-supported" == caught.value.code
    assert caught.value.problem.startswith(REFUSED[query])


@pytest.mark.parametrize(
    ("more", "are_decoded"), [("", True), (f" UNION ALL SELECT n FROM {WINDOWS}", False)]
)
def test_codes_are_decoded_in_their_order_if_nothing_else_is_computed(
    session: Session, more: str, *, are_decoded: bool
) -> None:
    codes = "SELECT CAST(id AS BIGINT) FROM FROM_CHANGELOG(input => TABLE s, op => DESCRIPTOR(v))"
    staged = staged_query(relation(session, codes + more), is_unbounded)

    assert staged is not None
    assert are_decoded == (staged.by_change is not None)


def test_queries_of_bounded_tables_have_no_stages(session: Session) -> None:
    assert staged_query(relation(session, "SELECT COUNT(*) FROM b"), is_unbounded) is None


#: Query -> for how many hours its stages keep rows, with a default of two.
RETENTIONS = {
    "SELECT v, COUNT(DISTINCT id) FROM s GROUP BY v": [2],
    "SELECT /*+ STATE_TTL('s' = '3 h') */ v, COUNT(DISTINCT id) FROM s GROUP BY v": [3],
    "SELECT /*+ STATE_TTL('s' = '3 h', 's2' = '1 h') */ s.id FROM s LEFT JOIN s2 ON s.id = s2.id": [
        3
    ],
    "SELECT /*+ STATE_TTL('s' = '1 h') */ s.id FROM s LEFT JOIN s2 ON s.id = s2.id": [2],
    "SELECT /*+ STATE_TTL('s' = '0 s') */ s.id FROM s LEFT JOIN s2 ON s.id = s2.id": [0],
}


@pytest.mark.parametrize("query", RETENTIONS)
def test_the_longest_retention_of_the_inputs_counts(session: Session, query: str) -> None:
    staged = staged_query(relation(session, query), is_unbounded, retention=timedelta(hours=2))

    assert staged is not None
    stages = [stage for stage in staged.stages if isinstance(stage, Stage)]
    assert RETENTIONS[query] == [stage.retention / 3_600_000 for stage in stages]


VERSIONED = "JOIN s5 FOR SYSTEM_TIME AS OF s.ts ON s.id = s5.id"
LATEST = (
    "WITH q AS (SELECT id, at_ FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY at_ {})"
    " AS r FROM s5 WHERE v <> 'x') WHERE r = 1) SELECT s.id FROM s"
    " LEFT JOIN q FOR SYSTEM_TIME AS OF s.ts ON s.id = q.id"
)
WAITING = "FOR SYSTEM_TIME AS OF: rows, until the watermark passes them"
VERSIONS = "FOR SYSTEM_TIME AS OF: versions by key, until the watermark passes the next one"
MATCHES = "rows by key, until the watermark shows that no other row can match them"
#: Query -> what EXPLAIN shows of its state.
STATES = {
    "SELECT id FROM s": [],
    "SELECT v, COUNT(DISTINCT id) FROM s GROUP BY v": ["GROUP BY: rows and result by key, forever"],
    "SELECT /*+ STATE_TTL('s' = '3 h') */ v, COUNT(DISTINCT id) FROM s GROUP BY v": [
        "GROUP BY: rows and result by key, for 3:00:00 after the last change of a key"
    ],
    "SELECT s.id FROM s, s2": [
        "a join: rows without a key, all of which are read each time, forever"
    ],
    "SELECT id, LAG(v) OVER (PARTITION BY v ORDER BY ts) FROM s": [
        "OVER: rows, until the watermark passes them",
        "OVER: rows by key, forever",
    ],
    f"SELECT s.id FROM s {VERSIONED}": [WAITING, VERSIONS],
    f"SELECT /*+ STATE_TTL('s' = '3 h', 's5' = '1 h') */ s.id FROM s {VERSIONED}": [
        WAITING,
        f"{VERSIONS}, and for 3:00:00 after the last change of a key",
    ],
    LATEST.format("DESC"): [WAITING, VERSIONS],
    LATEST.format("ASC"): [WAITING, VERSIONS],
    # rows of these joins are returned later than their rowtime
    f"SELECT s.id FROM s JOIN s2 ON s.id = s2.id {VERSIONED}": [
        "a join: rows by key, forever",
        WAITING,
        "FOR SYSTEM_TIME AS OF: rows by key, forever",
    ],
    f"SELECT s.id FROM s {VERSIONED} JOIN s5 FOR SYSTEM_TIME AS OF s5.at_ AS y ON s.id = y.id": [
        *(WAITING, VERSIONS),
        *(WAITING, "FOR SYSTEM_TIME AS OF: rows by key, forever"),
    ],
    "SELECT s.id FROM s JOIN b2 ON s.id = b2.id LEFT JOIN s5 FOR SYSTEM_TIME AS OF since"
    " ON s.id = s5.id": [WAITING, "FOR SYSTEM_TIME AS OF: rows by key, forever"],
    f"SELECT s.id FROM s JOIN b2 ON s.id = b2.id {VERSIONED}": [WAITING, VERSIONS],
    "SELECT s.id FROM s JOIN b2 ON s.id = b2.id JOIN s3 ON s.id = s3.id AND since = at_": [
        "a join: rows by key, forever"
    ],
    f"SELECT s.id FROM s {VERSIONED} JOIN s5 FOR SYSTEM_TIME AS OF s.ts AS y ON s.id = y.id": [
        *(WAITING, VERSIONS) * 2,
    ],
    f"SELECT id FROM (SELECT s.id, s.ts FROM s JOIN s3 ON {NEAR}) ORDER BY ts": [
        f"a join: {MATCHES}",
        "ORDER BY: rows, until the watermark passes them",
        "ORDER BY: nothing, all rows of a window arrive at once",
    ],
    f"SELECT id FROM (SELECT s.id, s.ts FROM s RIGHT JOIN s3 ON {NEAR}) ORDER BY ts": [
        "a join by bounds of the rowtimes: rows, until the watermark passes them",
        f"a join by bounds of the rowtimes: {MATCHES}",
        "ORDER BY: rows, until the watermark passes them",
        "ORDER BY: nothing, all rows of a window arrive at once",
    ],
    f"SELECT MAX(n) FROM {WINDOWS} GROUP BY {BOUNDS}": [
        "a window aggregation, by Spark: groups, until the watermark passes their window",
        "GROUP BY: nothing, all rows of a window arrive at once",
    ],
    f"SELECT COUNT(*) FROM {BY_CLOCK} GROUP BY {BOUNDS}": [
        "TUMBLE: rows, until the clock passes their window",
        "GROUP BY: nothing, all rows of a window arrive at once",
    ],
}


@pytest.mark.parametrize("query", STATES)
def test_what_is_kept_is_explained(session: Session, query: str) -> None:
    staged = staged_query(relation(session, query), is_unbounded)

    assert staged is not None
    assert STATES[query] == staged.describe_state()


#: Query -> for how many hours its last gate waits after the watermark: the bounds of `NEAR` let a
#: row arrive up to two hours, and a matched row of the other side three hours, later.
DELAYS = {
    "SELECT id, ts FROM s ORDER BY ts": 0,
    f"SELECT id, ts FROM (SELECT s.id, s.ts FROM s JOIN s3 ON {NEAR}) ORDER BY ts": 2,
    f"SELECT id, at_ FROM (SELECT s.id, at_ FROM s LEFT JOIN s3 ON {NEAR}) ORDER BY at_": 3,
    f"SELECT id, at_ FROM (SELECT s.id, at_ FROM s RIGHT JOIN s3 ON {NEAR}) ORDER BY at_": 3,
    f"SELECT id, at_ FROM (SELECT s.id, at_ FROM s FULL JOIN s3 ON {NEAR}) ORDER BY at_": 3,
    "SELECT x.id, x.ts FROM (SELECT s.id, s.ts FROM s JOIN s3 ON s.ts = at_ - INTERVAL '1' HOUR)"
    " AS x ORDER BY ts": 1,
    f"SELECT * FROM (SELECT x.id, x.at_ FROM (SELECT s3.id, s.ts, at_ FROM s JOIN s3 ON {NEAR})"
    " AS x JOIN s AS y ON x.id = y.id AND y.ts BETWEEN x.ts - INTERVAL '4' HOUR AND x.ts)"
    " ORDER BY at_": 6,
}


#: Join -> for how many hours rows of each side are kept after the watermark. A row of `s` matches
#: rows of `s3` from an hour before to two hours after it.
EXPIRIES = {
    "JOIN": [("ts", 2), ("at_", 1)],
    "LEFT JOIN": [("at_", 3)],
    "RIGHT JOIN": [("ts", 3)],
    "FULL JOIN": [("at_", 3), ("ts", 3)],
}


@pytest.mark.parametrize("kind", EXPIRIES)
def test_rows_of_interval_joins_expire(session: Session, kind: str) -> None:
    query = f"SELECT ts FROM (SELECT s.ts FROM s {kind} s3 ON {NEAR}) ORDER BY ts"
    staged = staged_query(relation(session, query), is_unbounded)

    assert staged is not None
    expiries = [own.expiry for own in staged.inputs() if isinstance(own.expiry, TimeExpiry)]
    names = {"c0": "ts", "c1": "at_"}
    assert EXPIRIES[kind] == [
        (names.get(own.time.name, own.time.name), own.wait / 3_600_000) for own in expiries
    ]


def test_rows_of_joins_of_late_rows_do_not_expire(session: Session) -> None:
    query = (
        "SELECT x.id FROM (SELECT s.id, s.ts FROM s JOIN s2 ON s.id = s2.id) AS x JOIN s3"
        " ON x.id = s3.id AND at_ BETWEEN x.ts - INTERVAL '1' HOUR AND x.ts"
    )
    staged = staged_query(relation(session, query), is_unbounded)

    assert staged is not None
    assert all(own.expiry is None for own in staged.inputs())


@pytest.mark.parametrize("query", DELAYS)
def test_rows_of_interval_joins_wait_longer(session: Session, query: str) -> None:
    staged = staged_query(relation(session, query), is_unbounded)

    assert staged is not None
    gates = [stage for stage in staged.stages if isinstance(stage, Gate)]
    assert DELAYS[query] * 3_600_000 == gates[-1].delay
