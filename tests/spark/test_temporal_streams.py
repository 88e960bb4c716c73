"""Joins as of a rowtime of unbounded tables: Flink's rows, late rows, and versions that expire."""

from __future__ import annotations

import datetime as dt
import json
import os
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fuzz.oracle.streams import folded
from fuzz.oracle.temporal_joins import setup
from schema_core import EnvironmentSettings, TableEnvironment
from schema_core.connectors.kafka.connector import KafkaConnector
from schema_core.errors import SchemaCoreError
from schema_core.spark.streaming import stage_state
from schema_core.spark.streaming.stage_state import Span, StoredRows
from schema_core.spark.streaming.stage_watermarks import BatchTime, StageWatermarks
from tests.slow_tests import draw_cases, keywords
from tests.spark.recorded_changes import changes_until_stopped
from tests.spark.test_kafka import RECORD
from tests.spark.test_streaming_state import added
from tests.spark.test_temporal_joins import ROWS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.usefixtures("one_task")

# --- the rows of Flink ----------------------------------------------------------------------------


def is_streamed(answer: dict[str, Any]) -> bool:
    """Return whether a query reads tables that are unbounded here, by rowtimes."""
    sql, others = answer["sql"], ("SET '", "upserts", "TUMBLE(r.rt")
    return ".rt" in sql and not any(part in sql for part in others)


STREAMED = list(filter(is_streamed, ROWS))
#: Words of forms of which one query is drawn.
WORDS = keywords("DEBEZIUM LAST_ROWS TUMBLE")


def words(answer: dict[str, Any]) -> frozenset[str]:
    return WORDS & keywords(answer["sql"].upper())


@pytest.fixture(scope="module")
def unbounded(session: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> TableEnvironment:
    """An environment with the recorded tables; those with a watermark arrive in two files."""
    root = tmp_path_factory.mktemp("unbounded")
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode(), spark=session)
    env.execute_sql("SET 'table.local-time-zone' = 'UTC'")
    for statement in setup(root):
        if "WATERMARK" in statement and "'filesystem'" in statement:
            folder = root / statement.split()[2]
            lines = (folder / "rows").read_text(encoding="utf-8").splitlines(keepends=True)
            (folder / "rows").unlink()
            middle = len(lines) // 2
            for place, part in enumerate((lines[:middle], lines[middle:])):
                (folder / str(place)).write_text("".join(part), encoding="utf-8")
                os.utime(folder / str(place), (1_700_000_000 + place,) * 2)
            monitored = f"{statement[:-1]}, 'source.monitor-interval' = '50 ms')"
            env.execute_sql(monitored)
        else:
            env.execute_sql(statement)
    return env


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second micro-batch is the last one: its watermark passes all rows."""
    advance = StageWatermarks.advance

    def pass_all(self: StageWatermarks, number: int, *args: Any) -> BatchTime:
        times = advance(self, number, *args)
        return times._replace(after=2**62) if number else times

    monkeypatch.setattr(StageWatermarks, "advance", pass_all)


@pytest.mark.usefixtures("one_file_at_a_time", "ended")
@pytest.mark.parametrize(
    "answer", draw_cases(STREAMED, words), ids=[answer["sql"][:110] for answer in STREAMED]
)
def test_rows_that_arrive_are_those_of_flink(
    unbounded: TableEnvironment, answer: dict[str, Any]
) -> None:
    assert answer["rows"] == folded(changes_until_stopped(unbounded.execute_sql(answer["sql"])))


# --- late rows, and versions that expire ----------------------------------------------------------

ORDERS = "id INT, k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts"
RATES = "k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts, PRIMARY KEY (k) NOT ENFORCED"
JOIN = "SELECT o.id, r.v FROM o LEFT JOIN r FOR SYSTEM_TIME AS OF o.ts AS r ON o.k = r.k"


@pytest.fixture
def env(session: SparkSession, tmp_path: Path) -> TableEnvironment:
    """An environment with orders and rates, which arrive, and deletions of rates."""
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode(), spark=session)
    for name, columns, format_ in (("o", ORDERS, "json"), ("r", RATES, "debezium-json")):
        (tmp_path / name).mkdir()
        env.execute_sql(
            f"CREATE TABLE {name} ({columns}) WITH ('connector' = 'filesystem', 'format' ="
            f" '{format_}', 'path' = '{tmp_path / name}', 'source.monitor-interval' = '50 ms')"
        )
    return env


def time(second: int) -> str:
    return f"2024-01-01 00:{second // 60:02}:{second % 60:02}"


def order(number: int, key: str, second: int) -> dict[str, Any]:
    return {"id": number, "k": key, "ts": time(second)}


def rate(key: str, value: int, second: int) -> dict[str, Any]:
    return {"before": None, "after": {"k": key, "v": value, "ts": time(second)}, "op": "c"}


def deletion(key: str, second: int) -> dict[str, Any]:
    return {"before": {"k": key, "v": 0, "ts": time(second)}, "after": None, "op": "d"}


def arrive(root: Path, name: str, table: str, *rows: dict[str, Any]) -> None:
    added(root / table, name, "".join(json.dumps(row) + "\n" for row in rows))


def test_late_rows_find_the_versions_that_are_kept(env: TableEnvironment, tmp_path: Path) -> None:
    """As in Flink: the last version that the watermark has passed, and later ones."""
    with closing(env.execute_sql(JOIN).collect()) as result:
        arrive(tmp_path, "1", "r", rate("x", 10, 10), rate("x", 20, 20), rate("z", 0, 100))
        arrive(tmp_path, "1", "o", order(1, "x", 15), order(0, "z", 100))
        first = sorted(list(next(result)) for _ in range(2))
        arrive(tmp_path, "2", "o", order(2, "x", 15), order(3, "x", 25))
        second = sorted(list(next(result)) for _ in range(2))
        # a late version is one until the next row advances the watermark
        arrive(tmp_path, "3", "r", rate("x", 12, 12), deletion("x", 30), rate("z", 0, 200))
        arrive(tmp_path, "3", "o", order(4, "x", 25), order(5, "x", 35), order(0, "z", 200))
        third = sorted(list(next(result)) for _ in range(3))
        arrive(tmp_path, "4", "o", order(6, "x", 25), order(7, "x", 13), order(8, "x", 300))
        fourth = sorted(list(next(result)) for _ in range(2))

    assert [[0, 0], [1, 10]] == first
    assert [[2, None], [3, 20]] == second
    assert [[0, 0], [4, 20], [5, None]] == third
    assert [[6, None], [7, None]] == fourth


def test_versions_are_removed_when_changes_are_compacted(
    env: TableEnvironment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of each key the last version before the watermark stays, and all later ones."""
    stored: dict[str, int] = {}
    write = StoredRows._write

    def count(self: StoredRows, rows: Any, span: Span) -> None:
        write(self, rows, span)
        if span.first < span.last:
            kept = self._session.read.parquet(self._directory.path(span.name))
            stored[Path(self._directory.root).name] = kept.count()

    monkeypatch.setattr(StoredRows, "_write", count)
    monkeypatch.setattr(stage_state, "COMPACTED", 2)
    with closing(env.execute_sql(JOIN).collect()) as result:
        for number in range(4):
            rates = [rate("xy"[place % 2], place, 10 * number + place) for place in range(6)]
            arrive(tmp_path, str(number), "r", *rates)
            arrive(tmp_path, str(number), "o", order(number, "x", 10 * number + 4))
            next(result)

    # after 3 or 4 micro-batches: the last versions of x and y before the last order, and a later y
    assert stored["1-0"] <= 3


def test_versions_that_orders_read_do_not_expire(
    env: TableEnvironment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With `table.exec.state.ttl` a key is kept while rows of either side have it, as in Flink."""
    env.get_config().set("table.exec.state.ttl", "1 h")
    minutes = [0]
    monkeypatch.setattr("schema_core.spark.streaming.stage_runs.now", lambda: minutes[0] * 60_000)
    rows: list[list[Any]] = []
    with closing(env.execute_sql(JOIN).collect()) as result:
        arrive(tmp_path, "1", "r", rate("x", 1, 1), rate("y", 2, 1), rate("z", 0, 100))
        arrive(tmp_path, "1", "o", order(0, "z", 100))
        rows.append(list(next(result)))
        for number, minute in enumerate((40, 80, 120)):
            minutes[0] = minute
            arrive(tmp_path, f"2{number}", "o", order(number + 1, "x", 90))
            rows.append(list(next(result)))
        arrive(tmp_path, "3", "o", order(9, "y", 90))
        rows.append(list(next(result)))

    assert [[0, 0], [1, 1], [2, 1], [3, 1], [9, None]] == rows


@pytest.mark.usefixtures("one_file_at_a_time")
def test_messages_of_upsert_kafka_are_versions(
    env: TableEnvironment, session: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A message without a value ends the version of its key, at the time of the message."""
    messages = [
        (b'{"k":"x"}', b'{"k":"x","v":1}', 1),
        (b'{"k":"x"}', b'{"k":"x","v":2}', 2),
        (b'{"k":"x"}', None, 5),
        (b'{"k":"y"}', b'{"k":"y","v":3}', 6),
        (b'{"k":"z"}', b'{"k":"z","v":0}', 9),
    ]
    topic = tmp_path / "topic"
    for place, part in enumerate((messages[:2], messages[2:])):
        records: list[Any] = [
            (key, value, "t", 0, second, dt.datetime.fromtimestamp(second, dt.UTC), 0, [])
            for key, value, second in part
        ]
        session.createDataFrame(records, RECORD).coalesce(1).write.parquet(str(topic / str(place)))
    for place, files in enumerate(sorted(topic.iterdir())):
        (file,) = files.glob("*.parquet")
        os.utime(file, (1_700_000_000 + place,) * 2)
        file.rename(topic / f"{place}.parquet")
    reader = session.readStream.schema(RECORD).option("maxFilesPerTrigger", 1)
    monkeypatch.setattr(
        KafkaConnector,
        "stream",
        lambda *_: reader.option("pathGlobFilter", "?.parquet").parquet(str(topic)),
    )
    env.execute_sql("SET 'table.local-time-zone' = 'UTC'")
    env.execute_sql(
        "CREATE TABLE u (k STRING, v INT, ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp',"
        " WATERMARK FOR ts AS ts, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'upsert-kafka',"
        " 'topic' = 't', 'properties.bootstrap.servers' = 'h:1', 'key.format' = 'json',"
        " 'value.format' = 'json')"
    )
    (tmp_path / "i").mkdir()
    env.execute_sql(
        "CREATE TABLE i (id INT, k STRING, at_ BIGINT, ts AS TO_TIMESTAMP_LTZ(at_, 3),"
        " WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'format' = 'json',"
        f" 'path' = '{tmp_path / 'i'}', 'source.monitor-interval' = '50 ms')"
    )
    orders = [(1, "x", 1500), (2, "x", 4999), (3, "x", 5000), (4, "y", 6000), (5, "z", 9500)]
    lines = [{"id": number, "k": key, "at_": millis} for number, key, millis in orders]
    arrive(tmp_path, "1", "i", *lines)
    sql = "SELECT i.id, u.v FROM i LEFT JOIN u FOR SYSTEM_TIME AS OF i.ts ON i.k = u.k"

    rows = folded(changes_until_stopped(env.execute_sql(sql)))
    assert [[1, 1], [2, 2], [3, None], [4, 3]] == rows


def test_versions_of_a_query_of_changes_are_refused(env: TableEnvironment) -> None:
    env.execute_sql("CREATE TEMPORARY VIEW w AS SELECT k, v, ts FROM r WHERE v > 1")
    with pytest.raises(SchemaCoreError) as caught:
        env.execute_sql(JOIN.replace("JOIN r", "JOIN w"))
    assert "invalid-join" == caught.value.code
    env.execute_sql(
        "CREATE TEMPORARY VIEW g AS SELECT k, MAX(v) AS v, MAX(ts) AS ts FROM r GROUP BY k"
    )
    with pytest.raises(SchemaCoreError) as caught:
        env.execute_sql(JOIN.replace("JOIN r", "JOIN g"))
    assert "streaming-not-supported" == caught.value.code
