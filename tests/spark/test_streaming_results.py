"""Queries return the rows of Flink 2.3.0: in batch mode, in streaming mode, and as rows arrive."""

from __future__ import annotations

import json
import os
import re
from collections import Counter as Counts
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import pytest

from fuzz.oracle.streams import create, folded
from schema_core import (
    ArgumentHint,
    ArgumentTrait,
    EnvironmentSettings,
    ProcessTableFunction,
    Row,
    StateHint,
    TableEnvironment,
    udptf,
)
from tests.slow_tests import draw_cases, keywords
from tests.spark.recorded_changes import changes_until_stopped
from tests.support import CASES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.usefixtures("one_task")

#: The tables, then a query on each line with Flink's rows in both modes.
RECORDED, *SCRIPTS = [
    json.loads(line)
    for line in (CASES / "streaming_results.jsonl").read_text(encoding="utf-8").splitlines()
]
#: Whether all queries run in all ways, or some of those that take longest.
EVERYTHING = os.environ.get("STREAMING_SCRIPTS") == "all"
#: Kinds of queries whose tables get a last row, which advances the watermark.
ENDED = {"windows", "join"}


class Counter:
    def __init__(self) -> None:
        self.count = 0


class CountRows(ProcessTableFunction):
    """Numbers the rows of a partition, as `fuzz/oracle/java/com/acme/udf/CountRows.java`."""

    def eval(
        self,
        counter: Annotated[Counter, StateHint()],
        r: Annotated[Row, ArgumentHint(ArgumentTrait.SET_SEMANTIC_TABLE)],
    ) -> Iterator[tuple[int, int | None]]:
        counter.count += 1
        yield counter.count, r.v


def environment(
    session: SparkSession, root: Path, *, streaming: bool, last: bool = False, options: str = ""
) -> TableEnvironment:
    """Return an environment with the recorded tables: of one file, or of several if unbounded."""
    settings = EnvironmentSettings
    mode = settings.in_streaming_mode() if streaming else settings.in_batch_mode()
    env = TableEnvironment.create(mode, spark=session)
    env.execute_sql("SET 'table.local-time-zone' = 'UTC'")
    env.execute_sql(RECORDED["view"])
    env.create_temporary_function("count_rows", udptf(CountRows, result_type="ROW<n INT, w INT>"))
    for name, table in RECORDED["tables"].items():
        files = [*table["files"], *([table["last"]] if last and "last" in table else [])]
        files = files if options else ["".join(files)]
        (root / name).mkdir(parents=True, exist_ok=True)
        for place, text in enumerate(files):
            path = root / name / str(place)
            path.write_text(text, encoding="utf-8")
            os.utime(path, (1_700_000_000 + place,) * 2)  # the order in which they arrive
        env.execute_sql(create(name, table, root / name, options))
    return env


def rows(env: TableEnvironment, sql: str) -> list[list[Any]]:
    """Return the rows that the changes of a query leave."""
    return folded(changes_until_stopped(env.execute_sql(sql)))


# --- bounded tables -------------------------------------------------------------------------------


def result(script: dict[str, Any]) -> list[list[Any]] | None:
    """Return Flink's rows: of batch mode, of streaming mode if only that runs the query."""
    results: list[list[Any]] | None = script["batch"].get("rows", script["streaming"].get("rows"))
    return None if script["sql"] == LATE_SESSION else results


#: Flink drops late rows, for which it has no batch mode to compare with.
LATE_SESSION = next(script["sql"] for script in SCRIPTS if "SESSION(TABLE late" in script["sql"])
#: An aggregate of no rows: no row in streaming mode, the row of batch mode where that has one.
NO_ROWS = "an aggregate of no rows"
#: Why Flink's streaming mode returns other rows for bounded tables -> what such queries contain.
REASONS = {
    "late rows": r"\b(late|mixed)\b",
    NO_ROWS: r"v > 1000|SUM\(v\) AS v FROM e$",
    "a rowtime that is NULL": r"\bnulls\b",
}


def test_where_streaming_mode_of_flink_differs() -> None:
    """These are the differences that docs/streaming-queries.md explains."""
    different = [script for script in SCRIPTS if script["streaming"].get("rows") != result(script)]
    results = Counts(
        next(
            (reason for reason, part in REASONS.items() if re.search(part, item["sql"])), "unknown"
        )
        for item in different
    )

    assert {"late rows": 9, NO_ROWS: 2, "a rowtime that is NULL": 2} == results


@pytest.fixture(scope="module")
def bounded(
    session: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, TableEnvironment]:
    """An environment in each mode, with tables that are bounded."""
    root = tmp_path_factory.mktemp("bounded")
    return {
        mode: environment(session, root, streaming=mode == "streaming")
        for mode in ("batch", "streaming")
    }


COMPARED = [script for script in SCRIPTS if result(script) is not None]
RUNS = [(mode, item) for mode in ("batch", "streaming") for item in COMPARED]


def words(run: tuple[str, dict[str, Any]]) -> frozenset[str]:
    """Return the forms of a query; in streaming mode, bounded tables are read as in batch mode."""
    mode, script = run
    return keywords(script["sql"]) if mode == "batch" else frozenset({script["unbounded"]})


@pytest.mark.parametrize(
    "run", draw_cases(RUNS, words), ids=[f"{mode}-{item['sql'][:90]}" for mode, item in RUNS]
)
def test_rows_of_bounded_tables(
    bounded: dict[str, TableEnvironment], run: tuple[str, dict[str, Any]]
) -> None:
    mode, script = run
    is_of_no_rows = re.search(REASONS[NO_ROWS], script["sql"])
    expected = script["streaming"]["rows"] if mode != "batch" and is_of_no_rows else result(script)

    assert expected == rows(bounded[mode], script["sql"])


# --- unbounded tables -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def unbounded(
    session: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> dict[bool, TableEnvironment]:
    """Environments with unbounded tables, without and with the last row of each."""
    return {
        last: environment(
            session,
            tmp_path_factory.mktemp("unbounded"),
            streaming=True,
            last=last,
            options=", 'source.monitor-interval' = '50 ms'",
        )
        for last in (False, True)
    }


#: Queries that return late rows, and one whose rowtimes do not matter: docs/streaming-queries.md.
OTHERWISE = re.compile(
    r"TABLE mixed|(TABLE|FROM) nulls|SESSION\(TABLE late|ORDER BY ts\) AS r FROM late\b"
)
#: Queries that return what Flink returns, if rows arrive.
ARRIVING = [script for script in SCRIPTS if not OTHERWISE.search(script["sql"])]
#: Each takes seconds. Among them are an interval join, a FULL JOIN whose keys are NULL, and windows
#: of the times of windows.
INTERVAL_JOIN = next(item for item in ARRIVING if item["unbounded"] == "join")
FULL_JOIN = next(item for item in ARRIVING if "a.v * 10 = c.v" in item["sql"])
WINDOWS_OF_WINDOWS = next(item for item in ARRIVING if "DESCRIPTOR(rt)" in item["sql"])
DRAWN = [*ARRIVING[::40], INTERVAL_JOIN, FULL_JOIN, WINDOWS_OF_WINDOWS]
SAMPLE = ARRIVING if EVERYTHING else DRAWN


@pytest.mark.parametrize("script", SAMPLE, ids=[item["sql"][:90] for item in SAMPLE])
@pytest.mark.usefixtures("one_file_at_a_time")
def test_rows_that_arrive(unbounded: dict[bool, TableEnvironment], script: dict[str, Any]) -> None:
    rows_ = rows(unbounded[script["unbounded"] in ENDED], script["sql"])

    assert script["streaming"]["rows"] == [row for row in rows_ if "~" not in row]
