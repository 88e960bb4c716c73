"""Streaming queries with state: windows, groups that are updated, distinct rows."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.connectors.files.file_layout import FileLayout
from schema_core.environment import connector as module
from schema_core.environment.connector import Connector
from schema_core.errors import ExternalError, SchemaCoreError
from schema_core.pyflink.common import Row, RowKind
from schema_core.spark.changelog import ROW_KIND
from schema_core.spark.commit.directory import Directory
from schema_core.spark.commit.file_systems import locate_file_system
from schema_core.spark.streaming import stage_state, streaming
from schema_core.spark.streaming.micro_batches import MicroBatches
from schema_core.spark.streaming.stage_state import COMPACTED, Span, StoredRows
from schema_core.spark.streaming.stage_watermarks import BatchTime, StageWatermarks
from schema_core.spark.streaming.state_retention import HASH, TOUCHED, ClockOfKeys
from tests.spark.memory_connector import STORE, MemoryConnector
from tests.support import cases

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: For how many seconds a test waits for rows, at most.
TIMEOUT = 120.0

ROWS = """\
a,2024-01-01 00:00:01,1,1.50
b,2024-01-01 00:00:09.999,2,
a,2024-01-01 00:00:10,4,0.25
,2024-01-01 00:00:10.001,4,2.00
b,2024-01-01 00:00:12,4,9.99
c,2024-01-01 00:00:13,7,0.00
c,2024-01-01 00:00:13,7,0.00
a,2024-01-01 00:00:31.5,,1.00
a,2024-01-01 00:01:00,9,3.00
"""
#: The files of a test, each of which is a micro-batch.
FILES = 8
#: Advances the watermark beyond all other rows.
LAST = "z,2025-01-01 00:00:00,0,0.00\n"

COLUMNS = "k STRING, ts TIMESTAMP(3), v INT, d DECIMAL(5, 2)"
WATERMARK = ", WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"
MONITORED = ", 'source.monitor-interval' = '50 ms'"
#: Local times of an hour that occurs twice.
ZONED = ", zt AS TO_TIMESTAMP_LTZ(CAST(v AS BIGINT) * 1200 + 1729983600, 0), WATERMARK FOR zt AS zt"


def table(name: str, folder: Path, more: str = "", options: str = "") -> str:
    return (
        f"CREATE TABLE {name} ({COLUMNS}{more}) WITH ('connector' = 'filesystem', 'format' = 'csv',"
        f" 'csv.null-literal' = '', 'path' = '{folder}'{options})"
    )


def added(folder: Path, name: str, text: str) -> None:
    """Put a file into a directory at once."""
    folder.mkdir(exist_ok=True)
    (folder / f".{name}").write_text(text, encoding="utf-8")
    (folder / f".{name}").rename(folder / name)


def environments(session: SparkSession, root: Path) -> tuple[TableEnvironment, TableEnvironment]:
    """Return a streaming and a batch environment with the same tables."""
    added(root / "g", "1", ROWS)
    added(root / "s", "1", ROWS + LAST)
    added(root / "z", "1", "".join(f"{'ab'[n % 2]},,{n},\n" for n in range(9)))
    added(root / "zs", "1", (root / "z" / "1").read_text() + "z,,2000,\n")
    result = []
    for settings, places in (
        (EnvironmentSettings.in_streaming_mode(), ("s", "g", "zs")),
        (EnvironmentSettings.in_batch_mode(), ("g", "g", "z")),
    ):
        env = TableEnvironment.create(settings, spark=session)
        env.execute_sql("SET 'table.local-time-zone' = 'Europe/Berlin'")
        unbounded = MONITORED if settings.is_streaming_mode() else ""
        for name, place, more in zip(
            "sgz", places, (WATERMARK, ", pt AS PROCTIME()", ZONED), strict=True
        ):
            env.execute_sql(table(name, root / place, more, unbounded))
        env.execute_sql(
            "CREATE TEMPORARY VIEW b AS SELECT * FROM (VALUES ('a', 'A'), ('c', 'C')) AS t(k, w)"
        )
        result.append(env)
    return result[0], result[1]


@pytest.fixture(scope="module")
def both(
    session: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> tuple[TableEnvironment, TableEnvironment]:
    """A streaming and a batch environment with the same tables."""
    return environments(session, tmp_path_factory.mktemp("streams"))


def folded(changes: list[Row]) -> Counter[str]:
    """Return the rows that remain of a changelog, with their number."""
    rows: Counter[str] = Counter()
    for row in changes:
        removes = row.get_row_kind() in (RowKind.UPDATE_BEFORE, RowKind.DELETE)
        rows[repr(row.as_dict() if row._names else list(row))] += -1 if removes else 1
    return +rows


def changelog(env: TableEnvironment, query: str) -> list[Row]:
    """Return the changes of a query, which ends when it has read all files."""
    result: list[Row] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MicroBatches, "_add_trigger", lambda _, one: one.trigger(availableNow=True))
        with (
            env.execute_sql(query).collect() as rows,
            pytest.raises(ExternalError, match="stopped"),
        ):
            result.extend(rows)
    return result


@pytest.mark.parametrize(("query", "_kind"), cases("streaming_queries"))
def test_rows_are_those_of_the_batch_query(
    both: tuple[TableEnvironment, TableEnvironment], query: str, _kind: str
) -> None:
    streaming, batch = both
    with batch.execute_sql(query).collect() as rows:
        expected = folded(list(rows))

    assert expected == folded(changelog(streaming, query))
    assert expected


# --- sinks, restarts and late rows ----------------------------------------------------------------

WINDOWS = (
    "SELECT window_end, k, SUM(v) AS n FROM"
    " TABLE(TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
    " GROUP BY window_start, window_end, k"
)


@pytest.fixture
def env(session: SparkSession, tmp_path: Path) -> TableEnvironment:
    """A streaming environment with an unbounded table `s`, which is empty."""
    made = TableEnvironment.create(EnvironmentSettings.in_streaming_mode(), spark=session)
    made.execute_sql(f"SET 'execution.checkpointing.dir' = '{tmp_path / 'checkpoints'}'")
    (tmp_path / "s").mkdir()
    made.execute_sql(table("s", tmp_path / "s", WATERMARK, MONITORED))
    return made


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables with `'connector' = 'memory'`."""
    find = module.find_connector

    def found(options: Mapping[str, str]) -> Connector:
        return MemoryConnector() if options.get("connector") == "memory" else find(options)

    monkeypatch.setattr(module, "find_connector", found)


@contextmanager
def running(env: TableEnvironment, statement: str) -> Iterator[str]:
    """Run a streaming job, whose id is returned; it is stopped at the end."""
    job = env.execute_sql(statement).get_job_client()
    assert job is not None
    try:
        yield job.get_job_id()
    finally:
        env.execute_sql(f"STOP JOB '{job.get_job_id()}'")


def until(found: Callable[[], Any], expected: Any) -> None:
    """Wait until a function returns what is expected."""
    deadline = time.monotonic() + TIMEOUT
    while (last := found()) != expected and time.monotonic() < deadline:
        time.sleep(0.05)
    assert expected == last


def test_windows_are_written_once_and_late_rows_are_dropped(
    env: TableEnvironment, tmp_path: Path
) -> None:
    env.execute_sql(
        "CREATE TABLE t (e TIMESTAMP(3), k STRING, n INT) WITH ('connector' = 'filesystem',"
        f" 'path' = '{tmp_path / 't'}', 'format' = 'json')"
    )

    def written() -> list[str]:
        files = (tmp_path / "t").glob("[!.]*")
        return sorted(line for path in files for line in path.read_text().splitlines())

    def row(second: int, key: str, total: int) -> str:
        return f'{{"e":"2024-01-01 00:00:{second}.000000","k":"{key}","n":{total}}}'

    statement = f"INSERT INTO t {WINDOWS}"
    first = [row(10, "a", 3)]
    second = [*first, row(20, "a", 2), row(20, "b", 9), row(20, "c", 4)]
    with running(env, statement):
        added(tmp_path / "s", "1", "a,2024-01-01 00:00:01,1,\nb,2024-01-01 00:00:12,1,\n")
        added(tmp_path / "s", "2", "a,2024-01-01 00:00:14.999,2,\na,2024-01-01 00:00:03,2,\n")
        until(written, first)
        added(tmp_path / "s", "3", "a,2024-01-01 00:00:09.999,8,\nb,2024-01-01 00:00:15,8,\n")
    assert "EventTimeWatermark" in env.explain_sql(statement)
    with running(env, statement):
        added(tmp_path / "s", "4", "c,2024-01-01 00:00:19.999,4,\nx,2024-01-01 00:00:24.999,8,\n")
        until(written, second)

    # two micro-batches have rows, in up to two tasks each; the others commit no file
    assert 4 >= len([path for path in (tmp_path / "t").iterdir() if path.name[0] != "."])


def test_updates_are_written_as_changes(env: TableEnvironment, tmp_path: Path) -> None:
    """The old row is removed before the new one; equal rows are no change."""
    columns = "k STRING, n BIGINT{}"
    sink = f"'connector' = 'filesystem', 'format' = 'debezium-json', 'path' = '{tmp_path / 't'}'"
    statement = "INSERT INTO t SELECT k, COUNT(v) FROM s GROUP BY k"
    env.execute_sql(f"CREATE TABLE t ({columns.format('')}) WITH ({sink})")
    with pytest.raises(SchemaCoreError, match="cannot consume update changes"):
        env.execute_sql(statement)
    env.execute_sql("DROP TABLE t")
    key = ", PRIMARY KEY (k) NOT ENFORCED"
    env.execute_sql(f"CREATE TABLE t ({columns.format(key)}) WITH ({sink})")

    def written() -> list[str]:
        files = (tmp_path / "t").glob("part-*")
        return sorted(line for path in files for line in path.read_text().splitlines())

    def message(name: str, count: int, *, added: bool = True) -> str:
        row = f'{{"k":"{name}","n":{count}}}'
        before, after, code = ("null", row, "c") if added else (row, "null", "d")
        return f'{{"before":{before},"after":{after},"op":"{code}"}}'

    with running(env, statement):
        added(tmp_path / "s", "1", "a,2024-01-01 00:00:01,1,\nb,2024-01-01 00:00:12,1,\n")
        first = [message("a", 1), message("b", 1)]
        until(written, first)
        added(tmp_path / "s", "2", "a,2024-01-01 00:00:14,2,\nb,2024-01-01 00:00:03,,\n")
        until(written, sorted([*first, message("a", 1, added=False), message("a", 2)]))


def test_stages_continue_from_their_checkpoint(env: TableEnvironment, tmp_path: Path) -> None:
    """The rows of the first run decide what the second one removes."""
    env.execute_sql(
        "CREATE TABLE t (k STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' ="
        f" 'filesystem', 'format' = 'debezium-json', 'path' = '{tmp_path / 't'}')"
    )
    statement = (
        "INSERT INTO t SELECT k, COUNT(DISTINCT v) AS n FROM s GROUP BY k"
        " HAVING COUNT(DISTINCT v) < 3"
    )

    def written() -> list[str]:
        files = (tmp_path / "t").glob("part-*")
        return sorted(line for path in files for line in path.read_text().splitlines())

    def message(name: str, count: int, *, adds: bool = True) -> str:
        row = f'{{"k":"{name}","n":{count}}}'
        before, after, code = ("null", row, "c") if adds else (row, "null", "d")
        return f'{{"before":{before},"after":{after},"op":"{code}"}}'

    first = [message("a", 1), message("b", 1)]
    with running(env, statement):
        added(tmp_path / "s", "1", "a,,1,\nb,,1,\na,,1,\n")
        until(written, first)
    then = sorted([*first, message("a", 1, adds=False), message("a", 2)])
    with running(env, statement):
        added(tmp_path / "s", "2", "a,,2,\nb,,1,\n")
        until(written, then)
        added(tmp_path / "s", "3", "a,,3,\n")
        until(written, sorted([*then, message("a", 2, adds=False)]))


@pytest.mark.usefixtures("one_task")
def test_rows_of_files_arrive_by_the_age_of_the_files(
    session: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark reads the largest file of a micro-batch first: here the newer one of two."""
    options = FileLayout._streaming
    two = {"maxFilesPerTrigger": "2"}
    monkeypatch.setattr(FileLayout, "_streaming", lambda self: {**options(self), **two})
    for place in range(4):
        added(tmp_path / "g", str(place), f"a,,{place},\n" + "x,,,\n" * 50 * (place % 2))
        os.utime(tmp_path / "g" / str(place), (1_700_000_000 + place,) * 2)
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode(), spark=session)
    env.execute_sql(table("g", tmp_path / "g", ", pt AS PROCTIME()", MONITORED))
    query = "SELECT v, LAG(v) OVER (ORDER BY pt) FROM g WHERE k = 'a'"

    assert [[0, None], [1, 0], [2, 1], [3, 2]] == [list(row) for row in changelog(env, query)]


def test_missing_changes_of_a_stage_are_found(session: SparkSession, tmp_path: Path) -> None:
    system, root = locate_file_system(session, str(tmp_path))
    stored = StoredRows(session, Directory(system, root), inserts=True)
    for name in ("changes-0-1", "changes-2-2", "changes-4-4"):
        (tmp_path / name).mkdir()

    stored.begin(3)
    with pytest.raises(ExternalError, match="changes-3-3' is missing") as caught:
        stored.begin(5)

    assert "invalid-checkpoint" == caught.value.code


def test_files_of_changes_become_few_and_leave_the_same_rows(
    session: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Row 0 is added first, and removed by a change that becomes one file with others before."""
    monkeypatch.setattr(stage_state, "COMPACTED", 2)
    system, root = locate_file_system(session, str(tmp_path))
    stored = StoredRows(session, Directory(system, root), inserts=False)
    rows: set[int] = set()
    files: list[int] = []

    for number in range(9):
        stored.begin(number)
        added_ = range(100) if number == 0 else [100 + number]
        removed = [] if number == 0 else [99 + number if number > 1 else 0]
        changes = [("+I", value) for value in added_] + [("-D", value) for value in removed]
        frame = session.createDataFrame(changes, f"`{ROW_KIND}` STRING, v BIGINT")
        rows = (rows | {*added_}) - {*removed}
        stored.compact(change := stored.add(frame.select("v", ROW_KIND)))
        files.append(len(stored._before))
        stored.begin(number + 1)
        every = stored.rows_before(change)
        assert every is not None
        assert sorted(rows) == sorted(row.v for row in stored.remaining(every).collect())

    assert max(files) <= 3
    assert Span(0, 0) not in stored._files()
    # the last micro-batch is a file of its own
    assert stored.counts() == (100 + 8 * 2, len(rows) + 2)


def test_rows_that_expired_are_removed_when_changes_are_compacted(
    session: SparkSession, tmp_path: Path
) -> None:
    """Key 1 changes once, key 2 again after its first row has expired."""
    system, root = locate_file_system(session, str(tmp_path))
    stored = StoredRows(session, Directory(system, root), inserts=True)
    for number in range(COMPACTED):
        stored.begin(number)
        clock = ClockOfKeys(1000, 0 if number == 0 else 2000 + number)
        keys = "1L, 2L" if number == 0 else "2L"
        kind, key = f"'+I' AS `{ROW_KIND}`", f"explode(array({keys})) AS `{HASH}`"
        rows = session.sql(f"SELECT {number} AS v, {kind}, {key}")
        clock.compact([stored], [stored.add(clock.with_time(rows))])

    kept = session.read.parquet(str(tmp_path / f"changes-0-{COMPACTED - 1}"))
    assert {(2, number, 1999 + COMPACTED) for number in range(1, COMPACTED)} == {
        (row[HASH], row["v"], row[TOUCHED]) for row in kept.collect()
    }


def test_a_repeated_micro_batch_has_the_time_of_its_first_run(
    session: SparkSession, tmp_path: Path
) -> None:
    """A source that was active has not become idle meanwhile."""
    system, root = locate_file_system(session, str(tmp_path))
    times = StageWatermarks(Directory(system, root), 2, 1000)

    assert BatchTime(None, 3, None, 0) == times.advance(0, [3, 5], 0)
    assert BatchTime(3, 3, 0, 900) == times.advance(1, [None, 9], 900)
    assert BatchTime(3, 3, 0, 900) == times.advance(1, [None, 9], 5000)
    assert BatchTime(3, 12, 900, 5100) == times.advance(2, [None, 12], 5100)
    (tmp_path / "watermarks-3").write_text('{"now": 51', encoding="utf-8")
    assert BatchTime(12, 12, 5100, 5200) == times.advance(3, [None, 12], 5200)
    assert BatchTime(12, 12, 5200, 5200) == times.advance(4, [None, 12], 10)


def test_an_idle_table_does_not_hold_back_the_watermark(
    env: TableEnvironment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    env.get_config().set("table.exec.source.idle-timeout", "1 min")
    seconds = [0]
    monkeypatch.setattr("schema_core.spark.streaming.stage_runs.now", lambda: seconds[0] * 1000)
    (tmp_path / "r").mkdir()
    env.execute_sql(table("r", tmp_path / "r", WATERMARK, MONITORED))
    query = (
        "SELECT window_end, COUNT(*) AS n FROM TABLE(TUMBLE((SELECT k, ts FROM s UNION ALL"
        " SELECT k, ts FROM r), DESCRIPTOR(ts), INTERVAL '10' SECOND))"
        " GROUP BY window_start, window_end"
    )

    with closing(env.execute_sql(query).collect()) as result:
        added(tmp_path / "s", "1", "a,2024-01-01 00:00:01,1,\na,2024-01-01 00:00:16,1,\n")
        added(tmp_path / "r", "1", "a,2024-01-01 00:00:02,1,\na,2024-01-01 00:00:16,1,\n")
        first = str(next(result))
        seconds[0] = 90
        added(tmp_path / "s", "2", "a,2024-01-01 00:00:31,1,\n")
        second = str(next(result))

    assert "<Row(datetime.datetime(2024, 1, 1, 0, 0, 10), 2)>" == first
    assert "<Row(datetime.datetime(2024, 1, 1, 0, 0, 20), 2)>" == second


def test_rows_of_keys_without_changes_expire(
    env: TableEnvironment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row that arrives later than the retention begins a new group; others keep theirs."""
    env.get_config().set("table.exec.state.ttl", "1 h")
    seconds = [0]
    monkeypatch.setattr("schema_core.spark.streaming.stage_runs.now", lambda: seconds[0] * 1000)
    query = "SELECT k, SUM(v) AS n FROM s GROUP BY k"

    with closing(env.execute_sql(query).collect()) as result:
        added(tmp_path / "s", "1", "a,,1,\nb,,1,\n")
        first = sorted(str(next(result)) for _ in range(2))
        seconds[0] = 3000
        added(tmp_path / "s", "2", "b,,2,\n")
        second = [str(next(result)) for _ in range(2)]
        seconds[0] = 6000
        added(tmp_path / "s", "3", "a,,5,\nb,,5,\n")
        third = sorted(str(next(result)) for _ in range(3))
        seconds[0] = 6010
        added(tmp_path / "s", "4", "a,,2,\n")
        fourth = [str(next(result)) for _ in range(2)]

    assert ["<Row('a', 5)>", "<Row('a', 7)>"] == fourth
    assert ["<Row('a', 1)>", "<Row('b', 1)>"] == first
    assert ["<Row('b', 1)>", "<Row('b', 3)>"] == second
    assert ["<Row('a', 5)>", "<Row('b', 3)>", "<Row('b', 8)>"] == third


@pytest.mark.slow
@pytest.mark.usefixtures("one_task", "one_file_at_a_time")
def test_rows_that_no_other_row_can_match_are_removed(
    env: TableEnvironment, session: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each file has a row a minute later than the one before, and the bounds have seconds."""
    monkeypatch.setattr(stage_state, "COMPACTED", 2)
    system, root = locate_file_system(session, str(tmp_path / "stages"))
    place = Directory(system, root)
    monkeypatch.setattr(streaming, "temporary_directory", lambda _: place)
    for number in range(FILES):
        added(tmp_path / "s", f"{number}", f"a,2024-01-01 00:{number:02}:00,{number},\n")
        os.utime(tmp_path / "s" / f"{number}", (1_700_000_000 + number,) * 2)
    part = (
        "SELECT a.v, c.v AS w, c.ts FROM s AS a {} JOIN s AS c"
        " ON a.k = c.k AND c.ts BETWEEN a.ts - INTERVAL '3' SECOND AND a.ts + INTERVAL '4' SECOND"
    )
    query = f"SELECT v, w FROM ({part.format('')} UNION ALL {part.format('LEFT')}) ORDER BY ts"

    rows = changelog(env, query)

    assert sorted(2 * [(number, number) for number in range(FILES - 1)]) == sorted(map(tuple, rows))
    for name in ("0-0", "0-1", "2-0"):  # both sides of the inner join, and the one that is joined
        stored = StoredRows(session, Directory(system, place.path(name)), inserts=True)
        stored.begin(FILES)
        count = stored.counts()[1]
        assert count is not None
        assert count < FILES - 2


def test_a_result_without_rows_is_kept_until_it_expires(
    env: TableEnvironment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An aggregate without GROUP BY has a row before the first row arrives that it counts."""
    env.get_config().set("table.exec.state.ttl", "1 h")
    monkeypatch.setattr(stage_state, "COMPACTED", 2)
    counts = []

    query = "SELECT COUNT(DISTINCT v) AS n FROM s WHERE v > 9"
    with closing(env.execute_sql(query).collect()) as result:
        added(tmp_path / "s", "1", "a,,1,\n")
        counts.append(str(next(result)))
        for number, text in enumerate(("a,,2,\n", "a,,10,\n", "a,,11,\n"), start=2):
            added(tmp_path / "s", str(number), text)
            if number > 2:
                counts += [str(next(result)) for _ in range(2)]

    assert ["<Row(0)>", "<Row(0)>", "<Row(1)>", "<Row(1)>", "<Row(2)>"] == counts


def test_rows_are_joined_over_micro_batches_and_removed_from_the_state(
    env: TableEnvironment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row is kept as long as another one that is not late may match it, and not longer."""
    started: list[Any] = []
    start = MicroBatches._start

    def keep(self: MicroBatches, function: Any) -> Any:
        started.append(start(self, function))
        return started[-1]

    monkeypatch.setattr(MicroBatches, "_start", keep)
    (tmp_path / "r").mkdir()
    env.execute_sql(table("r", tmp_path / "r", WATERMARK, MONITORED))
    query = (
        "SELECT s.k, s.v, r.v AS w FROM s LEFT JOIN r ON s.k = r.k"
        " AND r.ts BETWEEN s.ts - INTERVAL '2' SECOND AND s.ts + INTERVAL '10' SECOND"
    )

    def next_rows(count: int) -> list[str]:
        return sorted(str(next(result)) for _ in range(count))

    with closing(env.execute_sql(query).collect()) as result:
        added(tmp_path / "s", "1", "a,2024-01-01 00:00:10,1,\nb,2024-01-01 00:00:10,2,\n")
        added(tmp_path / "r", "1", "a,2024-01-01 00:00:08,3,\na,2024-01-01 00:00:07.999,4,\n")
        first = next_rows(1)
        added(tmp_path / "s", "2", "x,2024-01-01 00:00:25,5,\n")
        added(tmp_path / "r", "2", "x,2024-01-01 00:00:35.001,6,\ny,2024-01-01 00:00:25,7,\n")
        # the watermark is 00:00:20: `a` and `b` may still be matched, `b` is
        added(tmp_path / "r", "3", "b,2024-01-01 00:00:20,8,\na,2024-01-01 00:00:20.001,9,\n")
        second = next_rows(1)
        added(tmp_path / "s", "4", "z,2024-01-01 01:00:00,0,\n")
        added(tmp_path / "r", "4", "z,2024-01-01 01:00:00,0,\n")
        third = next_rows(2)

        def kept() -> int:
            progress = started[0].lastProgress
            return int(progress.stateOperators[0].numRowsTotal) if progress else -1

        until(kept, 2)

    assert ["<Row('a', 1, 3)>"] == first
    assert ["<Row('b', 2, 8)>"] == second
    assert ["<Row('x', 5, None)>", "<Row('z', 0, 0)>"] == third


def test_joins_and_sessions_continue_from_their_checkpoint(
    env: TableEnvironment, tmp_path: Path
) -> None:
    """The rows of the first run are in the state of the second one."""
    for name in ("joined", "sessions"):
        env.execute_sql(
            f"CREATE TABLE {name} (k STRING, n INT) WITH ('connector' = 'filesystem',"
            f" 'path' = '{tmp_path / name}', 'format' = 'csv')"
        )
    joins = (
        "INSERT INTO joined SELECT a.k, a.v + c.v FROM s AS a JOIN s AS c ON a.k = c.k"
        " AND c.ts > a.ts AND c.ts <= a.ts + INTERVAL '10' SECOND"
    )
    sessions = (
        "INSERT INTO sessions SELECT k, SUM(v) FROM TABLE(SESSION(TABLE s PARTITION BY k,"
        " DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end, k"
    )

    def written() -> dict[str, list[str]]:
        result: dict[str, list[str]] = {}
        for name in ("joined", "sessions"):
            files = (tmp_path / name).glob("[!.]*")
            result[name] = sorted(line for path in files for line in path.read_text().splitlines())
        return result

    first = {"joined": ["a,3"], "sessions": ["y,7"]}
    then = {"joined": ["a,3", "a,7", "b,14"], "sessions": ["a,8", "b,14", "x,0", "y,7"]}
    with running(env, joins), running(env, sessions):
        added(tmp_path / "s", "1", "y,2024-01-01 00:00:01,7,\na,2024-01-01 00:00:20,1,\n")
        added(tmp_path / "s", "2", "a,2024-01-01 00:00:22,2,\nb,2024-01-01 00:00:21,6,\n")
        until(written, first)
    with running(env, joins), running(env, sessions):
        added(tmp_path / "s", "3", "a,2024-01-01 00:00:31,5,\nb,2024-01-01 00:00:30,8,\n")
        added(tmp_path / "s", "4", "x,2024-01-01 00:01:00,0,\nz,2024-01-01 00:02:00,0,\n")
        until(written, then)


def test_groups_replace_the_rows_of_their_key(
    env: TableEnvironment, memory: None, tmp_path: Path
) -> None:
    STORE.pop("groups", None)
    env.execute_sql(
        "CREATE TABLE t (n BIGINT, k STRING NOT NULL, PRIMARY KEY (k) NOT ENFORCED)"
        " WITH ('connector' = 'memory', 'place' = 'groups')"
    )

    def stored() -> dict[str, int]:
        return {row["k"]: row["n"] for row in STORE.get("groups", [])}

    def status(job: str) -> str:
        with env.execute_sql("SHOW JOBS").collect() as rows:
            return next(str(row[2]) for row in rows if row[0] == job)

    with running(env, "INSERT INTO t SELECT COUNT(*), k FROM s GROUP BY k") as job:
        until(lambda: status(job), "RUNNING")
        added(tmp_path / "s", "1", "a,,,\nb,,,\na,,,\n")
        until(stored, {"a": 2, "b": 1})
        added(tmp_path / "s", "2", "c,,,\na,,,\n")
        until(stored, {"a": 3, "b": 1, "c": 1})

    assert "CANCELED" == status(job)
    assert 3 == len(STORE["groups"])


def test_collected_changes_have_kinds(env: TableEnvironment, tmp_path: Path) -> None:
    query = "SELECT k, SUM(v) AS n FROM s WHERE k <> 'x' GROUP BY k"
    added(tmp_path / "s", "1", "a,,1,\nx,,1,\nb,,1,\n")
    with closing(env.execute_sql(query).collect()) as result:
        first = {str(next(result)) for _ in range(2)}
        added(tmp_path / "s", "2", "a,,2,\nb,,0,\n")
        then = [next(result), next(result)]

    assert {"<Row('a', 1)>", "<Row('b', 1)>"} == first
    assert [("-U", 1), ("+U", 3)] == [(str(item.get_row_kind()), item[1]) for item in then]


def test_changes_are_printed_with_their_kinds(
    env: TableEnvironment, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As Flink prints them; `blackhole` computes them."""
    env.execute_sql("RESET 'execution.checkpointing.dir'")
    env.execute_sql(
        "CREATE TABLE p (n INT, k STRING, d DATE) WITH ('connector' = 'print',"
        " 'print-identifier' = 'p')"
    )
    env.execute_sql("CREATE TABLE h (n INT) WITH ('connector' = 'blackhole')")
    printed: list[str] = []

    def lines() -> list[str]:
        printed.extend(capsys.readouterr().out.splitlines())
        return sorted(printed)

    first = ["p> +I[1, a, null]", "p> +I[3, null, null]"]
    then = ["p> +U[7, a, null]", "p> -U[1, a, null]"]
    added(tmp_path / "s", "1", "a,,1,\n,,3,\n")
    grouped = "SELECT SUM(v), k, CAST(NULL AS DATE) FROM s GROUP BY k"
    with (
        running(env, f"INSERT INTO p {grouped}"),
        running(env, "INSERT INTO h SELECT SUM(v) FROM s"),
    ):
        until(lines, first)
        added(tmp_path / "s", "2", "a,,6,\n,,0,\n")
        until(lines, [*first, *then])
        added(tmp_path / "s", "3", "b,,1,\n")
        until(lines, sorted([*first, *then, "p> +I[1, b, null]"]))

    assert printed.index(then[1]) < printed.index(then[0])


def refused(env: TableEnvironment, statement: str) -> str:
    with pytest.raises(SchemaCoreError) as caught:
        env.execute_sql(statement)
    assert "streaming-not-supported" == caught.value.code
    return str(caught.value.problem)


def test_what_is_refused_before_the_job(
    env: TableEnvironment, memory: None, tmp_path: Path
) -> None:
    of_source = ", WATERMARK FOR ts AS SOURCE_WATERMARK()"
    env.execute_sql(table("o", tmp_path / "s", of_source, MONITORED))
    env.execute_sql(
        "CREATE TABLE f (k STRING, n BIGINT) WITH ('connector' = 'filesystem', 'format' = 'json',"
        f" 'path' = '{tmp_path / 'f'}')"
    )
    env.execute_sql(
        "CREATE TABLE m (k STRING, n BIGINT NOT NULL, PRIMARY KEY (n) NOT ENFORCED)"
        " WITH ('connector' = 'memory', 'place' = 'm')"
    )
    groups = "SELECT k, COUNT(*) FROM s GROUP BY k"
    problem = "f cannot consume update changes, which GROUP BY produces"

    assert problem in refused(env, f"INSERT INTO f {groups}")
    deduplicated = f"INSERT INTO m {groups} ON CONFLICT DO DEDUPLICATE"
    assert "m cannot consume the updates and deletions" in refused(env, deduplicated)
    problem = "SOURCE_WATERMARK() of the unbounded table"
    assert problem in refused(env, WINDOWS.replace("TABLE s", "TABLE o"))
    with pytest.raises(SchemaCoreError, match="the conversion to a DataFrame"):
        env.sql_query(WINDOWS.replace("SUM(v)", "COUNT(DISTINCT v)")).to_spark()
    assert not (tmp_path / "checkpoints").exists()


@pytest.mark.parametrize(
    ("row", "problem"),
    [("a,,1,\n", "the rowtime 'ts' is NULL"), ("a,1969-12-31 23:59:59,1,\n", "is before 1970")],
)
def test_a_rowtime_that_has_no_watermark_fails_the_query(
    env: TableEnvironment, tmp_path: Path, row: str, problem: str
) -> None:
    added(tmp_path / "s", "1", row)
    with (
        env.execute_sql(WINDOWS).collect() as result,
        pytest.raises(ExternalError, match=problem),
    ):
        next(result)
