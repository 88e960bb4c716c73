"""The planner of Spark: rows, names and types of Flink, and jobs that are visible as a whole."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from threading import Event
from typing import Any, Protocol

import pytest

from schema_core.environment import session as sessions
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.jobs.graph import JobGraph
from schema_core.environment.jobs.run import JobStatus
from schema_core.environment.planner import Planner, PlannerContext, Rows
from schema_core.environment.result import TableResult
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import NotFoundError, SchemaCoreError, SchemaError, UnsupportedError
from schema_core.query.relation import Relation, result_columns
from schema_core.spark.planner import SparkPlanner
from schema_core.sql.printer import print_string
from schema_core.types import Row
from tests.spark.planner_cases import QUERIES, VALUES, QueryCase

#: The rows of a new table of `MakePlannerTable`, and those that a job adds.
OLD, NEW = [(1, "x"), (2, None)], [(3, "y"), (4, "z")]

#: The statement that adds `NEW`.
INSERT = "INSERT INTO {} VALUES (3, 'y'), (4, 'z')"

#: After how many seconds a job that was cancelled counts as stuck.
TIMEOUT_MS = 120_000

#: A query whose last row cannot be computed.
FAILING = "SELECT CAST(b AS INT) AS a, b FROM (VALUES ('5'), ('no number')) AS v (b)"


class MakePlannerTable(Protocol):
    """Creates a table of the planner."""

    def __call__(
        self,
        columns: str = "a INT, b STRING",
        *,
        rows: bool = True,
        clauses: str = "",
        options: Mapping[str, str] | None = None,
    ) -> str:
        """Return the name of a new table.

        Args:
            columns: The columns and constraints, in SQL.
            rows: Whether it holds the rows `OLD`.
            clauses: Further clauses, such as PARTITIONED BY.
            options: Further options.
        """


class Recorder:
    """A planner that records what another one returns, and calls a function with its jobs."""

    def __init__(self, planner: Planner) -> None:
        self.planner = planner
        self.selected: list[tuple[Relation, Rows]] = []
        self.prepared: Callable[[JobGraph], None] = lambda graph: None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.planner, name)

    def select(self, query: Relation) -> Rows:
        """Record the result of a query."""
        result = self.planner.select(query)
        self.selected.append((query, result))
        return result

    def insert(self, *arguments: Any, **more: Any) -> JobGraph:
        """Pass the prepared job on."""
        graph = self.planner.insert(*arguments, **more)
        self.prepared(graph)
        return graph

    def create_as(self, *arguments: Any, **more: Any) -> JobGraph:
        """Pass the prepared job on."""
        graph = self.planner.create_as(*arguments, **more)
        self.prepared(graph)
        return graph


class Events:
    """A job status hook that records its calls, and calls a function before that."""

    def __init__(self, call: Callable[[str, str], None] = lambda event, job: None) -> None:
        self.seen: list[str] = []
        self._call = call

    def _called(self, event: str, job_id: str) -> None:
        self.seen.append(event)
        self._call(event, job_id)

    def on_created(self, job_id: str) -> None:
        self._called("created", job_id)

    def on_finished(self, job_id: str) -> None:
        self._called("finished", job_id)

    def on_failed(self, job_id: str, error: BaseException) -> None:
        self._called("failed", job_id)

    def on_canceled(self, job_id: str) -> None:
        self._called("canceled", job_id)


def table_options(directory: Path) -> dict[str, str]:
    """Return the options of a new table without rows."""
    directory.mkdir(exist_ok=True)
    return {"connector": "filesystem", "path": str(directory), "format": "parquet"}


class TestSparkPlanner:
    # --- fixtures --------------------------------------------------------------------------------

    @pytest.fixture(scope="class")
    @classmethod
    def planner(cls) -> Iterator[list[Recorder]]:
        """Return the planners of the environments, the last one last."""
        made: list[Recorder] = []

        def find(identifier: str, context: PlannerContext) -> Recorder:
            made.append(Recorder(SparkPlanner(context)))
            return made[-1]

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sessions, "find_planner", find)
            yield made

    @pytest.fixture(scope="class")
    @classmethod
    def environment(cls, spark: Any, planner: list[Recorder]) -> TableEnvironment:  # noqa: ARG003
        """Return the environment of the tests of a class."""
        settings = EnvironmentSettings.in_batch_mode()
        return TableEnvironment.create(settings, spark=spark)

    @pytest.fixture
    def recorder(
        self, environment: TableEnvironment, planner: list[Recorder]
    ) -> Iterator[Recorder]:
        """Return the planner of the environment."""
        environment.execute_sql("EXPLAIN SELECT 1 AS a")
        yield planner[-1]
        planner[-1].prepared = lambda graph: None

    @pytest.fixture(scope="class")
    @classmethod
    def numbers(cls) -> Iterator[int]:
        """Return the numbers of tables."""
        return count()

    @pytest.fixture
    def table(
        self, environment: TableEnvironment, tmp_path: Path, numbers: Iterator[int]
    ) -> MakePlannerTable:
        """Return a function that creates tables."""

        def make(
            columns: str = "a INT, b STRING",
            *,
            rows: bool = True,
            clauses: str = "",
            options: Mapping[str, str] | None = None,
        ) -> str:
            name = f"t{next(numbers)}"
            every = {**table_options(tmp_path / name), **(options or {})}
            environment.execute_sql(f"CREATE TABLE {name} ({columns}) {clauses} {_with(every)}")
            if rows:
                statement = f"INSERT INTO {name} VALUES (1, 'x'), (2, CAST(NULL AS STRING))"
                environment.execute_sql(statement).wait()
            return name

        return make

    @pytest.fixture
    def read(self, environment: TableEnvironment) -> Callable[[str], list[tuple[Any, ...]]]:
        """Return a function that returns the rows of a table, sorted."""

        def rows(name: str) -> list[tuple[Any, ...]]:
            return _sorted(_rows(environment.execute_sql(f"SELECT a, b FROM {name}")))

        return rows

    # --- queries ---------------------------------------------------------------------------------

    @pytest.mark.parametrize("name", QUERIES)
    def test_a_query_has_the_rows_of_flink(
        self, environment: TableEnvironment, recorder: Recorder, name: str
    ) -> None:
        case = QUERIES[name]
        result = _rows(environment.execute_sql(case.sql))
        assert list(case.rows) == result if case.ordered else _sorted(case.rows) == _sorted(result)
        _check_columns(recorder, case)

    @pytest.mark.parametrize("name", VALUES)
    def test_a_value_is_that_of_python(
        self, environment: TableEnvironment, recorder: Recorder, name: str
    ) -> None:
        """Values have the Python types that `Rows` documents, and the strings of Flink."""
        case = VALUES[name]
        ((value,),) = _rows(environment.execute_sql(f"SELECT {case.sql} AS c"))
        value = tuple(value) if isinstance(value, Row) else value
        assert repr(case.value) == repr(value)
        _, rows = recorder.selected[-1]
        assert [(case.shown,)] == list(rows.format_rows())

    def test_results_are_read_independently(
        self, environment: TableEnvironment, recorder: Recorder
    ) -> None:
        """Rows are read while another query runs, and after it."""
        sql = QUERIES["VALUES"].sql
        first, second = environment.execute_sql(sql), environment.execute_sql(sql)
        with first.collect() as one, second.collect() as two:
            result = [tuple(next(one)), tuple(next(two)), tuple(next(one)), tuple(next(two))]
        assert [(1, "a"), (1, "a"), (2, "bcd"), (2, "bcd")] == sorted(result)

    def test_queries_run_on_several_threads(self, environment: TableEnvironment) -> None:
        """An environment may be used by several threads."""
        sql = [f"SELECT {number} AS a" for number in range(6)]
        with ThreadPoolExecutor(3) as pool:
            result = list(pool.map(lambda item: _rows(environment.execute_sql(item)), sql))
        assert [[(number,)] for number in range(6)] == result

    def test_a_query_that_fails_is_reported(self, environment: TableEnvironment) -> None:
        """With an error of the library, and the next query runs."""
        with pytest.raises(SchemaCoreError) as caught:
            _rows(environment.execute_sql(FAILING))
        assert caught.value.code
        assert [(1, "x")] == _rows(environment.execute_sql(QUERIES["literals"].sql))

    def test_a_view_is_read(self, environment: TableEnvironment, numbers: Iterator[int]) -> None:
        """The environment puts its query in its place."""
        name = f"v{next(numbers)}"
        environment.execute_sql(f"CREATE TEMPORARY VIEW {name} (c) AS {QUERIES['comparison'].sql}")
        assert [(2,)] == _rows(environment.execute_sql(f"SELECT c FROM {name}"))

    def test_a_query_is_explained(self, environment: TableEnvironment, recorder: Recorder) -> None:
        """EXPLAIN runs nothing."""
        before = len(recorder.selected)
        assert environment.explain_sql(QUERIES["comparison"].sql).strip()
        assert before == len(recorder.selected)

    # --- tables ----------------------------------------------------------------------------------

    def test_a_table_of_no_connector_is_refused(
        self, environment: TableEnvironment, tmp_path: Path, numbers: Iterator[int]
    ) -> None:
        """An unknown table is not read as empty, and its rows are not dropped."""
        name = f"t{next(numbers)}"
        options = {**table_options(tmp_path), "connector": "no-such-connector"}
        environment.execute_sql(f"CREATE TABLE {name} (a INT, b STRING) {_with(options)}")
        for statement in (f"SELECT a FROM {name}", INSERT.format(name)):
            with pytest.raises(SchemaCoreError) as caught:
                _finish(environment.execute_sql(statement))
            assert caught.value.code

    def test_rows_are_read_as_written(self, table: MakePlannerTable, read: Any) -> None:
        """Also after a second INSERT."""
        assert OLD == read(table())

    def test_a_table_without_rows_is_read(self, table: MakePlannerTable, read: Any) -> None:
        """Its columns are those of its definition."""
        assert [] == read(table(rows=False))

    def test_inserts_append(
        self, environment: TableEnvironment, table: MakePlannerTable, read: Any
    ) -> None:
        """The rows of earlier jobs stay."""
        name = table()
        environment.execute_sql(INSERT.format(name)).wait()
        assert OLD + NEW == read(name)

    def test_columns_are_matched(
        self, environment: TableEnvironment, table: MakePlannerTable, read: Any
    ) -> None:
        """By position, or in the order of the list; those not in the list are NULL."""
        name = table(rows=False)
        environment.execute_sql(f"INSERT INTO {name} (b, a) VALUES ('x', 1)").wait()
        environment.execute_sql(f"INSERT INTO {name} (a) VALUES (2)").wait()
        assert OLD == read(name)

    def test_values_are_cast_to_the_columns(
        self, environment: TableEnvironment, table: MakePlannerTable
    ) -> None:
        """INT to BIGINT, and a literal to STRING: the rows have the types of the table."""
        name = table("a BIGINT, b STRING")
        environment.execute_sql(f"INSERT INTO {name} VALUES (9223372036854775807, 'y')").wait()
        result = _rows(environment.execute_sql(f"SELECT a, b FROM {name} WHERE a > 1"))
        assert [(2, None), (9223372036854775807, "y")] == _sorted(result)

    def test_null_in_a_not_null_column_is_refused(
        self, environment: TableEnvironment, table: MakePlannerTable, read: Any
    ) -> None:
        """No row of the statement is written."""
        name = table("a INT NOT NULL, b STRING", rows=False)
        environment.execute_sql(f"INSERT INTO {name} VALUES (1, 'x')").wait()
        with pytest.raises(SchemaCoreError) as caught:
            environment.execute_sql(
                f"INSERT INTO {name} VALUES (3, 'y'), (CAST(NULL AS INT), 'z')"
            ).wait()
        assert caught.value.code
        assert [(1, "x")] == read(name)

    @pytest.mark.parametrize(
        ("columns", "clauses", "statement", "expected"),
        [
            ("a INT, b STRING", "", "INSERT OVERWRITE {} VALUES (3, 'y'), (4, 'z')", NEW),
            ("a INT, b STRING, c AS a + 1", "", INSERT, NEW),
            ("a INT, b STRING", "PARTITIONED BY (b)", INSERT, NEW),
            (
                "a INT, b STRING",
                "PARTITIONED BY (b)",
                "INSERT INTO {} PARTITION (b = 'y') SELECT 3",
                NEW[:1],
            ),
            ("a INT, b STRING, PRIMARY KEY (a) NOT ENFORCED", "", INSERT, NEW),
        ],
        ids=["OVERWRITE", "computed", "partitioned", "PARTITION", "PRIMARY KEY"],
    )
    def test_a_write_has_its_clauses(
        self,
        environment: TableEnvironment,
        table: MakePlannerTable,
        read: Any,
        columns: str,
        clauses: str,
        statement: str,
        expected: list[tuple[Any, ...]],
    ) -> None:
        """No clause of a table or of INSERT is ignored."""
        name = table(columns, clauses=clauses, rows=False)
        environment.execute_sql(statement.format(name)).wait()
        assert expected == read(name)

    def test_buckets_of_files_are_refused(
        self, environment: TableEnvironment, table: MakePlannerTable
    ) -> None:
        name = table(clauses="DISTRIBUTED BY HASH(a) INTO 2 BUCKETS", rows=False)
        with pytest.raises(UnsupportedError, match="buckets"):
            environment.execute_sql(INSERT.format(name)).wait()

    def test_a_computed_column_is_computed(
        self, environment: TableEnvironment, table: MakePlannerTable
    ) -> None:
        """It is not read from what is stored."""
        name = table("a INT, b STRING, c AS a IS NULL", rows=False)
        environment.execute_sql(INSERT.format(name)).wait()
        result = _rows(environment.execute_sql(f"SELECT c, a FROM {name}"))
        assert [(False, 3), (False, 4)] == _sorted(result)

    def test_overwriting_replaces(
        self, environment: TableEnvironment, table: MakePlannerTable, read: Any
    ) -> None:
        name = table()
        environment.execute_sql(f"INSERT OVERWRITE {name} VALUES (3, 'y'), (4, 'z')").wait()
        assert NEW == read(name)

    def test_unknown_options_are_refused(
        self, environment: TableEnvironment, table: MakePlannerTable
    ) -> None:
        """Those of the table, and those of hints."""
        wrong = table(rows=False, options={"no-such-option": "x"})
        right = table()
        hint = "/*+ OPTIONS('no-such-option' = 'x') */"
        for statement in (
            f"SELECT a FROM {wrong}",
            INSERT.format(wrong),
            f"SELECT a FROM {right} {hint}",
            INSERT.format(f"{right} {hint}"),
        ):
            with pytest.raises(SchemaCoreError) as caught:
                _finish(environment.execute_sql(statement))
            assert "no-such-option" in str(caught.value), statement

    # --- jobs ------------------------------------------------------------------------------------

    def test_a_job_has_a_name_and_its_tables(
        self, environment: TableEnvironment, recorder: Recorder, table: MakePlannerTable
    ) -> None:
        """The names of the tables that it writes are part of its description."""
        name, graphs = table(), list[JobGraph]()
        recorder.prepared = graphs.append
        environment.execute_sql(INSERT.format(name)).wait()
        (graph,) = graphs
        assert graph.name.strip()
        assert [name] == [sink.get_object_name() for sink in graph.sinks]

    def test_nothing_is_written_before_the_job(
        self, environment: TableEnvironment, recorder: Recorder, table: MakePlannerTable, read: Any
    ) -> None:
        """A prepared job that is aborted leaves nothing."""
        name, seen = table(), list[Any]()

        def prepared(graph: JobGraph) -> None:
            seen.append(read(name))
            graph.execution.abort()
            raise _StoppedError("the test stops here", code="job-canceled")

        recorder.prepared = prepared
        with pytest.raises(_StoppedError):
            environment.execute_sql(INSERT.format(name))
        recorder.prepared = lambda graph: None
        assert [OLD, OLD] == [*seen, read(name)]

    def test_hooks_are_called_before_and_after_the_rows_are_visible(
        self, environment: TableEnvironment, recorder: Recorder, table: MakePlannerTable, read: Any
    ) -> None:
        """`on_created` sees the old rows, `on_finished` all."""
        name, seen = table(), list[Any]()
        events = Events(lambda event, job: seen.append(read(name)))
        recorder.prepared = lambda graph: graph.register_job_status_hook(events)
        result = environment.execute_sql(INSERT.format(name))
        result.wait()
        assert ["created", "finished"] == events.seen
        assert [OLD, OLD + NEW] == seen
        assert JobStatus.FINISHED is _status(result)

    def test_a_hook_that_fails_keeps_the_job_from_starting(
        self, environment: TableEnvironment, recorder: Recorder, table: MakePlannerTable, read: Any
    ) -> None:
        """The job is aborted."""
        name = table()

        def fail(event: str, job_id: str) -> None:
            if event == "created":
                raise _StoppedError("the hook fails", code="job-hook-failed")

        events = Events(fail)
        recorder.prepared = lambda graph: graph.register_job_status_hook(events)
        result = environment.execute_sql(INSERT.format(name))
        with pytest.raises(_StoppedError):
            result.wait()
        assert (JobStatus.FAILED, ["created", "failed"]) == (_status(result), events.seen)
        assert OLD == read(name)

    def test_a_job_that_fails_leaves_no_rows(
        self, environment: TableEnvironment, recorder: Recorder, table: MakePlannerTable, read: Any
    ) -> None:
        """Rows that are computed before the error are not visible."""
        name, events = table(), Events()
        recorder.prepared = lambda graph: graph.register_job_status_hook(events)
        with pytest.raises(SchemaCoreError) as caught:
            environment.execute_sql(f"INSERT INTO {name} {FAILING}").wait()
        assert caught.value.code
        assert ["created", "failed"] == events.seen
        assert OLD == read(name)

    def test_a_job_that_is_cancelled_before_it_runs_leaves_no_rows(
        self, environment: TableEnvironment, recorder: Recorder, table: MakePlannerTable, read: Any
    ) -> None:
        """`JobExecution.cancel` may be called before `run`, which then raises."""
        name, graphs = table(), list[JobGraph]()

        def cancel(event: str, job_id: str) -> None:
            if event == "created":
                graphs[0].execution.cancel(job_id)

        def prepared(graph: JobGraph) -> None:
            graphs.append(graph)
            graph.register_job_status_hook(Events(cancel))

        recorder.prepared = prepared
        result = environment.execute_sql(INSERT.format(name))
        with pytest.raises(SchemaCoreError) as caught:
            result.wait(TIMEOUT_MS)
        assert "job-canceled" == caught.value.code
        assert JobStatus.CANCELED is _status(result)
        assert OLD == read(name)

    def test_a_job_that_is_cancelled_before_its_commit_leaves_no_rows(
        self, environment: TableEnvironment, recorder: Recorder, table: MakePlannerTable, read: Any
    ) -> None:
        """All rows are written, and none is visible; the next job is not affected."""
        name, events, seen = table(), Events(), list[Any]()
        jobs: list[TableResult] = []
        ready = Event()

        def cancel() -> None:
            assert ready.wait(TIMEOUT_MS / 1000)
            seen.append(read(name))
            client = jobs[0].get_job_client()
            assert client is not None
            client.cancel()

        def prepared(graph: JobGraph) -> None:
            graph.register_job_status_hook(events)
            graph.before_commit.append(cancel)

        recorder.prepared = prepared
        jobs.append(environment.execute_sql(INSERT.format(name)))
        ready.set()
        with pytest.raises(SchemaCoreError) as caught:
            jobs[0].wait(TIMEOUT_MS)
        assert "job-canceled" == caught.value.code
        assert (JobStatus.CANCELED, ["created", "canceled"]) == (_status(jobs[0]), events.seen)
        assert [OLD, OLD] == [*seen, read(name)]
        recorder.prepared = lambda graph: None
        environment.execute_sql(INSERT.format(name)).wait()
        assert OLD + NEW == read(name)

    def test_a_statement_set_is_one_job(
        self, environment: TableEnvironment, recorder: Recorder, table: MakePlannerTable, read: Any
    ) -> None:
        """If it is stopped before its commit, none of its tables has changed."""
        names = [table(), table()]

        def stop() -> None:
            raise _StoppedError("the test stops here", code="job-failed")

        for stopped in (True, False):
            recorder.prepared = lambda graph: graph.before_commit.extend([stop] * stopped)  # noqa: B023
            statements = environment.create_statement_set()
            for name in names:
                statements.add_insert_sql(INSERT.format(name))
            if stopped:
                with pytest.raises(_StoppedError):
                    statements.execute().wait()
                assert [OLD, OLD] == list(map(read, names))
            else:
                statements.execute().wait()
                assert [OLD + NEW] * 2 == list(map(read, names))

    # --- CREATE TABLE AS -------------------------------------------------------------------------

    def test_a_table_is_created_from_a_query(
        self, environment: TableEnvironment, table: MakePlannerTable, tmp_path: Path, read: Any
    ) -> None:
        name = f"{table(rows=False)}_as"
        options = table_options(tmp_path / name)
        query = QUERIES["OR"].sql
        environment.execute_sql(f"CREATE TABLE {name} {_with(options)} AS {query}").wait()
        assert _sorted(QUERIES["OR"].rows) == read(name)

    def test_a_creation_that_fails_leaves_no_table(
        self,
        environment: TableEnvironment,
        recorder: Recorder,
        table: MakePlannerTable,
        tmp_path: Path,
    ) -> None:
        """With the option ``table.rtas-ctas.atomicity-enabled``."""
        name = f"{table(rows=False)}_as"
        options = table_options(tmp_path / name)

        def stop() -> None:
            raise _StoppedError("the test stops here", code="job-failed")

        recorder.prepared = lambda graph: graph.before_commit.append(stop)
        config = environment.get_config()
        config.set("table.rtas-ctas.atomicity-enabled", "true")
        try:
            with pytest.raises(_StoppedError):
                environment.execute_sql(
                    f"CREATE TABLE {name} {_with(options)} AS {QUERIES['OR'].sql}"
                ).wait()
        finally:
            config.set("table.rtas-ctas.atomicity-enabled", "false")
        assert not _exists(environment, name)


# --- helpers -------------------------------------------------------------------------------------


class _StoppedError(SchemaError):
    """The error by which a test stops a job."""


def _rows(result: TableResult) -> list[tuple[Any, ...]]:
    with result.collect() as rows:
        return [tuple(row) for row in rows]


def _finish(result: TableResult) -> None:
    """Read the rows of a query, or wait for the job of another statement."""
    if result.job is None:
        _rows(result)
    else:
        result.wait()


def _sorted(rows: Collection[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return rows in an order in which NULL is last."""
    return sorted(rows, key=lambda row: [(cell is None, repr(cell)) for cell in row])


def _with(options: Mapping[str, str]) -> str:
    listed = (f"{print_string(key)} = {print_string(value)}" for key, value in options.items())
    return f"WITH ({', '.join(listed)})"


def _exists(environment: TableEnvironment, name: str) -> bool:
    try:
        environment.from_path(name)
    except NotFoundError:
        return False
    return True


def _status(result: TableResult) -> JobStatus:
    client = result.get_job_client()
    assert client is not None
    return client.get_job_status().result()


def _check_columns(recorder: Recorder, case: QueryCase) -> None:
    """Assert that the last result has the names and types of its query."""
    query, rows = recorder.selected[-1]
    expected = [(column.name, str(column.type)) for column in result_columns(query)]
    assert list(case.columns) == [name for name, _ in expected]
    assert expected == [(name, str(type_)) for name, type_ in rows.columns]
