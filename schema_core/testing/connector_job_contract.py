"""The part of the contract of connectors about jobs: stages, micro-batches, streams and changes."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import field, replace
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from schema_core.base.lazy import dataclass
from schema_core.catalog.objects import ResolvedCatalogTable
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.connector import (
    Ability,
    Boundedness,
    DeliveryGuarantee,
    boundedness_of,
    delivery_guarantee_of,
)
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import ExternalError, UnsupportedError
from schema_core.spark.changelog import ROW_KIND, SupportsChangelogRead, SupportsChangelogWrite
from schema_core.spark.connector import (
    MicroBatch,
    ReadContext,
    SupportsCleanUp,
    SupportsMicroBatches,
    SupportsRecovery,
    SupportsStatisticReport,
    SupportsStreamingRead,
    WriteContext,
    stages,
)
from schema_core.spark.filters import Filter, FilterResult
from schema_core.spark.streaming.batch_writes import write_batch
from schema_core.sql.printer import print_string
from schema_core.testing.killed_writes import (
    DONE,
    Delegate,
    HeldWrite,
    active_settings,
    kill_writes,
)

if TYPE_CHECKING:
    from schema_core.environment.connector import Connector

#: Identifiers of jobs.
JOB, OTHER_JOB, UNKNOWN_JOB = "a" * 32, "b" * 32, "c" * 32
#: Processes that write one table, and the statements of each.
PROCESSES, STATEMENTS = 2, 3


@dataclass(slots=True)
class MakeTable:
    """Creates tables of a connector.

    Attributes:
        environment: The environment of the tables.
        connector: The identifier of the connector.
        options: `ConnectorContract.options`.
        create: `ConnectorContract.create_physical_table`.
        directory: The directory of the test.
        numbers: The numbers of tables.
        definitions: Gets the statements that created the tables, by name.
    """

    environment: TableEnvironment
    connector: str
    options: Callable[[Path], Mapping[str, str]]
    create: Callable[[ResolvedCatalogTable], None]
    directory: Path
    numbers: Iterator[int]
    definitions: dict[str, str]
    _options: dict[str, Mapping[str, str]] = field(default_factory=dict)

    def __call__(
        self,
        columns: str,
        *,
        partitions: str = "",
        distribution: str = "",
        like: str | None = None,
        temporary: bool = False,
        options: Mapping[str, str] | None = None,
        without: str | None = None,
    ) -> str:
        """Return the name of a new table.

        Args:
            columns: Columns and constraints, in SQL.
            partitions: Partition keys, in SQL.
            distribution: What follows DISTRIBUTED BY.
            like: The table whose options the new one has.
            temporary: Whether the table is temporary.
            options: Further options.
            without: The key of an option to omit.
        """
        name = f"t{next(self.numbers)}"
        own = self.options(self.directory / name) if like is None else self._options[like]
        self._options[name] = own
        every = {"connector": self.connector, **own, **(options or {})}
        listed = ", ".join(
            f"{print_string(key)} = {print_string(value)}"
            for key, value in every.items()
            if key != without
        )
        by = f" DISTRIBUTED BY {distribution}" if distribution else ""
        by += f" PARTITIONED BY ({partitions})" if partitions else ""
        kind = "TEMPORARY TABLE" if temporary else "TABLE"
        self.definitions[name] = f"CREATE {kind} {name} ({columns}){by} WITH ({listed})"
        self.environment.execute_sql(self.definitions[name])
        if like is None and without is None:
            self.create(resolve_table(self.environment, name))
        return name


class _Recording(Delegate):
    """A connector whose reads and filters are recorded."""

    def __init__(self, connector: Any) -> None:
        super().__init__(connector, connector.abilities)
        self.reads: list[tuple[ReadContext, Any]] = []
        self.remaining: list[Filter] = []
        if isinstance(connector, SupportsStatisticReport):
            self.read_with_statistics: Any = self._read_with_statistics

    def read(self, context: ReadContext) -> Any:
        frame = self._connector.read(context)
        self.reads.append((context, frame))
        return frame

    def _read_with_statistics(self, context: ReadContext) -> Any:
        frame, names = cast("SupportsStatisticReport", self._connector).read_with_statistics(
            context
        )
        self.reads.append((context, frame))
        return frame, names

    def apply_filters(self, filters: Sequence[Filter], context: ReadContext) -> FilterResult:
        result: FilterResult = self._connector.apply_filters(filters, context)  # type: ignore[attr-defined]
        self.remaining += result.remaining
        return result


class ConnectorJobContract:
    """The tests of jobs, of which `ConnectorContract` has the fixtures and the attributes."""

    #: Options with which a table is unbounded, for a connector that streaming jobs read.
    stream_options: Mapping[str, str] = {}
    #: Options with which a table holds changes, for a connector that reads and writes them.
    changelog_options: Mapping[str, str] = {}
    #: Whether dropping a table deletes its rows, so that `clean_up` need not.
    drop_deletes_rows = False
    #: Seconds after which the rows of a streaming job count as lost.
    stream_timeout = 60.0

    in_process_only: str
    connector_path: str
    concurrent: bool
    kill_timeout: float

    def storage_files(self, directory: Path) -> Sequence[str]:
        """Return the files that a table has in the directory that `options` received.

        Override it for a connector that has them elsewhere.
        """
        return sorted(
            path.relative_to(directory).as_posix()
            for path in directory.rglob("*")
            if path.is_file()
        )

    # --- contexts --------------------------------------------------------------------------------

    @pytest.fixture
    def write_context(self, environment: TableEnvironment) -> Callable[..., WriteContext]:
        """Return a function that returns the context of a write of a table."""

        def make(name: str, **changes: Any) -> WriteContext:
            table, fields = context_fields(environment, name)
            return WriteContext(**fields, table=table, **changes)

        return make

    @pytest.fixture
    def frame(self, environment: TableEnvironment) -> Callable[..., Any]:
        """Return a function that returns rows of numbers, and a string each, for `write`."""

        def make(*numbers: int) -> Any:
            rows = ", ".join(f"({number}, 'x')" for number in numbers)
            query = f"SELECT a, CAST(b AS STRING) AS b FROM (VALUES {rows}) AS v(a, b)"
            return environment.sql_query(query).to_spark()

        return make

    # --- stages ----------------------------------------------------------------------------------

    def test_an_aborted_write_leaves_nothing(
        self, table: MakeTable, run: Any, connector: Any, write_context: Any, frame: Any,
        tmp_path: Path,
    ) -> None:  # fmt: skip
        """Rows are visible after `commit` only; `abort` removes rows and files."""
        need_write(connector)
        name = table("a INT, b STRING")
        context = write_context(name)
        if not stages(connector, context):
            pytest.skip("the connector does not stage rows")
        run(f"INSERT INTO {name} VALUES (1, 'x')")
        query = f"SELECT a FROM {name}"
        before = self.storage_files(tmp_path / name)

        with _staged(connector, frame(2), context) as stage:
            assert [(1,)] == run(query), "rows are visible before the commit"
            stage.abort()
        assert not stage.committed, "an aborted stage is committed"
        assert [(1,)] == run(query), "rows of an aborted job are visible"
        left = {*self.storage_files(tmp_path / name)} - {*before}
        assert not left, f"an aborted job leaves files: {sorted(left)}"

        with _staged(connector, frame(3), context) as stage:
            stage.commit()
            assert stage.committed, "a stage is not committed after `commit`"
            stage.abort()  # after an error of the job's registration, for example
        assert [(1,), (3,)] == run(query), "`abort` removes rows that are committed"

    def test_recovery(
        self, table: MakeTable, run: Any, connector: Any, write_context: Any, frame: Any
    ) -> None:
        """`was_committed` is whether the rows of a job are visible; `recover` keeps them."""
        name = table("a INT, b STRING")
        context = write_context(name, creates=True, job=JOB)
        if not stages(connector, context) or not isinstance(connector, SupportsRecovery):
            pytest.skip("the connector does not recover stages")
        need_write(connector)
        with _staged(connector, frame(1), context) as stage:
            assert not connector.was_committed(context, JOB), "`was_committed` before `commit`"
            stage.commit()
        assert connector.was_committed(context, JOB), "not `was_committed` after `commit`"
        connector.recover(context)
        assert [(1, "x")] == run(f"SELECT * FROM {name}"), "`recover` changes committed rows"

    def test_clean_up(
        self, table: MakeTable, run: Any, connector: Any, write_context: Any, frame: Any
    ) -> None:
        """`clean_up` removes the rows of a failed CREATE TABLE AS; it may be called repeatedly."""
        name = table("a INT, b STRING")
        context = write_context(name, creates=True, job=JOB)
        if not isinstance(connector, SupportsCleanUp) or stages(connector, context):
            pytest.skip("the connector does not clean up")
        if self.drop_deletes_rows:
            pytest.skip("rows are deleted with their table")
        need_write(connector)
        connector.write(frame(1, 2), context)
        for _ in range(2):
            connector.clean_up(context)
        assert [] == run(f"SELECT a FROM {name}"), "rows are left"
        run(f"INSERT INTO {name} VALUES (3, 'x')")
        assert [(3,)] == run(f"SELECT a FROM {name}")

    # --- micro-batches ---------------------------------------------------------------------------

    def test_micro_batches_are_written_as_guaranteed(
        self, environment: TableEnvironment, table: MakeTable, run: Any, connector: Any,
        write_context: Any, frame: Any,
    ) -> None:  # fmt: skip
        """A micro-batch that a restarted job repeats is there once, or at least once."""
        need_write(connector)
        name = table("a INT, b STRING")
        guarantee = delivery_guarantee_of(connector, resolve_table(environment, name).options)
        if guarantee is DeliveryGuarantee.NONE:
            pytest.skip("the connector guarantees nothing")
        is_once = guarantee is DeliveryGuarantee.EXACTLY_ONCE

        def write(number: int, *rows: int, job: str = JOB) -> None:
            batch = MicroBatch(job, number)
            write_batch(connector, frame(*rows), write_context(name, batch=batch))

        def require(*expected: int) -> None:
            numbers = sorted(row[0] for row in run(f"SELECT a FROM {name}"))
            assert {*expected} == {*numbers}, f"micro-batches left {numbers}"
            assert not is_once or len(numbers) == len(expected), f"rows are doubled: {numbers}"

        write(0, 1, 2)
        write(0, 1, 2)
        require(1, 2)
        write(3, 3)
        write(0, 4, job=OTHER_JOB)
        require(1, 2, 3, 4)
        if isinstance(connector, SupportsMicroBatches):
            context = write_context(name)
            batches = [connector.last_batch(context, job) for job in (JOB, OTHER_JOB, UNKNOWN_JOB)]
            assert [3, 0, None] == batches, "`last_batch` is not the number of the last micro-batch"

    # --- streams ---------------------------------------------------------------------------------

    def test_a_stream_continues_where_it_ended(
        self, environment: TableEnvironment, table: MakeTable, run: Any, connector: Any,
        definitions: Mapping[str, str], tmp_path: Path,
    ) -> None:  # fmt: skip
        """A restarted streaming job reads each row once, also those of the time between."""
        if not isinstance(connector, SupportsStreamingRead):
            pytest.skip("streaming jobs do not read the connector")
        need_write(connector)
        name = table("a INT, b STRING", options=self.stream_options)
        options = resolve_table(environment, name).options
        if boundedness_of(connector, options) is not Boundedness.CONTINUOUS_UNBOUNDED:
            pytest.skip("set `stream_options`, with which tables are unbounded")
        streaming = self._streaming_environment(environment, tmp_path)
        streaming.execute_sql(definitions[name])
        streaming.execute_sql(
            f"CREATE TABLE copied (a INT, b STRING) WITH ('connector' = 'filesystem', "
            f"'format' = 'json', 'path' = {print_string(str(tmp_path / 'copied'))})"
        )
        insert = f"INSERT INTO copied SELECT a, b FROM {name}"
        run(f"INSERT INTO {name} VALUES (1, 'x'), (2, 'x')")
        with _running(streaming, insert, self.stream_timeout):
            _await(streaming, [1, 2], "written before the job", self.stream_timeout)
            run(f"INSERT INTO {name} VALUES (3, 'x')")
            _await(streaming, [1, 2, 3], "written while the job ran", self.stream_timeout)
        run(f"INSERT INTO {name} VALUES (4, 'x')")
        with _running(streaming, insert, self.stream_timeout):
            _await(
                streaming, [1, 2, 3, 4], "written while the job was stopped", self.stream_timeout
            )
            run(f"INSERT INTO {name} VALUES (5, 'x')")
            _await(streaming, [1, 2, 3, 4, 5], "written after the restart", self.stream_timeout)

    def _streaming_environment(
        self, environment: TableEnvironment, directory: Path
    ) -> TableEnvironment:
        session = environment.sql_query("SELECT 1 AS a").to_spark().sparkSession
        streaming = TableEnvironment.create(EnvironmentSettings.in_streaming_mode(), spark=session)
        place = print_string(str(directory / "checkpoints"))
        streaming.execute_sql(f"SET 'execution.checkpointing.dir' = {place}")
        return streaming

    def test_changes_leave_their_rows(
        self, environment: TableEnvironment, table: MakeTable, run: Any, connector: Any,
        write_context: Any,
    ) -> None:  # fmt: skip
        """The rows of a table of changes are those that its changes leave."""
        reads = isinstance(connector, SupportsChangelogRead)
        if not reads or not isinstance(connector, SupportsChangelogWrite):
            pytest.skip("the connector does not read and write changes")
        columns = "k INT NOT NULL, v STRING, PRIMARY KEY (k) NOT ENFORCED"
        name = table(columns, options=self.changelog_options)
        options = resolve_table(environment, name).options
        if not connector.consumes_changes(options):
            pytest.skip("set `changelog_options`, with which tables hold changes")
        changes = [
            ("+I", 1, "a"), ("+I", 2, "b"), ("-U", 1, "a"), ("+U", 1, "c"), ("-D", 2, "b"),
            ("+I", 3, "d"),
        ]  # fmt: skip
        session = environment.sql_query("SELECT 1 AS a").to_spark().sparkSession
        schema = f"`{ROW_KIND}` STRING, k INT, v STRING"
        rows = session.createDataFrame(changes, schema).select("k", "v", ROW_KIND).coalesce(1)
        batch = MicroBatch(JOB, 0)
        write_batch(connector, rows, write_context(name, batch=batch, has_kinds=True))
        assert [(1, "c"), (3, "d")] == run(f"SELECT k, v FROM {name}")

    # --- reading ---------------------------------------------------------------------------------

    def test_accepted_filters_and_limits_are_applied(
        self, table: MakeTable, run: Any, connector: Any, installed: list[Any]
    ) -> None:
        """Rows of `read` satisfy the accepted filters that do not remain, up to the limit."""
        need_write(connector)
        if not connector.abilities & {Ability.FILTER_PUSH_DOWN, Ability.LIMIT_PUSH_DOWN}:
            pytest.skip("the connector pushes neither filters nor limits down")
        name = table("a INT, b STRING")
        nulls = "(CAST(NULL AS INT), 'x'), (4, CAST(NULL AS STRING))"
        run(f"INSERT INTO {name} VALUES (1, 'x'), (2, 'y'), {nulls}")
        queries = [
            f"SELECT a FROM {name} WHERE {condition}"
            for condition in ("a > 1", "a IS NULL", "b = 'x'", "a IN (1, 4) AND b IS NOT NULL")
        ]
        queries.append(f"SELECT a FROM (SELECT a FROM {name} LIMIT 1) AS q")
        recording = _Recording(connector)
        installed.append(recording)
        try:
            run(" UNION ALL ".join(queries))
        finally:
            installed.pop()
        for context, frame in recording.reads:
            for filter_ in context.filters:
                if filter_ not in recording.remaining:
                    others = frame.where(f"NOT coalesce({filter_.spark_sql}, FALSE)").take(1)
                    assert not others, f"the accepted filter {filter_} does not hold for {others}"
            if context.limit is not None:
                rows = frame.take(context.limit + 1)
                assert len(rows) <= context.limit, f"more rows than the limit {context.limit}"

    def test_columns_without_null_have_no_null(
        self, environment: TableEnvironment, table: MakeTable, run: Any, connector: Any
    ) -> None:
        """`read_with_statistics` returns only columns of which no row is NULL."""
        need_write(connector)
        if not isinstance(connector, SupportsStatisticReport):
            pytest.skip("the connector does not report statistics")
        name = table("a INT, b STRING, c INT")
        run(f"INSERT INTO {name} VALUES (1, CAST(NULL AS STRING), 2), (CAST(NULL AS INT), 'x', 3)")
        described, fields = context_fields(environment, name)
        context = ReadContext(**fields, table=described)
        frame, names = connector.read_with_statistics(context)
        for column in names:
            assert column in context.columns, f"{column!r} is not a column to read"
            assert not frame.where(frame[column].isNull()).take(1), f"{column!r} has a NULL"

    def test_options_of_hints_are_used(
        self, environment: TableEnvironment, table: MakeTable, run: Any, connector: Any
    ) -> None:
        """`context.options` has the options of a hint, which replace those of the table."""
        need_write(connector)
        first, second = table("a INT"), table("a INT")
        options, others = (resolve_table(environment, name).options for name in (first, second))
        hints = {key: value for key, value in others.items() if options.get(key) != value}
        if not hints or not options.keys() <= others.keys():
            pytest.skip("two tables have the same options")
        run(f"INSERT INTO {first} VALUES (1)")
        run(f"INSERT INTO {second} VALUES (2)")
        listed = ", ".join(f"{print_string(k)} = {print_string(v)}" for k, v in hints.items())
        query = f"SELECT a FROM {first} /*+ OPTIONS({listed}) */"
        assert [(2,)] == run(query), f"the options of the hint are ignored: {sorted(hints)}"

    # --- writing ---------------------------------------------------------------------------------

    def test_buckets(self, table: MakeTable, run: Any, connector: Any) -> None:
        """A table with buckets has all rows; refused without the ability."""
        need_write(connector)
        name = table("a INT, b STRING", distribution="HASH(a) INTO 3 BUCKETS")
        insert = f"INSERT INTO {name} VALUES (1, 'x'), (2, 'y'), (3, 'z')"
        if Ability.BUCKETS not in connector.abilities:
            with pytest.raises(UnsupportedError) as caught:
                run(insert)
            assert "unsupported-ability" == caught.value.code
            return
        try:
            run(insert)
        except UnsupportedError:
            return  # the connector refuses buckets of this kind
        rows = [(1, "x"), (2, "y"), (3, "z")]
        assert rows == run(f"SELECT * FROM {name}")
        assert [(2, "y")] == run(f"SELECT * FROM {name} WHERE a = 2")

    def test_processes_write_at_the_same_time(
        self, table: MakeTable, run: Any, connector: Any, definitions: Mapping[str, str]
    ) -> None:
        """The rows of several processes that append to a table are all there, each once."""
        need_write(connector)
        if Ability.STAGING not in connector.abilities or not self.concurrent:
            pytest.skip("several jobs cannot append to a table")
        if self.in_process_only or not hasattr(os, "killpg"):
            pytest.skip(self.in_process_only or "the system cannot end a process with its JVM")
        name = table("a INT")
        run(f"INSERT INTO {name} VALUES (0)")
        path = self.connector_path or import_path(type(connector))

        def write(process: int) -> None:
            numbers = [10 * (process + 1) + statement for statement in range(STATEMENTS)]
            *first, last = [f"INSERT INTO {name} VALUES ({number})" for number in numbers]
            held = HeldWrite(name, (definitions[name], *first), last, DONE)
            states = kill_writes(path, [held], active_settings(), self.kill_timeout)
            assert states[name].name == DONE, states[name].error

        with ThreadPoolExecutor(PROCESSES) as pool:
            list(pool.map(write, range(PROCESSES)))
        expected = [
            (10 * (process + 1) + statement,)
            for process in range(PROCESSES)
            for statement in range(STATEMENTS)
        ]
        assert sorted([(0,), *expected]) == sorted(run(f"SELECT a FROM {name}"))


def need_write(connector: Connector) -> None:
    """Skip a test of rows that are written and read back, for a connector that does not do both."""
    if not (connector.can_read and connector.can_write):
        pytest.skip("the connector does not read what it writes")


def resolve_table(environment: TableEnvironment, name: str) -> ResolvedCatalogTable:
    """Return a table of an environment."""
    entry = environment.find_table(name)
    assert entry is not None
    assert isinstance(entry.table, ResolvedCatalogTable)
    return entry.table


def import_path(connector: type) -> str:
    """Return where another process finds a class, which has to be at the top of a module."""
    name, module = connector.__qualname__, sys.modules.get(connector.__module__)
    assert module is not None, "set connector_path"
    assert "<locals>" not in name, "set connector_path"
    spec = getattr(module, "__spec__", None)
    file = getattr(module, "__file__", None)
    if spec is None or not _is_importable(spec.name):
        assert file, "set connector_path"
        return f"{file}:{name}"
    return f"{spec.name}:{name}"


def _is_importable(module: str) -> bool:
    try:
        return PathFinder.find_spec(module.partition(".")[0]) is not None
    except (ImportError, ValueError):
        return False


def context_fields(
    environment: TableEnvironment, name: str
) -> tuple[ResolvedCatalogTable, dict[str, Any]]:
    """Return a table, and the other attributes of the context of a job."""
    entry = environment.find_table(name)
    assert entry is not None
    fields = {
        "identifier": entry.identifier,
        "configuration": environment.get_config().get_configuration().to_dict(),
        "session": environment.sql_query("SELECT 1 AS a").to_spark().sparkSession,
        "zone": "UTC",
    }
    return resolve_table(environment, name), fields


@contextmanager
def _staged(connector: Any, frame: Any, context: WriteContext) -> Iterator[Any]:
    """Yield the stage of rows that are written and prepared; it is aborted if the block raises."""
    stage = connector.stage(context)
    try:
        connector.write(frame, replace(context, stage=stage))
        stage.prepare()
        yield stage
    except BaseException:
        stage.abort()
        raise


@contextmanager
def _running(environment: TableEnvironment, insert: str, timeout: float) -> Iterator[None]:
    """Run a streaming job in the block."""
    job = environment.execute_sql(insert).get_job_client()
    assert job is not None
    try:
        yield
    finally:
        job.cancel().result(timeout)


def _await(
    environment: TableEnvironment, expected: Sequence[int], when: str, timeout: float
) -> None:
    """Require that the table `copied` gets exactly the expected rows in time."""
    deadline, numbers = time.monotonic() + timeout, list[int]()
    while time.monotonic() < deadline:
        with suppress(ExternalError):  # there is no directory before the first micro-batch
            with environment.execute_sql("SELECT a FROM copied").collect() as rows:
                numbers = sorted(row[0] for row in rows)
            doubled = sorted({number for number in numbers if numbers.count(number) > 1})
            assert not doubled, f"rows {when} are read twice: {doubled}"
            if numbers == [*expected]:
                return
        time.sleep(0.1)
    lost = sorted({*expected} - {*numbers})
    raise AssertionError(f"rows {when} are lost: {lost}; the job has read {numbers}")
