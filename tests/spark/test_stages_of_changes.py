"""Which stages a query of unbounded tables has whose rows are updated, and what is refused."""

from __future__ import annotations

import pytest

from schema_core.environment.session import Session
from schema_core.errors import UnsupportedError
from schema_core.query.updates import adds_rows, find_update
from schema_core.spark.streaming.changelog_stages import staged_query
from schema_core.spark.streaming.group_windows import with_window_functions
from schema_core.spark.streaming.stage_plans import SourceChanges, StagedQuery
from tests.spark.test_changelog_stages import STAGES as FORMS
from tests.spark.test_changelog_stages import shown
from tests.spark.test_incremental import BOUNDS, COUNTS, TUMBLE, is_unbounded, relation, session

__all__ = ["session"]

UPDATED = SourceChanges(inserts=False)
#: Queries of insertions whose stages update rows.
UPDATED_FORMS = [query for query, (_, inserts) in FORMS.items() if not inserts]


def staged(session: Session, query: str, changes: SourceChanges = UPDATED) -> StagedQuery:
    plan = with_window_functions(relation(session, query))
    result = staged_query(plan, is_unbounded, lambda _: changes)
    assert result is not None
    return result


#: Query -> its stages; whether rows are only added to the result; and whether it returns a change
#: for each change of a source.
STAGES = {
    "SELECT id, UPPER(v) FROM s WHERE id > 1": ([], False, True),
    "SELECT id FROM s UNION ALL SELECT id FROM b": ([], False, True),
    "SELECT s.id, t.x FROM s LEFT JOIN UNNEST(s.a) AS t(x) ON TRUE": ([], False, True),
    "SELECT s.id FROM s JOIN b ON s.id = b.id": ([], False, False),
    "SELECT v, COUNT(*) FROM s GROUP BY v": (["GROUP BY 1"], False, False),
    "SELECT DISTINCT v FROM s": (["SELECT DISTINCT 1"], False, False),
    "SELECT s.id FROM s JOIN s2 ON s.id = s2.id": (["a join 1"], False, False),
    "SELECT id FROM s UNION SELECT id FROM b": (["UNION 1"], False, False),
    COUNTS: (["TUMBLE gate", "GROUP BY at once"], True, False),
    # each change is of the windows of its row
    f"SELECT id, window_start FROM {TUMBLE}": ([], False, False),
    f"SELECT COUNT(*) FROM TABLE(TUMBLE((SELECT id, PROCTIME() AS pt FROM s), DESCRIPTOR(pt),"
    f" INTERVAL '1' MINUTE)) GROUP BY {BOUNDS}": (["TUMBLE gate", "GROUP BY at once"], True, False),
}


@pytest.mark.parametrize("query", STAGES)
def test_stages(session: Session, query: str) -> None:
    plan = staged(session, query)

    result = list(map(shown, plan.stages)), plan.inserts, plan.by_change is not None
    assert STAGES[query] == result


def test_changes_that_are_normalized_keep_rows(session: Session) -> None:
    plan = staged(session, "SELECT id FROM s", SourceChanges(inserts=False, key=("v",)))

    assert ([], False, None) == (list(plan.stages), plan.inserts, plan.by_change)
    assert [0] == plan.normalized_sources
    assert [frozenset({"id", "v"})] == [columns for _, columns in plan.columns_read()]


#: Ends of queries whose rows are updated here. Flink computes an inner join, as WHERE removes other
#: rows; returns the first row when the watermark has passed it; and does not ask whether a semi
#: join reads an outer one, or whether the window of a group is that of a missing row.
ADDED_IN_FLINK = (
    "ON s.id = s3.id WHERE s.ts = at_",
    "FROM s)) WHERE r = 1",
    "s3.id IS NULL)",
    "y.window_start, y.window_end",
)


@pytest.mark.parametrize("query", UPDATED_FORMS)
def test_tables_that_append_refuse_updates(session: Session, query: str) -> None:
    """Sinks are refused by Flink's rule, before the stages are planned."""
    update = find_update(relation(session, query), lambda _: False)
    assert (update is None) == query.endswith(ADDED_IN_FLINK)


@pytest.mark.parametrize("direction", ["", "DESC"])
def test_the_first_row_of_a_window_is_returned_once(session: Session, direction: str) -> None:
    number = f"ROW_NUMBER() OVER (PARTITION BY {BOUNDS} ORDER BY id {direction}) AS r"
    query = f"SELECT id FROM (SELECT id, {number} FROM {TUMBLE}) WHERE r = 1"
    of_all = query.replace(BOUNDS, "v")

    assert find_update(relation(session, query), lambda _: False) is None
    assert adds_rows(relation(session, query))
    assert not adds_rows(relation(session, of_all))


REFUSED = {
    f"SELECT x.id FROM {TUMBLE} AS x JOIN {TUMBLE} AS y ON x.id = y.id"
    " AND x.window_start = y.window_start AND x.window_end = y.window_end": (
        "a join of windows of TUMBLE whose rows are updated"
    ),
    f"SELECT id FROM (SELECT id, ROW_NUMBER() OVER (PARTITION BY {BOUNDS} ORDER BY id) AS r"
    f" FROM {TUMBLE}) WHERE r = 1": "ROW_NUMBER of windows of TUMBLE whose rows are updated",
    "SELECT LAG(v) OVER (PARTITION BY v ORDER BY ts) FROM s": "OVER of rows that are updated",
    "SELECT s.id FROM s JOIN s3 ON s.id = s3.id AND at_ BETWEEN s.ts AND"
    " s.ts + INTERVAL '1' MINUTE": "a join by bounds of the rowtimes of rows that are updated",
}


@pytest.mark.parametrize("query", REFUSED)
def test_what_flink_refuses_for_updates(session: Session, query: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        staged(session, query)

    assert "streaming-not-supported" == caught.value.code
    assert caught.value.problem.startswith(REFUSED[query])
