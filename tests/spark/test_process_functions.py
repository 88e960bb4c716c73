"""Process table functions in Python over bounded tables, from SQL and from the Table API."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import pytest

from schema_core import EnvironmentSettings, Table, TableEnvironment
from schema_core.errors import ExternalError, SchemaCoreError, SchemaError, UnsupportedError
from schema_core.expressions import col, descriptor, lit
from schema_core.expressions.process_functions import (
    ArgumentHint,
    ArgumentTrait,
    ProcessContext,
    StateHint,
    process_signature,
)
from schema_core.expressions.user_functions import ProcessTableFunction, udptf
from schema_core.spark.python.process_functions import PartitionContext
from schema_core.types.row_value import Row
from tests.spark.test_query_results import environment_of
from tests.spark.test_streaming_state import changelog

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETS = ArgumentTrait.SET_SEMANTIC_TABLE
Partition = Annotated[Row, ArgumentHint(SETS)]
Optional = Annotated[Row | None, ArgumentHint(SETS)]
Single = Annotated[Row, ArgumentHint(ArgumentTrait.ROW_SEMANTIC_TABLE)]
Passed = Annotated[Row, ArgumentHint(SETS, ArgumentTrait.PASS_COLUMNS_THROUGH)]
Whole = Annotated[Row, ArgumentHint(SETS, ArgumentTrait.OPTIONAL_PARTITION_BY)]


class Counter:
    def __init__(self) -> None:
        self.count = 0


class Greet(ProcessTableFunction):
    """Yields two greetings for each row but those of NULL."""

    def eval(self, data: Single, greeting: str = "Hello") -> Iterator[str]:
        if data.k is not None:
            yield f"{greeting} {data.k}"
            yield f"{data[1]}"


class Count(ProcessTableFunction):
    """Numbers the rows of a partition."""

    def eval(
        self, counter: Annotated[Counter, StateHint()], data: Partition, step: int = 1
    ) -> Iterator[tuple[int, int | None]]:
        counter.count += step
        yield counter.count, data.v


class Previous(ProcessTableFunction):
    """Adds the value of the previous row."""

    def eval(
        self, state: Annotated[dict[str, int], StateHint()], data: Passed
    ) -> Iterator[int | None]:
        yield state.get("v")
        state["v"] = data.v


class Total(ProcessTableFunction):
    """Sums all rows, and returns the sum of each row."""

    def eval(self, counter: Annotated[Counter, StateHint()], data: Whole) -> Iterator[int]:
        counter.count += data.v or 0
        yield counter.count


class Reminders(ProcessTableFunction):
    """Registers a timer for each row, and one with a name that later rows move."""

    def eval(
        self, ctx: ProcessContext, seen: Annotated[Counter, StateHint()], data: Partition
    ) -> Iterator[tuple[str, int]]:
        seen.count += 1
        time = ctx.time()
        assert time is not None
        ctx.register_on_time(time + dt.timedelta(seconds=data.v))
        ctx.register_on_time(time + dt.timedelta(minutes=1), "last")
        if data.v == 3:
            ctx.clear_all_state()
        yield f"row {ctx.partition_keys()[0]}", seen.count

    def on_timer(self, ctx: ProcessContext, seen: Counter) -> Iterator[tuple[str, int]]:
        seen.count += 10
        yield ctx.current_timer() or "timer", seen.count


@udptf(result_type="ROW<d DECIMAL(5, 2), t TIME(3), a ARRAY<INT>, z TIMESTAMP_LTZ(3)>")
class Typed(ProcessTableFunction):
    def eval(self, data: Single) -> Iterator[tuple[object, ...]]:
        yield data.d, data.t, [1, None], data.z


class Sums(ProcessTableFunction):
    """Sums the values of both tables of a partition."""

    def eval(
        self, counter: Annotated[Counter, StateHint()], left: Optional, right: Optional
    ) -> Iterator[str]:
        counter.count += left.v if left is not None else 0
        counter.count += right.w if right is not None else 0
        yield str(counter.count)


FUNCTIONS = {
    "greet": Greet, "counted": Count, "previous": Previous, "total": Total,
    "reminders": Reminders, "typed": Typed,
}  # fmt: skip


@pytest.fixture(scope="module")
def env(session: SparkSession) -> TableEnvironment:
    env = environment_of(session)
    env.execute_sql("SET 'table.local-time-zone' = 'Europe/Paris'")
    for name, function in {**FUNCTIONS, "paired": Paired}.items():
        env.create_temporary_function(name, function)
    rows = (
        "('a', 1, TIMESTAMP '2024-01-01 00:00:01'), ('b', 2, TIMESTAMP '2024-01-01 00:00:02'),"
        " ('a', 3, TIMESTAMP '2024-01-01 00:00:03'),"
        " (CAST(NULL AS STRING), 4, TIMESTAMP '2024-01-01 00:00:04')"
    )
    env.execute_sql(
        "CREATE TEMPORARY VIEW t AS SELECT k, v, CAST(ts AS TIMESTAMP(3)) AS ts,"
        f" CAST(ts AS TIMESTAMP_LTZ(3)) AS z FROM (VALUES {rows}) AS t (k, v, ts)"
    )
    return env


def rows_of(env: TableEnvironment, sql: str) -> list[tuple[object, ...]]:
    with env.execute_sql(sql).collect() as rows:
        return sorted((tuple(row) for row in rows), key=repr)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (
            "SELECT * FROM greet(TABLE t)",
            [("1",), ("2",), ("3",), ("Hello a",), ("Hello a",), ("Hello b",)],
        ),
        (
            (
                "SELECT `EXPR$0` AS g FROM greet(data => (SELECT k, k FROM t WHERE v = 2) ,"
                " greeting => 'Hi', uid => 'greeter')"
            ),
            [("Hi b",), ("b",)],
        ),
        (
            "SELECT * FROM counted(TABLE t PARTITION BY k ORDER BY v)",
            [("a", 1, 1), ("a", 2, 3), ("b", 1, 2), (None, 1, 4)],
        ),
        (
            "SELECT * FROM counted(data => TABLE t PARTITION BY k ORDER BY v DESC, step => 2)",
            [("a", 2, 3), ("a", 4, 1), ("b", 2, 2), (None, 2, 4)],
        ),
        (
            "SELECT k, v, `EXPR$0` AS p FROM previous(TABLE t PARTITION BY k ORDER BY ts)",
            [("a", 1, None), ("a", 3, 1), ("b", 2, None), (None, 4, None)],
        ),
        ("SELECT MAX(s) FROM total(TABLE t) AS x (s)", [(10,)]),
        ("SELECT COUNT(*) FROM total((SELECT * FROM t WHERE v > 9))", [(0,)]),
        (
            (
                "WITH c AS (SELECT * FROM t WHERE k = 'a') SELECT x.f0, t.v FROM counted(TABLE c"
                " PARTITION BY k ORDER BY v) AS x JOIN t ON x.f1 = t.v"
            ),
            [(1, 1), (2, 3)],
        ),
    ],
)
def test_functions_return_the_rows_of_eval(
    env: TableEnvironment, sql: str, expected: list[tuple[object, ...]]
) -> None:
    assert expected == rows_of(env, sql)


@pytest.mark.parametrize(("time", "zone"), [("ts", None), ("z", dt.UTC)])
def test_timers_fire_after_the_rows_in_the_order_of_their_times(
    env: TableEnvironment, time: str, zone: dt.tzinfo | None
) -> None:
    sql = f"SELECT * FROM reminders(data => TABLE t PARTITION BY k, on_time => DESCRIPTOR({time}))"
    rows = rows_of(env, f"{sql} WHERE k = 'a'")
    hour = 0 if zone is None else -1

    def at(minute: int, second: int) -> dt.datetime:
        return dt.datetime(2024, 1, 1, 0, minute, second, tzinfo=zone) + dt.timedelta(hours=hour)

    assert [
        ("a", "last", 30, at(1, 3)),
        ("a", "row a", 1, at(0, 1)),
        ("a", "row a", 2, at(0, 3)),
        ("a", "timer", 10, at(0, 2)),
        ("a", "timer", 20, at(0, 6)),
    ] == rows


def test_values_have_their_declared_types(env: TableEnvironment) -> None:
    sql = (
        "SELECT * FROM typed((SELECT CAST(v AS DECIMAL(3, 1)) AS d, CAST(ts AS TIME(0)) AS t, z"
        " FROM t WHERE v = 1))"
    )
    columns = env.sql_query(sql).get_resolved_schema().columns

    assert ["d", "t", "a", "z"] == [column.name for column in columns]
    ((d, t, a, z),) = rows_of(env, sql)
    assert ("1.00", dt.time(0, 0, 1), [1, None]) == (str(d), t, a)
    assert dt.datetime(2023, 12, 31, 23, 0, 1, tzinfo=dt.UTC) == z


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("counted(TABLE t)", "invalid-function-call"),
        ("greet(TABLE t PARTITION BY k)", "invalid-function-call"),
        ("greet(TABLE t, greeting => 'a')", "invalid-function-call"),
        ("greet(data => TABLE t, nothing => 'a')", "invalid-function-call"),
        ("greet()", "invalid-function-call"),
        ("greet(TABLE t, 1)", "invalid-function-call"),
        ("greet(TABLE t, k)", "unknown-column"),
        ("greet(data => TABLE t, uid => 'a b')", "invalid-function-call"),
        ("greet(data => TABLE t, on_time => DESCRIPTOR(v))", "invalid-function-call"),
        ("previous(TABLE t PARTITION BY nothing)", "unknown-column"),
        ("counted((SELECT k AS f0, v FROM t) PARTITION BY f0)", "duplicate-column"),
    ],
)
def test_invalid_calls_are_refused(env: TableEnvironment, sql: str, code: str) -> None:
    with pytest.raises(SchemaError) as caught:
        env.sql_query(f"SELECT * FROM {sql}")

    assert code == caught.value.code


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("reminders(TABLE t PARTITION BY k)", "the job failed"),
        ("previous((SELECT k, CAST(v AS STRING) AS v FROM t) PARTITION BY k)", "its result type"),
    ],
)
def test_errors_of_functions_fail_the_job(env: TableEnvironment, sql: str, message: str) -> None:
    with pytest.raises(ExternalError, match=message) as caught:
        rows_of(env, f"SELECT * FROM {sql}")

    assert caught.value.code == "job-failed"


class Paired(ProcessTableFunction):
    """Counts the rows of both tables of a partition; those of the left one set a timer."""

    def eval(
        self,
        ctx: ProcessContext,
        seen: Annotated[Counter, StateHint()],
        left: Optional,
        right: Optional,
        mark: str = "",
    ) -> Iterator[str]:
        seen.count += 1
        time = ctx.time()
        if left is not None and time is not None:
            ctx.register_on_time(time + dt.timedelta(seconds=1), "left")
        row = f"left {left.v}" if left is not None else f"right {right and right.w}"
        yield f"{seen.count} {row}{mark}"

    def on_timer(self, ctx: ProcessContext, seen: Counter) -> Iterator[str]:
        yield f"{ctx.current_timer()} after {seen.count}"


OTHER = (
    "(SELECT k AS n, v * 10 AS w, CAST(ts - INTERVAL '1.500' SECOND AS TIMESTAMP(3)) AS ts, 1 AS q"
    " FROM t WHERE v <> 2)"
)


def test_rows_of_several_tables_with_equal_keys_are_one_partition(env: TableEnvironment) -> None:
    """Without a time the rows of a table follow those of the tables before it."""
    rows = rows_of(
        env,
        f"SELECT * FROM paired(`left` => TABLE t PARTITION BY k, `right` => {OTHER} PARTITION BY n,"
        " mark => '!')",
    )

    assert [("b", "b", "1 left 2!"), (None, None, "1 left 4!"), (None, None, "2 right 40!")] == [
        row for row in rows if row[0] != "a"
    ]
    assert {("a", "a", "1 left 1!"), ("a", "a", "1 left 3!")} & set(rows)
    assert {("a", "a", "3 right 10!"), ("a", "a", "3 right 30!")} & set(rows)


def test_rows_of_several_tables_are_processed_in_the_order_of_their_times(
    env: TableEnvironment,
) -> None:
    sql = (
        f"paired(`left` => TABLE t PARTITION BY k, `right` => {OTHER} PARTITION BY n,"
        " on_time => DESCRIPTOR(ts))"
    )
    rows = rows_of(env, f"SELECT `EXPR$0`, rowtime FROM {sql} WHERE k = 'a'")

    assert [
        ("1 right 10", "2023-12-31 23:59:59.500000"),
        ("2 left 1", "2024-01-01 00:00:01"),
        ("3 right 30", "2024-01-01 00:00:01.500000"),
        ("4 left 3", "2024-01-01 00:00:03"),
        ("left after 4", "2024-01-01 00:00:04"),
    ] == [(text, str(time)) for text, time in rows]


@pytest.mark.parametrize(
    ("left", "right", "rest", "code"),
    [
        ("TABLE t PARTITION BY k", f"{OTHER}", "", "invalid-function-call"),
        ("TABLE t PARTITION BY k", f"{OTHER} PARTITION BY w", "", "invalid-function-call"),
        ("TABLE t PARTITION BY (k, v)", f"{OTHER} PARTITION BY n", "", "invalid-function-call"),
        ("TABLE t PARTITION BY k", f"{OTHER} PARTITION BY n", ", on_time => DESCRIPTOR(z)",
         "unknown-column"),
        ("TABLE t PARTITION BY k ORDER BY v", f"{OTHER} PARTITION BY n", "",
         "feature-not-supported"),
    ],
)  # fmt: skip
def test_invalid_calls_with_several_tables_are_refused(
    env: TableEnvironment, left: str, right: str, rest: str, code: str
) -> None:
    with pytest.raises(SchemaCoreError) as caught:
        env.sql_query(f"SELECT * FROM paired(`left` => {left}, `right` => {right}{rest})")

    assert code == caught.value.code


def test_several_tables_are_processed_by_partition() -> None:
    class Mixed(ProcessTableFunction):
        def eval(self, left: Partition, right: Single) -> Iterator[int]:
            yield 1

    class Passing(ProcessTableFunction):
        def eval(self, left: Passed, right: Partition) -> Iterator[int]:
            yield 1

    for function, problem in ((Mixed, "SET_SEMANTIC_TABLE"), (Passing, "PASS_COLUMNS_THROUGH")):
        with pytest.raises(SchemaError, match=problem) as caught:
            process_signature(function())
        assert "invalid-function" == caught.value.code


def test_timers_fire_in_the_order_of_their_times_however_many() -> None:
    """A timer with a name moves, and one that is cleared does not fire."""

    class Timed(ProcessTableFunction):
        def eval(self, ctx: ProcessContext, data: Partition) -> Iterator[int]:
            yield 1

    context = PartitionContext(process_signature(Timed()), (), "UTC", is_timed=True)
    start = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)
    context.enter(start, None)
    order = [(place * 7919) % 20_000 for place in range(20_000)]
    for second in order:
        context.register_on_time(start + dt.timedelta(seconds=second))
        context.register_on_time(start + dt.timedelta(seconds=second, milliseconds=1), "last")
    context.clear_timer(start)
    fired = list(iter(context.next_timer, None))

    assert sorted(timer.time for timer in fired) == [timer.time for timer in fired]
    assert 20_000 == len(fired)
    assert ["last"] == [timer.name for timer in fired if timer.name]


def test_signatures_without_a_table_are_refused(env: TableEnvironment) -> None:
    class Scalar(ProcessTableFunction):
        def eval(self, value: int) -> Iterator[int]:
            yield value

    with pytest.raises(SchemaError, match="no table") as caught:
        env.create_temporary_function("scalar_only", Scalar)
    assert caught.value.code == "invalid-function"


# --- Table API ------------------------------------------------------------------------------------


def test_the_table_api_calls_functions(env: TableEnvironment) -> None:
    table = env.from_path("t").select(col("k"), col("v"))
    partitions = table.partition_by(col("k")).order_by(col("v").desc)

    def values(result: Table) -> list[tuple[object, ...]]:
        with result.execute().collect() as rows:
            return sorted((tuple(row) for row in rows), key=repr)

    counted = [("a", 2, 3), ("a", 4, 1), ("b", 2, 2), (None, 2, 4)]
    assert counted == values(partitions.process(udptf(Count), 2))
    assert counted == values(partitions.process("counted", lit(2).as_argument("step")))
    assert [("2",), ("Hi b",)] == values(table.where(col("v") == 2).process("greet", "Hi"))
    assert [("INSERT", "b", 2)] == values(table.where(col("v") == 2).to_changelog())
    kinds = table.where(col("v") == 2).to_changelog(descriptor("kind").as_argument("op"))
    assert [("b", 2)] == values(kinds.from_changelog(descriptor("kind").as_argument("op")))
    with pytest.raises(SchemaError) as caught:
        table.process("UPPER")
    assert caught.value.code == "invalid-function-call"


# --- unbounded tables -----------------------------------------------------------------------------


@pytest.fixture
def streaming(session: SparkSession, tmp_path: Path) -> TableEnvironment:
    """A streaming environment with an unbounded table of three files."""
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode(), spark=session)
    for name, function in FUNCTIONS.items():
        env.create_temporary_function(name, function)
    lines = ["a,1\nb,2\n", "a,3\n,4\n", "b,5\na,6\n"]
    for number, text in enumerate(lines):
        (tmp_path / f"{number}").write_text(text, encoding="utf-8")
        os.utime(tmp_path / f"{number}", (1_700_000_000 + number,) * 2)
    env.execute_sql(
        "CREATE TABLE t (k STRING, v INT, ts AS TO_TIMESTAMP_LTZ(v, 0), WATERMARK FOR ts AS ts)"
        f" WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'csv',"
        " 'csv.null-literal' = '', 'source.monitor-interval' = '50 ms')"
    )
    return env


@pytest.mark.usefixtures("one_task", "one_file_at_a_time")
def test_functions_of_partitions_keep_their_state_between_micro_batches(
    streaming: TableEnvironment,
) -> None:
    sql = (
        "SELECT 'previous', k, CAST(v AS STRING), CAST(`EXPR$0` AS STRING)"
        " FROM previous(TABLE t PARTITION BY k)"
        " UNION ALL SELECT 'total', '', '', CAST(`EXPR$0` AS STRING) FROM total(TABLE t)"
        " UNION ALL SELECT 'paired', k, n, `EXPR$0` FROM paired(`left` => TABLE t PARTITION BY k,"
        " `right` => (SELECT k AS n, v * 10 AS w FROM t) PARTITION BY n)"
        " UNION ALL SELECT 'greet', '', '', `EXPR$0` FROM greet((SELECT k, k FROM t WHERE v > 4))"
    )
    streaming.create_temporary_function("paired", Sums)
    rows = sorted((list(map(str, row)) for row in changelog(streaming, sql)), key=repr)

    assert sorted([
        *(["previous", key, value, last] for key, value, last in (
            ("a", "1", "None"), ("b", "2", "None"), ("a", "3", "1"), ("None", "4", "None"),
            ("b", "5", "2"), ("a", "6", "3"))),
        *(["total", "", "", total] for total in ("1", "3", "6", "10", "15", "21")),
        # the row of each table is added to the sum of the partition
        *(["paired", key, key, total] for key, totals in (
            ("a", "1 11 14 44 50 110"), ("b", "2 22 27 77"), ("None", "4 44"))
          for total in totals.split()),
        *(["greet", "", "", text] for text in ("Hello b", "b", "Hello a", "a")),
    ], key=repr) == rows  # fmt: skip


@pytest.mark.usefixtures("one_task", "one_file_at_a_time")
@pytest.mark.parametrize(
    ("time", "order"),
    [
        pytest.param(
            "TIMESTAMPADD(SECOND, s, TIMESTAMP '2024-01-01 00:00:00')", "", marks=pytest.mark.slow
        ),
        ("TO_TIMESTAMP_LTZ(1704067200 + s, 0)", "ORDER BY ts"),
    ],
)
def test_timers_fire_when_the_watermark_has_passed_them(
    streaming: TableEnvironment, tmp_path: Path, time: str, order: str
) -> None:
    """Also of partitions without new rows; those that have fired are not returned again."""
    streaming.execute_sql("SET 'table.local-time-zone' = 'Asia/Tokyo'")
    place = tmp_path / "timed"
    place.mkdir()
    lines = ["a,1,0\nb,1,0\n", "a,2,3\n", "c,1,65\n"]
    for number, text in enumerate(lines):
        (place / f"{number}").write_text(text, encoding="utf-8")
        os.utime(place / f"{number}", (1_700_000_000 + number,) * 2)
    streaming.execute_sql(
        f"CREATE TEMPORARY TABLE timed (k STRING, v INT, s INT, ts AS {time},"
        f" WATERMARK FOR ts AS ts) WITH ('connector' = 'filesystem', 'path' = '{place}',"
        " 'format' = 'csv', 'source.monitor-interval' = '50 ms')"
    )
    table = f"TABLE timed PARTITION BY k {order}"
    sql = f"SELECT * FROM reminders(data => {table}, on_time => DESCRIPTOR(ts))"
    rows = [
        (key, name, count, time.minute * 60 + time.second)
        for key, name, count, time in changelog(streaming, sql)
    ]
    streaming.execute_sql("DROP TEMPORARY TABLE timed")
    streaming.execute_sql("RESET 'table.local-time-zone'")

    assert sorted(rows) == sorted([
        ("a", "row a", 1, 0), ("b", "row b", 1, 0),
        # the timers of the first rows, when the second row of `a` has moved the watermark
        ("a", "row a", 2, 3), ("a", "timer", 12, 1), ("b", "timer", 11, 1),
        # the last timer of `a` moved, and fires later than that of `b`
        ("c", "row c", 1, 65), ("a", "timer", 22, 5), ("a", "last", 32, 63), ("b", "last", 21, 60),
    ])  # fmt: skip


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (
            (
                "reminders(data => (SELECT k, v, PROCTIME() AS p FROM t) PARTITION BY k,"
                " on_time => DESCRIPTOR(p))"
            ),
            "the function reminders with timers by another column than a rowtime",
        ),
        (
            "counted(TABLE t PARTITION BY k ORDER BY v)",
            "the function counted with ORDER BY that does not begin with a time attribute,",
        ),
        (
            "counted(TABLE t PARTITION BY k ORDER BY ts DESC)",
            "the function counted with ORDER BY that does not begin with a time attribute,",
        ),
        (
            "counted((SELECT k, COUNT(*) AS v FROM t GROUP BY k) PARTITION BY k)",
            "the function counted of rows that are updated",
        ),
        (
            "greet((SELECT k, CAST(COUNT(*) AS STRING) FROM t GROUP BY k))",
            "the function greet of rows that are updated",
        ),
    ],
)
def test_calls_that_are_refused_for_unbounded_tables(
    streaming: TableEnvironment, call: str, problem: str
) -> None:
    with pytest.raises(UnsupportedError) as caught:
        streaming.explain_sql(f"SELECT * FROM {call}")

    assert "streaming-not-supported" == caught.value.code
    assert caught.value.problem.startswith(problem)
