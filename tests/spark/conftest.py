"""Fixtures: the job session within the Spark that all tests share, and tables of files.

With the option ``--connect`` the fixtures `session` and `environment` are those of Spark Connect. A
test that needs what is refused there is skipped, with the reason.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fuzz.server_processes import free_port
from schema_core.base.paths import ObjectIdentifier
from schema_core.catalog.objects import CatalogTable
from schema_core.catalog.resolve import resolve_table
from schema_core.connectors.files.file_layout import FileLayout
from schema_core.environment import connector as module
from schema_core.environment.config import EnvironmentSettings
from schema_core.environment.connector import Ability, Connector
from schema_core.environment.option_references import OptionReferences
from schema_core.environment.options import ConfigOption, integer
from schema_core.environment.planner import BoundTable
from schema_core.environment.table_environment import TableEnvironment
from schema_core.errors import SchemaCoreError
from schema_core.schema.resolve import SchemaResolver
from schema_core.schema.unresolved import Schema
from schema_core.spark.streaming.micro_batches import MicroBatches
from schema_core.types import DataType

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from schema_core.environment.jobs.atomicity import Stage
    from schema_core.spark.connector import ReadContext, WriteContext


#: Programs that import PyFlink: `test_pyflink_programs` changes them, and
#: `test_unchanged_programs` runs them as they are.
collect_ignore = ["pyflink_programs", "unchanged_programs"]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Report a test that needs the JVM of this process as skipped over Spark Connect."""
    report = yield
    error = call.excinfo.value if call.excinfo is not None else None
    if item.config.getoption("--connect") and error is not None and _needs_jvm(error):
        report.outcome = "skipped"
        path, line, _ = item.location
        report.longrepr = (path, (line or 0) + 1, f"Skipped: over Spark Connect: {error}")
    return report


def _needs_jvm(error: BaseException | None) -> bool:
    """Return whether an error, or its cause, is that of an operation refused over Spark Connect."""
    while error is not None:
        if isinstance(error, SchemaCoreError) and error.code == "not-over-connect":
            return True
        if any(mark in str(error) for mark in ("not-over-connect", "JVM_ATTRIBUTE_NOT_SUPPORTED")):
            return True
        error = error.__cause__ or error.__context__
    return False


@pytest.fixture(scope="session")
def remote(spark: SparkSession) -> Iterator[SparkSession]:
    """A session of Spark Connect, of a server in the shared JVM on the loopback interface."""
    pytest.importorskip("grpc", reason="the extra `connect` is not installed")
    from pyspark.sql.connect.client import SparkConnectClient
    from pyspark.sql.connect.session import SparkSession as ConnectSession

    port = free_port()
    java: Any = spark.sparkContext._jsc
    java.sc().conf().set("spark.connect.grpc.binding.port", str(port))
    service: Any = spark._jvm
    service = service.org.apache.spark.sql.connect.service.SparkConnectService
    service.start(java.sc())
    session: Any = ConnectSession.builder.remote(f"sc://127.0.0.1:{port}").create()
    yield session
    session.stop()
    for object_ in gc.get_objects():  # a client that is not closed waits for the server at its exit
        if isinstance(object_, SparkConnectClient):
            object_.close()
    service.stop(*(getattr(service, f"stop$default${number}")() for number in (1, 2)))


@pytest.fixture
def classic(request: pytest.FixtureRequest) -> None:
    """Skip a test of an operation that `docs/clusters.md` lists as refused or missing there."""
    if request.config.getoption("--connect"):
        pytest.skip("over Spark Connect: of a SparkContext only")


@pytest.fixture(scope="session")
def root(request: pytest.FixtureRequest, spark: SparkSession) -> SparkSession:
    """The session of the user: that of all tests, or one of Spark Connect."""
    if request.config.getoption("--connect"):
        spark = request.getfixturevalue("remote")
    return spark


@pytest.fixture(scope="session")
def session(root: SparkSession) -> SparkSession:
    """A session with the settings for Flink's semantics."""
    from schema_core.spark.session.session import JobSession

    return JobSession(root).get()


@pytest.fixture
def table(tmp_path: Path) -> Callable[..., BoundTable]:
    """A filesystem table of a schema; `lines` are put into a file of it."""

    def make(
        schema: Schema,
        form: str = "csv",
        options: Mapping[str, str] | None = None,
        partitions: Sequence[str] = (),
        lines: Sequence[str] = (),
    ) -> BoundTable:
        path = tmp_path / f"a {form} table"
        if lines:
            path.mkdir()
            (path / "rows of it").write_text("\n".join(lines) + "\n", encoding="utf-8")
        every = {"connector": "filesystem", "path": str(path), "format": form, **(options or {})}
        written = CatalogTable(schema, tuple(partitions), options=every)
        resolved = resolve_table(written, SchemaResolver(streaming=False))
        return BoundTable(ObjectIdentifier.of("c", "d", "t"), resolved, OptionReferences())

    return make


@pytest.fixture
def environment(session: SparkSession) -> TableEnvironment:
    """A batch environment over the shared Spark, whose statements wait for their jobs."""
    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode(), spark=session)
    environment.get_config().set("table.dml-sync", "true")
    return environment


@dataclass
class FrameConnector:
    """A connector under test: reads what `frame` makes, and keeps what was written."""

    identifier: str = "frames"
    can_read: bool = True
    can_write: bool = True
    abilities: frozenset[Ability] = frozenset({Ability.OVERWRITE, Ability.PARTITIONS})
    frame: Callable[[SparkSession], object] = lambda session: session.range(0)
    metadata: Mapping[str, DataType] = field(default_factory=dict)
    writable_metadata: frozenset[str] = frozenset()
    options: list[Mapping[str, str]] = field(default_factory=list)
    written: list[list[tuple[object, ...]]] = field(default_factory=list)
    contexts: list[ReadContext | WriteContext] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    committed: bool | None = False

    def declared(self, options: Mapping[str, str]) -> Sequence[ConfigOption[Any]]:
        self.options.append(dict(options))
        return (ConfigOption("level", integer, 1), ConfigOption("place", str, None))

    def read(self, context: ReadContext) -> Any:
        self.contexts.append(context)
        return self.frame(context.session)

    def stage(self, context: WriteContext) -> Stage:
        return self

    def write(self, frame: DataFrame, context: WriteContext) -> None:
        self.contexts.append(context)
        self.columns = frame.columns
        self.written.append([tuple(row) for row in frame.collect()])

    def prepare(self) -> None: ...
    def commit(self) -> None:
        self.committed = True

    def abort(self) -> None: ...


@pytest.fixture
def connector(monkeypatch: pytest.MonkeyPatch) -> FrameConnector:
    """The connector of tables with `'connector' = 'frames'`."""
    installed = FrameConnector()
    find = module.find_connector

    def found(options: Mapping[str, str]) -> Connector:
        return installed if options.get("connector") == "frames" else find(options)

    monkeypatch.setattr(module, "find_connector", found)
    return installed


@pytest.fixture(scope="module")
def one_task(session: SparkSession) -> Iterator[None]:
    """Few rows: one task reads them faster than several, whose number Spark would adapt."""
    settings = {"spark.sql.shuffle.partitions": "1", "spark.sql.adaptive.enabled": "false"}
    before = {key: session.conf.get(key) for key in settings}
    for key, value in settings.items():
        session.conf.set(key, value)
    yield
    for key, old in before.items():
        session.conf.set(key, old)


@pytest.fixture
def one_file_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A streaming query reads a file of each table in a micro-batch, and ends after the last."""
    options = FileLayout._streaming
    monkeypatch.setattr(
        FileLayout, "_streaming", lambda self: {**options(self), "maxFilesPerTrigger": "1"}
    )
    monkeypatch.setattr(MicroBatches, "_add_trigger", lambda _, one: one.trigger(availableNow=True))
